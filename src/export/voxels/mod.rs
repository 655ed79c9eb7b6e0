//! Voxels of a box as dense arrays, with the metadata in it: a directory of `.npy` files, written tile by tile, so that
//! a LOD that is larger than memory can be exported.
//!
//! An array has the shape (z, x, y) in C order, which is the order ZXY of the blocks themselves. Voxels without a block
//! have the fill value.

mod array;
mod report;
mod tile;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::check::{self, Misplaced};
use crate::draft::{self, Draft};
use crate::godot::channel::{CHANNELS, Depth, NAMES, SDF};
use crate::godot::textures::{INDICES, Textures, WEIGHTS, unpack};
use crate::parallel;
use crate::picture::palette::Palette;
use crate::watch::{Step, Watch};
use crate::world::{self, At, Buffer, Index, World, order};

use array::Array;
pub(super) use tile::blocks as blocks_in;
use tile::{Tile, Tiles};

/// Bytes per write of an array, if its blocks allow it.
const TILE: u64 = 4 << 20;

/// The most bytes that the tiles of all threads may have together.
const TILES: u64 = 64 << 20;

/// Number of tiles that are read before their findings and metadata are written.
const WINDOW: usize = 64;

/// The most bytes that one array may have: more than any disk, and few enough to count them.
const MOST: u64 = 1 << 60;

/// Bytes of arrays past which an export has to be asked for by name: a small save can have two blocks that are far apart.
pub const LARGE: u64 = 4 << 30;

/// A box of voxels of a LOD: from the first up to, not including, the second.
pub type Area = [[i64; 3]; 2];

/// Which voxels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The box of all blocks of the LOD.
    All,
    /// One block.
    Block([i32; 3]),
    /// A box of voxels.
    Box(Area),
}

/// What is exported.
#[derive(Clone, Debug)]
pub struct Request {
    /// The LOD.
    pub lod: u8,
    /// The voxels.
    pub which: Which,
    /// The channels; if empty, all that are not uniform.
    pub channels: Vec<usize>,
    /// The value of voxels without a block.
    pub fill: u64,
    /// Whether the SDF is written as distances in 32-bit floats, as the engine reads it, instead of raw values.
    pub distances: bool,
    /// Whether arrays are synced to the disk before the result gets its name.
    pub sync: bool,
    /// Whether the arrays may have more than [`LARGE`] bytes.
    pub large: bool,
    /// Whether INDICES and WEIGHTS of Mixel4 are also written unpacked: four numbers of 4 bits a voxel.
    pub unpack: bool,
    /// Names of types, which `export.json` repeats.
    pub names: Palette,
}

/// Why an export failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It could not be built.
    #[error(transparent)]
    Beside(#[from] draft::Error),
    /// A file of the save cannot be read.
    #[error(transparent)]
    World(#[from] world::Error),
    /// What is requested cannot be exported in this way, or is too much.
    #[error("{0}")]
    Request(String),
    /// What is requested is not in the save.
    #[error("{0}")]
    Missing(String),
}

/// What was exported.
#[derive(Debug, Default)]
pub struct Summary {
    /// The box.
    pub area: Area,
    /// Blocks that were read.
    pub blocks: u64,
    /// Block positions of the box without a block.
    pub holes: u64,
    /// Blocks that could not be exported completely.
    pub damaged: Vec<Odd>,
    /// Files that could not be read.
    pub faults: Vec<world::Fault>,
    /// Files that are damaged and were read nevertheless: see [`Index::corrected`].
    pub corrected: Vec<world::Fault>,
    /// Blocks of the save that the tables lead to although they belong elsewhere, or may.
    pub misplaced: Misplaced,
    /// Blocks that are left out because another one has their position.
    pub twice: u64,
    /// The arrays: channel, and file or the one value of all voxels.
    pub arrays: Vec<Written>,
}

/// A block that could not be exported completely.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Odd {
    /// Its position.
    pub block: [i32; 3],
    /// Why, in words.
    pub why: String,
}

/// A channel that was exported.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Written {
    /// Its name.
    pub channel: &'static str,
    /// The NumPy type of its numbers.
    pub dtype: &'static str,
    /// The array; `None` if all voxels have one value.
    pub file: Option<String>,
    /// The value of all voxels, as text, if there is no array.
    pub uniform: Option<String>,
    /// What the values of INDICES and WEIGHTS mean: `mixel4` or `single`; `None` if the depths of the blocks imply neither, or
    /// both.
    pub textures: Option<&'static str>,
    /// The four numbers a voxel of Mixel4; `None` unless they are asked for.
    pub unpacked: Option<Unpacked>,
}

/// The textures or weights of Mixel4 as four numbers a voxel.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Unpacked {
    /// The array of shape (z, x, y, 4); `None` if all voxels have one value.
    pub file: Option<String>,
    /// The numbers of all voxels, if there is no array.
    pub uniform: Option<[u8; 4]>,
}

/// The result of a tile.
#[derive(Default)]
struct Done {
    blocks: u64,
    odd: Vec<Odd>,
    /// Lines of metadata.
    metadata: Vec<u8>,
    /// The only value of a channel so far, or [`Met::Many`].
    met: [Met; CHANNELS],
    /// What the channels of textures mean.
    textures: Agreed,
    /// A depth that does not fit the array, with its channel.
    wider: Option<(usize, Depth)>,
}

/// The values that were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Met {
    #[default]
    None,
    One(u64),
    Many,
}

impl Met {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, met) | (met, Self::None) => met,
            (Self::One(a), Self::One(b)) if a == b => self,
            _ => Self::Many,
        }
    }
}

/// What all blocks so far say about their textures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Agreed {
    #[default]
    NoBlock,
    All(Option<Textures>),
    Differ,
}

impl Agreed {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::NoBlock, one) | (one, Self::NoBlock) => one,
            (a, b) if a == b => a,
            _ => Self::Differ,
        }
    }
}

/// Exports voxels into a new directory.
///
/// # Errors
/// When the destination cannot be used, something cannot be read or written, or there is nothing to export. There is
/// nothing under the destination's name then.
pub fn export(world: &World<'_>, request: &Request, to: &Path, watch: &Watch<'_>) -> Result<Summary, Error> {
    let side = world
        .block_size()
        .ok_or_else(|| Error::Missing(format!("{}: the size of its blocks is unknown", world.name)))?;
    let index = world.index(request.lod);
    let area = area(&index, request.lod, request.which, side)?;
    draft::check_destination(&[world.path()], to)?;
    let mut depths = world.depths().unwrap_or_default();
    check_size(request, area, &depths, to)?;
    // Blocks may be deeper than declared: then start again with wider arrays, at most three times per channel.
    loop {
        let draft = Draft::new(&[world.path()], to, watch)?;
        let run = Run { world, request, side, area, depths, index: &index, watch };
        match run.write(&draft)? {
            Ok(mut summary) => {
                if let Some(file) = world.changed() {
                    return Err(draft::Error::Changed(PathBuf::from(file)).into());
                }
                summary.faults.clone_from(&index.faults);
                summary.corrected.clone_from(&index.corrected);
                summary.twice = index.twice;
                summary.misplaced = check::misplaced(world.save, world.forest(), watch);
                report::write(&draft, world, request, &summary, side)?;
                draft.finish()?;
                return Ok(summary);
            }
            Err((channel, depth)) => depths[channel] = depth,
        }
    }
}

/// Refuses arrays that are larger than anybody may want unless they are asked for, and those that do not fit on the disk.
fn check_size(request: &Request, area: Area, depths: &[Depth; CHANNELS], to: &Path) -> Result<(), Error> {
    let [x, y, z] = [0, 1, 2].map(|i| (area[1][i] - area[0][i]).unsigned_abs());
    let voxels = x.saturating_mul(y).saturating_mul(z);
    let named = &request.channels;
    let channels = (0..CHANNELS).filter(|channel| named.is_empty() || named.contains(channel));
    let sizes = channels.map(|channel| {
        let unpacked = request.unpack && (channel == INDICES || channel == WEIGHTS);
        let width = match channel == SDF && request.distances {
            true => 4,
            false => depths[channel].bytes() as u64,
        };
        voxels.saturating_mul(width + if unpacked { 4 } else { 0 })
    });
    let (all, largest) = sizes.fold((0u64, 0), |(all, largest), size| (all.saturating_add(size), size.max(largest)));
    if all > LARGE && !request.large {
        let size = crate::printable::size(all);
        let upto = if named.is_empty() { " up to" } else { "" };
        return Err(Error::Request(format!(
            "the arrays of {x} x {y} x {z} voxels would have{upto} {size}: give a smaller --box or --channel, or --yes to write them"
        )));
    }
    // A channel that is not named is left out if it is uniform, so one array may be all there is.
    Ok(draft::check_space(to, if named.is_empty() { largest } else { all })?)
}

/// The requested box.
pub(super) fn area(index: &Index, lod: u8, which: Which, side: u16) -> Result<Area, Error> {
    let side = i64::from(side);
    let of =
        |low: [i32; 3], high: [i32; 3]| [low.map(|n| i64::from(n) * side), high.map(|n| (i64::from(n) + 1) * side)];
    let area = match which {
        Which::Block(at) => {
            if index.find(at).is_none() {
                let at = crate::printable::triple(at);
                return Err(Error::Missing(format!("block {at} of LOD {lod} is not in any table")));
            }
            of(at, at)
        }
        Which::All => {
            let [low, high] =
                index.extent().ok_or_else(|| Error::Missing(format!("there is no block in LOD {lod}")))?;
            of(low, high)
        }
        Which::Box([from, to]) => {
            let most = i64::from(i32::MAX) * side;
            if (0..3).any(|i| from[i] >= to[i] || from[i] < -most || to[i] > most) {
                return Err(Error::Request("the box is empty, or outside of what blocks can have".to_owned()));
            }
            // What was not read may be in the box.
            let [low, high] = [from, to.map(|n| n - 1)].map(|corner| corner.map(|n| n.div_euclid(side)));
            let is_in = |at: &At| (0..3).all(|i| (low[i]..=high[i]).contains(&i64::from(at.position[i])));
            if index.faults.is_empty() && !index.blocks.iter().any(is_in) {
                return Err(Error::Missing(outside(index, lod, of)));
            }
            [from, to]
        }
    };
    let volume = (0..3).map(|i| (area[1][i] - area[0][i]).unsigned_abs()).try_fold(1u64, u64::checked_mul);
    match volume.and_then(|n| n.checked_mul(8)) {
        Some(bytes) if bytes <= MOST => Ok(area),
        _ => Err(Error::Request("the box has too many voxels for one array: give a smaller one with --box".to_owned())),
    }
}

/// Why a box without a block is not exported.
fn outside(index: &Index, lod: u8, voxels: impl Fn([i32; 3], [i32; 3]) -> Area) -> String {
    let Some([low, high]) = index.extent() else { return format!("there is no block in LOD {lod}") };
    let [from, to] = voxels(low, high).map(|[x, y, z]| format!("{x},{y},{z}"));
    format!("no block of LOD {lod} is in the box; all its blocks are in {from}..{to}")
}

struct Run<'r> {
    world: &'r World<'r>,
    request: &'r Request,
    side: u16,
    area: Area,
    depths: [Depth; CHANNELS],
    index: &'r Index,
    watch: &'r Watch<'r>,
}

/// The result, or the channel with a block of another depth.
type Attempt = Result<Summary, (usize, Depth)>;

impl Run<'_> {
    fn write(&self, draft: &Draft<'_>) -> Result<Attempt, Error> {
        let [from, to] = self.area;
        let [x, y, z] = [0, 1, 2].map(|i| (to[i] - from[i]).unsigned_abs());
        let named = &self.request.channels;
        let mut arrays = Vec::new();
        for channel in (0..CHANNELS).filter(|c| named.is_empty() || named.contains(c)) {
            let distances = channel == SDF && self.request.distances;
            let depth = if distances { Depth::Bits32 } else { self.depths[channel] };
            let dtype = if distances { "<f4" } else { depth.npy() };
            if !distances && depth < Depth::Bits64 && self.request.fill >> depth.bits() != 0 {
                let name = NAMES[channel];
                let why = format!("the fill value does not fit channel {name}, which has {} bits", depth.bits());
                return Err(Error::Request(why));
            }
            arrays.push(Array::create(draft, channel, depth, dtype, distances, [z, x, y])?);
        }
        let widths = || arrays.iter().map(|array| array.depth.bytes() as u64);
        let (all, widest) = (widths().sum::<u64>().max(1), widths().max().unwrap_or(1));
        let room = (TILE / widest * all).min(TILES / parallel::threads() as u64);
        let tiles = Tiles::new(self.area, self.side, all, room);
        let mut summary = Summary { area: self.area, ..Summary::default() };
        let mut met = [Met::None; CHANNELS];
        let mut textures = Agreed::NoBlock;
        let mut metadata = None;
        let count = tiles.len();
        self.watch.begin(Step::Exporting, count);
        let mut next = 0;
        let stop = AtomicBool::new(false);
        while next < count {
            draft.go_on()?;
            let window = next..count.min(next + WINDOW as u64);
            let numbers: Vec<u64> = window.clone().collect();
            let done = parallel::map_with(&numbers, |(buffer, tile): &mut (Buffer, Tile), n| {
                if stop.load(Ordering::Relaxed) || draft.go_on().is_err() {
                    return Ok(Done::default());
                }
                let done = self.tile(&arrays, &tiles, *n, buffer, tile);
                if done.as_ref().map_or(true, |done| done.wider.is_some()) {
                    stop.store(true, Ordering::Relaxed);
                }
                done
            });
            for done in done {
                let done = done?;
                if let Some(wider) = done.wider {
                    return Ok(Err(wider));
                }
                summary.blocks += done.blocks;
                summary.damaged.extend(done.odd);
                textures = textures.and(done.textures);
                for (all, one) in met.iter_mut().zip(done.met) {
                    *all = all.and(one);
                }
                report::metadata(draft, &mut metadata, &done.metadata)?;
            }
            next = window.end;
            self.watch.advance(window.end - window.start);
        }
        report::finish(metadata)?;
        summary.holes = tiles.blocks().saturating_sub(summary.blocks);
        if summary.holes > 0 {
            met.iter_mut().for_each(|met| *met = met.and(Met::One(self.request.fill)));
        }
        for array in arrays {
            let one = match met[array.channel] {
                Met::One(value) if named.is_empty() => Some(value),
                Met::None if named.is_empty() => Some(self.request.fill),
                _ => None,
            };
            let array_channel = array.channel;
            let name = NAMES[array_channel];
            let dtype = array.dtype;
            let file = array.finish(one.is_none(), self.request.sync)?;
            let textures = match textures {
                Agreed::All(textures) if array_channel == INDICES || array_channel == WEIGHTS => textures,
                _ => None,
            };
            let unpacked = match (textures, &file) {
                (Some(Textures::Mixel4), _) if !self.request.unpack => None,
                (Some(Textures::Mixel4), None) => one.map(|n| Unpacked { file: None, uniform: Some(unpack(n)) }),
                (Some(Textures::Mixel4), Some(packed)) => {
                    let file = array::unpack(draft, packed, [z, x, y], self.request.sync)?;
                    Some(Unpacked { file: Some(file), uniform: None })
                }
                _ => None,
            };
            summary.arrays.push(Written {
                channel: name,
                dtype,
                file,
                uniform: one.map(|n| n.to_string()),
                textures: textures.map(Textures::name),
                unpacked,
            });
        }
        Ok(Ok(summary))
    }

    /// Reads the blocks of a tile and writes its part of each array.
    fn tile(
        &self,
        arrays: &[Array],
        tiles: &Tiles,
        n: u64,
        buffer: &mut Buffer,
        tile: &mut Tile,
    ) -> Result<Done, Error> {
        let area = tiles.get(n);
        let mut done = Done::default();
        let fill = self.request.fill;
        let side = i64::from(self.side);
        let mut blocks: Vec<At> = tile::blocks(self.index, area, self.side).copied().collect();
        // The files contain zeros already.
        if blocks.is_empty() && fill == 0 {
            return Ok(done);
        }
        // A tile that exceeds the limit has a single block, and is written slab by slab.
        let slabs = tiles.slabs(area);
        let is_whole = slabs.len() == 1;
        if is_whole || blocks.is_empty() {
            for slab in &slabs {
                tile.begin(arrays, *slab);
                if (blocks.len() as u64) < tile::count(area, side) {
                    tile.fill(arrays, *slab, fill);
                }
                if !is_whole {
                    tile.write(arrays, self.area)?;
                }
            }
        }
        let mut written = Ok(());
        let mut metadata = Vec::new();
        let read = self.world.read_all(&mut blocks, buffer, |at, view| {
            done.blocks += 1;
            let corner = at.position.map(|n| i64::from(n) * side);
            let mut odd = |why: String| done.odd.push(Odd { block: at.position, why });
            let block = match &view {
                Ok(view) => {
                    if !view.is_readable() {
                        let codes: Vec<&str> = view.damage.iter().map(|d| d.code.name()).collect();
                        odd(codes.join(" "));
                    } else if view.block.as_ref().is_some_and(|block| block.size != [self.side; 3]) {
                        odd("it has another size".to_owned());
                    }
                    view.block.as_ref().filter(|block| block.size == [self.side; 3])
                }
                Err(error) => {
                    odd(error.to_string());
                    None
                }
            };
            match block {
                Some(block) => {
                    done.textures = done.textures.and(Agreed::All(Textures::of_block(block)));
                    let line = report::of_block(block, at.position, corner, area);
                    metadata.extend(line.map(|line| (order(at.position), line)));
                }
                None => done.met.iter_mut().for_each(|met| *met = met.and(Met::One(fill))),
            }
            for slab in &slabs {
                if !is_whole {
                    tile.begin(arrays, *slab);
                }
                match block {
                    Some(block) => tile.put(arrays, block, corner, fill, &mut done.met)?,
                    None => tile.fill(arrays, [corner, corner.map(|n| n + side)], fill),
                }
                if !is_whole && written.is_ok() {
                    written = tile.write(arrays, self.area);
                }
            }
            Ok(())
        });
        if let Err(wider) = read {
            done.wider = Some(wider);
            return Ok(done);
        }
        done.odd.sort_by_key(|odd| order(odd.block));
        metadata.sort_by_key(|(place, _)| *place);
        done.metadata = metadata.into_iter().flat_map(|(_, line): (_, Vec<u8>)| line).collect();
        written?;
        if is_whole {
            tile.write(arrays, self.area)?;
        }
        Ok(done)
    }
}
