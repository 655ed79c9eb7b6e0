//! A block in both saves: its slice in the first, what differs in it, its slice in the second, and the voxel at the
//! cursor in words.

use ratatui::style::Color;
use unicode_width::UnicodeWidthStr;

use super::{list, look, names, words};
use crate::godot::channel::SDF;
use crate::printable::triple;
use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::canvas::Canvas;
use crate::tui::data::difference::Changed;
use crate::tui::data::pair::{Pair, Request};
use crate::tui::data::plane::{Axis, Sample};
use crate::tui::data::{Cell, State};
use crate::tui::draw::pane_inside;
use crate::tui::inspector::grouped;
use crate::tui::jobs::Kind;
use crate::tui::panes::Click;
use crate::tui::panes::raster::{Ink, Raster, Zoom, letters};
use crate::tui::panes::slice::ink::Look;
use crate::tui::theme::Role;

/// Columns of the narrowest of several pictures.
const NARROW: u16 = 16;

/// From this height on the list stands below the picture.
const BELOW: u16 = 30;

/// Lines of that list at least.
const LIST: u16 = 6;

/// What is read: of which comparison, LOD, and positions in both saves.
pub(super) type Key = ((u64, u64), u8, [[i32; 3]; 2]);

/// A picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    /// The block in the first save.
    A,
    /// What differs.
    Between,
    /// The block in the second save.
    B,
}

/// What the picture keeps.
#[derive(Debug, Default)]
pub(super) struct Keep {
    /// The block that is looked at: its position in both saves.
    open: Option<[[i32; 3]; 2]>,
    axis: Option<Axis>,
    cut: Option<u32>,
    channel: Option<usize>,
    voxel: Option<[u32; 3]>,
    zoom: Option<Zoom>,
    first: [usize; 2],
    /// One picture alone, instead of as many as there is room for.
    alone: Option<View>,
    pair: Cell<Key, Pair>,
}

impl Keep {
    pub const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    pub const fn close(&mut self) {
        self.open = None;
    }
}

/// Looks at a block.
pub(super) fn open(app: &mut App, change: &Changed) {
    let to = app.comparison.difference().and_then(|difference| difference.went(change)).unwrap_or(change.position);
    let keep = &mut app.panes.diff.picture;
    keep.open = Some([change.position, to]);
    (keep.cut, keep.channel, keep.voxel, keep.zoom, keep.first) = (None, None, None, None, [0; 2]);
}

fn key(app: &App) -> Option<Key> {
    let positions = app.panes.diff.picture.open?;
    let (difference, lod, _) = super::shown(app)?;
    Some((difference.of, lod.lod, positions))
}

/// The block in both saves; that of before, until it is read again after a change.
pub(super) fn pair(app: &App) -> Option<&Pair> {
    let (_, lod, positions) = key(app)?;
    let (there, pair) = app.panes.diff.picture.pair.latest()?;
    (there.1 == lod && there.2 == positions).then_some(&**pair)
}

/// What is shown, and where.
pub(super) struct Scene {
    pub channel: usize,
    pub axis: Axis,
    pub cut: u32,
    pub depth: u32,
    /// The voxel at the cursor, and its place in the picture.
    pub voxel: [u32; 3],
    pub at: [u32; 2],
    /// The pictures, with the line of their titles.
    pub views: Vec<(View, Raster)>,
    pub titles: u16,
    /// The line of the legend.
    pub legend: Option<u16>,
    /// The first line about the voxel, and how many there are.
    pub words: [u16; 2],
    /// The first line of the list, and how many there are.
    pub list: Option<[u16; 2]>,
    /// The line of the cuts, when they have one of their own.
    pub cuts: Option<u16>,
}

pub(super) fn scene(app: &App) -> Option<Scene> {
    let pair = pair(app)?;
    if pair.size.contains(&0) {
        return None;
    }
    let keep = &app.panes.diff.picture;
    let channel = keep.channel.unwrap_or_else(|| pair.channel());
    let axis = keep.axis.unwrap_or_else(|| pair.axis(channel));
    let depth = axis.of(pair.size).max(1);
    let cut = keep.cut.unwrap_or_else(|| pair.best(channel, axis)).min(depth - 1);
    let middle = axis.with(pair.size.map(|n| n / 2), cut);
    let voxel = keep.voxel.map(|at| axis.with(at, cut)).or_else(|| pair.first_in(channel, axis, cut)).unwrap_or(middle);
    let inside = |axis: Axis| axis.of(voxel).min(axis.of(pair.size).saturating_sub(1));
    let voxel = [inside(Axis::X), inside(Axis::Y), inside(Axis::Z)];
    let area = pane_inside(app);
    let (width, height) = (area.width, area.height);
    let airy = u16::from(height >= 20);
    let words = match height {
        0..4 => 0,
        4..12 => 1,
        _ => 2,
    };
    let legend = u16::from(height >= 12);
    let titles = 2.min(height) + 2 * airy;
    let top = titles + 1;
    let below = height >= BELOW;
    let list = if below { LIST + 1 } else { 0 };
    let lines = height.saturating_sub(top + legend + words + 2 * airy + list);
    let room = width.saturating_sub(2);
    let all = match keep.alone {
        Some(view) => vec![view],
        None if room >= 3 * NARROW + 4 => vec![View::A, View::Between, View::B],
        None if room >= 2 * NARROW + 2 => vec![View::Between, View::B],
        None => vec![View::Between],
    };
    let count = u16::try_from(all.len()).unwrap_or(1).max(1);
    let columns = room.saturating_sub(2 * (count - 1)) / count;
    let [right, down] = axis.across();
    let size = [right.of(pair.size), down.of(pair.size)];
    let at = place(pair.size, axis, voxel);
    let views = (0u16..).zip(all).map(|(number, view)| {
        let left = 1 + number.saturating_mul(columns.saturating_add(2));
        let mut raster = Raster::new([left, top, columns, lines], letters(app), size, keep.zoom, 0);
        raster.follow(keep.first, at);
        (view, raster)
    });
    let views: Vec<_> = views.collect();
    // What the pictures do not need is for the list.
    let taken = views.iter().map(|(_, raster)| {
        let lines = raster.seen()[1].saturating_mul(raster.zoom.tall(raster.letters).into());
        if raster.letters { lines } else { lines.div_ceil(2) }
    });
    let taken = u16::try_from(taken.max().unwrap_or(0)).unwrap_or(u16::MAX).min(lines);
    let under = if below { top + taken + airy } else { height.saturating_sub(words + legend + airy) };
    let first = if below { under + legend + airy } else { height.saturating_sub(words) };
    let list = below.then(|| [first + words + 1, height.saturating_sub(first + words + 1)]);
    let (legend, cuts) = ((legend > 0).then_some(under), (airy > 0).then_some(2));
    Some(Scene { channel, axis, cut, depth, voxel, at, views, titles, legend, words: [first, words], list, cuts })
}

/// The place of a voxel in the picture, from its left and its top.
fn place(size: [u32; 3], axis: Axis, voxel: [u32; 3]) -> [u32; 2] {
    let [right, down] = axis.across();
    let y = down.of(voxel);
    [right.of(voxel), if down.rises() { down.of(size).saturating_sub(1).saturating_sub(y) } else { y }]
}

/// The voxel at a place of the picture.
fn voxel(size: [u32; 3], scene: &Scene, [x, y]: [u32; 2]) -> [u32; 3] {
    let [right, down] = scene.axis.across();
    let last = down.of(size).saturating_sub(1);
    let y = if down.rises() { last.saturating_sub(y) } else { y };
    let at = scene.axis.with([0; 3], scene.cut);
    let right_at = right.with(at, x.min(right.of(size).saturating_sub(1)));
    down.with(right_at, y.min(last))
}

/// Does an action; true when it meant something here.
pub(super) fn act(app: &mut App, action: Action) -> bool {
    if !app.panes.diff.picture.is_open() {
        return false;
    }
    match action {
        Action::Close => {
            app.panes.diff.picture.close();
            return true;
        }
        Action::NextChange | Action::PageDown => return step_change(app, true),
        Action::PreviousChange | Action::PageUp => return step_change(app, false),
        Action::NextLod | Action::Whole | Action::First | Action::Last | Action::Enter => return true,
        _ => {}
    }
    let Some(scene) = scene(app) else { return true };
    let Some(size) = pair(app).map(|pair| pair.size) else { return true };
    // A page goes to another change, above.
    if let Some(by) = action.over_cells(0) {
        step(app, size, &scene, by);
        return true;
    }
    match action {
        Action::CutDown => to_cut(app, &scene, scene.cut.saturating_sub(1)),
        Action::CutUp => to_cut(app, &scene, (scene.cut + 1).min(scene.depth - 1)),
        Action::ChangedCutDown => changed_cut(app, &scene, false),
        Action::ChangedCutUp => changed_cut(app, &scene, true),
        Action::AxisX => turn(app, &scene, Axis::X),
        Action::AxisY => turn(app, &scene, Axis::Y),
        Action::AxisZ => turn(app, &scene, Axis::Z),
        Action::NextChannel => next_channel(app, &scene),
        Action::Toggle => {
            let keep = &mut app.panes.diff.picture;
            keep.alone = match keep.alone {
                None => Some(View::A),
                Some(View::A) => Some(View::Between),
                Some(View::Between) => Some(View::B),
                Some(View::B) => None,
            };
            (keep.zoom, keep.first) = (None, [0; 2]);
        }
        Action::ZoomIn => zoom(app, &scene, |raster| raster.zoom.nearer()),
        Action::ZoomOut => zoom(app, &scene, |raster| raster.zoom.farther(raster.size)),
        _ => return false,
    }
    true
}

/// The next block that differs, in the same way looked at.
fn step_change(app: &mut App, forward: bool) -> bool {
    if super::next(app, forward) {
        super::want(app);
        if let Some(change) = super::change(app) {
            open(app, &change);
        }
    }
    true
}

fn zoom(app: &mut App, scene: &Scene, to: impl Fn(&Raster) -> Zoom) {
    if let Some((_, raster)) = scene.views.first() {
        app.panes.diff.picture.zoom = Some(to(raster));
    }
}

fn step(app: &mut App, size: [u32; 3], scene: &Scene, by: [i64; 2]) {
    let stride = scene.views.first().map_or(1, |(_, raster)| raster.zoom.stride()).max(1);
    let [right, down] = scene.axis.across();
    let moved = |at: u32, axis: Axis, by: i64| {
        let last = axis.of(size).saturating_sub(1) / stride;
        let to = i64::from(at / stride).saturating_add(by).clamp(0, last.into());
        if by == 0 { at } else { u32::try_from(to).unwrap_or(0).saturating_mul(stride) }
    };
    let [x, y] = scene.at;
    let to = voxel(size, scene, [moved(x, right, by[0]), moved(y, down, by[1])]);
    app.panes.diff.picture.voxel = Some(to);
}

/// Another cut, with the cursor where it is, unless it is still on the first of what differs.
fn to_cut(app: &mut App, scene: &Scene, cut: u32) {
    let differs = pair(app).is_some_and(|pair| pair.first_in(scene.channel, scene.axis, cut).is_some());
    let keep = &mut app.panes.diff.picture;
    keep.cut = Some(cut);
    if !differs {
        keep.voxel = Some(scene.voxel);
    }
}

fn changed_cut(app: &mut App, scene: &Scene, up: bool) {
    let next = pair(app).and_then(|pair| pair.next_cut(scene.channel, scene.axis, scene.cut, up));
    match next {
        Some(cut) => (app.panes.diff.picture.cut, app.panes.diff.picture.voxel) = (Some(cut), None),
        None => app.say(format!("No other cut {} this one differs.", if up { "behind" } else { "before" })),
    }
}

/// Another axis through the voxel at the cursor.
fn turn(app: &mut App, scene: &Scene, axis: Axis) {
    let keep = &mut app.panes.diff.picture;
    (keep.axis, keep.cut, keep.voxel) = (Some(axis), Some(axis.of(scene.voxel)), Some(scene.voxel));
    (keep.zoom, keep.first) = (None, [0; 2]);
}

fn next_channel(app: &mut App, scene: &Scene) {
    let Some(all) = pair(app).map(Pair::channels) else { return };
    let next = all.iter().copied().find(|channel| *channel > scene.channel).or_else(|| all.first().copied());
    match next {
        Some(channel) if channel != scene.channel => {
            let keep = &mut app.panes.diff.picture;
            (keep.channel, keep.cut, keep.voxel) = (Some(channel), None, None);
        }
        _ => app.say("All other channels are the same everywhere.".into()),
    }
}

/// Asks for the block in both saves.
pub(super) fn want(app: &mut App) {
    let Some(key) = key(app) else { return };
    let Some((difference, lod, _)) = super::shown(app) else { return };
    let Some(saves) = difference.saves.clone() else { return };
    let channels = app.settings.against.as_ref().map(|against| against.channels.clone()).unwrap_or_default();
    let request = Request { saves, blocks: lod.blocks.clone(), positions: key.2, channels };
    if app.panes.diff.picture.pair.want(&key) {
        app.job(
            Kind::Pair,
            move |worker| {
                let pair = Pair::read(&request);
                worker.answer(move |app| app.panes.diff.picture.pair.put(key, pair));
            },
            |app, why| app.panes.diff.picture.pair.fail(why),
        );
    }
    if let Some(first) = scene(app).and_then(|scene| Some(scene.views.first()?.1.first)) {
        app.panes.diff.picture.first = first;
    }
}

/// Does a click; true when it was here.
pub(super) fn click(app: &mut App, click: Click, x: u16, y: u16) -> bool {
    if !app.panes.diff.picture.is_open() {
        return false;
    }
    match click {
        Click::Wheel(up) => {
            act(app, if up { Action::CutUp } else { Action::CutDown });
        }
        Click::Press => {
            let Some((scene, size)) = scene(app).zip(pair(app).map(|pair| pair.size)) else { return true };
            if let Some(at) = scene.views.iter().find_map(|(_, raster)| raster.at(x, y)) {
                app.panes.diff.picture.voxel = Some(voxel(size, &scene, at));
            }
        }
    }
    true
}

/// Draws the picture; false when there is none.
pub(super) fn draw(app: &App, canvas: &mut Canvas<'_>) -> bool {
    let (Some(key), Some((difference, lod, _))) = (key(app), super::shown(app)) else { return false };
    let width = canvas.width();
    let [position, _] = key.2;
    let from = lod.from(position);
    let found = lod.changes.get(from).filter(|change| change.position == position);
    let here = app.panes.diff.at.and_then(|at| lod.changes.get(at)).filter(|change| change.position == position);
    let change = here.or(found);
    let (mark, role) = change.map_or(("=", Role::Good), |change| look(change.fate));
    let says = change.map_or_else(|| "the same in both now".into(), |change| list::says(difference, change));
    let name = format!("block {}", triple(position));
    let of = format!("change {} of {}", grouped(from as u64 + 1), grouped(lod.changes.len() as u64));
    let of_width = u16::try_from(of.width()).unwrap_or(u16::MAX);
    let x =
        canvas.line(1, 0, &[(role, mark), (Role::Text, " "), (Role::Strong, &name), (Role::Dim, canvas.glyphs.dot)]);
    let has_room = width > x.saturating_add(of_width).saturating_add(12) && change.is_some();
    let room = width.saturating_sub(x + 1 + if has_room { of_width + 2 } else { 0 });
    canvas.put_within(x, 0, room, &says, Role::Text);
    if has_room {
        canvas.put_right(width.saturating_sub(1), 0, &of, Role::Dim);
    }
    let Some(pair) = pair(app) else {
        let (words, role) = match app.panes.diff.picture.pair.state(&key) {
            State::Failed(why) => (why, Role::Error),
            _ => ("Reading the block in both saves.", Role::Dim),
        };
        canvas.wrap(1, 2, words, role);
        return true;
    };
    let Some(scene) = scene(app) else {
        words::nothing(pair, canvas);
        return true;
    };
    words::cut_line(pair, &scene, canvas);
    let names = names(app);
    for (view, raster) in &scene.views {
        words::title(pair, *view, raster, &names, scene.titles, canvas);
        paint(pair, &scene, *view, raster, canvas);
    }
    if let Some(y) = scene.legend {
        words::legend(pair, &scene, y, change.map(|change| change.fate), canvas);
    }
    words::words(pair, &scene, key, canvas);
    if let Some([y, lines]) = scene.list {
        list::draw(app, [0, y, width, lines], difference, lod, canvas);
    }
    true
}

/// Draws one of the pictures.
fn paint(pair: &Pair, scene: &Scene, view: View, raster: &Raster, canvas: &mut Canvas<'_>) {
    let side = match view {
        View::A => Some(0),
        View::B => Some(1),
        View::Between => None,
    };
    let missing = |side: usize| pair.block(side).is_none();
    if side.map_or_else(|| missing(0) || missing(1) || pair.odd.is_some(), missing) {
        return;
    }
    let look = Look::plain(if scene.channel == SDF { pair.most(scene.channel).or(Some(0.0)) } else { None });
    let [right, down] = scene.axis.across();
    let (across, along) = (raster.steps(0, 0, right.rises()), raster.steps(1, 0, down.rises()));
    let stride = raster.zoom.stride().max(1);
    // What differs must be seen also where a cell is more than a voxel.
    let of_cell = |column: u32, row: u32| {
        let corner = down.with(
            right.with(scene.axis.with([0; 3], scene.cut), u32::try_from(across.at(column)).unwrap_or(u32::MAX)),
            u32::try_from(along.at(row)).unwrap_or(u32::MAX),
        );
        let rise = |axis: Axis, n: u32| {
            let at = axis.of(corner);
            if axis.rises() { at.saturating_sub(n) } else { at.saturating_add(n) }
        };
        let mut cells = (0..stride).flat_map(|y| (0..stride).map(move |x| (x, y)));
        let found = cells.find_map(|(x, y)| {
            let at = down.with(right.with(corner, rise(right, x)), rise(down, y));
            Some((at, pair.turn(scene.channel, at)?))
        });
        found.map_or((corner, None), |(at, turn)| (at, Some(turn)))
    };
    raster.paint(canvas, Some(scene.at), &|column, row| {
        let (at, turn) = of_cell(column, row);
        match (side, turn) {
            (Some(side), _) => look.ink(pair.sample(side, scene.channel, at)),
            (None, Some(turn)) => {
                let (color, letter, _) = words::turned(turn);
                Ink::Mark(color, letter)
            }
            (None, None) => {
                let side = usize::from(pair.block(1).is_some());
                let solid = match pair.sample(side, scene.channel, at) {
                    Sample::Value(_, Some(distance)) if scene.channel == SDF => distance < 0.0,
                    Sample::Value(raw, _) => raw != 0,
                    Sample::Nothing => return Ink::Blank,
                    Sample::Unreadable => return Ink::Fault,
                };
                if solid { Ink::Beyond(Color::DarkGray, ":") } else { Ink::Air }
            }
        }
    });
}
