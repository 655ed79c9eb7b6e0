//! Region files, `r.X.Y.Z.vxr`.
//!
//! ```text
//! "VXR_" · version u8
//! version 3 only:  block_size_po2 u8 · region_size x, y, z u8 · channel_depths u8[8] · sector_size u16
//!                  palette_hint u8 (0x00 none, 0xff a palette follows) · palette 256 x RGBA8
//! table:    u32[region_size x * y * z]:  sector_count = n & 0xff · first_sector = n >> 8 · 0 = no block
//! sectors:  from the first byte after the table; a block is  size u32 · container
//! ```
//!
//! Source: Godot Voxel's page "Region format". Versions 1 and 2 have no format fields: they come from `meta.vxrm`.
//! Index in the table: see [`slots`](crate::godot::slots).

use crate::bytes::{Cursor, Span};
use crate::damage::{Code, Damage, Decoded, Value};
use crate::godot::block::BlockLayout;
use crate::godot::byte_order::ByteOrder;
use crate::godot::channel::{CHANNELS, Depth};

mod accepted;
mod builder;

pub use accepted::{MOST_SECTORS, Refusal, refusal_words};
pub use builder::Builder;

/// A layout that a header cannot store: regions have at most 255 blocks along an axis, sectors at most 65,535 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the size of regions or sectors does not fit the header of a region file")]
pub struct Unfit;

impl From<Unfit> for std::io::Error {
    fn from(error: Unfit) -> Self {
        Self::new(std::io::ErrorKind::InvalidInput, error)
    }
}

/// The first four bytes.
pub const MAGIC: [u8; 4] = *b"VXR_";

/// The version of a rig of Sandbox's VoxEdit, whose files have the same ending: they begin with `VXR` and a digit. `None` for
/// other files, and for a region file of which only the fourth byte is damaged.
#[must_use]
pub fn voxedit_version(prefix: &[u8], file_len: u64, outside: Option<&Format>) -> Option<u8> {
    let (b"VXR", [digit @ b'0'..=b'9', rest @ ..]) = prefix.split_at_checked(3)? else { return None };
    let region = [&MAGIC[..], rest].concat();
    let mut damage = Vec::new();
    let header = Header::decode(&region, file_len, outside).report_to(&mut damage);
    (header.is_none() || !damage.is_empty()).then(|| digit.saturating_sub(b'0'))
}

/// Bytes of the header of version 3 before the palette.
pub const HEADER_BYTES: u64 = 20;

/// Bytes of a palette.
pub const PALETTE_BYTES: u64 = 1024;

/// The most bytes that a header can have, so that one read suffices.
pub const MAX_HEADER_BYTES: usize = 20 + 1024;

/// Block sizes that the engine has, as powers of two.
pub const BLOCK_SIZE_PO2: std::ops::RangeInclusive<u8> = 1..=8;

/// The layout of a region file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Voxels along each axis of a block, as a power of two.
    pub block_size_po2: u8,
    /// Blocks along x, y, z of a region.
    pub region_size: [u16; 3],
    /// Depth of each channel.
    pub depths: [Depth; CHANNELS],
    /// Bytes per sector.
    pub sector_size: u32,
}

impl Format {
    /// Voxels along each axis of a block.
    #[must_use]
    pub fn block_size(&self) -> u16 {
        1u16.checked_shl(u32::from(self.block_size_po2)).unwrap_or(0)
    }

    /// The size and depths that the region declares for its blocks.
    #[must_use]
    pub fn layout(&self) -> BlockLayout {
        BlockLayout { size: [self.block_size(); 3], depths: self.depths }
    }

    /// The most bytes that the channels of a block of this size take: eight of 64 bits, each with its format byte.
    /// `None` when the size is not known.
    #[must_use]
    pub fn most_channel_bytes(&self) -> Option<u64> {
        let side = u64::from(self.block_size());
        let volume = side.checked_mul(side)?.checked_mul(side)?;
        (volume > 0).then(|| volume.saturating_mul(64).saturating_add(64))
    }

    /// Entries of the table.
    #[must_use]
    pub fn table_len(&self) -> u32 {
        self.region_size.into_iter().map(u32::from).fold(1, u32::saturating_mul)
    }
}

/// The valid fields of a region file's header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// 1, 2 or 3.
    pub version: u8,
    /// The layout: that of the file, with the meta file's values for fields that are not valid.
    pub format: Format,
    /// 256 x RGBA8, if there is a palette.
    pub palette: Option<Box<[u8]>>,
    /// The bytes of the table; it may reach beyond the end of the file. Empty for a
    /// [file of one block](crate::godot::block_files), which has no table.
    pub table: Span,
    /// The byte order of blocks that show none. No file stores it: the save infers it.
    pub byte_order: ByteOrder,
}

impl Header {
    /// Offset of sector 0.
    #[must_use]
    pub const fn sectors_at(&self) -> u64 {
        self.table.end
    }

    /// Whether it is that of a [file of one block](crate::godot::block_files): one sector, and no table.
    #[must_use]
    pub const fn is_single_block(&self) -> bool {
        self.table.is_empty() && matches!(self.format.region_size, [1, 1, 1])
    }

    /// The bytes of a run of sectors in the file.
    #[must_use]
    pub fn sector_span(&self, first: u64, count: u64) -> Span {
        let size = u64::from(self.format.sector_size);
        let start = self.sectors_at().saturating_add(first.saturating_mul(size));
        Span::sized(start, count.saturating_mul(size))
    }

    /// Decodes the header from the first bytes of a file ([`MAX_HEADER_BYTES`] of them, or all of it) of `file_len`
    /// bytes. `outside` is the layout that the meta file or the user gives, without which versions 1 and 2 cannot be
    /// located.
    ///
    /// `None` if no block can be located; the damage gives the reason.
    pub fn decode(prefix: &[u8], file_len: u64, outside: Option<&Format>) -> Decoded<Option<Self>> {
        Decoded::collect(|damage| Self::decode_into(prefix, file_len, outside, damage))
    }

    fn decode_into(prefix: &[u8], file_len: u64, outside: Option<&Format>, damage: &mut Vec<Damage>) -> Option<Self> {
        if file_len == 0 {
            damage.push(Damage::new(Code::RegionEmpty, Span::default(), "file").found(Value::Bytes(0)));
            return None;
        }
        if let Some(digit) = voxedit_version(prefix, file_len, outside) {
            damage.push(
                Damage::new(Code::RegionVoxedit, Span::new(0, 4), "first four bytes")
                    .found(Value::Number(digit.into())),
            );
            return None;
        }
        let mut cursor = Cursor::new(prefix);
        let all = cursor.span();
        let (Ok(magic), Ok(version)) = (cursor.array::<4>(), cursor.u8()) else {
            damage.push(
                Damage::new(Code::RegionHeaderCut, all, "file")
                    .expected(Value::AtLeast(5))
                    .found(Value::Number(file_len)),
            );
            return None;
        };
        if magic != MAGIC {
            damage.push(
                Damage::new(Code::RegionNotRegion, Span::new(0, 4), "first four bytes")
                    .expected(Value::Words("VXR_ (0x5658525f)"))
                    .found(Value::Hex32(u32::from_be_bytes(magic))),
            );
            return None;
        }
        let header = match version {
            3 => decode_v3(cursor, file_len, outside, damage)?,
            1 | 2 => {
                let Some(format) = outside else {
                    damage.push(
                        Damage::new(Code::RegionFormatUnknown, Span::new(4, 5), "layout of a region of version 1 or 2")
                            .expected(Value::Words("a readable meta.vxrm above the file"))
                            .found(Value::Words("nowhere")),
                    );
                    return None;
                };
                Self::new(version, *format)
            }
            _ => {
                damage.push(
                    Damage::new(Code::RegionVersion, Span::new(4, 5), "version")
                        .expected(Value::Range(1, 3))
                        .found(Value::Number(u64::from(version))),
                );
                return None;
            }
        };
        if header.table.end > file_len {
            let bare = version == 3 && file_len == header.table.start;
            let code = if bare { Code::RegionNeverStored } else { Code::RegionTableCut };
            damage.push(
                Damage::new(code, Span::new(header.table.start, file_len), "table of blocks")
                    .expected(Value::Bytes(header.table.len()))
                    .found(Value::Bytes(file_len.saturating_sub(header.table.start))),
            );
        }
        Some(header)
    }

    /// Encodes the header, up to where the table begins, and appends it to `out`.
    ///
    /// # Errors
    /// [`Unfit`] when a size does not fit its field. `out` is then as it was.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), Unfit> {
        let version = [&MAGIC[..], &[self.version]].concat();
        if self.version < 3 {
            out.extend_from_slice(&version);
            return Ok(());
        }
        let [x, y, z] = self.format.region_size.map(u8::try_from);
        let (Ok(x), Ok(y), Ok(z), Ok(sector_size)) = (x, y, z, u16::try_from(self.format.sector_size)) else {
            return Err(Unfit);
        };
        out.extend_from_slice(&version);
        out.extend_from_slice(&[self.format.block_size_po2, x, y, z]);
        out.extend(self.format.depths.map(Depth::code));
        out.extend_from_slice(&sector_size.to_le_bytes());
        out.push(if self.palette.is_some() { 0xff } else { 0 });
        out.extend_from_slice(self.palette.as_deref().unwrap_or_default());
        Ok(())
    }

    /// A header of `version` for `format`, without a palette.
    #[must_use]
    pub fn new(version: u8, format: Format) -> Self {
        let start = if version >= 3 { HEADER_BYTES } else { 5 };
        Self { version, format, palette: None, table: table(start, &format), byte_order: ByteOrder::Little }
    }

    /// The same header for another format, with the table where that has it.
    #[must_use]
    pub fn with_format(&self, format: Format) -> Self {
        Self { format, table: table(self.table.start, &format), ..self.clone() }
    }

    /// A header of version 3 with a palette of 256 x RGBA8.
    #[must_use]
    pub fn with_palette(format: Format, palette: [u8; 1024]) -> Self {
        let start = HEADER_BYTES.saturating_add(PALETTE_BYTES);
        Self { palette: Some(palette.into()), table: table(start, &format), ..Self::new(3, format) }
    }
}

/// The name of the file of a region.
#[must_use]
pub fn name_of(position: [i32; 3]) -> String {
    let [x, y, z] = position;
    format!("r.{x}.{y}.{z}.vxr")
}

fn table(start: u64, format: &Format) -> Span {
    Span::sized(start, u64::from(format.table_len()).saturating_mul(4))
}

fn decode_v3(
    mut cursor: Cursor<'_>,
    file_len: u64,
    outside: Option<&Format>,
    damage: &mut Vec<Damage>,
) -> Option<Header> {
    let Ok([po2, rx, ry, rz, d0, d1, d2, d3, d4, d5, d6, d7, s0, s1, hint]) = cursor.array() else {
        damage.push(
            Damage::new(Code::RegionHeaderCut, Span::new(0, file_len), "header")
                .expected(Value::Bytes(HEADER_BYTES))
                .found(Value::Bytes(file_len)),
        );
        return None;
    };
    let mut fields = Fields { outside, damage, usable: true };
    let format = Format {
        block_size_po2: fields.block_size(po2),
        region_size: fields.region_size([rx, ry, rz]),
        depths: fields.depths([d0, d1, d2, d3, d4, d5, d6, d7]),
        sector_size: fields.sector_size(u16::from_le_bytes([s0, s1])),
    };
    if !fields.usable {
        return None;
    }
    let mut start = HEADER_BYTES;
    let mut palette = None;
    if hint == 0xff {
        start = start.saturating_add(PALETTE_BYTES);
        match cursor.array::<1024>() {
            Ok(colours) => palette = Some(colours.into()),
            Err(_) => {
                damage.push(
                    Damage::new(Code::RegionHeaderCut, Span::new(HEADER_BYTES, file_len), "palette")
                        .expected(Value::Bytes(PALETTE_BYTES))
                        .found(Value::Bytes(file_len.saturating_sub(HEADER_BYTES))),
                );
                return None;
            }
        }
    } else if hint != 0 {
        damage.push(
            Damage::new(Code::RegionPalette, Span::new(19, 20), "palette byte")
                .expected(Value::Words("0x00 or 0xff"))
                .found(Value::Hex8(hint)),
        );
    }
    Some(Header { palette, table: table(start, &format), ..Header::new(3, format) })
}

/// Checks the header's fields one by one, and replaces invalid ones by those of the meta file, if it has them.
struct Fields<'d> {
    outside: Option<&'d Format>,
    damage: &'d mut Vec<Damage>,
    /// False once a field that is needed to locate blocks has no value.
    usable: bool,
}

impl Fields<'_> {
    fn fallback<T: Default>(&mut self, take: impl Fn(&Format) -> T) -> T {
        if self.outside.is_none() {
            self.usable = false;
        }
        self.outside.map(take).unwrap_or_default()
    }

    fn block_size(&mut self, po2: u8) -> u8 {
        if BLOCK_SIZE_PO2.contains(&po2) {
            return po2;
        }
        self.damage.push(
            Damage::new(Code::RegionBlockSize, Span::new(5, 6), "block size (power of two)")
                .expected(Value::Range(1, 8))
                .found(Value::Number(u64::from(po2))),
        );
        // Blocks of version 2 and later store their own size, so an unknown region size does not prevent reading.
        self.outside.map_or(0, |format| format.block_size_po2)
    }

    fn region_size(&mut self, size: [u8; 3]) -> [u16; 3] {
        let size = size.map(u16::from);
        if !size.contains(&0) {
            return size;
        }
        self.damage.push(
            Damage::new(Code::RegionSize, Span::new(6, 9), "region size in blocks")
                .expected(Value::Words("1 to 255 along each axis"))
                .found(Value::triple(size)),
        );
        self.fallback(|format| format.region_size)
    }

    fn depths(&mut self, codes: [u8; CHANNELS]) -> [Depth; CHANNELS] {
        let mut depths = [Depth::default(); CHANNELS];
        for ((i, code), depth) in (0u64..).zip(codes).zip(&mut depths) {
            if let Some(known) = Depth::from_code(code) {
                *depth = known;
                continue;
            }
            self.damage.push(
                Damage::new(Code::RegionDepth, Span::sized(i.saturating_add(9), 1), "depth of a channel")
                    .expected(Value::Range(0, 3))
                    .found(Value::Number(u64::from(code))),
            );
            let other = self.outside.and_then(|format| format.depths.get(crate::bytes::index(i)));
            *depth = other.copied().unwrap_or_default();
        }
        depths
    }

    fn sector_size(&mut self, size: u16) -> u32 {
        if size > 0 {
            return u32::from(size);
        }
        self.damage.push(
            Damage::new(Code::RegionSectorSize, Span::new(17, 19), "sector size")
                .expected(Value::Range(1, 65535))
                .found(Value::Number(0)),
        );
        self.fallback(|format| format.sector_size)
    }
}

/// An entry of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Entry(pub u32);

impl Entry {
    /// The entry of `count` sectors from `first` on. Only the lower 24 bits of `first` are kept.
    #[must_use]
    pub const fn new(first: u32, count: u8) -> Self {
        let [c, ..] = [count];
        let [f0, f1, f2, _] = first.to_le_bytes();
        Self(u32::from_le_bytes([c, f0, f1, f2]))
    }

    /// Whether there is a block.
    #[must_use]
    pub const fn is_used(self) -> bool {
        self.0 != 0
    }

    /// Sectors of the block.
    #[must_use]
    pub const fn count(self) -> u8 {
        let [count, ..] = self.0.to_le_bytes();
        count
    }

    /// First sector of the block.
    #[must_use]
    pub const fn first(self) -> u32 {
        self.0 >> 8
    }

    /// The sector just past the block's last.
    #[must_use]
    pub fn end(self) -> u32 {
        self.first().saturating_add(u32::from(self.count()))
    }
}

/// Sectors of a block of `size` bytes, including its size prefix of four bytes.
#[must_use]
pub fn sectors_for(size: u64, sector_size: u32) -> u64 {
    size.saturating_add(4).div_ceil(u64::from(sector_size).max(1))
}

#[cfg(test)]
mod tests;
