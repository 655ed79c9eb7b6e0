//! The table's entries, in the order of their sectors, matched with the blocks of the walk.
//!
//! What the engine does leaves the order of the blocks as it is: a block keeps its length or shrinks in its place, or it
//! is taken out and appended. So the file is the table's order with some entries gone, and behind it the appended ones.
//! For each number of entries that are gone the probability of every match is computed by a pass forward and one
//! backward; what is known from elsewhere, such as the seams, comes in as the odds of a match.

use std::sync::Arc;

use crate::recover::evidence::{Evidence, Rates};
use crate::recover::pass::{Common, Gone, Pass, Rows};
use crate::recover::reading::Reading;
use crate::recover::walk::Walk;
use crate::recover::weights::LARGE;

/// What is likely of one region.
#[derive(Clone, Debug, Default)]
pub struct Posterior {
    /// For each entry the blocks that may be its own, in their old order, with their probabilities.
    pub kept: Vec<Vec<(usize, f64)>>,
    /// For each entry the probability that it was taken out.
    pub gone: Vec<f64>,
    /// For each entry the probability that it is there, but torn.
    pub torn: Vec<f64>,
    /// For each walked block the probability that it was appended since the table was written, and is not old.
    pub appended: Vec<f64>,
    /// Expected number of entries that shrank.
    pub shrunk: f64,
    /// Probability that the block being saved last is lost.
    pub lost: f64,
    /// For each reading the least and the most entries gone that are worth another look; `None` when none is.
    pub worth: Vec<Option<(usize, usize)>>,
}

impl Posterior {
    /// The readings that are worth another look.
    #[must_use]
    pub fn narrowed(&self, readings: &[Reading]) -> Vec<Reading> {
        if self.worth.iter().all(Option::is_none) {
            return readings.to_vec();
        }
        let worth = readings.iter().zip(&self.worth);
        worth.filter_map(|(reading, gone)| Some(Reading { gone: (*gone)?, ..reading.clone() })).collect()
    }
}

/// Logarithm of the odds, against the best, below which a reading is not worth another look: more than seams can turn.
const HOPELESS: f64 = -60.0;

/// Probabilities below this are dropped.
const LEAST: f64 = 1e-9;

/// Estimates how often entries are gone and how often they shrink.
pub fn estimate_rates(posterior: &Posterior) -> Rates {
    Rates::estimate(posterior.gone.iter().sum(), posterior.shrunk, posterior.gone.len())
}

/// Matches the entries (counts of sectors, in the order of their sectors) with all readings.
#[must_use]
pub fn align(
    counts: &[u32],
    walk: &Walk,
    readings: &[Reading],
    rates: Rates,
    table_end: u32,
    evidence: &dyn Evidence,
) -> Posterior {
    let common = Common::new(counts, walk);
    let pass = |reading| Pass { counts, walk, reading, rates, table_end, evidence, common: &common };
    let made: Vec<(Option<Rows>, Vec<Gone>)> = readings
        .iter()
        .map(|reading| {
            let pass = pass(reading);
            let rows = pass.matches();
            let all = pass.totals(&rows);
            // The rows of all readings of a large region would take too much memory.
            ((counts.len() <= LARGE).then_some(rows), all)
        })
        .collect();
    let totals = || {
        let totals = made.iter().zip(readings);
        totals.flat_map(|((_, all), reading)| all.iter().map(move |one| one.total + reading.prior))
    };
    let best = totals().fold(f64::NEG_INFINITY, f64::max);
    let mut posterior = Posterior {
        kept: vec![Vec::new(); counts.len()],
        gone: vec![0.0; counts.len()],
        torn: vec![0.0; counts.len()],
        appended: vec![0.0; walk.blocks.len()],
        worth: vec![None; readings.len()],
        ..Posterior::default()
    };
    if !best.is_finite() {
        return posterior;
    }
    let sum: f64 = totals().map(|total| (total - best).exp()).sum();
    for (n, (rows, all)) in made.iter().enumerate() {
        let pass = pass(&readings[n]);
        let mut recomputed = None;
        let share = |one: &Gone| (one.total + readings[n].prior - best).exp() / sum;
        for one in all.iter().filter(|one| one.total + readings[n].prior - best > HOPELESS) {
            let gone = one.number;
            let (least, most) = posterior.worth[n].get_or_insert((gone, gone));
            (*least, *most) = ((*least).min(gone.saturating_sub(1)), (*most).max(gone + 1));
        }
        for together in all.chunk_by(|a, b| Arc::ptr_eq(&a.out, &b.out)) {
            let worth: Vec<(usize, f64)> =
                together.iter().map(|one| (one.number, share(one))).filter(|(_, weight)| *weight >= LEAST).collect();
            if let Some(one) = together.first().filter(|_| !worth.is_empty()) {
                let rows = rows.as_ref().unwrap_or_else(|| recomputed.get_or_insert_with(|| pass.matches()));
                pass.add(&worth, &one.out, rows, &mut posterior);
            }
        }
    }
    for kept in &mut posterior.kept {
        kept.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    }
    posterior
}

impl Pass<'_> {
    /// Adds the probabilities of all matches, given numbers of entries gone, each with its probability.
    fn add(&self, numbers: &[(usize, f64)], out: &[f64], rows: &Rows, posterior: &mut Posterior) {
        let n = self.counts.len();
        let most = numbers.iter().map(|number| number.0).max().unwrap_or(0);
        let f = self.forward(most, rows, out);
        let band = &rows.band;
        let ends: Vec<(usize, f64)> =
            numbers.iter().map(|&(number, weight)| (number, weight.ln() - band.get(&f, n, number))).collect();
        let b = self.backward(&ends, rows, out);
        for (i, out) in out.iter().enumerate() {
            for g in band.range(i).take_while(|g| *g <= most) {
                let at = band.get(&f, i, g);
                let kept = (at + rows.at(i, g) + band.get(&b, i + 1, g)).exp();
                if kept > LEAST {
                    let item = self.reading.items[i - g];
                    posterior.shrunk += if item.count < self.counts[i] { kept } else { 0.0 };
                    match item.block {
                        Some(block) => add_to(&mut posterior.kept[i], block, kept),
                        None => posterior.torn[i] += kept,
                    }
                }
                if g < most {
                    posterior.gone[i] += (at + out + band.get(&b, i + 1, g + 1)).exp();
                }
            }
        }
        for &(number, weight) in numbers {
            let tail = self.tail(number, |_, _| {});
            let appended = self.appended(number).unwrap_or_default();
            // For each number of live items its probability; later items are old.
            let mut shares = vec![0.0; appended.len() + 1];
            self.tail(number, |live, odds| {
                shares[live] = weight * (odds - tail).exp();
                posterior.lost += if live < number { shares[live] } else { 0.0 };
            });
            let mut share = 0.0;
            for (item, live) in appended.iter().zip(&shares[1..]).rev() {
                share += live;
                if let Some(block) = item.block {
                    posterior.appended[block] += share;
                }
            }
        }
    }
}

fn add_to(list: &mut Vec<(usize, f64)>, block: usize, weight: f64) {
    match list.iter_mut().find(|(b, _)| *b == block) {
        Some((_, p)) => *p += weight,
        None => list.push((block, weight)),
    }
}
