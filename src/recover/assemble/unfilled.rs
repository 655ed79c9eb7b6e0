//! Slots without a block as other places of one that was put elsewhere.
//!
//! A game stores no block where nobody was. Where many places look alike, as those of air do, there may be more of them than blocks, and
//! nothing but their number tells which of them hold one. How well a block fits its place says no more than how rare such
//! places are: known places are asked whether the block would fit them as well.

use std::collections::HashMap;

use crate::parallel;
use crate::recover::assemble::board::Node;
use crate::recover::assemble::judge::{Around, Judging, Support};

/// The most slots without a block in which a block is compared.
const MOST: usize = 16;

/// Known places that are asked, evenly from all of them.
const KNOWN: usize = 512;

/// How much worse than in its own place a block may fit, as log-odds: first by some cells of each side, then by all. Chosen.
const ROUGHLY: f64 = 3.0;
const AS_WELL: f64 = 1.0;

/// A single place that the block would fit as well shows nothing yet.
const ONE: f64 = 1.0;

/// What is beside some known blocks.
pub(super) struct Known {
    places: Vec<Place>,
}

/// A known place: what is beside it, and its height.
struct Place {
    support: Support,
    around: Vec<Around>,
    height: i32,
}

impl Known {
    /// Those of the LOD of a region.
    pub fn new(judging: &Judging<'_, '_>) -> Self {
        let lod = judging.case().lod;
        let is_known = |node: &Node| !judging.levels.contains_key(node) && judging.board.sides_of(*node).is_some();
        let mut all: Vec<[i32; 3]> = judging
            .board
            .placed
            .iter()
            .filter(|((of, _), node)| *of == lod && is_known(node))
            .map(|((_, at), _)| *at)
            .collect();
        all.sort_unstable();
        let place = |at: &[i32; 3]| {
            let links = judging.board.links(lod, *at);
            let support: Support = links.into_iter().map(|(link, node)| (link, node, 1.0)).collect();
            let around = support.iter().filter_map(|of| Around::new(judging.board, of)).collect();
            Place { support, around, height: at[1] }
        };
        let step = all.len().div_ceil(KNOWN).max(1);
        Self { places: all.iter().step_by(step).map(place).collect() }
    }

    /// The most that the seams of a block in a place may say for it, as log-odds: the rarer places are that it would fit as well,
    /// the more.
    pub fn limit(&self, judging: &Judging<'_, '_>, i: usize, support: &Support) -> f64 {
        let Judging { growth, board, r, .. } = *judging;
        let node = judging.node(i);
        let seams = |support: &Support| -> f64 {
            let others = support.iter().filter(|(_, other, _)| *other != node);
            others.map(|(link, other, _)| board.side_odds(node, *link, *other)).sum()
        };
        // Known places count in full, so this one does as well.
        let around: Vec<Around> =
            support.iter().filter_map(|(link, other, _)| Around::new(board, &(*link, *other, 1.0))).collect();
        let roughly = growth.estimate(board, r, i, &around) - ROUGHLY;
        let least = seams(support) - AS_WELL;
        let fits =
            |place: &&Place| growth.estimate(board, r, i, &place.around) >= roughly && seams(&place.support) >= least;
        let height = |place: &Place| board.heights.odds(node, judging.case().lod, place.height).exp().min(1.0);
        let fit: f64 = self.places.iter().filter(fits).map(height).sum();
        if fit > ONE { (self.places.len() as f64 / fit).ln().max(0.0) } else { f64::INFINITY }
    }
}

/// How well each content that some of `blocks` have fits into slots without a block, as log-odds with those that the slot holds
/// one, the best first.
pub(super) fn rate(judging: &Judging<'_, '_>, blocks: impl Iterator<Item = usize>) -> HashMap<u128, Vec<f64>> {
    let Judging { growth, board, r, .. } = *judging;
    let unfilled: Vec<(u32, f64, Support, Vec<Around>)> = growth
        .open_slots(r)
        .map(|(slot, open)| {
            let support = judging.support(slot);
            let around = support.iter().filter_map(|of| Around::new(board, of)).collect();
            (slot, growth.occupied(board, r, slot, open.beside), support, around)
        })
        .collect();
    let rated = parallel::map(&growth.group_by_content(board, r, blocks), |(voxels, blocks)| {
        let i = blocks[0];
        let mut ranked: Vec<(f64, usize)> = unfilled
            .iter()
            .enumerate()
            .map(|(u, (_, occupied, _, around))| (growth.estimate(board, r, i, around) + occupied, u))
            .collect();
        ranked.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        if judging.case().is_large() {
            ranked.truncate(MOST);
        }
        let odds = |(rank, (estimate, u)): (usize, (f64, usize))| {
            let (slot, occupied, support, _) = &unfilled[u];
            if rank < MOST { judging.strength(i, *slot, support) + occupied } else { estimate }
        };
        // A vector of its own: one made in place would keep the room of all slots.
        let mut odds: Vec<f64> = ranked.iter().copied().enumerate().map(odds).collect();
        odds.sort_unstable_by(|a, b| b.total_cmp(a));
        (*voxels, odds)
    });
    rated.into_iter().collect()
}
