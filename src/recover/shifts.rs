//! Blocks that lie as far from their entries as the blocks beside them.
//!
//! Where a table and the sectors are of different moments, whole runs of blocks lie at the same distance from their
//! entries: each block that was taken out moved all those behind it. After a power loss each page of the file shows a
//! moment of its own, so the distance changes back and forth from page to page, and no single order of removals explains
//! all of it. Here the distance is followed from block to block (forward and backward over a chain of few distances), so
//! that a block without other evidence, such as one of air, takes the distance of its neighbours.

use std::collections::{HashMap, HashSet};

use crate::recover::decide::Certainty;
use crate::recover::in_order;
use crate::recover::region::{Case, Listing};
use crate::recover::weights::SHIFT;

/// The most pairs of a block and an entry of its length that are counted.
const MOST_PAIRS: usize = 1 << 24;

/// Distances that are followed: those that most blocks support.
const DISTANCES: usize = 48;

/// Where blocks belong by their distance from the entries.
#[derive(Debug, Default)]
pub(super) struct Shifts {
    /// For each block, slots with log-odds.
    hints: Vec<Vec<(u32, f64)>>,
    /// Slots and blocks that are taken for right.
    pub sure: Vec<(u32, usize)>,
    /// Those that are taken for right only if the sectors are not of one moment.
    if_mixed: Vec<(u32, usize)>,
    /// Whether the sectors are not of one moment, so that neither their order nor an entry alone says much.
    pub is_mixed: bool,
    /// Whether two programs may have written to the region, each with blocks of its own beside those of the other.
    of_two: bool,
}

impl Shifts {
    /// Follows the distances of a region's blocks from its entries.
    pub fn find(case: &Case) -> Self {
        let Some(lengths) = Lengths::count(case) else { return Self::default() };
        let places = Places::new(case, &lengths);
        let supported = lengths.supported(case);
        let distances = chosen(supported.iter().copied());
        if distances.is_empty() {
            return Self::default();
        }
        let odds = places.odds(&distances);
        let of_pages = places.found(&distances, &odds, &follow(&odds), false);
        // Another program moves blocks only towards the beginning of the file.
        let distances = chosen(supported.into_iter().filter(|distance| *distance <= 0));
        let odds = places.odds(&distances);
        let firsts: Vec<u32> = case.walk.blocks.iter().map(|block| block.first).collect();
        let shares = in_order::follow(&firsts, &distances, &odds, &places.run_odds(&distances, &odds));
        if !places.shows_two(&distances, &odds, &shares, &of_pages) {
            return of_pages;
        }
        places.found(&distances, &odds, &shares, true)
    }

    /// The slots that a block belongs to by its distance, with log-odds.
    pub fn of(&self, block: usize) -> &[(u32, f64)] {
        self.hints.get(block).map_or(&[], Vec::as_slice)
    }

    /// Compares with slots and blocks that are certain otherwise, and decides whether the sectors are of one moment.
    pub fn compare(&mut self, case: &Case, certain: &[(u32, usize)]) {
        let by_slot: HashMap<u32, usize> = self.sure.iter().copied().collect();
        let by_block: HashMap<usize, u32> = self.sure.iter().map(|&(slot, block)| (block, slot)).collect();
        let is_other = |&(slot, block): &(u32, usize)| {
            let there = by_slot.get(&slot).is_some_and(|&other| case.content(other) != case.content(block));
            there || by_block.get(&block).is_some_and(|other| *other != slot)
        };
        let contradictions = certain.iter().filter(|pair| is_other(pair)).count();
        // In a large region, blocks of one sector are too many to be told apart by their distances alone.
        let is_enough = !case.is_large() || 2 * self.sure.len() > case.walk.blocks.len();
        self.is_mixed =
            is_enough && (self.of_two || self.sure.len() > certain.len() || contradictions >= SHIFT.contradictions);
        if self.is_mixed {
            self.add_less_sure(certain);
        }
    }

    /// Adds what is taken for right where the order is not asked: what is certain otherwise and agrees with the distances, and
    /// blocks of common lengths.
    fn add_less_sure(&mut self, certain: &[(u32, usize)]) {
        let agrees =
            |&(slot, block): &(u32, usize)| self.of(block).iter().any(|(of, odds)| *of == slot && *odds >= SHIFT.clear);
        let agreed: Vec<(u32, usize)> = certain.iter().copied().filter(agrees).collect();
        for more in [agreed, std::mem::take(&mut self.if_mixed)] {
            let slots: HashSet<u32> = self.sure.iter().map(|(slot, _)| *slot).collect();
            let blocks: HashSet<usize> = self.sure.iter().map(|(_, block)| *block).collect();
            self.sure.extend(more.iter().filter(|(slot, block)| !slots.contains(slot) && !blocks.contains(block)));
        }
        self.sure.sort_unstable();
    }

    /// Whether the distance of a block says to which slots it belongs, in a region of several moments.
    pub fn leads(&self, block: usize) -> bool {
        self.is_mixed && self.of(block).iter().any(|(_, odds)| *odds >= SHIFT.clear)
    }

    /// How sure the place of a block is at most.
    pub fn most(&self, slot: u32, block: usize) -> Certainty {
        let own = self.of(block).iter().find(|(other, _)| *other == slot).map(|(_, odds)| *odds);
        match own {
            // The terrain of two programs may differ, so that seams between their blocks are no evidence.
            Some(odds) if self.of_two && self.is_mixed && odds < SHIFT.clear => Certainty::Candidate,
            Some(odds) if self.of_two && self.is_mixed && odds < SHIFT.alone => Certainty::Likely,
            None if self.of_two && self.is_mixed => Certainty::Candidate,
            _ if self.disagrees(slot, block) => Certainty::Candidate,
            _ => Certainty::Certain,
        }
    }

    /// Whether the distance of a block leads to other slots than this one.
    fn disagrees(&self, slot: u32, block: usize) -> bool {
        self.leads(block) && self.of(block).iter().all(|(other, _)| *other != slot)
    }
}

/// Where the blocks of a region belong at each distance.
struct Places<'c> {
    case: &'c Case,
    lengths: &'c Lengths,
    by_first: HashMap<u32, Vec<&'c Listing>>,
}

impl<'c> Places<'c> {
    fn new(case: &'c Case, lengths: &'c Lengths) -> Self {
        let mut by_first: HashMap<u32, Vec<&Listing>> = HashMap::new();
        case.entries.iter().for_each(|entry| by_first.entry(entry.first).or_default().push(entry));
        Self { case, lengths, by_first }
    }

    /// The entry that leads to so far before a block; of several, the one of its length.
    fn entry(&self, block: usize, distance: i64) -> Option<&'c Listing> {
        let count = self.case.walk.blocks[block].count;
        let first = u32::try_from(i64::from(self.case.walk.blocks[block].first) - distance).ok()?;
        let all = self.by_first.get(&first)?.iter().filter(|entry| entry.count >= count);
        all.copied().min_by_key(|entry| (entry.count, entry.slot))
    }

    /// For each block how much likelier each distance makes what is there; the last one is that of a block at none of them.
    fn odds(&self, distances: &[i64]) -> Vec<Vec<f64>> {
        let blocks = &self.case.walk.blocks;
        let odds =
            |(block, distance): (usize, &i64)| self.lengths.odds(blocks[block].count, self.entry(block, *distance));
        let all = |block| distances.iter().map(|distance| odds((block, distance))).chain([1.0]).collect();
        (0..blocks.len()).map(all).collect()
    }

    /// The same if the block before is at the same distance. If its entry leads to that block, the next entry begins right behind it in
    /// any case: only the length of that entry is evidence.
    fn run_odds(&self, distances: &[i64], odds: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let blocks = &self.case.walk.blocks;
        let run = |block: usize| -> Vec<f64> {
            let before = block.checked_sub(1).filter(|&before| blocks[before].end() == blocks[block].first);
            let is_run = |distance: i64| {
                let led = before.and_then(|before| Some((before, self.entry(before, distance)?)));
                led.is_some_and(|(before, entry)| entry.count == blocks[before].count)
            };
            let of = |(&distance, &odds): (&i64, &f64)| match is_run(distance) {
                true => self.lengths.odds_behind(blocks[block].count, self.entry(block, distance)),
                false => odds,
            };
            distances.iter().zip(&odds[block]).map(of).collect()
        };
        (0..blocks.len()).map(run).collect()
    }

    /// Sectors between two that no entry of the table points to: blocks there may have lost their entries.
    fn gap(&self, from: u32, to: u32) -> u32 {
        let entries = &self.case.entries;
        let at = entries.partition_point(|entry| entry.first < from);
        let listed: u32 = entries[at..].iter().take_while(|entry| entry.first < to).map(|entry| entry.count).sum();
        to.saturating_sub(from).saturating_sub(listed)
    }

    /// Whether two programs may have written to the region: the distance changes back and forth, and blocks of another table are
    /// between those of this one. If a game is killed, blocks are the farther from their entries the farther behind they are, and pages
    /// of other moments hold blocks of this table.
    fn shows_two(&self, distances: &[i64], odds: &[Vec<f64>], shares: &[Vec<f64>], of_pages: &Shifts) -> bool {
        let place = |block: usize| {
            let at = shares[block].iter().position(|p| *p >= SHIFT.shown)?;
            let distance = distances.get(at).filter(|_| odds[block][at] > 1.0)?;
            Some((block, *distance, self.entry(block, *distance)?))
        };
        let known: Vec<(usize, i64, &Listing)> = (0..shares.len()).filter_map(place).collect();
        let is_uncommon =
            |&&(block, ..): &&(usize, i64, &Listing)| self.lengths.is_uncommon(self.case.walk.blocks[block].count);
        let uncommon: Vec<i64> = known.iter().filter(is_uncommon).map(|(_, distance, _)| *distance).collect();
        let returns = uncommon.windows(2).filter(|pair| pair[1] > pair[0]).count();
        let inside = known.last().map_or(0, |(last, ..)| last + 1);
        let is_other = |&block: &usize| {
            let at = known.partition_point(|(other, ..)| *other < block);
            let from = at.checked_sub(1).map_or(0, |at| known[at].2.first + known[at].2.count);
            let to = known.get(at).filter(|(other, ..)| *other != block).map(|(.., entry)| entry.first);
            to.is_some_and(|to| self.case.walk.blocks[block].count > self.gap(from, to))
        };
        let others = (0..inside).filter(is_other).count();
        let firsts: HashMap<u32, u32> = self.case.entries.iter().map(|entry| (entry.slot, entry.first)).collect();
        let is_behind = |&&(slot, block): &&(u32, usize)| {
            firsts.get(&slot).is_some_and(|first| *first < self.case.walk.blocks[block].first)
        };
        let behind = of_pages.sure.iter().filter(is_behind).count();
        let [few, many] = SHIFT.others;
        (returns >= SHIFT.returns || (returns > 0 && others >= many))
            && others >= few
            && others as f64 >= SHIFT.share_of_others * inside as f64
            && (behind as f64) < (SHIFT.share_of_others * of_pages.sure.len() as f64).max(few as f64)
    }

    /// What the probabilities of the distances say of each block.
    fn found(&self, distances: &[i64], odds: &[Vec<f64>], shares: &[Vec<f64>], of_two: bool) -> Shifts {
        let mut found = Shifts { hints: vec![Vec::new(); odds.len()], of_two, ..Shifts::default() };
        // A few blocks may be at one distance by chance.
        let blocks = |k: usize| shares.iter().filter_map(|of| of.get(k)).sum::<f64>();
        let is_few: Vec<bool> = (0..distances.len()).map(|k| of_two && blocks(k) < SHIFT.support).collect();
        for (block, shares) in shares.iter().enumerate() {
            for (k, (&distance, &p)) in
                distances.iter().zip(shares).enumerate().filter(|(_, (_, p))| **p >= SHIFT.least)
            {
                let Some(entry) = self.entry(block, distance) else { continue };
                let own = odds[block][k];
                let likely = p * (1.0 - (SHIFT.another / own).min(0.5));
                let most = if is_few[k] { SHIFT.few } else { SHIFT.most };
                found.hints[block].push((entry.slot, (likely / (1.0 - likely)).ln().min(most)));
                let is = |(uncommon, sure): (f64, f64)| !is_few[k] && own >= uncommon && p >= sure;
                if is(SHIFT.sure) {
                    found.sure.push((entry.slot, block));
                } else if is(SHIFT.sure_if_mixed) {
                    found.if_mixed.push((entry.slot, block));
                }
            }
        }
        // Of two blocks for one slot, at most one is right.
        let mut blocks: HashMap<u32, usize> = HashMap::new();
        found.sure.iter().chain(&found.if_mixed).for_each(|(slot, _)| *blocks.entry(*slot).or_default() += 1);
        found.sure.retain(|(slot, _)| blocks[slot] == 1);
        found.if_mixed.retain(|(slot, _)| blocks[slot] == 1);
        found
    }
}

/// How common lengths are among the entries, as shares of all sectors.
pub(super) struct Lengths {
    /// Entries of exactly so many sectors.
    same: Vec<f64>,
    /// Entries of more sectors.
    longer: Vec<f64>,
}

impl Lengths {
    /// `None` where there is nothing to compare, or too much.
    pub fn count(case: &Case) -> Option<Self> {
        let sectors = f64::from(case.walk.sectors.max(case.table_end()).max(1));
        let all = || case.entries.iter().map(|e| e.count).chain(case.walk.blocks.iter().map(|b| b.count));
        let most = all().max()? as usize;
        let mut entries = vec![0usize; most + 1];
        case.entries.iter().for_each(|entry| entries[entry.count as usize] += 1);
        let pairs: usize = case.walk.blocks.iter().map(|block| entries[block.count as usize]).sum();
        if pairs == 0 || pairs > MOST_PAIRS {
            return None;
        }
        let same: Vec<f64> = entries.iter().map(|&n| (n as f64 + 0.5) / sectors).collect();
        let mut longer = vec![0.5 / sectors; most + 1];
        for count in (0..most).rev() {
            longer[count] = longer[count + 1] + entries[count + 1] as f64 / sectors;
        }
        Some(Self { same, longer })
    }

    /// Whether so few blocks have a length that an entry of it which leads to one is hardly there by chance.
    pub fn is_uncommon(&self, count: u32) -> bool {
        SHIFT.same_length / self.same[count as usize] >= SHIFT.sure.0
    }

    /// How much likelier the entry that leads to a block is where the distance is right than by chance.
    fn odds(&self, count: u32, entry: Option<&Listing>) -> f64 {
        odds(count, entry, self.same[count as usize], self.longer[count as usize])
    }

    /// The same behind a block that its own entry leads to, where the next entry begins in any case.
    fn odds_behind(&self, count: u32, entry: Option<&Listing>) -> f64 {
        let all = self.longer[0].max(f64::MIN_POSITIVE);
        let [same, longer] = [&self.same, &self.longer].map(|of| (of[count as usize] / all).min(0.9));
        odds(count, entry, same, longer)
    }

    /// The distances that enough blocks support, the best supported ones first.
    fn supported(&self, case: &Case) -> Vec<i64> {
        let mut entries: HashMap<u32, Vec<u32>> = HashMap::new();
        case.entries.iter().for_each(|entry| entries.entry(entry.count).or_default().push(entry.first));
        let zero = i64::from(case.table_end());
        let mut support = vec![0f32; (zero + i64::from(case.walk.sectors) + 1).try_into().unwrap_or(0)];
        for block in &case.walk.blocks {
            let gain = (SHIFT.same_length / self.same[block.count as usize]).ln() as f32;
            for &first in entries.get(&block.count).map_or(&[][..], Vec::as_slice) {
                let at = usize::try_from(i64::from(block.first) - i64::from(first) + zero);
                if let Some(support) = at.ok().and_then(|at| support.get_mut(at)) {
                    *support += gain.max(0.0);
                }
            }
        }
        let mut all: Vec<(f32, i64)> = support
            .iter()
            .zip(-zero..)
            .map(|(support, at)| (*support, at))
            .filter(|(s, _)| f64::from(*s) >= SHIFT.least_support)
            .collect();
        all.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.abs().cmp(&b.1.abs())).then(a.1.cmp(&b.1)));
        all.into_iter().map(|(_, at)| at).collect()
    }
}

/// The first of some distances, as many as are followed, in order.
fn chosen(supported: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut distances: Vec<i64> = supported.take(DISTANCES).collect();
    distances.sort_unstable();
    distances
}

/// How much likelier an entry, or none, is where the distance is right than by chance: `same` and `longer` are the chances of an entry of
/// `count` sectors and of a longer one.
fn odds(count: u32, entry: Option<&Listing>, same: f64, longer: f64) -> f64 {
    match entry {
        Some(entry) if entry.count == count => SHIFT.same_length / same,
        Some(_) => SHIFT.shorter / longer,
        None => (1.0 - SHIFT.same_length - SHIFT.shorter) / (1.0 - same - longer).max(0.05),
    }
}

/// The probability of each state at each step, from how much likelier each makes what is there.
fn follow(odds: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let states = odds.first().map_or(0, Vec::len);
    let step = |from: &[f64]| -> Vec<f64> {
        let sum: f64 = from.iter().sum();
        let change = (1.0 - SHIFT.stay) / states as f64;
        from.iter().map(|p| p * SHIFT.stay + sum * change).collect()
    };
    let scale = |mut of: Vec<f64>| {
        in_order::scale(&mut of);
        of
    };
    let start = vec![1.0 / states as f64; states];
    let mut before = start.clone();
    let mut shares: Vec<Vec<f64>> = Vec::with_capacity(odds.len());
    for here in odds {
        before = scale(step(&before).iter().zip(here).map(|(p, odds)| p * odds).collect());
        shares.push(before.clone());
    }
    let mut behind = start;
    for (share, here) in shares.iter_mut().zip(odds).rev() {
        *share = scale(share.iter().zip(&behind).map(|(p, q)| p * q).collect());
        behind = scale(step(&behind.iter().zip(here).map(|(p, odds)| p * odds).collect::<Vec<_>>()));
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::godot::slots::SlotFormula;
    use crate::recover::walk::{Walk, Walked};
    use crate::save::SlotPositions;

    /// A table of blocks of these lengths in a row, and those of the blocks that lie so far from their entries.
    fn case(lengths: &[u32], distances: &[Option<i64>]) -> Case {
        let (mut entries, mut blocks, mut at) = (Vec::new(), Vec::new(), 0);
        for (slot, (&count, distance)) in (0..).zip(lengths.iter().zip(distances)) {
            entries.push(Listing { slot, first: at, count, position: [0; 3] });
            let first = distance.map(|distance| u32::try_from(i64::from(at) + distance).unwrap());
            blocks.extend(first.map(|first| Walked::whole(first, count, slot.into())));
            at += count;
        }
        let mut walk = Walk::default();
        (walk.blocks, walk.sectors) = (blocks, at);
        let shape = SlotPositions { region: [0; 3], size: [8; 3], formula: SlotFormula::Euclidean };
        Case { lod: 0, shape, raw: Vec::new(), entries, walk, gap: 0, taken: Default::default() }
    }

    const LENGTHS: [u32; 14] = [5, 3, 9, 1, 7, 2, 8, 4, 1, 6, 3, 9, 5, 2];

    #[test]
    fn blocks_take_the_distance_of_those_beside_them() {
        // Pages of two moments; two blocks were torn between them.
        let far = Some(-2);
        let here = Some(0);
        let distances = [here, here, here, here, None, far, far, far, far, far, None, here, here, here];
        let case = case(&LENGTHS, &distances);
        let mut shifts = Shifts::find(&case);
        for (block, walked) in case.walk.blocks.iter().enumerate() {
            let found: Vec<u128> = shifts.of(block).iter().map(|(slot, _)| u128::from(*slot)).collect();
            assert_eq!(found, [walked.content]);
        }
        // An order that puts blocks elsewhere is not believed.
        shifts.compare(&case, &[(2, 1), (6, 6), (7, 7)]);
        assert!(shifts.is_mixed);
        assert!(shifts.disagrees(2, 1) && !shifts.disagrees(1, 1));
    }

    #[test]
    fn blocks_of_one_length_say_nothing() {
        let case = case(&[1; 14], &[Some(0); 14]);
        let mut shifts = Shifts::find(&case);
        shifts.compare(&case, &[]);
        assert!(!shifts.is_mixed);
    }
}
