//! Which block belongs where, over all regions of a save at once.
//!
//! First the order alone says what it can. Then the seams with neighbours whose blocks are known, or likely, come in as
//! odds, and the order is asked again, until nothing changes.

use std::collections::HashMap;
use std::sync::Arc;

use crate::parallel;
use crate::recover::align::{Posterior, align, estimate_rates};
use crate::recover::evidence::{Evidence, Nothing, Rates, Seams};
use crate::recover::joint;
use crate::recover::moved;
use crate::recover::reading::readings;
use crate::recover::region::{Case, State};
use crate::recover::solver::Solver;
use crate::recover::weights::ORDER;
use crate::watch::Watch;

/// Rounds in which seams and order are asked in turn.
const ROUNDS: usize = 7;

/// Rounds in which whole assignments are compared.
const JOINT: usize = 2;

/// The most pairs of an appended block and an entry that is gone whose seams are compared. What that leaves open is placed by
/// an index over the sides of blocks.
const MOST_PAIRS: usize = 1 << 17;

/// The most seams that are cached: entries share few of them.
const MOST_CACHED: usize = 1 << 15;

/// In a large region, the least probability of a kept block whose seams are compared, and the rounds.
const LARGE_LEAST: f64 = 1e-4;
const LARGE_ROUNDS: usize = 4;

/// How much of a region may have been saved when its own few blocks are the only evidence.
const PESSIMISTIC: Rates = Rates { gone: 0.35, shrunk: 0.2 };

/// Solves all regions of a save.
#[must_use]
pub fn solve<'c>(cases: &'c [&'c Case], watch: &Watch<'_>) -> Solver<'c> {
    let states = parallel::map(cases, |case| first(case));
    let mut solver = Solver::new(cases, states);
    if solver.states.iter().all(State::is_solved) {
        return solver;
    }
    solver.count_seams();
    for n in 0..ROUNDS {
        if watch.is_cancelled() {
            return solver;
        }
        solver.learn();
        solver.round(n);
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

impl Solver<'_> {
    fn round(&mut self, n: usize) {
        let open = |r: usize| !self.states[r].is_solved() && (n < LARGE_ROUNDS || !self.cases[r].is_large());
        let next = parallel::map_indices(self.cases.len(), |r| open(r).then(|| self.again(r)));
        for (state, next) in self.states.iter_mut().zip(next) {
            if let Some(next) = next {
                *state = next;
            }
        }
    }

    fn again(&self, r: usize) -> State {
        let (case, old) = (self.cases[r], &self.states[r]);
        let large = case.is_large();
        let appended: Vec<usize> = (0..case.walk.blocks.len()).filter(|&b| old.posterior.appended[b] > 1e-3).collect();
        let appended = if old.pairs() > MOST_PAIRS { Vec::new() } else { appended };
        let mut cache = HashMap::new();
        let mut seams = Vec::with_capacity(case.entries.len());
        let mut neighbours = Vec::with_capacity(case.entries.len());
        for (i, entry) in case.entries.iter().enumerate() {
            let kept = old.posterior.kept[i].iter().filter(|(_, p)| !large || *p > LARGE_LEAST);
            let mut blocks: Vec<usize> = kept.map(|(b, _)| *b).collect();
            if old.posterior.gone[i] > 1e-7 {
                blocks.extend(&appended);
            }
            blocks.sort_unstable();
            blocks.dedup();
            let near = self.near(case.lod, entry.position);
            if cache.len() > MOST_CACHED {
                cache = HashMap::new();
            }
            let row = blocks.into_iter().map(|b| (b, self.fit(r, b, &near, &mut cache))).collect();
            seams.push(row);
            neighbours.push(near.len() as u32);
        }
        let rates = estimate_rates(&old.posterior);
        let counts: Vec<u32> = case.entries.iter().map(|e| e.count).collect();
        let evidence = Seams { rows: &seams, by: 1.0 };
        let posterior = align(&counts, &case.walk, &old.readings, rates, case.table_end(), &evidence);
        let options = Arc::new(moved::options(case, &posterior, rates, &evidence));
        let (order, pessimistic) = (Arc::clone(&old.order), Arc::default());
        let readings = posterior.narrowed(&old.readings);
        State { readings, rates, posterior, options, order, pessimistic, seams, neighbours }
    }

    /// Compares whole assignments of the regions in which something is left open. Draws are too few for large regions.
    fn compare(&mut self) {
        let one = |r: usize| if self.cases[r].is_large() { None } else { joint::options(self, r) };
        let next = parallel::map_indices(self.cases.len(), one);
        for (state, next) in self.states.iter_mut().zip(next) {
            if let Some(next) = next {
                state.options = Arc::new(next);
            }
        }
    }

    /// Asks once more, as if the game had saved many blocks: how often it did is a guess from few of them.
    fn doubt(&mut self) {
        let pessimistic = parallel::map_indices(self.cases.len(), |r| {
            let (case, state) = (self.cases[r], &self.states[r]);
            let counts: Vec<u32> = case.entries.iter().map(|e| e.count).collect();
            // Where nothing goes on from block to block, what was not compared is as likely as what was.
            let table = Seams { rows: &state.seams, by: 1.0 };
            let seams: &dyn Evidence = if self.trust() > 0.0 { &table } else { &Nothing };
            let rates = Rates {
                gone: state.rates.gone.max(PESSIMISTIC.gone),
                shrunk: state.rates.shrunk.max(PESSIMISTIC.shrunk),
            };
            let posterior = align(&counts, &case.walk, &state.readings, rates, case.table_end(), seams);
            moved::options(case, &posterior, rates, seams)
        });
        for (state, pessimistic) in self.states.iter_mut().zip(pessimistic) {
            state.pessimistic = if state.is_solved() { Arc::clone(&state.options) } else { Arc::new(pessimistic) };
        }
    }
}

/// The slots and blocks that the order alone makes likely, without the seams: a part of the cost of [`solve`].
pub(super) fn likely_in_order(case: &Case) -> Vec<(u32, usize)> {
    let kept = first(case).posterior.kept;
    let likely = |of: &Vec<(usize, f64)>| of.iter().find(|(_, p)| *p > 0.5).map(|(block, _)| *block);
    case.entries.iter().zip(&kept).filter_map(|(entry, of)| Some((entry.slot, likely(of)?))).collect()
}

/// What the order alone says of a region.
fn first(case: &Case) -> State {
    let counts: Vec<u32> = case.entries.iter().map(|e| e.count).collect();
    let n = counts.len().max(1) as f64;
    if case.is_intact() {
        return State::intact(case);
    }
    let mut readings = readings(&case.walk, &case.sectors());
    let rate = (ORDER.first_rate / (n + ORDER.first_rate)).min(ORDER.largest_first_rate);
    let mut rates = Rates { gone: rate, shrunk: rate };
    let mut posterior = Posterior::default();
    for _ in 0..4 {
        posterior = align(&counts, &case.walk, &readings, rates, case.table_end(), &Nothing);
        readings = posterior.narrowed(&readings);
        rates = estimate_rates(&posterior);
    }
    let options = Arc::new(moved::options(case, &posterior, rates, &Nothing));
    let none = vec![Vec::new(); counts.len()];
    State {
        readings,
        rates,
        posterior,
        order: Arc::clone(&options),
        pessimistic: Arc::default(),
        options,
        seams: none,
        neighbours: vec![0; counts.len()],
    }
}
