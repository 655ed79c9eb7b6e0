//! Recognises the format of a path and finds the files of a save.

mod block_files;
mod header_correction;
mod names;
mod pak_dirs;
mod streams;
mod unopened;

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::bytes::Span;
use crate::damage::{Code, Damage, Value};
use crate::godot::forest::{MAX_LODS, Meta};
use crate::godot::region::{self, Format, Header, MAGIC, MAX_HEADER_BYTES};
use crate::save::scan::names::{has_lod, may_have_lods, names_in, parse_copied, parse_lod, parse_region};
use crate::save::transfer::open_region;
use crate::save::{Error, Fault, Forest, ForestLayout, Kind, Options, PakDir, RegionFile, Save, StreamFile};
use crate::source::{FileSource, OpenError, Source};
use crate::sqlite::header;
use crate::voxel_map::Map;
use crate::voxel_map::map_json::FILE_NAME;

pub(crate) use block_files::META as BLOCK_META;
pub(crate) use header_correction::of_blocks as layout_of_blocks;
pub(crate) use names::{is_like_lod, region_of_path};
pub(super) use streams::{is_foreign_database, with_ending};

/// Name of the meta file.
pub(crate) const META: &str = "meta.vxrm";
/// Name of the directory of LODs.
pub(crate) const REGIONS: &str = "regions";
/// Name of the directory into which a repair puts unowned blocks and files that were set aside.
pub(crate) const LOST: &str = "lost+found";
/// The report that a repair writes into its copy.
pub(crate) const REPORT: &str = "repair.json";
/// Ending of region files.
const ENDING: &str = "vxr";
/// Directories above a region file in which its meta file is searched: `regions/lodN` is two levels down.
const META_ABOVE: usize = 3;

/// The version of a rig of VoxEdit; `None` for other files.
fn voxedit_version(path: &Path) -> Option<u8> {
    let file =
        fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file).and_then(|_| FileSource::open(path).ok())?;
    let mut prefix = Vec::new();
    file.read_into(0, MAX_HEADER_BYTES, &mut prefix).ok()?;
    region::voxedit_version(&prefix, file.len(), None)
}

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
        faults: Vec::new(),
        files: 0,
        over: false,
        depth: 0,
        root: path,
    };
    let root = if metadata.is_dir() { scan.root_directory(path)? } else { scan.root_file(path)? };
    scan.drop_foreign_databases();
    let Scan { mut forests, mut pak_dirs, streams, maps, mut faults, .. } = scan;
    for forest in &mut forests {
        match forest.kind {
            Kind::BlockFiles => block_files::read_headers(forest, options),
            Kind::Forest | Kind::Loose => read_headers(forest, options),
        }
    }
    pak_dirs.iter_mut().for_each(pak_dirs::read_record_counts);
    faults.sort_by(|a, b| a.path.cmp(&b.path));
    let mut save =
        Save { path: root, forests, pak_dirs, streams, maps, faults, unopened: Vec::new(), options: options.clone() };
    save.unopened = unopened::find(&save);
    streams::refuse_foreign(&save, path)?;
    Ok(save)
}

/// Whether a repair reported that it wrote no database at `path`.
fn reported(path: &Path) -> bool {
    with_ending(path, &format!(".{REPORT}")).is_file()
}

/// The forest, if `dir` is its `regions` directory.
fn forest_above(dir: &Path) -> Option<PathBuf> {
    let real = fs::canonicalize(dir).ok()?;
    let parent = real.parent()?;
    let is_regions = real.file_name() == Some(OsStr::new(REGIONS)) && parent.join(META).is_file();
    is_regions.then(|| parent.to_owned())
}

/// Whether entries of a directory are those of a forest of the Rust port: directories of LODs with region files. Those in a
/// directory named `regions` are of the forest that it is in.
fn has_lods_of_port(dir: &Path, entries: &[Entry]) -> bool {
    let has_region = |lod: &Path| names_in(lod).any(|name| parse_region(&name).is_some());
    let real = || fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
    let is_lod = |path: &Path| path.file_name().and_then(parse_lod).is_some();
    let mut lods = entries.iter().filter(|(path, what)| *what == What::Directory && is_lod(path));
    lods.any(|(path, _)| has_region(path)) && real().file_name() != Some(OsStr::new(REGIONS))
}

struct Scan<'o> {
    options: &'o Options,
    forests: Vec<Forest>,
    pak_dirs: Vec<PakDir>,
    streams: Vec<StreamFile>,
    maps: Vec<Map>,
    faults: Vec<Fault>,
    files: usize,
    over: bool,
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
        } else if streams::is_database(&file) || streams::is_named(&real) {
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
        }
        self.others(dir, entries);
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
                What::File if streams::is_named(&path) => self.stream_in(&path),
                What::File => self.stream_of_any_name(&path),
                What::Link | What::Other => {}
            }
            let is_pak = paks.last().is_some_and(|(last, _)| *last == path);
            match like {
                None if path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"lod")) => {
                    self.fault(&path, Code::NameForeign, "directory of a LOD", None);
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
            match what {
                What::Directory if is_region => {
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
                What::File if (is_region || block_files::is_named(&path)) && self.stream_of_another_name(&path) => {}
                What::File if is_pak => paks.push(path),
                What::File if is_region => loose.push(path),
                // Files of other programs have this ending too.
                What::File if block_files::is_named(&path) && block_files::may_begin_as_block(&path) => {
                    blocks.push(path);
                }
                What::File if streams::is_named(&path) => self.stream_in(&path),
                What::Link if is_region || is_block_or_stream(&path) => {
                    self.fault(&path, Code::LinkSkipped, "file", None);
                }
                // Saves may be in it.
                What::Link if self.leads_out(&path) => self.fault(&path, Code::LinkSkipped, "directory", None),
                What::Other if is_region || is_block_or_stream(&path) => {
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

    /// Region files without a forest, or with a forest in a parent directory.
    fn loose(&mut self, dir: &Path, paths: &[PathBuf]) {
        // A relative path does not name its parents.
        let real = fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
        let lod = real.file_name().and_then(parse_lod).unwrap_or(0);
        let meta = real.ancestors().take(META_ABOVE).map(|dir| dir.join(META)).find(|path| path.is_file());
        let meta = meta.map(|path| self.meta(&path)).unwrap_or_default();
        let mut regions = Vec::new();
        for path in paths {
            let Some(name) = path.file_name() else { continue };
            let position = parse_region(name);
            // The code of a rig of VoxEdit says more than its name.
            if position.is_none() && voxedit_version(path).is_none() {
                self.fault(path, Code::NameRegion, "name of the file", None);
            }
            regions.push(RegionFile::named(Path::new(name), lod, position.unwrap_or_default()));
        }
        self.push(Kind::Loose, dir, ForestLayout::Engine, meta, regions);
    }

    /// Adds the forest of a directory with these entries; returns those that are not of the forest.
    fn forest(&mut self, dir: &Path, entries: Vec<Entry>) -> Vec<Entry> {
        let mut meta = MetaRead::default();
        let mut regions = Vec::new();
        let mut others = Vec::new();
        let (mut found, mut layout) = (false, ForestLayout::Engine);
        // A directory named `regions` without a LOD in it hides no forest of the Rust port.
        let is_port = has_lods_of_port(dir, &entries);
        let is_regions = |path: &Path| path.file_name() == Some(OsStr::new(REGIONS)) && (!is_port || has_lod(path));
        let has_regions = entries.iter().any(|(path, _)| is_regions(path));
        for (path, what) in entries {
            let name = path.file_name().unwrap_or_default();
            if name == META {
                found = true;
                match what {
                    What::File => meta = self.meta(&path),
                    What::Link => self.fault(&path, Code::LinkSkipped, "meta file", None),
                    _ => self.fault(&path, Code::NotAFile, "meta file", None),
                }
            } else if is_regions(&path) {
                match what {
                    What::Directory => self.lods(dir, &path, &mut regions),
                    What::Link => self.fault(&path, Code::LinkSkipped, "directory of LODs", None),
                    What::Other => self.fault(&path, Code::NotAFile, "directory of LODs", None),
                    What::File => self.fault(&path, Code::NameRegion, "directory of LODs", None),
                }
            } else if has_regions && what == What::Directory && parse_lod(name).is_some() {
                // Folders of both layouts: which of them the game read last is not known.
                self.fault(&path, Code::NameForeign, "directory of a LOD", None);
            } else if has_regions && what == What::File && parse_region(name).is_some() {
                self.fault(&path, Code::NameRegion, "place of the region file", None);
            } else if !has_regions && what == What::Directory && parse_lod(name).is_some() {
                layout = ForestLayout::Port;
                self.lod(dir, &path, parse_lod(name).unwrap_or(0), &mut regions);
            } else if !has_regions
                && what == What::File
                && let Some(position) = parse_region(name)
            {
                layout = ForestLayout::Port;
                regions.push(RegionFile::named(Path::new(name), 0, position));
            } else if what == What::File && path.extension() == Some(OsStr::new(ENDING)) {
                self.strange(&path, "r.");
            } else {
                others.push((path, what));
            }
        }
        if layout == ForestLayout::Port {
            self.fault(&dir.join(META), Code::LayoutPort, "directories of LODs", None);
        }
        if !found {
            let path = dir.join(META);
            self.fault(&path, Code::MetaMissing, "meta file", None);
        }
        if let Some(count) = meta.whole.as_ref().and_then(|meta| meta.lod_count) {
            let mut beyond: Vec<u8> = regions.iter().map(|file| file.lod).filter(|&lod| lod >= count).collect();
            beyond.sort_unstable();
            beyond.dedup();
            // A region file of every LOD is not required: a LOD may never have been saved.
            for lod in (0..count.min(MAX_LODS)).filter(|lod| regions.iter().all(|file| file.lod != *lod)) {
                let damage = Damage::new(Code::LodMissing, Span::default(), "region files of the LOD");
                let damage = damage.expected(Value::Number(count.into())).found(Value::Number(lod.into()));
                self.faults.push(Fault { path: dir.join(META), damage, detail: None });
            }
            for lod in beyond {
                let damage = Damage::new(Code::MetaLods, Span::default(), "LOD")
                    .expected(Value::AtMost(u64::from(count) - 1))
                    .found(Value::Number(u64::from(lod)));
                self.faults.push(Fault { path: dir.join(REGIONS).join(format!("lod{lod}")), damage, detail: None });
            }
        }
        self.push(Kind::Forest, dir, layout, meta, regions);
        others
    }

    fn lods(&mut self, forest: &Path, dir: &Path, regions: &mut Vec<RegionFile>) {
        let mut foreign = Vec::new();
        for (path, what) in self.entries(dir) {
            let name = path.file_name().unwrap_or_default();
            match (parse_lod(name), what) {
                (Some(lod), What::Directory) => self.lod(forest, &path, lod, regions),
                (Some(_), What::Link) => self.fault(&path, Code::LinkSkipped, "directory of a LOD", None),
                (Some(_), What::Other) => self.fault(&path, Code::NotAFile, "directory of a LOD", None),
                (Some(_), What::File) => self.fault(&path, Code::NameRegion, "directory of a LOD", None),
                (None, what) => foreign.push((path, what)),
            }
        }
        self.foreign(dir, foreign, Some("lod"));
    }

    fn lod(&mut self, forest: &Path, dir: &Path, lod: u8, regions: &mut Vec<RegionFile>) {
        let from = regions.len();
        // Files whose names a copy changed, by the region that they are of.
        let mut copies: Vec<([i32; 3], PathBuf)> = Vec::new();
        let mut foreign = Vec::new();
        for (path, what) in self.entries(dir) {
            let name = path.file_name().unwrap_or_default();
            if let (None, Some(position), What::File) = (parse_region(name), parse_copied(name), &what) {
                copies.push((position, path.clone()));
            }
            match (parse_region(name), what) {
                (Some(position), What::File) => {
                    let below = path.strip_prefix(forest).unwrap_or(&path);
                    regions.push(RegionFile::named(below, lod, position));
                }
                (Some(_), What::Link) => self.fault(&path, Code::LinkSkipped, "region file", None),
                (Some(_), What::Directory) => {
                    self.fault(&path, Code::NotAFile, "region file", Some("It is a directory".to_owned()));
                }
                (Some(_), What::Other) => self.fault(&path, Code::NotAFile, "region file", None),
                (None, what) => foreign.push((path, what)),
            }
        }
        let named: HashSet<[i32; 3]> = regions.iter().skip(from).map(|file| file.position).collect();
        let mut claims: HashMap<[i32; 3], usize> = HashMap::new();
        for (position, _) in &copies {
            *claims.entry(*position).or_default() += 1;
        }
        let is_read = |position: &[i32; 3]| !named.contains(position) && claims.get(position) == Some(&1);
        // A file that is read as the region that its name means has the finding about a copy only.
        let read: HashSet<&Path> =
            copies.iter().filter(|(position, _)| is_read(position)).map(|(_, path)| path.as_path()).collect();
        foreign.retain(|(path, _)| !read.contains(path.as_path()));
        self.foreign(dir, foreign, Some("r."));
        for (position, path) in &copies {
            let named = named.contains(position);
            let remark = match named {
                true => "The file with the right name is there and is the one that counts.",
                false => "Several files claim this region, and none of them has its name.",
            };
            let damage = Damage::new(Code::CopyName, Span::default(), "region that the name means");
            let damage = damage.found(Value::triple(*position));
            if is_read(position) {
                let below = path.strip_prefix(forest).unwrap_or(path);
                let file = RegionFile::named(below, lod, *position);
                regions.push(RegionFile { is_renamed: true, damage: vec![damage], ..file });
            } else {
                self.faults.push(Fault { path: path.clone(), damage, detail: Some(remark.to_owned()) });
            }
        }
    }

    /// Reports a name that the engine does not look for: one close to a valid name, or a foreign one.
    fn strange(&mut self, path: &Path, like: &str) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let close = name.starts_with(like) || name.contains(".vxr");
        let code = if close { Code::NameRegion } else { Code::NameForeign };
        let rig = if close { voxedit_version(path) } else { None };
        let rig =
            rig.map(|version| format!("It is a rig of Sandbox's VoxEdit (VXR{version}): move it out of the save"));
        self.fault(path, code, "name of the file", rig);
    }

    fn meta(&mut self, path: &Path) -> MetaRead {
        let limit = self.options.limits.meta_bytes;
        let mut data = Vec::new();
        let read = FileSource::open(path).and_then(|file| {
            if file.len() <= limit {
                file.read_into(0, usize::try_from(file.len()).unwrap_or(usize::MAX), &mut data)?;
            }
            Ok(file.len())
        });
        let mut damage = Vec::new();
        let meta = match read {
            Ok(len) if len > limit => {
                let damage = Damage::new(Code::OverLimit, Span::sized(0, len), "meta file")
                    .expected(Value::AtMost(limit))
                    .found(Value::Number(len));
                self.faults.push(Fault { path: path.to_owned(), damage, detail: None });
                return MetaRead::default();
            }
            Ok(_) => Meta::decode(&data).report_to(&mut damage),
            Err(error) => {
                self.fault(path, error.code(), "meta file", Some(error.to_string()));
                return MetaRead::default();
            }
        };
        let mut extra = meta.iter().flat_map(|meta| &meta.extra);
        let is_database = data.starts_with(header::MAGIC);
        for damage in damage {
            let detail = (damage.code == Code::MetaExtra).then(|| extra.next()).flatten();
            let detail = detail.map(|name| format!("It is `{}`.", crate::printable::printable(name)));
            let what =
                (damage.code == Code::MetaUnreadable && is_database).then(|| "It is an SQLite database.".to_owned());
            let detail = detail.or(what);
            self.faults.push(Fault { path: path.to_owned(), damage, detail });
        }
        let salvaged = if meta.is_none() { Meta::salvage(&data) } else { None };
        MetaRead { whole: meta, salvaged }
    }

    fn push(&mut self, kind: Kind, dir: &Path, layout: ForestLayout, meta: MetaRead, mut regions: Vec<RegionFile>) {
        let MetaRead { whole: meta, salvaged } = meta;
        regions.sort_by_key(|file| (file.lod, file.position[2], file.position[1], file.position[0]));
        let of_meta = if kind == Kind::BlockFiles { block_files::format_of } else { Meta::format };
        let format = self.options.format.or_else(|| meta.as_ref().or(salvaged.as_ref()).and_then(of_meta));
        self.forests.push(Forest { kind, dir: dir.to_owned(), layout, meta, salvaged, format, regions });
    }
}

impl RegionFile {
    fn named(name: &Path, lod: u8, position: [i32; 3]) -> Self {
        let name = name.into();
        Self { name, lod, position, len: 0, header: None, damage: Vec::new(), detail: None, is_renamed: false }
    }

    fn read_header(&mut self, dir: &Path, outside: Option<&Format>) {
        let mut prefix = Vec::new();
        let damage = &mut self.damage;
        let read = open_region(&dir.join(&self.name)).and_then(|(file, undone)| {
            damage.extend(undone);
            file.read_into(0, MAX_HEADER_BYTES, &mut prefix)?;
            Ok(file.len())
        });
        match read {
            Ok(len) => {
                self.len = len;
                self.header = Header::decode(&prefix, len, outside).report_to(&mut self.damage);
                if prefix.starts_with(header::MAGIC) {
                    let other = self.damage.iter_mut().filter(|damage| damage.code == Code::RegionNotRegion);
                    other.for_each(|damage| damage.found = Value::Words("those of an SQLite database"));
                }
            }
            Err(error) => self.refuse(&error),
        }
    }

    fn refuse(&mut self, error: &OpenError) {
        self.damage.push(Damage::new(error.code(), Span::default(), "file"));
        self.detail = Some(error.to_string());
    }
}

fn read_headers(forest: &mut Forest, options: &Options) {
    let Forest { dir, format, regions, .. } = forest;
    regions.par_iter_mut().for_each(|file| {
        file.read_header(dir, format.as_ref());
        header_correction::correct(file, dir, format.as_ref(), options);
    });
}
