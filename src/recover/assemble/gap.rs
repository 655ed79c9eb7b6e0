//! Entries of a table out of which some were cut, or into which empty ones were inserted: those behind that place moved to other
//! slots.
//!
//! The sectors moved as well, so it is known how many bytes it was, and that it was in the table; but whole entries leave no trace of
//! where. Each place is weighed by the seams of all blocks: with those of the entries behind it moved back, and those before it
//! where they are. What is around the place may stay open.

use std::collections::{HashMap, HashSet};

use crate::recover::assemble::board::Board;
use crate::recover::assemble::slide::{Blocks, IN_DOUBT, MOVED};
use crate::recover::assemble::{Moved, Start};

/// Log-odds against a place at which a block would go to the slot of another one. Chosen: only empty entries leave no trace.
const IN_THE_WAY: f64 = 6.0;

impl Board<'_> {
    /// Moves the blocks of entries that moved with the sectors back, in all regions. Returns the blocks whose entries may have moved as
    /// well. `learn` learns the seams anew.
    pub fn close_gaps(&mut self, starts: &mut [Start], learn: impl Fn(&mut Self)) -> Vec<Moved> {
        let mut open = Vec::new();
        for (r, start) in starts.iter_mut().enumerate().filter(|(_, start)| start.gap != 0) {
            open.extend(self.close_gap(r, start, &learn));
            learn(self);
        }
        open
    }

    fn close_gap(&mut self, r: usize, start: &mut Start, learn: impl Fn(&mut Self)) -> Vec<Moved> {
        let moved_back = |slot: u32| slot.checked_add_signed(start.gap);
        let mut anchors = start.anchors.clone();
        anchors.sort_unstable_by_key(|(slot, _)| std::cmp::Reverse(*slot));
        // The first so many of them moved back.
        let arranged = |moved: usize| -> Vec<(u32, usize)> {
            let to = |(n, &(slot, block)): (usize, &(u32, usize))| {
                (if n < moved { moved_back(slot).unwrap_or(slot) } else { slot }, block)
            };
            anchors.iter().enumerate().map(to).collect()
        };
        // Seams are learned from these blocks too, so the arrangement of most of them seems right. Hence the search begins with no entry
        // moved and with all of them, and keeps the result that fits best.
        let mut best: Option<(f64, Vec<f64>)> = None;
        let mut now = start.anchors.clone();
        for first in [0, anchors.len()] {
            let mut odds = Vec::new();
            let mut moved = first;
            for _ in 0..2 {
                let new = arranged(moved);
                self.rearrange(r, &now, &new);
                now = new;
                learn(self);
                self.count_beside();
                odds = self.weigh_places(r, &anchors, start.gap);
                moved = (0..odds.len()).max_by(|a, b| odds[*a].total_cmp(&odds[*b])).unwrap_or(0);
            }
            let sum = self.sum_of(r, &now);
            if best.as_ref().is_none_or(|(most, _)| sum > *most) {
                best = Some((sum, odds));
            }
        }
        self.rearrange(r, &now, &start.anchors);
        let odds = best.map(|(_, odds)| odds).unwrap_or_default();
        let most = odds.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let all: f64 = odds.iter().map(|odds| (odds - most).exp()).sum();
        // An entry moved if the place is before it.
        let mut before: f64 = 1.0;
        let mut to: HashMap<u32, u32> = HashMap::new();
        let mut open = Vec::new();
        for (&(slot, block), odds) in anchors.iter().zip(&odds) {
            before -= (odds - most).exp() / all;
            let Some(back) = moved_back(slot) else { continue };
            if before >= MOVED {
                to.insert(slot, back);
            } else if before > IN_DOUBT {
                open.push(Moved { case: r, slot, block, to: back });
            }
        }
        self.set_back(r, start, &to);
        open
    }

    /// The log-odds that the place is behind all entries, behind all but the last, and so on. `anchors` are the blocks by the slots of
    /// their entries, the last first.
    fn weigh_places(&self, r: usize, anchors: &[(u32, usize)], gap: i32) -> Vec<f64> {
        let case = self.cases[r];
        let place = |&(slot, block): &(u32, usize)| Some((case.shape.position(slot)?, block));
        let mut blocks: Blocks = anchors.iter().filter_map(place).collect();
        let mut sum = 0.0;
        let mut odds = vec![sum];
        let mut covered: HashSet<usize> = HashSet::new();
        for &(slot, block) in anchors {
            let to = slot.checked_add_signed(gap).and_then(|slot| case.shape.position(slot));
            if let (Some(from), Some(to)) = (case.shape.position(slot), to) {
                if covered.remove(&block) {
                    sum += IN_THE_WAY;
                } else {
                    blocks.remove(&from);
                    sum -= self.fit_at_height(r, &blocks, block, from);
                }
                if let Some(other) = blocks.remove(&to) {
                    covered.insert(other);
                    sum -= IN_THE_WAY + self.fit_at_height(r, &blocks, other, to);
                }
                sum += self.fit_at_height(r, &blocks, block, to);
                blocks.insert(to, block);
            }
            odds.push(sum);
        }
        odds
    }

    /// How well everything fits when blocks of a region are in some slots.
    fn sum_of(&self, r: usize, arranged: &[(u32, usize)]) -> f64 {
        let place = |&(slot, block): &(u32, usize)| Some((self.cases[r].shape.position(slot)?, block));
        let blocks: Blocks = arranged.iter().filter_map(place).collect();
        blocks.iter().map(|(at, block)| self.fit_at_height(r, &blocks, *block, *at)).sum()
    }

    fn fit_at_height(&self, r: usize, blocks: &Blocks, block: usize, at: [i32; 3]) -> f64 {
        self.fit_among(r, blocks, block, at) + self.heights.odds((r, block), self.cases[r].lod, at[1])
    }
}
