//! An open SQLite stream: its settings and rows, with blocks and instances on demand.

mod index_match;
mod map;
mod packed;
mod page_order;
mod phases;
mod places;
mod row_order;
mod rows;
mod schema;
mod sort;
mod stream_rows;
mod table;
mod view;

use std::io;
use std::sync::OnceLock;

use crate::bytes::{Span, index};
use crate::damage::{Code, Damage, Value};
use crate::godot::byte_order::ByteOrder;
use crate::godot::stream::loc::{self, Format, KeyRule, Place};
use crate::godot::stream::meta::Meta;
use crate::limits::Limits;
use crate::source::{Restoration, Source};
use crate::sqlite::btree::Page;
use crate::sqlite::header::{HEADER_BYTES, Header};
use crate::sqlite::journal::{self, Found};
use crate::sqlite::pages::{MAX_PAGES, Overlay, Pages};
use crate::sqlite::wal;
use crate::sqlite::walk::{self, Owners, Use};

pub use map::PageKind;
pub(crate) use rows::OwnedKey;
pub use rows::{Blob, StreamRow};
pub use schema::Table;
pub use stream_rows::{Rows, StreamRows};
pub use view::{InstancesView, StreamScratch};

/// The files that may exist next to a database.
#[derive(Debug)]
pub struct Beside<S> {
    /// `NAME-journal`.
    pub journal: Option<S>,
    /// `NAME-wal`.
    pub wal: Option<S>,
}

impl<S> Default for Beside<S> {
    fn default() -> Self {
        Self { journal: None, wal: None }
    }
}

/// A stream whose keys have been read.
#[derive(Debug)]
pub struct Stream<S> {
    /// Its pages.
    pub pages: Pages<S>,
    /// Its settings.
    pub meta: Meta,
    /// The format of its keys, from the settings or inferred from the keys; `None` if there is no key.
    pub format: Option<Format>,
    /// How positions above LOD 0 are stored, as given or inferred from the keys.
    pub rule: KeyRule,
    /// Its tables and indexes, as far as the schema can be read.
    pub tables: Vec<Table>,
    /// Its rows, by LOD and position. Rows whose keys are not positions come last. Of rows with the same position, the one
    /// that the game finds comes first.
    pub rows: StreamRows,
    /// Owners of its pages, without the overflow pages of blocks.
    pub owners: Owners,
    /// Damage of the header, the pages, the schema, the settings and the keys as a whole.
    pub damage: Vec<Damage>,
    /// Caps.
    pub limits: Limits,
    /// Whether the keys are the numbers of the rows, by the schema.
    rowid_keys: bool,
    /// The byte order of blocks that show none themselves, when it was needed.
    order: OnceLock<ByteOrder>,
}

impl<S: Source> Stream<S> {
    /// Reads the header, the schema, the settings and the keys; `Ok(None)` if nothing can be read, with the damage in
    /// `damage`.
    ///
    /// # Errors
    /// I/O errors of the file as a whole.
    pub fn load(source: S, beside: Beside<S>, limits: &Limits, damage: &mut Vec<Damage>) -> io::Result<Option<Self>> {
        Self::load_as(source, beside, limits, &Layout::default(), damage)
    }

    /// The same with what is known of its pages already.
    pub(crate) fn load_as(
        source: S,
        beside: Beside<S>,
        limits: &Limits,
        layout: &Layout,
        damage: &mut Vec<Damage>,
    ) -> io::Result<Option<Self>> {
        if source.is_empty() {
            damage.push(Damage::new(Code::StreamEmpty, Span::default(), "file").found(Value::Bytes(0)));
            return Ok(None);
        }
        let mut own = layout.damage.clone();
        let (overlay, page_size) = match beside_of(beside, &mut own)? {
            Some((overlay, size)) => (Some(overlay), Some(size)),
            None => (None, None),
        };
        let mut prefix = Vec::new();
        match overlay.as_ref().and_then(|overlay| Some((overlay, *overlay.at.get(&1)?))) {
            Some((overlay, at)) => overlay.source.read_into(at, HEADER_BYTES, &mut prefix)?,
            None => source.read_into(0, HEADER_BYTES, &mut prefix)?,
        }
        let header = match (Header::decode(&prefix).report_to(&mut own), layout.page_size) {
            (Some(header), Some(size)) if header.page_size != size => {
                let damaged = Damage::new(Code::StreamHeader, Span::sized(16, 2), "size of pages");
                own.push(damaged.expected(Value::Number(size.into())).found(Value::Number(header.page_size.into())));
                Header { page_size: size, ..header }
            }
            (Some(header), _) => header,
            (None, Some(size)) => Header::of_page_size(size),
            (None, None) => match guess_page_size(&source)? {
                Some(size) => Header::of_page_size(size),
                None => {
                    damage.append(&mut own);
                    return Ok(None);
                }
            },
        };
        let overlay = overlay.filter(|_| {
            let fits = page_size == Some(header.page_size);
            if !fits {
                own.retain(|d| !matches!(d.code, Code::StreamJournal | Code::StreamWal));
                own.push(unusable("it belongs to a database with another page size"));
            }
            fits
        });
        let mut pages = Pages { source, header, overlay };
        own.extend(mend_reserved(&mut pages)?);
        let mut stream = Self {
            owners: Owners::new(&pages),
            pages,
            meta: Meta::default(),
            format: None,
            rule: KeyRule::New,
            tables: Vec::new(),
            rows: StreamRows::default(),
            damage: own,
            limits: *limits,
            rowid_keys: false,
            order: OnceLock::new(),
        };
        stream.read_structure(layout);
        Ok(Some(stream))
    }

    /// Reads the schema, the trees and the free pages, and rows on pages that damaged trees no longer lead to.
    fn read_structure(&mut self, layout: &Layout) {
        let known = self.damage.iter().all(|d| d.code != Code::StreamNotDatabase);
        let (declared, in_file) = (self.pages.declared(), self.pages.in_file());
        if self.pages.overlay.is_none() && declared > in_file {
            let at = Span::new(self.pages.source.len(), self.pages.source.len());
            self.damage.push(
                Damage::new(Code::StreamCut, at, "pages of the file")
                    .expected(Value::Number(declared.into()))
                    .found(Value::Number(in_file.into())),
            );
        }
        if in_file > MAX_PAGES {
            let damaged = Damage::new(Code::OverLimit, Span::default(), "pages of the database");
            self.damage.push(damaged.expected(Value::AtMost(MAX_PAGES.into())).found(Value::Number(in_file.into())));
        }
        let before = self.damage.len();
        if known {
            self.tables = schema::read(&self.pages, &mut self.owners, &mut self.damage);
        }
        self.rowid_keys = self.tables.iter().any(|table| table.is("blocks") && table.has_rowid_key());
        let mut found = rows::Found::default();
        let own =
            |table: &Table| ["blocks", "meta", "channels"].iter().any(|name| table.is(name) || table.is_index_of(name));
        // Walking them changes what is known of pages, not of tables.
        let all = std::mem::take(&mut self.tables);
        found.is_indexed = all.iter().any(|table| table.is_index_of("blocks") && table.root != 0);
        let (tables, foreign): (Vec<&Table>, Vec<&Table>) = all.iter().partition(|table| own(table));
        tables.iter().for_each(|table| found.table(self, table));
        let lacks = |name: &str| !tables.iter().any(|table| table.is(name));
        // A table with an unknown name may be one of the missing ones.
        let lacking = !known || lacks("blocks") || lacks("meta");
        if !lacking {
            foreign.iter().for_each(|table| found.table(self, table));
        }
        if known {
            walk::free_pages(&self.pages, &mut self.owners, &mut self.damage);
        }
        let broken = self.damage.iter().skip(before).any(walk::hides_cells);
        if broken || lacking || found.leaves_over(self) {
            found.salvage(self);
        }
        if lacking {
            foreign.iter().for_each(|table| found.table(self, table));
        }
        self.tables = all;
        if known {
            self.beyond(declared);
        }
        found.finish(self, known, layout);
        places::report_other_format(self);
    }

    /// Pages in use that the header does not count: SQLite does not reach them.
    fn beyond(&mut self, declared: u32) {
        let used =
            |(page, is): &(u32, Use)| *page > declared && !matches!(is, Use::Nothing | Use::PointerMap | Use::Lock);
        if let Some((page, _)) = self.owners.iter().filter(used).last() {
            self.damage.push(
                Damage::new(Code::StreamHeader, Span::sized(28, 4), "number of pages")
                    .expected(Value::AtLeast(page.into()))
                    .found(Value::Number(declared.into())),
            );
        }
    }

    /// The row of a position; of several, the one that the game finds.
    #[must_use]
    pub fn find(&self, place: Place) -> Option<usize> {
        let from = self.rows.partition_point(|row| row.place.is_some_and(|p| p < place));
        self.rows.get(from).filter(|row| row.place == Some(place)).map(|_| from)
    }

    /// LOD and position of the block that the instances of a row belong to: with keys of the old rule, not the block of its
    /// voxels.
    #[must_use]
    pub fn instances_place(&self, row: &StreamRow) -> Option<Place> {
        let place = row.place?;
        if !row.moved {
            return Some(place);
        }
        let factor = 1i32.checked_shl(place.lod.into())?;
        Some(Place { position: place.position.map(|v| v.saturating_mul(factor)), ..place })
    }

    /// The LODs that have blocks, in ascending order.
    #[must_use]
    pub fn lods(&self) -> Vec<u8> {
        let mut lods: Vec<u8> = Vec::new();
        for lod in self.rows.iter().filter_map(|row| row.place).map(|place| place.lod) {
            if lods.last() != Some(&lod) {
                lods.push(lod);
            }
        }
        lods
    }

    /// Decodes a key to a LOD and a position, by the format of the stream. Above LOD 0 it is the position of a block of
    /// voxels only after [`rule`](Self::rule) is applied.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn place(&self, key: loc::Key<'_>) -> Result<Place, loc::Fault> {
        self.format.ok_or("no known format").and_then(|format| format.decode(key))
    }
}

/// What is known of the pages of a stream before it is loaded.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// How positions above LOD 0 are stored, if it is given.
    pub rule: Option<KeyRule>,
    /// The format of keys, if that of the settings is known to be wrong.
    pub format: Option<Format>,
    /// Bytes of a page, by the pages themselves.
    page_size: Option<u32>,
    /// What was undone.
    pub damage: Vec<Damage>,
}

impl Layout {
    /// Nothing is known but how positions above LOD 0 are stored.
    #[cfg(feature = "sqlite")]
    pub(crate) fn with_rule(rule: KeyRule) -> Self {
        Self { rule: Some(rule), ..Self::default() }
    }

    /// Looks for the pages of a file whose header or length does not fit them; gives how the file is read then, too.
    ///
    /// # Errors
    /// I/O errors.
    pub(super) fn find<S: Source>(source: &S, has_overlay: bool) -> io::Result<(Self, Option<Restoration>)> {
        let mut prefix = Vec::new();
        source.read_into(0, HEADER_BYTES, &mut prefix)?;
        let header = Header::decode(&prefix).value;
        let mut layout = Self::default();
        if let Some(header) = &header {
            let pages = u64::from(if header.pages > 0 { header.pages } else { 1 });
            let whole = source.len().is_multiple_of(header.page_size.into())
                && (header.pages == 0 || source.len() == pages.saturating_mul(header.page_size.into()));
            // What a log or a journal holds explains another length.
            if (whole || has_overlay) && phases::first_page_fits(source, header)? {
                return Ok((layout, None));
            }
        }
        let Some(survey) = phases::survey(source, header.as_ref())? else { return Ok((layout, None)) };
        layout.page_size = Some(survey.page_size);
        let Some((restoration, breaks)) = survey.restored.filter(|_| !has_overlay) else { return Ok((layout, None)) };
        for broken in breaks {
            let at = Span::sized(broken.at, 1);
            let field = if broken.change > 0 {
                "bytes inserted before this offset"
            } else {
                "bytes missing before this offset"
            };
            let damaged = Damage::new(Code::StreamShifted, at, field);
            layout.damage.push(damaged.found(Value::Number(broken.change.unsigned_abs())));
        }
        Ok((layout, Some(restoration)))
    }
}

/// What the schema of a database shows.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::save) enum Schema {
    /// It has the tables of a stream, or one with columns that only a stream has.
    Stream,
    /// It can be read, and is that of another program: the names of its tables.
    Foreign(Vec<String>),
    /// It cannot be read, so that it may be that of a stream.
    Unreadable,
}

/// Reads the schema of a database, through its journal or log.
pub(super) fn schema_of<S: Source>(source: S, beside: Beside<S>) -> Schema {
    let mut prefix = Vec::new();
    if source.read_into(0, HEADER_BYTES, &mut prefix).is_err() {
        return Schema::Unreadable;
    }
    let Some(header) = Header::decode(&prefix).value else { return Schema::Unreadable };
    let overlay = beside_of(beside, &mut Vec::new()).ok().flatten().map(|(overlay, _)| overlay);
    let pages = Pages { source, header, overlay };
    let mut damage = Vec::new();
    let tables = schema::read(&pages, &mut Owners::new(&pages), &mut damage);
    let both = ["meta", "blocks"].iter().all(|name| tables.iter().any(|table| table.is(name)));
    // Tables of these names of another program have other columns. One of a stream may have lost its name or a column.
    let of_stream = |table: &Table| {
        let columns = table.columns();
        let has = |name: &str| columns.iter().any(|column| column == name);
        let (key, voxels) = (has("loc"), has("vb"));
        key && voxels || table.is("blocks") && (key || voxels) || table.is("meta") && has("block_size_po2")
    };
    if both && damage.iter().all(|d| d.code != Code::StreamTable) || tables.iter().any(of_stream) {
        Schema::Stream
    } else if damage.iter().any(|d| d.code != Code::StreamTable && d.code.hides_data()) {
        Schema::Unreadable
    } else {
        Schema::Foreign(tables.into_iter().filter(|table| !table.is_index).map(|table| table.name).collect())
    }
}

fn guess_page_size<S: Source>(source: &S) -> io::Result<Option<u32>> {
    match phases::survey(source, None)? {
        Some(survey) => Ok(Some(survey.page_size)),
        None => rows::guess_page_size(source),
    }
}

/// Treats a number of reserved bytes as 0 if the cells of the schema would be outside of their page with it.
fn mend_reserved<S: Source>(pages: &mut Pages<S>) -> io::Result<Option<Damage>> {
    let reserved = pages.header.reserved;
    let usable = index(pages.header.usable().into());
    let mut page = Vec::new();
    pages.read_some(1, index(pages.header.page_size.into()), &mut page)?;
    let beyond = |page: Page<'_>| page.all().flatten().any(|cell| cell.end > usable);
    if reserved == 0 || !Page::parse(1, &page).is_ok_and(beyond) {
        return Ok(None);
    }
    pages.header.reserved = 0;
    let damaged = Damage::new(Code::StreamHeader, Span::sized(20, 1), "reserved bytes of pages");
    Ok(Some(damaged.expected(Value::Number(0)).found(Value::Number(reserved.into()))))
}

/// The content of a journal or a write-ahead log, with its findings.
fn beside_of<S: Source>(beside: Beside<S>, damage: &mut Vec<Damage>) -> io::Result<Option<(Overlay<S>, u32)>> {
    if let Some(journal) = beside.journal {
        match journal::read(journal)? {
            Found::Nothing => {}
            Found::Pages(overlay, size) => {
                let pages = Value::Number(u64::try_from(overlay.at.len()).unwrap_or(u64::MAX));
                let field = "number of pages that the journal undoes";
                damage.push(Damage::new(Code::StreamJournal, Span::default(), field).found(pages));
                return Ok(Some((overlay, size)));
            }
            Found::Unusable(why) => damage.push(unusable(why)),
        }
    }
    if let Some(log) = beside.wal {
        match wal::read(log)? {
            Found::Nothing => {}
            Found::Pages(overlay, size) => {
                let pages = Value::Number(u64::try_from(overlay.at.len()).unwrap_or(u64::MAX));
                let field = "number of pages in the write-ahead log";
                damage.push(Damage::new(Code::StreamWal, Span::default(), field).found(pages));
                return Ok(Some((overlay, size)));
            }
            Found::Unusable(why) => damage.push(unusable(why)),
        }
    }
    Ok(None)
}

/// Why a journal or log cannot be used, if it cannot; a read error shows when the stream is read.
pub(in crate::save) fn unusable_beside<S: Source>(file: S, ending: &str) -> Option<Damage> {
    let found = if ending == "-wal" { wal::read(file) } else { journal::read(file) };
    match found {
        Ok(Found::Unusable(why)) => Some(unusable(why)),
        _ => None,
    }
}

fn unusable(why: &'static str) -> Damage {
    Damage::new(Code::StreamJournalUnusable, Span::default(), "journal beside the database").found(Value::Words(why))
}
