//! The pane on the screen: two pixels a cell, coordinates at the edges, a legend, a scale, a small map of everything.

use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use unicode_width::UnicodeWidthStr;

use super::image::{Areas, Image, LegendPlace};
use super::legend;
use super::sheets::side;
use super::view::View;
use crate::picture::color::{self, Rgb};
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
    let areas = Areas::new(area, state.legend);
    let pixels = areas.pixels();
    if !draws_pixels(app, &areas, canvas) {
        picture(app, image, &areas, canvas);
        letters(app, image, &areas, canvas);
        cursor(app, view, pixels, &areas, canvas);
        overview(app, image, &areas, canvas);
        beyond(app, image, pixels, &areas, canvas);
    }
    edges(app, view, pixels, &areas, canvas);
    match state.legend {
        LegendPlace::Below(_) => legend::below(app, image, view, areas.legend, canvas),
        LegendPlace::Beside => legend::draw_beside(app, image, view, areas.legend, canvas),
    }
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
pub fn shown(mode: ColorMode, color: Rgb) -> Color {
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
                let of_pixel = if upper.is_some() { at } else { at + image.width };
                let mark = image.marks.get(of_pixel).copied().flatten();
                let color = upper.or(lower);
                let letter = match (mark, color) {
                    (Some(mark), _) if mark.letter().is_ascii() => mark.letter(),
                    (_, Some(color)) => image.letter_at(of_pixel).unwrap_or_else(|| letter(color)),
                    (_, None) => ' ',
                };
                let style = match color.filter(|_| mode != ColorMode::None) {
                    Some(color) => Style::new().fg(shown(mode, color)),
                    None => Style::new(),
                };
                canvas.put_styled(x, y, letter.encode_utf8(&mut [0; 4]), style);
                continue;
            }
            half_blocks(mode, upper, lower, x, y, canvas);
        }
    }
}

/// Draws a cell of two pixels.
fn half_blocks(mode: ColorMode, upper: Option<Rgb>, lower: Option<Rgb>, x: u16, y: u16, canvas: &mut Canvas<'_>) {
    let (glyph, style) = match (upper, lower) {
        (None, None) => return,
        (Some(upper), None) => ("▀", Style::new().fg(shown(mode, upper))),
        (None, Some(lower)) => ("▄", Style::new().fg(shown(mode, lower))),
        (Some(upper), Some(lower)) => ("▀", Style::new().fg(shown(mode, upper)).bg(shown(mode, lower))),
    };
    canvas.put_styled(x, y, glyph, style);
}

/// The letters of the marks, which distinguish them without their colours.
fn letters(app: &App, image: &Image, areas: &Areas, canvas: &mut Canvas<'_>) {
    let mode = mode(app);
    if mode == ColorMode::None || app.glyphs.ascii {
        return;
    }
    for ([column, row], mark) in &image.letters {
        if let (Ok(column), Ok(row)) = (u16::try_from(*column), u16::try_from(*row)) {
            let style = Style::new().fg(Color::Black).bg(shown(mode, mark.color())).add_modifier(Modifier::BOLD);
            let letter = mark.letter().to_string();
            canvas.put_styled(areas.picture.x + column, areas.picture.y + row, &letter, style);
        }
    }
}

/// A letter for a colour, by how bright it is.
pub fn letter(color: Rgb) -> char {
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
pub fn spacing(view: View, pixels: i64) -> i64 {
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
        // A legend beside the picture leaves the title room beside the labels.
        let title_from = if has_title { i64::from(areas.top.width - width) } else { pixels[0] };
        let room = pixels[0].min(title_from);
        // Labels are as wide as the longest number, with the name of the axis before the first one.
        let widest = seen.iter().map(|corner| corner[0].to_string().len()).max().unwrap_or(0);
        let every = spacing(view, i64::try_from(widest).unwrap_or(0) + 4);
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
    let mut parts: Vec<String> = app.has_other().then(|| side(app).name().to_owned()).into_iter().collect();
    parts.push(world.look.name().to_owned());
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
    let [x, y] = [areas.picture.width - w, areas.picture.height - h];
    let [right, lower] = overview.corner.map(u16::from);
    let mut part = canvas.part(areas.picture.x + x * right, areas.picture.y + y * lower, w, h);
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
            half_blocks(mode, upper, lower, x, y, &mut inside);
        }
    }
}
