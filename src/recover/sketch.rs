//! A few voxels of each side of a block: enough to see that it does not continue its neighbours.
//!
//! The check sketches every block of a healthy save, so a sketch has to be small and quick to make.

use crate::godot::block::Block;
use crate::godot::channel::{CHANNELS, Depth, SDF};
use crate::recover::faces::{Values, strides};

/// Voxels along each edge of a side.
const EDGE: usize = 4;

/// Voxels of a side.
pub const CELLS: usize = EDGE * EDGE;

/// How much rounding may change a signed distance of 8 bits, and one of any other depth.
const COARSE: i32 = 512;
const FINE: i32 = 4;

/// Some voxels of one side of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    kinds: [u16; CELLS],
    /// The signed distances of the same voxels, and of those one voxel further inside.
    outer: [i16; CELLS],
    inner: [i16; CELLS],
    /// By how much rounding may change a signed distance.
    rounding: i32,
}

/// Some voxels of the six sides of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sketch {
    /// All voxels are the same.
    Uniform(Box<Side>),
    /// For each axis the lower and the upper side.
    Sides(Box<[[Side; 2]; 3]>),
}

impl Sketch {
    /// The sketch of a whole block; `None` if it is thinner than two voxels.
    #[must_use]
    pub fn draw(block: &Block<'_>) -> Option<Self> {
        if block.size.iter().any(|&n| n < 2) || block.channels.len() < CHANNELS {
            return None;
        }
        let values = Values::new(block);
        let rounding = if block.channels[SDF].depth == Depth::Bits8 { COARSE } else { FINE };
        if values.is_uniform() {
            let (kind, sdf) = (values.kind(0), values.sdf(0));
            let side = Side { kinds: [kind; CELLS], outer: [sdf; CELLS], inner: [sdf; CELLS], rounding };
            return Some(Self::Uniform(Box::new(side)));
        }
        let (size, strides) = (block.size.map(usize::from), strides(block));
        let side = |axis: usize, upper: bool| {
            let (last, stride) = (size[axis] - 1, strides[axis]);
            let (outer, inner) = if upper { (last * stride, (last - 1) * stride) } else { (0, stride) };
            let (first, second) = ((axis + 1) % 3, (axis + 2) % 3);
            let at: [usize; CELLS] = std::array::from_fn(|k| {
                let along = |axis: usize, k: usize| (2 * k + 1) * size[axis] / (2 * EDGE) * strides[axis];
                along(first, k / EDGE) + along(second, k % EDGE)
            });
            let (outer, inner) = (at.map(|i| i + outer), at.map(|i| i + inner));
            Side { kinds: values.kinds(&outer), outer: values.sdfs(&outer), inner: values.sdfs(&inner), rounding }
        };
        Some(Self::Sides(Box::new(std::array::from_fn(|axis| [side(axis, false), side(axis, true)]))))
    }

    /// One side; `upper` is the one towards larger coordinates.
    #[must_use]
    pub fn side(&self, axis: usize, upper: bool) -> &Side {
        match self {
            Self::Uniform(side) => side,
            Self::Sides(sides) => &sides[axis % 3][usize::from(upper)],
        }
    }
}

impl Side {
    /// Whether all voxels are the same.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.kinds.iter().all(|kind| *kind == self.kinds[0]) && self.outer.iter().all(|sdf| *sdf == self.outer[0])
    }

    /// How many of the voxels do not continue those of the next block towards larger coordinates: another kind, or a signed
    /// distance that is far from what both sides lead to.
    #[must_use]
    pub fn differ(&self, upper: &Self) -> u32 {
        let breaks = |k: usize| {
            let [a2, a, b, b2] = [self.inner[k], self.outer[k], upper.outer[k], upper.inner[k]].map(i32::from);
            let (before, step, after) = (a - a2, b - a, b2 - b);
            let slack = before.abs() + after.abs() + self.rounding.max(upper.rounding);
            // Without a branch, so that all cells are compared at once.
            (self.kinds[k] != upper.kinds[k]) | ((step - (before + after) / 2).abs() > slack)
        };
        (0..CELLS).map(|k| u32::from(breaks(k))).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(kind: u16, outer: i16, inner: i16) -> Side {
        Side { kinds: [kind; CELLS], outer: [outer; CELLS], inner: [inner; CELLS], rounding: FINE }
    }

    #[test]
    fn cells_of_another_kind_differ() {
        assert_eq!(side(3, 0, 0).differ(&side(3, 0, 0)), 0);
        let mut other = side(3, 0, 0);
        other.kinds[5] = 4;
        assert_eq!(side(3, 0, 0).differ(&other), 1);
        assert!(side(3, 0, 0).is_plain() && !other.is_plain());
    }

    #[test]
    fn a_distance_that_goes_on_does_not_differ() {
        // From 100 by 20 at each voxel: 100, 120 | 140, 160.
        assert_eq!(side(1, 120, 100).differ(&side(1, 140, 160)), 0);
        let all = CELLS as u32;
        assert_eq!(side(1, 120, 100).differ(&side(1, 900, 920)), all, "a jump");
        assert_eq!(side(1, 900, 900).differ(&side(1, 900, 900)), 0, "clamped on both sides");
    }
}
