//! How likely each block belongs to each slot, when a slot takes one block and a block fills one slot.
//!
//! Belief propagation on the graph of slots and contents: exact where the graph is a tree, and close to it elsewhere. A
//! slot may stay empty, a block may be out of use, or belong to a place that is not looked at.

use std::collections::HashMap;

/// Rounds of messages.
const ROUNDS: usize = 40;

/// The change of all messages below which they are taken for settled.
const SETTLED: f64 = 1e-3;

/// The difference of logarithms from which on the smaller number adds nothing to the larger one.
const NOTHING: f64 = 45.0;

/// The power of the odds that are stated. Measured on hills, caves and small saves with damaged tables: of what would be
/// stated at 0.9 to 0.95 without it, 0.99 is right; of 0.99 to 0.999, 0.9994.
const SHARPER: f64 = 1.3;

/// Blocks of one content.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// How many there are.
    pub copies: usize,
    /// The logarithm of the odds of one of them to be in a slot of odds 1 instead of nowhere.
    pub needed: f64,
}

/// A content that may belong to a slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub slot: u32,
    pub group: u32,
    /// Log-odds that it does, against an empty slot.
    pub odds: f64,
}

/// The probability of each edge. Edges are ordered by slot, and each pair of a slot and a group occurs once.
pub(super) fn probabilities(edges: &[Edge], groups: &[Group]) -> Vec<f64> {
    let mut of: Vec<Vec<u32>> = vec![Vec::new(); groups.len()];
    for (e, edge) in (0..).zip(edges) {
        of[edge.group as usize].push(e);
    }
    // What a group says to a slot: how well it can spare a block. What a slot says to a group: how well it can take one.
    let mut spare: Vec<f64> = edges.iter().map(|edge| groups[edge.group as usize].needed).collect();
    let mut take = vec![0.0; edges.len()];
    let sums = &mut Sums::default();
    for round in 0..ROUNDS {
        ask_slots(edges, &spare, &mut take, sums);
        let by = if round == 0 { 1.0 } else { 0.6 };
        let changed = ask_groups(groups, &mut of, &take, &mut spare, by, sums);
        if changed < SETTLED {
            break;
        }
    }
    ask_slots(edges, &spare, &mut take, sums);
    let mut found: Vec<f64> =
        take.iter().zip(&spare).map(|(take, spare)| 1.0 / (1.0 + (-take - spare).exp())).collect();
    weigh_exchanges(edges, groups.len(), &mut found);
    found.iter_mut().for_each(|p| *p = sharpen(*p));
    found
}

/// What is right more often than it says, since an exchange is weighed with every slot as if no other one were possible.
fn sharpen(p: f64) -> f64 {
    let odds = (p / (1.0 - p).max(1e-300)).powf(SHARPER);
    if odds.is_finite() { odds / (1.0 + odds) } else { 1.0 }
}

/// Lowers the probabilities of contents that might as well be exchanged between two slots: where two arrangements fit
/// nearly as well, messages that go round in a circle settle on one of them, and are too sure of it.
fn weigh_exchanges(edges: &[Edge], groups: usize, found: &mut [f64]) {
    // The likeliest content of each slot.
    let mut best: HashMap<u32, usize> = HashMap::new();
    for (e, edge) in edges.iter().enumerate().filter(|(e, _)| found[*e] > 0.5) {
        best.insert(edge.slot, e);
    }
    // What slots whose likeliest content is the second would lose if they had the first.
    let mut loss: Vec<HashMap<u32, f64>> = vec![HashMap::new(); groups];
    for (e, edge) in edges.iter().enumerate() {
        if let Some(&own) = best.get(&edge.slot).filter(|own| **own != e) {
            let sum = loss[edge.group as usize].entry(edges[own].group).or_insert(f64::NEG_INFINITY);
            *sum = add(*sum, edge.odds - edges[own].odds);
        }
    }
    let mut others: HashMap<usize, f64> = HashMap::new();
    for edge in edges {
        let Some(&own) = best.get(&edge.slot).filter(|own| edges[**own].group != edge.group) else { continue };
        if let Some(loss) = loss[edges[own].group as usize].get(&edge.group) {
            let sum = others.entry(own).or_insert(f64::NEG_INFINITY);
            *sum = add(*sum, edge.odds - edges[own].odds + loss);
        }
    }
    for (own, sum) in others {
        found[own] = found[own].min(1.0 / (1.0 + sum.exp()));
    }
}

/// Of numbers that are given by their logarithms, the logarithm of the sum of all but one.
#[derive(Default)]
struct Sums {
    /// Each number as a share of the largest.
    shares: Vec<f64>,
    largest: f64,
    /// Where the largest is.
    at: usize,
    /// The sum of the shares of all others.
    rest: f64,
    /// The logarithms of the sum of all, and of all but the largest.
    all: f64,
    others: f64,
}

impl Sums {
    /// Takes numbers, and `more`, which is always a part of the sum.
    fn take(&mut self, more: f64, values: impl Iterator<Item = f64>) {
        self.shares.clear();
        self.shares.extend(values);
        // Behind all others, where nothing asks for the sum without it.
        self.shares.push(more);
        let order = |a: &(usize, &f64), b: &(usize, &f64)| a.1.total_cmp(b.1).then(b.0.cmp(&a.0));
        let (at, largest) = self.shares.iter().enumerate().max_by(order).map_or((0, 0.0), |(at, value)| (at, *value));
        (self.at, self.largest) = (at, largest);
        let others = self.shares.iter().enumerate().filter(|(i, _)| *i != at);
        let second = others.map(|(_, value)| *value).fold(f64::NEG_INFINITY, f64::max);
        // What is far smaller than the second adds nothing to either sum.
        let mut rest = 0.0;
        for (i, share) in self.shares.iter_mut().enumerate() {
            let value = *share;
            let counts = i != at && second.is_finite() && value >= second - NOTHING;
            *share = if counts { (value - second).exp() } else { 0.0 };
            rest += *share;
        }
        self.others = if second == f64::NEG_INFINITY { second } else { second + rest.ln() };
        let scale = if second == f64::NEG_INFINITY { 0.0 } else { (second - largest).exp() };
        self.shares.iter_mut().for_each(|share| *share *= scale);
        self.shares[at] = 1.0;
        self.rest = rest * scale;
        self.all = largest + self.rest.ln_1p();
    }

    /// The logarithm of the sum without one of the numbers.
    fn without(&self, i: usize) -> f64 {
        match self.shares.get(i) {
            _ if i == self.at => self.others,
            Some(share) if *share > 1e-17 => self.largest + (self.rest - share).max(0.0).ln_1p(),
            _ => self.all,
        }
    }
}

fn ask_slots(edges: &[Edge], spare: &[f64], take: &mut [f64], sums: &mut Sums) {
    let mut from = 0;
    while let Some(first) = edges.get(from) {
        let end = from + edges[from..].iter().take_while(|edge| edge.slot == first.slot).count();
        // An empty slot has odds 1.
        sums.take(0.0, (from..end).map(|e| edges[e].odds + spare[e]));
        for e in from..end {
            take[e] = edges[e].odds - sums.without(e - from);
        }
        from = end;
    }
}

/// Gives the largest change.
fn ask_groups(groups: &[Group], of: &mut [Vec<u32>], take: &[f64], spare: &mut [f64], by: f64, sums: &mut Sums) -> f64 {
    let mut changed = 0.0f64;
    let mut answer = |e: u32, new: f64| {
        let e = e as usize;
        changed = changed.max((new - spare[e]).abs());
        spare[e] += (new - spare[e]) * by;
    };
    for (group, own) in groups.iter().zip(of) {
        // The best slots keep their copies; one of the others would have this one.
        let best = group.copies.max(1).min(own.len());
        if best < own.len() {
            own.select_nth_unstable_by(best, |a, b| take[*b as usize].total_cmp(&take[*a as usize]).then(a.cmp(b)));
        }
        let (best, rest) = own.split_at(best);
        sums.take(-group.needed, rest.iter().map(|&e| take[e as usize]));
        let of_best = -sums.all;
        best.iter().for_each(|&e| answer(e, of_best));
        // A slot below the best also competes with the last of the best.
        let last = best.iter().map(|&e| take[e as usize]).fold(f64::INFINITY, f64::min);
        let most = last.max(sums.all);
        let all = (last - most).exp() + (sums.all - most).exp();
        let (scale, of_all) = ((sums.largest - most).exp(), -most - all.ln());
        for (share, &e) in sums.shares.iter().zip(rest) {
            let share = share * scale;
            answer(e, if share > 1e-17 { -most - (all - share).ln() } else { of_all });
        }
    }
    changed
}

/// The logarithm of the sum of two numbers that are given by theirs.
fn add(a: f64, b: f64) -> f64 {
    let (most, least) = if a >= b { (a, b) } else { (b, a) };
    if least == f64::NEG_INFINITY { most } else { most + (least - most).exp().ln_1p() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(slot: u32, group: u32, odds: f64) -> Edge {
        Edge { slot, group, odds }
    }

    fn near(found: &[f64], expected: &[f64]) {
        let same = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-3);
        assert!(same && found.len() == expected.len(), "{found:?}, expected {expected:?}");
    }

    #[test]
    fn one_block_is_shared_by_its_slots() {
        let group = [Group { copies: 1, needed: 1.0 }];
        // Weights e^2, e^1, and 1 for out of use.
        let sum = 2f64.exp() + 1f64.exp() + 1.0;
        let expected = [2f64.exp() / sum, 1f64.exp() / sum].map(sharpen);
        near(&probabilities(&[edge(0, 0, 1.0), edge(1, 0, 0.0)], &group), &expected);
    }

    #[test]
    fn two_blocks_that_are_needed_do_not_share_a_slot() {
        let groups = [Group { copies: 1, needed: 20.0 }; 2];
        let edges = [edge(0, 0, 9.0), edge(0, 1, 8.0), edge(1, 0, 3.0), edge(1, 1, 0.0)];
        // Crossed or not: 9 + 0 against 8 + 3.
        let crossed = 1.0 / (1.0 + (-2f64).exp());
        let found = probabilities(&edges, &groups);
        // Crossed fits better by 11 to 9, and no more than that.
        near(
            &[found[1], found[2]],
            &[sharpen(1.0 - crossed.min(1.0 - crossed)), sharpen(1.0 - crossed.min(1.0 - crossed))],
        );
    }

    #[test]
    fn as_many_slots_as_copies_do_not_compete() {
        let groups = [Group { copies: 2, needed: 20.0 }];
        let edges = [edge(0, 0, 9.0), edge(1, 0, 9.0), edge(2, 0, -9.0)];
        let found = probabilities(&edges, &groups);
        assert!(found[0] > 0.9999 && found[1] > 0.9999 && found[2] < 0.0001, "{found:?}");
    }
}
