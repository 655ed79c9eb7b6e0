//! Metadata of a block and of its voxels as a tree; without a block, the description of the file.

use std::collections::HashSet;

use super::Click;
use crate::bytes::index;
use crate::damage::Space;
use crate::godot::stream::loc::Format;
use crate::tui::action::Action;
use crate::tui::canvas::Canvas;
use crate::tui::data::{MetaLine, Opened, Part, Store};
use crate::tui::go;
use crate::tui::pane::Pane;
use crate::tui::scroll;
use crate::tui::theme::Role;
use crate::tui::{App, Bytes, ItemKey};

/// The state of the pane.
#[derive(Debug, Default)]
pub struct MetaState {
    /// Whether the view goes to where the selection is.
    pub follow: bool,
    of: Option<(ItemKey, Option<u32>)>,
    cursor: usize,
    first: usize,
    closed: HashSet<usize>,
}

/// The lines of what is selected: the block's metadata, or the description of the file.
fn lines(app: &App) -> Vec<MetaLine> {
    match (app.selected_block(), app.opened_item()) {
        (Some(block), Some(opened)) if opened.grid().is_none() => block.metadata.clone(),
        (_, Some(opened)) if app.block_key().is_none() || opened.grid().is_some() => description(opened),
        _ => Vec::new(),
    }
}

/// The description of a file.
fn description(opened: &Opened) -> Vec<MetaLine> {
    let mut out = Vec::new();
    let mut say = |name: &str, kind: &str, value: String| {
        let value = crate::printable::printable(&value);
        out.push(MetaLine { depth: 0, name: name.into(), kind: kind.into(), value, voxel: None, span: None });
    };
    match &opened.store {
        Store::Region(region, _) => {
            let format = &region.header.format;
            say("version", "u8", region.header.version.to_string());
            say("block size", "voxels", format.block_size().to_string());
            say("region size", "blocks", crate::printable::triple(format.region_size));
            say("sector size", "bytes", format.sector_size.to_string());
            for (name, depth) in crate::godot::channel::NAMES.into_iter().zip(format.depths) {
                say(name, "depth", depth.to_string());
            }
            let palette = region.header.palette.is_some();
            say("palette", "", if palette { "256 colours" } else { "none" }.into());
        }
        Store::Stream(stream) => {
            let number = |n: Option<u8>| n.map_or_else(|| "not known".into(), |n| n.to_string());
            say("version", "meta", number(stream.meta.version));
            say("block_size_po2", "meta", number(stream.meta.block_size_po2));
            let code = stream.format.map(Format::code);
            let how = if stream.is_inferred() { "inferred" } else { "meta" };
            say("coordinate_format", how, number(code));
            say("keys", "", stream.format.map_or("not known", Format::name).to_owned());
            let header = &stream.pages.header;
            say("page size", "bytes", header.page_size.to_string());
            say("pages", "header", header.pages.to_string());
            say("free pages", "header", header.free_pages.to_string());
            for table in &stream.tables {
                let kind = if table.is_index { "index" } else { "table" };
                say(kind, "schema", format!("{} from page {}", table.name, table.root));
            }
        }
        Store::Pak(pak) => {
            say("tag", "bytes", String::from_utf8_lossy(&pak.header.tag).into_owned());
            say("version_number", "i32", pak.header.version.to_string());
            say("record_count", "i32", pak.header.record_count.to_string());
            say("first_block_offset", "i32", pak.header.first_block_offset.to_string());
            say("counted in", pak.reading.how.name(), format!("{:?}", pak.reading.value).to_lowercase());
            if let Some(grid) = &pak.grid {
                say("chunks laid out", grid.how.name(), format!("{:?}", grid.value).to_lowercase());
            }
        }
        Store::Layer(_, layer) => {
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            say("name", "text", text(&layer.name));
            say("type", "text", text(&layer.kind));
            say("format", "text", layer.format.map_or(String::new(), |format| format.name().to_owned()));
            say("dataFile", "text", text(&layer.data_file));
            say("indexFile", "text", text(&layer.index_file));
            say("depthFile", "text", text(&layer.depth_file));
            say("blockSize", "number", layer.block_size.map_or(String::new(), |n| n.to_string()));
            say("blockCount", "number", layer.block_count.map_or(String::new(), |n| n.to_string()));
            say("origin", "numbers", layer.origin.map_or(String::new(), crate::printable::triple));
            say("step", "numbers", layer.step.map_or(String::new(), crate::printable::triple));
            say("dim", "numbers", layer.dim.map_or(String::new(), crate::printable::triple));
            for (key, value) in &layer.extra {
                let text: String = value.to_string().chars().take(400).collect();
                say(&crate::printable::printable(key), "not known", text);
            }
        }
        Store::Bytes(_) => {}
    }
    out
}

/// The lines that are seen: those in no closed branch, with their numbers.
fn seen(lines: &[MetaLine], closed: &HashSet<usize>) -> Vec<usize> {
    let mut out = Vec::new();
    let mut hidden: Option<u8> = None;
    for (at, line) in lines.iter().enumerate() {
        if hidden.is_some_and(|depth| line.depth > depth) {
            continue;
        }
        hidden = closed.contains(&at).then_some(line.depth);
        out.push(at);
    }
    out
}

fn is_branch(lines: &[MetaLine], at: usize) -> bool {
    match (lines.get(at), lines.get(at + 1)) {
        (Some(line), Some(next)) => next.depth > line.depth,
        _ => false,
    }
}

/// Does an action; true when it meant something here.
pub fn act(app: &mut App, action: Action) -> bool {
    let lines = lines(app);
    let seen = seen(&lines, &app.panes.meta.closed);
    let row = app.panes.meta.cursor;
    let last = seen.len().saturating_sub(1);
    let page = usize::from(app.pane_inside().height).max(1);
    let at = seen.get(row).copied().unwrap_or(0);
    let to = match action {
        Action::Left if is_branch(&lines, at) && app.panes.meta.closed.insert(at) => row,
        Action::Left => {
            let depth = lines.get(at).map_or(0, |line| line.depth);
            let above = seen.iter().take(row).rposition(|&at| lines.get(at).is_some_and(|line| line.depth < depth));
            above.unwrap_or(row)
        }
        Action::Right => {
            app.panes.meta.closed.remove(&at);
            row
        }
        Action::Toggle if is_branch(&lines, at) => {
            if !app.panes.meta.closed.remove(&at) {
                app.panes.meta.closed.insert(at);
            }
            row
        }
        Action::Enter => return open_selected(app, lines.get(at)),
        _ => match action.over_lines(row, last, page) {
            Some(to) => to,
            None => return false,
        },
    };
    app.panes.meta.cursor = to.min(last);
    select(app, seen.get(to.min(last)).and_then(|at| lines.get(*at)));
    true
}

/// Selects the voxel and the bytes of the line under the cursor.
fn select(app: &mut App, line: Option<&MetaLine>) {
    let Some(line) = line else { return };
    if let Some(voxel) = line.voxel {
        app.selection.voxel = Some(voxel.map(u32::from));
    }
    if let Some(span) = line.span {
        app.selection.bytes = Some(Bytes { space: Space::Block, part: Part::Data, span });
        app.panes.hex.follow = true;
    }
}

/// Enter: to the voxel in the world, or to the bytes.
fn open_selected(app: &mut App, line: Option<&MetaLine>) -> bool {
    let Some(line) = line else { return false };
    select(app, Some(line));
    match (line.voxel, line.span) {
        (Some(_), _) => go::to_world(app, go::WorldTarget::Cut(None)),
        (None, Some(_)) => app.show(Pane::Hex),
        (None, None) => return false,
    }
    true
}

/// Does a click.
pub fn click(app: &mut App, click: Click, _x: u16, y: u16) {
    match click {
        Click::Wheel(up) => {
            act(app, if up { Action::Up } else { Action::Down });
        }
        Click::Press | Click::Drag => {
            let lines = lines(app);
            let seen = seen(&lines, &app.panes.meta.closed);
            let row = app.panes.meta.first + usize::from(y.saturating_sub(1));
            if row < seen.len() && y > 0 {
                app.panes.meta.cursor = row;
                select(app, seen.get(row).and_then(|at| lines.get(*at)));
            }
        }
    }
}

/// Starts from the top when another block is selected, and keeps the cursor in sight.
pub fn request_missing(app: &mut App) {
    let of = app.item_key().map(|key| (key, app.selection.slot));
    if app.panes.meta.of != of {
        app.panes.meta.of = of;
        (app.panes.meta.cursor, app.panes.meta.first) = (0, 0);
        app.panes.meta.closed.clear();
    }
    let lines = lines(app);
    let seen = seen(&lines, &app.panes.meta.closed);
    if app.panes.meta.follow && !lines.is_empty() {
        app.panes.meta.follow = false;
        let voxel = app.selection.voxel;
        let has = |at: &&usize| {
            let of = lines.get(**at).and_then(|line| line.voxel).map(|voxel| voxel.map(u32::from));
            of.is_some() && of == voxel
        };
        if let Some(row) = seen.iter().find(has).and_then(|at| seen.iter().position(|other| other == at)) {
            app.panes.meta.cursor = row;
        }
    }
    let height = usize::from(app.pane_inside().height.saturating_sub(1));
    let state = &mut app.panes.meta;
    state.cursor = state.cursor.min(seen.len().saturating_sub(1));
    state.first = scroll::follow(state.first, state.cursor, height, seen.len());
}

/// Draws the pane.
pub fn draw(app: &App, canvas: &mut Canvas<'_>) {
    let has_block = app.block_key().is_some() && app.opened_item().is_some_and(|opened| opened.grid().is_none());
    if if has_block { super::draw_block_placeholder(app, canvas) } else { super::draw_item_placeholder(app, canvas) } {
        return;
    }
    let lines = lines(app);
    if lines.is_empty() {
        let words = if has_block {
            "Neither the block nor a voxel of it has metadata."
        } else {
            "This file has no description; the hex pane shows its bytes."
        };
        canvas.wrap(1, 1, words, Role::Dim);
        return;
    }
    let voxels = lines.iter().filter(|line| line.depth == 0 && line.voxel.is_some()).count();
    let is_of_block = lines.iter().any(|line| line.depth == 0 && line.voxel.is_none());
    let heading = if has_block {
        let of_voxels = crate::printable::count(voxels as u64, "voxel");
        match (is_of_block, voxels) {
            (true, 0) => " metadata of the block".to_owned(),
            (true, _) => format!(" metadata of the block and of {of_voxels}"),
            (false, _) => format!(" metadata of {of_voxels}"),
        }
    } else {
        " description of the file".to_owned()
    };
    canvas.put(0, 0, &heading, Role::Dim);
    let seen = seen(&lines, &app.panes.meta.closed);
    let height = usize::from(canvas.height().saturating_sub(1));
    let names =
        lines.iter().map(|line| line.name.chars().count() + index(u64::from(line.depth) * 2)).max().unwrap_or(0);
    let column = u16::try_from(names + 4).unwrap_or(u16::MAX).clamp(12, (canvas.width() / 2).max(12));
    let kinds = lines.iter().map(|line| line.kind.chars().count()).max().unwrap_or(0);
    let values = column.saturating_add(u16::try_from(kinds + 2).unwrap_or(20).min(20));
    for (row, &at) in seen.iter().enumerate().skip(app.panes.meta.first).take(height) {
        let Some(line) = lines.get(at) else { continue };
        let y = u16::try_from(row - app.panes.meta.first + 1).unwrap_or(u16::MAX);
        let branch = is_branch(&lines, at);
        let sign = match (branch, app.panes.meta.closed.contains(&at)) {
            (false, _) => " ",
            (true, false) => app.glyphs.open,
            (true, true) => app.glyphs.closed,
        };
        let x = canvas.put(u16::from(line.depth.min(20)) * 2, y, sign, Role::Dim) + 1;
        let name = if branch { Role::Strong } else { Role::Text };
        canvas.put_within(x, y, column.saturating_sub(x + 1), &line.name, name);
        canvas.put_within(column, y, values.saturating_sub(column + 1), &line.kind, Role::Type);
        let width = canvas.width().saturating_sub(values + 1);
        canvas.put_within(values, y, width, &line.value, Role::Value);
        if row == app.panes.meta.cursor {
            canvas.cursor_row(y, true);
        }
    }
    canvas.part(0, 1, canvas.width(), canvas.height()).scrollbar(app.panes.meta.first, height, seen.len());
}

/// What is copied: the value under the cursor.
pub fn copy(app: &App) -> Option<String> {
    let lines = lines(app);
    let seen = seen(&lines, &app.panes.meta.closed);
    let line = lines.get(*seen.get(app.panes.meta.cursor)?)?;
    Some(format!("{}: {}", line.name, line.value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(depth: u8) -> MetaLine {
        MetaLine { depth, name: String::new(), kind: String::new(), value: String::new(), voxel: None, span: None }
    }

    #[test]
    fn a_closed_branch_hides_what_is_in_it_and_nothing_else() {
        let lines = [0, 1, 2, 2, 1, 0, 1].map(line);
        assert_eq!(seen(&lines, &HashSet::new()), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(seen(&lines, &HashSet::from([1])), [0, 1, 4, 5, 6]);
        assert_eq!(seen(&lines, &HashSet::from([0])), [0, 5, 6]);
        assert_eq!(seen(&lines, &HashSet::from([2, 5])), [0, 1, 2, 3, 4, 5]);
    }
}
