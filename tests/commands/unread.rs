//! Links, pipes, directories and other things in the place of a part of a save: every command says that it did not read
//! them, in its report, on standard error and by its exit code.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;
use tempfile::{TempDir, tempdir};

use crate::{Demo, lines, run};

/// Puts something in the place of a file.
type Spoil = fn(&Path, &Path);

/// A healthy save, and a copy of it in which something else is in the place of `part`.
struct Replaced {
    _demo: Demo,
    dir: TempDir,
    whole: String,
    save: String,
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), &to).unwrap();
        }
    }
}

fn replaced(part: &str, with: fn(&Path, &Path)) -> Replaced {
    let demo = Demo::new();
    let whole = demo.path("healthy/current");
    let dir = tempdir().unwrap();
    let save = dir.path().join("save");
    copy(Path::new(&whole), &save);
    let (part, apart) = (save.join(part), dir.path().join("apart"));
    fs::rename(&part, &apart).unwrap();
    with(&part, &apart);
    Replaced { _demo: demo, whole, save: save.to_str().unwrap().to_owned(), dir }
}

impl Replaced {
    fn out(&self, name: &str) -> (PathBuf, String) {
        let path = self.dir.path().join(name);
        (path.clone(), path.to_str().unwrap().to_owned())
    }

    /// What a report says was not read.
    fn unread(report: &Path) -> Vec<String> {
        let json: Json = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
        let files = json["files_unread"].as_array().unwrap_or_else(|| panic!("{report:?}: {json}"));
        files.iter().map(|fault| fault["file"].as_str().unwrap().to_owned()).collect()
    }
}

#[test]
fn what_is_not_a_file_of_the_save_is_never_left_out_in_silence() {
    let kinds: [(&str, Spoil); 5] = [
        ("a link", |at, apart| symlink(apart, at).unwrap()),
        ("a loop", |at, _| symlink(at, at).unwrap()),
        ("a pipe", |at, _| assert!(Command::new("mkfifo").arg(at).status().unwrap().success())),
        ("a directory", |at, _| fs::create_dir(at).unwrap()),
        ("a socket", |at, _| drop(std::os::unix::net::UnixListener::bind(at).unwrap())),
    ];
    let region = "regions/lod0/r.0.0.0.vxr";
    for (kind, with) in kinds {
        let there = replaced(region, with);
        let save = there.save.as_str();
        let says = |arguments: &[&str], bit: i32| {
            let run = run(arguments);
            let code = run.code.unwrap_or_else(|| panic!("{kind}: {arguments:?}: {}", run.err));
            assert!(code & bit != 0, "{kind}: {arguments:?} exits with {code}: {}", run.out);
            assert!(run.err.contains("r.0.0.0.vxr"), "{kind}: {arguments:?}: {}", run.err);
            run
        };
        let (forest, to) = there.out("forest");
        says(&["convert", save, "--out", &to], 8);
        assert!(Replaced::unread(&forest.join("convert.json")).contains(&region.to_owned()), "{kind}");
        #[cfg(feature = "sqlite")]
        says(&["convert", save, "--out", &there.out("stream.sqlite").1], 8);
        let (arrays, to) = there.out("arrays");
        says(&["export", save, "--out", &to], 8);
        assert!(Replaced::unread(&arrays.join("export.json")).contains(&region.to_owned()), "{kind}");
        says(&["export", save, "--out", &there.out("table.csv").1, "--table"], 8);
        says(&["export", save, "--out", &there.out("slice.png").1, "--slice", "y=0"], 8);
        says(&["export", save, "--map", &there.out("map.png").1], 8);
        says(&["ls", save], 8);
        says(&["info", save], 8);
        let checked = run(&["check", save, "--format", "json"]);
        let summary = serde_json::from_str::<Json>(&checked.out).unwrap()["summary"].clone();
        assert_eq!((&summary["files_unread"], checked.code.unwrap() & 8), (&1.into(), 8), "{kind}: {summary}");
        let (copy, to) = there.out("copy");
        let repaired = says(&["repair", save, "--out", &to], 8);
        assert!(!repaired.out.contains("checked, clean"), "{kind}: {}", repaired.out);
        assert!(Replaced::unread(&copy.join("repair.json")).contains(&region.to_owned()), "{kind}");
        says(&["repair", save, "--plan"], 8);
        // The other save has blocks there. They are not called missing.
        for (sides, side) in [([save, &there.whole], "a"), ([&there.whole, save], "b")] {
            let run = says(&["diff", sides[0], sides[1], "--format=jsonl"], 2);
            let all = lines(&run.out);
            let (summary, changes) = all.split_last().unwrap();
            assert!(summary["unreadable"].as_u64().unwrap() > 0, "{kind}: {summary}");
            assert!(!summary["files_unread"].as_array().unwrap().is_empty(), "{kind}: {summary}");
            assert!(
                changes.iter().all(|line| line["type"] == "unreadable" && line["side"] == side),
                "{kind}: {changes:?}"
            );
        }
    }
}

#[test]
fn what_is_no_directory_in_the_place_of_a_lod_is_reported_by_every_command() {
    let kinds: [Spoil; 3] = [
        |at, apart| symlink(apart, at).unwrap(),
        |at, _| assert!(Command::new("mkfifo").arg(at).status().unwrap().success()),
        |at, _| drop(std::os::unix::net::UnixListener::bind(at).unwrap()),
    ];
    for with in kinds {
        a_lod_is_reported(&replaced("regions/lod0", with));
    }
}

fn a_lod_is_reported(there: &Replaced) {
    let save = there.save.as_str();
    let (arrays, table, copy) = (there.out("arrays").1, there.out("table.csv").1, there.out("copy").1);
    for arguments in [
        &["convert", save, "--out", &there.out("forest").1][..],
        &["export", save, "--lod=1", "--out", &arrays],
        &["export", save, "--table", "--out", &table],
        &["ls", save],
        &["info", save],
        &["repair", save, "--out", &copy],
    ] {
        let run = run(arguments);
        assert!(run.code.unwrap() & 8 != 0 && run.err.contains("lod0"), "{arguments:?}: {:?} {}", run.code, run.err);
        assert!(!run.out.contains("lod0: the game does not look for it"), "{arguments:?}: {}", run.out);
    }
    let run = run(&["diff", save, &there.whole, "--format=jsonl"]);
    let summary = lines(&run.out).pop().unwrap();
    assert_eq!((run.code, &summary["added"]), (Some(2), &0.into()), "{summary}");
}

#[cfg(feature = "sqlite")]
#[test]
fn an_unusable_journal_is_reported_by_every_command() {
    let dir = tempdir().unwrap();
    let sample = voxscope::demo::samples().find(|sample| sample.name == "stream").unwrap();
    (sample.make)(dir.path()).unwrap();
    let path = dir.path().join("world.sqlite");
    symlink("/dev/zero", dir.path().join("world.sqlite-journal")).unwrap();
    let (save, to) = (path.to_str().unwrap(), |name: &str| dir.path().join(name).to_str().unwrap().to_owned());
    for arguments in [
        &["convert", save, "--out", &to("forest")][..],
        &["export", save, "--out", &to("arrays")],
        &["export", save, "--table", "--out", &to("table.csv")],
        &["ls", save],
        &["repair", save, "--out", &to("copy.sqlite")],
    ] {
        let run = run(arguments);
        assert!(
            run.code.unwrap() & 8 != 0 && run.err.contains("-journal"),
            "{arguments:?}: {:?} {}",
            run.code,
            run.err
        );
    }
}
