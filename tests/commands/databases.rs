//! Databases in a directory: streams of any name, damaged ones, and those of other programs.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use voxscope::demo;

use crate::{Demo, lines, run};

/// The bytes of a healthy stream.
fn stream(dir: &Path) -> Vec<u8> {
    let sample = demo::samples().find(|sample| sample.name == "stream").unwrap();
    (sample.make)(&dir.join("sample")).unwrap();
    let file = fs::read_dir(dir.join("sample")).unwrap().next().unwrap().unwrap();
    fs::read(file.path()).unwrap()
}

#[test]
fn a_database_whose_tables_cannot_be_read_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let whole = stream(dir.path());
    // The schema is on the first page, behind the header of 100 bytes.
    let mut schema = whole.clone();
    schema[100..600].fill(0);
    let mut page_size = whole.clone();
    page_size[16..18].fill(0xff);
    for (n, bad) in [schema, page_size, whole[..60].to_vec()].iter().enumerate() {
        for beside in [true, false] {
            let save = dir.path().join(format!("{n}-{beside}"));
            fs::create_dir(&save).unwrap();
            fs::write(save.join("save.file"), bad).unwrap();
            if beside {
                fs::write(save.join("world.sqlite"), &whole).unwrap();
            }
            let path = save.to_str().unwrap();
            let check = run(&["check", path, "--format=jsonl"]);
            assert_eq!(check.code.map(|code| code & 4), Some(4), "{n} {beside}: {}{}", check.out, check.err);
            let findings = lines(&check.out);
            let of_file = |line: &&serde_json::Value| line["file"] == "save.file" && line["level"] != "note";
            assert!(findings.iter().any(|line| of_file(&line)), "{n} {beside}: {}", check.out);
        }
    }
}

/// A stream that lost the name of its table or a column, or its first bytes, is no database of another program.
#[test]
fn a_stream_with_damaged_tables_beside_a_healthy_save_is_checked() {
    let dir = tempfile::tempdir().unwrap();
    let whole = stream(dir.path());
    let mut cases = Vec::new();
    for (n, sql) in [
        "ALTER TABLE blocks RENAME COLUMN vb TO voxels",
        "DROP TABLE meta; ALTER TABLE blocks RENAME TO chunks",
        "DROP TABLE blocks",
    ]
    .iter()
    .enumerate()
    {
        let file = dir.path().join(format!("changed{n}"));
        fs::write(&file, &whole).unwrap();
        Connection::open(&file).unwrap().execute_batch(sql).unwrap();
        cases.push(fs::read(file).unwrap());
    }
    let mut without_magic = whole.clone();
    without_magic[..16].fill(0);
    cases.push(without_magic);
    for (n, bytes) in cases.iter().enumerate() {
        for name in ["save.db", "save.file", "other.sqlite"] {
            let save = dir.path().join(format!("{n}-{name}"));
            fs::create_dir(&save).unwrap();
            fs::write(save.join(name), bytes).unwrap();
            fs::write(save.join("world.sqlite"), &whole).unwrap();
            let path = save.to_str().unwrap();
            let check = run(&["check", path, "--format=jsonl"]);
            assert_eq!(check.code, Some(4), "{n} {name}: {}{}", check.out, check.err);
            let of_file = |line: &serde_json::Value| line["file"] == name && line["level"] != "note";
            assert!(lines(&check.out).iter().any(of_file), "{n} {name}: {}", check.out);
        }
    }
}

#[test]
fn a_stream_with_the_name_of_a_map_is_a_stream() {
    let dir = tempfile::tempdir().unwrap();
    let save = dir.path().join("save");
    fs::create_dir(&save).unwrap();
    fs::write(save.join("map_data.json"), stream(dir.path())).unwrap();
    for path in [save.clone(), save.join("map_data.json")] {
        let path = path.to_str().unwrap();
        let check = run(&["check", path]);
        assert_eq!(check.code, Some(0), "{path}: {}{}", check.out, check.err);
        assert!(check.out.contains("clean") && check.out.contains("18 blocks"), "{path}: {}", check.out);
        let plan = run(&["repair", path, "--plan"]);
        assert_eq!(plan.code, Some(0), "{path}: {}", plan.out);
        assert!(plan.out.contains("Nothing to repair"), "{path}: {}", plan.out);
    }
}

#[test]
fn a_database_of_another_program_is_no_save_and_is_named_as_what_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let whole = stream(dir.path());
    let save = dir.path().join("save");
    fs::create_dir(&save).unwrap();
    let other = save.join("settings");
    let database = Connection::open(&other).unwrap();
    database
        .execute_batch("CREATE TABLE options (name TEXT, value TEXT); INSERT INTO options VALUES ('a', 'b')")
        .unwrap();
    drop(database);
    let path = save.to_str().unwrap();
    let alone = run(&["check", path]);
    assert_eq!(alone.code, Some(8));
    assert!(alone.err.contains("settings: an SQLite database without the tables of a stream"), "{}", alone.err);
    fs::write(save.join("world.sqlite"), &whole).unwrap();
    let check = run(&["check", path, "--format=jsonl"]);
    assert_eq!(check.code, Some(0), "{}{}", check.out, check.err);
    assert_eq!(lines(&check.out).last().unwrap()["files"], 1);
}

/// The tables of a new stream are in its write-ahead log until the game closes it.
#[test]
fn a_stream_whose_tables_are_in_its_log_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let whole = stream(dir.path());
    let source = dir.path().join("source");
    fs::write(&source, &whole).unwrap();
    let live = dir.path().join("live");
    let database = Connection::open(&live).unwrap();
    database.execute_batch("PRAGMA page_size=4096; PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0").unwrap();
    database
        .execute_batch(&format!(
            "ATTACH '{}' AS source;
             CREATE TABLE meta (version INTEGER, block_size_po2 INTEGER, coordinate_format INTEGER);
             CREATE TABLE blocks (loc INTEGER PRIMARY KEY, vb BLOB, instances BLOB);
             CREATE TABLE channels (idx INTEGER PRIMARY KEY, depth INTEGER);
             INSERT INTO meta SELECT * FROM source.meta;
             INSERT INTO blocks SELECT * FROM source.blocks;
             DETACH source;",
            source.display()
        ))
        .unwrap();
    let save = dir.path().join("save");
    fs::create_dir(&save).unwrap();
    // Copied while the game runs: closing would write the log back.
    for ending in ["", "-wal"] {
        fs::copy(format!("{}{ending}", live.display()), format!("{}{ending}", save.join("save.file").display()))
            .unwrap();
    }
    let rows = run(&["ls", save.to_str().unwrap(), "--format=jsonl"]);
    assert!(!lines(&rows.out).is_empty(), "{}{}", rows.out, rows.err);
}

#[test]
fn a_database_of_another_program_does_not_stop_the_commands_for_the_save_beside_it() {
    let demo = Demo::new();
    let save = demo.path("healthy/current");
    let database = Connection::open(Path::new(&save).join("places.sqlite")).unwrap();
    database.execute_batch("CREATE TABLE t (name TEXT); INSERT INTO t VALUES ('a')").unwrap();
    drop(database);
    let to = |name: &str| demo.root.join(name).to_str().unwrap().to_owned();
    for arguments in [
        &["check", &save][..],
        &["export", &save, "--out", &to("arrays")],
        &["diff", &save, &save],
        &["convert", &save, "--out", &to("converted.sqlite")],
    ] {
        let done = run(arguments);
        assert_eq!(done.code, Some(0), "{arguments:?}: {}{}", done.out, done.err);
        assert!(!done.err.contains("places"), "{arguments:?}: {}", done.err);
    }
    assert!(Path::new(&to("arrays")).join("export.json").is_file() && Path::new(&to("converted.sqlite")).is_file());
}
