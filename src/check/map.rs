//! Rules over a voxel map: its description, the files that it names, and every voxel of its layers.

use std::sync::Arc;

use rayon::prelude::*;

use crate::bytes::Span;
use crate::check::{Inside, Level, Options, Report, Row, map_evidence};
use crate::damage::{Code, CodeSet};
use crate::limits::Limits;
use crate::printable::printable;
use crate::save::Save;
use crate::source::FileSource;
use crate::voxel_map::flags::Histogram;
use crate::voxel_map::grid::{BLOCK, Fault, Grid, Part};
use crate::voxel_map::map_json::{FILE_NAME, Layer, plain_name};
use crate::voxel_map::{Map, scan};

pub(super) fn check(save: &Save, map: &Map, options: &Options<'_>, report: &mut Report) {
    let deep = options.level >= Level::Decode;
    for damage in &map.damage {
        let remark =
            (deep && damage.code == Code::MapUnreadable).then(|| map_evidence::of_description(map, limits(save)));
        report.file(*damage, remark);
    }
    options.advance(map.len);
    if options.level == Level::Header {
        return;
    }
    let limits = limits(save);
    for layer in map.layers() {
        let grid = map.grid(layer, limits);
        for fault in &grid.faults {
            let more = if deep { map_evidence::of(map, layer, &grid, fault) } else { None };
            add(save, map, layer, fault, more, report);
        }
        if options.level < Level::Decode {
            report.stats.blocks += u64::from(grid.blocks().max(1));
            continue;
        }
        let go_on = |bytes| {
            options.advance(bytes);
            !options.cancelled()
        };
        let scanned = scan::scan(&grid, limits, &go_on);
        for fault in &scanned.faults {
            add(save, map, layer, fault, None, report);
        }
        report.stats.blocks += u64::from(grid.blocks().max(1));
        report.stats.stored_bytes += scanned.bytes;
        report.stats.plain_bytes += scanned.bytes;
        if options.cancelled() {
            break;
        }
    }
}

fn limits(save: &Save) -> &Limits {
    &save.options.limits
}

/// Adds a fault of a layer as a finding about the file it is in, with what else is known of it.
fn add(save: &Save, map: &Map, layer: &Layer, fault: &Fault, more: Option<String>, report: &mut Report) {
    let mut remark = fault.detail.clone().map(|detail| format!("{detail}.")).unwrap_or_default();
    let layer_name = printable(layer.name.as_deref().unwrap_or("without a name"));
    let space = if remark.is_empty() { "" } else { " " };
    remark.push_str(&format!("{space}Layer {layer_name}"));
    if fault.count > 1 {
        remark.push_str(&format!(", {} times", fault.count));
    }
    if let Some(first) = fault.first {
        let what = if fault.part == Part::Index { "block" } else { "cell" };
        let first_of = if fault.count > 1 { "first at" } else { "at" };
        remark.push_str(&format!(", {first_of} {what} {}", crate::printable::triple(first)));
    }
    remark.push('.');
    if let Some(more) = more {
        remark.push(' ');
        remark.push_str(&more);
    }
    report.of_file(part_name(save, map, layer, fault.part), fault.damage, Some(remark));
}

/// The file that a part of a layer is in, as it is shown.
fn part_name(save: &Save, map: &Map, layer: &Layer, part: Part) -> Arc<str> {
    let name = match part {
        Part::Map => None,
        Part::Data => layer.data_file.as_deref(),
        Part::Index => layer.index_file.as_deref(),
        Part::Depth => layer.depth_file.as_deref(),
    };
    let name = name.filter(|name| plain_name(name).is_ok()).unwrap_or(FILE_NAME);
    save.shown(&map.dir.join(name)).into()
}

/// The blocks of all layers with their flags; a dense layer is one row.
pub(super) fn rows(save: &Save, map: &Map, options: &Options<'_>) -> Vec<Row> {
    map.layers().flat_map(|layer| layer_rows(save, map, layer, options)).collect()
}

/// The blocks of one layer of a map with their flags; a dense layer is one row.
#[must_use]
pub fn layer_rows(save: &Save, map: &Map, layer: &Layer, options: &Options<'_>) -> Vec<Row> {
    let limits = &save.options.limits;
    let grid = map.grid(layer, limits);
    let file = part_name(save, map, layer, Part::Data);
    if grid.index.is_empty() {
        return dense_row(&grid, file, limits, options).into_iter().collect();
    }
    let blocks: Vec<(u32, [i32; 3])> = grid.index.rows().collect();
    blocks
        .into_par_iter()
        .filter(|_| !options.cancelled())
        .map_init(Default::default, |buffers, block| block_row(&grid, &file, block, buffers))
        .collect()
}

fn dense_row(grid: &Grid<FileSource>, file: Arc<str>, limits: &Limits, options: &Options<'_>) -> Option<Row> {
    let data = grid.data.as_ref()?;
    let counts = scan::scan(grid, limits, &|_| !options.cancelled()).counts;
    Some(row(file, 0, None, data.npy.data, counts))
}

fn block_row(
    grid: &Grid<FileSource>,
    file: &Arc<str>,
    (number, position): (u32, [i32; 3]),
    (bytes, voxels): &mut (Vec<u8>, Vec<u64>),
) -> Row {
    // What cannot be read counts nothing; `check` says why.
    let counts = grid.count_block(number, bytes, voxels).unwrap_or_default();
    row(Arc::clone(file), number, Some(position), grid.block_span(number), counts)
}

fn row(file: Arc<str>, slot: u32, position: Option<[i32; 3]>, span: Span, counts: Histogram) -> Row {
    Row {
        file,
        lod: 0,
        position,
        slot,
        sector: 0,
        sectors: 0,
        bytes: span.len(),
        plain: span.len(),
        version: None,
        container: None,
        codes: CodeSet::default(),
        flags: Some(Box::new(counts)),
        instances: None,
        known: Inside { size: position.map(|_| [BLOCK; 3]), ..Inside::NOTHING }.boxed(),
        key: None,
    }
}
