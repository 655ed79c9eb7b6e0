//! The contract of the command line: exit codes, machine formats, and that a save is only ever read.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use common::{files_below, golden, json_lines};
use serde_json::Value as Json;
use tempfile::{TempDir, tempdir};
use voxscope::damage::Code;
use voxscope::demo;
use voxscope::save::{Options, Save, Scratch};

struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_voxscope"));
    command.args(arguments).stdin(Stdio::null()).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command
}

fn finish(mut command: Command) -> Run {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    let run = Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) };
    assert!(!run.err.contains("panicked"), "{}", run.err);
    run
}

fn run(arguments: &[&str]) -> Run {
    finish(command(arguments))
}

fn code(arguments: &[&str]) -> i32 {
    let run = run(arguments);
    run.code.unwrap_or_else(|| panic!("{arguments:?}: {}", run.err))
}

/// Standard output of a run that ends with 0.
fn output(arguments: &[&str]) -> String {
    let run = run(arguments);
    assert_eq!(run.code, Some(0), "{arguments:?}: {}", run.err);
    assert_eq!(run.err, "", "{arguments:?}");
    run.out
}

fn lines(text: &str) -> Vec<Json> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

fn keys(json: &Json) -> Vec<&str> {
    json.as_object().expect("an object").keys().map(String::as_str).collect()
}

struct Demo {
    _dir: TempDir,
    root: PathBuf,
}

impl Demo {
    fn new() -> Self {
        let dir = tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("demo");
        demo::write_all(&root).unwrap();
        Self { _dir: dir, root }
    }

    fn path(&self, below: &str) -> String {
        let path = self.root.join(below);
        assert!(path.exists(), "{below}");
        path.to_str().unwrap().to_owned()
    }
}

/// Every file below a directory with its bytes and its time.
fn state(dir: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let of = |path: PathBuf| {
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        (path.clone(), (fs::read(path).unwrap(), time))
    };
    files_below(dir).into_iter().map(of).collect()
}

#[test]
fn exit_codes_of_check() {
    let demo = Demo::new();
    let current = demo.path("healthy/current");
    let stale = demo.path("healthy/stale-tail");
    let epilogue = demo.path("damaged/block-epilogue");
    let trailing = demo.path("damaged/container-trailing");
    assert_eq!(code(&["check", &current]), 0);
    assert_eq!(code(&["check", &epilogue]), 4);
    // By level: a note, a warning, an error.
    for (path, note, warning, error) in
        [(&current, 0, 0, 0), (&stale, 4, 0, 0), (&trailing, 4, 4, 0), (&epilogue, 4, 4, 4)]
    {
        for (level, exit) in [("note", note), ("warning", warning), ("error", error)] {
            assert_eq!(code(&["check", path, "--fail-on", level]), exit, "{path} {level}");
        }
        assert_eq!(code(&["check", path]), warning, "{path}");
    }
    assert_eq!(code(&["check", "/nothing/here.vxr"]), 8);
}

#[test]
fn usage_errors_end_with_16() {
    let demo = Demo::new();
    let save = demo.path("healthy/current");
    for arguments in [
        &["--no-such-flag"][..],
        &["check", &save, "--no-such-flag"],
        &["check", &save, "--format", "xml"],
        &["check", &save, "--fail-on", "never"],
        &["ls", &save, "nothing"],
        &["ls", &save, "colour=red"],
        &["ls", &save, "bytes>many"],
        &["ls"],
        &["show", &save],
        &["show", &save, "--block", "1,2"],
        &["show", &save, "--block", "a,b,c"],
        &["show", &save, "--block=0,0,0", "--voxel=0,0,0"],
        &["show", &save, "--block=0,0,0", "--lod", "-1"],
        &["explain", "no-such-code"],
        &["check", &save, "--block-size", "16"],
        &["check", &save, "--block-size", "17", "--region-size", "4", "--sector-size", "512"],
        &["check", &save, "--region-size", "0", "--block-size", "16", "--sector-size", "512"],
    ] {
        let run = run(arguments);
        assert_eq!(run.code, Some(16), "{arguments:?}: {}", run.err);
        assert!(!run.err.is_empty() && run.out.is_empty(), "{arguments:?}");
    }
    assert!(run(&["explain", "blok-epilogue"]).err.contains("`block-epilogue`"));
    assert!(output(&["--help"]).contains("Exit codes"));
    assert!(output(&["--version"]).starts_with("voxscope "));
}

/// A file that may not be read beside one that is damaged.
#[cfg(unix)]
#[test]
fn exit_codes_are_or_ed() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempdir().unwrap();
    let [unreadable, empty] = ["r.0.0.0.vxr", "r.1.0.0.vxr"].map(|name| dir.path().join(name));
    fs::write(&unreadable, b"VXR_").unwrap();
    fs::set_permissions(&unreadable, fs::Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let path = dir.path().to_str().unwrap();
    let is_root = fs::read(&unreadable).is_ok();
    let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let as_user = |arguments: &[&str]| {
        let mut all: Vec<&str> = if is_root { user.to_vec() } else { Vec::new() };
        all.push(env!("CARGO_BIN_EXE_voxscope"));
        all.extend(arguments);
        Command::new(all[0]).args(&all[1..]).output().ok().and_then(|output| output.status.code())
    };
    if as_user(&["--version"]) != Some(0) {
        println!("skipped: run as the superuser, and another user cannot run the program");
        return;
    }
    assert_eq!(as_user(&["check", path]), Some(8));
    fs::write(&empty, b"").unwrap();
    assert_eq!(as_user(&["check", path]), Some(4 | 8));
    assert_eq!(as_user(&["check", path, "--fail-on", "error"]), Some(4 | 8));
}

/// The signal comes when the first finding is out: hundreds of files are still to come, and nobody reads the pipe.
#[cfg(unix)]
#[test]
fn a_signal_ends_a_check_with_32() {
    use std::io::{BufRead, BufReader, Read};
    let demo = Demo::new();
    let source = fs::read(demo.path("damaged/block-epilogue/regions/lod0/r.0.0.0.vxr")).unwrap();
    let dir = tempdir().unwrap();
    for i in 0..2000 {
        fs::write(dir.path().join(format!("r.{i}.0.0.vxr")), &source).unwrap();
    }
    for signal in ["-INT", "-TERM"] {
        let mut child = command(&["check", "--format=jsonl", dir.path().to_str().unwrap()])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut text = String::new();
        // 64 KB are gathered before the first line comes out. The pipe holds as much, and the rest has to wait for us.
        out.read_line(&mut text).unwrap();
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        // The handler runs on a thread of its own.
        std::thread::sleep(std::time::Duration::from_secs(1));
        out.read_to_string(&mut text).unwrap();
        let code = child.wait().unwrap().code();
        assert_eq!(code, Some(32 | 4), "{signal}");
        let lines = lines(&text);
        let summary = lines.last().unwrap();
        assert_eq!((&summary["type"], &summary["interrupted"]), (&"summary".into(), &true.into()));
        assert!(summary["files"].as_u64().unwrap() < 2000, "{summary}");
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!(err, "");
    }
}

const FINDING: [&str; 13] = [
    "type",
    "code",
    "level",
    "file",
    "bytes",
    "block_bytes",
    "lod",
    "block",
    "field",
    "expected",
    "found",
    "message",
    "next",
];

const SUMMARY: [&str; 12] = [
    "type",
    "errors",
    "warnings",
    "notes",
    "files",
    "files_unread",
    "blocks",
    "blocks_damaged",
    "stored_bytes",
    "plain_bytes",
    "interrupted",
    "known",
];

/// A number in words.
fn number(json: &Json) -> u64 {
    json.as_str().expect("words").parse().expect("a number")
}

#[test]
fn each_level_is_counted() {
    let demo = Demo::new();
    for sample in demo::samples() {
        let path = demo.path(sample.path().to_str().unwrap());
        let all = lines(&finish(command(&["check", "--format=jsonl", &path])).out);
        let (summary, findings) = all.split_last().unwrap();
        if findings.iter().any(|line| line["code"] == "findings-cut") {
            continue;
        }
        for (level, key) in [("error", "errors"), ("warning", "warnings"), ("note", "notes")] {
            let listed = findings.iter().filter(|line| line["level"] == level).count();
            assert_eq!(summary[key].as_u64(), Some(listed as u64), "{}: {key}", sample.name);
        }
    }
}

#[test]
fn json_lines_are_what_is_promised() {
    let demo = Demo::new();
    let run = run(&["check", "--format=jsonl", &demo.path("")]);
    assert_eq!((run.code, run.err.as_str()), (Some(4), ""));
    let mut lines = lines(&run.out);
    let summary = lines.pop().unwrap();
    assert_eq!(keys(&summary), SUMMARY);
    assert_eq!((&summary["type"], &summary["interrupted"]), (&"summary".into(), &false.into()));
    let mut counts = BTreeMap::<&str, u64>::new();
    let is_span = |json: &Json| {
        json.is_null()
            || json
                .as_array()
                .is_some_and(|span| span.len() == 2 && span[0].as_u64().unwrap() <= span[1].as_u64().unwrap())
    };
    for line in &lines {
        assert_eq!(keys(line), FINDING);
        assert_eq!(line["type"], "finding");
        let code = Code::from_name(line["code"].as_str().unwrap()).expect("a code");
        assert_eq!(line["level"], code.level().name());
        assert_eq!(line["next"], code.next());
        *counts.entry(code.level().name()).or_default() += 1;
        assert!(demo.root.join(line["file"].as_str().unwrap()).starts_with(&demo.root));
        assert!(is_span(&line["bytes"]) && is_span(&line["block_bytes"]), "{line}");
        assert!(line["lod"].is_null() || line["lod"].as_u64().unwrap() < 24, "{line}");
        assert!(line["block"].is_null() || line["block"].as_array().unwrap().len() == 3, "{line}");
        assert!(line["block"].is_null() || !line["lod"].is_null(), "{line}");
        assert!(line["field"].is_string() && line["message"].as_str().unwrap().ends_with('.'), "{line}");
        for key in ["expected", "found"] {
            assert!(line[key].is_null() || line[key].is_string(), "{line}");
        }
    }
    // Findings beyond the cap of a file are counted and not listed; a line says how many.
    let cut: u64 = lines.iter().filter(|line| line["code"] == "findings-cut").map(|line| number(&line["found"])).sum();
    let levels = [("error", "errors"), ("warning", "warnings"), ("note", "notes")];
    let total: u64 = levels.iter().map(|(_, key)| summary[*key].as_u64().unwrap()).sum();
    assert_eq!(total, lines.len() as u64 + cut);
    assert!(cut > 0 && levels.iter().all(|(level, key)| summary[*key].as_u64() >= counts.get(level).copied()));
    let save = Save::open(&demo.root, &Options::default()).unwrap();
    assert_eq!(summary["files"].as_u64(), Some(save.files().count() as u64));
    // The same for people has as many findings.
    let human = finish(command(&["check", "--notes", &demo.path("")]));
    let said =
        |level: &str| human.out.lines().filter(|line| line.starts_with(&format!("  {level:<7} "))).count() as u64;
    for level in ["error", "warning", "note"] {
        assert_eq!(Some(said(level)), counts.get(level).copied(), "{level}");
    }
}

#[test]
fn what_was_known_before_is_hidden() {
    let demo = Demo::new();
    let (one, two) = (demo.path("damaged/table-overlap"), demo.path("damaged/block-epilogue"));
    let dir = tempdir().unwrap();
    let file = dir.path().join("known.jsonl");
    let known = finish(command(&["check", "--format=jsonl", &one])).out;
    fs::write(&file, &known).unwrap();
    let file = file.to_str().unwrap();
    let again = output(&["check", "--format=jsonl", "--baseline", file, &one]);
    let all = lines(&again);
    assert_eq!((all.len(), all[0]["known"].as_u64()), (1, Some(lines(&known).len() as u64 - 1)));
    assert_eq!((all[0]["errors"].as_u64(), all[0]["warnings"].as_u64()), (Some(0), Some(0)));
    let human = output(&["check", "--baseline", file, &one]);
    assert!(human.contains("nothing new") && human.contains("known before"), "{human}");
    // Another save has damage of its own.
    assert_eq!(code(&["check", "--baseline", file, &two]), 4);
    assert_eq!(code(&["check", "--baseline", &demo.path("damaged/block-epilogue/meta.vxrm"), &one]), 16);
    assert_eq!(code(&["check", "--baseline", "/nowhere/at/all", &one]), 8);
}

#[test]
fn levels_look_as_deep_as_they_say() {
    let demo = Demo::new();
    let levels = ["header", "structure", "decode", "semantic"];
    for (sample, least) in [("region-version", 0), ("table-overlap", 1), ("block-epilogue", 2)] {
        let Some(sample) = demo::samples().find(|s| s.name == sample) else { continue };
        let path = demo.path(sample.path().to_str().unwrap());
        for (i, level) in levels.iter().enumerate() {
            let expected = if i >= least { 4 } else { 0 };
            assert_eq!(code(&["check", "--level", level, &path]), expected, "{} at {level}", sample.name);
        }
    }
    for sample in demo::HEALTHY {
        for level in levels {
            let run = run(&["check", "--level", level, &demo.path(sample.path().to_str().unwrap())]);
            assert_eq!(run.code, Some(0), "{} at {level}: {}", sample.name, run.out);
        }
    }
}

#[test]
fn the_three_forms_of_ls_agree() {
    let demo = Demo::new();
    for below in ["healthy/current", "damaged/block-epilogue", "damaged/container-mode"] {
        let path = demo.path(below);
        let json = lines(&output(&["ls", &path, "--format=json"]));
        let csv = output(&["ls", &path, "--format=csv"]);
        let table = output(&["ls", &path]);
        let mut csv = csv.lines();
        let head: Vec<&str> = csv.next().unwrap().split(',').collect();
        let csv: Vec<BTreeMap<&str, &str>> =
            csv.map(|line| head.iter().copied().zip(line.split(',')).collect()).collect();
        // Rows begin with the LOD; headings and names of files do not begin with a number.
        let rows = table.lines().filter_map(|line| {
            let cells: Vec<&str> = line.split_whitespace().collect();
            cells[..].first()?.parse::<u8>().ok().filter(|_| cells.len() >= 11).map(|_| cells)
        });
        let rows: Vec<Vec<&str>> = rows.collect();
        assert!(json.len() > 4, "{below}");
        assert_eq!((csv.len(), rows.len()), (json.len(), json.len()), "{below}");
        for ((json, csv), row) in json.iter().zip(&csv).zip(&rows) {
            let text = |json: &Json| match json {
                Json::Null => String::new(),
                Json::String(text) => text.clone(),
                other => other.to_string(),
            };
            for key in ["file", "lod", "slot", "sector", "sectors", "bytes", "plain", "version", "container"] {
                assert_eq!(text(&json[key]), csv[key], "{below} {key}");
            }
            for (i, axis) in ["x", "y", "z"].into_iter().enumerate() {
                assert_eq!(text(&json["position"][i]), csv[axis]);
                assert_eq!(csv[axis], row[i + 1]);
            }
            let codes: Vec<&str> =
                json["codes"].as_array().unwrap().iter().map(|code| code.as_str().unwrap()).collect();
            assert_eq!(codes.join(" "), csv["codes"]);
            assert_eq!(codes.join(", "), row[11..].join(" "));
            assert_eq!((csv["lod"], csv["sector"], csv["sectors"], csv["state"]), (row[0], row[4], row[5], row[10]));
            assert_eq!((csv["bytes"], csv["plain"]), (&*row[6].replace(',', ""), &*row[7].replace(',', "")));
        }
        assert!(table.trim_end().ends_with(&format!("{} blocks", json.len())), "{below}");
    }
}

#[test]
fn filters_of_ls() {
    let demo = Demo::new();
    let path = demo.path("damaged/block-epilogue");
    let count = |filter: &[&str]| {
        let arguments = [&["ls", &path, "--format=json"][..], filter].concat();
        lines(&output(&arguments)).len()
    };
    let all = count(&[]);
    assert_eq!(count(&["state!=ok"]), 1);
    assert_eq!(count(&["code=block-epilogue"]), 1);
    assert_eq!(count(&["state=ok"]), all - 1);
    assert_eq!(count(&["x<0"]) + count(&["x>=0"]), all);
    assert!(count(&["x<0"]) > 0);
    assert_eq!(count(&["x<0", "lod=0"]), count(&["x<0 lod=0"]));
    assert_eq!(count(&["lod=9"]), 0);
    assert_eq!(count(&["file=r.0.0.0"]) + count(&["file!=r.0.0.0"]), all);
}

#[test]
fn show_takes_negative_blocks_with_a_space_and_with_an_equals_sign() {
    let demo = Demo::new();
    let path = demo.path("healthy/current");
    let spaced = output(&["show", &path, "--block", "-1,0,-1", "--format", "json"]);
    assert_eq!(spaced, output(&["show", &path, "--block=-1,0,-1", "--format", "json"]));
    let json: Json = serde_json::from_str(&spaced).unwrap();
    assert_eq!(json["position"], serde_json::json!([-1, 0, -1]));
    assert_eq!(json["channels"].as_array().unwrap().len(), 8);
    assert_eq!(json["findings"], serde_json::json!([]));
    assert!(output(&["show", &path, "--block", "-1,0,-1"]).contains("block (-1, 0, -1) of LOD 0"));
    let run = run(&["show", &path, "--block", "-90,0,-1"]);
    assert_eq!(run.code, Some(8));
    assert!(run.err.contains("(-90, 0, -1)"), "{}", run.err);
    let bad = lines(&finish(command(&["check", &demo.path("damaged/block-epilogue"), "--format=jsonl"])).out);
    let finding = bad.iter().find(|line| line["code"] == "block-epilogue").unwrap();
    let at: Vec<String> = finding["block"].as_array().unwrap().iter().map(Json::to_string).collect();
    let shown = output(&["show", &demo.path("damaged/block-epilogue"), "--block", &at.join(","), "--format=json"]);
    let shown: Json = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["findings"][0]["code"], "block-epilogue");
    assert_eq!(keys(&shown["findings"][0]), FINDING);
}

/// What `show --voxel` says of a voxel, by channel.
fn voxel(path: &str, at: [i32; 3], lod: u8) -> Vec<u64> {
    let [x, y, z] = at;
    let (at, lod) = (format!("{x},{y},{z}"), lod.to_string());
    let json: Json =
        serde_json::from_str(&output(&["show", path, "--voxel", &at, "--lod", &lod, "--format=json"])).unwrap();
    json["channels"].as_array().unwrap().iter().map(|channel| channel["value"].as_u64().expect("a value")).collect()
}

#[test]
fn voxels_are_those_of_the_blocks() {
    let demo = Demo::new();
    let path = demo.path("healthy/current");
    let save = Save::open(path.as_ref(), &Options::default()).unwrap();
    let mut scratch = Scratch::default();
    let mut seen = 0;
    for (forest, file) in save.regions() {
        let mut region = save.region(forest, file).unwrap().unwrap();
        let slots = region.slots(&mut scratch).unwrap();
        let listed = region.entries[region.entries.len() / 2];
        let block_at = region.block_position(listed.slot, slots).unwrap();
        let block = region.view(listed.entry, &mut scratch).unwrap().block.unwrap();
        let inside = [3u16, 14, 9];
        let world = [0, 1, 2].map(|i| (block_at[i] * 16 + i32::from(inside[i])) << file.lod);
        let expected: Vec<u64> = (0..8).map(|channel| block.voxel(channel, inside).unwrap()).collect();
        assert_eq!(voxel(&path, world, file.lod), expected, "{world:?} of LOD {}", file.lod);
        seen += 1;
    }
    assert!(seen > 8);
}

#[test]
fn voxels_are_what_the_engine_says() {
    let Some(dir) = golden("godot_voxel") else { return };
    let mut seen = 0;
    for truth in json_lines(&dir.join("truth.jsonl")).iter().filter(|t| t["save"] == "forest_lz4").step_by(9) {
        let path = dir.join("forest_lz4");
        let lod = u8::try_from(truth["lod"].as_u64().unwrap()).unwrap();
        let block = [0, 1, 2].map(|i| i32::try_from(truth["position"][i].as_i64().unwrap()).unwrap());
        for (i, channel) in truth["channels"].as_array().unwrap().iter().enumerate() {
            for sample in channel["samples"].as_array().into_iter().flatten().take(2) {
                let world =
                    [0, 1, 2].map(|i| (block[i] * 16 + i32::try_from(sample[i].as_i64().unwrap()).unwrap()) << lod);
                let value: u64 = sample[3].as_str().unwrap().parse().unwrap();
                assert_eq!(voxel(path.to_str().unwrap(), world, lod)[i], value, "{block:?} {sample}");
                seen += 1;
            }
        }
    }
    assert!(seen > 10, "{seen}");
}

#[test]
fn info_says_what_a_save_is_made_of() {
    let demo = Demo::new();
    let path = demo.path("healthy/current");
    let info: Json = serde_json::from_str(&output(&["info", &path, "--format=json"])).unwrap();
    assert_eq!(keys(&info), ["path", "forests", "rooms", "streams", "maps", "faults"]);
    let forest = &info["forests"][0];
    assert_eq!(keys(forest), ["path", "kind", "meta_version", "lod_count", "layout", "lods", "sectors"]);
    assert_eq!((&forest["kind"], &forest["meta_version"], &info["faults"]), (&"forest".into(), &3.into(), &0.into()));
    assert_eq!(forest["layout"]["block_size"], 16);
    let blocks: u64 = forest["lods"].as_array().unwrap().iter().map(|lod| lod["blocks"].as_u64().unwrap()).sum();
    assert_eq!(blocks, lines(&output(&["ls", &path, "--format=json"])).len() as u64);
    // Without a command, the same for people.
    assert_eq!(output(&[&path]), output(&["info", &path]));
    let mut here = command(&[]);
    here.current_dir(&path);
    assert!(finish(here).out.contains("forest of version 3"));
}

#[test]
fn explain_tells_of_every_code() {
    let all = output(&["explain"]);
    for &code in Code::ALL {
        assert!(all.lines().any(|line| line.split_whitespace().next() == Some(code.name())), "{code}");
        let story = output(&["explain", code.name()]);
        assert!(story.starts_with(&format!("{code} · {} · {}", code.level(), code.title())), "{story}");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
        assert!(words(&story).contains(&words(code.story())) && words(&story).contains(&words(code.next())), "{story}");
        assert!(story.lines().all(|line| line.chars().count() <= 110), "{story}");
    }
    assert_eq!(all.lines().count(), Code::ALL.len() + 1);
}

/// The reader of the output goes away after the first bytes: no panic, no message.
#[test]
fn a_closed_pipe_is_quiet() {
    let demo = Demo::new();
    let root = demo.path("");
    for arguments in [
        &["check", "--notes", &root][..],
        &["check", "--format=jsonl", &root],
        &["ls", &root],
        &["ls", "--format=csv", &root],
        &["info", &root],
        &["explain"],
        &["show", &demo.path("healthy/current"), "--block=0,0,0"],
    ] {
        let mut child = command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
        assert!(output.status.code().is_some(), "{arguments:?}: {}", output.status);
    }
}

#[test]
fn an_empty_directory_and_things_that_are_no_save() {
    let dir = tempdir().unwrap();
    let mut here = command(&[]);
    here.current_dir(dir.path());
    let run_here = finish(here);
    assert_eq!((run_here.code, run_here.err.as_str()), (Some(0), ""));
    assert!(run_here.out.starts_with("There is no save in this directory."), "{}", run_here.out);
    assert!(run_here.out.contains("voxscope demo"));
    let text = dir.path().join("notes.txt");
    fs::write(&text, "no save").unwrap();
    let (text, path) = (text.to_str().unwrap(), dir.path().to_str().unwrap());
    for arguments in [&["check", text][..], &["info", text], &["ls", text], &["show", text, "--block=0,0,0"], &[text]] {
        let run = run(arguments);
        assert_eq!((run.code, run.out.as_str()), (Some(8), ""), "{arguments:?}");
        assert!(run.err.starts_with("voxscope: ") && run.err.contains("notes.txt"), "{}", run.err);
    }
    for arguments in [&["check", path][..], &["info", path], &["ls", path], &[path]] {
        let run = run(arguments);
        assert_eq!(run.code, Some(8), "{arguments:?}");
        assert!(run.err.contains("no save here"), "{}", run.err);
    }
}

#[test]
fn demo_never_overwrites() {
    let dir = tempdir().unwrap();
    let new = dir.path().join("new");
    let path = new.to_str().unwrap();
    assert!(output(&["demo", "--write", path]).contains("voxscope check"));
    let before = state(&new);
    assert!(before.len() > 100);
    let again = run(&["demo", "--write", path]);
    assert_eq!(again.code, Some(8));
    assert!(again.err.contains("voxscope: "), "{}", again.err);
    assert!(state(&new) == before);
    // One file in the way is enough, and so is a file where the directory should be.
    let full = dir.path().join("full");
    fs::create_dir(&full).unwrap();
    fs::write(full.join("mine"), b"mine").unwrap();
    for path in [full.clone(), full.join("mine")] {
        assert_eq!(code(&["demo", "--write", path.to_str().unwrap()]), 8);
    }
    assert_eq!(state(&full).len(), 1);
    assert_eq!(fs::read(full.join("mine")).unwrap(), b"mine");
}

#[test]
fn demo_shows_every_sample_and_leaves_nothing() {
    let dir = tempdir().unwrap();
    let mut tour = command(&["demo"]);
    tour.env("TMPDIR", dir.path());
    let run = finish(tour);
    assert_eq!(run.code, Some(0), "{}", run.err);
    for sample in demo::samples() {
        assert!(run.out.contains(sample.about), "{}", sample.name);
    }
    assert_eq!(files_below(dir.path()), Vec::<PathBuf>::new());
}

#[test]
fn old_regions_alone_need_their_layout() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    let below = "healthy/old-2020/regions/lod0";
    let first = files_below(demo.path(below).as_ref()).into_iter().next().unwrap();
    let alone = dir.path().join(first.file_name().unwrap());
    fs::copy(&first, &alone).unwrap();
    let path = alone.to_str().unwrap();
    let without = run(&["check", "--format=jsonl", path]);
    assert_eq!(without.code, Some(4));
    assert!(without.out.contains("region-format-unknown"), "{}", without.out);
    assert_eq!(lines(&output(&["ls", path, "--format=json"])).len(), 0);
    let flags = ["--block-size=16", "--region-size=4", "--sector-size=512", "--depths=8,8,8,8,8,8,8,8"];
    let with = |command: &[&str]| output(&[command, &flags[..]].concat());
    assert!(with(&["check", path]).contains("clean"));
    let rows = lines(&with(&["ls", path, "--format=json"]));
    assert!(!rows.is_empty());
    // Where it stands in its forest the meta file above it is found.
    let inside = lines(&output(&["ls", first.to_str().unwrap(), "--format=json"]));
    let positions = |rows: &[Json]| rows.iter().map(|row| row["position"].to_string()).collect::<BTreeSet<_>>();
    assert_eq!(positions(&rows), positions(&inside));
}

#[test]
fn colours_only_where_they_are_wanted() {
    let demo = Demo::new();
    let path = demo.path("damaged/block-epilogue");
    for arguments in [&["check", &path][..], &["ls", &path], &["info", &path], &["explain"], &["explain", "stale-tail"]]
    {
        let plain = finish(command(arguments)).out;
        assert!(!plain.contains('\u{1b}'), "{arguments:?}");
        assert_eq!(finish(command(&[arguments, &["--color=never"]].concat())).out, plain);
        let mut no_color = command(arguments);
        no_color.env("NO_COLOR", "1");
        assert_eq!(finish(no_color).out, plain);
    }
    let coloured = finish(command(&["check", &path, "--color=always"])).out;
    assert!(coloured.contains("\u{1b}["));
    // Wanted for sure, they come even where NO_COLOR is set; never wanted, not even by force.
    let mut both = command(&["check", &path, "--color", "never"]);
    both.env("CLICOLOR_FORCE", "1");
    assert!(!finish(both).out.contains('\u{1b}'));
}

#[test]
fn no_command_changes_a_save() {
    let demo = Demo::new();
    let before = state(&demo.root);
    let root = demo.path("");
    let save = demo.path("healthy/current");
    for arguments in [
        &["check", &root][..],
        &["check", "--format=jsonl", &root],
        &["info", &root],
        &["info", "--format=json", &root],
        &["ls", &root],
        &["ls", "--format=csv", &root],
        &["show", &save, "--block=0,0,0", "--hex"],
        &["show", &save, "--voxel=0,0,0"],
        &["demo", "--write", &root],
        &[&root],
    ] {
        let run = run(arguments);
        assert!(run.code.is_some_and(|code| code & !12 == 0), "{arguments:?}: {:?} {}", run.code, run.err);
        assert!(state(&demo.root) == before, "{arguments:?}");
    }
}
