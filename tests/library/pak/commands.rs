//! Pak regions on the command line.

use std::fs;

use serde_json::{Value as Json, json};

use super::{B, LEN, NAME, STREAM_B, blocks, head, layer, lines, plain, put, run, saved, with, zlib};

fn out(arguments: &[&str]) -> String {
    let (code, out, err) = run(arguments);
    assert_eq!((code, &*err), (0, ""), "{arguments:?}");
    out
}

fn json_of(arguments: &[&str]) -> Json {
    serde_json::from_str(&out(arguments)).unwrap()
}

#[test]
fn listing_a_room_and_a_file() {
    let room = saved(&[(NAME, &layer()), ("x0_y0_z0.region", &layer())]);
    let file = room.root.join(NAME);
    for (path, rows) in [(room.path(), 4), (file.to_str().unwrap(), 2)] {
        let text = out(&["ls", path, "--format", "jsonl"]);
        let all: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(all.len(), rows);
        let b = all.iter().find(|row| row["position"] == json!(B)).expect("chunk B");
        assert_eq!(
            (&b["file"], &b["slot"], &b["sector"], &b["container"]),
            (&json!(NAME), &json!(33), &json!(5), &json!("zlib"))
        );
        assert!(out(&["ls", path]).contains("-31"));
        assert!(out(&["ls", path, "container=zlib", "x=-31", "--format=csv"]).lines().count() == 2);
    }
}

#[test]
fn what_a_room_is_made_of() {
    let room = saved(&[(NAME, &layer()), ("x0_y0_z0.region", &layer()), ("x1_y0_z0.region", b"cut")]);
    let of = |arguments: &[&str]| {
        let (code, out, err) = run(arguments);
        assert_eq!(code, 8, "{err}");
        assert!(err.contains("x1_y0_z0.region: header of the pak region is cut short"), "{err}");
        out
    };
    let text = of(&["info", room.path(), "--format", "json"]);
    let info: Json = serde_json::from_str(&text).unwrap();
    let files = info["rooms"][0]["files"].as_array().unwrap_or_else(|| panic!("{text}"));
    assert_eq!(files.len(), 3);
    let file = files.iter().find(|file| file["name"] == NAME).unwrap();
    assert_eq!((&file["region"], &file["bytes"]), (&json!([-1, 0, 2]), &json!(28_672)));
    let header = &file["header"];
    assert_eq!(
        (&header["tag"], &header["version"], &header["records"], &header["chunks"]),
        (&json!("what"), &json!(7), &json!(1024), &json!(2))
    );
    assert_eq!((&header["reading"]["value"], &header["reading"]["how"]), (&json!("blocks"), &json!("inferred")));
    assert_eq!(
        header["blocks"],
        json!({ "in_file": 7, "header": 3, "used": 4, "shared": 0, "free": 0, "beyond_end": 0 })
    );
    assert_eq!(files.iter().filter(|file| file["header"].is_null()).count(), 1);
    let human = of(&["info", room.path()]);
    for words in ["3 pak regions", "(-1, 0, 2)", "what", "in blocks, inferred", "cannot be read"] {
        assert!(human.contains(words), "{words}: {human}");
    }
}

#[test]
fn showing_a_chunk() {
    let saved = saved(&[(NAME, &layer())]);
    let path = saved.path();
    for arguments in [
        &["show", path, "--block", "-31,0,65"][..],
        &["show", path, "--block=-31,0,65"],
        &["show", path, "--record", "33"],
    ] {
        let human = out(arguments);
        for words in [
            "chunk (-31, 0, 65)",
            "record 33",
            "block offset 2 · 2 blocks · length 4107",
            "first block: blocks · inferred",
            "16 x 16 x 16 voxels of 1 byte",
            "Nothing is wrong with its data.",
        ] {
            assert!(human.contains(words), "{words}: {human}");
        }
        let json = json_of(&[arguments, &["--format=json"]].concat());
        assert_eq!(
            (&json["chunk"], &json["record"], &json["bytes"]),
            (&json!(B), &json!(33), &json!([STREAM_B, STREAM_B + LEN]))
        );
        assert_eq!((&json["plain"], &json["whole"], &json["findings"]), (&json!(4096), &json!(true), &json!([])));
        assert_eq!(json["shape"]["value"], json!({ "size": [16, 16, 16], "voxel_bytes": 1 }));
    }
    // Chunks of 16: voxel x = -31 * 16 + 1, y = 2, z = 65 * 16 + 3.
    let json = json_of(&["show", path, "--voxel", "-495,2,1043", "--format", "json"]);
    // A chunk of 16 x 16 x 16 is indexed x, y, z.
    let value = plain(2)[3 + 16 * (2 + 16)];
    assert_eq!(
        (&json["chunk"], &json["voxel"]["inside"], &json["voxel"]["value"]),
        (&json!(B), &json!([1, 2, 3]), &json!(value))
    );
    let human = out(&["show", path, "--voxel", "-495,2,1043"]);
    assert!(human.contains(&format!("{value} (0x{value:x})")) && human.contains("the last axis fastest: xyz"));
    for arguments in [
        &["show", path, "--block", "-30,0,65"][..],
        &["show", path, "--block", "-31,1,65"],
        &["show", path, "--record", "34"],
        &["show", path, "--record", "5000"],
        &["show", path, "--voxel", "0,0,0"],
    ] {
        let (code, out, err) = run(arguments);
        assert!(code == 8 && out.is_empty() && !err.is_empty(), "{arguments:?}: {code} {err}");
    }
    // A damaged one is shown as far as it goes, with what is wrong.
    fs::write(saved.root.join(NAME), with(&layer(), STREAM_B + LEN - 1, &[0])).unwrap();
    let json = json_of(&["show", path, "--record", "33", "--format=json"]);
    assert_eq!((&json["whole"], &json["plain"]), (&json!(false), &json!(4096)));
    assert_eq!(json["findings"][0]["code"], "pak-zlib-checksum");
    assert!(out(&["show", path, "--record", "33"]).contains("4,096 decompressed, not whole"));
}

#[test]
fn strings_are_shown_of_version_7_only() {
    let mut voxels = plain(1);
    put(&mut voxels, 100, b"\x0e\0Component.Lamp\0");
    for (version, shown) in [(7, true), (6, false)] {
        let file = [head(version, 1024, 3, &[(0, 0, 2, LEN)]), blocks(&[&zlib(&voxels)])].concat();
        let saved = saved(&[("x0_y0_z0.region", &file)]);
        let human = out(&["show", saved.path(), "--block=0,0,0"]);
        assert_eq!(human.contains("Component.Lamp"), shown, "{human}");
        let json = json_of(&["show", saved.path(), "--block=0,0,0", "--format=json"]);
        assert_eq!(json["texts"].to_string().contains("Component.Lamp"), shown);
    }
}

#[test]
fn what_is_inferred_can_be_given() {
    let saved = saved(&[(NAME, &layer())]);
    let path = saved.path();
    let shape =
        |more: &[&str]| json_of(&[&["show", path, "--record=33", "--format=json"], more].concat())["shape"].clone();
    assert_eq!(shape(&["--chunk-shape", "8,16,32"])["value"], json!({ "size": [8, 16, 32], "voxel_bytes": 1 }));
    assert_eq!(shape(&["--chunk-shape", "16,8,16"])["value"], json!({ "size": [16, 8, 16], "voxel_bytes": 2 }));
    let given = shape(&["--chunk-shape", "16,8,16", "--voxel-bytes", "2"]);
    assert_eq!((&given["how"], &given["value"]["voxel_bytes"]), (&json!("given"), &json!(2)));
    assert_eq!(run(&["check", path]).0, 0);
    assert_eq!(run(&["check", path, "--chunk-shape", "8,16,32"]).0, 0);
    // What does not fit is said, of each chunk.
    let wrong = run(&["check", path, "--chunk-shape", "32,32,32", "--voxel-bytes", "1", "--format=jsonl"]);
    let found = lines(&wrong.1);
    assert_eq!((wrong.0, found.len()), (4, 2), "{}", wrong.1);
    assert!(found.iter().all(|line| line["code"] == "pak-shape" && line["block_bytes"] == json!([0, 4096])));
    for wrong in
        [["--chunk-shape", "0,1,1"], ["--chunk-shape", "1,1"], ["--voxel-bytes", "9"], ["--pak-offset", "rows"]]
    {
        assert_eq!(run(&[&["check", path], &wrong[..]].concat()).0, 16, "{wrong:?}");
    }
}
