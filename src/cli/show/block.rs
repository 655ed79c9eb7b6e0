//! `show --block`: where a block is stored, its channels, its metadata, what is wrong with it.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::{Value as Json, json};
use voxscope::bytes::Span;
use voxscope::check::{BlockAt, Finding};
use voxscope::damage::Damage;
use voxscope::godot::block::Block;
use voxscope::godot::channel::{self, Channel, NAMES, SDF, TYPE};
use voxscope::godot::container::Container;
use voxscope::godot::metadata::Metadata;
use voxscope::godot::textures::{Textures, WEIGHTS, repeated, unpack};
use voxscope::picture::palette::Palette;
use voxscope::printable::triple;
use voxscope::save::{Kind, Scratch, View};

use super::{Format, FoundBlock, Request, metadata};
use crate::cli::exit::Failure;
use crate::cli::output::{Align, BOLD, count, grouped, table, write_table};

pub fn show(
    out: &mut impl Write,
    Request { arguments, names, subject }: &Request<'_>,
    place: &FoundBlock<'_>,
    scratch: &mut Scratch,
) -> Result<(), Failure> {
    let region = &place.region;
    let view = region
        .view(place.listed.entry, scratch)
        .map_err(|error| Failure::Failed(format!("{}: {error}", place.file)))?;
    let findings = findings(place, &view);
    if arguments.format != Format::Text {
        arguments.format.write(out, &to_json(place, &view, names, &super::findings_json(&findings, subject)))?;
        return Ok(());
    }
    head(out, place, &view)?;
    if let Some(block) = &view.block {
        channels(out, block, names)?;
        if let Some(metadata) = &block.metadata {
            writeln!(out)?;
            metadata::print(out, metadata)?;
        }
    }
    writeln!(out)?;
    super::print_findings_of_data(out, "block", &findings, subject)?;
    if arguments.hex {
        writeln!(out)?;
        super::print_hex(out, &region.source, &place.file, region.span(place.listed.entry))?;
    }
    Ok(())
}

/// The damage of a block, with what only its decoded values show.
pub fn damage_of(damage: &[Damage], block: Option<&Block<'_>>) -> impl Iterator<Item = Damage> {
    damage.iter().copied().chain(block.and_then(repeated))
}

fn findings(place: &FoundBlock<'_>, view: &View<'_>) -> Vec<Finding> {
    let file: std::sync::Arc<str> = place.file.as_str().into();
    let at = BlockAt { lod: place.lod, position: Some(place.position) };
    damage_of(view.damage, view.block.as_ref())
        .map(|damage| Finding::of_block(file.clone(), at, view.stored.span, damage))
        .collect()
}

fn head(out: &mut impl Write, place: &FoundBlock<'_>, view: &View<'_>) -> io::Result<()> {
    let entry = place.listed.entry;
    writeln!(out, "{BOLD}block {} of LOD {}{BOLD:#} · {}", triple(place.position), place.lod, place.file)?;
    if place.forest.kind == Kind::BlockFiles {
        writeln!(out, "  bytes {}", view.stored.span)?;
    } else {
        writeln!(
            out,
            "  slot {} · {} from sector {} · bytes {}",
            place.listed.slot,
            count(entry.count().into(), "sector"),
            entry.first(),
            view.stored.span,
        )?;
    }
    if let Some(container) = &view.container {
        let mode = container.mode.map_or("unknown container", |mode| mode.name());
        let whole = if container.whole { "" } else { ", not whole" };
        writeln!(
            out,
            "  {mode} · {} stored, {} decompressed{whole}",
            count(view.stored.span.len().saturating_sub(4), "byte"),
            grouped(container.plain.len() as u64),
        )?;
    }
    if let Some(block) = &view.block {
        let [x, y, z] = block.size;
        writeln!(out, "  version {} · {x} x {y} x {z} voxels", block.version)?;
    }
    Ok(())
}

pub fn channels(out: &mut impl Write, block: &Block<'_>, names: &Palette) -> io::Result<()> {
    let columns = [
        ("  channel", Align::Left),
        ("depth", Align::Right),
        ("storage", Align::Left),
        ("values", Align::Right),
        ("from", Align::Right),
        ("to", Align::Right),
        ("", Align::Left),
    ];
    let mut rows = table(&columns);
    for (i, channel) in block.channels.iter().enumerate() {
        let range = channel.range();
        let [from, to] = range.map_or(["-".to_owned(), "-".to_owned()], |r| [r.min, r.max].map(|n| n.to_string()));
        let mut remark = String::new();
        if let Some([low, high]) = (i == SDF).then(|| sdf_range(block.version, channel)).flatten() {
            remark = format!("distance {low:.3} to {high:.3}");
        }
        if let Some(names) = (i == TYPE).then(|| names_of(channel, names)).filter(|names| !names.is_empty()) {
            let first = names.iter().take(NAMES_SHOWN).map(|(id, name)| format!("{id} {name}")).collect::<Vec<_>>();
            let more = names.len().checked_sub(NAMES_SHOWN + 1).map(|n| format!(" and {} more", grouped(n as u64 + 1)));
            remark = first.join(", ") + &more.unwrap_or_default();
        }
        if let Some(words) = textures_of(block, i).filter(|_| channel.is_whole()) {
            remark = words;
        }
        if !channel.is_whole() {
            let there = count(channel.data.len() as u64, "byte");
            remark = format!("cut short: {there} of {}", grouped(channel.size));
        }
        rows.add_row([
            format!("  {i} {}", NAMES.get(i).unwrap_or(&"")),
            channel.depth.to_string(),
            channel.storage.name().to_owned(),
            range.map_or_else(|| "-".to_owned(), |r| grouped(r.distinct as u64)),
            from,
            to,
            remark,
        ]);
    }
    writeln!(out)?;
    write_table(out, &rows)
}

/// Names in the table of channels, at most.
const NAMES_SHOWN: usize = 6;

/// Which textures INDICES holds, or which weights WEIGHTS, in words; `None` for other channels.
fn textures_of(block: &Block<'_>, channel: usize) -> Option<String> {
    let textures = Textures::of_block(block).filter(|textures| textures.is_in(channel))?;
    let values = block.channels.get(channel)?.values();
    let mut found: Vec<u8> = match textures {
        Textures::Mixel4 => values.flat_map(unpack).collect(),
        Textures::Single => values.filter_map(|value| u8::try_from(value).ok()).collect(),
    };
    found.sort_unstable();
    found.dedup();
    let (first, last) = (found.first()?, found.last()?);
    if channel == WEIGHTS {
        return Some(format!("{}: weights {first} to {last} of 15", textures.name()));
    }
    let listed: Vec<String> = found.iter().take(TEXTURES_SHOWN).map(u8::to_string).collect();
    let more = found
        .len()
        .checked_sub(TEXTURES_SHOWN + 1)
        .map(|n| format!(" and {} more", grouped(n as u64 + 1)))
        .unwrap_or_default();
    let s = if found.len() == 1 { "" } else { "s" };
    Some(format!("{}: texture{s} {}{more}", textures.name(), listed.join(", ")))
}

/// Textures in the table of channels, at most: all of Mixel4.
const TEXTURES_SHOWN: usize = 16;

/// The types in a channel that have names, by id.
fn names_of<'n>(channel: &Channel<'_>, names: &'n Palette) -> BTreeMap<u64, &'n str> {
    if names.types.is_empty() {
        return BTreeMap::new();
    }
    channel.values().filter_map(|value| Some((value, names.name(value)?))).collect()
}

/// The smallest and the largest distance in a channel, as the engine converts them. Fixed-point values are signed, so
/// the order of distances is not that of raw values.
fn sdf_range(version: u8, channel: &Channel<'_>) -> Option<[f64; 2]> {
    let mut values = channel.values().map(|raw| channel::sdf(version, channel.depth, raw));
    let first = values.next()?;
    Some(values.fold([first; 2], |[low, high], n| [low.min(n), high.max(n)]))
}

fn to_json(place: &FoundBlock<'_>, view: &View<'_>, names: &Palette, findings: &Json) -> Json {
    let entry = place.listed.entry;
    let container = view.container.as_ref().map(container_json);
    let block = view.block.as_ref();
    let channels = block.map(|block| channels_json(block, names));
    let span = |span: Span| json!([span.start, span.end]);
    json!({
        "file": place.file,
        "lod": place.lod,
        "position": place.position,
        "slot": place.listed.slot,
        "sector": entry.first(),
        "sectors": entry.count(),
        "bytes": span(view.stored.span),
        "container": container,
        "version": block.map(|block| block.version),
        "size": block.map(|block| block.size),
        "channels": channels,
        "metadata": block.and_then(|block| block.metadata.as_ref()).map(Metadata::to_json),
        "findings": findings,
    })
}

/// The name of a compression.
pub fn container_json(container: &Container<'_>) -> Json {
    json!({
        "mode": container.mode.map(|mode| mode.name()),
        "declared": container.declared,
        "plain": container.plain.len(),
        "whole": container.whole,
    })
}

/// The channels of a block.
pub fn channels_json(block: &Block<'_>, names: &Palette) -> Vec<Json> {
    let channels = block.channels.iter().enumerate();
    channels.map(|(i, channel)| channel_json(block.version, i, channel, names)).collect()
}

fn channel_json(version: u8, index: usize, channel: &Channel<'_>, names: &Palette) -> Json {
    let range = channel.range();
    let sdf = (index == SDF).then(|| sdf_range(version, channel)).flatten();
    json!({
        "index": index,
        "name": NAMES.get(index),
        "depth_bits": channel.depth.bits(),
        "storage": channel.storage.name(),
        "min": range.map(|r| r.min),
        "max": range.map(|r| r.max),
        "distinct": range.map(|r| r.distinct),
        "sdf": sdf.map(|range| range.map(number)),
        "names": (index == TYPE).then(|| names_of(channel, names)),
        "whole": channel.is_whole(),
    })
}

/// A number as JSON; text where JSON has none (infinities, NaN).
pub fn number(n: f64) -> Json {
    serde_json::Number::from_f64(n).map_or_else(|| Json::String(n.to_string()), Json::Number)
}
