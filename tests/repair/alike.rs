//! Blocks that differ only in their metadata: their voxels come back, and no block gets the metadata of another one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use voxscope::godot::region::Entry;
use voxscope::repair::{KeptReason, Origin};
use voxscope::save::{Options, Save, Scratch};

use crate::common;
use crate::common::damage::entries;
use crate::mend;
use crate::states::world::set_entry;

/// The voxels and all bytes of a block.
type Parts = (Vec<u8>, Vec<u8>);

/// The blocks of a region file by their slots, as its table has them.
fn blocks(world: &Path, name: &str) -> BTreeMap<u32, ([i32; 3], Parts)> {
    let save = Save::open(world, &Options::default()).unwrap();
    let (forest, file) = save.regions().find(|(_, file)| file.name.ends_with(name)).unwrap();
    let mut region = save.region(forest, file).unwrap().unwrap();
    let slots = region.slots(&mut Scratch::default()).unwrap();
    let mut all = BTreeMap::new();
    let mut scratch = Scratch::default();
    for listed in region.entries.clone() {
        let position = region.block_position(listed.slot, slots).unwrap();
        let view = region.view(listed.entry, &mut scratch).unwrap();
        let (plain, block) = (view.container.unwrap().plain.to_vec(), view.block.unwrap());
        let last = block.channels.last().unwrap();
        let voxels = plain[..(last.offset + last.size) as usize].to_vec();
        all.insert(listed.slot, (position, (voxels, plain)));
    }
    all
}

/// A healthy save: what is certain or likely of a damaged one.
fn healthy(world: &Path) {
    mend(&common::golden("crash_terrain").join("t1/world"), world, true);
    fs::remove_file(world.join("repair.json")).unwrap();
    fs::remove_dir_all(world.join("lost+found")).unwrap();
}

/// Writes entries of a region file.
fn set(path: &Path, entries: impl IntoIterator<Item = (u32, Entry)>) {
    let mut bytes = fs::read(path).unwrap();
    entries.into_iter().for_each(|(slot, entry)| set_entry(&mut bytes, slot, entry));
    fs::write(path, bytes).unwrap();
}

#[test]
fn voxels_come_back_where_metadata_is_open() {
    let dir = tempfile::tempdir().unwrap();
    let [world, to] = ["world", "copy"].map(|name| dir.path().join(name));
    healthy(&world);
    let name = "r.-1.0.0.vxr";
    let before = blocks(&world, name);
    let path = world.join("regions/lod0").join(name);
    let entries = entries(&fs::read(&path).unwrap());
    let last = entries.iter().max_by_key(|entry| entry.first()).unwrap();
    // Two blocks of the same voxels with chests of different contents in them, neither behind all others.
    let slots: Vec<u32> = before.keys().copied().filter(|slot| entries[*slot as usize] != *last).collect();
    let is_alike = |a: &Parts, b: &Parts| a.0 == b.0 && a.1 != b.1;
    let pair = slots.iter().find_map(|&a| {
        let b = slots.iter().find(|&&b| a < b && is_alike(&before[&a].1, &before[&b].1));
        b.map(|&b| [a, b])
    });
    let pair = pair.unwrap();
    set(&path, pair.map(|slot| (slot, Entry::default())));

    let plan = mend(&world, &to, false).plan;
    let region = plan.regions.iter().find(|region| region.path == path).unwrap();
    let alone: Vec<_> = region.blocks.iter().filter(|block| block.origin == Origin::Voxels).collect();
    assert_eq!(alone.len(), 2, "{:?}", region.lost);
    assert_eq!((region.missing.len(), region.lost.len()), (0, 2));
    for lost in &region.lost {
        assert!(lost.whole && lost.why == KeptReason::Alike, "{lost:?}");
        let at: Vec<[i32; 3]> = lost.candidates.iter().map(|(at, _)| *at).collect();
        assert!(pair.iter().all(|slot| at.contains(&before[slot].0)), "both places are possible: {lost:?}");
        assert!(lost.candidates.iter().all(|(_, p)| *p < 0.6), "{lost:?}");
    }
    let after = blocks(&to, name);
    assert_eq!(after.len(), before.len());
    for (slot, (position, (voxels, plain))) in &before {
        let (_, copy) = &after[slot];
        assert!(copy.0 == *voxels, "{position:?} has other voxels");
        let is_open = pair.contains(slot);
        assert_eq!(copy.1 == *plain, !is_open, "{position:?}");
        assert!(
            !is_open || copy.1.len() == voxels.len() + 4,
            "{position:?} has metadata that may belong to another block"
        );
    }

    let report: Value = serde_json::from_slice(&fs::read(to.join("repair.json")).unwrap()).unwrap();
    let salvaged = report["regions"][0]["salvaged"].as_array().unwrap();
    assert_eq!(salvaged.len(), 2);
    for one in salvaged {
        assert_eq!((&one["metadata"], &one["filled"]), (&json!(false), &json!([])));
        assert_eq!(one["kept"].as_array().unwrap().len(), 8);
    }
    assert_eq!(report["totals"]["salvaged"], 2);
}

#[test]
fn a_block_that_was_copied_over_another_one_is_in_one_place_only() {
    let dir = tempfile::tempdir().unwrap();
    let [world, to] = ["healthy/textures", "copy"].map(|name| dir.path().join(name));
    common::samples::write_some(dir.path(), &["healthy/textures"]);
    let name = "r.0.0.0.vxr";
    let before = blocks(&world, name);
    let path = world.join("regions/lod0").join(name);
    let mut bytes = fs::read(&path).unwrap();
    let own = entries(&bytes)[0];
    let (at, len) = (bytes.len() - 47 * 512, usize::from(own.count()) * 512);
    assert_eq!((own.first(), bytes.len()), (0, 20 + 64 * 4 + 47 * 512), "the sectors follow the table");
    bytes.copy_within(at..at + len, at + len);
    fs::write(&path, bytes).unwrap();
    mend(&world, &to, false);
    let after = blocks(&to, name);
    assert!(after[&0].1 == before[&0].1, "it is whole in its own place");
    for (slot, (position, parts)) in after.iter().filter(|(slot, _)| **slot != 0) {
        assert!(*parts == before[slot].1, "{position:?} has what was there");
    }
}

#[test]
fn two_entries_with_a_changed_bit_each_find_their_blocks() {
    let dir = tempfile::tempdir().unwrap();
    let [world, to] = ["world", "copy"].map(|name| dir.path().join(name));
    healthy(&world);
    let path = world.join("regions/lod0/r.0.0.0.vxr");
    let table = entries(&fs::read(&path).unwrap());
    let entry = |slot: u32| table[slot as usize].0;
    let before = blocks(&world, "r.0.0.0.vxr");
    let slots: Vec<u32> = before.keys().copied().collect();
    // Two blocks whose entries differ by one bit: the second one's entry gets this bit, so that it leads to the first block, and
    // the first one's leads beyond the end.
    let pair = slots.iter().find_map(|&a| {
        let b = slots.iter().find(|&&b| a < b && (entry(a) ^ entry(b)).is_power_of_two());
        b.map(|&b| (a, b))
    });
    let (first, second) = pair.unwrap();
    set(&path, [(first, Entry(entry(first) ^ 1 << 30)), (second, Entry(entry(first)))]);
    mend(&world, &to, false);
    assert!(blocks(&to, "r.0.0.0.vxr") == before, "slots {first} and {second}");
}
