//! What is put right in settings, keys and rows.

use std::collections::BTreeSet;
use std::fs;

use crate::common;
use rusqlite::Connection;
use voxscope::demo::stream::{StreamSpec, write_stream};
use voxscope::godot::stream::loc::Format;
use voxscope::repair;

use super::{NOISE, ORIGIN, by_place, changed, errors, likely, mend, query, untouched};

#[test]
fn settings_are_told_by_keys_and_blocks() {
    for format in Format::ALL {
        let code = format.code();
        for (sql, fields) in [
            ("DELETE FROM meta".to_owned(), vec!["version", "block_size_po2", "coordinate_format"]),
            ("INSERT INTO meta SELECT * FROM meta".to_owned(), vec![]),
            (format!("INSERT INTO meta VALUES (1, 5, {code})"), vec!["block_size_po2"]),
            (format!("INSERT INTO meta VALUES (1, 3, {})", (code + 1) % 4), vec!["coordinate_format"]),
            ("UPDATE meta SET coordinate_format = 9".to_owned(), vec!["coordinate_format"]),
            ("UPDATE meta SET version = 'x'".to_owned(), vec!["version"]),
            ("UPDATE meta SET block_size_po2 = 6".to_owned(), vec!["block_size_po2"]),
            ("UPDATE meta SET block_size_po2 = NULL".to_owned(), vec!["block_size_po2"]),
        ] {
            let (_dir, done) = changed(format, &sql);
            assert_eq!(errors(&done.copy), [], "{sql}: {:?}", repair::words(&done.plan));
            assert!(!done.plan.leaves_damage(), "{sql}: {:?}", repair::words(&done.plan));
            let meta = query(&done.copy, "SELECT * FROM meta");
            let expected: Vec<rusqlite::types::Value> = [1, 3, i64::from(code)].map(Into::into).to_vec();
            assert_eq!(meta, [expected], "{sql}");
            assert_eq!(by_place(&done.copy), untouched(format), "{sql}");
            let told: BTreeSet<&str> = done.stream().settings.iter().map(|s| s.field).collect();
            assert!(fields.iter().all(|field| told.contains(field)), "{sql}: {told:?}");
        }
    }
}

#[test]
fn settings_that_nothing_tells_stay_and_it_is_said() {
    // One block at the origin has the same key in both formats of numbers.
    let (_dir, done) = changed(Format::Int19, "DELETE FROM blocks WHERE loc <> 0; DELETE FROM meta");
    assert!(done.stream().unsettled.is_some() && done.plan.leaves_damage());
    assert_eq!(query(&done.copy, "SELECT * FROM meta").len(), 0);
    assert_eq!(done.entry()["settings_left"], "its keys leave a choice of formats");
    assert_eq!(by_place(&done.copy).get(&ORIGIN), untouched(Format::Int19).get(&ORIGIN), "rows stay as they are");
}

/// Keys of damaged rows do not hide what the keys of the rows that are written show: a second repair would find it.
#[test]
fn settings_are_told_by_whole_rows_beside_damaged_ones() {
    // As numbers of 19 bits, all keys are positions, far apart; as numbers of 16 bits, some are none.
    let sql = format!(
        "CREATE TEMP TABLE whole AS SELECT vb, instances FROM blocks ORDER BY loc LIMIT 2;
         DELETE FROM blocks; DELETE FROM meta;
         INSERT INTO blocks SELECT 65536, vb, instances FROM whole LIMIT 1;
         INSERT INTO blocks SELECT 4294967296, vb, instances FROM whole LIMIT 1 OFFSET 1;
         INSERT INTO blocks VALUES (0, {NOISE}, NULL), (1 << 55, {NOISE}, NULL), (3 << 54, {NOISE}, NULL);
         DROP TABLE whole"
    );
    let (_dir, done) = changed(Format::Int16, &sql);
    assert_eq!(done.stream().unsettled, None);
    let expected: Vec<rusqlite::types::Value> = [1, 3, 0].map(Into::into).to_vec();
    assert_eq!(query(&done.copy, "SELECT * FROM meta"), [expected]);
    assert_eq!(by_place(&done.copy).len(), 2);
}

/// A repair that cannot tell the settings of a stream changes nothing, and a second one agrees.
#[test]
fn settings_that_nothing_tells_are_no_reason_to_write_a_stream_anew() {
    for sql in ["DELETE FROM blocks; DELETE FROM meta", "DELETE FROM blocks; UPDATE meta SET block_size_po2 = 77"] {
        let (_dir, done) = changed(Format::Int16, sql);
        assert!(done.plan.changes_nothing() && done.plan.leaves_damage(), "{sql}: {:?}", repair::words(&done.plan));
        assert!(done.entry()["settings_left"].is_string(), "{sql}: {}", done.entry());
    }
}

#[test]
fn keys_of_another_type_are_put_right_where_there_is_no_choice() {
    let whole = untouched(Format::Blob);
    let (_dir, done) = changed(Format::Blob, "UPDATE blocks SET loc = '0,0,0,0' WHERE loc = zeroblob(10)");
    assert_eq!(errors(&done.copy), []);
    assert_eq!(by_place(&done.copy), whole);
    assert!(!done.plan.leaves_damage());
    assert_eq!(done.entry()["put_right"][0]["why"], "its key was of another type");
    // A blob of nine bytes is no place.
    let (_dir, done) = changed(Format::Blob, "UPDATE blocks SET loc = zeroblob(9) WHERE loc = zeroblob(10)");
    let mut rest = whole.clone();
    let gone = rest.remove(&ORIGIN).unwrap();
    assert_eq!(by_place(&done.copy), rest);
    assert!(done.plan.leaves_damage());
    let dir = repair::beside_copy(&done.copy, "lost+found");
    let kept = common::files_below(&dir).into_iter().find(|path| path.extension().is_some_and(|e| e == "vb")).unwrap();
    assert_eq!(Some(fs::read(kept).unwrap()), gone.0);
    assert_eq!(done.entry()["lost_and_found"][0]["why"], "its key is no place");
    // A number in a stream of texts has two readings.
    let (_dir, done) = changed(Format::Text, "UPDATE blocks SET loc = x'0102' WHERE loc = '0,0,0,0'");
    assert_eq!(by_place(&done.copy).len(), whole.len() - 1);
    // A key that the engine writes in another way.
    let (_dir, done) = changed(Format::Text, "UPDATE blocks SET loc = '00,0,0,0' WHERE loc = '0,0,0,0'");
    assert_eq!(by_place(&done.copy), untouched(Format::Text));
}

#[test]
fn of_two_rows_of_one_place_one_is_kept_where_that_leaves_no_choice() {
    let whole = untouched(Format::Int16);
    // Equal to the byte.
    let double = "INSERT INTO blocks SELECT loc | (1 << 60), vb, instances FROM blocks WHERE loc = 0";
    let (_dir, done) = changed(Format::Int16, double);
    assert_eq!((by_place(&done.copy), done.stream().doubled), (whole.clone(), 1));
    assert!(!done.plan.leaves_damage() && done.lost().is_empty());
    // Only one decodes.
    let broken = "INSERT INTO blocks SELECT loc | (1 << 60), vb, instances FROM blocks WHERE loc = 0;
                  UPDATE blocks SET vb = x'02ffffff' WHERE loc = 0";
    let (_dir, done) = changed(Format::Int16, broken);
    assert_eq!(by_place(&done.copy), whole);
    assert_eq!(errors(&done.copy), []);
    // Both decode, and the game reads one of them.
    let other = "INSERT INTO blocks SELECT 1 << 60, vb, instances FROM blocks WHERE loc = (1 << 32)";
    let (_dir, done) = changed(Format::Int16, other);
    assert_eq!(by_place(&done.copy), whole);
    assert!(done.plan.leaves_damage() && done.lost().iter().any(|name| name.ends_with(".vb")));
    // Both decode, and the game reads neither.
    let neither = "UPDATE blocks SET loc = 1 << 60 WHERE loc = 0;
                   INSERT INTO blocks SELECT 1 << 61, vb, instances FROM blocks WHERE loc = (1 << 48)";
    let (dir, done) = changed(Format::Int16, neither);
    assert!(!by_place(&done.copy).contains_key(&ORIGIN), "{:?}", repair::words(&done.plan));
    assert_eq!(done.lost().iter().filter(|name| name.ends_with(".vb")).count(), 2);
    assert_eq!(done.stream().missing.len(), 1);
    let done = likely(dir.path());
    assert_eq!(by_place(&done.copy).get(&ORIGIN), whole.get(&ORIGIN));
    assert_eq!(done.lost().iter().filter(|name| name.ends_with(".vb")).count(), 1);
}

#[test]
fn a_block_that_the_engine_refuses_is_kept_apart() {
    let whole = untouched(Format::Int19);
    let (_dir, done) = changed(Format::Int19, &format!("UPDATE blocks SET vb = {NOISE} WHERE loc = 0"));
    assert_eq!(errors(&done.copy), []);
    let copy = by_place(&done.copy);
    // Its instances stay.
    assert_eq!(copy.get(&ORIGIN), Some(&(None, whole[&ORIGIN].1.clone())));
    assert_eq!(copy.iter().filter(|(place, blobs)| whole.get(place) == Some(blobs)).count(), whole.len() - 1);
    assert_eq!(done.lost().iter().filter(|name| name.ends_with(".vb")).count(), 1, "{:?}", done.lost());
    assert!(done.plan.leaves_damage() && done.stream().missing.len() == 1);
    // Without instances there is no row.
    let sql = format!("UPDATE blocks SET vb = {NOISE}, instances = NULL WHERE loc = 0");
    let (_dir, done) = changed(Format::Int19, &sql);
    assert!(!by_place(&done.copy).contains_key(&ORIGIN));
    assert_eq!(errors(&done.copy), []);
    // A text where a blob should be.
    let (_dir, done) = changed(Format::Int19, "UPDATE blocks SET vb = 'voxels' WHERE loc = 0");
    assert_eq!(errors(&done.copy), []);
    let about = done.lost().into_iter().find(|name| name.ends_with(".json")).unwrap();
    let dir = repair::beside_copy(&done.copy, "lost+found");
    let text = fs::read_to_string(dir.join(format!("world.sqlite{about}"))).unwrap();
    assert!(text.contains("voxels"), "{text}");
}

#[test]
fn a_block_with_a_wrong_epilogue_is_written_anew() {
    let spec = StreamSpec::small(Format::Int16);
    let mut plain = spec.blocks.block(0, [0; 3]).encode();
    let right = plain.clone();
    let end = plain.len();
    plain[end - 4] ^= 0xff;
    let mut packed = Vec::new();
    voxscope::godot::container::encode(voxscope::godot::container::Mode::Lz4, &plain, &mut packed);
    let hex: String = packed.iter().map(|byte| format!("{byte:02x}")).collect();
    let (_dir, done) = changed(Format::Int16, &format!("UPDATE blocks SET vb = x'{hex}' WHERE loc = 0"));
    assert_eq!(errors(&done.copy), []);
    assert!(!done.plan.leaves_damage(), "{:?}", repair::words(&done.plan));
    let written = by_place(&done.copy).remove(&ORIGIN).unwrap().0.unwrap();
    let mut decoder = voxscope::godot::container::Decoder::default();
    let container = decoder.decode(&written, &voxscope::limits::Limits::DEFAULT).report_to(&mut Vec::new());
    assert!(container.plain == right);
    let dir = repair::beside_copy(&done.copy, "lost+found");
    let kept = common::files_below(&dir).into_iter().find(|path| path.extension().is_some_and(|e| e == "vb")).unwrap();
    assert!(fs::read(kept).unwrap() == packed);
}

#[test]
fn damaged_instances_leave_the_block_where_it_is() {
    let whole = untouched(Format::Text);
    let (_dir, done) = changed(Format::Text, &format!("UPDATE blocks SET instances = {NOISE} WHERE loc = '0,0,0,0'"));
    assert_eq!(errors(&done.copy), []);
    assert_eq!(by_place(&done.copy).get(&ORIGIN), Some(&(whole[&ORIGIN].0.clone(), None)));
    assert_eq!(done.lost().iter().filter(|name| name.ends_with(".instances")).count(), 1);
    assert!(done.plan.leaves_damage() && done.stream().missing.is_empty());
}

#[test]
fn null_is_data() {
    let (dir, done) = changed(Format::Int16, "UPDATE blocks SET vb = NULL, instances = NULL WHERE loc = 0");
    assert!(done.plan.changes_nothing());
    assert!(fs::read(dir.path().join("world.sqlite")).unwrap() == fs::read(&done.copy).unwrap());
}

#[test]
fn columns_and_tables_of_others_are_kept() {
    let sql = "ALTER TABLE blocks ADD COLUMN edited TEXT DEFAULT 'never';
               UPDATE blocks SET edited = 'today' WHERE loc = 0;
               CREATE TABLE players (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, x REAL, bag BLOB);
               INSERT INTO players VALUES (7, 'a', 1.5, x'00ff'), (9, 'ü', -2, NULL);
               CREATE TABLE notes (t);
               INSERT INTO notes VALUES (1), ('1'), (x'31'), (1.0), (NULL);
               CREATE INDEX by_x ON players (x);
               CREATE VIEW near AS SELECT * FROM players WHERE x < 2;
               PRAGMA user_version = 77;
               DELETE FROM meta";
    let (dir, done) = changed(Format::Int19, sql);
    assert_eq!(errors(&done.copy), []);
    assert!(done.stream().left_out.is_empty() && !done.plan.leaves_damage(), "{:?}", repair::words(&done.plan));
    let source = dir.path().join("world.sqlite");
    for sql in [
        "SELECT * FROM blocks ORDER BY loc",
        "SELECT rowid, * FROM players",
        "SELECT rowid, t, typeof(t) FROM notes",
        "SELECT * FROM near",
        "SELECT * FROM sqlite_sequence",
        "SELECT type, name, sql FROM sqlite_master ORDER BY name",
        "PRAGMA user_version",
        "SELECT * FROM channels",
    ] {
        assert_eq!(query(&source, sql), query(&done.copy, sql), "{sql}");
        assert!(!query(&source, sql).is_empty());
    }
}

#[test]
fn texts_of_utf_16_are_kept_in_tables_of_others_too() {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("world.sqlite");
    let db = Connection::open(&source).unwrap();
    db.execute_batch("PRAGMA encoding = 'UTF-16be'").unwrap();
    // The tables of a stream with its rows, as another one has them.
    let like = dir.path().join("like.sqlite");
    write_stream(&like, &StreamSpec::small(Format::Text), None).unwrap();
    let from = Connection::open(&like).unwrap();
    let mut tables = from.prepare("SELECT name, sql FROM sqlite_master WHERE type = 'table'").unwrap();
    let tables = tables.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap);
    for (name, sql) in tables.collect::<Vec<(String, String)>>() {
        db.execute_batch(&sql).unwrap();
        for row in query(&like, &format!("SELECT * FROM {name}")) {
            let marks = vec!["?"; row.len()].join(", ");
            db.execute(&format!("INSERT INTO {name} VALUES ({marks})"), rusqlite::params_from_iter(row)).unwrap();
        }
    }
    db.execute_batch(
        "CREATE TABLE players (name TEXT, age INTEGER); INSERT INTO players VALUES ('Zoë', 7); DELETE FROM meta",
    )
    .unwrap();
    drop(db);
    fs::remove_file(&like).unwrap();
    let before = by_place(&source);
    let done = mend(dir.path());
    assert_eq!(by_place(&done.copy), before);
    assert_eq!(query(&done.copy, "SELECT name FROM players"), [["Zoë".to_owned().into()]]);
}

#[test]
fn tables_that_compute_are_kept_with_the_whole_file() {
    let sql = "CREATE TABLE odd (a, b AS (a + 1)); INSERT INTO odd VALUES (1); DELETE FROM meta";
    let (dir, done) = changed(Format::Int19, sql);
    assert_eq!(done.stream().left_out, ["odd"]);
    assert!(done.plan.leaves_damage());
    let kept = repair::beside_copy(&done.copy, "lost+found").join("files/world.sqlite");
    assert!(fs::read(kept).unwrap() == fs::read(dir.path().join("world.sqlite")).unwrap());
}
