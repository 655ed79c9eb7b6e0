//! Where the pages of a database are if bytes were put into its file or cut out of it.
//!
//! Pages of b-trees fill their area of cells to the byte, which hardly any other bytes do, so they are found at any offset
//! and of any size. Where the pages behind a byte go on at another phase, bytes were inserted or removed there; pages that
//! lead to others show how many.

use std::collections::{HashMap, HashSet};
use std::io;

use crate::bytes::index;
use crate::godot::container::Decoder;
use crate::limits::Limits;
use crate::source::{Piece, PieceFrom, Restoration, Source};
use crate::sqlite::btree::{Kind, Page};
use crate::sqlite::header::{HEADER_BYTES, Header, MAGIC};
use crate::sqlite::pages::Pages;
use crate::sqlite::payload::Payload;
use crate::sqlite::record::{self, Type};

/// Bytes in which pages are looked for at once.
const CHUNK: usize = 1 << 20;
/// Bytes of the largest page.
const LARGEST: usize = 1 << 16;
/// Pages by which the shift of a part can differ from the smallest one that fits.
const FAR: i64 = 256;
/// The same where the phase changes at more than a few places.
const NEAR: i64 = 2;
const FEW: usize = 16;
/// Rows that are put together to show which of two shifts is right.
const ROWS: usize = 2048;
/// Places where pages change their phase; above that, the file is not one database with a few cuts.
const BREAKS: usize = 4096;

/// Bytes that were put in or cut out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Break {
    /// The offset in the file from which on pages are elsewhere; the change is in the page before it.
    pub at: u64,
    /// By how many bytes they are further on; below 0 where bytes are missing.
    pub change: i64,
}

/// What the pages of a file say of where they are.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// Bytes of a page.
    pub page_size: u32,
    /// How the pages are read where they should be, and the changes that this undoes.
    pub restored: Option<(Restoration, Vec<Break>)>,
}

/// A page of a b-tree.
#[derive(Clone, Copy, Debug)]
struct Found {
    at: u64,
    kind: Kind,
}

/// Pages in a row that are the same number of bytes further on than they should be.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Where its first page is.
    first: u64,
    /// Where its last page is.
    last: u64,
    /// By how many bytes.
    shift: i64,
    pages: usize,
}

/// Whether the first page of a database, which the header says the size of, fills it to the byte.
pub(super) fn first_page_fits<S: Source>(source: &S, header: &Header) -> io::Result<bool> {
    let mut bytes = Vec::new();
    source.read_into(0, index(header.usable().into()), &mut bytes)?;
    Ok(bytes.len() == index(header.usable().into()) && Page::parse(1, &bytes).is_ok_and(|page| page.is_exact()))
}

/// Looks for pages at every byte. `None` where there is none.
pub(super) fn survey<S: Source>(source: &S, header: Option<&Header>) -> io::Result<Option<Survey>> {
    let reserved = header.map_or(0, |header| header.reserved);
    let trusted = match header {
        Some(header) if first_page_fits(source, header)? => Some(header.page_size),
        _ => None,
    };
    let sizes: Vec<u32> = match trusted {
        Some(size) => vec![size],
        None => (9..=16).map(|po2| 1u32 << po2).collect(),
    };
    let mut found = find_pages(source, &sizes, reserved)?;
    let most = sizes.iter().enumerate().max_by_key(|(i, _)| found.get(*i).map_or(0, Vec::len));
    let Some((at, &page_size)) = most else { return Ok(None) };
    let found = found.get_mut(at).map(std::mem::take).unwrap_or_default();
    if found.is_empty() {
        return Ok(None);
    }
    let magic = find_magic(source)?;
    let header = header.copied().unwrap_or_else(|| Header::of_page_size(page_size));
    let header = Header { page_size, ..header };
    let restored = match runs(source, &found, magic, &header)? {
        Some(runs) => Some(restore(source, &runs, &header)?),
        None => None,
    };
    Ok(Some(Survey { page_size, restored }))
}

/// The pages of b-trees of each of some sizes, at any offset.
fn find_pages<S: Source>(source: &S, sizes: &[u32], reserved: u8) -> io::Result<Vec<Vec<Found>>> {
    let mut found: Vec<Vec<Found>> = vec![Vec::new(); sizes.len()];
    let mut window = Vec::new();
    let mut base = 0u64;
    while base < source.len() {
        source.read_into(base, CHUNK + LARGEST, &mut window)?;
        for at in 0..window.len().min(CHUNK) {
            let rest = window.get(at..).unwrap_or_default();
            if !matches!(rest, [2 | 5 | 10 | 13, ..]) || !could_be_page(rest) {
                continue;
            }
            for (size, found) in sizes.iter().zip(&mut found) {
                let usable = index((size - u32::from(reserved).min(size / 2)).into());
                let page = rest.get(..usable).and_then(|bytes| Page::parse(2, bytes).ok());
                if let Some(page) = page.filter(Page::is_exact) {
                    found.push(Found { at: base + at as u64, kind: page.kind });
                }
            }
        }
        base += CHUNK as u64;
    }
    Ok(found)
}

/// What a look at the first bytes of a page says.
fn could_be_page(bytes: &[u8]) -> bool {
    let Some(&[kind, _, _, c0, c1, s0, s1, fragments, ..]) = bytes.first_chunk::<8>() else { return false };
    let (cells, content) = (u16::from_be_bytes([c0, c1]), u16::from_be_bytes([s0, s1]));
    let array = if matches!(kind, 2 | 5) { 12 } else { 8 };
    let least = array + 2 * usize::from(cells);
    let Some(&[p0, p1]) = bytes.get(array..).and_then(<[u8]>::first_chunk::<2>) else { return false };
    let first = usize::from(u16::from_be_bytes([p0, p1]));
    let content = if content == 0 { LARGEST } else { usize::from(content) };
    cells > 0 && fragments <= 60 && content >= least && first >= content
}

/// Where a database begins, within the first bytes of the file.
fn find_magic<S: Source>(source: &S) -> io::Result<Option<u64>> {
    let mut bytes = Vec::new();
    source.read_into(0, CHUNK, &mut bytes)?;
    Ok(bytes.windows(MAGIC.len()).position(|window| window == MAGIC).map(|at| at as u64))
}

/// The parts of the file by their shifts; `None` where all pages are where they should be.
fn runs<S: Source>(source: &S, found: &[Found], magic: Option<u64>, header: &Header) -> io::Result<Option<Vec<Run>>> {
    let size = i64::from(header.page_size);
    let phase = |at: u64| (at % u64::from(header.page_size)) as i64;
    let mut runs: Vec<Run> = Vec::new();
    if let Some(at) = magic {
        runs.push(Run { first: at, last: at, shift: phase(at), pages: 2 });
    }
    for page in found {
        match runs.last_mut() {
            Some(run) if run.shift == phase(page.at) => (run.last, run.pages) = (page.at, run.pages + 1),
            _ => runs.push(Run { first: page.at, last: page.at, shift: phase(page.at), pages: 1 }),
        }
    }
    // One page between two parts of the same phase is none.
    let mut kept: Vec<Run> = Vec::new();
    for (i, run) in runs.iter().enumerate() {
        let before = i.checked_sub(1).and_then(|i| runs.get(i));
        let between = before.zip(runs.get(i + 1)).is_some_and(|(before, next)| next.shift == before.shift);
        match kept.last_mut() {
            _ if between && run.pages == 1 => {}
            Some(last) if last.shift == run.shift => (last.last, last.pages) = (run.last, last.pages + run.pages),
            _ => kept.push(*run),
        }
    }
    if kept.len() > BREAKS {
        return Ok(None);
    }
    let len = i64::try_from(source.len()).unwrap_or(i64::MAX);
    // By how many bytes the file is longer than its pages.
    let net = (header.pages > 0).then(|| len - i64::from(header.pages) * size);
    let votes = Votes::count(source, found, header)?;
    let last = kept.len().saturating_sub(1);
    let far = if kept.len() > FEW { NEAR } else { FAR };
    let mut before = magic.map_or(0, |at| at as i64);
    for (i, run) in kept.iter_mut().enumerate() {
        let (low, high) = (run.first as i64, run.last as i64);
        if i == 0 && magic.is_some() {
            run.shift = before;
            continue;
        }
        let step = (run.shift - before).rem_euclid(size);
        let forced = net.filter(|net| i == last && (net - before).rem_euclid(size) == step);
        let best = (-far..=far).map(|k| before + step + k * size).max_by_key(|shift| {
            let fits = usize::from(forced == Some(*shift));
            (votes.supporting(*shift, low, high, size) + fits, -(shift - before).abs(), *shift)
        });
        run.shift = best.unwrap_or(before + step);
        before = run.shift;
    }
    if let &[run] = kept.as_slice()
        && let Some(net) = net.filter(|net| *net != run.shift && (net - run.shift) % size == 0)
        && let Some(split) = split_by_rows(source, found, header, [run.shift, net])?
    {
        kept = vec![Run { last: split.0, ..run }, Run { first: split.1, shift: net, ..run }];
    }
    let moved = kept.iter().any(|run| run.shift != 0);
    Ok(moved.then_some(kept))
}

/// Shifts that pages support.
struct Votes {
    /// Overflow pages that lead to the page after them: where they are, by the shift that this means.
    chains: HashMap<i64, Vec<i64>>,
    pages: HashSet<i64>,
    children: Vec<u32>,
}

impl Votes {
    fn count<S: Source>(source: &S, found: &[Found], header: &Header) -> io::Result<Self> {
        let size = u64::from(header.page_size);
        let mut votes = Self { chains: HashMap::new(), pages: HashSet::new(), children: Vec::new() };
        let mut bytes = Vec::new();
        for (i, page) in found.iter().enumerate() {
            votes.pages.insert(page.at as i64);
            if page.kind == Kind::TableInterior {
                source.read_into(page.at, index(header.usable().into()), &mut bytes)?;
                if let Ok(page) = Page::parse(2, &bytes) {
                    votes.children.extend(page.all().flatten().filter_map(|cell| cell.child).chain(page.right));
                }
            }
            // What is between this page and the next one of a tree.
            let end = found.get(i + 1).map_or(source.len(), |next| next.at);
            let mut at = page.at + size;
            while at + size <= end {
                source.read_into(at, 4, &mut bytes)?;
                let next = bytes.first_chunk::<4>().map_or(0, |bytes| u32::from_be_bytes(*bytes));
                if next > 2 {
                    let shift = at as i64 - (i64::from(next) - 2) * size as i64;
                    if shift.unsigned_abs() < size * FAR.unsigned_abs() {
                        votes.chains.entry(shift).or_default().push(at as i64);
                    }
                }
                at += size;
            }
        }
        Ok(votes)
    }

    /// How many support a shift of the pages from `low` to `high`.
    fn supporting(&self, shift: i64, low: i64, high: i64, size: i64) -> usize {
        let inside = |at: i64| (low..=high).contains(&at);
        let chains = self.chains.get(&shift).map_or(0, |all| all.iter().filter(|at| inside(**at)).count());
        let at = |child: &u32| (i64::from(*child) - 1) * size + shift;
        let children =
            self.children.iter().filter(|child| inside(at(child)) && self.pages.contains(&at(child))).count();
        chains + children
    }
}

/// Where pages change from one shift to another of the same phase: the last page before and the first one after it, by
/// rows that decode with the one shift of their overflow pages and not with the other.
fn split_by_rows<S: Source>(
    source: &S,
    found: &[Found],
    header: &Header,
    shifts: [i64; 2],
) -> io::Result<Option<(u64, u64)>> {
    let size = i64::from(header.page_size);
    let (mut bytes, mut payload, mut decoder) = (Vec::new(), Payload::default(), Decoder::default());
    // First overflow pages, with which of the shifts decodes.
    let mut told: Vec<(u32, usize)> = Vec::new();
    for page in found.iter().filter(|page| page.kind == Kind::TableLeaf) {
        source.read_into(page.at, index(header.usable().into()), &mut bytes)?;
        let Ok(leaf) = Page::parse(2, &bytes) else { continue };
        for cell in leaf.all().flatten() {
            let Some(first) = cell.overflow.filter(|_| told.len() < ROWS) else { continue };
            let mut works = [false; 2];
            for (shift, works) in shifts.iter().zip(&mut works) {
                let source = Shifted { source, shift: *shift };
                let pages = Pages { source, header: Header { pages: 0, ..*header }, overlay: None };
                payload.read(&pages, 1, &cell, 1 << 24)?;
                let columns = record::columns(&payload.bytes, cell.payload).unwrap_or_default();
                let blob = columns.get(1).filter(|column| column.kind() == Type::Blob);
                let blob = blob.and_then(|c| payload.bytes.get(index(c.at)..index(c.at.saturating_add(c.len))));
                *works = payload.broken.is_none()
                    && blob.is_some_and(|blob| decoder.decode(blob, &Limits::default()).value.whole);
            }
            match works {
                [true, false] => told.push((first, 0)),
                [false, true] => told.push((first, 1)),
                _ => {}
            }
        }
    }
    told.sort_unstable();
    let after = told.iter().filter(|(_, which)| *which == 1).count();
    if after == 0 {
        return Ok(None);
    }
    let wrong = |split: usize| {
        let (before, behind) = told.split_at_checked(split).unwrap_or_default();
        let of_other = |told: &[(u32, usize)], other: usize| told.iter().filter(|(_, which)| *which == other).count();
        of_other(before, 1) + of_other(behind, 0)
    };
    let Some(split) = (0..=told.len()).min_by_key(|split| wrong(*split)) else { return Ok(None) };
    let place = |page: u32, shift: i64| u64::try_from((i64::from(page) - 1) * size + shift).unwrap_or(0);
    let before = split.checked_sub(1).and_then(|i| told.get(i)).map_or(2, |(page, _)| *page);
    let after = told.get(split).map_or(before + 1, |(page, _)| *page);
    Ok(Some((place(before, shifts[0]), place(after, shifts[1]))))
}

/// A source whose bytes are further on.
struct Shifted<'s, S> {
    source: &'s S,
    shift: i64,
}

impl<S: Source> Source for Shifted<'_, S> {
    fn len(&self) -> u64 {
        self.source.len().saturating_add_signed(-self.shift)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        match offset.checked_add_signed(self.shift) {
            Some(at) => self.source.read_at(at, buf),
            None => {
                buf.fill(0);
                Ok(buf.len())
            }
        }
    }
}

/// The pieces by which every page is read where it should be.
fn restore<S: Source>(source: &S, runs: &[Run], header: &Header) -> io::Result<(Restoration, Vec<Break>)> {
    let size = u64::from(header.page_size);
    let number = |at: u64, shift: i64| at.saturating_add_signed(-shift) / size + 1;
    let (mut pieces, mut breaks) = (Vec::new(), Vec::new());
    let mut shift = 0i64;
    if let Some(first) = runs.first().filter(|run| run.shift != 0) {
        shift = first.shift;
        breaks.push(Break { at: 0, change: shift });
    }
    if shift < 0 {
        pieces.push(Piece { start: 0, from: PieceFrom::Byte(0) });
        pieces.push(Piece { start: shift.unsigned_abs(), from: PieceFrom::At(0) });
    } else {
        pieces.push(Piece { start: 0, from: PieceFrom::At(shift.unsigned_abs()) });
    }
    for pair in runs.windows(2) {
        let [before, after] = pair else { continue };
        let (a, b) = (before.shift, after.shift);
        let from = number(before.last, a);
        let to = number(after.first, b).max(from + 1);
        let page = broken_page(source, from, to, [a, b], header)?;
        let start = (page - 1) * size;
        // Nothing is lost where the change is between two pages.
        let lost = if page == from { (size, size) } else { lost_part(source, page, [a, b], header)? };
        pieces.push(Piece { start: start + lost.0, from: PieceFrom::Byte(0) });
        let on = start + lost.1;
        pieces.push(Piece { start: on, from: PieceFrom::At(on.saturating_add_signed(b)) });
        breaks.push(Break { at: (start + lost.1).saturating_add_signed(b), change: b - a });
        shift = b;
    }
    let mut restoration = Restoration::default();
    restoration.take_pieces(pieces, source.len().saturating_add_signed(-shift));
    Ok((restoration, breaks))
}

/// The page within which the shift changes: one from `from` on and before `to`, by where the pages between those lead.
fn broken_page<S: Source>(source: &S, from: u64, to: u64, shifts: [i64; 2], header: &Header) -> io::Result<u64> {
    let size = u64::from(header.page_size);
    let count = source.len() / size + 1;
    let mut bytes = Vec::new();
    let mut score = |page: u64, shift: i64| -> io::Result<i64> {
        let Some(at) = ((page - 1) * size).checked_add_signed(shift) else { return Ok(0) };
        source.read_into(at, 4, &mut bytes)?;
        let next = bytes.first_chunk::<4>().map_or(u32::MAX, |bytes| u32::from_be_bytes(*bytes));
        Ok(match u64::from(next) {
            next if next == page + 1 => 2,
            next if next <= count => 1,
            _ => 0,
        })
    };
    // All pages between read with the first shift, and then one more of them with the second.
    let mut sum = 0;
    for page in from + 1..to {
        sum += score(page, shifts[1])?;
    }
    let mut best = (sum, from);
    for page in from + 1..to {
        // The page itself, which begins with the first shift, counts for both.
        sum += score(page, shifts[0])? - score(page, shifts[1])?;
        if sum >= best.0 {
            best = (sum, page);
        }
    }
    Ok(best.1)
}

/// The bytes of a page with the change in it that are not known, from and to. A page of a tree is tried with the change at
/// every byte; of any other, nothing is known.
fn lost_part<S: Source>(source: &S, page: u64, shifts: [i64; 2], header: &Header) -> io::Result<(u64, u64)> {
    let (size, usable) = (u64::from(header.page_size), index(header.usable().into()));
    let read = |shift: i64, bytes: &mut Vec<u8>| -> io::Result<()> {
        bytes.resize(usable, 0);
        let source = Shifted { source, shift };
        let n = source.read_at((page - 1) * size, bytes)?;
        bytes.get_mut(n..).unwrap_or_default().fill(0);
        Ok(())
    };
    let (mut before, mut after) = (Vec::new(), Vec::new());
    read(shifts[0], &mut before)?;
    read(shifts[1], &mut after)?;
    let missing = shifts[0].saturating_sub(shifts[1]).max(0).unsigned_abs();
    let header_at = if page == 1 { HEADER_BYTES } else { 0 };
    if page > 1 && !before.first().is_some_and(|kind| matches!(kind, 2 | 5 | 10 | 13)) {
        return Ok((0, (size + missing) / size * size));
    }
    let gone = index(missing).min(usable);
    let number = u32::try_from(page).unwrap_or(2);
    // With all bytes of the second part first, one more of the first part at a time.
    let mut bytes = after;
    bytes.get_mut(..gone).unwrap_or_default().fill(0);
    let mut best: Option<((bool, usize), usize, usize)> = None;
    for at in 0..=usable {
        if at > 0 {
            if let (Some(byte), Some(own)) = (bytes.get_mut(at - 1), before.get(at - 1)) {
                *byte = *own;
            }
            if let Some(byte) = bytes.get_mut(at - 1 + gone).filter(|_| gone > 0) {
                *byte = 0;
            }
        }
        let Ok(page) = Page::parse(number, &bytes) else { continue };
        let cells = page.all().flatten().filter(|cell| record::columns(cell.local, cell.payload).is_some()).count();
        let score = (page.is_exact(), if page.is_exact() { 0 } else { cells });
        match &mut best {
            Some((most, _, last)) if score == *most => *last = at,
            Some((most, ..)) if score < *most => {}
            _ => best = Some((score, at, at)),
        }
    }
    Ok(match best {
        Some((_, first, last)) => (first as u64, last as u64 + missing),
        // The header of the database is read as far as it goes.
        None => (header_at as u64, (size + missing) / size * size),
    })
}

#[cfg(test)]
#[cfg(feature = "sqlite")]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use crate::demo::stream::{StreamSpec, write_stream};
    use crate::godot::stream::loc::{Format, Place};
    use crate::save::{Options, Save, StreamScratch};

    /// The stored bytes of every row that is whole, by place.
    fn rows(path: &Path) -> BTreeMap<Place, Vec<u8>> {
        let save = Save::open(path, &Options::default()).unwrap();
        let stream = save.stream(&save.streams[0], &mut Vec::new()).unwrap().expect("rows");
        let mut scratch = StreamScratch::default();
        let mut all = BTreeMap::new();
        for row in &stream.rows {
            stream.fetch(&row, &mut scratch).unwrap();
            let whole = scratch.is_whole();
            let bytes = stream.voxel_bytes(&scratch).unwrap_or_default().to_vec();
            let decodes = stream.block(&mut scratch).block.is_some_and(|block| block.epilogue.is_some());
            if let Some(place) = row.place.filter(|_| whole && decodes) {
                all.insert(place, bytes);
            }
        }
        all
    }

    #[test]
    fn rows_are_read_behind_bytes_that_were_put_in_or_cut_out() {
        let dir = tempfile::tempdir().unwrap();
        for format in Format::ALL {
            let path = dir.path().join(format!("{}.sqlite", format.code()));
            write_stream(&path, &StreamSpec::small(format), None).unwrap();
            let (healthy, truth) = (std::fs::read(&path).unwrap(), rows(&path));
            let changes: [(&str, usize, usize, usize); 6] = [
                ("7 bytes before", 0, 7, 0),
                ("7 bytes in the middle", healthy.len() / 2 + 100, 7, 0),
                ("a page in the middle", healthy.len() / 2 + 100, 1024, 0),
                ("100 bytes cut out in the middle", healthy.len() / 2 + 100, 0, 100),
                ("100 bytes cut out before", 0, 0, 100),
                ("7 bytes at the end", healthy.len() - 1500, 7, 0),
            ];
            for (what, at, put, cut) in changes {
                let mut bytes = healthy.clone();
                bytes.splice(at..at + cut, std::iter::repeat_n(0xa5, put)).for_each(drop);
                std::fs::write(&path, &bytes).unwrap();
                let found = rows(&path);
                let wrong = found.iter().filter(|(place, bytes)| truth.get(place) != Some(*bytes)).count();
                // Only the row with the change in it may be read as another one.
                assert!(wrong <= usize::from(at > 0), "{what}, keys of {format:?}");
                assert!(found.len() + 4 >= truth.len(), "{what}: {} of {}", found.len(), truth.len());
            }
        }
    }

    #[test]
    fn pages_tell_their_size_when_the_header_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("world.sqlite");
        write_stream(&path, &StreamSpec::small(Format::Int16), None).unwrap();
        let (healthy, truth) = (std::fs::read(&path).unwrap(), rows(&path));
        for size in [512u16, 2048, 4096, 8192, 32_768, 1] {
            let mut bytes = healthy.clone();
            bytes[16..18].copy_from_slice(&size.to_be_bytes());
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(rows(&path), truth, "pages of {size} bytes");
        }
        for lost in [0..100, 0..1024] {
            let mut bytes = healthy.clone();
            bytes[lost.clone()].fill(0);
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(rows(&path), truth, "{lost:?}");
        }
    }
}
