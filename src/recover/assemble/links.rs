//! The sides of blocks that meet, and the direction from one to the other.

use std::collections::HashMap;
use std::sync::Arc;

use crate::parallel;
use crate::recover::cells::{FEW, LOD_AXIS, Side, Vocabulary};
use crate::recover::faces::Faces;
use crate::recover::region::Case;

/// The sides of a block.
pub(super) struct Sides {
    /// For each axis the lower and the upper one.
    pub outer: [[Side; 2]; 3],
    pub small: Side,
    pub octants: [Side; 8],
}

/// The direction from a block to the one beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// The other one is next along an axis; whether towards larger coordinates.
    Beside(usize, bool),
    /// The other one is of the next LOD, and the block is its octant.
    Parent(usize),
    /// The other one is an octant of the block.
    Child(usize),
}

impl Sides {
    /// The sides of the blocks of a region, as far as they were kept. Blocks that share their outer layers share them.
    pub fn of_blocks(case: &Case, words: &Vocabulary) -> Vec<Option<Arc<Self>>> {
        let mut index: HashMap<*const Faces, usize> = HashMap::new();
        let mut all: Vec<&Faces> = Vec::new();
        let mut of_block: Vec<Option<usize>> = Vec::with_capacity(case.walk.blocks.len());
        for block in &case.walk.blocks {
            of_block.push(block.faces.as_ref().map(|faces| {
                *index.entry(Arc::as_ptr(faces)).or_insert_with(|| {
                    all.push(faces);
                    all.len() - 1
                })
            }));
        }
        let sides = parallel::map(&all, |faces| Arc::new(Self::new(faces, words)));
        of_block.into_iter().map(|at| Some(Arc::clone(&sides[at?]))).collect()
    }

    pub fn new(faces: &Faces, words: &Vocabulary) -> Self {
        let outer = |axis: usize, upper: bool| {
            let [a, b] = faces.side(axis, upper);
            words.side(a, b)
        };
        Self {
            outer: std::array::from_fn(|axis| [outer(axis, false), outer(axis, true)]),
            small: words.samples(&faces.small),
            octants: std::array::from_fn(|o| words.samples(&faces.octants[o])),
        }
    }

    /// Some cells of the side with a number, which is that of [`Link::few`].
    pub fn few(&self, side: usize) -> ([u8; FEW], [i32; FEW]) {
        let outer = self.outer.iter().flatten();
        let mut all = outer.chain([&self.small]).chain(&self.octants);
        all.nth(side).unwrap_or(&self.small).few()
    }
}

impl Link {
    /// The sides that are compared, the lower one first, and their axis.
    pub fn sides<'s>(self, own: &'s Sides, other: &'s Sides) -> (&'s Side, &'s Side, usize) {
        match self {
            Self::Beside(axis, true) => (&own.outer[axis][1], &other.outer[axis][0], axis),
            Self::Beside(axis, false) => (&other.outer[axis][1], &own.outer[axis][0], axis),
            Self::Parent(octant) => (&own.small, &other.octants[octant], LOD_AXIS),
            Self::Child(octant) => (&other.small, &own.octants[octant], LOD_AXIS),
        }
    }

    /// The side of the other block that is compared, whether the own side is the lower one, and their axis.
    pub fn opposite(self, other: &Sides) -> (&Side, bool, usize) {
        match self {
            Self::Beside(axis, upper) => (&other.outer[axis][usize::from(!upper)], upper, axis),
            Self::Parent(octant) => (&other.octants[octant], true, LOD_AXIS),
            Self::Child(_) => (&other.small, false, LOD_AXIS),
        }
    }

    /// The same seen from the other block.
    pub fn reversed(self) -> Self {
        match self {
            Self::Beside(axis, upper) => Self::Beside(axis, !upper),
            Self::Parent(octant) => Self::Child(octant),
            Self::Child(octant) => Self::Parent(octant),
        }
    }

    /// The axis along which sides are compared.
    pub const fn axis(self) -> usize {
        match self {
            Self::Beside(axis, _) => axis,
            Self::Parent(_) | Self::Child(_) => LOD_AXIS,
        }
    }

    /// The index of the own side among the few cells of a block.
    pub const fn few(self) -> usize {
        match self {
            Self::Beside(axis, upper) => axis * 2 + upper as usize,
            Self::Parent(_) => 6,
            Self::Child(octant) => 7 + octant,
        }
    }
}

/// Sides of a block: six beside it, the one of the next LOD, and eight octants.
pub(super) const SIDES: usize = 15;

/// Some cells of one side of each block; `None` if its sides were not kept.
pub(super) type Few = Vec<Option<([u8; FEW], [i32; FEW])>>;

/// The positions beside one, with their direction from it.
pub(super) fn around(lod: u8, position: [i32; 3], lods: bool) -> Vec<(Link, (u8, [i32; 3]))> {
    let mut out = Vec::with_capacity(15);
    for axis in 0..3 {
        for upper in [false, true] {
            let mut at = position;
            let Some(moved) = at[axis].checked_add(if upper { 1 } else { -1 }) else { continue };
            at[axis] = moved;
            out.push((Link::Beside(axis, upper), (lod, at)));
        }
    }
    if lods {
        if let Some(next) = lod.checked_add(1) {
            let octant = (0..3).map(|axis| (position[axis].rem_euclid(2) as usize) << axis).sum();
            out.push((Link::Parent(octant), (next, position.map(|v| v.div_euclid(2)))));
        }
        if let Some(below) = lod.checked_sub(1) {
            for octant in 0..8usize {
                let at = |axis: usize| position[axis].checked_mul(2)?.checked_add((octant >> axis & 1) as i32);
                let (Some(x), Some(y), Some(z)) = (at(0), at(1), at(2)) else { continue };
                out.push((Link::Child(octant), (below, [x, y, z])));
            }
        }
    }
    out
}
