//! A table of which only some pages were written: its entries are of two generations.
//!
//! The engine writes the table from its first byte on, and the C library in pages of 4,096 bytes of the file. When the
//! game is killed between two of them, the entries of the pages before the tear are those of now, and the others are those
//! of the last time. The sectors are those of now, so new entries lead to whole blocks of just their length. These are
//! set apart, and the others are matched with the blocks that are left, as in any region with an old table.

use crate::repair::parts::Parts;
use crate::save::Region;
use crate::trace::region::{Case, Listing};
use crate::trace::walk::{Walk, Walked};

/// What the C library writes at once.
const PAGE: u64 = 4096;

/// The entries and blocks of one generation, without what lies between them.
pub(super) struct Part {
    pub case: Case,
    /// The indices that its entries and its blocks have in the whole region.
    pub of: [Vec<usize>; 2],
}

/// A region whose table is of two generations.
pub(super) struct Split {
    pub trusted: Part,
    pub rest: Part,
    /// Whether the blocks differ in their lengths, so that entries cannot fit by chance.
    pub sure: bool,
}

impl Split {
    /// The two generations; `None` when the table is of one, or it cannot be told.
    pub fn of(region: &Region<Parts>, case: &Case) -> Option<Self> {
        // A table that was written as a whole has neither gaps nor overlaps.
        let packed = case.entries.iter().try_fold(0, |at, e| (e.first == at).then_some(at + e.count)).is_some();
        if packed {
            return None;
        }
        let page = |e: &Listing| region.entry_span(e.slot).start / PAGE;
        let blocks = &case.walk.blocks;
        let block = |e: &Listing| {
            let at = blocks.binary_search_by_key(&e.first, |b| b.first).ok()?;
            (blocks[at].count == e.count && blocks[at].splice.is_none()).then_some(at)
        };
        let last_page = case.entries.iter().map(page).max()?;
        let first_old = case.entries.iter().filter(|e| block(e).is_none()).map(page).min()?;
        // The pages before the first one that does not fit are new; there must be entries in them, and others behind.
        let is_new = |e: &Listing| page(e) < first_old;
        if first_old > last_page || !case.entries.iter().any(is_new) {
            return None;
        }
        let (new, old): (Vec<usize>, Vec<usize>) = (0..case.entries.len()).partition(|&i| is_new(&case.entries[i]));
        let owned: Vec<usize> = new.iter().filter_map(|&i| block(&case.entries[i])).collect();
        if owned.windows(2).any(|pair| pair[0] >= pair[1]) {
            return None;
        }
        let free: Vec<usize> = (0..blocks.len()).filter(|b| owned.binary_search(b).is_err()).collect();
        let sure = blocks.iter().any(|b| b.count != blocks[0].count);
        Some(Self { trusted: part(case, new, owned, false), rest: part(case, old, free, true), sure })
    }
}

/// Entries and blocks of a region put close together. `holes`: whether sectors between blocks stay where no other
/// block stood.
fn part(case: &Case, entries: Vec<usize>, blocks: Vec<usize>, holes: bool) -> Part {
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
    Part { case: Case { lod: case.lod, entries: listings, walk }, of: [entries, blocks] }
}
