//! What is sure enough to be written, and what is only likely.

use crate::trace::region::Case;
use crate::trace::solve::Solver;

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
    /// Whether it was taken out of the order and appended.
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
    for (i, entry) in case.entries.iter().enumerate() {
        let Some((block, p)) = state.best(case, i) else { continue };
        let share = |moved| -> f64 {
            state.options[i].iter().filter(|o| o.block == block && o.moved == moved).map(|o| o.p).sum()
        };
        let moved = share(true) > share(false);
        let seam = state.seams[i].iter().find(|(b, _)| *b == block).map_or(0.0, |(_, odds)| *odds);
        // A moved block is told by its seams alone; one that stayed by the order too, which no seam may contradict.
        let content = case.content(block);
        let by_order: f64 = state
            .order
            .get(i)
            .map_or(1.0, |order| order.iter().filter(|o| case.content(o.block) == content).map(|o| o.p).sum());
        let sure = match moved {
            true => p >= 0.97 && seam >= 3.0,
            false => (p >= enough && seam >= -6.0) || (many && p >= 0.99 && by_order >= 0.99 && seam >= -3.0),
        };
        let certainty = if sure {
            Certainty::Certain
        } else if p >= 0.7 {
            Certainty::Likely
        } else {
            Certainty::Candidate
        };
        placed.push(Placed { slot: entry.slot, position: entry.position, block, certainty, p, moved });
    }
    placed.sort_by_key(|p| p.slot);
    placed
}
