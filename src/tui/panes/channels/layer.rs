//! The arrays of a layer, and how many voxels have which flags.

use crate::source::{FileSource, Source};
use crate::tui::App;
use crate::tui::data::Store;
use crate::tui::numbers::grouped;
use crate::tui::theme::Role;
use crate::voxel_map::flags::{Histogram, OPEN_WATER};
use crate::voxel_map::grid::{Array, Grid};
use crate::voxel_map::map_json::Layer;

/// Lines about a layer: its arrays, and how many voxels have which flags.
pub(super) fn lines(app: &App, width: u16) -> Vec<Vec<(Role, String)>> {
    let Some(opened) = app.opened_item() else { return Vec::new() };
    let Store::Layer(grid, layer) = &opened.store else { return Vec::new() };
    let mut out = arrays(grid, layer);
    out.push(Vec::new());
    let block =
        app.selected_block().filter(|_| !grid.index.is_empty()).and_then(|block| block.flags.as_ref().zip(Some(block)));
    if let Some((counts, block)) = block {
        let at = block.slot.position.map_or_else(|| block.slot.slot.to_string(), crate::printable::triple);
        flags(app, (&format!("Flags of block {at}"), width), counts, &mut out);
        out.push(Vec::new());
    }
    let key = app.item_key();
    match key.and_then(|key| app.counts.get(&key)) {
        Some(report) => flags(app, ("Flags of the layer", width), &report.counts, &mut out),
        None => {
            let words = key.and_then(|key| app.counts.words(&key)).unwrap_or_default();
            out.push(vec![(Role::Strong, "Flags of the layer".into()), (Role::Dim, format!("  {words}"))]);
        }
    }
    out
}

fn arrays(grid: &Grid<FileSource>, layer: &Layer) -> Vec<Vec<(Role, String)>> {
    let mut out =
        vec![vec![(Role::Dim, format!("{:<7} {:<8} {:<20} {:<9} {}", "array", "type", "shape", "order", "bytes"))]];
    let name = |name: &Option<String>| name.as_deref().map(crate::printable::printable).unwrap_or_default();
    let mut one = |what: &str, array: Option<&Array<FileSource>>, file: &Option<String>, missing: &str| {
        let file = name(file);
        let Some(Array { source, npy }) = array else {
            let words = if file.is_empty() { missing.to_owned() } else { format!("{file} cannot be read as an array") };
            let role = if file.is_empty() { Role::Dim } else { Role::Error };
            out.push(vec![(Role::Strong, format!("{what:<7} ")), (role, words)]);
            return;
        };
        let shape: Vec<String> = npy.shape.iter().map(u64::to_string).collect();
        let order = match (npy.fortran, npy.big_endian) {
            (false, false) => "C",
            (true, false) => "Fortran",
            (false, true) => "C, big",
            (true, true) => "F, big",
        };
        let due = npy.declared().saturating_mul(npy.dtype.size());
        let there = npy.data.len();
        let mut line = vec![
            (Role::Strong, format!("{what:<7} ")),
            (Role::Text, format!("{:<8} {:<20} {order:<9} ", npy.dtype.name(), format!("[{}]", shape.join(", ")))),
        ];
        if there < due {
            line.push((Role::Error, format!("{} of {}, cut", grouped(there), grouped(due))));
        } else {
            line.push((Role::Text, grouped(due)));
        }
        let behind = source.len().saturating_sub(npy.data.end);
        if behind > 0 {
            line.push((Role::Dim, format!(", {} behind", grouped(behind))));
        }
        out.push(line);
    };
    one("data", grid.data.as_ref(), &layer.data_file, "the description names no file");
    let none = if grid.packed { "none: depths are packed in the voxels" } else { "none" };
    one("depth", grid.depth.as_ref(), &layer.depth_file, none);
    let rows = match grid.index.is_empty() {
        true => (Role::Dim, "none: one array of all cells".to_owned()),
        false => (Role::Text, format!("{} blocks of 16 x 16 x 16", grouped(grid.index.len().into()))),
    };
    out.push(vec![(Role::Strong, format!("{:<7} ", "index")), rows]);
    out
}

/// Columns of the names of flags, of their counts, and of their names in Chinese.
const NAMES: [u16; 3] = [20, 15, 14];

/// Lines on flags, with bars in the room that names and counts leave.
fn flags(app: &App, (title, width): (&str, u16), counts: &Histogram, out: &mut Vec<Vec<(Role, String)>>) {
    let voxels = grouped(counts.voxels);
    out.push(vec![(Role::Strong, title.to_owned()), (Role::Dim, format!("  {voxels} voxels"))]);
    let ascii = app.glyphs.ascii;
    let flags = counts.counted().map(|(flag, count)| (flag.name, flag.chinese, count));
    let derived = [
        (OPEN_WATER.0, OPEN_WATER.1, counts.open_water),
        ("structure, no water", "", counts.dry),
        ("unknown bits", "", counts.unknown),
    ];
    let all: Vec<_> = flags.chain(derived.into_iter().filter(|(.., count)| *count > 0)).collect();
    let most = all.iter().map(|(.., count)| *count).max().unwrap_or(0).max(1);
    if all.is_empty() {
        out.push(vec![(Role::Dim, "no voxel has any".into())]);
    }
    let room = usize::from(width.saturating_sub(NAMES.iter().sum())).max(8);
    for (name, chinese, count) in all {
        let length = crate::bytes::index((count.saturating_mul(room as u64) / most).max(1));
        let bar = if ascii { "#" } else { "█" }.repeat(length);
        let chinese = if ascii { "" } else { chinese };
        out.push(vec![
            (Role::Text, format!("{name:<20}")),
            (Role::Value, format!("{:>13}  ", grouped(count))),
            (Role::Block, format!("{bar:<room$}  ")),
            (Role::Dim, chinese.to_owned()),
        ]);
    }
}
