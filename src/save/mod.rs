//! Saves of all formats: their files, tables, sector maps and blocks.
//!
//! [`Save::open`] recognises the format and reads directories, meta files and headers only; tables and blocks are
//! read on demand. Damage that is found when opening is in [`Save::faults`] and [`RegionFile::damage`].
//!
//! Takes a path; gives the files of a save, their tables, sector maps and blocks on demand. It knows neither findings nor
//! repair, and never writes.

mod above;
pub mod arrays;
pub mod bare;
pub mod block_layout;
mod byte_order;
mod error;
mod pak;
mod pak_moved;
mod region;
pub(crate) mod region_moved;
mod scan;
mod sectors;
mod single_block;
mod start;
mod stream;
pub(crate) mod table_fits;
mod table_moved;
mod transfer;
mod unread_file;
mod view;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::damage::{Code, Damage};
use crate::godot::byte_order_votes::Votes;
use crate::godot::forest::Meta;
use crate::godot::region::{Format, Header, name_of};
use crate::godot::slots::SlotFormula;
use crate::godot::stream::loc::{Format as KeyFormat, KeyRule};
use crate::limits::Limits;
use crate::source::{FileSource, OpenError, Restoration, Source};
use crate::voxel_map::Map;
use crate::voxel_map::map_json::FILE_NAME;

use byte_order::OrderOfFile;
pub use error::Error;
pub use pak::{Pak, PakOptions, PakScratch, PakView};
pub(crate) use pak_moved::open_pak;
pub use region::{Listed, Region, SlotPositions};
pub(crate) use region::{SLOT_PROBES, slots_of_version};
#[cfg(feature = "cli")]
pub(crate) use scan::EXPORT_REPORT;
pub(crate) use scan::TOO_DEEP;
pub(crate) use scan::{
    CONVERT_REPORT, LOST, META, REGIONS, REPORT, is_like_lod, layout_of_blocks, one_bit_off, region_of_path,
};
pub use sectors::{Owner, Run, SectorMap};
pub use start::BlockStart;
pub(crate) use start::first_byte;
#[cfg(feature = "sqlite")]
pub(crate) use stream::Layout as StreamLayout;
pub(crate) use stream::OwnedKey;
pub use stream::{Beside, Blob, InstancesView, PageKind, Rows, Stream, StreamRow, StreamRows, StreamScratch, Table};
pub(crate) use transfer::open_region;
pub(crate) use view::{INFERRED_ORDER, wanted};
pub use view::{Scratch, Stored, View};

/// How to open a save.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// The layout of region files of versions 1 and 2. It overrides the meta file.
    pub format: Option<Format>,
    /// Whether the depths of that layout are assumed, because no option gives them.
    pub assumes_depths: bool,
    /// The slot formula; inferred from the version of the blocks if not given.
    pub slots: Option<SlotFormula>,
    /// The slot formula that seams show, for regions whose blocks do not imply one; the new formula if there is none. Set by
    /// [`by_old_formula`](crate::recover::slots::by_old_formula).
    pub inferred_slots: Option<SlotFormula>,
    /// Options of pak regions.
    pub pak: PakOptions,
    /// Whether rows of streams are included that may have been deleted; see [`StreamRow::stale`].
    pub stale_rows: bool,
    /// How keys of streams store positions above LOD 0; inferred from the keys if not given.
    pub key_rule: Option<KeyRule>,
    /// Caps.
    pub limits: Limits,
}

impl Options {
    /// Whether the slot formula is given or inferred.
    pub(crate) const fn has_slots(&self) -> bool {
        self.slots.is_some() || self.inferred_slots.is_some()
    }

    /// Sets the layout of region files that do not store it.
    #[must_use]
    pub fn format(mut self, format: impl Into<Option<Format>>) -> Self {
        self.format = format.into();
        self
    }

    /// Sets whether the depths of the given layout are assumed.
    #[must_use]
    pub const fn assumes_depths(mut self, assumes: bool) -> Self {
        self.assumes_depths = assumes;
        self
    }

    /// Sets the formula of slots for negative coordinates.
    #[must_use]
    pub fn slots(mut self, slots: impl Into<Option<SlotFormula>>) -> Self {
        self.slots = slots.into();
        self
    }

    /// Sets what is known of pak regions.
    #[must_use]
    pub fn pak(mut self, pak: PakOptions) -> Self {
        self.pak = pak;
        self
    }

    /// Sets whether rows count that may be deleted ones.
    #[must_use]
    pub fn stale_rows(mut self, stale_rows: bool) -> Self {
        self.stale_rows = stale_rows;
        self
    }

    /// Sets how keys of streams store positions above LOD 0.
    #[must_use]
    pub fn key_rule(mut self, rule: impl Into<Option<KeyRule>>) -> Self {
        self.key_rule = rule.into();
        self
    }

    /// Sets the caps.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
}

/// A save, open for reading.
#[derive(Debug)]
pub struct Save {
    /// The path, without links if it is a file.
    pub path: PathBuf,
    /// The path by which it was opened, or its directory if that was a file that describes others.
    pub named: PathBuf,
    /// The forests and loose region files in it, in order of their names.
    pub forests: Vec<Forest>,
    /// The directories of pak regions in it, in order of their names.
    pub pak_dirs: Vec<PakDir>,
    /// The SQLite streams in it, in order of their names.
    pub streams: Vec<StreamFile>,
    /// The voxel maps in it, in order of their names.
    pub maps: Vec<Map>,
    /// Damage of files and directories as such, in the order of their paths.
    pub faults: Vec<Fault>,
    /// Files with blocks that could not be opened, or were not because of their names, in the order of their paths. The check
    /// reports each of them.
    pub unopened: Vec<Fault>,
    /// How it was opened.
    pub options: Options,
}

/// Damage of a file or a directory as such, for example its name.
#[derive(Debug)]
pub struct Fault {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub damage: Damage,
    /// The I/O error, or a name from the file, made printable.
    pub detail: Option<String>,
}

impl Fault {
    /// Whether a part of the save was not read because of it: blocks may be in there.
    #[must_use]
    pub const fn is_unread(&self) -> bool {
        self.damage.code.is_unread() || matches!(self.damage.code, Code::OverLimit)
    }

    /// Whether it is about a name that is no position, or a place where the engine does not look. In [`Save::unread`], the blocks
    /// of the file are not read because of it; a repair sets the file aside.
    #[must_use]
    pub const fn is_misnamed(&self) -> bool {
        matches!(self.damage.code, Code::NameRegion | Code::BlockFileName)
    }

    /// Why, in words without a full stop.
    #[must_use]
    pub fn why(&self) -> String {
        match &self.detail {
            Some(detail) => format!("{}: {}", self.damage, detail.trim_end_matches('.')),
            None => self.damage.to_string(),
        }
    }
}

/// A forest, or region files without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A directory with a meta file and `regions/lodN`.
    Forest,
    /// Region files without a meta file.
    Loose,
    /// A directory of `VoxelStreamBlockFiles`, or files of blocks from one: each is read as a
    /// [region of one block](crate::godot::block_files).
    BlockFiles,
}

impl Kind {
    /// The name of its meta file.
    pub(crate) const fn meta_name(self) -> Option<&'static str> {
        match self {
            Self::Forest => Some(META),
            Self::BlockFiles => Some(scan::BLOCK_META),
            Self::Loose => None,
        }
    }
}

/// Where a forest has its region files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForestLayout {
    /// `regions/lodN/r.X.Y.Z.vxr`, as the engine.
    #[default]
    Engine,
    /// `lodN/r.X.Y.Z.vxr`, or for LOD 0 `r.X.Y.Z.vxr`, beside the meta file, as the Rust port.
    Port,
}

impl ForestLayout {
    /// The directory of a LOD below the forest's.
    #[must_use]
    pub fn lod_dir(self, lod: u8) -> PathBuf {
        match self {
            Self::Engine => PathBuf::from(format!("regions/lod{lod}")),
            Self::Port => PathBuf::from(format!("lod{lod}")),
        }
    }
}

/// A forest, or region files without one.
#[derive(Clone, Debug)]
pub struct Forest {
    /// Forest or loose files.
    pub kind: Kind,
    /// The directory.
    pub dir: PathBuf,
    /// Where its region files are.
    pub layout: ForestLayout,
    /// The meta file, if it exists and can be read.
    pub meta: Option<Meta>,
    /// What is left of a meta file that is not readable JSON.
    pub salvaged: Option<Meta>,
    /// The layout, from an option or the meta file, also from what is left of it.
    pub format: Option<Format>,
    /// The region files, by LOD and then by position.
    pub regions: Vec<RegionFile>,
    /// The formula of slots that the seams of its blocks show, in a save of several forests; see
    /// [`by_old_formula`](crate::recover::slots::by_old_formula).
    pub inferred_slots: Option<SlotFormula>,
    /// What its files show of the byte order of their blocks.
    order: OnceLock<Votes>,
}

impl Forest {
    /// The layout that an option gives, if the meta file has another one and no region file stores its own: then the files are
    /// read by the option.
    pub(crate) fn format_against_meta(&self, options: &Options) -> Option<Format> {
        let (given, meta) = (options.format?, self.meta.as_ref()?);
        let stores_own = |file: &RegionFile| file.header.as_ref().is_some_and(|header| header.version >= 3);
        let has_own = self.kind == Kind::Forest && self.regions.iter().any(stores_own);
        let other = meta.block_size_po2.is_some_and(|po2| po2 != given.block_size_po2)
            || meta.depths.is_some_and(|depths| depths != given.depths);
        // Block files have neither regions nor sectors.
        let is_region = self.kind == Kind::Forest;
        let region_size = meta.region_size_po2.and_then(|po2| 1u16.checked_shl(po2.into()));
        let other = other
            || (is_region && region_size.is_some_and(|size| [size; 3] != given.region_size))
            || (is_region && meta.sector_size.is_some_and(|size| size != given.sector_size));
        (self.kind != Kind::Loose && !has_own && other).then_some(given)
    }
}

/// A region file of a save, its header read.
#[derive(Clone, Debug)]
pub struct RegionFile {
    /// Its path below the forest's directory.
    pub name: Box<Path>,
    /// Its LOD, from its directory or its name; 0 if neither shows it.
    pub lod: u8,
    /// Whether its LOD is assumed, because nothing shows it.
    pub assumes_lod: bool,
    /// Its region coordinates, from its name.
    pub position: [i32; 3],
    /// Its length in bytes.
    pub len: u64,
    /// Its header, if it locates blocks.
    pub header: Option<Header>,
    /// Damage of the header, or of the file.
    pub damage: Vec<Damage>,
    /// The I/O error, if the file could not be read.
    pub detail: Option<String>,
    /// Whether a copy changed its name, so that the game does not find it.
    pub is_renamed: bool,
    /// Its number among the region files of the save, in the order of [`Save::regions`].
    pub(crate) number: u32,
    order: OrderOfFile,
}

impl RegionFile {
    /// Its name as the game looks for it.
    #[must_use]
    pub fn right_name(&self) -> PathBuf {
        if !self.is_renamed {
            return self.name.to_path_buf();
        }
        let dir = self.name.parent().unwrap_or(Path::new(""));
        // The directories of two LODs may be exchanged.
        let is_of_other_lod = dir.file_name().and_then(scan::parse_lod).is_some_and(|lod| lod != self.lod);
        let dir = if is_of_other_lod { dir.with_file_name(format!("lod{}", self.lod)) } else { dir.to_owned() };
        dir.join(name_of(self.position))
    }

    /// Whether it is a rig of VoxEdit in the place of a region file.
    pub(crate) fn is_rig(&self) -> bool {
        self.damage.iter().any(|damage| damage.code == Code::RegionVoxedit)
    }
}

/// A directory of pak regions, or one of them.
#[derive(Debug)]
pub struct PakDir {
    /// The directory.
    pub dir: PathBuf,
    /// The name of the room, if it is a part of the names of its files; otherwise empty.
    pub room: String,
    /// The number of records that most of its files have.
    pub usual_records: Option<u32>,
    /// The files, by their regions.
    pub files: Vec<PakFile>,
}

/// A pak region file of a save.
#[derive(Debug)]
pub struct PakFile {
    /// Its name.
    pub name: Box<Path>,
    /// Its region, from its name; (0, 0, 0) if the name has none.
    pub region: [i32; 3],
    /// Whether its name shows its region.
    pub is_placed: bool,
    /// Its length in bytes.
    pub len: u64,
    /// The number of records that its header has, if it can be read.
    pub records: Option<u32>,
    /// Why it could not be opened.
    pub refused: Option<OpenError>,
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
    Pak(&'s PakDir, &'s PakFile),
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
            Self::Pak(pak_dir, file) => pak_dir.dir.join(&file.name),
            Self::Stream(file) => file.path.clone(),
            Self::Map(map) => map.dir.join(FILE_NAME),
        }
    }

    /// Its length in bytes; for a map, the sum of all its files.
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

    /// Its LOD; 0 if the format has none, or a file has several.
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
    /// If `path` does not exist or is not a save. Damage inside a save is not an error.
    pub fn open(path: &Path, options: &Options) -> Result<Self, Error> {
        scan::open(path, options)
    }

    /// A save without files, for a path that is none: the explorer shows the bytes there.
    #[must_use]
    pub fn of_nothing(path: &Path, options: &Options) -> Self {
        Self::empty(path, options)
    }

    /// How many saves the path holds: more than one in a directory of several.
    #[must_use]
    pub const fn count_saves(&self) -> usize {
        self.forests.len() + self.pak_dirs.len() + self.streams.len() + self.maps.len()
    }

    /// A save with nothing in it.
    fn empty(path: &Path, options: &Options) -> Self {
        Self {
            path: path.to_owned(),
            named: path.to_owned(),
            forests: Vec::new(),
            pak_dirs: Vec::new(),
            streams: Vec::new(),
            maps: Vec::new(),
            faults: Vec::new(),
            unopened: Vec::new(),
            options: options.clone(),
        }
    }

    /// Files and directories of which nothing was read when the save was opened: links, what is no regular file, files of blocks
    /// whose names are no positions, and what cannot be opened. Whatever is made of the save lacks what they hold.
    pub fn unread(&self) -> impl Iterator<Item = &Fault> {
        self.faults.iter().filter(|fault| fault.is_unread()).chain(&self.unopened)
    }

    /// All region files with the forest that each is in.
    pub fn regions(&self) -> impl Iterator<Item = (&Forest, &RegionFile)> {
        self.forests.iter().flat_map(|forest| forest.regions.iter().map(move |file| (forest, file)))
    }

    /// All files that have blocks.
    pub fn files(&self) -> impl Iterator<Item = File<'_>> {
        let regions = self.regions().map(|(forest, file)| File::Region(forest, file));
        let paks =
            self.pak_dirs.iter().flat_map(|pak_dir| pak_dir.files.iter().map(move |file| File::Pak(pak_dir, file)));
        regions.chain(paks).chain(self.streams.iter().map(File::Stream)).chain(self.maps.iter().map(File::Map))
    }

    /// The printable path of a file of this save, relative to the opened path, or its name if it is the opened file.
    #[must_use]
    pub fn shown(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.path).ok().filter(|p| !p.as_os_str().is_empty());
        let below = below.or_else(|| path.file_name().map(Path::new));
        crate::printable::path(below.unwrap_or(path))
    }

    /// Opens a region file and reads its table, and a few blocks to infer the [byte order](Self::byte_order) of all.
    ///
    /// # Errors
    /// If the file cannot be opened or read. `Ok(None)` if its header does not locate blocks.
    pub fn region(&self, forest: &Forest, file: &RegionFile) -> Result<Option<Region<FileSource>>, OpenError> {
        let Some(mut region) = self.open_region_file(forest, file)? else { return Ok(None) };
        region.header.byte_order = self.byte_order_of_open(forest, file, &region);
        Ok(Some(region))
    }

    fn open_region_file(&self, forest: &Forest, file: &RegionFile) -> Result<Option<Region<FileSource>>, OpenError> {
        let Some(header) = &file.header else { return Ok(None) };
        let (source, _) = open_region(&forest.dir.join(&file.name))?;
        let mut region = Region::load(source, header.clone(), file.lod, file.position, &self.options)?;
        region.infer_slots(forest);
        Ok(Some(region))
    }

    /// Opens a pak region and reads its records; pushes damage if they cannot be read.
    ///
    /// # Errors
    /// When the file cannot be opened or read. `Ok(None)` when it ends inside its header.
    pub fn pak(
        &self,
        pak_dir: &PakDir,
        file: &PakFile,
        damage: &mut Vec<Damage>,
    ) -> Result<Option<Pak<FileSource>>, OpenError> {
        let path = pak_dir.dir.join(&file.name);
        let (source, mut undone) = open_pak(&path, self.options.pak.reading, &self.options.limits)?;
        let mut pak = Pak::load(source, file.region, &self.options.pak, &self.options.limits, damage)?;
        // Where nothing shows the region, records have no positions.
        if let Some(pak) = pak.as_mut().filter(|_| !file.is_placed) {
            pak.grid = None;
        }
        match &mut pak {
            Some(pak) => pak.damage.append(&mut undone),
            None => damage.append(&mut undone),
        }
        Ok(pak)
    }

    /// Opens a stream with a journal next to it and reads its keys; pushes damage if they cannot
    /// be read. All files are opened for reading only; the journal is never replayed into the database.
    ///
    /// # Errors
    /// When the file cannot be opened or read. `Ok(None)` when there is nothing in it that can be read.
    pub fn stream(&self, file: &StreamFile, damage: &mut Vec<Damage>) -> Result<Option<Stream<FileSource>>, OpenError> {
        self.stream_with_keys(file, None, damage)
    }

    /// Reads a stream with another format of keys than its settings have, if one is given.
    ///
    /// # Errors
    /// Those of [`stream`](Self::stream).
    pub(crate) fn stream_with_keys(
        &self,
        file: &StreamFile,
        format: Option<KeyFormat>,
        damage: &mut Vec<Damage>,
    ) -> Result<Option<Stream<FileSource>>, OpenError> {
        let (source, undone) = FileSource::open_restored(&file.path)?;
        // A file that cannot be opened is a fault of the save.
        let beside = |ending| open_beside(&scan::with_ending(&file.path, ending)).ok().flatten();
        let beside = Beside { journal: beside("-journal"), wal: beside("-wal") };
        let has_overlay = [&beside.journal, &beside.wal].into_iter().flatten().any(|file| !file.is_empty());
        let (mut layout, shifted) = stream::Layout::find(&source, has_overlay)?;
        layout.damage.splice(0..0, undone);
        layout.rule = self.options.key_rule;
        layout.format = format;
        let mut restoration = source.restoration().map(|r| Restoration::clone(r)).unwrap_or_default();
        restoration.append(shifted.unwrap_or_default());
        let source = source.restored(Some(Arc::new(restoration)));
        Ok(Stream::load_as(source, beside, &self.options.limits, &layout, damage)?)
    }
}

/// Opens a file that may not exist.
fn open_beside(path: &Path) -> Result<Option<FileSource>, OpenError> {
    match FileSource::open_restored(path) {
        Ok((file, _)) => Ok(Some(file)),
        Err(OpenError::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
