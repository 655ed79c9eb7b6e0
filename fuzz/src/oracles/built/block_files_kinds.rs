//! The kinds of damage of a save of block files.
//!
//! Not among them, because nothing shows them: a file that is gone beside others of its LOD, two files with each other's names (a block does not say
//! where it belongs).

use voxscope::damage::{Code, Space};
use voxscope::godot::container::Mode;

use super::block_files::{BlockFiles, File, Form};
use super::container::packed;
use super::{Case, Dice, Expected, Kind, Place, Whose, block_kinds};
use crate::oracles::block_files::Files;

pub(super) const ALL: [Kind<BlockFiles>; 21] = [
    Kind { name: "meta_magic_changed", apply: meta_magic_changed },
    Kind { name: "meta_version_unknown", apply: meta_version_unknown },
    Kind { name: "meta_cut", apply: meta_cut },
    Kind { name: "meta_trailing", apply: meta_trailing },
    Kind { name: "meta_lod_count_impossible", apply: meta_lod_count },
    Kind { name: "meta_block_size_impossible", apply: meta_block_size },
    Kind { name: "meta_depth_impossible", apply: meta_depth },
    Kind { name: "meta_missing", apply: meta_missing },
    Kind { name: "lod_beyond_the_count", apply: lod_beyond_the_count },
    Kind { name: "name_without_a_position", apply: name_without_a_position },
    Kind { name: "file_of_another_program", apply: file_of_another_program },
    Kind { name: "header_cut", apply: header_cut },
    Kind { name: "magic_changed", apply: magic_changed },
    Kind { name: "version_unknown", apply: version_unknown },
    Kind { name: "size_too_large", apply: size_too_large },
    Kind { name: "size_too_small", apply: size_too_small },
    Kind { name: "block_cut", apply: block_cut },
    Kind { name: "block_trailing", apply: block_trailing },
    Kind { name: "container_mode_unknown", apply: container_mode_unknown },
    Kind { name: "block_damaged", apply: block_damaged },
    Kind { name: "lod_without_files", apply: lod_without_files },
];

fn at(files: &Files, code: Code, start: usize, end: usize) -> Option<Case> {
    Some(Case::at(files.join(), code, Space::File, start, end))
}

fn anywhere(files: &Files, code: Code) -> Option<Case> {
    Some(Case::of(files.join(), &[code], Place::Anywhere))
}

/// The save with another meta file.
fn with_meta(save: &BlockFiles, change: impl FnOnce(&mut Vec<u8>)) -> Files {
    let mut files = save.files();
    if let Some(meta) = &mut files.meta {
        change(meta);
    }
    files
}

fn meta_magic_changed(save: &BlockFiles, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let files = with_meta(save, |meta| meta[dice.below(4)] ^= dice.within(1, 255) as u8);
    at(&files, Code::BlockFilesMeta, 0, 4)
}

fn meta_version_unknown(save: &BlockFiles, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let version = dice.one(&[0, 2, 3, 255])?;
    at(&with_meta(save, |meta| meta[4] = version), Code::BlockFilesMeta, 4, 5)
}

/// Lengths of the forms of a meta file.
const LENGTHS: [usize; 3] = [7, 15, 18];

/// A cut that leaves the length of another form may be healthy.
fn meta_cut(save: &BlockFiles, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let len = save.files().meta?.len();
    let end = dice.below(len);
    let files = with_meta(save, |meta| meta.truncate(end));
    (!LENGTHS.contains(&end)).then(|| anywhere(&files, Code::BlockFilesMeta))?
}

fn meta_trailing(save: &BlockFiles, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let more = vec![dice.below(256) as u8; dice.within(1, 40)];
    let files = with_meta(save, |meta| meta.extend(more));
    let len = files.meta.as_ref()?.len();
    (!LENGTHS.contains(&len)).then(|| anywhere(&files, Code::BlockFilesMeta))?
}

fn meta_lod_count(save: &BlockFiles, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let count = dice.one(&[0, 33, 34, 255])?;
    at(&with_meta(save, |meta| meta[5] = count), Code::BlockFilesMeta, 5, 6)
}

fn meta_block_size(save: &BlockFiles, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let end = if save.form == Form::Of2019 { 18 } else { 7 };
    // No power of two, and as a power of two too many.
    let size = dice.one(&[0, 9, 255])?;
    at(&with_meta(save, |meta| meta[6] = size), Code::BlockFilesMeta, 6, end)
}

fn meta_depth(save: &BlockFiles, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (field, code) = (7 + dice.below(8), dice.within(4, 255) as u8);
    let files = with_meta(save, |meta| meta.iter_mut().skip(field).take(1).for_each(|byte| *byte = code));
    (save.form == Form::Of2022).then(|| at(&files, Code::BlockFilesMeta, field, field + 1))?
}

fn meta_missing(save: &BlockFiles, _: Vec<u8>, _: &mut Dice) -> Option<Case> {
    save.blocks.first()?;
    let files = Files { meta: None, ..save.files() };
    Some(Case::of(files.join(), &[Code::BlockFilesMeta], Place::Field("file")))
}

fn block<'s>(save: &'s BlockFiles, dice: &mut Dice) -> Option<(usize, &'s File)> {
    let number = dice.below(save.blocks.len());
    save.blocks.get(number).map(|file| (number, file))
}

/// The save with another path for a file.
fn renamed(save: &BlockFiles, number: usize, path: &str) -> Files {
    let mut files = save.files();
    files.blocks[number].0 = path.into();
    files
}

fn lod_beyond_the_count(save: &BlockFiles, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (number, file) = block(save, dice)?;
    if save.lods > 31 {
        return None;
    }
    let lod = dice.within(save.lods.into(), 31) as u8;
    let files = renamed(save, number, &File { lod, ..file.clone() }.path());
    Some(Case::of(files.join(), &[Code::BlockFilesMeta], Place::Field("LOD")))
}

/// All files of a LOD are gone.
fn lod_without_files(save: &BlockFiles, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (_, file) = block(save, dice)?;
    let directory = format!("blocks/lod{}/", file.lod);
    let mut files = save.files();
    files.blocks.retain(|(path, _)| !path.starts_with(directory.as_bytes()));
    Some(Case::of(files.join(), &[Code::LodMissing], Place::Field("files of the LOD")))
}

fn name_without_a_position(save: &BlockFiles, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (number, file) = block(save, dice)?;
    let stem = dice.one(&["+0-1", "0-1+12", "+00-1+12", "-0+0+0", "+0-1+12 (1)", "+2147483648+0+0", "block"])?;
    anywhere(&renamed(save, number, &format!("blocks/lod{}/{stem}.vxb", file.lod)), Code::BlockFileName)
}

fn file_of_another_program(save: &BlockFiles, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (number, file) = block(save, dice)?;
    let path = dice.one(&[format!("blocks/lod{}/notes.txt", file.lod), "blocks/lod32/+0+0+0.vxb".to_owned()])?;
    anywhere(&renamed(save, number, &path), Code::NameForeign)
}

/// The save with another file of a block.
fn with_file(save: &BlockFiles, number: usize, file: Vec<u8>) -> Files {
    let mut files = save.files();
    files.blocks[number].1 = file;
    files
}

/// A block, and its file as it is changed.
fn changed<'s>(
    save: &'s BlockFiles,
    dice: &mut Dice,
    change: impl FnOnce(&mut Vec<u8>, &mut Dice),
) -> Option<(&'s File, Files)> {
    let (number, file) = block(save, dice)?;
    let mut bytes = File::around(&file.container);
    change(&mut bytes, dice);
    Some((file, with_file(save, number, bytes)))
}

fn header_cut(save: &BlockFiles, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (_, files) = changed(save, dice, |bytes, dice| bytes.truncate(dice.below(9)))?;
    Some(Case::of(files.join(), &[Code::BlockFileHeader], Place::Field("length")))
}

fn magic_changed(save: &BlockFiles, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (_, files) = changed(save, dice, |bytes, dice| bytes[dice.below(4)] ^= dice.within(1, 255) as u8)?;
    at(&files, Code::BlockFileHeader, 0, 4)
}

fn version_unknown(save: &BlockFiles, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let version = dice.one(&[0, 2, 3, 255])?;
    let (_, files) = changed(save, dice, |bytes, _| bytes[4] = version)?;
    at(&files, Code::BlockFileHeader, 4, 5)
}

fn size_too_large(save: &BlockFiles, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (file, files) = changed(save, dice, |bytes, dice| {
        let size = bytes.len() as u32 - 9;
        let more = dice.one(&[size + 1, size + 40, 1 << 24, u32::MAX]).unwrap_or(u32::MAX);
        bytes[5..9].copy_from_slice(&more.to_le_bytes());
    })?;
    at(&files, Code::BlockPrefix, 5, 9).map(|case| case.of_block(file.position))
}

fn size_too_small(save: &BlockFiles, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (number, file) = block(save, dice)?;
    let (size, mut bytes) = (dice.below(file.container.len()), File::around(&file.container));
    bytes[5..9].copy_from_slice(&(size as u32).to_le_bytes());
    let end = bytes.len();
    at(&with_file(save, number, bytes), Code::BlockFileTrailing, 9 + size, end)
}

fn block_cut(save: &BlockFiles, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (file, files) = changed(save, dice, |bytes, dice| {
        // Often by one byte, which is the bound.
        let most = bytes.len() - 9;
        let less = if dice.below(2) == 0 { 1 } else { dice.within(1, most) };
        bytes.truncate(bytes.len() - less);
    })?;
    at(&files, Code::BlockPrefix, 5, 9).map(|case| case.of_block(file.position))
}

fn block_trailing(save: &BlockFiles, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (number, file) = block(save, dice)?;
    let mut bytes = File::around(&file.container);
    let end = bytes.len();
    bytes.extend(vec![dice.below(256) as u8; dice.within(1, 600)]);
    let all = bytes.len();
    at(&with_file(save, number, bytes), Code::BlockFileTrailing, end, all)
}

fn container_mode_unknown(save: &BlockFiles, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let mode = dice.within(4, 255) as u8;
    let (file, files) = changed(save, dice, |bytes, _| bytes[9] = mode)?;
    let case = at(&files, Code::ContainerMode, 9, 10)?.of_block(file.position);
    // One without a mode begins with its size instead.
    (file.mode != Mode::Headerless).then_some(case)
}

/// A block with damage of its own, packed as it was: it is reported at the same bytes, of this block.
fn block_damaged(save: &BlockFiles, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (number, file) = block(save, dice)?;
    let kind = dice.below(block_kinds::of(file.plain.block.version));
    let plain = (block_kinds::ALL[kind].1)(&file.plain, file.plain.written.bytes.clone(), dice)?;
    // A headerless container is known by the epilogue of its block, and what decompresses to nothing has no block.
    if file.mode == Mode::Headerless || plain.bytes.is_empty() {
        return None;
    }
    let files = with_file(save, number, File::around(&packed(file.mode, &plain.bytes)));
    let of_block = |expected: Expected| Expected { whose: Some(Whose::Block(file.position)), ..expected };
    Some(Case { bytes: files.join(), expected: plain.expected.into_iter().map(of_block).collect() })
}
