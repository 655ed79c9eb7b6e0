//! The table's entries, in the order of their sectors, matched with the blocks of the walk.
//!
//! What the engine does leaves the order of the blocks as it is: a block keeps its length or shrinks in its place, or it
//! is taken out and appended. So the file is the table's order with some entries gone, and behind it the appended ones.
//! For each number of entries that are gone the probability of every match is computed by a pass forward and one
//! backward; what is known from elsewhere, such as the seams, comes in as the odds of a match.

use crate::recover::pass::{NEVER, Pass, Rows, add_log, sizes};
use crate::recover::reading::Reading;
use crate::recover::walk::Walk;

/// How often blocks are saved, and what of it changes their length.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// Entries that are taken out and appended.
    pub gone: f64,
    /// Entries that shrink.
    pub shrunk: f64,
}

/// Odds of matches that come from elsewhere, as logarithms.
pub trait Evidence: Sync {
    /// That an entry has a walked block.
    fn place(&self, entry: usize, block: usize) -> f64;
}

/// No evidence but the order.
pub struct Nothing;

impl Evidence for Nothing {
    fn place(&self, _: usize, _: usize) -> f64 {
        0.0
    }
}

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
    let sizes = sizes(counts, walk);
    let mut parts = Vec::new();
    for (n, reading) in readings.iter().enumerate() {
        let pass = Pass { counts, walk, reading, rates, table_end, evidence, sizes: &sizes };
        let rows = pass.matches();
        pass.totals(&rows, |gone, total| parts.push((total + reading.prior, gone, n)));
    }
    let best = parts.iter().map(|p| p.0).fold(f64::NEG_INFINITY, f64::max);
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
    let sum: f64 = parts.iter().map(|p| (p.0 - best).exp()).sum();
    let mut last: Option<(usize, Rows)> = None;
    for (total, gone, n) in parts {
        if total - best > HOPELESS {
            let (least, most) = posterior.worth[n].get_or_insert((gone, gone));
            (*least, *most) = ((*least).min(gone.saturating_sub(1)), (*most).max(gone + 1));
        }
        let reading = &readings[n];
        let weight = (total - best).exp() / sum;
        if weight < LEAST {
            continue;
        }
        let pass = Pass { counts, walk, reading, rates, table_end, evidence, sizes: &sizes };
        if last.as_ref().is_none_or(|(r, _)| *r != n) {
            last = Some((n, pass.matches()));
        }
        if let Some((_, rows)) = &last {
            pass.add(gone, rows, weight, &mut posterior);
        }
    }
    for kept in &mut posterior.kept {
        kept.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    }
    posterior
}

impl Pass<'_> {
    fn add(&self, gone: usize, rows: &Rows, weight: f64, posterior: &mut Posterior) {
        let (n, w) = (self.counts.len(), gone + 1);
        let out = self.gone(gone);
        let f = self.forward(gone, rows, &out);
        let mut b = vec![NEVER; (n + 1) * w];
        b[n * w + gone] = 0.0;
        for i in (0..n).rev() {
            for g in 0..w.min(i + 1) {
                let keep = b[(i + 1) * w + g] + rows.at(i, g);
                let take = if g + 1 < w { b[(i + 1) * w + g + 1] + out[i] } else { NEVER };
                b[i * w + g] = add_log(keep, take);
            }
        }
        let total = f[n * w + gone];
        for i in 0..n {
            for g in 0..w.min(i + 1) {
                let at = f[i * w + g] - total;
                let kept = weight * (at + rows.at(i, g) + b[(i + 1) * w + g]).exp();
                if kept > LEAST {
                    let item = self.reading.items[i - g];
                    posterior.shrunk += if item.count < self.counts[i] { kept } else { 0.0 };
                    match item.block {
                        Some(block) => add_to(&mut posterior.kept[i], block, kept),
                        None => posterior.torn[i] += kept,
                    }
                }
                if g + 1 < w {
                    posterior.gone[i] += weight * (at + out[i] + b[(i + 1) * w + g + 1]).exp();
                }
            }
        }
        let tail = self.tail(gone, |_, _| {});
        let appended = self.appended(gone).unwrap_or_default();
        let mut lost = 0.0;
        self.tail(gone, |live, odds| {
            let share = weight * (odds - tail).exp();
            for item in &appended[..live] {
                if let Some(block) = item.block {
                    posterior.appended[block] += share;
                }
            }
            lost += if live < gone { share } else { 0.0 };
        });
        posterior.lost += lost;
    }
}

fn add_to(list: &mut Vec<(usize, f64)>, block: usize, weight: f64) {
    match list.iter_mut().find(|(b, _)| *b == block) {
        Some((_, p)) => *p += weight,
        None => list.push((block, weight)),
    }
}
