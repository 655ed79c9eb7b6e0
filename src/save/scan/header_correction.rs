//! The header of a region file, corrected by what is in the file and by the other files: its sizes by the table and the places
//! of the blocks, its block size and depths by the blocks, which store their own.

use std::path::Path;

use crate::bytes::Span;
use crate::damage::{Code, Damage, Value};
use crate::godot::block::BlockLayout;
use crate::godot::channel::CHANNELS;
use crate::godot::region::{BLOCK_SIZE_PO2, Format, Header};
use crate::save::region::Region;
use crate::save::scan::header_sizes::{Sizes, with_right_sizes, with_sizes_of_most};
use crate::save::transfer::open_region;
use crate::save::view::Scratch;
use crate::save::{Options, RegionFile};
use crate::source::Source;

/// Blocks that are asked, spread over the table.
const ASKED: usize = 8;

/// The least share of the readable ones among them that must agree, as a fraction.
const AGREE: (usize, usize) = (3, 4);

/// The names of the region size and the sector size that the file's own table and blocks contradict.
const BY_BLOCKS: [&str; 2] = ["region size in blocks", "sector size"];

/// Those that most other files contradict.
const BY_MOST: [&str; 2] = ["region size in blocks, by other files", "sector size, by other files"];

/// Corrects the header of a file where its table and blocks contradict it; `outside` is the layout of the meta file.
pub(super) fn correct(
    file: &mut RegionFile,
    source: &impl Source,
    dir: &Path,
    outside: Option<&Format>,
    options: &Options,
) {
    let Some(header) = file.header.clone().filter(|header| header.version == 3) else { return };
    let format = with_right_sizes(source, &header, outside).unwrap_or(header.format);
    let by_sizes = if format == header.format { header.clone() } else { header.with_format(format) };
    let format = with_layout_of_blocks(file, dir, &by_sizes, outside, options).unwrap_or(format);
    if format == header.format {
        return;
    }
    replace(file, &header, format, BY_BLOCKS);
}

/// Gives a file the sizes of most others, unless its table fits better under its own.
pub(super) fn correct_by_most(file: &mut RegionFile, dir: &Path, most: Sizes) {
    let Some(header) = file.header.clone().filter(|header| header.version == 3) else { return };
    if let Some(format) = with_sizes_of_most(file, dir, &header, most) {
        replace(file, &header, format, BY_MOST);
    }
}

/// Gives a file a header with another format, and reports what differs.
fn replace(file: &mut RegionFile, header: &Header, format: Format, [region_size, sector_size]: [&'static str; 2]) {
    let old = &header.format;
    file.damage.retain(|damage| damage.code != Code::RegionTableCut);
    let mut differ = |at: u64, len: u64, field: &'static str, found: Value, expected: Value| {
        if found != expected {
            let damage = Damage::new(Code::RegionLayout, Span::sized(at, len), field);
            file.damage.push(damage.found(found).expected(expected));
        }
    };
    let number = |n: u32| Value::Number(n.into());
    let po2 = [old.block_size_po2, format.block_size_po2].map(|po2| number(po2.into()));
    differ(5, 1, "block size (power of two)", po2[0], po2[1]);
    differ(6, 3, region_size, Value::triple(old.region_size), Value::triple(format.region_size));
    for ((at, old), new) in (9..).zip(&old.depths).zip(&format.depths) {
        differ(at, 1, "depth of a channel", number(old.code().into()), number(new.code().into()));
    }
    differ(17, 2, sector_size, number(old.sector_size), number(format.sector_size));
    file.header = Some(header.with_format(format));
}

/// The format with the block size and the depths that the file's blocks have, if they differ from the header's.
fn with_layout_of_blocks(
    file: &RegionFile,
    dir: &Path,
    header: &Header,
    outside: Option<&Format>,
    options: &Options,
) -> Option<Format> {
    let of_header = header.format.layout();
    let of_meta = outside.map(Format::layout);
    if of_meta == Some(of_header) || !BLOCK_SIZE_PO2.contains(&header.format.block_size_po2) {
        return None;
    }
    let (own, n) = of_blocks(file, dir, header, options)?;
    let [size, ..] = own.size;
    // One block alone may be the damaged one.
    if own == of_header || own.size != [size; 3] || !size.is_power_of_two() || (n < 2 && of_meta != Some(own)) {
        return None;
    }
    Some(Format { block_size_po2: size.trailing_zeros() as u8, depths: own.depths, ..header.format })
}

/// The layout that most of the file's blocks have, and how many of those that were asked.
pub(crate) fn of_blocks(
    file: &RegionFile,
    dir: &Path,
    header: &Header,
    options: &Options,
) -> Option<(BlockLayout, usize)> {
    let (source, _) = open_region(&dir.join(&file.name)).ok()?;
    let region = Region::load(source, header.clone(), file.lod, file.position, options).ok()?;
    let mut scratch = Scratch::default();
    let mut found: Vec<(BlockLayout, usize)> = Vec::new();
    let mut readable = 0;
    for listed in region.entries.iter().step_by(region.entries.len().div_ceil(ASKED).max(1)) {
        let Ok(view) = region.view(listed.entry, &mut scratch) else { continue };
        let whole = view.container.is_some_and(|container| container.whole);
        // Blocks of version 1 do not store their layout.
        let block =
            view.block.filter(|b| whole && b.version > 1 && b.epilogue.is_some() && b.whole_channels() == CHANNELS);
        let Some(block) = block else { continue };
        let mut own = BlockLayout { size: block.size, ..region.header.format.layout() };
        for (depth, channel) in own.depths.iter_mut().zip(&block.channels) {
            *depth = channel.depth;
        }
        readable += 1;
        match found.iter_mut().find(|(other, _)| *other == own) {
            Some((_, n)) => *n += 1,
            None => found.push((own, 1)),
        }
    }
    let (share, of) = AGREE;
    found.into_iter().max_by_key(|(_, n)| *n).filter(|(_, n)| n * of >= readable * share)
}
