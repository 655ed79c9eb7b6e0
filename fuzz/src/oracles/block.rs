//! Block data, all versions.
//!
//! Input: flags (bit 0: a layout follows; bits 1-2: dialect: 1 Godot 3, 2 Godot 4, else by the version), the layout
//! (size x, y, z: u8 · depths: u16, two bits a channel), then the block.

use voxscope::bytes::{Span, len64};
use voxscope::damage::{Code, Damage, Space};
use voxscope::godot::block::{self, Block, BlockLayout, EPILOGUE};
use voxscope::godot::channel::{CHANNELS, Depth, Storage, sdf};
use voxscope::godot::metadata::Metadata;
use voxscope::godot::variant::Dialect;
use voxscope::save::block_layout;

use crate::naive::block as reader;

use super::{Reach, bytes, damage_inside, limits, verified, worse_than_note};

/// Codes that lose no bytes: such a block is written as it was read.
const LOSES_NOTHING: [Code; 8] = [
    Code::BlockSize,
    Code::BlockDepth,
    Code::MetadataPosition,
    Code::MetadataDialect,
    Code::MetadataCustom,
    Code::MetadataPort,
    Code::VariantText,
    Code::VariantPadding,
];

/// The part of an input before the block.
pub fn options(data: &[u8]) -> (Option<BlockLayout>, Option<Dialect>, &[u8]) {
    let Some((&flags, rest)) = data.split_first() else { return (None, None, &[]) };
    let dialect = match flags >> 1 & 3 {
        1 => Some(Dialect::Godot3),
        2 => Some(Dialect::Godot4),
        _ => None,
    };
    match rest.split_first_chunk() {
        Some((&[x, y, z, d0, d1], rest)) if flags & 1 != 0 => {
            let codes = u16::from_le_bytes([d0, d1]);
            let depths = std::array::from_fn(|i| Depth::ALL[usize::from(codes >> (2 * i) & 3)]);
            (Some(BlockLayout { size: [x, y, z].map(u16::from), depths }), dialect, rest)
        }
        _ => (None, dialect, rest),
    }
}

/// The input is options and a block of this version; without a version byte, of the current one.
pub fn check<const VERSION: u8>(data: &[u8]) -> Reach {
    let (layout, dialect, data) = options(data);
    let version = match data.first() {
        Some(0 | 1) => 1,
        Some(&n @ 2..=3) => n,
        _ => 4,
    };
    if version != VERSION {
        return Reach::Foreign;
    }
    with(data, layout, dialect)
}

/// A block with its layout from outside.
pub(super) fn with(data: &[u8], layout: Option<BlockLayout>, dialect: Option<Dialect>) -> Reach {
    let decode = |data| {
        let mut damage = Vec::new();
        // Damage that is in the list already belongs to something else and must stay.
        let before = Damage::new(Code::StaleTail, Span::new(7, 9), "before");
        damage.push(before);
        let block: Block<'_> = block::decode(data, layout.as_ref(), dialect, &limits()).report_to(&mut damage);
        assert_eq!(damage.remove(0), before, "damage of others was changed");
        (block, damage)
    };
    let (found, damage) = decode(data);
    damage_inside(&damage, Space::Block, data.len());
    channels(data, &found, &damage);
    if let Some(metadata) = &found.metadata {
        items(data, metadata, found.epilogue);
    }
    if let Some(span) = found.epilogue {
        assert_eq!(bytes(data, span), EPILOGUE.to_le_bytes(), "that is no epilogue");
        assert_eq!(span.end, len64(data), "the epilogue is not at the end");
    }
    assert!(found.version > 0 || !damage.is_empty(), "an unknown version without a word");
    shown_layout(data, dialect);
    if let Some(layout) = &layout {
        verified::block(data, layout);
    }

    naive(data, layout.as_ref(), dialect, &found, &damage);

    let lossless = damage.iter().all(|d| LOSES_NOTHING.contains(&d.code));
    if lossless {
        assert!(found.epilogue.is_some(), "no epilogue, and nobody says so");
        assert_eq!(found.whole_channels(), CHANNELS, "channels are missing, and nobody says so");
        let mut again = Vec::new();
        block::encode(&found, &mut again);
        assert!(again == data, "not written as it was read: {found:?}\n{again:02x?}\n{data:02x?}");
    }
    if !worse_than_note(&damage) {
        assert!(found.epilogue.is_some(), "healthy without an epilogue");
        let (_, cut) = decode(&data[..data.len() - 1]);
        assert!(worse_than_note(&cut), "healthy also without its last byte");
    }
    match found.channels.as_slice() {
        _ if damage.is_empty() => Reach::Healthy,
        _ if found.version == 0 || found.size.contains(&0) => Reach::Refused,
        [] => Reach::Header,
        _ => Reach::Content,
    }
}

/// By a layout that the bytes of a block show, it has all its channels and its epilogue.
fn shown_layout(data: &[u8], dialect: Option<Dialect>) {
    let Some(shown) = block_layout::infer(data) else { return };
    let mut damage = Vec::new();
    let block = block::decode(data, Some(&shown.layout), dialect, &limits()).report_to(&mut damage);
    if damage.iter().all(|d| d.code != Code::OverLimit) {
        assert_eq!(block.version, 1, "a layout of another version");
        assert_eq!(block.whole_channels(), CHANNELS, "channels are missing by the layout that is shown");
        assert!(block.epilogue.is_some(), "no epilogue by the layout that is shown");
    }
}

/// The naive decoder accepts exactly the blocks that lose no bytes, and reads the same values.
pub(super) fn naive(
    data: &[u8],
    layout: Option<&BlockLayout>,
    dialect: Option<Dialect>,
    found: &Block<'_>,
    damage: &[Damage],
) {
    // It has no caps.
    if damage.iter().any(|d| matches!(d.code, Code::OverLimit | Code::VariantDepth)) {
        return;
    }
    let outside = layout.map(|layout| (layout.size, layout.depths.map(Depth::code)));
    let lossless = damage.iter().all(|d| LOSES_NOTHING.contains(&d.code));
    let read = match reader::read(data, outside, dialect.map(|dialect| dialect == Dialect::Godot4)) {
        Err(reader::Why::Deep) => return,
        Err(why) => return assert!(!lossless, "the naive decoder says {why:?}, the library {damage:?}"),
        Ok(read) => read,
    };
    assert!(lossless, "the naive decoder reads it, the library says {damage:?}");
    assert_eq!((read.version, read.size), (found.version, found.size), "another version or size");
    for (channel, (depth, raw, data)) in found.channels.iter().zip(&read.channels) {
        let same = (channel.depth.code(), channel.storage == Storage::Raw, channel.data) == (*depth, *raw, *data);
        assert!(same, "another channel: {channel:?}");
    }
    // If both dialects fit, they give different items, and the library may prefer the other one.
    let chosen = found.metadata.as_ref().map(|metadata| metadata.dialect == Dialect::Godot4);
    let Ok(read) = reader::read(data, outside, chosen) else { panic!("not read in the dialect of the library") };
    let positions = found.metadata.iter().flat_map(|metadata| &metadata.voxels).map(|voxel| &voxel.position);
    assert!(positions.eq(&read.positions), "metadata of other voxels than {:?}", read.positions);
    let last = read.size.map(|n| n - 1);
    let places = [[0; 3], last, [last[0], 0, 0], [0, last[1], 0], [0, 0, last[2]], last.map(|n| n / 2)];
    for channel in 0..CHANNELS {
        for at in places {
            assert_eq!(found.voxel(channel, at), Some(read.voxel(channel, at)), "voxel {at:?} of channel {channel}");
        }
    }
}

fn channels(data: &[u8], found: &Block<'_>, damage: &[Damage]) {
    assert!(found.channels.len() <= CHANNELS);
    let mut end = 0;
    for (i, channel) in found.channels.iter().enumerate() {
        let span = Span::sized(channel.offset, len64(channel.data));
        assert!(std::ptr::eq(bytes(data, span), channel.data), "channel {i} is not where it says");
        assert!(channel.offset > end, "channel {i} begins inside the one before");
        end = span.end;
        let values = match channel.storage {
            Storage::Raw => found.volume(),
            Storage::Uniform => 1,
        };
        assert_eq!(channel.size, values.saturating_mul(channel.depth.bytes() as u64), "size of channel {i}");
        assert!(len64(channel.data) <= channel.size, "channel {i} has too many bytes");
        let last = i + 1 == found.channels.len();
        assert!(channel.is_whole() || last && damage.iter().any(|d| d.code == Code::ChannelCut), "channel {i} is cut");
        let corner = found.voxel(i, found.size.map(|n| n.saturating_sub(1)));
        assert_eq!(corner.is_some(), channel.is_whole(), "the last voxel of channel {i}");
        assert_eq!(found.voxel(i, found.size), None, "a voxel outside the block");
        let range = channel.range();
        let (least, most) = (channel.values().min(), channel.values().max());
        assert_eq!(range.map(|range| (range.min, range.max)), least.zip(most), "the range of channel {i}");
        assert!(range.is_none_or(|range| (range.distinct == 1) == (range.min == range.max)), "{range:?}");
        for raw in least.into_iter().chain(most) {
            let distance = sdf(found.version, channel.depth, raw);
            let scale = if found.version < 3 { 1.01 } else { 500.0 };
            let fixed = channel.depth <= Depth::Bits16;
            assert!(!fixed || distance.abs() <= scale, "a distance of {distance}");
            // The two lowest numbers encode the same distance.
            assert!(!fixed || distance.is_finite() && !channel.storage.name().is_empty());
        }
        assert_eq!(channel.values().next(), found.voxel(i, [0; 3]), "the first voxel of channel {i}");
    }
    assert!(found.whole_channels() == CHANNELS || !damage.is_empty(), "channels are missing, and nobody says so");
}

fn items(data: &[u8], metadata: &Metadata<'_>, epilogue: Option<Span>) {
    let mut end = 0;
    for voxel in &metadata.voxels {
        let (position, _) = bytes(data, voxel.span).split_at(6);
        let stored: Vec<u8> = voxel.position.iter().flat_map(|n| n.to_le_bytes()).collect();
        assert_eq!(position, stored, "the position is not where the item says");
        assert!(voxel.span.start >= end, "items overlap");
        end = voxel.span.end;
    }
    let (at, unread) = metadata.unread;
    let unread = Span::sized(at, len64(unread));
    let _ = bytes(data, unread);
    assert!(unread.is_empty() || unread.start >= end, "what was read is called unread");
    assert!(epilogue.is_none_or(|epilogue| unread.end <= epilogue.start), "metadata runs into the epilogue");
    std::hint::black_box(&metadata.block);
}
