//! Healthy forests in which blocks repeat, and in which the game never stored some of them.

use std::fs;
use std::path::Path;

use voxscope::godot::block::{self, Block};
use voxscope::godot::channel::{CHANNELS, Channel, Depth, Storage};
use voxscope::godot::container::{self, Mode};
use voxscope::godot::forest::Meta;
use voxscope::godot::region::{Builder, Format, Header};
use voxscope::godot::slots::{self, SlotFormula};

use super::writer::Random;

/// Voxels along each side of a block.
const SIDE: i32 = 16;

/// What repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Floors of one voxel in every second block, by chance: two contents.
    Plates,
    /// Noise that is the same at all heights.
    Columns,
    /// Each block is half a block higher than the ones beside it.
    Stairs,
    /// Ground that repeats every three blocks.
    Waves,
    /// Hills that never repeat: all air above and all stone below is alike.
    Hills,
}

/// A world of regions of `region_size` blocks along each side.
#[derive(Clone, Copy, Debug)]
pub struct Repeating {
    pub pattern: Pattern,
    pub region_size: u16,
    /// Of a hundred blocks, so many are stored.
    pub stored: u64,
    pub seed: u64,
}

fn hash(seed: u64, place: [i32; 3]) -> u64 {
    place.into_iter().fold(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, |hash, n| {
        let hash = (hash ^ n as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash ^ hash >> 29
    })
}

/// Air above the ground, and two kinds below.
const fn layers(depth: i32) -> u16 {
    match depth {
        ..=0 => 0,
        1..4 => 5,
        _ => 20,
    }
}

impl Repeating {
    fn voxel(&self, [x, y, z]: [i32; 3]) -> u16 {
        let height = i32::from(self.region_size) * SIDE;
        let block = [x, y, z].map(|n| n.div_euclid(SIDE));
        match self.pattern {
            Pattern::Plates => {
                if y.rem_euclid(SIDE) == 0 && hash(self.seed, block).is_multiple_of(2) {
                    4
                } else {
                    0
                }
            }
            Pattern::Columns => 1 + (hash(self.seed, [x, 0, z]) % 4) as u16,
            Pattern::Stairs => {
                let ground = ((block[0] + block[2]) * SIDE / 2 + 4).rem_euclid(height);
                if y < ground { 1 + (block[0] + 2 * block[2]).rem_euclid(3) as u16 } else { 0 }
            }
            Pattern::Waves => {
                let at = |n: i32| f64::from(n.rem_euclid(3 * SIDE)) / f64::from(3 * SIDE) * std::f64::consts::TAU;
                let ground = f64::from(height) * (0.5 + 0.2 * at(x).sin() + 0.15 * (2.0 * at(z) + 1.0).sin());
                layers((ground - f64::from(y)).ceil() as i32)
            }
            Pattern::Hills => {
                let wave = |n: i32, length: f64| (f64::from(n) / length + self.seed as f64).sin();
                let ground = f64::from(height) * (0.5 + 0.15 * wave(x, 31.0) + 0.12 * wave(z, 23.0))
                    + 5.0 * wave(x + z, 11.0)
                    + 3.0 * wave(x - 2 * z, 17.3);
                layers((ground - f64::from(y)).ceil() as i32)
            }
        }
    }

    fn block(&self, position: [i32; 3], depths: [Depth; CHANNELS]) -> Vec<u8> {
        let corner = position.map(|n| n * SIDE);
        let mut kinds = Vec::new();
        for z in 0..SIDE {
            for x in 0..SIDE {
                for y in 0..SIDE {
                    kinds.extend(self.voxel([corner[0] + x, corner[1] + y, corner[2] + z]).to_le_bytes());
                }
            }
        }
        let is_uniform = kinds.chunks(2).all(|kind| kind == &kinds[..2]);
        let zero = [0; 2];
        let channel = |n: usize| {
            let (storage, data) = match n {
                0 if is_uniform => (Storage::Uniform, &kinds[..2]),
                0 => (Storage::Raw, &kinds[..]),
                _ => (Storage::Uniform, &zero[..depths[n].bytes()]),
            };
            Channel { depth: depths[n], storage, data, offset: 0, size: data.len() as u64 }
        };
        let channels = (0..CHANNELS).map(channel).collect();
        let block = Block { version: 4, size: [SIDE as u16; 3], channels, metadata: None, epilogue: None };
        let mut plain = Vec::new();
        block::encode(&block, &mut plain);
        plain
    }

    /// Writes a forest; blocks are stored in any order, or with an even seed in that of the table.
    pub fn write(&self, dir: &Path, regions: &[[i32; 3]]) {
        let mut depths = [Depth::Bits8; CHANNELS];
        [0, 1, 3, 4].into_iter().for_each(|channel| depths[channel] = Depth::Bits16);
        let format = Format { block_size_po2: 4, region_size: [self.region_size; 3], depths, sector_size: 512 };
        let lod = dir.join("regions/lod0");
        fs::create_dir_all(&lod).unwrap();
        let meta = Meta {
            version: Some(3),
            block_size_po2: Some(4),
            region_size_po2: Some(self.region_size.ilog2() as u8),
            sector_size: Some(512),
            depths: Some(depths),
            lod_count: Some(1),
            ..Meta::default()
        };
        fs::write(dir.join("meta.vxrm"), meta.encode()).unwrap();
        for (n, region) in regions.iter().enumerate() {
            let mut random = Random::new(self.seed * 31 + n as u64 + 1);
            let mut order: Vec<u32> =
                (0..format.table_len()).filter(|_| (random.below(100) as u64) < self.stored).collect();
            if self.seed % 2 == 1 {
                (1..order.len()).rev().for_each(|i| order.swap(i, random.below(i + 1)));
            }
            let mut builder = Builder::new(Header::new(3, format));
            for slot in order {
                let inside = slots::position(format.region_size, slot).unwrap();
                let axis =
                    |a: usize| slots::block(region[a], inside[a], self.region_size, SlotFormula::Euclidean).unwrap();
                let mut stored = Vec::new();
                container::encode(Mode::Lz4, &self.block([0, 1, 2].map(axis), depths), &mut stored);
                assert!(builder.push(slot, &stored).is_some());
            }
            let [x, y, z] = region;
            fs::write(lod.join(format!("r.{x}.{y}.{z}.vxr")), builder.finish().unwrap()).unwrap();
        }
    }
}
