//! A directory or a save with several files: a row for each of them, with its findings and a strip of its sectors.

use std::sync::Arc;

use super::strip::{self, Strip};
use crate::damage::Level;
use crate::printable::size;
use crate::save::File;
use crate::tui::action::Action;
use crate::tui::canvas::Canvas;
use crate::tui::data::{Index, Item, ItemId};
use crate::tui::findings::Tally;
use crate::tui::numbers::grouped;
use crate::tui::panes::Click;
use crate::tui::scroll;
use crate::tui::theme::{Role, level_role};
use crate::tui::{App, Focus};

/// Columns of the size and of the number of blocks.
const FIGURES: u16 = 18;

/// Columns of the findings of a file, where there are any.
const COUNTS: u16 = 7;

/// Columns that a strip of sectors has at least where names are long.
const STRIP: u16 = 16;

/// Lines that a step of the wheel moves.
const WHEEL: usize = 3;

/// The areas of the list.
struct FileList {
    /// Whether there are a line above and a legend below.
    framed: bool,
    rows: u16,
    /// Columns of the names, and of the numbers of findings after them.
    name: u16,
    counts: u16,
    first: usize,
    cursor: usize,
    files: usize,
}

fn layout(app: &App, width: u16, height: u16) -> FileList {
    let items = app.selected_items();
    let files = items.len();
    // The cursor is on the selected file.
    let cursor = app.selected_item().and_then(|item| item.checked_sub(items.start)).unwrap_or(0);
    let cursor = cursor.min(files.saturating_sub(1));
    let framed = height >= 5;
    let rows = height.saturating_sub(if framed { 2 } else { 0 });
    let first = scroll::follow(app.panes.sectors.first, cursor, rows.into(), files);
    let shown =
        |at: usize| app.index.as_ref().map_or(0, |index| short_name(app, index, items.start + at).chars().count());
    let longest = (first..files).take(rows.into()).map(shown).max().unwrap_or(0);
    let counted = &app.findings.counts;
    let counts = if counted.errors + counted.warnings > 0 { COUNTS } else { 1 };
    let most = width.saturating_sub(3 + counts + FIGURES + STRIP).max(width * 2 / 5).max(8);
    let name = u16::try_from(longest).unwrap_or(u16::MAX).clamp(8, most);
    FileList { framed, rows, name, counts, first, cursor, files }
}

/// Does an action; true when it meant something here.
pub fn act(app: &mut App, action: Action) -> bool {
    let inside = app.pane_inside();
    let FileList { rows, cursor, files, .. } = layout(app, inside.width, inside.height);
    let page = usize::from(rows).max(1);
    let last = files.saturating_sub(1);
    match action.over_lines(cursor, last, page) {
        Some(to) => move_to(app, to),
        None if action == Action::Enter => open(app, cursor),
        None => return false,
    }
    true
}

/// Puts the cursor on a file, which selects it.
fn move_to(app: &mut App, at: usize) {
    if let Some(item) = app.selected_items().nth(at) {
        app.select_item(item);
        app.selection.finding = None;
    }
    let inside = app.pane_inside();
    app.panes.sectors.first = layout(app, inside.width, inside.height).first;
}

/// Opens the file of a row.
fn open(app: &mut App, at: usize) {
    let (Some(index), Some(item)) = (app.index.clone(), app.selected_items().nth(at)) else { return };
    let Some(node) = index.node_of(item) else { return };
    app.remember();
    app.select_node(node);
    app.panes.tree.show(&index, node);
    app.panes.follow_selection();
}

/// Does a click.
pub fn click(app: &mut App, click: Click, _x: u16, y: u16) {
    if let Click::Wheel(up) = click {
        for _ in 0..WHEEL {
            act(app, if up { Action::Up } else { Action::Down });
        }
        return;
    }
    let inside = app.pane_inside();
    let list = layout(app, inside.width, inside.height);
    let Some(row) = y.checked_sub(u16::from(list.framed)).filter(|row| *row < list.rows) else { return };
    let at = list.first + usize::from(row);
    if at >= list.files {
        return;
    }
    if at == list.cursor {
        open(app, at);
    } else {
        move_to(app, at);
    }
}

/// Asks for the strips of the files that are shown.
pub fn request_missing(app: &mut App) {
    let Some(index) = app.index.clone() else { return };
    let inside = app.pane_inside();
    let list = layout(app, inside.width, inside.height);
    let items = app.selected_items();
    let shown: Vec<ItemId> = items.skip(list.first).take(list.rows.into()).collect();
    strip::request(app, &index, &shown);
}

/// The name of a file with the directory that it is in, and below several saves with that of its save.
fn short_name(app: &App, index: &Index, item: ItemId) -> String {
    let shown = index.shown(item);
    if app.selection.node == 0 && index.has_several_saves() {
        return shown.replacen("/regions/", "/", 1);
    }
    let mut slashes = shown.rmatch_indices('/');
    slashes.nth(1).and_then(|(at, _)| shown.get(at + 1..)).unwrap_or(&shown).to_owned()
}

fn tally(app: &App, index: &Index, item: ItemId) -> Tally {
    index.node_of(item).map(|node| app.findings.tally(node)).unwrap_or_default()
}

/// Draws the files.
pub fn draw(app: &App, canvas: &mut Canvas<'_>) {
    let Some(index) = &app.index else { return };
    let items = app.selected_items();
    let list = layout(app, canvas.width(), canvas.height());
    if list.files == 0 {
        canvas.wrap(1, 0, "There is no file of a save here.", Role::Dim);
        return;
    }
    let top = u16::from(list.framed);
    if list.framed {
        summary(app, index, &list, canvas);
    }
    let shown: Vec<ItemId> = items.skip(list.first).take(list.rows.into()).collect();
    let found = strip::found(app, &shown);
    for (y, (at, item)) in (top..).zip((list.first..).zip(&shown)) {
        let tally = tally(app, index, *item);
        let worst = tally.worst();
        let checked = app.findings.summary.is_some() || worst.is_some();
        let mark = if checked { app.glyphs.level(worst) } else { app.glyphs.unknown };
        canvas.put(1, y, mark, if checked { level_role(worst) } else { Role::Dim });
        canvas.put_middle(3, y, list.name, &short_name(app, index, *item), Role::Text);
        let count = match worst {
            Some(Level::Error) => grouped(tally.errors.into()),
            Some(Level::Warning) => grouped(tally.warnings.into()),
            _ => String::new(),
        };
        let mut x = 3 + list.name + list.counts;
        canvas.put_right(x, y, &count, level_role(worst));
        let strip: Option<&Arc<Strip>> = app.panes.sectors.strips.get(app.generation, *item);
        if canvas.width() >= x + FIGURES + 8 {
            // A map consists of several files; the size is that of the opened one.
            let file = index.file(*item).filter(|file| !matches!(file, File::Map(_)));
            if let Some(bytes) = file.map(|file| file.len()).or_else(|| strip.map(|strip| strip.bytes)) {
                canvas.put_right(x + 10, y, &size(bytes), Role::Dim);
            }
            if let Some(blocks) = strip.and_then(|strip| strip.blocks) {
                canvas.put_right(x + FIGURES, y, &grouped(blocks), Role::Text);
            }
            x += FIGURES;
        }
        let width = canvas.width().saturating_sub(x + 3);
        if let Some(strip) = strip {
            let damage = found.get(item).map_or(&[][..], Vec::as_slice);
            strip.draw(app, damage, &mut canvas.part(x + 2, y, width, 1));
        }
        if at == list.cursor {
            canvas.restyle(0, y, x, if app.focus == Focus::Pane { Role::Cursor } else { Role::CursorAway });
        }
    }
    canvas.part(0, top, canvas.width(), list.rows).scrollbar(list.first, list.rows.into(), list.files);
    if list.framed {
        let y = canvas.height().saturating_sub(1);
        strip::draw_legend(app, y, canvas);
    }
}

/// Whether a file only describes the block files or region files beside it.
fn is_meta(index: &Index, item: ItemId) -> bool {
    let name = index.paths.get(item).and_then(|path| path.file_name());
    name.is_some_and(|name| name == "meta.vxrm" || name == "meta.vxbm")
}

fn summary(app: &App, index: &Index, list: &FileList, canvas: &mut Canvas<'_>) {
    let items = app.selected_items();
    let wrong = |level: Level| items.clone().filter(|item| tally(app, index, *item).worst() == Some(level)).count();
    // A check and `info` count the files that hold blocks.
    let metas = items.clone().filter(|item| is_meta(index, *item)).count();
    let count = |n: usize, thing: &str| crate::printable::count(n as u64, thing);
    let words = match (list.files - metas, metas) {
        (0, metas) => count(metas, "meta file"),
        (files, 0) => count(files, "file"),
        (files, metas) => format!("{} and {}", count(files, "file"), count(metas, "meta file")),
    };
    let mut x = canvas.put(1, 0, &words, Role::Text);
    for level in [Level::Error, Level::Warning] {
        let n = wrong(level);
        if n > 0 {
            x = canvas.put(x, 0, app.glyphs.dot, Role::Dim);
            let text = format!("{} {n} with {}s", app.glyphs.level(Some(level)), level.name());
            x = canvas.put(x, 0, &text, level_role(Some(level)));
        }
    }
    let is_array = |item: ItemId| matches!(index.items.get(item), Some(Item::Layer(..) | Item::Plain));
    let parts = if items.clone().all(is_array) { "size and blocks" } else { "size, blocks and sectors" };
    let words = format!("{}{parts}", app.glyphs.dot);
    canvas.put_within(x, 0, canvas.width().saturating_sub(x + 1), &words, Role::Dim);
}
