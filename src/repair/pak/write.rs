//! Writes pak regions: the records and the chunks in order, and everything else to `lost+found`.

use serde::Serialize;

use crate::bytes::{Span, index};
use crate::draft::{Draft, Error, Input, Writer};
use crate::limits::Limits;
use crate::pak::BLOCK_BYTES;
use crate::pak::header::Header;
use crate::pak::payload::{Decoder, adler32};
use crate::pak::record::{Record, blocks_for};
use crate::parallel;
use crate::repair::Action;
use crate::repair::lost::rounded;
use crate::repair::out::{aside, json as pretty, lost_name};
use crate::repair::pak::{Lost, PakPlan};
use crate::source::Source;

pub(in crate::repair) fn write(draft: &Draft<'_>, plans: &[PakPlan], limits: &Limits) -> Result<(), Error> {
    parallel::try_each(plans, |plan| match plan.action {
        // Backups are not used for pak regions, and a region whose bytes were restored is built anew.
        Action::Copy | Action::FromBackup | Action::Restore => draft.copy(&plan.path, &plan.name),
        Action::SetAside => draft.copy(&plan.path, &aside(draft, &plan.name)),
        Action::Rebuild => rebuild(draft, plan, limits),
    })
}

/// Writes only what the plans set aside.
pub(in crate::repair) fn write_lost(draft: &Draft<'_>, plans: &[PakPlan], limits: &Limits) -> Result<(), Error> {
    parallel::try_each(plans, |plan| match plan.action {
        Action::SetAside => draft.copy(&plan.path, &aside(draft, &plan.name)),
        Action::Rebuild if plan.header.is_some() => keep_all(draft, plan, &open(plan, limits)?, limits),
        _ => Ok(()),
    })
}

fn rebuild(draft: &Draft<'_>, plan: &PakPlan, limits: &Limits) -> Result<(), Error> {
    let Some(header) = &plan.header else { return Ok(()) };
    let input = open(plan, limits)?;
    if !plan.chunks.is_empty() {
        let mut out = Writer::new(draft, &plan.name)?;
        pack(&mut out, header, plan, &input, limits)?;
        out.done()?;
    }
    keep_all(draft, plan, &input, limits)?;
    input.unchanged()
}

/// The files in `lost+found` of a region that is built anew.
fn keep_all(draft: &Draft<'_>, plan: &PakPlan, input: &Input, limits: &Limits) -> Result<(), Error> {
    let mut head = Writer::new(draft, &lost_name(draft, &plan.name, ".head.bin"))?;
    head.span(input, plan.head)?;
    head.done()?;
    parallel::try_each(&plan.lost, |lost| keep(draft, plan, lost, input, limits))?;
    if !plan.rest.is_empty() {
        let mut out = Writer::new(draft, &lost_name(draft, &plan.name, ".rest.bin"))?;
        plan.rest.iter().try_for_each(|span| out.span(input, *span))?;
        out.done()?;
        let pieces: Vec<[u64; 2]> = plan.rest.iter().map(|span| [span.start, span.end]).collect();
        let about = RestReport { file: crate::printable::path(&plan.name), bytes: pieces };
        draft.file(&lost_name(draft, &plan.name, ".rest.json"), &pretty(&about))?;
    }
    Ok(())
}

/// Where a pak region is written.
trait Sink {
    fn put(&mut self, bytes: &[u8]) -> Result<(), Error>;
    fn zeros(&mut self, count: u64) -> Result<(), Error>;
    fn span(&mut self, from: &Input, span: Span) -> Result<(), Error>;
}

impl Sink for Writer<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        Writer::put(self, bytes)
    }

    fn zeros(&mut self, count: u64) -> Result<(), Error> {
        Writer::zeros(self, count)
    }

    fn span(&mut self, from: &Input, span: Span) -> Result<(), Error> {
        Writer::span(self, from, span)
    }
}

impl Sink for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.extend_from_slice(bytes);
        Ok(())
    }

    fn zeros(&mut self, count: u64) -> Result<(), Error> {
        self.resize(self.len() + index(count), 0);
        Ok(())
    }

    fn span(&mut self, from: &Input, span: Span) -> Result<(), Error> {
        from.each(span, |bytes| self.put(bytes))
    }
}

/// The bytes of a rebuilt file as they are written; `None` where none is.
pub(in crate::repair) fn as_written(plan: &PakPlan, limits: &Limits) -> Result<Option<Vec<u8>>, Error> {
    let Some(header) = plan.header.as_ref().filter(|_| !plan.chunks.is_empty()) else { return Ok(None) };
    let mut bytes = Vec::new();
    pack(&mut bytes, header, plan, &open(plan, limits)?, limits)?;
    Ok(Some(bytes))
}

fn open(plan: &PakPlan, limits: &Limits) -> Result<Input, Error> {
    let failed = |source| Error::Open { path: plan.path.clone(), source };
    let (source, _) = crate::save::open_pak(&plan.path, plan.reading, limits).map_err(failed)?;
    Ok(Input::new(&plan.path, source))
}

/// The header, the records, and the chunks in packed blocks, the last of each padded with zeros.
fn pack(out: &mut impl Sink, header: &Header, plan: &PakPlan, input: &Input, limits: &Limits) -> Result<(), Error> {
    let mut records = vec![Record::ABSENT; index(u64::from(header.records().value))];
    let mut first = 0u64;
    for chunk in &plan.chunks {
        let count = blocks_for(chunk.span.len());
        let record = Record {
            block_offset: i16::try_from(first).unwrap_or(i16::MAX),
            block_length: i16::try_from(count).unwrap_or(i16::MAX),
            file_length: i32::try_from(chunk.span.len()).unwrap_or(i32::MAX),
        };
        if let Some(place) = records.get_mut(index(u64::from(chunk.record))) {
            *place = record;
        }
        first += count;
    }
    let mut head = Vec::new();
    header.encode(&mut head);
    records.iter().for_each(|record| head.extend(record.encode()));
    head.resize(index(header.end().next_multiple_of(BLOCK_BYTES)), 0);
    out.put(&head)?;
    for chunk in &plan.chunks {
        if chunk.new_checksum {
            out.put(&with_checksum(input, chunk.span, limits)?)?;
        } else {
            out.span(input, chunk.span)?;
        }
        out.zeros(chunk.span.len().next_multiple_of(BLOCK_BYTES) - chunk.span.len())?;
    }
    Ok(())
}

/// A zlib stream with the checksum of its content.
fn with_checksum(input: &Input, span: Span, limits: &Limits) -> Result<Vec<u8>, Error> {
    let (mut stored, mut decoder) = (Vec::new(), Decoder::default());
    input.read(span, &mut stored)?;
    let sum = adler32(decoder.decode(&stored, false, limits).report_to(&mut Vec::new()).plain);
    if let Some(end) = stored.last_chunk_mut() {
        *end = sum.to_be_bytes();
    }
    Ok(stored)
}

/// The description of the bytes that belong to nothing.
#[derive(Serialize)]
struct RestReport {
    file: String,
    bytes: Vec<[u64; 2]>,
}

/// The description of a chunk in `lost+found`.
#[derive(Serialize)]
struct ChunkReport {
    file: String,
    bytes: [u64; 2],
    plain: usize,
    whole: bool,
    record: Option<u32>,
    candidates: Vec<RecordCandidate>,
}

/// A record that a chunk may belong to.
#[derive(Serialize)]
struct RecordCandidate {
    record: u32,
    position: Option<[i32; 3]>,
    probability: f64,
}

/// A chunk in `lost+found`: its stored bytes, its decompressed bytes, and a description.
fn keep(draft: &Draft<'_>, plan: &PakPlan, lost: &Lost, input: &Input, limits: &Limits) -> Result<(), Error> {
    let name = |ending: &str| lost_name(draft, &plan.name, &format!(".byte-{:010}{ending}", lost.span.start));
    let mut stored = Vec::new();
    let span = Span::new(lost.span.start, lost.span.end.min(input.source.len()));
    if span.len() <= limits.stored_bytes {
        input.read(span, &mut stored)?;
        draft.file(&name(".zlib"), &stored)?;
    } else {
        let mut out = Writer::new(draft, &name(".zlib"))?;
        out.span(input, span)?;
        out.done()?;
        input.read(Span::sized(span.start, limits.stored_bytes), &mut stored)?;
    }
    let mut decoder = Decoder::default();
    let payload = decoder.decode(&stored, false, limits).report_to(&mut Vec::new());
    draft.file(&name(".bin"), payload.plain)?;
    let candidate = |&(record, position, p): &(u32, Option<[i32; 3]>, f64)| RecordCandidate {
        record,
        position,
        probability: rounded(p),
    };
    let about = ChunkReport {
        file: crate::printable::path(&plan.name),
        bytes: [span.start, span.end],
        plain: payload.plain.len(),
        whole: lost.whole,
        record: lost.record,
        candidates: lost.candidates.iter().map(candidate).collect(),
    };
    draft.file(&name(".json"), &pretty(&about))
}
