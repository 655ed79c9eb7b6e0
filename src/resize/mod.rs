//! Blocks of another size: splits larger blocks and joins smaller ones, voxel by voxel, and fills what is not
//! stored. `convert` and `diff` both use it, so that they agree.
//!
//! Takes blocks of a world; gives blocks of another size in memory. It knows neither files nor who uses the result.

mod cube;
mod fill;
#[cfg(feature = "tui")]
mod part;

pub(crate) use cube::{Cube, as_deep};
pub(crate) use fill::Fill;
#[cfg(feature = "tui")]
pub(crate) use part::part;

use crate::godot::block::Block;
use crate::godot::channel::{Depth, SDF};

/// The version of block data that is written.
pub(crate) const VERSION: u8 = 4;

/// Position of the block of size `to` that contains the corner of a block of size `from`; `None` if it is out of range.
pub(crate) fn containing_block(position: [i32; 3], from: u16, to: u16) -> Option<[i32; 3]> {
    let mut target = [0; 3];
    for (target, n) in target.iter_mut().zip(position) {
        let voxel = i64::from(n) * i64::from(from);
        *target = i32::try_from(voxel.checked_div_euclid(i64::from(to))?).ok()?;
    }
    Some(target)
}

/// Converts a raw SDF value so that it keeps its normalised value: versions 1 and 2 have another fixed point.
pub(crate) fn sdf_of_today(version: u8, depth: Depth, raw: u64) -> u64 {
    if version >= 3 {
        return raw;
    }
    let [b0, b1, ..] = raw.to_le_bytes();
    match depth {
        Depth::Bits8 => {
            let value = (i16::from(b0) - 127).clamp(-127, 127);
            u64::from(i8::try_from(value).unwrap_or(i8::MAX).cast_unsigned())
        }
        Depth::Bits16 => {
            let value = (i32::from(u16::from_le_bytes([b0, b1])) - 32767).clamp(-32767, 32767);
            u64::from(i16::try_from(value).unwrap_or(i16::MAX).cast_unsigned())
        }
        Depth::Bits32 | Depth::Bits64 => raw,
    }
}

/// Whether the SDF of a block has other raw values in the current version.
pub(crate) fn has_old_sdf(block: &Block<'_>) -> bool {
    block.version < 3 && block.channels.get(SDF).is_some_and(|channel| channel.depth <= Depth::Bits16)
}

/// Converts the SDF of a block to the current version; `sdf` receives the values, if they change.
pub(crate) fn rescale<'a>(block: &mut Block<'a>, sdf: &'a mut Vec<u8>) {
    let version = block.version;
    if has_old_sdf(block)
        && let Some(channel) = block.channels.get_mut(SDF)
    {
        sdf.clear();
        for value in channel.values() {
            let bytes = sdf_of_today(version, channel.depth, value).to_le_bytes();
            sdf.extend(bytes.iter().take(channel.depth.bytes()));
        }
        channel.data = sdf;
    }
}

/// Whether [`sdf_of_today`] clamps a raw SDF value to 1: the old fixed point reaches one step further.
pub(crate) fn is_cut(version: u8, depth: Depth, raw: u64) -> bool {
    version < 3
        && match depth {
            Depth::Bits8 => raw == 255,
            Depth::Bits16 => raw == 65_535,
            Depth::Bits32 | Depth::Bits64 => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::godot::channel::sdf;

    #[test]
    fn every_old_distance_keeps_its_normalised_value_and_one_is_cut() {
        for (depth, last, scale) in [(Depth::Bits8, 255, 10.0), (Depth::Bits16, 65_535, 500.0)] {
            for version in [1, 2] {
                for raw in 0..=last {
                    let today = sdf_of_today(version, depth, raw);
                    let (was, is) = (sdf(version, depth, raw), sdf(VERSION, depth, today) / scale);
                    if raw == last {
                        assert!(was > 1.0 && (is - 1.0).abs() < 1e-12 && is_cut(version, depth, raw));
                    } else {
                        // 10 and 500 are not powers of two: the last bit of a double may differ.
                        assert!((was - is).abs() < 1e-15, "{depth:?} {raw}: {was} {is}");
                        assert!(!is_cut(version, depth, raw));
                        // No two values become equal.
                        assert_eq!(today, raw.wrapping_sub(last / 2) & last, "{depth:?} {raw}");
                    }
                }
            }
            for raw in [0, 1, last] {
                assert_eq!(sdf_of_today(3, depth, raw), raw);
                assert!(!is_cut(3, depth, raw) && !is_cut(4, depth, raw));
            }
        }
    }

    #[test]
    fn places_of_blocks_of_another_size() {
        assert_eq!(containing_block([-1, 0, 3], 16, 32), Some([-1, 0, 1]));
        assert_eq!(containing_block([-1, 0, 3], 32, 16), Some([-2, 0, 6]));
        assert_eq!(containing_block([i32::MAX, 0, 0], 32, 16), None);
    }
}
