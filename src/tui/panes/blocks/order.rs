//! Which rows are shown, and in which order: by the filter and by a column.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::columns::Column;
use super::table::{Chunk, Table};
use crate::check::{Filter, Row};
use crate::damage::{CodeSet, Level};
use crate::parallel;
use crate::tui::App;
use crate::tui::findings::BlockKey;
use crate::tui::jobs::{JobKind, Worker};

/// Rows that a thread takes, one after the other.
const TOGETHER: usize = 1 << 12;

/// A column to sort by, and whether the largest comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sort {
    /// The column.
    pub column: Column,
    /// Whether the largest comes first.
    pub down: bool,
}

/// What an order is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderRequest {
    /// The table.
    serial: u64,
    /// Its rows.
    version: u64,
    sort: Option<Sort>,
    filter: String,
    /// What the check found; 0 while it runs.
    found: u64,
}

impl OrderRequest {
    /// Whether only rows were added since.
    fn is_older(&self, other: &Self) -> bool {
        self.serial == other.serial && self.sort == other.sort && self.filter == other.filter
    }
}

/// Numbers of rows.
#[derive(Debug)]
pub struct RowOrder {
    made_of: OrderRequest,
    numbers: Arc<Vec<u32>>,
}

/// The rows that are shown.
#[derive(Clone)]
pub enum ShownRows {
    /// All, as they are read.
    All(usize),
    /// These.
    These(Arc<Vec<u32>>),
    /// They are not known yet.
    NotYet,
}

impl ShownRows {
    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::All(len) => *len,
            Self::These(numbers) => numbers.len(),
            Self::NotYet => 0,
        }
    }

    /// The number in the table of what is shown at a place.
    #[must_use]
    pub fn number(&self, at: usize) -> Option<usize> {
        match self {
            Self::All(len) => (at < *len).then_some(at),
            Self::These(numbers) => numbers.get(at).and_then(|number| usize::try_from(*number).ok()),
            Self::NotYet => None,
        }
    }

    /// The place of a row.
    #[must_use]
    pub fn place(&self, number: usize) -> Option<usize> {
        match self {
            Self::All(len) => (number < *len).then_some(number),
            Self::These(numbers) => {
                let number = u32::try_from(number).ok()?;
                numbers.iter().position(|other| *other == number)
            }
            Self::NotYet => None,
        }
    }
}

fn wanted(app: &App, table: &Table) -> Option<OrderRequest> {
    let state = &app.panes.blocks;
    let (sort, filter) = (state.sort, &state.filter);
    (sort.is_some() || !filter.is_empty()).then(|| OrderRequest {
        serial: table.serial,
        version: table.version,
        sort,
        filter: filter.clone(),
        found: if app.findings.running { 0 } else { app.findings.version },
    })
}

/// The rows that are shown now: those of an older order until the new one is there.
#[must_use]
pub fn shown(app: &App, table: &Table) -> ShownRows {
    let state = &app.panes.blocks;
    match (wanted(app, table), &state.order) {
        (None, _) => ShownRows::All(table.len()),
        (Some(_), Some(order)) if order.made_of.serial == table.serial => ShownRows::These(Arc::clone(&order.numbers)),
        (Some(_), _) => ShownRows::NotYet,
    }
}

/// Whether what is shown is what was asked for.
#[must_use]
pub fn is_up_to_date(app: &App, table: &Table) -> bool {
    match (wanted(app, table), &app.panes.blocks.order) {
        (None, _) => true,
        (Some(wanted), Some(order)) => order.made_of == wanted,
        (Some(_), None) => false,
    }
}

/// Counts the blocks of the table that the check found damaged, where that is not done.
fn count_damaged(app: &mut App) {
    let Some(table) = &app.panes.blocks.table else { return };
    let made_of = (table.serial, app.findings.version);
    if app.findings.running || app.panes.blocks.damaged.is_some_and(|(of, _)| of == made_of) {
        return;
    }
    let items = table.items.clone();
    let is_damaged = |codes: &CodeSet| codes.iter().any(|code| code.level() > Level::Note);
    let found = app.findings.all_codes().iter();
    let found = found.filter(|((item, ..), codes)| items.contains(item) && is_damaged(codes)).count();
    app.panes.blocks.damaged = Some((made_of, found as u64));
}

/// Asks for the order, if it is not there or on its way.
pub fn request_missing(app: &mut App) {
    count_damaged(app);
    let Some(table) = &app.panes.blocks.table else { return };
    let Some(wanted) = wanted(app, table) else {
        if app.panes.blocks.order.take().is_some() {
            app.panes.blocks.find_cursor = true;
        }
        app.panes.blocks.ordering = None;
        return;
    };
    let state = &app.panes.blocks;
    if state.order.as_ref().is_some_and(|order| order.made_of == wanted)
        // While rows stream in, an order of fewer of them comes first; otherwise none would ever come.
        || state.ordering.as_ref().is_some_and(|ordering| ordering.is_older(&wanted))
    {
        return;
    }
    let chunks = table.chunks.clone();
    let found = if wanted.found > 0 { app.findings.all_codes().clone() } else { HashMap::new() };
    app.panes.blocks.ordering = Some(wanted.clone());
    app.job(
        JobKind::Order,
        move |worker| {
            let Some(numbers) = compute(&chunks, &wanted, &found, worker) else { return };
            worker.answer(move |app| {
                let state = &mut app.panes.blocks;
                if state.ordering.as_ref() == Some(&wanted) {
                    state.ordering = None;
                    state.order = Some(RowOrder { made_of: wanted, numbers: Arc::new(numbers) });
                    state.find_cursor = true;
                }
            });
        },
        |app, why| {
            let state = &mut app.panes.blocks;
            (state.sort, state.filter, state.ordering) = (None, String::new(), None);
            app.show_message(why);
        },
    );
}

/// A row with what the check of the whole save found about its block: that it is in a wrong place, for one.
pub fn with_codes(mut row: Row, found: CodeSet) -> Row {
    found.iter().for_each(|code| row.codes.insert(code));
    row
}

/// A number by which rows are sorted, in three parts, the highest first: a table of a million rows is sorted in 16 MiB.
type SortKey = [u32; 3];

fn compute(
    chunks: &[Arc<Chunk>],
    wanted: &OrderRequest,
    found: &HashMap<BlockKey, CodeSet>,
    worker: &Worker<'_>,
) -> Option<Vec<u32>> {
    // It was parsed when it was typed.
    let filter = Filter::parse(&wanted.filter).unwrap_or_default();
    let mut from = 0u32;
    let mut all: Vec<(SortKey, u32)> = Vec::new();
    for chunk in chunks {
        if worker.is_cancelled() {
            return None;
        }
        let codes = |row: &Row| found.get(&(chunk.item, row.lod, row.position?)).copied();
        let parts = parallel::map_indices(chunk.rows.len().div_ceil(TOGETHER), |part| {
            let numbers = (part * TOGETHER..chunk.rows.len()).take(TOGETHER);
            let keys = numbers.filter_map(|number| {
                let row = chunk.rows.get(number)?;
                let codes = codes(&row).unwrap_or_default();
                let row = with_codes(row, codes);
                let number = from.saturating_add(u32::try_from(number).ok()?);
                filter.matches(&row).then(|| (key(&row, chunk.item, wanted.sort), number))
            });
            keys.collect::<Vec<_>>()
        });
        parts.into_iter().for_each(|part| all.extend(part));
        from = from.saturating_add(u32::try_from(chunk.rows.len()).unwrap_or(u32::MAX));
    }
    if wanted.sort.is_some() {
        // Rows that are alike stay in the order in which they were read.
        all.par_sort_unstable();
    }
    Some(all.into_iter().map(|(_, number)| number).collect())
}

/// A number by which rows are sorted.
fn key(row: &Row, item: usize, sort: Option<Sort>) -> SortKey {
    let Some(Sort { column, down }) = sort else { return [0; 3] };
    let [lod, version] = [row.lod, row.version.map_or(0, |v| v.saturating_add(1))].map(u128::from);
    let key = match column {
        Column::File => item as u128,
        Column::Lod => lod,
        Column::Position => row.position.map_or(u128::MAX >> 32, |[x, y, z]| {
            // From the least number to the greatest, as numbers without a sign.
            let up = |n: i32| u128::from(n.cast_unsigned() ^ (1 << 31));
            up(x) << 64 | up(y) << 32 | up(z)
        }),
        Column::Sector => {
            row.sector.map_or_else(|| u128::from(u32::MAX) + u128::from(row.offset.unwrap_or(0)), u128::from)
        }
        Column::Count => row.sectors.into(),
        Column::Bytes => row.bytes.into(),
        Column::Plain => row.plain.into(),
        // No ratio is negative, so their bits are in the same order.
        Column::Ratio => row.ratio().to_bits().into(),
        Column::Version => version,
        Column::Container => row.container.map_or(0, word),
        Column::State => {
            let level = row.level().map_or(0, |level| level as u128 + 1);
            // Within a level, rows are grouped by their first code.
            let code = row.codes.iter().max_by_key(|code| (code.level(), std::cmp::Reverse(*code)));
            level << 16 | code.map_or(0, |code| 0xffff - code as u128)
        }
        Column::Flags => row.flags.as_ref().map_or(0, |counts| counts.set.into()),
    };
    let key = if down { !key } else { key };
    [64, 32, 0].map(|bits| (key >> bits) as u32)
}

/// The first letters of a word, as a number in their order.
fn word(text: &str) -> u128 {
    let bytes = text.bytes().chain(std::iter::repeat(0)).take(12);
    bytes.fold(0, |sum, byte| sum << 8 | u128::from(byte))
}
