//! Puts chunks into empty records by their seams, from the known chunks inward.
//!
//! A chunk is placed where it continues at least two neighbours, where no other chunk of the file does so half as well,
//! and where no other place, empty or taken, fits it half as well. Each chunk that is placed is a neighbour of the next
//! ones. Chunks that contradict their neighbours take part with the others, and keep their places if no other chunk fits
//! these. Chunks of equal voxels are interchangeable.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::parallel;
use crate::recover::pak::Stream;
use crate::recover::pak::seams::{Borders, Faces, Placed, differ, is_better, is_odd, mean};

/// The most voxels that are compared.
const STEPS: usize = 4 << 30;
/// Candidates that are named for a chunk.
const NAMED: usize = 4;
/// Pairs of chunks that are no neighbours, by which it is known how much strangers differ.
const STRANGERS: usize = 256;

/// A chunk that is to be placed.
pub(super) struct Chunk {
    pub stream: Stream,
    /// The record that leads to it, if it contradicts its neighbours there.
    pub from: Option<u32>,
    pub faces: Faces,
    /// Hash of its voxels.
    pub content: u128,
}

/// What chunks are placed by.
pub(super) struct Placing<'p> {
    /// The number of records.
    pub count: u32,
    /// The share of voxels that differ across most borders.
    pub good: f64,
    /// Records that had a chunk, and lead to none.
    pub damaged: HashSet<u32>,
    /// Records whose chunks are not compared.
    pub taken: HashSet<u32>,
    pub stop: &'p (dyn Fn() -> bool + Sync),
}

/// Chunks of equal voxels.
struct Content {
    /// Those that have no place yet.
    chunks: Vec<Chunk>,
    faces: Faces,
    hash: u128,
    /// Whether all its outer voxels are of one kind: such faces say almost nothing.
    plain: bool,
    /// What it differs by from the neighbours of each open place.
    sums: Vec<f64>,
}

/// A record without a chunk.
struct Place {
    record: u32,
    neighbours: u32,
    open: bool,
}

/// Where a content fits.
type Places = Vec<(u32, f64)>;

impl Placing<'_> {
    /// Places chunks without a record, and those of `owned` that contradict their neighbours. Gives the candidates of the
    /// others, by where they begin.
    pub fn place(
        &self,
        mut borders: Borders,
        owned: &[(u32, Stream)],
        mut chunks: Vec<Chunk>,
    ) -> (Vec<Placed>, HashMap<u64, Places>) {
        let wide = self.widest(&borders, owned);
        for (number, stream) in owned.iter().filter(|(number, _)| is_odd(&borders, *number, self.good)) {
            let (Some(faces), Some(content)) = (borders.faces.get(number), borders.contents.get(number)) else {
                continue;
            };
            chunks.push(Chunk { stream: *stream, from: Some(*number), faces: faces.clone(), content: *content });
        }
        let odd: Vec<u32> = chunks.iter().filter_map(|chunk| chunk.from).collect();
        for number in &odd {
            borders.faces.remove(number);
        }
        let mut contents: BTreeMap<u128, Content> = BTreeMap::new();
        for chunk in chunks {
            let hash = chunk.content;
            let content = contents.entry(hash).or_insert_with(|| {
                let first = chunk.faces[0].get(..borders.bytes).unwrap_or_default();
                let plain = chunk.faces.iter().all(|face| face.chunks_exact(borders.bytes).all(|cell| cell == first));
                Content { chunks: Vec::new(), faces: chunk.faces.clone(), hash, plain, sums: Vec::new() }
            });
            content.chunks.push(chunk);
        }
        let mut contents: Vec<Content> = contents.into_values().collect();
        let mut places: Vec<Place> = (0..self.count)
            .filter(|record| !borders.faces.contains_key(record) && !self.taken.contains(record))
            .map(|record| Place { record, neighbours: 0, open: true })
            .collect();
        if contents.is_empty() || places.len().saturating_mul(contents.len()) > 1 << 24 {
            return (Vec::new(), HashMap::new());
        }
        let index: HashMap<u32, usize> = places.iter().enumerate().map(|(i, place)| (place.record, i)).collect();
        let numbers: Vec<u32> = places.iter().map(|place| place.record).collect();
        contents.iter_mut().for_each(|content| content.sums = vec![0.0; numbers.len()]);
        let mut steps = 0usize;
        for (i, record) in numbers.iter().enumerate() {
            steps += self.compare(&borders, *record, i, &mut contents, &mut places[i]);
        }
        let mut placed: Vec<Placed> = Vec::new();
        while !(self.stop)() && steps < STEPS {
            let round = self.round(&borders, &contents, &places, wide);
            if round.is_empty() {
                break;
            }
            for (at, of, share, next) in round {
                let Some(chunk) = contents[of].take(places[at].record) else { continue };
                let record = places[at].record;
                places[at].open = false;
                borders.faces.insert(record, chunk.faces);
                borders.contents.insert(record, chunk.content);
                if chunk.from != Some(record) {
                    placed.push(Placed { record, from: chunk.from, stream: chunk.stream, differ: [share, next] });
                }
                for (axis, far) in (0..3).flat_map(|axis| [(axis, false), (axis, true)]) {
                    let beside = borders.neighbour(record, axis, far).and_then(|other| index.get(&other));
                    if let Some(i) = beside.copied().filter(|i| places[*i].open) {
                        steps += self.add(&borders, record, (axis, !far), i, &mut contents);
                        places[i].neighbours += 1;
                    }
                }
            }
        }
        placed.sort_by_key(|p| p.record);
        let candidates = self.candidates(&borders, &contents, &places, wide);
        (placed, candidates)
    }

    /// Compares all contents with all known neighbours of a place. Gives the voxels that were compared.
    fn compare(&self, borders: &Borders, record: u32, at: usize, contents: &mut [Content], place: &mut Place) -> usize {
        let mut steps = 0;
        for (axis, far) in (0..3).flat_map(|axis| [(axis, false), (axis, true)]) {
            let beside = borders.neighbour(record, axis, far).filter(|other| borders.faces.contains_key(other));
            if let Some(other) = beside {
                steps += self.add(borders, other, (axis, far), at, contents);
                place.neighbours += 1;
            }
        }
        steps
    }

    /// Adds what contents differ by from one neighbour, which is beside the place along an axis.
    fn add(
        &self,
        borders: &Borders,
        neighbour: u32,
        (axis, far): (usize, bool),
        at: usize,
        contents: &mut [Content],
    ) -> usize {
        let Some(faces) = borders.faces.get(&neighbour) else { return 0 };
        let (own, theirs) = (axis + 3 * usize::from(far), axis + 3 * usize::from(!far));
        parallel::each_mut(contents, |content| {
            if !content.chunks.is_empty() {
                content.sums[at] += differ(&content.faces[own], &faces[theirs], borders.bytes);
            }
        });
        contents.len() * faces[theirs].len()
    }

    /// What is beyond doubt now: places, contents, what these differ by there, and what the next best one does.
    fn round(
        &self,
        borders: &Borders,
        contents: &[Content],
        places: &[Place],
        (wide, strange): (f64, f64),
    ) -> Vec<(usize, usize, f64, f64)> {
        let share = |of: usize, at: usize| contents[of].sums[at] / f64::from(places[at].neighbours.max(1));
        let ready: Vec<usize> =
            (0..places.len()).filter(|at| places[*at].open && places[*at].neighbours >= 2).collect();
        let alive: Vec<usize> = (0..contents.len()).filter(|of| !contents[*of].chunks.is_empty()).collect();
        parallel::filter_map(&ready, |at| {
            let record = places[*at].record;
            let mut all: Vec<(f64, usize)> = alive.iter().map(|of| (share(*of, *at), *of)).collect();
            all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let &(here, of) = all.first()?;
            let content = &contents[of];
            let mut next = all.get(1).map_or(strange, |(share, _)| *share);
            if here > wide || !is_better(here, next) {
                return None;
            }
            // Outer voxels of one kind fit wherever that kind is; only a record that had a chunk is one of those places.
            if content.plain && !self.damaged.contains(&record) {
                return None;
            }
            // As many empty places may fit as there are such chunks.
            let others = ready.iter().filter(|other| *other != at).map(|other| share(of, *other));
            let fitting = others.filter(|other| !is_better(here, *other)).count();
            if fitting >= content.chunks.len() {
                return None;
            }
            let none = HashSet::new();
            for (other, faces) in &borders.faces {
                // Where its own voxels are, it is no old state.
                if borders.contents.get(other) == Some(&content.hash) || faces[0].len() != content.faces[0].len() {
                    continue;
                }
                let around = borders.around(&content.faces, *other, &none);
                let there = mean(&around);
                if around.len() >= 2 && !is_better(here, there) {
                    return None;
                }
                if around.len() >= 2 {
                    next = next.min(there);
                }
            }
            Some((*at, of, here, next))
        })
    }

    /// By how much chunks differ from their neighbours at most, and by how much strangers usually do.
    fn widest(&self, borders: &Borders, owned: &[(u32, Stream)]) -> (f64, f64) {
        let none = HashSet::new();
        let mut means: Vec<f64> = owned
            .iter()
            .filter_map(|(number, _)| Some(borders.around(borders.faces.get(number)?, *number, &none)))
            .filter(|around| around.len() >= 2)
            .map(|around| mean(&around))
            .collect();
        means.sort_unstable_by(f64::total_cmp);
        let usual = means.get(means.len() * 97 / 100).copied().unwrap_or(self.good);
        let half = owned.len() / 2;
        let mut strange: Vec<f64> = owned
            .iter()
            .take(half)
            .step_by(half.div_ceil(STRANGERS).max(1))
            .zip(owned.iter().skip(half).step_by(half.div_ceil(STRANGERS).max(1)))
            .filter_map(|((a, _), (b, _))| Some((borders.faces.get(a)?, borders.faces.get(b)?)))
            .map(|(a, b)| differ(&a[3], &b[0], borders.bytes).max(differ(&a[5], &b[2], borders.bytes)))
            .collect();
        strange.sort_unstable_by(f64::total_cmp);
        let strange = strange.get(strange.len() / 4).copied().unwrap_or(0.0);
        (usual.min(strange / 2.0).max(self.good), strange)
    }

    /// The empty records that chunks without a place fit better than any place that is taken.
    fn candidates(
        &self,
        borders: &Borders,
        contents: &[Content],
        places: &[Place],
        (wide, _): (f64, f64),
    ) -> HashMap<u64, Places> {
        let none = HashSet::new();
        let is_asked = |content: &&Content| !content.plain && content.chunks.iter().any(|chunk| chunk.from.is_none());
        let asked: Vec<&Content> = contents.iter().filter(is_asked).collect();
        let all = parallel::map(&asked, |content| {
            let mut fits: Vec<(f64, u32)> = (places.iter().enumerate())
                .filter(|(_, place)| place.open && place.neighbours >= 2)
                .map(|(at, place)| (content.sums[at] / f64::from(place.neighbours), place.record))
                .filter(|(share, _)| *share <= wide)
                .collect();
            fits.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let best = fits.first().map_or(1.0, |(share, _)| *share);
            let own = borders.contents.values().any(|other| *other == content.hash);
            let old = own
                || borders.faces.keys().any(|other| {
                    let around = borders.around(&content.faces, *other, &none);
                    around.len() >= 2 && !is_better(best, mean(&around))
                });
            fits.truncate(if old { 0 } else { NAMED });
            let weight = |share: f64| 1.0 / (share + self.good);
            let total: f64 = fits.iter().map(|(share, _)| weight(*share)).sum();
            let named: Places = fits.iter().map(|(share, record)| (*record, weight(*share) / total)).collect();
            let unowned = content.chunks.iter().filter(|chunk| chunk.from.is_none());
            unowned.map(|chunk| (chunk.stream.span.start, named.clone())).collect::<Vec<_>>()
        });
        all.into_iter().flatten().filter(|(_, places)| !places.is_empty()).collect()
    }
}

impl Content {
    /// One of its chunks for a place: that of the place itself rather than another one.
    fn take(&mut self, record: u32) -> Option<Chunk> {
        let own = self.chunks.iter().position(|chunk| chunk.from == Some(record));
        let at = own.or_else(|| self.chunks.iter().position(|chunk| chunk.from.is_none())).unwrap_or(0);
        (at < self.chunks.len()).then(|| self.chunks.remove(at))
    }
}
