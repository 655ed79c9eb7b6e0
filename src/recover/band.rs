//! For each entry the numbers of entries gone before it that are worth following, and values for these.
//!
//! A table of all numbers for all entries grows with the square of the region. Wherever blocks differ in length, few numbers
//! are possible.

use crate::recover::pass::{NEVER, add_log};

/// A number is dropped at a step if its log-odds are so much lower than those of the best number there.
pub(super) const BEAM: f64 = 80.0;

/// The same, if no way reaches the end otherwise.
pub(super) const WIDE_BEAM: f64 = 320.0;

/// For each step from 0 to the number of entries, a range of numbers of entries gone.
#[derive(Clone, Debug)]
pub(super) struct Band {
    from: Vec<u32>,
    start: Vec<usize>,
}

/// A value for each number in a band.
#[derive(Clone, Debug)]
pub(super) struct Banded {
    values: Vec<f64>,
}

impl Band {
    /// Follows the likeliest ways through the entries. `keep` gives the log-odds that an entry is kept if a number of entries
    /// before it is gone, and `take` the log-odds that it is gone. A number whose log-odds are lower than the best ones by more than
    /// `beam` is dropped. Returns the band, the values of `keep` in it, and for each number of entries gone at the end its log-odds.
    pub fn follow(
        entries: usize,
        most: usize,
        keep: impl Fn(usize, usize) -> f64,
        take: impl Fn(usize) -> f64,
        beam: f64,
    ) -> (Self, Banded, Vec<(usize, f64)>) {
        let mut band = Self { from: Vec::with_capacity(entries + 1), start: vec![0] };
        let mut rows = Banded { values: Vec::new() };
        let (mut from, mut now) = (0usize, vec![0.0]);
        let mut next: Vec<f64> = Vec::new();
        for i in 0..entries {
            band.from.push(from as u32);
            let out = take(i);
            next.clear();
            next.resize(now.len() + 1, NEVER);
            for (k, &odds) in now.iter().enumerate() {
                let g = from + k;
                let kept = keep(i, g);
                rows.values.push(kept);
                next[k] = add_log(next[k], odds + kept);
                if g < most {
                    next[k + 1] = add_log(next[k + 1], odds + out);
                }
            }
            band.start.push(rows.values.len());
            let best = next.iter().copied().fold(NEVER, f64::max);
            let worth = |odds: &f64| *odds > best - beam;
            let (Some(first), Some(last)) = (next.iter().position(worth), next.iter().rposition(worth)) else {
                // Nothing fits: an empty band.
                band.from.resize(entries + 1, from as u32);
                band.start.resize(entries + 2, rows.values.len());
                return (band, rows, Vec::new());
            };
            from += first;
            now.clear();
            now.extend_from_slice(&next[first..=last]);
        }
        band.from.push(from as u32);
        band.start.push(rows.values.len() + now.len());
        rows.values.extend(now.iter().map(|_| NEVER));
        let ends = now.iter().enumerate().map(|(k, odds)| (from + k, *odds)).collect();
        (band, rows, ends)
    }

    /// The numbers at a step.
    pub fn range(&self, step: usize) -> std::ops::Range<usize> {
        let from = self.from[step] as usize;
        from..from + self.start[step + 1] - self.start[step]
    }

    fn index(&self, step: usize, gone: usize) -> Option<usize> {
        let at = gone.checked_sub(self.from[step] as usize)? + self.start[step];
        (at < self.start[step + 1]).then_some(at)
    }

    /// The value of a number at a step; [`NEVER`] outside of the band.
    pub fn get(&self, of: &Banded, step: usize, gone: usize) -> f64 {
        self.index(step, gone).map_or(NEVER, |at| of.values[at])
    }

    /// Adds to the value of a number at a step, if it is in the band.
    pub fn add(&self, to: &mut Banded, step: usize, gone: usize, odds: f64) {
        if let Some(at) = self.index(step, gone) {
            to.values[at] = add_log(to.values[at], odds);
        }
    }

    /// [`NEVER`] everywhere.
    pub fn nothing(&self) -> Banded {
        Banded { values: vec![NEVER; self.start.last().copied().unwrap_or(0)] }
    }
}
