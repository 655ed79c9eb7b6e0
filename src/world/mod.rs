//! A save seen as blocks at positions, whatever stores it: what export, diff and convert work on.
//!
//! A [`World`] gives an [`Index`] a LOD: an entry of 24 bytes a block, in the order ZXY of the blocks' positions, and
//! reads a block at an entry into a [`Buffer`] that is used again. Blocks are never held together.

mod files;
mod index;

use std::path::Path;

use crate::bytes::{Span, index};
use crate::godot::block::Layout;
use crate::godot::channel::{CHANNELS, Depth};
use crate::godot::region::{Entry, Format};
use crate::godot::slots::Slots;
use crate::limits::Limits;
use crate::printable;
use crate::save::{Forest, Save, Scratch, View, wanted};
use crate::source::Source;

use files::Files;
pub use index::{At, Fault, Index, order};

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
    forest: &'s Forest,
    files: Files,
    slots: Option<Slots>,
}

/// Buffers for reading block after block.
#[derive(Default)]
pub struct Buffer {
    bytes: Vec<u8>,
    at: u64,
    scratch: Scratch,
}

impl Buffer {
    /// The container as it is stored, of the block that was fetched last; as far as it is there.
    #[must_use]
    pub fn container(&self) -> &[u8] {
        let Some((size, rest)) = self.bytes.split_first_chunk::<4>() else { return &[] };
        rest.get(..index(u64::from(u32::from_le_bytes(*size)))).unwrap_or(rest)
    }

    /// The bytes of instances that are stored with the block; none in a forest.
    #[must_use]
    pub fn instances(&self) -> Option<&[u8]> {
        None
    }
}

impl<'s> World<'s> {
    /// Every world of a save.
    #[must_use]
    pub fn all(save: &'s Save) -> Vec<Self> {
        let forests = save.forests.iter().map(|forest| Self::of_forest(save, forest));
        forests.collect()
    }

    /// The world of a save that has just one.
    ///
    /// # Errors
    /// When there is none, or there are several.
    pub fn only(save: &'s Save) -> Result<Self, Error> {
        let name = printable::path(&save.path);
        let mut all = Self::all(save);
        match (all.pop(), all.pop()) {
            (None, _) => Err(Error::Nothing(name)),
            (Some(world), None) => Ok(world),
            (Some(_), Some(one)) => Err(Error::Several(name, printable::path(one.path()))),
        }
    }

    fn of_forest(save: &'s Save, forest: &'s Forest) -> Self {
        Self { save, name: save.shown(&forest.dir), forest, files: Files::default(), slots: None }
    }

    /// The directory or file that it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.forest.dir
    }

    /// Reads blocks of version 4 with negative coordinates as the formula says, where nothing else was given.
    #[must_use]
    pub fn with_slots(mut self, slots: Option<Slots>) -> Self {
        self.slots = slots;
        self
    }

    /// The forest that it is, when it is one.
    #[must_use]
    pub const fn forest(&self) -> Option<&'s Forest> {
        Some(self.forest)
    }

    /// Whether instances can be stored with its blocks.
    #[must_use]
    pub const fn has_instances(&self) -> bool {
        false
    }

    /// The LODs that have a file, in order.
    #[must_use]
    pub fn lods(&self) -> Vec<u8> {
        let mut lods: Vec<u8> = self.forest.regions.iter().map(|file| file.lod).collect();
        lods.sort_unstable();
        lods.dedup();
        lods
    }

    /// The layout: of the meta file, or of the first region file that has one.
    #[must_use]
    pub fn format(&self) -> Option<Format> {
        let own = || self.forest.regions.iter().find_map(|file| file.header.as_ref().map(|header| header.format));
        self.forest.format.or_else(own)
    }

    /// Voxels along each axis of a block; `None` when nothing says so.
    #[must_use]
    pub fn block_size(&self) -> Option<u16> {
        self.format().map(|format| format.block_size()).filter(|&side| side > 0)
    }

    /// The depths that the world declares for its blocks.
    #[must_use]
    pub fn depths(&self) -> Option<[Depth; CHANNELS]> {
        self.format().map(|format| format.depths)
    }

    /// What is said of a block outside of it, without which blocks of version 1 cannot be read.
    #[must_use]
    pub fn layout(&self, at: &At) -> Option<Layout> {
        let file = self.forest.regions.get(index(u64::from(at.file)));
        file.and_then(|file| file.header.as_ref()).map(|header| header.format.layout())
    }

    /// Caps.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.save.options.limits
    }

    /// The blocks of a LOD. Files that cannot be read are listed in it.
    #[must_use]
    pub fn index(&self, lod: u8) -> Index {
        index::of_forest(self.save, self.forest, lod, self.slots)
    }

    /// Reads the bytes of a block as they are stored.
    ///
    /// # Errors
    /// When its file cannot be opened or read.
    pub fn fetch(&self, at: &At, buffer: &mut Buffer) -> Result<(), Error> {
        let Some(file) = self.forest.regions.get(index(u64::from(at.file))) else { return Ok(()) };
        let Some(header) = &file.header else { return Ok(()) };
        let path = self.forest.dir.join(&file.name);
        let failed = |error: &dyn std::fmt::Display| Error::Read(self.save.shown(&path), error.to_string());
        let source = self.files.open(at.file, &path).map_err(|error| failed(&error))?;
        let entry = Entry(at.entry);
        let span = header.sector_span(u64::from(entry.first()), u64::from(entry.count()));
        buffer.at = span.start;
        let mut read = |len| source.read_into(span.start, len, &mut buffer.bytes);
        read(index(span.len())).map_err(|error| failed(&error))?;
        // Beyond its sectors, when the size before it asks for more, as the engine does.
        let wanted = wanted(&buffer.bytes, self.limits());
        if wanted > buffer.bytes.len() && buffer.bytes.len() as u64 == span.len() {
            source.read_into(span.start, wanted, &mut buffer.bytes).map_err(|error| failed(&error))?;
        }
        Ok(())
    }

    /// Decodes what was fetched last, which must be the block at `at`.
    pub fn decode<'b>(&self, at: &At, buffer: &'b mut Buffer) -> View<'b> {
        let Buffer { bytes, at: start, scratch } = buffer;
        let header = self.forest.regions.get(index(u64::from(at.file))).and_then(|file| file.header.as_ref());
        match header {
            Some(header) => scratch.interpret_bytes(bytes, *start, header, Some(Entry(at.entry)), self.limits()),
            None => View {
                stored: crate::save::Stored { size: None, span: Span::default() },
                container: None,
                block: None,
                damage: &[],
            },
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

    /// The files that changed since they were opened here.
    #[must_use]
    pub fn changed(&self) -> Option<String> {
        let name =
            |file: u32| self.forest.regions.get(index(u64::from(file))).map(|file| self.forest.dir.join(&file.name));
        self.files.changed().and_then(name).map(|path| self.save.shown(&path))
    }
}
