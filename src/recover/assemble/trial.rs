//! Whether seams tell the blocks of a region apart: blocks whose places are known are tried in each other's places.
//!
//! What seams are worth is learned from neighbours and strangers, cell by cell. In some worlds that promises too much: of houses
//! that are built alike each wall continues every other. If blocks that are right where they are would fit better exchanged, so may
//! those that have no place, and they have to fit so much better before their places are certain.

use std::collections::HashSet;

use crate::parallel;
use crate::recover::assemble::Start;
use crate::recover::assemble::board::{Board, Node};
use crate::recover::assemble::links::Link;
use crate::recover::random::Random;

/// Places of a region that are tried, and blocks that are tried in each.
const PLACES: usize = 256;
const RIVALS: usize = 512;

/// Rivals that are compared in both places: those that fit best.
const BEST: usize = 12;

/// Neighbours that are compared: a block at the edge of a hole has few.
const NEIGHBOURS: usize = 3;

/// Known blocks below which a region shows nothing.
const LEAST: usize = 128;

/// What blocks in known places may gain by an exchange without more doubt about the others. Measured: of 256 known blocks none gained
/// more than 2.6 in worlds of hills, caves, plains, islands and buildings, where hardly any certain place is wrong, and the best gained
/// 7.8 in a world of ores, where 9 of 80 were.
const USUAL: f64 = 2.6;

/// A known block, and some of its neighbours.
struct Known {
    node: Node,
    height: i32,
    links: Vec<(Link, Node)>,
}

impl Board<'_> {
    /// The largest gain of an exchange of two known blocks of a large region, in log-odds above what is usual; 0 if none is. The places
    /// of some blocks are in doubt.
    pub fn try_known(&self, r: usize, start: &Start, in_doubt: &HashSet<Node>) -> f64 {
        let case = self.cases[r];
        if !case.is_large() || start.anchors.len() < LEAST {
            return 0.0;
        }
        let mut random = Random::new(r as u64);
        let mut known: Vec<Known> = Vec::new();
        let mut contents: HashSet<u128> = HashSet::new();
        let anchors = start.anchors.iter().filter(|(_, block)| !in_doubt.contains(&(r, *block)));
        let step = anchors.clone().count().div_ceil(RIVALS * 2).max(1);
        for &(slot, block) in anchors.step_by(step) {
            let Some(position) = case.shape.position(slot) else { continue };
            let mut links = self.links(case.lod, position);
            let is_known = |node: &Node| !in_doubt.contains(node) && self.sides_of(*node).is_some();
            links.retain(|(link, node)| matches!(link, Link::Beside(..)) && is_known(node));
            while links.len() > NEIGHBOURS {
                links.swap_remove(random.below(links.len()));
            }
            let is_asked = self.sides_of((r, block)).is_some() && links.len() == NEIGHBOURS;
            if is_asked && known.len() < RIVALS && contents.insert(case.voxels(block)) {
                known.push(Known { node: (r, block), height: position[1], links });
            }
        }
        if known.len() < LEAST {
            return 0.0;
        }
        let fit = |own: Node, place: &Known| {
            let seams = place.links.iter().filter(|(_, other)| *other != own);
            let seams: f64 = seams.map(|(link, other)| self.side_odds(own, *link, *other)).sum();
            seams + self.heights.odds(own, case.lod, place.height)
        };
        let own: Vec<f64> = parallel::map(&known, |place| fit(place.node, place));
        let tried: Vec<usize> = (0..known.len()).step_by(known.len().div_ceil(PLACES).max(1)).collect();
        let most = parallel::map(&tried, |&at| {
            let place = &known[at];
            let mut gains: Vec<(f64, usize)> = known
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != at)
                .map(|(other, of)| (fit(of.node, place) - own[at], other))
                .collect();
            gains.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let both = |&(gain, other): &(f64, usize)| gain + fit(place.node, &known[other]) - own[other];
            gains.iter().take(BEST).map(both).fold(0.0, f64::max)
        });
        most.into_iter().map(|gain| gain - USUAL).fold(0.0, f64::max)
    }
}
