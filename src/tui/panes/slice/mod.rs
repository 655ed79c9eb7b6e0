//! The voxels of a block, or of a whole region or layer, cut along an axis: by value, distance or flags.

pub(super) mod ink;
mod legend;
mod place;
mod scene;
mod words;

use super::Click;
use super::raster::Zoom;
use crate::damage::Space;
use crate::godot::channel::{CHANNELS, SDF};
use crate::printable::triple;
use crate::tui::action::Action;
use crate::tui::app::{App, Bytes, ItemKey};
use crate::tui::canvas::Canvas;
use crate::tui::data::plane::{Axis, Plane, Request};
use crate::tui::data::{Cell, Part, Store, want_counts};
use crate::tui::draw::pane_inside;
use crate::tui::jobs::Kind;
use crate::tui::pane::Pane;
use crate::tui::theme::Role;
use crate::voxel_map::grid::Voxel;

pub(super) use ink::Line;
pub(super) use place::to_column;
pub use place::to_voxel;
use place::{follow, middle, publish};
use scene::{Scene, locate};
pub(super) use words::{joined, number, short, world};

/// What the pane keeps.
#[derive(Debug, Default)]
pub struct Keep {
    /// The voxel at the cursor: from the block's corner, or from that of the region or layer.
    cursor: [u32; 3],
    /// Set when the cursor goes to the middle as soon as it is known where that is.
    centre: bool,
    axis: Axis,
    whole: bool,
    zoom: Option<Zoom>,
    first: [usize; 2],
    channel: Option<usize>,
    /// Raw values where there could be distances or flags.
    raw: bool,
    /// Lines of the legend that are switched off, by their bits.
    off: u32,
    /// The line of the legend with the cursor.
    line: Option<Line>,
    /// What was selected when the cursor was put there.
    seen: Option<(ItemKey, Option<u32>, Option<[u32; 3]>)>,
    /// Set when the bytes of the voxel are to be selected once its block is there.
    place: bool,
    plane: Cell<Request, Plane>,
    voxel: Cell<(ItemKey, [u32; 3]), Option<Voxel>>,
}

/// Does an action; true when it meant something here.
pub fn act(app: &mut App, action: Action) -> bool {
    let Ok(scene) = scene::of(app) else { return false };
    let page = i64::from(pane_inside(app).height / 2).max(1);
    if let Some(by) = action.over_cells(page) {
        step(app, &scene, by);
        return true;
    }
    match action {
        Action::First => step(app, &scene, [-i64::from(u32::MAX), 0]),
        Action::Last => step(app, &scene, [i64::from(u32::MAX), 0]),
        Action::CutDown => cut(app, &scene, false),
        Action::CutUp => cut(app, &scene, true),
        Action::AxisX => turn(app, Axis::X),
        Action::AxisY => turn(app, Axis::Y),
        Action::AxisZ => turn(app, Axis::Z),
        Action::ZoomIn => app.panes.slice.zoom = Some(scene.raster.zoom.nearer()),
        Action::ZoomOut => app.panes.slice.zoom = Some(scene.raster.zoom.farther(scene.raster.size)),
        Action::NextChannel => next_channel(app),
        Action::Mode => next_mode(app),
        Action::Whole => widen(app, &scene),
        Action::LegendUp => legend::step(app, false),
        Action::LegendDown => legend::step(app, true),
        Action::Toggle => legend::toggle(app),
        Action::ToggleAll => legend::toggle_all(app),
        Action::Enter
            if app.panes.slice.whole
                && locate(app, &scene).is_some()
                && app.opened_item().is_some_and(|opened| opened.region().is_some()) =>
        {
            publish(app, &scene);
            widen(app, &scene);
        }
        Action::Enter => {
            publish(app, &scene);
            app.show(Pane::Hex);
        }
        _ => return false,
    }
    true
}

/// Moves the cursor by cells of the picture.
fn step(app: &mut App, scene: &Scene, by: [i64; 2]) {
    let stride = scene.raster.zoom.stride().max(1);
    let moved = |side: usize| {
        let at = scene.at.get(side).copied().unwrap_or(0) / stride;
        let last = scene.raster.size.get(side).copied().unwrap_or(0).saturating_sub(1) / stride;
        let to = i64::from(at).saturating_add(by.get(side).copied().unwrap_or(0)).clamp(0, last.into());
        // What does not move stays where it is also when it is between two cells.
        let stays = by.get(side) == Some(&0);
        let to = u32::try_from(to).unwrap_or(0).saturating_mul(stride);
        if stays { scene.at.get(side).copied().unwrap_or(0) } else { to }
    };
    app.panes.slice.cursor = scene.voxel([moved(0), moved(1)]);
    publish(app, scene);
}

/// The cut before, or the next one.
fn cut(app: &mut App, scene: &Scene, up: bool) {
    let axis = app.panes.slice.axis;
    let at = axis.of(scene.cursor);
    let to = if up { at.saturating_add(1) } else { at.saturating_sub(1) };
    app.panes.slice.cursor = scene.bounds.clamp(axis.with(scene.cursor, to));
    publish(app, scene);
}

fn turn(app: &mut App, axis: Axis) {
    if app.panes.slice.axis != axis {
        app.panes.slice.axis = axis;
        (app.panes.slice.first, app.panes.slice.zoom) = ([0; 2], None);
    }
}

fn next_channel(app: &mut App) {
    if app.opened_item().is_none_or(|opened| opened.region().is_none()) {
        app.say("There is one channel here.".into());
        return;
    }
    let channel = (channel(app) + 1) % CHANNELS;
    app.panes.slice.channel = Some(channel);
    app.panes.slice.raw = false;
}

/// Values, and what else there is: distances in regions, flags in maps.
fn next_mode(app: &mut App) {
    let Some(opened) = app.opened_item() else { return };
    match &opened.store {
        Store::Region(..) | Store::Stream(_) if channel(app) != SDF => {
            app.panes.slice.channel = Some(SDF);
            app.panes.slice.raw = false;
        }
        Store::Region(..) | Store::Stream(_) | Store::Layer(..) => app.panes.slice.raw = !app.panes.slice.raw,
        Store::Pak(_) | Store::Bytes(_) => app.say("There are only values here.".into()),
    }
}

/// From the block to the whole file, and back to the block under the cursor.
fn widen(app: &mut App, scene: &Scene) {
    let Some(opened) = app.opened_item().cloned() else { return };
    let found = locate(app, scene);
    match &opened.store {
        Store::Region(..) if app.panes.slice.whole => {
            let Some((slot, local)) = found else {
                app.say("There is no block under the cursor.".into());
                return;
            };
            app.selection.slot = Some(slot.slot);
            app.panes.slice.cursor = local;
        }
        Store::Region(..) => {
            let size = opened.block_size().zip(crate::tui::data::plane::first_block(&opened));
            let Some(((size, first), (slot, local))) = size.zip(found) else {
                app.say("The header does not say how large blocks are, so they cannot be put together.".into());
                return;
            };
            let Some(position) = slot.position else {
                app.say("It is not known where this block is.".into());
                return;
            };
            let one = |axis: Axis| {
                let blocks = i64::from(axis.of(position)) - i64::from(axis.of(first));
                let at = blocks.saturating_mul(axis.of(size).into()).saturating_add(axis.of(local).into());
                u32::try_from(at).unwrap_or(0)
            };
            app.panes.slice.cursor = [one(Axis::X), one(Axis::Y), one(Axis::Z)];
        }
        Store::Layer(grid, _) => {
            if app.panes.slice.whole && (grid.index.is_empty() || app.selection.slot.is_none()) {
                app.say(if grid.index.is_empty() {
                    "This layer has no blocks: it is one array.".into()
                } else {
                    "There is no block under the cursor.".into()
                });
                return;
            }
        }
        Store::Stream(_) => {
            app.say("A stream has no regions: its blocks are looked at one by one.".into());
            return;
        }
        Store::Pak(_) | Store::Bytes(_) => {
            app.say("Chunks are looked at one by one.".into());
            return;
        }
    }
    let keep = &mut app.panes.slice;
    keep.whole = !keep.whole;
    (keep.first, keep.zoom) = ([0; 2], None);
    if let Ok(scene) = scene::of(app) {
        publish(app, &scene);
    }
}

/// The channel that is shown.
fn channel(app: &App) -> usize {
    let keep = &app.panes.slice;
    keep.channel.or_else(|| Some(keep.plane.latest()?.1.channel)).unwrap_or(0)
}

/// Looks at a channel.
pub fn to_channel(app: &mut App, channel: usize) {
    app.panes.slice.channel = Some(channel);
    app.panes.slice.raw = false;
    app.show(Pane::Slice);
}

/// Asks for what is needed.
pub fn want(app: &mut App) {
    follow(app);
    let Ok(mut scene) = scene::of(app) else { return };
    if app.panes.slice.centre {
        app.panes.slice.cursor = middle(app, &scene);
        app.panes.slice.centre = false;
        scene = scene::of(app).unwrap_or(scene);
    }
    if app.selection.voxel.is_none() {
        // On a cell of the picture: no block is selected, so what the picture has is all that is known.
        let stride = scene.raster.zoom.stride().max(1);
        app.panes.slice.cursor = scene.voxel(scene.at.map(|n| n / stride * stride));
        scene = scene::of(app).unwrap_or(scene);
    }
    app.panes.slice.first = scene.raster.first;
    let (Some(key), Some(opened)) = (app.item_key(), app.opened_item().cloned()) else { return };
    let Some(request) = scene::request(app, &scene) else { return };
    if app.panes.slice.plane.want(&request) {
        let opened = std::sync::Arc::clone(&opened);
        app.job(
            Kind::Plane,
            move |worker| {
                if let Some(plane) = Plane::read(&opened, &request, worker.cancel()) {
                    worker.answer(move |app| app.panes.slice.plane.put(request, Ok(plane)));
                }
            },
            |app, why| app.panes.slice.plane.fail(why),
        );
    }
    if opened.grid().is_some() {
        want_counts(app);
        let at = (key, scene.cursor);
        if app.panes.slice.voxel.want(&at) {
            app.job(
                Kind::Voxel,
                move |worker| {
                    let Some(grid) = opened.grid() else { return };
                    let voxel = grid.voxel(at.1).map_err(|error| error.to_string());
                    worker.answer(move |app| app.panes.slice.voxel.put(at, voxel));
                },
                |app, why| app.panes.slice.voxel.fail(why),
            );
        }
    } else if app.panes.slice.place
        && let (Some(voxel), Some(block)) = (app.selection.voxel, app.selected_block())
    {
        let span = block.place(channel(app), voxel);
        app.panes.slice.place = false;
        app.selection.bytes = span.map(|span| Bytes { space: Space::Block, part: Part::Data, span });
    }
}

/// Does a click.
pub fn click(app: &mut App, click: Click, x: u16, y: u16) {
    let Ok(scene) = scene::of(app) else { return };
    let in_legend = scene.legend.filter(|[left, top, width, height]| {
        (*left..left.saturating_add(*width)).contains(&x) && (*top..top.saturating_add(*height)).contains(&y)
    });
    match click {
        Click::Wheel(up) if in_legend.is_some() => legend::step(app, !up),
        Click::Wheel(up) => cut(app, &scene, up),
        Click::Press => {
            if let Some([left, top, ..]) = in_legend {
                legend::press(app, &scene, x.saturating_sub(left), y.saturating_sub(top));
            } else if let Some(at) = scene.raster.at(x, y) {
                app.panes.slice.cursor = scene.voxel(at);
                publish(app, &scene);
            }
        }
    }
}

/// Draws the pane.
pub fn draw(app: &App, canvas: &mut Canvas<'_>) {
    if super::nothing_yet(app, canvas) {
        return;
    }
    let scene = match scene::of(app) {
        Ok(scene) => scene,
        Err(why) => {
            canvas.wrap(1, 1, &why, Role::Dim);
            return;
        }
    };
    words::header(app, &scene, canvas);
    let request = scene::request(app, &scene);
    let shown = scene::shown(app, request.as_ref());
    if let (Some((window, plane)), Some(request)) = (shown, &request) {
        let look = ink::Look::new(app, plane);
        scene.raster.paint(canvas, Some(scene.at), &|column, row| {
            let ink = look.ink(plane.at(column, row));
            if request.bounds.contains(window.cell(column, row)) { ink } else { ink.beyond() }
        });
        legend::draw(app, &scene, plane, canvas);
    } else {
        let why = request.as_ref().map(|request| app.panes.slice.plane.state(request));
        let (words, role) = match why {
            Some(crate::tui::data::State::Failed(why)) => (why, Role::Error),
            _ => ("Reading the voxels.", Role::Dim),
        };
        canvas.put(1, scene.raster.top, words, role);
    }
    words::cursor(app, &scene, canvas);
}

/// What is copied.
#[must_use]
pub fn copy(app: &App) -> Option<String> {
    let index = app.index.as_ref()?;
    let file = index.shown(app.selected_item()?);
    let scene = scene::of(app).ok()?;
    let value = words::value(app, &scene).unwrap_or_else(|| "nothing".into());
    if app.opened_item()?.grid().is_some() {
        return Some(format!("{file}, cell {}: {value}", triple(scene.cursor)));
    }
    let (slot, local) = locate(app, &scene)?;
    let block = slot.position.map_or_else(|| slot.slot.to_string(), triple);
    Some(format!("{file}, block {block}, voxel {}: value {value}", triple(local)))
}
