//! Fill values for missing blocks when blocks are joined.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::{VERSION, sdf_of_today};
use crate::godot::channel::{CHANNELS, Channel, Depth, SDF, Storage, sdf};
use crate::parallel;
use crate::watch::Watch;
use crate::world::{Buffer, Index, World};

/// INDICES and WEIGHTS: the engine's default values are not 0.
const TEXTURES: [usize; 2] = [3, 4];

/// Values of channels where no block is stored.
///
/// SDF: the most common value of uniform blocks of the LOD that are outside of the surface; the largest distance if
/// there is none. INDICES and WEIGHTS: the most common value of uniform blocks. All others, and without evidence: 0.
#[derive(Default)]
pub(crate) struct Fill(HashMap<(usize, Depth), u64>);

type Counts = HashMap<(usize, Depth, u64), u64>;

impl Fill {
    /// The value of a channel with this depth.
    pub fn value(&self, channel: usize, depth: Depth) -> u64 {
        let farthest = match depth {
            Depth::Bits8 => 127,
            Depth::Bits16 => 32767,
            Depth::Bits32 => u64::from(1f32.to_bits()),
            Depth::Bits64 => 1f64.to_bits(),
        };
        let nothing = if channel == SDF { farthest } else { 0 };
        self.0.get(&(channel, depth)).copied().unwrap_or(nothing)
    }

    /// Reads all blocks of a LOD.
    pub fn measure(world: &World<'_>, index: &Index, watch: &Watch<'_>) -> Self {
        let counts = Mutex::new(Counts::new());
        parallel::each_with(&index.blocks, |buffer: &mut Buffer, at| {
            if watch.is_cancelled() {
                return;
            }
            // The caller lists blocks that cannot be read.
            if let Ok(view) = world.read(at, buffer)
                && view.is_readable()
                && let Some(block) = &view.block
            {
                for channel in [SDF, TEXTURES[0], TEXTURES[1]] {
                    if let Some(key) = block.channels.get(channel).and_then(|c| key(block.version, channel, c)) {
                        *counts.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default() += 1;
                    }
                }
            }
        });
        let counts = counts.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut best = HashMap::new();
        for channel in 0..CHANNELS {
            for depth in Depth::ALL {
                let of = counts.iter().filter(|((c, d, _), _)| (*c, *d) == (channel, depth));
                // Of equally common values the smaller one, so that the result does not depend on the order.
                if let Some(((_, _, value), _)) = of.max_by_key(|((_, _, value), n)| (**n, std::cmp::Reverse(*value))) {
                    best.insert((channel, depth), *value);
                }
            }
        }
        Self(best)
    }
}

/// The value that a uniform channel adds to the statistics; `None` for the inside of the ground.
fn key(version: u8, channel: usize, of: &Channel<'_>) -> Option<(usize, Depth, u64)> {
    let value = of.value(0).filter(|_| of.storage == Storage::Uniform)?;
    if channel != SDF {
        return Some((channel, of.depth, value));
    }
    let value = sdf_of_today(version, of.depth, value);
    (sdf(VERSION, of.depth, value) > 0.0).then_some((channel, of.depth, value))
}
