//! What the blocks of a pak region show of its records: every stream is looked at where a record says that it is, and
//! where that does not explain the file, the streams that are in it are compared with all records.
//!
//! A chunk on disk carries no position. What is put right is only what the streams prove: a length (zlib knows its own
//! end), the number of records, the first block, and the place of a record whose length only one stream in the file has.

mod layout;
mod placing;
mod seams;
mod streams;

use std::collections::{HashMap, HashSet};
use std::io;

use crate::bytes::{Span, index};
use crate::damage::Code;
use crate::pak::BLOCK_BYTES;
use crate::pak::header::Header;
use crate::pak::record::{Record, blocks_for};
use crate::parallel;
use crate::recover::closed::keep_closed;
use crate::save::{Owner, Pak, PakScratch};
use crate::source::Source;

pub use layout::Layout;
pub use seams::Placed;
pub use streams::{Ending, Stream};

/// Most chunks of one length that are compared with one that may be a copy.
const MOST_COMPARED: usize = 64;

/// How to look.
pub struct Options<'a> {
    /// Bytes that streams may decode to while blocks are looked through.
    pub budget: u64,
    /// Whether to stop.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

/// What is known of the chunk of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is where the record says, and just as long.
    Fits(Stream),
    /// It is whole; the record has to be put right, and why.
    Mended(Stream, &'static str),
    /// It decodes to its end, and its checksum is another.
    Checksum(Stream),
    /// It is more than is read: taken as it is.
    Over(Span),
    /// Something of it is there, and why it cannot be used.
    Part(Stream, &'static str),
    /// Another record has as good a claim to the same stream.
    Shared(Stream),
    /// Nothing of it is known.
    Lost(&'static str),
}

impl Verdict {
    /// The bytes of a chunk that can be used, or could be with its checksum put right.
    #[must_use]
    pub const fn usable(&self) -> Option<Span> {
        match self {
            Self::Fits(stream) | Self::Mended(stream, _) | Self::Checksum(stream) => Some(stream.span),
            Self::Over(span) => Some(*span),
            Self::Part(..) | Self::Shared(_) | Self::Lost(_) => None,
        }
    }
}

/// A whole chunk that no record owns.
#[derive(Clone, Debug, PartialEq)]
pub struct Orphan {
    /// Its stream.
    pub stream: Stream,
    /// The records that it may belong to, with their probabilities.
    pub candidates: Vec<(u32, f64)>,
}

/// What a pak region is made of.
#[derive(Clone, Debug)]
pub struct PakAnalysis {
    /// The layout that explains it best.
    pub layout: Layout,
    /// Its header as it should be, were the file built anew.
    pub header: Header,
    /// Whether number of records and first block are those of the header.
    pub as_declared: bool,
    /// Its records that are in use, with what is known of each.
    pub records: Vec<(u32, Record, Verdict)>,
    /// Whole chunks that nobody owns.
    pub orphans: Vec<Orphan>,
    /// Chunks that were given their places because they continue their neighbours.
    pub placed: Vec<Placed>,
    /// Whether records or header have to be put right, or a chunk is damaged.
    pub trouble: bool,
}

impl PakAnalysis {
    /// Whether the file says all that is in it and has nothing that is damaged. Old chunks in free blocks are normal.
    #[must_use]
    pub const fn is_sound(&self) -> bool {
        !self.trouble
    }
}

/// Whether a whole stream is in blocks that no record claims.
///
/// # Errors
/// What the operating system says.
pub fn has_leftovers<S: Source>(pak: &Pak<S>, options: &Options<'_>) -> io::Result<bool> {
    let (free, phases) = (unclaimed(pak), layout::phases(pak));
    let found = streams::walk(&pak.source, &free, &phases, &pak.limits, options.budget, options.stop)?;
    Ok(found.iter().any(Stream::is_whole))
}

/// Looks at a pak region.
///
/// # Errors
/// What the operating system says.
pub fn read<S: Source>(pak: &Pak<S>, options: &Options<'_>) -> io::Result<PakAnalysis> {
    let mut analysis = read_records(pak, options)?;
    if !(options.stop)() {
        let seams = seams::place(pak, &analysis, options)?;
        seams::apply(&mut analysis, seams);
    }
    Ok(analysis)
}

/// What records and streams show, without their voxels.
fn read_records<S: Source>(pak: &Pak<S>, options: &Options<'_>) -> io::Result<PakAnalysis> {
    let declared = Layout::declared(pak);
    let records = look(pak, &declared, &HashMap::new(), options)?;
    let header_fits =
        pak.damage.iter().all(|d| d.code.level() < crate::damage::Level::Warning || d.code == Code::PakVersion);
    let fits = records.iter().all(|(_, _, v)| matches!(v, Verdict::Fits(_) | Verdict::Over(_)));
    let phases = layout::phases(pak);
    let all = [Span::new(24, pak.source.len())];
    if header_fits && fits && !overlapping(&declared, &records) {
        let free = unclaimed(pak);
        let walked = streams::walk(&pak.source, &free, &phases, &pak.limits, options.budget, options.stop)?;
        if walked.is_empty() {
            return Ok(analyze(pak, declared, records, &[], false));
        }
        let mut known: Vec<Stream> = records.iter().filter_map(|(_, _, v)| stream_of(v)).chain(walked).collect();
        known.sort_unstable_by_key(|s| s.span.start);
        let chosen = layout::choose(pak, &known)?;
        if chosen == declared && !records.is_empty() {
            return Ok(analyze(pak, declared, records, &known, false));
        }
        return match_layout(pak, chosen, &known, options);
    }
    let known = streams::walk(&pak.source, &all, &phases, &pak.limits, options.budget, options.stop)?;
    let chosen = layout::choose(pak, &known)?;
    match_layout(pak, chosen, &known, options)
}

/// The chunks of a layout that is not simply that of the file.
fn match_layout<S: Source>(
    pak: &Pak<S>,
    layout: Layout,
    known: &[Stream],
    options: &Options<'_>,
) -> io::Result<PakAnalysis> {
    let by_start: HashMap<u64, Stream> = known.iter().map(|s| (s.span.start, *s)).collect();
    let mut records = look(pak, &layout, &by_start, options)?;
    shared(&mut records);
    exchange_by_length(&mut records, known);
    drop_copies(pak, &mut records)?;
    by_length(&mut records, known);
    cut_to_size(&mut records, known, pak.source.len());
    too_many_blocks(&layout, &mut records);
    Ok(analyze(pak, layout, records, known, true))
}

fn analyze<S: Source>(
    pak: &Pak<S>,
    layout: Layout,
    records: Vec<(u32, Record, Verdict)>,
    known: &[Stream],
    trouble: bool,
) -> PakAnalysis {
    let declared = Layout::declared(pak);
    let as_declared = (layout.count, layout.base) == (declared.count, declared.base)
        && pak.damage.iter().all(|d| !matches!(d.code, Code::PakRecordCount | Code::PakFirstBlock));
    let owned = owned(&records);
    let mut orphans = Vec::new();
    // Nothing inside of a chunk that somebody owns is one of its own.
    let mut reach = 0;
    let ends: HashMap<u64, u64> =
        records.iter().filter_map(|(_, _, v)| v.usable()).map(|span| (span.start, span.end)).collect();
    for stream in known.iter().filter(|stream| stream.is_whole()) {
        let start = stream.span.start;
        if owned.contains(&start) {
            reach = reach.max(ends.get(&start).copied().unwrap_or(0));
        } else if start >= reach {
            orphans.push(Orphan { stream: *stream, candidates: candidates(&records, stream) });
        }
    }
    let header = layout::header(&pak.header, &layout);
    let trouble = trouble || (records.is_empty() && !orphans.is_empty());
    PakAnalysis { header, as_declared, trouble, layout, records, orphans, placed: Vec::new() }
}

const fn stream_of(verdict: &Verdict) -> Option<Stream> {
    match verdict {
        Verdict::Fits(s) | Verdict::Mended(s, _) | Verdict::Checksum(s) => Some(*s),
        _ => None,
    }
}

/// The records that a stream may belong to: those that share it, and broken ones of its length.
fn candidates(records: &[(u32, Record, Verdict)], stream: &Stream) -> Vec<(u32, f64)> {
    let may = |(_, record, verdict): &&(u32, Record, Verdict)| match verdict {
        Verdict::Shared(of) => of.span == stream.span,
        Verdict::Lost(_) | Verdict::Part(..) => i64::from(record.file_length) == stream.span.len().cast_signed(),
        _ => false,
    };
    let numbers: Vec<u32> = records.iter().filter(may).map(|(number, ..)| *number).collect();
    let p = 1.0 / (numbers.len().max(1) as f64);
    numbers.into_iter().map(|number| (number, p)).collect()
}

/// What is where each record says. A place is looked at once, however many records name it, and no further ones when
/// those that overlap take more than the file: no number of records makes the same bytes be decoded again and again.
fn look<S: Source>(
    pak: &Pak<S>,
    layout: &Layout,
    known: &HashMap<u64, Stream>,
    options: &Options<'_>,
) -> io::Result<Vec<(u32, Record, Verdict)>> {
    let mut places: Vec<(u64, Record)> =
        layout.present().filter_map(|(_, record)| Some((layout.start(record)?, record))).collect();
    places.sort_by_key(|(start, record)| (*start, std::cmp::Reverse(record.file_length)));
    places.dedup_by_key(|(start, _)| *start);
    let (mut reach, mut twice) = (0u64, 0u64);
    places.retain(|(start, record)| {
        let end = start.saturating_add(u64::try_from(record.file_length).unwrap_or(0)).min(pak.source.len());
        twice = twice.saturating_add(reach.min(end).saturating_sub(*start));
        reach = reach.max(end);
        twice <= pak.source.len()
    });
    let seen = parallel::try_map_with(&places, |scratch: &mut PakScratch, &(start, record)| {
        let stream = match known.get(&start) {
            Some(stream) => Some(*stream),
            None if (options.stop)() || start >= pak.source.len() => None,
            None => {
                let length = u64::try_from(record.file_length).ok().filter(|n| *n > 0);
                streams::at(&pak.source, start, length, u64::MAX, &pak.limits, scratch)?
            }
        };
        Ok::<_, io::Error>((start, stream))
    })?;
    let seen: HashMap<u64, Option<Stream>> = seen.into_iter().collect();
    Ok(layout.present().map(|(number, record)| (number, record, verdict(pak, layout, record, &seen))).collect())
}

fn verdict<S: Source>(pak: &Pak<S>, layout: &Layout, record: Record, seen: &HashMap<u64, Option<Stream>>) -> Verdict {
    if record.block_offset < 0 {
        return Verdict::Lost("its record names no block");
    }
    if record.block_length == 0 && record.file_length == 0 {
        // As a wiped record looks: its block is no claim, and least of all one to block 0.
        return Verdict::Lost("its record is empty");
    }
    let Some(start) = layout.start(record) else { return Verdict::Lost("its record points into the header") };
    if start >= pak.source.len() {
        return Verdict::Lost("its record points beyond the end");
    }
    let length = u64::try_from(record.file_length).ok().filter(|n| *n > 0);
    let stream = match seen.get(&start) {
        None => return Verdict::Lost("its bytes are claimed by too many records"),
        Some(None) => return Verdict::Lost("no chunk begins where its record says"),
        Some(Some(stream)) => *stream,
    };
    let used = stream.span.len();
    let fits = length == Some(used);
    let blocks = u64::try_from(record.block_length).ok();
    match stream.ending {
        Ending::Checksum => Verdict::Checksum(stream),
        Ending::Torn if stream.span.end >= pak.source.len() => Verdict::Part(stream, "the file ends inside of it"),
        Ending::Torn => Verdict::Part(stream, "it does not decode to its end"),
        Ending::Over => match length.map(|n| Span::sized(start, n)).filter(|span| span.end <= pak.source.len()) {
            Some(span) => Verdict::Over(span),
            None => Verdict::Part(stream, "it decodes to more than is read"),
        },
        Ending::Whole if !fits => {
            Verdict::Mended(stream, "the length in its record was another than that of its stream")
        }
        Ending::Whole if blocks.is_none_or(|n| n < blocks_for(used)) => {
            Verdict::Mended(stream, "the number of blocks in its record was too small")
        }
        Ending::Whole => Verdict::Fits(stream),
    }
}

/// Whether two records claim a block, or bytes of one stream.
fn overlapping(layout: &Layout, records: &[(u32, Record, Verdict)]) -> bool {
    let mut claims: Vec<(u64, u64)> = records
        .iter()
        .filter_map(|(_, record, _)| {
            let start = layout.start(*record)?;
            Some((start, start + u64::try_from(record.block_length).ok()? * BLOCK_BYTES))
        })
        .collect();
    claims.sort_unstable();
    !claims.is_sorted_by(|a, b| a.1 <= b.0)
}

/// Records that have a stream in common. One that fits goes before others that had to be put right; otherwise all lose it.
fn shared(records: &mut [(u32, Record, Verdict)]) {
    let mut owners: HashMap<u64, Vec<usize>> = HashMap::new();
    for (i, (_, _, verdict)) in records.iter().enumerate() {
        if let Some(span) = verdict.usable() {
            owners.entry(span.start).or_default().push(i);
        }
    }
    for claims in owners.into_values().filter(|claims| claims.len() > 1) {
        let tight = |i: &&usize| {
            let (_, record, verdict) = &records[**i];
            matches!(verdict, Verdict::Fits(s) if i64::from(record.block_length) == blocks_for(s.span.len()).cast_signed())
        };
        let fitting: Vec<usize> = claims.iter().filter(tight).copied().collect();
        for i in claims {
            if fitting == [i] {
                continue;
            }
            let verdict = records[i].2;
            records[i].2 = match (fitting.as_slice(), stream_of(&verdict)) {
                ([_], _) => Verdict::Lost("its chunk is that of another record"),
                (_, Some(stream)) => Verdict::Shared(stream),
                (_, None) => Verdict::Lost("another record names the same blocks"),
            };
        }
    }
}

/// Where the streams begin that records own.
fn owned(records: &[(u32, Record, Verdict)]) -> HashSet<u64> {
    records.iter().filter_map(|(_, _, v)| v.usable()).map(|span| span.start).collect()
}

/// Gives records whose chunks are in each other's blocks their own: the chunk of each has the length that the record of another one of
/// them names. Records that fit have theirs. Where several of these chunks have one length, or a chunk without a record has it, none is
/// taken.
fn exchange_by_length(records: &mut [(u32, Record, Verdict)], known: &[Stream]) {
    let length = |stream: &Stream| stream.span.len().cast_signed();
    let owned = owned(records);
    let unowned = known.iter().filter(|stream| stream.is_complete() && !owned.contains(&stream.span.start));
    let unowned: HashSet<i64> = unowned.map(length).collect();
    // Those of other lengths than their records name.
    let other = records.iter().enumerate().filter_map(|(i, (_, record, verdict))| match verdict {
        Verdict::Mended(stream, _) if length(stream) != i64::from(record.file_length) => Some((i, *stream)),
        _ => None,
    });
    let mut moves: Vec<(usize, Stream)> = other.collect();
    let named = |records: &[(u32, Record, Verdict)], i: usize| i64::from(records[i].1.file_length);
    keep_closed(&mut moves, |(_, stream)| length(stream), |(i, _)| named(records, *i));
    let mut by_length: HashMap<i64, (Stream, usize)> = HashMap::new();
    let mut times_named: HashMap<i64, usize> = HashMap::new();
    for (i, stream) in &moves {
        by_length.entry(length(stream)).or_insert((*stream, 0)).1 += 1;
        *times_named.entry(named(records, *i)).or_default() += 1;
    }
    for (i, _) in moves {
        let Some((stream, times)) = by_length.get(&named(records, i)).copied() else { continue };
        records[i].2 = match times {
            1 if times_named.get(&length(&stream)) == Some(&1) && !unowned.contains(&length(&stream)) => {
                Verdict::Mended(stream, "its chunk is in the blocks of another record; only this chunk has its length")
            }
            _ => Verdict::Lost("several chunks in the blocks of others have its length"),
        };
    }
}

/// Takes chunks from records of another length whose blocks hold a copy of the chunk of a record that fits.
fn drop_copies<S: Source>(pak: &Pak<S>, records: &mut [(u32, Record, Verdict)]) -> io::Result<()> {
    let mut fitting: HashMap<u64, Vec<Span>> = HashMap::new();
    for (_, _, verdict) in records.iter() {
        if let Verdict::Fits(stream) = verdict {
            fitting.entry(stream.span.len()).or_default().push(stream.span);
        }
    }
    let (mut here, mut there) = (Vec::new(), Vec::new());
    for (_, record, verdict) in records.iter_mut() {
        let Verdict::Mended(stream, _) = *verdict else { continue };
        let span = stream.span;
        if span.len().cast_signed() == i64::from(record.file_length) {
            continue;
        }
        let same_length = fitting.get(&span.len()).map_or(&[][..], Vec::as_slice);
        for other in same_length.iter().filter(|other| other.start != span.start).take(MOST_COMPARED) {
            pak.source.read_into(span.start, index(span.len()), &mut here)?;
            pak.source.read_into(other.start, index(span.len()), &mut there)?;
            if here == there {
                *verdict = Verdict::Lost("its blocks hold a copy of the chunk of another record");
                break;
            }
        }
    }
    Ok(())
}

/// Gives broken records the stream that has their length, where no other stream and no other record has it.
fn by_length(records: &mut [(u32, Record, Verdict)], known: &[Stream]) {
    let mut streams: HashMap<i64, Option<Stream>> = HashMap::new();
    for stream in known.iter().filter(|stream| stream.is_complete()) {
        streams.entry(stream.span.len().cast_signed()).and_modify(|s| *s = None).or_insert(Some(*stream));
    }
    let mut lengths: HashMap<i32, u32> = HashMap::new();
    for (_, record, _) in records.iter() {
        *lengths.entry(record.file_length).or_default() += 1;
    }
    let owned = owned(records);
    for (_, record, verdict) in records.iter_mut().filter(|(_, _, v)| matches!(v, Verdict::Lost(_))) {
        let only = lengths.get(&record.file_length) == Some(&1);
        let stream = streams.get(&i64::from(record.file_length)).copied().flatten();
        if let Some(stream) = stream.filter(|s| only && s.is_whole() && !owned.contains(&s.span.start)) {
            *verdict = Verdict::Mended(stream, "its record named another block; only this chunk has its length");
        }
    }
}

/// The bytes of damaged chunks: all that their records claim, up to the next chunk.
fn cut_to_size(records: &mut [(u32, Record, Verdict)], known: &[Stream], file_len: u64) {
    for (_, record, verdict) in records.iter_mut() {
        let Verdict::Part(stream, why) = *verdict else { continue };
        let start = stream.span.start;
        let next = known.partition_point(|s| s.span.start <= start);
        let next = known.get(next).map_or(file_len, |s| s.span.start);
        let blocks = u64::try_from(record.block_length).unwrap_or(0) * BLOCK_BYTES;
        let length = u64::try_from(record.file_length).ok().filter(|n| *n > 0 && *n <= blocks).unwrap_or(blocks);
        let end = start.saturating_add(length).max(stream.span.end).min(next).min(file_len);
        let inside = known.iter().any(|s| s.span.start < start && start < s.span.end);
        let why = if inside { "it begins inside of another chunk" } else { why };
        *verdict = Verdict::Part(Stream { span: Span::new(start, end), ..stream }, why);
    }
}

/// Chunks whose records claim more blocks than they take, and so some of another's.
fn too_many_blocks(layout: &Layout, records: &mut [(u32, Record, Verdict)]) {
    let mut starts: Vec<u64> = records.iter().filter_map(|(_, _, v)| v.usable()).map(|span| span.start).collect();
    starts.sort_unstable();
    for (_, record, verdict) in records.iter_mut() {
        let (Verdict::Fits(stream), Some(start)) = (*verdict, layout.start(*record)) else { continue };
        let end = start + u64::try_from(record.block_length).unwrap_or(0) * BLOCK_BYTES;
        let next = starts.get(starts.partition_point(|at| *at <= start));
        if next.is_some_and(|next| *next < end) {
            *verdict = Verdict::Mended(stream, "its record claimed blocks of another chunk");
        }
    }
}

/// The blocks that no record claims, and what is between the records and the first of them.
fn unclaimed<S: Source>(pak: &Pak<S>) -> Vec<Span> {
    let map = pak.sector_map();
    let free = map.runs.iter().filter(|run| run.owner == Owner::Free);
    let mut spans: Vec<Span> = free.map(|run| Span::sized(run.first * BLOCK_BYTES, run.count * BLOCK_BYTES)).collect();
    spans.insert(0, Span::new(pak.header.end(), pak.header.end().next_multiple_of(BLOCK_BYTES)));
    spans
}
