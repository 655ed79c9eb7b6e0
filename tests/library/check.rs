//! The checker on sample saves: it finds what was damaged, and nothing in what is healthy.

use std::path::Path;

use crate::common::{self, samples};
use voxscope::check::{self, Finding, Summary};
use voxscope::damage::{Code, Level, Value};
use voxscope::demo;
use voxscope::save::{Options, Save};

fn check(path: &Path) -> (Vec<Finding>, Summary) {
    check_at(path, check::Level::default())
}

fn check_at(path: &Path, level: check::Level) -> (Vec<Finding>, Summary) {
    let save = Save::open(path, &Options::default()).unwrap();
    let mut findings = Vec::new();
    let options = check::Options::default().level(level);
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
    let samples = samples::write(&root);
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
    samples::write(&root);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| check_at(&root, check::Level::Semantic))
    };
    let (one, many) = (with(1), with(7));
    assert!(!one.0.is_empty());
    assert_eq!(one.0, many.0);
    assert_eq!(one.1, many.1);
}

/// Without the start of the table, several positions own blocks of the same content.
#[test]
fn findings_are_the_same_in_every_run() {
    let dir = tempfile::tempdir().unwrap();
    let world = common::golden("crash_random/r3/world");
    let region = Path::new("regions/lod0/r.0.0.0.vxr");
    std::fs::create_dir_all(dir.path().join("regions/lod0")).unwrap();
    std::fs::copy(world.join("meta.vxrm"), dir.path().join("meta.vxrm")).unwrap();
    let mut bytes = std::fs::read(world.join(region)).unwrap();
    bytes[60..4156].fill(0);
    std::fs::write(dir.path().join(region), bytes).unwrap();
    let findings = || check_at(dir.path(), check::Level::Semantic).0;
    let first = findings();
    assert!(first.iter().any(|finding| finding.code() == Code::BlockDoubled));
    for _ in 0..4 {
        assert_eq!(findings(), first);
    }
}

#[test]
fn saves_of_the_real_engine_are_healthy() {
    let mut notes = Vec::new();
    for name in ["godot_voxel", "godot_voxel_old"] {
        let dir = common::golden(name);
        let truths = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path());
        let truths = truths.filter(|path| path.extension().is_some_and(|e| e == "jsonl"));
        let blocks: usize = truths.map(|path| common::json_lines(&path).len()).sum();
        let dir = dir.display();
        let (findings, summary) = check(&common::golden(name));
        assert_eq!(summary.stats.blocks, blocks as u64, "{dir}");
        let above: Vec<Finding> = findings.iter().filter(|f| f.level() > Level::Note).cloned().collect();
        assert!(above.is_empty(), "{dir}:\n{}", words(&above));
        let (mut deep, _) = check_at(&common::golden(name), check::Level::Semantic);
        // Where blocks of today go on into each other, that is told; no save of today is taken for an old one.
        deep.retain(|finding| {
            finding.code() != Code::SlotsTold || finding.damage.found != Value::Words("the new formula")
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
    for group in ["crash_random", "crash_sizes", "crash_terrain", "power_loss", "two_writers"] {
        for case in common::directories(&common::golden(group)) {
            let path = case.join("world");
            assert!(check(&path).1.counts.errors > 0, "{}", path.display());
        }
    }
}

/// A file that changes while it is checked is reported.
#[test]
fn a_file_that_changes_while_it_is_checked_is_reported() {
    use std::sync::atomic::{AtomicBool, Ordering};
    use voxscope::watch::{Progress, Watch};
    for name in ["current", "pak-room", "stream"] {
        let dir = tempfile::tempdir().unwrap();
        let sample = demo::samples().find(|sample| sample.name == name).unwrap();
        let world = dir.path().join("world");
        (sample.make)(&world).unwrap();
        let save = Save::open(&world, &Options::default()).unwrap();
        let is_done = AtomicBool::new(false);
        let progress = |progress: Progress| {
            if matches!(progress, Progress::Advanced(_)) && !is_done.swap(true, Ordering::Relaxed) {
                for path in common::files_below(&world) {
                    use std::io::Write;
                    std::fs::File::options().append(true).open(path).unwrap().write_all(&[0; 3]).unwrap();
                }
            }
        };
        let mut codes = Vec::new();
        let options = check::Options::default().level(check::Level::Decode).watch(Watch::default().progress(&progress));
        check::run(&save, &options, |finding| codes.push(finding.code()));
        assert!(codes.contains(&Code::FileChanged), "{name}: {codes:?}");
    }
}
