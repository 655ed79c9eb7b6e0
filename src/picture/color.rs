//! Colours: Oklch, perceptual scales, and the nearest colours that a terminal has.

use std::sync::LazyLock;

/// Red, green, blue.
pub type Rgb = [u8; 3];

/// A colour by lightness (0 to 1), chroma (0 to about 0.3) and hue (radians) in Oklch.
///
/// Source: Björn Ottosson, "A perceptual color space for image processing".
#[must_use]
pub fn oklch(lightness: f32, chroma: f32, hue: f32) -> Rgb {
    let (a, b) = (chroma * hue.cos(), chroma * hue.sin());
    let l = (lightness + 0.396_337_78 * a + 0.215_803_76 * b).powi(3);
    let m = (lightness - 0.105_561_346 * a - 0.063_854_17 * b).powi(3);
    let s = (lightness - 0.089_484_18 * a - 1.291_485_5 * b).powi(3);
    [
        4.076_741_7 * l - 3.307_711_6 * m + 0.230_969_94 * s,
        -1.268_438 * l + 2.609_757_4 * m - 0.341_319_38 * s,
        -0.004_196_086 * l - 0.703_418_6 * m + 1.707_614_7 * s,
    ]
    .map(|linear| {
        let x = linear.clamp(0.0, 1.0);
        let gamma = if x <= 0.003_130_8 { 12.92 * x } else { 1.055 * x.powf(1.0 / 2.4) - 0.055 };
        (gamma * 255.0).round() as u8
    })
}

/// Colours of the lowest numbers, as lightness, chroma and hue: the first voxel types of most games are ground, so they
/// look like it: grass, earth, stone, sand.
const GROUND_KINDS: [[f32; 3]; 4] = [[0.64, 0.088, 2.15], [0.55, 0.068, 1.05], [0.68, 0.012, 4.2], [0.82, 0.075, 1.6]];

/// The colour of a number that stands for a kind: far apart for numbers near each other, always the same for one.
#[must_use]
pub fn kind(number: u64) -> Rgb {
    /// The lowest ones, which most pixels have.
    static LOWEST: LazyLock<Vec<Rgb>> = LazyLock::new(|| (0..256).map(compute_kind).collect());
    let known = usize::try_from(number).ok().and_then(|number| LOWEST.get(number).copied());
    known.unwrap_or_else(|| compute_kind(number))
}

fn compute_kind(number: u64) -> Rgb {
    let ground = number.checked_sub(1).and_then(|n| GROUND_KINDS.get(usize::try_from(n).ok()?));
    if let Some([lightness, chroma, hue]) = ground {
        return oklch(*lightness, *chroma, *hue);
    }
    // Turning by the golden angle keeps any few neighbours far apart in hue; two more turns vary lightness and chroma.
    let n = number as f32;
    let (three, two) = ((number % 3) as f32, (number % 2) as f32);
    oklch(0.74 - 0.085 * three, 0.095 + 0.03 * two, 2.2 + (n * 2.399_963) % std::f32::consts::TAU)
}

/// A mixture of two colours; 0 is the first.
#[must_use]
pub fn mix(a: Rgb, b: Rgb, share: f32) -> Rgb {
    let share = share.clamp(0.0, 1.0);
    [0, 1, 2].map(|i| round(f32::from(a[i]) + (f32::from(b[i]) - f32::from(a[i])) * share))
}

/// A colour made darker or lighter.
#[must_use]
pub fn light(color: Rgb, factor: f32) -> Rgb {
    color.map(|n| round(f32::from(n) * factor))
}

/// The nearest whole number from 0 to 255, of halves the larger one. On many processors, `f32::round` calls a function, which would
/// take a large part of the time that painting takes.
fn round(n: f32) -> u8 {
    let below = n as u8;
    below.saturating_add(u8::from(n - f32::from(below) >= 0.5))
}

/// Colours of a scale, from its lower end to its upper one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale(&'static [Rgb]);

/// For heights and depths: even steps look even, also to people who see few colours, and in grey.
pub const VIRIDIS: Scale = Scale(&[
    [68, 1, 84],
    [71, 44, 122],
    [59, 81, 139],
    [44, 113, 142],
    [33, 144, 141],
    [39, 173, 129],
    [92, 200, 99],
    [170, 220, 50],
    [253, 231, 37],
]);

/// For counts.
pub const CIVIDIS: Scale = Scale(&[
    [0, 34, 78],
    [18, 53, 112],
    [59, 73, 108],
    [87, 93, 109],
    [112, 113, 115],
    [138, 134, 120],
    [165, 156, 116],
    [195, 179, 105],
    [225, 204, 85],
    [254, 232, 56],
]);

/// The ground from the lowest to the highest place, where nothing shows what it is made of.
pub const GROUND: Scale = Scale(&[
    [70, 98, 92],
    [96, 126, 88],
    [134, 150, 92],
    [172, 164, 108],
    [172, 140, 100],
    [148, 122, 106],
    [178, 168, 160],
    [240, 240, 238],
]);

/// Water from the shore to the greatest depth.
pub const WATER: Scale =
    Scale(&[[150, 210, 205], [92, 176, 196], [50, 132, 178], [34, 92, 150], [24, 58, 112], [16, 34, 76]]);

/// Distances: deep inside, the surface, far outside.
pub const INSIDE: Scale = Scale(&[[250, 224, 190], [226, 160, 100], [166, 92, 48], [92, 46, 26]]);

/// The other half of the scale of distances.
pub const OUTSIDE: Scale = Scale(&[[208, 230, 244], [126, 178, 216], [58, 112, 168], [26, 52, 94]]);

impl Scale {
    /// The colour at a share of the scale, from 0 to 1.
    #[must_use]
    pub fn at(self, share: f32) -> Rgb {
        let last = self.0.len().saturating_sub(1);
        let place = if share.is_finite() { share.clamp(0.0, 1.0) * last as f32 } else { 0.0 };
        let below = (place.floor() as usize).min(last);
        let low = self.0.get(below).copied().unwrap_or_default();
        let high = self.0.get((below + 1).min(last)).copied().unwrap_or(low);
        mix(low, high, place - below as f32)
    }
}

/// The levels of a channel in the 256 colours of terminals.
const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// The nearest of a terminal's 256 colours, leaving out the 16 that users choose.
#[must_use]
pub fn to_256(color: Rgb) -> u8 {
    // The level below and the one above.
    let near = color.map(|n| {
        let below = (1u8..6).rev().find(|at| LEVELS[usize::from(*at)] <= n).unwrap_or(0);
        [below, (below + 1).min(5)]
    });
    let corners = (0..8usize).map(|corner| {
        let [r, g, b] = [0, 1, 2].map(|i| near[i][corner >> i & 1]);
        (16 + 36 * r + 6 * g + b, [r, g, b].map(|at| LEVELS[usize::from(at)]))
    });
    let mean = color.into_iter().map(u16::from).sum::<u16>() / 3;
    let step = u8::try_from((mean.saturating_sub(3) / 10).min(23)).unwrap_or(23);
    let grey = (232 + step, [8 + 10 * step; 3]);
    corners.chain([grey]).min_by_key(|(_, other)| hue_distance(color, *other)).map_or(16, |(number, _)| number)
}

/// How far apart two colours are in lightness and, with the same weight, in what blue and red have beyond it: dark greens are
/// nearer to other greens than to greys.
fn hue_distance(a: Rgb, b: Rgb) -> i64 {
    let [r, g, b] = [0, 1, 2].map(|i| i64::from(a[i]) - i64::from(b[i]));
    let lightness = (299 * r + 587 * g + 114 * b) / 10;
    lightness.pow(2) + (100 * b - lightness).pow(2) + (100 * r - lightness).pow(2)
}

/// What the 16 colours of a terminal usually are.
const SIXTEEN: [Rgb; 16] = [
    [0, 0, 0],
    [170, 0, 0],
    [0, 170, 0],
    [170, 85, 0],
    [0, 0, 170],
    [170, 0, 170],
    [0, 170, 170],
    [170, 170, 170],
    [85, 85, 85],
    [255, 85, 85],
    [85, 255, 85],
    [255, 255, 85],
    [85, 85, 255],
    [255, 85, 255],
    [85, 255, 255],
    [255, 255, 255],
];

/// The nearest of a terminal's 16 colours, by hue: grass is green, not grey.
#[must_use]
pub fn to_16(color: Rgb) -> u8 {
    let grey = brightness(color) * 255.0;
    let strong = color.map(|n| (grey + (f32::from(n) - grey) * 3.0).clamp(0.0, 255.0) as u8);
    let nearest = SIXTEEN.iter().enumerate().min_by_key(|(_, other)| distance(strong, **other));
    nearest.and_then(|(at, _)| u8::try_from(at).ok()).unwrap_or(0)
}

/// How bright a colour looks, from 0 to 1.
#[must_use]
pub fn brightness([r, g, b]: Rgb) -> f32 {
    (0.299 * f32::from(r) + 0.587 * f32::from(g) + 0.114 * f32::from(b)) / 255.0
}

/// How far apart two colours are, squared, with weights for what eyes see.
fn distance(a: Rgb, b: Rgb) -> u32 {
    let square = |i: usize| u32::from(a[i].abs_diff(b[i])).pow(2);
    2 * square(0) + 4 * square(1) + 3 * square(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_near_each_other_look_different() {
        for a in 0..64u64 {
            assert_eq!(kind(a), kind(a));
            for b in a + 1..a + 8 {
                assert!(distance(kind(a), kind(b)) > 900, "{a} {:?}, {b} {:?}", kind(a), kind(b));
            }
        }
    }

    #[test]
    fn numbers_are_rounded_as_by_the_library() {
        let near = (0..=510u16).flat_map(|n| {
            let half = f32::from(n) / 2.0;
            [half, half.next_up(), half.next_down(), half + 0.1, half + 0.49].into_iter()
        });
        for n in near.chain([0.499_999_97, 254.999_98, -0.000_001, 255.000_02]) {
            assert_eq!(round(n), n.round() as u8, "{n:?}");
        }
    }

    #[test]
    fn scales_begin_and_end_with_their_ends() {
        assert_eq!(VIRIDIS.at(0.0), [68, 1, 84]);
        assert_eq!(VIRIDIS.at(1.0), [253, 231, 37]);
        assert_eq!(VIRIDIS.at(f32::NAN), VIRIDIS.at(0.0));
        for scale in [VIRIDIS, CIVIDIS] {
            let levels: Vec<f32> = (0..=20).map(|n| brightness(scale.at(n as f32 / 20.0))).collect();
            assert!(levels.is_sorted(), "brighter all the way: {levels:?}");
        }
    }

    #[test]
    fn terminals_get_what_is_nearest() {
        assert_eq!(to_256([0, 0, 0]), 16);
        assert_eq!(to_256([255, 0, 0]), 196);
        assert_eq!(to_256([128, 128, 128]), 244);
        // Grass in half light: green, not grey.
        assert_eq!(to_256([100, 112, 70]), 65);
        assert_eq!(to_16([250, 250, 250]), 15);
        assert_eq!(to_16([160, 10, 10]), 1);
        // Grass, earth, stone and sand can be told apart.
        assert_eq!([1, 2, 3, 4].map(|number| to_16(kind(number))), [2, 3, 7, 11]);
        assert_eq!(oklch(1.0, 0.0, 0.0), [255; 3]);
        assert_eq!(oklch(0.0, 0.0, 0.0), [0; 3]);
    }
}
