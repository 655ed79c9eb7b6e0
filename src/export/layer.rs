//! A layer of a voxel map as dense arrays.

use std::path::Path;

use serde_json::json;

use crate::beside::{self, Draft, Watch, Writer};
use crate::bytes::index;
use crate::save::Save;
use crate::source::FileSource;
use crate::voxel_map::grid::{BLOCK, Grid};
use crate::voxel_map::map_json::{Format, Layer};
use crate::voxel_map::{Map, npy};

use super::voxels::Error;

/// The most bytes of a slab, which is in memory at once: cells of 16 steps along x.
const SLAB: u64 = 1 << 28;

/// Why a layer has no cells.
pub(super) const NOWHERE: &str = "the files of the layer do not say where its voxels are";

/// The most cells of a depth map.
const DEPTHS: u64 = 1 << 26;

/// Writes a layer, by its name or its number, into a new directory: `FLAGS.npy`, the flags of shape (x, y, z), 0 where no block is; `DEPTH.npy` and
/// `DEPTH.png`, the depths in metres of shape (x, z), where there are some; `export.json`. Gives the cells along each axis.
///
/// # Errors
/// When there is no such layer, the destination cannot be used, or something cannot be read or written.
pub fn layer(save: &Save, name: &str, to: &Path, watch: &Watch<'_>) -> Result<[u32; 3], Error> {
    let (map, layer) = find(save, name)?;
    let draft = Draft::new(&[&map.dir], to, "export", watch.cancel)?;
    let grid = map.grid(layer, &save.options.limits);
    let (Some(dim), Some(_)) = (grid.dim, &grid.data) else {
        return Err(Error::Request(NOWHERE.to_owned()));
    };
    let [x, y, z] = dim.map(u64::from);
    let plane = y.saturating_mul(z);
    if plane.saturating_mul(16 * 8) > SLAB {
        return Err(Error::Request("the layer has too many cells".to_owned()));
    }
    flags(&draft, &grid, dim, watch)?;
    let depths = depths(&draft, &grid, dim)?;
    let json = json!({
        "type": "layer",
        "layer": layer.name,
        "dim": dim,
        "origin": layer.origin,
        "step": layer.step,
        "flags": { "file": "FLAGS.npy", "dtype": "<u8", "axes": "x, y, z" },
        "depth": depths.map(|range| json!({
            "file": "DEPTH.npy",
            "dtype": "<f4",
            "axes": "x, z",
            "picture": "DEPTH.png",
            "grey": { "none": 0, "low": 1, "high": 65535 },
            "low": range.map(|[low, _]| low),
            "high": range.map(|[_, high]| high),
        })),
        "faults": grid.faults.iter().map(|fault| fault.damage.code.name()).collect::<Vec<_>>(),
        "cells": x.saturating_mul(plane),
    });
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = super::write_json_pretty(&mut text, &json);
    draft.file(Path::new("export.json"), &text)?;
    draft.finish()?;
    Ok(dim)
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
            let names: Vec<&str> = all().filter_map(|(_, layer)| layer.name.as_deref()).collect();
            let names = crate::printable::printable(&names.join(", "));
            Error::Request(match names.as_str() {
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
    for from in (0..dim[0]).step_by(index(BLOCK.into())) {
        draft.go_on()?;
        watch.tell(from.into(), dim[0].into());
        let steps = index((dim[0] - from).min(BLOCK).into());
        let mut slab = vec![0u64; steps * dy * dz];
        if grid.format == Some(Format::Dense) {
            for (at, cell) in slab.iter_mut().enumerate() {
                let part = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
                let cell_at = [from + part(at / (dy * dz)), part(at / dz % dy), part(at % dz)];
                // Row after row where the file has them so, else one by one.
                if at % dz == 0 || grid.data.as_ref().is_some_and(|data| data.npy.fortran) {
                    let count = if at % dz == 0 { dz } else { 1 };
                    read(grid, cell_at, count, &mut bytes, &mut voxels).map_err(beside::Error::read(draft.root()))?;
                }
                let one = if grid.data.as_ref().is_some_and(|data| data.npy.fortran) { 0 } else { at % dz };
                *cell = grid.flags(voxels.get(one).copied().unwrap_or(0));
            }
        } else {
            let blocks = |n: u32| 0..i32::try_from(n.div_ceil(BLOCK)).unwrap_or(i32::MAX);
            let bx = i32::try_from(from / BLOCK).unwrap_or(i32::MAX);
            for (by, bz) in blocks(dim[1]).flat_map(|by| blocks(dim[2]).map(move |bz| (by, bz))) {
                let Some(row) = grid.index.find([bx, by, bz]) else { continue };
                grid.read_block(row, &mut bytes, &mut voxels).map_err(beside::Error::read(draft.root()))?;
                for (i, &bits) in voxels.iter().enumerate() {
                    let corner = |n: i32| index(u64::from(n.unsigned_abs())) * 16;
                    let (x, y, z) = (i / 256, corner(by) + i / 16 % 16, corner(bz) + i % 16);
                    // Edge blocks go on beyond the layer.
                    if x < steps && y < dy && z < dz {
                        slab[(x * dy + y) * dz + z] = grid.flags(bits);
                    }
                }
            }
        }
        let mut raw = Vec::with_capacity(slab.len() * 8);
        raw.extend(slab.iter().flat_map(|n| n.to_le_bytes()));
        out.put(&raw)?;
    }
    Ok(out.done()?)
}

/// Voxels of a dense layer from a cell on, along z.
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

/// The depths, when there are some; gives the smallest and the largest, when there is any number.
fn depths(draft: &Draft<'_>, grid: &Grid<FileSource>, dim: [u32; 3]) -> Result<Option<Option<[f32; 2]>>, Error> {
    let [dx, _, dz] = dim;
    if grid.depth.is_none() || u64::from(dx).saturating_mul(dz.into()) > DEPTHS {
        return Ok(None);
    }
    let mut depths = Vec::with_capacity(index(u64::from(dx) * u64::from(dz)));
    for x in 0..dx {
        draft.go_on()?;
        for z in 0..dz {
            let depth = grid.depth_at([x, z]).map_err(beside::Error::read(draft.root()))?;
            depths.push(depth.unwrap_or(f32::NAN));
        }
    }
    let mut bytes = npy::header("<f4", &[dx.into(), dz.into()]);
    bytes.extend(depths.iter().flat_map(|n| n.to_le_bytes()));
    draft.file(Path::new("DEPTH.npy"), &bytes)?;
    let (file, path) = draft.create(Path::new("DEPTH.png"))?;
    // z goes to the right, x down: the order of the array.
    let range = super::image::depths(&file, &path, [dz, dx], &depths)?;
    Ok(Some(range))
}
