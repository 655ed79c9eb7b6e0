//! What is sure enough to be written, and what is only likely.

use std::collections::HashSet;

use crate::recover::explained::{explained_entries, listed};
use crate::recover::region::{Candidate, Case, State};
use crate::recover::solver::Solver;

/// The least probability at which a place is certain, would the game have saved much of the region.
const BUSY: f64 = 0.95;

/// The same for a small region in which nothing goes on from block to block: the order of few blocks of the same length
/// is no evidence.
const BUSY_NOISE: f64 = 0.9995;

/// The least probability at which a place is likely, where the voxels go on from block to block.
const LIKELY: f64 = 0.6;

/// The same where only the order tells: what it leaves open is then open.
const LIKELY_NOISE: f64 = 0.95;

/// How much better than a block without an owner the seams of another one must be.
const CLEAR: f64 = 6.0;

/// The seams at which a block is not believed to be where the table has it, although nothing else speaks against that.
const CONTRADICTED: f64 = -3.0;

/// How likely such a block is where the table has it. Chosen: the least of what counts as certain.
const AS_LISTED: f64 = 0.9999;

/// How sure a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// Good enough to be looked at.
    Candidate,
    /// Good enough to be written when asked for.
    Likely,
    /// Good enough to be written.
    Certain,
}

/// A block put into a slot.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// The slot.
    pub slot: u32,
    /// Its position in the world.
    pub position: [i32; 3],
    /// Index of the walked block.
    pub block: usize,
    /// How sure it is.
    pub certainty: Certainty,
    /// How likely, 0 to 1.
    pub p: f64,
    /// Whether it was taken out of the order and appended, or has no entry in the table.
    pub moved: bool,
}

/// Decides for one region; sorted by slot.
#[must_use]
pub fn decide(solver: &Solver<'_>, r: usize) -> Vec<Placed> {
    let (case, state): (&Case, _) = (solver.cases[r], &solver.states[r]);
    let mut placed = Vec::new();
    // In a small region few saves can turn everything around.
    let many = case.entries.len() >= 12;
    let enough = if many { 0.999 } else { 0.9998 };
    let least = if many || solver.trust() > 0.0 { BUSY } else { BUSY_NOISE };
    let likely = if solver.trust() >= 0.5 { LIKELY } else { LIKELY_NOISE };
    let unowned = unowned(case, state);
    let explained = explained_entries(case);
    let seam_of = |i: usize, block: usize| {
        let seams = state.seams.get(i).into_iter().flatten();
        seams.into_iter().find(|(b, _)| *b == block).map_or(0.0, |(_, odds)| *odds)
    };
    let by_table = |i: usize| case.entries.get(i).filter(|_| i < explained).and_then(|entry| listed(case, entry));
    let here = |i: usize| by_table(i).filter(|&block| seam_of(i, block) >= CONTRADICTED);
    let taken: HashSet<usize> = (0..case.entries.len()).filter_map(here).collect();
    for (i, entry) in case.entries.iter().enumerate() {
        let best = state.best(case, i);
        // What is a block's place by another entry cannot be its place by the order. The seams are those of that order.
        let is_taken = best.is_some_and(|(block, _)| taken.contains(&block) && Some(block) != by_table(i));
        let here = here(i).or_else(|| by_table(i).filter(|block| is_taken && !taken.contains(block)));
        let same = |block| best.filter(|(b, _)| case.content(*b) == case.content(block)).map_or(AS_LISTED, |(_, p)| p);
        if let Some(block) = here {
            let (slot, position, p) = (entry.slot, entry.position, same(block).max(AS_LISTED));
            placed.push(Placed { slot, position, block, certainty: Certainty::Certain, p, moved: false });
            continue;
        }
        let Some((block, p)) = best.filter(|_| !is_taken) else { continue };
        let share = |moved| -> f64 {
            state.options[i].iter().filter(|o| o.block == block && o.moved == moved).map(|o| o.p).sum()
        };
        let moved = share(true) > share(false);
        let seam = seam_of(i, block);
        // A moved block is told by its seams alone; one that stayed by the order too, which no seam may contradict.
        let content = case.content(block);
        let of_content = |options: &[Candidate]| -> f64 {
            options.iter().filter(|o| case.content(o.block) == content).map(|o| o.p).sum()
        };
        let by_order = state.order.get(i).map_or(1.0, |order| of_content(order));
        let busy = state.busy.get(i).map_or(1.0, |busy| of_content(busy));
        let sure = match moved {
            true => p >= 0.97 && seam >= 3.0,
            false => (p >= enough && seam >= -6.0) || (many && p >= 0.99 && by_order >= 0.99 && seam >= -3.0),
        };
        let certainty = if sure && busy >= least && !claimed(state, &unowned, i, block, seam) {
            Certainty::Certain
        } else if p >= likely {
            Certainty::Likely
        } else {
            Certainty::Candidate
        };
        // What is not certain is no likelier than the less favourable story has it.
        let p = if certainty == Certainty::Certain { p } else { p.min(busy) };
        placed.push(Placed { slot: entry.slot, position: entry.position, block, certainty, p, moved });
    }
    placed.sort_by_key(|p| p.slot);
    placed
}

/// Blocks that were saved since the table was written, and for which no entry was found.
fn unowned(case: &Case, state: &State) -> Vec<usize> {
    let alone = |b: usize| case.walk.blocks.iter().filter(|block| block.content == case.content(b)).count() == 1;
    let owned = |b: usize| -> f64 { state.options.iter().flatten().filter(|o| o.block == b).map(|o| o.p).sum() };
    let appended = state.posterior.appended.iter().enumerate().filter(|(_, p)| **p > 0.5).map(|(b, _)| b);
    appended.filter(|&b| owned(b) < 0.9 && alone(b)).collect()
}

/// Whether a block without an owner may be the newer state of an entry: where blocks of the same content stand in a row
/// the order does not tell which of them was taken out.
fn claimed(state: &State, unowned: &[usize], entry: usize, block: usize, seam: f64) -> bool {
    let alone: f64 = state
        .order
        .get(entry)
        .map_or(1.0, |order| order.iter().filter(|o| o.block == block && !o.moved).map(|o| o.p).sum());
    let seams = state.seams.get(entry).map_or(&[][..], Vec::as_slice);
    let fits = |b: &usize| seams.iter().any(|(other, odds)| other == b && *odds > seam - CLEAR);
    alone < 0.99 && unowned.iter().any(fits)
}
