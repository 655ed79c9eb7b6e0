//! Values that moved on by one key: a run of keys each of which has the block of the key before it, or of the one after it, and the
//! first or the last of them the one that is left over.
//!
//! Blocks that moved together still continue each other, so only the ends of the run, the ends of its rows of blocks, and the blocks
//! beside it show it. All runs are weighed by the cells that would differ less if its blocks were moved back.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::godot::stream::loc::{Owned, Place};
use crate::recover::decide::Certainty;
use crate::recover::keys::blocks::step;
use crate::recover::keys::look::{Sketches, cells_between};
use crate::recover::keys::permutation::settle;
use crate::recover::keys::{WrongKey, keyed_rows};
use crate::recover::screen::directions;
use crate::recover::sketch::{CELLS, Sketch};
use crate::recover::weights::RUN;
use crate::save::Stream;
use crate::source::Source;
use crate::watch::Watch;

/// The keys of a stream in their order, and the blocks that they have.
struct Keys<'s> {
    places: Vec<Place>,
    blocks: Vec<&'s Sketch>,
    /// Hashes of their bytes.
    contents: Vec<u128>,
    /// For each key those beside it: the axis, whether towards larger coordinates, and the key.
    beside: Vec<Vec<(usize, bool, usize)>>,
}

/// A run of keys, from the first to the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Run {
    first: usize,
    last: usize,
    /// Whether the block of each key is that of the key after it; otherwise that of the key before it.
    from_next: bool,
}

/// The cells of all sides of a block.
const ALL_SIDES: i64 = 6 * CELLS as i64;

impl Run {
    /// Whether it has enough keys to be one.
    const fn is_long(self) -> bool {
        self.last - self.first >= RUN.least
    }

    /// The key whose block belongs to a key.
    const fn source(self, key: usize) -> usize {
        match (self.from_next, key < self.first || key > self.last) {
            (_, true) => key,
            (true, _) if key == self.last => self.first,
            (true, _) => key + 1,
            (false, _) if key == self.first => self.last,
            (false, _) => key - 1,
        }
    }
}

/// The rows of a run of keys whose values moved on by one, if there is one.
pub(super) fn find_moved<S: Source>(stream: &Stream<S>, all: &Sketches, watch: &Watch<'_>) -> Vec<WrongKey> {
    let mut rows: Vec<(Option<Owned>, u32, Place)> = keyed_rows(stream)
        .filter_map(|(number, row)| row.place.map(|place| (number, place)))
        .filter(|(_, place)| all.get(*place).is_some())
        .map(|(number, place)| (stream.format.and_then(|format| format.encode(place)), number, place))
        .collect();
    rows.sort_by(|a, b| compare_keys(a.0.as_ref(), b.0.as_ref()));
    let keys = Keys::new(rows.iter().map(|(.., place)| *place).collect(), all);
    let Some(run) = keys.find_run(watch) else { return Vec::new() };
    let rivals = keys.find_rivals(run);
    let moves: HashMap<usize, usize> = (run.first..=run.last).map(|key| (key, run.source(key))).collect();
    let is_same = |a: usize, b: usize| keys.contents.get(a) == keys.contents.get(b);
    let is_sure = |key: usize| rivals.iter().all(|rival| is_same(rival.source(key), run.source(key)));
    let mut found: Vec<WrongKey> = settle(&moves, is_same)
        .into_iter()
        .filter_map(|(to, from)| {
            let (certainty, p) = if is_sure(to) { (Certainty::Certain, 1.0) } else { (Certainty::Likely, RUN.likely) };
            Some(WrongKey { row: rows.get(from)?.1, place: rows.get(to)?.2, certainty, p })
        })
        .collect();
    found.sort_unstable_by_key(|of| of.row);
    found
}

/// The order in which the database has keys.
fn compare_keys(a: Option<&Owned>, b: Option<&Owned>) -> std::cmp::Ordering {
    match (a, b) {
        (Some(Owned::Int(a)), Some(Owned::Int(b))) => a.cmp(b),
        (Some(Owned::Text(a)), Some(Owned::Text(b))) => a.cmp(b),
        (Some(Owned::Blob(a)), Some(Owned::Blob(b))) => a.cmp(b),
        _ => a.is_some().cmp(&b.is_some()),
    }
}

impl<'s> Keys<'s> {
    fn new(places: Vec<Place>, all: &'s Sketches) -> Self {
        let drawn: Vec<(&Sketch, u128)> = places.iter().filter_map(|place| all.drawn(*place)).collect();
        let at: HashMap<Place, usize> = places.iter().copied().zip(0..).collect();
        let beside = |place: &Place| {
            let keys = directions().filter_map(|(axis, upper)| {
                let key = *at.get(&step(*place, axis, upper)?)?;
                Some((axis, upper, key))
            });
            keys.collect()
        };
        let beside = places.iter().map(beside).collect();
        let (blocks, contents) = drawn.into_iter().unzip();
        Self { places, blocks, contents, beside }
    }

    /// How many fewer cells differ around a key if it gets the block of another one. `at` gives the key whose block each of its
    /// neighbours has then.
    fn gain(&self, key: usize, source: usize, at: impl Fn(usize) -> usize) -> i64 {
        if self.contents[key] == self.contents[source] {
            return 0;
        }
        let beside = self.beside[key].iter();
        beside
            .map(|&(axis, upper, other)| {
                let other = self.blocks[at(other)];
                let differ = |own: usize| i64::from(cells_between(self.blocks[own], other, axis, upper));
                differ(key) - differ(source)
            })
            .sum()
    }

    /// The key after or before another one.
    fn next(&self, key: usize, is_after: bool) -> Option<usize> {
        if is_after { key.checked_add(1).filter(|next| *next < self.places.len()) } else { key.checked_sub(1) }
    }

    /// The key whose block each key has if those from `start` to the one before `end` get the block of the next one.
    fn moved_on(&self, start: usize, end: usize, from_next: bool) -> impl Fn(usize) -> usize {
        move |key| {
            let has_moved = if from_next { (start..end).contains(&key) } else { key > end && key <= start };
            let next = if has_moved { self.next(key, from_next) } else { None };
            next.unwrap_or(key)
        }
    }

    /// The run of keys that gains most if its blocks are moved back, if that leaves no doubt.
    fn find_run(&self, watch: &Watch<'_>) -> Option<Run> {
        let mut starts: Vec<(i64, usize, bool)> = Vec::new();
        for (key, from_next) in (0..self.places.len()).flat_map(|key| [(key, true), (key, false)]) {
            let Some(next) = self.next(key, from_next) else { continue };
            let lod = |key: usize| self.places[key].lod;
            let begins_lod = self.next(key, !from_next).is_none_or(|before| lod(before) != lod(key));
            let gain = if begins_lod { i64::MAX } else { self.gain(key, next, |other| other) };
            if gain >= RUN.start {
                starts.push((gain, key, from_next));
            }
        }
        starts.sort_unstable_by_key(|&(gain, key, from_next)| (Reverse(gain), key, from_next));
        starts.truncate(RUN.starts);
        let mut best: Option<(i64, Run)> = None;
        for (gain, start, from_next) in starts {
            if watch.is_cancelled() {
                return None;
            }
            let drop = if gain == i64::MAX { i64::MAX } else { RUN.drop };
            let Some(found) = self.extend(start, from_next, drop) else { continue };
            let found = found.max(self.extend_back(found.1).unwrap_or(found));
            best = best.max(Some(found));
        }
        best.filter(|(gain, run)| *gain >= i64::from(RUN.gain) && self.is_proven(*run)).map(|(_, run)| run)
    }

    /// The run with a given start that gains most, and its gain. The search ends where the gain is so much less than the most.
    fn extend(&self, start: usize, from_next: bool, drop: i64) -> Option<(i64, Run)> {
        let mut best: Option<(i64, Run)> = None;
        // The gain of the keys before the end, each of which gets the block of the key after it.
        let (mut sum, mut most, mut end) = (0i64, 0i64, start);
        loop {
            let at = self.moved_on(start, end, from_next);
            let run = Run { first: start.min(end), last: start.max(end), from_next };
            // The last block changes no more cells than all sides have.
            if run.is_long() && best.is_none_or(|(gain, _)| sum + ALL_SIDES > gain) {
                best = best.max(Some((sum + self.gain(end, start, &at), run)));
            }
            let Some(next) = self.next(end, from_next) else { return best };
            sum += self.gain(end, next, &at);
            most = most.max(sum);
            if most - sum > drop {
                return best;
            }
            end = next;
        }
    }

    /// The run with the end of another one that gains most, and its gain.
    fn extend_back(&self, Run { first, last, from_next }: Run) -> Option<(i64, Run)> {
        let end = if from_next { last } else { first };
        let mut best: Option<(i64, Run)> = None;
        let (mut sum, mut most, mut start) = (0i64, 0i64, end);
        while let Some(before) = self.next(start, !from_next) {
            let at = self.moved_on(start, end, from_next);
            sum += self.gain(before, start, &at);
            most = most.max(sum);
            if most - sum > RUN.drop {
                break;
            }
            start = before;
            let at = self.moved_on(start, end, from_next);
            let run = Run { first: start.min(end), last: start.max(end), from_next };
            if run.is_long() && best.is_none_or(|(gain, _)| sum + ALL_SIDES > gain) {
                best = best.max(Some((sum + self.gain(end, start, &at), run)));
            }
        }
        best
    }

    /// The cells that differ between blocks that are neighbours now and would not be if a run is moved back, and between those that
    /// would become neighbours; also the seams of the latter.
    fn changed_cells(&self, run: Run) -> (u64, u64, u64) {
        let inverse = Run { from_next: !run.from_next, ..run };
        let (mut before, mut after, mut seams) = (0, 0, 0);
        for key in run.first..=run.last {
            for &(axis, upper, other) in &self.beside[key] {
                // A seam within the run is met from both sides.
                if !upper && (run.first..=run.last).contains(&other) {
                    continue;
                }
                let cells = |a: usize, b: usize| u64::from(cells_between(self.blocks[a], self.blocks[b], axis, upper));
                let are_beside = |a: usize, b: usize| step(self.places[a], axis, upper) == Some(self.places[b]);
                if !are_beside(inverse.source(key), inverse.source(other)) {
                    before += cells(key, other);
                }
                let (own, other) = (run.source(key), run.source(other));
                if !are_beside(own, other) {
                    after += cells(own, other);
                    seams += 1;
                }
            }
        }
        (before, after, seams)
    }

    /// Whether a run leaves no doubt.
    fn is_proven(&self, run: Run) -> bool {
        let (before, after, seams) = self.changed_cells(run);
        let is_better = before >= after + u64::from(RUN.gain) && after as f64 <= before as f64 * RUN.rest;
        seams >= RUN.seams && is_better && (run.first..=run.last).all(|key| self.fits_as_before(run, key))
    }

    /// Whether the block that a key of a run gets fits it about as well as the key that it has now. Blocks that are where they belong
    /// would fit worse.
    fn fits_as_before(&self, run: Run, key: usize) -> bool {
        let from = run.source(key);
        let misfit = |at: usize, source: &dyn Fn(usize) -> usize| -> u32 {
            let own = self.blocks[from];
            let beside = self.beside[at].iter();
            beside.map(|&(axis, upper, other)| cells_between(own, self.blocks[source(other)], axis, upper)).sum()
        };
        let now = misfit(from, &|other| other);
        let then = misfit(key, &|other| run.source(other));
        self.contents[key] == self.contents[from] || then <= now + RUN.slack
    }

    /// Runs with another end or start that gain about as much as a run.
    fn find_rivals(&self, run: Run) -> Vec<Run> {
        let gain = |run: Run| {
            let (before, after, _) = self.changed_cells(run);
            i128::from(before) - i128::from(after)
        };
        let most = self.places.len().saturating_sub(1);
        let near = |key: usize| key.saturating_sub(RUN.ends)..=key.saturating_add(RUN.ends).min(most);
        let firsts = near(run.first).map(|first| Run { first, ..run });
        let lasts = near(run.last).map(|last| Run { last, ..run });
        let others = firsts.chain(lasts).filter(|other| *other != run && other.first < other.last);
        let own = gain(run);
        others.filter(|other| gain(*other) + i128::from(RUN.clear) > own).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_blocks_of_a_run_go_round() {
        let run = Run { first: 2, last: 5, from_next: true };
        let back = Run { from_next: false, ..run };
        assert_eq!([1, 2, 3, 4, 5, 6].map(|key| run.source(key)), [1, 3, 4, 5, 2, 6]);
        assert!((0..8).all(|key| back.source(run.source(key)) == key));
    }
}
