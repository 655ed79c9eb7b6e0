//! What is committed is what the programs here make of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use voxscope_fuzz::oracles::replay;
use voxscope_fuzz::seeds::{self, Seeds};

/// The most bytes of all seeds together.
const MOST_BYTES: usize = 1 << 20;

/// The most seeds: 6 MB of disk, in pages of 4 KiB.
const MOST_FILES: usize = 1500;

#[test]
fn the_corpus_is_what_the_seeds_example_writes() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    let all = seeds::all();
    for (target, expected) in &all {
        let mut found = Seeds::new();
        for entry in fs::read_dir(corpus.join(target)).expect("there is a corpus") {
            let path = entry.unwrap().path();
            found.insert(path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(path).unwrap());
        }
        let differ: BTreeMap<_, _> = expected.iter().filter(|(name, bytes)| found.get(*name) != Some(bytes)).collect();
        let stale: Vec<_> = found.keys().filter(|name| !expected.contains_key(*name)).collect();
        assert!(
            differ.is_empty() && stale.is_empty(),
            "corpus/{target} is stale: {:?} differ, {stale:?} are no seeds; run `cargo run --example seeds` in fuzz/",
            differ.keys()
        );
    }
    let bytes: usize = all.values().flat_map(BTreeMap::values).map(Vec::len).sum();
    assert!(bytes <= MOST_BYTES, "the seeds have {bytes} bytes");
    // A file takes a page of the disk at least.
    let files: usize = all.values().map(BTreeMap::len).sum();
    assert!(files <= MOST_FILES, "there are {files} seeds");
}

#[test]
fn targets_seeds_dictionaries_and_the_manifest_name_the_same() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR"));
    let targets = replay::targets(fuzz).unwrap();
    assert_eq!(targets, seeds::all().into_keys().collect::<Vec<_>>());
    let manifest = fs::read_to_string(fuzz.join("Cargo.toml")).unwrap();
    for target in &targets {
        assert!(manifest.contains(&format!("path = \"fuzz_targets/{target}.rs\"")), "{target} is no [[bin]]");
        // Choices have no words.
        if !target.ends_with("_built") {
            let found = Command::new(fuzz.join("dictionary")).arg(target).output().expect("bash runs it");
            assert!(found.status.success(), "{target} has no dictionary");
        }
    }
    assert_eq!(manifest.matches("[[bin]]").count(), targets.len(), "a [[bin]] without a target");
    let regressions = fuzz.join("../corpus/regressions");
    for entry in fs::read_dir(regressions).into_iter().flatten() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(targets.contains(&name), "corpus/regressions/{name} belongs to no target");
    }
}
