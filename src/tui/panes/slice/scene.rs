//! What the slice shows, and where: the same for drawing, clicks and jobs.

use super::super::raster::{Raster, letters};
use crate::tui::app::App;
use crate::tui::data::plane::{Axis, Bounds, Plane, Request, Scope, Window, first_block};
use crate::tui::data::{Slot, State, Store};
use crate::tui::draw::pane_inside;
use crate::voxel_map::grid::BLOCK;

/// From this width on there is room for a legend.
const LEGEND: u16 = 58;

/// What the slice shows, and where.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    pub scope: Scope,
    pub bounds: Bounds,
    pub axis: Axis,
    /// The voxel at the cursor.
    pub cursor: [u32; 3],
    /// The same in the picture: from its left, and from its top.
    pub at: [u32; 2],
    pub raster: Raster,
    /// Left, top, width, height.
    pub legend: Option<[u16; 4]>,
    /// The first line about the cursor, and how many there are.
    pub words: [u16; 2],
}

impl Scene {
    /// The voxel at a place of the picture.
    pub fn voxel(&self, [x, y]: [u32; 2]) -> [u32; 3] {
        let [right, down] = self.axis.across();
        let across = right.of(self.bounds.low).saturating_add(x);
        let along = if down.rises() {
            down.of(self.bounds.high).saturating_sub(1).saturating_sub(y)
        } else {
            down.of(self.bounds.low).saturating_add(y)
        };
        self.bounds.clamp(down.with(right.with(self.cursor, across), along))
    }

    /// The place in the picture of a voxel.
    fn place(axis: Axis, bounds: &Bounds, voxel: [u32; 3]) -> [u32; 2] {
        let [right, down] = axis.across();
        let x = right.of(voxel).saturating_sub(right.of(bounds.low));
        let y = if down.rises() {
            down.of(bounds.high).saturating_sub(1).saturating_sub(down.of(voxel))
        } else {
            down.of(voxel).saturating_sub(down.of(bounds.low))
        };
        [x, y]
    }
}

/// What is shown now.
///
/// # Errors
/// A sentence, when there is nothing to show.
pub(super) fn of(app: &App) -> Result<Scene, String> {
    let (scope, bounds) = bounds(app)?;
    let keep = &app.panes.slice;
    let area = pane_inside(app);
    let (width, height) = (area.width, area.height);
    let is_layer = app.opened_item().is_some_and(|opened| opened.grid().is_some());
    let airy = u16::from(height >= 20);
    let words = match (height, is_layer) {
        (0..3, _) => 0,
        (3..8, _) => 1,
        (_, false) => 2,
        (8..14, true) => 3,
        (_, true) => 4,
    };
    let top = 1 + airy;
    let lines = height.saturating_sub(top + words + airy);
    // Beside the picture, or below it where there is more height than width.
    let below = if height >= 26 && (26..90).contains(&width) { (height / 4).min(9) } else { 0 };
    let side = if below == 0 && width >= LEGEND { (width * 2 / 5).clamp(26, 42) } else { 0 };
    let gap = u16::from(side > 0);
    let columns = width.saturating_sub(1 + side + gap);
    let lines = lines.saturating_sub(if below > 0 { below + 1 } else { 0 });
    let legend = if below > 0 {
        Some([1, top + lines + 1, width.saturating_sub(2), below])
    } else {
        (side > 0 && lines > 1).then(|| [width - side, top, side, lines])
    };
    let cursor = bounds.clamp(keep.cursor);
    let [right, down] = keep.axis.across();
    let size = [bounds.len(right), bounds.len(down)];
    // Around a block there are neighbours, around the whole there is nothing.
    let ring = if matches!(scope, Scope::Block(_)) { 2 } else { 0 };
    let mut raster = Raster::new([1, top, columns, lines], letters(app), size, keep.zoom, ring);
    let at = Scene::place(keep.axis, &bounds, cursor);
    raster.follow(keep.first, at);
    let words = [height.saturating_sub(words), words];
    Ok(Scene { scope, bounds, axis: keep.axis, cursor, at, raster, legend, words })
}

/// Whose voxels, and how many.
fn bounds(app: &App) -> Result<(Scope, Bounds), String> {
    let opened = app.opened_item().ok_or("no file is open")?;
    let whole = app.panes.slice.whole;
    let found = match &opened.store {
        Store::Bytes(_) => return Err("There are no voxels in this file: 6 shows its bytes.".into()),
        Store::Layer(grid, _) => {
            let block = app.selection.slot.filter(|_| !whole && !grid.index.is_empty());
            let at = block.and_then(|row| grid.index.get(row)).and_then(|at| {
                let [x, y, z] = at.map(|n| u32::try_from(n).ok()?.checked_mul(BLOCK));
                Some([x?, y?, z?])
            });
            match (block, at) {
                (Some(row), Some(low)) => {
                    let high = low.map(|n| n.saturating_add(BLOCK));
                    (Scope::Block(row), Bounds { low, high })
                }
                (Some(_), None) => return Err("The index puts this block outside of the layer; v shows all.".into()),
                _ => {
                    let dim = grid.dim.ok_or("The description does not say how large the layer is.")?;
                    (Scope::Whole, Bounds::of(dim))
                }
            }
        }
        Store::Region(region, _) if whole => {
            let Some(side) = opened.block_size() else {
                return Err("Choose a block: the header does not say how large blocks are.".into());
            };
            first_block(opened).ok_or("The region's name puts it outside of the world.")?;
            let blocks = region.header.format.region_size.map(u32::from);
            let one = |axis: Axis| axis.of(blocks).saturating_mul(axis.of(side));
            (Scope::Whole, Bounds::of([one(Axis::X), one(Axis::Y), one(Axis::Z)]))
        }
        Store::Region(..) | Store::Pak(_) | Store::Stream(_) => {
            let key = app.block_key().ok_or("Choose a block: 2 has the table, 1 the map; Enter there looks at one.")?;
            let block = match app.block.state(&key) {
                State::Ready(block) => block,
                State::Failed(why) => return Err(why.to_owned()),
                State::Reading | State::Unasked => return Err("Reading the block.".into()),
            };
            (Scope::Block(key.1), Bounds::of(block.size))
        }
    };
    if found.1.is_empty() {
        return Err("There are no voxels here that can be read: 6 shows the bytes, 7 says what is wrong.".into());
    }
    Ok(found)
}

/// What is to be read for it.
pub(super) fn request(app: &App, scene: &Scene) -> Option<Request> {
    let keep = &app.panes.slice;
    let [right, down] = scene.axis.across();
    let window = Window {
        axis: scene.axis,
        cut: scene.axis.of(scene.cursor).into(),
        right: scene.raster.steps(0, right.of(scene.bounds.low), right.rises()),
        down: scene.raster.steps(1, down.of(scene.bounds.low), down.rises()),
    };
    Some(Request { item: app.item_key()?, scope: scene.scope, bounds: scene.bounds, channel: keep.channel, window })
}

/// What can be painted: what is asked for, or what was there a moment ago, when it is a picture of the same place.
pub(super) fn shown<'a>(app: &'a App, request: Option<&Request>) -> Option<(Window, &'a Plane)> {
    let (there, plane) = app.panes.slice.plane.latest()?;
    let request = request?;
    let (a, b) = (&there.window, &request.window);
    let alike = a.axis == b.axis
        && (a.right.count, a.down.count, a.right.step) == (b.right.count, b.down.count, b.right.step)
        && there.item == request.item
        && there.scope == request.scope
        && there.channel == request.channel;
    alike.then_some((*a, plane.as_ref()))
}

/// The block and the place in it of the voxel at the cursor; nothing in layers, whose cells have places of their own.
pub(super) fn locate(app: &App, scene: &Scene) -> Option<(Slot, [u32; 3])> {
    let opened = app.opened_item()?;
    match scene.scope {
        Scope::Block(slot) => Some((*opened.slot(slot)?, scene.cursor)),
        Scope::Whole => {
            let (size, first) = (opened.block_size()?, first_block(opened)?);
            let one = |axis: Axis| {
                let block = axis.of(scene.cursor).checked_div(axis.of(size))?;
                let inside = axis.of(scene.cursor).checked_rem(axis.of(size))?;
                Some((axis.of(first).checked_add(i32::try_from(block).ok()?)?, inside))
            };
            let (x, y, z) = (one(Axis::X)?, one(Axis::Y)?, one(Axis::Z)?);
            Some((*opened.at(0, [x.0, y.0, z.0])?, [x.1, y.1, z.1]))
        }
    }
}
