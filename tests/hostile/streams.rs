//! Streams of very many rows.
#![cfg(feature = "sqlite")]

use std::ffi::OsStr;
use std::path::PathBuf;

use tempfile::TempDir;

use super::{every_command, run, temp};

/// A stream of so many rows without a value, with keys of a type, a number of their format, and a term for each of them.
fn empty_rows(rows: u32, key_type: &str, format: u8, key: &str) -> (TempDir, PathBuf) {
    let (dir, path) = temp();
    let file = path.join("world.sqlite");
    let database = rusqlite::Connection::open(&file).unwrap();
    database
        .execute_batch(&format!(
            "PRAGMA synchronous = off; BEGIN;
             CREATE TABLE meta (version INTEGER, block_size_po2 INTEGER, coordinate_format INTEGER);
             CREATE TABLE blocks (loc {key_type} PRIMARY KEY, vb BLOB, instances BLOB);
             CREATE TABLE channels (idx INTEGER PRIMARY KEY, depth INTEGER);
             INSERT INTO meta VALUES (1, 4, {format});
             WITH RECURSIVE a(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM a WHERE n + 1 < {rows})
             INSERT INTO blocks SELECT {key}, NULL, NULL FROM a; COMMIT;"
        ))
        .unwrap();
    database.close().unwrap();
    (dir, file)
}

#[test]
fn rows_that_follow_one_another() {
    const ROWS: u32 = 800_000;
    let (_dir, path) = empty_rows(ROWS, "INTEGER", 0, "n");
    every_command(&path);
    let listed = run(&["ls".as_ref(), path.as_ref(), "--format=csv".as_ref()] as &[&OsStr]);
    assert_eq!(listed.out.lines().count(), ROWS as usize + 1);
    run(&["diff".as_ref(), path.as_ref(), path.as_ref()]);
    run(&["repair".as_ref(), path.as_ref(), "--plan".as_ref()]);
}

#[test]
fn texts_in_another_order_than_their_places() {
    let (_dir, path) =
        empty_rows(500_000, "TEXT", 2, "(n * 7919 % 100) || ',' || (n / 100 % 100) || ',' || (n / 10000) || ',0'");
    let checked = run(&["check".as_ref(), path.as_ref()] as &[&OsStr]);
    assert!(checked.out.contains("500,000"), "{}", checked.out);
    run(&["info".as_ref(), path.as_ref()]);
}
