//! An open SQLite stream: its settings, its rows, and their blocks and instances on demand.

mod map;
mod rows;
mod schema;
mod table;
mod view;

use std::io;

use crate::bytes::{Span, index};
use crate::damage::{Code, Damage, Value};
use crate::godot::stream::loc::{self, Format, Place};
use crate::godot::stream::meta::Meta;
use crate::limits::Limits;
use crate::source::Source;
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
pub use view::{InstancesView, StreamScratch};

/// The files that may lie beside a database.
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
    /// How its keys are written: by the settings, or by the keys themselves; `None` where there is no key.
    pub format: Option<Format>,
    /// Its tables and indexes, as far as the schema can be read.
    pub tables: Vec<Table>,
    /// Its rows, by LOD and position; those whose keys are no places come last, and of those with one place first the one
    /// that the game finds.
    pub rows: Vec<StreamRow>,
    /// Who owns its pages, but for those in which blobs of blocks go on.
    pub owners: Owners,
    /// What is wrong with header, pages, schema, settings and keys as a whole.
    pub damage: Vec<Damage>,
    /// Caps.
    pub limits: Limits,
}

impl<S: Source> Stream<S> {
    /// Reads header, schema, settings and keys; `Ok(None)` when there is nothing that can be read, with the damage in
    /// `damage`.
    ///
    /// # Errors
    /// What the operating system says of the file as a whole.
    pub fn load(source: S, beside: Beside<S>, limits: &Limits, damage: &mut Vec<Damage>) -> io::Result<Option<Self>> {
        if source.is_empty() {
            damage.push(Damage::new(Code::StreamEmpty, Span::default(), "file").found(Value::Bytes(0)));
            return Ok(None);
        }
        let mut own = Vec::new();
        let (overlay, page_size) = match beside_of(beside, &mut own)? {
            Some((overlay, size)) => (Some(overlay), Some(size)),
            None => (None, None),
        };
        let mut prefix = Vec::new();
        match overlay.as_ref().and_then(|overlay| Some((overlay, *overlay.at.get(&1)?))) {
            Some((overlay, at)) => overlay.source.read_into(at, HEADER_BYTES, &mut prefix)?,
            None => source.read_into(0, HEADER_BYTES, &mut prefix)?,
        }
        let header = match Header::decode(&prefix, &mut own) {
            Some(header) => header,
            None => match rows::guess_page_size(&source)? {
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
                own.push(unusable("it is of a database with pages of another size"));
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
            tables: Vec::new(),
            rows: Vec::new(),
            damage: own,
            limits: *limits,
        };
        stream.look();
        Ok(Some(stream))
    }

    /// Schema, trees, free pages, and what a damaged one of them has lost.
    fn look(&mut self) {
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
        let mut found = rows::Found::default();
        let own = |table: &Table| ["blocks", "meta", "channels"].iter().any(|name| table.is(name) || table.is_of(name));
        let (tables, foreign): (Vec<Table>, Vec<Table>) = self.tables.clone().into_iter().partition(own);
        tables.iter().for_each(|table| found.table(self, table));
        let lacks = |name: &str| !tables.iter().any(|table| table.is(name));
        // A table with another name may be one of those that are missing.
        let lacking = !known || lacks("blocks") || lacks("meta");
        if !lacking {
            foreign.iter().for_each(|table| found.table(self, table));
        }
        if known {
            walk::free_pages(&self.pages, &mut self.owners, &mut self.damage);
        }
        let broken = self.damage.iter().skip(before).any(|d| d.code == Code::StreamPage);
        if broken || lacking || found.leaves_over(self) {
            found.salvage(self);
        }
        if lacking {
            foreign.iter().for_each(|table| found.table(self, table));
        }
        if known {
            self.beyond(declared);
        }
        found.finish(self, known);
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

    /// The row of a place; of several, the one that the game finds.
    #[must_use]
    pub fn find(&self, place: Place) -> Option<usize> {
        let from = self.rows.partition_point(|row| row.place.is_some_and(|p| p < place));
        self.rows.get(from).filter(|row| row.place == Some(place)).map(|_| from)
    }

    /// The LODs that have blocks, from the first on.
    #[must_use]
    pub fn lods(&self) -> Vec<u8> {
        let mut lods: Vec<u8> = self.rows.iter().filter_map(|row| row.place).map(|place| place.lod).collect();
        lods.dedup();
        lods
    }

    /// The place that a key names, by the format of the stream.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn place(&self, key: loc::Key<'_>) -> Result<Place, loc::Fault> {
        self.format.ok_or("of no known format").and_then(|format| format.decode(key))
    }
}

/// A number of reserved bytes that puts the schema's own cells outside of their page is wrong: it is taken as 0.
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

/// What a journal or a write-ahead log has, with what there is to say of it.
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

fn unusable(why: &'static str) -> Damage {
    Damage::new(Code::StreamJournalUnusable, Span::default(), "journal beside the database").found(Value::Words(why))
}
