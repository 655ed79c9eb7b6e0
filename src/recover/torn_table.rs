//! A table of which only a part is right: only some of its pages were written, or some of its entries are damaged.
//!
//! A table that the engine wrote as a whole has neither gaps nor overlaps, of whatever time it is. One that has is not.
//!
//! The engine writes the table from its first byte on, and the C library in pages of 4,096 bytes of the file. When the
//! game is killed between two of them, the entries of the pages before the tear are those of now, and the others are those
//! of the last time. The sectors are those of now, so new entries lead to whole blocks of just their length. These are
//! set apart, and the others are matched with the blocks that are left, as in any region with an old table.
//!
//! Where single entries are damaged, each of these is at odds with another one or leads beyond the end of the file, and
//! all others lead to whole blocks of just their length. An old table shows itself by an entry that is at odds with no
//! other one and yet leads to no such block, or by blocks behind the last entry; then nothing is set apart.

use std::collections::BTreeSet;

use crate::recover::explained::listed;
use crate::recover::region::{Case, Listing};
use crate::recover::walk::{Walk, Walked};
use crate::save::Region;
use crate::source::Source;

/// What the C library writes at once.
const PAGE: u64 = 4096;

/// The entries and blocks of one generation, without what is between them.
#[derive(Debug, Hash)]
pub struct Part {
    /// The region as it looks without the other entries and blocks.
    pub case: Case,
    /// The indices that its entries and its blocks have in the whole region.
    pub of: [Vec<usize>; 2],
}

/// A region whose table is of two generations.
#[derive(Debug, Hash)]
pub struct Split {
    /// What is right.
    pub trusted: Part,
    /// The rest.
    pub rest: Part,
    /// Whether the blocks differ in their lengths, so that entries cannot fit by chance.
    pub sure: bool,
    /// Whether it is some pages of the table that are right, and not single entries.
    pub by_page: bool,
}

impl Split {
    /// The part that is right and the rest; `None` when the table is of one time, or it cannot be inferred.
    #[must_use]
    pub fn find<S: Source>(region: &Region<S>, case: &Case) -> Option<Self> {
        let packed = case.entries.iter().try_fold(0, |at, e| (e.first == at).then_some(at + e.count)).is_some();
        // The engine does not make files shorter either.
        if packed && case.table_end() <= case.walk.sectors {
            return None;
        }
        let pages = by_page(region, case);
        let by_page = pages.is_some();
        let right = pages.or_else(|| by_entry(case))?;
        let blocks = &case.walk.blocks;
        let owned: Vec<usize> = right.iter().filter_map(|&i| own(case, &case.entries[i])).collect();
        if right.is_empty() || owned.windows(2).any(|pair| pair[0] >= pair[1]) {
            return None;
        }
        let others = (0..case.entries.len()).filter(|i| right.binary_search(i).is_err()).collect();
        let free = (0..blocks.len()).filter(|b| owned.binary_search(b).is_err()).collect();
        let sure = blocks.iter().any(|b| b.count != blocks[0].count);
        Some(Self { trusted: part(case, right, owned, false), rest: part(case, others, free, true), sure, by_page })
    }
}

/// The whole block of its length that an entry leads to.
pub(super) fn own(case: &Case, entry: &Listing) -> Option<usize> {
    listed(case, entry).filter(|&b| case.walk.blocks[b].count == entry.count)
}

/// The entries of the pages before the first one with an entry that does not fit; there must be others behind.
fn by_page<S: Source>(region: &Region<S>, case: &Case) -> Option<Vec<usize>> {
    let page = |e: &Listing| region.entry_span(e.slot).start / PAGE;
    let last = case.entries.iter().map(page).max()?;
    let first_old = case.entries.iter().filter(|e| own(case, e).is_none()).map(page).min()?;
    let right: Vec<usize> = (0..case.entries.len()).filter(|&i| page(&case.entries[i]) < first_old).collect();
    (first_old <= last && !right.is_empty()).then_some(right)
}

/// The entries that lead to blocks of their own, when all others are at odds with some entry.
fn by_entry(case: &Case) -> Option<Vec<usize>> {
    let (entries, blocks) = (&case.entries, &case.walk.blocks);
    let mut claims = vec![0u32; blocks.len()];
    for block in entries.iter().filter_map(|e| own(case, e)) {
        claims[block] += 1;
    }
    let right = |e: &Listing| own(case, e).is_some_and(|b| claims[b] == 1);
    // The furthest end of the entries before each one.
    let mut reach = 0;
    let mut odds = vec![false; entries.len()];
    for (i, e) in entries.iter().enumerate() {
        odds[i] = e.first < reach || e.first + e.count > case.walk.sectors;
        reach = reach.max(e.first + e.count);
    }
    let mut least = u32::MAX;
    for (i, e) in entries.iter().enumerate().rev() {
        odds[i] |= e.first + e.count > least;
        least = least.min(e.first);
    }
    let kept: Vec<usize> = (0..entries.len()).filter(|&i| right(&entries[i])).collect();
    let last = kept.last().and_then(|&i| own(case, &entries[i]))?;
    // What is behind the last entry was saved after the table was written.
    let none_behind = blocks[last..]
        .iter()
        .skip(1)
        .all(|b| entries.iter().any(|e| e.first <= b.first && b.first < e.first + e.count));
    let others_at_odds = (0..entries.len()).all(|i| odds[i] || right(&entries[i]));
    (none_behind && others_at_odds).then_some(kept)
}

/// Entries and blocks of a region put close together. `holes`: whether sectors between blocks stay where no other
/// block was.
pub(super) fn part(case: &Case, entries: Vec<usize>, blocks: Vec<usize>, holes: bool) -> Part {
    let mut at = 0;
    let listings = entries.iter().map(|&i| {
        let listing = Listing { first: at, ..case.entries[i] };
        at += listing.count;
        listing
    });
    let listings: Vec<Listing> = listings.collect();
    let all = &case.walk.blocks;
    let mut walk = Walk::default();
    let mut first = 0;
    let end_before = |b: usize| if b == 0 { 0 } else { all[b - 1].end() };
    for &b in &blocks {
        first += if holes { all[b].first.saturating_sub(end_before(b)) } else { 0 };
        let block = Walked { first, ..all[b].clone() };
        first = block.end();
        walk.blocks.push(block);
    }
    walk.sectors = first;
    Part {
        case: Case {
            lod: case.lod,
            shape: case.shape,
            raw: Vec::new(),
            entries: listings,
            walk,
            gap: 0,
            taken: BTreeSet::new(),
        },
        of: [entries, blocks],
    }
}
