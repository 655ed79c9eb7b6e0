//! Copies of blocks that something else wrote over other blocks.
//!
//! Copied sectors hold a whole block, and the entry or the order of the block that was there leads to it. If a world repeats little, and
//! the table leads to some voxels once, a second block with these voxels is such a copy, not the block of another position.

use std::collections::HashMap;

use crate::recover::decide::{Certainty, Placed};
use crate::recover::explained::PLAIN;
use crate::recover::region::{Case, Listing};
use crate::recover::solved::Solved;
use crate::recover::torn_table::own;
use crate::recover::weights::Weights;

/// Contents that a table leads to more than once, for each that it leads to once, above which a world repeats itself: every world repeats
/// air and stone. Chosen.
const REPEATED: f64 = 0.5;

/// Lowers places to candidates if no entry leads to the block in its slot and the table leads to its voxels once, in another slot.
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
            placed.lower(Certainty::Candidate, weights.candidate);
        }
    }
}
