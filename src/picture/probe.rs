//! What a world is like, by some of its blocks: which channel has its matter, and how high it reaches.

use super::columns::{Columns, Reading, Rise};
use super::look::{Matter, SOLID};
use super::source::{Reader, Scratch, Source, Voxels};
use crate::godot::channel::Storage;
use crate::godot::textures::Textures;
use crate::parallel;
use crate::watch::Watch;
use crate::world::At;

/// Columns of blocks that are looked at before the first picture.
const COLUMNS: usize = 48;

/// Blocks that a thread looks at, one after the other, for what matter goes by.
const SEEN_TOGETHER: usize = 16;

/// What the blocks that were looked at show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Probe {
    /// Of each channel in [`SOLID`]: the value that all blocks had so far, as long as they had one.
    same: [Option<u64>; 3],
    differs: [bool; 3],
    /// The lowest and the highest y of the highest matter of columns.
    pub heights: Option<[i32; 2]>,
    /// The smallest and the largest depth, of maps.
    pub depths: Option<[f32; 2]>,
    /// Stored bytes of a column, few and many: most columns have something between the two.
    pub sizes: Option<[u32; 2]>,
    /// What INDICES and WEIGHTS mean, by the first block.
    pub textures: Option<Textures>,
}

impl Probe {
    /// Takes the channels of a block in.
    pub fn see(&mut self, voxels: Voxels<'_>) {
        let Voxels::Block(block) = voxels else { return };
        self.textures = self.textures.or_else(|| Textures::of_block(block));
        for (at, channel) in SOLID.into_iter().enumerate() {
            let Some(channel) = block.channels.get(channel).filter(|_| !self.differs[at]) else { continue };
            let Some(first) = channel.value(0) else { continue };
            let width = channel.depth.bytes();
            let uniform = channel.storage == Storage::Uniform
                || channel.data.get(width..).is_some_and(|rest| channel.data.starts_with(rest));
            let known = *self.same[at].get_or_insert(first);
            self.differs[at] = !uniform || known != first;
        }
    }

    /// Takes in what other blocks show of the channels.
    fn merge(&mut self, other: &Self) {
        for at in 0..SOLID.len() {
            let known = self.same[at].or(other.same[at]);
            self.differs[at] |= other.differs[at] || other.same[at].is_some_and(|value| Some(value) != known);
            self.same[at] = known;
        }
        self.textures = self.textures.or(other.textures);
        self.widen_depths(other.depths.into_iter().flatten());
    }

    /// What matter goes by: the first channel that is not the same everywhere; TYPE when all are.
    #[must_use]
    pub fn matter(&self, source: &Source) -> Matter {
        if !source.has_channels() {
            return Matter::Value;
        }
        let found = SOLID.into_iter().zip(self.differs).find(|(_, differs)| *differs);
        Matter::Channel(found.map_or(0, |(channel, _)| channel))
    }

    /// Whether nothing that is read later can change what matter goes by.
    #[must_use]
    pub const fn is_certain(&self) -> bool {
        self.differs[0]
    }

    /// Looks at blocks all over the world.
    #[must_use]
    pub fn new(source: &Source, channel: Option<usize>) -> Self {
        let mut probe = Self::default();
        let reader = source.reader();
        let mut scratch = Scratch::default();
        // The highest LOD has the fewest blocks and shows the most.
        let Some(table) = source.tables.last() else { return probe };
        let every = (table.blocks.len() / COLUMNS).max(1);
        let picked = || table.blocks.iter().step_by(every);
        for at in picked() {
            if probe.is_certain() {
                break;
            }
            reader.block(at, &mut scratch, |voxels| probe.see(voxels));
        }
        let matter = match channel {
            Some(channel) if source.has_channels() => Matter::Channel(channel),
            _ => probe.matter(source),
        };
        probe.measure(&reader, matter);
        probe
    }

    /// How high the columns reach, and how much they take.
    fn measure(&mut self, reader: &Reader<'_>, matter: Matter) {
        let source = reader.source;
        let Some(table) = source.tables.last() else { return };
        // Blocks of low LODs are looked at from near, for what they take.
        let lowest = source.tables.first().filter(|lowest| lowest.lod != table.lod);
        let tables = std::iter::once(table).chain(lowest);
        let columns: Vec<(u8, &[At])> =
            tables.flat_map(|table| some_columns(&table.blocks).map(|column| (table.lod, column))).collect();
        let (mut heights, mut sizes) = (Vec::new(), Vec::new());
        let measure = |scratch: &mut Scratch, (lod, column): &(u8, &[At])| Column {
            shown: (*lod == table.lod).then(|| look_at(reader, matter, *lod, column, scratch)),
            stored: stored(reader, column, scratch),
        };
        for Column { shown, stored } in parallel::map_with(&columns, measure) {
            sizes.push(stored);
            if let Some((probe, of_column)) = shown {
                self.merge(&probe);
                heights.extend(of_column);
            }
        }
        heights.sort_unstable();
        // A tower or a pit does not take the colours from everything else.
        let rare = heights.len() / 200;
        let high = heights.len().checked_sub(rare + 1).and_then(|at| heights.get(at));
        if let (Some(low), Some(high)) = (heights.get(rare), high) {
            self.heights = Some([*low, *high]);
        }
        sizes.sort_unstable();
        let rare = sizes.len() / 20;
        let high = sizes.len().checked_sub(rare + 1).and_then(|at| sizes.get(at));
        self.sizes = sizes.get(rare).zip(high).map(|(low, high)| [*low, *high]);
        self.measure_depths(reader);
    }

    fn measure_depths(&mut self, reader: &Reader<'_>) {
        let Some([dx, _, dz]) = reader.source.dim().filter(|_| reader.source.has_depth()) else { return };
        let (mut depths, mut bytes) = (Vec::new(), Vec::new());
        let every = crate::bytes::index((dx / 64).max(1).into());
        for x in (0..dx).step_by(every) {
            reader.depths(x.into(), 0..i64::from(dz), &mut depths, &mut bytes);
            self.widen_depths(depths.iter().copied());
        }
    }

    fn widen_depths(&mut self, depths: impl Iterator<Item = f32>) {
        for depth in depths.filter(|depth| depth.is_finite()) {
            let [low, high] = self.depths.unwrap_or([depth; 2]);
            self.depths = Some([low.min(depth), high.max(depth)]);
        }
    }
}

/// A column of blocks.
struct Column {
    /// What its blocks show, and the y of the highest matter of each of its columns of voxels, if it was looked at.
    shown: Option<(Probe, Vec<i32>)>,
    /// Stored bytes.
    stored: u32,
}

fn look_at(reader: &Reader<'_>, matter: Matter, lod: u8, column: &[At], scratch: &mut Scratch) -> (Probe, Vec<i32>) {
    let source = reader.source;
    let packed = source.layer().is_some_and(|(grid, _)| grid.packed);
    let reading = Reading { matter, palette: source.palette.as_deref(), packed };
    let (mut probe, mut found) = (Probe::default(), Columns::new(source.side));
    for at in column.iter().rev() {
        if found.is_full() {
            break;
        }
        let rise = Rise { base: source.corner(lod, at.position)[1], step: 1 << lod.min(40) };
        reader.block(at, scratch, |voxels| {
            probe.see(voxels);
            found.look(voxels, reading, rise);
        });
    }
    let there = || found.found.iter().filter(|pixel| pixel.is_there());
    if packed {
        probe.widen_depths(there().map(|pixel| pixel.more));
    }
    let heights = there().map(|pixel| pixel.y).collect();
    (probe, heights)
}

/// Some of the columns of blocks, all over the world.
fn some_columns(blocks: &[At]) -> impl Iterator<Item = &[At]> {
    let every = blocks.chunk_by(same_column).count().div_ceil(COLUMNS).max(1);
    blocks.chunk_by(same_column).step_by(every)
}

/// Whether two blocks are above each other.
fn same_column(a: &At, b: &At) -> bool {
    (a.position[0], a.position[2]) == (b.position[0], b.position[2])
}

/// Stored bytes of the blocks of a column.
fn stored(reader: &Reader<'_>, column: &[At], scratch: &mut Scratch) -> u32 {
    let sum = column.iter().fold(0u64, |sum, at| sum.saturating_add(reader.stored(at, scratch)));
    u32::try_from(sum).unwrap_or(u32::MAX)
}

/// What matter goes by, by a pass over all blocks of the highest LOD and down as far as needed.
#[must_use]
pub fn certain_matter(source: &Source, watch: &Watch<'_>) -> Matter {
    let mut probe = Probe::default();
    let reader = source.reader();
    let see = |scratch: &mut Scratch, blocks: &&[At]| {
        let mut probe = Probe::default();
        for at in *blocks {
            if probe.is_certain() || watch.is_cancelled() {
                break;
            }
            reader.block(at, scratch, |voxels| probe.see(voxels));
        }
        probe
    };
    // Most worlds are certain after a few blocks.
    for some in source.tables.iter().rev().flat_map(|table| table.blocks.chunks(4 * SEEN_TOGETHER)) {
        if probe.is_certain() || watch.is_cancelled() {
            break;
        }
        let parts: Vec<&[At]> = some.chunks(SEEN_TOGETHER).collect();
        parallel::map_with(&parts, see).iter().for_each(|other| probe.merge(other));
    }
    probe.matter(source)
}
