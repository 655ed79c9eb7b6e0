//! Finds the files of forests: meta files, directories of LODs and region files.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use crate::bytes::Span;
use crate::damage::{Code, Damage, Value};
use crate::godot::forest::{MAX_LODS, Meta};
use crate::godot::region::{self, Format, Header, MAX_HEADER_BYTES};
use crate::parallel;
use crate::save::byte_order::OrderOfFile;
use crate::save::scan::header_sizes::{Sizes, fitting_sizes, sizes};
use crate::save::scan::names::{has_lod, lod_shown_by, names_in, parse_copied, parse_lod, parse_region};
use crate::save::scan::{ENDING, Entry, META, META_ABOVE, MetaRead, REGIONS, Scan, What, header_correction};
use crate::save::transfer::open_region;
use crate::save::{Fault, Forest, ForestLayout, Kind, Options, RegionFile};
use crate::source::{FileSource, OpenError, Source};
use crate::sqlite::header;

/// The version of a rig of VoxEdit; `None` for other files.
fn voxedit_version(path: &Path) -> Option<u8> {
    let file =
        fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file).and_then(|_| FileSource::open(path).ok())?;
    let mut prefix = Vec::new();
    file.read_into(0, MAX_HEADER_BYTES, &mut prefix).ok()?;
    region::voxedit_version(&prefix, file.len(), None)
}

/// The forest, if `dir` is its `regions` directory: beside its meta file, or with LODs of which the meta file is missing.
pub(super) fn forest_above(dir: &Path) -> Option<PathBuf> {
    let real = fs::canonicalize(dir).ok()?;
    let parent = real.parent()?;
    let is_lod_of_forest = |name: OsString| parse_lod(&name).is_some() && has_region(&real.join(name));
    let is_regions = real.file_name() == Some(OsStr::new(REGIONS))
        && (parent.join(META).is_file() || names_in(&real).any(is_lod_of_forest));
    is_regions.then(|| parent.to_owned())
}

/// Whether a directory has a file with the name of a region.
fn has_region(lod: &Path) -> bool {
    names_in(lod).any(|name| parse_region(&name).is_some())
}

/// The meta file with which region files of a directory are read: in the directory, or above it.
pub(crate) fn meta_above(dir: &Path) -> Option<PathBuf> {
    // A relative path does not name its parents.
    let real = fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
    real.ancestors().take(META_ABOVE).map(|dir| dir.join(META)).find(|path| path.is_file())
}

/// Whether entries of a directory are those of a forest of the Rust port: directories of LODs with region files. Those in a
/// directory named `regions` are of the forest that it is in.
pub(super) fn has_lods_of_port(dir: &Path, entries: &[Entry]) -> bool {
    let real = || fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
    let is_lod = |path: &Path| path.file_name().and_then(parse_lod).is_some();
    let mut lods = entries.iter().filter(|(path, what)| *what == What::Directory && is_lod(path));
    lods.any(|(path, _)| has_region(path)) && real().file_name() != Some(OsStr::new(REGIONS))
}

/// The path of a file below a directory, in the memory of its path: a save may have very many files, and what is freed of each is too
/// small to be of use for anything else.
fn path_below(path: PathBuf, dir: &Path) -> Box<Path> {
    let below = path.strip_prefix(dir).unwrap_or(&path);
    let skipped = path.as_os_str().len() - below.as_os_str().len();
    match path.into_os_string().into_string() {
        Ok(mut text) if text.is_char_boundary(skipped) => {
            text.drain(..skipped);
            PathBuf::from(text).into()
        }
        Ok(text) => PathBuf::from(text).into(),
        Err(path) => Path::new(&path).strip_prefix(dir).unwrap_or(Path::new(&path)).into(),
    }
}

impl Scan<'_> {
    /// Region files without a forest, or with a forest in a parent directory.
    pub(super) fn loose(&mut self, dir: &Path, paths: &[PathBuf]) {
        // A relative path does not name its parents.
        let real = fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
        let meta = meta_above(&real).map(|path| self.meta(&path)).unwrap_or_default();
        let mut regions = Vec::new();
        for path in paths {
            let Some(name) = path.file_name() else { continue };
            let position = parse_region(name);
            // The code of a rig of VoxEdit says more than its name.
            if position.is_none() && voxedit_version(path).is_none() {
                self.fault(path, Code::NameRegion, "name of the file", None);
            }
            regions.push(RegionFile::loose(&real, name, position.unwrap_or_default()));
        }
        self.push(Kind::Loose, dir, ForestLayout::Engine, meta, regions);
    }

    /// Adds the forest of a directory with these entries; returns those that are not of the forest.
    pub(super) fn forest(&mut self, dir: &Path, entries: Vec<Entry>) -> Vec<Entry> {
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
                    regions.push(RegionFile::named(path_below(path, forest), lod, position));
                }
                (Some(_), What::Link) => self.fault(&path, Code::LinkSkipped, "region file", None),
                (Some(_), What::Directory) => {
                    self.fault(&path, Code::NotAFile, "region file", Some("It is a directory".to_owned()));
                }
                (Some(_), What::Other) => self.fault(&path, Code::NotAFile, "region file", None),
                (None, what) => foreign.push((path, what)),
            }
        }
        let mut claims: HashMap<[i32; 3], usize> = HashMap::new();
        for (position, _) in &copies {
            *claims.entry(*position).or_default() += 1;
        }
        // Of very many files, hardly any has a copy.
        let named = regions.iter().skip(from).map(|file| file.position);
        let named: HashSet<[i32; 3]> = named.filter(|position| claims.contains_key(position)).collect();
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
    pub(super) fn strange(&mut self, path: &Path, like: &str) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let close = name.starts_with(like) || name.contains(".vxr");
        let code = if close { Code::NameRegion } else { Code::NameForeign };
        let rig = if close { voxedit_version(path) } else { None };
        let rig =
            rig.map(|version| format!("It is a rig of Sandbox's VoxEdit (VXR{version}): move it out of the save"));
        self.fault(path, code, "name of the file", rig);
    }

    pub(super) fn meta(&mut self, path: &Path) -> MetaRead {
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
}

impl RegionFile {
    pub(super) fn named(name: impl Into<Box<Path>>, lod: u8, position: [i32; 3]) -> Self {
        let name = name.into();
        let (header, damage, detail) = (None, Vec::new(), None);
        let (assumes_lod, is_renamed, number) = (false, false, 0);
        let order = OrderOfFile::default();
        Self { name, lod, assumes_lod, position, len: 0, header, damage, detail, is_renamed, number, order }
    }

    /// A file outside of a tree of LODs, in the directory `dir`.
    pub(super) fn loose(dir: &Path, name: &OsStr, position: [i32; 3]) -> Self {
        let lod = lod_shown_by(dir, name);
        Self { assumes_lod: lod.is_none(), ..Self::named(Path::new(name), lod.unwrap_or(0), position) }
    }

    /// Reads the header; gives the file, if it can be read.
    fn read_header(&mut self, dir: &Path, outside: Option<&Format>) -> Option<FileSource> {
        let mut prefix = Vec::new();
        let damage = &mut self.damage;
        let read = open_region(&dir.join(&self.name)).and_then(|(file, undone)| {
            damage.extend(undone);
            file.read_into(0, MAX_HEADER_BYTES, &mut prefix)?;
            Ok(file)
        });
        match read {
            Ok(file) => {
                self.len = file.len();
                self.header = Header::decode(&prefix, file.len(), outside).report_to(&mut self.damage);
                if prefix.starts_with(header::MAGIC) {
                    let other = self.damage.iter_mut().filter(|damage| damage.code == Code::RegionNotRegion);
                    other.for_each(|damage| damage.found = Value::Words("those of an SQLite database"));
                }
                Some(file)
            }
            Err(error) => {
                self.refuse(&error);
                None
            }
        }
    }

    pub(super) fn refuse(&mut self, error: &OpenError) {
        self.damage.push(Damage::new(error.code(), Span::default(), "file"));
        self.detail = Some(error.to_string());
    }
}

pub(super) fn read_headers(forest: &mut Forest, options: &Options) {
    let Forest { dir, format, regions, .. } = forest;
    parallel::each_mut(regions, |file| {
        if let Some(source) = file.read_header(dir, format.as_ref()) {
            header_correction::correct(file, &source, dir, format.as_ref(), options);
        }
    });
    correct_by_most(forest);
    // Most damaged files have one entry; a vector has room for four.
    forest.regions.iter_mut().for_each(|file| file.damage.shrink_to_fit());
}

/// Corrects sizes that differ from those which the tables of most files fit.
fn correct_by_most(forest: &mut Forest) {
    let Forest { dir, regions, .. } = forest;
    let sizes_of = |file: &RegionFile| {
        file.header.as_ref().filter(|header| header.version == 3).map(|header| sizes(&header.format))
    };
    let mut all = regions.iter().filter_map(sizes_of);
    let first = all.next();
    if all.all(|sizes| Some(sizes) == first) {
        return;
    }
    let fitting = parallel::filter_map(regions, |file| fitting_sizes(file, dir));
    let mut votes: HashMap<Sizes, usize> = HashMap::new();
    fitting.iter().for_each(|(sizes, _)| *votes.entry(*sizes).or_default() += 1);
    let Some((most, _)) = votes.into_iter().find(|(_, n)| *n > 1 && n * 2 > fitting.len()) else { return };
    // Sizes that another table fits are not damaged, but of another world.
    let sure: HashSet<Sizes> = fitting.into_iter().filter(|(_, is_sure)| *is_sure).map(|(sizes, _)| sizes).collect();
    parallel::each_mut(regions, |file| {
        if sizes_of(file).is_some_and(|own| own != most && !sure.contains(&own)) {
            header_correction::correct_by_most(file, dir, most);
        }
    });
}
