//! What is selected, in words.

use super::app::App;
use super::canvas::Canvas;
use super::data::{NodeKind, Store};
use super::go;
use super::theme::{Role, level_role, owner_role};
use crate::damage::Level;
use crate::printable::triple;
use crate::save::Owner;

/// Lines of words: a label and what it says; a label that is empty is a sentence.
pub type Lines = Vec<(&'static str, String, Role)>;

/// Draws the inspector.
pub fn draw(app: &App, canvas: &mut Canvas<'_>) {
    let (title, lines) = lines(app);
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

fn lines(app: &App) -> (String, Lines) {
    let mut out: Lines = Vec::new();
    if let Some((title, words)) = super::panes::repair::under_cursor(app) {
        out.extend(words.into_iter().map(|(label, text)| (label, text, Role::Text)));
        return (title, out);
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
        out.push(("", finding.code().next().to_owned(), Role::Text));
    }
    let title = what(app, &mut out);
    (title, out)
}

/// What the selection is; its title.
fn what(app: &App, out: &mut Lines) -> String {
    let Some(index) = &app.index else { return "Nothing is open".into() };
    let Some(node) = index.nodes.get(app.selection.node) else { return String::new() };
    let Some(opened) = app.opened_item() else {
        group(app, out);
        return node.label.to_string();
    };
    if let Some(slot) = app.selected_slot() {
        block(app, slot, out);
        return slot.position.map_or_else(|| format!("Block {}", slot.slot), |at| format!("Block {}", triple(at)));
    }
    if let Some(sector) = app.selection.sector {
        if let Some(owner) = go::owner_at(opened, sector) {
            let (role, words) = owner_role(owner);
            out.push(("owner", words.into(), role));
        }
        out.push(("file", opened.sector_span(sector, 1).to_string(), Role::Text));
        let name = opened.sector_name(sector);
        let (first, rest) = name.split_at_checked(1).unwrap_or_default();
        return format!("{}{rest}", first.to_uppercase());
    }
    out.push(("size", bytes(opened.len(super::data::Part::Data)), Role::Text));
    match &opened.store {
        Store::Region(region, slots) => {
            let format = &region.header.format;
            out.push(("format", format!("region, version {}", region.header.version), Role::Text));
            let [x, y, z] = format.region_size;
            out.push(("holds", format!("{x} x {y} x {z} blocks of {} voxels a side", format.block_size()), Role::Text));
            out.push(("blocks", opened.slots.len().to_string(), Role::Text));
            out.push(("sectors", format!("{} of {} bytes", opened.sectors.in_file, format.sector_size), Role::Text));
            let stale = opened.sectors.count(|owner| owner == Owner::Stale);
            if stale > 0 {
                out.push(("stale", format!("{stale} sectors"), Role::Text));
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
                format!("{} of {} bytes", opened.sectors.in_file, opened.sectors.sector_size),
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
        Store::Bytes(_) => out.push(("", "Only bytes: no block can be located by this file.".into(), Role::Text)),
    }
    for damage in opened.damage.iter().take(3) {
        out.push(("", format!("{damage}."), level_role(Some(damage.code.level()))));
    }
    node.label.to_string()
}

/// Words on a line of the tree that is no file.
fn group(app: &App, out: &mut Lines) {
    let Some(index) = &app.index else { return };
    if let Some(kind) = app.selected_kind() {
        let words = match kind {
            NodeKind::Save => "a save",
            NodeKind::Forest(_) => "a region forest",
            NodeKind::Lod(..) => "a level of detail",
            NodeKind::Room(_) => "a directory of pak regions",
            NodeKind::Map(_) => "a voxel map",
            NodeKind::Item(_) => "a file",
        };
        out.push(("is", words.into(), Role::Text));
    }
    let files = app.selected_items().len();
    out.push(("files", files.to_string(), Role::Text));
    let tally = app.findings.of_node(app.selection.node);
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

fn block(app: &App, slot: super::data::Slot, out: &mut Lines) {
    out.push(("slot", slot.slot.to_string(), Role::Text));
    if slot.lod > 0 {
        out.push(("LOD", slot.lod.to_string(), Role::Text));
    }
    if let Some(opened) = app.opened_item() {
        let last = slot.first + slot.count.saturating_sub(1);
        let words = if opened.stream().is_some() { "pages" } else { "sectors" };
        let ends = [slot.first, last].map(|sector| opened.shown_sector(sector));
        out.push((words, format!("{} to {}", ends[0], ends[1]), Role::Text));
        out.push(("file", opened.sector_span(slot.first, slot.count).to_string(), Role::Text));
    }
    let Some(block) = app.selected_block() else { return };
    let packed = block.container.unwrap_or("as it is");
    let plain = crate::bytes::len64(&block.plain);
    // A blob can lie in several places; its size is what the row says.
    let of_row = app.opened_item().and_then(|opened| opened.stream()).and(block.prefix);
    let stored = of_row.map_or(block.stored.len(), u64::from);
    out.push(("stored", format!("{}, {packed}", bytes(stored)), Role::Text));
    out.push(("holds", bytes(plain), Role::Text));
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

/// Bytes as people read them, with the exact number where it is small enough to be read too.
#[must_use]
pub fn bytes(n: u64) -> String {
    match n {
        0..100_000 => format!("{} bytes", grouped(n)),
        100_000..10_000_000 => format!("{} KB", grouped(n / 1000)),
        _ => format!("{} MB", grouped(n / 1_000_000)),
    }
}

/// A number with its digits in groups of three.
#[must_use]
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
