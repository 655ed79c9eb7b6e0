//! Rules over a pak region: its records, the owners of its blocks, and every chunk.

mod copies;
mod evidence;

use std::cell::RefCell;
use std::io;

pub(super) use self::copies::copied as copied_files;
use self::evidence::Evidence;
pub(super) use self::evidence::{chunks_of_others, uncounted_words};
use crate::bytes::Span;
use crate::check::outcome::Outcome;
use crate::check::row::sector_at;
use crate::check::{Inside, Level, Options, Report, Row, TakeRows, copied, unchanged};
use crate::damage::{Code, CodeSet, Damage, Level as Severity, Value};
use crate::limits::Limits;
use crate::pak::place;
use crate::pak::record::{self, Record};
use crate::parallel;
use crate::save::{Pak, PakDir, PakFile, PakScratch, PakView, Save};
use crate::source::{OpenError, Source};

/// The compression of chunks.
pub(super) const CONTAINER: &str = "zlib";

/// Number of chunks that are examined before their results become findings.
const CHUNKS: usize = 1 << 12;

/// Chunks with more stored bytes than this, or that decompress to more than [`LARGE_PLAIN`], are examined one at a time;
/// chunks of the game take a quarter of it.
const LARGE: u64 = 1 << 20;
const LARGE_PLAIN: u64 = 1 << 20;

thread_local! {
    static SCRATCH: RefCell<PakScratch> = RefCell::default();
}

/// All rules over one file of a pak directory.
pub(super) fn check_file(
    save: &Save,
    pak_dir: &PakDir,
    file: &PakFile,
    options: &Options<'_>,
    report: &mut Report,
    rows: Option<&mut dyn TakeRows>,
) -> Result<(), OpenError> {
    let mut damage = Vec::new();
    let region = save.pak(pak_dir, file, &mut damage)?;
    for damage in damage {
        report.file(damage, None);
    }
    match region {
        None => options.advance(file.len),
        Some(region) => {
            check(&region, options, report, rows);
            different_size(&region, pak_dir, report);
            copied::cut(&region.source, report);
            unchanged(&region.source, report);
        }
    }
    Ok(())
}

/// Compares the number of records with that of most files of the room.
fn different_size<S: Source>(pak: &Pak<S>, pak_dir: &PakDir, report: &mut Report) {
    let records = pak.header.records().value;
    let sound = pak.damage.iter().all(|d| !matches!(d.code, Code::PakRecordCount | Code::PakCountLow));
    if let Some(usual) = pak_dir.usual_records.filter(|usual| sound && *usual != records) {
        let damage = Damage::new(Code::PakSizesDiffer, Span::sized(8, 4), "number of records");
        report.file(damage.expected(Value::Number(usual.into())).found(Value::Number(records.into())), None);
    }
}

pub(super) fn check<S: Source>(
    pak: &Pak<S>,
    options: &Options<'_>,
    report: &mut Report,
    mut rows: Option<&mut dyn TakeRows>,
) {
    let place = place::check_name(pak.region, pak.header.records().value);
    if options.level == Level::Header {
        pak.damage.iter().copied().chain(place).for_each(|damage| report.file(damage, None));
        options.advance(pak.source.len());
        return;
    }
    let zeroed = pak.zeroed_runs();
    let present = pak.present().filter(|(number, _)| !record::is_in_run(&zeroed, *number));
    let mut chunks: Vec<Claim> = present.map(|(number, record)| Claim::locate(pak, number, record)).collect();
    chunks.sort_by_key(|claim| (claim.blocks.start, claim.number));
    for run in &zeroed {
        let span = Span::new(record::span(run.start).start, record::span(run.end).start);
        copied::report_zeroed_run(span, report);
    }
    let shared = overlaps(pak, &chunks);
    if options.level < Level::Decode {
        pak.damage.iter().copied().chain(place).for_each(|damage| report.file(damage, None));
        shared.into_iter().for_each(|(number, damage, remark)| report.slot(number, damage, Some(remark)));
        report.stats.blocks += chunks.len() as u64;
        report.place(|number| pak.chunk(number));
        options.advance(pak.source.len());
        return;
    }
    // Damage of a chunk is reported after the whole file was analysed.
    let mut wrong = Vec::new();
    for part in chunks.chunks(CHUNKS) {
        let outcomes = parallel::map(part, |claim| examine(pak, claim, options));
        for (claim, outcome) in part.iter().zip(outcomes) {
            report.stats.blocks += 1;
            if let Some(rows) = rows.as_deref_mut() {
                let row = row(pak, report, claim, outcome.as_ref());
                // The same bytes have the same chunk.
                let same = rows.last().filter(|last| outcome.is_none() && last.offset == row.offset);
                let same = same.filter(|last| last.bytes == row.bytes);
                rows.push(match same {
                    Some(Row { plain, container, known, .. }) => Row { plain, container, known, ..row },
                    None => row,
                });
            }
            let Some(outcome) = outcome else { continue };
            report.stats.add(&outcome);
            if outcome.error.is_some() || !outcome.damage.is_empty() {
                wrong.push((claim.number, outcome));
            }
        }
    }
    let trouble = !shared.is_empty()
        || !zeroed.is_empty()
        || pak.damage.iter().chain(wrong.iter().flat_map(|(_, o)| &o.damage)).any(|d| d.code.level() > Severity::Note);
    let evidence = match report.keeps_findings() {
        true => Evidence::gather(pak, trouble, options).unwrap_or_else(|error| {
            report.unreadable(Span::default(), &error);
            None
        }),
        false => None,
    };
    for damage in &pak.damage {
        report.file(*damage, evidence.as_ref().and_then(|e| e.of_header(pak, damage.code)));
    }
    place.into_iter().for_each(|damage| report.file(damage, None));
    shared.into_iter().for_each(|(number, damage, remark)| report.slot(number, damage, Some(remark)));
    for (number, mut outcome) in wrong {
        outcome.is_found = evidence.as_ref().is_some_and(|e| e.has_chunk(number));
        outcome.remark = evidence.as_ref().and_then(|e| e.describe_record(number));
        report.block(number, outcome);
    }
    if let Some(evidence) = evidence {
        evidence.leftovers(pak, report);
    }
    if let Some(rows) = rows {
        rows.arrange(report.codes(), None);
    }
    report.place(|number| pak.chunk(number));
}

/// A record and the blocks that it claims.
struct Claim {
    number: u32,
    record: Record,
    blocks: Span,
    /// The bytes of its stream.
    stored: Span,
    /// Whether it is not examined, because another record claims the same bytes: this way a file cannot make the
    /// checker decode the same bytes many times. It has a finding of its own.
    again: bool,
}

impl Claim {
    fn locate<S: Source>(pak: &Pak<S>, number: u32, record: Record) -> Self {
        let located = pak.locate(number, record, &mut Vec::new());
        let again = pak.overlap(number).is_some_and(|overlap| overlap.is_repeated);
        let (blocks, stored) = located.map_or_else(Default::default, |l| (l.blocks, l.stored));
        Self { number, record, blocks, stored, again }
    }
}

/// The findings about records that claim blocks of others, in the order of the blocks.
fn overlaps<S: Source>(pak: &Pak<S>, chunks: &[Claim]) -> Vec<(u32, Damage, String)> {
    let shared = chunks.iter().filter_map(|claim| pak.overlap(claim.number));
    shared.map(|shared| (shared.record, shared.damage, shared.words())).collect()
}

fn examine<S: Source>(pak: &Pak<S>, claim: &Claim, options: &Options<'_>) -> Option<Outcome> {
    if options.cancelled() || claim.again {
        return None;
    }
    options.advance(claim.blocks.len().min(pak.source.len()));
    let small = Limits { block_bytes: pak.limits.block_bytes.min(LARGE_PLAIN), ..pak.limits };
    let first = (claim.blocks.len() <= LARGE).then(|| {
        SCRATCH.with_borrow_mut(|scratch| {
            outcome(pak.view_within(claim.number, claim.record, &small, scratch), pak, claim)
        })
    });
    let over = |outcome: &Outcome| outcome.damage.iter().any(|damage| damage.code == Code::OverLimit);
    Some(first.filter(|outcome| small == pak.limits || !over(outcome)).unwrap_or_else(|| {
        PakScratch::large(|scratch| {
            outcome(pak.view_within(claim.number, claim.record, &pak.limits, scratch), pak, claim)
        })
    }))
}

fn outcome<S: Source>(view: io::Result<PakView<'_>>, pak: &Pak<S>, claim: &Claim) -> Outcome {
    let view = match view {
        Ok(view) => view,
        Err(error) => return Outcome { error: Some(error), stored: claim.blocks, ..Outcome::default() },
    };
    // If the record locates nothing, the finding points to the record.
    let stored = view.located.map_or(record::span(claim.number), |located| located.stored);
    Outcome {
        size: u32::try_from(stored.len()).unwrap_or(u32::MAX),
        stored,
        plain: view.payload.map_or(0, |payload| payload.plain.len() as u64),
        container: view.payload.map(|_| CONTAINER),
        version: u8::try_from(pak.header.version).unwrap_or(0),
        // What it shares with other records is reported apart.
        damage: view.damage.iter().filter(|damage| damage.code != Code::PakOverlap).copied().collect(),
        inside: Inside { size: view.shape.as_ref().map(|shape| shape.value.size), ..Inside::default() },
        ..Outcome::default()
    }
}

fn row<S: Source>(pak: &Pak<S>, report: &Report, claim: &Claim, outcome: Option<&Outcome>) -> Row {
    let block = |n: u64| u32::try_from(n / crate::pak::BLOCK_BYTES).unwrap_or(u32::MAX);
    let offset = pak.source.stored_offset(claim.blocks.start);
    Row {
        file: report.name(),
        lod: 0,
        position: pak.chunk(claim.number),
        slot: claim.number,
        sector: sector_at(offset, block(claim.blocks.start), 0, crate::pak::BLOCK_BYTES),
        sectors: block(claim.blocks.len()),
        offset,
        bytes: outcome.map_or(claim.stored.len(), |outcome| outcome.stored.len()),
        plain: outcome.map_or(0, |outcome| outcome.plain),
        version: u8::try_from(pak.header.version).ok(),
        container: outcome.and_then(|outcome| outcome.container),
        codes: CodeSet::default(),
        flags: None,
        instances: None,
        known: Inside { size: outcome.and_then(|outcome| outcome.inside.size), ..Inside::NOTHING }.boxed(),
        key: None,
    }
}
