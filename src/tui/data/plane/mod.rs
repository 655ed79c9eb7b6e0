//! A cut through voxels: the samples that a window shows, and nothing else, read in the background.

mod blocks;
mod layer;

pub(in crate::tui) use blocks::first_block;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::AtomicBool;

use super::opened::{Opened, Store};
use crate::tui::app::ItemKey;

/// Values that a plane counts, the most frequent ones.
const VALUES: usize = 64;

/// Different values that are counted at most; a plane of noise has as many as it has voxels.
const COUNTED: usize = 1 << 16;

/// An axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Axis {
    /// x
    X,
    /// y, which is up.
    #[default]
    Y,
    /// z
    Z,
}

impl Axis {
    /// Its letter.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::X => "x",
            Self::Y => "y",
            Self::Z => "z",
        }
    }

    /// The axes of a cut along this one: the one that runs to the right, and the one that runs down, or up.
    #[must_use]
    pub const fn across(self) -> [Self; 2] {
        match self {
            Self::X => [Self::Z, Self::Y],
            Self::Y => [Self::X, Self::Z],
            Self::Z => [Self::X, Self::Y],
        }
    }

    /// Whether it is shown upward.
    #[must_use]
    pub const fn rises(self) -> bool {
        matches!(self, Self::Y)
    }

    /// What belongs to this axis.
    #[must_use]
    pub fn of<T: Copy>(self, [x, y, z]: [T; 3]) -> T {
        match self {
            Self::X => x,
            Self::Y => y,
            Self::Z => z,
        }
    }

    /// The same with another value on this axis.
    #[must_use]
    pub fn with<T: Copy>(self, [x, y, z]: [T; 3], value: T) -> [T; 3] {
        match self {
            Self::X => [value, y, z],
            Self::Y => [x, value, z],
            Self::Z => [x, y, value],
        }
    }
}

/// Coordinates along an axis, one a column or row of the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// The first.
    pub first: i64,
    /// From one to the next; negative where the axis is shown the other way round.
    pub step: i64,
    /// How many.
    pub count: u32,
}

impl Steps {
    /// The coordinate with a number.
    #[must_use]
    pub fn at(&self, number: u32) -> i64 {
        self.first.saturating_add(self.step.saturating_mul(i64::from(number)))
    }

    /// The number of a coordinate that is one of these.
    #[must_use]
    pub fn number(&self, at: i64) -> Option<u32> {
        let from = at.checked_sub(self.first)?;
        if from.checked_rem(self.step)? != 0 {
            return None;
        }
        u32::try_from(from.checked_div(self.step)?).ok().filter(|number| *number < self.count)
    }

    /// Runs of these that lie in one block of `size`, with the number of the block.
    fn runs(&self, size: u32) -> Vec<(i64, Range<u32>)> {
        let mut out: Vec<(i64, Range<u32>)> = Vec::new();
        for number in 0..self.count {
            let Some(block) = self.at(number).checked_div_euclid(i64::from(size)) else { return out };
            match out.last_mut() {
                Some((last, range)) if *last == block => range.end = number.saturating_add(1),
                _ => out.push((block, number..number.saturating_add(1))),
            }
        }
        out
    }
}

/// The voxels that a picture shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The axis that is cut.
    pub axis: Axis,
    /// Where.
    pub cut: i64,
    /// Columns.
    pub right: Steps,
    /// Rows.
    pub down: Steps,
}

impl Window {
    /// The voxel of a column and a row.
    #[must_use]
    pub fn cell(&self, column: u32, row: u32) -> [i64; 3] {
        let [right, down] = self.axis.across();
        let at = self.axis.with([0; 3], self.cut);
        down.with(right.with(at, self.right.at(column)), self.down.at(row))
    }

    /// How many voxels are shown.
    #[must_use]
    pub fn len(&self) -> usize {
        usize::try_from(u64::from(self.right.count).saturating_mul(self.down.count.into())).unwrap_or(usize::MAX)
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A box of voxels: from `low` up to, not including, `high`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// The first corner.
    pub low: [u32; 3],
    /// One past the last.
    pub high: [u32; 3],
}

impl Bounds {
    /// A box that begins at 0.
    #[must_use]
    pub const fn of(high: [u32; 3]) -> Self {
        Self { low: [0; 3], high }
    }

    /// Voxels along an axis.
    #[must_use]
    pub fn len(&self, axis: Axis) -> u32 {
        axis.of(self.high).saturating_sub(axis.of(self.low))
    }

    /// Whether there is no voxel.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        [Axis::X, Axis::Y, Axis::Z].into_iter().any(|axis| self.len(axis) == 0)
    }

    /// Whether a voxel is inside.
    #[must_use]
    pub fn contains(&self, at: [i64; 3]) -> bool {
        let inside = |axis: Axis| (i64::from(axis.of(self.low))..i64::from(axis.of(self.high))).contains(&axis.of(at));
        inside(Axis::X) && inside(Axis::Y) && inside(Axis::Z)
    }

    /// The nearest voxel inside; of an empty box, its corner.
    #[must_use]
    pub fn clamp(&self, at: [u32; 3]) -> [u32; 3] {
        let one = |axis: Axis| {
            let low = axis.of(self.low);
            axis.of(at).clamp(low, axis.of(self.high).saturating_sub(1).max(low))
        };
        [one(Axis::X), one(Axis::Y), one(Axis::Z)]
    }
}

/// Whose voxels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Those of a block.
    Block(u32),
    /// All of the file.
    Whole,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The file.
    pub item: ItemKey,
    /// Whose voxels.
    pub scope: Scope,
    /// Voxels from here to there; what is shown around them are neighbours. Counted from the block's corner, or from
    /// that of the region or layer.
    pub bounds: Bounds,
    /// The channel; without one, the first that is not the same everywhere.
    pub channel: Option<usize>,
    /// Which voxels.
    pub window: Window,
}

/// A voxel of a plane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Sample {
    /// There is none.
    #[default]
    Nothing,
    /// There should be one, but it cannot be read.
    Unreadable,
    /// Its raw value, and the distance where it is one.
    Value(u64, Option<f32>),
}

/// What a window shows.
#[derive(Debug, Default)]
pub struct Plane {
    /// The channel that was read.
    pub channel: usize,
    /// The voxels, row by row.
    pub samples: Vec<Sample>,
    /// Columns.
    pub columns: u32,
    /// The most frequent values among those inside the bounds, with how many there are.
    pub values: Vec<(u64, u32)>,
    /// How many different values there are, at least.
    pub distinct: usize,
    /// The smallest and the largest distance.
    pub distances: Option<(f32, f32)>,
    /// How many could not be read.
    pub unreadable: u32,
}

impl Plane {
    /// Reads what is asked for; `None` when nobody waits for it any more.
    #[must_use]
    pub fn read(opened: &Opened, request: &Request, cancel: &AtomicBool) -> Option<Self> {
        let mut plane = Self {
            columns: request.window.right.count,
            samples: vec![Sample::Nothing; request.window.len()],
            ..Self::default()
        };
        match &opened.store {
            Store::Layer(grid, _) => layer::read(grid, &request.window, &mut plane, cancel),
            Store::Region(..) | Store::Pak(_) | Store::Stream(_) => blocks::read(opened, request, &mut plane, cancel),
            Store::Bytes(_) => {}
        }
        if cancel.load(std::sync::atomic::Ordering::Relaxed) {
            return None;
        }
        plane.count(request);
        Some(plane)
    }

    /// The voxel of a column and a row.
    #[must_use]
    pub fn at(&self, column: u32, row: u32) -> Sample {
        if column >= self.columns {
            return Sample::Nothing;
        }
        let at = u64::from(row).saturating_mul(self.columns.into()).saturating_add(column.into());
        usize::try_from(at).ok().and_then(|at| self.samples.get(at)).copied().unwrap_or_default()
    }

    fn set(&mut self, column: u32, row: u32, sample: Sample) {
        let at = u64::from(row).saturating_mul(self.columns.into()).saturating_add(column.into());
        if let Some(to) = usize::try_from(at).ok().and_then(|at| self.samples.get_mut(at)) {
            *to = sample;
        }
    }

    /// Counts the values inside the bounds.
    fn count(&mut self, request: &Request) {
        let mut counts: HashMap<u64, u32> = HashMap::new();
        let mut samples = self.samples.iter();
        for row in 0..request.window.down.count {
            for column in 0..request.window.right.count {
                let Some(&sample) = samples.next() else { break };
                if !request.bounds.contains(request.window.cell(column, row)) {
                    continue;
                }
                match sample {
                    Sample::Nothing => {}
                    Sample::Unreadable => self.unreadable = self.unreadable.saturating_add(1),
                    Sample::Value(raw, distance) => {
                        if counts.len() < COUNTED || counts.contains_key(&raw) {
                            let count = counts.entry(raw).or_default();
                            *count = count.saturating_add(1);
                        }
                        if let Some(d) = distance.filter(|d| d.is_finite()) {
                            self.distances = Some(self.distances.map_or((d, d), |(a, b)| (a.min(d), b.max(d))));
                        }
                    }
                }
            }
        }
        self.distinct = counts.len();
        self.values = counts.into_iter().collect();
        self.values.sort_unstable_by_key(|&(value, count)| (std::cmp::Reverse(count), value));
        self.values.truncate(VALUES);
        self.values.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_know_their_numbers_and_blocks_also_below_zero() {
        let steps = Steps { first: -2, step: 1, count: 20 };
        assert_eq!(steps.runs(16), [(-1, 0..2), (0, 2..18), (1, 18..20)]);
        let rising = Steps { first: 17, step: -2, count: 10 };
        assert_eq!(rising.runs(16), [(1, 0..1), (0, 1..9), (-1, 9..10)]);
        assert_eq!((rising.number(15), rising.number(16), rising.number(-3)), (Some(1), None, None));
        assert!(steps.runs(0).is_empty());
    }

    #[test]
    fn a_window_has_its_axes_in_place() {
        let steps = |first| Steps { first, step: 1, count: 4 };
        let window = |axis| Window { axis, cut: 9, right: steps(10), down: steps(20) };
        assert_eq!(window(Axis::X).cell(1, 2), [9, 22, 11]);
        assert_eq!(window(Axis::Y).cell(1, 2), [11, 9, 22]);
        assert_eq!(window(Axis::Z).cell(1, 2), [11, 22, 9]);
    }
}
