//! Data in files of their own, records of pak regions, and saves that lack their description.

use serde_json::Value as Json;

use crate::{Demo, lines, output, run};

/// A directory with files, and the paths of these.
fn files(files: &[(&str, &[u8])]) -> (tempfile::TempDir, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let paths = files.iter().map(|(name, bytes)| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    });
    let paths = paths.collect();
    (dir, paths)
}

const END: [u8; 4] = [0x0d, 0xf0, 0x0d, 0x90];

#[test]
fn a_lone_block_of_version_1_has_an_inferred_or_a_given_size() {
    let raw = [&[0][..], &[7; 4096], &[1, 0].repeat(7), &END].concat();
    let uniform = [&[1, 7][..], &[1, 0].repeat(7), &END].concat();
    let small = [&[0][..], &[7; 64], &[1, 0].repeat(7), &END].concat();
    let (_dir, paths) = files(&[("raw", &raw), ("uniform", &uniform), ("small", &small)]);
    for (path, how) in [(&paths[0], "inferred"), (&paths[1], "assumed")] {
        let text = output(&[path]);
        assert!(text.contains("read as block") && text.contains("16 x 16 x 16 voxels"), "{text}");
        assert!(text.contains(&format!("size and depths · {how}")), "{text}");
        let json: Json = serde_json::from_str(&output(&["show", path, "--format=jsonl"])).unwrap();
        assert_eq!((&json["layout"]["how"], &json["size"]), (&Json::from(how), &serde_json::json!([16, 16, 16])));
    }
    let text = output(&[&paths[1], "--block-size=32"]);
    assert!(text.contains("32 x 32 x 32 voxels") && !text.contains("assumed"), "{text}");
    // No usual size fits this one.
    assert_eq!(run(&[&paths[2]]).code, Some(8));
    let text = output(&["show", &paths[2], "--block-size=4"]);
    assert!(text.contains("4 x 4 x 4 voxels"), "{text}");
    // A save still needs the whole layout.
    let demo = Demo::new();
    assert_eq!(run(&["show", &demo.path("healthy/old-2020"), "--block=0,0,0", "--block-size=16"]).code, Some(16));
}

/// An array of 64-bit integers.
fn array(shape: &str, values: &[i64]) -> Vec<u8> {
    let mut header = format!("{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}, }}");
    header.extend(std::iter::repeat_n(' ', 117 - header.len()));
    header.push('\n');
    let mut bytes = [&b"\x93NUMPY\x01\x00"[..], &118u16.to_le_bytes(), header.as_bytes()].concat();
    bytes.extend(values.iter().flat_map(|n| n.to_le_bytes()));
    bytes
}

#[test]
fn arrays_without_a_description_say_what_they_show() {
    let (dir, paths) = files(&[
        ("Lake_2001_Global.npy", &array("(2, 1, 3)", &[0, 1, 1, 5, 0, 150 << 32 | 1])),
        ("blocks.npy", &array("(1, 16, 16, 16)", &[1; 4096])),
        ("rows.npy", &array("(1, 3)", &[0, 0, 2])),
    ]);
    for command in [&["check"][..], &["info"], &[]] {
        let shown = run(&[command, &[dir.path().to_str().unwrap()]].concat());
        assert_eq!((shown.code, shown.out.as_str()), (Some(8), ""), "{command:?}");
        for said in [
            "Lake_2001_Global.npy: an array without map_data.json: int64 [2, 1, 3]",
            "voxels of a dense layer, 4 voxels with WATER, flags WATER STONE",
            "the upper 32 bits are used, as for depths in centimetres",
            "by its name the layer `Global` of map 2001 in scene `Lake`",
            "rows.npy may be the index of blocks.npy",
            "put its map_data.json beside them",
        ] {
            assert!(shown.err.contains(said), "{command:?}: {said}: {}", shown.err);
        }
    }
    let text = output(&[&paths[0]]);
    assert!(text.contains("voxels of a dense layer") && text.contains("flags WATER STONE"), "{text}");
    let json: Json = serde_json::from_str(&output(&["show", &paths[2], "--as=npy", "--format=json"])).unwrap();
    assert_eq!(json["array"]["shows"], serde_json::json!(["0 to 2", "positions of sparse blocks"]));
}

#[test]
fn the_records_of_chunks_are_listed() {
    let demo = Demo::new();
    let room = demo.path("healthy/pak-room");
    let text = output(&["ls", &room]);
    for row in lines(&output(&["ls", &room, "--format=jsonl"])) {
        let line = format!("record {}", row["slot"]);
        assert!(text.lines().any(|shown| shown.ends_with(&line)), "{line}: {text}");
    }
    assert!(!output(&["ls", &demo.path("healthy/current")]).contains("record"));
}

#[test]
fn chunks_of_several_directories_are_exported_below_their_paths() {
    let demo = Demo::new();
    let game = demo.root.join("game");
    std::fs::create_dir(&game).unwrap();
    for (name, from) in [("a", "healthy/pak-room"), ("b", "healthy/pak-version-6")] {
        std::fs::rename(demo.path(from), game.join(name)).unwrap();
    }
    let to = demo.root.join("arrays");
    let done = run(&["export", game.to_str().unwrap(), "--out", to.to_str().unwrap()]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(done.out.contains("2 saves"), "{}", done.out);
    for below in ["a/export.json", "b/export.json", "a/chunks.jsonl"] {
        assert!(to.join(below).is_file(), "{below}");
    }
}

#[test]
#[cfg(feature = "sqlite")]
fn a_copy_repaired_with_a_given_rule_of_keys_is_clean() {
    let demo = Demo::new();
    let (save, made) = (demo.path("damaged/stream-key-rule"), demo.root.join("made"));
    let done = run(&["repair", &save, "--key-rule=old", "--out", made.to_str().unwrap()]);
    assert_eq!(done.code, Some(1), "{}{}", done.out, done.err);
    assert_eq!(run(&["check", made.to_str().unwrap()]).code, Some(0));
    // An engine of that time wrote it: nothing is wrong with the disk.
    let checked = lines(&run(&["check", &save, "--format=jsonl"]).out);
    let causes: Vec<&Json> = checked.iter().filter(|line| line["type"] == "cause").map(|line| &line["cause"]).collect();
    assert_eq!(causes, ["old-keys"], "{checked:?}");
}
