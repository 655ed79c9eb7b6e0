//! Textures of smooth terrain in the channels INDICES and WEIGHTS.
//!
//! - *Mixel4*: INDICES of 16 bits are four indices of 4 bits, the lowest bits first; WEIGHTS of 16 bits are their four weights
//!   of 4 bits. No index occurs twice in a voxel: the mesher would use the weight of the last one only.
//! - *Single*, since 1.5: INDICES of 8 bits are one texture; WEIGHTS have no meaning.
//!
//! Source: Godot Voxel's `storage/mixel4.h` and its property `texturing_mode`. A block does not store which of them a project
//! uses: the depths distinguish them.

use crate::bytes::Span;
use crate::damage::{Code, Damage, Value};
use crate::godot::block::Block;
use crate::godot::channel::{ChannelId, Depth, Storage};

/// Index of the channel INDICES.
pub const INDICES: usize = ChannelId::Indices.index();
/// Index of the channel WEIGHTS.
pub const WEIGHTS: usize = ChannelId::Weights.index();

/// The meaning of the two channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Textures {
    /// Four indices and four weights a voxel.
    Mixel4,
    /// One index a voxel.
    Single,
}

impl Textures {
    /// What the depths of a block imply; `None` for other depths, and for block versions 1 and 2, in which these channels had no
    /// meaning.
    #[must_use]
    pub fn of_block(block: &Block<'_>) -> Option<Self> {
        let depth = |c: usize| block.channels.get(c).map(|channel| channel.depth);
        Self::of_depths(block.version, depth(INDICES)?, depth(WEIGHTS)?)
    }

    /// What the depths of INDICES and WEIGHTS imply in a block of a version; see [`Textures::of_block`].
    #[must_use]
    pub const fn of_depths(version: u8, indices: Depth, weights: Depth) -> Option<Self> {
        match (indices, weights) {
            _ if version < 3 => None,
            (Depth::Bits16, Depth::Bits16) => Some(Self::Mixel4),
            (Depth::Bits8, _) => Some(Self::Single),
            _ => None,
        }
    }

    /// `mixel4` or `single`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mixel4 => "mixel4",
            Self::Single => "single",
        }
    }

    /// Whether a channel holds textures or their weights: INDICES of either, and WEIGHTS of Mixel4.
    #[must_use]
    pub const fn is_in(self, channel: usize) -> bool {
        channel == INDICES || (channel == WEIGHTS && matches!(self, Self::Mixel4))
    }

    /// A value of INDICES or WEIGHTS in words; `None` for other channels, and for the unused WEIGHTS of Single.
    #[must_use]
    pub fn describe(self, channel: usize, raw: u64) -> Option<String> {
        let [a, b, c, d] = unpack(raw);
        match (self, channel) {
            (Self::Mixel4, INDICES) => Some(format!("textures {a}, {b}, {c}, {d}")),
            (Self::Mixel4, WEIGHTS) => Some(format!("weights {a}, {b}, {c}, {d} of 15")),
            (Self::Single, INDICES) => Some(format!("texture {raw}")),
            _ => None,
        }
    }
}

/// The four values of 4 bits, the lowest bits first.
#[must_use]
pub fn unpack(raw: u64) -> [u8; 4] {
    let [low, high, ..] = raw.to_le_bytes();
    [low & 0xf, low >> 4, high & 0xf, high >> 4]
}

/// The texture of the largest weight; of equal weights, that of the first.
#[must_use]
pub fn dominant(indices: u64, weights: u64) -> u8 {
    let [first, rest @ ..] = unpack(indices);
    let [weight, weights @ ..] = unpack(weights);
    let larger = |best: (u8, u8), next: (u8, u8)| if next.1 > best.1 { next } else { best };
    rest.into_iter().zip(weights).fold((first, weight), larger).0
}

/// Whether an index of Mixel4 occurs twice.
#[must_use]
pub fn repeats(indices: u64) -> bool {
    let [a, b, c, d] = unpack(indices);
    a == b || a == c || a == d || b == c || b == d || c == d
}

/// The texture of a voxel in a block, by its index in the order ZXY; of Mixel4 that of the largest weight.
#[must_use]
pub fn texture(block: &Block<'_>, index: usize) -> Option<u8> {
    let value = |c: usize| block.channels.get(c)?.value(index);
    match Textures::of_block(block)? {
        Textures::Mixel4 => Some(dominant(value(INDICES)?, value(WEIGHTS)?)),
        Textures::Single => u8::try_from(value(INDICES)?).ok(),
    }
}

/// What a picture of INDICES or WEIGHTS shows of a voxel: its texture, of Mixel4 that of the largest weight, or that weight.
/// `None` for other channels and where the depths imply no textures.
#[must_use]
pub fn pictured(block: &Block<'_>, channel: usize, index: usize) -> Option<u64> {
    match (channel, Textures::of_block(block)?) {
        (INDICES, _) => texture(block, index).map(u64::from),
        (WEIGHTS, Textures::Mixel4) => {
            let weights = unpack(block.channels.get(WEIGHTS)?.value(index)?);
            weights.into_iter().max().map(u64::from)
        }
        _ => None,
    }
}

/// Reports voxels of Mixel4 of which an index repeats. A block whose indices are all 0 uses no textures.
#[must_use]
pub fn repeated(block: &Block<'_>) -> Option<Damage> {
    let channel = block.channels.get(INDICES).filter(|_| Textures::of_block(block) == Some(Textures::Mixel4))?;
    let span = Span::sized(channel.offset, crate::bytes::len64(channel.data));
    let voxels = match channel.storage {
        Storage::Uniform => channel.value(0).filter(|raw| *raw != 0 && repeats(*raw)).map_or(0, |_| block.volume()),
        Storage::Raw => u64::try_from(channel.values().filter(|raw| repeats(*raw)).count()).unwrap_or(u64::MAX),
    };
    let damage = Damage::new(Code::TexturesRepeat, span, "INDICES").in_block();
    (voxels > 0).then(|| damage.found(Value::Number(voxels)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::godot::channel::{CHANNELS, Channel};

    fn block<'a>(indices: (Depth, &'a [u8]), weights: (Depth, &'a [u8]), version: u8) -> Block<'a> {
        let channel = |(depth, data): (Depth, &'a [u8])| {
            let storage = if data.len() == depth.bytes() { Storage::Uniform } else { Storage::Raw };
            Channel { depth, storage, data, offset: 40, size: data.len() as u64 }
        };
        let mut channels = vec![channel((Depth::Bits8, &[0])); CHANNELS];
        (channels[INDICES], channels[WEIGHTS]) = (channel(indices), channel(weights));
        Block { version, size: [2, 1, 1], channels, metadata: None, epilogue: None }
    }

    #[test]
    fn four_bits_an_index_the_lowest_first() {
        // What `make_encoded_indices_for_single_texture(5)` and `make_encoded_weights_for_single_texture` give.
        assert_eq!(unpack(0x8765), [5, 6, 7, 8]);
        assert_eq!(unpack(0x000f), [15, 0, 0, 0]);
        assert_eq!(dominant(0x8765, 0x000f), 5);
        assert_eq!(dominant(0x8765, 0x7080), 6);
        assert_eq!(dominant(0x8765, 0x4444), 5);
        assert!(!repeats(0x3210) && repeats(0x3211) && repeats(0x0123 << 4 | 1));
    }

    #[test]
    fn depths_and_versions_say_what_the_channels_mean() {
        let wide = (Depth::Bits16, &[0x10, 0x32, 0x65, 0x87][..]);
        let weights = (Depth::Bits16, &[0x0f, 0x00, 0x00, 0xf0][..]);
        let mixel = block(wide, weights, 4);
        assert_eq!(Textures::of_block(&mixel), Some(Textures::Mixel4));
        assert_eq!([texture(&mixel, 0), texture(&mixel, 1), texture(&mixel, 2)], [Some(0), Some(8), None]);
        let single = block((Depth::Bits8, &[3, 200]), weights, 4);
        assert_eq!((Textures::of_block(&single), texture(&single, 1)), (Some(Textures::Single), Some(200)));
        assert_eq!((pictured(&mixel, INDICES, 1), pictured(&mixel, WEIGHTS, 1)), (Some(8), Some(15)));
        assert_eq!((pictured(&single, INDICES, 1), pictured(&single, WEIGHTS, 1)), (Some(200), None));
        assert_eq!(pictured(&mixel, 0, 0), None);
        assert_eq!(Textures::Mixel4.describe(INDICES, 0x3210).unwrap(), "textures 0, 1, 2, 3");
        assert_eq!(Textures::Mixel4.describe(WEIGHTS, 0x000f).unwrap(), "weights 15, 0, 0, 0 of 15");
        assert_eq!(Textures::Single.describe(INDICES, 200).unwrap(), "texture 200");
        assert_eq!(Textures::Single.describe(WEIGHTS, 1), None);
        assert_eq!(Textures::of_block(&block(wide, weights, 2)), None);
        assert_eq!(Textures::of_block(&block((Depth::Bits32, &[0; 4]), weights, 4)), None);
    }

    #[test]
    fn repeated_indices_are_counted() {
        let weights = (Depth::Bits16, &[0x0f, 0][..]);
        let found = |data: &[u8]| repeated(&block((Depth::Bits16, data), weights, 4)).map(|damage| damage.found);
        assert_eq!(found(&[0x10, 0x32, 0x65, 0x87]), None);
        assert_eq!(found(&[0x11, 0x32, 0x65, 0x87]), Some(Value::Number(1)));
        // Two voxels of one value; a value of 0 means that there are no textures.
        assert_eq!(found(&[0x11, 0x32]), Some(Value::Number(2)));
        assert_eq!(found(&[0, 0]), None);
        let span = repeated(&block((Depth::Bits16, &[0x11, 0x32]), weights, 4)).unwrap().span;
        assert_eq!(span, Span::sized(40, 2));
    }
}
