//! What two LODs have in common, in a few voxels of each block: enough to see that a region file is not where its blocks belong.
//!
//! The engine makes a block from every second voxel of eight blocks of the next finer LOD. Of some blocks of a region the voxels are
//! kept that the next coarser LOD takes from them, and of some the voxels that they took from each of their eight blocks.

use std::collections::BTreeMap;

use crate::godot::block::Block;
use crate::godot::channel::CHANNELS;
use crate::recover::faces::{Values, strides};
use crate::recover::screen::Tally;

/// Voxels along each edge of what two LODs have in common of a block.
const EDGE: usize = 4;

/// Voxels that two LODs have in common of a block.
pub const CELLS: usize = EDGE * EDGE * EDGE;

/// Blocks of a region that are compared with another LOD, about: of regions with more only these are drawn.
const DRAWN: usize = 256;

/// The most of them that are kept if they show something.
const SHOWN: usize = 64;

/// The most bytes that all files of a save may take, and the fewest blocks of a file that are worth keeping.
const BYTES: usize = 16 << 20;
const FEWEST: usize = 4;

/// The fewest blocks that show that a coarser LOD was saved at a place.
const LEAST_BLOCKS: usize = 4;

/// Some voxels of a block: of each its kind and the sign of its signed distance.
type Cells = [u8; CELLS];

/// A block, by a number that depends on its position in its region alone and looks random.
type Key = u32;

/// Some voxels of one block that other LODs have as well.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// What the next coarser LOD takes from it.
    coarse: Option<Cells>,
    /// What it took from blocks of the next finer LOD, by their octants, x + 2 * (y + 2 * z).
    fine: Vec<(u8, Cells)>,
}

/// Blocks of one region in one LOD.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// Those that show something, by their keys.
    shown: Vec<(Key, Cells)>,
    /// Those of one kind of voxel.
    plain: Vec<(Key, u8)>,
    /// Blocks with keys above it were not drawn.
    limit: Key,
}

/// What a region has in common with those of other LODs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scaled {
    /// Its blocks, as the next coarser LOD has them.
    pub own: Level,
    /// Blocks of the eight regions of the next finer LOD, as it has them.
    pub finer: [Level; 8],
    /// Its blocks against others of the same height.
    pub random: Tally,
}

/// How the blocks of a region go together with what the next coarser LOD has of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Likeness {
    /// Blocks that were compared: one of the two shows something.
    pub blocks: u32,
    /// Their voxels that differ.
    pub differ: u32,
    /// Blocks that the next coarser LOD should have as well and does not have.
    pub alone: u32,
    /// Whether it has some others there.
    pub has_coarser: bool,
}

impl Likeness {
    /// The share of voxels that differ.
    #[must_use]
    pub fn share(&self) -> f64 {
        f64::from(self.differ) / (f64::from(self.blocks) * CELLS as f64).max(1.0)
    }
}

/// The highest key of the blocks that are drawn in a region of so many.
fn limit_for(blocks: usize) -> Key {
    Key::try_from(u64::from(Key::MAX) * DRAWN as u64 / blocks.max(DRAWN) as u64).unwrap_or(Key::MAX)
}

fn key([x, y, z]: [u16; 3]) -> Key {
    let mut mixed = u64::from(x) << 32 | u64::from(y) << 16 | u64::from(z);
    mixed = (mixed ^ mixed >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 32) as Key
}

/// The octant of a finer region in which a block is, and the key of that block there.
fn finer(at: [u16; 3], octant: u8, size: [u16; 3]) -> (usize, Key) {
    let mut region = 0;
    let position = std::array::from_fn(|axis| {
        let of_axis = u32::from(at[axis]) * 2 + u32::from(octant >> axis & 1);
        let size = u32::from(size[axis]).max(1);
        region |= usize::from(of_axis >= size) << axis;
        (of_axis % size) as u16
    });
    (region, key(position))
}

impl Drawn {
    /// The voxels of the block at a position in a region of `size` blocks, of which so many are in use; `None` if it is not compared.
    #[must_use]
    pub fn draw(block: &Block<'_>, at: [u16; 3], size: [u16; 3], blocks: usize) -> Option<Self> {
        if block.size.iter().any(|&n| n < 4 || n % 2 == 1) || block.channels.len() < CHANNELS {
            return None;
        }
        let limit = limit_for(blocks);
        let has_own = key(at) <= limit;
        let octants: Vec<u8> = (0..8).filter(|&octant| finer(at, octant, size).1 <= limit).collect();
        if !has_own && octants.is_empty() {
            return None;
        }
        let values = Values::new(block);
        let (size, strides) = (block.size.map(usize::from), strides(block));
        let cells = |octant: Option<u8>| -> Cells {
            let along: [[usize; EDGE]; 3] = std::array::from_fn(|axis| {
                let half = size[axis] / 2;
                std::array::from_fn(|k| {
                    let at = k * half / EDGE;
                    let voxel = match octant {
                        None => 2 * at,
                        Some(octant) => usize::from(octant >> axis & 1) * half + at,
                    };
                    voxel * strides[axis]
                })
            });
            let at =
                std::array::from_fn(|k| along[0][k % EDGE] + along[1][k / EDGE % EDGE] + along[2][k / EDGE / EDGE]);
            let (kinds, sdfs): ([u16; CELLS], [i16; CELLS]) = (values.kinds(&at), values.sdfs(&at));
            std::array::from_fn(|k| (kinds[k] >> 8) as u8 & !1 | u8::from(sdfs[k] < 0))
        };
        let fine = octants.into_iter().map(|octant| (octant, cells(Some(octant)))).collect();
        Some(Self { coarse: has_own.then(|| cells(None)), fine })
    }
}

impl Level {
    fn add(&mut self, key: Key, cells: Cells) {
        match cells.iter().all(|cell| *cell == cells[0]) {
            true => self.plain.push((key, cells[0])),
            false => self.shown.push((key, cells)),
        }
    }

    /// Orders the blocks, and keeps no more of them than so many that show something.
    fn keep(&mut self, most: usize) {
        self.shown.sort_unstable();
        self.plain.sort_unstable();
        if let Some((next, _)) = self.shown.get(most) {
            self.limit = self.limit.min(next.saturating_sub(1));
        }
        if let Some((next, _)) = self.plain.get(most.saturating_mul(DRAWN / SHOWN)) {
            self.limit = self.limit.min(next.saturating_sub(1));
        }
        let limit = self.limit;
        self.shown.retain(|(key, _)| *key <= limit);
        self.plain.retain(|(key, _)| *key <= limit);
        self.shown.shrink_to_fit();
        self.plain.shrink_to_fit();
    }

    fn is_empty(&self) -> bool {
        self.shown.is_empty() && self.plain.is_empty()
    }

    fn has(&self, key: Key) -> bool {
        self.plain(key).is_some() || self.shown.binary_search_by_key(&key, |(key, _)| *key).is_ok()
    }

    fn plain(&self, key: Key) -> Option<u8> {
        let at = self.plain.binary_search_by_key(&key, |(key, _)| *key).ok()?;
        Some(self.plain[at].1)
    }

    /// Compares the blocks of a region with what the next coarser LOD has of them.
    #[must_use]
    pub fn compare(&self, coarser: &Self) -> Likeness {
        let limit = self.limit.min(coarser.limit);
        let lacks = |key: &Key| *key <= limit && !coarser.has(*key);
        let keys = self.shown.iter().map(|(key, _)| key).chain(self.plain.iter().map(|(key, _)| key));
        let alone = keys.filter(|key| lacks(key)).count() as u32;
        let has_coarser = coarser.shown.len() + coarser.plain.len() >= LEAST_BLOCKS;
        let mut found = Likeness { alone, has_coarser, ..Likeness::default() };
        let mut add = |differ: usize| {
            found.blocks += 1;
            found.differ += differ as u32;
        };
        let unlike = |cells: &Cells, kind: u8| cells.iter().filter(|cell| **cell != kind).count();
        for (key, cells) in self.shown.iter().take_while(|(key, _)| *key <= limit) {
            if let Ok(at) = coarser.shown.binary_search_by_key(key, |(key, _)| *key) {
                add(cells.iter().zip(&coarser.shown[at].1).filter(|(a, b)| a != b).count());
            } else if let Some(kind) = coarser.plain(*key) {
                add(unlike(cells, kind));
            }
        }
        for (key, cells) in coarser.shown.iter().take_while(|(key, _)| *key <= limit) {
            if let Some(kind) = self.plain(*key) {
                add(unlike(cells, kind));
            }
        }
        found
    }
}

impl Scaled {
    /// What the blocks of a region show, given with their positions in it, in a region of `size` blocks of which so many are in use.
    #[must_use]
    pub fn new(drawn: &[([u16; 3], Drawn)], size: [u16; 3], blocks: usize) -> Self {
        let mut scaled = Self::default();
        let mut heights: BTreeMap<u16, Vec<&Cells>> = BTreeMap::new();
        for (at, block) in drawn {
            if let Some(cells) = &block.coarse {
                scaled.own.add(key(*at), *cells);
                if cells.iter().any(|cell| *cell != cells[0]) {
                    heights.entry(at[1]).or_default().push(cells);
                }
            }
            for (octant, cells) in &block.fine {
                let (region, key) = finer(*at, *octant, size);
                scaled.finer[region].add(key, *cells);
            }
        }
        for level in heights.values().filter(|level| level.len() > 1) {
            for (i, cells) in level.iter().enumerate() {
                let other = level[(i + level.len() / 2) % level.len()];
                scaled.random.differ += cells.iter().zip(other).filter(|(a, b)| a != b).count() as u64;
                scaled.random.cells += CELLS as u64;
            }
        }
        let limit = limit_for(blocks);
        for level in scaled.levels() {
            level.limit = limit;
            level.keep(SHOWN);
        }
        scaled
    }

    fn levels(&mut self) -> impl Iterator<Item = &mut Level> {
        std::iter::once(&mut self.own).chain(&mut self.finer)
    }

    /// Whether it shows nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.own.is_empty() && self.finer.iter().all(Level::is_empty)
    }

    /// Drops blocks so that what is kept of so many files fits the memory that it may take.
    pub fn shorten(&mut self, files: usize) {
        // A file has nine levels, each with plain blocks for those that show something.
        let each = 9 * (size_of::<(Key, Cells)>() + DRAWN / SHOWN * size_of::<(Key, u8)>());
        let most = BYTES / (each * files.max(1));
        if most < FEWEST {
            *self = Self::default();
        } else if most < SHOWN {
            self.levels().for_each(|level| level.keep(most));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::{Extent, ForestSpec};

    const SIZE: [u16; 3] = [8; 3];

    /// The blocks of a region of a world, two blocks high.
    fn region(lod: u8, region: [i32; 3]) -> Scaled {
        let spec = ForestSpec { lods: vec![Extent { from: [0; 3], to: [8, 2, 8] }; 2], ..ForestSpec::default() };
        let all = (0..8).flat_map(|x| (0..2).flat_map(move |y| (0..8).map(move |z| [x, y, z])));
        let draw = |at: [u16; 3]| {
            let block = spec.block(lod, std::array::from_fn(|axis| region[axis] * 8 + i32::from(at[axis])));
            Some((at, Drawn::draw(&block.view(), at, SIZE, 128)?))
        };
        Scaled::new(&all.filter_map(draw).collect::<Vec<_>>(), SIZE, 128)
    }

    #[test]
    fn a_region_is_like_what_the_next_lod_has_of_it_and_unlike_the_rest() {
        let coarser = region(1, [0; 3]);
        for (octant, at) in [(0, [0, 0, 0]), (1, [1, 0, 0]), (4, [0, 0, 1]), (5, [1, 0, 1])] {
            let own = region(0, at);
            for (other, level) in coarser.finer.iter().enumerate().filter(|(other, _)| other & 2 == 0) {
                let likeness = own.own.compare(level);
                assert!(likeness.blocks >= 16, "{octant}, {other}: {likeness:?}");
                let is_like = likeness.share() < 0.35 * own.random.share();
                assert_eq!(is_like, other == octant, "{octant}, {other}: {likeness:?}, {:?}", own.random);
            }
        }
    }

    #[test]
    fn of_very_many_files_nothing_is_kept() {
        let mut scaled = region(0, [0; 3]);
        let before = scaled.own.shown.len();
        scaled.shorten(100);
        assert!(before > 0 && scaled.own.shown.len() == before, "few files");
        scaled.shorten(3_000);
        assert!((1..before).contains(&scaled.own.shown.len()), "some of the blocks");
        scaled.shorten(1_000_000);
        assert!(scaled.is_empty(), "too few to show anything");
    }
}
