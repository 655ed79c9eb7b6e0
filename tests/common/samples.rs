//! The samples of `voxscope demo`: made once in a program of tests, and written from memory for each test.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::thread;

use rayon::ThreadPoolBuilder;
use voxscope::demo::{self, Sample};

enum Content {
    Directory,
    File(Vec<u8>),
    Link(PathBuf),
}

/// Paths below the directory of all samples, those of directories before what is in them.
static CONTENTS: LazyLock<Vec<(PathBuf, Content)>> = LazyLock::new(|| {
    // On threads of its own: while a thread of the common pool waits, it takes up other tests, which wait for these samples.
    let made = thread::spawn(|| ThreadPoolBuilder::new().build().unwrap().install(make));
    made.join().unwrap()
});

fn make() -> Vec<(PathBuf, Content)> {
    let dir = tempfile::tempdir().unwrap();
    demo::write_all(dir.path()).unwrap();
    let mut contents = Vec::new();
    read(dir.path(), Path::new(""), &mut contents);
    contents
}

fn read(root: &Path, below: &Path, contents: &mut Vec<(PathBuf, Content)>) {
    for entry in fs::read_dir(root.join(below)).unwrap().map(Result::unwrap) {
        let (path, kind) = (below.join(entry.file_name()), entry.file_type().unwrap());
        if kind.is_dir() {
            contents.push((path.clone(), Content::Directory));
            read(root, &path, contents);
        } else if kind.is_symlink() {
            contents.push((path, Content::Link(fs::read_link(entry.path()).unwrap())));
        } else {
            assert!(kind.is_file(), "{}", path.display());
            contents.push((path, Content::File(fs::read(entry.path()).unwrap())));
        }
    }
}

/// Writes every sample below `dir`, as [`demo::write_all`] does.
pub fn write(dir: &Path) -> Vec<&'static Sample> {
    write_part(dir, Path::new(""));
    demo::samples().collect()
}

/// Writes some samples, such as `damaged/table-gap`, to the same places below `dir`.
pub fn write_some(dir: &Path, samples: &[&str]) {
    samples.iter().for_each(|sample| write_part(dir, Path::new(sample)));
}

/// Writes what is below `part` of the directory of all samples, to the same place below `dir`.
pub fn write_part(dir: &Path, part: &Path) {
    fs::create_dir_all(dir.join(part)).unwrap();
    for (path, content) in CONTENTS.iter().filter(|(path, _)| path.starts_with(part)) {
        let path = dir.join(path);
        match content {
            Content::Directory => fs::create_dir_all(path).unwrap(),
            Content::File(bytes) => fs::write(path, bytes).unwrap(),
            Content::Link(to) => link(to, &path),
        }
    }
}

#[cfg(unix)]
fn link(to: &Path, path: &Path) {
    std::os::unix::fs::symlink(to, path).unwrap();
}

#[cfg(not(unix))]
fn link(_: &Path, path: &Path) {
    unreachable!("{} is not made here", path.display());
}
