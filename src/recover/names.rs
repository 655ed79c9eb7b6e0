//! Finds region files that have the names of others. Only the name of a file gives the coordinates of its region, so only
//! the seams with neighbouring regions can show that a name is wrong.
//!
//! A file is in doubt if none of its borders continues a neighbour's. The search moves files in doubt to each other's places,
//! and to empty places beside other files, as long as more borders continue.

use std::collections::{HashMap, HashSet};

use crate::recover::screen::{Border, Screened, Tally, directions};
use crate::recover::sketch::CELLS;
use crate::save::RegionFile;

/// The most files in doubt of a LOD, and the most empty places, that are tried.
const FILES: usize = 128;
const EMPTY: usize = 512;

/// The fewest cells of seams to learn from, and the least difference between the shares of cells that differ between
/// strangers and between neighbours. Below them borders show nothing.
const LEAST: u64 = 64 * CELLS as u64;
const TELLING: f64 = 0.1;

/// A border that differs as much as neighbours do scores 0, one that differs as much as strangers scores 1. The highest score
/// of a border that continues, and the lowest of a broken one.
const JOINED: f64 = 0.35;
const BROKEN: f64 = 0.65;

/// The fewest seams with which a border counts, and the most that add to its weight.
const FEWEST: u32 = 3;
const MOST: u32 = 16;

/// The least gain in the weight of all borders with which files are reported, and the fewest seams that must continue.
const SURE: f64 = 16.0;
const SEAMS: u32 = 8;

/// A region file with what a first look shows of it.
#[derive(Clone, Copy, Debug)]
pub struct Named<'s> {
    /// The file.
    pub file: &'s RegionFile,
    /// Its seams.
    pub screened: &'s Screened,
}

impl<'s> Named<'s> {
    /// A region file, with its seams.
    #[must_use]
    pub const fn new(file: &'s RegionFile, screened: &'s Screened) -> Self {
        Self { file, screened }
    }

    const fn lod(&self) -> u8 {
        self.file.lod
    }

    /// Its region, from its name.
    const fn position(&self) -> [i32; 3] {
        self.file.position
    }
}

/// A file whose blocks are those of another region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misnamed {
    /// Its index.
    pub file: usize,
    /// The region of its blocks.
    pub region: [i32; 3],
    /// Neighbours there that its borders continue.
    pub neighbours: u32,
    /// The seams that show it.
    pub seams: u32,
}

/// How two borders go together.
#[derive(Clone, Copy, Debug, Default)]
struct Joint {
    /// Seams that were compared.
    seams: u32,
    /// The number of seams times a value from 1 (like neighbours) to -1 (like strangers).
    weight: f64,
    joined: bool,
    broken: bool,
}

/// The files of one LOD in their places.
struct Table<'s> {
    files: &'s [Named<'s>],
    at: HashMap<[i32; 3], usize>,
    /// Along each axis the share of cells that differ between neighbours, and by how much that of strangers exceeds it; `None`
    /// where they differ as much, so that borders show nothing.
    axes: [Option<(f64, f64)>; 3],
    known: HashMap<(usize, usize, usize), Joint>,
}

/// Finds the files that have the names of others.
#[must_use]
pub fn misnamed(files: &[Named<'_>]) -> Vec<Misnamed> {
    let mut lods: Vec<u8> = files.iter().map(Named::lod).collect();
    lods.sort_unstable();
    lods.dedup();
    lods.into_iter().flat_map(|lod| of_lod(files, lod)).collect()
}

/// Files, by their indexes, that may have the names of others as far as these files show it: all of a LOD where its seams are too
/// few to show anything.
#[must_use]
pub fn in_doubt(files: &[Named<'_>]) -> Vec<usize> {
    let mut lods: Vec<u8> = files.iter().map(Named::lod).collect();
    lods.sort_unstable();
    lods.dedup();
    let of_lod = |lod: u8| match Table::of_lod(files, lod) {
        Ok(mut table) => table.doubtful(),
        Err(Silent::TooFew) => (0..files.len()).filter(|&file| files[file].lod() == lod).collect(),
        Err(Silent::Alike) => Vec::new(),
    };
    lods.into_iter().flat_map(of_lod).collect()
}

fn of_lod(files: &[Named<'_>], lod: u8) -> Vec<Misnamed> {
    let Ok(mut table) = Table::of_lod(files, lod) else { return Vec::new() };
    let mut moving = table.doubtful();
    if moving.is_empty() {
        return Vec::new();
    }
    moving.truncate(FILES);
    table.arrange(&moving);
    table.found(&moving)
}

/// The place beside another one.
fn neighbour(mut at: [i32; 3], axis: usize, upper: bool) -> Option<[i32; 3]> {
    at[axis] = if upper { at[axis].checked_add(1)? } else { at[axis].checked_sub(1)? };
    Some(at)
}

/// Why the seams of a LOD show no wrong names.
enum Silent {
    /// There are too few.
    TooFew,
    /// Those of strangers do not differ more than those of neighbours.
    Alike,
}

impl<'s> Table<'s> {
    /// The files of a LOD by their names.
    fn of_lod(files: &'s [Named<'s>], lod: u8) -> Result<Self, Silent> {
        let (mut near, mut random) = ([Tally::default(); 3], [Tally::default(); 3]);
        for file in files.iter().filter(|file| file.lod() == lod) {
            for axis in 0..3 {
                near[axis].merge(file.screened.near[axis].into());
                random[axis].merge(file.screened.random[axis].into());
            }
        }
        let cells = |tallies: &[Tally; 3]| tallies.iter().map(|tally| tally.cells).sum::<u64>();
        if cells(&near) < LEAST || cells(&random) < LEAST {
            return Err(Silent::TooFew);
        }
        let all = |tallies: &[Tally; 3]| {
            tallies.iter().fold(Tally::default(), |mut all, tally| {
                all.merge(*tally);
                all
            })
        };
        let all = (all(&near), all(&random));
        // Noise that is the same at all heights continues upwards and nowhere else.
        let axes = [0, 1, 2].map(|axis| {
            let own = (near[axis], random[axis]);
            let is_known = own.0.cells >= LEAST / 3 && own.1.cells >= LEAST / 3;
            let (near, random) = if is_known { own } else { all };
            let telling = random.share() - near.share();
            (telling >= TELLING).then(|| (near.share(), telling))
        });
        if axes.iter().all(Option::is_none) {
            return Err(Silent::Alike);
        }
        let at: HashMap<[i32; 3], usize> = files
            .iter()
            .enumerate()
            .filter(|(_, file)| file.lod() == lod)
            .map(|(i, file)| (file.position(), i))
            .collect();
        Ok(Self { files, at, axes, known: HashMap::new() })
    }

    /// Files of which no border continues a neighbour's, in the order of their places.
    fn doubtful(&mut self) -> Vec<usize> {
        let mut places: Vec<([i32; 3], usize)> = self.at.iter().map(|(at, file)| (*at, *file)).collect();
        places.sort_unstable();
        places.retain(|&(at, file)| !self.joints(file, at).iter().any(|joint| joint.joined));
        places.into_iter().map(|(_, file)| file).collect()
    }

    /// How the borders of a file would continue those of the neighbours of a place.
    fn joints(&mut self, file: usize, at: [i32; 3]) -> Vec<Joint> {
        let neighbours: Vec<(usize, bool, usize)> = directions()
            .filter_map(|(axis, upper)| Some((axis, upper, *self.at.get(&neighbour(at, axis, upper)?)?)))
            .filter(|(.., other)| *other != file)
            .collect();
        let each =
            |(axis, upper, other)| if upper { self.joint(file, other, axis) } else { self.joint(other, file, axis) };
        neighbours.into_iter().map(each).collect()
    }

    fn joint(&mut self, lower: usize, upper: usize, axis: usize) -> Joint {
        let (below, above) =
            (self.files[lower].screened.border(axis, true), self.files[upper].screened.border(axis, false));
        // Of very many files no borders are kept, and what is known of their pairs would take much memory.
        if below.sides.is_empty() && above.sides.is_empty() {
            return Joint::default();
        }
        if let Some(known) = self.known.get(&(lower, upper, axis)) {
            return *known;
        }
        let joint = self.axes[axis].map_or_else(Joint::default, |shares| compare(shares, below, above));
        self.known.insert((lower, upper, axis), joint);
        joint
    }

    fn weight(&mut self, at: [i32; 3]) -> f64 {
        let Some(&file) = self.at.get(&at) else { return 0.0 };
        self.joints(file, at).iter().map(|joint| joint.weight).sum()
    }

    /// The weight of the borders around two places.
    fn weight_of_both(&mut self, a: [i32; 3], b: [i32; 3]) -> f64 {
        let common =
            directions().find(|&(axis, upper)| neighbour(a, axis, upper) == Some(b)).and_then(|(axis, upper)| {
                let (a, b) = (*self.at.get(&a)?, *self.at.get(&b)?);
                Some(if upper { (a, b, axis) } else { (b, a, axis) })
            });
        let twice = common.map_or(0.0, |(lower, upper, axis)| self.joint(lower, upper, axis).weight);
        self.weight(a) + self.weight(b) - twice
    }

    /// Exchanges what is in two places; either may be empty.
    fn exchange(&mut self, a: [i32; 3], b: [i32; 3]) {
        let [first, second] = [a, b].map(|at| self.at.remove(&at));
        self.at.extend(first.map(|file| (b, file)));
        self.at.extend(second.map(|file| (a, file)));
    }

    /// Moves the files in doubt as long as borders continue better.
    fn arrange(&mut self, moving: &[usize]) {
        let own: Vec<[i32; 3]> = moving.iter().map(|&file| self.files[file].position()).collect();
        let still: HashSet<[i32; 3]> = self.at.keys().copied().filter(|at| !own.contains(at)).collect();
        let mut empty: Vec<[i32; 3]> = still
            .iter()
            .flat_map(|at| directions().filter_map(|(axis, upper)| neighbour(*at, axis, upper)))
            .filter(|at| !self.at.contains_key(at))
            .collect();
        empty.sort_unstable();
        empty.dedup();
        empty.truncate(EMPTY);
        let places: Vec<[i32; 3]> = own.iter().chain(&empty).copied().collect();
        for _ in 0..moving.len() {
            let mut best: Option<(f64, [i32; 3], [i32; 3])> = None;
            for (i, &a) in own.iter().enumerate() {
                for &b in places.iter().skip(i + 1) {
                    let before = self.weight_of_both(a, b);
                    self.exchange(a, b);
                    let gain = self.weight_of_both(a, b) - before;
                    self.exchange(a, b);
                    if gain > best.map_or(0.5, |(most, ..)| most) {
                        best = Some((gain, a, b));
                    }
                }
            }
            let Some((_, a, b)) = best else { break };
            self.exchange(a, b);
        }
    }

    /// The files that were moved, or none if the evidence is too weak.
    fn found(&mut self, moving: &[usize]) -> Vec<Misnamed> {
        let mut moved: Vec<(usize, [i32; 3])> = self.at.iter().map(|(at, file)| (*file, *at)).collect();
        moved.sort_unstable();
        moved.retain(|&(file, at)| moving.contains(&file) && self.files[file].position() != at);
        let mut after = 0.0;
        let mut found = Vec::new();
        for &(file, at) in &moved {
            let joints = self.joints(file, at);
            if joints.iter().any(|joint| joint.broken) {
                return Vec::new();
            }
            after += joints.iter().map(|joint| joint.weight).sum::<f64>();
            let joined = joints.iter().filter(|joint| joint.joined);
            let (neighbours, seams) = joined.fold((0, 0), |(n, seams), joint| (n + 1, seams + joint.seams));
            found.push(Misnamed { file, region: at, neighbours, seams });
        }
        for (_, at) in &moved {
            self.at.remove(at);
        }
        self.at.extend(moved.iter().map(|&(file, _)| (self.files[file].position(), file)));
        let before: f64 = moved.iter().map(|&(file, _)| self.weight(self.files[file].position())).sum();
        let sure = after >= before + SURE && found.iter().all(|file| file.seams >= SEAMS);
        if sure { found } else { Vec::new() }
    }
}
/// How two borders go together. `near` is the share of cells that differ between neighbours, and `telling` by how much that of
/// strangers exceeds it.
fn compare((near, telling): (f64, f64), lower: Border<'_>, upper: Border<'_>) -> Joint {
    let (mut differ, mut common) = (0, 0);
    let has = |border: Border<'_>, at: &[u16; 2]| border.sides.iter().position(|(other, _)| other == at);
    for (at, side) in lower.sides {
        if let Some(k) = has(upper, at) {
            differ += side.differ(&upper.sides[k].1);
            common += 1;
        }
    }
    // If a border has all its telling sides, one without a partner shows that the terrain ends there.
    let alone = |own: Border<'_>, other: Border<'_>| {
        let missing = own.sides.iter().filter(|(at, _)| has(other, at).is_none()).count() as u32;
        if other.is_complete { missing } else { 0 }
    };
    let alone = alone(lower, upper) + alone(upper, lower);
    let seams = common + alone;
    if seams < FEWEST {
        return Joint::default();
    }
    let half = f64::from(alone) * CELLS as f64 / 2.0;
    let share = (f64::from(differ) + half) / (f64::from(seams) * CELLS as f64);
    let strange = (share - near) / telling;
    Joint {
        seams: common,
        weight: (1.0 - 2.0 * strange).clamp(-1.0, 1.0) * f64::from(seams.min(MOST)),
        joined: strange <= JOINED && common >= FEWEST,
        broken: strange >= BROKEN,
    }
}
