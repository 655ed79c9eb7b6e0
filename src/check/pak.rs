//! Rules over a pak region: its records, whom its blocks belong to, and every chunk.

use std::cell::RefCell;

use rayon::prelude::*;

use crate::bytes::Span;
use crate::check::blocks::Outcome;
use crate::check::{Options, Report, Row};
use crate::damage::{Code, Damage, Value};
use crate::pak::place;
use crate::pak::record::{self, Record};
use crate::save::{Pak, PakScratch, PakView};
use crate::source::Source;

/// How chunks are packed.
pub(super) const CONTAINER: &str = "zlib";

/// Chunks that are examined before what they gave is turned into findings.
const CHUNKS: usize = 1 << 12;

thread_local! {
    static SCRATCH: RefCell<PakScratch> = RefCell::default();
}

pub(super) fn check<S: Source>(
    pak: &Pak<S>,
    options: &Options<'_>,
    report: &mut Report,
    mut rows: Option<&mut Vec<Row>>,
) {
    for damage in &pak.damage {
        report.file(*damage, None);
    }
    if let Some(damage) = place::check_name(pak.region, pak.header.records().value) {
        report.file(damage, None);
    }
    let mut chunks: Vec<Claim> = pak.present().map(|(number, record)| Claim::of(pak, number, record)).collect();
    chunks.sort_by_key(|claim| (claim.blocks.start, claim.number));
    overlaps(&mut chunks, report);
    for part in chunks.chunks(CHUNKS) {
        let outcomes: Vec<Option<Outcome>> = part.par_iter().map(|claim| examine(pak, claim, options)).collect();
        for (claim, outcome) in part.iter().zip(outcomes) {
            report.stats.blocks += 1;
            if let Some(rows) = rows.as_deref_mut() {
                rows.push(row(pak, report, claim, outcome.as_ref()));
            }
            let Some(outcome) = outcome else { continue };
            report.stats.add(&outcome);
            report.block(claim.number, outcome);
        }
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
    /// Whether its data begins where that of an earlier claim does: it is decoded once only, so that no number of
    /// records can make one chunk be decoded again and again.
    again: bool,
}

impl Claim {
    fn of<S: Source>(pak: &Pak<S>, number: u32, record: Record) -> Self {
        let located = pak.locate(number, record, &mut Vec::new());
        Self { number, record, blocks: located.map_or_else(Span::default, |l| l.blocks), again: false }
    }
}

/// Claims in the order of their blocks: each that begins before the furthest end so far overlaps its owner.
fn overlaps(chunks: &mut [Claim], report: &mut Report) {
    let mut reach: Option<(Span, u32)> = None;
    for claim in chunks.iter_mut().filter(|claim| !claim.blocks.is_empty()) {
        if let Some((other, owner)) = reach
            && claim.blocks.start < other.end
        {
            claim.again = claim.blocks.start == other.start;
            let shared = Span::new(claim.blocks.start, claim.blocks.end.min(other.end));
            let damage = Damage::new(Code::PakOverlap, shared, "blocks of the record")
                .expected(Value::Words("blocks of its own"))
                .found(Value::Bytes(shared.len()));
            report.slot(claim.number, damage, Some(format!("They are shared with record {owner}.")));
        }
        if reach.is_none_or(|(other, _)| claim.blocks.end > other.end) {
            reach = Some((claim.blocks, claim.number));
        }
    }
}

fn examine<S: Source>(pak: &Pak<S>, claim: &Claim, options: &Options<'_>) -> Option<Outcome> {
    if options.cancelled() || claim.again {
        return None;
    }
    options.advance(claim.blocks.len().min(pak.source.len()));
    SCRATCH.with_borrow_mut(|scratch| {
        let view = pak.view(claim.number, claim.record, scratch);
        let version = u8::try_from(pak.header.version).unwrap_or(0);
        Some(match view {
            Ok(view) => outcome(&view, claim, version),
            Err(error) => Outcome { error: Some(error), stored: claim.blocks, ..Outcome::default() },
        })
    })
}

fn outcome(view: &PakView<'_>, claim: &Claim, version: u8) -> Outcome {
    // Where nothing is located, the damage lies in the record itself.
    let stored = view.located.map_or(record::span(claim.number), |located| located.stored);
    Outcome {
        size: u32::try_from(stored.len()).unwrap_or(u32::MAX),
        stored,
        plain: view.payload.map_or(0, |payload| payload.plain.len() as u64),
        container: view.payload.map(|_| CONTAINER),
        version,
        damage: view.damage.to_vec(),
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
        codes: Vec::new(),
        flags: None,
    }
}
