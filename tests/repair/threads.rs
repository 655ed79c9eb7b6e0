//! The same save gives the same copy, whatever the number of threads.

use std::path::Path;

use voxscope::demo::{self, ForestSpec};
use voxscope::repair;
use voxscope::save::{Options, Save};

use crate::common::golden;
use crate::tree;

fn with_threads(source: &Path, to: &Path, threads: usize) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let save = Save::open(source, &Options::default()).unwrap();
    pool.install(|| repair::run(&save, to, &repair::Options::default().likely(true))).unwrap();
}

#[test]
fn one_thread_and_four_give_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let mut sources = Vec::new();
    // Every region of a forest with something wrong in it.
    let source = dir.path().join("forest");
    demo::write_forest(&source, &ForestSpec::default(), None).unwrap();
    for (k, path) in crate::common::files_below(&source.join("regions")).into_iter().enumerate() {
        let mut bytes = std::fs::read(&path).unwrap();
        let at = bytes.len() * (k % 7 + 2) / 10;
        let end = (at + 700).min(bytes.len());
        bytes[at..end].fill(0x5a);
        std::fs::write(&path, bytes).unwrap();
    }
    sources.push(source);
    for name in ["crash_terrain/t1/world", "crash_noise/mixed_1/world", "two_writers/w1/world"] {
        sources.push(golden(name));
    }
    for (k, source) in sources.iter().enumerate() {
        let [one, four] = [1, 4].map(|threads| {
            let to = dir.path().join(format!("{k}.{threads}"));
            with_threads(source, &to, threads);
            tree(&to, false)
        });
        assert!(one.keys().any(|path| path.starts_with("lost+found")), "nothing was wrong with {}", source.display());
        assert!(one == four, "{}", source.display());
    }
}
