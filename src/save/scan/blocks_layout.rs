//! The layout that the blocks of a region file have. They store it themselves, so where a header differs from the meta
//! file, they tell which of the two is right.

use std::path::Path;

use crate::bytes::Span;
use crate::damage::{Code, Damage, Value};
use crate::godot::block::BlockLayout;
use crate::godot::channel::CHANNELS;
use crate::godot::region::{BLOCK_SIZE_PO2, Format};
use crate::save::region::Region;
use crate::save::transfer::open_region;
use crate::save::view::Scratch;
use crate::save::{Options, RegionFile};

/// Blocks that are asked, spread over the table.
const ASKED: usize = 8;

/// The least share of the readable ones among them that must agree, as a fraction.
const AGREE: (usize, usize) = (3, 4);

/// Takes the block size and the depths of a header from the file's blocks where they differ from it; `outside` is the
/// layout of the meta file, which is not doubted where the header has the same.
pub(super) fn correct(file: &mut RegionFile, dir: &Path, outside: Option<&Format>, options: &Options) {
    let Some(header) = file.header.as_ref().filter(|header| header.version == 3) else { return };
    let of_header = header.format.layout();
    let of_meta = outside.map(Format::layout);
    if of_meta == Some(of_header) || !BLOCK_SIZE_PO2.contains(&header.format.block_size_po2) {
        return;
    }
    let Some((own, n)) = of_blocks(file, dir, options) else { return };
    let [size, ..] = own.size;
    // One block alone may be the damaged one.
    if own == of_header || own.size != [size; 3] || !size.is_power_of_two() || (n < 2 && of_meta != Some(own)) {
        return;
    }
    let block_size_po2 = size.trailing_zeros() as u8;
    let contradicted = |at: u64, field: &'static str, header: u8, blocks: u8| {
        let (found, expected) = (Value::Number(header.into()), Value::Number(blocks.into()));
        (header != blocks)
            .then(|| Damage::new(Code::RegionLayout, Span::sized(at, 1), field).found(found).expected(expected))
    };
    let format = &header.format;
    let mut damage: Vec<Damage> = Vec::new();
    damage.extend(contradicted(5, "block size (power of two)", format.block_size_po2, block_size_po2));
    for ((at, header), own) in (9..).zip(&format.depths).zip(&own.depths) {
        damage.extend(contradicted(at, "depth of a channel", header.code(), own.code()));
    }
    let format = Format { block_size_po2, depths: own.depths, ..*format };
    file.damage.extend(damage);
    if let Some(header) = &mut file.header {
        header.format = format;
    }
}

/// The layout that most of the file's blocks have, and how many of those that were asked.
fn of_blocks(file: &RegionFile, dir: &Path, options: &Options) -> Option<(BlockLayout, usize)> {
    let header = file.header.clone()?;
    let (source, _) = open_region(&dir.join(&file.name)).ok()?;
    let region = Region::load(source, header, file.lod, file.position, options).ok()?;
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
