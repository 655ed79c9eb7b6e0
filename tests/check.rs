//! The checker on sample saves: it finds what was damaged, and nothing in what is healthy.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use std::path::Path;

use voxscope::check::{self, Finding, Summary};
use voxscope::damage::{Code, Level};
use voxscope::demo;
use voxscope::save::{Options, Save};

fn check(path: &Path) -> (Vec<Finding>, Summary) {
    let save = Save::open(path, &Options::default()).unwrap();
    let mut findings = Vec::new();
    let summary = check::run(&save, &check::Options::default(), |finding| findings.push(finding));
    (findings, summary)
}

fn words(findings: &[Finding]) -> String {
    findings.iter().take(20).map(|f| format!("  {} {f}\n", f.code())).collect()
}

#[test]
fn every_sample_gives_the_findings_it_is_made_for() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("demo");
    let samples = demo::write_all(&root).unwrap();
    assert!(samples.len() > 60);
    let mut failures = String::new();
    for sample in samples {
        let (findings, summary) = check(&root.join(sample.path()));
        for code in sample.expect {
            if !findings.iter().any(|finding| finding.code() == *code) {
                failures.push_str(&format!("{}: no {code} in\n{}", sample.name, words(&findings)));
            }
        }
        let above: Vec<Finding> = findings.iter().filter(|f| f.level() > Level::Note).cloned().collect();
        if sample.healthy && !above.is_empty() {
            failures.push_str(&format!("{} is healthy:\n{}", sample.name, words(&above)));
        }
        let counted = summary.counts.errors + summary.counts.warnings + summary.counts.notes;
        assert!(counted >= findings.len() as u64, "{}", sample.name);
    }
    assert!(failures.is_empty(), "\n{failures}");
}

#[test]
fn findings_are_the_same_whatever_the_number_of_threads() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("demo");
    demo::write_all(&root).unwrap();
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| check(&root))
    };
    let (one, many) = (with(1), with(7));
    assert!(!one.0.is_empty());
    assert_eq!(one.0, many.0);
    assert_eq!(one.1, many.1);
}

#[test]
fn saves_of_the_real_engine_are_healthy() {
    let Some(golden) = common::golden("") else { return };
    let mut notes = Vec::new();
    for (dir, blocks) in [("godot_voxel", 165), ("godot_voxel_old", 189)] {
        let (findings, summary) = check(&golden.join(dir));
        assert_eq!(summary.stats.blocks, blocks, "{dir}");
        let above: Vec<Finding> = findings.iter().filter(|f| f.level() > Level::Note).cloned().collect();
        assert!(above.is_empty(), "{dir}:\n{}", words(&above));
        notes.extend(findings.iter().map(Finding::code));
    }
    notes.sort_unstable();
    notes.dedup();
    // What is normal in them: sectors of blocks that shrank, the slots of before 2024, and what Godot 3 left in padding.
    assert_eq!(notes, [Code::StaleTail, Code::VariantPadding, Code::SlotsOld]);
}

#[test]
fn saves_of_a_killed_engine_are_not() {
    let Some(golden) = common::golden("") else { return };
    for dir in ["crash_random", "crash_terrain", "two_writers"] {
        for case in std::fs::read_dir(golden.join(dir)).unwrap() {
            let path = case.unwrap().path().join("world");
            assert!(check(&path).1.counts.errors > 0, "{}", path.display());
        }
    }
}
