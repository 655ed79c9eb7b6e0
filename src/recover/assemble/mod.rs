//! Unowned blocks put into empty slots by how well their sides continue into those of the neighbours.
//!
//! Blocks whose places are known come first. Slots beside them are tried with every unowned block of their region: some
//! cells of each side at first, all cells of the best. What is certain is placed, and helps to place the next; when
//! nothing is certain any more, what is likely follows, what is at least a candidate, and then guesses. After each of these
//! `revise` moves what fits better elsewhere. Then `anneal` exchanges blocks at random, and at last `renew` takes out what is at
//! seams that do not fit and places it anew. In the end `confirm` finds what is certain after all, beginning beside what was known: nothing that is certain rests on
//! anything that is not, but for places that blocks exchanged at random never change (`steady`). `judge` says how sure a place is. What is likely must be better than all exchanges of single blocks and of groups (`groups`).
//! Blocks of equal voxels are interchangeable; in the end `alike` finds those whose metadata is in doubt.
//!
//! Before all that, `gap`, `slide` and `exchange` find entries that moved along or were exchanged, and `mixed` regions in which many
//! were. Their blocks are placed with the
//! unowned ones.

mod alike;
mod anneal;
mod board;
mod confirm;
mod contents;
mod exchange;
mod finish;
mod gap;
mod groups;
mod growth;
mod heights;
mod judge;
mod links;
mod matching;
mod mixed;
mod puzzle;
mod renew;
mod revise;
mod seam_cache;
mod slide;
mod steady;
mod trial;
mod unfilled;
mod vacant;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

pub use crate::recover::assemble::board::forget_inner;
use crate::recover::assemble::board::{Board, Node, inside};
use crate::recover::assemble::growth::Growth;
use crate::recover::assemble::heights::Heights;
use crate::recover::assemble::links::Sides;
use crate::recover::assemble::seam_cache::SeamCache;
use crate::recover::cells::{Model, Vocabulary};
use crate::recover::decide::Certainty;
use crate::recover::region::Case;
use crate::recover::weights::Weights;
use crate::watch::Watch;

/// How much more doubt there is about the places in a region whose entries were mixed up, as log-odds: not all wrong places show.
/// Measured on six runs of exchanged entries in three smooth worlds: without it 14 of 4,044 blocks were in wrong places for certain, with
/// it 9, and 3 % fewer came back.
const MIXED_CONFUSION: f64 = 1.5;

/// How often the places of all blocks are revised, and the others guessed.
const REVISIONS: usize = 3;

/// An unowned block.
#[derive(Clone, Debug)]
pub struct Loose {
    /// Its index in the walk.
    pub block: usize,
    /// Log-odds that it is in use.
    pub live: f64,
    /// Slots that something else supports, with log-odds.
    pub hints: Vec<(u32, f64)>,
}

impl Loose {
    /// Whether something else supports that the block belongs to a slot.
    fn has_hint(&self, slot: u32) -> bool {
        self.hints.iter().any(|(of, _)| *of == slot)
    }
}

/// What is known of a region before its unowned blocks are placed.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// Slots and blocks that are taken for right.
    pub anchors: Vec<(u32, usize)>,
    /// Unowned blocks.
    pub loose: Vec<Loose>,
    /// Slots whose entries are damaged, and so are likely to hold a block.
    pub damaged: HashSet<u32>,
    /// Slots whose entry is repeated in the next one: from there on the entries may have moved along by one.
    pub repeated: Vec<u32>,
    /// Whether the anchors are by the order of the sectors, so that an entry alone names no block.
    pub by_order: bool,
    /// Entries that were cut out of the table, or inserted if it is below 0: those behind that place are in slots that are so much
    /// earlier.
    pub gap: i32,
    /// Whether anchors that seams contradict are looked at again.
    pub check: bool,
    /// Whether other blocks of the region, which are not listed here, have places too.
    pub is_partial: bool,
}

/// A block that fits another slot better than that of its entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moved {
    pub case: usize,
    /// The slot of its entry.
    pub slot: u32,
    pub block: usize,
    /// The other slot.
    pub to: u32,
}

/// A block in a slot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// The slot.
    pub slot: u32,
    /// The index of the block in the walk.
    pub block: usize,
    /// How sure it is.
    pub certainty: Certainty,
    /// How sure its voxels are: surer than the block if other blocks have the same voxels and other metadata.
    pub voxels: Certainty,
    /// Its probability.
    pub p: f64,
}

impl Fit {
    /// A block of which nothing else is possible.
    #[must_use]
    pub const fn known(slot: u32, block: usize, p: f64) -> Self {
        Self { slot, block, certainty: Certainty::Certain, voxels: Certainty::Certain, p }
    }

    /// Lowers how sure the place and its voxels are to `most`, and its probability to `p`, if they are higher.
    pub(super) fn lower(&mut self, most: Certainty, p: f64) {
        (self.certainty, self.voxels) = (self.certainty.min(most), self.voxels.min(most));
        self.p = self.p.min(p);
    }
}

/// What came of a region.
#[derive(Clone, Debug, Default)]
pub struct Assembled {
    /// Blocks in slots, by slot: the anchors that stay, and those that were placed.
    pub fits: Vec<Fit>,
    /// Anchors that seams put elsewhere: the slot that they were taken out of and their block.
    pub contradicted: Vec<(u32, usize)>,
    /// Possible places of blocks that were not placed: block, slot and probability.
    pub candidates: Vec<(usize, u32, f64)>,
    /// Blocks that were left undecided because the budget was used up.
    pub undecided: usize,
    /// Whether so many entries lead to blocks of other slots that an entry alone says little.
    pub is_mixed: bool,
    /// The first and the last slot of anchors that moved along with the entries before them, and are where they came from.
    pub moved_back: Option<(u32, u32)>,
    /// Slots whose entries may have moved along, and how likely they stayed.
    pub stayed: HashMap<u32, f64>,
    /// Pairs of slots whose blocks fit each other's slots better than their own.
    pub exchanged: Vec<[u32; 2]>,
}

/// Places the unowned blocks of regions; `starts` says what is known of each case.
#[must_use]
pub fn assemble(
    cases: &[&Case],
    starts: &[Start],
    weights: &Weights,
    effort: u64,
    watch: &Watch<'_>,
) -> Vec<Assembled> {
    let words =
        Vocabulary::count(
            cases.iter().flat_map(|case| &case.walk.blocks).filter_map(|b| b.faces.as_deref()).flat_map(|faces| {
                (0..3).flat_map(move |axis| [&faces.side(axis, false)[0], &faces.side(axis, true)[0]])
            }),
        );
    let sides: Vec<Vec<Option<Arc<Sides>>>> = cases.iter().map(|case| Sides::of_blocks(case, &words)).collect();
    let regions = cases.iter().enumerate().map(|(r, case)| ((case.lod, case.shape.region), r)).collect();
    let mut placed = HashMap::new();
    for (r, (case, start)) in cases.iter().zip(starts).enumerate() {
        for &(slot, block) in &start.anchors {
            placed.extend(case.shape.position(slot).map(|at| ((case.lod, at), (r, block))));
        }
    }
    let mut board = Board {
        cases,
        weights,
        heights: Heights::new(&sides),
        cache: SeamCache::new(&sides),
        sides,
        model: Model::default(),
        placed,
        regions,
        occupancy: [0.0; 7],
        lods: true,
        partial: starts.iter().map(|start| start.is_partial).collect(),
        beside: [0.0; 3],
        confusion: vec![0.0; cases.len()],
    };
    let inside = inside(cases, &words);
    board.learn(&inside);
    let mut starts = starts.to_vec();
    let mut moved = board.close_gaps(&mut starts, |board| board.learn(&inside));
    let along = board.move_all_back(&mut starts, |board| board.learn(&inside));
    moved.extend(along.open);
    moved.extend(board.exchange(&mut starts, |board| board.learn(&inside)));
    let exchanged: Vec<Vec<[u32; 2]>> =
        starts.iter().enumerate().map(|(r, start)| board.find_exchanged(r, start)).collect();
    let (suspects, mixed) = board.find_suspects(&starts, &inside);
    let in_doubt: HashSet<Node> = suspects.iter().map(|&(r, _, block)| (r, block)).collect();
    let confusion = |(r, start): (usize, &Start)| {
        let tried = board.try_known(r, start, &in_doubt);
        if mixed[r] { tried.max(MIXED_CONFUSION) } else { tried }
    };
    board.confusion = starts.iter().enumerate().map(confusion).collect();
    let mut growth = Growth::new(&board, &starts, mixed, effort);
    board.count_occupied(&growth.missing());
    growth.withdraw_moved(&mut board, moved);
    growth.withdraw(&mut board, suspects);
    growth.grow(&mut board, watch);
    for _ in 0..REVISIONS {
        let revised = growth.revise(&mut board);
        if !growth.guess(&mut board, watch) && !revised {
            break;
        }
    }
    growth.anneal(&mut board, watch);
    growth.doubt(&board);
    growth.anneal(&mut board, watch);
    growth.revise(&mut board);
    growth.renew(&mut board, watch);
    if cases.iter().all(|case| !case.is_large()) {
        // Guesses fill many slots of a large region that nothing has confirmed yet.
        board.count_occupied(&growth.missing());
    }
    growth.confirm(&board);
    growth.doubt_filled(&board);
    let mut made = growth.finish(&board, &starts);
    for (((made, back), doubts), exchanged) in made.iter_mut().zip(along.back).zip(along.doubts).zip(exchanged) {
        (made.moved_back, made.stayed, made.exchanged) = (back, doubts, exchanged);
        made.doubt_fits(weights);
    }
    made
}
