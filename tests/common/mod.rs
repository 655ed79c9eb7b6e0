//! What several test programs need.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, dead_code)]

pub mod arrays;
pub mod big_endian;
pub mod damage;
#[cfg(target_os = "linux")]
pub mod deep;
pub mod edit;
pub mod evil;
pub mod killed;
pub mod npy;
pub mod random;
pub mod reliability;
pub mod repeating;
pub mod samples;
pub mod terrain;
pub mod trees;
pub mod truth;
pub mod writer;

use std::path::{Path, PathBuf};

use voxscope::bytes::Span;
use voxscope::damage::{Code, Damage};
use voxscope::godot::channel::{CHANNELS, Depth};
use voxscope::godot::region::{Format, MAGIC};

/// A directory of saves that the engine wrote: in the full set if `VOXSCOPE_GOLDEN` names it, else in `tests/golden`,
/// which holds a part of each.
pub fn golden(name: &str) -> PathBuf {
    let path = full_set().unwrap_or_else(committed).join(name);
    assert!(path.is_dir(), "{} is missing", path.display());
    path
}

/// The saves of the engine that are part of the repository.
pub fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// The full set of the saves of the engine.
pub fn full_set() -> Option<PathBuf> {
    std::env::var_os("VOXSCOPE_GOLDEN").map(PathBuf::from)
}

/// All cases if `VOXSCOPE_GOLDEN` names the full set, or `SEEDS` asks for a number of them; else the first of each `n`, so that
/// `cargo test` is short.
pub fn sampled<T>(cases: impl IntoIterator<Item = T>, n: usize) -> Vec<T> {
    let takes_all = full_set().is_some() || std::env::var_os("SEEDS").is_some();
    let step = if takes_all { 1 } else { n };
    cases.into_iter().step_by(step).collect()
}

/// The directories in a directory, in order.
pub fn directories(dir: &Path) -> Vec<PathBuf> {
    let mut all: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.retain(|path| path.is_dir());
    all.sort();
    all
}

/// The lines of a file of JSON lines.
pub fn json_lines(path: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

/// Codes and spans, without the rest.
pub fn codes(damage: &[Damage]) -> Vec<(Code, Span)> {
    damage.iter().map(|d| (d.code, d.span)).collect()
}

/// Copies the files of a directory and of those in it; the copy may have others already.
pub fn copy_dir(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    let (from, to) = (from.as_ref(), to.as_ref());
    for file in files_below(from) {
        let copy = to.join(file.strip_prefix(from).unwrap());
        std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
        std::fs::copy(&file, copy).unwrap();
    }
}

/// The files below a directory, in order.
pub fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            files.extend(files_below(&entry));
        } else {
            files.push(entry);
        }
    }
    files.sort();
    files
}

/// Blocks of 2 x 2 x 2 voxels, regions of 2 x 2 x 2 blocks, sectors of 64 bytes, all depths 8 bit.
pub const SMALL: Format =
    Format { block_size_po2: 1, region_size: [2; 3], depths: [Depth::Bits8; CHANNELS], sector_size: 64 };

/// The header of a region file of version 3 in the layout [`SMALL`], byte by byte.
pub fn small_header() -> Vec<u8> {
    [&MAGIC[..], &[3, 1, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0]].concat()
}

/// A region file: its header, a table of eight entries of (first sector, count), and its sectors.
pub fn small_region(header: &[u8], entries: [(u32, u8); 8], sectors: &[u8]) -> Vec<u8> {
    let table = entries.into_iter().flat_map(|(first, count)| (first << 8 | u32::from(count)).to_le_bytes());
    [header, &table.collect::<Vec<_>>(), sectors].concat()
}

/// One stored block in one sector of 64 bytes: its size, mode 0, and a block of 2 x 2 x 2 voxels whose channels are
/// uniform, TYPE being `value`. Version 1 has no header.
pub fn small_sector(version: u8, value: u8) -> Vec<u8> {
    let mut plain = vec![0];
    if version >= 2 {
        plain.extend([version, 2, 0, 2, 0, 2, 0]);
    }
    plain.extend([1, value]);
    plain.extend([1, 0].repeat(7));
    plain.extend([0x0d, 0xf0, 0x0d, 0x90]);
    let mut sector = u32::try_from(plain.len()).unwrap().to_le_bytes().to_vec();
    sector.extend(plain);
    sector.resize(64, 0);
    sector
}
