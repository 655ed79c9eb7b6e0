//! Plans the repair of SQLite streams: each is copied, or rebuilt from the rows that can be read.
//!
//! A row is written if its content and position are certain: the table leads to it, or it is on a page that
//! a damaged table lost and nothing else claims its position. Data that the engine would refuse is kept in `lost+found`.

mod decide;
mod examine;
mod healthy;
mod keys;
mod older;
mod plain;
mod report;
mod settings;
mod write;
mod wrong_keys;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use crate::damage::{Code, Damage, Level};
use crate::draft;
use crate::godot::channel::{CHANNELS, Depth};
use crate::godot::stream::loc::Place;
use crate::godot::stream::meta::Meta;
use crate::repair::decision::Origin;
use crate::repair::mend::Mend;
use crate::repair::out::below;
use crate::repair::stream::wrong_keys::WrongKeys;
use crate::repair::{Action, Certainty, Error, KeptReason, Options, RowReason};
use crate::save::{OwnedKey, Save, Stream, StreamFile, Table};
use crate::source::FileSource;
use crate::sqlite::walk::{self, Owners, Use};

use healthy::CertainSettings;
pub use older::Older;
pub(super) use report::{page_loss, written_rows};
pub(super) use report::{reports, words};
use settings::Evidence;
pub use settings::Setting;
pub(super) use write::{write, write_lost};

/// The plan for one of the two blobs of a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Part {
    /// Written unchanged, also if it is NULL.
    #[default]
    Kept,
    /// Not written; its bytes go to `lost+found`.
    LeftOut,
    /// Rewritten; its old bytes go to `lost+found`.
    Mended(Box<Mend>),
    /// Taken from the row of the backup with this number.
    Older(u32),
    /// Instances that are stored in the row with this number, whose voxels belong elsewhere.
    Other(u32),
}

/// A row that is written.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StreamDecision {
    /// Its place.
    pub place: Place,
    /// Its number in the order of the stream; `None` if all of it is from the backup.
    pub row: Option<u32>,
    /// The page that it is on, there or in the backup.
    pub page: u32,
    /// Its origin.
    pub origin: Origin,
    /// Its certainty.
    pub certainty: Certainty,
    /// What was corrected, if anything.
    pub why: Option<RowReason>,
    /// Its block.
    pub voxels: Part,
    /// Its instances.
    pub instances: Part,
}

impl StreamDecision {
    /// Whether its key was that of another block: it is right but for that.
    #[must_use]
    pub fn had_wrong_key(&self) -> bool {
        self.why == Some(RowReason::WrongKey)
    }
}

/// The part of a row that is kept in `lost+found`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum LostPart {
    /// All of it.
    Row,
    /// Its block.
    Voxels,
    /// Its instances.
    Instances,
}

/// A row, or a part of one, that is kept in `lost+found`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LostRow {
    /// Its number in the order of the stream.
    pub row: u32,
    /// The page that it is on.
    pub page: u32,
    /// Which part.
    pub part: LostPart,
    /// The reason.
    pub why: KeptReason,
    /// The position of its key, if it has one.
    pub place: Option<Place>,
}

/// The plan for a stream.
#[derive(Debug)]
#[non_exhaustive]
pub struct StreamPlan {
    /// Its path below the save.
    pub name: PathBuf,
    /// Where it is.
    pub path: PathBuf,
    /// The action.
    pub action: Action,
    /// Why, in words.
    pub why: &'static str,
    /// The other file that is read with it: `a journal` or `a write-ahead log`.
    pub through: Option<&'static str>,
    /// Settings that are corrected.
    pub settings: Vec<Setting>,
    /// Why the settings are not corrected, if they are not.
    pub unsettled: Option<&'static str>,
    /// The rows that are written, by their places. Of a stream of very many rows, those that are written as they are are not
    /// here: see [`decisions`](Self::decisions).
    pub rows: Vec<StreamDecision>,
    /// The other rows that are written.
    plain: plain::PlainRows,
    /// Rows that are left out because another one is byte-identical.
    pub doubled: usize,
    /// What goes to `lost+found`.
    pub lost: Vec<LostRow>,
    /// Positions that are known to have had a row or a block, with what is known about each.
    pub missing: Vec<(Place, &'static str)>,
    /// Pages that are kept in `lost+found` unchanged.
    pub pages: Vec<u32>,
    /// Whether the rows of all these pages are read, so that only the header of the database is damaged.
    pub pages_read: bool,
    /// How many pages of tables cannot be read or are missing, where no index names the rows that were on them.
    pub pages_lost: u64,
    /// Names of foreign tables and other parts of the schema that are not written. All files of the stream go to
    /// `lost+found` then.
    pub left_out: Vec<String>,
    /// The stream of the backup.
    pub backup: Option<Arc<Older>>,
    /// The files of the save that are not just copied, relative to the save.
    pub handled: Vec<PathBuf>,
    /// The input and the settings of writing.
    work: Option<Arc<Work>>,
}

/// The input of a stream that is rebuilt.
#[derive(Debug)]
struct Work {
    stream: Stream<FileSource>,
    #[cfg_attr(not(feature = "sqlite"), allow(dead_code))]
    meta: Meta,
    /// The rows of settings, unchanged.
    #[cfg_attr(not(feature = "sqlite"), allow(dead_code))]
    settings: Vec<Vec<OwnedKey>>,
    /// The most frequent depths of its blocks.
    #[cfg_attr(not(feature = "sqlite"), allow(dead_code))]
    depths: [Depth; CHANNELS],
}

impl StreamPlan {
    fn new(save: &Save, file: &StreamFile) -> Self {
        Self {
            name: below(&save.path, &file.path),
            path: file.path.clone(),
            action: Action::Copy,
            why: "healthy",
            through: None,
            settings: Vec::new(),
            unsettled: None,
            rows: Vec::new(),
            plain: plain::PlainRows::default(),
            doubled: 0,
            lost: Vec::new(),
            missing: Vec::new(),
            pages: Vec::new(),
            pages_read: true,
            pages_lost: 0,
            left_out: Vec::new(),
            backup: None,
            handled: Vec::new(),
            work: None,
        }
    }

    /// Whether something could not be recovered.
    #[must_use]
    pub fn leaves_damage(&self) -> bool {
        let unused = |lost: &LostRow| lost.why != KeptReason::Rewritten;
        matches!(self.action, Action::SetAside | Action::FromBackup)
            || self.unsettled.is_some()
            || !self.missing.is_empty()
            || !self.pages.is_empty() && !self.pages_read
            || self.pages_lost > 0
            || !self.left_out.is_empty()
            || self.lost.iter().any(unused)
            || self.rows.iter().any(|row| !row.origin.is_complete())
    }

    /// The rows that are written without their instances, because these are damaged.
    pub fn without_instances(&self) -> impl Iterator<Item = &StreamDecision> {
        let lost = self.lost.iter().filter(|lost| lost.part == LostPart::Instances);
        let lost: BTreeSet<(u32, Option<Place>)> = lost.map(|lost| (lost.row, lost.place)).collect();
        self.rows.iter().filter(move |row| {
            let is_lost = |number| lost.contains(&(number, Some(row.place)));
            // A row from the backup lacks its instances only if they are damaged there.
            row.instances == Part::LeftOut && row.row.is_none_or(is_lost)
        })
    }

    /// How many rows are written.
    #[must_use]
    pub const fn written(&self) -> usize {
        self.rows.len() + self.plain.count()
    }

    /// All rows that are written, by their places.
    pub fn decisions(&self) -> impl Iterator<Item = Cow<'_, StreamDecision>> {
        let stream = self.stream().filter(|_| self.plain.count() > 0);
        let rows = stream.into_iter().flat_map(|stream| (0u32..).zip(&stream.rows));
        let plain = rows.filter(|(number, _)| self.plain.contains(*number)).filter_map(|(number, row)| {
            Some(StreamDecision {
                place: row.place?,
                row: Some(number),
                page: row.page,
                origin: Origin::Found,
                certainty: Certainty::Certain,
                why: None,
                voxels: Part::Kept,
                instances: Part::Kept,
            })
        });
        let (mut plain, mut others) = (plain.peekable(), self.rows.iter().peekable());
        std::iter::from_fn(move || {
            let is_other =
                others.peek().is_some_and(|other| plain.peek().is_none_or(|plain| other.place < plain.place));
            if is_other { others.next().map(Cow::Borrowed) } else { plain.next().map(Cow::Owned) }
        })
    }

    /// The stream and the rows of it that are written.
    #[must_use]
    pub fn stream(&self) -> Option<&Stream<FileSource>> {
        self.work.as_deref().map(|work| &work.stream)
    }
}

/// Reads the streams of a save and plans each of them.
pub(super) fn plan(save: &Save, options: &Options<'_>) -> Result<Vec<StreamPlan>, Error> {
    save.streams.iter().map(|file| one(save, file, options)).collect()
}

fn one(save: &Save, file: &StreamFile, options: &Options<'_>) -> Result<StreamPlan, Error> {
    options.go_on()?;
    let mut plan = StreamPlan::new(save, file);
    let Some(mut stream) = older::open(save, file)? else {
        let whole = Older::find(save, file, options)?.filter(|older| older.is_healthy());
        plan.action = if whole.is_some() { Action::FromBackup } else { Action::SetAside };
        plan.why = if file.len == 0 { "there is no byte in it" } else { "no row of it can be read" };
        plan.backup = whole.map(Arc::new);
        plan.handle(save);
        return Ok(plan);
    };
    let failed = |error| draft::Error::read(&file.path)(error);
    if stream.damage.iter().any(|d| d.code == Code::OverLimit) {
        plan.why = "it has more pages or rows than are read";
        return Ok(plan);
    }
    let is_many = stream.rows.len() > healthy::MANY;
    let certain = if is_many { CertainSettings::find(&mut stream, options).map_err(failed)? } else { None };
    options.go_on()?;
    let other = certain.as_ref().map(|certain| certain.format).filter(|format| stream.format != Some(*format));
    if other.is_some() {
        // One stream at a time is in memory.
        drop(stream);
        let Some(again) = older::open_with_keys(save, file, other)? else {
            // It changed since it was read.
            (plan.action, plan.why) = (Action::SetAside, "no row of it can be read");
            plan.handle(save);
            return Ok(plan);
        };
        stream = again;
    }
    let wrong_keys = WrongKeys::find(&stream, options).map_err(failed)?;
    options.go_on()?;
    let mut sorted = None;
    if let Some(certain) = certain {
        if wrong_keys.is_empty() && healthy::is_healthy(&mut stream, &certain, options).map_err(failed)? {
            options.go_on()?;
            return Ok(plan);
        }
        sorted = plain::sort(&mut stream, certain, &wrong_keys, options).map_err(failed)?;
        options.go_on()?;
    }
    let plain::Sorted { plain, seen, owners, settled } = match sorted {
        Some(sorted) => sorted,
        None => {
            let examined = examine::without_size(&mut stream, |stream| examine::all(stream, &options.watch));
            let (seen, owners) = examined.map_err(failed)?;
            options.go_on()?;
            let settled = settings::decide_settings(&stream, &Evidence::of(seen.as_slice())).map_err(failed)?;
            plain::Sorted { plain: plain::PlainRows::default(), seen, owners, settled }
        }
    };
    let block_size_po2 = settled.meta.block_size_po2.unwrap_or(4);
    let usual = examine::Usual::estimate(&stream, &seen, &plain, block_size_po2).map_err(failed)?;
    let older = Older::find(save, file, options)?;
    plan.through =
        stream.pages.overlay.as_ref().map(|_| match stream.damage.iter().any(|d| d.code == Code::StreamWal) {
            true => "a write-ahead log",
            false => "a journal",
        });
    plan.settings = settled.put_right;
    plan.unsettled = settled.unsettled;
    plan.backup = older.map(Arc::new);
    let deciding = decide::Deciding {
        stream: &stream,
        seen: &seen,
        plain: &plain,
        wrong_keys: &wrong_keys,
        meta: settled.meta,
        usual: &usual,
        options,
        limits: &save.options.limits,
    };
    deciding.decide(&mut plan)?;
    drop(seen);
    plan.plain = plain;
    (plan.pages, plan.pages_read) = lost_pages(&stream, &owners).map_err(failed)?;
    plan.pages_lost = stream.unread_table_pages();
    plan.left_out =
        stream.tables.iter().filter(|t| !write::can_be_made(t, &stream.tables)).map(|t| t.name.clone()).collect();
    // Settings that nothing shows stay as they are.
    let stays = |code| {
        let of_settings = [Code::StreamMetaMissing, Code::StreamMetaTwice, Code::StreamMetaField];
        plan.unsettled.is_some() && of_settings.contains(&code)
    };
    let is_mended = |d: &Damage| d.code.level() >= Level::Warning && !stays(d.code);
    let sound = !stream.damage.iter().any(is_mended) && !has_unused(&stream, &owners);
    if sound && plan.through.is_none() && !plan.changes_rows(stream.rows.len()) {
        return Ok(StreamPlan { unsettled: plan.unsettled, ..StreamPlan::new(save, file) });
    }
    plan.action = Action::Rebuild;
    plan.why = why(&stream, sound, &wrong_keys, &plan);
    plan.handle(save);
    let settings = settled.rows;
    plan.work = Some(Arc::new(Work { stream, meta: settled.meta, settings, depths: usual.depths }));
    Ok(plan)
}

fn why(stream: &Stream<FileSource>, sound: bool, wrong_keys: &WrongKeys, plan: &StreamPlan) -> &'static str {
    let has = |codes: &[Code]| stream.damage.iter().any(|d| codes.contains(&d.code));
    if has(&[Code::StreamShifted]) {
        "bytes were inserted into it or cut out of it"
    } else if has(&[Code::StreamNotDatabase, Code::StreamHeader, Code::StreamPage, Code::StreamCut, Code::StreamTable])
    {
        "it has damaged pages"
    } else if plan.through.is_some() {
        "a part of it is still in its -wal or -journal file"
    } else if has(&[Code::StreamMetaMissing, Code::StreamMetaTwice, Code::StreamMetaField]) || !plan.settings.is_empty()
    {
        "its settings are damaged"
    } else if has(&[Code::StreamKeyRule]) {
        "its keys above LOD 0 were those of the rule of 2021"
    } else if !wrong_keys.is_empty() {
        "rows of it have the keys of other blocks"
    } else if sound {
        "rows of it are damaged"
    } else {
        "its pages, indexes or lists disagree"
    }
}

impl StreamPlan {
    /// The positions whose blocks are lost; a row is written for some of them, without the voxels of the block.
    pub(super) fn missing_places(&self) -> HashSet<Place> {
        self.missing.iter().map(|(place, _)| *place).collect()
    }

    /// Whether the written rows differ from those of the source.
    fn changes_rows(&self, there: usize) -> bool {
        let plain = |row: &StreamDecision| {
            row.why.is_none() && row.origin == Origin::Found && row.voxels == Part::Kept && row.instances == Part::Kept
        };
        self.written() != there || !self.rows.iter().all(plain) || !self.settings.is_empty() || !self.lost.is_empty()
    }

    /// The files of the save that belong to this stream.
    fn handle(&mut self, save: &Save) {
        self.handled = write::files_of(self).into_iter().map(|path| below(&save.path, &path)).collect();
    }
}

fn has_unused(stream: &Stream<FileSource>, owners: &Owners) -> bool {
    let declared = stream.pages.declared();
    owners.iter().any(|(page, is)| is == Use::Nothing && page <= declared)
}

/// Pages that are damaged or that nothing points to, and that are not empty; also whether all of them can be read but for the
/// header of the database.
fn lost_pages(stream: &Stream<FileSource>, owners: &Owners) -> std::io::Result<(Vec<u32>, bool)> {
    let size = u64::from(stream.pages.header.page_size).max(1);
    let named: BTreeSet<u32> = stream
        .damage
        .iter()
        .filter(|d| matches!(d.code, Code::StreamNotDatabase | Code::StreamHeader) || walk::hides_cells(d))
        .filter_map(|d| u32::try_from(d.span.start / size + 1).ok())
        .collect();
    let is_header = stream.damage.iter().all(|d| d.code != Code::StreamNotDatabase && !walk::hides_cells(d));
    let (mut pages, mut all_read) = (Vec::new(), true);
    let mut buffer = Vec::new();
    for (page, is) in owners.iter() {
        let unread = matches!(is, Use::Nothing | Use::Damaged);
        let lost = unread || named.contains(&page);
        // Skip holes of a sparse file.
        if lost && (stream.pages.overlay.is_some() || has_data(stream, page)) {
            stream.pages.read(page, &mut buffer)?;
            if buffer.iter().any(|b| *b != 0) {
                pages.push(page);
                all_read &= !unread && is_header;
            }
        }
    }
    Ok((pages, all_read))
}

fn has_data(stream: &Stream<FileSource>, page: u32) -> bool {
    use crate::source::Source;
    let span = stream.pages.span(page);
    stream.pages.source.next_data(span.start) < span.end
}

/// The foreign tables and indexes of a stream.
fn foreign(tables: &[Table]) -> impl Iterator<Item = &Table> {
    tables.iter().filter(|t| !["meta", "blocks", "channels"].iter().any(|name| t.is(name)))
}
