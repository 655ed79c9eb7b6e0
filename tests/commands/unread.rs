//! Links, pipes, directories and other things in the place of a part of a save: every command says that it did not read
//! them, in its report, on standard error and by its exit code.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;
use tempfile::{TempDir, tempdir};

use crate::common::copy_dir;
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

fn replaced(part: &str, with: fn(&Path, &Path)) -> Replaced {
    let demo = Demo::new();
    let whole = demo.path("healthy/current");
    let dir = tempdir().unwrap();
    let save = dir.path().join("save");
    copy_dir(&whole, &save);
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

#[test]
fn an_array_of_a_map_that_is_no_file_is_reported_by_every_command() {
    let kinds: [Spoil; 4] = [
        |at, apart| symlink(apart, at).unwrap(),
        |at, _| assert!(Command::new("mkfifo").arg(at).status().unwrap().success()),
        |at, _| fs::create_dir(at).unwrap(),
        |at, _| drop(std::os::unix::net::UnixListener::bind(at).unwrap()),
    ];
    for with in kinds {
        let demo = Demo::new();
        let dir = tempdir().unwrap();
        let save = dir.path().join("save");
        copy_dir(demo.path("healthy/map-sparse"), &save);
        let part = crate::common::files_below(&save)
            .into_iter()
            .find(|path| path.extension().is_some_and(|e| e == "npy"))
            .unwrap();
        let apart = dir.path().join("apart");
        fs::rename(&part, &apart).unwrap();
        with(&part, &apart);
        let name = part.file_name().unwrap().to_str().unwrap();
        let save = save.to_str().unwrap();
        let to = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        for arguments in [
            &["ls", save][..],
            &["info", save],
            &["repair", save, "--plan"],
            &["repair", save, "--out", &to("copy")],
            &["export", save, "--table", "--out", &to("table.csv")],
        ] {
            let run = run(arguments);
            let code = run.code.unwrap();
            assert!(code & 8 != 0 && run.err.contains(name), "{arguments:?}: {code} {} {}", run.out, run.err);
            assert!(!run.out.contains("checked, clean"), "{arguments:?}: {}", run.out);
        }
        let drawn = run(&["export", save, "--map", &to("map.png")]);
        assert!(drawn.code.unwrap() & 8 != 0 && !drawn.err.is_empty(), "{:?}: {}", drawn.code, drawn.out);
        let checked = run(&["check", save, "--format", "json"]);
        let summary = serde_json::from_str::<Json>(&checked.out).unwrap()["summary"].clone();
        assert_eq!((&summary["files_unread"], checked.code.unwrap() & 8), (&1.into(), 8), "{summary}");
    }
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

/// A healthy sample of another kind than region files.
fn sample(name: &str, to: &Path) -> String {
    let sample = voxscope::demo::samples().find(|sample| sample.name == name).unwrap();
    fs::create_dir_all(to).unwrap();
    (sample.make)(to).unwrap();
    to.to_str().unwrap().to_owned()
}

#[test]
fn an_array_that_is_no_file_is_named_by_every_command() {
    let kinds: [Spoil; 3] = [
        |at, _| symlink(at, at).unwrap(),
        |at, _| assert!(Command::new("mkfifo").arg(at).status().unwrap().success()),
        |at, _| fs::create_dir(at).unwrap(),
    ];
    for with in kinds {
        let dir = tempdir().unwrap();
        let save = sample("map-sparse", &dir.path().join("map"));
        let part = "Lake_Global_index.npy";
        let at = Path::new(&save).join(part);
        fs::remove_file(&at).unwrap();
        with(&at, &at);
        let to = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        for arguments in [
            &["info", &save][..],
            &["ls", &save],
            &["export", &save, "--layer", "0", "--out", &to("layer")],
            &["export", &save, "--layer", "1", "--map", &to("layer.png")],
            &["export", &save, "--table", "--out", &to("table.csv")],
        ] {
            let run = run(arguments);
            assert!(run.code.unwrap() & 8 != 0 && run.err.contains(part), "{arguments:?}: {:?} {}", run.code, run.err);
        }
    }
}

#[test]
fn what_a_link_leads_to_is_not_replaced_by_a_backup() {
    let there = replaced("regions/lod0/r.0.0.0.vxr", |at, apart| symlink(apart, at).unwrap());
    let (copy, to) = there.out("copy");
    for how in [&["--plan"][..], &["--out", &to]] {
        let run = run(&[&["repair", &there.save, "--from-backup", &there.whole][..], how].concat());
        assert!(run.code.unwrap() & 8 != 0 && !run.out.contains("takes its place"), "{:?} {}", run.code, run.out);
    }
    assert!(copy.is_dir() && !copy.join("regions/lod0/r.0.0.0.vxr").exists());
}

#[test]
fn a_directory_in_the_place_of_a_meta_file_is_set_aside() {
    for (name, meta) in [("current", "meta.vxrm"), ("block-files", "meta.vxbm")] {
        let dir = tempdir().unwrap();
        let save = sample(name, &dir.path().join("save"));
        let (meta, copy) = (Path::new(&save).join(meta), dir.path().join("copy"));
        let file = meta.file_name().unwrap();
        fs::remove_file(&meta).unwrap();
        fs::create_dir(&meta).unwrap();
        fs::write(meta.join("inside"), "x").unwrap();
        let checked = run(&["check", &save]);
        assert_eq!(checked.code, Some(12), "{name}: {}", checked.out);
        assert!(checked.out.contains("not-a-file") && !checked.out.contains("-meta"), "{name}: {}", checked.out);
        for command in ["info", "ls"] {
            assert_eq!(run(&[command, &save]).code, Some(8), "{name}: {command}");
        }
        let planned = run(&["repair", &save, "--plan"]);
        let done = run(&["repair", &save, "--out", copy.to_str().unwrap()]);
        assert_eq!(done.code, Some(9), "{name}: {}{}", done.out, done.err);
        assert_eq!(planned.code, done.code, "{name}: {}{}", planned.out, planned.err);
        assert!(copy.join(file).is_file(), "{name}");
        assert!(copy.join("lost+found/files").join(file).join("inside").is_file(), "{name}");
    }
}

#[test]
fn block_files_without_their_finest_lod_have_a_gap() {
    let kinds: [(Spoil, &[&str]); 3] = [
        (|_, _| (), &["lod-gap"]),
        (|at, _| fs::create_dir(at).unwrap(), &["lod-gap"]),
        (|at, _| fs::write(at, "x").unwrap(), &["lod-gap", "not-a-file"]),
    ];
    for (with, codes) in kinds {
        let dir = tempdir().unwrap();
        let save = sample("block-files", &dir.path().join("save"));
        let lod = Path::new(&save).join("blocks/lod0");
        fs::rename(&lod, dir.path().join("apart")).unwrap();
        with(&lod, &lod);
        let checked = run(&["check", &save, "--format=jsonl"]);
        let found = lines(&checked.out);
        for code in codes {
            let finding = found.iter().find(|line| line["code"] == *code);
            let finding = finding.unwrap_or_else(|| panic!("{code}: {}", checked.out));
            assert_eq!(finding["file"], "blocks/lod0");
        }
        assert_eq!(checked.code, Some(if codes.len() > 1 { 12 } else { 4 }), "{}", checked.out);
        // What is in the place of the directory is kept.
        let copy = dir.path().join("copy");
        let done = run(&["repair", &save, "--out", copy.to_str().unwrap()]);
        assert_eq!(copy.join("lost+found/files/blocks/lod0").is_file(), codes.len() > 1, "{}{}", done.out, done.err);
    }
}

#[test]
fn commands_over_several_saves_name_those_that_they_leave_out() {
    let dir = tempdir().unwrap();
    let all = dir.path().join("all");
    for (name, to) in [("current", "one"), ("plain", "two"), ("pak-room", "pak"), ("map-sparse", "map")] {
        sample(name, &all.join(to));
    }
    let (all, to) = (all.to_str().unwrap(), |name: &str| dir.path().join(name).to_str().unwrap().to_owned());
    for (arguments, code) in [
        (&["diff", all, all][..], 2),
        (&["convert", all, "--out", &to("forests")], 8),
        (&["export", all, "--out", &to("arrays")], 8),
    ] {
        let run = run(arguments);
        assert_eq!(run.code, Some(code), "{arguments:?}: {}", run.err);
        for name in ["pak: ", "map: "] {
            assert!(run.err.contains(name), "{arguments:?}: {}", run.err);
        }
    }
    // Beside one save.
    fs::remove_dir_all(dir.path().join("all/two")).unwrap();
    assert_eq!(run(&["diff", all, all]).code, Some(2));
    assert_eq!(run(&["convert", all, "--out", &to("forest")]).code, Some(8));
    assert_eq!(run(&["export", all, "--out", &to("arrays-of-one")]).code, Some(8));
    fs::remove_dir_all(dir.path().join("all/pak")).unwrap();
    fs::remove_dir_all(dir.path().join("all/map")).unwrap();
    assert_eq!(run(&["diff", all, all]).code, Some(0));
}

#[test]
fn a_link_that_is_the_only_stream_is_a_finding() {
    let dir = tempdir().unwrap();
    symlink("elsewhere", dir.path().join("world.sqlite")).unwrap();
    let checked = run(&["check", dir.path().to_str().unwrap()]);
    assert_eq!(checked.code, Some(12), "{}{}", checked.out, checked.err);
    assert!(checked.out.contains("link-skipped"), "{}", checked.out);
}

#[cfg(feature = "sqlite")]
#[test]
fn a_repair_says_first_what_was_not_read() {
    let dir = tempdir().unwrap();
    let save = sample("stream", &dir.path().join("save"));
    let path = Path::new(&save).join("world.sqlite");
    fs::create_dir(Path::new(&save).join("world.sqlite-journal")).unwrap();
    let (save, copy) = (path.to_str().unwrap(), dir.path().join("copy.sqlite"));
    for how in [&["--plan"][..], &["--out", copy.to_str().unwrap()]] {
        let run = run(&[&["repair", save][..], how].concat());
        assert!(run.code.unwrap() & 8 != 0 && run.err.contains("-journal"), "{:?} {}", run.code, run.err);
        assert!(run.out.starts_with("Nothing to repair in what was read."), "{}", run.out);
    }
}

#[test]
fn show_names_the_file_of_a_block_that_is_not_read() {
    let dir = tempdir().unwrap();
    let linked = |name: &str, kind: &str, at: &str| {
        let save = sample(kind, &dir.path().join(name));
        let (file, moved) = (Path::new(&save).join(at), dir.path().join(format!("{name}.moved")));
        fs::rename(&file, &moved).unwrap();
        symlink(&moved, &file).unwrap();
        save
    };
    let file = linked("file", "current", "regions/lod0/r.0.0.0.vxr");
    let lod = linked("lod", "current", "regions/lod0");
    let block_file = linked("block", "block-files", "blocks/lod0/+0+0+0.vxb");
    let cut = sample("region-header-cut", &dir.path().join("cut"));
    for (save, words) in [
        (&file, "would be in regions/lod0/r.0.0.0.vxr: symbolic link is not followed"),
        (&lod, "would be in regions/lod0: symbolic link is not followed"),
        (&block_file, "would be in blocks/lod0/+0+0+0.vxb: symbolic link is not followed"),
        (&cut, "would be in regions/lod0/r.0.0.0.vxr: header of the region is cut short"),
    ] {
        let shown = run(&["show", save, "--block", "0,0,0"]);
        assert_eq!(shown.code, Some(8), "{}", shown.err);
        assert!(shown.err.contains(words), "{}", shown.err);
        let voxel = run(&["show", save, "--voxel", "1,1,1"]);
        assert!(voxel.err.contains(&words.replace("would be in ", "which is in ")), "{}", voxel.err);
    }
    let elsewhere = run(&["show", &file, "--block", "400,0,0"]);
    assert!(elsewhere.err.contains("is not in any table"), "{}", elsewhere.err);
}
