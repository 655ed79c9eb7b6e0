//! Repair: the source stays as it was, the result is clean, and repairing it again changes nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use voxscope::repair::{self, Action};
use voxscope::save::{Options, Save};
use voxscope::{check, demo};

type Tree = BTreeMap<PathBuf, (Vec<u8>, Option<SystemTime>)>;

fn tree(root: &Path, times: bool) -> Tree {
    let mut out = Tree::new();
    let mut dirs = vec![root.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                dirs.push(path);
            } else if entry.file_type().unwrap().is_file() {
                let time = times.then(|| entry.metadata().unwrap().modified().unwrap());
                out.insert(path.strip_prefix(root).unwrap().to_owned(), (fs::read(&path).unwrap(), time));
            }
        }
    }
    out
}

fn findings(path: &Path) -> (u64, u64) {
    let summary = check::run(&Save::open(path, &Options::default()).unwrap(), &check::Options::default(), drop);
    (summary.counts.errors, summary.counts.warnings)
}

fn mend(source: &Path, to: &Path, likely: bool) -> repair::Outcome {
    let save = Save::open(source, &Options::default()).unwrap();
    repair::run(&save, to, &repair::Options { likely, ..Default::default() }).unwrap()
}

/// Everything but the report, which says what was done this time.
fn content(path: &Path) -> Tree {
    let mut tree = tree(path, false);
    tree.remove(Path::new("repair.json"));
    tree
}

#[test]
fn a_healthy_save_is_copied_byte_by_byte() {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("world");
    demo::write_forest(&source, &demo::ForestSpec::default(), None).unwrap();
    let before = tree(&source, true);
    let outcome = mend(&source, &dir.path().join("copy"), false);
    assert!(outcome.plan.changes_nothing() && !outcome.plan.leaves_damage());
    assert_eq!(tree(&source, true), before);
    assert_eq!(content(&dir.path().join("copy")), content(&source));
}

#[test]
fn every_damaged_forest_of_the_demo_gets_a_clean_copy() {
    let dir = tempfile::tempdir().unwrap();
    demo::write_all(&dir.path().join("demo")).unwrap();
    let damaged = dir.path().join("demo/damaged");
    let mut names: Vec<String> =
        fs::read_dir(&damaged).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let (mut mended, mut left) = (0, Vec::new());
    for name in names {
        let source = damaged.join(&name);
        let Ok(save) = Save::open(&source, &Options::default()) else { continue };
        if save.forests.is_empty() || findings(&source) == (0, 0) {
            continue;
        }
        let before = tree(&source, true);
        let to = dir.path().join(format!("{name}.repaired"));
        let outcome = mend(&source, &to, false);
        assert_eq!(tree(&source, true), before, "{name}");
        if findings(&to) == (0, 0) {
            mended += 1;
        } else {
            left.push(name.clone());
        }
        let again = dir.path().join(format!("{name}.again"));
        let second = mend(&to, &again, false);
        assert!(second.plan.regions.iter().all(|r| r.action == Action::Copy) || left.contains(&name), "{name}");
        assert_eq!(content(&to), content(&again), "{name}");
        drop(outcome);
    }
    println!("{mended} clean, left: {left:?}");
    assert!(mended > 20, "{mended}");
}

#[test]
fn destinations_that_would_harm_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("world");
    demo::write_forest(&source, &demo::ForestSpec::default(), None).unwrap();
    let save = Save::open(&source, &Options::default()).unwrap();
    let options = repair::Options::default();
    fs::create_dir(dir.path().join("taken")).unwrap();
    for to in ["taken", "world", "world/copy", "nowhere/copy"] {
        let result = repair::run(&save, &dir.path().join(to), &options);
        assert!(matches!(result, Err(repair::Error::Destination { .. })), "{to}");
    }
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn an_interrupted_repair_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("world");
    demo::write_forest(&source, &demo::ForestSpec::default(), None).unwrap();
    let save = Save::open(&source, &Options::default()).unwrap();
    let cancel = std::sync::atomic::AtomicBool::new(true);
    let options = repair::Options { cancel: Some(&cancel), ..Default::default() };
    assert!(matches!(repair::run(&save, &dir.path().join("copy"), &options), Err(repair::Error::Interrupted)));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}
