//! A save, its repaired copy, and the copy of the copy.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use voxscope::repair;
use voxscope::save::{Error, Options, Save};
use voxscope::{check, damage};

pub type Tree = BTreeMap<PathBuf, (Vec<u8>, Option<SystemTime>)>;

/// All files below a directory, with their times when they are asked for.
pub fn tree(root: &Path, times: bool) -> Tree {
    let files = if root.is_file() { vec![root.to_owned()] } else { super::files_below(root) };
    files
        .into_iter()
        .filter(|path| fs::symlink_metadata(path).unwrap().is_file())
        .map(|path| {
            let time = times.then(|| fs::metadata(&path).unwrap().modified().unwrap());
            (path.strip_prefix(root).unwrap().to_owned(), (fs::read(&path).unwrap(), time))
        })
        .collect()
}

/// Everything but the report, which says what was done this time.
pub fn content(path: &Path) -> Tree {
    let mut tree = tree(path, false);
    tree.remove(Path::new("repair.json"));
    tree
}

/// Codes above note that checking a save gives; none where nothing is left to check.
pub fn trouble(path: &Path) -> Vec<damage::Code> {
    let save = match Save::open(path, &Options::default()) {
        Ok(save) => save,
        Err(Error::NothingHere(_)) => return Vec::new(),
        Err(error) => panic!("{error}"),
    };
    let mut codes = Vec::new();
    let options = check::Options::default().level(check::Level::Semantic);
    check::run(&save, &options, |f| codes.extend((f.level() > damage::Level::Note).then_some(f.code())));
    codes.sort_unstable();
    codes.dedup();
    codes
}

pub fn mend(source: &Path, to: &Path, likely: bool) -> repair::Outcome {
    let save = Save::open(source, &Options::default()).unwrap();
    let before = tree(source, true);
    let options = repair::Options::default().likely(likely);
    let outcome = repair::run(&save, to, &options).unwrap();
    assert_eq!(tree(source, true), before, "{}: the save was altered", source.display());
    outcome
}

/// Repairs a save, and the copy again, which must change nothing. Gives what the first repair did, and the report.
pub fn mend_twice(source: &Path, to: &Path, likely: bool) -> (repair::Outcome, serde_json::Value) {
    let outcome = mend(source, to, likely);
    if Save::open(to, &Options::default()).is_ok() {
        let again = to.with_extension("again");
        let second = mend(to, &again, likely);
        assert!(second.plan.changes_nothing(), "{}: {:?}", source.display(), repair::words(&second.plan));
        assert_eq!(content(to), content(&again), "{}", source.display());
    }
    let report = serde_json::from_slice(&fs::read(to.join("repair.json")).unwrap()).unwrap();
    (outcome, report)
}
