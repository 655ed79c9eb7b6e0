//! One pass over a table and one way to read its walk: the odds of every match, and of the blocks after the table's order.

use std::collections::HashMap;
use std::sync::Arc;

use crate::recover::band::{BEAM, Band, Banded, WIDE_BEAM};
use crate::recover::evidence::{Evidence, Rates};
use crate::recover::item::Item;
use crate::recover::reading::Reading;
use crate::recover::walk::Walk;
use crate::recover::weights::{LARGE, ORDER};

/// How far the odds must have fallen, and for how many numbers of entries gone, before no more are tried.
const FALLEN: f64 = 60.0;
const PATIENCE: usize = 6;

/// Most entries gone that are tried.
const MOST_GONE: usize = 2048;

/// A block is an old one if one of so many blocks before it has the same content.
const COPIES: usize = 512;

/// What all passes over a table and a walk need to know of them.
pub(super) struct Common {
    /// The different counts of sectors that entries have, and for each entry the index of its own.
    counts: Vec<u32>,
    count_of: Vec<usize>,
    /// Logarithms of how common blocks are, by their sectors.
    sizes: Vec<f64>,
    /// For each block, whether one of the blocks before it has the same content.
    copies: Vec<bool>,
}

impl Common {
    pub fn new(counts: &[u32], walk: &Walk) -> Self {
        let all = || walk.blocks.iter().map(|b| b.count).chain(counts.iter().copied());
        let most = all().max().unwrap_or(0) + 2;
        let mut common = vec![0.5; most as usize + 1];
        all().for_each(|n| common[n as usize] += 1.0);
        let sum: f64 = common.iter().sum();
        let mut last: HashMap<u128, usize> = HashMap::new();
        let copies = walk.blocks.iter().enumerate();
        let copies = copies.map(|(b, block)| last.insert(block.content, b).is_some_and(|before| b - before <= COPIES));
        let mut listed = counts.to_vec();
        listed.sort_unstable();
        listed.dedup();
        let count_of = counts.iter().map(|count| listed.partition_point(|other| other < count)).collect();
        let sizes = common.iter().map(|n| (n / sum).ln()).collect();
        Self { counts: listed, count_of, sizes, copies: copies.collect() }
    }
}

/// One number of entries gone, by a reading.
#[derive(Clone, Debug)]
pub(super) struct Gone {
    /// The number.
    pub number: usize,
    /// Logarithm of its odds.
    pub total: f64,
    /// For each entry, the logarithm of the odds that it is gone.
    pub out: Arc<Vec<f64>>,
}

/// The odds of matches: of an entry and the item that is so many entries before it, for the numbers in a band.
pub(super) struct Rows {
    pub band: Band,
    odds: Banded,
    ends: Vec<(usize, f64)>,
}

impl Rows {
    /// Logarithm of the odds of a match of entry `i` with item `i - g`.
    pub fn at(&self, i: usize, g: usize) -> f64 {
        self.band.get(&self.odds, i, g)
    }
}

/// Logarithms of the odds that entries keep their blocks, by the lengths of both alone.
pub(super) struct KeptOdds {
    same: f64,
    /// For each different count of an entry, that of a block with fewer sectors.
    shorter: Vec<f64>,
}

/// One way to read a walk, compared with the table.
pub(super) struct Pass<'a> {
    pub counts: &'a [u32],
    pub walk: &'a Walk,
    pub reading: &'a Reading,
    pub rates: Rates,
    pub table_end: u32,
    pub evidence: &'a dyn Evidence,
    pub common: &'a Common,
}

/// Log-odds of the impossible.
pub(super) const NEVER: f64 = f64::NEG_INFINITY;

pub(super) fn add_log(a: f64, b: f64) -> f64 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    if low == NEVER { high } else { high + (low - high).exp().ln_1p() }
}

/// Limits on the odds of a seam where an entry is gone.
fn against(seam: f64) -> f64 {
    seam.clamp(-ORDER.seam_clip, 0.0).exp()
}

impl Pass<'_> {
    /// Follows the entries with a guess of how likely each is gone.
    pub fn matches(&self) -> Rows {
        let n = self.counts.len();
        let most = n.min(MOST_GONE).min(self.reading.gone.1);
        let end = self.reading.items.last().map_or(0, |item| item.first + item.count);
        let items = &self.reading.items;
        let guess = |&count: &u32| {
            let found: f64 = items.iter().map(|item| self.growth_odds(count, item)).sum();
            let found = found / items.len().max(1) as f64;
            (self.rates.gone * (found.max(ORDER.least_found) + self.lost(count, end))).max(1e-30).ln()
        };
        let guesses: Vec<f64> = self.common.counts.iter().map(guess).collect();
        let out: Vec<f64> = self.common.count_of.iter().map(|&count| guesses[count]).collect();
        let kept = self.kept_odds();
        let keep = |i: usize, g: usize| {
            i.checked_sub(g).and_then(|at| items.get(at)).map_or(NEVER, |item| self.match_odds(i, item, &kept))
        };
        // Inside a long hole, ways with too many gone entries can score higher for a while than the right one.
        let (least, _) = self.reading.gone;
        let rows = |beam| {
            let (band, odds, ends) = Band::follow(n, most, keep, |i| out[i], beam);
            let leads_on = ends.iter().any(|(gone, odds)| (least..=most).contains(gone) && odds.is_finite());
            (leads_on, Rows { band, odds, ends })
        };
        let (leads_on, narrow) = rows(BEAM);
        if leads_on || self.reading.torn == 0 { narrow } else { rows(WIDE_BEAM).1 }
    }

    /// The numbers of entries gone that are likely enough to follow.
    pub fn totals(&self, rows: &Rows) -> Vec<Gone> {
        let (least, most) = self.reading.gone;
        let most = most.min(self.counts.len()).min(MOST_GONE);
        let ends = rows.ends.iter().filter(|(g, _)| (least..=most).contains(g));
        let guess = ends.map(|&(g, odds)| (g, odds + self.tail(g, |_, _| {}))).filter(|(_, odds)| odds.is_finite());
        let Some((from, _)) = guess.max_by(|a, b| a.1.total_cmp(&b.1)) else { return Vec::new() };
        let takers = Takers::new(self);
        if self.counts.len() > LARGE {
            let out = Arc::new(takers.out(from));
            let f = self.forward(most, rows, &out);
            let total = |number| rows.band.get(&f, self.counts.len(), number) + self.tail(number, |_, _| {});
            let all = rows.ends.iter().map(|(number, _)| *number).filter(|number| (least..=most).contains(number));
            let all = all.map(|number| Gone { number, total: total(number), out: Arc::clone(&out) });
            let all: Vec<Gone> = all.filter(|gone| gone.total.is_finite()).collect();
            let best = all.iter().map(|gone| gone.total).fold(NEVER, f64::max);
            return all.into_iter().filter(|gone| gone.total > best - FALLEN).collect();
        }
        let mut best = NEVER;
        let mut all = Vec::new();
        // Away from the best the odds only fall.
        let mut follow = |numbers: &mut dyn Iterator<Item = usize>| {
            let mut worse = 0;
            for number in numbers {
                let out = Arc::new(takers.out(number));
                let total = self.total(number, rows, &out);
                worse = if total.is_none_or(|total| total < best - FALLEN) { worse + 1 } else { 0 };
                if let Some(total) = total {
                    best = best.max(total);
                    all.push(Gone { number, total, out });
                }
                if worse > PATIENCE {
                    break;
                }
            }
        };
        follow(&mut (from..=most));
        follow(&mut (least..from).rev());
        all.retain(|gone| gone.total > best - 2.0 * FALLEN);
        all.sort_by_key(|gone| gone.number);
        all
    }

    /// The odds that [`Self::match_odds`] begins with, which many matches share.
    pub fn kept_odds(&self) -> KeptOdds {
        let Rates { gone, shrunk } = self.rates;
        KeptOdds {
            same: (1.0 - gone - shrunk).max(ORDER.least_kept).ln(),
            shorter: self
                .common
                .counts
                .iter()
                .map(|count| (shrunk / f64::from(count.saturating_sub(1).max(1))).ln())
                .collect(),
        }
    }

    pub fn match_odds(&self, entry: usize, item: &Item, kept: &KeptOdds) -> f64 {
        let count = self.counts[entry];
        let base = match item.count.cmp(&count) {
            std::cmp::Ordering::Greater => return NEVER,
            std::cmp::Ordering::Equal => kept.same,
            std::cmp::Ordering::Less => kept.shorter[self.common.count_of[entry]],
        };
        let Some(block) = item.block else { return base + self.reading.torn_odds };
        let written_again = if item.count < count { rewritten(self.walk, block) } else { 0.0 };
        base + written_again + self.evidence.seam_odds(entry, block)
    }

    /// The items after the table's order when `gone` entries are gone.
    pub fn appended(&self, gone: usize) -> Option<&[Item]> {
        self.reading.items.get(self.counts.len() - gone..)
    }

    /// How well the length of an appended item fits an entry of `count` sectors that is gone.
    pub fn growth_odds(&self, count: u32, item: &Item) -> f64 {
        if item.count > count {
            return 1.0;
        }
        // It shrank before it grew, or afterwards.
        let again = item.block.map_or(1.0, |b| rewritten(self.walk, b).exp().min(1.0));
        ORDER.shrank_first * self.rates.shrunk + ORDER.shrank_later * again
    }

    /// How likely it is that an entry of `count` sectors was taken out and not yet written again, when the last block
    /// ends at `end`: its sectors then follow that a second time.
    pub fn lost(&self, count: u32, end: u32) -> f64 {
        match self.reading.moving {
            Some(moved) if moved == count => ORDER.lost_while_moving,
            Some(_) => ORDER.lost_otherwise,
            None if end + count > self.walk.sectors => ORDER.lost_beyond_end,
            None if end >= 1 && self.walk.same(end - 1, end + count - 1, 1) => ORDER.lost_while_moving,
            None => ORDER.lost_otherwise,
        }
    }

    /// Logarithm of the odds of what follows the table's order when `gone` entries are gone.
    pub fn tail(&self, gone: usize, mut each: impl FnMut(usize, f64)) -> f64 {
        let Some(appended) = self.appended(gone) else { return NEVER };
        let mut total = NEVER;
        let mut fresh = 0.0;
        let mut old: f64 = appended.iter().map(|item| self.old(item)).sum();
        for live in 0..=appended.len() {
            if let Some(item) = live.checked_sub(1).and_then(|l| appended.get(l)) {
                // An appended block is as long as blocks are, and is padded unless it was written once more.
                let again = item.block.is_some_and(|b| !self.walk.blocks[b].padded);
                fresh += self.common.sizes.get(item.count as usize).copied().unwrap_or(ORDER.rare_length_odds);
                fresh += if again { ORDER.unpadded_odds } else { 0.0 };
                old -= self.old(item);
            }
            let lost = gone.saturating_sub(live);
            let new = live - (gone - lost);
            let lost = match lost {
                0 => 0.0,
                1 if self.reading.moving.is_some() => ORDER.first_lost_moving_odds,
                1 => ORDER.first_lost_odds,
                n => ORDER.first_lost_odds + ORDER.next_lost_odds * (n - 1) as f64,
            };
            let odds = lost + new as f64 * ORDER.new_odds + old + fresh;
            each(live, odds);
            total = add_log(total, odds);
        }
        total
    }

    /// Logarithm of the odds that a whole block after the live ones is an old one.
    fn old(&self, item: &Item) -> f64 {
        let Some(block) = item.block else { return 0.0 };
        match self.common.copies[block] {
            true if item.first + item.count > self.table_end => ORDER.old_copy_behind_odds,
            true => ORDER.old_copy_odds,
            false => ORDER.old_odds,
        }
    }

    pub fn forward(&self, gone: usize, rows: &Rows, out: &[f64]) -> Banded {
        let band = &rows.band;
        let mut f = band.nothing();
        band.add(&mut f, 0, 0, 0.0);
        for (i, out) in out.iter().enumerate() {
            for g in band.range(i).take_while(|g| *g <= gone) {
                let at = band.get(&f, i, g);
                if at == NEVER {
                    continue;
                }
                band.add(&mut f, i + 1, g, at + rows.at(i, g));
                if g < gone {
                    band.add(&mut f, i + 1, g + 1, at + out);
                }
            }
        }
        f
    }

    /// The way back from the numbers of entries gone at the end, each with the logarithm of its odds.
    pub fn backward(&self, ends: &[(usize, f64)], rows: &Rows, out: &[f64]) -> Banded {
        let band = &rows.band;
        let mut b = band.nothing();
        let most = ends.iter().map(|end| end.0).max().unwrap_or(0);
        ends.iter().for_each(|&(number, odds)| band.add(&mut b, out.len(), number, odds));
        for (i, out) in out.iter().enumerate().rev() {
            for g in band.range(i).take_while(|g| *g <= most) {
                let keep = band.get(&b, i + 1, g) + rows.at(i, g);
                let take = if g < most { band.get(&b, i + 1, g + 1) + out } else { NEVER };
                band.add(&mut b, i, g, add_log(keep, take));
            }
        }
        b
    }

    fn total(&self, gone: usize, rows: &Rows, out: &[f64]) -> Option<f64> {
        let tail = self.tail(gone, |_, _| {});
        if tail == NEVER {
            return None;
        }
        let f = self.forward(gone, rows, out);
        let total = rows.band.get(&f, self.counts.len(), gone) + tail;
        total.is_finite().then_some(total)
    }
}

/// How likely each entry is gone, by how well its length and its seams fit the appended items.
struct Takers<'p, 'a> {
    pass: &'p Pass<'a>,
    /// For each different count of an entry, sums of [`Pass::growth_odds`] over the whole items from each index up to the number of
    /// entries.
    sums: Vec<Vec<f64>>,
    /// The same over torn items.
    torn: Vec<Vec<f64>>,
    /// The item of each block, if it is among those that may be appended.
    item_of: HashMap<usize, usize>,
}

impl<'p, 'a> Takers<'p, 'a> {
    fn new(pass: &'p Pass<'a>) -> Self {
        let (n, items) = (pass.counts.len(), &pass.reading.items);
        // However many entries are gone, later items do not count.
        let window = &items[..items.len().min(n + 1)];
        let sums_of = |count: u32, torn: bool| {
            let mut sums = vec![0.0; window.len() + 1];
            for (k, item) in window.iter().enumerate().rev() {
                let own = if item.block.is_none() == torn { pass.growth_odds(count, item) } else { 0.0 };
                sums[k] = sums[k + 1] + own;
            }
            sums
        };
        let [sums, torn] =
            [false, true].map(|torn| pass.common.counts.iter().map(|&count| sums_of(count, torn)).collect());
        let item_of = window.iter().enumerate().filter_map(|(k, item)| Some((item.block?, k))).collect();
        Self { pass, sums, torn, item_of }
    }

    /// Logarithms of the odds that each entry is gone when so many are.
    fn out(&self, gone: usize) -> Vec<f64> {
        let pass = self.pass;
        let (n, items) = (pass.counts.len(), &pass.reading.items);
        let from = (n - gone).min(items.len());
        let live = &items[from..items.len().min(n + 1)];
        let size = live.len().max(1) as f64;
        let end = live.last().or_else(|| items.last()).map_or(0, |i| i.first + i.count);
        let lost: Vec<f64> = pass.common.counts.iter().map(|&count| pass.lost(count, end)).collect();
        let each = |(i, &count): (usize, &u32)| {
            let of = pass.common.count_of[i];
            let at = |sums: &[Vec<f64>]| sums[of].get(from).copied().unwrap_or(0.0);
            let row = pass.evidence.row(i);
            let other = against(row.other);
            let compared = row.seams.iter().filter_map(|&(block, seam)| {
                let item = *self.item_of.get(&block).filter(|item| **item >= from)?;
                Some(pass.growth_odds(count, &items[item]) * (against(seam * row.by) - other))
            });
            let found = at(&self.sums) * other + at(&self.torn) + compared.sum::<f64>();
            (pass.rates.gone * (found.max(0.0) / size + lost[of])).max(1e-30).ln()
        };
        pass.counts.iter().enumerate().map(each).collect()
    }
}

/// Logarithm of the odds that a block was written over a longer one, by what follows it in its last sector: the
/// engine pads what it appends with zeros, and what it writes again not at all.
fn rewritten(walk: &Walk, block: usize) -> f64 {
    let b = &walk.blocks[block];
    match (b.padded, b.slack) {
        (_, 0) => 0.0,
        (false, _) => ORDER.unpadded,
        (true, _) if b.plain => ORDER.padded_plain,
        (true, n) => ORDER.padded_byte * f64::from(n.min(8)),
    }
}
