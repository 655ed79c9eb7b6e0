//! Why a block is in no table that was read: its file, or a directory above it, was not read.

use std::path::PathBuf;

use super::{Forest, Kind, RegionFile, Save};
use crate::damage::Level;
use crate::godot::block_files;
use crate::godot::region;
use crate::godot::slots::{self, SlotFormula};

impl Save {
    /// The file that would have a block of a forest, if it was not read, and why, both in words.
    #[must_use]
    pub fn unread_file_of(&self, forest: &Forest, lod: u8, position: [i32; 3]) -> Option<(String, String)> {
        let path = path_of_block(forest, lod, position)?;
        let fault = self.unread().find(|fault| path.starts_with(&fault.path));
        if let Some(fault) = fault {
            return Some((self.shown(&fault.path), fault.why()));
        }
        let is_it = |file: &&RegionFile| forest.dir.join(&file.name) == path && file.header.is_none();
        let file = forest.regions.iter().find(is_it)?;
        let damage = file.damage.iter().find(|damage| damage.code.level() == Level::Error)?;
        Some((self.shown(&path), damage.to_string()))
    }
}

/// The file that the game looks for when it loads a block; `None` if the size of regions is not known.
fn path_of_block(forest: &Forest, lod: u8, position: [i32; 3]) -> Option<PathBuf> {
    if forest.kind == Kind::BlockFiles {
        return Some(forest.dir.join(format!("blocks/lod{lod}")).join(block_files::name_of(position)));
    }
    let own = || forest.regions.iter().find_map(|file| file.header.as_ref().map(|header| header.format));
    let size = forest.format.or_else(own)?.region_size;
    // Both formulas agree on the region.
    let (region, _) = slots::place_block(position, size, SlotFormula::Euclidean)?;
    let dir = match forest.kind {
        Kind::Loose => PathBuf::new(),
        _ => forest.layout.lod_dir(lod),
    };
    Some(forest.dir.join(dir).join(region::name_of(region)))
}
