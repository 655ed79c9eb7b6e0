//! All regions of a save while they are solved: what seams look like, and how well blocks fit beside others.

use std::collections::{BTreeMap, HashMap};

use crate::recover::region::{Case, State};
use crate::recover::seam::{self, Odds, Seam};

/// Blocks whose octants are looked for in the LOD before.
const MOST_OCTANTS: usize = 64;

/// The least probability at which a place counts as known.
const KNOWN: f64 = 0.999;

/// The least probability of a neighbour's block that is compared, and in a large region.
const LEAST: f64 = 1e-4;
const LARGE_LEAST: f64 = 0.02;

/// Most odds that the seams of one block may say, either way.
const CLIP: f64 = 14.0;

/// The axis of a seam between an octant and the block of the next LOD is this and the octant.
pub(super) const LOD: usize = 3;

/// A neighbour of a position: its region and entry, the axis, and whether it is the upper one.
pub type Neighbour = ((usize, usize), usize, bool);

/// All regions of a save while they are solved.
pub struct Solver<'c> {
    /// The regions.
    pub cases: &'c [&'c Case],
    /// What is known of each.
    pub states: Vec<State>,
    /// What seams look like.
    pub odds: Odds,
    /// What blocks look like in the next LOD.
    pub lods: Odds,
    by_position: HashMap<(u8, [i32; 3]), (usize, usize)>,
}

impl<'c> Solver<'c> {
    /// Regions and what is known of them before any seam.
    #[must_use]
    pub fn new(cases: &'c [&'c Case], states: Vec<State>) -> Self {
        let mut by_position = HashMap::new();
        for (r, case) in cases.iter().enumerate() {
            for (i, entry) in case.entries.iter().enumerate() {
                by_position.insert((case.lod, entry.position), (r, i));
            }
        }
        Self { cases, states, odds: Odds::default(), lods: Odds::default(), by_position }
    }

    /// The entry at a position.
    #[must_use]
    pub fn at(&self, lod: u8, position: [i32; 3]) -> Option<(usize, usize)> {
        self.by_position.get(&(lod, position)).copied()
    }

    /// The seam of two walked blocks along an axis, the lower one first; from [`LOD`] on, of an octant and the block of
    /// the next LOD.
    fn seam(&self, lower: (usize, usize), upper: (usize, usize), axis: usize) -> Option<Seam> {
        let faces = |(r, b): (usize, usize)| self.cases[r].walk.blocks.get(b)?.faces.as_deref();
        let (lower, upper) = (faces(lower)?, faces(upper)?);
        match axis.checked_sub(LOD) {
            None => Some(seam::seam(lower, upper, axis)),
            Some(octant) => seam::scaled(lower, upper, octant),
        }
    }

    /// How far what blocks have in common with others is believed, 0 to 1.
    #[must_use]
    pub fn trust(&self) -> f64 {
        self.odds.trust.max(self.lods.trust)
    }

    /// Seams inside of blocks, and between blocks put together at random.
    pub(super) fn count_seams(&mut self) {
        let all: Vec<(usize, usize)> =
            (0..self.cases.len()).flat_map(|r| (0..self.cases[r].walk.blocks.len()).map(move |b| (r, b))).collect();
        for &(r, b) in all.iter().step_by(all.len().div_ceil(4000).max(1)) {
            if let Some(faces) = &self.cases[r].walk.blocks[b].faces {
                seam::inner(faces).for_each(|seam| self.odds.add_inside(seam));
                seam::scaled_to_itself(faces).into_iter().for_each(|seam| self.lods.add_inside(seam));
            }
        }
        let n = all.len() as u64;
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut next = || {
            // Xorshift: the same numbers every time.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for k in 0..6000usize {
            let (a, b) = ((next() >> 11) % n.max(1), (next() >> 11) % n.max(1));
            let (Some(&a), Some(&b)) = (all.get(a as usize), all.get(b as usize)) else { continue };
            if a != b
                && let Some(seam) = self.seam(a, b, k % 3)
            {
                self.odds.add_random(seam);
            }
        }
        // Blocks of two LODs that have nothing to do with each other.
        let mut by_lod: BTreeMap<u8, Vec<(usize, usize)>> = BTreeMap::new();
        all.iter().for_each(|&(r, b)| by_lod.entry(self.cases[r].lod).or_default().push((r, b)));
        for (lod, blocks) in &by_lod {
            let Some(above) = lod.checked_add(1).and_then(|lod| by_lod.get(&lod)) else { continue };
            for k in 0..3000usize {
                let one =
                    |of: &[(usize, usize)], n: u64| of.get(((n >> 11) % of.len().max(1) as u64) as usize).copied();
                let (Some(a), Some(b)) = (one(blocks, next()), one(above, next())) else { continue };
                if let Some(seam) = self.seam(a, b, LOD + k % 8) {
                    self.lods.add_random(seam);
                }
            }
        }
    }

    /// Learns from blocks whose places are known.
    pub(super) fn learn(&mut self) {
        self.odds.forget_neighbours();
        self.lods.forget_neighbours();
        let (mut found, mut scaled) = (Vec::new(), Vec::new());
        for (r, case) in self.cases.iter().enumerate() {
            for (i, entry) in case.entries.iter().enumerate() {
                let Some(block) = self.known(r, i) else { continue };
                if let Some((above, octant)) = self.above(case.lod, entry.position)
                    && let Some(other) = self.known(above.0, above.1)
                {
                    scaled.extend(self.seam((r, block), (above.0, other), LOD + octant));
                }
                for axis in 0..3 {
                    let Some(position) = step(entry.position, axis, 1) else { continue };
                    let Some(next) = self.at(case.lod, position) else { continue };
                    if let Some(other) = self.known(next.0, next.1) {
                        found.extend(self.seam((r, block), (next.0, other), axis));
                    }
                }
            }
        }
        found.into_iter().for_each(|seam| self.odds.add_neighbours(seam));
        self.odds.learn();
        scaled.into_iter().for_each(|seam| self.lods.add_neighbours(seam));
        self.lods.learn();
        if !self.lods.has_neighbours() {
            self.lods.trust = self.octants_found();
        }
    }

    /// How many octants of the next LOD have a block that is just so, 0 to 1: where no place is known yet, that says
    /// whether the LODs are made of each other.
    fn octants_found(&self) -> f64 {
        let (mut shown, mut found) = (0u32, 0u32);
        let above = self.cases.iter().enumerate().filter(|(_, case)| case.lod > 0);
        let all = above.flat_map(|(r, case)| (0..case.entries.len()).map(move |i| (r, i)));
        for (r, i) in all.take(MOST_OCTANTS) {
            let case = self.cases[r];
            let Some((block, _)) = self.states[r].best(case, i) else { continue };
            let Some(next) = case.walk.blocks.get(block).and_then(|b| b.faces.as_deref()) else { continue };
            for (at, axis, _) in
                self.near(case.lod, case.entries[i].position).into_iter().filter(|n| n.1 >= LOD && !n.2)
            {
                let below = self.cases[at.0].walk.blocks.iter().filter_map(|b| b.faces.as_deref());
                let mut fits = below.filter_map(|faces| seam::is_octant(faces, next, axis - LOD)).peekable();
                shown += u32::from(fits.peek().is_some());
                found += u32::from(fits.any(|fits| fits));
            }
        }
        if shown < 4 { 0.0 } else { (f64::from(found) / f64::from(shown) * 2.0 - 1.0).max(0.0) }
    }

    /// The block of an entry, when it is known.
    fn known(&self, r: usize, i: usize) -> Option<usize> {
        let (first, p) = self.states[r].best(self.cases[r], i)?;
        (p >= KNOWN).then_some(first)
    }

    /// The neighbours of a position that have possible blocks.
    #[must_use]
    pub fn near(&self, lod: u8, position: [i32; 3]) -> Vec<Neighbour> {
        let sides = (0..3).flat_map(|axis| [(axis, -1), (axis, 1)]);
        let sides = sides.filter_map(|(axis, by)| Some((self.at(lod, step(position, axis, by)?)?, axis, by > 0)));
        let above = self.above(lod, position).map(|(at, octant)| (at, LOD + octant, true));
        let below = (0..8usize).filter_map(|octant| {
            let at = |axis: usize| position[axis].checked_mul(2)?.checked_add((octant >> axis & 1) as i32);
            Some((self.at(lod.checked_sub(1)?, [at(0)?, at(1)?, at(2)?])?, LOD + octant, false))
        });
        let near = sides.chain(above).chain(below);
        near.filter(|(at, ..)| !self.states[at.0].options[at.1].is_empty()).collect()
    }

    /// The entry of the next LOD in which a block is, and which octant of it.
    fn above(&self, lod: u8, position: [i32; 3]) -> Option<((usize, usize), usize)> {
        let at = self.at(lod.checked_add(1)?, position.map(|v| v.div_euclid(2)))?;
        let octant = (0..3).map(|axis| (position[axis].rem_euclid(2) as usize) << axis).sum();
        Some((at, octant))
    }

    /// Odds that a block belongs between the likely blocks of its neighbours.
    pub fn fit(
        &self,
        r: usize,
        block: usize,
        near: &[Neighbour],
        cache: &mut HashMap<(usize, usize, usize, usize, bool), f64>,
    ) -> f64 {
        let sum: f64 = near.iter().map(|near| self.fit_entry(r, block, *near, cache)).sum();
        sum.clamp(-CLIP, CLIP)
    }

    /// Odds that a block belongs beside the likely blocks of one neighbour.
    pub(super) fn fit_entry(
        &self,
        r: usize,
        block: usize,
        ((nr, ni), axis, upper): Neighbour,
        cache: &mut HashMap<(usize, usize, usize, usize, bool), f64>,
    ) -> f64 {
        let mut odds = 0.0;
        let mut rest = 1.0f64;
        let least = if self.cases[nr].is_large() { LARGE_LEAST } else { LEAST };
        for option in self.states[nr].options[ni].iter().filter(|o| o.p > least) {
            // A block is no neighbour of itself.
            if nr == r && option.block == block {
                continue;
            }
            let key = (block, nr, option.block, axis, upper);
            let one = *cache.entry(key).or_insert_with(|| {
                let (a, b) = ((r, block), (nr, option.block));
                if upper { self.odds_of(a, b, axis) } else { self.odds_of(b, a, axis) }
            });
            odds += option.p * one.exp();
            rest -= option.p;
        }
        (odds + rest.max(0.0)).ln()
    }

    /// Odds that two walked blocks are neighbours along an axis, the lower one first.
    pub(super) fn odds_of(&self, lower: (usize, usize), upper: (usize, usize), axis: usize) -> f64 {
        let odds = if axis < LOD { &self.odds } else { &self.lods };
        self.seam(lower, upper, axis).map_or(0.0, |seam| odds.weigh(seam))
    }
}

/// The position next to one along an axis.
#[must_use]
pub fn step(mut position: [i32; 3], axis: usize, by: i32) -> Option<[i32; 3]> {
    position[axis] = position[axis].checked_add(by)?;
    Some(position)
}
