//! Two rooms of pak regions, compared chunk by chunk.

use std::collections::{BTreeMap, HashSet};

use crate::bytes::index;
use crate::check;
use crate::diff::{BlockChange, Change, Error, Options, Other, Side, Summary, WINDOW, What};
use crate::pak::record::Record;
use crate::parallel;
use crate::save::{Pak, PakDir, PakScratch, PakView, Save};
use crate::source::FileSource;
use crate::watch::Step;
use crate::world::{Fault, order};

/// A chunk: the number of its file, and its record.
type ChunkAt = (usize, u32, Record);

/// The chunks of a room with known positions.
#[derive(Default)]
struct Room {
    paks: Vec<Pak<FileSource>>,
    chunks: BTreeMap<[i32; 3], ChunkAt>,
    /// Regions whose files have chunks that are not read, or may.
    unread: HashSet<[i32; 3]>,
    /// Chunks that are left out because another one has their position.
    twice: u64,
    faults: Vec<Fault>,
}

impl Room {
    fn read(save: &Save, dir: &PakDir) -> Self {
        let mut room = Self::default();
        for file in &dir.files {
            let shown = save.shown(&dir.dir.join(&file.name));
            let mut damage = Vec::new();
            let mut leave = |why: String| {
                room.unread.insert(file.region);
                room.faults.push(Fault { file: shown.clone(), why });
            };
            let pak = match save.pak(dir, file, &mut damage) {
                Ok(Some(pak)) => pak,
                Ok(None) => {
                    leave(damage.first().map_or_else(|| "nothing in it can be read".to_owned(), ToString::to_string));
                    continue;
                }
                // What cannot be opened is named with the save.
                Err(_) => {
                    room.unread.insert(file.region);
                    continue;
                }
            };
            match check::uncounted_chunks(&pak) {
                Ok(why) => why.into_iter().for_each(&mut leave),
                Err(error) => leave(error.to_string()),
            }
            let number = room.paks.len();
            let mut without_place = 0u64;
            for (record, entry) in pak.present() {
                let Some(position) = pak.chunk(record) else {
                    without_place += 1;
                    continue;
                };
                let is_new = room.chunks.insert(position, (number, record, entry)).is_none();
                room.twice += u64::from(!is_new);
            }
            if without_place > 0 {
                let chunks = crate::printable::count(without_place, "chunk");
                let why = format!("{chunks} without a known position: not compared");
                room.faults.push(Fault { file: shown, why });
            }
            // A room may have more files than a process may have open.
            pak.source.close();
            room.paks.push(pak);
        }
        room
    }

    fn view<'a>(&self, at: ChunkAt, scratch: &'a mut PakScratch) -> Result<PakView<'a>, String> {
        let (pak, record, entry) = at;
        let pak = self.paks.get(pak).ok_or("the file is gone")?;
        pak.view(record, entry, scratch).map_err(|error| error.to_string())
    }

    /// Why a chunk that is not there may be in what is not read; `None` if it is missing.
    fn hides(&self, region: Option<[i32; 3]>) -> Option<String> {
        let region = region.filter(|region| self.unread.contains(region))?;
        let [x, y, z] = region;
        Some(format!("it may be in the file of region ({x}, {y}, {z}), which is not read completely"))
    }

    fn region(&self, at: ChunkAt) -> Option<[i32; 3]> {
        self.paks.get(at.0).map(|pak| pak.region)
    }
}

/// Buffers of one thread.
#[derive(Default)]
struct Buffers {
    a: PakScratch,
    b: PakScratch,
}

/// Compares two rooms and passes on differences: all have LOD 0. A chunk that moved is removed and added.
///
/// # Errors
/// If a file changes meanwhile. A chunk that cannot be read is listed and is not an error.
pub fn chunks(
    (save_a, dir_a): (&Save, &PakDir),
    (save_b, dir_b): (&Save, &PakDir),
    options: &Options<'_>,
    mut sink: impl FnMut(Change),
) -> Result<Summary, Error> {
    let (a, b) = (Room::read(save_a, dir_a), Room::read(save_b, dir_b));
    let of = |side, faults: &[Fault]| faults.iter().map(|fault| (side, fault.clone())).collect::<Vec<_>>();
    let mut summary = Summary {
        blocks: [a.chunks.len() as u64, b.chunks.len() as u64],
        twice: [a.twice, b.twice],
        faults: [of(Side::A, &a.faults), of(Side::B, &b.faults)].concat(),
        ..Summary::default()
    };
    let mut positions: Vec<[i32; 3]> = a.chunks.keys().chain(b.chunks.keys()).copied().collect();
    positions.sort_unstable_by_key(|position| order(*position));
    positions.dedup();
    options.watch.begin(Step::Comparing, positions.len() as u64);
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    for window in positions.chunks(WINDOW) {
        if options.watch.is_cancelled() {
            summary.interrupted = true;
            break;
        }
        let compared = parallel::map_with(window, |buffers: &mut Buffers, at| {
            compare([&a, &b], [a.chunks.get(at), b.chunks.get(at)], buffers)
        });
        options.watch.advance(window.len() as u64);
        for (position, what) in window.iter().zip(compared) {
            let change = |what| Change { lod: 0, position: *position, across: 1, what };
            match what {
                None => summary.same += 1,
                Some(What::Removed) => removed.push(change(What::Removed)),
                Some(What::Added) => added.push(change(What::Added)),
                Some(what) => {
                    summary.count(&what);
                    sink(change(what));
                }
            }
        }
    }
    for change in removed.into_iter().chain(added) {
        summary.count(&change.what);
        sink(change);
    }
    for (save, dir, room) in [(save_a, dir_a, &a), (save_b, dir_b, &b)] {
        if room.paks.iter().any(|pak| pak.source.changed().unwrap_or(true)) {
            return Err(Error::Changed(save.shown(&dir.dir).into()));
        }
    }
    Ok(summary)
}

/// How a chunk differs; `None` if it is the same.
fn compare([a, b]: [&Room; 2], [at_a, at_b]: [Option<&ChunkAt>; 2], buffers: &mut Buffers) -> Option<What> {
    let Buffers { a: scratch_a, b: scratch_b } = buffers;
    let unreadable = |side, why, other| Some(What::Unreadable { side, why, other: Some(other) });
    let view_a = at_a.map(|at| readable(a, *at, scratch_a)).transpose();
    let view_b = at_b.map(|at| readable(b, *at, scratch_b)).transpose();
    match (view_a, view_b) {
        (Err(why), Ok(Some(_))) => unreadable(Side::A, why, Other::Whole),
        (Err(why), Ok(None)) => unreadable(Side::A, why, Other::Missing),
        (Err(why), Err(_)) => unreadable(Side::A, why, Other::Unreadable),
        (Ok(Some(_)), Err(why)) => unreadable(Side::B, why, Other::Whole),
        (Ok(None), Err(why)) => unreadable(Side::B, why, Other::Missing),
        (Ok(Some(one)), Ok(Some(other))) => difference(&one, &other).map(What::Changed),
        (Ok(Some(_)), Ok(None)) => match b.hides(at_a.and_then(|at| a.region(*at))) {
            Some(why) => unreadable(Side::B, why, Other::Whole),
            None => Some(What::Removed),
        },
        (Ok(None), Ok(Some(_))) => match a.hides(at_b.and_then(|at| b.region(*at))) {
            Some(why) => unreadable(Side::A, why, Other::Whole),
            None => Some(What::Added),
        },
        (Ok(None), Ok(None)) => None,
    }
}

/// A chunk, if it can be read completely; otherwise why not.
fn readable<'a>(room: &Room, at: ChunkAt, scratch: &'a mut PakScratch) -> Result<PakView<'a>, String> {
    let view = room.view(at, scratch)?;
    match view.fault() {
        Some(why) => Err(why),
        None if view.payload.is_none() => Err("it cannot be read".to_owned()),
        None => Ok(view),
    }
}

/// How two chunks differ. Voxels are counted if both have the same shape.
fn difference(a: &PakView<'_>, b: &PakView<'_>) -> Option<BlockChange> {
    let [one, other] = [a, b].map(|view| view.payload.map_or(&[][..], |payload| payload.plain));
    if one == other {
        return None;
    }
    let shapes = a.shape.as_ref().zip(b.shape.as_ref());
    let shape = shapes.filter(|(a, b)| a.value == b.value).map(|(shape, _)| shape.value);
    let voxels = shape.map_or(0, |shape| {
        let size = index(u64::from(shape.voxel_bytes)).max(1);
        one.chunks(size).zip(other.chunks(size)).filter(|(one, other)| one != other).count() as u64
    });
    let (channels, list, metadata) = (Vec::new(), Vec::new(), Vec::new());
    Some(BlockChange { voxels, bounds: None, channels, list, metadata, instances: false })
}
