//! Rules over a voxel map: its description, the files that it names, and every voxel of its layers.

mod evidence;
mod layers;

use std::sync::Arc;

use crate::bytes::Span;
use crate::check::{Inside, Level, Options, Report, Row};
use crate::damage::{Code, CodeSet};
use crate::limits::Limits;
use crate::parallel;
use crate::printable::printable;
use crate::save::Save;
use crate::source::FileSource;
use crate::voxel_map::flags::Histogram;
use crate::voxel_map::grid::{BLOCK, BLOCK_VOXELS, Fault, Grid, LayerFile};
use crate::voxel_map::map_json::{FILE_NAME, Layer, plain_name};
use crate::voxel_map::{Map, scan};

pub(super) fn check(save: &Save, map: &Map, options: &Options<'_>, report: &mut Report) {
    let deep = options.level >= Level::Decode;
    let layer_words = |number: usize| match map.layers().nth(number).and_then(|layer| layer.name.as_deref()) {
        Some(name) => format!("The layer is {}.", printable(name)),
        None => format!("The layer has no name; its number is {number}."),
    };
    for damage in &map.damage {
        let remark = match damage.code {
            Code::MapUnreadable if deep => Some(evidence::of_description(map, limits(save))),
            Code::MapField | Code::MapFormat => map.layer_of(damage).map(layer_words),
            _ => None,
        };
        report.file(*damage, remark);
    }
    layers::check_description(map, report);
    layers::check_files(save, map, report);
    options.advance(map.len);
    if options.level == Level::Header {
        return;
    }
    let limits = limits(save);
    let mut first = None;
    for layer in map.layers() {
        let grid = map.grid(layer, limits);
        if let Some(damage) = layers::compare_type(&grid, &mut first) {
            add(save, map, layer, &Fault::new(LayerFile::Data, damage), None, report);
        }
        for fault in &grid.faults {
            let more = if deep { evidence::describe_fault(map, layer, &grid, fault) } else { None };
            add(save, map, layer, fault, more, report);
        }
        if options.level < Level::Decode {
            report.stats.blocks += u64::from(grid.listed());
            continue;
        }
        let scanned = scan::scan(&grid, limits, &options.watch);
        for fault in &scanned.faults {
            add(save, map, layer, fault, None, report);
        }
        layers::compare(map, layer, &grid, limits, report);
        report.stats.blocks += u64::from(grid.listed());
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

/// Adds a fault of a layer as a finding about its file, with further information.
fn add(save: &Save, map: &Map, layer: &Layer, fault: &Fault, more: Option<String>, report: &mut Report) {
    let names_file = matches!(fault.damage.code, Code::MapFileMissing | Code::MapFileName);
    let subject = if names_file { "The file is " } else { "" };
    let mut remark = fault.detail.as_ref().map(|detail| format!("{subject}{detail}.")).unwrap_or_default();
    let layer_name = printable(layer.name.as_deref().unwrap_or("without a name"));
    let space = if remark.is_empty() { "" } else { " " };
    remark.push_str(&format!("{space}Layer {layer_name}"));
    if fault.count > 1 {
        remark.push_str(&format!(", {} times", fault.count));
    }
    if let Some(first) = fault.first {
        let what = if fault.part == LayerFile::Index { "block" } else { "cell" };
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

/// The printable name of a layer's file.
pub(crate) fn part_name(save: &Save, map: &Map, layer: &Layer, part: LayerFile) -> Arc<str> {
    let name = match part {
        LayerFile::Map => None,
        LayerFile::Data => layer.data_file.as_deref(),
        LayerFile::Index => layer.index_file.as_deref(),
        LayerFile::Depth => layer.depth_file.as_deref(),
    };
    let name = name.filter(|name| plain_name(name).is_ok()).unwrap_or(FILE_NAME);
    save.shown(&map.dir.join(name)).into()
}

/// Rows for the blocks of all layers with their flags; a dense layer is one row.
pub(super) fn rows(save: &Save, map: &Map, options: &Options<'_>) -> Vec<Row> {
    map.layers().flat_map(|layer| layer_rows(save, map, layer, options)).collect()
}

/// Rows for the blocks of one layer with their flags; a dense layer is one row.
#[must_use]
pub fn layer_rows(save: &Save, map: &Map, layer: &Layer, options: &Options<'_>) -> Vec<Row> {
    let limits = &save.options.limits;
    let grid = map.grid(layer, limits);
    let file = part_name(save, map, layer, LayerFile::Data);
    if grid.index.is_empty() {
        return dense_row(&grid, file, limits, options).into_iter().collect();
    }
    let blocks: Vec<(u32, [i32; 3])> = grid.index.rows().collect();
    let rows = parallel::map_with(&blocks, |buffers: &mut (Vec<u8>, Vec<u64>), block| {
        (!options.cancelled()).then(|| block_row(&grid, &file, *block, buffers))
    });
    rows.into_iter().flatten().collect()
}

fn dense_row(grid: &Grid<FileSource>, file: Arc<str>, limits: &Limits, options: &Options<'_>) -> Option<Row> {
    let data = grid.data.as_ref()?;
    let counts = scan::scan(grid, limits, &options.watch.quiet()).counts;
    let row = row(file, 0, None, data.npy.data, counts);
    Some(Row { codes: codes_of_data(grid), ..row })
}

fn block_row(
    grid: &Grid<FileSource>,
    file: &Arc<str>,
    (number, position): (u32, [i32; 3]),
    (bytes, voxels): &mut (Vec<u8>, Vec<u64>),
) -> Row {
    // Blocks that cannot be read have no counts; `check` reports the reason.
    let counts = grid.count_block(number, bytes, voxels).unwrap_or_default();
    let row = row(Arc::clone(file), number, Some(position), grid.block_span(number), counts);
    let Some(data) = &grid.data else {
        // Without the array every block of it is lost.
        return Row { codes: codes_of_data(grid), offset: None, ..row };
    };
    // In Fortran order the voxels of a block are not in one piece.
    let bytes = (voxels.len() as u64).saturating_mul(data.npy.dtype.size());
    let offset = row.offset.filter(|_| !data.npy.fortran && bytes > 0);
    let codes = if (voxels.len() as u64) < BLOCK_VOXELS { codes_of_data(grid) } else { CodeSet::default() };
    Row { codes, offset, bytes, plain: bytes, ..row }
}

/// What is wrong with the array of a layer.
fn codes_of_data(grid: &Grid<FileSource>) -> CodeSet {
    let mut codes = CodeSet::default();
    let is_damage =
        |fault: &&Fault| fault.part == LayerFile::Data && fault.damage.code.level() > crate::damage::Level::Note;
    grid.faults.iter().filter(is_damage).for_each(|fault| codes.insert(fault.damage.code));
    codes
}

fn row(file: Arc<str>, slot: u32, position: Option<[i32; 3]>, span: Span, counts: Histogram) -> Row {
    Row {
        file,
        lod: 0,
        position,
        slot,
        sector: Some(0),
        sectors: 0,
        offset: Some(span.start),
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
