//! The order of a chunk's voxels, which is not stored: a default by shape, unless the voxels show another one.
//!
//! ```text
//! 16 x n x 16:  Voxel [16][n][16], indexed x, y, z: the last index varies fastest (xyz)
//! 32 x 32 x 32: indexed y, z, x, like the records (yzx): an assumption
//! ```
//!
//! Source: the published notes on the format. Neighbouring voxels of a world mostly have equal values, so the right order is
//! the one by which fewer neighbours differ: inside a chunk, and where two chunks meet.

use crate::bytes::{index, len64};
use crate::pak::Inferred;
use crate::pak::chunk::{Shape, Voxels};

/// The order of a chunk's voxels, named as an array is indexed: the last axis varies fastest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// y slowest, x fastest: the order of the records.
    #[default]
    Yzx,
    /// x slowest, z fastest: that of the published notes for chunks of 16 x n x 16.
    Xyz,
    /// x slowest, y fastest.
    Xzy,
    /// y slowest, z fastest.
    Yxz,
    /// z slowest, y fastest.
    Zxy,
    /// z slowest, x fastest.
    Zyx,
}

impl Order {
    /// Every order.
    pub const ALL: [Self; 6] = [Self::Yzx, Self::Xyz, Self::Xzy, Self::Yxz, Self::Zxy, Self::Zyx];

    /// `yzx` and so on: the last axis varies fastest.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Yzx => "yzx",
            Self::Xyz => "xyz",
            Self::Xzy => "xzy",
            Self::Yxz => "yxz",
            Self::Zxy => "zxy",
            Self::Zyx => "zyx",
        }
    }

    /// The order of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.name() == name)
    }

    /// What belongs to x, y and z, with that of the fastest axis first.
    pub(super) const fn fastest_first<T: Copy>(self, [x, y, z]: [T; 3]) -> [T; 3] {
        match self {
            Self::Yzx => [x, z, y],
            Self::Xyz => [z, y, x],
            Self::Xzy => [y, z, x],
            Self::Yxz => [z, x, y],
            Self::Zxy => [y, x, z],
            Self::Zyx => [x, y, z],
        }
    }

    /// The order of chunks of this shape, if nothing shows another one.
    #[must_use]
    pub const fn of_shape(shape: &Shape) -> Inferred<Self> {
        if let [16, _, 16] = shape.size {
            Inferred::documented(Self::Xyz, "the notes on the format declare Voxel [16][n][16]")
        } else {
            Inferred::assumed(Self::Yzx, "records have the same order")
        }
    }
}

/// The orders that chunks are known to have.
pub const KNOWN: [Order; 2] = [Order::Xyz, Order::Yzx];

/// Least number of compared voxels.
const COMPARED: u64 = 512;

/// Of 1,000 voxels, by how many more the worse order must differ; it must also differ twice as often.
const MARGIN: u64 = 30;

/// Counts how many neighbouring voxels differ by each of the known orders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    differ: [u64; 2],
    compared: [u64; 2],
}

impl Evidence {
    /// Counts neighbours inside a chunk, along the slowest axis: the steps of that differ unless the chunk is a cube.
    pub fn add_inside(&mut self, data: &[u8], shape: &Shape) {
        let [x, y, z] = shape.size.map(u64::from);
        let width = index(shape.voxel_bytes.into());
        let cells = |a: u64, b: u64| a.checked_mul(b).and_then(|n| usize::try_from(n).ok());
        let steps = [cells(y, z), cells(z, x)];
        if steps.first() == steps.last() || len64(data) != shape.bytes() || width == 0 {
            return;
        }
        for ((differ, compared), step) in self.differ.iter_mut().zip(&mut self.compared).zip(steps) {
            let Some(behind) = step.and_then(|step| data.get(step.checked_mul(width)?..)) else { continue };
            for (a, b) in data.chunks_exact(width).zip(behind.chunks_exact(width)) {
                *compared = compared.saturating_add(1);
                *differ = differ.saturating_add(u64::from(a != b));
            }
        }
    }

    /// Counts neighbours where two chunks of one shape meet; the second follows the first along an axis.
    pub fn add_seam(&mut self, first: &[u8], second: &[u8], shape: &Shape, axis: usize) {
        let [Some(last), Some(&a), Some(&b)] = [
            shape.size.get(axis),
            shape.size.get(axis.saturating_add(1).checked_rem(3).unwrap_or(0)),
            shape.size.get(axis.saturating_add(2).checked_rem(3).unwrap_or(0)),
        ] else {
            return;
        };
        let last = last.saturating_sub(1);
        let at = |along: u32, i: u32, j: u32| match axis {
            0 => [along, i, j],
            1 => [j, along, i],
            _ => [i, j, along],
        };
        for ((differ, compared), order) in self.differ.iter_mut().zip(&mut self.compared).zip(KNOWN) {
            let [first, second] = [first, second].map(|data| Voxels { data, shape: *shape, order });
            for (i, j) in (0..a).flat_map(|i| (0..b).map(move |j| (i, j))) {
                let (Some(one), Some(other)) = (first.get(at(last, i, j)), second.get(at(0, i, j))) else { continue };
                *compared = compared.saturating_add(1);
                *differ = differ.saturating_add(u64::from(one != other));
            }
        }
    }

    /// The order by which clearly fewer neighbours differ.
    #[must_use]
    pub fn order(&self) -> Option<Order> {
        let share = |differ: u64, compared: u64| differ.checked_mul(1000)?.checked_div(compared);
        let [differ_a, differ_b] = self.differ;
        let [compared_a, compared_b] = self.compared;
        let (a, b) = (share(differ_a, compared_a)?, share(differ_b, compared_b)?);
        let clear =
            |better: u64, worse: u64| worse >= better.saturating_add(MARGIN) && worse >= better.saturating_mul(2);
        let [first, second] = KNOWN;
        match (compared_a.min(compared_b) >= COMPARED, clear(a, b), clear(b, a)) {
            (true, true, _) => Some(first),
            (true, _, true) => Some(second),
            _ => None,
        }
    }
}

/// The order of chunks of this shape, by what was counted inside of chunks and at their seams.
#[must_use]
pub fn infer(shape: &Shape, inside: &Evidence, seams: &Evidence) -> Inferred<Order> {
    let usual = Order::of_shape(shape);
    match (inside.order(), seams.order()) {
        (Some(a), Some(b)) if a != b => usual,
        (Some(order), _) => Inferred::deduced(order, "fewer neighbouring voxels differ inside chunks"),
        (None, Some(order)) => Inferred::deduced(order, "fewer voxels differ where two chunks meet"),
        (None, None) => usual,
    }
}
