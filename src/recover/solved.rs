//! The places of a region's blocks, put together from what its table, the order of its sectors and the seams say.

use std::collections::{HashMap, HashSet};

use crate::recover::assemble::{Assembled, Fit, Start};
use crate::recover::decide::{Certainty, Placed};
use crate::recover::explained::listed;
use crate::recover::region::{Candidate, Case, Listing};
use crate::recover::torn_table::own;
use crate::recover::weights::Weights;

/// What is known of the places of a region's blocks.
#[derive(Clone, Debug, Default)]
pub struct Solved {
    /// The places, by slot.
    pub placed: Vec<Placed>,
    /// For each entry, how likely its block is torn.
    pub torn: Vec<f64>,
    /// For each entry its possible blocks; empty where the order of the sectors was not asked.
    pub options: Vec<Vec<Candidate>>,
    /// For each block, how likely it was saved since the table was written, or lost its entry.
    pub appended: Vec<f64>,
    /// Possible places of unowned blocks, by block and position, with probabilities.
    pub candidates: Vec<(usize, [i32; 3], f64)>,
    /// Whether the table is right as it is.
    pub as_listed: bool,
    /// Slots whose blocks the seams put elsewhere although the table fits the sectors.
    pub contradicted: Vec<u32>,
    /// Blocks that were left undecided because the budget was used up.
    pub undecided: usize,
    /// Whether the blocks were placed by the table of another file.
    pub by_other_table: bool,
    /// Slots, ascending, of entries that name no positions of this region, because the table is that of another one.
    pub void: Vec<u32>,
}

impl Solved {
    /// The same with no place certain.
    #[must_use]
    pub fn at_most_likely(&self) -> Self {
        let mut solved = Self { as_listed: false, ..self.clone() };
        for placed in &mut solved.placed {
            placed.lower(Certainty::Likely, Weights::default().likely);
        }
        solved
    }

    /// Whether the block of an entry is torn, as far as is known.
    #[must_use]
    pub fn is_torn(&self, entry: usize) -> bool {
        self.torn.get(entry).is_some_and(|p| *p > 0.5)
    }

    /// How likely one of the whole blocks is that of an entry, whichever it is.
    #[must_use]
    pub fn presence(&self, entry: usize) -> f64 {
        self.options.get(entry).map_or(0.0, |options| options.iter().map(|option| option.p).sum())
    }

    /// Whether seams show beyond doubt that blocks of a table that fits its sectors belong elsewhere.
    #[must_use]
    pub fn is_contradicted(&self) -> bool {
        let moved = |placed: &Placed| placed.certainty == Certainty::Certain && placed.moved;
        !self.as_listed && self.placed.iter().any(moved)
    }
}

/// Whether an entry leads to a block in its slot.
pub(super) fn is_listed(case: &Case, fit: &Fit) -> bool {
    case.entries.iter().any(|entry| entry.slot == fit.slot && listed(case, entry) == Some(fit.block))
}

/// What is known of a region whose table is believed.
pub(super) fn from_table(case: &Case, made: &Assembled) -> Solved {
    let blocks = &case.walk.blocks;
    let listed_at: HashMap<u32, &Listing> = case.entries.iter().map(|e| (e.slot, e)).collect();
    let is_listed = |fit: &Fit| listed_at.get(&fit.slot).is_some_and(|e| own(case, e) == Some(fit.block));
    let placed: Vec<Placed> = made
        .fits
        .iter()
        .filter_map(|fit| {
            let position = case.shape.position(fit.slot)?;
            Some(Placed {
                slot: fit.slot,
                position,
                block: fit.block,
                certainty: fit.certainty,
                voxels: fit.voxels,
                p: fit.p,
                moved: !is_listed(fit),
            })
        })
        .collect();
    let by_slot: HashMap<u32, &Placed> = placed.iter().map(|p| (p.slot, p)).collect();
    let taken: HashSet<usize> = placed.iter().map(|p| p.block).collect();
    let contents: HashSet<u128> = taken.iter().map(|&b| blocks[b].content).collect();
    let end = taken.iter().map(|&b| blocks[b].end()).max().unwrap_or(0);
    let whole_in = |e: &Listing| {
        let at = blocks.partition_point(|b| b.end() <= e.first);
        blocks.get(at).is_some_and(|b| b.first < e.first + e.count)
    };
    let torn = |e: &Listing| f64::from(u8::from(!by_slot.contains_key(&e.slot) && !whole_in(e)));
    let appended = |b: usize| {
        let free = !taken.contains(&b) && !contents.contains(&blocks[b].content);
        if free && blocks[b].first < end.max(case.table_end()) { 0.5 } else { 0.0 }
    };
    let here = |e: &Listing| by_slot.get(&e.slot).is_some_and(|p| own(case, e) == Some(p.block));
    let as_listed = placed.len() == case.raw.len() && case.entries.iter().all(here);
    Solved {
        torn: case.entries.iter().map(torn).collect(),
        options: Vec::new(),
        appended: (0..blocks.len()).map(appended).collect(),
        candidates: candidates(case, made),
        as_listed,
        contradicted: made.contradicted.iter().map(|(slot, _)| *slot).collect(),
        undecided: made.undecided,
        placed,
        ..Solved::default()
    }
}

/// The possible places of unowned blocks, by position.
fn candidates(case: &Case, made: &Assembled) -> Vec<(usize, [i32; 3], f64)> {
    let at = |&(block, slot, p): &(usize, u32, f64)| Some((block, case.shape.position(slot)?, p));
    made.candidates.iter().filter_map(at).collect()
}

/// What the order says, with what the seams say of blocks that it left over; none of these is certain beside
/// `lost_entries`.
pub(super) fn join(
    case: &Case,
    mut order: Solved,
    start: &Start,
    made: &Assembled,
    lost_entries: bool,
    weights: &Weights,
) -> Solved {
    if order.as_listed {
        let mut solved = from_table(case, made);
        if made.contradicted.is_empty() && solved.placed.iter().all(|placed| !placed.moved) {
            return order;
        }
        for (appended, by_order) in solved.appended.iter_mut().zip(&order.appended) {
            *appended = appended.max(*by_order);
        }
        return solved;
    }
    let leads_there = |fit: &Fit| {
        let mut entries = case.entries.iter().filter(|entry| entry.slot == fit.slot);
        entries.any(|entry| entry.first == case.walk.blocks[fit.block].first)
    };
    let knows_most = 2 * start.anchors.len() >= case.entries.len();
    let is_enough = |fit: &Fit| knows_most || fit.p >= weights.certain_if_moved || leads_there(fit);
    let sure = |fit: &Fit| match !lost_entries && is_enough(fit) {
        true => (fit.certainty, fit.voxels),
        false => (fit.certainty.min(Certainty::Likely), fit.voxels.min(Certainty::Likely)),
    };
    // What the order leaves likely gives way to what order, distances and seams together make surer.
    let surer = |fit: &Fit, placed: &Placed| {
        let (found, by_order) = (sure(fit).0, placed.certainty);
        by_order < Certainty::Likely || (by_order < Certainty::Certain && found >= by_order && fit.p > placed.p)
    };
    if let Some((first, last)) = made.moved_back {
        let is_known =
            |placed: &Placed| made.fits.iter().any(|fit| (fit.slot, fit.block) == (placed.slot, placed.block));
        order.placed.retain(|placed| !(first..=last).contains(&placed.slot) || is_known(placed));
    }
    for fit in &made.fits {
        let Some(position) = case.shape.position(fit.slot) else { continue };
        let same = |placed: &Placed| case.content(placed.block) == case.content(fit.block);
        if let Some(placed) = order.placed.iter_mut().find(|placed| placed.slot == fit.slot && same(placed)) {
            placed.certainty = placed.certainty.max(sure(fit).0);
            placed.voxels = placed.voxels.max(sure(fit).1);
            placed.p = placed.p.max(fit.p);
            continue;
        }
        let in_the_way = |placed: &Placed| placed.slot == fit.slot || placed.block == fit.block;
        if order.placed.iter().any(|placed| in_the_way(placed) && !surer(fit, placed)) {
            continue;
        }
        order.placed.retain(|placed| !in_the_way(placed));
        let (slot, block, p) = (fit.slot, fit.block, fit.p);
        let (certainty, voxels) = sure(fit);
        order.placed.push(Placed { slot, position, block, certainty, voxels, p, moved: !is_listed(case, fit) });
    }
    for placed in order.placed.iter_mut().filter(|placed| placed.certainty == Certainty::Likely) {
        if placed.p < weights.likely {
            (placed.certainty, placed.voxels) = (Certainty::Candidate, Certainty::Candidate);
        }
    }
    order.placed.sort_by_key(|p| p.slot);
    made.doubt_placed(&mut order.placed, weights);
    order.candidates = candidates(case, made);
    order.undecided = made.undecided;
    order
}
