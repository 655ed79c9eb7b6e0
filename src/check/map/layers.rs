//! What the layers of a map say of each other, of the map's directory and of the files in it. Everything here is a note: real
//! exports are edited by hand, and each layer can be read by itself.

use std::collections::HashSet;
use std::ffi::OsStr;

use crate::bytes::Span;
use crate::check::Report;
use crate::damage::{Code, Damage, Value};
use crate::limits::Limits;
use crate::printable::printable;
use crate::save::Save;
use crate::source::FileSource;
use crate::voxel_map::Map;
use crate::voxel_map::flags::WATER;
use crate::voxel_map::grid::Grid;
use crate::voxel_map::map_json::Layer;
use crate::voxel_map::names::{self, Named};
use crate::voxel_map::npy::Dtype;
use crate::voxel_map::place::Frame;

/// Cells along each axis of a layer that are compared with the global layer.
const SAMPLES: u32 = 24;
/// Cells that must be compared before layers can disagree.
const LEAST: u32 = 64;
/// Numbers in names that are taken for the id of a map: smaller ones may count copies.
const LEAST_ID: i64 = 1000;

/// The description alone: types of layers, their place, names.
pub(super) fn check_description(map: &Map, report: &mut Report) {
    let Some(data) = &map.data else { return };
    let named = |layer: &Layer| format!("Layer {}.", printable(layer.name.as_deref().unwrap_or("without a name")));
    let global = data.global.iter().map(|layer| (layer, "global", "Global"));
    for (layer, field, usual) in global.chain(data.locals.iter().map(|layer| (layer, "locals", "LocalStock"))) {
        if layer.kind.as_deref().is_some_and(|kind| kind != usual) {
            let damage = Damage::new(Code::MapLayerType, Span::default(), field).expected(Value::Words(usual));
            let kind = printable(layer.kind.as_deref().unwrap_or_default());
            report.file(damage, Some(format!("It is `{kind}`. {}", named(layer))));
        }
    }
    let whole = data.global.as_ref().and_then(Layer::frame);
    for layer in &data.locals {
        if let (Some(whole), Some(frame)) = (whole, layer.frame())
            && !is_inside(&frame, &whole)
        {
            report.file(Damage::new(Code::MapLayerOutside, Span::default(), "layer"), Some(named(layer)));
        }
    }
    check_names(map, report);
}

/// Whether a layer ends inside another one, give or take one of its cells.
fn is_inside(frame: &Frame, whole: &Frame) -> bool {
    let [low, high] = frame.extent();
    let [least, most] = whole.extent();
    let axes = low.into_iter().zip(high).zip(least.into_iter().zip(most)).zip(whole.step);
    axes.into_iter().all(|(((low, high), (least, most)), step)| {
        let step = f64::from(step);
        low >= least - step && high <= most + step
    })
}

/// Compares `mapID` and the scene with the names of the directory (`SCENE_ID`) and of the files (`SCENE_ID_LAYER.npy`).
fn check_names(map: &Map, report: &mut Report) {
    let Some(data) = &map.data else { return };
    let Some(id) = data.map_id else { return };
    let differs = |field: &'static str, found: i64| {
        let damage = Damage::new(Code::MapName, Span::default(), field);
        damage.expected(Value::Signed(id)).found(Value::Signed(found))
    };
    let is_id = |n: i64| n >= LEAST_ID || n == id;
    let files: Vec<Named<'_>> = map
        .layers()
        .filter_map(|layer| names::of_file(layer.data_file.as_deref()?))
        .filter(|named| is_id(named.id))
        .collect();
    let real = std::fs::canonicalize(&map.dir).ok();
    let name = real.as_deref().and_then(|dir| dir.file_name()).and_then(OsStr::to_str).map(str::to_owned);
    // The scene of the files shows that a small number is an id; a directory of another number alone may be a date.
    let is_scene = |scene: &str| files.iter().any(|file| !scene.is_empty() && file.scene.eq_ignore_ascii_case(scene));
    let digits = |n: i64| n.checked_ilog10();
    let dir = name.as_deref().and_then(names::of_dir).filter(|named| match named.scene {
        "" => is_id(named.id) && digits(named.id) == digits(id),
        scene => is_id(named.id) || is_scene(scene),
    });
    if let Some(named) = dir.filter(|named| named.id != id) {
        report.file(differs("directory", named.id), None);
    }
    if let Some(named) = files.iter().find(|named| named.id != id) {
        report.file(differs("data file", named.id), None);
    }
    let Some(dir) = dir.filter(|dir| !dir.scene.is_empty()) else { return };
    if let Some(file) = files.iter().find(|file| !file.scene.eq_ignore_ascii_case(dir.scene)) {
        let [files, dir] = [file.scene, dir.scene].map(printable);
        let remark = format!("Files are named after `{files}`, the directory after `{dir}`.");
        report.file(Damage::new(Code::MapName, Span::default(), "scene"), Some(remark));
    }
}

/// Arrays in the directory that no layer names.
pub(super) fn check_files(save: &Save, map: &Map, report: &mut Report) {
    if map.data.is_none() {
        return;
    }
    let names = |layer: &Layer| [layer.data_file.clone(), layer.index_file.clone(), layer.depth_file.clone()];
    let named: HashSet<String> = map.layers().flat_map(names).flatten().collect();
    // What cannot be listed is reported when the save is opened.
    let list = std::fs::read_dir(&map.dir).into_iter().flatten().filter_map(Result::ok);
    let files = list.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file())).map(|entry| entry.path());
    let is_array =
        |path: &std::path::PathBuf| path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npy"));
    let is_named =
        |path: &std::path::PathBuf| path.file_name().and_then(OsStr::to_str).is_some_and(|n| named.contains(n));
    let mut left: Vec<_> = files.filter(is_array).filter(|path| !is_named(path)).collect();
    left.sort_unstable();
    for path in left.into_iter().take(save.options.limits.findings_per_file) {
        let damage = Damage::new(Code::MapFileUnnamed, Span::default(), "array");
        report.of_file(save.shown(&path).into(), damage, None);
    }
}

/// Compares the number type of a layer with that of the first one that has a usual one. Unusual types are reported anyway.
pub(super) fn compare_type(grid: &Grid<FileSource>, first: &mut Option<Dtype>) -> Option<Damage> {
    let npy = &grid.data.as_ref().filter(|data| matches!(data.npy.dtype, Dtype::I32 | Dtype::I64))?.npy;
    let usual = *first.get_or_insert(npy.dtype);
    let damage = Damage::new(Code::MapDtypeOther, Span::new(0, npy.data.start), "type of the layer");
    let damage = damage.expected(Value::Words(usual.name())).found(Value::Words(npy.dtype.name()));
    (usual != npy.dtype).then_some(damage)
}

/// Compares a layer with the global one where they overlap: whether there is water.
pub(super) fn compare(map: &Map, layer: &Layer, grid: &Grid<FileSource>, limits: &Limits, report: &mut Report) {
    let global = map.data.as_ref().and_then(|data| data.global.as_ref());
    let Some(global) = global.filter(|global| !std::ptr::eq(*global, layer)) else { return };
    let (Some(frame), Some(whole)) = (layer.frame(), global.frame()) else { return };
    let of_global = map.grid(global, limits);
    let places = |dim: u32| (0..dim.min(SAMPLES)).map(move |n| n.saturating_mul(dim.div_ceil(SAMPLES)) % dim);
    let [dx, dy, dz] = frame.dim;
    let (mut compared, mut different) = (0u32, 0u32);
    for cell in places(dx).flat_map(|x| places(dy).flat_map(move |y| places(dz).map(move |z| [x, y, z]))) {
        let Some(other) = whole.cell(frame.centre(cell)) else { continue };
        // Voxels that cannot be read are reported elsewhere.
        let (Ok(own), Ok(of_global)) = (grid.voxel(cell), of_global.voxel(other)) else { continue };
        let is_water =
            |voxel: Option<crate::voxel_map::grid::Voxel>| voxel.is_some_and(|voxel| voxel.flags & WATER != 0);
        compared = compared.saturating_add(1);
        different = different.saturating_add(u32::from(is_water(own) != is_water(of_global)));
    }
    if compared >= LEAST && different > compared / 2 {
        let damage = Damage::new(Code::MapLayerDisagrees, Span::default(), "layer");
        let damage = damage.expected(Value::Number(compared.into())).found(Value::Number(different.into()));
        let name = printable(layer.name.as_deref().unwrap_or("without a name"));
        report.file(damage, Some(format!("Layer {name}.")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_may_end_a_cell_outside() {
        let whole = Frame { origin: [0.0; 3], step: [1.0; 3], dim: [10; 3] };
        let local = |origin| Frame { origin, step: [0.5; 3], dim: [10; 3] };
        assert!(is_inside(&local([-0.5, 0.0, 6.0]), &whole));
        assert!(!is_inside(&local([-1.5, 0.0, 0.0]), &whole));
        assert!(!is_inside(&local([0.0, 0.0, 6.5]), &whole));
    }
}
