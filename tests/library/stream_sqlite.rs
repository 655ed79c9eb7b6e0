//! What is read of streams against what SQLite itself reads, with and without a journal or a log beside them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rusqlite::types::Value;
use rusqlite::{Connection, params};
use voxscope::check;
use voxscope::damage::{Code, Level};
use voxscope::demo::stream::{StreamSpec, key, write_stream};
use voxscope::godot::stream::loc::{Format, Place};
use voxscope::save::{Options, Save, StreamScratch};

type Blobs = (Option<Vec<u8>>, Option<Vec<u8>>);

/// What voxscope reads, by place.
fn ours(path: &Path) -> (BTreeMap<Place, Blobs>, Vec<Code>) {
    let save = Save::open(path, &Options::default()).unwrap();
    let stream = save.stream(&save.streams[0], &mut Vec::new()).unwrap().unwrap();
    let mut scratch = StreamScratch::default();
    let mut out = BTreeMap::new();
    for row in &stream.rows {
        stream.fetch(&row, &mut scratch).unwrap();
        let own = |bytes: Option<&[u8]>| bytes.map(<[u8]>::to_vec);
        let blobs = (own(stream.voxel_bytes(&scratch)), own(stream.instance_bytes(&scratch)));
        assert!(out.insert(row.place.unwrap(), blobs).is_none());
    }
    let mut codes = Vec::new();
    check::run(&save, &check::Options::default(), |finding| {
        if finding.level() > Level::Note || finding.code() == Code::StreamWal {
            codes.push(finding.code());
        }
    });
    (out, codes)
}

/// What SQLite reads, by place. It opens a copy with all files beside it, for it may put a journal back.
fn theirs(path: &Path, format: Format) -> BTreeMap<Place, Blobs> {
    let dir = tempfile::tempdir().unwrap();
    for ending in ["", "-journal", "-wal"] {
        let from = PathBuf::from(format!("{}{ending}", path.display()));
        if from.exists() {
            std::fs::copy(from, dir.path().join(format!("copy.sqlite{ending}"))).unwrap();
        }
    }
    let db = Connection::open(dir.path().join("copy.sqlite")).unwrap();
    let sound: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
    let mut select = db.prepare("SELECT loc, vb, instances FROM blocks").unwrap();
    let rows = select.query_map([], |row| Ok((row.get::<_, Value>(0)?, row.get(1)?, row.get(2)?))).unwrap();
    rows.map(|row| {
        let (loc, voxels, instances) = row.unwrap();
        use voxscope::godot::stream::loc::Key;
        let key = match &loc {
            Value::Integer(n) => Key::Int(*n),
            Value::Text(text) => Key::Text(text.as_bytes()),
            Value::Blob(bytes) => Key::Blob(bytes),
            other => panic!("{other:?}"),
        };
        (format.decode(key).unwrap(), (voxels, instances))
    })
    .collect()
}

/// The files of a save as they are, so that nothing can have been changed by reading.
fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// Copies a database and what lies beside it while it is in use, as a killed game leaves them.
fn killed(from: &Path, to: &Path) {
    for ending in ["", "-journal", "-wal"] {
        let path = PathBuf::from(format!("{}{ending}", from.display()));
        if path.exists() {
            std::fs::copy(path, format!("{}{ending}", to.display())).unwrap();
        }
    }
}

#[test]
fn streams_of_all_formats_and_page_sizes_are_read_as_sqlite_reads_them() {
    let dir = tempfile::tempdir().unwrap();
    for format in Format::ALL {
        for page_size in [512, 4096, 65_536] {
            let path = dir.path().join(format!("{}-{page_size}.sqlite", format.code()));
            let spec = StreamSpec { page_size, ..StreamSpec::small(format) };
            let stats = write_stream(&path, &spec, None).unwrap();
            let (ours, codes) = ours(&path);
            assert_eq!(codes, []);
            assert_eq!(ours.len() as u64, stats.blocks);
            assert!(ours == theirs(&path, format), "{}", path.display());
        }
    }
}

#[test]
fn a_save_that_was_not_finished_is_read_as_it_was_before() {
    let dir = tempfile::tempdir().unwrap();
    for (name, format) in [("a.sqlite", Format::Int16), ("b.sqlite", Format::Text)] {
        let path = dir.path().join(name);
        write_stream(&path, &StreamSpec::small(format), None).unwrap();
        let before = ours(&path).0;
        let db = Connection::open(&path).unwrap();
        // So small a cache makes SQLite write pages before the end of the save.
        db.execute_batch("PRAGMA cache_size = 1; BEGIN;").unwrap();
        db.execute("UPDATE blocks SET vb = randomblob(3000)", []).unwrap();
        db.execute("DELETE FROM blocks WHERE rowid % 3 = 0", []).unwrap();
        for n in 0..40 {
            let place = Place { lod: 0, position: [100 + n, 0, 0] };
            db.execute("INSERT INTO blocks VALUES (?, randomblob(900), NULL)", params![key(format, place)]).unwrap();
        }
        let other = tempfile::tempdir().unwrap();
        let dead = other.path().join("dead.sqlite");
        killed(&path, &dead);
        db.execute_batch("ROLLBACK").unwrap();
        assert_ne!(std::fs::read(&dead).unwrap(), std::fs::read(&path).unwrap(), "nothing was written yet");
        let as_it_was = files(other.path());
        assert_eq!(as_it_was.len(), 2);
        let (read, codes) = ours(&dead);
        assert!(read == before && codes == [Code::StreamJournal], "{codes:?}");
        assert!(read == theirs(&dead, format));
        assert!(files(other.path()) == as_it_was, "something was written");
        // A copy that left the journal behind is another thing.
        std::fs::remove_file(other.path().join("dead.sqlite-journal")).unwrap();
        let findings = ours_or_nothing(&dead);
        assert!(!findings.contains(&Code::StreamJournal) && !findings.is_empty(), "{findings:?}");
    }
}

/// Findings of a save that may be anything.
fn ours_or_nothing(path: &Path) -> Vec<Code> {
    let save = Save::open(path, &Options::default()).unwrap();
    let mut codes = Vec::new();
    check::run(&save, &check::Options::default(), |finding| codes.push(finding.code()));
    codes
}

#[test]
fn saves_in_the_write_ahead_log_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.sqlite");
    write_stream(&path, &StreamSpec::small(Format::Blob), None).unwrap();
    let db = Connection::open(&path).unwrap();
    db.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;").unwrap();
    db.execute("UPDATE blocks SET vb = (SELECT vb FROM blocks LIMIT 1)", []).unwrap();
    for n in 0..30 {
        let place = Place { lod: 1, position: [n, -1, 0] };
        let insert = "INSERT INTO blocks SELECT ?, vb, NULL FROM blocks LIMIT 1";
        db.execute(insert, params![key(Format::Blob, place)]).unwrap();
    }
    // What is written after the last end of a save does not count.
    db.execute_batch("PRAGMA cache_size = 1; BEGIN; UPDATE blocks SET vb = randomblob(2000);").unwrap();
    let other = tempfile::tempdir().unwrap();
    let dead = other.path().join("dead.sqlite");
    killed(&path, &dead);
    let as_it_was = files(other.path());
    let (read, codes) = ours(&dead);
    assert_eq!(codes, [Code::StreamWal]);
    assert!(read.len() >= 38 && read == theirs(&dead, Format::Blob));
    assert!(files(other.path()) == as_it_was, "something was written");
}

#[test]
fn a_journal_of_a_finished_save_says_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.sqlite");
    write_stream(&path, &StreamSpec::small(Format::Int19), None).unwrap();
    for rest in [Vec::new(), vec![0; 600]] {
        std::fs::write(dir.path().join("a.sqlite-journal"), rest).unwrap();
        assert_eq!(ours(&path).1, []);
    }
}

#[test]
fn a_database_that_was_used_for_long_is_read_as_sqlite_reads_it() {
    let dir = tempfile::tempdir().unwrap();
    for (name, vacuum) in [("plain", 0), ("full", 1), ("incremental", 2)] {
        let path = dir.path().join(format!("{name}.sqlite"));
        let db = Connection::open(&path).unwrap();
        db.pragma_update(None, "auto_vacuum", vacuum).unwrap();
        drop(db);
        let db = StreamSpec { page_size: 512, ..StreamSpec::small(Format::Text) }.create(&path).unwrap();
        let place = |n: i32| key(Format::Text, Place { lod: (n % 3) as u8, position: [n, -n, n / 7] });
        let packed = {
            let mut out = Vec::new();
            let spec = StreamSpec::small(Format::Text);
            let plain = spec.blocks.block(0, [0, 0, 0]).encode();
            voxscope::godot::container::encode(spec.blocks.mode, &plain, &mut out);
            out
        };
        db.execute_batch("BEGIN").unwrap();
        for n in 0..600 {
            db.execute("INSERT INTO blocks VALUES (?, ?, NULL)", params![place(n), packed]).unwrap();
        }
        db.execute("DELETE FROM blocks WHERE rowid % 5 < 2", []).unwrap();
        for n in 600..700 {
            db.execute("INSERT INTO blocks VALUES (?, ?, NULL)", params![place(n), packed]).unwrap();
        }
        db.execute_batch("COMMIT").unwrap();
        drop(db);
        let (read, codes) = ours(&path);
        assert_eq!(codes, [], "{name}");
        assert_eq!(read.len(), 460);
        assert!(read == theirs(&path, Format::Text), "{name}");
    }
}

/// A stream whose texts are UTF-16, with a page that is lost in it or not.
#[test]
fn texts_in_utf_16_are_read_as_sqlite_reads_them() {
    let dir = tempfile::tempdir().unwrap();
    for encoding in ["UTF-16le", "UTF-16be"] {
        let path = dir.path().join(format!("{encoding}.sqlite"));
        let db = Connection::open(&path).unwrap();
        db.execute_batch(&format!(
            "PRAGMA page_size = 1024; PRAGMA encoding = '{encoding}'; BEGIN;
             CREATE TABLE meta (version INTEGER, block_size_po2 INTEGER, coordinate_format INTEGER);
             CREATE TABLE blocks (loc TEXT PRIMARY KEY, vb BLOB, instances BLOB);
             CREATE TABLE channels (idx INTEGER PRIMARY KEY, depth INTEGER);
             INSERT INTO meta VALUES (1, 3, 2);"
        ))
        .unwrap();
        let mut packed = Vec::new();
        let spec = StreamSpec::small(Format::Text);
        voxscope::godot::container::encode(spec.blocks.mode, &spec.blocks.block(0, [0; 3]).encode(), &mut packed);
        for n in 0..40 {
            let place = Place { lod: (n % 3) as u8, position: [n, -n, -1_000_000 * n] };
            let key = key(Format::Text, place);
            db.execute("INSERT INTO blocks VALUES (?, ?, NULL)", params![key, packed]).unwrap();
        }
        db.execute_batch("COMMIT").unwrap();
        drop(db);
        let (read, codes) = ours(&path);
        assert_eq!((codes, read.len()), (vec![], 40), "{encoding}");
        assert!(read == theirs(&path, Format::Text), "{encoding}");
        let save = Save::open(&path, &Options::default()).unwrap();
        let stream = save.stream(&save.streams[0], &mut Vec::new()).unwrap().unwrap();
        let mut scratch = StreamScratch::default();
        let at = stream.find(Place { lod: 1, position: [1, -1, -1_000_000] }).unwrap();
        stream.fetch(&stream.rows.get(at).unwrap(), &mut scratch).unwrap();
        assert_eq!(stream.key(&scratch), voxscope::godot::stream::loc::Key::Text(b"1,-1,-1000000,1"));
        // Where the page is gone that says how texts are written, the keys still do.
        let mut data = std::fs::read(&path).unwrap();
        data[..1024].fill(0);
        let lost = dir.path().join(format!("{encoding}-lost.sqlite"));
        std::fs::write(&lost, data).unwrap();
        assert!(ours(&lost).0 == read, "{encoding}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Rows of any sizes, so that payloads end at every place of a page.
    #[test]
    fn rows_of_all_sizes_are_read(sizes in proptest::collection::vec((0usize..5000, 0usize..1500), 1..40), page in 9u32..13) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.sqlite");
        let spec = StreamSpec { page_size: 1 << page, ..StreamSpec::small(Format::Int19) };
        let db = spec.create(&path).unwrap();
        for (n, (a, b)) in (0i32..).zip(&sizes) {
            let key = key(Format::Int19, Place { lod: 0, position: [n, -n, 7] });
            db.execute("INSERT INTO blocks VALUES (?, randomblob(?), zeroblob(?))", params![key, *a as i64, *b as i64]).unwrap();
        }
        drop(db);
        let (read, _) = ours(&path);
        prop_assert_eq!(read.len(), sizes.len());
        prop_assert!(read == theirs(&path, Format::Int19));
    }
}

/// A database whose pages have bytes at their end that SQLite leaves alone: rows of all lengths, with overflow pages.
#[test]
fn reserved_bytes_at_the_end_of_pages_are_no_content() {
    let dir = tempfile::tempdir().unwrap();
    for (reserved, page_size) in [(8u8, 512u16), (32, 512), (255, 1024), (32, 4096)] {
        let path = dir.path().join(format!("{reserved}-{page_size}.sqlite"));
        let db = Connection::open(&path).unwrap();
        db.execute_batch(&format!("PRAGMA page_size = {page_size}; PRAGMA user_version = 1;")).unwrap();
        drop(db);
        // SQLite takes the number from the header, and the end of the cells from the first page.
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[20] = reserved;
        bytes[105..107].copy_from_slice(&(page_size - u16::from(reserved)).to_be_bytes());
        std::fs::write(&path, bytes).unwrap();
        let db = Connection::open(&path).unwrap();
        db.execute_batch(
            "CREATE TABLE meta (version INTEGER, block_size_po2 INTEGER, coordinate_format INTEGER);
             CREATE TABLE blocks (loc INTEGER PRIMARY KEY, vb BLOB, instances BLOB);
             CREATE TABLE channels (idx INTEGER PRIMARY KEY, depth INTEGER);
             INSERT INTO meta VALUES (1, 4, 0);",
        )
        .unwrap();
        for (n, len) in (0..).zip((0..usize::from(page_size) * 3).step_by(37)) {
            let blob: Vec<u8> = (0..len).map(|i| (i * 7 + n) as u8).collect();
            db.execute("INSERT INTO blocks VALUES (?1, ?2, NULL)", params![n as i64, blob]).unwrap();
        }
        drop(db);
        assert_eq!(std::fs::read(&path).unwrap()[20], reserved, "SQLite kept the bytes");
        let (rows, codes) = ours(&path);
        assert!(rows == theirs(&path, Format::Int16), "{reserved} {page_size}");
        let of_pages = |code: &Code| matches!(code, Code::StreamPage | Code::StreamHeader | Code::StreamFreelist);
        assert!(!codes.iter().any(of_pages), "{reserved} {page_size}: {codes:?}");
    }
}

/// Of two rows of settings, the last one counts, as for the engine.
#[test]
fn of_two_rows_of_settings_the_last_one_counts() {
    let dir = tempfile::tempdir().unwrap();
    for (n, first) in ["(1, 5, 0)", "(0, 3, 1)", "(1, NULL, 2)"].into_iter().enumerate() {
        let path = dir.path().join(format!("{n}.sqlite"));
        write_stream(&path, &StreamSpec::small(Format::Int19), None).unwrap();
        let before = ours(&path).0;
        let db = Connection::open(&path).unwrap();
        db.execute_batch(&format!(
            "CREATE TEMP TABLE kept AS SELECT * FROM meta; DELETE FROM meta;
             INSERT INTO meta VALUES {first}; INSERT INTO meta SELECT * FROM kept;"
        ))
        .unwrap();
        drop(db);
        let (after, codes) = ours(&path);
        assert!(after == before, "{first}: the keys are read by the last row");
        assert!(codes.contains(&Code::StreamMetaTwice), "{first}: {codes:?}");
    }
}
