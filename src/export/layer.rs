//! A layer of a voxel map as dense arrays.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::bytes::index;
use crate::check;
use crate::draft::{self, Draft, Writer};
use crate::save::{EXPORT_REPORT, Save};
use crate::source::FileSource;
use crate::voxel_map::grid::{BLOCK, Grid};
use crate::voxel_map::map_json::{Format, Layer};
use crate::voxel_map::{Map, npy};
use crate::watch::{Step, Watch};

use super::picture_faults;
use super::voxels::{Error, LARGE};
use crate::world::Fault;

/// The most bytes of flags in memory at once: as many steps along x as fit, at least one and at most those of a block. If a layer
/// is so large that fewer fit, its blocks are read several times.
const AT_ONCE: u64 = 1 << 24;

/// Numbers that are written at once.
const PIECE: usize = 1 << 13;

/// Why a layer has no cells, in words.
pub(super) fn nowhere(save: &Save, map: &Map, layer: &Layer, grid: &Grid<FileSource>) -> String {
    check::unread_layer(save, map, layer, grid).map_or_else(
        || "the files of the layer do not say where its voxels are".to_owned(),
        |check::LeftOut { file, why }| format!("{file}: {why}"),
    )
}

/// The most cells of a depth map.
const DEPTHS: u64 = 1 << 26;

/// `export.json`: see OUTPUT.md.
#[derive(Serialize)]
struct LayerReport<'l> {
    r#type: &'static str,
    layer: Option<&'l str>,
    dim: [u32; 3],
    origin: Option<[f64; 3]>,
    step: Option<[f64; 3]>,
    flags: FlagsReport,
    depth: Option<DepthReport>,
    faults: Vec<&'static str>,
    cells: u64,
}

#[derive(Serialize)]
struct FlagsReport {
    file: &'static str,
    dtype: &'static str,
    axes: &'static str,
}

/// The depth map: an array, and a picture of it.
#[derive(Serialize)]
struct DepthReport {
    file: &'static str,
    dtype: &'static str,
    axes: &'static str,
    picture: &'static str,
    grey: GreyReport,
    low: Option<f64>,
    high: Option<f64>,
}

/// What grey means in the picture: no depth, the lowest and the highest one.
#[derive(Serialize)]
struct GreyReport {
    none: u16,
    low: u16,
    high: u16,
}

impl DepthReport {
    fn new(range: Option<[f32; 2]>) -> Self {
        Self {
            file: "DEPTH.npy",
            dtype: "<f4",
            axes: "x, z",
            picture: "DEPTH.png",
            grey: GreyReport { none: 0, low: 1, high: u16::MAX },
            low: range.map(|[low, _]| low.into()),
            high: range.map(|[_, high]| high.into()),
        }
    }
}

/// What was exported of a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerSummary {
    /// The name of the layer, if it has one.
    pub name: Option<String>,
    /// Cells along each axis.
    pub dim: [u32; 3],
    /// Damage of its files, which are exported as far as they can be read.
    pub faults: Vec<Fault>,
}

/// Writes a layer, by its name or its number, into a new directory: `FLAGS.npy`, the flags of shape (x, y, z), 0 where no block is; `DEPTH.npy` and
/// `DEPTH.png`, the depths in metres of shape (x, z), where there are some; `export.json`.
///
/// # Errors
/// When there is no such layer, its flags have more than [`LARGE`] bytes although `large` is not set, or do not fit on the
/// disk, the destination cannot be used, or something cannot be read or written.
pub fn layer(save: &Save, name: &str, to: &Path, large: bool, watch: &Watch<'_>) -> Result<LayerSummary, Error> {
    let (map, layer) = find(save, name)?;
    let draft = Draft::new(&[&map.dir], to, watch)?;
    let grid = map.grid(layer, &save.options.limits);
    let (Some(dim), Some(_)) = (grid.dim, &grid.data) else {
        return Err(Error::Missing(nowhere(save, map, layer, &grid)));
    };
    let [x, y, z] = dim.map(u64::from);
    let plane = y.saturating_mul(z);
    if plane.saturating_mul(8) > AT_ONCE {
        return Err(Error::Request("the layer has too many cells".to_owned()));
    }
    let bytes = x.saturating_mul(plane).saturating_mul(8);
    if bytes > LARGE && !large {
        let size = crate::printable::size(bytes);
        return Err(Error::Request(format!(
            "the flags of {x} x {y} x {z} cells would have {size}: give --yes to write them"
        )));
    }
    draft::check_space(to, bytes)?;
    flags(&draft, &grid, dim, watch)?;
    let depths = depths(&draft, &grid, dim)?;
    let json = LayerReport {
        r#type: "layer",
        layer: layer.name.as_deref(),
        dim,
        origin: layer.origin.map(|at| at.map(f64::from)),
        step: layer.step.map(|step| step.map(f64::from)),
        flags: FlagsReport { file: "FLAGS.npy", dtype: "<u8", axes: "x, y, z" },
        depth: depths.map(DepthReport::new),
        faults: grid.faults.iter().map(|fault| fault.damage.code.name()).collect(),
        cells: x.saturating_mul(plane),
    };
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = crate::printable::write_json_pretty(&mut text, &json);
    draft.file(Path::new(EXPORT_REPORT), &text)?;
    draft.finish()?;
    let faults = picture_faults::layer_faults(save, map, layer, &grid);
    Ok(LayerSummary { name: layer.name.clone(), dim, faults })
}

/// The directory of the map that has a layer, by the name or the number of the layer.
#[must_use]
pub fn map_of_layer(save: &Save, name: &str) -> Option<PathBuf> {
    find(save, name).ok().map(|(map, _)| map.dir.clone())
}

/// What a layer is called, by its name or its number.
#[must_use]
pub fn name_of_layer(save: &Save, name: &str) -> String {
    let found = find(save, name).ok().and_then(|(_, layer)| layer.name.clone());
    found.unwrap_or_else(|| format!("layer {name}"))
}

/// A layer by its name or its number.
pub(super) fn find<'s>(save: &'s Save, name: &str) -> Result<(&'s Map, &'s Layer), Error> {
    let all = || save.maps.iter().flat_map(|map| map.layers().map(move |layer| (map, layer)));
    let mut found = all().filter(|(_, layer)| layer.name.as_deref() == Some(name));
    let number = || name.parse().ok().and_then(|n: usize| all().nth(n));
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => {
            let why = "there are several layers of that name: give its number, counted from 0 in the order of `info`";
            Err(Error::Request(why.to_owned()))
        }
        (None, _) => number().ok_or_else(|| {
            let unread = save.maps.iter().filter(|map| map.data.is_none());
            if let Some(check::LeftOut { file, why }) = unread.flat_map(|map| check::unread_layers(save, map)).next() {
                return Error::Missing(format!("{file}: {why}"));
            }
            let names: Vec<&str> = all().filter_map(|(_, layer)| layer.name.as_deref()).collect();
            let names = crate::printable::printable(&names.join(", "));
            Error::Missing(match names.as_str() {
                "" => "there is no voxel map here".to_owned(),
                names => format!("there is no layer of that name; there are {names}"),
            })
        }),
    }
}

/// The flags, in slabs of 16 steps along x.
fn flags(draft: &Draft<'_>, grid: &Grid<FileSource>, dim: [u32; 3], watch: &Watch<'_>) -> Result<(), Error> {
    let [_, dy, dz] = dim.map(|n| index(n.into()));
    let mut out = Writer::new(draft, Path::new("FLAGS.npy"))?;
    out.put(&npy::header("<u8", &dim.map(u64::from)))?;
    let (mut bytes, mut voxels) = (Vec::new(), Vec::new());
    watch.begin(Step::Exporting, dim[0].into());
    let step = u64::from(dim[1]).saturating_mul(dim[2].into()).saturating_mul(8);
    // A power of two, so that all steps are within one layer of blocks.
    let most = (0..BLOCK.ilog2()).map(|n| BLOCK >> n).find(|&n| step.saturating_mul(n.into()) <= AT_ONCE).unwrap_or(1);
    for from in (0..dim[0]).step_by(index(most.into())) {
        draft.go_on()?;
        let steps = (dim[0] - from).min(most);
        watch.advance(steps.into());
        let steps = index(steps.into());
        let mut slab = vec![0u64; steps * dy * dz];
        if grid.format == Some(Format::Dense) {
            for (at, cell) in slab.iter_mut().enumerate() {
                let part = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
                let cell_at = [from + part(at / (dy * dz)), part(at / dz % dy), part(at % dz)];
                // Row by row if the file stores rows, otherwise cell by cell.
                if at % dz == 0 || grid.data.as_ref().is_some_and(|data| data.npy.fortran) {
                    let count = if at % dz == 0 { dz } else { 1 };
                    read(grid, cell_at, count, &mut bytes, &mut voxels).map_err(draft::Error::read(draft.root()))?;
                }
                let one = if grid.data.as_ref().is_some_and(|data| data.npy.fortran) { 0 } else { at % dz };
                *cell = grid.flags(voxels.get(one).copied().unwrap_or(0));
            }
        } else {
            let blocks = |n: u32| 0..i32::try_from(n.div_ceil(BLOCK)).unwrap_or(i32::MAX);
            let bx = i32::try_from(from / BLOCK).unwrap_or(i32::MAX);
            let first = index(u64::from(from % BLOCK));
            for (by, bz) in blocks(dim[1]).flat_map(|by| blocks(dim[2]).map(move |bz| (by, bz))) {
                let Some(row) = grid.index.find([bx, by, bz]) else { continue };
                grid.read_block(row, &mut bytes, &mut voxels).map_err(draft::Error::read(draft.root()))?;
                for (i, &bits) in voxels.iter().enumerate() {
                    let corner = |n: i32| index(u64::from(n.unsigned_abs())) * 16;
                    let (y, z) = (corner(by) + i / 16 % 16, corner(bz) + i % 16);
                    let Some(x) = (i / 256).checked_sub(first).filter(|x| *x < steps) else { continue };
                    // Edge blocks extend beyond the layer.
                    if y < dy && z < dz {
                        slab[(x * dy + y) * dz + z] = grid.flags(bits);
                    }
                }
            }
        }
        let mut raw = Vec::with_capacity(PIECE * 8);
        for piece in slab.chunks(PIECE) {
            raw.clear();
            raw.extend(piece.iter().flat_map(|n| n.to_le_bytes()));
            out.put(&raw)?;
        }
    }
    Ok(out.done()?)
}

/// Voxels of a dense layer along z, from a cell on.
fn read(
    grid: &Grid<FileSource>,
    cell: [u32; 3],
    count: usize,
    bytes: &mut Vec<u8>,
    voxels: &mut Vec<u64>,
) -> std::io::Result<()> {
    voxels.clear();
    let Some(data) = &grid.data else { return Ok(()) };
    let Some(place) = data.npy.place(&cell.map(u64::from)) else { return Ok(()) };
    let count = if data.npy.fortran { 1 } else { count as u64 };
    data.npy.read(&data.source, place, count, bytes)?;
    voxels.extend(data.npy.bits(bytes));
    Ok(())
}

/// Writes the depths, if there are any; returns the smallest and the largest number.
fn depths(draft: &Draft<'_>, grid: &Grid<FileSource>, dim: [u32; 3]) -> Result<Option<Option<[f32; 2]>>, Error> {
    let [dx, _, dz] = dim;
    if grid.depth.is_none() || u64::from(dx).saturating_mul(dz.into()) > DEPTHS {
        return Ok(None);
    }
    let mut depths = Vec::with_capacity(index(u64::from(dx) * u64::from(dz)));
    for x in 0..dx {
        draft.go_on()?;
        for z in 0..dz {
            let depth = grid.depth_at([x, z]).map_err(draft::Error::read(draft.root()))?;
            depths.push(depth.unwrap_or(f32::NAN));
        }
    }
    let mut bytes = npy::header("<f4", &[dx.into(), dz.into()]);
    bytes.extend(depths.iter().flat_map(|n| n.to_le_bytes()));
    draft.file(Path::new("DEPTH.npy"), &bytes)?;
    let (file, path) = draft.create(Path::new("DEPTH.png"))?;
    // z points right, x down: the order of the array.
    let range = super::canvas::depths(&file, &path, [dz, dx], &depths)?;
    Ok(Some(range))
}
