//! What colours and letters stand for, with how often they occur; flags can be switched on and off.

use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

use super::ink::{BANDS, Line, Look, Mode, value_look};
use super::scene::Scene;
use super::words;
use crate::tui::app::App;
use crate::tui::canvas::Canvas;
use crate::tui::data::plane::Plane;
use crate::tui::inspector::grouped;
use crate::tui::scroll::follow;
use crate::tui::theme::{Role, Theme};

/// The lines of the legend of flags, with how many voxels of the layer have them, when that is known.
fn lines(app: &App) -> Vec<(Line, Option<u64>)> {
    let counts = app.item_key().and_then(|key| app.counts.get(&key)).map(|report| &report.counts);
    let Some(counts) = counts else { return Line::all().map(|line| (line, None)).collect() };
    let count = |line: Line| match line {
        Line::Flag(flag) => counts.flags.get(usize::from(flag.bit)).copied().unwrap_or(0),
        Line::OpenWater => counts.open_water,
        Line::Unknown => counts.unknown,
    };
    Line::all().map(|line| (line, Some(count(line)))).filter(|(_, count)| *count > Some(0)).collect()
}

fn cursor(app: &App, lines: &[(Line, Option<u64>)]) -> usize {
    let wanted = app.panes.slice.line;
    lines.iter().position(|(line, _)| Some(*line) == wanted).unwrap_or(0)
}

/// The line before or after.
pub(super) fn step(app: &mut App, down: bool) {
    let lines = lines(app);
    let at = cursor(app, &lines);
    let to = if down { at.saturating_add(1) } else { at.saturating_sub(1) };
    if let Some((line, _)) = lines.get(to) {
        app.panes.slice.line = Some(*line);
    }
}

/// Switches the line under the cursor.
pub(super) fn toggle(app: &mut App) {
    let lines = lines(app);
    let Some((line, _)) = lines.get(cursor(app, &lines)) else { return };
    if Mode::of(app) != Mode::Flags {
        app.say("Flags are not shown now: m shows them.".into());
        return;
    }
    app.panes.slice.off ^= line.mask();
    let state = if app.panes.slice.off & line.mask() == 0 { "shown" } else { "not shown" };
    app.say(format!("{} is {state}.", line.names().0));
}

/// Switches everything on, or, when it is, off.
pub(super) fn toggle_all(app: &mut App) {
    app.panes.slice.off = if app.panes.slice.off == 0 { u32::MAX } else { 0 };
}

/// Where the lines of a legend stand: below its title, in as many columns as have room.
#[derive(Clone, Copy)]
struct Grid {
    columns: u16,
    width: u16,
    rows: u16,
}

impl Grid {
    fn new(width: u16, height: u16) -> Self {
        let columns = (width / 28).max(1);
        Self { columns, width: width / columns, rows: height.saturating_sub(1) }
    }

    fn seen(self) -> usize {
        usize::from(self.rows) * usize::from(self.columns)
    }

    /// Left, top and width of a line, counted from the first that is seen.
    fn place(self, line: usize) -> [u16; 3] {
        let rows = usize::from(self.rows).max(1);
        let small = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        let gap = if self.columns > 1 { 2 } else { 0 };
        [small(line / rows).saturating_mul(self.width), small(line % rows) + 1, self.width.saturating_sub(gap)]
    }

    /// The line at a place.
    fn line(self, x: u16, y: u16) -> Option<usize> {
        let row = y.checked_sub(1).filter(|row| *row < self.rows)?;
        let column = (x / self.width.max(1)).min(self.columns.saturating_sub(1));
        Some(usize::from(column) * usize::from(self.rows) + usize::from(row))
    }
}

/// A click on a line of the legend.
pub(super) fn press(app: &mut App, scene: &Scene, x: u16, y: u16) {
    if Mode::of(app) != Mode::Flags {
        return;
    }
    let lines = lines(app);
    let Some([_, _, width, height]) = scene.legend else { return };
    let grid = Grid::new(width, height);
    let first = follow(0, cursor(app, &lines), grid.seen(), lines.len());
    if let Some((line, _)) = grid.line(x, y).and_then(|at| lines.get(first.saturating_add(at))) {
        app.panes.slice.line = Some(*line);
        toggle(app);
    }
}

/// Draws the legend.
pub(super) fn draw(app: &App, scene: &Scene, plane: &Plane, canvas: &mut Canvas<'_>) {
    let Some([left, top, width, height]) = scene.legend else { return };
    let look = Look::new(app, plane);
    let mut part = canvas.part(left, top, width, height);
    let letters = scene.raster.letters;
    let grid = Grid::new(width, height);
    match look.mode {
        Mode::Flags => flags(app, scene, &mut part, letters, grid),
        Mode::Values => values(&look, plane, &mut part, letters, grid),
        Mode::Distances => distances(&look, plane, &mut part, letters, grid),
    }
}

/// A sample of a colour, or its letter.
fn swatch(part: &mut Canvas<'_>, x: u16, y: u16, letters: bool, look: Option<(ratatui::style::Color, &'static str)>) {
    match look {
        None => {
            let dot = if letters { "." } else { "·" };
            part.put(x, y, dot, Role::Dim);
        }
        Some((_, letter)) if part.theme == Theme::Mono => {
            part.put(x, y, letter, Role::Text);
        }
        Some((color, letter)) => {
            part.put_styled(x, y, if letters { letter } else { "█" }, Style::new().fg(color));
        }
    }
}

fn flags(app: &App, scene: &Scene, part: &mut Canvas<'_>, letters: bool, grid: Grid) {
    let lines = lines(app);
    let at = cursor(app, &lines);
    let seen = grid.seen();
    let first = follow(0, at, seen, lines.len());
    let waiting = app.item_key().and_then(|key| app.counts.words(&key));
    let mut title = vec![(Role::Dim, "flags of the layer".to_owned())];
    if let Some(waiting) = waiting {
        title.push((Role::Dim, format!(", {waiting}")));
    } else if lines.len() > seen {
        title.push((Role::Dim, format!(", {} of {}", at + 1, lines.len())));
    }
    let pieces: Vec<(Role, &str)> = title.iter().map(|(role, text)| (*role, text.as_str())).collect();
    part.line(1, 0, &pieces);
    if lines.is_empty() {
        part.put(1, 1, "no voxel has any", Role::Dim);
        return;
    }
    let carried = words::flags_at(app, scene).unwrap_or(0);
    for (i, (line, count)) in lines.iter().enumerate().skip(first).take(seen) {
        let [x, y, width] = grid.place(i - first);
        let mut part = part.part(x, y, width, 1);
        let on = app.panes.slice.off & line.mask() == 0;
        let here = line.is_in(carried);
        let role = if here { Role::Strong } else { Role::Text };
        let glyphs = part.glyphs;
        part.put(0, 0, if here { glyphs.closed } else { " " }, Role::Key);
        part.put(1, 0, if on { "[x]" } else { "[ ]" }, if on { Role::Text } else { Role::Dim });
        swatch(&mut part, 5, 0, letters, Some(line.look()));
        let count = count.map(grouped).unwrap_or_default();
        let room = width.saturating_sub(8 + u16::try_from(count.len()).unwrap_or(0));
        let (name, chinese) = line.names();
        let both = format!("{name} {chinese}");
        let text = if both.width() <= usize::from(room) && !glyphs.ascii { &both } else { name };
        part.put_within(7, 0, room, text, role);
        part.put_right(width, 0, &count, role);
        if i == at {
            part.restyle(1, 0, 3, Role::Cursor);
        }
    }
}

fn values(look: &Look<'_>, plane: &Plane, part: &mut Canvas<'_>, letters: bool, grid: Grid) {
    let mut title = match plane.distinct {
        1 => "1 value in view".to_owned(),
        n => format!("{} values in view", grouped(n.try_into().unwrap_or(u64::MAX))),
    };
    if look.palette.is_some() {
        title.push_str(", palette");
    }
    part.put(0, 0, &title, Role::Dim);
    let faults = usize::from(plane.unreadable > 0);
    let seen = grid.seen();
    for (i, (value, count)) in plane.values.iter().enumerate().take(seen.saturating_sub(faults)) {
        let [x, y, width] = grid.place(i);
        let mut part = part.part(x, y, width, 1);
        swatch(&mut part, 0, 0, letters, value_look(*value, look.palette));
        let count = grouped((*count).into());
        let room = width.saturating_sub(3 + u16::try_from(count.len()).unwrap_or(0));
        part.put_within(2, 0, room, &format!("{value:#04x} {value}"), Role::Text);
        part.put_right(width, 0, &count, Role::Dim);
    }
    unreadable(plane, part, grid, plane.values.len().min(seen.saturating_sub(faults)));
}

/// What could not be read, behind the other lines.
fn unreadable(plane: &Plane, part: &mut Canvas<'_>, grid: Grid, line: usize) {
    if plane.unreadable > 0 {
        let [x, y, width] = grid.place(line);
        part.put_within(x, y, width, &format!("? unreadable {}", grouped(plane.unreadable.into())), Role::Error);
    }
}

fn distances(look: &Look<'_>, plane: &Plane, part: &mut Canvas<'_>, letters: bool, grid: Grid) {
    let title = match plane.distances {
        Some((low, high)) => format!("distances {low:.2} to {high:.2}"),
        None => "no distance in view".to_owned(),
    };
    part.put(0, 0, &title, Role::Dim);
    let [near, far] = look.limits;
    let bounds = [
        format!("below -{far:.2}"),
        format!("from -{far:.2}"),
        format!("from -{near:.2}"),
        format!("to {near:.2}"),
        format!("to {far:.2}"),
        format!("above {far:.2}"),
    ];
    for (i, ((name, color, letter), text)) in BANDS.into_iter().zip(bounds).enumerate().take(grid.seen()) {
        let [x, y, width] = grid.place(i);
        let mut part = part.part(x, y, width, 1);
        swatch(&mut part, 0, 0, letters, Some((color, letter)));
        part.put(2, 0, name, Role::Text);
        part.put_right(width, 0, &text, Role::Dim);
    }
    unreadable(plane, part, grid, BANDS.len());
}
