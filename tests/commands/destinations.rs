//! Where results may be written, and what is beside them.
#![cfg(unix)]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use tempfile::tempdir;

use crate::common::files_below;
use crate::{Demo, output, run, state};

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// SQLite would play a journal into a new database of its name.
#[cfg(feature = "sqlite")]
#[test]
fn a_journal_beside_a_new_database_is_refused() {
    let demo = Demo::new();
    let (forest, stream) = (demo.path("healthy/current"), demo.path("healthy/stream/world.sqlite"));
    for ending in ["-journal", "-wal", "-shm"] {
        let dir = tempdir().unwrap();
        let beside = dir.path().join(format!("new.sqlite{ending}"));
        fs::write(&beside, b"old").unwrap();
        let to = dir.path().join("new.sqlite");
        for arguments in [
            &["convert", &forest, "--out", text(&to)][..],
            &["export", &forest, "--table", "--out", text(&to)],
            &["repair", &stream, "--out", text(&to)],
        ] {
            let run = run(arguments);
            assert_eq!(run.code, Some(16), "{ending}: {arguments:?}: {}", run.err);
            assert!(run.err.contains(&format!("new.sqlite{ending}")), "{}", run.err);
            assert_eq!(names(dir.path()).len(), 1, "{arguments:?}");
        }
        assert_eq!(fs::read(&beside).unwrap(), b"old");
    }
}

#[test]
fn nothing_is_written_into_the_save() {
    let demo = Demo::all();
    let before = state(&demo.root);
    let (forest, stream) = (demo.path("healthy/current"), demo.path("healthy/stream/world.sqlite"));
    let region = format!("{forest}/regions/lod0/r.0.0.0.vxr");
    for (save, to) in [
        (&forest, format!("{forest}/copy")),
        (&forest, format!("{forest}/regions/copy")),
        (&forest, format!("{forest}/regions/lod0/r.9.9.9.vxr")),
        (&region, format!("{forest}/regions/lod0/copy")),
        (&stream, format!("{stream}-journal")),
        (&stream, format!("{stream}-wal")),
    ] {
        for command in ["repair", "convert", "export"] {
            let run = run(&[command, save, "--out", &to]);
            assert_eq!(run.code, Some(16), "{command} {save} --out {to}: {}{}", run.out, run.err);
        }
    }
    assert!(state(&demo.root) == before);
}

#[test]
fn copies_keep_the_permissions_of_their_sources() {
    let demo = Demo::new();
    let save = demo.path("damaged/block-epilogue");
    let source = Path::new(&save);
    for file in files_below(source) {
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
    }
    let meta = source.join("meta.vxrm");
    fs::set_permissions(&meta, Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(source.join("regions"), Permissions::from_mode(0o750)).unwrap();
    fs::set_permissions(source, Permissions::from_mode(0o700)).unwrap();
    let dir = tempdir().unwrap();
    let to = dir.path().join("copy");
    let run = run(&["repair", &save, "--out", text(&to)]);
    assert!(run.code.is_some_and(|code| code & 1 == 1), "{:?} {}", run.code, run.err);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode(&to), mode(&to.join("regions")), mode(&to.join("meta.vxrm"))), (0o700, 0o750, 0o444));
    let regions = files_below(&to.join("regions"));
    assert!(!regions.is_empty() && regions.iter().all(|file| mode(file) == 0o640), "{regions:?}");
    #[cfg(feature = "sqlite")]
    {
        let stream = demo.path("damaged/stream-empty/world.sqlite");
        fs::set_permissions(&stream, Permissions::from_mode(0o600)).unwrap();
        let healthy = demo.path("healthy/stream/world.sqlite");
        fs::set_permissions(&healthy, Permissions::from_mode(0o600)).unwrap();
        let to = dir.path().join("world.sqlite");
        assert_eq!(crate::code(&["repair", &healthy, "--out", text(&to)]), 0);
        assert_eq!(mode(&to), 0o600);
    }
}

#[test]
fn long_names_work_or_are_refused_before_anything_is_written() {
    let demo = Demo::new();
    let save = demo.path("healthy/current");
    let dir = tempdir().unwrap();
    let long = |len: usize, ending: &str| dir.path().join(format!("{}{ending}", "n".repeat(len - ending.len())));
    for command in ["repair", "convert", "export"] {
        let (fits, too_long) = (long(250, ""), long(251, ""));
        let run = run(&[command, &save, "--out", text(&fits)]);
        assert!(run.code == Some(0) && fits.is_dir(), "{command}: {:?} {}", run.code, run.err);
        fs::remove_dir_all(&fits).unwrap();
        let run = crate::run(&[command, &save, "--out", text(&too_long)]);
        assert!(run.code == Some(16) && run.err.contains("too long"), "{command}: {:?} {}", run.code, run.err);
        assert!(names(dir.path()).is_empty(), "{command}");
    }
    #[cfg(feature = "sqlite")]
    {
        let stream = demo.path("healthy/stream/world.sqlite");
        let (fits, too_long) = (long(243, ".sqlite"), long(244, ".sqlite"));
        for arguments in
            [&["repair", &stream, "--out"][..], &["convert", &save, "--out"], &["export", &save, "--table", "--out"]]
        {
            let run = run(&[arguments, &[text(&fits)]].concat());
            assert!(run.code == Some(0) && fits.is_file(), "{arguments:?}: {:?} {}", run.code, run.err);
            for name in names(dir.path()) {
                fs::remove_file(dir.path().join(name)).unwrap();
            }
            let run = crate::run(&[arguments, &[text(&too_long)]].concat());
            assert!(run.code == Some(16) && run.err.contains("too long"), "{arguments:?}: {:?} {}", run.code, run.err);
            assert!(names(dir.path()).is_empty(), "{arguments:?}");
        }
    }
}

/// A box of 10,000 voxels along each axis is refused with its size, and with `--yes` where the disk has no room for it.
#[test]
fn what_is_very_large_is_written_only_when_asked_for() {
    let demo = Demo::new();
    let save = demo.path("healthy/current");
    let dir = tempdir().unwrap();
    let to = dir.path().join("arrays");
    let arguments =
        ["export", &save, "--box=0,0,0..10000,10000,10000", "--channel=TYPE", "--fill=7", "--out", text(&to)];
    let refused = run(&arguments);
    assert_eq!(refused.code, Some(16), "{}", refused.err);
    assert!(refused.err.contains("iB") && refused.err.contains("--yes"), "{}", refused.err);
    assert!(names(dir.path()).is_empty());
    // More than any disk has: both figures are in the message.
    let arguments = ["export", &save, "--box=0,0,0..50000,50000,50000", "--channel=DATA7", "--out", text(&to), "--yes"];
    let no_room = run(&arguments);
    assert_eq!(no_room.code, Some(8), "{}", no_room.err);
    assert!(no_room.err.contains("needs at least 113.7 TiB") && no_room.err.contains("are free"), "{}", no_room.err);
    assert!(names(dir.path()).is_empty());
}

/// A box without a block is refused with the voxels that there are.
#[test]
fn a_box_outside_of_all_blocks_is_refused() {
    let demo = Demo::new();
    let save = demo.path("healthy/current");
    let dir = tempdir().unwrap();
    for (name, more) in [("arrays", &[][..]), ("slice.png", &["--slice=y=3"])] {
        let to = dir.path().join(name);
        let arguments = ["export", &save, "--box=100000,0,0..100016,16,16", "--out", text(&to)];
        let refused = run(&[&arguments[..], more].concat());
        assert_eq!(refused.code, Some(8), "{name}: {}", refused.err);
        assert!(
            refused.err.contains("no block of LOD 0 is in the box") && refused.err.contains("-32,"),
            "{}",
            refused.err
        );
        assert!(names(dir.path()).is_empty(), "{name}");
    }
}

#[test]
fn the_samples_are_built_beside_their_directory() {
    let dir = tempdir().unwrap();
    let to = dir.path().join("samples");
    // A disk that takes no more ends the writing, and leaves nothing.
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$0\" demo --write \"$1\"";
    let stopped = Command::new("sh").args(["-c", script, env!("CARGO_BIN_EXE_voxscope"), text(&to)]).output().unwrap();
    assert_eq!(stopped.status.code(), Some(8), "{}", String::from_utf8_lossy(&stopped.stderr));
    assert!(names(dir.path()).is_empty());
    fs::create_dir(&to).unwrap();
    let stopped = Command::new("sh").args(["-c", script, env!("CARGO_BIN_EXE_voxscope"), text(&to)]).output().unwrap();
    assert_eq!(stopped.status.code(), Some(8));
    assert!(names(dir.path()) == ["samples"] && names(&to).is_empty());
    output(&["demo", "--write", text(&to)]);
    assert_eq!(names(&to), ["damaged", "healthy"]);
}

/// Files are opened one after the other, however many a save has.
#[test]
fn a_save_of_many_files_needs_few_open_files() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    let all = |name: &str, sample: &str| {
        let save = dir.path().join(name);
        let (from, lod) = (demo.path(sample), save.join("regions/lod0"));
        fs::create_dir_all(&lod).unwrap();
        fs::copy(Path::new(&from).join("meta.vxrm"), save.join("meta.vxrm")).unwrap();
        let region = fs::read(Path::new(&from).join("regions/lod0/r.0.0.0.vxr")).unwrap();
        for i in 0..150 {
            fs::write(lod.join(format!("r.{i}.0.0.vxr")), &region).unwrap();
        }
        save
    };
    let (healthy, damaged) = (all("healthy", "healthy/plain"), all("damaged", "damaged/block-epilogue"));
    let limited = |arguments: &[&str]| {
        let script = "ulimit -n 64; exec \"$0\" \"$@\"";
        let run =
            Command::new("sh").args(["-c", script, env!("CARGO_BIN_EXE_voxscope")]).args(arguments).output().unwrap();
        let err = String::from_utf8_lossy(&run.stderr).into_owned();
        let code = run.status.code().unwrap_or(255);
        assert!(code & 8 == 0 && !err.contains("Too many open files"), "{arguments:?}: {code} {err}");
    };
    let to = |name: &str| dir.path().join(name);
    for save in [&healthy, &damaged] {
        let name = save.file_name().unwrap().to_str().unwrap();
        limited(&["check", "--level=decode", text(save)]);
        limited(&["ls", text(save)]);
        limited(&["info", text(save)]);
        limited(&["export", text(save), "--table", "--out", text(&to(&format!("{name}.csv")))]);
    }
    limited(&["repair", text(&healthy), "--out", text(&to("repaired"))]);
    limited(&["diff", text(&healthy), text(&damaged)]);
}

#[test]
fn samples_are_not_written_into_a_save() {
    let demo = Demo::new();
    let inside = format!("{}/regions/samples", demo.path("healthy/current"));
    let ran = run(&["demo", "--write", &inside]);
    assert_eq!(ran.code, Some(16), "{}", ran.err);
    assert!(ran.err.contains("it is inside the save") && !Path::new(&inside).exists(), "{}", ran.err);
}

#[test]
fn a_backup_of_another_kind_is_refused() {
    let demo = Demo::new();
    let (save, backup) = (demo.path("healthy/plain"), demo.path("healthy/pak-room"));
    let ran = run(&["repair", &save, "--plan", "--from-backup", &backup]);
    assert_eq!(ran.code, Some(16), "{}", ran.err);
    let files = demo.path("damaged/block-file-cut");
    for (save, backup, what) in [
        (&files, &save, "it is a forest or region files, and the save is a save of block files"),
        (&save, &files, "it is a save of block files, and the save is a forest or region files"),
    ] {
        let ran = run(&["repair", save, "--plan", "--from-backup", backup]);
        assert_eq!(ran.code, Some(16), "{}", ran.err);
        assert!(ran.err.contains(what), "{}", ran.err);
    }
    #[cfg(feature = "sqlite")]
    {
        let ran = run(&["repair", &save, "--plan", "--from-backup", &demo.path("healthy/stream")]);
        assert_eq!(ran.code, Some(16), "{}", ran.err);
        assert!(ran.err.contains("healthy/stream: it is a stream"), "{}", ran.err);
    }
}

/// The shell's limit counts in 512 or 1024 bytes: 8 KiB at most, less than a region file of the copy.
#[test]
fn a_file_that_becomes_larger_than_the_system_allows_is_an_error_and_leaves_nothing() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    let (save, copy) = (demo.path("damaged/crash-torn-table"), dir.path().join("copy"));
    let command =
        format!("ulimit -f 8; exec '{}' repair '{save}' --out '{}'", env!("CARGO_BIN_EXE_voxscope"), copy.display());
    let ran = Command::new("sh").args(["-c", &command]).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(8), "{said}");
    assert!(said.contains("cannot be written"), "{said}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "something is left");
}

/// Refused before anything is written, whichever command would write it.
#[cfg(feature = "sqlite")]
#[test]
fn a_destination_named_like_a_journal_is_refused() {
    let demo = Demo::new();
    let (forest, stream) = (demo.path("healthy/current"), demo.path("healthy/stream/world.sqlite"));
    let dir = tempdir().unwrap();
    fs::copy(&stream, dir.path().join("save.file")).unwrap();
    for name in ["world.sqlite-journal", "world.sqlite-wal", "world.db-shm", "save.file-wal"] {
        let to = dir.path().join(name);
        for arguments in [
            &["convert", &stream, "--out", text(&to)][..],
            &["convert", &forest, "--to=sqlite", "--out", text(&to)],
            &["repair", &stream, "--out", text(&to)],
            &["repair", &forest, "--out", text(&to)],
            &["export", &forest, "--out", text(&to)],
        ] {
            let run = run(arguments);
            assert_eq!(run.code, Some(16), "{arguments:?}: {}", run.err);
            assert!(run.err.contains("journal or log of a database"), "{arguments:?}: {}", run.err);
        }
    }
    assert_eq!(names(dir.path()), ["save.file"]);
}
