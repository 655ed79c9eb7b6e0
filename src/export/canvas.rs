//! A plane of voxels as a picture in memory.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use super::picture_faults::PictureFaults;
use super::voxels::{Area, Error, Which};
use crate::draft::{self, Draft};
use crate::picture::paint::texture;

/// The most pixels of a picture, which is built in memory.
const PIXELS: i64 = 1 << 24;

/// How values become colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coloring {
    /// One colour per value; distances of the SDF by sign and magnitude.
    Palette,
    /// Grey from the smallest value to the largest.
    Scale,
}

/// A plane through voxels.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    /// The LOD.
    pub lod: u8,
    /// The axis perpendicular to it: 0, 1, 2 for x, y, z.
    pub axis: usize,
    /// Its position on that axis, in voxels of the LOD.
    pub at: i64,
    /// The extent of the plane.
    pub which: Which,
    /// The channel.
    pub channel: usize,
    /// How values become colours.
    pub look: Coloring,
}

/// A picture that was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// The smallest and the largest value, distances for the SDF; `None` if there is no block.
    pub range: Option<[f64; 2]>,
    /// What it lacks.
    pub faults: PictureFaults,
}

/// What the values of a picture are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    /// Numbers, each in a colour of its own.
    Kinds,
    /// Distances.
    Distances,
    /// Textures or their weights, in the colours of maps.
    Textures,
}

/// What the numbers of voxels mean that are no distances.
pub(super) const AS_IT_IS: fn(u64) -> f64 = |number| number as f64;

/// A value in a picture: raw, and its meaning.
#[derive(Clone, Copy)]
struct Value(u64, f64);

/// A plane that is filled with values voxel by voxel.
pub(super) struct Canvas {
    area: Area,
    right: usize,
    down: usize,
    width: usize,
    height: usize,
    /// A number for each pixel. 16 million of them fit in the memory that a command may use, but not with their meanings.
    numbers: Vec<u64>,
    /// Which pixels have one, a bit each.
    known: Vec<u64>,
    /// What a number means.
    meaning: fn(u64) -> f64,
}

impl Canvas {
    /// The plane of a slice through a box; `meaning` is what the numbers that fill it mean.
    pub fn new(slice: &Slice, mut area: Area, meaning: fn(u64) -> f64) -> Result<Self, Error> {
        if !(area[0][slice.axis]..area[1][slice.axis]).contains(&slice.at) {
            let axis = ["x", "y", "z"][slice.axis];
            return Err(Error::Missing(format!("there is no voxel at {axis}={} of LOD {}", slice.at, slice.lod)));
        }
        (area[0][slice.axis], area[1][slice.axis]) = (slice.at, slice.at + 1);
        let [right, down] = match slice.axis {
            0 => [2, 1],
            1 => [0, 2],
            _ => [0, 1],
        };
        let size = [right, down].map(|axis| area[1][axis] - area[0][axis]);
        if size[0] <= 0 || size[1] <= 0 {
            return Err(Error::Missing("nothing of the box is there".to_owned()));
        }
        if size[0].saturating_mul(size[1]) > PIXELS {
            let [width, height] = size;
            let why = format!("the picture would have {width} x {height} pixels: give a smaller --box");
            return Err(Error::Request(why));
        }
        let [width, height] = size.map(|n| usize::try_from(n).unwrap_or(0));
        let pixels = width * height;
        let (numbers, known) = (vec![0; pixels], vec![0; pixels.div_ceil(64)]);
        Ok(Self { area, right, down, width, height, numbers, known, meaning })
    }

    /// The plane, one voxel thick.
    pub const fn area(&self) -> Area {
        self.area
    }

    /// Sets the numbers of those voxels of the plane that are in a box.
    pub fn fill(&mut self, part: Area, mut number: impl FnMut([i64; 3]) -> Option<u64>) {
        let low = [0, 1, 2].map(|i| self.area[0][i].max(part[0][i]));
        let high = [0, 1, 2].map(|i| self.area[1][i].min(part[1][i]));
        let (right, down) = (self.right, self.down);
        if (0..3).any(|i| low[i] >= high[i]) {
            return;
        }
        for v in low[down]..high[down] {
            for u in low[right]..high[right] {
                let mut voxel = low;
                (voxel[right], voxel[down]) = (u, v);
                let column = usize::try_from(u - self.area[0][right]).unwrap_or(0);
                let row = usize::try_from(v - self.area[0][down]).unwrap_or(0);
                // y points up.
                let row = if down == 1 { self.height - 1 - row } else { row };
                self.set(row * self.width + column, number(voxel));
            }
        }
    }

    fn set(&mut self, pixel: usize, number: Option<u64>) {
        let bit = 1 << (pixel % 64);
        match number {
            Some(number) => {
                self.numbers[pixel] = number;
                self.known[pixel / 64] |= bit;
            }
            None => self.known[pixel / 64] &= !bit,
        }
    }

    /// The values of all pixels, row by row.
    fn values(&self) -> impl Iterator<Item = Option<Value>> {
        let is_known = |pixel: usize| self.known[pixel / 64] >> (pixel % 64) & 1 == 1;
        let values = self.numbers.iter().enumerate();
        values.map(move |(pixel, &raw)| is_known(pixel).then(|| Value(raw, (self.meaning)(raw))))
    }

    /// Writes the picture; `what` describes its values.
    pub fn write(
        &self,
        draft: &Draft<'_>,
        name: &Path,
        slice: &Slice,
        (what, values): (&str, Values),
        palette: Option<&[u8]>,
    ) -> Result<Picture, Error> {
        let range = range(self.values());
        let mut pixels = Vec::with_capacity(self.numbers.len() * 4);
        paint(self.values(), range, slice, values, palette, &mut pixels);
        let (file, path) = draft.create(name)?;
        let size = [self.width, self.height].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        let axis = ["x", "y", "z"][slice.axis];
        let mut about = format!("{what} at {axis}={}", slice.at);
        if let (Some([low, high]), Coloring::Scale) = (range, slice.look) {
            about.push_str(&format!("; black is {low}, white is {high}"));
        }
        write(&file, &path, size, png::ColorType::Rgba, &pixels, &about)?;
        Ok(Picture { size, range, faults: PictureFaults::default() })
    }
}

/// The smallest and the largest of the values.
fn range(values: impl Iterator<Item = Option<Value>>) -> Option<[f64; 2]> {
    let known = values.flatten().map(|value| value.1).filter(|value| value.is_finite());
    known.fold(None, |range, value| {
        Some(range.map_or([value; 2], |[low, high]: [f64; 2]| [low.min(value), high.max(value)]))
    })
}

fn paint(
    values: impl Iterator<Item = Option<Value>>,
    range: Option<[f64; 2]>,
    slice: &Slice,
    kind: Values,
    palette: Option<&[u8]>,
    pixels: &mut Vec<u8>,
) {
    let [low, high] = range.unwrap_or_default();
    // Limit distances to the range of most of them, so that the surface is visible.
    let reach = low.abs().max(high.abs()).clamp(f64::MIN_POSITIVE, 10.0);
    for value in values {
        let rgba = match value {
            None => [0; 4],
            Some(Value(_, value)) if slice.look == Coloring::Scale => {
                let n = grey(value, low, high);
                [n, n, n, 255]
            }
            Some(Value(_, value)) if kind == Values::Distances => {
                let n = (255.0 * (1.0 - (value.abs() / reach).min(1.0))) as u8;
                // The inside of the ground is brown to black, the outside white to blue.
                if value < 0.0 { [n.max(40), n / 2 + 20, n / 4, 255] } else { [n, n, 255, 255] }
            }
            Some(Value(raw, _)) if kind == Values::Textures => {
                let [r, g, b] = texture(slice.channel, u32::try_from(raw).unwrap_or(u32::MAX));
                [r, g, b, 255]
            }
            Some(Value(raw, _)) => colour(raw, palette),
        };
        pixels.extend_from_slice(&rgba);
    }
}

/// A share of 255.
fn grey(value: f64, low: f64, high: f64) -> u8 {
    let share = if high > low { (value - low) / (high - low) } else { 0.0 };
    (share * 255.0).round() as u8
}

/// The palette's colour of a value; without a palette a colour that depends only on the value.
fn colour(raw: u64, palette: Option<&[u8]>) -> [u8; 4] {
    if let Some(rgba) = palette.and_then(|palette| palette.as_chunks::<4>().0.get(usize::try_from(raw).ok()?)) {
        return [rgba[0], rgba[1], rgba[2], 255];
    }
    if raw == 0 {
        return [24, 24, 24, 255];
    }
    let [a, b, c, ..] = raw.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
    [a | 64, b | 64, c | 64, 255]
}

/// Writes a PNG with a text that describes it, and syncs it.
fn write(
    file: &File,
    path: &Path,
    [width, height]: [u32; 2],
    color: png::ColorType,
    pixels: &[u8],
    about: &str,
) -> Result<(), draft::Error> {
    let mut encoder = png::Encoder::new(BufWriter::new(file), width, height);
    encoder.set_color(color);
    // Describes the picture, for readers who have it without its export.json.
    let described = encoder.add_text_chunk("Description".to_owned(), about.to_owned());
    let deep = color == png::ColorType::Grayscale;
    encoder.set_depth(if deep { png::BitDepth::Sixteen } else { png::BitDepth::Eight });
    let written = described.and_then(|()| encoder.write_header()).and_then(|mut writer| {
        writer.write_image_data(pixels)?;
        writer.finish()
    });
    let written = written.and_then(|()| Ok(file.sync_all()?));
    written.map_err(|error| draft::Error::write(path)(std::io::Error::other(error)))
}

/// Writes a depth map in 16 bits of grey: 1 for the smallest number, 65535 for the largest, 0 for values that are not numbers. Returns
/// these two numbers, if there are any.
pub(super) fn depths(
    file: &File,
    path: &Path,
    size: [u32; 2],
    depths: &[f32],
) -> Result<Option<[f32; 2]>, draft::Error> {
    let known = || depths.iter().copied().filter(|n| n.is_finite());
    let (low, high) = known().fold((f32::MAX, f32::MIN), |(low, high), n| (low.min(n), high.max(n)));
    let grey = |n: f32| {
        let share = if high > low { (n - low) / (high - low) } else { 0.0 };
        let grey = if n.is_finite() { 1 + (share * 65534.0).round() as u16 } else { 0 };
        grey.to_be_bytes()
    };
    let pixels: Vec<u8> = depths.iter().flat_map(|&n| grey(n)).collect();
    let words = "grey 1 is LOW metres deep, grey 65535 HIGH, grey 0 has no depth";
    let words = words.replace("LOW", &low.to_string()).replace("HIGH", &high.to_string());
    write(file, path, size, png::ColorType::Grayscale, &pixels, &words)?;
    Ok((low <= high).then_some([low, high]))
}
