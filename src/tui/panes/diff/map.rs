//! The map: which blocks differ, one cell a block or several, a layer at a time or all of them looked through.

use ratatui::style::Modifier;

use super::{Keep, look};
use crate::tui::app::App;
use crate::tui::canvas::Canvas;
use crate::tui::data::difference::{Changed, Difference, Fate, Lod};
use crate::tui::data::plane::Axis;
use crate::tui::draw::pane_inside;
use crate::tui::panes::raster::{Raster, Zoom};
use crate::tui::theme::{Glyphs, Role};

/// From this width on the list stands beside the map where there is little height.
const BESIDE: u16 = 64;

/// From this height of map and list on the list stands below the map.
const BELOW: u16 = 14;

/// Shades from little to all.
const SHADES: [[&str; 5]; 2] = [[" ", "░", "▒", "▓", "█"], [" ", "'", ":", "%", "#"]];

/// What is shown, and where: the same for drawing, clicks and keys.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    /// The number of the LOD in the list of LODs.
    pub lod: usize,
    pub axis: Axis,
    /// The layer; `None` for all of them.
    pub cut: Option<i32>,
    /// The lowest and the highest position.
    pub extent: [[i32; 3]; 2],
    /// The block under the cursor.
    pub cursor: [i32; 3],
    pub raster: Raster,
    /// The line of the names.
    pub names: Option<u16>,
    /// The line that says what is seen.
    pub header: u16,
    /// The first line of the legend, and how many there are.
    pub legend: [u16; 2],
    /// Left, top, width, height.
    pub list: Option<[u16; 4]>,
    /// The line about the cursor.
    pub words: Option<u16>,
}

/// What is shown now; `None` while there is no block.
pub(super) fn scene(app: &App) -> Option<Scene> {
    let difference = app.comparison.difference()?;
    let keep = &app.panes.diff;
    let number = difference.lods.iter().position(|lod| Some(lod.lod) == keep.lod).unwrap_or(0);
    let lod = difference.lods.get(number)?;
    let extent = lod.extent?;
    let area = pane_inside(app);
    let (width, height) = (area.width, area.height);
    let names = (height >= 10).then_some(0);
    let header = u16::from(names.is_some());
    let has_words = height >= 12 || (height >= 5 && app.layout().inspector.area() == 0);
    let lines = u16::try_from(super::list::legend(app, width).len()).unwrap_or(1);
    let lines = lines.min(match height {
        0..4 => 0,
        4..12 => 1,
        _ => 3,
    });
    let airy = u16::from(height >= 20);
    let top = header + 1 + airy;
    let bottom = height.saturating_sub(lines + u16::from(has_words));
    let room = bottom.saturating_sub(top + airy);
    let [low, high] = extent;
    let [right, down] = keep.axis.across();
    let size = [right, down].map(|axis| axis.of(high).abs_diff(axis.of(low)).saturating_add(1));
    let place = |columns: u16, lines: u16| {
        // Letters, whatever the colours: what a block is must not be told by these alone. A small world is drawn larger
        // than voxels are.
        let large = size[0].saturating_mul(8) <= columns.into() && size[1].saturating_mul(4) <= lines.into();
        Raster::new([1, top, columns, lines], true, size, keep.zoom.or(large.then_some(Zoom::In(3))), 0)
    };
    let (mut raster, list) = if room >= BELOW {
        let rows = (room / 3).clamp(4, 14);
        let mut raster = place(width.saturating_sub(2), room.saturating_sub(rows + 1));
        // What the map does not need is for the list.
        let taken = raster.seen()[1].saturating_mul(raster.zoom.tall(true).into());
        raster.lines = raster.lines.min(u16::try_from(taken).unwrap_or(u16::MAX));
        let under = raster.lines + 1 + airy;
        (raster, Some([0, top + under, width, room.saturating_sub(under)]))
    } else if width >= BESIDE && room >= 3 {
        let list = (width / 2).clamp(28, 40);
        let map = width.saturating_sub(list + 2);
        (place(map, room), Some([map + 1, top, width.saturating_sub(map + 1), room]))
    } else {
        (place(width.saturating_sub(2), room), None)
    };
    let clamp = |axis: Axis, at: i32| at.clamp(axis.of(low), axis.of(high));
    let cut = keep.cut.map(|cut| clamp(keep.axis, cut));
    let wanted = keep.cursor.unwrap_or(low);
    let cursor = [Axis::X, Axis::Y, Axis::Z].map(|axis| clamp(axis, axis.of(wanted)));
    let cursor = cut.map_or(cursor, |cut| keep.axis.with(cursor, cut));
    let mut scene = Scene {
        lod: number,
        axis: keep.axis,
        cut,
        extent,
        cursor,
        raster,
        names,
        header,
        legend: [bottom, lines],
        list,
        words: has_words.then(|| height.saturating_sub(1)),
    };
    raster.follow(keep.first, scene.place(cursor));
    // In the middle of what there is room for.
    let cells = raster.seen();
    let wide = u32::from(raster.columns).saturating_sub(cells[0].saturating_mul(raster.zoom.wide().into()));
    raster.left = raster.left.saturating_add(u16::try_from(wide / 2).unwrap_or(0));
    scene.raster = raster;
    Some(scene)
}

impl Scene {
    /// The place in the picture, from its left and its top, of a block.
    pub fn place(&self, position: [i32; 3]) -> [u32; 2] {
        let [low, high] = self.extent;
        let [right, down] = self.axis.across();
        let from = |axis: Axis, rises: bool| {
            let at = axis.of(position).clamp(axis.of(low), axis.of(high));
            if rises { axis.of(high).abs_diff(at) } else { at.abs_diff(axis.of(low)) }
        };
        [from(right, false), from(down, down.rises())]
    }

    /// The block at a place of the picture, as deep as the cursor.
    pub fn block(&self, [x, y]: [u32; 2]) -> [i32; 3] {
        let [low, high] = self.extent;
        let [right, down] = self.axis.across();
        let at = |axis: Axis, n: u32, rises: bool| {
            let last = axis.of(high).abs_diff(axis.of(low));
            if rises {
                axis.of(high).saturating_sub_unsigned(n.min(last))
            } else {
                axis.of(low).saturating_add_unsigned(n.min(last))
            }
        };
        let across = right.with(self.cursor, at(right, x, false));
        down.with(across, at(down, y, down.rises()))
    }

    /// The cell of a block, counted from the first of the picture; `None` in another layer.
    pub fn cell(&self, position: [i32; 3]) -> Option<[u32; 2]> {
        if self.cut.is_some_and(|cut| self.axis.of(position) != cut) {
            return None;
        }
        Some(self.place(position).map(|n| n / self.raster.zoom.stride().max(1)))
    }

    /// The same, counted from the first that is seen; `None` outside.
    fn seen(&self, position: [i32; 3]) -> Option<[u32; 2]> {
        let [x, y] = self.cell(position)?;
        let [fx, fy] = self.raster.first.map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        let ([x, y], [w, h]) = ([x.checked_sub(fx)?, y.checked_sub(fy)?], self.raster.seen());
        (x < w && y < h).then_some([x, y])
    }
}

/// What a cell of the map shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MapCell {
    /// The gravest that became of its blocks.
    pub fate: Option<Fate>,
    /// Whether a moved block came here, and nothing else became of it.
    pub came: bool,
    /// Changes.
    pub changes: u32,
    /// Places with a block, in one save or both.
    pub blocks: u32,
    /// Blocks that differ as a whole.
    whole: u32,
    /// Voxels that differ in the others.
    voxels: u64,
}

impl MapCell {
    /// How much of it differs, in quarters, from 0 for nothing to 4 for all.
    fn shade(&self, volume: Option<u64>) -> usize {
        let Some(volume) = volume.filter(|_| self.fate.is_some()) else { return 0 };
        let all = u128::from(self.blocks.max(1)) * u128::from(volume.max(1));
        let some = u128::from(self.whole) * u128::from(volume) + u128::from(self.voxels);
        if some == 0 { 0 } else { usize::try_from((some * 4).div_ceil(all)).unwrap_or(4).min(4) }
    }
}

/// What the cells that are seen show; made anew only when something of it changed.
#[derive(Debug, Default)]
pub(super) struct Layer {
    key: Option<Key>,
    cells: Vec<MapCell>,
    columns: u32,
}

/// What a layer is made for: the comparison and how much of it, the LOD, the axis, the layer, the part that is seen.
type Key = ((u64, u64), u64, usize, Axis, Option<i32>, [u32; 3], [usize; 2]);

impl Layer {
    pub fn at(&self, [x, y]: [u32; 2]) -> MapCell {
        let at = u64::from(y).saturating_mul(self.columns.into()).saturating_add(x.into());
        let cell = usize::try_from(at).ok().filter(|_| x < self.columns).and_then(|at| self.cells.get(at));
        cell.copied().unwrap_or_default()
    }

    /// Makes the cells of a scene; `None` when they are made already.
    pub fn make(&self, app: &App, scene: &Scene) -> Option<Self> {
        let difference = app.comparison.difference()?;
        let lod = difference.lods.get(scene.lod)?;
        let raster = &scene.raster;
        let [columns, rows] = raster.seen();
        let shape = [columns, rows, raster.zoom.stride()];
        let key = (difference.of, difference.version, scene.lod, scene.axis, scene.cut, shape, raster.first);
        if self.key == Some(key) {
            return None;
        }
        let number = usize::try_from(u64::from(columns).saturating_mul(rows.into())).unwrap_or(0);
        let mut cells = vec![MapCell::default(); number];
        let mut at = |position: [i32; 3], change: &mut dyn FnMut(&mut MapCell)| {
            let Some([x, y]) = scene.seen(position) else { return };
            let at = u64::from(y).saturating_mul(columns.into()).saturating_add(x.into());
            if let Some(cell) = usize::try_from(at).ok().and_then(|at| cells.get_mut(at)) {
                change(cell);
            }
        };
        for position in &lod.places {
            at(*position, &mut |cell| cell.blocks = cell.blocks.saturating_add(1));
        }
        for change in &lod.changes {
            at(change.position, &mut |cell| {
                (cell.fate, cell.came) = (cell.fate.max(Some(change.fate)), false);
                cell.changes = cell.changes.saturating_add(1);
                cell.voxels = cell.voxels.saturating_add(change.voxels.into());
                cell.whole = cell.whole.saturating_add((change.fate != Fate::Changed).into());
            });
            if let Some(to) = difference.went(change) {
                at(to, &mut |cell| {
                    if cell.fate.is_none() {
                        (cell.fate, cell.came) = (Some(Fate::Moved), true);
                    }
                    cell.whole = cell.whole.saturating_add(1);
                });
            }
        }
        Some(Self { key: Some(key), cells, columns })
    }
}

/// The number of the change under the cursor: the one that was chosen, or the first one in the cell.
pub(super) fn current(keep: &Keep, scene: &Scene, lod: &Lod) -> Option<usize> {
    let from = lod.from(scene.cursor);
    let here = lod.changes.get(from..).unwrap_or_default();
    let same = here.iter().take_while(|change| change.position == scene.cursor).count();
    if same > 0 {
        return Some(from + keep.nth.min(same - 1));
    }
    let cell = scene.cell(scene.cursor)?;
    if scene.raster.zoom.stride() <= 1 && scene.cut.is_some() {
        return None;
    }
    lod.changes.iter().position(|change| scene.cell(change.position) == Some(cell))
}

/// The nearest layer, before or behind the one at the cursor, in which something differs.
pub(super) fn changed_layer(scene: &Scene, changes: &[Changed], up: bool) -> Option<i32> {
    let here = scene.cut.unwrap_or_else(|| scene.axis.of(scene.cursor));
    let layers = changes.iter().map(|change| scene.axis.of(change.position));
    if up { layers.filter(|at| *at > here).min() } else { layers.filter(|at| *at < here).max() }
}

/// The mark and the role of a cell.
fn mark(cell: &MapCell, glyphs: &Glyphs) -> (&'static str, Role) {
    match cell.fate {
        Some(Fate::Moved) if cell.came => ("<", look(Fate::Moved).1),
        Some(fate) => look(fate),
        None if cell.blocks > 0 => (glyphs.good, Role::Dim),
        None => (" ", Role::Dim),
    }
}

/// Draws the map.
pub(super) fn draw(app: &App, scene: &Scene, difference: &Difference, canvas: &mut Canvas<'_>) {
    let layer = &app.panes.diff.layer;
    let raster = &scene.raster;
    let (wide, tall) = (raster.zoom.wide().max(1), raster.zoom.tall(true).max(1));
    let [columns, rows] = raster.seen();
    let here = scene.seen(scene.cursor);
    let [shades, _] = SHADES;
    let shades = if canvas.glyphs.ascii { SHADES[1] } else { shades };
    let small = |n: u32| u16::try_from(n).unwrap_or(u16::MAX);
    for row in 0..rows {
        for column in 0..columns {
            let cell = layer.at([column, row]);
            let (letter, role) = mark(&cell, &canvas.glyphs);
            let mut style = canvas.theme.style(role);
            if here == Some([column, row]) {
                style = canvas.theme.style(Role::Cursor).add_modifier(Modifier::BOLD);
            }
            // What is full is not full under the cursor, where it would be empty.
            let most = if here == Some([column, row]) { 3 } else { 4 };
            let shade = shades.get(cell.shade(difference.volume()).min(most)).copied().unwrap_or(" ");
            let left = raster.left.saturating_add(small(column).saturating_mul(wide));
            let top = raster.top.saturating_add(small(row).saturating_mul(tall));
            for dy in 0..tall {
                for dx in 0..wide {
                    let text = if dx + dy == 0 { letter } else { shade };
                    canvas.put_styled(left.saturating_add(dx), top.saturating_add(dy), text, style);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shade_is_the_share_of_what_differs() {
        let cell = |blocks, whole, voxels| MapCell {
            fate: Some(Fate::Changed),
            came: false,
            changes: 1,
            blocks,
            whole,
            voxels,
        };
        assert_eq!(cell(1, 0, 0).shade(Some(4096)), 0, "metadata only");
        assert_eq!(cell(1, 0, 1).shade(Some(4096)), 1);
        assert_eq!(cell(1, 0, 4096).shade(Some(4096)), 4);
        assert_eq!(cell(4, 1, 0).shade(Some(4096)), 1);
        assert_eq!(cell(0, 9, u64::MAX).shade(Some(u64::MAX)), 4);
        assert_eq!(cell(1, 1, 0).shade(None), 0);
    }
}
