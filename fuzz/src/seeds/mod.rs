//! The inputs to begin with, one file a target: small, named for what they are, the same at every run.
//!
//! `cargo run --manifest-path fuzz/Cargo.toml --example seeds` writes them to `corpus/`; a test holds what is there
//! against them.

mod block;
mod block_files;
mod built;
mod container;
mod explorer;
mod forest;
mod instances;
mod map_json;
mod npy_map;
mod pak;
mod region;
mod stream;
mod variant;

use std::collections::BTreeMap;

use crate::oracles::{self, Reach, Target};

/// The most bytes of one seed: libFuzzer takes the longest for the length of what it makes.
pub const MOST_BYTES: usize = 8 << 10;

/// The seeds of one target, by name.
pub type Seeds = BTreeMap<String, Vec<u8>>;

/// The seeds of every target, by its name.
///
/// Those of a format are made in one place and go to the targets of the version that they are of; those of a target that
/// builds its files are found by trying.
#[must_use]
pub fn all() -> BTreeMap<&'static str, Seeds> {
    let formats = [
        ("block_files", block_files::seeds()),
        ("block", block::seeds()),
        ("container", container::seeds()),
        ("explorer", explorer::seeds()),
        ("forest", forest::seeds()),
        ("instances", instances::seeds()),
        ("map_json", map_json::seeds()),
        ("npy_map", npy_map::seeds()),
        ("pak", pak::seeds()),
        ("region", region::seeds()),
        ("stream_log", stream::log_seeds()),
        ("stream", stream::seeds()),
        ("variant_godot3", variant::seeds("g3")),
        ("variant_godot4", variant::seeds("g4")),
    ];
    let of = |target: &Target| {
        if !(target.kinds)().is_empty() {
            return built::seeds(target);
        }
        // The first of two that fit is the longer one.
        let format = formats.iter().find(|(format, _)| target.name.starts_with(format));
        let all = format.into_iter().flat_map(|(_, seeds)| seeds);
        all.filter(|(_, data)| (target.check)(data) != Reach::Foreign).map(|(n, d)| (n.clone(), d.clone())).collect()
    };
    oracles::ALL.iter().map(|target| (target.name, of(target))).collect()
}

/// Seeds as they are made.
#[derive(Default)]
struct Set(Seeds);

impl Set {
    fn add(&mut self, name: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        let (name, bytes) = (name.into(), bytes.into());
        assert!(bytes.len() <= MOST_BYTES, "{name} has {} bytes", bytes.len());
        assert!(name.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_')), "{name} is no name for a file");
        let new = self.0.insert(name.clone(), bytes).is_none();
        assert!(new, "there are two seeds {name}");
    }
}

/// `bytes` with those from `at` on replaced.
fn patched(bytes: &[u8], at: usize, with: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    out[at..at + with.len()].copy_from_slice(with);
    out
}

/// `bytes` without the last `n`.
fn cut(bytes: &[u8], n: usize) -> Vec<u8> {
    bytes[..bytes.len() - n].to_vec()
}

/// Both, one after the other.
fn joined(a: &[u8], b: &[u8]) -> Vec<u8> {
    [a, b].concat()
}

/// Bytes that do not compress. Our own generator, since the seeds in `corpus` must not change with a dependency.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_u32;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_le_bytes()[1]
    };
    (0..len).map(next).collect()
}
