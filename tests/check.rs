//! The checker on sample saves: it finds what was damaged, and nothing in what is healthy.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::path::Path;

use voxscope::check::{self, Finding, Summary};
use voxscope::damage::Level;
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
