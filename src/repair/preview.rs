//! What a repair would do with one file, as it is shown: who owns which part before and after, and a line for all that is
//! put right, left out or lost.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::bytes::Span;
use crate::check::Totals;
use crate::damage::Code;
use crate::godot::region::sectors_for;
use crate::godot::stream::loc::Place;
use crate::pak::BLOCK_BYTES;
use crate::pak::record::blocks_for;
use crate::printable::{self, likelihood, triple};
use crate::recover::decide::how_likely;
use crate::repair::listed::in_place;
use crate::repair::report::MissingReport;
use crate::repair::stream::{page_loss, written_rows};
use crate::repair::totals::totals_of_file;
use crate::repair::why::{FileReason, doubt_of, shown_candidates};
use crate::repair::{
    Action, Certainty, KeptReason, LostPart, MapPlan, Origin, PakPlan, Plan, RegionPlan, StreamPlan, words,
};
use crate::save::{BlockStart, Save};
use crate::voxel_map::map_json::FILE_NAME;

/// What is said where files are missing that a backup may have.
pub const FILES_MISSING: &str = "Files of the save are missing: `--from-backup OLD` takes them from a backup.";

/// Whether a finding is about missing files, region or meta files, that a repair takes from a backup.
#[must_use]
pub const fn takes_from_backup(code: Code) -> bool {
    matches!(code, Code::RegionMissing | Code::LodGap | Code::RegionFormatUnknown)
}

/// What becomes of a part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PartFate {
    /// Old bytes, or bytes of nothing.
    Old,
    /// Header and records, where they take blocks themselves.
    Header,
    /// A block at the place that its table gives.
    Kept,
    /// A block whose place is put right.
    PutRight,
    /// A block whose place is only likely.
    Likely,
    /// A block, or a part of one, that goes to `lost+found`.
    Lost,
}

/// Sectors in a row with one fate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectorFate {
    /// The first sector.
    pub first: u64,
    /// How many.
    pub count: u64,
    /// What becomes of them.
    pub what: PartFate,
    /// The number of the block in the result, by which it has its letter.
    pub number: usize,
    /// The line that speaks of it.
    pub line: Option<usize>,
}

/// What a line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Something that is left out.
    Missing,
    /// Something that goes to `lost+found`.
    Lost,
    /// Something that is only likely.
    Likely,
    /// Something that is put right.
    PutRight,
    /// A block of which only a part is whole, and written.
    InPart,
    /// Anything else.
    Words,
}

/// A place in a file that a line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineAt {
    /// The block of a LOD at a position.
    Block(u8, [i32; 3]),
    /// A record of a pak.
    Record(u32),
}

/// A line of the list.
#[derive(Clone, Debug)]
pub struct PreviewLine {
    /// What it is about.
    pub subject: Subject,
    /// Which block, record or sector.
    pub name: String,
    /// What happens with it.
    pub text: String,
    /// The same in a few words, for a row in which `text` does not fit; empty if there are none.
    pub short: String,
    /// The file that it is about, as the plan names it, if the list is of a whole save.
    pub file: Option<String>,
    /// The block or the record that it is about, if there is one at that place.
    pub at: Option<LineAt>,
    /// Where its bytes are, when it can be looked at.
    pub pieces: Vec<Span>,
    /// The number of its region in the plan, when it is in one.
    pub region: Option<usize>,
    /// LOD, file and start of an unowned block, by which it can be put in a place by hand.
    pub place: Option<(u8, String, BlockStart)>,
    /// The positions that it may belong to, with their probabilities.
    pub candidates: Vec<([i32; 3], f64)>,
}

/// What is done with one file.
#[derive(Clone, Debug, Default)]
pub struct Preview {
    /// In a few words.
    pub summary: String,
    /// Whether it is left as it is.
    pub unchanged: bool,
    /// What cannot be read, so that nothing of it is counted.
    pub unread: Option<String>,
    /// Its blocks by what is done with them; only of a file that is rebuilt.
    pub totals: Option<Totals>,
    /// The sectors before, and how many there are.
    pub before: (Vec<SectorFate>, u64),
    /// The sectors after.
    pub after: (Vec<SectorFate>, u64),
    /// The list.
    pub lines: Vec<PreviewLine>,
}

impl Preview {
    /// What a plan does with a file of `len` bytes.
    #[must_use]
    pub fn for_file(save: &Save, plan: &Plan, path: &Path, map_dir: Option<&Path>, len: u64) -> Self {
        Self { totals: totals_of_file(save, plan, path), ..Self::of_file(plan, path, map_dir, len) }
    }

    fn of_file(plan: &Plan, path: &Path, map_dir: Option<&Path>, len: u64) -> Self {
        if let Some(at) = plan.regions.iter().position(|region| region.path == path) {
            return plan.regions.get(at).map_or_else(Self::default, |region| region_preview(region, at, len));
        }
        if let Some(pak) = plan.paks.iter().find(|pak| pak.path == path) {
            return pak_preview(pak, len);
        }
        if let Some(stream) = plan.streams.iter().find(|stream| stream.path == path) {
            return stream_preview(stream);
        }
        let is_of = |map: &&MapPlan| map_dir == Some(map.dir.as_path()) || map.dir.join(FILE_NAME) == path;
        if let Some(map) = plan.maps.iter().find(is_of) {
            let maps = std::slice::from_ref(map);
            let all = crate::repair::map_words(maps);
            return Self { unchanged: map.action == Action::Copy, ..text_preview(map.action, map.why, &all) };
        }
        // The list of a plan lacks healthy region files.
        start_preview(Action::Copy, FileReason::Healthy.words())
    }

    /// What a plan does with the whole save.
    #[must_use]
    pub fn for_save(plan: &Plan) -> Self {
        let all = words(plan);
        let is_renamed = plan.regions.iter().any(|r| r.region.is_some()) || plan.paks.iter().any(|p| p.is_renamed);
        let summary = match changed_files(plan) {
            0 => "nothing to repair".to_owned(),
            n => {
                let (files, are) = (printable::count(n as u64, "file"), printable::are(n as u64));
                let renamed = if is_renamed { ", renamed" } else { "" };
                format!("{files} {are} rebuilt{renamed} or set aside")
            }
        };
        let mut out = Self { unchanged: plan.changes_nothing(), summary, ..Self::default() };
        // The lines of each file take the place of the few that the words list.
        let mut of_files = previews_of_files(plan);
        let mut is_listed = false;
        for text in all {
            if is_listed && text.starts_with("  ") {
                continue;
            }
            let of_file = text.split_once(": ").and_then(|(name, _)| of_files.remove_entry(name));
            is_listed = of_file.is_some();
            let file = of_file.as_ref().map(|(name, _)| name.clone());
            out.lines.push(PreviewLine { file, ..line(Subject::Words, String::new(), text) });
            if let Some((name, lines)) = of_file {
                let of_file = |line| PreviewLine { file: Some(name.clone()), ..line };
                out.lines.extend(lines.into_iter().map(of_file));
            }
        }
        out
    }
}

/// How many files a plan does not copy byte by byte, as a verdict counts them: of a map, only some files change.
fn changed_files(plan: &Plan) -> usize {
    plan.regions.iter().filter(|region| !region.is_unchanged()).count()
        + plan.paks.iter().filter(|pak| !pak.is_unchanged()).count()
        + plan.maps.iter().map(|map| map.handled.len()).sum::<usize>()
        + plan.streams.iter().filter(|stream| stream.action != Action::Copy).count()
        + plan.metas.len()
        + plan.strange.len()
        + plan.no_files.len()
}

/// The lines about each file that is rebuilt, by its name in the words of the plan.
fn previews_of_files(plan: &Plan) -> HashMap<String, Vec<PreviewLine>> {
    let regions = plan.regions.iter().enumerate().filter(|(_, region)| region.action == Action::Rebuild);
    let regions = regions.map(|(at, region)| (&region.name, region_preview(region, at, 0).lines));
    let paks = plan.paks.iter().filter(|pak| pak.action == Action::Rebuild);
    let paks = paks.map(|pak| (&pak.name, pak_preview(pak, 0).lines));
    let streams = plan.streams.iter().filter(|stream| stream.action == Action::Rebuild);
    let streams = streams.map(|stream| (&stream.name, stream_preview(stream).lines));
    regions.chain(paks).chain(streams).map(|(name, lines)| (printable::path(name), lines)).collect()
}

fn text_preview(action: Action, why: &str, all: &[String]) -> Preview {
    let lines = all.iter().map(|text| line(Subject::Words, String::new(), text.clone())).collect();
    Preview { summary: describe_action(action, why), lines, ..Preview::default() }
}

fn describe_action(action: Action, why: &str) -> String {
    match action {
        Action::Copy => "healthy, copied as it is".to_owned(),
        Action::Rebuild => format!("rebuilt: {why}"),
        Action::Restore => format!("restored: {why}"),
        Action::SetAside => format!("set aside: {why}"),
        Action::FromBackup => format!("taken from the backup: {why}"),
    }
}

/// What is said of a file whatever is done with it.
fn start_preview(action: Action, why: &str) -> Preview {
    let about = |subject, text: &str| vec![line(subject, "the file".to_owned(), text.to_owned())];
    let lines = match action {
        Action::SetAside => about(Subject::Lost, "it is kept as it is, and none of its blocks is in the copy"),
        Action::FromBackup => about(Subject::Words, "the file of the backup, an older state, takes its place"),
        Action::Copy | Action::Rebuild | Action::Restore => Vec::new(),
    };
    Preview { summary: describe_action(action, why), unchanged: action == Action::Copy, lines, ..Preview::default() }
}

/// A line about nothing that can be looked at.
const fn line(subject: Subject, name: String, text: String) -> PreviewLine {
    PreviewLine {
        subject,
        name,
        text,
        short: String::new(),
        file: None,
        at: None,
        pieces: Vec::new(),
        region: None,
        place: None,
        candidates: Vec::new(),
    }
}

fn region_preview(region: &RegionPlan, at: usize, len: u64) -> Preview {
    let mut out = start_preview(region.action, region.why.words());
    out.unchanged = region.is_unchanged();
    if region.action == Action::Copy && !out.unchanged {
        let name = region.name.file_name().unwrap_or_default();
        out.summary = format!("copied as {}: {}", printable::path(Path::new(name)), region.why);
    }
    let Some(header) = region.header.as_ref().filter(|_| region.action == Action::Rebuild) else { return out };
    let size = u64::from(header.format.sector_size).max(1);
    let sector = |byte: u64| byte.saturating_sub(header.sectors_at()) / size;
    for missing in &region.missing {
        let name = format!("block {}", triple(missing.0));
        let at = Some(LineAt::Block(region.lod, missing.0));
        let report = MissingReport::new(missing, region);
        let short = report.short().to_owned();
        out.lines.push(PreviewLine { at, short, ..line(Subject::Missing, name, report.words()) });
    }
    let mut before = Vec::new();
    let mut put = |spans: &[Span], what, number, line| {
        before.extend(spans.iter().map(|span| SectorFate {
            first: sector(span.start),
            count: span.len().div_ceil(size),
            what,
            number,
            line,
        }));
    };
    for lost in &region.lost {
        let rewritten = region.blocks.iter().find(|block| block.mend.is_some() && block.pieces == lost.pieces);
        let candidates = shown_candidates(lost);
        let places: Vec<String> =
            candidates.iter().take(2).map(|(at, p)| format!("{} {}", triple(*at), likelihood(*p))).collect();
        let text = match (rewritten, places.as_slice()) {
            (Some(block), _) => format!("the old bytes of block {}, which is rewritten", triple(block.position)),
            (None, []) if lost.why == KeptReason::Rewritten => "the old bytes of a block that is rewritten".to_owned(),
            (None, []) => "no place is known for it".to_owned(),
            _ if !lost.whole => format!("torn, may be {}", places.join(" or ")),
            _ => format!("may be {}", places.join(" or ")),
        };
        put(&lost.pieces, PartFate::Lost, 0, Some(out.lines.len()));
        let start = region.start_of(&lost.pieces);
        out.lines.push(PreviewLine {
            region: Some(at),
            pieces: lost.pieces.clone(),
            candidates: candidates.into_owned(),
            place: lost.whole.then(|| (region.lod, printable::path(&region.name), start)),
            ..line(Subject::Lost, start.to_string(), text)
        });
    }
    let mut first = 0;
    for (number, block) in region.blocks.iter().enumerate() {
        let bytes: u64 = block.pieces.iter().map(Span::len).sum();
        let count = sectors_for(bytes.saturating_sub(4), header.format.sector_size);
        let (subject, what) = match (block.certainty, block.listed_at.is_some() || block.moved) {
            _ if matches!(block.origin, Origin::Salvaged | Origin::Voxels) => {
                (Some(Subject::InPart), PartFate::PutRight)
            }
            (Certainty::Certain, false) if block.is_changed() => (Some(Subject::PutRight), PartFate::PutRight),
            (Certainty::Certain, false) => (None, PartFate::Kept),
            (Certainty::Certain, true) => (Some(Subject::PutRight), PartFate::PutRight),
            _ => (Some(Subject::Likely), PartFate::Likely),
        };
        let of_line = subject.map(|_| out.lines.len());
        put(&block.pieces, what, number, of_line);
        out.after.0.push(SectorFate { first, count, what, number, line: of_line });
        if let Some(subject) = subject {
            let start = match region.start(block) {
                BlockStart::Sector(sector) => sector.to_string(),
                start @ BlockStart::Byte(_) => start.to_string(),
            };
            let stood = match block.listed_at {
                Some(listed) => format!("table says {listed}, found at {start}"),
                None => format!("found at {start}"),
            };
            let rewritten = match block.mend {
                Some(_) => ", rewritten without what is against the format",
                None if block.short_entry => ", its entry has too few sectors",
                None => "",
            };
            let likely = if subject == Subject::Likely {
                let doubt = doubt_of(block).map_or_else(String::new, |doubt| format!(": {doubt}"));
                format!(", {}{doubt}", how_likely(block.probability))
            } else {
                String::new()
            };
            out.lines.push(PreviewLine {
                region: Some(at),
                at: Some(LineAt::Block(region.lod, block.position)),
                pieces: block.pieces.clone(),
                candidates: vec![(block.position, block.probability)],
                ..line(
                    subject,
                    format!("block {}", triple(block.position)),
                    format!("{stood}, goes to {first}{rewritten}{likely}"),
                )
            });
        }
        first += count;
    }
    before.sort_by_key(|part| part.first);
    out.before = (before, len.saturating_sub(header.sectors_at()).div_ceil(size));
    out.after.1 = first;
    out.summary = in_place(region);
    out
}

fn pak_preview(plan: &PakPlan, len: u64) -> Preview {
    let mut out = start_preview(plan.action, plan.why);
    if plan.action != Action::Rebuild {
        return out;
    }
    for (field, was, is) in &plan.fields {
        out.lines.push(line(Subject::PutRight, (*field).to_owned(), format!("{was}, put right to {is}")));
    }
    for missing in plan.known_missing() {
        let name = format!("record {}", missing.record);
        let at = Some(LineAt::Record(missing.record));
        out.lines.push(PreviewLine { at, ..line(Subject::Missing, name, missing.why.to_owned()) });
    }
    out.lines.extend(plan.unknown_words().map(|words| line(Subject::Words, "records".to_owned(), words)));
    let mut before = Vec::new();
    let mut put = |span: Span, what, number, line| {
        let first = span.start / BLOCK_BYTES;
        before.push(SectorFate {
            first,
            count: span.end.div_ceil(BLOCK_BYTES).saturating_sub(first),
            what,
            number,
            line,
        });
    };
    for lost in &plan.lost {
        let records: Vec<String> = lost.candidates.iter().take(3).map(|(n, ..)| n.to_string()).collect();
        let text = match (lost.record, records.as_slice()) {
            (Some(record), _) => format!("a part of record {record}, {}", printable::count(lost.plain, "byte")),
            (None, []) => "a whole chunk, no place is known for it".to_owned(),
            (None, _) => format!("a whole chunk, may be of record {}", records.join(" or ")),
        };
        put(lost.span, PartFate::Lost, 0, Some(out.lines.len()));
        let of_block = line(Subject::Lost, format!("block {}", lost.span.start / BLOCK_BYTES), text);
        out.lines.push(PreviewLine { pieces: vec![lost.span], ..of_block });
    }
    let mut first = plan.header.as_ref().map_or(0, |header| blocks_for(header.end()));
    let head = SectorFate { first: 0, count: blocks_for(plan.head.end), what: PartFate::Header, number: 0, line: None };
    out.after.0.push(SectorFate { count: first, ..head });
    for (number, chunk) in plan.chunks.iter().enumerate() {
        let count = blocks_for(chunk.span.len());
        let (subject, what) = match (chunk.certainty, chunk.put_right) {
            (Certainty::Certain, None) => (None, PartFate::Kept),
            (Certainty::Certain, Some(_)) => (Some(Subject::PutRight), PartFate::PutRight),
            _ => (Some(Subject::Likely), PartFate::Likely),
        };
        let of_line = subject.map(|_| out.lines.len());
        put(chunk.span, what, number, of_line);
        out.after.0.push(SectorFate { first, count, what, number, line: of_line });
        if let Some(subject) = subject {
            let why = chunk.put_right.unwrap_or_default().to_owned();
            let at = Some(LineAt::Record(chunk.record));
            let of_record = line(subject, format!("record {}", chunk.record), why);
            out.lines.push(PreviewLine { at, pieces: vec![chunk.span], ..of_record });
        }
        first += count;
    }
    before.push(head);
    before.sort_by_key(|part| part.first);
    out.before = (before, len.div_ceil(BLOCK_BYTES));
    out.after.1 = if plan.chunks.is_empty() { 0 } else { first };
    out.summary = plan.written_words();
    out
}

fn stream_preview(plan: &StreamPlan) -> Preview {
    let mut out = start_preview(plan.action, plan.why);
    if plan.action != Action::Rebuild {
        return out;
    }
    let place = |place: Place| match place.lod {
        0 => format!("block {}", triple(place.position)),
        lod => format!("block {} LOD {lod}", triple(place.position)),
    };
    let block = |place: Place| Some(LineAt::Block(place.lod, place.position));
    if let Some(through) = plan.through {
        out.lines.push(line(Subject::Words, String::new(), format!("written as it is, with {through} beside it")));
    }
    for setting in &plan.settings {
        let was = setting.was.as_deref().map_or_else(|| "set".to_owned(), |was| format!("{was}, put right"));
        let text = format!("{was} to {}: {}", setting.is, setting.why);
        out.lines.push(line(Subject::PutRight, setting.field.to_owned(), text));
    }
    if let Some(why) = plan.unsettled {
        out.lines.push(line(Subject::Missing, "settings".to_owned(), format!("they stay as they are: {why}")));
    }
    // A block that is lost is written in part if its row keeps its instances.
    let missing = plan.missing_places();
    let in_part: HashSet<Place> =
        plan.rows.iter().map(|row| row.place).filter(|place| missing.contains(place)).collect();
    for (at, why) in plan.missing.iter().filter(|(at, _)| !in_part.contains(at)) {
        out.lines.push(PreviewLine { at: block(*at), ..line(Subject::Missing, place(*at), (*why).to_owned()) });
    }
    for lost in &plan.lost {
        let what = match lost.part {
            LostPart::Row => "",
            LostPart::Voxels => "block: ",
            LostPart::Instances => "instances: ",
        };
        let name = lost.place.map_or_else(|| format!("row {}", lost.row), place);
        let text = format!("page {}, {what}{}", lost.page, lost.why);
        out.lines.push(PreviewLine { at: lost.place.and_then(block), ..line(Subject::Lost, name, text) });
    }
    for page in &plan.pages {
        let text = "its content is unknown".to_owned();
        out.lines.push(line(Subject::Lost, format!("page {page}"), text));
    }
    for name in &plan.left_out {
        let text = "not carried over; the whole file is kept".to_owned();
        out.lines.push(line(Subject::Lost, printable::printable(name), text));
    }
    for row in &plan.rows {
        let likely = row.certainty < Certainty::Certain || row.origin == Origin::Backup;
        let subject = match likely {
            _ if row.origin == Origin::Salvaged || in_part.contains(&row.place) => Subject::InPart,
            true => Subject::Likely,
            false => Subject::PutRight,
        };
        if let Some(why) = row.why {
            let of_row = line(subject, place(row.place), format!("page {}: {why}", row.page));
            out.lines.push(PreviewLine { at: block(row.place), ..of_row });
        }
    }
    out.summary = written_rows(plan);
    out.unread = page_loss(plan);
    out
}
