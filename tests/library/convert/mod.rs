//! Saves in another form hold what they held.

mod back;
mod distances;
#[cfg(feature = "sqlite")]
mod streams;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::common::{self, samples};
use serde_json::Value as Json;
use tempfile::tempdir;
use voxscope::check;
use voxscope::convert::{self, Error, Kind, Report, Target};
use voxscope::damage::{Code, Level};
use voxscope::demo::{self, Extent, ForestSpec, Terrain};
use voxscope::diff;
use voxscope::godot::block::{self, Block};
use voxscope::godot::channel::{Channel, Depth, SDF, Storage, sdf};
use voxscope::godot::container::{self, Mode};
use voxscope::godot::forest::Meta;
use voxscope::godot::metadata::{Item, Metadata, VoxelItem};
use voxscope::godot::region::{Builder, Format, Header};
use voxscope::godot::slots::{self, SlotFormula};
use voxscope::godot::variant::{Dialect, Variant};
use voxscope::save::{self, Save};
use voxscope::watch::Watch;
use voxscope::world::{Buffer, World};

fn open(path: &Path) -> Save {
    Save::open(path, &save::Options::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn to_forest(from: &Path, target: &Target, to: &Path) -> Result<Report, Error> {
    let save = open(from);
    convert::to_forest(&World::only(&save).unwrap(), target, to, &Watch::default())
}

/// The result has nothing that the checker finds worse than a note.
fn assert_healthy(path: &Path) {
    let save = open(path);
    let options = check::Options::default().level(check::Level::Semantic);
    let mut wrong = Vec::new();
    check::run(&save, &options, |finding| {
        if finding.level() > Level::Note {
            wrong.push(finding.to_string());
        }
    });
    assert_eq!(wrong, [""; 0]);
    assert!(save.regions().all(|(_, file)| file.header.as_ref().unwrap().version == 3));
}

fn assert_same(a: &Path, b: &Path) {
    let (a, b) = (open(a), open(b));
    let mut changes = Vec::new();
    let (a, b) = (World::only(&a).unwrap(), World::only(&b).unwrap());
    let summary = diff::run(&a, &b, &diff::Options::default(), |change| changes.push(change)).unwrap();
    assert_eq!(changes, []);
    assert!(summary.same > 0);
}

/// The text of an item as Godot 3 writes it; what is not there is null.
fn text(item: Option<&Item<'_>>) -> String {
    match item {
        None | Some(Item::Empty) => Variant::Nil.text(Dialect::Godot3),
        Some(Item::Variant(variant)) => variant.text(Dialect::Godot3),
        Some(other) => panic!("{other:?}"),
    }
}

fn number(json: &Json) -> u64 {
    let text = json.as_str().unwrap();
    text.parse::<u64>().unwrap_or_else(|_| text.parse::<i64>().unwrap().cast_unsigned())
}

/// A block of today against what the game of Godot 3 held, and against the block that it wrote.
fn compare(what: &str, block: &Block<'_>, source: &Block<'_>, truth: &Json) {
    assert_eq!(block.version, 4, "{what}");
    for (c, (channel, truth)) in block.channels.iter().zip(truth["channels"].as_array().unwrap()).enumerate() {
        let depth = channel.depth;
        assert_eq!(u64::from(depth.bits()), truth["depth_bits"].as_u64().unwrap(), "{what}");
        // The old fixed point was the new one, moved by its middle.
        let old = |raw: u64| match (c == SDF, depth) {
            (true, Depth::Bits8) => (i64::from((raw as u8).cast_signed()) + 127).cast_unsigned(),
            (true, Depth::Bits16) => (i64::from((raw as u16).cast_signed()) + 32767).cast_unsigned(),
            _ => raw,
        };
        if truth["uniform"] == true {
            assert_eq!((channel.storage, channel.value(0).map(old)), (Storage::Uniform, Some(number(&truth["value"]))));
            continue;
        }
        // The old one went a step further than 1, to which that step is cut.
        let cut = |raw: u64| match (c == SDF, depth) {
            (true, Depth::Bits8) => raw.min(254),
            (true, Depth::Bits16) => raw.min(65534),
            _ => raw,
        };
        let written = &source.channels[c];
        let hash = written.values().fold(0, |h: u64, v| h.wrapping_mul(31).wrapping_add(v) & 0xffff_ffff);
        assert_eq!(hash, truth["hash31_zxy"].as_u64().unwrap(), "{what} channel {c}");
        assert!(channel.values().map(old).eq(written.values().map(cut)), "{what} channel {c}");
        for sample in truth["samples"].as_array().unwrap() {
            let at = [0, 1, 2].map(|i| u16::try_from(sample[i].as_u64().unwrap()).unwrap());
            assert_eq!(block.voxel(c, at).map(old), Some(cut(number(&sample[3]))), "{what} {at:?}");
        }
    }
    let written = &truth["metadata_written"];
    let metadata = block.metadata.as_ref();
    let own = written["block"].as_str().unwrap_or("null");
    assert_eq!(text(metadata.and_then(|m| m.block.as_ref())), own, "{what}");
    let voxels: BTreeMap<String, String> = metadata
        .iter()
        .flat_map(|m| &m.voxels)
        .map(|v| (v.position.map(|n| n.to_string()).join(","), text(Some(&v.item))))
        .collect();
    let expected = written["voxels"].as_object().into_iter().flatten();
    let expected = expected.map(|(k, v)| (k.clone(), v.as_str().unwrap().to_owned())).filter(|(_, v)| v != "null");
    assert_eq!(voxels, expected.collect(), "{what}");
}

#[test]
fn forests_of_godot_3_are_what_the_game_knew() {
    let golden = common::golden("godot_voxel_old");
    let out = tempdir().unwrap();
    let mut saves = 0;
    for path in std::fs::read_dir(&golden).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()) {
        saves += 1;
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let to = out.path().join(&name);
        let report = to_forest(&path, &Target::default(), &to).unwrap_or_else(|e| panic!("{name}: {e}"));
        let truths = common::json_lines(&golden.join(format!("{name}.truth.jsonl")));
        let blocks = truths.len() as u64;
        assert_eq!((report.read, report.written, report.copied), (blocks, blocks, 0), "{name}");
        assert_eq!(report.sdf, blocks, "{name}");
        assert_eq!(report.listed.len() as u64, report.count(Kind::Cut), "{name}");
        assert_healthy(&to);
        let save = open(&to);
        let mut cut = 0;
        // What the engine of today reads: its formula of slots, whatever the old one was.
        let world = World::only(&save).unwrap();
        let index = world.index(0);
        assert_eq!(index.blocks.len(), truths.len(), "{name}");
        let source = open(&path);
        let source = World::only(&source).unwrap();
        let written = source.index(0);
        let (mut buffer, mut other) = (Buffer::default(), Buffer::default());
        for truth in &truths {
            let position = [0, 1, 2].map(|i| i32::try_from(truth["position"][i].as_i64().unwrap()).unwrap());
            let what = format!("{name} {position:?}");
            let at = index.find(position).unwrap_or_else(|| panic!("{what}: not there"));
            let view = world.read(at, &mut buffer).unwrap();
            assert_eq!(view.container.unwrap().mode, Some(Mode::Lz4));
            let old = source.read(written.find(position).unwrap(), &mut other).unwrap().block.unwrap();
            let (depth, step) = (old.channels[SDF].depth, old.channels[SDF].values());
            cut += step.filter(|v| *v == if depth == Depth::Bits8 { 255 } else { 65535 }).count() as u64;
            compare(&what, &view.block.unwrap(), &old, truth);
        }
        assert_eq!(report.cut, cut, "{name}");
    }
    assert_eq!(saves, 7);
}

#[test]
fn forests_of_today_keep_every_byte_of_their_blocks() {
    let golden = common::golden("godot_voxel");
    let out = tempdir().unwrap();
    for path in std::fs::read_dir(&golden).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()) {
        let to = out.path().join(path.file_name().unwrap());
        let report = to_forest(&path, &Target::default(), &to).unwrap();
        let packed_so = !["forest_zstd", "forest_uncompressed"].contains(&path.file_name().unwrap().to_str().unwrap());
        assert_eq!(report.copied, if packed_so { report.read } else { 0 }, "{}", path.display());
        assert_eq!((report.written, report.listed.len()), (report.read, 0));
        assert_healthy(&to);
        assert_same(&path, &to);
    }
}

#[test]
fn the_seams_tell_which_formula_placed_blocks_of_version_4() {
    let dir = tempdir().unwrap();
    let mut told = 0;
    for seed in 1..=4 {
        let spec = |slots| ForestSpec {
            terrain: Terrain::new(seed),
            lods: vec![Extent { from: [-9, -2, -9], to: [5, 2, 5] }],
            slots,
            ..ForestSpec::default()
        };
        let truth = dir.path().join(format!("truth{seed}"));
        demo::write_forest(&truth, &spec(SlotFormula::Euclidean), None).unwrap();
        for slots in [SlotFormula::Legacy, SlotFormula::Euclidean] {
            let from = dir.path().join(format!("{slots:?}{seed}"));
            demo::write_forest(&from, &spec(slots), None).unwrap();
            let to = from.with_extension("to");
            let report = to_forest(&from, &Target::default(), &to).unwrap();
            let words = report.slots.clone().unwrap();
            let expected = if slots == SlotFormula::Legacy { "the old formula" } else { "the new formula" };
            assert!(words.contains(expected), "{seed} {slots:?}: {words}");
            told += usize::from(words.contains("borders between blocks fit it"));
            assert_same(&truth, &to);
            // The checker says the same, and nothing else.
            let save = open(&from);
            let options = check::Options::default().level(check::Level::Semantic);
            let mut notes = Vec::new();
            check::run(&save, &options, |finding| notes.push(finding));
            assert!(notes.iter().all(|note| note.level() == Level::Note));
            let note = notes.iter().find(|note| note.code() == Code::SlotsTold).expect("a note");
            assert!(note.message().contains(expected), "{}", note.message());
        }
    }
    assert_eq!(told, 8);
}

#[test]
fn no_save_of_the_engine_of_today_is_taken_for_an_old_one() {
    for name in ["godot_voxel", "crash_terrain", "crash_noise", "crash_random"] {
        let golden = common::golden(name);
        let mut dirs = vec![golden];
        while let Some(dir) = dirs.pop() {
            dirs.extend(std::fs::read_dir(&dir).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()));
            if dir.join("meta.vxrm").is_file() {
                let save = open(&dir);
                let told = voxscope::recover::slots::infer_formula(&save, &save.forests[0], &|| false);
                println!("{}: {told:?}", dir.display());
                assert_ne!(told.slots(), Some(SlotFormula::Legacy), "{}", dir.display());
            }
        }
    }
}

/// A world whose blocks are even in number and in place, so that larger ones are whole.
fn even(dir: &Path) -> std::path::PathBuf {
    let path = dir.join("world");
    let lods = vec![Extent { from: [-2, -2, -4], to: [2, 2, 2] }, Extent { from: [-2, -2, -2], to: [0, 0, 2] }];
    demo::write_forest(&path, &ForestSpec { lods, ..ForestSpec::default() }, None).unwrap();
    path
}

/// The voxels of a channel and the items, by their places in the LOD.
type Voxels = (BTreeMap<[i64; 3], Vec<u64>>, BTreeMap<[i64; 3], Json>);

fn voxels(path: &Path, lod: u8) -> Voxels {
    let save = open(path);
    let world = World::only(&save).unwrap();
    let (mut voxels, mut items) = (BTreeMap::new(), BTreeMap::new());
    let mut buffer = Buffer::default();
    for at in &world.index(lod).blocks {
        let block = world.read(at, &mut buffer).unwrap().block.unwrap();
        let size = block.size[0];
        let corner = at.position.map(|n| i64::from(n) * i64::from(size));
        let place = |v: [u16; 3]| [0, 1, 2].map(|i| corner[i] + i64::from(v[i]));
        for (z, x, y) in (0..size).flat_map(|z| (0..size).flat_map(move |x| (0..size).map(move |y| (z, x, y)))) {
            let values = (0..8).map(|c| block.voxel(c, [x, y, z]).unwrap()).collect();
            assert!(voxels.insert(place([x, y, z]), values).is_none());
        }
        for voxel in block.metadata.iter().flat_map(|m| &m.voxels) {
            items.insert(place(voxel.position), voxel.item.to_json(Dialect::Godot4));
        }
    }
    (voxels, items)
}

#[test]
fn blocks_are_joined_and_split_without_losing_a_voxel() {
    let dir = tempdir().unwrap();
    let world = even(dir.path());
    let (large, back, small) = (dir.path().join("large"), dir.path().join("back"), dir.path().join("small"));
    let size = |n| Target { block_size: Some(n), ..Target::default() };
    let report = to_forest(&world, &size(32), &large).unwrap();
    assert_eq!((report.read, report.written), (96 + 16, 12 + 2));
    assert_eq!(report.count(Kind::Filled), 0);
    assert_healthy(&large);
    let report = to_forest(&large, &size(16), &back).unwrap();
    assert_eq!((report.read, report.written), (14, 112));
    assert_healthy(&back);
    to_forest(&world, &Target { region_size: Some(2), ..size(4) }, &small).unwrap();
    assert_healthy(&small);
    for lod in [0, 1] {
        let before = voxels(&world, lod);
        assert!(lod > 0 || !before.1.is_empty(), "some items");
        for (name, path) in [("large", &large), ("back", &back), ("small", &small)] {
            assert!(voxels(path, lod) == before, "{name} {lod}");
        }
    }
    // Metadata of blocks: of the block that has the corner, and listed where it has none in the result.
    let own = |path: &Path, position| {
        let save = open(path);
        let world = World::only(&save).unwrap();
        let at = *world.index(0).find(position).unwrap();
        let mut buffer = Buffer::default();
        let block = world.read(&at, &mut buffer).unwrap().block.unwrap();
        let own = block.metadata.and_then(|m| m.block).filter(|item| *item != Item::Empty);
        own.map(|item| item.to_json(Dialect::Godot4))
    };
    assert_eq!(own(&large, [-1, -1, -2]), own(&world, [-2, -2, -4]));
    let mut buffer = Buffer::default();
    let save = open(&world);
    let source = World::only(&save).unwrap();
    let mut expected = 0;
    for lod in [0, 1] {
        for at in &source.index(lod).blocks {
            let block = source.read(at, &mut buffer).unwrap().block.unwrap();
            let item = block.metadata.and_then(|m| m.block).is_some_and(|item| item != Item::Empty);
            expected += u64::from(item && at.position.iter().any(|n| n.rem_euclid(2) != 0));
        }
    }
    let report = to_forest(&world, &size(32), &dir.path().join("again")).unwrap();
    assert_eq!(report.count(Kind::Metadata), expected);
}

#[test]
fn what_is_not_there_is_filled_and_listed() {
    let dir = tempdir().unwrap();
    let world = dir.path().join("world");
    let lods = vec![Extent { from: [-3, -2, 0], to: [2, 2, 2] }];
    demo::write_forest(&world, &ForestSpec { lods, ..ForestSpec::default() }, None).unwrap();
    let to = dir.path().join("large");
    let report = to_forest(&world, &Target { block_size: Some(32), ..Target::default() }, &to).unwrap();
    // Blocks -4 to -3 along x: the first of them is not there.
    assert_eq!(report.count(Kind::Filled), 2);
    let filled: Vec<_> = report.listed.iter().filter(|l| l.kind == Kind::Filled).map(|l| l.block).collect();
    assert_eq!(filled, [[-2, -1, 0], [-2, 0, 0]]);
    let (before, after) = (voxels(&world, 0).0, voxels(&to, 0).0);
    // The most common value of whole blocks outside of the ground.
    let save = open(&world);
    let source = World::only(&save).unwrap();
    let mut air = BTreeMap::new();
    let mut buffer = Buffer::default();
    for at in &source.index(0).blocks {
        let block = source.read(at, &mut buffer).unwrap().block.unwrap();
        let channel = &block.channels[SDF];
        if channel.storage == Storage::Uniform && (channel.value(0).unwrap() as u16).cast_signed() > 0 {
            *air.entry(channel.value(0).unwrap()).or_insert(0) += 1;
        }
    }
    let air = air.into_iter().max_by_key(|(_, n)| *n).map_or(32767, |(value, _)| value);
    let mut holes = 0;
    for (at, values) in &after {
        match before.get(at) {
            Some(old) => assert_eq!(values, old, "{at:?}"),
            None => {
                holes += 1;
                assert!(at[0] < -48, "{at:?}");
                assert_eq!((values[0], values[SDF], values[2]), (0, air, 0), "{at:?}");
            }
        }
    }
    assert_eq!(holes, 16 * 64 * 32);
}

/// What a person types: the file alone does not say how it is laid out.
#[test]
fn a_lone_old_region_file_is_converted_by_the_layout_that_is_given() {
    let golden = common::golden("godot_voxel_old");
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_voxscope")).args(arguments).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let dir = tempdir().unwrap();
    let name = "region_v2_block_v1";
    let truths = common::json_lines(&golden.join(format!("{name}.truth.jsonl")));
    let mut blocks = 0;
    for (i, file) in common::files_below(&golden.join(name).join("regions")).iter().enumerate() {
        let alone = dir.path().join(format!("{i}"));
        std::fs::create_dir(&alone).unwrap();
        let file_name = file.file_name().unwrap().to_str().unwrap();
        std::fs::copy(file, alone.join(file_name)).unwrap();
        let file = alone.join(file_name);
        let to = dir.path().join(format!("{i}-to"));
        let (from, out) = (file.to_str().unwrap(), to.to_str().unwrap());
        let (code, error) = run(&["convert", from, "--out", out]);
        assert!(code == Some(16) && error.contains("--from-block-size"), "{error}");
        let (code, error) = run(&["convert", from, "--out", out, "--from-block-size", "16"]);
        assert!(code == Some(16) && error.contains("--from-sector-size must be given together"), "{error}");
        let layout = ["--from-block-size", "16", "--from-region-size", "16", "--from-sector-size", "512"];
        let (code, error) = run(&[&["convert", from, "--out", out, "--block-size", "8"][..], &layout].concat());
        assert_eq!(code, Some(0), "{error}");
        let layout = ["--block-size", "16", "--region-size", "16", "--sector-size", "512"];
        let (code, error) = run(&[&["diff", from, out][..], &layout].concat());
        assert_eq!(code, Some(0), "{error}");
        assert_healthy(&to);
        // Eight blocks of the result are one that the game knew.
        let save = open(&to);
        let world = World::only(&save).unwrap();
        let index = world.index(0);
        assert_eq!(world.block_size(), Some(8));
        let known = truths.iter().filter(|truth| {
            let position = [0, 1, 2].map(|i| i32::try_from(truth["position"][i].as_i64().unwrap()).unwrap() * 2);
            index.find(position).is_some()
        });
        assert_eq!(known.count() * 8, index.blocks.len());
        blocks += index.blocks.len() / 8;
    }
    assert_eq!(blocks, truths.len());
}

#[test]
fn a_forest_of_blocks_that_the_engine_refuses_is_not_written() {
    let dir = tempdir().unwrap();
    let world = even(dir.path());
    let to = dir.path().join("to");
    let error = to_forest(&world, &Target { block_size: Some(256), ..Target::default() }, &to).unwrap_err();
    assert!(error.to_string().contains("the engine refuses"), "{error}");
    assert!(!to.exists());
}

/// A block with a region of its own has parts in eight of them: it is one block all the same.
#[test]
fn a_block_larger_than_a_region_of_the_result_is_told_of_once() {
    let dir = tempdir().unwrap();
    samples::write_some(dir.path(), &["damaged/block-epilogue"]);
    let damaged = dir.path().join("damaged/block-epilogue");
    let to = dir.path().join("to");
    let target = Target { block_size: Some(2), region_size: Some(4), ..Target::default() };
    let report = to_forest(&damaged, &target, &to).unwrap();
    assert_eq!((report.read, report.count(Kind::Damaged), report.written), (12, 1, 11 * 512));
}

/// Items of the application's own: after one nothing can stand, so a joined block has room for one only.
#[test]
fn items_of_the_application_are_kept_when_blocks_are_joined() {
    let dir = tempdir().unwrap();
    let (from, joined, back) = (dir.path().join("from"), dir.path().join("joined"), dir.path().join("back"));
    let format = Format { block_size_po2: 2, region_size: [4; 3], depths: [Depth::Bits8; 8], sector_size: 512 };
    let mut builder = Builder::new(Header::new(3, format));
    let voxels = |y: u16| {
        let item = |position, item| VoxelItem { position, item, span: Default::default() };
        vec![item([0, 3, 0], Item::Number(y.into())), item([3, 0, 3], Item::Custom { kind: 40, bytes: &[1, 2, 3] })]
    };
    for y in 0..2u16 {
        let data = [y as u8];
        let channel = Channel { depth: Depth::Bits8, storage: Storage::Uniform, data: &data, offset: 0, size: 1 };
        let metadata = Metadata {
            declared: 0,
            dialect: Dialect::Godot4,
            block: Some(Item::Empty),
            voxels: voxels(y),
            unread: (0, &[]),
        };
        let block =
            Block { version: 4, size: [4; 3], channels: vec![channel; 8], metadata: Some(metadata), epilogue: None };
        let (mut plain, mut packed) = (Vec::new(), Vec::new());
        block::encode(&block, &mut plain);
        container::encode(Mode::Lz4, &plain, &mut packed);
        let (_, slot) = slots::place_block([0, y.into(), 0], [4; 3], SlotFormula::Euclidean).unwrap();
        builder.push(slot, &packed).unwrap();
    }
    std::fs::create_dir_all(from.join("regions/lod0")).unwrap();
    let meta = Meta {
        version: Some(3),
        block_size_po2: Some(2),
        region_size_po2: Some(2),
        sector_size: Some(512),
        depths: Some([Depth::Bits8; 8]),
        ..Meta::default()
    };
    std::fs::write(from.join("meta.vxrm"), meta.encode()).unwrap();
    std::fs::write(from.join("regions/lod0/r.0.0.0.vxr"), builder.finish().unwrap()).unwrap();
    let report = to_forest(&from, &Target { block_size: Some(8), ..Target::default() }, &joined).unwrap();
    let listed: Vec<_> = report.listed.iter().filter(|l| l.kind == Kind::Metadata).collect();
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!((listed[0].block, listed[0].voxel), ([0, 1, 0], Some([3, 0, 3])));
    assert_eq!(listed[0].bytes.as_deref(), Some(&[40, 1, 2, 3][..]), "its bytes are kept");
    let items = |path: &Path| self::voxels(path, 0).1;
    // On the way back they are put in again, where the report is still there.
    let size = Target { block_size: Some(4), ..Target::default() };
    to_forest(&joined, &size, &dir.path().join("again")).unwrap();
    assert_eq!(items(&dir.path().join("again")), items(&from));
    std::fs::remove_file(joined.join("convert.json")).unwrap();
    to_forest(&joined, &size, &back).unwrap();
    let (before, after) = (items(&from), items(&back));
    assert_eq!((before.len(), after.len()), (4, 3));
    assert!(after.iter().all(|(at, item)| before[at] == *item));
    assert!(before.contains_key(&[3, 4, 3]) && !after.contains_key(&[3, 4, 3]));
}

#[test]
fn damaged_blocks_are_left_out_and_listed() {
    let dir = tempdir().unwrap();
    samples::write_some(dir.path(), &["damaged/block-epilogue"]);
    let damaged = dir.path().join("damaged/block-epilogue");
    for (name, block_size) in [("same", 16), ("small", 8), ("large", 32)] {
        let to = dir.path().join(name);
        let target = Target { block_size: Some(block_size), ..Target::default() };
        let report = to_forest(&damaged, &target, &to).unwrap();
        assert!(report.leaves_damage());
        let listed: Vec<_> = report.listed.iter().filter(|l| l.kind == Kind::Damaged).collect();
        assert_eq!(listed.len(), 1);
        assert_eq!((listed[0].block, listed[0].why.as_str()), ([1, 0, 0], "block-epilogue"));
        let json: Json = serde_json::from_slice(&std::fs::read(to.join("convert.json")).unwrap()).unwrap();
        assert_eq!(json["listed"].as_array().unwrap().len(), report.listed.len());
        assert_healthy(&to);
    }
}

#[test]
fn nothing_is_left_of_a_conversion_that_fails() {
    let dir = tempdir().unwrap();
    let world = even(dir.path());
    let before = common::files_below(dir.path());
    let to = dir.path().join("a");
    for (target, why) in [
        (Target { block_size: Some(24), ..Target::default() }, "power of two"),
        (Target { region_size: Some(1), ..Target::default() }, "region size"),
        (Target { sector_size: Some(0), ..Target::default() }, "sector size"),
    ] {
        let error = to_forest(&world, &target, &to).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    let error = to_forest(&world, &Target::default(), &world.join("a")).unwrap_err().to_string();
    assert!(error.contains("inside the save"), "{error}");
    let stop = std::sync::atomic::AtomicBool::new(true);
    let save = open(&world);
    let watch = Watch::default().cancel(&stop);
    assert!(convert::to_forest(&World::only(&save).unwrap(), &Target::default(), &to, &watch).is_err());
    assert_eq!(common::files_below(dir.path()), before);
}

#[test]
fn sectors_grow_when_a_block_needs_it_and_are_kept_when_they_are_given() {
    let dir = tempdir().unwrap();
    let world = even(dir.path());
    let to = dir.path().join("a");
    let plain = Target { mode: Mode::Plain, ..Target::default() };
    // Blocks of 16 voxels need more than 255 sectors of this size.
    let small = Target { sector_size: Some(16), ..plain };
    let error = to_forest(&world, &small, &to).unwrap_err();
    assert!(error.to_string().contains("sector size of 16 bytes is too small"), "{error}");
    let sixteen = dir.path().join("b");
    to_forest(&world, &Target { sector_size: Some(16), block_size: Some(4), ..plain }, &sixteen).unwrap();
    let back = dir.path().join("c");
    let report = to_forest(&sixteen, &Target { block_size: Some(16), ..plain }, &back).unwrap();
    assert_eq!(report.count(Kind::TooLarge), 0);
    assert!(open(&back).forests[0].meta.as_ref().unwrap().sector_size > Some(16));
    assert_same(&world, &back);
}
