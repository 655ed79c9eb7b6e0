//! How well two blocks go together at their common side, as a logarithm of odds that is learnt from the save itself.
//!
//! A seam is put into one of a few hundred classes by what differs across it and what differs just beside it. How much
//! more often a class occurs between neighbours than between blocks that have nothing to do with each other is counted:
//! inside the blocks and between those whose places are known, against blocks put side by side at random. Where the
//! voxels do not go on from block to block, as in noise, all classes come out alike and say nothing.

use crate::trace::faces::{Faces, Layer};

const KIND_CLASSES: usize = 7 * 3 * 3 * 2;
const SDF_CLASSES: usize = 6 * 3 * 3 * 2;

/// The most that one seam may say, either way.
const CLIP: f64 = 3.5;

/// A seam, seen as classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seam {
    kind: u16,
    sdf: u16,
}

/// The seam between a block and the next one towards larger coordinates along an axis.
#[must_use]
pub fn seam(lower: &Faces, upper: &Faces, axis: usize) -> Seam {
    let ([a, a2], [b, b2]) = (lower.side(axis, true), upper.side(axis, false));
    classify(a2, a, b, b2, axis)
}

/// The seams inside a block, which show how seams look that have no fault.
pub fn inner(faces: &Faces) -> impl Iterator<Item = Seam> + '_ {
    let rows = faces.inner.iter().enumerate();
    rows.filter_map(|(axis, row)| row.as_ref().map(|[a2, a, b, b2]| classify(a2, a, b, b2, axis)))
}

fn classify(a2: &Layer, a: &Layer, b: &Layer, b2: &Layer, axis: usize) -> Seam {
    let vertical = usize::from(axis == 1);
    let flat = |x: usize, y: usize| usize::from(x > 1) + usize::from(y > 1);
    let (m, e) = (differ(&a.kinds, &b.kinds), (differ(&a.kinds, &a2.kinds) + differ(&b.kinds, &b2.kinds)) / 2.0);
    let m_bin = [0.0, 0.03, 0.1, 0.25, 0.5, 0.8].iter().filter(|&&t| m > t).count();
    let e_bin = [0.0, 0.1].iter().filter(|&&t| e > t).count();
    let kind = ((m_bin * 3 + e_bin) * 3 + flat(a.kinds.len(), b.kinds.len())) * 2 + vertical;
    let (step, inside) = (distance(&a.sdf, &b.sdf), (distance(&a.sdf, &a2.sdf) + distance(&b.sdf, &b2.sdf)) / 2.0);
    let ratio = if step == 0.0 { 0.0 } else { step / (inside + 1.0) };
    let r_bin = [0.0, 1.3, 2.0, 4.0, 10.0].iter().filter(|&&t| ratio > t).count();
    let s = signs(&a.sdf, &b.sdf);
    let s_bin = [0.02, 0.15].iter().filter(|&&t| s > t).count();
    let sdf = ((r_bin * 3 + s_bin) * 3 + flat(a.sdf.len(), b.sdf.len())) * 2 + vertical;
    Seam { kind: kind as u16, sdf: sdf as u16 }
}

fn pairs<'l, T: Copy>(a: &'l [T], b: &'l [T]) -> impl Iterator<Item = (T, T)> + 'l {
    let n = a.len().max(b.len());
    // A layer of one value goes with every voxel of the other.
    let at = |s: &[T], i: usize| s.get(if s.len() == 1 { 0 } else { i }).copied();
    (0..n).filter_map(move |i| Some((at(a, i)?, at(b, i)?)))
}

fn share<T: Copy>(a: &[T], b: &[T], count: impl Fn(T, T) -> f64) -> f64 {
    let (mut sum, mut n) = (0.0, 0u32);
    for (x, y) in pairs(a, b) {
        sum += count(x, y);
        n += 1;
    }
    sum / f64::from(n.max(1))
}

fn differ(a: &[u16], b: &[u16]) -> f64 {
    share(a, b, |x, y| f64::from(u8::from(x != y)))
}

fn distance(a: &[i16], b: &[i16]) -> f64 {
    share(a, b, |x, y| f64::from((i32::from(x) - i32::from(y)).abs()))
}

fn signs(a: &[i16], b: &[i16]) -> f64 {
    share(a, b, |x, y| f64::from(u8::from((x < 0) != (y < 0))))
}

/// Counts of seams.
#[derive(Clone, Debug)]
struct Counts {
    kinds: Vec<f64>,
    sdf: Vec<f64>,
    total: f64,
}

impl Default for Counts {
    fn default() -> Self {
        Self { kinds: vec![0.0; KIND_CLASSES], sdf: vec![0.0; SDF_CLASSES], total: 0.0 }
    }
}

impl Counts {
    fn add(&mut self, seam: Seam, weight: f64) {
        self.kinds[seam.kind as usize] += weight;
        self.sdf[seam.sdf as usize] += weight;
        self.total += weight;
    }
}

/// What seams of a save look like.
#[derive(Clone, Debug, Default)]
pub struct Odds {
    inside: Counts,
    neighbours: Counts,
    random: Counts,
    kinds: Vec<f64>,
    sdf: Vec<f64>,
    /// How far the seams are believed, 0 to 1.
    pub trust: f64,
}

impl Odds {
    /// A seam inside a block.
    pub fn add_inside(&mut self, seam: Seam) {
        self.inside.add(seam, 1.0);
    }

    /// A seam between two blocks whose places are known.
    pub fn add_neighbours(&mut self, seam: Seam) {
        self.neighbours.add(seam, 1.0);
    }

    /// A seam between two blocks that have nothing to do with each other.
    pub fn add_random(&mut self, seam: Seam) {
        self.random.add(seam, 1.0);
    }

    /// Forgets the neighbours, so that they can be counted anew.
    pub fn forget_neighbours(&mut self) {
        self.neighbours = Counts::default();
    }

    /// Computes the odds from what was counted.
    pub fn learn(&mut self) {
        // Seams between neighbours count more than those inside, which are of the same kind but not the same.
        let weight = (200.0 / self.inside.total.max(1.0)).min(0.5);
        let odds = |inside: &[f64], near: &[f64], random: &[f64], n: f64, r: f64| -> Vec<f64> {
            let classes = inside.len() as f64;
            let each = |i: usize| {
                let null = (random[i] + 0.5) / (r + 0.5 * classes);
                // A class that was never met says nothing, rather than much by chance.
                let seen = near[i] + weight * inside[i];
                let adjacent = (seen + 6.0 * null + 0.02) / (n + 6.0 + 0.02 * classes);
                (adjacent / null).ln().clamp(-CLIP, CLIP)
            };
            (0..inside.len()).map(each).collect()
        };
        let (n, r) = (self.neighbours.total + weight * self.inside.total, self.random.total);
        self.kinds = odds(&self.inside.kinds, &self.neighbours.kinds, &self.random.kinds, n, r);
        self.sdf = odds(&self.inside.sdf, &self.neighbours.sdf, &self.random.sdf, n, r);
        self.trust = self.measured();
    }

    /// Whether what was learnt inside of the blocks holds between them, by those whose places are known.
    fn measured(&self) -> f64 {
        let Counts { kinds, sdf, total } = &self.neighbours;
        if *total < 6.0 || self.random.total < 20.0 {
            return 0.0;
        }
        let gain = |counts: &[f64], odds: &[f64], all: f64| -> f64 {
            counts.iter().zip(odds).map(|(n, o)| n * o).sum::<f64>() / all
        };
        let near = gain(kinds, &self.kinds, *total) + gain(sdf, &self.sdf, *total);
        let far = gain(&self.random.kinds, &self.kinds, self.random.total)
            + gain(&self.random.sdf, &self.sdf, self.random.total);
        // By chance alone a few seams may look good.
        let doubt = 1.5 / total.sqrt();
        ((near - far - 0.1 - doubt) / 0.4).clamp(0.0, 1.0)
    }

    /// Logarithm of the odds that a seam is one between neighbours.
    #[must_use]
    pub fn of(&self, seam: Seam) -> f64 {
        let (Some(kind), Some(sdf)) = (self.kinds.get(seam.kind as usize), self.sdf.get(seam.sdf as usize)) else {
            return 0.0;
        };
        // The two look at the same surface: where they agree, the stronger one is enough.
        let both =
            if kind.signum() == sdf.signum() { if kind.abs() > sdf.abs() { *kind } else { *sdf } } else { kind + sdf };
        both * self.trust
    }
}
