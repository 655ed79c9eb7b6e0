//! Proves that a stored block is healthy without writing its voxels.
//!
//! Decompression spends most of its time on copying voxels that a checker does not look at. [`Verifier::verify`] reads
//! the sequences of the LZ4 data instead (lengths, offsets, the declared size), and fetches only the bytes that it
//! compares: version, size, the eight channel formats, metadata and the epilogue. It follows matches back to the literal they
//! came from.
//!
//! The answer is one-sided. [`Verified`] means that the full decoder would find no damage. `None` means nothing: the
//! caller decodes the block. That keeps one description of every kind of damage.

use crate::bytes::{Cursor, index, len64};
use crate::godot::block::{BlockLayout, EPILOGUE};
use crate::godot::byte_order;
use crate::godot::channel::{CHANNELS, Depth, SDF, Storage};
use crate::godot::metadata;
use crate::godot::sequences::Sequences;
use crate::godot::textures::{self, INDICES, WEIGHTS};
use crate::limits::Limits;

/// Bytes of the output that are fetched together: the formats and values of seven channels of one value, and the epilogue.
const WINDOW: usize = 24;

/// Container mode 2: LZ4 behind a little-endian size.
const LZ4: u8 = 2;

/// Bytes of metadata that are fetched at most; a block of more is left to the decoder.
const MOST_METADATA: usize = 1024;

/// Bytes before the first channel: the version and the size.
const HEADER_BYTES: u32 = 7;

/// A block without any damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Version of the block, 2 to 4.
    pub version: u8,
    /// Voxels along x, y, z.
    pub size: [u16; 3],
    /// Depth and storage of the channels.
    pub channels: [(Depth, Storage); CHANNELS],
    /// Bytes after decompression.
    pub plain: u32,
    /// Declared bytes of its metadata; 0 if there is none.
    pub metadata_bytes: u32,
    /// Number of metadata items that are not empty.
    pub metadata_items: u32,
}

/// Verifies block after block with the same buffers.
#[derive(Debug, Default)]
pub struct Verifier {
    sequences: Sequences,
}

impl Verifier {
    /// Verifies a container (mode byte, size, LZ4 data) of a block that the region lays out as `layout`.
    ///
    /// `None` unless the block is healthy within `limits`, holds at most 1,024 bytes of metadata, and is packed
    /// as the engine of today packs.
    #[must_use]
    pub fn verify(&mut self, container: &[u8], layout: &BlockLayout, limits: &Limits) -> Option<Verified> {
        let (&mode, rest) = container.split_first()?;
        let (declared, packed) = rest.split_first_chunk::<4>()?;
        let plain = u32::from_le_bytes(*declared);
        if mode != LZ4 || u64::from(plain) > most_plain(layout).min(limits.block_bytes) || layout.size.contains(&0) {
            return None;
        }
        self.sequences.read(packed, plain)?;
        self.verify_block(packed, layout, plain, limits)
    }

    fn verify_block(&self, packed: &[u8], layout: &BlockLayout, plain: u32, limits: &Limits) -> Option<Verified> {
        let mut output = Output { packed, sequences: &self.sequences, window: [0; WINDOW], from: 0, count: 0 };
        let [version, x0, x1, y0, y1, z0, z1] = output.bytes(0)?;
        let size = [[x0, x1], [y0, y1], [z0, z1]].map(u16::from_le_bytes);
        if !(2..=4).contains(&version) || size != layout.size {
            return None;
        }
        let volume = size.into_iter().map(u32::from).try_fold(1, u32::checked_mul)?;
        let mut channels = [(Depth::Bits8, Storage::Raw); CHANNELS];
        // The texture indices of a block whose INDICES are one value.
        let mut indices = 0;
        let mut at = HEADER_BYTES;
        for (number, (channel, declared)) in channels.iter_mut().zip(layout.depths).enumerate() {
            let [format] = output.bytes(at)?;
            let depth = Depth::from_code(format >> 4).filter(|depth| *depth == declared)?;
            let width = u32::from(depth.bits() / 8);
            let (storage, bytes) = match format & 0xf {
                0 => (Storage::Raw, volume.checked_mul(width)?),
                1 => (Storage::Uniform, width),
                _ => return None,
            };
            let values = at.checked_add(1)?;
            at = values.checked_add(bytes)?;
            *channel = (depth, storage);
            if number == INDICES && storage == Storage::Uniform && depth == Depth::Bits16 {
                indices = u16::from_le_bytes(output.bytes(values)?);
            }
            if number == SDF && storage == Storage::Raw {
                // The distances of a big-endian machine are a finding, for which all of them are read.
                let read = |first: usize, raw: &mut [u64]| output.values(values, depth, first, raw);
                if byte_order::is_suspect(depth, index(volume.into()), read) {
                    return None;
                }
            }
        }
        // Textures that repeat are a finding, for which all INDICES are read.
        if may_repeat_textures(version, &channels, indices) {
            return None;
        }
        let end = plain.checked_sub(4)?;
        if output.bytes(end)? != EPILOGUE.to_le_bytes() {
            return None;
        }
        let (metadata_bytes, metadata_items) = match index(end.checked_sub(at)?.into()) {
            0 => (0, 0),
            between => {
                let mut buffer = [0; MOST_METADATA];
                let bytes = buffer.get_mut(..between)?;
                self.sequences.fill(packed, at, bytes)?;
                let mut damage = Vec::new();
                let found = metadata::decode(Cursor::new(bytes), version, size, None, limits, &mut damage);
                damage.is_empty().then(|| (found.declared, found.items()))?
            }
        };
        Some(Verified { version, size, channels, plain, metadata_bytes, metadata_items })
    }
}

/// Whether a block may have a voxel of Mixel4 in which a texture repeats: INDICES that are not one value, or a value in
/// which one does.
fn may_repeat_textures(version: u8, channels: &[(Depth, Storage); CHANNELS], uniform: u16) -> bool {
    let wide = |c: usize| channels.get(c).is_some_and(|(depth, _)| *depth == Depth::Bits16);
    let raw = channels.get(INDICES).is_some_and(|(_, storage)| *storage == Storage::Raw);
    let repeat = raw || (uniform != 0 && textures::repeats(uniform.into()));
    version >= 3 && repeat && wide(INDICES) && wide(WEIGHTS)
}

/// Reads the output of an LZ4 block some bytes at a time.
struct Output<'a> {
    packed: &'a [u8],
    sequences: &'a Sequences,
    /// Bytes of the output from `from` on, of which `count` are read.
    window: [u8; WINDOW],
    from: u32,
    count: usize,
}

impl Output<'_> {
    /// `N` bytes, at most [`WINDOW`], from a position on.
    fn bytes<const N: usize>(&mut self, position: u32) -> Option<[u8; N]> {
        let read = self.window.get(..self.count)?;
        let inside = position.checked_sub(self.from).and_then(|at| read.get(index(at.into())..)?.first_chunk());
        if let Some(bytes) = inside {
            return Some(*bytes);
        }
        (self.from, self.count) = (position, 0);
        while self.count < N {
            let at = position.checked_add(u32::try_from(self.count).ok()?)?;
            let filled = self.sequences.fill_some(self.packed, at, self.window.get_mut(self.count..)?)?;
            self.count = self.count.checked_add(filled)?;
        }
        self.window.first_chunk().copied()
    }

    /// Values of a channel that begins at a position, as little-endian, from an index on; at most [`byte_order::PIECE`].
    fn values(&self, channel: u32, depth: Depth, first: usize, values: &mut [u64]) -> Option<()> {
        let width = depth.bytes();
        let at = u32::try_from(first.checked_mul(width)?).ok()?.checked_add(channel)?;
        let mut bytes = [0; 8 * byte_order::PIECE];
        let bytes = bytes.get_mut(..width.checked_mul(values.len())?)?;
        self.sequences.fill(self.packed, at, bytes)?;
        for (value, bytes) in values.iter_mut().zip(bytes.chunks_exact(width)) {
            *value = bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
        }
        Some(())
    }
}

/// The most bytes of a block that is verified: its channels, metadata and epilogue.
fn most_plain(layout: &BlockLayout) -> u64 {
    let volume = layout.size.into_iter().map(u64::from).fold(1, u64::saturating_mul);
    let channels = layout.depths.into_iter().map(|depth| u64::from(depth.bits() / 8));
    let all = channels.fold(0u64, |sum, width| sum.saturating_add(volume.saturating_mul(width)).saturating_add(1));
    let metadata = u64::try_from(MOST_METADATA).unwrap_or(0);
    let epilogue = len64(&EPILOGUE.to_le_bytes());
    [HEADER_BYTES.into(), metadata, epilogue].into_iter().fold(all, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Span;
    use crate::damage::Damage;
    use crate::godot::block::{self, Block};
    use crate::godot::channel::Channel;
    use crate::godot::container::{self, Decoder, Mode};
    use crate::godot::metadata::{Item, Metadata, VoxelItem};
    use crate::godot::variant::Dialect;
    use proptest::prelude::*;

    const LAYOUT: BlockLayout = BlockLayout {
        size: [16; 3],
        depths: [
            Depth::Bits8,
            Depth::Bits16,
            Depth::Bits8,
            Depth::Bits16,
            Depth::Bits16,
            Depth::Bits8,
            Depth::Bits8,
            Depth::Bits8,
        ],
    };

    /// A block of terrain-like TYPE and SDF, its other channels uniform; of version 4, a third has metadata.
    fn sample(seed: u32, version: u8) -> Vec<u8> {
        let types: Vec<u8> = (0..4096u32).map(|i| (i.wrapping_mul(seed) >> 9) as u8 % 5).collect();
        let sdf: Vec<u8> = (0..4096u32).flat_map(|i| ((i / 3 * (seed % 100)) as u16).to_le_bytes()).collect();
        let zeros = [0; 8];
        let channel = |n: usize| {
            let depth = LAYOUT.depths[n];
            let width = usize::from(depth.bits() / 8);
            let (storage, data): (_, &[u8]) = match n {
                0 => (Storage::Raw, &types),
                1 => (Storage::Raw, &sdf),
                _ => (Storage::Uniform, &zeros[..width]),
            };
            Channel { depth, storage, data, offset: 0, size: data.len() as u64 }
        };
        let channels = (0..CHANNELS).map(channel).collect();
        let item = |number| Item::Number(number);
        let voxel = VoxelItem { position: [1, 2, 15], item: item(seed.into()), span: Span::default() };
        let metadata = Metadata {
            declared: 0,
            dialect: Dialect::Godot4,
            block: Some(item(7)),
            voxels: vec![voxel],
            unread: (0, &[]),
        };
        let metadata = (seed.is_multiple_of(3) && version == 4).then_some(metadata);
        let block = Block { version, size: [16; 3], channels, metadata, epilogue: None };
        let mut bytes = Vec::new();
        block::encode(&block, &mut bytes);
        bytes
    }

    fn packed(plain: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        container::encode(Mode::Lz4, plain, &mut out);
        out
    }

    fn verify(container: &[u8]) -> Option<Verified> {
        Verifier::default().verify(container, &LAYOUT, &Limits::DEFAULT)
    }

    /// What the full decoder says: the sizes, the metadata's declared bytes and items, and no damage.
    fn decode(container: &[u8]) -> Option<(u8, [u16; 3], usize, u32, u32)> {
        let (mut decoder, mut damage) = (Decoder::default(), Vec::<Damage>::new());
        let found = decoder.decode(container, &Limits::DEFAULT).report_to(&mut damage);
        let block = block::decode(found.plain, Some(&LAYOUT), None, &Limits::DEFAULT).report_to(&mut damage);
        let (bytes, items) = block.metadata.as_ref().map_or((0, 0), |all| (all.declared, all.items()));
        (damage.is_empty() && found.whole).then_some((block.version, block.size, found.plain.len(), bytes, items))
    }

    #[test]
    fn healthy_blocks_are_verified_with_what_they_hold() {
        for seed in 1..40 {
            let plain = sample(seed, 4);
            let verified = verify(&packed(&plain)).expect("a healthy block");
            assert_eq!((verified.version, verified.size, verified.plain as usize), (4, [16; 3], plain.len()));
            assert_eq!(verified.channels[1], (Depth::Bits16, Storage::Raw));
            assert_eq!(verified.channels[7], (Depth::Bits8, Storage::Uniform));
            assert_eq!(verified.metadata_items, if seed.is_multiple_of(3) { 2 } else { 0 });
        }
    }

    #[test]
    fn whatever_is_not_plain_is_left_to_the_decoder() {
        let plain = sample(7, 4);
        let whole = packed(&plain);
        assert!(verify(&whole[..whole.len() - 1]).is_none(), "cut");
        assert!(verify(&[&whole[..], &[0]].concat()).is_none(), "bytes behind");
        let mut with_metadata = plain.clone();
        with_metadata.splice(plain.len() - 4..plain.len() - 4, [0; 8]);
        assert!(verify(&packed(&with_metadata)).is_none(), "metadata with bytes behind it");
        let large = [&1100u32.to_le_bytes()[..], &[0; 1100]].concat();
        with_metadata.splice(plain.len() - 4..plain.len() + 4, large);
        assert!(verify(&packed(&with_metadata)).is_none(), "much metadata");
        for (at, name) in [(0, "version"), (1, "size"), (7, "format of TYPE"), (plain.len() - 1, "epilogue")] {
            let mut wrong = plain.clone();
            wrong[at] ^= 0x40;
            assert!(verify(&packed(&wrong)).is_none(), "{name}");
        }
        let mut plain_mode = Vec::new();
        container::encode(Mode::Plain, &plain, &mut plain_mode);
        assert!(verify(&plain_mode).is_none(), "not LZ4");
    }

    #[test]
    fn repeated_textures_are_left_to_the_decoder() {
        let mut plain = sample(7, 4);
        // Four channels follow, of which WEIGHTS has 16 bits, and the epilogue.
        let indices = plain.len() - 4 - 3 * 2 - 3 - 2;
        for (value, is_verified) in [(0u16, true), (0x3210, true), (0x3213, false), (0x0011, false)] {
            plain[indices..indices + 2].copy_from_slice(&value.to_le_bytes());
            assert_eq!(verify(&packed(&plain)).is_some(), is_verified, "{value:#x}");
        }
    }

    proptest! {
        #[test]
        fn verified_means_that_the_decoder_finds_no_damage(
            seed in 1u32..1000, version in 1u8..6, flips in prop::collection::vec((any::<u16>(), any::<u8>()), 0..4),
            before in any::<bool>(),
        ) {
            let mut bytes = sample(seed, version);
            let flip = |bytes: &mut Vec<u8>| {
                for (at, xor) in &flips {
                    let at = usize::from(*at) % bytes.len();
                    bytes[at] ^= xor;
                }
            };
            if before { flip(&mut bytes); }
            let mut container = packed(&bytes);
            if !before { flip(&mut container); }
            let mut used = Verifier::default();
            used.verify(&packed(&sample(seed + 1, 4)), &LAYOUT, &Limits::DEFAULT).expect("a healthy block");
            prop_assert_eq!(verify(&container), used.verify(&container, &LAYOUT, &Limits::DEFAULT));
            if let Some(verified) = verify(&container) {
                let decoded = decode(&container);
                let Verified { version, size, plain, metadata_bytes, metadata_items, .. } = verified;
                prop_assert_eq!(decoded, Some((version, size, plain as usize, metadata_bytes, metadata_items)));
            }
        }
    }
}
