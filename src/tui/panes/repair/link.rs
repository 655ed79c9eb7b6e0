//! The cursor of the list and the selection that all panes share.

use super::{Preview, PreviewLine, preview};
use crate::bytes::Span;
use crate::check::{BlockAt, Finding};
use crate::damage::Space;
use crate::repair::preview::LineAt;
use crate::save::File;
use crate::tui::data::{ItemId, Part};
use crate::tui::panes::world;
use crate::tui::{App, Focus, go};

/// Selects the block, the record or the bytes of the line under the cursor, which the other panes show. The line of the tree, which the
/// list is about, stays selected.
pub(super) fn select_line(app: &mut App) {
    // A cursor that was moved by hand does not go back to another line.
    app.panes.repair.followed = true;
    let Some(line) = preview(app).and_then(|preview| preview.lines.get(app.panes.repair.cursor)) else { return };
    let (at, span) = (line.at, line.pieces.first().copied());
    if at.is_none() && span.is_none() {
        return;
    }
    if let Some(item) = item_of_line(app, line).filter(|item| app.selected_items().contains(item)) {
        go::link_line(app, item, at, span);
    }
}

/// Puts the cursor on the line about what is selected, once the list is shown and has the keys. If there is no such line, the line under
/// the cursor is selected; a finding that is selected stays.
pub fn follow_selection(app: &mut App) {
    if !app.in_repair() || app.focus != Focus::Pane {
        app.panes.repair.followed = false;
        return;
    }
    if app.panes.repair.followed || app.pending_target.is_some() || app.opened_item().is_none() {
        return;
    }
    let Some(preview) = preview(app).cloned() else { return };
    app.panes.repair.followed = true;
    match line_of_selection(app, &preview) {
        Some(line) => app.panes.repair.cursor = line,
        None if selected_finding(app).is_none() => select_line(app),
        None => {}
    }
}

/// The file that a line is about.
fn item_of_line(app: &App, line: &PreviewLine) -> Option<ItemId> {
    match &line.file {
        Some(name) => app.index.as_ref()?.by_name(name),
        None => app.selected_item(),
    }
}

/// The line about the selected block, record or bytes.
pub(super) fn line_of_selection(app: &App, preview: &Preview) -> Option<usize> {
    let is_of_file = |line: &PreviewLine| item_of_line(app, line).is_some_and(|item| app.selected_item() == Some(item));
    let (place, bytes) = (selected_place(app), selected_bytes(app));
    let by_place = |line: &PreviewLine| line.at.is_some() && line.at == place && is_of_file(line);
    let by_bytes = |line: &PreviewLine| {
        let has_bytes = |at: Span| line.pieces.iter().any(|span| span.start <= at.start && at.start < span.end);
        bytes.is_some_and(has_bytes) && is_of_file(line)
    };
    // The bytes of the line under the cursor may be in sectors that the table gives to a block with another line.
    let is_selected = |line: &PreviewLine| {
        by_place(line) || bytes.is_some() && line.pieces.first().copied() == bytes && is_of_file(line)
    };
    let lines = &preview.lines;
    let cursor = Some(app.panes.repair.cursor).filter(|at| lines.get(*at).is_some_and(is_selected));
    cursor.or_else(|| lines.iter().position(by_place)).or_else(|| lines.iter().position(by_bytes))
}

/// The selected block or record. A block that no table entry points to is selected by its finding alone.
fn selected_place(app: &App) -> Option<LineAt> {
    if let File::Pak(..) = app.index.as_ref()?.file(app.selected_item()?)? {
        return app.selection.slot.map(LineAt::Record);
    }
    let of_finding = selected_finding(app).and_then(place_of_finding);
    of_finding.or_else(|| world::selected_block(app)).map(|(lod, position)| LineAt::Block(lod, position))
}

/// The block that a finding is about.
fn place_of_finding(finding: &Finding) -> Option<(u8, [i32; 3])> {
    finding.block.and_then(BlockAt::place)
}

/// The selected finding, unless something else was selected since.
fn selected_finding(app: &App) -> Option<&Finding> {
    let number = app.selection.finding?;
    let (finding, item) = (app.findings.list.get(number)?, *app.findings.items.get(number)?);
    let place = place_of_finding(finding);
    let is_selected = place.is_none()
        || app.selection.slot.is_none()
        || place == world::selected_block(app)
        || finding.span == selected_bytes(app);
    let is_of_file = item.is_none() || item == app.selected_item();
    (is_of_file && is_selected).then_some(finding)
}

/// The selected bytes of the file.
fn selected_bytes(app: &App) -> Option<Span> {
    let bytes = app.selection.bytes.filter(|bytes| bytes.space == Space::File && bytes.part == Part::Data);
    bytes.map(|bytes| bytes.span)
}
