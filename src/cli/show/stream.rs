//! `show` for SQLite streams: a block, its instances, or a voxel.

use std::io::{self, Write};
use std::sync::Arc;

use serde_json::{Value as Json, json};
use voxscope::check::{BlockAt, Finding};
use voxscope::godot::instances::Instances;
use voxscope::godot::metadata::Metadata;
use voxscope::godot::stream::loc::{Key, Place};
use voxscope::picture::palette::Palette;
use voxscope::printable::{hex, printable, triple};
use voxscope::save::{InstancesView, Save, Stream, StreamFile, StreamRow, StreamScratch, View};
use voxscope::source::FileSource;

use super::block::{self, number};
use super::{Format, Request, Which, metadata, voxel};
use crate::cli::exit::Failure;
use crate::cli::output::{Align, BOLD, count, grouped, table, write_table};

/// Shows the requested block or voxel if the stream has it; returns how many were shown.
pub fn show(out: &mut impl Write, request: &Request<'_>, save: &Save, file: &StreamFile) -> Result<usize, Failure> {
    let Request { arguments, names, .. } = request;
    let name = save.shown(&file.path);
    let failed = |error: &dyn std::fmt::Display| Failure::Failed(format!("{name}: {error}"));
    let Some(stream) = save.stream(file, &mut Vec::new()).map_err(|error| failed(&error))? else { return Ok(0) };
    let side = stream.meta.block_size();
    let position = match arguments.voxel {
        None => arguments.block,
        Some(at) => side.map(|side| voxel::block_of(at, arguments.lod, side)),
    };
    let Some(position) = position else { return Ok(0) };
    let place = Place { lod: arguments.lod, position };
    let Some(row) = stream.find(place).and_then(|at| Some((at, stream.rows.get(at)?))) else { return Ok(0) };
    let mut scratch = StreamScratch::default();
    stream.fetch(&row.1, &mut scratch).map_err(|error| failed(&error))?;
    let which = Which { file: &name, lod: place.lod, position, names };
    match arguments.voxel.zip(side) {
        Some((at, side)) => {
            let view = stream.block(&mut scratch);
            let damaged = !view.damage.is_empty();
            let nothing = || failed(&format!("block {} has no voxels that can be read", triple(position)));
            let block = view.block.as_ref().ok_or_else(nothing)?;
            voxel::of_block(out, arguments.format, &which, block, at, side, damaged)?;
        }
        None => of_row(out, request, &stream, row, &which, &mut scratch)?,
    }
    Ok(1)
}

fn of_row(
    out: &mut impl Write,
    Request { arguments, subject, .. }: &Request<'_>,
    stream: &Stream<FileSource>,
    (number, row): (usize, StreamRow),
    which: &Which<'_>,
    scratch: &mut StreamScratch,
) -> Result<(), Failure> {
    let file: Arc<str> = which.file.into();
    let at = BlockAt { lod: which.lod, position: Some(which.position) };
    let mut faults = Vec::new();
    stream.faults(&row, scratch, &mut faults);
    let mut findings: Vec<Finding> =
        faults.into_iter().map(|d| Finding::of_block(file.clone(), at, d.span, d)).collect();
    let (key, parts) = (key_words(stream.key(scratch)), scratch.parts().to_vec());
    let human = arguments.format == Format::Text;
    let view = stream.block(scratch);
    let damage = block::damage_of(view.damage, view.block.as_ref());
    findings.extend(damage.map(|d| Finding::of_block(file.clone(), at, view.stored.span, d)));
    let mut json = json!({
        "file": which.file,
        "lod": which.lod,
        "position": which.position,
        "row": row.rowid,
        "slot": number,
        "key": key,
        "page": row.page,
        "bytes": parts.iter().map(|part| [part.start, part.end]).collect::<Vec<_>>(),
        "container": view.container.as_ref().map(block::container_json),
        "version": view.block.as_ref().map(|block| block.version),
        "size": view.block.as_ref().map(|block| block.size),
        "channels": view.block.as_ref().map(|block| block::channels_json(block, which.names)),
        "metadata": view.block.as_ref().and_then(|block| block.metadata.as_ref()).map(Metadata::to_json),
    });
    if human {
        writeln!(out, "{BOLD}block {} of LOD {}{BOLD:#} · {}", triple(which.position), which.lod, which.file)?;
        let overflow = match parts.len().saturating_sub(1) {
            0 => String::new(),
            n => format!(" and {}", count(n as u64, "overflow page")),
        };
        let bytes = parts.first().copied().unwrap_or_default();
        writeln!(out, "  row {} · key {key} · page {}{overflow} · bytes {bytes}", row.rowid, row.page)?;
        print_block(out, &view, which.names)?;
    }
    let view = stream.instances(scratch);
    findings.extend(view.damage.iter().map(|d| Finding::of_block(file.clone(), at, view.stored.span, *d)));
    if !human {
        if let Some(json) = json.as_object_mut() {
            json.insert("instances".to_owned(), instances_json(&view));
            json.insert("findings".to_owned(), super::findings_json(&findings, subject));
        }
        arguments.format.write(out, &json)?;
        return Ok(());
    }
    print_instances(out, &view)?;
    writeln!(out)?;
    super::print_findings(out, &findings, |code| voxscope::check::next_step(code, subject))?;
    if arguments.hex {
        for part in parts {
            writeln!(out)?;
            super::print_hex(out, &stream.pages.source, which.file, part)?;
        }
    }
    Ok(())
}

fn key_words(key: Key<'_>) -> String {
    match key {
        Key::Null => "NULL".to_owned(),
        Key::Int(n) => n.to_string(),
        Key::Float(n) => n.to_string(),
        Key::Text(bytes) => printable(&String::from_utf8_lossy(bytes)),
        Key::Blob(bytes) => hex(bytes),
    }
}

pub fn print_block(out: &mut impl Write, view: &View<'_>, names: &Palette) -> io::Result<()> {
    let Some(container) = &view.container else { return writeln!(out, "  no voxels") };
    let mode = container.mode.map_or("unknown container", |mode| mode.name());
    let whole = if container.whole { "" } else { ", not whole" };
    let stored = count(view.stored.size.unwrap_or(0).into(), "byte");
    writeln!(out, "  {mode} · {stored} stored, {} decompressed{whole}", grouped(container.plain.len() as u64))?;
    let Some(block) = &view.block else { return Ok(()) };
    let [x, y, z] = block.size;
    writeln!(out, "  version {} · {x} x {y} x {z} voxels", block.version)?;
    block::channels(out, block, names)?;
    if let Some(metadata) = &block.metadata {
        writeln!(out)?;
        metadata::print(out, metadata)?;
    }
    Ok(())
}

pub fn print_instances(out: &mut impl Write, view: &InstancesView<'_>) -> io::Result<()> {
    let Some(instances) = &view.instances else { return Ok(()) };
    let stored = count(view.stored.size.unwrap_or(0).into(), "byte");
    let layers = count(instances.layers.len() as u64, "layer");
    writeln!(out)?;
    writeln!(out, "  instances: version {} · {layers} · {stored} stored", instances.version)?;
    if instances.layers.is_empty() {
        return Ok(());
    }
    writeln!(out, "  positions are parts of {} voxels", instances.position_range)?;
    let columns = [
        ("  layer", Align::Right),
        ("instances", Align::Right),
        ("scale from", Align::Right),
        ("to", Align::Right),
        ("first position", Align::Left),
        ("", Align::Left),
    ];
    let mut rows = table(&columns);
    for layer in &instances.layers {
        let first = layer.instances().next().map(|instance| instance.position(instances.position_range));
        let cut = format!("cut short: {} of {}", layer.instances().len(), layer.count);
        rows.add_row([
            layer.id.to_string(),
            grouped(layer.count.into()),
            layer.scale_min.to_string(),
            layer.scale_max.to_string(),
            first.map_or_else(|| "-".to_owned(), |[x, y, z]| format!("({x:.2}, {y:.2}, {z:.2})")),
            if layer.is_whole() { String::new() } else { cut },
        ]);
    }
    write_table(out, &rows)
}

fn instances_json(view: &InstancesView<'_>) -> Json {
    let Some(container) = &view.container else { return Json::Null };
    json!({ "container": block::container_json(container), "data": view.instances.as_ref().map(data_json) })
}

pub fn data_json(instances: &Instances<'_>) -> Json {
    let layers = instances.layers.iter().map(|layer| {
        let all = layer.instances().map(|instance| {
            json!({
                "position": instance.position(instances.position_range).map(|n| number(n.into())),
                "scale": number(instance.scale(layer.scale_min, layer.scale_max).into()),
                "rotation": instance.rotation().map(|n| number(n.into())),
            })
        });
        json!({
            "id": layer.id,
            "count": layer.count,
            "scale_min": number(layer.scale_min.into()),
            "scale_max": number(layer.scale_max.into()),
            "instances": all.collect::<Vec<_>>(),
        })
    });
    json!({
        "version": instances.version,
        "position_range": number(instances.position_range.into()),
        "layers": layers.collect::<Vec<_>>(),
    })
}
