//! The table of blocks: of a file, or of all files below a line of the tree. Rows are read in the background, file by
//! file; sort and filter are computed there too. Only the rows that are seen are built.

mod columns;
mod order;
mod table;

use std::path::Path;

use super::{Click, marks};
use crate::check::{Filter, Row};
use crate::damage::Level;
use crate::export;
use crate::tui::action::Action;
use crate::tui::canvas::Canvas;
use crate::tui::data::{ItemId, LoadState};
use crate::tui::go;
use crate::tui::jobs::JobKind;
use crate::tui::numbers::grouped;
use crate::tui::pane::Pane;
use crate::tui::scroll;
use crate::tui::theme::Role;
use crate::tui::{App, Effect};
use columns::{Column, Placed, fit};
use order::{OrderRequest, RowOrder, ShownRows, Sort, is_up_to_date, shown};
use table::Table;

/// Rows that a step of the wheel moves.
const WHEEL: usize = 3;

/// The state of the pane.
#[derive(Debug, Default)]
pub struct BlocksState {
    /// Whether the view goes to where the selection is.
    pub follow: bool,
    /// The rows.
    table: Option<Table>,
    /// The rows of the group that was looked at before.
    before: Option<Table>,
    serial: u64,
    sort: Option<Sort>,
    filter: String,
    order: Option<RowOrder>,
    ordering: Option<OrderRequest>,
    /// How many blocks of a table the check found damaged, by the numbers of the table and of the findings.
    damaged: Option<((u64, u64), u64)>,
    /// The row under the cursor, counted among those that are shown.
    cursor: usize,
    /// The first row that is seen.
    first: usize,
    /// The block under the cursor, which it stays on when the order changes.
    at: Option<(ItemId, u32)>,
    /// Whether the cursor's row has to be found again.
    find_cursor: bool,
    /// Whether the cursor goes to the top once the rows are in order.
    to_top: bool,
}

impl BlocksState {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.table.as_ref().map_or(0, Table::len)
    }

    fn reset_cursor(&mut self) {
        (self.cursor, self.first, self.at, self.find_cursor) = (0, 0, None, false);
        self.follow = true;
    }
}

/// The areas of the pane: the summary, the headings and the rows.
struct Areas {
    summary: Option<u16>,
    headings: Option<u16>,
    rows: u16,
    seen: usize,
}

fn areas(height: u16) -> Areas {
    let summary = (height >= 4).then_some(0);
    let headings = (height >= 3).then_some(u16::from(summary.is_some()));
    let rows = u16::from(summary.is_some()) + u16::from(headings.is_some());
    Areas { summary, headings, rows, seen: usize::from(height.saturating_sub(rows)) }
}

/// The table, when it is the selected line's.
fn current(app: &App) -> Option<&Table> {
    let table = app.panes.blocks.table.as_ref()?;
    (table.key == (app.generation, app.selection.node)).then_some(table)
}

/// Does an action; true when it meant something here.
pub fn act(app: &mut App, action: Action) -> bool {
    let Some(table) = current(app) else { return false };
    let last = shown(app, table).len().saturating_sub(1);
    let cursor = app.panes.blocks.cursor.min(last);
    let page = areas(app.pane_inside().height).seen.max(1);
    if let Some(to) = action.over_lines(cursor, last, page) {
        move_to(app, to);
        return true;
    }
    match action {
        Action::Enter => open_selected(app),
        Action::Sort => {
            // Those that are seen: what cannot be seen cannot be seen to be sorted.
            let width = app.pane_inside().width;
            let columns = fit(table.facts, table.items.len(), width);
            let columns: Vec<Column> = columns.into_iter().map(|placed| placed.column).collect();
            let at = app.panes.blocks.sort.and_then(|sort| columns.iter().position(|column| *column == sort.column));
            // After the last column comes the order in which the rows were read.
            let next = columns.get(at.map_or(0, |at| at + 1)).copied();
            sort_by(app, next.map(|column| Sort { column, down: column.begins_down() }));
        }
        Action::Reverse => {
            let sort = app.panes.blocks.sort.unwrap_or(Sort { column: Column::Position, down: false });
            sort_by(app, Some(Sort { down: !sort.down, ..sort }));
        }
        Action::Close if !app.panes.blocks.filter.is_empty() => {
            app.panes.blocks.filter.clear();
            app.panes.blocks.find_cursor = true;
        }
        Action::Close if table.reading => stop(app),
        _ => return false,
    }
    true
}

fn stop(app: &mut App) {
    app.effects.push(Effect::Cancel(JobKind::Rows));
    if let Some(table) = &mut app.panes.blocks.table {
        (table.reading, table.stopped) = (false, true);
    }
    app.show_message("Reading was stopped; the rows that are there stay.".into());
}

fn sort_by(app: &mut App, sort: Option<Sort>) {
    let state = &mut app.panes.blocks;
    state.sort = sort;
    // The rows that were sorted for are at the top.
    state.to_top = true;
    app.show_message(match sort {
        Some(Sort { column, down }) => {
            let way = if down { "the largest first" } else { "the smallest first" };
            let way = if column == Column::State && down { "the worst first" } else { way };
            format!("Sorted by {}, {way}. S turns it round.", column.words())
        }
        None => "In the order of the file's table.".into(),
    });
}

/// Moves the cursor to a row, and selects its block when its file is the selected one.
fn move_to(app: &mut App, row: usize) {
    let Some(table) = current(app) else { return };
    let shown = shown(app, table);
    let row = row.min(shown.len().saturating_sub(1));
    let found = shown.number(row).and_then(|number| table.row(number));
    let at = found.as_ref().map(|(chunk, row)| (chunk.item, row.slot));
    let place = found.as_ref().and_then(|(_, row)| Some((row.lod, row.position?)));
    let seen = areas(app.pane_inside().height).seen;
    let state = &mut app.panes.blocks;
    (state.cursor, state.at) = (row, at);
    state.first = scroll::follow(state.first, row, seen, shown.len());
    let Some((item, slot)) = at else { return };
    if app.selected_item() == Some(item) && app.opened_item().is_some() {
        app.select_slot(slot);
        marks::select_finding_of_slot(app, slot);
    } else if app.selects_directory() {
        go::to_slot(app, item, slot);
        app.selection.finding = place.and_then(|(lod, position)| app.findings.about_block(item, lod, position));
    }
}

/// Enter: opens the block under the cursor in the pane that shows most of it.
fn open_selected(app: &mut App) {
    let Some(table) = current(app) else { return };
    let shown = shown(app, table);
    let number = shown.number(app.panes.blocks.cursor.min(shown.len().saturating_sub(1)));
    let Some((chunk, row)) = number.and_then(|number| table.row(number)) else { return };
    let (item, slot, level) = (chunk.item, row.slot, row.level());
    move_to(app, app.panes.blocks.cursor);
    app.show(if level > Some(Level::Note) { Pane::Hex } else { Pane::Channels });
    go::to_slot(app, item, slot);
}

/// Does a click.
pub fn click(app: &mut App, click: Click, x: u16, y: u16) {
    let Some(table) = current(app) else { return };
    let inside = app.pane_inside();
    let parts = areas(inside.height);
    let all = shown(app, table).len();
    let cursor = app.panes.blocks.cursor;
    if let Click::Wheel(up) = click {
        move_to(app, if up { cursor.saturating_sub(WHEEL) } else { cursor.saturating_add(WHEEL) });
        return;
    }
    if parts.headings == Some(y) {
        let columns = fit(table.facts, table.items.len(), inside.width);
        let hit = columns.into_iter().find(|placed| (placed.x..=placed.x.saturating_add(placed.width)).contains(&x));
        let Some(Placed { column, .. }) = hit else { return };
        let sort = match app.panes.blocks.sort {
            Some(sort) if sort.column == column => Sort { down: !sort.down, ..sort },
            _ => Sort { column, down: column.begins_down() },
        };
        sort_by(app, Some(sort));
        return;
    }
    let Some(line) = y.checked_sub(parts.rows) else { return };
    let row = scroll::follow(app.panes.blocks.first, cursor, parts.seen, all).saturating_add(usize::from(line));
    if row == cursor && row < all {
        open_selected(app);
    } else if row < all {
        move_to(app, row);
    }
}

/// Requests what the pane needs and does not have.
pub fn request_missing(app: &mut App) {
    marks::request_missing(app);
    table::request_missing(app);
    order::request_missing(app);
    let Some(table) = current(app) else { return };
    if !is_up_to_date(app, table) && !table.reading {
        return;
    }
    let len = shown(app, table).len();
    if len == 0 {
        return;
    }
    let is_file = app.opened_item().is_some() && !app.selects_directory();
    let selection = &app.selection;
    let nothing = selection.slot.is_none() && selection.sector.is_none() && selection.bytes.is_none();
    let state = &mut app.panes.blocks;
    if state.to_top {
        state.to_top = false;
        move_to(app, 0);
    } else if is_file && nothing {
        let cursor = state.cursor.min(len - 1);
        move_to(app, cursor);
    } else {
        follow(app);
    }
}

/// Puts the cursor on the selected block, or leaves it on its own where none is.
fn follow(app: &mut App) {
    let Some(table) = current(app) else { return };
    let shown = shown(app, table);
    let selected = app.selected_item().zip(app.selection.slot);
    let state = &app.panes.blocks;
    let aim = selected.or(state.at);
    if !state.follow && !state.find_cursor && (selected.is_none() || selected == state.at) {
        return;
    }
    let place = aim.and_then(|(item, slot)| table.number_of(item, slot)).and_then(|number| shown.place(number));
    let seen = areas(app.pane_inside().height).seen;
    let reading = table.reading;
    let state = &mut app.panes.blocks;
    let found_anew = state.find_cursor;
    // A row that is not there may still come.
    (state.follow, state.find_cursor, state.at) = (state.follow && place.is_none() && reading, false, aim);
    match place {
        Some(place) => {
            state.cursor = place;
            state.first = scroll::follow(state.first, place, seen, shown.len());
        }
        // It does not pass the filter.
        None if found_anew && !reading => move_to(app, 0),
        None => state.cursor = state.cursor.min(shown.len().saturating_sub(1)),
    }
}

/// Draws the pane.
pub fn draw(app: &App, canvas: &mut Canvas<'_>) {
    let is_ready = |key| matches!(app.item.state(&key), LoadState::Ready(_));
    if !app.selects_directory() && app.item_key().is_some_and(|key| !is_ready(key)) {
        super::draw_item_placeholder(app, canvas);
        return;
    }
    let Some(table) = current(app) else {
        canvas.wrap(1, 1, "Reading the blocks.", Role::Dim);
        return;
    };
    let parts = areas(canvas.height());
    let shown = shown(app, table);
    let columns = fit(table.facts, table.items.len(), canvas.width());
    if let Some(y) = parts.summary {
        let pieces = summary(app, table, &shown);
        let pieces: Vec<(Role, &str)> = pieces.iter().map(|(role, text)| (*role, text.as_str())).collect();
        canvas.line(1, y, &pieces);
    }
    if shown.len() == 0 {
        canvas.wrap(1, parts.rows, &empty_message(app, table, &shown), Role::Dim);
        return;
    }
    if let Some(y) = parts.headings {
        headings(app, &columns, y, canvas);
    }
    let pages = lists_pages(app);
    let state = &app.panes.blocks;
    let cursor = state.cursor.min(shown.len() - 1);
    let first = scroll::follow(state.first, cursor, parts.seen, shown.len());
    for (line, place) in (first..shown.len()).take(parts.seen).enumerate() {
        let Some((chunk, row)) = shown.number(place).and_then(|number| table.row(number)) else { continue };
        let row = &with_found(app, chunk, row);
        let y = parts.rows.saturating_add(u16::try_from(line).unwrap_or(u16::MAX));
        for placed in &columns {
            let (text, role) = columns::cell(placed.column, chunk, row, &app.glyphs, table.facts.digits, pages);
            if placed.column.is_right() {
                let end = placed.x.saturating_add(placed.width);
                canvas.put_right(end, y, &text, role);
            } else if placed.column == Column::File {
                canvas.put_middle(placed.x, y, placed.width, &text, role);
            } else {
                canvas.put_within(placed.x, y, placed.width, text.trim_end(), role);
            }
        }
        if place == cursor {
            canvas.cursor_row(y, app.focus == crate::tui::Focus::Pane);
        }
    }
    let height = u16::try_from(parts.seen).unwrap_or(u16::MAX);
    canvas.part(0, parts.rows, canvas.width(), height).scrollbar(first, parts.seen, shown.len());
}

/// A row with what the check found about its block.
fn with_found(app: &App, chunk: &table::Chunk, row: Row) -> Row {
    let found = row.position.map(|position| app.findings.codes_of(chunk.item, row.lod, position));
    order::with_codes(row, found.unwrap_or_default())
}

/// Whether the rows are those of one stream, which are on pages.
fn lists_pages(app: &App) -> bool {
    !app.selects_directory() && app.opened_item().is_some_and(|opened| opened.stream().is_some())
}

fn headings(app: &App, columns: &[Placed], y: u16, canvas: &mut Canvas<'_>) {
    for placed in columns {
        let sort = app.panes.blocks.sort.filter(|sort| sort.column == placed.column);
        let mark = sort.map_or("", |sort| if sort.down { app.glyphs.down } else { app.glyphs.up });
        let title = match placed.column {
            Column::Sector if lists_pages(app) => "page",
            column => column.title(),
        };
        let text = format!("{title}{mark}");
        let role = if sort.is_some() { Role::Key } else { Role::Dim };
        if placed.column.is_right() {
            canvas.put_right(placed.x.saturating_add(placed.width), y, &text, role);
        } else {
            canvas.put_within(placed.x, y, placed.width, &text, role);
        }
    }
}

fn empty_message(app: &App, table: &Table, shown: &ShownRows) -> String {
    if matches!(shown, ShownRows::NotYet) {
        return "Sorting the rows.".into();
    }
    if table.len() > 0 {
        return format!("No block fits the filter `{}`. Esc clears it.", app.panes.blocks.filter);
    }
    if table.reading {
        return "Reading the blocks.".into();
    }
    if let Some((why, _)) = table.failure() {
        return why.to_owned();
    }
    "There are no blocks here.".into()
}

/// The line above the table: how many rows, of how many files, what is still read.
fn summary(app: &App, table: &Table, shown: &ShownRows) -> Vec<(Role, String)> {
    let state = &app.panes.blocks;
    let dot = app.glyphs.dot;
    let mut out = Vec::new();
    let blocks = |n: usize| crate::printable::count(n as u64, "block");
    if state.filter.is_empty() {
        out.push((Role::Text, blocks(table.len())));
    } else {
        out.push((Role::Text, format!("{} of {}", grouped(shown.len() as u64), blocks(table.len()))));
        out.push((Role::Dim, format!("{dot}filter ")));
        out.push((Role::Key, state.filter.clone()));
    }
    let files = table.files;
    if files > 1 && !table.reading && state.filter.is_empty() {
        out.push((Role::Dim, format!(" in {} files", grouped(files as u64))));
    }
    // Rows show what their own bytes show; the check knows of blocks in wrong places as well.
    let found = state.damaged.filter(|((serial, _), _)| *serial == table.serial).map_or(0, |(_, found)| found);
    let damaged = table.facts.damaged.max(found);
    if damaged > 0 {
        out.push((Role::Dim, dot.to_owned()));
        out.push((Role::Error, format!("{} {} damaged", app.glyphs.error, grouped(damaged))));
    }
    if table.reading {
        let read = table.chunks.iter().filter(|chunk| !chunk.provisional).count().min(files);
        let words = if files > 1 { format!("{dot}read {read} of {files} files") } else { format!("{dot}reading") };
        out.push((Role::Note, words));
    } else if table.stopped {
        out.push((Role::Warning, format!("{dot}stopped: not all files were read")));
    } else if !is_up_to_date(app, table) {
        out.push((Role::Note, format!("{dot}sorting")));
    }
    if let Some((_, count)) = table.failure() {
        let files = if count == 1 { "1 file".into() } else { format!("{count} files") };
        out.push((Role::Error, format!("{dot}{files} could not be read")));
    }
    // The column has the name only, and several directories may have files of one name.
    if files > 1
        && let Some((_, row)) = shown.number(state.cursor).and_then(|number| table.row(number))
    {
        out.push((Role::Dim, format!("{dot}{}", row.file)));
    }
    out
}

/// Filters the table.
///
/// # Errors
/// A sentence that says which term is wrong.
pub fn filter(app: &mut App, text: &str) -> Result<(), String> {
    Filter::parse(text)?;
    let state = &mut app.panes.blocks;
    text.trim().clone_into(&mut state.filter);
    state.find_cursor = true;
    Ok(())
}

/// The filter as it was typed.
pub fn filter_text(app: &App) -> String {
    app.panes.blocks.filter.clone()
}

/// Writes the rows that are shown.
///
/// # Errors
/// A sentence that says why not.
pub fn export(app: &mut App, name: &str) -> Result<(), String> {
    let name = name.trim().to_owned();
    let format = export::Format::of_name(&name).ok_or("give a name that ends in .csv or .jsonl")?;
    let index = app.index.clone().ok_or("nothing is open")?;
    let table = current(app).ok_or("the rows are not read yet")?;
    if table.reading || !is_up_to_date(app, table) {
        return Err("the rows are still being read: wait until they are there".into());
    }
    let shown = shown(app, table);
    let table = table.copy();
    app.job(
        JobKind::Export,
        move |worker| {
            let rows = (0..shown.len()).filter_map(|at| Some(table.row(shown.number(at)?)?.1));
            let written = export::to_new_file::<Row>(Path::new(&name), &index.save.path, format, rows, &worker.watch());
            let said = match written {
                Ok(1) => format!("Wrote 1 row to {}.", crate::printable::printable(&name)),
                Ok(count) => format!("Wrote {} rows to {}.", grouped(count), crate::printable::printable(&name)),
                Err(error) => format!("{error}."),
            };
            worker.answer(move |app| app.show_message(said));
        },
        App::show_message,
    );
    Ok(())
}
