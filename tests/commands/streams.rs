//! The commands on SQLite streams.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value as Json, json};
use tempfile::TempDir;
use voxscope::demo;

/// The exit code and the output of a command.
fn run(arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_voxscope"));
    let output = command.args(arguments).stdin(Stdio::null()).env_remove("CLICOLOR_FORCE").output().unwrap();
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    let error = text(output.stderr);
    assert!(!error.contains("panicked"), "{error}");
    (output.status.code().unwrap(), text(output.stdout), error)
}

fn json(arguments: &[&str]) -> Json {
    let (code, out, error) = run(arguments);
    assert_eq!(code, 0, "{error}");
    serde_json::from_str(&out).unwrap()
}

/// A sample by its name, and the path of its stream.
fn sample(name: &str) -> (TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let sample = demo::samples().find(|sample| sample.name == name).unwrap();
    (sample.make)(dir.path()).unwrap();
    let path = dir.path().canonicalize().unwrap().join("world.sqlite");
    (dir, path.to_str().unwrap().to_owned())
}

#[test]
fn info_says_what_a_stream_is_made_of() {
    let (_dir, path) = sample("stream-texts");
    let info = json(&["info", &path, "--format", "json"]);
    let stream = &info["streams"][0]["stream"];
    assert_eq!(info["streams"][0]["path"], "world.sqlite");
    assert_eq!(
        (&stream["version"], &stream["block_size"], &stream["coordinate_format"]),
        (&json!(1), &json!(8), &json!(2))
    );
    assert_eq!(
        (&stream["inferred"], &stream["journal"], &stream["odd_keys"]),
        (&json!(false), &json!(false), &json!(0))
    );
    let lod = &stream["lods"][0];
    assert_eq!((&lod["lod"], &lod["blocks"], &lod["with_instances"]), (&json!(0), &json!(6), &json!(6)));
    assert_eq!(lod["extent"], json!([[-1, 0, 0], [1, 1, 0]]));
    let pages = stream["pages"].as_object().unwrap();
    let sum: u64 = pages
        .iter()
        .filter(|(name, _)| !["size", "in_file"].contains(&name.as_str()))
        .map(|(_, n)| n.as_u64().unwrap())
        .sum();
    assert_eq!(pages["in_file"], json!(sum), "every page is for something: {pages:?}");
    assert!(pages["index"].as_u64().unwrap() > 0 && pages["overflow"].as_u64().unwrap() > 0);
    let (_, text, _) = run(&["info", &path]);
    assert!(text.contains("keys are texts x,y,z,lod") && text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn ls_lists_rows_in_the_order_of_their_places() {
    let (_dir, path) = sample("stream-texts");
    let (code, out, _) = run(&["ls", &path, "--format", "jsonl"]);
    let rows: Vec<Json> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((code, rows.len()), (0, 8));
    assert_eq!(rows[0]["position"], json!([-1, 0, 0]));
    assert_eq!((&rows[7]["lod"], &rows[7]["position"]), (&json!(1), &json!([0, 0, 0])));
    assert!(rows[0]["instances"].as_u64().unwrap() > 0 && rows[7].get("instances").is_none());
    let (_, out, _) = run(&["ls", &path, "lod=1", "--format", "csv"]);
    let header: Vec<&str> = out.lines().next().unwrap().split(',').collect();
    assert_eq!((header[16], header.last(), out.lines().count()), ("instances", Some(&"offset"), 3));
}

#[test]
fn show_has_the_block_its_instances_and_its_voxels() {
    let (_dir, path) = sample("stream-texts");
    let block = json(&["show", &path, "--block", "0,0,0", "--format", "json"]);
    assert_eq!((&block["key"], &block["size"], &block["findings"]), (&json!("0,0,0,0"), &json!([8, 8, 8]), &json!([])));
    let layers = block["instances"]["data"]["layers"].as_array().unwrap();
    assert_eq!(layers.iter().map(|layer| layer["count"].as_u64().unwrap()).collect::<Vec<_>>(), [5, 2]);
    assert_eq!(layers[0]["instances"].as_array().unwrap().len(), 5);
    let voxel = json(&["show", &path, "--voxel=-3,1,2", "--format", "json"]);
    assert_eq!((&voxel["block"], &voxel["inside"]), (&json!([-1, 0, 0]), &json!([5, 1, 2])));
    let (code, _, error) = run(&["show", &path, "--block", "9,9,9"]);
    assert!(code == 8 && error.contains("not in any table"), "{error}");
    let (_, hex, _) = run(&["show", &path, "--block", "0,0,0", "--hex"]);
    assert!(hex.contains("Nothing is wrong with it."), "{hex}");
}

#[test]
fn a_lost_row_is_shown_with_what_is_wrong() {
    let (_dir, path) = sample("stream-row-lost");
    let block = json(&["show", &path, "--block", "0,0,0", "--format", "json"]);
    assert_eq!(block["findings"][0]["code"], "stream-row-lost");
    assert_eq!(block["channels"].as_array().unwrap().len(), 8);
    let (code, out, _) = run(&["check", &path]);
    assert_eq!(code, 4);
    assert!(out.contains("It is page 3."), "{out}");
}

#[test]
fn check_exits_as_it_does_for_every_save() {
    for (name, code) in
        [("stream", 0), ("stream-wal", 0), ("stream-journal", 4), ("stream-empty", 4), ("stream-page", 4)]
    {
        let (_dir, path) = sample(name);
        assert_eq!(run(&["check", &path]).0, code, "{name}");
        let levels = ["header", "structure", "decode", "semantic"];
        assert!(levels.iter().all(|level| [0, 4].contains(&run(&["check", &path, "--level", level]).0)), "{name}");
    }
}

#[test]
fn a_stream_is_known_by_what_is_in_it_and_other_databases_are_passed_over() {
    let (dir, path) = sample("stream");
    let other = dir.path().join("save.dat");
    std::fs::rename(&path, &other).unwrap();
    assert_eq!(run(&["check", other.to_str().unwrap()]).0, 0);
    // In a directory too, whatever its name is: the engine's documentation uses `save.file`.
    assert_eq!(run(&["check", dir.path().to_str().unwrap()]).0, 0);
    std::fs::rename(&other, dir.path().join("a.db")).unwrap();
    std::fs::write(dir.path().join("Thumbs.db"), b"not a database").unwrap();
    assert_eq!(run(&["check", dir.path().to_str().unwrap()]).0, 0);
    std::fs::write(dir.path().join("b.sqlite"), b"not a database").unwrap();
    let (code, out, _) = run(&["check", dir.path().to_str().unwrap(), "--format", "jsonl"]);
    let finding: Json = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    assert_eq!((code, &finding["code"], &finding["file"]), (4, &json!("stream-not-database"), &json!("b.sqlite")));
}

#[cfg(unix)]
#[test]
fn a_journal_that_is_a_link_or_a_pipe_is_not_followed() {
    let (dir, path) = sample("stream");
    std::os::unix::fs::symlink("/dev/zero", Path::new(&format!("{path}-journal"))).unwrap();
    let (code, out, _) = run(&["check", dir.path().to_str().unwrap()]);
    // Damage, and a file that is not read.
    assert!(code == 4 | 8 && out.contains("stream-journal-unusable"), "{out}");
}

/// A stream of 2021 with a key that no engine of that time wrote, and what `check` reports of it.
#[test]
fn keys_that_the_old_rule_does_not_fit_keep_their_rows() {
    let (_dir, path) = sample("stream-key-mixed");
    let rows = |arguments: &[&str]| -> Vec<Json> {
        let (code, out, error) = run(&[&["ls", &path, "lod=1", "--format=json"], arguments].concat());
        assert_eq!((code, error.as_str()), (0, ""));
        let all: Json = serde_json::from_str(&out).unwrap();
        all.as_array().unwrap().iter().map(|row| row["position"].clone()).collect()
    };
    let new = [json!([-2, 0, 0]), json!([0, 0, 0]), json!([1, 0, 0])];
    let old = [json!([-1, 0, 0]), json!([0, 0, 0]), json!([1, 0, 0])];
    assert_eq!(rows(&[]), new);
    assert_eq!(rows(&["--key-rule=old"]), old);
    let findings = |arguments: &[&str]| -> Vec<(String, String)> {
        let (_, out, _) = run(&[&["check", &path, "--format=json"], arguments].concat());
        let all: Json = serde_json::from_str(&out).unwrap();
        let text = |json: &Json| json.as_str().unwrap().to_owned();
        let all = all["findings"].as_array().unwrap().iter();
        all.map(|f| (text(&f["code"]), text(&f["message"]))).filter(|(code, _)| code.contains("-key")).collect()
    };
    let found = findings(&[]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].0 == "stream-key-mixed" && found[0].1.contains("1 key above LOD 0 may be by"), "{found:?}");
    let found = findings(&["--key-rule=old"]);
    let of = |code: &str| found.iter().find(|(other, _)| other == code).map(|(_, text)| text.as_str()).unwrap();
    assert!(of("stream-key-rule").contains("2 keys above LOD 0 by the rule of 2021"), "{found:?}");
    assert!(of("stream-key-mixed").contains("1 key above LOD 0 cannot be by the rule of 2021"), "{found:?}");
    // No row is lost.
    let out = tempfile::tempdir().unwrap();
    for command in ["repair", "convert"] {
        let to = out.path().join(command);
        let made = to.join("world.sqlite");
        let made = if command == "repair" { made } else { to.clone() };
        std::fs::create_dir_all(made.parent().unwrap()).unwrap();
        let (code, text, error) = run(&[command, &path, "--key-rule=old", "--out", made.to_str().unwrap()]);
        // A forest has no place for the instances of a stream.
        let expected = if command == "repair" { 1 } else { 4 };
        assert_eq!(code, expected, "{command}: {text}{error}");
        let (_, text, _) = run(&["ls", made.to_str().unwrap(), "lod=1", "--format=json"]);
        let all: Json = serde_json::from_str(&text).unwrap();
        let positions: Vec<Json> = all.as_array().unwrap().iter().map(|row| row["position"].clone()).collect();
        assert_eq!(positions, old, "{command}");
    }
}

#[test]
fn the_rule_of_keys_is_named_and_options_without_effect_are() {
    let (_dir, path) = sample("stream-key-rule");
    let stream = |arguments: &[&str]| {
        json(&[&["info", &path, "--format=json"], arguments].concat())["streams"][0]["stream"].clone()
    };
    let of = |info: Json| (info["key_rule"].clone(), info["key_rule_given"].clone());
    assert_eq!(of(stream(&[])), (json!("old"), json!(false)));
    assert_eq!(of(stream(&["--key-rule=new"])), (json!("new"), json!(true)));
    let (_, text, _) = run(&["info", &path]);
    assert!(text.contains("above LOD 0 are read by the rule of 2021, the position times 2^LOD (inferred)"), "{text}");
    let (code, _, error) = run(&["info", &path, "--chunk-order=xyz", "--slots=old"]);
    assert_eq!(code, 0);
    assert!(error.contains("--slots has no effect: ") && error.contains("has no region file or block file"), "{error}");
    assert!(error.contains("--chunk-order has no effect: ") && error.contains("has no pak region"), "{error}");
    let dir = tempfile::tempdir().unwrap();
    let sample = demo::samples().find(|sample| sample.name == "current").unwrap();
    (sample.make)(dir.path()).unwrap();
    let (code, _, error) = run(&["check", dir.path().to_str().unwrap(), "--key-rule=old", "--stale-rows"]);
    assert_eq!(code, 0);
    assert!(error.contains("--stale-rows, --key-rule have no effect: "), "{error}");
}

#[test]
fn a_conversion_names_the_rule_of_keys_and_a_comparison_has_one_for_each_side() {
    let (dir, path) = sample("stream-key-rule");
    let made = dir.path().join("made.sqlite");
    let made = made.to_str().unwrap();
    let (code, out, error) = run(&["convert", &path, "--out", made]);
    assert_eq!(code, 0, "{out}{error}");
    let report: Json = serde_json::from_str(&std::fs::read_to_string(format!("{made}.convert.json")).unwrap()).unwrap();
    assert_eq!((&report["key_rule"], &report["key_rule_given"]), (&json!("old"), &json!(false)));
    let differ = |rules: &[&str]| run(&[&["diff", &path, made], rules].concat()).0;
    assert_eq!(differ(&[]), 0);
    assert_eq!(differ(&["--key-rule=old", "--key-rule-b=new"]), 0);
    assert_eq!(differ(&["--key-rule=new", "--key-rule-b=new"]), 1);
}

#[test]
fn a_row_that_keeps_its_instances_only_is_counted_once() {
    let (_dir, path) = sample("stream-value");
    let rows = json(&["ls", &path, "--format=json"]).as_array().unwrap().len();
    let (_, out, _) = run(&["check", &path, "--format=json"]);
    let check: Json = serde_json::from_str(&out).unwrap();
    let totals = &check["summary"]["totals"];
    let (salvaged, lost) = (&totals["salvaged"], &totals["lost"]);
    assert_eq!((&totals["source"], salvaged, lost), (&json!(rows), &json!(1), &json!(0)), "{totals}");
}

#[test]
fn a_row_whose_key_is_no_position_is_counted_and_explained() {
    let demo = crate::Demo::new();
    let save = demo.path("damaged/stream-key");
    let rows = crate::lines(&crate::run(&["ls", &save, "--format=jsonl"]).out);
    let positions = rows.iter().filter(|row| !row["position"].is_null()).count();
    assert_eq!((rows.len(), positions), (8, 7), "{rows:?}");
    let info = crate::run(&["info", &save]).out;
    assert!(info.contains("1 more row: its key is no position, so that no LOD has it"), "{info}");
    let check = crate::run(&["check", &save]).out;
    assert!(check.contains("8 blocks, 1 damaged"), "{check}");
    let words = "keeps the 7 blocks whose positions are known; 1 block or part of a block goes to lost+found";
    assert!(check.contains(words), "{check}");
}
