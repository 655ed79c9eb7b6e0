//! One pass over a table and one way to read its walk: the odds of every match, and of what stands behind them.

use crate::recover::align::{Evidence, Rates};
use crate::recover::reading::{Item, Reading};
use crate::recover::walk::Walk;

/// How far the odds must have fallen, and for how many numbers of entries gone, before no more are tried.
const FALLEN: f64 = 60.0;
const PATIENCE: usize = 6;

/// Most entries gone that are tried.
const MOST_GONE: usize = 96;

/// Logarithms of how common blocks are, by their sectors.
pub(super) fn sizes(counts: &[u32], walk: &Walk) -> Vec<f64> {
    let all = || walk.blocks.iter().map(|b| b.count).chain(counts.iter().copied());
    let most = all().max().unwrap_or(0) + 2;
    let mut common = vec![0.5; most as usize + 1];
    all().for_each(|n| common[n as usize] += 1.0);
    let sum: f64 = common.iter().sum();
    common.iter().map(|n| (n / sum).ln()).collect()
}

/// Logarithms of the odds of a match of entry `i` with item `i - g`, by `i` and `g`.
pub(super) struct Rows {
    width: usize,
    odds: Vec<f64>,
}

impl Rows {
    pub fn at(&self, i: usize, g: usize) -> f64 {
        self.odds[i * self.width + g]
    }
}

/// One way to read a walk, held against the table.
pub(super) struct Pass<'a> {
    pub counts: &'a [u32],
    pub walk: &'a Walk,
    pub reading: &'a Reading,
    pub rates: Rates,
    pub table_end: u32,
    pub evidence: &'a dyn Evidence,
    /// Logarithms of how common blocks of so many sectors are.
    pub sizes: &'a [f64],
}

/// Of what cannot be.
pub(super) const NEVER: f64 = f64::NEG_INFINITY;

pub(super) fn add_log(a: f64, b: f64) -> f64 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    if low == NEVER { high } else { high + (low - high).exp().ln_1p() }
}

impl Pass<'_> {
    pub fn matches(&self) -> Rows {
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

    /// Logarithms of the odds of this reading by the number of entries that are gone, as far as they are worth it.
    pub fn totals(&self, rows: &Rows, mut each: impl FnMut(usize, f64)) {
        let (least, most) = self.reading.gone;
        let (mut best, mut worse) = (NEVER, 0);
        for gone in least..=most.min(self.counts.len()).min(MOST_GONE) {
            let Some(total) = self.total(gone, rows) else { continue };
            each(gone, total);
            // Past the best the odds only fall.
            worse = if total < best - FALLEN { worse + 1 } else { 0 };
            best = best.max(total);
            if worse > PATIENCE {
                break;
            }
        }
    }

    pub fn match_odds(&self, entry: usize, item: &Item) -> f64 {
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
    pub fn appended(&self, gone: usize) -> Option<&[Item]> {
        self.reading.items.get(self.counts.len() - gone..)
    }

    /// Logarithms of the odds that each entry is gone.
    pub fn gone(&self, gone: usize) -> Vec<f64> {
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

    /// How well the length of an appended item goes with an entry that is gone.
    pub fn grown_to(&self, entry: usize, item: &Item) -> f64 {
        if item.count > self.counts[entry] {
            return 1.0;
        }
        // It shrank before it grew, or afterwards.
        let again = item.block.map_or(1.0, |b| rewritten(self.walk, b).exp().min(1.0));
        0.3 * self.rates.shrunk + 0.05 * again
    }

    /// The same with the seams that speak against it.
    fn grown(&self, entry: usize, item: &Item) -> f64 {
        let size = self.grown_to(entry, item);
        let seam = item.block.map_or(0.0, |block| self.evidence.place(entry, block));
        size * seam.clamp(-12.0, 0.0).exp()
    }

    /// How likely it is that an entry of `count` sectors was taken out and not yet written again, when the last block
    /// ends at `end`: its sectors then stand behind that a second time.
    pub fn lost(&self, count: u32, end: u32) -> f64 {
        match self.reading.moving {
            Some(moved) if moved == count => 0.5,
            Some(_) => 0.005,
            None if end + count > self.walk.sectors => 1e-4,
            None if end >= 1 && self.walk.same(end - 1, end + count - 1, 1) => 0.5,
            None => 0.005,
        }
    }

    /// Logarithm of the odds of what stands behind the table's order when `gone` entries are gone.
    pub fn tail(&self, gone: usize, mut each: impl FnMut(usize, f64)) -> f64 {
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

    pub fn forward(&self, gone: usize, rows: &Rows, out: &[f64]) -> Vec<f64> {
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

    pub fn total(&self, gone: usize, rows: &Rows) -> Option<f64> {
        let tail = self.tail(gone, |_, _| {});
        if tail == NEVER {
            return None;
        }
        let f = self.forward(gone, rows, &self.gone(gone));
        let total = f.last()? + tail;
        total.is_finite().then_some(total)
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
