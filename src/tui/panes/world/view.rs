//! Which part of the world is seen, and how large.

/// The nearest zoom: 24 pixels a voxel.
const NEAREST: i32 = -17;

/// The nearest zoom that a small world is fitted with: 6 pixels a voxel.
const NEAREST_FIT: i32 = -9;

/// The farthest: no world is larger.
const FARTHEST: i32 = 359;

/// The last step of the series.
const LAST_STEP: i32 = 179;

/// A place and a scale. Pixels are half a cell high.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// What is in the middle, in voxels of the world along the axes of the picture.
    pub middle: [f64; 2],
    /// 0 is a voxel a pixel; more is farther.
    pub zoom: i32,
    /// Whether the second axis goes upward.
    pub rises: bool,
    /// Parts into which each pixel is divided along each axis; 1 for half blocks.
    pub fine: i64,
}

/// 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, and so on: four steps from each power of two to the next.
fn series(n: i32) -> i64 {
    match n {
        ..=0 => 1,
        1..4 => i64::from(n) + 1,
        n => i64::from(4 + (n - 4) % 4 + 1) << ((n - 4) / 4).min(44),
    }
}

/// Eighths of a voxel a pixel: 8, 9, 10, and so on to 16, 18, 20, and so on, so that the first view leaves little room empty.
fn eighths(zoom: i32) -> i64 {
    match zoom {
        ..=0 => 8,
        n => i64::from(8 + n % 8) << (n / 8).min(44),
    }
}

/// Quarters of a pixel a voxel: 4, 5, 6, 7, 8, 10, 12, 16, 20, and so on. Where a voxel has 3 pixels or more, all have as many.
fn pixel_quarters(zoom: i32) -> i64 {
    match zoom {
        0.. => 4,
        -5 => 10,
        -4..0 => 4 - i64::from(zoom),
        n => series(-n - 4) * 4,
    }
}

/// Steps near a step, the nearest first: pictures of these stand in while that of the step is not there.
pub fn steps_near(step: i64) -> impl Iterator<Item = i64> {
    let at = (0..=LAST_STEP).find(|n| series(*n) >= step).unwrap_or(LAST_STEP);
    [1, -1, 2, -2, 3, 4, 6, 8, -3, -4].into_iter().map(move |by| at + by).filter(|n| *n >= 0).map(series)
}

impl View {
    /// Whole voxels of the world a pixel, rounded down to a step of the series; 1 where a voxel has a pixel or more.
    pub fn step(&self) -> i64 {
        let step = (eighths(self.zoom) / (8 * self.fine)).max(1);
        // Steps of the series have three binary digits.
        let rest = step.ilog2().saturating_sub(2);
        step >> rest << rest
    }

    /// Whole pixels a voxel; 1 where a pixel has a voxel or more.
    pub fn magnified(&self) -> i64 {
        (self.parts() / eighths(self.zoom)).max(1)
    }

    /// Eighths of a divided pixel a voxel.
    fn parts(&self) -> i64 {
        pixel_quarters(self.zoom).saturating_mul(2 * self.fine)
    }

    /// The same part of the world in pixels that are divided.
    #[cfg(feature = "graphics")]
    pub const fn divided(self, fine: i64) -> Self {
        Self { fine, ..self }
    }

    /// Pixels a voxel of the world.
    fn scale(&self) -> f64 {
        self.parts() as f64 / eighths(self.zoom) as f64
    }

    /// Voxels of the world that so many pixels cover.
    pub fn voxels(&self, pixels: i64) -> i64 {
        pixels.saturating_mul(eighths(self.zoom)).div_euclid(self.parts())
    }

    /// Pixels that so many voxels of the world take.
    pub fn length(&self, voxels: i64) -> i64 {
        voxels.saturating_mul(self.parts()).div_euclid(eighths(self.zoom))
    }

    /// All of a part of the world, as near as it fits into so many pixels.
    pub fn fit([low, high]: [[i64; 2]; 2], pixels: [i64; 2], rises: bool) -> Self {
        let middle = [0, 1].map(|i| (low[i] as f64 + high[i] as f64) / 2.0);
        let fits = |zoom: &i32| {
            let view = Self { middle, zoom: *zoom, rises, fine: 1 };
            (0..2).all(|i| (high[i] - low[i]) as f64 * view.scale() <= pixels[i].max(1) as f64)
        };
        let zoom = (NEAREST_FIT..=FARTHEST).find(fits).unwrap_or(FARTHEST);
        Self { middle, zoom, rises, fine: 1 }
    }

    /// Nearer or farther by one, with a place of the world staying where it is.
    pub fn zoom_by(&mut self, by: i32, around: [f64; 2]) {
        let before = self.scale();
        for _ in 0..by.unsigned_abs() {
            // A fitted view may be between two steps of the keys.
            let zoom = self.zoom + by.signum() * if self.zoom + by.signum() > 0 { 2 } else { 1 };
            let zoom = if self.zoom > 0 { zoom.max(0) } else { zoom };
            self.zoom = zoom.clamp(NEAREST, FARTHEST);
        }
        let ratio = before / self.scale();
        self.middle = [0, 1].map(|i| around[i] + (self.middle[i] - around[i]) * ratio);
    }

    /// Moves by pixels.
    pub fn pan(&mut self, pixels: [i64; 2]) {
        let scale = self.scale();
        self.middle[0] += pixels[0] as f64 / scale;
        self.middle[1] += pixels[1] as f64 / scale * if self.rises { -1.0 } else { 1.0 };
    }

    /// The pixel of the world's grid that is at the upper left.
    pub fn origin(&self, pixels: [i64; 2]) -> [i64; 2] {
        if self.fine > 1 {
            // That of the whole pixels, so that both pictures show the same.
            let whole = Self { fine: 1, ..*self }.origin(pixels.map(|n| n / self.fine));
            let down = if self.rises { self.fine - 1 } else { 0 };
            return [whole[0].saturating_mul(self.fine), whole[1].saturating_mul(self.fine).saturating_add(down)];
        }
        let scale = self.scale();
        let left = (self.middle[0] * scale - pixels[0] as f64 / 2.0).floor() as i64;
        let top = if self.rises {
            (self.middle[1] * scale + pixels[1] as f64 / 2.0).floor() as i64
        } else {
            (self.middle[1] * scale - pixels[1] as f64 / 2.0).floor() as i64
        };
        [left, top]
    }

    /// The voxels of the world that a pixel begins with.
    pub fn world(&self, pixel: [i64; 2], pixels: [i64; 2]) -> [i64; 2] {
        let [left, top] = self.origin(pixels);
        let at = [left + pixel[0], if self.rises { top - pixel[1] } else { top + pixel[1] }];
        let (many, few) = (eighths(self.zoom), self.parts());
        at.map(|n| n.saturating_mul(many).div_euclid(few))
    }

    /// The pixel of a voxel of the world; it may be outside.
    pub fn pixel(&self, world: [i64; 2], pixels: [i64; 2]) -> [i64; 2] {
        let [left, top] = self.origin(pixels);
        let (many, few) = (eighths(self.zoom), self.parts());
        let at = world.map(|n| {
            if few <= many {
                // The last pixel that begins at the voxel or before it.
                n.saturating_add(1).saturating_mul(few).saturating_sub(1).div_euclid(many)
            } else {
                // Its first pixel.
                n.saturating_mul(few).saturating_add(many - 1).div_euclid(many)
            }
        });
        [at[0] - left, if self.rises { top - at[1] } else { at[1] - top }]
    }

    /// Moves just so far that a voxel is seen, a few pixels away from the edge.
    pub fn follow(&mut self, world: [i64; 2], pixels: [i64; 2]) {
        let at = self.pixel(world, pixels);
        let margin = pixels.map(|n| (n / 12).min(8));
        let by = [0, 1].map(|i| {
            let (low, high) = (margin[i], pixels[i] - 1 - margin[i] - (pixel_quarters(self.zoom) - 1) / 4);
            if at[i] < low {
                at[i] - low
            } else if at[i] > high {
                at[i] - high.max(low)
            } else {
                0
            }
        });
        self.pan(by);
    }

    /// Shows a voxel: one that is outside of the picture comes into its middle.
    pub fn reveal(&mut self, world: [i64; 2], pixels: [i64; 2]) {
        let at = self.pixel(world, pixels);
        if (0..2).any(|i| !(0..pixels[i]).contains(&at[i])) {
            self.middle = world.map(|n| n as f64 + 0.5);
        }
        self.follow(world, pixels);
    }

    /// The part of the world that is seen: two opposite corners.
    pub fn seen(&self, pixels: [i64; 2]) -> [[i64; 2]; 2] {
        let (a, b) = (self.world([0, 0], pixels), self.world([pixels[0] - 1, pixels[1] - 1], pixels));
        let low = [0, 1].map(|i| a[i].min(b[i]));
        let last = (eighths(self.zoom) + 7) / 8;
        let high = [0, 1].map(|i| a[i].max(b[i]).saturating_add(last));
        [low, high]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_zoom_is_a_little_farther() {
        for zoom in 0..FARTHEST {
            let (near, far) = (eighths(zoom), eighths(zoom + 1));
            assert!(near < far && far * 8 <= near * 9, "{zoom}");
        }
        for zoom in NEAREST..0 {
            let (near, far) = (pixel_quarters(zoom), pixel_quarters(zoom + 1));
            assert!(near > far && near * 3 <= far * 4, "{zoom}");
        }
        assert_eq!((pixel_quarters(NEAREST), pixel_quarters(NEAREST_FIT)), (24 * 4, 6 * 4));
        // Tiles are made for whole steps, those of the series.
        for zoom in 0..200 {
            let step = View { middle: [0.0; 2], zoom, rises: false, fine: 1 }.step();
            assert!((0..100).any(|n| series(n) == step) && step * 8 <= eighths(zoom), "{zoom}: {step}");
        }
    }

    #[test]
    fn steps_grow_by_a_quarter_at_most_from_4_on() {
        let steps: Vec<i64> = (0..14).map(series).collect();
        assert_eq!(steps, [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24]);
        for n in 3..LAST_STEP {
            assert!(series(n) < series(n + 1) && series(n + 1) * 4 <= series(n) * 5, "{n}");
        }
        assert_eq!(steps_near(8).take(4).collect::<Vec<_>>(), [10, 7, 12, 6]);
    }

    #[test]
    fn pixels_and_the_world_lead_to_each_other() {
        for rises in [false, true] {
            for zoom in NEAREST..20 {
                let mut view = View { middle: [-37.0, 104.0], zoom, rises, fine: 1 };
                let pixels = [80, 40];
                for world in [[-37, 104], [-36, 103], [-40, 110]] {
                    let at = view.pixel(world, pixels);
                    let (here, down) = (view.world(at, pixels), if rises { -1 } else { 1 });
                    let next = view.world([at[0] + 1, at[1] + down], pixels);
                    for i in 0..2 {
                        let is_in = here[i] == world[i] || here[i] < world[i] && world[i] < next[i];
                        assert!(is_in, "zoom {zoom}, rises {rises}: {world:?} from {here:?} to {next:?}");
                    }
                }
                view.follow([1000, -1000], pixels);
                let at = view.pixel([1000, -1000], pixels);
                assert!((0..80).contains(&at[0]) && (0..40).contains(&at[1]), "zoom {zoom}: {at:?}");
            }
        }
    }

    #[test]
    fn a_place_that_is_far_away_comes_into_the_middle() {
        for rises in [false, true] {
            let mut view = View { middle: [0.0; 2], zoom: 0, rises, fine: 1 };
            view.reveal([38, 3], [80, 40]);
            assert!(view.middle[0] > 0.0 && view.middle[0] < 10.0, "near the edge: {:?}", view.middle);
            view.reveal([1000, -1000], [80, 40]);
            let at = view.pixel([1000, -1000], [80, 40]);
            assert!(at[0].abs_diff(40) <= 1 && at[1].abs_diff(20) <= 1, "{at:?}");
        }
    }

    #[cfg(feature = "graphics")]
    #[test]
    fn divided_pixels_show_the_part_of_the_world_that_whole_ones_do() {
        for rises in [false, true] {
            for zoom in NEAREST..20 {
                let view = View { middle: [-37.0, 104.0], zoom, rises, fine: 1 };
                for fine in [2, 4, 8] {
                    let divided = view.divided(fine);
                    for pixel in [[0, 0], [7, 3], [79, 39]] {
                        let first = if rises { [pixel[0], pixel[1] + 1] } else { pixel };
                        let first = [first[0] * fine, first[1] * fine - i64::from(rises)];
                        let [whole, part] = [view.world(pixel, [80, 40]), divided.world(first, [80 * fine, 40 * fine])];
                        assert_eq!(whole, part, "zoom {zoom}, {fine} parts, rises {rises}");
                    }
                    assert!(divided.step() <= view.step() && divided.magnified() >= view.magnified());
                    // The cursor is where the voxel is.
                    for voxel in [[-37, 104], [-40, 110]] {
                        let pixels = [80 * fine, 40 * fine];
                        let at = divided.pixel(voxel, pixels);
                        let (here, down) = (divided.world(at, pixels), if rises { -1 } else { 1 });
                        let next = divided.world([at[0] + 1, at[1] + down], pixels);
                        let is_in = |i: usize| here[i] == voxel[i] || here[i] < voxel[i] && voxel[i] < next[i];
                        assert!(is_in(0) && is_in(1), "zoom {zoom}, {fine} parts: {voxel:?} from {here:?} to {next:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn all_of_the_world_fits() {
        for size in [1i64, 10, 100, 5000, 1 << 40] {
            let view = View::fit([[-size, 0], [size, size]], [120, 60], false);
            let [low, high] = view.seen([120, 60]);
            assert!(low[0] <= -size && high[0] >= size && low[1] <= 0 && high[1] >= size, "{size}");
        }
    }

    #[test]
    fn keys_zoom_to_both_ends_and_back() {
        for zoom in [NEAREST, -1, 0, 1, 2, 7, FARTHEST] {
            let mut view = View { middle: [0.0; 2], zoom, rises: false, fine: 1 };
            for (by, end) in [(-1, NEAREST), (1, FARTHEST), (-1, NEAREST)] {
                let mut steps = 0;
                while view.zoom != end {
                    let before = view.scale();
                    view.zoom_by(by, [0.0; 2]);
                    assert!((view.scale() < before) == (by > 0) || view.zoom == end, "{zoom}");
                    steps += 1;
                    assert!(steps < 300, "{zoom} does not end");
                }
            }
        }
    }

    #[test]
    fn zooming_keeps_a_place_where_it_is() {
        let mut view = View { middle: [100.0, 100.0], zoom: 4, rises: false, fine: 1 };
        let before = view.pixel([60, 120], [100, 100]);
        view.zoom_by(-2, [60.0, 120.0]);
        let after = view.pixel([60, 120], [100, 100]);
        assert!(before[0].abs_diff(after[0]) <= 2 && before[1].abs_diff(after[1]) <= 2, "{before:?} {after:?}");
    }
}
