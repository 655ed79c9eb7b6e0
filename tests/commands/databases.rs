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
    // It is named beside the stream, under any name.
    for name in ["settings", "settings.sqlite", "settings.db"] {
        if name != "settings" {
            fs::rename(&other, save.join(name)).unwrap();
        }
        let check = run(&["check", path, "--notes", "--format=jsonl"]);
        assert_eq!(check.code, Some(0), "{name}: {}{}", check.out, check.err);
        let found = lines(&check.out);
        let named: Vec<_> = found.iter().filter(|line| line["file"] == name).collect();
        assert_eq!((named.len(), &named[0]["code"]), (1, &"name-foreign".into()), "{}", check.out);
        let message = named[0]["message"].as_str().unwrap();
        assert!(message.contains("SQLite database of another program") && message.contains("`options`"), "{message}");
        if name != "settings" {
            fs::rename(save.join(name), &other).unwrap();
        }
    }
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

/// A database of another program.
fn other(path: &Path) {
    let database = Connection::open(path).unwrap();
    database.execute_batch("CREATE TABLE users (name TEXT); INSERT INTO users VALUES ('a')").unwrap();
}

/// Whatever the name of the file: it is the name of a stream, of a region, of a pak region, of a block, or of a meta file.
#[test]
fn a_database_of_another_program_alone_is_called_that_by_every_command() {
    let dir = tempfile::tempdir().unwrap();
    let to = dir.path().join("to").to_str().unwrap().to_owned();
    let names = ["other.sqlite", "r.0.0.0.vxr", "x0_y0_z0.region", "x0.vxb", "meta.vxrm", "meta.vxbm", "map_data.json"];
    for name in names {
        let path = dir.path().join(name);
        other(&path);
        let path = path.to_str().unwrap();
        for (arguments, code) in [
            (&["check", path][..], 8),
            (&["info", path], 8),
            (&["ls", path], 8),
            (&["repair", path, "--plan"], 8),
            (&["repair", path, "--out", &to], 8),
            (&["convert", path, "--out", &to], 8),
            (&["export", path, "--out", &to], 8),
            (&["show", path, "--block=0,0,0"], 8),
            (&["diff", path, path], 2),
        ] {
            let done = run(arguments);
            assert_eq!(done.code, Some(code), "{arguments:?}: {}{}", done.out, done.err);
            let said =
                format!("{path}: this is an SQLite database of another program and no stream: its table is `users`");
            assert!(done.err.contains(&said), "{arguments:?}: {}", done.err);
            assert!(!Path::new(&to).exists(), "{arguments:?}");
        }
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_stream_is_one_whatever_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let whole = stream(dir.path());
    for name in ["r.0.0.0.vxr", "x0_y0_z0.region", "x0.vxb", "meta.vxrm", "meta.vxbm", "map_data.json"] {
        let path = dir.path().join(name);
        fs::write(&path, &whole).unwrap();
        let rows = run(&["ls", path.to_str().unwrap(), "--format=jsonl"]);
        assert_eq!((rows.code, lines(&rows.out).len()), (Some(0), 18), "{name}: {}", rows.err);
        fs::remove_file(path).unwrap();
    }
    // In a directory, a name of blocks means nothing either.
    let save = dir.path().join("save");
    fs::create_dir(&save).unwrap();
    fs::write(save.join("r.0.0.0.vxr"), &whole).unwrap();
    let check = run(&["check", save.to_str().unwrap()]);
    assert!(check.code == Some(0) && check.out.contains("18 blocks"), "{}{}", check.out, check.err);
}

/// What is left of a database after a loss of power has no byte, or only zeros.
#[test]
fn a_blank_database_beside_a_healthy_save_is_named_by_every_command() {
    let demo = Demo::new();
    let save = demo.path("healthy/current");
    let file = Path::new(&save).join("world.db");
    let to = |name: &str| demo.root.join(name).to_str().unwrap().to_owned();
    for bytes in [vec![], vec![0; 8192]] {
        fs::write(&file, &bytes).unwrap();
        for (n, (arguments, code)) in [
            (vec!["check"], 4),
            (vec!["info"], 8),
            (vec!["ls"], 8),
            (vec!["convert", "--out"], 8),
            (vec!["export", "--out"], 8),
        ]
        .into_iter()
        .enumerate()
        {
            let out = to(&format!("{n}-{}", bytes.len()));
            let mut all = vec![arguments[0], &save];
            all.extend(&arguments[1..]);
            if arguments.len() > 1 {
                all.push(&out);
            }
            let done = run(&all);
            assert_eq!(done.code.map(|found| found & code), Some(code), "{all:?}: {}{}", done.out, done.err);
            assert!(format!("{}{}", done.out, done.err).contains("world.db"), "{all:?}: {}{}", done.out, done.err);
        }
    }
}

/// Nothing can be made of what is in the place of a database, so its name is all there is to say.
#[cfg(unix)]
#[test]
fn what_is_in_the_place_of_a_database_is_named_by_every_command() {
    let demo = Demo::new();
    let whole = demo.path("healthy/current");
    let dir = tempfile::tempdir().unwrap();
    let [link, place] = ["link", "place"].map(|name| dir.path().join(name));
    fs::create_dir(&link).unwrap();
    std::os::unix::fs::symlink("b", link.join("world.sqlite")).unwrap();
    std::os::unix::fs::symlink("world.sqlite", link.join("b")).unwrap();
    fs::create_dir_all(place.join("world.sqlite")).unwrap();
    fs::copy(Path::new(&demo.path("healthy/stream")).join("world.sqlite"), place.join("other.sqlite")).unwrap();
    // The first page is gone, the rows are there.
    let first = dir.path().join("first");
    fs::create_dir(&first).unwrap();
    let mut bytes = stream(dir.path());
    bytes[..4096].fill(0xa5);
    fs::write(first.join("world.sqlite"), bytes).unwrap();
    for save in [&link, &place, &first] {
        let save = save.to_str().unwrap();
        let out = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        for (arguments, code) in [
            (vec!["convert", save, "--out", &out("a")], 8),
            (vec!["export", save, "--map", &out("b.png")], 8),
            (vec!["diff", save, &whole], 2),
        ] {
            let done = run(&arguments);
            assert_eq!(done.code, Some(code), "{arguments:?}: {}{}", done.out, done.err);
            assert!(done.err.contains("world.sqlite"), "{arguments:?}: {}", done.err);
        }
        for made in ["a", "b.png"].map(out) {
            let _ = fs::remove_dir_all(&made);
            let _ = fs::remove_file(&made);
        }
    }
}

/// No option can read it, so none is asked for.
#[test]
fn a_database_with_a_table_named_blocks_is_refused_at_once() {
    let dir = tempfile::tempdir().unwrap();
    for (n, sql) in [
        "CREATE TABLE blocks (id INTEGER PRIMARY KEY, name TEXT, hardness INT); INSERT INTO blocks VALUES (1, 'stone', 3)",
        "CREATE TABLE blocks (x INT, y INT, z INT, data BLOB); INSERT INTO blocks VALUES (0, 1, 2, x'616263')",
        "CREATE TABLE blocks (id INT, data BLOB); INSERT INTO blocks VALUES (0, x'616263'), (1, x'00')",
        "CREATE TABLE meta (name TEXT, value TEXT); CREATE TABLE blocks (a TEXT); INSERT INTO blocks VALUES ('b')",
    ]
    .iter()
    .enumerate()
    {
        let file = dir.path().join(format!("other{n}.sqlite"));
        Connection::open(&file).unwrap().execute_batch(sql).unwrap();
        let (path, out) = (file.to_str().unwrap(), dir.path().join("out"));
        let out = out.to_str().unwrap();
        for arguments in [&["check"][..], &["convert", "--out", out], &["repair", "--plan"], &["export", "--out", out]] {
            let run = run(&[&arguments[..1], &[path], &arguments[1..]].concat());
            assert_eq!((run.code, run.out.as_str()), (Some(8), ""), "{n} {arguments:?}: {}", run.err);
            assert!(run.err.contains("database of another program") && run.err.contains("columns `loc`"), "{}", run.err);
            assert!(!run.err.contains("--from"), "{n} {arguments:?}: {}", run.err);
        }
    }
}

#[test]
fn a_conversion_asks_for_no_option_that_a_stream_does_not_use() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("world.sqlite");
    fs::write(&file, stream(dir.path())).unwrap();
    Connection::open(&file).unwrap().execute_batch("DELETE FROM meta; UPDATE blocks SET vb = NULL").unwrap();
    let run = run(&["convert", file.to_str().unwrap(), "--out", dir.path().join("out").to_str().unwrap()]);
    assert_eq!(run.code, Some(8), "{}", run.err);
    assert!(run.err.contains("the size of its blocks is unknown") && !run.err.contains("--from"), "{}", run.err);
}
