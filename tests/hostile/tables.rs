//! Full regions whose tables are damaged: the positions of all blocks are in doubt, and the check decides them.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::random::Random;
use super::terrain::{Ground, Terrain};
use super::{MOST, repairs, run, temp};

/// Where the table of a region file begins.
const TABLE: usize = 20;

/// A save of one full region of 4,096 blocks, whose table `damage` changes.
fn full(damage: impl FnOnce(&mut [[u8; 4]])) -> (TempDir, PathBuf) {
    let (dir, path) = temp();
    let terrain = Terrain::full(Ground::Smooth, 1);
    terrain.write(&path, &[[0; 3]]);
    let file = path.join("regions/lod0/r.0.0.0.vxr");
    let mut data = fs::read(&file).unwrap();
    let entries = terrain.format.table_len() as usize;
    damage(data[TABLE..][..4 * entries].as_chunks_mut().0);
    fs::write(&file, data).unwrap();
    (dir, path)
}

/// Checks a save with all levels and the plan of a repair; returns the exit code.
fn check_all(path: &Path) -> Option<i32> {
    let checked = run(&["check".as_ref(), "--format=jsonl".as_ref(), path.as_ref()] as &[&OsStr]);
    assert!(checked.peak < MOST, "{} KiB", checked.peak);
    checked.status.code()
}

#[test]
fn a_full_region_with_exchanged_entries() {
    let (_dir, path) = full(|table| {
        let mut random = Random::new(5);
        for _ in 0..table.len() / 10 {
            let (a, b) = (random.below(table.len()), random.below(table.len()));
            table.swap(a, b);
        }
    });
    // Whether the exchanges are found is not asked here.
    check_all(&path);
}

#[test]
fn a_full_region_that_lost_a_third_of_its_entries() {
    let (_dir, path) = full(|table| {
        let mut random = Random::new(5);
        table.iter_mut().filter(|_| random.below(3) == 0).for_each(|entry| *entry = [0; 4]);
    });
    assert_eq!(check_all(&path), Some(4));
    repairs(&path);
}
