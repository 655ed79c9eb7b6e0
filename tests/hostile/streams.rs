//! Streams of very many rows.
#![cfg(feature = "sqlite")]

use std::ffi::OsStr;
use std::path::PathBuf;

use tempfile::TempDir;
use voxscope::godot::container::{self, Mode};

use super::random::Random;
use super::{MOST, every_command, run, run_capped, temp};

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

#[test]
fn settings_that_no_row_has() {
    const ROWS: u32 = 300_000;
    let key = "(n % 100) || ',' || (n / 100 % 100) || ',' || (n / 10000) || ',0'";
    // The keys are texts, so that the format of them is 2. Version 0 has no other format than 0.
    for (format, version, put_right) in [(0, 1, "coordinate_format"), (2, 0, "version")] {
        let (dir, path) = empty_rows(ROWS, "TEXT", format, key);
        let database = rusqlite::Connection::open(&path).unwrap();
        database.execute("UPDATE meta SET version = ?", [version]).unwrap();
        database.close().unwrap();
        let checked = run(&["check".as_ref(), path.as_ref()] as &[&OsStr]);
        assert!(checked.out.contains("mends 1 file and keeps all 300,000 blocks"), "{}", checked.out);
        let copy = dir.path().join("copy.sqlite");
        let repair = |to: &[&OsStr]| {
            let run = run_capped(&[&["repair".as_ref(), path.as_os_str()], to].concat());
            assert!(run.status.code() == Some(1) && run.peak < MOST, "{} KiB: {}", run.peak, run.err);
            run.out
        };
        let repaired = repair(&["--out".as_ref(), copy.as_ref()]);
        assert!(repaired.contains("checked, clean"), "{repaired}");
        let planned = repair(&["--plan".as_ref()]);
        assert_eq!(planned.matches("put right").count(), 1, "{planned}");
        assert!(planned.contains(&format!("{put_right} put right from 0 to")), "{planned}");
        let database = rusqlite::Connection::open(&copy).unwrap();
        let count = "SELECT version, coordinate_format, (SELECT count(*) FROM blocks) FROM meta";
        let settings: (i64, i64, u32) =
            database.query_row(count, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        assert_eq!(settings, (1, 2, ROWS));
    }
}

/// Rows of 12 MiB each, whose blocks take as much again.
#[test]
fn large_rows_are_in_memory_one_at_a_time() {
    let (_dir, path) = empty_rows(6, "INTEGER", 0, "n");
    let mut random = Random::new(1);
    // 128 x 128 x 128 voxels: three raw channels of 16 bits, and five of one value.
    let mut plain = vec![4, 128, 0, 128, 0, 128, 0];
    for _ in 0..3 {
        plain.push(0x10);
        plain.extend((0..128u32.pow(3)).flat_map(|_| (random.below(60_000) as u16).to_le_bytes()));
    }
    plain.extend([0x01, 0].repeat(5));
    plain.extend(0x900d_f00d_u32.to_le_bytes());
    let mut block = Vec::new();
    container::encode(Mode::Lz4, &plain, &mut block);
    assert!(block.len() > 8 << 20);
    let database = rusqlite::Connection::open(&path).unwrap();
    database.execute_batch("UPDATE meta SET block_size_po2 = 7").unwrap();
    database.execute("UPDATE blocks SET vb = ?", [&block]).unwrap();
    database.close().unwrap();
    let checked = run(&["check".as_ref(), path.as_ref()] as &[&OsStr]);
    assert!(checked.out.contains("6 blocks") && checked.out.contains("72.0 MiB decompressed"), "{}", checked.out);
}
