//! Blocks that the old formula placed are where the borders between them say, for every command that gives voxels.

use std::fs;

use tempfile::tempdir;

use crate::{Demo, lines, run};

/// Positions that a listing has, with what is stored there.
fn listed(arguments: &[&str]) -> Vec<String> {
    let ran = run(&[&["ls"], arguments, &["--format", "jsonl"]].concat());
    let row = |row: serde_json::Value| format!("{} {} {}", row["file"], row["slot"], row["position"]);
    lines(&ran.out).into_iter().map(row).collect()
}

#[test]
fn blocks_are_read_by_the_formula_that_their_borders_show() {
    let demo = Demo::new();
    let save = demo.path("healthy/blocks-v4-old-slots");
    let ran = run(&["ls", &save]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("old formula") && ran.err.contains("blocks-v4-old-slots"), "{}", ran.err);
    assert_eq!(listed(&[&save]), listed(&[&save, "--slots", "old"]));
    assert_ne!(listed(&[&save]), listed(&[&save, "--slots", "new"]));

    let dir = tempdir().unwrap();
    let out = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    for (name, more) in [("told", &[][..]), ("given", &["--slots", "old"])] {
        assert_eq!(run(&[&["export", &save, "--out", &out(name)], more].concat()).code, Some(0));
    }
    let array = |name: &str| fs::read(dir.path().join(name).join("TYPE.npy")).unwrap();
    assert!(array("told") == array("given"), "the arrays differ");

    // The result of a conversion has the same voxels where the save has them.
    assert_eq!(run(&["convert", &save, "--out", &out("converted")]).code, Some(0));
    let same = run(&["diff", &save, &out("converted")]);
    assert_eq!(same.code, Some(0), "{}", same.out);
}

#[test]
fn a_save_of_the_new_formula_is_read_without_a_word() {
    let demo = Demo::new();
    let ran = run(&["ls", &demo.path("healthy/current")]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
}
