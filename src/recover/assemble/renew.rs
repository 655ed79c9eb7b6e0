//! Takes out blocks at seams that do not fit, with those beside them, and places them anew.
//!
//! A block in a wrong place draws others after it, and in the end they fit each other. The border of such a group does not
//! fit what is around it. What is taken out there returns with more neighbours than it had at first, and either group may
//! grow: the arrangement that fits better as a whole is kept.

use std::collections::HashSet;

use crate::recover::assemble::board::Board;
use crate::recover::assemble::growth::{Grown, Growth};
use crate::recover::assemble::links::Link;
use crate::recover::decide::Certainty;
use crate::watch::Watch;

/// The seam of two blocks below which both are taken out.
const MISFIT: f64 = 0.0;

/// How often blocks are taken out, and how many attempts in a row may gain nothing. Each goes one block further.
const ROUNDS: usize = 12;
const VAIN: usize = 3;

/// The least gain of log-odds for which another arrangement is kept. Chosen.
const GAIN: f64 = 1.0;

impl Growth {
    /// Takes out blocks at seams that do not fit and places them anew, as long as everything fits better after it.
    pub fn renew(&mut self, board: &mut Board<'_>, watch: &Watch<'_>) {
        let mut best = (self.sum(board), self.grown.clone());
        let mut vain = 0;
        for _ in 0..ROUNDS {
            if vain >= VAIN || self.revisions == 0 || watch.is_cancelled() {
                break;
            }
            let out = self.take_out(board, vain + 1);
            if out.is_empty() {
                break;
            }
            self.guess(board, watch);
            self.revise_near(board, Some(&out));
            let sum = self.sum(board);
            if sum > best.0 + GAIN {
                best = (sum, self.grown.clone());
                vain = 0;
            } else {
                self.set(board, &best.1);
                vain += 1;
            }
        }
    }

    /// The log-odds of all places that are not certain, against empty slots.
    fn sum(&self, board: &Board<'_>) -> f64 {
        let open = |grown: &&Grown| grown.certainty < Certainty::Certain;
        let nodes: HashSet<_> = self
            .grown
            .iter()
            .filter(open)
            .map(|grown| (grown.case, self.loose[grown.case][grown.loose].block))
            .collect();
        let one = |grown: &Grown| {
            let Grown { case: r, slot, loose, .. } = *grown;
            let case = board.cases[r];
            let Some(at) = case.shape.position(slot) else { return 0.0 };
            let own = (r, self.loose[r][loose].block);
            let links = board.links(case.lod, at);
            let seams = links.iter().map(|(link, other)| {
                let share = if nodes.contains(other) { 0.5 } else { 1.0 };
                if *other == own { 0.0 } else { share * board.side_odds(own, *link, *other) }
            });
            let beside = links.iter().filter(|(link, _)| matches!(link, Link::Beside(..))).count();
            let hint = self.loose[r][loose].hints.iter().find(|(of, _)| *of == slot).map_or(0.0, |(_, odds)| *odds);
            seams.sum::<f64>() + hint + self.occupied(board, r, slot, beside) + board.heights.odds(own, case.lod, at[1])
        };
        self.grown.iter().filter(open).map(one).sum()
    }

    /// Takes out the blocks on both sides of seams that do not fit, and those up to `steps` beside them. Returns their slots.
    fn take_out(&mut self, board: &mut Board<'_>, steps: usize) -> HashSet<(usize, u32)> {
        let movable: HashSet<(usize, u32)> =
            self.grown.iter().filter(|g| g.certainty < Certainty::Certain).map(|g| (g.case, g.slot)).collect();
        let mut out: HashSet<(usize, u32)> = HashSet::new();
        for grown in self.grown.iter().filter(|grown| grown.certainty < Certainty::Certain) {
            if self.has_seam_below(board, grown, MISFIT) {
                out.insert((grown.case, grown.slot));
            }
        }
        for _ in 1..steps {
            let beside = board.slots_beside(out.iter().copied());
            out.extend(beside.into_iter().filter(|at| movable.contains(at)));
        }
        if out.is_empty() {
            return out;
        }
        let kept: Vec<Grown> = self.grown.iter().filter(|g| !out.contains(&(g.case, g.slot))).copied().collect();
        self.set(board, &kept);
        out
    }

    /// Whether a placed block has a seam whose log-odds are below `least`.
    pub fn has_seam_below(&self, board: &Board<'_>, grown: &Grown, least: f64) -> bool {
        let case = board.cases[grown.case];
        let own = (grown.case, self.loose[grown.case][grown.loose].block);
        let links = case.shape.position(grown.slot).map_or(Vec::new(), |at| board.links(case.lod, at));
        links.iter().any(|(link, other)| *other != own && board.side_odds(own, *link, *other) < least)
    }

    /// Replaces all placed blocks.
    fn set(&mut self, board: &mut Board<'_>, grown: &[Grown]) {
        for old in std::mem::take(&mut self.grown) {
            self.used[old.case][old.loose] = false;
            self.filled[old.case].remove(&old.slot);
            if let Some(at) = board.cases[old.case].shape.position(old.slot) {
                board.placed.remove(&(board.cases[old.case].lod, at));
            }
        }
        for new in grown {
            self.used[new.case][new.loose] = true;
            self.filled[new.case].insert(new.slot);
            if let Some(at) = board.cases[new.case].shape.position(new.slot) {
                board.placed.insert((board.cases[new.case].lod, at), (new.case, self.loose[new.case][new.loose].block));
            }
        }
        self.grown = grown.to_vec();
        self.reopen(board);
    }
}
