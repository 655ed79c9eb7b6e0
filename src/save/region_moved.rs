//! Region files into which bytes were inserted, or out of which bytes were cut: behind them, no block begins at a sector.
//! The table and the size prefixes of the blocks show where, and how many bytes.

use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use crate::bytes::{Span, index};
use crate::damage::{Code, Damage, Value};
use crate::godot::region::{Header, MAX_HEADER_BYTES};
use crate::save::single_block::SingleBlock;
use crate::save::table_fits::{Heads, Place, fits, places, sectors_at};
use crate::save::table_moved::{find_in_table, moved_with_table};
use crate::source::{FileSource, Piece, PieceFrom, Restoration, Source};

/// The first bytes of a region file.
const MAGIC: &[u8] = b"VXR_";

/// Bytes at the start of a file in which its header is looked for.
const START: usize = 1 << 16;

/// Entries that fit before the first break; one may by chance, unless most fit behind it.
const BEFORE: usize = 2;

/// Entries that do not fit, from which on something may have been inserted or cut out.
const BREAK: usize = 3;

/// The most bytes of whole entries that count as inserted into a table or cut out of it; a wrong header field moves sectors further.
const IN_TABLE: i64 = 12;

/// Entries that have to agree on a shift if they are few, and no other shift explains half as many.
const MANY: usize = 6;

/// Misfits for which one entry may fit by chance.
const CHANCE: i64 = 8;

/// Breaks of one file that are followed.
pub(crate) const BREAKS: usize = 8;

/// Beginnings of blocks that are looked for behind a break.
const FOUND: usize = 48;

/// Blocks that have to follow each other where one is believed to begin.
const IN_A_ROW: usize = 4;

/// Bytes behind a break, or behind a header, in which they are looked for.
pub(crate) const REACH: u64 = 4 << 20;

/// A file as it was before bytes were inserted into it or cut out of it, and what is undone.
pub(crate) fn put_back(mut source: FileSource) -> io::Result<(FileSource, Vec<Damage>)> {
    let mut damage = Vec::new();
    let header;
    (source, header) = with_header(source, &mut damage)?;
    let Some(header) = header else { return Ok((source, damage)) };
    if header.format.sector_size == 0 || header.table.end > source.len() || ends_right(&source, &header)? {
        return Ok((source, damage));
    }
    for nth in 0..BREAKS {
        let Some((at, by)) = next_break(&source, &header)? else { break };
        let (before, as_it_is) = (damage.len(), source.restoration().cloned());
        // Where nothing before it fits, it is rather the header that is wrong.
        let known = if nth == 0 && before == 0 { fitting_before(&source, &header, at)? } else { BEFORE };
        let first = header.sectors_at().saturating_add_signed(-by);
        // Where all sectors moved, the change is before them, though not all entries may show it.
        let place = if at <= first || known == 0 { find_in_table(&source, &header, by)? } else { None };
        let in_table = at <= first || place.is_some();
        let at = if in_table { place.unwrap_or(first) } else { at };
        source = shifted(source, at, by, in_table && place.is_none(), &mut damage);
        // A wrong field of the header moves the sectors as well, by whole entries and mostly by more of them.
        let is_header = known == 0 && !(in_table && (by % 4 != 0 || by.abs() <= IN_TABLE));
        if is_header || known < BEFORE && !fits(&source, &header)?.most() {
            source = source.restored(as_it_is);
            damage.truncate(before);
            break;
        }
    }
    Ok((source, damage))
}

/// A file without the bytes that were inserted before its header, and the header.
fn with_header(mut source: FileSource, damage: &mut Vec<Damage>) -> io::Result<(FileSource, Option<Header>)> {
    let mut prefix = Vec::new();
    source.read_into(0, MAX_HEADER_BYTES, &mut prefix)?;
    if prefix.starts_with(MAGIC) {
        let header = Header::decode(&prefix, source.len(), None).value;
        return Ok((source, header));
    }
    source.read_into(0, START, &mut prefix)?;
    let (as_it_is, len) = (source.restoration().cloned(), source.len());
    for at in prefix.windows(4).enumerate().filter(|(_, four)| *four == MAGIC).map(|(at, _)| at).take(4) {
        let head = prefix.get(at..).unwrap_or_default();
        let head = head.get(..MAX_HEADER_BYTES).unwrap_or(head);
        let Some(header) = Header::decode(head, len - at as u64, None).value else { continue };
        source = shifted(source, at as u64, -(at as i64), false, damage);
        let fits = fits(&source, &header)?;
        if fits.some() && fits.most() {
            return Ok((source, Some(header)));
        }
        source = source.restored(as_it_is.clone());
        damage.clear();
    }
    Ok((source, None))
}

/// Whether most of the last blocks of a file are where its table has them.
fn ends_right(source: &FileSource, header: &Header) -> io::Result<bool> {
    let (mut last, mut fitting) = (0, 0);
    let mut single = SingleBlock::new(source, header);
    let mut heads = Heads::new(source);
    let places = places(source, header)?;
    for &(at, count) in places.iter().rev().filter(|(at, count)| *at < source.len() && *count > 0).take(BREAK) {
        last += 1;
        // A container without a header does not look like one.
        let fits = heads.begins(at, count, header.format.sector_size)? || single.is_whole((at, count))?;
        fitting += usize::from(fits);
    }
    Ok(fitting * 2 > last || last == 0)
}

/// Entries that fit before a byte, so many as are needed.
fn fitting_before(source: &FileSource, header: &Header, end: u64) -> io::Result<usize> {
    let mut fitting = 0;
    let mut heads = Heads::new(source);
    for (at, count) in places(source, header)?.into_iter().filter(|(at, count)| *at < end && *count > 0) {
        fitting += usize::from(heads.begins(at, count, header.format.sector_size)?);
        if fitting == BEFORE {
            break;
        }
    }
    Ok(fitting)
}

/// Moves what begins at a byte by so many bytes: towards the end by zeros, towards the start over what is before it. `in_table` says
/// whether that byte begins the first block. Then the change may be in the table, and its later entries belong to other slots.
fn shifted(source: FileSource, at: u64, by: i64, in_table: bool, damage: &mut Vec<Damage>) -> FileSource {
    let (count, len) = (by.unsigned_abs(), source.len());
    let piece = |start, from| Piece { start, from };
    let (end, field) = if by < 0 {
        (
            at.saturating_sub(count),
            ("bytes inserted before this offset", "bytes inserted before this offset, perhaps in the table"),
        )
    } else {
        (
            at.saturating_add(count),
            ("bytes missing before this offset", "bytes missing before this offset, perhaps in the table"),
        )
    };
    let field = if in_table { field.1 } else { field.0 };
    let gap = (by > 0).then(|| piece(at, PieceFrom::Byte(0)));
    let first = (at.min(end) > 0).then(|| piece(0, PieceFrom::At(0)));
    let pieces = first.into_iter().chain(gap).chain([piece(end, PieceFrom::At(at))]).collect();
    damage.push(Damage::new(Code::RegionShifted, Span::sized(end, 1), field).found(Value::Number(count)));
    let mut restoration = source.restoration().map(|r| Restoration::clone(r)).unwrap_or_default();
    restoration.take_pieces(pieces, len.saturating_add_signed(by));
    source.restored(Some(Arc::new(restoration)))
}

/// The byte from which on the blocks of a file are elsewhere than its table has them, and by how much they have to move.
pub(crate) fn next_break(parts: &impl Source, header: &Header) -> io::Result<Option<(u64, i64)>> {
    let sector = header.format.sector_size;
    let places = places(parts, header)?;
    let end = parts.len();
    // The last entries, if they do not fit but for a few that do by chance.
    let (mut run, mut score, mut best) = (0, 0i64, 0i64);
    let behind = places.iter().rev().filter(|(at, count)| *at < end && *count > 0);
    let mut heads = Heads::new(parts);
    for (n, &(at, count)) in behind.enumerate() {
        score += if heads.begins(at, count, sector)? { -CHANCE } else { 1 };
        if score > best {
            (best, run) = (score, n + 1);
        }
    }
    if run == 0 {
        return Ok(None);
    }
    let wrong: Vec<Place> =
        places.iter().copied().filter(|(at, count)| *at < end && *count > 0).rev().take(run).collect();
    let from = wrong.last().map_or(header.sectors_at(), |(at, _)| *at);
    // A few bytes before, where something was cut out.
    let start = from.saturating_sub(u64::from(sector) * 255).max(header.sectors_at());
    let moved = |at: u64| !(at - header.sectors_at()).is_multiple_of(u64::from(sector.max(1)));
    let found = beginnings(parts, start..start + REACH, sector, moved)?;
    if let Some(by) = moved_with_table(parts, header, &found)? {
        return Ok(Some((header.sectors_at().saturating_add_signed(-by), by)));
    }
    let mut votes: HashMap<i64, usize> = HashMap::new();
    for &(at, count) in &found {
        for &(should, _) in wrong.iter().filter(|(_, n)| *n == count) {
            *votes.entry(should as i64 - at as i64).or_default() += 1;
        }
    }
    let mut votes: Vec<(i64, usize)> = votes.into_iter().collect();
    votes.sort_unstable_by_key(|&(by, n)| (std::cmp::Reverse(n), by.unsigned_abs(), by));
    let best = votes.first().copied();
    let second = votes.get(1).map_or(0, |(_, n)| *n);
    // Few of them are believed where they are in a row up to the end of the file, and each is whole.
    let tiled = |by: i64| {
        let all =
            found.iter().rev().zip(&wrong).all(|(found, wrong)| (found.0.saturating_add_signed(by), found.1) == *wrong);
        let end = |(at, count): &Place| at + u64::from(*count) * u64::from(sector);
        let to_the_end = found.last().is_some_and(|last| end(last) >= parts.len());
        all && found.len() == run && to_the_end
    };
    let Some((by, n)) = best.filter(|(by, n)| *n >= BREAK || tiled(*by)) else { return Ok(None) };
    if n < BREAK {
        let mut single = SingleBlock::new(parts, header);
        for place in &found {
            if !single.is_whole(*place)? {
                return Ok(None);
            }
        }
    }
    // If the later part of the table is garbage, few entries lead to these blocks, but no other shift explains half as many.
    if n * 2 <= found.len().min(wrong.len()) && (n < MANY || n < second * 2) {
        return Ok(None);
    }
    Ok(first_moved(parts, &places, by, sector)?.map(|at| (at, by)))
}

/// The byte where the first block of those begins that have to move by so many bytes: where before it as many entries
/// as possible fit as they are, and behind it moved.
fn first_moved(parts: &impl Source, places: &[Place], by: i64, sector: u32) -> io::Result<Option<u64>> {
    let (mut score, mut best, mut first) = (0i64, 0i64, None);
    let behind = places.iter().rev().filter(|(at, count)| *at < parts.len().saturating_add_signed(by) && *count > 0);
    let (mut heads, mut moved) = (Heads::new(parts), Heads::new(parts));
    for &(at, count) in behind {
        let now = at.saturating_add_signed(-by);
        score -= i64::from(heads.begins(at, count, sector)?);
        if moved.begins(now, count, sector)? {
            score += 1;
            if score > best {
                (best, first) = (score, Some(now));
            }
        }
    }
    Ok(first)
}

/// Blocks that seem to begin in some bytes, at any of them that is asked for: where, and how many sectors they have.
pub(crate) fn beginnings(
    source: &impl Source,
    within: Range<u64>,
    sector: u32,
    asked: impl Fn(u64) -> bool,
) -> io::Result<Vec<Place>> {
    let mut bytes = Vec::new();
    let mut found = Vec::new();
    let from = within.start;
    let mut at = from;
    source.read_into(at, index(within.end.saturating_sub(from)), &mut bytes)?;
    // Where a block begins the next ones do behind its sectors, or the file ends in the last of them.
    let begins = |at: u64| {
        let (mut first, mut next) = (None, at);
        for _ in 0..IN_A_ROW {
            let head = usize::try_from(next - from).ok().and_then(|offset| bytes.get(offset..offset + 16));
            let Some(head) = head.filter(|_| first.is_none() || next < source.len()) else { break };
            let count = sectors_at(head, sector)?;
            next += u64::from(count) * u64::from(sector);
            first = first.or(Some(count)).filter(|_| next < source.len() + u64::from(sector));
            first?;
        }
        first
    };
    while found.len() < FOUND && index(at - from) + 16 <= bytes.len() {
        // A zero before a block looks as if a much longer one began there.
        match begins(at).filter(|_| (1..4).all(|more| begins(at + more).is_none())) {
            Some(count) => {
                if asked(at) {
                    found.push((at, count));
                }
                at += u64::from(count) * u64::from(sector);
            }
            None => at += 1,
        }
    }
    Ok(found)
}
