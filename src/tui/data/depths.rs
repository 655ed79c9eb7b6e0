//! The depths of a layer's columns, as many as a window shows: from the depth map, or the largest that the voxels of a
//! column have in their upper halves.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::opened::Opened;
use super::plane::Steps;
use crate::source::FileSource;
use crate::tui::app::ItemKey;
use crate::voxel_map::grid::{BLOCK, Grid, centimetres};
use crate::voxel_map::map_json::Format;

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct DepthRequest {
    /// The layer.
    pub item: ItemKey,
    /// Columns of the picture: x.
    pub right: Steps,
    /// Rows: z.
    pub down: Steps,
}

/// Depths in metres.
#[derive(Debug, Default)]
pub struct Depths {
    /// Row by row; `None` where there is nothing to be read.
    pub cells: Vec<Option<f32>>,
    /// Columns.
    pub columns: u32,
    /// The smallest and the largest above 0.
    pub range: Option<(f32, f32)>,
}

impl Depths {
    /// Reads what is asked for; `None` when nobody waits for it any more.
    #[must_use]
    pub fn read(opened: &Opened, request: &DepthRequest, cancel: &AtomicBool) -> Option<Self> {
        let grid = opened.grid()?;
        let blocks = blocks_of(grid, request);
        let work = |buffer: &mut Vec<u8>, row| -> Vec<Option<f32>> {
            let z = u32::try_from(request.down.at(row)).ok();
            let cell = |column| {
                if cancel.load(Ordering::Relaxed) {
                    return None;
                }
                let x = u32::try_from(request.right.at(column)).ok()?;
                depth(grid, &blocks, [x, z?], buffer, cancel)
            };
            (0..request.right.count).map(cell).collect()
        };
        let rows: Vec<Vec<Option<f32>>> = (0..request.down.count).into_par_iter().map_init(Vec::new, work).collect();
        if cancel.load(Ordering::Relaxed) {
            return None;
        }
        let mut out = Self { columns: request.right.count, ..Self::default() };
        out.cells = rows.into_iter().flatten().collect();
        for depth in out.cells.iter().flatten().filter(|depth| depth.is_finite() && **depth > 0.0) {
            out.range = Some(out.range.map_or((*depth, *depth), |(a, b)| (a.min(*depth), b.max(*depth))));
        }
        Some(out)
    }

    /// The depth of a column and a row of the picture.
    #[must_use]
    pub fn at(&self, column: u32, row: u32) -> Option<f32> {
        if column >= self.columns {
            return None;
        }
        let at = u64::from(row).saturating_mul(self.columns.into()).saturating_add(column.into());
        self.cells.get(usize::try_from(at).ok()?).copied().flatten()
    }
}

/// Rows of the index, by x and z of their blocks.
type Blocks = HashMap<[i32; 2], Vec<u32>>;

/// The blocks of a layer with packed depths that a window meets.
fn blocks_of(grid: &Grid<FileSource>, request: &DepthRequest) -> Blocks {
    let mut out = Blocks::new();
    if grid.depth.is_some() || !grid.packed {
        return out;
    }
    let range = |steps: &Steps| {
        let last = steps.at(steps.count.saturating_sub(1));
        steps.first.div_euclid(BLOCK.into())..=last.div_euclid(BLOCK.into())
    };
    let (right, down) = (range(&request.right), range(&request.down));
    for (row, [x, _, z]) in grid.index.rows() {
        if right.contains(&x.into()) && down.contains(&z.into()) {
            out.entry([x, z]).or_default().push(row);
        }
    }
    out
}

/// The depth of a column of the layer.
fn depth(
    grid: &Grid<FileSource>,
    blocks: &Blocks,
    column: [u32; 2],
    buffer: &mut Vec<u8>,
    cancel: &AtomicBool,
) -> Option<f32> {
    if let Some(array) = &grid.depth {
        let place = array.npy.place(&column.map(u64::from))?;
        array.npy.read(&array.source, place, 1, buffer).ok()?;
        return array.npy.floats(buffer).next();
    }
    let data = grid.data.as_ref().filter(|_| grid.packed)?;
    let [x, z] = column;
    let mut most: Option<i32> = None;
    let mut add = |place: u64| -> Option<()> {
        data.npy.read(&data.source, place, 1, buffer).ok()?;
        let depth = centimetres(data.npy.bits(buffer).next()?);
        most = Some(most.map_or(depth, |most| most.max(depth)));
        Some(())
    };
    let [_, height, _] = grid.dim?;
    match grid.format? {
        Format::Dense => {
            // What is behind the end of the file is behind it for the rest of the column too.
            for y in 0..height {
                if cancel.load(Ordering::Relaxed) {
                    break;
                }
                let place = data.npy.place(&[x.into(), y.into(), z.into()]);
                if place.and_then(&mut add).is_none() {
                    break;
                }
            }
        }
        Format::BlockSparse => {
            let at = |n: u32| i32::try_from(n / BLOCK).ok();
            let rows = blocks.get(&[at(x)?, at(z)?])?;
            for (row, y) in rows.iter().flat_map(|row| (0..BLOCK).map(move |y| (*row, y))) {
                let at = [row.into(), (x % BLOCK).into(), y.into(), (z % BLOCK).into()];
                if data.npy.place(&at).and_then(&mut add).is_none() {
                    break;
                }
            }
        }
    }
    most.map(|most| most as f32 / 100.0)
}
