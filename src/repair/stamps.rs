//! Whether a save stays as it is while it is repaired: blocks are written from the places that the plan has for them, long
//! after these were found.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::draft;
use crate::save::{File, Save};
use crate::voxel_map::map_json::{FILE_NAME, plain_name};

/// Length and time of a file; `None` if it is not there.
type Stamp = Option<(u64, Option<SystemTime>)>;

/// What shows that files of a save changed, in their order.
pub(super) struct Stamps(Vec<Stamp>);

fn stamp(path: &Path) -> Stamp {
    let metadata = fs::symlink_metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()))
}

/// The files of a save that have blocks, and what is read with them.
fn paths(save: &Save) -> impl Iterator<Item = PathBuf> {
    save.files().flat_map(|file| match file {
        File::Map(map) => {
            let names = map.layers().flat_map(|layer| [&layer.data_file, &layer.index_file, &layer.depth_file]);
            let names = names.flatten().filter(|name| plain_name(name).is_ok()).map(String::as_str);
            names.chain([FILE_NAME]).map(|name| map.dir.join(name)).collect()
        }
        File::Stream(stream) => {
            let beside = |ending| {
                let mut beside = stream.path.clone().into_os_string();
                beside.push(ending);
                beside.into()
            };
            vec![beside("-journal"), beside("-wal"), stream.path.clone()]
        }
        File::Region(..) | File::Pak(..) => vec![file.path()],
    })
}

impl Stamps {
    /// Those of all files that have blocks, and of what is read with them.
    pub fn read(save: &Save) -> Self {
        Self(paths(save).map(|path| stamp(&path)).collect())
    }

    /// Checks that none of the files of the same save has changed.
    pub fn unchanged(&self, save: &Save) -> Result<(), draft::Error> {
        match paths(save).zip(&self.0).find(|(path, before)| stamp(path) != **before) {
            Some((path, _)) => Err(draft::Error::Changed(path)),
            None => Ok(()),
        }
    }
}
