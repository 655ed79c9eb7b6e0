//! Looks again at places that were only likely, once all blocks have one.
//!
//! While blocks are placed one after the other, each competes with all that have no place yet. Afterwards most of these
//! have places of their own that fit them well, and what is left to compare is how much worse everything would fit if a
//! block were exchanged with another one, or taken out.

use std::collections::HashSet;

use crate::recover::assemble::board::{Board, Node};
use crate::recover::assemble::growth::{Grown, Growth};
use crate::recover::assemble::judge::{ALL, Asked, Judged};
use crate::recover::assemble::steady::MISFIT;
use crate::recover::decide::Certainty;

/// How far seams with blocks that are only likely are believed when others become likely. A whole group of blocks may be
/// beside its right places, so that the borders in it show nothing: certainty grows from what is certain alone.
const LIKELY: f64 = 0.5;

/// The probability from which on a place casts no doubt on those around it. Chosen.
const SURE: f64 = 0.9;

/// Rounds: what is certain after one helps to be sure of its neighbours in the next.
const ROUNDS: usize = 32;

/// Blocks of a region above which this is left out: its cost grows with their square.
const MOST: usize = 8192;

/// Empty slots beside placed blocks, for each block that was placed, above which groups are not compared: they could be moved
/// instead of exchanged. Measured on islands of which a run of entries was lost: half of the likely places were wrong there.
const MANY_EMPTY: usize = 1;

/// The share of blocks with a seam that does not fit, among those that are not certain, above which groups are not compared: too many
/// others are in wrong places. Measured on full regions: 8 % at most (of more than two blocks) where a page or a third of the entries was
/// lost, or all of a smooth region; 19 % in a region of caves and houses of which all were lost, where half of the likely places were wrong.
const MANY_MISFITS: f64 = 0.125;

impl Growth {
    /// Makes those of the likely places certain that are better than every exchange by odds that leave no doubt.
    pub fn confirm(&mut self, board: &Board<'_>) {
        for r in 0..board.cases.len() {
            if self.loose[r].len() > MOST {
                continue;
            }
            let large = board.cases[r].is_large();
            // In large regions certainty rests on nothing that is only likely. In small ones too little is certain for
            // that, and few groups look alike.
            let trust = (!large).then_some(LIKELY);
            let agreed = large.then(|| self.find_agreed(board, r));
            if let Some(agreed) = agreed.as_ref().filter(|_| !self.is_sparse(r)) {
                self.confirm_steady(board, r, agreed);
            }
            let agreed = agreed.map(|of| of.into_iter().map(|of| of.grown).collect::<HashSet<usize>>());
            for (most, trust) in [(Certainty::Certain, trust), (Certainty::Likely, Some(LIKELY))] {
                let mut surer = None;
                for _ in 0..ROUNDS {
                    let asked = surer.as_ref().map_or(Asked::Unsure, Asked::Beside);
                    let mut judged = self.judge_region(board, r, most, trust, asked);
                    if let Some(agreed) = &agreed {
                        judged.iter_mut().for_each(|of| of.is_firm &= agreed.contains(&of.grown));
                    }
                    let found = self.make_surer(board, &judged, most);
                    if found.is_empty() {
                        break;
                    }
                    surer = Some(found);
                }
            }
            if large && !self.is_sparse(r) && !self.has_many_misfits(board, r) {
                self.confirm_groups(board, r);
            }
            if !large {
                self.doubt_unfilled(board, r);
            }
        }
    }

    /// Whether so many slots beside placed blocks stay empty that a whole group of blocks may as well be one step further.
    pub fn is_sparse(&self, r: usize) -> bool {
        let empty = self.open_slots(r).count();
        let placed = self.grown.iter().filter(|grown| grown.case == r).count();
        empty > placed * MANY_EMPTY
    }

    /// Whether many of the blocks that are not certain do not fit one of their neighbours.
    fn has_many_misfits(&self, board: &Board<'_>, r: usize) -> bool {
        let is_unsure = |grown: &&Grown| grown.case == r && grown.certainty < Certainty::Certain;
        let (mut all, mut misfits) = (0u32, 0u32);
        for grown in self.grown.iter().filter(is_unsure) {
            all += 1;
            misfits += u32::from(self.has_seam_below(board, grown, MISFIT));
        }
        f64::from(misfits) > f64::from(all) * MANY_MISFITS
    }

    /// The blocks of a region that are better in their places than in every exchange when all others are taken for right.
    fn find_agreed(&self, board: &Board<'_>, r: usize) -> Vec<Judged> {
        let mut judged = self.judge_region(board, r, Certainty::Certain, Some(ALL), Asked::Unsure);
        judged.retain(|of| of.p >= board.weights.certain);
        judged
    }

    /// Looks again at places that became certain before most of their rivals had one: those that are not better than every
    /// exchange of blocks are certain no more. In large regions only.
    pub fn doubt(&mut self, board: &Board<'_>) {
        for r in (0..board.cases.len()).filter(|&r| board.cases[r].is_large() && self.loose[r].len() <= MOST) {
            for Judged { grown, p, .. } in self.judge_region(board, r, Certainty::Certain, Some(ALL), Asked::All) {
                let grown = &mut self.grown[grown];
                let has_hint = self.loose[r][grown.loose].has_hint(grown.slot);
                if !has_hint && grown.certainty == Certainty::Certain && p < board.weights.certain {
                    grown.certainty = Certainty::Candidate;
                    grown.p = p;
                }
            }
        }
    }

    /// Looks again at places whose blocks may as well be in slots that hold none. In small regions only: large ones are judged anew as
    /// a whole.
    fn doubt_unfilled(&mut self, board: &Board<'_>, r: usize) {
        for Judged { grown, unfilled, .. } in self.judge_region(board, r, Certainty::Certain, Some(ALL), Asked::All) {
            let p = 1.0 / (1.0 + unfilled);
            // Slots at the edge of a world add up to a little doubt about each of many blocks.
            if p < board.weights.likely {
                self.lower(board, grown, p);
            }
        }
    }

    /// Lowers the certainty of a place to what a probability allows, unless its entry supports it.
    pub fn lower(&mut self, board: &Board<'_>, grown: usize, p: f64) {
        let grown = &mut self.grown[grown];
        let most = Certainty::from_probability(p, board.weights);
        if grown.certainty > most && !self.loose[grown.case][grown.loose].has_hint(grown.slot) {
            grown.certainty = most;
            grown.p = grown.p.min(p);
        }
    }

    /// Makes places likely that are better than every exchange of one block, or of a group, when all others are taken for right.
    /// At heights where no seam says much, whole layers of look-alikes may be permuted, and doubt spreads to what is near.
    fn confirm_groups(&mut self, board: &Board<'_>, r: usize) {
        let least = board.weights.likely;
        let mut judged = self.judge_region(board, r, Certainty::Likely, Some(ALL), Asked::Unsure);
        judged.retain(|of| of.p >= least && self.grown[of.grown].certainty < Certainty::Likely);
        let asked: HashSet<u32> = judged.iter().map(|of| self.grown[of.grown].slot).collect();
        let Some(places) = self.places(board, r).filter(|_| !asked.is_empty()) else { return };
        let groups = places.weigh_groups(board, &asked);
        for of in &mut judged {
            let odds = groups.get(&self.grown[of.grown].slot).copied().unwrap_or(0.0);
            of.p = of.p.min(1.0 / (1.0 + odds * board.confusion[r].exp()));
        }
        let strong = board.heights_with_strong_seams(board.cases[r].lod);
        let sure: HashSet<u32> = judged.iter().filter(|of| of.p >= SURE).map(|of| self.grown[of.grown].slot).collect();
        let doubts = self.find_doubts(board, r, &sure);
        let height = |slot: u32| board.cases[r].shape.position(slot).map_or(0, |at| at[1]);
        judged.retain(|of| {
            let slot = self.grown[of.grown].slot;
            strong.contains(&height(slot)) || !doubts.contains(&slot)
        });
        self.make_surer(board, &judged, Certainty::Likely);
    }

    /// The slots of a region within two steps of blocks that are neither likely nor among those that are `sure`.
    fn find_doubts(&self, board: &Board<'_>, r: usize, sure: &HashSet<u32>) -> HashSet<u32> {
        let in_doubt =
            |grown: &&Grown| grown.case == r && grown.certainty < Certainty::Likely && !sure.contains(&grown.slot);
        board.slots_within(r, self.grown.iter().filter(in_doubt).map(|grown| grown.slot), 2)
    }

    /// Raises the certainty of places, to no more than `most`. Returns the blocks that became surer.
    pub fn make_surer(&mut self, board: &Board<'_>, judged: &[Judged], most: Certainty) -> HashSet<Node> {
        let mut surer = HashSet::new();
        for &Judged { grown, p, is_firm, .. } in judged {
            let grown = &mut self.grown[grown];
            let most = if is_firm { most } else { most.min(Certainty::Likely) };
            let certainty = Certainty::from_probability(p, board.weights).min(most);
            if certainty > grown.certainty {
                surer.insert((grown.case, self.loose[grown.case][grown.loose].block));
            }
            grown.certainty = grown.certainty.max(certainty);
            grown.p = grown.p.max(p);
        }
        surer
    }
}
