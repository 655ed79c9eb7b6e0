//! Commands over a directory of streams: one database for each map or ship.

use crate::{Demo, lines, output, run};

#[test]
fn a_directory_of_streams_is_converted_and_exported_as_a_whole() {
    let dir = tempfile::tempdir().unwrap();
    let demo = Demo::new();
    let fleet = dir.path().join("fleet");
    std::fs::create_dir_all(fleet.join("ships")).unwrap();
    for (from, to) in [("stream-texts", "map.sqlite"), ("stream-blobs", "ships/one.db")] {
        let from = std::fs::read_dir(demo.path(&format!("healthy/{from}"))).unwrap().next().unwrap().unwrap().path();
        std::fs::copy(from, fleet.join(to)).unwrap();
    }
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (fleet, forests, streams) = (path("fleet"), path("forests"), path("streams"));
    let blocks = |save: &str| lines(&output(&["ls", save, "--format=jsonl"])).len();
    // Forests have no place for the instances.
    assert_eq!(run(&["convert", &fleet, "--out", &forests, "--container=zstd"]).code, Some(4));
    for (from, to) in [("map.sqlite", "map"), ("ships/one.db", "ships/one")] {
        let (from, to) = (format!("{fleet}/{from}"), format!("{forests}/{to}"));
        assert_eq!(blocks(&from), blocks(&to), "{to}");
    }
    // Streams with the same names below can be compared as directories.
    assert_eq!(run(&["convert", &fleet, "--out", &streams, "--to=sqlite"]).code, Some(0));
    assert!(std::path::Path::new(&streams).join("ships/one.db").is_file());
    let same = run(&["diff", &fleet, &streams]);
    assert_eq!(same.code, Some(0), "{}{}", same.out, same.err);
    let arrays = path("arrays");
    let done = run(&["export", &fleet, "--out", &arrays, "--channel=TYPE"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    for world in ["map.sqlite", "ships/one.db"] {
        assert!(std::path::Path::new(&arrays).join(world).join("export.json").is_file(), "{world}");
    }
    // What exists already is left alone.
    assert_eq!(run(&["convert", &fleet, "--out", &forests]).code, Some(16));
    for command in ["info", "check", "ls"] {
        assert_eq!(run(&[command, &fleet]).code, Some(0), "{command}");
    }
}

#[test]
fn streams_of_any_name_in_a_directory_are_one_save() {
    let demo = Demo::new();
    let fleet = demo.path("healthy/fleet");
    let listed = lines(&output(&["ls", &fleet, "--format=jsonl"]));
    let files: std::collections::BTreeSet<&str> = listed.iter().filter_map(|row| row["file"].as_str()).collect();
    assert_eq!(files.into_iter().collect::<Vec<_>>(), ["map.save", "ships/heron"]);
    assert_eq!(run(&["check", &fleet]).code, Some(0));
    assert_eq!(run(&["diff", &fleet, &fleet]).code, Some(0));
}

#[test]
fn a_save_in_deep_directories_is_found_and_deeper_ones_are_not_left_out_in_silence() {
    let demo = Demo::new();
    let dir = tempfile::tempdir().unwrap();
    let below = |levels: usize| dir.path().join(levels.to_string()).join("d/".repeat(levels));
    for levels in [40, 80] {
        std::fs::create_dir_all(below(levels)).unwrap();
        crate::common::copy_dir(demo.path("healthy/plain"), below(levels).join("world"));
    }
    let check = |levels: usize| run(&["check", dir.path().join(levels.to_string()).to_str().unwrap()]);
    let found = check(40);
    assert!(found.code == Some(0) && found.out.contains("blocks"), "{}{}", found.out, found.err);
    let deep = check(80);
    assert_ne!(deep.code, Some(0), "{}", deep.out);
    let said = deep.out + &deep.err;
    assert!(crate::joined(&said).contains("more than 64 levels below the opened one are not searched"), "{said}");
}
