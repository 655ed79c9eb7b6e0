//! Whether a table explains what stands in the sectors, although that alone does not prove it.

use std::collections::HashMap;

use crate::trace::decide::{Certainty, Placed};
use crate::trace::region::{Case, Listing};

/// The least probability of every place in a region that counts as explained by its table although something, such as
/// old bytes behind its blocks, is left over.
const EXPLAINED: f64 = 0.9;

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
