//! What is kept of a block to compare it with its neighbours: the two outer layers of each side, thinned out, and what
//! the next LOD has of it.
//!
//! Of the layer behind the outermost one only the SDF is kept: it is what a surface is extrapolated with.

use crate::godot::block::Block;
use crate::godot::channel::{CHANNELS, Channel, Depth, SDF};

/// Samples along each axis of a layer.
const GRID: u16 = 16;

/// Samples along each axis of what two LODs have in common.
const COMMON: u16 = 4;

/// Channels whose values are compared as they are, TYPE and COLOR, and what they are multiplied with.
const KINDS: [(usize, u64); 2] = [(0, 1), (2, 0xc2b2_ae3d_27d4_eb4f)];

/// One layer of voxels; a single value when all of them are the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layer {
    /// The kinds of the voxels.
    pub kinds: Box<[u16]>,
    /// Their signed distances.
    pub sdf: Box<[i16]>,
}

impl Layer {
    /// Bytes on the heap.
    fn bytes(&self) -> usize {
        2 * (self.kinds.len() + self.sdf.len())
    }
}

/// The outer layers of a block: for each axis the lower and the upper side, the outermost layer first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faces {
    sides: [[[Layer; 2]; 2]; 3],
    /// Four layers in a row from the middle of the block, along each axis: how a seam without a fault looks. Not kept of
    /// all blocks.
    pub inner: [Option<Box<[Layer; 4]>>; 3],
    /// The classes of the seams within these layers, where the layers themselves were dropped.
    pub inner_classes: [Option<u32>; 3],
    /// The voxels that the next LOD takes from this block, thinned out; empty when its size is odd or too small.
    pub small: Layer,
    /// The same voxels of the eight blocks of the LOD before, x + 2 * (y + 2 * z); empty likewise.
    pub octants: [Layer; 8],
}

impl Faces {
    /// The outermost layer of a side and the one behind it. `upper` is the side towards larger coordinates.
    #[must_use]
    pub fn side(&self, axis: usize, upper: bool) -> &[Layer; 2] {
        &self.sides[axis % 3][usize::from(upper)]
    }

    /// The faces of a whole block; `None` when it is thinner than two voxels. `inner` asks for layers from its middle.
    #[must_use]
    pub fn read(block: &Block<'_>, inner: bool) -> Option<Self> {
        let mut faces = Self::read_sides(block, inner)?;
        if block.size.iter().all(|&n| n >= 4 && n % 2 == 0) {
            let reader = Reader { block, values: Values::new(block) };
            faces.small = reader.samples([0; 3], 2);
            faces.octants = std::array::from_fn(|o| {
                let from = std::array::from_fn(|axis| if o >> axis & 1 == 1 { block.size[axis] / 2 } else { 0 });
                reader.samples(from, 1)
            });
        }
        Some(faces)
    }

    /// The same without what other LODs have of the block.
    #[must_use]
    pub fn read_sides(block: &Block<'_>, inner: bool) -> Option<Self> {
        if block.size.iter().any(|&n| n < 2) || block.channels.len() < CHANNELS {
            return None;
        }
        let reader = Reader { block, values: Values::new(block) };
        let mut faces = Self::default();
        for axis in 0..3 {
            let n = block.size[axis];
            faces.sides[axis] = [
                [reader.layer(axis, 0), reader.distances(axis, 1)],
                [reader.layer(axis, n - 1), reader.distances(axis, n - 2)],
            ];
            if inner && n >= 8 {
                let m = n / 2 - 2;
                faces.inner[axis] = Some(Box::new([
                    reader.distances(axis, m),
                    reader.layer(axis, m + 1),
                    reader.layer(axis, m + 2),
                    reader.distances(axis, m + 3),
                ]));
            }
        }
        Some(faces)
    }

    /// Drops what other LODs have of the block.
    pub fn forget_lods(&mut self) {
        self.small = Layer::default();
        self.octants = Default::default();
    }

    /// Bytes that they take while the layers from the middle are there.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let inner = self.inner.iter().flatten().flat_map(|layers| layers.iter());
        let layers = self.sides.iter().flatten().flatten().chain(inner).chain([&self.small]).chain(&self.octants);
        size_of::<Self>() - size_of_val(&self.inner_classes)
            + self.inner.iter().flatten().map(|layers| size_of_val(&**layers)).sum::<usize>()
            + layers.map(Layer::bytes).sum::<usize>()
    }
}

struct Reader<'b> {
    block: &'b Block<'b>,
    values: Values<'b>,
}

impl Reader<'_> {
    /// The layer of a side.
    fn layer(&self, axis: usize, at: u16) -> Layer {
        let voxels = self.voxels(axis, at);
        Layer { kinds: self.kinds(&voxels), sdf: self.sdf(&voxels) }
    }

    /// The layer of a side without its kinds.
    fn distances(&self, axis: usize, at: u16) -> Layer {
        Layer { kinds: Box::default(), sdf: self.sdf(&self.voxels(axis, at)) }
    }

    /// The voxels of a layer of a side.
    fn voxels(&self, axis: usize, at: u16) -> Voxels {
        let (size, strides) = (self.block.size, self.strides());
        let along = |axis: usize| {
            let step = usize::from(size[axis].div_ceil(GRID).max(1));
            (usize::from(size[axis]).div_ceil(step), strides[axis] * step)
        };
        let rest = [(1, 0), along((axis + 1) % 3), along((axis + 2) % 3)];
        Voxels { from: usize::from(at) * strides[axis], along: rest }
    }

    /// Voxels of half the block from a corner on, as many times as far apart as `scale` says. LODs take every second
    /// voxel, as the engine does.
    fn samples(&self, from: [u16; 3], scale: usize) -> Layer {
        let (size, strides) = (self.block.size, self.strides());
        let along = |axis: usize| {
            let half = size[axis] / 2;
            let step = usize::from(half.div_ceil(COMMON).max(1));
            (usize::from(half).div_ceil(step), strides[axis] * step * scale)
        };
        let from = (0..3).map(|axis| usize::from(from[axis]) * strides[axis]).sum();
        let voxels = Voxels { from, along: [along(2), along(0), along(1)] };
        Layer { kinds: self.kinds(&voxels), sdf: self.sdf(&voxels) }
    }

    /// How far apart in the order ZXY neighbours along each axis are.
    fn strides(&self) -> [usize; 3] {
        strides(self.block)
    }

    fn kinds(&self, voxels: &Voxels) -> Box<[u16]> {
        match self.values.uniform_kind() {
            Some(kind) => [kind].into(),
            None => thin(voxels.map(|i| self.values.kind(i))),
        }
    }

    fn sdf(&self, voxels: &Voxels) -> Box<[i16]> {
        match self.values.uniform_sdf() {
            Some(sdf) => [sdf].into(),
            None => thin(voxels.map(|i| self.values.sdf(i))),
        }
    }
}

/// How far apart in the order ZXY neighbours along each axis are.
pub(super) fn strides(block: &Block<'_>) -> [usize; 3] {
    let [x, y, _] = block.size.map(usize::from);
    [y, 1, x * y]
}

/// The voxels of a block as seams see them: a kind and a signed distance each.
pub(super) struct Values<'b> {
    /// What channels of one value add to the kind of every voxel.
    same: u64,
    /// Channels of many values, with their factors.
    raw: [Option<(Numbers<'b>, u64)>; KINDS.len()],
    sdf: Numbers<'b>,
    depth: Depth,
}

impl<'b> Values<'b> {
    /// The channels of a block that has all of them.
    pub fn new(block: &'b Block<'_>) -> Self {
        let (mut same, mut raw) = (0u64, [None; KINDS.len()]);
        for (raw, (c, factor)) in raw.iter_mut().zip(KINDS) {
            match Numbers::of(&block.channels[c]) {
                Numbers::One(value) => same = same.wrapping_add(value.wrapping_mul(factor)),
                many => *raw = Some((many, factor)),
            }
        }
        let sdf = &block.channels[SDF];
        Self { same, raw, sdf: Numbers::of(sdf), depth: sdf.depth }
    }

    /// Whether all voxels have the same kind and the same distance.
    pub fn is_uniform(&self) -> bool {
        self.uniform_kind().is_some() && self.uniform_sdf().is_some()
    }

    /// The kind of all voxels, if they have the same.
    fn uniform_kind(&self) -> Option<u16> {
        self.raw.iter().all(Option::is_none).then(|| mixed(self.same))
    }

    /// The signed distance of all voxels, if they have the same.
    fn uniform_sdf(&self) -> Option<i16> {
        matches!(self.sdf, Numbers::One(_)).then(|| self.sdf(0))
    }

    /// The kind of a voxel, by its index in the order ZXY.
    pub fn kind(&self, i: usize) -> u16 {
        let add = |sum: u64, (of, factor): &(Numbers<'_>, u64)| sum.wrapping_add(of.at(i).wrapping_mul(*factor));
        mixed(self.raw.iter().flatten().fold(self.same, add))
    }

    /// The kinds of some voxels.
    pub fn kinds<const N: usize>(&self, at: &[usize; N]) -> [u16; N] {
        let mut sums = [self.same; N];
        for (of, factor) in self.raw.iter().flatten() {
            for (sum, value) in sums.iter_mut().zip(of.some(at)) {
                *sum = sum.wrapping_add(value.wrapping_mul(*factor));
            }
        }
        sums.map(mixed)
    }

    /// The signed distance of a voxel, in 16 bits.
    pub fn sdf(&self, i: usize) -> i16 {
        quantized(self.depth, self.sdf.at(i))
    }

    /// The signed distances of some voxels.
    pub fn sdfs<const N: usize>(&self, at: &[usize; N]) -> [i16; N] {
        match self.depth {
            // The depth of most saves, without asking for each voxel.
            Depth::Bits16 => self.sdf.some(at).map(|raw| quantized(Depth::Bits16, raw)),
            depth => self.sdf.some(at).map(|raw| quantized(depth, raw)),
        }
    }
}

/// The values of a channel, little-endian.
#[derive(Clone, Copy)]
enum Numbers<'b> {
    /// All are the same.
    One(u64),
    Bits8(&'b [u8]),
    Bits16(&'b [[u8; 2]]),
    Bits32(&'b [[u8; 4]]),
    Bits64(&'b [[u8; 8]]),
}

impl<'b> Numbers<'b> {
    fn of(channel: &Channel<'b>) -> Self {
        let data = channel.data;
        if data.len() <= channel.depth.bytes() {
            return Self::One(channel.value(0).unwrap_or(0));
        }
        match channel.depth {
            Depth::Bits8 => Self::Bits8(data),
            Depth::Bits16 => Self::Bits16(data.as_chunks().0),
            Depth::Bits32 => Self::Bits32(data.as_chunks().0),
            Depth::Bits64 => Self::Bits64(data.as_chunks().0),
        }
    }

    /// The value at an index; 0 beyond what is there.
    fn at(&self, i: usize) -> u64 {
        match self {
            Self::One(value) => *value,
            Self::Bits8(all) => all.get(i).map_or(0, |byte| u64::from(*byte)),
            Self::Bits16(all) => all.get(i).map_or(0, |bytes| u64::from(u16::from_le_bytes(*bytes))),
            Self::Bits32(all) => all.get(i).map_or(0, |bytes| u64::from(u32::from_le_bytes(*bytes))),
            Self::Bits64(all) => all.get(i).map_or(0, |bytes| u64::from_le_bytes(*bytes)),
        }
    }

    /// The values at some indices; asks for the depth once.
    fn some<const N: usize>(&self, at: &[usize; N]) -> [u64; N] {
        match self {
            Self::One(value) => [*value; N],
            Self::Bits8(all) => at.map(|i| all.get(i).map_or(0, |byte| u64::from(*byte))),
            Self::Bits16(all) => at.map(|i| all.get(i).map_or(0, |bytes| u64::from(u16::from_le_bytes(*bytes)))),
            _ => at.map(|i| self.at(i)),
        }
    }
}

/// Voxels of a block: the first one, and how many there are along three directions, so far apart.
struct Voxels {
    from: usize,
    along: [(usize, usize); 3],
}

impl Voxels {
    fn map<T>(&self, of: impl Fn(usize) -> T) -> Vec<T> {
        let [(a, a_step), (b, b_step), (c, c_step)] = self.along;
        let mut out = Vec::with_capacity(a * b * c);
        for i in 0..a {
            for j in 0..b {
                let from = self.from + i * a_step + j * b_step;
                out.extend((0..c).map(|k| of(from + k * c_step)));
            }
        }
        out
    }
}

fn thin<T: PartialEq + Copy>(values: Vec<T>) -> Box<[T]> {
    match values.first() {
        Some(&first) if values.iter().all(|&v| v == first) => [first].into(),
        _ => values.into(),
    }
}

/// A kind in 16 bits; 0 for what is 0 in all channels.
fn mixed(sum: u64) -> u16 {
    (sum.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as u16
}

/// A signed distance in 16 bits: 8 and 16 bits as they are, floats in 1/256 of a voxel.
fn quantized(depth: Depth, raw: u64) -> i16 {
    match depth {
        Depth::Bits8 => i16::from(raw as u8 as i8) << 8,
        Depth::Bits16 => raw as u16 as i16,
        Depth::Bits32 => float(f64::from(f32::from_bits(raw as u32))),
        Depth::Bits64 => float(f64::from_bits(raw)),
    }
}

fn float(value: f64) -> i16 {
    // Saturates, and is 0 for what is no number.
    (value * 256.0) as i16
}
