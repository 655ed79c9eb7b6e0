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

/// The files of a save, with what shows that they changed.
pub(super) struct Stamps(Vec<(PathBuf, Stamp)>);

fn stamp(path: &Path) -> Stamp {
    let metadata = fs::symlink_metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()))
}

impl Stamps {
    /// Those of all files that have blocks, and of what is read with them.
    pub fn read(save: &Save) -> Self {
        let mut paths = Vec::new();
        for file in save.files() {
            match file {
                File::Map(map) => {
                    let names = map.layers().flat_map(|layer| [&layer.data_file, &layer.index_file, &layer.depth_file]);
                    let names = names.flatten().filter(|name| plain_name(name).is_ok()).map(String::as_str);
                    paths.extend(names.chain([FILE_NAME]).map(|name| map.dir.join(name)));
                }
                File::Stream(stream) => {
                    for ending in ["-journal", "-wal"] {
                        let mut beside = stream.path.clone().into_os_string();
                        beside.push(ending);
                        paths.push(beside.into());
                    }
                    paths.push(stream.path.clone());
                }
                File::Region(..) | File::Pak(..) => paths.push(file.path()),
            }
        }
        let stamped = |path: PathBuf| {
            let stamp = stamp(&path);
            (path, stamp)
        };
        Self(paths.into_iter().map(stamped).collect())
    }

    /// Checks that none of them has changed.
    pub fn unchanged(&self) -> Result<(), draft::Error> {
        match self.0.iter().find(|(path, before)| stamp(path) != *before) {
            Some((path, _)) => Err(draft::Error::Changed(path.clone())),
            None => Ok(()),
        }
    }
}
