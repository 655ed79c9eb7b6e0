//! The highest matter of columns of voxels, and single voxels, whatever stores them.

use super::look::{COLOR, Matter};
use super::source::Voxels;
use super::tile::Pixel;
use crate::godot::block::Block;
use crate::godot::channel::{Channel, Depth, SDF, Storage, index_zxy, sdf};
use crate::godot::textures::{Textures, pictured};

/// Columns of a block column whose highest matter is sought, block by block in any order; what is below a full block need not be
/// looked at.
pub struct Columns {
    /// Along x and z.
    size: [usize; 2],
    /// x runs fastest.
    pub found: Vec<Pixel>,
    /// How many columns have no matter yet.
    left: usize,
    /// The y of the lowest voxel of the block that is looked at: matter below it is not the highest one.
    floor: i32,
}

/// How values are read.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// What matter goes by.
    pub matter: Matter,
    /// The palette of the COLOR channel.
    pub palette: Option<&'a [u8]>,
    /// Whether the upper half of a map's voxel is a depth.
    pub packed: bool,
}

/// Where the voxels of a block are along y.
#[derive(Clone, Copy)]
pub struct Rise {
    /// The y of its lowest voxel in the world.
    pub base: i64,
    /// Voxels of the world a voxel.
    pub step: i64,
}

impl Columns {
    /// Columns of which nothing is known yet.
    pub fn new([x, _, z]: [u32; 3]) -> Self {
        let size = [x, z].map(|n| crate::bytes::index(n.into()));
        let count = size[0].saturating_mul(size[1]);
        Self { size, found: vec![Pixel::NONE; count], left: count, floor: i32::MIN }
    }

    /// Begins anew.
    pub fn clear(&mut self) {
        self.found.fill(Pixel::NONE);
        self.left = self.found.len();
    }

    /// Whether every column has matter: then that of blocks below is not the highest one.
    pub const fn is_full(&self) -> bool {
        self.left == 0
    }

    fn set(&mut self, at: usize, rise: Rise, y: usize, value: u32, more: f32) {
        let y = height(rise.base.saturating_add(i64::try_from(y).unwrap_or(0).saturating_mul(rise.step)));
        if let Some(found) = self.found.get_mut(at) {
            self.left = self.left.saturating_sub(usize::from(!found.is_there()));
            *found = Pixel { y, value, more };
        }
    }

    /// Whether matter of the block would be the highest one of a column so far.
    fn is_open(&self, at: usize) -> bool {
        self.found.get(at).is_some_and(|pixel| pixel.y < self.floor)
    }

    /// Looks for matter in a block.
    pub fn look(&mut self, voxels: Voxels<'_>, reading: Reading<'_>, rise: Rise) {
        self.floor = height(rise.base);
        match (voxels, reading.matter) {
            (Voxels::Block(block), Matter::Channel(number)) => {
                // Textures are everywhere: where there is matter, the distances show.
                let on_ground = Textures::of_block(block).is_some_and(|textures| textures.is_in(number));
                let matter = if on_ground { SDF } else { number };
                if let Some(channel) = block.channels.get(matter) {
                    let pictured = |index: usize| fold(pictured(block, number, index).unwrap_or(0));
                    let value = on_ground.then_some(&pictured as &dyn Fn(usize) -> u32);
                    self.look_in_channel(block, channel, matter, value, reading, rise);
                }
            }
            (Voxels::Block(block), Matter::Value) => {
                if let Some(channel) = block.channels.first() {
                    self.look_in_channel(block, channel, 0, None, reading, rise);
                }
            }
            (Voxels::Chunk(chunk), _) => {
                let [sx, sy, sz] = chunk.shape.size;
                for z in 0..sz {
                    for x in 0..sx {
                        let at = crate::bytes::index(z.into()) * self.size[0] + crate::bytes::index(x.into());
                        if !self.is_open(at) {
                            continue;
                        }
                        let top = (0..sy).rev().find_map(|y| Some((y, chunk.get([x, y, z]).filter(|n| *n != 0)?)));
                        if let Some((y, value)) = top {
                            self.set(at, rise, crate::bytes::index(y.into()), fold(value), 0.0);
                        }
                    }
                }
            }
            (Voxels::Cells(cells), _) => self.look_in_cells(cells, reading, rise),
        }
    }

    fn look_in_cells(&mut self, cells: &[u64], reading: Reading<'_>, rise: Rise) {
        let [sx, sz] = self.size;
        let Some(sy) = cells.len().checked_div(sx.saturating_mul(sz)) else { return };
        let flags = |bits: u64| if reading.packed { bits & 0xffff_ffff } else { bits };
        for x in 0..sx {
            for z in 0..sz {
                let at = z * sx + x;
                if !self.is_open(at) {
                    continue;
                }
                let cell = |y: usize| cells.get((x * sy + y) * sz + z).copied().unwrap_or(0);
                if let Some(y) = (0..sy).rev().find(|y| flags(cell(*y)) != 0) {
                    let bits = cell(y);
                    let metres = ((bits >> 32) as u32).cast_signed() as f32 / 100.0;
                    let more = if reading.packed { metres } else { f32::NAN };
                    self.set(at, rise, y, fold(flags(bits)), more);
                }
            }
        }
    }

    /// Looks for matter in a channel. `value` gives what the picture shows of a voxel by its index, where that is not the
    /// value of the channel.
    fn look_in_channel(
        &mut self,
        block: &Block<'_>,
        channel: &Channel<'_>,
        number: usize,
        value: Option<&dyn Fn(usize) -> u32>,
        reading: Reading<'_>,
        rise: Rise,
    ) {
        let sy = usize::from(block.size[1]);
        let solid = solid(number, block.version, channel.depth, reading.palette);
        let mean = |raw: u64, index: usize| match value {
            Some(value) => value(index),
            None if number == SDF => 0,
            None => meaning(number, channel.depth, raw, reading.palette),
        };
        if channel.storage == Storage::Uniform {
            let Some(raw) = channel.value(0).filter(|raw| solid(*raw)) else { return };
            for at in 0..self.found.len() {
                if self.is_open(at) {
                    let y = sy.saturating_sub(1);
                    self.set(at, rise, y, mean(raw, at.saturating_mul(sy).saturating_add(y)), 0.5);
                }
            }
            return;
        }
        let width = channel.depth.bytes();
        let column_bytes = sy.saturating_mul(width);
        let bits = solid_bits(number, block.version, channel.depth, reading.palette);
        // A column is in one piece: y runs fastest.
        for (at, column) in channel.data.chunks(column_bytes.max(1)).enumerate().take(self.found.len()) {
            if !self.is_open(at) {
                continue;
            }
            // The data of a damaged block may end within a value.
            let column = column.get(..column.len() / width * width).unwrap_or_default();
            let top = match bits {
                // The width is a power of two.
                Some(bits) => last_with(column, bits).map(|byte| byte >> width.trailing_zeros()),
                None => column.chunks_exact(width).rposition(|bytes| channel.depth.value(bytes).is_some_and(&solid)),
            };
            let Some(y) = top else { continue };
            let raw = |y: usize| column.get(y * width..).and_then(|bytes| channel.depth.value(bytes));
            let Some(here) = raw(y) else { continue };
            let mut more = 0.5;
            if number == SDF
                && let Some(above) = raw(y + 1)
            {
                // The surface is where the distance goes through 0.
                let [inside, outside] = [here, above].map(|raw| sdf(block.version, channel.depth, raw));
                let share = inside / (inside - outside);
                more = if share.is_finite() { share.clamp(0.0, 1.0) as f32 } else { 0.5 };
            }
            self.set(at, rise, y, mean(here, at.saturating_mul(sy).saturating_add(y)), more);
        }
    }
}

/// A y as a pixel has it: the smallest number says that there is nothing.
fn height(y: i64) -> i32 {
    i32::try_from(y.clamp(i64::from(i32::MIN + 1), i64::from(i32::MAX))).unwrap_or(i32::MAX)
}

/// Whether a raw value of a channel is matter.
fn solid<'p>(number: usize, version: u8, depth: Depth, palette: Option<&'p [u8]>) -> impl Fn(u64) -> bool + 'p {
    move |raw| match number {
        SDF => match (depth, version < 3) {
            // What is negative, without making a number of it.
            (Depth::Bits8, true) => raw < 127,
            (Depth::Bits8, false) => raw & 0x80 != 0,
            (Depth::Bits16, true) => raw < 32767,
            (Depth::Bits16, false) => raw & 0x8000 != 0,
            (Depth::Bits32 | Depth::Bits64, _) => sdf(version, depth, raw) < 0.0,
        },
        COLOR => rgba(depth, raw, palette) & 0xff != 0,
        _ => raw != 0,
    }
}

/// The bits of eight bytes of raw values that show matter, where a value is matter if one of some bits is set: see [`solid`].
fn solid_bits(number: usize, version: u8, depth: Depth, palette: Option<&[u8]>) -> Option<u64> {
    let each = |bits: u64| match depth {
        Depth::Bits8 => bits * 0x0101_0101_0101_0101,
        Depth::Bits16 => bits * 0x0001_0001_0001_0001,
        Depth::Bits32 => bits * 0x0000_0001_0000_0001,
        Depth::Bits64 => bits,
    };
    match (number, depth) {
        (SDF, Depth::Bits8) if version >= 3 => Some(each(0x80)),
        (SDF, Depth::Bits16) if version >= 3 => Some(each(0x8000)),
        (SDF, _) => None,
        (COLOR, Depth::Bits8) => palette.is_none().then(|| each(0b11)),
        (COLOR, Depth::Bits16) => palette.is_none().then(|| each(0xf)),
        (COLOR, _) => Some(each(0xff)),
        _ => Some(u64::MAX),
    }
}

/// The last byte of which one of some bits is set, which are given for eight bytes.
fn last_with(bytes: &[u8], bits: u64) -> Option<usize> {
    let (words, rest) = bytes.as_chunks::<8>();
    let last_of = |word: [u8; 8]| {
        let found = u64::from_le_bytes(word) & bits;
        (found != 0).then(|| 7 - crate::bytes::index(u64::from(found.leading_zeros() / 8)))
    };
    let in_words = || words.iter().enumerate().rev().find_map(|(n, word)| Some(n * 8 + last_of(*word)?));
    if rest.is_empty() {
        return in_words();
    }
    let mut last = [0; 8];
    last.iter_mut().zip(rest).for_each(|(to, byte)| *to = *byte);
    last_of(last).map(|byte| words.len() * 8 + byte).or_else(in_words)
}

/// What a raw value is in a picture: a colour as RGBA, a distance as the bits of a 32-bit float, a number.
pub fn meaning(number: usize, depth: Depth, raw: u64, palette: Option<&[u8]>) -> u32 {
    if number == COLOR { rgba(depth, raw, palette) } else { fold(raw) }
}

/// A colour as the engine stores it, in 8, 16 or 32 bits from red down to alpha, or as a number in a palette.
#[must_use]
pub fn rgba(depth: Depth, raw: u64, palette: Option<&[u8]>) -> u32 {
    let entry = usize::try_from(raw).ok().and_then(|at| palette?.as_chunks::<4>().0.get(at).copied());
    if let (Some(entry), Depth::Bits8 | Depth::Bits16) = (entry, depth) {
        return u32::from_be_bytes(entry);
    }
    let raw = raw as u32;
    match depth {
        Depth::Bits8 => [6, 4, 2, 0].into_iter().fold(0, |sum, at| sum << 8 | ((raw >> at & 3) * 85)),
        Depth::Bits16 => [12, 8, 4, 0].into_iter().fold(0, |sum, at| sum << 8 | ((raw >> at & 15) * 17)),
        Depth::Bits32 | Depth::Bits64 => raw,
    }
}

/// A value in 32 bits; larger ones keep their differences.
pub const fn fold(value: u64) -> u32 {
    if value >> 32 == 0 { value as u32 } else { (value ^ value >> 32) as u32 | 1 << 31 }
}

/// The value of a voxel on a cut, by its place in the block; distances as the bits of a 32-bit float.
pub fn sample(voxels: Voxels<'_>, channel: usize, at: [u32; 3], side: [u32; 3], reading: Reading<'_>) -> Option<u32> {
    match voxels {
        Voxels::Block(block) => {
            let at = at.map(|n| u16::try_from(n).unwrap_or(u16::MAX));
            let from = block.channels.get(channel)?;
            let index = index_zxy(block.size, at)?;
            if let Some(texture) = pictured(block, channel, index) {
                return Some(fold(texture));
            }
            let raw = from.value(index)?;
            if channel == SDF {
                return Some((sdf(block.version, from.depth, raw) as f32).to_bits());
            }
            Some(meaning(channel, from.depth, raw, reading.palette))
        }
        Voxels::Chunk(chunk) => chunk.get(at).map(fold),
        Voxels::Cells(cells) => {
            let [x, y, z] = at.map(|n| crate::bytes::index(n.into()));
            let [_, sy, sz] = side.map(|n| crate::bytes::index(n.into()));
            let bits = *cells.get((x * sy + y) * sz + z)?;
            Some(fold(if reading.packed { bits & 0xffff_ffff } else { bits }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::{Extent, ForestSpec};

    #[test]
    fn colours_are_read_as_the_engine_stores_them() {
        assert_eq!(rgba(Depth::Bits8, 0b11_00_10_01, None), 0xff00_aa55);
        assert_eq!(rgba(Depth::Bits16, 0xf0a5, None), 0xff00_aa55);
        assert_eq!(rgba(Depth::Bits32, 0x1234_5678, None), 0x1234_5678);
        let palette: Vec<u8> = (0..=255u8).flat_map(|n| [n, n / 2, 0, 255]).collect();
        assert_eq!(rgba(Depth::Bits8, 8, Some(&palette)), 0x0804_00ff);
    }

    #[test]
    fn what_is_below_zero_is_matter_in_every_depth() {
        for version in [1, 2, 3, 4] {
            for depth in Depth::ALL {
                let solid = solid(SDF, version, depth, None);
                for raw in
                    [0u64, 1, 126, 127, 128, 254, 32766, 32767, 32768, 65535, 0x8000_0000, 0xbf80_0000, 0x3f80_0000]
                {
                    let raw = if depth.bits() == 64 { raw << 32 } else { raw & ((1 << depth.bits()) - 1) };
                    assert_eq!(solid(raw), sdf(version, depth, raw) < 0.0, "version {version}, {depth}, {raw:#x}");
                }
            }
        }
    }

    #[test]
    fn bits_show_the_same_matter_as_values() {
        let palette: Vec<u8> = (0..=255u8).flat_map(|n| [n, n, n, u8::from(n % 3 == 0)]).collect();
        for (number, palette) in [(0, None), (SDF, None), (COLOR, None), (COLOR, Some(palette.as_slice())), (4, None)] {
            for (version, depth) in
                [1, 2, 3, 4].into_iter().flat_map(|version| Depth::ALL.map(|depth| (version, depth)))
            {
                let width = depth.bytes();
                // Columns that end in the middle of eight bytes, and values with a single bit.
                for (len, bit) in (1..7).flat_map(|len| (0..depth.bits()).map(move |bit| (len, bit))) {
                    for at in 0..len {
                        let raw = |n: usize| if n == at { 1u64 << bit } else { 0 };
                        let column: Vec<u8> =
                            (0..len).flat_map(|n| raw(n).to_le_bytes().into_iter().take(width)).collect();
                        let solid = solid(number, version, depth, palette);
                        let Some(bits) = solid_bits(number, version, depth, palette) else { continue };
                        let found = last_with(&column, bits).map(|byte| byte / width);
                        let expected = (0..len).rev().find(|n| solid(raw(*n)));
                        assert_eq!(found, expected, "channel {number}, version {version}, {depth}, bit {bit} of {at}");
                    }
                }
            }
        }
        assert!(solid_bits(COLOR, 4, Depth::Bits8, Some(&palette)).is_none());
    }

    #[test]
    fn half_a_value_at_the_end_of_a_damaged_block_is_no_matter() {
        let depth = Depth::Bits16;
        let data = [7, 0, 7, 0, 9];
        let channel = Channel { depth, storage: Storage::Raw, data: &data, offset: 0, size: data.len() as u64 };
        let block = Block { version: 4, size: [1, 4, 1], channels: vec![channel], metadata: None, epilogue: None };
        let mut columns = Columns::new([1; 3]);
        let reading = Reading { matter: Matter::Channel(0), palette: None, packed: false };
        columns.look(Voxels::Block(&block), reading, Rise { base: 0, step: 1 });
        assert_eq!((columns.found[0].y, columns.found[0].value), (1, 7));
    }

    #[test]
    fn folded_values_stay_apart_from_small_ones() {
        assert_eq!(fold(7), 7);
        assert_eq!(fold(u64::from(u32::MAX)), u32::MAX);
        assert!(fold(1 << 40) >= 1 << 31);
    }

    #[test]
    fn the_order_of_blocks_does_not_change_what_is_highest() {
        let spec = ForestSpec { lods: vec![Extent { from: [0, -3, 0], to: [1, 3, 1] }], ..ForestSpec::default() };
        let blocks: Vec<_> = (-3..3).map(|y| (i64::from(y) * 16, spec.block(0, [0, y, 0]))).collect();
        let reading = Reading { matter: Matter::Channel(0), palette: None, packed: false };
        let look = |order: [usize; 6]| {
            let mut columns = Columns::new([16; 3]);
            for (base, block) in order.map(|at| &blocks[at]) {
                columns.look(Voxels::Block(&block.view()), reading, Rise { base: *base, step: 1 });
            }
            (columns.is_full(), columns.found)
        };
        let (is_full, downward) = look([5, 4, 3, 2, 1, 0]);
        assert!(is_full && downward.iter().any(|pixel| pixel.y != downward[0].y), "a surface that is not flat");
        for order in [[0, 1, 2, 3, 4, 5], [3, 0, 5, 1, 4, 2], [2, 4, 1, 5, 0, 3]] {
            assert_eq!(look(order), (true, downward.clone()), "{order:?}");
        }
    }
}
