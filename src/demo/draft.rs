//! A small save in memory that can be altered before it is written.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::demo::forest::{self, Extent, ForestSpec};
use crate::demo::terrain::Terrain;
use crate::godot::container::{self, Decoder, Mode};
use crate::godot::region::{Builder, Entry, Format, Header, MAX_HEADER_BYTES};
use crate::limits::Limits;
use crate::save::{Options, Region};

/// The meta file.
pub(super) const META: &str = "meta.vxrm";
/// The region file that samples alter.
pub(super) const REGION: &str = "regions/lod0/r.0.0.0.vxr";

/// Files by their paths below the save's directory.
pub(super) struct Draft {
    pub files: BTreeMap<PathBuf, Vec<u8>>,
    format: Format,
}

/// The place of a block in a healthy region file.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    /// Its slot.
    pub slot: u32,
    /// Its entry.
    pub entry: Entry,
    /// Offset of its entry.
    pub entry_at: usize,
    /// Offset of its size prefix.
    pub start: usize,
    /// Offset just past its container.
    pub end: usize,
    /// Offset just past its sectors.
    pub sectors_end: usize,
}

/// The forest that samples alter: twelve blocks in two regions, of which only the first is altered.
pub(super) fn spec() -> ForestSpec {
    ForestSpec {
        terrain: Terrain { reach: 4.0, ..Terrain::new(1) },
        lods: vec![Extent { from: [-1, 0, 0], to: [2, 2, 2] }],
        metadata: false,
        ..ForestSpec::default()
    }
}

impl Draft {
    pub fn build(spec: &ForestSpec) -> io::Result<Self> {
        Ok(Self { files: spec.build()?, format: spec.format() })
    }

    /// An existing file.
    pub fn file(&mut self, name: &str) -> io::Result<&mut Vec<u8>> {
        self.files.get_mut(Path::new(name)).ok_or_else(|| unmade("a file is not there"))
    }

    pub fn put(&mut self, name: &str, bytes: impl Into<Vec<u8>>) {
        self.files.insert(PathBuf::from(name), bytes.into());
    }

    pub fn remove(&mut self, name: &str) {
        self.files.remove(Path::new(name));
    }

    /// Removes the files of a directory.
    pub fn remove_all(&mut self, dir: &str) {
        self.files.retain(|path, _| !path.starts_with(dir));
    }

    /// The same files at other paths.
    pub fn moved(self, path: impl Fn(&Path) -> &Path) -> Self {
        let files = self.files.into_iter().map(|(from, bytes)| (path(&from).to_owned(), bytes)).collect();
        Self { files, ..self }
    }

    pub fn write(&self, dir: &Path) -> io::Result<()> {
        self.files.iter().try_for_each(|(below, bytes)| forest::write_new(dir, below, bytes))
    }

    /// A region file, read by the library's own reader.
    pub fn read(&mut self, name: &str) -> io::Result<Region<Vec<u8>>> {
        let format = self.format;
        let bytes = self.file(name)?.clone();
        let prefix = &bytes[..bytes.len().min(MAX_HEADER_BYTES)];
        let header = Header::decode(prefix, bytes.len() as u64, Some(&format)).report_to(&mut Vec::new());
        let header = header.ok_or_else(|| unmade("a region without header"))?;
        Region::load(bytes, header, 0, [0; 3], &Options::default())
    }

    /// The blocks of a region file, in the order of their sectors.
    pub fn blocks(&mut self, name: &str) -> io::Result<Vec<At>> {
        let region = self.read(name)?;
        let at = |listed: crate::save::Listed| {
            let span = region.span(listed.entry);
            let start = span.start as usize;
            let prefix = region.source.get(start..).and_then(<[u8]>::first_chunk::<4>)?;
            Some(At {
                slot: listed.slot,
                entry: listed.entry,
                entry_at: region.entry_span(listed.slot).start as usize,
                start,
                end: start + 4 + u32::from_le_bytes(*prefix) as usize,
                sectors_end: span.end as usize,
            })
        };
        region.by_sector().into_iter().map(at).collect::<Option<_>>().ok_or_else(|| unmade("a block outside its file"))
    }

    /// Replaces the container of a block and rebuilds its region.
    pub fn replace(&mut self, name: &str, slot: u32, container: &[u8]) -> io::Result<()> {
        let mut builder = Builder::new(self.read(name)?.header);
        let blocks = self.blocks(name)?;
        let bytes = self.file(name)?;
        for at in blocks {
            let old = bytes.get(at.start + 4..at.end).unwrap_or_default();
            let container = if at.slot == slot { container } else { old };
            builder.push(at.slot, container).ok_or_else(|| unmade("a block that is too large"))?;
        }
        *bytes = builder.finish()?;
        Ok(())
    }

    /// The data of a block, decompressed.
    pub fn plain(&mut self, name: &str, at: At) -> io::Result<Vec<u8>> {
        let bytes = self.file(name)?;
        let mut damage = Vec::new();
        let mut decoder = Decoder::default();
        let packed = bytes.get(at.start + 4..at.end).unwrap_or_default();
        let container = decoder.decode(packed, &Limits::DEFAULT).report_to(&mut damage);
        if container.whole { Ok(container.plain.to_vec()) } else { Err(unmade("a block that does not decode")) }
    }
}

/// The block that samples damage: the largest one with blocks before and after it.
pub(super) fn victim(blocks: &[At]) -> io::Result<At> {
    let inner = blocks.get(1..blocks.len().saturating_sub(1)).unwrap_or_default();
    inner
        .iter()
        .max_by_key(|at| at.end - at.start)
        .copied()
        .ok_or_else(|| unmade("a region of fewer than three blocks"))
}

/// Makes a sample of the small forest by altering its files.
pub(super) fn alter(dir: &Path, change: impl FnOnce(&mut Draft) -> io::Result<()>) -> io::Result<()> {
    alter_of(&spec(), dir, change)
}

/// Makes a sample of a forest by altering its files.
pub(super) fn alter_of(
    spec: &ForestSpec,
    dir: &Path,
    change: impl FnOnce(&mut Draft) -> io::Result<()>,
) -> io::Result<()> {
    let mut draft = Draft::build(spec)?;
    change(&mut draft)?;
    draft.write(dir)
}

/// Alters the text of the meta file by replacing a part of it.
pub(super) fn meta(dir: &Path, from: &str, to: &str) -> io::Result<()> {
    alter(dir, |draft| {
        let file = draft.file(META)?;
        let text = String::from_utf8_lossy(file).into_owned();
        if !text.contains(from) {
            return Err(unmade("a text that is not in the meta file"));
        }
        *file = text.replacen(from, to, 1).into_bytes();
        Ok(())
    })
}

/// Alters bytes of the region file; the closure receives its blocks and the one to damage.
pub(super) fn region(dir: &Path, change: impl FnOnce(&mut Vec<u8>, &[At], At)) -> io::Result<()> {
    region_of(&spec(), dir, change)
}

/// As [`region`], in another forest.
pub(super) fn region_of(spec: &ForestSpec, dir: &Path, change: impl FnOnce(&mut Vec<u8>, &[At], At)) -> io::Result<()> {
    alter_of(spec, dir, |draft| {
        let blocks = draft.blocks(REGION)?;
        change(draft.file(REGION)?, &blocks, victim(&blocks)?);
        Ok(())
    })
}

/// Alters the decompressed data of a block and compresses it again.
pub(super) fn plain(dir: &Path, change: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
    container(dir, Mode::Lz4, |plain, container| {
        change(plain);
        container::encode(Mode::Lz4, plain, container);
    })
}

/// Replaces the container of a block; the closure receives its data and an empty container.
pub(super) fn container(dir: &Path, mode: Mode, change: impl FnOnce(&mut Vec<u8>, &mut Vec<u8>)) -> io::Result<()> {
    alter_of(&ForestSpec { mode, ..spec() }, dir, |draft| {
        let at = victim(&draft.blocks(REGION)?)?;
        let mut data = draft.plain(REGION, at)?;
        let mut packed = Vec::new();
        change(&mut data, &mut packed);
        draft.replace(REGION, at.slot, &packed)
    })
}

/// Overwrites bytes; bytes beyond the end are dropped.
pub(super) fn put(bytes: &mut [u8], at: usize, new: &[u8]) {
    for (to, from) in bytes.iter_mut().skip(at).zip(new) {
        *to = *from;
    }
}

pub(super) fn put_u32(bytes: &mut [u8], at: usize, n: u32) {
    put(bytes, at, &n.to_le_bytes());
}

pub(super) fn unmade(what: &str) -> io::Error {
    io::Error::other(format!("the sample cannot be made: {what}"))
}
