//! What a picture lacks: blocks that cannot be read, files that cannot, and blocks that are drawn in a wrong place.

use std::collections::HashSet;
use std::path::PathBuf;

use super::voxels::Odd;
use crate::check;
use crate::save::{Forest, Kind, Save};
use crate::watch::Watch;
use crate::world::{At, Fault};

/// What a picture lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PictureFaults {
    /// Blocks that could not be drawn completely.
    pub damaged: Vec<Odd>,
    /// Files that could not be read, or not completely.
    pub files: Vec<Fault>,
    /// Blocks of the drawn region files that the tables lead to although they belong elsewhere, or may.
    pub misplaced: u64,
}

/// Blocks in wrong places, of the region files that have these blocks.
pub(super) fn misplaced<'a>(
    save: &Save,
    forest: &Forest,
    blocks: impl Iterator<Item = &'a At>,
    watch: &Watch<'_>,
) -> u64 {
    // A file of one block leaves no doubt about its place.
    if forest.kind == Kind::BlockFiles {
        return 0;
    }
    let numbers: HashSet<u32> = blocks.map(At::file_number).collect();
    let files = (0u32..).zip(&forest.regions).filter(|(number, _)| numbers.contains(number));
    let paths: HashSet<PathBuf> = files.map(|(_, file)| forest.dir.join(&file.name)).collect();
    check::misplaced_in(save, &paths, watch)
}
