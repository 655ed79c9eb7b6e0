//! Entries that were exchanged: pairs of blocks that fit each other's places better than their own.
//!
//! A block in a wrong place need not break a seam: deep in the ground all sides look much alike. But if two blocks were
//! exchanged, the seams at both places favour the same exchange, and their sum leaves less doubt than either place alone.

use std::collections::{HashMap, HashSet};

use crate::parallel;
use crate::recover::assemble::board::{Board, Node};
use crate::recover::assemble::growth::keep_best;
use crate::recover::assemble::judge::Around;
use crate::recover::assemble::links::Link;
use crate::recover::assemble::{Moved, Start};

/// Blocks that are compared cell by cell for each place.
const RIVALS: usize = 24;

/// The least gain of the first exchange that is found, and of those after it: entries are rarely exchanged, but where two
/// were, others were as well. Measured on 63 small saves, a fifth of whose entries were exchanged in pairs: of 1,266 exchanges
/// of at least 8 none was wrong, of 124 between 6 and 8 there were 4. In healthy saves the largest gain was 7.3.
const FIRST: f64 = 12.0;
const NEXT: f64 = 9.0;

/// How much more the first one, and those after it, have to gain than the logarithm of the number of blocks, since so many are
/// possible. Chosen.
const FIRST_AMONG: f64 = 7.0;
const NEXT_AMONG: f64 = 3.0;

/// The gain from which on both blocks of a pair are in doubt, so that their seams are no evidence for others. Chosen.
const DOUBT: f64 = 3.0;

/// How much more an exchange gains than any other one of the same blocks, and the most that one may gain as a part of it. Chosen:
/// with 3 and 0.6 fewer exchanges were found, and no fewer places were wrong in the end.
const CLEAR: f64 = 1.0;
const NEXT_SHARE: f64 = 0.8;

/// The sum of the seams of a block from which on its place is not doubted. Chosen: few exchanged blocks had more.
const FITS: f64 = 12.0;

/// Pairs of blocks that are compared roughly, in all regions and rounds.
const PAIRS: usize = 16 << 20;

/// The most contradicted blocks of a large region among which exchanges are searched: the cost grows with their square. Chosen.
const MOST_WEAK: usize = 512;

/// Rounds: what is put right says more about the blocks beside it.
const ROUNDS: usize = 16;

/// A block in its place.
struct Place {
    block: usize,
    position: [i32; 3],
    links: Vec<(Link, Node)>,
    /// The sum of its seams.
    seams: f64,
}

/// Two blocks, as indices of places.
type Pair = [usize; 2];

/// A pair of blocks, and what is gained if they are exchanged.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    gain: f64,
    pair: Pair,
}

impl Board<'_> {
    /// Finds blocks of small regions whose entries were exchanged. In large regions too many blocks look alike: there one block
    /// was wrong in 11 of 300 exchanges. `learn` learns the seams anew, in the end from the blocks as they were exchanged.
    ///
    /// Everything stays where it was: if entries changed places in a ring, an exchange puts one block right and the other one
    /// into another wrong place, and only all that is unowned can tell.
    pub fn exchange(&mut self, starts: &mut [Start], learn: impl Fn(&mut Self)) -> Vec<Moved> {
        let cases = self.cases;
        let before: Vec<Vec<(u32, usize)>> = starts.iter().map(|start| start.anchors.clone()).collect();
        let mut left = PAIRS;
        let mut done: Vec<Vec<Pair>> = vec![Vec::new(); starts.len()];
        for _ in 0..ROUNDS {
            let seen = done.iter().any(|done| !done.is_empty());
            let mut changed = false;
            for (r, start) in starts.iter_mut().enumerate().filter(|(r, start)| start.check && !cases[*r].is_large()) {
                let many = (start.anchors.len() as f64).ln();
                let least = if seen { NEXT.max(many + NEXT_AMONG) } else { FIRST.max(many + FIRST_AMONG) };
                let exchanged = self.exchange_in(r, start, least, &mut left);
                changed |= !exchanged.is_empty();
                done[r].extend(exchanged);
            }
            if !changed {
                break;
            }
            learn(self);
        }
        self.take_out(starts, &before)
    }

    /// Finds pairs of slots of a large region whose blocks fit each other's slots far better than their own, which seams contradict. The
    /// order of the sectors does not show that entries were exchanged after a game was killed.
    pub fn find_exchanged(&self, r: usize, start: &Start) -> Vec<[u32; 2]> {
        if !start.by_order || !self.cases[r].is_large() {
            return Vec::new();
        }
        let Some(places) = self.places(r, start) else { return Vec::new() };
        let is_weak = |place: &Place| place.seams <= self.weights.suspect && place.links.len() >= 2;
        let weak: Vec<usize> = (0..places.len()).filter(|&i| is_weak(&places[i])).collect();
        if weak.len() > MOST_WEAK {
            return Vec::new();
        }
        let least = FIRST.max((places.len() as f64).ln() + FIRST_AMONG);
        let pairs = mutual(&self.find_exchanges(r, &places, &weak, &weak));
        let clear = pairs.into_iter().filter(|(of, _)| of.gain >= least);
        clear.map(|(of, _)| of.pair.map(|i| start.anchors[i].0)).collect()
    }

    /// Undoes all exchanges. Returns the blocks that were moved by them, with their own slots and those that they were moved to.
    fn take_out(&mut self, starts: &mut [Start], before: &[Vec<(u32, usize)>]) -> Vec<Moved> {
        let mut all = Vec::new();
        for (r, (start, before)) in starts.iter_mut().zip(before).enumerate() {
            let slots: HashMap<usize, u32> = start.anchors.iter().map(|&(slot, block)| (block, slot)).collect();
            for (now, &(slot, block)) in start.anchors.iter_mut().zip(before) {
                if now.1 != block {
                    all.extend(slots.get(&block).map(|&to| Moved { case: r, slot, block, to }));
                }
                *now = (slot, block);
                if let Some(at) = self.cases[r].shape.position(slot) {
                    self.placed.insert((self.cases[r].lod, at), (r, block));
                }
            }
        }
        all
    }

    /// Carries out the exchanges of a region that gain at least `least`. `left` is how many pairs may still be compared.
    /// Returns the pairs.
    fn exchange_in(&mut self, r: usize, start: &mut Start, least: f64, left: &mut usize) -> Vec<Pair> {
        let Some(places) = self.places(r, start) else { return Vec::new() };
        let n = places.len();
        let weak: Vec<usize> = (0..n).filter(|&i| places[i].seams < FITS && places[i].links.len() >= 2).collect();
        let Some(rest) = left.checked_sub(weak.len() * n) else { return Vec::new() };
        *left = rest;
        let pairs = mutual(&self.find_exchanges(r, &places, &weak, &[]));
        let doubtful: HashSet<Node> = pairs.iter().flat_map(|(of, _)| of.pair).map(|i| (r, places[i].block)).collect();
        let mut done = Vec::new();
        for (Exchange { pair: [i, j], gain }, next) in pairs {
            let firm = |node: &Node| !doubtful.contains(node);
            let pair = [&places[i], &places[j]];
            let is_clear = gain >= next + CLEAR && next <= gain * NEXT_SHARE;
            if !is_clear || gain.min(self.gain(r, pair, firm)) < least || self.is_contradicted(r, pair, firm) {
                continue;
            }
            self.swap(r, start, &places, [i, j]);
            done.push([i, j]);
        }
        done
    }

    /// Exchanges the blocks of two anchors.
    fn swap(&mut self, r: usize, start: &mut Start, places: &[Place], [i, j]: Pair) {
        let (a, b) = (start.anchors[i].1, start.anchors[j].1);
        for (at, block) in [(i, b), (j, a)] {
            start.anchors[at].1 = block;
            self.placed.insert((self.cases[r].lod, places[at].position), (r, block));
        }
    }

    /// The anchors of a region in their places; `None` if one of their slots has no position.
    fn places(&self, r: usize, start: &Start) -> Option<Vec<Place>> {
        let place = |&(slot, block): &(u32, usize)| {
            let position = self.cases[r].shape.position(slot)?;
            let links = self.links(self.cases[r].lod, position);
            let (seams, _) = self.seams((r, block), &links);
            Some(Place { block, position, links, seams })
        };
        parallel::map(&start.anchors, place).into_iter().collect()
    }

    /// The seams of a block in a place with what `counts`, but for the two blocks of a pair.
    fn seams_in(&self, own: Node, place: &Place, pair: [&Place; 2], counts: impl Fn(&Node) -> bool) -> f64 {
        let is_of_pair = |other: &Node| pair.iter().any(|of| *other == (own.0, of.block));
        let others = place.links.iter().filter(|(_, other)| !is_of_pair(other) && counts(other));
        others.map(|(link, other)| self.side_odds(own, *link, *other)).sum()
    }

    /// What is gained if two blocks are exchanged, by the seams with what `counts` and by the heights.
    fn gain(&self, r: usize, pair: [&Place; 2], counts: impl Fn(&Node) -> bool) -> f64 {
        let fits = |of: &Place, place: &Place| {
            let own = (r, of.block);
            let height = self.heights.odds(own, self.cases[r].lod, place.position[1]);
            self.seams_in(own, place, pair, &counts) + height
        };
        let [a, b] = pair;
        fits(b, a) + fits(a, b) - fits(a, a) - fits(b, b)
    }

    /// Whether the seams with what `counts` contradict one of two blocks in the place of the other.
    fn is_contradicted(&self, r: usize, pair: [&Place; 2], counts: impl Fn(&Node) -> bool) -> bool {
        let [a, b] = pair;
        [(a, b), (b, a)].iter().any(|(of, place)| self.seams_in((r, of.block), place, pair, &counts) < 0.0)
    }

    /// The exchanges of `weak` places that gain something, the best first. The blocks of `partners` are always compared: if many blocks
    /// have the same voxels, the right partner may not be among those that fit best.
    fn find_exchanges(&self, r: usize, places: &[Place], weak: &[usize], partners: &[usize]) -> Vec<Exchange> {
        let case = self.cases[r];
        let few = self.few_of(r, &places.iter().map(|of| of.block).collect::<Vec<_>>());
        let height = |block: usize, at: [i32; 3]| self.heights.odds((r, block), case.lod, at[1]);
        let of_place = |&i: &usize| {
            let place = &places[i];
            let around: Vec<Around> =
                place.links.iter().filter_map(|&(link, node)| Around::new(self, &(link, node, 1.0))).collect();
            let mut ranked: Vec<(f64, usize)> = places
                .iter()
                .enumerate()
                .filter(|(_, other)| case.voxels(other.block) != case.voxels(place.block))
                .map(|(j, other)| (Around::sum(&around, self, &few, j) + height(other.block, place.position), j))
                .collect();
            keep_best(&mut ranked, RIVALS);
            let exchange = |j: usize| {
                let gain = self.gain(r, [place, &places[j]], |_| true);
                Exchange { gain, pair: [i, j] }
            };
            let best = || ranked.iter().map(|(_, j)| *j);
            let others = partners.iter().copied().filter(|j| *j != i && best().all(|other| other != *j));
            best().chain(others).map(exchange).filter(|of| of.gain > 0.0).collect::<Vec<_>>()
        };
        let mut found: Vec<Exchange> = parallel::map(weak, of_place).into_iter().flatten().collect();
        found.sort_unstable_by(|a, b| b.gain.total_cmp(&a.gain).then(a.pair.cmp(&b.pair)));
        found
    }
}

/// The pairs that are for each other the best exchange, those in doubt only, each with the gain of the next best one of
/// either. `found` has the best first.
fn mutual(found: &[Exchange]) -> Vec<(Exchange, f64)> {
    let mut best: HashMap<usize, usize> = HashMap::new();
    let mut next: HashMap<usize, f64> = HashMap::new();
    for &Exchange { gain, pair: [i, j] } in found {
        for (own, other) in [(i, j), (j, i)] {
            if *best.entry(own).or_insert(other) != other {
                next.entry(own).or_insert(gain);
            }
        }
    }
    let mut taken: HashSet<usize> = HashSet::new();
    let of_both = |of: &&Exchange| {
        let [i, j] = of.pair;
        of.gain >= DOUBT && best.get(&i) == Some(&j) && best.get(&j) == Some(&i) && taken.insert(i) && taken.insert(j)
    };
    let next_of = |i: usize| next.get(&i).copied().unwrap_or(0.0);
    let pairs: Vec<&Exchange> = found.iter().filter(of_both).collect();
    pairs.into_iter().map(|of| (*of, next_of(of.pair[0]).max(next_of(of.pair[1])))).collect()
}
