//! A table of a killed game of which a few entries are damaged.
//!
//! The engine writes tables whose entries are in a row. If single entries of such a table are lost or changed later, the others still
//! are in a row but for gaps. Each gap has the sectors of a lost or changed entry. An entry that differs from that of a gap in few bits
//! is taken for it.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};

use crate::godot::region::Entry;
use crate::recover::gaps;
use crate::recover::region::{Case, Listing};
use crate::recover::torn_table::own;
use crate::recover::walk::{Walk, Walked};

/// At most one entry in so many may be changed, or [`LEAST`] of few entries. However many are lost, the others are in a row.
const SHARE: usize = 8;
const LEAST: usize = 2;

/// Changed bits of an entry up to which it is known by what is left of it.
const MOST_BITS: u32 = 3;

/// An entry gets another length only if the log-odds of the order rise by more than this. Measured on golden saves and a made-up one:
/// wrong lengths gain less than 8, right ones more than 10.
const MARGIN: f32 = 8.0;

/// At most so many entries without a block of their own for each block that was moved. If there are more, a disk damaged the blocks.
const LOST_PER_MOVED: usize = 3;

/// Most entries that are tried with another length.
const MOST_TRIED: usize = 8;

/// Slots of gaps begin here; no table has as many.
const GAP: u32 = 1 << 30;

/// The position of gaps, which has no neighbours.
const NOWHERE: [i32; 3] = [i32::MIN / 2; 3];

/// A region as its table was before entries of it were damaged.
#[derive(Debug)]
pub struct Mended {
    /// The region with that table.
    pub case: Case,
    /// The index of each entry in the damaged table; `None` for gaps.
    pub of: Vec<Option<usize>>,
    /// Whether entries are left that lead to blocks of others, so that the slots of some blocks are not known.
    pub is_doubtful: bool,
}

impl Mended {
    /// The table as it was; `None` where too many entries are damaged, where none is, or where no block was moved.
    #[must_use]
    pub fn find(case: &Case) -> Option<Self> {
        let mut row = row(case)?;
        row.drop_repeated(case);
        let is_inside = |entry: &&Listing| entry.first + entry.count <= case.walk.sectors;
        let inside = row.kept.iter().map(|&i| &case.entries[i]).filter(is_inside);
        let lost = inside.filter(|entry| own(case, entry).is_none()).count();
        let moved = moved(case, &row);
        // A disk damages blocks, but does not move them. Where each entry leads to a block, blocks behind are of none of them.
        if moved == 0 || lost == 0 || moved < lost.div_ceil(LOST_PER_MOVED) {
            return None;
        }
        let mut listings: Vec<(Listing, Option<usize>)> =
            row.kept.iter().map(|&i| (case.entries[i], Some(i))).collect();
        let (repeated, mut dropped): (Vec<usize>, Vec<usize>) =
            row.dropped.iter().partition(|i| row.repeated.contains(i));
        let mut gaps = Vec::new();
        for &(first, count) in &row.gaps {
            let bits = |i: usize| changed_bits(case, i, (first, count));
            let nearest = dropped.iter().copied().filter_map(|i| Some((bits(i)?, i))).min();
            let is_near = |&(bits, i): &(u32, usize)| bits <= MOST_BITS || case.entries[i].first == first;
            match nearest.filter(is_near) {
                Some((_, i)) => {
                    dropped.retain(|other| *other != i);
                    listings.push((Listing { first, count, ..case.entries[i] }, Some(i)));
                }
                None => gaps.push((first, count)),
            }
        }
        listings.sort_by_key(|(listing, _)| listing.first);
        let sectors: Vec<(u32, u32)> = listings.iter().map(|(listing, _)| (listing.first, listing.count)).collect();
        if let Some(followed) = gaps::follow(&case.walk, &sectors, &gaps) {
            listings.truncate(followed.inside);
            gaps = followed.lost;
        }
        let lost = (0u32..).zip(gaps);
        listings
            .extend(lost.map(|(n, (first, count))| (Listing { slot: GAP + n, first, count, position: NOWHERE }, None)));
        listings.sort_by_key(|(listing, _)| listing.first);
        let is_doubtful = repeated.iter().chain(&dropped).any(|&i| case.entries[i].first < case.walk.sectors);
        Some(Self::new(case, listings, is_doubtful).with_right_lengths())
    }

    /// Whether the entries of all blocks are known, so that none is lost.
    pub fn is_complete(&self) -> bool {
        !self.is_doubtful && self.of.iter().all(Option::is_some)
    }

    fn new(case: &Case, listings: Vec<(Listing, Option<usize>)>, is_doubtful: bool) -> Self {
        let (entries, of) = listings.into_iter().unzip();
        let walk = Walk::clone(&case.walk);
        let case =
            Case { lod: case.lod, shape: case.shape, raw: Vec::new(), entries, walk, gap: 0, taken: BTreeSet::new() };
        Self { case, of, is_doubtful }
    }

    /// Adds gaps to the entry before or behind them, whose length was changed, where that makes the order of the table and its
    /// blocks likelier.
    fn with_right_lengths(mut self) -> Self {
        let mut most = None;
        let mut tried = 0;
        let mut at = 0;
        while at < self.of.len() && tried < MOST_TRIED {
            let mut best = None;
            for made in at.checked_sub(1).into_iter().chain([at + 1]).filter_map(|other| self.join_gap(at, other)) {
                tried += 1;
                let now = *most.get_or_insert_with(|| in_order(&self.case));
                let odds = in_order(&made.case);
                if odds > best.as_ref().map_or(now + MARGIN, |(_, most)| *most) {
                    best = Some((made, odds));
                }
            }
            match best {
                Some((made, odds)) => (self, most) = (made, Some(odds)),
                None => at += 1,
            }
        }
        self
    }

    /// The table in which a gap belongs to an entry beside it; `None` if that is no gap, or too many bits of the entry differ.
    fn join_gap(&self, gap: usize, other: usize) -> Option<Self> {
        let entries = &self.case.entries;
        let removed = entries.get(gap).filter(|entry| is_gap(entry.slot))?;
        let entry = entries.get(other).filter(|entry| !is_gap(entry.slot))?;
        let (first, count) = (entry.first.min(removed.first), entry.count + removed.count);
        let changed = entry_of((first, count))?.0 ^ entry_of((entry.first, entry.count))?.0;
        if changed.count_ones() > MOST_BITS {
            return None;
        }
        let mut listings: Vec<_> = entries.iter().copied().zip(self.of.iter().copied()).collect();
        listings[other].0 = Listing { first, count, ..*entry };
        listings.remove(gap);
        Some(Self::new(&self.case, listings, self.is_doubtful))
    }
}

/// The log-odds of the likeliest way in which the table of a region and its blocks are in one order.
fn in_order(case: &Case) -> f32 {
    case.follow().map_or(f32::NEG_INFINITY, |followed| followed.odds)
}

/// Whether a slot is that of a gap, which no block can be put into.
#[must_use]
pub const fn is_gap(slot: u32) -> bool {
    slot >= GAP
}

/// The entries of a table that are in a row but for gaps.
struct Row {
    /// How many entries are damaged, with the gaps.
    damaged: usize,
    /// The entries in the row.
    kept: Vec<usize>,
    /// The other entries.
    dropped: Vec<usize>,
    /// Those of them that repeat each other.
    repeated: Vec<usize>,
    /// The first sectors and lengths of the gaps.
    gaps: Vec<(u32, u32)>,
}

impl Row {
    /// Leaves out entries that others repeat: any of these slots may be that of the block.
    fn drop_repeated(&mut self, case: &Case) {
        let sectors = |i: usize| (case.entries[i].first, case.entries[i].count);
        let others: HashSet<(u32, u32)> = self.dropped.iter().map(|&i| sectors(i)).collect();
        let (repeated, kept) = std::mem::take(&mut self.kept).into_iter().partition(|&i| others.contains(&sectors(i)));
        self.kept = kept;
        self.gaps.extend(repeated.iter().map(|&i| sectors(i)));
        self.gaps.sort_unstable();
        let sectors_of: HashSet<(u32, u32)> = repeated.iter().map(|&i| sectors(i)).collect();
        self.dropped.extend(repeated);
        self.dropped.sort_unstable();
        self.repeated = self.dropped.iter().copied().filter(|&i| sectors_of.contains(&sectors(i))).collect();
    }
}

/// Whole blocks that are neither in gaps nor where an entry has one of their length: the game moved them. Of those behind the last
/// entry, as many do not count as further entries may be lost.
fn moved(case: &Case, row: &Row) -> usize {
    let end = row.kept.last().map_or(0, |&i| case.entries[i].first + case.entries[i].count);
    let in_gap = |block: &Walked| {
        let at = row.gaps.partition_point(|(first, count)| first + count <= block.first);
        row.gaps.get(at).is_some_and(|(first, _)| *first < block.end())
    };
    let listed = |block: &Walked| {
        let at = row.kept.partition_point(|&i| case.entries[i].first < block.first);
        let entry = row.kept.get(at).map(|&i| &case.entries[i]);
        entry.is_some_and(|entry| (entry.first, entry.count) == (block.first, block.count))
    };
    let (inside, behind): (Vec<&Walked>, _) = case.walk.blocks.iter().partition(|block| block.first < end);
    let inside = inside.into_iter().filter(|block| !listed(block) && !in_gap(block)).count();
    // Where many entries are lost, those of all blocks behind may be.
    let may_be_lost = most_changed(&case.entries).checked_sub(row.damaged).unwrap_or(usize::MAX);
    inside + behind.len().saturating_sub(may_be_lost)
}

/// How many entries of a table may be changed.
fn most_changed(entries: &[Listing]) -> usize {
    (entries.len() / SHARE).max(LEAST)
}

/// Bits that count as changed of a damaged entry which is not between the entries beside its gap.
const ELSEWHERE: u32 = 16;

/// What a row up to an entry costs: damaged entries and gaps, then their changed bits, then sectors in gaps.
type Cost = (usize, u32, u64);

/// The entry of a run of sectors: the first one and their number. `None` if there are more than an entry can have.
fn entry_of((first, count): (u32, u32)) -> Option<Entry> {
    Some(Entry::new(first, u8::try_from(count).ok()?))
}

/// The bits in which an entry differs from that of a run of sectors.
fn changed_bits(case: &Case, i: usize, sectors: (u32, u32)) -> Option<u32> {
    let slot = case.entries[i].slot;
    let at = case.raw.binary_search_by_key(&slot, |(slot, _)| *slot).ok()?;
    Some((case.raw.get(at)?.1.0 ^ entry_of(sectors)?.0).count_ones())
}

/// How many entries there are at most of which each leads behind the one before it.
fn longest_rise(entries: &[Listing]) -> usize {
    // The least first sector that a rise of each length ends with.
    let mut ends: Vec<u32> = Vec::new();
    for entry in entries {
        let at = ends.partition_point(|end| *end < entry.first);
        match ends.get_mut(at) {
            Some(end) => *end = entry.first,
            None => ends.push(entry.first),
        }
    }
    ends.len()
}

/// The row with the fewest damaged entries.
fn row(case: &Case) -> Option<Row> {
    let entries = &case.entries;
    let most = most_changed(entries);
    if entries.len() - longest_rise(entries) > most {
        return None;
    }
    // The cost of the best row that ends with each entry, and the entry before it.
    let mut best: Vec<Option<(Cost, Option<usize>)>> = Vec::with_capacity(entries.len());
    for (i, entry) in entries.iter().enumerate() {
        let behind = |end: u32, (damaged, bits, sectors): Cost, dropped: usize| -> Option<Cost> {
            let gap = entry.first.checked_sub(end)?;
            // Of a file that was cut off, only what is directly behind the others.
            let is_inside = entry.first.checked_add(entry.count).is_some_and(|end| end <= case.walk.sectors);
            if !is_inside && gap + u32::try_from(dropped).unwrap_or(u32::MAX) > 0 {
                return None;
            }
            let changed = match dropped {
                0 => 0,
                1 if gap > 0 => changed_bits(case, i - 1, (end, gap)).unwrap_or(ELSEWHERE),
                _ => ELSEWHERE,
            };
            // An entry that leads elsewhere leaves a gap, or was none of a block.
            let gaps = usize::from(gap > 0 || dropped > 0);
            Some((damaged + dropped + gaps, bits.saturating_add(changed), sectors + u64::from(gap)))
        };
        let from_start = behind(0, (0, 0, 0), i).map(|cost| (cost, None));
        let mut chosen: Option<(Cost, Option<usize>)> = None;
        for (dropped, j) in (i.saturating_sub(most + 1)..i).rev().enumerate() {
            // What is between two entries of the row is damaged.
            if chosen.is_some_and(|((damaged, ..), _)| dropped > damaged) {
                break;
            }
            let Some((cost, _)) = best.get(j).copied().flatten() else { continue };
            let cost = behind(entries[j].first + entries[j].count, cost, dropped);
            if let Some(cost) = cost.filter(|cost| chosen.is_none_or(|(least, _)| *cost <= least)) {
                chosen = Some((cost, Some(j)));
            }
        }
        let chosen = chosen.into_iter().chain(from_start).min_by_key(|(cost, _)| *cost);
        best.push(chosen);
    }
    // Many entries that lead beyond the end of the file are those of blocks that were cut off.
    let inside = entries.partition_point(|entry| entry.first < case.walk.sectors);
    let behind_last = |i: usize| {
        let beyond = entries.len() - inside.max(i + 1);
        entries.len() - 1 - i - if beyond > most { beyond } else { 0 }
    };
    let ends = best.iter().enumerate().filter_map(|(i, end)| {
        let ((damaged, bits, sectors), _) = (*end)?;
        let dropped = behind_last(i);
        let changed = u32::try_from(dropped).unwrap_or(u32::MAX).saturating_mul(ELSEWHERE);
        Some(((damaged + dropped, bits.saturating_add(changed), sectors), Reverse(i)))
    });
    let ((damaged, ..), Reverse(last)) = ends.min()?;
    let is_cut_off = entries[last].first + entries[last].count > case.walk.sectors;
    if damaged == 0 && !is_cut_off {
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
    let dropped: Vec<usize> = (0..entries.len()).filter(|i| kept.binary_search(i).is_err()).collect();
    if dropped.iter().filter(|&&i| entries[i].first < case.walk.sectors).count() > most {
        return None;
    }
    Some(Row { damaged, kept, dropped, repeated: Vec::new(), gaps })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_rise_leaves_out_what_leads_back() {
        let rise = |firsts: &[u32]| {
            let listing = |first: &u32| Listing { slot: 0, first: *first, count: 1, position: [0; 3] };
            longest_rise(&firsts.iter().map(listing).collect::<Vec<_>>())
        };
        assert_eq!(rise(&[]), 0);
        assert_eq!(rise(&[0, 1, 2, 3]), 4);
        assert_eq!(rise(&[0, 9, 1, 2, 7, 3]), 4, "0, 1, 2, 3");
        assert_eq!(rise(&[5, 5, 5]), 1, "all lead to one block");
    }
}
