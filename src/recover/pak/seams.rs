//! What the voxels at the borders of chunks show about their places.
//!
//! A chunk on disk has no position, but terrain continues from chunk to chunk: at the right place its outer voxels are
//! mostly those of its neighbours. Borders settle two cases, both only beyond doubt: a chunk that no record owns continues
//! the neighbours of an empty record, and two records have chunks that fit each other's place and not their own. The order
//! of the voxels is the one by which most chunks continue their neighbours. [`placing`](super::placing) puts chunks into
//! places.

use std::collections::{HashMap, HashSet};
use std::io;

use xxhash_rust::xxh3::xxh3_128;

use crate::bytes::index;
use crate::pak::chunk::{Shape, shapes_of};
use crate::pak::payload::Decoder;
use crate::pak::place::Grid;
use crate::pak::record::Record;
use crate::parallel;
use crate::recover::pak::placing::{Chunk, Placing};
use crate::recover::pak::{Options, Orphan, PakAnalysis, Stream, Verdict};
use crate::save::Pak;
use crate::source::Source;

/// Pairs of chunks by which the order of voxels is chosen.
const PAIRS: usize = 64;
/// Chunks without a record, and chunks that do not fit, that are compared with all places.
const MOST: usize = 4096;
/// Bytes of a chunk that is compared.
const LARGEST: u64 = 1 << 20;
/// The share of voxels that may differ across a border that counts as a good one, at least.
const GOOD: f64 = 0.02;
/// A place must be this much better than the next one: by a share of the voxels, and this many times.
const MARGIN: f64 = 0.03;
const TIMES: f64 = 2.0;

/// A chunk whose place its neighbours show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placed {
    /// Its record.
    pub record: u32,
    /// The record that had it; `None` where none had.
    pub from: Option<u32>,
    /// Its stream.
    pub stream: Stream,
    /// The share of voxels that differ across the borders of its place, and of the next best one.
    pub differ: [f64; 2],
}

/// What seams show of a file.
#[derive(Debug, Default)]
pub(super) struct Seams {
    /// Chunks whose places their neighbours show.
    placed: Vec<Placed>,
    /// Records, with their streams, that lead to the chunk of another place.
    demoted: Vec<(u32, Stream)>,
    /// Chunks without a record, by where they begin, with the empty records that they fit better than any place that is
    /// taken, and their probabilities.
    candidates: HashMap<u64, Vec<(u32, f64)>>,
}

/// The outer voxels of a chunk: those of x, y and z at 0, then those at the other end.
pub(super) type Faces = [Vec<u8>; 6];

/// The strides of x, y and z, for voxels of one byte, in each order.
fn strides(shape: &Shape, order: [usize; 3]) -> [usize; 3] {
    let mut strides = [0; 3];
    let mut stride = 1;
    for axis in order {
        strides[axis] = stride;
        stride *= shape.size[axis] as usize;
    }
    strides
}

/// Every order of axes, the fastest first; that of the records comes first.
const ORDERS: [[usize; 3]; 6] = [[0, 2, 1], [2, 0, 1], [1, 0, 2], [1, 2, 0], [0, 1, 2], [2, 1, 0]];

fn face(plain: &[u8], shape: &Shape, order: [usize; 3], axis: usize, far: bool) -> Vec<u8> {
    let (size, strides, bytes) =
        (shape.size.map(|n| n as usize), strides(shape, order), usize::from(shape.voxel_bytes));
    let [a, b] = [(axis + 1) % 3, (axis + 2) % 3];
    let at = if far { size[axis] - 1 } else { 0 };
    let mut out = Vec::with_capacity(size[a] * size[b] * bytes);
    for i in 0..size[a] {
        for j in 0..size[b] {
            let from = (at * strides[axis] + i * strides[a] + j * strides[b]) * bytes;
            out.extend_from_slice(plain.get(from..from + bytes).unwrap_or_default());
        }
    }
    out
}

/// The share of voxels that differ.
pub(super) fn differ(a: &[u8], b: &[u8], bytes: usize) -> f64 {
    let cells = (a.len().min(b.len()) / bytes).max(1);
    let other = match bytes {
        1 => a.iter().zip(b).map(|(a, b)| usize::from(a != b)).sum(),
        _ => a.chunks_exact(bytes).zip(b.chunks_exact(bytes)).filter(|(a, b)| a != b).count(),
    };
    other as f64 / cells as f64
}

/// The chunks of a region by their places.
pub(super) struct Borders {
    pub grid: Grid,
    pub bytes: usize,
    pub faces: HashMap<u32, Faces>,
    /// Hashes of the voxels.
    pub contents: HashMap<u32, u128>,
}

impl Borders {
    /// The record beside another one, along an axis.
    pub fn neighbour(&self, record: u32, axis: usize, far: bool) -> Option<u32> {
        let mut at = self.grid.position(record)?;
        at[axis] = if far { at[axis].checked_add(1)? } else { at[axis].checked_sub(1)? };
        self.grid.record(at).filter(|other| self.grid.position(*other) == Some(at))
    }

    /// By what share a chunk differs from each of the neighbours of a place that are to be believed.
    pub fn around(&self, faces: &Faces, record: u32, but: &HashSet<u32>) -> Vec<f64> {
        let mut all = Vec::new();
        for axis in 0..3 {
            for far in [false, true] {
                let beside = self.neighbour(record, axis, far).filter(|other| !but.contains(other));
                let Some(other) = beside.and_then(|other| self.faces.get(&other)) else { continue };
                let (own, theirs) = (axis + 3 * usize::from(far), axis + 3 * usize::from(!far));
                all.push(differ(&faces[own], &other[theirs], self.bytes));
            }
        }
        all
    }
}

pub(super) fn mean(all: &[f64]) -> f64 {
    all.iter().sum::<f64>() / (all.len().max(1) as f64)
}

/// The chunks of a file whose places their neighbours show.
///
/// # Errors
/// What the operating system says.
pub(super) fn place<S: Source>(pak: &Pak<S>, analysis: &PakAnalysis, options: &Options<'_>) -> io::Result<Seams> {
    let Some(grid) = Grid::from_record_count(analysis.layout.count).map(|grid| grid.value) else {
        return Ok(Seams::default());
    };
    let owned: Vec<(u32, Stream)> = analysis
        .records
        .iter()
        .filter_map(|(number, _, verdict)| match verdict {
            Verdict::Fits(stream) | Verdict::Mended(stream, _) if stream.is_whole() => Some((*number, *stream)),
            _ => None,
        })
        .collect();
    let total: u64 = owned.iter().map(|(_, stream)| stream.plain).sum();
    // Chunks of one shape are compared.
    let Some(plain) = owned.first().map(|(_, stream)| stream.plain) else { return Ok(Seams::default()) };
    let same = owned.iter().all(|(_, stream)| stream.plain == plain);
    let Some(shape) = shapes_of(plain).first().copied().filter(|_| same && plain <= LARGEST) else {
        return Ok(Seams::default());
    };
    if total > options.budget || owned.len() < 3 {
        return Ok(Seams::default());
    }
    let read = |stream: &Stream| -> io::Result<Vec<u8>> {
        let (mut stored, mut decoder) = (Vec::new(), Decoder::default());
        pak.source.read_into(stream.span.start, index(stream.span.len()), &mut stored)?;
        Ok(decoder.decode(&stored, false, &pak.limits).value.plain.to_vec())
    };
    let mut borders =
        Borders { grid, bytes: usize::from(shape.voxel_bytes).max(1), faces: HashMap::new(), contents: HashMap::new() };
    let Some(order) = order(&borders, &shape, &owned, &read)? else { return Ok(Seams::default()) };
    let faces_of = |stream: &Stream| -> io::Result<(Faces, u128)> {
        let plain = read(stream)?;
        Ok(([0, 1, 2, 3, 4, 5].map(|i| face(&plain, &shape, order, i % 3, i >= 3)), xxh3_128(&plain)))
    };
    let all = parallel::try_map(&owned, |(number, stream)| {
        if (options.stop)() {
            return Ok(None);
        }
        Ok::<_, io::Error>(Some((*number, faces_of(stream)?)))
    })?;
    for (number, (faces, content)) in all.into_iter().flatten() {
        borders.faces.insert(number, faces);
        borders.contents.insert(number, content);
    }
    let good = usual(&borders, &owned);
    // A record whose length was put right may lead to another chunk than its own.
    let mended: HashSet<u32> = analysis
        .records
        .iter()
        .filter(|(number, _, verdict)| matches!(verdict, Verdict::Mended(..)) && is_odd(&borders, *number, good))
        .map(|(number, ..)| *number)
        .collect();
    let (demoted, owned): (Vec<_>, Vec<_>) = owned.into_iter().partition(|(number, _)| mended.contains(number));
    borders.faces.retain(|number, _| !mended.contains(number));
    let streams = analysis.orphans.iter().map(|orphan| orphan.stream).chain(demoted.iter().map(|(_, stream)| *stream));
    let streams: Vec<Stream> = streams.filter(|stream| stream.plain == plain).take(MOST).collect();
    let chunks = parallel::try_map(&streams, |stream| {
        if (options.stop)() {
            return Ok(None);
        }
        let (faces, content) = faces_of(stream)?;
        Ok::<_, io::Error>(Some(Chunk { stream: *stream, from: None, faces, content }))
    })?;
    let chunks: Vec<Chunk> = chunks.into_iter().flatten().collect();
    // Records that are damaged, rather than empty, had a chunk.
    let damaged: HashSet<u32> = analysis
        .records
        .iter()
        .filter(|(_, _, verdict)| !matches!(verdict, Verdict::Fits(_) | Verdict::Mended(..) | Verdict::Over(_)))
        .map(|(number, ..)| *number)
        .collect();
    let taken: HashSet<u32> = analysis
        .records
        .iter()
        .filter(|(number, _, verdict)| matches!(verdict, Verdict::Over(_)) && !borders.faces.contains_key(number))
        .map(|(number, ..)| *number)
        .collect();
    let placing = Placing { count: analysis.layout.count, good, damaged, taken, stop: options.stop };
    let (placed, candidates) = placing.place(borders, &owned, chunks);
    Ok(Seams { placed, demoted, candidates })
}

/// The order of axes that makes neighbours continue each other, where one does so better than all others.
fn order(
    borders: &Borders,
    shape: &Shape,
    owned: &[(u32, Stream)],
    read: &dyn Fn(&Stream) -> io::Result<Vec<u8>>,
) -> io::Result<Option<[usize; 3]>> {
    let by_number: HashMap<u32, &Stream> = owned.iter().map(|(number, stream)| (*number, stream)).collect();
    let pairs: Vec<(&Stream, &Stream, usize)> = owned
        .iter()
        .flat_map(|(number, stream)| [0, 1, 2].map(|axis| (*number, stream, axis)))
        .filter_map(|(number, stream, axis)| {
            let other = by_number.get(&borders.neighbour(number, axis, true)?)?;
            Some((stream, *other, axis))
        })
        .collect();
    let mut sums = [0.0; 6];
    for (a, b, axis) in pairs.iter().step_by(pairs.len().div_ceil(PAIRS).max(1)) {
        let (a, b) = (read(a)?, read(b)?);
        for (sum, order) in sums.iter_mut().zip(ORDERS) {
            let (a, b) = (face(&a, shape, order, *axis, true), face(&b, shape, order, *axis, false));
            *sum += differ(&a, &b, borders.bytes);
        }
    }
    let best = (0..6).min_by(|a, b| sums[*a].total_cmp(&sums[*b]));
    // Where several do as well, the first is that of the records.
    Ok(best.filter(|_| !pairs.is_empty()).and_then(|best| ORDERS.get(best).copied()))
}

/// The share of voxels that differ across most borders. In a small file two exchanged chunks have a fifth of them.
fn usual(borders: &Borders, owned: &[(u32, Stream)]) -> f64 {
    let none = HashSet::new();
    let mut all: Vec<f64> = owned
        .iter()
        .filter_map(|(number, _)| Some(borders.around(borders.faces.get(number)?, *number, &none)))
        .flatten()
        .collect();
    all.sort_unstable_by(f64::total_cmp);
    all.get(all.len() * 3 / 4).copied().unwrap_or(1.0).max(GOOD)
}

pub(super) fn is_better(here: f64, there: f64) -> bool {
    there > here * TIMES && there > here + MARGIN
}

/// Whether a chunk does not continue most of its neighbours.
pub(super) fn is_odd(borders: &Borders, number: u32, good: f64) -> bool {
    let Some(faces) = borders.faces.get(&number) else { return false };
    let around = borders.around(faces, number, &HashSet::new());
    let bad = around.iter().filter(|share| **share > good * 1.5).count();
    bad >= 2 && bad * 4 >= around.len() * 3
}

/// Adds the placed chunks to the analysis of the file.
pub(super) fn apply(analysis: &mut PakAnalysis, seams: Seams) {
    let Seams { placed, demoted, candidates } = seams;
    let filled: HashSet<u32> = placed.iter().map(|p| p.record).collect();
    let moved: HashSet<u64> = placed.iter().map(|p| p.stream.span.start).collect();
    let lost = "its record leads to the chunk of another place";
    for (record, stream) in demoted {
        if let Some(record) = analysis.records.iter_mut().find(|(number, ..)| *number == record) {
            record.2 = Verdict::Lost(lost);
        }
        analysis.orphans.push(Orphan { stream, candidates: Vec::new() });
    }
    for (number, _, verdict) in &mut analysis.records {
        let Some(span) = verdict.usable() else { continue };
        if let (true, Verdict::Fits(stream) | Verdict::Mended(stream, _)) = (filled.contains(number), *verdict) {
            // Another chunk takes its place; its own may have none.
            if !moved.contains(&span.start) {
                analysis.orphans.push(Orphan { stream, candidates: Vec::new() });
            }
        } else if moved.contains(&span.start) {
            *verdict = Verdict::Lost(lost);
        }
    }
    for p in &placed {
        let why = match p.from {
            Some(_) => "its record led to the chunk of another place; this one continues its neighbours",
            None => "its record was empty; only this chunk continues its neighbours",
        };
        let verdict = Verdict::Mended(p.stream, why);
        match analysis.records.iter_mut().find(|(number, ..)| *number == p.record) {
            Some(record) => record.2 = verdict,
            None => analysis.records.push((p.record, Record::ABSENT, verdict)),
        }
    }
    analysis.orphans.retain(|orphan| !moved.contains(&orphan.stream.span.start));
    for orphan in &mut analysis.orphans {
        if let Some(places) = candidates.get(&orphan.stream.span.start)
            && orphan.candidates.is_empty()
        {
            orphan.candidates.clone_from(places);
        }
    }
    analysis.orphans.sort_by_key(|orphan| orphan.stream.span);
    analysis.records.sort_unstable_by_key(|(number, ..)| *number);
    // A chunk that fits an empty record better than any place that is taken is no old state.
    analysis.trouble |=
        !placed.is_empty() || analysis.orphans.iter().any(|o| candidates.contains_key(&o.stream.span.start));
    analysis.placed = placed;
}
