//! The rows of a stream: from its tables, and from pages that its tables no longer lead to.

use std::io;

use super::index_match::{self, Named, Sum};
use super::packed::{Entry, Packed, StoredKey};
use super::places::{apply_rule, by_old_rule, infer_format, place_rows};
use super::row_order::RowOrder;
use super::schema::Table;
use super::sort::sort;
use super::{Layout, Stream};
use crate::bytes::{Span, index, len64};
use crate::damage::{Code, Damage, Value};
use crate::godot::stream::loc::{Format, Key, KeyRule, Place};
use crate::godot::stream::meta::Meta;
use crate::source::Source;
use crate::sqlite::btree::{Cell, Kind, Page, local_len};
use crate::sqlite::header::Header;
use crate::sqlite::record::{self, Column, Type};
use crate::sqlite::walk::{self, Use};

/// Pages of a file that are read to infer the page size.
const GUESS_PAGES: u64 = 256;

/// Columns of a row that are read: the key, voxels and instances.
pub(super) const COLUMNS: usize = 3;

/// The content of a blob column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blob {
    /// NULL.
    Null,
    /// A blob of this many bytes.
    Bytes(u32),
    /// A value of another type.
    Other,
}

impl Blob {
    fn from_column(column: Option<&Column>) -> Self {
        match column.map(|column| (column.kind(), column.len)) {
            None | Some((Type::Null, _)) => Self::Null,
            Some((Type::Blob, len)) => Self::Bytes(u32::try_from(len).unwrap_or(u32::MAX)),
            Some(_) => Self::Other,
        }
    }

    /// Its bytes.
    #[must_use]
    pub const fn len(self) -> u32 {
        match self {
            Self::Bytes(len) => len,
            Self::Null | Self::Other => 0,
        }
    }

    /// Whether there is no byte.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// A row of the table `blocks`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamRow {
    /// LOD and position of its block; `None` if its key is not a position.
    pub place: Option<Place>,
    /// The page that it is on.
    pub page: u32,
    /// Its cell in that page.
    pub cell: u16,
    /// Its number in the table.
    pub rowid: i64,
    /// Whether its key is written differently from how the engine writes it, so that the game does not find it.
    pub odd: bool,
    /// Whether the position of its voxels is another than that of its key, by the old rule.
    pub moved: bool,
    /// Whether its table no longer leads to it.
    pub lost: bool,
    /// Whether it may have been deleted: its table is whole without it, or an index does not contain it. Such a row may be
    /// an old one.
    pub stale: bool,
    /// Whether its key is its number, and that is out of the order of its table: the row may have had another one.
    pub misplaced: bool,
    /// The content of `vb`.
    pub voxels: Blob,
    /// The content of `instances`.
    pub instances: Blob,
    /// Bytes of the row.
    pub payload: u32,
}

/// The rows that were found, before the format of their keys is known.
#[derive(Default)]
pub(super) struct Found {
    rows: Packed,
    over: bool,
    meta: Vec<Meta>,
    meta_damage: Vec<Damage>,
    /// Whether `blocks` has an index, with which its rows are compared.
    pub is_indexed: bool,
    /// The rows that its table leads to.
    of_table: Sum,
    /// The entries of its indexes, if one was read.
    of_index: Option<Sum>,
    /// The rows that its table does not lead to, if there is an index.
    lost: Vec<Named>,
    /// The rows whose numbers are out of the order of the table, by how many rows were before them.
    misplaced: Vec<u32>,
    /// Whether the whole table `blocks` was read.
    blocks_whole: bool,
    /// Whether its whole index was read.
    index_whole: bool,
}

/// A key or another value, owned.
#[derive(Clone, Debug)]
pub(crate) enum OwnedKey {
    Null,
    Int(i64),
    Float(f64),
    Text(Box<[u8]>),
    Blob(Box<[u8]>),
}

impl OwnedKey {
    /// Copies a value; texts become UTF-8.
    pub(crate) fn stored(key: Key<'_>, header: &Header) -> Self {
        match key {
            Key::Text(bytes) => Self::Text(header.utf8(bytes).into()),
            other => Self::from_utf8(other),
        }
    }

    /// Copies a value whose text is UTF-8 already.
    pub(crate) fn from_utf8(key: Key<'_>) -> Self {
        match key {
            Key::Null => Self::Null,
            Key::Int(n) => Self::Int(n),
            Key::Float(n) => Self::Float(n),
            Key::Text(bytes) => Self::Text(bytes.into()),
            Key::Blob(bytes) => Self::Blob(bytes.into()),
        }
    }

    pub(crate) fn as_key(&self) -> Key<'_> {
        match self {
            Self::Null => Key::Null,
            Self::Int(n) => Key::Int(*n),
            Self::Float(n) => Key::Float(*n),
            Self::Text(bytes) => Key::Text(bytes),
            Self::Blob(bytes) => Key::Blob(bytes),
        }
    }
}

/// The key of a row: its row number if the column is the row number, which rows store as NULL. If the table is known to have
/// such keys (`is_rowid`), SQLite ignores what is stored.
pub(super) fn key_of<'p>(columns: &[Column], payload: &'p [u8], rowid: i64, is_rowid: bool) -> Key<'p> {
    match columns.first() {
        Some(column) if is_rowid || column.kind() == Type::Null => Key::Int(rowid),
        Some(column) => column.value(payload),
        None => Key::Null,
    }
}

impl Found {
    /// Walks a table or an index.
    pub fn table<S: Source>(&mut self, stream: &mut Stream<S>, table: &Table) {
        if table.root == 0 {
            return;
        }
        let rowid_keys = stream.rowid_keys;
        let Stream { pages, owners, damage, limits, .. } = stream;
        let pages = &*pages;
        let (mut last, mut unordered) = (None, None);
        // Owners cannot be changed while the tree is walked.
        let mut chains: Vec<(u32, u16)> = Vec::new();
        let is_blocks = table.is("blocks");
        let is_meta = table.is("meta");
        let index_of_blocks = table.is_index_of("blocks");
        let mut entries = index_of_blocks.then(Sum::default).map(|sum| self.of_index.unwrap_or(sum));
        let before = damage.len();
        let first = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        let mut order = RowOrder::default();
        walk::tree(pages, table.root, table.is_index, owners, damage, &mut |page, number, cell| {
            if !table.is_index && last.is_some_and(|last| cell.rowid <= last) {
                unordered = Some(page);
            }
            last = Some(cell.rowid);
            if is_blocks {
                let is_read = self.row((page, number), cell, (false, rowid_keys), &pages.header, limits.stream_rows);
                order.add(cell.rowid, cell.fits && is_read);
            } else {
                if is_meta {
                    self.meta(cell, page_span(pages, page, cell));
                } else if let Some(entries) = &mut entries
                    && let Some(entry) = index_match::name_entry(cell, &pages.header)
                {
                    entries.add(entry);
                }
                if cell.overflow.is_some() {
                    chains.push((page, number));
                }
            }
        });
        let whole = !damage.iter().skip(before).any(walk::hides_cells);
        if is_blocks && rowid_keys {
            self.misplaced.extend(order.finish().into_iter().map(|row| row.saturating_add(first)));
        }
        if is_blocks {
            self.blocks_whole = whole;
        } else if index_of_blocks {
            self.index_whole = whole;
        }
        if let Some(page) = unordered {
            damage.push(walk::fault(pages, page, "page of a table", "rows are out of order"));
        }
        let mut buffer = Vec::new();
        for (page, number) in chains {
            if let Ok(page) = walk::read_page(pages, page, &mut buffer)
                && let Some(cell) = page.cell(number)
            {
                // A page that cannot be read has no owner.
                let _ = walk::claim_chain(pages, &cell, Use::Overflow(None), owners);
            }
        }
        self.of_index = entries.or(self.of_index);
    }

    /// Adds a row. Returns whether its columns can be read.
    fn row(
        &mut self,
        (page, number): (u32, u16),
        cell: &Cell<'_>,
        (lost, rowid_key): (bool, bool),
        header: &Header,
        cap: usize,
    ) -> bool {
        if self.rows.len() >= cap {
            self.over = true;
            return false;
        }
        let columns = record::columns_of_row(cell.local, cell.payload, COLUMNS);
        let (voxels, instances, key) = match &columns {
            Some(columns) => {
                let key = key_of(columns, cell.local, cell.rowid, rowid_key);
                (Blob::from_column(columns.get(1)), Blob::from_column(columns.get(2)), key)
            }
            None => (Blob::Other, Blob::Other, Key::Null),
        };
        if self.is_indexed {
            let named = index_match::name_row(key, cell.rowid, header);
            if lost {
                self.lost.push(named);
            } else {
                self.of_table.add(named);
            }
        }
        // Only one format has texts, and one has blobs.
        let read = |format: Format, key: Key<'_>| {
            let exact = format.decode(key).ok();
            (exact.or_else(|| format.decode_close(key)), exact.is_none())
        };
        let (key, (place, odd)) = match key {
            Key::Int(n) if n == cell.rowid => (StoredKey::Rowid, (None, true)),
            Key::Int(n) => (StoredKey::Int(n), (None, true)),
            Key::Text(bytes) => (StoredKey::Text, read(Format::Text, Key::Text(&header.utf8(bytes)))),
            Key::Blob(bytes) => (StoredKey::Blob, read(Format::Blob, Key::Blob(bytes))),
            Key::Null | Key::Float(_) => (StoredKey::Other, (None, true)),
        };
        let payload = u32::try_from(cell.payload).unwrap_or(u32::MAX);
        let row = StreamRow {
            moved: false,
            place,
            odd,
            page,
            cell: number,
            rowid: cell.rowid,
            lost,
            stale: false,
            misplaced: false,
            voxels,
            instances,
            payload,
        };
        self.rows.push(&Entry { row, key });
        columns.is_some()
    }

    fn meta(&mut self, cell: &Cell<'_>, span: Span) {
        let columns = record::columns(cell.local, cell.payload).unwrap_or_default();
        let values: Vec<(Key<'_>, Span)> = columns.iter().map(|column| (column.value(cell.local), span)).collect();
        self.meta.push(Meta::decode(&values).report_to(&mut self.meta_damage));
    }

    /// Searches every page that nothing points to for leaves with rows of blocks, and with settings if these are
    /// missing.
    pub fn salvage<S: Source>(&mut self, stream: &mut Stream<S>) {
        let rowid_keys = stream.rowid_keys;
        let Stream { pages, owners, limits, .. } = stream;
        let pages = &*pages;
        let no_meta = self.meta.is_empty();
        // If several such leaves have a row of settings, which one is the newest is unknown.
        let mut known: Vec<i64> = self.rows.iter().map(|entry| entry.row.rowid).collect();
        known.sort_unstable();
        let mut buffer = Vec::new();
        let mut number = 0u32;
        while number < pages.count() {
            number = number.saturating_add(1);
            if owners.page_use(number) != Some(Use::Nothing) {
                continue;
            }
            // Skip holes of a sparse file.
            let hole = pages.source.next_data(pages.span(number).start).saturating_sub(pages.span(number).end);
            let empty = hole.checked_div(pages.header.page_size.into()).unwrap_or(0);
            if empty > 0 && pages.overlay.is_none() {
                number = number.saturating_add(u32::try_from(empty).unwrap_or(u32::MAX));
                continue;
            }
            let Ok(page) = walk::read_page(pages, number, &mut buffer) else { continue };
            match kind_of_rows(&page) {
                Some(Rows::Blocks) => {
                    owners.set(number, Use::Salvaged);
                    for (at, cell) in (0u16..).zip(page.all()) {
                        let Some(cell) = cell.filter(|cell| looks_like_block(cell)) else { continue };
                        if known.binary_search(&cell.rowid).is_err() {
                            self.row((number, at), &cell, (true, rowid_keys), &pages.header, limits.stream_rows);
                        }
                    }
                }
                Some(Rows::Meta) if no_meta => {
                    owners.set(number, Use::Salvaged);
                    for cell in page.all().flatten() {
                        self.meta(&cell, page_span(pages, number, &cell));
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether trees, free pages and chains of rows leave pages unowned, so that one of them lost pages.
    pub fn leaves_over<S: Source>(&self, stream: &Stream<S>) -> bool {
        let declared = stream.pages.declared();
        let unowned = stream.owners.iter().filter(|(page, is)| *is == Use::Nothing && *page <= declared).count();
        let usable = index(stream.pages.header.usable().into());
        let each = usable.saturating_sub(4).max(1);
        let chain = |row: &StreamRow| {
            let local = local_len(row.payload.into(), usable, false);
            index(row.payload.into()).saturating_sub(local).div_ceil(each)
        };
        unowned > self.rows.iter().map(|entry| chain(&entry.row)).fold(0, usize::saturating_add)
    }

    /// Which of the rows that nothing leads to may have been deleted: those that an index does not contain; without an index all
    /// of them, if the whole table could be read. A free page that is in no list may hold such rows.
    fn find_stale<S: Source>(&self, stream: &Stream<S>) -> Vec<bool> {
        match self.index_whole {
            true => index_match::find_named(stream, &self.lost).into_iter().map(|is_named| !is_named).collect(),
            false => vec![self.blocks_whole; self.rows.iter().filter(|entry| entry.row.lost).count()],
        }
    }

    /// Settings and positions, and how they agree.
    /// If `layout` does not give the rule of positions above LOD 0 or the format of keys, they are inferred.
    pub fn finish<S: Source>(self, stream: &mut Stream<S>, known: bool, layout: &Layout) {
        let stale = self.find_stale(stream);
        let Self { mut rows, over, meta, mut meta_damage, of_table, of_index, misplaced, .. } = self;
        rows.fit();
        let damage = &mut stream.damage;
        damage.append(&mut meta_damage);
        let table = stream.tables.iter().find(|table| table.is("meta"));
        let span = table.map_or_else(Span::default, |table| stream.pages.span_in_file(table.root));
        match meta.as_slice() {
            [] => {
                let damaged = Damage::new(Code::StreamMetaMissing, span, "rows of settings");
                damage.push(damaged.expected(Value::Number(1)).found(Value::Number(0)));
            }
            [_] => {}
            several => {
                let damaged = Damage::new(Code::StreamMetaTwice, span, "rows of settings");
                let count = u64::try_from(several.len()).unwrap_or(u64::MAX);
                damage.push(damaged.expected(Value::Number(1)).found(Value::Number(count)));
            }
        }
        if over {
            let cap = u64::try_from(stream.limits.stream_rows).unwrap_or(u64::MAX);
            let damaged = Damage::new(Code::OverLimit, span, "rows of the stream");
            damage.push(damaged.expected(Value::AtMost(cap)));
        }
        // If rows are lost, that is the only finding.
        let whole = known && !damage.iter().any(walk::hides_cells);
        if let Some(of_index) = of_index.filter(|_| whole) {
            let [rows, entries] = index_match::count_differences(stream, of_table, of_index);
            for (count, field) in [
                (rows, "number of rows that the index does not have"),
                (entries, "number of entries of the index without a row"),
            ] {
                if count > 0 {
                    let damaged = Damage::new(Code::StreamIndex, span, field);
                    stream.damage.push(damaged.expected(Value::Number(0)).found(Value::Number(count)));
                }
            }
        }
        // The engine uses the last row.
        stream.meta = meta.last().copied().unwrap_or_default();
        stream.format = layout.format.or(stream.meta.format).or_else(|| infer_format(&rows));
        let format = stream.format;
        apply_rule(stream, layout.rule, || place_rows(rows.iter(), format, (&stale, &misplaced)));
        // Instances by the old rule may share the place of a block.
        let is_old = stream.rule == KeyRule::Old;
        let is_bare = |row: &StreamRow| is_old && row.voxels == Blob::Null;
        let placed = place_rows(rows.into_entries(), format, (&stale, &misplaced));
        let placed = placed.map(|row| if is_old { by_old_rule(row).0 } else { row });
        stream.rows =
            sort(placed, |row| (row.place.is_none(), row.place, row.stale, row.lost, is_bare(row), row.odd, row.rowid));
    }
}

fn page_span<S: Source>(pages: &crate::sqlite::pages::Pages<S>, page: u32, cell: &Cell<'_>) -> Span {
    let at = pages.span(page).start.saturating_add(u64::try_from(cell.local_at).unwrap_or(u64::MAX));
    Span::sized(at, len64(cell.local))
}

enum Rows {
    Blocks,
    Meta,
}

/// Whether a cell is a record of a block: a key and two values that are blobs or NULL.
fn looks_like_block(cell: &Cell<'_>) -> bool {
    let Some(columns) = record::columns(cell.local, cell.payload) else { return false };
    let [key, voxels, instances, ..] = columns.as_slice() else { return false };
    let key_fits = match key.kind() {
        Type::Null | Type::Int => true,
        Type::Text => key.len <= 128,
        Type::Blob => key.len == 10,
        Type::Float => false,
    };
    let blob = |column: &Column| matches!(column.kind(), Type::Blob | Type::Null);
    key_fits && blob(voxels) && blob(instances) && columns.len() <= 8
}

fn looks_like_meta(cell: &Cell<'_>) -> bool {
    let Some(columns) = record::columns(cell.local, cell.payload) else { return false };
    let number = |column: &Column| matches!(column.value(cell.local), Key::Int(n) if (0..=64).contains(&n));
    (2..=3).contains(&columns.len()) && columns.iter().all(number)
}

/// What the rows of a leaf are, if most of its cells agree.
fn kind_of_rows(page: &Page<'_>) -> Option<Rows> {
    if page.kind != Kind::TableLeaf || page.cells == 0 {
        return None;
    }
    let cells = usize::from(page.cells);
    let most = |is: fn(&Cell<'_>) -> bool| {
        let count = page.all().flatten().filter(|cell| is(cell)).count();
        count > 0 && count.saturating_mul(2) >= cells
    };
    if most(looks_like_block) {
        Some(Rows::Blocks)
    } else if most(looks_like_meta) {
        Some(Rows::Meta)
    } else {
        None
    }
}

/// The size of pages by which most leaves of a file make sense, where no page fills its size to the byte.
pub(super) fn guess_page_size<S: Source>(source: &S) -> io::Result<Option<u32>> {
    let mut best: Option<(usize, u32)> = None;
    let mut buffer = Vec::new();
    for size in (9..=16).filter_map(|po2| 1u32.checked_shl(po2)) {
        let mut count = 0usize;
        let pages = source.len().checked_div(size.into()).unwrap_or(0).min(GUESS_PAGES);
        for number in 1..=pages {
            let at = number.saturating_sub(1).saturating_mul(size.into());
            source.read_into(at, index(size.into()), &mut buffer)?;
            // The first page of a database begins with its header, which is damaged here.
            let parsed = Page::parse(2, &buffer);
            count = count.saturating_add(usize::from(parsed.is_ok_and(|page| kind_of_rows(&page).is_some())));
        }
        if count > 0 && best.is_none_or(|(most, _)| count > most) {
            best = Some((count, size));
        }
    }
    Ok(best.map(|(_, size)| size))
}

impl<S: Source> Stream<S> {
    /// The key format that fits the rows, if there is one.
    #[must_use]
    pub fn is_inferred(&self) -> bool {
        self.meta.format.is_none() && self.format.is_some()
    }
}
