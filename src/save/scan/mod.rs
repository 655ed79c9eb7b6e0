//! Recognises the format of a path and finds the files of a save.

mod block_files;
mod forests;
mod header_correction;
mod header_sizes;
mod names;
mod pak_dirs;
mod streams;
mod unopened;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::bytes::Span;
use crate::damage::{Code, Damage};
use crate::godot::forest::Meta;
use crate::godot::region::MAGIC;
use crate::limits::Limits;
use crate::printable::count;
use crate::save::scan::forests::{forest_above, has_lods_of_port};
use crate::save::scan::names::may_have_lods;
use crate::save::{Error, Fault, Forest, ForestLayout, Kind, Options, PakDir, RegionFile, Save, StreamFile};
use crate::source::{FileSource, Source};
use crate::sqlite;
use crate::voxel_map::Map;
use crate::voxel_map::map_json::FILE_NAME;

pub(crate) use block_files::META as BLOCK_META;
pub(crate) use forests::meta_above;
pub(crate) use header_correction::of_blocks as layout_of_blocks;
pub(crate) use header_sizes::one_bit_off;
pub(crate) use names::{is_like_lod, parse_lod, region_of_path};
pub(super) use streams::{is_foreign_database, with_ending};

/// Name of the meta file.
pub(crate) const META: &str = "meta.vxrm";
/// Name of the directory of LODs.
pub(crate) const REGIONS: &str = "regions";
/// Name of the directory into which a repair puts unowned blocks and files that were set aside.
pub(crate) const LOST: &str = "lost+found";
/// The report that a repair writes into its copy.
pub(crate) const REPORT: &str = "repair.json";
/// The report of a conversion, in a forest; beside a stream it is the ending of its name.
pub(crate) const CONVERT_REPORT: &str = "convert.json";
/// The report of an export: the arrays beside it are no map.
pub(crate) const EXPORT_REPORT: &str = "export.json";
/// Ending of region files.
const ENDING: &str = "vxr";
/// The field of the finding about directories that are too deep to be searched.
pub const TOO_DEEP: &str = "depth of directories";

/// Directories above a region file in which its meta file is searched: `regions/lodN` is two levels down.
const META_ABOVE: usize = 3;
pub(super) fn open(path: &Path, options: &Options) -> Result<Save, Error> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        // Where nothing of a stream could be read, a repair writes its report and `lost+found`, and no database.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && reported(path) => {
            return Ok(Save::empty(path, options));
        }
        Err(source) => return Err(Error::Io { path: path.to_owned(), source }),
    };
    let mut scan = Scan {
        options,
        forests: Vec::new(),
        pak_dirs: Vec::new(),
        streams: Vec::new(),
        maps: Vec::new(),
        foreign: BTreeMap::new(),
        arrays: BTreeMap::new(),
        faults: Vec::new(),
        files: 0,
        over: false,
        too_deep: false,
        depth: 0,
        root: path,
    };
    let root = if metadata.is_dir() { scan.root_directory(path)? } else { scan.root_file(path)? };
    for forest in &mut scan.forests {
        match forest.kind {
            Kind::BlockFiles => block_files::read_headers(forest, options),
            Kind::Forest | Kind::Loose => forests::read_headers(forest, options),
        }
    }
    scan.pak_dirs.iter_mut().for_each(pak_dirs::read_record_counts);
    scan.move_streams_of_other_names();
    scan.drop_foreign_databases();
    scan.report_foreign_databases();
    scan.report_arrays();
    let Scan { forests, pak_dirs, streams, maps, mut faults, .. } = scan;
    faults.sort_by(|a, b| a.path.cmp(&b.path));
    let named = if root.is_dir() { root.clone() } else { path.to_owned() };
    let mut save = Save {
        path: root,
        named,
        forests,
        pak_dirs,
        streams,
        maps,
        faults,
        unopened: Vec::new(),
        options: options.clone(),
    };
    let regions = save.forests.iter_mut().flat_map(|forest| &mut forest.regions);
    (0..).zip(regions).for_each(|(number, file)| file.number = number);
    save.unopened = unopened::find(&save);
    streams::refuse_foreign(&save, path)?;
    Ok(save)
}

/// Whether a repair reported that it wrote no database at `path`.
fn reported(path: &Path) -> bool {
    with_ending(path, &format!(".{REPORT}")).is_file()
}

struct Scan<'o> {
    options: &'o Options,
    forests: Vec<Forest>,
    pak_dirs: Vec<PakDir>,
    streams: Vec<StreamFile>,
    maps: Vec<Map>,
    /// Databases with the tables of another program, and the names of these.
    foreign: BTreeMap<PathBuf, Vec<String>>,
    /// Directories with arrays of a map without its description, and the number of these arrays.
    arrays: BTreeMap<PathBuf, u64>,
    faults: Vec<Fault>,
    files: usize,
    over: bool,
    /// Whether directories were left out because they are too deep.
    too_deep: bool,
    /// Directories between the opened one and that which is scanned.
    depth: usize,
    /// The opened path.
    root: &'o Path,
}

/// What a meta file has.
#[derive(Default)]
struct MetaRead {
    /// All of it, if it is readable.
    whole: Option<Meta>,
    /// What is left of it if not.
    salvaged: Option<Meta>,
}

/// An entry of a directory.
type Entry = (PathBuf, What);

/// The kind of a directory entry, without following links.
#[derive(PartialEq)]
enum What {
    Directory,
    File,
    Link,
    Other,
}

/// Whether a directory among those of LODs, or among region files, is one of region files under another name: `like` is what the names
/// beside it begin with.
fn is_misplaced(dir: &Path, like: &str) -> bool {
    let is_named = like != "lod" || dir.file_name().is_some_and(is_like_lod);
    is_named && names::names_in(dir).any(|name| names::parse_region(&name).is_some())
}

/// Whether a path is that of the report of a conversion, which a conversion back reads.
fn is_conversion_report(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    name.strip_suffix(CONVERT_REPORT.as_bytes()).is_some_and(|before| before.is_empty() || before.ends_with(b"."))
}

impl Scan<'_> {
    /// Scans the opened directory; returns the path that printed paths are relative to.
    fn root_directory(&mut self, path: &Path) -> Result<PathBuf, Error> {
        // A directory of LODs names its forest, and nothing else that is beside it.
        let root = if let Some(root) = forest_above(path) {
            let entries = self.entries(&root);
            self.forest(&root, entries);
            root
        } else if let Some(root) = block_files::save_above(path) {
            let entries = self.entries(&root);
            self.block_files(&root, entries);
            root
        } else {
            self.directory(path);
            path.to_owned()
        };
        let nothing =
            self.forests.is_empty() && self.pak_dirs.is_empty() && self.streams.is_empty() && self.maps.is_empty();
        if nothing {
            fs::read_dir(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
            // A path with the name of a save that is not one is reported as a fault. A repair that could not locate any
            // block leaves a copy with nothing but `lost+found`: a save without a block.
            if self.faults.is_empty() && !path.join(REPORT).is_file() {
                return Err(Error::NothingHere(path.to_owned()));
            }
            if self.too_deep && self.faults.len() == 1 {
                return Err(Error::NothingAbove { path: path.to_owned(), levels: self.options.limits.directory_depth });
            }
        }
        Ok(root)
    }

    /// Scans the opened file; returns the path that printed paths are relative to.
    fn root_file(&mut self, path: &Path) -> Result<PathBuf, Error> {
        let is_meta = path.file_name() == Some(OsStr::new(META));
        let is_block_meta = path.file_name() == Some(OsStr::new(BLOCK_META));
        let is_map = path.file_name() == Some(OsStr::new(FILE_NAME));
        // A database is a stream whatever its name.
        if (is_meta || is_block_meta || is_map) && !streams::is_database_at(path) {
            // The parent of a bare name is empty, which cannot be read as a directory.
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            let root = parent.unwrap_or(Path::new("."));
            if is_meta {
                let entries = self.entries(root);
                self.forest(root, entries);
            } else if is_block_meta {
                let entries = self.entries(root);
                self.block_files(root, entries);
            } else {
                self.map(root);
            }
            return Ok(root.to_owned());
        }
        // The path given by the user may be a link; links inside a save are not followed.
        let real = fs::canonicalize(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
        let file = FileSource::open(&real).map_err(|source| Error::Open { path: path.to_owned(), source })?;
        let mut magic = [0; 4];
        let read = file.read_at(0, &mut magic).map_err(|source| Error::Io { path: path.to_owned(), source })?;
        let dir = real.parent().map_or_else(PathBuf::new, Path::to_owned);
        let only = std::slice::from_ref(&real);
        if streams::begins_as_database(&file) {
            self.stream(&real, &file);
        } else if magic.get(..read) == Some(&MAGIC[..]) || real.extension() == Some(OsStr::new(ENDING)) {
            self.loose(&dir, only);
        } else if block_files::is_block(&file) || block_files::is_named(&real) {
            self.loose_blocks(&dir, only);
        } else if pak_dirs::is_pak(&real) {
            self.pak_dir(&dir, only);
        } else if streams::is_database(&file) || sqlite::is_named(&real) {
            self.stream(&real, &file);
        } else {
            return Err(Error::NotASave(path.to_owned()));
        }
        Ok(real)
    }

    fn fault(&mut self, path: &Path, code: Code, what: &'static str, detail: Option<String>) {
        let damage = Damage::new(code, Span::default(), what);
        self.faults.push(Fault { path: path.to_owned(), damage, detail });
    }

    /// The entries of a directory in the order of their names; an entry that cannot be read is a fault.
    fn entries(&mut self, dir: &Path) -> Vec<Entry> {
        let list = match fs::read_dir(dir) {
            Ok(list) => list,
            Err(error) => {
                self.fault(dir, Code::FileUnreadable, "directory", Some(error.to_string()));
                return Vec::new();
            }
        };
        let mut entries = Vec::new();
        for entry in list {
            match entry.and_then(|entry| Ok((entry.path(), entry.file_type()?))) {
                Ok((path, kind)) => {
                    if self.files >= self.options.limits.files {
                        if !self.over {
                            self.over = true;
                            self.fault(dir, Code::OverLimit, "number of files in the save", None);
                        }
                        break;
                    }
                    self.files += 1;
                    let what = match kind {
                        kind if kind.is_dir() => What::Directory,
                        kind if kind.is_file() => What::File,
                        kind if kind.is_symlink() => What::Link,
                        _ => What::Other,
                    };
                    entries.push((path, what));
                }
                Err(error) => self.fault(dir, Code::FileUnreadable, "directory", Some(error.to_string())),
            }
        }
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        entries
    }

    /// Scans a directory: all saves in it, side by side, and the directories in it.
    fn directory(&mut self, dir: &Path) {
        let mut entries = self.entries(dir);
        let named =
            |entries: &[Entry], name: &str| entries.iter().any(|(path, _)| path.file_name() == Some(OsStr::new(name)));
        let has_regions = entries.iter().any(|(path, what)| {
            path.file_name() == Some(OsStr::new(REGIONS)) && *what == What::Directory && may_have_lods(path)
        });
        let is_port = has_lods_of_port(dir, &entries);
        if named(&entries, META) || has_regions || is_port {
            entries = self.forest(dir, entries);
        }
        if named(&entries, BLOCK_META) || block_files::has_blocks(dir) {
            entries = self.block_files(dir, entries);
        }
        if named(&entries, FILE_NAME) && !streams::is_database_at(&dir.join(FILE_NAME)) {
            self.map(dir);
        } else if !named(&entries, EXPORT_REPORT) {
            let is_array = |(path, what): &&Entry| *what == What::File && path.extension() == Some(OsStr::new("npy"));
            let arrays = entries.iter().filter(is_array).count() as u64;
            if arrays > 0 {
                self.arrays.insert(dir.to_owned(), arrays);
            }
        }
        self.others(dir, entries);
    }

    /// Names the directories with arrays that lie beside saves: a map may have lost its description.
    fn report_arrays(&mut self) {
        if self.saves() == 0 {
            return;
        }
        let arrays = std::mem::take(&mut self.arrays);
        let is_in_map = |dir: &Path| self.maps.iter().any(|map| dir.starts_with(&map.dir));
        let apart: Vec<(PathBuf, u64)> = arrays.into_iter().filter(|(dir, _)| !is_in_map(dir)).collect();
        for (dir, n) in apart {
            let what = format!("The directory has {}.", count(n, "array"));
            self.fault(&dir, Code::NameForeign, "arrays", Some(what));
        }
    }

    /// How many saves were found.
    fn saves(&self) -> usize {
        self.forests.len() + self.pak_dirs.len() + self.streams.len() + self.maps.len()
    }

    /// Scans a directory in another one.
    fn directory_below(&mut self, dir: &Path) {
        if self.depth < self.options.limits.directory_depth {
            self.depth += 1;
            self.directory(dir);
            self.depth -= 1;
            return;
        }
        let levels = self.options.limits.directory_depth;
        // A caller that sets a smaller limit searches only the first levels on purpose.
        if !self.too_deep && levels >= Limits::DEFAULT.directory_depth {
            self.too_deep = true;
            let why = format!("Directories more than {levels} levels below the opened one are not searched for saves.");
            self.fault(dir, Code::OverLimit, TOO_DEEP, Some(why));
        }
    }

    /// Reads the saves that have their meta files or their directories among these entries of a directory of LODs; returns the
    /// entries that are not of them. A meta file alone is one that was moved there.
    fn saves_among(&mut self, dir: &Path, mut entries: Vec<Entry>) -> Vec<Entry> {
        if self.depth >= self.options.limits.directory_depth {
            return entries;
        }
        self.depth += 1;
        let is = |(path, _): &Entry, name: &str| path.file_name() == Some(OsStr::new(name));
        let is_regions = |entry: &Entry| is(entry, REGIONS) && entry.1 == What::Directory && may_have_lods(&entry.0);
        if entries.iter().any(is_regions) {
            entries = self.forest(dir, entries);
        }
        if block_files::has_blocks(dir) {
            entries = self.block_files(dir, entries);
        }
        if entries.iter().any(|entry| is(entry, FILE_NAME) && !streams::is_database_at(&entry.0)) {
            self.map(dir);
            entries.retain(|entry| !is(entry, FILE_NAME) && entry.0.extension() != Some(OsStr::new("npy")));
        }
        self.depth -= 1;
        entries
    }

    /// Scans entries of a directory of LODs that have no name of this format: saves among them are read, and what else there
    /// is gets reported. `like` is how the names of this format begin.
    fn foreign(&mut self, dir: &Path, entries: Vec<Entry>, like: Option<&str>) {
        let mut paks = Vec::new();
        for (path, what) in self.saves_among(dir, entries) {
            let before = self.saves();
            match what {
                What::Directory => self.directory_below(&path),
                What::File if pak_dirs::is_pak(&path) => paks.push((path.clone(), What::File)),
                What::File if sqlite::is_named(&path) => self.stream_in(&path),
                What::File => self.stream_of_any_name(&path),
                What::Link | What::Other => {}
            }
            let is_pak = paks.last().is_some_and(|(last, _)| *last == path);
            match like {
                None if path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"lod")) => {
                    self.fault(&path, Code::NameForeign, "directory of a LOD", None);
                }
                // Region files of this save, in a directory that the game does not read.
                Some(like) if what == What::Directory && self.saves() > before && is_misplaced(&path, like) => {
                    self.fault(&path, Code::NameRegion, "directory of region files", None);
                }
                _ if is_pak || self.saves() > before => {}
                Some(like) => self.strange(&path, like),
                None => self.fault(&path, Code::NameForeign, "name of the file", None),
            }
        }
        self.others(dir, paks);
    }

    /// Scans what is in a directory beside its meta files: pak regions, streams, files of regions and of blocks, directories.
    fn others(&mut self, dir: &Path, entries: Vec<Entry>) {
        let is_block_or_stream = |path: &Path| block_files::is_named(path) || streams::is_surely_named(path);
        let (mut loose, mut paks, mut blocks) = (Vec::new(), Vec::new(), Vec::new());
        for (path, what) in entries {
            let is_pak = pak_dirs::is_pak(&path);
            let is_region = is_pak || path.extension() == Some(OsStr::new(ENDING));
            let is_report = is_conversion_report(&path);
            match what {
                What::Directory if is_region || is_report => {
                    self.fault(&path, Code::NotAFile, "file", Some("It is a directory".to_owned()));
                }
                // Files that a repair set aside are not part of the save.
                What::Directory if path.as_os_str().as_encoded_bytes().ends_with(LOST.as_bytes()) => {}
                What::Directory => {
                    let before = self.saves();
                    self.directory_below(&path);
                    if self.saves() == before && streams::is_surely_named(&path) {
                        self.fault(&path, Code::NotAFile, "file", Some("It is a directory".to_owned()));
                    }
                }
                // Those that are streams are found when their headers are read, so that no file is opened twice.
                What::File if is_pak => paks.push(path),
                What::File if is_region => loose.push(path),
                // Files of other programs have this ending too.
                What::File if block_files::is_named(&path) && block_files::may_begin_as_block(&path) => {
                    blocks.push(path);
                }
                What::File if block_files::is_named(&path) && self.stream_of_another_name(&path) => {}
                What::File if sqlite::is_named(&path) => self.stream_in(&path),
                What::Link if is_region || is_report || is_block_or_stream(&path) => {
                    self.fault(&path, Code::LinkSkipped, "file", None);
                }
                // Saves may be in it.
                What::Link if self.leads_out(&path) => self.fault(&path, Code::LinkSkipped, "directory", None),
                What::Other if is_region || is_report || is_block_or_stream(&path) => {
                    self.fault(&path, Code::NotAFile, "file", None);
                }
                // A directory of saves may contain other files.
                What::File => self.stream_of_any_name(&path),
                _ => {}
            }
        }
        if !loose.is_empty() {
            self.loose(dir, &loose);
        }
        if !blocks.is_empty() {
            self.loose_blocks(dir, &blocks);
        }
        if !paks.is_empty() {
            self.pak_dir(dir, &paks);
        }
    }

    /// Whether a link leads to a directory that is not searched anyway.
    fn leads_out(&self, link: &Path) -> bool {
        let root = fs::canonicalize(self.root);
        fs::canonicalize(link).is_ok_and(|target| target.is_dir() && !root.is_ok_and(|root| target.starts_with(root)))
    }

    /// The voxel map of a directory.
    fn map(&mut self, dir: &Path) {
        match Map::open(dir, &self.options.limits) {
            Ok(map) => self.maps.push(map),
            Err(error) => {
                self.fault(&dir.join(FILE_NAME), error.code(), "description of the map", Some(error.to_string()));
            }
        }
    }

    /// Adds a forest.
    fn push(&mut self, kind: Kind, dir: &Path, layout: ForestLayout, meta: MetaRead, mut regions: Vec<RegionFile>) {
        let MetaRead { whole: meta, salvaged } = meta;
        // Sorting the keys takes less memory than sorting the files.
        regions.sort_by_cached_key(|file| (file.lod, file.position[2], file.position[1], file.position[0]));
        regions.shrink_to_fit();
        let of_meta = if kind == Kind::BlockFiles { block_files::format_of } else { Meta::format };
        let format = self.options.format.or_else(|| meta.as_ref().or(salvaged.as_ref()).and_then(of_meta));
        let dir = dir.to_owned();
        let order = OnceLock::new();
        self.forests.push(Forest { kind, dir, layout, meta, salvaged, format, regions, inferred_slots: None, order });
    }
}
