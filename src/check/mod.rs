//! The checker: rules that run in parallel over the files and blocks of a save and produce findings.
//!
//! [`run`] checks a whole save and passes on findings in the order of its files, whatever the number of threads;
//! [`region`] checks one open region. Memory is bounded: files are checked in windows, and of a block only its
//! damage is kept.
//!
//! Takes a save; gives findings, counts, causes and rows of the block table. It never writes, and knows neither repair nor
//! who shows findings.

mod advice;
mod cause;
mod causes;
mod copied;
mod file_names;
mod filter;
mod finding;
mod first;
mod inside;
mod left_out;
mod level;
mod map;
mod misplaced;
mod outcome;
mod outlook;
mod pak;
mod pass_on;
mod region;
mod report;
mod row;
mod row_table;
mod rows;
mod save_arguments;
mod semantic;
mod sentence;
mod stream;
mod totals;
mod verdict;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::bytes::Span;
use crate::damage::{Code, Damage};
use crate::godot::region::{Entry, Header, MAX_HEADER_BYTES};
use crate::parallel;
use crate::recover::effort::Effort;
use crate::recover::quick::Glance;
use crate::recover::screen::Screened;
use crate::recover::slots::{self, FormulaEvidence, Purpose};
use crate::recover::solutions::Solutions;
use crate::save::{Fault, File, Region, RegionFile, Save, View};
use crate::source::{FileSource, Source};
use crate::voxel_map::Map;
use crate::voxel_map::map_json::FILE_NAME;
use crate::watch::{Step, Watch};

pub use advice::{Advice, Advised, advice_about, advise, first_step, lone_name_advice, next_step, with_paths};
pub use cause::{Cause, CauseKind, NextStep, is_of, saves_of};
pub use causes::Findings;
pub(crate) use causes::{misfit_of_meta, misfit_of_paks, misfit_of_regions};
pub use filter::Filter;
pub use finding::{BlockAt, Finding};
use first::First;
pub use inside::Inside;
pub use left_out::{
    LeftOut, uncounted_chunks, unlisted_blocks, unlisted_blocks_of, unread_layer, unread_layers, unread_rows,
};
pub use level::Level;
pub use map::layer_rows;
#[cfg(feature = "cli")]
pub(crate) use map::part_name;
#[cfg(feature = "cli")]
pub(crate) use misplaced::{BlockObserver, misplaced_observed};
pub use misplaced::{Misplaced, MisplacedFile, misplaced, misplaced_chunks, misplaced_in, unowned};
pub use outlook::identical_words;
pub(crate) use region::missing::{WrittenTable, missing, missing_in_copy};
use report::{Checked, Report};
pub use report::{Counts, Stats};
pub use row::Row;
pub use row_table::RowTable;
use row_table::TakeRows;
pub use rows::{Compared, FileTable, Listing, find_unlocated, list, list_each, row_table, rows, table};
pub use save_arguments::{SaveArguments, repaired_path};
pub use sentence::{Figures, RepairWords, Sentence};
pub(crate) use stream::batches as row_batches;
pub use totals::Totals;
pub use verdict::{sentences, verdict};

/// Number of files that are checked before their findings are passed on.
const WINDOW: usize = 64;

/// Tables of at least this size are checked one at a time, so that threads do not hold several of them in memory.
const LARGE_TABLE: u64 = 256 << 10;

/// Streams of at least this size are checked one at a time, for the same reason.
const LARGE_STREAM: u64 = 64 << 20;

/// If the files of a window have more findings than this, its other files are checked one at a time, each after the findings
/// before it were passed on.
const HELD: usize = 20_000;

/// How to check.
#[derive(Clone, Copy, Default)]
#[non_exhaustive]
pub struct Options<'a> {
    /// How deep to look.
    pub level: Level,
    /// How much work to spend on places that are hard to decide.
    pub effort: Effort,
    /// Cancels the check, and receives its progress in bytes of files; the sum is about [`total_bytes`].
    pub watch: Watch<'a>,
    solutions: Option<&'a Solutions>,
    /// What settles the slot formula, if it was looked for.
    formula: Option<&'a FormulaEvidence>,
    /// What sees the blocks of region files that are decoded.
    witness: Option<&'a BlockWitness<'a>>,
}

/// Sees a block of a region file that was decoded, with its entry in the table.
pub(crate) type BlockWitness<'a> = dyn Fn(&RegionFile, Entry, &View<'_>) + Sync + 'a;

impl<'a> Options<'a> {
    /// Sets how deep to look.
    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// Sets how much work to spend on places that are hard to decide.
    #[must_use]
    pub const fn effort(mut self, effort: Effort) -> Self {
        self.effort = effort;
        self
    }

    /// Sets what cancels the check and receives its progress.
    #[must_use]
    pub const fn watch(mut self, watch: Watch<'a>) -> Self {
        self.watch = watch;
        self
    }

    /// Sets where results of regions are kept, for a check and plans of the same save: each region is solved once for all of them.
    #[must_use]
    pub const fn solutions(mut self, solutions: &'a Solutions) -> Self {
        self.solutions = Some(solutions);
        self
    }
}

impl Options<'_> {
    fn cancelled(&self) -> bool {
        self.watch.is_cancelled()
    }

    fn advance(&self, bytes: u64) {
        self.watch.advance(bytes);
    }
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Findings by level.
    pub counts: Counts,
    /// Region files.
    pub files: u64,
    /// Totals of the blocks.
    pub stats: Stats,
    /// Files that could not be read, or changed while they were.
    pub unread: u64,
    /// Files of blocks that were not read because their names are no positions.
    pub misnamed: u64,
    /// Blocks whose places the effort did not suffice to decide.
    pub undecided: u64,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
}

/// How the table of a region compares with its sectors at a glance, also unclear if the region has a finding above note, and
/// what its seams show. `name` is the name of its file.
pub(crate) fn look<S: Source>(region: &Region<S>, name: &str, watch: &Watch<'_>) -> (Glance, Screened) {
    let mut report = Report::new(name.into(), region.lod, 0);
    let options = Options { level: Level::Semantic, watch: watch.quiet(), ..Options::default() };
    region::check(region, &options, &mut report, None);
    let look = if report.has_trouble() || options.cancelled() { Glance::Unclear } else { report.look };
    (look, report.screened)
}

/// Bytes that a check of a save reports as progress: those of all files that have blocks, and if the
/// sectors are walked, those of the region files a second time.
#[must_use]
pub fn total_bytes(save: &Save, level: Level) -> u64 {
    let walked: u64 = match level {
        Level::Semantic => save.regions().map(|(_, file)| file.len).sum(),
        _ => 0,
    };
    save.files().map(|file| file.len()).sum::<u64>().saturating_add(walked)
}

/// Checks a save with the threads of the current `rayon` pool and passes each finding to `sink`.
pub fn run(save: &Save, options: &Options<'_>, sink: impl FnMut(Finding)) -> Summary {
    // Findings name positions by the formula by which every other command reads them.
    let (evidence, missing) = match options.level {
        Level::Header => (None, Vec::new()),
        _ => rayon::join(|| slots::find_evidence(save, &|| options.cancelled()), || missing(save)),
    };
    let placed = match &evidence {
        Some(evidence) => slots::read_by_old_formula(save, evidence, Purpose::Reading),
        None if options.level == Level::Header => Ok(None),
        None => slots::by_old_formula(save, Purpose::Reading, &|| options.cancelled()),
    };
    let placed = placed.ok().flatten();
    let options = Options { formula: evidence.as_ref(), ..*options };
    match &placed {
        Some(placed) => run_as_placed(placed, self::missing(placed), &options, sink),
        None => run_as_placed(save, missing, &options, sink),
    }
}

/// The check of a save whose blocks have their places; `missing` are the findings about its missing region files.
fn run_as_placed(save: &Save, missing: Vec<Finding>, options: &Options<'_>, mut sink: impl FnMut(Finding)) -> Summary {
    let misnamed = save.unopened.iter().filter(|fault| fault.is_misnamed()).count() as u64;
    let mut summary = Summary { misnamed, ..Summary::default() };
    options.watch.begin(Step::Checking, total_bytes(save, options.level));
    for finding in of_save(save) {
        summary.counts.add(&finding);
        summary.unread += u64::from(finding.code().is_unread());
        sink(finding);
    }
    let copied = match options.level {
        Level::Semantic => pak::copied_files(save, &|| options.cancelled()),
        _ => Vec::new(),
    };
    for finding in missing.into_iter().chain(copied) {
        summary.counts.add(&finding);
        sink(finding);
    }
    let files: Vec<File<'_>> = save.files().collect();
    // The positions of blocks are solved for all regions together, before any region is reported.
    let mut first =
        if options.level == Level::Semantic { first::glance_at_files(save, &files, options) } else { first::none() };
    summary.undecided = first.doubts.undecided;
    // The first pass reported the bytes of all files already.
    let again = match options.level {
        Level::Semantic => Options { watch: options.watch.quiet(), ..*options },
        _ => *options,
    };
    for (n, window) in files.chunks(WINDOW).enumerate() {
        let numbered: Vec<(usize, File<'_>)> = (n * WINDOW..).zip(window.iter().copied()).collect();
        let held = AtomicUsize::new(0);
        let check_one = |file: File<'_>, first: &First| Checked::from(check_file(save, file, &again, &first.doubts));
        let early = |(number, file): (usize, File<'_>)| {
            if is_large(file) || first.has(number) || held.load(Ordering::Relaxed) >= HELD {
                return None;
            }
            let checked = check_one(file, &first);
            held.fetch_add(checked.findings.len(), Ordering::Relaxed);
            Some(checked)
        };
        let mut checked = parallel::map(&numbered, |file| early(*file));
        for ((number, file), checked) in numbered.iter().zip(&mut checked) {
            let checked = checked.take().or_else(|| first.take(*number));
            let checked = checked.unwrap_or_else(|| check_one(*file, &first));
            summary.files += match file {
                File::Map(map) => map.files() as u64,
                _ => 1,
            };
            summary.counts.merge(&checked.counts);
            summary.stats.merge(&checked.stats);
            summary.unread += checked.unread;
            checked.findings.into_iter().for_each(&mut sink);
        }
        if options.cancelled() {
            summary.interrupted = true;
            break;
        }
    }
    summary
}

/// Findings about a save as such: files that could not be opened, saves that a conversion left, settings that the engine
/// refuses, and blocks and LODs that are missing as a whole.
pub fn of_save(save: &Save) -> impl Iterator<Item = Finding> {
    // The check of a stream reports a journal that it cannot use.
    let journal = |fault: &Fault| fault.damage.code == Code::StreamJournalUnusable && fault.detail.is_none();
    let faults = save.faults.iter().filter(move |fault| !journal(fault));
    let faults = faults.map(|f| Finding::of_file(save.shown(&f.path).into(), f.damage, f.detail.clone()));
    let conversions = region::conversion::left(save).into_iter().chain(region::conversion::refused(save));
    faults.chain(conversions).chain(region::meta::against_options(save)).chain(region::missing::absent(save))
}

/// Passes on the findings that [`Level::Semantic`] adds to [`Level::Decode`], for a save that was checked before:
/// those about positions of blocks. Those that are not listed are counted apart from those of the check before. `known` says
/// whether an error about a block was found before. Also returns the number of blocks that the effort did not suffice to decide.
pub fn walk(
    save: &Save,
    options: &Options<'_>,
    known: impl Fn(&str, Option<[i32; 3]>) -> bool,
    mut sink: impl FnMut(Finding),
) -> (Counts, u64) {
    options.watch.begin(Step::Walking, save.regions().map(|(_, file)| file.len).sum());
    let (_, doubts) = find_doubts(save, options);
    let mut counts = Counts::default();
    for finding in pak::copied_files(save, &|| options.cancelled()) {
        counts.add(&finding);
        sink(finding);
    }
    // Exchanged chunks of pak regions, and rows of streams.
    let glance = Options { level: Level::Semantic, watch: options.watch.quiet(), ..*options };
    for file in save.files().filter(|file| matches!(file, File::Pak(..) | File::Stream(_))) {
        let plain = Options { level: Level::Decode, ..glance };
        let before = check_file(save, file, &plain, &semantic::Doubts::default());
        let after = check_file(save, file, &glance, &semantic::Doubts::default());
        for finding in after.findings.into_iter().filter(|finding| !before.findings.contains(finding)) {
            counts.add(&finding);
            sink(finding);
        }
    }
    for file in save.files() {
        let name: Arc<str> = save.shown(&file.path()).into();
        let doubts = doubts.in_file(file);
        for doubt in doubts.iter().flat_map(|doubts| &doubts.listed) {
            if doubt.weak && known(&name, doubt.position) {
                continue;
            }
            let mut finding = Finding::of_file(Arc::clone(&name), doubt.damage, doubt.remark.clone());
            // The slot formula is that of the whole forest.
            if !doubt.is_of_file() {
                finding.block = Some(BlockAt { lod: file.lod(), position: doubt.position });
            }
            counts.add(&finding);
            sink(finding);
        }
        let more = doubts.map(|doubts| &doubts.more);
        if let Some(finding) = more.and_then(|more| Finding::not_listed(name, more)) {
            finding.unlisted.iter().for_each(|(code, n)| counts.add_many(*code, *n));
            counts.add(&finding);
            sink(finding);
        }
    }
    (counts, doubts.undecided)
}

/// The region files of a save, and what is in doubt about the places of their blocks.
fn find_doubts<'s>(save: &'s Save, options: &Options<'_>) -> (Vec<File<'s>>, semantic::Doubts) {
    let regions: Vec<File<'_>> = save.files().filter(|file| matches!(file, File::Region(..))).collect();
    let glance = Options { level: Level::Semantic, watch: options.watch.quiet(), ..*options };
    let doubts = semantic::find_doubts(save, options, &first::glance(save, &regions, &glance, |_, _| {}));
    (regions, doubts)
}

/// Checks one open region; `name` is the name of its file in findings.
pub fn region<S: Source>(region: &Region<S>, name: &str) -> Vec<Finding> {
    let mut report = Report::new(name.into(), region.lod, region.limits.findings_per_file);
    region::check(region, &Options::default(), &mut report, None);
    report.finish();
    report.findings
}

/// Checks the bytes of a region file; `name` is the name of the file in findings. Blocks that show no byte order are read as
/// little-endian: [`run`] infers it from the files of a save.
pub fn region_bytes(
    data: &[u8],
    name: &str,
    lod: u8,
    position: [i32; 3],
    options: &crate::save::Options,
) -> Vec<Finding> {
    let mut report = Report::new(name.into(), lod, options.limits.findings_per_file);
    let prefix = data.get(..MAX_HEADER_BYTES).unwrap_or(data);
    let mut damage = Vec::new();
    let header = Header::decode(prefix, crate::bytes::len64(data), options.format.as_ref()).report_to(&mut damage);
    for damage in damage {
        report.file(damage, None);
    }
    match header.map(|header| Region::load(data, header, lod, position, options)) {
        None => {}
        Some(Ok(region)) => region::check(&region, &Options::default(), &mut report, None),
        Some(Err(error)) => report.unreadable(Span::default(), &error),
    }
    report.finish();
    report.findings
}

/// Checks the bytes of a pak region at a position; `name` is the name of the file in findings.
pub fn pak_bytes(data: &[u8], name: &str, region: [i32; 3], options: &crate::save::Options) -> Vec<Finding> {
    of_pak(data, name, Some(region), options, &Options::default())
}

/// Checks a voxel map with a description or arrays that are not those on disk.
pub(crate) fn of_map(save: &Save, map: &Map, options: &Options<'_>) -> Vec<Finding> {
    let name = save.shown(&map.dir.join(FILE_NAME));
    let mut report = Report::new(name.into(), 0, save.options.limits.findings_per_file);
    map::check(save, map, options, &mut report);
    report.finish();
    report.findings
}

/// Checks the bytes of a pak region that are not on disk; `region` is `None` if its name does not contain it.
pub(crate) fn of_pak(
    data: &[u8],
    name: &str,
    region: Option<[i32; 3]>,
    reading: &crate::save::Options,
    options: &Options<'_>,
) -> Vec<Finding> {
    let mut report = Report::new(name.into(), 0, reading.limits.findings_per_file);
    let mut damage = Vec::new();
    let loaded = crate::save::Pak::load(data, region.unwrap_or_default(), &reading.pak, &reading.limits, &mut damage);
    damage.into_iter().for_each(|damage| report.file(damage, None));
    match loaded {
        Ok(None) => {}
        Ok(Some(mut pak)) => {
            if region.is_none() {
                pak.grid = None;
            }
            pak::check(&pak, options, &mut report, None);
        }
        Err(error) => report.unreadable(Span::default(), &error),
    }
    report.finish();
    report.findings
}

/// Checks the bytes of a stream; `name` is the name of the file in findings.
pub fn stream_bytes(data: &[u8], name: &str, options: &crate::save::Options) -> Vec<Finding> {
    let mut report = Report::new(name.into(), 0, options.limits.findings_per_file);
    let mut damage = Vec::new();
    let loaded = crate::save::Stream::load(data, crate::save::Beside::default(), &options.limits, &mut damage);
    for damage in damage {
        report.file(damage, None);
    }
    match loaded {
        Ok(None) => {}
        Ok(Some(stream)) => stream::check(&stream, &Options::default(), &mut report, None),
        Err(error) => report.unreadable(Span::default(), &error),
    }
    report.finish();
    report.findings
}

/// Whether the table of a file takes much memory.
fn is_large(file: File<'_>) -> bool {
    match file {
        File::Region(_, file) => {
            file.header.as_ref().is_some_and(|header| header.table.len().min(file.len) >= LARGE_TABLE)
        }
        // Count its keys as a table.
        File::Stream(file) => file.len >= LARGE_STREAM,
        File::Pak(..) | File::Map(_) => false,
    }
}

fn check_file(save: &Save, file: File<'_>, options: &Options<'_>, doubts: &semantic::Doubts) -> Report {
    let name: Arc<str> = save.shown(&file.path()).into();
    let mut report = Report::new(name, file.lod(), save.options.limits.findings_per_file);
    if options.cancelled() {
        return report;
    }
    check_into(save, file, options, &mut report, None);
    let doubts = doubts.in_file(file);
    let errors = if doubts.is_some() { report.errors_at() } else { HashSet::new() };
    for doubt in doubts.iter().flat_map(|doubts| &doubts.listed) {
        if doubt.weak && errors.contains(&doubt.position) {
            continue;
        }
        if doubt.is_of_file() {
            report.file(doubt.damage, doubt.remark.clone());
        } else {
            report.placed(doubt.position, doubt.damage, doubt.remark.clone());
        }
    }
    for (code, n) in doubts.iter().flat_map(|doubts| &doubts.more) {
        report.count(*code, *n);
    }
    report.finish();
    report
}

/// Applies all rules to one file; fills `rows` with its block table, if requested.
fn check_into(
    save: &Save,
    file: File<'_>,
    options: &Options<'_>,
    report: &mut Report,
    rows: Option<&mut dyn TakeRows>,
) {
    let checked = match file {
        File::Region(forest, file) => region::check_file(save, forest, file, options, report, rows),
        File::Pak(pak_dir, file) => pak::check_file(save, pak_dir, file, options, report, rows),
        File::Stream(file) => stream::check_file(save, file, options, report, rows),
        File::Map(map) => {
            map::check(save, map, options, report);
            Ok(())
        }
    };
    if let Err(error) = checked {
        report.file(Damage::new(error.code(), Span::default(), "file"), Some(error.to_string()));
        options.advance(file.len());
    }
}

fn unchanged(source: &FileSource, report: &mut Report) {
    match source.changed() {
        Ok(false) => {}
        Ok(true) => report.file(Damage::new(Code::FileChanged, Span::default(), "file"), None),
        Err(error) => report.unreadable(Span::default(), &error),
    }
}
