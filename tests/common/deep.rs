//! Files that nobody can open, the superuser included: their paths are too long for the system.

use std::fs;
use std::path::{Path, PathBuf};

/// Bytes of the longest path that Linux takes.
const LONGEST: usize = 4095;

/// Moves a directory so deep below `to` that a path in it can be opened if it is as long as `inside` or shorter, and
/// cannot if it is longer.
pub fn sink(dir: &Path, to: &Path, inside: &str) -> PathBuf {
    let length = LONGEST - 1 - inside.len();
    let mut deep = to.to_owned();
    while deep.as_os_str().len() + 1 + 400 < length {
        deep.push("d".repeat(200));
        fs::create_dir(&deep).unwrap();
    }
    let rest = length - deep.as_os_str().len() - 1;
    let (first, last) = (rest / 2, rest - rest / 2 - 1);
    deep.push("d".repeat(first));
    fs::create_dir(&deep).unwrap();
    deep.push("d".repeat(last));
    fs::rename(dir, &deep).unwrap();
    assert_eq!(deep.as_os_str().len(), length);
    deep
}
