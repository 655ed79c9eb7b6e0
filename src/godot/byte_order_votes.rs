//! The byte order of the blocks of a file that show none, by its blocks that show one.
//!
//! A file may hold blocks of both orders, when a save moved from one machine to another. Blocks that show nothing are
//! big-endian only if no block, or nearly none, shows the other order: most saves are little-endian.

use crate::godot::block::Block;
use crate::godot::byte_order::{self, ByteOrder};
use crate::godot::channel::{Depth, Storage, TYPE};

/// How many times as many blocks must show that they are big-endian as show that they are little-endian.
const BY_FAR: u32 = 8;

/// Blocks that vote at most: more change nothing.
const MOST: u32 = 16;

/// Blocks of raw types, and different types in them, that decide where nothing else shows an order. Fewer do if a block of one
/// type shows how types are numbered: its value is little-endian on every machine.
const BLOCKS: u32 = 8;
const TYPES: u32 = 3;
const BLOCKS_NUMBERED: u32 = 4;
const TYPES_NUMBERED: u32 = 2;

/// How many blocks show either byte order.
#[derive(Clone, Debug, Default)]
pub struct Votes {
    little: u32,
    big: u32,
    /// What types show, if any show something. Boxed, since a save may have very many files.
    types: Option<Box<TypeVotes>>,
}

impl Votes {
    /// Counts a block that was read as little-endian, and is healthy.
    pub fn add_block(&mut self, block: &Block<'_>) {
        if byte_order::is_big_endian(block) {
            self.add(ByteOrder::Big);
        } else if byte_order::is_little_endian(block) {
            self.add(ByteOrder::Little);
        } else {
            let mut types = TypeVotes::default();
            types.add_block(block);
            self.add_types(&types);
        }
    }

    /// Counts a file by the order that its blocks show, whatever number of them.
    pub fn add_file(&mut self, file: &Self) {
        if let Some(order) = file.by_blocks() {
            self.add(order);
        }
        if let Some(types) = &file.types {
            self.add_types(types);
        }
    }

    fn add_types(&mut self, types: &TypeVotes) {
        if *types != TypeVotes::default() {
            self.types.get_or_insert_default().add(types);
        }
    }

    /// Counts a block that shows its order.
    pub fn add(&mut self, order: ByteOrder) {
        let count = match order {
            ByteOrder::Little => &mut self.little,
            ByteOrder::Big => &mut self.big,
        };
        *count = count.saturating_add(1);
    }

    /// Whether enough were counted: more would not change the order, or are not needed.
    #[must_use]
    pub const fn are_enough(&self) -> bool {
        let most_big = MOST.saturating_sub(self.little);
        self.little.saturating_add(self.big) >= MOST || self.little.saturating_mul(BY_FAR) > most_big
    }

    /// The byte order of the blocks that show none; `None` if no other block shows one.
    #[must_use]
    pub fn order(&self) -> Option<ByteOrder> {
        self.by_blocks().or_else(|| self.order_of_types())
    }

    /// Whether the blocks are big-endian by their types alone: a little-endian game that uses the upper bytes only writes the
    /// same, so that any other block may contradict it.
    #[must_use]
    pub fn are_big_by_types(&self) -> bool {
        self.by_blocks().is_none() && self.order_of_types() == Some(ByteOrder::Big)
    }

    /// The order that the types show together.
    fn order_of_types(&self) -> Option<ByteOrder> {
        self.types.as_ref().and_then(|types| types.order())
    }

    /// The order by the blocks that show theirs alone.
    const fn by_blocks(&self) -> Option<ByteOrder> {
        match (self.big, self.little) {
            (0, 0) => None,
            (big, little) if big >= little.saturating_mul(BY_FAR) && big > 0 => Some(ByteOrder::Big),
            _ => Some(ByteOrder::Little),
        }
    }
}

/// What types show together. One block of types proves nothing: a game may use large numbers only. But types count up from 1,
/// so that in many blocks of a little-endian save the lower bytes differ from zero.
#[derive(Clone, Debug, Default, PartialEq)]
struct TypeVotes {
    /// Blocks whose raw types are small numbers as little-endian, as big-endian, or neither.
    little: u32,
    big: u32,
    mixed: u32,
    /// The highest bytes, as little-endian, of types in blocks of the second kind.
    seen: Seen,
    /// Whether blocks of one type have small numbers; whether they have large ones with nothing in the lower bytes.
    are_numbered_low: bool,
    are_numbered_high: bool,
}

impl TypeVotes {
    fn add_block(&mut self, block: &Block<'_>) {
        let Some(channel) = block.channels.get(TYPE).filter(|channel| channel.depth > Depth::Bits8) else { return };
        if channel.storage == Storage::Uniform {
            let half = u32::from(channel.depth.bits()).div_euclid(2);
            let Some(value) = channel.value(0).filter(|value| *value != 0) else { return };
            let high = value >> half;
            self.are_numbered_low |= high == 0;
            self.are_numbered_high |= high << half == value;
            return;
        }
        let Some(types) = byte_order::types(block) else { return };
        let count = match () {
            () if types.are_small() => &mut self.little,
            () if types.are_small_reversed() => &mut self.big,
            () if types.are_mixed() => &mut self.mixed,
            () => return,
        };
        *count = count.saturating_add(1);
        if types.are_small_reversed() {
            types.last_bytes().for_each(|byte| self.seen.add(byte));
        }
    }

    fn add(&mut self, other: &Self) {
        self.little = self.little.saturating_add(other.little);
        self.big = self.big.saturating_add(other.big);
        self.mixed = self.mixed.saturating_add(other.mixed);
        self.seen.add_all(other.seen);
        self.are_numbered_low |= other.are_numbered_low;
        self.are_numbered_high |= other.are_numbered_high;
    }

    fn order(&self) -> Option<ByteOrder> {
        if self.little > 0 {
            return Some(ByteOrder::Little);
        }
        let types = self.seen.count();
        let are_many = self.big >= BLOCKS && types >= TYPES;
        let are_numbered = self.are_numbered_low && self.big >= BLOCKS_NUMBERED && types >= TYPES_NUMBERED;
        let is_big = self.mixed == 0 && !self.are_numbered_high && (are_many || are_numbered);
        is_big.then_some(ByteOrder::Big)
    }
}

/// Which bytes other than zero were seen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Seen([u128; 2]);

impl Seen {
    fn add(&mut self, byte: u8) {
        let [low, high] = &mut self.0;
        let half = if byte < 128 { low } else { high };
        *half |= 1u128.checked_shl(u32::from(byte % 128)).unwrap_or(0);
    }

    fn add_all(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(half, other)| *half |= other);
    }

    fn count(self) -> u32 {
        let [low, high] = self.0;
        (low & !1).count_ones().saturating_add(high.count_ones())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::godot::block;
    use crate::godot::channel::SDF;
    use crate::limits::Limits;

    /// What a channel of 16 bits holds.
    #[derive(Clone)]
    enum Values {
        Uniform(u16),
        Raw(Vec<u16>),
    }
    use Values::{Raw, Uniform};

    /// A block of version 4 with 16 x 16 x 16 voxels, as a machine writes it.
    fn bytes(types: &Values, distances: &Values, order: ByteOrder) -> Vec<u8> {
        let mut bytes = vec![4, 16, 0, 16, 0, 16, 0];
        for values in [types, distances] {
            match values {
                Uniform(value) => {
                    bytes.push(0x11);
                    bytes.extend(value.to_le_bytes());
                }
                Raw(values) => {
                    bytes.push(0x10);
                    let write = |value: &u16| match order {
                        ByteOrder::Little => value.to_le_bytes(),
                        ByteOrder::Big => value.to_be_bytes(),
                    };
                    bytes.extend(values.iter().flat_map(write));
                }
            }
        }
        bytes.extend([[0x01, 0]; 6].as_flattened());
        bytes.extend([0x0d, 0xf0, 0x0d, 0x90]);
        bytes
    }

    fn votes(blocks: &[(Values, Values, ByteOrder)]) -> Votes {
        let mut votes = Votes::default();
        for (types, distances, order) in blocks {
            let bytes = bytes(types, distances, *order);
            let mut damage = Vec::new();
            let block = block::decode(&bytes, None, None, &Limits::DEFAULT).report_to(&mut damage);
            assert_eq!(damage, []);
            assert_eq!(block.channels[SDF].depth, Depth::Bits16);
            votes.add_block(&block);
        }
        votes
    }

    const OUTSIDE: Values = Uniform(0x7fff);
    const LITTLE: ByteOrder = ByteOrder::Little;
    const BIG: ByteOrder = ByteOrder::Big;

    fn raw(value: impl Fn(u16) -> u16) -> Values {
        Raw((0..4096).map(value).collect())
    }

    /// Distances that rise along y and x.
    fn slope() -> Values {
        raw(|n| (n % 16 * 650 + n / 16 % 16 * 37).wrapping_sub(4000))
    }

    #[test]
    fn blocks_that_show_their_order_decide() {
        let block = |order| (Uniform(0), slope(), order);
        for order in [LITTLE, BIG] {
            assert_eq!(votes(&[block(order)]).order(), Some(order));
            assert_eq!(votes(&[block(order), block(order)]).order(), Some(order));
        }
        // Nearly all must be big-endian.
        for (little, big, order) in [(1, 1, LITTLE), (1, 7, LITTLE), (1, 8, BIG), (2, 15, LITTLE)] {
            let blocks = [vec![block(LITTLE); little], vec![block(BIG); big]].concat();
            assert_eq!(votes(&blocks).order(), Some(order), "{little} and {big}");
        }
    }

    #[test]
    fn two_little_endian_blocks_are_enough_and_one_big_endian_block_is_not() {
        let block = |order| (Uniform(0), slope(), order);
        assert!(!votes(&[block(LITTLE)]).are_enough());
        assert!(votes(&[block(LITTLE), block(LITTLE)]).are_enough());
        assert!(!votes(&vec![block(BIG); 15]).are_enough());
        assert!(votes(&vec![block(BIG); 16]).are_enough());
    }

    #[test]
    fn blocks_of_one_value_and_of_the_ends_of_the_scale_show_nothing() {
        let ends = raw(|n| if n % 16 < 7 { 0x8001 } else { 0x7fff });
        for order in [LITTLE, BIG] {
            assert_eq!(votes(&[(Uniform(0), OUTSIDE, order), (Uniform(0), ends.clone(), order)]).order(), None);
        }
    }

    #[test]
    fn many_types_show_the_order() {
        let block = |count: u16, order| (raw(move |n| n % 16 * n % count), OUTSIDE, order);
        // One block of several types.
        assert_eq!(votes(&[block(5, LITTLE)]).order(), Some(LITTLE));
        assert_eq!(votes(&[block(5, BIG)]).order(), None, "one block may have large numbers only");
        assert_eq!(votes(&vec![block(5, BIG); 7]).order(), None);
        assert_eq!(votes(&vec![block(5, BIG); 8]).order(), Some(BIG));
        assert_eq!(votes(&vec![block(3, BIG); 9]).order(), None, "two types");
        assert_eq!(votes(&[vec![block(5, BIG); 9], vec![block(5, LITTLE)]].concat()).order(), Some(LITTLE));
        assert_eq!(votes(&[vec![block(5, BIG); 9], vec![block(400, LITTLE)]].concat()).order(), None);
    }

    #[test]
    fn blocks_of_one_type_show_how_types_are_numbered() {
        let of_two = vec![(raw(|n| n % 3), OUTSIDE, BIG); 4];
        let with = |value| [&of_two[..], &[(Uniform(value), OUTSIDE, BIG)]].concat();
        assert_eq!(votes(&of_two).order(), None);
        assert_eq!(votes(&with(0)).order(), None);
        assert_eq!(votes(&with(2)).order(), Some(BIG));
        assert_eq!(votes(&with(2)[1..]).order(), None, "three blocks");
        // A little-endian save whose types are in the upper byte.
        let shifted = (raw(|n| (n % 9) << 8), OUTSIDE, LITTLE);
        let blocks = vec![shifted; 9];
        assert_eq!(votes(&[blocks, vec![(Uniform(2 << 8), OUTSIDE, LITTLE)]].concat()).order(), None);
    }

    #[test]
    fn files_vote_by_their_order_and_not_by_their_blocks() {
        let block = |order| (Uniform(0), slope(), order);
        let (little, big) = (votes(&[block(LITTLE), block(LITTLE)]), votes(&vec![block(BIG); 16]));
        let mut all = Votes::default();
        all.add_file(&votes(&[]));
        assert_eq!(all.order(), None);
        all.add_file(&big);
        assert_eq!(all.order(), Some(BIG));
        all.add_file(&little);
        assert_eq!(all.order(), Some(LITTLE));
    }

    #[test]
    fn distances_count_more_than_types() {
        let types = raw(|n| n % 5);
        assert_eq!(votes(&[(types.clone(), slope(), BIG)]).order(), Some(BIG));
        assert_eq!(votes(&[(types, slope(), LITTLE)]).order(), Some(LITTLE));
    }
}
