//! Which of the appended blocks belongs to which of the entries that are gone: by their seams and their lengths, all at
//! once.

use std::collections::HashMap;

use crate::recover::align::Posterior;
use crate::recover::evidence::{Evidence, Rates};
use crate::recover::region::{Candidate, Case, EntryOptions};

/// Probabilities below this are not followed.
const LEAST: f64 = 1e-6;

/// In a large region, the least probability of all appended blocks of one content together. A million pairs may be below it, and no
/// decision depends on them.
const LARGE_LEAST: f64 = 0.01;

/// Rounds of balancing.
const ROUNDS: usize = 40;

/// The possible blocks of every entry: those that stayed where the order puts them, and those that were appended.
pub fn options(case: &Case, posterior: &Posterior, rates: Rates, evidence: &dyn Evidence) -> EntryOptions {
    let mut options: EntryOptions = posterior
        .kept
        .iter()
        .map(|kept| kept.iter().map(|&(block, p)| Candidate { block, p, moved: false }).collect())
        .collect();
    let rows: Vec<usize> = (0..posterior.appended.len()).filter(|&b| posterior.appended[b] > 1e-3).collect();
    let columns: Vec<usize> = (0..posterior.gone.len()).filter(|&i| posterior.gone[i] > LEAST).collect();
    let odds = |b: usize, i: usize| {
        let (count, size) = (case.walk.blocks[b].count, case.entries[i].count);
        let grown = if count > size { 1.0 } else { 0.3 * rates.shrunk + 0.01 };
        grown * evidence.seam_odds(i, b).exp()
    };
    let k: Vec<Vec<f64>> = rows.iter().map(|&b| columns.iter().map(|&i| odds(b, i)).collect()).collect();
    // Blocks that are new, or old, and blocks that are lost.
    let there: f64 = rows.iter().map(|&b| posterior.appended[b]).sum();
    let gone: f64 = columns.iter().map(|&i| posterior.gone[i]).sum();
    let new = 0.001 + (there - gone).max(0.0) / rows.len().max(1) as f64;
    let lost = 0.001 + (gone - there).max(posterior.lost).max(0.0) / columns.len().max(1) as f64;
    let (mut u, mut v) = (vec![1.0; rows.len()], vec![1.0; columns.len()]);
    for _ in 0..ROUNDS {
        for (a, row) in k.iter().enumerate() {
            let sum: f64 = row.iter().zip(&v).map(|(k, v)| k * v).sum::<f64>() + new;
            u[a] = posterior.appended[rows[a]] / sum;
        }
        for (c, v) in v.iter_mut().enumerate() {
            let sum: f64 = k.iter().zip(&u).map(|(row, u)| row[c] * u).sum::<f64>() + lost;
            *v = posterior.gone[columns[c]] / sum;
        }
    }
    for (c, &i) in columns.iter().enumerate() {
        let moved = |a: usize| Candidate { block: rows[a], p: u[a] * k[a][c] * v[c], moved: true };
        let all: Vec<Candidate> = (0..rows.len()).map(moved).filter(|candidate| candidate.p > LEAST).collect();
        let has_kept = !options[i].is_empty();
        options[i].extend(if case.is_large() { likely_contents(case, all, has_kept) } else { all });
    }
    for list in &mut options {
        list.sort_unstable_by(|a, b| b.p.total_cmp(&a.p).then(a.block.cmp(&b.block)));
    }
    options
}

/// Drops appended blocks whose content is unlikely in the slot of an entry. The likeliest one stays if the entry would have none.
fn likely_contents(case: &Case, mut all: Vec<Candidate>, has_others: bool) -> Vec<Candidate> {
    let mut sums: HashMap<u128, f64> = HashMap::new();
    all.iter().for_each(|one| *sums.entry(case.content(one.block)).or_default() += one.p);
    let best = all.iter().copied().max_by(|a, b| a.p.total_cmp(&b.p).then(b.block.cmp(&a.block)));
    all.retain(|one| sums.get(&case.content(one.block)).is_some_and(|sum| *sum >= LARGE_LEAST));
    if all.is_empty() && !has_others {
        all.extend(best);
    }
    all
}
