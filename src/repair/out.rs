//! Names of what a repair keeps in `lost+found`.

use std::path::{Path, PathBuf};

use crate::beside::Draft;
use crate::save::LOST;

/// JSON as it is written into files.
pub(super) fn json(value: &serde_json::Value) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).unwrap_or_default();
    text.push(b'\n');
    text
}

/// The path of a file below the save; its name where that is the save itself.
pub(super) fn below(save: &Path, path: &Path) -> PathBuf {
    let below = path.strip_prefix(save).ok().filter(|p| !p.as_os_str().is_empty());
    below.map_or_else(|| path.file_name().map(PathBuf::from).unwrap_or_default(), Path::to_path_buf)
}

/// How a file of `lost+found` is called that comes from the file `name`.
pub(super) fn lost_name(draft: &Draft<'_>, name: &Path, ending: &str) -> PathBuf {
    let mut file = name.file_name().unwrap_or_default().to_owned();
    file.push(ending);
    unused(draft, &name.with_file_name(file))
}

/// Where a file of the source goes that is set aside.
pub(super) fn aside(draft: &Draft<'_>, name: &Path) -> PathBuf {
    unused(draft, &Path::new("files").join(name))
}

/// A name in `lost+found` that is not taken: an earlier repair may have left its own there.
fn unused(draft: &Draft<'_>, name: &Path) -> PathBuf {
    let taken = |path: &PathBuf| std::fs::symlink_metadata(draft.root().join(path)).is_ok();
    let mut path = Path::new(LOST).join(name);
    let mut n = 2u32;
    while taken(&path) && n < u32::MAX {
        path = Path::new(LOST).join(format!("again-{n}")).join(name);
        n += 1;
    }
    path
}
