//! How well two blocks go together at their common side, as a logarithm of odds that is learnt from the save itself.
//!
//! A seam is put into one of a few hundred classes by what differs across it and what differs just beside it. How much
//! more often a class occurs between neighbours than between blocks that have nothing to do with each other is counted:
//! inside the blocks and between those whose places are known, against blocks put side by side at random. Where the
//! voxels do not go on from block to block, as in noise, all classes come out alike and say nothing.

use crate::recover::faces::{Faces, Layer};
use crate::recover::weights::SEAM;

const KIND_CLASSES: usize = 4 * 4 * 5 * 2 * 2;
const SDF_CLASSES: usize = 6 * 3 * 3 * 2;

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

/// What two LODs have in common, seen as classes: a block, and the one of the next LOD of which it is an octant
/// (x + 2 * (y + 2 * z)).
#[must_use]
pub fn scaled(block: &Faces, next: &Faces, octant: usize) -> Option<Seam> {
    two_lods(&block.small, next.octants.get(octant)?)
}

/// What a block and the next LOD have in common where that is made of just this block.
#[must_use]
pub fn scaled_to_itself(block: &Faces) -> Option<Seam> {
    two_lods(&block.small, &block.small)
}

/// Whether an octant of the next LOD shows so much that one like it is no chance, and a block has nearly all of it.
/// `None` when it shows too little.
#[must_use]
pub fn is_octant(block: &Faces, next: &Faces, octant: usize) -> Option<bool> {
    let (a, b) = (&block.small.kinds, &next.octants.get(octant)?.kinds);
    let common = most(b);
    let shown = b.iter().filter(|kind| **kind != common).count();
    let same = pairs(a, b).filter(|(x, y)| x == y && *y != common).count();
    (shown >= 8).then_some(same * 10 >= shown * 9)
}

fn two_lods(a: &Layer, b: &Layer) -> Option<Seam> {
    if a.kinds.is_empty() || b.kinds.is_empty() {
        return None;
    }
    let s = signs(&a.sdf, &b.sdf);
    let s_bin = [0.0, 0.02, 0.15, 0.4].iter().filter(|&&t| s > t).count();
    let flat = usize::from(a.sdf.len() > 1) + usize::from(b.sdf.len() > 1);
    Some(Seam { kind: marks(&a.kinds, &b.kinds) as u16 * 2, sdf: (s_bin * 3 + flat) as u16 })
}

/// The seams inside a block, which show how seams look that have no fault.
pub fn inner(faces: &Faces) -> impl Iterator<Item = Seam> + '_ {
    let rows = faces.inner.iter().zip(faces.inner_classes).enumerate();
    rows.filter_map(|(axis, (row, classes))| match row.as_deref() {
        Some([a2, a, b, b2]) => Some(classify(a2, a, b, b2, axis)),
        None => classes.map(|classes| Seam { kind: (classes >> 16) as u16, sdf: classes as u16 }),
    })
}

/// Drops the layers from the middle of a block and keeps the classes of their seams.
pub fn forget_inner(faces: &mut Faces) {
    for (axis, row) in faces.inner.iter_mut().enumerate() {
        if let Some([a2, a, b, b2]) = row.take().as_deref() {
            let Seam { kind, sdf } = classify(a2, a, b, b2, axis);
            faces.inner_classes[axis] = Some(u32::from(kind) << 16 | u32::from(sdf));
        }
    }
}

fn classify(a2: &Layer, a: &Layer, b: &Layer, b2: &Layer, axis: usize) -> Seam {
    let vertical = usize::from(axis == 1);
    let flat = |x: usize, y: usize| usize::from(x > 1) + usize::from(y > 1);
    let kind = marks(&a.kinds, &b.kinds) * 2 + vertical;
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

/// How the marks on two layers, the voxels of another kind than most, go together.
fn marks(a: &[u16], b: &[u16]) -> usize {
    let (most_a, most_b) = (most(a), most(b));
    let (mut own_a, mut own_b, mut both, mut same, mut n) = (0u32, 0u32, 0u32, 0u32, 0u32);
    let common = most_a;
    for (x, y) in pairs(a, b) {
        n += 1;
        own_a += u32::from(x != most_a);
        own_b += u32::from(y != most_b);
        both += u32::from(x != common || y != common);
        same += u32::from(x == y && x != common);
    }
    let bin = |k: u32| match f64::from(k) / f64::from(n.max(1)) {
        0.0 => 0,
        x if x <= 0.02 => 1,
        x if x <= 0.12 => 2,
        _ => 3,
    };
    let share = f64::from(same) / f64::from(both.max(1));
    let go_on = match () {
        () if both == 0 => 0,
        () if same == 0 => 1,
        () => 2 + usize::from(share > 0.3) + usize::from(share > 0.7),
    };
    ((bin(own_a) * 4 + bin(own_b)) * 5 + go_on) * 2 + usize::from(most_a == most_b)
}

/// The kind of most voxels.
fn most(kinds: &[u16]) -> u16 {
    let mut sorted = kinds.to_vec();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|a, b| a == b).max_by_key(|run| run.len());
    runs.and_then(|run| run.first()).copied().unwrap_or(0)
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

    /// Whether there are seams between blocks whose places are known.
    #[must_use]
    pub fn has_neighbours(&self) -> bool {
        self.neighbours.total >= SEAM.least
    }

    /// Forgets the neighbours, so that they can be counted anew.
    pub fn forget_neighbours(&mut self) {
        self.neighbours = Counts::default();
    }

    /// Computes the odds from what was counted.
    pub fn learn(&mut self) {
        let each = |inside: &[f64], near: &[f64], random: &[f64]| -> Vec<f64> {
            (0..inside.len()).map(|i| self.learnt(inside[i], near[i], random[i], 0.0, inside.len())).collect()
        };
        let kinds = each(&self.inside.kinds, &self.neighbours.kinds, &self.random.kinds);
        let sdf = each(&self.inside.sdf, &self.neighbours.sdf, &self.random.sdf);
        (self.kinds, self.sdf) = (kinds, sdf);
        self.trust = self.measured();
    }

    /// Logarithm of the odds of a class by its counts; `left` seams between neighbours are left out.
    fn learnt(&self, inside: f64, near: f64, random: f64, left: f64, classes: usize) -> f64 {
        // Seams between neighbours count more than those inside, which are of the same kind but not the same.
        let weight = (SEAM.inside / self.inside.total.max(1.0)).min(SEAM.most_inside);
        let (classes, all) = (classes as f64, self.neighbours.total - left + weight * self.inside.total);
        let null = (random + SEAM.random) / (self.random.total + SEAM.random * classes);
        // A class that was never met says nothing, rather than much by chance.
        let seen = near.max(0.0) + weight * inside;
        let adjacent = (seen + SEAM.null * null + SEAM.each_class) / (all + SEAM.null + SEAM.each_class * classes);
        (adjacent / null).ln().clamp(-SEAM.clip, SEAM.clip)
    }

    /// Whether what was learnt holds between blocks: for each seam between known neighbours by the odds that are learnt
    /// without it.
    fn measured(&self) -> f64 {
        let Counts { kinds, sdf, total } = &self.neighbours;
        if *total < SEAM.least || self.random.total < SEAM.least_random {
            return 0.0;
        }
        let gain = |counts: &[f64], odds: &dyn Fn(usize) -> f64, all: f64| -> f64 {
            counts.iter().enumerate().filter(|(_, n)| **n > 0.0).map(|(i, n)| n * odds(i)).sum::<f64>() / all
        };
        let without = |of: fn(&Counts) -> &[f64]| {
            move |i: usize| {
                self.learnt(
                    of(&self.inside)[i],
                    of(&self.neighbours)[i] - 1.0,
                    of(&self.random)[i],
                    1.0,
                    of(&self.inside).len(),
                )
            }
        };
        let near = gain(kinds, &without(|c| &c.kinds), *total) + gain(sdf, &without(|c| &c.sdf), *total);
        let far = gain(&self.random.kinds, &|i| self.kinds[i], self.random.total)
            + gain(&self.random.sdf, &|i| self.sdf[i], self.random.total);
        // By chance alone a few seams may look good.
        let doubt = SEAM.doubt / total.sqrt();
        ((near - far - SEAM.gain - doubt) / SEAM.full).clamp(0.0, 1.0)
    }

    /// Logarithm of the odds that a seam is one between neighbours.
    #[must_use]
    pub fn weigh(&self, seam: Seam) -> f64 {
        let (Some(kind), Some(sdf)) = (self.kinds.get(seam.kind as usize), self.sdf.get(seam.sdf as usize)) else {
            return 0.0;
        };
        // The two look at the same surface: where they agree, the stronger one is enough.
        let both =
            if kind.signum() == sdf.signum() { if kind.abs() > sdf.abs() { *kind } else { *sdf } } else { kind + sdf };
        both * self.trust
    }
}
