//! Conversions from and to SQLite streams.

use voxscope::demo::stream::{StreamSpec, key, write_stream};
use voxscope::export::voxels as export;
use voxscope::godot::stream::loc::{Format, Place};

use super::*;

use crate::common::samples;

fn to_stream(from: &Path, target: &Target, to: &Path) -> Result<Report, Error> {
    let save = open(from);
    convert::to_stream(&World::only(&save).unwrap(), target, to, &Watch::default())
}

#[test]
fn a_forest_comes_back_from_a_stream_as_it_was() {
    let dir = tempdir().unwrap();
    let mut saves = vec![even(dir.path())];
    saves.extend(["godot_voxel/forest_metadata", "godot_voxel/forest_depths"].map(common::golden));
    for (i, from) in saves.iter().enumerate() {
        for format in Format::ALL {
            let stream = dir.path().join(format!("{i}-{}.sqlite", format.code()));
            let target = Target { keys: Some(format), ..Target::default() };
            let report = to_stream(from, &target, &stream).unwrap();
            assert_eq!((report.copied, report.written, report.listed.len()), (report.read, report.read, 0));
            assert!(dir.path().join(format!("{i}-{}.sqlite.convert.json", format.code())).is_file());
            assert_eq!(open(&stream).streams.len(), 1);
            let save = open(&stream);
            let options = check::Options::default();
            let summary = check::run(&save, &options, |finding| println!("{finding}"));
            assert_eq!((summary.counts.errors, summary.counts.warnings), (0, 0));
            assert_same(from, &stream);
            if format == Format::Int19 {
                let back = dir.path().join(format!("{i}-back"));
                let report = to_forest(&stream, &Target::default(), &back).unwrap();
                assert_eq!(report.listed, []);
                assert_healthy(&back);
                assert_same(from, &back);
            }
        }
    }
}

#[test]
fn the_schema_is_that_of_the_engine() {
    let golden = common::golden("godot_voxel_sqlite");
    let dir = tempdir().unwrap();
    for format in Format::ALL {
        let name = format!("stream_coord{}.sqlite", format.code());
        let (from, to) = (golden.join(&name), dir.path().join(&name));
        to_stream(&from, &Target::default(), &to).unwrap();
        assert_same(&from, &to);
        let tables = |path: &Path| {
            let database =
                rusqlite::Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
            let check: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
            assert_eq!(check, "ok");
            let mut rows = database.prepare("SELECT sql FROM sqlite_master WHERE sql NOT NULL").unwrap();
            let rows: Vec<String> = rows.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
            let meta: (i64, i64, i64) = database
                .query_row("SELECT * FROM meta", [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
                .unwrap();
            (rows, meta)
        };
        // As the engine's file, which is copied so that nothing is opened where it lies.
        let copy = dir.path().join("copy.sqlite");
        std::fs::copy(&from, &copy).unwrap();
        assert_eq!(tables(&to), tables(&copy), "{name}");
    }
}

#[test]
fn instances_stay_in_streams_and_are_listed_for_forests() {
    let golden = common::golden("instances");
    let from = golden.join("instances.sqlite");
    let dir = tempdir().unwrap();
    let stream = dir.path().join("a.sqlite");
    let report = to_stream(&from, &Target::default(), &stream).unwrap();
    assert_eq!((report.written, report.count(Kind::Instances)), (14, 0));
    assert_same(&from, &stream);
    let forest = dir.path().join("a");
    let report = to_forest(&from, &Target::default(), &forest).unwrap();
    let listed: Vec<_> = report.listed.iter().map(|l| (l.kind, l.lod, l.block)).collect();
    assert!(listed.contains(&(Kind::Instances, 1, [0, -1, 0])), "{listed:?}");
    // Ten more rows have a place for instances without any.
    assert!(listed.len() < 11, "{listed:?}");
    assert_healthy(&forest);
}

#[test]
fn damaged_instances_and_rows_without_a_place_are_told_of() {
    let dir = tempdir().unwrap();
    samples::write(dir.path());
    let damaged = dir.path().join("damaged/instances-cut/world.sqlite");
    let report = to_stream(&damaged, &Target::default(), &dir.path().join("a.sqlite")).unwrap();
    let listed: Vec<_> = report.listed.iter().map(|l| (l.kind, l.why.as_str())).collect();
    assert_eq!(listed, [(Kind::DamagedInstances, "instances-cut")]);
    assert!(report.leaves_damage());
    for (sample, why) in [("stream-key", "whose key is no place"), ("stream-row-lost", "nothing leads to")] {
        let damaged = dir.path().join("damaged").join(sample).join("world.sqlite");
        let report = to_forest(&damaged, &Target::default(), &dir.path().join(sample)).unwrap();
        let told: Vec<_> = report.faults.iter().filter(|fault| fault.why.contains(why)).collect();
        assert_eq!(told.len(), if sample == "stream-key" { 1 } else { 2 }, "{:?}", report.faults);
    }
    let damaged = dir.path().join("damaged/stream-key-twice/world.sqlite");
    let report = to_forest(&damaged, &Target::default(), &dir.path().join("twice")).unwrap();
    assert!(report.twice == 1 && report.leaves_damage());
}

#[test]
fn blocks_are_joined_in_streams_too() {
    let dir = tempdir().unwrap();
    let world = even(dir.path());
    let (large, back) = (dir.path().join("large.db"), dir.path().join("back.db"));
    let report = to_stream(&world, &Target { block_size: Some(32), ..Target::default() }, &large).unwrap();
    assert_eq!(report.written, 14);
    to_stream(&large, &Target { block_size: Some(16), ..Target::default() }, &back).unwrap();
    for lod in [0, 1] {
        assert!(voxels(&world, lod) == voxels(&back, lod));
    }
}

#[test]
fn positions_that_do_not_fit_the_keys_are_listed_or_written_as_texts() {
    let dir = tempdir().unwrap();
    let world = dir.path().join("world");
    let at = 1 << 18;
    let lods = vec![Extent { from: [at - 1, 0, 0], to: [at + 1, 1, 1] }];
    demo::write_forest(&world, &ForestSpec { lods, ..ForestSpec::default() }, None).unwrap();
    let number = Target { keys: Some(Format::Int19), ..Target::default() };
    let report = to_stream(&world, &number, &dir.path().join("a.db")).unwrap();
    assert_eq!((report.written, report.count(Kind::TooLarge)), (1, 1));
    let report = to_stream(&world, &Target::default(), &dir.path().join("b.db")).unwrap();
    assert_eq!((report.written, report.listed.len()), (2, 0));
    assert_same(&world, &dir.path().join("b.db"));
}

/// LOD and position.
type Position = (u8, [i32; 3]);

/// Places of blocks with voxels and the pages that each is on.
fn pages(path: &Path) -> Vec<(Position, Vec<u32>)> {
    let save = open(path);
    let stream = save.stream(&save.streams[0], &mut Vec::new()).unwrap().unwrap();
    let mut scratch = save::StreamScratch::default();
    let rows = stream.rows.iter().filter(|row| row.voxels != save::Blob::Null);
    rows.map(|row| {
        stream.fetch(&row, &mut scratch).unwrap();
        let place = row.place.unwrap();
        ((place.lod, place.position), [&[row.page], scratch.pages()].concat())
    })
    .collect()
}

/// Whatever is on the page that is lost: every other block is converted, exported and compared.
#[test]
fn a_flipped_page_costs_the_blocks_on_it_and_no_other() {
    let dirs = [common::golden("godot_voxel_sqlite"), common::golden("instances")];
    let streams = dirs.iter().flat_map(|dir| common::files_below(dir));
    for path in streams.filter(|path| path.extension().is_some_and(|e| e == "sqlite")) {
        let whole = std::fs::read(&path).unwrap();
        let before = pages(&path);
        let original = open(&path);
        let original = World::only(&original).unwrap();
        let dir = tempdir().unwrap();
        let mut taken = 0;
        for page in 1..=u32::try_from(whole.len() / 4096).unwrap() {
            let mut data = whole.clone();
            let at = (page as usize - 1) * 4096;
            data[at..at + 4096].iter_mut().for_each(|b| *b = !*b);
            let what = format!("{} page {page}", path.display());
            let (from, to) = (dir.path().join(format!("{page}.sqlite")), dir.path().join(format!("{page}")));
            std::fs::write(&from, data).unwrap();
            let lost =
                |lod, position| before.iter().any(|(place, pages)| *place == (lod, position) && pages.contains(&page));
            let save = open(&from);
            let damaged = World::only(&save).unwrap();
            // Without settings, numbers are all that is left to tell 19 bits from 16.
            let told = damaged.keys() == original.keys();
            assert!(told || original.keys() == Some(Format::Int19), "{what}");
            if !told {
                continue;
            }
            taken += 1;
            let report = match convert::to_forest(&damaged, &Target::default(), &to, &Watch::default()) {
                // Nothing is left to convert.
                Err(Error::Unread(_)) => {
                    assert!(before.iter().all(|((lod, position), _)| lost(*lod, *position)), "{what}");
                    assert!(!to.exists(), "{what}");
                    continue;
                }
                report => report.unwrap_or_else(|e| panic!("{what}: {e}")),
            };
            assert_eq!(report.count(Kind::StaleRow), 0, "{what}");
            let result = open(&to);
            for other in [&damaged, &World::only(&result).unwrap()] {
                let mut changes = Vec::new();
                let summary =
                    diff::run(&original, other, &diff::Options::default(), |change| changes.push(change)).unwrap();
                for change in changes {
                    let allowed = match &change.what {
                        diff::What::Removed | diff::What::Unreadable { side: diff::Side::B, .. } => {
                            lost(change.lod, change.position)
                        }
                        diff::What::Changed(block) => block.channels.is_empty() && block.metadata.is_empty(),
                        _ => false,
                    };
                    assert!(allowed, "{what}: {change:?}");
                }
                assert_eq!(summary.added, 0);
            }
            // Far from each other: not all in one array.
            for ((lod, position), pages) in before.iter().filter(|(_, pages)| !pages.contains(&page)).take(3) {
                let request = export::Request {
                    lod: *lod,
                    which: export::Which::Block(*position),
                    channels: vec![0],
                    fill: 0,
                    distances: false,
                    sync: false,
                    large: false,
                    unpack: false,
                    names: voxscope::picture::palette::Palette::default(),
                };
                let to = dir.path().join("export");
                let done = export::export(&damaged, &request, &to, &Watch::default()).unwrap();
                assert_eq!((done.blocks, done.damaged.len()), (1, 0), "{what}: {pages:?}");
                std::fs::remove_dir_all(&to).unwrap();
            }
        }
        assert!(taken > 0 && taken + 1 >= whole.len() / 4096, "{}: {taken}", path.display());
    }
}

/// A row on a page that was given up, where the list of free pages is lost: nobody can tell that it was not deleted.
#[test]
fn deleted_rows_are_left_out_and_listed_until_they_are_asked_for() {
    for format in [Format::Int19, Format::Text] {
        let dir = tempdir().unwrap();
        let path = dir.path().join("a.sqlite");
        let spec = StreamSpec { page_size: 512, ..StreamSpec::small(format) };
        write_stream(&path, &spec, None).unwrap();
        let database = rusqlite::Connection::open(&path).unwrap();
        let row: (Vec<u8>,) = database
            .query_row("SELECT vb FROM blocks WHERE length(vb) < 400 LIMIT 1", [], |row| Ok((row.get(0)?,)))
            .unwrap();
        database.execute_batch("PRAGMA secure_delete = OFF; BEGIN").unwrap();
        for n in 0..40 {
            let place = Place { lod: 0, position: [100 + n, 0, 0] };
            let insert = "INSERT INTO blocks VALUES (?, ?, NULL)";
            database.execute(insert, rusqlite::params![key(format, place), row.0]).unwrap();
        }
        database.execute_batch("COMMIT").unwrap();
        let kept = World::only(&open(&path)).unwrap().index(0).blocks.len() - 40;
        for n in 0..40 {
            let place = Place { lod: 0, position: [100 + n, 0, 0] };
            database.execute("DELETE FROM blocks WHERE loc = ?", [key(format, place)]).unwrap();
        }
        drop(database);
        let stale = |path: &Path, stale_rows| {
            let save = Save::open(path, &save::Options::default().stale_rows(stale_rows)).unwrap();
            let world = World::only(&save).unwrap();
            let index = world.index(0);
            (index.blocks.len(), index.stale.len())
        };
        assert_eq!(stale(&path, false), (kept, 0), "the list has them");
        // The list of free pages is gone: their rows are found again.
        let mut data = std::fs::read(&path).unwrap();
        data[32..40].fill(0);
        std::fs::write(&path, data).unwrap();
        let (blocks, left) = stale(&path, false);
        assert_eq!(blocks, kept);
        assert!(left > 0, "{format:?}");
        // Several pages may still have the same row.
        let (all, none) = stale(&path, true);
        assert!(all > kept && all <= kept + left && none == 0, "{format:?}: {all}");
        let to = dir.path().join("forest");
        let report = to_forest(&path, &Target::default(), &to).unwrap();
        assert_eq!((report.written as usize, report.count(Kind::StaleRow) as usize), (report.read as usize, left));
        assert!(report.faults.iter().any(|fault| fault.why.contains("may have been deleted")));
        let output = Command::new(env!("CARGO_BIN_EXE_voxscope"))
            .args(["convert", "--stale-rows", "--out"])
            .args([&dir.path().join("all"), &path])
            .output()
            .unwrap();
        // Files were not read whole, and of what stands twice one is left out.
        assert!(output.status.code().is_some_and(|code| code & !0b1100 == 0), "{output:?}");
        assert_eq!(World::only(&open(&dir.path().join("all"))).unwrap().index(0).blocks.len(), all);
    }
}
