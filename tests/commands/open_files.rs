//! Commands on saves with more region files than a process may have open.
#![cfg(unix)]

use std::fs;
use std::process::{Command, Output};

use tempfile::tempdir;

use crate::Demo;

/// Files that a process may have open.
const MOST: u32 = 64;

fn limited(arguments: &[&str], most: u32) -> Output {
    let script = format!("ulimit -n {most}; exec \"$0\" \"$@\"");
    Command::new("sh").args(["-c", &script, env!("CARGO_BIN_EXE_voxscope")]).args(arguments).output().unwrap()
}

#[test]
fn many_damaged_regions_need_few_open_files() {
    let demo = Demo::new();
    let sample = demo.path("damaged/crash-grown");
    let dir = tempdir().unwrap();
    let lod = dir.path().join("world/regions/lod0");
    fs::create_dir_all(&lod).unwrap();
    fs::copy(format!("{sample}/meta.vxrm"), dir.path().join("world/meta.vxrm")).unwrap();
    for n in 0..70 {
        let to = lod.join(format!("r.{}.{}.0.vxr", n % 13, n / 13));
        fs::copy(format!("{sample}/regions/lod0/r.0.0.0.vxr"), to).unwrap();
    }
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (save, copy) = (path("world"), path("copy"));
    let expect = |arguments: &[&str], code: i32| {
        let run = limited(arguments, MOST);
        let err = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(code), "{arguments:?}: {err}");
        assert!(!err.contains("Too many open files"), "{arguments:?}: {err}");
        String::from_utf8(run.stdout).unwrap()
    };
    expect(&["repair", &save, "--out", &copy], 1);
    expect(&["convert", &save, "--out", &path("forest")], 4);
    #[cfg(feature = "sqlite")]
    expect(&["convert", &copy, "--out", &path("stream.sqlite")], 0);
    let changes = expect(&["diff", &copy, &copy, "--format", "jsonl"], 0);
    assert!(changes.contains("\"unreadable\":0"), "{changes}");
}

/// Where so few files may be open that a command fails, nothing is left of what it began.
#[test]
fn a_command_that_fails_for_want_of_open_files_leaves_nothing() {
    let demo = Demo::new();
    let save = demo.path("damaged/crash-grown");
    let dir = tempdir().unwrap();
    let mut failed = 0;
    for most in 6..16 {
        for command in ["convert", "repair", "export"] {
            let to = dir.path().join(format!("{command}-{most}"));
            let run = limited(&[command, &save, "--out", to.to_str().unwrap()], most);
            let code = run.status.code().unwrap();
            failed += usize::from(code & 8 != 0);
            let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            assert!(left.iter().all(|name| to.file_name() == Some(name)), "{command} {most}: {left:?}");
            if to.exists() {
                fs::remove_dir_all(&to).unwrap();
            }
        }
    }
    assert!(failed > 3, "{failed} failed");
}
