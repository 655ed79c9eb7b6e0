//! What it costs to hold the sectors against the tables, and to build a copy.

use std::fs;
use std::path::{Path, PathBuf};

use voxscope::check::{self, Level};
use voxscope::damage::Level as Severity;
use voxscope::demo::ForestSpec;
use voxscope::repair;
use voxscope::save::{Options, Save};

use super::forest::forest;
use super::{in_turns, report};

pub fn measure() {
    let dir = forest("bench", &ForestSpec::bench());
    let save = Save::open(&dir, &Options::default()).unwrap();
    let at = |level| {
        let healthy = |finding: check::Finding| assert!(finding.level() == Severity::Note, "{finding}");
        let summary = check::run(&save, &check::Options::default().level(level), healthy);
        assert_eq!(summary.counts.errors, 0);
    };
    let (decode, semantic) = in_turns(|| at(Level::Decode), || at(Level::Semantic));
    let ratio = semantic.as_secs_f64() / decode.as_secs_f64();
    report("check, semantic against decode", &format!("{ratio:.2}"), "at most 1.50", ratio <= 1.5);

    let beside = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (plain, repaired) = (beside.join("repair-copy"), beside.join("repair-result"));
    let fresh = |path: &PathBuf| {
        if path.exists() {
            fs::remove_dir_all(path).unwrap();
        }
    };
    let (copy, repair) = in_turns(
        || {
            fresh(&plain);
            copy_tree(&dir, &plain);
        },
        || {
            fresh(&repaired);
            let outcome = repair::run(&save, &repaired, &repair::Options::default()).unwrap();
            assert!(outcome.plan.changes_nothing());
        },
    );
    let ratio = repair.as_secs_f64() / copy.as_secs_f64();
    let figure = format!("{ratio:.2} ({:.0} / {:.0} ms)", repair.as_secs_f64() * 1e3, copy.as_secs_f64() * 1e3);
    report("repair against a plain copy, synced", &figure, "under 3.00", ratio < 3.0);
    fresh(&plain);
    fresh(&repaired);
}

/// Copies a directory, file after file, and waits until it is on the disk.
fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).unwrap();
            fs::File::open(&target).unwrap().sync_all().unwrap();
        }
    }
}
