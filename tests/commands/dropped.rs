//! What a conversion leaves out or changes, and what a comparison makes of it.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value as Json, json};
use tempfile::TempDir;
use voxscope::demo;

use crate::{Run, lines, run};

/// A sample in a directory of its own.
fn sample(name: &str) -> (TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let save = dir.path().join("save");
    let sample = demo::samples().find(|sample| sample.name == name).unwrap();
    (sample.make)(&save).unwrap();
    let path = save.to_str().unwrap().to_owned();
    (dir, path)
}

fn expect(run: &Run, code: i32, what: &str) {
    assert_eq!(run.code, Some(code), "{what}: {}{}", run.out, run.err);
}

fn report(path: &Path) -> Json {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn dropped_instances_are_told_and_found_by_diff() {
    let (dir, save) = sample("stream-texts");
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let rows = lines(&run(&["ls", &save, "--format=jsonl"]).out);
    let with_instances = rows.iter().filter(|row| row["instances"].as_u64().is_some()).count();
    assert!(with_instances > 0);
    for (name, options) in
        [("forest", &[][..]), ("small.sqlite", &["--block-size=4"]), ("large.sqlite", &["--block-size=16"])]
    {
        let made = path(name);
        let convert = run(&[&["convert", &save, "--out", &made], options].concat());
        expect(&convert, 4, name);
        assert!(convert.out.contains("has instances that the result cannot store"), "{}", convert.out);
        // In both directions.
        for [a, b] in [[&save, &made], [&made, &save]] {
            let diff = run(&["diff", a, b, "--format=jsonl"]);
            expect(&diff, 1, name);
            let diff = lines(&diff.out);
            let changed: Vec<&Json> = diff.iter().filter(|line| line["type"] == "changed").collect();
            assert!(!changed.is_empty() && changed.iter().all(|line| line["instances"] == true), "{name}: {changed:?}");
            assert_eq!(diff.last().unwrap()["changed"], changed.len(), "{name}");
        }
    }
    // Kept instances are no difference, and the conversion ends with 0.
    let same = path("same.sqlite");
    expect(&run(&["convert", &save, "--out", &same]), 0, "same size");
    expect(&run(&["diff", &save, &same]), 0, "same size");
}

#[test]
fn instance_data_without_a_layer_is_the_same_as_none() {
    let (dir, save) = sample("stream");
    let from = fs::read_dir(&save).unwrap().next().unwrap().unwrap().path();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let empty = path("empty.sqlite");
    fs::copy(from, &empty).unwrap();
    // A container without compression: version 1, no layers, a range of 16, the epilogue.
    let data = [&[0, 1, 0][..], &16f32.to_le_bytes(), &[0x0d, 0xf0, 0x0d, 0x90]].concat();
    Connection::open(&empty).unwrap().execute("UPDATE blocks SET instances = ?1", [&data]).unwrap();
    expect(&run(&["diff", &save, &empty]), 0, "same size");
    for (name, options) in [("forest", &[][..]), ("small.sqlite", &["--block-size=8"])] {
        let made = path(name);
        expect(&run(&[&["convert", &empty, "--out", &made], options].concat()), 0, name);
        expect(&run(&["diff", &empty, &made]), 0, name);
    }
    // A row of instances only.
    let rows = Connection::open(&empty).unwrap();
    rows.execute("UPDATE blocks SET vb = NULL WHERE loc = (SELECT max(loc) FROM blocks)", []).unwrap();
    drop(rows);
    let without = path("without.sqlite");
    fs::copy(&empty, &without).unwrap();
    Connection::open(&without).unwrap().execute("UPDATE blocks SET instances = NULL", []).unwrap();
    expect(&run(&["diff", &empty, &without]), 0, "a row without voxels");
    expect(&run(&["convert", &empty, "--out", &path("other")]), 0, "a row without voxels");
}

#[test]
fn convert_json_names_the_form_of_the_result_and_what_changed_in_it() {
    let (dir, save) = sample("current");
    let out = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let convert = |save: &str, name: &str, options: &[&str]| {
        let to = out(name);
        expect(&run(&[&["convert", save, "--out", &to], options].concat()), 0, name);
        report(&Path::new(&to).join("convert.json"))
    };
    let plain = convert(&save, "plain", &[]);
    assert_eq!(plain["to"]["layout"], "engine");
    assert_eq!((&plain["to"]["textures"], &plain["channels_changed"]), (&Json::Null, &json!([])));
    let depths: Vec<u64> = plain["to"]["depths"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    assert_eq!(depths.len(), 8);
    let other = if depths[1] == 8 { 16 } else { 8 };
    let deep = convert(&save, "deep", &[&format!("--depth=SDF={other}")]);
    assert_eq!(deep["to"]["depths"][1], other);
    let blocks = deep["blocks_read"].clone();
    let changed =
        json!([{ "channel": "SDF", "from_bits": depths[1], "to_bits": other, "textures": null, "blocks": blocks }]);
    assert_eq!(deep["channels_changed"], changed);
    assert!(deep["listed"].as_array().unwrap().iter().all(|listed| listed["kind"] == "sdf-far"), "{}", deep["listed"]);
    // LOD 1 has distances to -20 and 8 bits end at 10.
    assert!(other == 16 || deep["listed"].as_array().unwrap().iter().any(|listed| listed["lod"] == 1));
    let port = convert(&save, "port", &["--layout=port"]);
    assert_eq!((&port["to"]["layout"], &port["to"]["depths"][1]), (&"port".into(), &32.into()));
    assert_eq!(port["channels_changed"][0]["to_bits"], 32);
    let (_dir, textures) = sample("textures");
    let single = convert(&textures, "single", &["--textures=single"]);
    assert_eq!((&single["to"]["textures"], &single["to"]["depths"][3]), (&"single".into(), &8.into()));
    let names: Vec<&Json> = single["channels_changed"].as_array().unwrap().iter().map(|of| &of["channel"]).collect();
    assert_eq!(names, ["INDICES", "WEIGHTS"]);
    assert!(single["channels_changed"].as_array().unwrap().iter().all(|of| of["textures"] == "single"));
    // A stream has no layout.
    let stream = out("world.sqlite");
    expect(&run(&["convert", &save, "--out", &stream]), 0, "stream");
    let stream = report(Path::new(&format!("{stream}.convert.json")));
    assert_eq!(stream["to"]["layout"], Json::Null);
}

/// The index names rows of which both leaf pages are missing.
#[test]
fn rows_that_only_the_index_names_are_not_left_out_in_silence() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cut.sqlite");
    let whole = fs::read(crate::common::golden("godot_voxel_sqlite").join("stream_coord2.sqlite")).unwrap();
    fs::write(&path, &whole[..33_618]).unwrap();
    let (save, table) = (path.to_str().unwrap(), dir.path().join("table.csv"));
    for arguments in
        [&["ls", save][..], &["info", save], &["export", save, "--table", "--out", table.to_str().unwrap()]]
    {
        let run = run(arguments);
        assert_eq!(run.code, Some(8), "{arguments:?}: {}", run.err);
        assert!(run.err.contains("cut.sqlite: 4 rows that the index names cannot be read"), "{}", run.err);
    }
    // The page that leads to both of them has one finding, and errors name the file once.
    let checked = run(&["check", save, "--format", "json"]);
    assert_eq!(checked.out.matches("\"stream-page\"").count(), 1, "{}", checked.out);
    assert!(checked.out.contains("It does so 2 times."), "{}", checked.out);
    let map = dir.path().join("map.png");
    let drawn = run(&["export", save, "--map", map.to_str().unwrap()]);
    assert_eq!((drawn.code, drawn.err.matches(save).count()), (Some(8), 1), "{}", drawn.err);
}
