//! A block in two saves: its voxels in both, and which of them differ, counted by cut.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::block::BlockData;
use super::metadata::MetaLine;
use super::opened::Slot;
use super::plane::{Axis, Sample};
use crate::bytes::index;
use crate::diff;
use crate::godot::block::{self, Block};
use crate::godot::channel::{CHANNELS, SDF, Storage};
use crate::resize::part;
use crate::save::{Save, View};
use crate::world::{self, Buffer, Index, World};

/// What is asked for: the block at a position in each of two saves.
pub struct Request {
    /// The saves.
    pub saves: [Arc<Save>; 2],
    /// Their blocks of the LOD.
    pub blocks: [Arc<Index>; 2],
    /// The position in each, in blocks of the size that the first save has; another one in the second, when the block moved.
    pub positions: [[i32; 3]; 2],
    /// The channels that are compared; all when it is empty.
    pub channels: Vec<usize>,
}

/// What differs in a channel.
#[derive(Debug, Default)]
pub struct Changes {
    /// Voxels that differ.
    pub voxels: u64,
    /// How many in each cut along x, y and z.
    pub cuts: [Vec<u32>; 3],
    /// A bit a voxel, in the order ZXY.
    bits: Vec<u64>,
}

/// How a voxel differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It was 0 or outside, and is not any more.
    Came,
    /// It is 0 or outside now.
    Went,
    /// Another value, or a distance of the same sign.
    Other,
}

/// A block that was put together of those of another size, or cut from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// Voxels along each axis of the blocks that are stored.
    pub of: u16,
    /// How many of them are not there, or cannot be read.
    pub holes: u64,
}

/// A block in two saves.
#[derive(Debug)]
pub struct Pair {
    /// The block in both: not there, or why it cannot be read.
    pub sides: [Result<Option<BlockData>, String>; 2],
    /// Voxels along each axis; 0 where there are none.
    pub size: [u32; 3],
    /// What differs in each channel.
    pub changes: [Changes; CHANNELS],
    /// Why the two are not compared.
    pub odd: Option<&'static str>,
    /// How the second one was put together, where the saves have blocks of different sizes.
    pub made: Option<Made>,
    /// The metadata that differs: its path, its values in both. The first ones.
    pub metadata: Vec<(String, [Option<String>; 2])>,
}

/// Items of metadata that are listed.
const MOST_METADATA: usize = 64;

impl Pair {
    /// Reads and compares.
    ///
    /// # Errors
    /// A sentence, when a save cannot be opened any more.
    pub fn read(request: &Request) -> Result<Self, String> {
        let [save_a, save_b] = &request.saves;
        let failed = |error: world::Error| error.to_string();
        let (a, b) = (World::only(save_a).map_err(failed)?, World::only(save_b).map_err(failed)?);
        let (mut buffer_a, mut buffer_b) = (Buffer::default(), Buffer::default());
        let [index_a, index_b] = &request.blocks;
        let [at_a, at_b] = request.positions;
        let one = view(&a, index_a, at_a, &mut buffer_a);
        let mut changes: [Changes; CHANNELS] = Default::default();
        let (mut odd, mut made) = (None, None);
        let mut compare = |block: &Block<'_>| {
            let Ok(Some((View { block: Some(own), .. }, _))) = &one else { return };
            if own.size != block.size {
                odd = Some("They have different sizes, and are not compared.");
                return;
            }
            let size = own.size.map(usize::from);
            let mut each = |at: usize, channel: usize, _: [Option<u64>; 2]| {
                if let Some(changes) = changes.get_mut(channel) {
                    changes.add(at, size);
                }
            };
            diff::blocks(own, block, &request.channels, &mut each);
        };
        let other = match (a.block_size(), b.block_size()) {
            (Some(side), Some(of)) if side != of => {
                let slot = slot(index_b, at_b);
                part(&b, index_b, at_b, side, &mut buffer_b).map(|found| {
                    found.map(|found| {
                        made = Some(Made { of, holes: found.holes });
                        compare(&block::decode(&found.plain, None, None, b.limits(), &mut Vec::new()));
                        BlockData::of_plain(slot, found.plain, b.limits())
                    })
                })
            }
            _ => view(&b, index_b, at_b, &mut buffer_b).map(|found| {
                found.map(|(view, slot)| {
                    view.block.iter().for_each(&mut compare);
                    BlockData::of_view(slot, &view, 0, None)
                })
            }),
        };
        let one = one.map(|found| found.map(|(view, slot)| BlockData::of_view(slot, &view, 0, None)));
        let sides = [one, other];
        let sizes = sides.iter().filter_map(|side| side.as_ref().ok()?.as_ref()).map(|block| block.size);
        let size = sizes.reduce(largest).unwrap_or_default();
        let metadata = match &sides {
            // What was put together has none.
            [Ok(Some(a)), Ok(Some(b))] if made.is_none() => differing(&a.metadata, &b.metadata),
            _ => Vec::new(),
        };
        Ok(Self { sides, size, changes, odd, made, metadata })
    }

    /// The block of a side, when it is there and can be read.
    #[must_use]
    pub fn block(&self, side: usize) -> Option<&BlockData> {
        self.sides.get(side)?.as_ref().ok()?.as_ref()
    }

    /// The channel in which most differs; without a difference the first one that is not the same everywhere.
    #[must_use]
    pub fn channel(&self) -> usize {
        let most = (0..CHANNELS).rev().max_by_key(|channel| self.voxels(*channel)).filter(|c| self.voxels(*c) > 0);
        most.or_else(|| self.channels().first().copied()).unwrap_or(0)
    }

    /// The channels that are worth looking at: those that differ, and those that are not the same everywhere.
    #[must_use]
    pub fn channels(&self) -> Vec<usize> {
        let raw = |channel: usize| {
            let is =
                |side| self.block(side).and_then(|block| Some(block.channels.get(channel)?.storage == Storage::Raw));
            is(0) == Some(true) || is(1) == Some(true)
        };
        (0..CHANNELS).filter(|channel| self.voxels(*channel) > 0 || raw(*channel)).collect()
    }

    /// Voxels that differ in a channel.
    #[must_use]
    pub fn voxels(&self, channel: usize) -> u64 {
        self.changes.get(channel).map_or(0, |changes| changes.voxels)
    }

    /// How many voxels differ in each cut along an axis.
    #[must_use]
    pub fn cuts(&self, channel: usize, axis: Axis) -> &[u32] {
        let [x, y, z] = self.changes.get(channel).map_or([&[][..]; 3], |changes| {
            let [x, y, z] = &changes.cuts;
            [&x[..], &y[..], &z[..]]
        });
        axis.of([x, y, z])
    }

    /// The cut along an axis in which most differs; without a difference the one in the middle.
    #[must_use]
    pub fn best(&self, channel: usize, axis: Axis) -> u32 {
        fullest(self.cuts(channel, axis)).unwrap_or_else(|| axis.of(self.size) / 2)
    }

    /// The axis along which one cut has most of what differs; y where that is no other.
    #[must_use]
    pub fn axis(&self, channel: usize) -> Axis {
        let most = |axis: Axis| self.cuts(channel, axis).iter().copied().max().unwrap_or(0);
        [Axis::X, Axis::Z, Axis::Y].into_iter().max_by_key(|axis| most(*axis)).unwrap_or_default()
    }

    /// The nearest cut, before or behind this one, in which something differs.
    #[must_use]
    pub fn next_cut(&self, channel: usize, axis: Axis, cut: u32, up: bool) -> Option<u32> {
        let all = self.cuts(channel, axis);
        let has = |at: &u32| all.get(index(u64::from(*at))).is_some_and(|n| *n > 0);
        if up { (cut.saturating_add(1)..axis.of(self.size)).find(has) } else { (0..cut).rev().find(has) }
    }

    /// The first voxel of a cut that differs, in the order of the picture's rows.
    #[must_use]
    pub fn first_in(&self, channel: usize, axis: Axis, cut: u32) -> Option<[u32; 3]> {
        let [right, down] = axis.across();
        if self.cuts(channel, axis).get(index(u64::from(cut))).is_none_or(|n| *n == 0) {
            return None;
        }
        let (across, along) = (right.of(self.size), down.of(self.size));
        let rows = (0..along).map(|row| if down.rises() { along - 1 - row } else { row });
        let mut cells = rows.flat_map(|y| (0..across).map(move |x| (x, y)));
        cells.find_map(|(x, y)| {
            let at = down.with(right.with(axis.with([0; 3], cut), x), y);
            self.turn(channel, at).map(|_| at)
        })
    }

    /// A voxel of a side.
    #[must_use]
    pub fn sample(&self, side: usize, channel: usize, at: [u32; 3]) -> Sample {
        match self.sides.get(side) {
            Some(Ok(Some(block))) => match block.voxel(channel, at) {
                Some(raw) => Sample::Value(raw, block.sdf(channel, raw).map(|distance| distance as f32)),
                None => Sample::Unreadable,
            },
            Some(Err(_)) => Sample::Unreadable,
            _ => Sample::Nothing,
        }
    }

    /// How a voxel differs; `None` when it does not.
    #[must_use]
    pub fn turn(&self, channel: usize, at: [u32; 3]) -> Option<Turn> {
        let changes = self.changes.get(channel)?;
        if !changes.is_set(place(at, self.size)?) {
            return None;
        }
        let solid = |side| match self.sample(side, channel, at) {
            Sample::Value(_, Some(distance)) if channel == SDF => Some(distance < 0.0),
            Sample::Value(raw, _) => Some(raw != 0),
            _ => None,
        };
        Some(match (solid(0), solid(1)) {
            (Some(false), Some(true)) => Turn::Came,
            (Some(true), Some(false)) => Turn::Went,
            _ => Turn::Other,
        })
    }

    /// The largest distance in both, where the channel has distances.
    #[must_use]
    pub fn most(&self, channel: usize) -> Option<f32> {
        let of = |side| self.block(side).and_then(|block| block.channels.get(channel)?.distances);
        let all = [of(0), of(1)].into_iter().flatten();
        all.map(|(low, high)| low.abs().max(high.abs()) as f32).reduce(f32::max)
    }
}

/// The number of the largest, the first of several; `None` where all are 0.
fn fullest(cuts: &[u32]) -> Option<u32> {
    let more = |(at, most), (number, n): (u32, &u32)| if *n > most { (number, *n) } else { (at, most) };
    let (at, most) = (0u32..).zip(cuts).fold((0, 0), more);
    (most > 0).then_some(at)
}

fn largest([ax, ay, az]: [u32; 3], [bx, by, bz]: [u32; 3]) -> [u32; 3] {
    [ax.max(bx), ay.max(by), az.max(bz)]
}

/// The number of a voxel in the order ZXY.
fn place([x, y, z]: [u32; 3], [sx, sy, sz]: [u32; 3]) -> Option<usize> {
    if x >= sx || y >= sy || z >= sz {
        return None;
    }
    let at = (u64::from(z) * u64::from(sx) + u64::from(x)) * u64::from(sy) + u64::from(y);
    usize::try_from(at).ok()
}

/// The leaves of metadata by their path, with their values.
fn leaves(lines: &[MetaLine]) -> BTreeMap<String, &str> {
    let mut path: Vec<&str> = Vec::new();
    let mut out = BTreeMap::new();
    for line in lines {
        path.truncate(line.depth.into());
        path.push(&line.name);
        if !line.value.is_empty() {
            out.insert(path.join(" "), line.value.as_str());
        }
    }
    out
}

/// The metadata that differs.
fn differing(a: &[MetaLine], b: &[MetaLine]) -> Vec<(String, [Option<String>; 2])> {
    let (a, b) = (leaves(a), leaves(b));
    let only = b.keys().filter(|path| !a.contains_key(*path));
    let all = a.keys().chain(only).filter(|path| a.get(*path) != b.get(*path));
    let both = |path: &String| [a.get(path), b.get(path)].map(|value| value.map(|value| (*value).to_owned()));
    all.take(MOST_METADATA).map(|path| (path.clone(), both(path))).collect()
}

/// A block that was read, with a place to speak of it.
type Found<'b> = (View<'b>, Slot);

fn view<'b>(
    world: &World<'_>,
    index: &Index,
    position: [i32; 3],
    buffer: &'b mut Buffer,
) -> Result<Option<Found<'b>>, String> {
    let Some(at) = index.find(position) else { return Ok(None) };
    let view = world.read(at, buffer).map_err(|error| error.to_string())?;
    match diff::unreadable(&view, world.block_size()) {
        Some(why) => Err(why),
        None => Ok(Some((view, slot(index, position)))),
    }
}

/// Where a block is spoken of.
const fn slot(index: &Index, position: [i32; 3]) -> Slot {
    Slot { slot: 0, first: 0, count: 0, lod: index.lod, position: Some(position) }
}

impl Changes {
    fn add(&mut self, at: usize, [sx, sy, sz]: [usize; 3]) {
        if self.bits.is_empty() {
            let volume = sx.saturating_mul(sy).saturating_mul(sz);
            self.bits = vec![0; volume.div_ceil(64)];
            self.cuts = [vec![0; sx], vec![0; sy], vec![0; sz]];
        }
        self.voxels += 1;
        if let Some(word) = self.bits.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
        // The order ZXY, turned around.
        let (sx, sy) = (sx.max(1), sy.max(1));
        let [x, y, z] = &mut self.cuts;
        for (cuts, cut) in [(x, at / sy % sx), (y, at % sy), (z, at / (sy * sx))] {
            if let Some(n) = cuts.get_mut(cut) {
                *n += 1;
            }
        }
    }

    fn is_set(&self, at: usize) -> bool {
        self.bits.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_counted_by_cut() {
        let mut changes = Changes::default();
        let size = [4u32, 3, 2];
        for at in [[1, 2, 0], [3, 2, 1], [1, 2, 1]] {
            changes.add(place(at, size).unwrap(), size.map(|n| n as usize));
        }
        assert_eq!(changes.voxels, 3);
        assert_eq!(changes.cuts, [vec![0, 2, 0, 1], vec![0, 0, 3], vec![1, 2]]);
        assert!(changes.is_set(place([3, 2, 1], size).unwrap()) && !changes.is_set(place([3, 2, 0], size).unwrap()));
        assert_eq!(place([4, 0, 0], size), None);
        let all: std::collections::HashSet<_> =
            (0..24).map(|n| place([n % 4, n / 4 % 3, n / 12], size).unwrap()).collect();
        assert_eq!(all.len(), 24);
    }

    #[test]
    fn the_best_cut_is_the_first_with_most() {
        assert_eq!((fullest(&[0, 3, 5, 5]), fullest(&[0, 0]), fullest(&[])), (Some(2), None, None));
    }
}
