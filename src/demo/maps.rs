//! Voxel maps: lakes from a seed, in the files of a Unity export.
//!
//! Every voxel follows from the seed and its cell alone, so that sparse and dense layers of one lake agree.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use crate::demo::{forest, noise};
use crate::voxel_map::flags::WATER;
use crate::voxel_map::grid::{BLOCK, BLOCK_VOXELS};
use crate::voxel_map::map_json::{FILE_NAME, Format, Layer, MapData};
use crate::voxel_map::npy::{Dtype, Npy};

/// Bits of the structures that lakes have.
const STONE: u64 = 1 << 2;
const GRASS: u64 = 1 << 1;
const MUD: u64 = 1 << 10;
const GRAVEL: u64 = 1 << 11;
const SAND: u64 = 1 << 24;

/// A lake: water over an uneven bottom, up to a surface that is everywhere the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lake {
    /// The seed of all random values.
    pub seed: u64,
    /// Cells along each axis.
    pub dim: [u32; 3],
    /// Cells of water above the bottom reach up to here.
    pub surface: u32,
    /// Whether the bottom has structures, which are no water then.
    pub stones: bool,
}

impl Lake {
    /// A lake whose surface is two cells below the top.
    #[must_use]
    pub const fn new(seed: u64, dim: [u32; 3]) -> Self {
        let [_, height, _] = dim;
        Self { seed, dim, surface: height.saturating_sub(2), stones: false }
    }

    /// The highest cell of the bottom in a column; below the surface, except at the banks.
    #[must_use]
    pub fn bottom(&self, x: u32, z: u32) -> u32 {
        let rough = noise::flat(self.seed, i64::from(x), i64::from(z), 11) * 0.5 + 0.5;
        (rough * f64::from(self.surface) * 0.8) as u32
    }

    /// The depth of the water of a column in metres, where a cell is half a metre high.
    #[must_use]
    pub fn depth(&self, x: u32, z: u32) -> f32 {
        self.surface.saturating_sub(self.bottom(x, z)) as f32 * 0.5
    }

    /// The flags of a cell; 0 beyond the lake.
    #[must_use]
    pub fn flags(&self, [x, y, z]: [u32; 3]) -> u64 {
        let [dx, dy, dz] = self.dim;
        if x >= dx || y >= dy || z >= dz || y > self.surface {
            return 0;
        }
        let bottom = self.bottom(x, z);
        let kind = noise::hash(self.seed ^ 9, [x / 5, 0, z / 5].map(i64::from));
        let structure = [MUD, GRAVEL, SAND, GRASS | MUD].get((kind % 5) as usize).copied().unwrap_or(0);
        match y.checked_sub(bottom) {
            Some(0) if self.stones => STONE,
            Some(1 | 2) => WATER | structure,
            Some(1..) => WATER,
            _ => 0,
        }
    }

    /// The blocks that have anything in them.
    #[must_use]
    pub fn blocks(&self) -> Vec<[i32; 3]> {
        let [nx, ny, nz] = self.dim.map(|d| d.div_ceil(BLOCK));
        let all = (0..nx).flat_map(|x| (0..ny).flat_map(move |y| (0..nz).map(move |z| [x, y, z])));
        let some = |block: &[u32; 3]| {
            (0..BLOCK_VOXELS).any(|n| {
                let local = [n / 256, n / 16 % 16, n % 16].map(|n| n as u32);
                self.flags([0, 1, 2].map(|axis| block[axis] * BLOCK + local[axis])) != 0
            })
        };
        all.filter(some).map(|block| block.map(|n| n as i32)).collect()
    }
}

/// The bytes of an array: its header, and for each place in the order of the file the number at its index.
#[must_use]
pub fn array(npy: &Npy, number: impl Fn(&[u64]) -> u64) -> Vec<u8> {
    let mut out = npy.encode(16);
    let size = npy.dtype.size() as usize;
    let mut at = vec![0; npy.shape.len()];
    for place in 0..npy.declared() {
        let mut rest = place;
        let mut take = |to: &mut u64, size: u64| (*to, rest) = (rest % size, rest / size);
        if npy.fortran {
            at.iter_mut().zip(&npy.shape).for_each(|(to, &size)| take(to, size));
        } else {
            at.iter_mut().zip(&npy.shape).rev().for_each(|(to, &size)| take(to, size));
        }
        let bits = number(&at);
        match npy.big_endian {
            true => out.extend(&bits.to_be_bytes()[8 - size..]),
            false => out.extend(&bits.to_le_bytes()[..size]),
        }
    }
    out
}

/// How the arrays of a layer are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrays {
    /// The type of the voxels.
    pub dtype: Dtype,
    /// Highest byte first.
    pub big_endian: bool,
    /// First index fastest.
    pub fortran: bool,
    /// Whether the depth, in centimetres, is in the upper half of the voxels.
    pub packed: bool,
}

impl Arrays {
    /// As today's exporter writes them.
    pub const PLAIN: Self = Self { dtype: Dtype::I64, big_endian: false, fortran: false, packed: false };

    fn array(self, dtype: Dtype, shape: &[u64], number: impl Fn(&[u64]) -> u64) -> Vec<u8> {
        let npy = Npy { big_endian: self.big_endian, fortran: self.fortran, ..Npy::new(dtype, shape) };
        array(&npy, number)
    }
}

/// A map in memory, to be altered before it is written.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// The description.
    pub data: MapData,
    /// The arrays by their names.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl Draft {
    /// A map without layers.
    #[must_use]
    pub fn new() -> Self {
        let timestamp = Some("2026-01-07 15:40:37".to_owned());
        let data = MapData { map_id: Some(1_006_001), timestamp, water_surface_level: Some(9.5), ..MapData::default() };
        Self { data, files: BTreeMap::new() }
    }

    /// Adds a layer of a lake: the first is `global`, all others are `locals`. A sparse one has a depth map when
    /// `depths`.
    pub fn add(&mut self, lake: &Lake, origin: [f32; 3], format: Format, arrays: Arrays, depths: bool) {
        let number = self.data.layers().count();
        let name = if number == 0 { "Lake_Global".to_owned() } else { format!("Lake_Local (stock {number})") };
        let [dx, dy, dz] = lake.dim.map(u64::from);
        let voxel = |cell: [u32; 3]| {
            let flags = lake.flags(cell);
            let deep = if arrays.packed && flags & WATER != 0 { lake.depth(cell[0], cell[2]) * 100.0 } else { 0.0 };
            flags | (deep as u64) << 32
        };
        let mut layer = Layer {
            name: Some(name.clone()),
            kind: Some(if number == 0 { "Global" } else { "LocalStock" }.to_owned()),
            format: Some(format),
            block_size: Some(0),
            data_file: Some(format!("{name}.npy")),
            depth_file: Some(String::new()),
            index_file: Some(String::new()),
            block_count: Some(0),
            origin: Some(origin),
            step: Some([0.5; 3]),
            dim: Some(lake.dim),
            ..Layer::default()
        };
        let data = match format {
            Format::Dense => {
                arrays.array(arrays.dtype, &[dx, dy, dz], |at| voxel([at[0], at[1], at[2]].map(|n| n as u32)))
            }
            Format::BlockSparse => {
                let blocks = lake.blocks();
                let count = blocks.len() as u64;
                (layer.block_size, layer.block_count) = (Some(BLOCK), Some(count));
                let rows = arrays
                    .array(Dtype::I32, &[count, 3], |at| blocks[at[0] as usize][at[1] as usize].cast_unsigned().into());
                layer.index_file = Some(format!("{name}_index.npy"));
                self.files.insert(format!("{name}_index.npy"), rows);
                arrays.array(arrays.dtype, &[count, 16, 16, 16], |at| {
                    let block = blocks[at[0] as usize];
                    voxel([0, 1, 2].map(|axis| block[axis].cast_unsigned() * BLOCK + at[axis + 1] as u32))
                })
            }
        };
        self.files.insert(format!("{name}.npy"), data);
        if depths {
            let depth = |at: &[u64]| lake.depth(at[0] as u32, at[1] as u32).to_bits().into();
            self.files.insert(format!("{name}_depth.npy"), arrays.array(Dtype::F32, &[dx, dz], depth));
            layer.depth_file = Some(format!("{name}_depth.npy"));
        }
        if number == 0 {
            self.data.global = Some(layer);
        } else {
            self.data.locals.push(layer);
        }
    }

    /// Writes the map into a directory.
    ///
    /// # Errors
    /// When a file is there already, and when writing fails.
    pub fn write(&self, dir: &Path) -> io::Result<()> {
        self.write_with(dir, &self.data.encode())
    }

    /// As [`write`](Self::write), with another description.
    ///
    /// # Errors
    /// As those of [`write`](Self::write).
    pub fn write_with(&self, dir: &Path, description: &[u8]) -> io::Result<()> {
        forest::write_new(dir, Path::new(FILE_NAME), description)?;
        self.files.iter().try_for_each(|(name, bytes)| forest::write_new(dir, Path::new(name), bytes))
    }
}

/// A map of sparse blocks with depth maps and two layers inside of the global one.
pub(super) fn sparse(dir: &Path) -> io::Result<()> {
    let mut draft = Draft::new();
    draft.add(&Lake::new(1, [40, 12, 28]), [-10.0, 2.0, -7.0], Format::BlockSparse, Arrays::PLAIN, true);
    for (seed, x) in [(2, -9.0), (3, 1.5)] {
        let lake = Lake::new(seed, [16, 10, 16]);
        draft.add(&lake, [x, 2.0, -1.25], Format::BlockSparse, Arrays { dtype: Dtype::I32, ..Arrays::PLAIN }, true);
    }
    draft.write(dir)
}

/// A dense layer, the bottom of which is marked.
pub(super) fn dense(dir: &Path) -> io::Result<()> {
    let mut draft = Draft::new();
    let lake = Lake { stones: true, ..Lake::new(4, [34, 8, 30]) };
    draft.add(&lake, [-8.5, -4.0, 60.25], Format::Dense, Arrays { dtype: Dtype::I32, ..Arrays::PLAIN }, false);
    // Two layers of the same name at different places.
    let lake = Lake { stones: true, ..Lake::new(5, [12, 6, 12]) };
    for x in [0.0, 2.0] {
        draft.add(&lake, [x, -4.0, 61.0], Format::Dense, Arrays { dtype: Dtype::I32, ..Arrays::PLAIN }, false);
    }
    for layer in &mut draft.data.locals {
        (layer.name, layer.depth_file) = (Some("Lake_Local".to_owned()), None);
    }
    draft.write(dir)
}

/// A dense layer with the depth in the voxels.
pub(super) fn packed(dir: &Path) -> io::Result<()> {
    let mut draft = Draft::new();
    let lake = Lake::new(6, [24, 9, 20]);
    draft.add(&lake, [0.0; 3], Format::Dense, Arrays { packed: true, ..Arrays::PLAIN }, false);
    draft.write(dir)
}

/// Sparse blocks that went through another program.
pub(super) fn fortran_big_endian(dir: &Path) -> io::Result<()> {
    let mut draft = Draft::new();
    let arrays = Arrays { dtype: Dtype::I32, big_endian: true, fortran: true, packed: false };
    draft.add(&Lake::new(7, [30, 10, 18]), [-3.0, 0.5, 12.0], Format::BlockSparse, arrays, true);
    draft.write(dir)
}

/// Sparse blocks of unsigned numbers.
pub(super) fn unsigned(dir: &Path) -> io::Result<()> {
    let mut draft = Draft::new();
    let of = |dtype| Arrays { dtype, ..Arrays::PLAIN };
    draft.add(&Lake::new(8, [30, 10, 18]), [-3.0, 0.5, 12.0], Format::BlockSparse, of(Dtype::U64), true);
    draft.add(&Lake::new(9, [16, 10, 16]), [1.0, 0.5, 13.0], Format::BlockSparse, of(Dtype::U32), true);
    draft.write(dir)
}
