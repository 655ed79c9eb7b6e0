//! A block looked at in one of the places that it may belong to: its slice between those of its neighbours, with the
//! seam between them marked.

use std::sync::Arc;

use ratatui::style::Style;

use super::PlanKey;
use crate::godot::channel::NAMES;
use crate::printable::triple;
use crate::repair::Accepted;
use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::canvas::Canvas;
use crate::tui::data::faces::{Faces, Request};
use crate::tui::data::plane::Axis;
use crate::tui::data::preview::Line;
use crate::tui::data::{Cell, State};
use crate::tui::jobs::Kind;
use crate::tui::panes::raster::{self, Ink};
use crate::tui::panes::slice::ink::Look;
use crate::tui::theme::Role;

/// What is read: for which plan and file, which line, which candidate, which channel.
type FacesKey = (PlanKey, usize, usize, usize, Option<usize>);

/// What the view keeps.
#[derive(Debug, Default)]
pub(super) struct Keep {
    /// The line that is looked at, and the number of the candidate.
    pub at: Option<(usize, usize)>,
    axis: Option<Axis>,
    cut: Option<u32>,
    channel: Option<usize>,
    faces: Cell<FacesKey, Faces>,
}

/// The line that is looked at.
fn line(app: &App) -> Option<(&Line, usize, usize)> {
    let (number, candidate) = app.panes.repair.candidate.at?;
    let line = super::preview(app)?.lines.get(number)?;
    Some((line, number, candidate.min(line.candidates.len().saturating_sub(1))))
}

fn key(app: &App) -> Option<FacesKey> {
    let (_, number, candidate) = line(app)?;
    Some((super::key(app), app.selection.node, number, candidate, app.panes.repair.candidate.channel))
}

/// Whether a candidate is looked at.
pub(super) fn is_open(app: &App) -> bool {
    line(app).is_some()
}

/// Looks at the first candidate of a line; false when there is nothing to look at.
pub(super) fn open(app: &mut App, number: usize) -> bool {
    let can = super::preview(app).and_then(|preview| {
        preview.region?;
        preview.lines.get(number).map(|line| !line.pieces.is_empty() && !line.candidates.is_empty())
    });
    if can == Some(true) {
        app.panes.repair.candidate.at = Some((number, 0));
    }
    can == Some(true)
}

/// The axis and the cut that are shown, and how many cuts there are: where nothing was chosen, those in which there is most
/// to see, and rather a cut that is upright.
fn cut_of(keep: &Keep, faces: &Faces) -> (Axis, u32, u32) {
    let [x, y, z] = faces.best;
    let axis = keep.axis.unwrap_or_else(|| {
        let all = [(z.1, Axis::Z), (x.1, Axis::X), (y.1 / 4, Axis::Y)];
        all.into_iter().rev().max_by_key(|(n, _)| *n).map_or(Axis::Z, |(_, axis)| axis)
    });
    let depth = axis.of(faces.size).max(1);
    let (best, _) = axis.of(faces.best);
    (axis, keep.cut.unwrap_or(best).min(depth - 1), depth)
}

/// Does an action; true when it meant something here.
pub(super) fn act(app: &mut App, action: Action) -> bool {
    let Some((line, number, candidate)) = line(app) else { return false };
    let last = line.candidates.len().saturating_sub(1);
    let faces = key(app).and_then(|key| app.panes.repair.candidate.faces.get(&key).cloned());
    let keep = &mut app.panes.repair.candidate;
    let (_, cut, depth) = faces.as_ref().map_or((Axis::Z, 0, 1), |faces| cut_of(keep, faces));
    match action {
        Action::Close => keep.at = None,
        Action::Left | Action::Up => keep.at = Some((number, candidate.saturating_sub(1))),
        Action::Right | Action::Down => keep.at = Some((number, (candidate + 1).min(last))),
        Action::First => keep.at = Some((number, 0)),
        Action::Last => keep.at = Some((number, last)),
        Action::AxisX => (keep.axis, keep.cut) = (Some(Axis::X), None),
        Action::AxisY => (keep.axis, keep.cut) = (Some(Axis::Y), None),
        Action::AxisZ => (keep.axis, keep.cut) = (Some(Axis::Z), None),
        Action::CutDown => keep.cut = Some(cut.saturating_sub(1)),
        Action::CutUp => keep.cut = Some((cut + 1).min(depth - 1)),
        Action::Accept => {
            accept(app);
        }
        Action::NextChannel => {
            keep.channel = Some((keep.channel.or(faces.map(|faces| faces.channel)).unwrap_or(0) + 1) % NAMES.len());
        }
        _ => return false,
    }
    true
}

/// The block and the candidate that are looked at, as they are given to `repair`.
fn choice(app: &App) -> Option<Accepted> {
    let (line, _, candidate) = line(app)?;
    let (lod, file, sector) = line.place.clone()?;
    Some(Accepted { position: line.candidates.get(candidate)?.0, lod, file, sector })
}

/// Whether the block that is looked at can be put in a place by hand.
pub(super) fn can_accept(app: &App) -> bool {
    choice(app).is_some()
}

/// Accepts the candidate, or takes that back. Nothing is written: the command gets an argument.
fn accept(app: &mut App) {
    let Some(choice) = choice(app) else {
        app.say("This block has its place already: at the level that is shown, the repair writes it there.".into());
        return;
    };
    let list = &mut app.panes.repair.accepted;
    let had = list.contains(&choice);
    // A block has one place, and a place one block.
    let other = |a: &Accepted| (a.lod, &a.file, a.sector) != (choice.lod, &choice.file, choice.sector);
    list.retain(|a| other(a) && (a.lod, a.position) != (choice.lod, choice.position));
    if had {
        app.say("Taken back.".into());
    } else {
        let said = format!("Accepted: the command now has --accept {choice}. Y copies it.");
        list.push(choice);
        app.say(said);
    }
}

/// Asks for the voxels.
pub(super) fn want(app: &mut App) {
    let (Some(key), Some(index)) = (key(app), app.index.clone()) else { return };
    if !app.panes.repair.candidate.faces.want(&key) {
        return;
    }
    let plan = app.panes.repair.plan.get(&key.0).map(Arc::clone);
    let (Some(plan), Some(preview)) = (plan, super::preview(app).map(Arc::clone)) else { return };
    let (Some(region), Some(line)) = (preview.region, preview.lines.get(key.2)) else { return };
    let Some((position, _)) = line.candidates.get(key.3).copied() else { return };
    let save = Arc::clone(&index.save);
    let request = Request { plan, save, region, pieces: line.pieces.clone(), position, channel: key.4 };
    app.job(
        Kind::Faces,
        move |worker| {
            let faces = Faces::read(&request);
            worker.answer(move |app| app.panes.repair.candidate.faces.put(key, faces));
        },
        |app, why| app.panes.repair.candidate.faces.fail(why),
    );
}

/// Draws the view.
pub(super) fn draw(app: &App, canvas: &mut Canvas<'_>) {
    let (Some((line, _, candidate)), Some(key)) = (line(app), key(app)) else { return };
    let keep = &app.panes.repair.candidate;
    let Some((position, p)) = line.candidates.get(candidate).copied() else { return };
    let block = format!("block {}", triple(position));
    let head = if line.name == block {
        format!("{} in its place", super::capital(&block))
    } else {
        format!("{} as {block}", super::capital(&line.name))
    };
    let likely = format!("{}{:.1} % likely", app.glyphs.dot, (p * 100.0).min(99.9));
    let count = line.candidates.len();
    let arrows = if app.glyphs.ascii { "left/right" } else { "← →" };
    let which = match count {
        1 => format!("{}the only one", app.glyphs.dot),
        _ => format!("{}{} of {count}, {arrows}", app.glyphs.dot, candidate + 1),
    };
    let accepted = choice(app).is_some_and(|choice| app.panes.repair.accepted.contains(&choice));
    let accepted = if accepted { format!("{}accepted", app.glyphs.dot) } else { String::new() };
    canvas.line(1, 0, &[(Role::Strong, &head), (Role::Warning, &likely), (Role::Good, &accepted), (Role::Dim, &which)]);
    let faces = match keep.faces.state(&key) {
        State::Ready(faces) => faces,
        State::Failed(why) => {
            canvas.wrap(1, 2, why, Role::Error);
            return;
        }
        State::Reading | State::Unasked => {
            canvas.put(1, 2, "Reading the block and its neighbours.", Role::Dim);
            return;
        }
    };
    let (axis, cut, depth) = cut_of(keep, faces);
    let dot = app.glyphs.dot;
    let name = NAMES.get(faces.channel).copied().unwrap_or_default();
    let words = format!(
        "{} = {cut} of {depth}, [ ] moves{dot}{name}{dot}{} of 6 neighbours around it",
        axis.name(),
        faces.neighbours
    );
    let width = canvas.width();
    canvas.put_within(1, 1, width.saturating_sub(2), &words, Role::Dim);
    let height = canvas.height().saturating_sub(3);
    let mut area = canvas.part(1, 3, width.saturating_sub(2), height);
    picture(app, faces, axis, cut, &mut area);
}

/// Coordinates along one side of the picture: those of the neighbour before, of the block, of the neighbour behind.
fn along(size: u32, stride: u32, ring: u32, rises: bool) -> [Vec<i64>; 3] {
    let (size, stride, ring) = (i64::from(size), i64::from(stride.max(1)), i64::from(ring));
    let before: Vec<i64> = (0..ring).rev().map(|n| -1 - n * stride).collect();
    // The last one is at the seam, whatever the stride.
    let mut own: Vec<i64> = (0..size).step_by(crate::bytes::index(stride.unsigned_abs())).collect();
    if let Some(last) = own.last_mut() {
        *last = size - 1;
    }
    let behind: Vec<i64> = (0..ring).map(|n| size + n * stride).collect();
    let mut parts = [before, own, behind];
    if rises {
        parts.reverse();
        parts.iter_mut().for_each(|part| part.reverse());
    }
    parts
}

fn picture(app: &App, faces: &Faces, axis: Axis, cut: u32, canvas: &mut Canvas<'_>) {
    let letters = raster::letters(app);
    let per_line = if letters { 1 } else { 2 };
    let [right, down] = axis.across();
    let (w, h) = (right.of(faces.size), down.of(faces.size));
    let (columns, lines) = (u32::from(canvas.width()), u32::from(canvas.height()));
    // As much of the neighbours as there is room for: at least two voxels, at most half of them.
    let fits = |stride: u32, ring: u32| {
        w.div_ceil(stride) + 2 * ring + 2 <= columns
            && h.div_ceil(stride).div_ceil(per_line) + 2 * ring.div_ceil(per_line) + 2 <= lines
    };
    let Some(stride) = (1..=w.max(h).max(1)).find(|stride| fits(*stride, 2)) else {
        canvas.put(0, 0, "There is no room for the picture here.", Role::Dim);
        return;
    };
    let most = (w.min(h) / stride / 2).max(2) & !1;
    let ring = (2..=most).rev().filter(|ring| ring % 2 == 0).find(|ring| fits(stride, *ring)).unwrap_or(2);
    let across = along(w, stride, ring, right.rises());
    let along_down = along(h, stride, ring, down.rises());
    let look = Look::plain(faces.most);
    let ink = |x: i64, y: Option<i64>| match y {
        Some(y) => look.ink(faces.at(down.with(right.with(axis.with([0; 3], i64::from(cut)), x), y))),
        None => Ink::Blank,
    };
    let seam = canvas.theme.style(Role::Warning);
    let (wall, floor, cross) = if app.glyphs.ascii { ("|", "-", "+") } else { ("│", "─", "┼") };
    let mut y = 0;
    for (k, rows) in along_down.iter().enumerate() {
        if k > 0 {
            line_of(canvas, y, &across, |_| (floor, seam), (cross, seam));
            y += 1;
        }
        for pair in rows.chunks(crate::bytes::index(per_line.into())) {
            let theme_canvas = &*canvas;
            let cells: Vec<(&'static str, Style)> = across
                .iter()
                .flatten()
                .map(|x| {
                    let upper = ink(*x, pair.first().copied());
                    if letters {
                        raster::letter_cell(theme_canvas, upper)
                    } else {
                        raster::pair_cell(theme_canvas, upper, ink(*x, pair.get(1).copied()))
                    }
                })
                .collect();
            line_of(canvas, y, &across, |n| cells.get(n).copied().unwrap_or((" ", Style::new())), (wall, seam));
            y += 1;
        }
    }
}

/// A line of the picture, with the seams between its parts.
fn line_of(
    canvas: &mut Canvas<'_>,
    y: u16,
    across: &[Vec<i64>; 3],
    cell: impl Fn(usize) -> (&'static str, Style),
    seam: (&'static str, Style),
) {
    let (mut x, mut n) = (0u16, 0);
    for (k, part) in across.iter().enumerate() {
        if k > 0 {
            canvas.put_styled(x, y, seam.0, seam.1);
            x += 1;
        }
        for _ in part {
            let (glyph, style) = cell(n);
            canvas.put_styled(x, y, glyph, style);
            (x, n) = (x + 1, n + 1);
        }
    }
}
