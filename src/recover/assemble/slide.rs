//! Entries that moved along by one slot: a value was put into the table or taken out of it.
//!
//! Where an entry is repeated in the next slot, those behind it may have moved on, up to one that was overwritten, or
//! those before it may have moved back. Each slot at which the range may end is weighed by the seams of all blocks that
//! would move. Where the end stays open, so do the places of the blocks beside it.

use std::collections::{HashMap, HashSet};

use crate::parallel;
use crate::recover::assemble::board::{Board, Node};
use crate::recover::assemble::links::{Link, around};
use crate::recover::assemble::{Assembled, Moved, Start};
use crate::recover::decide::{Certainty, Placed};
use crate::recover::torn_table::own;
use crate::recover::weights::Weights;

/// What a repeated entry means, before any seam is looked at, and once all entries behind one moved on in another region: what
/// damages one table often does the same to others. Chosen.
const PRIOR: Prior = Prior { none: 0.3, all: 0.8, behind: 0.2, before: 0.1 };
const PRIOR_ONCE_SEEN: Prior = Prior { none: 0.003, all: 0.8, behind: 0.002, before: 0.001 };

/// The probability from which on an entry is moved back, and the one up to which it is not in doubt. Chosen.
pub(super) const MOVED: f64 = 0.9999;
pub(super) const IN_DOUBT: f64 = 0.01;

/// Of the blocks before a repeated entry one of so many at least did not move. If all of them move on, their seams with each other
/// fit as well as if all behind moved back, and the others tell little while the seams of a whole table are wrong. Chosen.
const UNMOVED: usize = 4;

/// Log-odds that one entry changed rather than that many moved, where a small change explains all. Chosen: single values change far more
/// often.
const ONE_CHANGED: f64 = 10.0;

/// The most repeated entries, and the most blocks without an entry, that are weighed.
const REPEATED: usize = 64;
const UNOWNED: usize = 64;

/// Log-odds of a seam sum that are believed at most where a block is tried at the end of a range. Chosen.
const MOST: f64 = 9.0;

/// How often a repeated entry has which cause.
#[derive(Clone, Copy)]
struct Prior {
    /// Nothing moved along.
    none: f64,
    /// All entries behind it moved on.
    all: f64,
    /// Some entries behind it moved on.
    behind: f64,
    /// Entries before it moved back.
    before: f64,
}

/// What moved.
struct Slide {
    /// Blocks that may have moved as well.
    open: Vec<Moved>,
    /// Whether all entries behind a repeated one moved on.
    is_whole: bool,
    /// The first and the last slot of those that moved back.
    slots: Option<(u32, u32)>,
}

/// What came of the entries of all regions that may have moved along.
#[derive(Debug)]
pub(super) struct Along {
    /// Blocks that may have moved, to be placed with the others.
    pub open: Vec<Moved>,
    /// For each region the first and the last slot of those that moved back.
    pub back: Vec<Option<(u32, u32)>>,
    /// For each region slots that nothing decides, and how likely their entries stayed.
    pub doubts: Vec<HashMap<u32, f64>>,
}

/// The blocks of a region by their positions.
pub(super) type Blocks = HashMap<[i32; 3], usize>;

/// A block that may have moved along.
struct Move {
    slot: u32,
    block: usize,
    /// The slot that it came from.
    to: u32,
    p: f64,
}

impl Board<'_> {
    /// Moves entries of all regions back that moved along. `learn` learns the seams anew: they are learned from what is in wrong
    /// places too, so each region that is put right says more about the others.
    pub fn move_all_back(&mut self, starts: &mut [Start], learn: impl Fn(&mut Self)) -> Along {
        let mut repeated: Vec<usize> = (0..starts.len()).filter(|&r| !starts[r].repeated.is_empty()).collect();
        let (mut open, mut is_seen) = (Vec::new(), false);
        let (mut back, mut doubts) = (vec![None; starts.len()], vec![HashMap::new(); starts.len()]);
        while !repeated.is_empty() {
            self.count_beside();
            let before = repeated.len();
            repeated.retain(|&r| {
                let Some(slide) = self.move_back(r, &mut starts[r], is_seen) else { return true };
                open.extend(slide.open);
                is_seen |= slide.is_whole;
                back[r] = slide.slots;
                false
            });
            if repeated.len() == before {
                break;
            }
            learn(self);
        }
        for r in repeated {
            doubts[r] = self.doubt_stayed(r, &starts[r], is_seen);
        }
        Along { open, back, doubts }
    }

    /// The slots whose entries may have moved along although nothing shows it for certain, and how likely they stayed.
    fn doubt_stayed(&self, r: usize, start: &Start, is_seen: bool) -> HashMap<u32, f64> {
        let prior = if is_seen { PRIOR_ONCE_SEEN } else { PRIOR };
        let mut stayed: HashMap<u32, f64> = HashMap::new();
        for &at in start.repeated.get(..REPEATED).unwrap_or(&start.repeated) {
            // Those before it would have moved only if a value was taken out and another one put in: rare, unless seams show it.
            for of in self.find_moves(r, start, at, prior).into_iter().filter(|of| of.to < of.slot) {
                let least = stayed.entry(of.slot).or_insert(1.0);
                *least = least.min((1.0 - of.p).max(0.0));
            }
        }
        stayed
    }

    /// Moves entries back that moved along at a repeated one; `None` if none did for certain. `is_seen` says whether all entries
    /// behind one moved on in another region.
    fn move_back(&mut self, r: usize, start: &mut Start, is_seen: bool) -> Option<Slide> {
        let prior = if is_seen { PRIOR_ONCE_SEEN } else { PRIOR };
        let sure = |moves: &[Move]| moves.iter().filter(|of| of.p >= MOVED).count();
        let repeated = start.repeated.get(..REPEATED).unwrap_or(&start.repeated);
        let weighed: Vec<(u32, Vec<Move>)> = parallel::map(repeated, |&at| (at, self.find_moves(r, start, at, prior)));
        let (at, moves) =
            weighed.into_iter().max_by_key(|(_, moves)| sure(moves)).filter(|(_, moves)| sure(moves) > 0)?;
        let last = start.anchors.iter().map(|(slot, _)| *slot).max();
        let is_whole = moves.iter().any(|of| Some(of.slot) == last && of.to < of.slot && of.p >= MOVED);
        let to: HashMap<u32, u32> = moves.iter().filter(|of| of.p >= MOVED).map(|of| (of.slot, of.to)).collect();
        let filled = self.set_back(r, start, &to);
        // The repeated entry belongs to the slot that the others moved away from.
        let wrong = if moves.iter().any(|of| of.slot > at) { at + 1 } else { at };
        for loose in &mut start.loose {
            loose.hints.retain(|(slot, _)| *slot != wrong && !filled.contains(slot));
        }
        let open = moves.iter().filter(|of| of.p < MOVED);
        let open = open.map(|of| Moved { case: r, slot: of.slot, block: of.block, to: of.to }).collect();
        let slots = to.keys().min().copied().zip(to.keys().max().copied());
        Some(Slide { open, is_whole, slots })
    }

    /// Moves the blocks of some slots to others. Returns the slots that are filled then.
    pub(super) fn set_back(&mut self, r: usize, start: &mut Start, to: &HashMap<u32, u32>) -> HashSet<u32> {
        let before = start.anchors.clone();
        for (slot, _) in &mut start.anchors {
            *slot = to.get(slot).copied().unwrap_or(*slot);
        }
        self.rearrange(r, &before, &start.anchors);
        let filled: HashSet<u32> = start.anchors.iter().map(|(slot, _)| *slot).collect();
        start.damaged.extend(to.keys());
        start.damaged.retain(|slot| !filled.contains(slot));
        filled
    }

    /// Takes blocks of a region out of their slots and puts them into others.
    pub(super) fn rearrange(&mut self, r: usize, from: &[(u32, usize)], to: &[(u32, usize)]) {
        let case = self.cases[r];
        for (slot, _) in from {
            self.placed.remove(&(case.lod, case.shape.position(*slot).unwrap_or_default()));
        }
        for (slot, block) in to {
            self.placed.extend(case.shape.position(*slot).map(|at| ((case.lod, at), (r, *block))));
        }
    }

    /// The blocks that may have moved along at a repeated entry.
    fn find_moves(&self, r: usize, start: &Start, at: u32, prior: Prior) -> Vec<Move> {
        let case = self.cases[r];
        let place = |&(slot, block): &(u32, usize)| Some((case.shape.position(slot)?, block));
        let blocks: Blocks = start.anchors.iter().filter_map(place).collect();
        let anchored = start.anchors.iter().find(|(slot, _)| (at..=at + 1).contains(slot)).map(|(_, block)| *block);
        let listed = || case.entries.iter().find(|entry| entry.slot == at).and_then(|entry| own(case, entry));
        let repeated = anchored.or_else(|| if start.by_order { None } else { listed() });
        let fit_of_repeated = |slot: u32| match (repeated, case.shape.position(slot)) {
            (Some(block), Some(position)) => self.fit_among(r, &blocks, block, position),
            _ => 0.0,
        };
        let is_near = repeated.is_some_and(|block| self.has_changed_entry(r, start, at, block));
        let single = if is_near { ONE_CHANGED } else { 0.0 };
        let none = prior.none.ln() + single + fit_of_repeated(at).max(fit_of_repeated(at + 1));
        let ranges = [(-1, at), (1, at + 1)].map(|(by, right)| {
            let mut blocks = blocks.clone();
            blocks.extend(repeated.and_then(|block| Some((case.shape.position(right)?, block))));
            (by, self.weigh_ranges(r, start, blocks, (right, by), fit_of_repeated(right), prior))
        });
        let all = || ranges.iter().flat_map(|(_, of)| of);
        let most = all().map(|(_, odds)| *odds).fold(none, f64::max);
        let sum = all().map(|(_, odds)| (odds - most).exp()).sum::<f64>() + (none - most).exp();
        let block_of: HashMap<u32, usize> = start.anchors.iter().copied().collect();
        let mut moves = Vec::new();
        for (by, ranges) in &ranges {
            let mut p = 0.0;
            // All ranges that end farther away hold the slot as well.
            for &(slot, odds) in ranges.iter().rev() {
                p += (odds - most).exp() / sum;
                if let Some(&block) = block_of.get(&slot).filter(|_| p > IN_DOUBT) {
                    moves.push(Move { slot, block, to: slot.saturating_add_signed(*by), p });
                }
            }
        }
        moves
    }

    /// Whether one changed entry explains that two are the same: a block without an entry is beside the one that both lead to, or a
    /// changed bit leads from it to that one.
    fn has_changed_entry(&self, r: usize, start: &Start, at: u32, block: usize) -> bool {
        let blocks = &self.cases[r].walk.blocks;
        let first = blocks[block].first;
        start.loose.iter().filter(|loose| loose.block != block).any(|loose| {
            let is_beside = blocks[loose.block].first.abs_diff(first) <= 1;
            is_beside || loose.hints.iter().any(|(slot, _)| (at..=at + 1).contains(slot))
        })
    }

    /// The slots at which a range of entries that moved along may end, from the repeated entry outwards, with the odds of that as
    /// logarithms. `right` is the slot of the repeated entry, `by` the way back, and `sum` what is known before any moves.
    fn weigh_ranges(
        &self,
        r: usize,
        start: &Start,
        mut blocks: Blocks,
        (right, by): (u32, i32),
        mut sum: f64,
        prior: Prior,
    ) -> Vec<(u32, f64)> {
        let case = self.cases[r];
        let slots: u32 = case.shape.size.iter().map(|&n| u32::from(n)).product();
        let behind = by < 0;
        let range: Vec<u32> =
            if behind { (right + 2..slots).collect() } else { (0..right.saturating_sub(1)).rev().collect() };
        let last = range.last().copied().filter(|_| behind);
        let mut anchored: Vec<u32> = start.anchors.iter().map(|(slot, _)| *slot).collect();
        anchored.sort_unstable();
        let before = |slot: u32| anchored.partition_point(|of| *of < slot);
        let least = if behind { 0 } else { before(right) / UNMOVED };
        let each = (if behind { prior.behind } else { prior.before } / range.len().max(1) as f64).ln();
        let weigh = |slot: u32| {
            let (from, to) = (case.shape.position(slot)?, case.shape.position(slot.saturating_add_signed(by))?);
            if let Some(block) = blocks.remove(&from) {
                sum += self.fit_among(r, &blocks, block, to) - self.fit_among(r, &blocks, block, from);
                blocks.insert(to, block);
            }
            let is_last = Some(slot) == last;
            Some((slot, sum + if is_last { prior.all.ln() } else { each + self.weigh_end(r, start, &blocks, from) }))
        };
        range.into_iter().take_while(|&slot| behind || before(slot) >= least).filter_map(weigh).collect()
    }

    /// How well a block without an entry fits where the range ends: the entry there was overwritten.
    fn weigh_end(&self, r: usize, start: &Start, blocks: &Blocks, position: [i32; 3]) -> f64 {
        if start.loose.len() > UNOWNED || self.cases[r].is_large() {
            return 0.0;
        }
        let owned: HashSet<usize> = blocks.values().copied().collect();
        let unowned = start.loose.iter().filter(|loose| !owned.contains(&loose.block));
        let fits: Vec<f64> =
            unowned.map(|loose| self.fit_among(r, blocks, loose.block, position).min(MOST).exp()).collect();
        if fits.is_empty() { 0.0 } else { f64::midpoint(1.0, fits.iter().sum::<f64>() / fits.len() as f64).ln() }
    }

    /// How well a block fits a place, were those of its region where `blocks` has them: the seams, and how many neighbours it has.
    pub(super) fn fit_among(&self, r: usize, blocks: &Blocks, block: usize, position: [i32; 3]) -> f64 {
        let lod = self.cases[r].lod;
        let other = |at: (u8, [i32; 3])| -> Option<Node> {
            let own = blocks.get(&at.1).filter(|_| at.0 == lod).map(|block| (r, *block));
            own.or_else(|| self.placed.get(&at).copied().filter(|(of, _)| *of != r))
        };
        let odds = |(link, other)| {
            let beside = if let Link::Beside(axis, _) = link { self.beside[axis] } else { 0.0 };
            self.side_odds((r, block), link, other) + beside
        };
        let seams = around(lod, position, self.lods).into_iter().filter_map(|(link, at)| Some((link, other(at)?)));
        seams.filter(|(_, other)| *other != (r, block)).map(odds).sum()
    }
}

impl Assembled {
    /// Lowers the certainty of blocks in the slots of their entries where these may have moved along.
    pub(super) fn doubt_fits(&mut self, weights: &Weights) {
        for fit in &mut self.fits {
            let Some(&p) = self.stayed.get(&fit.slot).filter(|p| **p < fit.p) else { continue };
            let most = Certainty::from_probability(p, weights);
            (fit.certainty, fit.voxels, fit.p) = (fit.certainty.min(most), fit.voxels.min(most), p);
        }
    }

    /// The same for places that are known otherwise.
    pub fn doubt_placed(&self, placed: &mut [Placed], weights: &Weights) {
        for placed in placed {
            let Some(&p) = self.stayed.get(&placed.slot).filter(|p| **p < placed.p) else { continue };
            placed.lower(Certainty::from_probability(p, weights), p);
        }
    }
}
