//! Very many region files: what the program keeps of each file is little.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use voxscope::godot::container::{self, Mode};
use voxscope::godot::forest::Meta;

use super::{block, filled, format, run_capped, temp};

/// Region files of the larger save.
const FILES: u32 = 20_000;

/// What the program may keep of a file, in bytes.
const PER_FILE: u64 = 1 << 10;

/// A forest of so many region files of one block each.
fn forest(files: u32) -> (TempDir, PathBuf) {
    let (dir, path) = temp();
    let mut packed = Vec::new();
    container::encode(Mode::Lz4, &block(), &mut packed);
    let region = filled(format(2), 1, &packed);
    let meta = Meta {
        version: Some(3),
        block_size_po2: Some(4),
        region_size_po2: Some(1),
        sector_size: Some(512),
        depths: Some(format(2).depths),
        ..Meta::default()
    };
    fs::write(path.join("meta.vxrm"), meta.encode()).unwrap();
    let lod = path.join("regions/lod0");
    fs::create_dir_all(&lod).unwrap();
    for n in 0..files {
        fs::write(lod.join(format!("r.{}.{}.{}.vxr", n % 25, n / 25 % 25, n / 625)), &region).unwrap();
    }
    (dir, path)
}

/// Destroys the only entry of the table of one file.
fn damage(save: &Path) {
    let path = save.join("regions/lod0/r.1.0.0.vxr");
    let mut region = fs::read(&path).unwrap();
    region[20..24].fill(0xff);
    fs::write(path, region).unwrap();
}

/// The most memory of a command, in bytes; it exits with `code`.
fn peak(save: &Path, command: &[&str], code: i32) -> u64 {
    let arguments: Vec<&OsStr> = command.iter().map(OsStr::new).chain([save.as_os_str()]).collect();
    let run = run_capped(&arguments);
    assert_eq!(run.status.code(), Some(code), "{command:?}: {}", run.err);
    run.peak << 10
}

#[test]
fn little_is_kept_of_each_of_very_many_files() {
    let (_few_dir, few) = forest(100);
    let (_many_dir, many) = forest(FILES);
    let grows = |command: &[&str], code| {
        let (few, many) = (peak(&few, command, code), peak(&many, command, code));
        let per_file = many.saturating_sub(few) / u64::from(FILES);
        println!("{per_file} bytes per file: {command:?}");
        assert!(per_file < PER_FILE, "{command:?}: {per_file} bytes per file");
    };
    grows(&["info"], 0);
    grows(&["check", "--format=jsonl"], 0);
    grows(&["repair", "--plan"], 0);
    // What a repair brings back is part of the check of a damaged save.
    damage(&few);
    damage(&many);
    grows(&["check", "--format=jsonl"], 4);
    grows(&["repair", "--plan"], 5);
}
