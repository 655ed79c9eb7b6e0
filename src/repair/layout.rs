//! Region files whose sectors are not where their header and table have them: a header that was damaged, bytes that
//! were inserted or cut out.
//!
//! The table itself is the judge: under the right header, and at the right place, the size prefix of each block asks for
//! just the sectors that its entry has. No block has to be decoded for that.

use std::collections::HashMap;
use std::io;

use crate::bytes::index;
use crate::godot::region::{Format, Header, MAX_HEADER_BYTES};
use crate::repair::parts::Parts;
use crate::save::table_fits::{Fits, Place, begins, fits, places, sectors_at};
use crate::source::{FileSource, Source};

/// Entries that do not fit, from which on something may have been inserted or cut out.
const BREAK: usize = 3;

/// Misfits for which one entry may fit by chance.
const CHANCE: i64 = 8;

/// Breaks of one file that are followed.
const BREAKS: usize = 8;

/// Beginnings of blocks that are looked for behind a break.
const FOUND: usize = 48;

/// Blocks that have to follow each other where one is believed to begin.
const IN_A_ROW: usize = 4;

/// Bytes behind a break in which they are looked for.
const REACH: usize = 4 << 20;

/// Bytes at the start of a file in which its header is looked for.
const START: usize = 1 << 16;

/// A header under which the table fits, and the file as it is read by it.
pub(super) struct Found {
    pub header: Header,
    pub parts: Parts,
    pub remark: &'static str,
}

/// Looks for the header and the shifts of a file under which its table fits; `None` when it fits as it is, or nothing
/// is better.
pub(super) fn find(
    open: impl Fn() -> io::Result<FileSource>,
    own: Option<&Header>,
    likely: Option<&Format>,
) -> io::Result<Option<Found>> {
    let file = open()?;
    let before = match own {
        Some(header) => fits(&file, header)?,
        None => Fits::default(),
    };
    let mut best: Option<(Fits, Header, i64, &'static str)> = None;
    // A header that can be read is believed where some entries fit: the others may be of another time.
    if !before.most() {
        let mut prefix = Vec::new();
        file.read_into(0, START, &mut prefix)?;
        let mut tries: Vec<(Header, i64, &'static str)> = Vec::new();
        let field = "its header was damaged, and is that of the other files now";
        if let Some(format) = likely {
            tries.push((Header::new(3, *format), 0, field));
            if let Some(own) = own {
                let sizes = Format { sector_size: format.sector_size, ..own.format };
                let region = Format { region_size: format.region_size, ..own.format };
                tries.extend([sizes, region].map(|format| (Header::new(3, format), 0, field)));
            }
        }
        if let Some(own) = own {
            let flipped = "a bit of its header was flipped";
            tries.extend(one_bit_off(&own.format).into_iter().map(|format| (Header::new(3, format), 0, flipped)));
        }
        let inserted = "bytes were inserted before its header";
        for at in
            prefix.windows(4).enumerate().filter(|(at, four)| *at > 0 && *four == b"VXR_").map(|(at, _)| at).take(4)
        {
            let rest = prefix.get(at..).unwrap_or_default();
            let rest = rest.get(..MAX_HEADER_BYTES).unwrap_or(rest);
            let header = Header::decode(rest, file.len().saturating_sub(at as u64), likely).value;
            tries.extend(header.map(|header| (header, -(at as i64), inserted)));
        }
        for (header, by, remark) in tries {
            let parts = Parts::whole(open()?).shifted(if by < 0 { by.unsigned_abs() } else { 0 }, by);
            let now = fits(&parts, &header)?;
            if now.some() && now.most() && best.as_ref().is_none_or(|(fits, ..)| now.fitting > fits.fitting) {
                best = Some((now, header, by, remark));
            }
        }
        let mut tries: Vec<(Header, i64, &'static str)> = Vec::new();
        if let Some(format) = likely
            && own.is_none()
            && best.is_none()
        {
            let header = Header::new(3, *format);
            let cut = "the first bytes of the file were cut off";
            tries.extend(starts(&file, &header)?.into_iter().map(|by| (header.clone(), by, cut)));
        }
        for (header, by, remark) in tries {
            let parts = Parts::whole(open()?).shifted(if by < 0 { by.unsigned_abs() } else { 0 }, by);
            let now = fits(&parts, &header)?;
            if now.some() && now.most() && best.as_ref().is_none_or(|(fits, ..)| now.fitting > fits.fitting) {
                best = Some((now, header, by, remark));
            }
        }
        if best.is_none() && !before.some() {
            return Ok(None);
        }
    }
    let (header, mut parts, mut remark) = match (best, own) {
        (Some((_, header, by, remark)), _) => {
            (header, Parts::whole(file).shifted(if by < 0 { by.unsigned_abs() } else { 0 }, by), Some(remark))
        }
        (None, Some(own)) => (own.clone(), Parts::whole(file), None),
        (None, None) => return Ok(None),
    };
    for _ in 0..BREAKS {
        match next_break(&parts, &header)? {
            Some((at, by)) => {
                parts = parts.shifted(at, by);
                remark = remark.or(Some("bytes were inserted into it or cut out of it"));
            }
            None => break,
        }
    }
    Ok(remark.map(|remark| Found { header, parts, remark }))
}

/// The layouts that differ by one bit in the size of the region or of the sectors.
fn one_bit_off(own: &Format) -> Vec<Format> {
    let mut all = Vec::new();
    for bit in 0..24 {
        let mut other = *own;
        other.region_size[bit / 8] ^= 1 << (bit % 8);
        all.push(other);
    }
    for bit in 0..16 {
        let mut other = *own;
        other.sector_size ^= 1 << bit;
        all.push(other);
    }
    all.retain(|format| format.sector_size > 0 && !format.region_size.contains(&0));
    all
}

/// Bytes that may have been cut off the start of a file.
fn starts(file: &FileSource, header: &Header) -> io::Result<Vec<i64>> {
    let sector = header.format.sector_size;
    let found = beginnings(file, 0, sector, |_| true)?;
    let mut votes: HashMap<u64, usize> = HashMap::new();
    for (at, _) in &found {
        *votes.entry(at % u64::from(sector.max(1))).or_default() += 1;
    }
    let Some((phase, _)) = votes.into_iter().max_by_key(|&(phase, n)| (n, std::cmp::Reverse(phase))) else {
        return Ok(Vec::new());
    };
    let sector = u64::from(sector.max(1));
    let first = (header.sectors_at() % sector + sector - phase) % sector;
    // All of the header and the table at most.
    Ok((0..=header.sectors_at() / sector).map(|n| (first + n * sector) as i64).filter(|by| *by > 0).take(64).collect())
}

/// Blocks that seem to begin from a byte on, at any byte that is asked for: where, and how many sectors they have.
fn beginnings(source: &impl Source, from: u64, sector: u32, asked: impl Fn(u64) -> bool) -> io::Result<Vec<Place>> {
    let mut bytes = Vec::new();
    let mut found = Vec::new();
    let mut at = from;
    source.read_into(at, REACH, &mut bytes)?;
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

/// The byte from which on the blocks of a file are elsewhere than its table has them, and by how much they have to move.
fn next_break(parts: &Parts, header: &Header) -> io::Result<Option<(u64, i64)>> {
    let sector = header.format.sector_size;
    let places = places(parts, header)?;
    let end = parts.len();
    // The last entries, if they do not fit but for a few that do by chance.
    let (mut run, mut score, mut best) = (0, 0i64, 0i64);
    let behind = places.iter().rev().filter(|(at, count)| *at < end && *count > 0);
    for (n, &(at, count)) in behind.enumerate() {
        score += if begins(parts, at, count, sector)? { -CHANCE } else { 1 };
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
    let found = beginnings(parts, start, sector, moved)?;
    let mut votes: HashMap<i64, usize> = HashMap::new();
    for &(at, count) in &found {
        for &(should, _) in wrong.iter().filter(|(_, n)| *n == count) {
            *votes.entry(should as i64 - at as i64).or_default() += 1;
        }
    }
    let best = votes.into_iter().max_by_key(|&(by, n)| (n, std::cmp::Reverse(by.unsigned_abs()), by));
    // Few of them are believed where all stand in a row up to the end of the file.
    let tiled = |by: i64| {
        let all =
            found.iter().rev().zip(&wrong).all(|(found, wrong)| (found.0.saturating_add_signed(by), found.1) == *wrong);
        let end = |(at, count): &Place| at + u64::from(*count) * u64::from(sector);
        let to_the_end = found.last().is_some_and(|last| end(last) >= parts.len());
        all && found.len() == run && to_the_end
    };
    let Some((by, n)) = best.filter(|(by, n)| *n >= BREAK || tiled(*by)) else { return Ok(None) };
    if n * 2 <= found.len().min(wrong.len()) {
        return Ok(None);
    }
    Ok(first_moved(parts, &places, by, sector)?.map(|at| (at, by)))
}

/// The byte where the first block of those begins that have to move by so many bytes: where before it as many entries
/// as possible fit as they are, and behind it moved.
fn first_moved(parts: &Parts, places: &[Place], by: i64, sector: u32) -> io::Result<Option<u64>> {
    let (mut score, mut best, mut first) = (0i64, 0i64, None);
    let behind = places.iter().rev().filter(|(at, count)| *at < parts.len().saturating_add_signed(by) && *count > 0);
    for &(at, count) in behind {
        let now = at.saturating_add_signed(-by);
        score -= i64::from(begins(parts, at, count, sector)?);
        if begins(parts, now, count, sector)? {
            score += 1;
            if score > best {
                (best, first) = (score, Some(now));
            }
        }
    }
    Ok(first)
}
