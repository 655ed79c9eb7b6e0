//! The pane on the screen: two pixels a cell, coordinates at the edges, a legend, a scale, a small map of everything.

use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use unicode_width::UnicodeWidthStr;

use super::image::{Areas, Image};
use super::view::View;
use crate::picture::color::{self, Rgb};
use crate::picture::legend::Entry;
use crate::picture::marks::Mark;
use crate::picture::{Layer, Look, Matter};
use crate::tui::App;
use crate::tui::canvas::Canvas;
use crate::tui::theme::{ColorMode, Role, Theme};

/// Letters from dark to bright.
const LETTERS: &[u8] = b".:-=+*oxOX#%@";

/// Draws the pane.
pub fn draw(app: &App, canvas: &mut Canvas<'_>) {
    if let Some(words) = super::words(app) {
        canvas.wrap(1, 1, &words, Role::Dim);
        return;
    }
    let state = &app.panes.world;
    let (Some(view), Some(image)) = (state.view, &state.image) else { return };
    let area = Rect { x: 0, y: 0, width: canvas.width(), height: canvas.height() };
    let areas = Areas::new(area, state.legend_rows);
    let pixels = [i64::from(areas.picture.width), i64::from(areas.picture.height) * 2];
    if !draws_pixels(app, &areas, canvas) {
        picture(app, image, &areas, canvas);
        cursor(app, view, pixels, &areas, canvas);
        overview(app, image, &areas, canvas);
        beyond(app, image, pixels, &areas, canvas);
    }
    edges(app, view, pixels, &areas, canvas);
    bottom(app, image, view, &areas, canvas);
}

/// Draws the picture in pixels, where the terminal draws them and they are there; true when it did.
#[cfg(feature = "graphics")]
fn draws_pixels(app: &App, areas: &Areas, canvas: &mut Canvas<'_>) -> bool {
    super::pixels::draw(app, areas.picture, canvas)
}

#[cfg(not(feature = "graphics"))]
const fn draws_pixels(_: &App, _: &Areas, _: &mut Canvas<'_>) -> bool {
    false
}

/// The colours that are used now.
pub fn mode(app: &App) -> ColorMode {
    if app.settings.theme == Theme::Mono { ColorMode::None } else { app.settings.colors }
}

/// A colour as the terminal has it.
fn shown(mode: ColorMode, color: Rgb) -> Color {
    match mode {
        ColorMode::True => Color::Rgb(color[0], color[1], color[2]),
        ColorMode::Indexed => Color::Indexed(color::to_256(color)),
        ColorMode::Sixteen | ColorMode::None => Color::Indexed(color::to_16(color)),
    }
}

fn picture(app: &App, image: &Image, areas: &Areas, canvas: &mut Canvas<'_>) {
    let mode = mode(app);
    let letters = mode == ColorMode::None || app.glyphs.ascii;
    for row in 0..areas.picture.height {
        for column in 0..areas.picture.width {
            let at = usize::from(row) * 2 * image.width + usize::from(column);
            let (upper, lower) = (image.marked(at), image.marked(at + image.width));
            let (x, y) = (areas.picture.x + column, areas.picture.y + row);
            if letters {
                let mark = image.marks.get(at).copied().flatten();
                let color = upper.or(lower);
                let letter = match (mark, color) {
                    (Some(mark), _) if mark.letter().is_ascii() => mark.letter(),
                    (_, Some(color)) => letter(color),
                    (_, None) => ' ',
                };
                let style = match color.filter(|_| mode != ColorMode::None) {
                    Some(color) => Style::new().fg(shown(mode, color)),
                    None => Style::new(),
                };
                canvas.put_styled(x, y, letter.encode_utf8(&mut [0; 4]), style);
                continue;
            }
            let (glyph, style) = match (upper, lower) {
                (None, None) => continue,
                (Some(upper), None) => ("▀", Style::new().fg(shown(mode, upper))),
                (None, Some(lower)) => ("▄", Style::new().fg(shown(mode, lower))),
                (Some(upper), Some(lower)) => ("▀", Style::new().fg(shown(mode, upper)).bg(shown(mode, lower))),
            };
            canvas.put_styled(x, y, glyph, style);
        }
    }
}

/// A letter for a colour, by how bright it is.
fn letter(color: Rgb) -> char {
    let at = (color::brightness(color) * LETTERS.len() as f32) as usize;
    LETTERS.get(at.min(LETTERS.len() - 1)).map_or('#', |byte| char::from(*byte))
}

/// The cursor: a cross on the cell, or brackets around a voxel that has several.
fn cursor(app: &App, view: View, pixels: [i64; 2], areas: &Areas, canvas: &mut Canvas<'_>) {
    let [x, y] = view.pixel(app.panes.world.place(), pixels);
    let (column, row) = (x, y.div_euclid(2));
    let width = view.magnified();
    let mut put = |column: i64, glyph: &str| {
        let (Ok(column), Ok(row)) = (u16::try_from(column), u16::try_from(row)) else { return };
        if column < areas.picture.width && row < areas.picture.height {
            let style = match mode(app) {
                ColorMode::None => Style::new().add_modifier(Modifier::REVERSED | Modifier::BOLD),
                _ => Style::new().fg(Color::White).bg(Color::Black).add_modifier(Modifier::BOLD),
            };
            canvas.put_styled(areas.picture.x + column, areas.picture.y + row, glyph, style);
        }
    };
    if width >= 3 {
        put(column, "[");
        put(column + width - 1, "]");
    } else {
        put(column, if app.glyphs.ascii { "+" } else { "◆" });
    }
}

/// Marks at the edges: there are blocks farther out.
fn beyond(app: &App, image: &Image, pixels: [i64; 2], areas: &Areas, canvas: &mut Canvas<'_>) {
    for [x, y] in &image.beyond {
        let glyph = match (app.glyphs.ascii, *x, *y) {
            (true, 0, _) => "<",
            (true, x, _) if x == pixels[0] - 1 => ">",
            (true, _, 0) => "^",
            (true, ..) => "v",
            (false, 0, _) => "◂",
            (false, x, _) if x == pixels[0] - 1 => "▸",
            (false, _, 0) => "▴",
            (false, ..) => "▾",
        };
        if let (Ok(column), Ok(row)) = (u16::try_from(*x), u16::try_from(y / 2)) {
            canvas.put(areas.picture.x + column, areas.picture.y + row, glyph, Role::Warning);
        }
    }
}

/// A distance between labels that is a power of two, as blocks are.
fn nice(least: i64) -> i64 {
    (0..46).map(|n| 1i64 << n).find(|n| *n >= least).unwrap_or(1 << 46)
}

/// Voxels of the world between two labels that are so many pixels apart.
fn spacing(view: View, pixels: i64) -> i64 {
    nice(view.voxels(pixels).max(1))
}

fn edges(app: &App, view: View, pixels: [i64; 2], areas: &Areas, canvas: &mut Canvas<'_>) {
    let seen = view.seen(pixels);
    let world = &app.panes.world;
    let [right, down] = world.axes().map(|axis| ["x", "y", "z"].get(axis).copied().unwrap_or(""));
    if areas.top.height > 0 {
        let title = title(app, view);
        let width = u16::try_from(title.width()).unwrap_or(u16::MAX).saturating_add(2);
        let has_title = width < areas.top.width;
        let room = if has_title { pixels[0] - i64::from(width) } else { pixels[0] };
        let every = spacing(view, 12);
        let mut label = seen[0][0].div_euclid(every) * every;
        let mut free = 0;
        while label < seen[1][0] {
            let at = view.pixel([label, seen[0][1]], pixels)[0];
            let text = if free == 0 { format!("{right} {label}") } else { label.to_string() };
            let width = i64::try_from(text.width()).unwrap_or(0);
            if at >= free && at + width <= room {
                canvas.put(areas.top.x + u16::try_from(at).unwrap_or(0), areas.top.y, &text, Role::Dim);
                free = at + width + 2;
            }
            label = label.saturating_add(every);
        }
        if has_title {
            canvas.put_right(areas.top.x + areas.top.width, areas.top.y, &format!("  {title}"), Role::Text);
        }
    }
    if areas.left.width > 0 {
        let every = spacing(view, 10);
        let mut label = seen[0][1].div_euclid(every) * every;
        while label < seen[1][1] {
            let row = view.pixel([seen[0][0], label], pixels)[1].div_euclid(2);
            if let Ok(row) = u16::try_from(row)
                && row < areas.left.height
            {
                let text = if row < 3 && !view.rises { format!("{down} {label}") } else { label.to_string() };
                canvas.put_right(areas.left.width - 1, areas.left.y + row, &text, Role::Dim);
            }
            label = label.saturating_add(every);
        }
    }
}

/// What is shown, in a few words.
fn title(app: &App, view: View) -> String {
    let world = &app.panes.world;
    let dot = app.glyphs.dot;
    let Some(ready) = super::ready(app) else { return String::new() };
    let layer = world.layer(ready);
    let mut parts = vec![world.look.name().to_owned()];
    match layer {
        Layer::Top(Matter::Channel(channel)) => {
            parts.extend(crate::godot::channel::NAMES.get(channel).map(|n| (*n).to_owned()));
        }
        Layer::Cut { axis, at, channel } => {
            let name = ["x", "y", "z"].get(usize::from(axis)).copied().unwrap_or("y");
            parts.push(format!("{name} = {at}"));
            if ready.source.has_channels() {
                parts.extend(crate::godot::channel::NAMES.get(usize::from(channel)).map(|n| (*n).to_owned()));
            }
        }
        _ => {}
    }
    if let Some(grid) = super::load::grids(&ready.source, layer, view.step()).first()
        && layer != Layer::Coverage
    {
        parts.push(format!("LOD {}", grid.lod));
    }
    if world.look == Look::Repair && !crate::tui::panes::repair::has_plan(app) {
        parts.push("planning".to_owned());
    } else if !world.complete {
        parts.push("refining".to_owned());
    }
    parts.join(dot)
}

/// What the legend lists: the marks that are seen, then what the colours mean.
fn entries(image: &Image) -> Vec<Entry> {
    let counts = image.counts.iter().filter(|_| !image.marks.is_empty());
    // The colours of a difference are those of voxels.
    let blocks = if image.look() == Look::Difference { "blocks " } else { "" };
    let words = |mark: &Mark, n| format!("{} {blocks}{} {n}", mark.letter(), mark.words());
    let marks = counts.map(|(mark, n)| Entry::plain(mark.color(), words(mark, n)));
    marks.chain(image.legend.iter().cloned()).collect()
}

/// Columns that an entry takes.
fn entry_width(entry: &Entry) -> u16 {
    let width = match entry {
        Entry::Color { text, share, .. } => text.width() + 2 + share.map_or(0, |share| share_text(share).width()),
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

fn share_text(share: f32) -> String {
    if share < 0.01 { " <1 %".to_owned() } else { format!(" {:.0} %", share * 100.0) }
}

/// The most rows of a legend; what has no place in them is counted.
const LEGEND_ROWS: u16 = 3;

/// Columns that a count of entries without a place takes.
const REST: u16 = 13;

/// The places of the entries, and how many values have none: rows from the left, the last one ends before the scale.
fn arrange(entries: &[Entry], width: u16, scale: u16, rows: u16) -> (Vec<[u16; 2]>, usize) {
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
            return (out, entries.iter().skip(number).map(Entry::values).sum());
        }
        out.push([x, y]);
        x = x.saturating_add(wide).saturating_add(2);
    }
    (out, 0)
}

/// Columns of the scale.
fn scale_width(app: &App, view: View) -> u16 {
    u16::try_from(scale_bar(app, view).width()).unwrap_or(0) + 1
}

/// Rows that the legend of a picture takes: rare values get no row of their own.
pub fn legend_rows(app: &App, image: &Image, view: View) -> u16 {
    let entries: Vec<Entry> = entries(image).into_iter().filter(|entry| !entry.is_rare()).collect();
    let width = app.pane_inside().width;
    let scale = scale_width(app, view);
    (1..LEGEND_ROWS).find(|rows| arrange(&entries, width, scale, *rows).1 == 0).unwrap_or(LEGEND_ROWS)
}

fn bottom(app: &App, image: &Image, view: View, areas: &Areas, canvas: &mut Canvas<'_>) {
    let Rect { y: top, width, height: rows, .. } = areas.bottom;
    if rows == 0 {
        return;
    }
    let scale = scale_width(app, view);
    if scale + 2 < width {
        canvas.put_right(width, top + rows - 1, &scale_bar(app, view), Role::Dim);
    }
    let entries = entries(image);
    let (places, rest) = arrange(&entries, width, scale, rows);
    let mut end = [1, 0];
    let spot = app.panes.world.spot.and_then(|at| entries.iter().filter_map(Entry::key).nth(at));
    for (entry, [x, y]) in entries.iter().zip(places) {
        let is_spot = spot.is_some() && entry.key() == spot;
        end = [draw_entry(app, entry, is_spot, x, top + y, canvas) + 2, y];
    }
    if rest > 0 {
        canvas.put(end[0], top + end[1], &more(rest), Role::Dim);
    }
}

/// A square in a colour, as legends have; gives the column after it.
pub fn swatch(app: &App, x: u16, y: u16, color: Rgb, canvas: &mut Canvas<'_>) -> u16 {
    let mode = mode(app);
    // What is as dark as the screen is seen by its edge.
    if mode != ColorMode::None && color::brightness(color) < 0.12 {
        return canvas.put(x, y, "□", Role::Dim);
    }
    let style = if mode == ColorMode::None { Style::new() } else { Style::new().fg(shown(mode, color)) };
    canvas.put_styled(x, y, "■", style)
}

fn draw_entry(app: &App, entry: &Entry, is_spot: bool, x: u16, y: u16, canvas: &mut Canvas<'_>) -> u16 {
    let mode = mode(app);
    let plain = app.glyphs.ascii || mode == ColorMode::None;
    let swatch = |x: u16, color: Rgb, glyph: &str, canvas: &mut Canvas<'_>| {
        let text = if plain { letter(color).to_string() } else { glyph.to_owned() };
        let style = if mode == ColorMode::None { Style::new() } else { Style::new().fg(shown(mode, color)) };
        canvas.put_styled(x, y, &text, style)
    };
    match entry {
        Entry::Color { color, text, share, .. } => {
            let x = if plain { swatch(x, *color, "", canvas) } else { self::swatch(app, x, y, *color, canvas) };
            let x = canvas.put(x, y, &format!(" {text}"), if is_spot { Role::Selected } else { Role::Text });
            canvas.put(x, y, &share.map_or_else(String::new, share_text), Role::Dim)
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

/// A small map of everything in the corner, with the part that is seen.
fn overview(app: &App, image: &Image, areas: &Areas, canvas: &mut Canvas<'_>) {
    let Some(overview) = &image.overview else { return };
    let (width, height) = (overview.width, overview.height());
    let rows = height.div_ceil(2);
    let cell = |n: usize| u16::try_from(n).unwrap_or(0);
    let (w, h) = (cell(width) + 2, cell(rows) + 2);
    if w + 4 > areas.picture.width || h + 2 > areas.picture.height {
        return;
    }
    let mut part = canvas.part(areas.picture.x + areas.picture.width - w, areas.picture.y, w, h);
    part.clear();
    let mut inside = part.frame(&[], false);
    let mode = mode(app);
    for row in 0..rows {
        for column in 0..width {
            let (upper, lower) = (overview.color(column, row * 2), overview.color(column, row * 2 + 1));
            let (x, y) = (cell(column), cell(row));
            if app.glyphs.ascii || mode == ColorMode::None {
                let letter = upper.or(lower).map_or(" ", |color| if color[2] == 90 { "#" } else { "." });
                inside.put(x, y, letter, Role::Text);
                continue;
            }
            let (glyph, style) = match (upper, lower) {
                (None, None) => continue,
                (Some(upper), None) => ("▀", Style::new().fg(shown(mode, upper))),
                (None, Some(lower)) => ("▄", Style::new().fg(shown(mode, lower))),
                (Some(upper), Some(lower)) => ("▀", Style::new().fg(shown(mode, upper)).bg(shown(mode, lower))),
            };
            inside.put_styled(x, y, glyph, style);
        }
    }
}
