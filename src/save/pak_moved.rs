//! Pak regions with bytes inserted or missing: from there on, records point past their chunks.
//!
//! A chunk is a zlib stream with a checksum, so it can be found at any byte. A record stores the offset and the length of
//! its chunk. Streams of these lengths that are all shifted by the same number of bytes show where bytes were inserted or
//! cut out, and how many.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::bytes::{Span, index, len64};
use crate::damage::{Code, Damage, Value};
use crate::limits::Limits;
use crate::pak::header::{Header, VERSIONS};
use crate::pak::offset::{self, Reading};
use crate::pak::payload::Decoder;
use crate::pak::place::{CUBE_RECORDS, LAYER_RECORDS};
use crate::pak::record::{self, Record, blocks_for};
use crate::pak::{BLOCK_BYTES, HEADER_BYTES, RECORD_BYTES};
use crate::source::{FileSource, OpenError, Piece, PieceFrom, Restoration, Source};

/// Bytes in which streams are looked for at once.
const CHUNK: usize = 1 << 20;
/// Bytes behind them that the first attempt at a stream may read.
const AHEAD: usize = 1 << 16;
/// Bytes within which the header is looked for.
const HEAD: usize = 1 << 16;
/// The most bytes of a chunk that is looked at.
const LARGEST: u64 = 1 << 22;
/// Decompressed bytes that the search may cost for each byte of the file, and in any case.
const EXPANSION: u64 = 64;
const LEAST_BUDGET: u64 = 64 << 20;
/// Chunks of one length beyond which their places say nothing.
const COMMON: usize = 16;
/// Records behind one that are compared.
const NEXT: usize = 8;
/// A change by so few bytes needs no other record that confirms it.
const NEAR: i64 = 8;
/// The most bytes of a chunk in which the place of a change is searched, and of the change.
const SEARCHED: u64 = 1 << 14;
/// Carriage returns that one chunk can have lost.
const RETURNS: i64 = 2;

/// A record and where its chunk should be.
#[derive(Clone, Copy, Debug)]
struct Listed {
    start: u64,
    len: u64,
}

/// Bytes that were inserted or cut out.
#[derive(Clone, Copy, Debug)]
struct Break {
    /// The restored offset.
    at: u64,
    /// The number of bytes by which everything after it is shifted; negative if bytes are missing.
    change: i64,
    /// Whether they were carriage returns before line feeds.
    returns: bool,
}

/// How the file is read.
#[derive(Debug, Default)]
struct Moved {
    pieces: Vec<Piece>,
    len: u64,
    breaks: Vec<Break>,
}

/// Opens a pak region as it was before bytes were inserted or cut out; returns what is undone.
///
/// # Errors
/// See [`OpenError`].
pub(crate) fn open_pak(
    path: &Path,
    reading: Option<Reading>,
    limits: &Limits,
) -> Result<(FileSource, Vec<Damage>), OpenError> {
    let (source, mut damage) = FileSource::open_restored(path)?;
    let Some(moved) = find(&source, reading, limits)? else { return Ok((source, damage)) };
    let mut restoration = source.restoration().map(|r| Restoration::clone(r)).unwrap_or_default();
    restoration.take_pieces(moved.pieces, moved.len);
    let total: i64 = moved.breaks.iter().map(|b| b.change).sum();
    if moved.breaks.iter().any(|b| b.returns) && moved.breaks.iter().all(|b| (-NEAR..0).contains(&b.change)) {
        if damage.iter().all(|d| d.code != Code::CopyCrlf) {
            let all = Span::sized(0, source.len());
            let damaged = Damage::new(Code::CopyLf, all, "carriage returns missing before line feeds");
            damage.push(damaged.found(Value::Number(total.unsigned_abs())));
        }
    } else {
        for b in &moved.breaks {
            let field =
                if b.change > 0 { "bytes inserted before this offset" } else { "bytes missing before this offset" };
            let damaged = Damage::new(Code::PakShifted, Span::sized(b.at, 1), field);
            damage.push(damaged.found(Value::Number(b.change.unsigned_abs())));
        }
    }
    Ok((source.restored(Some(Arc::new(restoration))), damage))
}

/// Whether a stream can begin so (RFC 1950).
fn is_zlib(head: &[u8]) -> bool {
    matches!(head, [cmf, flg, ..] if cmf & 0x0f == 8 && cmf >> 4 <= 7 && flg & 0x20 == 0
        && u16::from_be_bytes([*cmf, *flg]).is_multiple_of(31))
}

/// Whether a header has numbers that files have.
fn is_plausible(header: &Header) -> bool {
    let known = u32::try_from(header.record_count).is_ok_and(|n| n == LAYER_RECORDS || n == CUBE_RECORDS);
    VERSIONS.contains(&header.version) && known && header.first_block_offset > 0
}

fn find<S: Source>(source: &S, reading: Option<Reading>, limits: &Limits) -> io::Result<Option<Moved>> {
    let mut prefix = Vec::new();
    source.read_into(0, index(HEADER_BYTES), &mut prefix)?;
    let header = Header::decode(&prefix, source.len()).value;
    let mut shift = 0;
    let header = match header {
        Some(header) if is_plausible(&header) => header,
        _ => match find_header(source)? {
            Some((header, at)) => {
                shift = at;
                header
            }
            None => return Ok(None),
        },
    };
    let table = HEADER_BYTES + u64::from(header.record_count.unsigned_abs()) * RECORD_BYTES;
    let mut bytes = vec![0; index(shift.min(0).unsigned_abs())];
    let mut rest = Vec::new();
    source.read_into(shift.max(0).unsigned_abs(), index(table), &mut rest)?;
    bytes.append(&mut rest);
    let listed = |bytes: &[u8]| -> Vec<Listed> {
        let records = bytes.get(index(HEADER_BYTES)..index(table).min(bytes.len())).unwrap_or_default();
        list(&header, &record::decode_all(records).collect::<Vec<_>>(), reading, source.len())
    };
    let mut records = listed(&bytes);
    if shift == 0 && !leads_astray(source, &records)? {
        return Ok(None);
    }
    let streams = find_streams(source, limits)?;
    let mut moved = Moved { len: source.len(), ..Moved::default() };
    moved.begin(shift);
    // A carriage return that is missing within the records moves all that follow it.
    let first = streams.first().map_or(0, |(at, _)| (*at).cast_signed());
    if shift == 0 && (first + 1) % BLOCK_BYTES.cast_signed() == 0 {
        let lengths: HashMap<u64, ()> = streams.iter().map(|(_, len)| (*len, ())).collect();
        let right = |records: &[Listed]| records.iter().filter(|r| lengths.contains_key(&r.len)).count();
        let mut best = (right(&records), None);
        for at in line_feeds(&bytes) {
            let mut with = bytes.clone();
            with.insert(at, b'\r');
            let records = listed(&with);
            if right(&records) > best.0 {
                best = (right(&records), Some((at, records)));
            }
        }
        if let Some((at, with)) = best.1 {
            records = with;
            moved.put_return(at as u64, 0);
            shift = -1;
        }
    }
    let found: HashMap<u64, u64> = streams.iter().copied().collect();
    let runs = runs(&records, &streams, &found, shift);
    // If all chunks are shifted by the same number of whole blocks, the first block in the header is wrong.
    let same = runs.first().is_some_and(|first| {
        first.shift.rem_euclid(BLOCK_BYTES.cast_signed()) == 0 && runs.iter().all(|run| run.shift == first.shift)
    });
    if shift == 0 && moved.breaks.is_empty() && same {
        return Ok(None);
    }
    let mut end = table;
    let (mut from, mut before) = (0, shift);
    for run in runs {
        let (Some(first), Some(last)) = (records.get(run.first), records.get(run.last)) else { continue };
        if run.shift != before {
            let between = records.get(from..run.first).unwrap_or_default();
            moved.change(source, limits, (end, first.start), between, (before, run.shift))?;
        }
        (before, from) = (run.shift, run.last + 1);
        end = last.start + last.len;
    }
    moved.len = source.len().saturating_add_signed(-before);
    Ok((!moved.breaks.is_empty()).then_some(moved))
}

/// Finds the header if bytes were inserted before it or cut off its front, and where it begins.
fn find_header<S: Source>(source: &S) -> io::Result<Option<(Header, i64)>> {
    let mut bytes = Vec::new();
    source.read_into(0, HEAD, &mut bytes)?;
    for (at, words) in bytes.windows(8).enumerate() {
        let number = |i: usize| words.get(i..i + 4).and_then(|w| w.first_chunk()).map_or(0, |w| i32::from_le_bytes(*w));
        let (record_count, first_block_offset) = (number(0), number(4));
        let known = [LAYER_RECORDS, CUBE_RECORDS].into_iter().find(|n| i32::try_from(*n) == Ok(record_count));
        let Some(count) = known else { continue };
        let end = HEADER_BYTES + u64::from(count) * RECORD_BYTES;
        let first = u64::try_from(first_block_offset).unwrap_or(0);
        if ![blocks_for(end), blocks_for(end) * BLOCK_BYTES, end].contains(&first) {
            continue;
        }
        let version = at.checked_sub(4).and_then(|at| bytes.get(at..)?.first_chunk()).map(|w| i32::from_le_bytes(*w));
        if version.is_none_or(|version| VERSIONS.contains(&version)) {
            let tag = at.checked_sub(8).and_then(|at| bytes.get(at..)?.first_chunk()).copied().unwrap_or_default();
            let version = version.unwrap_or(*VERSIONS.end());
            let header = Header { tag, version, record_count, first_block_offset };
            return Ok(Some((header, at as i64 - 8)));
        }
    }
    Ok(None)
}

/// Where the records say that their chunks are, in the order of the file.
fn list(header: &Header, records: &[Record], reading: Option<Reading>, len: u64) -> Vec<Listed> {
    let reading = reading.unwrap_or_else(|| offset::infer(header, records, len).value);
    let mut listed: Vec<Listed> = records
        .iter()
        .filter(|record| !record.is_absent() && record.file_length > 0)
        .filter_map(|record| {
            let start = reading.start(header, record.block_offset)?;
            Some(Listed { start, len: u64::try_from(record.file_length).ok()? })
        })
        .collect();
    listed.sort_by_key(|record| (record.start, record.len));
    listed.dedup_by_key(|record| record.start);
    listed
}

/// Whether a record leads to bytes that begin no stream: behind a few inserted bytes, to the zeros before its chunk.
fn leads_astray<S: Source>(source: &S, records: &[Listed]) -> io::Result<bool> {
    let mut head = [0; 2];
    for record in records {
        if source.read_at(record.start, &mut head)? == 2 && !is_zlib(&head) {
            return Ok(true);
        }
    }
    // Where bytes were cut out, a chunk can be before the end, and the last ones behind it.
    let beyond = records.iter().filter(|record| record.start + record.len > source.len()).count();
    Ok(beyond > 0 && !source.len().is_multiple_of(BLOCK_BYTES))
}

/// The whole streams of a file, at any byte, with their lengths.
fn find_streams<S: Source>(source: &S, limits: &Limits) -> io::Result<Vec<(u64, u64)>> {
    let limits = Limits { block_bytes: limits.block_bytes.min(LARGEST), ..*limits };
    let budget = source.len().saturating_mul(EXPANSION).saturating_add(LEAST_BUDGET);
    let (mut window, mut more, mut decoder) = (Vec::new(), Vec::new(), Decoder::default());
    let (mut found, mut base, mut skip, mut spent) = (Vec::new(), 0u64, 0u64, 0u64);
    while base < source.len() && spent < budget {
        source.read_into(base, CHUNK + AHEAD, &mut window)?;
        let mut at = index(skip.saturating_sub(base));
        while at < window.len().min(CHUNK) && spent < budget {
            let rest = window.get(at..).unwrap_or_default();
            if !is_zlib(rest) {
                at += 1;
                continue;
            }
            let place = base + at as u64;
            let mut whole = None;
            let payload = decoder.decode(rest.get(..AHEAD).unwrap_or(rest), false, &limits).value;
            spent += len64(payload.plain).max(1 << 8);
            if payload.whole {
                whole = Some(payload.used);
            } else if !payload.complete && payload.used >= AHEAD as u64 {
                source.read_into(place, index(LARGEST), &mut more)?;
                let payload = decoder.decode(&more, false, &limits).value;
                spent += len64(payload.plain);
                whole = payload.whole.then_some(payload.used);
            }
            match whole {
                Some(len) => {
                    found.push((place, len));
                    at += index(len);
                }
                None => at += 1,
            }
        }
        skip = base + at as u64;
        base += CHUNK as u64;
    }
    Ok(found)
}

/// Consecutive records whose chunks are shifted by the same number of bytes.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: usize,
    last: usize,
    shift: i64,
}

fn runs(records: &[Listed], streams: &[(u64, u64)], found: &HashMap<u64, u64>, shift: i64) -> Vec<Run> {
    let mut by_len: HashMap<u64, Vec<u64>> = HashMap::new();
    for (at, len) in streams {
        by_len.entry(*len).or_default().push(*at);
    }
    let is_at = |record: &Listed, shift: i64| {
        record.start.checked_add_signed(shift).and_then(|at| found.get(&at)) == Some(&record.len)
    };
    let (mut runs, mut shift, mut end): (Vec<Run>, i64, u64) = (Vec::new(), shift, 0);
    for (i, record) in records.iter().enumerate() {
        if !is_at(record, shift) {
            let next = records.get(i + 1..).unwrap_or_default();
            let next = next.get(..NEXT).unwrap_or(next);
            let places = by_len.get(&record.len).filter(|places| places.len() <= COMMON);
            let best = places.into_iter().flatten().filter(|at| **at >= end).filter_map(|at| {
                let other = at.cast_signed() - record.start.cast_signed();
                let behind = next.iter().filter(|record| is_at(record, other)).count();
                let here = next.iter().filter(|record| is_at(record, shift)).count();
                // A record that is wrong by itself is so by whole blocks.
                let whole = (other - shift) % BLOCK_BYTES.cast_signed() == 0;
                let sure = behind >= 2 || (other - shift).abs() <= NEAR || (behind == next.len() && !whole);
                (sure && behind >= here).then_some((behind, -(other - shift).abs(), other))
            });
            let Some((.., other)) = best.max() else { continue };
            shift = other;
        }
        end = record.start.saturating_add_signed(shift) + record.len;
        match runs.last_mut() {
            Some(run) if run.shift == shift => run.last = i,
            _ => runs.push(Run { first: i, last: i, shift }),
        }
    }
    runs
}

impl Moved {
    /// Adds the pieces before the first byte.
    fn begin(&mut self, shift: i64) {
        let from = shift.max(0).unsigned_abs();
        let missing = shift.min(0).unsigned_abs();
        if missing > 0 {
            self.pieces.push(Piece { start: 0, from: PieceFrom::Byte(0) });
        }
        self.pieces.push(Piece { start: missing, from: PieceFrom::At(from) });
        if shift != 0 {
            self.breaks.push(Break { at: 0, change: shift, returns: false });
        }
    }

    /// Puts back a carriage return at a restored offset, where bytes are shifted by `shift`.
    fn put_return(&mut self, at: u64, shift: i64) {
        self.pieces.push(Piece { start: at, from: PieceFrom::Byte(b'\r') });
        self.pieces.push(Piece { start: at + 1, from: PieceFrom::At(at.saturating_add_signed(shift)) });
        self.breaks.push(Break { at, change: -1, returns: true });
    }

    /// Undoes a change between the end of a chunk and the start of another one; `between` are the records whose chunks
    /// were not found there. If only one chunk is broken, its checksum proves where in it the change is.
    fn change<S: Source>(
        &mut self,
        source: &S,
        limits: &Limits,
        (end, start): (u64, u64),
        between: &[Listed],
        (before, after): (i64, i64),
    ) -> io::Result<()> {
        let change = after - before;
        let missing = change.min(0).unsigned_abs();
        let mut at = end;
        if let Some(broken) = between.first() {
            let from = broken.start.saturating_add_signed(before);
            let mut bytes = Vec::new();
            let len = broken.len.saturating_add_signed(change);
            source.read_into(from, index(len.min(SEARCHED * 2)), &mut bytes)?;
            let mut decoder = Decoder::default();
            let limits = Limits { block_bytes: limits.block_bytes.min(LARGEST), ..*limits };
            let used = decoder.decode(&bytes, false, &limits).value.used.min(broken.len);
            at = broken.start + used;
            let small = broken.len <= SEARCHED && change.unsigned_abs() <= SEARCHED;
            if between.len() == 1 && small && (-RETURNS..0).contains(&change) {
                if let Some(returns) = find_returns(&bytes, index(missing), &mut decoder, &limits) {
                    for (nth, place) in (0u64..).zip(returns) {
                        let shift = before - nth.cast_signed();
                        self.put_return(broken.start + place as u64 + nth, shift);
                    }
                    return Ok(());
                }
            } else if between.len() == 1
                && small
                && change > 0
                && let Some(cut) =
                    find_inserted(&bytes, (index(used), index(change.unsigned_abs())), &mut decoder, &limits)
            {
                at = broken.start + cut as u64;
            }
        }
        let at = at.min(start.saturating_sub(missing)).max(end.min(start));
        if missing > 0 {
            self.pieces.push(Piece { start: at, from: PieceFrom::Byte(0) });
        }
        let resumed = at + missing;
        self.pieces.push(Piece { start: resumed, from: PieceFrom::At(resumed.saturating_add_signed(after)) });
        self.breaks.push(Break { at, change, returns: false });
        Ok(())
    }
}

/// Where the line feeds are.
fn line_feeds(bytes: &[u8]) -> impl Iterator<Item = usize> + '_ {
    bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at)
}

/// The line feeds of a broken stream that lost the carriage return before them: with those it is whole.
fn find_returns(bytes: &[u8], missing: usize, decoder: &mut Decoder, limits: &Limits) -> Option<Vec<usize>> {
    let feeds: Vec<usize> = line_feeds(bytes).collect();
    let mut with = Vec::with_capacity(bytes.len() + missing);
    let mut is_whole = |places: &[usize]| {
        with.clear();
        let mut from = 0;
        for place in places {
            with.extend_from_slice(bytes.get(from..*place).unwrap_or_default());
            with.push(b'\r');
            from = *place;
        }
        with.extend_from_slice(bytes.get(from..).unwrap_or_default());
        let payload = decoder.decode(&with, false, limits).value;
        payload.whole && payload.used == len64(&with)
    };
    if missing == 1 {
        return feeds.iter().find(|at| is_whole(&[**at])).map(|at| vec![*at]);
    }
    let behind = |i: usize| feeds.get(i + 1..).unwrap_or_default();
    let pairs = feeds.iter().enumerate().flat_map(|(i, a)| behind(i).iter().map(move |b| [*a, *b]));
    pairs.take(4096).find(|pair| is_whole(pair)).map(|pair| pair.to_vec())
}

/// Where bytes were put into a broken stream: without them it is whole. What decodes shows how far it is right at most.
fn find_inserted(
    bytes: &[u8],
    (used, inserted): (usize, usize),
    decoder: &mut Decoder,
    limits: &Limits,
) -> Option<usize> {
    let len = bytes.len().checked_sub(inserted)?;
    let mut without = Vec::with_capacity(len);
    (0..=used.min(len)).rev().find(|at| {
        without.clear();
        without.extend_from_slice(bytes.get(..*at).unwrap_or_default());
        without.extend_from_slice(bytes.get(at + inserted..).unwrap_or_default());
        let payload = decoder.decode(&without, false, limits).value;
        payload.whole && payload.used == len64(&without)
    })
}
