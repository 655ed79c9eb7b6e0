//! Whether a table explains what stands in the sectors, although that alone does not prove it.

use std::collections::HashMap;

use crate::recover::decide::{Certainty, Placed};
use crate::recover::region::{Case, Listing};
use crate::recover::walk::Walked;

/// The least probability of every place in a region that counts as explained by its table although something, such as
/// old bytes behind its blocks, is left over.
const EXPLAINED: f64 = 0.9;

/// Bytes of a container up to which a block has one value in each channel, such as all air. Two of these side by side
/// are no sign of sectors that were moved.
const PLAIN: u32 = 96;

/// The whole block that stands where an entry points.
#[must_use]
pub fn listed(case: &Case, entry: &Listing) -> Option<usize> {
    let at = case.walk.blocks.binary_search_by_key(&entry.first, |block| block.first).ok()?;
    case.walk.blocks.get(at).filter(|block| block.splice.is_none()).map(|_| at)
}

/// Whether the table gives every entry the whole block of its length that most likely is its own; `placed` are the
/// places by slot. Where the blocks fill the file to its end without anything left over, only a place that is likelier
/// speaks against it.
#[must_use]
pub fn is_explained(case: &Case, placed: &HashMap<u32, Placed>) -> bool {
    let to_the_end = case.table_end() == case.walk.sectors;
    if to_the_end && is_exact(case) && only_plain_twice(case) {
        return true;
    }
    let mut at = 0;
    case.entries.iter().all(|entry| {
        let in_row = entry.first == at;
        at = entry.first + entry.count;
        let block = listed(case, entry).filter(|b| case.walk.blocks.get(*b).is_some_and(|b| b.count == entry.count));
        let here = |b: usize| match placed.get(&entry.slot) {
            Some(p) if p.certainty < Certainty::Likely && to_the_end => true,
            Some(p) => p.p >= EXPLAINED && case.content(p.block) == case.content(b),
            None => to_the_end,
        };
        in_row && block.is_some_and(here)
    })
}

/// Whether the table explains every whole block and the length of the file, so that only bytes of single blocks were
/// damaged: its entries stand in a row up to the end of the file, and each whole block has an entry of its length.
///
/// A game that is killed after it moved blocks leaves a file of another length, or blocks across the borders of entries.
#[must_use]
pub fn is_explained_but_for_damage(case: &Case) -> bool {
    let in_row = case.entries.iter().try_fold(0, |at, e| (e.first == at).then_some(at + e.count));
    let by_first = |block: &Walked| {
        let at = case.entries.binary_search_by_key(&block.first, |entry| entry.first).ok();
        at.and_then(|at| case.entries.get(at)).is_some_and(|entry| entry.count == block.count)
    };
    let twice = || case.walk.blocks.windows(2).any(|pair| pair[0].content == pair[1].content && pair[0].size > PLAIN);
    in_row == Some(case.walk.sectors)
        && case.walk.blocks.iter().all(|block| block.splice.is_none() && by_first(block))
        && !twice()
}

/// Whether the entries lead to all blocks in a row, each of its own length.
fn is_exact(case: &Case) -> bool {
    let blocks = &case.walk.blocks;
    let mut at = 0;
    let each = case.entries.iter().zip(blocks).all(|(entry, block)| {
        let exact = entry.first == at && (block.first, block.count) == (entry.first, entry.count);
        at = entry.first + entry.count;
        exact && block.splice.is_none()
    });
    each && case.entries.len() == blocks.len()
}

/// Whether blocks of the same content stand side by side, and all that do have one value in each channel.
fn only_plain_twice(case: &Case) -> bool {
    let twice = || case.walk.blocks.windows(2).filter(|pair| pair[0].content == pair[1].content);
    twice().next().is_some() && twice().all(|pair| pair[0].size <= PLAIN)
}
