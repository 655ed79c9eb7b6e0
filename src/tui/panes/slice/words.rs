//! What the slice says: what is shown, and what is at the cursor.

use unicode_width::UnicodeWidthStr;

use super::ink::{Line, Mode};
use super::scene::{self, Scene, locate};
use crate::godot::channel::{Depth, NAMES, SDF};
use crate::printable::triple;
use crate::tui::app::App;
use crate::tui::canvas::Canvas;
use crate::tui::data::plane::{Axis, Sample, Scope};
use crate::tui::data::{State, Store};
use crate::tui::theme::Role;
use crate::voxel_map::flags;
use crate::voxel_map::grid::Voxel;

/// The line on top. What is farther to the right counts less, and is left out where there is no room.
pub(super) fn header(app: &App, scene: &Scene, canvas: &mut Canvas<'_>) {
    let axis = scene.axis;
    let is_layer = app.opened_item().is_some_and(|opened| opened.grid().is_some());
    let what = match scene.scope {
        Scope::Block(slot) => {
            let at = app.opened_item().and_then(|opened| opened.slot(slot)?.position);
            at.map_or_else(|| format!("block {slot}"), |at| format!("block {}", triple(at)))
        }
        Scope::Whole if is_layer => "whole layer".into(),
        Scope::Whole => "whole region".into(),
    };
    let mode = Mode::of(app);
    let shown = match app.opened_item().map(|opened| &opened.store) {
        Some(Store::Region(..) | Store::Stream(_)) => {
            let channel = super::channel(app);
            let name = NAMES.get(channel).copied().unwrap_or("?");
            let raw = if channel == SDF && mode == Mode::Values { ", raw" } else { "" };
            format!("channel {channel} {name}{raw}")
        }
        _ => mode.name().to_owned(),
    };
    let low = axis.of(scene.bounds.low);
    let cut = axis.of(scene.cursor);
    let cut = match scene.scope {
        Scope::Block(_) => cut.saturating_sub(low),
        Scope::Whole => cut,
    };
    let cut = format!("{} = {cut} of {}", axis.name(), scene.bounds.len(axis));
    let scale = scene.raster.zoom.words(scene.raster.letters, "voxel");
    let [right, down] = axis.across();
    let glyphs = canvas.glyphs;
    let (to_right, up, to_bottom) = if glyphs.ascii { ("right", "up", "down") } else { ("→", "↑", "↓") };
    let rises = if down.rises() { up } else { to_bottom };
    let axes = format!("{to_right} {}  {rises} {}", right.name(), down.name());
    // Shorter words where there is one line only, and still shorter ones where that is narrow.
    let one_line = scene.raster.top == 1;
    let (mut what, mut shown, mut cut, mut scale) = (what, shown, cut, scale);
    if one_line && !fits(canvas, &[&what, &shown, &cut, &scale, &axes]) {
        shown = shown.trim_start_matches("channel ").to_owned();
    }
    if one_line && !fits(canvas, &[&what, &shown, &cut, &scale]) {
        what = what.trim_start_matches("block ").trim_start_matches("whole ").to_owned();
        cut = cut.replace(" = ", " ").replace(" of ", "/");
        scale = scene.raster.zoom.short();
    }
    let mut pieces: Vec<(Role, String)> = vec![(Role::Strong, what), (Role::Text, shown), (Role::Key, cut)];
    pieces.extend([(Role::Dim, scale), (Role::Dim, axes)]);
    if scene.raster.is_cut() {
        pieces.push((Role::Dim, "more outside".into()));
    }
    let first = joined(canvas, 0, &pieces);
    // The line between this one and the picture, where there is one.
    if scene.raster.top > 1 {
        joined(canvas, 1, pieces.get(first..).unwrap_or_default());
    }
}

/// Whether texts fit in a line, with dots between them.
fn fits(canvas: &Canvas<'_>, texts: &[&str]) -> bool {
    let dots = texts.len().saturating_sub(1) * canvas.glyphs.dot.width();
    let all: usize = texts.iter().map(|text| text.width()).sum();
    all + dots < usize::from(canvas.width().saturating_sub(1))
}

/// Pieces with dots between them, as many as fit; how many these are.
pub fn joined(canvas: &mut Canvas<'_>, y: u16, pieces: &[(Role, String)]) -> usize {
    let dot = canvas.glyphs.dot;
    let width = usize::from(canvas.width().saturating_sub(1));
    let mut x = 1u16;
    for (i, (role, text)) in pieces.iter().enumerate() {
        let before = if i == 0 { 0 } else { dot.width() };
        if i > 0 && usize::from(x) + before + text.width() > width {
            return i;
        }
        if i > 0 {
            x = canvas.put(x, y, dot, Role::Dim);
        }
        x = canvas.put(x, y, text, *role);
    }
    pieces.len()
}

/// A raw value as it is copied and shown.
pub fn number(raw: u64, bits: u8) -> String {
    let digits = usize::from(bits.div_ceil(4));
    let mut text = format!("0x{raw:0digits$x} = {raw}");
    let sign = 1u64.checked_shl(u32::from(bits.max(1)) - 1).unwrap_or(0);
    if raw & sign != 0 {
        let above = u64::MAX.checked_shl(bits.into()).unwrap_or(0);
        text.push_str(&format!(", signed {}", (raw | above).cast_signed()));
    }
    text
}

/// The voxel of a layer at the cursor, when it has been read.
fn cell<'a>(app: &'a App, scene: &Scene) -> Option<&'a Option<Voxel>> {
    Some(app.panes.slice.voxel.get(&(app.item_key()?, scene.cursor))?.as_ref())
}

/// The flags at the cursor.
pub(super) fn flags_at(app: &App, scene: &Scene) -> Option<u64> {
    (*cell(app, scene)?)?.bits.map(|_| ())?;
    Some((*cell(app, scene)?)?.flags)
}

/// The raw value at the cursor of a region or a pak, its bits, and its distance.
fn raw(app: &App, scene: &Scene) -> Option<(u64, u8, Option<f64>)> {
    let (slot, local) = locate(app, scene)?;
    let channel = super::channel(app);
    if let Some(block) = app.selected_block().filter(|block| block.slot.slot == slot.slot) {
        let raw = block.voxel(channel, local)?;
        let bits = block.channels.get(channel)?.bits;
        return Some((raw, bits, block.sdf(channel, raw)));
    }
    // Its block is not the selected one: what the picture has is all that is known.
    let request = scene::request(app, scene)?;
    let (window, plane) = scene::shown(app, Some(&request))?;
    let [right, down] = scene.axis.across();
    let column = window.right.number(right.of(scene.cursor).into())?;
    let row = window.down.number(down.of(scene.cursor).into())?;
    let region = app.opened_item()?.region()?;
    let bits = region.header.format.depths.get(channel).copied().unwrap_or(Depth::Bits8).bits();
    match plane.at(column, row) {
        Sample::Value(raw, distance) => Some((raw, bits, distance.map(f64::from))),
        Sample::Nothing | Sample::Unreadable => None,
    }
}

/// Whether a block has been read, so that what is missing is not there.
fn is_read(app: &App, slot: u32) -> bool {
    match app.block_key().map(|key| (key.1 == slot, app.block.state(&key))) {
        Some((true, State::Reading | State::Unasked)) => false,
        Some((true, _)) => true,
        // Not the selected block: what the picture has is all there is.
        _ => app.panes.slice.plane.latest().is_some(),
    }
}

/// What is at the cursor, in a few words.
pub(super) fn value(app: &App, scene: &Scene) -> Option<String> {
    let opened = app.opened_item()?;
    let Some(grid) = opened.grid() else {
        let (raw, bits, distance) = raw(app, scene)?;
        let mut text = number(raw, bits);
        if let Some(distance) = distance {
            text.push_str(&format!(", distance {}", short(distance)));
        }
        return Some(text);
    };
    let voxel = (*cell(app, scene)?)?;
    let bits = voxel.bits?;
    let wide = grid.data.as_ref().is_some_and(|data| data.npy.dtype.size() == 8);
    let mut text = number(bits, if wide { 64 } else { 32 });
    if let Some(depth) = voxel.depth {
        text.push_str(&format!(", depth {} m", short(depth.into())));
    }
    let names: Vec<&str> = Line::all().filter(|line| line.is_in(voxel.flags)).map(|line| line.names().0).collect();
    if !names.is_empty() {
        text.push_str(&format!(", {}", names.join(" ")));
    }
    Some(text)
}

/// A number without zeros at its end.
pub fn short(n: f64) -> String {
    let text = format!("{n:.3}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Where a voxel of a block is in the world.
#[must_use]
pub fn world(block: [i32; 3], size: [u32; 3], local: [u32; 3], lod: u8) -> [i64; 3] {
    let one = |axis: Axis| {
        let at = i64::from(axis.of(block)).saturating_mul(axis.of(size).into()).saturating_add(axis.of(local).into());
        at.saturating_mul(1i64.checked_shl(lod.into()).unwrap_or(i64::MAX))
    };
    [one(Axis::X), one(Axis::Y), one(Axis::Z)]
}

/// What is at the cursor, in the lines that there are for it.
pub(super) fn cursor(app: &App, scene: &Scene, canvas: &mut Canvas<'_>) {
    let [y, lines] = scene.words;
    let Some(opened) = app.opened_item().filter(|_| lines > 0) else { return };
    if opened.grid().is_some() {
        of_layer(app, scene, canvas, y, lines);
        return;
    }
    let found = raw(app, scene);
    let block = locate(app, scene);
    let mut place: Vec<(Role, String)> = Vec::new();
    let mut what: Vec<(Role, String)> = Vec::new();
    match block {
        None => place.push((Role::Dim, format!("no block at {}", triple(scene.cursor)))),
        Some((slot, local)) => {
            if scene.scope == Scope::Whole {
                let at = slot.position.map_or_else(|| slot.slot.to_string(), triple);
                place.push((Role::Text, format!("block {at}")));
            }
            place.push((Role::Strong, format!("voxel {}", triple(local))));
            let size = match (&opened.store, scene.scope) {
                (Store::Pak(_), _) => Some(scene.bounds.high),
                _ => opened.block_size().or(Some(scene.bounds.high)),
            };
            if let (Some(position), Some(size)) = (slot.position, size) {
                let lod = opened.region().map_or(slot.lod, |region| region.lod);
                place.push((Role::Text, format!("world {}", triple(world(position, size, local, lod)))));
                if lod > 0 {
                    place.push((Role::Dim, format!("LOD {lod}")));
                }
            }
            match found {
                Some((raw, bits, distance)) => {
                    what.push((Role::Value, number(raw, bits)));
                    if let Some(distance) = distance {
                        let side = if distance < 0.0 { "inside" } else { "outside" };
                        what.push((Role::Value, format!("distance {}", short(distance))));
                        what.push((Role::Dim, side.into()));
                    }
                }
                None if is_read(app, slot.slot) => what.push((Role::Error, "not readable".into())),
                None => what.push((Role::Dim, "reading".into())),
            }
        }
    }
    if lines == 1 {
        place.splice(1.min(place.len()).., what.into_iter().take(1));
        joined(canvas, y, &place);
    } else {
        joined(canvas, y, &place);
        joined(canvas, y + 1, &what);
    }
}

fn of_layer(app: &App, scene: &Scene, canvas: &mut Canvas<'_>, y: u16, lines: u16) {
    let Some(opened) = app.opened_item() else { return };
    let Store::Layer(grid, layer) = &opened.store else { return };
    let mut place = vec![(Role::Strong, format!("cell {}", triple(scene.cursor)))];
    if let Some(frame) = layer.frame() {
        place.push((Role::Text, format!("world {}", triple(frame.centre(scene.cursor).map(short)))));
    }
    let block = crate::voxel_map::grid::block_of(scene.cursor);
    if !grid.index.is_empty() {
        let there = grid.index.find(block).is_some();
        let words = if there { "" } else { ", not stored" };
        place.push((Role::Text, format!("block {}{words}", triple(block))));
    }
    let voxel = cell(app, scene);
    let mut what: Vec<(Role, String)> = Vec::new();
    let mut names = String::new();
    match voxel {
        None => what.push((Role::Dim, "reading".into())),
        Some(None) => what.push((Role::Dim, "outside of the layer".into())),
        Some(Some(voxel)) => {
            let wide = grid.data.as_ref().is_some_and(|data| data.npy.dtype.size() == 8);
            match voxel.bits {
                Some(bits) => what.push((Role::Value, number(bits, if wide { 64 } else { 32 }))),
                None if grid.index.is_empty() || voxel.block.is_some() => {
                    what.push((Role::Error, "not readable".into()));
                }
                None => what.push((Role::Dim, "no voxel".into())),
            }
            if let Some(depth) = voxel.depth {
                what.push((Role::Text, format!("depth {} m", short(depth.into()))));
            }
            if voxel.bits.is_some() {
                let rows = usize::from(lines.saturating_sub(2).max(1));
                let width = usize::from(canvas.width().saturating_sub(2)).max(1);
                let fits = |text: &String| textwrap::wrap(text, width).len() <= rows;
                names = flag_words(voxel.flags, !canvas.glyphs.ascii, canvas.glyphs.dot);
                if !fits(&names) {
                    names = flag_words(voxel.flags, false, canvas.glyphs.dot);
                }
                if !fits(&names) {
                    names = flag_words(voxel.flags, false, " ");
                }
            }
        }
    }
    match lines {
        1 => {
            place.truncate(1);
            place.extend(what.into_iter().take(1));
            place.push((Role::Text, names));
            joined(canvas, y, &place);
        }
        _ => {
            joined(canvas, y, &place);
            joined(canvas, y + 1, &what);
            let width = canvas.width().saturating_sub(1);
            canvas.part(0, y + 2, width, lines.saturating_sub(2)).wrap(1, 0, &names, Role::Strong);
        }
    }
}

/// Every flag by its names, and what follows from them.
fn flag_words(bits: u64, chinese: bool, dot: &str) -> String {
    let one = |line: Line| {
        let (name, other) = line.names();
        match line {
            Line::Unknown => format!("unknown bits {:#x}", flags::unknown(bits)),
            _ if chinese => format!("{name} {other}"),
            _ => name.to_owned(),
        }
    };
    let words: Vec<String> = Line::all().filter(|line| line.is_in(bits)).map(one).collect();
    match words.is_empty() {
        true => "no flag: air, ground, or left out".into(),
        false => words.join(dot),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_in_the_world_is_that_of_the_game() {
        assert_eq!(world([3, 0, -12], [16; 3], [5, 7, 12], 0), [53, 7, -180]);
        assert_eq!(world([-1, 0, 2], [16; 3], [15, 0, 1], 1), [-2, 0, 66]);
        assert_eq!(world([i32::MIN; 3], [u32::MAX; 3], [0; 3], 200), [i64::MIN; 3]);
    }

    #[test]
    fn numbers_are_signed_where_that_is_another() {
        assert_eq!(number(3, 8), "0x03 = 3");
        assert_eq!(number(0xff, 8), "0xff = 255, signed -1");
        assert_eq!(number(u64::MAX, 64), "0xffffffffffffffff = 18446744073709551615, signed -1");
        assert_eq!((short(1.5), short(-0.0787), short(3.0)), ("1.5".into(), "-0.079".into(), "3".into()));
    }
}
