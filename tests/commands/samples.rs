//! `demo`.

use std::fs;
use std::path::PathBuf;

use tempfile::tempdir;
use voxscope::demo;

use crate::common::files_below;
use crate::{Demo, code, command, finish, output, run, state};

#[test]
fn demo_never_overwrites() {
    let dir = tempdir().unwrap();
    let new = dir.path().join("new");
    let path = new.to_str().unwrap();
    assert!(output(&["demo", "--write", path]).contains("voxscope check"));
    let before = state(&new);
    assert!(before.len() > 100);
    let again = run(&["demo", "--write", path]);
    assert_eq!(again.code, Some(8));
    assert!(again.err.contains("voxscope: "), "{}", again.err);
    assert!(state(&new) == before);
    // One file in the way is enough, and so is a file where the directory should be.
    let full = dir.path().join("full");
    fs::create_dir(&full).unwrap();
    fs::write(full.join("mine"), b"mine").unwrap();
    for path in [full.clone(), full.join("mine")] {
        assert_eq!(code(&["demo", "--write", path.to_str().unwrap()]), 8);
    }
    assert_eq!(state(&full).len(), 1);
    assert_eq!(fs::read(full.join("mine")).unwrap(), b"mine");
}

#[test]
fn demo_shows_every_sample_and_leaves_nothing() {
    let dir = tempdir().unwrap();
    let mut tour = command(&["demo"]);
    tour.env("TMPDIR", dir.path());
    let run = finish(tour);
    assert_eq!(run.code, Some(0), "{}", run.err);
    for sample in demo::samples() {
        assert!(run.out.contains(sample.about), "{}", sample.name);
    }
    assert_eq!(files_below(dir.path()), Vec::<PathBuf>::new());
}

#[test]
fn the_tour_without_a_terminal_has_the_words_of_check() {
    let demo = Demo::new();
    let tour = command(&["demo"]).output().unwrap();
    let tour = String::from_utf8(tour.stdout).unwrap();
    for sample in [
        "healthy/blocks-v4-old-slots",
        "damaged/conversion-left",
        "damaged/stream-wal",
        "damaged/block-unlisted",
        "healthy/current",
    ] {
        let (_, after) = tour.split_once(&format!("{sample} ")).unwrap();
        let said = after.lines().nth(1).unwrap().trim();
        let checked = run(&["check", &demo.path(sample)]).out;
        assert!(
            checked.contains(&format!("{said} ·")) || checked.contains(&format!("{said}, ")),
            "{sample}: {said}, {checked}"
        );
    }
}
