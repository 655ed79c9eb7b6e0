//! Where the records end and where the data begins, by what the streams say.
//!
//! A record names a place and a length. Where a whole stream of just that length is at just that place, header and
//! record are right; the number of records and the first block for which most records are right are those of the file.

use std::collections::HashMap;
use std::io;

use crate::bytes::index;
use crate::pak::header::{Header, MAX_PREFIX_BYTES};
use crate::pak::offset::Reading;
use crate::pak::place::{CUBE_RECORDS, LAYER_RECORDS};
use crate::pak::record::{self, Record, blocks_for};
use crate::pak::{BLOCK_BYTES, HEADER_BYTES, How, RECORD_BYTES};
use crate::recover::pak::Stream;
use crate::save::Pak;
use crate::source::Source;

/// Streams of one length beyond which they are no evidence for a place.
const COMMON: usize = 8;

/// Places for the first block that are looked at more closely.
const VOTED: usize = 4;

/// A way to read the header and the records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The number of records.
    pub count: u32,
    /// Where block 0 of the data is in the file; negative where a damaged header says so.
    pub base: i64,
    /// How the first block is counted.
    pub reading: Reading,
    /// The records.
    pub records: Vec<Record>,
}

impl Layout {
    /// As the header says, or as it was inferred from it.
    pub(super) fn declared<S: Source>(pak: &Pak<S>) -> Self {
        let first = i64::from(pak.header.first_block_offset);
        let reading = pak.reading.value;
        Self { count: pak.header.records().value, base: base_of(first, reading), reading, records: pak.records.clone() }
    }

    /// Where the data of a record begins.
    pub(super) fn start(&self, record: Record) -> Option<u64> {
        let block = i64::from(record.block_offset) * BLOCK_BYTES.cast_signed();
        u64::try_from(self.base.checked_add(block)?).ok().filter(|start| *start >= self.end())
    }

    /// Offset just past the records.
    #[must_use]
    pub fn end(&self) -> u64 {
        HEADER_BYTES + u64::from(self.count) * RECORD_BYTES
    }

    /// Records that have a chunk.
    pub(super) fn present(&self) -> impl Iterator<Item = (u32, Record)> {
        (0u32..).zip(self.records.iter().copied()).filter(|(_, record)| !record.is_absent())
    }

    /// How many records are right, and how many are not.
    fn count(&self, by_start: &HashMap<u64, Stream>) -> (i64, i64) {
        let mut counts = (0, 0);
        for (_, record) in self.present() {
            let stream = self.start(record).and_then(|start| by_start.get(&start));
            let right = stream.is_some_and(|s| i64::from(record.file_length) == s.span.len().cast_signed());
            *if right { &mut counts.0 } else { &mut counts.1 } += 1;
        }
        counts
    }

    /// Whether each record leads to a whole stream, and these have the lengths that the records name, in whatever order: then chunks
    /// are in each other's blocks, and the header is right.
    fn holds_all_chunks(&self, by_start: &HashMap<u64, Stream>) -> bool {
        let stream = |(_, record): (u32, Record)| by_start.get(&self.start(record)?).filter(|s| s.is_whole());
        let Some(streams) = self.present().map(stream).collect::<Option<Vec<&Stream>>>() else { return false };
        let mut there: Vec<i64> = streams.iter().map(|stream| stream.span.len().cast_signed()).collect();
        let mut named: Vec<i64> = self.present().map(|(_, record)| record.file_length.into()).collect();
        // If all fit, another number of records may show that there are more of them.
        let are_exchanged = there != named;
        there.sort_unstable();
        named.sort_unstable();
        are_exchanged && there == named
    }
}

fn base_of(first: i64, reading: Reading) -> i64 {
    match reading {
        Reading::Blocks => first.saturating_mul(BLOCK_BYTES.cast_signed()),
        Reading::Bytes => first,
    }
}

/// Offsets inside a block at which data may begin.
pub(super) fn phases<S: Source>(pak: &Pak<S>) -> Vec<u64> {
    let counts = counts(pak);
    let ends = counts.iter().map(|count| HEADER_BYTES + u64::from(*count) * RECORD_BYTES);
    let first = u64::try_from(pak.header.first_block_offset).ok();
    let mut phases: Vec<u64> = ends.chain(first).map(|at| at % BLOCK_BYTES).chain([0]).collect();
    phases.sort_unstable();
    phases.dedup();
    phases
}

/// Numbers of records that are known, that of the header first.
fn counts<S: Source>(pak: &Pak<S>) -> Vec<u32> {
    let declared = pak.header.records().value;
    let known = [LAYER_RECORDS, CUBE_RECORDS].into_iter().filter(|n| *n != declared);
    std::iter::once(declared).chain(known).collect()
}

/// The layout that most records are right in. It is another than the header's only when no third one is as good.
pub(super) fn choose<S: Source>(pak: &Pak<S>, streams: &[Stream]) -> io::Result<Layout> {
    let declared = Layout::declared(pak);
    let by_start: HashMap<u64, Stream> = streams.iter().map(|s| (s.span.start, *s)).collect();
    let mut prefix = Vec::new();
    pak.source.read_into(0, MAX_PREFIX_BYTES, &mut prefix)?;
    if declared.holds_all_chunks(&by_start) {
        return Ok(declared);
    }
    let declared_counts = declared.count(&by_start);
    let mut best = (score(declared_counts), declared.clone());
    let mut rival = i64::MIN;
    for count in counts(pak) {
        let records: Vec<Record> =
            record::decode_all(prefix.get(16..).unwrap_or_default()).take(index(u64::from(count))).collect();
        for (base, reading) in bases(pak, count, &records, streams) {
            let layout = Layout { count, base, reading, records: records.clone() };
            if (count, base) == (declared.count, declared.base) {
                continue;
            }
            // Zeroed records are wrong ones, so that a layout with fewer records may seem better. It has to have as many right ones.
            let counts = layout.count(&by_start);
            if counts.0 < declared_counts.0 {
                continue;
            }
            let score = score(counts);
            if score > best.0 {
                rival = best.0;
                best = (score, layout);
            } else {
                rival = rival.max(score);
            }
        }
    }
    // Two that are as good leave it open.
    let clear = best.0 > rival || (best.1.count, best.1.base) == (declared.count, declared.base);
    Ok(if clear { best.1 } else { declared })
}

/// Right records count for a layout, others against it; none that is right is no layout at all.
const fn score((right, wrong): (i64, i64)) -> i64 {
    if right == 0 { i64::MIN } else { right - wrong }
}

/// Where block 0 may be, with the unit that says so.
fn bases<S: Source>(pak: &Pak<S>, count: u32, records: &[Record], streams: &[Stream]) -> Vec<(i64, Reading)> {
    let first = i64::from(pak.header.first_block_offset);
    if pak.reading.how == How::Given {
        return vec![(base_of(first, pak.reading.value), pak.reading.value)];
    }
    let end = HEADER_BYTES + u64::from(count) * RECORD_BYTES;
    let mut bases: Vec<(i64, Reading)> = Reading::ALL.map(|reading| (base_of(first, reading), reading)).to_vec();
    bases.push(((blocks_for(end) * BLOCK_BYTES).cast_signed(), Reading::Blocks));
    bases.push((end.cast_signed(), Reading::Bytes));
    // What records and streams of the same length say together.
    let mut by_len: HashMap<i64, Vec<u64>> = HashMap::new();
    for stream in streams {
        by_len.entry(stream.span.len().cast_signed()).or_default().push(stream.span.start);
    }
    let mut votes: HashMap<i64, usize> = HashMap::new();
    for record in records.iter().filter(|record| record.block_offset >= 0) {
        let starts = by_len.get(&i64::from(record.file_length)).filter(|starts| starts.len() <= COMMON);
        for start in starts.into_iter().flatten() {
            let base = start.cast_signed() - i64::from(record.block_offset) * BLOCK_BYTES.cast_signed();
            *votes.entry(base).or_default() += 1;
        }
    }
    let mut votes: Vec<(usize, i64)> = votes.into_iter().map(|(base, n)| (n, base)).collect();
    votes.sort_unstable_by(|a, b| b.cmp(a));
    let unit =
        |base: i64| if base.rem_euclid(BLOCK_BYTES.cast_signed()) == 0 { Reading::Blocks } else { Reading::Bytes };
    bases.extend(votes.into_iter().take(VOTED).map(|(_, base)| (base, unit(base))));
    let mut seen = Vec::new();
    bases.retain(|(base, _)| {
        !seen.contains(base) && {
            seen.push(*base);
            true
        }
    });
    bases
}

/// The header of a file that is built anew in this layout: its data begins in the first block behind the records.
pub(super) fn header(old: &Header, layout: &Layout) -> Header {
    let first = blocks_for(layout.end());
    let offset = match layout.reading {
        Reading::Blocks => first,
        Reading::Bytes => first * BLOCK_BYTES,
    };
    Header {
        record_count: i32::try_from(layout.count).unwrap_or(i32::MAX),
        first_block_offset: i32::try_from(offset).unwrap_or(i32::MAX),
        ..*old
    }
}
