//! Block data: a box of voxels with eight channels.
//!
//! ```text
//! version 1:          8 x (storage u8 · data) · metadata? · epilogue            before 2021-01-30
//! versions 2, 3, 4:   version u8 · size x, y, z u16 · 8 x (format u8 · data) · metadata? · epilogue u32 0x900df00d
//! format:   low half: storage (0 raw, 1 uniform) · high half: depth code
//! metadata: size u32 · the block's item · (x, y, z u16 · item) until the size is used up; see `metadata`
//! ```
//!
//! Source: Godot Voxel's page "Voxel block format". Version 1 has no version byte, size or depths: they come from the
//! region file or the meta file. It is recognised by its first byte, the storage of channel 0, which is 0 or 1.

use crate::bytes::{Cursor, Span, index, len64};
use crate::damage::{Code, Damage, Decoded, Value};
use crate::godot::channel::{CHANNELS, Channel, Depth, Storage, index_zxy};
use crate::godot::metadata::{self, Metadata};
use crate::godot::variant::Dialect;
use crate::limits::Limits;

/// The last four bytes of every block.
pub const EPILOGUE: u32 = 0x900d_f00d;

const FORMAT_FIELDS: [&str; CHANNELS] = [
    "format of channel 0 (TYPE)",
    "format of channel 1 (SDF)",
    "format of channel 2 (COLOR)",
    "format of channel 3 (INDICES)",
    "format of channel 4 (WEIGHTS)",
    "format of channel 5 (DATA5)",
    "format of channel 6 (DATA6)",
    "format of channel 7 (DATA7)",
];

const DATA_FIELDS: [&str; CHANNELS] = [
    "data of channel 0 (TYPE)",
    "data of channel 1 (SDF)",
    "data of channel 2 (COLOR)",
    "data of channel 3 (INDICES)",
    "data of channel 4 (WEIGHTS)",
    "data of channel 5 (DATA5)",
    "data of channel 6 (DATA6)",
    "data of channel 7 (DATA7)",
];

/// The size and depths that the region file or the meta file declares. Version 1 cannot be read without them; later versions
/// are compared with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockLayout {
    /// Voxels along x, y, z.
    pub size: [u16; 3],
    /// Depth of each channel.
    pub depths: [Depth; CHANNELS],
}

/// The content of a block, as far as it could be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Block<'a> {
    /// 1 to 4; 0 when it is none of these.
    pub version: u8,
    /// Voxels along x, y, z.
    pub size: [u16; 3],
    /// The channels that could be located, from the first on.
    pub channels: Vec<Channel<'a>>,
    /// Metadata, when there is any.
    pub metadata: Option<Metadata<'a>>,
    /// The bytes of the epilogue, if it is right.
    pub epilogue: Option<Span>,
}

impl Block<'_> {
    /// Number of voxels.
    #[must_use]
    pub fn volume(&self) -> u64 {
        volume(self.size)
    }

    /// Raw value of a voxel (x, y, z inside the block) in a channel; `None` if the channel does not reach it.
    #[must_use]
    pub fn voxel(&self, channel: usize, position: [u16; 3]) -> Option<u64> {
        self.channels.get(channel)?.value(index_zxy(self.size, position)?)
    }

    /// Number of whole channels before the first one that is not whole.
    #[must_use]
    pub fn whole_channels(&self) -> usize {
        self.channels.iter().take_while(|c| c.is_whole()).count()
    }
}

fn volume(size: [u16; 3]) -> u64 {
    // 65,535 cubed fits 48 bits.
    size.into_iter().map(u64::from).fold(1, u64::saturating_mul)
}

/// Decodes block data as far as possible; spans of damage count bytes of the block.
///
/// `layout` is that of the region; `dialect` overrides the one that the version implies.
pub fn decode<'a>(
    data: &'a [u8],
    layout: Option<&BlockLayout>,
    dialect: Option<Dialect>,
    limits: &Limits,
) -> Decoded<Block<'a>> {
    Decoded::collect(|damage| decode_into(data, layout, dialect, limits, damage))
}

fn decode_into<'a>(
    data: &'a [u8],
    layout: Option<&BlockLayout>,
    dialect: Option<Dialect>,
    limits: &Limits,
    damage: &mut Vec<Damage>,
) -> Block<'a> {
    let from = damage.len();
    let mut reader = Reader { cursor: Cursor::new(data), layout, damage };
    let mut block = Block { version: 0, size: [0; 3], channels: Vec::new(), metadata: None, epilogue: None };
    if reader.header(&mut block) && reader.channels(&mut block) {
        let Reader { cursor, damage, .. } = reader;
        tail(&mut block, cursor, dialect, limits, damage);
    } else {
        // The bytes in between are unknown, but the epilogue can still be checked.
        let at = len64(data).saturating_sub(4);
        block.epilogue = data.ends_with(&EPILOGUE.to_le_bytes()).then(|| Span::sized(at, 4));
    }
    for d in damage.iter_mut().skip(from) {
        *d = d.in_block();
    }
    block
}

struct Reader<'a, 'd> {
    cursor: Cursor<'a>,
    layout: Option<&'d BlockLayout>,
    damage: &'d mut Vec<Damage>,
}

impl<'a> Reader<'a, '_> {
    /// Reads version and size. False if nothing more can be read.
    fn header(&mut self, block: &mut Block<'a>) -> bool {
        let Some(&first) = self.cursor.peek().first() else {
            self.damage.push(Damage::new(Code::BlockHeaderCut, Span::default(), "block data").found(Value::Bytes(0)));
            return false;
        };
        match first {
            0 | 1 => {
                block.version = 1;
                let Some(layout) = self.layout else {
                    self.damage.push(
                        Damage::new(Code::RegionFormatUnknown, Span::default(), "size and depths of the block")
                            .found(Value::Words("nowhere: blocks of version 1 do not carry them")),
                    );
                    return false;
                };
                block.size = layout.size;
            }
            2..=4 => {
                block.version = first;
                let at = self.cursor.offset();
                let read =
                    self.cursor.u8().and_then(|_| Ok([self.cursor.u16()?, self.cursor.u16()?, self.cursor.u16()?]));
                match read {
                    Ok(size) => block.size = size,
                    Err(short) => {
                        self.damage.push(Damage::short(Code::BlockHeaderCut, short, "block size"));
                        return false;
                    }
                }
                self.compare_size(block.size, Span::new(at.saturating_add(1), self.cursor.offset()));
            }
            _ => {
                self.damage.push(
                    Damage::new(Code::BlockVersion, Span::new(0, 1), "block version")
                        .expected(Value::Range(1, 4))
                        .found(Value::Hex8(first)),
                );
                return false;
            }
        }
        if block.size.contains(&0) {
            // The size of version 1 comes from the layout and has no bytes here.
            let span = if block.version == 1 { Span::default() } else { Span::new(1, 7) };
            self.damage.push(Damage::new(Code::BlockSizeZero, span, "block size").found(Value::triple(block.size)));
            return false;
        }
        true
    }

    fn compare_size(&mut self, size: [u16; 3], span: Span) {
        if let Some(layout) = self.layout
            && layout.size != size
            && !size.contains(&0)
        {
            self.damage.push(
                Damage::new(Code::BlockSize, span, "block size")
                    .expected(Value::triple(layout.size))
                    .found(Value::triple(size)),
            );
        }
    }

    /// Reads all eight channels. False if the end of one of them is unknown.
    fn channels(&mut self, block: &mut Block<'a>) -> bool {
        let volume = volume(block.size);
        block.channels.reserve_exact(CHANNELS);
        for ((i, format_field), data_field) in FORMAT_FIELDS.into_iter().enumerate().zip(DATA_FIELDS) {
            let at = self.cursor.offset();
            let format = match self.cursor.u8() {
                Ok(format) => format,
                Err(short) => {
                    self.damage.push(Damage::short(Code::ChannelCut, short, format_field));
                    return false;
                }
            };
            let Some((storage, depth)) = self.format(block.version, i, format, Span::sized(at, 1), format_field) else {
                return false;
            };
            let width = u64::from(depth.bits() / 8);
            let size = match storage {
                Storage::Raw => volume.saturating_mul(width),
                Storage::Uniform => width,
            };
            let offset = self.cursor.offset();
            let (data, short) = match self.cursor.take(index(size)) {
                Ok(data) => (data, None),
                Err(short) => (self.cursor.rest(), Some(short)),
            };
            block.channels.push(Channel { depth, storage, data, offset, size });
            if let Some(short) = short {
                self.damage.push(Damage::short(Code::ChannelCut, short, data_field));
                return false;
            }
        }
        true
    }

    fn format(
        &mut self,
        version: u8,
        channel: usize,
        format: u8,
        span: Span,
        field: &'static str,
    ) -> Option<(Storage, Depth)> {
        let declared = self.layout.and_then(|layout| layout.depths.get(channel)).copied();
        let (storage, depth) = match version {
            1 => (format, Some(declared.unwrap_or_default())),
            _ => (format & 0xf, Depth::from_code(format >> 4)),
        };
        let storage = match storage {
            0 => Some(Storage::Raw),
            1 => Some(Storage::Uniform),
            _ => None,
        };
        let (Some(storage), Some(depth)) = (storage, depth) else {
            let (code, expected) = match storage {
                None => (Code::ChannelStorage, Value::Words("storage 0 (raw) or 1 (uniform)")),
                Some(_) => (Code::ChannelDepth, Value::Words("a depth code of 0 to 3")),
            };
            self.damage.push(Damage::new(code, span, field).expected(expected).found(Value::Hex8(format)));
            return None;
        };
        if let Some(declared) = declared
            && declared != depth
        {
            self.damage.push(
                Damage::new(Code::BlockDepth, span, field)
                    .expected(Value::Words(depth_words(declared)))
                    .found(Value::Words(depth_words(depth))),
            );
        }
        Some((storage, depth))
    }
}

const fn depth_words(depth: Depth) -> &'static str {
    match depth {
        Depth::Bits8 => "8 bit",
        Depth::Bits16 => "16 bit",
        Depth::Bits32 => "32 bit",
        Depth::Bits64 => "64 bit",
    }
}

/// Reads metadata, if more than the epilogue is left, and the epilogue.
fn tail<'a>(
    block: &mut Block<'a>,
    mut cursor: Cursor<'a>,
    dialect: Option<Dialect>,
    limits: &Limits,
    damage: &mut Vec<Damage>,
) {
    let Some(before) = cursor.remaining().checked_sub(4) else {
        let found = Value::Bytes(len64(cursor.peek()));
        damage.push(
            Damage::new(Code::BlockEpilogueMissing, cursor.span(), "epilogue").expected(Value::Bytes(4)).found(found),
        );
        return;
    };
    if before > 0
        && let Ok(scope) = cursor.scope(before)
    {
        block.metadata = Some(metadata::decode(scope, block.version, block.size, dialect, limits, damage));
    }
    let span = cursor.span();
    if let Ok(found) = cursor.u32() {
        if found == EPILOGUE {
            block.epilogue = Some(span);
        } else {
            damage.push(
                Damage::new(Code::BlockEpilogue, span, "epilogue")
                    .expected(Value::Hex32(EPILOGUE))
                    .found(Value::Hex32(found)),
            );
        }
    }
}

/// Encodes a block in its own version and appends it to `out`. Channels that are missing are written as uniform zero
/// of 8 bits; one whose data is short is padded with zeros.
pub fn encode(block: &Block<'_>, out: &mut Vec<u8>) {
    if block.version >= 2 {
        out.push(block.version);
        for n in block.size {
            out.extend_from_slice(&n.to_le_bytes());
        }
    }
    for i in 0..CHANNELS {
        let Some(channel) = block.channels.get(i) else {
            out.extend_from_slice(&[1, 0]);
            continue;
        };
        let storage = match channel.storage {
            Storage::Raw => 0,
            Storage::Uniform => 1,
        };
        let depth = if block.version >= 2 { channel.depth.code() << 4 } else { 0 };
        out.push(storage | depth);
        out.extend_from_slice(channel.data);
        let missing = channel.size.saturating_sub(len64(channel.data));
        out.resize(out.len().saturating_add(index(missing)), 0);
    }
    if let Some(metadata) = &block.metadata {
        metadata::encode(metadata, block.version, out);
    }
    out.extend_from_slice(&EPILOGUE.to_le_bytes());
}

#[cfg(test)]
mod tests;
