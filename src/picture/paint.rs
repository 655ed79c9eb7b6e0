//! From pixels to colours.

use super::color::{self, CIVIDIS, GROUND, INSIDE, OUTSIDE, Rgb, VIRIDIS, WATER};
use super::look::{COLOR, Layer, Look, Matter};
use super::palette::Palette;
use super::probe::Probe;
use super::tile::{LAND, Pixel};
use crate::godot::channel::SDF;
use crate::godot::textures::WEIGHTS;
use crate::voxel_map::flags;

/// Pixels in rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Window {
    /// Pixels in a row.
    pub width: usize,
    /// The pixels, row by row.
    pub pixels: Vec<Pixel>,
}

/// How pixels are painted.
#[derive(Clone, Copy, Debug)]
pub struct Style<'a> {
    /// What is shown.
    pub look: Look,
    /// What the pixels hold.
    pub layer: Layer,
    /// Whether they are from a map.
    pub is_map: bool,
    /// Whether they are voxels of types rather than of a pak chunk or a map.
    pub palette: &'a Palette,
    /// What the world is like.
    pub probe: &'a Probe,
    /// Voxels of the world a pixel.
    pub step: i64,
    /// Only pixels of this kind stand out: a value, the bit of a flag in maps, or a set of LODs.
    pub spot: Option<u32>,
}

/// The colour of land around the water of a map.
pub const DRY: Rgb = [92, 84, 68];

/// Where a cut goes through nothing.
pub const AIR: Rgb = [22, 24, 28];

/// A line where the surface goes through a cut.
const SURFACE: Rgb = [255, 252, 240];

/// Distances in voxels beyond which the colour stays the same.
const REACH: f32 = 8.0;

impl Window {
    /// Rows.
    #[must_use]
    pub const fn height(&self) -> usize {
        match self.pixels.len().checked_div(self.width) {
            Some(height) => height,
            None => 0,
        }
    }

    /// The pixels of a row; none outside the window.
    fn row(&self, y: usize) -> &[Pixel] {
        self.pixels.get(y * self.width..(y + 1) * self.width).unwrap_or_default()
    }
}

/// A row of pixels between the one north of it and the one south of it, which are empty where there is none.
pub type Rows<'r> = [&'r [Pixel]; 3];

/// Paints rows of pixels one after the other, from the north to the south.
pub struct Painter<'a> {
    style: Style<'a>,
    /// How high the ground is in the last rows, with a place without ground at both ends.
    ground: [Vec<f32>; 3],
    lights: Vec<f32>,
    colors: Vec<Option<Rgb>>,
    is_begun: bool,
}

impl<'a> Painter<'a> {
    /// Has painted nothing yet.
    #[must_use]
    pub const fn new(style: Style<'a>) -> Self {
        Self { style, ground: [const { Vec::new() }; 3], lights: Vec::new(), colors: Vec::new(), is_begun: false }
    }

    /// The colours of the row in the middle, without `border` pixels at each end. Each row is the one south of the last.
    pub fn row(&mut self, rows: Rows<'_>, border: usize) -> &mut [Option<Rgb>] {
        self.light(rows);
        let Self { style, lights, colors, .. } = self;
        colors.clear();
        if matches!(style.look, Look::Surface | Look::Repair) && style.spot.is_none() {
            let here = rows[1].get(border..rows[1].len().saturating_sub(border)).unwrap_or_default();
            style.paint_surface(here, lights.get(border..).unwrap_or_default(), colors);
            return colors;
        }
        for x in border..rows[1].len().saturating_sub(border) {
            colors.push(style.color(&rows, x, lights.get(x).copied().unwrap_or(FLAT)));
        }
        colors
    }

    /// Computes how much light falls on each place of the row from the north-west, from 0 to about 1.2; flat ground has 0.83. Nothing
    /// for looks without light.
    fn light(&mut self, rows: Rows<'_>) {
        if matches!(self.style.look, Look::Depth | Look::Coverage | Look::Size | Look::Cut) {
            return;
        }
        let width = rows[1].len();
        if std::mem::replace(&mut self.is_begun, true) {
            self.ground.rotate_left(1);
            self.style.find_ground(rows[2], width, &mut self.ground[2]);
        } else {
            for (row, ground) in rows.into_iter().zip(&mut self.ground) {
                self.style.find_ground(row, width, ground);
            }
        }
        let [north, here, south] = &self.ground;
        // From afar slopes are flatter than they look from near.
        let far = (self.style.step as f32).sqrt();
        let beside = here.iter().zip(here.iter().skip(2)).zip(north.iter().zip(south).skip(1));
        self.lights.clear();
        self.lights.extend(here.iter().skip(1).zip(beside).map(|(here, ((west, east), (north, south)))| {
            let (gx, gz) = (slope(*west, *here, *east, far), slope(*north, *here, *south, far));
            let light = (0.6 * gx + 0.6 * gz + 1.2) / (gx * gx + gz * gz + 1.0).sqrt() / 1.45;
            if here.is_nan() { FLAT } else { light.clamp(0.0, 1.2) }
        }));
    }
}

impl Style<'_> {
    /// The colours of a window's pixels, without those of a border that is `border` pixels wide: it is there for the slopes
    /// at the edges. `None` is where nothing is.
    #[must_use]
    pub fn paint(&self, window: &Window, border: usize) -> Vec<Option<Rgb>> {
        let (width, height) = (window.width, window.height());
        let mut out = Vec::with_capacity(width.saturating_mul(height));
        let mut painter = Painter::new(*self);
        for y in border..height.saturating_sub(border) {
            let north = y.checked_sub(1).map(|y| window.row(y)).unwrap_or_default();
            out.extend_from_slice(painter.row([north, window.row(y), window.row(y + 1)], border));
        }
        out
    }

    fn color(&self, rows: &Rows<'_>, x: usize, light: f32) -> Option<Rgb> {
        let pixel = rows[1].get(x)?;
        let color = self.plain_color(pixel, rows, x, light)?;
        if self.spot.is_none_or(|key| self.is_of_kind(pixel, key)) {
            return Some(color);
        }
        let grey = [(color::brightness(color) * 120.0) as u8; 3];
        Some(color::mix(color::light(color, 0.35), color::light(grey, 0.6), 0.85))
    }

    /// Whether a pixel is of a kind: see [`Self::spot`].
    #[must_use]
    pub fn is_of_kind(&self, pixel: &Pixel, key: u32) -> bool {
        match self.is_map {
            true => flags::names(pixel.value.into()).any(|flag| u32::from(flag.bit) == key),
            false => pixel.value == key,
        }
    }

    fn plain_color(&self, pixel: &Pixel, rows: &Rows<'_>, x: usize, light: f32) -> Option<Rgb> {
        match self.look {
            Look::Height => pixel.is_there().then(|| {
                let [low, high] = self.probe.heights.unwrap_or([0, 1]);
                let color = VIRIDIS.at(share(pixel.y as f32, low as f32, high as f32));
                color::light(color, 0.82 + 0.26 * light)
            }),
            Look::Depth => {
                let known = pixel.more.is_finite() && (pixel.is_there() || pixel.more > 0.0);
                if !known {
                    return (pixel.value == LAND).then_some(DRY);
                }
                let [low, high] = self.probe.depths.unwrap_or([0.0, 1.0]);
                // The deepest is darkest.
                Some(VIRIDIS.at(1.0 - share(pixel.more, low, high)))
            }
            Look::Coverage => pixel.is_there().then(|| coverage(pixel.value)),
            Look::Size => pixel.is_there().then(|| {
                // Sizes differ by orders of magnitude.
                let log = |n: u32| (n.max(1) as f32).ln();
                let [low, high] = self.probe.sizes.unwrap_or([16, 64]);
                CIVIDIS.at(share(log(pixel.value), log(low), log(high)))
            }),
            Look::Cut => self.cut(pixel, rows, x),
            Look::Surface | Look::Health | Look::Difference | Look::Repair => self.surface(pixel, light),
        }
    }

    /// What is seen from above; quiet where something else is to be seen on it.
    fn surface(&self, pixel: &Pixel, light: f32) -> Option<Rgb> {
        let lit = self.lit(pixel, light, || self.matter(*pixel))?;
        if matches!(self.look, Look::Surface | Look::Repair) {
            return Some(lit);
        }
        let grey = [(color::brightness(lit) * 200.0) as u8 + 12; 3];
        Some(color::mix(color::light(lit, 0.55), color::light(grey, 0.55), 0.8))
    }

    /// A place seen from above in its light; `matter` gives the colour of what is there.
    fn lit(&self, pixel: &Pixel, light: f32, matter: impl FnOnce() -> Rgb) -> Option<Rgb> {
        if !pixel.is_there() {
            return (pixel.value == LAND).then_some(DRY);
        }
        let [low, high] = self.probe.heights.unwrap_or([0, 1]);
        // High places are brighter, but for the bottom of water.
        let rise = if self.is_map { 1.0 } else { 0.78 + 0.36 * share(pixel.y as f32, low as f32, high as f32) };
        Some(color::light(matter(), (0.60 + 0.47 * light) * rise))
    }

    /// Adds the colours of places seen from above, as [`Self::surface`] gives them: most neighbours are of one matter.
    fn paint_surface(&self, pixels: &[Pixel], lights: &[f32], out: &mut Vec<Option<Rgb>>) {
        let is_by_value = !self.is_map && !matches!(self.layer, Layer::Top(Matter::Channel(SDF)));
        let mut last = (0, self.matter(Pixel::NONE));
        out.extend(pixels.iter().zip(lights).map(|(pixel, light)| {
            self.lit(pixel, *light, || {
                if !is_by_value || last.0 != pixel.value {
                    last = (pixel.value, self.matter(*pixel));
                }
                last.1
            })
        }));
    }

    /// The colour of what a column's highest matter is made of.
    fn matter(&self, pixel: Pixel) -> Rgb {
        match self.layer {
            _ if self.is_map => self.flags(pixel),
            Layer::Top(Matter::Channel(SDF)) => {
                let [low, high] = self.probe.heights.unwrap_or([0, 1]);
                GROUND.at(share(pixel.y as f32, low as f32, high as f32))
            }
            Layer::Top(Matter::Channel(COLOR)) => rgb(pixel.value),
            Layer::Top(Matter::Channel(channel)) if self.shows_textures(channel) => texture(channel, pixel.value),
            _ => self.palette.color(pixel.value.into()),
        }
    }

    /// Water by its depth, structures in colours of their own.
    fn flags(&self, pixel: Pixel) -> Rgb {
        let value = u64::from(pixel.value);
        let [low, high] = self.probe.depths.unwrap_or([0.0, 4.0]);
        let depth = if pixel.more.is_finite() { share(pixel.more, low.min(0.0), high) } else { 0.4 };
        let water = WATER.at(depth);
        let found = flags::names(value).find(|flag| flag.bit > 0);
        match found {
            Some(flag) if flags::is_water(value) => color::mix(water, flag_color(flag.bit), 0.45),
            Some(flag) => structure(flag.bit),
            None if flags::is_water(value) => water,
            None => DRY,
        }
    }

    /// A cut: colours of kinds, distances by their sign with the surface as a line.
    fn cut(&self, pixel: &Pixel, [north, here, south]: &Rows<'_>, x: usize) -> Option<Rgb> {
        let Layer::Cut { channel, .. } = self.layer else { return None };
        if !pixel.is_there() {
            return None;
        }
        if self.is_map {
            let value = u64::from(pixel.value);
            return Some(if value == 0 {
                color::light(DRY, 0.4)
            } else {
                self.flags(Pixel { more: f32::NAN, ..*pixel })
            });
        }
        match usize::from(channel) {
            SDF => {
                let distance = |pixel: &Pixel| f32::from_bits(pixel.value);
                let inside = distance(pixel);
                if inside.is_nan() {
                    return Some([200, 60, 200]);
                }
                let beside = [here.get(x + 1), x.checked_sub(1).and_then(|x| here.get(x)), south.get(x), north.get(x)];
                let is_outside = |pixel: &&Pixel| pixel.is_there() && distance(pixel) >= 0.0;
                if inside < 0.0 && beside.iter().flatten().any(is_outside) {
                    return Some(SURFACE);
                }
                let scale = if inside < 0.0 { INSIDE } else { OUTSIDE };
                Some(scale.at((inside.abs() / REACH).sqrt()))
            }
            COLOR if pixel.value & 0xff == 0 => Some(AIR),
            COLOR => Some(rgb(pixel.value)),
            channel if self.shows_textures(channel) => Some(texture(channel, pixel.value)),
            _ if pixel.value == 0 => Some(AIR),
            _ => Some(self.palette.color(pixel.value.into())),
        }
    }

    /// Whether a channel has textures, or weights of them.
    pub(super) fn shows_textures(&self, channel: usize) -> bool {
        self.probe.textures.is_some_and(|textures| textures.is_in(channel))
    }

    /// How high the ground is for the light.
    fn ground(&self, pixel: &Pixel) -> Option<f32> {
        if self.is_map {
            // The bottom of the water; metres are small.
            return (pixel.is_there() && pixel.more.is_finite()).then_some(-pixel.more * 2.5);
        }
        pixel.is_there().then_some(pixel.y as f32 + pixel.more)
    }

    /// How high the ground is in a row for the light, with a place without ground at both ends.
    fn find_ground(&self, row: &[Pixel], width: usize, out: &mut Vec<f32>) {
        out.clear();
        out.push(f32::NAN);
        out.extend(row.iter().map(|pixel| self.ground(pixel).unwrap_or(f32::NAN)));
        out.resize(width + 2, f32::NAN);
    }
}

/// How much the ground rises over a place, from the heights before it, at it and after it, which are no numbers where there is no
/// ground. Without branches, so that a row is computed several places at once.
fn slope(before: f32, here: f32, after: f32, far: f32) -> f32 {
    let (no_before, no_after) = (before.is_nan(), after.is_nan());
    let half = (after - before) / 2.0;
    let one = if no_before { after - here } else { here - before };
    let rise = if no_before | no_after { one } else { half };
    let rise = if no_before & no_after { 0.0 } else { rise };
    (rise / far).clamp(-4.0, 4.0)
}

/// The light on flat ground.
const FLAT: f32 = 1.2 / 1.45;

/// Where a number is between two others, from 0 to 1.
fn share(n: f32, low: f32, high: f32) -> f32 {
    if high > low { ((n - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 }
}

/// Red, green and blue of RGBA.
#[must_use]
pub const fn rgb(rgba: u32) -> Rgb {
    let [r, g, b, _] = rgba.to_be_bytes();
    [r, g, b]
}

/// The colour of a texture, or of the weight of one.
#[must_use]
pub fn texture(channel: usize, value: u32) -> Rgb {
    match channel {
        WEIGHTS => VIRIDIS.at(share(value as f32, 0.0, HEAVIEST)),
        // Number 0 is a texture like the others.
        _ => color::kind(u64::from(value) + 1),
    }
}

/// The largest weight of a texture.
const HEAVIEST: f32 = 15.0;

/// The colour of a flag of a map, by its bit.
#[must_use]
pub fn flag_color(bit: u8) -> Rgb {
    color::kind(u64::from(bit) + 1)
}

/// The colour of land with a flag of a map.
#[must_use]
pub fn structure(bit: u8) -> Rgb {
    color::mix(DRY, flag_color(bit), 0.7)
}

/// The colour of a set of LODs: the lowest one gives the hue, further ones make it lighter.
#[must_use]
pub fn coverage(lods: u32) -> Rgb {
    let lowest = lods.trailing_zeros().min(31);
    let more = lods.count_ones().saturating_sub(1).min(5);
    let hue = 2.6 + lowest as f32 * 1.3;
    color::oklch(0.48 + 0.075 * more as f32, 0.11, hue)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slope(gx: i32, gz: i32) -> Window {
        let at = |n: usize| i32::try_from(n).unwrap();
        let pixels = (0..9).map(|n| Pixel { y: at(n % 3) * gx + at(n / 3) * gz, value: 1, more: 0.5 });
        Window { width: 3, pixels: pixels.collect() }
    }

    #[test]
    fn slopes_towards_the_north_west_are_lighter() {
        let (palette, probe) = (Palette::default(), Probe::default());
        let layer = Layer::Top(Matter::Channel(0));
        let style =
            Style { look: Look::Surface, layer, is_map: false, palette: &palette, probe: &probe, step: 1, spot: None };
        let bright = |gx, gz| color::brightness(style.paint(&slope(gx, gz), 1)[0].unwrap());
        let flat = bright(0, 0);
        // Ground that rises towards the south-east looks at the light.
        assert!(bright(1, 1) > flat && bright(-1, -1) < flat);
        assert!(bright(-2, -2) < bright(-1, 0));
    }

    #[test]
    fn rows_are_painted_as_their_pixels_are() {
        let (palette, probe) = (Palette::default(), Probe::default());
        for layer in [Layer::Top(Matter::Channel(0)), Layer::Top(Matter::Channel(SDF)), Layer::Top(Matter::Value)] {
            let style = Style {
                look: Look::Surface,
                layer,
                is_map: false,
                palette: &palette,
                probe: &probe,
                step: 1,
                spot: None,
            };
            let pixel = |n: i32| Pixel { y: n % 5, value: n.unsigned_abs() / 3 % 4, more: 0.5 };
            let mut row: Vec<Pixel> = (0..40).map(pixel).collect();
            row[7] = Pixel::NONE;
            row[9] = Pixel { value: LAND, ..Pixel::NONE };
            let mut painter = Painter::new(style);
            let colors = painter.row([&[], &row, &[]], 2).to_vec();
            let lights = painter.lights.clone();
            let expected = (2..38).map(|x| style.color(&[&[], &row, &[]], x, lights[x]));
            assert_eq!(colors, expected.collect::<Vec<_>>(), "{layer:?}");
        }
    }

    #[test]
    fn nothing_has_no_colour_and_distances_change_theirs_at_the_surface() {
        let (palette, probe) = (Palette::default(), Probe::default());
        let layer = Layer::Cut { axis: 1, at: 0, channel: 1 };
        let style =
            Style { look: Look::Cut, layer, is_map: false, palette: &palette, probe: &probe, step: 1, spot: None };
        let pixel = |n: f32| Pixel { y: 0, value: n.to_bits(), more: 0.0 };
        let window = Window { width: 4, pixels: vec![pixel(-5.0), pixel(-0.5), pixel(0.5), Pixel::NONE] };
        let colors = style.paint(&window, 0);
        assert_eq!((colors[1], colors[3]), (Some(SURFACE), None));
        assert!(colors[0].unwrap()[0] > colors[0].unwrap()[2], "inside is warm");
        assert!(colors[2].unwrap()[0] < colors[2].unwrap()[2], "outside is cold");
    }

    #[test]
    fn slopes_at_edges_go_by_the_neighbour_that_is_there() {
        let (palette, probe) = (Palette::default(), Probe::default());
        let layer = Layer::Top(Matter::Channel(0));
        let style =
            Style { look: Look::Surface, layer, is_map: false, palette: &palette, probe: &probe, step: 1, spot: None };
        let hole = |at: &[usize]| {
            let mut window = slope(2, 0);
            at.iter().for_each(|at| window.pixels[*at] = Pixel::NONE);
            let mut painter = Painter::new(style);
            painter.light([window.row(0), window.row(1), window.row(2)]);
            painter.lights
        };
        let whole = hole(&[]);
        assert_eq!(whole.len(), 3);
        // Of a plane, each neighbour says the same; without both, nothing shows a slope.
        assert!(whole.iter().chain(&hole(&[5])[..2]).all(|light| *light == whole[1]), "{whole:?}");
        assert_eq!((hole(&[3, 5])[1], hole(&[4])[1]), (FLAT, FLAT));
        assert_eq!(hole(&[1, 7]), whole, "nothing to the north and south of the middle");
    }
}
