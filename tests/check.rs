//! The checker on sample saves: it finds what was damaged, and nothing in what is healthy.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use sha2::{Digest, Sha256};
use voxscope::check::{self, Finding, Summary};
use voxscope::damage::{Code, Level, Value};
use voxscope::demo;
use voxscope::godot::block::Block;
use voxscope::godot::channel::{Channel, Storage};
use voxscope::save::{Options, Save, Scratch};

fn check(path: &Path) -> (Vec<Finding>, Summary) {
    check_at(path, check::Level::default())
}

fn check_at(path: &Path, level: check::Level) -> (Vec<Finding>, Summary) {
    let save = Save::open(path, &Options::default()).unwrap();
    let mut findings = Vec::new();
    let options = check::Options { level, ..check::Options::default() };
    let summary = check::run(&save, &options, |finding| findings.push(finding));
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
        let (findings, summary) = check_at(&root.join(sample.path()), check::Level::Semantic);
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
        pool.install(|| check_at(&root, check::Level::Semantic))
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
        let (mut deep, _) = check_at(&golden.join(dir), check::Level::Semantic);
        // Where blocks of today go on into each other, that is told; no save of today is taken for an old one.
        deep.retain(|finding| {
            finding.code() != Code::SlotsTold || finding.damage.found != Value::Words("the formula of today")
        });
        assert_eq!(deep, findings, "{dir}: more at the deepest level\n{}", words(&deep));
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

/// The states of each position, from what the engine said it had written.
fn states(case: &Path) -> HashMap<[i32; 3], Vec<Vec<String>>> {
    let mut states: HashMap<_, Vec<_>> = HashMap::new();
    for name in ["before.jsonl", "written_after.jsonl"] {
        for line in common::json_lines(&case.join(name)) {
            let position: [i32; 3] = serde_json::from_value(line["position"].clone()).unwrap();
            let channel = |c: &serde_json::Value| match c["uniform"].as_bool().unwrap() {
                true => format!("u{}", c["value"].as_str().unwrap()),
                false => c["sha256"].as_str().unwrap().to_owned(),
            };
            states
                .entry(position)
                .or_default()
                .push(line["channels"].as_array().unwrap().iter().map(channel).collect());
        }
    }
    states
}

fn signature(block: &Block<'_>) -> Vec<String> {
    let channel = |c: &Channel<'_>| match c.storage {
        Storage::Uniform => c.value(0).map_or_else(String::new, |value| format!("u{value}")),
        Storage::Raw => Sha256::digest(c.data).iter().map(|b| format!("{b:02x}")).collect(),
    };
    block.channels.iter().map(channel).collect()
}

#[test]
fn every_block_that_a_killed_engine_left_in_a_wrong_place_is_reported() {
    let (mut wrong, mut right, mut doubted) = (0, 0, 0);
    let mut missed = String::new();
    for group in ["crash_terrain", "crash_random", "crash_noise"] {
        let Some(root) = common::golden(group) else { return };
        for case in std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()) {
            let states = states(&case);
            let (findings, _) = check_at(&case.join("world"), check::Level::Semantic);
            let reported: HashSet<[i32; 3]> = findings
                .iter()
                .filter(|finding| finding.level() > Level::Note)
                .filter_map(|finding| finding.block?.position)
                .collect();
            let save = Save::open(&case.join("world"), &Options::default()).unwrap();
            let mut scratch = Scratch::default();
            for (forest, file) in save.regions() {
                let mut region = save.region(forest, file).unwrap().unwrap();
                let slots = region.slots(&mut scratch).unwrap();
                for listed in region.entries.clone() {
                    let position = region.block_position(listed.slot, slots).unwrap();
                    let view = region.view(listed.entry, &mut scratch).unwrap();
                    let is = view.block.as_ref().map(signature);
                    let known = states.get(&position).is_some_and(|s| is.is_some_and(|is| s.contains(&is)));
                    if known {
                        right += 1;
                        doubted += usize::from(reported.contains(&position));
                        continue;
                    }
                    wrong += 1;
                    if !reported.contains(&position) {
                        missed.push_str(&format!("{}: {position:?}\n", case.display()));
                    }
                }
            }
        }
    }
    println!("{wrong} wrong, {right} right, of which {doubted} were reported too");
    assert!(missed.is_empty(), "\n{missed}");
    assert!(wrong > 100, "{wrong}");
}
