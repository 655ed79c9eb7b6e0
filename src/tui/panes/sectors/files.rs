//! Where several files are selected: a cell for each of them, with its worst finding.

use crate::damage::Level;
use crate::tui::action::Action;
use crate::tui::app::{App, Focus};
use crate::tui::canvas::Canvas;
use crate::tui::data::{Index, ItemId, State};
use crate::tui::draw::pane_inside;
use crate::tui::findings::Tally;
use crate::tui::inspector::{bytes, grouped};
use crate::tui::panes::Click;
use crate::tui::scroll;
use crate::tui::theme::{Role, level_role};

/// Columns of a cell: its mark, and a space that keeps neighbours apart.
const CELL: u16 = 2;

/// Where the parts lie.
struct Layout {
    rows: u16,
    label: u16,
    columns: usize,
    first: usize,
    /// The file under the cursor, counted from the first of these.
    cursor: usize,
    files: usize,
}

fn layout(app: &App, width: u16, height: u16) -> Layout {
    let files = app.selected_items().len();
    let cursor = app.panes.sectors.file.min(files.saturating_sub(1));
    let taken = if height >= 5 { 3 } else { u16::from(height >= 2) };
    let rows = height.saturating_sub(taken);
    let label = u16::try_from(files.to_string().len()).unwrap_or(4).max(3) + 1;
    let columns = usize::from((width.saturating_sub(label + 2) / CELL).max(1));
    // As in the sector map, so that numbers are easy to count from.
    let columns = if columns >= 8 { columns / 8 * 8 } else { columns };
    let first = scroll::follow(app.panes.sectors.first, cursor / columns, rows.into(), files.div_ceil(columns));
    Layout { rows, label, columns, first, cursor, files }
}

/// Does an action; true when it meant something here.
pub fn act(app: &mut App, action: Action) -> bool {
    let inside = pane_inside(app);
    let Layout { rows, columns, cursor, files, .. } = layout(app, inside.width, inside.height);
    let page = columns.saturating_mul(usize::from(rows).max(1));
    let last = files.saturating_sub(1);
    let to = match action {
        Action::Left => cursor.saturating_sub(1),
        Action::Right => cursor + 1,
        Action::Up => cursor.checked_sub(columns).unwrap_or(cursor),
        Action::Down => cursor + if cursor + columns <= last { columns } else { 0 },
        Action::PageUp => cursor.saturating_sub(page),
        Action::PageDown => cursor + page,
        Action::First => 0,
        Action::Last => last,
        Action::Enter => {
            open(app, cursor);
            return true;
        }
        _ => return false,
    };
    app.panes.sectors.file = to.min(last);
    let inside = pane_inside(app);
    app.panes.sectors.first = layout(app, inside.width, inside.height).first;
    true
}

/// Opens the file of a cell.
fn open(app: &mut App, at: usize) {
    let (Some(index), Some(item)) = (app.index.clone(), app.selected_items().nth(at)) else { return };
    let Some(node) = index.node_of(item) else { return };
    app.remember();
    app.select_node(node);
    app.panes.tree.show(&index, node);
    app.panes.arrived();
}

/// Does a click.
pub fn click(app: &mut App, click: Click, x: u16, y: u16) {
    if let Click::Wheel(up) = click {
        act(app, if up { Action::Up } else { Action::Down });
        return;
    }
    let inside = pane_inside(app);
    let layout = layout(app, inside.width, inside.height);
    let top = u16::from(inside.height >= 5);
    let Some(row) = y.checked_sub(top).filter(|row| *row < layout.rows) else { return };
    let Some(column) = x.checked_sub(layout.label + 1).map(|x| usize::from(x / CELL)) else { return };
    let at = (layout.first + usize::from(row)).saturating_mul(layout.columns).saturating_add(column);
    if column >= layout.columns || at >= layout.files {
        return;
    }
    if at == layout.cursor {
        open(app, at);
    } else {
        app.panes.sectors.file = at;
    }
}

fn mark(app: &App, tally: Tally) -> (&'static str, Role) {
    match tally.worst() {
        None if app.findings.summary.is_none() => ("_", Role::Dim),
        None => (app.glyphs.good, Role::Good),
        worst => (app.glyphs.level(worst), level_role(worst)),
    }
}

fn tally(app: &App, index: &Index, item: ItemId) -> Tally {
    index.node_of(item).map(|node| app.findings.of_node(node)).unwrap_or_default()
}

/// Draws the files.
pub fn draw(app: &App, canvas: &mut Canvas<'_>) {
    let Some(index) = &app.index else { return };
    let items = app.selected_items();
    let layout = layout(app, canvas.width(), canvas.height());
    if layout.files == 0 {
        canvas.wrap(1, 0, "There is no file of a save here.", Role::Dim);
        return;
    }
    let top = u16::from(canvas.height() >= 5);
    if top > 0 {
        let wrong = |level: Level| items.clone().filter(|item| tally(app, index, *item).worst() == Some(level)).count();
        let (errors, warnings) = (wrong(Level::Error), wrong(Level::Warning));
        let mut x = canvas.put(1, 0, &format!("{} files", grouped(layout.files as u64)), Role::Text);
        for (n, level) in [(errors, Level::Error), (warnings, Level::Warning)] {
            if n > 0 {
                x = canvas.put(x, 0, app.glyphs.dot, Role::Dim);
                let text = format!("{} {n} with {}s", app.glyphs.level(Some(level)), level.name());
                x = canvas.put(x, 0, &text, level_role(Some(level)));
            }
        }
        let words = format!("{}1 cell = 1 file", app.glyphs.dot);
        canvas.put(x, 0, &words, Role::Dim);
    }
    for row in 0..layout.rows {
        let from = (layout.first + usize::from(row)).saturating_mul(layout.columns);
        if from >= layout.files {
            break;
        }
        let y = top + row;
        canvas.put_right(layout.label, y, &from.to_string(), Role::Dim);
        for (column, at) in (from..layout.files).take(layout.columns).enumerate() {
            let (glyph, role) = mark(app, tally(app, index, items.start + at));
            let x = u16::try_from(column).unwrap_or(u16::MAX).saturating_mul(CELL).saturating_add(layout.label + 1);
            canvas.put(x, y, glyph, role);
            if at == layout.cursor {
                canvas.restyle(x, y, 1, if app.focus == Focus::Pane { Role::Cursor } else { Role::CursorAway });
            }
        }
    }
    let height = layout.rows;
    canvas.part(0, top, canvas.width(), height).scrollbar(
        layout.first,
        height.into(),
        layout.files.div_ceil(layout.columns),
    );
    if canvas.height() >= 2 {
        let y = if canvas.height() >= 5 { canvas.height() - 2 } else { canvas.height() - 1 };
        under_cursor(app, index, items.start + layout.cursor, y, canvas);
    }
    if canvas.height() >= 5 {
        legend(app, canvas);
    }
}

fn under_cursor(app: &App, index: &Index, item: ItemId, y: u16, canvas: &mut Canvas<'_>) {
    let tally = tally(app, index, item);
    let mut x = canvas.put(1, y, &index.shown(item), Role::Strong);
    if let Some(file) = index.file(item)
        && !matches!(file, crate::save::File::Map(_))
    {
        x = canvas.put(x, y, &format!("{}{}", app.glyphs.dot, bytes(file.len())), Role::Dim);
    }
    if let Some(key) = app.item_key()
        && let State::Failed(why) = app.item.state(&key)
    {
        x = canvas.put(x, y, why, Role::Error);
    }
    for (n, level) in [(tally.errors, Level::Error), (tally.warnings, Level::Warning), (tally.notes, Level::Note)] {
        if n > 0 {
            let plural = if n == 1 { "" } else { "s" };
            let text = format!("{}{} {n} {}{plural}", app.glyphs.dot, app.glyphs.level(Some(level)), level.name());
            x = canvas.put(x, y, &text, level_role(Some(level)));
        }
    }
    if tally.worst().is_none() && app.findings.summary.is_some() {
        canvas.put(x, y, &format!("{}nothing wrong", app.glyphs.dot), Role::Good);
    }
}

fn legend(app: &App, canvas: &mut Canvas<'_>) {
    let y = canvas.height().saturating_sub(1);
    let all = app.findings.of_node(app.selection.node);
    let entries = [
        (all.errors > 0, app.glyphs.error, Role::Error, "error"),
        (all.warnings > 0, app.glyphs.warning, Role::Warning, "warning"),
        (all.notes > 0, app.glyphs.note, Role::Note, "note"),
        (app.findings.summary.is_some(), app.glyphs.good, Role::Good, "nothing wrong"),
        (app.findings.summary.is_none(), "_", Role::Dim, "not checked yet"),
    ];
    let mut x = 1;
    for (_, glyph, role, words) in entries.into_iter().filter(|(occurs, ..)| *occurs) {
        x = canvas.line(x, y, &[(role, glyph), (Role::Dim, " "), (Role::Dim, words), (Role::Dim, "  ")]);
    }
}
