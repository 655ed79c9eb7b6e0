//! What the colours and the marks of the picture mean: below it or beside it.

use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

use super::draw::{letter, mode, shown, spacing};
use super::image::Image;
use super::view::View;
use crate::picture::Look;
use crate::picture::color::{self, Rgb, Scale};
use crate::picture::legend::Entry;
use crate::tui::App;
use crate::tui::canvas::Canvas;
use crate::tui::numbers::percent;
use crate::tui::theme::{ColorMode, Role};
use crate::tui::wrap::wrap;

/// What the legend lists: the marks that are seen, the blocks that are not drawn, then what the colours mean.
fn entries(app: &App, image: &Image) -> Vec<Entry> {
    let counts = image.counts.iter().filter(|_| !image.marks.is_empty());
    // The colours of a difference are those of voxels.
    let blocks = if image.look() == Look::Difference { "blocks " } else { "" };
    let marks = counts.map(|(mark, n)| Entry::Mark(*mark, format!("{blocks}{} {n}", mark.words())));
    let unowned = super::unowned_words(app).map(Entry::Words);
    marks.chain(unowned).chain(image.legend.iter().cloned()).collect()
}

/// Columns that an entry takes.
fn entry_width(entry: &Entry) -> u16 {
    let width = match entry {
        Entry::Color { text, share, .. } => text.width() + 2 + share.map_or(0, |share| share_text(share).width()),
        Entry::Mark(_, text) => text.width() + 4,
        Entry::Scale(_, low, high) => low.width() + high.width() + 14,
        Entry::Words(text) => text.width(),
        Entry::More(count) => more(*count).width(),
    };
    u16::try_from(width).unwrap_or(u16::MAX)
}

/// Words about values that are not listed.
fn more(count: usize) -> String {
    format!("and {count} more")
}

/// Words about what has no place, behind the entries that have one.
fn rest_words(entries: &[Entry], placed: usize) -> String {
    let (before, after) = entries.split_at(placed.min(entries.len()));
    let rest = after.iter().map(Entry::values).sum();
    // Without a value before it, it would seem to count marks.
    let has_value = before.iter().any(|entry| matches!(entry, Entry::Color { .. }));
    if has_value { more(rest) } else { crate::printable::count(rest as u64, "value") }
}

fn share_text(share: f32) -> String {
    format!(" {}", percent(share))
}

/// The most rows of a legend; what has no place in them is counted.
const LEGEND_ROWS: u16 = 3;

/// Rows of the pane from which on the legend also has rows for rare values.
const ROWS_OF_LARGE: u16 = 40;

/// Columns that a count of entries without a place takes.
const REST: u16 = 13;

/// The places of the entries that have one: rows from the left, the last one ends before the scale.
fn arrange(entries: &[Entry], width: u16, scale: u16, rows: u16) -> Vec<[u16; 2]> {
    let mut out = Vec::new();
    let (mut x, mut y) = (1u16, 0u16);
    for (number, entry) in entries.iter().enumerate() {
        let wide = entry_width(entry);
        let is_last = number + 1 == entries.len();
        let end = |y: u16| if y + 1 == rows { width.saturating_sub(scale + 1) } else { width };
        let rest = |y: u16| if y + 1 == rows && !is_last { REST } else { 0 };
        if x > 1 && x.saturating_add(wide).saturating_add(rest(y)) > end(y) && y + 1 < rows {
            (x, y) = (1, y + 1);
        }
        if x.saturating_add(wide).saturating_add(rest(y)) > end(y) {
            break;
        }
        out.push([x, y]);
        x = x.saturating_add(wide).saturating_add(2);
    }
    out
}

/// Columns of the scale.
fn scale_width(app: &App, view: View) -> u16 {
    u16::try_from(scale_bar(app, view).width()).unwrap_or(0) + 1
}

/// Rows that the legend of a picture takes below it: on small screens, rare values are only counted.
pub fn rows(app: &App, image: &Image, view: View) -> u16 {
    let Rect { width, height, .. } = app.pane_inside();
    let mut entries = entries(app, image);
    let all = entries.iter().map(Entry::values).sum::<usize>();
    if height < ROWS_OF_LARGE {
        entries.retain(|entry| !entry.is_rare());
    }
    let rare = all - entries.iter().map(Entry::values).sum::<usize>();
    entries.extend((rare > 0).then_some(Entry::More(rare)));
    let scale = scale_width(app, view);
    let fits = |rows: &u16| arrange(&entries, width, scale, *rows).len() == entries.len();
    (1..LEGEND_ROWS).find(fits).unwrap_or(LEGEND_ROWS)
}

/// The key of the highlighted line.
fn spot(app: &App, entries: &[Entry]) -> Option<u32> {
    app.panes.world.spot.and_then(|at| entries.iter().filter_map(Entry::key).nth(at))
}

/// Draws the legend below the picture, with the scale at its right end.
pub fn below(app: &App, image: &Image, view: View, area: Rect, canvas: &mut Canvas<'_>) {
    let Rect { y: top, width, height: rows, .. } = area;
    if rows == 0 {
        return;
    }
    let entries = entries(app, image);
    // What the marks mean is said before how long a voxel is.
    let marks = image.counts.len() + usize::from(super::unowned_words(app).is_some());
    let marks = marks.min(entries.len());
    let mut scale = scale_width(app, view);
    if scale + 2 >= width || arrange(&entries, width, scale, rows).len() < marks {
        scale = 0;
    } else {
        canvas.put_right(width, top + rows - 1, &scale_bar(app, view), Role::Dim);
    }
    let places = arrange(&entries, width, scale, rows);
    let placed = places.len();
    let mut end = [1, 0];
    let spot = spot(app, &entries);
    for (entry, [x, y]) in entries.iter().zip(places) {
        let is_spot = spot.is_some() && entry.key() == spot;
        end = [draw_entry(app, entry, is_spot, x, top + y, canvas) + 2, y];
    }
    if placed < entries.len() {
        canvas.put(end[0], top + end[1], &rest_words(&entries, placed), Role::Dim);
    }
}

/// Rows of a scale that is drawn upright.
const UPRIGHT: u16 = 6;

/// Rows that an entry takes beside the picture; a scale takes fewer where there is less room.
fn rows_beside(entry: &Entry, width: u16, upright: u16) -> u16 {
    match entry {
        Entry::Scale(..) => upright,
        Entry::Words(text) => u16::try_from(wrap(text, usize::from(width)).len()).unwrap_or(1),
        Entry::Color { .. } | Entry::Mark(..) | Entry::More(_) => 1,
    }
}

/// Draws the legend beside the picture, a row an entry, with the scale at its end.
pub fn draw_beside(app: &App, image: &Image, view: View, area: Rect, canvas: &mut Canvas<'_>) {
    let mut part = canvas.part(area.x, area.y, area.width, area.height);
    let (width, height) = (part.width().saturating_sub(2), part.height());
    // A row stays empty above the scale.
    let room = height.saturating_sub(2);
    part.put(2, height.saturating_sub(1), &scale_bar(app, view), Role::Dim);
    let entries = entries(app, image);
    let spot = spot(app, &entries);
    let mut y = 0;
    let all = |upright| entries.iter().map(|entry| rows_beside(entry, width, upright)).fold(0, u16::saturating_add);
    let upright = UPRIGHT.saturating_sub(all(UPRIGHT).saturating_sub(room)).max(2);
    let mut left = all(upright);
    for (number, entry) in entries.iter().enumerate() {
        let rows = rows_beside(entry, width, upright);
        // Where not all of the rest fits, the last row counts what has no place.
        if left > room - y && rows >= room - y {
            part.put(2, y, &rest_words(&entries, number), Role::Dim);
            return;
        }
        match entry {
            Entry::Scale(scale, low, high) => {
                draw_upright(app, *scale, [low, high], &mut part.part(2, y, area.width, rows));
            }
            Entry::Words(text) => {
                part.part(2, y, width, rows).wrap(0, 0, text, Role::Dim);
            }
            _ => {
                let is_spot = spot.is_some() && entry.key() == spot;
                draw_entry(app, entry, is_spot, 2, y, &mut part);
            }
        }
        y += rows;
        left -= rows;
    }
}

/// Draws a scale upright, its high end on top.
fn draw_upright(app: &App, scale: Scale, [low, high]: [&str; 2], canvas: &mut Canvas<'_>) {
    let mode = mode(app);
    let rows = canvas.height();
    let steps = f32::from((rows * 2).saturating_sub(1).max(1));
    for row in 0..rows {
        let at = |half: u16| scale.at(1.0 - f32::from(row * 2 + half) / steps);
        let (text, style) = if mode == ColorMode::None || app.glyphs.ascii {
            let style = if mode == ColorMode::None { Style::new() } else { Style::new().fg(shown(mode, at(0))) };
            (letter(at(0)).to_string().repeat(2), style)
        } else {
            ("▀▀".to_owned(), Style::new().fg(shown(mode, at(0))).bg(shown(mode, at(1))))
        };
        canvas.put_styled(0, row, &text, style);
    }
    let width = canvas.width().saturating_sub(3);
    canvas.put_within(3, 0, width, high, Role::Text);
    canvas.put_within(3, rows.saturating_sub(1), width, low, Role::Text);
}

/// A square in a colour, as legends have; gives the column after it.
fn swatch(app: &App, x: u16, y: u16, color: Rgb, canvas: &mut Canvas<'_>) -> u16 {
    let mode = mode(app);
    // What is as dark as the screen is seen by its edge.
    if mode != ColorMode::None && color::brightness(color) < 0.12 {
        return canvas.put(x, y, "□", Role::Dim);
    }
    let style = if mode == ColorMode::None { Style::new() } else { Style::new().fg(shown(mode, color)) };
    canvas.put_styled(x, y, "■", style)
}

/// How a letter in a colour looks.
fn kind_style(mode: ColorMode, color: Rgb) -> Style {
    if mode == ColorMode::None { Style::new() } else { Style::new().fg(shown(mode, color)) }
}

fn draw_entry(app: &App, entry: &Entry, is_spot: bool, x: u16, y: u16, canvas: &mut Canvas<'_>) -> u16 {
    let mode = mode(app);
    let plain = app.glyphs.ascii || mode == ColorMode::None;
    let swatch = |x: u16, color: Rgb, glyph: &str, canvas: &mut Canvas<'_>| {
        let text = if plain { letter(color).to_string() } else { glyph.to_owned() };
        canvas.put_styled(x, y, &text, kind_style(mode, color))
    };
    match entry {
        // A picture in letters fills marked blocks with the letter of the mark.
        Entry::Mark(mark, text) if plain => {
            let style = if mode == ColorMode::None { Style::new() } else { Style::new().fg(shown(mode, mark.color())) };
            let x = canvas.put_styled(x, y, &mark.letter().to_string(), style);
            canvas.put(x, y, &format!(" {text}"), Role::Text)
        }
        Entry::Mark(mark, text) => {
            let x = self::swatch(app, x, y, mark.color(), canvas);
            let (room, text) = (canvas.width().saturating_sub(x), format!(" {} {text}", mark.letter()));
            canvas.put_within(x, y, room, &text, Role::Text);
            x + room.min(u16::try_from(text.width()).unwrap_or(u16::MAX))
        }
        Entry::Color { color, text, share, .. } => {
            // In a picture of letters, each kind has its own.
            let kind = app.panes.world.image.as_ref().and_then(|image| image.letter_of(entry)).filter(|_| plain);
            let x = match kind {
                Some(kind) => canvas.put_styled(x, y, kind.encode_utf8(&mut [0; 4]), kind_style(mode, *color)),
                None if plain => swatch(x, *color, "", canvas),
                None => self::swatch(app, x, y, *color, canvas),
            };
            let share = share.map_or_else(String::new, share_text);
            let room = canvas.width().saturating_sub(x + u16::try_from(share.width()).unwrap_or(0));
            let text = format!(" {text}");
            canvas.put_within(x, y, room, &text, if is_spot { Role::Selected } else { Role::Text });
            canvas.put(x + room.min(u16::try_from(text.width()).unwrap_or(u16::MAX)), y, &share, Role::Dim)
        }
        Entry::Scale(scale, low, high) => {
            let mut x = canvas.put(x, y, &format!("{low} "), Role::Text);
            for n in 0..12u8 {
                x = swatch(x, scale.at(f32::from(n) / 11.0), "█", canvas);
            }
            canvas.put(x, y, &format!(" {high}"), Role::Text)
        }
        Entry::Words(text) => canvas.put(x, y, text, Role::Dim),
        Entry::More(count) => canvas.put(x, y, &more(*count), Role::Dim),
    }
}

/// A line that is so many voxels long.
fn scale_bar(app: &App, view: View) -> String {
    let length = spacing(view, 8);
    let cells = view.length(length).clamp(2, 40);
    let text = format!(" {length} ");
    let unit = super::ready(app).is_some_and(|ready| ready.source.layer().is_some());
    let text = if unit { format!(" {length} cells ") } else { text };
    let line = usize::try_from(cells).unwrap_or(2).saturating_sub(text.width() + 2);
    let (h, left, right) = if app.glyphs.ascii { ("-", "|", "|") } else { ("─", "├", "┤") };
    let bar = format!("{left}{}{text}{}{right}", h.repeat(line / 2), h.repeat(line - line / 2));
    let north = if app.panes.world.look == Look::Cut {
        ""
    } else if app.glyphs.ascii {
        "  N^"
    } else {
        "  N ↑"
    };
    bar + north
}
