//! Voxel maps as saves: opened, checked, listed and shown, by the library and by the program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common;
use crate::common::arrays::{i4, npy};
use serde_json::{Value as Json, json};
use tempfile::{TempDir, tempdir};
use voxscope::bytes::Span;
use voxscope::check::{self, Finding, Row};
use voxscope::damage::{Code, Level};
use voxscope::save::{Options, Save};

/// Where the numbers of every array here begin.
const START: usize = 80;

/// What a test says of a finding: code, file, bytes, remark.
type Told = (Code, String, Option<(u64, u64)>, String);

/// 20 x 16 x 17 cells in two blocks of water, 2.5 m deep everywhere.
fn sparse() -> Draft {
    let mut voxels = vec![0u64; 8192];
    for (n, voxel) in voxels.iter_mut().enumerate() {
        let x = n / 4096 * 16 + n / 256 % 16;
        *voxel = u64::from(x < 20);
    }
    let voxels: Vec<u8> = voxels.into_iter().flat_map(u64::to_le_bytes).collect();
    let layer = json!({
        "name": "Global", "type": "Global", "format": "block_sparse", "blockSize": 16, "dataFile": "d.npy",
        "depthFile": "z.npy", "indexFile": "i.npy", "blockCount": 2, "origin": [-10.0, 0.5, 3.0],
        "step": [0.5, 1.0, 2.0], "dim": [20, 16, 17],
    });
    Draft {
        json: json!({"mapID": 7, "timestamp": "t", "waterSurfaceLevel": 9.5, "global": layer, "locals": []}),
        files: vec![
            ("d.npy", npy("<i8", "False", "(2, 16, 16, 16)", &voxels)),
            ("i.npy", npy("<i4", "False", "(2, 3)", &i4([0, 0, 0, 1, 0, 0]))),
            ("z.npy", npy("<f4", "False", "(20, 17)", &2.5f32.to_le_bytes().repeat(340))),
        ],
    }
}

/// 2 x 2 x 2 cells: water, but for the last, which is nothing.
fn dense() -> Draft {
    let layer = json!({
        "name": "Global", "type": "Global", "format": "dense", "blockSize": 0, "dataFile": "d.npy", "indexFile": "",
        "blockCount": 0, "origin": [0.0, 0.0, 0.0], "step": [1.0, 1.0, 1.0], "dim": [2, 2, 2],
    });
    Draft {
        json: json!({"mapID": 7, "timestamp": "t", "global": layer, "locals": []}),
        files: vec![("d.npy", npy("<i4", "False", "(2, 2, 2)", &i4([1, 1, 1, 1, 1, 1, 3, 0])))],
    }
}

#[derive(Clone)]
struct Draft {
    json: Json,
    files: Vec<(&'static str, Vec<u8>)>,
}

impl Draft {
    fn file(&mut self, name: &str) -> &mut Vec<u8> {
        &mut self.files.iter_mut().find(|(n, _)| *n == name).unwrap().1
    }

    fn put(mut self, name: &str, at: usize, bytes: &[u8]) -> Self {
        self.file(name)[at..at + bytes.len()].copy_from_slice(bytes);
        self
    }

    fn with(mut self, name: &'static str, bytes: Vec<u8>) -> Self {
        *self.file(name) = bytes;
        self
    }

    fn set(mut self, field: &str, value: Json) -> Self {
        self.json["global"][field] = value;
        self
    }

    fn write(&self, dir: &Path) {
        fs::create_dir_all(dir).unwrap();
        fs::write(dir.join("map_data.json"), serde_json::to_vec(&self.json).unwrap()).unwrap();
        for (name, bytes) in &self.files {
            fs::write(dir.join(name), bytes).unwrap();
        }
    }

    fn made(&self) -> TempDir {
        let dir = tempdir().unwrap();
        self.write(dir.path());
        dir
    }

    /// What checking it tells.
    fn told(&self) -> Vec<Told> {
        told(&findings(self.made().path()))
    }
}

fn findings(path: &Path) -> Vec<Finding> {
    let save = Save::open(path, &Options::default()).unwrap();
    let mut findings = Vec::new();
    check::run(&save, &check::Options::default(), |finding| findings.push(finding));
    findings
}

/// Without the evidence, which comes last and is looked at where maps are repaired, and without what is noted of files
/// that no layer names and of the kinds of layers, which has tests of its own.
fn told(findings: &[Finding]) -> Vec<Told> {
    let span = |span: Span| (span.start, span.end);
    let plain = |remark: String| match remark.find("Layer ").and_then(|at| Some(at + remark[at..].find(". ")? + 1)) {
        Some(end) => remark[..end].to_owned(),
        None => remark,
    };
    let remark = |f: &Finding| plain(f.remark.clone().unwrap_or_default());
    let told = |f: &Finding| (f.code(), f.file.to_string(), f.span.map(span), remark(f));
    let own = |f: &&Finding| !matches!(f.code(), Code::MapFileUnnamed | Code::MapLayerType);
    findings.iter().filter(own).map(told).collect()
}

fn rows(path: &Path) -> Vec<Row> {
    let save = Save::open(path, &Options::default()).unwrap();
    save.files().flat_map(|file| check::rows(&save, file, &check::Options::default()).unwrap()).collect()
}

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_voxscope"));
    let output = command.args(arguments).stdin(Stdio::null()).env_remove("CLICOLOR_FORCE").output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert!(!err.contains("panicked"), "{arguments:?}: {err}");
    (output.status.code(), out, err)
}

fn output(arguments: &[&str]) -> String {
    let (code, out, err) = run(arguments);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{arguments:?}");
    out
}

fn json_of(arguments: &[&str]) -> Json {
    serde_json::from_str(&output(arguments)).unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
#[ignore = "reads the full set, which VOXSCOPE_GOLDEN names"]
fn a_real_export_opens_checks_and_answers() {
    let dir = common::golden("voxel_map/dense_int32");
    let found = findings(&dir);
    assert!(found.iter().all(|f| f.level() == Level::Note), "{:?}", told(&found));
    let codes: Vec<Code> = found.iter().map(Finding::code).collect();
    assert_eq!(codes.iter().filter(|&&code| code == Code::MapFlagDry).count(), 5);
    assert_eq!((codes.len(), codes.contains(&Code::MapLayerName)), (6, true));
    let dir = text(&dir);
    assert_eq!(run(&["check", dir]).0, Some(0));
    // Numbers read with Python's `struct`: cell (0, 0, 2) of the last layer is 0x800, its water begins at number 124.
    let all = json_of(&["show", dir, "--at", "159.4,-4.0,-56.6", "--format", "json"]);
    assert_eq!(all["layers"].as_array().unwrap().len(), 2);
    let local = &all["layers"][1];
    assert_eq!((&local["cell"], &local["flags"], &local["stored"]), (&json!([0, 0, 2]), &json!(2048), &json!(true)));
    assert_eq!((&local["flag_names"], &local["open_water"]), (&json!(["GRAVEL"]), &json!(false)));
    let water = json_of(&["show", dir, "--voxel", "0,2,2", "--format", "json"]);
    let local = water["layers"].as_array().unwrap().last().unwrap();
    assert_eq!((&local["flags"], &local["flag_names"]), (&json!(0x805), &json!(["WATER", "STONE", "GRAVEL"])));
    // The first open water of the whole map is number 835: (0, 6, 31).
    let open = json_of(&["show", dir, "--voxel", "0,6,31", "--format", "json"]);
    assert_eq!((&open["layers"][0]["flags"], &open["layers"][0]["open_water"]), (&json!(1), &json!(true)));
    let human = output(&["show", dir, "--voxel", "0,6,31"]);
    assert!(human.contains("OPEN_WATER") && human.contains("开放水域") && human.contains("有效水域"), "{human}");
    // Just below the origin is outside, where truncation would say cell 0.
    for at in ["12.59,-6,-147", "12.7,-6.9,-147", "12.7,-6,-147.31", "213.7,-6,-147"] {
        let (code, _, err) = run(&["show", dir, "--at", at]);
        assert!(code == Some(8) && err.contains("outside of every layer"), "{at}: {err}");
    }
    assert!(output(&["show", dir, "--at", "12.61,-6.8,-147.29"]).contains("cell (0, 0, 0)"));
    let info = json_of(&["info", dir, "--format", "json"]);
    let flags = &info["maps"][0]["layers"][0]["flags"];
    assert_eq!(
        (&flags[0], flags.as_array().unwrap().last().unwrap()),
        (&json!(["WATER", 5133]), &json!(["OPEN_WATER", 2748]))
    );
}

#[test]
fn the_program_shows_what_numpy_reads() {
    for name in ["sparse_i4", "sparse_i4_fortran_big", "sparse_i8"] {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/npy").join(name);
        let expected: Json = serde_json::from_slice(&fs::read(dir.join("expected.json")).unwrap()).unwrap();
        let cells = expected["cells"].as_array().unwrap();
        for cell in cells.iter().step_by(cells.len() / 12 + 1) {
            let at = (0..3).map(|n| cell[n].to_string()).collect::<Vec<_>>().join(",");
            let shown = json_of(&["show", text(&dir), "--voxel", &at, "--format", "json"]);
            let layer = &shown["layers"][0];
            assert_eq!((&layer["row"], &layer["stored"]), (&cell[3], &json!(!cell[4].is_null())), "{name} {at}");
            assert_eq!(layer["flags"].as_u64(), cell[4].as_u64().or(Some(0)), "{name} {at}");
            let depth = f32::from_bits(u32::try_from(cell[5].as_u64().unwrap()).unwrap());
            let said = layer["water_depth"].as_f64();
            assert!(said.map_or(!depth.is_finite(), |said| said as f32 == depth), "{name} {at} {layer}");
        }
        let rows = rows(&dir);
        let blocks = expected["blocks"].as_array().unwrap();
        assert_eq!(rows.len(), blocks.len());
        for (row, flags) in rows.iter().zip(blocks) {
            assert_eq!(&json!(row.flags.as_ref().unwrap().flags), flags, "{name}");
        }
        let found = findings(&dir);
        assert!(found.iter().all(|f| f.level() == Level::Note || f.code() == Code::MapWaterDepth), "{name}");
    }
}

#[test]
fn healthy_maps_give_nothing() {
    assert_eq!(sparse().told(), []);
    assert_eq!(dense().told(), []);
}

#[test]
fn layers_of_one_map_may_have_different_number_types_with_a_note() {
    let mut map = dense();
    let mut local = map.json["global"].clone();
    (local["name"], local["type"], local["dataFile"]) = (json!("Pier"), json!("LocalStock"), json!("l.npy"));
    map.json["locals"] = json!([local]);
    let i8 = |numbers: [i64; 8]| numbers.into_iter().flat_map(i64::to_le_bytes).collect::<Vec<u8>>();
    map.files.push(("l.npy", npy("<i8", "False", "(2, 2, 2)", &i8([1, 1, 1, 1, 1, 1, 3, 0]))));
    let dir = map.made();
    let found = findings(dir.path());
    let other: Vec<&Finding> = found.iter().filter(|finding| finding.code() == Code::MapDtypeOther).collect();
    assert_eq!((other.len(), &*other[0].file, other[0].level()), (1, "l.npy", Level::Note));
    assert!(other[0].message().contains("(int64; these have int32)"), "{}", other[0].message());
    assert!(found.iter().all(|finding| finding.level() == Level::Note), "{found:?}");
    // Layers of one type, each of which the exporter writes, have none.
    *map.file("l.npy") = npy("<i4", "False", "(2, 2, 2)", &i4([1, 1, 1, 1, 1, 1, 3, 0]));
    assert!(map.told().is_empty());
}

#[test]
fn findings_name_their_file_bytes_and_place() {
    let one = |draft: Draft, code: Code, file: &str, span: Option<(u64, u64)>, remark: &str| {
        assert_eq!(draft.told(), [(code, file.to_owned(), span, remark.to_owned())]);
    };
    let s = START as u64;
    let layer = "Layer Global.";
    one(sparse().set("blockSize", json!(32)), Code::MapBlockSize, "map_data.json", None, layer);
    one(sparse().set("blockCount", json!(3)), Code::MapBlockCount, "map_data.json", None, layer);
    one(sparse().set("depthFile", json!("")), Code::MapNoDepth, "map_data.json", None, layer);
    one(sparse().set("dim", json!([20, 16, 18])), Code::MapShape, "z.npy", Some((0, s)), layer);
    one(dense().set("dim", json!([2, 2, 3])), Code::MapShape, "d.npy", Some((0, s)), layer);
    one(
        sparse().set("depthFile", json!("lost.npy")),
        Code::MapFileMissing,
        "lost.npy",
        None,
        "The file is lost.npy. Layer Global.",
    );
    one(
        sparse().put("i.npy", START + 12, &i4([0, 0, 0])),
        Code::MapIndexTwice,
        "i.npy",
        Some((s + 12, s + 24)),
        "Layer Global, at block (0, 0, 0).",
    );
    one(
        sparse().put("i.npy", START + 12, &i4([-1, 0, 9])),
        Code::MapIndexRange,
        "i.npy",
        Some((s + 12, s + 24)),
        "Layer Global, at block (-1, 0, 9).",
    );
    // Voxel (0, 0, 5) of the first block, three of the kind.
    let three = [0x0200_0001u64, 1, 0x8000_0001, 0x4000_0001].map(u64::to_le_bytes).concat();
    one(
        sparse().put("d.npy", START + 40, &three),
        Code::MapFlagUnknown,
        "d.npy",
        Some((s + 40, s + 48)),
        "Layer Global, 3 times, first at cell (0, 0, 5).",
    );
    one(
        sparse().put("d.npy", START + 16 * 8, &0x800u64.to_le_bytes()),
        Code::MapFlagDry,
        "d.npy",
        Some((s + 128, s + 136)),
        "Layer Global, at cell (0, 1, 0).",
    );
    // (4, 0, 0) of the second block is beyond the 20 cells along x.
    let at = 8 * (4096 + 4 * 256);
    one(
        sparse().put("d.npy", START + at, &1u64.to_le_bytes()),
        Code::MapBeyondDim,
        "d.npy",
        Some((s + at as u64, s + at as u64 + 8)),
        "Layer Global, at cell (20, 0, 0).",
    );
    // Column (1, 2) has 16 cells of water in the first block; the depth is place 17 + 2.
    for depth in [0.0f32, -1.0, f32::NAN, f32::INFINITY] {
        let at = 8 * (256 + 2) as u64;
        one(
            sparse().put("z.npy", START + 4 * 19, &depth.to_le_bytes()),
            Code::MapWaterDepth,
            "d.npy",
            Some((s + at, s + at + 8)),
            "Layer Global, 16 times, first at cell (1, 0, 2).",
        );
    }
    let of = |descr, shape| npy(descr, "False", shape, &[0; 32]);
    one(dense().with("d.npy", of("<f4", "(2, 2, 2)")), Code::MapDtype, "d.npy", Some((0, s)), layer);
    one(dense().with("d.npy", of("<f8", "(2, 2, 2)")), Code::NpyDtype, "d.npy", Some((10, s)), layer);
    one(dense().with("d.npy", of("<i4", "(8,)")), Code::MapShape, "d.npy", Some((0, s)), layer);
    one(dense().with("d.npy", of("<i4", "(2,2,2,1,1)")), Code::NpyShape, "d.npy", Some((10, s)), layer);
    one(dense().with("d.npy", of("<i4", "[2, 2, 2]")), Code::NpyHeader, "d.npy", Some((60, s)), layer);
    one(dense().put("d.npy", 6, &[4]), Code::NpyVersion, "d.npy", Some((6, 8)), layer);
    one(dense().put("d.npy", 0, &[0x92]), Code::NpyMagic, "d.npy", Some((0, 6)), layer);
    let mut longer = dense();
    longer.file("d.npy").extend([1, 2, 3]);
    one(longer, Code::NpyTrailing, "d.npy", Some((s + 32, s + 35)), layer);
    let big: Vec<u8> = [1i32, 1, 1, 1, 1, 1, 3, 0].into_iter().flat_map(i32::to_be_bytes).collect();
    one(
        dense().with("d.npy", npy(">i4", "False", "(2, 2, 2)", &big)),
        Code::NpyBigEndian,
        "d.npy",
        Some((0, s)),
        layer,
    );
    let fortran = i4([1, 1, 1, 3, 1, 1, 1, 0]);
    one(
        dense().with("d.npy", npy("<i4", "True", "(2, 2, 2)", &fortran)),
        Code::NpyFortran,
        "d.npy",
        Some((0, s)),
        layer,
    );
    let deep: Vec<u8> =
        [1u64, 1, 1, 0, 0, 0, 0, 0].into_iter().flat_map(|n| (n | (n * 250) << 32).to_le_bytes()).collect();
    one(
        dense().with("d.npy", npy("<i8", "False", "(2, 2, 2)", &deep)),
        Code::MapPackedDepth,
        "d.npy",
        Some((s, s + 64)),
        layer,
    );
}

#[test]
fn findings_of_the_description_lie_in_its_text() {
    let of = |draft: &Draft| {
        let text = serde_json::to_string(&draft.json).unwrap();
        let start = text.find("{\"name\"").unwrap() as u64;
        let end = text.find("},\"locals\"").unwrap() as u64 + 1;
        (draft.told(), (start, end), text.len() as u64)
    };
    let map = |code, span| (code, "map_data.json".to_owned(), Some(span), String::new());
    let of_layer = |(code, file, span, _): (Code, String, _, _)| (code, file, span, "The layer is Global.".to_owned());
    for (field, value, code) in [
        ("step", json!([1, 0, 1]), Code::MapField),
        ("dim", json!([2, 2]), Code::MapField),
        ("dim", json!([2, 2, 2.5]), Code::MapField),
        ("blockCount", json!("none"), Code::MapField),
        ("season", json!("winter"), Code::MapExtra),
    ] {
        let (told, layer, _) = of(&dense().set(field, value));
        let expected = map(code, layer);
        assert_eq!(told, [if code == Code::MapField { of_layer(expected) } else { expected }], "{field}");
    }
    let (told, layer, _) = of(&dense().set("format", json!("octree")));
    assert_eq!(told, [of_layer(map(Code::MapFormat, layer))]);
    let mut same = dense();
    same.json["locals"] = json!([same.json["global"]]);
    let told = same.told();
    let len = serde_json::to_string(&same.json).unwrap().len() as u64;
    assert_eq!(told, [map(Code::MapLayerName, (0, len))]);
}

#[test]
fn show_answers_at_edges_and_with_negative_numbers() {
    let dir = sparse().put("d.npy", START + 8 * 17, &0x0040_0003u64.to_le_bytes()).made();
    let dir = text(dir.path());
    let at = |at: &str| json_of(&["show", dir, "--format", "json", "--at", at])["layers"][0].clone();
    let first = at("-10.0,0.5,3.0");
    let whole = json!({
        "layer": "Global", "data_file": "d.npy", "cell": [0, 0, 0], "block": [0, 0, 0], "row": 0, "stored": true,
        "left_out": null, "flags": 1, "flag_names": ["WATER"], "open_water": true, "water_depth": 2.5,
    });
    assert_eq!(first, whole);
    let other = at("-9.75,1.6,5.5");
    assert_eq!(other["cell"], json!([0, 1, 1]));
    assert_eq!(
        (&other["flags"], &other["flag_names"]),
        (&json!(0x40_0003), &json!(["WATER", "WATER_GRASS", "WATER_OUTLET"]))
    );
    assert_eq!(at("-2.0,0.5,3.0")["block"], json!([1, 0, 0]));
    // No block is there: inside the layer, and nothing is stored.
    let nothing = at("-10,0.5,35.5");
    assert_eq!(
        (&nothing["cell"], &nothing["stored"], &nothing["row"]),
        (&json!([0, 0, 16]), &json!(false), &Json::Null)
    );
    assert!(output(&["show", dir, "--at", "-10,0.5,35.5"]).contains("nothing is stored there"));
    for outside in ["-10.001,0.5,3", "-10,0.499,3", "-10,0.5,2.999", "0,0.5,3", "-10,16.5,3", "-10,0.5,37", "1e300,0,0"]
    {
        let (code, _, error) = run(&["show", dir, "--at", outside]);
        assert_eq!(code, Some(8), "{outside}: {error}");
        assert!(error.contains("is outside of every layer"), "{outside}: {error}");
    }
    assert_eq!(run(&["show", dir, "--voxel", "20,0,0"]).0, run(&["show", dir, "--voxel", "-1,0,0"]).0);
    assert_ne!(run(&["show", dir, "--voxel", "-1,0,0"]).0, Some(0));
    for bad in ["nan,0,0", "1,2", "1,2,3,4", "a,b,c", ""] {
        assert_eq!(run(&["show", dir, "--at", bad]).0, Some(16), "{bad}");
    }
}

#[test]
fn info_and_ls_in_every_form() {
    let dir = sparse().made();
    let path = text(dir.path());
    let info = json_of(&["info", path, "--format", "json"]);
    let map = &info["maps"][0];
    assert_eq!((&map["map_id"], &map["timestamp"], &map["water_surface_level"]), (&json!(7), &json!("t"), &json!(9.5)));
    let layer = &map["layers"][0];
    assert_eq!(
        (&layer["format"], &layer["dtype"], &layer["blocks"]),
        (&json!("block_sparse"), &json!("int64"), &json!(2))
    );
    assert_eq!((&layer["dim"], &layer["voxels"], &layer["set"]), (&json!([20, 16, 17]), &json!(8192), &json!(5120)));
    assert_eq!(layer["flags"], json!([["WATER", 5120], ["OPEN_WATER", 5120]]));
    assert_eq!(layer["extent"], json!([[-10.0, 0.5, 3.0], [0.0, 16.5, 37.0]]));
    assert_eq!((&layer["depth"], &layer["depth_from"]), (&json!([2.5, 2.5]), &json!("depth map")));
    let human = output(&["info", path]);
    for part in ["voxel map 7", "20 x 16 x 17 cells of 0.5 x 1 x 2", "depth 2.50 to 2.50 m", "WATER 5,120", "2 blocks"]
    {
        assert!(human.contains(part), "no {part} in\n{human}");
    }
    let json: Vec<Json> =
        output(&["ls", path, "--format=jsonl"]).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((json.len(), &json[1]["position"], &json[1]["file"]), (2, &json!([1, 0, 0]), &json!("d.npy")));
    let csv = output(&["ls", path, "--format=csv"]);
    assert_eq!(
        csv.lines().nth(2).unwrap(),
        "d.npy,0,1,0,0,1,0,0,32768,32768,1.000,,,ok,,WATER=1024 OPEN_WATER=1024,,16,16,16,,,0,0,,32848"
    );
    let table = output(&["ls", path]);
    assert!(table.contains("WATER 1024 · OPEN_WATER 1024") && table.contains("2 blocks"), "{table}");
    let rows = rows(dir.path());
    assert_eq!(
        rows.iter().map(|row| (row.position, row.bytes)).collect::<Vec<_>>(),
        [(Some([0, 0, 0]), 32768), (Some([1, 0, 0]), 32768)]
    );
}

/// Names that would leave the directory, with a whole array at each place that they lead to.
#[test]
#[cfg(unix)]
fn a_name_that_leaves_the_directory_opens_nothing() {
    let root = tempdir().unwrap();
    let secret = npy("<i4", "False", "(2, 2, 2)", &i4([0x7777; 8]));
    let dir = root.path().join("map");
    fs::create_dir_all(dir.join("sub")).unwrap();
    for place in ["x.npy", "map/sub/x.npy", "map/y.npy"] {
        fs::write(root.path().join(place), &secret).unwrap();
    }
    let absolute = root.path().join("x.npy").to_str().unwrap().to_owned();
    for name in ["../x.npy", &absolute, "sub/x.npy", "./y.npy", "C:x.npy", "..\\x.npy", "..", ".", ".. ", "a\0b", ""] {
        for (draft, field) in [(dense(), "dataFile"), (sparse(), "indexFile"), (sparse(), "depthFile")] {
            if name.is_empty() && field == "depthFile" {
                continue;
            }
            draft.set(field, json!(name)).write(&dir);
            let told = told(&findings(&dir));
            let refused =
                told.iter().find(|told| told.0 == Code::MapFileName).unwrap_or_else(|| panic!("{name}: {told:?}"));
            assert_eq!((refused.1.as_str(), refused.2), ("map_data.json", None));
            assert!(refused.3.ends_with("Layer Global."), "{refused:?}");
            let allowed = [Code::MapFileName, Code::MapFlagDry, Code::MapBlockCount];
            assert!(told.iter().all(|told| allowed.contains(&told.0)), "{name}: {told:?}");
            let path = text(&dir);
            for arguments in [&["info", path][..], &["ls", path], &["show", path, "--at", "0,0,0"]] {
                let (_, out, err) = run(arguments);
                assert!(!out.contains("0x7777") && !err.contains("0x7777"), "{name}: {out}{err}");
            }
        }
    }
    // A plain name that is a link or a pipe: not followed, not waited for.
    let dir = root.path().join("links");
    dense().set("dataFile", json!("l.npy")).write(&dir);
    std::os::unix::fs::symlink(root.path().join("x.npy"), dir.join("l.npy")).unwrap();
    let told = |dir: &Path| told(&findings(dir)).into_iter().map(|told| told.0).collect::<Vec<_>>();
    assert_eq!(told(&dir), [Code::LinkSkipped]);
    fs::remove_file(dir.join("l.npy")).unwrap();
    assert!(Command::new("mkfifo").arg(dir.join("l.npy")).status().unwrap().success());
    assert_eq!(told(&dir), [Code::NotAFile]);
    let (code, out, err) = run(&["info", text(&dir)]);
    assert!(code == Some(8) && err.contains("l.npy") && !out.contains("0x7777"), "{code:?}: {out}{err}");
}

#[test]
fn a_description_cut_anywhere_is_a_finding() {
    let dir = sparse().made();
    let whole = fs::read(dir.path().join("map_data.json")).unwrap();
    for length in 0..whole.len() {
        fs::write(dir.path().join("map_data.json"), &whole[..length]).unwrap();
        let told = told(&findings(dir.path()));
        assert!(
            matches!(&told[..], [(Code::MapUnreadable, file, ..)] if file == "map_data.json"),
            "{length}: {told:?}"
        );
    }
    assert_eq!(run(&["check", text(dir.path())]).0, Some(4));
    // It can be opened by the name of the description, too.
    fs::write(dir.path().join("map_data.json"), &whole).unwrap();
    assert_eq!(told(&findings(&dir.path().join("map_data.json"))), []);
}

#[test]
fn an_array_cut_anywhere_is_a_finding() {
    for (draft, name) in [(dense(), "d.npy"), (sparse(), "i.npy"), (sparse(), "z.npy")] {
        let dir = draft.made();
        let whole = fs::read(dir.path().join(name)).unwrap();
        let lengths = (0..whole.len()).filter(|n| *n < START + 40 || n % 61 == 0 || *n + 9 > whole.len());
        for length in lengths {
            fs::write(dir.path().join(name), &whole[..length]).unwrap();
            let expected = if length < START { Code::NpyCut } else { Code::NpyTruncated };
            let told = told(&findings(dir.path()));
            let found =
                told.iter().find(|told| told.0 == expected).unwrap_or_else(|| panic!("{name} {length}: {told:?}"));
            assert_eq!(found.1, name);
            assert!(found.2.is_none_or(|(start, end)| start <= end && end <= length as u64), "{found:?}");
        }
    }
}

#[test]
fn a_header_that_lies_is_not_believed() {
    for (shape, code) in [
        ("(4294967295, 1000000000, 1)", Code::NpyTruncated),
        ("(4294967295, 4294967295, 1)", Code::NpyShape),
        ("(9223372036854775807, 2, 2)", Code::NpyShape),
        ("(18446744073709551615, 0, 9)", Code::NpyShape),
        ("(18446744073709551616, 1, 1)", Code::NpyHeader),
        ("(-1, 2, 2)", Code::NpyHeader),
        ("(2, 2, 2000000000)", Code::NpyTruncated),
        ("(0, 0, 0)", Code::MapShape),
    ] {
        let draft = dense().with("d.npy", npy("<i4", "False", shape, &[1, 0, 0, 0]));
        assert!(draft.told().iter().any(|told| told.0 == code && told.1 == "d.npy"), "{shape}: {:?}", draft.told());
        let dir = draft.made();
        // Of an array whose header does not say where its rows are, nothing is read.
        let status = if matches!(code, Code::NpyShape | Code::NpyHeader) { 8 } else { 0 };
        for command in ["info", "ls"] {
            assert_eq!(run(&[command, text(dir.path())]).0, Some(status), "{shape}");
        }
    }
    for (name, shape) in [("i.npy", "(4294967295, 3)"), ("d.npy", "(268435456, 16, 16, 16)")] {
        let descr = if name == "i.npy" { "<i4" } else { "<i8" };
        let told = sparse().with(name, npy(descr, "False", shape, &[0; 24])).told();
        assert!(told.iter().any(|told| told.0 == Code::NpyTruncated && told.1 == name), "{told:?}");
        assert!(told.iter().any(|told| told.0 == Code::MapBlockCount), "{told:?}");
    }
    let long = [b"\x93NUMPY\x02\x00", &u32::MAX.to_le_bytes()[..], &[b'['; 200]].concat();
    let told = dense().with("d.npy", long).told();
    assert_eq!((told[0].0, told[0].2), (Code::NpyHeader, Some((8, 12))));
}

#[test]
fn a_directory_of_maps_is_one_save() {
    let dir = tempdir().unwrap();
    for name in ["a", "b/c"] {
        sparse().write(&dir.path().join(name));
    }
    dense().set("dim", json!([2, 2, 3])).write(&dir.path().join("z"));
    let save = Save::open(dir.path(), &Options::default()).unwrap();
    let maps: Vec<PathBuf> = save.maps.iter().map(|m| m.dir.strip_prefix(&save.path).unwrap().to_owned()).collect();
    assert_eq!(maps, ["a", "b/c", "z"].map(PathBuf::from));
    let told = told(&findings(dir.path()));
    assert_eq!(told, [(Code::MapShape, "z/d.npy".to_owned(), Some((0, 80)), "Layer Global.".to_owned())]);
    assert_eq!(rows(dir.path()).len(), 5);
    let path = text(dir.path());
    assert_eq!(json_of(&["info", path, "--format", "json"])["maps"].as_array().unwrap().len(), 3);
    assert_eq!(output(&["ls", path, "--format=csv"]).lines().count(), 6);
    assert_eq!(run(&["check", path]).0, Some(4));
}

#[test]
fn a_number_is_the_nearest_to_what_is_written() {
    let text = br#"{"waterSurfaceLevel": 9.49999999999999999999999999999999999999999999991e-7}"#;
    let map = voxscope::voxel_map::map_json::MapData::decode(text).report_to(&mut Vec::new()).unwrap();
    assert_eq!(map.water_surface_level, Some(9.5e-7));
    let again = voxscope::voxel_map::map_json::MapData::decode(&map.encode()).report_to(&mut Vec::new()).unwrap();
    assert_eq!(again.water_surface_level, map.water_surface_level);
}
