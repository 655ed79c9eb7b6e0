//! The bytes of the file or of the decompressed block, with the field under the cursor.

mod paint;

use std::sync::Arc;

use super::Click;
use crate::bytes::{Span, index, len64};
use crate::damage::{Damage, Space};
use crate::tui::action::Action;
use crate::tui::app::{App, Bytes, ItemKey};
use crate::tui::data::field::{self, Field, Window};
use crate::tui::data::{BlockData, Cell, Opened, Part, Store};
use crate::tui::draw::pane_inside;
use crate::tui::go;
use crate::tui::jobs::Kind;
use crate::tui::pane::Pane;

pub use paint::draw;

/// Bytes that are read at once.
const CHUNK: u64 = 1 << 16;

/// What the pane keeps.
#[derive(Debug)]
pub struct Keep {
    /// Whether the view goes to where the selection is.
    pub follow: bool,
    space: Space,
    part: Part,
    cursor: u64,
    first: u64,
    item: Option<ItemKey>,
    chunk: Cell<(ItemKey, Part, u64), Vec<u8>>,
}

impl Default for Keep {
    fn default() -> Self {
        Self {
            follow: false,
            space: Space::File,
            part: Part::Data,
            cursor: 0,
            first: 0,
            item: None,
            chunk: Cell::default(),
        }
    }
}

/// Bytes in a row of the screen: sixteen where there is room for them.
fn columns(width: u16) -> u64 {
    match width {
        76.. => 16,
        42.. => 8,
        _ => 4,
    }
}

/// What is shown now: which bytes there are.
enum Shown<'a> {
    File(&'a Arc<Opened>),
    Block(&'a Arc<BlockData>),
}

fn shown(app: &App) -> Option<Shown<'_>> {
    let opened = app.opened_item()?;
    Some(match app.panes.hex.space {
        Space::File => Shown::File(opened),
        Space::Block => app.selected_block().map_or(Shown::File(opened), Shown::Block),
    })
}

/// How many bytes there are.
fn all(app: &App) -> u64 {
    match shown(app) {
        None => 0,
        Some(Shown::File(opened)) => opened.len(app.panes.hex.part),
        Some(Shown::Block(block)) => len64(&block.plain),
    }
}

/// Rows of bytes that the pane has room for: there are a line above and three below.
fn rows(height: u16) -> u64 {
    u64::from(height.saturating_sub(if height > 8 { 5 } else { 2 }).max(1))
}

/// Does an action; true when it meant something here.
pub fn act(app: &mut App, action: Action) -> bool {
    let area = pane_inside(app);
    let (columns, rows) = (columns(area.width), rows(area.height));
    let last = all(app).saturating_sub(1);
    let at = app.panes.hex.cursor;
    let to = match action {
        Action::Left => at.saturating_sub(1),
        Action::Right => at.saturating_add(1),
        Action::Up => at.checked_sub(columns).unwrap_or(at),
        Action::Down => Some(at.saturating_add(columns)).filter(|&to| to <= last).unwrap_or(at),
        Action::PageUp => at.saturating_sub(columns * rows),
        Action::PageDown => at.saturating_add(columns * rows),
        Action::First => 0,
        Action::Last => last,
        Action::Bytes => {
            turn(app);
            return true;
        }
        Action::Enter => return look(app),
        _ => return false,
    };
    move_to(app, to.min(last));
    true
}

/// From the file to the decompressed block and back; in layers, to the next of their files.
fn turn(app: &mut App) {
    let Some(opened) = app.opened_item().cloned() else { return };
    let parts: Vec<Part> =
        [Part::Data, Part::Index, Part::Depth].into_iter().filter(|part| opened.source(*part).is_some()).collect();
    if matches!(opened.store, Store::Layer(..)) {
        let keep = &mut app.panes.hex;
        let at = parts.iter().position(|part| *part == keep.part).unwrap_or(0);
        keep.part = parts.get((at + 1) % parts.len().max(1)).copied().unwrap_or(Part::Data);
        (keep.cursor, keep.first) = (0, 0);
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
            (app.panes.hex.cursor, app.panes.hex.first) = (0, 0);
        }
        Space::File => app.say("Choose a block first; then its decompressed bytes can be shown.".into()),
    }
}

/// Enter: from a voxel's bytes to the voxel, from an entry of the table to its block.
fn look(app: &mut App) -> bool {
    let Some(opened) = app.opened_item().cloned() else { return false };
    let at = app.panes.hex.cursor;
    if app.panes.hex.space == Space::Block {
        let found = app.selected_block().and_then(|block| field::of_block(block, at)).and_then(|(_, voxel)| voxel);
        let Some((_, voxel)) = found else { return false };
        app.remember();
        app.selection.voxel = Some(voxel);
        app.pane = Pane::Slice;
        return true;
    }
    if let Store::Region(region, _) = &opened.store
        && let Some(into) = at.checked_sub(region.header.table.start).filter(|_| at < region.header.table.end)
        && let Some(slot) = u32::try_from(into / 4).ok().and_then(|slot| opened.slot(slot))
    {
        app.remember();
        app.selection.slot = None;
        app.select_slot(slot.slot);
        app.panes.arrived();
        return true;
    }
    false
}

/// Moves the cursor; the selection goes along.
fn move_to(app: &mut App, at: u64) {
    let keep = &mut app.panes.hex;
    keep.cursor = at;
    let (space, part) = (keep.space, keep.part);
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
    let area = pane_inside(app);
    let (columns, rows) = (columns(area.width), rows(area.height));
    match click {
        Click::Wheel(up) => {
            act(app, if up { Action::Up } else { Action::Down });
        }
        Click::Press => {
            let Some(row) = y.checked_sub(1).map(u64::from).filter(|&row| row < rows) else { return };
            if let Some(column) = paint::column_at(columns, x) {
                let at = app.panes.hex.first + row * columns + column;
                if at < all(app) {
                    move_to(app, at);
                }
            }
        }
    }
}

/// Asks for what is needed.
pub fn want(app: &mut App) {
    let (Some(key), Some(opened)) = (app.item_key(), app.opened_item().cloned()) else { return };
    if app.panes.hex.item != Some(key) {
        let same = app.panes.hex.item.is_some_and(|(_, item)| item == key.1);
        let keep = &mut app.panes.hex;
        keep.item = Some(key);
        // The same file read again keeps its place.
        if !same {
            (keep.space, keep.part) = (Space::File, Part::Data);
            // What cannot be read is opened where reading it failed.
            (keep.cursor, keep.first) = (opened.damage.first().map_or(0, |damage| damage.span.start), 0);
            keep.follow |= app.selection.bytes.is_some();
        }
    }
    if app.panes.hex.follow {
        follow(app);
    }
    let all = all(app);
    let area = pane_inside(app);
    let (columns, rows) = (columns(area.width), rows(area.height));
    let keep = &mut app.panes.hex;
    keep.cursor = keep.cursor.min(all.saturating_sub(1));
    let row = keep.cursor / columns;
    let first =
        crate::tui::scroll::follow(index(keep.first / columns), index(row), index(rows), index(all.div_ceil(columns)));
    keep.first = u64::try_from(first).unwrap_or(0).saturating_mul(columns);
    if keep.space == Space::Block {
        return;
    }
    // The chunk that has all of the screen: they overlap by half, so that there is one.
    let start = keep.first / (CHUNK / 2) * (CHUNK / 2);
    let (part, wanted) = (keep.part, (key, keep.part, start));
    if !keep.chunk.want(&wanted) {
        return;
    }
    app.job(
        Kind::Bytes,
        move |worker| {
            let mut bytes = Vec::new();
            let read = opened.read(part, Span::sized(start, CHUNK), &mut bytes);
            let read = read.map(|()| bytes).map_err(|error| error.to_string());
            worker.answer(move |app| app.panes.hex.chunk.put(wanted, read));
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
    let keep = &mut app.panes.hex;
    keep.follow = false;
    (keep.space, keep.part, keep.cursor) = (bytes.space, bytes.part, bytes.span.start);
}

/// The bytes on the screen, as far as they were read.
fn window(app: &App) -> Option<Window<'_>> {
    match shown(app)? {
        Shown::Block(block) => Some(Window { start: 0, bytes: &block.plain }),
        Shown::File(_) => {
            let (key, bytes) = app.panes.hex.chunk.latest()?;
            let (item, part, start) = *key;
            (Some(item) == app.item_key() && part == app.panes.hex.part).then_some(Window { start, bytes })
        }
    }
}

/// The field under the cursor.
fn field(app: &App) -> Option<Field> {
    let at = app.panes.hex.cursor;
    match shown(app)? {
        Shown::Block(block) => field::of_block(block, at).map(|(field, _)| field),
        Shown::File(opened) => {
            field::of_file(opened, app.panes.hex.part, app.selected_block().map(|block| &**block), at, window(app)?)
        }
    }
}

/// What is wrong with the bytes that are shown.
fn damage(app: &App) -> Vec<Damage> {
    let mut out: Vec<Damage> = Vec::new();
    let Some(shown) = shown(app) else { return out };
    let space = if matches!(shown, Shown::Block(_)) { Space::Block } else { Space::File };
    if let Shown::File(opened) = &shown {
        out.extend(opened.damage.iter().copied());
    }
    out.extend(app.selected_block().iter().flat_map(|block| block.damage.iter().copied()));
    out.retain(|damage| damage.space == space && app.panes.hex.part == Part::Data);
    out
}

/// What is copied: the selected bytes in hexadecimal, or the field under the cursor.
pub fn copy(app: &App) -> Option<String> {
    let keep = &app.panes.hex;
    let selected = app.selection.bytes.filter(|bytes| bytes.space == keep.space && bytes.part == keep.part);
    let span = selected.map(|bytes| bytes.span).filter(|span| span.len() > 1).or_else(|| Some(field(app)?.span))?;
    let window = window(app)?;
    let bytes = window.get(span.start, span.len().min(4096)).or_else(|| window.get(keep.cursor, 1))?;
    let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(hex.join(" "))
}
