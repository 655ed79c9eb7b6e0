//! Saves of a game that was killed after a player dug in its world.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use voxscope::godot::block::{self, Block};
use voxscope::godot::channel::{Channel, Depth, Storage};
use voxscope::godot::container::Mode;
use voxscope::save::{Options, Save, Scratch};

use super::random::Random;
use super::truth::{Signature, signature};
use super::writer::World;

/// What the blocks of LOD 0 were, by position: before, and after if the player dug there.
pub type States = HashMap<[i32; 3], Vec<Signature>>;

/// Digs into so many blocks of each region of LOD 0, and saves them as a game does that is killed before it writes a table. Blocks have
/// TYPE and SDF of 16 bits.
pub fn kill(save: &Path, changes: usize, seed: u64) -> States {
    let opened = Save::open(save, &Options::default()).unwrap();
    let (mut scratch, mut random, mut states) = (Scratch::default(), Random::new(seed), States::new());
    for (forest, file) in opened.regions().filter(|(_, file)| file.lod == 0) {
        let mut region = opened.region(forest, file).unwrap().unwrap();
        let slots = region.slots(&mut scratch).unwrap();
        let mut world = World::new(region.header.format, Mode::Lz4);
        let mut entries = std::mem::take(&mut region.entries);
        entries.sort_by_key(|listed| listed.entry.first());
        let mut positions = Vec::new();
        for listed in entries {
            let position = region.block_position(listed.slot, slots).unwrap();
            let view = region.view(listed.entry, &mut scratch).unwrap();
            let block = view.block.unwrap();
            let mut plain = Vec::new();
            block::encode(&block, &mut plain);
            assert!(world.save(position, plain));
            states.insert(position, vec![signature(&block)]);
            let [kinds, distances] = [0, 1].map(|channel| values(&block.channels[channel]));
            positions.push((position, kinds, distances));
        }
        world.flush();
        for _ in 0..changes {
            let at = random.below(positions.len());
            let (position, kinds, distances) = &mut positions[at];
            dig(kinds, distances, &mut random);
            let [kinds, distances] = [&*kinds, &*distances].map(|values| bytes(values));
            let channels = [(Depth::Bits16, &kinds), (Depth::Bits16, &distances)].map(|(depth, data)| {
                let is_uniform = data.chunks(2).all(|value| value == &data[..2]);
                let (storage, data) =
                    if is_uniform { (Storage::Uniform, &data[..2]) } else { (Storage::Raw, &data[..]) };
                Channel { depth, storage, data, offset: 0, size: data.len() as u64 }
            });
            let rest = region.header.format.depths[2..].iter().map(|&depth| plain_channel(depth));
            let all = channels.into_iter().chain(rest).collect();
            let block = Block { version: 4, size: [16; 3], channels: all, metadata: None, epilogue: None };
            let mut plain = Vec::new();
            block::encode(&block, &mut plain);
            assert!(world.save(*position, plain));
            states.get_mut(position).unwrap().push(signature(&block));
        }
        fs::write(save.join(&file.name), &world.files[0].disk).unwrap();
    }
    states
}

/// The values of a channel of 16 bits, voxel by voxel.
fn values(channel: &Channel<'_>) -> Vec<u16> {
    let mut values = channel.data.chunks(2).map(|value| u16::from_le_bytes([value[0], value[1]]));
    match channel.storage {
        Storage::Uniform => vec![values.next().unwrap(); 16 * 16 * 16],
        Storage::Raw => values.collect(),
    }
}

fn bytes(values: &[u16]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// A channel in which all values are 0.
const fn plain_channel(depth: Depth) -> Channel<'static> {
    let data: &[u8] = match depth.bytes() {
        1 => &[0],
        2 => &[0; 2],
        4 => &[0; 4],
        _ => &[0; 8],
    };
    Channel { depth, storage: Storage::Uniform, data, offset: 0, size: data.len() as u64 }
}

/// Takes a ball out of a block.
fn dig(kinds: &mut [u16], distances: &mut [u16], random: &mut Random) {
    let mut number = |from: f64, to: f64| from + (to - from) * random.below(1 << 16) as f64 / f64::from(1 << 16);
    let center = [(); 3].map(|()| number(0.0, 16.0));
    let radius = number(2.0, 6.0);
    for (i, (kind, distance)) in kinds.iter_mut().zip(distances).enumerate() {
        let at = [i / 16 % 16, i % 16, i / 256].map(|n| n as f64);
        let inside = radius - (0..3).map(|axis| (at[axis] - center[axis]).powi(2)).sum::<f64>().sqrt();
        if inside > 0.0 {
            *kind = 0;
        }
        let dug = (inside.clamp(-12.0, 12.0) * 0.002 * 32767.0).round() as i16;
        *distance = (*distance as i16).max(dug) as u16;
    }
}
