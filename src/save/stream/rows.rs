//! The rows of a stream: from its tables, and from pages that its tables no longer lead to.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;

use super::Stream;
use super::schema::Table;
use crate::bytes::{Span, index, len64};
use crate::damage::{Code, Damage, Value};
use crate::godot::stream::loc::{self, Key, KeyRule, NEW_RULE_MARK, Place};
use crate::godot::stream::meta::Meta;
use crate::source::Source;
use crate::sqlite::btree::{Cell, Kind, Page, local_len};
use crate::sqlite::header::Header;
use crate::sqlite::record::{self, Column, Type};
use crate::sqlite::walk::{self, Use};

/// Pages of a file that are read to infer the page size.
const GUESS_PAGES: u64 = 256;

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
    rows: Vec<(StreamRow, OwnedKey)>,
    over: bool,
    meta: Vec<Meta>,
    meta_damage: Vec<Damage>,
    /// Rows by the indexes of `blocks`: row numbers and hashes of keys.
    index: Option<Vec<(i64, u64)>>,
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

/// The key of a row: its row number if the column is the row number.
pub(super) fn key_of<'p>(columns: &[Column], payload: &'p [u8], rowid: i64) -> Key<'p> {
    match columns.first() {
        Some(column) if column.kind() == Type::Null => Key::Int(rowid),
        Some(column) => column.value(payload),
        None => Key::Null,
    }
}

fn hash(key: Key<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    match key {
        Key::Null => 0u8.hash(&mut hasher),
        Key::Int(n) => n.hash(&mut hasher),
        Key::Float(n) => n.to_bits().hash(&mut hasher),
        Key::Text(bytes) | Key::Blob(bytes) => bytes.hash(&mut hasher),
    }
    hasher.finish()
}

impl Found {
    /// Walks a table or an index.
    pub fn table<S: Source>(&mut self, stream: &mut Stream<S>, table: &Table) {
        if table.root == 0 {
            return;
        }
        let Stream { pages, owners, damage, limits, .. } = stream;
        let pages = &*pages;
        let (mut last, mut unordered) = (None, None);
        // Owners cannot be changed while the tree is walked.
        let mut chains: Vec<(u32, u16)> = Vec::new();
        let is_blocks = table.is("blocks");
        let is_meta = table.is("meta");
        let index_of_blocks = table.is_index_of("blocks");
        let mut entries = index_of_blocks.then(Vec::new);
        let before = damage.len();
        walk::tree(pages, table.root, table.is_index, owners, damage, &mut |page, number, cell| {
            if !table.is_index && last.is_some_and(|last| cell.rowid <= last) {
                unordered = Some(page);
            }
            last = Some(cell.rowid);
            if is_blocks {
                self.row(page, number, cell, (false, &pages.header), limits.stream_rows);
            } else {
                if is_meta {
                    self.meta(cell, page_span(pages, page, cell));
                } else if let Some(entries) = &mut entries {
                    entries.push(entry(cell, &pages.header));
                }
                if cell.overflow.is_some() {
                    chains.push((page, number));
                }
            }
        });
        let whole = damage.len() == before;
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
        if let Some(entries) = entries {
            self.index.get_or_insert_default().extend(entries.into_iter().flatten());
        }
    }

    fn row(&mut self, page: u32, number: u16, cell: &Cell<'_>, (lost, header): (bool, &Header), cap: usize) {
        if self.rows.len() >= cap {
            self.over = true;
            return;
        }
        let columns = record::columns(cell.local, cell.payload);
        let (voxels, instances, key) = match &columns {
            Some(columns) => {
                let key = OwnedKey::stored(key_of(columns, cell.local, cell.rowid), header);
                (Blob::from_column(columns.get(1)), Blob::from_column(columns.get(2)), key)
            }
            None => (Blob::Other, Blob::Other, OwnedKey::Null),
        };
        let payload = u32::try_from(cell.payload).unwrap_or(u32::MAX);
        let row = StreamRow {
            moved: false,
            place: None,
            odd: true,
            page,
            cell: number,
            rowid: cell.rowid,
            lost,
            stale: false,
            voxels,
            instances,
            payload,
        };
        self.rows.push((row, key));
    }

    fn meta(&mut self, cell: &Cell<'_>, span: Span) {
        let columns = record::columns(cell.local, cell.payload).unwrap_or_default();
        let values: Vec<(Key<'_>, Span)> = columns.iter().map(|column| (column.value(cell.local), span)).collect();
        self.meta.push(Meta::decode(&values).report_to(&mut self.meta_damage));
    }

    /// Searches every page that nothing points to for leaves with rows of blocks, and with settings if these are
    /// missing.
    pub fn salvage<S: Source>(&mut self, stream: &mut Stream<S>) {
        let Stream { pages, owners, limits, .. } = stream;
        let pages = &*pages;
        let no_meta = self.meta.is_empty();
        // If several such leaves have a row of settings, which one is the newest is unknown.
        let known: HashSet<i64> = self.rows.iter().map(|(row, _)| row.rowid).collect();
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
                        if !known.contains(&cell.rowid) {
                            self.row(number, at, &cell, (true, &pages.header), limits.stream_rows);
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
        unowned > self.rows.iter().map(|(row, _)| chain(row)).fold(0, usize::saturating_add)
    }

    /// Marks rows that may have been deleted: rows that nothing leads to and that an index does not contain; without an index all
    /// of them, if the whole table could be read. A free page that is in no list may hold such rows.
    fn tell_stale(&mut self) {
        let mut named: Vec<(i64, u64)> =
            if self.index_whole { self.index.clone().unwrap_or_default() } else { Vec::new() };
        named.sort_unstable();
        for (row, key) in self.rows.iter_mut().filter(|(row, _)| row.lost) {
            row.stale = match self.index_whole {
                true => named.binary_search(&(row.rowid, hash(key.as_key()))).is_err(),
                false => self.blocks_whole,
            };
        }
    }

    /// Settings and positions, and how they agree.
    /// `rule` is how positions above LOD 0 are stored; inferred if not given.
    pub fn finish<S: Source>(mut self, stream: &mut Stream<S>, known: bool, rule: Option<KeyRule>) {
        self.tell_stale();
        let Self { mut rows, over, meta, mut meta_damage, index, .. } = self;
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
        let whole = known && damage.iter().all(|d| d.code != Code::StreamPage);
        if let Some(index) = index.filter(|_| whole) {
            compare(&rows, index, span, damage);
        }
        // The engine uses the last row.
        stream.meta = meta.last().copied().unwrap_or_default();
        let infer = || loc::infer(&rows.iter().map(|(_, key)| key.as_key()).collect::<Vec<Key<'_>>>());
        stream.format = stream.meta.format.or_else(infer);
        if let Some(format) = stream.format {
            for (row, key) in &mut rows {
                let exact = format.decode(key.as_key()).ok();
                row.odd = exact.is_none();
                row.place = exact.or_else(|| format.decode_close(key.as_key()));
            }
        }
        // From here on no key is needed.
        let mut rows: Vec<StreamRow> = rows.into_iter().map(|(row, _)| row).collect();
        apply_rule(stream, &mut rows, rule);
        // Instances by the old rule may share the place of a block.
        let is_bare = |row: &StreamRow| stream.rule == KeyRule::Old && row.voxels == Blob::Null;
        sort_rows(&mut rows, |row| {
            (row.place.is_none(), row.place, row.stale, row.lost, is_bare(row), row.odd, row.rowid)
        });
        stream.rows = rows;
    }
}

/// Sorts rows by a key; those of the same key stay in their order. Takes four bytes a row, where `sort_by_key` needs half as much
/// memory as the rows.
fn sort_rows<K: Ord>(rows: &mut [StreamRow], key: impl Fn(&StreamRow) -> K) {
    // The row that belongs at each index.
    let mut order: Vec<u32> = (0..).take(rows.len()).collect();
    order.sort_unstable_by_key(|&from| (rows.get(index(from.into())).map(&key), from));
    for first in 0..rows.len() {
        let mut at = first;
        while let Some(next) = order.get_mut(at) {
            let from = index((*next).into());
            *next = u32::try_from(at).unwrap_or(u32::MAX);
            if from == first {
                break;
            }
            rows.swap(at, from);
            at = from;
        }
    }
}

/// Infers the rule of keys above LOD 0 if it is not given, reads the rows by it, and reports the old one and keys that only
/// the other rule fits.
fn apply_rule<S: Source>(stream: &mut Stream<S>, rows: &mut [StreamRow], rule: Option<KeyRule>) {
    let sound = rows.iter().filter(|row| !row.stale && row.voxels != Blob::Null);
    let keys: Vec<Place> = sound.filter_map(|row| row.place).collect();
    let marked = (stream.pages.header.application == NEW_RULE_MARK).then_some(KeyRule::New);
    stream.rule = rule.or(marked).unwrap_or_else(|| KeyRule::infer(&keys));
    let root = stream.tables.iter().find(|table| table.is("blocks")).map_or(0, |table| table.root);
    let span = if root == 0 { Span::default() } else { stream.pages.span_in_file(root) };
    let mut report = |code, field, count: u64| {
        if count > 0 {
            stream.damage.push(Damage::new(code, span, field).found(Value::Number(count)));
        }
    };
    if stream.rule == KeyRule::Old {
        let [by_old, by_new] = apply_old_rule(rows);
        report(Code::StreamKeyRule, "keys of rows above LOD 0", by_old);
        report(Code::StreamKeyMixed, "keys by the new rule", by_new);
    } else {
        let count = KeyRule::count_old(&keys);
        report(Code::StreamKeyMixed, "keys by the rule of 2021", u64::try_from(count).unwrap_or(u64::MAX));
    }
}

/// Reads the keys of rows with voxels by the old rule; returns how many above LOD 0 are by it, and how many are not,
/// because no block has such a key by the old rule: a newer engine wrote these, and they keep the position of their key.
/// Instances were always stored under the position of their block, so rows without voxels keep theirs.
fn apply_old_rule(rows: &mut [StreamRow]) -> [u64; 2] {
    let [mut by_old, mut by_new] = [0u64; 2];
    for row in rows.iter_mut().filter(|row| row.voxels != Blob::Null) {
        let Some(key) = row.place.filter(|place| place.lod > 0) else { continue };
        match KeyRule::Old.place(key) {
            Some(place) => {
                row.place = Some(place);
                row.moved = place != key;
                by_old = by_old.saturating_add(1);
            }
            None => by_new = by_new.saturating_add(1),
        }
    }
    [by_old, by_new]
}

fn page_span<S: Source>(pages: &crate::sqlite::pages::Pages<S>, page: u32, cell: &Cell<'_>) -> Span {
    let at = pages.span(page).start.saturating_add(u64::try_from(cell.local_at).unwrap_or(u64::MAX));
    Span::sized(at, len64(cell.local))
}

/// The row that an index entry points to, and the hash of its key.
fn entry(cell: &Cell<'_>, header: &Header) -> Option<(i64, u64)> {
    let columns = record::columns(cell.local, cell.payload)?;
    let [key, .., rowid] = columns.as_slice() else { return None };
    match rowid.value(cell.local) {
        Key::Int(rowid) => Some((rowid, hash(OwnedKey::stored(key.value(cell.local), header).as_key()))),
        _ => None,
    }
}

/// Compares an index with the rows of its table.
fn compare(rows: &[(StreamRow, OwnedKey)], mut index: Vec<(i64, u64)>, span: Span, damage: &mut Vec<Damage>) {
    let rows = rows.iter().filter(|(row, _)| !row.lost);
    let mut table: Vec<(i64, u64)> = rows.map(|(row, key)| (row.rowid, hash(key.as_key()))).collect();
    table.sort_unstable();
    index.sort_unstable();
    let lacking = |of: &[(i64, u64)], other: &[(i64, u64)]| {
        u64::try_from(of.iter().filter(|entry| other.binary_search(entry).is_err()).count()).unwrap_or(u64::MAX)
    };
    for (count, field) in [
        (lacking(&table, &index), "number of rows that the index does not have"),
        (lacking(&index, &table), "number of entries of the index without a row"),
    ] {
        if count > 0 {
            let damaged = Damage::new(Code::StreamIndex, span, field);
            damage.push(damaged.expected(Value::Number(0)).found(Value::Number(count)));
        }
    }
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
