//! Recognising what a path is, and finding the files of a save.

mod rooms;
mod streams;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::bytes::Span;
use crate::damage::{Code, Damage, Value};
use crate::godot::forest::{MAX_LODS, Meta};
use crate::godot::region::{Format, Header, MAGIC, MAX_HEADER_BYTES};
use crate::save::{Error, Fault, Forest, Kind, Options, RegionFile, Room, Save, StreamFile};
use crate::source::{FileSource, OpenError, Source};
use crate::voxel_map::Map;
use crate::voxel_map::map_json::FILE_NAME;

pub(super) use streams::with_ending;

/// Name of the meta file.
const META: &str = "meta.vxrm";
/// Name of the directory of LODs.
const REGIONS: &str = "regions";
/// Name of the directory into which a repair puts what has no owner.
pub(crate) const LOST: &str = "lost+found";
/// Ending of region files.
const ENDING: &str = "vxr";
/// How far above a region file its meta file is looked for: `regions/lodN` is two directories down.
const META_ABOVE: usize = 3;

pub(super) fn open(path: &Path, options: &Options) -> Result<Save, Error> {
    let metadata = fs::metadata(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
    let mut scan = Scan {
        options,
        forests: Vec::new(),
        rooms: Vec::new(),
        streams: Vec::new(),
        maps: Vec::new(),
        faults: Vec::new(),
        files: 0,
        over: false,
    };
    let root = if metadata.is_dir() { scan.root_directory(path)? } else { scan.root_file(path)? };
    let Scan { mut forests, rooms, streams, maps, mut faults, .. } = scan;
    for forest in &mut forests {
        read_headers(forest);
    }
    faults.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(Save { path: root, forests, rooms, streams, maps, faults, options: options.clone() })
}

/// The forest, when `dir` is its `regions` directory.
fn forest_above(dir: &Path) -> Option<PathBuf> {
    let real = fs::canonicalize(dir).ok()?;
    let parent = real.parent()?;
    let is_regions = real.file_name() == Some(OsStr::new(REGIONS)) && parent.join(META).is_file();
    is_regions.then(|| parent.to_owned())
}

struct Scan<'o> {
    options: &'o Options,
    forests: Vec<Forest>,
    rooms: Vec<Room>,
    streams: Vec<StreamFile>,
    maps: Vec<Map>,
    faults: Vec<Fault>,
    files: usize,
    over: bool,
}

/// What a directory entry is, links not followed.
#[derive(PartialEq)]
enum What {
    Directory,
    File,
    Link,
    Other,
}

impl Scan<'_> {
    /// The directory that is opened; gives what paths are shown below.
    fn root_directory(&mut self, path: &Path) -> Result<PathBuf, Error> {
        let root = forest_above(path).unwrap_or_else(|| path.to_owned());
        self.directory(&root, 0);
        let nothing =
            self.forests.is_empty() && self.rooms.is_empty() && self.streams.is_empty() && self.maps.is_empty();
        if nothing {
            fs::read_dir(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
            // Something that has the name of a save but is none is better told as a fault.
            if self.faults.is_empty() {
                return Err(Error::NothingHere(path.to_owned()));
            }
        }
        Ok(root)
    }

    /// The file that is opened; gives what paths are shown below.
    fn root_file(&mut self, path: &Path) -> Result<PathBuf, Error> {
        let is_meta = path.file_name() == Some(OsStr::new(META));
        if is_meta || path.file_name() == Some(OsStr::new(FILE_NAME)) {
            // A bare name has an empty parent, which is no directory that can be read.
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            let root = parent.unwrap_or(Path::new("."));
            if is_meta {
                self.forest(root);
            } else {
                self.map(root);
            }
            return Ok(root.to_owned());
        }
        // What the user names may itself be a link; inside a save none is followed.
        let real = fs::canonicalize(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
        let file = FileSource::open(&real).map_err(|source| Error::Open { path: path.to_owned(), source })?;
        let mut magic = [0; 4];
        let read = file.read_at(0, &mut magic).map_err(|source| Error::Io { path: path.to_owned(), source })?;
        let dir = real.parent().map_or_else(PathBuf::new, Path::to_owned);
        let only = std::slice::from_ref(&real);
        if magic.get(..read) == Some(&MAGIC[..]) || real.extension() == Some(OsStr::new(ENDING)) {
            self.loose(&dir, only);
        } else if rooms::is_pak(&real) {
            self.room(&dir, only);
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

    /// The entries of a directory in order of their names; what cannot be read is a fault.
    fn entries(&mut self, dir: &Path) -> Vec<(PathBuf, What)> {
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

    /// A directory of any kind: a forest, region files, or saves further down.
    fn directory(&mut self, dir: &Path, depth: usize) {
        let entries = self.entries(dir);
        let named = |name: &str| entries.iter().any(|(path, _)| path.file_name() == Some(OsStr::new(name)));
        let has_regions = entries
            .iter()
            .any(|(path, what)| path.file_name() == Some(OsStr::new(REGIONS)) && *what == What::Directory);
        if named(META) || has_regions {
            self.forest(dir);
            return;
        }
        if named(FILE_NAME) {
            self.map(dir);
        }
        let (mut loose, mut paks) = (Vec::new(), Vec::new());
        for (path, what) in entries {
            let is_pak = rooms::is_pak(&path);
            let is_region = is_pak || path.extension() == Some(OsStr::new(ENDING));
            match what {
                What::Directory if is_region => {
                    self.fault(&path, Code::NotAFile, "file", Some("it is a directory".to_owned()));
                }
                // What a repair took out of a save is no part of it.
                What::Directory if path.as_os_str().as_encoded_bytes().ends_with(LOST.as_bytes()) => {}
                What::Directory if depth < self.options.limits.directory_depth => self.directory(&path, depth + 1),
                What::File if is_pak => paks.push(path),
                What::File if is_region => loose.push(path),
                What::File if streams::is_named(&path) => self.stream_in(&path),
                What::Link if is_region => self.fault(&path, Code::LinkSkipped, "file", None),
                What::Other if is_region => self.fault(&path, Code::NotAFile, "file", None),
                // A directory of saves may hold anything else.
                _ => {}
            }
        }
        if !loose.is_empty() {
            self.loose(dir, &loose);
        }
        if !paks.is_empty() {
            self.room(dir, &paks);
        }
    }

    /// The voxel map of a directory.
    fn map(&mut self, dir: &Path) {
        match Map::open(dir, &self.options.limits) {
            Ok(map) => self.maps.push(map),
            Err(error) => {
                self.fault(&dir.join(FILE_NAME), error.code(), "the map's description", Some(error.to_string()));
            }
        }
    }

    /// Region files without a forest around them, or with one further up.
    fn loose(&mut self, dir: &Path, paths: &[PathBuf]) {
        // What is above a relative path is not in its text.
        let real = fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
        let lod = real.file_name().and_then(parse_lod).unwrap_or(0);
        let meta = real.ancestors().take(META_ABOVE).map(|dir| dir.join(META)).find(|path| path.is_file());
        let meta = meta.and_then(|path| self.meta(&path));
        let mut regions = Vec::new();
        for path in paths {
            let Some(name) = path.file_name() else { continue };
            let position = parse_region(name);
            if position.is_none() {
                self.fault(path, Code::NameRegion, "name of the file", None);
            }
            regions.push(RegionFile::named(Path::new(name), lod, position.unwrap_or_default()));
        }
        self.push(Kind::Loose, dir, meta, regions);
    }

    fn forest(&mut self, dir: &Path) {
        let mut meta = None;
        let mut regions = Vec::new();
        let mut found = false;
        for (path, what) in self.entries(dir) {
            let name = path.file_name().unwrap_or_default();
            if name == META {
                found = true;
                match what {
                    What::File => meta = self.meta(&path),
                    What::Link => self.fault(&path, Code::LinkSkipped, "meta file", None),
                    _ => self.fault(&path, Code::NotAFile, "meta file", None),
                }
            } else if name == REGIONS {
                match what {
                    What::Directory => self.lods(dir, &path, &mut regions),
                    What::Link => self.fault(&path, Code::LinkSkipped, "directory of LODs", None),
                    _ => self.fault(&path, Code::NameRegion, "directory of LODs", None),
                }
            }
        }
        if !found {
            let path = dir.join(META);
            self.fault(&path, Code::MetaMissing, "meta file", None);
        }
        if let Some(count) = meta.as_ref().and_then(|meta| meta.lod_count) {
            let mut beyond: Vec<u8> = regions.iter().map(|file| file.lod).filter(|&lod| lod >= count).collect();
            beyond.sort_unstable();
            beyond.dedup();
            for lod in beyond {
                let damage = Damage::new(Code::MetaLods, Span::default(), "LOD")
                    .expected(Value::AtMost(u64::from(count) - 1))
                    .found(Value::Number(u64::from(lod)));
                self.faults.push(Fault { path: dir.join(REGIONS).join(format!("lod{lod}")), damage, detail: None });
            }
        }
        self.push(Kind::Forest, dir, meta, regions);
    }

    fn lods(&mut self, forest: &Path, dir: &Path, regions: &mut Vec<RegionFile>) {
        for (path, what) in self.entries(dir) {
            let name = path.file_name().unwrap_or_default();
            match (parse_lod(name), what) {
                (Some(lod), What::Directory) => self.lod(forest, &path, lod, regions),
                (Some(_), What::Link) => self.fault(&path, Code::LinkSkipped, "directory of a LOD", None),
                (Some(_), _) => self.fault(&path, Code::NameRegion, "directory of a LOD", None),
                (None, _) => self.strange(&path, "lod"),
            }
        }
    }

    fn lod(&mut self, forest: &Path, dir: &Path, lod: u8, regions: &mut Vec<RegionFile>) {
        for (path, what) in self.entries(dir) {
            let name = path.file_name().unwrap_or_default();
            match (parse_region(name), what) {
                (Some(position), What::File) => {
                    let below = path.strip_prefix(forest).unwrap_or(&path);
                    regions.push(RegionFile::named(below, lod, position));
                }
                (Some(_), What::Link) => self.fault(&path, Code::LinkSkipped, "region file", None),
                (Some(_), What::Directory) => {
                    self.fault(&path, Code::NotAFile, "region file", Some("it is a directory".to_owned()));
                }
                (Some(_), What::Other) => self.fault(&path, Code::NotAFile, "region file", None),
                (None, _) => self.strange(&path, "r."),
            }
        }
    }

    /// A name that the engine does not look for: close to one that it does, or something else altogether.
    fn strange(&mut self, path: &Path, like: &str) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let close = name.starts_with(like) || name.contains(".vxr");
        let code = if close { Code::NameRegion } else { Code::NameForeign };
        self.fault(path, code, "name of the file", None);
    }

    fn meta(&mut self, path: &Path) -> Option<Meta> {
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
                return None;
            }
            Ok(_) => Meta::decode(&data, &mut damage),
            Err(error) => {
                self.fault(path, error.code(), "meta file", Some(error.to_string()));
                return None;
            }
        };
        let mut extra = meta.iter().flat_map(|meta| &meta.extra);
        for damage in damage {
            let detail = (damage.code == Code::MetaExtra).then(|| extra.next()).flatten();
            let detail = detail.map(|name| crate::printable::printable(name));
            self.faults.push(Fault { path: path.to_owned(), damage, detail });
        }
        meta
    }

    fn push(&mut self, kind: Kind, dir: &Path, meta: Option<Meta>, mut regions: Vec<RegionFile>) {
        regions.sort_by_key(|file| (file.lod, file.position[2], file.position[1], file.position[0]));
        let format = self.options.format.or_else(|| meta.as_ref().and_then(Meta::format));
        self.forests.push(Forest { kind, dir: dir.to_owned(), meta, format, regions });
    }
}

impl RegionFile {
    fn named(name: &Path, lod: u8, position: [i32; 3]) -> Self {
        Self { name: name.into(), lod, position, len: 0, header: None, damage: Vec::new(), detail: None }
    }

    fn read_header(&mut self, dir: &Path, outside: Option<&Format>) {
        let mut prefix = Vec::new();
        let read = FileSource::open(&dir.join(&self.name)).and_then(|file| {
            file.read_into(0, MAX_HEADER_BYTES, &mut prefix)?;
            Ok(file.len())
        });
        match read {
            Ok(len) => {
                self.len = len;
                self.header = Header::decode(&prefix, len, outside, &mut self.damage);
            }
            Err(error) => self.refuse(&error),
        }
    }

    fn refuse(&mut self, error: &OpenError) {
        self.damage.push(Damage::new(error.code(), Span::default(), "file"));
        self.detail = Some(error.to_string());
    }
}

fn read_headers(forest: &mut Forest) {
    let Forest { dir, format, regions, .. } = forest;
    regions.par_iter_mut().for_each(|file| file.read_header(dir, format.as_ref()));
}

/// `lodN`, N from 0 to 23 as the engine writes it.
fn parse_lod(name: &OsStr) -> Option<u8> {
    let digits = name.to_str()?.strip_prefix("lod")?;
    canonical(digits)?.try_into().ok().filter(|&lod: &u8| lod < MAX_LODS)
}

/// `r.X.Y.Z.vxr` as the engine writes it.
fn parse_region(name: &OsStr) -> Option<[i32; 3]> {
    let mut parts = name.to_str()?.strip_prefix("r.")?.strip_suffix(".vxr")?.split('.');
    let position = [canonical(parts.next()?)?, canonical(parts.next()?)?, canonical(parts.next()?)?];
    parts.next().is_none().then_some(position)
}

/// A decimal number without plus sign, leading zeros or anything else.
fn canonical(text: &str) -> Option<i32> {
    text.parse().ok().filter(|n: &i32| n.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_names_that_the_engine_writes_are_taken() {
        for (name, position) in [
            ("r.0.0.0.vxr", Some([0, 0, 0])),
            ("r.-1.20.-300.vxr", Some([-1, 20, -300])),
            ("r.+1.0.0.vxr", None),
            ("r.01.0.0.vxr", None),
            ("r.-0.0.0.vxr", None),
            ("r.0.0.vxr", None),
            ("r.0.0.0.0.vxr", None),
            ("r.0.0.0.vxr.bak", None),
            ("R.0.0.0.vxr", None),
            ("r.0.0.2147483648.vxr", None),
            ("r.0.0. 0.vxr", None),
        ] {
            assert_eq!(parse_region(OsStr::new(name)), position, "{name}");
        }
        assert_eq!(parse_lod(OsStr::new("lod23")), Some(23));
        for name in ["lod24", "lod-1", "lod", "lod01", "LOD0", "lod0 "] {
            assert_eq!(parse_lod(OsStr::new(name)), None, "{name}");
        }
    }
}
