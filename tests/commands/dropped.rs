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

#[test]
fn an_earlier_report_that_cannot_be_used_is_named() {
    let (dir, save) = sample("current");
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (large, back) = (path("large"), path("back"));
    expect(&run(&["convert", &save, "--out", &large, "--block-size=32"]), 0, "larger blocks");
    let report_path = Path::new(&large).join("convert.json");
    let whole = fs::read(&report_path).unwrap();
    let size = report(&report_path)["source_block_size"].to_string();
    let convert = || {
        let ran = run(&["convert", &large, "--out", &back, &format!("--block-size={size}")]);
        let said = report(&Path::new(&back).join("convert.json"));
        fs::remove_dir_all(&back).unwrap();
        (ran, said)
    };
    expect(&convert().0, 0, "the whole report");
    for damaged in [&whole[..whole.len() / 2], b"{", b"[]", b""] {
        fs::write(&report_path, damaged).unwrap();
        let (ran, said) = convert();
        expect(&ran, 4, "a damaged report");
        assert!(ran.err.contains("convert.json: it is no report of a conversion"), "{}", ran.err);
        assert_eq!(said["files_damaged"][0]["file"], "convert.json", "{said}");
    }
    fs::remove_file(&report_path).unwrap();
    expect(&convert().0, 0, "no report");
    #[cfg(unix)]
    {
        for is_link in [true, false] {
            let made = match is_link {
                true => std::os::unix::fs::symlink("nowhere", &report_path),
                false => fs::create_dir(&report_path),
            };
            made.unwrap();
            let (ran, said) = convert();
            expect(&ran, 8, "an unreadable report");
            assert_eq!(ran.err.matches("convert.json: ").count(), 1, "{}", ran.err);
            assert_eq!(said["files_unread"][0]["file"], "convert.json", "{said}");
            // Other commands name it too.
            for command in [&["check", &large][..], &["info", &large], &["repair", &large, "--plan"]] {
                let ran = run(command);
                assert_eq!(ran.code.unwrap() & 8, 8, "{command:?}: {}{}", ran.out, ran.err);
                assert!((ran.out + &ran.err).contains("convert.json"), "{command:?}");
            }
            if is_link { fs::remove_file(&report_path) } else { fs::remove_dir(&report_path) }.unwrap();
        }
    }
}

#[test]
fn a_block_that_ends_behind_its_sectors_is_unreadable_for_diff_whatever_its_bytes() {
    let (dir, save) = sample("current");
    let whole = dir.path().join("whole").to_str().unwrap().to_owned();
    expect(&run(&["repair", &save, "--out", &whole]), 0, "a copy");
    let rows = lines(&run(&["ls", &save, "--format=jsonl"]).out);
    let row = rows.iter().find(|row| row["sectors"].as_u64().unwrap() > 1).unwrap();
    let file = Path::new(&save).join(row["file"].as_str().unwrap());
    let mut bytes = fs::read(&file).unwrap();
    // The lowest byte of an entry is the number of sectors; a header without a palette has 20 bytes.
    bytes[20 + 4 * usize::try_from(row["slot"].as_u64().unwrap()).unwrap()] -= 1;
    fs::write(&file, bytes).unwrap();
    let ran = run(&["diff", &save, &whole, "--format=jsonl"]);
    expect(&ran, 2, "a hidden block");
    let unreadable = |line: &Json| line["type"] == "unreadable" && line["side"] == "a";
    assert!(lines(&ran.out).iter().any(unreadable), "{}", ran.out);
}

#[cfg(unix)]
#[test]
fn a_repair_names_what_it_does_not_follow_in_lost_and_found() {
    let (dir, save) = sample("two-writers");
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (first, second) = (path("first"), path("second"));
    assert_eq!(run(&["repair", &save, "--out", &first]).code.unwrap() & !5, 0);
    let lost = Path::new(&first).join("lost+found");
    std::os::unix::fs::symlink("nowhere", lost.join("link.bin")).unwrap();
    let plan = run(&["repair", &first, "--plan"]);
    let done = run(&["repair", &first, "--out", &second]);
    for ran in [&plan, &done] {
        assert_eq!(ran.code.unwrap() & 8, 8, "{}{}", ran.out, ran.err);
        assert!(ran.err.contains("lost+found/link.bin: it is a symbolic link"), "{}", ran.err);
        assert!(!ran.out.contains("Nothing to repair.\n"), "{}", ran.out);
    }
    assert_eq!(report(&Path::new(&second).join("repair.json"))["links"], json!(["lost+found/link.bin"]));
}
