//! How bytes are drawn: their offset, their digits, their characters, each class of byte in its own colour and column.

use super::rows::{HexRow, Rows};
use super::{ByteSource, byte_source, columns, damage, field, rows, window};
use crate::bytes::Span;
use crate::damage::Level;
use crate::tui::App;
use crate::tui::canvas::Canvas;
use crate::tui::data::{Part, Slot};
use crate::tui::theme::{Role, level_role};

/// Columns of the offset, with the mark before it and the space behind it. An offset that is longer pushes nothing aside:
/// its first digits are cut.
const OFFSET: u16 = 10;

/// Draws the pane.
pub fn draw(app: &App, canvas: &mut Canvas<'_>) {
    if super::super::draw_item_placeholder(app, canvas) {
        return;
    }
    let Some(shown) = byte_source(app) else { return };
    let state = &app.panes.hex;
    let columns = columns(canvas.width());
    let rows = rows(canvas.height());
    heading(app, &shown, canvas);
    let all = super::byte_count(app);
    if all == 0 {
        canvas.put(1, 1, "There is no byte here.", Role::Dim);
        return;
    }
    let Some(window) = window(app) else {
        canvas.put(1, 1, "Reading.", Role::Dim);
        return;
    };
    let damage = damage(app);
    let under = field(app);
    let selected = app.selection.bytes.filter(|bytes| bytes.space == state.space && bytes.part == state.part);
    let all_rows = Rows { window, len: all, columns, cursor: state.cursor / columns };
    for (y, row) in (1u16..).zip(all_rows.lines(state.line, crate::bytes::index(rows))) {
        let start = row.start();
        if let HexRow::Equal(_, count) = row {
            let text = format!("{:>8}  {count} equal row{}", "*", if count == 1 { "" } else { "s" });
            canvas.put(1, y, &text, Role::Dim);
            continue;
        }
        let line = Span::sized(start, columns);
        let worst = damage.iter().filter(|d| touches(d.span, line)).map(|d| d.code.level()).max();
        let mark = worst.filter(|level| *level > Level::Note).map_or(" ", |level| app.glyphs.level(Some(level)));
        canvas.put(0, y, mark, level_role(worst));
        canvas.put(1, y, &format!("{:08x}", start & 0xffff_ffff), Role::Dim);
        for column in 0..columns {
            let at = start + column;
            let Some([byte]) = window.get(at, 1) else { break };
            let damaged = damage.iter().any(|d| touches(d.span, Span::sized(at, 1)) && d.code.level() > Level::Note);
            let role = if damaged { Role::Error } else { class(*byte) };
            let x = digits_at(column);
            let text = characters_at(columns, column);
            canvas.put(x, y, &format!("{byte:02x}"), role);
            canvas.put(text, y, &character(*byte, app.glyphs.ascii), role);
            if under.as_ref().is_some_and(|field| holds(field.span, at)) {
                // The gap to the next byte of the field belongs to it.
                let next = column + 1 < columns && under.as_ref().is_some_and(|field| holds(field.span, at + 1));
                let wide = if next { digits_at(column + 1) - x } else { 2 };
                canvas.restyle(x, y, wide, Role::Field);
                canvas.restyle(text, y, 1, Role::Field);
            }
            if damaged {
                canvas.underline(x, y, 2);
                canvas.underline(text, y, 1);
            }
            if selected.is_some_and(|bytes| bytes.span.len() > 1 && holds(bytes.span, at)) {
                canvas.restyle(x, y, 2, Role::Selected);
            }
            if at == state.cursor {
                canvas.restyle(x, y, 2, Role::Cursor);
                canvas.restyle(text, y, 1, Role::Cursor);
            }
        }
    }
    if canvas.height() > 8 {
        footer(app, canvas);
    }
}

fn touches(a: Span, b: Span) -> bool {
    // Damage of no bytes is at the place where they are missing.
    a.start < b.end && b.start < a.end.max(a.start + 1)
}

const fn holds(span: Span, at: u64) -> bool {
    span.start <= at && at < span.end
}

const fn class(byte: u8) -> Role {
    match byte {
        0 => Role::Zero,
        0x20..=0x7e => Role::Printable,
        1..=0x7f => Role::Control,
        0x80.. => Role::High,
    }
}

/// A byte as one character: letters as they are, others by their class.
fn character(byte: u8, ascii: bool) -> String {
    match byte {
        0x20..=0x7e => char::from(byte).to_string(),
        _ if ascii => ".".into(),
        0 => "·".into(),
        1..=0x7f => "•".into(),
        0x80.. => "×".into(),
    }
}

/// The column of a byte's digits: a gap after every eight.
fn digits_at(column: u64) -> u16 {
    OFFSET + u16::try_from(column * 3 + column / 8).unwrap_or(0)
}

fn characters_at(columns: u64, column: u64) -> u16 {
    digits_at(columns.saturating_sub(1)) + 3 + u16::try_from(column).unwrap_or(0)
}

/// Columns of a row with so many bytes.
pub fn width(columns: u64) -> u16 {
    characters_at(columns, columns)
}

/// The byte of a row whose digits or character are at a column of the screen.
pub fn column_at(columns: u64, x: u16) -> Option<u64> {
    (0..columns).find(|&column| {
        let digits = digits_at(column);
        (digits..digits + 2).contains(&x) || x == characters_at(columns, column)
    })
}

fn heading(app: &App, shown: &ByteSource<'_>, canvas: &mut Canvas<'_>) {
    let state = &app.panes.hex;
    let what = match shown {
        ByteSource::Block(_) => "decompressed block",
        ByteSource::File(opened) => match (opened.grid().is_some(), state.part) {
            (false, _) => "file",
            (true, Part::Data | Part::Map) => "voxels",
            (true, Part::Index) => "index",
            (true, Part::Depth) => "depths",
        },
    };
    let all = super::byte_count(app);
    let dot = app.glyphs.dot;
    let place = format!(" {:#x} of {all:#x}{dot}{what}", state.cursor);
    let mut x = canvas.put(0, 0, &place, Role::Strong);
    let has_sectors = app.opened_item().is_none_or(|opened| opened.has_sectors());
    if let (ByteSource::File(_), Some(sector)) = (shown, app.selection.sector.filter(|_| has_sectors)) {
        let name = app.opened_item().map_or_else(|| format!("sector {sector}"), |opened| opened.sector_name(sector));
        x = canvas.put(x, 0, &format!("{dot}{name}"), Role::Dim);
    }
    // The selected block may be found at other sectors than its entry covers.
    let is_here = |slot: &Slot| match (shown, app.selection.sector.filter(|_| has_sectors)) {
        (ByteSource::File(_), Some(sector)) => slot.has_sector(sector),
        _ => true,
    };
    if let Some(slot) = app.selected_slot().filter(is_here) {
        let at = slot.position.map_or_else(|| slot.slot.to_string(), crate::printable::triple);
        canvas.put(x, 0, &format!("{dot}block {at}"), Role::Dim);
    }
}

/// The field under the cursor, and what is wrong there.
fn footer(app: &App, canvas: &mut Canvas<'_>) {
    let y = canvas.height().saturating_sub(3);
    let at = app.panes.hex.cursor;
    match field(app) {
        Some(field) => {
            let x = canvas.line(
                1,
                y,
                &[(Role::Strong, &field.name), (Role::Dim, "  "), (Role::Dim, &field.span.to_string())],
            );
            let width = canvas.width().saturating_sub(x + 3);
            if x + 2 + 12 < canvas.width() || field.value.len() < usize::from(width) {
                canvas.put_within(x + 2, y, width, &field.value, Role::Value);
            }
        }
        None => {
            canvas.put(1, y, "no field that is known", Role::Dim);
        }
    }
    let damage = damage(app);
    if let Some(damage) = damage.iter().find(|damage| touches(damage.span, Span::sized(at, 1))) {
        let level = Some(damage.code.level());
        let text = format!("{} {}: {damage}.", app.glyphs.level(level), damage.code.name());
        canvas.wrap(1, y + 1, &text, level_role(level));
    }
}
