//! What voxel maps are made of. Passes over every voxel once, for the flags.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use voxscope::check::{self, LeftOut};
use voxscope::printable::printable;
use voxscope::save::Save;
use voxscope::voxel_map::map_json::Layer;
use voxscope::voxel_map::{Map, scan};
use voxscope::watch::Watch;

use crate::cli::output::{BOLD, DIM, count, grouped, size, wrapped};

#[derive(Serialize)]
pub struct MapInfo {
    path: String,
    /// What the text calls it.
    #[serde(skip)]
    title: String,
    map_id: Option<i64>,
    timestamp: Option<String>,
    water_surface_level: Option<f64>,
    bytes: u64,
    /// Why no layer is read; `None` if the description is readable.
    left_out: Option<LeftOut>,
    layers: Vec<LayerInfo>,
}

impl MapInfo {
    /// What of it is not read.
    pub fn left_out(&self) -> impl Iterator<Item = LeftOut> {
        let layers = self.layers.iter().filter_map(|layer| layer.left_out.clone());
        self.left_out.clone().into_iter().chain(layers)
    }
}

#[derive(Serialize)]
struct LayerInfo {
    name: Option<String>,
    kind: Option<String>,
    format: Option<&'static str>,
    dtype: Option<&'static str>,
    blocks: Option<u32>,
    dim: Option<[u32; 3]>,
    origin: Option<[f32; 3]>,
    step: Option<[f32; 3]>,
    /// First and last corner in the world.
    extent: Option<[[f64; 3]; 2]>,
    voxels: u64,
    set: u64,
    flags: Vec<(&'static str, u64)>,
    /// Smallest and largest depth, in metres.
    depth: Option<(f64, f64)>,
    /// Where the depths are.
    depth_from: Option<&'static str>,
    /// Why none of its voxels is read.
    left_out: Option<LeftOut>,
}

pub fn gather(save: &Save, map: &Map, given: &Path) -> MapInfo {
    let data = map.data.as_ref();
    MapInfo {
        path: super::shown_by(save, given, &map.dir),
        title: super::title(save, given, &map.dir),
        map_id: data.and_then(|data| data.map_id),
        timestamp: data.and_then(|data| data.timestamp.clone()),
        water_surface_level: data.and_then(|data| data.water_surface_level),
        bytes: map.bytes(),
        left_out: if data.is_none() { check::unread_layers(save, map).pop() } else { None },
        layers: map.layers().map(|layer| layer_info(save, map, layer)).collect(),
    }
}

fn layer_info(save: &Save, map: &Map, layer: &Layer) -> LayerInfo {
    let limits = &save.options.limits;
    let grid = map.grid(layer, limits);
    let scanned = scan::scan(&grid, limits, &Watch::default());
    let from_map = scanned.depths.and_then(|depths| depths.range).map(|(a, b)| (f64::from(a), f64::from(b)));
    let packed = scanned.packed.map(|(a, b)| (f64::from(a) / 100.0, f64::from(b) / 100.0));
    LayerInfo {
        name: layer.name.clone(),
        kind: layer.kind.clone(),
        format: layer.format.as_ref().map(|format| format.name()),
        dtype: grid.data.as_ref().map(|data| data.npy.dtype.name()),
        blocks: (!grid.index.is_empty()).then(|| grid.blocks()),
        dim: grid.dim,
        origin: layer.origin,
        step: layer.step,
        extent: layer.frame().map(|frame| frame.extent()),
        voxels: scanned.counts.voxels,
        set: scanned.counts.set,
        flags: scanned.counts.named().collect(),
        depth: from_map.or(packed),
        depth_from: from_map.map(|_| "depth map").or(packed.map(|_| "upper half of the voxels")),
        left_out: check::unread_layer(save, map, layer, &grid),
    }
}

pub fn print(out: &mut impl Write, map: &MapInfo) -> io::Result<()> {
    let id = map.map_id.map_or_else(String::new, |id| format!(" {id}"));
    let time = map.timestamp.as_deref().map_or_else(String::new, |time| format!(" · {}", printable(time)));
    writeln!(out, "{BOLD}{}{BOLD:#} · voxel map{id}{time} · {}", map.title, size(map.bytes))?;
    if let Some(level) = map.water_surface_level {
        writeln!(out, "  water surface at {level}")?;
    }
    if let Some(LeftOut { file, why }) = &map.left_out {
        writeln!(out, "{}", wrapped(&format!("  {file}: {why}"), "  "))?;
    }
    for (number, layer) in map.layers.iter().enumerate() {
        writeln!(out)?;
        print_layer(out, number, layer)?;
    }
    Ok(())
}

/// A layer; `export --layer` takes its number where several have its name.
fn print_layer(out: &mut impl Write, number: usize, layer: &LayerInfo) -> io::Result<()> {
    let name = printable(layer.name.as_deref().unwrap_or("a layer without a name"));
    let blocks = layer.blocks.map_or_else(String::new, |n| format!(" · {}", count(n.into(), "block")));
    let words = [layer.kind.as_deref().map(printable), layer.format.map(str::to_owned), layer.dtype.map(str::to_owned)];
    let words = words.into_iter().flatten().collect::<Vec<_>>().join(", ");
    writeln!(out, "  {BOLD}{name}{BOLD:#} {DIM}· layer {number} · {words}{blocks}{DIM:#}")?;
    if let (Some([x, y, z]), Some([sx, sy, sz])) = (layer.dim, layer.step) {
        writeln!(out, "    {x} x {y} x {z} cells of {sx} x {sy} x {sz}")?;
    }
    if let Some([[x0, y0, z0], [x1, y1, z1]]) = layer.extent {
        writeln!(out, "    world ({x0:.2}, {y0:.2}, {z0:.2}) to ({x1:.2}, {y1:.2}, {z1:.2})")?;
    }
    if let (Some((low, high)), Some(from)) = (layer.depth, layer.depth_from) {
        writeln!(out, "    depth {low:.2} to {high:.2} m {DIM}· {from}{DIM:#}")?;
    }
    if let Some(LeftOut { file, why }) = &layer.left_out {
        return writeln!(out, "{}", wrapped(&format!("    {file}: {why}"), "    "));
    }
    let flags = layer.flags.iter().map(|(name, n)| format!("{name} {}", grouped(*n))).collect::<Vec<_>>().join(" · ");
    let flags = if flags.is_empty() { "no flag".to_owned() } else { flags };
    let set = format!("    {} of {} set: {flags}", grouped(layer.set), count(layer.voxels, "voxel"));
    writeln!(out, "{}", wrapped(&set, "    "))
}
