//! What the arrays of a voxel map and its description say of each other, beyond what is wrong with each.

use crate::bytes::index;
use crate::damage::Code;
use crate::limits::Limits;
use crate::source::{FileSource, Source};
use crate::trace::map::{self, Role, same_rows, text};
use crate::voxel_map::Map;
use crate::voxel_map::grid::{BLOCK, BLOCK_VOXELS, Fault, Grid, Part};
use crate::voxel_map::map_json::{FILE_NAME, Format, Layer, plain_name};

/// Rows with the same place that are compared.
const COMPARED: u64 = 1024;

/// What can be read of a description that is damaged.
pub(super) fn of_description(map: &Map, limits: &Limits) -> String {
    let mut bytes = Vec::new();
    let read = FileSource::open(&map.dir.join(FILE_NAME))
        .is_ok_and(|file| file.read_into(0, index(file.len().min(limits.map_json_bytes)), &mut bytes).is_ok());
    let data = text::recover(&bytes).filter(|_| read).and_then(|json| text::data(&json));
    match data.map(|data| data.layers().count()) {
        None => "Not even the global layer can be read.".to_owned(),
        Some(1) => "One layer can be read, as far as the text goes.".to_owned(),
        Some(n) => format!("{n} layers can be read, as far as the text goes."),
    }
}

/// What else is known of a fault, in a sentence.
pub(super) fn of(map: &Map, layer: &Layer, grid: &Grid<FileSource>, fault: &Fault) -> Option<String> {
    match fault.damage.code {
        Code::MapIndexTwice => twice(grid),
        Code::NpyTruncated => cut(grid, fault.part),
        Code::NpyMagic | Code::NpyVersion | Code::NpyHeader | Code::NpyShape | Code::NpyDtype | Code::MapShape => {
            header(map, layer, grid, fault.part)
        }
        _ => None,
    }
}

/// Whether blocks at one place are the same.
fn twice(grid: &Grid<FileSource>) -> Option<String> {
    let data = grid.data.as_ref()?;
    let (mut same, mut other, mut looked) = (0u64, 0u64, 0u64);
    for (row, block) in grid.index.rows() {
        let Some(first) = grid.index.find(block).filter(|first| *first < row) else { continue };
        if looked >= COMPARED {
            return Some(format!("Of the first {COMPARED}, {same} have the voxels of the block before them."));
        }
        looked += 1;
        match same_rows(&data.source, &data.npy, u64::from(first), u64::from(row)) {
            Ok(true) => same += 1,
            Ok(false) => other += 1,
            Err(_) => return None,
        }
    }
    Some(match (same, other) {
        (_, 0) => "They have the same voxels as the blocks before them.".to_owned(),
        (0, _) => "They have other voxels than the blocks before them.".to_owned(),
        _ => format!("{same} have the same voxels as the block before them, {other} have others."),
    })
}

/// How much of an array is whole.
fn cut(grid: &Grid<FileSource>, part: Part) -> Option<String> {
    let array = if part == Part::Depth { &grid.depth } else { &grid.data };
    let npy = &array.as_ref().filter(|_| part != Part::Index)?.npy;
    let (there, all) = (npy.there(), npy.declared());
    Some(if grid.format == Some(Format::BlockSparse) && part == Part::Data && !npy.fortran {
        format!("{} of {} blocks are whole.", there / BLOCK_VOXELS, all / BLOCK_VOXELS)
    } else {
        format!("{there} of {all} numbers are there.")
    })
}

/// What the length of the file says of a header that is wrong, or of a description that disagrees with it.
fn header(map: &Map, layer: &Layer, grid: &Grid<FileSource>, part: Part) -> Option<String> {
    let side = u64::from(BLOCK);
    let blocks = || layer.block_count.into_iter().chain((!grid.index.is_empty()).then(|| u64::from(grid.index.len())));
    let dim = layer.dim.map(|dim| dim.map(u64::from));
    let (name, role, asked): (_, _, Vec<Vec<u64>>) = match part {
        Part::Data if layer.format == Some(Format::BlockSparse) => {
            (&layer.data_file, Role::Data, blocks().map(|n| vec![n, side, side, side]).collect())
        }
        Part::Data => (&layer.data_file, Role::Data, dim.iter().map(|dim| dim.to_vec()).collect()),
        Part::Index => (&layer.index_file, Role::Index, blocks().map(|n| vec![n, 3]).collect()),
        Part::Depth => (&layer.depth_file, Role::Depth, dim.iter().map(|[x, _, z]| vec![*x, *z]).collect()),
        Part::Map => return None,
    };
    let name = name.as_deref().filter(|name| plain_name(name).is_ok())?;
    let source = FileSource::open(&map.dir.join(name)).ok()?;
    let array = map::array(&source, role, &asked).ok()?.ok()?;
    let shape: Vec<String> = array.npy.shape.iter().map(u64::to_string).collect();
    let is = format!("({}) {}", shape.join(", "), array.npy.dtype.name());
    Some(match (array.header, array.missing) {
        (Some(_), _) => format!("The length of the file fits what the description asks for, {is}."),
        (None, 0) => format!("The length of the file fits its header, {is}."),
        _ => return None,
    })
}
