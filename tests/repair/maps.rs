//! Repair of voxel maps: arrays that were cut, doubled or mislabelled, and descriptions that disagree with them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::arrays::{i4, npy};
use crate::common::trees::{content, mend_twice, trouble};
use serde_json::{Value as Json, json};
use tempfile::TempDir;
use voxscope::damage::Code;
use voxscope::save::{Options, Save};

/// A block of one kind of water.
fn block(kind: i32) -> Vec<i32> {
    vec![1 | kind << 1; 4096]
}

/// Where the numbers of an array begin.
fn start(array: &[u8]) -> usize {
    10 + usize::from(u16::from_le_bytes([array[8], array[9]]))
}

struct Draft {
    json: Json,
    files: Vec<(&'static str, Vec<u8>)>,
}

const PLACES: [[i32; 3]; 4] = [[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1]];

/// 32 x 16 x 32 cells in four blocks of water, 2.5 m deep, and a dense layer of 2 x 2 x 2 cells.
fn map() -> Draft {
    let global = json!({
        "name": "Global", "type": "Global", "format": "block_sparse", "blockSize": 16, "dataFile": "d.npy",
        "depthFile": "z.npy", "indexFile": "i.npy", "blockCount": 4, "origin": [-10.0, 0.5, 3.1],
        "step": [0.1, 1.0, 2.0], "dim": [32, 16, 32],
    });
    let local = json!({
        "name": "Local", "type": "LocalStock", "format": "dense", "blockSize": 0, "dataFile": "l.npy", "indexFile": "",
        "blockCount": 0, "origin": [0.0, 0.0, 0.0], "step": [1.0, 1.0, 1.0], "dim": [2, 3, 4],
    });
    let voxels = (0..4).flat_map(|n| block(n + 1));
    Draft {
        json: json!({"mapID": 7, "timestamp": "t", "waterSurfaceLevel": 9.5, "global": global, "locals": [local]}),
        files: vec![
            ("d.npy", npy("<i4", "False", "(4, 16, 16, 16)", &i4(voxels))),
            ("i.npy", npy("<i4", "False", "(4, 3)", &i4(PLACES.into_iter().flatten()))),
            ("z.npy", npy("<f4", "False", "(32, 32)", &2.5f32.to_le_bytes().repeat(1024))),
            ("l.npy", npy("<i4", "False", "(2, 3, 4)", &i4(1..25))),
        ],
    }
}

impl Draft {
    fn file(&mut self, name: &str) -> &mut Vec<u8> {
        &mut self.files.iter_mut().find(|(n, _)| *n == name).unwrap().1
    }

    fn with(mut self, name: &'static str, change: impl FnOnce(&mut Vec<u8>)) -> Self {
        change(self.file(name));
        self
    }

    fn without(mut self, name: &str) -> Self {
        self.files.retain(|(n, _)| *n != name);
        self
    }

    fn set(mut self, layer: &str, field: &str, value: Json) -> Self {
        self.json.pointer_mut(layer).unwrap()[field] = value;
        self
    }

    fn write(&self) -> (TempDir, PathBuf) {
        self.write_text(&serde_json::to_vec_pretty(&self.json).unwrap())
    }

    fn write_text(&self, text: &[u8]) -> (TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let map = dir.path().join("map");
        fs::create_dir(&map).unwrap();
        fs::write(map.join("map_data.json"), text).unwrap();
        for (name, bytes) in &self.files {
            fs::write(map.join(name), bytes).unwrap();
        }
        (dir, map)
    }

    /// Checks the map, repairs it and its copy; the copy must be clean but for what is `left`.
    fn repaired(&self, found: &[Code], left: &[Code]) -> Done {
        done(self.write(), found, left)
    }
}

struct Done {
    _dir: TempDir,
    to: PathBuf,
    report: Json,
}

fn done((dir, map): (TempDir, PathBuf), found: &[Code], left: &[Code]) -> Done {
    assert_eq!(trouble(&map), found);
    let to = dir.path().join("copy");
    let (outcome, report) = mend_twice(&map, &to, false);
    assert!(!outcome.plan.changes_nothing());
    assert_eq!(trouble(&to), left, "{report:#}");
    Done { _dir: dir, to, report: report["maps"][0].clone() }
}

impl Done {
    fn json(&self) -> Json {
        serde_json::from_slice(&fs::read(self.to.join("map_data.json")).unwrap()).unwrap()
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.to.join(name)).unwrap()
    }

    fn lost(&self, name: &str) -> Vec<u8> {
        self.bytes(&format!("lost+found/{name}"))
    }

    /// What the global layer has in a cell; `None` where there is no block.
    fn cell(&self, cell: [u32; 3]) -> Option<u64> {
        let save = Save::open(&self.to, &Options::default()).unwrap();
        let layer = save.maps[0].layers().next().unwrap().clone();
        let grid = save.maps[0].grid(&layer, &save.options.limits);
        grid.voxel(cell).unwrap().unwrap().bits
    }

    /// The kinds of water of the four blocks.
    fn kinds(&self) -> [Option<u64>; 4] {
        PLACES.map(|at| self.cell(at.map(|n| n.cast_unsigned() * 16 + 5)).map(|bits| bits >> 1))
    }
}

const ALL: [Option<u64>; 4] = [Some(1), Some(2), Some(3), Some(4)];

#[test]
fn a_map_without_faults_is_left_as_it_is() {
    let (dir, map) = map().write();
    assert_eq!(trouble(&map), []);
    let to = dir.path().join("copy");
    let (outcome, _) = mend_twice(&map, &to, false);
    assert!(outcome.plan.changes_nothing());
    assert_eq!(content(&map), content(&to));
}

#[test]
fn data_that_was_cut_keeps_its_whole_voxels_and_the_rest_is_0() {
    // A block and a half, and two bytes of a voxel.
    let draft = map().with("d.npy", |bytes| bytes.truncate(start(bytes) + 6144 * 4 + 2));
    let done = draft.repaired(&[Code::NpyTruncated], &[]);
    assert_eq!(done.kinds(), [Some(1), Some(2), Some(0), Some(0)]);
    assert_eq!((done.cell([16 + 8, 0, 0]), done.cell([16 + 7, 15, 15])), (Some(0), Some(5)));
    assert_eq!(done.report["layers"][0]["filled_with_zero"], 4 * 4096 - 6144);
    assert_eq!(done.bytes("d.npy").len(), map().file("d.npy").len());
}

#[test]
fn a_header_that_claims_far_too_much_is_no_reason_to_write_it() {
    let huge = map().with("l.npy", |bytes| *bytes = npy("<i4", "False", "(90000, 3000, 4)", &i4(1..25)));
    let done = huge.set("/locals/0", "dim", json!([90000, 3000, 4])).repaired(&[Code::NpyTruncated], &[]);
    assert_eq!(done.json()["locals"], json!([]));
    assert_eq!(done.report["layers"][0]["left_out"], "its voxels are lost");
    assert!(done.lost("files/l.npy").len() < 300);
    assert_eq!(done.kinds(), ALL);
}

#[test]
fn depths_that_were_cut_are_0() {
    let draft = map().with("z.npy", |bytes| bytes.truncate(bytes.len() - 400));
    let done = draft.repaired(&[Code::NpyTruncated], &[Code::MapWaterDepth]);
    assert_eq!(done.report["layers"][0]["filled_with_zero"], 100);
    assert!(done.bytes("z.npy").ends_with(&[0; 400]));
}

#[test]
fn an_index_that_was_cut_leaves_blocks_without_a_place() {
    let draft = map().with("i.npy", |bytes| bytes.truncate(bytes.len() - 13));
    let done = draft.repaired(&[Code::NpyTruncated], &[]);
    assert_eq!(done.kinds(), [Some(1), Some(2), None, None]);
    assert_eq!(done.json()["global"]["blockCount"], 2);
    let rows = done.lost("d.npy.rows.npy");
    assert_eq!(rows[start(&rows)..], i4(block(3).into_iter().chain(block(4))));
    let list: Json = serde_json::from_slice(&done.lost("d.npy.rows.json")).unwrap();
    assert_eq!(list["rows"][1], json!({ "row": 3, "block": null, "why": list["rows"][0]["why"], "place": 1 }));
}

#[test]
fn an_array_that_is_overlong_is_normal() {
    let (dir, map) = map().with("d.npy", |bytes| bytes.extend([7; 99])).write();
    assert_eq!(trouble(&map), []);
    let (outcome, _) = mend_twice(&map, &dir.path().join("copy"), false);
    assert!(outcome.plan.changes_nothing());
}

#[test]
fn where_length_and_description_agree_the_header_is_put_right() {
    // A shape that is too small: the file looks overlong, and the index has more rows.
    for shape in ["(3, 16, 16, 16)", "(9, 16, 16, 16)"] {
        let voxels = i4((0..4).flat_map(|n| block(n + 1)));
        let draft = map().with("d.npy", |bytes| *bytes = npy("<i4", "False", shape, &voxels));
        let (dir, source) = draft.write();
        assert!(trouble(&source).contains(&Code::MapBlockCount), "{shape}");
        let done = done((dir, source.clone()), &trouble(&source), &[]);
        assert_eq!((done.kinds(), done.bytes("d.npy")), (ALL, map().file("d.npy").clone()), "{shape}");
    }
}

#[test]
fn a_header_that_cannot_be_read_is_written_anew() {
    for (file, at, byte, code) in [
        ("d.npy", 0, 0x92, Code::NpyMagic),
        ("d.npy", 6, 9, Code::NpyVersion),
        ("i.npy", 14, b'?', Code::NpyHeader),
        ("z.npy", 12, b'X', Code::NpyHeader),
        ("l.npy", 3, b'x', Code::NpyMagic),
    ] {
        let draft = map().with(file, |bytes| bytes[at] = byte);
        let done = draft.repaired(&[code], &[]);
        assert_eq!((done.kinds(), done.bytes(file)), (ALL, map().file(file).clone()), "{file} {code}");
        assert_eq!(done.lost(&format!("{file}.header.bin"))[at], byte);
    }
}

#[test]
fn an_array_of_another_type_is_not_taken_for_one_of_the_same_length() {
    let draft = map().with("l.npy", |bytes| *bytes = npy("<f4", "False", "(2, 3, 4)", &i4(1..25)));
    let done = draft.repaired(&[Code::MapDtype], &[]);
    assert_eq!(done.json()["locals"], json!([]));
    let draft = map().with("l.npy", |bytes| *bytes = npy("<f8", "False", "(2, 3, 4)", &[1; 24 * 8]));
    let done = draft.repaired(&[Code::NpyDtype], &[]);
    assert_eq!(done.json()["locals"], json!([]));
}

#[test]
fn the_description_follows_arrays_that_are_whole() {
    let done = map().set("/locals/0", "dim", json!([2, 3, 5])).repaired(&[Code::MapShape], &[]);
    assert_eq!(done.json()["locals"][0]["dim"], json!([2, 3, 4]));
    let done = map().set("/global", "blockCount", json!(5)).repaired(&[Code::MapBlockCount], &[]);
    assert_eq!(done.json(), map().json);
    let done = map().set("/global", "blockSize", json!(null)).repaired(&[Code::MapField], &[]);
    assert_eq!(done.json(), map().json, "numbers stay as they were written");
    let text = String::from_utf8(done.bytes("map_data.json")).unwrap();
    assert!(text.contains("0.1,"), "{text}");
}

#[test]
fn a_depth_map_of_another_size_is_no_part_of_the_layer() {
    let draft = map().with("z.npy", |bytes| *bytes = npy("<f4", "False", "(5, 5)", &[0; 100]));
    let done = draft.repaired(&[Code::MapShape, Code::MapWaterDepth], &[]);
    assert_eq!(done.json()["global"]["depthFile"], "");
    assert!(!done.to.join("z.npy").exists());
    assert_eq!(
        done.lost("files/z.npy").len(),
        map().with("z.npy", |b| *b = npy("<f4", "False", "(5, 5)", &[0; 100])).file("z.npy").len()
    );
}

#[test]
fn a_layer_whose_file_is_missing_is_left_out() {
    let done = map().without("l.npy").repaired(&[Code::MapFileMissing], &[]);
    assert_eq!(done.json()["locals"], json!([]));
    assert_eq!(done.kinds(), ALL);
}

#[test]
fn a_map_whose_global_layer_cannot_be_read_is_kept_with_its_other_layers() {
    // Without its index nothing shows where the blocks of the global layer are.
    let names = |done: &Done| -> Vec<PathBuf> {
        content(&done.to).into_keys().filter(|path| path.as_path() != Path::new("repair.json")).collect()
    };
    let all = ["d.npy", "l.npy", "map_data.json", "z.npy"].map(PathBuf::from);
    let (_dir, path) = map().without("i.npy").write();
    let save = Save::open(&path, &Options::default()).unwrap();
    let plan = voxscope::repair::plan(&save, &voxscope::repair::Options::default()).unwrap();
    assert!(plan.changes_nothing() && plan.leaves_damage());
    assert_eq!(voxscope::repair::totals(&save, &plan).files_changed, 0);
    // Another layer is put right nevertheless.
    let draft = map().without("i.npy").with("l.npy", |bytes| bytes.truncate(bytes.len() - 6));
    let done = draft.repaired(&[Code::MapFileMissing, Code::NpyTruncated], &[Code::MapFileMissing]);
    assert_eq!(names(&done), all);
    assert_eq!(done.report["layers"][0]["kept_as_it_is"], "the places of its blocks are lost");
}

#[test]
fn of_two_blocks_at_one_place_the_first_stays() {
    let twice = |kind: i32, fortran: bool| {
        let places = [PLACES[0], PLACES[1], PLACES[1], PLACES[3]];
        let blocks = [block(1), block(2), block(kind), block(4)];
        let mut draft = map().with("i.npy", |b| *b = npy("<i4", "False", "(4, 3)", &i4(places.into_iter().flatten())));
        if fortran {
            let voxels = (0..4096).flat_map(|i| blocks.each_ref().map(|b| b[i]));
            *draft.file("d.npy") = npy("<i4", "True", "(4, 16, 16, 16)", &i4(voxels));
        } else {
            *draft.file("d.npy") = npy("<i4", "False", "(4, 16, 16, 16)", &i4(blocks.into_iter().flatten()));
        }
        draft
    };
    for fortran in [false, true] {
        let done = twice(9, fortran).repaired(&[Code::MapIndexTwice], &[]);
        assert_eq!(done.kinds(), [Some(1), Some(2), None, Some(4)]);
        let rows = done.lost("d.npy.rows.npy");
        assert_eq!(rows[start(&rows)..], i4(block(9)));
        let out = &done.report["layers"][0]["blocks_taken_out"];
        assert_eq!(out[0]["block"], json!(PLACES[1]));
        assert_eq!(
            (&out[0]["row"], &out[0]["lost_and_found"], out.as_array().unwrap().len()),
            (&json!(2), &json!(true), 1)
        );
        // A copy is simply dropped.
        let done = twice(2, fortran).repaired(&[Code::MapIndexTwice], &[]);
        assert_eq!(done.kinds(), [Some(1), Some(2), None, Some(4)]);
        assert!(!done.to.join("lost+found/d.npy.rows.npy").exists());
        assert_eq!(done.json()["global"]["blockCount"], 3);
    }
}

#[test]
fn bytes_behind_arrays_that_lose_rows_go_to_lost_and_found() {
    let places = [PLACES[0], PLACES[1], PLACES[1], PLACES[3]];
    let draft = map()
        .with("i.npy", |b| {
            *b = npy("<i4", "False", "(4, 3)", &i4(places.into_iter().flatten()));
            b.push(5);
        })
        .with("d.npy", |b| b.extend([7; 99]));
    let done = draft.repaired(&[Code::MapIndexTwice], &[]);
    assert_eq!((done.lost("d.npy.behind.bin"), done.lost("i.npy.behind.bin")), (vec![7; 99], vec![5]));
    let arrays = [
        ("i.npy", "1 row is taken out"),
        ("i.npy", "1 byte behind the array goes to lost+found"),
        ("d.npy", "99 bytes behind the array go to lost+found"),
        ("d.npy", "1 block is taken out"),
    ];
    let arrays = arrays.map(|(file, what)| json!({ "file": file, "what": what }));
    assert_eq!(done.report["layers"][0]["arrays"], json!(arrays));
}

#[test]
fn blocks_outside_of_the_layer_go_to_lost_and_found() {
    for place in [[2, 0, 0], [0, -1, 0], [0, 1, 0], [i32::MAX; 3]] {
        let places = [PLACES[0], PLACES[1], place, PLACES[3]];
        let draft = map().with("i.npy", |b| *b = npy("<i4", "False", "(4, 3)", &i4(places.into_iter().flatten())));
        let done = draft.repaired(&[Code::MapIndexRange], &[]);
        assert_eq!(done.kinds(), [Some(1), Some(2), None, Some(4)]);
        assert_eq!(done.report["layers"][0]["blocks_taken_out"][0]["block"], json!(place));
        let rows = done.lost("d.npy.rows.npy");
        assert_eq!(rows[start(&rows)..], i4(block(3)));
    }
}

#[test]
fn a_size_that_most_blocks_lie_beyond_is_not_believed() {
    let (dir, source) = map()
        .without("z.npy")
        .set("/global", "depthFile", json!(""))
        .set("/global", "dim", json!([16, 16, 16]))
        .write();
    assert_eq!(trouble(&source), [Code::MapIndexRange]);
    let (outcome, _) = mend_twice(&source, &dir.path().join("copy"), false);
    assert!(outcome.plan.changes_nothing(), "nothing tells what it was");
}

#[test]
fn a_description_that_was_cut_keeps_its_whole_layers() {
    let mut draft = map();
    let again = draft.json["locals"][0].clone();
    draft.json["locals"].as_array_mut().unwrap().push(again);
    draft.json["locals"][1]["name"] = json!("Second");
    draft.json["locals"][1]["dataFile"] = json!("m.npy");
    draft.files.push(("m.npy", npy("<i4", "False", "(2, 3, 4)", &i4(1..25))));
    let text = serde_json::to_string(&draft.json).unwrap();
    let (dim, origin) = (text.rfind("\"dim\"").unwrap(), text.rfind("\"origin\"").unwrap());
    // What a dense array says of itself does not have to stand there.
    let whole = done(draft.write_text(&text.as_bytes()[..dim + 9]), &[Code::MapUnreadable], &[]);
    assert_eq!(whole.json(), draft.json);
    // Where it lies does.
    let done = done(draft.write_text(&text.as_bytes()[..origin + 5]), &[Code::MapUnreadable], &[]);
    assert_eq!(done.json()["locals"].as_array().unwrap().len(), 1);
    assert_eq!(done.kinds(), ALL);
    assert!(!done.to.join("m.npy").exists());
    assert_eq!(done.lost("files/m.npy"), draft.file("m.npy").clone());
    assert_eq!(done.lost("files/map_data.json"), text.as_bytes()[..origin + 5]);
}

#[test]
fn a_description_that_cannot_be_read_is_set_aside_with_its_arrays() {
    for text in [&b""[..], b"{\"mapID\": 7, \"glo", b"\0\0\0\0", b"[1, 2]"] {
        let done = done(map().write_text(text), &[Code::MapUnreadable], &[]);
        assert_eq!(done.report["action"], "set aside");
        assert_eq!(content(&done.to).len(), 5);
        assert_eq!(done.lost("files/map_data.json"), text);
    }
}

#[test]
fn layers_of_one_array_are_repaired_together() {
    let mut draft = map().with("l.npy", |bytes| bytes.truncate(bytes.len() - 6));
    let again = draft.json["locals"][0].clone();
    draft.json["locals"].as_array_mut().unwrap().push(again);
    let done = draft.repaired(&[Code::NpyTruncated], &[]);
    assert_eq!(done.json()["locals"].as_array().unwrap().len(), 2);
    assert!(done.bytes("l.npy").ends_with(&[22, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
}

#[test]
fn what_is_odd_in_the_voxels_is_data() {
    let draft = map().with("z.npy", |bytes| {
        let at = start(bytes);
        bytes[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    });
    let (dir, source) = draft.write();
    assert_eq!(trouble(&source), [Code::MapWaterDepth]);
    let (outcome, _) = mend_twice(&source, &dir.path().join("copy"), false);
    assert!(outcome.plan.changes_nothing());
}

/// What the deepest check says of a map, without where.
fn said(source: &Path) -> String {
    let save = Save::open(source, &Options::default()).unwrap();
    let options = voxscope::check::Options::default().level(voxscope::check::Level::Semantic);
    let mut text = String::new();
    voxscope::check::run(&save, &options, |finding| text.push_str(&(finding.message() + "\n")));
    text
}

#[test]
fn the_deepest_check_gives_the_evidence() {
    let twice = [PLACES[0], PLACES[1], PLACES[1], PLACES[3]];
    let index = npy("<i4", "False", "(4, 3)", &i4(twice.into_iter().flatten()));
    for (draft, words) in [
        (map().with("i.npy", |b| *b = index), "Their voxels differ from those of the earlier blocks."),
        (map().with("d.npy", |b| b.truncate(start(b) + 6144 * 4)), "1 of 4 blocks are whole."),
        (map().with("d.npy", |b| b[6] = 9), "The length of the file matches the description, (4, 16, 16, 16) int32."),
        (
            map().set("/locals/0", "dim", json!([2, 3, 5])),
            "The length of the file matches its header, (2, 3, 4) int32.",
        ),
    ] {
        let (_dir, source) = draft.write();
        let text = said(&source);
        assert!(text.contains(words), "{words}\n{text}");
    }
    let text = serde_json::to_string(&map().json).unwrap();
    // Without its size, which its array has, a layer can be read; a repair leaves out one without its place.
    for (cut, words) in [(10, "2 layers can be read"), (30, "One layer can be read")] {
        let (_dir, source) = map().write_text(&text.as_bytes()[..text.len() - cut]);
        assert!(said(&source).contains(words), "{}", said(&source));
    }
}
