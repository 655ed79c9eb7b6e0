//! The rows of the table, file by file, as they are read.

use std::ops::Range;
use std::sync::Arc;

use unicode_width::UnicodeWidthStr;

use crate::check::{self, Options, Row, RowTable};
use crate::damage::{CodeSet, Level};
use crate::parallel;
use crate::tui::data::{Index, Item, ItemId, NodeId, Opened, Store};
use crate::tui::jobs::{JobKind, Worker};
use crate::tui::numbers::grouped;
use crate::tui::{App, Effect};

/// Files that are read at the same time and handed over together.
const WINDOW: usize = 4;

/// The rows of a file.
#[derive(Debug)]
pub struct Chunk {
    /// The file.
    pub item: ItemId,
    /// Its rows, by slot.
    pub rows: RowTable,
    /// Whether these come from the file's table alone, before the blocks are read.
    pub provisional: bool,
    /// The name of the file, as the table shows it.
    pub label: String,
    facts: TableFacts,
    failure: Option<String>,
}

/// What is in rows, for the choice of columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableFacts {
    /// Whether there are LODs other than 0.
    pub lods: bool,
    /// Whether there are versions.
    pub versions: bool,
    /// Whether there are containers.
    pub containers: bool,
    /// Whether there are flags.
    pub flags: bool,
    /// Whether there are rows without flags, whose blocks are checked one by one.
    pub states: bool,
    /// Whether rows have sectors.
    pub sectors: bool,
    /// Whether a block begins at no sector.
    pub off_grid: bool,
    /// Digits of the longest coordinate.
    pub digits: u8,
    /// Columns that the longest name of a file takes.
    pub name: u16,
    /// Columns of the largest first sector, of stored and of plain bytes.
    pub sector: u16,
    /// Stored bytes.
    pub bytes: u16,
    /// Plain bytes.
    pub plain: u16,
    /// Columns that the longest name of a code takes.
    pub code: u16,
    /// Rows with something worse than a note.
    pub damaged: u64,
}

impl TableFacts {
    fn from_rows(rows: &RowTable) -> Self {
        let mut facts = Self::default();
        let (mut least, mut most) = (0, 0);
        let (mut sector, mut bytes, mut plain) = (0, 0, 0);
        for row in rows.iter() {
            facts.lods |= row.lod > 0;
            facts.versions |= row.version.is_some();
            facts.containers |= row.container.is_some();
            facts.flags |= row.flags.is_some();
            facts.states |= row.flags.is_none();
            facts.sectors |= row.sectors > 0;
            facts.off_grid |= row.sector.is_none();
            sector = sector.max(row.sector.map_or_else(|| row.offset.unwrap_or(0), u64::from));
            bytes = bytes.max(row.bytes);
            plain = plain.max(row.plain);
            let codes = row.codes.iter().map(|code| columns(code.name()));
            facts.code = facts.code.max(codes.max().unwrap_or(0));
            facts.damaged += u64::from(row.level() > Some(Level::Note));
            for n in row.position.into_iter().flatten() {
                least = least.min(n);
                most = most.max(n);
            }
        }
        facts.sector = columns(&grouped(sector)).saturating_add(u16::from(facts.off_grid));
        facts.bytes = columns(&grouped(bytes));
        facts.plain = columns(&grouped(plain));
        facts.digits = u8::try_from(least.to_string().len().max(most.to_string().len())).unwrap_or(11);
        facts
    }

    fn merge(self, other: Self) -> Self {
        Self {
            lods: self.lods || other.lods,
            versions: self.versions || other.versions,
            containers: self.containers || other.containers,
            flags: self.flags || other.flags,
            states: self.states || other.states,
            sectors: self.sectors || other.sectors,
            off_grid: self.off_grid || other.off_grid,
            digits: self.digits.max(other.digits),
            name: self.name.max(other.name),
            code: self.code.max(other.code),
            sector: self.sector.max(other.sector),
            bytes: self.bytes.max(other.bytes),
            plain: self.plain.max(other.plain),
            damaged: self.damaged + other.damaged,
        }
    }
}

/// The name of a file without what is before it: what is the same in all of them is at their beginning.
fn name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

fn columns(text: &str) -> u16 {
    u16::try_from(text.width()).unwrap_or(u16::MAX)
}

/// The name of a file of several saves: the directories of blocks are left out.
fn name_with_save(shown: &str) -> String {
    let is_lod = |part: &str| part.strip_prefix("lod").is_some_and(|n| n.parse::<u8>().is_ok());
    let parts = shown.split('/').filter(|part| !is_lod(part) && !["regions", "blocks"].contains(part));
    parts.collect::<Vec<_>>().join("/")
}

impl Chunk {
    fn new(index: &Index, item: ItemId, rows: RowTable) -> Self {
        let shown = index.shown(item);
        let label = if index.has_several_saves() { name_with_save(&shown) } else { name(&shown).to_owned() };
        let mut facts = TableFacts::from_rows(&rows);
        facts.name = if rows.get(0).is_some() { columns(&label) } else { 0 };
        Self { item, rows, provisional: false, label, facts, failure: None }
    }
}

/// What a table is of: a line of the tree, in one reading of the save.
pub type TableKey = (u64, NodeId);

/// The rows of one file or of several.
#[derive(Debug)]
pub struct Table {
    /// What it is of.
    pub key: TableKey,
    /// A number that no other table has.
    pub serial: u64,
    /// Changes with the rows.
    pub version: u64,
    /// The files that it is of.
    pub items: Range<ItemId>,
    /// How many of them have blocks.
    pub files: usize,
    /// The rows of those that were read, in their order.
    pub chunks: Vec<Arc<Chunk>>,
    /// Whether more come.
    pub reading: bool,
    /// Whether it was stopped before its end.
    pub stopped: bool,
    /// What the rows have.
    pub facts: TableFacts,
    /// The number of the first row of each chunk.
    starts: Vec<usize>,
    len: usize,
}

impl Table {
    fn new(key: TableKey, serial: u64, items: Range<ItemId>) -> Self {
        Self {
            key,
            serial,
            version: 0,
            files: 0,
            items,
            chunks: Vec::new(),
            reading: true,
            stopped: false,
            facts: TableFacts::default(),
            starts: Vec::new(),
            len: 0,
        }
    }

    fn push(&mut self, chunks: Vec<Arc<Chunk>>) {
        if self.chunks.first().is_some_and(|chunk| chunk.provisional) {
            (self.chunks, self.starts, self.len, self.facts) = (Vec::new(), Vec::new(), 0, TableFacts::default());
        }
        for chunk in chunks {
            self.starts.push(self.len);
            self.len += chunk.rows.len();
            self.facts = self.facts.merge(chunk.facts);
            self.chunks.push(chunk);
        }
        self.version += 1;
    }

    /// Rows that there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// A row, by its number.
    #[must_use]
    pub fn row(&self, number: usize) -> Option<(&Chunk, Row)> {
        let at = self.starts.partition_point(|start| *start <= number).checked_sub(1)?;
        let chunk = self.chunks.get(at)?;
        Some((chunk, chunk.rows.get(number - self.starts.get(at)?)?))
    }

    /// The number of the row of a block.
    #[must_use]
    pub fn number_of(&self, item: ItemId, slot: u32) -> Option<usize> {
        let at = self.chunks.binary_search_by_key(&item, |chunk| chunk.item).ok()?;
        let chunk = self.chunks.get(at)?;
        Some(self.starts.get(at)? + chunk.rows.find(slot)?)
    }

    /// The same table, which shares the rows with this one.
    #[must_use]
    pub fn copy(&self) -> Self {
        Self { chunks: self.chunks.clone(), starts: self.starts.clone(), items: self.items.clone(), ..*self }
    }

    /// Why a file could not be read, and how many could not.
    #[must_use]
    pub fn failure(&self) -> Option<(&str, usize)> {
        let mut failed = self.chunks.iter().filter_map(|chunk| chunk.failure.as_deref());
        let first = failed.next()?;
        Some((first, failed.count() + 1))
    }

    /// The same rows for some of the files, when all of them were read.
    fn part(&self, generation: u64, items: &Range<ItemId>) -> Option<Vec<Arc<Chunk>>> {
        let whole = self.key.0 == generation && !self.reading && !self.stopped;
        let inside = self.items.start <= items.start && items.end <= self.items.end;
        let of_these = |chunk: &&Arc<Chunk>| items.contains(&chunk.item);
        (whole && inside).then(|| self.chunks.iter().filter(of_these).cloned().collect())
    }
}

/// Asks for the rows of the selected line, if they are not there or on their way.
pub fn request_missing(app: &mut App) {
    let Some(index) = app.index.clone() else { return };
    let key = (app.generation, app.selection.node);
    if app.panes.blocks.table.as_ref().is_some_and(|table| table.key == key) {
        return;
    }
    let items = app.selected_items();
    // The table of a single file is shown until its blocks are read, so it must be open first.
    let opened = app.opened_item().filter(|_| !app.selects_directory()).cloned();
    if !app.selects_directory() && opened.is_none() {
        return;
    }
    let state = &mut app.panes.blocks;
    state.serial += 1;
    let serial = state.serial;
    let mut table = Table::new(key, serial, items.clone());
    table.files = items.clone().filter(|item| index.file(*item).is_some()).count();
    state.reset_cursor();
    let known = [&state.table, &state.before].into_iter().flatten().find_map(|old| old.part(app.generation, &items));
    let was = state.table.take();
    // A group's rows are kept while one of its files is looked at.
    if let Some(was) = was.filter(|was| was.items.len() > 1) {
        state.before = Some(was);
    }
    if let Some(chunks) = known {
        app.effects.push(Effect::Cancel(JobKind::Rows));
        let state = &mut app.panes.blocks;
        table.reading = false;
        table.push(chunks);
        state.table = Some(table);
        return;
    }
    state.table = Some(table);
    app.job(
        JobKind::Rows,
        move |worker| read(&index, &items, opened.as_deref(), serial, worker),
        |app, why| {
            if let Some(table) = &mut app.panes.blocks.table {
                (table.reading, table.stopped) = (false, true);
            }
            app.show_message(why);
        },
    );
}

fn read(index: &Index, items: &Range<ItemId>, opened: Option<&Opened>, serial: u64, worker: &Worker<'_>) {
    let hand_over = |chunks: Vec<Arc<Chunk>>, last: bool| {
        worker.answer(move |app| {
            if let Some(table) = app.panes.blocks.table.as_mut().filter(|table| table.serial == serial) {
                table.push(chunks);
                table.reading = !last;
            }
        });
    };
    if let Some(opened) = opened {
        hand_over(vec![Arc::new(provisional(index, opened))], false);
    }
    let items: Vec<ItemId> = items.clone().collect();
    let windows = items.chunks(WINDOW);
    let count = windows.len();
    for (i, window) in windows.enumerate() {
        let chunks = parallel::map(window, |item| Arc::new(chunk(index, *item, worker)));
        // A file that was stopped in its middle has not all of its rows.
        if worker.is_cancelled() {
            return;
        }
        hand_over(chunks, i + 1 == count);
    }
    if count == 0 {
        hand_over(Vec::new(), true);
    }
}

fn chunk(index: &Index, item: ItemId, worker: &Worker<'_>) -> Chunk {
    let options = Options::default().watch(worker.watch());
    let rows = match index.items.get(item) {
        Some(&Item::Layer(map, layer)) => {
            let map = index.save.maps.get(map);
            let layer = map.and_then(|map| Some((map, map.layers().nth(layer)?)));
            let rows = layer.map(|(map, layer)| check::layer_rows(&index.save, map, layer, &options));
            Ok(rows.into_iter().flatten().collect())
        }
        _ => {
            let table = index.file(item).map(|file| check::row_table(&index.save, file, &options));
            table.unwrap_or_else(|| Ok(RowTable::default()))
        }
    };
    match rows {
        Ok(rows) => Chunk::new(index, item, rows),
        Err(error) => {
            let failure = Some(format!("{}: {error}", index.shown(item)));
            Chunk { failure, ..Chunk::new(index, item, RowTable::default()) }
        }
    }
}

/// The rows of the file's table alone.
fn provisional(index: &Index, opened: &Opened) -> Chunk {
    let file: Arc<str> = index.shown(opened.item).into();
    let lod = opened.region().map_or(0, |region| region.lod);
    let has_sectors = !matches!(opened.store, Store::Layer(..));
    let narrow = |n: u64| if has_sectors { u32::try_from(n).unwrap_or(u32::MAX) } else { 0 };
    let rows = opened.slots.iter().map(|slot| Row {
        file: Arc::clone(&file),
        lod,
        position: slot.position,
        slot: slot.slot,
        sector: Some(narrow(slot.first)),
        sectors: narrow(slot.count),
        offset: None,
        bytes: 0,
        plain: 0,
        version: None,
        container: None,
        codes: CodeSet::default(),
        flags: None,
        instances: None,
        known: None,
        key: None,
    });
    Chunk { provisional: true, ..Chunk::new(index, opened.item, rows.collect()) }
}
