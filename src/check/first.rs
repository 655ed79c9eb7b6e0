//! The first look of the deepest check: every file on its own, so that only regions whose table does not explain their
//! sectors are walked over, and the reports of the others are ready.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::check::report::Report;
use crate::check::{HELD, Options, WINDOW, check_file, is_large, semantic};
use crate::save::{File, Save};
use crate::trace::quick::{self, Look};

/// What the first look gave.
#[derive(Default)]
pub(super) struct First {
    /// What the sectors of the regions say.
    pub told: semantic::Doubts,
    /// Reports that hold, by their files; not of all files.
    ready: HashMap<PathBuf, Report>,
}

impl First {
    /// Whether the report of a file is ready.
    pub fn has(&self, file: File<'_>) -> bool {
        self.ready.contains_key(&file.path())
    }

    /// The report of a file, when it is ready.
    pub fn take(&mut self, file: File<'_>) -> Option<Report> {
        self.ready.remove(&file.path())
    }
}

/// Nothing was looked at.
pub(super) fn none() -> First {
    First::default()
}

/// Looks at all files, and asks for what the sectors say.
pub(super) fn look(save: &Save, files: &[File<'_>], options: &Options<'_>) -> First {
    let mut ready = HashMap::new();
    let held = AtomicUsize::new(0);
    let explained = glance(save, files, options, |path, report| {
        // What is not kept is found once more.
        if held.fetch_add(report.findings.len(), Ordering::Relaxed) < HELD {
            ready.insert(path, report);
        }
    });
    let told = semantic::ask(save, options, &explained);
    ready.retain(|path, _| told.of(path).is_empty());
    First { told, ready }
}

/// The regions whose tables are explained by a look at each; hands out the reports that come of it.
pub(super) fn glance(
    save: &Save,
    files: &[File<'_>],
    options: &Options<'_>,
    mut each: impl FnMut(PathBuf, Report),
) -> HashSet<PathBuf> {
    let none = semantic::Doubts::default();
    let mut looks = Vec::new();
    for window in files.chunks(WINDOW) {
        let one = |file: File<'_>| (file.path(), check_file(save, file, options, &none));
        let early: Vec<_> = window.par_iter().map(|file| (!is_large(*file)).then(|| one(*file))).collect();
        for (file, report) in window.iter().zip(early) {
            let (path, report) = report.unwrap_or_else(|| one(*file));
            if matches!(file, File::Region(..)) {
                looks.push((path.clone(), report.look.clone()));
            }
            each(path, report);
        }
    }
    let of: Vec<&Look> = looks.iter().map(|(_, look)| look).collect();
    let explained = quick::explained(&of);
    looks.into_iter().zip(explained).filter_map(|((path, _), explained)| explained.then_some(path)).collect()
}
