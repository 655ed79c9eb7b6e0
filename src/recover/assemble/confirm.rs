//! Looks again at places that were only likely, once all blocks have one.
//!
//! While blocks are placed one after the other, each competes with all that have no place yet. Afterwards most of these
//! have places of their own that fit them well, and what is left to compare is how much worse everything would fit if a
//! block were exchanged with another one, or taken out.

use std::collections::{HashMap, HashSet};

use crate::parallel;
use crate::recover::assemble::board::{Board, Node};
use crate::recover::assemble::growth::{Grown, Growth, keep_best};
use crate::recover::assemble::links::{Few, Link, around};
use crate::recover::cells::FEW;
use crate::recover::decide::Certainty;

/// Blocks that each one is compared with cell by cell.
const RIVALS: usize = 64;

/// The most slots without a block in which a block is compared.
const UNFILLED: usize = 16;

/// How far seams with blocks that are only likely are believed when others become likely. A whole group of blocks may be
/// beside its right places, so that the borders in it show nothing: certainty grows from what is certain alone.
const LIKELY: f64 = 0.5;

/// Least log-odds of the seam with a certain neighbour if there is only one. Chosen.
const FIRM: f64 = 7.0;

/// Least log-odds of the seams with certain neighbours of a block whose content no other block has. Chosen: such a block
/// shows something that its neighbours continue.
const OWN: f64 = 6.0;

/// The odds of a place in a large region are raised to this power, since they are too low: each exchange counts as if no other
/// were possible. Measured on hills and caves with damaged tables.
const SHARPER: f64 = 2.0;

/// The weight of all seams when everything is in place.
const ALL: f64 = 1.0;

/// The probability from which on a place casts no doubt on those around it. Chosen.
const SURE: f64 = 0.9;

/// Rounds: what is certain after one helps to be sure of its neighbours in the next.
const ROUNDS: usize = 32;

/// Blocks of a region above which this is left out: its cost grows with their square.
const MOST: usize = 8192;

/// How sure a place is.
#[derive(Clone, Copy, Debug)]
struct Judged {
    /// Its index among the blocks that were placed.
    grown: usize,
    p: f64,
    /// Whether the evidence is enough for it to be certain.
    is_firm: bool,
}

/// A slot with its neighbours, each with its weight.
type Support = Vec<(Link, Node, f64)>;

impl Growth {
    /// Makes those of the likely places certain that are better than every exchange by odds that leave no doubt.
    pub fn confirm(&mut self, board: &Board<'_>) {
        for r in 0..board.cases.len() {
            if self.loose[r].len() <= MOST {
                // In large regions certainty rests on nothing that is only likely. In small ones too little is certain for
                // that, and few groups look alike.
                let trust = (!board.cases[r].is_large()).then_some(LIKELY);
                for (most, trust) in [(Certainty::Certain, trust), (Certainty::Likely, Some(LIKELY))] {
                    let mut asked = None;
                    for _ in 0..ROUNDS {
                        let judged = self.judge_region(board, r, most, trust, asked.as_ref());
                        let surer = self.make_surer(board, &judged, most);
                        if surer.is_empty() {
                            break;
                        }
                        asked = Some(surer);
                    }
                }
                if board.cases[r].is_large() {
                    self.confirm_groups(board, r);
                }
            }
        }
    }

    /// Makes places likely that are better than every exchange of one block, or of a group, when all others are taken for right.
    /// At heights where no seam says much, whole layers of look-alikes may be permuted, and doubt spreads to what is near.
    fn confirm_groups(&mut self, board: &Board<'_>, r: usize) {
        let least = board.weights.likely;
        let mut judged = self.judge_region(board, r, Certainty::Likely, Some(ALL), None);
        judged.retain(|of| of.p >= least && self.grown[of.grown].certainty < Certainty::Likely);
        let asked: HashSet<u32> = judged.iter().map(|of| self.grown[of.grown].slot).collect();
        let Some(places) = self.places(board, r).filter(|_| !asked.is_empty()) else { return };
        let groups = places.weigh_groups(board, &asked);
        for of in &mut judged {
            let odds = groups.get(&self.grown[of.grown].slot).copied().unwrap_or(0.0);
            of.p = of.p.min(1.0 / (1.0 + odds));
        }
        let strong = board.heights_with_strong_seams(board.cases[r].lod);
        let sure: HashSet<u32> = judged.iter().filter(|of| of.p >= SURE).map(|of| self.grown[of.grown].slot).collect();
        let doubts = self.find_doubts(board, r, &sure);
        let height = |slot: u32| board.cases[r].shape.position(slot).map_or(0, |at| at[1]);
        judged.retain(|of| {
            let slot = self.grown[of.grown].slot;
            strong.contains(&height(slot)) || !doubts.contains(&slot)
        });
        self.make_surer(board, &judged, Certainty::Likely);
    }

    /// The slots of a region within two steps of blocks that are neither likely nor among those that are `sure`.
    fn find_doubts(&self, board: &Board<'_>, r: usize, sure: &HashSet<u32>) -> HashSet<u32> {
        let case = board.cases[r];
        let in_doubt =
            |grown: &&Grown| grown.case == r && grown.certainty < Certainty::Likely && !sure.contains(&grown.slot);
        let mut doubts: HashSet<u32> = self.grown.iter().filter(in_doubt).map(|grown| grown.slot).collect();
        for _ in 0..2 {
            let positions = doubts.iter().filter_map(|slot| case.shape.position(*slot));
            let beside: Vec<u32> = positions
                .flat_map(|at| around(case.lod, at, false))
                .filter_map(|(_, (lod, at))| board.slot_at(lod, at))
                .filter(|(of, _)| *of == r)
                .map(|(_, slot)| slot)
                .collect();
            doubts.extend(beside);
        }
        doubts
    }

    /// Judges the places of a region, only those beside `changed` blocks if they are given. No place becomes surer than `most`.
    /// `trust` is the weight of seams with likely blocks; with [`ALL`] those with all others count as well.
    fn judge_region(
        &self,
        board: &Board<'_>,
        r: usize,
        most: Certainty,
        trust: Option<f64>,
        changed: Option<&HashSet<Node>>,
    ) -> Vec<Judged> {
        let case = board.cases[r];
        let open: Vec<usize> = (0..self.grown.len())
            .filter(|&g| self.grown[g].case == r && self.grown[g].certainty < Certainty::Certain)
            .collect();
        if open.is_empty() {
            return Vec::new();
        }
        let levels: HashMap<Node, Certainty> = self
            .grown
            .iter()
            .map(|grown| ((grown.case, self.loose[grown.case][grown.loose].block), grown.certainty))
            .collect();
        let support = |slot: u32| -> Support {
            let links = case.shape.position(slot).map_or(Vec::new(), |at| board.links(case.lod, at));
            let weigh = |(link, node): (Link, Node)| match levels.get(&node) {
                None | Some(Certainty::Certain) => Some((link, node, 1.0)),
                Some(Certainty::Likely) => trust.map(|trust| (link, node, trust)),
                Some(_) => (trust == Some(ALL)).then_some((link, node, ALL)),
            };
            links.into_iter().filter_map(weigh).collect()
        };
        let strength = |i: usize, slot: u32, support: &Support| {
            let node = (r, self.loose[r][i].block);
            let height = case.shape.position(slot).map_or(0, |at| at[1]);
            let seams = support.iter().filter(|(_, other, _)| *other != node);
            seams.map(|(link, other, weight)| weight * board.side_odds(node, *link, *other)).sum::<f64>()
                + board.heights.odds(node, case.lod, height)
        };
        let voxels = |i: usize| case.voxels(self.loose[r][i].block);
        let slots: Vec<(u32, usize, Support)> =
            open.iter().map(|&g| (self.grown[g].slot, self.grown[g].loose, support(self.grown[g].slot))).collect();
        let own: Vec<f64> = parallel::map(&slots, |(slot, i, support)| strength(*i, *slot, support));
        // The place of each block that has one which is not certain.
        let place: HashMap<usize, usize> = slots.iter().enumerate().map(|(k, (_, i, _))| (*i, k)).collect();
        let certain: Vec<bool> = {
            let mut certain = vec![false; self.loose[r].len()];
            let of_region = self.grown.iter().filter(|grown| grown.case == r);
            of_region.filter(|g| g.certainty == Certainty::Certain).for_each(|g| certain[g.loose] = true);
            certain
        };
        // Each slot without a block may be the right place of a block that was placed elsewhere. In large regions only those
        // whose entries are damaged are looked at.
        let large = case.is_large();
        let unfilled: Vec<(u32, f64, Support, Vec<Around>)> = self
            .open
            .range((r, 0)..(r + 1, 0))
            .filter(|((_, slot), _)| !large || self.damaged[r].contains(slot))
            .map(|((_, slot), open)| {
                let support = support(*slot);
                let around = support.iter().filter_map(|of| Around::new(board, of)).collect();
                let occupied = if large { 0.0 } else { self.occupied(board, r, *slot, open.beside) };
                (*slot, occupied, support, around)
            })
            .collect();
        let mut one_of: HashMap<u128, usize> = HashMap::new();
        slots.iter().for_each(|(_, i, _)| {
            one_of.entry(voxels(*i)).or_insert(*i);
        });
        let one_of: Vec<(u128, usize)> = one_of.into_iter().collect();
        let unfilled_odds = parallel::map(&one_of, |&(voxels, i)| {
            let mut ranked: Vec<(f64, usize)> = unfilled
                .iter()
                .enumerate()
                .map(|(u, (_, occupied, _, around))| (self.estimate(board, r, i, around) + occupied, u))
                .collect();
            ranked.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            if large {
                ranked.truncate(UNFILLED);
            }
            let odds = |(rank, (estimate, u)): (usize, (f64, usize))| {
                let (slot, occupied, support, _) = &unfilled[u];
                if rank < UNFILLED { strength(i, *slot, support) + occupied } else { estimate }
            };
            (voxels, ranked.into_iter().enumerate().map(odds).collect())
        });
        let unfilled_odds: HashMap<u128, Vec<f64>> = unfilled_odds.into_iter().collect();
        let elsewhere = self.elsewhere(board, r, self.open.range((r, 0)..(r + 1, 0)).count());
        let rivals: Vec<usize> = (0..self.loose[r].len()).filter(|&i| !certain[i]).collect();
        let found = parallel::map_indices(slots.len(), |k| {
            let (slot, i, support) = &slots[k];
            if changed.is_some_and(|changed| support.iter().all(|(_, node, _)| !changed.contains(node))) {
                return None;
            }
            let beside = support.iter().filter(|(link, ..)| matches!(link, Link::Beside(..))).count();
            let fewest = if large && most == Certainty::Certain { 1 } else { 2 };
            let occupied = match large {
                true => board.occupancy[beside.min(6)].max(0.0),
                false => self.occupied(board, r, *slot, beside),
            };
            // Seams of plain sides carry no information; in small regions, the number of neighbours does.
            let full = own[k] + if large { 0.0 } else { occupied };
            if full <= 0.0 || beside < fewest {
                return None;
            }
            let live = self.loose[r][*i].live;
            // Were the slot empty, the block would be out of use, or somewhere that is not looked at.
            let mut against = (-own[k] - occupied).exp() * ((-live).exp() + elsewhere).min(1.0);
            let unfilled = unfilled_odds.get(&voxels(*i)).into_iter().flatten();
            against += unfilled.map(|other| (other - full).min(0.0).exp()).sum::<f64>();
            let around: Vec<Around> = support.iter().filter_map(|of| Around::new(board, of)).collect();
            let mut ranked: Vec<(f64, usize)> = rivals
                .iter()
                .filter(|&&other| voxels(other) != voxels(*i))
                .map(|&other| (self.estimate(board, r, other, &around), other))
                .collect();
            keep_best(&mut ranked, RIVALS);
            for (_, other) in ranked {
                let here = strength(other, *slot, support);
                let lost = match place.get(&other) {
                    Some(&at) => own[at] - strength(*i, slots[at].0, &slots[at].2),
                    None => live - self.loose[r][other].live,
                };
                against += (here - own[k] - lost).exp();
            }
            let rests = support.iter().filter(|(.., weight)| *weight >= 1.0);
            let node = (r, self.loose[r][*i].block);
            let (firm, seams) =
                rests.fold((0, 0.0), |(n, sum), (link, other, _)| (n + 1, sum + board.side_odds(node, *link, *other)));
            let is_alone = self.copies.get(&(r, voxels(*i))).is_none_or(|copies| copies.len() == 1);
            let is_firm = !large || (firm >= 2 && (!is_alone || seams >= OWN)) || (firm == 1 && seams >= FIRM);
            let sharper = if large { SHARPER } else { 1.0 };
            Some(Judged { grown: open[k], p: 1.0 / (1.0 + against.powf(sharper)), is_firm })
        });
        found.into_iter().flatten().collect()
    }

    /// Raises the certainty of places, to no more than `most`. Returns the blocks that became surer.
    fn make_surer(&mut self, board: &Board<'_>, judged: &[Judged], most: Certainty) -> HashSet<Node> {
        let mut surer = HashSet::new();
        for &Judged { grown, p, is_firm } in judged {
            let grown = &mut self.grown[grown];
            let certainty = match p {
                p if p >= board.weights.certain && is_firm => Certainty::Certain,
                p if p >= board.weights.likely => Certainty::Likely,
                _ => Certainty::Candidate,
            };
            let certainty = certainty.min(most);
            if certainty > grown.certainty {
                surer.insert((grown.case, self.loose[grown.case][grown.loose].block));
            }
            grown.certainty = grown.certainty.max(certainty);
            grown.p = grown.p.max(p);
        }
        surer
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

    /// How well a block fits beside these sides, roughly: block `i` of those whose few cells are given by side.
    pub fn sum(around: &[Self], board: &Board<'_>, few: &[Few], i: usize) -> f64 {
        let odds = |of: &Self| {
            let own = few.get(of.own)?.get(i)?.as_ref()?;
            let (lower, upper) = if of.lower { (own, &of.other) } else { (&of.other, own) };
            Some(of.weight * f64::from(board.model.few(lower, upper, of.axis)))
        };
        around.iter().filter_map(odds).sum()
    }
}
