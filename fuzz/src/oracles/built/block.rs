//! Blocks of every version, written by the naive encoder.

use arbitrary::{Result, Unstructured};
use voxscope::damage::Damage;
use voxscope::godot::block::{self, BlockLayout};
use voxscope::godot::channel::{CHANNELS, Depth};
use voxscope::godot::metadata::Item;
use voxscope::godot::variant::{Dialect, Variant};

use super::{Case, Dice, Kind, Model, Seen};
use crate::naive::block::{self as naive, Channel, Items, Written, write};
use crate::oracles::block as raw;
use crate::oracles::limits;

/// A block of a version.
#[derive(Debug)]
pub struct Block<const VERSION: u8>(pub Plain);

/// A block, whatever its version.
#[derive(Clone, Debug)]
pub struct Plain {
    pub(super) block: naive::Block,
    pub(super) written: Written,
}

impl Plain {
    /// A block of a version whose size and depths are given by what it is in.
    pub(super) fn make(u: &mut Unstructured<'_>, version: u8, layout: &BlockLayout) -> Result<Self> {
        let volume = layout.size.iter().map(|&n| usize::from(n)).product::<usize>();
        let (raw, salt): (u8, u8) = u.arbitrary()?;
        let channel = |i: usize| {
            let (depth, raw) = (layout.depths[i], raw >> i & 1 == 1);
            let len = if raw { volume } else { 1 } * depth.bytes();
            Channel { depth: depth.code(), raw, data: super::filled(salt.wrapping_add(i as u8), len) }
        };
        let channels = (0..CHANNELS).map(channel).collect();
        let items = if u.arbitrary::<u8>()? & 1 == 1 { Some(Self::items(u, version, layout.size)?) } else { None };
        let block = naive::Block { version, size: layout.size, channels, items };
        Ok(Self { written: write(&block), block })
    }

    fn items(u: &mut Unstructured<'_>, version: u8, size: [u16; 3]) -> Result<Items> {
        let block = item(u, version, false)?;
        let mut voxels = Vec::new();
        let count = u.arbitrary::<u8>()? % 4;
        for n in 1..=count {
            let at: [u8; 3] = u.arbitrary()?;
            let position = [0, 1, 2].map(|axis| u16::from(at[axis]) % size[axis]);
            voxels.push((position, item(u, version, n == count)?));
        }
        Ok(Items { block, voxels })
    }

    /// What the region or the meta file says of it.
    pub(super) fn layout(&self) -> BlockLayout {
        let depths = std::array::from_fn(|i| Depth::ALL[usize::from(self.block.channels[i].depth)]);
        BlockLayout { size: self.block.size, depths }
    }

    fn compare(&self) {
        let bytes = &self.written.bytes;
        let layout = self.layout();
        let mut damage: Vec<Damage> = Vec::new();
        let found = block::decode(bytes, Some(&layout), None, &limits()).report_to(&mut damage);
        assert_eq!((found.version, found.size), (self.block.version, self.block.size));
        let mut again = Vec::new();
        block::encode(&found, &mut again);
        assert!(again == *bytes, "the library writes {again:02x?}, by the description it is {bytes:02x?}");
        for (channel, plan) in found.channels.iter().zip(&self.block.channels) {
            assert_eq!((channel.data, channel.depth.code()), (plan.data.as_slice(), plan.depth));
        }
        let voxels = found.metadata.iter().flat_map(|metadata| &metadata.voxels).map(|voxel| voxel.position);
        let planned = self.block.items.iter().flat_map(|items| &items.voxels).map(|voxel| voxel.0);
        assert!(voxels.eq(planned), "other positions of metadata");
        self.compare_port_item(&found);
        raw::naive(bytes, Some(&layout), None, &found, &damage);
    }
}

impl Plain {
    /// Items of the types of the Rust port are read as these.
    fn compare_port_item(&self, found: &block::Block<'_>) {
        let planned = self.block.items.iter().flat_map(|items| &items.voxels).map(|voxel| voxel.1.as_slice());
        let found = found.metadata.iter().flat_map(|metadata| &metadata.voxels).map(|voxel| &voxel.item);
        for (planned, found) in planned.zip(found).filter(|_| self.block.version == 4) {
            let expected = match planned {
                [40, bits @ ..] => <[u8; 8]>::try_from(bits).ok().map(|bits| Item::Float(u64::from_le_bytes(bits))),
                [41, _, _, _, _, text @ ..] => std::str::from_utf8(text).ok().map(Item::Text),
                [42, _, _, _, _, bytes @ ..] => Some(Item::Bytes(bytes)),
                _ => None,
            };
            assert!(expected.is_none_or(|expected| *found == expected), "read as {found:?}: {planned:02x?}");
        }
    }
}

/// An item of metadata; the application's own, of unknown length, only where nothing follows.
fn item(u: &mut Unstructured<'_>, version: u8, last: bool) -> Result<Vec<u8>> {
    let (kind, n): (u8, u8) = u.arbitrary()?;
    if version == 4 {
        match kind >> 4 {
            0 | 1 => return Ok(vec![0]),
            2 => return Ok([&[1][..], &(u64::from(n) << 33).to_le_bytes()].concat()),
            3 if last => return Ok(vec![33 + n % 200, 1, 2, n]),
            4 if last => return Ok([&[40][..], &(f64::from(n) / 7.0).to_le_bytes()].concat()),
            5 | 6 if last => {
                let content = &b"iron ore"[..usize::from(n % 9)];
                return Ok([&[36 + (kind >> 4)], &(content.len() as u32).to_le_bytes()[..], content].concat());
            }
            _ => {}
        }
    }
    let text = ["", "a", "chest", "stone \u{77f3}"][usize::from(n) % 4];
    let variant = match kind % 8 {
        0 => Variant::Nil,
        1 => Variant::bool(n & 1 == 1),
        2 => Variant::int(i64::from(n) << 28),
        3 => Variant::float(f64::from(n) / 3.0),
        // Types that have the same number in both engines: a version 2 block may be of either.
        _ if version == 2 => Variant::string(text),
        4 => Variant::array(vec![Variant::int(i64::from(n)), Variant::string(text)]),
        5 => Variant::dictionary(vec![(Variant::string(text), Variant::array(vec![Variant::Nil; usize::from(n % 5)]))]),
        6 => Variant::vector3([0.5, f32::from(n), -1.0]),
        _ => Variant::packed_bytes(vec![n; usize::from(n % 7)]),
    };
    let mut out = if version == 4 { vec![32] } else { Vec::new() };
    variant.encode(if version > 2 { Dialect::Godot4 } else { Dialect::Godot3 }, &mut out);
    Ok(out)
}

/// Depths and a small size.
pub fn layout(u: &mut Unstructured<'_>) -> Result<BlockLayout> {
    let (codes, size): (u16, [u8; 3]) = u.arbitrary()?;
    let depths = std::array::from_fn(|i| Depth::ALL[usize::from(codes >> (2 * i) & 3)]);
    Ok(BlockLayout { size: size.map(|n| 1 + u16::from(n) % 4), depths })
}

impl<const VERSION: u8> Model for Block<VERSION> {
    fn make(u: &mut Unstructured<'_>) -> Result<Self> {
        let layout = layout(u)?;
        Plain::make(u, VERSION, &layout).map(Self)
    }

    fn bytes(&self) -> Vec<u8> {
        self.0.written.bytes.clone()
    }

    fn look(&self, bytes: &[u8]) -> Vec<Seen> {
        let mut damage = Vec::new();
        let _ = block::decode(bytes, Some(&self.0.layout()), None, &limits()).report_to(&mut damage);
        damage.into_iter().map(Seen::from).collect()
    }

    fn compare(&self, _: &[u8]) {
        self.0.compare();
    }

    fn any(&self, bytes: &[u8]) {
        raw::with(bytes, Some(self.0.layout()), None);
    }

    fn kinds() -> &'static [Kind<Self>] {
        let all: &'static [Kind<Self>] = const { &kinds::<VERSION>() };
        &all[..super::block_kinds::of(VERSION)]
    }
}

/// The kinds of damage of a block, by number.
const fn kinds<const VERSION: u8>() -> [Kind<Block<VERSION>>; super::block_kinds::ALL.len()] {
    use super::block_kinds::ALL;
    macro_rules! each {
        ($($n:literal)*) => {
            [$(Kind { name: ALL[$n].0, apply: apply::<VERSION, $n> }),*]
        };
    }
    each!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18)
}

fn apply<const VERSION: u8, const N: usize>(model: &Block<VERSION>, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    (super::block_kinds::ALL[N].1)(&model.0, bytes, dice)
}
