//! Slots without a block as other places of one that was put elsewhere.
//!
//! A game stores no block where nobody was. Where many places look alike, as those of air do, there may be more of them than blocks, and
//! nothing but their number tells which of them hold one. How well a block fits its place says no more than how rare such
//! places are: known places are asked whether the block would fit them as well.

use std::collections::HashMap;

use crate::parallel;
use crate::recover::assemble::board::Node;
use crate::recover::assemble::judge::{Around, Judging, Support};
use crate::recover::assemble::links::Link;

/// The most slots without a block in which a block is compared.
const MOST: usize = 16;

/// Known places that are asked, evenly from all of them.
const KNOWN: usize = 512;

/// How much worse than in its own place a block may fit, as log-odds: first by some cells of each side, then by all. Chosen.
const ROUGHLY: f64 = 3.0;
const AS_WELL: f64 = 1.0;

/// A single place that the block would fit as well shows nothing yet.
const ONE: f64 = 1.0;

/// Some known places of a LOD.
pub(super) struct KnownPlaces(Vec<KnownPlace>);

/// What is beside a known block, and its height.
struct KnownPlace {
    links: Vec<(Link, Node)>,
    around: Vec<Around>,
    height: i32,
}

impl KnownPlaces {
    /// Those of the LOD of a region.
    pub fn new(judging: &Judging<'_, '_>) -> Self {
        let (board, lod) = (judging.board, judging.case().lod);
        let place = |at: [i32; 3]| {
            let links = board.links(lod, at);
            KnownPlace { around: Around::of_links(board, &links), links, height: at[1] }
        };
        let known = board.sample_known(lod, KNOWN, |node| judging.levels.contains_key(node));
        Self(known.into_iter().map(place).collect())
    }

    /// The most that the seams of a block in a place may say for it, as log-odds: the rarer places are that it would fit as well,
    /// the more.
    pub fn limit(&self, judging: &Judging<'_, '_>, i: usize, support: &Support) -> f64 {
        let Judging { growth, board, r, .. } = *judging;
        let node = judging.node(i);
        // Neighbours of known places count in full, so those of this one do as well.
        let links: Vec<(Link, Node)> = support.iter().map(|(link, other, _)| (*link, *other)).collect();
        let roughly = growth.estimate(board, r, i, &Around::of_links(board, &links)) - ROUGHLY;
        let least = board.seams(node, &links).0 - AS_WELL;
        let fits = |place: &&KnownPlace| {
            growth.estimate(board, r, i, &place.around) >= roughly && board.seams(node, &place.links).0 >= least
        };
        let height = |place: &KnownPlace| board.heights.odds(node, judging.case().lod, place.height).exp().min(1.0);
        let fit: f64 = self.0.iter().filter(fits).map(height).sum();
        if fit > ONE { (self.0.len() as f64 / fit).ln().max(0.0) } else { f64::INFINITY }
    }
}

/// How well each content that some of `blocks` have fits into slots without a block, as log-odds with those that the slot holds
/// one, the best first.
pub(super) fn rate_unfilled(judging: &Judging<'_, '_>, blocks: impl Iterator<Item = usize>) -> HashMap<u128, Vec<f64>> {
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
