//! One pass over all voxels of a layer: their damage, and the number of voxels of each kind.
//!
//! Large pieces are read at their positions, by as many threads as there are, each with one buffer; together the buffers
//! take at most 8 MiB. A kind of damage is one finding, with how often and where first, however many voxels have it.

mod depths;
mod run;
mod sums;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::bytes::{Span, index};
use crate::damage::{Code, Damage, Value};
use crate::limits::Limits;
use crate::parallel;
use crate::source::Source;
use crate::voxel_map::flags::Histogram;
use crate::voxel_map::grid::{BLOCK_VOXELS, Fault, Grid, LayerFile};
use crate::watch::Watch;

pub use depths::DepthStats;
use run::Run;

/// Bytes of all buffers together.
const BUFFERS: u64 = 8 << 20;

/// Bytes that one thread reads at once, at most.
const CHUNK: u64 = 1 << 19;

/// The result of a pass over a layer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Damage of the voxels and depths. Damage of the files is in [`Grid::faults`].
    pub faults: Vec<Fault>,
    /// Number of voxels with each flag, of all stored voxels, including those beyond `dim`.
    pub counts: Histogram,
    /// Statistics of the depth map, if there is one.
    pub depths: Option<DepthStats>,
    /// The smallest and largest depth of water in the upper half of the voxels, in centimetres, where they are and there is no
    /// depth map.
    pub packed: Option<(i32, i32)>,
    /// Bytes of the data that were read.
    pub bytes: u64,
    /// Whether it was stopped before the end.
    pub stopped: bool,
}

/// The partial result of one thread. Places are in the order of the file.
#[derive(Clone, Debug, Default)]
struct Tally {
    counts: Histogram,
    dry: Option<u64>,
    unknown: Option<u64>,
    beyond: Occurrence,
    shallow: Occurrence,
    packed: Option<(i32, i32)>,
    bytes: u64,
    short: Option<u64>,
    failed: Option<(u64, String)>,
}

/// Number of occurrences, and the first place.
#[derive(Clone, Copy, Debug, Default)]
struct Occurrence {
    count: u64,
    first: Option<u64>,
}

impl Occurrence {
    fn add(&mut self, count: u64, place: u64) {
        self.count = self.count.saturating_add(count);
        self.first = earlier(self.first, Some(place));
    }
}

fn earlier(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

impl Tally {
    fn merge(mut self, other: Self) -> Self {
        self.counts.merge(&other.counts);
        self.dry = earlier(self.dry, other.dry);
        self.unknown = earlier(self.unknown, other.unknown);
        for (to, from) in [(&mut self.beyond, other.beyond), (&mut self.shallow, other.shallow)] {
            to.count = to.count.saturating_add(from.count);
            to.first = earlier(to.first, from.first);
        }
        self.packed = match (self.packed, other.packed) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (a, b) => a.or(b),
        };
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.short = earlier(self.short, other.short);
        self.failed = match (self.failed, other.failed) {
            (Some(a), Some(b)) => Some(if a.0 <= b.0 { a } else { b }),
            (a, b) => a.or(b),
        };
        self
    }
}

/// Scans all voxels of a layer; the progress is in bytes of its data.
pub fn scan<S: Source>(grid: &Grid<S>, limits: &Limits, watch: &Watch<'_>) -> Report {
    let mut report = Report::default();
    let mut shallow = None;
    if let Some(depth) = &grid.depth {
        let (stats, cells) = depths::read(depth, limits, &mut report.faults);
        report.depths = Some(stats);
        shallow = cells;
    }
    let Some(data) = &grid.data else { return report };
    let threads = parallel::threads();
    let each = BUFFERS.checked_div(u64::try_from(threads).unwrap_or(u64::MAX)).unwrap_or(CHUNK).min(CHUNK);
    let block = BLOCK_VOXELS.saturating_mul(data.npy.dtype.size());
    let some = each.checked_div(block).unwrap_or(1).max(1).saturating_mul(BLOCK_VOXELS);
    let there = data.npy.there();
    let next = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let work = |_| {
        let mut tally = Tally::default();
        let mut run = Run::new(grid, shallow.as_ref());
        let mut buffer = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            let place = next.fetch_add(some, Ordering::Relaxed);
            if place >= there {
                break;
            }
            if let Err(error) = data.npy.read(&data.source, place, some, &mut buffer) {
                tally.failed.get_or_insert_with(|| (place, error.to_string()));
                continue;
            }
            let read = crate::bytes::len64(&buffer);
            if read < data.npy.span(place, some).len() {
                tally.short = earlier(tally.short, Some(place));
            }
            tally.bytes = tally.bytes.saturating_add(read);
            let runs = (place..).step_by(index(BLOCK_VOXELS)).zip(buffer.chunks(index(block)));
            for (place, bytes) in runs {
                run.count(place, bytes, &mut tally);
            }
            watch.advance(read);
            if watch.is_cancelled() {
                stop.store(true, Ordering::Relaxed);
            }
        }
        tally
    };
    let tally = parallel::map_indices(threads, work).into_iter().fold(Tally::default(), Tally::merge);
    report.stopped = stop.into_inner();
    report.counts = tally.counts;
    report.packed = tally.packed;
    report.bytes = tally.bytes;
    report.findings(grid, &tally);
    report
}

impl Report {
    fn findings<S: Source>(&mut self, grid: &Grid<S>, tally: &Tally) {
        let Some(data) = &grid.data else { return };
        let mut add = |code, field, count: u64, first: Option<u64>| {
            let Some(place) = first else { return };
            let damage = Damage::new(code, data.npy.span(place, 1), field).found(Value::Number(count));
            let first = grid.cell_at(place);
            self.faults.push(Fault { count, first, ..Fault::new(LayerFile::Data, damage) });
        };
        let counts = &tally.counts;
        add(Code::MapFlagUnknown, "number of voxels with flags that are not known", counts.unknown, tally.unknown);
        add(Code::MapBeyondDim, "number of voxels set beyond dim", tally.beyond.count, tally.beyond.first);
        let shallow = tally.shallow;
        add(Code::MapWaterDepth, "number of water voxels without a depth", shallow.count, shallow.first);
        add(Code::MapFlagDry, "number of voxels with structures and no water", counts.dry, tally.dry);
        if let Some(place) = tally.short {
            let damage = Damage::new(Code::FileChanged, data.npy.span(place, 1), "data");
            self.faults
                .push(Fault::new(LayerFile::Data, damage.found(Value::Words("shorter than when it was opened"))));
        }
        if let Some((place, error)) = &tally.failed {
            let damage =
                Damage::new(Code::FileUnreadable, Span::new(data.npy.span(*place, 1).start, data.npy.data.end), "data");
            let detail = Some(crate::printable::printable(error));
            self.faults.push(Fault { detail, ..Fault::new(LayerFile::Data, damage) });
        }
    }
}

#[cfg(test)]
mod tests;
