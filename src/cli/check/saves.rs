//! Findings of a directory that has several saves, held until all are there: a file of a save may be checked long after
//! its directory was.

use std::mem;

use voxscope::check::{self, Finding};
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
    pub fn new(save: &Save) -> Self {
        let mut all: Vec<(String, Vec<Finding>)> =
            check::saves_of(save).into_iter().map(|name| (name, Vec::new())).collect();
        if all.is_empty() {
            return Self::default();
        }
        all.push(("files that belong to no save".to_owned(), Vec::new()));
        Self { all, held: 0 }
    }

    /// Holds a finding; `false` if it is to be printed at once.
    pub fn hold(&mut self, finding: &Finding) -> bool {
        let Some(last) = self.all.len().checked_sub(1).filter(|_| self.held < MOST) else { return false };
        // A save within another one has the longer name.
        let of = self.all.iter().take(last).rposition(|(name, _)| check::is_of(&finding.file, name)).unwrap_or(last);
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
