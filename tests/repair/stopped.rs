//! A repair that is killed, or that cannot write: the source is as it was, and nothing half-made has the final name.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use voxscope::demo::{self, ForestSpec};
use voxscope::draft;
use voxscope::repair;
use voxscope::save::{Options, Save};
use voxscope::watch::{Progress, Step, Watch};

use crate::{findings, tree};

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_voxscope"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A forest with damage in every region.
fn damaged(dir: &Path) -> PathBuf {
    let source = dir.join("world");
    let lods = vec![demo::Extent { from: [-8, -2, -8], to: [8, 2, 8] }];
    demo::write_forest(&source, &ForestSpec { lods, ..ForestSpec::default() }, None).unwrap();
    for path in crate::common::files_below(&source.join("regions")) {
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle..middle + 1000].fill(0);
        fs::write(&path, bytes).unwrap();
    }
    source
}

fn left_behind(dir: &Path) -> Vec<PathBuf> {
    let hidden = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(".copy.voxscope-");
    fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).filter(hidden).collect()
}

fn files_in(dir: &Path) -> usize {
    let Ok(list) = fs::read_dir(dir) else { return 0 };
    list.filter_map(Result::ok)
        .map(|e| if e.file_type().is_ok_and(|kind| kind.is_dir()) { files_in(&e.path()) } else { 1 })
        .sum()
}

/// Waits until a repair has made so many files, or is done.
fn wait(child: &mut Child, dir: &Path, files: usize) -> bool {
    loop {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        if left_behind(dir).iter().map(|path| files_in(path)).sum::<usize>() >= files {
            return true;
        }
        std::thread::yield_now();
    }
}

#[test]
fn killed_at_any_moment() {
    let dir = tempfile::tempdir().unwrap();
    let source = damaged(dir.path());
    let before = tree(&source, true);
    let to = dir.path().join("copy");
    let mut killed = 0;
    for files in [60, 40, 20, 10, 0, 1, 2, 5] {
        let mut child = program().args(["repair"]).arg(&source).arg("--out").arg(&to).spawn().unwrap();
        killed += usize::from(wait(&mut child, dir.path(), files));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(tree(&source, true) == before, "the source was altered");
        if to.exists() {
            assert!(to.join("repair.json").is_file() && findings(&to) == (0, 0), "a half-made copy");
            fs::remove_dir_all(&to).unwrap();
        }
    }
    assert!(killed > 3, "{killed}");
    let left = left_behind(dir.path());
    assert!(!left.is_empty(), "no directory of a killed repair");
    // What a killed one left is named, and removed by the next one: each run removes what the one before it left.
    assert_eq!(left.len(), 1, "{left:?}");
    for arguments in [&["check"][..], &["ls"], &["info"]] {
        let run = program().args(arguments).arg(&source).output().unwrap();
        let said = String::from_utf8(run.stderr).unwrap();
        assert!(said.contains(&*left[0].file_name().unwrap().to_string_lossy()), "{arguments:?}: {said}");
    }
    let elsewhere = dir.path().join("copy2");
    let run = |to: &Path| program().arg("repair").arg(&source).arg("--out").arg(to).output().unwrap();
    run(&elsewhere);
    assert_eq!(left_behind(dir.path()), left, "the directory of another destination was touched");
    let said = String::from_utf8(run(&to).stderr).unwrap();
    assert!(said.contains("killed") && said.contains(&*left[0].file_name().unwrap().to_string_lossy()), "{said}");
    assert!(to.join("repair.json").is_file() && findings(&to) == (0, 0));
    assert!(left_behind(dir.path()).is_empty());
    assert!(tree(&source, true) == before);
}

/// Runs a repair that can write files of so many blocks of 512 bytes only.
fn limited(source: &Path, to: &Path, blocks: u32) -> Output {
    // Without the trap the system ends the program instead of refusing to write.
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" repair \"$1\" --out \"$2\"");
    Command::new("sh").arg("-c").arg(script).arg(env!("CARGO_BIN_EXE_voxscope")).arg(source).arg(to).output().unwrap()
}

#[test]
fn a_disk_that_takes_no_more() {
    let dir = tempfile::tempdir().unwrap();
    let source = damaged(dir.path());
    let before = tree(&source, true);
    let to = dir.path().join("copy");
    for blocks in [0, 1, 8, 40] {
        let run = limited(&source, &to, blocks);
        let said = String::from_utf8(run.stderr).unwrap();
        assert_eq!(run.status.code(), Some(8), "{blocks}: {said}");
        assert!(said.contains("cannot be written") && said.trim_end().ends_with("nothing is left of it"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(!to.exists(), "a half-made copy");
        assert!(left_behind(dir.path()).is_empty(), "{blocks}: something was left behind");
        assert!(tree(&source, true) == before, "the source was altered");
    }
}

/// A game that goes on while its save is repaired: the copy would be of two times.
#[test]
fn a_file_that_changes_between_the_plan_and_the_copy() {
    let samples = ["crash-grown", "pak-zlib-checksum", "map-block-count", "stream-page", "block-files-meta"];
    for name in samples {
        let sample = demo::samples().find(|sample| sample.name == name).unwrap_or_else(|| panic!("{name}"));
        let files = {
            let dir = tempfile::tempdir().unwrap();
            (sample.make)(&dir.path().join("world")).unwrap();
            crate::common::files_below(&dir.path().join("world")).len()
        };
        for nth in 0..files.min(6) {
            let dir = tempfile::tempdir().unwrap();
            let (world, to) = (dir.path().join("world"), dir.path().join("copy"));
            (sample.make)(&world).unwrap();
            let path = &crate::common::files_below(&world)[nth];
            // Others are not read.
            let is_read = !["meta.vxrm", "meta.vxbm"].iter().any(|name| path.ends_with(name));
            let save = Save::open(&world, &Options::default()).unwrap();
            let progress = |progress: Progress| {
                if matches!(progress, Progress::Began { step: Step::Building, .. }) {
                    let mut bytes = fs::read(path).unwrap();
                    let middle = bytes.len() / 2;
                    bytes[middle..].rotate_left(3);
                    bytes.extend([1, 2, 3]);
                    fs::write(path, bytes).unwrap();
                }
            };
            let options = repair::Options::default().watch(Watch::default().progress(&progress));
            let done = repair::run(&save, &to, &options);
            if is_read {
                let is_told =
                    matches!(&done, Err(repair::Error::Build(draft::Error::Changed(changed))) if changed == path);
                assert!(is_told, "{name} {}: {:?}", path.display(), done.map(|_| ()));
            }
            assert_eq!(to.exists(), !is_read, "{name}");
            assert!(left_behind(dir.path()).is_empty(), "{name}");
        }
    }
}
