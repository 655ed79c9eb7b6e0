//! The picture as it was painted last, and painted anew where something of it changed.

use std::sync::{Arc, PoisonError};

use ratatui::layout::Rect;

use super::Ready;
use super::overview::{self, Overview};
use super::sheets::Sheet;
use super::view::View;
use crate::picture::color::{self, Rgb};
use crate::picture::difference;
use crate::picture::legend::Entry;
use crate::picture::paint::{Style, Window};
use crate::picture::palette::Palette;
use crate::picture::pyramid::Pyramid;
use crate::picture::tile::Grid;
use crate::picture::{Layer, Look, Mark, Marks, Pixel};
use crate::tui::App;

/// Where blocks are of which nothing is read yet, or which are empty.
const BLOCK: Rgb = [48, 52, 60];

/// Columns of the coordinates at the left.
const GUTTER: u16 = 7;

/// Columns of a legend beside the picture.
const BESIDE: u16 = 27;

/// Where the legend is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LegendPlace {
    /// So many rows below the picture.
    Below(u16),
    /// To the right of the picture, a row each.
    Beside,
}

/// The parts of the pane, counted from its corner inside the frame.
#[derive(Clone, Copy, Debug)]
pub struct Areas {
    /// The picture.
    pub picture: Rect,
    /// Coordinates on top.
    pub top: Rect,
    /// Coordinates at the left.
    pub left: Rect,
    /// Legend and scale.
    pub legend: Rect,
}

impl Areas {
    /// The parts of a pane of this size.
    pub fn new(pane: Rect, legend: LegendPlace) -> Self {
        let Rect { width, height, .. } = pane;
        let gutter = if width >= 40 { GUTTER } else { 0 };
        let top = u16::from(height >= 8);
        let (rows, columns) = match legend {
            LegendPlace::Beside => (0, BESIDE),
            LegendPlace::Below(rows) if height >= 6 => (rows.min(height / 8).max(1), 0),
            LegendPlace::Below(_) => (0, 0),
        };
        let wide = width.saturating_sub(gutter + columns);
        let high = height.saturating_sub(top + rows);
        let legend = match legend {
            LegendPlace::Beside => Rect { x: gutter + wide, y: top, width: columns, height: high },
            LegendPlace::Below(_) => Rect { x: 0, y: top + high, width, height: rows },
        };
        Self {
            picture: Rect { x: gutter, y: top, width: wide, height: high },
            top: Rect { x: gutter, y: 0, width: width.saturating_sub(gutter), height: top },
            left: Rect { x: 0, y: top, width: gutter, height: high },
            legend,
        }
    }

    /// Pixels of the picture, across and down.
    pub fn pixels(&self) -> [i64; 2] {
        [i64::from(self.picture.width), i64::from(self.picture.height) * 2]
    }
}

/// What a picture depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    view: View,
    pixels: [i64; 2],
    layer: Layer,
    look: Look,
    version: u64,
    marks: u64,
    names: usize,
    /// Where the tables of the worlds are in memory.
    worlds: Vec<usize>,
    spot: Option<usize>,
    /// Where a cut is through the marks.
    cut: i64,
}

/// A picture that was painted.
#[derive(Debug)]
pub struct Image {
    key: Key,
    /// Pixels across.
    pub width: usize,
    /// Row by row; `None` where nothing is.
    pub colors: Vec<Option<Rgb>>,
    /// Which line of the legend with a kind each pixel is of, counted from 1; 0 where it is of none.
    kinds: Vec<u8>,
    /// The marks of the blocks, where there are some.
    pub marks: Vec<Option<Mark>>,
    /// What the colours mean.
    pub legend: Vec<Entry>,
    /// How many blocks have which mark.
    pub counts: Vec<(Mark, usize)>,
    /// The cells that have the letter of their mark: one in each block, or one for some cells.
    pub letters: Vec<([usize; 2], Mark)>,
    /// All of the world with the part that is seen, when that is not all: columns, and whether there is a block.
    pub overview: Option<Overview>,
    /// Pixels at the edges beyond which there are blocks.
    pub beyond: Vec<[i64; 2]>,
}

impl Image {
    /// The look that it was painted in.
    pub const fn look(&self) -> Look {
        self.key.look
    }

    /// The letter of a pixel that is of a kind, where the picture consists of letters.
    pub fn letter_at(&self, at: usize) -> Option<char> {
        kind_letter(usize::from(*self.kinds.get(at)?).checked_sub(1)?)
    }

    /// The letter of a line of the legend, if it has a kind.
    pub fn letter_of(&self, entry: &Entry) -> Option<char> {
        let key = entry.key()?;
        kind_letter(self.legend.iter().filter_map(Entry::key).position(|other| other == key)?)
    }

    /// What it was painted for.
    #[cfg(feature = "graphics")]
    pub const fn key(&self) -> &Key {
        &self.key
    }

    /// The colour of a pixel with the mark of its block over it: an outline and a few lines, so that the ground is seen.
    pub fn marked(&self, at: usize) -> Option<Rgb> {
        let color = self.colors.get(at).copied().flatten();
        let Some(mark) = self.marks.get(at).copied().flatten() else { return color };
        let [x, y] = [at % self.width.max(1), at / self.width.max(1)];
        let same = |at: Option<usize>| at.and_then(|at| self.marks.get(at)).is_some_and(|other| *other == Some(mark));
        let left = if x > 0 { at.checked_sub(1) } else { None };
        let right = (x + 1 < self.width).then_some(at + 1);
        let is_edge = !(same(left) && same(right) && same(at.checked_sub(self.width)) && same(Some(at + self.width)));
        let fine = usize::try_from(self.key.view.fine).unwrap_or(1).max(1);
        let share = match () {
            () if color.is_none() => 0.5,
            () if is_edge => 0.85,
            () if ((x + y) / fine) % 5 == 0 => 0.5,
            () => 0.14,
        };
        Some(color::mix(color.unwrap_or([30, 32, 36]), mark.color(), share))
    }
}

/// Letters of kinds, the most frequent kind first; none of them is that of a mark.
const KINDS: &[u8] = b".o#:*%@&$wmOABCDEFGHIJKLMNPQRSTUVWXYZ";

fn kind_letter(number: usize) -> Option<char> {
    KINDS.get(number).map(|byte| char::from(*byte))
}

/// Paints the picture, when something of it changed.
pub fn update(app: &mut App, shown: &[Sheet], view: View, pixels: [i64; 2], layer: Layer) {
    if pixels.iter().any(|n| *n <= 0) {
        app.panes.world.image = None;
        return;
    }
    if shown.is_empty() {
        return;
    }
    let state = &app.panes.world;
    let marks_version = app.findings.version
        + app.comparison.difference().map_or(0, |difference| difference.version)
        + u64::from(state.shows_health()) * (1 << 40)
        + u64::from(super::super::repair::has_plan(app)) * (1 << 41)
        + u64::from(state.is_corrected) * (1 << 43)
        + u64::from(super::super::repair::tried(app).is_some()) * (1 << 42);
    let key = Key {
        view,
        pixels,
        layer,
        look: state.look,
        version: state.arrived,
        marks: marks_version,
        names: app.settings.names.types.len(),
        worlds: shown.iter().map(|sheet| Arc::as_ptr(&sheet.ready.source) as usize).collect(),
        spot: state.spot,
        cut: state.cursor[state.axis],
    };
    if state.image.as_ref().is_some_and(|image| image.key == key) {
        return;
    }
    app.panes.world.image = Scene::new(app, shown, key).image();
}

/// All that a picture is painted from, so that a thread in the background can paint it too.
#[derive(Clone, Debug)]
pub struct Scene {
    key: Key,
    shown: Vec<Sheet>,
    names: Palette,
    marks: Marks,
    cursor: [i64; 3],
    /// Whether every tile of the view is there: nothing stands in for one that is missing, since nothing is there.
    complete: bool,
}

impl Scene {
    fn new(app: &App, shown: &[Sheet], key: Key) -> Self {
        Self {
            key,
            shown: shown.to_vec(),
            names: app.settings.names.clone(),
            marks: super::marks(app),
            cursor: app.panes.world.cursor,
            complete: app.panes.world.complete,
        }
    }

    /// The same picture in divided pixels.
    #[cfg(feature = "graphics")]
    pub fn divided(app: &App, shown: &[Sheet], key: &Key, view: View, pixels: [i64; 2]) -> Self {
        Self::new(app, shown, Key { view, pixels, ..key.clone() })
    }

    /// Paints the picture.
    pub fn image(&self) -> Option<Image> {
        let Sheet { ready, .. } = self.shown.first()?;
        let Key { view, pixels, layer, .. } = self.key;
        let (colors, kinds, legend) = self.paint(ready);
        let of_pixels = self.mark_pixels(ready);
        let mut overview = overview::part(ready, view, pixels, layer);
        if let Some(overview) = &mut overview {
            let [fine, width, height] = [view.fine, pixels[0], pixels[1]].map(|n| usize::try_from(n).unwrap_or(0));
            overview.choose_corner(&colors, [width, height], fine);
        }
        let beyond = beyond(ready, view, pixels, layer);
        let width = usize::try_from(pixels[0]).unwrap_or(0);
        let key = self.key.clone();
        let block = ready.source.block(ready.source.lods().first().copied().unwrap_or(0));
        let letters = if view.fine == 1 {
            letters(&of_pixels, view, pixels, layer.axes().map(|axis| block[axis]))
        } else {
            Vec::new()
        };
        Some(Image {
            key,
            width,
            colors,
            kinds,
            marks: of_pixels,
            legend,
            counts: self.marks.counts(),
            letters,
            overview,
            beyond,
        })
    }

    /// The colours of all pixels, the number of the kind of each, and what they mean.
    fn paint(&self, ready: &Ready) -> (Vec<Option<Rgb>>, Vec<u8>, Vec<Entry>) {
        let Key { view, pixels, layer, look, spot, .. } = self.key;
        let shown = &self.shown;
        let step = view.step();
        // A voxel that has several pixels is painted once.
        let times = view.magnified();
        let low = view.world([0, if view.rises { pixels[1] - 1 } else { 0 }], pixels);
        let high = view.world([pixels[0] - 1, if view.rises { 0 } else { pixels[1] - 1 }], pixels);
        let origin = low.map(|n| n.div_euclid(step) - 1);
        let size = [0, 1].map(|i| usize::try_from(high[i].div_euclid(step) - low[i].div_euclid(step) + 3).unwrap_or(0));
        let pixels_of = |sheet: &Sheet, layer: Layer| {
            let grids = super::load::grids(&sheet.ready.source, layer, step);
            let count = if layer == Layer::Coverage || self.complete { 1 } else { grids.len() };
            let grids = grids.get(..count).unwrap_or_default();
            let mut pyramid = sheet.pyramid.lock().unwrap_or_else(PoisonError::into_inner);
            pyramid.window(grids, step, origin, size)
        };
        let window_of = |sheet: &Sheet| Window { width: size[0], pixels: pixels_of(sheet, layer) };
        let (mut window, other) = (shown.first().map(window_of).unwrap_or_default(), shown.get(1).map(window_of));
        let blocks = shown.first().map(|sheet| pixels_of(sheet, Layer::Coverage)).unwrap_or_default();
        // Two saves are compared where both have the LOD.
        if let (Some(sheet), None) = (shown.first(), &other) {
            fill(sheet, layer, step, &blocks, &mut window, |pyramid, grid| pyramid.window(&[grid], step, origin, size));
        }
        let look = match look {
            // Without a second save there is no difference to draw.
            Look::Difference if other.is_none() => Look::Surface,
            look => look,
        };
        let mut style = Style {
            look,
            layer,
            is_map: ready.source.layer().is_some(),
            palette: &self.names,
            probe: &ready.probe,
            step,
            spot: None,
        };
        let legend = style.legend(&window);
        style.spot = spot.and_then(|at| legend.iter().filter_map(Entry::key).nth(at));
        let mut colors = style.paint(&window, 1);
        let legend = match &other {
            Some(other) => turns(layer, &mut colors, &window, other),
            None => legend,
        };
        let inner = size[0].saturating_sub(2);
        let from_above = layer.axes() == [0, 2];
        let extents: Vec<[[i64; 3]; 2]> = shown.iter().filter_map(|sheet| sheet.ready.source.extent()).collect();
        // The last blocks of a map are larger than it, and pixels that stand in from farther away reach over the edge.
        let is_inside = |u: usize, v: usize| {
            extents.iter().any(|extent| {
                [u, v].into_iter().zip(layer.axes()).enumerate().all(|(i, (n, axis))| {
                    let at = low[i].div_euclid(step) + i64::try_from(n).unwrap_or(0);
                    let at = at.saturating_mul(step);
                    at.saturating_add(step) > extent[0][axis] && at < extent[1][axis]
                })
            })
        };
        let color = |u: usize, v: usize| {
            if !is_inside(u, v) {
                return None;
            }
            let color = colors.get(v * inner + u).copied().flatten();
            color.or_else(|| {
                let there = blocks.get((v + 1) * size[0] + u + 1).is_some_and(Pixel::is_there);
                (there && from_above).then_some(BLOCK)
            })
        };
        let keys: Vec<(u8, u32)> = (1..).zip(legend.iter().filter_map(Entry::key)).collect();
        let kind = |u: usize, v: usize| {
            let pixel = window.pixels.get((v + 1) * size[0] + u + 1).filter(|pixel| pixel.is_there())?;
            keys.iter().find(|(_, key)| style.is_of_kind(pixel, *key)).map(|(number, _)| *number)
        };
        let mut kinds = Vec::new();
        let mut out = Vec::with_capacity(crate::bytes::index((pixels[0] * pixels[1]).unsigned_abs()));
        for y in 0..pixels[1] {
            for x in 0..pixels[0] {
                let at = view.world([x, y], pixels);
                let [u, v] = [0, 1]
                    .map(|i| usize::try_from(at[i].div_euclid(step) - low[i].div_euclid(step)).unwrap_or(usize::MAX));
                out.push(if u < inner { color(u, v) } else { None });
                if !keys.is_empty() {
                    kinds.push(if u < inner { kind(u, v).unwrap_or(0) } else { 0 });
                }
            }
        }
        if times >= 6 * view.fine {
            lines(&mut out, view, pixels);
        }
        (out, kinds, legend)
    }

    /// The mark of each pixel; nothing where no block has one.
    fn mark_pixels(&self, ready: &Ready) -> Vec<Option<Mark>> {
        let Key { view, pixels, layer, .. } = self.key;
        let marks = &self.marks;
        if marks.is_empty() {
            return Vec::new();
        }
        let axes = layer.axes();
        // A cut goes through blocks; from above, the worst of a column is seen.
        let at = |place: [i64; 2]| match layer {
            Layer::Cut { .. } => {
                let mut voxel = self.cursor;
                (voxel[axes[0]], voxel[axes[1]]) = (place[0], place[1]);
                marks.at_voxel(&ready.source, voxel)
            }
            _ => marks.at(&ready.source, place),
        };
        let mut out = Vec::with_capacity(crate::bytes::index((pixels[0] * pixels[1]).unsigned_abs()));
        for y in 0..pixels[1] {
            for x in 0..pixels[0] {
                out.push(at(view.world([x, y], pixels)));
            }
        }
        out
    }
}

/// Fills places without a block of the LOD that is shown from higher LODs.
fn fill(
    sheet: &Sheet,
    layer: Layer,
    step: i64,
    blocks: &[Pixel],
    window: &mut Window,
    pixels_of: impl Fn(&mut Pyramid, Grid) -> Vec<Pixel>,
) {
    for grid in super::load::coarser(&sheet.ready.source, layer, step) {
        let lower = (1u32 << grid.lod.min(31)) - 1;
        let is_open = |pixel: &Pixel, block: &Pixel| !pixel.is_there() && block.is_there() && block.value & lower == 0;
        if !window.pixels.iter().zip(blocks).any(|(pixel, block)| is_open(pixel, block)) {
            continue;
        }
        let mut pyramid = sheet.pyramid.lock().unwrap_or_else(PoisonError::into_inner);
        let from = pixels_of(&mut pyramid, grid);
        for ((pixel, block), from) in window.pixels.iter_mut().zip(blocks).zip(from) {
            if is_open(pixel, block) {
                *pixel = from;
            }
        }
    }
}

/// Cells across and down that one letter of a mark stands for, at least.
const LETTER: [usize; 2] = [4, 2];

/// Where the letters of marks are: in the middle of each block, or where blocks are small, one for some cells.
fn letters(marks: &[Option<Mark>], view: View, pixels: [i64; 2], block: [i64; 2]) -> Vec<([usize; 2], Mark)> {
    let [width, rows] = [pixels[0], pixels[1] / 2].map(|n| usize::try_from(n).unwrap_or(0));
    let mark = |column: usize, row: usize| {
        let at = |half: usize| marks.get((row * 2 + half) * width + column).copied().flatten();
        at(0).filter(|mark| at(1).is_none_or(|other| other <= *mark)).or_else(|| at(1))
    };
    let mut out: Vec<([usize; 2], Mark)> = Vec::new();
    if marks.is_empty() {
        return out;
    }
    let sides = block.map(|n| view.length(n));
    if sides[0] >= 4 && sides[1] >= 4 {
        let seen = view.seen(pixels);
        for v in seen[0][1].div_euclid(block[1])..=seen[1][1].div_euclid(block[1]) {
            for u in seen[0][0].div_euclid(block[0])..=seen[1][0].div_euclid(block[0]) {
                let middle = [u * block[0] + block[0] / 2, v * block[1] + block[1] / 2];
                let [x, y] = view.pixel(middle, pixels).map(|n| usize::try_from(n).unwrap_or(usize::MAX));
                if let Some(mark) = (x < width && y / 2 < rows).then(|| mark(x, y / 2)).flatten() {
                    out.push(([x, y / 2], mark));
                }
            }
        }
        return out;
    }
    for row in 0..rows {
        for column in 0..width {
            let Some(mark) = mark(column, row) else { continue };
            let is_near = |(at, other): &([usize; 2], Mark)| {
                *other == mark && at[0].abs_diff(column) < LETTER[0] && at[1].abs_diff(row) < LETTER[1]
            };
            // Those of rows that are farther away come first.
            if !out.iter().rev().take_while(|(at, _)| at[1] + LETTER[1] > row).any(is_near) {
                out.push(([column, row], mark));
            }
        }
    }
    out
}

/// Marks what differs, over colours that are dimmed where nothing does.
fn turns(layer: Layer, colors: &mut [Option<Rgb>], a: &Window, b: &Window) -> Vec<Entry> {
    for color in colors.iter_mut().flatten() {
        *color = color::mix(*color, [36, 38, 42], 0.45);
    }
    let counts = difference::paint(layer, colors, a, b, 1);
    let entry = |(mark, _): (Mark, usize)| Entry::plain(mark.color(), format!("voxels {} in B", mark.words()));
    if counts.is_empty() {
        return vec![Entry::Words("nothing that is seen here differs".into())];
    }
    counts.into_iter().map(entry).collect()
}

/// Lines between voxels, where these are large.
fn lines(colors: &mut [Option<Rgb>], view: View, pixels: [i64; 2]) {
    let width = usize::try_from(pixels[0]).unwrap_or(1).max(1);
    let origin = view.origin(pixels);
    for (at, color) in colors.iter_mut().enumerate() {
        let [x, y] = [at % width, at / width].map(|n| i64::try_from(n).unwrap_or(0));
        let v = if view.rises { origin[1] - y } else { origin[1] + y };
        let on = (origin[0] + x).rem_euclid(view.magnified()) == 0 || v.rem_euclid(view.magnified()) == 0;
        if let (true, Some(color)) = (on, color) {
            *color = color::light(*color, 0.86);
        }
    }
}

/// The places at the edges of the picture that are nearest to blocks far outside of it.
fn beyond(ready: &Ready, view: View, pixels: [i64; 2], layer: Layer) -> Vec<[i64; 2]> {
    let axes = layer.axes();
    let mut out: Vec<[i64; 2]> = Vec::new();
    for far in &ready.far {
        let place = view.pixel(axes.map(|axis| far[axis]), pixels);
        let edge = [0, 1].map(|i| place[i].clamp(0, pixels[i] - 1));
        // One mark for some pixels of the edge.
        let is_near = |other: &[i64; 2]| (0..2).all(|i| other[i].abs_diff(edge[i]) < 8);
        if edge != place && !out.iter().any(is_near) {
            out.push(edge);
        }
    }
    out
}
