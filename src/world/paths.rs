//! The paths that name the worlds of a directory, and those of what is made of them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::printable;
use crate::save::{self, Forest, Kind, Save};

/// Whether block files share their directory with region files.
pub(super) fn is_beside_another(save: &Save, forest: &Forest) -> bool {
    forest.kind == Kind::BlockFiles
        && save.forests.iter().any(|other| other.kind != Kind::BlockFiles && other.dir == forest.dir)
}

/// The paths of all saves of a directory, sorted, so that those below one of them are found without looking at all.
pub(super) struct Paths<'s>(Vec<&'s Path>);

impl<'s> Paths<'s> {
    pub fn new(save: &'s Save) -> Self {
        let dirs = save.forests.iter().map(|forest| &forest.dir);
        let dirs =
            dirs.chain(save.pak_dirs.iter().map(|pak_dir| &pak_dir.dir)).chain(save.maps.iter().map(|map| &map.dir));
        let paths = dirs.chain(save.streams.iter().map(|stream| &stream.path));
        let mut sorted: Vec<&Path> = paths.map(PathBuf::as_path).collect();
        sorted.sort_unstable();
        Self(sorted)
    }

    /// How many of them are a directory or in it; no more than `most` are counted.
    fn at_or_below(&self, dir: &Path, most: usize) -> usize {
        // Paths are compared component by component, so those below a directory follow it.
        let from = self.0.partition_point(|path| *path < dir);
        self.0.iter().skip(from).take(most).take_while(|path| path.starts_with(dir)).count()
    }
}

/// The path that names a forest and no other save: its directory, or its meta file or the directory of its LODs where other
/// saves are beside it.
pub(super) fn own_path(paths: &Paths<'_>, save: &Save, forest: &Forest) -> PathBuf {
    if paths.at_or_below(&forest.dir, 2) < 2 {
        return forest.dir.clone();
    }
    let dirs = ["regions", "blocks"].into_iter();
    let names = forest
        .kind
        .meta_name()
        .into_iter()
        .chain(dirs.filter(|name| forest.regions.iter().any(|file| file.name.starts_with(name))));
    let found = names.map(|name| forest.dir.join(name)).find(|path| path.exists());
    // Block files without a directory of their own have only their names.
    let first = forest.regions.first().filter(|_| is_beside_another(save, forest));
    found.or_else(|| first.map(|file| forest.dir.join(&file.name))).unwrap_or_else(|| forest.dir.clone())
}

/// The name that `regions` has in the path of a result where it would be taken for the directory of a forest's LODs.
pub(crate) const REGIONS_OF_RESULT: &str = "world-regions";

/// A path below a directory of results, with another name for each `regions` that has a directory named like that of a LOD
/// in it: the directory above would be read as a forest.
pub(super) fn outside_of_lods(path: &Path) -> PathBuf {
    let mut parts = path.components().peekable();
    let mut changed = PathBuf::new();
    while let Some(part) = parts.next() {
        let is_lod = parts.peek().is_some_and(|next| save::is_like_lod(next.as_os_str()));
        let is_taken = is_lod && part.as_os_str() == save::REGIONS;
        changed.push(if is_taken { OsStr::new(REGIONS_OF_RESULT) } else { part.as_os_str() });
    }
    changed
}

/// Paths that are named when one has to be chosen.
const MOST_CHOICES: usize = 8;

/// The paths of the worlds of a save, in words.
pub(super) fn choices(save: &Save) -> String {
    let paths = Paths::new(save);
    let forests = save.forests.iter().map(|forest| own_path(&paths, save, forest));
    let all = forests.chain(save.streams.iter().map(|stream| stream.path.clone()));
    let mut words: Vec<String> = all.take(MOST_CHOICES).map(|path| printable::path(&path)).collect();
    let more = (save.forests.len() + save.streams.len()).saturating_sub(MOST_CHOICES);
    if more > 0 {
        words.push(format!("and {} more", printable::grouped(more as u64)));
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_below_a_directory_are_those_that_follow_it() {
        let all = ["a", "a/b", "a/b/c", "a-b", "a.b", "a/z", "ab", "b/a"].map(Path::new);
        let mut sorted = all.to_vec();
        sorted.sort_unstable();
        let paths = Paths(sorted);
        for dir in all.into_iter().chain([Path::new("b"), Path::new("c"), Path::new("a/b/d")]) {
            let below = all.iter().filter(|path| path.starts_with(dir)).count();
            assert_eq!(paths.at_or_below(dir, usize::MAX), below, "{}", dir.display());
            assert_eq!(paths.at_or_below(dir, 2), below.min(2), "{}", dir.display());
        }
    }

    #[test]
    fn no_result_makes_the_directory_above_a_forest() {
        for (path, result) in [
            ("regions/lod0/world", "world-regions/lod0/world"),
            ("a/regions/LOD 1", "a/world-regions/LOD 1"),
            ("regions/world", "regions/world"),
            ("regions", "regions"),
            ("lod0/regions/x", "lod0/regions/x"),
        ] {
            assert_eq!(outside_of_lods(Path::new(path)), Path::new(result));
        }
    }
}
