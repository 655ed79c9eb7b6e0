//! How likely each block belongs to each slot, when a slot takes one block and a block fills one slot.
//!
//! Belief propagation on the graph of slots and contents: exact where the graph is a tree, and close to it elsewhere. A
//! slot may stay empty, a block may be out of use, or belong to a place that is not looked at.

use std::collections::HashMap;

/// Rounds of messages.
const ROUNDS: usize = 40;

/// The change of all messages below which they are taken for settled.
const SETTLED: f64 = 1e-3;

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
    pub slot: usize,
    pub group: usize,
    /// Log-odds that it does, against an empty slot.
    pub odds: f64,
}

/// The probability of each edge. Edges are ordered by slot, and each pair of a slot and a group occurs once.
pub(super) fn probabilities(edges: &[Edge], groups: &[Group]) -> Vec<f64> {
    let mut of: Vec<Vec<usize>> = vec![Vec::new(); groups.len()];
    for (e, edge) in edges.iter().enumerate() {
        of[edge.group].push(e);
    }
    // What a group says to a slot: how well it can spare a block. What a slot says to a group: how well it can take one.
    let mut spare: Vec<f64> = edges.iter().map(|edge| groups[edge.group].needed).collect();
    let mut take = vec![0.0; edges.len()];
    for round in 0..ROUNDS {
        ask_slots(edges, &spare, &mut take);
        let changed = ask_groups(groups, &of, &take, &mut spare, if round == 0 { 1.0 } else { 0.6 });
        if changed < SETTLED {
            break;
        }
    }
    ask_slots(edges, &spare, &mut take);
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
    let mut best: HashMap<usize, usize> = HashMap::new();
    for (e, edge) in edges.iter().enumerate().filter(|(e, _)| found[*e] > 0.5) {
        best.insert(edge.slot, e);
    }
    // What slots whose likeliest content is the second would lose if they had the first.
    let mut loss: Vec<HashMap<usize, f64>> = vec![HashMap::new(); groups];
    for (e, edge) in edges.iter().enumerate() {
        if let Some(&own) = best.get(&edge.slot).filter(|own| **own != e) {
            let sum = loss[edge.group].entry(edges[own].group).or_insert(f64::NEG_INFINITY);
            *sum = add(*sum, edge.odds - edges[own].odds);
        }
    }
    let mut others: HashMap<usize, f64> = HashMap::new();
    for edge in edges {
        let Some(&own) = best.get(&edge.slot).filter(|own| edges[**own].group != edge.group) else { continue };
        if let Some(loss) = loss[edges[own].group].get(&edge.group) {
            let sum = others.entry(own).or_insert(f64::NEG_INFINITY);
            *sum = add(*sum, edge.odds - edges[own].odds + loss);
        }
    }
    for (own, sum) in others {
        found[own] = found[own].min(1.0 / (1.0 + sum.exp()));
    }
}

fn ask_slots(edges: &[Edge], spare: &[f64], take: &mut [f64]) {
    let mut from = 0;
    let mut after = Vec::new();
    while let Some(first) = edges.get(from) {
        let end = from + edges[from..].iter().take_while(|edge| edge.slot == first.slot).count();
        let value = |e: usize| edges[e].odds + spare[e];
        // The sum of an empty slot and all edges but one, from sums of those before and after it.
        after.clear();
        after.resize(end - from + 1, f64::NEG_INFINITY);
        for e in (from..end).rev() {
            after[e - from] = add(after[e - from + 1], value(e));
        }
        let mut before = 0.0;
        for e in from..end {
            take[e] = edges[e].odds - add(before, after[e - from + 1]);
            before = add(before, value(e));
        }
        from = end;
    }
}

/// Gives the largest change.
fn ask_groups(groups: &[Group], of: &[Vec<usize>], take: &[f64], spare: &mut [f64], by: f64) -> f64 {
    let mut changed = 0.0f64;
    let (mut order, mut after) = (Vec::new(), Vec::new());
    for (group, own) in groups.iter().zip(of) {
        order.clear();
        order.extend_from_slice(own);
        order.sort_unstable_by(|a, b| take[*b].total_cmp(&take[*a]).then(a.cmp(b)));
        after.clear();
        after.resize(order.len() + 1, f64::NEG_INFINITY);
        for (rank, &e) in order.iter().enumerate().rev() {
            after[rank] = add(after[rank + 1], take[e]);
        }
        let sum_from = |rank: usize| after.get(rank).copied().unwrap_or(f64::NEG_INFINITY);
        let k = group.copies.max(1);
        let mut before = f64::NEG_INFINITY;
        for (rank, &e) in order.iter().enumerate() {
            // The best slots keep their copies; one of the others would have this one.
            let others = if rank < k { sum_from(k) } else { add(before, sum_from(rank + 1)) };
            if rank + 1 >= k {
                before = add(before, take[e]);
            }
            let new = -add(-group.needed, others);
            changed = changed.max((new - spare[e]).abs());
            spare[e] += (new - spare[e]) * by;
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

    fn edge(slot: usize, group: usize, odds: f64) -> Edge {
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
