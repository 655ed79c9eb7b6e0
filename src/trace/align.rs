//! The table's entries, in the order of their sectors, matched with the blocks of the walk.
//!
//! What the engine does leaves the order of the blocks as it is: a block keeps its length or shrinks in its place, or it
//! is taken out and appended. So the file is the table's order with some entries gone, and behind it the appended ones.
//! For each number of entries that are gone the probability of every match is computed by a pass forward and one
//! backward; what is known from elsewhere, such as the seams, comes in as the odds of a match.

use crate::trace::reading::{Item, Reading};
use crate::trace::walk::Walk;

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
}

/// Most entries gone that are tried.
const MOST_GONE: usize = 96;

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
    for reading in readings {
        let pass = Pass { counts, walk, reading, rates, table_end, evidence, sizes: &sizes };
        let rows = pass.matches();
        let most = counts.len().min(MOST_GONE);
        for gone in 0..=most {
            if let Some(total) = pass.total(gone, &rows) {
                parts.push((total + reading.prior, gone, reading));
            }
        }
    }
    let best = parts.iter().map(|p| p.0).fold(f64::NEG_INFINITY, f64::max);
    let mut posterior = Posterior {
        kept: vec![Vec::new(); counts.len()],
        gone: vec![0.0; counts.len()],
        torn: vec![0.0; counts.len()],
        appended: vec![0.0; walk.blocks.len()],
        ..Posterior::default()
    };
    if !best.is_finite() {
        return posterior;
    }
    let sum: f64 = parts.iter().map(|p| (p.0 - best).exp()).sum();
    let mut last: Option<(*const Reading, Rows)> = None;
    for (total, gone, reading) in parts {
        let weight = (total - best).exp() / sum;
        if weight < LEAST {
            continue;
        }
        let pass = Pass { counts, walk, reading, rates, table_end, evidence, sizes: &sizes };
        if last.as_ref().is_none_or(|(r, _)| !std::ptr::eq(*r, reading)) {
            last = Some((reading, pass.matches()));
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

/// Logarithms of how common blocks are, by their sectors.
fn sizes(counts: &[u32], walk: &Walk) -> Vec<f64> {
    let all = || walk.blocks.iter().map(|b| b.count).chain(counts.iter().copied());
    let most = all().max().unwrap_or(0) + 2;
    let mut common = vec![0.5; most as usize + 1];
    all().for_each(|n| common[n as usize] += 1.0);
    let sum: f64 = common.iter().sum();
    common.iter().map(|n| (n / sum).ln()).collect()
}

/// Logarithms of the odds of a match of entry `i` with item `i - g`, by `i` and `g`.
struct Rows {
    width: usize,
    odds: Vec<f64>,
}

impl Rows {
    fn at(&self, i: usize, g: usize) -> f64 {
        self.odds[i * self.width + g]
    }
}

struct Pass<'a> {
    counts: &'a [u32],
    walk: &'a Walk,
    reading: &'a Reading,
    rates: Rates,
    table_end: u32,
    evidence: &'a dyn Evidence,
    /// Logarithms of how common blocks of so many sectors are.
    sizes: &'a [f64],
}

const NEVER: f64 = f64::NEG_INFINITY;

fn add_log(a: f64, b: f64) -> f64 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    if low == NEVER { high } else { high + (low - high).exp().ln_1p() }
}

impl Pass<'_> {
    fn matches(&self) -> Rows {
        let n = self.counts.len();
        let width = n.min(MOST_GONE) + 1;
        let mut odds = vec![NEVER; n * width];
        for i in 0..n {
            for g in 0..width.min(i + 1) {
                if let Some(item) = self.reading.items.get(i - g) {
                    odds[i * width + g] = self.match_odds(i, item);
                }
            }
        }
        Rows { width, odds }
    }

    fn match_odds(&self, entry: usize, item: &Item) -> f64 {
        let (count, Rates { gone, shrunk }) = (self.counts[entry], self.rates);
        let base = match item.count.cmp(&count) {
            std::cmp::Ordering::Greater => return NEVER,
            std::cmp::Ordering::Equal => (1.0 - gone - shrunk).max(0.05).ln(),
            std::cmp::Ordering::Less => (shrunk / f64::from(count - 1)).ln(),
        };
        let Some(block) = item.block else { return base - 3.0 };
        let written_again = if item.count < count { rewritten(self.walk, block) } else { 0.0 };
        base + written_again + self.evidence.place(entry, block)
    }

    /// The items behind the table's order when `gone` entries are gone.
    fn appended(&self, gone: usize) -> Option<&[Item]> {
        self.reading.items.get(self.counts.len() - gone..)
    }

    /// Logarithms of the odds that each entry is gone.
    fn gone(&self, gone: usize) -> Vec<f64> {
        let appended = self.appended(gone).unwrap_or_default();
        let live = appended.get(..gone + 1).unwrap_or(appended);
        let n = live.len().max(1) as f64;
        let end = live.last().or_else(|| self.reading.items.last()).map_or(0, |i| i.first + i.count);
        let each = |i: usize| {
            let count = self.counts[i];
            let found: f64 = live.iter().map(|item| self.grown(i, item)).sum::<f64>() / n;
            (self.rates.gone * (found + self.lost(count, end))).max(1e-30).ln()
        };
        (0..self.counts.len()).map(each).collect()
    }

    /// How well an appended item goes with an entry that is gone.
    fn grown(&self, entry: usize, item: &Item) -> f64 {
        let size = if item.count > self.counts[entry] {
            1.0
        } else {
            // It shrank before it grew, or afterwards.
            let again = item.block.map_or(1.0, |b| rewritten(self.walk, b).exp().min(1.0));
            0.3 * self.rates.shrunk + 0.05 * again
        };
        let seam = item.block.map_or(0.0, |block| self.evidence.place(entry, block));
        size * seam.clamp(-12.0, 0.0).exp()
    }

    /// How likely it is that an entry of `count` sectors was taken out and not yet written again, when the last block
    /// ends at `end`: its sectors then stand behind that a second time.
    fn lost(&self, count: u32, end: u32) -> f64 {
        match self.reading.moving {
            Some(moved) if moved == count => 0.5,
            Some(_) => 0.005,
            None if end + count > self.walk.sectors => 1e-4,
            None if end >= 1 && self.walk.same(end - 1, end + count - 1, 1) => 0.5,
            None => 0.005,
        }
    }

    /// Logarithm of the odds of what stands behind the table's order when `gone` entries are gone.
    fn tail(&self, gone: usize, mut each: impl FnMut(usize, f64)) -> f64 {
        let Some(appended) = self.appended(gone) else { return NEVER };
        let mut total = NEVER;
        let mut fresh = 0.0;
        for live in 0..=appended.len() {
            if let Some(item) = live.checked_sub(1).and_then(|l| appended.get(l)) {
                // An appended block is as long as blocks are, and is padded unless it was written once more.
                let again = item.block.is_some_and(|b| !self.walk.blocks[b].padded);
                fresh += self.sizes.get(item.count as usize).copied().unwrap_or(-6.0);
                fresh -= if again { 1.5 } else { 0.0 };
            }
            let lost = gone.saturating_sub(live);
            let new = live - (gone - lost);
            let lost = match lost {
                0 => 0.0,
                1 if self.reading.moving.is_some() => -0.5,
                1 => -1.5,
                n => -1.5 - 7.0 * (n - 1) as f64,
            };
            let old: f64 = appended[live..].iter().map(|item| self.old(item)).sum();
            let odds = lost + new as f64 * -2.5 + old + fresh;
            each(live, odds);
            total = add_log(total, odds);
        }
        total
    }

    /// Logarithm of the odds that a whole block behind the live ones is an old one.
    fn old(&self, item: &Item) -> f64 {
        let Some(block) = item.block else { return 0.0 };
        let content = self.walk.blocks[block].content;
        let copy = self.walk.blocks[..block].iter().rev().take(512).any(|b| b.content == content);
        if copy && item.first + item.count > self.table_end {
            -0.1
        } else if copy {
            -0.3
        } else {
            -2.5
        }
    }

    fn forward(&self, gone: usize, rows: &Rows, out: &[f64]) -> Vec<f64> {
        let (n, w) = (self.counts.len(), gone + 1);
        let mut f = vec![NEVER; (n + 1) * w];
        f[0] = 0.0;
        for i in 0..n {
            for g in 0..w.min(i + 1) {
                let at = f[i * w + g];
                if at == NEVER {
                    continue;
                }
                let keep = &mut f[(i + 1) * w + g];
                *keep = add_log(*keep, at + rows.at(i, g));
                if g + 1 < w {
                    let take = &mut f[(i + 1) * w + g + 1];
                    *take = add_log(*take, at + out[i]);
                }
            }
        }
        f
    }

    fn total(&self, gone: usize, rows: &Rows) -> Option<f64> {
        let tail = self.tail(gone, |_, _| {});
        if tail == NEVER {
            return None;
        }
        let f = self.forward(gone, rows, &self.gone(gone));
        let total = f.last()? + tail;
        total.is_finite().then_some(total)
    }

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

/// Logarithm of the odds that a block was written over a longer one, by what stands behind it in its last sector: the
/// engine pads what it appends with zeros, and what it writes again not at all.
fn rewritten(walk: &Walk, block: usize) -> f64 {
    let b = &walk.blocks[block];
    match (b.padded, b.slack) {
        (_, 0) => 0.0,
        (false, _) => 0.7,
        (true, _) if b.plain => -0.3,
        (true, n) => -0.9 * f64::from(n.min(8)),
    }
}
