//! The picture in pixels of the terminal: painted and encoded in the background once the half blocks are complete, and shown
//! while nothing changes. Moving shows half blocks again, so that it never waits for pixels.

use std::fmt;

use image::{DynamicImage, Rgba, RgbaImage};
use ratatui::layout::{Rect, Size};
use ratatui::widgets::Widget;
use ratatui_image::Image as ImageWidget;
use ratatui_image::protocol::Protocol as Encoded;
use ratatui_image::protocol::{iterm2::Iterm2, kitty::Kitty, sixel::Sixel};

use super::image::{Areas, Image, Key as ImageKey, Scene};
use super::sheets::Sheet;
use super::view::View;
use super::{draw as half_blocks, load};
use crate::picture::Layer;
use crate::picture::color::Rgb;
use crate::tui::App;
use crate::tui::canvas::Canvas;
use crate::tui::data::Loaded;
use crate::tui::graphics::{Graphics, Protocol};
use crate::tui::jobs::{JobKind, run_in_own_pool};
use crate::tui::theme::ColorMode;

/// The most parts into which a pixel of half blocks is divided along each axis.
const MOST_PARTS: i64 = 8;

/// The number of the image in a terminal with the protocol of kitty, whose next image then replaces the one before.
const IMAGE_NUMBER: u32 = 0x0076_6f78;

/// Columns and rows that placeholders of that protocol can name.
const MOST_CELLS: u16 = 297;

/// What a picture in pixels depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    image: ImageKey,
    place: [i64; 2],
    graphics: Graphics,
}

/// The escape sequences of a picture, and the cells that they cover.
pub struct Pixels(Encoded);

impl fmt::Debug for Pixels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pixels").field(&self.0.size()).finish()
    }
}

/// The picture in pixels, as it was asked for last.
pub type State = Loaded<Key, Pixels>;

/// The key of the picture that is to be shown now, where the terminal can show it.
fn key(app: &App) -> Option<Key> {
    let graphics = app.graphics?;
    let world = &app.panes.world;
    let is_plain = half_blocks::mode(app) == ColorMode::None || app.glyphs.ascii;
    // What lies over the picture would be drawn over by it.
    if is_plain || app.popup.is_some() || !world.complete {
        return None;
    }
    Some(Key { image: world.image.as_ref()?.key().clone(), place: world.place(), graphics })
}

/// Asks for the picture in pixels, once that of half blocks is complete.
pub fn request(app: &mut App, shown: &[Sheet], view: View, layer: Layer) {
    let Some(key) = key(app) else { return };
    let area = Areas::new(app.pane_inside(), app.panes.world.legend).picture;
    if area.area() == 0 || area.width > MOST_CELLS || area.height > MOST_CELLS || !app.panes.world.drawn.request(&key) {
        return;
    }
    let parts = i64::from(key.graphics.cell[0]).min(MOST_PARTS);
    // A power of two, so that steps of tiles stay whole.
    let parts = (0..4).map(|n| 1i64 << n).filter(|n| *n <= parts).max().unwrap_or(1);
    let view = view.divided(parts);
    let pixels = [i64::from(area.width) * parts, i64::from(area.height) * 2 * parts];
    let scene = Scene::divided(app, shown, &key.image, view, pixels);
    let sheets = shown.to_vec();
    app.job(
        JobKind::Pixels,
        move |worker| {
            let drawn = run_in_own_pool(|| {
                for sheet in &sheets {
                    let source = &sheet.ready.source;
                    let wanted = load::grids(source, layer, view.step()).into_iter().take(1);
                    let grids: Vec<_> = wanted.chain(load::coarser(source, layer, view.step())).collect();
                    load::load(sheet, &grids, view.seen(pixels), worker);
                }
                let image = scene.image().filter(|_| !worker.is_cancelled())?;
                let size = Size::new(area.width, area.height);
                let picture = compose(&image, view, pixels, key.place, size, key.graphics.cell);
                encode(picture, size, key.graphics.protocol)
            });
            if !worker.is_cancelled() {
                let drawn = drawn.ok_or_else(String::new);
                worker.answer(move |app| app.panes.world.drawn.store(key, drawn));
            }
        },
        // Half blocks stay.
        |app, why| app.panes.world.drawn.fail(why),
    );
}

/// Draws the picture if it is ready. Returns whether it did.
pub fn draw(app: &App, area: Rect, canvas: &mut Canvas<'_>) -> bool {
    let Some(Pixels(encoded)) = key(app).and_then(|key| app.panes.world.drawn.get(&key)).map(|drawn| &**drawn) else {
        return false;
    };
    let part = canvas.part(area.x, area.y, area.width, area.height);
    if encoded.size() != Size::new(part.area.width, part.area.height) {
        return false;
    }
    ImageWidget::new(encoded).render(part.area, part.buffer);
    true
}

/// Encodes a picture for a number of cells; `None` where that fails.
fn encode(picture: RgbaImage, size: Size, protocol: Protocol) -> Option<Pixels> {
    let picture = DynamicImage::ImageRgba8(picture);
    let encoded = match protocol {
        Protocol::Kitty => Encoded::Kitty(Kitty::new(picture, size, IMAGE_NUMBER, false, true, false).ok()?),
        Protocol::Iterm2 => Encoded::ITerm2(Iterm2::new(picture, size, false).ok()?),
        Protocol::Sixel => Encoded::Sixel(Sixel::new(picture, size, false).ok()?),
    };
    Some(Pixels(encoded))
}

/// The picture in pixels of the terminal, with the cursor, the small map and the marks at the edges, which in half blocks are
/// characters.
fn compose(image: &Image, view: View, pixels: [i64; 2], place: [i64; 2], size: Size, cell: [u16; 2]) -> RgbaImage {
    let [width, height] = [u32::from(size.width) * u32::from(cell[0]), u32::from(size.height) * u32::from(cell[1])];
    let mut out = Painting { image: RgbaImage::new(width, height) };
    let part = |at: u32, all: u32, parts: i64| i64::from(at) * parts / i64::from(all.max(1));
    for y in 0..height {
        for x in 0..width {
            let [u, v] = [part(x, width, pixels[0]), part(y, height, pixels[1])];
            let at = usize::try_from(v).unwrap_or(0) * image.width + usize::try_from(u).unwrap_or(0);
            if let Some(color) = image.marked(at) {
                out.put(i64::from(x), i64::from(y), color);
            }
        }
    }
    // Where a pixel of the divided picture begins.
    let spot =
        |at: [i64; 2]| [at[0] * i64::from(width) / pixels[0].max(1), at[1] * i64::from(height) / pixels[1].max(1)];
    for at in &image.beyond {
        let [x, y] = spot(*at);
        out.fill([x - 3, y - 3], [x + 4, y + 4], BEYOND);
    }
    let [column, row] = view.pixel(place, pixels);
    let voxel = view.magnified();
    // Where the second axis goes upward, the first pixel of a voxel is the lowest one.
    let row = if view.rises { row - voxel + 1 } else { row };
    out.cursor(spot([column, row]), spot([column + voxel, row + voxel]));
    out.overview(image, cell);
    out.image
}

/// The colour of marks that point beyond the picture.
const BEYOND: Rgb = [240, 190, 70];

/// The least pixels across of the frame that is the cursor.
const CURSOR: i64 = 10;

/// A picture while it is drawn.
struct Painting {
    image: RgbaImage,
}

impl Painting {
    fn put(&mut self, x: i64, y: i64, [r, g, b]: Rgb) {
        if let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y))
            && let Some(pixel) = self.image.get_pixel_mut_checked(x, y)
        {
            *pixel = Rgba([r, g, b, 255]);
        }
    }

    fn fill(&mut self, [left, top]: [i64; 2], [right, bottom]: [i64; 2], color: Rgb) {
        for y in top..bottom {
            for x in left..right {
                self.put(x, y, color);
            }
        }
    }

    /// A line of one pixel around a box.
    fn frame(&mut self, [left, top]: [i64; 2], [right, bottom]: [i64; 2], color: Rgb) {
        self.fill([left, top], [right, top + 1], color);
        self.fill([left, bottom - 1], [right, bottom], color);
        self.fill([left, top], [left + 1, bottom], color);
        self.fill([right - 1, top], [right, bottom], color);
    }

    /// A white frame with black edges around the voxel of the cursor.
    fn cursor(&mut self, low: [i64; 2], high: [i64; 2]) {
        let grow = [0, 1].map(|i| ((CURSOR - (high[i] - low[i])) / 2).max(1));
        let (low, high) = ([low[0] - grow[0], low[1] - grow[1]], [high[0] + grow[0], high[1] + grow[1]]);
        self.frame([low[0] - 1, low[1] - 1], [high[0] + 1, high[1] + 1], [0, 0, 0]);
        self.frame(low, high, [255, 255, 255]);
        self.frame([low[0] + 1, low[1] + 1], [high[0] - 1, high[1] - 1], [0, 0, 0]);
    }

    /// The small map of everything, in the corner where half blocks have it and as large.
    fn overview(&mut self, image: &Image, cell: [u16; 2]) {
        let Some(overview) = &image.overview else { return };
        let size = [i64::from(cell[0]), i64::from(cell[1] / 2)];
        let count = [overview.width, overview.height()].map(|n| i64::try_from(n).unwrap_or(0));
        let room = [self.image.width(), self.image.height()].map(i64::from);
        let [left, top] = [0, 1].map(|i| match overview.corner[i] {
            true => room[i] - 2 - count[i] * size[i],
            false => 2,
        });
        let (low, high) = ([left - 2, top - 2], [left + count[0] * size[0] + 2, top + count[1] * size[1] + 2]);
        self.fill(low, high, [16, 18, 20]);
        self.frame(low, high, [104, 116, 128]);
        for row in 0..overview.height() {
            for column in 0..overview.width {
                let Some(color) = overview.color(column, row) else { continue };
                let [x, y] = [column, row].map(|n| i64::try_from(n).unwrap_or(0));
                let at = [left + x * size[0], top + y * size[1]];
                self.fill(at, [at[0] + size[0], at[1] + size[1]], color);
            }
        }
    }
}

#[cfg(test)]
mod tests;
