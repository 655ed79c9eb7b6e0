//! The checker: rules over a save, run in parallel over files and blocks, that yield findings.
//!
//! [`run`] checks a whole save and hands out findings in the order of its files, whatever the number of threads;
//! [`region`] checks one open region. Memory stays bounded: files are checked a window at a time, and of a block nothing
//! is kept but what is wrong with it.

mod blocks;
mod conversion;
mod filter;
mod finding;
mod first;
mod inside;
mod leftovers;
mod level;
mod map;
mod map_evidence;
mod meta;
mod pak;
mod pak_evidence;
mod report;
mod rows;
mod semantic;
mod stream;
mod table;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::bytes::Span;
use crate::damage::{Code, Damage};
use crate::godot::region::{Header, MAX_HEADER_BYTES};
use crate::godot::slots::Slots;
use crate::save::{
    File, Forest, PakFile, Region, RegionFile, Room, SLOT_PROBES, Save, Scratch, StreamFile, View, slots_of_version,
};
use crate::source::{FileSource, OpenError, Source};
use crate::trace::quick::{self, Look};

pub use filter::Filter;
pub use finding::{BlockAt, Finding};
pub use inside::Inside;
pub use level::Level;
pub use map::layer_rows;
use report::Report;
pub use report::{Counts, Stats};
pub use rows::{FileTable, Row, rows, table};
pub(crate) use stream::batch as row_batch;

/// Files that are checked before their findings are handed out.
const WINDOW: usize = 64;

/// Tables from this size on are checked one at a time, so that no number of threads makes many of them stand in memory.
const LARGE_TABLE: u64 = 256 << 10;

/// Streams from this size on are checked one at a time, for the same reason.
const LARGE_STREAM: u64 = 64 << 20;

/// Findings of a window's files from which on its other files are checked one at a time, each after those before it
/// were handed out.
const HELD: usize = 20_000;

/// Blocks of one file that are examined before what they gave is turned into findings.
const BLOCKS: usize = 1 << 13;

/// How to check.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// How deep to look.
    pub level: Level,
    /// Stops the check soon after it is set.
    pub cancel: Option<&'a AtomicBool>,
    /// Told the number of bytes after each part of the save that was checked; their sum is about [`total_bytes`].
    pub progress: Option<&'a (dyn Fn(u64) + Sync)>,
}

impl Options<'_> {
    fn cancelled(&self) -> bool {
        self.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed))
    }

    fn advance(&self, bytes: u64) {
        if let Some(progress) = self.progress {
            progress(bytes);
        }
    }
}

/// What a check came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Findings by level.
    pub counts: Counts,
    /// Region files.
    pub files: u64,
    /// What was read of the blocks.
    pub stats: Stats,
    /// Files that could not be read, or changed while they were.
    pub unread: u64,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
}

/// What one look at a region says of its table; unclear too when anything above a note is wrong with it.
pub(crate) fn look<S: Source>(region: &Region<S>, cancel: Option<&AtomicBool>) -> Look {
    let mut report = Report::new("".into(), region.lod, 0);
    let options = Options { level: Level::Semantic, cancel, progress: None };
    check_region(region, &options, &mut report, None);
    if report.has_trouble() || options.cancelled() { Look::Unclear } else { report.look }
}

/// Bytes that a check of a save reads, as it tells its progress: those of all files that have blocks, and where the
/// sectors are walked over too, those of the region files a second time.
#[must_use]
pub fn total_bytes(save: &Save, level: Level) -> u64 {
    let walked: u64 = match level {
        Level::Semantic => save.regions().map(|(_, file)| file.len).sum(),
        _ => 0,
    };
    save.files().map(|file| file.len()).sum::<u64>().saturating_add(walked)
}

/// Checks a save with the threads of the current `rayon` pool, handing each finding to `sink`.
pub fn run(save: &Save, options: &Options<'_>, mut sink: impl FnMut(Finding)) -> Summary {
    let mut summary = Summary::default();
    for finding in of_save(save) {
        summary.counts.add(&finding);
        summary.unread += u64::from(finding.is_unread());
        sink(finding);
    }
    let files: Vec<File<'_>> = save.files().collect();
    // What the sectors say is told by all regions together, so it is asked before any of them is reported.
    let mut first = if options.level == Level::Semantic { first::look(save, &files, options) } else { first::none() };
    let again = Options { progress: options.progress.filter(|_| options.level < Level::Semantic), ..*options };
    for window in files.chunks(WINDOW) {
        let held = AtomicUsize::new(0);
        let early = |file: File<'_>| {
            if is_large(file) || first.has(file) || held.load(Ordering::Relaxed) >= HELD {
                return None;
            }
            let report = check_file(save, file, &again, &first.told);
            held.fetch_add(report.findings.len(), Ordering::Relaxed);
            Some(report)
        };
        let mut reports: Vec<Option<Report>> = window.par_iter().map(|file| early(*file)).collect();
        for (file, report) in window.iter().zip(&mut reports) {
            let report = report.take().or_else(|| first.take(*file));
            let report = report.unwrap_or_else(|| check_file(save, *file, &again, &first.told));
            summary.files += 1;
            summary.counts.merge(&report.counts);
            summary.stats.merge(&report.stats);
            summary.unread += report.unread;
            report.findings.into_iter().for_each(&mut sink);
        }
        if options.cancelled() {
            summary.interrupted = true;
            break;
        }
    }
    summary
}

/// What is wrong with a save as such: what could not be opened, and what a conversion left.
pub fn of_save(save: &Save) -> impl Iterator<Item = Finding> {
    let faults = save.faults.iter();
    let faults = faults.map(|f| Finding::of_file(save.shown(&f.path).into(), f.damage, f.detail.clone()));
    faults.chain(conversion::left(save))
}

/// Hands out what [`Level::Semantic`] has beyond [`Level::Decode`], for a save that was checked before: what the sectors
/// tell. `known` says whether an error about the block of a file was found then.
pub fn walk(
    save: &Save,
    options: &Options<'_>,
    known: impl Fn(&str, Option<[i32; 3]>) -> bool,
    mut sink: impl FnMut(Finding),
) -> Counts {
    let regions: Vec<File<'_>> = save.files().filter(|file| matches!(file, File::Region(..))).collect();
    let glance = Options { level: Level::Semantic, progress: None, ..*options };
    let told = semantic::ask(save, options, &first::glance(save, &regions, &glance, |_, _| {}));
    let mut counts = Counts::default();
    for file in save.files() {
        let name: Arc<str> = save.shown(&file.path()).into();
        for doubt in told.of(&file.path()) {
            if doubt.weak && known(&name, doubt.position) {
                continue;
            }
            let mut finding = Finding::of_file(Arc::clone(&name), doubt.damage, doubt.remark.clone());
            finding.block = Some(BlockAt { lod: file.lod(), position: doubt.position });
            counts.add(&finding);
            sink(finding);
        }
    }
    counts
}

/// Checks one open region; `name` is how findings call its file.
pub fn region<S: Source>(region: &Region<S>, name: &str) -> Vec<Finding> {
    let mut report = Report::new(name.into(), region.lod, region.limits.findings_per_file);
    check_region(region, &Options::default(), &mut report, None);
    report.finish();
    report.findings
}

/// Checks the bytes of a region file, its header first; `name` is how findings call it.
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
    let header = Header::decode(prefix, crate::bytes::len64(data), options.format.as_ref(), &mut damage);
    for damage in damage {
        report.file(damage, None);
    }
    match header.map(|header| Region::load(data, header, lod, position, options)) {
        None => {}
        Some(Ok(region)) => check_region(&region, &Options::default(), &mut report, None),
        Some(Err(error)) => report.unreadable(Span::default(), &error),
    }
    report.finish();
    report.findings
}

/// Checks the bytes of a pak region at a place; `name` is how findings call it.
pub fn pak_bytes(data: &[u8], name: &str, region: [i32; 3], options: &crate::save::Options) -> Vec<Finding> {
    let mut report = Report::new(name.into(), 0, options.limits.findings_per_file);
    let mut damage = Vec::new();
    let loaded = crate::save::Pak::load(data, region, &options.pak, &options.limits, &mut damage);
    for damage in damage {
        report.file(damage, None);
    }
    match loaded {
        Ok(None) => {}
        Ok(Some(region)) => pak::check(&region, &Options::default(), &mut report, None),
        Err(error) => report.unreadable(Span::default(), &error),
    }
    report.finish();
    report.findings
}

/// Checks the bytes of a stream; `name` is how findings call it.
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
        // Its keys are a table.
        File::Stream(file) => file.len >= LARGE_STREAM,
        File::Pak(..) | File::Map(_) => false,
    }
}

fn check_file(save: &Save, file: File<'_>, options: &Options<'_>, told: &semantic::Doubts) -> Report {
    let name: Arc<str> = save.shown(&file.path()).into();
    let mut report = Report::new(name, file.lod(), save.options.limits.findings_per_file);
    if options.cancelled() {
        return report;
    }
    check_into(save, file, options, &mut report, None);
    for doubt in told.of(&file.path()) {
        if doubt.weak && report.has_error_at(doubt.position) {
            continue;
        }
        if doubt.damage.code == Code::SlotsTold {
            report.file(doubt.damage, doubt.remark.clone());
        } else {
            report.placed(doubt.position, doubt.damage, doubt.remark.clone());
        }
    }
    report.finish();
    report
}

/// All rules over one file; `rows` takes its block table along, when it is wanted.
fn check_into(save: &Save, file: File<'_>, options: &Options<'_>, report: &mut Report, rows: Option<&mut Vec<Row>>) {
    let checked = match file {
        File::Region(forest, file) => check_region_file(save, forest, file, options, report, rows),
        File::Pak(room, file) => check_pak_file(save, room, file, options, report, rows),
        File::Stream(file) => check_stream_file(save, file, options, report, rows),
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

fn check_region_file(
    save: &Save,
    forest: &Forest,
    file: &RegionFile,
    options: &Options<'_>,
    report: &mut Report,
    rows: Option<&mut Vec<Row>>,
) -> Result<(), OpenError> {
    for damage in &file.damage {
        let mut detail = damage.span.is_empty().then(|| file.detail.clone()).flatten();
        if damage.code == Code::RegionNeverStored {
            detail = file.header.as_ref().and_then(|header| conversion::refused(&header.format));
        }
        report.file(*damage, detail);
    }
    meta::compare(forest, file, report);
    if options.level == Level::Header {
        options.advance(file.len);
        return Ok(());
    }
    match save.region(forest, file)? {
        None => options.advance(file.len),
        Some(mut region) => {
            if options.level < Level::Decode {
                check_structure(&mut region, report);
                options.advance(file.len);
            } else {
                check_region(&region, options, report, rows);
            }
            unchanged(&region.source, report);
        }
    }
    Ok(())
}

fn check_pak_file(
    save: &Save,
    room: &Room,
    file: &PakFile,
    options: &Options<'_>,
    report: &mut Report,
    rows: Option<&mut Vec<Row>>,
) -> Result<(), OpenError> {
    let mut damage = Vec::new();
    let region = save.pak(room, file, &mut damage)?;
    for damage in damage {
        report.file(damage, None);
    }
    match region {
        None => options.advance(file.len),
        Some(region) => {
            pak::check(&region, options, report, rows);
            unchanged(&region.source, report);
        }
    }
    Ok(())
}

fn check_stream_file(
    save: &Save,
    file: &StreamFile,
    options: &Options<'_>,
    report: &mut Report,
    rows: Option<&mut Vec<Row>>,
) -> Result<(), OpenError> {
    let mut damage = Vec::new();
    let stream = save.stream(file, &mut damage)?;
    for damage in damage {
        report.file(damage, None);
    }
    match stream {
        None => options.advance(file.len),
        Some(stream) => {
            stream::check(&stream, options, report, rows);
            unchanged(&stream.pages.source, report);
            if let Some(overlay) = &stream.pages.overlay {
                unchanged(&overlay.source, report);
            }
        }
    }
    Ok(())
}

fn unchanged(source: &FileSource, report: &mut Report) {
    match source.changed() {
        Ok(false) => {}
        Ok(true) => report.file(Damage::new(Code::FileChanged, Span::default(), "file"), None),
        Err(error) => report.unreadable(Span::default(), &error),
    }
}

/// The rules over the table of one region, for which no block is decoded but the one that says which formula of slots
/// holds: without it the positions in the findings would be wrong.
fn check_structure<S: Source>(region: &mut Region<S>, report: &mut Report) {
    for damage in &region.damage {
        report.file(*damage, None);
    }
    let by_sector = region.by_sector();
    table::check(region, &by_sector, report);
    report.stats.blocks += by_sector.len() as u64;
    match region.slots(&mut Scratch::default()) {
        Ok(slots) => report.place(|slot| region.block_position(slot, slots)),
        Err(error) => report.unreadable(region.header.table, &error),
    }
}

/// All rules over one region; `rows` takes the block table along, when it is wanted.
fn check_region<S: Source>(
    region: &Region<S>,
    options: &Options<'_>,
    report: &mut Report,
    mut rows: Option<&mut Vec<Row>>,
) {
    let by_sector = region.by_sector();
    for damage in &region.damage {
        report.file(*damage, None);
    }
    table::check(region, &by_sector, report);

    report.stats.blocks += by_sector.len() as u64;
    if let Some(rows) = rows.as_deref_mut() {
        rows.reserve_exact(by_sector.len());
    }
    // Blocks that no entry points to have no row.
    let leftovers = rows.is_none() || report.keeps_findings();
    let mut sizes = Vec::new();
    let (mut versions, mut probed) = (0u8, None);
    let mut prints = Vec::new();
    let keep = |view: io::Result<View<'_>>| match options.level {
        Level::Semantic => blocks::Outcome::with_print(view, region.header.format.sector_size),
        _ => blocks::Outcome::of(view),
    };
    let blocks = by_sector.chunks(BLOCKS).flat_map(|part| blocks::examine(region, part, options, keep));
    for (i, (listed, block)) in by_sector.iter().zip(blocks).enumerate() {
        if let Some(rows) = rows.as_deref_mut() {
            rows.push(Row::new(report.name(), region.lod, *listed, block.as_ref()));
        }
        let Some(block) = block else { continue };
        versions |= 1u8.checked_shl(u32::from(block.version)).unwrap_or(0);
        if i < SLOT_PROBES && probed.is_none() && block.version > 0 {
            probed = Some(block.version);
        }
        if leftovers {
            sizes.push((block.size, *listed));
        }
        prints.extend(block.print.map(|print| (listed.entry.first(), listed.entry.count().into(), print)));
        report.stats.add(&block);
        report.block(listed.slot, block);
    }
    // A block that was left out leaves a hole in the row.
    let look = quick::look(&prints, region.sectors_in_file());
    report.look = if report.has_trouble() { Look::Unclear } else { look };
    if leftovers {
        leftovers::check(region, &by_sector, sizes, options, report);
    }
    name_blocks(region, versions, probed, report, rows);
}

/// Gives findings the positions of their blocks, once the blocks' versions have told which formula placed them.
fn name_blocks<S: Source>(
    region: &Region<S>,
    versions: u8,
    probed: Option<u8>,
    report: &mut Report,
    rows: Option<&mut Vec<Row>>,
) {
    let known = region.known_slots();
    let slots = known.unwrap_or_else(|| slots_of_version(probed));
    if let Some(rows) = rows {
        rows.sort_unstable_by_key(|row| row.slot);
        for row in rows.iter_mut() {
            row.position = region.block_position(row.slot, slots);
        }
        report.give_codes(rows);
    }
    report.place(|slot| region.block_position(slot, slots));
    if !region.is_negative() || region.entries.is_empty() {
        return;
    }
    let span = region.header.table;
    if slots == Slots::Old {
        report.file(Damage::new(Code::SlotsOld, span, "table of blocks"), None);
    }
    let (old, new) = (versions & 0b0_1110 != 0, versions & 0b1_0000 != 0);
    if known.is_none() && old && new {
        report.file(Damage::new(Code::SlotsMixed, span, "table of blocks"), None);
    }
}
