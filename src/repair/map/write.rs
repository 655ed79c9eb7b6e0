//! Writes voxel maps: arrays are streamed row by row.

use std::ops::Range;

use serde::Serialize;

use crate::bytes::Span;
use crate::draft::{Draft, Error, Writer};
use crate::recover::map::{read_row, row, row_numbers};
use crate::repair::Action;
use crate::repair::map::layer::with_rows;
use crate::repair::map::{ArrayPlan, LayerPlan, MapPlan};
use crate::repair::out::{aside, json as pretty, lost_name};
use crate::repair::write::open_input;
use crate::source::{Piece, PieceFrom, Restoration, Source};
use crate::voxel_map::grid::BLOCK_VOXELS;
use crate::voxel_map::map_json::FILE_NAME;
use crate::voxel_map::npy::Npy;

/// Header lengths are multiples of this, as the exporter writes them.
const ALIGN: usize = 16;

pub(in crate::repair) fn write(draft: &Draft<'_>, plans: &[MapPlan]) -> Result<(), Error> {
    plans.iter().filter(|plan| plan.action != Action::Copy).try_for_each(|plan| one(draft, plan))
}

/// Writes only what the plans set aside.
pub(in crate::repair) fn write_lost(draft: &Draft<'_>, plans: &[MapPlan]) -> Result<(), Error> {
    plans.iter().filter(|plan| plan.action != Action::Copy).try_for_each(|plan| lost_of(draft, plan))
}

fn lost_of(draft: &Draft<'_>, plan: &MapPlan) -> Result<(), Error> {
    for name in &plan.aside {
        draft.copy(&plan.dir.join(name), &aside(draft, &plan.name.join(name)))?;
    }
    if plan.description.is_some() {
        draft.copy(&plan.dir.join(FILE_NAME), &aside(draft, &plan.name.join(FILE_NAME)))?;
    }
    if plan.action != Action::Rebuild {
        return Ok(());
    }
    each_array(plan, |layer, array| {
        keep_ends(draft, plan, array)?;
        if layer.loses_blocks_of(array) { taken_out(draft, plan, layer, array) } else { Ok(()) }
    })
}

/// Passes each array that is written anew and its layer; layers may share an array.
fn each_array(plan: &MapPlan, mut each: impl FnMut(&LayerPlan, &ArrayPlan) -> Result<(), Error>) -> Result<(), Error> {
    let mut done = std::collections::BTreeSet::new();
    for layer in plan.layers.iter().filter(|layer| layer.left_out.is_none()) {
        for array in layer.arrays.iter().filter(|array| done.insert(&array.name)) {
            each(layer, array)?;
        }
    }
    Ok(())
}

impl LayerPlan {
    /// Whether blocks are taken out of an array.
    fn loses_blocks_of(&self, array: &ArrayPlan) -> bool {
        array.source.shape.len() == 4 && !self.taken_out.is_empty()
    }
}

fn one(draft: &Draft<'_>, plan: &MapPlan) -> Result<(), Error> {
    lost_of(draft, plan)?;
    if let Some(description) = &plan.description {
        draft.file(&plan.name.join(FILE_NAME), description)?;
    }
    if plan.action != Action::Rebuild {
        return Ok(());
    }
    each_array(plan, |_, array| write_array(draft, plan, array))
}

fn write_array(draft: &Draft<'_>, plan: &MapPlan, array: &ArrayPlan) -> Result<(), Error> {
    let input = open_input(&plan.dir.join(&array.name))?;
    let name = plan.name.join(&array.name);
    let mut out = Writer::new(draft, &name)?;
    for part in parts(array) {
        match part {
            Part::Bytes(bytes) => out.put(&bytes)?,
            Part::Copied(span) => out.span(&input, span)?,
            Part::Zeros(count) => out.zeros(count)?,
        }
    }
    out.done()?;
    input.unchanged()
}

/// Keeps what an array has before and behind its numbers, if it is written anew.
fn keep_ends(draft: &Draft<'_>, plan: &MapPlan, array: &ArrayPlan) -> Result<(), Error> {
    let input = open_input(&plan.dir.join(&array.name))?;
    let npy = &array.source;
    let head = Span::new(0, npy.data.start);
    let name = plan.name.join(&array.name);
    if array.new_header || array.keep.is_some() {
        let mut old = Writer::new(draft, &lost_name(draft, &name, ".header.bin"))?;
        old.span(&input, head)?;
        old.done()?;
    }
    let end = input.source.len();
    if npy.data.end < end {
        let mut behind = Writer::new(draft, &lost_name(draft, &name, ".behind.bin"))?;
        behind.span(&input, Span::new(npy.data.end, end))?;
        behind.done()?;
    }
    input.unchanged()
}

/// A part of an array that is written anew.
enum Part {
    Bytes(Vec<u8>),
    /// Bytes of the array in the save.
    Copied(Span),
    Zeros(u64),
}

/// What an array is made of: its header, the rows that are kept, and what is filled.
fn parts(array: &ArrayPlan) -> Vec<Part> {
    let npy = &array.source;
    let rows = array.keep.as_ref().map(|keep| keep.iter().map(|run| run.end - run.start).sum());
    let first = npy.shape.first().copied().unwrap_or(0);
    let header = if array.new_header || rows.is_some() {
        let version = if (1..=3).contains(&npy.version) { npy.version } else { 1 };
        Part::Bytes(Npy { version, ..with_rows(npy, rows.unwrap_or(first)) }.encode(ALIGN))
    } else {
        Part::Copied(Span::new(0, npy.data.start))
    };
    let mut parts = vec![header];
    match &array.keep {
        None => parts.push(Part::Copied(npy.span(0, npy.there()))),
        // In Fortran order all rows of a column are contiguous.
        Some(keep) if npy.fortran => {
            let run_of = |column: u64, run: &Range<u64>| npy.span(column * first + run.start, run.end - run.start);
            let columns = (0..row_numbers(npy)).flat_map(|column| keep.iter().map(move |run| (column, run)));
            parts.extend(columns.map(|(column, run)| Part::Copied(run_of(column, run))));
        }
        Some(keep) => {
            let span = |run: &Range<u64>| Span::new(row(npy, run.start).start, row(npy, run.end - 1).end);
            parts.extend(keep.iter().map(|run| Part::Copied(span(run))));
        }
    }
    parts.push(Part::Zeros(array.fill.saturating_mul(npy.dtype.size())));
    parts
}

/// How the file of an array is read as it is written.
pub(in crate::repair) fn as_written(plan: &MapPlan, array: &ArrayPlan) -> Result<Restoration, Error> {
    let input = open_input(&plan.dir.join(&array.name))?;
    let (mut pieces, mut at) = (Vec::new(), 0u64);
    let mut add = |from, len: u64| {
        if len > 0 {
            pieces.push(Piece { start: at, from });
            at += len;
        }
    };
    for part in parts(array) {
        match part {
            Part::Bytes(bytes) => bytes.iter().for_each(|byte| add(PieceFrom::Byte(*byte), 1)),
            Part::Copied(span) => add(PieceFrom::At(span.start), span.len()),
            Part::Zeros(count) => add(PieceFrom::Byte(0), count),
        }
    }
    let mut restoration = input.source.restoration().map(|own| Restoration::clone(own)).unwrap_or_default();
    restoration.take_pieces(pieces, at);
    Ok(restoration)
}

/// The description of the blocks that are taken out of a layer.
#[derive(Serialize)]
struct RowsReport<'r> {
    file: String,
    layer: &'r str,
    /// The end of the name of their array.
    array: Option<&'static str>,
    axes: &'static str,
    rows: Vec<RowReport>,
}

/// A row that is taken out, and its place in the array.
#[derive(Serialize)]
struct RowReport {
    row: u64,
    block: Option<[i32; 3]>,
    why: &'static str,
    place: Option<u64>,
}

/// The blocks that are taken out of a layer: their voxels in one array, and a list.
fn taken_out(draft: &Draft<'_>, plan: &MapPlan, layer: &LayerPlan, array: &ArrayPlan) -> Result<(), Error> {
    let path = plan.dir.join(&array.name);
    let input = open_input(&path)?;
    let name = plan.name.join(&array.name);
    let npy = &array.source;
    let with_voxels: Vec<u64> = layer.taken_out.iter().filter(|t| t.voxels).map(|t| t.row).collect();
    let mut place = 0u64;
    let list: Vec<_> = layer
        .taken_out
        .iter()
        .map(|t| {
            let at = t.voxels.then(|| {
                place += 1;
                place - 1
            });
            RowReport { row: t.row, block: t.block, why: t.why, place: at }
        })
        .collect();
    let about = RowsReport {
        file: crate::printable::path(&name),
        layer: &layer.name,
        array: (place > 0).then_some(".rows.npy"),
        axes: "place, x, y, z",
        rows: list,
    };
    draft.file(&lost_name(draft, &name, ".rows.json"), &pretty(&about))?;
    if with_voxels.is_empty() {
        return Ok(());
    }
    let mut out = Writer::new(draft, &lost_name(draft, &name, ".rows.npy"))?;
    let header = Npy { version: 1, fortran: false, ..with_rows(npy, with_voxels.len() as u64) };
    out.put(&header.encode(ALIGN))?;
    let mut bytes = Vec::new();
    for number in with_voxels {
        read_row(&input.source, npy, number, &mut bytes).map_err(Error::read(&path))?;
        if npy.fortran {
            bytes = in_c_order(&bytes, npy.dtype.size() as usize);
        }
        out.put(&bytes)?;
        out.zeros((BLOCK_VOXELS * npy.dtype.size()).saturating_sub(bytes.len() as u64))?;
    }
    out.done()
}

/// A block of 16 x 16 x 16 numbers, turned around.
fn in_c_order(bytes: &[u8], size: usize) -> Vec<u8> {
    let cell = |x: usize, y: usize, z: usize| {
        let at = ((z * 16 + y) * 16 + x) * size;
        bytes.get(at..at + size).map_or_else(|| vec![0; size], <[u8]>::to_vec)
    };
    (0..16).flat_map(|x| (0..16).flat_map(move |y| (0..16).flat_map(move |z| cell(x, y, z)))).collect()
}
