//! Blocks that differ only in their metadata, such as air with chests in it. Seams show where their voxels belong, but not
//! which of the blocks belongs there.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::recover::assemble::Assembled;
use crate::recover::assemble::board::Board;
use crate::recover::assemble::growth::{self, Grown, Growth};
use crate::recover::decide::Certainty;
use crate::recover::weights::Weights;

/// The most blocks of one place that are listed, besides the one that was put into it.
const LISTED: usize = 64;

/// The most log-odds of one block against another one, so that no probability is 0.
const MOST_ODDS: f64 = 30.0;

/// A place of blocks with the same voxels.
#[derive(Clone, Debug)]
pub(super) struct Alike {
    /// The slot, and the block that was put into it.
    pub slot: u32,
    pub block: usize,
    /// The probability that it is this block if it is one of them.
    pub p: f64,
    /// For each of the blocks that it may be, that probability.
    pub blocks: Vec<(usize, f64)>,
}

impl Growth {
    /// The places of a region for which there are several blocks with the same voxels and different metadata. `settled` blocks
    /// are in the slots of their own entries and no candidates for other places.
    pub fn find_alike(&self, board: &Board<'_>, r: usize, settled: &HashSet<usize>) -> Vec<Alike> {
        let (case, loose) = (board.cases[r], &self.loose[r]);
        let elsewhere = self.elsewhere(board, r);
        let is_open = |i: &usize| !settled.contains(&loose[*i].block);
        let mut places: BTreeMap<u128, Vec<&Grown>> = BTreeMap::new();
        for grown in self.grown.iter().filter(|grown| grown.case == r && is_open(&grown.loose)) {
            places.entry(case.voxels(loose[grown.loose].block)).or_default().push(grown);
        }
        let mut alike = Vec::new();
        for (voxels, places) in places {
            let copies = self.copies.get(&(r, voxels)).map_or(&[][..], Vec::as_slice);
            let copies: Vec<usize> = copies.iter().copied().filter(is_open).collect();
            let content = |i: usize| case.content(loose[i].block);
            if copies.iter().all(|&i| content(i) == content(copies[0])) {
                continue;
            }
            let slot_of: HashMap<usize, u32> = places.iter().map(|grown| (grown.loose, grown.slot)).collect();
            let hint = |i: usize, slot: u32| loose[i].hints.iter().find(|(of, _)| *of == slot).map_or(0.0, |h| h.1);
            for grown in places {
                let (own, slot) = (grown.loose, grown.slot);
                // The odds of another block, which takes this one's place and leaves it its own, if it has one.
                let odds = |i: usize| {
                    let here = hint(i, slot) - hint(own, slot);
                    let there = match slot_of.get(&i) {
                        Some(&from) => hint(own, from) - hint(i, from),
                        None => loose[i].live - growth::needed(loose[own].live, elsewhere),
                    };
                    (here + there).min(MOST_ODDS).exp()
                };
                let others: Vec<(usize, f64)> =
                    copies.iter().filter(|&&i| content(i) != content(own)).map(|&i| (i, odds(i))).collect();
                let all = 1.0 + others.iter().map(|(_, odds)| odds).sum::<f64>();
                let mut blocks: Vec<(usize, f64)> =
                    others.into_iter().map(|(i, odds)| (loose[i].block, odds / all)).collect();
                blocks.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
                blocks.truncate(LISTED);
                blocks.push((loose[own].block, 1.0 / all));
                alike.push(Alike { slot, block: loose[own].block, p: 1.0 / all, blocks });
            }
        }
        alike
    }
}

impl Assembled {
    /// Lowers the certainty of blocks whose voxels other blocks have too, and lists these as candidates. Metadata is certain or
    /// in doubt, never likely: likely metadata may belong to another block.
    pub(super) fn doubt(&mut self, alike: &[Alike], weights: &Weights) {
        let of_slot: HashMap<u32, &Alike> = alike.iter().map(|alike| (alike.slot, alike)).collect();
        for fit in &mut self.fits {
            let Some(alike) = of_slot.get(&fit.slot).filter(|alike| alike.block == fit.block) else { continue };
            if alike.p < weights.certain {
                fit.certainty = Certainty::Candidate;
                self.candidates.extend(alike.blocks.iter().map(|&(block, p)| (block, fit.slot, p * fit.p)));
                fit.p *= alike.p;
            }
        }
    }
}
