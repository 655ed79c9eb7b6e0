//! The first pass of the semantic check: every file on its own. Only regions whose table does not match their
//! sectors are walked afterwards; the reports of the others are complete.

use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::check::report::{Checked, Report, Stats};
use crate::check::{HELD, Options, WINDOW, check_file, is_large, semantic};
use crate::parallel;
use crate::recover::names::Named;
use crate::recover::quick;
use crate::recover::screen::{KeptSeams, Screened};
use crate::save::{File, Forest, RegionFile, Save};

/// The result of the first pass.
#[derive(Default)]
pub(super) struct First {
    /// Entries whose block may belong elsewhere.
    pub doubts: semantic::Doubts,
    /// The final results of the files, in their order; fewer if the last ones have none.
    ready: Vec<Ready>,
}

/// The final result of a file, if it is known. It is small where nothing was found, since a save may have very many files.
#[derive(Default)]
enum Ready {
    #[default]
    Unknown,
    /// There is no finding.
    Clean(Stats),
    Found(Box<Checked>),
}

impl First {
    /// Whether the result of a file is ready, by its number among all files.
    pub fn has(&self, number: usize) -> bool {
        self.ready.get(number).is_some_and(|ready| !matches!(ready, Ready::Unknown))
    }

    /// Takes the result of a file, if it is ready.
    pub fn take(&mut self, number: usize) -> Option<Checked> {
        match mem::take(self.ready.get_mut(number)?) {
            Ready::Unknown => None,
            Ready::Clean(stats) => Some(Checked { stats, ..Checked::default() }),
            Ready::Found(checked) => Some(*checked),
        }
    }
}

/// The result without a first pass.
pub(super) fn none() -> First {
    First::default()
}

/// Checks all files and finds entries whose block may belong elsewhere.
pub(super) fn glance_at_files(save: &Save, files: &[File<'_>], options: &Options<'_>) -> First {
    let mut ready = Vec::with_capacity(files.len());
    let held = AtomicUsize::new(0);
    let glance = glance(save, files, options, |_, report| {
        // Results that are not kept are made again.
        let is_kept = held.fetch_add(report.findings.len(), Ordering::Relaxed) < HELD;
        ready.push(if is_kept { Ready::new(report.into()) } else { Ready::Unknown });
    });
    let doubts = semantic::find_doubts(save, options, &glance);
    for (file, ready) in files.iter().zip(&mut ready) {
        if doubts.in_file(*file).is_some() {
            *ready = Ready::Unknown;
        }
    }
    First { doubts, ready }
}

impl Ready {
    fn new(mut checked: Checked) -> Self {
        // Most damaged files have one finding; a vector has room for four.
        checked.findings.shrink_to_fit();
        match checked.is_clean() {
            true => Self::Clean(checked.stats),
            false => Self::Found(Box::new(checked)),
        }
    }
}

/// What a first look at region files shows, by their numbers.
#[derive(Default)]
pub(super) struct Glance {
    explained: Vec<bool>,
    seams: Vec<Option<KeptSeams>>,
}

impl Glance {
    /// Whether the table of a file matches its sectors.
    pub fn is_explained(&self, file: &RegionFile) -> bool {
        self.explained.get(file.number as usize).is_some_and(|explained| *explained)
    }

    /// The seams of a file, if it was looked at.
    pub fn seams(&self, file: &RegionFile) -> Option<&Screened> {
        self.seams.get(file.number as usize)?.as_ref().map(KeptSeams::screened)
    }

    /// Whether the seams of a file suggest that blocks of it are exchanged.
    pub fn has_exchanged(&self, file: &RegionFile) -> bool {
        self.seams(file).is_some_and(|seams| seams.has_exchanged)
    }
}

/// The region files of a forest whose seams are known, with these.
pub(super) fn named<'f>(forest: &'f Forest, seams: impl Fn(&RegionFile) -> Option<&'f Screened>) -> Vec<Named<'f>> {
    forest.regions.iter().filter_map(|file| Some(Named::new(file, seams(file)?))).collect()
}

/// Returns what a first look shows, and passes on the reports of all files.
pub(super) fn glance(
    save: &Save,
    files: &[File<'_>],
    options: &Options<'_>,
    each: impl FnMut(File<'_>, Report),
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
    /// What the tables say, by the numbers of the files.
    looks: Vec<(u32, quick::Glance)>,
    seams: Vec<Option<KeptSeams>>,
}

impl Glances {
    /// Prepares a first look at so many region files.
    pub fn new(regions: usize) -> Self {
        Self { regions, looks: Vec::with_capacity(regions), seams: Vec::with_capacity(regions) }
    }

    /// Checks some of the files, and passes on their reports.
    pub fn add(
        &mut self,
        save: &Save,
        files: &[File<'_>],
        options: &Options<'_>,
        mut each: impl FnMut(File<'_>, Report),
    ) {
        let none = semantic::Doubts::default();
        for window in files.chunks(WINDOW) {
            let one = |file: File<'_>| check_file(save, file, options, &none);
            // If the files of a window have more findings than a few, the others are checked one at a time.
            let held = AtomicUsize::new(0);
            let early = parallel::map(window, |file| {
                let is_late = is_large(*file) || held.load(Ordering::Relaxed) >= HELD;
                let report = (!is_late).then(|| one(*file))?;
                held.fetch_add(report.findings.len(), Ordering::Relaxed);
                Some(report)
            });
            for (file, report) in window.iter().zip(early) {
                let mut report = report.unwrap_or_else(|| one(*file));
                if let File::Region(_, file) = file {
                    self.looks.push((file.number, mem::take(&mut report.look)));
                    let mut seams = mem::take(&mut report.screened);
                    seams.shorten(self.regions);
                    let number = file.number as usize;
                    self.seams.resize(self.seams.len().max(number + 1), None);
                    self.seams[number] = Some(seams.into());
                }
                each(*file, report);
            }
        }
    }

    /// What all files show together.
    pub fn finish(self) -> Glance {
        let Self { looks, seams, .. } = self;
        let of: Vec<&quick::Glance> = looks.iter().map(|(_, look)| look).collect();
        let mut explained = vec![false; seams.len()];
        for (is_explained, (number, _)) in quick::tables_match(&of).into_iter().zip(&looks) {
            explained[*number as usize] = is_explained;
        }
        Glance { explained, seams }
    }
}
