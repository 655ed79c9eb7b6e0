//! How well the voxels of two blocks continue across their common side, as log-odds learned from the save itself.
//!
//! The model has two layers. The first compares the two outer layers cell by cell: which values of TYPE meet, and how
//! far the linear extrapolations of the SDF differ. The second weighs the means of a whole side by a logistic regression
//! of the right neighbour among strangers, since the cells of one side are far from independent. Plain sides, with
//! one value everywhere, are weighed apart: they say almost nothing.

use std::collections::HashMap;

use crate::parallel;
use crate::recover::faces::Layer;

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
    /// The numbers of the kinds, one if all are the same.
    kinds: Box<[u8]>,
    /// The commonest of them.
    most: u8,
    /// Twice the SDF half a voxel beyond the side, and whether the SDF does not change towards it, as the lowest bit; one
    /// if all are the same.
    sdf: Box<[i32]>,
}

impl Side {
    fn new(kinds: Box<[u8]>, sdf: Box<[i32]>) -> Self {
        let mut counts = [0u32; KINDS];
        for &kind in &kinds {
            if let Some(count) = counts.get_mut(usize::from(kind)) {
                *count += 1;
            }
        }
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
        let mixed = self.kinds.iter().any(|kind| *kind != self.most);
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
        let kinds = std::array::from_fn(|k| self.kinds.get(at(self.kinds.len(), k)).copied().unwrap_or(0));
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
        let kinds = outer.kinds.iter().map(|kind| self.number(*kind)).collect();
        let n = outer.sdf.len().max(inner.sdf.len());
        let at = |values: &[i16], i: usize| {
            i32::from(values.get(if values.len() == 1 { 0 } else { i }).copied().unwrap_or(0))
        };
        let sdf = (0..n).map(|i| {
            let (a, b) = (at(&outer.sdf, i), at(&inner.sdf, i));
            (3 * a - b) << 1 | i32::from(a == b)
        });
        Side::new(kinds, sdf.collect())
    }

    /// What two LODs have in common, as a side.
    #[must_use]
    pub fn samples(&self, layer: &Layer) -> Side {
        let kinds = layer.kinds.iter().map(|kind| self.number(*kind)).collect();
        Side::new(kinds, layer.sdf.iter().map(|&v| i32::from(v) << 2).collect())
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
        each_kind(lower, upper, |a, b| self.kinds[usize::from(a) * KINDS + usize::from(b)] += weight / n);
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

fn each_kind(a: &Side, b: &Side, mut each: impl FnMut(u8, u8)) {
    match (&*a.kinds, &*b.kinds) {
        (&[a], b) => b.iter().for_each(|&b| each(a, b)),
        (a, &[b]) => a.iter().for_each(|&a| each(a, b)),
        (a, b) => a.iter().zip(b).for_each(|(&a, &b)| each(a, b)),
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
/// the kinds and of the SDF; if none is plain, how many of the cells that stand out continue; and how few cells change their kind, if
/// one side is plain and if none is.
const FEATURES: usize = 12;

/// The indices of the last of them.
const BOTH_KINDS: usize = 7;
const BOTH_SDF: usize = 8;
const MARKS: usize = 9;
const CHANGES: usize = 10;

/// Cells that stand out below which little is concluded from them.
const FEW_MARKS: f64 = 4.0;

/// The logarithm of changed cells of a side that are neither few nor many. Chosen.
const FEW_CHANGES: f64 = 3.0;

/// The cells in which one of two sides is not of the commonest kind of the lower one: how many continue, and how many change.
fn count_marked(lower: &Side, upper: &Side) -> (f64, f64) {
    let (mut same, mut changed) = (0u32, 0u32);
    each_kind(lower, upper, |a, b| {
        same += u32::from(a == b && a != lower.most);
        changed += u32::from(a != b);
    });
    (same.into(), changed.into())
}

/// A pair of sides as the second layer sees it.
type Features = [f64; FEATURES];

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
        let (mut kinds, mut sdf) = (0i32, 0i32);
        each_kind(lower, upper, |a, b| kinds += self.of_kinds(a, b));
        each_difference(lower, upper, |a, b| sdf += self.of_sdf(a, b));
        let (n, m) = (lower.kinds.len().max(upper.kinds.len()), lower.sdf.len().max(upper.sdf.len()));
        let mean = |sum: i32, n: usize| f64::from(sum) / CELL_UNITS / n.max(1) as f64;
        let mut features = [0.0; FEATURES];
        features[class] = 1.0;
        features[3 + 2 * class] = mean(kinds, n);
        features[4 + 2 * class] = mean(sdf, m);
        if class > 0 {
            let (same, changed) = count_marked(lower, upper);
            features[CHANGES + class - 1] = FEW_CHANGES - (1.0 + changed).ln();
            if class == 2 {
                // How many continue: 1 for all, -1 for none.
                features[MARKS] = (same - changed) / (same + changed + FEW_MARKS);
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
    weights: Features,
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

fn weigh(weights: &Features, features: &Features) -> f64 {
    weights.iter().zip(features).map(|(w, f)| w * f).sum()
}

impl Axis {
    fn learn(pairs: &Pairs<'_>, least: usize, clip: f64) -> Option<Self> {
        if pairs.near.len() < least {
            return None;
        }
        // Cells are learned from some pairs and weighed on the others, so that rare cells are not believed twice.
        let folds = if pairs.near.len() < MANY { 5 } else { 2 };
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
            if pairs.near.len() < MANY {
                features.iter_mut().for_each(|of| of[CHANGES..].fill(0.0));
            }
            features
        });
        let weights = regress(&groups);
        let n = pairs.near.len() as f64;
        let clip = [-clip.min(n.ln() + 1.0), clip.min((n * 16.0).ln())];
        Some(Self { cells: count(None), weights, clip })
    }
}

/// Logistic regression by Newton's method: the first of each group is a pair of neighbours, all others are strangers, and
/// both weigh the same together. So the result is the logarithm of how much likelier a pair is among neighbours. Drawn
/// towards zero where there is little to learn from.
fn regress(groups: &[Vec<Features>]) -> Features {
    const RIDGE: f64 = 0.1;
    let mut w = [0.0; FEATURES];
    for _ in 0..30 {
        let mut gradient = w.map(|w| -RIDGE * w);
        let mut hessian = [[0.0; FEATURES]; FEATURES];
        (0..FEATURES).for_each(|i| hessian[i][i] += RIDGE);
        for group in groups {
            let strangers = group.len().saturating_sub(1).max(1) as f64;
            for (k, x) in group.iter().enumerate() {
                let p = 1.0 / (1.0 + (-weigh(&w, x)).exp());
                let (weight, right) = if k == 0 { (1.0, 1.0) } else { (1.0 / strangers, 0.0) };
                let (off, bend) = (weight * (right - p), weight * p * (1.0 - p));
                for i in (0..FEATURES).filter(|&i| x[i] != 0.0) {
                    gradient[i] += off * x[i];
                    (0..FEATURES).for_each(|j| hessian[i][j] += bend * x[i] * x[j]);
                }
            }
        }
        let Some(step) = solve(hessian, gradient) else { break };
        let mut largest = 0.0f64;
        for i in 0..FEATURES {
            let limited = step[i].clamp(-2.0, 2.0);
            w[i] += limited;
            largest = largest.max(limited.abs());
        }
        if largest < 1e-3 {
            break;
        }
    }
    // What fits worse is no evidence for neighbours.
    (3..FEATURES).for_each(|i| w[i] = w[i].max(0.0));
    w
}

/// Solves linear equations.
fn solve(mut a: [[f64; FEATURES]; FEATURES], mut b: Features) -> Option<Features> {
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
        let kinds = (0..256).map(|cell| u8::from(cell / 16 >= row(cell % 16))).collect();
        Side::new(kinds, [0].into())
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
