//! Planes through the layers of maps, read where the voxels lie.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::{Axis, Plane, Sample, Window};
use crate::bytes::index;
use crate::source::FileSource;
use crate::voxel_map::grid::{Array, BLOCK, BLOCK_VOXELS, Grid};
use crate::voxel_map::map_json::Format;

/// From this stride on, voxels of a block are read one by one: most of it is not wanted.
const FEW: u64 = 4;

/// Bytes between two voxels from which on they are read one by one.
const APART: u64 = 256;

/// A voxel of the window and what is there.
type Found = Vec<(u32, u32, Sample)>;

/// Reads the voxels of a window.
pub(super) fn read(grid: &Grid<FileSource>, window: &Window, plane: &mut Plane, cancel: &AtomicBool) {
    let Some(data) = &grid.data else { return };
    let found: Vec<Found> = match grid.format {
        Some(Format::Dense) => {
            // Lines along the axis that runs fastest in the file, so that one read has many voxels.
            let fast = if data.npy.fortran { Axis::X } else { Axis::Z };
            let [_, down] = window.axis.across();
            let columns = down == fast;
            let lines = if columns { window.right.count } else { window.down.count };
            let work = |buffer: &mut Vec<u8>, line| line_of(data, window, fast, columns, line, buffer, cancel);
            (0..lines).into_par_iter().map_init(Vec::new, work).collect()
        }
        Some(Format::BlockSparse) => {
            let [right, down] = window.axis.across();
            let Some(layer) = window.cut.checked_div_euclid(BLOCK.into()) else { return };
            let columns = window.right.runs(BLOCK);
            let mut parts = Vec::new();
            for (row_block, rows) in window.down.runs(BLOCK) {
                for (column_block, columns) in &columns {
                    let at = down.with(right.with(window.axis.with([0; 3], layer), *column_block), row_block);
                    let [x, y, z] = at.map(|n| i32::try_from(n).ok());
                    let row = x.zip(y).zip(z).and_then(|((x, y), z)| grid.index.find([x, y, z]));
                    if let Some(row) = row {
                        parts.push((row, columns.clone(), rows.clone()));
                    }
                }
            }
            let work = |(buffer, voxels): &mut (Vec<u8>, Vec<u64>), (row, columns, rows): &(u32, _, _)| {
                if cancel.load(Ordering::Relaxed) {
                    return Found::new();
                }
                let whole = window.right.step.unsigned_abs() < FEW && grid.read_block(*row, buffer, voxels).is_ok();
                let mut out = Found::new();
                let rows: &std::ops::Range<u32> = rows;
                let columns: &std::ops::Range<u32> = columns;
                for at_row in rows.clone() {
                    for column in columns.clone() {
                        let [x, y, z] = window.cell(column, at_row).map(|n| n.rem_euclid(BLOCK.into()).unsigned_abs());
                        let bits = if whole {
                            voxels.get(index(x * 256 + y * 16 + z)).copied()
                        } else {
                            data.npy.place(&[u64::from(*row), x, y, z]).and_then(|place| one(data, place, buffer))
                        };
                        out.push((column, at_row, sample(bits)));
                    }
                }
                out
            };
            parts.par_iter().map_init(|| (Vec::new(), Vec::with_capacity(index(BLOCK_VOXELS))), work).collect()
        }
        None => return,
    };
    for (column, row, sample) in found.into_iter().flatten() {
        plane.set(column, row, sample);
    }
}

fn sample(bits: Option<u64>) -> Sample {
    bits.map_or(Sample::Unreadable, |bits| Sample::Value(bits, None))
}

fn one(data: &Array<FileSource>, place: u64, buffer: &mut Vec<u8>) -> Option<u64> {
    data.npy.read(&data.source, place, 1, buffer).ok()?;
    data.npy.bits(buffer).next()
}

/// A column or a row of a dense layer.
fn line_of(
    data: &Array<FileSource>,
    window: &Window,
    fast: Axis,
    is_column: bool,
    line: u32,
    buffer: &mut Vec<u8>,
    cancel: &AtomicBool,
) -> Found {
    let mut out = Found::new();
    if cancel.load(Ordering::Relaxed) {
        return out;
    }
    let steps = if is_column { window.down } else { window.right };
    let at = |number: u32| if is_column { (line, number) } else { (number, line) };
    let place = |number: u32| {
        let (column, row) = at(number);
        let [x, y, z] = window.cell(column, row).map(|n| u64::try_from(n).ok());
        data.npy.place(&[x?, y?, z?])
    };
    let apart = steps.step.unsigned_abs().saturating_mul(data.npy.dtype.size());
    let [right, down] = window.axis.across();
    let runs_fast = (if is_column { down } else { right }) == fast && apart <= APART;
    let ends = (0..steps.count).filter_map(|number| Some((number, place(number)?)));
    if runs_fast {
        let places: Vec<(u32, u64)> = ends.collect();
        let low = places.iter().map(|(_, place)| *place).min();
        let high = places.iter().map(|(_, place)| *place).max();
        let (Some(low), Some(high)) = (low, high) else { return out };
        let count = high.saturating_sub(low).saturating_add(1);
        let read = data.npy.read(&data.source, low, count, buffer).is_ok();
        let bits: Vec<u64> = if read { data.npy.bits(buffer).collect() } else { Vec::new() };
        for (number, place) in places {
            let (column, row) = at(number);
            out.push((column, row, sample(bits.get(index(place.saturating_sub(low))).copied())));
        }
    } else {
        for (number, place) in ends {
            let (column, row) = at(number);
            out.push((column, row, sample(one(data, place, buffer))));
        }
    }
    out
}
