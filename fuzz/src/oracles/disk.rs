//! Files of an input on the disk, for what opens paths. Each thread has a directory of its own: tests run several inputs at
//! once.

use std::path::{Path, PathBuf};

fn base() -> PathBuf {
    let thread = format!("{:?}", std::thread::current().id()).replace(['(', ')'], "");
    std::env::temp_dir().join(format!("voxscope-fuzz-{}-{thread}", std::process::id()))
}

/// Makes a directory of this name and returns its path.
pub fn directory(name: &str) -> PathBuf {
    let dir = base().join(name);
    std::fs::create_dir_all(&dir).expect("the directory for temporary files can be written");
    dir
}

/// Writes a file at a path below a directory. The path must not come from the input.
pub fn write(dir: &Path, below: impl AsRef<Path>, bytes: &[u8]) -> PathBuf {
    let path = dir.join(below);
    let parent = path.parent().unwrap_or(dir);
    std::fs::create_dir_all(parent).expect("the directory of a temporary file can be made");
    std::fs::write(&path, bytes).expect("a temporary file can be written");
    path
}

/// Removes the files of this thread.
pub fn clean() {
    // The system cleans up what cannot be removed.
    let _ = std::fs::remove_dir_all(base());
}
