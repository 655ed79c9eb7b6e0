//! Entries with changed bits: which blocks they may have led to.
//!
//! An entry is 32 bits long and the blocks of a region are few, so one that differs from a block's sectors by a bit or two
//! hardly does so by chance. Each changed bit is about as unlikely as any other, in one entry or in two.

use std::collections::{HashMap, HashSet};

use crate::godot::region::Entry;
use crate::recover::region::Case;
use crate::recover::weights::Weights;

/// The most slots whose entries may be near one block; more of them are garbage.
const MOST_SLOTS: usize = 64;

/// Blocks by the entry that leads to them.
struct ByEntry(HashMap<u32, usize>);

/// The entry that leads to a block.
fn entry_of(case: &Case, block: usize) -> u32 {
    let block = &case.walk.blocks[block];
    block.first << 8 | block.count
}

impl ByEntry {
    fn new(case: &Case, blocks: impl Iterator<Item = usize>) -> Self {
        Self(blocks.map(|block| (entry_of(case, block), block)).collect())
    }

    /// Blocks whose entry differs by one bit.
    fn one_off(&self, entry: u32) -> impl Iterator<Item = usize> {
        (0..32).filter_map(move |bit| self.0.get(&(entry ^ 1 << bit)).copied())
    }

    /// Blocks whose entry differs by two bits.
    fn two_off(&self, entry: u32) -> impl Iterator<Item = usize> {
        (0..32).flat_map(move |a| (0..a).filter_map(move |b| self.0.get(&(entry ^ 1 << a ^ 1 << b)).copied()))
    }
}

/// The slots that blocks may belong to by their entries, with log-odds. `damaged` are the entries that lead to no block of
/// their own, and `loose` the blocks without an entry of their own.
pub(super) fn hints(
    case: &Case,
    loose: impl Iterator<Item = usize>,
    damaged: &[(u32, Entry)],
    weights: &Weights,
) -> HashMap<usize, Vec<(u32, f64)>> {
    let loose = ByEntry::new(case, loose);
    let by_first: HashMap<u32, usize> = loose.0.iter().map(|(entry, &block)| (entry >> 8, block)).collect();
    let mut hints: HashMap<usize, Vec<(u32, f64)>> = HashMap::new();
    let mut add = |block: usize, slot: u32, odds: f64| {
        let slots = hints.entry(block).or_default();
        // One more than is used shows that there are too many.
        if slots.len() <= MOST_SLOTS {
            slots.push((slot, odds));
        }
    };
    // Two entries lead to one block, and one of them may be right.
    let same = 2.0 * weights.one_bit - weights.two_bits;
    for &(slot, entry) in damaged {
        loose.0.get(&entry.0).into_iter().for_each(|&block| add(block, slot, same));
        loose.one_off(entry.0).for_each(|block| add(block, slot, weights.one_bit));
        loose.two_off(entry.0).for_each(|block| add(block, slot, weights.two_bits));
        // Only the count is damaged.
        let is_far = |block: &&usize| (entry.0 ^ entry_of(case, **block)).count_ones() > 2;
        by_first.get(&entry.first()).filter(is_far).into_iter().for_each(|&block| add(block, slot, weights.two_bits));
    }
    hints.retain(|_, slots| slots.len() <= MOST_SLOTS);
    hints
}

/// Slots whose entries are exact, but may have changed too. Another entry leads to no block; with one bit changed, it leads to
/// the block of such a slot, and the slot's own entry, with one bit changed, leads to an unowned block.
pub(super) fn doubtful(case: &Case, anchors: &[(u32, usize)], damaged: &[(u32, Entry)]) -> HashSet<u32> {
    let mut doubtful = HashSet::new();
    if damaged.is_empty() {
        return doubtful;
    }
    let slot_of: HashMap<usize, u32> = anchors.iter().map(|&(slot, block)| (block, slot)).collect();
    let loose = ByEntry::new(case, (0..case.walk.blocks.len()).filter(|block| !slot_of.contains_key(block)));
    let owned = ByEntry::new(case, slot_of.keys().copied());
    for (_, entry) in damaged {
        if loose.0.contains_key(&entry.0) || loose.one_off(entry.0).next().is_some() {
            continue;
        }
        for block in owned.one_off(entry.0) {
            // Seams cannot distinguish blocks with the same voxels.
            if loose.one_off(entry_of(case, block)).any(|other| case.voxels(other) != case.voxels(block)) {
                doubtful.insert(slot_of[&block]);
            }
        }
    }
    doubtful
}
