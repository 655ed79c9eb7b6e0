//! Terrain from a seed: hills, caves, ores, and chests that carry metadata.
//!
//! Every value depends only on the seed and the voxel's position in the world, so blocks fit together in whatever order
//! they are made.

use crate::demo::noise;
use crate::demo::owned::{OwnedBlock, OwnedChannel};
use crate::godot::channel::{CHANNELS, Depth, index_zxy};
use crate::godot::metadata::{Item, Metadata, VoxelItem};
use crate::godot::variant::{Dialect, Variant};

/// The engine's default value of 16-bit INDICES.
pub const INDICES: u64 = 12816;

/// The engine's default value of 16-bit WEIGHTS.
pub const WEIGHTS: u64 = 15;

/// The materials in the channel TYPE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Material {
    /// Nothing.
    Air = 0,
    /// The uppermost layer.
    Grass = 1,
    /// A few voxels below it.
    Dirt = 2,
    /// Everything else.
    Stone = 3,
    /// Grass, where it is high.
    Snow = 4,
    /// Grass, where it is low.
    Sand = 5,
    /// Air below the level of the sea.
    Water = 6,
    /// Small lumps in the stone.
    Coal = 7,
    /// Small lumps in the stone, far below.
    Iron = 8,
}

/// The shape of the land. The unit is a voxel of LOD 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terrain {
    /// The seed of all random values.
    pub seed: u64,
    /// Mean height of the surface.
    pub base: f64,
    /// Amplitude of the surface.
    pub relief: f64,
    /// Largest distance from the surface that is stored; larger ones are clamped. In voxels of
    /// the LOD.
    pub reach: f64,
    /// How rough the surface is: strength of the finest noise in the distance.
    pub grain: f64,
}

/// Height of the sea level.
const SEA: i64 = 2;
/// Depth below the surface at which caves begin.
const CAVE_ROOF: f64 = 6.0;

impl Terrain {
    /// Hills between heights of about 0 and 32, so that blocks of 16 voxels at y = 0 and 1 hold the surface.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { seed, base: 15.0, relief: 14.0, reach: 10.0, grain: 0.0 }
    }

    /// Height of the surface.
    #[must_use]
    pub fn height(&self, x: i64, z: i64) -> f64 {
        let n = |salt: u64, size| noise::flat(self.seed ^ salt, x, z, size);
        self.base + self.relief * (0.62 * n(1, 72) + 0.26 * n(2, 23) + 0.12 * n(3, 7))
    }

    /// The block at a position, in blocks of that LOD, with `block_size` voxels along each axis.
    #[must_use]
    pub fn block(
        &self,
        lod: u8,
        position: [i32; 3],
        block_size: u16,
        depths: &[Depth; CHANNELS],
        version: u8,
    ) -> OwnedBlock {
        let step = 1i64 << lod.min(24);
        let origin = position.map(|p| i64::from(p) * i64::from(block_size) * step);
        let (types, distances) = self.voxels(origin, step, block_size);
        let [d0, d1, d2, d3, d4, d5, d6, d7] = *depths;
        // Before version 3 these two channels had neither a meaning nor a default.
        let (indices, weights) = if version < 3 { (0, 0) } else { (INDICES, WEIGHTS) };
        let channels = [
            OwnedChannel::of_values(d0, pack(&types, d0, |&material| material as u64)),
            OwnedChannel::of_values(d1, pack(&distances, d1, |&distance| store_sdf(version, d1, distance))),
            OwnedChannel::uniform(d2, 0),
            OwnedChannel::uniform(d3, indices),
            OwnedChannel::uniform(d4, weights),
            OwnedChannel::uniform(d5, 0),
            OwnedChannel::uniform(d6, 0),
            OwnedChannel::uniform(d7, 0),
        ];
        OwnedBlock { version, size: [block_size; 3], channels, metadata: None }
    }

    /// Materials and distances of all voxels, in the order ZXY.
    fn voxels(&self, [ox, oy, oz]: [i64; 3], step: i64, block_size: u16) -> (Vec<Material>, Vec<f64>) {
        let n = usize::from(block_size);
        let (mut types, mut distances) = (vec![Material::Air; n * n * n], vec![0.0; n * n * n]);
        let reach = self.reach * step as f64;
        let axis = |origin: i64| (0..n as i64).map(move |i| origin + i * step);
        let columns = axis(oz).flat_map(|z| axis(ox).map(move |x| (x, z)));
        let voxels = types.chunks_exact_mut(n).zip(distances.chunks_exact_mut(n));
        for ((x, z), (types, distances)) in columns.zip(voxels) {
            let height = self.height(x, z);
            for (y, distance) in axis(oy).zip(distances.iter_mut()) {
                *distance = y as f64 - height;
            }
            // Caves take most of the time; there are none in the air.
            if height - oy as f64 > CAVE_ROOF {
                noise::column(self.seed ^ 4, [x, z], 19, axis(oy), |i, cave| {
                    let roof = -CAVE_ROOF - distances[i];
                    distances[i] = distances[i].max((cave * 24.0 - 9.0).min(roof));
                });
            }
            for ((y, kind), distance) in axis(oy).zip(types).zip(distances) {
                *kind = self.material([x, y, z], step, height, *distance);
                let rough = noise::hash(self.seed ^ 5, [x, y, z]) >> 48;
                let rough = (rough as f64 / 65535.0 - 0.5) * self.grain;
                *distance = (*distance + rough).clamp(-reach, reach);
            }
        }
        (types, distances)
    }

    /// A voxel of a higher LOD is made of what is on top of the voxels that it stands for.
    fn material(&self, [x, y, z]: [i64; 3], step: i64, height: f64, distance: f64) -> Material {
        let depth = height - y as f64;
        let top = step as f64;
        if distance > 0.0 {
            return if y < SEA && depth <= 0.0 { Material::Water } else { Material::Air };
        }
        if depth < top {
            return match y {
                ..=3 => Material::Sand,
                25.. => Material::Snow,
                _ => Material::Grass,
            };
        }
        if depth < top + 3.0 {
            return Material::Dirt;
        }
        match noise::hash(self.seed ^ 6, [x >> 1, y >> 1, z >> 1]) % 97 {
            0 | 1 => Material::Coal,
            2 if y < 0 => Material::Iron,
            _ => Material::Stone,
        }
    }

    /// Metadata like that of a game: chests on the surface, and a note for some blocks. `None` for most blocks.
    #[must_use]
    pub fn metadata(&self, lod: u8, position: [i32; 3], block: &OwnedBlock) -> Option<Metadata<'static>> {
        let random = noise::hash(self.seed ^ 7, position.map(i64::from));
        let surface = surface(block)?;
        if lod > 0 || !random.is_multiple_of(3) {
            return None;
        }
        let owner = if random & 8 == 0 { "p0" } else { "p1" };
        let chest = Variant::dictionary(vec![
            (Variant::string("chest"), Variant::int((random >> 8 & 0x3ff) as i64)),
            (Variant::string("owner"), Variant::string(owner)),
        ]);
        let [x, y, z] = surface;
        let sign = Variant::array(vec![
            Variant::vector3([f32::from(x), f32::from(y), f32::from(z)]),
            Variant::float(0.25),
            Variant::bool(true),
        ]);
        let first = match (random >> 4) % 3 {
            0 if block.version >= 4 => Item::Number(random >> 32),
            1 => Item::Variant(Variant::string("visited")),
            _ if block.version >= 4 => Item::Empty,
            _ => Item::Variant(Variant::Nil),
        };
        let mut voxels = vec![voxel([x, y, z], chest)];
        if random & 16 != 0 {
            voxels.push(voxel([0, 0, 0], sign));
        }
        Some(Metadata {
            declared: 0,
            dialect: if block.version >= 3 { Dialect::Godot4 } else { Dialect::Godot3 },
            block: Some(first),
            voxels,
            unread: (0, &[]),
        })
    }
}

fn voxel(position: [u16; 3], value: Variant<'static>) -> VoxelItem<'static> {
    VoxelItem { position, item: Item::Variant(value), span: crate::bytes::Span::default() }
}

/// A voxel of air with ground below it.
fn surface(block: &OwnedBlock) -> Option<[u16; 3]> {
    let view = block.view();
    let types = view.channels.first()?;
    let [sx, sy, sz] = block.size;
    let at = |p| types.value(index_zxy(block.size, p)?);
    let (x, z) = (sx / 2, sz / 2);
    (1..sy).map(|y| [x, y, z]).find(|&[x, y, z]| at([x, y, z]) == Some(0) && at([x, y - 1, z]).is_some_and(|t| t > 0))
}

/// A raw channel.
fn pack<T>(values: &[T], depth: Depth, raw: impl Fn(&T) -> u64) -> Vec<u8> {
    let mut data = Vec::with_capacity(values.len() * depth.bytes());
    for value in values {
        data.extend_from_slice(&raw(value).to_le_bytes()[..depth.bytes()]);
    }
    data
}

/// A distance as the engine of a block version stores it: fixed point with a scale since version 3, without one before.
#[must_use]
pub fn store_sdf(version: u8, depth: Depth, distance: f64) -> u64 {
    let unit = |scale: f64| (distance * scale).clamp(-1.0, 1.0);
    match depth {
        Depth::Bits8 if version < 3 => (unit(1.0) * 127.0 + 127.0) as u64,
        Depth::Bits16 if version < 3 => (unit(1.0) * 32767.0 + 32767.0) as u64,
        Depth::Bits8 => u64::from((unit(0.1) * 127.0) as i8 as u8),
        Depth::Bits16 => u64::from((unit(0.002) * 32767.0) as i16 as u16),
        Depth::Bits32 => u64::from((distance as f32).to_bits()),
        Depth::Bits64 => distance.to_bits(),
    }
}
