//! Slices through voxels and depth maps as PNG.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use crate::beside::{self, Draft, Watch};
use crate::godot::channel::{NAMES, SDF, index_zxy, sdf};
use crate::world::{Buffer, World};

use super::voxels::{self, Error, Which};

/// The most pixels of a picture: it is put together in memory.
const PIXELS: i64 = 1 << 24;

/// The file while it is written.
const NAME: &str = "picture";

/// What values look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// A colour for each value; distances of the SDF by their sign and size.
    Palette,
    /// Grey from the smallest value to the largest.
    Scale,
}

/// A plane through voxels.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    /// The LOD.
    pub lod: u8,
    /// The axis that it is square to: 0, 1, 2 for x, y, z.
    pub axis: usize,
    /// Where on that axis, in voxels of the LOD.
    pub at: i64,
    /// Where the plane ends.
    pub which: Which,
    /// The channel.
    pub channel: usize,
    /// What values look like.
    pub look: Look,
}

/// A picture that was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Picture {
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// The smallest and the largest value, distances in the SDF; `None` when no block is there.
    pub range: Option<[f64; 2]>,
}

/// A value in a picture: as it is, and what it stands for.
#[derive(Clone, Copy)]
struct Value(u64, f64);

/// Writes a slice as a PNG; a voxel is a pixel. Square to y, x goes to the right and z down; square to x, z goes to the
/// right and y up; square to z, x goes to the right and y up. Where no block is, the picture is transparent. Gives
/// its size and the range of its values.
///
/// # Errors
/// When the destination cannot be used, nothing is there, the picture is too large, or something cannot be read or written.
pub fn slice(world: &World<'_>, slice: &Slice, to: &Path, watch: &Watch<'_>) -> Result<Picture, Error> {
    let draft = Draft::new(&[world.path()], to, "export", watch.cancel)?;
    let Some(side) = world.block_size() else {
        return Err(Error::Request(format!("{}: nothing says how large its blocks are", world.name)));
    };
    let index = world.index(slice.lod);
    let mut area = voxels::area(&index, slice.lod, slice.which, side)?;
    if !(area[0][slice.axis]..area[1][slice.axis]).contains(&slice.at) {
        let axis = ["x", "y", "z"][slice.axis];
        return Err(Error::Request(format!("there is no voxel at {axis}={} of LOD {}", slice.at, slice.lod)));
    }
    (area[0][slice.axis], area[1][slice.axis]) = (slice.at, slice.at + 1);
    let [right, down] = match slice.axis {
        0 => [2, 1],
        1 => [0, 2],
        _ => [0, 1],
    };
    let size = [right, down].map(|axis| area[1][axis] - area[0][axis]);
    if size[0].saturating_mul(size[1]) > PIXELS {
        return Err(Error::Request(format!(
            "the picture would have {} x {} pixels: give a smaller --box",
            size[0], size[1]
        )));
    }
    let [width, height] = size.map(|n| usize::try_from(n).unwrap_or(0));
    let mut values: Vec<Option<Value>> = vec![None; width * height];
    let mut buffer = Buffer::default();
    let all = voxels::blocks_in(&index, area, side).count() as u64;
    for (done, at) in (0..).zip(voxels::blocks_in(&index, area, side)) {
        draft.go_on()?;
        watch.tell(done, all);
        let view = world.read(at, &mut buffer)?;
        let Some(block) = view.block.as_ref().filter(|block| block.size == [side; 3]) else { continue };
        let Some(channel) = block.channels.get(slice.channel) else { continue };
        let corner = at.position.map(|n| i64::from(n) * i64::from(side));
        let low = [0, 1, 2].map(|i| area[0][i].max(corner[i]));
        let high = [0, 1, 2].map(|i| area[1][i].min(corner[i] + i64::from(side)));
        for v in low[down]..high[down] {
            for u in low[right]..high[right] {
                let mut voxel = [slice.at; 3];
                (voxel[right], voxel[down]) = (u, v);
                let inside = [0, 1, 2].map(|i| u16::try_from(voxel[i] - corner[i]).unwrap_or(u16::MAX));
                let value = index_zxy(block.size, inside).and_then(|i| channel.value(i));
                let means =
                    |raw| if slice.channel == SDF { sdf(block.version, channel.depth, raw) } else { raw as f64 };
                let column = usize::try_from(u - area[0][right]).unwrap_or(0);
                let row = usize::try_from(v - area[0][down]).unwrap_or(0);
                // y goes up.
                let row = if down == 1 { height - 1 - row } else { row };
                values[row * width + column] = value.map(|raw| Value(raw, means(raw)));
            }
        }
    }
    let palette = world.forest().and_then(|forest| {
        forest.regions.iter().find_map(|file| file.header.as_ref().and_then(|header| header.palette.clone()))
    });
    let palette = palette.filter(|_| NAMES[slice.channel] == "COLOR");
    let range = range(&values);
    let pixels = paint(&values, slice.look, slice.channel == SDF, palette.as_deref());
    let (file, path) = draft.create(Path::new(NAME))?;
    let size = [width, height].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
    let axis = ["x", "y", "z"][slice.axis];
    let mut about = format!("{} of LOD {} at {axis}={}", NAMES[slice.channel], slice.lod, slice.at);
    if let (Some([low, high]), Look::Scale) = (range, slice.look) {
        about.push_str(&format!("; black is {low}, white is {high}"));
    }
    write(file, &path, size, png::ColorType::Rgba, &pixels, &about)?;
    draft.finish_files(&[(Path::new(NAME), to)])?;
    Ok(Picture { size, range })
}

/// The smallest and the largest of the values.
fn range(values: &[Option<Value>]) -> Option<[f64; 2]> {
    let known = values.iter().flatten().map(|value| value.1).filter(|value| value.is_finite());
    known.fold(None, |range, value| {
        Some(range.map_or([value; 2], |[low, high]: [f64; 2]| [low.min(value), high.max(value)]))
    })
}

fn paint(values: &[Option<Value>], look: Look, signed: bool, palette: Option<&[u8]>) -> Vec<u8> {
    let [low, high] = range(values).unwrap_or_default();
    // Distances are cut where most of them end, so that the surface shows.
    let reach = low.abs().max(high.abs()).clamp(f64::MIN_POSITIVE, 10.0);
    let mut pixels = Vec::with_capacity(values.len() * 4);
    for value in values {
        let rgba = match value {
            None => [0; 4],
            Some(Value(_, value)) if look == Look::Scale => {
                let n = grey(*value, low, high);
                [n, n, n, 255]
            }
            Some(Value(_, value)) if signed => {
                let n = (255.0 * (1.0 - (value.abs() / reach).min(1.0))) as u8;
                // The inside of the ground is brown to black, the outside white to blue.
                if *value < 0.0 { [n.max(40), n / 2 + 20, n / 4, 255] } else { [n, n, 255, 255] }
            }
            Some(Value(raw, _)) => colour(*raw, palette),
        };
        pixels.extend_from_slice(&rgba);
    }
    pixels
}

/// A share of 255.
fn grey(value: f64, low: f64, high: f64) -> u8 {
    let share = if high > low { (value - low) / (high - low) } else { 0.0 };
    (share * 255.0).round() as u8
}

/// The palette's colour of a value; without a palette one that is the same for the same value.
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

/// Writes a depth map in 16 bits of grey: 1 for the smallest number, 65535 for the largest, 0 for what is no number. Gives
/// these two numbers, when there is any.
pub(super) fn depths(
    file: File,
    path: &Path,
    size: [u32; 2],
    depths: &[f32],
) -> Result<Option<[f32; 2]>, beside::Error> {
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

fn write(
    file: File,
    path: &Path,
    [width, height]: [u32; 2],
    color: png::ColorType,
    pixels: &[u8],
    about: &str,
) -> Result<(), beside::Error> {
    let mut encoder = png::Encoder::new(BufWriter::new(&file), width, height);
    encoder.set_color(color);
    // What the picture shows, for those who find it without its export.json.
    let described = encoder.add_text_chunk("Description".to_owned(), about.to_owned());
    let deep = color == png::ColorType::Grayscale;
    encoder.set_depth(if deep { png::BitDepth::Sixteen } else { png::BitDepth::Eight });
    let written = described.and_then(|()| encoder.write_header()).and_then(|mut writer| {
        writer.write_image_data(pixels)?;
        writer.finish()
    });
    let written = written.and_then(|()| Ok(file.sync_all()?));
    written.map_err(|error| beside::Error::write(path)(std::io::Error::other(error)))
}
