//! Plans the repair of pak regions: each is copied, or rebuilt from the chunks that can be used.
//!
//! A record is corrected if the zlib stream proves it. A chunk that is damaged, or that several records claim, is left out
//! and kept in `lost+found`. A finding about the format rather than the bytes (an unknown shape or version) changes
//! nothing: leaving out such a chunk would lose whole data.

mod report;
mod siblings;
mod write;

use std::collections::HashSet;
use std::path::PathBuf;

use crate::bytes::{Span, index};
use crate::damage::Code;
use crate::draft;
use crate::pak::chunk::shapes_of;
use crate::pak::header::Header;
use crate::pak::offset::Reading;
use crate::pak::place;
use crate::pak::record::{Record, is_in_run, zeroed_runs};
use crate::parallel;
use crate::printable::count;
use crate::recover::pak::{self, PakAnalysis, Verdict};
use crate::repair::listed::count_of;
use crate::repair::out::below;
use crate::repair::{Action, Certainty, Error, Options};
use crate::save::{Pak, PakDir, PakFile, REPORT, Save};
use crate::source::{FileSource, Source};

pub(super) use report::{reports, words};
pub(super) use write::{as_written, write, write_lost};

/// Decompressed bytes that the search of one file may cost, plus a number of bytes per byte of
/// the file: chunks of real files decompress to a tenth of that. Bytes that are not searched count as other bytes.
const BUDGET: u64 = 1 << 30;
const EXPANSION: u64 = 64;

/// A chunk that is written.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// Its record.
    pub record: u32,
    /// Its coordinates, if the file's records have positions.
    pub position: Option<[i32; 3]>,
    /// Its stream in the source.
    pub span: Span,
    /// Why its record was corrected, if it was.
    pub put_right: Option<&'static str>,
    /// Its certainty; `Likely` if its checksum does not match.
    pub certainty: Certainty,
    /// Whether its checksum is recomputed.
    pub new_checksum: bool,
}

/// A chunk of a record that is left out.
#[derive(Clone, Debug)]
pub struct Missing {
    /// Its record.
    pub record: u32,
    /// The record in the source.
    pub listed: Record,
    /// Its coordinates, if the file's records have positions.
    pub position: Option<[i32; 3]>,
    /// What is known about it.
    pub why: &'static str,
    /// Whether nothing shows that it had a chunk: it is one of many in a row that are zero. Totals do not count it.
    pub is_unknown: bool,
}

/// A chunk, or a part of one, that goes to `lost+found`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Lost {
    /// Its bytes in the source.
    pub span: Span,
    /// Its decompressed bytes, as far as it decodes.
    pub plain: u64,
    /// Whether it decodes to its end with a matching checksum.
    pub whole: bool,
    /// Its record, if known.
    pub record: Option<u32>,
    /// Candidate records, with their coordinates and probabilities.
    pub candidates: Vec<(u32, Option<[i32; 3]>, f64)>,
}

/// The plan for a pak region.
#[derive(Debug)]
#[non_exhaustive]
pub struct PakPlan {
    /// Its path below the save.
    pub name: PathBuf,
    /// Where it is.
    pub path: PathBuf,
    /// Whether `name` is another name than it has in the save.
    pub is_renamed: bool,
    /// The action.
    pub action: Action,
    /// Why, in words.
    pub why: &'static str,
    /// Whether nothing in it can be found, so that how many chunks it held is not known.
    pub is_unreadable: bool,
    /// The header that is written, if the file is rebuilt.
    pub header: Option<Header>,
    /// Fields of the header that are corrected: name, number in the source, number in the result.
    pub fields: Vec<(&'static str, i32, i32)>,
    /// The chunks that are written, in the order of their places in the source.
    pub chunks: Vec<Chunk>,
    /// Chunks that are left out.
    pub missing: Vec<Missing>,
    /// What goes to `lost+found`.
    pub lost: Vec<Lost>,
    /// Header and records of the source, if the file is rebuilt.
    pub head: Span,
    /// Other bytes that are not zero; they go to `lost+found` in one file.
    pub rest: Vec<Span>,
    /// How the first block is counted, if that was given: the bytes of the file are read as they were by that.
    reading: Option<Reading>,
}

impl PakPlan {
    /// How many of its chunks are written, in words.
    pub(super) fn written_words(&self) -> String {
        count_of(self.chunks.len(), self.chunks.len() + self.known_missing().count(), "chunk", "written")
    }

    /// The chunks that are left out, without those of records that nothing is known of.
    pub(super) fn known_missing(&self) -> impl Iterator<Item = &Missing> {
        self.missing.iter().filter(|missing| !missing.is_unknown)
    }

    /// The records in runs of zeros, in words; `None` if there are none.
    pub(super) fn unknown_words(&self) -> Option<String> {
        let n = self.missing.iter().filter(|missing| missing.is_unknown).count() as u64;
        let records = count(n, "record");
        (n > 0).then(|| format!("{records} in runs of zeros: whether they had chunks is not known"))
    }

    /// A file that is copied or set aside unchanged.
    fn whole(name: PathBuf, path: PathBuf, action: Action, why: &'static str) -> Self {
        Self {
            name,
            path,
            is_renamed: false,
            action,
            why,
            is_unreadable: false,
            header: None,
            fields: Vec::new(),
            chunks: Vec::new(),
            missing: Vec::new(),
            lost: Vec::new(),
            head: Span::default(),
            rest: Vec::new(),
            reading: None,
        }
    }

    /// Whether the file is copied byte by byte, under its own name.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        self.action == Action::Copy && !self.is_renamed
    }

    /// Whether something could not be recovered.
    #[must_use]
    pub fn leaves_damage(&self) -> bool {
        self.action == Action::SetAside || !self.missing.is_empty() || !self.lost.is_empty()
    }
}

/// Reads the pak regions of a save and plans each of them.
pub(super) fn plan(save: &Save, options: &Options<'_>) -> Result<Vec<PakPlan>, Error> {
    let files: Vec<(&PakDir, &PakFile)> =
        save.pak_dirs.iter().flat_map(|pak_dir| pak_dir.files.iter().map(move |file| (pak_dir, file))).collect();
    parallel::try_map(&files, |(pak_dir, file)| one(save, pak_dir, file, options))
}

fn one(save: &Save, pak_dir: &PakDir, file: &PakFile, options: &Options<'_>) -> Result<PakPlan, Error> {
    options.go_on()?;
    let path = pak_dir.dir.join(&file.name);
    let own_name = below(&save.path, &path);
    let mut name = own_name.clone();
    let aside = |why| PakPlan::whole(own_name.clone(), path.clone(), Action::SetAside, why);
    let unreadable = |why| PakPlan { is_unreadable: true, ..aside(why) };
    let odd = save.faults.iter().find(|fault| fault.path == path).map(|fault| fault.damage.code);
    match odd {
        Some(Code::PakName) => match right_name(pak_dir, file) {
            Some(right) => name = below(&save.path, &pak_dir.dir.join(right)),
            // The name of a file that was opened directly does not matter, nor that of its copy by a repair.
            None if !save.path.is_dir() || is_copy_of_one(save) => {}
            None => return Ok(aside("the game does not look for a file of this name")),
        },
        Some(Code::PakDuplicate) => return Ok(aside("another file has the name of its region")),
        _ => {}
    }
    let failed = |source| draft::Error::Open { path: path.clone(), source };
    let Some(pak) = save.pak(pak_dir, file, &mut Vec::new()).map_err(failed)? else {
        return Ok(unreadable("it ends inside its header"));
    };
    let stop = || options.go_on().is_err();
    let budget = pak.source.len().saturating_mul(EXPANSION).saturating_add(BUDGET);
    let how = pak::Options { budget, stop: &stop };
    let analysis = pak::read(&pak, &how).map_err(draft::Error::read(&path))?;
    options.go_on()?;
    if pak.source.changed().map_err(draft::Error::read(&path))? {
        return Err(draft::Error::Changed(path).into());
    }
    let why = if name == own_name { "healthy" } else { "the game does not look for a file of this name" };
    let plan = PakPlan { is_renamed: name != own_name, ..PakPlan::whole(name, path.clone(), Action::Copy, why) };
    if analysis.is_sound() {
        return Ok(plan);
    }
    let mut plan = rebuilt(plan, &pak, &analysis, options);
    // A newer version may exist; but if other fields were damaged too, nobody wrote that number.
    if let Some(header) = plan.header.as_mut().filter(|_| !analysis.as_declared) {
        siblings::complete(header, &mut plan.fields, pak_dir, file);
    }
    if !analysis.as_declared && plan.chunks.is_empty() && plan.missing.is_empty() && plan.lost.is_empty() {
        return Ok(unreadable("its header is damaged, and no chunk can be found"));
    }
    plan.reading = save.options.pak.reading;
    plan.rest = rest(&plan, &pak.source).map_err(draft::Error::read(&path))?;
    Ok(plan)
}

/// Whether a save is what a repair wrote of a single pak region.
fn is_copy_of_one(save: &Save) -> bool {
    let is_only = matches!(&save.pak_dirs[..], [dir] if dir.files.len() == 1)
        && save.forests.is_empty()
        && save.streams.is_empty()
        && save.maps.is_empty();
    is_only && save.path.join(REPORT).is_file()
}

/// The name that the game looks for, if the name of a file shows its region and no other file claims it.
fn right_name(pak_dir: &PakDir, file: &PakFile) -> Option<String> {
    let region = |file: &PakFile| place::parse_meant_name(file.name.to_str()?);
    let own = region(file)?;
    let claims = pak_dir.files.iter().filter(|other| region(other) == Some(own)).count();
    (claims == 1).then(|| place::name(own))
}

fn rebuilt(mut plan: PakPlan, pak: &Pak<FileSource>, analysis: &PakAnalysis, options: &Options<'_>) -> PakPlan {
    let position = |record| {
        place::Grid::from_record_count(analysis.layout.count).and_then(|grid| grid.value.chunk(pak.region, record))
    };
    plan.action = Action::Rebuild;
    plan.why =
        if analysis.as_declared { "its records do not fit its chunks" } else { "its header does not fit its chunks" };
    if !analysis.as_declared {
        let (old, new) = (&pak.header, &analysis.header);
        let fields = [
            ("record_count", old.record_count, new.record_count),
            ("first_block_offset", old.first_block_offset, new.first_block_offset),
        ];
        plan.fields = fields.into_iter().filter(|(_, old, new)| old != new).collect();
    }
    plan.header = Some(analysis.header);
    plan.head = Span::new(0, analysis.layout.end().min(pak.source.len()));
    // Changed bytes may decode, to a length that no chunk has.
    let lengths = analysis.records.iter().filter_map(|(.., verdict)| match verdict {
        Verdict::Fits(stream) => Some(stream.plain),
        _ => None,
    });
    let lengths: HashSet<u64> = lengths.collect();
    let has_shape = |plain: u64| lengths.contains(&plain) || !shapes_of(plain).is_empty();
    let zeroed = zeroed_runs(analysis.records.iter().map(|(number, record, _)| (*number, *record)));
    for &(record, listed, verdict) in &analysis.records {
        let is_unknown = is_in_run(&zeroed, record);
        let chunk = |span, put_right| Chunk {
            record,
            position: position(record),
            span,
            put_right,
            certainty: Certainty::Certain,
            new_checksum: false,
        };
        let mut leave =
            |why| plan.missing.push(Missing { record, listed, position: position(record), why, is_unknown });
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
            Verdict::Checksum(stream) if options.likely && has_shape(stream.plain) => plan.chunks.push(Chunk {
                certainty: Certainty::Likely,
                new_checksum: true,
                ..chunk(stream.span, Some("its checksum was another than that of its bytes"))
            }),
            Verdict::Checksum(stream) => {
                leave(match has_shape(stream.plain) {
                    true => "its checksum does not fit",
                    false => "its bytes were changed: neither its checksum nor its length fits",
                });
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
    for orphan in &analysis.orphans {
        let candidates = orphan.candidates.iter().map(|(record, p)| (*record, position(*record), *p)).collect();
        let pak::Stream { span, plain, .. } = orphan.stream;
        plan.lost.push(Lost { span, plain, whole: true, record: None, candidates });
    }
    // Several records may point to one damaged stream.
    plan.lost.sort_by_key(|lost| (lost.span.start, lost.record));
    plan.lost.dedup_by_key(|lost| lost.span.start);
    plan.chunks.sort_by_key(|chunk| (chunk.span.start, chunk.record));
    plan
}

/// Bytes that are neither written nor kept as a chunk, and not zero.
fn rest(plan: &PakPlan, source: &FileSource) -> std::io::Result<Vec<Span>> {
    let mut used: Vec<Span> = plan.chunks.iter().map(|c| c.span).chain(plan.lost.iter().map(|l| l.span)).collect();
    used.push(plan.head);
    used.sort_unstable();
    used.push(Span::new(source.len(), source.len()));
    let (mut at, mut spans, mut buffer) = (0u64, Vec::<Span>::new(), Vec::new());
    for span in used {
        // A damaged header may point far beyond the end of the file.
        let until = span.start.min(source.len());
        while at < until {
            // Skip holes of a sparse file.
            at = source.next_data(at).clamp(at, until);
            let len = (until - at).min(crate::pak::BLOCK_BYTES - at % crate::pak::BLOCK_BYTES);
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
