//! Files and directories that may not be read: every command names them and ends with the bit 8 (`diff` with 2), and none
//! takes them for damaged, missing or empty.
//!
//! An administrator may read everything, so the commands run as another user then.
#![cfg(unix)]

use std::fs::{self, File, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value as Json;
use tempfile::{TempDir, tempdir};
use voxscope::demo;

use crate::Run;

/// A user who owns nothing.
const NOBODY: u32 = 65_534;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Directories in which saves lie and results are written, and the program, all of them open to every user.
struct Place {
    dir: TempDir,
    program: PathBuf,
    /// Whether this process may read everything.
    is_administrator: bool,
    /// What nobody may read.
    refused: Vec<PathBuf>,
}

impl Place {
    fn new() -> Self {
        let dir = tempdir().unwrap();
        set_mode(dir.path(), 0o755);
        let program = dir.path().join("voxscope");
        fs::copy(env!("CARGO_BIN_EXE_voxscope"), &program).unwrap();
        let (out, probe) = (dir.path().join("out"), dir.path().join("probe"));
        fs::create_dir(&out).unwrap();
        set_mode(&out, 0o777);
        fs::write(&probe, "").unwrap();
        set_mode(&probe, 0);
        let is_administrator = File::open(&probe).is_ok();
        Self { dir, program, is_administrator, refused: Vec::new() }
    }

    /// A healthy sample, as a save of that name.
    fn save(&self, sample: &str, name: &str) -> String {
        let path = self.dir.path().join(name);
        let sample = demo::samples().find(|one| one.name == sample).unwrap();
        fs::create_dir_all(&path).unwrap();
        (sample.make)(&path).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Nobody may read this part of a save.
    fn refuse(&mut self, save: &str, part: &str, mode: u32) {
        let path = Path::new(save).join(part);
        set_mode(&path, mode);
        self.refused.push(path);
    }

    fn out(&self, name: &str) -> String {
        self.dir.path().join("out").join(name).to_str().unwrap().to_owned()
    }

    fn run(&self, arguments: &[&str]) -> Run {
        loop {
            let mut command = Command::new(&self.program);
            command.args(arguments).stdin(Stdio::null());
            if self.is_administrator {
                command.uid(NOBODY).gid(NOBODY);
            }
            let output = match command.output() {
                // A child of another test has not yet closed the copy that was written.
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => continue,
                output => output.unwrap(),
            };
            let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
            let run = Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) };
            assert!(!run.err.contains("panicked"), "{}", run.err);
            return run;
        }
    }

    /// A command names a part on standard error, and ends with the bit.
    fn names(&self, part: &str, bit: i32, arguments: &[&str]) -> Run {
        let run = self.run(arguments);
        let code = run.code.unwrap_or_else(|| panic!("{arguments:?}: {}", run.err));
        assert!(code & bit != 0, "{arguments:?} ends with {code}: {}{}", run.out, run.err);
        assert!(run.err.contains(part), "{arguments:?} does not name {part}: {}", run.err);
        run
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // A directory without permissions could not be removed.
        for path in &self.refused {
            let _ = fs::set_permissions(path, Permissions::from_mode(0o755));
        }
    }
}

#[test]
fn a_repair_replaces_nothing_that_it_could_not_read() {
    let mut place = Place::new();
    let backup = place.save("current", "backup");
    let region = "regions/lod0/r.0.0.0.vxr";
    for (name, part, mode, shown) in
        [("file", region, 0, region), ("closed", "regions/lod0", 0o444, region), ("hidden", "regions/lod0", 0, "lod0")]
    {
        let save = place.save("current", name);
        place.refuse(&save, part, mode);
        let copy = place.out(name);
        for how in [&["--plan"][..], &["--out", &copy]] {
            for with in [&[][..], &["--from-backup", &backup]] {
                let arguments = [&["repair", &save][..], how, with].concat();
                let run = place.names(shown, 8, &arguments);
                assert!(!run.out.contains("backup"), "{arguments:?}: {}", run.out);
                assert!(!Path::new(&copy).exists(), "{arguments:?}");
            }
        }
    }
}

#[test]
fn a_backup_that_cannot_be_read_is_named() {
    let mut place = Place::new();
    let (save, backup) = (place.save("current", "save"), place.save("current", "backup"));
    fs::write(Path::new(&save).join("regions/lod0/r.0.0.0.vxr"), "").unwrap();
    place.refuse(&backup, "regions/lod0/r.0.0.0.vxr", 0);
    let copy = place.out("copy");
    let shown = "backup/regions/lod0/r.0.0.0.vxr";
    let plan = place.names(shown, 8, &["repair", &save, "--plan", "--from-backup", &backup]);
    let done = place.names(shown, 8, &["repair", &save, "--out", &copy, "--from-backup", &backup]);
    assert_eq!(plan.code, done.code);
    let report: Json = serde_json::from_slice(&fs::read(Path::new(&copy).join("repair.json")).unwrap()).unwrap();
    assert_eq!(report["backup_files_unread"][0]["file"], "regions/lod0/r.0.0.0.vxr");
    assert_eq!(report["files_unread"], Json::Array(Vec::new()));
    // All of it.
    place.refuse(&backup, "regions", 0);
    place.refuse(&backup, "meta.vxrm", 0);
    place.names("backup/regions", 8, &["repair", &save, "--plan", "--from-backup", &backup]);
}

#[test]
fn exports_name_what_they_could_not_read() {
    let mut place = Place::new();
    for (sample, part) in [
        ("current", "regions/lod0/r.0.0.0.vxr"),
        ("port-layout", "lod0/r.0.0.0.vxr"),
        ("block-files", "blocks/lod0/+0+0+0.vxb"),
    ] {
        let save = place.save(sample, sample);
        place.refuse(&save, part, 0);
        let to = |name: &str| place.out(&format!("{sample}.{name}"));
        for (option, name) in [("--table", "t.csv"), ("--table", "t.jsonl"), ("--lost", "lost")] {
            place.names(part, 8, &["export", &save, option, "--out", &to(name)]);
        }
        place.names(part, 8, &["export", &save, "--out", &to("arrays")]);
        place.names(part, 8, &["export", &save, "--slice", "y=1", "--out", &to("slice.png")]);
        for look in ["surface", "height", "health", "coverage", "size"] {
            place.names(part, 8, &["export", &save, "--look", look, "--map", &to(&format!("{look}.png"))]);
        }
        for look in ["height", "coverage", "size"] {
            place.names(part, 8, &["export", &save, "--look", look, "--map", &to(&format!("{look}.npy"))]);
        }
        let cut = ["export", &save, "--look", "cut", "--slice", "y=1", "--map", &to("cut.png")];
        place.names(part, 8, &cut);
        place.names(part, 8, &["info", &save]);
        place.names(part, 8, &["ls", &save]);
        place.names(part, 2, &["diff", &save, &save]);
        let json = place.run(&["check", &save, "--format=json"]);
        let summary = serde_json::from_str::<Json>(&json.out).unwrap()["summary"].clone();
        assert_eq!((json.code, &summary["files_unread"]), (Some(8), &1.into()), "{sample}");
    }
    // Where the other save of a difference cannot be read.
    let (whole, other) = (place.save("current", "whole"), place.dir.path().join("current"));
    let other = other.to_str().unwrap();
    let map = place.out("difference.png");
    place.names("r.0.0.0.vxr", 8, &["export", &whole, "--look", "difference", "--against", other, "--map", &map]);
}

#[test]
fn a_closed_directory_of_a_lod_is_named() {
    let mut place = Place::new();
    let save = place.save("current", "save");
    place.refuse(&save, "regions/lod0", 0o444);
    let part = "regions/lod0/r.0.0.0.vxr";
    place.names(part, 8, &["export", &save, "--table", "--out", &place.out("t.csv")]);
    place.names(part, 8, &["export", &save, "--lost", "--out", &place.out("lost")]);
    place.names(part, 8, &["export", &save, "--lod=1", "--slice", "y=1", "--out", &place.out("slice.png")]);
    place.names(part, 8, &["export", &save, "--map", &place.out("map.png")]);
}

#[test]
fn pak_regions_and_arrays_of_maps_are_named() {
    let mut place = Place::new();
    let pak = place.save("pak-room", "pak");
    place.refuse(&pak, "x0_y0_z0.region", 0);
    let part = "x0_y0_z0.region";
    for arguments in [
        &["info", &pak][..],
        &["ls", &pak],
        &["export", &pak, "--map", &place.out("pak.png")],
        &["export", &pak, "--slice", "y=1", "--out", &place.out("pak-slice.png")],
        &["export", &pak, "--out", &place.out("chunks")],
        &["export", &pak, "--table", "--out", &place.out("pak.csv")],
        &["repair", &pak, "--plan"],
    ] {
        let run = place.names(part, 8, arguments);
        assert_eq!(run.err.matches(part).count(), 1, "{arguments:?}: {}", run.err);
    }
    let map = place.save("map-sparse", "map");
    let part = "Lake_Global_index.npy";
    place.refuse(&map, part, 0);
    for arguments in [
        &["info", &map][..],
        &["ls", &map],
        &["export", &map, "--layer", "0", "--out", &place.out("layer")],
        &["export", &map, "--layer", "0", "--map", &place.out("layer.png")],
        &["export", &map, "--layer", "1", "--map", &place.out("other.png")],
        &["export", &map, "--layer", "0", "--slice", "y=1", "--out", &place.out("layer-slice.png")],
        &["export", &map, "--table", "--out", &place.out("map.csv")],
        &["repair", &map, "--plan"],
        &["repair", &map, "--out", &place.out("map-copy")],
    ] {
        place.names(part, 8, arguments);
    }
}
