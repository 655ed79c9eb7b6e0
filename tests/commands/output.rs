//! Where the output goes: full disks, closed pipes, and what may reach a terminal.

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;

use tempfile::tempdir;

use crate::{Demo, command, run};

fn full() -> Stdio {
    File::options().write(true).open("/dev/full").unwrap().into()
}

/// The exit code of a command whose output cannot be written, and what it said on standard error.
fn ends(arguments: &[&str], out: Stdio, err: Stdio) -> (i32, String) {
    let output = command(arguments).stdout(out).stderr(err).spawn().unwrap().wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!said.contains("panicked"), "{arguments:?}: {said}");
    (output.status.code().unwrap_or_else(|| panic!("{arguments:?}: {}", output.status)), said)
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_under_the_output_ends_every_command_with_8() {
    let demo = Demo::new();
    let (save, bad) = (demo.path("healthy/current"), demo.path("damaged/block-epilogue"));
    let dir = tempdir().unwrap();
    let to = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    for (n, arguments) in [
        &["--help"][..],
        &["--version"],
        &["check", "--help"],
        &["check", &bad],
        &["check", "--format=jsonl", &bad],
        &["check", "--format=json", &bad],
        &["ls", &save],
        &["ls", "--format=csv", &save],
        &["info", &save],
        &["show", &save, "--block=0,0,0"],
        &["explain"],
        &["explain", "stale-tail"],
        &["diff", &save, &bad],
        &["repair", &bad, "--plan"],
        &["completions", "bash"],
        &["man"],
        &["demo", "--write", &to("demo")],
        &[&save],
    ]
    .into_iter()
    .enumerate()
    {
        let (code, said) = ends(arguments, full(), Stdio::piped());
        assert!(code & 8 != 0, "{n}: {arguments:?} exits with {code}: {said}");
        let (code, _) = ends(arguments, full(), full());
        assert!(code & 8 != 0, "{n}: {arguments:?} exits with {code}");
    }
    assert_eq!(ends(&["diff", &save, &bad], full(), Stdio::piped()).0, 8, "as OUTPUT.md says of diff");
    // What was found counts as well.
    for (arguments, found) in [(&["check", &bad][..], 4), (&["repair", &bad, "--plan"], 1)] {
        let (code, _) = ends(arguments, full(), Stdio::piped());
        assert_eq!(code & (found | 8), found | 8, "{arguments:?} exits with {code}");
    }
    // What is said on standard error counts too.
    for (arguments, more) in
        [(&["check", "/nothing/here"][..], 8), (&["--no-such"], 16), (&["chek"], 16), (&["repair", &bad], 16)]
    {
        let (code, _) = ends(arguments, Stdio::piped(), full());
        assert_eq!(code, more | 8, "{arguments:?}");
    }
}

/// A copy that is complete is there, and is said to be, even where the report cannot be printed.
#[cfg(target_os = "linux")]
#[test]
fn a_result_stands_when_its_report_cannot_be_printed() {
    let demo = Demo::new();
    let bad = demo.path("damaged/crash-grown");
    let dir = tempdir().unwrap();
    for (command, name, report) in
        [("repair", "copy", "repair.json"), ("convert", "forest", "convert.json"), ("export", "arrays", "export.json")]
    {
        let to = dir.path().join(name);
        let (code, said) = ends(&[command, &bad, "--out", to.to_str().unwrap()], full(), Stdio::piped());
        assert!(code & 8 != 0 && said.contains("is complete") && said.contains(name), "{command}: {code} {said}");
        assert!(to.join(report).is_file(), "{command}");
        let again = dir.path().join(format!("{name}-2"));
        let (code, _) = ends(&[command, &bad, "--out", again.to_str().unwrap()], full(), full());
        assert!(code & 8 != 0 && again.join(report).is_file(), "{command}: {code}");
    }
}

/// Standard output or error whose reader is gone.
#[test]
fn a_closed_output_is_no_panic() {
    let demo = Demo::new();
    let bad = demo.path("damaged/block-epilogue");
    for arguments in [&["check", &bad][..], &["check", "/nothing/here"], &["--no-such-flag"], &["ls", &bad, "x=="]] {
        let closed = || std::io::pipe().unwrap().1;
        let status = command(arguments).stdout(closed()).stderr(closed()).status().unwrap();
        assert!(status.code().is_some_and(|code| code & 8 != 0), "{arguments:?}: {status}");
    }
}

#[test]
fn what_is_wrong_with_the_arguments_is_said_with_16() {
    let demo = Demo::new();
    let save = demo.path("healthy/current");
    let all = demo.path("healthy");
    let dir = tempdir().unwrap();
    let to = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    for (arguments, word) in [
        (&["repair", &save][..], "--plan"),
        (&["export", &save, "--map", &to("x.jpg")], ".png"),
        (&["export", &save, "--map", &to("x")], ".png"),
        (&["export", &save, "--out", &to("x.txt"), "--table"], ".csv"),
        (&["export", &save, "--out", &to("x"), "--box", "0,0,0..0,0,0"], "box"),
        (&["export", &save, "--out", &to("x"), "--fill", "70000", "--channel", "TYPE"], "fill"),
        (&["export", &save, "--out", &to("x.csv"), "--instances"], "instances"),
        (&["export", &save, "--out", &to("x.png"), "--look", "scale"], "--look"),
        (&["export", &save, "--map", &to("x.png"), "--look", "depth"], "depth"),
        (&["export", &save, "--map", &to("x.npy"), "--look", "surface"], "--look"),
        (&["export", &save, "--map", &to("x.png"), "--look", "cut"], "--slice"),
        (&["export", &all, "--map", &to("x.png")], "saves here"),
        (&["convert", &save, "--out", &to("x"), "--block-size", "17"], "block size"),
        (&["convert", &save, "--out", &to("x"), "--coordinates", "1"], "--coordinates"),
        (&["diff", &all, &save], "several saves"),
        (&["diff", &save, &save, "--block-size", "16"], "together"),
        (&["repair", &save, "--out", &save], "exists"),
        (&["man", "nothing"], "no command"),
    ] {
        let run = run(arguments);
        assert_eq!(run.code, Some(16), "{arguments:?}: {}", run.err);
        assert!(run.err.contains(word) && run.out.is_empty(), "{arguments:?}: {}", run.err);
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is written");
    // What is asked for is not there.
    for arguments in [
        &["export", &save, "--out", &to("x"), "--lod", "9"][..],
        &["export", &save, "--out", &to("x"), "--block", "90,90,90"],
        &["export", &save, "--out", &to("x.png"), "--slice", "y=90000"],
        &["export", &save, "--map", &to("x.png"), "--lod", "9"],
        &["export", &demo.path("healthy/map-dense"), "--out", &to("x"), "--layer", "nothing"],
    ] {
        let run = run(arguments);
        assert_eq!(run.code, Some(8), "{arguments:?}: {}", run.err);
    }
}

/// Names in a database, which SQLite's own messages repeat.
#[cfg(feature = "sqlite")]
#[test]
fn control_characters_of_a_schema_do_not_reach_the_terminal() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("world.sqlite");
    let evil = "\u{1b}[31m\u{1b}]0;t\u{7}\u{9b}2J\u{85}\t\u{202e}\u{200b}";
    let sql = format!(
        "ALTER TABLE blocks ADD COLUMN \"{evil}\" INTEGER;
         CREATE TABLE \"t{evil}\" (a CHECK (a > 0), \"b{evil}\");
         CREATE VIEW \"v{evil}\" AS SELECT \"{evil}\" FROM blocks;
         CREATE TRIGGER \"x{evil}\" AFTER INSERT ON blocks BEGIN SELECT \"{evil}\"; END;
         INSERT INTO meta SELECT * FROM meta;"
    );
    let spec = voxscope::demo::stream::StreamSpec::small(voxscope::godot::stream::loc::Format::Text);
    voxscope::demo::stream::write_changed(&path, &spec, &sql).unwrap();
    let save = path.to_str().unwrap();
    let plain = |text: &str| text.chars().all(|c| c == '\n' || voxscope::printable::is_plain(c));
    let to = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let results = [to("copy.sqlite"), to("forest"), to("arrays"), to("table.csv"), to("table.sqlite")];
    for arguments in [
        &["check", "--notes", save][..],
        &["check", "--format=jsonl", save],
        &["info", save],
        &["ls", save],
        &["show", save, "--block=0,0,0"],
        &["show", save, "--block=0,0,0", "--format=json"],
        &["repair", save, "--plan"],
        &["repair", save, "--out", &results[0]],
        &["convert", save, "--out", &results[1]],
        &["export", save, "--out", &results[2]],
        &["export", save, "--table", "--out", &results[3]],
        &["export", save, "--table", "--out", &results[4]],
        &["diff", save, save],
    ] {
        let run = run(arguments);
        assert!(plain(&run.out) && plain(&run.err), "{arguments:?}: {:?} {:?}", run.out, run.err);
    }
    let report = Path::new(&results[0]).with_extension("sqlite.repair.json");
    assert!(plain(&fs::read_to_string(report).unwrap()));
}
