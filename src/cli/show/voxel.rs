//! `show --voxel`: every channel of one voxel of the world, and its metadata.

use std::io::Write;

use serde_json::json;
use voxscope::godot::block::Block;
use voxscope::godot::channel::{self, NAMES, SDF, TYPE};
use voxscope::godot::textures::{INDICES, Textures, WEIGHTS, unpack};
use voxscope::picture::palette::Palette;
use voxscope::printable::triple;
use voxscope::save::Scratch;

use super::block::number;
use super::{Format, FoundBlock, Which, metadata, side};
use crate::cli::exit::Failure;
use crate::cli::output::{Align, BOLD, table, write_table};

/// Position of the block of `lod` that contains a voxel of the world; blocks have `side` voxels along an axis.
pub fn block_of(voxel: [i32; 3], lod: u8, side: u16) -> [i32; 3] {
    in_lod(voxel, lod).map(|v| v.div_euclid(i32::from(side)))
}

/// Position in voxels of a LOD; each of them covers 2^lod voxels of the world along an axis.
fn in_lod(voxel: [i32; 3], lod: u8) -> [i32; 3] {
    voxel.map(|v| v >> u32::from(lod).min(31))
}

pub fn show(
    out: &mut impl Write,
    format: Format,
    place: &FoundBlock<'_>,
    voxel: [i32; 3],
    names: &Palette,
    scratch: &mut Scratch,
) -> Result<(), Failure> {
    let failed = |what: &str| Failure::Failed(format!("{}, block {}: {what}", place.file, triple(place.position)));
    let view = place.region.view(place.listed.entry, scratch).map_err(|error| failed(&error.to_string()))?;
    let block = view.block.ok_or_else(|| failed("it cannot be read; `show --block` gives the reason"))?;
    let which = Which { file: &place.file, lod: place.lod, position: place.position, names };
    of_block(out, format, &which, &block, voxel, side(place.forest).unwrap_or(1), !view.damage.is_empty())
}

/// Position of a voxel inside its block of `side` voxels along an axis.
pub fn of_block(
    out: &mut impl Write,
    format: Format,
    which: &Which<'_>,
    block: &Block<'_>,
    voxel: [i32; 3],
    side: u16,
    damaged: bool,
) -> Result<(), Failure> {
    let inside = in_lod(voxel, which.lod).map(|v| u16::try_from(v.rem_euclid(side.into())).unwrap_or(u16::MAX));
    match format {
        Format::Text => print(out, which, block, voxel, inside, damaged)?,
        _ => format.write(out, &to_json(which, block, voxel, inside, damaged))?,
    }
    Ok(())
}

fn print(
    out: &mut impl Write,
    place: &Which<'_>,
    block: &Block<'_>,
    voxel: [i32; 3],
    inside: [u16; 3],
    damaged: bool,
) -> std::io::Result<()> {
    writeln!(
        out,
        "{BOLD}voxel {}{BOLD:#} · {} in block {} of LOD {} · {}",
        triple(voxel),
        triple(inside),
        triple(place.position),
        place.lod,
        place.file,
    )?;
    writeln!(out)?;
    let columns = [
        ("  channel", Align::Left),
        ("depth", Align::Right),
        ("value", Align::Right),
        ("hex", Align::Right),
        ("", Align::Left),
    ];
    let mut rows = table(&columns);
    for (i, channel) in block.channels.iter().enumerate() {
        let value = block.voxel(i, inside);
        let distance = value.filter(|_| i == SDF).map(|raw| channel::sdf(block.version, channel.depth, raw));
        rows.add_row([
            format!("  {i} {}", NAMES.get(i).unwrap_or(&"")),
            channel.depth.to_string(),
            value.map_or_else(|| "cut off".to_owned(), |n| n.to_string()),
            value.map_or_else(String::new, |n| format!("0x{n:x}")),
            distance
                .map(|n| format!("distance {n:.4}"))
                .or_else(|| Textures::of_block(block)?.describe(i, value?))
                .or_else(|| name(place, i, value?).map(str::to_owned))
                .unwrap_or_default(),
        ]);
    }
    write_table(out, &rows)?;
    let items = block.metadata.iter().flat_map(|m| m.voxels.iter().map(move |item| (m.dialect, item)));
    for (dialect, item) in items.filter(|(_, item)| item.position == inside) {
        writeln!(out)?;
        metadata::item(out, "  ", "metadata", &item.item, dialect)?;
    }
    if damaged {
        writeln!(out, "\n  This block is damaged: `show --block` lists the findings.")?;
    }
    Ok(())
}

/// Whether a channel holds four values of 4 bits.
fn is_mixel4(block: &Block<'_>, channel: usize) -> bool {
    Textures::of_block(block) == Some(Textures::Mixel4) && (channel == INDICES || channel == WEIGHTS)
}

/// The name of a value of TYPE.
fn name<'a>(place: &Which<'a>, channel: usize, value: u64) -> Option<&'a str> {
    place.names.name(value).filter(|_| channel == TYPE)
}

fn to_json(
    place: &Which<'_>,
    block: &Block<'_>,
    voxel: [i32; 3],
    inside: [u16; 3],
    damaged: bool,
) -> serde_json::Value {
    let channels = block.channels.iter().enumerate().map(|(i, channel)| {
        let value = block.voxel(i, inside);
        let distance = value.filter(|_| i == SDF).map(|raw| channel::sdf(block.version, channel.depth, raw));
        json!({
            "index": i,
            "name": NAMES.get(i),
            "depth_bits": channel.depth.bits(),
            "value": value,
            "value_name": value.and_then(|value| name(place, i, value)),
            "sdf": distance.map(number),
            "unpacked": value.filter(|_| is_mixel4(block, i)).map(unpack),
        })
    });
    let items = block.metadata.iter().flat_map(|m| m.voxels.iter().map(move |item| (m.dialect, item)));
    let items = items.filter(|(_, item)| item.position == inside).map(|(dialect, item)| item.item.to_json(dialect));
    json!({
        "voxel": voxel,
        "file": place.file,
        "lod": place.lod,
        "block": place.position,
        "inside": inside,
        "channels": channels.collect::<Vec<_>>(),
        "metadata": items.collect::<Vec<_>>(),
        "block_damaged": damaged,
    })
}
