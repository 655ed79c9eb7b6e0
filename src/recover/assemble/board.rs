//! The blocks whose places are known, and what their seams say of others.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::parallel;
use crate::recover::assemble::Start;
use crate::recover::assemble::heights::Heights;
use crate::recover::assemble::links::{Few, Link, SIDES, Sides, around};
use crate::recover::assemble::seam_cache::SeamCache;
use crate::recover::cells::{AXES, LOD_AXIS, Model, Pairs, Side, Vocabulary};
use crate::recover::faces::Faces;
use crate::recover::random::Random;
use crate::recover::region::Case;
use crate::recover::seam;
use crate::recover::weights::Weights;

/// A block that may be in a wrong place: its case, the slot and its index in the walk.
pub(super) type Suspect = (usize, u32, usize);

/// Most pairs of neighbours of one axis to learn from.
const LEARN: usize = 4000;

/// Pairs drawn at random for one pair of neighbours.
const STRANGERS: usize = 16;

/// Log-odds from which on a seam is strong, and the least share of such seams at a height where look-alikes are rare.
/// Measured: ground of rolling hills has none to 0.04, ground with ores and caves 0.1 to 0.4.
const STRONG: f64 = 5.0;
const STRONG_SHARE: f64 = 0.06;

/// Slots of each kind, full and empty, that are counted before any is seen. Chosen for small regions, where slots with as many
/// neighbours are mostly all full or all empty. In large ones a surface has all kinds. Measured on runs of lost entries of
/// three large regions: of about 2,480 certain places 2 were wrong with the first, 1 with the second.
const UNSEEN: f64 = 0.1;
const UNSEEN_LARGE: f64 = 0.5;

/// The most that a full slot says of the one beside it, as log-odds. Chosen.
const MOST_BESIDE: f64 = 3.0;

/// Contents of a large region up to which all seams are compared. Chosen.
const MOST_CONTENTS: usize = 1024;

/// A place: a LOD and a position in blocks of it.
type Place = (u8, [i32; 3]);

/// A block by its case and its index there.
pub(super) type Node = (usize, usize);

/// Slots of each region by the number of their occupied neighbours.
pub(super) struct SlotCounts {
    /// Those that hold a block.
    pub filled: Vec<[f64; 7]>,
    /// Those beside a block that hold none.
    pub empty: Vec<[f64; 7]>,
}

/// Everything while blocks are placed.
pub(super) struct Board<'c> {
    pub cases: &'c [&'c Case],
    pub weights: &'c Weights,
    pub sides: Vec<Vec<Option<Arc<Sides>>>>,
    pub model: Model,
    /// What the model said of seams.
    pub cache: SeamCache,
    pub heights: Heights,
    /// Blocks whose places are taken for known.
    pub placed: HashMap<(u8, [i32; 3]), Node>,
    /// Cases by LOD and region.
    pub regions: HashMap<(u8, [i32; 3]), usize>,
    /// By the number of occupied neighbours, the log-odds that a slot holds a block.
    pub occupancy: [f64; 7],
    pub lods: bool,
    /// Of each case whether it has blocks that are neither placed nor to be placed: its slots without one show nothing.
    pub partial: Vec<bool>,
    /// For each axis, how much likelier the slot beside a full one is full than empty, as log-odds.
    pub beside: [f64; 3],
    /// Of each case, how much more two blocks in known places would gain if they were exchanged than is usual, as log-odds.
    pub confusion: Vec<f64>,
}

impl<'c> Board<'c> {
    pub fn side_odds(&self, own: Node, link: Link, other: Node) -> f64 {
        let (Some(own_sides), Some(other_sides)) = (self.sides_of(own), self.sides_of(other)) else { return 0.0 };
        let (lower, upper, axis) = link.sides(own_sides, other_sides);
        let odds = || self.model.odds(lower, upper, axis);
        let Link::Beside(axis, is_upper) = link else { return odds() };
        let (below, above) = if is_upper { (own, other) } else { (other, own) };
        self.cache.odds(axis, self.cache.number(below, axis, true), self.cache.number(above, axis, false), odds)
    }

    pub fn links(&self, lod: u8, position: [i32; 3]) -> Vec<(Link, Node)> {
        self.linked(lod, position).map(|(link, _, node)| (link, node)).collect()
    }

    /// The same with the places of the blocks.
    fn linked(&self, lod: u8, position: [i32; 3]) -> impl Iterator<Item = (Link, Place, Node)> {
        around(lod, position, self.lods).into_iter().filter_map(|(link, at)| Some((link, at, *self.placed.get(&at)?)))
    }

    /// The links of a place in a region, without blocks of other regions that their own neighbours contradict: entries of these regions
    /// may be wrong too.
    pub fn sound_links(&self, r: usize, position: [i32; 3]) -> Vec<(Link, Node)> {
        let own = (self.cases[r].lod, position);
        let is_sound = |(lod, at): Place, node: Node| {
            let others = self.linked(lod, at).filter(|(_, at, _)| *at != own);
            !self.is_suspect(node, &others.map(|(link, _, node)| (link, node)).collect::<Vec<_>>())
        };
        let sound = self.linked(own.0, own.1).filter(|(_, at, node)| node.0 == r || is_sound(*at, *node));
        sound.map(|(link, _, node)| (link, node)).collect()
    }

    /// Whether so few contents of a region are compared that all of each block's seams are, and not some cells of them.
    pub fn compares_all(&self, r: usize, contents: usize) -> bool {
        contents <= MOST_CONTENTS && self.cases[r].is_large()
    }

    /// The sides of a block, if they were kept.
    pub fn sides_of(&self, (r, b): Node) -> Option<&Sides> {
        self.sides.get(r)?.get(b)?.as_deref()
    }

    /// For each side, some cells of it of some blocks of a region.
    pub fn few_of(&self, r: usize, blocks: &[usize]) -> Vec<Few> {
        let of_side = |side: usize| blocks.iter().map(|&block| Some(self.sides_of((r, block))?.few(side))).collect();
        (0..SIDES).map(of_side).collect()
    }

    /// The sum of the seams of a block between placed ones, and how many can be compared.
    pub fn seams(&self, own: Node, links: &[(Link, Node)]) -> (f64, usize) {
        let has_sides = self.sides_of(own).is_some();
        let compared = links.iter().filter(|(_, other)| has_sides && self.sides_of(*other).is_some());
        let (mut sum, mut n) = (0.0, 0);
        for (link, other) in compared {
            n += 1;
            sum += if *other == own { 0.0 } else { self.side_odds(own, *link, *other) };
        }
        (sum, n)
    }

    /// Whether the seams of a block between placed ones contradict its place.
    fn is_suspect(&self, own: Node, links: &[(Link, Node)]) -> bool {
        let (sum, n) = self.seams(own, links);
        n >= 2 && sum <= self.weights.suspect
    }

    /// Anchors that the seams contradict.
    pub fn suspects(&self, starts: &[Start]) -> Vec<Suspect> {
        let mut all = Vec::new();
        for (r, start) in starts.iter().enumerate().filter(|(_, start)| start.check) {
            let case = self.cases[r];
            let found = parallel::filter_map(&start.anchors, |&(slot, block)| {
                let links = self.links(case.lod, case.shape.position(slot)?);
                self.is_suspect((r, block), &links).then_some((r, slot, block))
            });
            all.extend(found);
        }
        all
    }

    /// Learns without blocks that may be in wrong places: what they would teach is wrong.
    pub fn learn_without(&mut self, suspects: &[Suspect], inside: &[(Side, Side, usize)]) {
        let place = |&(r, slot, _): &Suspect| Some((self.cases[r].lod, self.cases[r].shape.position(slot)?));
        let places: Vec<Place> = suspects.iter().filter_map(place).collect();
        let taken: Vec<(Place, Node)> =
            places.into_iter().filter_map(|at| Some((at, self.placed.remove(&at)?))).collect();
        self.learn(inside);
        self.placed.extend(taken);
    }

    /// The heights of a LOD at which some seams leave little doubt, as those of surfaces, ores, caves and buildings do.
    pub fn heights_with_strong_seams(&self, lod: u8) -> HashSet<i32> {
        let mut seams: HashMap<i32, (u32, u32)> = HashMap::new();
        for (&(_, at), &node) in self.placed.iter().filter(|((of, _), _)| *of == lod) {
            for (link, other) in self.links(lod, at) {
                if matches!(link, Link::Beside(_, true)) {
                    let strong = u32::from(self.side_odds(node, link, other) >= STRONG);
                    let (n, of) = seams.entry(at[1]).or_default();
                    *n += 1;
                    *of += strong;
                }
            }
        }
        let is_strong = |(n, strong): (u32, u32)| f64::from(strong) >= f64::from(n) * STRONG_SHARE;
        seams.into_iter().filter(|(_, of)| is_strong(*of)).map(|(height, _)| height).collect()
    }

    /// The case and slot of a position; `None` for the slot of a block that takes no part.
    pub fn slot_at(&self, lod: u8, position: [i32; 3]) -> Option<(usize, u32)> {
        // Regions of one LOD have the same size but for damaged ones.
        let shape = self.cases.iter().find(|case| case.lod == lod)?.shape;
        let (region, slot) = crate::godot::slots::place_block(position, shape.size, shape.formula)?;
        let case = *self.regions.get(&(lod, region))?;
        let is_taken = self.cases.get(case).is_some_and(|case| case.taken.contains(&slot));
        (!is_taken).then_some((case, slot))
    }

    pub fn learn(&mut self, inside: &[(Side, Side, usize)]) {
        let mut pairs: [Pairs<'_>; AXES] = std::array::from_fn(|_| Pairs::default());
        let side = |node: Node| self.sides_of(node);
        let mut all: Vec<(Place, Node)> =
            self.placed.iter().map(|(at, node)| (*at, *node)).filter(|(_, node)| side(*node).is_some()).collect();
        all.sort_unstable();
        let mut found: [Vec<(Node, Link, Node, Place)>; AXES] = Default::default();
        for &((lod, position), node) in &all {
            for (link, at) in around(lod, position, true) {
                let axis = match link {
                    Link::Beside(axis, true) => axis,
                    Link::Parent(_) => LOD_AXIS,
                    _ => continue,
                };
                if let Some(&other) = self.placed.get(&at).filter(|other| side(**other).is_some()) {
                    found[axis].push((node, link, other, at));
                }
            }
        }
        let mut levels: HashMap<(u8, i32), Vec<Node>> = HashMap::new();
        all.iter().for_each(|&(at, node)| levels.entry(level(at)).or_default().push(node));
        let blocks: Vec<Node> = self
            .sides
            .iter()
            .enumerate()
            .flat_map(|(r, of)| (0..of.len()).map(move |b| (r, b)))
            .filter(|node| side(*node).is_some())
            .collect();
        let mut random = Random::from_state(0x2545_f491_4f6c_dd1d);
        for (axis, found) in found.iter().enumerate() {
            for &(own, link, other, at) in found.iter().step_by(found.len().div_ceil(LEARN).max(1)) {
                let (Some(a), Some(b)) = (side(own), side(other)) else { continue };
                let (lower, upper, _) = link.sides(a, b);
                let right = (lower, upper);
                let mut strangers = Vec::with_capacity(STRANGERS);
                // Another block in the place of one of the two.
                for k in 0..STRANGERS {
                    // Half of them from the same height, where blocks are alike.
                    let own_level = levels.get(&level(at)).filter(|_| k % 2 == 1).unwrap_or(&blocks);
                    let stranger = own_level[random.below(own_level.len())];
                    let Some(c) = side(stranger).filter(|_| stranger != own && stranger != other) else { continue };
                    if self.cases[stranger.0].lod != self.cases[other.0].lod {
                        continue;
                    }
                    let (lower, upper, _) = link.sides(a, c);
                    strangers.push((lower, upper));
                }
                pairs[axis].near.push((right, strangers));
            }
        }
        for (lower, upper, axis) in inside {
            pairs[*axis].inside.push((lower, upper));
        }
        let model = Model::learn(pairs, self.weights.least_seams, self.weights.seam_clip);
        self.model = model;
        self.cache.clear();
        self.heights.learn(all.into_iter());
        self.lods = self.model.knows(LOD_AXIS);
    }

    /// The positions of some placed blocks of a LOD whose sides were kept, at most so many and evenly from all of them, without those
    /// that are left out.
    pub fn sample_known(&self, lod: u8, most: usize, is_left_out: impl Fn(&Node) -> bool) -> Vec<[i32; 3]> {
        let is_known = |node: &Node| !is_left_out(node) && self.sides_of(*node).is_some();
        let known = self.placed.iter().filter(|((of, _), node)| *of == lod && is_known(node));
        let mut known: Vec<[i32; 3]> = known.map(|((_, at), _)| *at).collect();
        known.sort_unstable();
        let step = known.len().div_ceil(most).max(1);
        known.into_iter().step_by(step).collect()
    }

    /// The slots beside some others, which are given with their cases.
    pub fn slots_beside(&self, slots: impl IntoIterator<Item = (usize, u32)>) -> HashSet<(usize, u32)> {
        let place = |(r, slot): (usize, u32)| Some((self.cases[r].lod, self.cases[r].shape.position(slot)?));
        let places = slots.into_iter().filter_map(place);
        places.flat_map(|(lod, at)| around(lod, at, false)).filter_map(|(_, (lod, at))| self.slot_at(lod, at)).collect()
    }

    /// Some slots of a region, and those of it that are so many steps from them at most.
    pub fn slots_within(&self, r: usize, slots: impl Iterator<Item = u32>, steps: usize) -> HashSet<u32> {
        let mut within: HashSet<u32> = slots.collect();
        let mut last = within.clone();
        for _ in 0..steps {
            let beside = self.slots_beside(last.iter().map(|slot| (r, *slot)));
            let of_region = beside.into_iter().filter(|(of, _)| *of == r).map(|(_, slot)| slot);
            last = of_region.filter(|slot| within.insert(*slot)).collect();
        }
        within
    }

    /// Counts how often the slots beside full ones are full.
    pub fn count_beside(&mut self) {
        let mut counts = [[0.5f64; 2]; 3];
        for &(lod, at) in self.placed.keys() {
            for (link, beside) in around(lod, at, false) {
                if let Link::Beside(axis, _) = link {
                    counts[axis][usize::from(self.placed.contains_key(&beside))] += 1.0;
                }
            }
        }
        self.beside = counts.map(|[empty, full]| (full / empty).ln().clamp(0.0, MOST_BESIDE));
    }

    /// Counts the slots of placed blocks, and those beside them that hold none. Regions of which only some blocks are listed are left out.
    pub fn count_slots(&self) -> SlotCounts {
        let none = vec![[0.0; 7]; self.cases.len()];
        let mut counts = SlotCounts { filled: none.clone(), empty: none };
        let mut seen: HashSet<Place> = HashSet::new();
        let beside =
            |at: Place| around(at.0, at.1, false).iter().filter(|(_, at)| self.placed.contains_key(at)).count();
        for (&(lod, position), &(r, _)) in self.placed.iter().filter(|(_, node)| !self.partial[node.0]) {
            counts.filled[r][beside((lod, position))] += 1.0;
            for (_, at) in around(lod, position, false) {
                if self.placed.contains_key(&at) || !seen.insert(at) {
                    continue;
                }
                if let Some((r, _)) = self.slot_at(at.0, at.1).filter(|(r, _)| !self.partial[*r]) {
                    counts.empty[r][beside(at)] += 1.0;
                }
            }
        }
        counts
    }

    /// How likely a slot holds a block, by how many of the six beside it do. `missing` are the blocks of each region that
    /// have no place yet: as many of the slots that look empty are not.
    pub fn count_occupied(&mut self, missing: &[f64]) {
        let large = self.cases.iter().any(|case| case.is_large());
        let unseen = if large { UNSEEN_LARGE } else { UNSEEN };
        let SlotCounts { filled: all, mut empty } = self.count_slots();
        let filled: [f64; 7] = std::array::from_fn(|k| unseen + all.iter().map(|of| of[k]).sum::<f64>());
        for (r, case) in self.cases.iter().enumerate().filter(|(r, _)| !self.partial[*r]) {
            let volume = case.shape.volume() as f64;
            let counted: f64 = all[r].iter().chain(&empty[r]).sum();
            empty[r][0] += (volume - counted).max(0.0);
        }
        let mut taken = [0.0f64; 7];
        for _ in 0..8 {
            let all: [f64; 7] = std::array::from_fn(|k| empty.iter().map(|of| of[k]).sum());
            self.occupancy =
                std::array::from_fn(|k| ((filled[k] + taken[k]) / (all[k] - taken[k] + unseen).max(unseen)).ln());
            taken = [0.0; 7];
            for (empty, &missing) in empty.iter().zip(missing).filter(|(_, missing)| **missing > 0.0) {
                let share = |by: f64| -> [f64; 7] {
                    std::array::from_fn(|k| empty[k] / (1.0 + (-self.occupancy[k] - by).exp()))
                };
                let (mut low, mut high) = (-20.0, 20.0);
                for _ in 0..40 {
                    let by = f64::midpoint(low, high);
                    if share(by).iter().sum::<f64>() < missing { low = by } else { high = by }
                }
                let own = share(f64::midpoint(low, high));
                (0..7).for_each(|k| taken[k] += own[k]);
            }
        }
    }
}

/// Blocks of one height look alike.
const fn level((lod, position): Place) -> (u8, i32) {
    (lod, position[1])
}

/// Blocks whose sides within them are looked at, of all whose outer layers are kept. Chosen.
const MOST_INSIDE: usize = 400;

/// One of how many blocks that is.
fn step_inside(blocks: usize) -> usize {
    blocks.div_ceil(MOST_INSIDE).max(1)
}

/// Drops the layers from the middle of blocks of regions that are solved together, except those of the blocks whose sides within
/// them are looked at: they take as much memory as the outer layers.
pub fn forget_inner<'c>(cases: impl Iterator<Item = &'c mut Case>) {
    let blocks = cases.flat_map(|case| &mut case.walk.blocks);
    let mut all: Vec<&mut Arc<Faces>> = blocks.filter_map(|block| block.faces.as_mut()).collect();
    let step = step_inside(all.len());
    // Blocks may share their layers.
    let kept: HashSet<*const Faces> = all.iter().step_by(step).map(|faces| Arc::as_ptr(faces)).collect();
    for faces in &mut all {
        if !kept.contains(&Arc::as_ptr(faces))
            && let Some(faces) = Arc::get_mut(faces)
        {
            seam::forget_inner(faces);
        }
    }
}

/// Sides within some blocks, with their axis.
pub(super) fn inside(cases: &[&Case], words: &Vocabulary) -> Vec<(Side, Side, usize)> {
    let all: Vec<&Faces> =
        cases.iter().flat_map(|case| &case.walk.blocks).filter_map(|block| block.faces.as_deref()).collect();
    let some = all.iter().step_by(step_inside(all.len()));
    let rows = some.flat_map(|faces| faces.inner.iter().enumerate());
    rows.filter_map(|(axis, row)| {
        let [a2, a, b, b2] = row.as_deref()?;
        Some((words.side(a, a2), words.side(b, b2), axis))
    })
    .collect()
}
