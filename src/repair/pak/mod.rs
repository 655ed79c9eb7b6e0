//! Deciding what is done with pak regions: copied, or built anew from the chunks that can be used.
//!
//! A record is put right where the stream proves it; a chunk that is damaged, or that several records claim, is left out
//! and kept in `lost+found`. What is a matter of the format and not of the bytes (a shape that is not known, a version)
//! is copied as it is: leaving it out would lose what is whole.

mod report;
mod write;

use std::path::PathBuf;

use rayon::prelude::*;

use crate::beside;
use crate::bytes::{Span, index};
use crate::damage::Code;
use crate::pak::header::Header;
use crate::pak::record::Record;
use crate::repair::out::below;
use crate::repair::{Action, Certainty, Error, Options};
use crate::save::{Pak, PakFile, Room, Save};
use crate::source::{FileSource, Source};
use crate::trace::pak::{self, Told, Verdict};

pub(super) use report::{json, words};
pub(super) use write::write;

/// Bytes that streams may decode to while the blocks of one file are looked through, and how many more for each byte of
/// the file: chunks of real files decompress to a tenth of that. What is not looked at stays among the other bytes.
const BUDGET: u64 = 1 << 30;
const EXPANSION: u64 = 64;

/// A chunk that is written.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// Its record.
    pub record: u32,
    /// Its coordinates, where the file's records have any.
    pub position: Option<[i32; 3]>,
    /// Its stream in the source.
    pub span: Span,
    /// Why its record had to be put right, if it had.
    pub put_right: Option<&'static str>,
    /// How sure it is. One whose checksum does not fit is likely.
    pub certainty: Certainty,
    /// Whether its checksum is written anew.
    pub new_checksum: bool,
}

/// A chunk that the records have and that is left out.
#[derive(Clone, Debug)]
pub struct Missing {
    /// Its record.
    pub record: u32,
    /// The record as it stands in the source.
    pub listed: Record,
    /// Its coordinates, where the file's records have any.
    pub position: Option<[i32; 3]>,
    /// What is known of it.
    pub why: &'static str,
}

/// A chunk, or a part of one, that goes to `lost+found`.
#[derive(Clone, Debug)]
pub struct Lost {
    /// Its bytes in the source.
    pub span: Span,
    /// Bytes that it decompresses to, as far as it goes.
    pub plain: u64,
    /// Whether it decodes to its end with a checksum that fits.
    pub whole: bool,
    /// The record that it is of, where that is known.
    pub record: Option<u32>,
    /// The records that it may be of, with their coordinates and probabilities.
    pub candidates: Vec<(u32, Option<[i32; 3]>, f64)>,
}

/// What is done with a pak region.
#[derive(Debug)]
pub struct PakPlan {
    /// Its path below the save.
    pub name: PathBuf,
    /// Where it is.
    pub path: PathBuf,
    /// What is done.
    pub action: Action,
    /// Why, in words.
    pub why: &'static str,
    /// The header that is written, when it is built anew.
    pub header: Option<Header>,
    /// Fields of the header that are put right: name, number in the source, number in the result.
    pub fields: Vec<(&'static str, i32, i32)>,
    /// The chunks that are written, in the order of their places in the source.
    pub chunks: Vec<Chunk>,
    /// What is left out.
    pub missing: Vec<Missing>,
    /// What goes to `lost+found`.
    pub lost: Vec<Lost>,
    /// Header and records of the source, when it is built anew.
    pub head: Span,
    /// Other bytes that are not zero and belong to nothing; they go to `lost+found` in one file.
    pub rest: Vec<Span>,
}

impl PakPlan {
    /// A file that is taken, or set aside, as it is.
    fn whole(name: PathBuf, path: PathBuf, action: Action, why: &'static str) -> Self {
        Self {
            name,
            path,
            action,
            why,
            header: None,
            fields: Vec::new(),
            chunks: Vec::new(),
            missing: Vec::new(),
            lost: Vec::new(),
            head: Span::default(),
            rest: Vec::new(),
        }
    }

    /// Whether something could not be brought back.
    #[must_use]
    pub fn leaves_damage(&self) -> bool {
        self.action == Action::SetAside || !self.missing.is_empty() || !self.lost.is_empty()
    }
}

/// Reads the pak regions of a save and decides what is done with each.
pub(super) fn plan(save: &Save, options: &Options<'_>) -> Result<Vec<PakPlan>, Error> {
    let files: Vec<(&Room, &PakFile)> =
        save.rooms.iter().flat_map(|room| room.files.iter().map(move |file| (room, file))).collect();
    files.into_par_iter().map(|(room, file)| one(save, room, file, options)).collect()
}

fn one(save: &Save, room: &Room, file: &PakFile, options: &Options<'_>) -> Result<PakPlan, Error> {
    options.go_on()?;
    let path = room.dir.join(&file.name);
    let name = below(&save.path, &path);
    let whole = |action, why| PakPlan::whole(name.clone(), path.clone(), action, why);
    let aside = |why| whole(Action::SetAside, why);
    // Of a file that was named itself, its name does not matter.
    if save.path.is_dir() {
        let odd = save.faults.iter().find(|fault| fault.path == path).map(|fault| fault.damage.code);
        match odd {
            Some(Code::PakName) => return Ok(aside("the game does not look for a file of this name")),
            Some(Code::PakDuplicate) => return Ok(aside("another file has the name of its region")),
            _ => {}
        }
    }
    let failed = |source| beside::Error::Open { path: path.clone(), source };
    let Some(pak) = save.pak(room, file, &mut Vec::new()).map_err(failed)? else {
        return Ok(aside("it ends inside its header"));
    };
    let stop = || options.go_on().is_err();
    let budget = pak.source.len().saturating_mul(EXPANSION).saturating_add(BUDGET);
    let how = pak::Options { budget, stop: &stop };
    let told = pak::read(&pak, &how).map_err(beside::Error::read(&path))?;
    options.go_on()?;
    if pak.source.changed().map_err(beside::Error::read(&path))? {
        return Err(beside::Error::Changed(path).into());
    }
    let plan = whole(Action::Copy, "healthy");
    if told.is_sound() {
        return Ok(plan);
    }
    let mut plan = rebuilt(plan, &pak, &told, options);
    plan.rest = rest(&plan, &pak.source).map_err(beside::Error::read(&path))?;
    Ok(plan)
}

fn rebuilt(mut plan: PakPlan, pak: &Pak<FileSource>, told: &Told, options: &Options<'_>) -> PakPlan {
    let position =
        |record| crate::pak::place::Grid::of(told.layout.count).and_then(|grid| grid.value.chunk(pak.region, record));
    plan.action = Action::Rebuild;
    plan.why =
        if told.as_declared { "its records do not fit its chunks" } else { "its header does not fit its chunks" };
    if !told.as_declared {
        let (old, new) = (&pak.header, &told.header);
        let fields = [
            ("record_count", old.record_count, new.record_count),
            ("first_block_offset", old.first_block_offset, new.first_block_offset),
        ];
        plan.fields = fields.into_iter().filter(|(_, old, new)| old != new).collect();
    }
    plan.header = Some(told.header);
    plan.head = Span::new(0, told.layout.end().min(pak.source.len()));
    for &(record, listed, verdict) in &told.records {
        let chunk = |span, put_right| Chunk {
            record,
            position: position(record),
            span,
            put_right,
            certainty: Certainty::Certain,
            new_checksum: false,
        };
        let mut leave = |why| plan.missing.push(Missing { record, listed, position: position(record), why });
        let part = |stream: pak::Stream, whole| Lost {
            span: stream.span,
            plain: stream.plain,
            whole,
            record: Some(record),
            candidates: Vec::new(),
        };
        match verdict {
            Verdict::Fits(stream) => plan.chunks.push(chunk(stream.span, None)),
            Verdict::Over(span) => plan.chunks.push(chunk(span, None)),
            Verdict::Mended(stream, why) => plan.chunks.push(chunk(stream.span, Some(why))),
            Verdict::Checksum(stream) if options.likely => plan.chunks.push(Chunk {
                certainty: Certainty::Likely,
                new_checksum: true,
                ..chunk(stream.span, Some("its checksum was another than that of its bytes"))
            }),
            Verdict::Checksum(stream) => {
                leave("its checksum does not fit");
                plan.lost.push(part(stream, false));
            }
            Verdict::Part(stream, why) => {
                leave(why);
                plan.lost.push(part(stream, false));
            }
            Verdict::Shared(_) => leave("another record has as good a claim to its chunk"),
            Verdict::Lost(why) => leave(why),
        }
    }
    for orphan in &told.orphans {
        let candidates = orphan.candidates.iter().map(|(record, p)| (*record, position(*record), *p)).collect();
        let pak::Stream { span, plain, .. } = orphan.stream;
        plan.lost.push(Lost { span, plain, whole: true, record: None, candidates });
    }
    // Several records may name one damaged stream.
    plan.lost.sort_by_key(|lost| (lost.span.start, lost.record));
    plan.lost.dedup_by_key(|lost| lost.span.start);
    plan.chunks.sort_by_key(|chunk| (chunk.span.start, chunk.record));
    plan
}

/// What is neither written nor kept as a chunk, and not zero.
fn rest(plan: &PakPlan, source: &FileSource) -> std::io::Result<Vec<Span>> {
    let mut used: Vec<Span> = plan.chunks.iter().map(|c| c.span).chain(plan.lost.iter().map(|l| l.span)).collect();
    used.push(plan.head);
    used.sort_unstable();
    used.push(Span::new(source.len(), source.len()));
    let (mut at, mut spans, mut buffer) = (0u64, Vec::<Span>::new(), Vec::new());
    for span in used {
        while at < span.start {
            // No hole of a sparse file is read.
            at = source.next_data(at).clamp(at, span.start);
            let len = (span.start - at).min(crate::pak::BLOCK_BYTES - at % crate::pak::BLOCK_BYTES);
            source.read_into(at, index(len), &mut buffer)?;
            if let Some(first) = buffer.iter().position(|b| *b != 0) {
                let last = buffer.iter().rposition(|b| *b != 0).unwrap_or(first);
                let found = Span::new(at + first as u64, at + last as u64 + 1);
                match spans.last_mut() {
                    Some(before) if before.end == found.start => before.end = found.end,
                    _ => spans.push(found),
                }
            }
            at += len.max(1);
        }
        at = at.max(span.end);
    }
    Ok(spans)
}
