//! Files with blocks that are there and could not be opened: region files, pak regions, arrays of voxel maps.

use std::path::Path;

use crate::bytes::Span;
use crate::damage::Damage;
use crate::save::{Fault, Save};
use crate::source::{FileSource, OpenError};
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
    let mut found: Vec<Fault> = regions.chain(paks).chain(arrays).collect();
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found.dedup_by(|a, b| a.path == b.path);
    found
}

fn fault(path: &Path, error: &OpenError) -> Fault {
    let damage = Damage::new(error.code(), Span::default(), "file");
    Fault { path: path.to_owned(), damage, detail: Some(error.to_string()) }
}
