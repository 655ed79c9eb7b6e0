//! Squares of pixels, computed from blocks.

use std::collections::HashSet;

use super::columns::{Columns, Reading, Rise, sample};
use super::look::{Layer, Matter};
use super::source::{Reader, Scratch, Source};
use crate::world::{At, Index};

/// Voxels of the world that a tile has along each side at least.
const VOXELS: i64 = 64;

/// Pixels that a tile has along each side at most, where its edges are between blocks.
const PIXELS: i64 = 256;

/// The value of a cell of a map's layer that has no flags.
pub const LAND: u32 = u32::MAX;

/// What is in a pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pixel {
    /// The y of the highest matter in voxels of the world; the smallest number where there is nothing.
    pub y: i32,
    /// The value: a number, RGBA, the bits of a 32-bit float, flags, bytes.
    pub value: u32,
    /// How far above the voxel's lower face the surface is, from 0 to 1; of a map the depth in metres.
    pub more: f32,
}

impl Pixel {
    /// Nothing.
    pub const NONE: Self = Self { y: i32::MIN, value: 0, more: 0.0 };

    /// Whether there is anything.
    #[must_use]
    pub const fn is_there(&self) -> bool {
        self.y != i32::MIN
    }

    /// Takes another one in: the higher of the two, whichever came first.
    pub(crate) fn merge(&mut self, other: Self) {
        let rank = |pixel: &Self| (pixel.y, pixel.value, pixel.more.to_bits());
        if rank(&other) > rank(self) {
            *self = other;
        }
    }
}

/// How a plane is cut into tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grid {
    /// What the pixels hold.
    pub layer: Layer,
    /// The LOD of the blocks.
    pub lod: u8,
    /// Voxels of the world a pixel, along each side.
    pub step: i64,
    /// Pixels along each side of a tile.
    pub side: i64,
    /// Whether places without a block of the LOD are filled from lower ones.
    pub fill: bool,
}

/// Which tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TileKey {
    /// The plane.
    pub grid: Grid,
    /// Its place, in tiles.
    pub at: [i64; 2],
}

/// A square of pixels.
#[derive(Debug)]
pub struct Tile {
    /// The pixels, row by row.
    pub pixels: Vec<Pixel>,
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}

impl Grid {
    /// Tiles whose edges are between blocks, where that does not make them too large.
    #[must_use]
    pub fn new(source: &Source, layer: Layer, lod: u8, step: i64, fill: bool) -> Self {
        let finest = match layer {
            Layer::Top(_) | Layer::Cut { .. } => 1i64 << lod.min(40),
            Layer::Size | Layer::Coverage => 1,
        };
        let step = step.max(finest).max(1);
        let block = source.block(lod);
        let [right, down] = layer.axes().map(|axis| block[axis]);
        let common =
            [right, down].into_iter().fold(step, |common, block| common.saturating_mul(block / gcd(common, block)));
        let aligned = common / step;
        let side = if aligned <= PIXELS {
            aligned * VOXELS.div_euclid(common).max(1)
        } else {
            right.max(down).div_euclid(step).clamp(1, PIXELS)
        };
        Self { layer, lod, step, side, fill }
    }

    /// Voxels of the world along each side of a tile.
    #[must_use]
    pub const fn width(&self) -> i64 {
        self.step.saturating_mul(self.side)
    }

    /// The tile that a place of the plane is in.
    #[must_use]
    pub fn tile_at(&self, place: [i64; 2]) -> [i64; 2] {
        place.map(|n| n.div_euclid(self.width()))
    }

    /// The tiles that have blocks and reach into a part of the plane, given by two opposite corners.
    #[must_use]
    pub fn tiles(&self, source: &Source, view: [[i64; 2]; 2]) -> Vec<[i64; 2]> {
        let [right, down] = self.layer.axes();
        let mut seen = HashSet::new();
        let mut out = Vec::new();
        for table in source.tables.iter().filter(|table| self.reads(table.lod)) {
            let block = source.block(table.lod);
            let mut last = None;
            for at in &table.blocks {
                let corner = source.corner(table.lod, at.position);
                if let Layer::Cut { axis, at, .. } = self.layer
                    && !(corner[usize::from(axis)]..corner[usize::from(axis)] + block[usize::from(axis)]).contains(&at)
                {
                    continue;
                }
                let low = [corner[right], corner[down]];
                let high = [low[0] + block[right] - 1, low[1] + block[down] - 1];
                if (0..2).any(|i| high[i] < view[0][i] || low[i] >= view[1][i]) || last == Some(low) {
                    continue;
                }
                last = Some(low);
                let clip = |place: [i64; 2]| [0, 1].map(|i| place[i].clamp(view[0][i], view[1][i] - 1));
                let (from, to) = (self.tile_at(clip(low)), self.tile_at(clip(high)));
                for v in from[1]..=to[1] {
                    for u in from[0]..=to[0] {
                        if seen.insert([u, v]) {
                            out.push([u, v]);
                        }
                    }
                }
            }
        }
        out
    }

    /// Whether blocks of a LOD are needed.
    const fn reads(&self, lod: u8) -> bool {
        match self.layer {
            Layer::Coverage => true,
            _ => lod == self.lod || self.fill && lod < self.lod,
        }
    }

    /// Computes a tile.
    #[must_use]
    pub fn load(&self, reader: &Reader<'_>, at: [i64; 2], scratch: &mut Scratch) -> Tile {
        let low = at.map(|n| n.saturating_mul(self.width()));
        let pixels = vec![Pixel::NONE; crate::bytes::index(self.side.saturating_mul(self.side).unsigned_abs())];
        let mut work = Work { grid: self, low, tile: Tile { pixels } };
        match self.layer {
            Layer::Top(matter) => work.top(reader, matter, scratch),
            Layer::Cut { axis, at, channel } => work.cut(reader, usize::from(axis), at, usize::from(channel), scratch),
            Layer::Size => work.sizes(reader, scratch),
            Layer::Coverage => work.coverage(reader.source),
        }
        work.tile
    }
}

/// The blocks of a table over a part of the plane x, z, column by column: each in the order of y.
fn columns<'t>(table: &'t Index, x: [i32; 2], z: [i32; 2], mut each: impl FnMut(&'t [At])) {
    let mut rest = table.blocks.as_slice();
    let mut row = z[0];
    while row < z[1] {
        let from = rest.partition_point(|at| (at.position[2], at.position[0]) < (row, x[0]));
        rest = rest.get(from..).unwrap_or_default();
        let Some(first) = rest.first() else { return };
        let [bx, _, bz] = first.position;
        if bz != row {
            row = bz;
            continue;
        }
        if bx >= x[1] {
            let Some(next) = row.checked_add(1) else { return };
            row = next;
            continue;
        }
        let len = rest.partition_point(|at| (at.position[2], at.position[0]) <= (bz, bx));
        let (column, after) = rest.split_at(len);
        each(column);
        rest = after;
    }
}

/// Whether a table has a block in a column.
fn has_column(table: &Index, x: i32, z: i32) -> bool {
    let from = table.blocks.partition_point(|at| (at.position[2], at.position[0]) < (z, x));
    table.blocks.get(from).is_some_and(|at| (at.position[0], at.position[2]) == (x, z))
}

/// A tile while it is computed.
struct Work<'g> {
    grid: &'g Grid,
    /// Its corner in the world.
    low: [i64; 2],
    tile: Tile,
}

impl Work<'_> {
    /// Where the tile ends.
    fn high(&self) -> [i64; 2] {
        self.low.map(|n| n.saturating_add(self.grid.width()))
    }

    fn pixel(&mut self, place: [i64; 2]) -> Option<&mut Pixel> {
        let [u, v] = [0, 1].map(|i| place[i].saturating_sub(self.low[i]).div_euclid(self.grid.step));
        let side = self.grid.side;
        let inside = (0..side).contains(&u) && (0..side).contains(&v);
        let at = inside.then(|| crate::bytes::index((v * side + u).unsigned_abs()))?;
        self.tile.pixels.get_mut(at)
    }

    /// The blocks, as positions, that reach into the tile along two axes of the world.
    fn blocks(&self, source: &Source, lod: u8, axes: [usize; 2]) -> [[i32; 2]; 2] {
        let block = source.block(lod);
        let clamp = |n: i64| i32::try_from(n.clamp(i32::MIN.into(), i32::MAX.into())).unwrap_or(0);
        let high = self.high();
        [0, 1].map(|i| {
            let size = block[axes[i]];
            [clamp(self.low[i].div_euclid(size)), clamp((high[i] - 1).div_euclid(size).saturating_add(1))]
        })
    }

    fn top(&mut self, reader: &Reader<'_>, matter: Matter, scratch: &mut Scratch) {
        let source = reader.source;
        let packed = source.layer().is_some_and(|(grid, _)| grid.packed);
        let reading = Reading { matter, palette: source.palette.as_deref(), packed };
        let mut found = Columns::new(source.side);
        let covers: Vec<&Index> = source.tables.iter().filter(|t| self.grid.reads(t.lod)).collect();
        // The LOD that is wanted, then lower ones where it has no block.
        for (number, table) in covers.iter().enumerate().rev() {
            let [x, z] = self.blocks(source, table.lod, [0, 2]);
            let coarser = covers.get(number + 1..).unwrap_or_default();
            columns(table, x, z, |column| {
                let Some(first) = column.first() else { return };
                let [bx, _, bz] = first.position;
                let covered = |other: &&&Index| {
                    let by = u32::from(other.lod.saturating_sub(table.lod)).min(31);
                    has_column(other, bx >> by, bz >> by)
                };
                if coarser.iter().any(|other| covered(&other)) {
                    return;
                }
                found.clear();
                let step = 1i64 << table.lod.min(40);
                for at in column.iter().rev() {
                    if found.is_full() {
                        break;
                    }
                    let base = source.corner(table.lod, at.position)[1];
                    reader.block(at, scratch, |voxels| found.look(voxels, reading, Rise { base, step }));
                }
                let corner = source.corner(table.lod, first.position);
                self.put_columns(&found, [corner[0], corner[2]], step, source.side);
            });
        }
        if source.layer().is_some() {
            self.bottom(reader);
        }
    }

    fn put_columns(&mut self, found: &Columns, corner: [i64; 2], step: i64, side: [u32; 3]) {
        let width = crate::bytes::index(side[0].into()).max(1);
        for (z, row) in (0i64..).zip(found.found.chunks(width)) {
            for (x, pixel) in (0i64..).zip(row).filter(|(_, pixel)| pixel.is_there()) {
                // A voxel of a high LOD fills all pixels that it covers.
                let [u, v] = [corner[0] + x * step, corner[1] + z * step];
                if let Some(to) = self.pixel([u, v]) {
                    to.merge(*pixel);
                }
            }
        }
    }

    /// What only maps have: the depth of each column, and cells without flags.
    fn bottom(&mut self, reader: &Reader<'_>) {
        let Some([dx, _, dz]) = reader.source.dim() else { return };
        let high = self.high();
        let z = self.low[1].max(0)..high[1].min(dz.into());
        let (mut depths, mut bytes) = (Vec::new(), Vec::new());
        for x in self.low[0].max(0)..high[0].min(dx.into()) {
            if z.is_empty() {
                return;
            }
            reader.depths(x, z.clone(), &mut depths, &mut bytes);
            for (z, depth) in z.clone().zip(&depths) {
                let Some(pixel) = self.pixel([x, z]) else { continue };
                if depth.is_finite() {
                    pixel.more =
                        if pixel.more.is_finite() && pixel.is_there() { pixel.more.max(*depth) } else { *depth };
                }
                if !pixel.is_there() {
                    pixel.value = LAND;
                }
            }
        }
    }

    fn cut(&mut self, reader: &Reader<'_>, axis: usize, place: i64, channel: usize, scratch: &mut Scratch) {
        let source = reader.source;
        let Some(table) = source.table(self.grid.lod) else { return };
        let block = source.block(table.lod);
        let on = |axis: usize| i32::try_from(place.div_euclid(block[axis])).ok();
        let axes = self.grid.layer.axes();
        let [a, b] = self.blocks(source, table.lod, axes);
        let Some(here) = on(axis) else { return };
        let only = [here, here.saturating_add(1)];
        let (x, y, z) = match axis {
            0 => (only, b, a),
            1 => (a, only, b),
            _ => (a, b, only),
        };
        let packed = source.layer().is_some_and(|(grid, _)| grid.packed);
        let reading = Reading { matter: Matter::Value, palette: source.palette.as_deref(), packed };
        let mut wanted: Vec<&At> = Vec::new();
        columns(table, x, z, |column| {
            wanted.extend(column.iter().filter(|at| (y[0]..y[1]).contains(&at.position[1])));
        });
        for at in wanted {
            let corner = source.corner(table.lod, at.position);
            reader.block(at, scratch, |voxels| {
                self.put_cut(source, corner, axes, [axis, channel], place, |local| {
                    sample(voxels, channel, local, source.side, reading)
                });
            });
        }
    }

    fn put_cut(
        &mut self,
        source: &Source,
        corner: [i64; 3],
        axes: [usize; 2],
        [axis, _]: [usize; 2],
        place: i64,
        value: impl Fn([u32; 3]) -> Option<u32>,
    ) {
        let (block, step) = (source.block(self.grid.lod), self.grid.step);
        let (low, high) = (self.low, self.high());
        let range = |i: usize| {
            let from = corner[axes[i]].max(low[i]).div_euclid(step);
            let to = (corner[axes[i]] + block[axes[i]]).min(high[i]).saturating_sub(1).div_euclid(step);
            from..=to
        };
        for v in range(1) {
            for u in range(0) {
                // A pixel shows the voxel in its middle, or the nearest to it that the block has.
                let mut voxel = [place; 3];
                voxel[axes[0]] = u * step + step / 2;
                voxel[axes[1]] = v * step + step / 2;
                voxel[axis] = place;
                let local = [0, 1, 2].map(|i| {
                    let inside = (voxel[i] - corner[i]).clamp(0, block[i] - 1) >> self.grid.lod.min(40);
                    u32::try_from(inside).unwrap_or(u32::MAX)
                });
                if let (Some(value), Some(pixel)) = (value(local), self.pixel([u * step, v * step])) {
                    *pixel = Pixel { y: 0, value, more: 0.0 };
                }
            }
        }
    }

    /// The pixels that a block covers.
    fn each_pixel(&mut self, corner: [i64; 2], size: [i64; 2], mut each: impl FnMut(&mut Pixel)) {
        let (low, high, step) = (self.low, self.high(), self.grid.step);
        let range = |i: usize| {
            let from = corner[i].max(low[i]).div_euclid(step);
            let to = corner[i].saturating_add(size[i]).min(high[i]).saturating_sub(1).div_euclid(step);
            from..=to
        };
        for v in range(1) {
            for u in range(0) {
                if let Some(pixel) = self.pixel([u * step, v * step]) {
                    each(pixel);
                }
            }
        }
    }

    fn sizes(&mut self, reader: &Reader<'_>, scratch: &mut Scratch) {
        let source = reader.source;
        let Some(table) = source.table(self.grid.lod) else { return };
        let [x, z] = self.blocks(source, table.lod, [0, 2]);
        let block = source.block(table.lod);
        columns(table, x, z, |column| {
            let Some(first) = column.first() else { return };
            let sum = column.iter().fold(0u64, |sum, at| sum.saturating_add(reader.stored(at, scratch)));
            let sum = u32::try_from(sum).unwrap_or(u32::MAX);
            let corner = source.corner(table.lod, first.position);
            self.each_pixel([corner[0], corner[2]], [block[0], block[2]], |pixel| {
                // A pixel over several columns shows the largest of them.
                let before = if pixel.is_there() { pixel.value } else { 0 };
                *pixel = Pixel { y: 0, value: before.max(sum), more: 0.0 };
            });
        });
    }

    fn coverage(&mut self, source: &Source) {
        for table in &source.tables {
            let [x, z] = self.blocks(source, table.lod, [0, 2]);
            let block = source.block(table.lod);
            let bit = 1u32.checked_shl(table.lod.into()).unwrap_or(1 << 31);
            columns(table, x, z, |column| {
                let Some(first) = column.first() else { return };
                let corner = source.corner(table.lod, first.position);
                self.each_pixel([corner[0], corner[2]], [block[0], block[2]], |pixel| {
                    *pixel = Pixel { y: 0, value: pixel.value | bit, more: 0.0 };
                });
            });
        }
    }
}
