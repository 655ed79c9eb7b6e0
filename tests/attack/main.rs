//! Every command over damaged copies of all sample saves and of the saves of the engine: bytes changed, files exchanged for
//! links, pipes, sockets and directories, unreadable places, control characters in names and texts, useless journals.
//!
//! `cargo test` runs a fixed number of such mutants with limits of memory only. `just attack MINUTES` goes on for as long as
//! it is given and also limits processor time. The same seed makes the same mutant: `ATTACK_SEED=N` begins with it.
//!
//! A run fails if the program panics or is ended by the system, needs more memory than it promises, prints what a terminal
//! acts on, ends with 8 without a word, changes the save, or leaves a draft; further if a command does not say that it did
//! not read what `check` did not read; and if a repaired copy cannot be read, or is not repaired into itself.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "../common/limited.rs"]
mod limited;
mod mutate;
#[allow(dead_code)]
#[path = "../common/random.rs"]
mod random;
mod runs;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use tempfile::tempdir;

use random::Random;

/// Mutants of a `cargo test`.
const MUTANTS: u64 = 64;

/// Mutants that are made before the clock is looked at.
const BATCH: u64 = 16;

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is not a number: {text}")))
}

/// The saves that are damaged: a directory each.
fn bases(dir: &Path) -> Vec<PathBuf> {
    let demo = dir.join("demo");
    voxscope::demo::write_all(&demo).unwrap();
    let mut all: Vec<PathBuf> = voxscope::demo::samples().map(|sample| demo.join(sample.path())).collect();
    let mut golden = Vec::new();
    forests(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden"), &mut golden);
    assert!(golden.len() > 20, "{golden:?}");
    all.extend(golden);
    all
}

/// Forests and streams below a directory, a stream as the directory that has it.
fn forests(dir: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let is_save = |path: &PathBuf| path.ends_with("meta.vxrm") || path.extension().is_some_and(|e| e == "sqlite");
    if entries.iter().any(is_save) {
        found.push(dir.to_owned());
        return;
    }
    entries.iter().filter(|path| path.is_dir()).for_each(|path| forests(path, found));
}

/// The program, where every user can run it: as the superuser, nothing is unreadable.
fn program(dir: &Path) -> PathBuf {
    let to = dir.join("voxscope");
    fs::copy(env!("CARGO_BIN_EXE_voxscope"), &to).unwrap();
    fs::set_permissions(&to, PermissionsExt::from_mode(0o755)).unwrap();
    fs::set_permissions(dir, PermissionsExt::from_mode(0o755)).unwrap();
    to
}

#[test]
fn every_command_survives_every_mutant() {
    let minutes = number("ATTACK_MINUTES");
    let first = number("ATTACK_SEED").unwrap_or(1);
    let dir = tempdir().unwrap();
    let bases = bases(dir.path());
    let attack = runs::Attack {
        program: program(dir.path()),
        is_superuser: fs::metadata("/proc/self").unwrap().uid() == 0,
        processor: minutes.map(|_| 60),
        runs: AtomicU64::new(0),
    };
    let start = Instant::now();
    let (mut next, mut failures) = (first, Vec::new());
    loop {
        let some: Vec<String> =
            (next..next + BATCH).into_par_iter().flat_map(|seed| one(&attack, &bases, seed)).collect();
        some.iter().for_each(|failure| println!("{failure}\n"));
        failures.extend(some);
        next += BATCH;
        let is_done = match minutes {
            Some(minutes) => start.elapsed() >= Duration::from_secs(60 * minutes),
            None => next - first >= MUTANTS,
        };
        if is_done {
            break;
        }
    }
    let runs = attack.runs.load(Ordering::Relaxed);
    println!("seeds {first} to {}: {} mutants, {runs} runs, {} failures", next - 1, next - first, failures.len());
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// What is wrong with the program on one mutant.
fn one(attack: &runs::Attack, bases: &[PathBuf], seed: u64) -> Vec<String> {
    let random = &mut Random::new(seed);
    let base = &bases[random.below(bases.len())];
    let dir = tempdir().unwrap();
    fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o777)).unwrap();
    let save = dir.path().join("save");
    mutate::copy(base, &save);
    let done = mutate::mutate(&save, random);
    let name: PathBuf = base.components().rev().take(2).collect::<Vec<_>>().into_iter().rev().collect();
    let what = format!("seed {seed}, {}: {}", name.display(), done.join("; "));
    attack.judge(base, &save, dir.path()).into_iter().map(|wrong| format!("{what}\n  {wrong}")).collect()
}
