//! Which slot of a region's table a block has, by coordinates, and back.
//!
//! Region coordinate: floor division of the block's by the region size. Position inside the region: the Euclidean
//! remainder. Index in the table: `y + size_y * (x + size_x * z)`.
//!
//! From 2019-08-17 to 2024-03-30 the engine computed the position as `((unsigned)x - (x < 0)) % (unsigned)size`: per axis
//! and only for negative coordinates, one slot too low, wrapping around inside the region.

/// The formula that gives the slot of a block with negative coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize)]
pub enum SlotFormula {
    /// The formula of 2019 to 2024; block versions 1 to 3 always use it.
    #[serde(rename = "old")]
    Legacy,
    /// The Euclidean remainder.
    #[default]
    #[serde(rename = "new")]
    Euclidean,
}

/// Region and slot of a block coordinate along one axis. `size` is the region's, in blocks, not zero.
#[must_use]
pub fn place(block: i32, size: u16, slots: SlotFormula) -> Option<(i32, u16)> {
    let size = i64::from(size);
    let block = i64::from(block);
    let region = block.checked_div_euclid(size)?;
    let inside = match slots {
        SlotFormula::Legacy if block < 0 => block.checked_add(1 << 32)?.checked_sub(1)?.checked_rem(size)?,
        _ => block.checked_rem_euclid(size)?,
    };
    Some((i32::try_from(region).ok()?, u16::try_from(inside).ok()?))
}

/// Region and index in its table of a block position. `size` is the region's, in blocks.
#[must_use]
pub fn place_block([x, y, z]: [i32; 3], size: [u16; 3], slots: SlotFormula) -> Option<([i32; 3], u32)> {
    let [sx, sy, sz] = size;
    let (rx, x) = place(x, sx, slots)?;
    let (ry, y) = place(y, sy, slots)?;
    let (rz, z) = place(z, sz, slots)?;
    Some(([rx, ry, rz], index(size, [x, y, z])?))
}

/// Block coordinate along one axis of a slot in a region; `None` when it does not fit 32 bits.
#[must_use]
pub fn block(region: i32, slot: u16, size: u16, slots: SlotFormula) -> Option<i32> {
    let size = i64::from(size);
    let first = i64::from(region).checked_mul(size)?;
    let inside = match slots {
        // The formula has a whole period of `size` slots, so its inverse is found by the offset of slot 0.
        SlotFormula::Legacy if region < 0 => {
            let of_first = first.checked_add(1 << 32)?.checked_sub(1)?.checked_rem(size)?;
            i64::from(slot).checked_sub(of_first)?.checked_rem_euclid(size)?
        }
        _ => i64::from(slot),
    };
    i32::try_from(first.checked_add(inside)?).ok()
}

/// Index in the table of a position inside the region.
#[must_use]
pub fn index(size: [u16; 3], [x, y, z]: [u16; 3]) -> Option<u32> {
    let [sx, sy, _] = size.map(u32::from);
    let row = sx.checked_mul(u32::from(z))?.checked_add(u32::from(x))?;
    sy.checked_mul(row)?.checked_add(u32::from(y))
}

/// Position inside the region of an index in the table.
#[must_use]
pub fn position(size: [u16; 3], index: u32) -> Option<[u16; 3]> {
    let [sx, sy, sz] = size.map(u32::from);
    let row = index.checked_div(sy)?;
    let (y, x, z) = (index.checked_rem(sy)?, row.checked_rem(sx)?, row.checked_div(sx)?);
    if z >= sz {
        return None;
    }
    Some([u16::try_from(x).ok()?, u16::try_from(y).ok()?, u16::try_from(z).ok()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_format_page() {
        assert_eq!(place(-1, 16, SlotFormula::Legacy), Some((-1, 14)));
        assert_eq!(place(-16, 16, SlotFormula::Legacy), Some((-1, 15)));
        assert_eq!(place(-1, 16, SlotFormula::Euclidean), Some((-1, 15)));
        assert_eq!(place(-16, 16, SlotFormula::Euclidean), Some((-1, 0)));
        assert_eq!(place(17, 16, SlotFormula::Legacy), Some((1, 1)));
    }

    #[test]
    fn both_formulas_are_turned_around_exactly() {
        for slots in [SlotFormula::Legacy, SlotFormula::Euclidean] {
            for size in [1, 2, 3, 4, 7, 16, 255] {
                for b in (-600..600).chain([i32::MIN, i32::MIN + 1, i32::MAX]) {
                    let (region, slot) = place(b, size, slots).unwrap();
                    assert!(slot < size);
                    assert_eq!(block(region, slot, size, slots), Some(b), "{slots:?} {size} {b}");
                }
            }
        }
    }

    #[test]
    fn y_runs_fastest_then_x_then_z() {
        let size = [2, 3, 4];
        let mut expected = 0;
        for z in 0..4 {
            for x in 0..2 {
                for y in 0..3 {
                    assert_eq!(index(size, [x, y, z]), Some(expected));
                    assert_eq!(position(size, expected), Some([x, y, z]));
                    expected += 1;
                }
            }
        }
        assert_eq!(position(size, expected), None);
        assert_eq!(position([0, 0, 0], 0), None);
    }
}
