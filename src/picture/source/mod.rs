//! The blocks of a save as a picture needs them: which exist, by LOD and position, and their voxels on demand.

mod reader;

use std::sync::Arc;

use super::planned::Planned;
use crate::check;
use crate::godot::block::Block;
use crate::godot::channel::CHANNELS;
use crate::pak::chunk::Voxels as ChunkVoxels;
use crate::save::{Blob, PakScratch, Save, Stream, StreamScratch};
use crate::source::FileSource;
use crate::voxel_map::grid::{BLOCK, Grid};
use crate::voxel_map::map_json;
use crate::world::{At, Fault, Index, World};

pub use reader::{Reader, Scratch, Witness};

/// Coordinates beyond this many voxels are not shown: no engine has worlds that large.
const REACH: i64 = 1 << 45;

/// Cells of a dense layer that are read at once, along each axis.
const DENSE: [u32; 3] = [16, 64, 128];

/// Chunks that are looked at for a shape.
const SHAPE_PROBES: usize = 64;

/// A part of a save that is one world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// A forest, by its number.
    Forest(usize),
    /// A stream, by its number.
    Stream(usize),
    /// A directory of pak regions, by its number.
    PakDir(usize),
    /// A layer of a map: the map and the number of the layer.
    Layer(usize, usize),
}

impl Part {
    /// The first world of a save.
    #[must_use]
    pub fn first(save: &Save) -> Option<Self> {
        Self::all(save).into_iter().next()
    }

    /// Every world of a save.
    #[must_use]
    pub fn all(save: &Save) -> Vec<Self> {
        let forests = (0..save.forests.len()).map(Self::Forest);
        let streams = (0..save.streams.len()).map(Self::Stream);
        let paks = (0..save.pak_dirs.len()).map(Self::PakDir);
        let layers = save
            .maps
            .iter()
            .enumerate()
            .flat_map(|(map, m)| (0..m.layers().count()).map(move |at| Self::Layer(map, at)));
        forests.chain(streams).chain(paks).chain(layers).collect()
    }
}

/// What stores the blocks.
#[derive(Debug)]
enum Store {
    Forest(usize),
    Stream(Arc<Stream<FileSource>>),
    PakDir(usize),
    Layer(Box<Grid<FileSource>>, Box<map_json::Layer>),
}

/// The tables of a world.
#[derive(Debug)]
pub struct Source {
    /// The save.
    pub save: Arc<Save>,
    /// The part of it.
    pub part: Part,
    /// Voxels of a block along x, y, z, at its own LOD.
    pub side: [u32; 3],
    /// The blocks, a table a LOD, the lowest first. LODs without blocks are left out.
    pub tables: Vec<Index>,
    /// Tables of LODs whose files cannot be read, so that they have no blocks.
    pub without_blocks: Vec<Index>,
    /// The palette of the region files, 256 times RGBA, where one has one.
    pub palette: Option<Box<[u8]>>,
    /// Blocks whose coordinates are too large to be shown.
    pub beyond: u64,
    /// Blocks that are where a repair would put them.
    pub(super) planned: Option<Planned>,
    store: Store,
    /// The box of all blocks, which is asked for with every picture.
    extent: Option<[[i64; 3]; 2]>,
}

/// The voxels of a block, whatever stores it.
#[derive(Clone, Copy, Debug)]
pub enum Voxels<'a> {
    /// A block of Godot Voxel.
    Block(&'a Block<'a>),
    /// A chunk of a pak region.
    Chunk(ChunkVoxels<'a>),
    /// Cells of a map in the order x, y, z, the last running fastest, of the size of a block.
    Cells(&'a [u64]),
}

impl Source {
    /// Reads the tables of a part of a save.
    ///
    /// # Errors
    /// A sentence with the file's name, when nothing of it can be read.
    pub fn open(save: &Arc<Save>, part: Part) -> Result<Self, String> {
        let gone = || "this part of the save is gone".to_owned();
        let mut palette = None;
        let (store, side, tables) = match part {
            Part::Forest(number) => {
                let forest = save.forests.get(number).ok_or_else(gone)?;
                let world = World::of_forest(save, forest);
                let unknown = || format!("{}: no file tells how large its blocks are", world.name);
                let side = u32::from(world.block_size().ok_or_else(unknown)?);
                palette = forest.regions.iter().find_map(|file| file.header.as_ref()?.palette.clone());
                let tables = world.lods().into_iter().map(|lod| world.index(lod)).collect();
                (Store::Forest(number), [side; 3], tables)
            }
            Part::Stream(number) => {
                let file = save.streams.get(number).ok_or_else(gone)?;
                let shown = save.shown(&file.path);
                let stream = save.stream(file, &mut Vec::new()).map_err(|error| format!("{shown}: {error}"))?;
                let stream = stream.ok_or_else(|| format!("{shown}: nothing in it can be read"))?;
                let stream = Arc::new(stream);
                let side = stream_side(save, &stream);
                let side = side.ok_or_else(|| format!("{shown}: nothing tells how large its blocks are"))?;
                let world = World::of_stream(save, file, Arc::clone(&stream));
                let tables = world.lods().into_iter().map(|lod| world.index(lod)).collect();
                (Store::Stream(stream), side, tables)
            }
            Part::PakDir(number) => {
                let (side, table) = pak_table(save, number)?;
                (Store::PakDir(number), side, vec![table])
            }
            Part::Layer(map, number) => {
                let map = save.maps.get(map).ok_or_else(gone)?;
                if let (None, Some(check::LeftOut { file, why })) = (&map.data, check::unread_layers(save, map).pop()) {
                    return Err(format!("{file}: {why}"));
                }
                let layer = map.layers().nth(number).ok_or_else(gone)?;
                let grid = map.grid(layer, &save.options.limits);
                let is_nowhere = grid.dim.is_none() || grid.data.is_none();
                let unread = is_nowhere.then(|| check::unread_layer(save, map, layer, &grid)).flatten();
                if let Some(check::LeftOut { file, why }) = unread {
                    return Err(format!("{file}: {why}"));
                }
                let (side, table) = layer_table(&grid);
                (Store::Layer(Box::new(grid), Box::new(layer.clone())), side, vec![table])
            }
        };
        let mut source = Self {
            save: Arc::clone(save),
            part,
            side,
            tables,
            without_blocks: Vec::new(),
            palette,
            beyond: 0,
            planned: None,
            store,
            extent: None,
        };
        source.drop_far();
        Ok(source)
    }

    /// Leaves out blocks whose coordinates would not fit the arithmetic of pictures.
    pub(super) fn drop_far(&mut self) {
        let side = self.side;
        for table in &mut self.tables {
            let before = table.blocks.len();
            let lod = table.lod;
            table.blocks.retain(|at| is_near(side, lod, at.position));
            self.beyond += (before - table.blocks.len()) as u64;
        }
        let (tables, without): (Vec<Index>, Vec<Index>) =
            std::mem::take(&mut self.tables).into_iter().partition(|table| !table.blocks.is_empty());
        self.tables = tables;
        self.without_blocks.extend(without.into_iter().filter(|table| !table.faults.is_empty()));
        self.extent = self.measure_extent();
    }

    /// Whether the coordinates of a block fit the arithmetic of pictures.
    #[must_use]
    pub fn is_near(&self, lod: u8, position: [i32; 3]) -> bool {
        is_near(self.side, lod, position)
    }

    /// The table of a LOD.
    #[must_use]
    pub fn table(&self, lod: u8) -> Option<&Index> {
        self.tables.iter().find(|table| table.lod == lod)
    }

    /// The LODs that have blocks, in order.
    #[must_use]
    pub fn lods(&self) -> Vec<u8> {
        self.tables.iter().map(|table| table.lod).collect()
    }

    /// How many blocks there are.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.tables.iter().map(|table| table.blocks.len()).sum()
    }

    /// The size of a block of a LOD in voxels of the world.
    #[must_use]
    pub fn block(&self, lod: u8) -> [i64; 3] {
        self.side.map(|side| i64::from(side.max(1)) << lod.min(40))
    }

    /// The corner of a block in the world.
    #[must_use]
    pub fn corner(&self, lod: u8, position: [i32; 3]) -> [i64; 3] {
        let block = self.block(lod);
        [0, 1, 2].map(|i| i64::from(position[i]).saturating_mul(block[i]))
    }

    /// The position of the block of a LOD that a voxel of the world is in.
    #[must_use]
    pub fn block_at(&self, lod: u8, voxel: [i64; 3]) -> Option<[i32; 3]> {
        let block = self.block(lod);
        let at = [0, 1, 2].map(|i| i32::try_from(voxel[i].div_euclid(block[i])).ok());
        Some([at[0]?, at[1]?, at[2]?])
    }

    /// The box of all blocks, in voxels of the world; of a layer, that of its cells. `None` when there is no block.
    #[must_use]
    pub const fn extent(&self) -> Option<[[i64; 3]; 2]> {
        self.extent
    }

    fn measure_extent(&self) -> Option<[[i64; 3]; 2]> {
        if let (Store::Layer(grid, _), Some(dim)) = (&self.store, self.dim()) {
            let _ = grid;
            return Some([[0; 3], dim.map(i64::from)]);
        }
        let all = self.tables.iter().filter_map(|table| {
            let [low, high] = table.extent()?;
            let (low, last) = (self.corner(table.lod, low), self.corner(table.lod, high));
            let block = self.block(table.lod);
            Some([low, [0, 1, 2].map(|i| last[i].saturating_add(block[i]))])
        });
        all.reduce(|[a, b], [c, d]| [[0, 1, 2].map(|i| a[i].min(c[i])), [0, 1, 2].map(|i| b[i].max(d[i]))])
    }

    /// The box of the bulk of the blocks: all of them, but few that are far away from the others.
    #[must_use]
    pub fn bulk(&self) -> Option<[[i64; 3]; 2]> {
        let all = self.extent()?;
        let Some(table) = self.tables.iter().max_by_key(|table| table.blocks.len()).filter(|_| self.layer().is_none())
        else {
            return Some(all);
        };
        let [mut low, mut high] = self.bulk_of(table, all);
        // Blocks of high LODs reach farther than those of the lowest; that is no reason to leave them out.
        for other in &self.tables {
            let [from, to] = self.bulk_of(other, all);
            if (0..3).all(|i| from[i] < high[i] && to[i] > low[i]) {
                (low, high) = ([0, 1, 2].map(|i| low[i].min(from[i])), [0, 1, 2].map(|i| high[i].max(to[i])));
            }
        }
        Some([low, high])
    }

    /// The box of the bulk of the blocks of a LOD.
    fn bulk_of(&self, table: &Index, all: [[i64; 3]; 2]) -> [[i64; 3]; 2] {
        let block = self.block(table.lod);
        let mut bulk = all;
        for axis in 0..3 {
            let mut places: Vec<i32> = table.blocks.iter().map(|at| at.position[axis]).collect();
            places.sort_unstable();
            let Some((from, to)) = crowd(&places) else { continue };
            bulk[0][axis] = i64::from(from).saturating_mul(block[axis]);
            bulk[1][axis] = i64::from(to).saturating_add(1).saturating_mul(block[axis]);
        }
        bulk
    }

    /// Cells of a layer along each axis.
    #[must_use]
    pub fn dim(&self) -> Option<[u32; 3]> {
        match &self.store {
            Store::Layer(grid, _) => grid.dim,
            _ => None,
        }
    }

    /// The layer of a map, when it is one.
    #[must_use]
    pub fn layer(&self) -> Option<(&Grid<FileSource>, &map_json::Layer)> {
        match &self.store {
            Store::Layer(grid, layer) => Some((grid, layer)),
            _ => None,
        }
    }

    /// Whether its blocks have the channels of Godot Voxel.
    #[must_use]
    pub const fn has_channels(&self) -> bool {
        matches!(self.store, Store::Forest(_) | Store::Stream(_))
    }

    /// Whether depths of water are known.
    #[must_use]
    pub fn has_depth(&self) -> bool {
        self.layer().is_some_and(|(grid, _)| grid.depth.is_some() || grid.packed)
    }

    /// How many channels a cut can go through.
    #[must_use]
    pub const fn channels(&self) -> usize {
        if self.has_channels() { CHANNELS } else { 1 }
    }

    /// Prepares for reading blocks.
    #[must_use]
    pub fn reader(&self) -> Reader<'_> {
        let world = match self.store {
            Store::Forest(number) => self.save.forests.get(number).map(|forest| World::of_forest(&self.save, forest)),
            _ => None,
        };
        Reader::new(self, world)
    }
}

/// Whether the coordinates of a block fit the arithmetic of pictures; `side` is its size.
fn is_near(side: [u32; 3], lod: u8, position: [i32; 3]) -> bool {
    let step = 1i64.checked_shl(lod.into()).filter(|step| *step > 0 && lod < 40);
    let fits = |(n, side): (i32, u32)| {
        let place = i64::from(n).checked_mul(i64::from(side)).and_then(|n| n.checked_mul(step?));
        place.is_some_and(|n| n.abs() <= REACH)
    };
    position.into_iter().zip(side).all(fits)
}

/// Blocks of nothing between two others from which on these are far apart.
const FAR: i64 = 16;

/// The first and the last of the most places, in order, of which none is far from the next; all of them where that is not
/// half of them at least.
fn crowd(places: &[i32]) -> Option<(i32, i32)> {
    let near = |a: &i32, b: &i32| i64::from(*b) - i64::from(*a) <= FAR;
    let largest = places.chunk_by(near).max_by_key(|crowd| crowd.len())?;
    let crowd = if largest.len() * 2 >= places.len() { largest } else { places };
    Some((*crowd.first()?, *crowd.last()?))
}

/// How large the blocks of a stream are.
fn stream_side(save: &Save, stream: &Stream<FileSource>) -> Option<[u32; 3]> {
    let mut scratch = StreamScratch::default();
    let counts = |row: &crate::save::StreamRow| {
        (save.options.stale_rows || !row.stale) && row.voxels != Blob::Null && row.place.is_some()
    };
    let first = || {
        stream.rows.iter().filter(counts).take(SHAPE_PROBES).find_map(|row| {
            let view = stream.view(&row, &mut scratch).ok()?;
            view.block.as_ref().filter(|_| view.is_readable()).map(|block| block.size.map(u32::from))
        })
    };
    stream.meta.block_size().map(|side| [u32::from(side); 3]).or_else(first)
}

/// The chunks of a directory of pak regions, and how large they are.
fn pak_table(save: &Save, number: usize) -> Result<([u32; 3], Index), String> {
    let dir = save.pak_dirs.get(number).ok_or("this part of the save is gone")?;
    let mut scratch = PakScratch::default();
    let (mut blocks, mut faults, mut side, mut probes) = (Vec::new(), Vec::new(), None, 0);
    for (at, file) in (0u32..).zip(&dir.files) {
        // What cannot be opened is a finding of the check; the others are shown.
        let Ok(Some(pak)) = save.pak(dir, file, &mut Vec::new()) else { continue };
        let uncounted = check::uncounted_chunks(&pak).ok().flatten();
        faults.extend(uncounted.map(|why| Fault { file: save.shown(&dir.dir.join(&file.name)), why }));
        for (record, entry) in pak.present() {
            blocks.extend(pak.chunk(record).map(|chunk| At::new(chunk, at, record)));
            if side.is_none() && probes < SHAPE_PROBES {
                probes += 1;
                let view = pak.view(record, entry, &mut scratch).ok();
                side = view.and_then(|view| view.shape).map(|shape| shape.value.size);
            }
        }
    }
    let side = side.ok_or_else(|| {
        let uncounted: Vec<String> = faults.iter().map(|Fault { file, why }| format!("; {file}: {why}")).collect();
        format!("{}: no chunk implies its shape{}", save.shown(&dir.dir), uncounted.concat())
    })?;
    Ok((side, Index { faults, ..Index::of_blocks(0, blocks) }))
}

/// The blocks of a layer: those of its index, or pieces of a dense one.
fn layer_table(grid: &Grid<FileSource>) -> ([u32; 3], Index) {
    let Some(dim) = grid.dim.filter(|_| grid.data.is_some()) else { return ([BLOCK; 3], Index::default()) };
    if !grid.index.is_empty() {
        let rows = grid.index.rows().map(|(row, position)| At::new(position, 0, row));
        return ([BLOCK; 3], Index::of_blocks(0, rows.collect()));
    }
    // No more pieces than the data has bytes for.
    let cells = grid.data.as_ref().map_or(0, |data| data.npy.there());
    let pieces = [0, 1, 2].map(|i| dim[i].div_ceil(DENSE[i]));
    let count = pieces.into_iter().map(u64::from).fold(1u64, u64::saturating_mul);
    if count > cells.max(1) {
        return (DENSE, Index::default());
    }
    let ends = pieces.map(|n| i32::try_from(n).unwrap_or(i32::MAX));
    let mut blocks = Vec::new();
    for z in 0..ends[2] {
        for x in 0..ends[0] {
            blocks.extend((0..ends[1]).map(|y| At::new([x, y, z], 0, 0)));
        }
    }
    (DENSE, Index::of_blocks(0, blocks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_places_far_away_do_not_belong_to_the_crowd() {
        assert_eq!(crowd(&[-3, -2, 0, 1, 2, 900]), Some((-3, 2)));
        assert_eq!(crowd(&[-40, 0, 1, 2, 40]), Some((0, 2)));
        // Neither of two is the crowd, nor one of many islands.
        assert_eq!(crowd(&[0, 30, 60]), Some((0, 60)));
        assert_eq!(crowd(&[i32::MIN, 0, 0, i32::MAX]), Some((0, 0)));
        assert_eq!(crowd(&[]), None);
    }
}
