//! Repair of SQLite streams: every row that can be read is in the copy to the byte, nothing is invented, nothing is lost.
#![cfg(feature = "sqlite")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use rusqlite::{Connection, params};
use serde_json::Value;
use voxscope::demo::stream::{StreamSpec, write_changed, write_stream};
use voxscope::godot::stream::loc::{Format, Place};
use voxscope::repair::{self, Action};
use voxscope::save::{Options, Save, StreamScratch};
use voxscope::{beside, check, damage, demo};

type Blobs = (Option<Vec<u8>>, Option<Vec<u8>>);

/// Rows by their places, as our reader has them, whether each is without fault.
fn rows(path: &Path) -> Vec<(Place, Blobs, bool)> {
    let save = Save::open(path, &Options::default()).unwrap();
    let Some(stream) = save.stream(&save.streams[0], &mut Vec::new()).unwrap() else { return Vec::new() };
    let mut scratch = StreamScratch::default();
    let mut out = Vec::new();
    for row in &stream.rows {
        stream.fetch(row, &mut scratch).unwrap();
        let own = |bytes: Option<&[u8]>| bytes.map(<[u8]>::to_vec);
        let blobs = (own(stream.voxel_bytes(&scratch)), own(stream.instance_bytes(&scratch)));
        let mut faults = Vec::new();
        stream.faults(row, &scratch, &mut faults);
        faults.extend_from_slice(stream.block(&mut scratch).damage);
        faults.extend_from_slice(stream.instances(&mut scratch).damage);
        faults.retain(|d| d.code != damage::Code::StreamRowLost);
        let whole = faults.iter().all(|d| d.code.level() < damage::Level::Warning);
        out.extend(row.place.map(|place| (place, blobs, whole)));
    }
    out
}

fn by_place(path: &Path) -> BTreeMap<Place, Blobs> {
    rows(path).into_iter().map(|(place, blobs, _)| (place, blobs)).collect()
}

fn codes(path: &Path) -> Vec<(damage::Level, damage::Code)> {
    let mut codes = Vec::new();
    let save = Save::open(path, &Options::default()).unwrap();
    check::run(&save, &check::Options::default(), |finding| codes.push((finding.level(), finding.code())));
    codes
}

fn errors(path: &Path) -> Vec<damage::Code> {
    codes(path).into_iter().filter(|(level, _)| *level == damage::Level::Error).map(|(_, code)| code).collect()
}

/// What SQLite itself says of a database.
fn is_sound(path: &Path) -> bool {
    let db = Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    db.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0)).unwrap() == "ok"
}

fn query(path: &Path, sql: &str) -> Vec<Vec<rusqlite::types::Value>> {
    let db = Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut select = db.prepare(sql).unwrap();
    let columns = select.column_count();
    select.query_map([], |row| (0..columns).map(|at| row.get(at)).collect()).unwrap().map(Result::unwrap).collect()
}

fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    common::files_below(dir).into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

struct Done {
    plan: repair::Plan,
    report: Value,
    copy: PathBuf,
}

impl Done {
    fn stream(&self) -> &repair::StreamPlan {
        &self.plan.streams[0]
    }

    /// Names of what is in `lost+found`, without that of the file.
    fn lost(&self) -> Vec<String> {
        let dir = repair::beside_copy(&self.copy, "lost+found");
        let names = if dir.is_dir() { common::files_below(&dir) } else { Vec::new() };
        names
            .iter()
            .map(|path| path.strip_prefix(&dir).unwrap().to_str().unwrap().replace("world.sqlite", ""))
            .collect()
    }

    fn entry(&self) -> &Value {
        &self.report["streams"][0]
    }
}

/// Repairs `DIR/world.sqlite` into `DIR/NAME.sqlite`, and the copy again, which must change nothing.
fn mend_as(dir: &Path, name: &str, options: &repair::Options<'_>) -> Done {
    let source = dir.join("world.sqlite");
    let copy = dir.join(format!("{name}.sqlite"));
    let mut before = files(dir);
    let save = Save::open(&source, &Options::default()).unwrap();
    let outcome = repair::run(&save, &copy, options).unwrap();
    let mut after = files(dir);
    after.retain(|path, _| before.contains_key(path));
    assert!(before == after, "something was altered");
    before.clear();
    let report = serde_json::from_slice(&fs::read(repair::beside_copy(&copy, "repair.json")).unwrap()).unwrap();
    if copy.exists() {
        assert!(is_sound(&copy));
        assert!(!dir.join(format!("{name}.sqlite-journal")).exists());
        let again = dir.join(format!("{name}-again.sqlite"));
        let save = Save::open(&copy, &Options::default()).unwrap();
        let second = repair::run(&save, &again, &repair::Options::default()).unwrap();
        if errors(&copy).is_empty() {
            assert!(second.plan.changes_nothing(), "{:?}", repair::words(&second.plan));
            assert!(fs::read(&copy).unwrap() == fs::read(&again).unwrap());
        }
    }
    Done { plan: outcome.plan, report, copy }
}

fn mend(dir: &Path) -> Done {
    mend_as(dir, "copy", &repair::Options::default())
}

fn likely(dir: &Path) -> Done {
    mend_as(dir, "likely", &repair::Options { likely: true, ..Default::default() })
}

/// A small stream that is changed by SQL, repaired.
fn changed(format: Format, sql: &str) -> (tempfile::TempDir, Done) {
    let dir = tempfile::tempdir().unwrap();
    write_changed(&dir.path().join("world.sqlite"), &StreamSpec::small(format), sql).unwrap();
    let done = mend(dir.path());
    (dir, done)
}

/// The rows of a small stream that nobody changed.
fn untouched(format: Format) -> BTreeMap<Place, Blobs> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("world.sqlite");
    write_stream(&path, &StreamSpec::small(format), None).unwrap();
    by_place(&path)
}

const ORIGIN: Place = Place { lod: 0, position: [0; 3] };

fn golden_streams() -> Vec<PathBuf> {
    let dirs = [common::golden("godot_voxel_sqlite"), common::golden("instances")];
    let files = dirs.into_iter().flatten().flat_map(|dir| common::files_below(&dir));
    files.filter(|path| path.extension().is_some_and(|e| e == "sqlite")).collect()
}

/// Every row without fault that only one claims is in the copy to the byte; every row of the copy was in the save.
fn holds_all(source: &Path, done: &Done, what: &str) {
    if !done.copy.exists() {
        assert!(rows(source).is_empty(), "{what}: nothing was written");
        return;
    }
    assert_eq!(errors(&done.copy), [], "{what}: {:?}", repair::words(&done.plan));
    let (found, copy) = (rows(source), by_place(&done.copy));
    for (place, blobs, whole) in &found {
        let alone = found.iter().filter(|(other, ..)| other == place).count() == 1;
        if *whole && alone {
            assert!(copy.get(place) == Some(blobs), "{what}: {place:?} is not in the copy");
        }
    }
    for (place, (voxels, instances)) in &copy {
        let was = |(at, blobs, _): &&(Place, Blobs, bool)| {
            at == place && (voxels.is_none() || *voxels == blobs.0) && (instances.is_none() || *instances == blobs.1)
        };
        let mended =
            done.stream().rows.iter().any(|row| row.place == *place && matches!(row.voxels, repair::Part::Mended(_)));
        assert!(mended || found.iter().any(|row| was(&row)), "{what}: {place:?} is invented");
    }
}

#[test]
fn a_healthy_stream_is_copied_byte_by_byte() {
    for path in golden_streams() {
        let dir = tempfile::tempdir().unwrap();
        let source = dir.path().join("world.sqlite");
        fs::copy(&path, &source).unwrap();
        let done = mend(dir.path());
        assert!(done.plan.changes_nothing() && !done.plan.leaves_damage(), "{:?}", repair::words(&done.plan));
        assert!(fs::read(&source).unwrap() == fs::read(&done.copy).unwrap());
        assert!(done.lost().is_empty() && done.report["streams"].as_array().unwrap().is_empty());
    }
}

#[test]
fn a_damaged_page_costs_the_rows_on_it_and_no_other() {
    for path in golden_streams() {
        let whole = fs::read(&path).unwrap();
        let truth = by_place(&path);
        for page in 0..whole.len() / 4096 {
            for (how, spoil) in [("flipped", 0xff), ("zeroed", 0)] {
                let dir = tempfile::tempdir().unwrap();
                let source = dir.path().join("world.sqlite");
                let mut data = whole.clone();
                data[page * 4096..][..4096].iter_mut().for_each(|b| *b = if spoil == 0 { 0 } else { !*b });
                fs::write(&source, &data).unwrap();
                let what = format!("{} page {} {how}", path.display(), page + 1);
                let done = mend(dir.path());
                assert_eq!(done.stream().action, Action::Rebuild, "{what}");
                holds_all(&source, &done, &what);
                let unsalvaged = done.stream().rows.iter().all(|row| row.voxels == repair::Part::Kept);
                for (place, blobs) in by_place(&done.copy) {
                    assert!(!unsalvaged || truth.get(&place) == Some(&blobs), "{what}: {place:?} was never so");
                }
                // What was on the page is not simply gone.
                if how == "flipped" {
                    let kept = !done.stream().pages.is_empty() || !done.stream().lost.is_empty();
                    assert!(kept, "{what}: {:?}", repair::words(&done.plan));
                }
            }
        }
    }
}

#[test]
fn a_cut_file_gives_what_is_there() {
    for path in golden_streams().into_iter().take(3) {
        let whole = fs::read(&path).unwrap();
        for len in (1..whole.len()).step_by(3301) {
            let dir = tempfile::tempdir().unwrap();
            let source = dir.path().join("world.sqlite");
            fs::write(&source, &whole[..len]).unwrap();
            let done = mend(dir.path());
            let what = format!("{} cut to {len}", path.display());
            if done.copy.exists() && done.stream().unsettled.is_none() {
                holds_all(&source, &done, &what);
            } else {
                assert!(done.plan.leaves_damage(), "{what}");
            }
        }
    }
}

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

/// A blob of noise: a container that no reader takes.
const NOISE: &str = "x'02ff00000011223344556677889900aabbccddeeff'";

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
    let container = decoder.decode(&written, &voxscope::limits::Limits::DEFAULT, &mut Vec::new());
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
fn tables_that_compute_are_kept_with_the_whole_file() {
    let sql = "CREATE TABLE odd (a, b AS (a + 1)); INSERT INTO odd VALUES (1); DELETE FROM meta";
    let (dir, done) = changed(Format::Int19, sql);
    assert_eq!(done.stream().left_out, ["odd"]);
    assert!(done.plan.leaves_damage());
    let kept = repair::beside_copy(&done.copy, "lost+found").join("files/world.sqlite");
    assert!(fs::read(kept).unwrap() == fs::read(dir.path().join("world.sqlite")).unwrap());
}

/// A stream whose next save is under way, as a killed game leaves it: the files, and the rows that SQLite would show.
fn killed(mode: &str) -> (tempfile::TempDir, BTreeMap<Place, Blobs>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("live.sqlite");
    let spec = StreamSpec::small(Format::Int19);
    write_stream(&path, &spec, None).unwrap();
    let before = by_place(&path);
    let mut db = Connection::open(&path).unwrap();
    db.query_row(&format!("PRAGMA journal_mode = {mode}"), [], |row| row.get::<_, String>(0)).unwrap();
    db.pragma_update(None, "cache_size", 2).unwrap();
    let transaction = db.transaction().unwrap();
    for n in 0..40 {
        let sql = "INSERT OR REPLACE INTO blocks SELECT ?1, vb, instances FROM blocks WHERE loc = 0";
        transaction.execute(sql, params![n]).unwrap();
    }
    if mode == "wal" {
        transaction.commit().unwrap();
    } else {
        std::mem::forget(transaction);
    }
    for ending in ["", "-journal", "-wal"] {
        let from = dir.path().join(format!("live.sqlite{ending}"));
        if from.exists() {
            fs::copy(from, dir.path().join(format!("world.sqlite{ending}"))).unwrap();
        }
    }
    std::mem::forget(db);
    for ending in ["", "-journal", "-wal", "-shm"] {
        let _ = fs::remove_file(dir.path().join(format!("live.sqlite{ending}")));
    }
    (dir, before)
}

#[test]
fn a_journal_is_undone_in_the_copy_only() {
    let (dir, before) = killed("delete");
    assert!(codes(&dir.path().join("world.sqlite")).iter().any(|(_, code)| *code == damage::Code::StreamJournal));
    let done = mend(dir.path());
    assert_eq!(by_place(&done.copy), before);
    assert!(codes(&done.copy).is_empty(), "{:?}", codes(&done.copy));
    assert_eq!(done.stream().through, Some("a journal"));
    assert_eq!(done.entry()["read_through"], "a journal");
    assert!(!done.plan.leaves_damage(), "{:?}", repair::words(&done.plan));
    assert_eq!(done.lost(), ["files/-journal"]);
}

#[test]
fn a_log_is_written_into_the_copy() {
    let (dir, before) = killed("wal");
    let done = mend(dir.path());
    let copy = by_place(&done.copy);
    assert!(copy.len() > before.len());
    assert_eq!(done.stream().through, Some("a write-ahead log"));
    assert_eq!(copy, by_place(&dir.path().join("world.sqlite")));
}

#[test]
fn deleted_rows_do_not_come_back() {
    for damage in ["stream-freelist", "stream-unused"] {
        let dir = tempfile::tempdir().unwrap();
        let sample = demo::samples().find(|sample| sample.name == damage).unwrap();
        (sample.make)(dir.path()).unwrap();
        let table = query(&dir.path().join("world.sqlite"), "SELECT loc FROM blocks").len();
        let done = mend(dir.path());
        assert_eq!(by_place(&done.copy).len(), table, "{damage}");
        assert!(codes(&done.copy).is_empty(), "{damage}");
    }
}

#[test]
fn a_backup_gives_older_states() {
    let dir = tempfile::tempdir().unwrap();
    let (source, old) = (dir.path().join("world.sqlite"), dir.path().join("old.sqlite"));
    write_stream(&old, &StreamSpec::small(Format::Text), None).unwrap();
    write_changed(&source, &StreamSpec::small(Format::Int19), &format!("UPDATE blocks SET vb = {NOISE} WHERE loc = 0"))
        .unwrap();
    let backup = Save::open(&old, &Options::default()).unwrap();
    let options = repair::Options { backup: Some(&backup), ..Default::default() };
    let done = mend_as(dir.path(), "copy", &options);
    assert_eq!(by_place(&done.copy), untouched(Format::Int19));
    assert!(done.plan.leaves_damage(), "an older state is no repair");
    let put = &done.entry()["put_right"][0];
    assert_eq!(
        (&put["certainty"], &put["from_backup"], &put["vb"]),
        (&"backup".into(), &true.into(), &"from backup".into())
    );
    // A stream of which nothing is left is that of the backup.
    fs::write(&source, []).unwrap();
    let done = mend_as(dir.path(), "all", &options);
    assert_eq!(done.stream().action, Action::FromBackup);
    assert!(fs::read(&done.copy).unwrap() == fs::read(&old).unwrap());
    // Without one there is nothing to write.
    let done = mend_as(dir.path(), "nothing", &repair::Options::default());
    assert!(done.stream().action == Action::SetAside && !done.copy.exists());
    assert_eq!(done.lost(), ["files/"]);
}

#[test]
fn every_damaged_stream_of_the_demo_gets_a_copy_without_errors() {
    let mut seen = 0;
    for sample in
        demo::samples().filter(|sample| sample.name.starts_with("stream-") || sample.name.starts_with("instances-"))
    {
        let dir = tempfile::tempdir().unwrap();
        (sample.make)(dir.path()).unwrap();
        let source = dir.path().join("world.sqlite");
        if errors(&source).is_empty() && codes(&source).iter().all(|(level, _)| *level < damage::Level::Warning) {
            continue;
        }
        let done = mend(dir.path());
        seen += 1;
        if sample.name == "stream-empty" {
            assert!(!done.copy.exists());
            continue;
        }
        // Rows that were deleted are none: see `deleted_rows_do_not_come_back`.
        if !["stream-freelist", "stream-unused"].contains(&sample.name) {
            holds_all(&source, &done, sample.name);
        }
        // The same save gives the same copy.
        let other = mend_as(dir.path(), "other", &repair::Options::default());
        assert!(fs::read(&done.copy).unwrap() == fs::read(&other.copy).unwrap(), "{}", sample.name);
        assert_eq!(done.lost(), other.lost(), "{}", sample.name);
    }
    assert!(seen > 25, "{seen}");
}

#[test]
fn a_stream_in_a_directory_is_repaired_where_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("save");
    let spec = StreamSpec::small(Format::Int19);
    write_changed(&source.join("a/world.sqlite"), &spec, &format!("UPDATE blocks SET vb = {NOISE} WHERE loc = 0"))
        .unwrap();
    write_stream(&source.join("b/world.sqlite"), &spec, None).unwrap();
    demo::write_forest(&source.join("forest"), &demo::ForestSpec::default(), None).unwrap();
    let before = files(&source);
    let save = Save::open(&source, &Options::default()).unwrap();
    let to = dir.path().join("copy");
    let outcome = repair::run(&save, &to, &repair::Options::default()).unwrap();
    assert_eq!(outcome.check.counts.errors, 0);
    assert!(files(&source) == before);
    assert!(fs::read(to.join("b/world.sqlite")).unwrap() == fs::read(source.join("b/world.sqlite")).unwrap());
    assert_eq!(errors(&to.join("a/world.sqlite")), []);
    assert!(to.join("lost+found/a").is_dir() && to.join("repair.json").is_file());
    let again = dir.path().join("again");
    let second =
        repair::run(&Save::open(&to, &Options::default()).unwrap(), &again, &repair::Options::default()).unwrap();
    assert!(second.plan.changes_nothing(), "{:?}", repair::words(&second.plan));
    assert_eq!(common::trees::content(&to), common::trees::content(&again));
}

fn program(dir: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_voxscope")).current_dir(dir).args(arguments).output().unwrap()
}

#[test]
fn on_the_command_line() {
    let dir = tempfile::tempdir().unwrap();
    write_changed(
        &dir.path().join("world.sqlite"),
        &StreamSpec::small(Format::Int19),
        &format!("UPDATE blocks SET vb = {NOISE} WHERE loc = 0"),
    )
    .unwrap();
    let before = files(dir.path());
    let plan = program(dir.path(), &["repair", "world.sqlite", "--plan"]);
    let said = String::from_utf8(plan.stdout).unwrap();
    assert_eq!(plan.status.code(), Some(5), "{said}");
    assert!(said.contains("rows kept") && said.contains("to lost+found"), "{said}");
    assert!(files(dir.path()) == before, "a plan writes nothing");
    let done = program(dir.path(), &["repair", "world.sqlite", "--out", "copy.sqlite"]);
    let said = String::from_utf8(done.stdout).unwrap();
    assert_eq!(done.status.code(), Some(5), "{said}");
    assert!(said.contains("copy.sqlite: checked, clean"), "{said}");
    let names: BTreeSet<String> =
        fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    let expected = ["copy.sqlite", "copy.sqlite.lost+found", "copy.sqlite.repair.json", "world.sqlite"];
    assert_eq!(names, expected.map(str::to_owned).into());
    // Nothing is written over, and no journal of that name may lie there.
    assert_eq!(program(dir.path(), &["repair", "world.sqlite", "--out", "copy.sqlite"]).status.code(), Some(16));
    fs::write(dir.path().join("new.sqlite-journal"), []).unwrap();
    assert_eq!(program(dir.path(), &["repair", "world.sqlite", "--out", "new.sqlite"]).status.code(), Some(16));
    assert!(!dir.path().join("new.sqlite").exists());
}

#[test]
fn an_interrupted_repair_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("world.sqlite");
    write_changed(&source, &StreamSpec::small(Format::Int19), "DELETE FROM meta").unwrap();
    let save = Save::open(&source, &Options::default()).unwrap();
    let cancel = std::sync::atomic::AtomicBool::new(true);
    let options = repair::Options { cancel: Some(&cancel), ..Default::default() };
    let stopped = repair::run(&save, &dir.path().join("copy.sqlite"), &options);
    assert!(matches!(stopped, Err(repair::Error::Build(beside::Error::Interrupted))));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

/// A repair that is killed has no name, or all of it.
#[cfg(unix)]
#[test]
fn killed_at_any_moment() {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("world.sqlite");
    let lods = vec![demo::Extent { from: [-8, -2, -8], to: [8, 2, 8] }];
    let spec = StreamSpec { blocks: demo::ForestSpec { lods, ..demo::ForestSpec::default() }, ..StreamSpec::default() };
    write_changed(&source, &spec, &format!("UPDATE blocks SET vb = {NOISE} WHERE loc % 7 = 0; DELETE FROM meta"))
        .unwrap();
    let bytes = fs::read(&source).unwrap();
    let copy = dir.path().join("copy.sqlite");
    let left = |path: &Path| {
        let hidden = |e: &fs::DirEntry| e.file_name().to_string_lossy().starts_with(".copy.sqlite.repair-");
        fs::read_dir(path).unwrap().map(Result::unwrap).filter(hidden).map(|e| e.path()).collect::<Vec<_>>()
    };
    let mut killed = 0;
    for files in [0, 1, 5, 50] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_voxscope"));
        let mut child = command
            .arg("repair")
            .arg(&source)
            .arg("--out")
            .arg(&copy)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        loop {
            let count = |path: &PathBuf| fs::read_dir(path.join("lost+found")).map_or(0, Iterator::count);
            if child.try_wait().unwrap().is_some() {
                break;
            }
            let drafts = left(dir.path());
            if !drafts.is_empty() && drafts.iter().map(count).sum::<usize>() >= files {
                killed += 1;
                break;
            }
            std::thread::yield_now();
        }
        let _ = child.kill();
        child.wait().unwrap();
        assert!(fs::read(&source).unwrap() == bytes, "the source was altered");
        if copy.exists() {
            assert!(is_sound(&copy) && errors(&copy).is_empty(), "a half-made copy");
            assert!(repair::beside_copy(&copy, "repair.json").is_file());
            fs::remove_file(&copy).unwrap();
        }
        for name in ["repair.json", "lost+found"] {
            let path = repair::beside_copy(&copy, name);
            let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
        left(dir.path()).iter().for_each(|path| fs::remove_dir_all(path).unwrap());
    }
    assert!(killed > 1, "{killed}");
}
