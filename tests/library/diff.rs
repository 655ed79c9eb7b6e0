//! What `diff` says of saves whose differences are known.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::edit::{edited, set};
use crate::common::{self, samples};
use serde_json::{Value as Json, json};
use tempfile::tempdir;
use voxscope::convert;
use voxscope::demo::{self, Extent, ForestSpec};
use voxscope::diff::{self, Change, Options, Other, Summary, What};
use voxscope::godot::block;
use voxscope::godot::channel::{Channel, Depth, SDF, Storage};
use voxscope::godot::container::Mode;
use voxscope::godot::metadata::{Item, Metadata, VoxelItem};
use voxscope::godot::variant::{Dialect, Variant};
use voxscope::save::{self, Save};
use voxscope::watch::Watch;
use voxscope::world::World;

fn open(path: &Path) -> Save {
    Save::open(path, &save::Options::default()).unwrap()
}

fn compare(a: &Path, b: &Path, options: &Options<'_>) -> (Vec<Change>, Summary) {
    let (a, b) = (open(a), open(b));
    let mut changes = Vec::new();
    let summary =
        diff::run(&World::only(&a).unwrap(), &World::only(&b).unwrap(), options, |change| changes.push(change))
            .unwrap();
    (changes, summary)
}

fn forest(dir: &Path) -> PathBuf {
    let path = dir.join("world");
    demo::write_forest(&path, &ForestSpec::default(), None).unwrap();
    path
}

#[test]
fn a_save_does_not_differ_from_itself() {
    let dir = tempdir().unwrap();
    let world = forest(dir.path());
    let mut saves = vec![world];
    for name in ["godot_voxel/forest_metadata", "godot_voxel/forest_depths", "godot_voxel_old/region_v3_block_v2"] {
        saves.push(common::golden(name));
    }
    for (i, save) in saves.iter().enumerate() {
        let (changes, summary) = compare(save, save, &Options::default());
        assert_eq!((changes, summary.differs(), summary.trouble()), (Vec::new(), false, false), "{}", save.display());
        assert!(summary.same > 0 && summary.blocks == [summary.same; 2]);
        // Packed otherwise, they are still the same.
        if i < 3 {
            let copy = dir.path().join(format!("copy{i}"));
            edited(save, &copy, Mode::Zstd, &|_, position, _| Some(position));
            let (changes, packed) = compare(save, &copy, &Options::default());
            assert_eq!((changes, packed), (Vec::new(), summary));
        }
    }
}

#[test]
fn streams_of_all_formats_of_keys_are_the_same() {
    let golden = common::golden("godot_voxel_sqlite");
    let first = golden.join("stream_coord0.sqlite");
    for n in 1..4 {
        let (changes, summary) = compare(&first, &golden.join(format!("stream_coord{n}.sqlite")), &Options::default());
        // Only the metadata differs: it has the number of the format.
        assert_eq!((summary.same, summary.changed, summary.voxels, summary.trouble()), (1, 3, 0, false));
        for change in changes {
            let What::Changed(block) = change.what else { panic!("{change:?}") };
            let [a, b] = &block.metadata[0].items;
            let number = |item: &Option<Json>| item.as_ref().unwrap()["value"]["value"][0][1].clone();
            assert_eq!((number(a), number(b)), (json!(0), json!(n)));
            assert_eq!((block.metadata.len(), block.channels.len()), (1, 0));
        }
    }
    let instances = common::golden("instances");
    let instances = instances.join("instances.sqlite");
    let (changes, summary) = compare(&instances, &instances, &Options::default());
    assert_eq!((changes, summary.same), (Vec::new(), 14));
    let (_, summary) = compare(&first, &instances, &Options::default());
    assert!(summary.differs() && !summary.trouble());
}

#[test]
fn exactly_what_was_edited_is_named() {
    let dir = tempdir().unwrap();
    let world = forest(dir.path());
    let copy = dir.path().join("copy");
    edited(&world, &copy, Mode::Lz4, &|lod, position, block| {
        match (lod, position) {
            (0, [-2, 0, 1]) => {
                set(block, 0, [3, 4, 5], 60_000);
                set(block, 0, [9, 0, 15], 60_001);
                set(block, SDF, [3, 4, 5], 123);
            }
            (0, [1, 1, -1]) => return None,
            (1, [0, 0, 0]) => {
                let voxels = vec![VoxelItem { position: [1, 2, 3], item: Item::Number(77), span: Default::default() }];
                block.metadata = Some(Metadata {
                    declared: 0,
                    dialect: Dialect::Godot4,
                    block: Some(Item::Variant(Variant::string("here"))),
                    voxels,
                    unread: (0, &[]),
                });
            }
            _ => {}
        }
        Some(position)
    });
    let save = open(&world);
    let world_a = World::only(&save).unwrap();
    let mut buffer = voxscope::world::Buffer::default();
    let at = *world_a.index(0).find([-2, 0, 1]).unwrap();
    let old = world_a.read(&at, &mut buffer).unwrap().block.unwrap();
    let before = |channel: usize, at| old.voxel(channel, at);
    let (changes, summary) = compare(&world, &copy, &Options::default().list(4));
    assert_eq!((summary.changed, summary.removed, summary.added, summary.moved), (2, 1, 0, 0));
    assert_eq!(summary.voxels, 2);
    let What::Changed(change) = &changes[0].what else { panic!("{changes:?}") };
    assert_eq!((changes[0].lod, changes[0].position), (0, [-2, 0, 1]));
    assert_eq!(change.bounds, Some([[3, 0, 5], [10, 5, 16]]));
    let listed: Vec<_> = change.list.iter().map(|v| (v.position, v.channel, v.values)).collect();
    assert_eq!(
        listed,
        [
            ([3, 4, 5], 0, [before(0, [3, 4, 5]), Some(60_000)]),
            ([3, 4, 5], SDF, [before(SDF, [3, 4, 5]), Some(123)]),
            ([9, 0, 15], 0, [before(0, [9, 0, 15]), Some(60_001)]),
        ]
    );
    assert_eq!(change.metadata, []);
    assert_eq!((changes[1].position, &changes[1].what), ([1, 1, -1], &What::Removed));
    let What::Changed(change) = &changes[2].what else { panic!("{changes:?}") };
    assert_eq!((changes[2].lod, changes[2].position, change.voxels), (1, [0, 0, 0], 0));
    let new: Vec<_> = change.metadata.iter().filter(|m| m.items[1].is_some()).collect();
    assert_eq!(new[0].items[1].as_ref().unwrap()["value"], "here");
    assert_eq!((new[1].voxel, &new[1].items[1].as_ref().unwrap()["value"]), (Some([1, 2, 3]), &json!(77)));

    // Only what was asked for.
    let (_, lod) = compare(&world, &copy, &Options::default().lods(vec![1]));
    assert_eq!((lod.changed, lod.removed, lod.voxels), (1, 0, 0));
    let (_, one) = compare(&world, &copy, &Options::default().channels(vec![SDF]));
    assert_eq!((one.changed, one.voxels), (2, 1));
}

#[test]
fn a_block_moved_is_told_by_its_content() {
    let dir = tempdir().unwrap();
    let world = forest(dir.path());
    let copy = dir.path().join("copy");
    // [0, 0, 0] goes; [1, 0, 1] takes its place.
    edited(&world, &copy, Mode::Lz4, &|lod, position, _| match (lod, position) {
        (0, [0, 0, 0]) => None,
        (0, [1, 0, 1]) => Some([0, 0, 0]),
        _ => Some(position),
    });
    let (changes, summary) = compare(&world, &copy, &Options::default());
    assert_eq!((summary.moved, summary.changed, summary.removed, summary.added), (1, 1, 0, 0), "{changes:?}");
    assert_eq!(changes[1].position, [1, 0, 1]);
    assert_eq!(changes[1].what, What::Moved { to: [0, 0, 0] });
}

#[test]
fn distances_are_compared_by_value_where_the_depths_differ() {
    let value = |depth, raw: u64| {
        let data: &[u8] = raw.to_le_bytes().to_vec().leak();
        (depth, &data[..8])
    };
    let changed = |(version_a, a): (u8, (Depth, &'static [u8])), (version_b, b): (u8, (Depth, &'static [u8]))| {
        let block = |version, (depth, data): (Depth, &'static [u8])| {
            let uniform = |depth: Depth, data: &'static [u8]| Channel {
                depth,
                storage: Storage::Uniform,
                data: &data[..depth.bytes()],
                offset: 0,
                size: depth.bytes() as u64,
            };
            let mut channels = vec![uniform(Depth::Bits8, &[0]); 8];
            channels[SDF] = uniform(depth, data);
            block::Block { version, size: [2; 3], channels, metadata: None, epilogue: None }
        };
        let mut count = 0;
        diff::blocks(&block(version_a, a), &block(version_b, b), &[], &mut |_, channel, _| {
            assert_eq!(channel, SDF);
            count += 1;
        });
        count
    };
    let f32 = |n: f32| value(Depth::Bits32, u64::from(n.to_bits()));
    let i16 = |n: i16| value(Depth::Bits16, u64::from(n.cast_unsigned()));
    let i8 = |n: i8| value(Depth::Bits8, u64::from(n.cast_unsigned()));
    // 8 bits: steps of 10 / 127. 16 bits: 500 / 32767.
    assert_eq!(changed((4, i8(64)), (4, i16(330))), 0, "5.039 and 5.036");
    assert_eq!(changed((4, i8(64)), (4, i16(337))), 8, "5.039 and 5.142");
    assert_eq!(changed((4, f32(2.5)), (4, i16(164))), 0, "2.5 and 2.502");
    assert_eq!(changed((4, f32(2.5)), (4, i16(166))), 8);
    assert_eq!(changed((4, i8(1)), (4, i8(2))), 8, "the same depth: raw");
    // Versions 1 and 2: the normalised value is what is kept.
    assert_eq!(changed((2, value(Depth::Bits8, 254)), (4, i8(127))), 0);
    assert_eq!(changed((2, value(Depth::Bits8, 0)), (4, i8(-127))), 0);
    assert_eq!(changed((2, value(Depth::Bits16, 32767 + 1000)), (4, i16(1000))), 0);
    assert_eq!(changed((2, value(Depth::Bits16, 32767 + 1000)), (4, i16(1001))), 8);
    assert_eq!(changed((2, i16(1000)), (4, i16(1000))), 8, "the same bits are another distance");
    assert_eq!(changed((1, f32(0.25)), (4, f32(0.25))), 0);
}

/// A copy with blocks of another size.
fn resized(from: &Path, to: &Path, block_size: u16) {
    let save = open(from);
    let target = convert::Target { block_size: Some(block_size), ..convert::Target::default() };
    convert::to_forest(&World::only(&save).unwrap(), &target, to, &Watch::default()).unwrap();
}

/// What differs but for the blocks' own metadata, of which larger blocks keep only one.
fn but_own_metadata(changes: Vec<Change>) -> Vec<Change> {
    let own = |change: &Change| {
        let What::Changed(block) = &change.what else { return false };
        block.channels.is_empty() && block.metadata.iter().all(|m| m.voxel.is_none())
    };
    changes.into_iter().filter(|change| !own(change)).collect()
}

#[test]
fn blocks_of_other_sizes_are_the_same_voxels() {
    let dir = tempdir().unwrap();
    let world = forest(dir.path());
    for size in [4, 8, 32, 64] {
        let other = dir.path().join(format!("{size}"));
        resized(&world, &other, size);
        for (a, b) in [(&world, &other), (&other, &world)] {
            let (changes, summary) = compare(a, b, &Options::default().list(4));
            // Blocks that are joined have one item of their own; the others are listed by convert.
            let changes = but_own_metadata(changes);
            assert_eq!(changes, [], "{size}");
            assert_eq!((summary.voxels, summary.added, summary.removed, summary.unreadable), (0, 0, 0, 0));
            assert_eq!(summary.same + summary.changed, summary.blocks[0], "{size}");
            assert!(size < 16 || summary.holes > 0);
            assert_eq!(size < 16, summary.holes == 0);
        }
        // Both sizes are others.
        if size == 8 {
            let (changes, summary) = compare(&dir.path().join("4"), &other, &Options::default());
            assert_eq!((but_own_metadata(changes), summary.holes), (Vec::new(), 0));
        }
    }
}

#[test]
fn exactly_what_was_edited_is_named_across_sizes() {
    let dir = tempdir().unwrap();
    let world = forest(dir.path());
    let edit = |size: u16, to: &str| {
        let (plain, copy) = (dir.path().join(format!("plain{to}")), dir.path().join(to));
        resized(&world, &plain, size);
        let n = i32::from(size);
        // Voxels of the LOD, and what they become; the last one is where the small blocks have nothing.
        let edits = [([-30, 5, 21], 60_000), ([-17, 0, 31], 60_001), ([-33, 5, 40], 60_002)];
        edited(&plain, &copy, Mode::Lz4, &|lod, position, block| {
            for (voxel, value) in edits {
                let inside = [0, 1, 2].map(|i| voxel[i] - position[i] * n);
                if lod == 0 && inside.iter().all(|v| (0..n).contains(v)) {
                    set(block, 0, inside.map(|v| usize::try_from(v).unwrap()), value);
                }
            }
            Some(position)
        });
        copy
    };
    let (extent, large) = (open_extent(&world), edit(32, "large"));
    let list = Options::default().list(64);
    let named = |a: &Path, b: &Path, side: i32, back: bool| {
        let (changes, summary) = compare(a, b, &list);
        let changes = but_own_metadata(changes);
        let mut named = Vec::new();
        for change in &changes {
            assert_eq!(change.lod, 0);
            let What::Changed(block) = &change.what else { panic!("{change:?}") };
            assert_eq!(block.channels.len(), 1);
            assert_eq!(block.voxels as usize, block.list.len());
            for v in &block.list {
                let at = [0, 1, 2].map(|i| change.position[i] * side + i32::from(v.position[i]));
                assert_eq!(v.channel, 0);
                named.push((at, v.values[usize::from(!back)].unwrap()));
            }
        }
        named.sort();
        assert_eq!(summary.voxels as usize, named.len());
        named
    };
    assert!(extent.0[0] <= -2 && extent.1[0] >= 1, "{extent:?}");
    let mut expected = vec![([-33, 5, 40], 60_002), ([-30, 5, 21], 60_000), ([-17, 0, 31], 60_001)];
    // The first one is in the larger blocks only when they reach there.
    let save = open(&large);
    let reaches = World::only(&save).unwrap().index(0).find([-2, 0, 1]).is_some();
    if !reaches {
        expected.remove(0);
    }
    assert_eq!(named(&world, &large, 16, false), expected);
    assert_eq!(named(&large, &world, 32, true), expected);
    let small = edit(8, "small");
    let there = &expected[usize::from(reaches)..];
    assert_eq!(named(&world, &small, 16, false), there);
    assert_eq!(named(&small, &world, 8, true), there);
}

fn open_extent(path: &Path) -> ([i32; 3], [i32; 3]) {
    let save = open(path);
    let [low, high] = World::only(&save).unwrap().index(0).extent().unwrap();
    (low, high)
}

#[test]
fn what_is_only_in_one_of_two_saves_of_other_sizes_is_added_or_removed() {
    let dir = tempdir().unwrap();
    let (small, large) = (dir.path().join("small"), dir.path().join("large"));
    let spec = |po2, lods| ForestSpec { block_size_po2: po2, lods, ..ForestSpec::default() };
    let one = vec![Extent { from: [0; 3], to: [2; 3] }];
    demo::write_forest(&small, &spec(3, one), None).unwrap();
    let two = vec![Extent { from: [1, 0, 0], to: [2, 1, 1] }];
    demo::write_forest(&large, &spec(4, two), None).unwrap();
    let (changes, summary) = compare(&small, &large, &Options::default());
    assert_eq!((summary.removed, summary.added, summary.changed, summary.holes), (8, 1, 0, 0));
    let added = changes.iter().find(|change| change.what == What::Added).unwrap();
    assert_eq!((added.position, added.across), ([2, 0, 0], 2));
    let (changes, summary) = compare(&large, &small, &Options::default());
    assert_eq!((summary.removed, summary.added), (1, 1));
    assert!(changes.iter().all(|change| change.across == 1));
    let (code, out) = run(&[small.to_str().unwrap(), large.to_str().unwrap()]);
    assert_eq!(code, Some(1));
    assert!(out.contains("added") && out.contains("(16, 0, 0)..(32, 16, 16)"), "{out}");
    let (_, out) = run(&[small.to_str().unwrap(), large.to_str().unwrap(), "--format", "jsonl"]);
    assert!(out.lines().any(|line| line.contains("\"added\"") && line.contains("\"across\":2")), "{out}");
}

#[test]
fn a_damaged_block_costs_only_its_own_part_across_sizes() {
    let dir = tempdir().unwrap();
    samples::write_some(dir.path(), &["damaged/block-epilogue"]);
    let (damaged, large) = (dir.path().join("damaged/block-epilogue"), dir.path().join("large"));
    resized(&damaged, &large, 32);
    for (a, b) in [(&damaged, &large), (&large, &damaged)] {
        let (changes, summary) = compare(a, b, &Options::default());
        let changes = but_own_metadata(changes);
        assert_eq!(changes.len(), 1, "{changes:?}");
        let What::Unreadable { why, .. } = &changes[0].what else { panic!("{changes:?}") };
        assert!(why.contains("block-epilogue"), "{why}");
        assert_eq!(summary.unreadable, 1);
    }
}

fn run(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_voxscope")).arg("diff").args(arguments).output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn the_command_has_the_exit_codes_of_diff() {
    let dir = tempdir().unwrap();
    let world = forest(dir.path());
    let copy = dir.path().join("copy");
    edited(&world, &copy, Mode::Lz4, &|lod, position, block| {
        if (lod, position) == (0, [-1, 0, -2]) {
            set(block, 0, [15, 0, 1], 9);
        }
        Some(position)
    });
    let (world, copy) = (world.to_str().unwrap(), copy.to_str().unwrap());
    let (code, out) = run(&[world, world]);
    assert_eq!((code, out.lines().count()), (Some(0), 1), "{out}");
    let (code, out) = run(&[world, copy]);
    assert_eq!(code, Some(1));
    assert!(out.contains("voxel (-1, 0, -31) TYPE:"), "{out}");
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    let (code, out) = run(&[world, copy, "--format", "jsonl"]);
    let lines: Vec<Json> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(code, Some(1));
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["type"], "changed");
    assert_eq!(lines[0]["box"], json!([[-1, 0, -31], [0, 1, -30]]));
    assert_eq!(lines[0]["list"][0]["b"], "9");
    assert_eq!((&lines[1]["type"], &lines[1]["changed"]), (&json!("summary"), &json!(1)));
    assert_eq!(run(&[world, copy, "--lod", "1"]).0, Some(0));
    assert_eq!(run(&[world, "not-there"]).0, Some(2));
}

#[test]
fn what_cannot_be_read_is_trouble_unless_it_is_the_same() {
    let dir = tempdir().unwrap();
    samples::write_some(dir.path(), &["damaged/block-epilogue"]);
    let damaged = dir.path().join("damaged/block-epilogue");
    let (_, summary) = compare(&damaged, &damaged, &Options::default());
    assert!(!summary.differs() && !summary.trouble(), "equal bytes are equal");
    let healed = dir.path().join("healed");
    edited(&damaged, &healed, Mode::Lz4, &|_, position, _| Some(position));
    let (changes, summary) = compare(&damaged, &healed, &Options::default());
    assert_eq!((summary.unreadable, summary.changed), (1, 0));
    let unread = |other| What::Unreadable { side: diff::Side::A, why: "block-epilogue".into(), other: Some(other) };
    assert_eq!(changes[0].what, unread(Other::Whole));
    assert_eq!((summary.whole_in, summary.missing_in), ([0, 1], [0, 0]));
    let (turned, summary) = compare(&healed, &damaged, &Options::default());
    assert!(matches!(&turned[0].what, What::Unreadable { side: diff::Side::B, other: Some(Other::Whole), .. }));
    assert_eq!((summary.whole_in, summary.missing_in), ([1, 0], [0, 0]));
    // Also where the other save has no block there, it is listed once.
    let at = changes[0].position;
    let without = dir.path().join("without");
    edited(&damaged, &without, Mode::Lz4, &|lod, position, _| Some(position).filter(|other| (lod, *other) != (0, at)));
    let (changes, summary) = compare(&damaged, &without, &Options::default());
    assert_eq!((changes.len(), summary.unreadable, summary.removed), (1, 1, 0), "{changes:?}");
    assert_eq!((&changes[0].what, summary.missing_in), (&unread(Other::Missing), [0, 1]));
    let (damaged, healed) = (damaged.to_str().unwrap(), healed.to_str().unwrap());
    assert_eq!(run(&[damaged, healed]).0, Some(2));
}
