//! Names of files in `lost+found`.

use std::path::{Path, PathBuf};

use crate::draft::Draft;
use crate::save::LOST;

/// JSON as written into files.
pub(super) fn json(value: &impl serde::Serialize) -> Vec<u8> {
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = crate::printable::write_json_pretty(&mut text, value);
    text
}

/// The path of a file relative to the save; its name if it is the save itself.
pub(super) fn below(save: &Path, path: &Path) -> PathBuf {
    let below = path.strip_prefix(save).ok().filter(|p| !p.as_os_str().is_empty());
    below.map_or_else(|| path.file_name().map(PathBuf::from).unwrap_or_default(), Path::to_path_buf)
}

/// The name in `lost+found` of data from the file `name`.
pub(super) fn lost_name(draft: &Draft<'_>, name: &Path, ending: &str) -> PathBuf {
    let mut file = name.file_name().unwrap_or_default().to_owned();
    file.push(ending);
    unused(draft, &name.with_file_name(file))
}

/// The destination of a source file that is set aside.
pub(super) fn aside(draft: &Draft<'_>, name: &Path) -> PathBuf {
    unused(draft, &Path::new("files").join(name))
}

/// A free name in `lost+found`: an earlier repair may have left files there.
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
