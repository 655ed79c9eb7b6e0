//! The eight channels of a block: depth, storage, values, and the engine's reading of SDF values.
//!
//! ```text
//! depth code d in 0..=3: 1 << d bytes a voxel
//! storage 0: raw, one value a voxel, in the order ZXY:  index = y + size_y * (x + size_x * z)
//! storage 1: uniform, one value for the whole block
//! ```
//!
//! Source: Godot Voxel's page "Voxel block format"; the SDF's fixed-point scales are those of the engine, the page
//! leaves them out.

use std::fmt;

/// Channels in every block.
pub const CHANNELS: usize = 8;

/// The engine's names of the channels, in order.
pub const NAMES: [&str; CHANNELS] = ["TYPE", "SDF", "COLOR", "INDICES", "WEIGHTS", "DATA5", "DATA6", "DATA7"];

/// Index of the TYPE channel.
pub const TYPE: usize = 0;

/// Index of the SDF channel.
pub const SDF: usize = 1;

/// One of the eight channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChannelId {
    /// What a voxel is: an index into the game's types.
    Type,
    /// The signed distance to the surface; [`sdf`] says what a raw value means.
    Sdf,
    /// A colour, or an index into the palette.
    Color,
    /// Indices of up to four textures.
    Indices,
    /// Weights of these textures.
    Weights,
    /// Free for the game.
    Data5,
    /// Free for the game.
    Data6,
    /// Free for the game.
    Data7,
}

impl ChannelId {
    /// Every channel, in the order of the format.
    pub const ALL: [Self; CHANNELS] =
        [Self::Type, Self::Sdf, Self::Color, Self::Indices, Self::Weights, Self::Data5, Self::Data6, Self::Data7];

    /// Its index in a block.
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Self::Type => TYPE,
            Self::Sdf => SDF,
            Self::Color => 2,
            Self::Indices => 3,
            Self::Weights => 4,
            Self::Data5 => 5,
            Self::Data6 => 6,
            Self::Data7 => 7,
        }
    }

    /// The channel of an index; `None` beyond the eight.
    #[must_use]
    pub fn from_index(index: usize) -> Option<Self> {
        Self::ALL.get(index).copied()
    }

    /// The engine's name, such as `SDF`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Type => "TYPE",
            Self::Sdf => "SDF",
            Self::Color => "COLOR",
            Self::Indices => "INDICES",
            Self::Weights => "WEIGHTS",
            Self::Data5 => "DATA5",
            Self::Data6 => "DATA6",
            Self::Data7 => "DATA7",
        }
    }
}

impl fmt::Display for ChannelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Bits a voxel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Depth {
    /// Code 0.
    #[default]
    Bits8,
    /// Code 1.
    Bits16,
    /// Code 2.
    Bits32,
    /// Code 3.
    Bits64,
}

impl Depth {
    /// Every depth, by code.
    pub const ALL: [Self; 4] = [Self::Bits8, Self::Bits16, Self::Bits32, Self::Bits64];

    /// The depth of a code from a file; `None` for codes that do not exist.
    #[must_use]
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Bits8),
            1 => Some(Self::Bits16),
            2 => Some(Self::Bits32),
            3 => Some(Self::Bits64),
            _ => None,
        }
    }

    /// The code in files.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Bits8 => 0,
            Self::Bits16 => 1,
            Self::Bits32 => 2,
            Self::Bits64 => 3,
        }
    }

    /// Bytes a voxel.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::Bits8 => 1,
            Self::Bits16 => 2,
            Self::Bits32 => 4,
            Self::Bits64 => 8,
        }
    }

    /// Bits a voxel.
    #[must_use]
    pub const fn bits(self) -> u8 {
        match self {
            Self::Bits8 => 8,
            Self::Bits16 => 16,
            Self::Bits32 => 32,
            Self::Bits64 => 64,
        }
    }

    /// NumPy's name of the raw values.
    #[must_use]
    pub const fn npy(self) -> &'static str {
        match self {
            Self::Bits8 => "|u1",
            Self::Bits16 => "<u2",
            Self::Bits32 => "<u4",
            Self::Bits64 => "<u8",
        }
    }

    /// The value of one voxel's bytes, which must be `self.bytes()` of them.
    #[must_use]
    pub fn value(self, bytes: &[u8]) -> Option<u64> {
        Some(match self {
            Self::Bits8 => u64::from(*bytes.first()?),
            Self::Bits16 => u64::from(u16::from_le_bytes(*bytes.first_chunk()?)),
            Self::Bits32 => u64::from(u32::from_le_bytes(*bytes.first_chunk()?)),
            Self::Bits64 => u64::from_le_bytes(*bytes.first_chunk()?),
        })
    }
}

impl fmt::Display for Depth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bit", self.bits())
    }
}

/// How the values of a channel are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Storage {
    /// One value a voxel.
    Raw,
    /// One value for the whole block.
    Uniform,
}

impl Storage {
    /// `raw` or `uniform`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Uniform => "uniform",
        }
    }
}

/// One channel of a block; its bytes are those of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel<'a> {
    /// Bits a voxel.
    pub depth: Depth,
    /// Raw or uniform.
    pub storage: Storage,
    /// The values, little-endian, in the order ZXY; shorter than the block's volume when the block was cut.
    pub data: &'a [u8],
    /// Offset of `data` in the block.
    pub offset: u64,
    /// Bytes that `data` should have.
    pub size: u64,
}

impl Channel<'_> {
    /// Whether all its values are there.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        crate::bytes::len64(self.data) == self.size
    }

    /// The value at an index of the order ZXY; `None` beyond what is there.
    #[must_use]
    pub fn value(&self, index: usize) -> Option<u64> {
        match self.storage {
            Storage::Uniform => self.depth.value(self.data),
            Storage::Raw => {
                let start = index.checked_mul(self.depth.bytes())?;
                self.depth.value(self.data.get(start..)?)
            }
        }
    }

    /// The values that are there, in the order ZXY; one for a uniform channel.
    pub fn values(&self) -> impl Iterator<Item = u64> + '_ {
        self.data.chunks_exact(self.depth.bytes()).filter_map(|bytes| self.depth.value(bytes))
    }
}

/// Statistics of a channel's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Range {
    /// The smallest raw value.
    pub min: u64,
    /// The largest raw value.
    pub max: u64,
    /// How many different values there are.
    pub distinct: usize,
}

impl Channel<'_> {
    /// The range of the values that are there and how many different ones; `None` when there is none.
    #[must_use]
    pub fn range(&self) -> Option<Range> {
        let min = self.values().min()?;
        let max = self.values().max()?;
        // As small as the values allow: a block can have sixteen million.
        let distinct = match self.depth {
            Depth::Bits8 => distinct(self.values().map(|n| u8::try_from(n).unwrap_or(u8::MAX))),
            Depth::Bits16 => distinct(self.values().map(|n| u16::try_from(n).unwrap_or(u16::MAX))),
            Depth::Bits32 => distinct(self.values().map(|n| u32::try_from(n).unwrap_or(u32::MAX))),
            Depth::Bits64 => distinct(self.values()),
        };
        Some(Range { min, max, distinct })
    }
}

/// How many different values there are.
fn distinct<T: Ord>(values: impl Iterator<Item = T>) -> usize {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values.dedup();
    values.len()
}

/// The signed distance that the engine makes of a raw value of channel 1, in voxels.
///
/// Block versions 3 and 4: `max(i8 / 127, -1) * 10`, `max(i16 / 32767, -1) * 500`, or the float as it is. Versions 1
/// and 2: `(u8 - 127) / 127`, `(u16 - 32767) / 32767`, unscaled.
#[must_use]
pub fn sdf(version: u8, depth: Depth, raw: u64) -> f64 {
    let [b0, b1, b2, b3, ..] = raw.to_le_bytes();
    let old = version < 3;
    match depth {
        Depth::Bits8 if old => (f64::from(b0) - 127.0) / 127.0,
        Depth::Bits8 => (f64::from(i8::from_le_bytes([b0])) / 127.0).max(-1.0) * 10.0,
        Depth::Bits16 if old => (f64::from(u16::from_le_bytes([b0, b1])) - 32767.0) / 32767.0,
        Depth::Bits16 => (f64::from(i16::from_le_bytes([b0, b1])) / 32767.0).max(-1.0) * 500.0,
        Depth::Bits32 => f64::from(f32::from_le_bytes([b0, b1, b2, b3])),
        Depth::Bits64 => f64::from_bits(raw),
    }
}

/// Index of a voxel in the order ZXY: `y + size_y * (x + size_x * z)`. `None` outside the block.
#[must_use]
pub fn index_zxy(size: [u16; 3], position: [u16; 3]) -> Option<usize> {
    let ([sx, sy, sz], [x, y, z]) = (size.map(usize::from), position.map(usize::from));
    if x >= sx || y >= sy || z >= sz {
        return None;
    }
    sx.checked_mul(z)?.checked_add(x)?.checked_mul(sy)?.checked_add(y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn y_runs_fastest_then_x_then_z() {
        let size = [2, 3, 4];
        let mut index = 0;
        for z in 0..4 {
            for x in 0..2 {
                for y in 0..3 {
                    assert_eq!(index_zxy(size, [x, y, z]), Some(index));
                    index += 1;
                }
            }
        }
        assert_eq!(index_zxy(size, [2, 0, 0]), None);
        assert_eq!(index_zxy([65535; 3], [65534; 3]), Some(65535usize.pow(3) - 1));
    }

    #[test]
    fn sdf_values_of_the_format_page() {
        for (version, depth, raw, value) in [
            (4, Depth::Bits8, 127, 10.0),
            (4, Depth::Bits8, 0x80, -10.0),
            (3, Depth::Bits16, 32767, 500.0),
            (4, Depth::Bits16, 0x8000, -500.0),
            (4, Depth::Bits16, 0, 0.0),
            (1, Depth::Bits8, 0, -1.0),
            (2, Depth::Bits8, 254, 1.0),
            (2, Depth::Bits16, 65534, 1.0),
            (1, Depth::Bits16, 32767, 0.0),
            (4, Depth::Bits32, u64::from(1.5f32.to_bits()), 1.5),
            (2, Depth::Bits64, (-2.25f64).to_bits(), -2.25),
        ] {
            assert_eq!(sdf(version, depth, raw), value, "version {version}, {depth}, {raw:#x}");
        }
    }
}
