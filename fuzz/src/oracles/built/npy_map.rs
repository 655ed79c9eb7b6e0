//! Layers of voxel maps, with their arrays.
//!
//! The damage may be in the layer's description as well as in a file, so the bytes of a model are a bundle: the text of a
//! `map_data.json` with this layer, and the files that are there.

use std::collections::BTreeSet;

use arbitrary::{Result, Unstructured};
use voxscope::damage::{Code, Level};
use voxscope::demo::maps::array;
use voxscope::voxel_map::flags::{self, Histogram, KNOWN, WATER};
use voxscope::voxel_map::grid::{Grid, Voxel, block_of};
use voxscope::voxel_map::map_json::{Format, Layer, MapData};
use voxscope::voxel_map::npy::{Dtype, Npy};
use voxscope::voxel_map::scan::Report;

use super::{Kind, Model, Seen, Whose};
use crate::oracles::npy_map::{Files, codes, open, read_some};

/// A healthy layer.
#[derive(Debug)]
pub struct Map {
    pub(super) sparse: bool,
    pub(super) dtype: Dtype,
    pub(super) big_endian: bool,
    pub(super) fortran: bool,
    pub(super) packed: bool,
    pub(super) depths: bool,
    pub(super) dry: bool,
    pub(super) version: u8,
    pub(super) dim: [u32; 3],
    pub(super) blocks: Vec<[i32; 3]>,
    pattern: u8,
    salt: u8,
}

impl Map {
    fn choose(u: &mut Unstructured<'_>) -> Result<Self> {
        let bits: u8 = u.arbitrary()?;
        let is = |bit: u8| bits & bit != 0;
        let (sparse, wide) = (is(1), is(2));
        let most = if sparse { 40 } else { 12 };
        let sizes: [u8; 3] = [u.arbitrary()?, u.arbitrary()?, u.arbitrary()?];
        let dim = sizes.map(|n| 1 + u32::from(n) % most);
        let mut blocks: Vec<[i32; 3]> = Vec::new();
        if sparse {
            for _ in 0..=u.arbitrary::<u8>()? % 3 {
                let at: [u8; 3] = [u.arbitrary()?, u.arbitrary()?, u.arbitrary()?];
                let block = [0, 1, 2].map(|axis| (u32::from(at[axis]) % dim[axis].div_ceil(16)) as i32);
                if !blocks.contains(&block) {
                    blocks.push(block);
                }
            }
        }
        Ok(Self {
            sparse,
            // The published page has unsigned numbers, the exporter signed ones.
            dtype: match (wide, sizes[2] >= 128) {
                (true, false) => Dtype::I64,
                (false, false) => Dtype::I32,
                (true, true) => Dtype::U64,
                (false, true) => Dtype::U32,
            },
            big_endian: is(4),
            fortran: is(8),
            packed: wide && is(16),
            depths: is(32),
            dry: is(64),
            version: if is(128) { 2 } else { 1 },
            dim,
            blocks,
            pattern: u.arbitrary()?,
            salt: u.arbitrary()?,
        })
    }
}

fn hash(salt: u8, cell: [u32; 3]) -> u64 {
    let mut n = u64::from(salt) + 1;
    for at in cell {
        n = (n ^ u64::from(at)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        n ^= n >> 29;
    }
    n
}

impl Map {
    pub(super) fn inside(&self, cell: [u32; 3]) -> bool {
        cell.iter().zip(self.dim).all(|(&at, size)| at < size)
    }

    pub(super) fn flags(&self, cell: [u32; 3]) -> u64 {
        if !self.inside(cell) {
            return 0;
        }
        let n = hash(self.salt, cell);
        let flags = match self.pattern % 4 {
            0 => 0,
            1 => WATER,
            2 => n >> 20 & KNOWN,
            _ if n.is_multiple_of(64) => n >> 20 & KNOWN | WATER,
            _ => n >> 8 & WATER,
        };
        if self.dry || flags::is_water(flags) { flags } else { 0 }
    }

    pub(super) fn bits(&self, cell: [u32; 3]) -> u64 {
        let flags = self.flags(cell);
        let centimetres = if self.packed && flags::is_water(flags) { 1 + (hash(1, cell) >> 40) % 5000 } else { 0 };
        flags | centimetres << 32
    }

    fn depth(&self, x: u32, z: u32) -> f32 {
        0.25 + (hash(2, [x, 0, z]) >> 50) as f32 / 64.0
    }

    /// The cells that are stored, with the row of their block; those of a block reach beyond the layer.
    pub(super) fn stored(&self) -> Vec<(Option<u32>, [u32; 3])> {
        let all = |size: [u32; 3]| {
            (0..size[0]).flat_map(move |x| (0..size[1]).flat_map(move |y| (0..size[2]).map(move |z| [x, y, z])))
        };
        if !self.sparse {
            return all(self.dim).map(|cell| (None, cell)).collect();
        }
        let cell = |block: [i32; 3], at: [u32; 3]| [0, 1, 2].map(|axis| block[axis] as u32 * 16 + at[axis]);
        let rows = (0u32..).zip(&self.blocks);
        rows.flat_map(|(row, &block)| all([16; 3]).map(move |at| (Some(row), cell(block, at)))).collect()
    }

    /// The place in the file of the n-th voxel in C order.
    pub(super) fn place(&self, n: usize, cell: [u32; 3], row: Option<u32>) -> usize {
        if !self.fortran {
            return n;
        }
        let (shape, at) = match row {
            Some(row) => {
                let [x, y, z] = cell.map(|n| n as usize % 16);
                (vec![self.blocks.len(), 16, 16, 16], vec![row as usize, x, y, z])
            }
            None => (self.dim.map(|n| n as usize).to_vec(), cell.map(|n| n as usize).to_vec()),
        };
        shape.iter().zip(&at).rev().fold(0, |sum, (size, at)| sum * size + at)
    }

    pub(super) fn layer(&self) -> Layer {
        let name = |is: bool, name: &str| Some(if is { name } else { "" }.to_owned());
        Layer {
            format: Some(if self.sparse { Format::BlockSparse } else { Format::Dense }),
            block_size: Some(if self.sparse { 16 } else { 0 }),
            block_count: Some(self.blocks.len() as u64),
            data_file: name(true, "d"),
            index_file: name(self.sparse, "i"),
            depth_file: name(self.depths, "z"),
            dim: Some(self.dim),
            ..Layer::default()
        }
    }

    fn array(&self, dtype: Dtype, shape: &[u64], number: impl Fn(&[u64]) -> u64) -> Vec<u8> {
        let (version, big_endian, fortran) = (self.version, self.big_endian, self.fortran);
        array(&Npy { version, big_endian, fortran, ..Npy::new(dtype, shape) }, number)
    }

    pub(super) fn index(&self, blocks: &[[i32; 3]]) -> Vec<u8> {
        let number = |at: &[u64]| u64::from(blocks[at[0] as usize][at[1] as usize].cast_unsigned());
        self.array(Dtype::I32, &[blocks.len() as u64, 3], number)
    }

    pub(super) fn files(&self) -> Files {
        let [x, y, z] = self.dim.map(u64::from);
        let mut files = Files::new();
        let count = self.blocks.len() as u64;
        let of = |at: &[u64]| [at[0], at[1], at[2]].map(|n| n as u32);
        files.insert(
            "d".to_owned(),
            if self.sparse {
                self.array(self.dtype, &[count, 16, 16, 16], |at| {
                    let local = of(&at[1..]);
                    self.bits([0, 1, 2].map(|axis| self.blocks[at[0] as usize][axis] as u32 * 16 + local[axis]))
                })
            } else {
                self.array(self.dtype, &[x, y, z], |at| self.bits(of(at)))
            },
        );
        if self.sparse {
            files.insert("i".to_owned(), self.index(&self.blocks));
        }
        if self.depths {
            let number = |at: &[u64]| u64::from(self.depth(at[0] as u32, at[1] as u32).to_bits());
            files.insert("z".to_owned(), self.array(Dtype::F32, &[x, z], number));
        }
        files
    }

    /// What was read is the model, and nothing is reported but what is so.
    fn same(&self, grid: &Grid<Vec<u8>>, report: &Report) {
        let mut expected = BTreeSet::new();
        let mut counts = Histogram::default();
        let stored = self.stored();
        for &(_, cell) in &stored {
            counts.add(self.flags(cell), 1);
        }
        let several = |sizes: &[u32]| sizes.iter().filter(|&&n| n > 1).count() > 1;
        let [x, y, z] = self.dim;
        if matches!(self.dtype, Dtype::U32 | Dtype::U64) {
            expected.insert(Code::MapDtypeOther.name());
        }
        if self.big_endian {
            expected.insert(Code::NpyBigEndian.name());
        }
        if self.fortran && (self.sparse || several(&[x, y, z]) || self.depths && several(&[x, z])) {
            expected.insert(Code::NpyFortran.name());
        }
        if self.sparse && !self.depths {
            expected.insert(Code::MapNoDepth.name());
        }
        let packed = self.packed && counts.water() > 0;
        if packed {
            expected.insert(Code::MapPackedDepth.name());
        }
        if counts.dry > 0 {
            expected.insert(Code::MapFlagDry.name());
        }
        assert_eq!(codes(grid, report), expected, "{self:?}");
        assert_eq!(report.counts, counts, "{self:?}");
        assert_eq!((grid.packed, grid.blocks() as usize), (packed, self.blocks.len()), "{self:?}");
        let worst = grid.faults.iter().chain(&report.faults).map(|fault| fault.damage.code.level()).max();
        assert!(worst <= Some(Level::Note));
        // Every cell of a small layer, some of a large one; a step that is no multiple of 16.
        for &(row, cell) in stored.iter().step_by(stored.len() / 300 + 1) {
            if !self.inside(cell) {
                assert_eq!(grid.voxel(cell).ok(), Some(None));
                continue;
            }
            let voxel = grid.voxel(cell).unwrap_or_default().unwrap_or_default();
            let bits = self.bits(cell);
            let depth = if self.depths {
                Some(self.depth(cell[0], cell[2]))
            } else {
                packed.then(|| (f64::from((bits >> 32) as u32) / 100.0) as f32)
            };
            let block = row.map(|row| (row, block_of(cell)));
            let expected = Voxel { block, bits: Some(bits), flags: self.flags(cell), depth, span: voxel.span };
            assert_eq!(voxel, expected, "cell {cell:?} of {self:?}");
        }
        let (mut buffer, mut voxels) = (Vec::new(), Vec::new());
        for (row, block) in (0u32..).zip(stored.chunks(4096).take(self.blocks.len())) {
            assert!(grid.read_block(row, &mut buffer, &mut voxels).is_ok());
            assert!(voxels.iter().copied().eq(block.iter().map(|(_, cell)| self.bits(*cell))), "block {row}");
        }
        read_some(grid);
    }
}

/// The layer and its files in one.
pub(super) fn bundle(layer: &Layer, files: &Files) -> Vec<u8> {
    let text = MapData { global: Some(layer.clone()), ..MapData::default() }.encode();
    let mut out = Vec::new();
    let mut put = |bytes: &[u8]| {
        out.extend((bytes.len() as u32).to_le_bytes());
        out.extend(bytes);
    };
    put(&text);
    for (name, bytes) in files {
        put(name.as_bytes());
        put(bytes);
    }
    out
}

fn unbundle(bytes: &[u8]) -> Option<(Layer, Files)> {
    let mut bytes = crate::naive::Bytes::new(bytes);
    let mut part = || {
        let len = bytes.u32()? as usize;
        bytes.take(len)
    };
    let map = MapData::decode(part()?).report_to(&mut Vec::new())?;
    let mut files = Files::new();
    while let Some(name) = part() {
        files.insert(String::from_utf8_lossy(name).into_owned(), part()?.to_vec());
    }
    Some((map.global?, files))
}

impl Model for Map {
    fn make(u: &mut Unstructured<'_>) -> Result<Self> {
        Self::choose(u)
    }

    fn bytes(&self) -> Vec<u8> {
        bundle(&self.layer(), &self.files())
    }

    fn look(&self, bytes: &[u8]) -> Vec<Seen> {
        let Some((layer, files)) = unbundle(bytes) else { return Vec::new() };
        let (grid, report) = open(&layer, &files);
        let faults = grid.faults.iter().chain(&report.faults);
        let seen = |fault: &voxscope::voxel_map::grid::Fault| {
            let damage = fault.damage;
            Seen { damage, span: damage.span, whose: Some(Whose::LayerFile(fault.part)) }
        };
        faults.map(seen).collect()
    }

    fn compare(&self, bytes: &[u8]) {
        let Some((layer, files)) = unbundle(bytes) else { unreachable!("it is a bundle") };
        let (grid, report) = open(&layer, &files);
        self.same(&grid, &report);
    }

    fn any(&self, bytes: &[u8]) {
        let Some((layer, files)) = unbundle(bytes) else { unreachable!("it is a bundle") };
        read_some(&open(&layer, &files).0);
    }

    fn kinds() -> &'static [Kind<Self>] {
        &super::npy_kinds::ALL
    }
}
