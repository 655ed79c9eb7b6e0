//! How well the voxels of two blocks continue across their common side, as log-odds learned from the save itself.
//!
//! The model has two layers. The first compares the two outer layers cell by cell: which values of TYPE meet, and how
//! far the linear extrapolations of the SDF differ. The second weighs the means of a whole side by a logistic regression
//! of the right neighbour among strangers, since the cells of one side are far from independent. Plain sides, with
//! one value everywhere, are weighed apart: they say almost nothing.

use std::collections::HashMap;

use crate::parallel;
use crate::recover::faces::Layer;
use crate::recover::kinds::Kinds;

/// Axes of seams: x, y, z, and between two LODs.
pub const AXES: usize = 4;

/// The axis of a block and the octant of the next LOD that is made of it.
pub const LOD_AXIS: usize = 3;

/// Values of TYPE that are distinguished; the rarest share the last one.
const KINDS: usize = 64;

/// Classes of the difference of two extrapolations, times whether both sides are flat.
const BINS: usize = 48;

/// Differences whose log-odds are looked up without their class.
const NEAR: usize = 2048;

/// Log-odds of cells are whole numbers of this part: sums of them do not depend on their order.
const CELL_UNITS: f64 = 4096.0;

/// Cells that are compared at first, before all of them.
pub const FEW: usize = 16;

/// Pairs of neighbours that are many.
const MANY: usize = 1000;

/// Pairs that are counted together by one thread.
const PART: usize = 256;

/// Most that a single cell may say.
const CELL_CLIP: f64 = 6.0;

/// One side of a block, ready to be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Side {
    /// The numbers of the kinds, one cell if all are the same.
    kinds: Kinds,
    /// The commonest of them.
    most: u8,
    /// Twice the SDF half a voxel beyond the side, and whether the SDF does not change towards it, as the lowest bit; one
    /// if all are the same.
    sdf: Box<[i32]>,
}

impl Side {
    fn new(kinds: &[u8], sdf: Box<[i32]>) -> Self {
        let kinds = Kinds::new(kinds);
        let mut counts = [0u32; KINDS];
        kinds.each(|kind, n| {
            if let Some(count) = counts.get_mut(usize::from(kind)) {
                *count += n;
            }
        });
        let most = (0..KINDS).max_by_key(|&kind| (counts[kind], KINDS - kind)).unwrap_or(0);
        Self { kinds, most: most as u8, sdf }
    }

    /// Whether all cells are the same.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.kinds.len() <= 1 && self.sdf.len() <= 1
    }

    /// What it looks like as a whole: the commonest kind, whether there are others, whether all cells are the same,
    /// and on which side of a surface it is.
    #[must_use]
    pub fn classify(&self) -> u16 {
        let mut mixed = false;
        self.kinds.each(|kind, _| mixed |= kind != self.most);
        let inside = self.sdf.iter().any(|&v| v < 0);
        let outside = self.sdf.iter().any(|&v| v >= 0);
        u16::from(self.most)
            | u16::from(mixed) << 8
            | u16::from(inside) << 9
            | u16::from(outside) << 10
            | u16::from(self.is_plain()) << 11
    }

    /// Some cells, evenly spread.
    #[must_use]
    pub fn few(&self) -> ([u8; FEW], [i32; FEW]) {
        let at = |len: usize, k: usize| {
            let edge = (len as f64).sqrt() as usize;
            if edge < 4 || edge * edge != len {
                return k * len / FEW;
            }
            let (row, column) = (k / 4, k % 4);
            (row * edge / 4 + edge / 8) * edge + column * edge / 4 + edge / 8
        };
        let kinds = std::array::from_fn(|k| self.kinds.at(at(self.kinds.len(), k)).unwrap_or(0));
        let sdf = std::array::from_fn(|k| self.sdf.get(at(self.sdf.len(), k)).copied().unwrap_or(0));
        (kinds, sdf)
    }
}

/// The numbers of the kinds that occur.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary(HashMap<u16, u8>);

impl Vocabulary {
    /// Numbers kinds by how often they occur.
    #[must_use]
    pub fn count<'l>(layers: impl Iterator<Item = &'l Layer>) -> Self {
        let mut counts: HashMap<u16, u64> = HashMap::new();
        for layer in layers {
            layer.kinds.iter().for_each(|kind| *counts.entry(*kind).or_default() += 1);
        }
        let mut all: Vec<(u16, u64)> = counts.into_iter().collect();
        all.sort_by_key(|&(kind, n)| (std::cmp::Reverse(n), kind));
        Self(all.into_iter().zip(0u8..).take(KINDS - 1).map(|((kind, _), number)| (kind, number)).collect())
    }

    fn number(&self, kind: u16) -> u8 {
        self.0.get(&kind).copied().unwrap_or(KINDS as u8 - 1)
    }

    /// A side by its outermost layer and the one behind it.
    #[must_use]
    pub fn side(&self, outer: &Layer, inner: &Layer) -> Side {
        let kinds: Vec<u8> = outer.kinds.iter().map(|kind| self.number(*kind)).collect();
        let n = outer.sdf.len().max(inner.sdf.len());
        let at = |values: &[i16], i: usize| {
            i32::from(values.get(if values.len() == 1 { 0 } else { i }).copied().unwrap_or(0))
        };
        let sdf = (0..n).map(|i| {
            let (a, b) = (at(&outer.sdf, i), at(&inner.sdf, i));
            (3 * a - b) << 1 | i32::from(a == b)
        });
        Side::new(&kinds, sdf.collect())
    }

    /// What two LODs have in common, as a side.
    #[must_use]
    pub fn samples(&self, layer: &Layer) -> Side {
        let kinds: Vec<u8> = layer.kinds.iter().map(|kind| self.number(*kind)).collect();
        Side::new(&kinds, layer.sdf.iter().map(|&v| i32::from(v) << 2).collect())
    }
}

/// How far two extrapolations differ, and whether both sides are flat.
const fn differ(a: i32, b: i32) -> (u32, bool) {
    (((a >> 1) - (b >> 1)).unsigned_abs(), a & b & 1 == 1)
}

/// The class of a difference.
fn bin((difference, flat): (u32, bool)) -> usize {
    let log = match difference.checked_ilog2() {
        None => 0,
        Some(0) => 1,
        Some(n) => (n as usize * 2 + (difference >> (n - 1) & 1) as usize).min(BINS / 2 - 1),
    };
    log + if flat { BINS / 2 } else { 0 }
}

/// What cells say: log-odds of kinds that meet, and of differences of the SDF, as multiples of 1 / [`CELL_UNITS`].
#[derive(Clone, Debug)]
struct Cells {
    kinds: Box<[i16; KINDS * KINDS]>,
    /// By the difference, times 2, plus 1 if both sides are flat.
    near: Box<[i16; 2 * NEAR]>,
    /// By class.
    sdf: [i16; BINS],
}

/// Counts of cells.
struct Counts {
    kinds: Vec<f64>,
    sdf: Vec<f64>,
}

impl Counts {
    fn new() -> Self {
        Self { kinds: vec![0.0; KINDS * KINDS], sdf: vec![0.0; BINS] }
    }

    fn add(&mut self, lower: &Side, upper: &Side, weight: f64) {
        let n = lower.kinds.len().max(upper.kinds.len()).max(1) as f64;
        lower.kinds.pairs(&upper.kinds, |a, b, cells| {
            self.kinds[usize::from(a) * KINDS + usize::from(b)] += f64::from(cells) * weight / n;
        });
        let n = lower.sdf.len().max(upper.sdf.len()).max(1) as f64;
        each_difference(lower, upper, |a, b| self.sdf[bin(differ(a, b))] += weight / n);
    }

    fn sum(mut self, other: &Self) -> Self {
        self.kinds.iter_mut().zip(&other.kinds).for_each(|(sum, n)| *sum += n);
        self.sdf.iter_mut().zip(&other.sdf).for_each(|(sum, n)| *sum += n);
        self
    }

    fn odds(near: &[f64], random: &[f64]) -> Vec<i16> {
        let (all, null): (f64, f64) = (near.iter().sum(), random.iter().sum());
        let each = |(near, random): (&f64, &f64)| {
            // What is rare in both says nothing.
            let prior = 1.0 / 64.0;
            let null = (random + prior) / (null + prior * KINDS as f64);
            let own = (near + prior) / (all + prior * KINDS as f64);
            ((own / null).ln().clamp(-CELL_CLIP, CELL_CLIP) * CELL_UNITS).round() as i16
        };
        near.iter().zip(random).map(each).collect()
    }
}

fn each_difference(a: &Side, b: &Side, mut each: impl FnMut(i32, i32)) {
    match (&*a.sdf, &*b.sdf) {
        (&[a], b) => b.iter().for_each(|&b| each(a, b)),
        (a, &[b]) => a.iter().for_each(|&a| each(a, b)),
        (a, b) => a.iter().zip(b).for_each(|(&a, &b)| each(a, b)),
    }
}

/// What the second layer weighs: by the number of sides that are not plain, whether it is that many, and the mean odds of
/// the kinds and of the SDF; if none is plain, how many of the cells that stand out continue; and, if one side is plain and if none
/// is, in which bucket the number of cells is that change their kind, and the number of those whose SDF breaks off.
const FEATURES: usize = 10 + 4 * BUCKETS;

/// The indices of some of them. Those from [`CHANGES`] on are buckets.
const BOTH_KINDS: usize = 7;
const BOTH_SDF: usize = 8;
const MARKS: usize = 9;
const CHANGES: usize = 10;
const BREAKS: usize = CHANGES + 2 * BUCKETS;

/// Ranges of numbers of cells whose odds are learned apart: no line through few and many cells shows how far a few cells that do not
/// continue are from none.
const BUCKETS: usize = 8;

/// The log-odds of the SDF in a cell below which it breaks off, in [`CELL_UNITS`]. Measured on a third of the entries of an island, before
/// changed kinds had buckets: with -1, 43 % were certain, with -3, 17 %.
const BREAK: i32 = -(CELL_UNITS as i32);

/// Cells that stand out below which little is concluded from them.
const FEW_MARKS: f32 = 4.0;

/// The bucket of a number of cells: 0, 1, 2 and 3, 4 to 7, and so on.
fn bucket(cells: u32) -> u8 {
    cells.checked_ilog2().map_or(0, |log| log as u8 + 1).min(BUCKETS as u8 - 1)
}

/// The weight of each feature.
type FeatureWeights = [f64; FEATURES];

/// A pair of sides as the second layer sees it.
#[derive(Clone, Copy, Debug)]
struct Features {
    /// The number of sides that are not plain.
    class: u8,
    /// The buckets of cells that change their kind, and of those whose SDF breaks off; `None` if both sides are plain or pairs are few.
    buckets: Option<[u8; 2]>,
    kinds: f32,
    sdf: f32,
    marks: f32,
}

impl Features {
    /// The indices and values of those that may be other than 0.
    fn each(&self) -> [(usize, f64); 6] {
        let class = usize::from(self.class);
        let of_bucket = |first: usize, which: usize| match self.buckets {
            Some(buckets) => (first + BUCKETS * (class - 1) + usize::from(buckets[which]), 1.0),
            None => (first, 0.0),
        };
        [
            (class, 1.0),
            (3 + 2 * class, self.kinds.into()),
            (4 + 2 * class, self.sdf.into()),
            (MARKS, self.marks.into()),
            of_bucket(CHANGES, 0),
            of_bucket(BREAKS, 1),
        ]
    }
}

impl Cells {
    /// By the counts of right neighbours and of strangers.
    fn new(near: &Counts, random: &Counts) -> Self {
        let mut cells = Self { kinds: Box::new([0; KINDS * KINDS]), near: Box::new([0; 2 * NEAR]), sdf: [0; BINS] };
        cells.kinds.copy_from_slice(&Counts::odds(&near.kinds, &random.kinds));
        cells.sdf.copy_from_slice(&Counts::odds(&near.sdf, &random.sdf));
        for (k, odds) in cells.near.iter_mut().enumerate() {
            *odds = cells.sdf[bin(((k / 2) as u32, k % 2 == 1))];
        }
        cells
    }

    /// The log-odds of two kinds that meet.
    fn of_kinds(&self, lower: u8, upper: u8) -> i32 {
        let at = usize::from(lower) % KINDS * KINDS + usize::from(upper) % KINDS;
        self.kinds[at].into()
    }

    /// The log-odds of two extrapolations that meet.
    fn of_sdf(&self, lower: i32, upper: i32) -> i32 {
        let (difference, flat) = differ(lower, upper);
        let near = self.near.get(difference as usize * 2 + usize::from(flat));
        near.map_or_else(|| self.sdf[bin((difference, flat))], |odds| *odds).into()
    }

    fn features(&self, lower: &Side, upper: &Side) -> Features {
        let class = usize::from(!lower.is_plain()) + usize::from(!upper.is_plain());
        let (mut kinds, mut sdf, mut breaks) = (0i32, 0i32, 0u32);
        // The cells in which one of both is not of the commonest kind of the lower one: how many continue, and how many change.
        let (mut same, mut changed) = (0u32, 0u32);
        lower.kinds.pairs(&upper.kinds, |a, b, cells| {
            kinds += self.of_kinds(a, b) * cells as i32;
            same += if a == b && a != lower.most { cells } else { 0 };
            changed += if a == b { 0 } else { cells };
        });
        each_difference(lower, upper, |a, b| {
            let odds = self.of_sdf(a, b);
            sdf += odds;
            breaks += u32::from(odds < BREAK);
        });
        let (n, m) = (lower.kinds.len().max(upper.kinds.len()), lower.sdf.len().max(upper.sdf.len()));
        let mean = |sum: i32, n: usize| (f64::from(sum) / CELL_UNITS / n.max(1) as f64) as f32;
        let mut features =
            Features { class: class as u8, buckets: None, kinds: mean(kinds, n), sdf: mean(sdf, m), marks: 0.0 };
        if class > 0 {
            features.buckets = Some([bucket(changed), bucket(breaks)]);
            if class == 2 {
                // How many continue: 1 for all, -1 for none.
                let (same, changed) = (same as f32, changed as f32);
                features.marks = (same - changed) / (same + changed + FEW_MARKS);
            }
        }
        features
    }
}

/// Two sides that meet, the lower one first.
type Meeting<'s> = (&'s Side, &'s Side);

/// Pairs of sides to learn from, of one axis.
#[derive(Clone, Debug, Default)]
pub struct Pairs<'s> {
    /// Sides of neighbours, the lower one first, each with strangers in the place of one of them.
    pub near: Vec<(Meeting<'s>, Vec<Meeting<'s>>)>,
    /// Sides within blocks: of the same kind, but not the same.
    pub inside: Vec<Meeting<'s>>,
}

/// The odds of one axis.
#[derive(Clone, Debug)]
struct Axis {
    cells: Cells,
    weights: FeatureWeights,
    /// Least and most that a seam may say: no more than the number of seams that it was learned from can show.
    clip: [f64; 2],
}

/// What seams of a save look like.
#[derive(Clone, Debug, Default)]
pub struct Model {
    axes: [Option<Axis>; AXES],
}

impl Model {
    /// Learns from pairs of sides by axis; an axis with fewer than `least` neighbours says nothing.
    #[must_use]
    pub fn learn(mut pairs: [Pairs<'_>; AXES], least: usize, clip: f64) -> Self {
        // What goes on along x goes on along z.
        if pairs[0].near.len() + pairs[2].near.len() < MANY {
            let [x, _, z, _] = &mut pairs;
            x.near.append(&mut z.near);
            x.inside.append(&mut z.inside);
            *z = x.clone();
        }
        Self { axes: pairs.map(|pairs| Axis::learn(&pairs, least, clip)) }
    }

    /// Whether seams of an axis say anything.
    #[must_use]
    pub fn knows(&self, axis: usize) -> bool {
        self.axes.get(axis).is_some_and(Option::is_some)
    }

    /// Log-odds that two sides are those of neighbours, the lower one first.
    #[must_use]
    pub fn odds(&self, lower: &Side, upper: &Side, axis: usize) -> f64 {
        let Some(Some(axis)) = self.axes.get(axis) else { return 0.0 };
        let features = axis.cells.features(lower, upper);
        weigh(&axis.weights, &features).clamp(axis.clip[0], axis.clip[1])
    }

    /// The most that [`Self::odds`] says along an axis.
    #[must_use]
    pub fn most(&self, axis: usize) -> f64 {
        self.axes.get(axis).and_then(Option::as_ref).map_or(0.0, |axis| axis.clip[1])
    }

    /// A quick estimate of the order of the same odds, from some cells of both sides.
    #[must_use]
    pub fn few(&self, lower: &([u8; FEW], [i32; FEW]), upper: &([u8; FEW], [i32; FEW]), axis: usize) -> f32 {
        let Some(Some(axis)) = self.axes.get(axis) else { return 0.0 };
        let (mut kinds, mut sdf) = (0i32, 0i32);
        for k in 0..FEW {
            kinds += axis.cells.of_kinds(lower.0[k], upper.0[k]);
            sdf += axis.cells.of_sdf(lower.1[k], upper.1[k]);
        }
        let (by_kind, by_sdf) = (axis.weights[BOTH_KINDS], axis.weights[BOTH_SDF]);
        ((f64::from(kinds) * by_kind + f64::from(sdf) * by_sdf) / (CELL_UNITS * FEW as f64)) as f32
    }
}

fn weigh(weights: &FeatureWeights, features: &Features) -> f64 {
    features.each().iter().map(|(i, value)| weights[*i] * value).sum()
}

impl Axis {
    fn learn(pairs: &Pairs<'_>, least: usize, clip: f64) -> Option<Self> {
        if pairs.near.len() < least {
            return None;
        }
        // Cells are learned from some pairs and weighed on the others, so that rare cells are not believed twice.
        let is_many = pairs.near.len() >= MANY;
        let folds = if is_many { 2 } else { 5 };
        let fold = |i: usize| (i.wrapping_mul(0x9e37_79b9) >> 7) % folds;
        // Parts of a fixed size, so that the sums do not depend on the number of threads.
        let parts: Vec<_> = pairs.near.chunks(PART).collect();
        let parts = parallel::map(&parts, |part| {
            let mut random = Counts::new();
            part.iter().flat_map(|(_, strangers)| strangers).for_each(|(a, b)| random.add(a, b, 1.0));
            random
        });
        let random = parts.iter().fold(Counts::new(), Counts::sum);
        let by_fold = parallel::map_indices(folds, |of| {
            let mut near = Counts::new();
            let own = pairs.near.iter().enumerate().filter(|(i, _)| fold(*i) == of);
            own.for_each(|(_, ((a, b), _))| near.add(a, b, 1.0));
            near
        });
        let mut within = Counts::new();
        let inside = (pairs.near.len() as f64 / pairs.inside.len().max(1) as f64 * 0.2).min(0.2);
        pairs.inside.iter().for_each(|(a, b)| within.add(a, b, inside));
        let count = |without: Option<usize>| {
            let others = by_fold.iter().enumerate().filter(|(of, _)| without != Some(*of));
            let near = others.map(|(_, near)| near).chain([&within]).fold(Counts::new(), Counts::sum);
            Cells::new(&near, &random)
        };
        let without: Vec<Cells> = (0..folds).map(|fold| count(Some(fold))).collect();
        let groups: Vec<Vec<Features>> = parallel::map_indices(pairs.near.len(), |i| {
            let ((own, strangers), cells) = (&pairs.near[i], &without[fold(i)]);
            let pairs_of = std::iter::once(own).chain(strangers);
            let mut features: Vec<Features> = pairs_of.map(|(a, b)| cells.features(a, b)).collect();
            // So many weights need many pairs.
            if !is_many {
                features.iter_mut().for_each(|of| of.buckets = None);
            }
            features
        });
        let weights = regress(&groups, is_many);
        let n = pairs.near.len() as f64;
        let clip = [-clip.min(n.ln() + 1.0), clip.min((n * 16.0).ln())];
        Some(Self { cells: count(None), weights, clip })
    }
}

/// Logistic regression by Newton's method: the first of each group is a pair of neighbours, all others are strangers, and
/// both weigh the same together. So the result is the logarithm of how much likelier a pair is among neighbours. Drawn
/// towards zero where there is little to learn from.
///
/// A mean that is worse among neighbours is no evidence for them, and is left out. If pairs are many, the other features are fitted again
/// without it; with few pairs that makes them too sure. Measured on a healthy world of stairs that repeat, which got a finding by it.
fn regress(groups: &[Vec<Features>], is_many: bool) -> FeatureWeights {
    let mut is_used = [true; FEATURES];
    loop {
        let mut weights = fit(groups, &is_used);
        let worse: Vec<usize> = (3..CHANGES).filter(|&i| weights[i] < 0.0).collect();
        if worse.is_empty() || !is_many {
            worse.into_iter().for_each(|i| weights[i] = 0.0);
            return weights;
        }
        worse.into_iter().for_each(|i| is_used[i] = false);
    }
}

/// The same with some of the features.
fn fit(groups: &[Vec<Features>], is_used: &[bool; FEATURES]) -> FeatureWeights {
    const RIDGE: f64 = 0.1;
    // A bucket with few pairs is drawn towards the next ones, and little towards zero: a seam that continues better than those of all known
    // neighbours is one of neighbours too.
    const RIDGE_OF_BUCKETS: f64 = 0.01;
    let ridge = |i: usize| if i < CHANGES { RIDGE } else { RIDGE_OF_BUCKETS };
    let has_next = |i: usize| i >= CHANGES && (i - CHANGES) % BUCKETS + 1 < BUCKETS;
    let mut w = [0.0; FEATURES];
    for _ in 0..30 {
        let mut gradient: FeatureWeights = std::array::from_fn(|i| -ridge(i) * w[i]);
        let mut hessian = [[0.0; FEATURES]; FEATURES];
        (0..FEATURES).for_each(|i| hessian[i][i] += ridge(i));
        for i in (0..FEATURES).filter(|i| has_next(*i)) {
            let pull = RIDGE * (w[i + 1] - w[i]);
            gradient[i] += pull;
            gradient[i + 1] -= pull;
            hessian[i][i] += RIDGE;
            hessian[i + 1][i + 1] += RIDGE;
            hessian[i][i + 1] -= RIDGE;
            hessian[i + 1][i] -= RIDGE;
        }
        for group in groups {
            let strangers = group.len().saturating_sub(1).max(1) as f64;
            for (k, x) in group.iter().enumerate() {
                let p = 1.0 / (1.0 + (-weigh(&w, x)).exp());
                let (weight, right) = if k == 0 { (1.0, 1.0) } else { (1.0 / strangers, 0.0) };
                let (off, bend) = (weight * (right - p), weight * p * (1.0 - p));
                let own = x.each();
                let own = || own.iter().filter(|(i, _)| is_used[*i]);
                for &(i, value) in own() {
                    gradient[i] += off * value;
                    own().for_each(|&(j, other)| hessian[i][j] += bend * value * other);
                }
            }
        }
        let Some(step) = solve(hessian, gradient) else { break };
        let mut largest = 0.0f64;
        for (w, step) in w.iter_mut().zip(step) {
            let limited = step.clamp(-2.0, 2.0);
            *w += limited;
            largest = largest.max(limited.abs());
        }
        if largest < 1e-3 {
            break;
        }
    }
    w
}

/// Solves linear equations.
fn solve(mut a: [FeatureWeights; FEATURES], mut b: FeatureWeights) -> Option<FeatureWeights> {
    for i in 0..FEATURES {
        let pivot = (i..FEATURES).max_by(|&p, &q| a[p][i].abs().total_cmp(&a[q][i].abs()))?;
        a.swap(i, pivot);
        b.swap(i, pivot);
        if a[i][i].abs() < 1e-12 {
            return None;
        }
        for j in i + 1..FEATURES {
            let by = a[j][i] / a[i][i];
            let pivot = a[i];
            a[j].iter_mut().zip(pivot).skip(i).for_each(|(value, above)| *value -= by * above);
            b[j] -= by * b[i];
        }
    }
    let mut x = [0.0; FEATURES];
    for i in (0..FEATURES).rev() {
        let known: f64 = (i + 1..FEATURES).map(|k| a[i][k] * x[k]).sum();
        x[i] = (b[i] - known) / a[i][i];
    }
    Some(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A side of 16 x 16 cells with stone up to a row of each column, and air above.
    fn slope(row: impl Fn(usize) -> usize) -> Side {
        let kinds: Vec<u8> = (0..256).map(|cell| u8::from(cell / 16 >= row(cell % 16))).collect();
        Side::new(&kinds, [0].into())
    }

    #[test]
    fn ground_that_is_one_row_too_high_continues_nothing() {
        let sides: Vec<[Side; 2]> = (0..1200)
            .map(|n| {
                let (row, tilt) = (2 + n * 7 % 12, n % 3);
                let lower = slope(|column| row + column * tilt / 16);
                let upper = slope(|column| row + column * tilt / 16 + usize::from(column == n % 16));
                [lower, upper]
            })
            .collect();
        let strangers = |n: usize| (1..17).map(|k| (&sides[n][0], &sides[(n + k * 31) % sides.len()][1])).collect();
        let near = (0..sides.len()).map(|n| ((&sides[n][0], &sides[n][1]), strangers(n))).collect();
        let [x, y, z, lod] = <[Pairs<'_>; AXES]>::default();
        let model = Model::learn([Pairs { near, ..x }, y, z, lod], 12, 9.0);
        let odds = |higher: usize| model.odds(&slope(|_| 8), &slope(|_| 8 + higher), 0);
        assert!(odds(0) > 2.0, "{}", odds(0));
        assert!(odds(1) < 0.0, "{}", odds(1));
        assert!(odds(4) < odds(1), "{} and {}", odds(4), odds(1));
    }
}
