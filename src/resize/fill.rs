//! What stands where blocks are joined and one of them is not there.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::{VERSION, sdf_of_today};
use crate::godot::channel::{CHANNELS, Channel, Depth, SDF, Storage, sdf};
use crate::world::{Buffer, Index, World};

/// INDICES and WEIGHTS: the engine's own values for nothing are not 0.
const TEXTURES: [usize; 2] = [3, 4];

/// Values of channels where nothing is stored.
///
/// SDF: the most common value outside of the surface that whole blocks of the LOD have; the farthest there is where
/// none has one. INDICES and WEIGHTS: the most common value of whole blocks. All others, and where nothing tells: 0.
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

    /// Looks at all blocks of a LOD, until it is told to stop.
    pub fn of(world: &World<'_>, index: &Index, stop: &(dyn Fn() -> bool + Sync)) -> Self {
        let idle: Mutex<Vec<Buffer>> = Mutex::default();
        let counts = index
            .blocks
            .par_iter()
            .fold(Counts::new, |mut counts, at| {
                if stop() {
                    return counts;
                }
                let mut buffer = idle.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
                // What cannot be read is listed by those who convert it.
                if let Ok(view) = world.read(at, &mut buffer)
                    && view.is_readable()
                    && let Some(block) = &view.block
                {
                    for channel in [SDF, TEXTURES[0], TEXTURES[1]] {
                        if let Some(key) = block.channels.get(channel).and_then(|c| key(block.version, channel, c)) {
                            *counts.entry(key).or_default() += 1;
                        }
                    }
                }
                idle.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
                counts
            })
            .reduce(Counts::new, |mut all, some| {
                for (key, n) in some {
                    *all.entry(key).or_default() += n;
                }
                all
            });
        let mut best = HashMap::new();
        for channel in 0..CHANNELS {
            for depth in Depth::ALL {
                let of = counts.iter().filter(|((c, d, _), _)| (*c, *d) == (channel, depth));
                // The smaller value where two are as common, so that the result does not depend on the order.
                if let Some(((_, _, value), _)) = of.max_by_key(|((_, _, value), n)| (**n, std::cmp::Reverse(*value))) {
                    best.insert((channel, depth), *value);
                }
            }
        }
        Self(best)
    }
}

/// What a uniform channel counts for; `None` for the inside of the ground.
fn key(version: u8, channel: usize, of: &Channel<'_>) -> Option<(usize, Depth, u64)> {
    let value = of.value(0).filter(|_| of.storage == Storage::Uniform)?;
    if channel != SDF {
        return Some((channel, of.depth, value));
    }
    let value = sdf_of_today(version, of.depth, value);
    (sdf(VERSION, of.depth, value) > 0.0).then_some((channel, of.depth, value))
}
