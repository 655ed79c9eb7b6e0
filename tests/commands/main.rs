//! The contract of the command line: exit codes, machine formats, and that a save is only ever read.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "../common/mod.rs"]
mod common;

mod advice;
mod agreement;
mod alone;
mod bare;
mod byte_order;
mod check;
#[cfg(feature = "sqlite")]
mod columns;
mod contradictions;
mod control;
mod copies;
mod corrected;
#[cfg(feature = "sqlite")]
mod databases;
mod destinations;
#[cfg(feature = "sqlite")]
mod directories;
#[cfg(feature = "sqlite")]
mod dropped;
mod exports;
mod given_options;
mod help;
mod layouts;
mod left_out;
mod lods;
mod lone;
mod lone_names;
mod look;
mod losses;
mod maps;
mod misnamed;
mod misplaced;
mod names;
mod open_files;
mod output;
mod paks;
mod placed;
mod plans;
mod printed;
mod samples;
#[cfg(feature = "sqlite")]
mod set_aside;
mod side_by_side;
mod sizes;
#[cfg(feature = "sqlite")]
mod streams;
mod textures;
mod unlocated;
mod unread;
mod unreadable;
mod verdict;
mod wording;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::SystemTime;

use common::files_below;
use serde_json::Value as Json;
use tempfile::{TempDir, tempdir};
use voxscope::demo;

/// The keys of a finding.
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

/// A text without its line breaks: where they are depends on the paths in it.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn lines(text: &str) -> Vec<Json> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

fn keys(json: &Json) -> Vec<&str> {
    json.as_object().expect("an object").keys().map(String::as_str).collect()
}

/// The samples, each written when a test first asks for it: writing and removing hundreds of files takes longer than most tests.
struct Demo {
    _dir: TempDir,
    root: PathBuf,
    written: Mutex<BTreeSet<PathBuf>>,
}

impl Demo {
    fn new() -> Self {
        let dir = tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("demo");
        fs::create_dir(&root).unwrap();
        Self { _dir: dir, root, written: Mutex::default() }
    }

    /// With all samples.
    fn all() -> Self {
        let demo = Self::new();
        demo.path("");
        demo
    }

    fn path(&self, below: &str) -> String {
        let path = self.root.join(below);
        let mut written = self.written.lock().unwrap();
        for sample in demo::samples().map(demo::Sample::path) {
            let is_asked_for = Path::new(below).starts_with(&sample) || sample.starts_with(below);
            if is_asked_for && written.insert(sample.clone()) {
                common::samples::write_part(&self.root, &sample);
            }
        }
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
    // By level: a note (here about the slots of negative coordinates), a warning, an error.
    for (path, note, warning, error) in
        [(&current, 4, 0, 0), (&stale, 4, 0, 0), (&trailing, 4, 4, 0), (&epilogue, 4, 4, 4)]
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

/// A file that cannot be read beside one that is damaged.
#[cfg(target_os = "linux")]
#[test]
fn exit_codes_are_or_ed() {
    let dir = tempdir().unwrap();
    let loose = dir.path().join("loose");
    fs::create_dir(&loose).unwrap();
    fs::write(loose.join("r.10.0.0.vxr"), b"VXR_").unwrap();
    let deep = common::deep::sink(&loose, dir.path(), "r.0.0.0.vxr");
    let path = deep.to_str().unwrap();
    let check = |more: &[&str]| run(&[&["check", path], more].concat()).code;
    assert_eq!(check(&[]), Some(8));
    fs::write(deep.join("r.0.0.0.vxr"), b"").unwrap();
    assert_eq!(check(&[]), Some(4 | 8));
    assert_eq!(check(&["--fail-on", "error"]), Some(4 | 8));
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
        let mut child = command(&["check", "--level=decode", "--format=jsonl", dir.path().to_str().unwrap()])
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

/// The reader of the output goes away after the first bytes: no panic, and no message but those of a run that is read.
#[test]
fn a_closed_pipe_is_quiet() {
    let demo = Demo::new();
    let root = demo.path("healthy");
    for arguments in [
        &["check", "--notes", &root][..],
        &["check", "--format=jsonl", &root],
        &["ls", &root],
        &["ls", "--format=csv", &root],
        &["info", &root],
        &["explain"],
        &["show", &demo.path("healthy/current"), "--block=0,0,0"],
    ] {
        let expected = command(arguments).output().unwrap().stderr;
        let mut child = command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&expected), "{arguments:?}");
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
    let listed = run(&["ls", path, "--format=jsonl"]);
    assert_eq!((listed.code, listed.out.as_str()), (Some(8), ""), "{}", listed.err);
    let flags = ["--block-size=16", "--region-size=4", "--sector-size=512", "--depths=8,8,8,8,8,8,8,8"];
    let with = |command: &[&str]| output(&[command, &flags[..]].concat());
    assert!(with(&["check", path]).contains("clean"));
    let rows = lines(&with(&["ls", path, "--format=jsonl"]));
    assert!(!rows.is_empty());
    // Where it stands in its forest the meta file above it is found.
    let inside = lines(&output(&["ls", first.to_str().unwrap(), "--format=jsonl"]));
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
    let demo = Demo::all();
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
