//! What comes of a region once its blocks are placed: blocks that were taken out and have no better place go back to the slots of their
//! entries.

use std::collections::HashMap;

use crate::parallel;
use crate::recover::assemble::board::Board;
use crate::recover::assemble::growth::Growth;
use crate::recover::assemble::{Assembled, Fit, Start};
use crate::recover::decide::Certainty;

/// The probability of a block in the slot of its entry that nothing else contradicts. Chosen.
const BY_ENTRY: f64 = 0.9999;

impl Growth {
    /// What came of each region, from what was known of it at first.
    pub fn finish(self, board: &Board<'_>, starts: &[Start]) -> Vec<Assembled> {
        let mut all: Vec<Assembled> = Vec::with_capacity(starts.len());
        for (r, start) in starts.iter().enumerate() {
            let withdrawn: HashMap<u32, usize> = self.withdrawn[r].iter().copied().collect();
            let anchors = start.anchors.iter().filter(|(slot, _)| !withdrawn.contains_key(slot));
            let anchor = |&(slot, block): &(u32, usize)| Fit::known(slot, block, 1.0);
            let is_mixed = self.mixed[r];
            let mut made = Assembled { fits: anchors.map(anchor).collect(), is_mixed, ..Assembled::default() };
            let case = board.cases[r];
            for grown in self.grown.iter().filter(|grown| grown.case == r) {
                let block = self.loose[r][grown.loose].block;
                let own = !is_mixed && withdrawn.get(&grown.slot) == Some(&block);
                let links = case.shape.position(grown.slot).map_or(Vec::new(), |at| board.links(case.lod, at));
                let (seams, _) = board.seams((r, block), &links);
                let certainty = match grown.certainty {
                    _ if own => Certainty::Certain,
                    Certainty::Certain if seams < 0.0 && (is_mixed || self.loose[r][grown.loose].hints.is_empty()) => {
                        Certainty::Likely
                    }
                    certainty => certainty,
                };
                // A block in the slot of its entry is as sure as one that was never taken out.
                let p = if own { grown.p.max(BY_ENTRY) } else { grown.p };
                made.fits.push(Fit { slot: grown.slot, block, certainty, voxels: certainty, p });
            }
            let mut left = Vec::new();
            // A withdrawn block without a better place goes back to the slot of its entry: only a certain block may
            // replace one that the table lists.
            let is_certain = |fit: &Fit| fit.certainty == Certainty::Certain;
            for &(slot, block) in &self.withdrawn[r] {
                let moved = made.fits.iter().any(|fit| fit.block == block && fit.slot != slot && is_certain(fit));
                let replaced = made.fits.iter().any(|fit| fit.slot == slot && fit.block != block && is_certain(fit));
                let content = case.content(block);
                let same = made.fits.iter_mut().find(|fit| fit.slot == slot && case.content(fit.block) == content);
                if let Some(same) = same.filter(|_| moved) {
                    same.certainty = Certainty::Certain;
                } else if moved {
                    let empty = made.fits.iter().all(|fit| fit.slot != slot);
                    match self.find_spare_copy(board, r, block, &made.fits).filter(|_| empty) {
                        // A block of the same content fits as well.
                        Some(copy) => {
                            made.fits.push(Fit::known(slot, copy, BY_ENTRY));
                        }
                        None => made.contradicted.push((slot, block)),
                    }
                } else if !replaced && is_mixed {
                    left.push((slot, block));
                } else if !replaced {
                    made.fits.retain(|fit| fit.slot != slot && fit.block != block);
                    made.fits.push(Fit::known(slot, block, BY_ENTRY));
                }
            }
            self.return_mixed(board, r, &left, &mut made);
            let is_back = |fit: &&Fit| withdrawn.get(&fit.slot) == Some(&fit.block);
            let settled = made.fits.iter().filter(is_back).map(|fit| fit.block).collect();
            made.doubt(&self.find_alike(board, r, &settled), board.weights);
            made.fits.sort_by_key(|fit| fit.slot);
            made.undecided = if self.budget == 0 { self.used[r].iter().filter(|used| !**used).count() } else { 0 };
            all.push(made);
        }
        for (r, possible) in self.possible.iter().enumerate() {
            let unused = possible.iter().flatten().filter(|(.., i)| !self.used[r][*i]);
            all[r].candidates.extend(unused.map(|&(p, slot, i)| (self.loose[r][i].block, slot, p)));
        }
        all
    }

    /// Puts blocks back that were withdrawn where entries were mixed up and have no certain place: those whose seams fit, and those that
    /// fit their slots better than all others without a likely place.
    fn return_mixed(&self, board: &Board<'_>, r: usize, left: &[(u32, usize)], made: &mut Assembled) {
        let case = board.cases[r];
        let is_claim = |fit: &Fit, (slot, block): (u32, usize)| fit.slot == slot || fit.block == block;
        let is_claimed =
            |of: (u32, usize)| made.fits.iter().any(|fit| is_claim(fit, of) && fit.certainty >= Certainty::Likely);
        let claimed: Vec<bool> = left.iter().map(|of| is_claimed(*of)).collect();
        let free: Vec<usize> =
            left.iter().zip(&claimed).filter(|(_, is)| !**is).map(|((_, block), _)| *block).collect();
        let returns = parallel::map_indices(left.len(), |k| {
            let (slot, block) = left[k];
            let Some(position) = case.shape.position(slot) else { return false };
            let links = board.sound_links(r, position);
            let seams = |block: usize| board.seams((r, block), &links).0;
            let height = |block: usize| board.heights.odds((r, block), case.lod, position[1]);
            let own = seams(block);
            let fits_worse = |other: &usize| seams(*other) + height(*other) <= own + height(block);
            let mut others = free.iter().filter(|other| case.voxels(**other) != case.voxels(block));
            own > 0.0 || (!claimed[k] && others.all(fits_worse))
        });
        for ((&of, returns), claimed) in left.iter().zip(returns).zip(claimed) {
            if returns {
                made.fits.retain(|fit| !is_claim(fit, of));
                made.fits.push(Fit::known(of.0, of.1, BY_ENTRY));
            } else if !claimed {
                made.contradicted.push(of);
            }
        }
    }

    /// A block of the same content that has no place.
    fn find_spare_copy(&self, board: &Board<'_>, r: usize, block: usize, fits: &[Fit]) -> Option<usize> {
        let case = board.cases[r];
        let copies = self.copies.get(&(r, case.voxels(block)))?;
        let blocks = copies.iter().filter(|&&i| !self.used[r][i]).map(|&i| self.loose[r][i].block);
        let mut same = blocks.filter(|copy| case.content(*copy) == case.content(block));
        same.find(|copy| fits.iter().all(|fit| fit.block != *copy))
    }
}
