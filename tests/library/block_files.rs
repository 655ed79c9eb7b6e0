//! Saves of `VoxelStreamBlockFiles`: read, checked, converted and repaired.

use std::fs;
use std::path::Path;

use voxscope::check::{self, Finding};
use voxscope::convert::{self, Target};
use voxscope::damage::{Code, Level};
use voxscope::demo::forest::{DEPTHS, Extent, ForestSpec, write_forest};
use voxscope::demo::{block_files, samples};
use voxscope::diff;
use voxscope::godot::channel::{CHANNELS, Depth};
use voxscope::godot::container::Mode;
use voxscope::godot::slots::SlotFormula;
use voxscope::repair;
use voxscope::save::{Kind, Options, Save};
use voxscope::watch::Watch;
use voxscope::world::World;

use crate::common::files_below;

fn spec() -> ForestSpec {
    let lods = vec![Extent { from: [-2, -1, -2], to: [1, 1, 1] }, Extent { from: [-1, -1, -1], to: [1, 1, 1] }];
    ForestSpec { lods, ..ForestSpec::default() }
}

fn open(dir: &Path) -> Save {
    Save::open(dir, &Options::default()).unwrap()
}

fn findings(save: &Save) -> Vec<Finding> {
    let mut all = Vec::new();
    check::run(save, &check::Options::default().level(check::Level::Semantic), |finding| all.push(finding));
    all
}

/// Asserts that two worlds have the same blocks, and that these are `blocks` many.
fn assert_equal(a: &Path, b: &Path, blocks: u64) {
    let (a, b) = (open(a), open(b));
    let (a, b) = (World::only(&a).unwrap(), World::only(&b).unwrap());
    let summary = diff::run(&a, &b, &diff::Options::default(), |entry| panic!("{entry:?}")).unwrap();
    assert_eq!(summary.same, blocks);
}

/// The forms that the engine wrote from 2019 to 2022.
fn forms() -> [ForestSpec; 4] {
    // The formula that forests of these versions have for negative coordinates.
    let slots = SlotFormula::Legacy;
    let bits8 = [Depth::Bits8; CHANNELS];
    let mut of_2021 = bits8;
    (of_2021[0], of_2021[1]) = (Depth::Bits16, Depth::Bits16);
    [
        ForestSpec { slots, block_version: 1, mode: Mode::Headerless, depths: bits8, metadata: false, ..spec() },
        ForestSpec { slots, block_version: 2, mode: Mode::Lz4BigEndian, depths: of_2021, metadata: false, ..spec() },
        ForestSpec { slots, block_version: 3, mode: Mode::Lz4BigEndian, ..spec() },
        ForestSpec { block_version: 4, mode: Mode::Plain, depths: DEPTHS, ..spec() },
    ]
}

#[test]
fn each_form_is_read_without_a_finding_above_note() {
    for spec in forms() {
        let dir = tempfile::tempdir().unwrap();
        block_files::write(dir.path(), &spec, |_| Ok(())).unwrap();
        let save = open(dir.path());
        assert_eq!(save.forests.iter().map(|forest| forest.kind).collect::<Vec<_>>(), [Kind::BlockFiles]);
        let world = World::only(&save).unwrap();
        assert_eq!((world.lods(), world.block_size()), (vec![0, 1], Some(16)));
        let positions: Vec<[i32; 3]> = world.index(0).blocks.iter().map(|at| at.position).collect();
        let mut wanted: Vec<[i32; 3]> = spec.lods[0].positions().collect();
        wanted.sort_by_key(|position| voxscope::world::order(*position));
        assert_eq!(positions, wanted, "version {}", spec.block_version);
        let codes: Vec<Code> = findings(&save).iter().map(|finding| finding.damage.code).collect();
        assert_eq!(codes, [Code::BlockFilesRemoved], "version {}", spec.block_version);
    }
}

#[test]
fn a_converted_save_has_the_blocks_of_the_forest() {
    for spec in forms() {
        let dir = tempfile::tempdir().unwrap();
        let [files, forest, made] = ["files", "forest", "made"].map(|name| dir.path().join(name));
        block_files::write(&files, &spec, |_| Ok(())).unwrap();
        write_forest(&forest, &spec, None).unwrap();
        assert_equal(&files, &forest, spec.blocks());
        let save = open(&files);
        let world = World::only(&save).unwrap();
        let report = convert::to_forest(&world, &Target::default(), &made, &Watch::default()).unwrap();
        assert_eq!(report.written, spec.blocks(), "version {}", spec.block_version);
        assert!(findings(&open(&made)).iter().all(|finding| finding.level() == Level::Note));
        let meta = fs::read_to_string(made.join("meta.vxrm")).unwrap();
        assert!(meta.contains("\"sector_size\": 512") && meta.contains("\"region_size_po2\": 4"), "{meta}");
    }
}

#[test]
#[cfg(feature = "sqlite")]
fn block_files_become_a_stream() {
    let dir = tempfile::tempdir().unwrap();
    let [files, made] = ["files", "made.sqlite"].map(|name| dir.path().join(name));
    block_files::write(&files, &spec(), |_| Ok(())).unwrap();
    let save = open(&files);
    convert::to_stream(&World::only(&save).unwrap(), &Target::default(), &made, &Watch::default()).unwrap();
    assert_equal(&files, &made, spec().blocks());
}

#[test]
fn a_save_opens_by_its_meta_file_its_directory_of_blocks_and_one_block() {
    let dir = tempfile::tempdir().unwrap();
    block_files::write(dir.path(), &spec(), |_| Ok(())).unwrap();
    for below in ["meta.vxbm", "blocks", "."] {
        let save = open(&dir.path().join(below));
        assert_eq!(World::only(&save).unwrap().index(0).blocks.len(), spec().lods[0].volume() as usize, "{below}");
    }
    let save = open(&dir.path().join("blocks/lod1/+0-1+0.vxb"));
    let world = World::only(&save).unwrap();
    let positions: Vec<[i32; 3]> = world.index(1).blocks.iter().map(|at| at.position).collect();
    assert_eq!((positions, world.block_size()), (vec![[0, -1, 0]], Some(16)));
}

#[test]
fn the_blocks_say_their_layout_where_the_meta_file_is_gone() {
    let sample = samples().find(|sample| sample.name == "block-files-meta-missing").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let (from, made, repaired) = (dir.path().join("from"), dir.path().join("made"), dir.path().join("repaired"));
    (sample.make)(&from).unwrap();
    let save = open(&from);
    let world = World::only(&save).unwrap();
    let report = convert::to_forest(&world, &Target::default(), &made, &Watch::default()).unwrap();
    assert_eq!(report.written, 12);
    repair::run(&save, &repaired, &repair::Options::default()).unwrap();
    assert_eq!(fs::read(repaired.join("meta.vxbm")).unwrap(), b"VXBM\x01\x01\x04\x01\x01\x00\x01\x01\x00\x00\x00");
    assert_equal(&from, &repaired, 12);
}

#[test]
fn a_cut_block_is_set_aside_and_the_others_are_kept() {
    for name in ["block-file-header", "block-file-cut"] {
        let sample = samples().find(|sample| sample.name == name).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let (from, repaired) = (dir.path().join("from"), dir.path().join("repaired"));
        (sample.make)(&from).unwrap();
        let outcome = repair::run(&open(&from), &repaired, &repair::Options::default()).unwrap();
        assert!(outcome.plan.leaves_damage());
        assert!(!repaired.join("blocks/lod0/+1+0+0.vxb").exists());
        assert!(repaired.join("lost+found").exists());
        let codes: Vec<Code> = findings(&open(&repaired)).iter().map(|finding| finding.damage.code).collect();
        assert_eq!(codes, [Code::BlockFilesRemoved]);
    }
}

#[test]
fn a_lod_without_files_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let codes = |name: &str, lod: &str| {
        let below = dir.path().join(name);
        block_files::write(&below, &spec(), |_| Ok(())).unwrap();
        fs::remove_dir_all(below.join("blocks").join(lod)).unwrap();
        let found = findings(&open(&below));
        assert!(found.iter().any(|finding| finding.message().contains("no file of a block")), "{found:?}");
        let mut codes: Vec<Code> = found.iter().map(|finding| finding.damage.code).collect();
        codes.sort_unstable();
        codes
    };
    let mut expected = vec![Code::BlockFilesRemoved, Code::LodMissing];
    expected.sort_unstable();
    assert_eq!(codes("without-1", "lod1"), expected);
    expected.push(Code::LodGap);
    expected.sort_unstable();
    assert_eq!(codes("without-0", "lod0"), expected, "blocks of LOD 1 are made of those of LOD 0");
    // One file of a block is no save of which something is missing.
    let one = findings(&open(&dir.path().join("without-0/blocks/lod1/+0-1+0.vxb")));
    assert_eq!(one.iter().map(|finding| finding.damage.code).collect::<Vec<_>>(), [Code::BlockFilesRemoved]);
}

/// A save of block files, and a backup of it from before it lost some.
fn with_backup(dir: &Path) -> [std::path::PathBuf; 3] {
    let [from, backup, repaired] = ["from", "backup", "repaired"].map(|name| dir.join(name));
    for dir in [&from, &backup] {
        block_files::write(dir, &spec(), |_| Ok(())).unwrap();
    }
    [from, backup, repaired]
}

#[test]
fn a_backup_gives_the_blocks_that_are_cut_empty_or_missing() {
    let dir = tempfile::tempdir().unwrap();
    let [from, backup, repaired] = with_backup(dir.path());
    let [cut, empty, gone] =
        ["blocks/lod0/+0+0+0.vxb", "blocks/lod0/-1+0+0.vxb", "blocks/lod1/+0-1+0.vxb"].map(|name| from.join(name));
    let bytes = fs::read(&cut).unwrap();
    fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    fs::write(&empty, b"").unwrap();
    fs::remove_file(&gone).unwrap();
    let (save, other) = (open(&from), open(&backup));
    let options = repair::Options::default().backup(&other);
    let outcome = repair::run(&save, &repaired, &options).unwrap();
    let totals = repair::totals(&save, &outcome.plan);
    assert_eq!((totals.older, totals.lost, totals.kept), (3, 0, spec().blocks() - 3));
    assert_equal(&repaired, &backup, spec().blocks());
    assert!(repaired.join("lost+found/files/blocks/lod0/+0+0+0.vxb").exists(), "what was cut is kept");
    let codes: Vec<Code> = findings(&open(&repaired)).iter().map(|finding| finding.damage.code).collect();
    assert_eq!(codes, [Code::BlockFilesRemoved]);
}

#[test]
fn a_backup_never_replaces_a_whole_block() {
    let dir = tempfile::tempdir().unwrap();
    let [from, backup, repaired] = with_backup(dir.path());
    // An older state of a block that the save has whole.
    fs::copy(backup.join("blocks/lod0/+0+0+0.vxb"), backup.join("blocks/lod0/-1+0+0.vxb")).unwrap();
    fs::write(from.join("blocks/lod0/+0+0+0.vxb"), b"").unwrap();
    let other = open(&backup);
    repair::run(&open(&from), &repaired, &repair::Options::default().backup(&other)).unwrap();
    let whole = "blocks/lod0/-1+0+0.vxb";
    assert_eq!(fs::read(repaired.join(whole)).unwrap(), fs::read(from.join(whole)).unwrap());
    assert!(repaired.join("blocks/lod0/+0+0+0.vxb").exists());
}

#[test]
fn nothing_is_taken_from_a_backup_of_another_layout() {
    let dir = tempfile::tempdir().unwrap();
    let [from, backup, repaired] = with_backup(dir.path());
    fs::remove_dir_all(&backup).unwrap();
    let depths = [Depth::Bits8; CHANNELS];
    block_files::write(&backup, &ForestSpec { depths, ..spec() }, |_| Ok(())).unwrap();
    fs::write(from.join("blocks/lod0/+0+0+0.vxb"), b"").unwrap();
    let other = open(&backup);
    repair::run(&open(&from), &repaired, &repair::Options::default().backup(&other)).unwrap();
    assert!(!repaired.join("blocks/lod0/+0+0+0.vxb").exists());
}

#[test]
fn a_block_file_with_converted_line_breaks_is_restored_exactly() {
    let dir = tempfile::tempdir().unwrap();
    let (world, copy) = (dir.path().join("world"), dir.path().join("copy"));
    let sample = samples().find(|sample| sample.name == "block-files").unwrap();
    (sample.make)(&world).unwrap();
    let files = files_below(&world.join("blocks"));
    let feeds = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
    let path = files.into_iter().max_by_key(|path| feeds(&fs::read(path).unwrap())).unwrap();
    let whole = fs::read(&path).unwrap();
    assert!(feeds(&whole) > 0);
    let crlf = |byte: &u8| if *byte == b'\n' { vec![b'\r', b'\n'] } else { vec![*byte] };
    fs::write(&path, whole.iter().flat_map(crlf).collect::<Vec<u8>>()).unwrap();
    let done = repair::run(&open(&world), &copy, &repair::Options::default()).unwrap();
    assert_eq!(done.check.counts.errors + done.check.counts.warnings, 0);
    assert_eq!(fs::read(copy.join(path.strip_prefix(&world).unwrap())).unwrap(), whole);
}
