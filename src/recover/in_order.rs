//! The distances of blocks from their entries in a region that two programs wrote, if the blocks are in the order of their entries.
//!
//! Each program moves the blocks of its own table, and writes other blocks at the sectors that this table gives. So the distance changes
//! back and forth between a few values, which repeat. These values, and how often the distance changes, are estimated from the blocks by
//! the algorithm of Baum and Welch (forward and backward passes over the chain of blocks). A distance is ruled out if its entry is in
//! front of the entry of the block before.

/// Rounds in which the chances of the distances are estimated. Chosen: they hardly change after three rounds.
const ROUNDS: usize = 6;

/// What is added to the counted blocks of each distance, and to the counted changes and stays, so that no estimate is 0. Chosen.
const NO_BLOCK: f64 = 0.02;
const CHANGES: f64 = 1.0;
const STAYS: f64 = 4.0;

/// A chain of blocks.
struct Chain<'c> {
    firsts: &'c [u32],
    /// In order.
    distances: &'c [i64],
    /// For each block and distance, how much likelier the block is there if the distance is right.
    odds: &'c [Vec<f64>],
    /// The same for a distance that is also that of the block before.
    run_odds: &'c [Vec<f64>],
    /// The probability of each distance after a change.
    chances: Vec<f64>,
    /// The probability that the distance stays the same from one block to the next.
    stay: f64,
}

/// The probability of each distance for each block. `odds` are how much likelier a block is there if a distance is right, `run_odds` the
/// same for a distance that is also that of the block before.
pub(super) fn follow(firsts: &[u32], distances: &[i64], odds: &[Vec<f64>], run_odds: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = distances.len();
    let chances = vec![1.0 / n as f64; n];
    let mut chain = Chain { firsts, distances, odds, run_odds, chances, stay: STAYS / (STAYS + CHANGES) };
    let mut shares = Vec::new();
    for _ in 0..ROUNDS {
        let (made, stays) = chain.shares();
        shares = made;
        let sum = |k: usize| shares.iter().filter_map(|of: &Vec<f64>| of.get(k)).sum::<f64>() + NO_BLOCK;
        let all = shares.len() as f64 + NO_BLOCK * n as f64;
        chain.chances = (0..n).map(|k| sum(k) / all).collect();
        chain.stay = (stays + STAYS) / (shares.len() as f64 + STAYS + CHANGES);
    }
    shares
}

/// Scales numbers so that their sum is 1.
pub(super) fn scale(of: &mut [f64]) {
    let sum: f64 = of.iter().sum();
    of.iter_mut().for_each(|p| *p /= sum.max(f64::MIN_POSITIVE));
}

impl Chain<'_> {
    /// Sectors between the beginnings of a block and of the one before.
    fn step(&self, block: usize) -> i64 {
        i64::from(self.firsts[block]) - i64::from(self.firsts[block - 1])
    }

    /// The probability of each distance for each block, and the expected number of blocks at the distance of the block before.
    fn shares(&self) -> (Vec<Vec<f64>>, f64) {
        let n = self.distances.len();
        let mut shares: Vec<Vec<f64>> = Vec::with_capacity(self.odds.len());
        for (block, odds) in self.odds.iter().enumerate() {
            let mut here = match shares.last() {
                None => self.chances.iter().zip(odds).map(|(p, odds)| p * odds).collect(),
                Some(before) => self.forward(before, block),
            };
            scale(&mut here);
            shares.push(here);
        }
        let mut stays = 0.0;
        let mut behind = vec![1.0; n];
        for block in (0..self.odds.len()).rev() {
            let by = |odds: &[f64]| -> Vec<f64> { odds.iter().zip(&behind).map(|(odds, p)| odds * p).collect() };
            let [own, run] = [&self.odds[block], &self.run_odds[block]].map(|odds| by(odds));
            shares[block].iter_mut().zip(&behind).for_each(|(share, p)| *share *= p);
            scale(&mut shares[block]);
            let Some(before) = block.checked_sub(1).and_then(|at| shares.get(at)) else { break };
            let next = self.backward(&own, &run, self.step(block));
            let all: f64 = before.iter().zip(&next).map(|(p, q)| p * q).sum();
            let stayed: f64 = before.iter().zip(&run).map(|(p, q)| p * q).sum();
            stays += self.stay * stayed / all.max(f64::MIN_POSITIVE);
            behind = next;
            scale(&mut behind);
        }
        (shares, stays)
    }

    /// The probabilities of the distances of a block, by those of the block before.
    fn forward(&self, before: &[f64], block: usize) -> Vec<f64> {
        let (step, odds, run_odds) = (self.step(block), &self.odds[block], &self.run_odds[block]);
        let mut from = before.iter().sum::<f64>();
        let mut passed = 0;
        let each = |k: usize| {
            // The entry of the block before has to be in front of the entry of this one.
            while self.distances.get(passed).is_some_and(|distance| *distance <= self.distances[k] - step) {
                from -= before[passed];
                passed += 1;
            }
            self.stay * before[k] * run_odds[k] + (1.0 - self.stay) * self.chances[k] * from.max(0.0) * odds[k]
        };
        (0..before.len()).map(each).collect()
    }

    /// The probability of all later blocks for each distance of a block. The next block is `step` sectors away; `next` are its values after
    /// a change of the distance, `run` without one.
    fn backward(&self, next: &[f64], run: &[f64], step: i64) -> Vec<f64> {
        let mut to = 0.0;
        let mut passed = 0;
        let each = |k: usize| {
            while self.distances.get(passed).is_some_and(|distance| *distance < self.distances[k] + step) {
                to += self.chances[passed] * next[passed];
                passed += 1;
            }
            self.stay * run[k] + (1.0 - self.stay) * to
        };
        (0..next.len()).map(each).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_that_repeat_are_found_among_those_that_fit_by_chance() {
        let distances: Vec<i64> = (-20..20).collect();
        let right = [0, 0, -3, -3, 0, -3, 0, 0, -12, -12, 0, 0];
        let firsts: Vec<u32> = (0..12).map(|n| n * 50).collect();
        let odds = |(n, right): (usize, &i64)| -> Vec<f64> {
            let by_chance = |distance: i64| (distance + 7 * n as i64).rem_euclid(11) == 0;
            let of = |&distance: &i64| if distance == *right || by_chance(distance) { 50.0 } else { 0.15 };
            distances.iter().map(of).collect()
        };
        let odds: Vec<Vec<f64>> = right.iter().enumerate().map(odds).collect();
        for (of, right) in follow(&firsts, &distances, &odds, &odds).iter().zip(&right) {
            let at = distances.iter().position(|distance| distance == right).unwrap();
            assert!(of[at] > 0.9, "{right}: {of:?}");
        }
    }

    #[test]
    fn entries_are_in_the_order_of_their_blocks() {
        // The second block fits only the entry in front of the first one's.
        let odds = [vec![50.0, 0.1], vec![0.1, 50.0]];
        let shares = follow(&[10, 15], &[0, 30], &odds, &odds);
        assert!(shares[0][0] < 0.5 || shares[1][1] < 0.01, "{shares:?}");
        // Farther away, both fit.
        let shares = follow(&[10, 45], &[0, 30], &odds, &odds);
        assert!(shares[0][0] > 0.9 && shares[1][1] > 0.9, "{shares:?}");
    }
}
