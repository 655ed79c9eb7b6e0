//! What colours and letters stand for, with how often they occur; flags can be switched on and off.

use ratatui::style::Style;

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

/// A click on a line of the legend.
pub(super) fn press(app: &mut App, scene: &Scene, y: u16) {
    if Mode::of(app) != Mode::Flags {
        return;
    }
    let lines = lines(app);
    let (Some(row), Some([.., height])) = (y.checked_sub(1), scene.legend) else { return };
    let first = follow(0, cursor(app, &lines), usize::from(height.saturating_sub(1)), lines.len());
    if let Some((line, _)) = lines.get(first.saturating_add(row.into())) {
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
    match look.mode {
        Mode::Flags => flags(app, scene, &mut part, letters),
        Mode::Values => values(&look, plane, &mut part, letters),
        Mode::Distances => distances(&look, plane, &mut part, letters),
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

fn flags(app: &App, scene: &Scene, part: &mut Canvas<'_>, letters: bool) {
    let lines = lines(app);
    let at = cursor(app, &lines);
    let waiting = app.item_key().and_then(|key| app.counts.words(&key));
    part.put(1, 0, "flags of the layer", Role::Dim);
    if let Some(waiting) = waiting {
        let end = part.width();
        part.put_right(end, 0, &waiting, Role::Dim);
    }
    if lines.is_empty() {
        part.put(1, 1, "no voxel has any", Role::Dim);
        return;
    }
    let seen = usize::from(part.height().saturating_sub(1));
    let first = follow(0, at, seen, lines.len());
    let carried = words::flags_at(app, scene).unwrap_or(0);
    for (i, (line, count)) in lines.iter().enumerate().skip(first).take(seen) {
        let y = u16::try_from(i - first).unwrap_or(u16::MAX).saturating_add(1);
        let on = app.panes.slice.off & line.mask() == 0;
        let here = line.is_in(carried);
        let role = if here { Role::Strong } else { Role::Text };
        let glyphs = part.glyphs;
        part.put(0, y, if here { glyphs.closed } else { " " }, Role::Key);
        part.put(1, y, if on { "[x]" } else { "[ ]" }, if on { Role::Text } else { Role::Dim });
        swatch(part, 5, y, letters, Some(line.look()));
        let count = count.map(grouped).unwrap_or_default();
        let end = part.width();
        let room = end.saturating_sub(8 + u16::try_from(count.len()).unwrap_or(0));
        let (name, chinese) = line.names();
        let wide = part.width() >= 36 && !glyphs.ascii;
        let text = if wide { format!("{name} {chinese}") } else { name.to_owned() };
        part.put_within(7, y, room, &text, role);
        part.put_right(end, y, &count, role);
        if i == at {
            part.restyle(1, y, 3, Role::Cursor);
        }
    }
    if lines.len() > seen {
        // The counts stand where the bar would be: what is cut is said in the first line instead.
        let text = format!("{} of {}", at + 1, lines.len());
        let end = part.width();
        part.put_right(end, 0, &text, Role::Dim);
    }
}

/// What could not be read, in the last line.
fn unreadable(plane: &Plane, part: &mut Canvas<'_>) {
    if plane.unreadable > 0 {
        let y = part.height().saturating_sub(1);
        part.line(
            0,
            y,
            &[(Role::Error, "? "), (Role::Error, &grouped(plane.unreadable.into())), (Role::Error, " unreadable")],
        );
    }
}

fn values(look: &Look<'_>, plane: &Plane, part: &mut Canvas<'_>, letters: bool) {
    let title = match plane.distinct {
        1 => "1 value in view".to_owned(),
        n => format!("{} values in view", grouped(n.try_into().unwrap_or(u64::MAX))),
    };
    part.put(0, 0, &title, Role::Dim);
    let seen = usize::from(part.height().saturating_sub(1 + u16::from(plane.unreadable > 0)));
    for (y, (value, count)) in (1u16..).zip(plane.values.iter().take(seen)) {
        swatch(part, 0, y, letters, value_look(*value, look.palette));
        let count = grouped((*count).into());
        let end = part.width();
        let room = end.saturating_sub(3 + u16::try_from(count.len()).unwrap_or(0));
        part.put_within(2, y, room, &format!("{value:#04x} {value}"), Role::Text);
        part.put_right(end, y, &count, Role::Dim);
    }
    unreadable(plane, part);
}

fn distances(look: &Look<'_>, plane: &Plane, part: &mut Canvas<'_>, letters: bool) {
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
    for (y, ((name, color, letter), text)) in (1u16..).zip(BANDS.into_iter().zip(bounds)) {
        if y >= part.height() {
            break;
        }
        swatch(part, 0, y, letters, Some((color, letter)));
        part.put(2, y, name, Role::Text);
        let end = part.width();
        part.put_right(end, y, &text, Role::Dim);
    }
    unreadable(plane, part);
}
