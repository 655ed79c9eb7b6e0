//! A table of a killed game of which a few entries are damaged.
//!
//! The engine writes tables whose entries are in a row. If single entries of such a table are lost or changed later, the others still
//! are in a row but for gaps, each as long as what was lost. What an entry lost shows in the gap; whose it was shows in the bytes
//! that are left of it.

use crate::godot::region::Entry;
use crate::recover::region::{Case, Listing};
use crate::recover::torn_table::own;
use crate::recover::walk::Walk;

/// One of so many entries may be damaged, and of few entries at least [`LEAST`].
const SHARE: usize = 8;
const LEAST: usize = 2;

/// Changed bits of an entry up to which it is known by what is left of it.
const MOST_BITS: u32 = 3;

/// The slots of gaps: no table has as many.
const GAP: u32 = 1 << 30;

/// Where the blocks of gaps are for their neighbours: nowhere.
const NOWHERE: [i32; 3] = [i32::MIN / 2; 3];

/// A region as its table was before entries of it were damaged.
#[derive(Debug)]
pub struct Mended {
    /// The region with that table.
    pub case: Case,
    /// The index that each entry has in the table as it is; `None` for gaps.
    pub of: Vec<Option<usize>>,
}

impl Mended {
    /// The table as it was; `None` where too many entries are damaged, where none is, or where all others lead to whole blocks of
    /// their own, so that the game was not killed.
    #[must_use]
    pub fn find(case: &Case) -> Option<Self> {
        let row = row(case)?;
        if row.kept.iter().all(|&i| own(case, &case.entries[i]).is_some()) {
            return None;
        }
        let mut listings: Vec<(Listing, Option<usize>)> =
            row.kept.iter().map(|&i| (case.entries[i], Some(i))).collect();
        let mut dropped = row.dropped;
        for (n, &(first, count)) in (0u32..).zip(&row.gaps) {
            let bits = |i: usize| changed_bits(case, i, (first, count));
            let nearest = dropped.iter().copied().filter_map(|i| Some((bits(i)?, i))).min();
            match nearest.filter(|(bits, _)| *bits <= MOST_BITS) {
                Some((_, i)) => {
                    dropped.retain(|other| *other != i);
                    listings.push((Listing { first, count, ..case.entries[i] }, Some(i)));
                }
                None => listings.push((Listing { slot: GAP + n, first, count, position: NOWHERE }, None)),
            }
        }
        listings.sort_by_key(|(listing, _)| listing.first);
        let (entries, of) = listings.into_iter().unzip();
        let walk = Walk::clone(&case.walk);
        let case = Case { lod: case.lod, shape: case.shape, raw: Vec::new(), entries, walk, gap: 0 };
        Some(Self { case, of })
    }
}

/// Whether a slot is that of a gap, which no block can be put into.
#[must_use]
pub const fn is_gap(slot: u32) -> bool {
    slot >= GAP
}

/// The entries that are in a row but for gaps, those that are not, and the gaps: first sectors and lengths.
struct Row {
    kept: Vec<usize>,
    dropped: Vec<usize>,
    gaps: Vec<(u32, u32)>,
}

/// Bits that count as changed of a damaged entry which is not between the entries beside its gap.
const ELSEWHERE: u32 = 16;

/// What a row up to an entry costs: damaged entries and gaps, then their changed bits, then sectors in gaps.
type Cost = (usize, u32, u64);

/// The bits in which an entry differs from that of a run of sectors.
fn changed_bits(case: &Case, i: usize, (first, count): (u32, u32)) -> Option<u32> {
    let slot = case.entries[i].slot;
    let right = Entry::new(first, u8::try_from(count).ok()?).0;
    let at = case.raw.binary_search_by_key(&slot, |(slot, _)| *slot).ok()?;
    Some((case.raw.get(at)?.1.0 ^ right).count_ones())
}

/// The row with the fewest damaged entries.
fn row(case: &Case) -> Option<Row> {
    let entries = &case.entries;
    let most = (entries.len() / SHARE).max(LEAST);
    // The cost of the best row that ends with each entry, and the entry before it.
    let mut best: Vec<Option<(Cost, Option<usize>)>> = Vec::with_capacity(entries.len());
    for (i, entry) in entries.iter().enumerate() {
        let behind = |end: u32, (damaged, bits, sectors): Cost, dropped: usize| -> Option<Cost> {
            let gap = entry.first.checked_sub(end)?;
            let changed = (dropped == 1).then(|| changed_bits(case, i - 1, (end, gap))).flatten();
            let changed = if dropped == 0 { 0 } else { changed.unwrap_or(ELSEWHERE) };
            Some((damaged + dropped + usize::from(gap > 0), bits.saturating_add(changed), sectors + u64::from(gap)))
        };
        let from_start = behind(0, (0, 0, 0), i).map(|cost| (cost, None));
        let before = (i.saturating_sub(most + 1)..i).filter_map(|j| {
            let (cost, _) = best.get(j).copied().flatten()?;
            Some((behind(entries[j].first + entries[j].count, cost, i - j - 1)?, Some(j)))
        });
        let is_inside = entry.first.checked_add(entry.count).is_some_and(|end| end <= case.walk.sectors);
        let chosen = before.chain(from_start).min_by_key(|(cost, _)| *cost);
        best.push(chosen.filter(|((damaged, ..), _)| is_inside && *damaged <= most));
    }
    let behind_last = |i: usize| entries.len() - 1 - i;
    let ends = best.iter().enumerate().filter_map(|(i, end)| {
        let ((damaged, bits, sectors), _) = (*end)?;
        let dropped = behind_last(i);
        let changed = u32::try_from(dropped).unwrap_or(u32::MAX).saturating_mul(ELSEWHERE);
        Some(((damaged + dropped, bits.saturating_add(changed), sectors), i))
    });
    let ((damaged, ..), last) = ends.min()?;
    if damaged == 0 || damaged > most {
        return None;
    }
    let mut kept = vec![last];
    while let Some((_, Some(before))) = kept.last().and_then(|&i| best[i]) {
        kept.push(before);
    }
    kept.reverse();
    let mut gaps = Vec::new();
    let mut at = 0;
    for &i in &kept {
        if entries[i].first > at {
            gaps.push((at, entries[i].first - at));
        }
        at = entries[i].first + entries[i].count;
    }
    let dropped = (0..entries.len()).filter(|i| kept.binary_search(i).is_err()).collect();
    Some(Row { kept, dropped, gaps })
}
