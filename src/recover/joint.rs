//! Whole assignments of a region compared with each other.
//!
//! The passes take each match for itself, with the likely blocks of its neighbours; where a few assignments are each
//! consistent in themselves that can talk itself into a wrong one. So assignments are drawn from what the passes think
//! likely, and weighed by everything that is known of them at once: the order, the lengths, and every seam between the
//! very blocks that they put side by side.

use std::collections::HashMap;
use std::sync::Arc;

use crate::recover::band::Banded;
use crate::recover::evidence::{self, Evidence, Nothing};
use crate::recover::pass::{Common, Gone, NEVER, Pass, Rows, add_log};
use crate::recover::random::Random;
use crate::recover::reading::Reading;
use crate::recover::region::{Candidate, Case, EntryOptions, State};
use crate::recover::solver::{Neighbour, Solver};
use crate::recover::weights::ORDER;

/// Assignments that are drawn.
const DRAWS: usize = 600;

/// How far the passes are believed when assignments are drawn.
const TRUSTS: [f64; 3] = [1.0, 0.4, 0.0];

/// Parts of a pass below this share are not drawn from.
const LEAST: f64 = 1e-7;

/// Probability from which on nothing is left open.
const SURE: f64 = 0.9999;

/// What became of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It is the item of that index, in its old order.
    Kept(usize),
    /// It was taken out and is the item of that index.
    Moved(usize),
    /// It was taken out, and is not there.
    Lost,
}

/// An assignment of a whole region.
struct Assignment {
    reading: usize,
    gone: usize,
    live: usize,
    fates: Vec<Fate>,
}

/// A reading with a number of entries that are gone.
struct Part {
    reading: usize,
    gone: usize,
    /// Logarithm of its share.
    share: f64,
    forward: Banded,
    out: Arc<Vec<f64>>,
}

/// Something to draw assignments from.
struct Origin<'o> {
    case: &'o Case,
    state: &'o State,
    counts: &'o [u32],
    common: &'o Common,
    evidence: &'o dyn Evidence,
    /// Of each reading.
    rows: Vec<Rows>,
    parts: Vec<Part>,
}

impl<'o> Origin<'o> {
    fn new(
        case: &'o Case,
        state: &'o State,
        counts: &'o [u32],
        common: &'o Common,
        evidence: &'o dyn Evidence,
    ) -> Self {
        let mut origin = Self { case, state, counts, common, evidence, rows: Vec::new(), parts: Vec::new() };
        let mut all: Vec<(f64, usize, Gone)> = Vec::new();
        for (n, reading) in state.readings.iter().enumerate() {
            let pass = origin.pass(reading);
            let rows = pass.matches();
            all.extend(pass.totals(&rows).into_iter().map(|gone| (gone.total + reading.prior, n, gone)));
            origin.rows.push(rows);
        }
        let best = all.iter().map(|part| part.0).fold(NEVER, f64::max);
        let sum = all.iter().map(|part| (part.0 - best).exp()).sum::<f64>().ln() + best;
        for (total, n, Gone { number: gone, out, .. }) in all.into_iter().filter(|part| (part.0 - sum).exp() > LEAST) {
            let forward = origin.pass(&state.readings[n]).forward(gone, &origin.rows[n], &out);
            origin.parts.push(Part { reading: n, gone, share: total - sum, forward, out });
        }
        origin
    }

    fn pass(&self, reading: &'o Reading) -> Pass<'o> {
        Pass {
            counts: self.counts,
            walk: &self.case.walk,
            reading,
            rates: self.state.rates,
            table_end: self.case.table_end(),
            evidence: self.evidence,
            common: self.common,
        }
    }

    /// How well the appended items go with the entries that are gone, and with none of them.
    fn claims(&self, pass: &Pass<'_>, item: usize, gone: &[usize]) -> Vec<f64> {
        let item = &pass.reading.items[item];
        let each = |&i: &usize| {
            let seam = item.block.map_or(0.0, |block| self.evidence.seam_odds(i, block));
            pass.growth_odds(self.counts[i], item) * seam.clamp(-ORDER.seam_clip, ORDER.seam_clip).exp()
        };
        gone.iter().map(each).chain([ORDER.no_entry]).collect()
    }

    fn draw(&self, random: &mut Random) -> Option<Assignment> {
        let part = &self.parts[random.pick(self.parts.iter().map(|part| part.share.exp()))?];
        let pass = self.pass(&self.state.readings[part.reading]);
        let (n, rows) = (self.counts.len(), &self.rows[part.reading]);
        let mut fates = vec![Fate::Lost; n];
        let mut g = part.gone;
        let mut gone = Vec::new();
        for i in (0..n).rev() {
            let before = |g: usize| rows.band.get(&part.forward, i, g);
            let keep = before(g) + rows.at(i, g);
            let take = if g > 0 { before(g - 1) + part.out[i] } else { NEVER };
            let all = add_log(keep, take);
            if random.share() < (keep - all).exp() {
                fates[i] = Fate::Kept(i - g);
            } else {
                g -= 1;
                gone.push(i);
            }
        }
        gone.reverse();
        let mut tails = Vec::new();
        let total = pass.tail(part.gone, |_, odds| tails.push(odds));
        let live = random.pick(tails.iter().map(|odds| (odds - total).exp()))?;
        for item in n - part.gone..n - part.gone + live {
            let claims = self.claims(&pass, item, &gone);
            let one = random.pick(claims.iter().copied())?;
            if one < gone.len() {
                fates[gone.remove(one)] = Fate::Moved(item);
            }
        }
        Some(Assignment { reading: part.reading, gone: part.gone, live, fates })
    }

    /// Logarithm of the probability that an assignment is drawn.
    fn density(&self, drawn: &Assignment) -> f64 {
        let Some(part) = self.parts.iter().find(|p| (p.reading, p.gone) == (drawn.reading, drawn.gone)) else {
            return NEVER;
        };
        let pass = self.pass(&self.state.readings[part.reading]);
        let n = self.counts.len();
        let mut gone = Vec::new();
        let rows = &self.rows[part.reading];
        let mut sum = part.share - rows.band.get(&part.forward, n, part.gone);
        let mut taken = HashMap::new();
        for (i, fate) in drawn.fates.iter().enumerate() {
            match fate {
                Fate::Kept(item) => sum += rows.at(i, i - item),
                Fate::Moved(item) => {
                    taken.insert(*item, i);
                    gone.push(i);
                    sum += part.out[i];
                }
                Fate::Lost => {
                    gone.push(i);
                    sum += part.out[i];
                }
            }
        }
        let mut tails = Vec::new();
        let total = pass.tail(part.gone, |_, odds| tails.push(odds));
        sum += tails[drawn.live] - total;
        for item in n - part.gone..n - part.gone + drawn.live {
            let claims = self.claims(&pass, item, &gone);
            let one = taken.get(&item).and_then(|i| gone.iter().position(|g| g == i)).unwrap_or(gone.len());
            sum += (claims[one] / claims.iter().sum::<f64>()).ln();
            if one < gone.len() {
                gone.remove(one);
            }
        }
        sum
    }
}

/// The seams of the very blocks that an assignment puts side by side.
struct Seams<'s> {
    solver: &'s Solver<'s>,
    r: usize,
    near: Vec<Vec<Neighbour>>,
    outside: HashMap<(usize, usize), f64>,
    inside: HashMap<(usize, usize, usize), f64>,
    cache: HashMap<(usize, usize, usize, usize, bool), f64>,
}

impl Seams<'_> {
    fn sum(&mut self, blocks: &[Option<usize>]) -> f64 {
        let (solver, r) = (self.solver, self.r);
        let mut sum = 0.0;
        for (i, block) in blocks.iter().enumerate() {
            let Some(block) = *block else { continue };
            for &(at, axis, _) in self.near[i].iter().filter(|(at, _, upper)| at.0 == r && *upper) {
                let Some(other) = blocks[at.1] else { continue };
                sum += *self
                    .inside
                    .entry((block, other, axis))
                    .or_insert_with(|| solver.odds_of((r, block), (r, other), axis));
            }
            let (near, cache) = (&self.near[i], &mut self.cache);
            sum += *self.outside.entry((i, block)).or_insert_with(|| {
                near.iter().filter(|near| near.0.0 != r).map(|near| solver.fit_entry(r, block, *near, cache)).sum()
            });
        }
        sum
    }
}

/// Logarithm of how likely an assignment is by the order and the lengths.
fn order(case: &Case, state: &State, counts: &[u32], common: &Common, drawn: &Assignment) -> f64 {
    let reading = &state.readings[drawn.reading];
    let (rates, table_end) = (state.rates, case.table_end());
    let pass = Pass { counts, walk: &case.walk, reading, rates, table_end, evidence: &Nothing, common };
    let appended = pass.appended(drawn.gone).unwrap_or_default();
    let window = appended.get(..drawn.gone + 1).unwrap_or(appended);
    let end = window.last().or_else(|| reading.items.last()).map_or(0, |item| item.first + item.count);
    let each = window.len().max(1) as f64;
    let kept = pass.kept_odds();
    let mut sum = reading.prior;
    let mut moved = 0;
    for (i, fate) in drawn.fates.iter().enumerate() {
        sum += match *fate {
            Fate::Kept(item) => pass.match_odds(i, &reading.items[item], &kept),
            Fate::Moved(item) => {
                moved += 1;
                (rates.gone * pass.growth_odds(counts[i], &reading.items[item]) / each).max(1e-30).ln()
            }
            Fate::Lost => (rates.gone * pass.lost(counts[i], end)).max(1e-30).ln(),
        };
    }
    let mut tails = Vec::new();
    pass.tail(drawn.gone, |_, odds| tails.push(odds));
    // The tail counts as few lost and new ones as there can be.
    let more = drawn.live.min(drawn.gone).saturating_sub(moved);
    sum + tails[drawn.live] + ORDER.unassigned_odds * more as f64
}

/// The possible blocks of every entry of a region by whole assignments; `None` when nothing is left open in it.
pub(super) fn options(solver: &Solver<'_>, r: usize) -> Option<EntryOptions> {
    let (case, state) = (solver.cases[r], &solver.states[r]);
    let open = |i: usize| state.best(case, i).is_none_or(|(_, p)| p < SURE) && state.posterior.torn[i] < SURE;
    if state.is_solved() || !(0..case.entries.len()).any(open) {
        return None;
    }
    let counts: Vec<u32> = case.entries.iter().map(|e| e.count).collect();
    let common = Common::new(&counts, &case.walk);
    let tempered = TRUSTS.map(|by| evidence::Seams { rows: &state.seams, by });
    let origins: Vec<Origin<'_>> =
        tempered.iter().map(|evidence| Origin::new(case, state, &counts, &common, evidence)).collect();
    let near = case.entries.iter().map(|entry| solver.near(case.lod, entry.position)).collect();
    let mut seams = Seams { solver, r, near, outside: HashMap::new(), inside: HashMap::new(), cache: HashMap::new() };
    let mut random = Random::from_state(0x9e37_79b9_7f4a_7c15 ^ (r as u64 + 1));
    let draws = (100_000 / counts.len().max(1)).clamp(60, DRAWS);
    let mut weighed = Vec::with_capacity(draws);
    for n in 0..draws {
        let Some(drawn) = origins[n % origins.len()].draw(&mut random) else { continue };
        let items = &state.readings[drawn.reading].items;
        let blocks: Vec<Option<usize>> = drawn
            .fates
            .iter()
            .map(|fate| match *fate {
                Fate::Kept(item) | Fate::Moved(item) => items[item].block,
                Fate::Lost => None,
            })
            .collect();
        let target = order(case, state, &counts, &common, &drawn) + seams.sum(&blocks);
        let density = origins.iter().map(|origin| origin.density(&drawn)).fold(NEVER, add_log);
        weighed.push((target - density, drawn, blocks));
    }
    let best = weighed.iter().map(|w| w.0).fold(NEVER, f64::max);
    if !best.is_finite() {
        return None;
    }
    let sum: f64 = weighed.iter().map(|w| (w.0 - best).exp()).sum();
    let mut options: EntryOptions = vec![Vec::new(); counts.len()];
    for (weight, drawn, blocks) in &weighed {
        let p = (weight - best).exp() / sum;
        for (i, block) in blocks.iter().enumerate() {
            let Some(block) = *block else { continue };
            let moved = matches!(drawn.fates[i], Fate::Moved(_));
            match options[i].iter_mut().find(|o| (o.block, o.moved) == (block, moved)) {
                Some(option) => option.p += p,
                None => options[i].push(Candidate { block, p, moved }),
            }
        }
    }
    for list in &mut options {
        list.sort_unstable_by(|a, b| b.p.total_cmp(&a.p).then(a.block.cmp(&b.block)));
    }
    Some(options)
}
