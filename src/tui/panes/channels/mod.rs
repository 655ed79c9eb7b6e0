//! The channels of a block, or the arrays and flags of a map's layer.

mod layer;

use ratatui::style::Modifier;
use unicode_width::UnicodeWidthStr;

use super::Click;
use crate::bytes::len64;
use crate::damage::Level;
use crate::godot::channel::Storage;
use crate::picture::palette::Palette;
use crate::tui::App;
use crate::tui::action::Action;
use crate::tui::canvas::Canvas;
use crate::tui::data::{BlockData, ChannelData, Store, request_counts};
use crate::tui::go;
use crate::tui::numbers::{grouped, percent, short};
use crate::tui::scroll::follow;
use crate::tui::theme::{Glyphs, Role, level_role};

/// Rows of the histogram below the table, at most.
const MAX_HISTOGRAM: u16 = 10;

/// Types listed below the table, at most.
const MAX_TYPES: usize = 8;

/// The row of the first channel.
const FIRST: u16 = 3;

/// The state of the pane.
#[derive(Debug, Default)]
pub struct ChannelsState {
    /// The channel with the cursor, or the first line of a layer that is seen.
    cursor: usize,
}

/// Rows that the cursor can be on.
fn rows(app: &App) -> usize {
    match app.opened_item().map(|opened| &opened.store) {
        Some(Store::Layer(..)) => layer::lines(app, 0).len(),
        _ => app.selected_block().map_or(0, |block| block.channels.len()),
    }
}

/// Does an action; true when it meant something here.
pub fn act(app: &mut App, action: Action) -> bool {
    let is_layer = app.opened_item().is_some_and(|opened| opened.grid().is_some());
    let seen = usize::from(app.pane_inside().height).max(1);
    // A layer has no cursor: what moves is what is seen.
    let last = if is_layer { rows(app).saturating_sub(seen) } else { rows(app).saturating_sub(1) };
    let at = app.panes.channels.cursor.min(last);
    if let Some(to) = action.over_lines(at, last, seen) {
        app.panes.channels.cursor = to;
        return true;
    }
    app.panes.channels.cursor = match action {
        Action::NextChannel if !is_layer && last > 0 => (at + 1) % (last + 1),
        Action::Enter if is_layer => {
            go::to_world(app, go::WorldTarget::Cut(None));
            return true;
        }
        Action::Enter => {
            if app.selected_block().is_some_and(|block| !block.channels.is_empty()) {
                go::to_world(app, go::WorldTarget::Cut(Some(at)));
            }
            return true;
        }
        _ => return false,
    };
    true
}

/// Does a click.
pub fn click(app: &mut App, click: Click, _: u16, y: u16) {
    match click {
        Click::Wheel(up) => {
            act(app, if up { Action::Up } else { Action::Down });
        }
        Click::Press | Click::Drag => {
            let row = usize::from(y.saturating_sub(FIRST));
            let is_layer = app.opened_item().is_some_and(|opened| opened.grid().is_some());
            if is_layer || y < FIRST || row >= rows(app) {
                return;
            }
            if app.panes.channels.cursor == row {
                act(app, Action::Enter);
            }
            app.panes.channels.cursor = row;
        }
    }
}

/// Requests what the pane needs and does not have.
pub fn request_missing(app: &mut App) {
    if app.opened_item().is_some_and(|opened| opened.grid().is_some()) {
        request_counts(app);
    }
}

/// Draws the pane.
pub fn draw(app: &App, canvas: &mut Canvas<'_>) {
    if super::draw_item_placeholder(app, canvas) {
        return;
    }
    let Some(opened) = app.opened_item() else { return };
    match &opened.store {
        Store::Bytes(_) => {
            canvas.wrap(1, 1, "This file has no channels; the hex pane shows its bytes.", Role::Dim);
        }
        Store::Layer(..) => {
            let lines = layer::lines(app, canvas.width());
            let seen = usize::from(canvas.height());
            let first = app.panes.channels.cursor.min(lines.len().saturating_sub(seen));
            for (y, line) in (0u16..).zip(lines.iter().skip(first).take(seen)) {
                let pieces: Vec<(Role, &str)> = line.iter().map(|(role, text)| (*role, text.as_str())).collect();
                canvas.line(1, y, &pieces);
            }
            canvas.scrollbar(first, seen, lines.len());
        }
        Store::Region(..) | Store::Pak(_) | Store::Stream(_) => {
            if super::draw_block_placeholder(app, canvas) {
                return;
            }
            if let Some(block) = app.selected_block() {
                of_block(app, block, canvas);
            }
        }
    }
}

/// What a block is, in a line.
fn summary(block: &BlockData, glyphs: &Glyphs) -> Vec<(Role, String)> {
    let mut out: Vec<(Role, String)> = Vec::new();
    if block.version > 0 {
        out.push((Role::Strong, format!("version {}", block.version)));
    }
    let [x, y, z] = block.size;
    if block.size != [0; 3] {
        out.push((Role::Text, format!("{x} x {y} x {z}")));
    }
    if block.version > 0 {
        out.push(match block.epilogue {
            Some(_) => (Role::Good, "epilogue ok".into()),
            None => (Role::Error, "epilogue wrong".into()),
        });
    }
    let arrow = if glyphs.ascii { "->" } else { "→" };
    let (stored, plain) = (grouped(block.stored_bytes()), crate::printable::count(len64(&block.plain), "byte"));
    let container = block.container.unwrap_or("container not known");
    out.push((Role::Text, format!("{container}, {stored} {arrow} {plain}")));
    if !block.whole {
        out.push((Role::Error, "does not decode to its end".into()));
    }
    out
}

/// Columns of the table that have room, with their widths: depth, storage, range, distinct, bytes, bars.
fn widths(width: u16) -> [u16; 6] {
    let mut out = [10, 8, 0, 0, 0, 0];
    let mut rest = width.saturating_sub(1 + 11 + 10 + 8);
    for (at, wanted, least) in [(2usize, 15u16, 8u16), (5, 17, 17), (3, 9, 9), (4, 14, 10)] {
        let given = if rest >= wanted {
            wanted
        } else if rest >= least {
            rest
        } else {
            0
        };
        if let Some(to) = out.get_mut(at) {
            *to = given;
        }
        rest = rest.saturating_sub(given);
    }
    // What is left goes to the range.
    if let Some(range) = out.get_mut(2).filter(|range| **range > 0) {
        *range = range.saturating_add(rest.min(8));
    }
    out
}

fn of_block(app: &App, block: &BlockData, canvas: &mut Canvas<'_>) {
    let glyphs = canvas.glyphs;
    // In two lines where one is too short: the third is that of the table's head.
    let (mut x, mut y) = (1u16, 0u16);
    for (role, text) in summary(block, &glyphs) {
        let width = u16::try_from(text.width()).unwrap_or(u16::MAX);
        if x > 1 && x.saturating_add(width).saturating_add(4) > canvas.width() && y == 0 {
            (x, y) = (1, 1);
        }
        if x > 1 {
            x = canvas.put(x, y, glyphs.dot, Role::Dim);
        }
        x = canvas.put(x, y, &text, role);
    }
    if block.channels.is_empty() {
        let y = canvas.wrap(1, 2, "No channel of this block can be located.", Role::Text);
        damage(block, y + 1, canvas);
        return;
    }
    let [depth, storage, range, distinct, bytes, bars] = widths(canvas.width());
    let starts = |upto: u16| 12u16.saturating_add(upto);
    let heads = [
        (0, depth, "depth", false),
        (depth, storage, "storage", false),
        (depth + storage, range, "range", false),
        (depth + storage + range, distinct, "distinct", true),
        (depth + storage + range + distinct, bytes, "bytes", true),
        (depth + storage + range + distinct + bytes + 1, bars, "values", false),
    ];
    let y = FIRST - 1;
    canvas.put(1, y, "channel", Role::Dim);
    for (at, width, head, right) in heads {
        if width > 0 && right {
            canvas.put_right(starts(at + width).saturating_sub(1), y, head, Role::Dim);
        } else if width > 0 {
            canvas.put(starts(at), y, head, Role::Dim);
        }
    }
    let cursor = app.panes.channels.cursor.min(block.channels.len().saturating_sub(1));
    let seen = usize::from(canvas.height().saturating_sub(FIRST));
    let first = follow(0, cursor, seen, block.channels.len());
    for (number, channel) in block.channels.iter().enumerate().skip(first).take(seen) {
        let y = u16::try_from(number - first).unwrap_or(u16::MAX).saturating_add(FIRST);
        canvas.put_within(1, y, 11, &format!("{number} {}", channel.name), Role::Strong);
        for ((at, width, ..), (role, text)) in heads.into_iter().zip(cells(channel)) {
            let right = at >= depth + storage + range;
            if width > 0 && right {
                canvas.put_right(starts(at + width).saturating_sub(1), y, &text, role);
            } else {
                canvas.put_within(starts(at), y, width.saturating_sub(1), &text, role);
            }
        }
        if number == cursor {
            canvas.cursor_row(y, app.focus == crate::tui::Focus::Pane);
        }
        if bars > 0 && channel.storage == Storage::Raw {
            // On top of the cursor, which would turn bars into gaps.
            let at = starts(depth + storage + range + distinct + bytes + 1);
            let style = canvas.theme.style(Role::Block).remove_modifier(Modifier::REVERSED | Modifier::UNDERLINED);
            canvas.part(at, y, bars - 1, 1).clear();
            canvas.put_styled(at, y, &histogram(channel, &glyphs), style);
        }
    }
    let rows = u16::try_from(block.channels.len().min(seen)).unwrap_or(0);
    let mut y = FIRST.saturating_add(rows).saturating_add(1);
    if let Some(channel) = block.channels.get(cursor) {
        for (role, text) in details(block, channel, &app.settings.names) {
            y = canvas.wrap(1, y, &text, role);
        }
        let damaged = u16::try_from(block.damage.len().min(8)).unwrap_or(8) + 1;
        let room = canvas.height().saturating_sub(y + 1 + damaged);
        let mut part = canvas.part(1, y + 1, canvas.width().saturating_sub(2), room.min(MAX_HISTOGRAM));
        y += 1 + draw_histogram(channel, &mut part);
    }
    damage(block, y.saturating_add(1), canvas);
}

/// What is wrong with the block, as far as there is room.
fn damage(block: &BlockData, y: u16, canvas: &mut Canvas<'_>) {
    let mut y = y;
    for damage in block.damage.iter().take(8) {
        let level = damage.code.level();
        let mark = canvas.glyphs.level(Some(level));
        let role = if level == Level::Note { Role::Dim } else { level_role(Some(level)) };
        y = canvas.wrap(1, y, &format!("{mark} {damage}."), role);
    }
}

/// Depth, storage, range, distinct values, bytes.
fn cells(channel: &ChannelData) -> [(Role, String); 5] {
    let depth = match channel.declared {
        Some(declared) if declared != channel.bits => (Role::Warning, format!("{}, not {declared}", channel.bits)),
        _ => (Role::Text, format!("{} bit", channel.bits)),
    };
    let storage = match channel.storage {
        Storage::Uniform => (Role::Dim, channel.storage.name().to_owned()),
        Storage::Raw => (Role::Text, channel.storage.name().to_owned()),
    };
    let range = match (channel.distances, channel.range) {
        (Some((low, high)), _) if low == high => short(low),
        (Some((low, high)), _) => format!("{} to {}", short(low), short(high)),
        (_, Some(range)) if range.min == range.max => range.min.to_string(),
        (_, Some(range)) => format!("{} to {}", range.min, range.max),
        (_, None) => "nothing".into(),
    };
    let distinct = channel.range.map_or_else(String::new, |range| grouped(u64::try_from(range.distinct).unwrap_or(0)));
    let there = channel.span.len();
    let bytes = match there < channel.size {
        true => (Role::Error, format!("{} cut", grouped(there))),
        false => (Role::Text, grouped(there)),
    };
    [depth, storage, (Role::Value, range), (Role::Text, distinct), bytes]
}

/// Bars of growing height, one a bin.
fn histogram(channel: &ChannelData, glyphs: &Glyphs) -> String {
    let most = channel.histogram.iter().copied().max().unwrap_or(0).max(1);
    let bar = |count: &u64| {
        // A value that occurs is seen, however rare it is.
        let eighths = (count.saturating_mul(8) / most).max(u64::from(*count > 0));
        glyphs.bars.get(crate::bytes::index(eighths)).copied().unwrap_or(" ")
    };
    channel.histogram.iter().map(bar).collect()
}

/// Draws the histogram of a channel with its axes, one bar a bin; gives the rows that it takes.
fn draw_histogram(channel: &ChannelData, canvas: &mut Canvas<'_>) -> u16 {
    let bins = u16::try_from(channel.histogram.len()).unwrap_or(16);
    let most = channel.histogram.iter().copied().max().unwrap_or(0);
    let count = grouped(most);
    let left = u16::try_from(count.width()).unwrap_or(8).max(3) + 1;
    let wide = (canvas.width().saturating_sub(left + 1) / bins).min(4);
    if most == 0 || wide == 0 || canvas.height() < 4 {
        return 0;
    }
    let glyphs = canvas.glyphs;
    let rows = canvas.height() - 2;
    canvas.put_right(left - 1, 0, &count, Role::Dim);
    canvas.put_right(left - 1, rows - 1, "0", Role::Dim);
    for (bin, count) in (0u16..).zip(&channel.histogram) {
        let eighths =
            count.saturating_mul(u64::from(rows) * 8).checked_div(most).unwrap_or(0).max(u64::from(*count > 0));
        for row in 0..rows {
            let here = eighths.saturating_sub(u64::from(rows - 1 - row) * 8).min(8);
            let glyph = glyphs.bars.get(crate::bytes::index(here)).copied().unwrap_or(" ");
            // A gap between bars where there is room for one.
            let bar = glyph.repeat(usize::from(if wide > 1 { wide - 1 } else { 1 }));
            canvas.put(left + 1 + bin * wide, row, &bar, Role::Block);
        }
    }
    let [wall, floor, corner] = if glyphs.ascii { ["|", "-", "+"] } else { ["│", "─", "└"] };
    (0..rows).for_each(|row| {
        canvas.put(left, row, wall, Role::Border);
    });
    canvas.put(left, rows, &format!("{corner}{}", floor.repeat(usize::from(bins * wide))), Role::Border);
    let ends = match (channel.distances, channel.range) {
        (Some((low, high)), _) => [short(low), short(high)],
        (None, Some(range)) => [range.min.to_string(), range.max.to_string()],
        (None, None) => [String::new(), String::new()],
    };
    let [low, high] = &ends;
    canvas.put(left + 1, rows + 1, low, Role::Value);
    if low != high {
        canvas.put_right(left + 1 + bins * wide, rows + 1, high, Role::Value);
        let words = format!("{}: value", channel.name);
        let middle = left + 1 + (bins * wide).saturating_sub(u16::try_from(words.width()).unwrap_or(0)) / 2;
        if usize::from(bins * wide) > low.width() + high.width() + words.width() + 4 {
            canvas.put(middle, rows + 1, &words, Role::Dim);
        }
    }
    rows + 2
}

/// The most frequent types of a channel, where one of them has a name.
fn types_in_words(channel: &ChannelData, names: &Palette) -> Option<String> {
    let voxels = channel.histogram.iter().sum::<u64>().max(1);
    channel.types.iter().find(|(value, _)| names.name(*value).is_some())?;
    let words = channel.types.iter().take(MAX_TYPES).map(|(value, count)| {
        let name = names.name(*value).map_or_else(String::new, |name| format!(" {name}"));
        format!("{value}{name} {}", percent((*count as f64 / voxels as f64) as f32))
    });
    let distinct = channel.range.map_or(0, |range| range.distinct);
    let more = distinct.checked_sub(MAX_TYPES + 1).map(|n| format!(", and {} more", grouped(n as u64 + 1)));
    Some(words.collect::<Vec<_>>().join(", ") + &more.unwrap_or_default())
}

/// More about the channel at the cursor.
fn details(block: &BlockData, channel: &ChannelData, names: &Palette) -> Vec<(Role, String)> {
    let mut out = Vec::new();
    out.extend(types_in_words(channel, names).map(|text| (Role::Text, text)));
    if let Some(declared) = channel.declared.filter(|declared| *declared != channel.bits) {
        let text = format!(
            "{}: the block stores {} bits a voxel, the region declares {declared}: they disagree.",
            channel.name, channel.bits
        );
        out.push((Role::Warning, text));
    }
    let there = channel.span.len();
    let cut = if there < channel.size { ", cut" } else { "" };
    let size = crate::printable::count(channel.size, "byte");
    let of = format!("{} of {size}{cut}, at {}", grouped(there), channel.span);
    let role = if cut.is_empty() { Role::Dim } else { Role::Error };
    out.push((role, format!("{}: {of} in the decompressed block.", channel.name)));
    if let (Some(range), Some(_)) = (channel.range, channel.distances) {
        out.push((
            Role::Dim,
            format!("Raw values {:#x} to {:#x}; the range is that of distances.", range.min, range.max),
        ));
    }
    if let Some(shape) = &block.shape {
        let [x, y, z] = shape.value.size;
        let text = format!(
            "Shape {x} x {y} x {z}, voxels of {}: {}, {}.",
            crate::printable::count(shape.value.voxel_bytes.into(), "byte"),
            shape.how.name(),
            shape.why
        );
        out.push((Role::Text, text));
        for other in shape.alternatives.iter().take(3) {
            let [x, y, z] = other.size;
            let bytes = crate::printable::count(other.voxel_bytes.into(), "byte");
            out.push((Role::Dim, format!("It could be {x} x {y} x {z} voxels of {bytes} as well.")));
        }
    }
    if let Some(order) = &block.chunk_order {
        let (name, how, why) = (order.value.name(), order.how.name(), order.why);
        out.push((Role::Text, format!("Order of voxels {name}, the last axis fastest: {how}, {why}.")));
    }
    out
}
