//! Joins and splits blocks voxel by voxel.

use super::{Fill, VERSION};
use crate::godot::block::Block;
use crate::godot::channel::{CHANNELS, Channel, Depth, SDF, Storage, sdf};

/// A cube of voxels that is being joined from smaller ones, or that is a part of a larger one.
pub(crate) struct Cube {
    side: usize,
    channels: Vec<Values>,
}

/// The values of one channel.
struct Values {
    depth: Depth,
    /// The value of all voxels that were set, while they are equal.
    one: Option<u64>,
    /// All values, once they differ.
    data: Vec<u8>,
}

/// A box inside a cube: its corner and its side.
type CubeBox = ([usize; 3], usize);

impl Cube {
    /// A cube in which nothing is set.
    pub fn new(side: u16, depths: [Depth; CHANNELS]) -> Self {
        let channels = depths.map(|depth| Values { depth, one: None, data: Vec::new() });
        Self { side: side.into(), channels: channels.into() }
    }

    /// A cube in which nothing is stored.
    pub fn filled(side: u16, depths: [Depth; CHANNELS], fill: &Fill) -> Self {
        let mut cube = Self::new(side, depths);
        for (c, values) in cube.channels.iter_mut().enumerate() {
            values.one = Some(fill.value(c, values.depth));
        }
        cube
    }

    /// Copies a block into the cube; `before` are the blocks that were copied already.
    pub fn put(&mut self, corner: [usize; 3], block: &Block<'_>, before: &[[usize; 3]], fill: &Fill) {
        let part: CubeBox = (corner, usize::from(block.size[0]));
        for (c, values) in self.channels.iter_mut().enumerate() {
            let Some(channel) = block.channels.get(c) else { continue };
            values.deepen(c, channel.depth);
            let uniform = channel.value(0).filter(|_| channel.storage == Storage::Uniform);
            let uniform = uniform.map(|value| as_deep(c, channel.depth, value, values.depth));
            if values.data.is_empty() {
                if let Some(value) = uniform
                    && (before.is_empty() || values.one == Some(value))
                {
                    values.one = Some(value);
                    continue;
                }
                values.spread(self.side, before, part.1, fill.value(c, values.depth));
            }
            match uniform {
                Some(value) => values.set(self.side, part, |_| value),
                None if channel.depth == values.depth => values.copy(self.side, part, channel.data),
                None => {
                    let depth = values.depth;
                    let value = |i| as_deep(c, channel.depth, channel.value(i).unwrap_or(0), depth);
                    values.set(self.side, part, value);
                }
            }
        }
    }

    /// Says that all blocks are in: where some are not, voxels have the fill value.
    pub fn finish(&mut self, before: &[[usize; 3]], side: u16, fill: &Fill) {
        let whole = before.len() * usize::from(side).pow(3) == self.side.pow(3);
        for (c, values) in self.channels.iter_mut().enumerate() {
            let nothing = fill.value(c, values.depth);
            if values.data.is_empty() && !whole && values.one != Some(nothing) {
                values.spread(self.side, before, side.into(), nothing);
            }
            values.gather();
        }
    }

    /// Whether each channel has just this value.
    pub fn is_uniform(&self, values: &[u64; CHANNELS]) -> bool {
        self.channels.len() == CHANNELS
            && self.channels.iter().zip(values).all(|(of, value)| of.data.is_empty() && of.one == Some(*value))
    }

    /// What voxels have where no block was put.
    pub fn filling(&self, fill: &Fill) -> [u64; CHANNELS] {
        let mut values = [0; CHANNELS];
        for (c, (value, of)) in values.iter_mut().zip(&self.channels).enumerate() {
            *value = fill.value(c, of.depth);
        }
        values
    }

    /// A part of a block.
    pub fn cut(block: &Block<'_>, corner: [usize; 3], side: u16) -> Self {
        let [sx, sy, _] = block.size.map(usize::from);
        let n = usize::from(side);
        let channels = block.channels.iter().map(|channel| {
            let mut values = Values { depth: channel.depth, one: None, data: Vec::new() };
            if channel.storage == Storage::Uniform {
                values.one = channel.value(0);
                return values;
            }
            let width = channel.depth.bytes();
            for z in corner[2]..corner[2] + n {
                for x in corner[0]..corner[0] + n {
                    let from = (corner[1] + sy * (x + sx * z)) * width;
                    values.data.extend_from_slice(channel.data.get(from..from + n * width).unwrap_or_default());
                }
            }
            values.gather();
            values
        });
        Self { side: n, channels: channels.collect() }
    }

    /// It as a block of today without metadata.
    pub fn block<'c>(&'c self, uniform: &'c mut Vec<u8>) -> Block<'c> {
        uniform.clear();
        for values in &self.channels {
            uniform.extend_from_slice(&values.one.unwrap_or(0).to_le_bytes());
        }
        let uniform: &'c [u8] = uniform;
        let channels = self.channels.iter().enumerate().map(|(c, values)| {
            let (storage, data) = if values.data.is_empty() {
                let at = c * 8;
                (Storage::Uniform, uniform.get(at..at + values.depth.bytes()).unwrap_or_default())
            } else {
                (Storage::Raw, values.data.as_slice())
            };
            Channel { depth: values.depth, storage, data, offset: 0, size: data.len() as u64 }
        });
        let side = u16::try_from(self.side).unwrap_or(u16::MAX);
        Block { version: VERSION, size: [side; 3], channels: channels.collect(), metadata: None, epilogue: None }
    }
}

/// A value of a channel in a deeper one; distances keep their value.
pub(crate) fn as_deep(channel: usize, from: Depth, raw: u64, to: Depth) -> u64 {
    if from == to || channel != SDF {
        return raw;
    }
    let value = sdf(VERSION, from, raw);
    match to {
        Depth::Bits8 => raw,
        Depth::Bits16 => u64::from(((value / 500.0 * 32767.0).round() as i16).cast_unsigned()),
        Depth::Bits32 => u64::from((value as f32).to_bits()),
        Depth::Bits64 => value.to_bits(),
    }
}

impl Values {
    /// Makes it as deep as a channel that comes in.
    fn deepen(&mut self, channel: usize, depth: Depth) {
        if depth <= self.depth {
            return;
        }
        let from = self.depth;
        self.one = self.one.map(|value| as_deep(channel, from, value, depth));
        if !self.data.is_empty() {
            let old = std::mem::take(&mut self.data);
            for bytes in old.chunks_exact(from.bytes()) {
                let value = as_deep(channel, from, from.value(bytes).unwrap_or(0), depth);
                self.data.extend(value.to_le_bytes().iter().take(depth.bytes()));
            }
        }
        self.depth = depth;
    }

    /// From one value to one a voxel: those of the blocks that are in, and the fill value.
    fn spread(&mut self, side: usize, before: &[[usize; 3]], part: usize, fill: u64) {
        let one = self.one.take();
        let width = self.depth.bytes();
        self.data = fill.to_le_bytes().get(..width).unwrap_or_default().repeat(side.pow(3));
        if let Some(value) = one.filter(|&value| value != fill) {
            for corner in before {
                self.set(side, (*corner, part), |_| value);
            }
        }
    }

    /// Sets voxels of a part by their index in it.
    fn set(&mut self, side: usize, part: CubeBox, value: impl Fn(usize) -> u64) {
        let width = self.depth.bytes();
        let mut index = 0;
        for at in rows(side, part) {
            let row = self.data.get_mut(at * width..(at + part.1) * width).unwrap_or_default();
            for out in row.chunks_exact_mut(width) {
                for (out, byte) in out.iter_mut().zip(value(index).to_le_bytes()) {
                    *out = byte;
                }
                index += 1;
            }
        }
    }

    /// Copies the voxels of a part.
    fn copy(&mut self, side: usize, part: CubeBox, data: &[u8]) {
        let bytes = part.1 * self.depth.bytes();
        for (at, row) in rows(side, part).zip(data.chunks_exact(bytes.max(1))) {
            let at = at * self.depth.bytes();
            if let Some(out) = self.data.get_mut(at..at + bytes) {
                out.copy_from_slice(row);
            }
        }
    }

    /// To one value, when all are the same, as the engine does when it saves.
    fn gather(&mut self) {
        let width = self.depth.bytes();
        if self.data.is_empty() {
            return;
        }
        let (first, rest) = self.data.split_at(width.min(self.data.len()));
        if rest.chunks_exact(width).all(|value| value == first) {
            self.one = self.depth.value(first);
            self.data = Vec::new();
        }
    }
}

/// Where the rows of a part begin, in the order ZXY.
fn rows(side: usize, ([cx, cy, cz], n): CubeBox) -> impl Iterator<Item = usize> {
    (cz..cz + n).flat_map(move |z| (cx..cx + n).map(move |x| cy + side * (x + side * z)))
}
