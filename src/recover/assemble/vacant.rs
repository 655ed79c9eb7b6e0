//! Whether a slot that was filled held a block at all.
//!
//! A game stores no block where nobody was; the entry of such a slot is zero, like an entry that was lost. The slot is filled all
//! the same if some block without an entry fits. How often that happens is counted: how many of the slots with as many neighbours
//! stay without a block in the end, and into how many places of known blocks another block without an entry would fit as well. Where
//! all blocks of a region have likely places, none of them is missing elsewhere.

use std::collections::HashSet;

use crate::parallel;
use crate::recover::assemble::board::{Board, Node};
use crate::recover::assemble::growth::{Growth, keep_best};
use crate::recover::assemble::judge::Around;
use crate::recover::assemble::links::Link;
use crate::recover::decide::Certainty;
use crate::recover::random::Random;

/// Known places that are tried, and the fewest that show something.
const PLACES: usize = 256;
const LEAST: usize = 16;

/// Neighbours of a place that are compared at most.
const NEIGHBOURS: usize = 7;

/// Blocks that are compared by all cells of their sides: those that fit a place best by some cells.
const BEST: usize = 8;

/// Empty slots that are counted before any is seen, and slots of each kind that are like all others. Chosen.
const UNSEEN: f64 = 0.1;
const FEW: f64 = 10.0;

/// How much worse than the one that is judged another block may fit, as log-odds. Chosen.
const AS_WELL: f64 = 1.0;

/// How often slots stay empty, and how often blocks fit where they do not belong.
struct Chance {
    /// By the number of occupied neighbours, the odds that a slot holds no block.
    empty: [f64; 7],
    /// By the number of neighbours that are compared, the log-odds of the best block in each known place, in ascending order.
    strangers: [Vec<f64>; NEIGHBOURS],
}

impl Chance {
    /// The odds that a slot held no block although one fits it with the given log-odds, by the number of neighbours that are
    /// compared and of those that are occupied.
    fn odds(&self, own: f64, compared: usize, beside: usize) -> f64 {
        let fits = &self.strangers[compared.clamp(1, NEIGHBOURS) - 1];
        if fits.len() < LEAST {
            return 0.0;
        }
        let as_well = fits.len() - fits.partition_point(|fit| *fit < own - AS_WELL);
        self.empty[beside.min(6)] * as_well as f64 / fits.len() as f64
    }
}

impl Growth {
    /// Lowers the certainty of blocks in slots that may have held none.
    pub fn doubt_filled(&mut self, board: &Board<'_>) {
        let empty = Self::count_empty(board);
        for r in 0..board.cases.len() {
            let is_open = |g: &usize| self.grown[*g].case == r && self.grown[*g].certainty >= Certainty::Likely;
            let open: Vec<usize> = (0..self.grown.len()).filter(is_open).collect();
            if open.is_empty() {
                continue;
            }
            let chance = Chance { empty, strangers: self.try_strangers(board, r) };
            let odds = parallel::map(&open, |&g| self.weigh_empty(board, g, &chance));
            let unsure = self.share_unsure(r);
            for (g, odds) in open.into_iter().zip(odds) {
                self.lower(board, g, 1.0 / (1.0 + odds * unsure));
            }
        }
    }

    /// The share of the blocks of a region in use without an entry whose places are not even likely. A block in a slot that held none
    /// belongs elsewhere: among these is what may be in its place.
    fn share_unsure(&self, r: usize) -> f64 {
        let live = self.loose[r].iter().filter(|loose| loose.live > 0.0).count();
        let sure = self.grown.iter().filter(|of| of.case == r && of.certainty >= Certainty::Likely).count();
        live.saturating_sub(sure) as f64 / live.max(1) as f64
    }

    /// The odds that the slot of a placed block held none.
    fn weigh_empty(&self, board: &Board<'_>, g: usize, chance: &Chance) -> f64 {
        let grown = &self.grown[g];
        let (case, loose) = (board.cases[grown.case], &self.loose[grown.case][grown.loose]);
        let Some(at) = case.shape.position(grown.slot) else { return 0.0 };
        // A damaged entry was one.
        if self.damaged[grown.case].contains(&grown.slot) {
            return 0.0;
        }
        let links = board.links(case.lod, at);
        let beside = links.iter().filter(|(link, _)| matches!(link, Link::Beside(..))).count();
        let (seams, compared) = board.seams((grown.case, loose.block), &links);
        let height = board.heights.odds((grown.case, loose.block), case.lod, at[1]);
        chance.odds(seams + height, compared, beside)
    }

    /// By the number of occupied neighbours, the odds that a slot holds no block, with all blocks where they are now.
    fn count_empty(board: &Board<'_>) -> [f64; 7] {
        let counts = board.count_slots();
        let sum = |of: &[[f64; 7]]| -> [f64; 7] { std::array::from_fn(|k| of.iter().map(|of| of[k]).sum()) };
        let (full, empty) = (sum(&counts.filled), sum(&counts.empty));
        let all = (empty.iter().sum::<f64>() + UNSEEN) / (full.iter().sum::<f64>() + UNSEEN);
        std::array::from_fn(|k| (empty[k] + FEW * all) / (full[k] + FEW))
    }

    /// How well the best of the unowned blocks fits each of some known places: by the number of neighbours that are compared, in
    /// ascending order.
    fn try_strangers(&self, board: &Board<'_>, r: usize) -> [Vec<f64>; NEIGHBOURS] {
        let case = board.cases[r];
        let grown: HashSet<Node> =
            self.grown.iter().map(|grown| (grown.case, self.loose[grown.case][grown.loose].block)).collect();
        let mut random = Random::new(r as u64);
        let places: Vec<(i32, Vec<(Link, Node)>)> = board
            .sample_known(case.lod, PLACES, |node| grown.contains(node))
            .into_iter()
            .map(|at| {
                let mut left = board.links(case.lod, at);
                left.retain(|(_, node)| board.sides_of(*node).is_some());
                let mut links = Vec::with_capacity(left.len());
                while !left.is_empty() && links.len() < NEIGHBOURS {
                    links.push(left.swap_remove(random.below(left.len())));
                }
                (at[1], links)
            })
            .collect();
        let contents = self.group_by_content(board, r, 0..self.loose[r].len());
        let found = parallel::map(&places, |(height, links)| {
            let around = Around::of_links(board, links);
            let node = |i: usize| (r, self.loose[r][i].block);
            let at_height = |i: usize| board.heights.odds(node(i), case.lod, *height);
            (1..=links.len())
                .map(|n| {
                    let estimate = |i: usize| self.estimate(board, r, i, around.get(..n).unwrap_or(&around));
                    let mut ranked: Vec<(f64, usize)> = contents
                        .iter()
                        .map(|(_, blocks)| (estimate(blocks[0]) + at_height(blocks[0]), blocks[0]))
                        .collect();
                    keep_best(&mut ranked, BEST);
                    let fit = |(_, i): (f64, usize)| board.seams(node(i), &links[..n]).0 + at_height(i);
                    ranked.into_iter().map(fit).fold(f64::NEG_INFINITY, f64::max)
                })
                .collect::<Vec<f64>>()
        });
        let mut strangers: [Vec<f64>; NEIGHBOURS] =
            std::array::from_fn(|n| found.iter().filter_map(|fits| fits.get(n).copied()).collect());
        strangers.iter_mut().for_each(|fits| fits.sort_unstable_by(f64::total_cmp));
        strangers
    }
}
