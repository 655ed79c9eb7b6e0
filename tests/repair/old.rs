//! Region files of version 2, whose layout is in the meta file only.

use std::fs;
use std::path::{Path, PathBuf};

use voxscope::save::{Options, Save, Scratch};

use crate::common::samples;
use crate::mend;

/// Writes samples, and gives the path of the one of 2020, and of one of its region files.
fn old(dir: &Path) -> (PathBuf, PathBuf) {
    samples::write_some(dir, &["healthy/old-2020", "healthy/current"]);
    let save = dir.join("healthy/old-2020");
    let file = save.join("regions/lod0/r.0.0.0.vxr");
    (save, file)
}

/// How many blocks of a save can be read.
fn readable(path: &Path) -> usize {
    let save = Save::open(path, &Options::default()).unwrap();
    let (mut count, mut scratch) = (0, Scratch::default());
    for (forest, file) in save.regions() {
        let Some(region) = save.region(forest, file).unwrap() else { continue };
        let whole =
            region.entries.iter().filter(|listed| region.view(listed.entry, &mut scratch).unwrap().is_readable());
        count += whole.count();
    }
    count
}

#[test]
fn one_file_of_a_newer_save_does_not_give_the_others_its_layout() {
    let dir = tempfile::tempdir().unwrap();
    let (save, file) = old(dir.path());
    fs::copy(dir.path().join("healthy/current/regions/lod0/r.0.0.0.vxr"), &file).unwrap();
    let before = readable(&save);
    let copy = dir.path().join("copy");
    mend(&save, &copy, false);
    assert_eq!(fs::read(copy.join("meta.vxrm")).unwrap(), fs::read(save.join("meta.vxrm")).unwrap());
    assert!(readable(&copy) >= before, "{} of {before} can be read", readable(&copy));
}

#[test]
fn a_changed_first_byte_or_version_is_put_right() {
    for (at, bit) in [(0, 0x04), (2, 0x20), (4, 0x40)] {
        let dir = tempfile::tempdir().unwrap();
        let (save, file) = old(dir.path());
        let all = readable(&save);
        let mut bytes = fs::read(&file).unwrap();
        bytes[at] ^= bit;
        fs::write(&file, bytes).unwrap();
        let copy = dir.path().join("copy");
        mend(&save, &copy, false);
        assert_eq!(readable(&copy), all, "byte {at}");
    }
}
