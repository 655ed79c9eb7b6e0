//! A save seen as blocks at positions, whatever stores it: what export, diff and convert work on.
//!
//! A [`World`] gives an [`Index`] a LOD: an entry of 20 bytes a block, in the order ZXY of the blocks' positions, and
//! reads a block at an entry into a [`Buffer`] that is used again. Blocks are never held together.

mod files;
mod forest;
mod index;
mod stream;

use std::path::Path;
use std::sync::OnceLock;

use crate::bytes::{Span, index};
use crate::damage::{Damage, Level};
use crate::godot::block::Layout;
use crate::godot::channel::{CHANNELS, Depth};
use crate::godot::region::{Entry, Format};
use crate::godot::slots::Slots;
use crate::godot::stream::loc::Format as Keys;
use crate::limits::Limits;
use crate::printable;
use crate::save::{Forest, InstancesView, Save, Scratch, Stored, StreamScratch, View};

use forest::{Ahead, Regions};
pub use index::{At, Fault, Index, order};
use stream::Rows;

/// Why a world cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The save holds no blocks of Godot Voxel.
    #[error("{0}: there is no forest, region file or stream here")]
    Nothing(String),
    /// It holds more than one.
    #[error("{0}: there are several saves here: name one of them, such as {1}")]
    Several(String, String),
    /// A file cannot be read.
    #[error("{0}: {1}")]
    Read(String, String),
}

/// Blocks at positions.
#[derive(Debug)]
pub struct World<'s> {
    /// The save that it is in.
    pub save: &'s Save,
    /// How it is called: a path below the save, made printable.
    pub name: String,
    store: Store<'s>,
    slots: OnceLock<Slots>,
}

/// What stores the blocks.
#[derive(Debug)]
enum Store<'s> {
    Forest(Regions<'s>),
    Stream(Box<Rows<'s>>),
}

/// Buffers for reading block after block.
#[derive(Default)]
pub struct Buffer {
    /// The size and the container, of a region.
    bytes: Vec<u8>,
    at: u64,
    ahead: Ahead,
    scratch: Scratch,
    row: StreamScratch,
}

impl<'s> World<'s> {
    /// Every world of a save.
    ///
    /// # Errors
    /// When a stream cannot be opened or has nothing that can be read.
    pub fn all(save: &'s Save) -> Result<Vec<Self>, Error> {
        let forests = save.forests.iter().map(|forest| {
            let store = Store::Forest(Regions::new(forest));
            Ok(Self { save, name: save.shown(&forest.dir), store, slots: OnceLock::new() })
        });
        let streams = save.streams.iter().map(|file| {
            let store = Store::Stream(Box::new(Rows::open(save, file)?));
            Ok(Self { save, name: save.shown(&file.path), store, slots: OnceLock::new() })
        });
        forests.chain(streams).collect()
    }

    /// The world of a save that has just one.
    ///
    /// # Errors
    /// When there is none, there are several, or it cannot be opened.
    pub fn only(save: &'s Save) -> Result<Self, Error> {
        let name = printable::path(&save.path);
        let mut all = Self::all(save)?;
        match (all.pop(), all.pop()) {
            (None, _) => Err(Error::Nothing(name)),
            (Some(world), None) => Ok(world),
            (Some(_), Some(one)) => Err(Error::Several(name, printable::path(one.path()))),
        }
    }

    /// The directory or file that it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        match &self.store {
            Store::Forest(regions) => &regions.forest.dir,
            Store::Stream(rows) => &rows.file.path,
        }
    }

    /// From now on reads blocks of version 4 with negative coordinates as the formula says, where nothing else was given.
    /// The first one that is told holds.
    pub fn tell_slots(&self, slots: Slots) {
        self.slots.get_or_init(|| slots);
    }

    /// The forest that it is, when it is one.
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
            Store::Stream(rows) => rows.stream.lods(),
        }
    }

    /// How a stream writes the positions of its blocks; `None` in a forest.
    #[must_use]
    pub fn keys(&self) -> Option<Keys> {
        match &self.store {
            Store::Forest(_) => None,
            Store::Stream(rows) => rows.stream.format,
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

    /// Voxels along each axis of a block; `None` when nothing says so.
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

    /// The depths that the world declares for its blocks; those of the first blocks of a stream, which declares none.
    #[must_use]
    pub fn depths(&self) -> Option<[Depth; CHANNELS]> {
        match &self.store {
            Store::Forest(regions) => regions.format(self.save.options.format.is_some()).map(|format| format.depths),
            Store::Stream(rows) => rows.depths(),
        }
    }

    /// What is said of a block outside of it, without which blocks of version 1 cannot be read.
    #[must_use]
    pub fn layout(&self, at: &At) -> Option<Layout> {
        match &self.store {
            Store::Forest(regions) => regions.header(at).map(|header| header.format.layout()),
            Store::Stream(_) => None,
        }
    }

    /// Caps.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.save.options.limits
    }

    /// The blocks of a LOD. Files that cannot be read are listed in it.
    #[must_use]
    pub fn index(&self, lod: u8) -> Index {
        match &self.store {
            Store::Forest(regions) => regions.index(self.save, lod, self.slots.get().copied()),
            Store::Stream(rows) => rows.index(&self.name, lod),
        }
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

    /// Whether there are instances in these bytes, and not only a place for them; what cannot be read may have some.
    pub fn are_instances(&self, buffer: &mut Buffer) -> bool {
        match &self.store {
            Store::Forest(_) => false,
            Store::Stream(rows) => {
                let there = rows.stream.instance_bytes(&buffer.row).is_some();
                let view = rows.stream.instances(&mut buffer.row);
                there && view.instances.is_none_or(|instances| !instances.layers.is_empty())
            }
        }
    }

    /// What is wrong with the instances that were fetched last, as codes; `None` when nothing is, and in a forest.
    pub fn damaged_instances(&self, buffer: &mut Buffer) -> Option<String> {
        let Store::Stream(rows) = &self.store else { return None };
        rows.stream.instance_bytes(&buffer.row)?;
        let grave = |d: &&Damage| d.code.level() >= Level::Error;
        let damage = rows.stream.instances(&mut buffer.row).damage;
        let codes: Vec<&str> = damage.iter().filter(grave).map(|d| d.code.name()).collect();
        (!codes.is_empty()).then(|| codes.join(" "))
    }

    /// Decodes what was fetched last, which must be the block at `at`.
    pub fn decode<'b>(&self, at: &At, buffer: &'b mut Buffer) -> View<'b> {
        match &self.store {
            Store::Forest(regions) => {
                let Buffer { bytes, at: start, scratch, .. } = buffer;
                match regions.header(at) {
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

    /// Reads blocks in the order in which they are stored, several with one read where they lie together, and hands each
    /// one out. Ends with the first error that `take` gives.
    ///
    /// # Errors
    /// What `take` says.
    pub fn read_all<E>(
        &self,
        blocks: &mut [At],
        buffer: &mut Buffer,
        mut take: impl FnMut(&At, Result<View<'_>, Error>) -> Result<(), E>,
    ) -> Result<(), E> {
        // Sectors are the high bits of an entry; rows of a stream are in the order of their places.
        blocks.sort_unstable_by_key(|at| (at.file, at.entry));
        for (n, at) in blocks.iter().enumerate() {
            if let Store::Forest(regions) = &self.store {
                regions.read_ahead(blocks.get(n..).unwrap_or_default(), buffer);
            }
            take(at, self.read(at, buffer))?;
        }
        Ok(())
    }

    /// A file that changed since it was opened here.
    #[must_use]
    pub fn changed(&self) -> Option<String> {
        match &self.store {
            Store::Forest(regions) => regions.changed().map(|path| self.save.shown(&path)),
            Store::Stream(rows) => rows.stream.pages.source.changed().unwrap_or(true).then(|| self.name.clone()),
        }
    }
}
