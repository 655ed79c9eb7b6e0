//! Finding saves of `VoxelStreamBlockFiles`: `meta.vxbm` and a file for each block, `blocks/lodN/PXPYPZ.vxb`.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::names::canonical;
use super::{Entry, META_ABOVE, MetaRead, Scan, What};
use crate::bytes::Span;
use crate::damage::{Code, Damage, Value};
use crate::godot::block::BlockLayout;
use crate::godot::block_files::{
    self, BLOCK_MAGIC, MAX_LODS, MAX_META_BYTES, decode_block_file, layout, parse_position,
};
use crate::godot::forest;
use crate::godot::region::Format;
use crate::parallel;
use crate::save::block_layout;
use crate::save::{Forest, ForestLayout, Kind, Options, Region, RegionFile, Scratch, open_region};
use crate::source::{FileSource, Source};

/// Name of the meta file.
pub(crate) const META: &str = "meta.vxbm";
/// Name of the directory of LODs.
const BLOCKS: &str = "blocks";
/// Ending of the files of blocks.
const ENDING: &str = "vxb";
/// First bytes of a file that are read to find its block.
const PREFIX: usize = 9;
/// Blocks that are tried to infer a layout that the meta file does not give.
const PROBES: usize = 16;

/// Whether a file has the name of a block file.
pub(super) fn is_named(path: &Path) -> bool {
    path.extension() == Some(OsStr::new(ENDING))
}

/// Whether a name is that of a block file that a copy changed: other letter case, or something behind it.
fn is_copied_name(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let stem = name.split_once(ENDING).and_then(|(stem, _)| stem.strip_suffix('.'));
    stem.is_some_and(|stem| parse_position(stem).is_some())
}

/// Whether a file begins as the file of a block.
pub(super) fn is_block(file: &FileSource) -> bool {
    let mut magic = [0; BLOCK_MAGIC.len()];
    file.read_at(0, &mut magic).is_ok() && magic == BLOCK_MAGIC
}

/// Whether the file at a path begins as the file of a block, or may: it cannot be opened.
pub(super) fn may_begin_as_block(path: &Path) -> bool {
    FileSource::open(path).map_or(true, |file| is_block(&file))
}

/// The save, if `dir` is its directory of blocks.
pub(super) fn save_above(dir: &Path) -> Option<PathBuf> {
    let real = fs::canonicalize(dir).ok()?;
    let parent = real.parent()?;
    // Its meta file may be missing.
    let is_blocks = real.file_name() == Some(OsStr::new(BLOCKS)) && (parent.join(META).is_file() || has_blocks(parent));
    is_blocks.then(|| parent.to_owned())
}

/// Whether a directory has directories of LODs with files of blocks.
pub(super) fn has_blocks(dir: &Path) -> bool {
    let list = |path: &Path| fs::read_dir(path).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    let lods = list(&dir.join(BLOCKS)).filter(|path| path.file_name().and_then(parse_lod).is_some());
    lods.into_iter().any(|lod| list(&lod).any(|path| is_named(&path)))
}

impl Scan<'_> {
    /// Adds the save of a directory with these entries; returns those that are not of the save.
    pub(super) fn block_files(&mut self, dir: &Path, entries: Vec<Entry>) -> Vec<Entry> {
        let (mut meta, mut regions, mut found) = (None, Vec::new(), false);
        let mut others = Vec::new();
        for (path, what) in entries {
            let name = path.file_name().unwrap_or_default();
            found |= name == META;
            match what {
                What::File if name == META => meta = self.block_meta(&path),
                What::File if name == BLOCKS => self.fault(&path, Code::NotAFile, "directory", None),
                What::Link if name == META || name == BLOCKS => self.fault(&path, Code::LinkSkipped, "file", None),
                What::Other if name == META || name == BLOCKS => self.fault(&path, Code::NotAFile, "file", None),
                What::Directory if name == META => self.fault(&path, Code::NotAFile, "meta file", None),
                What::Directory if name == BLOCKS => self.block_lods(dir, &path, &mut regions),
                // The engine looks for blocks in the directories of LODs only.
                What::File if is_named(&path) && may_begin_as_block(&path) => {
                    self.fault(&path, Code::BlockFileName, "place of the file", None);
                }
                _ => others.push((path, what)),
            }
        }
        if !found {
            let missing = Damage::new(Code::BlockFilesMeta, Span::default(), "file").found(Value::Words("missing"));
            self.faults.push(super::Fault { path: dir.join(META), damage: missing, detail: None });
        }
        let count = meta.as_ref().and_then(|meta: &forest::Meta| meta.lod_count);
        let mut lods: Vec<u8> = regions.iter().map(|file: &RegionFile| file.lod).collect();
        lods.sort_unstable();
        lods.dedup();
        // A LOD may never have been saved.
        for lod in (0..count.unwrap_or(0)).filter(|lod| !lods.contains(lod)) {
            let damage = Damage::new(Code::LodMissing, Span::default(), "files of the LOD");
            let damage = damage.expected(Value::Number(count.unwrap_or(0).into())).found(Value::Number(lod.into()));
            self.faults.push(super::Fault { path: dir.join(META), damage, detail: None });
        }
        for lod in lods.into_iter().filter(|lod| count.is_some_and(|count| *lod >= count)) {
            let beyond = Damage::new(Code::BlockFilesMeta, Span::default(), "LOD").found(Value::Number(lod.into()));
            let beyond = beyond.expected(Value::AtMost(u64::from(count.unwrap_or(1)).saturating_sub(1)));
            self.faults.push(super::Fault {
                path: dir.join(BLOCKS).join(format!("lod{lod}")),
                damage: beyond,
                detail: None,
            });
        }
        self.fault(&dir.join(META), Code::BlockFilesRemoved, "format", None);
        self.push(Kind::BlockFiles, dir, ForestLayout::Engine, MetaRead { whole: meta, salvaged: None }, regions);
        others
    }

    fn block_lods(&mut self, save: &Path, dir: &Path, regions: &mut Vec<RegionFile>) {
        let mut foreign = Vec::new();
        for (path, what) in self.entries(dir) {
            match (path.file_name().and_then(parse_lod), what) {
                (Some(lod), What::Directory) => {
                    let mut foreign = Vec::new();
                    for (path, what) in self.entries(&path) {
                        let is_copied = || what == What::File && is_copied_name(&path) && may_begin_as_block(&path);
                        match is_named(&path) || is_copied() {
                            true => self.block_file(save, &path, lod, what, regions),
                            false => foreign.push((path, what)),
                        }
                    }
                    self.foreign(&path, foreign, None);
                }
                (Some(_), What::Link) => self.fault(&path, Code::LinkSkipped, "directory of a LOD", None),
                (Some(_), What::Other) => self.fault(&path, Code::NotAFile, "directory of a LOD", None),
                (Some(_), What::File) => self.fault(&path, Code::NotAFile, "directory", None),
                (None, what) => foreign.push((path, what)),
            }
        }
        self.foreign(dir, foreign, None);
    }

    fn block_file(&mut self, save: &Path, path: &Path, lod: u8, what: What, regions: &mut Vec<RegionFile>) {
        let stem = path.file_stem().and_then(OsStr::to_str);
        match (stem.and_then(parse_position), what) {
            (Some(position), What::File) => {
                let below = path.strip_prefix(save).unwrap_or(path);
                regions.push(RegionFile::named(below, lod, position));
            }
            (Some(_), What::Link) => self.fault(path, Code::LinkSkipped, "file", None),
            (Some(_), _) => self.fault(path, Code::NotAFile, "file", None),
            (None, _) => self.fault(path, Code::BlockFileName, "name of the file", None),
        }
    }

    /// Files of blocks outside of a save, or of a save that was not opened as a whole.
    pub(super) fn loose_blocks(&mut self, dir: &Path, paths: &[PathBuf]) {
        // A relative path does not name its parents.
        let real = fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
        let meta = real.ancestors().take(META_ABOVE).map(|dir| dir.join(META)).find(|path| path.is_file());
        let meta = meta.and_then(|path| self.block_meta(&path));
        let mut regions = Vec::new();
        for path in paths {
            let Some(name) = path.file_name() else { continue };
            let position = path.file_stem().and_then(OsStr::to_str).and_then(parse_position);
            if position.is_none() {
                self.fault(path, Code::BlockFileName, "name of the file", None);
            }
            regions.push(RegionFile::loose(&real, name, position.unwrap_or_default()));
        }
        self.fault(dir, Code::BlockFilesRemoved, "format", None);
        self.push(Kind::BlockFiles, dir, ForestLayout::Engine, MetaRead { whole: meta, salvaged: None }, regions);
    }

    fn block_meta(&mut self, path: &Path) -> Option<forest::Meta> {
        let mut data = Vec::new();
        // One byte more than the largest has shows that a file is too long.
        let read = FileSource::open(path).and_then(|file| Ok(file.read_into(0, MAX_META_BYTES + 1, &mut data)?));
        if let Err(error) = read {
            self.fault(path, error.code(), "meta file", Some(error.to_string()));
            return None;
        }
        let mut damage = Vec::new();
        let meta = block_files::Meta::decode(&data).report_to(&mut damage);
        for damage in damage {
            self.faults.push(super::Fault { path: path.to_owned(), damage, detail: None });
        }
        meta.map(|meta| forest::Meta {
            version: Some(block_files::VERSION),
            block_size_po2: meta.block_size_po2,
            depths: meta.depths,
            lod_count: meta.lod_count,
            ..forest::Meta::default()
        })
    }
}

/// The layout of the blocks by a meta file.
pub(super) fn format_of(meta: &forest::Meta) -> Option<Format> {
    Some(layout(meta.block_size_po2?, meta.depths?))
}

/// Reads the headers of all files. If the meta file does not give the layout, the first readable block does.
pub(super) fn read_headers(forest: &mut Forest, options: &Options) {
    let Forest { dir, format, regions, .. } = forest;
    parallel::each_mut(regions, |file| read_header(file, dir, format.as_ref()));
    if format.is_none() {
        *format = regions.iter().take(PROBES).find_map(|file| probe(file, dir, options));
        *format = format.or_else(|| infer(regions, dir, options));
        let Some(format) = format else { return };
        for header in regions.iter_mut().filter_map(|file| file.header.as_mut()) {
            header.format = Format { sector_size: header.format.sector_size, ..*format };
        }
    }
}

fn read_header(file: &mut RegionFile, dir: &Path, outside: Option<&Format>) {
    let mut prefix = Vec::new();
    let damage = &mut file.damage;
    let read = open_region(&dir.join(&file.name)).and_then(|(source, undone)| {
        damage.extend(undone);
        source.read_into(0, PREFIX, &mut prefix)?;
        Ok(source.len())
    });
    match read {
        Ok(len) => {
            file.len = len;
            file.header = decode_block_file(&prefix, len, outside).report_to(&mut file.damage);
        }
        Err(error) => file.refuse(&error),
    }
}

/// The layout of a block that stores it, which those of version 1 do not.
fn probe(file: &RegionFile, dir: &Path, options: &Options) -> Option<Format> {
    let (source, _) = open_region(&dir.join(&file.name)).ok()?;
    let region = Region::load(source, file.header.clone()?, file.lod, file.position, options).ok()?;
    let mut scratch = Scratch::default();
    let entry = region.entries.first()?.entry;
    let view = region.view(entry, &mut scratch).ok().filter(|view| view.is_readable())?;
    let block = view.block.filter(|block| block.version > 1)?;
    let [size, ..] = block.size;
    if block.size != [size; 3] || !size.is_power_of_two() {
        return None;
    }
    let mut depths = [crate::godot::channel::Depth::default(); crate::godot::channel::CHANNELS];
    for (depth, channel) in depths.iter_mut().zip(&block.channels) {
        *depth = channel.depth;
    }
    Some(layout(u8::try_from(size.trailing_zeros()).ok()?, depths))
}

/// The layout of blocks of version 1, which do not store it: the only usual one by which the channels of some of them end where
/// they do, if these agree.
fn infer(regions: &[RegionFile], dir: &Path, options: &Options) -> Option<Format> {
    let mut scratch = Scratch::default();
    let mut shown: Option<BlockLayout> = None;
    for file in regions.iter().take(PROBES) {
        let Some(header) = file.header.clone() else { continue };
        let Ok((source, _)) = open_region(&dir.join(&file.name)) else { continue };
        let Ok(region) = Region::load(source, header, file.lod, file.position, options) else { continue };
        let Some(listed) = region.entries.first() else { continue };
        let Ok(view) = region.view(listed.entry, &mut scratch) else { continue };
        let Some(container) = view.container.filter(|container| container.whole) else { continue };
        let Some(found) = block_layout::infer(container.plain).filter(|found| found.is_only) else { continue };
        if shown.is_some_and(|shown| shown != found.layout) {
            return None;
        }
        shown = Some(found.layout);
    }
    let BlockLayout { size: [side, ..], depths } = shown?;
    Some(layout(u8::try_from(side.trailing_zeros()).ok()?, depths))
}

/// `lodN`, N from 0 to 31.
fn parse_lod(name: &OsStr) -> Option<u8> {
    let digits = name.to_str()?.strip_prefix("lod")?;
    canonical(digits)?.try_into().ok().filter(|&lod: &u8| lod < MAX_LODS)
}
