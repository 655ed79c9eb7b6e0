//! The sector map: who owns which part of the file, a letter for each block, and marks for what is wrong.

mod files;
mod grid;
mod words;

use ratatui::style::Modifier;

use super::{Click, marks};
use crate::tui::action::Action;
use crate::tui::app::{App, Focus};
use crate::tui::canvas::Canvas;
use crate::tui::data::{Item, Opened, Part, Store};
use crate::tui::draw::pane_inside;
use crate::tui::go;
use crate::tui::inspector::bytes;
use crate::tui::pane::Pane;
use crate::tui::theme::{Role, level_role};
use grid::{Grid, cursor, look};
use marks::{Kind, Marks};

/// What the pane keeps.
#[derive(Debug, Default)]
pub struct Keep {
    /// Whether the view goes to where the selection is.
    pub follow: bool,
    /// Sectors a cell, as a power of two; `None` is as many as the whole file needs.
    zoom: Option<u32>,
    /// The first row that is seen.
    first: usize,
    /// Where several files are shown: the one under the cursor, counted from the first.
    file: usize,
    /// What was shown last: another file begins as a whole.
    node: Option<(u64, usize)>,
}

/// The grid of the open file, when it has sectors.
fn grid(app: &App) -> Option<(Grid, &Marks)> {
    let opened = app.opened_item()?;
    let marks = marks::current(app)?;
    let inside = pane_inside(app);
    let is_map = !matches!(opened.store, Store::Bytes(_)) && marks.len() > 0;
    is_map.then(|| (Grid::new(app, marks, inside.width, inside.height), marks))
}

/// Does an action; true when it meant something here.
pub fn act(app: &mut App, action: Action) -> bool {
    if app.selected_item().is_none() {
        return files::act(app, action);
    }
    if action == Action::Enter {
        enter(app);
        return true;
    }
    let Some((grid, _)) = grid(app) else { return false };
    let at = grid.cell_at_cursor();
    let last = grid.cells().saturating_sub(1);
    let (columns, page) = (grid.columns, grid.columns.saturating_mul(u64::from(grid.rows).max(1)));
    let to = match action {
        // The first key shows where the cursor is.
        _ if app.selection.sector.is_none() && is_step(action) => at,
        Action::Left => at.saturating_sub(1),
        Action::Right => at.saturating_add(1),
        Action::Up => at.checked_sub(columns).unwrap_or(at),
        Action::Down => {
            let below = at.saturating_add(columns);
            // From the row before the last one its end is reached too.
            if below > last && last / columns > at / columns {
                last
            } else if below > last {
                at
            } else {
                below
            }
        }
        Action::PageUp => at.saturating_sub(page),
        Action::PageDown => at.saturating_add(page),
        Action::First => 0,
        Action::Last => last,
        Action::ZoomIn => return zoom(app, (grid.per / 2).max(1)),
        Action::ZoomOut => return zoom(app, grid.per.saturating_mul(2).min(grid.fit)),
        _ => return false,
    };
    go_to_cell(app, to.min(last));
    true
}

const fn is_step(action: Action) -> bool {
    matches!(action, Action::Left | Action::Right | Action::Up | Action::Down)
}

fn zoom(app: &mut App, per: u64) -> bool {
    let fits = grid(app).is_some_and(|(grid, _)| grid.fit <= per);
    app.panes.sectors.zoom = (!fits).then(|| per.trailing_zeros());
    scroll(app);
    true
}

/// Keeps the cursor in sight.
fn scroll(app: &mut App) {
    if let Some((grid, _)) = grid(app) {
        app.panes.sectors.first = grid.first;
    }
}

/// Selects the worst sector of a cell, with the block that owns it and what is wrong with it.
fn go_to_cell(app: &mut App, cell: u64) {
    let Some((grid, marks)) = grid(app) else { return };
    let Some(shown) = grid.cell(marks, cell, None) else { return };
    let Some(opened) = app.opened_item().cloned() else { return };
    go::to_sector(app, &opened, shown.sector);
    marks::select_finding(app, shown.sector);
    scroll(app);
}

/// Enter: the block in the pane that tells most of it.
fn enter(app: &mut App) {
    let Some((_, marks)) = grid(app) else {
        app.show(Pane::Hex);
        return;
    };
    let Some(run) = marks.run_at(cursor(app)) else { return };
    let (kind, finding) = (marks.kind(run), marks.finding(run));
    if app.selection.sector.is_none() {
        go_to_cell(app, 0);
    }
    match (kind, finding) {
        (Some(Kind::Block), _) => app.show(Pane::Slice),
        (_, Some(number)) => {
            app.show(Pane::Hex);
            go::to_finding(app, number);
        }
        _ => app.show(Pane::Hex),
    }
}

/// Does a click.
pub fn click(app: &mut App, click: Click, x: u16, y: u16) {
    if app.selected_item().is_none() {
        files::click(app, click, x, y);
        return;
    }
    if let Click::Wheel(up) = click {
        act(app, if up { Action::Up } else { Action::Down });
        return;
    }
    let Some((grid, _)) = grid(app) else { return };
    let Some(cell) = grid.cell_at(x, y) else { return };
    if app.selection.sector.is_some() && grid.cell_at_cursor() == cell {
        enter(app);
    } else {
        go_to_cell(app, cell);
    }
}

/// Asks for what is needed.
pub fn want(app: &mut App) {
    marks::want(app);
    let node = (app.generation, app.selection.node);
    if app.panes.sectors.node != Some(node) {
        app.panes.sectors.node = Some(node);
        (app.panes.sectors.zoom, app.panes.sectors.first, app.panes.sectors.file) = (None, 0, 0);
    }
    if std::mem::take(&mut app.panes.sectors.follow) {
        scroll(app);
    }
}

/// Draws the pane.
pub fn draw(app: &App, canvas: &mut Canvas<'_>) {
    if app.selected_item().is_none() {
        files::draw(app, canvas);
        return;
    }
    if super::nothing_yet(app, canvas) {
        return;
    }
    let Some(opened) = app.opened_item() else { return };
    if matches!(opened.store, Store::Bytes(_)) {
        only_bytes(app, opened, canvas);
        return;
    }
    let Some(marks) = marks::current(app) else {
        canvas.put(1, 0, "Reading the file.", Role::Dim);
        return;
    };
    if marks.len() == 0 {
        let words = format!("There is no {} in this file: nothing was ever stored.", opened.unit());
        canvas.wrap(1, 0, &words, Role::Dim);
        faults(app, opened, 2, canvas);
        return;
    }
    let grid = Grid::new(app, marks, canvas.width(), canvas.height());
    if grid.summary {
        let width = canvas.width();
        line(&words::summary(app, opened, marks, &grid, width), 0, canvas);
    }
    cells(app, opened, marks, &grid, canvas);
    if let Some(y) = grid.words {
        let cell = grid.cell(marks, grid.cell_at_cursor(), None);
        let width = canvas.width();
        line(&words::under_cursor(app, opened, marks, cell, cursor(app), width), y, canvas);
    }
    if grid.legend < canvas.height() {
        let width = canvas.width();
        let shown = canvas.height() - grid.legend;
        for (y, pieces) in (grid.legend..).zip(words::legend(app, marks, width, grid.per > 1).iter().take(shown.into()))
        {
            line(pieces, y, canvas);
        }
    }
}

fn line(pieces: &words::Line, y: u16, canvas: &mut Canvas<'_>) {
    let pieces: Vec<(Role, &str)> = pieces.iter().map(|(role, text)| (*role, text.as_str())).collect();
    canvas.line(1, y, &pieces);
}

fn cells(app: &App, opened: &Opened, marks: &Marks, grid: &Grid, canvas: &mut Canvas<'_>) {
    let top = u16::from(grid.summary);
    let focused = app.focus == Focus::Pane;
    let at_cursor = grid.cell_at_cursor();
    for row in 0..grid.rows {
        let from = grid.row_start(row);
        if from >= grid.cells() {
            break;
        }
        let y = top + row;
        let sector = marks.sector_at(from.saturating_mul(grid.per)).unwrap_or(0);
        canvas.put_right(grid.label, y, &opened.shown_sector(sector).to_string(), Role::Dim);
        for (x, number) in (grid.label + 1..).zip(from..grid.cells().min(from.saturating_add(grid.columns))) {
            let Some(cell) = grid.cell(marks, number, app.selection.slot) else { continue };
            let (glyph, style) = look(cell, marks, opened, app.settings.theme, &app.glyphs);
            canvas.put_styled(x, y, &glyph, style);
            if number == at_cursor {
                let role = if focused { Role::Cursor } else { Role::CursorAway };
                // Where the whole block stands out already, the cursor is what is not coloured and has a line below.
                let style = app.settings.theme.style(role).add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
                let style = style.fg(ratatui::style::Color::Reset);
                canvas.put_styled(x, y, &glyph, style);
            }
        }
    }
    let height = grid.rows;
    canvas.part(0, top, canvas.width(), height).scrollbar(grid.first, height.into(), grid.all_rows());
}

/// A file that has bytes only: what it is, and what is wrong with it.
fn only_bytes(app: &App, opened: &Opened, canvas: &mut Canvas<'_>) {
    let item = app.index.as_ref().and_then(|index| index.items.get(opened.item).copied());
    let is_plain = matches!(item, Some(Item::Plain));
    let words = if is_plain {
        "This file describes the others and has no sectors of its own."
    } else {
        "The header of this file locates no block, so there are no sectors to show."
    };
    let y = canvas.wrap(1, 0, words, Role::Text);
    let size = format!("It has {}. Enter shows them.", bytes(opened.len(Part::Data)));
    let y = canvas.wrap(1, y, &size, Role::Dim);
    faults(app, opened, y + 1, canvas);
}

/// What is wrong with the file as such.
fn faults(app: &App, opened: &Opened, mut y: u16, canvas: &mut Canvas<'_>) {
    let about = app.findings.items.iter().zip(&app.findings.list).filter(|(item, _)| **item == Some(opened.item));
    for (_, finding) in about.take(8) {
        let level = Some(finding.level());
        canvas.put(1, y, app.glyphs.level(level), level_role(level));
        y = canvas.wrap(3, y, &finding.message(), Role::Text);
        y = canvas.wrap(3, y, finding.code().next(), Role::Dim);
        if y >= canvas.height() {
            break;
        }
    }
}
