//! Whether a table explains what is in the sectors, although that alone does not prove it.

use std::collections::HashMap;

use crate::recover::decide::{Certainty, Placed};
use crate::recover::region::{Case, Listing};
use crate::recover::walk::Walked;

/// The least probability of every place in a region that counts as explained by its table although something, such as
/// old bytes behind its blocks, is left over.
const EXPLAINED: f64 = 0.9;

/// Bytes of a container up to which a block has one value in each channel, such as all air. Two of these side by side
/// are no sign of sectors that were moved.
pub(super) const PLAIN: u32 = 96;

/// The whole block that is where an entry points.
#[must_use]
pub fn listed(case: &Case, entry: &Listing) -> Option<usize> {
    let at = case.walk.blocks.binary_search_by_key(&entry.first, |block| block.first).ok()?;
    case.walk.blocks.get(at).filter(|block| block.splice.is_none()).map(|_| at)
}

/// Whether the table gives every entry the whole block of its length that most likely is its own; `placed` are the
/// places by slot. Where the blocks fill the file to its end without anything left over, only a place that is likelier
/// contradicts it.
#[must_use]
pub fn table_matches_sectors(case: &Case, placed: &HashMap<u32, Placed>) -> bool {
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

/// How many entries, in the order of their sectors, are explained by damage to bytes of single blocks: all of them where
/// they are in a row up to the end of the file and each whole block has an entry of its length, and otherwise those
/// before the first one that does not fit.
///
/// A game that is killed after it moved blocks leaves a file of another length, or blocks across the borders of entries.
#[must_use]
pub fn explained_entries(case: &Case) -> usize {
    let in_row = case.entries.iter().try_fold(0, |at, e| (e.first == at).then_some(at + e.count));
    let by_first = |block: &Walked| {
        let at = case.entries.binary_search_by_key(&block.first, |entry| entry.first).ok();
        at.and_then(|at| case.entries.get(at)).is_some_and(|entry| entry.count == block.count)
    };
    let twice = || case.walk.blocks.windows(2).any(|pair| pair[0].content == pair[1].content && pair[0].size > PLAIN);
    let all = in_row == Some(case.walk.sectors)
        && case.walk.blocks.iter().all(|block| block.splice.is_none() && by_first(block))
        && !twice();
    if all { case.entries.len() } else { before_the_first_misfit(case) }
}

/// The entries in a row from the first sector on that lead to whole blocks of their length, without those at the end of
/// them that would fit as well if one of these blocks had been taken out.
fn before_the_first_misfit(case: &Case) -> usize {
    let mut at = 0;
    let fits = case.entries.iter().zip(&case.walk.blocks).take_while(|(entry, block)| {
        let fits = entry.first == at && (block.first, block.count) == (entry.first, entry.count);
        at = entry.first + entry.count;
        fits && block.splice.is_none()
    });
    let fitting: Vec<u32> = fits.map(|(entry, _)| entry.count).collect();
    let same = fitting.iter().rev().take_while(|count| Some(*count) == fitting.last()).count();
    fitting.len() - same
}

/// Whether the entries lead to all blocks in a row, each of its own length.
#[must_use]
pub fn is_exact(case: &Case) -> bool {
    let blocks = &case.walk.blocks;
    let mut at = 0;
    let each = case.entries.iter().zip(blocks).all(|(entry, block)| {
        let exact = entry.first == at && (block.first, block.count) == (entry.first, entry.count);
        at = entry.first + entry.count;
        exact && block.splice.is_none()
    });
    each && case.entries.len() == blocks.len()
}

/// Whether blocks of the same content are side by side, and all that are have one value in each channel.
fn only_plain_twice(case: &Case) -> bool {
    let twice = || case.walk.blocks.windows(2).filter(|pair| pair[0].content == pair[1].content);
    twice().next().is_some() && twice().all(|pair| pair[0].size <= PLAIN)
}
