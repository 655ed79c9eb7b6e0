//! A save, whatever it is made of: what it holds, its region files, their sector maps, tables and blocks.
//!
//! [`Save::open`] recognises what it is given and reads directories, meta files and headers only; tables and blocks are
//! read when asked for. What is odd already then is kept in [`Save::faults`] and [`RegionFile::damage`].

mod pak;
mod region;
mod scan;
mod sectors;
mod stream;
mod view;

use std::io;
use std::path::{Path, PathBuf};

use crate::damage::Damage;
use crate::godot::forest::Meta;
use crate::godot::region::{Format, Header};
use crate::godot::slots::Slots;
use crate::limits::Limits;
use crate::source::{FileSource, OpenError};
use crate::voxel_map::Map;
use crate::voxel_map::map_json::FILE_NAME;

pub use pak::{Pak, PakOptions, PakScratch, PakView};
pub use region::{Listed, Region};
pub(crate) use region::{SLOT_PROBES, slots_of_version};
pub(crate) use scan::LOST;
pub use sectors::{Owner, Run, SectorMap};
pub(crate) use stream::OwnedKey;
pub use stream::{Beside, Blob, InstancesView, PageKind, Stream, StreamRow, StreamScratch, Table};
pub(crate) use view::wanted;
pub use view::{Scratch, Stored, View};

/// How to open a save.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The layout of region files of versions 1 and 2, when no meta file says it. It is believed before the meta file.
    pub format: Option<Format>,
    /// The formula of slots for negative coordinates; by the version of the blocks when it is not given.
    pub slots: Option<Slots>,
    /// What is known of pak regions.
    pub pak: PakOptions,
    /// Whether rows of streams count that may be deleted ones; see [`StreamRow::stale`].
    pub stale_rows: bool,
    /// Caps.
    pub limits: Limits,
}

/// Why a path cannot be opened as a save.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is nothing of that name, or it cannot be read.
    #[error("{}: {source}", crate::printable::path(path))]
    Io {
        /// What was opened.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// It is no file and no directory.
    #[error("{}: {source}", crate::printable::path(path))]
    Open {
        /// What was opened.
        path: PathBuf,
        /// Why not.
        source: OpenError,
    },
    /// A file that is none of the formats.
    #[error(
        "{}: this is not a region file (.vxr or .region), a meta file (meta.vxrm), a stream (an SQLite database) or a map's description (map_data.json)",
        crate::printable::path(.0)
    )]
    NotASave(PathBuf),
    /// A directory with no save in it or below it.
    #[error(
        "{}: no save here: neither meta.vxrm, nor a directory `regions`, nor map_data.json, nor a region file (.vxr or .region), nor a stream (.sqlite or .db)",
        crate::printable::path(.0)
    )]
    NothingHere(PathBuf),
}

/// A save, open for reading.
#[derive(Debug)]
pub struct Save {
    /// What was opened.
    pub path: PathBuf,
    /// The forests and loose region files in it, in order of their names.
    pub forests: Vec<Forest>,
    /// The directories of pak regions in it, in order of their names.
    pub rooms: Vec<Room>,
    /// The SQLite streams in it, in order of their names.
    pub streams: Vec<StreamFile>,
    /// The voxel maps in it, in order of their names.
    pub maps: Vec<Map>,
    /// What is odd about files and directories that are no region files, in order.
    pub faults: Vec<Fault>,
    /// How it was opened.
    pub options: Options,
}

/// Something that is wrong with a file or a directory as such.
#[derive(Debug)]
pub struct Fault {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub damage: Damage,
    /// What the operating system said, or a name out of the file, made printable.
    pub detail: Option<String>,
}

/// What holds region files together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A directory with a meta file and `regions/lodN`.
    Forest,
    /// Region files on their own.
    Loose,
}

/// A forest, or region files that stand without one.
#[derive(Debug)]
pub struct Forest {
    /// Forest or loose files.
    pub kind: Kind,
    /// The directory.
    pub dir: PathBuf,
    /// The meta file, when it is there and can be read.
    pub meta: Option<Meta>,
    /// The layout that was given or that the meta file says.
    pub format: Option<Format>,
    /// The region files, by LOD and then by position.
    pub regions: Vec<RegionFile>,
}

/// A region file of a save, its header read.
#[derive(Debug)]
pub struct RegionFile {
    /// Its path below the forest's directory.
    pub name: Box<Path>,
    /// Its LOD, from its directory; 0 for loose files.
    pub lod: u8,
    /// Its region coordinates, from its name.
    pub position: [i32; 3],
    /// Its length in bytes.
    pub len: u64,
    /// Its header, when blocks can be located by it.
    pub header: Option<Header>,
    /// What is wrong with the header, or with the file.
    pub damage: Vec<Damage>,
    /// What the operating system said when the file could not be read.
    pub detail: Option<String>,
}

/// A directory of pak regions, or one of them.
#[derive(Debug)]
pub struct Room {
    /// The directory.
    pub dir: PathBuf,
    /// The files, by their regions.
    pub files: Vec<PakFile>,
}

/// A pak region file of a save.
#[derive(Debug)]
pub struct PakFile {
    /// Its name.
    pub name: Box<Path>,
    /// Its region, from its name; (0, 0, 0) where that does not say.
    pub region: [i32; 3],
    /// Its length in bytes.
    pub len: u64,
}

/// An SQLite stream of a save.
#[derive(Debug)]
pub struct StreamFile {
    /// Its path.
    pub path: PathBuf,
    /// Its length in bytes.
    pub len: u64,
}

/// A file of a save that has blocks.
#[derive(Clone, Copy, Debug)]
pub enum File<'s> {
    /// A Godot Voxel region.
    Region(&'s Forest, &'s RegionFile),
    /// A pak region.
    Pak(&'s Room, &'s PakFile),
    /// An SQLite stream.
    Stream(&'s StreamFile),
    /// A voxel map with its arrays.
    Map(&'s Map),
}

impl File<'_> {
    /// Its path.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        match self {
            Self::Region(forest, file) => forest.dir.join(&file.name),
            Self::Pak(room, file) => room.dir.join(&file.name),
            Self::Stream(file) => file.path.clone(),
            Self::Map(map) => map.dir.join(FILE_NAME),
        }
    }

    /// Its length in bytes; of a map, that of all its files.
    #[must_use]
    pub fn len(&self) -> u64 {
        match self {
            Self::Region(_, file) => file.len,
            Self::Pak(_, file) => file.len,
            Self::Stream(file) => file.len,
            Self::Map(map) => map.bytes(),
        }
    }

    /// Whether there is no byte in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its LOD; 0 where the format has none, and where a file has several.
    #[must_use]
    pub const fn lod(&self) -> u8 {
        match self {
            Self::Region(_, file) => file.lod,
            Self::Pak(..) | Self::Stream(_) | Self::Map(_) => 0,
        }
    }
}

impl Save {
    /// Opens a forest directory, one region file, a stream, or a directory that holds several of these.
    ///
    /// # Errors
    /// When there is nothing at `path`, or nothing that is a save. Damage inside a save is no error.
    pub fn open(path: &Path, options: &Options) -> Result<Self, Error> {
        scan::open(path, options)
    }

    /// All region files with the forest that each is in.
    pub fn regions(&self) -> impl Iterator<Item = (&Forest, &RegionFile)> {
        self.forests.iter().flat_map(|forest| forest.regions.iter().map(move |file| (forest, file)))
    }

    /// All files that have blocks.
    pub fn files(&self) -> impl Iterator<Item = File<'_>> {
        let regions = self.regions().map(|(forest, file)| File::Region(forest, file));
        let paks = self.rooms.iter().flat_map(|room| room.files.iter().map(move |file| File::Pak(room, file)));
        regions.chain(paks).chain(self.streams.iter().map(File::Stream)).chain(self.maps.iter().map(File::Map))
    }

    /// The path of a file of this save as it is shown: below what was opened, or its name where that is the file itself.
    #[must_use]
    pub fn shown(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.path).ok().filter(|p| !p.as_os_str().is_empty());
        let below = below.or_else(|| path.file_name().map(Path::new));
        crate::printable::path(below.unwrap_or(path))
    }

    /// Opens a region file and reads its table.
    ///
    /// # Errors
    /// When the file cannot be opened or read. `Ok(None)` when its header locates no block.
    pub fn region(&self, forest: &Forest, file: &RegionFile) -> Result<Option<Region<FileSource>>, OpenError> {
        let Some(header) = &file.header else { return Ok(None) };
        let source = FileSource::open(&forest.dir.join(&file.name))?;
        let region = Region::load(source, header.clone(), file.lod, file.position, &self.options)?;
        Ok(Some(region))
    }

    /// Opens a pak region and reads its records, pushing what is wrong when they cannot be.
    ///
    /// # Errors
    /// When the file cannot be opened or read. `Ok(None)` when it ends inside its header.
    pub fn pak(
        &self,
        room: &Room,
        file: &PakFile,
        damage: &mut Vec<Damage>,
    ) -> Result<Option<Pak<FileSource>>, OpenError> {
        let source = FileSource::open(&room.dir.join(&file.name))?;
        Ok(Pak::load(source, file.region, &self.options.pak, &self.options.limits, damage)?)
    }

    /// Opens a stream with the journal that may lie beside it and reads its keys, pushing what is wrong when they cannot
    /// be. All files are opened for reading only, and nothing is put back into the database.
    ///
    /// # Errors
    /// When the file cannot be opened or read. `Ok(None)` when there is nothing in it that can be read.
    pub fn stream(&self, file: &StreamFile, damage: &mut Vec<Damage>) -> Result<Option<Stream<FileSource>>, OpenError> {
        let source = FileSource::open(&file.path)?;
        // What stands in the way of one of them is a fault of the save.
        let beside = |ending| open_beside(&scan::with_ending(&file.path, ending)).ok().flatten();
        let beside = Beside { journal: beside("-journal"), wal: beside("-wal") };
        Ok(Stream::load(source, beside, &self.options.limits, damage)?)
    }
}

/// Opens a file that need not be there.
fn open_beside(path: &Path) -> Result<Option<FileSource>, OpenError> {
    match FileSource::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(OpenError::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
