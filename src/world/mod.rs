//! A save as blocks at positions, independent of its format. Export, diff and convert work on this view.
//!
//! A [`World`] returns an [`Index`] per LOD, with 20 bytes per block in the order ZXY of the blocks' positions, and
//! reads the block of an entry into a reusable [`Buffer`]. It never holds several blocks in memory.
//!
//! Takes a save; gives indexes and blocks. It knows neither findings nor repair, and never writes.

mod files;
mod forest;
mod index;
mod paths;
mod readable;
mod stream;
mod unread;
mod voxels;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::bytes::{Span, index};
use crate::damage::{Code, Damage};
use crate::godot::block::BlockLayout;
use crate::godot::byte_order::ByteOrder;
use crate::godot::channel::{CHANNELS, Depth};
use crate::godot::region::{Entry, Format};
use crate::godot::slots::SlotFormula;
use crate::godot::stream::loc::{Format as Keys, KeyRule};
use crate::limits::Limits;
use crate::printable;
use crate::save::{
    self, Forest, InstancesView, RegionFile, Save, Scratch, Stored, Stream, StreamFile, StreamScratch, View,
};
use crate::source::FileSource;

use forest::{Ahead, Regions};
pub(crate) use index::add_new;
pub use index::{At, Fault, Index, order};
pub(crate) use paths::REGIONS_OF_RESULT;
use paths::{Paths, choices, is_beside_another, outside_of_lods, own_path};
pub(crate) use readable::unreadable;
use stream::Rows;
pub use voxels::OpenWorld;

/// Why a world cannot be read.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The path cannot be opened as a save.
    #[error(transparent)]
    Open(#[from] Arc<save::Error>),
    /// The save contains no blocks of Godot Voxel.
    #[error("{0}: only saves of Godot Voxel can be used here: a forest, region files (.vxr), block files or a stream")]
    Nothing(String),
    /// The save contains several worlds.
    #[error("{0}: there are several saves here: name one of them ({1})")]
    Several(String, String),
    /// A file cannot be read.
    #[error("{0}: {1}")]
    Read(String, String),
    /// A block is damaged.
    #[error("{file}: block {} of LOD {lod} cannot be read: {why}", printable::triple(*position))]
    Block {
        /// The save.
        file: String,
        /// The LOD of the block.
        lod: u8,
        /// Its position in blocks of the LOD.
        position: [i32; 3],
        /// What is wrong with it.
        why: String,
    },
}

impl From<save::Error> for Error {
    fn from(error: save::Error) -> Self {
        Self::Open(Arc::new(error))
    }
}

/// Why a forest without a known layout is left out beside other worlds.
const UNKNOWN_LAYOUT: &str = "the layout of its blocks is not known, because neither a meta file nor a readable file of blocks stores it: restore the meta file, or name this save alone with the layout as options";

/// Whether a forest has nothing but rigs of VoxEdit.
fn has_rigs_only(forest: &Forest) -> bool {
    !forest.regions.is_empty() && forest.regions.iter().all(RegionFile::is_rig)
}

/// Blocks at positions.
#[derive(Debug)]
pub struct World<'s> {
    /// The save that it is in.
    pub save: &'s Save,
    /// Its name: a path relative to the save, made printable.
    pub name: String,
    store: Store<'s>,
    slots: OnceLock<SlotFormula>,
}

/// What stores the blocks.
#[derive(Debug)]
enum Store<'s> {
    Forest(Regions<'s>),
    Stream(Box<Rows<'s>>),
}

/// Reusable buffers for reading blocks.
#[derive(Default)]
pub struct Buffer {
    /// In a region: the size prefix and the container.
    bytes: Vec<u8>,
    at: u64,
    ahead: Ahead,
    scratch: Scratch,
    row: StreamScratch,
}

impl<'s> World<'s> {
    /// The world of one forest of a save.
    #[must_use]
    pub fn of_forest(save: &'s Save, forest: &'s Forest) -> Self {
        let store = Store::Forest(Regions::new(forest));
        Self { save, name: save.shown(&forest.dir), store, slots: OnceLock::new() }
    }

    /// The world of a stream of a save that is open already.
    pub(crate) fn of_stream(save: &'s Save, file: &'s StreamFile, stream: Arc<Stream<FileSource>>) -> Self {
        let store = Store::Stream(Box::new(Rows::new(save, file, stream)));
        Self { save, name: save.shown(&file.path), store, slots: OnceLock::new() }
    }

    /// Every world of a save.
    ///
    /// # Errors
    /// When a stream cannot be opened or has nothing that can be read.
    pub fn all(save: &'s Save) -> Result<Vec<Self>, Error> {
        Self::each(save).collect()
    }

    /// The worlds of a save that can be read, and why each of the others cannot.
    #[must_use]
    pub fn all_readable(save: &'s Save) -> (Vec<Self>, Vec<Error>) {
        let (mut worlds, mut errors) = (Vec::new(), Vec::new());
        for world in Self::each(save) {
            match world {
                Ok(world) if world.forest().is_some_and(has_rigs_only) => errors.extend(world.rigs()),
                Ok(world) if world.forest().is_some() && world.block_size().is_none() => {
                    errors.push(Error::Read(world.name, UNKNOWN_LAYOUT.to_owned()));
                }
                Ok(world) => worlds.push(world),
                Err(error) => errors.push(error),
            }
        }
        (worlds, errors)
    }

    /// Why the files of a forest that has nothing but rigs of VoxEdit are not read.
    fn rigs(&self) -> Vec<Error> {
        let why = |forest: &Forest, file: &RegionFile| {
            let damage = file.damage.iter().find(|damage| damage.code == Code::RegionVoxedit)?;
            Some(Error::Read(self.save.shown(&forest.dir.join(&file.name)), damage.to_string()))
        };
        let forest = self.forest().into_iter();
        forest.flat_map(|forest| forest.regions.iter().filter_map(move |file| why(forest, file))).collect()
    }

    fn each(save: &'s Save) -> impl Iterator<Item = Result<Self, Error>> {
        let is_only = save.forests.len() + save.streams.len() < 2;
        let paths = Paths::new(save);
        let forests = save.forests.iter().map(move |forest| {
            let mut world = Self::of_forest(save, forest);
            // The name is the same in every copy of the directory, and no other world here has it.
            match own_path(&paths, save, forest) {
                _ if is_only => {}
                path if path != forest.dir => world.name = save.shown(&path),
                path if path == save.path => ".".clone_into(&mut world.name),
                _ => {}
            }
            Ok(world)
        });
        let streams = save.streams.iter().map(move |file| {
            let store = Store::Stream(Box::new(Rows::open(save, file)?));
            Ok(Self { save, name: save.shown(&file.path), store, slots: OnceLock::new() })
        });
        forests.chain(streams)
    }

    /// Whether a save has more than one world.
    #[must_use]
    pub const fn are_several(save: &Save) -> bool {
        save.forests.len() + save.streams.len() > 1
    }

    /// The world of a save that has just one.
    ///
    /// # Errors
    /// When there is none, there are several, or it cannot be opened.
    pub fn only(save: &'s Save) -> Result<Self, Error> {
        let name = printable::path(&save.path);
        if Self::are_several(save) {
            return Err(Error::Several(name, choices(save)));
        }
        Self::each(save).next().unwrap_or(Err(Error::Nothing(name)))
    }

    /// The path of what is made of it below a directory that holds results of several worlds: its own path below the save,
    /// `world` for the directory of the save itself, with `-blocks` behind it for block files beside region files.
    #[must_use]
    pub fn path_of_result(&self) -> PathBuf {
        let path = self.path().strip_prefix(&self.save.path).unwrap_or(self.path());
        let path = outside_of_lods(path);
        let mut name = if path.as_os_str().is_empty() { OsString::from("world") } else { path.into_os_string() };
        if self.forest().is_some_and(|forest| is_beside_another(self.save, forest)) {
            name.push("-blocks");
        }
        name.into()
    }

    /// Its directory or file.
    #[must_use]
    pub fn path(&self) -> &Path {
        match &self.store {
            Store::Forest(regions) => &regions.forest.dir,
            Store::Stream(rows) => &rows.file.path,
        }
    }

    /// The files that its blocks are in, with their lengths in bytes.
    pub(crate) fn files(&self) -> impl Iterator<Item = (PathBuf, u64)> + '_ {
        let regions = self
            .forest()
            .into_iter()
            .flat_map(|forest| forest.regions.iter().map(move |file| (forest.dir.join(&file.name), file.len)));
        let stream = match &self.store {
            Store::Stream(rows) => Some((rows.file.path.clone(), rows.file.len)),
            Store::Forest(_) => None,
        };
        regions.chain(stream)
    }

    /// Sets the slot formula for blocks of version 4 with negative coordinates, unless an option gave one.
    /// Only the first call has an effect.
    pub fn tell_slots(&self, slots: SlotFormula) {
        self.slots.get_or_init(|| slots);
    }

    /// The forest, if it is one.
    #[must_use]
    pub const fn forest(&self) -> Option<&'s Forest> {
        match &self.store {
            Store::Forest(regions) => Some(regions.forest),
            Store::Stream(_) => None,
        }
    }

    /// Whether instances can be stored with its blocks.
    #[must_use]
    pub const fn has_instances(&self) -> bool {
        matches!(self.store, Store::Stream(_))
    }

    /// The LODs that it has, in order.
    #[must_use]
    pub fn lods(&self) -> Vec<u8> {
        match &self.store {
            Store::Forest(regions) => regions.lods(),
            // What cannot be read of a stream without rows is a fault of an index, too.
            Store::Stream(rows) => match rows.stream.lods() {
                lods if lods.is_empty() && !rows.unread("").is_empty() => vec![0],
                lods => lods,
            },
        }
    }

    /// The key format of a stream; `None` for a forest.
    #[must_use]
    pub fn keys(&self) -> Option<Keys> {
        match &self.store {
            Store::Forest(_) => None,
            Store::Stream(rows) => rows.stream.format,
        }
    }

    /// The rule by which keys above LOD 0 of a stream are read; `None` for a forest.
    #[must_use]
    pub fn key_rule(&self) -> Option<KeyRule> {
        match &self.store {
            Store::Forest(_) => None,
            Store::Stream(rows) => Some(rows.stream.rule),
        }
    }

    /// The layout of regions: of the meta file, or of the first region file that has one.
    #[must_use]
    pub fn format(&self) -> Option<Format> {
        match &self.store {
            Store::Forest(regions) => regions.format(self.save.options.format.is_some()),
            Store::Stream(_) => None,
        }
    }

    /// Voxels along each axis of a block; `None` if unknown.
    #[must_use]
    pub fn block_size(&self) -> Option<u16> {
        match &self.store {
            Store::Forest(regions) => regions
                .format(self.save.options.format.is_some())
                .map(|format| format.block_size())
                .filter(|&side| side > 0),
            Store::Stream(rows) => rows.block_size(),
        }
    }

    /// The depths that the world declares for its blocks; for a stream, which declares none, those of its first blocks.
    #[must_use]
    pub fn depths(&self) -> Option<[Depth; CHANNELS]> {
        match &self.store {
            Store::Forest(regions) => regions.format(self.save.options.format.is_some()).map(|format| format.depths),
            Store::Stream(rows) => rows.depths(),
        }
    }

    /// Size and depths that are stored outside of a block; blocks of version 1 cannot be read without them.
    #[must_use]
    pub fn layout(&self, at: &At) -> Option<BlockLayout> {
        match &self.store {
            Store::Forest(regions) => regions.header(at).map(|header| header.format.layout()),
            Store::Stream(_) => None,
        }
    }

    /// The byte order that a block has if it shows none itself.
    pub(crate) fn byte_order(&self, at: &At) -> ByteOrder {
        match &self.store {
            Store::Forest(regions) => {
                regions.header_with_order(self.save, at).map_or(ByteOrder::default(), |header| header.byte_order)
            }
            Store::Stream(rows) => rows.stream.byte_order(),
        }
    }

    /// Caps.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.save.options.limits
    }

    /// The blocks of a LOD. Files that cannot be read are listed in it, with those of [`unread`](Self::unread).
    #[must_use]
    pub fn index(&self, lod: u8) -> Index {
        let mut index = match &self.store {
            Store::Forest(regions) => regions.index(self.save, lod, self.slots.get().copied()),
            Store::Stream(rows) => rows.index(&self.name, lod),
        };
        index.faults.splice(0..0, self.unread());
        index
    }

    /// Reads the bytes of a block as they are stored.
    ///
    /// # Errors
    /// When its file cannot be opened or read.
    pub fn fetch(&self, at: &At, buffer: &mut Buffer) -> Result<(), Error> {
        match &self.store {
            Store::Forest(regions) => regions.fetch(self.save, at, buffer),
            Store::Stream(rows) => {
                rows.fetch(at, &mut buffer.row).map_err(|error| Error::Read(self.name.clone(), error.to_string()))
            }
        }
    }

    /// The container as it is stored, of the block that was fetched last; as far as it is there.
    #[must_use]
    pub fn container<'b>(&self, buffer: &'b Buffer) -> &'b [u8] {
        match &self.store {
            Store::Forest(_) => {
                let Some((size, rest)) = buffer.bytes.split_first_chunk::<4>() else { return &[] };
                rest.get(..index(u64::from(u32::from_le_bytes(*size)))).unwrap_or(rest)
            }
            Store::Stream(rows) => rows.stream.voxel_bytes(&buffer.row).unwrap_or_default(),
        }
    }

    /// Whether the block that was fetched last ends within the sectors that the table gives it; true in a stream.
    #[must_use]
    pub fn fits_sectors(&self, at: &At, buffer: &Buffer) -> bool {
        let prefixed = (self.container(buffer).len() as u64).saturating_add(4);
        self.sector_bytes(at).is_none_or(|bytes| prefixed <= bytes)
    }

    /// Bytes of the sectors that the table gives a block; `None` in a stream.
    #[must_use]
    pub fn sector_bytes(&self, at: &At) -> Option<u64> {
        match &self.store {
            Store::Forest(forest) => forest.span(at).map(|span| span.len()),
            Store::Stream(_) => None,
        }
    }

    /// The bytes of instances that are stored with the block that was fetched last; none in a forest.
    #[must_use]
    pub fn instances<'b>(&self, buffer: &'b Buffer) -> Option<&'b [u8]> {
        match &self.store {
            Store::Forest(_) => None,
            Store::Stream(rows) => rows.stream.instance_bytes(&buffer.row),
        }
    }

    /// Decodes the instances of the block that was fetched last; `None` in a forest.
    pub fn decode_instances<'b>(&self, buffer: &'b mut Buffer) -> Option<InstancesView<'b>> {
        match &self.store {
            Store::Forest(_) => None,
            Store::Stream(rows) => Some(rows.stream.instances(&mut buffer.row)),
        }
    }

    /// Whether these bytes contain at least one layer of instances; true if they cannot be read. Data without a layer is the
    /// same as none.
    pub fn are_instances(&self, buffer: &mut Buffer) -> bool {
        match &self.store {
            Store::Forest(_) => false,
            Store::Stream(rows) => {
                let there = rows.stream.instance_bytes(&buffer.row).is_some();
                let view = rows.stream.instances(&mut buffer.row);
                let hides = view.damage.iter().any(|damage| damage.code.hides_data());
                there && (hides || view.instances.is_none_or(|instances| !instances.layers.is_empty()))
            }
        }
    }

    /// The instances of each kind in the row that was fetched last; `None` if they cannot be read completely. Nothing for a
    /// forest.
    pub fn count_instances(&self, buffer: &mut Buffer) -> Option<BTreeMap<u16, u64>> {
        let mut counts = BTreeMap::new();
        let Store::Stream(rows) = &self.store else { return Some(counts) };
        if rows.stream.instance_bytes(&buffer.row).is_none() {
            return Some(counts);
        }
        let view = rows.stream.instances(&mut buffer.row);
        if view.damage.iter().any(|damage| damage.code.hides_data()) {
            return None;
        }
        for layer in view.instances?.layers.iter().filter(|layer| layer.count > 0) {
            *counts.entry(layer.id).or_default() += u64::from(layer.count);
        }
        Some(counts)
    }

    /// The rows of a LOD that have instance data, at the positions of the blocks that it belongs to.
    #[must_use]
    pub fn rows_with_instances(&self, lod: u8) -> Vec<At> {
        match &self.store {
            Store::Forest(_) => Vec::new(),
            Store::Stream(rows) => rows.with_instances(lod),
        }
    }

    /// Whether the instances in the row of a block belong to another block; see
    /// [`Stream::instances_place`](save::Stream::instances_place).
    #[must_use]
    pub fn instances_are_of_another(&self, at: &At) -> bool {
        let Store::Stream(rows) = &self.store else { return false };
        let place = rows.stream.rows.get(at.row()).and_then(|row| rows.stream.instances_place(&row));
        place.is_some_and(|place| place.position != at.position)
    }

    /// The damage of the instances that were fetched last, as codes; `None` if there is none, and for a forest.
    pub fn damaged_instances(&self, buffer: &mut Buffer) -> Option<String> {
        let Store::Stream(rows) = &self.store else { return None };
        rows.stream.instance_bytes(&buffer.row)?;
        let grave = |d: &&Damage| d.code.hides_data();
        let damage = rows.stream.instances(&mut buffer.row).damage;
        let codes: Vec<&str> = damage.iter().filter(grave).map(|d| d.code.name()).collect();
        (!codes.is_empty()).then(|| codes.join(" "))
    }

    /// Decodes the bytes that were fetched last, which must be of the block at `at`.
    pub fn decode<'b>(&self, at: &At, buffer: &'b mut Buffer) -> View<'b> {
        match &self.store {
            Store::Forest(regions) => {
                let Buffer { bytes, at: start, scratch, .. } = buffer;
                match regions.header_with_order(self.save, at) {
                    Some(header) => {
                        scratch.interpret_bytes(bytes, *start, header, Some(Entry(at.entry)), self.limits())
                    }
                    None => {
                        let stored = Stored { size: None, span: Span::default() };
                        View { stored, bytes: &[], container: None, block: None, damage: &[] }
                    }
                }
            }
            Store::Stream(rows) => rows.stream.block(&mut buffer.row),
        }
    }

    /// Fetches and decodes a block.
    ///
    /// # Errors
    /// When its file cannot be opened or read.
    pub fn read<'b>(&self, at: &At, buffer: &'b mut Buffer) -> Result<View<'b>, Error> {
        self.fetch(at, buffer)?;
        Ok(self.decode(at, buffer))
    }

    /// Reads blocks in stored order, several with one read if they are adjacent, and passes each
    /// one to `take`. Stops at the first error of `take`.
    ///
    /// # Errors
    /// The error of `take`.
    pub fn read_all<E>(
        &self,
        blocks: &mut [At],
        buffer: &mut Buffer,
        mut take: impl FnMut(&At, Result<View<'_>, Error>) -> Result<(), E>,
    ) -> Result<(), E> {
        // Sectors are the high bits of an entry; rows of a stream are in the order of their positions.
        blocks.sort_unstable_by_key(|at| (at.file, at.entry));
        for (n, at) in blocks.iter().enumerate() {
            if let Store::Forest(regions) = &self.store {
                regions.read_ahead(blocks.get(n..).unwrap_or_default(), buffer);
            }
            take(at, self.read(at, buffer))?;
        }
        Ok(())
    }

    /// A file that changed after it was opened.
    #[must_use]
    pub fn changed(&self) -> Option<String> {
        match &self.store {
            Store::Forest(regions) => regions.changed().map(|path| self.save.shown(&path)),
            Store::Stream(rows) => rows.stream.pages.source.changed().unwrap_or(true).then(|| self.name.clone()),
        }
    }
}
