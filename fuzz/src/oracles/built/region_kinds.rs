//! The kinds of damage of a region file.
//!
//! Not among them, because nothing in the file shows them:
//! - two entries swapped, or all sectors of two blocks of as many: a block does not say where it belongs, so both are
//!   whole, each in the other's place;
//! - two sectors inside the data of a block swapped: without a checksum other literals are other voxels;
//! - a sector doubled inside or behind the last block: what follows the last block is a stale tail, which is normal.

use voxscope::bytes::Span;
use voxscope::damage::{Code, Space};
use voxscope::godot::channel::{Depth, SDF};
use voxscope::godot::container::Mode;
use voxscope::godot::textures::{INDICES, WEIGHTS};

use super::container::{declaring, packed};
use super::region::{File, Region, Stored};
use super::{Case, Dice, Expected, Kind, Place, Whose, block_kinds, spliced};
use crate::naive::block::write;

pub(super) type Apply = fn(&File, Vec<u8>, &mut Dice) -> Option<Case>;

/// All of them, those last that only version 3 has.
pub(super) const ALL: [(&str, Apply); 35] = [
    ("magic_changed", magic_changed),
    ("version_unknown", version_unknown),
    ("file_cut_in_the_header", file_cut_in_the_header),
    ("file_cut_in_the_table", file_cut_in_the_table),
    ("file_cut_in_the_sectors", file_cut_in_the_sectors),
    ("table_entry_beyond_the_end", table_entry_beyond_the_end),
    ("table_entry_doubled", table_entry_doubled),
    ("table_entry_moved", table_entry_moved),
    ("table_entry_lost", table_entry_lost),
    ("table_entries_of_other_counts_swapped", table_firsts_swapped),
    ("table_count_zero", table_count_zero),
    ("table_count_too_large", table_count_too_large),
    ("table_count_too_small", table_count_too_small),
    ("size_prefix_too_large", size_prefix_too_large),
    ("size_prefix_too_small", size_prefix_too_small),
    ("declared_size_too_large", declared_size_too_large),
    ("declared_size_too_small", declared_size_too_small),
    ("container_mode_unknown", container_mode_unknown),
    ("container_empty", container_empty),
    ("sector_lost", sector_lost),
    ("sector_doubled", sector_doubled),
    ("sectors_swapped", sectors_swapped),
    ("sectors_zeroed", sectors_zeroed),
    ("block_damaged", block_damaged),
    ("block_epilogue_changed", block_epilogue_changed),
    ("values_in_big_endian_order", values_in_big_endian_order),
    ("floats_in_big_endian_order", floats_in_big_endian_order),
    ("texture_repeated", texture_repeated),
    ("stale_tail", stale_tail),
    ("header_block_size_impossible", header_block_size),
    ("header_region_size_zero", header_region_size),
    ("header_depth_impossible", header_depth),
    ("header_sector_size_zero", header_sector_size),
    ("header_palette_byte_impossible", header_palette),
    ("rig_of_voxedit", rig_of_voxedit),
];

/// How many a version has.
pub(super) const fn of(version: u8) -> usize {
    if version == 3 { ALL.len() } else { 29 }
}

/// The kinds of damage of a region file, by number.
pub(super) const fn kinds<const VERSION: u8>() -> [Kind<Region<VERSION>>; ALL.len()] {
    macro_rules! each {
        ($($n:literal)*) => {
            [$(Kind { name: ALL[$n].0, apply: apply::<VERSION, $n> }),*]
        };
    }
    each!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34)
}

fn apply<const VERSION: u8, const N: usize>(model: &Region<VERSION>, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    (ALL[N].1)(&model.0, bytes, dice)
}

fn at(bytes: Vec<u8>, code: Code, start: usize, end: usize) -> Option<Case> {
    Some(Case::at(bytes, code, Space::File, start, end))
}

fn magic_changed(_: &File, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    bytes[dice.below(4)] ^= dice.within(1, 255) as u8;
    at(bytes, Code::RegionNotRegion, 0, 4)
}

/// The first four bytes are those of a rig of VoxEdit, and no header of a region follows. Version 2 does not have this kind, so
/// that the numbers of its kinds stay the same.
fn rig_of_voxedit(_: &File, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    bytes[3] = dice.within(b'0'.into(), b'9'.into()) as u8;
    bytes[4] = dice.one(&[0, 4, 5, 100, 255])?;
    at(bytes, Code::RegionVoxedit, 0, 4)
}

fn version_unknown(_: &File, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    bytes[4] = dice.one(&[0, 4, 5, 100, 255])?;
    at(bytes, Code::RegionVersion, 4, 5)
}

fn header_block_size(_: &File, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    bytes[5] = dice.one(&[0, 9, 10, 255])?;
    at(bytes, Code::RegionBlockSize, 5, 6)
}

fn header_region_size(_: &File, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    bytes[6 + dice.below(3)] = 0;
    at(bytes, Code::RegionSize, 6, 9)
}

fn header_depth(_: &File, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let field = 9 + dice.below(8);
    bytes[field] = dice.within(4, 255) as u8;
    at(bytes, Code::RegionDepth, field, field + 1)
}

fn header_sector_size(_: &File, mut bytes: Vec<u8>, _: &mut Dice) -> Option<Case> {
    bytes[17..19].fill(0);
    at(bytes, Code::RegionSectorSize, 17, 19)
}

fn header_palette(_: &File, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    bytes[19] = dice.within(1, 254) as u8;
    at(bytes, Code::RegionPalette, 19, 20)
}

fn file_cut_in_the_header(file: &File, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let end = dice.below(file.table());
    bytes.truncate(end);
    let code = if end == 0 { Code::RegionEmpty } else { Code::RegionHeaderCut };
    // Of a palette that is cut, the palette is said to be.
    at(bytes, code, if end >= 20 { 20 } else { 0 }, end)
}

fn file_cut_in_the_table(file: &File, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let end = dice.within(file.table(), file.sectors_at() - 1);
    bytes.truncate(end);
    let bare = file.version == 3 && end == file.table();
    at(bytes, if bare { Code::RegionNeverStored } else { Code::RegionTableCut }, file.table(), end)
}

/// Whatever is missing, the block in the last sectors loses it.
fn last_is_cut(file: &File, bytes: Vec<u8>) -> Option<Case> {
    let last = file.blocks.last()?;
    let place = Place::At(Space::File, file.span(last.first, last.count));
    Some(Case::of(bytes, &[Code::TableBeyondEnd, Code::SectorCut], place).of_block(last.position))
}

fn file_cut_in_the_sectors(file: &File, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    file.blocks.last()?;
    // Often by one byte, which is the bound.
    let most = bytes.len() - file.sectors_at();
    let less = if dice.below(2) == 0 { 1 } else { dice.within(1, most) };
    bytes.truncate(bytes.len() - less);
    last_is_cut(file, bytes)
}

fn block<'f>(file: &'f File, dice: &mut Dice) -> Option<(usize, &'f Stored)> {
    let n = dice.below(file.blocks.len());
    file.blocks.get(n).map(|block| (n, block))
}

fn entry(file: &File, slot: u32) -> usize {
    file.table() + 4 * slot as usize
}

fn with_entry(file: &File, bytes: Vec<u8>, slot: u32, first: usize, count: usize) -> Vec<u8> {
    let field = entry(file, slot);
    spliced(bytes, field..field + 4, &((first << 8 | count) as u32).to_le_bytes())
}

fn table_entry_beyond_the_end(file: &File, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (_, block) = block(file, dice)?;
    let first = dice.one(&[file.sectors(), file.sectors() + 1, 1 << 16, (1 << 24) - 256])?;
    let bytes = with_entry(file, bytes, block.slot, first, block.count);
    let span = file.span(first, block.count);
    at(bytes, Code::TableBeyondEnd, span.start as usize, span.end as usize).map(|case| case.of_block(block.position))
}

fn table_entry_doubled(file: &File, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (_, block) = block(file, dice)?;
    let slot = dice.below(file.format.table_len() as usize) as u32;
    if slot == block.slot {
        return None;
    }
    let span = file.span(block.first, block.count);
    let bytes = with_entry(file, bytes, slot, block.first, block.count);
    at(bytes, Code::TableOverlap, span.start as usize, span.end as usize)
}

/// By counting, one of: sectors that two entries claim, sectors that no entry claims, sectors beyond the end.
const MOVED: [Code; 3] = [Code::TableOverlap, Code::TableGap, Code::TableBeyondEnd];

fn moved(file: &File, bytes: Vec<u8>, new: Span, old: Span) -> Option<Case> {
    let all = Span::new(new.start.min(old.start), new.end.max(old.end).max(file.sector(file.sectors()) as u64));
    Some(Case::of(bytes, &MOVED, Place::Touching(all)))
}

fn table_entry_moved(file: &File, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (_, block) = block(file, dice)?;
    let first = dice.below(file.sectors());
    if first == block.first {
        return None;
    }
    let bytes = with_entry(file, bytes, block.slot, first, block.count);
    moved(file, bytes, file.span(first, block.count), file.span(block.first, block.count))
}

fn table_firsts_swapped(file: &File, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let ((_, a), (_, b)) = (block(file, dice)?, block(file, dice)?);
    if a.count == b.count {
        return None;
    }
    let bytes = with_entry(file, bytes, a.slot, b.first, a.count);
    let bytes = with_entry(file, bytes, b.slot, a.first, b.count);
    moved(file, bytes, file.span(a.first, b.count), file.span(b.first, a.count))
}

fn table_entry_lost(file: &File, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (n, block) = block(file, dice)?;
    let bytes = with_entry(file, bytes, block.slot, 0, 0);
    let span = file.span(block.first, block.count);
    // The only block is unowned then, which is no old state.
    if file.blocks.len() == 1 {
        return None;
    }
    // At the end it looks like an old copy, which is normal.
    let code = if n + 1 == file.blocks.len() { Code::StaleTail } else { Code::TableGap };
    at(bytes, code, span.start as usize, span.end as usize)
}

fn table_count_zero(file: &File, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (_, block) = block(file, dice)?;
    // With sector 0 it is an entry that is lost.
    let field = entry(file, block.slot);
    let bytes = with_entry(file, bytes, block.slot, block.first, 0);
    let case = at(bytes, Code::TableCountZero, field, field + 4)?.of_block(block.position);
    (block.first > 0).then_some(case)
}

/// Something about the four bytes of the size before a block.
fn prefix(file: &File, bytes: Vec<u8>, code: Code, block: &Stored) -> Option<Case> {
    let start = file.sector(block.first);
    at(bytes, code, start, start + 4).map(|case| case.of_block(block.position))
}

fn table_count_too_large(file: &File, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (_, block) = block(file, dice)?;
    let count = dice.within(block.count + 1, 255.max(block.count + 1));
    let bytes = with_entry(file, bytes, block.slot, block.first, count);
    (count < 256).then(|| prefix(file, bytes, Code::TableCount, block))?
}

fn table_count_too_small(file: &File, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (_, block) = block(file, dice)?;
    if block.count < 2 {
        return None;
    }
    let count = dice.within(1, block.count - 1);
    let bytes = with_entry(file, bytes, block.slot, block.first, count);
    prefix(file, bytes, Code::BlockPrefix, block)
}

fn with_prefix(file: &File, bytes: Vec<u8>, block: &Stored, size: u32) -> Vec<u8> {
    let start = file.sector(block.first);
    spliced(bytes, start..start + 4, &size.to_le_bytes())
}

fn size_prefix_too_large(file: &File, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (_, block) = block(file, dice)?;
    let room = (block.count * file.format.sector_size as usize - 4) as u32;
    let size = dice.one(&[room + 1, room + 40, 1 << 24, u32::MAX])?;
    prefix(file, with_prefix(file, bytes, block, size), Code::BlockPrefix, block)
}

/// So small that fewer sectors would do. One that is smaller by less cuts the container, which has a target of its own.
fn size_prefix_too_small(file: &File, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (_, block) = block(file, dice)?;
    let room = ((block.count - 1) * file.format.sector_size as usize).checked_sub(4)?;
    let size = dice.within(1, room) as u32;
    prefix(file, with_prefix(file, bytes, block, size), Code::TableCount, block)
}

/// Another container in place of a block's, in a file that is healthy otherwise. The target for containers tests where in
/// the container the damage is reported.
fn container(file: &File, n: usize, container: &[u8], codes: &[Code]) -> Option<Case> {
    let block = file.blocks.get(n)?;
    let start = file.sector(block.first) as u64 + 4;
    let place = Place::Touching(Span::sized(start, container.len() as u64));
    let bytes = file.bytes_with(|other| (other == n).then(|| container.to_vec()));
    Some(Case::of(bytes, codes, place).of_block(block.position))
}

fn declares(file: &File, dice: &mut Dice, lie: impl Fn(u32, &mut Dice) -> u32, codes: &[Code]) -> Option<Case> {
    let (n, block) = block(file, dice)?;
    // One without a mode reads as another one: see the container's target.
    if block.mode == Mode::Headerless {
        return None;
    }
    let declared = lie(block.plain.written.bytes.len() as u32, dice);
    container(file, n, &declaring(block.mode, block.container.clone(), declared)?, codes)
}

fn declared_size_too_large(file: &File, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let lie = |size: u32, dice: &mut Dice| dice.one(&[size + 1, size + 100, 1 << 20, 1 << 31, u32::MAX]).unwrap_or(0);
    declares(file, dice, lie, &[Code::ContainerLength, Code::ContainerDeclared, Code::OverLimit])
}

fn declared_size_too_small(file: &File, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    declares(file, dice, |size, dice| dice.below(size as usize) as u32, &[Code::ContainerLength])
}

fn container_mode_unknown(file: &File, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (n, block) = block(file, dice)?;
    let mut bytes = block.container.clone();
    bytes[0] = dice.within(4, 255) as u8;
    (block.mode != Mode::Headerless).then(|| container(file, n, &bytes, &[Code::ContainerMode]))?
}

fn container_empty(file: &File, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (n, _) = block(file, dice)?;
    // A size of zero with nothing but zeros behind it.
    container(file, n, &[], &[Code::BlockZeroed])
}

fn sector_lost(file: &File, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    file.blocks.last()?;
    let lost = dice.below(file.sectors());
    last_is_cut(file, spliced(bytes, file.sector(lost)..file.sector(lost + 1), &[]))
}

/// Some sector of a block twice: the block behind it is no longer where its entry says.
fn sector_doubled(file: &File, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (n, block) = block(file, dice)?;
    let next = file.blocks.get(n + 1)?;
    // All of a block, in the sectors of the next: a whole block, although not that of the entry.
    if block.count == 1 {
        return None;
    }
    let doubled = block.first + dice.below(block.count);
    let twice = bytes[file.sector(doubled)..file.sector(doubled + 1)].to_vec();
    let start = file.sector(doubled);
    let damaged = spliced(bytes.clone(), start..start, &twice);
    another_start(file, &bytes, damaged, next)
}

/// The first sectors of two blocks in each other's place.
fn sectors_swapped(file: &File, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let ((_, a), (_, b)) = (block(file, dice)?, block(file, dice)?);
    // All of both, each at the other's place.
    if a.count == 1 && b.count == 1 {
        return None;
    }
    let [of_a, of_b] = [a, b].map(|block| file.sector(block.first)..file.sector(block.first + 1));
    let damaged = spliced(bytes.clone(), of_a.clone(), &bytes[of_b.clone()]);
    let damaged = spliced(damaged, of_b, &bytes[of_a]);
    another_start(file, &bytes, damaged, a)
}

/// A block begins with another size than its own, so that whatever follows is not what it should be. With the same size
/// before it, it may be whole: nothing shows whose data it is.
fn another_start(file: &File, healthy: &[u8], damaged: Vec<u8>, block: &Stored) -> Option<Case> {
    let start = file.sector(block.first);
    if healthy[start..start + 4] == damaged[start..start + 4] {
        return None;
    }
    let place = Place::Touching(file.span(block.first, block.count));
    Some(Case::of(damaged, &[], place).of_block(block.position))
}

fn sectors_zeroed(file: &File, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (_, block) = block(file, dice)?;
    let (start, end) = (file.sector(block.first), file.sector(block.first + block.count));
    bytes[start..end].fill(0);
    at(bytes, Code::BlockZeroed, start, end).map(|case| case.of_block(block.position))
}

fn block_epilogue_changed(file: &File, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    inside(file, bytes, dice, 0)
}

fn block_damaged(file: &File, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let version = file.blocks.first()?.plain.block.version;
    let kind = dice.below(block_kinds::of(version));
    inside(file, bytes, dice, kind)
}

/// A block with damage of its own, packed as it was: it is reported at the same bytes, of this block.
fn inside(file: &File, _: Vec<u8>, dice: &mut Dice, kind: usize) -> Option<Case> {
    let (n, block) = block(file, dice)?;
    // A headerless container is known by the epilogue of its block.
    if block.mode == Mode::Headerless {
        return None;
    }
    let plain = (block_kinds::ALL[kind].1)(&block.plain, block.plain.written.bytes.clone(), dice)?;
    let container = packed(block.mode, &plain.bytes);
    // What decompresses to nothing is left to the container.
    if plain.bytes.is_empty() || (container.len() + 4).div_ceil(file.format.sector_size as usize) > 255 {
        return None;
    }
    let bytes = file.bytes_with(|other| (other == n).then(|| container.clone()));
    let of_block = |expected: Expected| Expected { whose: Some(Whose::Block(block.position)), ..expected };
    Some(Case { bytes, expected: plain.expected.into_iter().map(of_block).collect() })
}

/// The file with other values in a channel of a block; `None` where the block is too large for an entry then.
fn with_channel(file: &File, n: usize, index: usize, raw: bool, data: Vec<u8>) -> Option<Vec<u8>> {
    let stored = file.blocks.get(n)?;
    let mut block = stored.plain.block.clone();
    let channel = block.channels.get_mut(index)?;
    (channel.raw, channel.data) = (raw, data);
    let container = packed(stored.mode, &write(&block).bytes);
    let sectors = (container.len() + 4).div_ceil(file.format.sector_size as usize);
    (sectors < 256).then(|| file.bytes_with(|other| (other == n).then(|| container.clone())))
}

/// Distances of 16 bits that rise evenly, as a big-endian machine stores them. Fewer than 64 values show nothing.
fn values_in_big_endian_order(file: &File, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (n, block) = block(file, dice)?;
    if file.format.block_size_po2 != 2 || file.format.depths[SDF] != Depth::Bits16 {
        return None;
    }
    // With an even step, fewer lower bytes differ than show an order.
    let (start, step) = (dice.within(0, 1000), dice.within(16, 29) * 2 + 1);
    let distances = (0..64).flat_map(|n| ((start + n * step) as u16).to_be_bytes()).collect();
    let bytes = with_channel(file, n, SDF, true, distances)?;
    Some(Case::of(bytes, &[Code::BlockByteOrder], Place::Field("raw values")).of_block(block.position))
}

/// Floats that rise evenly, as a big-endian machine stores them. As little-endian floats they are huge or tiny, by their last byte.
fn floats_in_big_endian_order(file: &File, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (n, block) = block(file, dice)?;
    let step = dice.within(1, 60) as f64 / 16.0;
    let last = dice.one(&[0x10u8, 0x20, 0x60, 0x7e, 0x90, 0xe0])?;
    let values = (0..64).map(|n| (f64::from(n) - 20.5) * step);
    let distances = match file.format.depths[SDF] {
        _ if file.format.block_size_po2 != 2 => return None,
        Depth::Bits32 => {
            values.flat_map(|value| ((value as f32).to_bits() & !0xff | u32::from(last)).to_be_bytes()).collect()
        }
        Depth::Bits64 => values.flat_map(|value| (value.to_bits() & !0xff | u64::from(last)).to_be_bytes()).collect(),
        _ => return None,
    };
    let bytes = with_channel(file, n, SDF, true, distances)?;
    Some(Case::of(bytes, &[Code::BlockByteOrder], Place::Field("raw values")).of_block(block.position))
}

/// Four indices of 4 bits, two of which are the same.
fn texture_repeated(file: &File, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (n, block) = block(file, dice)?;
    let is_mixel4 = [INDICES, WEIGHTS].iter().all(|channel| file.format.depths[*channel] == Depth::Bits16);
    if !is_mixel4 || block.plain.block.version < 3 {
        return None;
    }
    let indices = dice.one(&[0x1233u16, 0x1323, 0x3123, 0x1332, 0x3132, 0x3312])?;
    let bytes = with_channel(file, n, INDICES, false, indices.to_le_bytes().to_vec())?;
    Some(Case::of(bytes, &[Code::TexturesRepeat], Place::Field("INDICES")).of_block(block.position))
}

/// Bytes behind the last block are normal, and said to be there.
fn stale_tail(_: &File, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let end = bytes.len();
    bytes.extend(vec![dice.within(1, 255) as u8; dice.within(1, 2000)]);
    let all = bytes.len();
    at(bytes, Code::StaleTail, end, all)
}
