//! The first pass of the semantic check: every file on its own. Only regions whose table does not match their
//! sectors are walked afterwards; the reports of the others are complete.

use std::collections::{HashMap, HashSet};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::check::report::Report;
use crate::check::{HELD, Options, WINDOW, check_file, is_large, semantic};
use crate::parallel;
use crate::recover::names::Named;
use crate::recover::quick;
use crate::recover::screen::Screened;
use crate::save::{File, Forest, RegionFile, Save};

/// The result of the first pass.
#[derive(Default)]
pub(super) struct First {
    /// Entries whose block may belong elsewhere.
    pub doubts: semantic::Doubts,
    /// Final reports of some files, by path.
    ready: HashMap<PathBuf, Report>,
}

impl First {
    /// Whether the report of a file is ready.
    pub fn has(&self, file: File<'_>) -> bool {
        self.ready.contains_key(&file.path())
    }

    /// Takes the report of a file, if it is ready.
    pub fn take(&mut self, file: File<'_>) -> Option<Report> {
        self.ready.remove(&file.path())
    }
}

/// The result without a first pass.
pub(super) fn none() -> First {
    First::default()
}

/// Checks all files and finds entries whose block may belong elsewhere.
pub(super) fn glance_at_files(save: &Save, files: &[File<'_>], options: &Options<'_>) -> First {
    let mut ready = HashMap::new();
    let held = AtomicUsize::new(0);
    let glance = glance(save, files, options, |path, report| {
        // Reports that are not kept are made again.
        if held.fetch_add(report.findings.len(), Ordering::Relaxed) < HELD {
            ready.insert(path, report);
        }
    });
    let doubts = semantic::find_doubts(save, options, &glance);
    ready.retain(|path, _| doubts.in_file(path).is_none());
    First { doubts, ready }
}

/// What a first look at all region files shows.
pub(super) struct Glance {
    /// Files whose tables match their sectors.
    pub explained: HashSet<PathBuf>,
    /// The seams of all files.
    pub screened: HashMap<PathBuf, Screened>,
}

/// The region files of a forest whose seams are known, by their paths, with these.
pub(super) fn named<'f, 'g>(
    forest: &'f Forest,
    seams: impl Fn(&Path) -> Option<&'g Screened>,
) -> (Vec<Named<'g>>, Vec<&'f RegionFile>) {
    let of = |file: &'f RegionFile| Some((Named::new(file, seams(&forest.dir.join(&file.name))?), file));
    forest.regions.iter().filter_map(of).unzip()
}

/// Returns what a first look shows, and passes on the reports of all files.
pub(super) fn glance(
    save: &Save,
    files: &[File<'_>],
    options: &Options<'_>,
    each: impl FnMut(PathBuf, Report),
) -> Glance {
    let regions = files.iter().filter(|file| matches!(file, File::Region(..))).count();
    let mut glances = Glances::new(regions);
    glances.add(save, files, options, each);
    glances.finish()
}

/// A first look at files that are checked in several parts.
pub(super) struct Glances {
    /// How many region files there are in all parts.
    regions: usize,
    looks: Vec<(PathBuf, quick::Glance)>,
    screened: HashMap<PathBuf, Screened>,
}

impl Glances {
    /// Prepares a first look at so many region files.
    pub fn new(regions: usize) -> Self {
        Self { regions, looks: Vec::new(), screened: HashMap::new() }
    }

    /// Checks some of the files, and passes on their reports.
    pub fn add(
        &mut self,
        save: &Save,
        files: &[File<'_>],
        options: &Options<'_>,
        mut each: impl FnMut(PathBuf, Report),
    ) {
        let none = semantic::Doubts::default();
        for window in files.chunks(WINDOW) {
            let one = |file: File<'_>| (file.path(), check_file(save, file, options, &none));
            let early = parallel::map(window, |file| (!is_large(*file)).then(|| one(*file)));
            for (file, report) in window.iter().zip(early) {
                let (path, mut report) = report.unwrap_or_else(|| one(*file));
                if matches!(file, File::Region(..)) {
                    self.looks.push((path.clone(), report.look.clone()));
                    let mut seams = mem::take(&mut report.screened);
                    seams.shorten(self.regions);
                    self.screened.insert(path.clone(), seams);
                }
                each(path, report);
            }
        }
    }

    /// What all files show together.
    pub fn finish(self) -> Glance {
        let Self { looks, screened, .. } = self;
        let of: Vec<&quick::Glance> = looks.iter().map(|(_, look)| look).collect();
        let explained = quick::tables_match(&of);
        let explained =
            looks.into_iter().zip(explained).filter_map(|((path, _), explained)| explained.then_some(path)).collect();
        Glance { explained, screened }
    }
}
