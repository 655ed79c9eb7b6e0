//! Streams whose rows have each other's keys: the seams between blocks show it, and healthy streams of all kinds stay as they are.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, params};
use voxscope::check;
use voxscope::damage::Code;
use voxscope::demo::stream::{StreamSpec, write_stream};
use voxscope::demo::{Extent, ForestSpec, Terrain};
use voxscope::godot::stream::loc::Format;
use voxscope::repair::{self, Action};
use voxscope::save::{Options, Save};

use crate::common;

type Rows = BTreeMap<i64, Vec<u8>>;

fn rows_of(path: &Path) -> Rows {
    let db = Connection::open(path).unwrap();
    let mut read = db.prepare("SELECT loc, vb FROM blocks").unwrap();
    let rows = read.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

fn write_rows(path: &Path, rows: &Rows) {
    let db = Connection::open(path).unwrap();
    for (key, value) in rows {
        db.execute("UPDATE blocks SET vb = ?2 WHERE loc = ?1", params![key, value]).unwrap();
    }
}

/// A stream of hills.
fn make_hills(path: &Path, seed: u64) {
    let blocks = ForestSpec {
        terrain: Terrain::new(seed),
        lods: vec![Extent { from: [-4, -2, -4], to: [4, 2, 4] }, Extent { from: [-2, -1, -2], to: [2, 1, 2] }],
        ..ForestSpec::default()
    };
    write_stream(path, &StreamSpec { blocks, ..StreamSpec::default() }, None).unwrap();
}

/// Findings about keys at the level of seams.
fn misplaced(path: &Path) -> usize {
    let save = Save::open(path, &Options::default()).unwrap();
    let options = check::Options::default().level(check::Level::Semantic);
    let mut found = 0;
    check::run(&save, &options, |finding| found += usize::from(finding.code() == Code::StreamMisplaced));
    found
}

/// What became of rows that got the values of others.
struct Outcome {
    healthy: Rows,
    damaged: Rows,
    copy: Rows,
    found: usize,
}

impl Outcome {
    /// Gives the rows of some numbers, in the order of their keys, the values that `give` makes of theirs.
    fn new(give: impl FnOnce(&[(i64, Vec<u8>)]) -> Vec<(i64, Vec<u8>)>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let [path, to] = ["world.sqlite", "copy.sqlite"].map(|name| dir.path().join(name));
        make_hills(&path, 5);
        let healthy = rows_of(&path);
        assert_eq!(misplaced(&path), 0);
        let all: Vec<(i64, Vec<u8>)> = healthy.clone().into_iter().collect();
        write_rows(&path, &give(&all).into_iter().collect());
        let damaged = rows_of(&path);
        let found = misplaced(&path);
        let save = Save::open(&path, &Options::default()).unwrap();
        let done = repair::run(&save, &to, &repair::Options::default()).unwrap();
        let copy = if done.plan.changes_nothing() { damaged.clone() } else { rows_of(&to) };
        Self { healthy, damaged, copy, found }
    }

    /// How many rows had other values, and how many have their own again.
    fn back(&self) -> (usize, usize) {
        let wrong = self.healthy.iter().filter(|(key, value)| self.damaged.get(key) != Some(value));
        wrong.fold((0, 0), |(n, back), (key, value)| (n + 1, back + usize::from(self.copy.get(key) == Some(value))))
    }

    /// Rows that had their own values and have them no more.
    fn spoiled(&self) -> usize {
        let right = self.healthy.iter().filter(|(key, value)| self.damaged.get(key) == Some(value));
        right.filter(|(key, value)| self.copy.get(key) != Some(value)).count()
    }
}

/// The rows with the most voxels of several kinds: those at the surface.
fn telling(rows: &[(i64, Vec<u8>)], seed: usize, count: usize) -> Vec<(i64, Vec<u8>)> {
    let mut rows = rows.to_vec();
    rows.sort_by_key(|(key, value)| (std::cmp::Reverse(value.len()), *key));
    rows.truncate(64);
    (0..count).map(|k| rows[(seed + k * 23) % rows.len()].clone()).collect()
}

/// The same rows, each with the value of the next one.
fn rotated(rows: &[(i64, Vec<u8>)]) -> Vec<(i64, Vec<u8>)> {
    (0..rows.len()).map(|k| (rows[k].0, rows[(k + 1) % rows.len()].1.clone())).collect()
}

#[test]
fn two_rows_that_were_exchanged_are_put_right() {
    for seed in [0, 7, 19] {
        let made = Outcome::new(|rows| rotated(&telling(rows, seed, 2)));
        assert_eq!((made.back(), made.spoiled(), made.found), ((2, 2), 0, 2), "seed {seed}");
    }
}

#[test]
fn a_ring_of_five_rows_is_put_right() {
    let made = Outcome::new(|rows| rotated(&telling(rows, 3, 5)));
    assert_eq!((made.back(), made.spoiled(), made.found), ((5, 5), 0, 5));
}

#[test]
fn values_that_moved_on_by_one_key_are_put_right() {
    for (from, to) in [(60, 120), (0, 256), (100, 180)] {
        let made = Outcome::new(|rows| rotated(&rows[from..to]));
        let (wrong, back) = made.back();
        assert!(wrong > 20 && back == wrong, "{back} of {wrong} are back in {from}..{to}");
        assert_eq!(made.spoiled(), 0);
        assert_eq!(made.found, wrong);
    }
}

#[test]
fn the_row_of_another_lod_is_put_right() {
    let made = Outcome::new(|rows| {
        let (fine, coarse): (Vec<_>, Vec<_>) = rows.iter().cloned().partition(|(key, _)| key >> 48 == 0);
        rotated(&[telling(&fine, 2, 1), telling(&coarse, 0, 1)].concat())
    });
    assert_eq!((made.back(), made.spoiled(), made.found), ((2, 2), 0, 2));
}

#[test]
fn the_plan_and_the_report_name_the_rows() {
    let dir = tempfile::tempdir().unwrap();
    let [path, to] = ["world.sqlite", "copy.sqlite"].map(|name| dir.path().join(name));
    make_hills(&path, 5);
    let all: Vec<(i64, Vec<u8>)> = rows_of(&path).into_iter().collect();
    write_rows(&path, &rotated(&telling(&all, 0, 2)).into_iter().collect());
    let save = Save::open(&path, &Options::default()).unwrap();
    let plan = repair::plan(&save, &repair::Options::default()).unwrap();
    let stream = &plan.streams[0];
    assert_eq!((stream.action, stream.why), (Action::Rebuild, "rows of it have the keys of other blocks"));
    assert_eq!(stream.rows.iter().filter(|row| row.why.is_some()).count(), 2);
    assert!(!stream.leaves_damage() && stream.written() == all.len());
    repair::run(&save, &to, &repair::Options::default()).unwrap();
    assert_eq!(misplaced(&to), 0);
    let again = Save::open(&to, &Options::default()).unwrap();
    assert!(repair::plan(&again, &repair::Options::default()).unwrap().changes_nothing());
}

#[test]
fn real_streams_and_worlds_whose_blocks_show_little_stay_as_they_are() {
    for format in 0..4 {
        let path = common::golden("godot_voxel_sqlite").join(format!("stream_coord{format}.sqlite"));
        assert_eq!(misplaced(&path), 0, "{}", path.display());
    }
    let dir = tempfile::tempdir().unwrap();
    let lods = vec![Extent { from: [-4, -2, -4], to: [4, 2, 4] }];
    let kinds = [
        ("flat", Terrain { relief: 0.0, grain: 0.0, ..Terrain::new(1) }),
        ("steep", Terrain { relief: 60.0, ..Terrain::new(2) }),
        ("noise", Terrain { grain: 50.0, ..Terrain::new(3) }),
        ("hills", Terrain::new(4)),
    ];
    for (name, terrain) in kinds {
        let path = dir.path().join(format!("{name}.sqlite"));
        let blocks = ForestSpec { terrain, lods: lods.clone(), ..ForestSpec::default() };
        write_stream(&path, &StreamSpec { blocks, ..StreamSpec::default() }, None).unwrap();
        assert_eq!(misplaced(&path), 0, "{name}");
    }
    for format in [Format::Int16, Format::Int19, Format::Text, Format::Blob] {
        let path = dir.path().join(format!("{format:?}.sqlite"));
        write_stream(&path, &StreamSpec::small(format), None).unwrap();
        assert_eq!(misplaced(&path), 0, "{format:?}");
    }
}
