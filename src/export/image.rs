//! Slices through voxels and depth maps as PNG.

use std::collections::HashSet;
use std::path::Path;

use crate::check::{self, Misplaced};
use crate::draft::{self, Draft};
use crate::godot::channel::{ChannelId, NAMES, SDF, index_zxy, sdf};
use crate::godot::textures::{INDICES, Textures, WEIGHTS, pictured};
use crate::watch::{Step, Watch};
use crate::world::{Buffer, Fault, World, unreadable};

use super::canvas::{AS_IT_IS, Canvas, Picture, Slice, Values};
use super::picture_faults::{self, PictureFaults};
use super::voxels::{self, Area, Error, Odd, Which};
use super::{chunks, layer};
use crate::pak::chunk::Voxels;
use crate::save::{PakFile, PakScratch, RegionFile, Save};

/// Number of chunks that are read to find a shape.
const PROBES: usize = 64;

/// The file while it is written.
const NAME: &str = "picture";

/// Writes a slice as a PNG; a voxel is a pixel. Square to y, x goes to the right and z down; square to x, z goes to the
/// right and y up; square to z, x points right and y up. The picture is transparent where there is no block. INDICES and
/// WEIGHTS of textures show what [`pictured`] gives. Returns its size and the range of its values.
///
/// # Errors
/// If the destination cannot be used, there are no voxels, the picture is too large, or something cannot be read or written.
pub fn slice(world: &World<'_>, slice: &Slice, to: &Path, watch: &Watch<'_>) -> Result<Picture, Error> {
    let draft = Draft::new(&[world.path()], to, watch)?;
    let Some(side) = world.block_size() else {
        return Err(Error::Missing(format!("{}: the size of its blocks is unknown", world.name)));
    };
    let index = world.index(slice.lod);
    // The distance of a voxel depends on the depth of its block.
    let meaning: fn(u64) -> f64 = if slice.channel == SDF { f64::from_bits } else { AS_IT_IS };
    let mut canvas = Canvas::new(slice, voxels::area(&index, slice.lod, slice.which, side)?, meaning)?;
    let area = canvas.area();
    let mut buffer = Buffer::default();
    let mut faults = PictureFaults {
        files: index.faults.clone(),
        corrected: index.corrected.clone(),
        twice: index.twice,
        ..PictureFaults::default()
    };
    let mut textures = None;
    let all = voxels::blocks_in(&index, area, side).count() as u64;
    watch.begin(Step::Exporting, all);
    for at in voxels::blocks_in(&index, area, side) {
        draft.go_on()?;
        watch.advance(1);
        let view = world.read(at, &mut buffer)?;
        faults.damaged.extend(unreadable(&view, Some(side)).map(|why| Odd { block: at.position, why }));
        let Some(block) = view.block.as_ref().filter(|block| block.size == [side; 3]) else { continue };
        let Some(channel) = block.channels.get(slice.channel) else { continue };
        let corner = at.position.map(|n| i64::from(n) * i64::from(side));
        let far = corner.map(|n| n + i64::from(side));
        let of_block = Textures::of_block(block).filter(|textures| textures.is_in(slice.channel));
        textures = textures.or(of_block);
        canvas.fill([corner, far], |voxel| {
            let inside = [0, 1, 2].map(|i| u16::try_from(voxel[i] - corner[i]).unwrap_or(u16::MAX));
            let index = index_zxy(block.size, inside)?;
            let raw = of_block.and_then(|_| pictured(block, slice.channel, index)).or_else(|| channel.value(index))?;
            Some(if slice.channel == SDF { sdf(block.version, channel.depth, raw).to_bits() } else { raw })
        });
    }
    let palette = world.forest().and_then(|forest| {
        forest.regions.iter().find_map(|file| file.header.as_ref().and_then(|header| header.palette.clone()))
    });
    let palette = palette.filter(|_| slice.channel == ChannelId::Color.index());
    let what = match (slice.channel, textures) {
        (INDICES, Some(Textures::Mixel4)) => "texture of the largest weight (INDICES, WEIGHTS)",
        (INDICES, Some(Textures::Single)) => "texture (INDICES)",
        (WEIGHTS, Some(_)) => "largest weight of a texture (WEIGHTS)",
        (channel, _) => NAMES[channel],
    };
    let what = format!("{what} of LOD {}", slice.lod);
    let values = match textures {
        Some(_) => Values::Textures,
        None if slice.channel == SDF => Values::Distances,
        None => Values::Kinds,
    };
    let what = (what.as_str(), values);
    let picture = canvas.write(&draft, Path::new(NAME), slice, what, palette.as_deref())?;
    if let Some(forest) = world.forest() {
        let drawn = voxels::blocks_in(&index, area, side);
        // A picture of all blocks is cut along one axis only.
        let is_cut = |axis: usize| axis == slice.axis || !matches!(slice.which, Which::All);
        let is_in_picture = |file: &RegionFile| {
            let Some([first, last]) = picture_faults::corners_of_region(file) else { return false };
            let voxels = |n: i32| i64::from(n) * i64::from(side);
            let [low, high] = area;
            let is_inside =
                |axis: usize| voxels(first[axis]) < high[axis] && voxels(last[axis]) + i64::from(side) > low[axis];
            file.lod == slice.lod && (0..3).all(|axis| !is_cut(axis) || is_inside(axis))
        };
        faults.misplaced = picture_faults::misplaced(world.save, forest, drawn, is_in_picture, None, watch);
    }
    draft.finish_files(&[(Path::new(NAME), to)])?;
    Ok(Picture { faults, ..picture })
}

/// A slice through the flags of a layer of a voxel map, by its name or number, in cells of the layer. See [`slice()`].
///
/// # Errors
/// As those of [`slice()`].
pub fn slice_of_layer(save: &Save, name: &str, slice: &Slice, to: &Path, watch: &Watch<'_>) -> Result<Picture, Error> {
    let (map, layer) = layer::find(save, name)?;
    let draft = Draft::new(&[&map.dir], to, watch)?;
    let grid = map.grid(layer, &save.options.limits);
    let dim = grid.dim.filter(|_| grid.data.is_some());
    let dim = dim.ok_or_else(|| Error::Missing(layer::nowhere(save, map, layer, &grid)))?;
    let mut canvas = Canvas::new(slice, within(slice.which, [[0; 3], dim.map(i64::from)])?, AS_IT_IS)?;
    let [low, high] = canvas.area();
    let mut failed = None;
    watch.begin(Step::Exporting, (high[0] - low[0]).unsigned_abs());
    for x in low[0]..high[0] {
        draft.go_on()?;
        watch.advance(1);
        canvas.fill([[x, low[1], low[2]], [x + 1, high[1], high[2]]], |cell| {
            match grid.voxel(cell.map(|n| u32::try_from(n).unwrap_or(u32::MAX))) {
                Ok(voxel) => voxel.filter(|v| v.bits.is_some()).map(|v| v.flags),
                Err(error) => {
                    failed.get_or_insert(error);
                    None
                }
            }
        });
        if let Some(error) = failed.take() {
            return Err(draft::Error::read(&map.dir)(error).into());
        }
    }
    let picture = canvas.write(&draft, Path::new(NAME), slice, ("flags", Values::Kinds), None)?;
    draft.finish_files(&[(Path::new(NAME), to)])?;
    let layers = picture_faults::layer_faults(save, map, layer, &grid);
    Ok(Picture { faults: PictureFaults { layers, ..PictureFaults::default() }, ..picture })
}

/// A slice through the chunks of pak regions, as far as they have the shape of the first one. See [`slice()`].
///
/// # Errors
/// As those of [`slice()`].
pub fn slice_of_chunks(save: &Save, slice: &Slice, to: &Path, watch: &Watch<'_>) -> Result<Picture, Error> {
    let draft = Draft::new(&[&save.path], to, watch)?;
    let mut scratch = PakScratch::default();
    let pak_dir = chunks::pak_dir(save)?;
    // Positions of the chunks, from their records, and the shape of the first one that has one.
    let (mut found, mut shape, mut probes) = (Vec::new(), None, 0);
    // Of two chunks of one position the first is drawn, as in a picture of the world.
    let (mut taken, mut twice, mut files) = (HashSet::new(), 0, Vec::new());
    for file in pak_dir.files.iter().filter(|file| file.refused.is_none()) {
        draft.go_on()?;
        let Some(pak) = chunks::open(save, pak_dir, file)? else { continue };
        let path = pak_dir.dir.join(&file.name);
        let why = check::uncounted_chunks(&pak).map_err(draft::Error::read(&path))?;
        files.extend(why.map(|why| Fault { file: save.shown(&path), why }));
        for (number, record) in pak.present() {
            if let Some(chunk) = pak.chunk(number) {
                match taken.insert(chunk) {
                    true => found.push((file, number, record, chunk)),
                    false => twice += 1,
                }
            }
            if shape.is_none() && probes < PROBES {
                probes += 1;
                shape = pak.view(number, record, &mut scratch).ok().and_then(|view| view.shape);
            }
        }
    }
    let missing = |why: &str| {
        let files: Vec<String> = files.iter().map(|Fault { file, why }| format!("; {file}: {why}")).collect();
        Error::Missing(format!("{why}{}", files.concat()))
    };
    let shape = shape.ok_or_else(|| missing("no chunk tells its shape"))?.value;
    let size = shape.size.map(i64::from);
    let of = |chunk: [i32; 3]| {
        let low = [0, 1, 2].map(|i| i64::from(chunk[i]) * size[i]);
        [low, [0, 1, 2].map(|i| low[i] + size[i])]
    };
    let all = found
        .iter()
        .map(|(.., chunk)| of(*chunk))
        .reduce(|[low, high], [a, b]| [[0, 1, 2].map(|i| low[i].min(a[i])), [0, 1, 2].map(|i| high[i].max(b[i]))]);
    let all = all.ok_or_else(|| missing("the chunks have numbers only, and no places"))?;
    let which = match slice.which {
        Which::Block(chunk) => Which::Box(of(chunk)),
        which => which,
    };
    let mut canvas = Canvas::new(slice, within(which, all)?, AS_IT_IS)?;
    let [low, high] = canvas.area();
    found.retain(|(.., chunk)| {
        let area = of(*chunk);
        (0..3).all(|i| area[0][i] < high[i] && area[1][i] > low[i])
    });
    watch.begin(Step::Exporting, found.len() as u64);
    let mut damaged = Vec::new();
    for part in found.chunk_by(|(a, ..), (b, ..)| std::ptr::eq(*a, *b)) {
        let Some(pak) = part.first().map(|(file, ..)| chunks::open(save, pak_dir, file)).transpose()?.flatten() else {
            continue;
        };
        for &(_, number, record, chunk) in part {
            draft.go_on()?;
            watch.advance(1);
            let view = pak.view(number, record, &mut scratch).map_err(draft::Error::read(&save.path))?;
            damaged.extend(view.fault().map(|why| Odd { block: chunk, why }));
            let shape_of = view.shape.map(|shape| shape.value).filter(|one| one.size == shape.size);
            let (Some(payload), Some(shape)) = (view.payload, shape_of) else { continue };
            let voxels = Voxels { data: payload.plain, shape, order: pak.order(&shape).value };
            let area = of(chunk);
            canvas.fill(area, |voxel| {
                let inside = [0, 1, 2].map(|i| u32::try_from(voxel[i] - area[0][i]).unwrap_or(u32::MAX));
                voxels.get(inside)
            });
        }
    }
    let picture = canvas.write(&draft, Path::new(NAME), slice, ("voxels", Values::Kinds), None)?;
    draft.finish_files(&[(Path::new(NAME), to)])?;
    let numbers = |file: &&PakFile| pak_dir.files.iter().position(|other| std::ptr::eq(other, *file));
    let drawn = found.iter().filter_map(|(file, record, ..)| Some((u32::try_from(numbers(file)?).ok()?, *record)));
    let blocks = picture_faults::misplaced_chunks(save, pak_dir, drawn, watch);
    let misplaced = Misplaced { blocks, ..Misplaced::default() };
    let faults = PictureFaults { damaged, files, misplaced, twice, is_of_chunks: true, ..PictureFaults::default() };
    Ok(Picture { faults, ..picture })
}

/// The requested box, limited to what exists.
fn within(which: Which, all: Area) -> Result<Area, Error> {
    match which {
        Which::All => Ok(all),
        Which::Block(_) => Err(Error::Request("a layer is cut by --box, in cells".to_owned())),
        Which::Box([from, to]) => {
            Ok([[0, 1, 2].map(|i| from[i].max(all[0][i])), [0, 1, 2].map(|i| to[i].min(all[1][i]))])
        }
    }
}
