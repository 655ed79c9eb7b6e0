//! Rules over a pak region: its records, whom its blocks belong to, and every chunk.

use std::cell::RefCell;
use std::io;

use rayon::prelude::*;

use crate::bytes::Span;
use crate::check::blocks::Outcome;
use crate::check::pak_evidence::Evidence;
use crate::check::{Inside, Level, Options, Report, Row};
use crate::damage::{Code, CodeSet, Damage, Level as Severity, Value};
use crate::limits::Limits;
use crate::pak::place;
use crate::pak::record::{self, Record};
use crate::save::{Pak, PakScratch, PakView};
use crate::source::Source;

/// How chunks are packed.
pub(super) const CONTAINER: &str = "zlib";

/// Chunks that are examined before what they gave is turned into findings.
const CHUNKS: usize = 1 << 12;

/// Chunks that are stored in more than this, or decompress to more than [`LARGE_PLAIN`], are examined one at a time:
/// the chunks that the game writes take a quarter of it.
const LARGE: u64 = 1 << 20;
const LARGE_PLAIN: u64 = 1 << 20;

thread_local! {
    static SCRATCH: RefCell<PakScratch> = RefCell::default();
}

pub(super) fn check<S: Source>(
    pak: &Pak<S>,
    options: &Options<'_>,
    report: &mut Report,
    mut rows: Option<&mut Vec<Row>>,
) {
    let place = place::check_name(pak.region, pak.header.records().value);
    if options.level == Level::Header {
        pak.damage.iter().copied().chain(place).for_each(|damage| report.file(damage, None));
        options.advance(pak.source.len());
        return;
    }
    let mut chunks: Vec<Claim> = pak.present().map(|(number, record)| Claim::of(pak, number, record)).collect();
    chunks.sort_by_key(|claim| (claim.blocks.start, claim.number));
    let shared = overlaps(&mut chunks, pak.source.len());
    if options.level < Level::Decode {
        pak.damage.iter().copied().chain(place).for_each(|damage| report.file(damage, None));
        shared.into_iter().for_each(|(number, damage, remark)| report.slot(number, damage, Some(remark)));
        report.stats.blocks += chunks.len() as u64;
        report.place(|number| pak.chunk(number));
        options.advance(pak.source.len());
        return;
    }
    // What is wrong with a chunk is told once it is known what the whole file says of it.
    let mut wrong = Vec::new();
    for part in chunks.chunks(CHUNKS) {
        let outcomes: Vec<Option<Outcome>> = part.par_iter().map(|claim| examine(pak, claim, options)).collect();
        for (claim, outcome) in part.iter().zip(outcomes) {
            report.stats.blocks += 1;
            if let Some(rows) = rows.as_deref_mut() {
                rows.push(row(pak, report, claim, outcome.as_ref()));
            }
            let Some(outcome) = outcome else { continue };
            report.stats.add(&outcome);
            if outcome.error.is_some() || !outcome.damage.is_empty() {
                wrong.push((claim.number, outcome));
            }
        }
    }
    let trouble = !shared.is_empty()
        || pak.damage.iter().chain(wrong.iter().flat_map(|(_, o)| &o.damage)).any(|d| d.code.level() > Severity::Note);
    let evidence = match report.keeps_findings() {
        true => Evidence::ask(pak, trouble, options).unwrap_or_else(|error| {
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
        outcome.remark = evidence.as_ref().and_then(|e| e.of(number));
        report.block(number, outcome);
    }
    if let Some(evidence) = evidence {
        evidence.leftovers(pak, report);
    }
    if let Some(rows) = rows {
        rows.sort_unstable_by_key(|row| row.slot);
        report.give_codes(rows);
    }
    report.place(|number| pak.chunk(number));
}

/// A record and the blocks that it claims.
struct Claim {
    number: u32,
    record: Record,
    blocks: Span,
    /// Whether it is left alone, because what it claims is examined as another's: no number of records can make the
    /// same bytes be decoded again and again. It has a finding for it.
    again: bool,
}

impl Claim {
    fn of<S: Source>(pak: &Pak<S>, number: u32, record: Record) -> Self {
        let located = pak.locate(number, record, &mut Vec::new());
        Self { number, record, blocks: located.map_or_else(Span::default, |l| l.blocks), again: false }
    }
}

/// Claims in the order of their blocks: each that begins before the furthest end so far overlaps its owner. It is
/// examined all the same, unless the one before it begins there too, or those that overlap take more than the file.
fn overlaps(chunks: &mut [Claim], file_len: u64) -> Vec<(u32, Damage, String)> {
    let mut shared_ones = Vec::new();
    let mut reach: Option<(Span, u32)> = None;
    let (mut before, mut twice) = (None, 0u64);
    for claim in chunks.iter_mut().filter(|claim| !claim.blocks.is_empty()) {
        if let Some((other, owner)) = reach
            && claim.blocks.start < other.end
        {
            if before == Some(claim.blocks.start) {
                claim.again = true;
            } else {
                twice = twice.saturating_add(claim.blocks.end.min(file_len).saturating_sub(claim.blocks.start));
                claim.again = twice > file_len;
            }
            let shared = Span::new(claim.blocks.start, claim.blocks.end.min(other.end));
            let in_file = Span::new(shared.start.min(file_len), shared.end.min(file_len));
            // Beyond the end there is nothing to point at but the record.
            let span = if in_file.is_empty() { record::span(claim.number) } else { in_file };
            let damage = Damage::new(Code::PakOverlap, span, "blocks of the record")
                .expected(Value::Words("blocks of its own"))
                .found(Value::Bytes(shared.len()));
            shared_ones.push((claim.number, damage, format!("They are shared with record {owner}.")));
        }
        before = Some(claim.blocks.start);
        if reach.is_none_or(|(other, _)| claim.blocks.end > other.end) {
            reach = Some((claim.blocks, claim.number));
        }
    }
    shared_ones
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
    // Where nothing is located, the damage lies in the record itself.
    let stored = view.located.map_or(record::span(claim.number), |located| located.stored);
    Outcome {
        size: u32::try_from(stored.len()).unwrap_or(u32::MAX),
        stored,
        plain: view.payload.map_or(0, |payload| payload.plain.len() as u64),
        container: view.payload.map(|_| CONTAINER),
        version: u8::try_from(pak.header.version).unwrap_or(0),
        damage: view.damage.to_vec(),
        inside: Inside { size: view.shape.as_ref().map(|shape| shape.value.size), ..Inside::default() },
        ..Outcome::default()
    }
}

fn row<S: Source>(pak: &Pak<S>, report: &Report, claim: &Claim, outcome: Option<&Outcome>) -> Row {
    let block = |n: u64| u32::try_from(n / crate::pak::BLOCK_BYTES).unwrap_or(u32::MAX);
    Row {
        file: report.name(),
        lod: 0,
        position: pak.chunk(claim.number),
        slot: claim.number,
        sector: block(claim.blocks.start),
        sectors: block(claim.blocks.len()),
        bytes: outcome.map_or(0, |outcome| outcome.stored.len()),
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
