//! Owners of the sectors of a region file.

use crate::save::region::{Listed, Region};
use crate::save::stream::PageKind;
use crate::source::Source;

/// The owner of a run of sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Owner {
    /// The header and the table, where they take sectors themselves (pak regions).
    Header,
    /// The block in this slot.
    Block(u32),
    /// More than one block.
    Shared,
    /// No owner, between blocks; the engine leaves no such gap.
    Free,
    /// No owner, after the last block: old bytes.
    Stale,
    /// A block in this slot, but the file ends before it.
    BeyondEnd(u32),
    /// A whole unowned block; only a walk of the sectors finds these. In a stream, a page that nothing
    /// points to.
    Lost,
    /// A page of a stream that is not part of a block's data.
    Page(PageKind),
}

/// Consecutive sectors with one owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// First sector.
    pub first: u64,
    /// Number of sectors.
    pub count: u64,
    /// Their owner.
    pub owner: Owner,
}

/// All sectors of a region file, in order, without gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectorMap {
    /// Bytes before sector 0: header, palette, table.
    pub header_bytes: u64,
    /// Bytes per sector.
    pub sector_size: u32,
    /// Sectors that the file has room for.
    pub in_file: u64,
    /// The runs.
    pub runs: Vec<Run>,
}

impl SectorMap {
    /// Number of sectors whose owner satisfies `is`.
    pub fn count(&self, is: impl Fn(Owner) -> bool) -> u64 {
        self.runs.iter().filter(|run| is(run.owner)).map(|run| run.count).sum()
    }
}

impl<S: Source> Region<S> {
    /// The sector map by the table alone; it has no [`Owner::Lost`].
    #[must_use]
    pub fn sector_map(&self) -> SectorMap {
        let listed = self.entries.iter().filter(|listed| listed.entry.count() > 0);
        let claims = listed.map(|Listed { slot, entry }| (entry.first().into(), entry.end().into(), *slot));
        let in_file = self.sectors_in_file();
        SectorMap {
            header_bytes: self.header.sectors_at(),
            sector_size: self.header.format.sector_size,
            in_file,
            runs: runs(claims, 0, in_file),
        }
    }
}

/// Turns claims (first sector, end, slot) into runs of sectors, from `from` to the end of the file or of the furthest
/// claim.
pub(super) fn runs(claims: impl Iterator<Item = (u64, u64, u32)>, from: u64, in_file: u64) -> Vec<Run> {
    let mut runs = Vec::new();
    sweep(claims, from, |first, end, owner| {
        // Sectors beyond the end of the file have no owner unless an entry claims them.
        match owner {
            Owner::Block(slot) | Owner::BeyondEnd(slot) => {
                push(&mut runs, first, end.min(in_file), Owner::Block(slot));
                push(&mut runs, first.max(in_file), end, Owner::BeyondEnd(slot));
            }
            Owner::Shared => push(&mut runs, first, end, owner),
            _ => push(&mut runs, first, end.min(in_file), owner),
        }
    });
    let last = runs.last().map_or(from, |run| run.first + run.count);
    push(&mut runs, last, in_file, Owner::Stale);
    runs
}

fn push(runs: &mut Vec<Run>, first: u64, end: u64, owner: Owner) {
    if end > first {
        runs.push(Run { first, count: end - first, owner });
    }
}

/// Passes on each run of sectors from `at` to the furthest end, with its owner.
fn sweep(claims: impl Iterator<Item = (u64, u64, u32)>, mut at: u64, mut give: impl FnMut(u64, u64, Owner)) {
    // Where a claim begins or ends, with the change in the number of owners.
    let mut edges: Vec<(u64, i32, u32)> =
        claims.flat_map(|(first, end, slot)| [(first, 1, slot), (end, -1, slot)]).collect();
    edges.sort_unstable();
    let (mut owners, mut xor) = (0i32, 0u32);
    for (sector, change, slot) in edges {
        if sector > at {
            let owner = match owners {
                0 => Owner::Free,
                // With one owner left, the exclusive-or of all slots is that owner's slot.
                1 => Owner::Block(xor),
                _ => Owner::Shared,
            };
            give(at, sector, owner);
            at = sector;
        }
        owners += change;
        xor ^= slot;
    }
}
