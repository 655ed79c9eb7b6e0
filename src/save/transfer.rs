//! Region files out of which a copy took carriage returns: each line feed behind one lost it, and all later bytes are
//! one byte further in front. The table, the sizes of blocks and their ends show where. Other bytes that were inserted or cut
//! out are put back or left out by [`region_moved`].

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::bytes::{Span, index};
use crate::damage::{Code, Damage, Value};
use crate::godot::region::{Entry, Header, MAX_HEADER_BYTES, sectors_for};
use crate::save::region_moved;
use crate::save::single_block::SingleBlock;
use crate::source::{FileSource, OpenError, Piece, PieceFrom, Restoration, Source};

/// Carriage returns that one block, and what is before it, can have lost.
const AHEAD: u64 = 4;
/// Entries of a table that are read to look for lost carriage returns.
const ENTRIES: u64 = 1 << 18;
/// Of so many carriage returns that were taken one may be left: there were two of them before a line feed.
const LEFT: u64 = 4;
/// Bytes that are read at once.
const CHUNK: usize = 1 << 16;
/// Line feeds of a block that are tried two at a time.
const PAIRS: usize = 96;

/// Opens a region file as it was before a copy changed its bytes; gives what is undone.
///
/// # Errors
/// See [`OpenError`].
pub(crate) fn open_region(path: &Path) -> Result<(FileSource, Vec<Damage>), OpenError> {
    let (source, mut damage) = FileSource::open_restored(path)?;
    let mut restoration = source.restoration().map(|restoration| Restoration::clone(restoration)).unwrap_or_default();
    let Some((pieces, count)) = lost_returns(&source)? else {
        let (source, moved) = region_moved::put_back(source)?;
        damage.extend(moved);
        return Ok((source, damage));
    };
    let len = source.len().saturating_add(count);
    restoration.take_pieces(pieces, len);
    if damage.iter().all(|d| d.code != Code::CopyCrlf) {
        let all = Span::sized(0, source.len());
        damage.push(
            Damage::new(Code::CopyLf, all, "carriage returns missing before line feeds").found(Value::Number(count)),
        );
    }
    Ok((source.restored(Some(Arc::new(restoration))), damage))
}

/// The pieces that put lost carriage returns back, and how many those are; `None` where none is missing.
fn lost_returns<S: Source>(source: &S) -> io::Result<Option<(Vec<Piece>, u64)>> {
    let mut prefix = Vec::new();
    source.read_into(0, MAX_HEADER_BYTES, &mut prefix)?;
    let Some(header) = Header::decode(&prefix, source.len(), None).value else { return Ok(None) };
    if header.format.sector_size == 0 || header.table.len() / 4 > ENTRIES || header.table.end > source.len() {
        return Ok(None);
    }
    let mut table = Vec::new();
    source.read_into(header.table.start, index(header.table.len()), &mut table)?;
    let (words, _) = table.as_chunks::<4>();
    let entries = words.iter().map(|word| Entry(u32::from_le_bytes(*word))).filter(|entry| entry.count() > 0);
    let mut entries: Vec<Entry> = entries.collect();
    entries.sort_unstable_by_key(|entry| (entry.first(), entry.count()));
    // What is where the last entry says is right in a file that lost nothing.
    let Some(last) = entries.last() else { return Ok(None) };
    let single = SingleBlock::new(source, &header);
    let mut blocks = Blocks { source, header: &header, single, bytes: Vec::new() };
    if blocks.prefix_fits(*last, 0)? && !(1..=AHEAD).contains(&blocks.shortage(&entries, 0)) {
        return Ok(None);
    }
    blocks.walk(&entries)
}

/// Adds the pieces that put carriage returns back before bytes of the file, of which so many were missing before.
fn put_back(pieces: &mut Vec<Piece>, lost: Vec<u64>, missing: u64) {
    for (nth, at) in (0u64..).zip(lost) {
        let start = at + missing + nth;
        pieces.push(Piece { start, from: PieceFrom::Byte(b'\r') });
        pieces.push(Piece { start: start + 1, from: PieceFrom::At(at) });
    }
}

struct Blocks<'b, S> {
    source: &'b S,
    header: &'b Header,
    single: SingleBlock<'b, S>,
    bytes: Vec<u8>,
}

impl<S: Source> Blocks<'_, S> {
    /// Where the sectors of an entry begin when so many bytes before them are missing.
    fn at(&self, entry: Entry, missing: u64) -> u64 {
        self.header.sector_span(entry.first().into(), 0).start.saturating_sub(missing)
    }

    /// Whether the size before a block fits the sectors of its entry.
    fn prefix_fits(&mut self, entry: Entry, missing: u64) -> io::Result<bool> {
        let place = (self.at(entry, missing), entry.count().into());
        self.single.prefix_fits(place)
    }

    /// Whether a whole block of the length that its entry says is there.
    fn is_whole(&mut self, entry: Entry, missing: u64) -> io::Result<bool> {
        let place = (self.at(entry, missing), entry.count().into());
        self.single.is_whole(place)
    }

    /// Goes from entry to entry with the number of bytes that are missing before it.
    fn walk(&mut self, entries: &[Entry]) -> io::Result<Option<(Vec<Piece>, u64)>> {
        let mut pieces = vec![Piece { start: 0, from: PieceFrom::At(0) }];
        let (mut missing, mut whole, mut broken) = (0u64, 0usize, Vec::new());
        let mut before_all = 0;
        for (nth, entry) in entries.iter().enumerate() {
            let mut found = None;
            for more in 0..=AHEAD {
                if self.is_whole(*entry, missing + more)? {
                    found = Some(more);
                    break;
                }
            }
            match found {
                Some(more) => {
                    whole += 1;
                    if nth == 0 {
                        before_all = more;
                    }
                    let mut lost = self.find(std::mem::take(&mut broken), missing, more)?;
                    // Where it is not known from which block one is missing, the later ones are right all the same.
                    lost.resize(index(more), self.at(*entry, missing + more));
                    put_back(&mut pieces, lost, missing);
                    missing += more;
                }
                None => broken.push(*entry),
            }
        }
        // The last block may have lost some as well.
        let short = self.shortage(entries, missing);
        if !broken.is_empty() && (1..=AHEAD).contains(&short) {
            let lost = self.find(broken, missing, short)?;
            let count = lost.len() as u64;
            put_back(&mut pieces, lost, missing);
            missing += count;
        }
        // More of them than noise has is another kind of damage, and so are blocks of which few are whole: a wrong sector
        // size looks as if each had lost some.
        let likely = missing > 0 && missing <= self.source.len() / 4096 + 1 && whole * 8 >= entries.len();
        // If several bytes are missing before the first block and none behind it, they were cut out of the table.
        let likely = likely && (missing == 1 || before_all < missing);
        // A conversion of line ends removes all carriage returns: if others are left, bytes were cut out.
        Ok((likely && self.returns_left()? * LEFT < missing).then_some((pieces, missing)))
    }

    /// Carriage returns before line feeds that are in the file.
    fn returns_left(&mut self) -> io::Result<u64> {
        let (mut at, mut count, mut last) = (0u64, 0u64, 0u8);
        while at < self.source.len() {
            self.source.read_into(at, CHUNK, &mut self.bytes)?;
            if self.bytes.is_empty() {
                break;
            }
            for &byte in &self.bytes {
                count += u64::from(last == b'\r' && byte == b'\n');
                last = byte;
            }
            at += self.bytes.len() as u64;
        }
        Ok(count)
    }

    /// Bytes by which the file ends before the last sector of its table.
    fn shortage(&self, entries: &[Entry], missing: u64) -> u64 {
        let end = entries.iter().map(|entry| entry.end()).max().unwrap_or(0);
        self.header.sector_span(end.into(), 0).start.saturating_sub(missing).saturating_sub(self.source.len())
    }

    /// Where broken blocks lost carriage returns, `more` of them at most, in bytes of the file: only where one way makes a
    /// block whole.
    fn find(&mut self, broken: Vec<Entry>, missing: u64, more: u64) -> io::Result<Vec<u64>> {
        let mut found = Vec::new();
        for entry in broken {
            let before = missing + found.len() as u64;
            let left = more.saturating_sub(found.len() as u64);
            let start = self.at(entry, before);
            for at in self.places(entry, before, left)? {
                found.push(start + at as u64);
            }
        }
        Ok(found)
    }

    /// Before which of its line feeds a block lost carriage returns, one or two; none where several ways make it whole.
    fn places(&mut self, entry: Entry, missing: u64, left: u64) -> io::Result<Vec<usize>> {
        let len = index(self.header.sector_span(0, entry.count().into()).len());
        let mut bytes = Vec::new();
        self.source.read_into(self.at(entry, missing), len, &mut bytes)?;
        let feeds: Vec<usize> = (0..bytes.len()).filter(|at| bytes.get(*at) == Some(&b'\n')).collect();
        let mut ways: Vec<Vec<usize>> = Vec::new();
        let mut attempt = |way: Vec<usize>, this: &mut Self| {
            let mut with = bytes.clone();
            way.iter().rev().for_each(|at| with.insert(*at, b'\r'));
            with.truncate(len);
            let size = with.first_chunk::<4>().map_or(0, |bytes| u32::from_le_bytes(*bytes));
            let fits = size > 0 && sectors_for(size.into(), this.header.format.sector_size) == u64::from(entry.count());
            // A carriage return behind the block's own bytes changes nothing of it.
            let inside = way.last().is_none_or(|at| *at < index(u64::from(size) + 4));
            if fits && inside && this.single.decodes(&with) {
                ways.push(way);
            }
            ways.len()
        };
        let mut known = 0;
        if left >= 1 {
            for at in &feeds {
                known = attempt(vec![*at], self);
                if known > 1 {
                    return Ok(Vec::new());
                }
            }
        }
        if left >= 2 && known == 0 && feeds.len() <= PAIRS {
            for (i, a) in feeds.iter().enumerate() {
                for b in feeds.iter().skip(i) {
                    if a != b && attempt(vec![*a, *b], self) > 1 {
                        return Ok(Vec::new());
                    }
                }
            }
        }
        Ok(ways.pop().unwrap_or_default())
    }
}
