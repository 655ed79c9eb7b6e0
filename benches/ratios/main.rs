//! What the project promises about speed and memory, measured as ratios in one run: the machine is noisy, so what is
//! compared is measured in turns, and the best of each is taken.
//!
//! `cargo bench --bench ratios` (or `just bench`); `cargo bench --bench ratios -- map` for voxel maps alone, and likewise
//! `forest`, `repair`, `convert`, `export`, `pak`, `stream`, `picture`, `explorer`, `difference` (two saves in the
//! explorer) and `hostile` (the memory of every command on saves that are made to hurt).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod convert;
#[cfg(feature = "tui")]
mod explorer;
mod export;
mod forest;
mod hostile;
mod map;
mod pak;
mod picture;
mod repair;
#[cfg(feature = "sqlite")]
mod stream;

use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use voxscope::check;
use voxscope::save::Save;

/// Turns in which each of two things is measured.
const TURNS: usize = 15;

fn main() {
    // `cargo test --benches` runs this too, and only wants to know that it builds.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let threads = rayon::current_num_threads();
    println!("{threads} threads, best of {TURNS} turns each\n");
    let parts: [(&str, fn()); 11] = [
        ("forest", forest::measure),
        ("repair", repair::measure),
        ("convert", convert::measure),
        ("export", export::measure),
        ("pak", pak::measure),
        ("stream", stream),
        ("map", map::measure),
        ("picture", picture::measure),
        ("explorer", explorer),
        ("difference", difference),
        ("hostile", hostile::measure),
    ];
    let named: Vec<String> =
        std::env::args().filter(|argument| parts.iter().any(|(name, _)| name == argument)).collect();
    for (name, measure) in parts {
        if named.is_empty() || named.iter().any(|argument| argument == name) {
            measure();
        }
    }
}

#[cfg(feature = "tui")]
fn explorer() {
    explorer::measure();
}

#[cfg(feature = "tui")]
fn difference() {
    explorer::difference();
}

#[cfg(not(feature = "tui"))]
fn difference() {}

#[cfg(not(feature = "tui"))]
fn explorer() {
    println!("the explorer is not in this build");
}

#[cfg(feature = "sqlite")]
fn stream() {
    stream::measure();
}

#[cfg(not(feature = "sqlite"))]
fn stream() {
    println!("streams cannot be written by this build");
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// Measures both in turns; gives the best of each.
fn in_turns(mut a: impl FnMut(), mut b: impl FnMut()) -> (Duration, Duration) {
    a();
    b();
    let mut best = (Duration::MAX, Duration::MAX);
    for _ in 0..TURNS {
        best.0 = best.0.min(time(&mut a));
        best.1 = best.1.min(time(&mut b));
    }
    best
}

/// Checks each block by itself: at the level `decode`, as fast as its format allows.
fn run_check(save: &Save) -> check::Summary {
    let options = check::Options::default().level(check::Level::Decode);
    let summary = check::run(save, &options, |finding| panic!("{finding}"));
    assert_eq!(summary.counts.errors, 0);
    summary
}

fn report(what: &str, value: &str, promise: &str, kept: bool) {
    println!("{what:<58} {value:>22}   {promise:<18} {}", if kept { "kept" } else { "NOT KEPT" });
}

/// The most memory that the program itself has while it checks, which should be under `most` MiB.
fn memory_under(dir: &Path, what: &str, most: f64) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_voxscope"));
    memory_of(command.args(["check", "--format", "jsonl"]).arg(dir), what, most);
}

/// The most memory that a command has, which should be under `most` MiB; it ends without an error.
fn memory_of(command: &mut Command, what: &str, most: f64) {
    let ended = memory_of_any(command, what, most);
    assert!(ended.success(), "{command:?}");
}

/// The most memory that a command has, however it ends, which should be under `most` MiB.
fn memory_of_any(command: &mut Command, what: &str, most: f64) -> ExitStatus {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0.0f64;
    let ended = loop {
        if let Some(ended) = child.try_wait().unwrap() {
            break ended;
        }
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib: Option<f64> = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        peak = peak.max(kib.unwrap_or(0.0) / 1024.0);
        std::thread::sleep(Duration::from_micros(500));
    };
    if peak == 0.0 {
        println!("{what:<58} {:>22}", "not measured here");
        return ended;
    }
    let promise = format!("under {most:.0} MiB");
    report(&format!("memory of {what}"), &format!("{peak:.1} MiB"), &promise, peak < most);
    ended
}
