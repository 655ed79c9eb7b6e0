//! What differs between two saves: a map of the blocks with a list beside it, and a block looked at in both.

mod list;
mod map;
mod picture;
mod words;

use std::path::{Path, PathBuf};

use super::Click;
use super::raster::Zoom;
use crate::printable::triple;
use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::canvas::Canvas;
use crate::tui::data::difference::{Changed, Difference, Fate, Lod};
use crate::tui::data::plane::Axis;
use crate::tui::go;
use crate::tui::inspector::Lines;
use crate::tui::theme::Role;
use map::{Layer, Scene};

/// What the pane keeps. Places are positions, so that they hold when everything is compared again.
#[derive(Debug, Default)]
pub struct Keep {
    /// The LOD of the map.
    lod: Option<u8>,
    axis: Axis,
    /// The layer; all of them without one.
    cut: Option<i32>,
    /// The block under the cursor.
    cursor: Option<[i32; 3]>,
    /// Which of several changes at its position.
    nth: usize,
    zoom: Option<Zoom>,
    first: [usize; 2],
    /// The number of the change under the cursor, when there is one.
    at: Option<usize>,
    layer: Layer,
    picture: picture::Keep,
}

/// The mark of a block that differs, and how it is drawn.
const fn look(fate: Fate) -> (&'static str, Role) {
    match fate {
        Fate::Added => ("+", Role::Good),
        Fate::Removed => ("-", Role::Error),
        Fate::Changed => ("~", Role::Warning),
        Fate::Moved => (">", Role::Key),
        Fate::Unreadable => ("?", Role::Lost),
    }
}

/// What is shown: all of what differs, the LOD, and where.
fn shown(app: &App) -> Option<(&Difference, &Lod, Scene)> {
    let difference = app.comparison.difference()?;
    let scene = map::scene(app)?;
    Some((difference, difference.lods.get(scene.lod)?, scene))
}

/// Whether the map can go from a layer to all of them.
#[must_use]
pub fn can_widen(app: &App) -> bool {
    app.has_difference() && !has_pair(app)
}

/// Whether a block is looked at in both saves.
#[must_use]
pub fn has_pair(app: &App) -> bool {
    app.in_diff() && app.panes.diff.picture.is_open()
}

/// Does an action; true when it meant something here.
pub fn act(app: &mut App, action: Action) -> bool {
    if picture::act(app, action) {
        return true;
    }
    let Some((_, lod, scene)) = shown(app) else { return false };
    let changes = lod.changes.len();
    let page = i64::from(scene.raster.lines / 2).max(1);
    if let Some(by) = action.over_cells(page) {
        step(app, &scene, by);
        return true;
    }
    match action {
        Action::First => choose(app, &scene, 0),
        Action::Last => choose(app, &scene, changes.saturating_sub(1)),
        Action::NextChange => {
            next(app, true);
        }
        Action::PreviousChange => {
            next(app, false);
        }
        Action::CutDown => cut(app, &scene, -1),
        Action::CutUp => cut(app, &scene, 1),
        Action::ChangedCutDown => changed_cut(app, &scene, false),
        Action::ChangedCutUp => changed_cut(app, &scene, true),
        Action::AxisX => turn(app, &scene, Axis::X),
        Action::AxisY => turn(app, &scene, Axis::Y),
        Action::AxisZ => turn(app, &scene, Axis::Z),
        Action::Whole => {
            app.panes.diff.cut = if scene.cut.is_some() { None } else { Some(scene.axis.of(scene.cursor)) };
        }
        Action::ZoomIn => app.panes.diff.zoom = Some(scene.raster.zoom.nearer()),
        Action::ZoomOut => app.panes.diff.zoom = Some(scene.raster.zoom.farther(scene.raster.size)),
        Action::NextLod => next_lod(app, &scene),
        Action::Enter => match change(app) {
            Some(change) => picture::open(app, &change),
            None => app.say("Nothing differs here: . goes to the next block that does.".into()),
        },
        _ => return false,
    }
    true
}

/// The change under the cursor.
fn change(app: &App) -> Option<Changed> {
    let (_, lod, _) = shown(app)?;
    lod.changes.get(app.panes.diff.at?).copied()
}

/// Moves the cursor by cells of the map.
fn step(app: &mut App, scene: &Scene, by: [i64; 2]) {
    let stride = scene.raster.zoom.stride().max(1);
    let [x, y] = scene.place(scene.cursor);
    let [w, h] = scene.raster.size;
    let moved = |at: u32, size: u32, by: i64| {
        let last = size.saturating_sub(1) / stride;
        let to = i64::from(at / stride).saturating_add(by).clamp(0, last.into());
        // What does not move stays where it is also when it is between two cells.
        if by == 0 { at } else { u32::try_from(to).unwrap_or(0).saturating_mul(stride) }
    };
    put(app, scene, scene.block([moved(x, w, by[0]), moved(y, h, by[1])]));
}

/// Puts the cursor on a block; in a cell in which something differs, on the first of that.
fn put(app: &mut App, scene: &Scene, position: [i32; 3]) {
    (app.panes.diff.cursor, app.panes.diff.nth) = (Some(position), 0);
    let there = Scene { cursor: position, ..scene.clone() };
    let found = app.comparison.difference().and_then(|difference| {
        let lod = difference.lods.get(scene.lod)?;
        let at = map::current(&app.panes.diff, &there, lod)?;
        lod.changes.get(at).map(|change| change.position)
    });
    if let Some(position) = found {
        app.panes.diff.cursor = Some(position);
    }
}

/// Puts the cursor on a change, by its number.
fn choose(app: &mut App, scene: &Scene, number: usize) {
    let Some(difference) = app.comparison.difference() else { return };
    let Some(lod) = difference.lods.get(scene.lod) else { return };
    let Some(position) = lod.changes.get(number).map(|change| change.position) else { return };
    let (nth, name) = (number.saturating_sub(lod.from(position)), lod.lod);
    let keep = &mut app.panes.diff;
    (keep.cursor, keep.nth, keep.lod) = (Some(position), nth, Some(name));
    if keep.cut.is_some() {
        keep.cut = Some(keep.axis.of(position));
    }
}

/// The next change, or the one before, also of other LODs; false when there is none.
fn next(app: &mut App, forward: bool) -> bool {
    let Some((difference, lod, scene)) = shown(app) else { return false };
    let at = app.panes.diff.at;
    let from = at.unwrap_or_else(|| lod.from(scene.cursor));
    let to = match (forward, at) {
        (true, Some(_)) => from.checked_add(1),
        (true, None) => Some(from),
        (false, _) => from.checked_sub(1),
    };
    if let Some(to) = to.filter(|to| *to < lod.changes.len()) {
        choose(app, &scene, to);
        return true;
    }
    let mut others = (0..difference.lods.len()).filter(|n| if forward { *n > scene.lod } else { *n < scene.lod });
    let has = |n: &usize| difference.lods.get(*n).is_some_and(|lod| !lod.changes.is_empty());
    let found = if forward { others.find(has) } else { others.rfind(has) };
    let Some((number, other)) = found.and_then(|n| Some((n, difference.lods.get(n)?))) else {
        app.say(if forward { "This is the last change." } else { "This is the first change." }.into());
        return false;
    };
    let (name, last) = (other.lod, other.changes.len().saturating_sub(1));
    app.say(format!("LOD {name}."));
    choose(app, &Scene { lod: number, ..scene }, if forward { 0 } else { last });
    true
}

/// The layer before, or the next one; from all of them to that of the cursor.
fn cut(app: &mut App, scene: &Scene, by: i32) {
    let [low, high] = scene.extent;
    let here = scene.axis.of(scene.cursor);
    let to = match scene.cut {
        None => here,
        Some(cut) => cut.saturating_add(by).clamp(scene.axis.of(low), scene.axis.of(high)),
    };
    app.panes.diff.cut = Some(to);
    let cursor = scene.axis.with(scene.cursor, to);
    put(app, &Scene { cut: Some(to), cursor, ..scene.clone() }, cursor);
}

/// The nearest layer in which something differs.
fn changed_cut(app: &mut App, scene: &Scene, up: bool) {
    let Some(lod) = app.comparison.difference().and_then(|difference| difference.lods.get(scene.lod)) else { return };
    let Some(to) = map::changed_layer(scene, &lod.changes, up) else {
        app.say(format!("Nothing differs {} this layer.", if up { "above" } else { "below" }));
        return;
    };
    let [right, down] = scene.axis.across();
    let far = |at: [i32; 3]| {
        let one = |axis: Axis| u64::from(axis.of(at).abs_diff(axis.of(scene.cursor)));
        one(right) + one(down)
    };
    let there = lod.changes.iter().map(|change| change.position).filter(|at| scene.axis.of(*at) == to);
    let nearest = there.min_by_key(|at| far(*at));
    app.panes.diff.cut = Some(to);
    (app.panes.diff.cursor, app.panes.diff.nth) = (nearest, 0);
}

fn turn(app: &mut App, scene: &Scene, axis: Axis) {
    let keep = &mut app.panes.diff;
    if keep.axis != axis {
        (keep.axis, keep.first, keep.zoom) = (axis, [0; 2], None);
        keep.cut = keep.cut.map(|_| axis.of(scene.cursor));
    }
}

fn next_lod(app: &mut App, scene: &Scene) {
    let Some(difference) = app.comparison.difference() else { return };
    let number = (scene.lod + 1) % difference.lods.len().max(1);
    let Some(lod) = difference.lods.get(number).map(|lod| lod.lod) else { return };
    if number == scene.lod {
        app.say(format!("There is only LOD {lod}."));
        return;
    }
    let keep = &mut app.panes.diff;
    (keep.lod, keep.cursor, keep.cut, keep.zoom, keep.first) = (Some(lod), None, None, None, [0; 2]);
}

/// Goes to the block at a position.
///
/// # Errors
/// A sentence, when it is outside of both saves.
pub fn to_block(app: &mut App, position: [i32; 3]) -> Result<(), String> {
    let Some((_, _, scene)) = shown(app) else { return Err("there is no map yet".into()) };
    let [low, high] = scene.extent;
    let inside =
        [Axis::X, Axis::Y, Axis::Z].iter().all(|axis| (axis.of(low)..=axis.of(high)).contains(&axis.of(position)));
    if !inside {
        let (at, low, high) = (triple(position), triple(low), triple(high));
        return Err(format!("there is no block at {at}: both saves have {low} to {high}"));
    }
    let keep = &mut app.panes.diff;
    (keep.cursor, keep.nth) = (Some(position), 0);
    keep.cut = keep.cut.map(|_| keep.axis.of(position));
    keep.picture.close();
    Ok(())
}

/// Another pane is shown: it speaks of the block that was looked at here, as far as the first save has it.
pub fn left(app: &mut App) {
    let Some((_, lod, scene)) = shown(app) else { return };
    let at = lod.lod;
    let there = lod.blocks.first().is_some_and(|blocks| blocks.find(scene.cursor).is_some());
    if there && app.panes.diff.at.is_some() {
        go::to_block(app, at, scene.cursor);
    }
}

/// Asks for what is needed.
pub fn want(app: &mut App) {
    if let Some(difference) = app.comparison.difference() {
        // Where something differs, first of all.
        let wanted = app.panes.diff.lod;
        let lod = difference.lods.iter().find(|lod| wanted.map_or(!lod.changes.is_empty(), |wanted| lod.lod == wanted));
        let found = lod.and_then(|lod| Some((lod.lod, lod.changes.first()?.position)));
        let keep = &mut app.panes.diff;
        if let (None, Some((lod, position))) = (keep.cursor, found) {
            (keep.lod, keep.cursor, keep.nth) = (Some(lod), Some(position), 0);
        }
    }
    if let Some((_, lod, scene)) = shown(app) {
        let at = map::current(&app.panes.diff, &scene, lod);
        let layer = app.panes.diff.layer.make(app, &scene);
        let keep = &mut app.panes.diff;
        (keep.at, keep.first) = (at, scene.raster.first);
        if let Some(layer) = layer {
            keep.layer = layer;
        }
    }
    picture::want(app);
}

/// Does a click.
pub fn click(app: &mut App, click: Click, x: u16, y: u16) {
    if picture::click(app, click, x, y) {
        return;
    }
    let Some((_, lod, scene)) = shown(app) else { return };
    let in_list = scene.list.filter(|[left, top, width, height]| {
        (*left..left.saturating_add(*width)).contains(&x) && (*top..top.saturating_add(*height)).contains(&y)
    });
    match (click, in_list) {
        (Click::Wheel(up), Some(_)) => {
            next(app, !up);
        }
        (Click::Wheel(up), None) => cut(app, &scene, if up { 1 } else { -1 }),
        (Click::Press, Some([_, top, _, rows])) => {
            let first = list::first(app, lod, rows);
            choose(app, &scene, first.saturating_add(usize::from(y.saturating_sub(top))));
        }
        (Click::Press, None) => {
            if let Some(at) = scene.raster.at(x, y) {
                put(app, &scene, scene.block(at));
            }
        }
    }
}

/// The names of the two saves: as much of the ends of their paths as tells them apart.
fn names(app: &App) -> [String; 2] {
    let (a, b) = (&app.settings.path, app.settings.against.as_ref().map(|against| &against.path));
    let Some(b) = b else { return [crate::printable::path(a), String::new()] };
    let end = |path: &Path, n: usize| {
        let parts: Vec<_> = path.iter().collect();
        let from = parts.len().saturating_sub(n);
        parts.get(from..).unwrap_or_default().iter().collect::<PathBuf>()
    };
    let longest = a.iter().count().max(b.iter().count()).max(1);
    let enough = (1..longest).find(|n| end(a, *n) != end(b, *n)).unwrap_or(longest);
    [a, b].map(|path| crate::printable::path(&end(path, enough)))
}

/// Draws the pane.
pub fn draw(app: &App, canvas: &mut Canvas<'_>) {
    if let Some(why) = &app.comparison.failure {
        let y = canvas.wrap(1, 1, why, Role::Error);
        canvas.wrap(1, y + 1, "R tries again.", Role::Dim);
        return;
    }
    if picture::draw(app, canvas) {
        return;
    }
    let Some((difference, lod, scene)) = shown(app) else {
        let words = match app.comparison.difference() {
            Some(difference) if difference.summary.is_some() => "There is no block in either save.",
            Some(_) => "Comparing the two saves.",
            None => "Opening the save that is compared with.",
        };
        canvas.wrap(1, 1, words, Role::Dim);
        return;
    };
    let width = canvas.width();
    if let Some(y) = scene.names {
        let [a, b] = names(app);
        let half = width / 2;
        for (x, letter, name) in [(1, "A ", a), (half, "B ", b)] {
            let at = canvas.put(x, y, letter, Role::Key);
            canvas.put_within(at, y, half.saturating_sub(4), &name, Role::Strong);
        }
    }
    header(&scene, difference, lod, canvas);
    map::draw(app, &scene, difference, canvas);
    list::draw_legend(app, &scene, canvas);
    if let Some(area) = scene.list {
        list::draw(app, area, difference, lod, canvas);
    }
    if let Some(y) = scene.words {
        let mut x = 1;
        for (role, text) in list::words(app, &scene, difference, lod) {
            let room = width.saturating_sub(x + 1);
            canvas.put_within(x, y, room, &text, role);
            x = x.saturating_add(u16::try_from(unicode_width::UnicodeWidthStr::width(text.as_str())).unwrap_or(room));
        }
    }
}

/// The line that says what of the map is seen.
fn header(scene: &Scene, difference: &Difference, lod: &Lod, canvas: &mut Canvas<'_>) {
    let glyphs = canvas.glyphs;
    let name = scene.axis.name();
    let [low, high] = scene.extent.map(|at| scene.axis.of(at));
    let layer = match scene.cut {
        Some(cut) => format!("layer {name} = {cut} of {low} to {high}"),
        None if low == high => format!("layer {name} = {low}"),
        None => format!("all layers, {name} = {low} to {high}"),
    };
    let here = lod.changes.iter().filter(|change| scene.cut.is_none_or(|cut| scene.axis.of(change.position) == cut));
    let here = match here.count() {
        1 => "1 change".to_owned(),
        n => format!("{} changes", crate::tui::inspector::grouped(n as u64)),
    };
    let scale = scene.raster.zoom.words(true, "block");
    let [right, down] = scene.axis.across();
    let (to_right, up, to_bottom) = if glyphs.ascii { ("right", "up", "down") } else { ("→", "↑", "↓") };
    let axes = format!("{to_right} {}  {} {}", right.name(), if down.rises() { up } else { to_bottom }, down.name());
    let mut pieces: Vec<(Role, String)> = Vec::new();
    if difference.lods.len() > 1 || lod.lod > 0 {
        pieces.push((Role::Strong, format!("LOD {}", lod.lod)));
    }
    pieces.extend([(Role::Key, layer), (Role::Text, here), (Role::Dim, axes), (Role::Dim, scale)]);
    super::slice::joined(canvas, scene.header, &pieces);
}

/// What is under the cursor, for the inspector.
#[must_use]
pub fn under_cursor(app: &App) -> Option<(String, Lines)> {
    if !app.in_diff() {
        return None;
    }
    let (difference, lod, scene) = shown(app)?;
    list::inspected(app, &scene, difference, lod)
}

/// What is copied.
#[must_use]
pub fn copy(app: &App) -> Option<String> {
    let (difference, lod, _) = shown(app)?;
    let change = change(app)?;
    let [a, b] = [&app.settings.path, &app.settings.against.as_ref()?.path].map(|path| crate::printable::path(path));
    let says = list::says(difference, &change);
    let voxel = words::copy(app).map_or_else(String::new, |text| format!("; {text}"));
    Some(format!("{a} and {b}, LOD {}, block {}: {says}{voxel}", lod.lod, triple(change.position)))
}
