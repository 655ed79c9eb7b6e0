//! The other forms of export: tables, instances, chunks of pak regions, pictures; and that nothing is left when it stops.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::npy::Array;
use crate::common::{self, samples};
use serde_json::Value as Json;
use tempfile::tempdir;
use voxscope::draft;
use voxscope::export::voxels::{self, Error, Request, Which};
use voxscope::export::{self, Coloring, Slice};
use voxscope::godot::channel::SDF;
use voxscope::pak::chunk::{Order, Voxels};
use voxscope::picture::palette::Palette;
use voxscope::save::{self, PakScratch, Save};
use voxscope::watch::Watch;
use voxscope::world::World;

fn open(dir: &Path) -> Save {
    Save::open(dir, &save::Options::default()).unwrap()
}

fn quiet() -> Watch<'static> {
    Watch::default()
}

fn json(path: &Path) -> Json {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn instances_are_those_of_the_stream() {
    let golden = common::golden("instances");
    let out = tempdir().unwrap();
    let save = open(&golden.join("instances.sqlite"));
    let world = World::only(&save).unwrap();
    let path = out.path().join("a.jsonl");
    let summary = export::instances(&world, None, &path, &quiet()).unwrap();
    assert_eq!((summary.instances, summary.blocks, summary.damaged.len()), (178, 1, 0));
    let lines = common::json_lines(&path);
    assert_eq!(lines.len(), 178);
    for line in &lines {
        assert_eq!((&line["lod"], &line["layer"]), (&1.into(), &7.into()));
        assert_eq!(line["block"], serde_json::json!([0, -1, 0]));
        let scale = line["scale"].as_f64().unwrap();
        assert!((1.5..=3.0).contains(&scale), "{scale}");
        let position: Vec<f64> = line["position"].as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect();
        assert!(position.iter().all(|n| (0.0..=32.0).contains(n)), "{position:?}");
        let square: f64 = line["rotation"].as_array().unwrap().iter().map(|n| n.as_f64().unwrap().powi(2)).sum();
        assert!((square - 1.0).abs() < 1e-5, "{square}");
    }
    let csv = out.path().join("a.csv");
    assert_eq!(export::instances(&world, Some(1), &csv, &quiet()).unwrap().instances, 178);
    let text = std::fs::read_to_string(&csv).unwrap();
    assert_eq!(text.lines().next().unwrap().split(',').count(), 13);
    assert_eq!(text.lines().count(), 179);
    assert_eq!(export::instances(&world, Some(0), &out.path().join("b.csv"), &quiet()).unwrap().instances, 0);
    let error = export::instances(&world, None, &out.path().join("a.txt"), &quiet()).unwrap_err().to_string();
    assert!(error.contains(".jsonl"), "{error}");
}

#[test]
fn chunks_of_pak_regions_are_what_they_hold() {
    let out = tempdir().unwrap();
    samples::write_some(out.path(), &["damaged/pak-zlib-cut", "healthy/pak-room"]);
    let save = open(&out.path().join("healthy/pak-room"));
    let to = out.path().join("a");
    let summary = export::chunks(&save, None, &to, &quiet()).unwrap();
    assert_eq!((summary.chunks, summary.arrays, summary.damaged), (11, 11, 0));
    let lines = common::json_lines(&to.join("chunks.jsonl"));
    let room = &save.pak_dirs[0];
    let mut scratch = PakScratch::default();
    let mut seen = 0;
    for file in &room.files {
        let pak = save.pak(room, file, &mut Vec::new()).unwrap().unwrap();
        for (number, record) in pak.present() {
            let name = file.name.to_str().unwrap();
            let line = lines.iter().find(|line| line["file"] == name && line["record"] == number).unwrap();
            assert_eq!(line["chunk"], serde_json::json!(pak.chunk(number)));
            let view = pak.view(number, record, &mut scratch).unwrap();
            let shape = view.shape.as_ref().unwrap().value;
            let array = Array::read(&to.join(line["array"].as_str().unwrap()));
            let [x, y, z] = shape.size.map(|n| n as usize);
            assert_eq!(array.shape, [y, z, x]);
            let voxels = Voxels { data: view.payload.unwrap().plain, shape, order: Order::default() };
            for i in 0..500usize {
                let at = [i * 7 % x, i * 11 % y, i * 13 % z];
                let expected = voxels.get(at.map(|n| n as u32)).unwrap();
                assert_eq!(array.at([at[1], at[2], at[0]]), expected, "{name} {number} {at:?}");
            }
            seen += 1;
        }
    }
    assert_eq!((seen, lines.len()), (11, 11));
    let one = export::chunks(&save, Some([0, 0, 0]), &out.path().join("b"), &quiet()).unwrap();
    assert_eq!(one.chunks, 1);
    let error = export::chunks(&save, Some([99, 0, 0]), &out.path().join("c"), &quiet()).unwrap_err();
    assert!(error.to_string().contains("no chunk"), "{error}");
    // What of a chunk can be read is there, with a name that says that it has no shape.
    let cut = open(&out.path().join("damaged/pak-zlib-cut"));
    let summary = export::chunks(&cut, None, &out.path().join("d"), &quiet()).unwrap();
    assert_eq!((summary.chunks, summary.arrays, summary.damaged), (3, 2, 1));
    assert!(!out.path().join("c").exists());
}

#[test]
fn rooms_of_one_directory_are_exported_together_and_directories_one_by_one() {
    let out = tempdir().unwrap();
    samples::write_some(out.path(), &["healthy"]);
    let rooms = out.path().join("rooms");
    std::fs::create_dir(&rooms).unwrap();
    let from = out.path().join("healthy/pak-room");
    for file in common::files_below(&from) {
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        std::fs::copy(&file, rooms.join(format!("cave{name}"))).unwrap();
        std::fs::copy(&file, rooms.join(name)).unwrap();
    }
    let save = open(&rooms);
    assert_eq!(save.pak_dirs.len(), 2);
    let to = out.path().join("both");
    let summary = export::chunks(&save, None, &to, &quiet()).unwrap();
    assert_eq!((summary.chunks, summary.arrays, common::json_lines(&to.join("chunks.jsonl")).len()), (22, 22, 22));
    let several = open(&out.path().join("healthy"));
    assert!(export::chunks(&several, None, &out.path().join("no"), &quiet()).is_err());
    let dir = &several.pak_dirs.iter().find(|pak_dir| pak_dir.dir == from).unwrap().dir;
    assert_eq!(export::chunks_in(&several, dir, None, &out.path().join("one"), &quiet()).unwrap().chunks, 11);
}

#[cfg(feature = "sqlite")]
#[test]
fn the_findings_of_a_table_are_those_of_check() {
    use voxscope::check;
    let out = tempdir().unwrap();
    samples::write(out.path());
    let (mut compared, mut about_blocks) = (0, 0);
    let dirs = ["healthy", "damaged"].map(|kind| std::fs::read_dir(out.path().join(kind)).unwrap());
    let mut dirs: Vec<PathBuf> = dirs.into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    dirs.sort();
    for dir in dirs {
        let Ok(save) = Save::open(&dir, &save::Options::default()) else { continue };
        let name = dir.strip_prefix(out.path()).unwrap().to_str().unwrap().replace('/', "-");
        let mut said = Vec::new();
        check::run(&save, &check::Options::default(), |f| said.push((f.code().name().to_owned(), f.message())));
        let path = out.path().join(format!("{name}.sqlite"));
        let (rows, _) = export::table(&save, &path, &Palette::default(), &quiet()).unwrap();
        let database = rusqlite::Connection::open(&path).unwrap();
        let count = |sql: &str| database.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap().cast_unsigned();
        assert_eq!(count("SELECT count(*) FROM blocks"), rows, "{name}");
        assert_eq!(
            count("SELECT count(*) FROM findings WHERE block IS NOT NULL AND block NOT IN (SELECT id FROM blocks)"),
            0,
            "{name}"
        );
        about_blocks += count("SELECT count(*) FROM findings WHERE block IS NOT NULL AND start IS NOT NULL");
        let mut query = database.prepare("SELECT code, message FROM findings").unwrap();
        let found = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let mut found: Vec<(String, String)> = found.map(Result::unwrap).collect();
        if name == "damaged-block-zeroed-run" {
            // Here each block has its own.
            assert!(found.len() > said.len());
            continue;
        }
        found.sort();
        said.sort();
        assert_eq!(found, said, "{name}");
        compared += said.len();
    }
    assert!(compared > 200 && about_blocks > 100, "{compared} {about_blocks}");
}

#[test]
fn a_table_says_what_is_inside_of_blocks() {
    let out = tempdir().unwrap();
    samples::write(out.path());
    let table = |name: &str| {
        let path = out.path().join(format!("{name}.jsonl"));
        export::table(&open(&out.path().join("healthy").join(name)), &path, &Palette::default(), &quiet()).unwrap();
        common::json_lines(&path)
    };
    let rows = table("block32");
    assert_eq!(rows[0]["size"], serde_json::json!([32, 32, 32]));
    assert_eq!(rows[0]["depths"].as_array().unwrap().len(), 8);
    assert!(rows[0]["storage"].as_array().unwrap().iter().any(|s| s == "raw"));
    assert!(rows[0].get("coordinate_format").is_none(), "forests have no keys");
    let rows = table("current");
    assert!(rows.iter().any(|row| row["metadata_items"].as_u64() > Some(0)));
    for row in &rows {
        assert_eq!(row["metadata_bytes"] == 0, row["metadata_items"] == 0, "{row}");
    }
    assert_eq!(table("stream-texts")[0]["coordinate_format"], 2);
    assert_eq!(table("pak-room")[0]["size"], serde_json::json!([32, 32, 32]));
    assert_eq!(table("map-sparse")[0]["size"], serde_json::json!([16, 16, 16]));
    let path = out.path().join("a.csv");
    export::table(&open(&out.path().join("healthy/stream-texts")), &path, &Palette::default(), &quiet()).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let columns =
        "instances size_x size_y size_z depths storage metadata_bytes metadata_items coordinate_format offset";
    assert_eq!(lines[0][16..].join(" "), columns, "new columns stand at the end");
    assert!(lines.iter().all(|line| line.len() == 26));
    assert_eq!(lines[1][17..20], ["8", "8", "8"]);
    assert_eq!(lines[1][20].split(' ').count(), 8);
}

fn png_of(path: &Path) -> (Vec<u8>, String) {
    let bytes = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(bytes).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    pixels.truncate(info.buffer_size());
    (pixels, reader.info().uncompressed_latin1_text[0].text.clone())
}

#[test]
fn the_grey_of_a_depth_map_has_a_scale() {
    let out = tempdir().unwrap();
    samples::write_some(out.path(), &["healthy"]);
    let mut compared = 0;
    for name in ["map-dense", "map-sparse", "map-packed-depth"] {
        let save = open(&out.path().join("healthy").join(name));
        for (n, _) in save.maps[0].layers().enumerate() {
            let to = out.path().join(format!("{name}-{n}"));
            export::layer(&save, &n.to_string(), &to, false, &quiet()).unwrap();
            let about = json(&to.join("export.json"))["depth"].clone();
            if about.is_null() {
                continue;
            }
            let [low, high] = ["low", "high"].map(|key| about[key].as_f64().unwrap());
            let (pixels, text) = png_of(&to.join("DEPTH.png"));
            assert!(text.contains("metres"), "{text}");
            let depths = Array::read(&to.join("DEPTH.npy"));
            for (grey, depth) in pixels.as_chunks::<2>().0.iter().zip(depths.values()) {
                let (grey, depth) = (u16::from_be_bytes(*grey), f64::from(f32::from_bits(depth as u32)));
                assert_eq!(grey == 0, !depth.is_finite());
                if grey > 0 {
                    let meant = low + f64::from(grey - 1) / 65534.0 * (high - low);
                    assert!((meant - depth).abs() <= (high - low) / 65534.0 + 1e-6, "{grey} {meant} {depth}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn a_slice_of_a_block_is_as_large_as_the_block() {
    let out = tempdir().unwrap();
    samples::write_some(out.path(), &["healthy/stream"]);
    let save = open(&out.path().join("healthy/stream"));
    let world = World::only(&save).unwrap();
    let at = world.index(0).blocks[0].position;
    let slice = |which, look| Slice { lod: 0, axis: 1, at: i64::from(at[1]) * 16 + 3, which, channel: SDF, look };
    let path = out.path().join("a.png");
    let picture = export::slice(&world, &slice(Which::Block(at), Coloring::Scale), &path, &quiet()).unwrap();
    assert_eq!(picture.size, [16, 16]);
    let [low, high] = picture.range.unwrap();
    let (pixels, text) = png_of(&path);
    assert!(text.contains(&format!("black is {low}, white is {high}")), "{text}");
    // The voxels themselves, and the scale that was told.
    let to = out.path().join("a");
    let request = Request {
        lod: 0,
        which: Which::Block(at),
        channels: vec![SDF],
        fill: 0,
        distances: true,
        sync: true,
        large: false,
        unpack: false,
        names: Palette::default(),
    };
    voxels::export(&world, &request, &to, &quiet()).unwrap();
    let array = Array::read(&to.join("SDF.npy"));
    for (i, rgba) in pixels.as_chunks::<4>().0.iter().enumerate() {
        let distance = f64::from(f32::from_bits(array.at([i / 16, i % 16, 3]) as u32));
        let grey = ((distance - low) / (high - low) * 255.0).round();
        assert!((f64::from(rgba[0]) - grey).abs() <= 1.0, "{i}: {rgba:?} {distance}");
        assert_eq!(rgba[3], 255);
    }
}

#[test]
fn voxels_of_a_block_that_cannot_be_read_are_those_of_fill() {
    let out = tempdir().unwrap();
    samples::write_some(out.path(), &["damaged/block-zeroed"]);
    let save = open(&out.path().join("damaged/block-zeroed"));
    let world = World::only(&save).unwrap();
    let to = out.path().join("a");
    let request = Request {
        lod: 0,
        which: Which::All,
        channels: Vec::new(),
        fill: 9,
        distances: false,
        sync: false,
        large: false,
        unpack: false,
        names: Palette::default(),
    };
    let summary = voxels::export(&world, &request, &to, &quiet()).unwrap();
    assert_eq!(summary.damaged.len(), 1);
    let corner = summary.damaged[0].block.map(|n| i64::from(n) * 16);
    // Also in a channel that is the same in all other blocks, which is no channel of one value now.
    for name in ["TYPE", "COLOR"] {
        let array = Array::read(&to.join(format!("{name}.npy")));
        let [x, y, z] = [0, 1, 2].map(|i| (corner[i] - summary.area[0][i]) as usize);
        for i in 0..16 {
            assert_eq!(array.at([z + i, x + 5, y + i]), 9, "{name}");
        }
    }
}

#[test]
fn nothing_is_left_of_an_export_that_is_stopped() {
    let out = tempdir().unwrap();
    samples::write_some(out.path(), &["healthy"]);
    let before = common::files_below(out.path());
    let healthy = out.path().join("healthy");
    let to = out.path().join("to");
    let named = |ending: &str| to.with_extension(ending);
    // Stopped when it tells that something is done.
    let each = |work: &dyn Fn(&Watch<'_>) -> Option<Error>| {
        let cancel = AtomicBool::new(false);
        let progress = |_| cancel.store(true, Ordering::Relaxed);
        let error = work(&Watch::default().cancel(&cancel).progress(&progress));
        assert!(matches!(error, Some(Error::Beside(draft::Error::Interrupted))), "{error:?}");
    };
    let (forest, map, paks) =
        (open(&healthy.join("current")), open(&healthy.join("map-sparse")), open(&healthy.join("pak-room")));
    let stream = open(&healthy.join("stream"));
    let (world, rows) = (World::only(&forest).unwrap(), World::only(&stream).unwrap());
    let request = Request {
        lod: 0,
        which: Which::All,
        channels: Vec::new(),
        fill: 0,
        distances: false,
        sync: true,
        large: false,
        unpack: false,
        names: Palette::default(),
    };
    let slice = Slice { lod: 0, axis: 1, at: 3, which: Which::All, channel: 0, look: Coloring::Palette };
    each(&|watch| voxels::export(&world, &request, &to, watch).err());
    each(&|watch| export::slice(&world, &slice, &named("png"), watch).err());
    each(&|watch| export::table(&forest, &named("csv"), &Palette::default(), watch).err());
    each(&|watch| export::layer(&map, "0", &to, false, watch).err());
    each(&|watch| export::chunks(&paks, None, &to, watch).err());
    each(&|watch| export::instances(&rows, None, &named("jsonl"), watch).err());
    #[cfg(feature = "sqlite")]
    each(&|watch| export::table(&stream, &named("sqlite"), &Palette::default(), watch).err());
    assert_eq!(common::files_below(out.path()), before);
}

#[test]
fn slices_go_through_layers_and_chunks_too() {
    let out = tempdir().unwrap();
    samples::write_some(out.path(), &["healthy"]);
    let slice = |axis, at, which| Slice { lod: 0, axis, at, which, channel: 0, look: Coloring::Scale };
    for name in ["map-dense", "map-sparse"] {
        let save = open(&out.path().join("healthy").join(name));
        let layer = save.maps[0].layers().next().unwrap();
        let grid = save.maps[0].grid(layer, &save.options.limits);
        let dim = grid.dim.unwrap();
        let path = out.path().join(format!("{name}.png"));
        let picture = export::slice_of_layer(&save, "0", &slice(1, 2, Which::All), &path, &quiet()).unwrap();
        assert_eq!(picture.size, [dim[0], dim[2]]);
        let ([low, high], (pixels, _)) = (picture.range.unwrap(), png_of(&path));
        let mut greys = std::collections::HashSet::new();
        for (i, rgba) in pixels.as_chunks::<4>().0.iter().enumerate() {
            let i = i as u32;
            let voxel = grid.voxel([i % dim[0], 2, i / dim[0]]).unwrap().unwrap();
            assert_eq!(rgba[3] == 0, voxel.bits.is_none(), "{name} {i}");
            if rgba[3] > 0 {
                let grey = if high > low { ((voxel.flags as f64 - low) / (high - low) * 255.0).round() } else { 0.0 };
                assert_eq!(f64::from(rgba[0]), grey, "{name} {i}");
                greys.insert(rgba[0]);
            }
        }
        assert!(greys.len() > 1, "{name}");
        let none = export::slice_of_layer(&save, "0", &slice(1, 2000, Which::All), &out.path().join("a.png"), &quiet());
        assert!(none.unwrap_err().to_string().contains("y=2000"));
    }
    let save = open(&out.path().join("healthy/pak-room"));
    let path = out.path().join("chunk.png");
    let picture = export::slice_of_chunks(&save, &slice(2, 5, Which::Block([0, 0, 0])), &path, &quiet()).unwrap();
    assert_eq!(picture.size, [32, 32]);
    let to = out.path().join("chunk");
    export::chunks(&save, Some([0, 0, 0]), &to, &quiet()).unwrap();
    let array = Array::read(&to.join("x0_y0_z0.record-0.npy"));
    let ([low, high], (pixels, _)) = (picture.range.unwrap(), png_of(&path));
    for (i, rgba) in pixels.as_chunks::<4>().0.iter().enumerate() {
        let value = array.at([31 - i / 32, 5, i % 32]) as f64;
        assert_eq!(f64::from(rgba[0]), ((value - low) / (high - low) * 255.0).round(), "{i}");
    }
    // All of the directory: chunks on both sides of 0, and nothing where no chunk is.
    let path = out.path().join("room.png");
    let picture = export::slice_of_chunks(&save, &slice(1, 0, Which::All), &path, &quiet()).unwrap();
    assert!(picture.size[0] > 32 * 32, "{picture:?}");
    assert!(png_of(&path).0.as_chunks::<4>().0.iter().any(|rgba| rgba[3] == 0));
    assert!(
        export::slice_of_chunks(&save, &slice(1, 0, Which::Box([[9000, 0, 0], [9001, 1, 1]])), &to, &quiet()).is_err()
    );
}
