//! The sector map: who owns which part of the file, a letter for each block, and marks for what is wrong.

mod files;
mod grid;
mod strip;
mod words;

use ratatui::style::Modifier;
use unicode_width::UnicodeWidthStr;

use super::{Click, marks};
use crate::save::Owner;
use crate::tui::action::Action;
use crate::tui::canvas::Canvas;
use crate::tui::data::{Item, Opened, Part, Store};
use crate::tui::go;
use crate::tui::numbers::bytes;
use crate::tui::pane::Pane;
use crate::tui::theme::{Role, level_role};
use crate::tui::{App, Focus};
use grid::{Grid, cell_appearance, cursor};
use marks::{Marks, SectorKind};

/// The state of the pane.
#[derive(Debug, Default)]
pub struct SectorsState {
    /// Whether the view goes to where the selection is.
    pub follow: bool,
    /// Sectors a cell, as a power of two; `None` is as many as the whole file needs.
    zoom: Option<u32>,
    /// The first row that is seen.
    first: usize,
    /// Characters a sector, where one sector is a cell; `None` is as many as there is room for.
    wide: Option<u16>,
    /// Where several files are shown: their sectors.
    strips: strip::Strips,
    /// What was shown last: another file begins as a whole.
    node: Option<(u64, usize)>,
}

/// The grid of the open file, when it has sectors.
fn grid(app: &App) -> Option<(Grid, &Marks)> {
    let opened = app.opened_item()?;
    let marks = marks::current(app)?;
    let inside = app.pane_inside();
    let is_map = !matches!(opened.store, Store::Bytes(_)) && marks.len() > 0;
    is_map.then(|| (make_grid(app, marks, inside.width, inside.height), marks))
}

fn make_grid(app: &App, marks: &Marks, width: u16, height: u16) -> Grid {
    let legend = words::legend(app, marks, width, true, true).len();
    Grid::new(app, marks, width, height, u16::try_from(legend).unwrap_or(1))
}

/// Does an action; true when it meant something here.
pub fn act(app: &mut App, action: Action) -> bool {
    if app.selects_directory() {
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
        Action::ZoomIn if grid.per == 1 => return widen(app, grid.wide.saturating_mul(2).clamp(4, grid::MAX_WIDE)),
        Action::ZoomOut if grid.per == 1 && grid.wide > 1 => {
            return widen(app, if grid.wide > 4 { grid.wide / 2 } else { 1 });
        }
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

/// Changes the width of the cells, where one is a sector.
fn widen(app: &mut App, wide: u16) -> bool {
    app.panes.sectors.wide = Some(wide);
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

/// Enter: opens the block in the pane that shows most of it.
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
        (Some(SectorKind::Block), _) => go::to_world(app, go::WorldTarget::Cut(None)),
        (_, Some(number)) => {
            app.show(Pane::Hex);
            go::to_finding(app, number);
        }
        _ => app.show(Pane::Hex),
    }
}

/// Does a click.
pub fn click(app: &mut App, click: Click, x: u16, y: u16) {
    if app.selects_directory() {
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

/// Requests what the pane needs and does not have.
pub fn request_missing(app: &mut App) {
    marks::request_missing(app);
    let node = (app.generation, app.selection.node);
    if app.panes.sectors.node != Some(node) {
        app.panes.sectors.node = Some(node);
        (app.panes.sectors.zoom, app.panes.sectors.first, app.panes.sectors.wide) = (None, 0, None);
    }
    if app.selects_directory() {
        files::request_missing(app);
    }
    if std::mem::take(&mut app.panes.sectors.follow) {
        scroll(app);
    }
}

/// Draws the pane.
pub fn draw(app: &App, canvas: &mut Canvas<'_>) {
    if app.selects_directory() {
        files::draw(app, canvas);
        return;
    }
    if super::draw_item_placeholder(app, canvas) {
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
    let grid = make_grid(app, marks, canvas.width(), canvas.height());
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
        for (y, pieces) in
            (grid.legend..).zip(words::legend(app, marks, width, grid.per > 1, grid.wide > 1).iter().take(shown.into()))
        {
            line(pieces, y, canvas);
        }
    }
}

fn line(pieces: &words::TextLine, y: u16, canvas: &mut Canvas<'_>) {
    let end = canvas.width();
    let mut x = 1;
    for (role, text) in pieces {
        // The piece that does not fit ends with a mark.
        canvas.put_within(x, y, end.saturating_sub(x), text, *role);
        x = x.saturating_add(u16::try_from(text.width()).unwrap_or(u16::MAX));
    }
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
        let y = top + row * grid.tall;
        let sector = marks.sector_at(from.saturating_mul(grid.per)).unwrap_or(0);
        canvas.put_right(grid.label, y, &opened.shown_sector(sector).to_string(), Role::Dim);
        let numbers = from..grid.cells().min(from.saturating_add(grid.columns));
        for (x, number) in (grid.label + 1..).step_by(grid.wide.into()).zip(numbers.clone()) {
            let Some(cell) = grid.cell(marks, number, app.selection.slot) else { continue };
            if grid.wide == 1 {
                let (glyph, style) = cell_appearance(cell, marks, opened, app.settings.theme, &app.glyphs);
                canvas.put_styled(x, y, &glyph, style);
            } else {
                let before = (number > numbers.start).then(|| grid.cell(marks, number - 1, None)).flatten();
                if before.is_none_or(|before| before.run != cell.run) {
                    segment(
                        app,
                        opened,
                        marks,
                        grid,
                        (cell, numbers.end - number),
                        &mut canvas.part(x, y, u16::MAX, grid.tall),
                    );
                }
            }
        }
        if let Some(column) = at_cursor.checked_sub(from).filter(|column| *column < grid.columns) {
            let x = u16::try_from(column).unwrap_or(0).saturating_mul(grid.wide).saturating_add(grid.label + 1);
            let role = if focused { Role::Cursor } else { Role::CursorAway };
            canvas.restyle(x, y, if grid.wide > 1 { grid.wide - 1 } else { 1 }, role);
            canvas.underline(x, y, if grid.wide > 1 { grid.wide - 1 } else { 1 });
        }
    }
    let height = grid.rows * grid.tall;
    canvas.part(0, top, canvas.width(), height).scrollbar(grid.first, grid.rows.into(), grid.all_rows());
}

/// Draws a run of sectors, as far as it is in one row, with what it is written in it: the position of a block.
fn segment(
    app: &App,
    opened: &Opened,
    marks: &Marks,
    grid: &Grid,
    (cell, left): (grid::GridCell, u64),
    canvas: &mut Canvas<'_>,
) {
    let Some(run) = marks.runs.get(cell.run) else { return };
    let count = run.count.saturating_sub(cell.sector.saturating_sub(run.first)).min(left);
    let width = u16::try_from(count).unwrap_or(u16::MAX).saturating_mul(grid.wide).saturating_sub(1);
    let (glyph, role, words) = cell.kind.appearance(&app.glyphs);
    let slot = match run.owner {
        Owner::Block(slot) | Owner::BeyondEnd(slot) => opened.slot(slot),
        _ => None,
    };
    let name = slot.map(|slot| {
        let [x, y, z] = slot.position?;
        // Colour alone does not say which block is selected.
        Some(if cell.selected { format!("[{x},{y},{z}]") } else { format!("{x},{y},{z}") })
    });
    let (text, role) = match (cell.kind, name.flatten()) {
        (SectorKind::Block, name) => {
            let role = if cell.run.is_multiple_of(2) { Role::BlockArea } else { Role::BlockOtherArea };
            (name.unwrap_or_default(), if cell.selected { Role::Selected } else { role })
        }
        (_, Some(name)) => (format!("{glyph}{name}"), role),
        (_, None) => (format!("{glyph} {words}"), role),
    };
    let style = app.settings.theme.style(role);
    let solid = matches!(
        cell.kind,
        SectorKind::Block | SectorKind::Warning | SectorKind::Damaged | SectorKind::Shared | SectorKind::Beyond
    );
    let style = match (solid, cell.selected) {
        (true, true) => app.settings.theme.style(Role::Selected),
        (true, false) => style.add_modifier(Modifier::REVERSED).remove_modifier(Modifier::BOLD),
        (false, _) => style,
    };
    let shown = if text.chars().count() <= usize::from(width) { text } else { glyph.to_owned() };
    let fill = if solid { " " } else { glyph };
    let pad = usize::from(width).saturating_sub(shown.chars().count());
    let mut part = canvas.part(0, 0, width, u16::MAX);
    part.put_styled(0, 0, &format!("{shown}{}", fill.repeat(pad)), style);
    // The last line of tall cells separates the rows.
    (1..grid.tall.saturating_sub(1)).for_each(|y| {
        part.put_styled(0, y, &fill.repeat(width.into()), style);
    });
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
        y = canvas.wrap(3, y, &app.findings.advice.next(finding), Role::Dim);
        if y >= canvas.height() {
            break;
        }
    }
}
