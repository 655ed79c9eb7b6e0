//! The files that the engine wrote, against what the engine itself says is in them.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;

use crate::common;
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use voxscope::bytes::index;
use voxscope::check;
use voxscope::damage::{Code, Damage, Level};
use voxscope::godot::block::{self, Block};
use voxscope::godot::channel::{self, CHANNELS, Channel, SDF, Storage};
use voxscope::godot::container::Mode;
use voxscope::godot::forest::Meta;
use voxscope::godot::metadata::Item;
use voxscope::godot::region::Builder;
use voxscope::godot::slots::SlotFormula;
use voxscope::godot::variant::{Dialect, Variant};
use voxscope::save::{Blob, Kind, Options, Save, Scratch, StreamScratch};
use voxscope::source::Source;

/// What is known of a save without looking into it.
#[derive(Clone, Copy)]
struct Known {
    name: &'static str,
    region_version: u8,
    block_version: u8,
    mode: Mode,
}

const fn new(name: &'static str, mode: Mode) -> Known {
    Known { name, region_version: 3, block_version: 4, mode }
}

const fn old(name: &'static str, region_version: u8, block_version: u8, mode: Mode) -> Known {
    Known { name, region_version, block_version, mode }
}

/// `godot_voxel/`: Godot 4.6.3. Compression was the stream's setting.
const NEW: [Known; 9] = [
    new("forest_block32", Mode::Lz4),
    new("forest_depths", Mode::Lz4),
    new("forest_lz4", Mode::Lz4),
    new("forest_metadata", Mode::Lz4),
    new("forest_rewritten", Mode::Lz4),
    new("forest_sdf64", Mode::Lz4),
    new("forest_sdf8", Mode::Lz4),
    new("forest_uncompressed", Mode::Plain),
    new("forest_zstd", Mode::Zstd),
];

/// `godot_voxel_old/`: Godot 3.2.3.
const OLD: [Known; 7] = [
    old("region_v2_block_v1", 2, 1, Mode::Headerless),
    old("region_v2_block_v1_plain", 2, 1, Mode::Headerless),
    old("region_v3_block_v1", 3, 1, Mode::Headerless),
    old("region_v3_block_v1_depths", 3, 1, Mode::Headerless),
    old("region_v3_block_v2", 3, 2, Mode::Lz4BigEndian),
    old("region_v3_block_v2_headerless", 3, 2, Mode::Headerless),
    old("region_v3_block_v2_plain", 3, 2, Mode::Lz4BigEndian),
];

type Place = (u8, [i32; 3]);

/// The lines of a truth file about one save, by LOD and position.
fn truths(lines: &[Json], save: &str) -> BTreeMap<Place, Json> {
    let mine = lines.iter().filter(|line| line["save"] == save);
    let truths: BTreeMap<Place, Json> = mine
        .map(|line| {
            let position = [0, 1, 2].map(|i| i32::try_from(line["position"][i].as_i64().unwrap()).unwrap());
            ((u8::try_from(line["lod"].as_u64().unwrap()).unwrap(), position), line.clone())
        })
        .collect();
    assert!(!truths.is_empty(), "{save}: the truth says nothing of it");
    truths
}

/// Damage that no file of a healthy save may have. Godot 3 left what was in memory in the padding of node paths, which
/// is a note; no golden file departs from the format by more.
fn grave(damage: &[Damage]) -> Vec<&Damage> {
    damage.iter().filter(|d| d.code.level() > Level::Note).collect()
}

fn open(dir: &Path) -> Save {
    let save = Save::open(dir, &Options::default()).unwrap_or_else(|e| panic!("{e}"));
    let faults: Vec<_> = save.faults.iter().filter(|f| f.damage.code.level() > Level::Note).collect();
    assert!(faults.is_empty(), "{faults:?}");
    assert_eq!(save.forests.len(), 1);
    assert_eq!(save.forests[0].kind, Kind::Forest);
    save
}

/// Calls `each` with every block of a save; says how many there were.
fn every_block(save: &Save, known: Known, mut each: impl FnMut(Place, &[u8], &Block<'_>, SlotFormula)) -> usize {
    let mut scratch = Scratch::default();
    let mut count = 0;
    for (forest, file) in save.regions() {
        let what = format!("{} {}", known.name, file.name.display());
        assert!(grave(&file.damage).is_empty(), "{what}: {:?}", file.damage);
        let mut region = save.region(forest, file).unwrap().expect("a header");
        assert_eq!(region.header.version, known.region_version, "{what}");
        assert!(region.damage.is_empty(), "{what}: {:?}", region.damage);
        let slots = region.slots(&mut scratch).unwrap();
        for listed in region.entries.clone() {
            let position = region.block_position(listed.slot, slots).expect("a position");
            let view = region.view(listed.entry, &mut scratch).unwrap();
            let container = view.container.expect("a container");
            assert_eq!(container.mode, Some(known.mode), "{what} {position:?}");
            assert!(container.whole, "{what} {position:?}");
            each((file.lod, position), container.plain, &view.block.expect("a block"), slots);
            assert!(grave(&scratch.damage).is_empty(), "{what} {position:?}: {:?}", scratch.damage);
            for damage in &scratch.damage {
                assert_eq!(damage.code, Code::VariantPadding, "{what} {position:?}");
            }
            count += 1;
        }
    }
    count
}

/// Compares every block of a save with its truth, and the places of the blocks with those of the truth.
fn compare(dir: &Path, lines: &[Json], known: Known) {
    let truths = truths(lines, known.name);
    let save = open(&dir.join(known.name));
    let mut seen = HashSet::new();
    let count = every_block(&save, known, |place, _, block, slots| {
        let what = format!("{} {place:?}", known.name);
        let truth = truths.get(&place).unwrap_or_else(|| panic!("{what}: the truth has no such block"));
        assert!(seen.insert(place), "{what}: twice");
        assert_eq!(block.version, known.block_version, "{what}");
        // Only regions with a negative coordinate are asked; the others have one formula.
        if known.block_version < 4 && place.1.iter().any(|&n| n < 0) {
            assert_eq!(slots, SlotFormula::Legacy, "{what}");
        }
        compare_block(&what, block, truth);
    });
    assert_eq!(count, truths.len(), "{}: blocks", known.name);
    assert_eq!(seen, truths.keys().copied().collect(), "{}: places", known.name);
}

fn compare_block(what: &str, block: &Block<'_>, truth: &Json) {
    let size = [0, 1, 2].map(|i| truth["size"][i].as_u64().unwrap());
    assert_eq!(block.size.map(u64::from), size, "{what}");
    assert!(block.epilogue.is_some(), "{what}");
    let channels = truth["channels"].as_array().unwrap();
    assert_eq!((block.channels.len(), channels.len()), (CHANNELS, CHANNELS), "{what}");
    for (i, (channel, truth)) in block.channels.iter().zip(channels).enumerate() {
        compare_channel(&format!("{what} channel {i}"), block, i, channel, truth);
    }
    if truth.get("block_metadata").is_some() {
        compare_metadata_4(what, block, truth);
    } else {
        compare_metadata_3(what, block, &truth["metadata_written"]);
    }
}

fn compare_channel(what: &str, block: &Block<'_>, i: usize, channel: &Channel<'_>, truth: &Json) {
    // Godot's integers are signed: the upper half of 64 bits is written as negative.
    let number = |json: &Json| {
        let text = json.as_str().expect("a number as text");
        text.parse::<u64>().or_else(|_| text.parse::<i64>().map(i64::cast_unsigned)).expect("a number")
    };
    assert!(channel.is_whole(), "{what}");
    assert_eq!(u64::from(channel.depth.bits()), truth["depth_bits"].as_u64().unwrap(), "{what}");
    if truth["uniform"].as_bool().unwrap() {
        assert_eq!(channel.storage, Storage::Uniform, "{what}");
        let value = number(&truth["value"]);
        assert_eq!(channel.value(0), Some(value), "{what}");
        assert_eq!(block.voxel(i, block.size.map(|n| n - 1)), Some(value), "{what}");
    } else {
        assert_eq!(channel.storage, Storage::Raw, "{what}");
        let mut compared = 0;
        if let Some(sha256) = truth["sha256"].as_str() {
            let hex = Sha256::digest(channel.data).iter().fold(String::new(), |mut hex, byte| {
                write!(hex, "{byte:02x}").unwrap();
                hex
            });
            assert_eq!(hex, sha256, "{what}");
            assert_eq!(channel.size, truth["bytes"].as_u64().unwrap(), "{what}");
            compared += 1;
        }
        if let Some(hash) = truth["hash31_zxy"].as_u64() {
            let of_low = |h: u64, value: u64| h.wrapping_mul(31).wrapping_add(value) & 0xffff_ffff;
            assert_eq!(channel.values().fold(0, of_low), hash, "{what}");
            compared += 1;
        }
        assert_eq!(compared, 1, "{what}: the truth has one hash");
        let samples = truth["samples"].as_array().unwrap();
        assert!(samples.len() >= 6, "{what}");
        for sample in samples {
            let position = [0, 1, 2].map(|k| u16::try_from(sample[k].as_u64().unwrap()).unwrap());
            assert_eq!(block.voxel(i, position), Some(number(&sample[3])), "{what} {position:?}");
        }
    }
    if let Some(sdf) = truth.get("sdf_at_0_0_0") {
        assert_eq!(i, SDF);
        let sdf = sdf.as_f64().unwrap();
        let ours = channel::sdf(block.version, channel.depth, block.voxel(SDF, [0; 3]).unwrap());
        // The engine reckons in 32 bits, rounding twice, and Godot 4 wrote a denormal number as 0; Godot 3 wrote six
        // digits.
        let digits = if block.version < 4 { 1e-5 } else { 2.0 * f64::from(f32::EPSILON) };
        let allowed = (digits * sdf.abs()).max(f64::from(f32::MIN_POSITIVE));
        assert!((ours - sdf).abs() <= allowed, "{what}: {ours}, the engine says {sdf}");
    }
}

fn text(item: &Item<'_>, dialect: Dialect) -> String {
    match item {
        Item::Empty => Variant::Nil.text(dialect),
        Item::Variant(variant) => variant.text(dialect),
        other => panic!("{other:?}: no golden block holds one"),
    }
}

/// The voxels' items as the truth has them: by position as text, each as the engine's text.
fn voxel_texts(block: &Block<'_>) -> BTreeMap<String, String> {
    let Some(metadata) = &block.metadata else { return BTreeMap::new() };
    let texts: BTreeMap<String, String> = metadata
        .voxels
        .iter()
        .map(|voxel| {
            let [x, y, z] = voxel.position;
            (format!("{x},{y},{z}"), text(&voxel.item, metadata.dialect))
        })
        .collect();
    assert_eq!(texts.len(), metadata.voxels.len(), "no position twice");
    assert!(metadata.unread.1.is_empty());
    texts
}

fn texts_of(json: &Json) -> BTreeMap<String, String> {
    let object = json.as_object().expect("an object");
    object.iter().map(|(k, v)| (k.clone(), v.as_str().expect("text").to_owned())).collect()
}

/// Godot 4: what the engine holds after loading.
fn compare_metadata_4(what: &str, block: &Block<'_>, truth: &Json) {
    assert!(block.metadata.iter().all(|m| m.dialect == Dialect::Godot4), "{what}");
    let own = block.metadata.as_ref().and_then(|m| m.block.as_ref());
    let own = own.map_or_else(|| "null".to_owned(), |item| text(item, Dialect::Godot4));
    assert_eq!(own, truth["block_metadata"].as_str().unwrap(), "{what}");
    assert_eq!(voxel_texts(block), texts_of(&truth["voxel_metadata"]), "{what}");
}

/// Godot 3: what the game set. No float in it has more than six digits, so that the texts must be equal.
fn compare_metadata_3(what: &str, block: &Block<'_>, written: &Json) {
    if written.is_null() {
        assert_eq!(block.metadata, None, "{what}");
        return;
    }
    let metadata = block.metadata.as_ref().unwrap_or_else(|| panic!("{what}: no metadata"));
    assert_eq!(metadata.dialect, Dialect::Godot3, "{what}");
    let own = metadata.block.as_ref().unwrap_or_else(|| panic!("{what}: no item of the block"));
    assert_eq!(text(own, Dialect::Godot3), written["block"].as_str().unwrap(), "{what}");
    // To set null is to remove a voxel's metadata: the game did so in three blocks, and nothing was written for it.
    let mut voxels = texts_of(&written["voxels"]);
    voxels.retain(|_, text| text != "null");
    assert_eq!(voxel_texts(block), voxels, "{what}");
}

/// The saves of a directory, and that the list above has them all.
fn all_saves<'k>(dir: &Path, known: &'k [Known]) -> &'k [Known] {
    let names = common::directories(dir);
    let names: Vec<_> = names.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, known.iter().map(|k| k.name).collect::<Vec<_>>());
    known
}

fn both() -> Vec<(std::path::PathBuf, Known)> {
    let mut all = Vec::new();
    for (name, known) in [("godot_voxel", &NEW[..]), ("godot_voxel_old", &OLD)] {
        let dir = common::golden(name);
        all.extend(all_saves(&dir, known).iter().map(|k| (dir.join(k.name), *k)));
    }
    all
}

#[test]
fn blocks_of_godot_4_are_what_the_engine_says() {
    let dir = common::golden("godot_voxel");
    let lines = common::json_lines(&dir.join("truth.jsonl"));
    for known in all_saves(&dir, &NEW) {
        compare(&dir, &lines, *known);
    }
    let names: HashSet<_> = NEW.iter().map(|known| known.name).collect();
    assert!(lines.iter().all(|line| names.contains(line["save"].as_str().unwrap())));
}

#[test]
fn blocks_of_godot_3_are_what_the_game_wrote() {
    let dir = common::golden("godot_voxel_old");
    for known in all_saves(&dir, &OLD) {
        let lines = common::json_lines(&dir.join(format!("{}.truth.jsonl", known.name)));
        compare(&dir, &lines, *known);
    }
}

#[test]
fn every_block_is_encoded_to_the_bytes_it_was_read_from() {
    for (dir, known) in both() {
        let mut out = Vec::new();
        let count = every_block(&open(&dir), known, |place, plain, block, _| {
            out.clear();
            block::encode(block, &mut out);
            assert!(out == plain, "{} {place:?}", known.name);
        });
        assert!(count > 0, "{}", known.name);
    }
}

#[test]
fn every_meta_file_is_encoded_to_the_bytes_it_was_read_from() {
    for (dir, known) in both() {
        let data = std::fs::read(dir.join("meta.vxrm")).unwrap();
        let mut damage = Vec::new();
        let meta = Meta::decode(&data).report_to(&mut damage).expect("a meta file");
        assert_eq!(damage, [], "{}", known.name);
        assert_eq!(String::from_utf8(meta.encode()), String::from_utf8(data), "{}", known.name);
        // Version 2 has the depths too, whatever the page says, and the engine of Godot 4 writes no LOD count.
        assert_eq!(meta.version, Some(known.region_version), "{}", known.name);
        assert_eq!(meta.lod_count, (known.block_version < 4).then_some(1), "{}", known.name);
        assert!(meta.depths.is_some(), "{}", known.name);
    }
}

#[test]
fn every_region_is_built_to_the_bytes_that_the_engine_wrote() {
    for (dir, known) in both() {
        let save = open(&dir);
        for (forest, file) in save.regions() {
            let what = format!("{} {}", known.name, file.name.display());
            let region = save.region(forest, file).unwrap().expect("a header");
            let original = std::fs::read(forest.dir.join(&file.name)).unwrap();
            assert_eq!(region.source.len(), original.len() as u64);
            // Blocks in the order of their sectors: the engine leaves no hole between them.
            let mut builder = Builder::new(region.header.clone());
            let mut stored = Vec::new();
            for listed in region.by_sector() {
                let at = index(region.span(listed.entry).start);
                let size = u32::from_le_bytes(original[at..at + 4].try_into().unwrap()) as usize;
                stored.push(at..at + 4 + size);
                assert_eq!(builder.push(listed.slot, &original[at + 4..][..size]), Some(listed.entry), "{what}");
            }
            let built = builder.finish().unwrap();
            let head = index(region.header.sectors_at());
            assert!(built[..head] == original[..head], "{what}: header and table");
            for range in stored {
                assert!(built[range.clone()] == original[range.clone()], "{what}: {range:?}");
            }
        }
    }
}

/// Opens a stream and gives what is wrong with it above a note, which must be nothing.
fn assert_healthy(save: &Save) {
    let mut findings = Vec::new();
    let summary = check::run(save, &check::Options::default(), |finding| findings.push(finding.to_string()));
    assert_eq!((summary.counts.errors, summary.counts.warnings), (0, 0), "{findings:?}");
}

#[test]
fn streams_of_all_formats_of_keys_hold_what_the_engine_says() {
    let dir = common::golden("godot_voxel_sqlite");
    let lines = common::json_lines(&dir.join("truth.jsonl"));
    let all = Save::open(&dir, &Options::default()).unwrap();
    assert_eq!(all.streams.len(), 4);
    assert_healthy(&all);
    for (format, file) in all.streams.iter().enumerate() {
        let name = file.path.file_name().unwrap().to_str().unwrap();
        let truths = truths(&lines, name);
        let stream = all.stream(file, &mut Vec::new()).unwrap().unwrap();
        assert_eq!(stream.damage, [], "{name}");
        assert_eq!((stream.meta.version, stream.meta.block_size()), (Some(1), Some(16)), "{name}");
        assert_eq!(stream.format.map(|format| usize::from(format.code())), Some(format), "{name}");
        let places: Vec<Place> = stream.rows.iter().filter_map(|row| row.place).map(|p| (p.lod, p.position)).collect();
        assert_eq!(places, truths.keys().copied().collect::<Vec<_>>(), "{name}: places, in order");
        let mut scratch = StreamScratch::default();
        for (row, (place, truth)) in stream.rows.iter().zip(&truths) {
            let view = stream.view(&row, &mut scratch).unwrap();
            assert_eq!(view.damage, [], "{name} {place:?}");
            compare_block(&format!("{name} {place:?}"), &view.block.unwrap(), truth);
            assert_eq!(row.instances, Blob::Null);
        }
    }
}

#[test]
fn instances_are_read_and_written_as_the_engine_does() {
    let dir = common::golden("instances");
    let save = Save::open(&dir.join("instances.sqlite"), &Options::default()).unwrap();
    assert_healthy(&save);
    let stream = save.stream(&save.streams[0], &mut Vec::new()).unwrap().unwrap();
    assert_eq!(stream.rows.len(), 14);
    let mut scratch = StreamScratch::default();
    let mut layers = Vec::new();
    let (mut with, mut without) = (0, 0);
    for row in &stream.rows {
        stream.fetch(&row, &mut scratch).unwrap();
        let stored = stream.instance_bytes(&scratch).map(<[u8]>::to_vec);
        let view = stream.instances(&mut scratch);
        assert_eq!(view.damage, []);
        let Some(instances) = view.instances else {
            assert_eq!((row.instances, stored), (Blob::Null, None));
            without += 1;
            continue;
        };
        with += 1;
        let plain = view.container.unwrap().plain;
        let mut out = Vec::new();
        instances.encode(&mut out);
        assert_eq!(out, plain);
        for layer in &instances.layers {
            let place = row.place.unwrap();
            layers.push((place.lod, place.position, layer.id, layer.instances().len()));
            assert_eq!((layer.scale_min, layer.scale_max, instances.position_range), (1.5, 3.0, 32.0));
            for instance in layer.instances() {
                let inside = |v: f32| (0.0..=32.0).contains(&v);
                assert!(instance.position(32.0).into_iter().all(inside));
                assert!((1.5..=3.0).contains(&instance.scale(1.5, 3.0)));
                let length: f32 = instance.rotation().iter().map(|v| v * v).sum();
                assert!((length - 1.0).abs() < 1e-5);
            }
        }
    }
    assert_eq!(layers, [(1, [0, -1, 0], 7, 178)]);
    assert_eq!((with, without), (10, 4));
}

/// Each file is that of the full set, and each line of a truth file tells of a block what the full set tells.
#[test]
fn the_committed_files_are_those_of_the_engine() {
    let committed = common::committed();
    let files = common::files_below(&committed);
    let bytes: u64 = files.iter().map(|path| path.metadata().unwrap().len()).sum();
    assert!((1_500_000..2_000_000).contains(&bytes), "{bytes} bytes");
    let Some(full) = common::full_set() else { return };
    for path in files.iter().filter(|path| !path.ends_with("README.md")) {
        let whole = full.join(path.strip_prefix(&committed).unwrap());
        if path.extension().is_some_and(|e| e == "jsonl") {
            let mut all = common::json_lines(&whole).into_iter();
            for line in common::json_lines(path) {
                assert!(all.any(|other| tells(&other, &line)), "{}: {line}", path.display());
            }
        } else {
            assert!(std::fs::read(path).unwrap() == std::fs::read(whole).unwrap(), "{}", path.display());
        }
    }
}

/// Whether everything that one says is in the other.
fn tells(whole: &Json, part: &Json) -> bool {
    match (whole, part) {
        (Json::Object(whole), Json::Object(part)) => {
            part.iter().all(|(key, part)| whole.get(key).is_some_and(|whole| tells(whole, part)))
        }
        (Json::Array(whole), Json::Array(part)) => {
            whole.len() == part.len() && whole.iter().zip(part).all(|(whole, part)| tells(whole, part))
        }
        _ => whole == part,
    }
}
