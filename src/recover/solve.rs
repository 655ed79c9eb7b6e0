//! Which block belongs where, over all regions of a save at once.
//!
//! First the order alone says what it can. Then the seams with neighbours whose blocks are known, or likely, come in as
//! odds, and the order is asked again, until nothing changes.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;

use crate::recover::align::{self, Evidence, Rates, align};
use crate::recover::joint;
use crate::recover::moved;
use crate::recover::reading::readings;
use crate::recover::region::{Candidate, Case, State};
use crate::recover::seam::{self, Odds, Seam};
use crate::watch::Watch;

/// Rounds in which seams and order are asked in turn.
const ROUNDS: usize = 7;

/// Rounds in which whole assignments are compared.
const JOINT: usize = 2;

/// Blocks whose octants are looked for in the LOD before.
const MOST_OCTANTS: usize = 64;

/// The least probability at which a place counts as known.
const KNOWN: f64 = 0.999;

/// Most odds that the seams of one block may say, either way.
const CLIP: f64 = 14.0;

/// How much of a region may have been saved when nothing but its own few blocks tells.
const BUSY: Rates = Rates { gone: 0.35, shrunk: 0.2 };

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

pub(super) struct Table<'s> {
    pub seams: &'s [Vec<(usize, f64)>],
}

impl Evidence for Table<'_> {
    fn place(&self, entry: usize, block: usize) -> f64 {
        let row = &self.seams[entry];
        match row.binary_search_by_key(&block, |(b, _)| *b) {
            Ok(at) => row[at].1,
            // Too unlikely to be looked at.
            Err(_) if !row.is_empty() => -2.0,
            Err(_) => 0.0,
        }
    }
}

impl<'c> Solver<'c> {
    /// Solves all regions of a save.
    #[must_use]
    pub fn solve(cases: &'c [&'c Case], watch: &Watch<'_>) -> Self {
        let states = cases.par_iter().map(|case| first(case)).collect();
        let mut by_position = HashMap::new();
        for (r, case) in cases.iter().enumerate() {
            for (i, entry) in case.entries.iter().enumerate() {
                by_position.insert((case.lod, entry.position), (r, i));
            }
        }
        let mut solver = Self { cases, states, odds: Odds::default(), lods: Odds::default(), by_position };
        if solver.states.iter().all(State::is_solved) {
            return solver;
        }
        solver.count_seams();
        for _ in 0..ROUNDS {
            if watch.is_cancelled() {
                return solver;
            }
            solver.learn();
            solver.round();
        }
        for _ in 0..JOINT {
            if watch.is_cancelled() {
                return solver;
            }
            solver.compare();
        }
        solver.doubt();
        solver
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
    fn count_seams(&mut self) {
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

    fn learn(&mut self) {
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

    fn round(&mut self) {
        let next: Vec<Option<State>> = (0..self.cases.len())
            .into_par_iter()
            .map(|r| (!self.states[r].is_solved()).then(|| self.again(r)))
            .collect();
        for (state, next) in self.states.iter_mut().zip(next) {
            if let Some(next) = next {
                *state = next;
            }
        }
    }

    fn again(&self, r: usize) -> State {
        let (case, old) = (self.cases[r], &self.states[r]);
        let appended: Vec<usize> = (0..case.walk.blocks.len()).filter(|&b| old.posterior.appended[b] > 1e-3).collect();
        let mut cache = HashMap::new();
        let mut seams = Vec::with_capacity(case.entries.len());
        let mut neighbours = Vec::with_capacity(case.entries.len());
        for (i, entry) in case.entries.iter().enumerate() {
            let mut blocks: Vec<usize> = old.posterior.kept[i].iter().map(|(b, _)| *b).collect();
            if old.posterior.gone[i] > 1e-7 {
                blocks.extend(&appended);
            }
            blocks.sort_unstable();
            blocks.dedup();
            let near = self.near(case.lod, entry.position);
            let row = blocks.into_iter().map(|b| (b, self.fit(r, b, &near, &mut cache))).collect();
            seams.push(row);
            neighbours.push(near.len() as u32);
        }
        let n = case.entries.len().max(1) as f64;
        let rates = Rates {
            gone: ((old.posterior.gone.iter().sum::<f64>() + 0.5) / (n + 1.0)).clamp(0.3 / n, 0.4),
            shrunk: ((old.posterior.shrunk + 0.5) / (n + 1.0)).clamp(0.3 / n, 0.4),
        };
        let counts: Vec<u32> = case.entries.iter().map(|e| e.count).collect();
        let posterior = align(&counts, &case.walk, &old.readings, rates, case.table_end(), &Table { seams: &seams });
        let options = moved::options(case, &posterior, rates, &Table { seams: &seams });
        let (readings, order, busy) = (posterior.narrowed(&old.readings), old.order.clone(), Vec::new());
        State { readings, rates, posterior, options, order, busy, seams, neighbours }
    }

    /// Compares whole assignments of the regions in which something is left open.
    fn compare(&mut self) {
        let next: Vec<_> = (0..self.cases.len()).into_par_iter().map(|r| joint::options(self, r)).collect();
        for (state, next) in self.states.iter_mut().zip(next) {
            if let Some(next) = next {
                state.options = next;
            }
        }
    }

    /// Asks once more, as if the game had saved many blocks: how often it did is a guess from few of them.
    fn doubt(&mut self) {
        let busy: Vec<_> = (0..self.cases.len())
            .into_par_iter()
            .map(|r| {
                let (case, state) = (self.cases[r], &self.states[r]);
                let counts: Vec<u32> = case.entries.iter().map(|e| e.count).collect();
                // Where nothing goes on from block to block, what was not compared is as likely as what was.
                let table = Table { seams: &state.seams };
                let seams: &dyn Evidence = if self.trust() > 0.0 { &table } else { &align::Nothing };
                let rates =
                    Rates { gone: state.rates.gone.max(BUSY.gone), shrunk: state.rates.shrunk.max(BUSY.shrunk) };
                let posterior = align(&counts, &case.walk, &state.readings, rates, case.table_end(), seams);
                moved::options(case, &posterior, rates, seams)
            })
            .collect();
        for (state, busy) in self.states.iter_mut().zip(busy) {
            state.busy = if state.is_solved() { state.options.clone() } else { busy };
        }
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
        let sum: f64 = near.iter().map(|near| self.fit_one(r, block, *near, cache)).sum();
        sum.clamp(-CLIP, CLIP)
    }

    /// Odds that a block belongs beside the likely blocks of one neighbour.
    pub(super) fn fit_one(
        &self,
        r: usize,
        block: usize,
        ((nr, ni), axis, upper): Neighbour,
        cache: &mut HashMap<(usize, usize, usize, usize, bool), f64>,
    ) -> f64 {
        let mut odds = 0.0;
        let mut rest = 1.0f64;
        for option in self.states[nr].options[ni].iter().filter(|o| o.p > 1e-4) {
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
        self.seam(lower, upper, axis).map_or(0.0, |seam| odds.of(seam))
    }
}

/// The position next to one along an axis.
#[must_use]
pub fn step(mut position: [i32; 3], axis: usize, by: i32) -> Option<[i32; 3]> {
    position[axis] = position[axis].checked_add(by)?;
    Some(position)
}

/// What the order alone says of a region.
fn first(case: &Case) -> State {
    let entries: Vec<(u32, u32)> = case.entries.iter().map(|e| (e.first, e.count)).collect();
    let counts: Vec<u32> = case.entries.iter().map(|e| e.count).collect();
    let n = counts.len().max(1) as f64;
    if case.is_intact() {
        return State::intact(case);
    }
    let mut readings = readings(&case.walk, &entries);
    let mut rates = Rates { gone: (3.0 / (n + 3.0)).min(0.15), shrunk: (3.0 / (n + 3.0)).min(0.15) };
    let mut posterior = align::Posterior::default();
    for _ in 0..4 {
        posterior = align(&counts, &case.walk, &readings, rates, case.table_end(), &align::Nothing);
        readings = posterior.narrowed(&readings);
        rates = Rates {
            gone: ((posterior.gone.iter().sum::<f64>() + 0.5) / (n + 1.0)).clamp(0.3 / n, 0.4),
            shrunk: ((posterior.shrunk + 0.5) / (n + 1.0)).clamp(0.3 / n, 0.4),
        };
    }
    let options = moved::options(case, &posterior, rates, &align::Nothing);
    let none = vec![Vec::new(); counts.len()];
    State {
        readings,
        rates,
        posterior,
        order: options.clone(),
        busy: Vec::new(),
        options,
        seams: none,
        neighbours: vec![0; counts.len()],
    }
}

impl State {
    fn intact(case: &Case) -> Self {
        let n = case.entries.len();
        let options = (0..n).map(|i| vec![Candidate { block: i, p: 1.0, moved: false }]).collect();
        let kept = (0..n).map(|i| vec![(i, 1.0)]).collect();
        let posterior = align::Posterior {
            kept,
            gone: vec![0.0; n],
            torn: vec![0.0; n],
            appended: vec![0.0; case.walk.blocks.len()],
            ..Default::default()
        };
        Self {
            readings: Vec::new(),
            rates: Rates { gone: 0.0, shrunk: 0.0 },
            posterior,
            order: Vec::new(),
            busy: Vec::new(),
            options,
            seams: vec![Vec::new(); n],
            neighbours: vec![0; n],
        }
    }

    /// Whether nothing is left to find out.
    #[must_use]
    pub fn is_solved(&self) -> bool {
        self.readings.is_empty()
    }

    /// The likeliest content of an entry: a block that has it, and the probability of all that have it.
    #[must_use]
    pub fn best(&self, case: &Case, i: usize) -> Option<(usize, f64)> {
        best(case, self.options.get(i)?)
    }
}

/// The likeliest content among options: a block that has it, and the probability of all that have it.
#[must_use]
pub fn best(case: &Case, options: &[Candidate]) -> Option<(usize, f64)> {
    let sums = options.iter().map(|o| {
        let content = case.content(o.block);
        (o.block, options.iter().filter(|p| case.content(p.block) == content).map(|p| p.p).sum::<f64>())
    });
    sums.fold(None, |best, (block, p)| match best {
        Some((_, q)) if q >= p => best,
        _ => Some((block, p)),
    })
}
