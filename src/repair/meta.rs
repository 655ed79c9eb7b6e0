//! The meta file of a forest, written anew when it cannot be used: the headers of version 3 region files carry all that
//! it says.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::godot::forest::Meta;
use crate::godot::region::Format;
use crate::save::{Forest, Kind, Save};

/// The name of the meta file.
const NAME: &str = "meta.vxrm";

/// The meta file that a forest should have, with its path below the save; `None` when the one that it has will do, or
/// when nothing says what it should be.
pub(super) fn mend(save: &Save, forest: &Forest) -> Option<(PathBuf, Vec<u8>)> {
    if forest.kind != Kind::Forest {
        return None;
    }
    let usable = forest.meta.as_ref().is_some_and(|meta| {
        meta.format().is_some() && meta.sector_size != Some(1 << 16) && matches!(meta.version, Some(1..=3))
    });
    if usable {
        return None;
    }
    let format = majority(forest)?;
    let [x, y, z] = format.region_size;
    if x != y || y != z || !x.is_power_of_two() {
        return None;
    }
    let meta = Meta {
        version: Some(3),
        block_size_po2: Some(format.block_size_po2),
        region_size_po2: u8::try_from(x.trailing_zeros()).ok(),
        sector_size: Some(format.sector_size),
        depths: Some(format.depths),
        lod_count: forest.meta.as_ref().and_then(|meta| meta.lod_count),
        extra: Vec::new(),
    };
    let path = forest.dir.join(NAME);
    let name = path.strip_prefix(&save.path).map_or_else(|_| NAME.into(), std::path::Path::to_path_buf);
    Some((name, meta.encode()))
}

/// The layout that most region files of version 3 have.
fn majority(forest: &Forest) -> Option<Format> {
    let mut votes: BTreeMap<Vec<u8>, (usize, Format)> = BTreeMap::new();
    for header in forest.regions.iter().filter_map(|file| file.header.as_ref()).filter(|h| h.version == 3) {
        let mut key = Vec::new();
        header.encode(&mut key);
        key.truncate(19);
        votes.entry(key).or_insert((0, header.format)).0 += 1;
    }
    votes.into_values().max_by_key(|(n, _)| *n).map(|(_, format)| format)
}
