//! Where the cursor is: what the other panes hear of it, and how it goes where they are.

use super::scene::{self, Scene, locate};
use super::turn;
use crate::damage::Space;
use crate::printable::triple;
use crate::tui::app::{App, Bytes};
use crate::tui::data::plane::{Axis, Scope};
use crate::tui::data::{Part, Slot};
use crate::tui::pane::Pane;
use crate::voxel_map::grid::BLOCK;

/// Selects what is at the cursor, so that the other panes speak of it too.
pub(super) fn publish(app: &mut App, scene: &Scene) {
    let Some(opened) = app.opened_item().cloned() else { return };
    let cursor = scene.bounds.clamp(app.panes.slice.cursor);
    app.panes.slice.cursor = cursor;
    let scene = &Scene { cursor, ..scene.clone() };
    if let Some(grid) = opened.grid() {
        app.selection.voxel = Some(cursor);
        let row = grid.index.find(crate::voxel_map::grid::block_of(cursor));
        if !grid.index.is_empty() {
            (app.selection.slot, app.selection.sector) = (row, row.map(u64::from));
        }
        let place = grid.data.as_ref().and_then(|data| {
            let [x, y, z] = cursor.map(u64::from);
            let block = u64::from(BLOCK);
            let place = match row {
                Some(row) => data.npy.place(&[row.into(), x % block, y % block, z % block]),
                None => data.npy.place(&[x, y, z]),
            };
            Some(data.npy.span(place?, 1)).filter(|span| !span.is_empty())
        });
        app.selection.bytes = place.map(|span| Bytes { space: Space::File, part: Part::Data, span });
    } else {
        let found = locate(app, scene);
        app.selection.slot = found.map(|(slot, _)| slot.slot);
        app.selection.sector = found.map(|(slot, _)| slot.first);
        app.selection.voxel = found.map(|(_, local)| local);
        app.selection.bytes = None;
        app.panes.slice.place = found.is_some();
    }
    app.panes.slice.seen = app.item_key().map(|key| (key, app.selection.slot, app.selection.voxel));
}

/// Goes where the selection is, when it went elsewhere since.
pub(super) fn follow(app: &mut App) {
    let (Some(key), Some(opened)) = (app.item_key(), app.opened_item().cloned()) else { return };
    let now = (key, app.selection.slot, app.selection.voxel);
    let keep = &mut app.panes.slice;
    if keep.seen == Some(now) {
        return;
    }
    let other_file = keep.seen.is_none_or(|(before, ..)| before != key);
    let other_block = keep.seen.is_none_or(|(_, slot, _)| slot != app.selection.slot);
    let is_layer = opened.grid().is_some();
    if other_file {
        keep.plane.clear();
        (keep.zoom, keep.first, keep.line, keep.off) = (None, [0; 2], None, 0);
    }
    if other_file || (other_block && !is_layer) {
        keep.whole = is_layer || (app.selection.slot.is_none() && opened.region().is_some());
        (keep.zoom, keep.first) = (None, [0; 2]);
        keep.centre = true;
    }
    let block = app.selection.slot.and_then(|slot| opened.slot(slot)).and_then(|slot| slot.position);
    match app.selection.voxel {
        Some(voxel) => {
            keep.cursor = voxel;
            keep.centre = false;
            // In the block of the voxel, not in the whole region.
            if !is_layer && app.selection.slot.is_some() {
                keep.whole = false;
            }
        }
        None if is_layer && other_block => {
            if let Some(at) = block {
                keep.cursor = at.map(|n| u32::try_from(n).unwrap_or(0).saturating_mul(BLOCK).saturating_add(BLOCK / 2));
                keep.centre = false;
            }
        }
        None => {}
    }
    keep.seen = Some(now);
}

/// The middle: of a block, or where there are blocks.
pub(super) fn middle(app: &App, scene: &Scene) -> [u32; 3] {
    let mid = |axis: Axis| {
        let (low, high) = (axis.of(scene.bounds.low), axis.of(scene.bounds.high));
        low.saturating_add(high.saturating_sub(low) / 2)
    };
    let middle = [mid(Axis::X), mid(Axis::Y), mid(Axis::Z)];
    let Some(opened) = app.opened_item().filter(|_| app.panes.slice.whole) else { return middle };
    let (Some(size), first) = (opened.block_size(), crate::tui::data::plane::first_block(opened)) else {
        return middle;
    };
    let first = first.unwrap_or_default();
    let Some(block) = typical(&opened.slots) else { return middle };
    let one = |axis: Axis| {
        let (block, side) = (i64::from(axis.of(block)) - i64::from(axis.of(first)), i64::from(axis.of(size)));
        u32::try_from(block.saturating_mul(side).saturating_add(side / 2)).unwrap_or(0)
    };
    scene.bounds.clamp([one(Axis::X), one(Axis::Y), one(Axis::Z)])
}

/// The block that takes most room in the file, where most is to be seen; of several, the one nearest to where most are.
fn typical(slots: &[Slot]) -> Option<[i32; 3]> {
    let largest = slots.iter().filter(|slot| slot.position.is_some()).map(|slot| slot.count).max()?;
    let positions = || slots.iter().filter(|slot| slot.count == largest).filter_map(|slot| slot.position);
    let median = |axis: Axis| {
        let mut all: Vec<i32> = positions().map(|at| axis.of(at)).collect();
        let half = all.len() / 2;
        (half < all.len()).then(|| *all.select_nth_unstable(half).1)
    };
    let centre = [median(Axis::X)?, median(Axis::Y)?, median(Axis::Z)?];
    let far = |axis: Axis, at: [i32; 3]| u64::from(axis.of(at).abs_diff(axis.of(centre)));
    positions().min_by_key(|at| far(Axis::X, *at) + far(Axis::Z, *at) + far(Axis::Y, *at))
}

/// Goes to a voxel: of the selected block, of a layer, or, in the picture of a whole region, of that.
///
/// # Errors
/// A sentence, when there is none.
pub fn to_voxel(app: &mut App, voxel: [u32; 3]) -> Result<(), String> {
    follow(app);
    let is_layer = app.opened_item().is_some_and(|opened| opened.grid().is_some());
    if app.pane != Pane::Slice && !is_layer {
        app.panes.slice.whole = false;
    }
    let scene = scene::of(app)?;
    if !scene.bounds.contains(voxel.map(i64::from)) {
        let what = match scene.scope {
            Scope::Block(_) => "the block",
            Scope::Whole if is_layer => "the layer",
            Scope::Whole => "the region",
        };
        let (low, high) = (scene.bounds.low, scene.bounds.high);
        let last = triple(high.map(|n| n.saturating_sub(1)));
        return Err(format!("there is no voxel {}: {what} has {} to {last}", triple(voxel), triple(low)));
    }
    app.pane = Pane::Slice;
    app.panes.slice.cursor = voxel;
    app.panes.slice.centre = false;
    publish(app, &scene);
    Ok(())
}

/// Goes to a column of a layer, seen from above.
pub(in crate::tui::panes) fn to_column(app: &mut App, [x, z]: [u32; 2]) {
    app.show(Pane::Slice);
    follow(app);
    app.panes.slice.whole = true;
    turn(app, Axis::Y);
    if let Ok(scene) = scene::of(app) {
        let [_, y, _] = if app.panes.slice.centre { middle(app, &scene) } else { scene.cursor };
        app.panes.slice.centre = false;
        app.panes.slice.cursor = [x, y, z];
        publish(app, &scene);
    }
}
