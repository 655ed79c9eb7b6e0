//! Region files that were exchanged, moved or copied in small saves of several LODs: borders say little there, other LODs all the more.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use voxscope::damage::Code;
use voxscope::demo;
use voxscope::save::{Options, Save};

use crate::common::killed::kill;
use crate::common::sampled;
use crate::common::truth::placed;
use crate::{count, mend};

/// All region files of a save, by their paths in it.
fn region_files(save: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let opened = Save::open(save, &Options::default()).unwrap();
    let read = |name: &Path| (name.to_owned(), fs::read(save.join(name)).unwrap());
    opened.regions().map(|(_, file)| read(&file.name)).collect()
}

fn sample(name: &str, to: &Path) {
    let sample = demo::samples().find(|sample| sample.name == name).unwrap();
    (sample.make)(to).unwrap();
}

fn path(save: &Path, lod: u8, [x, y, z]: [i32; 3]) -> PathBuf {
    save.join(format!("regions/lod{lod}/r.{x}.{y}.{z}.vxr"))
}

fn exchange(a: &Path, b: &Path) {
    let away = a.with_extension("away");
    fs::rename(a, &away).unwrap();
    fs::rename(b, a).unwrap();
    fs::rename(&away, b).unwrap();
}

/// A sample, damaged, and the files that a repair makes of it.
fn repaired(name: &str, damage: impl FnOnce(&Path)) -> (usize, usize, BTreeMap<PathBuf, Vec<u8>>) {
    let dir = tempfile::tempdir().unwrap();
    let [save, copy] = ["save", "copy"].map(|name| dir.path().join(name));
    sample(name, &save);
    damage(&save);
    let found = [Code::RegionMisnamed, Code::RegionCopied].map(|code| count(&save, code));
    mend(&save, &copy, false);
    (found[0], found[1], region_files(&copy))
}

fn right(name: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let dir = tempfile::tempdir().unwrap();
    let save = dir.path().join("save");
    sample(name, &save);
    assert_eq!((count(&save, Code::RegionMisnamed), count(&save, Code::RegionCopied)), (0, 0), "{name}");
    region_files(&save)
}

#[test]
fn exchanged_directories_of_lods_are_put_right() {
    for name in ["lods", "current"] {
        let right = right(name);
        let (found, _, copy) = repaired(name, |save| exchange(&save.join("regions/lod0"), &save.join("regions/lod1")));
        assert!(found > 0 && copy == right, "{name}: {found}");
    }
}

#[test]
fn files_of_small_saves_with_the_names_of_others_get_their_own() {
    let right = right("lods");
    let of = |pairs: &'static [(u8, [i32; 3], [i32; 3])]| {
        move |save: &Path| pairs.iter().for_each(|&(lod, a, b)| exchange(&path(save, lod, a), &path(save, lod, b)))
    };
    let (found, _, copy) = repaired("lods", of(&[(0, [0, 0, 0], [-1, 0, 0]), (0, [0, 0, -1], [-1, 0, -1])]));
    assert!(found == 4 && copy == right, "two pairs: {found}");
    let (found, _, copy) = repaired("lods", of(&[(2, [0, 0, 0], [0, 0, -1])]));
    assert!(found == 2 && copy == right, "in LOD 2: {found}");
    let (found, _, copy) = repaired("lods", |save| {
        fs::rename(path(save, 0, [0, 0, 0]), path(save, 0, [1, 0, 0])).unwrap();
        fs::rename(path(save, 0, [-1, 0, 0]), path(save, 0, [0, 0, 0])).unwrap();
    });
    assert!(found == 2 && copy == right, "two files moved on by one: {found}");
}

#[test]
fn a_copy_of_a_region_file_under_another_name_is_reported() {
    let right = right("lods");
    let copied = |to: (u8, [i32; 3])| {
        repaired("lods", move |save| {
            fs::copy(path(save, 0, [0, 0, 0]), path(save, to.0, to.1)).unwrap();
        })
    };
    for to in [(0, [-1, 0, 0]), (1, [0, 0, 0])] {
        let (_, found, mut copy) = copied(to);
        assert_eq!(found, 1, "{to:?}");
        // What other files show is wrong is not kept. The file that was there is lost.
        let name = path(Path::new(""), to.0, to.1);
        assert!(!copy.contains_key(&name), "{to:?}");
        copy.insert(name.clone(), right[&name].clone());
        assert!(copy == right, "{to:?}");
    }
    let (_, found, copy) = copied((0, [1, 0, 0]));
    assert_eq!(found, 1, "under a new name");
    assert!(right.iter().all(|(name, bytes)| copy.get(name) == Some(bytes)));
}

#[test]
fn a_copy_of_a_file_of_few_blocks_is_reported_in_a_small_save() {
    right("plain");
    let (_, found, _) = repaired("plain", |save| {
        fs::copy(path(save, 0, [0, 0, 0]), path(save, 0, [-1, 0, 0])).unwrap();
    });
    assert_eq!(found, 2, "nothing shows which of the two is right");
}

/// Repairs a sample after a game was killed that dug into it, with or without its coarser LODs, and after two of its files were given
/// each other's names. Returns the findings of wrong names, the blocks of LOD 0 that are what they were in a place, and the others.
fn killed(with_lods: bool, changes: usize, seed: u64, pair: Option<[[i32; 3]; 2]>) -> (usize, usize, usize) {
    let dir = tempfile::tempdir().unwrap();
    let [save, copy] = ["save", "copy"].map(|name| dir.path().join(name));
    sample("lods", &save);
    if !with_lods {
        ["lod1", "lod2"].iter().for_each(|lod| fs::remove_dir_all(save.join("regions").join(lod)).unwrap());
    }
    let states = kill(&save, changes, seed);
    if let Some([a, b]) = pair {
        exchange(&path(&save, 0, a), &path(&save, 0, b));
    }
    let found = count(&save, Code::RegionMisnamed);
    mend(&save, &copy, false);
    let placed: Vec<_> = placed(&copy).into_iter().filter(|((lod, _), _)| *lod == 0).collect();
    let is_right = |(position, state)| states.get(position).is_some_and(|states| states.contains(state));
    let right = placed.iter().filter(|((_, position), state)| is_right((position, state))).count();
    (found, right, placed.len() - right)
}

/// The tables of such regions put other blocks at their borders. A region of nine blocks says little of itself, but another file that
/// belongs to its place leaves it only one.
#[test]
fn exchanged_names_of_a_game_that_was_killed_after_many_saves_are_found() {
    let pairs = [[[0, 0, 0], [-1, 0, 0]], [[0, 0, 0], [-1, 0, -1]], [[0, 0, -1], [0, 0, 0]], [[0, 0, 0], [0, -1, 0]]];
    let cases =
        [true, false].into_iter().flat_map(|with_lods| pairs.into_iter().zip(1..).map(move |of| (with_lods, of)));
    for (with_lods, (pair, seed)) in sampled(cases, 3) {
        let (found, right, wrong) = killed(with_lods, 12, seed, Some(pair));
        assert!(found == 2 && wrong == 0 && right >= 120, "{with_lods} {pair:?}: {found} {right} {wrong}");
    }
}

#[test]
fn files_of_a_killed_game_with_their_own_names_are_not_called_misnamed() {
    for (with_lods, changes) in sampled([(true, 12), (false, 12), (true, 24), (false, 24)], 3) {
        let (found, right, wrong) = killed(with_lods, changes, 7, None);
        assert!(found == 0 && wrong == 0 && right >= 95, "{with_lods} {changes}: {found} {right} {wrong}");
    }
}
