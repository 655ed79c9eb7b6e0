//! A layer of a voxel map with its arrays.
//!
//! Most inputs are choices, not bytes: a small layer is made of them, written to files in memory, opened, and held
//! against what it was made of; then it is damaged in one way, which must be reported by its name. The rest are bytes of
//! files. Every choice is one byte, so that seeds can be written by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use arbitrary::{Arbitrary, Result, Unstructured};
use voxscope::damage::{Code, Level};
use voxscope::demo::maps::array;
use voxscope::limits::Limits;
use voxscope::source::OpenError;
use voxscope::voxel_map::flags::{self, Histogram, KNOWN, WATER};
use voxscope::voxel_map::grid::{Grid, Part, Voxel, block_of};
use voxscope::voxel_map::map_json::{Format, Layer, plain_name};
use voxscope::voxel_map::npy::{Dtype, Npy};
use voxscope::voxel_map::scan::{Report, scan};

use super::{Reach, limits};

/// The files of the voxels, the index and the depths.
const NAMES: [(&str, Part); 3] = [("d", Part::Data), ("i", Part::Index), ("z", Part::Depth)];

/// A quarter of all first bytes stand for raw files.
pub const RAW: u8 = 3;

type Files = BTreeMap<&'static str, Vec<u8>>;

/// What an input stands for.
pub fn check(data: &[u8]) -> Reach {
    let mut choices = Unstructured::new(data);
    let Ok(mode) = u8::arbitrary(&mut choices) else { return Reach::Refused };
    if mode & 3 == RAW {
        return raw(&mut choices).unwrap_or(Reach::Refused);
    }
    let Ok(model) = Model::arbitrary(&mut choices) else { return Reach::Refused };
    let (layer, files) = (model.layer(), model.files());
    let (grid, report) = open(&layer, &files);
    model.compare(&grid, &report);
    let Ok(damage) = Damage::arbitrary(&mut choices) else { return Reach::Healthy };
    let (mut layer, mut files) = (layer, files);
    let Some((part, code)) = damage.apply(&model, &mut layer, &mut files) else { return Reach::Healthy };
    let (grid, report) = open(&layer, &files);
    let found = grid.faults.iter().chain(&report.faults).any(|f| f.part == part && f.damage.code == code);
    assert!(found, "{damage:?} should be {code} of {part:?}, but only {:?}", codes(&grid, &report));
    read_some(&grid);
    Reach::Content
}

fn codes(grid: &Grid<Vec<u8>>, report: &Report) -> BTreeSet<&'static str> {
    grid.faults.iter().chain(&report.faults).map(|fault| fault.damage.code.name()).collect()
}

/// Opens and scans; what is reported lies inside its file and only plain names are asked for.
fn open(layer: &Layer, files: &Files) -> (Grid<Vec<u8>>, Report) {
    let grid = Grid::open(layer, &limits(), |name| {
        assert_eq!(plain_name(name), Ok(()), "{name:?} was opened");
        files.get(name).cloned().ok_or_else(|| OpenError::Io(io::ErrorKind::NotFound.into()))
    });
    let report = scan(&grid, &limits(), &|_| true);
    for fault in grid.faults.iter().chain(&report.faults) {
        let name = match fault.part {
            Part::Map => None,
            Part::Data => layer.data_file.as_deref(),
            Part::Index => layer.index_file.as_deref(),
            Part::Depth => layer.depth_file.as_deref(),
        };
        let len = name.and_then(|name| files.get(name)).map_or(0, Vec::len) as u64;
        let span = fault.damage.span;
        assert!(span.start <= span.end && span.end <= len, "{fault:?} lies outside a file of {len} bytes");
        assert!(fault.count > 0 && !fault.damage.to_string().is_empty(), "{fault:?} says nothing");
    }
    let there = grid.data.as_ref().map_or(0, |data| data.npy.there());
    assert_eq!(report.counts.voxels, there, "voxels that were not counted, or twice");
    assert!(!report.stopped);
    (grid, report)
}

/// Cells at the edges and blocks at the ends can be asked for, whatever there is.
fn read_some(grid: &Grid<Vec<u8>>) {
    let dim = grid.dim.unwrap_or([1; 3]);
    for cell in [[0; 3], dim.map(|d| d - 1), dim.map(|d| d / 2), dim, [u32::MAX; 3]] {
        let outside = cell.iter().zip(dim).any(|(&at, size)| at >= size);
        let voxel = grid.voxel(cell).unwrap_or_default();
        assert!(!(outside && voxel.is_some()), "{voxel:?} outside the layer");
    }
    let (mut buffer, mut voxels) = (Vec::new(), Vec::new());
    for row in [0, 1, grid.blocks().saturating_sub(1), grid.blocks(), u32::MAX] {
        let read = grid.read_block(row, &mut buffer, &mut voxels);
        assert!(read.is_ok() && voxels.len() <= 4096, "block {row}");
        assert!(row < grid.blocks() || voxels.is_empty(), "a block that is not there");
    }
}

/// A healthy layer.
#[derive(Debug)]
struct Model {
    sparse: bool,
    dtype: Dtype,
    big_endian: bool,
    fortran: bool,
    packed: bool,
    depths: bool,
    dry: bool,
    version: u8,
    dim: [u32; 3],
    blocks: Vec<[i32; 3]>,
    pattern: u8,
    salt: u8,
}

impl<'a> Arbitrary<'a> for Model {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
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
            dtype: if wide { Dtype::I64 } else { Dtype::I32 },
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

impl Model {
    fn inside(&self, cell: [u32; 3]) -> bool {
        cell.iter().zip(self.dim).all(|(&at, size)| at < size)
    }

    fn flags(&self, cell: [u32; 3]) -> u64 {
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

    fn bits(&self, cell: [u32; 3]) -> u64 {
        let flags = self.flags(cell);
        let centimetres = if self.packed && flags::is_water(flags) { 1 + (hash(1, cell) >> 40) % 5000 } else { 0 };
        flags | centimetres << 32
    }

    fn depth(&self, x: u32, z: u32) -> f32 {
        0.25 + (hash(2, [x, 0, z]) >> 50) as f32 / 64.0
    }

    /// The cells that are stored, with the row of their block; those of a block reach beyond the layer.
    fn stored(&self) -> Vec<(Option<u32>, [u32; 3])> {
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

    fn layer(&self) -> Layer {
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

    fn index(&self, blocks: &[[i32; 3]]) -> Vec<u8> {
        let number = |at: &[u64]| u64::from(blocks[at[0] as usize][at[1] as usize].cast_unsigned());
        self.array(Dtype::I32, &[blocks.len() as u64, 3], number)
    }

    fn files(&self) -> Files {
        let [x, y, z] = self.dim.map(u64::from);
        let mut files = Files::new();
        let count = self.blocks.len() as u64;
        let of = |at: &[u64]| [at[0], at[1], at[2]].map(|n| n as u32);
        files.insert(
            "d",
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
            files.insert("i", self.index(&self.blocks));
        }
        if self.depths {
            let number = |at: &[u64]| u64::from(self.depth(at[0] as u32, at[1] as u32).to_bits());
            files.insert("z", self.array(Dtype::F32, &[x, z], number));
        }
        files
    }

    /// What was read is the model, and nothing is reported but what is so.
    fn compare(&self, grid: &Grid<Vec<u8>>, report: &Report) {
        let mut expected = BTreeSet::new();
        let mut counts = Histogram::default();
        let stored = self.stored();
        for &(_, cell) in &stored {
            counts.add(self.flags(cell), 1);
        }
        let several = |sizes: &[u32]| sizes.iter().filter(|&&n| n > 1).count() > 1;
        let [x, y, z] = self.dim;
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

/// One kind of damage, by number, and what it needs to know.
#[derive(Debug)]
struct Damage {
    kind: u8,
    file: u8,
    amount: u16,
}

/// How many kinds there are.
pub const KINDS: u8 = 26;

impl<'a> Arbitrary<'a> for Damage {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        if u.is_empty() {
            return Err(arbitrary::Error::NotEnoughData);
        }
        Ok(Self { kind: u.arbitrary::<u8>()? % KINDS, file: u.arbitrary()?, amount: u.arbitrary()? })
    }
}

/// Where the numbers begin.
fn data_start(bytes: &[u8]) -> usize {
    Npy::decode(bytes.get(..bytes.len().min(10_012)).unwrap_or_default(), bytes.len() as u64, &mut Vec::new())
        .map_or(0, |npy| npy.data.start as usize)
}

/// The header with another array type.
fn header(model: &Model, dtype: Dtype, shape: &[u64]) -> Vec<u8> {
    let (version, big_endian, fortran) = (model.version, model.big_endian, model.fortran);
    Npy { version, big_endian, fortran, ..Npy::new(dtype, shape) }.encode(64)
}

impl Damage {
    /// Damages the files or the layer; gives what must be reported, `None` where this layer cannot have the damage.
    fn apply(&self, model: &Model, layer: &mut Layer, files: &mut Files) -> Option<(Part, Code)> {
        let &(name, part) =
            NAMES.iter().cycle().skip(usize::from(self.file) % 3).find(|(n, _)| files.contains_key(n))?;
        let amount = usize::from(self.amount);
        let bytes = files.get_mut(name)?;
        let start = data_start(bytes);
        let length = if model.version == 1 { 10 } else { 12 };
        let size = model.dtype.size() as usize;
        let own = |code| Some((part, code));
        match self.kind {
            1 => bytes[amount % 6] ^= 1 << (amount / 6 % 8),
            2 => bytes[6] = 4 + (amount % 252) as u8,
            3 => bytes.truncate(amount % start),
            4 => bytes.truncate(start + amount % (bytes.len() - start)),
            5 => bytes.extend(vec![7; 1 + amount % 64]),
            6 => {
                // More rows than there are.
                let rows = model.blocks.len() as u64 + 1 + amount as u64;
                let shape: &[u64] = match part {
                    Part::Index => &[rows, 3],
                    Part::Data if model.sparse => &[rows, 16, 16, 16],
                    _ => return None,
                };
                let dtype = if part == Part::Index { Dtype::I32 } else { model.dtype };
                let data = bytes.split_off(start);
                *bytes = [header(model, dtype, shape), data].concat();
                return Some((Part::Data, Code::MapBlockCount));
            }
            7 => {
                // A lie about the size, beyond what any file holds.
                let dtype = if part == Part::Depth { Dtype::F32 } else { Dtype::I32 };
                let data = bytes.split_off(start);
                *bytes = [header(model, dtype, &[1 << 40, 1 + amount as u64]), data].concat();
                return own(Code::NpyTruncated);
            }
            8 => {
                let at = bytes.windows(5).position(|part| part == b"descr")?;
                bytes[at + amount % 5] = b'_';
                return own(Code::NpyHeader);
            }
            9 => {
                let at = bytes
                    .windows(3)
                    .position(|part| part == b"'<i" || part == b"'>i" || part == b"'<f" || part == b"'>f")?;
                bytes[at + 2] = b'u';
                return own(Code::NpyDtype);
            }
            10 => {
                *bytes = [&Npy::new(Dtype::I32, &[1; 5]).encode(16)[..], &[0; 4]].concat();
                return own(Code::NpyShape);
            }
            11 => {
                *bytes = Npy::new(Dtype::I64, &[1 << 62, 1 + amount as u64]).encode(16);
                return own(Code::NpyShape);
            }
            12 => {
                bytes[length - 1] = 0xff;
                return own(Code::NpyHeader);
            }
            13 => {
                // A type that arrays of maps have, but not this one.
                let dtype = if part == Part::Depth { Dtype::I32 } else { Dtype::F32 };
                *bytes = Npy::new(dtype, &[0, 3]).encode(16);
                return own(Code::MapDtype);
            }
            14 => {
                let dtype = if part == Part::Depth { Dtype::F32 } else { Dtype::I32 };
                *bytes = [&Npy::new(dtype, &[1]).encode(16)[..], &[0; 4]].concat();
                return own(Code::MapShape);
            }
            15 => {
                files.remove(name);
                return own(Code::MapFileMissing);
            }
            16 => {
                let evil = ["../d", "/d", "C:d", "d\\i", "..", "d\0", ". ", "a/b"];
                let to = Some(evil[amount % evil.len()].to_owned());
                match part {
                    Part::Index => layer.index_file = to,
                    Part::Depth => layer.depth_file = to,
                    _ => layer.data_file = to,
                }
                return Some((Part::Map, Code::MapFileName));
            }
            17 if model.sparse => {
                layer.block_count = Some(model.blocks.len() as u64 + 1 + amount as u64);
                return Some((Part::Map, Code::MapBlockCount));
            }
            18 => {
                layer.block_size = Some(1 + amount as u32 % 15);
                return Some((Part::Map, Code::MapBlockSize));
            }
            19 if !model.sparse || model.depths => {
                let dim = layer.dim.as_mut()?;
                dim[0] += 1 + u32::from(self.amount) % 100;
                return Some((if model.sparse { Part::Depth } else { Part::Data }, Code::MapShape));
            }
            20 | 21 if model.sparse && (self.kind == 21 || model.blocks.len() > 1) => {
                let mut blocks = model.blocks.clone();
                let row = amount % blocks.len();
                if self.kind == 20 {
                    blocks[row] = blocks[(row + 1) % model.blocks.len()];
                } else {
                    let axis = amount / 4 % 3;
                    let end = model.dim[axis].div_ceil(16) as i32;
                    blocks[row][axis] = [-1, end, i32::MIN, i32::MAX][amount / 16 % 4];
                }
                files.insert("i", model.index(&blocks));
                let code = if self.kind == 20 { Code::MapIndexTwice } else { Code::MapIndexRange };
                return Some((Part::Index, code));
            }
            22..=25 => {
                let stored = model.stored();
                let place = |n: usize, cell: [u32; 3], row: Option<u32>| {
                    // The place in the file of the n-th number in C order.
                    if !model.fortran {
                        return n;
                    }
                    let shape: Vec<usize> = match row {
                        Some(_) => vec![model.blocks.len(), 16, 16, 16],
                        None => model.dim.iter().map(|&n| n as usize).collect(),
                    };
                    let at: Vec<usize> = match row {
                        Some(row) => {
                            [row, cell[0] % 16, cell[1] % 16, cell[2] % 16].iter().map(|&n| n as usize).collect()
                        }
                        None => cell.iter().map(|&n| n as usize).collect(),
                    };
                    shape.iter().zip(&at).rev().fold(0, |sum, (size, at)| sum * size + at)
                };
                let fits = |cell: [u32; 3]| match self.kind {
                    22 => model.inside(cell),
                    23 => !model.inside(cell),
                    24 => model.inside(cell) && model.flags(cell) & WATER != 0,
                    _ => model.inside(cell) && model.flags(cell) == 0,
                };
                let (n, (row, cell)) = stored
                    .into_iter()
                    .enumerate()
                    .cycle()
                    .skip(amount)
                    .take(20_000)
                    .find(|&(_, (_, cell))| fits(cell))?;
                let mut put = |name: &str, at: usize, size: usize, number: u64| {
                    let bytes = files.get_mut(name)?;
                    let at = data_start(bytes) + at * size;
                    let to = bytes.get_mut(at..at + size)?;
                    if model.big_endian {
                        to.copy_from_slice(&number.to_be_bytes()[8 - size..]);
                    } else {
                        to.copy_from_slice(&number.to_le_bytes()[..size]);
                    }
                    Some(())
                };
                let at = place(n, cell, row);
                match self.kind {
                    22 => put("d", at, size, model.bits(cell) | 1 << (25 + amount % 7))?,
                    23 | 25 => put("d", at, size, if self.kind == 23 { 5 } else { 4 })?,
                    _ if model.depths => {
                        let [dx, _, dz] = model.dim.map(|n| n as usize);
                        let (x, z) = (cell[0] as usize, cell[2] as usize);
                        let at = if model.fortran { z * dx + x } else { x * dz + z };
                        let depth = [0.0, -0.0, -2.5, f32::NAN, f32::INFINITY, f32::NEG_INFINITY][amount % 6];
                        put("z", at, 4, depth.to_bits().into())?;
                    }
                    _ => return None,
                }
                let code = [Code::MapFlagUnknown, Code::MapBeyondDim, Code::MapWaterDepth, Code::MapFlagDry];
                return Some((Part::Data, code[usize::from(self.kind) - 22]));
            }
            _ => return None,
        }
        own(match self.kind {
            1 => Code::NpyMagic,
            2 => Code::NpyVersion,
            3 => Code::NpyCut,
            4 => Code::NpyTruncated,
            _ => Code::NpyTrailing,
        })
    }
}

/// Bytes of files: a byte of settings, three of sizes, the lengths of two files.
fn raw(u: &mut Unstructured<'_>) -> Result<Reach> {
    let bits: u8 = u.arbitrary()?;
    let dim: [u8; 3] = [u.arbitrary()?, u.arbitrary()?, u.arbitrary()?];
    let lengths: [u16; 2] = [u.arbitrary()?, u.arbitrary()?];
    let sparse = bits & 1 != 0;
    let name = |name: &str| Some(name.to_owned());
    let layer = Layer {
        format: Some(if sparse { Format::BlockSparse } else { Format::Dense }),
        data_file: name("d"),
        index_file: name(if sparse { "i" } else { "" }),
        depth_file: name(if bits & 2 != 0 { "z" } else { "" }),
        dim: (bits & 4 == 0).then_some(dim.map(|n| 1 + u32::from(n))),
        ..Layer::default()
    };
    let mut files = Files::new();
    for (name, length) in [("d", lengths[0]), ("i", lengths[1])] {
        let length = usize::from(length).min(u.len());
        files.insert(name, u.bytes(length)?.to_vec());
    }
    files.insert("z", u.bytes(u.len())?.to_vec());
    let (grid, report) = open(&layer, &files);
    read_some(&grid);
    let again = scan(&grid, &Limits::DEFAULT, &|_| true);
    assert_eq!(again.counts, report.counts, "another count the second time");
    Ok(match (&grid.data, report.counts.voxels) {
        (None, _) => Reach::Refused,
        (_, 0) => Reach::Header,
        _ => Reach::Content,
    })
}
