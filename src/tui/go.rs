//! PendingTarget to a place: to a finding, to what was typed, back and forward. Where the file has to be opened first, the place
//! is reached once it is.

use super::data::{ItemId, Opened, Part};
use super::history::Location;
use super::pane::Pane;
use super::{App, Bytes, Focus};
use crate::bytes::Span;
use crate::check::{BlockAt, Finding};
use crate::damage::Space;
use crate::picture::Look;
use crate::repair::preview::LineAt;
use crate::save::Owner;

/// A place in a file that has to be opened first.
#[derive(Clone, Debug)]
pub struct PendingTarget {
    item: ItemId,
    slot: Option<u32>,
    block: Option<(u8, [i32; 3])>,
    bytes: Option<Bytes>,
}

/// A place on the picture of the world that another pane leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorldTarget {
    /// A cut through the selected voxel, or through the middle of the selected block, of a channel.
    Cut(Option<usize>),
    /// The block of a LOD at a position, in this look.
    Block(u8, [i32; 3], Look),
    /// A block that differs between two saves, with the channel and the voxel to look at, when there is one.
    Change(u8, [i32; 3], Option<(usize, [u32; 3])>),
}

/// Shows a place on the picture of the world, as soon as its tables are there.
pub fn to_world(app: &mut App, target: WorldTarget) {
    app.world_target = Some(target);
    app.show(Pane::World);
}

/// Selects the block in a slot of a file.
pub fn to_slot(app: &mut App, item: ItemId, slot: u32) {
    app.select_item(item);
    begin_navigation(app, PendingTarget { item, slot: Some(slot), block: None, bytes: None });
}

/// Goes to the block at a position of a LOD, in whichever file of a forest or stream it is; false when there is none.
pub fn to_block(app: &mut App, lod: u8, position: [i32; 3]) -> bool {
    let Some(index) = app.index.clone() else { return false };
    let Some(item) = (0..index.items.len()).find(|item| index.has_place(*item, lod, position)) else { return false };
    let Some(node) = index.node_of(item) else { return false };
    app.select_node(node);
    app.panes.tree.show(&index, node);
    begin_navigation(app, PendingTarget { item, slot: None, block: Some((lod, position)), bytes: None });
    true
}

/// Selects the block at a position of a LOD of a file; a directory that is selected in the tree stays selected.
pub fn to_block_of(app: &mut App, item: ItemId, lod: u8, position: [i32; 3]) {
    app.select_item(item);
    begin_navigation(app, PendingTarget { item, slot: None, block: Some((lod, position)), bytes: None });
}

/// Selects what a line of a repair is about: a record, a block or bytes of a file. A directory that is selected in the tree stays
/// selected.
pub fn link_line(app: &mut App, item: ItemId, at: Option<LineAt>, span: Option<Span>) {
    select_file(app, item);
    let (slot, block) = match at {
        None => (None, None),
        Some(LineAt::Record(record)) => (Some(record), None),
        Some(LineAt::Block(lod, position)) => (None, Some((lod, position))),
    };
    // The inspector shows the finding about this block.
    app.selection.finding = block.and_then(|(lod, position)| app.findings.about_block(item, lod, position));
    let bytes = span.map(|span| Bytes { space: Space::File, part: Part::Data, span });
    begin_navigation(app, PendingTarget { item, slot, block, bytes });
}

/// Goes to a finding, by its number: the line of the tree, the block, the bytes.
pub fn to_finding(app: &mut App, number: usize) {
    let item = app.findings.items.get(number).copied().flatten();
    if let (Some(index), Some(item)) = (app.index.clone(), item)
        && let Some(node) = index.node_of(item)
    {
        app.select_node(node);
        app.panes.tree.show(&index, node);
    }
    link_finding(app, number);
}

/// Selects a finding, and what it is about; a directory that is selected in the tree stays selected.
pub fn link_finding(app: &mut App, number: usize) {
    let Some(finding) = app.findings.list.get(number).cloned() else { return };
    app.selection.finding = Some(number);
    let Some(item) = app.findings.items.get(number).copied().flatten() else { return };
    select_file(app, item);
    // A finding about a file as such leaves its first block selected.
    app.first_selected = None;
    let block = finding.block.and_then(BlockAt::place);
    let bytes = finding_bytes(app, &finding);
    begin_navigation(app, PendingTarget { item, slot: None, block, bytes });
}

/// The bytes that a finding is about.
fn finding_bytes(app: &App, finding: &Finding) -> Option<Bytes> {
    let part = finding_part(app, finding);
    match finding.damage.space {
        Space::Block => Some(Bytes { space: Space::Block, part, span: finding.damage.span }),
        Space::File => finding.span.map(|span| Bytes { space: Space::File, part, span }),
    }
}

/// Which file of a layer a finding is about.
fn finding_part(app: &App, finding: &Finding) -> Part {
    let Some(opened) = app.opened_item() else { return Part::Data };
    let super::data::Store::Layer(_, layer) = &opened.store else { return Part::Data };
    let is = |name: &Option<String>| {
        name.as_deref().is_some_and(|name| finding.file.ends_with(&crate::printable::printable(name)))
    };
    if is(&layer.depth_file) {
        Part::Depth
    } else if is(&layer.index_file) {
        Part::Index
    } else {
        Part::Data
    }
}

/// Selects a file and nothing in it.
fn select_file(app: &mut App, item: ItemId) {
    app.select_item(item);
    (app.selection.slot, app.selection.sector, app.selection.voxel, app.selection.bytes) = (None, None, None, None);
}

/// Opens the file of a target and selects the target, as soon as the file is open.
fn begin_navigation(app: &mut App, target: PendingTarget) {
    app.pending_target = Some(target);
    app.request_item();
    finish_navigation(app);
}

/// Selects the target of a navigation once its file is open.
pub fn finish_navigation(app: &mut App) {
    let Some(PendingTarget { item, slot, block, bytes }) = app.pending_target.clone() else { return };
    if app.selected_item() != Some(item) {
        app.pending_target = None;
        return;
    }
    let Some(opened) = app.opened_item().cloned() else { return };
    app.pending_target = None;
    let at = block.and_then(|(lod, position)| opened.at(lod, position)).map(|slot| slot.slot);
    if let Some(slot) = slot.or(at) {
        app.select_slot(slot);
    }
    if let Some(bytes) = bytes {
        app.selection.bytes = Some(bytes);
        if bytes.space == Space::File && bytes.part == Part::Data {
            follow_bytes(app, &opened, bytes.span);
            // Bytes before the sectors are in no block; the other panes show the first one meanwhile.
            if app.selection.slot.is_none() && app.selection.sector.is_none() {
                app.selection.slot = opened.slots.first().map(|slot| slot.slot);
            }
        }
    }
    app.panes.follow_selection();
}

/// Selects the sector, and the block, that bytes of the file are in.
fn follow_bytes(app: &mut App, opened: &Opened, span: Span) {
    let Some(sector) = opened.sector_at(span.start) else { return };
    app.selection.sector = Some(sector);
    if app.selection.slot.is_none()
        && let Some(slot) = slot_at(opened, sector)
    {
        app.selection.slot = Some(slot);
        app.selection.voxel = None;
    }
}

/// The block that owns a sector alone.
#[must_use]
pub fn slot_at(opened: &Opened, sector: u64) -> Option<u32> {
    match opened.owner_at(sector)? {
        Owner::Block(slot) | Owner::BeyondEnd(slot) => Some(slot),
        _ => None,
    }
}

/// Selects a sector, with the block that owns it and its bytes.
pub fn to_sector(app: &mut App, opened: &Opened, sector: u64) {
    app.selection.sector = Some(sector);
    app.selection.bytes = None;
    match slot_at(opened, sector) {
        Some(slot) => {
            if app.selection.slot != Some(slot) {
                app.selection.voxel = None;
            }
            app.selection.slot = Some(slot);
        }
        None => app.selection.slot = None,
    }
    let span = opened.sector_span(sector, 1);
    app.selection.bytes = Some(Bytes { space: Space::File, part: Part::Data, span });
}

/// Goes to what was typed.
///
/// # Errors
/// A sentence that says what is wrong with it.
pub fn to(app: &mut App, text: &str) -> Result<(), String> {
    if app.in_diff() {
        let shown = crate::printable::printable(text.trim());
        return match parse(&shown)? {
            Target::Position(position) => app.go_to_difference(position),
            _ => Err("in the list of changes, a place is the position of a block: x,y,z".into()),
        };
    }
    let shown = crate::printable::printable(text.trim());
    let place = parse(&shown)?;
    if let Target::Position(position) = place
        && super::panes::world::is_ready(app)
    {
        app.remember();
        super::panes::world::go_to(app, position.map(i64::from))?;
        // The other panes follow to the voxel; these two lists have no place for it.
        if matches!(app.pane, Pane::Findings | Pane::Repair) {
            app.show(Pane::World);
        }
        return Ok(());
    }
    let opened = app.opened_item().cloned().ok_or("no file is open")?;
    app.remember();
    let len = opened.len(Part::Data);
    match place {
        Target::Byte(at) => to_byte(app, &opened, at, len)?,
        Target::FromEnd(back) => to_byte(app, &opened, len.saturating_sub(back), len)?,
        Target::Sector(sector) => {
            let last = opened.sectors.runs.last().map_or(0, |run| run.first + run.count);
            // Pages of a stream count from 1.
            let there = sector.checked_sub(opened.shown_sector(0)).filter(|sector| *sector < last);
            let Some(sector) = there else {
                return Err(format!("there is no {} {sector}: there are {last}", opened.unit()));
            };
            to_sector(app, &opened, sector);
        }
        Target::Slot(slot) => {
            opened.slot(slot).ok_or_else(|| format!("there is no block in slot {slot}"))?;
            app.select_slot(slot);
        }
        Target::Position(position) => to_position(app, &opened, position)?,
    }
    app.panes.follow_selection();
    Ok(())
}

fn to_byte(app: &mut App, opened: &Opened, at: u64, len: u64) -> Result<(), String> {
    if app.pane == Pane::Hex && app.selection.bytes.is_some_and(|bytes| bytes.space == Space::Block) {
        let len = app.selected_block().map_or(0, |block| crate::bytes::len64(&block.plain));
        if at >= len {
            return Err(format!("there is no byte {at:#x}: the decompressed block has {len:#x}"));
        }
        app.selection.bytes = Some(Bytes { space: Space::Block, part: Part::Data, span: Span::sized(at, 1) });
        return Ok(());
    }
    if at >= len {
        return Err(format!("there is no byte {at:#x}: the file has {len:#x}"));
    }
    app.selection.slot = None;
    let span = Span::sized(at, 1);
    app.selection.bytes = Some(Bytes { space: Space::File, part: Part::Data, span });
    follow_bytes(app, opened, span);
    Ok(())
}

/// A position is that of a block, where there is no picture of the world.
fn to_position(app: &mut App, opened: &Opened, position: [i32; 3]) -> Result<(), String> {
    let shown = crate::printable::triple(position);
    // Of several LODs, that of the block that is selected.
    let lod = app.selection.slot.and_then(|slot| opened.slot(slot)).or(opened.slots.first()).map_or(0, |slot| slot.lod);
    let slot = opened.at(lod, position).ok_or_else(|| format!("there is no block at {shown} in this file"))?;
    app.select_slot(slot.slot);
    Ok(())
}

/// A place as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Byte(u64),
    FromEnd(u64),
    Sector(u64),
    Slot(u32),
    Position([i32; 3]),
}

fn parse(text: &str) -> Result<Target, String> {
    let wrong = || format!("`{text}` is no place: a byte (0x1f40), a sector (s12), a slot (b3), x,y,z or end-16");
    if let Some(rest) = text.strip_prefix("end") {
        let back = rest.strip_prefix('-').map_or(Ok(1), |back| number(back).ok_or_else(wrong))?;
        return if rest.is_empty() || rest.starts_with('-') { Ok(Target::FromEnd(back.max(1))) } else { Err(wrong()) };
    }
    if text.contains(',') {
        let mut parts = text.trim_matches(['(', ')']).split(',').map(|part| part.trim().parse::<i32>().ok());
        return match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(Some(x)), Some(Some(y)), Some(Some(z)), None) => Ok(Target::Position([x, y, z])),
            _ => Err(wrong()),
        };
    }
    if let Some(sector) = text.strip_prefix('s') {
        return number(sector).map(Target::Sector).ok_or_else(wrong);
    }
    // Hexadecimal digits may begin with b; without 0x it is a slot.
    if let Some(slot) = text.strip_prefix('b') {
        return number(slot).and_then(|n| u32::try_from(n).ok()).map(Target::Slot).ok_or_else(wrong);
    }
    number(text).map(Target::Byte).ok_or_else(wrong)
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Back to the place before.
pub fn back(app: &mut App) {
    let here = Location { selection: app.selection.clone(), pane: app.pane };
    match app.history.back(here) {
        Some(place) => restore(app, place),
        None => app.show_message("There is nothing to go back to.".into()),
    }
}

/// Forward again.
pub fn forward(app: &mut App) {
    let here = Location { selection: app.selection.clone(), pane: app.pane };
    match app.history.forward(here) {
        Some(place) => restore(app, place),
        None => app.show_message("There is nothing to go forward to.".into()),
    }
}

fn restore(app: &mut App, place: Location) {
    app.pending_target = None;
    app.selection = place.selection;
    app.pane = place.pane;
    app.focus = Focus::Pane;
    if let Some(index) = app.index.clone() {
        app.panes.tree.show(&index, app.selection.node);
    }
    app.panes.follow_selection();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read() {
        for (text, target) in [
            ("0x1f40", Target::Byte(0x1f40)),
            ("8000", Target::Byte(8000)),
            ("s12", Target::Sector(12)),
            ("b3", Target::Slot(3)),
            ("end-16", Target::FromEnd(16)),
            ("end", Target::FromEnd(1)),
            ("3,0,-12", Target::Position([3, 0, -12])),
            ("(3, 0, 12)", Target::Position([3, 0, 12])),
        ] {
            assert_eq!(parse(text), Ok(target), "{text}");
        }
        for text in ["", "s", "bx", "1,2", "1,2,3,4", "end16", "0x", "q", "b99999999999"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
