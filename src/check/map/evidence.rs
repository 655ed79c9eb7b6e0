//! Additional evidence about faults of a voxel map: how its description and its arrays agree.

use crate::bytes::index;
use crate::damage::Code;
use crate::limits::Limits;
use crate::printable::{count, grouped};
use crate::recover::map::{self, Role, same_rows, text};
use crate::source::{FileSource, Source};
use crate::voxel_map::Map;
use crate::voxel_map::grid::{BLOCK, BLOCK_VOXELS, Fault, Grid, LayerFile};
use crate::voxel_map::map_json::{FILE_NAME, Format, Layer, plain_name};

/// Number of rows with the same position that are compared.
const COMPARED: u64 = 1024;

/// Which layers of a damaged description can be read.
pub(super) fn of_description(map: &Map, limits: &Limits) -> String {
    let mut bytes = Vec::new();
    let read = FileSource::open(&map.dir.join(FILE_NAME))
        .is_ok_and(|file| file.read_into(0, index(file.len().min(limits.map_json_bytes)), &mut bytes).is_ok());
    let data = text::recover(&bytes).filter(|_| read).and_then(|json| text::data(&json));
    let Some(data) = data else { return "Not even the global layer can be read.".to_owned() };
    // Without the place of the global layer the map has none; a repair leaves out local layers without one.
    let is_placed = |layer: &&Layer| layer.origin.is_some() && layer.step.is_some();
    if data.global.as_ref().is_some_and(|global| !is_placed(&global)) {
        return "No layer can be read: the place of the global layer was cut off with the end.".to_owned();
    }
    match data.layers().filter(is_placed).count() {
        0 => "No layer can be read from the part that is there.".to_owned(),
        1 => "One layer can be read from the part that is there.".to_owned(),
        n => format!("{n} layers can be read from the part that is there."),
    }
}

/// Further information about a fault, in a sentence.
pub(super) fn describe_fault(map: &Map, layer: &Layer, grid: &Grid<FileSource>, fault: &Fault) -> Option<String> {
    match fault.damage.code {
        Code::MapIndexTwice => twice(grid),
        Code::NpyTruncated => cut(grid, fault.part),
        Code::NpyMagic | Code::NpyVersion | Code::NpyHeader | Code::NpyShape | Code::NpyDtype | Code::MapShape => {
            header(map, layer, grid, fault.part)
        }
        _ => None,
    }
}

/// Whether blocks at the same position are equal.
fn twice(grid: &Grid<FileSource>) -> Option<String> {
    let data = grid.data.as_ref()?;
    let (mut same, mut other, mut looked) = (0u64, 0u64, 0u64);
    for (row, block) in grid.index.rows() {
        let Some(first) = grid.index.find(block).filter(|first| *first < row) else { continue };
        if looked >= COMPARED {
            return Some(format!("Of the first {COMPARED}, {same} are equal to the earlier block."));
        }
        looked += 1;
        match same_rows(&data.source, &data.npy, u64::from(first), u64::from(row)) {
            Ok(true) => same += 1,
            Ok(false) => other += 1,
            Err(_) => return None,
        }
    }
    Some(match (same, other) {
        (_, 0) => "Their voxels are equal to those of the earlier blocks.".to_owned(),
        (0, _) => "Their voxels differ from those of the earlier blocks.".to_owned(),
        _ => format!("{same} are equal to the earlier block, {other} differ from it."),
    })
}

/// How much of an array is whole.
fn cut(grid: &Grid<FileSource>, part: LayerFile) -> Option<String> {
    let array = if part == LayerFile::Depth { &grid.depth } else { &grid.data };
    let npy = &array.as_ref().filter(|_| part != LayerFile::Index)?.npy;
    let (there, all) = (npy.there(), npy.declared());
    Some(if grid.format == Some(Format::BlockSparse) && part == LayerFile::Data && !npy.fortran {
        let (there, all) = (there / BLOCK_VOXELS, all / BLOCK_VOXELS);
        let are = if all == 1 { "is" } else { "are" };
        format!("{} of {} {are} whole.", grouped(there), count(all, "block"))
    } else {
        format!("{} of {} are in the file.", grouped(there), count(all, "number"))
    })
}

/// Whether the length of the file confirms its header or the description, which disagree.
fn header(map: &Map, layer: &Layer, grid: &Grid<FileSource>, part: LayerFile) -> Option<String> {
    let side = u64::from(BLOCK);
    let blocks = || layer.block_count.into_iter().chain((!grid.index.is_empty()).then(|| u64::from(grid.index.len())));
    let dim = layer.dim.map(|dim| dim.map(u64::from));
    let (name, role, asked): (_, _, Vec<Vec<u64>>) = match part {
        LayerFile::Data if layer.format == Some(Format::BlockSparse) => {
            (&layer.data_file, Role::Data, blocks().map(|n| vec![n, side, side, side]).collect())
        }
        LayerFile::Data => (&layer.data_file, Role::Data, dim.iter().map(|dim| dim.to_vec()).collect()),
        LayerFile::Index => (&layer.index_file, Role::Index, blocks().map(|n| vec![n, 3]).collect()),
        LayerFile::Depth => (&layer.depth_file, Role::Depth, dim.iter().map(|[x, _, z]| vec![*x, *z]).collect()),
        LayerFile::Map => return None,
    };
    let name = name.as_deref().filter(|name| plain_name(name).is_ok())?;
    let source = FileSource::open(&map.dir.join(name)).ok()?;
    let array = map::array(&source, role, &asked).ok()?.ok()?;
    let shape: Vec<String> = array.npy.shape.iter().map(u64::to_string).collect();
    let is = format!("({}) {}", shape.join(", "), array.npy.dtype.name());
    Some(match (array.header, array.missing) {
        (Some(_), _) => format!("The length of the file matches the description, {is}."),
        (None, 0) => format!("The length of the file matches its header, {is}."),
        _ => return None,
    })
}
