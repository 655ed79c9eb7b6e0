//! A part of the box that is in memory at once: whole blocks along z, and as many along x and y as make a few megabytes.

use crate::beside::Error;
use crate::godot::block::Block;
use crate::godot::channel::{CHANNELS, Channel, Depth, Storage, sdf};
use crate::world::{At, Index, order};

use super::array::Array;
use super::{Area, Met};

/// How a box is cut into tiles.
pub(super) struct Tiles {
    area: Area,
    side: i64,
    /// Blocks of a tile along x, y, z.
    step: [i64; 3],
    /// The lowest block of the box.
    first: [i64; 3],
    /// Blocks of the box along x, y, z.
    blocks: [i64; 3],
}

impl Tiles {
    pub fn new(area: Area, side: u16, width: u64, most: u64) -> Self {
        let side = i64::from(side);
        let first = area[0].map(|n| n.div_euclid(side));
        let blocks = [0, 1, 2].map(|i| (area[1][i] - 1).div_euclid(side) + 1 - first[i]);
        // Whole columns along y first, so that what is written lies together.
        let block = (side * side * side).unsigned_abs() * width;
        let fit = |room: u64, n: i64| i64::try_from(room).unwrap_or(i64::MAX).clamp(1, n.max(1));
        let y = fit(most / block.max(1), blocks[1]);
        let x = if y < blocks[1] { 1 } else { fit(most / (block * y.unsigned_abs()).max(1), blocks[0]) };
        Self { area, side, step: [x, y, 1], first, blocks }
    }

    fn counts(&self) -> [u64; 3] {
        [0, 1, 2].map(|i| self.blocks[i].unsigned_abs().div_ceil(self.step[i].unsigned_abs()))
    }

    /// Number of tiles.
    pub fn len(&self) -> u64 {
        self.counts().iter().product()
    }

    /// Number of blocks in the box, there or not.
    pub fn blocks(&self) -> u64 {
        self.blocks.iter().map(|n| n.unsigned_abs()).product()
    }

    /// The voxels of a tile.
    pub fn get(&self, n: u64) -> Area {
        let [cx, cy, _] = self.counts();
        let at = [n / cy % cx, n % cy, n / (cx * cy)].map(|n| i64::try_from(n).unwrap_or(i64::MAX));
        let low = [0, 1, 2].map(|i| (self.first[i] + at[i] * self.step[i]) * self.side);
        let high = [0, 1, 2].map(|i| low[i] + self.step[i] * self.side);
        [[0, 1, 2].map(|i| low[i].max(self.area[0][i])), [0, 1, 2].map(|i| high[i].min(self.area[1][i]))]
    }
}

/// The blocks that have voxels in a box, in order.
pub(in crate::export) fn blocks(index: &Index, area: Area, side: u16) -> impl Iterator<Item = &At> {
    let block = move |n: i64| i32::try_from(n.div_euclid(i64::from(side))).unwrap_or(i32::MAX);
    let low = area[0].map(block);
    let high = area[1].map(|n| block(n - 1));
    (low[2]..=high[2]).flat_map(move |z| (low[0]..=high[0]).map(move |x| (x, z))).flat_map(move |(x, z)| {
        let from = index.blocks.partition_point(|at| order(at.position) < order([x, low[1], z]));
        let rest = index.blocks.get(from..).unwrap_or_default();
        rest.iter().take_while(move |at| at.position[2] == z && at.position[0] == x && at.position[1] <= high[1])
    })
}

/// The numbers of a tile, for each array.
#[derive(Default)]
pub(super) struct Tile {
    area: Area,
    data: Vec<Vec<u8>>,
}

impl Tile {
    /// Fills it for a new part.
    pub fn begin(&mut self, arrays: &[Array], area: Area, fill: u64) {
        self.area = area;
        self.data.resize_with(arrays.len(), Vec::new);
        let voxels = usize::try_from((0..3).map(|i| area[1][i] - area[0][i]).product::<i64>()).unwrap_or(0);
        for (array, data) in arrays.iter().zip(&mut self.data) {
            data.clear();
            if fill == 0 {
                data.resize(voxels * array.depth.bytes(), 0);
            } else {
                repeat(data, &number(array, fill), voxels);
            }
        }
    }

    /// Puts the voxels of a block in their places.
    pub fn put(
        &mut self,
        arrays: &[Array],
        block: &Block<'_>,
        corner: [i64; 3],
        met: &mut [Met; CHANNELS],
    ) -> Result<(), (usize, Depth)> {
        let size = block.size.map(i64::from);
        let low = [0, 1, 2].map(|i| self.area[0][i].max(corner[i]));
        let high = [0, 1, 2].map(|i| self.area[1][i].min(corner[i] + size[i]));
        let across = [0, 1, 2].map(|i| self.area[1][i] - self.area[0][i]);
        let run = usize::try_from(high[1] - low[1]).unwrap_or(0);
        for (array, data) in arrays.iter().zip(&mut self.data) {
            let Some(channel) = block.channels.get(array.channel) else { continue };
            if !array.distances && channel.depth > array.depth {
                return Err((array.channel, channel.depth));
            }
            met[array.channel] = met[array.channel].and(match (channel.storage, channel.value(0)) {
                (Storage::Uniform, Some(value)) => Met::One(value),
                _ => Met::Many,
            });
            for z in low[2]..high[2] {
                for x in low[0]..high[0] {
                    let from = (low[1] - corner[1]) + size[1] * ((x - corner[0]) + size[0] * (z - corner[2]));
                    let to = (low[1] - self.area[0][1])
                        + across[1] * ((x - self.area[0][0]) + across[0] * (z - self.area[0][2]));
                    let at = |n: i64| usize::try_from(n).unwrap_or(usize::MAX);
                    row(array, channel, block.version, at(from), run, data, at(to));
                }
            }
        }
        Ok(())
    }

    /// Writes it into the arrays.
    pub fn write(&self, arrays: &[Array], all: Area) -> Result<(), Error> {
        let across = [0, 1, 2].map(|i| (all[1][i] - all[0][i]).unsigned_abs());
        let size = [0, 1, 2].map(|i| (self.area[1][i] - self.area[0][i]).unsigned_abs());
        let start = [0, 1, 2].map(|i| (self.area[0][i] - all[0][i]).unsigned_abs());
        // As many as lie together in the array.
        let run = match (size[1] == across[1], size[0] == across[0]) {
            (true, true) => size[1] * size[0] * size[2],
            (true, false) => size[1] * size[0],
            _ => size[1],
        };
        for (array, data) in arrays.iter().zip(&self.data) {
            let bytes = usize::try_from(run).unwrap_or(usize::MAX).saturating_mul(array.depth.bytes());
            for (n, part) in (0u64..).zip(data.chunks(bytes.max(1))) {
                // The file has zeros already, without taking room for them.
                if part.iter().all(|&b| b == 0) {
                    continue;
                }
                let first = n * run;
                let (y, x, z) = (first % size[1], first / size[1] % size[0], first / (size[1] * size[0]));
                let place = (start[1] + y) + across[1] * ((start[0] + x) + across[0] * (start[2] + z));
                array.write(place, part)?;
            }
        }
        Ok(())
    }
}

/// A number as its bytes in an array; only the first `depth.bytes()` count.
fn number(array: &Array, value: u64) -> Vec<u8> {
    let bytes = if array.distances { u64::from((value as f32).to_bits()) } else { value };
    bytes.to_le_bytes()[..array.depth.bytes()].to_vec()
}

fn repeat(data: &mut Vec<u8>, one: &[u8], times: usize) {
    data.reserve_exact(one.len() * times);
    for _ in 0..times {
        data.extend_from_slice(one);
    }
}

/// Copies `run` voxels of a channel from index `from` to index `to`.
fn row(array: &Array, channel: &Channel<'_>, version: u8, from: usize, run: usize, data: &mut [u8], to: usize) {
    let width = array.depth.bytes();
    let Some(out) = to.checked_mul(width).and_then(|at| data.get_mut(at..at + run * width)) else { return };
    if !array.distances && channel.depth == array.depth && channel.storage == Storage::Raw {
        // What is cut off keeps the fill value.
        let there = channel.data.get(from * width..).unwrap_or_default();
        let n = there.len().min(out.len()) / width * width;
        out[..n].copy_from_slice(&there[..n]);
        return;
    }
    for (i, out) in out.chunks_exact_mut(width).enumerate() {
        let Some(value) = channel.value(from + i) else { return };
        let value =
            if array.distances { u64::from((sdf(version, channel.depth, value) as f32).to_bits()) } else { value };
        out.copy_from_slice(&value.to_le_bytes()[..width]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_a_box_once() {
        for (area, side, most) in [
            ([[-5, 3, -17], [40, 29, 33]], 16, 1),
            ([[-5, 3, -17], [40, 29, 33]], 16, 1 << 13),
            ([[-5, 3, -17], [40, 29, 33]], 16, 1 << 30),
            ([[0, 0, 0], [2, 2, 2]], 2, 8),
        ] {
            let tiles = Tiles::new(area, side, 1, most);
            let mut seen = std::collections::HashSet::new();
            for n in 0..tiles.len() {
                let [low, high] = tiles.get(n);
                for z in low[2]..high[2] {
                    for x in low[0]..high[0] {
                        for y in low[1]..high[1] {
                            assert!(seen.insert([x, y, z]), "{area:?} {most}: {x} {y} {z} twice");
                        }
                    }
                }
            }
            let voxels: i64 = (0..3).map(|i| area[1][i] - area[0][i]).product();
            assert_eq!(seen.len() as i64, voxels, "{area:?} {most}");
        }
    }
}
