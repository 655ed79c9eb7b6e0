//! Tiles: parts of the box that are in memory at once, with whole blocks along z, and as many along x and y as fit a few megabytes.

use crate::draft::Error;
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
    /// Bytes of a voxel in all arrays.
    width: u64,
    /// Bytes that a tile may have in memory.
    most: u64,
}

impl Tiles {
    pub fn new(area: Area, side: u16, width: u64, most: u64) -> Self {
        let side = i64::from(side);
        let first = area[0].map(|n| n.div_euclid(side));
        let blocks = [0, 1, 2].map(|i| (area[1][i] - 1).div_euclid(side) + 1 - first[i]);
        // Whole columns along y first, so that writes are contiguous.
        let block = (side * side * side).unsigned_abs() * width;
        let fit = |room: u64, n: i64| i64::try_from(room).unwrap_or(i64::MAX).clamp(1, n.max(1));
        let y = fit(most / block.max(1), blocks[1]);
        let x = if y < blocks[1] { 1 } else { fit(most / (block * y.unsigned_abs()).max(1), blocks[0]) };
        Self { area, side, step: [x, y, 1], first, blocks, width, most }
    }

    fn counts(&self) -> [u64; 3] {
        [0, 1, 2].map(|i| self.blocks[i].unsigned_abs().div_ceil(self.step[i].unsigned_abs()))
    }

    /// Number of tiles.
    pub fn len(&self) -> u64 {
        self.counts().iter().product()
    }

    /// Number of block positions in the box.
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

impl Tiles {
    /// The parts of a tile that are in memory at once: all of it, or as many planes of z as fit, but at least one, of a single
    /// block that is too large.
    pub fn slabs(&self, tile: Area) -> Vec<Area> {
        let [x, y, z] = [0, 1, 2].map(|i| (tile[1][i] - tile[0][i]).unsigned_abs());
        let plane = x.saturating_mul(y).saturating_mul(self.width).max(1);
        if plane.saturating_mul(z) <= self.most || count(tile, self.side) > 1 {
            return vec![tile];
        }
        let planes = i64::try_from(self.most / plane).unwrap_or(i64::MAX).max(1);
        let [low, high] = tile;
        let mut slabs = Vec::new();
        let mut from = low[2];
        while from < high[2] {
            let to = high[2].min(from.saturating_add(planes));
            slabs.push([[low[0], low[1], from], [high[0], high[1], to]]);
            from = to;
        }
        slabs
    }
}

/// Number of block positions in a box.
pub(super) fn count(area: Area, side: i64) -> u64 {
    (0..3).map(|i| ((area[1][i] - 1).div_euclid(side) - area[0][i].div_euclid(side)).unsigned_abs() + 1).product()
}

/// The blocks that have voxels in a box, in order.
pub(in crate::export) fn blocks(index: &Index, area: Area, side: u16) -> impl Iterator<Item = &At> + Clone {
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
    /// A row of a uniform block.
    row: Vec<u8>,
}

impl Tile {
    /// Resizes it for a new tile. Voxels are undefined until they are set or filled, since most of a tile is covered by blocks.
    pub fn begin(&mut self, arrays: &[Array], area: Area) {
        self.area = area;
        self.data.resize_with(arrays.len(), Vec::new);
        for (array, data) in arrays.iter().zip(&mut self.data) {
            data.resize(volume(area) * array.depth.bytes(), 0);
        }
    }

    /// Fills the part of a box that is in the tile.
    pub fn fill(&mut self, arrays: &[Array], area: Area, value: u64) {
        let copy = Copy::new(self.area, area);
        for (array, data) in arrays.iter().zip(&mut self.data) {
            uniform(&copy, data, &number(array, value), &mut self.row);
        }
    }

    /// Copies the voxels of a block into the tile. `fill` is the value of voxels that are cut off.
    pub fn put(
        &mut self,
        arrays: &[Array],
        block: &Block<'_>,
        corner: [i64; 3],
        fill: u64,
        met: &mut [Met; CHANNELS],
    ) -> Result<(), (usize, Depth)> {
        let far = [0, 1, 2].map(|i| corner[i] + i64::from(block.size[i]));
        let copy = Copy::new(self.area, [corner, far]);
        for (array, data) in arrays.iter().zip(&mut self.data) {
            let channel = block.channels.get(array.channel);
            let Some(channel) = channel.filter(|channel| channel.value(0).is_some()) else {
                uniform(&copy, data, &number(array, fill), &mut self.row);
                met[array.channel] = met[array.channel].and(Met::One(fill));
                continue;
            };
            if !array.distances && channel.depth > array.depth {
                return Err((array.channel, channel.depth));
            }
            if channel.storage == Storage::Uniform {
                let value = channel.value(0).unwrap_or(fill);
                met[array.channel] = met[array.channel].and(Met::One(value));
                let value = if array.distances { distance(block, channel, value) } else { value };
                uniform(&copy, data, &value.to_le_bytes()[..array.depth.bytes()], &mut self.row);
                continue;
            }
            met[array.channel] = Met::Many;
            if !channel.is_whole() {
                uniform(&copy, data, &number(array, fill), &mut self.row);
            }
            if !array.distances && channel.depth == array.depth {
                raw(&copy, data, channel.data, array.depth.bytes());
            } else {
                converted(&copy, data, block, channel, array);
            }
        }
        Ok(())
    }

    /// Writes it into the arrays.
    pub fn write(&self, arrays: &[Array], all: Area) -> Result<(), Error> {
        let across = [0, 1, 2].map(|i| (all[1][i] - all[0][i]).unsigned_abs());
        let size = [0, 1, 2].map(|i| (self.area[1][i] - self.area[0][i]).unsigned_abs());
        let start = [0, 1, 2].map(|i| (self.area[0][i] - all[0][i]).unsigned_abs());
        // As many as are contiguous in the array.
        let run = match (size[1] == across[1], size[0] == across[0]) {
            (true, true) => size[1] * size[0] * size[2],
            (true, false) => size[1] * size[0],
            _ => size[1],
        };
        for (array, data) in arrays.iter().zip(&self.data) {
            let bytes = usize::try_from(run).unwrap_or(usize::MAX).saturating_mul(array.depth.bytes());
            for (n, part) in (0u64..).zip(data.chunks(bytes.max(1))) {
                // The file has zeros there already, as a hole.
                if is_zero(part) {
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

/// The bits of the distance of an SDF value.
fn distance(block: &Block<'_>, channel: &Channel<'_>, value: u64) -> u64 {
    u64::from((sdf(block.version, channel.depth, value) as f32).to_bits())
}

/// Voxels of a box.
fn volume(area: Area) -> usize {
    let sides = [0, 1, 2].map(|i| usize::try_from(area[1][i] - area[0][i]).unwrap_or(0));
    sides.iter().product()
}

/// Rows along y that a block and a tile have in common.
struct Copy {
    /// Voxels of a row.
    run: usize,
    /// Rows along x and z.
    rows: [usize; 2],
    /// Index of the first voxel in the block and in the tile.
    first: [usize; 2],
    /// From a row to the next one along x, in the block and in the tile.
    along_x: [usize; 2],
    /// The same along z.
    along_z: [usize; 2],
}

impl Copy {
    fn new(tile: Area, block: Area) -> Self {
        let low = [0, 1, 2].map(|i| tile[0][i].max(block[0][i]));
        let high = [0, 1, 2].map(|i| tile[1][i].min(block[1][i]));
        let at = |n: i64| usize::try_from(n).unwrap_or(0);
        let of = |area: Area| {
            let [x, y] = [0, 1].map(|i| at(area[1][i] - area[0][i]));
            let from = [0, 1, 2].map(|i| at(low[i] - area[0][i]));
            (from[1] + y * (from[0] + x * from[2]), y, y * x)
        };
        let (block, tile) = (of(block), of(tile));
        let [x, y, z] = [0, 1, 2].map(|i| at(high[i] - low[i]));
        Self { run: y, rows: [x, z], first: [block.0, tile.0], along_x: [block.1, tile.1], along_z: [block.2, tile.2] }
    }

    /// Where each row begins, in voxels of the block and of the tile.
    fn each(&self, mut row: impl FnMut(usize, usize)) {
        for z in 0..self.rows[1] {
            let mut from = self.first[0] + z * self.along_z[0];
            let mut to = self.first[1] + z * self.along_z[1];
            for _ in 0..self.rows[0] {
                row(from, to);
                from += self.along_x[0];
                to += self.along_x[1];
            }
        }
    }
}

/// Copies rows; of a block that is cut short, the part that exists.
fn raw(copy: &Copy, to: &mut [u8], from: &[u8], width: usize) {
    match copy.run * width {
        // With a constant length, the compiler needs no call to copy.
        16 => copy.each(|at, place| row::<16>(to, from, place * width, at * width)),
        32 => copy.each(|at, place| row::<32>(to, from, place * width, at * width)),
        64 => copy.each(|at, place| row::<64>(to, from, place * width, at * width)),
        len => copy.each(|at, place| cut_row(to, from, place * width, at * width, len)),
    }
}

fn row<const N: usize>(to: &mut [u8], from: &[u8], to_at: usize, from_at: usize) {
    let source = from.get(from_at..).and_then(|rest| rest.first_chunk::<N>());
    match (to.get_mut(to_at..).and_then(|rest| rest.first_chunk_mut::<N>()), source) {
        (Some(to), Some(from)) => *to = *from,
        _ => cut_row(to, from, to_at, from_at, N),
    }
}

fn cut_row(to: &mut [u8], from: &[u8], to_at: usize, from_at: usize, len: usize) {
    let there = from.get(from_at..).unwrap_or_default();
    let len = len.min(there.len());
    if let Some(to) = to.get_mut(to_at..to_at + len) {
        to.copy_from_slice(&there[..len]);
    }
}

/// Fills rows with one number.
fn uniform(copy: &Copy, to: &mut [u8], one: &[u8], row: &mut Vec<u8>) {
    row.clear();
    row.extend(one.iter().cycle().take(copy.run * one.len()));
    let one_row =
        Copy { along_x: [0, copy.along_x[1]], along_z: [0, copy.along_z[1]], first: [0, copy.first[1]], ..*copy };
    raw(&one_row, to, row, one.len());
}

/// Copies numbers of another depth, or distances.
fn converted(copy: &Copy, to: &mut [u8], block: &Block<'_>, channel: &Channel<'_>, array: &Array) {
    let width = array.depth.bytes();
    copy.each(|from, at| {
        let Some(out) = to.get_mut(at * width..(at + copy.run) * width) else { return };
        for (i, out) in out.chunks_exact_mut(width).enumerate() {
            let Some(value) = channel.value(from + i) else { return };
            let value = if array.distances { distance(block, channel, value) } else { value };
            out.copy_from_slice(&value.to_le_bytes()[..width]);
        }
    });
}

/// Whether all bytes are zero.
fn is_zero(bytes: &[u8]) -> bool {
    bytes.chunks(4096).all(|part| part.iter().fold(0, |all, b| all | b) == 0)
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
            let planes = |tile: Area| volume([tile[0], [tile[1][0], tile[1][1], tile[0][2] + 1]]) as u64;
            for slab in (0..tiles.len()).flat_map(|n| tiles.slabs(tiles.get(n))) {
                assert!(volume(slab) as u64 <= most.max(planes(slab)), "{slab:?} for {most}");
            }
            let mut seen = std::collections::HashSet::new();
            for n in 0..tiles.len() {
                let [low, high] = tiles.get(n);
                for [low, high] in tiles.slabs([low, high]) {
                    for z in low[2]..high[2] {
                        for x in low[0]..high[0] {
                            for y in low[1]..high[1] {
                                assert!(seen.insert([x, y, z]), "{area:?} {most}: {x} {y} {z} twice");
                            }
                        }
                    }
                }
            }
            let voxels: i64 = (0..3).map(|i| area[1][i] - area[0][i]).product();
            assert_eq!(seen.len() as i64, voxels, "{area:?} {most}");
        }
    }
}
