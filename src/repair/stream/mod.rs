//! Deciding what is done with SQLite streams: copied, or written anew from the rows that can be read.
//!
//! A row is written when it is certain what it is and where it belongs: the table leads to it, or it stands on a page that
//! a damaged table has lost and nothing else claims its place. What the engine would refuse is kept in `lost+found`.

mod decide;
mod examine;
mod keys;
mod older;
mod report;
mod settings;
mod write;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use crate::beside;
use crate::damage::{Code, Level};
use crate::godot::channel::{CHANNELS, Depth};
use crate::godot::stream::loc::Place;
use crate::godot::stream::meta::Meta;
use crate::repair::mend::Mend;
use crate::repair::out::below;
use crate::repair::plan::Origin;
use crate::repair::{Action, Certainty, Error, Options};
use crate::save::{OwnedKey, Save, Stream, StreamFile, Table};
use crate::source::FileSource;
use crate::sqlite::walk::{Owners, Use};

pub use older::Older;
pub(super) use report::{json, words};
pub use settings::Setting;
pub(super) use write::write;

/// What becomes of one of the two blobs of a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Part {
    /// It is written as it is, also where it is NULL.
    #[default]
    Kept,
    /// It is not written; its bytes go to `lost+found`.
    LeftOut,
    /// It is written anew; its bytes as they were go to `lost+found`.
    Mended(Box<Mend>),
    /// That of a row of the backup is written, by its number there.
    Older(u32),
}

/// A row that is written.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamDecision {
    /// Its place.
    pub place: Place,
    /// Its number in the order of the stream; `None` where all of it is the backup's.
    pub row: Option<u32>,
    /// The page that it is on, there or in the backup.
    pub page: u32,
    /// How it came to be written.
    pub origin: Origin,
    /// How sure it is.
    pub certainty: Certainty,
    /// What was put right, where it was not simply there.
    pub why: Option<&'static str>,
    /// Its block.
    pub voxels: Part,
    /// Its instances.
    pub instances: Part,
}

/// Which part of a row is kept in `lost+found`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
pub struct LostRow {
    /// Its number in the order of the stream.
    pub row: u32,
    /// The page that it is on.
    pub page: u32,
    /// Which part.
    pub part: LostPart,
    /// Why it is there.
    pub why: &'static str,
    /// The place that its key means, where it means one.
    pub place: Option<Place>,
}

/// What is done with a stream.
#[derive(Debug)]
pub struct StreamPlan {
    /// Its path below the save.
    pub name: PathBuf,
    /// Where it is.
    pub path: PathBuf,
    /// What is done.
    pub action: Action,
    /// Why, in words.
    pub why: &'static str,
    /// What of it stands elsewhere and is written with it: `a journal` or `a write-ahead log`.
    pub through: Option<&'static str>,
    /// Settings that are put right.
    pub settings: Vec<Setting>,
    /// Why the settings stay as they are, where they do.
    pub unsettled: Option<&'static str>,
    /// The rows that are written, by their places.
    pub rows: Vec<StreamDecision>,
    /// Rows that are left out because another one is equal to the byte.
    pub doubled: usize,
    /// What goes to `lost+found`.
    pub lost: Vec<LostRow>,
    /// Places that are known to have had a row, or a block, with what is known of each.
    pub missing: Vec<(Place, &'static str)>,
    /// Pages that are kept in `lost+found` as they are.
    pub pages: Vec<u32>,
    /// Tables of others, and other parts of the schema, that are not written: their names. All files of the stream go to
    /// `lost+found` then.
    pub left_out: Vec<String>,
    /// The stream of the backup.
    pub backup: Option<Arc<Older>>,
    /// The files of the save that are not simply copied, below the save.
    pub handled: Vec<PathBuf>,
    /// What is read, and how it is written.
    work: Option<Arc<Work>>,
}

/// What is read of a stream that is written anew.
#[derive(Debug)]
struct Work {
    stream: Stream<FileSource>,
    #[cfg_attr(not(feature = "sqlite"), allow(dead_code))]
    meta: Meta,
    /// The rows of settings, as they are.
    #[cfg_attr(not(feature = "sqlite"), allow(dead_code))]
    settings: Vec<Vec<OwnedKey>>,
    /// The depths that most of its blocks have.
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
            doubled: 0,
            lost: Vec::new(),
            missing: Vec::new(),
            pages: Vec::new(),
            left_out: Vec::new(),
            backup: None,
            handled: Vec::new(),
            work: None,
        }
    }

    /// Whether something could not be brought back.
    #[must_use]
    pub fn leaves_damage(&self) -> bool {
        let older = |row: &StreamDecision| matches!(row.origin, Origin::Salvaged | Origin::Backup);
        let unused = |lost: &LostRow| lost.why != super::place::AS_IT_WAS;
        matches!(self.action, Action::SetAside | Action::FromBackup)
            || self.unsettled.is_some()
            || !self.missing.is_empty()
            || !self.pages.is_empty()
            || !self.left_out.is_empty()
            || self.lost.iter().any(unused)
            || self.rows.iter().any(older)
    }

    /// The stream and the rows of it that are written.
    #[must_use]
    pub fn stream(&self) -> Option<&Stream<FileSource>> {
        self.work.as_deref().map(|work| &work.stream)
    }
}

/// Reads the streams of a save and decides what is done with each.
pub(super) fn plan(save: &Save, options: &Options<'_>) -> Result<Vec<StreamPlan>, Error> {
    save.streams.iter().map(|file| one(save, file, options)).collect()
}

fn one(save: &Save, file: &StreamFile, options: &Options<'_>) -> Result<StreamPlan, Error> {
    options.go_on()?;
    let mut plan = StreamPlan::new(save, file);
    let Some(mut stream) = older::open(save, file)? else {
        let whole = Older::of(save, file, options)?.filter(|older| older.is_healthy());
        plan.action = if whole.is_some() { Action::FromBackup } else { Action::SetAside };
        plan.why = if file.len == 0 { "there is no byte in it" } else { "no row of it can be read" };
        plan.backup = whole.map(Arc::new);
        plan.handle(save);
        return Ok(plan);
    };
    let failed = |error| beside::Error::read(&file.path)(error);
    if stream.damage.iter().any(|d| d.code == Code::OverLimit) {
        plan.why = "it has more pages or rows than are read";
        return Ok(plan);
    }
    // The size of blocks is held against the settings when these are settled.
    let said = stream.meta;
    stream.meta.block_size_po2 = None;
    let (seen, owners) = examine::all(&stream, &|| options.go_on().is_ok()).map_err(failed)?;
    options.go_on()?;
    stream.meta = said;
    let settled = settings::settle(&stream, &seen).map_err(failed)?;
    let usual = examine::Usual::of(&stream, &seen, settled.meta.block_size_po2.unwrap_or(4)).map_err(failed)?;
    let older = Older::of(save, file, options)?;
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
        meta: settled.meta,
        usual: &usual,
        options,
        limits: &save.options.limits,
    };
    deciding.decide(&mut plan)?;
    plan.pages = lost_pages(&stream, &owners).map_err(failed)?;
    plan.left_out =
        stream.tables.iter().filter(|t| !write::can_be_made(t, &stream.tables)).map(|t| t.name.clone()).collect();
    let sound = stream.damage.iter().all(|d| d.code.level() < Level::Warning) && !has_unused(&stream, &owners);
    if sound && plan.through.is_none() && !plan.changes_rows(seen.len()) {
        return Ok(StreamPlan::new(save, file));
    }
    plan.action = Action::Rebuild;
    plan.why = why(&stream, sound, &plan);
    plan.handle(save);
    let settings = settled.rows;
    plan.work = Some(Arc::new(Work { stream, meta: settled.meta, settings, depths: usual.depths }));
    Ok(plan)
}

fn why(stream: &Stream<FileSource>, sound: bool, plan: &StreamPlan) -> &'static str {
    let has = |codes: &[Code]| stream.damage.iter().any(|d| codes.contains(&d.code));
    if has(&[Code::StreamNotDatabase, Code::StreamHeader, Code::StreamPage, Code::StreamCut, Code::StreamTable]) {
        "pages of it are damaged"
    } else if plan.through.is_some() {
        "a part of it stands in another file"
    } else if has(&[Code::StreamMetaMissing, Code::StreamMetaTwice, Code::StreamMetaField]) || !plan.settings.is_empty()
    {
        "its settings are damaged"
    } else if sound {
        "rows of it are damaged"
    } else {
        "its pages, indexes or lists disagree"
    }
}

impl StreamPlan {
    /// Whether another row is written than was there, or one is not.
    fn changes_rows(&self, there: usize) -> bool {
        let plain = |row: &StreamDecision| {
            row.why.is_none() && row.origin == Origin::Found && row.voxels == Part::Kept && row.instances == Part::Kept
        };
        self.rows.len() != there || !self.rows.iter().all(plain) || !self.settings.is_empty() || !self.lost.is_empty()
    }

    /// The files of the save that are this stream's.
    fn handle(&mut self, save: &Save) {
        self.handled = write::files_of(self).into_iter().map(|path| below(&save.path, &path)).collect();
    }
}

fn has_unused(stream: &Stream<FileSource>, owners: &Owners) -> bool {
    let declared = stream.pages.declared();
    owners.iter().any(|(page, is)| is == Use::Nothing && page <= declared)
}

/// Pages that are damaged or that nothing leads to, and are not empty.
fn lost_pages(stream: &Stream<FileSource>, owners: &Owners) -> std::io::Result<Vec<u32>> {
    let size = u64::from(stream.pages.header.page_size).max(1);
    let named: BTreeSet<u32> = stream
        .damage
        .iter()
        .filter(|d| matches!(d.code, Code::StreamPage | Code::StreamNotDatabase | Code::StreamHeader))
        .filter_map(|d| u32::try_from(d.span.start / size + 1).ok())
        .collect();
    let mut pages = Vec::new();
    let mut buffer = Vec::new();
    for (page, is) in owners.iter() {
        let lost = matches!(is, Use::Nothing | Use::Damaged) || named.contains(&page);
        // Holes of a sparse file are not read.
        if lost && (stream.pages.overlay.is_some() || has_data(stream, page)) {
            stream.pages.read(page, &mut buffer)?;
            if buffer.iter().any(|b| *b != 0) {
                pages.push(page);
            }
        }
    }
    Ok(pages)
}

fn has_data(stream: &Stream<FileSource>, page: u32) -> bool {
    use crate::source::Source;
    let span = stream.pages.span(page);
    stream.pages.source.next_data(span.start) < span.end
}

/// The tables and indexes of a stream that are not its own.
fn foreign(tables: &[Table]) -> impl Iterator<Item = &Table> {
    tables.iter().filter(|t| !["meta", "blocks", "channels"].iter().any(|name| t.is(name)))
}
