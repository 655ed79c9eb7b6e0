//! Forms that programs wrote against the documents: golden saves rewritten into them, converted and repaired.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::tempdir;
use voxscope::check;
use voxscope::convert::{self, Target};
use voxscope::damage::{Code, Level};
use voxscope::diff;
use voxscope::repair;
use voxscope::save::{Options, Save};
use voxscope::watch::Watch;
use voxscope::world::World;

use crate::common::{self, copy_dir, samples};

pub fn open(path: &Path) -> Save {
    Save::open(path, &Options::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// The codes above note of a check at the deepest level, without repetitions.
pub fn trouble(path: &Path) -> Vec<Code> {
    let mut codes = Vec::new();
    let options = check::Options::default().level(check::Level::Semantic);
    check::run(&open(path), &options, |f| codes.extend((f.level() > Level::Note).then_some(f.code())));
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// Asserts that two saves have the same blocks; returns how many.
pub fn assert_same(a: &Path, b: &Path) -> u64 {
    let (a, b) = (open(a), open(b));
    let (a, b) = (World::only(&a).unwrap(), World::only(&b).unwrap());
    let mut changes = Vec::new();
    let summary = diff::run(&a, &b, &diff::Options::default(), |change| changes.push(change)).unwrap();
    assert_eq!(changes, []);
    assert!(summary.same > 0);
    summary.same
}

pub fn convert(from: &Path, to: &Path) {
    let save = open(from);
    let report = convert::to_forest(&World::only(&save).unwrap(), &Target::default(), to, &Watch::default()).unwrap();
    assert_eq!((report.read, report.listed.len(), report.faults.len()), (report.written, 0, 0));
}

/// Repairs a save and returns where the copy is; nothing may be lost.
pub fn repaired(from: &Path, to: PathBuf) -> PathBuf {
    let outcome = repair::run(&open(from), &to, &repair::Options::default()).unwrap();
    assert!(!outcome.plan.leaves_damage() && !outcome.plan.changes_nothing(), "{}", from.display());
    to
}

/// Asserts that another form of a save is read as it is, and that what is written of it is what the engine reads; returns its number of
/// blocks.
pub fn assert_read_and_written(original: &Path, rewritten: &Path, results: &Path) -> u64 {
    let all = assert_same(original, rewritten);
    let name = rewritten.file_name().unwrap();
    let (converted, copies) = (results.join("converted"), results.join("repaired"));
    [&converted, &copies].iter().for_each(|dir| fs::create_dir_all(dir).unwrap());
    let converted = converted.join(name).with_extension("");
    convert(rewritten, &converted);
    for result in [converted, repaired(rewritten, copies.join(name))] {
        assert_eq!(assert_same(original, &result), all, "{}", result.display());
        assert_eq!(trouble(&result), [], "{}", result.display());
    }
    all
}

/// All golden saves that are healthy.
pub fn healthy_saves() -> Vec<PathBuf> {
    let mut saves = Vec::new();
    for name in ["godot_voxel", "godot_voxel_old", "godot_voxel_sqlite", "instances"] {
        let dir = common::golden(name);
        saves.extend(common::directories(&dir));
        saves.extend(common::files_below(&dir).into_iter().filter(|file| file.extension() == Some("sqlite".as_ref())));
    }
    assert!(saves.len() >= 20);
    saves
}

/// Gives every container of mode 2 in a forest the mode byte 1: exactly what release 1.6 could write.
fn with_wrong_order(from: &Path, to: &Path) -> u64 {
    copy_dir(from, to);
    let save = open(to);
    let mut changed = 0;
    for (forest, file) in save.regions() {
        let region = save.region(forest, file).unwrap().unwrap();
        let path = forest.dir.join(&file.name);
        let mut bytes = fs::read(&path).unwrap();
        for listed in &region.entries {
            let mode = &mut bytes[region.span(listed.entry).start as usize + 4];
            assert_eq!(*mode, 2);
            *mode = 1;
            changed += 1;
        }
        fs::write(path, bytes).unwrap();
    }
    changed
}

#[test]
fn little_endian_sizes_under_mode_1_are_read_converted_and_repaired() {
    let dir = tempdir().unwrap();
    for name in ["forest_lz4", "forest_metadata", "forest_depths", "forest_block32"] {
        let original = common::golden("godot_voxel").join(name);
        let rewritten = dir.path().join(name);
        let blocks = with_wrong_order(&original, &rewritten);
        let mut found = 0;
        check::run(&open(&rewritten), &check::Options::default(), |finding| {
            assert_eq!(finding.code(), Code::ContainerByteOrder, "{finding}");
            found += 1;
        });
        assert_eq!(found, blocks, "{name}");
        assert_eq!(trouble(&rewritten), [Code::ContainerByteOrder], "{name}: the deepest check adds nothing");
        assert_eq!(assert_read_and_written(&original, &rewritten, &dir.path().join("results")), blocks);
    }
}

#[cfg(feature = "sqlite")]
#[test]
fn little_endian_sizes_in_streams_are_repaired_with_their_instances() {
    use voxscope::save::StreamScratch;
    let dir = tempdir().unwrap();
    let golden = common::golden("godot_voxel_sqlite");
    let streams = ["stream_coord0.sqlite", "stream_coord3.sqlite"].map(|name| golden.join(name));
    for (number, original) in
        streams.into_iter().chain([common::golden("instances").join("instances.sqlite")]).enumerate()
    {
        let rewritten = dir.path().join(format!("{number}.sqlite"));
        fs::copy(&original, &rewritten).unwrap();
        let database = rusqlite::Connection::open(&rewritten).unwrap();
        for column in ["vb", "instances"] {
            let sql = format!(
                "UPDATE blocks SET {column} = CAST(x'01' || substr({column}, 2) AS BLOB) WHERE substr({column}, 1, 1) = x'02'"
            );
            database.execute(&sql, []).unwrap();
        }
        database.close().unwrap();
        assert_eq!(trouble(&rewritten), [Code::ContainerByteOrder]);
        let copied = repaired(&rewritten, dir.path().join(format!("{number}-repaired.sqlite")));
        assert_eq!(trouble(&copied), []);
        assert_same(&original, &copied);
        // Instances too, byte for byte.
        let instances = |path: &Path| {
            let save = open(path);
            let stream = save.stream(&save.streams[0], &mut Vec::new()).unwrap().unwrap();
            let mut scratch = StreamScratch::default();
            let read = |row| {
                stream.fetch(&row, &mut scratch).unwrap();
                stream.instance_bytes(&scratch).map(<[u8]>::to_vec)
            };
            stream.rows.iter().map(read).collect::<Vec<_>>()
        };
        assert_eq!(instances(&original), instances(&copied));
    }
}

#[test]
fn no_golden_save_is_mistaken_for_a_form_of_other_writers() {
    for save in healthy_saves() {
        let codes = trouble(&save);
        assert!(codes.is_empty(), "{}: {codes:?}", save.display());
    }
    // Damaged ones have findings, but none of these.
    let others = [
        Code::BlockByteOrder,
        Code::BlockFilesRemoved,
        Code::ContainerByteOrder,
        Code::LayoutPort,
        Code::MetadataPort,
        Code::RegionVoxedit,
        Code::StreamKeyRule,
    ];
    let mut damaged = 0;
    for name in
        ["crash_noise", "crash_random", "crash_sizes", "crash_terrain", "disk_full", "power_loss", "two_writers"]
    {
        for save in common::directories(&common::golden(name)) {
            let mut codes = Vec::new();
            let save = [save.join("world"), save].into_iter().find(|path| path.is_dir()).unwrap();
            check::run(&open(&save), &check::Options::default(), |finding| codes.push(finding.code()));
            codes.retain(|code| others.contains(code));
            assert!(codes.is_empty(), "{}: {codes:?}", save.display());
            damaged += 1;
        }
    }
    assert!(damaged >= 8, "{damaged}");
}

#[cfg(feature = "sqlite")]
mod keys_of_2021 {
    use std::collections::BTreeMap;

    use voxscope::demo::stream::key;
    use voxscope::godot::stream::loc::{Format, KeyRule, Place};
    use voxscope::save::{Blob, StreamScratch};

    use super::*;

    /// The stored bytes of every row by place: voxels and instances.
    fn rows(path: &Path, options: &Options) -> BTreeMap<Place, [Option<Vec<u8>>; 2]> {
        let save = Save::open(path, options).unwrap();
        let stream = save.stream(&save.streams[0], &mut Vec::new()).unwrap().unwrap();
        let mut scratch = StreamScratch::default();
        let mut all: BTreeMap<Place, [Option<Vec<u8>>; 2]> = BTreeMap::new();
        for row in &stream.rows {
            stream.fetch(&row, &mut scratch).unwrap();
            let bytes = [stream.voxel_bytes(&scratch), stream.instance_bytes(&scratch)].map(|b| b.map(<[u8]>::to_vec));
            assert!(all.insert(row.place.unwrap(), bytes).is_none());
        }
        all
    }

    /// Rewrites the keys of a stream as the engine of 2021 would; returns how many are above LOD 0.
    fn with_old_keys(from: &Path, to: &Path) -> usize {
        let save = open(from);
        let stream = save.stream(&save.streams[0], &mut Vec::new()).unwrap().unwrap();
        let format = stream.format.unwrap();
        let rows = rows(from, &Options::default());
        fs::copy(from, to).unwrap();
        let database = rusqlite::Connection::open(to).unwrap();
        database.execute("DELETE FROM blocks", []).unwrap();
        for (place, [voxels, instances]) in &rows {
            let position = place.position.map(|v| v << place.lod);
            let key = key(format, Place { position, ..*place }).unwrap();
            database.execute("INSERT INTO blocks VALUES (?, ?, ?)", rusqlite::params![key, voxels, instances]).unwrap();
        }
        database.close().unwrap();
        rows.keys().filter(|place| place.lod > 0).count()
    }

    /// Streams with several LODs, and whether their blocks of LOD 0 show the rule: in the golden ones, blocks above LOD 0
    /// have none below them.
    fn streams(dir: &Path) -> Vec<(PathBuf, bool)> {
        let mut all = Vec::new();
        for format in Format::ALL {
            let path = dir.join(format!("{}.sqlite", format.code()));
            let spec = voxscope::demo::stream::StreamSpec::small(format);
            voxscope::demo::stream::write_stream(&path, &spec, None).unwrap();
            all.push((path, true));
            let golden = format!("stream_coord{}.sqlite", format.code());
            all.push((common::golden("godot_voxel_sqlite").join(golden), false));
        }
        all
    }

    #[test]
    fn streams_are_read_converted_and_repaired() {
        let dir = tempdir().unwrap();
        let new = Options::default().key_rule(KeyRule::New);
        for (number, (original, is_shown)) in streams(dir.path()).into_iter().enumerate() {
            let what = original.display();
            let at = |name: &str| dir.path().join(format!("{number}-{name}"));
            let rewritten = at("old.sqlite");
            assert!(with_old_keys(&original, &rewritten) > 0, "{what}");
            assert_eq!(trouble(&original), [], "{what}");
            let expected = if is_shown { vec![Code::StreamKeyRule] } else { Vec::new() };
            assert_eq!(trouble(&rewritten), expected, "{what}");
            let old = Options::default().key_rule((!is_shown).then_some(KeyRule::Old));
            let truth = rows(&original, &Options::default());
            assert_eq!(rows(&rewritten, &old), truth, "{what}");
            let save = Save::open(&rewritten, &old).unwrap();
            let world = World::only(&save).unwrap();
            let (converted, copied) = (at("converted"), at("repaired.sqlite"));
            convert::to_stream(&world, &Target::default(), &converted, &Watch::default()).unwrap();
            let outcome = repair::run(&save, &copied, &repair::Options::default()).unwrap();
            assert!(!outcome.plan.leaves_damage() && !outcome.plan.changes_nothing(), "{what}");
            assert_eq!(outcome.check.counts.errors, 0, "{what}: the copy is checked by the new rule");
            for result in [&converted, &copied] {
                assert_eq!(trouble(result), [], "{what}");
                assert_eq!(rows(result, &new), truth, "{what}");
            }
            // What is given is not inferred.
            let positions = |rows: &BTreeMap<Place, [Option<Vec<u8>>; 2]>| rows.keys().copied().collect::<Vec<_>>();
            if positions(&truth).iter().any(|place| place.lod > 0 && place.position != [0; 3]) {
                assert_ne!(positions(&rows(&rewritten, &new)), positions(&truth), "{what}");
            }
        }
    }

    #[test]
    fn instances_above_lod_0_keep_the_position_of_their_key() {
        let dir = tempdir().unwrap();
        let path = dir.path().join("world.sqlite");
        let spec = voxscope::demo::stream::StreamSpec::small(Format::Int16);
        let spec = voxscope::demo::stream::StreamSpec { instances: false, ..spec };
        let plain = dir.path().join("plain.sqlite");
        voxscope::demo::stream::write_stream(&plain, &spec, None).unwrap();
        with_old_keys(&plain, &path);
        // Voxels of block (-1, 0, 0) have the key (-2, 0, 0). Instances of block (-2, 0, 0) have the same key, those of
        // block (-1, 0, 0) a row of their own.
        let place = |x: i32| Place { lod: 1, position: [x, 0, 0] };
        let database = rusqlite::Connection::open(&path).unwrap();
        let bytes = |x: i32| {
            let mut packed = Vec::new();
            let plain = voxscope::demo::stream::instances(place(x), 8);
            voxscope::godot::container::encode(voxscope::godot::container::Mode::Lz4, &plain, &mut packed);
            packed
        };
        let key = |x: i32| key(Format::Int16, place(x)).unwrap();
        let n = database
            .execute("UPDATE blocks SET instances = ? WHERE loc = ?", rusqlite::params![bytes(-2), key(-2)])
            .unwrap();
        assert_eq!(n, 1);
        database.execute("INSERT INTO blocks VALUES (?, NULL, ?)", rusqlite::params![key(-1), bytes(-1)]).unwrap();
        database.close().unwrap();
        let save = open(&path);
        let stream = save.stream(&save.streams[0], &mut Vec::new()).unwrap().unwrap();
        let at = |x: i32| stream.rows.iter().filter(|row| row.place == Some(place(x))).collect::<Vec<_>>();
        assert_eq!(at(-1).len(), 2, "voxels by the old rule, instances by their key");
        assert!(at(-1).iter().any(|row| row.voxels == Blob::Null));
        let copied = repaired(&path, dir.path().join("repaired.sqlite"));
        assert_eq!(trouble(&copied), []);
        let mut truth = rows(&plain, &Options::default());
        truth.get_mut(&place(-1)).unwrap()[1] = Some(bytes(-1));
        truth.insert(place(-2), [None, Some(bytes(-2))]);
        let new = Options::default().key_rule(KeyRule::New);
        assert_eq!(rows(&copied, &new), truth);
        let converted = dir.path().join("converted.sqlite");
        let world = World::only(&save).unwrap();
        convert::to_stream(&world, &Target::default(), &converted, &Watch::default()).unwrap();
        assert_eq!(rows(&converted, &new), truth);
        // Instances are compared where they belong, whichever row has them.
        let summary = |other: &Path| {
            let (other, mut changes) = (open(other), 0);
            let other = World::only(&other).unwrap();
            let options = diff::Options::default();
            diff::run(&world, &other, &options, |_| changes += 1).unwrap();
            changes
        };
        assert_eq!((summary(&converted), summary(&copied)), (0, 0));
        assert_eq!(summary(&plain), 2, "the copy without them");
    }

    #[test]
    fn a_copy_is_read_by_the_rule_that_it_was_written_by() {
        let dir = tempdir().unwrap();
        let path = dir.path().join("world.sqlite");
        let spec = voxscope::demo::stream::StreamSpec::small(Format::Int16);
        let plain = dir.path().join("plain.sqlite");
        voxscope::demo::stream::write_stream(&plain, &spec, None).unwrap();
        with_old_keys(&plain, &path);
        // A damaged row with a key that the old rule does not have makes all keys ones of the new rule.
        let database = rusqlite::Connection::open(&path).unwrap();
        let odd = key(Format::Int16, Place { lod: 1, position: [1, 0, 0] }).unwrap();
        database.execute("INSERT INTO blocks VALUES (?, x'0011', NULL)", [odd]).unwrap();
        database.close().unwrap();
        let save = open(&path);
        assert_eq!(save.stream(&save.streams[0], &mut Vec::new()).unwrap().unwrap().rule, KeyRule::New);
        let copied = dir.path().join("repaired.sqlite");
        repair::run(&save, &copied, &repair::Options::default()).unwrap();
        let converted = dir.path().join("converted.sqlite");
        let world = World::only(&save).unwrap();
        convert::to_stream(&world, &Target::default(), &converted, &Watch::default()).unwrap();
        for made in [copied, converted] {
            assert_eq!(trouble(&made), []);
            let save = open(&made);
            assert_eq!(save.stream(&save.streams[0], &mut Vec::new()).unwrap().unwrap().rule, KeyRule::New);
            let new = Options::default().key_rule(KeyRule::New);
            assert_eq!(rows(&made, &Options::default()), rows(&made, &new));
            let again = repair::run(&save, &made.with_extension("again"), &repair::Options::default()).unwrap();
            assert!(again.plan.changes_nothing(), "{}", made.display());
        }
    }
}

#[test]
fn forests_of_the_rust_port_are_read_and_written() {
    use voxscope::convert::VoxelChange;
    use voxscope::godot::channel::{Depth, SDF};
    use voxscope::save::ForestLayout;
    let dir = tempdir().unwrap();
    let original = common::golden("godot_voxel").join("forest_metadata");
    // Beside the meta file, and in older versions of the port at the root.
    let below = dir.path().join("port");
    for file in common::files_below(&original) {
        let path = file.strip_prefix(&original).unwrap();
        let path = below.join(path.strip_prefix("regions").unwrap_or(path));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(&file, path).unwrap();
    }
    let flat = dir.path().join("flat");
    fs::create_dir(&flat).unwrap();
    let lod0 = |file: &&PathBuf| !file.to_string_lossy().contains("lod1");
    let files: Vec<PathBuf> = common::files_below(&original);
    let files: Vec<&PathBuf> = files.iter().filter(lod0).collect();
    for file in &files {
        fs::copy(file, flat.join(file.file_name().unwrap())).unwrap();
    }
    for save in [&below, &flat] {
        let opened = open(save);
        assert_eq!((opened.forests.len(), opened.forests[0].layout), (1, ForestLayout::Port));
        assert_eq!(trouble(save), []);
    }
    assert_eq!(open(&flat).regions().count(), files.len() - 1);
    let blocks = assert_same(&original, &below);
    let engine = dir.path().join("engine");
    convert(&below, &engine);
    assert!(engine.join("regions/lod0").is_dir());
    assert_eq!(open(&engine).forests[0].layout, ForestLayout::Engine);
    assert_eq!(assert_same(&original, &engine), blocks);
    let port = dir.path().join("again");
    let target = Target { layout: ForestLayout::Port, ..Target::default() };
    let save = open(&original);
    convert::to_forest(&World::only(&save).unwrap(), &target, &port, &Watch::default()).unwrap();
    assert!(port.join("lod0").is_dir() && !port.join("regions").exists());
    // The port has no other depth of SDF; the distances are the same.
    let sdf = |path: &Path| World::only(&open(path)).unwrap().depths().unwrap()[SDF];
    assert_eq!([sdf(&original), sdf(&port)], [Depth::Bits16, Depth::Bits32]);
    let back = dir.path().join("back");
    let mut change = VoxelChange::default();
    change.depths[SDF] = Some(Depth::Bits16);
    let save = open(&port);
    let world = World::only(&save).unwrap();
    convert::to_forest(&world, &Target { change, ..Target::default() }, &back, &Watch::default()).unwrap();
    assert_eq!(assert_same(&original, &back), blocks);
    // What is given otherwise is refused.
    let refused = Target { change, layout: ForestLayout::Port, ..Target::default() };
    let error = convert::to_forest(&world, &refused, &dir.path().join("no"), &Watch::default()).unwrap_err();
    assert!(error.to_string().contains("SDF=32"), "{error}");
}

#[test]
fn a_lod_of_the_rust_port_beside_that_of_the_engine_is_a_note() {
    let dir = tempdir().unwrap();
    let original = common::golden("godot_voxel").join("forest_lz4");
    copy_dir(&original, dir.path());
    copy_dir(original.join("regions/lod0"), dir.path().join("lod0"));
    let save = open(dir.path());
    assert_eq!(save.regions().count(), open(&original).regions().count(), "only those of the engine are read");
    let faults: Vec<_> = save.faults.iter().map(|fault| (fault.damage.code, fault.path.clone())).collect();
    assert_eq!(faults, [(Code::NameForeign, dir.path().join("lod0"))]);
    assert!(save.faults[0].damage.to_string().contains("beside `regions`"));
    assert_eq!(trouble(dir.path()), []);
}

#[test]
fn metadata_of_the_rust_port_is_kept_by_every_conversion() {
    use voxscope::convert::Kind;
    use voxscope::save::ForestLayout;
    let dir = tempdir().unwrap();
    samples::write_some(dir.path(), &["healthy/port-layout"]);
    let sample = dir.path().join("healthy/port-layout");
    assert_eq!(trouble(&sample), []);
    let items = |path: &Path| {
        let save = open(path);
        let world = World::only(&save).unwrap();
        let mut buffer = voxscope::world::Buffer::default();
        let mut items = Vec::new();
        for at in &world.index(0).blocks {
            let view = world.read(at, &mut buffer).unwrap();
            let Some(metadata) = view.block.and_then(|block| block.metadata) else { continue };
            let of_port = metadata.block.iter().chain(metadata.voxels.iter().map(|voxel| &voxel.item));
            items.extend(
                of_port.filter(|item| item.is_of_port()).map(|item| item.to_json(metadata.dialect).to_string()),
            );
        }
        items.sort();
        items
    };
    let expected = [
        r#"{"kind":"bytes","value":"cafe"}"#,
        r#"{"kind":"f64","value":0.25}"#,
        r#"{"kind":"text","value":"a chest…"}"#,
    ];
    assert_eq!(items(&sample), expected);
    for (layout, block_size, listed) in
        [(ForestLayout::Port, None, 0), (ForestLayout::Engine, None, 1), (ForestLayout::Engine, Some(8), 1)]
    {
        let made = dir.path().join(format!("{layout:?}{block_size:?}"));
        let save = open(&sample);
        let target = Target { layout, block_size, ..Target::default() };
        let report = convert::to_forest(&World::only(&save).unwrap(), &target, &made, &Watch::default()).unwrap();
        assert_eq!(report.count(Kind::PortItems), listed, "{layout:?}");
        assert_eq!(items(&made), expected, "{layout:?} {block_size:?}");
    }
}

#[cfg(feature = "sqlite")]
#[test]
fn streams_have_any_name() {
    let dir = tempdir().unwrap();
    let original = common::golden("godot_voxel_sqlite").join("stream_coord1.sqlite");
    fs::copy(&original, dir.path().join("world.save")).unwrap();
    fs::copy(&original, dir.path().join("ship")).unwrap();
    fs::write(dir.path().join("notes.save"), b"SQLite format 4").unwrap();
    // A database of another program.
    let other = rusqlite::Connection::open(dir.path().join("players.save")).unwrap();
    other.execute_batch("CREATE TABLE players (name TEXT); CREATE TABLE meta (version INTEGER)").unwrap();
    other.close().unwrap();
    let save = open(dir.path());
    let names: Vec<String> = save.streams.iter().map(|file| save.shown(&file.path)).collect();
    assert_eq!(names, ["ship", "world.save"]);
    assert_same(&original, &dir.path().join("ship"));
}
