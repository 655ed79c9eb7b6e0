//! Files and chunks in the wrong place, and blocks to which no table leads: every command that reads blocks says so, with one code
//! and the same number.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;
use tempfile::tempdir;

use crate::{Demo, lines, run};

fn report(path: &Path) -> Json {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn region_files_that_have_the_names_of_others_are_named_where_their_blocks_are_used() {
    let demo = Demo::new();
    let save = demo.path("damaged/region-misnamed");
    let dir = tempdir().unwrap();
    let to = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let names = ["regions/lod0/r.0.0.0.vxr", "regions/lod0/r.1.0.1.vxr"];
    let listed = lines(&run(&["ls", &save, "--format=jsonl"]).out);
    let blocks = listed.iter().filter(|row| names.iter().any(|name| row["file"] == *name)).count();
    for arguments in [
        &["convert", &save, "--out", &to("converted")][..],
        &["export", &save, "--out", &to("arrays")],
        &["export", &save, "--slice", "y=1", "--out", &to("slice.png")],
        &["export", &save, "--map", &to("map.png")],
        // A part of the world in which one file is: it is compared with its neighbours, and then with all files.
        &["export", &save, "--box", "0,0,0..8,8,8", "--map", &to("part.png")],
    ] {
        let run = run(arguments);
        assert_eq!(run.code, Some(4), "{arguments:?}: {}", run.err);
        let is_part = arguments.contains(&"--box");
        let expected = if is_part { blocks / 2 } else { blocks };
        assert!(run.err.contains(&format!("{expected} blocks that can be read are in the wrong place")), "{}", run.err);
        assert!(run.err.contains(names[0]) && run.err.contains("belong to another region"), "{}", run.err);
        assert_eq!(run.err.contains(names[1]), !is_part, "{}", run.err);
    }
    for json in [report(&dir.path().join("converted/convert.json")), report(&dir.path().join("arrays/export.json"))] {
        assert_eq!(json["misplaced"], blocks, "{json}");
        let files: Vec<&Json> = json["files_misplaced"].as_array().unwrap().iter().map(|file| &file["file"]).collect();
        assert_eq!(files, names);
        assert_eq!(json["files_unread"], serde_json::json!([]));
    }
    // The copy of a repair has nothing in the wrong place.
    assert_eq!(run(&["repair", &save, "--out", &to("repaired")]).code, Some(1));
    let again = run(&["export", &to("repaired"), "--out", &to("again")]);
    assert_eq!((again.code, again.err.as_str()), (Some(0), ""));
    assert_eq!(report(&dir.path().join("again/export.json"))["files_misplaced"], serde_json::json!([]));
}

#[test]
fn blocks_to_which_no_table_leads_are_not_left_out_in_silence() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    let to = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let after_empty_table = "8 whole blocks to which no table leads are not";
    let in_gap = "1 whole block to which no table leads is not";
    let healthy = demo.path("healthy/current");
    for (sample, unowned, words) in [("table-empty", 8, after_empty_table), ("table-gap", 1, in_gap)] {
        let save = demo.path(&format!("damaged/{sample}"));
        let outputs = ["converted", "arrays"].map(|kind| to(&format!("{sample}-{kind}")));
        for (command, out) in ["convert", "export"].iter().zip(&outputs) {
            let run = run(&[command, &save, "--out", out]);
            assert_eq!(run.code, Some(4), "{command} {sample}: {}", run.err);
            assert!(
                run.err.contains(words) && run.err.contains("`voxscope repair`"),
                "{command} {sample}: {}",
                run.err
            );
        }
        let [converted, arrays] = &outputs;
        for json in [Path::new(converted).join("convert.json"), Path::new(arrays).join("export.json")] {
            assert_eq!(report(&json)["unowned"], unowned, "{sample}");
        }
        // Both sides of a comparison, and pictures of regions of which no block is drawn.
        for (arguments, side) in [([&healthy, &save], 1), ([&save, &healthy], 0)] {
            let run = run(&["diff", arguments[0], arguments[1], "--format=jsonl"]);
            assert_eq!(run.code, Some(2), "{sample}: {}", run.err);
            let words = words.replace("exported", "compared");
            assert!(run.err.contains(&format!("{}: {words}", ["a", "b"][side])), "{sample}: {}", run.err);
            let mut expected = [0, 0];
            expected[side] = unowned;
            assert_eq!(lines(&run.out).last().unwrap()["unowned"], serde_json::json!(expected), "{sample}");
        }
        let of_lod_1 = run(&["diff", &healthy, &save, "--lod=1"]);
        assert!(!of_lod_1.err.contains("no table leads"), "{sample}: {}", of_lod_1.err);
    }
    // Old states after the blocks of an undamaged table are normal.
    let save = demo.path("damaged/block-unlisted");
    let compared = run(&["diff", &save, &save]);
    assert_eq!((compared.code, compared.err.as_str()), (Some(0), ""));
    let converted = run(&["convert", &save, "--out", &to("unlisted")]);
    assert_eq!((converted.code, converted.err.as_str()), (Some(0), ""));
}

#[test]
fn pictures_name_unowned_blocks_of_regions_of_which_nothing_is_drawn() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    let to = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let save = demo.path("damaged/table-empty");
    // The region without a table is that of positions 0 to 3; blocks have 16 voxels.
    let words = "8 whole blocks to which no table leads are not drawn";
    for (arguments, is_named) in [
        (&["--slice", "y=3", "--out", &to("slice.png")][..], true),
        (&["--slice", "y=3", "--box", "-16,0,0..0,16,16", "--out", &to("box.png")], false),
        (&["--slice", "y=3", "--box", "-16,0,0..16,16,16", "--out", &to("both.png")], true),
        (&["--map", &to("map.png")], true),
        (&["--map", &to("part.png"), "--box", "-16,0,0..0,16,16"], false),
        (&["--map", &to("cut.png"), "--slice", "y=3"], true),
        (&["--map", &to("below.png"), "--slice", "y=-3"], false),
    ] {
        let run = run(&[&["export", &save][..], arguments].concat());
        assert_eq!(run.err.contains(words), is_named, "{arguments:?}: {}", run.err);
        assert_eq!(run.code, Some(if is_named { 4 } else { 0 }), "{arguments:?}: {}", run.err);
    }
}

#[test]
fn chunks_that_belong_to_other_records_are_reported() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    let to = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    for (sample, code, records, words) in [
        ("pak-misplaced", "pak-misplaced", 2, "2 chunks that can be read are in the wrong place, or may be"),
        ("pak-overlap", "pak-overlap", 2, "2 chunks that can be read are in the wrong place, or may be"),
    ] {
        let save = demo.path(&format!("damaged/{sample}"));
        let arrays = to(&format!("{sample}-arrays"));
        for arguments in [
            &["export", &save, "--out", &arrays][..],
            &["export", &save, "--map", &to(&format!("{sample}.png"))],
            &["export", &save, "--slice", "y=1", "--out", &to(&format!("{sample}-slice.png"))],
        ] {
            let run = run(arguments);
            assert_eq!(run.code, Some(4), "{arguments:?}: {}", run.err);
            assert!(run.err.contains(words), "{arguments:?}: {}", run.err);
        }
        let json = report(&Path::new(&arrays).join("export.json"));
        assert_eq!((&json["misplaced"], &json["damaged"]), (&records.into(), &0.into()), "{json}");
        let chunks = lines(&fs::read_to_string(Path::new(&arrays).join("chunks.jsonl")).unwrap());
        let found: Vec<&Json> = chunks.iter().filter(|chunk| chunk["misplaced"] == true).collect();
        assert_eq!(found.len(), records);
        assert!(found.iter().all(|chunk| chunk["findings"] == serde_json::json!([code])), "{found:?}");
        // `check` has its findings at the same chunks.
        let checked = lines(&run(&["check", &save, "--format=jsonl"]).out);
        let named: Vec<&Json> = checked.iter().filter(|line| line["code"] == code).map(|line| &line["block"]).collect();
        let mut chunks: Vec<&Json> = found.iter().map(|chunk| &chunk["chunk"]).collect();
        assert!(named.iter().all(|block| chunks.contains(block)), "{named:?} {chunks:?}");
        chunks.retain(|chunk| !named.contains(chunk));
        assert!(chunks.is_empty(), "{chunks:?}");
    }
}

#[test]
fn all_commands_say_the_same_of_a_record_that_shares_its_blocks() {
    let demo = Demo::new();
    let save = demo.path("damaged/pak-overlap");
    let dir = tempdir().unwrap();
    let arrays = dir.path().join("arrays");
    run(&["export", &save, "--out", arrays.to_str().unwrap()]);
    let chunks = lines(&fs::read_to_string(arrays.join("chunks.jsonl")).unwrap());
    let rows = lines(&run(&["ls", &save, "--format=jsonl"]).out);
    assert_eq!(rows.len(), chunks.len());
    for (row, chunk) in rows.iter().zip(&chunks) {
        let number = row["slot"].to_string();
        let shown: Json =
            serde_json::from_str(&run(&["show", &save, "--record", &number, "--format=json"]).out).unwrap();
        assert_eq!(row["position"], chunk["chunk"]);
        assert_eq!((&row["plain"], &shown["plain"]), (&chunk["bytes"], &chunk["bytes"]), "record {number}");
        let span = shown["bytes"].as_array().unwrap();
        assert_eq!(row["bytes"], span[1].as_u64().unwrap() - span[0].as_u64().unwrap(), "record {number}");
        let codes = shown["findings"].as_array().unwrap().iter().map(|finding| finding["code"].clone());
        assert_eq!(row["codes"], Json::from(codes.collect::<Vec<_>>()), "record {number}");
        assert_eq!(row["codes"], chunk["findings"], "record {number}");
    }
    for row in &rows[1..3] {
        assert_eq!(row["codes"], serde_json::json!(["pak-overlap"]), "{row}");
    }
}

#[test]
fn a_wrong_record_hides_nothing_of_a_whole_stream() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    for (sample, code) in [("pak-file-length", 0), ("pak-record-blocks", 0), ("pak-zlib", 4), ("pak-zlib-cut", 4)] {
        let save = demo.path(&format!("damaged/{sample}"));
        let to = |name: &str| dir.path().join(format!("{sample}{name}")).to_str().unwrap().to_owned();
        for arguments in [
            &["export", &save, "--out", &to("")][..],
            &["export", &save, "--map", &to(".png")],
            &["export", &save, "--slice", "y=1", "--out", &to("-slice.png")],
        ] {
            let run = run(arguments);
            assert_eq!(run.code, Some(code), "{arguments:?}: {}", run.err);
            assert!(!run.err.contains("block ("), "{}", run.err);
        }
    }
}
