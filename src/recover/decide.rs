//! What is sure enough to be written, and what is only likely.

use std::collections::HashSet;

use crate::printable::likelihood;
use crate::recover::explained::{explained_entries, listed};
use crate::recover::region::{Candidate, Case, Listing, State};
use crate::recover::solver::Solver;
use crate::recover::weights::{DECISION, Weights};

/// The least probability of a position that is reported; the finding gives the probability.
pub const REPORTED: f64 = 0.6;

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

impl Certainty {
    /// How sure a place is by its probability alone.
    pub(super) fn from_probability(p: f64, weights: &Weights) -> Self {
        match p {
            p if p >= weights.certain => Self::Certain,
            p if p >= weights.likely => Self::Likely,
            _ => Self::Candidate,
        }
    }
}

/// A probability for people, and whether it is enough for the level `likely`.
#[must_use]
pub fn how_likely(p: f64) -> String {
    let words = likelihood(p);
    if is_likely(p) { format!("{words} likely") } else { format!("{words}, less than likely") }
}

/// Whether a probability is enough for the level `likely`.
#[must_use]
pub fn is_likely(p: f64) -> bool {
    p >= Weights::default().likely
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
    /// How sure its voxels are: surer than the block if others have the same voxels and other metadata.
    pub voxels: Certainty,
    /// How likely, 0 to 1.
    pub p: f64,
    /// Whether it was taken out of the order and appended, or has no entry in the table.
    pub moved: bool,
}

impl Placed {
    /// The whole block to which an entry leads, in the place that the entry gives it, for certain.
    #[must_use]
    pub fn as_listed(case: &Case, entry: &Listing) -> Option<Self> {
        let (slot, position, certainty) = (entry.slot, entry.position, Certainty::Certain);
        let block = listed(case, entry)?;
        Some(Self { slot, position, block, certainty, voxels: certainty, p: 1.0, moved: false })
    }

    /// Lowers how sure the place and its voxels are to `most`, and its probability to `p`, if they are higher.
    pub(super) fn lower(&mut self, most: Certainty, p: f64) {
        self.certainty = self.certainty.min(most);
        self.voxels = self.voxels.min(most);
        self.p = self.p.min(p);
    }
}

/// Decides for one region; sorted by slot.
#[must_use]
pub fn decide(solver: &Solver<'_>, r: usize) -> Vec<Placed> {
    let (case, state): (&Case, _) = (solver.cases[r], &solver.states[r]);
    let mut placed = Vec::new();
    // In a small region few saves can turn everything around.
    let w = &DECISION;
    let many = case.entries.len() >= w.many;
    let enough = if many { w.enough } else { w.enough_small };
    let least = if many || solver.trust() > 0.0 { w.pessimistic } else { w.pessimistic_noise };
    let likely = if solver.trust() >= w.trusted { w.likely } else { w.likely_noise };
    let unowned = unowned(case, state);
    let explained = explained_entries(case);
    let seam_of = |i: usize, block: usize| {
        let seams = state.seams.get(i).into_iter().flatten();
        seams.into_iter().find(|(b, _)| *b == block).map_or(0.0, |(_, odds)| *odds)
    };
    let by_table = |i: usize| case.entries.get(i).filter(|_| i < explained).and_then(|entry| listed(case, entry));
    let here = |i: usize| by_table(i).filter(|&block| seam_of(i, block) >= w.contradicted_seam);
    let taken: HashSet<usize> = (0..case.entries.len()).filter_map(here).collect();
    for (i, entry) in case.entries.iter().enumerate() {
        let best = state.best(case, i);
        // What is a block's place by another entry cannot be its place by the order. The seams are those of that order.
        let is_taken = best.is_some_and(|(block, _)| taken.contains(&block) && Some(block) != by_table(i));
        let here = here(i).or_else(|| by_table(i).filter(|block| is_taken && !taken.contains(block)));
        let same =
            |block| best.filter(|(b, _)| case.content(*b) == case.content(block)).map_or(w.as_listed, |(_, p)| p);
        if let Some(block) = here {
            let (slot, position, p) = (entry.slot, entry.position, same(block).max(w.as_listed));
            let certainty = Certainty::Certain;
            placed.push(Placed { slot, position, block, certainty, voxels: certainty, p, moved: false });
            continue;
        }
        let Some((block, p)) = best.filter(|_| !is_taken) else { continue };
        let share = |moved| -> f64 {
            state.options[i].iter().filter(|o| o.block == block && o.moved == moved).map(|o| o.p).sum()
        };
        let moved = share(true) > share(false);
        let seam = seam_of(i, block);
        // A moved block is identified by its seams alone; one that stayed by the order too, which no seam may contradict.
        let content = case.content(block);
        let of_content = |options: &[Candidate]| -> f64 {
            options.iter().filter(|o| case.content(o.block) == content).map(|o| o.p).sum()
        };
        let by_order = state.order.get(i).map_or(1.0, |order| of_content(order));
        let pessimistic = state.pessimistic.get(i).map_or(1.0, |pessimistic| of_content(pessimistic));
        let sure = match moved {
            true => p >= w.moved && seam >= w.moved_seam,
            false => {
                let alone = p >= enough && seam >= w.kept_seam;
                let by_order = p >= w.kept_by_order && by_order >= w.kept_by_order;
                alone || (many && by_order && seam >= w.kept_by_order_seam)
            }
        };
        let certainty = if sure && pessimistic >= least && !claimed(state, &unowned, i, block, seam) {
            Certainty::Certain
        } else if p >= likely {
            Certainty::Likely
        } else {
            Certainty::Candidate
        };
        // What is not certain is no likelier than the less favourable story has it.
        let p = if certainty == Certainty::Certain { p } else { p.min(pessimistic) };
        let (slot, position, voxels) = (entry.slot, entry.position, certainty);
        placed.push(Placed { slot, position, block, certainty, voxels, p, moved });
    }
    placed.sort_by_key(|p| p.slot);
    placed
}

/// Blocks that were saved since the table was written, and for which no entry was found.
fn unowned(case: &Case, state: &State) -> Vec<usize> {
    let alone = |b: usize| case.walk.blocks.iter().filter(|block| block.content == case.content(b)).count() == 1;
    let mut owned = vec![0.0; case.walk.blocks.len()];
    state.options.iter().flatten().for_each(|option| owned[option.block] += option.p);
    let appended = state.posterior.appended.iter().enumerate().filter(|(_, p)| **p > DECISION.appended).map(|(b, _)| b);
    appended.filter(|&b| owned[b] < DECISION.owned && alone(b)).collect()
}

/// Whether a block without an owner may be the newer state of an entry: where blocks of the same content are in a row
/// the order does not show which of them was taken out.
fn claimed(state: &State, unowned: &[usize], entry: usize, block: usize, seam: f64) -> bool {
    let alone: f64 = state
        .order
        .get(entry)
        .map_or(1.0, |order| order.iter().filter(|o| o.block == block && !o.moved).map(|o| o.p).sum());
    let seams = state.seams.get(entry).map_or(&[][..], Vec::as_slice);
    let fits = |b: &usize| seams.iter().any(|(other, odds)| other == b && *odds > seam - DECISION.clear_seam);
    alone < DECISION.alone && unowned.iter().any(fits)
}
