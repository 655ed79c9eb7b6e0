//! Running the oracles over files: shared by the tests of the fuzz crate and those of the library.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::{ALL, Oracle, Reach};

/// The targets that are there, by their files.
///
/// # Errors
/// What the operating system says.
pub fn targets(fuzz: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(fuzz.join("fuzz_targets"))? {
        let path = entry?.path();
        names.extend(path.file_stem().and_then(|name| name.to_str()).map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

/// Runs every target's oracle over its seeds and over what once was a regression. Prints how far they get, and says
/// where a property failed (the panic itself is printed where it happens).
///
/// A seed whose name has "healthy" in it must be that. Fails also when a target has no oracle or no seeds, and when not more than half of its seeds get past the header or none
/// is healthy: such a corpus tests nothing.
pub fn replay(root: &Path, run: impl Fn(Oracle, &[u8]) -> Reach) {
    let names = targets(&root.join("fuzz")).unwrap_or_default();
    assert_eq!(
        names,
        ALL.iter().map(|target| target.name).collect::<Vec<_>>(),
        "targets without an oracle, or the reverse"
    );
    let mut failures = Vec::new();
    for target in ALL {
        let (name, oracle) = (target.name, target.check);
        let mut reached: BTreeMap<Reach, usize> = BTreeMap::new();
        let seeds = files(&root.join("corpus").join(name));
        assert!(!seeds.is_empty(), "corpus/{name} is empty or missing");
        let regressions = files(&root.join("corpus/regressions").join(name));
        for (path, is_seed) in seeds.iter().map(|path| (path, true)).chain(regressions.iter().map(|path| (path, false)))
        {
            let data = fs::read(path).unwrap_or_default();
            match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(oracle, &data))) {
                Ok(reach) if is_seed => {
                    *reached.entry(reach).or_default() += 1;
                    let called = path.file_name().is_some_and(|name| name.to_string_lossy().contains("healthy"));
                    if called && reach != Reach::Healthy {
                        failures.push(format!("{} is {reach:?}", shown(root, path)));
                    }
                }
                Ok(_) => {}
                Err(_) => failures.push(shown(root, path)),
            }
        }
        let far: usize = reached.range(Reach::Content..).map(|(_, n)| n).sum();
        let (all, old) = (seeds.len(), regressions.len());
        println!("{name}: {}% of {all} seeds past the header, {reached:?}, {old} regressions", far * 100 / all);
        assert!(far * 2 > all || !failures.is_empty(), "{name}: only {far} of {all} seeds get past the header");
        let healthy = reached.contains_key(&Reach::Healthy);
        assert!(healthy || !failures.is_empty(), "{name}: no seed is healthy");
    }
    assert!(failures.is_empty(), "{} files failed:\n{}", failures.len(), failures.join("\n"));
}

fn shown(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    paths.sort();
    paths
}
