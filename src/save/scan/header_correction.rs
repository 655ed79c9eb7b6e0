//! The header of a region file, corrected by what is in the file. Where it differs from the meta file, the table and the
//! blocks show which of the two is right: the sizes of sectors and regions are right if the table fits the sectors, and
//! blocks store their own size and depths.

use std::path::Path;

use crate::bytes::{Span, index};
use crate::damage::{Code, Damage, Value};
use crate::godot::block::BlockLayout;
use crate::godot::channel::CHANNELS;
use crate::godot::region::{BLOCK_SIZE_PO2, Entry, Format, Header};
use crate::save::region::Region;
use crate::save::region_moved::first_beginning;
use crate::save::table_fits::fits;
use crate::save::transfer::open_region;
use crate::save::view::Scratch;
use crate::save::{Options, RegionFile};
use crate::source::Source;

/// Blocks that are asked, spread over the table.
const ASKED: usize = 8;

/// The largest region size that is looked for, as a power of two.
const MOST_SIZE_PO2: u32 = 7;

/// One in how many entries of a table may lead too far.
const ODD: u64 = 8;

/// The least share of the readable ones among them that must agree, as a fraction.
const AGREE: (usize, usize) = (3, 4);

/// Corrects the header of a file where its table and blocks contradict it; `outside` is the layout of the meta file, which is
/// not doubted where the header has the same.
pub(super) fn correct(file: &mut RegionFile, dir: &Path, outside: Option<&Format>, options: &Options) {
    let is_doubted = |header: &&Header| header.version == 3 && outside != Some(&header.format);
    let Some(header) = file.header.clone().filter(|header| is_doubted(&header)) else { return };
    let format = with_right_sizes(file, dir, &header, outside).unwrap_or(header.format);
    let by_sizes = if format == header.format { header.clone() } else { header.with_format(format) };
    let format = with_layout_of_blocks(file, dir, &by_sizes, outside, options).unwrap_or(format);
    if format == header.format {
        return;
    }
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
    differ(6, 3, "region size in blocks", Value::triple(old.region_size), Value::triple(format.region_size));
    for ((at, old), new) in (9..).zip(&old.depths).zip(&format.depths) {
        differ(at, 1, "depth of a channel", number(old.code().into()), number(new.code().into()));
    }
    differ(17, 2, "sector size", number(old.sector_size), number(format.sector_size));
    file.header = Some(header.with_format(format));
}

/// The format with the region size and the sector size of the meta file, or one of them, if the table fits the sectors only then. If
/// most entries fit in neither way, the first block must begin where the table ends only then.
fn with_right_sizes(file: &RegionFile, dir: &Path, header: &Header, outside: Option<&Format>) -> Option<Format> {
    let own = header.format;
    let sizes = outside.map(|outside| (outside.region_size, outside.sector_size));
    let is_no_help = |(region_size, sector_size): ([u16; 3], u32)| {
        (region_size, sector_size) == (own.region_size, own.sector_size) || sector_size == 0 || region_size.contains(&0)
    };
    if sizes.is_some_and(is_no_help) {
        return None;
    }
    let (source, _) = open_region(&dir.join(&file.name)).ok()?;
    let before = fits(&source, header).ok()?;
    let Some((region_size, sector_size)) = sizes else {
        return if before.most() { None } else { with_size_by_first_block(&source, header) };
    };
    let others =
        [Format { sector_size, ..own }, Format { region_size, ..own }, Format { region_size, sector_size, ..own }];
    let others = others.into_iter().filter(|other| *other != own);
    let fitting = others.clone().filter_map(|other| {
        let fits = fits(&source, &header.with_format(other)).ok()?;
        (fits.some() && fits.most() && fits.is_better_than(before)).then_some((fits.fitting, other))
    });
    let best = fitting.rev().max_by_key(|(fitting, _)| *fitting).map(|(_, format)| format);
    if best.is_some() || before.most() {
        return best;
    }
    // The engine puts the first block right behind the table, also where it was killed later.
    let first = |sector: u32| first_beginning(&source, header.table.start, sector).ok().flatten();
    let by_own = first(own.sector_size);
    let by_other = if sector_size == own.sector_size { by_own } else { first(sector_size) };
    let begins = |format: Format| {
        let found = if format.sector_size == own.sector_size { by_own } else { by_other };
        found == Some(header.with_format(format).sectors_at())
    };
    let mut others: Vec<Format> = others.filter(|other| begins(*other)).collect();
    others.dedup();
    if let [other] = others[..] { Some(other).filter(|_| !begins(own)) } else { None }
}

/// The format with the region size whose table ends where the first block begins: a cube, as the engine writes them. It is asked
/// only if most entries of the table do not fit and there is no meta file.
fn with_size_by_first_block(source: &impl Source, header: &Header) -> Option<Format> {
    let (start, sector) = (header.table.start, header.format.sector_size);
    let first = first_beginning(source, start, sector).ok()??;
    let entries = first.checked_sub(start).filter(|len| len % 4 == 0 && first != header.sectors_at())? / 4;
    let size = (1..=MOST_SIZE_PO2).map(|po2| 1u16 << po2).find(|size| u64::from(*size).pow(3) == entries)?;
    // Blocks before the first one that is found would not look like entries.
    let mut table = Vec::new();
    source.read_into(start, index(entries * 4), &mut table).ok()?;
    let sectors = source.len() / u64::from(sector).max(1);
    let words =
        table.as_chunks::<4>().0.iter().map(|word| Entry(u32::from_le_bytes(*word))).filter(|word| word.is_used());
    let (mut all, mut odd) = (0u64, 0u64);
    for entry in words {
        all += 1;
        odd += u64::from(entry.count() == 0 || u64::from(entry.first()) > sectors);
    }
    (all > 0 && odd * ODD <= all).then_some(Format { region_size: [size; 3], ..header.format })
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
