//! The depth map of a layer, seen from above: the deeper, the darker, with its scale.

use ratatui::style::{Color, Style};

use super::Click;
use super::raster::{Ink, Raster, Zoom, letters};
use super::slice;
use crate::damage::Space;
use crate::printable::triple;
use crate::tui::action::Action;
use crate::tui::app::{App, Bytes, ItemKey};
use crate::tui::canvas::Canvas;
use crate::tui::data::{Cell, DepthRequest, Depths, Part, State, Store, want_counts};
use crate::tui::draw::pane_inside;
use crate::tui::inspector::grouped;
use crate::tui::jobs::Kind;
use crate::tui::theme::{Role, Theme};

/// Colours and shades from shallow to deep.
const RAMP: [(Color, &str); 8] = [
    (Color::White, ":"),
    (Color::LightCyan, "-"),
    (Color::Cyan, "="),
    (Color::LightBlue, "+"),
    (Color::Blue, "*"),
    (Color::LightMagenta, "#"),
    (Color::Magenta, "%"),
    (Color::Red, "@"),
];

/// What a depth below 0 looks like.
const NEGATIVE: (Color, &str) = (Color::LightYellow, "!");

/// What the pane keeps.
#[derive(Debug, Default)]
pub struct Keep {
    /// x and z of the column at the cursor.
    cursor: [u32; 2],
    zoom: Option<Zoom>,
    first: [usize; 2],
    seen: Option<(ItemKey, Option<[u32; 3]>)>,
    depths: Cell<DepthRequest, Depths>,
}

/// What is shown, and where.
struct Scene {
    size: [u32; 2],
    cursor: [u32; 2],
    raster: Raster,
    /// The line of the scale, and the first of the lines about the cursor with how many there are.
    scale: Option<u16>,
    words: [u16; 2],
}

fn scene(app: &App) -> Option<Scene> {
    let grid = app.opened_item()?.grid().filter(|grid| grid.depth.is_some() || grid.packed)?;
    let dim = grid.dim.map(|[x, _, z]| [x, z]);
    let shape = grid.depth.as_ref().and_then(|depth| match depth.npy.shape.as_slice() {
        &[x, z] => Some([u32::try_from(x).ok()?, u32::try_from(z).ok()?]),
        _ => None,
    });
    let size = shape.or(dim).filter(|size| !size.contains(&0))?;
    let area = pane_inside(app);
    let (width, height) = (area.width, area.height);
    let airy = u16::from(height >= 20);
    let words = match height {
        0..3 => 0,
        3..8 => 1,
        _ => 2,
    };
    let scaled = u16::from(height >= 5);
    let top = 1 + airy;
    let lines = height.saturating_sub(top + words + scaled + 2 * airy);
    let [x, z] = app.panes.depth.cursor;
    let [w, h] = size;
    let cursor = [x.min(w.saturating_sub(1)), z.min(h.saturating_sub(1))];
    let place = [1, top, width.saturating_sub(2), lines];
    let mut raster = Raster::new(place, letters(app), size, app.panes.depth.zoom, 0);
    raster.follow(app.panes.depth.first, cursor);
    let first = height.saturating_sub(words);
    let scale = (scaled > 0).then(|| first.saturating_sub(1 + airy));
    Some(Scene { size, cursor, raster, scale, words: [first, words] })
}

fn request(app: &App, scene: &Scene) -> Option<DepthRequest> {
    let (right, down) = (scene.raster.steps(0, 0, false), scene.raster.steps(1, 0, false));
    Some(DepthRequest { item: app.item_key()?, right, down })
}

/// Does an action; true when it meant something here.
pub fn act(app: &mut App, action: Action) -> bool {
    let Some(scene) = scene(app) else { return false };
    let page = i64::from(pane_inside(app).height / 2).max(1);
    if let Some(by) = action.over_cells(page) {
        step(app, &scene, by);
        return true;
    }
    match action {
        Action::First => step(app, &scene, [-i64::from(u32::MAX), 0]),
        Action::Last => step(app, &scene, [i64::from(u32::MAX), 0]),
        Action::ZoomIn => app.panes.depth.zoom = Some(scene.raster.zoom.nearer()),
        Action::ZoomOut => app.panes.depth.zoom = Some(scene.raster.zoom.farther(scene.size)),
        Action::Enter => slice::to_column(app, scene.cursor),
        _ => return false,
    }
    true
}

/// Moves the cursor by cells of the picture.
fn step(app: &mut App, scene: &Scene, by: [i64; 2]) {
    let stride = scene.raster.zoom.stride().max(1);
    let moved = |at: u32, size: u32, by: i64| {
        let last = size.saturating_sub(1) / stride;
        let to = i64::from(at / stride).saturating_add(by).clamp(0, last.into());
        if by == 0 { at } else { u32::try_from(to).unwrap_or(0).saturating_mul(stride) }
    };
    let ([x, z], [w, h], [dx, dz]) = (scene.cursor, scene.size, by);
    publish(app, [moved(x, w, dx), moved(z, h, dz)]);
}

/// Selects the column at the cursor.
fn publish(app: &mut App, at: [u32; 2]) {
    let Some(opened) = app.opened_item().cloned() else { return };
    let Some(grid) = opened.grid() else { return };
    app.panes.depth.cursor = at;
    let [x, z] = at;
    let height = grid.dim.map_or(0, |[_, y, _]| y / 2);
    let y = app.selection.voxel.map_or(height, |[_, y, _]| y);
    app.selection.voxel = Some([x, y, z]);
    let span = grid.depth.as_ref().and_then(|depth| {
        let place = depth.npy.place(&at.map(u64::from))?;
        Some(depth.npy.span(place, 1)).filter(|span| !span.is_empty())
    });
    app.selection.bytes = span.map(|span| Bytes { space: Space::File, part: Part::Depth, span });
    app.panes.depth.seen = app.item_key().map(|key| (key, app.selection.voxel));
}

/// Asks for what is needed.
pub fn want(app: &mut App) {
    let Some(key) = app.item_key().filter(|_| app.opened_item().is_some()) else { return };
    let now = (key, app.selection.voxel);
    if app.panes.depth.seen != Some(now) {
        if app.panes.depth.seen.is_none_or(|(before, _)| before != key) {
            app.panes.depth = Keep::default();
            if let Some(Scene { size: [w, h], .. }) = scene(app) {
                app.panes.depth.cursor = [w / 2, h / 2];
            }
        }
        if let Some([x, _, z]) = app.selection.voxel {
            app.panes.depth.cursor = [x, z];
        }
        app.panes.depth.seen = Some(now);
    }
    let Some(scene) = scene(app) else { return };
    app.panes.depth.first = scene.raster.first;
    app.panes.depth.cursor = scene.cursor;
    let (Some(opened), Some(request)) = (app.opened_item().cloned(), request(app, &scene)) else { return };
    if app.panes.depth.depths.want(&request) {
        app.job(
            Kind::Depths,
            move |worker| {
                if let Some(depths) = Depths::read(&opened, &request, worker.cancel()) {
                    worker.answer(move |app| app.panes.depth.depths.put(request, Ok(depths)));
                }
            },
            |app, why| app.panes.depth.depths.fail(why),
        );
    }
    want_counts(app);
}

/// Does a click.
pub fn click(app: &mut App, click: Click, x: u16, y: u16) {
    let Some(scene) = scene(app) else { return };
    match click {
        Click::Wheel(up) => step(app, &scene, [0, if up { -3 } else { 3 }]),
        Click::Press => {
            if let Some(at) = scene.raster.at(x, y) {
                publish(app, at);
            }
        }
    }
}

/// The scale: that of the whole layer once it is known, before that of what is seen.
fn range(app: &App, depths: &Depths) -> Option<(f32, f32)> {
    let report = app.item_key().and_then(|key| app.counts.get(&key));
    let metres = |centimetres: i32| centimetres as f32 / 100.0;
    let all = report.and_then(|report| match (report.depths, report.packed) {
        (Some(stats), _) => stats.range,
        (None, packed) => packed.map(|(a, b)| (metres(a).max(0.0), metres(b))),
    });
    all.or(depths.range)
}

fn ink(depth: Option<f32>, range: Option<(f32, f32)>) -> Ink {
    let Some(depth) = depth else { return Ink::Blank };
    if depth == 0.0 {
        return Ink::Air;
    }
    if depth < 0.0 && depth.is_finite() {
        return Ink::Solid(NEGATIVE.0, NEGATIVE.1);
    }
    let Some((low, high)) = range.filter(|_| depth.is_finite()) else { return Ink::Fault };
    let share = if high > low { ((depth - low) / (high - low)).clamp(0.0, 1.0) } else { 1.0 };
    let at = (0u8..8).rev().find(|step| f32::from(*step) / 8.0 <= share).unwrap_or(0);
    RAMP.get(usize::from(at)).map_or(Ink::Fault, |(color, letter)| Ink::Solid(*color, letter))
}

/// Draws the pane.
pub fn draw(app: &App, canvas: &mut Canvas<'_>) {
    if super::nothing_yet(app, canvas) {
        return;
    }
    let Some(scene) = scene(app) else {
        canvas.wrap(1, 1, "There is no depth map here: only layers of maps have one.", Role::Dim);
        return;
    };
    let packed = app.opened_item().and_then(|opened| opened.grid()).is_some_and(|grid| grid.depth.is_none());
    let from = if packed { "largest depth of each column" } else { "depth map" };
    let [w, h] = scene.size;
    let dot = canvas.glyphs.dot;
    let scale = scene.raster.zoom.words(scene.raster.letters, "column");
    let axes = if canvas.glyphs.ascii { "right x  down z" } else { "→ x  ↓ z" };
    let sizes = format!("{} x {}", grouped(w.into()), grouped(h.into()));
    let x = canvas.line(1, 0, &[(Role::Strong, from), (Role::Dim, dot), (Role::Text, &sizes)]);
    let room = canvas.width().saturating_sub(x + 1);
    canvas.put_within(x, 0, room, &format!("{dot}{scale}{dot}{axes}"), Role::Dim);
    let Some(request) = request(app, &scene) else { return };
    let shown = app.panes.depth.depths.latest().filter(|(there, _)| {
        there.item == request.item
            && (there.right.count, there.down.count, there.right.step)
                == (request.right.count, request.down.count, request.right.step)
    });
    if let Some((_, depths)) = shown {
        let range = range(app, depths);
        scene.raster.paint(canvas, Some(scene.cursor), &|column, row| ink(depths.at(column, row), range));
        if let Some(y) = scene.scale {
            draw_scale(range, scene.raster.letters, y, canvas);
        }
    } else if let State::Failed(why) = app.panes.depth.depths.state(&request) {
        canvas.put(1, scene.raster.top, why, Role::Error);
    } else {
        canvas.put(1, scene.raster.top, "Reading the depths.", Role::Dim);
    }
    words(app, &scene, &request, canvas);
}

/// From the smallest to the largest, and what else there is.
fn draw_scale(range: Option<(f32, f32)>, letters: bool, y: u16, canvas: &mut Canvas<'_>) {
    let Some((low, high)) = range else {
        canvas.put(1, y, "no depth above 0", Role::Dim);
        return;
    };
    let mut x = canvas.put(1, y, &format!("{} m ", slice::short(low.into())), Role::Text);
    let mono = canvas.theme == Theme::Mono;
    for (color, letter) in RAMP {
        let style = if mono { Style::new() } else { Style::new().fg(color) };
        let symbol = if letters { letter } else { "█" };
        x = canvas.put_styled(x, y, symbol, style);
        x = canvas.put_styled(x, y, symbol, style);
    }
    x = canvas.put(x, y, &format!(" {} m", slice::short(high.into())), Role::Text);
    let none = if letters { "." } else { "·" };
    let below = if mono { Style::new() } else { Style::new().fg(NEGATIVE.0) };
    let rest = [
        (none, canvas.theme.style(Role::Dim), " no water"),
        (if letters { NEGATIVE.1 } else { "█" }, below, " below 0"),
        ("?", canvas.theme.style(Role::Error), " no number"),
    ];
    for (symbol, style, words) in rest {
        let width = u16::try_from(words.len()).unwrap_or(u16::MAX);
        if x.saturating_add(width).saturating_add(3) > canvas.width() {
            break;
        }
        x = canvas.put_styled(x + 2, y, symbol, style);
        x = canvas.put(x, y, words, Role::Dim);
    }
}

/// What is at the cursor.
fn words(app: &App, scene: &Scene, request: &DepthRequest, canvas: &mut Canvas<'_>) {
    let [y, lines] = scene.words;
    let Some(opened) = app.opened_item().filter(|_| lines > 0) else { return };
    let [x, z] = scene.cursor;
    let found = app.panes.depth.depths.get(request).and_then(|depths| {
        // A cursor between two cells of the picture is not in it.
        let (column, row) = (request.right.number(x.into())?, request.down.number(z.into())?);
        Some(depths.at(column, row))
    });
    let (role, value) = match found {
        Some(Some(0.0)) => (Role::Text, "depth 0 m, no water".to_owned()),
        Some(Some(depth)) if !depth.is_finite() => (Role::Error, format!("depth {depth}, no number")),
        Some(Some(depth)) if depth < 0.0 => (Role::Warning, format!("depth {} m, below 0", slice::short(depth.into()))),
        Some(Some(depth)) => (Role::Value, format!("depth {} m", slice::short(depth.into()))),
        Some(None) => (Role::Dim, "nothing stored".to_owned()),
        None => (Role::Dim, "between two cells of the picture".to_owned()),
    };
    let dot = canvas.glyphs.dot;
    let column = format!("column ({x}, {z})");
    let mut at = canvas.line(1, y, &[(Role::Strong, &column), (Role::Dim, dot), (role, &value)]);
    if let Store::Layer(_, layer) = &opened.store
        && let Some(frame) = layer.frame()
    {
        let [wx, _, wz] = frame.centre([x, 0, z]).map(slice::short);
        let world = format!("world x {wx}, z {wz}");
        if lines > 1 {
            canvas.put(1, y + 1, &world, Role::Text);
        } else {
            at = canvas.put(at, y, dot, Role::Dim);
            canvas.put(at, y, &world, Role::Text);
        }
    }
}

/// What is copied.
#[must_use]
pub fn copy(app: &App) -> Option<String> {
    let (index, scene) = (app.index.as_ref()?, scene(app)?);
    let request = request(app, &scene)?;
    let [x, z] = scene.cursor;
    let (column, row) = (request.right.number(x.into())?, request.down.number(z.into())?);
    let depth = app.panes.depth.depths.get(&request)?.at(column, row)?;
    let file = index.shown(app.selected_item()?);
    Some(format!("{file}, column {}: depth {depth} m", triple([x, 0, z])))
}
