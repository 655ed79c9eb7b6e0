//! The kinds of damage of a block.
//!
//! Not among them, because nothing in a block shows them: another value of a voxel (there is no checksum), raw in place of
//! uniform where a block has one voxel, metadata that is gone with its size (a block without any is as healthy), another
//! first byte of version 1 that is that of a later version.

use voxscope::damage::{Code, Space};

use super::block::Plain;
use super::{Case, Dice, spliced};
use crate::naive::block::Field;

type Apply = fn(&Plain, Vec<u8>, &mut Dice) -> Option<Case>;

/// All of them: those of every version first, then those of all but the first, then that of version 4 alone.
pub(super) const ALL: [(&str, Apply); 19] = [
    ("epilogue_changed", epilogue_changed),
    ("epilogue_missing", epilogue_missing),
    ("epilogue_moved", epilogue_moved),
    ("metadata_cut", metadata_cut),
    ("metadata_size_too_large", metadata_size_too_large),
    ("metadata_size_too_small", metadata_size_too_small),
    ("metadata_position_outside", metadata_position_outside),
    ("metadata_variant_unknown", metadata_variant_unknown),
    ("metadata_trailing", metadata_trailing),
    ("channel_cut", channel_cut),
    ("channel_lost_with_the_rest", channel_lost),
    ("channel_storage_unknown", channel_storage_unknown),
    ("header_cut", header_cut),
    ("version_unknown", version_unknown),
    ("channel_depth_impossible", channel_depth_impossible),
    ("channel_depth_another", channel_depth_another),
    ("size_zero", size_zero),
    ("size_another", size_another),
    ("metadata_type_unknown", metadata_type_unknown),
];

/// How many a version has.
pub(super) const fn of(version: u8) -> usize {
    match version {
        1 => 14,
        2 | 3 => 18,
        _ => ALL.len(),
    }
}

fn at(bytes: Vec<u8>, code: Code, start: usize, end: usize) -> Option<Case> {
    Some(Case::at(bytes, code, Space::Block, start, end))
}

fn epilogue_changed(plain: &Plain, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let field = plain.written.find(Field::Epilogue)?;
    bytes[field.start + dice.below(4)] ^= dice.within(1, 255) as u8;
    at(bytes, Code::BlockEpilogue, field.start, field.end)
}

fn epilogue_missing(plain: &Plain, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let end = plain.written.find(Field::Epilogue)?.start;
    let Some(size) = plain.written.find(Field::MetadataSize) else {
        // All of it or its last bytes.
        let left = dice.below(4);
        bytes.truncate(end + left);
        return at(bytes, Code::BlockEpilogueMissing, end, end + left);
    };
    // The last four bytes of the metadata are now where the epilogue was.
    bytes.truncate(end);
    let left = end - size.start - 4;
    if left < 4 {
        return at(bytes, Code::MetadataCut, size.start, size.start + left);
    }
    at(bytes, Code::MetadataSize, size.start, size.end)
}

fn epilogue_moved(_: &Plain, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let junk = dice.within(1, 24);
    bytes.extend(std::iter::repeat_n(dice.below(0x90) as u8, junk));
    let end = bytes.len();
    at(bytes, Code::BlockEpilogue, end - 4, end)
}

/// Any number of bytes less, and the epilogue behind what is left.
fn metadata_cut(plain: &Plain, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let size = plain.written.find(Field::MetadataSize)?;
    let end = plain.written.find(Field::Epilogue)?.start;
    let left = dice.within(1, end - size.start - 1);
    let bytes = spliced(bytes, size.start + left..end, &[]);
    if left < 4 {
        return at(bytes, Code::MetadataCut, size.start, size.start + left);
    }
    at(bytes, Code::MetadataSize, size.start, size.end)
}

fn declared(plain: &Plain) -> Option<(std::ops::Range<usize>, usize)> {
    let size = plain.written.find(Field::MetadataSize)?;
    let declared = plain.written.find(Field::Epilogue)?.start - size.end;
    Some((size, declared))
}

fn metadata_size_too_large(plain: &Plain, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (size, declared) = declared(plain)?;
    let lie = dice.one(&[declared as u32 + 1, declared as u32 + 5, 1 << 16, 1 << 31, u32::MAX])?;
    let bytes = spliced(bytes, size.clone(), &lie.to_le_bytes());
    at(bytes, Code::MetadataSize, size.start, size.end)
}

fn metadata_size_too_small(plain: &Plain, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (size, declared) = declared(plain)?;
    let less = dice.below(declared);
    let end = size.end + declared;
    let bytes = spliced(bytes, size.clone(), &(less as u32).to_le_bytes());
    at(bytes, Code::MetadataTrailing, size.end + less, end)
}

fn metadata_trailing(plain: &Plain, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    plain.written.find(Field::MetadataSize)?;
    let end = plain.written.find(Field::Epilogue)?.start;
    let more = vec![dice.below(256) as u8; dice.within(1, 40)];
    at(spliced(bytes, end..end, &more), Code::MetadataTrailing, end, end + more.len())
}

fn metadata_position_outside(plain: &Plain, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let voxels = plain.block.items.as_ref()?.voxels.len();
    let field = plain.written.find(Field::Position(dice.below(voxels)))?;
    let axis = dice.below(3);
    let size = plain.block.size[axis];
    let outside = dice.one(&[size, size + 1, u16::MAX])?;
    bytes[field.start + 2 * axis..][..2].copy_from_slice(&outside.to_le_bytes());
    at(bytes, Code::MetadataPosition, field.start, field.end)
}

/// An item: the block's own, or that of a voxel.
fn item(plain: &Plain, dice: &mut Dice) -> Option<std::ops::Range<usize>> {
    let voxels = plain.block.items.as_ref()?.voxels.len();
    match dice.below(voxels + 1) {
        0 => plain.written.find(Field::Item),
        n => plain.written.find(Field::VoxelItem(n - 1)),
    }
}

fn metadata_type_unknown(plain: &Plain, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let field = item(plain, dice)?;
    bytes[field.start] = dice.one(&(2..32).collect::<Vec<u8>>())?;
    at(bytes, Code::MetadataType, field.start, field.start + 1)
}

fn metadata_variant_unknown(plain: &Plain, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let field = item(plain, dice)?;
    let start = if plain.block.version < 4 {
        field.start
    } else if bytes[field.start] == 32 {
        field.start + 1
    } else {
        return None;
    };
    bytes[start] = dice.within(39, 255) as u8;
    at(bytes, Code::VariantType, start, start + 4)
}

/// Nothing from some byte of the channels on.
fn channel_cut(plain: &Plain, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let first = plain.written.find(Field::Format(0))?.start;
    let last = plain.written.find(Field::Data(7))?.end;
    // Without its first byte version 1 is an empty block.
    let end = dice.within(first.max(1), last - 1);
    bytes.truncate(end);
    let inside = plain.written.fields.iter().find(|(_, range)| range.contains(&end))?;
    at(bytes, Code::ChannelCut, inside.1.start, end)
}

/// Nothing from the start of a channel's format on.
fn channel_lost(plain: &Plain, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let start = plain.written.find(Field::Format(dice.within(1, 7)))?.start;
    bytes.truncate(start);
    at(bytes, Code::ChannelCut, start, start)
}

fn channel_storage_unknown(plain: &Plain, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let old = plain.block.version == 1;
    // The first byte distinguishes version 1 from the others.
    let channel = dice.within(usize::from(old), 7);
    let field = plain.written.find(Field::Format(channel))?;
    let storage = dice.within(2, if old { 255 } else { 15 }) as u8;
    bytes[field.start] = if old { storage } else { bytes[field.start] & 0xf0 | storage };
    at(bytes, Code::ChannelStorage, field.start, field.end)
}

fn channel_depth_impossible(plain: &Plain, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let field = plain.written.find(Field::Format(dice.below(8)))?;
    bytes[field.start] = bytes[field.start] & 0xf | (dice.within(4, 15) as u8) << 4;
    at(bytes, Code::ChannelDepth, field.start, field.end)
}

fn channel_depth_another(plain: &Plain, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let channel = dice.below(8);
    let field = plain.written.find(Field::Format(channel))?;
    let depth = (plain.block.channels[channel].depth + dice.within(1, 3) as u8) % 4;
    bytes[field.start] = bytes[field.start] & 0xf | depth << 4;
    at(bytes, Code::BlockDepth, field.start, field.end)
}

fn header_cut(plain: &Plain, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let end = if plain.block.version > 1 { dice.below(7) } else { 0 };
    bytes.truncate(end);
    // Of the size whole numbers are read, so what is left of it begins at one of them.
    let start = end.saturating_sub(1) / 2 * 2 + usize::from(end > 0);
    at(bytes, Code::BlockHeaderCut, start, end)
}

fn size_zero(plain: &Plain, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let field = plain.written.find(Field::Size)?;
    bytes[field.start + 2 * dice.below(3)..][..2].fill(0);
    at(bytes, Code::BlockSizeZero, field.start, field.end)
}

fn size_another(plain: &Plain, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let field = plain.written.find(Field::Size)?;
    let axis = dice.below(3);
    let size = (plain.block.size[axis] ^ dice.within(1, 65_535) as u16).max(1);
    if size == plain.block.size[axis] {
        return None;
    }
    bytes[field.start + 2 * axis..][..2].copy_from_slice(&size.to_le_bytes());
    at(bytes, Code::BlockSize, field.start, field.end)
}

fn version_unknown(_: &Plain, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    bytes[0] = dice.within(5, 255) as u8;
    at(bytes, Code::BlockVersion, 0, 1)
}
