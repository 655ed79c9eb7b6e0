//! Channels of other depths, and textures of Mixel4 as Single: the engine refuses every block whose depths differ from the
//! project's format.

use crate::convert::VoxelChange;
use crate::godot::block::Block;
use crate::godot::channel::{CHANNELS, Channel, Depth, NAMES, SDF, Storage, sdf};
use crate::godot::textures::{INDICES, Textures, WEIGHTS, texture};
use crate::resize::VERSION;

/// The changed channels of a block: values in the order ZXY, or one for all voxels.
pub(super) type Data = [Vec<u8>; CHANNELS];

impl VoxelChange {
    /// Whether channels stay as they are.
    pub(super) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// The depth of a channel that has `own` in the source.
    pub(super) fn depth(&self, channel: usize, own: Depth) -> Depth {
        let single = (self.single_textures && channel == INDICES).then_some(Depth::Bits8);
        self.depths.get(channel).copied().flatten().or(single).unwrap_or(own)
    }

    /// Whether the textures of a channel get another form.
    pub(super) fn changes_textures(&self, channel: usize) -> bool {
        self.single_textures && (channel == INDICES || channel == WEIGHTS)
    }

    pub(super) fn is_changed(&self, channel: usize, own: Depth) -> bool {
        self.depth(channel, own) != own || self.changes_textures(channel)
    }

    /// The value of a voxel in the result, by its index in the order ZXY.
    ///
    /// # Errors
    /// A sentence, if it does not fit.
    pub(super) fn value(&self, block: &Block<'_>, channel: usize, index: usize) -> Result<u64, String> {
        let Some(of) = block.channels.get(channel) else { return Ok(0) };
        let depth = self.depth(channel, of.depth);
        if self.single_textures && Textures::of_block(block) == Some(Textures::Mixel4) {
            if channel == INDICES {
                return Ok(texture(block, index).unwrap_or(0).into());
            }
            if channel == WEIGHTS {
                return Ok(0);
            }
        }
        let raw = of.value(index).unwrap_or(0);
        if channel == SDF {
            return Ok(distance(block.version, of.depth, raw, depth));
        }
        let fits = depth.bits() == 64 || raw >> depth.bits() == 0;
        if fits { Ok(raw) } else { Err(self.why_not(block, channel, raw, depth)) }
    }

    fn why_not(&self, block: &Block<'_>, channel: usize, raw: u64, depth: Depth) -> String {
        let name = NAMES.get(channel).unwrap_or(&"");
        let textures = channel == INDICES && Textures::of_block(block) == Some(Textures::Mixel4);
        let hint = if textures { "; --textures single writes the texture of the largest weight" } else { "" };
        format!("{name} has the value {raw}, which does not fit {} bits{hint}", depth.bits())
    }

    /// The block with its changed channels, whose values go into `data`.
    ///
    /// # Errors
    /// A sentence, if a value does not fit.
    pub(super) fn apply<'a>(&self, block: Block<'a>, data: &'a mut Data) -> Result<Block<'a>, String> {
        if self.is_nothing() {
            return Ok(block);
        }
        data.iter_mut().for_each(Vec::clear);
        let uniform = |c: usize| block.channels.get(c).is_some_and(|of| of.storage == Storage::Uniform);
        for (c, (of, out)) in block.channels.iter().zip(&mut *data).enumerate() {
            if !self.is_changed(c, of.depth) {
                continue;
            }
            // A texture of Mixel4 depends on both channels.
            let both = self.single_textures && c == INDICES;
            let one = uniform(c) && (!both || uniform(WEIGHTS)) || self.single_textures && c == WEIGHTS;
            let voxels = if one { 1 } else { usize::try_from(block.volume()).unwrap_or(usize::MAX) };
            let width = self.depth(c, of.depth).bytes();
            for index in 0..voxels {
                let value = self.value(&block, c, index)?;
                out.extend_from_slice(value.to_le_bytes().get(..width).unwrap_or_default());
            }
        }
        let data: &'a Data = data;
        let channels = block.channels.iter().zip(data).enumerate().map(|(c, (of, data))| {
            if !self.is_changed(c, of.depth) {
                return *of;
            }
            let depth = self.depth(c, of.depth);
            let storage = if data.len() == depth.bytes() { Storage::Uniform } else { Storage::Raw };
            Channel { depth, storage, data, offset: 0, size: data.len() as u64 }
        });
        let channels = channels.collect();
        Ok(Block { channels, ..block })
    }

    /// Why a block cannot be changed so; `None` if it can.
    pub(super) fn refusal(&self, block: &Block<'_>) -> Option<String> {
        let other = self.single_textures && Textures::of_block(block) != Some(Textures::Mixel4);
        other.then(|| "its textures are not Mixel4, which has 16 bits in INDICES and in WEIGHTS".to_owned())
    }
}

/// A distance of the current version in another depth, as near as that can store it. Fixed point ends at its largest value, as in
/// the engine.
fn distance(version: u8, from: Depth, raw: u64, to: Depth) -> u64 {
    debug_assert!(version == VERSION || from > Depth::Bits16, "rescaled before");
    if from == to {
        return raw;
    }
    let value = sdf(VERSION, from, raw);
    match to {
        Depth::Bits8 => u64::from(((value / 10.0 * 127.0).round().clamp(-127.0, 127.0) as i8).cast_unsigned()),
        Depth::Bits16 => u64::from(((value / 500.0 * 32767.0).round().clamp(-32767.0, 32767.0) as i16).cast_unsigned()),
        Depth::Bits32 => u64::from((value as f32).to_bits()),
        Depth::Bits64 => value.to_bits(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_survive_a_deeper_channel_and_are_rounded_in_a_shallower_one() {
        for raw in 0..=u64::from(u16::MAX) {
            // The most negative value is never written; it reads as the one after it.
            let kept = if raw == 0x8000 { 0x8001 } else { raw };
            let deep = distance(4, Depth::Bits16, raw, Depth::Bits32);
            assert_eq!(distance(4, Depth::Bits32, deep, Depth::Bits16), kept, "{raw:#x}");
        }
        let of = |value: f32, depth| distance(4, Depth::Bits32, value.to_bits().into(), depth);
        assert_eq!(of(1e9, Depth::Bits8), 127);
        assert_eq!(of(-1e9, Depth::Bits16), 0x8001);
        assert_eq!(of(10.0, Depth::Bits8), 127);
        assert_eq!(of(0.04, Depth::Bits8), 1);
    }
}
