//! Coordinates along x, y and z.

/// What `f` makes of the two coordinates along each axis.
pub(crate) fn combine<A: Copy, B: Copy, C>(a: [A; 3], b: [B; 3], mut f: impl FnMut(A, B) -> C) -> [C; 3] {
    let ([ax, ay, az], [bx, by, bz]) = (a, b);
    [f(ax, bx), f(ay, by), f(az, bz)]
}

/// A position, one step further along an axis; the same one past the largest coordinate.
pub(crate) fn next(mut position: [i32; 3], axis: usize) -> [i32; 3] {
    if let Some(n) = position.get_mut(axis) {
        *n = n.saturating_add(1);
    }
    position
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_axis_is_taken_by_itself() {
        assert_eq!(combine([5, 7, 9], [1, 2, 3], |a, b| a - b), [4, 5, 6]);
        assert_eq!(next([1, 2, 3], 1), [1, 3, 3]);
        assert_eq!(next([1, 2, i32::MAX], 2), [1, 2, i32::MAX]);
    }
}
