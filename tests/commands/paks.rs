//! Pak regions: names that the game does not look for, and what `ls`, `info` and `show` say of their chunks.

use std::fs;

use serde_json::Value as Json;
use tempfile::tempdir;

use crate::{Demo, joined, run};

fn rename(demo: &Demo, name: &str) -> String {
    let save = demo.path("healthy/pak-room");
    fs::rename(demo.path("healthy/pak-room/x0_y0_z0.region"), std::path::Path::new(&save).join(name)).unwrap();
    save
}

fn checked(save: &str) -> Json {
    serde_json::from_str(&run(&["check", "--format=json", save]).out).unwrap()
}

#[test]
fn a_pak_region_whose_name_shows_its_region_gets_the_right_name() {
    let demo = Demo::new();
    let save = rename(&demo, "x0_y0_z0 (1).region");
    let json = checked(&save);
    let finding = &json["findings"][0];
    assert_eq!(finding["code"], "pak-name");
    assert!(finding["message"].as_str().unwrap().contains("The game looks for `x0_y0_z0.region`."), "{finding}");
    assert_eq!(json["causes"][0]["cause"], "files-renamed");
    let totals = &json["summary"]["totals"];
    assert_eq!((&totals["source"], &totals["put_right"]), (&11.into(), &4.into()), "{totals}");
    assert_eq!((&totals["lost"], &totals["torn"], &totals["set_aside"]), (&0.into(), &0.into(), &0.into()), "{totals}");
    let out = tempdir().unwrap();
    let new = out.path().join("new");
    let plan = run(&["repair", &save, "--plan"]);
    let done = run(&["repair", &save, "--out", new.to_str().unwrap()]);
    assert_eq!((plan.code, done.code), (Some(1), Some(1)), "{}", done.out);
    assert!(plan.out.contains("x0_y0_z0.region: the copy of x0_y0_z0 (1).region"), "{}", plan.out);
    let bytes = |path: &std::path::Path| fs::read(path).unwrap();
    let copied = bytes(&new.join("x0_y0_z0.region"));
    assert_eq!(copied, bytes(&std::path::Path::new(&save).join("x0_y0_z0 (1).region")));
    assert!(!new.join("x0_y0_z0 (1).region").exists());
    let report: Json = serde_json::from_slice(&bytes(&new.join("repair.json"))).unwrap();
    assert_eq!(report["paks"][0]["renamed_from"], "x0_y0_z0 (1).region", "{report}");
    assert_eq!(run(&["check", new.to_str().unwrap()]).code, Some(0));
}

#[test]
fn chunks_of_a_pak_region_that_nothing_names_are_whole_and_not_lost() {
    let demo = Demo::new();
    let save = rename(&demo, "save1.region");
    let json = checked(&save);
    let totals = &json["summary"]["totals"];
    assert_eq!((&totals["source"], &totals["kept"], &totals["set_aside"]), (&7.into(), &7.into(), &4.into()));
    assert_eq!((&totals["lost"], &totals["torn"]), (&0.into(), &0.into()), "{totals}");
    let said = joined(&run(&["check", &save]).out);
    assert!(said.contains("4 whole blocks of files with other names go to lost+found as they are"), "{said}");
    assert!(!said.contains(" torn") && !said.contains("are lost"), "{said}");
    let plan = run(&["repair", &save, "--plan"]);
    assert!(plan.out.contains("save1.region: the game does not look for a file of this name"), "{}", plan.out);
}

#[test]
fn rooms_and_the_words_of_pak_regions() {
    let demo = Demo::new();
    let save = demo.path("healthy/pak-numbers");
    let listed = run(&["ls", &save]);
    assert_eq!(listed.code, Some(0));
    let head = listed.out.lines().find(|line| line.contains("lod")).unwrap();
    assert!(head.contains("block") && !head.contains("sector"), "{head}");
    assert!(listed.out.contains("record") && !listed.out.contains("entry"), "{}", listed.out);
    let rows = |filter: &str| run(&["ls", &save, filter, "--format=jsonl"]).out.lines().count();
    assert_eq!((rows("record=5"), rows("slot=5"), rows("block=3"), rows("sector=3")), (1, 1, 1, 1));
    // The name of a room is in the names of its files.
    let dir = tempdir().unwrap();
    for room in ["cave", "hall"] {
        let file = demo.path("healthy/pak-room/x0_y0_z0.region");
        fs::copy(file, dir.path().join(format!("{room}x0_y0_z0.region"))).unwrap();
    }
    let path = dir.path().to_str().unwrap();
    let said = run(&["info", path]).out;
    assert!(said.contains(" · room cave · 1 pak region") && said.contains(" · room hall · "), "{said}");
    let json: Json = serde_json::from_str(&run(&["info", path, "--format=json"]).out).unwrap();
    let rooms: Vec<&Json> = json["rooms"].as_array().unwrap().iter().map(|room| &room["room"]).collect();
    assert_eq!(rooms, ["cave", "hall"]);
}

#[test]
fn chunks_of_a_pak_region_without_a_position_in_its_name_have_none() {
    let demo = Demo::new();
    let save = rename(&demo, "save1.region");
    let rows: Json = serde_json::from_str(&run(&["ls", &save, "--format=json"]).out).unwrap();
    let of = |name: &str| {
        let rows = rows.as_array().unwrap().iter().filter(|row| row["file"] == name);
        rows.map(|row| row["position"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(of("save1.region"), vec![Json::Null; 4]);
    let info: Json = serde_json::from_str(&run(&["info", &save, "--format=json"]).out).unwrap();
    let rooms = info["rooms"].as_array().unwrap();
    let files: Vec<&Json> = rooms.iter().flat_map(|room| room["files"].as_array().unwrap()).collect();
    let file = files.iter().find(|file| file["name"] == "save1.region").unwrap();
    assert_eq!(file["region"], Json::Null);
    assert!(run(&["info", &save]).out.contains("save1.region, region unknown"));
    assert!(files.iter().filter(|file| file["name"] != "save1.region").all(|file| file["region"].is_array()));
}

#[test]
fn a_second_repair_of_a_single_pak_region_without_a_region_in_its_name_changes_nothing() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    fs::copy(demo.path("damaged/pak-file-cut/x0_y0_z0.region"), path("my.region")).unwrap();
    assert_eq!(run(&["repair", &path("my.region"), "--out", &path("first")]).code, Some(5));
    let second = run(&["repair", &path("first"), "--out", &path("second")]);
    assert!(second.out.contains("Nothing to repair"), "{}", second.out);
    let bytes = |copy: &str| fs::read(dir.path().join(copy).join("my.region")).unwrap();
    assert_eq!(bytes("first"), bytes("second"));
    // In a room the game does not look for the file.
    let save = rename(&demo, "my.region");
    let plan = run(&["repair", &save, "--plan"]);
    assert!(plan.out.contains("my.region: the game does not look for a file of this name"), "{}", plan.out);
}

#[test]
fn both_records_of_an_overlap_are_named() {
    let demo = Demo::new();
    let save = demo.path("damaged/pak-overlap");
    let json = checked(&save);
    let finding = json["findings"].as_array().unwrap().iter().find(|f| f["code"] == "pak-overlap").unwrap();
    assert!(finding["message"].as_str().unwrap().contains("The records are 1 and 2."), "{finding}");
    let shown = run(&["show", &save, "--record", "2"]).out;
    assert!(shown.contains("The records are 1 and 2."), "{shown}");
}

#[test]
fn show_says_which_command_checks_the_place_of_a_chunk() {
    let demo = Demo::new();
    let shown = run(&["show", &demo.path("damaged/pak-misplaced"), "--record", "33"]);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    assert!(shown.out.contains("Nothing is wrong with its data."), "{}", shown.out);
    assert!(shown.out.contains("finds out whether the chunk is in the right place"), "{}", shown.out);
}

#[test]
fn rooms_are_compared_chunk_by_chunk() {
    let demo = Demo::new();
    let (room, damaged) = (demo.path("healthy/pak-room"), |name: &str| demo.path(&format!("damaged/{name}")));
    let diff = |a: &str, b: &str| {
        let ran = run(&["diff", a, b, "--format=jsonl"]);
        (ran.code, crate::lines(&ran.out), ran.err)
    };
    let (code, lines, err) = diff(&room, &room);
    assert_eq!((code, err.as_str(), lines.len()), (Some(0), "", 1));
    assert_eq!((&lines[0]["blocks_a"], &lines[0]["same"]), (&11.into(), &11.into()), "{lines:?}");
    let types = |lines: &[Json]| -> Vec<(String, Json)> {
        lines.iter().map(|l| (l["type"].as_str().unwrap().to_owned(), l["block"].clone())).collect()
    };
    // Two exchanged records are two changed chunks.
    let (code, lines, err) = diff(&damaged("pak-misplaced"), &repaired(&demo, "pak-misplaced"));
    assert_eq!((code, err.as_str()), (Some(1), ""), "{lines:?}");
    let changed = types(&lines);
    assert_eq!(changed.iter().filter(|(kind, _)| kind == "changed").count(), 2, "{changed:?}");
    assert!(lines[0]["voxels"].as_u64().unwrap() > 0, "{lines:?}");
    // A chunk that only one side has.
    let (code, lines, err) = diff(&damaged("pak-file-cut"), &repaired(&demo, "pak-file-cut"));
    assert_eq!((code, err.as_str()), (Some(2), ""), "the last chunk cannot be read: {lines:?}");
    assert_eq!(types(&lines)[0], ("unreadable".to_owned(), serde_json::json!([1, 0, 1])));
    let (code, lines, _) = diff(&repaired(&demo, "pak-file-cut"), &demo.path("damaged/pak-zlib-trailing"));
    assert!(
        code == Some(1) && types(&lines).contains(&("added".to_owned(), serde_json::json!([1, 0, 1]))),
        "{lines:?}"
    );
    // A chunk in a file of which not all is read is not called removed.
    let (code, lines, err) = diff(&demo.path("damaged/pak-zlib-trailing"), &damaged("pak-header-cut"));
    assert_eq!(code, Some(2), "{lines:?}");
    assert!(err.contains("x0_y0_z0.region") && lines.iter().all(|line| line["type"] != "removed"), "{err}{lines:?}");
    // In words.
    let text = run(&["diff", &room, &room]).out;
    assert!(text.contains("11 the same"), "{text}");
}

/// The copy that a repair makes of a damaged sample.
fn repaired(demo: &Demo, name: &str) -> String {
    let copy = demo.root.join(format!("{name}-repaired")).to_str().unwrap().to_owned();
    run(&["repair", &demo.path(&format!("damaged/{name}")), "--out", &copy]);
    copy
}

#[test]
fn a_slice_names_the_chunks_of_a_second_file_of_a_region() {
    let demo = Demo::new();
    let save = demo.path("damaged/pak-duplicate");
    let slice = |name: &str| {
        let to = demo.root.join(name);
        let ran = run(&["export", &save, "--slice", "y=4", "--out", to.to_str().unwrap()]);
        (ran.code, ran.err, fs::read(to).unwrap())
    };
    let (code, err, picture) = slice("both.png");
    assert_eq!(code, Some(4), "{err}");
    assert!(err.contains("3 chunks left out because another one has the same position"), "{err}");
    // The file with the name that the game looks for is drawn.
    fs::remove_file(std::path::Path::new(&save).join("x00_y0_z0.region")).unwrap();
    assert_eq!(slice("one.png"), (Some(0), String::new(), picture));
}

#[test]
fn a_pak_region_in_which_nothing_can_be_found_is_lost_and_not_mended() {
    for content in [vec![0; 8192], b"This is no pak region.\n".repeat(99)] {
        let demo = Demo::new();
        let save = demo.path("healthy/pak-room");
        fs::write(demo.path("healthy/pak-room/x0_y0_z0.region"), &content).unwrap();
        let said = joined(&run(&["check", &save]).out);
        assert!(said.contains("sets 1 file aside and keeps the 7 blocks that can be read"), "{said}");
        assert!(said.contains("how many blocks 1 lost file held is not known"), "{said}");
        let out = tempdir().unwrap();
        let new = out.path().join("new");
        let plan = run(&["repair", &save, "--plan"]);
        let done = run(&["repair", &save, "--out", new.to_str().unwrap()]);
        assert_eq!((plan.code, done.code), (Some(5), Some(5)), "{}", done.out);
        assert!(done.out.contains("1 file has no block in the copy"), "{}", done.out);
        assert_eq!(fs::read(new.join("lost+found/files/x0_y0_z0.region")).unwrap(), content);
    }
}

#[test]
fn zeroed_records_do_not_move_the_chunks_of_others() {
    let demo = Demo::new();
    let save = demo.path("healthy/pak-version-6");
    let chunks = |save: &str| {
        let listed = run(&["ls", save, "--format", "json"]).out;
        let rows: Vec<Json> = serde_json::from_str(&listed).unwrap();
        let places = rows.iter().map(|row| row["position"].to_string());
        places.collect::<std::collections::BTreeSet<String>>()
    };
    let healthy = chunks(&save);
    let file = fs::read_dir(&save).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_file()).unwrap();
    let mut bytes = fs::read(&file).unwrap();
    // Two records without a chunk, of 4,096.
    bytes[0x6000..0x6010].fill(0);
    fs::write(&file, bytes).unwrap();
    let out = tempdir().unwrap();
    let new = out.path().join("new");
    let done = run(&["repair", &save, "--out", new.to_str().unwrap()]);
    assert!(done.out.contains("4 of 6 chunks written"), "{}", done.out);
    let after = chunks(new.to_str().unwrap());
    assert!(healthy.len() > 4 && healthy.is_subset(&after), "{healthy:?} and {after:?}");
}

#[test]
fn a_wrong_header_is_no_sign_of_a_cut_file() {
    let demo = Demo::new();
    let save = demo.path("healthy/pak-room");
    let file = demo.path("healthy/pak-room/x0_y0_z0.region");
    let healthy = fs::read(&file).unwrap();
    // The place of the first block of data.
    let mut bytes = healthy;
    bytes[12] ^= 0x10;
    fs::write(&file, bytes).unwrap();
    let causes = checked(&save)["causes"].clone();
    let all: Vec<&str> = causes.as_array().unwrap().iter().map(|cause| cause["cause"].as_str().unwrap()).collect();
    assert_eq!(all, ["storage-damaged"], "{causes}");
}

#[test]
fn a_pak_region_with_the_chunks_of_another_one_is_named() {
    let demo = Demo::new();
    let save = demo.path("damaged/pak-copied");
    let json = checked(&save);
    let files = |json: &Json| -> Vec<String> {
        let findings = json["findings"].as_array().unwrap().iter();
        let of_copies = findings.filter(|finding| finding["code"] == "pak-copied");
        of_copies.map(|finding| finding["file"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(files(&json), ["x0_y0_z0.region", "x1_y0_z0.region"]);
    assert_eq!(json["causes"][0]["cause"], "file-copied");
    let said = run(&["check", &save]);
    assert_eq!(said.code, Some(4), "{}", said.out);
    assert!(!joined(&said.out).contains("voxscope repair"), "a repair keeps both files: {}", said.out);
    assert_eq!(run(&["repair", &save, "--plan"]).out.lines().next(), Some("Nothing to repair."));

    // A room of which most files are alike repeats itself.
    let at = |name: &str| std::path::Path::new(&save).join(name);
    fs::copy(at("x0_y0_z0.region"), at("x2_y0_z0.region")).unwrap();
    assert_eq!(files(&checked(&save)), [] as [&str; 0]);
    fs::remove_file(at("x2_y0_z0.region")).unwrap();

    // As does one of two files.
    fs::remove_file(at("x0_y0_z1.region")).unwrap();
    assert_eq!(files(&checked(&save)), [] as [&str; 0]);
}
