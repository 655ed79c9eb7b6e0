//! What a picture lacks: blocks that cannot be read, files that cannot, and blocks that are drawn in a wrong place.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use super::voxels::Odd;
use crate::bytes::index;
use crate::check::{self, BlockObserver, Misplaced};
use crate::damage::Level;
use crate::save::{Forest, Kind, PakDir, RegionFile, Save};
use crate::source::FileSource;
use crate::voxel_map::Map;
use crate::voxel_map::grid::Grid;
use crate::voxel_map::map_json::Layer;
use crate::watch::Watch;
use crate::world::{At, Fault};

/// What a picture lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PictureFaults {
    /// Blocks that could not be drawn completely.
    pub damaged: Vec<Odd>,
    /// Files that could not be read, or not completely.
    pub files: Vec<Fault>,
    /// Files that are damaged and were read nevertheless: see [`Index::corrected`](crate::world::Index::corrected).
    pub corrected: Vec<Fault>,
    /// Damage of the files of a layer of a voxel map, which is drawn as far as they can be read.
    pub layers: Vec<Fault>,
    /// Blocks of the drawn region files, and drawn chunks, that the tables lead to although they belong elsewhere, or may.
    pub misplaced: Misplaced,
    /// Blocks that are not drawn because another one has their position.
    pub twice: u64,
    /// Whether the blocks are chunks of pak regions.
    pub is_of_chunks: bool,
}

/// Damage of the files of a layer, without notes and without files that were not read when the save was opened: those are
/// faults of the save.
pub(super) fn layer_faults(save: &Save, map: &Map, layer: &Layer, grid: &Grid<FileSource>) -> Vec<Fault> {
    let unread: HashSet<String> = save.unread().map(|fault| save.shown(&fault.path)).collect();
    let damaged = grid.faults.iter().filter(|fault| fault.damage.code.level() > Level::Note);
    let named = damaged.map(|fault| {
        let damage = fault.damage.to_string();
        let file = check::part_name(save, map, layer, fault.part).to_string();
        let why = match &fault.detail {
            // The detail of a missing file is its name.
            Some(detail) if !file.ends_with(detail.as_str()) => format!("{damage}: {}", detail.trim_end_matches('.')),
            _ => damage,
        };
        Fault { file, why }
    });
    named.filter(|fault| !unread.contains(&fault.file)).collect()
}

/// Blocks in wrong places, of the region files that have the drawn blocks, and unowned blocks of these files and of those whose
/// regions are in the picture. `observer` sees blocks while they are checked.
pub(super) fn misplaced<'a>(
    save: &Save,
    forest: &Forest,
    blocks: impl Iterator<Item = &'a At>,
    is_in_picture: impl Fn(&RegionFile) -> bool,
    observer: Option<BlockObserver<'_>>,
    watch: &Watch<'_>,
) -> Misplaced {
    // A file of one block leaves no doubt about its place.
    if forest.kind == Kind::BlockFiles {
        return Misplaced::default();
    }
    let numbers: HashSet<u32> = blocks.map(At::file_number).collect();
    let files = (0u32..).zip(&forest.regions).filter(|(number, _)| numbers.contains(number));
    let paths: HashSet<PathBuf> = files.map(|(_, file)| forest.dir.join(&file.name)).collect();
    let others = forest.regions.iter().filter(|file| is_in_picture(file));
    let others: HashSet<PathBuf> = others.map(|file| forest.dir.join(&file.name)).collect();
    check::misplaced_observed(save, forest, &paths, &others, observer, watch)
}

/// The positions of the first and of the last block that a region may have; `None` if its size is not known.
pub(super) fn corners_of_region(file: &RegionFile) -> Option<[[i32; 3]; 2]> {
    let size = file.header.as_ref()?.format.region_size;
    let first = [0, 1, 2].map(|axis| file.position[axis].saturating_mul(size[axis].into()));
    let last = [0, 1, 2].map(|axis| first[axis].saturating_add(i32::from(size[axis]).saturating_sub(1)));
    Some([first, last])
}

/// How many of the chunks of pak regions, by file and record, belong elsewhere, or may. Files that cannot be read are left out.
pub(super) fn misplaced_chunks(
    save: &Save,
    dir: &PakDir,
    chunks: impl Iterator<Item = (u32, u32)>,
    watch: &Watch<'_>,
) -> u64 {
    let mut of_file: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    chunks.for_each(|(file, record)| of_file.entry(file).or_default().push(record));
    let count = |(file, records): (u32, Vec<u32>)| {
        let pak = save.pak(dir, dir.files.get(index(file.into()))?, &mut Vec::new()).ok()??;
        let found = check::misplaced_chunks(&pak, watch).ok()?;
        Some(records.iter().filter(|record| found.contains_key(record)).count() as u64)
    };
    of_file.into_iter().filter_map(count).sum()
}
