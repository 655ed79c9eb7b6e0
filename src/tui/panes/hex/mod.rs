//! The bytes of the file or of the decompressed block, with the field under the cursor.

mod paint;
mod rows;

use std::sync::Arc;

use super::Click;
use crate::bytes::{Span, index, len64};
use crate::damage::{Damage, Space};
use crate::tui::action::Action;
use crate::tui::data::field::{self, Field, Window};
use crate::tui::data::{BlockData, Loaded, Opened, Part, Store};
use crate::tui::go;
use crate::tui::jobs::{JobKind, Worker};
use crate::tui::{App, Bytes, ItemKey};

pub use paint::draw;
use rows::{HexRow, Pattern, Rows};

/// Bytes on either side of the cursor that are read at once, at least: as many equal rows can be squeezed.
const MARGIN: u64 = 1 << 19;

/// Bytes that a search reads at once.
const SEARCH: u64 = 1 << 20;

/// The state of the pane.
#[derive(Debug)]
pub struct HexState {
    /// Whether the view goes to where the selection is.
    pub follow: bool,
    space: Space,
    part: Part,
    cursor: u64,
    /// The line of the screen that the cursor is on.
    line: usize,
    item: Option<ItemKey>,
    /// What was searched for last.
    pattern: String,
    chunk: Loaded<(ItemKey, Part, u64), Vec<u8>>,
}

impl Default for HexState {
    fn default() -> Self {
        Self {
            follow: false,
            space: Space::File,
            part: Part::Data,
            cursor: 0,
            line: 0,
            item: None,
            pattern: String::new(),
            chunk: Loaded::default(),
        }
    }
}

/// Bytes in a row of the screen, by its width.
fn columns(width: u16) -> u64 {
    [32, 16, 8].into_iter().find(|columns| paint::width(*columns) <= width).unwrap_or(4)
}

/// What is shown now: which bytes there are.
enum ByteSource<'a> {
    File(&'a Arc<Opened>),
    Block(&'a Arc<BlockData>),
}

fn byte_source(app: &App) -> Option<ByteSource<'_>> {
    let opened = app.opened_item()?;
    Some(match app.panes.hex.space {
        Space::File => ByteSource::File(opened),
        Space::Block => app.selected_block().map_or(ByteSource::File(opened), ByteSource::Block),
    })
}

/// How many bytes there are.
fn byte_count(app: &App) -> u64 {
    match byte_source(app) {
        None => 0,
        Some(ByteSource::File(opened)) => opened.len(app.panes.hex.part),
        Some(ByteSource::Block(block)) => len64(&block.plain),
    }
}

/// Rows of bytes that the pane has room for: there are a line above and three below.
fn rows(height: u16) -> u64 {
    u64::from(height.saturating_sub(if height > 8 { 5 } else { 2 }).max(1))
}

/// The rows around the cursor, as far as they were read.
fn rows_at_cursor(app: &App) -> Option<Rows<'_>> {
    let columns = columns(app.pane_inside().width);
    let (window, len) = (window(app)?, byte_count(app));
    Some(Rows { window, len, columns, cursor: app.panes.hex.cursor / columns })
}

/// Does an action; true when it meant something here.
pub fn act(app: &mut App, action: Action) -> bool {
    let area = app.pane_inside();
    let (columns, rows) = (columns(area.width), rows(area.height));
    let last = byte_count(app).saturating_sub(1);
    let at = app.panes.hex.cursor;
    // A step goes over rows that are squeezed.
    let step = |app: &App, down: bool| {
        let row = rows_at_cursor(app).and_then(|rows| rows.step(down));
        row.map_or(at, |row| (row * columns + at % columns).min(last))
    };
    let to = match action {
        Action::Left => at.saturating_sub(1),
        Action::Right => at.saturating_add(1),
        Action::Up => step(app, false),
        Action::Down => step(app, true),
        Action::PageUp => at.saturating_sub(columns * rows),
        Action::PageDown => at.saturating_add(columns * rows),
        Action::First => 0,
        Action::Last => last,
        Action::Bytes => {
            switch_space(app);
            return true;
        }
        Action::Enter => return open_selected(app),
        _ => return false,
    };
    let state = &mut app.panes.hex;
    state.line = match action {
        Action::Up => state.line.saturating_sub(1),
        Action::Down => state.line + 1,
        _ => state.line,
    };
    move_to(app, to.min(last));
    true
}

/// The pattern that was searched for last.
pub fn pattern(app: &App) -> String {
    app.panes.hex.pattern.clone()
}

/// Searches for bytes from the cursor on, and from the beginning where there is no match behind it.
///
/// # Errors
/// A sentence that says what is wrong with the pattern.
pub fn find(app: &mut App, text: &str) -> Result<(), String> {
    let pattern = Pattern::parse(text)?;
    text.trim().clone_into(&mut app.panes.hex.pattern);
    let from = app.panes.hex.cursor.saturating_add(1);
    let (part, space, all) = (app.panes.hex.part, app.panes.hex.space, byte_count(app));
    let source = match byte_source(app).ok_or("no file is open")? {
        ByteSource::File(opened) => Ok(Arc::clone(opened)),
        ByteSource::Block(block) => Err(Arc::clone(block)),
    };
    let key = app.item_key();
    app.show_message("Searching.".into());
    app.job(
        JobKind::Search,
        move |worker| {
            let found = match &source {
                Ok(opened) => find_in_file(opened, part, &pattern, [from, all], worker),
                Err(block) => Ok(pattern.find(&block.plain, index(from)).or_else(|| pattern.find(&block.plain, 0)))
                    .map(|at| at.and_then(|at| u64::try_from(at).ok())),
            };
            worker.answer(move |app| {
                let state = &app.panes.hex;
                if app.item_key() != key || (state.space, state.part) != (space, part) {
                    return;
                }
                match found {
                    Ok(Some(at)) => {
                        let again = if at < from { " It is before the cursor." } else { "" };
                        app.show_message(format!("Found at {at:#x}.{again} / and enter go on."));
                        move_to(app, at);
                        app.selection.bytes = Some(Bytes { space, part, span: Span::sized(at, pattern.len()) });
                    }
                    Ok(None) => app.show_message("No bytes match.".into()),
                    Err(why) => app.show_message(why),
                }
            });
        },
        App::show_message,
    );
    Ok(())
}

/// Searches a file from an offset to its end, then from its beginning.
fn find_in_file(
    opened: &Opened,
    part: Part,
    pattern: &Pattern,
    [from, all]: [u64; 2],
    worker: &Worker<'_>,
) -> Result<Option<u64>, String> {
    let mut bytes = Vec::new();
    for [mut at, end] in [[from, all], [0, from.saturating_add(pattern.len())]] {
        while at < end.min(all) && !worker.is_cancelled() {
            let span = Span::sized(at, SEARCH.saturating_add(pattern.len()));
            opened.read(part, span, &mut bytes).map_err(|error| error.to_string())?;
            if let Some(found) = pattern.find(&bytes, 0) {
                return Ok(Some(at.saturating_add(u64::try_from(found).unwrap_or(u64::MAX))));
            }
            at = at.saturating_add(SEARCH);
        }
    }
    Ok(None)
}

/// From the file to the decompressed block and back; in layers, to the next of their files.
fn switch_space(app: &mut App) {
    let Some(opened) = app.opened_item().cloned() else { return };
    let parts: Vec<Part> =
        [Part::Data, Part::Index, Part::Depth].into_iter().filter(|part| opened.source(*part).is_some()).collect();
    if matches!(opened.store, Store::Layer(..)) {
        let state = &mut app.panes.hex;
        let at = parts.iter().position(|part| *part == state.part).unwrap_or(0);
        state.part = parts.get((at + 1) % parts.len().max(1)).copied().unwrap_or(Part::Data);
        (state.cursor, state.line) = (0, 0);
        return;
    }
    match app.panes.hex.space {
        Space::Block => {
            app.panes.hex.space = Space::File;
            let span = app.selected_block().map(|block| block.stored);
            app.panes.hex.cursor = span.map_or(0, |span| span.start);
        }
        Space::File if app.selected_block().is_some() => {
            app.panes.hex.space = Space::Block;
            (app.panes.hex.cursor, app.panes.hex.line) = (0, 0);
        }
        Space::File => app.show_message("No block is selected here that could be decompressed.".into()),
    }
}

/// Enter: from a voxel's bytes to the voxel, from an entry of the table to its block.
fn open_selected(app: &mut App) -> bool {
    let Some(opened) = app.opened_item().cloned() else { return false };
    let at = app.panes.hex.cursor;
    if app.panes.hex.space == Space::Block {
        let found = app
            .selected_block()
            .and_then(|block| field::field_in_block(block, &app.settings.names, at))
            .and_then(|(_, voxel)| voxel);
        let Some((channel, voxel)) = found else { return false };
        app.selection.voxel = Some(voxel);
        go::to_world(app, go::WorldTarget::Cut(Some(channel)));
        return true;
    }
    if let Store::Region(region, _) = &opened.store
        && let Some(into) = at.checked_sub(region.header.table.start).filter(|_| at < region.header.table.end)
        && let Some(slot) = u32::try_from(into / 4).ok().and_then(|slot| opened.slot(slot))
    {
        app.remember();
        app.selection.slot = None;
        app.select_slot(slot.slot);
        app.panes.follow_selection();
        return true;
    }
    false
}

/// Moves the cursor and the selection with it.
fn move_to(app: &mut App, at: u64) {
    let state = &mut app.panes.hex;
    state.cursor = at;
    let (space, part) = (state.space, state.part);
    let inside =
        |bytes: &Bytes| bytes.space == space && bytes.part == part && (bytes.span.start..bytes.span.end).contains(&at);
    if !app.selection.bytes.as_ref().is_some_and(inside) {
        app.selection.bytes = Some(Bytes { space, part, span: Span::sized(at, 1) });
    }
    if space == Space::File
        && part == Part::Data
        && let Some(opened) = app.opened_item().cloned()
    {
        let sector = opened.sector_at(at);
        if sector != app.selection.sector {
            app.selection.sector = sector;
            app.selection.slot = sector.and_then(|sector| go::slot_at(&opened, sector));
            app.selection.voxel = None;
        }
    }
}

/// Does a click.
pub fn click(app: &mut App, click: Click, x: u16, y: u16) {
    let area = app.pane_inside();
    let (columns, rows) = (columns(area.width), rows(area.height));
    match click {
        Click::Wheel(up) => {
            act(app, if up { Action::Up } else { Action::Down });
        }
        Click::Press | Click::Drag => {
            let Some(line) = y.checked_sub(1).map(usize::from) else { return };
            let shown = rows_at_cursor(app).map(|all| all.lines(app.panes.hex.line, index(rows)));
            let Some(row) = shown.and_then(|shown| shown.get(line).copied()) else { return };
            let column = match row {
                HexRow::Bytes(_) => paint::column_at(columns, x),
                HexRow::Equal(..) => Some(0),
            };
            if let Some(at) = column.map(|column| row.start() + column).filter(|at| *at < byte_count(app)) {
                app.panes.hex.line = line;
                move_to(app, at);
            }
        }
    }
}

/// Requests what the pane needs and does not have.
pub fn request_missing(app: &mut App) {
    let (Some(key), Some(opened)) = (app.item_key(), app.opened_item().cloned()) else { return };
    if app.panes.hex.item != Some(key) {
        let same = app.panes.hex.item.is_some_and(|(_, item)| item == key.1);
        let state = &mut app.panes.hex;
        state.item = Some(key);
        // The same file read again keeps its place.
        if !same {
            (state.space, state.part) = (Space::File, Part::Data);
            // What cannot be read is opened where reading it failed.
            (state.cursor, state.line) = (opened.damage.first().map_or(0, |damage| damage.span.start), 0);
            state.follow |= app.selection.bytes.is_some();
        }
    }
    if app.panes.hex.follow {
        follow(app);
    }
    let all = byte_count(app);
    let rows = index(rows(app.pane_inside().height));
    let state = &mut app.panes.hex;
    state.cursor = state.cursor.min(all.saturating_sub(1));
    // The cursor stays in the middle third: what is around it is seen.
    state.line = state.line.clamp(rows / 3, (rows * 2 / 3).max(rows / 3));
    if state.space == Space::Block {
        return;
    }
    let start = (state.cursor / MARGIN).saturating_sub(1) * MARGIN;
    let (part, wanted) = (state.part, (key, state.part, start));
    if !state.chunk.request(&wanted) {
        return;
    }
    app.job(
        JobKind::Bytes,
        move |worker| {
            let mut bytes = Vec::new();
            let read = opened.read(part, Span::sized(start, 3 * MARGIN), &mut bytes);
            let read = read.map(|()| bytes).map_err(|error| error.to_string());
            worker.answer(move |app| app.panes.hex.chunk.store(wanted, read));
        },
        |app, why| app.panes.hex.chunk.fail(why),
    );
}

/// Goes to the bytes that are selected; those of a block once it has been read.
fn follow(app: &mut App) {
    let Some(bytes) = app.selection.bytes else {
        app.panes.hex.follow = false;
        return;
    };
    if bytes.space == Space::Block {
        if let (Some(_), None) = (app.block_key(), app.selected_block()) {
            return;
        }
        if app.selected_block().is_none_or(|block| block.plain.is_empty()) {
            // Nothing was decompressed: the bytes as they are stored.
            app.panes.hex.space = Space::File;
            app.panes.hex.follow = false;
            return;
        }
    }
    let state = &mut app.panes.hex;
    state.follow = false;
    (state.space, state.part, state.cursor) = (bytes.space, bytes.part, bytes.span.start);
}

/// The bytes on the screen, as far as they were read.
fn window(app: &App) -> Option<Window<'_>> {
    match byte_source(app)? {
        ByteSource::Block(block) => Some(Window { start: 0, bytes: &block.plain }),
        ByteSource::File(_) => {
            let (key, bytes) = app.panes.hex.chunk.latest()?;
            let (item, part, start) = *key;
            (Some(item) == app.item_key() && part == app.panes.hex.part).then_some(Window { start, bytes })
        }
    }
}

/// The field under the cursor.
fn field(app: &App) -> Option<Field> {
    let at = app.panes.hex.cursor;
    match byte_source(app)? {
        ByteSource::Block(block) => field::field_in_block(block, &app.settings.names, at).map(|(field, _)| field),
        ByteSource::File(opened) => field::field_in_file(
            opened,
            app.panes.hex.part,
            app.selected_block().map(|block| &**block),
            at,
            window(app)?,
        ),
    }
}

/// What is wrong with the bytes that are shown.
fn damage(app: &App) -> Vec<Damage> {
    let mut out: Vec<Damage> = Vec::new();
    let Some(shown) = byte_source(app) else { return out };
    let space = if matches!(shown, ByteSource::Block(_)) { Space::Block } else { Space::File };
    if let ByteSource::File(opened) = &shown {
        out.extend(opened.damage.iter().copied());
    }
    out.extend(app.selected_block().iter().flat_map(|block| block.damage.iter().copied()));
    out.retain(|damage| damage.space == space && app.panes.hex.part == Part::Data);
    out
}

/// What is copied: the selected bytes in hexadecimal, or the field under the cursor.
pub fn copy(app: &App) -> Option<String> {
    let state = &app.panes.hex;
    let selected = app.selection.bytes.filter(|bytes| bytes.space == state.space && bytes.part == state.part);
    let span = selected.map(|bytes| bytes.span).filter(|span| span.len() > 1).or_else(|| Some(field(app)?.span))?;
    let window = window(app)?;
    let bytes = window.get(span.start, span.len().min(4096)).or_else(|| window.get(state.cursor, 1))?;
    let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(hex.join(" "))
}
