//! Streams of very many rows.
#![cfg(feature = "sqlite")]

use std::ffi::OsStr;
use std::path::PathBuf;

use tempfile::TempDir;

use super::{every_command, repairs, run, temp};

/// Rows that took more than 64 MiB while each was held by itself.
const ROWS: u32 = 800_000;

/// A stream whose rows have no value, with keys of a type, a number of their format, and a term for each of them.
fn empty_rows(key_type: &str, format: u8, key: &str) -> (TempDir, PathBuf) {
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
             WITH RECURSIVE a(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM a WHERE n + 1 < {ROWS})
             INSERT INTO blocks SELECT {key}, NULL, NULL FROM a; COMMIT;"
        ))
        .unwrap();
    database.close().unwrap();
    (dir, file)
}

#[test]
fn rows_that_follow_one_another() {
    let (_dir, path) = empty_rows("INTEGER", 0, "n");
    every_command(&path);
    let listed = run(&["ls".as_ref(), path.as_ref(), "--format=csv".as_ref()] as &[&OsStr]);
    assert_eq!(listed.out.lines().count(), ROWS as usize + 1);
    run(&["diff".as_ref(), path.as_ref(), path.as_ref()]);
    repairs(&path);
}

#[test]
fn texts_in_another_order_than_their_places() {
    let (_dir, path) =
        empty_rows("TEXT", 2, "(n * 7919 % 100) || ',' || (n / 100 % 100) || ',' || (n / 10000) || ',0'");
    let checked = run(&["check".as_ref(), path.as_ref()] as &[&OsStr]);
    assert!(checked.out.contains("800,000"), "{}", checked.out);
    run(&["info".as_ref(), path.as_ref()]);
}
