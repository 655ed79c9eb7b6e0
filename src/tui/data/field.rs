//! The field that a byte is part of: of the file, or of a decompressed block.

use super::block::BlockData;
use super::opened::{Opened, Part, Store};
pub use super::window::{Field, Window};
use crate::bytes::{Span, index};
use crate::godot::channel::{CHANNELS, NAMES, Storage, TYPE};
use crate::pak::BLOCK_BYTES;
use crate::picture::palette::Palette;
use crate::printable::{printable, triple};
use crate::voxel_map::flags;
use crate::voxel_map::npy::{Dtype, Npy};

/// The field of a file that a byte is part of. `block` is the block that has the byte, where it has been read.
#[must_use]
pub fn field_in_file(
    opened: &Opened,
    part: Part,
    block: Option<&BlockData>,
    at: u64,
    window: Window<'_>,
) -> Option<Field> {
    match &opened.store {
        Store::Region(..) => region(opened, block, at, window),
        Store::Pak(_) => pak(opened, at, window),
        Store::Stream(stream) => super::page::field(opened, stream, block, at, window),
        Store::Layer(..) => layer(opened, part, at, window),
        Store::Bytes(_) => match &opened.bare_array {
            Some(npy) => bare_array(npy, at, window),
            None => text(at, window),
        },
    }
}

/// Fixed fields: name, bytes.
fn fixed(fields: &[(&str, u64)], at: u64, window: Window<'_>) -> Option<Field> {
    let mut start = 0;
    for (name, len) in fields {
        if (start..start + len).contains(&at) {
            return Some(Field::new(start, *len, *name, window.said(start, *len)));
        }
        start += len;
    }
    None
}

fn region(opened: &Opened, block: Option<&BlockData>, at: u64, window: Window<'_>) -> Option<Field> {
    let region = opened.region()?;
    let header = &region.header;
    if at < 4 {
        let text = window.get(0, 4).map(|bytes| printable(&String::from_utf8_lossy(bytes)));
        return Some(Field::new(0, 4, "magic", text.unwrap_or_default()));
    }
    if at < header.table.start {
        if at >= 20 {
            let entry = (at - 20) / 4;
            let rgba = window.get(20 + entry * 4, 4).map(|bytes| format!("{bytes:?} (red, green, blue, alpha)"));
            return Some(Field::new(20 + entry * 4, 4, format!("palette entry {entry}"), rgba.unwrap_or_default()));
        }
        const DEPTHS: [&str; CHANNELS] = [
            "depth of channel 0 (TYPE)",
            "depth of channel 1 (SDF)",
            "depth of channel 2 (COLOR)",
            "depth of channel 3 (INDICES)",
            "depth of channel 4 (WEIGHTS)",
            "depth of channel 5 (DATA5)",
            "depth of channel 6 (DATA6)",
            "depth of channel 7 (DATA7)",
        ];
        let mut fields = vec![("magic", 4), ("version", 1), ("block size, as a power of two", 1)];
        fields.extend([("region size x", 1), ("region size y", 1), ("region size z", 1)]);
        fields.extend(DEPTHS.map(|name| (name, 1)));
        fields.extend([("sector size", 2), ("palette follows (0xff) or not (0x00)", 1)]);
        return fixed(&fields, at, window);
    }
    if at < header.table.end {
        let slot = (at - header.table.start) / 4;
        let start = header.table.start + slot * 4;
        let position = u32::try_from(slot).ok().and_then(|slot| match &opened.store {
            Store::Region(region, formula) => region.block_position(slot, *formula),
            _ => None,
        });
        let position = position.map_or_else(String::new, |at| format!(", block {}", triple(at)));
        let value = window.number(start, 4).map_or_else(String::new, |n| match n {
            0 => "no block".to_owned(),
            n => format!("{} sectors from sector {} on", n & 0xff, n >> 8),
        });
        return Some(Field::new(start, 4, format!("table entry {slot}{position}"), value));
    }
    let block = block?;
    let stored = block.stored;
    if !(stored.start..stored.end).contains(&at) {
        let sectors = opened.sector_span(block.slot.first, block.slot.count);
        let inside = (sectors.start..sectors.end).contains(&at);
        return inside.then(|| Field {
            span: Span::new(stored.end, sectors.end),
            name: "rest of the block's last sector".into(),
            value: "old bytes, normal".into(),
        });
    }
    if at < stored.start + 4 {
        return Some(Field::new(stored.start, 4, "size before the block", window.said(stored.start, 4)));
    }
    let start = stored.start + 4;
    let body = block.body;
    if at < body.start {
        let size_at = body.start.saturating_sub(4).max(start);
        if at < size_at {
            let mode = block.container.unwrap_or("unknown");
            return Some(Field::new(start, 1, "container mode", format!("{} ({mode})", window.said(start, 1))));
        }
        let declared = block.declared.map_or_else(String::new, |n| n.to_string());
        return Some(Field { span: Span::new(size_at, body.start), name: "decompressed size".into(), value: declared });
    }
    let mode = block.container.unwrap_or("unknown");
    Some(Field {
        span: Span::new(body.start, stored.end),
        name: format!("block data, {mode}"),
        value: "b shows it decompressed".into(),
    })
}

fn pak(opened: &Opened, at: u64, window: Window<'_>) -> Option<Field> {
    let Store::Pak(pak) = &opened.store else { return None };
    if at < 16 {
        let start = at / 4 * 4;
        let name = ["tag", "version_number", "record_count", "first_block_offset"];
        let value = if start == 0 {
            window.get(0, 4).map(|bytes| printable(&String::from_utf8_lossy(bytes))).unwrap_or_default()
        } else {
            window.signed(start, 4)
        };
        return Some(Field::new(start, 4, *name.get(index(start / 4))?, value));
    }
    let records = pak.header.record_span();
    if (records.start..records.end).contains(&at) {
        let number = (at - records.start) / 8;
        let start = records.start + number * 8;
        let chunk = u32::try_from(number).ok().and_then(|number| pak.chunk(number));
        let chunk = chunk.map_or_else(String::new, |at| format!(", chunk {}", triple(at)));
        let (from, len, name) = match at - start {
            0 | 1 => (start, 2, "block_offset"),
            2 | 3 => (start + 2, 2, "block_length"),
            _ => (start + 4, 4, "file_length"),
        };
        return Some(Field::new(from, len, format!("record {number}{chunk}: {name}"), window.signed(from, len)));
    }
    let sector = at / BLOCK_BYTES;
    let slot = opened.slots.iter().find(|slot| slot.has_sector(sector))?;
    let record = *pak.records.get(index(slot.slot.into()))?;
    let stored = pak.locate(slot.slot, record, &mut Vec::new())?.stored;
    if !(stored.start..stored.end).contains(&at) {
        let value = "not part of the chunk";
        return Some(Field {
            span: Span::new(stored.end, (slot.first + slot.count) * BLOCK_BYTES),
            name: "rest of the chunk's last block".into(),
            value: value.into(),
        });
    }
    if at < stored.start + 2 {
        return Some(Field::new(stored.start, 2, "zlib header", window.said(stored.start, 2)));
    }
    Some(Field {
        span: Span::new(stored.start + 2, stored.end),
        name: "zlib stream of the chunk".into(),
        value: "b shows it decompressed".into(),
    })
}

fn layer(opened: &Opened, part: Part, at: u64, window: Window<'_>) -> Option<Field> {
    let grid = opened.grid()?;
    let array = match part {
        Part::Depth => grid.depth.as_ref()?,
        Part::Index => {
            return Some(Field::new(at / 4 * 4, 4, "number of the index", window.signed(at / 4 * 4, 4)))
                .filter(|_| at >= 128);
        }
        Part::Data | Part::Map => grid.data.as_ref()?,
    };
    if at < array.npy.data.start {
        return Some(array_header(&array.npy, at, window));
    }
    let (place, start, size) = number_at(&array.npy, at)?;
    let bytes = window.get(start, size);
    if part == Part::Depth {
        let value =
            bytes.and_then(|bytes| array.npy.floats(bytes).next()).map_or_else(String::new, |n| format!("{n} m"));
        let column = array
            .npy
            .shape
            .last()
            .filter(|&&z| z > 0)
            .map(|z| format!("depth at column ({}, {})", place / z, place % z));
        return Some(Field::new(start, size, column.unwrap_or_else(|| "depth".into()), value));
    }
    let cell = grid.cell_at(place).map_or_else(|| "voxel".to_owned(), |cell| format!("voxel {}", triple(cell)));
    let bits = bytes.and_then(|bytes| array.npy.bits(bytes).next());
    let value = bits.map_or_else(String::new, |bits| {
        let names: Vec<&str> = flags::names(grid.flags(bits)).map(|flag| flag.name).collect();
        format!("{bits:#x} {}", names.join(" "))
    });
    Some(Field::new(start, size, cell, value))
}

/// A field of the header of an array.
fn array_header(npy: &Npy, at: u64, window: Window<'_>) -> Field {
    // The length of the header has 2 bytes in version 1 and 4 in later ones.
    let len = if npy.version < 2 { 2 } else { 4 };
    match at {
        0..6 => Field::new(0, 6, "magic of NumPy", ""),
        6..8 => Field::new(6, 2, "version, major and minor", npy.version.to_string()),
        _ if at < 8 + len => Field::new(8, len, "length of the header", window.said(8, len)),
        _ => Field {
            span: Span::new(8 + len, npy.data.start),
            name: "header: dtype, order, shape".into(),
            value: String::new(),
        },
    }
}

/// The number of an array that a byte is part of: its place in the order of the file, its first byte and its bytes. `None` outside the
/// data.
fn number_at(npy: &Npy, at: u64) -> Option<(u64, u64, u64)> {
    let (data, size) = (npy.data, npy.dtype.size().max(1));
    let place = at.checked_sub(data.start)? / size;
    (at < data.end).then(|| (place, data.start + place * size, size))
}

/// Of an array that is no part of a map: the field of its header, or the number with its indices.
fn bare_array(npy: &Npy, at: u64, window: Window<'_>) -> Option<Field> {
    if at < npy.data.start {
        return Some(array_header(npy, at, window));
    }
    let (place, start, size) = number_at(npy, at)?;
    let indices = npy.indices(place)?;
    let indices: Vec<String> = indices.iter().take(npy.shape.len()).map(u64::to_string).collect();
    let bytes = window.get(start, size).unwrap_or_default();
    let value = match npy.dtype {
        Dtype::F32 => npy.floats(bytes).next().map(|n| n.to_string()),
        Dtype::U64 => npy.bits(bytes).next().map(|n| n.to_string()),
        _ => npy.integers(bytes).next().map(|n| n.to_string()),
    };
    Some(Field::new(
        start,
        size,
        format!("{} at [{}]", npy.dtype.name(), indices.join(", ")),
        value.unwrap_or_default(),
    ))
}

/// Of a text: the line.
fn text(at: u64, window: Window<'_>) -> Option<Field> {
    let before = window.bytes.get(..index(at.checked_sub(window.start)?))?;
    let start = before.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    let rest = window.bytes.get(start..)?;
    let len = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
    let line = String::from_utf8_lossy(rest.get(..len)?).trim().chars().take(200).collect::<String>();
    let number = before.iter().filter(|&&b| b == b'\n').count() + 1;
    let start = window.start.saturating_add(u64::try_from(start).ok()?);
    // Without the beginning of the text nobody knows the number of the line.
    let name = if window.start == 0 { format!("line {number}") } else { "line".to_owned() };
    Some(Field::new(start, u64::try_from(len).ok()?.max(1), name, printable(&line)))
}

/// A voxel: its channel and its place in the block.
pub type VoxelAt = (usize, [u32; 3]);

/// The field of a decompressed block that a byte is part of, and the voxel, when it is one's.
#[must_use]
pub fn field_in_block(block: &BlockData, names: &Palette, at: u64) -> Option<(Field, Option<VoxelAt>)> {
    let window = Window { start: 0, bytes: &block.plain };
    for (number, channel) in block.channels.iter().enumerate() {
        let format = channel.span.start.wrapping_sub(1);
        if block.version > 0 && at == format {
            let value = format!("{} bit, {} ({})", channel.bits, channel.storage.name(), window.said(at, 1));
            let name = format!("format of channel {number} ({})", channel.name);
            return Some((Field::new(at, 1, name, value), None));
        }
        if !(channel.span.start..channel.span.end).contains(&at) {
            continue;
        }
        let width = u64::from(channel.bits / 8).max(1);
        let start = channel.span.start + (at - channel.span.start) / width * width;
        let raw = window.number(start, width);
        let mut value = raw.map_or_else(String::new, |raw| format!("{raw} ({raw:#x})"));
        if let Some(words) = raw.and_then(|raw| block.describe_value(number, raw)) {
            value = format!("{value}, {words}");
        }
        if let Some(name) = raw.and_then(|raw| names.name(raw)).filter(|_| number == TYPE && block.version > 0) {
            value = format!("{value} {name}");
        }
        if channel.storage == Storage::Uniform {
            let name = format!("the one value of channel {number} ({})", channel.name);
            return Some((Field::new(start, width, name, value), None));
        }
        let voxel = block.voxel_at(number, start);
        let place = voxel.map_or_else(String::new, |at| format!(", voxel {}", triple(at)));
        let name = format!("channel {number} ({}){place}", channel.name);
        return Some((Field::new(start, width, name, value), voxel.map(|voxel| (number, voxel))));
    }
    if let Some(line) =
        block.metadata.iter().find(|line| line.span.is_some_and(|span| (span.start..span.end).contains(&at)))
    {
        let span = line.span.unwrap_or_default();
        let name = format!("metadata, {} ({})", line.name, line.kind);
        return Some((Field { span, name, value: line.value.clone() }, None));
    }
    if let Some(span) = block.epilogue.filter(|span| (span.start..span.end).contains(&at)) {
        return Some((Field { span, name: "epilogue".into(), value: window.said(span.start, 4) }, None));
    }
    if block.version >= 2 && at < 7 {
        const HEAD: [(&str, u64); 4] =
            [("block version", 1), ("block size x", 2), ("block size y", 2), ("block size z", 2)];
        return fixed(&HEAD, at, window).map(|field| (field, None));
    }
    let channels = block.channels.last().filter(|_| block.channels.len() == NAMES.len()).map(|last| last.span.end);
    let end =
        channels.filter(|&end| block.version > 0 && (end..end + 4).contains(&at) && !block.metadata.is_empty())?;
    Some((Field::new(end, 4, "metadata size", window.said(end, 4)), None))
}
