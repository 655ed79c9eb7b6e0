//! Finds region files that have the names of others. Only the name of a file gives the coordinates of its region, so only
//! the seams with neighbouring regions, and other LODs of the same place, can show that a name is wrong.
//!
//! A file is in doubt if none of its borders continues a neighbour's and no other LOD has its blocks, or if more contradicts its
//! place than supports it. The search moves files in doubt to each other's places, and to empty places beside other files, as long as
//! more of them go together. If the directories of two LODs were exchanged, all their files go together better afterwards.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::recover::likeness::{Joint, Link, Measure, Place, Silent, linked};
use crate::recover::screen::Screened;
use crate::recover::weights::NAME;
use crate::save::RegionFile;

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

    /// Its LOD and region, from its name.
    const fn place(&self) -> Place {
        (self.file.lod, self.file.position)
    }
}

/// A file whose blocks are those of another region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misnamed {
    /// Its index.
    pub file: usize,
    /// The LOD of its blocks.
    pub lod: u8,
    /// The region of its blocks.
    pub region: [i32; 3],
    /// Neighbours there that its borders continue.
    pub neighbours: u32,
    /// The seams that show it.
    pub seams: u32,
    /// Blocks that other LODs have in the same place.
    pub scaled: u32,
}

/// Files of a LOD that belong to other places, and by how much more goes together there.
#[derive(Clone, Debug, Default)]
struct Moves {
    files: Vec<Misnamed>,
    gain: f64,
}

/// The files of a forest in their places.
pub(super) struct Table<'s> {
    files: &'s [Named<'s>],
    at: HashMap<Place, usize>,
    measure: Measure,
    known: HashMap<(usize, usize, Link), Joint>,
}

/// Finds the files that have the names of others.
#[must_use]
pub fn misnamed(files: &[Named<'_>]) -> Vec<Misnamed> {
    let mut table = Table::new(files);
    let exchanged = table.exchange_lods();
    let mut found = if exchanged.is_empty() { Vec::new() } else { table.all_of(&exchanged) };
    let mut lods = table.lods();
    let mut all: Vec<(u8, Moves)> = lods.iter().map(|&lod| (lod, table.arrange_lod(lod))).collect();
    // Files that move in one LOD may be why another one contradicts it. So the LOD that gains most is put right first.
    while let Some(best) = all.iter().max_by(|(_, a), (_, b)| a.gain.total_cmp(&b.gain)).map(|(lod, _)| *lod) {
        let (others, best): (Vec<_>, Vec<_>) = all.into_iter().partition(|(lod, _)| *lod != best);
        let Some((lod, moves)) = best.into_iter().next().filter(|(_, moves)| !moves.files.is_empty()) else { break };
        lods.remove(&lod);
        table.apply(&moves);
        all = lods.iter().map(|&lod| (lod, table.arrange_lod(lod))).collect();
        let is_instead = |(lod, other): &(u8, Moves)| {
            let is_gone = all.iter().any(|(of, now)| of == lod && now.files.is_empty());
            is_gone && other.gain > moves.gain - NAME.sure
        };
        // One LOD contradicts another, and nothing shows which of them is right.
        if others.iter().any(is_instead) {
            return Vec::new();
        }
        found.retain(|found| moves.files.iter().all(|moved| moved.file != found.file));
        found.extend(moves.files);
    }
    found.sort_unstable_by_key(|found| found.file);
    found
}

/// Files, by their indexes, whose borders and other LODs contradict their places and support nothing of them, although no other place
/// is known to be right.
#[must_use]
pub fn contradicted(files: &[Named<'_>]) -> Vec<usize> {
    let mut table = Table::new(files);
    let is_contradicted = |&file: &usize| {
        let joints = table.joints_of(file, &[]);
        // Of a damaged region not all blocks are placed, so those that are missing at a border show nothing.
        let refuted: u32 = joints.iter().map(|joint| joint.refuted).sum();
        let is_supported = joints.iter().any(|joint| joint.weight > 0.0 && joint.refuted == 0);
        refuted >= NAME.contradicted && !is_supported
    };
    (0..files.len()).filter(is_contradicted).collect()
}

/// Which of some files, by their indexes, nothing supports where they are.
#[must_use]
pub fn unsupported(files: &[Named<'_>], of: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut table = Table::new(files);
    of.filter(|&file| table.joints_of(file, &[]).iter().map(|joint| joint.weight).sum::<f64>() <= 0.0).collect()
}

/// Files, by their indexes, that may have the names of others as far as these files show it: all of a LOD where its seams are too
/// few to show anything.
#[must_use]
pub fn in_doubt(files: &[Named<'_>]) -> Vec<usize> {
    let mut table = Table::new(files);
    let lods = table.lods();
    let of_lod = |lod: u8| match table.measure.silent(lod) {
        Some(Silent::TooFew) => (0..files.len()).filter(|&file| files[file].lod() == lod).collect(),
        _ => table.doubtful(lod),
    };
    lods.into_iter().flat_map(of_lod).collect()
}

impl<'s> Table<'s> {
    /// The files by their names.
    pub(super) fn new(files: &'s [Named<'s>]) -> Self {
        let at: HashMap<Place, usize> = files.iter().enumerate().map(|(i, file)| (file.place(), i)).collect();
        let pairs = files.iter().filter_map(|file| {
            let own = &file.screened.scaled()?.own;
            let (link, _, place) = linked(file.place()).find(|(link, is_first, _)| link.is_octant() && *is_first)?;
            let coarser = files[*at.get(&place)?].screened.scaled()?;
            let Link::Octant(octant) = link else { return None };
            let likeness = own.compare(coarser.finer.get(octant)?);
            (likeness.blocks > 0).then(|| likeness.share())
        });
        let measure = Measure::new(files.iter().map(|file| (file.lod(), file.screened)), pairs.collect());
        Self { files, at, measure, known: HashMap::new() }
    }

    fn lods(&self) -> BTreeSet<u8> {
        self.files.iter().map(Named::lod).collect()
    }

    /// Files of a LOD that go together with no other one, or that more contradicts than supports, in the order of their places.
    fn doubtful(&mut self, lod: u8) -> Vec<usize> {
        if self.measure.silent(lod).is_some() && !self.measure.has_scaled() {
            return Vec::new();
        }
        let of_lod = self.at.iter().filter(|((of, _), _)| *of == lod);
        let mut places: Vec<(Place, usize)> = of_lod.map(|(at, file)| (*at, *file)).collect();
        places.sort_unstable();
        places.retain(|&(at, file)| {
            let joints = self.joints(file, at);
            let weight: f64 = joints.iter().map(|(_, joint)| joint.weight).sum();
            weight < 0.0 || !joints.iter().any(|(_, joint)| joint.joined)
        });
        places.into_iter().map(|(_, file)| file).collect()
    }

    /// How a file goes together with those that are linked with its place, but for some of them.
    pub(super) fn joints_of(&mut self, file: usize, but: &[usize]) -> Vec<Joint> {
        self.joints_but(file, self.files[file].place(), but).into_iter().map(|(_, joint)| joint).collect()
    }

    /// How a file would go together with those that are linked with a place.
    fn joints(&mut self, file: usize, at: Place) -> Vec<(Link, Joint)> {
        self.joints_but(file, at, &[])
    }

    fn joints_but(&mut self, file: usize, at: Place, but: &[usize]) -> Vec<(Link, Joint)> {
        let others: Vec<(Link, bool, Place, usize)> = linked(at)
            .filter_map(|(link, is_first, place)| Some((link, is_first, place, *self.at.get(&place)?)))
            .filter(|(.., other)| *other != file && !but.contains(other))
            .collect();
        let each = |(link, is_first, place, other): (Link, bool, Place, usize)| {
            let joint =
                if is_first { self.joint(file, other, link, at.0) } else { self.joint(other, file, link, place.0) };
            (link, joint)
        };
        others.into_iter().map(each).collect()
    }

    /// How two files go together; `lod` is that of the first one's place.
    fn joint(&mut self, first: usize, second: usize, link: Link, lod: u8) -> Joint {
        let (a, b) = (self.files[first].screened, self.files[second].screened);
        // Of very many files nothing is kept, and what is known of their pairs would take much memory.
        let is_silent = match link {
            Link::Side(axis) => a.border(axis, true).sides.is_empty() && b.border(axis, false).sides.is_empty(),
            Link::Octant(_) => a.scaled().is_none() || b.scaled().is_none(),
        };
        if is_silent {
            return Joint::default();
        }
        if let Some(known) = self.known.get(&(first, second, link)) {
            return *known;
        }
        let joint = self.measure.compare(link, lod, a, b);
        self.known.insert((first, second, link), joint);
        joint
    }

    fn weight(&mut self, at: Place) -> f64 {
        let Some(&file) = self.at.get(&at) else { return 0.0 };
        self.joints(file, at).iter().map(|(_, joint)| joint.weight).sum()
    }

    /// The weight of all that is linked with two places of one LOD.
    fn weight_of_both(&mut self, a: Place, b: Place) -> f64 {
        let common = linked(a).find(|(.., other)| *other == b).and_then(|(link, is_first, _)| {
            let (a, b) = (*self.at.get(&a)?, *self.at.get(&b)?);
            Some(if is_first { (a, b, link) } else { (b, a, link) })
        });
        let twice = common.map_or(0.0, |(first, second, link)| self.joint(first, second, link, a.0).weight);
        self.weight(a) + self.weight(b) - twice
    }

    /// Exchanges what is in two places; either may be empty.
    fn exchange(&mut self, a: Place, b: Place) {
        let [first, second] = [a, b].map(|at| self.at.remove(&at));
        self.at.extend(first.map(|file| (b, file)));
        self.at.extend(second.map(|file| (a, file)));
    }

    /// Puts files where they belong.
    fn apply(&mut self, moves: &Moves) {
        let is_moved = |file: usize| moves.files.iter().any(|moved| moved.file == file);
        self.at.retain(|_, file| !is_moved(*file));
        self.at.extend(moves.files.iter().map(|moved| ((moved.lod, moved.region), moved.file)));
    }

    /// Moves the files in doubt of a LOD as long as more goes together, and returns those that were moved; none if the evidence is too
    /// weak. All files are where they were then.
    fn arrange_lod(&mut self, lod: u8) -> Moves {
        let mut more = self.doubtful(lod);
        if more.is_empty() {
            return Moves::default();
        }
        let own: HashMap<usize, Place> =
            self.at.iter().filter(|(at, _)| at.0 == lod).map(|(at, file)| (*file, *at)).collect();
        let mut moving: Vec<usize> = Vec::new();
        for _ in 0..NAME.rounds {
            moving.extend(more);
            moving.truncate(NAME.files);
            if !self.arrange(lod, &moving) {
                break;
            }
            more = self.doubtful(lod).into_iter().filter(|file| !moving.contains(file)).collect();
            if more.is_empty() {
                break;
            }
        }
        let found = self.found(&moving, &own);
        self.at.retain(|at, _| at.0 != lod);
        self.at.extend(own.into_iter().map(|(file, at)| (at, file)));
        found
    }

    /// Moves files as long as more goes together, and returns whether any was moved.
    fn arrange(&mut self, lod: u8, moving: &[usize]) -> bool {
        let mut own: Vec<Place> = self.at.iter().filter(|(_, file)| moving.contains(file)).map(|(at, _)| *at).collect();
        own.sort_unstable();
        let still: HashSet<Place> = self.at.keys().copied().filter(|at| at.0 == lod && !own.contains(at)).collect();
        let beside = |at: &Place| linked(*at).filter(|(link, ..)| !link.is_octant()).map(|(.., at)| at);
        // With a LOD of its own, the place of a file may be beside no other one.
        let names = moving.iter().map(|&file| self.files[file].place()).filter(|at| at.0 == lod);
        let mut empty: Vec<Place> = still.iter().flat_map(beside).chain(names).collect();
        empty.retain(|at| !self.at.contains_key(at));
        empty.sort_unstable();
        empty.dedup();
        empty.truncate(NAME.empty);
        let mut is_moved = false;
        for _ in 0..moving.len() {
            let places: Vec<Place> = own.iter().chain(&empty).copied().collect();
            let mut best: Option<(f64, Place, Place)> = None;
            for (i, &a) in own.iter().enumerate() {
                for &b in places.iter().skip(i + 1) {
                    let before = self.weight_of_both(a, b);
                    self.exchange(a, b);
                    let gain = self.weight_of_both(a, b) - before;
                    self.exchange(a, b);
                    if gain > best.map_or(NAME.step, |(most, ..)| most) {
                        best = Some((gain, a, b));
                    }
                }
            }
            let Some((_, a, b)) = best else { break };
            self.exchange(a, b);
            is_moved = true;
        }
        is_moved
    }

    /// A file in a place, with what other files but some show of it, and whether that is enough.
    fn shown(&mut self, file: usize, (lod, region): Place, but: &[usize]) -> (Misnamed, bool) {
        let mut shown = Misnamed { file, lod, region, neighbours: 0, seams: 0, scaled: 0 };
        let joints = self.joints_but(file, (lod, region), but);
        for (link, joint) in joints.iter().filter(|(_, joint)| joint.joined) {
            match link {
                Link::Side(_) => {
                    shown.neighbours += 1;
                    shown.seams += joint.blocks;
                }
                Link::Octant(_) => shown.scaled += joint.blocks,
            }
        }
        let weight = |sign: f64| joints.iter().map(|(_, joint)| (joint.weight * sign).max(0.0)).sum::<f64>();
        // A block that is compared with another LOD counts twice: it has more cells than a seam.
        let is_shown = shown.seams + 2 * shown.scaled >= NAME.blocks;
        (shown, is_shown && weight(-1.0) * NAME.against <= weight(1.0))
    }

    /// The files that were moved, or none if the evidence is too weak. A file that was moved without evidence goes back. If its place is
    /// taken, a healthy save shows nothing; of a damaged one, those go back that changed places with it, unless it is the only one of
    /// them and they leave it no other place.
    fn found(&mut self, moving: &[usize], own: &HashMap<usize, Place>) -> Moves {
        let is_damaged = self.files.iter().any(|file| file.screened.has_unknown());
        let (moved, found) = loop {
            let mut moved: Vec<(usize, Place)> = self.at.iter().map(|(at, file)| (*file, *at)).collect();
            moved.sort_unstable();
            moved.retain(|(file, at)| moving.contains(file) && own.get(file).is_some_and(|own| own != at));
            let shown: Vec<(Misnamed, bool)> = moved.iter().map(|&(file, at)| self.shown(file, at, &[])).collect();
            let is_refused = |ring: &Vec<usize>| {
                let all_shown = ring.iter().all(|k| shown[*k].1);
                !(all_shown || is_damaged && self.leaves_one_place(ring, &moved, own))
            };
            let Some(mut ring) = rings(&moved, own).into_iter().find(is_refused) else {
                break (moved, shown.into_iter().map(|(shown, _)| shown).collect::<Vec<_>>());
            };
            let is_free = |k: &usize| own.get(&moved[*k].0).is_some_and(|home| !self.at.contains_key(home));
            if let Some(k) = ring.iter().copied().find(|k| !shown[*k].1 && is_free(k)) {
                ring = vec![k];
            } else if !is_damaged {
                self.send_home(moved.into_iter(), own);
                return Moves::default();
            }
            self.send_home(ring.into_iter().map(|k| moved[k]), own);
        };
        let gain = self.gain(&moved, own);
        self.send_home(moved.into_iter(), own);
        if gain >= NAME.sure { Moves { files: found, gain } } else { Moves::default() }
    }

    /// Whether there is evidence for all files of a ring but one, even without what that one shows: it has lost its place, and can only be
    /// in the place that is left. Files are given by their indexes in `moved`.
    fn leaves_one_place(&mut self, ring: &[usize], moved: &[(usize, Place)], own: &HashMap<usize, Place>) -> bool {
        let ring: Vec<(usize, Place)> = ring.iter().map(|k| moved[*k]).collect();
        let is_closed = ring.iter().all(|(file, _)| own.get(file).is_some_and(|home| self.at.contains_key(home)));
        if !is_closed || ring.len() < 2 || self.gain(&ring, own) < NAME.sure {
            return false;
        }
        let files: Vec<usize> = ring.iter().map(|(file, _)| *file).collect();
        ring.iter().any(|&(left, at)| {
            let mut others = ring.iter().filter(|(file, _)| *file != left);
            let fits = |table: &mut Self, at: Place| -> f64 {
                table.joints_but(left, at, &files).iter().map(|(_, joint)| joint.weight).sum()
            };
            others.all(|&(file, at)| self.shown(file, at, &[left]).1)
                && own.get(&left).is_some_and(|home| fits(self, at) >= fits(self, *home))
        })
    }

    /// How much more goes together with files in the places that they were moved to than in their own.
    fn gain(&mut self, moved: &[(usize, Place)], own: &HashMap<usize, Place>) -> f64 {
        let after: f64 = moved.iter().map(|(_, at)| self.weight(*at)).sum();
        self.send_home(moved.iter().copied(), own);
        let homes = moved.iter().filter_map(|(file, _)| own.get(file));
        let before: f64 = homes.map(|at| self.weight(*at)).sum();
        moved.iter().filter_map(|(file, _)| own.get(file)).for_each(|home| {
            self.at.remove(home);
        });
        self.at.extend(moved.iter().map(|(file, at)| (*at, *file)));
        after - before
    }

    /// Puts moved files where their names put them.
    fn send_home(&mut self, moved: impl Iterator<Item = (usize, Place)> + Clone, own: &HashMap<usize, Place>) {
        for (_, at) in moved.clone() {
            self.at.remove(&at);
        }
        self.at.extend(moved.filter_map(|(file, _)| Some((*own.get(&file)?, file))));
    }

    /// The weight of all pairs of LODs, and how many blocks in them go together.
    fn weight_of_lods(&mut self) -> (f64, u32) {
        let mut places: Vec<(Place, usize)> = self.at.iter().map(|(at, file)| (*at, *file)).collect();
        places.sort_unstable();
        let (mut weight, mut blocks) = (0.0, 0);
        for (at, file) in places {
            // Each pair is counted at its coarser region.
            for (link, is_first, other) in linked(at).filter(|(link, ..)| link.is_octant()) {
                if let Some(&child) = self.at.get(&other).filter(|_| !is_first) {
                    let joint = self.joint(child, file, link, other.0);
                    weight += joint.weight;
                    blocks += if joint.joined { joint.blocks } else { 0 };
                }
            }
        }
        (weight, blocks)
    }

    fn exchange_two_lods(&mut self, a: u8, b: u8) {
        let lod = |of: u8| match of {
            of if of == a => b,
            of if of == b => a,
            of => of,
        };
        self.at = self.at.drain().map(|((of, at), file)| ((lod(of), at), file)).collect();
    }

    /// Exchanges whole LODs as long as more goes together, and returns those that were.
    fn exchange_lods(&mut self) -> BTreeSet<u8> {
        let mut exchanged = BTreeSet::new();
        if !self.measure.has_scaled() {
            return exchanged;
        }
        let lods: Vec<u8> = self.lods().into_iter().collect();
        let (mut before, _) = self.weight_of_lods();
        for _ in 0..lods.len() {
            // A LOD between two others that go together with it is in its place.
            if before > 0.0 {
                break;
            }
            let mut best: Option<(f64, u8, u8)> = None;
            for (i, &a) in lods.iter().enumerate() {
                for &b in lods.iter().skip(i + 1) {
                    self.exchange_two_lods(a, b);
                    let (weight, blocks) = self.weight_of_lods();
                    self.exchange_two_lods(a, b);
                    let is_sure = blocks >= NAME.blocks && weight >= before.max(0.0) + NAME.sure;
                    if is_sure && weight > best.map_or(f64::MIN, |(most, ..)| most) {
                        best = Some((weight, a, b));
                    }
                }
            }
            let Some((weight, a, b)) = best else { break };
            self.exchange_two_lods(a, b);
            exchanged.extend([a, b]);
            before = weight;
        }
        exchanged
    }

    /// All files of LODs that were exchanged.
    fn all_of(&mut self, lods: &BTreeSet<u8>) -> Vec<Misnamed> {
        let mut places: Vec<(Place, usize)> = self.at.iter().map(|(at, file)| (*at, *file)).collect();
        places.retain(|(at, file)| lods.contains(&at.0) && self.files[*file].place() != *at);
        places.sort_unstable();
        places.into_iter().map(|(at, file)| self.shown(file, at, &[]).0).collect()
    }
}

/// Files that took each other's places, by their indexes in `moved`: rings, and rows of which the first one left its place empty.
fn rings(moved: &[(usize, Place)], own: &HashMap<usize, Place>) -> Vec<Vec<usize>> {
    let in_place: HashMap<Place, usize> = moved.iter().enumerate().map(|(k, (_, at))| (*at, k)).collect();
    let mut of = (0..moved.len()).collect::<Vec<usize>>();
    for _ in 0..moved.len() {
        for k in 0..moved.len() {
            // The file that is where this one was.
            if let Some(&other) = own.get(&moved[k].0).and_then(|home| in_place.get(home)) {
                let first = of[k].min(of[other]);
                (of[k], of[other]) = (first, first);
            }
        }
    }
    let mut rings: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    of.into_iter().enumerate().for_each(|(k, first)| rings.entry(first).or_default().push(k));
    rings.into_values().collect()
}
