//! What commands that list or read blocks leave out of a file although it holds blocks, or may: they name it.

use serde::Serialize;

use crate::bytes::Span;
use crate::check::map::part_name;
use crate::check::pak::uncounted_words;
use crate::check::{self, Options, Report, region};
use crate::damage::{Code, Damage, Level};
use crate::pak::claims::Uncounted;
use crate::printable::{count, printable};
use crate::save::{Forest, Pak, Region, RegionFile, Save};
use crate::source::Source;
use crate::voxel_map::Map;
use crate::voxel_map::grid::{Grid, LayerFile};
use crate::voxel_map::map_json::{FILE_NAME, Format, Layer};

/// A file of which something is left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The file, below the save, made printable.
    pub file: String,
    /// What, and why, in words.
    pub why: String,
}

/// What is left out of a pak region: chunks whose records the header does not count. In words.
///
/// # Errors
/// I/O errors.
pub fn uncounted_chunks<S: Source>(pak: &Pak<S>) -> std::io::Result<Option<String>> {
    let words = |found: Uncounted| {
        let damage = Uncounted::damage(found.records, pak.header.records().value);
        format!("{damage}: {}", uncounted_words(found.chunks.into()).trim_end_matches('.'))
    };
    Ok(pak.uncounted()?.map(words))
}

/// What is left out of a region whose table has no entry in use: whole blocks after the table. In words.
#[must_use]
pub fn unlisted_blocks<S: Source>(region: &Region<S>) -> Option<String> {
    if !region.entries.is_empty() {
        return None;
    }
    let mut report = Report::new("".into(), region.lod, region.limits.findings_per_file);
    region::check(region, &Options::default().level(check::Level::Decode), &mut report, None);
    unlisted_blocks_in(&report)
}

/// The same by a report of a region, of a level that finds whole blocks, with its findings.
pub(super) fn unlisted_blocks_in(report: &Report) -> Option<String> {
    let damage = report.findings.iter().find(|finding| finding.code() == Code::TableEmpty)?.damage;
    let listed = report.findings.iter().filter(|finding| finding.code() == Code::BlockOrphan).count() as u64;
    let blocks = listed + report.cut(Code::BlockOrphan);
    let are = if blocks == 1 { "is" } else { "are" };
    Some(format!("{damage}: {} {are} left out", count(blocks, "whole block")))
}

/// The same of all region files of a forest.
#[must_use]
pub fn unlisted_blocks_of(save: &Save, forest: &Forest) -> Vec<LeftOut> {
    let of_file = |file: &RegionFile| {
        // What cannot be opened is named as such.
        let region = save.region(forest, file).ok().flatten()?;
        Some(LeftOut { file: save.shown(&forest.dir.join(&file.name)), why: unlisted_blocks(&region)? })
    };
    forest.regions.iter().filter_map(of_file).collect()
}

/// What is left out of a voxel map: all of it if its description cannot be read, otherwise the layers of which no voxel can be located.
#[must_use]
pub fn unread_layers(save: &Save, map: &Map) -> Vec<LeftOut> {
    if map.data.is_none() {
        return vec![unread_map(save, map)];
    }
    let unread = |layer: &Layer| unread_layer(save, map, layer, &map.grid(layer, &save.options.limits));
    map.layers().filter_map(unread).collect()
}

/// What is left out of a stream: rows on so many pages of tables that cannot be read, or so many rows that an index names and that
/// cannot be read. In words.
#[must_use]
pub fn unread_rows(pages: u64, rows: u64) -> Option<String> {
    let them = if pages == 1 { "it" } else { "them" };
    match (pages, rows) {
        (0, 0) => None,
        (0, 1) => Some("1 row that the index names cannot be read: it is left out".to_owned()),
        (0, n) => Some(format!("{} that the index names cannot be read: they are left out", count(n, "row"))),
        (n, _) => Some(format!("{} of tables cannot be read: rows on {them} are left out", count(n, "page"))),
    }
}

/// Why a map whose description cannot be read has no layers.
fn unread_map(save: &Save, map: &Map) -> LeftOut {
    let damage = map.damage.iter().find(|damage| damage.code.level() == Level::Error);
    let why = damage.map_or_else(|| "the description cannot be read".to_owned(), ToString::to_string);
    LeftOut { file: save.shown(&map.dir.join(FILE_NAME)), why: format!("{why}: no layer of the map is read") }
}

/// Why no voxel of a layer can be located; `None` if some can.
#[must_use]
pub fn unread_layer<S: Source>(save: &Save, map: &Map, layer: &Layer, grid: &Grid<S>) -> Option<LeftOut> {
    let has_index = grid.format != Some(Format::BlockSparse) || !grid.index.is_empty();
    let is_error = |damage: &Damage| damage.code.level() == Level::Error;
    let mut faults = grid.faults.iter().filter(|fault| fault.part != LayerFile::Depth && is_error(&fault.damage));
    // A sparse layer without a block has an index without rows, and nothing is wrong with it.
    let fault = faults.next();
    let is_read = grid.dim.is_some() && grid.data.is_some() && (has_index || fault.is_none());
    if is_read {
        return None;
    }
    let name = printable(layer.name.as_deref().unwrap_or("without a name"));
    let of_format = Damage::new(Code::MapFormat, Span::default(), "format");
    let (part, why) = match fault {
        Some(fault) => (fault.part, fault.damage.to_string()),
        None => {
            let described = map.damage.iter().find(|damage| damage.code == Code::MapFormat && grid.format.is_none());
            let damage = described.or_else(|| map.damage.iter().find(|damage| is_error(damage)));
            (LayerFile::Map, damage.unwrap_or(&of_format).to_string())
        }
    };
    Some(LeftOut {
        file: part_name(save, map, layer, part).to_string(),
        why: format!("{why}: layer {name} is not read"),
    })
}
