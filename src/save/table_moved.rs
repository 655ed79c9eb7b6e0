//! Where in the table of a region bytes were inserted or cut out: before that place its entries are where they were, behind it they
//! moved with all sectors.
//!
//! Each place is weighed by how many entries lead to a block of their length, were it there. Bytes that were inserted are found
//! in that way, and where other than whole entries were cut out. Whole entries that were cut out, and empty ones that were inserted,
//! leave a table that fits wherever they were: then only seams show the place.

use std::collections::{HashMap, HashSet};
use std::io;

use crate::bytes::index;
use crate::godot::region::Header;
use crate::save::table_fits::{Heads, Place};
use crate::source::Source;

/// The largest table that is looked at, and the most bytes inserted or cut out.
const MOST_TABLE: u64 = 1 << 20;
const MOST_BYTES: u64 = 1 << 12;

/// Entries that must be in the later part of the table before a shift is believed.
const LEAST: usize = 3;

/// An entry that leads to no block counts against a place.
const MISFIT: i64 = -1;

/// The entries of a table, of which each is looked up once.
struct Entries<'s, S> {
    heads: Heads<'s, S>,
    header: &'s Header,
    /// By how much the sectors have to move.
    by: i64,
    known: HashMap<u32, i64>,
}

impl<S: Source> Entries<'_, S> {
    /// What an entry says: more than 0 if it leads to a block of its length.
    fn weigh(&mut self, word: [u8; 4]) -> io::Result<i64> {
        let entry = u32::from_le_bytes(word);
        if let Some(known) = self.known.get(&entry).copied().or_else(|| (entry == 0).then_some(0)) {
            return Ok(known);
        }
        let at = self.header.sector_span(u64::from(entry >> 8), 0).start.saturating_add_signed(-self.by);
        let fits = self.heads.begins(at, entry & 255, self.header.format.sector_size)?;
        let weight = if fits { 1 } else { MISFIT };
        self.known.insert(entry, weight);
        Ok(weight)
    }
}

/// The bytes of a table up to the first sector, as they are stored, if all sectors have to move by `by` bytes; `None` if it is too large.
fn read_stored(source: &impl Source, header: &Header, by: i64) -> io::Result<Option<Vec<u8>>> {
    let len = header.table.len();
    if len > MOST_TABLE || by.unsigned_abs() > MOST_BYTES.min(len / 2) {
        return Ok(None);
    }
    let mut table = Vec::new();
    source.read_into(header.table.start, index(len.saturating_add_signed(-by)), &mut table)?;
    Ok(Some(table))
}

/// By how many bytes all blocks have to move, where other than whole entries were inserted into the table or cut out of it: most
/// blocks have an entry, and some have it where the later part of the table is then.
pub(crate) fn moved_with_table(source: &impl Source, header: &Header, found: &[Place]) -> io::Result<Option<i64>> {
    let sector = i64::from(header.format.sector_size.max(1));
    let back =
        |at: u64| (i64::try_from(at).unwrap_or(0) - i64::try_from(header.sectors_at()).unwrap_or(0)).rem_euclid(sector);
    let mut votes: HashMap<i64, usize> = HashMap::new();
    for (at, _) in found {
        let over = back(*at);
        *votes.entry(if over <= sector / 2 { -over } else { sector - over }).or_default() += 1;
    }
    let best = votes.into_iter().max_by_key(|(by, n)| (*n, -by.abs(), *by));
    let Some((by, _)) = best.filter(|(by, n)| by % 4 != 0 && n * 2 > found.len()) else { return Ok(None) };
    let Some(table) = read_stored(source, header, by)? else { return Ok(None) };
    let entries = |from: usize| -> HashSet<u32> {
        table.get(from..).unwrap_or_default().as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
    };
    let (before, behind) = (entries(0), entries((-by).rem_euclid(4) as usize));
    let first = |at: u64| at.saturating_add_signed(by).saturating_sub(header.sectors_at()) / sector.unsigned_abs();
    let entry = |(at, count): &Place| u32::try_from(first(*at) << 8).unwrap_or(0) | count;
    let moved = found.iter().filter(|place| behind.contains(&entry(place))).count();
    let all = found.iter().filter(|place| before.contains(&entry(place)) || behind.contains(&entry(place))).count();
    Ok((moved >= LEAST && all * 2 > found.len()).then_some(by))
}

/// The byte in the table from which on everything has to move by `by` bytes; `None` where that does not show.
pub(crate) fn find_in_table(source: &impl Source, header: &Header, by: i64) -> io::Result<Option<u64>> {
    let Some(table) = read_stored(source, header, by)? else { return Ok(None) };
    let (len, moved) = (index(header.table.len()), index(by.unsigned_abs()));
    let words = len / 4;
    // A byte of the table as it was, were the change at `place`.
    let byte = |place: usize, at: usize| -> u8 {
        let from = match at {
            _ if at < place => at,
            _ if by < 0 => at + moved,
            _ if at < place + moved => return 0,
            _ => at - moved,
        };
        table.get(from).copied().unwrap_or(0)
    };
    let word = |place: usize, n: usize| -> [u8; 4] { std::array::from_fn(|i| byte(place, 4 * n + i)) };
    let mut entries = Entries { heads: Heads::new(source), header, by, known: HashMap::new() };
    // What all entries before each one say, and all from each one on.
    let (mut before, mut behind) = (vec![0], vec![0]);
    let mut sum = 0;
    for n in 0..words {
        sum += entries.weigh(word(usize::MAX, n))?;
        before.push(sum);
    }
    sum = 0;
    for n in (0..words).rev() {
        sum += if by > 0 && 4 * n < moved { 0 } else { entries.weigh(word(0, n))? };
        behind.push(sum);
    }
    behind.reverse();
    let of = |sums: &[i64], n: usize| sums.get(n).copied().unwrap_or(0);
    let (mut best, mut places) = (i64::MIN, 0..0);
    for place in 0..=table.len().min(len) {
        let first = place / 4;
        let last = if by > 0 { (place + moved).div_ceil(4) } else { place.div_ceil(4) }.min(words);
        let mut sum = of(&before, first) + of(&behind, last.max(first));
        for n in first..last {
            sum += entries.weigh(word(place, n))?;
        }
        if sum > best {
            (best, places) = (sum, place..place);
        }
        if sum == best {
            places.end = place;
        }
    }
    // Among empty entries it does not matter where.
    let is_one = (places.start.div_ceil(4)..places.end / 4).all(|n| word(usize::MAX, n) == [0; 4]);
    // With no entry behind it, it may as well be in the first block.
    let is_last = (places.end.div_ceil(4)..words).all(|n| word(places.start, n) == [0; 4]);
    let is_known = best > 0 && is_one && !is_last;
    let at = header.table.start + (places.start + if by < 0 { moved } else { 0 }) as u64;
    Ok(is_known.then_some(at))
}
