//! Whether a table explains what stands in the sectors, although that alone does not prove it.

use std::collections::HashMap;

use crate::recover::decide::{Certainty, Placed};
use crate::recover::region::{Case, Listing};

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
