//! The place of a layer: converts positions in the world to cells of its grid and back.
//!
//! ```text
//! cell = floor((world - origin) / step), on each axis; there is nothing outside 0..dim
//! ```
//!
//! Source: the format's published page, whose pseudo-code truncates toward zero and so puts positions just below the
//! origin into cell 0; here it is `floor`. Origin and step are 32-bit numbers, what is computed with them 64-bit.

/// Origin, step and extent of a layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// The corner of cell (0, 0, 0) in the world.
    pub origin: [f32; 3],
    /// Size of a cell in the world.
    pub step: [f32; 3],
    /// Cells along each axis.
    pub dim: [u32; 3],
}

impl Frame {
    /// The cell of a position in the world; `None` outside the layer and for NaN.
    #[must_use]
    pub fn cell(&self, world: [f64; 3]) -> Option<[u32; 3]> {
        let [ox, oy, oz] = self.origin;
        let [sx, sy, sz] = self.step;
        let [dx, dy, dz] = self.dim;
        let [x, y, z] = world;
        Some([axis(x, ox, sx, dx)?, axis(y, oy, sy, dy)?, axis(z, oz, sz, dz)?])
    }

    /// The corner of a cell in the world, the one with the smallest coordinates.
    #[must_use]
    pub fn corner(&self, cell: [u32; 3]) -> [f64; 3] {
        self.world(cell.map(f64::from))
    }

    /// The middle of a cell in the world.
    #[must_use]
    pub fn centre(&self, cell: [u32; 3]) -> [f64; 3] {
        self.world(cell.map(|n| f64::from(n) + 0.5))
    }

    /// The extent in the world: its two opposite corners.
    #[must_use]
    pub fn extent(&self) -> [[f64; 3]; 2] {
        [self.corner([0; 3]), self.corner(self.dim)]
    }

    /// Number of cells; `None` when that does not fit 64 bits.
    #[must_use]
    pub fn cells(&self) -> Option<u64> {
        self.dim.iter().try_fold(1u64, |n, &d| n.checked_mul(u64::from(d)))
    }

    fn world(&self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        let [ox, oy, oz] = self.origin.map(f64::from);
        let [sx, sy, sz] = self.step.map(f64::from);
        [x.mul_add(sx, ox), y.mul_add(sy, oy), z.mul_add(sz, oz)]
    }
}

fn axis(world: f64, origin: f32, step: f32, dim: u32) -> Option<u32> {
    below(((world - f64::from(origin)) / f64::from(step)).floor(), dim)
}

/// A whole number from 0 to below `end`; `None` for anything else, including NaN.
#[expect(clippy::as_conversions, reason = "checked to be in range just before")]
fn below(n: f64, end: u32) -> Option<u32> {
    (n >= 0.0 && n < f64::from(end)).then_some(n as u32)
}

/// The nearest 32-bit number; infinite on overflow.
#[expect(clippy::as_conversions, reason = "rounding is what is wanted; there is no other way to it")]
pub(crate) fn nearest(n: f64) -> f32 {
    n as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Frame = Frame { origin: [-10.0, 0.0, 5.5], step: [0.5, 1.0, 2.0], dim: [40, 8, 3] };

    #[test]
    fn positions_are_rounded_down_also_below_the_origin() {
        assert_eq!(FRAME.cell([-10.0, 0.0, 5.5]), Some([0, 0, 0]));
        assert_eq!(FRAME.cell([-9.51, 7.99, 11.49]), Some([0, 7, 2]));
        assert_eq!(FRAME.cell([9.99, 0.0, 5.5]), Some([39, 0, 0]));
        for outside in [[-10.01, 0.0, 5.5], [10.0, 0.0, 5.5], [0.0, -0.1, 5.5], [0.0, 8.0, 5.5], [0.0, 0.0, 11.5]] {
            assert_eq!(FRAME.cell(outside), None, "{outside:?}");
        }
        for outside in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300] {
            assert_eq!(FRAME.cell([outside, 0.0, 6.0]), None);
        }
    }

    #[test]
    fn a_cell_is_at_its_own_middle() {
        for x in 0..40 {
            for (y, z) in [(0, 0), (3, 1), (7, 2)] {
                assert_eq!(FRAME.cell(FRAME.centre([x, y, z])), Some([x, y, z]));
            }
        }
        assert_eq!(FRAME.extent(), [[-10.0, 0.0, 5.5], [10.0, 8.0, 11.5]]);
        assert_eq!(FRAME.cells(), Some(960));
        assert_eq!(Frame { dim: [u32::MAX; 3], ..FRAME }.cells(), None);
    }

    #[test]
    fn a_step_of_nothing_leads_nowhere() {
        for step in [0.0, f32::NAN, f32::INFINITY] {
            // With an infinite step everything from the origin on is in cell 0.
            let cell = Frame { step: [step; 3], ..FRAME }.cell([-10.0, 0.0, 5.5]);
            assert_eq!(cell, step.is_infinite().then_some([0; 3]));
        }
    }
}
