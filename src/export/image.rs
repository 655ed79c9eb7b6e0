//! Slices through voxels and depth maps as PNG.

use std::fs::File;
use std::path::Path;

use crate::beside::{self, Draft, Watch};
use crate::godot::channel::{NAMES, SDF, index_zxy, sdf};
use crate::world::{Buffer, World};

use super::canvas::{self, Canvas};
use super::voxels::{self, Area, Error, Which};
use super::{chunks, layer};
use crate::pak::chunk::{Order, Voxels};
use crate::save::{PakScratch, Save};

/// Chunks that are looked at for a shape.
const PROBES: usize = 64;

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
    let mut canvas = Canvas::new(slice, voxels::area(&index, slice.lod, slice.which, side)?)?;
    let area = canvas.area();
    let mut buffer = Buffer::default();
    let all = voxels::blocks_in(&index, area, side).count() as u64;
    for (done, at) in (0..).zip(voxels::blocks_in(&index, area, side)) {
        draft.go_on()?;
        watch.tell(done, all);
        let view = world.read(at, &mut buffer)?;
        let Some(block) = view.block.as_ref().filter(|block| block.size == [side; 3]) else { continue };
        let Some(channel) = block.channels.get(slice.channel) else { continue };
        let corner = at.position.map(|n| i64::from(n) * i64::from(side));
        let far = corner.map(|n| n + i64::from(side));
        canvas.fill([corner, far], |voxel| {
            let inside = [0, 1, 2].map(|i| u16::try_from(voxel[i] - corner[i]).unwrap_or(u16::MAX));
            let raw = channel.value(index_zxy(block.size, inside)?)?;
            let means = if slice.channel == SDF { sdf(block.version, channel.depth, raw) } else { raw as f64 };
            Some((raw, means))
        });
    }
    let palette = world.forest().and_then(|forest| {
        forest.regions.iter().find_map(|file| file.header.as_ref().and_then(|header| header.palette.clone()))
    });
    let palette = palette.filter(|_| NAMES[slice.channel] == "COLOR");
    let what = format!("{} of LOD {}", NAMES[slice.channel], slice.lod);
    let what = (what.as_str(), slice.channel == SDF);
    let picture = canvas.write(&draft, Path::new(NAME), slice, what, palette.as_deref())?;
    draft.finish_files(&[(Path::new(NAME), to)])?;
    Ok(picture)
}

/// A slice through the flags of a layer of a voxel map, by its name or number, in cells of the layer. See [`slice()`].
///
/// # Errors
/// As those of [`slice()`].
pub fn slice_of_layer(save: &Save, name: &str, slice: &Slice, to: &Path, watch: &Watch<'_>) -> Result<Picture, Error> {
    let (map, layer) = layer::find(save, name)?;
    let draft = Draft::new(&[&map.dir], to, "export", watch.cancel)?;
    let grid = map.grid(layer, &save.options.limits);
    let dim = grid.dim.filter(|_| grid.data.is_some());
    let dim = dim.ok_or_else(|| Error::Request(layer::NOWHERE.to_owned()))?;
    let mut canvas = Canvas::new(slice, within(slice.which, [[0; 3], dim.map(i64::from)])?)?;
    let [low, high] = canvas.area();
    let mut failed = None;
    for x in low[0]..high[0] {
        draft.go_on()?;
        watch.tell((x - low[0]).unsigned_abs(), (high[0] - low[0]).unsigned_abs());
        canvas.fill([[x, low[1], low[2]], [x + 1, high[1], high[2]]], |cell| {
            match grid.voxel(cell.map(|n| u32::try_from(n).unwrap_or(u32::MAX))) {
                Ok(voxel) => voxel.filter(|v| v.bits.is_some()).map(|v| (v.flags, v.flags as f64)),
                Err(error) => {
                    failed.get_or_insert(error);
                    None
                }
            }
        });
        if let Some(error) = failed.take() {
            return Err(beside::Error::read(&map.dir)(error).into());
        }
    }
    let picture = canvas.write(&draft, Path::new(NAME), slice, ("flags", false), None)?;
    draft.finish_files(&[(Path::new(NAME), to)])?;
    Ok(picture)
}

/// A slice through the chunks of pak regions, as far as they have the shape of the first one. See [`slice()`].
///
/// # Errors
/// As those of [`slice()`].
pub fn slice_of_chunks(save: &Save, slice: &Slice, to: &Path, watch: &Watch<'_>) -> Result<Picture, Error> {
    let draft = Draft::new(&[&save.path], to, "export", watch.cancel)?;
    let mut scratch = PakScratch::default();
    let room = chunks::room(save)?;
    // Where the chunks are, which their records tell, and the shape of the first one that has one.
    let (mut found, mut shape, mut probes) = (Vec::new(), None, 0);
    for file in &room.files {
        draft.go_on()?;
        let Some(pak) = chunks::open(save, room, file)? else { continue };
        for (number, record) in pak.present() {
            found.extend(pak.chunk(number).map(|chunk| (file, number, record, chunk)));
            if shape.is_none() && probes < PROBES {
                probes += 1;
                shape = pak.view(number, record, &mut scratch).ok().and_then(|view| view.shape);
            }
        }
    }
    let shape = shape.ok_or_else(|| Error::Request("no chunk tells its shape".to_owned()))?.value;
    let size = shape.size.map(i64::from);
    let of = |chunk: [i32; 3]| {
        let low = [0, 1, 2].map(|i| i64::from(chunk[i]) * size[i]);
        [low, [0, 1, 2].map(|i| low[i] + size[i])]
    };
    let all = found
        .iter()
        .map(|(.., chunk)| of(*chunk))
        .reduce(|[low, high], [a, b]| [[0, 1, 2].map(|i| low[i].min(a[i])), [0, 1, 2].map(|i| high[i].max(b[i]))]);
    let all = all.ok_or_else(|| Error::Request("the chunks have numbers only, and no places".to_owned()))?;
    let which = match slice.which {
        Which::Block(chunk) => Which::Box(of(chunk)),
        which => which,
    };
    let mut canvas = Canvas::new(slice, within(which, all)?)?;
    let [low, high] = canvas.area();
    found.retain(|(.., chunk)| {
        let area = of(*chunk);
        (0..3).all(|i| area[0][i] < high[i] && area[1][i] > low[i])
    });
    let mut done = 0;
    for part in found.chunk_by(|(a, ..), (b, ..)| std::ptr::eq(*a, *b)) {
        let Some(pak) = part.first().map(|(file, ..)| chunks::open(save, room, file)).transpose()?.flatten() else {
            continue;
        };
        for &(_, number, record, chunk) in part {
            draft.go_on()?;
            watch.tell(done, found.len() as u64);
            done += 1;
            let view = pak.view(number, record, &mut scratch).map_err(beside::Error::read(&save.path))?;
            let shape_of = view.shape.map(|shape| shape.value).filter(|one| one.size == shape.size);
            let (Some(payload), Some(shape)) = (view.payload, shape_of) else { continue };
            let voxels = Voxels { data: payload.plain, shape, order: Order::default() };
            let area = of(chunk);
            canvas.fill(area, |voxel| {
                let inside = [0, 1, 2].map(|i| u32::try_from(voxel[i] - area[0][i]).unwrap_or(u32::MAX));
                voxels.get(inside).map(|raw| (raw, raw as f64))
            });
        }
    }
    let picture = canvas.write(&draft, Path::new(NAME), slice, ("voxels", false), None)?;
    draft.finish_files(&[(Path::new(NAME), to)])?;
    Ok(picture)
}

/// What is asked for, as far as it is there.
fn within(which: Which, all: Area) -> Result<Area, Error> {
    match which {
        Which::All => Ok(all),
        Which::Block(_) => Err(Error::Request("a layer is cut by --box, in cells".to_owned())),
        Which::Box([from, to]) => {
            Ok([[0, 1, 2].map(|i| from[i].max(all[0][i])), [0, 1, 2].map(|i| to[i].min(all[1][i]))])
        }
    }
}

/// Writes a depth map in 16 bits of grey: 1 for the smallest number, 65535 for the largest, 0 for what is no number. Gives
/// these two numbers, when there is any.
pub(super) fn depths(
    file: &File,
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
    canvas::write(file, path, size, png::ColorType::Grayscale, &pixels, &words)?;
    Ok((low <= high).then_some([low, high]))
}
