//! The kinds of damage of a layer and its arrays.
//!
//! Not among them, because nothing can tell: known flags in place of others, another depth of water that is possible, two
//! rows of the index swapped.

use voxscope::bytes::Span;
use voxscope::damage::{Code, Space};
use voxscope::voxel_map::flags::WATER;
use voxscope::voxel_map::grid::LayerFile;
use voxscope::voxel_map::map_json::Layer;
use voxscope::voxel_map::npy::{Dtype, Npy};

use super::npy_map::{Map, bundle};
use super::{Case, Dice, Expected, Kind, Place, Whose};
use crate::oracles::npy_map::Files;

pub(super) const ALL: [Kind<Map>; 26] = [
    Kind { name: "magic_changed", apply: magic_changed },
    Kind { name: "version_unknown", apply: version_unknown },
    Kind { name: "header_cut", apply: header_cut },
    Kind { name: "data_cut", apply: data_cut },
    Kind { name: "data_trailing", apply: data_trailing },
    Kind { name: "rows_declared_too_many", apply: rows_declared_too_many },
    Kind { name: "shape_a_lie", apply: shape_a_lie },
    Kind { name: "header_name_changed", apply: header_name_changed },
    Kind { name: "type_unknown", apply: type_unknown },
    Kind { name: "shape_of_five_dimensions", apply: shape_of_five_dimensions },
    Kind { name: "shape_beyond_64_bits", apply: shape_beyond_64_bits },
    Kind { name: "header_length_too_large", apply: header_length_too_large },
    Kind { name: "type_another", apply: type_another },
    Kind { name: "shape_another", apply: shape_another },
    Kind { name: "file_lost", apply: file_lost },
    Kind { name: "file_name_leads_out", apply: file_name_leads_out },
    Kind { name: "block_count_another", apply: block_count_another },
    Kind { name: "block_size_another", apply: block_size_another },
    Kind { name: "dim_another", apply: dim_another },
    Kind { name: "index_row_doubled", apply: index_row_doubled },
    Kind { name: "index_row_outside", apply: index_row_outside },
    Kind { name: "voxel_with_an_unknown_flag", apply: unknown_flag },
    Kind { name: "voxel_beyond_dim", apply: beyond_dim },
    Kind { name: "voxel_of_water_without_depth", apply: water_depth },
    Kind { name: "voxel_dry_structure", apply: dry_structure },
    Kind { name: "index_moved_out_by_a_row", apply: index_moved },
];

/// The files of the voxels, the index and the depths.
const NAMES: [(&str, LayerFile); 3] = [("d", LayerFile::Data), ("i", LayerFile::Index), ("z", LayerFile::Depth)];

/// A layer to be damaged.
struct Opened {
    layer: Layer,
    files: Files,
}

fn opened(map: &Map) -> Opened {
    Opened { layer: map.layer(), files: map.files() }
}

impl Opened {
    fn expecting(self, part: LayerFile, code: Code, place: Place) -> Option<Case> {
        let expected = vec![Expected { codes: vec![code], place, whose: Some(Whose::LayerFile(part)) }];
        Some(Case { bytes: bundle(&self.layer, &self.files), expected })
    }
}

/// One file of a layer to be damaged.
struct One<'m> {
    map: &'m Map,
    opened: Opened,
    name: &'static str,
    part: LayerFile,
    bytes: Vec<u8>,
    /// Where its numbers begin.
    start: usize,
}

fn one<'m>(map: &'m Map, dice: &mut Dice) -> Option<One<'m>> {
    let opened = opened(map);
    let there = NAMES.iter().filter(|(name, _)| opened.files.contains_key(*name)).copied().collect::<Vec<_>>();
    let (name, part) = dice.one(&there)?;
    let bytes = opened.files.get(name)?.clone();
    let start = start(&bytes)?;
    Some(One { map, opened, name, part, bytes, start })
}

/// Where the numbers of an array begin: behind the header, whose length stands before it.
fn start(bytes: &[u8]) -> Option<usize> {
    let length = usize::from(u16::from_le_bytes([*bytes.get(8)?, *bytes.get(9)?]));
    Some(length + if bytes.get(6) == Some(&1) { 10 } else { 12 })
}

impl One<'_> {
    /// The file as it is now, of which this must be reported.
    fn at(mut self, code: Code, start: usize, end: usize) -> Option<Case> {
        self.opened.files.insert(self.name.to_owned(), self.bytes);
        self.opened.expecting(self.part, code, Place::At(Space::File, Span::new(start as u64, end as u64)))
    }

    fn touching(mut self, code: Code, start: usize, end: usize) -> Option<Case> {
        self.opened.files.insert(self.name.to_owned(), self.bytes);
        self.opened.expecting(self.part, code, Place::Touching(Span::new(start as u64, end as u64)))
    }

    /// The header with another type or shape, before the same numbers.
    fn with_header(mut self, dtype: Dtype, shape: &[u64]) -> Self {
        let map = self.map;
        let npy =
            Npy { version: map.version, big_endian: map.big_endian, fortran: map.fortran, ..Npy::new(dtype, shape) };
        let data = self.bytes.split_off(self.start);
        self.bytes = npy.encode(64);
        self.start = self.bytes.len();
        self.bytes.extend(data);
        self
    }

    fn dtype(&self) -> Dtype {
        match self.part {
            LayerFile::Depth => Dtype::F32,
            LayerFile::Index => Dtype::I32,
            _ => self.map.dtype,
        }
    }

    fn text(&self) -> usize {
        if self.map.version == 1 { 10 } else { 12 }
    }
}

fn magic_changed(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let mut file = one(map, dice)?;
    file.bytes[dice.below(6)] ^= dice.within(1, 255) as u8;
    file.at(Code::NpyMagic, 0, 6)
}

fn version_unknown(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let mut file = one(map, dice)?;
    if dice.below(2) == 0 {
        file.bytes[6] = dice.one(&[0, 4, 255])?;
    } else {
        file.bytes[7] = dice.within(1, 255) as u8;
    }
    file.at(Code::NpyVersion, 6, 8)
}

fn header_cut(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let mut file = one(map, dice)?;
    let end = dice.below(file.start);
    file.bytes.truncate(end);
    // From the part of the header that is no longer whole.
    let begins = [0, 6, 8, file.text()].into_iter().rfind(|&at| at <= end)?;
    file.at(Code::NpyCut, begins, end)
}

fn data_cut(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let mut file = one(map, dice)?;
    let (start, all) = (file.start, file.bytes.len());
    let end = start + dice.below(all - start);
    file.bytes.truncate(end);
    (end < all).then(|| file.at(Code::NpyTruncated, start, end))?
}

fn data_trailing(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let mut file = one(map, dice)?;
    let end = file.bytes.len();
    file.bytes.extend(vec![dice.below(256) as u8; dice.within(1, 64)]);
    let all = file.bytes.len();
    file.at(Code::NpyTrailing, end, all)
}

fn rows_declared_too_many(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let file = one(map, dice)?;
    let rows = map.blocks.len() as u64 + dice.within(1, 60_000) as u64;
    let shape: &[u64] = match file.part {
        LayerFile::Index => &[rows, 3],
        LayerFile::Data if map.sparse => &[rows, 16, 16, 16],
        _ => return None,
    };
    let dtype = file.dtype();
    let file = file.with_header(dtype, shape);
    // The count is held against the other file, and reported of the voxels.
    let mut opened = file.opened;
    opened.files.insert(file.name.to_owned(), file.bytes);
    opened.expecting(LayerFile::Data, Code::MapBlockCount, Place::Anywhere)
}

/// A size that no file has, and that no memory holds.
fn shape_a_lie(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let file = one(map, dice)?;
    let dtype = file.dtype();
    let file = file.with_header(dtype, &[1 << 40, 1 + dice.below(1 << 16) as u64]);
    let (start, end) = (file.start, file.bytes.len());
    file.at(Code::NpyTruncated, start, end)
}

fn header_name_changed(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let mut file = one(map, dice)?;
    let at = file.bytes.windows(5).position(|part| part == b"descr")?;
    file.bytes[at + dice.below(5)] = b'_';
    let (text, start) = (file.text(), file.start);
    file.touching(Code::NpyHeader, text, start)
}

fn type_unknown(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let mut file = one(map, dice)?;
    let at = file.bytes.windows(9).position(|part| part == b"'descr': ")? + 9;
    file.bytes[at + 2] = dice.one(b"cbOV?")?;
    let (text, start) = (file.text(), file.start);
    file.at(Code::NpyDtype, text, start)
}

fn shape_of_five_dimensions(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let file = one(map, dice)?;
    let (dtype, text) = (file.dtype(), file.text());
    let file = file.with_header(dtype, &[1; 5]);
    let start = file.start;
    file.at(Code::NpyShape, text, start)
}

fn shape_beyond_64_bits(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let file = one(map, dice)?;
    let (dtype, text) = (file.dtype(), file.text());
    let file = file.with_header(dtype, &[1 << 62, 4 + dice.below(1 << 16) as u64]);
    let start = file.start;
    file.at(Code::NpyShape, text, start)
}

fn header_length_too_large(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let mut file = one(map, dice)?;
    let text = file.text();
    file.bytes[text - 1] = dice.within(0x28, 0xff) as u8;
    file.at(Code::NpyHeader, 8, text)
}

/// A type that arrays of maps have, but not this one.
fn type_another(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let file = one(map, dice)?;
    let dtype = if file.part == LayerFile::Depth { Dtype::I32 } else { Dtype::F32 };
    let file = file.with_header(dtype, &[0, 3]);
    let start = file.start;
    file.at(Code::MapDtype, 0, start)
}

fn shape_another(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let file = one(map, dice)?;
    let dtype = file.dtype();
    let file = file.with_header(dtype, &[1]);
    let start = file.start;
    // Of an index no bytes are named.
    let end = if file.part == LayerFile::Index { 0 } else { start };
    file.at(Code::MapShape, 0, end)
}

fn file_lost(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let One { mut opened, name, part, .. } = one(map, dice)?;
    opened.files.remove(name);
    opened.expecting(part, Code::MapFileMissing, Place::Anywhere)
}

fn file_name_leads_out(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let One { mut opened, part, .. } = one(map, dice)?;
    let evil = dice.one(&["../d", "/d", "C:d", "d\\i", "..", "d\0", ". ", "a/b"])?;
    let (name, field) = match part {
        LayerFile::Index => (&mut opened.layer.index_file, "indexFile"),
        LayerFile::Depth => (&mut opened.layer.depth_file, "depthFile"),
        _ => (&mut opened.layer.data_file, "dataFile"),
    };
    *name = Some(evil.to_owned());
    opened.expecting(LayerFile::Map, Code::MapFileName, Place::Field(field))
}

fn block_count_another(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let mut opened = opened(map);
    opened.layer.block_count = Some(map.blocks.len() as u64 + dice.within(1, 60_000) as u64);
    let case = opened.expecting(LayerFile::Map, Code::MapBlockCount, Place::Anywhere);
    map.sparse.then_some(case)?
}

fn block_size_another(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let mut opened = opened(map);
    opened.layer.block_size = Some(dice.within(1, 15) as u32);
    opened.expecting(LayerFile::Map, Code::MapBlockSize, Place::Field("blockSize"))
}

fn dim_another(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let mut opened = opened(map);
    opened.layer.dim.as_mut()?[0] += dice.within(1, 100) as u32;
    // Sparse data has no size of its own.
    let part = if map.sparse { LayerFile::Depth } else { LayerFile::Data };
    let case = opened.expecting(part, Code::MapShape, Place::Anywhere);
    (!map.sparse || map.depths).then_some(case)?
}

/// A layer with another index; what is wrong is in some row of it.
fn with_index(map: &Map, blocks: &[[i32; 3]], code: Code) -> Option<Case> {
    let mut opened = opened(map);
    let bytes = map.index(blocks);
    let place = Place::Touching(Span::new(start(&bytes)? as u64, bytes.len() as u64));
    opened.files.insert("i".to_owned(), bytes);
    opened.expecting(LayerFile::Index, code, place)
}

fn index_row_doubled(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let mut blocks = map.blocks.clone();
    if blocks.len() < 2 {
        return None;
    }
    let from = dice.below(blocks.len());
    let to = (from + 1 + dice.below(blocks.len() - 1)) % blocks.len();
    blocks[to] = blocks[from];
    with_index(map, &blocks, Code::MapIndexTwice)
}

fn index_row_outside(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let mut blocks = map.blocks.clone();
    let axis = dice.below(3);
    let end = map.dim[axis].div_ceil(16) as i32;
    let row = dice.below(blocks.len());
    blocks.get_mut(row)?[axis] = dice.one(&[-1, end, i32::MIN, i32::MAX])?;
    with_index(map, &blocks, Code::MapIndexRange)
}

/// Every row by the extent of the layer too far along an axis.
fn index_moved(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let mut blocks = map.blocks.clone();
    let axis = dice.below(3);
    blocks.first()?;
    blocks.iter_mut().for_each(|block| block[axis] += map.dim[axis].div_ceil(16) as i32);
    with_index(map, &blocks, Code::MapIndexRange)
}

/// Some voxel for which this is so: its place in the file, and its cell.
fn voxel(map: &Map, dice: &mut Dice, fits: impl Fn([u32; 3]) -> bool) -> Option<(usize, [u32; 3])> {
    let stored = map.stored();
    let from = dice.below(stored.len());
    let found = (from..stored.len()).chain(0..from).find(|&n| fits(stored[n].1))?;
    let (row, cell) = stored[found];
    Some((map.place(found, cell, row), cell))
}

/// Another number in a file, of which this must be reported.
fn put(map: &Map, name: &'static str, at: usize, number: u64) -> Option<(Opened, usize, usize)> {
    let mut opened = opened(map);
    let bytes = opened.files.get_mut(name)?;
    let size = if name == "z" { 4 } else { map.dtype.size() as usize };
    let at = start(bytes)? + at * size;
    let to = bytes.get_mut(at..at + size)?;
    if map.big_endian {
        to.copy_from_slice(&number.to_be_bytes()[8 - size..]);
    } else {
        to.copy_from_slice(&number.to_le_bytes()[..size]);
    }
    Some((opened, at, at + size))
}

fn put_voxel(map: &Map, at: usize, number: u64, code: Code) -> Option<Case> {
    let (opened, start, end) = put(map, "d", at, number)?;
    opened.expecting(LayerFile::Data, code, Place::At(Space::File, Span::new(start as u64, end as u64)))
}

fn unknown_flag(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let bit = dice.within(25, 31);
    let (at, cell) = voxel(map, dice, |cell| map.inside(cell))?;
    put_voxel(map, at, map.bits(cell) | 1 << bit, Code::MapFlagUnknown)
}

fn beyond_dim(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (at, _) = voxel(map, dice, |cell| !map.inside(cell))?;
    put_voxel(map, at, 5, Code::MapBeyondDim)
}

fn dry_structure(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    // Where there are others already, the first of them is named.
    let others = map.stored().iter().any(|&(_, cell)| map.flags(cell) & WATER == 0 && map.flags(cell) != 0);
    let (at, _) = voxel(map, dice, |cell| map.inside(cell) && map.flags(cell) == 0)?;
    if others {
        return None;
    }
    put_voxel(map, at, 4, Code::MapFlagDry)
}

/// Of water the voxel is named, not the depth.
fn water_depth(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let depth: f32 = dice.one(&[0.0, -0.0, -2.5, f32::NAN, f32::INFINITY, f32::NEG_INFINITY])?;
    let (_, cell) = voxel(map, dice, |cell| map.inside(cell) && map.flags(cell) & WATER != 0)?;
    let [dx, _, dz] = map.dim.map(|n| n as usize);
    let (x, z) = (cell[0] as usize, cell[2] as usize);
    let at = if map.fortran { z * dx + x } else { x * dz + z };
    let (opened, ..) = put(map, "z", at, depth.to_bits().into())?;
    opened.expecting(LayerFile::Data, Code::MapWaterDepth, Place::Anywhere)
}
