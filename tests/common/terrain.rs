//! Forests of full regions: every block of a region is stored, and no two places look alike.

use std::fs;
use std::path::Path;

use rayon::prelude::*;
use voxscope::godot::block::{self, Block};
use voxscope::godot::channel::{CHANNELS, Channel, Depth, Storage};
use voxscope::godot::container::{self, Mode};
use voxscope::godot::forest::Meta;
use voxscope::godot::region::{Builder, Format, Header};
use voxscope::godot::slots::{self, SlotFormula};

use super::random::Random;

/// What the ground is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// Hills: TYPE in layers, and SDF.
    Smooth,
    /// Hills with caves and ores: TYPE alone.
    Blocky,
    /// Each block has its own surface, which no other one continues: TYPE alone.
    Steps,
}

/// A world, voxel by voxel.
#[derive(Clone, Debug)]
pub struct Terrain {
    pub ground: Ground,
    pub seed: u64,
    pub format: Format,
}

impl Terrain {
    /// Blocks of 16 x 16 x 16 voxels, regions of 16 x 16 x 16 blocks.
    pub fn full(ground: Ground, seed: u64) -> Self {
        Self::new(ground, seed, 4, 16)
    }

    /// Blocks of 8 x 8 x 8 voxels, regions of 8 x 8 x 8 blocks: as full, in 1/64 of the time.
    pub fn small(ground: Ground, seed: u64) -> Self {
        Self::new(ground, seed, 3, 8)
    }

    /// A world of blocks of a size, as a power of two, in regions of as many blocks along each axis. TYPE and SDF have 16
    /// bits, a sector 512 bytes.
    pub fn new(ground: Ground, seed: u64, block_size_po2: u8, region_size: u16) -> Self {
        let mut depths = [Depth::Bits8; CHANNELS];
        [0, 1, 3, 4].into_iter().for_each(|channel| depths[channel] = Depth::Bits16);
        let format = Format { block_size_po2, region_size: [region_size; 3], depths, sector_size: 512 };
        Self { ground, seed, format }
    }

    /// A number from 0 to 1 at a place of the lattice.
    fn lattice(&self, salt: u64, place: [i64; 3]) -> f64 {
        let mut hash = self.seed ^ salt.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for n in place {
            hash = (hash ^ n as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            hash ^= hash >> 29;
        }
        hash = hash.wrapping_mul(0x94d0_49bb_1331_11eb);
        (hash >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Smooth noise from 0 to 1 with a period in voxels.
    fn noise(&self, salt: u64, place: [f64; 3], period: f64) -> f64 {
        let at = place.map(|n| n / period);
        let cell = at.map(|n| n.floor() as i64);
        let [x, y, z] = [0, 1, 2].map(|axis| {
            let t = at[axis] - cell[axis] as f64;
            t * t * (3.0 - 2.0 * t)
        });
        let mix = |a: f64, b: f64, t: f64| a + (b - a) * t;
        let row = |dy, dz| {
            let end = |dx| self.lattice(salt, [cell[0] + dx, cell[1] + dy, cell[2] + dz]);
            mix(end(0), end(1), x)
        };
        mix(mix(row(0, 0), row(1, 0), y), mix(row(0, 1), row(1, 1), y), z)
    }

    /// Heights of the ground above the voxels of a column of blocks, in the order ZX.
    fn heights(&self, [x, z]: [i32; 2]) -> Vec<(f64, f64)> {
        let side = i32::from(self.format.block_size());
        // The ground lies within a region, whatever its height.
        let tall = f64::from(side * i32::from(self.format.region_size[1])) / 256.0;
        let at = |n: i32| {
            let place = [f64::from(x * side + n % side), 0.0, f64::from(z * side + n / side)];
            let hills = 90.0 * self.noise(1, place, 190.0) + 30.0 * self.noise(2, place, 53.0);
            let bumps = 9.0 * self.noise(3, place, 17.0) + 2.5 * self.noise(4, place, 5.0);
            ((60.0 + hills) * tall + bumps, (self.noise(5, place, 70.0) * 4.0).floor())
        };
        (0..side * side).map(at).collect()
    }

    /// The same for a block that has a surface of its own.
    fn step(&self, position: [i32; 3]) -> Vec<(f64, f64)> {
        let side = i32::from(self.format.block_size());
        let place = position.map(i64::from);
        let height = f64::from(position[1] * side) + self.lattice(8, place) * f64::from(side);
        vec![(height, (self.lattice(9, place) * 4.0).floor()); (side * side) as usize]
    }

    /// A block as the engine stores it, without its container.
    pub fn block(&self, position: [i32; 3]) -> Vec<u8> {
        let side = i32::from(self.format.block_size());
        let columns = match self.ground {
            Ground::Smooth | Ground::Blocky => self.heights([position[0], position[2]]),
            Ground::Steps => self.step(position),
        };
        let volume = side.pow(3) as usize;
        let (mut kinds, mut distances) = (Vec::with_capacity(2 * volume), Vec::with_capacity(2 * volume));
        for (column, (height, kind)) in (0..).zip(columns) {
            let [x, z] = [position[0] * side + column % side, position[2] * side + column / side];
            for y in (0..side).map(|y| position[1] * side + y) {
                let above = f64::from(y) - height;
                let place = [x, y, z].map(f64::from);
                let layer = match above {
                    _ if above >= 0.0 => 0.0,
                    _ if above > -1.0 => 1.0 + kind,
                    _ if above > -4.0 => 10.0 + kind,
                    _ => 20.0 + ((f64::from(y) + height * 0.3) / 40.0).floor().rem_euclid(3.0),
                };
                let value = match self.ground {
                    Ground::Blocky if above < -2.0 && (self.noise(6, place, 23.0) - 0.5).abs() < 0.06 => 0.0,
                    Ground::Blocky if above < -4.0 && self.noise(7, place, 3.0) > 0.8 => 30.0 + kind,
                    _ => layer,
                };
                kinds.extend((value as u16).to_le_bytes());
                if self.ground == Ground::Smooth {
                    distances.extend(((above.clamp(-12.0, 12.0) * 0.002 * 32767.0).round() as i16).to_le_bytes());
                }
            }
        }
        if distances.is_empty() {
            distances = i16::MAX.to_le_bytes().to_vec();
        }
        let zero = [0; 2];
        let channels = (0..CHANNELS).map(|i| {
            let depth = self.format.depths[i];
            let width = depth.bytes();
            let data = [&kinds[..], &distances[..]].get(i).copied().unwrap_or(&zero[..width]);
            let uniform = data.chunks(width).all(|value| value == &data[..width]);
            let (storage, data) = if uniform { (Storage::Uniform, &data[..width]) } else { (Storage::Raw, data) };
            Channel { depth, storage, data, offset: 0, size: data.len() as u64 }
        });
        let block =
            Block { version: 4, size: [side as u16; 3], channels: channels.collect(), metadata: None, epilogue: None };
        let mut plain = Vec::new();
        block::encode(&block, &mut plain);
        plain
    }

    /// A full region file. Blocks are stored in the order of the table, or, with an odd seed, in any order.
    pub fn region(&self, region: [i32; 3]) -> Vec<u8> {
        let size = self.format.region_size;
        let mut order: Vec<u32> = (0..self.format.table_len()).collect();
        if self.seed % 2 == 1 {
            let salt = region.iter().fold(self.seed, |salt, n| salt.wrapping_mul(1009).wrapping_add(*n as u64));
            let mut random = Random::new(salt);
            (1..order.len()).rev().for_each(|i| order.swap(i, random.below(i + 1)));
        }
        let packed: Vec<(u32, Vec<u8>)> = order
            .into_par_iter()
            .map(|slot| {
                let inside = slots::position(size, slot).unwrap();
                let axis = |a: usize| slots::block(region[a], inside[a], size[a], SlotFormula::Euclidean).unwrap();
                let mut stored = Vec::new();
                container::encode(Mode::Lz4, &self.block([0, 1, 2].map(axis)), &mut stored);
                (slot, stored)
            })
            .collect();
        let mut builder = Builder::new(Header::new(3, self.format));
        packed.iter().for_each(|(slot, stored)| assert!(builder.push(*slot, stored).is_some()));
        builder.finish().unwrap()
    }

    /// Writes a forest of full regions.
    pub fn write(&self, dir: &Path, regions: &[[i32; 3]]) {
        let meta = Meta {
            version: Some(3),
            block_size_po2: Some(self.format.block_size_po2),
            region_size_po2: Some(self.format.region_size[0].ilog2() as u8),
            sector_size: Some(self.format.sector_size),
            depths: Some(self.format.depths),
            lod_count: Some(1),
            ..Meta::default()
        };
        let lod = dir.join("regions/lod0");
        fs::create_dir_all(&lod).unwrap();
        fs::write(dir.join("meta.vxrm"), meta.encode()).unwrap();
        for at @ [x, y, z] in regions {
            fs::write(lod.join(format!("r.{x}.{y}.{z}.vxr")), self.region(*at)).unwrap();
        }
    }
}
