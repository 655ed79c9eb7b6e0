//! The kinds of damage of a pak region.
//!
//! Not among them, because nothing in the file can tell: two records swapped (a chunk does not say where it belongs), a
//! record that is absent (most are), zeros behind the last stream that are missing (the last block need not be padded).

use voxscope::bytes::Span;
use voxscope::damage::{Code, Space};
use voxscope::pak::offset::Reading;
use voxscope::pak::payload::encode;

use super::pak::{Chunk, Pak};
use super::{Case, Dice, Kind, Place, spliced};

pub(super) const ALL: [Kind<Pak>; 25] = [
    Kind { name: "header_cut", apply: header_cut },
    Kind { name: "version_unknown", apply: version_unknown },
    Kind { name: "record_count_impossible", apply: record_count_impossible },
    Kind { name: "first_block_negative", apply: first_block_negative },
    Kind { name: "first_block_in_the_header", apply: first_block_in_the_header },
    Kind { name: "records_cut", apply: records_cut },
    Kind { name: "file_cut", apply: file_cut },
    Kind { name: "record_offset_negative", apply: record_offset_negative },
    Kind { name: "record_beyond_the_end", apply: record_beyond_the_end },
    Kind { name: "record_doubled", apply: record_doubled },
    Kind { name: "record_moved", apply: record_moved },
    Kind { name: "record_blocks_impossible", apply: record_blocks_impossible },
    Kind { name: "record_blocks_too_many", apply: record_blocks_too_many },
    Kind { name: "length_impossible", apply: length_impossible },
    Kind { name: "length_too_large_for_the_blocks", apply: length_too_large },
    Kind { name: "length_too_small", apply: length_too_small },
    Kind { name: "length_one_too_large", apply: length_one_too_large },
    Kind { name: "stream_header_changed", apply: stream_header_changed },
    Kind { name: "stream_checksum_changed", apply: stream_checksum_changed },
    Kind { name: "stream_block_type_changed", apply: stream_block_type_changed },
    Kind { name: "stream_empty", apply: stream_empty },
    Kind { name: "shape_of_no_chunk", apply: shape_of_no_chunk },
    Kind { name: "block_lost", apply: block_lost },
    Kind { name: "block_doubled", apply: block_doubled },
    Kind { name: "block_zeroed", apply: block_zeroed },
];

fn at(bytes: Vec<u8>, code: Code, start: usize, end: usize) -> Option<Case> {
    Some(Case::at(bytes, code, Space::File, start, end))
}

/// Something about a chunk, which is named by its place where it has one.
fn of(case: Option<Case>, chunk: &Chunk) -> Option<Case> {
    Some(match chunk.position {
        Some(position) => case?.of_block(position),
        None => case?,
    })
}

fn chunk<'p>(pak: &'p Pak, dice: &mut Dice) -> Option<(usize, &'p Chunk)> {
    let n = dice.below(pak.chunks.len());
    pak.chunks.get(n).map(|chunk| (n, chunk))
}

fn with_i16(bytes: Vec<u8>, field: usize, n: i16) -> Vec<u8> {
    spliced(bytes, field..field + 2, &n.to_le_bytes())
}

fn with_i32(bytes: Vec<u8>, field: usize, n: i32) -> Vec<u8> {
    spliced(bytes, field..field + 4, &n.to_le_bytes())
}

fn header_cut(_: &Pak, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let end = dice.below(16);
    bytes.truncate(end);
    at(bytes, Code::PakHeaderCut, 0, end)
}

fn version_unknown(_: &Pak, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let version = dice.one(&[0, 5, 8, -1, i32::MAX, i32::MIN])?;
    at(with_i32(bytes, 4, version), Code::PakVersion, 4, 8)
}

fn record_count_impossible(_: &Pak, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let count = dice.one(&[0, -1, 32_769, i32::MAX, i32::MIN])?;
    at(with_i32(bytes, 8, count), Code::PakRecordCount, 8, 12)
}

fn first_block_negative(_: &Pak, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let first = dice.one(&[-1, -4096, i32::MIN])?;
    at(with_i32(bytes, 12, first), Code::PakFirstBlock, 12, 16)
}

/// The data of the first chunk begins in the header.
fn first_block_in_the_header(pak: &Pak, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let chunk = pak.chunks.first()?;
    let most = if pak.reading == Reading::Bytes { 16 + 8 * pak.records } else { pak.data() / 4096 };
    let record = pak.record(chunk.number);
    let bytes = with_i32(bytes, 12, dice.below(most) as i32);
    of(at(bytes, Code::PakInHeader, record, record + 8), chunk)
}

fn records_cut(pak: &Pak, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let end = dice.within(16, 16 + 8 * pak.records - 1);
    bytes.truncate(end);
    at(bytes, Code::PakRecordsCut, 16, end)
}

/// The file ends inside the last stream.
fn file_cut(pak: &Pak, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let chunk = pak.chunks.last()?;
    let (start, record) = (pak.data(), pak.record(chunk.number));
    bytes.truncate(dice.within(start, pak.block(chunk.first) + chunk.stream.len() - 1));
    of(at(bytes, Code::PakBeyondEnd, record, record + 8), chunk)
}

fn record_offset_negative(pak: &Pak, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (_, chunk) = chunk(pak, dice)?;
    let field = pak.record(chunk.number);
    // -1 says that there is no chunk, which nothing contradicts.
    let bytes = with_i16(bytes, field, dice.one(&[-2, -100, i16::MIN])?);
    of(at(bytes, Code::PakRecordOffset, field, field + 2), chunk)
}

fn record_beyond_the_end(pak: &Pak, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (_, chunk) = chunk(pak, dice)?;
    let field = pak.record(chunk.number);
    let first = dice.one(&[pak.blocks() as i16, pak.blocks() as i16 + 1, 5000, i16::MAX])?;
    of(at(with_i16(bytes, field, first), Code::PakBeyondEnd, field, field + 8), chunk)
}

fn record_doubled(pak: &Pak, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (_, chunk) = chunk(pak, dice)?;
    let other = dice.below(pak.records);
    if other == chunk.number {
        return None;
    }
    let (from, to) = (pak.record(chunk.number), pak.record(other));
    let record = bytes[from..from + 8].to_vec();
    let span = pak.span(chunk.first, chunk.blocks);
    at(spliced(bytes, to..to + 8, &record), Code::PakOverlap, span.start as usize, span.end as usize)
}

/// At the blocks of others, or beyond the end: there are as many blocks as the chunks have.
fn record_moved(pak: &Pak, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (_, chunk) = chunk(pak, dice)?;
    let first = dice.below(pak.blocks());
    if first == chunk.first {
        return None;
    }
    let bytes = with_i16(bytes, pak.record(chunk.number), first as i16);
    if pak.chunks.len() == 1 {
        // Inside its own blocks it is no stream that would begin there.
        return Some(Case::of(bytes, &[], Place::Anywhere));
    }
    Some(Case::of(bytes, &[Code::PakOverlap, Code::PakBeyondEnd, Code::PakZlib], Place::Anywhere))
}

fn record_blocks_impossible(pak: &Pak, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (_, chunk) = chunk(pak, dice)?;
    let field = pak.record(chunk.number) + 2;
    let bytes = with_i16(bytes, field, dice.one(&[0, -1, i16::MIN])?);
    of(at(bytes, Code::PakRecordBlocks, field, field + 2), chunk)
}

/// The blocks of the next chunk as well.
fn record_blocks_too_many(pak: &Pak, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (n, chunk) = chunk(pak, dice)?;
    let next = pak.chunks.get(n + 1)?;
    let more = dice.within(1, next.blocks);
    let bytes = with_i16(bytes, pak.record(chunk.number) + 2, (chunk.blocks + more) as i16);
    let span = pak.span(next.first, more);
    of(at(bytes, Code::PakOverlap, span.start as usize, span.end as usize), next)
}

fn with_length(pak: &Pak, bytes: Vec<u8>, chunk: &Chunk, length: i32) -> Vec<u8> {
    with_i32(bytes, pak.record(chunk.number) + 4, length)
}

fn length_impossible(pak: &Pak, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (_, chunk) = chunk(pak, dice)?;
    let field = pak.record(chunk.number) + 4;
    let bytes = with_length(pak, bytes, chunk, dice.one(&[0, -1, i32::MIN])?);
    of(at(bytes, Code::PakFileLength, field, field + 4), chunk)
}

fn length_too_large(pak: &Pak, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (_, chunk) = chunk(pak, dice)?;
    let field = pak.record(chunk.number) + 4;
    let room = chunk.blocks as i32 * 4096;
    let bytes = with_length(pak, bytes, chunk, dice.one(&[room + 1, room + 5000, i32::MAX])?);
    of(at(bytes, Code::PakFileLength, field, field + 4), chunk)
}

fn length_too_small(pak: &Pak, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (_, chunk) = chunk(pak, dice)?;
    let length = dice.within(1, chunk.stream.len() - 1);
    let start = pak.block(chunk.first);
    let bytes = with_length(pak, bytes, chunk, length as i32);
    of(at(bytes, Code::PakZlibCut, start, start + length), chunk)
}

fn length_one_too_large(pak: &Pak, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (_, chunk) = chunk(pak, dice)?;
    let room = chunk.blocks * 4096;
    if chunk.stream.len() == room {
        return None;
    }
    let length = dice.within(chunk.stream.len() + 1, room);
    let start = pak.block(chunk.first);
    let bytes = with_length(pak, bytes, chunk, length as i32);
    of(at(bytes, Code::PakZlibTrailing, start + chunk.stream.len(), start + length), chunk)
}

/// The first stored byte of a chunk, and where its stream ends.
fn stream(pak: &Pak, chunk: &Chunk) -> (usize, usize) {
    let start = pak.block(chunk.first);
    (start, start + chunk.stream.len())
}

fn in_stream(pak: &Pak, bytes: Vec<u8>, code: Code, chunk: &Chunk) -> Option<Case> {
    let (start, end) = stream(pak, chunk);
    of(Some(Case::of(bytes, &[code], Place::Touching(Span::new(start as u64, end as u64)))), chunk)
}

fn stream_header_changed(pak: &Pak, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (_, chunk) = chunk(pak, dice)?;
    let (start, _) = stream(pak, chunk);
    // Another compression method than deflate, or two bytes that are no multiple of 31.
    bytes[start] = if dice.below(2) == 0 { 0x79 } else { 0x78 ^ 0x80 };
    in_stream(pak, bytes, Code::PakZlib, chunk)
}

fn stream_checksum_changed(pak: &Pak, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (_, chunk) = chunk(pak, dice)?;
    let (_, end) = stream(pak, chunk);
    bytes[end - 1 - dice.below(4)] ^= dice.within(1, 255) as u8;
    of(at(bytes, Code::PakZlibChecksum, end - 4, end), chunk)
}

fn stream_block_type_changed(pak: &Pak, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (_, chunk) = chunk(pak, dice)?;
    let (start, _) = stream(pak, chunk);
    // The type 3 of a deflate block does not exist.
    bytes[start + 2] |= 0b110;
    in_stream(pak, bytes, Code::PakZlib, chunk)
}

/// The file with another stream, as long as it takes no more blocks.
fn with_stream(pak: &Pak, bytes: Vec<u8>, chunk: &Chunk, stream: &[u8]) -> Option<Vec<u8>> {
    let start = pak.block(chunk.first);
    let room = chunk.blocks * 4096;
    let mut padded = stream.to_vec();
    padded.resize(room, 0);
    let bytes = spliced(bytes, start..start + room, &padded);
    (stream.len() <= room).then(|| with_length(pak, bytes, chunk, stream.len() as i32))
}

fn stream_empty(pak: &Pak, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (_, chunk) = chunk(pak, dice)?;
    let bytes = with_stream(pak, bytes, chunk, &encode(&[]))?;
    of(Some(Case::at(bytes, Code::PakShape, Space::Block, 0, 0)), chunk)
}

fn shape_of_no_chunk(pak: &Pak, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (_, chunk) = chunk(pak, dice)?;
    // 32,768 times 1, 2, 4 or 8, or 256 times a multiple of 16: no odd number.
    let len = 1 + 2 * dice.below(5000);
    let bytes = with_stream(pak, bytes, chunk, &encode(&vec![chunk.salt; len]))?;
    of(Some(Case::at(bytes, Code::PakShape, Space::Block, 0, len)), chunk)
}

/// A block less: the last chunk is no longer all there.
fn block_lost(pak: &Pak, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let chunk = pak.chunks.last()?;
    let lost = dice.below(pak.blocks());
    let bytes = spliced(bytes, pak.block(lost)..pak.block(lost + 1), &[]);
    let record = pak.record(chunk.number);
    of(at(bytes, Code::PakBeyondEnd, record, record + 8), chunk)
}

/// A block twice: the chunk behind it begins a block later than its record says.
fn block_doubled(pak: &Pak, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (n, chunk) = chunk(pak, dice)?;
    let next = pak.chunks.get(n + 1)?;
    let (start, end) = (pak.block(chunk.first), pak.block(chunk.first + 1));
    let twice = bytes[start..end].to_vec();
    // A chunk of one block would be there twice, as whole as it was: whose it is, nothing tells, but its length.
    if chunk.stream.len() == next.stream.len() {
        return None;
    }
    of(Some(Case::of(spliced(bytes, start..start, &twice), &[], Place::Anywhere)), next)
}

fn block_zeroed(pak: &Pak, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (_, chunk) = chunk(pak, dice)?;
    let start = pak.block(chunk.first);
    bytes[start..start + 4096].fill(0);
    in_stream(pak, bytes, Code::PakZlib, chunk)
}
