//! What is known of one region while a save is solved.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;
use std::sync::Arc;

use crate::godot::region::{Entry, Header};
use crate::godot::slots::SlotFormula;
use crate::limits::Limits;
use crate::recover::align::Posterior;
use crate::recover::evidence::Rates;
use crate::recover::gaps::{self, Followed};
use crate::recover::reading::{Reading, is_doubled};
use crate::recover::walk::{self, Walk};
use crate::recover::weights;
use crate::save::{Listed, Region, SlotPositions};
use crate::source::Source;

/// Entries from which on blocks that are there twice are no doubt about a table that fits: many are the same by
/// themselves, and looking for the others takes too long.
const LARGE: usize = 1024;

/// An entry of the table that is taken for true when the table was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Listing {
    /// Index in the table.
    pub slot: u32,
    /// Its first sector.
    pub first: u32,
    /// Its sectors.
    pub count: u32,
    /// Its position in the world, in blocks of its LOD.
    pub position: [i32; 3],
}

/// A region to solve.
#[derive(Debug, Hash)]
pub struct Case {
    /// Its LOD.
    pub lod: u8,
    /// Where its slots are.
    pub shape: SlotPositions,
    /// The slots of all entries that are not zero, and what the table has there.
    pub raw: Vec<(u32, Entry)>,
    /// The entries of the table, in the order of their sectors.
    pub entries: Vec<Listing>,
    /// The walk over its sectors.
    pub walk: Walk,
    /// Entries that were cut out of its table or, below 0, inserted, at a place that does not show.
    pub gap: i32,
    /// Slots of blocks that take no part: no other block can be in them.
    pub taken: BTreeSet<u32>,
}

/// Entries that lead too far from which on a table is garbage in places.
const GARBAGE: usize = 4;

impl Case {
    /// The slots of entries that name no positions that had a block, if most of a table is garbage: they lead further than all blocks
    /// together reach, and the engine leaves no gaps.
    #[must_use]
    pub fn garbage(&self) -> HashSet<u32> {
        let counts = self.entries.iter().map(|entry| u64::from(entry.count)).sum::<u64>();
        let reach = counts + u64::from(self.walk.sectors);
        let is_far = |entry: &&Listing| u64::from(entry.first) + u64::from(entry.count) > reach;
        let far: HashSet<u32> = self.entries.iter().filter(is_far).map(|entry| entry.slot).collect();
        if far.len() >= GARBAGE && far.len() * 2 > self.entries.len() { far } else { HashSet::new() }
    }

    /// Walks over the sectors of a region and takes its table's entries, those without a position left out, and those without
    /// sectors unless they lead to a whole block.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn read<S: Source>(
        region: &Region<S>,
        slots: SlotFormula,
        limits: &Limits,
        options: walk::Options<'_>,
    ) -> io::Result<Self> {
        let walk = walk::walk(&region.source, &region.header, limits, options)?;
        let (raw, entries) = Self::table(region, slots, &walk);
        let shape = region.slot_positions(slots);
        let gap = gap(&region.source, &region.header);
        Ok(Self { lod: region.lod, shape, raw, entries, walk, gap, taken: BTreeSet::new() })
    }

    /// The entries of a region's table as they are, and as a case has them; `walk` is that over its sectors.
    pub(super) fn table<S: Source>(
        region: &Region<S>,
        slots: SlotFormula,
        walk: &Walk,
    ) -> (Vec<(u32, Entry)>, Vec<Listing>) {
        let listed = region.by_sector();
        let without_sectors = blocks_without_sectors(&listed, walk);
        let listing = |listed: Listed| {
            let position = region.block_position(listed.slot, slots)?;
            let first = listed.entry.first();
            let count = match listed.entry.count() {
                0 => *without_sectors.get(&first)?,
                count => u32::from(count),
            };
            Some(Listing { slot: listed.slot, first, count, position })
        };
        let entries = listed.into_iter().filter_map(listing).collect();
        (region.entries.iter().map(|listed| (listed.slot, listed.entry)).collect(), entries)
    }
}

/// The first sectors of entries without sectors, and the sectors of the whole blocks there, where no other entry leads to the
/// same sector.
fn blocks_without_sectors(entries: &[Listed], walk: &Walk) -> HashMap<u32, u32> {
    let mut times: HashMap<u32, u32> = HashMap::new();
    if entries.iter().all(|listed| listed.entry.count() > 0) {
        return times;
    }
    entries.iter().for_each(|listed| *times.entry(listed.entry.first()).or_default() += 1);
    let alone = |first: u32| times.get(&first) == Some(&1);
    walk.blocks.iter().filter(|block| alone(block.first)).map(|block| (block.first, block.count)).collect()
}

/// Whole entries that were cut out of a table or, below 0, inserted, where the file is read as if that had been at its end.
fn gap(source: &impl Source, header: &Header) -> i32 {
    let (table, sectors) = (&header.table, header.sectors_at());
    let Some(there) = source.stored_offset(sectors) else { return 0 };
    let moved = i64::try_from(sectors).unwrap_or(0) - i64::try_from(there).unwrap_or(0);
    let zeros = moved.max(0).unsigned_abs();
    if moved == 0 || moved % 4 != 0 || moved.unsigned_abs() >= table.len() {
        return 0;
    }
    let last = sectors - zeros - 1;
    let is_at_end =
        source.stored_offset(last) == Some(last) && (zeros == 0 || source.stored_offset(last + 1).is_none());
    if is_at_end { i32::try_from(moved / 4).unwrap_or(0) } else { 0 }
}

/// One possible block of an entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Index of the walked block.
    pub block: usize,
    /// Its probability.
    pub p: f64,
    /// Whether it was taken out and appended.
    pub moved: bool,
}

/// For each entry its possible blocks.
pub type EntryOptions = Vec<Vec<Candidate>>;

/// A region while it is solved.
#[derive(Debug)]
pub struct State {
    /// The ways to read its walk.
    pub readings: Vec<Reading>,
    /// How often its blocks were saved.
    pub rates: Rates,
    /// What is likely.
    pub posterior: Posterior,
    /// For each entry its possible blocks, the likeliest first.
    pub options: Arc<EntryOptions>,
    /// What the order alone said: the same as `options`.
    pub order: Arc<EntryOptions>,
    /// The same as `options`, would the game have saved many blocks: what a small region cannot rule out.
    pub pessimistic: Arc<EntryOptions>,
    /// Odds of the seams of each entry with each possible block, as logarithms.
    pub seams: Vec<Vec<(usize, f64)>>,
    /// For each entry, how many neighbours these odds come from.
    pub neighbours: Vec<u32>,
}

impl Case {
    /// Whether it has so many entries, or so many blocks without one, that one or a few of them do not change how likely others are gone.
    #[must_use]
    pub const fn is_large(&self) -> bool {
        self.entries.len() > weights::LARGE || self.walk.blocks.len() > weights::LARGE
    }

    /// Whether the table explains the walk as it is: every entry a whole block of its length, in a row without gaps,
    /// and nothing behind it but copies.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        let blocks = &self.walk.blocks;
        let mut at = 0;
        for (i, entry) in self.entries.iter().enumerate() {
            let Some(block) = blocks.get(i) else { return false };
            let right = entry.first == at && (block.first, block.count) == (entry.first, entry.count);
            if !right || block.splice.is_some() {
                return false;
            }
            at += entry.count;
        }
        self.walk.sectors == at && (self.entries.len() > LARGE || !is_doubled(&self.walk, &self.sectors()))
    }

    /// The first sectors and counts of its entries, in the order of their sectors.
    #[must_use]
    pub fn sectors(&self) -> Vec<(u32, u32)> {
        self.entries.iter().map(|entry| (entry.first, entry.count)).collect()
    }

    /// Follows its table and its walk. `None` where there is too much to compare.
    pub(super) fn follow(&self) -> Option<Followed> {
        gaps::follow(&self.walk, &self.sectors(), &[])
    }

    /// The sector after the last that the table knows.
    #[must_use]
    pub fn table_end(&self) -> u32 {
        self.entries.iter().map(|e| e.first + e.count).max().unwrap_or(0)
    }

    /// The content of a walked block.
    #[must_use]
    pub fn content(&self, block: usize) -> u128 {
        self.walk.blocks[block].content
    }

    /// The voxels of a walked block: blocks that differ in nothing but their metadata have the same.
    #[must_use]
    pub fn voxels(&self, block: usize) -> u128 {
        self.walk.blocks[block].voxels
    }
}

impl State {
    /// A region whose table is right.
    #[must_use]
    pub fn intact(case: &Case) -> Self {
        let n = case.entries.len();
        let options: EntryOptions = (0..n).map(|i| vec![Candidate { block: i, p: 1.0, moved: false }]).collect();
        let kept = (0..n).map(|i| vec![(i, 1.0)]).collect();
        let posterior = Posterior {
            kept,
            gone: vec![0.0; n],
            torn: vec![0.0; n],
            appended: vec![0.0; case.walk.blocks.len()],
            ..Default::default()
        };
        Self {
            readings: Vec::new(),
            rates: Rates { gone: 0.0, shrunk: 0.0 },
            posterior,
            order: Arc::default(),
            pessimistic: Arc::default(),
            options: Arc::new(options),
            seams: vec![Vec::new(); n],
            neighbours: vec![0; n],
        }
    }

    /// Pairs of a block that may be appended and an entry that may be gone.
    #[must_use]
    pub fn pairs(&self) -> usize {
        let likely = |all: &[f64]| all.iter().filter(|p| **p > 1e-3).count();
        likely(&self.posterior.appended).saturating_mul(likely(&self.posterior.gone))
    }

    /// Whether nothing is left to find out.
    #[must_use]
    pub fn is_solved(&self) -> bool {
        self.readings.is_empty()
    }

    /// The likeliest content of an entry: a block that has it, and the probability of all that have it.
    #[must_use]
    pub fn best(&self, case: &Case, i: usize) -> Option<(usize, f64)> {
        best(case, self.options.get(i)?)
    }
}

/// The likeliest content among options: a block that has it, and the probability of all that have it.
#[must_use]
pub fn best(case: &Case, options: &[Candidate]) -> Option<(usize, f64)> {
    let sums = options.iter().map(|o| {
        let content = case.content(o.block);
        (o.block, options.iter().filter(|p| case.content(p.block) == content).map(|p| p.p).sum::<f64>())
    });
    sums.fold(None, |best, (block, p)| match best {
        Some((_, q)) if q >= p => best,
        _ => Some((block, p)),
    })
}
