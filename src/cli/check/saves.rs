//! Findings of a directory that has several saves, held until all are there: a file of a save may be checked long after
//! its directory was.

use std::mem;

use voxscope::check::Finding;
use voxscope::save::Save;

/// Findings that are held; those after them are printed as they come.
const MOST: usize = 20_000;

/// The saves of a directory, with the findings of each.
#[derive(Default)]
pub struct Saves {
    /// The printable paths of the saves, and what was found in each. The last one is for what belongs to none.
    all: Vec<(String, Vec<Finding>)>,
    held: usize,
}

impl Saves {
    /// Those of a path; none if it is one save.
    pub fn of(save: &Save) -> Self {
        let forests = save.forests.iter().map(|forest| &forest.dir);
        let paks = save.pak_dirs.iter().map(|pak_dir| &pak_dir.dir);
        let dirs = forests.chain(paks).chain(save.maps.iter().map(|map| &map.dir));
        let streams = save.streams.iter().map(|stream| &stream.path);
        let mut all: Vec<(String, Vec<Finding>)> =
            dirs.chain(streams).map(|path| (save.shown(path), Vec::new())).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all.dedup_by(|a, b| a.0 == b.0);
        if all.len() < 2 {
            return Self::default();
        }
        all.push(("in no save".to_owned(), Vec::new()));
        Self { all, held: 0 }
    }

    /// Holds a finding; `false` if it is to be printed at once.
    pub fn hold(&mut self, finding: &Finding) -> bool {
        let Some(last) = self.all.len().checked_sub(1).filter(|_| self.held < MOST) else { return false };
        let is_in = |name: &str| {
            finding.file.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '\\', '-']))
        };
        // A save within another one has the longer name.
        let of = self.all.iter().take(last).rposition(|(name, _)| is_in(name)).unwrap_or(last);
        if let Some((_, findings)) = self.all.get_mut(of) {
            findings.push(finding.clone());
            self.held += 1;
        }
        true
    }

    /// The saves that have findings, with these.
    pub fn take(&mut self) -> Vec<(String, Vec<Finding>)> {
        mem::take(&mut self.all).into_iter().filter(|(_, findings)| !findings.is_empty()).collect()
    }
}
