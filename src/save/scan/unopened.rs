//! Files with blocks that are there and could not be opened, or were not because of their names: region files, pak regions,
//! arrays of voxel maps.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::bytes::Span;
use crate::damage::Damage;
use crate::godot::block_files::BLOCK_MAGIC;
use crate::godot::region::{MAGIC, voxedit_version};
use crate::save::{Fault, Save};
use crate::source::{FileSource, OpenError, Source};
use crate::voxel_map::map_json::plain_name;

/// Such files, in the order of their paths.
pub(super) fn find(save: &Save) -> Vec<Fault> {
    let regions = save.regions().filter_map(|(forest, file)| {
        let damage = file.damage.iter().find(|damage| file.detail.is_some() && damage.code.is_unread())?;
        Some(Fault { path: forest.dir.join(&file.name), damage: *damage, detail: file.detail.clone() })
    });
    let paks = save.pak_dirs.iter().flat_map(|dir| dir.files.iter().map(move |file| (dir, file)));
    let paks = paks.filter_map(|(dir, file)| Some(fault(&dir.dir.join(&file.name), file.refused.as_ref()?)));
    let maps = save.maps.iter().flat_map(|map| map.layers().map(move |layer| (map, layer)));
    let arrays = maps.flat_map(|(map, layer)| {
        let names = [&layer.data_file, &layer.index_file, &layer.depth_file].into_iter().flatten();
        names.filter(|name| plain_name(name).is_ok()).map(|name| map.dir.join(name))
    });
    let arrays = arrays.filter_map(|path| match FileSource::open(&path) {
        // What is missing is damage of the map.
        Err(OpenError::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => Some(fault(&path, &error)),
        Ok(_) => None,
    });
    let mut found: Vec<Fault> = regions.chain(paks).chain(arrays).chain(misnamed(save)).collect();
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found.dedup_by(|a, b| a.path == b.path);
    found
}

/// Files of blocks that are not read because the game does not look for their names, or not in their place.
fn misnamed(save: &Save) -> Vec<Fault> {
    let mut named = save.faults.iter().filter(|fault| fault.is_misnamed()).peekable();
    if named.peek().is_none() {
        return Vec::new();
    }
    let read: HashSet<PathBuf> = save.regions().map(|(forest, file)| forest.dir.join(&file.name)).collect();
    let named = named.filter(|fault| !read.contains(&fault.path) && may_have_blocks(&fault.path));
    named
        .map(|fault| Fault { path: fault.path.clone(), damage: fault.damage, detail: Some(NOT_READ.to_owned()) })
        .collect()
}

/// What follows from the name of such a file.
const NOT_READ: &str = "its blocks were not read";

/// Whether a file is one of blocks by its ending or its first bytes, and not one of another program.
fn may_have_blocks(path: &Path) -> bool {
    if !path.is_file() {
        return false;
    }
    let name = path.file_name().unwrap_or_default().to_ascii_lowercase();
    let is_named = [b".vxr".as_slice(), b".vxb"].iter().any(|ending| name.as_encoded_bytes().ends_with(ending));
    let Ok(file) = FileSource::open(path) else { return is_named };
    let mut prefix = Vec::new();
    if file.read_into(0, MAGIC.len(), &mut prefix).is_err() {
        return is_named;
    }
    prefix == MAGIC
        || prefix == BLOCK_MAGIC
        || (is_named && !prefix.is_empty() && voxedit_version(&prefix, file.len(), None).is_none())
}

fn fault(path: &Path, error: &OpenError) -> Fault {
    let damage = Damage::new(error.code(), Span::default(), "file");
    Fault { path: path.to_owned(), damage, detail: Some(error.to_string()) }
}
