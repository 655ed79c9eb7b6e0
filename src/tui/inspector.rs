//! The inspector: the selection in words.

use super::canvas::Canvas;
use super::data::{NodeKind, Opened, Slot, Store};
use super::numbers::bytes;
use super::pane::InspectorLines;
use super::theme::{Role, level_role, owner_role};
use super::{App, Focus};
use crate::bytes::Span;
use crate::damage::Level;
use crate::printable::{count, grouped, triple};
use crate::save::{Kind, Owner};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Draws the inspector.
pub fn draw(app: &App, canvas: &mut Canvas<'_>) {
    let (title, lines) = lines(app);
    if app.layout().inspector_below {
        draw_flowing(app, &title, &lines, canvas);
        return;
    }
    let title = format!(" {title} ");
    let mut inside = canvas.frame(&[(Role::Strong, &title)], false);
    let two_columns = inside.width() >= 70;
    let width = if two_columns { inside.width() / 2 } else { inside.width() };
    let (mut column, mut y) = (0u16, 0u16);
    for (label, text, role) in lines {
        if y >= inside.height() {
            if !two_columns || column > 0 {
                break;
            }
            (column, y) = (width, 0);
        }
        let rest = inside.height() - y;
        let mut part = inside.part(column, y, width.saturating_sub(1), rest);
        if label.is_empty() {
            y += part.wrap(0, 0, &text, role);
        } else {
            part.put(0, 0, label, Role::Dim);
            let indent = 10u16.min(part.width() / 2);
            y += part.wrap(indent, 0, &text, role).max(1);
        }
    }
}

/// Draws the words one after the other, in the few lines below the pane.
fn draw_flowing(app: &App, title: &str, lines: &InspectorLines, canvas: &mut Canvas<'_>) {
    let (width, rows) = (canvas.width(), canvas.height());
    let (mut x, mut y) = (canvas.put(1, 0, title, Role::Strong), 0u16);
    let more = app.glyphs.more;
    let mut is_cut = false;
    for (label, text, role) in lines {
        let label = if label.is_empty() { String::new() } else { format!("{label} ") };
        let wide = |text: &str| u16::try_from(text.width()).unwrap_or(u16::MAX);
        let all = wide(&label).saturating_add(wide(text));
        // A text that is longer than a row starts in the rest of this row and continues in the next one.
        let is_long = all > width.saturating_sub(2) && y + 1 < rows && x.saturating_add(20) < width;
        if x.saturating_add(2).saturating_add(all) > width.saturating_sub(1) && x > 1 && !is_long {
            if y + 1 >= rows {
                // A long text that begins here is cut; a short one would have had room.
                let room = width.saturating_sub(x + 3 + wide(&label));
                if room >= 16 {
                    x = canvas.put(x + 2, y, &label, Role::Dim);
                    canvas.put_within(x, y, room, text, *role);
                } else if !is_cut {
                    canvas.put(x + 1, y, more, Role::Dim);
                }
                return;
            }
            (x, y) = (1, y + 1);
        } else {
            x = if x > 1 { x + 2 } else { x };
        }
        x = canvas.put(x, y, &label, Role::Dim);
        let mut text = text.as_str();
        let mut room = width.saturating_sub(x + 1);
        while wide(text) > room && y + 1 < rows {
            let (head, tail) = split(text, room);
            canvas.put(x, y, head, *role);
            (x, y, text) = (1, y + 1, tail);
            room = width.saturating_sub(x + 1);
        }
        canvas.put_within(x, y, room, text, *role);
        is_cut = wide(text) > room;
        x = x.saturating_add(wide(text).min(room));
    }
}

/// Splits a text into the words that fit into a number of columns, and the rest.
fn split(text: &str, columns: u16) -> (&str, &str) {
    let mut used = 0u16;
    let fits = |c: &char| {
        used = used.saturating_add(u16::try_from(c.width().unwrap_or(0)).unwrap_or(0));
        used <= columns
    };
    let end: usize = text.chars().take_while(fits).map(char::len_utf8).sum();
    let head = text.get(..end).unwrap_or(text);
    let at = head.rfind(' ').filter(|at| *at > 0).unwrap_or(end);
    (text.get(..at).unwrap_or(text), text.get(at..).unwrap_or_default().trim_start())
}

fn lines(app: &App) -> (String, InspectorLines) {
    let mut out: InspectorLines = Vec::new();
    if let Some((title, words)) = super::panes::repair::under_cursor(app) {
        out.extend(words.into_iter().map(|(label, text)| (label, text, Role::Text)));
        return (title, out);
    }
    if let Some((title, words)) = super::panes::world::under_cursor(app) {
        out.extend(words);
        return (title, out);
    }
    if let Some(heading) = super::panes::findings::heading_words(app) {
        return heading;
    }
    if let Some((title, words)) = super::panes::diff::under_cursor(app) {
        out.extend(words);
        return (title, out);
    }
    // What is wrong comes first: there may be no room for more.
    if let Some(finding) = app.selection.finding.and_then(|at| app.findings.list.get(at)) {
        let level = Some(finding.level());
        let mark = app.glyphs.level(level);
        out.push(("", format!("{mark} {}: {}", finding.level().name(), finding.message()), level_role(level)));
        out.push(("", app.findings.advice.next(finding), Role::Text));
        // A file that has no line in the tree is not the one that the panes show.
        let has_no_line = app.selection.finding.and_then(|at| app.findings.items.get(at)) == Some(&None);
        if has_no_line && finding.block.is_none() && app.selected_slot().is_some() {
            return (finding.file.to_string(), out);
        }
    }
    let title = describe_selection(app, &mut out);
    // In a directory the file is not what the tree shows.
    if let (true, Focus::Pane, Some(index), Some(item)) =
        (app.selects_directory(), app.focus, &app.index, app.selected_item())
    {
        out.push(("in", index.shown(item), Role::Dim));
    }
    (title, out)
}

/// Whether the selected finding is about the file as a whole, or bytes of it that are not of a block.
fn is_finding_of_file(app: &App, opened: &Opened, slot: &Slot) -> bool {
    let number = app.selection.finding.filter(|at| app.findings.items.get(*at) == Some(&Some(opened.item)));
    let Some(finding) = number.and_then(|at| app.findings.list.get(at)) else { return false };
    let stored = opened.sector_span(slot.first, slot.count);
    let is_inside = finding.span.is_some_and(|span| stored.start <= span.start && span.start < stored.end);
    finding.block.is_none() && !is_inside
}

/// What the selection is; its title.
fn describe_selection(app: &App, out: &mut InspectorLines) -> String {
    let Some(index) = &app.index else { return "Nothing is open".into() };
    let Some(node) = index.nodes.get(app.selection.node) else { return String::new() };
    let Some(opened) = app.opened_item().filter(|_| !app.selects_directory() || app.focus == Focus::Pane) else {
        describe_group(app, out);
        return node.label.to_string();
    };
    // The block that the panes show meanwhile is not what a finding of its file is about.
    if let Some(slot) = app.selected_slot().filter(|slot| !is_finding_of_file(app, opened, slot)) {
        describe_block(app, slot, out);
        return slot.position.map_or_else(|| format!("Block {}", slot.slot), |at| format!("Block {}", triple(at)));
    }
    let sector = app.selection.sector.filter(|_| opened.has_sectors() && app.selected_slot().is_none());
    if let Some(sector) = sector {
        if let Some(owner) = opened.owner_at(sector) {
            let (role, words) = owner_role(owner);
            out.push(("owner", words.into(), role));
        }
        out.push(("file", opened.sector_span(sector, 1).to_string(), Role::Text));
        return crate::printable::capitalize(&opened.sector_name(sector));
    }
    out.push(("size", bytes(opened.len(super::data::Part::Data)), Role::Text));
    match &opened.store {
        Store::Region(region, slots) => {
            let format = &region.header.format;
            out.push(("format", format!("region, version {}", region.header.version), Role::Text));
            let [x, y, z] = format.region_size;
            out.push(("holds", format!("{x} x {y} x {z} blocks of {} voxels a side", format.block_size()), Role::Text));
            out.push(("blocks", opened.slots.len().to_string(), Role::Text));
            out.push((
                "sectors",
                format!("{} of {}", grouped(opened.sectors.in_file), count(format.sector_size.into(), "byte")),
                Role::Text,
            ));
            let stale = opened.sectors.count(|owner| owner == Owner::Stale);
            if stale > 0 {
                out.push(("stale", count(stale, "sector"), Role::Text));
            }
            if region.is_negative() {
                out.push(("slots", format!("{slots:?} formula").to_lowercase(), Role::Text));
            }
        }
        Store::Pak(pak) => {
            out.push(("format", format!("pak region, version {}", pak.header.version), Role::Text));
            out.push(("records", pak.records.len().to_string(), Role::Text));
            out.push(("chunks", opened.slots.len().to_string(), Role::Text));
            out.push(("offsets", format!("{:?}, {}", pak.reading.value, pak.reading.why).to_lowercase(), Role::Text));
        }
        Store::Stream(stream) => {
            let version = stream.meta.version.map_or_else(|| "not known".into(), |n| n.to_string());
            out.push(("format", format!("SQLite stream, version {version}"), Role::Text));
            if let Some(side) = stream.meta.block_size() {
                out.push(("holds", format!("blocks of {side} voxels a side"), Role::Text));
            }
            out.push(("keys", stream.format.map_or("not known", |format| format.name()).to_owned(), Role::Text));
            out.push(("blocks", opened.slots.len().to_string(), Role::Text));
            let lods: Vec<String> = stream.lods().iter().map(u8::to_string).collect();
            out.push(("LODs", lods.join(", "), Role::Text));
            out.push((
                "pages",
                format!("{} of {}", grouped(opened.sectors.in_file), count(opened.sectors.sector_size.into(), "byte")),
                Role::Text,
            ));
            if stream.pages.overlay.is_some() {
                out.push(("journal", "read through the file beside it".into(), Role::Warning));
            }
        }
        Store::Layer(grid, layer) => {
            out.push(("format", layer.format.map_or("not known", |format| format.name()).to_owned(), Role::Text));
            if let Some([x, y, z]) = grid.dim {
                out.push(("cells", format!("{x} x {y} x {z}"), Role::Text));
            }
            if let Some(data) = &grid.data {
                let shape: Vec<String> = data.npy.shape.iter().map(u64::to_string).collect();
                out.push(("array", format!("{} [{}]", data.npy.dtype.name(), shape.join(", ")), Role::Text));
            }
            if grid.packed {
                out.push(("depths", "in the upper half of the voxels".into(), Role::Text));
            }
        }
        Store::Bytes(_) if !index.tried.is_empty() => {
            out.push(("", "This file is not recognized. What was tried:".into(), Role::Strong));
            out.extend(index.tried.iter().map(|tried| ("", tried.clone(), Role::Text)));
        }
        Store::Bytes(_) if !index.bare.is_empty() => {
            out.push(("", "This file is no save but bare data. It is read as:".into(), Role::Strong));
            out.extend(index.bare.iter().map(|line| ("", line.clone(), Role::Text)));
        }
        Store::Bytes(_) => out.push(("", "Only bytes: no block can be located by this file.".into(), Role::Text)),
    }
    for damage in opened.damage.iter().take(3) {
        out.push(("", format!("{damage}."), level_role(Some(damage.code.level()))));
    }
    // In a directory, the file has a line of its own.
    let line = index.node_of(opened.item).and_then(|at| index.nodes.get(at)).unwrap_or(node);
    line.label.to_string()
}

/// Words on a line of the tree that is no file.
fn describe_group(app: &App, out: &mut InspectorLines) {
    let Some(index) = &app.index else { return };
    if let Some(kind) = app.selected_kind() {
        let words = match kind {
            NodeKind::Save => "a save",
            NodeKind::Forest(number) => match index.save.forests.get(number).map(|forest| forest.kind) {
                Some(Kind::BlockFiles) => "block files",
                _ => "a region forest",
            },
            NodeKind::Lod(..) => "a level of detail",
            NodeKind::PakDir(_) => "a directory of pak regions",
            NodeKind::Map(_) => "a voxel map",
            NodeKind::Item(_) => "a file",
        };
        out.push(("is", words.into(), Role::Text));
    }
    let files = app.selected_items().len();
    out.push(("files", files.to_string(), Role::Text));
    let tally = app.findings.tally(app.selection.node);
    for (level, count) in [(Level::Error, tally.errors), (Level::Warning, tally.warnings), (Level::Note, tally.notes)] {
        if count > 0 {
            let text = format!("{} {count}", app.glyphs.level(Some(level)));
            out.push((level.name(), text, level_role(Some(level))));
        }
    }
    if app.selection.node == 0 {
        for fault in index.save.faults.iter().take(2) {
            out.push(("", format!("{}: {}", index.save.shown(&fault.path), fault.damage), Role::Dim));
        }
    }
}

fn describe_block(app: &App, slot: Slot, out: &mut InspectorLines) {
    let opened = app.opened_item();
    let index = opened.map_or(Some("slot"), |opened| opened.index_name());
    out.extend(index.map(|name| (name, slot.slot.to_string(), Role::Text)));
    if slot.lod > 0 {
        out.push(("LOD", slot.lod.to_string(), Role::Text));
    }
    if let Some(opened) = opened {
        let last = slot.first + slot.count.saturating_sub(1);
        let words = if opened.stream().is_some() { "pages" } else { "sectors" };
        let [first, last] = [slot.first, last].map(|sector| opened.shown_sector(sector));
        match first == last {
            // An array has no sectors.
            _ if matches!(opened.store, Store::Layer(..)) => {}
            true => out.push((words.trim_end_matches('s'), first.to_string(), Role::Text)),
            false => out.push((words, format!("{first} to {last}"), Role::Text)),
        }
        // Data of a block ends before its last sector does.
        let sectors = opened.sector_span(slot.first, slot.count);
        let is_region = matches!(opened.store, Store::Region(..));
        let data = app.selected_block().map(|block| block.stored).filter(|stored| is_region && !stored.is_empty());
        out.push(match data {
            Some(data) => ("bytes", Span::new(sectors.start, data.end).to_string(), Role::Text),
            None => ("file", sectors.to_string(), Role::Text),
        });
    }
    let Some(block) = app.selected_block() else { return };
    let packed = block.container.unwrap_or("as it is");
    let plain = crate::bytes::len64(&block.plain);
    // Voxels of a map are read from its array, which is not unpacked.
    let decompressed = if plain > 0 { format!(", {} decompressed", bytes(plain)) } else { String::new() };
    let stored = bytes(block.stored_bytes());
    out.push(("size", format!("{packed}, {stored} stored{decompressed}"), Role::Text));
    if let Some(Store::Layer(grid, _)) = opened.map(|opened| &opened.store)
        && let (Some([x, y, z]), None) = (grid.dim, slot.position)
    {
        out.push(("cells", format!("{x} x {y} x {z}"), Role::Text));
    }
    if block.version > 0 {
        out.push(("version", block.version.to_string(), Role::Text));
    }
    let worst = block.damage.iter().map(|damage| damage.code.level()).max();
    let words = match worst {
        Some(level) => format!("{} {}", app.glyphs.level(Some(level)), level.name()),
        None => format!("{} whole", app.glyphs.good),
    };
    out.push(("state", words, level_role(worst)));
    if app.selection.finding.is_none() {
        for damage in block.damage.iter().take(3) {
            out.push(("", format!("{damage}."), level_role(Some(damage.code.level()))));
        }
    }
}
