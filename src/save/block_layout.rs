//! The layout of a lone block of version 1, which stores neither its size nor its depths: all layouts are tried by which its
//! channels, and metadata if there is any, end exactly before the epilogue.

use std::collections::HashSet;

use crate::bytes::{index, len64};
use crate::godot::block::{BlockLayout, EPILOGUE};
use crate::godot::channel::{CHANNELS, Depth};

/// Voxels along each axis and the widest depth that are tried together, the usual ones first: bytes that fit an unusual layout by
/// chance often fit a usual one for a reason. A raw channel of 64 bits is as long as one of 8 bits in a block of twice the size.
const PASSES: [(&[u16], Depth); 3] =
    [(&[16, 32], Depth::Bits32), (&[8, 64], Depth::Bits32), (&[16, 32, 8, 64], Depth::Bits64)];

/// Layouts that are counted: two are enough to know that the first one is not the only one.
const ENOUGH: usize = 2;

/// A layout that the bytes of a block show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownLayout {
    /// The first layout that fits.
    pub layout: BlockLayout,
    /// Whether it is the only one of those that are as usual.
    pub is_only: bool,
    /// How unusual it is.
    pub(super) pass: usize,
}

impl ShownLayout {
    /// `inferred` or `assumed`, and why.
    #[must_use]
    pub const fn how(&self) -> (&'static str, &'static str) {
        if self.is_only {
            ("inferred", "by no other size and usual depths do the channels end before the epilogue")
        } else {
            ("assumed", "other sizes or depths fit too; --block-size and --depths override them")
        }
    }
}

/// Infers the layout of a block of version 1. `None` if the bytes are no such block, or none of the layouts fits.
#[must_use]
pub fn infer(block: &[u8]) -> Option<ShownLayout> {
    PASSES.iter().enumerate().find_map(|(pass, (sides, widest))| infer_of(block, sides, *widest, pass))
}

fn infer_of(block: &[u8], sides: &[u16], widest: Depth, pass: usize) -> Option<ShownLayout> {
    let mut first = None;
    for &side in sides {
        let volume = u64::from(side).pow(3);
        let depths = [Depth::Bits8; CHANNELS];
        let mut search = Search { block, volume, widest, depths, found: Vec::new(), dead: HashSet::new() };
        search.go_on(0, 0);
        for depths in search.found {
            let layout = BlockLayout { size: [side; 3], depths };
            match first {
                None => first = Some(layout),
                Some(layout) => return Some(ShownLayout { layout, is_only: false, pass }),
            }
        }
    }
    first.map(|layout| ShownLayout { layout, is_only: true, pass })
}

struct Search<'a> {
    block: &'a [u8],
    volume: u64,
    widest: Depth,
    depths: [Depth; CHANNELS],
    found: Vec<[Depth; CHANNELS]>,
    /// Channels and offsets from which no depths lead to the end.
    dead: HashSet<(usize, u64)>,
}

impl Search<'_> {
    /// Tries all depths of the channels from this one on; at most eight calls are nested. Returns whether one fits.
    fn go_on(&mut self, channel: usize, at: u64) -> bool {
        if channel == CHANNELS {
            let ends = ends_at(self.block, at);
            if ends {
                self.found.push(self.depths);
            }
            return ends;
        }
        let values = match self.block.get(index(at)) {
            Some(0) => self.volume,
            Some(1) => 1,
            _ => return false,
        };
        if self.dead.contains(&(channel, at)) {
            return false;
        }
        let (mut any, widest) = (false, self.widest);
        for depth in Depth::ALL.into_iter().filter(|depth| *depth <= widest) {
            let next = at.saturating_add(1).saturating_add(values.saturating_mul(depth.bytes() as u64));
            if next > len64(self.block) || self.found.len() >= ENOUGH {
                break;
            }
            if let Some(own) = self.depths.get_mut(channel) {
                *own = depth;
            }
            any |= self.go_on(channel + 1, next);
        }
        if !any {
            self.dead.insert((channel, at));
        }
        any
    }
}

/// Whether the channels may end here: only the epilogue follows, or metadata of exactly its size and the epilogue.
fn ends_at(block: &[u8], at: u64) -> bool {
    let rest = block.get(index(at)..).unwrap_or_default();
    let Some((before, epilogue)) = rest.split_last_chunk::<4>() else { return false };
    let is_metadata = |size: &[u8; 4], items: &[u8]| u64::from(u32::from_le_bytes(*size)) == len64(items);
    u32::from_le_bytes(*epilogue) == EPILOGUE
        && (before.is_empty() || before.split_first_chunk::<4>().is_some_and(|(size, items)| is_metadata(size, items)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: [u8; 4] = [0x0d, 0xf0, 0x0d, 0x90];

    /// A block with a raw channel TYPE and a uniform SDF of 16 bits.
    fn block(voxels: usize) -> Vec<u8> {
        let raw: Vec<u8> = (0..voxels).map(|n| (n % 7) as u8).collect();
        [&[0][..], &raw, &[1, 0xff, 0x7f], &[1, 0].repeat(6), &END].concat()
    }

    #[test]
    fn the_length_of_raw_channels_shows_size_and_depths() {
        for side in [16, 32, 8, 64] {
            let shown = infer(&block(usize::from(side).pow(3))).unwrap();
            assert_eq!((shown.layout.size, shown.is_only), ([side; 3], true));
            let mut depths = [Depth::Bits8; CHANNELS];
            depths[1] = Depth::Bits16;
            assert_eq!(shown.layout.depths, depths);
        }
    }

    #[test]
    fn values_of_64_bits_are_the_last_that_are_tried() {
        let values = [&[0][..], &vec![7; 4096 * 8], &[0], &vec![1; 4096], &[1, 0].repeat(6), &END].concat();
        let shown = infer(&values).unwrap();
        assert_eq!((shown.layout.size, shown.layout.depths[0], shown.is_only), ([16; 3], Depth::Bits64, true));
    }

    #[test]
    fn a_block_of_uniform_channels_has_any_size() {
        let bytes = [&[1, 7].repeat(8)[..], &END].concat();
        let shown = infer(&bytes).unwrap();
        assert_eq!((shown.layout.size, shown.is_only), ([16; 3], false));
        assert_eq!(shown.how().0, "assumed");
    }

    #[test]
    fn metadata_has_its_size_before_it() {
        let with = |size: u32| {
            let mut bytes = block(4096);
            bytes.truncate(bytes.len() - 4);
            bytes.extend(size.to_le_bytes());
            bytes.extend([0; 4]);
            bytes.extend(END);
            bytes
        };
        assert_eq!(infer(&with(4)).unwrap().layout.size, [16; 3]);
        for size in [0, 3, 5, u32::MAX] {
            assert_eq!(infer(&with(size)), None, "{size}");
        }
    }

    #[test]
    fn what_ends_otherwise_has_no_layout() {
        let whole = block(4096);
        for cut in [1, 4, 5, 100, whole.len() - 1, whole.len()] {
            assert_eq!(infer(&whole[..whole.len() - cut]), None, "{cut}");
        }
        assert_eq!(infer(&[&whole[..], &[0]].concat()), None);
        assert_eq!(infer(&vec![1; 4096]), None);
    }
}
