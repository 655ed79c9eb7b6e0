//! The cursor of the list and the selection that all panes share.

use super::{Preview, PreviewLine, preview};
use crate::bytes::Span;
use crate::damage::Space;
use crate::repair::preview::LineAt;
use crate::save::File;
use crate::tui::data::{ItemId, Part};
use crate::tui::panes::world;
use crate::tui::{App, go};

/// Selects the block, the record or the bytes of the line under the cursor, which the other panes show. The line of the tree, which the
/// list is about, stays selected.
pub(super) fn select_line(app: &mut App) {
    let Some(line) = preview(app).and_then(|preview| preview.lines.get(app.panes.repair.cursor)) else { return };
    let (at, span) = (line.at, line.pieces.first().copied());
    if at.is_none() && span.is_none() {
        return;
    }
    if let Some(item) = item_of_line(app, line).filter(|item| app.selected_items().contains(item)) {
        go::link_line(app, item, at, span);
    }
}

/// The file that a line is about.
fn item_of_line(app: &App, line: &PreviewLine) -> Option<ItemId> {
    match &line.file {
        Some(name) => app.index.as_ref()?.by_name(name),
        None => app.selected_item(),
    }
}

/// The line about the selected block, record or bytes; if several are, that under the cursor.
pub(super) fn line_of_selection(app: &App, preview: &Preview) -> Option<usize> {
    let is_of_file = |line: &PreviewLine| item_of_line(app, line).is_some_and(|item| app.selected_item() == Some(item));
    let (place, bytes) = (selected_place(app), selected_bytes(app));
    let by_place = |line: &PreviewLine| line.at.is_some() && line.at == place && is_of_file(line);
    let by_bytes = |line: &PreviewLine| {
        bytes.is_some_and(|at| line.pieces.iter().any(|span| span.start <= at.start && at.start < span.end))
            && is_of_file(line)
    };
    let cursor = app.panes.repair.cursor;
    if preview.lines.get(cursor).is_some_and(|line| by_place(line) || by_bytes(line)) {
        return Some(cursor);
    }
    let lines = &preview.lines;
    lines.iter().position(by_place).or_else(|| lines.iter().position(by_bytes))
}

/// The selected block or record. A block that no table entry points to is selected by its finding alone.
fn selected_place(app: &App) -> Option<LineAt> {
    let finding = app.selection.finding.and_then(|number| app.findings.list.get(number));
    let is_shown = |span: Option<Span>| app.selection.slot.is_none() || span == selected_bytes(app);
    let of_finding = finding.filter(|finding| is_shown(finding.span)).and_then(|finding| finding.block);
    if let Some((lod, position)) = of_finding.and_then(|block| Some((block.lod, block.position?))) {
        return Some(LineAt::Block(lod, position));
    }
    let item = app.selected_item()?;
    match app.index.as_ref()?.file(item) {
        Some(File::Pak(..)) => app.selection.slot.map(LineAt::Record),
        _ => world::selected_block(app).map(|(lod, position)| LineAt::Block(lod, position)),
    }
}

/// The selected bytes of the file.
fn selected_bytes(app: &App) -> Option<Span> {
    let bytes = app.selection.bytes.filter(|bytes| bytes.space == Space::File && bytes.part == Part::Data);
    bytes.map(|bytes| bytes.span)
}
