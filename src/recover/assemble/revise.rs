//! Looks again at all places that are not certain, once every block has been tried.
//!
//! While blocks are placed one after the other, each sees only the neighbours that were placed before it, and one in a wrong
//! place keeps the right one out. Afterwards the neighbours are there: blocks move, are exchanged or are taken out as long
//! as all of them together fit better.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::parallel;
use crate::recover::assemble::board::{Board, Node};
use crate::recover::assemble::growth::{self, Grown, Growth};
use crate::recover::assemble::judge::Around;
use crate::recover::assemble::links::{Link, around};
use crate::recover::decide::Certainty;

/// Blocks that are compared cell by cell for each slot.
const RIVALS: usize = 24;

/// The most rounds. Each changes places that are not beside each other.
const ROUNDS: usize = 100;

/// The least gain of log-odds for which something is moved. Chosen: above what the few cells of an estimate hide.
const GAIN: f64 = 1.0;

/// Slots, and blocks, of a region above which this is left out: its cost grows with their product.
const MOST: usize = 4096;

/// The cost of taking a block that has no place: always less than that of taking one that has.
const UNUSED: f64 = -1e6;

/// A change: the slot that gets another block, or none, and what everything gains by it.
struct Move {
    gain: f64,
    slot: u32,
    block: Option<usize>,
}

/// Slots with the blocks in them.
pub(super) type Held = BTreeMap<u32, Option<usize>>;

/// The places of a region that are not certain, while they are changed.
pub(super) struct Places<'g> {
    pub growth: &'g Growth,
    pub case: usize,
    /// The blocks in the slots that may change.
    pub held: Held,
    /// The slots of the blocks in them.
    pub slot_of: HashMap<usize, u32>,
    /// Blocks whose places are certain.
    certain: Vec<bool>,
    elsewhere: f64,
    /// Log-odds of each of these blocks in its slot, against an empty slot.
    values: HashMap<usize, f64>,
}

impl Growth {
    /// Moves blocks that are not certain as long as all fit better. Returns whether any was moved.
    pub fn revise(&mut self, board: &mut Board<'_>) -> bool {
        self.revise_near(board, None)
    }

    /// The same, but looks only at some slots and what changes from there on, if they are given.
    pub fn revise_near(&mut self, board: &mut Board<'_>, near: Option<&HashSet<(usize, u32)>>) -> bool {
        let mut changed = false;
        for r in 0..board.cases.len() {
            changed |= self.revise_region(board, r, near);
        }
        if changed {
            self.reopen(board);
        }
        changed
    }

    /// The places of a region that are not certain, unless there are none or too many.
    pub fn places(&self, board: &Board<'_>, r: usize) -> Option<Places<'_>> {
        let open = self.open_slots(r).map(|(slot, _)| (slot, None));
        let movable = |grown: &&Grown| grown.case == r && grown.certainty < Certainty::Certain;
        let grown = self.grown.iter().filter(movable).map(|grown| (grown.slot, Some(grown.loose)));
        let held: Held = open.chain(grown).collect();
        let slot_of: HashMap<usize, u32> = held.iter().filter_map(|(slot, block)| Some(((*block)?, *slot))).collect();
        if slot_of.is_empty() || held.len() > MOST || self.loose[r].len() > MOST {
            return None;
        }
        let elsewhere = self.elsewhere(board, r);
        let certain = (0..self.loose[r].len()).map(|i| self.used[r][i] && !slot_of.contains_key(&i)).collect();
        Some(Places { growth: self, case: r, held, slot_of, certain, elsewhere, values: HashMap::new() })
    }

    fn revise_region(&mut self, board: &mut Board<'_>, r: usize, near: Option<&HashSet<(usize, u32)>>) -> bool {
        let Some(mut places) = self.places(board, r) else { return false };
        let before = places.held.clone();
        let near: Option<HashSet<u32>> =
            near.map(|near| near.iter().filter(|(of, _)| *of == r).map(|(_, slot)| *slot).collect());
        let mut left = self.revisions;
        places.revise_places(board, near.as_ref(), &mut left);
        let held = places.held;
        self.revisions = left;
        self.keep(board, r, &before, held)
    }

    /// Keeps the places of blocks that were changed. Returns whether any was.
    pub fn keep(&mut self, board: &Board<'_>, r: usize, before: &Held, held: Held) -> bool {
        if held == *before {
            return false;
        }
        let movable = |grown: &&Grown| grown.case == r && grown.certainty < Certainty::Certain;
        let old: HashMap<(u32, usize), Grown> =
            self.grown.iter().filter(movable).map(|grown| ((grown.slot, grown.loose), *grown)).collect();
        self.grown.retain(|grown| !movable(&grown));
        for (&slot, &block) in before {
            if let Some(i) = block {
                self.used[r][i] = false;
                self.filled[r].remove(&slot);
            }
        }
        for (slot, loose) in held.into_iter().filter_map(|(slot, block)| Some((slot, block?))) {
            self.used[r][loose] = true;
            self.filled[r].insert(slot);
            let new = Grown { case: r, slot, loose, certainty: Certainty::Candidate, p: board.weights.candidate };
            self.grown.push(old.get(&(slot, loose)).copied().unwrap_or(new));
        }
        true
    }
}

impl Places<'_> {
    fn revise_places(&mut self, board: &mut Board<'_>, near: Option<&HashSet<u32>>, left: &mut u64) {
        let mut asked = match near {
            Some(near) => self.with_neighbours(board, near),
            None => self.held.keys().copied().collect(),
        };
        let all: Vec<u32> = self.slot_of.values().copied().collect();
        self.weigh(board, &all);
        for _ in 0..ROUNDS {
            let rivals = self.rivals(board);
            let pairs = asked.len() as u64 * rivals.len() as u64;
            if pairs > *left {
                *left = 0;
                break;
            }
            *left -= pairs;
            let moves = self.find_moves(board, &asked, &rivals);
            let is_last = near.is_some() || asked.len() == self.held.len();
            if moves.is_empty() && is_last {
                break;
            }
            let touched = self.apply(board, moves);
            // A block that was taken out may fit other slots too. They are searched when nothing else changes.
            asked = if touched.is_empty() {
                self.held.keys().copied().collect()
            } else {
                self.with_neighbours(board, &touched)
            };
            if !touched.is_empty() {
                self.weigh(board, &asked);
            }
        }
    }

    /// Computes the values of the blocks in these slots anew. Those of blocks that are not beside a change stay as they are.
    fn weigh(&mut self, board: &Board<'_>, slots: &[u32]) {
        let value = |slot: &u32| {
            let i = (*self.held.get(slot)?)?;
            Some((i, self.value(board, i, *slot, None)))
        };
        let values: Vec<(usize, f64)> = parallel::filter_map(slots, value);
        self.values.extend(values);
    }

    /// The value of a block in its slot.
    fn value_of(&self, i: usize) -> f64 {
        self.values.get(&i).copied().unwrap_or(0.0)
    }

    pub fn position(&self, board: &Board<'_>, slot: u32) -> Option<(u8, [i32; 3])> {
        let case = board.cases[self.case];
        Some((case.lod, case.shape.position(slot)?))
    }

    /// Slots and those beside them, as far as they may change.
    fn with_neighbours(&self, board: &Board<'_>, slots: &HashSet<u32>) -> Vec<u32> {
        let mut all: HashSet<u32> = slots.clone();
        for (lod, position) in slots.iter().filter_map(|slot| self.position(board, *slot)) {
            let beside = around(lod, position, false).into_iter().filter_map(|(_, (lod, at))| board.slot_at(lod, at));
            all.extend(beside.filter(|(r, _)| *r == self.case).map(|(_, slot)| slot));
        }
        let mut all: Vec<u32> = all.into_iter().filter(|slot| self.held.contains_key(slot)).collect();
        all.sort_unstable();
        all
    }

    pub fn voxels(&self, board: &Board<'_>, i: usize) -> u128 {
        board.cases[self.case].voxels(self.growth.loose[self.case][i].block)
    }

    /// As [`growth::needed`].
    fn needed(&self, i: usize) -> f64 {
        growth::needed(self.growth.loose[self.case][i].live, self.elsewhere)
    }

    /// Log-odds of a block in a slot, against an empty slot. `but` is a block that is not compared.
    fn value(&self, board: &Board<'_>, i: usize, slot: u32, but: Option<usize>) -> f64 {
        let Some((lod, position)) = self.position(board, slot) else { return f64::NEG_INFINITY };
        self.value_among(board, i, slot, &board.links(lod, position), but)
    }

    /// The same, with what the slot is linked to.
    fn value_among(&self, board: &Board<'_>, i: usize, slot: u32, links: &[(Link, Node)], but: Option<usize>) -> f64 {
        let Some((lod, position)) = self.position(board, slot) else { return f64::NEG_INFINITY };
        let loose = &self.growth.loose[self.case];
        let own = self.node(i);
        let but = but.map(|other| self.node(other));
        let beside = links.iter().filter(|(link, _)| matches!(link, Link::Beside(..))).count();
        let others = links.iter().filter(|(_, other)| *other != own && Some(*other) != but);
        let seams: f64 = others.map(|(link, other)| board.side_odds(own, *link, *other)).sum();
        let occupied = self.growth.occupied(board, self.case, slot, beside);
        let hint = loose[i].hints.iter().find(|(of, _)| *of == slot).map_or(0.0, |(_, odds)| *odds);
        seams + occupied + hint + board.heights.odds(own, lod, position[1])
    }

    /// Whether the place of a block may change, or it has none.
    pub fn is_movable(&self, i: usize) -> bool {
        self.certain.get(i).is_some_and(|certain| !certain)
    }

    /// As [`Growth::elsewhere`].
    pub const fn elsewhere(&self) -> f64 {
        self.elsewhere
    }

    pub fn node(&self, i: usize) -> Node {
        (self.case, self.growth.loose[self.case][i].block)
    }

    /// The best change of each slot that gains something.
    fn find_moves(&self, board: &Board<'_>, asked: &[u32], rivals: &[usize]) -> Vec<Move> {
        let best = |slot: &u32| self.best_move(board, *slot, rivals);
        let mut moves: Vec<Move> = parallel::filter_map(asked, best);
        moves.sort_unstable_by(|a, b| b.gain.total_cmp(&a.gain).then(a.slot.cmp(&b.slot)));
        moves
    }

    /// Of each content the block that is easiest to spare.
    fn rivals(&self, board: &Board<'_>) -> Vec<usize> {
        let (loose, certain) = (&self.growth.loose[self.case], &self.certain);
        let mut of: HashMap<u128, (f64, usize)> = HashMap::new();
        for i in 0..loose.len() {
            let cost = match self.slot_of.contains_key(&i) {
                true => self.value_of(i),
                // It has a place that is certain.
                false if certain[i] => continue,
                false => UNUSED - loose[i].live,
            };
            let best = of.entry(self.voxels(board, i)).or_insert((cost, i));
            if (cost, i) < *best {
                *best = (cost, i);
            }
        }
        let mut rivals: Vec<usize> = of.into_values().map(|(_, i)| i).collect();
        rivals.sort_unstable();
        rivals
    }

    fn best_move(&self, board: &Board<'_>, slot: u32, rivals: &[usize]) -> Option<Move> {
        let (lod, position) = self.position(board, slot)?;
        let holds = *self.held.get(&slot)?;
        // The loss if the block in the slot gets no other place.
        let leaving = holds.map_or(0.0, |i| self.value_of(i) + self.needed(i));
        let mut best = Move { gain: -leaving, slot, block: None };
        let links = board.links(lod, position);
        let exact = board.compares_all(self.case, rivals.len());
        let compared = links.iter().filter(|_| !exact);
        let around: Vec<Around> = compared.filter_map(|&(link, node)| Around::new(board, &(link, node, 1.0))).collect();
        let voxels = holds.map(|i| self.voxels(board, i));
        let mut ranked: Vec<(f64, usize)> = rivals
            .iter()
            .filter(|&&i| Some(self.voxels(board, i)) != voxels)
            .map(|&i| {
                let height = board.heights.odds(self.node(i), lod, position[1]);
                let seams = match exact {
                    true => board.seams(self.node(i), &links).0,
                    false => self.growth.estimate(board, self.case, i, &around),
                };
                (seams + height, i)
            })
            .collect();
        growth::keep_best(&mut ranked, RIVALS);
        for (_, i) in ranked {
            let value_here = |but| self.value_among(board, i, slot, &links, but);
            let gain = match (holds, self.slot_of.get(&i)) {
                (_, None) => value_here(None) + self.needed(i) - leaving,
                (None, Some(_)) => value_here(Some(i)) - self.value_of(i),
                (Some(there), Some(&from)) => {
                    let after = value_here(Some(there)) + self.value(board, there, from, Some(i));
                    // Side by side, their seam with each other counts for neither.
                    let before = if links.iter().any(|(_, node)| *node == self.node(i)) {
                        self.value(board, there, slot, Some(i)) + self.value(board, i, from, Some(there))
                    } else {
                        self.value_of(there) + self.value_of(i)
                    };
                    after - before
                }
            };
            if gain > best.gain {
                best = Move { gain, slot, block: Some(i) };
            }
        }
        (best.gain > GAIN).then_some(best)
    }

    /// Carries out changes, the best first, none beside another. Returns the slots that changed.
    fn apply(&mut self, board: &mut Board<'_>, moves: Vec<Move>) -> HashSet<u32> {
        let mut touched = HashSet::new();
        let (mut closed, mut taken) = (HashSet::<u32>::new(), HashSet::<usize>::new());
        for Move { slot, block, .. } in moves {
            let from = block.and_then(|i| self.slot_of.get(&i).copied());
            // Another slot took it in this round.
            if block.is_some_and(|i| taken.contains(&i)) {
                continue;
            }
            let slots: HashSet<u32> = from.into_iter().chain([slot]).collect();
            if slots.iter().any(|slot| closed.contains(slot)) {
                continue;
            }
            let there = self.held.get(&slot).copied().flatten();
            self.put(board, slot, None);
            if let Some(from) = from {
                self.put(board, from, there);
            }
            self.put(board, slot, block);
            closed.extend(self.with_neighbours(board, &slots));
            taken.extend(block);
            taken.extend(there);
            touched.extend(slots);
        }
        touched
    }

    /// Puts other blocks into all slots.
    pub fn take(&mut self, board: &mut Board<'_>, held: impl Iterator<Item = (u32, Option<usize>)>) {
        let slots: Vec<u32> = self.held.keys().copied().collect();
        slots.into_iter().for_each(|slot| self.put(board, slot, None));
        held.for_each(|(slot, block)| self.put(board, slot, block));
    }

    /// Puts a block into a slot, or empties it.
    fn put(&mut self, board: &mut Board<'_>, slot: u32, block: Option<usize>) {
        let Some(at) = self.position(board, slot) else { return };
        if let Some(Some(old)) = self.held.insert(slot, block)
            && self.slot_of.get(&old) == Some(&slot)
        {
            self.slot_of.remove(&old);
        }
        match block {
            Some(i) => {
                self.slot_of.insert(i, slot);
                board.placed.insert(at, self.node(i));
            }
            None => {
                board.placed.remove(&at);
            }
        }
    }
}
