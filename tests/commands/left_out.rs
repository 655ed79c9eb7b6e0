//! What holds blocks and is not read is named by every command, in the same words.

use std::fs;

use serde_json::Value as Json;
use tempfile::tempdir;

use crate::common::copy_dir;
use crate::{Demo, lines, run};

#[test]
fn chunks_that_the_header_does_not_count_are_named() {
    let demo = Demo::new();
    let save = demo.path("damaged/pak-count-low");
    let dir = tempdir().unwrap();
    let to = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let words = "x0_y0_z0.region: number of records is too low (16; the file has 1,024): 1 whole chunk belongs to a record that the header does not count";
    let mut commands = vec![vec!["ls", &save], vec!["info", &save]];
    let (arrays, table) = (to("arrays"), to("table.csv"));
    let database = to("table.sqlite");
    commands.push(vec!["export", &save, "--out", &arrays]);
    commands.push(vec!["export", &save, "--table", "--out", &table]);
    if cfg!(feature = "sqlite") {
        commands.push(vec!["export", &save, "--table", "--out", &database]);
    }
    let picture = to("map.png");
    commands.push(vec!["show", &save, "--record", "0"]);
    commands.push(vec!["show", &save, "--record", "33"]);
    commands.push(vec!["show", &save, "--block", "1,0,1"]);
    commands.push(vec!["export", &save, "--map", &picture]);
    let slice = to("slice.png");
    commands.push(vec!["export", &save, "--slice", "y=1", "--out", &slice]);
    for arguments in commands {
        let run = run(&arguments);
        assert_eq!(run.code, Some(8), "{arguments:?}: {}", run.err);
        assert!(run.err.contains(words), "{arguments:?}: {}", run.err);
    }
    assert!(run(&["show", &save, "--record", "0"]).out.contains("record 0"), "what is counted is shown");
    let json: Json = serde_json::from_slice(&fs::read(dir.path().join("arrays/export.json")).unwrap()).unwrap();
    assert_eq!(json["files_unread"].as_array().unwrap().len(), 1, "{json}");
    // `repair` reads them.
    assert_eq!(run(&["repair", &save, "--out", &to("repaired")]).code, Some(1));
    let again = run(&["ls", &to("repaired"), "--format=jsonl"]);
    assert_eq!((again.code, lines(&again.out).len()), (Some(0), 3), "{}", again.err);
    // Files whose number of records is unusual and right say nothing.
    for sample in ["healthy/pak-numbers", "healthy/pak-sizes-differ", "healthy/pak-room"] {
        let run = run(&["ls", &demo.path(sample)]);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{sample}");
    }
}

#[test]
fn maps_of_which_nothing_is_read_are_named_by_every_command() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    for (sample, words) in [
        ("map-unreadable", "map_data.json: the description is not readable JSON"),
        ("map-format", "map_data.json: format of the layer is unknown"),
        ("npy-cut", "Lake_Global.npy: header of the array is cut short"),
        ("npy-dtype", "Lake_Global.npy: number type of the array is not one of a map"),
        ("npy-header", "Lake_Global.npy: header of the array is not valid"),
        ("npy-magic", "Lake_Global.npy: first bytes are not those of a NumPy array"),
        ("npy-shape", "Lake_Global.npy: number of dimensions of the array is not valid"),
        ("npy-version", "Lake_Global.npy: version of the array file is unknown"),
    ] {
        let save = demo.path(&format!("damaged/{sample}"));
        let to = |name: &str| dir.path().join(format!("{sample}{name}")).to_str().unwrap().to_owned();
        assert_eq!(run(&["check", &save]).code, Some(4), "{sample}");
        for arguments in [
            &["info", &save][..],
            &["ls", &save],
            &["show", &save, "--voxel", "3,3,3"],
            &["export", &save, "--layer", "0", "--out", &to("-layer")],
            &["export", &save, "--layer", "0", "--slice", "y=1", "--out", &to("-slice.png")],
            &["export", &save, "--map", &to("-map.png")],
            &["export", &save, "--table", "--out", &to(".csv")],
        ] {
            let run = run(arguments);
            assert_eq!(run.code, Some(8), "{arguments:?}: {}{}", run.out, run.err);
            assert!(run.err.contains(words), "{arguments:?}: {}", run.err);
            assert!(run.err.contains("is read") || run.err.contains("is not read"), "{arguments:?}: {}", run.err);
            let wrong = ["nothing is stored", "outside of every layer", "of LOD", "0 voxels"];
            wrong
                .iter()
                .for_each(|wrong| assert!(!run.out.contains(wrong) && !run.err.contains(wrong), "{arguments:?}"));
        }
        let info: Json = serde_json::from_str(&run(&["info", &save, "--format=json"]).out).unwrap();
        let map = &info["maps"][0];
        let why = if sample == "map-unreadable" { &map["left_out"] } else { &map["layers"][0]["left_out"] };
        let why = format!("{}: {}", why["file"].as_str().unwrap(), why["why"].as_str().unwrap());
        assert!(why.starts_with(words), "{why}");
    }
    for sample in ["healthy/map-sparse", "healthy/map-dense", "healthy/map-packed-depth"] {
        for command in ["info", "ls"] {
            let run = run(&[command, &demo.path(sample)]);
            assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{sample}");
        }
    }
}

#[test]
fn a_cut_array_shows_in_the_rows_of_its_blocks() {
    let demo = Demo::new();
    let row = |sample: &str| lines(&run(&["ls", &demo.path(sample), "--format=jsonl"]).out).remove(0);
    assert_eq!(row("damaged/npy-truncated")["codes"], serde_json::json!(["npy-truncated"]));
    assert_eq!(row("damaged/map-shape")["codes"], serde_json::json!(["map-shape"]));
    assert_eq!(row("healthy/map-sparse")["codes"], serde_json::json!([]));
    let text = run(&["ls", &demo.path("damaged/npy-truncated")]).out;
    assert!(text.contains("npy-truncated · WATER 579"), "{text}");
    // The voxels of a block in Fortran order are there, though not in one piece.
    let row = row("damaged/npy-fortran");
    assert_eq!((&row["bytes"], &row["offset"]), (&16_384.into(), &Json::Null), "{row}");
}

#[test]
fn an_exported_layer_is_called_by_its_name() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    let out = dir.path().join("layer");
    let ran = run(&["export", &demo.path("healthy/map-sparse"), "--layer", "0", "--out", out.to_str().unwrap()]);
    assert!(ran.out.contains("cells of Lake_Global"), "{}", ran.out);
}

#[test]
fn messages_about_paks_and_maps_use_their_words() {
    let demo = Demo::new();
    let pak = demo.path("healthy/pak-room");
    for arguments in [&["--block", "900,0,0"][..], &["--voxel", "90000,0,0"]] {
        let run = run(&[&["show", &pak], arguments].concat());
        assert_eq!(run.code, Some(8), "{}", run.out);
        assert!(run.err.contains("no record has") && !run.err.contains("LOD"), "{}", run.err);
    }
    let map = demo.path("healthy/map-sparse");
    for (option, named) in [("--voxel=9000,0,0", "cell (9000, 0, 0)"), ("--at=9000,0,0", "world (9000, 0, 0)")] {
        for format in ["text", "json"] {
            let ran = run(&["show", &map, option, "--format", format]);
            assert_eq!((ran.code, ran.out.as_str()), (Some(8), ""), "{option}");
            assert!(ran.err.contains(&format!("{named} is outside of every layer")), "{}", ran.err);
            assert!(!ran.err.contains("LOD"), "{}", ran.err);
        }
    }
    let ran = run(&["show", &map, "--at=9000,0,0"]);
    assert!(
        ran.err.contains("Lake_Global goes from (-10.00, 2.00, -7.00) to (10.00, 8.00, 7.00), in metres"),
        "{}",
        ran.err
    );
    // Sizes that are listed are not looked up elsewhere.
    assert!(!ran.err.contains("voxscope info"), "{}", ran.err);
    let ran = run(&["show", &demo.path("healthy/current"), "--record=1"]);
    assert!(ran.err.contains("--record is for pak regions, and there is none here"), "{}", ran.err);
    let dense = run(&["ls", &demo.path("healthy/map-dense")]).out;
    assert!(dense.lines().any(|line| line.split_whitespace().take(2).eq(["0", "all"])), "{dense}");
}

#[test]
fn bytes_after_a_block_in_its_file_are_named() {
    let demo = Demo::new();
    let save = demo.path("damaged/block-file-trailing");
    let dir = tempdir().unwrap();
    let to = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let listed = lines(&run(&["ls", &save, "--format=jsonl"]).out);
    let marked: Vec<&Json> =
        listed.iter().filter(|row| row["codes"] == serde_json::json!(["block-file-trailing"])).collect();
    assert_eq!((marked.len(), &marked[0]["position"]), (1, &serde_json::json!([1, 0, 0])), "{listed:?}");
    for command in [["export", &save, "--out", &to("arrays")], ["convert", &save, "--out", &to("forest")]] {
        let run = run(&command);
        assert_eq!(run.code, Some(0), "{command:?}: {}", run.err);
        assert!(
            run.err.contains("+1+0+0.vxb: bytes after the block in its file (64 bytes)"),
            "{command:?}: {}",
            run.err
        );
    }
}

#[test]
fn the_file_of_a_map_is_named_once() {
    let demo = Demo::new();
    let ran = run(&["ls", &demo.path("damaged/map-unreadable")]);
    assert_eq!(ran.err.matches("map_data.json").count(), 1, "{}", ran.err);
}

/// A map that lost its description, and a rig of VoxEdit, beside a world.
#[test]
fn arrays_and_rigs_beside_a_world_are_named_for_what_they_are() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    copy_dir(demo.path("healthy/current"), dir.path().join("world"));
    copy_dir(demo.path("healthy/map-dense"), dir.path().join("map"));
    fs::remove_file(dir.path().join("map/map_data.json")).unwrap();
    let arrays = fs::read_dir(dir.path().join("map")).unwrap().count();
    fs::write(dir.path().join("model.vxr"), b"VXR9 and the bones of a rig").unwrap();
    let all = dir.path().to_str().unwrap();
    let findings = lines(&run(&["check", all, "--format=jsonl", "--notes"]).out);
    let foreign: Vec<&Json> = findings.iter().filter(|line| line["code"] == "name-foreign").collect();
    assert_eq!(foreign.len(), 1, "{findings:?}");
    assert_eq!(foreign[0]["file"], "map");
    assert!(foreign[0].to_string().contains(&format!("{arrays} arrays")), "{foreign:?}");
    let to = dir.path().with_extension("converted");
    let ran = run(&["convert", all, "--out", to.to_str().unwrap()]);
    fs::remove_dir_all(&to).unwrap();
    assert_eq!(ran.code, Some(8), "{}", ran.err);
    assert!(ran.err.contains("model.vxr") && !ran.err.contains("layout of its blocks"), "{}", ran.err);
    // What an export wrote is no map that lost its description.
    let arrays = dir.path().join("arrays");
    fs::remove_dir_all(dir.path().join("map")).unwrap();
    fs::remove_file(dir.path().join("model.vxr")).unwrap();
    assert_eq!(run(&["export", all, "--out", arrays.to_str().unwrap()]).code, Some(0));
    let checked = run(&["check", all, "--format=jsonl", "--notes"]);
    assert!(!checked.out.contains("name-foreign"), "{}", checked.out);
}

#[test]
fn whole_blocks_after_an_empty_table_are_named() {
    let demo = Demo::new();
    let save = demo.path("damaged/table-empty");
    let other = std::path::Path::new(&save).join("regions/lod0/r.-1.0.0.vxr");
    let dir = tempdir().unwrap();
    let to = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let words = "regions/lod0/r.0.0.0.vxr: no table entry is in use although blocks follow the table: 8 whole blocks are left out";
    // Beside blocks of another file, and alone.
    for blocks in [4, 0] {
        let (table, database) = (to(&format!("{blocks}.csv")), to(&format!("{blocks}.sqlite")));
        let mut commands = vec![
            vec!["ls", &save],
            vec!["info", &save],
            vec!["info", &save, "--format=json"],
            vec!["export", &save, "--table", "--out", &table],
        ];
        if cfg!(feature = "sqlite") {
            commands.push(vec!["export", &save, "--table", "--out", &database]);
        }
        let (arrays, slice, map) = (to("arrays"), to("slice.png"), to("map.png"));
        if blocks == 0 {
            commands.push(vec!["export", &save, "--out", &arrays]);
            commands.push(vec!["export", &save, "--slice", "y=1", "--out", &slice]);
            commands.push(vec!["export", &save, "--map", &map]);
        }
        for arguments in commands {
            let run = run(&arguments);
            assert_eq!(run.code, Some(8), "{arguments:?}: {}", run.err);
            assert!(run.err.contains(words), "{arguments:?}: {}", run.err);
        }
        let json: Json = serde_json::from_str(&run(&["info", &save, "--format=json"]).out).unwrap();
        assert_eq!(json["forests"][0]["left_out"][0]["file"], "regions/lod0/r.0.0.0.vxr", "{json}");
        if blocks > 0 {
            fs::remove_file(&other).unwrap();
        }
    }
}

#[test]
fn a_conversion_of_which_nothing_can_be_read_leaves_nothing() {
    let demo = Demo::new();
    let (forest, block_files) = (demo.path("healthy/current"), demo.path("healthy/block-files"));
    let empty_table = demo.path("damaged/table-empty");
    for save in [&forest, &block_files] {
        let files = crate::common::files_below(save.as_ref());
        for file in
            files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "vxr" || ending == "vxb"))
        {
            fs::write(file, b"VX").unwrap();
        }
    }
    fs::remove_file(std::path::Path::new(&empty_table).join("regions/lod0/r.-1.0.0.vxr")).unwrap();
    let dir = tempdir().unwrap();
    let forms: &[&str] = if cfg!(feature = "sqlite") { &["forest", "sqlite"] } else { &["forest"] };
    for (save, named) in [(&forest, ".vxr: "), (&block_files, ".vxb: "), (&empty_table, "8 whole blocks")] {
        for form in forms {
            let to = dir.path().join("converted");
            let run = run(&["convert", save, "--to", form, "--out", to.to_str().unwrap()]);
            assert_eq!((run.code, run.out.as_str()), (Some(8), ""), "{save} {form}: {}", run.err);
            assert!(run.err.contains(named), "{}", run.err);
            assert!(fs::read_dir(dir.path()).unwrap().next().is_none(), "{save} {form}");
        }
    }
    // Beside another save it is left out, and named.
    let (both, to) = (dir.path().join("both"), dir.path().join("converted"));
    copy_dir(&empty_table, both.join("empty"));
    copy_dir(demo.path("healthy/plain"), both.join("plain"));
    let run = run(&["convert", both.to_str().unwrap(), "--out", to.to_str().unwrap()]);
    assert_eq!(run.code, Some(12), "{}", run.err);
    assert!(run.err.contains("empty: no block can be read, so it is left out"), "{}", run.err);
    assert!(to.join("plain/meta.vxrm").is_file() && !to.join("empty").exists());
}
