//! What is exported is what the engine says is there.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::common::npy::Array;
use crate::common::{self, samples};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use tempfile::tempdir;
use voxscope::demo::{self, Extent, ForestSpec};
use voxscope::export::voxels::{self, Error, Request, Summary, Which};
use voxscope::export::{self, Coloring, Slice};
use voxscope::godot::channel::{NAMES, SDF, sdf};
use voxscope::picture::palette::Palette;
use voxscope::save::{self, Save};
use voxscope::watch::Watch;
use voxscope::world::{Buffer, World};

fn request(which: Which) -> Request {
    Request {
        lod: 0,
        which,
        channels: Vec::new(),
        fill: 0,
        distances: false,
        sync: false,
        large: false,
        unpack: false,
        names: Palette::default(),
    }
}

fn export(dir: &Path, request: &Request, to: &Path) -> Result<Summary, Error> {
    let save = Save::open(dir, &save::Options::default()).unwrap();
    let world = World::only(&save).unwrap();
    voxels::export(&world, request, to, &Watch::default())
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

/// The voxels of the golden saves, save by save: its path and a line of the truth for each block.
fn truths() -> Vec<(PathBuf, Vec<Json>)> {
    let mut files = ["godot_voxel", "godot_voxel_sqlite"].map(|name| common::golden(name).join("truth.jsonl")).to_vec();
    let old = std::fs::read_dir(common::golden("godot_voxel_old")).unwrap().map(|entry| entry.unwrap().path());
    files.extend(old.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl")));
    let mut saves: BTreeMap<PathBuf, Vec<Json>> = BTreeMap::new();
    for file in files {
        for line in common::json_lines(&file) {
            saves.entry(file.with_file_name(line["save"].as_str().unwrap())).or_default().push(line);
        }
    }
    saves.into_iter().collect()
}

#[test]
fn arrays_of_blocks_are_what_the_engine_says() {
    let saves = truths();
    assert_eq!(saves.len(), 20, "nine forests of today, four streams, seven forests of old");
    let out = tempdir().unwrap();
    let mut compared = 0;
    for (dir, lines) in &saves {
        let save = Save::open(dir, &save::Options::default()).unwrap();
        let world = World::only(&save).unwrap();
        let name = dir.file_name().unwrap().to_str().unwrap();
        for (i, truth) in lines.iter().enumerate() {
            let position = [0, 1, 2].map(|k| i32::try_from(truth["position"][k].as_i64().unwrap()).unwrap());
            let lod = u8::try_from(truth["lod"].as_u64().unwrap()).unwrap();
            let to = out.path().join(format!("{name}-{i}"));
            let request = Request { lod, ..request(Which::Block(position)) };
            let summary = voxels::export(&world, &request, &to, &Watch::default()).unwrap();
            assert_eq!((summary.blocks, summary.holes, summary.damaged.len()), (1, 0, 0));
            for (channel, truth) in NAMES.iter().zip(truth["channels"].as_array().unwrap()) {
                let written = summary.arrays.iter().find(|a| a.channel == *channel).unwrap();
                if truth["uniform"] == true {
                    let value = truth["value"].as_str().unwrap();
                    let value = value.parse::<u64>().unwrap_or_else(|_| value.parse::<i64>().unwrap().cast_unsigned());
                    assert_eq!(written.uniform, Some(value.to_string()), "{name} {position:?} {channel}");
                    continue;
                }
                let array = Array::read(&to.join(written.file.as_ref().unwrap()));
                let size = [0, 1, 2].map(|k| lines[i]["size"][k].as_u64().unwrap() as usize);
                assert_eq!(array.shape, [size[2], size[0], size[1]]);
                if let Some(hash) = truth["sha256"].as_str() {
                    assert_eq!(sha256(&array.data), hash, "{name} {position:?} {channel}");
                } else {
                    let add = |hash: u64, value: u64| hash.wrapping_mul(31).wrapping_add(value) & 0xffff_ffff;
                    let hash = array.values().fold(0, add);
                    assert_eq!(Some(hash), truth["hash31_zxy"].as_u64(), "{name} {position:?} {channel}");
                }
                compared += 1;
            }
            if truth.get("block_metadata").is_some() {
                let voxels = truth["voxel_metadata"].as_object().unwrap();
                let metadata = truth["block_metadata"] != "null" || !voxels.is_empty();
                assert_eq!(to.join("metadata.jsonl").is_file(), metadata, "{truth}");
            }
        }
    }
    assert!(compared > 200, "{compared}");
}

/// A forest of five blocks along x and two along y, in three layers of z, whose middle layer is not there.
fn holed(dir: &Path) {
    let spec = |from, to| ForestSpec { lods: vec![Extent { from, to }], region_size_po2: 1, ..ForestSpec::default() };
    demo::write_forest(dir, &spec([-2, 0, -2], [3, 2, -1]), None).unwrap();
    let other = tempdir().unwrap();
    demo::write_forest(&other.path().join("b"), &spec([-2, 0, 0], [3, 2, 1]), None).unwrap();
    for name in std::fs::read_dir(other.path().join("b/regions/lod0")).unwrap().map(|e| e.unwrap().path()) {
        std::fs::copy(&name, dir.join("regions/lod0").join(name.file_name().unwrap())).unwrap();
    }
}

#[test]
fn a_box_has_every_voxel_in_its_place_and_the_fill_value_elsewhere() {
    let out = tempdir().unwrap();
    let dir = out.path().join("world");
    holed(&dir);
    let save = Save::open(&dir, &save::Options::default()).unwrap();
    let world = World::only(&save).unwrap();
    let index = world.index(0);
    assert_eq!(index.blocks.len(), 20);
    let area = [[-35, 3, -40], [41, 30, 9]];
    for (name, which, fill) in [("box", Which::Box(area), 7), ("all", Which::All, 0)] {
        let to = out.path().join(name);
        let request = Request { fill, channels: vec![0, SDF], ..request(which) };
        let summary = voxels::export(&world, &request, &to, &Watch::default()).unwrap();
        let [low, high] = summary.area;
        if which == Which::All {
            assert_eq!(summary.area, [[-32, 0, -32], [48, 32, 16]]);
            assert_eq!((summary.blocks, summary.holes), (20, 10));
        }
        let arrays = ["TYPE", "SDF"].map(|name| Array::read(&to.join(format!("{name}.npy"))));
        assert_eq!(arrays[0].shape, [2, 0, 1].map(|i| (high[i] - low[i]) as usize));
        let mut buffer = Buffer::default();
        let (mut holes, mut last) = (0, None);
        let mut block_voxels: Vec<Vec<u64>> = Vec::new();
        for z in low[2]..high[2] {
            for x in low[0]..high[0] {
                for y in low[1]..high[1] {
                    let voxel = [x, y, z];
                    let position = voxel.map(|n| i32::try_from(n.div_euclid(16)).unwrap());
                    if last != Some(position) {
                        last = Some(position);
                        block_voxels.clear();
                        if let Some(at) = index.find(position) {
                            let view = world.read(at, &mut buffer).unwrap();
                            let block = view.block.unwrap();
                            let all = |c: usize| (0..4096).map(|i| block.channels[c].value(i).unwrap()).collect();
                            block_voxels = vec![all(0), all(SDF)];
                        }
                    }
                    let inside = voxel.map(|n| n.rem_euclid(16) as usize);
                    let at = [z - low[2], x - low[0], y - low[1]].map(|n| n as usize);
                    for (i, array) in arrays.iter().enumerate() {
                        let expected = block_voxels.get(i).map(|v| v[inside[1] + 16 * (inside[0] + 16 * inside[2])]);
                        assert_eq!(array.at(at), expected.unwrap_or(fill), "{name} {voxel:?} {i}");
                        holes += usize::from(expected.is_none());
                    }
                }
            }
        }
        assert!(holes > 0);
    }
}

#[test]
fn distances_are_those_that_the_engine_reads() {
    let golden = common::golden("godot_voxel");
    let dir = golden.join("forest_sdf8");
    let out = tempdir().unwrap();
    let save = Save::open(&dir, &save::Options::default()).unwrap();
    let world = World::only(&save).unwrap();
    let at = world.index(0).blocks[0];
    let to = out.path().join("a");
    let request = Request { distances: true, channels: vec![SDF], ..request(Which::Block(at.position)) };
    voxels::export(&world, &request, &to, &Watch::default()).unwrap();
    let array = Array::read(&to.join("SDF.npy"));
    assert_eq!(array.descr, "<f4");
    let mut buffer = Buffer::default();
    let block = world.read(&at, &mut buffer).unwrap().block.unwrap();
    for (i, bytes) in array.data.as_chunks::<4>().0.iter().enumerate() {
        let channel = &block.channels[SDF];
        let expected = sdf(block.version, channel.depth, channel.value(i).unwrap());
        assert_eq!(f32::from_le_bytes(*bytes), expected as f32);
    }
}

#[test]
fn nothing_is_left_of_an_export_that_fails() {
    let out = tempdir().unwrap();
    let dir = out.path().join("world");
    holed(&dir);
    let to = out.path().join("a");
    let before = common::files_below(out.path());
    for (request, why) in [
        (request(Which::Block([99, 0, 0])), "not in any table"),
        (Request { lod: 3, ..request(Which::All) }, "no block in LOD 3"),
        (request(Which::Box([[0; 3], [1 << 20; 3]])), "too many voxels"),
        (request(Which::Box([[0; 3], [0, 1, 1]])), "empty"),
        (Request { fill: 256, ..request(Which::All) }, "does not fit channel COLOR"),
    ] {
        let error = export(&dir, &request, &to).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    let inside = dir.join("a");
    assert!(export(&dir, &request(Which::All), &inside).unwrap_err().to_string().contains("inside the save"));
    assert_eq!(common::files_below(out.path()), before);
}

#[test]
fn a_damaged_block_is_named_and_the_others_are_exported() {
    let out = tempdir().unwrap();
    samples::write_some(out.path(), &["damaged/block-epilogue"]);
    let dir = out.path().join("damaged/block-epilogue");
    let summary = export(&dir, &request(Which::All), &out.path().join("a")).unwrap();
    assert_eq!(summary.damaged.len(), 1);
    assert_eq!(summary.damaged[0].why, "block-epilogue");
    let report: Json = serde_json::from_slice(&std::fs::read(out.path().join("a/export.json")).unwrap()).unwrap();
    assert_eq!(report["damaged"][0]["block"], serde_json::json!([1, 0, 0]));
    assert_eq!(report["blocks"], 12);
}

fn picture(path: &Path) -> (u32, u32, Vec<u8>) {
    let bytes = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(bytes).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    pixels.truncate(info.buffer_size());
    (info.width, info.height, pixels)
}

#[test]
fn a_slice_has_a_pixel_for_each_voxel() {
    let out = tempdir().unwrap();
    let dir = out.path().join("world");
    holed(&dir);
    let save = Save::open(&dir, &save::Options::default()).unwrap();
    let world = World::only(&save).unwrap();
    let all = request(Which::All);
    voxels::export(&world, &Request { channels: vec![0], ..all }, &out.path().join("a"), &Watch::default()).unwrap();
    let array = Array::read(&out.path().join("a/TYPE.npy"));
    let slice = |axis, at, look| Slice { lod: 0, axis, at, which: Which::All, channel: 0, look };
    for (axis, at) in [(1, 9), (0, -20), (2, 5)] {
        let path = out.path().join(format!("{axis}.png"));
        let export::Picture { size, .. } =
            export::slice(&world, &slice(axis, at, Coloring::Palette), &path, &Watch::default()).unwrap();
        let (width, height, pixels) = picture(&path);
        assert_eq!([width, height], size);
        assert_eq!([width, height], [[48, 32], [80, 48], [80, 32]][axis]);
        let mut colours = std::collections::HashMap::new();
        for v in 0..height as usize {
            for u in 0..width as usize {
                let up = height as usize - 1 - v;
                // In the array: z from -32, x from -32, y from 0.
                let (zxy, hole) = match axis {
                    1 => ([v, u, 9], (16..32).contains(&v)),
                    0 => ([u, 12, up], (16..32).contains(&u)),
                    _ => ([37, u, up], false),
                };
                let rgba: [u8; 4] = pixels[(v * width as usize + u) * 4..][..4].try_into().unwrap();
                assert_eq!(rgba[3] == 0, hole, "{axis} {u} {v}");
                if !hole {
                    assert_eq!(*colours.entry(array.at(zxy)).or_insert(rgba), rgba, "one colour for a value");
                }
            }
        }
        let different: std::collections::HashSet<_> = colours.values().collect();
        assert_eq!(different.len(), colours.len());
    }
    let error = export::slice(&world, &slice(1, 99, Coloring::Scale), &out.path().join("b.png"), &Watch::default())
        .unwrap_err();
    assert!(error.to_string().contains("y=99"), "{error}");
    assert!(
        export::slice(&world, &slice(1, 9, Coloring::Scale), &out.path().join("1.png"), &Watch::default()).is_err(),
        "written over"
    );
}

#[test]
fn a_table_has_every_block_whatever_its_form() {
    let out = tempdir().unwrap();
    samples::write_some(out.path(), &["damaged/block-epilogue"]);
    let dir = out.path().join("damaged/block-epilogue");
    let save = Save::open(&dir, &save::Options::default()).unwrap();
    let table = |name: &str| export::table(&save, &out.path().join(name), &Palette::default(), &Watch::default());
    let (rows, faults) = table("a.csv").unwrap();
    assert_eq!((rows, faults.len()), (12, 0));
    assert_eq!(std::fs::read_to_string(out.path().join("a.csv")).unwrap().lines().count(), 13);
    table("a.jsonl").unwrap();
    assert_eq!(common::json_lines(&out.path().join("a.jsonl")).len(), 12);
    assert!(table("a.txt").unwrap_err().to_string().contains(".csv"));
    assert!(table("a.csv").is_err(), "written over");
    #[cfg(feature = "sqlite")]
    {
        table("a.sqlite").unwrap();
        let database = rusqlite::Connection::open(out.path().join("a.sqlite")).unwrap();
        let sql = "SELECT x, y, z, code FROM blocks JOIN findings ON block = id WHERE level = 'error'";
        let found: (i32, i32, i32, String) =
            database.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))).unwrap();
        assert_eq!(found, (1, 0, 0, "block-epilogue".to_owned()));
        let count: i64 = database.query_row("SELECT count(*) FROM blocks", [], |row| row.get(0)).unwrap();
        assert_eq!(count, 12);
    }
}

#[test]
fn a_layer_has_its_flags_and_depths_cell_by_cell() {
    let out = tempdir().unwrap();
    samples::write_some(out.path(), &["healthy"]);
    let mut dirs: Vec<_> =
        ["map-sparse", "map-dense"].iter().map(|name| out.path().join("healthy").join(name)).collect();
    dirs.extend(common::full_set().map(|set| set.join("voxel_map/dense_int32")));
    let mut compared = 0;
    for (i, dir) in dirs.iter().filter(|dir| dir.is_dir()).enumerate() {
        let save = Save::open(dir, &save::Options::default()).unwrap();
        let map = &save.maps[0];
        for (n, layer) in map.layers().enumerate() {
            let to = out.path().join(format!("layer{i}-{n}"));
            let dim = export::layer(&save, &n.to_string(), &to, false, &Watch::default()).unwrap().dim;
            let array = Array::read(&to.join("FLAGS.npy"));
            assert_eq!(array.shape, dim.map(|n| n as usize));
            let grid = map.grid(layer, &save.options.limits);
            let depths = grid.depth.is_some().then(|| Array::read(&to.join("DEPTH.npy")));
            assert_eq!(to.join("DEPTH.png").is_file(), depths.is_some());
            for k in 0..4000u64 {
                let spread = [k * 7919, k * 104_729, k * 1_299_709];
                let cell = [0, 1, 2].map(|i| (spread[i] % u64::from(dim[i])) as u32);
                let voxel = grid.voxel(cell).unwrap().unwrap();
                assert_eq!(array.at(cell.map(|n| n as usize)), voxel.flags, "{} {cell:?}", dir.display());
                if let Some(depths) = &depths {
                    let at = (cell[0] * dim[2] + cell[2]) as usize * 4;
                    let depth = f32::from_le_bytes(depths.data[at..at + 4].try_into().unwrap());
                    assert_eq!(depth.to_bits(), grid.depth_at([cell[0], cell[2]]).unwrap().unwrap().to_bits());
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 0);
    let save = Save::open(&out.path().join("healthy/map-sparse"), &save::Options::default()).unwrap();
    let name = save.maps[0].layers().next().unwrap().name.clone().unwrap();
    export::layer(&save, &name, &out.path().join("named"), false, &Watch::default()).unwrap();
    let error = export::layer(&save, "nothing", &out.path().join("b"), false, &Watch::default()).unwrap_err();
    assert!(error.to_string().contains(&name), "{error}");
}

#[test]
fn what_was_found_without_an_owner_can_be_read() {
    let out = tempdir().unwrap();
    let mut blocks = 0;
    let groups = ["crash_terrain", "crash_random", "two_writers"].map(common::golden);
    let mut crashes: Vec<_> =
        groups.iter().flat_map(|golden| std::fs::read_dir(golden).unwrap()).map(|e| e.unwrap().path()).collect();
    crashes.retain(|path| path.is_dir());
    crashes.sort();
    for (i, dir) in crashes.iter().enumerate().take(12) {
        let Ok(save) = Save::open(dir, &save::Options::default()) else { continue };
        if save.forests.is_empty() {
            continue;
        }
        let to = out.path().join(format!("found{i}"));
        let found = voxscope::repair::export_unowned(&save, &to, &Watch::default()).unwrap();
        let repaired = out.path().join(format!("repaired{i}"));
        voxscope::repair::run(&save, &repaired, &voxscope::repair::Options::default()).unwrap();
        if !repaired.join("lost+found").is_dir() {
            assert_eq!(found.blocks, 0);
            continue;
        }
        // The same blocks from the repaired copy, with the same voxels.
        let save = Save::open(&repaired, &save::Options::default()).unwrap();
        let again = out.path().join(format!("again{i}"));
        assert_eq!(voxscope::repair::export_unowned(&save, &again, &Watch::default()).unwrap(), found);
        for path in common::files_below(&to) {
            let name = path.file_name().unwrap();
            let other = again.join(name);
            match path.extension().unwrap().to_str().unwrap() {
                "npy" => {
                    let (one, other) = (Array::read(&path), Array::read(&other));
                    assert!(one.data == other.data && one.shape == other.shape);
                }
                "bin" => assert!(std::fs::read(&path).unwrap() == std::fs::read(&other).unwrap()),
                _ => {
                    let about: Json = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
                    let torn = name.to_str().unwrap().contains(".torn.");
                    assert!(!torn || about["whole"] == false, "{}", path.display());
                    blocks += u32::from(about["whole"] == true);
                }
            }
        }
    }
    assert!(blocks > 0, "some of the saves have blocks without an owner");
}

fn run(arguments: &[&str]) -> (Option<i32>, String) {
    let output =
        std::process::Command::new(env!("CARGO_BIN_EXE_voxscope")).arg("export").args(arguments).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

#[test]
fn the_command_writes_what_it_is_asked_for_and_nothing_twice() {
    let out = tempdir().unwrap();
    samples::write_some(out.path(), &["damaged/block-epilogue", "healthy/current"]);
    let path = |name: &str| out.path().join(name).to_str().unwrap().to_owned();
    let (healthy, damaged) = (path("healthy/current"), path("damaged/block-epilogue"));
    let (code, text) = run(&[&healthy, "--out", &path("a"), "--box", "-20,0,-3..5,4,9", "--channel", "sdf"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("25 x 4 x 12 voxels") && text.contains("SDF.npy"), "{text}");
    assert_eq!(Array::read(&out.path().join("a/SDF.npy")).shape, [12, 25, 4]);
    assert_eq!(run(&[&damaged, "--out", &path("b")]).0, Some(4));
    assert_eq!(run(&[&healthy, "--out", &path("a")]).0, Some(16), "it is there");
    assert_eq!(run(&[&healthy, "--out", &path("c"), "--channel", "COLOUR"]).0, Some(16));
    assert_eq!(run(&[&healthy, "--out", &path("c"), "--lod", "9"]).0, Some(8));
    assert_eq!(run(&[&path("nothing"), "--out", &path("c")]).0, Some(8));
    assert_eq!(run(&[&healthy, "--out", &path("d.png"), "--slice", "y=3", "--look", "scale"]).0, Some(0));
    assert_eq!(run(&[&healthy, "--out", &path("d.csv"), "--table"]).0, Some(0));
    assert_eq!(run(&[&damaged, "--out", &path("e"), "--lost"]).0, Some(0));
    assert!(!out.path().join("c").exists());
}
