//! Repair of SQLite streams: every row that can be read is in the copy to the byte, nothing is invented, nothing is lost.

mod keys;
mod put_right;
mod whole;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common;
use rusqlite::Connection;
use serde_json::Value;
use voxscope::demo::stream::{StreamSpec, write_changed, write_stream};
use voxscope::godot::stream::loc::{Format, Place};
use voxscope::repair::{self, Action};
use voxscope::save::{Options, Save, StreamScratch};
use voxscope::{check, damage};

type Blobs = (Option<Vec<u8>>, Option<Vec<u8>>);

/// Rows by their places, as our reader has them, whether each is without fault.
fn rows(path: &Path) -> Vec<(Place, Blobs, bool)> {
    let save = Save::open(path, &Options::default()).unwrap();
    let Some(stream) = save.stream(&save.streams[0], &mut Vec::new()).unwrap() else { return Vec::new() };
    let mut scratch = StreamScratch::default();
    let mut out = Vec::new();
    for row in &stream.rows {
        stream.fetch(&row, &mut scratch).unwrap();
        let own = |bytes: Option<&[u8]>| bytes.map(<[u8]>::to_vec);
        let blobs = (own(stream.voxel_bytes(&scratch)), own(stream.instance_bytes(&scratch)));
        let mut faults = Vec::new();
        stream.faults(&row, &scratch, &mut faults);
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
        assert!(second.plan.changes_nothing(), "{:?}", repair::words(&second.plan));
        assert!(fs::read(&copy).unwrap() == fs::read(&again).unwrap());
    }
    Done { plan: outcome.plan, report, copy }
}

fn mend(dir: &Path) -> Done {
    mend_as(dir, "copy", &repair::Options::default())
}

fn likely(dir: &Path) -> Done {
    mend_as(dir, "likely", &repair::Options::default().likely(true))
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
    let files = dirs.iter().flat_map(|dir| common::files_below(dir));
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

/// A blob of noise: a container that no reader takes.
const NOISE: &str = "x'02ff00000011223344556677889900aabbccddeeff'";

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
