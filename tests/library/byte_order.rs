//! Saves of a big-endian machine: blocks that show no byte order have that of the blocks around them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tempfile::tempdir;
use voxscope::check;
use voxscope::damage::Code;
use voxscope::godot::byte_order::ByteOrder;
use voxscope::godot::channel::{SDF, TYPE};
use voxscope::save::{Save, Scratch};

use crate::common;
use crate::common::big_endian::{self, Quiet, Values, block, quiet, raw, region, region_with_quiet, slope};
use crate::other_writers::{assert_read_and_written, assert_same, convert, healthy_saves, open, repaired, trouble};

/// The messages about byte orders by file, as the usual check lists them.
fn findings(path: &Path) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    check::run(&open(path), &check::Options::default(), |finding| {
        assert_eq!(finding.code(), Code::BlockByteOrder, "{finding}");
        found.entry(finding.file.to_string()).or_default().push(finding.message());
    });
    found
}

/// Whether a block of the only file of a save, by its slot, has these values in a channel.
fn has_values(save: &Save, (slot, channel, values): &Quiet) -> bool {
    let (forest, file) = save.regions().next().unwrap();
    let region = save.region(forest, file).unwrap().unwrap();
    let mut scratch = Scratch::default();
    let view = region.view(region.find(*slot).unwrap().entry, &mut scratch).unwrap();
    let Values::Raw(values) = values else { unreachable!("a raw channel") };
    view.block.unwrap().channels[*channel].values().eq(values.iter().copied())
}

#[test]
fn big_endian_saves_of_the_engine_are_read_converted_and_repaired() {
    let dir = tempdir().unwrap();
    for name in ["forest_lz4", "forest_block32", "forest_metadata"] {
        let original = common::golden("godot_voxel").join(name);
        let rewritten = dir.path().join(name);
        let blocks = big_endian::rewrite_forest(&original, &rewritten);
        assert!(blocks.with_order > 0, "{name}: {blocks:?}");
        let found = findings(&rewritten).into_values().map(|found| found.len() as u64).sum::<u64>();
        assert_eq!(found, blocks.with_order, "{name}: {blocks:?}");
        assert_eq!(trouble(&rewritten), [Code::BlockByteOrder], "{name}: the deepest check adds nothing");
        assert_read_and_written(&original, &rewritten, &dir.path().join("results"));
    }
}

#[cfg(feature = "sqlite")]
#[test]
fn a_big_endian_stream_is_read_converted_and_repaired() {
    use crate::common::big_endian::block_with;
    use voxscope::demo::forest::DEPTHS;
    let dir = tempdir().unwrap();
    let mut quiet = 0;
    for name in ["stream_coord0.sqlite", "stream_coord3.sqlite"] {
        let original = dir.path().join(format!("original-{name}"));
        fs::copy(common::golden("godot_voxel_sqlite").join(name), &original).unwrap();
        // One block that shows no order.
        let database = rusqlite::Connection::open(&original).unwrap();
        let block = block_with(DEPTHS, &[(TYPE, raw(|n| n))], ByteOrder::Little);
        let sql = "UPDATE blocks SET vb = ?1 WHERE rowid = (SELECT min(rowid) FROM blocks WHERE vb IS NOT NULL)";
        assert_eq!(database.execute(sql, [block]).unwrap(), 1);
        database.close().unwrap();
        let rewritten = dir.path().join(name);
        fs::copy(&original, &rewritten).unwrap();
        let mut blocks = big_endian::Rewritten::default();
        let database = rusqlite::Connection::open(&rewritten).unwrap();
        let mut all = database.prepare("SELECT rowid, vb FROM blocks WHERE vb IS NOT NULL").unwrap();
        let rows: Vec<(i64, Vec<u8>)> =
            all.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
        drop(all);
        for (row, bytes) in rows {
            let bytes = blocks.container(&bytes, None);
            database.execute("UPDATE blocks SET vb = ?2 WHERE rowid = ?1", (row, bytes)).unwrap();
        }
        database.close().unwrap();
        let found = findings(&rewritten).into_values().map(|found| found.len() as u64).sum::<u64>();
        assert_eq!(found, blocks.with_order, "{name}: {blocks:?}");
        quiet += blocks.with_order - blocks.shown;
        assert_read_and_written(&original, &rewritten, &dir.path().join("results"));
    }
    assert!(quiet > 0);
}

#[test]
fn blocks_that_show_nothing_have_the_order_of_their_file() {
    let dir = tempdir().unwrap();
    let [little, big] = ["little", "big"].map(|name| dir.path().join(name).join("r.0.0.0.vxr"));
    for (path, order) in [(&little, ByteOrder::Little), (&big, ByteOrder::Big)] {
        fs::create_dir(path.parent().unwrap()).unwrap();
        fs::write(path, region_with_quiet(order)).unwrap();
        let save = open(path);
        for quiet in quiet() {
            assert!(has_values(&save, &quiet), "{order:?}: {}", quiet.0);
        }
    }
    assert_eq!(findings(&little).len(), 0);
    let found: Vec<String> = findings(&big).into_values().flatten().collect();
    assert_eq!(found.len(), 4 + quiet().len());
    let own = "raw values of the block are big-endian (expected little-endian).";
    let inferred = "raw values of the block are big-endian, as other blocks of the save show (expected little-endian).";
    let counted =
        format!("{own} 7 blocks of this file show no byte order and are read as big-endian because of other blocks.");
    let count = |message: &str| found.iter().filter(|found| *found == message).count();
    assert_eq!([own, inferred, &counted].map(count), [3, quiet().len(), 1]);
    // Both are the same world, and what is made of the one is as the other.
    let all = assert_same(&little, &big);
    let converted = dir.path().join("converted");
    convert(&big, &converted);
    let copied = repaired(&big, dir.path().join("repaired.vxr"));
    for result in [&converted, &copied] {
        assert_eq!(assert_same(&little, result), all);
        assert_eq!(trouble(result), []);
    }
}

#[test]
fn the_bytes_of_blocks_alone_do_not_make_them_equal() {
    let dir = tempdir().unwrap();
    let [little, big] = [ByteOrder::Little, ByteOrder::Big].map(|order| {
        let path = dir.path().join(format!("{order:?}")).join("r.0.0.0.vxr");
        fs::create_dir(path.parent().unwrap()).unwrap();
        // The bytes of the second block are the same in both.
        let blocks = [(0, block(&[(SDF, slope())], order)), (1, block(&[(7, raw(|n| n))], ByteOrder::Little))];
        fs::write(&path, region(&blocks)).unwrap();
        path
    });
    let saves = [open(&little), open(&big)];
    let [a, b] = [&saves[0], &saves[1]].map(|save| voxscope::world::World::only(save).unwrap());
    let summary = voxscope::diff::run(&a, &b, &voxscope::diff::Options::default(), |_| {}).unwrap();
    assert_eq!((summary.same, summary.changed), (1, 1));
}

#[test]
fn a_block_of_the_other_order_keeps_its_own() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("r.0.0.0.vxr");
    let types = raw(|n| n % 7 * 3);
    let mut blocks: Vec<_> = (0..16).map(|slot| (slot, block(&[(SDF, slope())], ByteOrder::Big))).collect();
    blocks.push((16, block(&[(SDF, slope())], ByteOrder::Little)));
    blocks.push((17, block(&[(TYPE, types.clone())], ByteOrder::Little)));
    blocks.push((18, block(&[(TYPE, types.clone())], ByteOrder::Big)));
    fs::write(&path, region(&blocks)).unwrap();
    let save = open(&path);
    assert!(has_values(&save, &(0, SDF, slope())) && has_values(&save, &(16, SDF, slope())));
    assert!(has_values(&save, &(17, TYPE, types.clone())) && has_values(&save, &(18, TYPE, types)));
    assert_eq!(findings(&path).into_values().flatten().count(), 17);
}

#[test]
fn a_file_that_shows_nothing_has_the_order_of_the_other_files() {
    let dir = tempdir().unwrap();
    let quiet = (0, block(&[(7, raw(|n| n))], ByteOrder::Big));
    let file = |name: &str, blocks: &[(u32, Vec<u8>)]| fs::write(dir.path().join(name), region(blocks)).unwrap();
    let shown = |order| (1, block(&[(SDF, slope())], order));
    file("r.0.0.0.vxr", &[quiet.clone(), shown(ByteOrder::Big)]);
    file("r.1.0.0.vxr", std::slice::from_ref(&quiet));
    let count = |path: &Path| {
        let found = findings(path).into_iter();
        found.map(|(file, found)| (file, found.len())).collect::<Vec<_>>()
    };
    let expected = [("r.0.0.0.vxr", 2), ("r.1.0.0.vxr", 1)].map(|(name, n)| (name.to_owned(), n));
    assert_eq!(count(dir.path()), expected);
    // Where files disagree, those that show nothing are little-endian.
    file("r.2.0.0.vxr", &[quiet, shown(ByteOrder::Little)]);
    assert_eq!(count(dir.path()), expected[..1]);
}

#[test]
fn a_save_of_types_alone_shows_its_order() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("r.0.0.0.vxr");
    let types = |slot: u64| raw(move |n| (n + slot) % 5);
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let blocks: Vec<_> = (0..8).map(|slot| (slot, block(&[(TYPE, types(slot.into()))], order))).collect();
        fs::write(&path, region(&blocks)).unwrap();
        let save = open(&path);
        for slot in 0..8 {
            assert!(has_values(&save, &(slot, TYPE, types(slot.into()))), "{order:?}");
        }
        let expected = if order == ByteOrder::Big { 8 } else { 0 };
        assert_eq!(findings(&path).into_values().flatten().count(), expected);
    }
    // Large types of a little-endian save, of which blocks of one type show that they are meant.
    let large = |slot: u32| (slot, block(&[(TYPE, raw(|n| (n % 5) << 8))], ByteOrder::Little));
    let mut blocks: Vec<_> = (0..8).map(large).collect();
    blocks.push((8, block(&[(TYPE, Values::Uniform(3 << 8))], ByteOrder::Little)));
    fs::write(&path, region(&blocks)).unwrap();
    assert_eq!(findings(&path).len(), 0);
}

#[test]
fn types_in_the_upper_byte_are_little_endian_if_any_block_of_the_save_shows_it() {
    let dir = tempdir().unwrap();
    let large = |slot: u32| (slot, block(&[(TYPE, raw(|n| (n % 5) << 8))], ByteOrder::Little));
    let file = |name: &str, blocks: &[(u32, Vec<u8>)]| {
        let path = dir.path().join(name).join("r.0.0.0.vxr");
        fs::create_dir(path.parent().unwrap()).unwrap();
        fs::write(&path, region(blocks)).unwrap();
        path.parent().unwrap().to_owned()
    };
    let blocks: Vec<_> = (0..40).map(large).collect();
    // A state in the lower byte of one type of one block, which is not among the first ones.
    let mut with_state = blocks.clone();
    with_state[30].1 = block(&[(TYPE, raw(|n| ((n % 5) << 8) | u64::from(n == 77)))], ByteOrder::Little);
    let state = file("state", &with_state);
    assert_eq!(findings(&state).len(), 0);
    // A block of one type, in another file.
    let types = file("types", &blocks);
    let ground = block(&[(TYPE, Values::Uniform(3 << 8))], ByteOrder::Little);
    fs::write(types.join("r.1.0.0.vxr"), region(&[(0, ground)])).unwrap();
    assert_eq!(findings(&types).len(), 0);
    // Without either, nothing contradicts that these are small types of a big-endian machine.
    fs::remove_file(types.join("r.1.0.0.vxr")).unwrap();
    assert_eq!(findings(&types).into_values().flatten().count(), 40);
}

#[test]
fn every_healthy_save_of_the_engine_is_little_endian() {
    let mut files = 0;
    for path in healthy_saves() {
        let save = open(&path);
        for (forest, file) in save.regions() {
            assert_eq!(save.byte_order(forest, file), ByteOrder::Little, "{}", path.display());
            files += 1;
        }
        for file in &save.streams {
            let stream = save.stream(file, &mut Vec::new()).unwrap().unwrap();
            assert_eq!(stream.byte_order(), ByteOrder::Little, "{}", path.display());
            files += 1;
        }
    }
    assert!(files >= 20, "{files}");
}
