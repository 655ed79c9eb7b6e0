//! Block data, read and written by the description alone.

use std::ops::Range;

use super::Bytes;
use super::variant::{Stop, walk};

pub const EPILOGUE: [u8; 4] = [0x0d, 0xf0, 0x0d, 0x90];

/// A channel: depth code, whether there is one value a voxel, and the values' bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    pub depth: u8,
    pub raw: bool,
    pub data: Vec<u8>,
}

/// A block to be written. Items are their bytes, in version 4 with the type in front.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub version: u8,
    pub size: [u16; 3],
    pub channels: Vec<Channel>,
    pub items: Option<Items>,
}

/// The block's own item and those of voxels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Items {
    pub block: Vec<u8>,
    pub voxels: Vec<([u16; 3], Vec<u8>)>,
}

/// A part of a written block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Version,
    Size,
    Format(usize),
    Data(usize),
    MetadataSize,
    Item,
    Position(usize),
    VoxelItem(usize),
    Epilogue,
}

/// The bytes of a block and where each part lies.
#[derive(Clone, Debug)]
pub struct Written {
    pub bytes: Vec<u8>,
    pub fields: Vec<(Field, Range<usize>)>,
}

impl Written {
    fn put(&mut self, field: Field, bytes: &[u8]) {
        let at = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.fields.push((field, at..self.bytes.len()));
    }

    pub fn find(&self, field: Field) -> Option<Range<usize>> {
        self.fields.iter().find(|(f, _)| *f == field).map(|(_, range)| range.clone())
    }
}

pub fn write(block: &Block) -> Written {
    let mut out = Written { bytes: Vec::new(), fields: Vec::new() };
    if block.version > 1 {
        out.put(Field::Version, &[block.version]);
        out.put(Field::Size, &block.size.map(u16::to_le_bytes).concat());
    }
    for (i, channel) in block.channels.iter().enumerate() {
        let storage = u8::from(!channel.raw);
        out.put(Field::Format(i), &[if block.version > 1 { channel.depth << 4 | storage } else { storage }]);
        out.put(Field::Data(i), &channel.data);
    }
    if let Some(items) = &block.items {
        let voxels = items.voxels.iter().map(|(_, item)| 6 + item.len()).sum::<usize>();
        out.put(Field::MetadataSize, &((items.block.len() + voxels) as u32).to_le_bytes());
        out.put(Field::Item, &items.block);
        for (i, (position, item)) in items.voxels.iter().enumerate() {
            out.put(Field::Position(i), &position.map(u16::to_le_bytes).concat());
            out.put(Field::VoxelItem(i), item);
        }
    }
    out.put(Field::Epilogue, &EPILOGUE);
    out
}

/// A block that was read, whole from its first byte to its last.
#[derive(Debug, PartialEq, Eq)]
pub struct Read<'a> {
    pub version: u8,
    pub size: [u16; 3],
    /// Depth code, whether raw, and bytes of each channel.
    pub channels: Vec<(u8, bool, &'a [u8])>,
    /// Positions of the voxels that have an item.
    pub positions: Vec<[u16; 3]>,
}

impl Read<'_> {
    /// A voxel of a channel: ZXY, y runs fastest.
    pub fn voxel(&self, channel: usize, [x, y, z]: [u16; 3]) -> u64 {
        let (depth, raw, data) = self.channels[channel];
        let [sx, sy, _] = self.size.map(usize::from);
        let index = if raw { usize::from(y) + sy * (usize::from(x) + sx * usize::from(z)) } else { 0 };
        let bytes = 1 << depth;
        let value = &data[index * bytes..][..bytes];
        value.iter().rev().fold(0, |n, &byte| n << 8 | u64::from(byte))
    }
}

/// Why a block is not whole.
#[derive(Debug, PartialEq, Eq)]
pub enum Why {
    /// Not before its end, or against the format.
    Damaged(&'static str),
    /// Nested deeper than is looked at here.
    Deep,
}

/// Reads a block that is whole. `layout` is size and depth codes, without which version 1 cannot be read; `godot_4`
/// says how Variants are to be read, where the version does not.
pub fn read<'a>(all: &'a [u8], layout: Option<([u16; 3], [u8; 8])>, godot_4: Option<bool>) -> Result<Read<'a>, Why> {
    let no = Why::Damaged;
    let mut bytes = Bytes::new(all);
    let first = *all.first().ok_or(no("empty"))?;
    let (version, size) = match first {
        0 | 1 => (1, layout.ok_or(no("version 1 without a layout"))?.0),
        2..=4 => {
            bytes.u8();
            let mut size = [0; 3];
            for n in &mut size {
                *n = bytes.u16().ok_or(no("size cut"))?;
            }
            (first, size)
        }
        _ => return Err(no("version")),
    };
    if size.contains(&0) {
        return Err(no("size of zero"));
    }
    let volume = size.iter().map(|&n| u128::from(n)).product::<u128>();
    let mut channels = Vec::new();
    for i in 0..8 {
        let format = bytes.u8().ok_or(no("format cut"))?;
        let (storage, depth) =
            if version == 1 { (format, layout.map_or(0, |layout| layout.1[i])) } else { (format & 15, format >> 4) };
        if storage > 1 || depth > 3 {
            return Err(no("format"));
        }
        let voxels = if storage == 0 { volume } else { 1 };
        let data = usize::try_from(voxels << depth).ok().and_then(|n| bytes.take(n)).ok_or(no("channel cut"))?;
        channels.push((depth, storage == 0, data));
    }
    if bytes.left() < 4 {
        return Err(no("no epilogue"));
    }
    let metadata = bytes.take(bytes.left() - 4).unwrap_or_default();
    if bytes.take(4) != Some(&EPILOGUE) {
        return Err(no("epilogue"));
    }
    let mut block = Read { version, size, channels, positions: Vec::new() };
    if metadata.is_empty() {
        return Ok(block);
    }
    // Version 2 is of Godot 3, but in its last weeks of Godot 4: whichever fits.
    let dialects = match (godot_4, version) {
        (Some(given), _) => [given, given],
        (None, 2) => [false, true],
        (None, _) => [version > 2, version > 2],
    };
    let mut deep = false;
    // Types 40 to 42 are those of the Rust port if everything fits then.
    if let Ok(positions) = items(metadata, version, dialects[0], true)
        && positions.iter().all(|position| (0..3).all(|i| position[i] < size[i]))
    {
        block.positions = positions;
        return Ok(block);
    }
    for godot_4 in dialects {
        match items(metadata, version, godot_4, false) {
            Ok(positions) => {
                block.positions = positions;
                return Ok(block);
            }
            Err(stop) => deep |= stop == Some(Stop::Deep),
        }
    }
    Err(if deep { Why::Deep } else { no("metadata") })
}

/// The positions of all voxels' items, when the metadata is used up exactly.
fn items(metadata: &[u8], version: u8, godot_4: bool, port: bool) -> Result<Vec<[u16; 3]>, Option<Stop>> {
    let mut bytes = Bytes::new(metadata);
    if bytes.u32().ok_or(None)? as usize != bytes.left() {
        return Err(None);
    }
    let mut positions = Vec::new();
    item(&mut bytes, version, godot_4, port)?;
    while bytes.left() > 0 {
        let mut position = [0; 3];
        for n in &mut position {
            *n = bytes.u16().ok_or(None)?;
        }
        item(&mut bytes, version, godot_4, port)?;
        positions.push(position);
    }
    Ok(positions)
}

fn item(bytes: &mut Bytes<'_>, version: u8, godot_4: bool, port: bool) -> Result<(), Option<Stop>> {
    let variant = |bytes: &mut Bytes<'_>| walk(bytes, godot_4, &mut Vec::new()).map_err(Some);
    if version < 4 {
        return variant(bytes);
    }
    match bytes.u8().ok_or(None)? {
        0 => Ok(()),
        1 => bytes.take(8).map(|_| ()).ok_or(None),
        32 => variant(bytes),
        40 if port => bytes.take(8).map(|_| ()).ok_or(None),
        kind @ 41..=42 if port => {
            let len = bytes.u32().ok_or(None)?;
            let data = bytes.take(len as usize).ok_or(None)?;
            if kind == 42 || std::str::from_utf8(data).is_ok() { Ok(()) } else { Err(None) }
        }
        33.. => bytes.take(bytes.left()).map(|_| ()).ok_or(None),
        _ => Err(None),
    }
}
