//! What keys and the mouse do in the pane.

use super::sheets::{Side, side};
use super::view::View;
use super::{image, is_ready, looks, pixel_size, ready, select};
use crate::godot::channel::NAMES;
use crate::picture::{Layer, Look, Matter};
use crate::tui::App;
use crate::tui::action::Action;
use crate::tui::panes::{Click, diff, repair};

/// Does an action; true when it meant something here.
pub fn act(app: &mut App, action: Action) -> bool {
    if repair::act_on_trial(app, action) {
        return true;
    }
    let pixels = pixel_size(app);
    let page = (pixels[1] / 4).max(1);
    if !is_ready(app) {
        return false;
    }
    let has_sides = app.has_pair();
    let (bulk, whole) = (fitted(app, false), fitted(app, true));
    let world = &mut app.panes.world;
    if world.view.is_none() {
        return false;
    }
    if let Some([right, down]) = action.over_cells(page) {
        let [axis_right, axis_down] = world.axes();
        let Some(view) = &mut world.view else { return false };
        // A cell is two pixels high, and a voxel may have more.
        let step = view.step();
        let rise = if view.rises { -1 } else { 1 };
        world.cursor[axis_right] = world.cursor[axis_right].saturating_add(right.saturating_mul(step));
        world.cursor[axis_down] = world.cursor[axis_down].saturating_add(down.saturating_mul(step * rise));
        moved(app);
        return true;
    }
    let place = world.place();
    let around = place.map(|n| n as f64 + 0.5);
    let (is_bulk, is_whole) = (world.view == bulk, world.view == whole);
    let Some(view) = &mut world.view else { return false };
    match action {
        Action::ZoomIn => {
            view.zoom_by(-1, around);
            // A voxel that became large begins inside of the picture.
            view.follow(place, pixels);
        }
        Action::ZoomOut => view.zoom_by(1, around),
        Action::PanLeft => view.pan([-(pixels[0] / 8).max(1), 0]),
        Action::PanRight => view.pan([(pixels[0] / 8).max(1), 0]),
        Action::PanUp => view.pan([0, -(pixels[1] / 8).max(1)]),
        Action::PanDown => view.pan([0, (pixels[1] / 8).max(1)]),
        Action::First if is_bulk && !is_whole => world.view = whole,
        Action::First | Action::Close if !is_bulk => world.view = bulk,
        Action::NextLook => next_look(app),
        Action::HealthMarks => {
            let on = !world.shows_health();
            world.health = Some(on);
            let words = if on { "Blocks with findings are marked." } else { "Findings are not marked." };
            app.show_message(words.to_owned());
        }
        Action::AxisX => cut(app, 0),
        Action::AxisY => cut(app, 1),
        Action::AxisZ => cut(app, 2),
        Action::CutUp | Action::CutDown if world.look == Look::Cut => {
            let step = view.step();
            let by = if action == Action::CutUp { step } else { -step };
            world.cursor[world.axis] = world.cursor[world.axis].saturating_add(by);
            moved(app);
        }
        Action::NextChannel => next_channel(app),
        Action::Enter => return select::enter(app),
        Action::Toggle if has_sides => {
            let (next, words) = match side(app) {
                Side::A => (Side::Both, "What differs between A and B."),
                Side::Both => (Side::B, "B alone."),
                Side::B => (Side::A, "A alone."),
            };
            app.panes.world.side = Some(next);
            app.show_message(words.to_owned());
        }
        Action::LegendDown | Action::LegendUp => spot(app, action == Action::LegendDown),
        Action::NextChange | Action::PreviousChange if has_sides => {
            if diff::next(app, action == Action::NextChange) {
                diff::open(app);
            }
        }
        _ => return false,
    }
    true
}

/// The view of everything, or of the bulk of the blocks: few that are far away would make a dot of the others.
pub(super) fn fitted(app: &App, everything: bool) -> Option<View> {
    let ready = ready(app)?;
    let [low, high] = if everything { ready.source.extent()? } else { ready.bulk? };
    let world = &app.panes.world;
    let axes = world.axes();
    Some(View::fit([axes.map(|axis| low[axis]), axes.map(|axis| high[axis])], pixel_size(app), world.rises()))
}

fn next_look(app: &mut App) {
    let looks = looks(app);
    let at = looks.iter().position(|look| *look == app.panes.world.look).unwrap_or(0);
    if let Some(look) = looks.get((at + 1) % looks.len().max(1)) {
        show_look(app, *look);
    }
}

/// Lets the next line of the legend stand out, or the one before; behind the last one none does.
fn spot(app: &mut App, forward: bool) {
    let world = &mut app.panes.world;
    let count =
        world.image.as_ref().map_or(0, |image| image.legend.iter().filter(|entry| entry.key().is_some()).count());
    world.spot = match (world.spot, forward) {
        (None, true) if count > 0 => Some(0),
        (None, false) => count.checked_sub(1),
        (Some(at), true) => Some(at + 1).filter(|at| *at < count),
        (Some(at), false) => at.checked_sub(1),
        (None, true) => None,
    };
    if count == 0 {
        app.show_message("This look has no kinds that could be told apart.".into());
    }
}

/// Shows another look; where its axes are others, from the cursor on.
fn show_look(app: &mut App, look: Look) {
    let before = app.panes.world.axes();
    app.panes.world.spot = None;
    app.panes.world.look = look;
    after_turn(app, before);
}

/// The picture may have other axes now. A picture of everything stays one; of a part, the cursor comes into the middle.
pub(super) fn after_turn(app: &mut App, before: [usize; 2]) {
    let rises = app.panes.world.rises();
    let (axes, place) = (app.panes.world.axes(), app.panes.world.place());
    if axes == before {
        return;
    }
    let fresh = fitted(app, false);
    let world = &mut app.panes.world;
    if world.view == world.fitted {
        (world.view, world.fitted) = (fresh, fresh);
    } else if let Some(view) = &mut world.view {
        view.rises = rises;
        view.middle = place.map(|n| n as f64);
    }
}

fn cut(app: &mut App, axis: usize) {
    let before = app.panes.world.axes();
    app.panes.world.look = Look::Cut;
    app.panes.world.axis = axis;
    after_turn(app, before);
    moved(app);
    let name = ["x", "y", "z"].get(axis).copied().unwrap_or("y");
    app.show_message(format!("A cut at {name} = {}: [ and ] move it, v goes on.", app.panes.world.cursor[axis]));
}

fn next_channel(app: &mut App) {
    let Some(ready) = ready(app) else { return };
    if !ready.source.has_channels() {
        app.show_message("There are no channels here.".into());
        return;
    }
    let now = match app.panes.world.layer(ready) {
        Layer::Cut { channel, .. } => usize::from(channel),
        Layer::Top(Matter::Channel(channel)) => channel,
        _ => 0,
    };
    // From above, matter shows in three channels only.
    let next = if app.panes.world.look == Look::Cut { (now + 1) % NAMES.len() } else { (now + 1) % 3 };
    app.panes.world.channel = Some(next);
    app.show_message(format!("Channel {next}, {}.", NAMES.get(next).copied().unwrap_or_default()));
}

/// The cursor moved: the view and the selection follow.
pub(super) fn moved(app: &mut App) {
    let pixels = pixel_size(app);
    if let Some([low, high]) = ready(app).and_then(|ready| ready.source.extent()) {
        let cursor = &mut app.panes.world.cursor;
        for i in 0..3 {
            cursor[i] = cursor[i].clamp(low[i].saturating_sub(1), high[i]);
        }
    }
    let place = app.panes.world.place();
    if let Some(view) = &mut app.panes.world.view {
        view.follow(place, pixels);
    }
    select::select_under_cursor(app);
}

/// Does what the mouse did, at a place inside the frame.
pub fn click(app: &mut App, click: Click, x: u16, y: u16) {
    let areas = image::Areas::new(app.pane_inside(), app.panes.world.legend);
    let pixels = pixel_size(app);
    let (Some(column), Some(row)) = (x.checked_sub(areas.picture.x), y.checked_sub(areas.picture.y)) else { return };
    if column >= areas.picture.width || row >= areas.picture.height || !is_ready(app) {
        return;
    }
    let world = &mut app.panes.world;
    let Some(view) = &mut world.view else { return };
    let place = view.world([i64::from(column), i64::from(row) * 2], pixels);
    match click {
        Click::Press => {
            world.drag = Some([column, row]);
            world.set_place(place);
            select::select_under_cursor(app);
        }
        Click::Drag => {
            if let Some([from_x, from_y]) = world.drag {
                let by = [i64::from(from_x) - i64::from(column), (i64::from(from_y) - i64::from(row)) * 2];
                view.pan(by);
            }
            world.drag = Some([column, row]);
        }
        Click::Wheel(up) => view.zoom_by(if up { -1 } else { 1 }, place.map(|n| n as f64 + 0.5)),
    }
}
