//! The files of `VoxelStreamBlockFiles`, which the engine removed on 2022-07-17: one file a block.
//!
//! ```text
//! meta.vxbm:                "VXBM" · version u8 (1) · lod_count u8 · block_size_po2 u8 · channel_depths u8[8]
//! blocks/lodN/PXPYPZ.vxb:   "VXB_" · version u8 (1) · size u32 · container        P: the sign, + or -
//! ```
//!
//! Source: history of Godot Voxel's `voxel_stream_block_files.cpp`. The meta file had no depths until 2020-01-25, when every
//! channel had 8 bits, and three u32 instead of `block_size_po2` until 2019-08-24; the version stayed 1.
//!
//! A file of a block is read as a region of one block without a table: its [`Header`] has a region size of 1, an empty table
//! behind the version, and one sector that reaches to the end of the file.

use crate::bytes::{Cursor, Span, len64};
use crate::damage::{Code, Damage, Decoded, Value};
use crate::godot::channel::{CHANNELS, Depth};
use crate::godot::region::{BLOCK_SIZE_PO2, Format, Header};

/// The first four bytes of a meta file.
pub const META_MAGIC: [u8; 4] = *b"VXBM";
/// The first four bytes of the file of a block.
pub const BLOCK_MAGIC: [u8; 4] = *b"VXB_";
/// The only version of both.
pub const VERSION: u8 = 1;
/// The most LODs that the meta file counts.
pub const MAX_LODS: u8 = 32;
/// Bytes of the largest meta file: that of 2019.
pub const MAX_META_BYTES: usize = 18;
/// Bytes before the size of a block.
const BLOCK_START: u64 = 5;
/// The sector size of a converted save, since this format has none.
const SECTOR_SIZE: u32 = 512;

/// The content of a meta file; a field that is not valid is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Meta {
    /// Number of LODs, 1 to 32.
    pub lod_count: Option<u8>,
    /// Voxels along each axis of a block, as a power of two.
    pub block_size_po2: Option<u8>,
    /// Depth of each channel.
    pub depths: Option<[Depth; CHANNELS]>,
}

impl Meta {
    /// A meta file of these settings.
    #[must_use]
    pub fn new(lod_count: u8, block_size_po2: u8, depths: [Depth; CHANNELS]) -> Self {
        Self { lod_count: Some(lod_count), block_size_po2: Some(block_size_po2), depths: Some(depths) }
    }

    /// The layout of the blocks, if the meta file has all of it. The region size is 1; the sector size is that of a
    /// converted save.
    #[must_use]
    pub fn format(&self) -> Option<Format> {
        Some(layout(self.block_size_po2?, self.depths?))
    }

    /// Decodes a whole meta file; `None` if it is none.
    pub fn decode(data: &[u8]) -> Decoded<Option<Self>> {
        Decoded::collect(|damage| Self::decode_into(data, damage))
    }

    fn decode_into(data: &[u8], damage: &mut Vec<Damage>) -> Option<Self> {
        let mut cursor = Cursor::new(data);
        let bad = |span, field| Damage::new(Code::BlockFilesMeta, span, field);
        if !starts_with(&mut cursor, META_MAGIC, Value::Words("VXBM (0x5658424d)"), Code::BlockFilesMeta, damage) {
            return None;
        }
        let Ok(lod_count) = cursor.u8() else {
            let short = bad(cursor.span(), "length").expected(Value::AtLeast(7)).found(Value::Bytes(len64(data)));
            damage.push(short);
            return None;
        };
        let mut meta = Self::default();
        if (1..=MAX_LODS).contains(&lod_count) {
            meta.lod_count = Some(lod_count);
        } else {
            let wrong = bad(Span::new(5, 6), "lod_count").expected(Value::Range(1, 32));
            damage.push(wrong.found(Value::Number(lod_count.into())));
        }
        let rest = cursor.span();
        if rest.len() == 12 {
            Self::decode_sizes(&mut meta, cursor, damage);
        } else {
            Self::decode_fields(&mut meta, cursor, rest, damage);
        }
        Some(meta)
    }

    /// The file of 2019: the block size as three numbers.
    fn decode_sizes(meta: &mut Self, mut cursor: Cursor<'_>, damage: &mut Vec<Damage>) {
        let span = cursor.span();
        let [size, y, z] = [cursor.u32(), cursor.u32(), cursor.u32()].map(|size| size.unwrap_or(0));
        meta.depths = Some([Depth::Bits8; CHANNELS]);
        let po2 = u8::try_from(size.trailing_zeros()).ok().filter(|po2| BLOCK_SIZE_PO2.contains(po2));
        meta.block_size_po2 = po2.filter(|_| size.is_power_of_two() && y == size && z == size);
        if meta.block_size_po2.is_none() {
            let wrong = Damage::new(Code::BlockFilesMeta, span, "block size");
            let wrong = wrong.expected(Value::Words("three equal powers of two"));
            damage.push(wrong.found(Value::Number(size.into())));
        }
    }

    fn decode_fields(meta: &mut Self, mut cursor: Cursor<'_>, rest: Span, damage: &mut Vec<Damage>) {
        let bad = |span, field| Damage::new(Code::BlockFilesMeta, span, field);
        match cursor.u8() {
            Ok(po2) if BLOCK_SIZE_PO2.contains(&po2) => meta.block_size_po2 = Some(po2),
            Ok(po2) => {
                let wrong = bad(Span::new(6, 7), "block_size_po2").expected(Value::Range(1, 8));
                damage.push(wrong.found(Value::Number(po2.into())));
            }
            Err(_) => damage.push(bad(rest, "length").expected(Value::AtLeast(7)).found(Value::Bytes(6))),
        }
        if cursor.is_empty() {
            // Until 2020-01-25 every channel had 8 bits.
            meta.depths = Some([Depth::Bits8; CHANNELS]);
            return;
        }
        let Ok(codes) = cursor.array::<CHANNELS>() else {
            let found = Value::Number(rest.end);
            damage.push(bad(cursor.span(), "length").expected(Value::Words("7 bytes or 15")).found(found));
            return;
        };
        let mut depths = [Depth::Bits8; CHANNELS];
        let mut whole = true;
        for ((at, code), depth) in (7u64..).zip(codes).zip(&mut depths) {
            match Depth::from_code(code) {
                Some(known) => *depth = known,
                None => {
                    whole = false;
                    let wrong = bad(Span::sized(at, 1), "depth of a channel").expected(Value::Range(0, 3));
                    damage.push(wrong.found(Value::Number(code.into())));
                }
            }
        }
        meta.depths = whole.then_some(depths);
        if !cursor.is_empty() {
            let found = Value::Number(rest.end);
            damage.push(bad(cursor.span(), "length").expected(Value::Words("7 bytes or 15")).found(found));
        }
    }

    /// Encodes as the engine of 2022 did; fields that are `None` become those of a new terrain.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = META_MAGIC.to_vec();
        out.extend([VERSION, self.lod_count.unwrap_or(1), self.block_size_po2.unwrap_or(4)]);
        out.extend(self.depths.unwrap_or_default().map(Depth::code));
        out
    }
}

/// The layout of blocks of this size: a region of one block.
#[must_use]
pub const fn layout(block_size_po2: u8, depths: [Depth; CHANNELS]) -> Format {
    Format { block_size_po2, region_size: [1; 3], depths, sector_size: SECTOR_SIZE }
}

/// Takes magic and version; reports those that are wrong as `code`.
fn starts_with(cursor: &mut Cursor<'_>, magic: [u8; 4], expected: Value, code: Code, damage: &mut Vec<Damage>) -> bool {
    let all = cursor.span();
    let (Ok(found), Ok(version)) = (cursor.array::<4>(), cursor.u8()) else {
        damage.push(Damage::new(code, all, "length").expected(Value::AtLeast(5)).found(Value::Bytes(all.len())));
        return false;
    };
    if found != magic {
        let found = Value::Hex32(u32::from_be_bytes(found));
        damage.push(Damage::new(code, Span::new(0, 4), "first four bytes").expected(expected).found(found));
        return false;
    }
    if version != VERSION {
        let found = Value::Number(version.into());
        damage.push(Damage::new(code, Span::new(4, 5), "version").expected(Value::Number(1)).found(found));
        return false;
    }
    true
}

/// Decodes the first bytes of the file of a block, which has `file_len` bytes. `outside` is the layout that the meta file or
/// the user gives; without it, blocks of version 1 cannot be read.
///
/// `None` if there is no block in it; the damage gives the reason.
pub fn decode_block_file(prefix: &[u8], file_len: u64, outside: Option<&Format>) -> Decoded<Option<Header>> {
    Decoded::collect(|damage| {
        let mut cursor = Cursor::new(prefix);
        let expected = Value::Words("VXB_ (0x5658425f)");
        if !starts_with(&mut cursor, BLOCK_MAGIC, expected, Code::BlockFileHeader, damage) {
            return None;
        }
        let room = file_len.saturating_sub(BLOCK_START);
        let Ok(size) = cursor.array::<4>() else {
            let short = Damage::new(Code::BlockFileHeader, Span::new(BLOCK_START, file_len), "length");
            damage.push(short.expected(Value::AtLeast(9)).found(Value::Bytes(file_len)));
            return None;
        };
        let end = u64::from(u32::from_le_bytes(size)).saturating_add(9);
        if end < file_len {
            let more = Damage::new(Code::BlockFileTrailing, Span::new(end, file_len), "bytes after the block");
            damage.push(more.found(Value::Number(file_len.saturating_sub(end))));
        }
        let format = Format {
            sector_size: u32::try_from(room).unwrap_or(u32::MAX),
            region_size: [1; 3],
            ..outside.copied().unwrap_or(layout(0, [Depth::Bits8; CHANNELS]))
        };
        Some(Header { table: Span::sized(BLOCK_START, 0), ..Header::new(VERSION, format) })
    })
}

/// Encodes the file of a block from its container; `None` if it is larger than the size can say.
#[must_use]
pub fn encode_block_file(container: &[u8]) -> Option<Vec<u8>> {
    let size = u32::try_from(container.len()).ok()?;
    let mut out = BLOCK_MAGIC.to_vec();
    out.push(VERSION);
    out.extend(size.to_le_bytes());
    out.extend(container);
    Some(out)
}

/// The position in a file name without its ending, such as `+0-1+12`.
#[must_use]
pub fn parse_position(stem: &str) -> Option<[i32; 3]> {
    let mut rest = stem;
    let mut position = [0; 3];
    for n in &mut position {
        let behind = rest.strip_prefix(['+', '-'])?;
        let end = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
        let (digits, after) = behind.split_at_checked(end)?;
        let plus = rest.starts_with('+');
        let text = if plus { digits.to_owned() } else { format!("-{digits}") };
        *n = text.parse().ok().filter(|n: &i32| n.to_string() == text)?;
        rest = after;
    }
    rest.is_empty().then_some(position)
}

/// The name of the file of a block.
#[must_use]
pub fn name_of(position: [i32; 3]) -> String {
    let [x, y, z] = position;
    format!("{x:+}{y:+}{z:+}.vxb")
}

#[cfg(test)]
mod tests;
