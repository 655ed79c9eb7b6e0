//! Raw channels that a big-endian machine wrote.
//!
//! The engine stores sizes, metadata, uniform values and the epilogue byte by byte in little-endian order, but copies raw
//! channels from memory: those of more than 8 bits have the byte order of the machine. Source: Godot Voxel's specifications of
//! the block formats ("the implementation of block channels with depth greater than 8-bit currently doesn't consider this")
//! and `VoxelBlockSerializer` (`store_buffer` of the channel's bytes).
//!
//! Nothing in a block names its byte order, so the values have to show it: in one order the distances are a smooth field or
//! floats of a sane size, in the other they are noise. A block that shows no order has that of its file or its save, which
//! [`Votes`](crate::godot::byte_order_votes::Votes) infer from other blocks.

use crate::bytes::{index, len64};
use crate::godot::block::Block;
use crate::godot::channel::{Channel, Depth, SDF, Storage, TYPE};

/// The byte order of raw channels of more than 8 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ByteOrder {
    /// That of nearly every machine.
    #[default]
    Little,
    /// That of a big-endian machine.
    Big,
}

/// Values that must be there before they show anything.
const FEWEST: usize = 64;

/// The fewest different upper bytes, and lower bytes, that the distances must have in the big-endian reading: a field of a
/// few values is as smooth in either order.
const UPPER: u32 = 4;
const LOWER: u32 = 32;

/// How much rougher the little-endian reading must be, and how rough on average where neighbours differ, in steps of 16 bits.
/// Noise has 16,384.
const ROUGHER: u64 = 16;
const ROUGH: u64 = 4096;

/// The first look reads up to [`PIECES`] pieces of [`PIECE`] values at the start of a channel, which is a column of most
/// blocks, then pairs at up to [`PLACES`] places, until enough pairs of neighbours are evidence: [`FIXED`] of fixed point or
/// [`FLOATS`] of floats, since a float of the wrong order may look like a distance.
pub(crate) const PIECE: usize = 3;
const PIECES: usize = 8;
const PLACES: usize = 8;
const FIXED: u32 = 2;
const FLOATS: u32 = 16;

/// A difference of neighbours in 16 bits above which a pair is rough.
const STEEP: u64 = 1024;

/// Sizes of distances that no world has.
const HUGE: f64 = 1e9;
const TINY: f64 = 1e-9;

/// Whether the distances of a block show that its raw channels are big-endian.
#[must_use]
pub fn is_big_endian(block: &Block<'_>) -> bool {
    raw(block, SDF).is_some_and(|sdf| show_reversed(sdf.depth, sdf.data))
}

/// Whether the values of a block show that its raw channels are little-endian: the distances, or else more than one type, all
/// of them small numbers.
#[must_use]
pub fn is_little_endian(block: &Block<'_>) -> bool {
    let has_smooth_distances = raw(block, SDF).is_some_and(|sdf| {
        let mut reversed = sdf.data.to_vec();
        reverse_values(&mut reversed, sdf.depth);
        show_reversed(sdf.depth, &reversed)
    });
    has_smooth_distances || types(block).is_some_and(|types| types.are_small() && types.are_several())
}

/// Whether reading a block in another byte order gives other values.
#[must_use]
pub fn has_order(block: &Block<'_>) -> bool {
    block.channels.iter().any(|channel| channel.storage == Storage::Raw && channel.depth > Depth::Bits8)
}

/// A channel of a block that is whole and has a value for each voxel.
fn raw<'c, 'a>(block: &'c Block<'a>, channel: usize) -> Option<&'c Channel<'a>> {
    block.channels.get(channel).filter(|channel| channel.storage == Storage::Raw && channel.is_whole())
}

/// Whether values are noise, or floats that are no distances, as little-endian, and distances as big-endian.
fn show_reversed(depth: Depth, data: &[u8]) -> bool {
    let width = depth.bytes();
    let read = |at: usize, values: &mut [u64]| {
        let data = data.get(at.checked_mul(width)?..)?;
        let mut all = data.chunks_exact(width);
        values.iter_mut().try_for_each(|value| {
            *value = depth.value(all.next()?)?;
            Some(())
        })
    };
    if !is_suspect(depth, data.chunks_exact(width).len(), read) {
        return false;
    }
    match depth {
        Depth::Bits8 => false,
        Depth::Bits16 => is_smooth_reversed(data),
        Depth::Bits32 => is_sane_reversed(data.as_chunks::<4>().0, |bytes| f32::from_le_bytes(bytes).into()),
        Depth::Bits64 => is_sane_reversed(data.as_chunks::<8>().0, f64::from_le_bytes),
    }
}

/// Raw types of more than 8 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Types<'a> {
    depth: Depth,
    data: &'a [u8],
    /// Whether any of them has a bit in the half of its bytes that is the lower one as little-endian, and in the other.
    low: bool,
    high: bool,
}

impl Types<'_> {
    /// Whether all of them are small numbers as little-endian.
    pub(crate) const fn are_small(&self) -> bool {
        self.low && !self.high
    }

    /// Whether all of them are small numbers as big-endian, and large ones with nothing in the lower half as little-endian.
    pub(crate) const fn are_small_reversed(&self) -> bool {
        self.high && !self.low
    }

    /// Whether some have bits in both halves, or some in one and some in the other.
    pub(crate) const fn are_mixed(&self) -> bool {
        self.low && self.high
    }

    /// Whether there are two different ones other than zero.
    fn are_several(&self) -> bool {
        let mut all = self.data.chunks_exact(self.depth.bytes()).filter(|value| value.iter().any(|byte| *byte != 0));
        all.next().is_some_and(|first| all.any(|value| value != first))
    }

    /// The highest byte of each as little-endian.
    pub(crate) fn last_bytes(&self) -> impl Iterator<Item = u8> {
        self.data.chunks_exact(self.depth.bytes()).filter_map(|value| value.last().copied())
    }
}

/// The raw types of a block, if it has any of more than 8 bits.
pub(crate) fn types<'a>(block: &Block<'a>) -> Option<Types<'a>> {
    let Channel { depth, data, .. } = *raw(block, TYPE)?;
    let (low, high) = match depth {
        Depth::Bits8 => return None,
        Depth::Bits16 => halves(data.as_chunks::<2>().0),
        Depth::Bits32 => halves(data.as_chunks::<4>().0),
        Depth::Bits64 => halves(data.as_chunks::<8>().0),
    };
    Some(Types { depth, data, low, high })
}

/// Whether any value has a bit in the first half of its bytes, and in the second one.
fn halves<const N: usize>(values: &[[u8; N]]) -> (bool, bool) {
    let mut all = [0; N];
    for value in values {
        all.iter_mut().zip(value).for_each(|(all, byte)| *all |= byte);
    }
    let (low, high) = all.split_at_checked(N.div_euclid(2)).unwrap_or_default();
    let is_set = |bytes: &[u8]| bytes.iter().any(|byte| *byte != 0);
    (is_set(low), is_set(high))
}

/// Whether raw distances may be big-endian, by a few of them; `read` gives the values from an index on, as little-endian, of
/// which it fills at most [`PIECE`]. For most healthy blocks this look is enough.
///
/// Fixed point is suspect if half of the pairs that differ are rough; floats, if one of those that are not zero is no distance.
#[must_use]
pub(crate) fn is_suspect(depth: Depth, values: usize, read: impl Fn(usize, &mut [u64]) -> Option<()>) -> bool {
    if depth == Depth::Bits8 || values < FEWEST {
        return false;
    }
    let mut pairs = Pairs { depth, telling: 0, odd: 0 };
    // Each piece begins with the last value of the one before.
    for at in (0..).step_by(PIECE.saturating_sub(1)).take(PIECES) {
        let mut piece = [0; PIECE];
        if read(at, &mut piece).is_none() {
            return true;
        }
        piece.iter().zip(piece.iter().skip(1)).for_each(|(first, second)| pairs.add([*first, *second]));
        if pairs.suffice() {
            break;
        }
    }
    // Not a multiple of a block's height, so that the pairs lie at all heights.
    let step = values.checked_div(PLACES).unwrap_or(0).saturating_add(1);
    for at in (0..values.saturating_sub(1)).step_by(step).take(PLACES) {
        if pairs.suffice() {
            break;
        }
        let mut pair = [0; 2];
        if read(at, &mut pair).is_none() {
            return true;
        }
        pairs.add(pair);
    }
    pairs.is_suspect()
}

/// Counts of pairs of neighbouring distances: those that are evidence, and those that look wrong.
struct Pairs {
    depth: Depth,
    telling: u32,
    odd: u32,
}

impl Pairs {
    fn add(&mut self, [first, second]: [u64; 2]) {
        let (tells, is_odd) = match self.depth {
            Depth::Bits8 | Depth::Bits16 => {
                let word = |raw: u64| u16::try_from(raw).unwrap_or(0);
                (first != second, distance(word(first), word(second)) > STEEP)
            }
            Depth::Bits32 => (first != 0, is_absurd(f32::from_bits(u32::try_from(first).unwrap_or(0)).into())),
            Depth::Bits64 => (first != 0, is_absurd(f64::from_bits(first))),
        };
        self.telling = self.telling.saturating_add(u32::from(tells));
        self.odd = self.odd.saturating_add(u32::from(is_odd));
    }

    fn suffice(&self) -> bool {
        let enough = if self.depth <= Depth::Bits16 { FIXED } else { FLOATS };
        self.telling >= enough
    }

    fn is_suspect(&self) -> bool {
        match self.depth {
            Depth::Bits8 | Depth::Bits16 => self.odd > 0 && self.odd.saturating_mul(2) >= self.telling,
            Depth::Bits32 | Depth::Bits64 => self.odd > 0,
        }
    }
}

/// The difference of two values, the shorter way around.
fn distance(a: u16, b: u16) -> u64 {
    let difference = a.wrapping_sub(b);
    difference.min(difference.wrapping_neg()).into()
}

/// Whether a float is no distance.
fn is_absurd(value: f64) -> bool {
    !value.is_finite() || value.abs() > HUGE || (value != 0.0 && value.abs() < TINY)
}

/// Fixed point: whether the field is noise as little-endian and smooth as big-endian.
fn is_smooth_reversed(data: &[u8]) -> bool {
    let (values, _) = data.as_chunks::<2>();
    let mut seen = [[false; 256]; 2];
    for pair in values {
        for (seen, byte) in seen.iter_mut().zip(pair) {
            if let Some(seen) = seen.get_mut(usize::from(*byte)) {
                *seen = true;
            }
        }
    }
    let [upper, lower] = seen.map(|seen| seen.iter().fold(0u32, |n, seen| n.saturating_add(u32::from(*seen))));
    let (little, big) = (roughness(values, u16::from_le_bytes), roughness(values, u16::from_be_bytes));
    upper >= UPPER
        && lower >= LOWER
        && is_rough(little, changes(values))
        && big.checked_mul(ROUGHER).is_some_and(|big| big < little)
}

/// The number of neighbours that differ: where most of a block has one distance, the rest of it still shows the order.
fn changes(values: &[[u8; 2]]) -> usize {
    values.iter().zip(values.iter().skip(1)).filter(|(a, b)| a != b).count()
}

fn is_rough(sum: u64, pairs: usize) -> bool {
    sum.checked_div(u64::try_from(pairs).unwrap_or(u64::MAX)).is_some_and(|mean| mean > ROUGH)
}

/// The sum of the differences of neighbours, the shorter way around.
fn roughness(values: &[[u8; 2]], read: impl Fn([u8; 2]) -> u16) -> u64 {
    let pairs = values.iter().zip(values.iter().skip(1));
    pairs.fold(0u64, |sum, (a, b)| sum.saturating_add(distance(read(*a), read(*b))))
}

/// Floats: whether most are no distances as little-endian, and nearly all are as big-endian.
fn is_sane_reversed<const N: usize>(values: &[[u8; N]], read: impl Fn([u8; N]) -> f64) -> bool {
    let reversed = |mut bytes: [u8; N]| {
        bytes.reverse();
        bytes
    };
    let present = || values.iter().copied().filter(|bytes| *bytes != [0; N]);
    let absurd = present().filter(|bytes| is_absurd(read(*bytes))).count();
    let absurd_reversed = || present().filter(|bytes| is_absurd(read(reversed(*bytes)))).count();
    absurd >= FEWEST
        && absurd.saturating_mul(2) > present().count()
        // A distance of zero may be a rounding error instead.
        && absurd_reversed().saturating_mul(32) < present().count()
}

/// Reverses the values of raw channels of more than 8 bits of a block in `plain`, its decompressed bytes.
pub fn reverse(block: &Block<'_>, plain: &mut [u8]) {
    for channel in block.channels.iter().filter(|channel| channel.storage == Storage::Raw) {
        let start = index(channel.offset);
        let end = start.saturating_add(index(len64(channel.data)));
        reverse_values(plain.get_mut(start..end).unwrap_or_default(), channel.depth);
    }
}

fn reverse_values(data: &mut [u8], depth: Depth) {
    for value in data.chunks_exact_mut(depth.bytes()) {
        value.reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::godot::block;
    use crate::limits::Limits;

    const SIDE: u16 = 16;

    /// A block of version 4 with these raw distances; TYPE has 16 bits too.
    fn bytes(depth: Depth, values: &[u8]) -> Vec<u8> {
        let mut bytes = vec![4, 16, 0, 16, 0, 16, 0, 0x10];
        bytes.extend((0..4096u16).flat_map(|n| (n % 7).to_le_bytes()));
        bytes.push(depth.code() << 4);
        bytes.extend_from_slice(values);
        bytes.extend([0x11, 0x34, 0x12]);
        bytes.extend([[0x01, 0]; 5].as_flattened());
        bytes.extend([0x0d, 0xf0, 0x0d, 0x90]);
        bytes
    }

    fn read(bytes: &[u8]) -> Block<'_> {
        let mut damage = Vec::new();
        let block = block::decode(bytes, None, None, &Limits::DEFAULT).report_to(&mut damage);
        assert_eq!(damage, []);
        block
    }

    /// Distances to a slope, in the order ZXY.
    fn slope() -> impl Iterator<Item = f64> {
        let voxels =
            (0..SIDE).flat_map(|z| (0..SIDE).flat_map(move |x| (0..SIDE).map(move |y| [x, y, z].map(f64::from))));
        voxels.map(|[x, y, z]| y - 6.3 - 0.21 * x + 0.13 * z)
    }

    fn fixed(value: f64) -> i16 {
        (value / 500.0 * 32767.0).round() as i16
    }

    #[test]
    fn slopes_of_either_order_are_told_apart() {
        let floats: Vec<u8> = slope().flat_map(|d| (d as f32).to_le_bytes()).collect();
        let doubles: Vec<u8> = slope().flat_map(f64::to_le_bytes).collect();
        let words: Vec<u8> = slope().flat_map(|d| fixed(d).to_le_bytes()).collect();
        for (depth, little) in [(Depth::Bits16, words), (Depth::Bits32, floats), (Depth::Bits64, doubles)] {
            let little = bytes(depth, &little);
            let block = read(&little);
            assert!(!is_big_endian(&block) && is_little_endian(&block), "{depth}");
            let mut big = little.clone();
            reverse(&block, &mut big);
            assert_ne!(big, little);
            // Sizes, uniform values and the epilogue are little-endian in either.
            let block = read(&big);
            assert!(is_big_endian(&block) && !is_little_endian(&block), "{depth}");
            assert_eq!(block.channels[2].value(0), Some(0x1234));
            let mut back = big.clone();
            reverse(&block, &mut back);
            assert_eq!(back, little);
        }
    }

    #[test]
    fn a_slope_in_a_part_of_a_block_shows_its_order() {
        let partly = slope().enumerate().map(|(at, d)| if at / 16 % 16 < 2 { fixed(d) } else { 0 });
        let little = bytes(Depth::Bits16, &partly.flat_map(i16::to_le_bytes).collect::<Vec<u8>>());
        let block = read(&little);
        assert!(!is_big_endian(&block));
        let mut big = little.clone();
        reverse(&block, &mut big);
        assert!(is_big_endian(&read(&big)));
    }

    #[test]
    fn what_shows_nothing_is_little_endian() {
        let noise = |n: u32| n.wrapping_mul(0x9e37_79b9).rotate_left(13).wrapping_mul(0x85eb_ca6b);
        let of = |value: fn(u32) -> u16| (0..4096).flat_map(|n| value(n).to_le_bytes()).collect::<Vec<u8>>();
        let fields = [
            // Inside and outside at the ends of the scale, as either of the engine's generators gives them.
            of(|n| if n % 16 < 7 { 0x8001 } else { 0x7fff }),
            of(|n| if n % 16 < 7 { 0x8000 } else { 0x7fff }),
            of(|n| if n % 3 < 1 { 0x00ff } else { 0xff00 }),
            // Distances of 8 bits in the upper byte, also with a constant below.
            of(|n| (n % 200) as u16 * 256),
            of(|n| (n % 200) as u16 * 256 + 0x7f),
            // Steep distances.
            of(|n| (n % 16) as u16 * 4097),
            of(|_| 0),
        ];
        for (nth, field) in fields.iter().enumerate() {
            assert!(!is_big_endian(&read(&bytes(Depth::Bits16, field))), "{nth}");
        }
        for depth in [Depth::Bits16, Depth::Bits32, Depth::Bits64] {
            let random: Vec<u8> =
                (0..4096 * 2).flat_map(|n| noise(n).to_le_bytes()).take(4096 * depth.bytes()).collect();
            assert!(!is_big_endian(&read(&bytes(depth, &random))), "{depth}");
        }
        // Floats that no world has, in either order.
        let huge: Vec<u8> = (0..4096).flat_map(|_| f32::MAX.to_le_bytes()).collect();
        assert!(!is_big_endian(&read(&bytes(Depth::Bits32, &huge))));
    }
}
