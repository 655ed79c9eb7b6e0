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

#[test]
fn pictures_of_a_damaged_save_say_what_they_lack() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    let (misplaced, torn) =
        ("in the wrong place, or may be, and are drawn where the save has them", "is not drawn completely");
    for (sample, plane, code, words) in [
        ("healthy/current", "y=1", 0, &[][..]),
        ("healthy/stream", "y=1", 0, &[]),
        ("healthy/block-files", "y=1", 0, &[]),
        ("damaged/crash-wrong-places", "y=17", 4, &[misplaced, torn]),
        ("damaged/block-epilogue", "y=1", 4, &["block (1, 0, 0) is not drawn completely: block-epilogue"]),
        ("damaged/two-writers", "y=1", 4, &[misplaced]),
        ("damaged/stream-blob", "y=1", 4, &["block (0, 0, 0) is not drawn completely"]),
    ] {
        if sample.contains("stream") && !cfg!(feature = "sqlite") {
            continue;
        }
        let save = demo.path(sample);
        let to = |name: &str| dir.path().join(sample.replace('/', "-") + name).to_str().unwrap().to_owned();
        for arguments in [
            &["export", &save, "--slice", plane, "--out", &to("slice.png")][..],
            &["export", &save, "--look=cut", "--slice", plane, "--map", &to("cut.png")],
        ] {
            let run = run(arguments);
            assert_eq!(run.code, Some(code), "{arguments:?}: {}", run.err);
            assert_eq!(run.err.is_empty(), words.is_empty(), "{arguments:?}: {}", run.err);
            words.iter().for_each(|words| assert!(run.err.contains(words), "{arguments:?}: {}", run.err));
        }
        // Also where no voxel is read.
        for (look, ending) in [("size", "png"), ("coverage", "npy"), ("surface", "png")] {
            let run = run(&["export", &save, "--look", look, "--map", &to(&format!("{look}.{ending}"))]);
            assert_eq!(run.err.contains(misplaced), words.contains(&misplaced), "{sample} {look}: {}", run.err);
        }
    }
}

#[test]
fn check_names_the_positions_that_ls_has() {
    let demo = Demo::new();
    let save = demo.path("healthy/blocks-v4-old-slots");
    assert_eq!(run(&["check", &save]).code, Some(0));
    // But for the command that it names, which has the option too.
    let info = |arguments: &[&str]| -> Vec<String> {
        let out = run(&[&["info", &save, "--format", "json"], arguments].concat()).out;
        out.lines().filter(|line| !line.contains("\"next\"")).map(str::to_owned).collect()
    };
    assert_eq!(info(&[]), info(&["--slots", "old"]));

    // One block is damaged.
    let rows = lines(&run(&["ls", &save, "--format", "jsonl"]).out);
    let row = rows.iter().find(|row| row["position"][0].as_i64() < Some(-1)).unwrap();
    let path = std::path::Path::new(&save).join(row["file"].as_str().unwrap());
    let mut bytes = fs::read(&path).unwrap();
    let at = (row["offset"].as_u64().unwrap() + row["bytes"].as_u64().unwrap() / 2) as usize;
    bytes[at] ^= 0xff;
    fs::write(&path, bytes).unwrap();
    for level in ["decode", "semantic"] {
        let found = lines(&run(&["check", &save, "--level", level, "--format", "jsonl"]).out);
        let mut named: Vec<_> =
            found.iter().filter(|line| line["level"] == "error").map(|line| line["block"].clone()).collect();
        named.dedup();
        assert_eq!(named, [row["position"].clone()], "{level}");
    }
}
