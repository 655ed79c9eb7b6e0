//! Saves as a big-endian machine writes them: raw values of more than 8 bits have its byte order, all else is as usual.

use std::fs;
use std::path::Path;

use voxscope::godot::block;
use voxscope::godot::byte_order::{self, ByteOrder};
use voxscope::godot::channel::{CHANNELS, Depth, SDF, TYPE};
use voxscope::godot::container::{self, Decoder, Mode};
use voxscope::godot::region::{Builder, Format, Header};
use voxscope::limits::Limits;
use voxscope::save::{Options, Save};

use super::copy_dir;

/// How many blocks were rewritten.
#[derive(Debug, Default)]
pub struct Rewritten {
    pub blocks: u64,
    /// Those whose values are others in the other byte order.
    pub with_order: u64,
    /// Those of them that show their order themselves.
    pub shown: u64,
}

impl Rewritten {
    /// A container as a big-endian machine writes it.
    pub fn container(&mut self, packed: &[u8], layout: Option<&block::BlockLayout>) -> Vec<u8> {
        let (mut decoder, mut damage) = (Decoder::default(), Vec::new());
        let container = decoder.decode(packed, &Limits::DEFAULT).report_to(&mut damage);
        let mut plain = container.plain.to_vec();
        let block = block::decode(container.plain, layout, None, &Limits::DEFAULT).report_to(&mut damage);
        assert_eq!(damage, []);
        byte_order::reverse(&block, &mut plain);
        let reversed = block::decode(&plain, layout, None, &Limits::DEFAULT).report_to(&mut damage);
        self.blocks += 1;
        self.with_order += u64::from(plain != container.plain);
        self.shown += u64::from(byte_order::is_big_endian(&reversed));
        let mut out = Vec::new();
        container::encode(Mode::Lz4, &plain, &mut out);
        out
    }
}

/// Copies a save of region files, and rewrites all of their blocks.
pub fn rewrite_forest(from: &Path, to: &Path) -> Rewritten {
    copy_dir(from, to);
    let save = Save::open(from, &Options::default()).unwrap();
    let mut rewritten = Rewritten::default();
    for (forest, file) in save.regions() {
        let path = to.join(forest.dir.join(&file.name).strip_prefix(from).unwrap());
        let region = save.region(forest, file).unwrap().unwrap();
        let bytes = fs::read(&path).unwrap();
        let mut builder = Builder::new(region.header.clone());
        for listed in &region.entries {
            let start = region.span(listed.entry).start as usize;
            let size = u32::from_le_bytes(*bytes[start..].first_chunk().unwrap()) as usize;
            let packed = rewritten.container(&bytes[start + 4..][..size], Some(&region.header.format.layout()));
            builder.push(listed.slot, &packed).unwrap();
        }
        fs::write(path, builder.finish().unwrap()).unwrap();
    }
    rewritten
}

/// What a channel of a hand-made block holds.
#[derive(Clone, Debug)]
pub enum Values {
    Uniform(u64),
    /// In the order ZXY.
    Raw(Vec<u64>),
}

/// Depths of hand-made blocks: every channel but DATA6 has more than 8 bits.
pub const DEPTHS: [Depth; CHANNELS] = [
    Depth::Bits16,
    Depth::Bits16,
    Depth::Bits32,
    Depth::Bits16,
    Depth::Bits16,
    Depth::Bits64,
    Depth::Bits8,
    Depth::Bits16,
];

/// Voxels along an axis of a hand-made block, and blocks along an axis of a hand-made region.
pub const SIDE: u16 = 16;
pub const REGION: u16 = 4;

/// Values for each voxel of a block, by its number in the order ZXY.
pub fn raw(value: impl Fn(u64) -> u64) -> Values {
    Values::Raw((0..u64::from(SIDE).pow(3)).map(value).collect())
}

/// Distances to a slope, which show their byte order.
pub fn slope() -> Values {
    raw(|n| u64::from((n % 16 * 650 + n / 16 % 16 * 37).wrapping_sub(4000) as u16))
}

/// The container of a block of air with these channels.
pub fn block(channels: &[(usize, Values)], order: ByteOrder) -> Vec<u8> {
    block_with(DEPTHS, channels, order)
}

/// The same with other depths.
pub fn block_with(depths: [Depth; CHANNELS], channels: &[(usize, Values)], order: ByteOrder) -> Vec<u8> {
    let mut plain = vec![4];
    (0..3).for_each(|_| plain.extend(SIDE.to_le_bytes()));
    for (channel, depth) in depths.into_iter().enumerate() {
        let width = depth.bytes();
        let own = channels.iter().find(|(number, _)| *number == channel).map(|(_, values)| values);
        match own.unwrap_or(&Values::Uniform(if channel == SDF { 0x7fff } else { 0 })) {
            Values::Uniform(value) => {
                plain.push((depth.code() << 4) | 1);
                plain.extend(&value.to_le_bytes()[..width]);
            }
            Values::Raw(values) => {
                plain.push(depth.code() << 4);
                for value in values {
                    let mut bytes = value.to_le_bytes();
                    if order == ByteOrder::Big {
                        bytes[..width].reverse();
                    }
                    plain.extend(&bytes[..width]);
                }
            }
        }
    }
    plain.extend(block::EPILOGUE.to_le_bytes());
    let mut packed = Vec::new();
    container::encode(Mode::Lz4, &plain, &mut packed);
    packed
}

/// A region file of blocks in slots.
pub fn region(blocks: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let format = Format { block_size_po2: 4, region_size: [REGION; 3], depths: DEPTHS, sector_size: 512 };
    let mut builder = Builder::new(Header::new(3, format));
    for (slot, packed) in blocks {
        builder.push(*slot, packed).unwrap();
    }
    builder.finish().unwrap()
}

/// A channel of a block that shows no byte order.
pub type Quiet = (u32, usize, Values);

/// Blocks that show no byte order, with one raw channel each, by slot.
pub fn quiet() -> Vec<Quiet> {
    vec![
        (8, TYPE, raw(|n| n % 7 * 3)),
        (9, SDF, raw(|n| if n % 16 < 7 { 0x8001 } else { 0x7ffe })),
        (10, 2, raw(|n| 0x0102_0304 + n)),
        (11, 3, raw(|n| if n % 2 == 0 { 0x3210 } else { 0x3201 })),
        (12, 4, raw(|n| 0x00f0 | (n % 16))),
        (13, 5, raw(|n| (n << 40) | 77)),
        (14, 7, raw(|n| n * 5)),
    ]
}

/// A region file of blocks that show no byte order, behind some that do.
pub fn region_with_quiet(order: ByteOrder) -> Vec<u8> {
    let shown = (0..4).map(|slot| (slot, block(&[(SDF, slope())], order)));
    let quiet = quiet().into_iter().map(|(slot, channel, values)| (slot, block(&[(channel, values)], order)));
    region(&shown.chain(quiet).collect::<Vec<_>>())
}
