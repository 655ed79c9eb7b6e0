//! Copies of blocks that something else wrote over other blocks.
//!
//! A copied range of sectors is whole, and the entry or the order of the block that was there leads to it. In a world that repeats
//! little, voxels that the table has once and that are found a second time are such a copy, and no evidence for another position.

use std::collections::HashMap;

use crate::recover::decide::{Certainty, Placed};
use crate::recover::explained::PLAIN;
use crate::recover::region::{Case, Listing};
use crate::recover::solved::Solved;
use crate::recover::torn_table::own;
use crate::recover::weights::Weights;

/// The voxels that a table has more than once, for each that it has once, above which a world is said to repeat itself: air and stone are
/// repeated in every one. Chosen.
const REPEATED: f64 = 0.5;

/// Makes places candidates at most whose block no entry leads to in its slot, and whose voxels the table has once, in another slot.
pub(super) fn doubt(case: &Case, solved: &mut Solved, weights: &Weights) {
    let blocks = &case.walk.blocks;
    let entries: HashMap<u32, &Listing> = case.entries.iter().map(|entry| (entry.slot, entry)).collect();
    let is_listed =
        |placed: &Placed| entries.get(&placed.slot).and_then(|entry| own(case, entry)) == Some(placed.block);
    let mut times: HashMap<u128, usize> = HashMap::new();
    for placed in solved.placed.iter().filter(|placed| placed.certainty == Certainty::Certain && is_listed(placed)) {
        if blocks[placed.block].size > PLAIN {
            *times.entry(blocks[placed.block].voxels).or_default() += 1;
        }
    }
    let once = times.values().filter(|times| **times == 1).count();
    if (times.len() - once) as f64 > REPEATED * once as f64 {
        return;
    }
    for placed in solved.placed.iter_mut().filter(|placed| !is_listed(placed)) {
        if times.get(&blocks[placed.block].voxels) == Some(&1) {
            placed.certainty = placed.certainty.min(Certainty::Candidate);
            placed.voxels = placed.voxels.min(Certainty::Candidate);
            placed.p = placed.p.min(weights.candidate);
        }
    }
}
