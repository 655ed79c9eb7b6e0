//! How sure a block is in its place: against each exchange with another block, and against an empty slot.

use std::collections::{HashMap, HashSet};

use crate::parallel;
use crate::recover::assemble::board::{Board, Node};
use crate::recover::assemble::contents::Content;
use crate::recover::assemble::growth::{Grown, Growth, keep_best};
use crate::recover::assemble::links::{Few, Link};
use crate::recover::assemble::unfilled::{KnownPlaces, rate_unfilled};
use crate::recover::cells::FEW;
use crate::recover::decide::Certainty;
use crate::recover::region::Case;

/// Blocks that each one is compared with cell by cell.
const RIVALS: usize = 64;

/// The most that an exchange may lose in the one place before the other place is looked at. Chosen.
const MOST_LOST: f64 = 20.0;

/// Least log-odds of the seam with a certain neighbour if there is only one. Chosen.
const FIRM: f64 = 7.0;

/// Least log-odds of the seams with certain neighbours of a block whose content no other block has. Chosen: such a block
/// shows something that its neighbours continue.
const OWN: f64 = 6.0;

/// The odds of a place in a large region are raised to this power, since they are too low: each exchange counts as if no other
/// were possible. Measured on hills and caves with damaged tables.
const SHARPER: f64 = 2.0;

/// The same for exchanges with blocks that fit the place better and have none that is certain: they rest on what these lose elsewhere.
/// Measured on two smooth worlds of which a third of the entries was lost: with 2, 95 % of the blocks were certain and one of them wrong,
/// with 1.5 92 % and none.
const SHARPER_IF_OPEN: f64 = 1.5;

/// Log-odds below which an exchange is dropped if the other block fits the place worse, and how many exchanges the places of a region keep
/// together, each an equal share: an exchange takes 24 bytes. Chosen.
const NEGLIGIBLE: f64 = -25.0;
const EXCHANGES: usize = 1 << 19;

/// Log-odds above which nothing is in doubt any more. Chosen, so that sums of odds stay finite.
const BEYOND_DOUBT: f64 = 300.0;

/// The weight of all seams when everything is in place.
pub(super) const ALL: f64 = 1.0;

/// The places that are judged.
#[derive(Clone, Copy)]
pub(super) enum Asked<'a> {
    /// Those that are not certain.
    Unsure,
    /// Of these, those beside some blocks.
    Beside(&'a HashSet<Node>),
    /// Those that are certain as well.
    All,
}

/// How sure a place is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judged {
    /// Its index among the blocks that were placed.
    pub grown: usize,
    pub p: f64,
    /// Whether the evidence is enough for it to be certain.
    pub is_firm: bool,
    /// Of a block that others have the same voxels as, the odds that it is in a slot that holds none now, or in none.
    pub unfilled: f64,
}

/// A place before it is judged.
struct Rated {
    /// Its index among the blocks that were placed.
    grown: usize,
    /// The block by its index among the unowned ones.
    block: u32,
    is_firm: bool,
    /// The odds of everything but exchanges, against 1 of the place.
    against: f64,
    /// Blocks that might be here instead.
    exchanges: Vec<Exchange>,
    /// Of a block whose voxels no other one has, the log-odds of the slot without a block that it fits best.
    moved: Option<f64>,
}

/// Another block in a place.
#[derive(Clone, Copy)]
struct Exchange {
    block: u32,
    /// How much better it fits there than the one that is there, as log-odds.
    gain: f64,
    /// What the one that was there loses in the place of the other one, if that has one, or by being out of use.
    lost: f64,
    is_placed: bool,
    /// Whether the place of the other one is certain.
    is_sure: bool,
}

impl Exchange {
    /// Its log-odds.
    fn log_odds(&self) -> f64 {
        self.gain - self.lost
    }

    /// Whether it is likely enough to be kept.
    fn counts(&self) -> bool {
        self.gain > 0.0 || self.log_odds() > NEGLIGIBLE
    }

    fn odds(self) -> f64 {
        self.log_odds().min(BEYOND_DOUBT).exp()
    }
}

/// Keeps the likeliest exchanges.
fn keep_likeliest(exchanges: &mut Vec<Exchange>, most: usize) {
    if exchanges.len() > most {
        let likelier = |a: &Exchange, b: &Exchange| b.log_odds().total_cmp(&a.log_odds()).then(a.block.cmp(&b.block));
        exchanges.select_nth_unstable_by(most, likelier);
        exchanges.truncate(most);
        exchanges.shrink_to_fit();
    }
}

/// Adds each exchange that was looked at from one of its two places to the other one, and what a block gains elsewhere to
/// exchanges with a block that has no place.
fn complete(rated: &mut [Rated]) {
    let at: HashMap<u32, usize> = rated.iter().enumerate().map(|(k, rated)| (rated.block, k)).collect();
    let mut seen: HashSet<(u32, u32)> = HashSet::new();
    let mut elsewhere: HashMap<u32, f64> = HashMap::new();
    for (of, exchange) in rated.iter().flat_map(|of| of.exchanges.iter().map(move |exchange| (of, exchange))) {
        seen.insert((of.block, exchange.block));
        let best = elsewhere.entry(exchange.block).or_default();
        *best = best.max(exchange.gain);
    }
    let is_new = |of: &Rated, exchange: &Exchange| exchange.is_placed && !seen.contains(&(exchange.block, of.block));
    let from_other = |of: &Rated, exchange: &Exchange| {
        let there =
            Exchange { block: of.block, gain: -exchange.lost, lost: -exchange.gain, is_placed: true, is_sure: false };
        is_new(of, exchange).then_some((*at.get(&exchange.block)?, there))
    };
    let add: Vec<(usize, Exchange)> =
        rated.iter().flat_map(|of| of.exchanges.iter().filter_map(move |exchange| from_other(of, exchange))).collect();
    for (k, exchange) in add {
        rated[k].exchanges.push(exchange);
    }
    for of in rated {
        let Some(moved) = of.moved else { continue };
        let moved = elsewhere.get(&of.block).copied().unwrap_or_default().max(moved);
        of.exchanges.iter_mut().filter(|exchange| !exchange.is_placed).for_each(|exchange| exchange.lost -= moved);
    }
}

/// A slot with its neighbours, each with its weight.
pub(super) type Support = Vec<(Link, Node, f64)>;

/// The blocks of a region while they are judged.
pub(super) struct Judging<'j, 'c> {
    pub growth: &'j Growth,
    pub board: &'j Board<'c>,
    pub r: usize,
    /// How sure the blocks are that were placed.
    pub levels: HashMap<Node, Certainty>,
    /// The weight of seams with likely blocks; with [`ALL`] those with all others count as well.
    trust: Option<f64>,
}

impl Judging<'_, '_> {
    pub fn case(&self) -> &Case {
        self.board.cases[self.r]
    }

    pub fn node(&self, i: usize) -> Node {
        (self.r, self.growth.loose[self.r][i].block)
    }

    fn voxels(&self, i: usize) -> u128 {
        self.case().voxels(self.growth.loose[self.r][i].block)
    }

    pub fn support(&self, slot: u32) -> Support {
        let case = self.case();
        let links = case.shape.position(slot).map_or(Vec::new(), |at| self.board.links(case.lod, at));
        let weigh = |(link, node): (Link, Node)| match self.levels.get(&node) {
            None | Some(Certainty::Certain) => Some((link, node, 1.0)),
            Some(Certainty::Likely) => self.trust.map(|trust| (link, node, trust)),
            Some(_) => (self.trust == Some(ALL)).then_some((link, node, ALL)),
        };
        links.into_iter().filter_map(weigh).collect()
    }

    /// How well a block fits into a slot, as log-odds.
    pub fn strength(&self, i: usize, slot: u32, support: &Support) -> f64 {
        let node = self.node(i);
        support.iter().map(|of| self.seam(node, of)).sum::<f64>() + self.height(node, slot)
    }

    /// The log-odds of the seam of a block with one of its neighbours; 0 if that is the block itself.
    fn seam(&self, node: Node, &(link, other, weight): &(Link, Node, f64)) -> f64 {
        if other == node { 0.0 } else { weight * self.board.side_odds(node, link, other) }
    }

    /// The log-odds of the height of a slot for a block.
    fn height(&self, node: Node, slot: u32) -> f64 {
        let height = self.case().shape.position(slot).map_or(0, |at| at[1]);
        self.board.heights.odds(node, self.case().lod, height)
    }

    /// Whether a block fits into a slot with log-odds of at least `least`. Stops comparing seams once it cannot.
    fn reaches(&self, i: usize, slot: u32, support: &Support, least: f64) -> bool {
        let node = self.node(i);
        let most = |(link, _, weight): &(Link, Node, f64)| weight * self.board.model.most(link.axis());
        let mut sum = self.height(node, slot) + support.iter().map(most).sum::<f64>();
        for of in support {
            // Sums of other orders differ in their last digits.
            if sum + 1e-6 < least {
                return false;
            }
            sum += self.seam(node, of) - most(of);
        }
        sum >= least
    }

    /// The log-odds of the seam of a block with one beside it, and of the seam after an exchange of both; 0 if they are not neighbours.
    fn mutual(&self, i: usize, block: usize, support: &Support) -> f64 {
        let (own, other) = (self.node(i), self.node(block));
        let between = support.iter().filter(|(_, node, _)| *node == other);
        let seams = |link: Link| self.board.side_odds(own, link, other) + self.board.side_odds(other, link, own);
        between.map(|(link, _, weight)| weight * seams(*link)).sum()
    }

    /// The blocks that may be in a slot instead of one that fits with the log-odds `own`.
    fn rank(&self, rivals: &[Content], voxels: u128, slot: u32, support: &Support, own: f64) -> Vec<usize> {
        let others = || rivals.iter().filter(|(content, _)| *content != voxels);
        if self.board.compares_all(self.r, rivals.len()) {
            let could_be = |i: usize| self.reaches(i, slot, support, own - MOST_LOST);
            return others()
                .filter(|(_, blocks)| could_be(blocks[0]))
                .flat_map(|(_, blocks)| blocks)
                .copied()
                .collect();
        }
        let around: Vec<Around> = support.iter().filter_map(|of| Around::new(self.board, of)).collect();
        let estimate = |&i: &usize| (self.growth.estimate(self.board, self.r, i, &around), i);
        let mut ranked: Vec<(f64, usize)> = others().flat_map(|(_, blocks)| blocks).map(estimate).collect();
        keep_best(&mut ranked, RIVALS);
        ranked.into_iter().map(|(_, i)| i).collect()
    }
}

impl Growth {
    /// Judges the places of a region that are `asked` for. No place becomes surer than `most`.
    /// `trust` is the weight of seams with likely blocks; with [`ALL`] those with all others count as well.
    pub fn judge_region(
        &self,
        board: &Board<'_>,
        r: usize,
        most: Certainty,
        trust: Option<f64>,
        asked: Asked<'_>,
    ) -> Vec<Judged> {
        let large = board.cases[r].is_large();
        let is_judged = |grown: &Grown| matches!(asked, Asked::All) || grown.certainty < Certainty::Certain;
        let (open, settled): (Vec<usize>, Vec<usize>) =
            (0..self.grown.len()).filter(|&g| self.grown[g].case == r).partition(|&g| is_judged(&self.grown[g]));
        if open.is_empty() {
            return Vec::new();
        }
        let node = |grown: &Grown| (grown.case, self.loose[grown.case][grown.loose].block);
        let levels = self.grown.iter().map(|grown| (node(grown), grown.certainty)).collect();
        let judging = Judging { growth: self, board, r, levels, trust };
        let slots: Vec<(u32, usize, Support)> = open
            .iter()
            .map(|&g| {
                let Grown { slot, loose, .. } = self.grown[g];
                (slot, loose, judging.support(slot))
            })
            .collect();
        let own: Vec<f64> = parallel::map(&slots, |(slot, i, support)| judging.strength(*i, *slot, support));
        // The place of each block that has one which is judged.
        let place: HashMap<usize, usize> = slots.iter().enumerate().map(|(k, (_, i, _))| (*i, k)).collect();
        let unfilled = rate_unfilled(&judging, slots.iter().map(|(_, i, _)| *i));
        let known = KnownPlaces::new(&judging);
        let elsewhere = self.elsewhere(board, r);
        let settled: HashSet<usize> = settled.into_iter().map(|g| self.grown[g].loose).collect();
        let rivals = self.group_by_content(board, r, (0..self.loose[r].len()).filter(|i| !settled.contains(i)));
        let found = parallel::map_indices(slots.len(), |k| {
            let (slot, i, support) = &slots[k];
            if matches!(asked, Asked::Beside(surer) if support.iter().all(|(_, node, _)| !surer.contains(node))) {
                return None;
            }
            let beside = support.iter().filter(|(link, ..)| matches!(link, Link::Beside(..))).count();
            let fewest = if large && most == Certainty::Certain { 1 } else { 2 };
            let occupied = match large {
                true => board.occupancy[beside.min(6)].max(0.0),
                false => self.occupied(board, r, *slot, beside),
            };
            // Seams of plain sides carry no information; in small regions, the number of neighbours does.
            let by_neighbours = if large { 0.0 } else { occupied };
            if own[k] + by_neighbours <= 0.0 || beside < fewest {
                return None;
            }
            let live = self.loose[r][*i].live;
            let voxels = judging.voxels(*i);
            let copies = self.copies.get(&(r, voxels)).map_or(&[][..], Vec::as_slice);
            let is_alone = copies.len() <= 1;
            // A slot that a spare copy may fill says nothing against this one.
            let spare = if large { copies.iter().filter(|&&i| !self.used[r][i]).count() } else { 0 };
            let unfilled = unfilled.get(&voxels).into_iter().flatten().skip(spare);
            // A block that is unlike all others shows something that its neighbours continue.
            let seams = if is_alone { own[k] } else { own[k].min(known.limit(&judging, *i, support)) };
            // Were the slot empty, the block would be out of use, or somewhere that is not looked at.
            let against = (-seams - occupied).exp() * ((-live).exp() + elsewhere).min(1.0)
                + unfilled.clone().map(|other| (other - seams - by_neighbours).min(0.0).exp()).sum::<f64>();
            let ranked = judging.rank(&rivals, voxels, *slot, support, own[k]);
            let exchange = |block: usize| {
                let (lost, is_placed) = match place.get(&block) {
                    Some(&at) => (own[at] - judging.strength(*i, slots[at].0, &slots[at].2), true),
                    None => (live - self.loose[r][block].live, false),
                };
                let gain = judging.strength(block, *slot, support) - own[k];
                // Side by side, their seam with each other counts for both now, and they have one afterwards as well.
                let lost = if large { lost - judging.mutual(*i, block, support) } else { lost };
                let is_sure = judging.levels.get(&judging.node(block)) == Some(&Certainty::Certain);
                Exchange { block: block as u32, gain, lost, is_placed, is_sure }
            };
            let mut exchanges: Vec<Exchange> = ranked.into_iter().map(exchange).filter(Exchange::counts).collect();
            keep_likeliest(&mut exchanges, (EXCHANGES / slots.len()).max(RIVALS));
            let rests = support.iter().filter(|(.., weight)| *weight >= 1.0);
            let node = judging.node(*i);
            let (firm, seams) =
                rests.fold((0, 0.0), |(n, sum), (link, other, _)| (n + 1, sum + board.side_odds(node, *link, *other)));
            let is_firm =
                !large || (firm >= 1 && !is_alone) || (firm >= 2 && seams >= OWN) || (firm == 1 && seams >= FIRM);
            Some(Rated {
                grown: open[k],
                block: *i as u32,
                is_firm,
                against,
                exchanges,
                moved: is_alone.then(|| unfilled.copied().fold(0.0, f64::max)),
            })
        });
        let mut rated: Vec<Rated> = found.into_iter().flatten().collect();
        let mut wanted: HashMap<u32, f64> = HashMap::new();
        if large {
            complete(&mut rated);
            // Many slots would take the same few blocks, each of which belongs to one slot at most.
            for exchange in rated.iter().flat_map(|rated| &rated.exchanges) {
                *wanted.entry(exchange.block).or_insert(1.0) += exchange.odds();
            }
        }
        let judge = |rated: &Rated| {
            // The root, since the odds are squared.
            let share = |of: &Exchange| of.odds() / wanted.get(&of.block).copied().unwrap_or(1.0).sqrt();
            let is_open = |of: &&Exchange| large && most == Certainty::Certain && of.gain > 0.0 && !of.is_sure;
            let (open, clear): (Vec<&Exchange>, Vec<&Exchange>) = rated.exchanges.iter().partition(is_open);
            let sum = |exchanges: Vec<&Exchange>| exchanges.into_iter().map(share).sum::<f64>();
            let sharper = if large { SHARPER } else { 1.0 };
            // Where known blocks would fit better exchanged, so may these.
            let confusion = board.confusion[r].exp();
            let against = ((rated.against + sum(clear)) * confusion).powf(sharper)
                + (sum(open) * confusion).powf(SHARPER_IF_OPEN);
            Judged { grown: rated.grown, p: 1.0 / (1.0 + against), is_firm: rated.is_firm, unfilled: rated.against }
        };
        rated.iter().map(judge).collect()
    }

    /// How well a block fits, roughly, from some cells of each side.
    pub fn estimate(&self, board: &Board<'_>, r: usize, i: usize, around: &[Around]) -> f64 {
        Around::sum(around, board, &self.few[r], i)
    }
}

/// Some cells of the side of a neighbour that a slot is next to.
pub(super) struct Around {
    /// The index of the own side among the few cells of a block.
    own: usize,
    other: ([u8; FEW], [i32; FEW]),
    /// Whether the own side is the lower one.
    lower: bool,
    axis: usize,
    weight: f64,
}

impl Around {
    pub fn new(board: &Board<'_>, &(link, node, weight): &(Link, Node, f64)) -> Option<Self> {
        let (other, lower, axis) = link.opposite(board.sides_of(node)?);
        Some(Self { own: link.few(), other: other.few(), lower, axis, weight })
    }

    /// The sides of neighbours that all count in full.
    pub fn of_links(board: &Board<'_>, links: &[(Link, Node)]) -> Vec<Self> {
        links.iter().filter_map(|(link, node)| Self::new(board, &(*link, *node, 1.0))).collect()
    }

    /// How well a block fits beside these sides, roughly: block `i` of those whose few cells are given by side.
    pub fn sum(around: &[Self], board: &Board<'_>, few: &[Few], i: usize) -> f64 {
        around.iter().filter_map(|of| Some(of.weight * f64::from(of.odds(board, few, i)?))).sum()
    }

    /// How well a block fits beside this side alone.
    pub fn odds(&self, board: &Board<'_>, few: &[Few], i: usize) -> Option<f32> {
        let own = few.get(self.own)?.get(i)?.as_ref()?;
        let (lower, upper) = if self.lower { (own, &self.other) } else { (&self.other, own) };
        Some(board.model.few(lower, upper, self.axis))
    }
}
