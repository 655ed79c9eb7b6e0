//! The short way to a voxel: a save that is opened once and asked for values, whatever stores them.

mod cache;
mod chunks;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::files::Files;
use super::forest::Regions;
use super::stream::Rows;
use super::{Buffer, Error, Index, Store, World};
use crate::damage::{Damage, Level};
use crate::godot::channel::{CHANNELS, ChannelId};
use crate::godot::slots::{self, SlotFormula};
use crate::pak::place::{Grid as PakGrid, LAYER_RECORDS};
use crate::printable;
use crate::save::{self, PakScratch, Save, Stream};
use crate::source::FileSource;
use crate::voxel_map::grid::{BLOCK, Grid};
use crate::voxel_map::map_json::{FILE_NAME, Format};

use cache::{Block, Cache, Key};
use chunks::Chunks;

/// A save, open for reading single voxels: a forest, a region file, a stream, pak regions or a voxel map.
///
/// Blocks are read when a voxel of them is asked for, and the last ones are kept. Several threads can share one.
///
/// Of a voxel map the first layer is read: `global`, where there is one.
#[derive(Debug)]
pub struct OpenWorld {
    save: Save,
    kind: Kind,
    /// Voxels along a block of a forest or a stream.
    side: OnceLock<Option<u16>>,
    indexes: Mutex<HashMap<u8, Arc<Index>>>,
    cache: Mutex<Cache>,
}

/// What stores the voxels.
#[derive(Debug)]
enum Kind {
    Forest(Arc<Files>),
    Stream(Arc<Stream<FileSource>>),
    Pak(Chunks),
    Map(Box<Grid<FileSource>>),
}

impl OpenWorld {
    /// Opens the world at a path: the directory of a forest, a region file, a stream, a pak region or a directory of
    /// them, or the directory of a voxel map.
    ///
    /// # Errors
    /// When nothing is there that has voxels, more than one save is there, or it cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_with(path, &save::Options::default())
    }

    /// The same for saves that need more than their path to be read.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, options: &save::Options) -> Result<Self, Error> {
        let save = Save::open(path.as_ref(), options)?;
        let kind = Kind::find(&save)?;
        Ok(Self { save, kind, side: OnceLock::new(), indexes: Mutex::default(), cache: Mutex::default() })
    }

    /// The save that it reads.
    #[must_use]
    pub const fn save(&self) -> &Save {
        &self.save
    }

    /// The raw value of a voxel in a channel; `None` where no block is stored.
    ///
    /// The position is in voxels of the LOD: at LOD n each is 2^n voxels of the world long. Pak regions and voxel maps
    /// have LOD 0 only, and one channel: [`Type`](ChannelId::Type) is the voxel of a pak chunk, or the flags of a map's
    /// cell. In a map, positions are cells of the layer.
    ///
    /// # Errors
    /// When the voxel's block, or what says where it is, cannot be read or is damaged.
    pub fn voxel<T: Into<i64>>(&self, lod: u8, position: [T; 3], channel: ChannelId) -> Result<Option<u64>, Error> {
        let position = position.map(Into::into);
        if let Kind::Pak(_) | Kind::Map(_) = self.kind
            && (lod > 0 || channel != ChannelId::Type)
        {
            return Ok(None);
        }
        if let Kind::Map(grid) = &self.kind
            && grid.format != Some(Format::BlockSparse)
        {
            return self.cell(grid, position);
        }
        let Some(side) = self.block_size()? else { return Ok(None) };
        let mut block_at = [0; 3];
        let mut inside = [0; 3];
        for (((block, inside), voxel), side) in block_at.iter_mut().zip(&mut inside).zip(position).zip(side) {
            let side = i64::from(side);
            // Beyond 32 bits there are no blocks.
            let Some(at) = voxel.checked_div_euclid(side).and_then(|n| i32::try_from(n).ok()) else {
                return Ok(None);
            };
            *block = at;
            *inside = voxel.checked_rem_euclid(side).and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
        }
        if let Kind::Map(grid) = &self.kind
            && grid.dim.is_none_or(|dim| position.iter().zip(dim).any(|(at, size)| *at >= i64::from(size)))
        {
            return Ok(None);
        }
        let key = (lod, block_at);
        let held = self.cache.lock().unwrap_or_else(PoisonError::into_inner).get(key);
        let block = match held {
            Some(block) => block,
            None => {
                let block = Arc::new(self.read(key)?);
                self.cache.lock().unwrap_or_else(PoisonError::into_inner).put(key, &block);
                block
            }
        };
        match (&*block, block.value(inside, channel)) {
            (_, Some(value)) => Ok(Some(value)),
            (Block::Missing, None) => Ok(None),
            (_, None) => Err(self.damaged(key, "the stored block does not have this voxel")),
        }
    }

    /// Voxels along each axis of a block; `None` where there is no block.
    fn block_size(&self) -> Result<Option<[u32; 3]>, Error> {
        match &self.kind {
            Kind::Forest(_) | Kind::Stream(_) => {
                let side = self.side.get_or_init(|| self.world().and_then(|world| world.block_size()));
                let name = || printable::path(&self.save.path);
                let why = || Error::Read(name(), "the size of its blocks is unknown".to_owned());
                side.map(|side| Some([u32::from(side); 3])).ok_or_else(why)
            }
            Kind::Pak(chunks) => {
                let shape = chunks.shape(&self.save);
                match (shape, chunks.faults.first()) {
                    (Some(shape), _) if shape.size.iter().all(|n| *n > 0) => Ok(Some(shape.size)),
                    (None, None) if chunks.places.is_empty() => Ok(None),
                    (None, Some((_, error))) if chunks.places.is_empty() => Err(error.clone()),
                    _ => Err(Error::Read(
                        printable::path(&self.save.path),
                        "no chunk in it says what shape chunks have".to_owned(),
                    )),
                }
            }
            Kind::Map(_) => Ok(Some([BLOCK; 3])),
        }
    }

    /// What reads blocks of forests and streams.
    fn world(&self) -> Option<World<'_>> {
        let (path, store) = match &self.kind {
            Kind::Forest(files) => {
                let forest = self.save.forests.first()?;
                (&forest.dir, Store::Forest(Regions::with_files(forest, Arc::clone(files))))
            }
            Kind::Stream(stream) => {
                let file = self.save.streams.first()?;
                (&file.path, Store::Stream(Box::new(Rows::new(&self.save, file, Arc::clone(stream)))))
            }
            Kind::Pak(_) | Kind::Map(_) => return None,
        };
        Some(World { save: &self.save, name: self.save.shown(path), store, slots: OnceLock::new() })
    }

    fn read(&self, key: Key) -> Result<Block, Error> {
        match &self.kind {
            Kind::Forest(_) | Kind::Stream(_) => match self.world() {
                Some(world) => self.read_block(&world, key),
                None => Ok(Block::Missing),
            },
            Kind::Pak(chunks) => self.read_chunk(chunks, key),
            Kind::Map(grid) => self.read_cells(grid, key),
        }
    }

    /// A block of a forest or a stream.
    fn read_block(&self, world: &World<'_>, key: Key) -> Result<Block, Error> {
        let (lod, position) = key;
        let index = self.index(world, lod);
        let Some(at) = index.find(position) else {
            return match Self::hidden_by(world, &index, position) {
                Some(error) => Err(error),
                None => Ok(Block::Missing),
            };
        };
        let mut buffer = Buffer::default();
        let view = world.read(at, &mut buffer)?;
        let grave = view.damage.iter().find(|d| d.code.hides_data());
        match (&view.block, grave) {
            (_, Some(damage)) => Err(self.damaged(key, &damage.to_string())),
            (None, None) => Err(self.damaged(key, "nothing of it can be decoded")),
            (Some(block), None) => {
                let channels = block.channels.iter().take(CHANNELS);
                let channels = channels.map(|channel| (channel.depth, channel.storage, channel.data.to_vec()));
                Ok(Block::Godot { size: block.size, channels: channels.collect() })
            }
        }
    }

    fn index(&self, world: &World<'_>, lod: u8) -> Arc<Index> {
        let mut indexes = self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(indexes.entry(lod).or_insert_with(|| Arc::new(world.index(lod))))
    }

    /// What may hide a block that the index does not have: a file that cannot be read.
    fn hidden_by(world: &World<'_>, index: &Index, position: [i32; 3]) -> Option<Error> {
        let fault = |file: &str| {
            let fault = index.faults.iter().find(|fault| fault.file == file)?;
            Some(Error::Read(fault.file.clone(), fault.why.clone()))
        };
        match &world.store {
            Store::Forest(regions) => {
                let size = regions.format(world.save.options.format.is_some())?.region_size;
                let (region, _) = slots::place_block(position, size, SlotFormula::default())?;
                let mut files = regions.forest.regions.iter().filter(|file| file.lod == index.lod);
                let file = files.find(|file| file.position == region)?;
                fault(&world.save.shown(&regions.forest.dir.join(&file.name)))
            }
            Store::Stream(rows) => {
                rows.stream.damage.iter().find(|damage| damage.code.hides_data())?;
                fault(&world.name)
            }
        }
    }

    fn read_chunk(&self, chunks: &Chunks, key: Key) -> Result<Block, Error> {
        let (_, position) = key;
        let Some((number, record_number, record)) = chunks.places.get(&position) else {
            let hidden = chunks.faults.iter().find(|(region, _)| {
                let grid = PakGrid::from_record_count(LAYER_RECORDS);
                grid.is_some_and(|grid| grid.value.find(position).0 == *region)
            });
            return hidden.map_or(Ok(Block::Missing), |(_, error)| Err(error.clone()));
        };
        let Some(dir) = self.save.pak_dirs.first() else { return Ok(Block::Missing) };
        let Some(file) = dir.files.get(*number) else { return Ok(Block::Missing) };
        let name = self.save.shown(&dir.dir.join(&file.name));
        let failed = |why: String| Error::Read(name.clone(), why);
        let pak = self.save.pak(dir, file, &mut Vec::new()).map_err(|error| failed(error.to_string()))?;
        let Some(pak) = pak else { return Err(failed("the file ends inside its header".to_owned())) };
        let mut scratch = PakScratch::default();
        let view = pak.view(*record_number, *record, &mut scratch).map_err(|error| failed(error.to_string()))?;
        if let Some(damage) = view.damage.iter().find(|d| d.code.level() >= Level::Error) {
            return Err(self.damaged(key, &damage.to_string()));
        }
        match (view.payload, view.shape) {
            (Some(payload), Some(shape)) if Some(shape.value.size) == chunks.shape(&self.save).map(|all| all.size) => {
                let order = chunks.order(*number, &pak, &shape.value);
                Ok(Block::Chunk { shape: shape.value, order, data: payload.plain.to_vec() })
            }
            (Some(_), Some(_)) => Err(self.damaged(key, "the chunk has another shape than the others")),
            _ => Err(self.damaged(key, "nothing of it can be decoded")),
        }
    }

    /// A cell of a layer without blocks.
    fn cell(&self, grid: &Grid<FileSource>, position: [i64; 3]) -> Result<Option<u64>, Error> {
        let [x, y, z] = position.map(u32::try_from);
        let (Ok(x), Ok(y), Ok(z)) = (x, y, z) else { return Ok(None) };
        let voxel = grid.voxel([x, y, z]).map_err(|error| self.map_error(error.to_string()))?;
        let Some(voxel) = voxel else {
            return if grid.dim.is_none() { Err(self.unlocated(grid)) } else { Ok(None) };
        };
        match voxel.bits {
            Some(_) => Ok(Some(voxel.flags)),
            None => Err(self.unlocated(grid)),
        }
    }

    fn read_cells(&self, grid: &Grid<FileSource>, (_, position): Key) -> Result<Block, Error> {
        let Some(row) = grid.index.find(position) else {
            let known = grid.dim.is_some() && grid.data.is_some() && !has_errors(grid);
            return if known { Ok(Block::Missing) } else { Err(self.unlocated(grid)) };
        };
        let (mut bytes, mut cells) = (Vec::new(), Vec::new());
        grid.read_block(row, &mut bytes, &mut cells).map_err(|error| self.map_error(error.to_string()))?;
        if cells.is_empty() {
            return Err(self.unlocated(grid));
        }
        for bits in &mut cells {
            *bits = grid.flags(*bits);
        }
        Ok(Block::Cells(cells))
    }

    fn map_error(&self, why: String) -> Error {
        let dir = self.save.maps.first().map_or(&self.save.path, |map| &map.dir);
        Error::Read(printable::path(&dir.join(FILE_NAME)), why)
    }

    /// Why a layer cannot say what is at a cell.
    fn unlocated(&self, grid: &Grid<FileSource>) -> Error {
        let fault = grid.faults.iter().find(|fault| fault.damage.code.level() >= Level::Error);
        self.map_error(
            fault.map_or_else(
                || "the layer's array does not have this cell".to_owned(),
                |fault| fault.damage.to_string(),
            ),
        )
    }

    fn damaged(&self, (lod, position): Key, why: &str) -> Error {
        let file = printable::path(&self.save.path);
        Error::Block { file, lod, position, why: why.to_owned() }
    }
}

fn has_errors(grid: &Grid<FileSource>) -> bool {
    grid.faults.iter().any(|fault| fault.damage.code.level() >= Level::Error)
}

impl Kind {
    /// The only thing in a save that has voxels.
    fn find(save: &Save) -> Result<Self, Error> {
        let name = printable::path(&save.path);
        let forests = save.forests.iter().map(|forest| &forest.dir);
        let streams = save.streams.iter().map(|file| &file.path);
        let paks = save.pak_dirs.iter().map(|pak_dir| &pak_dir.dir);
        let maps = save.maps.iter().map(|map| &map.dir);
        let mut all = forests.chain(streams).chain(paks).chain(maps);
        match (all.next(), all.next()) {
            (Some(first), Some(_)) => return Err(Error::Several(name, printable::path(first))),
            (None, _) => return Err(Error::Nothing(name)),
            (Some(_), None) => {}
        }
        if let Some(file) = save.streams.first() {
            return Ok(Self::Stream(Rows::open(save, file)?.stream));
        }
        if let Some(dir) = save.pak_dirs.first() {
            return Ok(Self::Pak(Chunks::read(save, dir)));
        }
        if let Some(map) = save.maps.first() {
            let description = map.dir.join(FILE_NAME);
            let grave = |damage: &&Damage| damage.code.level() >= Level::Error;
            let why = || {
                let damage = map.damage.iter().find(grave);
                damage.map_or_else(|| "it describes no layer".to_owned(), ToString::to_string)
            };
            let layer = map.layers().next().ok_or_else(|| Error::Read(printable::path(&description), why()))?;
            return Ok(Self::Map(Box::new(map.grid(layer, &save.options.limits))));
        }
        Ok(Self::Forest(Arc::default()))
    }
}
