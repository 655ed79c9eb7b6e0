//! Saves of `VoxelStreamBlockFiles`, written as the engine did until 2022.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::demo::forest::{self, ForestSpec};
use crate::godot::block_files::{Meta, encode_block_file, name_of};
use crate::godot::container;

/// Files by their paths below the directory of the save.
pub type Files = BTreeMap<PathBuf, Vec<u8>>;

/// All files of a save with the blocks, the versions and the compression of a forest.
///
/// # Errors
/// If a block does not fit its file.
pub fn build(spec: &ForestSpec) -> io::Result<Files> {
    let lods = u8::try_from(spec.lods.len()).unwrap_or(u8::MAX);
    let meta = Meta::new(lods, spec.block_size_po2, spec.depths);
    let mut files = Files::from([(PathBuf::from("meta.vxbm"), meta.encode())]);
    for (lod, extent) in (0u8..).zip(&spec.lods) {
        for position in extent.positions() {
            let mut container = Vec::new();
            container::encode(spec.mode, &spec.block(lod, position).encode(), &mut container);
            let file = encode_block_file(&container).ok_or(io::ErrorKind::InvalidInput)?;
            files.insert(PathBuf::from(format!("blocks/lod{lod}/{}", name_of(position))), file);
        }
    }
    Ok(files)
}

/// Writes such a save into a directory, with changed files.
///
/// # Errors
/// I/O errors, and those of `change`.
pub fn write(dir: &Path, spec: &ForestSpec, change: impl FnOnce(&mut Files) -> io::Result<()>) -> io::Result<()> {
    let mut files = build(spec)?;
    change(&mut files)?;
    files.iter().try_for_each(|(below, bytes)| forest::write_new(dir, below, bytes))
}
