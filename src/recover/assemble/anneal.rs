//! Exchanges blocks at random, at first also where it fits worse, until all of them together fit best.
//!
//! Changes of one pair at a time end where each of them makes things worse, although several together would not. So worse
//! changes are accepted at first, with a probability that falls with what they lose and with time (simulated annealing).

use std::collections::HashMap;

use crate::parallel;
use crate::recover::assemble::board::Board;
use crate::recover::assemble::growth::Growth;
use crate::recover::assemble::puzzle::{NONE, Puzzle, Seams, UNITS};
use crate::recover::random::Random;
use crate::watch::Watch;

/// How often it is done, each time with other random numbers. The best result counts.
const ATTEMPTS: usize = 2;

/// The first and the last temperature: a loss of so many log-odds is accepted with a probability of 1 in 2.7. Measured on runs of lost
/// entries: at 4 a quarter of the blocks leaves the right places, at 1 a
/// tenth at most.
const HOT: f64 = 4.0;
const COLD: f64 = 0.5;

/// Exchanges that are tried for each slot, and the most of a region. Chosen for their time: with seven times as many, more blocks came to
/// their places in two of eight regions.
const EACH: usize = 3000;
const MOST: usize = 6_000_000;

/// Exchanges at one temperature. Chosen.
const ROUND: usize = 1024;

/// Chains of exchanges that are sampled, and rounds between two samples. Chosen.
const CHAINS: usize = 4;
const BETWEEN: usize = 8;

/// Contents that continue a side best, one of which is tried. Chosen.
const PARTNERS: usize = 16;

/// One in so many exchanges is of groups, of so many blocks at most. Chosen.
const GROUPS: usize = 10;
const GROUP: usize = 20;

/// The odds of a seam are multiplied by this to get the probability that two blocks stay in a group. Chosen.
const BOND: f64 = 0.1;

/// The least gain of log-odds for which the result is kept. Chosen.
const GAIN: f64 = 1.0;

/// Blocks in slots.
struct State {
    /// The block in each slot, or [`NONE`].
    held: Vec<u32>,
    /// The content of what each slot holds, or [`NONE`].
    shown: Vec<u32>,
    /// The slot of each block, or [`NONE`].
    place: Vec<u32>,
    /// The log-odds of what each slot holds, seams with all neighbours included; 0 if it holds nothing.
    worth: Vec<i32>,
    /// For each slot, the number of the last group that it was in, and that number.
    group_of: Vec<u32>,
    group: u32,
}

/// What is tried.
struct Search<'p> {
    puzzle: &'p Puzzle,
    /// For each axis and side, for each number of a side, the contents that continue it best.
    partners: [[Vec<Vec<u32>>; 2]; 3],
    /// The blocks of each content.
    blocks: Vec<Vec<u32>>,
    /// The most that a seam says.
    most: i32,
}

impl Growth {
    /// Finds better places for all blocks that are not certain, in large regions without many empty slots.
    pub fn anneal(&mut self, board: &mut Board<'_>, watch: &Watch<'_>) {
        let mut changed = false;
        for (r, case) in board.cases.iter().enumerate() {
            // Where most slots stay empty, each of them is another place of every block.
            let is_asked = case.is_large() && !self.is_sparse(r) && !watch.is_cancelled();
            changed |= is_asked && self.anneal_region(board, r);
        }
        if changed {
            self.reopen(board);
        }
    }

    /// For each slot of a region that is not certain, the share of samples in which it holds the content that it holds now. Of several
    /// chains of exchanges the least share counts. Empty if the tables would be too large.
    pub fn sample(&self, board: &Board<'_>, r: usize) -> HashMap<u32, f64> {
        let puzzle = self.places(board, r).and_then(|places| Puzzle::new(&places, board));
        let Some(puzzle) = puzzle else { return HashMap::new() };
        let search = Search::new(&puzzle);
        let chains = parallel::map_indices(CHAINS, |k| search.sample((ATTEMPTS + k) as u64 + 1));
        let least = |s: usize| chains.iter().filter_map(|shares| shares.get(s)).copied().fold(1.0, f64::min);
        puzzle.slots.iter().enumerate().map(|(s, &slot)| (slot, least(s))).collect()
    }

    fn anneal_region(&mut self, board: &mut Board<'_>, r: usize) -> bool {
        let Some(mut places) = self.places(board, r) else { return false };
        let Some(puzzle) = Puzzle::new(&places, board) else { return false };
        let search = Search::new(&puzzle);
        let before = search.sum(&search.begin());
        let tried = parallel::map_indices(ATTEMPTS, |k| search.run(k as u64 + 1));
        let best = tried.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((_, best)) = best.filter(|(sum, _)| *sum > before + GAIN) else { return false };
        let old = places.held.clone();
        places.take(
            board,
            puzzle.slots.iter().zip(&best.held).map(|(&slot, &b)| (slot, puzzle.blocks.get(b as usize).copied())),
        );
        let held = places.held;
        self.keep(board, r, &old, held)
    }
}

impl State {
    fn new(puzzle: &Puzzle) -> Self {
        let mut place = vec![NONE; puzzle.blocks.len()];
        for (&b, s) in puzzle.held.iter().zip(0..) {
            if let Some(place) = place.get_mut(b as usize) {
                *place = s;
            }
        }
        let content = |b: &u32| puzzle.content.get(*b as usize).copied().unwrap_or(NONE);
        let shown = puzzle.held.iter().map(content).collect();
        let group_of = vec![0; puzzle.held.len()];
        let worth = vec![0; puzzle.held.len()];
        Self { held: puzzle.held.clone(), shown, place, worth, group_of, group: 0 }
    }

    /// Exchanges what two slots hold.
    fn swap(&mut self, a: usize, b: usize) {
        self.held.swap(a, b);
        self.shown.swap(a, b);
        for slot in [a, b] {
            if let Some(place) = self.place.get_mut(self.held[slot] as usize) {
                *place = slot as u32;
            }
        }
    }

    /// Begins another group.
    fn begin_group(&mut self, slots: [usize; 2]) {
        self.group += 1;
        self.add_to_group(slots);
    }

    fn add_to_group(&mut self, slots: [usize; 2]) {
        slots.into_iter().for_each(|slot| self.group_of[slot] = self.group);
    }

    fn is_in_group(&self, slot: u32) -> bool {
        self.group_of[slot as usize] == self.group
    }
}

impl<'p> Search<'p> {
    fn new(puzzle: &'p Puzzle) -> Self {
        let mut blocks = vec![Vec::new(); puzzle.contents];
        for (&content, b) in puzzle.content.iter().zip(0..) {
            blocks[content as usize].push(b);
        }
        let best = |own: &[u32], odds: &dyn Fn(u32) -> i32| -> Vec<u32> {
            let mut ranked: Vec<(i32, u32)> = own
                .iter()
                .zip(0..)
                .map(|(&side, content)| (-odds(side), content))
                .filter(|(odds, _)| *odds < 0)
                .collect();
            ranked.sort_unstable();
            ranked.truncate(PARTNERS);
            ranked.into_iter().map(|(_, content)| content).collect()
        };
        let partners = std::array::from_fn(|axis| {
            let [lower, upper] = &puzzle.sides[axis];
            let seams = &puzzle.seams[axis];
            let count = |sides: &[u32]| sides.iter().max().map_or(0, |most| *most as usize + 1);
            let below = |side: usize| best(upper, &|of| seams.odds(of, side as u32));
            let above = |side: usize| best(lower, &|of| seams.odds(side as u32, of));
            [parallel::map_indices(count(lower), below), parallel::map_indices(count(upper), above)]
        });
        let most = puzzle.seams.iter().map(Seams::most).max().unwrap_or(0);
        Self { puzzle, partners, blocks, most }
    }

    /// Where the blocks are at first.
    fn begin(&self) -> State {
        let mut state = State::new(self.puzzle);
        (0..state.worth.len()).for_each(|slot| self.weigh_anew(&mut state, slot));
        state
    }

    /// Tries exchanges; returns the sum of all log-odds in the end, and where the blocks are.
    fn run(&self, seed: u64) -> (f64, State) {
        let mut state = self.begin();
        let mut random = Random::new(seed);
        let rounds = self.count_rounds();
        for round in 0..rounds {
            let temperature = HOT * (COLD / HOT).powf(round as f64 / rounds as f64) * UNITS;
            (0..ROUND).for_each(|_| self.step(&mut state, temperature, &mut random));
        }
        (self.sum(&state), state)
    }

    /// For each slot the share of samples in which it holds the content that it holds at first. The first half of the exchanges only
    /// changes the arrangement, from hot to a temperature of 1, at which arrangements are as frequent as their log-odds say. The second
    /// half is sampled at that temperature.
    fn sample(&self, seed: u64) -> Vec<f64> {
        let mut state = self.begin();
        let mut random = Random::new(seed);
        let slots = self.puzzle.slots.len();
        let first: Vec<Option<usize>> = (0..slots).map(|s| Self::content(&state, s as u32)).collect();
        let rounds = self.count_rounds() / 2;
        for round in 0..rounds {
            let temperature = HOT * HOT.powf(-(round as f64) / rounds as f64) * UNITS;
            (0..ROUND).for_each(|_| self.step(&mut state, temperature, &mut random));
        }
        let mut same = vec![0usize; slots];
        let samples = rounds.div_ceil(BETWEEN);
        for _ in 0..samples {
            (0..ROUND * BETWEEN).for_each(|_| self.step(&mut state, UNITS, &mut random));
            for (s, first) in first.iter().enumerate() {
                same[s] += usize::from(Self::content(&state, s as u32) == *first);
            }
        }
        same.into_iter().map(|n| n as f64 / samples.max(1) as f64).collect()
    }

    /// How often [`ROUND`] exchanges are tried.
    fn count_rounds(&self) -> usize {
        (self.puzzle.slots.len() * EACH).min(MOST).div_ceil(ROUND)
    }

    /// Tries one exchange, of two blocks or of two groups.
    fn step(&self, state: &mut State, temperature: f64, random: &mut Random) {
        let Some((slot, b)) = self.propose(state, random) else { return };
        if random.below(GROUPS) == 0 {
            self.try_group(state, slot, b, temperature, random);
        } else {
            self.try_block(state, slot, b, temperature, random);
        }
    }

    /// A slot and a block that might belong there: any one, or one that continues what is beside it.
    fn propose(&self, state: &State, random: &mut Random) -> Option<(usize, usize)> {
        let slot = random.below(self.puzzle.slots.len());
        let any = random.below(self.puzzle.blocks.len());
        if random.below(2) == 0 {
            return Some((slot, any));
        }
        let side = random.below(6);
        let Some(other) = Self::content(state, self.puzzle.beside[slot][side]) else { return Some((slot, any)) };
        let (axis, upper) = (side / 2, side % 2);
        // Beside an upper neighbour belongs what continues its lower side.
        let partners = self.partners[axis][1 - upper].get(self.puzzle.sides[axis][1 - upper][other] as usize)?;
        let content = *partners.get(random.below(partners.len()))?;
        let blocks = &self.blocks[content as usize];
        Some((slot, blocks[random.below(blocks.len())] as usize))
    }

    /// The content of what a slot holds.
    fn content(state: &State, slot: u32) -> Option<usize> {
        let content = *state.shown.get(slot as usize)?;
        (content != NONE).then_some(content as usize)
    }

    /// The log-odds of the seam from one content to another one along a side, twice the axis plus 1 for the upper one.
    fn seam(&self, own: usize, side: usize, other: usize) -> i32 {
        let axis = side / 2;
        let [lower, upper] = &self.puzzle.sides[axis];
        let (below, above) = if side % 2 == 1 { (own, other) } else { (other, own) };
        self.puzzle.seams[axis].odds(upper[below], lower[above])
    }

    fn own(&self, slot: usize, content: usize) -> i32 {
        i32::from(self.puzzle.own[slot * self.puzzle.contents + content])
    }

    /// The log-odds of a content in a slot.
    fn value(&self, state: &State, slot: usize, content: usize) -> i32 {
        let seams = self.puzzle.beside[slot]
            .iter()
            .enumerate()
            .map(|(side, other)| Self::content(state, *other).map_or(0, |other| self.seam(content, side, other)));
        self.own(slot, content) + seams.sum::<i32>()
    }

    /// The most that the log-odds of a content in a slot can be, by what is known of the slot.
    fn most_value(&self, slot: usize, content: usize) -> i32 {
        self.own(slot, content) + 6 * self.most
    }

    /// The log-odds of a content in a slot, unless they are less than `least`, which most are.
    fn value_of_at_least(&self, state: &State, slot: usize, content: usize, least: i64) -> Option<i32> {
        let mut value = self.most_value(slot, content);
        for (side, other) in self.puzzle.beside[slot].iter().enumerate() {
            if i64::from(value) < least {
                return None;
            }
            value += Self::content(state, *other).map_or(0, |other| self.seam(content, side, other)) - self.most;
        }
        (i64::from(value) >= least).then_some(value)
    }

    fn weigh_anew(&self, state: &mut State, slot: usize) {
        state.worth[slot] = Self::content(state, slot as u32).map_or(0, |own| self.value(state, slot, own));
    }

    /// Adds the seams of what a slot holds to what those beside it are worth, or takes them off.
    fn add_beside(&self, state: &mut State, slot: usize, sign: i32) {
        let Some(own) = Self::content(state, slot as u32) else { return };
        for (side, &other) in self.puzzle.beside[slot].iter().enumerate() {
            if let Some(there) = Self::content(state, other) {
                state.worth[other as usize] += sign * self.seam(own, side, there);
            }
        }
    }

    /// The sum of all log-odds.
    fn sum(&self, state: &State) -> f64 {
        let mut sum = 0i64;
        for slot in 0..self.puzzle.slots.len() {
            let Some(content) = Self::content(state, slot as u32) else { continue };
            let b = state.held[slot] as usize;
            sum += i64::from(self.own(slot, content) + self.puzzle.live[b]);
            for side in [1, 3, 5] {
                let other = Self::content(state, self.puzzle.beside[slot][side]);
                sum += other.map_or(0, |other| i64::from(self.seam(content, side, other)));
            }
        }
        sum as f64 / UNITS
    }

    /// Puts a block into a slot, and what was there into the place of the block, unless too much is lost by it.
    fn try_block(&self, state: &mut State, slot: usize, b: usize, temperature: f64, random: &mut Random) {
        let from = state.place[b];
        let new = self.puzzle.content[b] as usize;
        let old = Self::content(state, slot as u32);
        if from == slot as u32 || old == Some(new) {
            return;
        }
        if from != NONE && self.puzzle.beside[slot].contains(&from) {
            state.begin_group([slot, from as usize]);
            return self.try_pairs(state, &[(slot, from as usize)], temperature, random);
        }
        let there = state.held[slot] as usize;
        // What both slots must be worth afterwards.
        let least = i64::from(state.worth[slot]) + (random.least_gain() * temperature).max(-1e9) as i64;
        if from == NONE {
            let live = self.puzzle.live[b] - self.puzzle.live.get(there).copied().unwrap_or(0);
            let Some(value) = self.value_of_at_least(state, slot, new, least - i64::from(live)) else { return };
            self.add_beside(state, slot, -1);
            if let Some(place) = state.place.get_mut(there) {
                *place = NONE;
            }
            state.held[slot] = b as u32;
            state.shown[slot] = new as u32;
            state.place[b] = slot as u32;
            state.worth[slot] = value;
        } else {
            let place = from as usize;
            let least = least + i64::from(state.worth[place]);
            let most = old.map_or(0, |old| self.most_value(place, old));
            let Some(value) = self.value_of_at_least(state, slot, new, least - i64::from(most)) else { return };
            let least = least - i64::from(value);
            let back = match old {
                Some(old) => self.value_of_at_least(state, place, old, least),
                None => (least <= 0).then_some(0),
            };
            let Some(back) = back else { return };
            self.add_beside(state, slot, -1);
            self.add_beside(state, place, -1);
            state.swap(slot, place);
            self.add_beside(state, place, 1);
            (state.worth[slot], state.worth[place]) = (value, back);
        }
        self.add_beside(state, slot, 1);
    }

    /// Exchanges a group of blocks around a slot with those around a block, unless too much is lost by it.
    fn try_group(&self, state: &mut State, slot: usize, b: usize, temperature: f64, random: &mut Random) {
        let from = state.place[b];
        if from == NONE || from == slot as u32 {
            return;
        }
        let positions = &self.puzzle.positions;
        if (positions[from as usize][1] - positions[slot][1]).abs() > 1 {
            return;
        }
        let mut pairs = vec![(slot, from as usize)];
        state.begin_group([slot, from as usize]);
        let mut next = 0;
        while next < pairs.len() && pairs.len() < GROUP {
            let (a, b) = pairs[next];
            next += 1;
            for side in 0..6 {
                let beside = self.puzzle.beside[a][side];
                let to = self.puzzle.beside[b][side];
                if beside == NONE || to == NONE || pairs.len() >= GROUP {
                    continue;
                }
                if state.is_in_group(beside) || state.is_in_group(to) {
                    continue;
                }
                let bond = |own: usize, other: u32| {
                    let (own, other) = (Self::content(state, own as u32), Self::content(state, other));
                    own.zip(other).map_or(0, |(own, other)| self.seam(own, side, other))
                };
                let odds = f64::from(bond(a, beside).max(bond(b, to))) / UNITS;
                if odds > 0.0 && !random.accepts(-odds * BOND) {
                    pairs.push((beside as usize, to as usize));
                    state.add_to_group([beside as usize, to as usize]);
                }
            }
        }
        self.try_pairs(state, &pairs, temperature, random);
    }

    /// Exchanges what pairs of slots hold, unless too much is lost by it. The slots are the last group.
    fn try_pairs(&self, state: &mut State, pairs: &[(usize, usize)], temperature: f64, random: &mut Random) {
        let before = self.sum_around(state, pairs);
        pairs.iter().for_each(|&(a, b)| state.swap(a, b));
        let gain = self.sum_around(state, pairs) - before;
        if !random.accepts(gain as f64 / 2.0 / temperature) {
            pairs.iter().for_each(|&(a, b)| state.swap(a, b));
            return;
        }
        for slot in pairs.iter().flat_map(|&(a, b)| [a, b]) {
            self.weigh_anew(state, slot);
            for &other in self.puzzle.beside[slot].iter().filter(|other| **other != NONE) {
                if !state.is_in_group(other) {
                    self.weigh_anew(state, other as usize);
                }
            }
        }
    }

    /// Twice the log-odds of everything in the slots of the last group and beside them.
    fn sum_around(&self, state: &State, pairs: &[(usize, usize)]) -> i64 {
        let mut sum = 0;
        for slot in pairs.iter().flat_map(|&(a, b)| [a, b]) {
            let Some(content) = Self::content(state, slot as u32) else { continue };
            sum += 2 * i64::from(self.own(slot, content));
            for (side, &other) in self.puzzle.beside[slot].iter().enumerate() {
                let Some(beside) = Self::content(state, other) else { continue };
                let seam = i64::from(self.seam(content, side, beside));
                // Seams within the group are met from both sides.
                sum += if state.is_in_group(other) { seam } else { 2 * seam };
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A square of blocks, each of which continues its own neighbours alone, in a shuffled order.
    fn square(edge: u32) -> Puzzle {
        let n = edge * edge;
        let beside = |slot: u32, by: i32, along_x: bool| {
            let (x, z) = ((slot % edge) as i32, (slot / edge) as i32);
            let (x, z) = if along_x { (x + by, z) } else { (x, z + by) };
            let inside = 0..edge as i32;
            if inside.contains(&x) && inside.contains(&z) { z as u32 * edge + x as u32 } else { NONE }
        };
        let near = |slot: u32| {
            let [x, z] = [true, false].map(|along_x| [beside(slot, -1, along_x), beside(slot, 1, along_x)]);
            [x[0], x[1], NONE, NONE, z[0], z[1]]
        };
        let table = |along_x: bool| {
            let odds = |own: u32| (0..n).map(move |other| if beside(own, 1, along_x) == other { 90 } else { -60 });
            Seams::new((0..n).flat_map(odds).collect(), n as usize)
        };
        // Blocks at the edge are known by what is beside the square.
        let is_inside = |n: u32| (1..edge - 1).contains(&n);
        let odds = |slot: u32, content: u32| match is_inside(slot % edge) && is_inside(slot / edge) {
            false if slot == content => 90,
            false => -60,
            true => 0,
        };
        let own = (0..n).flat_map(|slot| (0..n).map(move |content| odds(slot, content)));
        let numbers: Vec<u32> = (0..n).collect();
        let sides = || [numbers.clone(), numbers.clone()];
        Puzzle {
            slots: numbers.clone(),
            positions: numbers.iter().map(|slot| [(slot % edge) as i32, 0, (slot / edge) as i32]).collect(),
            beside: (0..n).map(near).collect(),
            blocks: (0..n as usize).collect(),
            content: numbers.clone(),
            live: vec![0; n as usize],
            sides: [sides(), sides(), sides()],
            seams: [table(true), Seams::default(), table(false)],
            own: own.collect(),
            contents: n as usize,
            held: numbers.iter().map(|slot| (slot * 7 + 3) % n).collect(),
        }
    }

    #[test]
    fn a_shuffled_square_is_put_in_order() {
        let puzzle = square(8);
        let (sum, state) = Search::new(&puzzle).run(1);
        assert_eq!(state.held, puzzle.slots);
        assert_eq!(sum, 9.0 * (28.0 + 2.0 * 7.0 * 8.0));
    }

    #[test]
    fn what_fits_nowhere_else_is_in_its_place_in_all_samples() {
        let mut puzzle = square(6);
        puzzle.held.clone_from(&puzzle.slots);
        assert_eq!(Search::new(&puzzle).sample(1), vec![1.0; 36]);
        // The blocks of the last four rows are interchangeable.
        let known = 12;
        puzzle.seams = Default::default();
        for (k, own) in puzzle.own.iter_mut().enumerate() {
            let (slot, content) = (k / 36, k % 36);
            *own = if slot.min(content) < known && slot != content { -900 } else { 0 };
        }
        let shares = Search::new(&puzzle).sample(1);
        assert_eq!(shares[..known], [1.0; 12]);
        assert!(shares[known..].iter().all(|share| *share < 0.9), "{shares:?}");
    }

    #[test]
    fn accepted_changes_keep_blocks_and_places_in_step() {
        let puzzle = square(6);
        let search = Search::new(&puzzle);
        let mut state = search.begin();
        let mut random = Random::new(7);
        (0..2000).for_each(|_| search.step(&mut state, f64::INFINITY, &mut random));
        assert_ne!(state.held, puzzle.held);
        let mut all = state.held.clone();
        all.sort_unstable();
        assert_eq!(all, puzzle.slots, "each block has one place");
        assert!((0..36).all(|slot| state.place[state.held[slot] as usize] == slot as u32));
        let worth = |slot: usize| search.value(&state, slot, state.shown[slot] as usize);
        assert_eq!(state.worth, (0..36).map(worth).collect::<Vec<_>>());
    }

    #[test]
    fn only_changes_that_fit_better_are_accepted_when_it_is_cold() {
        let puzzle = square(6);
        let search = Search::new(&puzzle);
        let mut state = search.begin();
        let mut random = Random::new(3);
        let mut sum = search.sum(&state);
        for _ in 0..3000 {
            search.step(&mut state, 1e-9, &mut random);
            let now = search.sum(&state);
            assert!(now >= sum, "{sum} to {now}");
            sum = now;
        }
        assert!(sum > search.sum(&search.begin()));
    }
}
