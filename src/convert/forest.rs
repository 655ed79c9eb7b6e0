//! Writing a region forest.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::beside::{self, CHUNK, Draft};
use crate::bytes::index;
use crate::convert::before::Before;
use crate::convert::groups::{has_holes, regions, units};
use crate::convert::make::{Made, Maker};
use crate::convert::report::{Kind, Listed, Report};
use crate::convert::{Error, Work};
use crate::godot::forest::Meta;
use crate::godot::region::{Entry, Format, Header, sectors_for};
use crate::godot::slots::{self, Slots};
use crate::resize::Fill;
use crate::world::At;

/// Regions that are worked on before what came of them is put together.
const WINDOW: usize = 32;

/// Blocks of the source that are read before what came of them is written.
const BLOCKS: usize = 256;

/// Files that are synced at once.
const SYNCS: usize = 8;

/// Writes everything but `convert.json`. Gives the size of sectors that the largest block needs, when that is more than
/// is asked for; the block is listed as too large then.
pub(super) fn write(work: &Work<'_>, draft: &Draft<'_>, report: &mut Report) -> Result<Option<u16>, Error> {
    let layout = work.layout;
    let format = Format {
        block_size_po2: u8::try_from(layout.to.trailing_zeros()).unwrap_or(0),
        region_size: [layout.region; 3],
        depths: layout.depths,
        sector_size: layout.sector.into(),
    };
    let meta = Meta {
        version: Some(3),
        block_size_po2: Some(format.block_size_po2),
        region_size_po2: u8::try_from(layout.region.trailing_zeros()).ok(),
        sector_size: Some(format.sector_size),
        depths: Some(format.depths),
        ..Meta::default()
    };
    draft.file(Path::new("meta.vxrm"), &meta.encode())?;
    draft.directory(Path::new("regions"))?;
    let palettes = Palettes::of(work);
    let before = Before::of(work);
    let mut needed = None;
    for lod in work.world.lods() {
        let index = work.world.index(lod);
        report.index(&index);
        let regions = regions(work, &index, report);
        let fill = if regions.values().any(|sources| has_holes(work, sources)) {
            Fill::of(work.world, &index, &|| work.stopped())
        } else {
            Fill::default()
        };
        for at in &index.bare {
            report.list(Kind::Instances, lod, at.position, "a forest has no place for them".to_owned());
        }
        let done = AtomicU64::new(0);
        let all = index.blocks.len() as u64;
        drop(index);
        let writing = Writing {
            work,
            draft,
            maker: Maker { work, lod, fill: &fill, before: &before, window: BLOCKS },
            format,
            palettes: &palettes,
            done: &done,
            all,
        };
        let regions: Vec<([i32; 3], Vec<At>)> = regions.into_iter().map(|([z, x, y], at)| ([x, y, z], at)).collect();
        for window in regions.chunks(WINDOW) {
            let parts: Vec<Result<Part, Error>> =
                window.par_iter().map(|(region, sources)| writing.region(*region, sources)).collect();
            let mut files = Vec::new();
            for part in parts {
                let (part, more, file) = part?;
                report.merge(part);
                needed = needed.max(more);
                files.extend(file);
            }
            sync(&files)?;
        }
        palettes.list(lod, report);
    }
    Ok(needed)
}

/// The colours of regions.
struct Palettes {
    of: BTreeMap<(u8, [i32; 3]), Box<[u8]>>,
    /// Whether a region of the result is a region of the source.
    same: bool,
    /// The one that all regions have.
    one: Option<Box<[u8]>>,
}

impl Palettes {
    fn of(work: &Work<'_>) -> Self {
        let files = work.world.forest().map_or(&[][..], |forest| &forest.regions);
        let mut of = BTreeMap::new();
        let mut size = None;
        for file in files {
            let Some(header) = &file.header else { continue };
            size = Some(header.format.region_size);
            if let Some(palette) = &header.palette {
                of.insert((file.lod, file.position), palette.clone());
            }
        }
        let same = work.layout.from == work.layout.to && size == Some([work.layout.region; 3]);
        let first: Option<&Box<[u8]>> = of.values().next();
        let one = first.filter(|first| of.len() == files.len() && of.values().all(|p| p == *first)).cloned();
        Self { of, same, one }
    }

    fn get(&self, lod: u8, region: [i32; 3]) -> Option<[u8; 1024]> {
        let own = if self.same { self.of.get(&(lod, region)) } else { None };
        own.or(self.one.as_ref()).and_then(|palette| palette[..].try_into().ok())
    }

    /// Those that have no place in the result, at their region's first block.
    fn list(&self, lod: u8, report: &mut Report) {
        if self.same || self.one.is_some() {
            return;
        }
        for ((_, region), palette) in self.of.iter().filter(|((of, _), _)| *of == lod) {
            report.listed.push(Listed {
                bytes: Some(palette.to_vec()),
                ..Listed::new(Kind::Palette, lod, *region, "the regions of the result are others".to_owned())
            });
        }
    }
}

/// What came of a region: the size of sectors that its largest block needs, when that is more than there is, and its file.
type Part = (Report, Option<u16>, Option<(File, PathBuf)>);

/// Makes sure that files are on the disk; several at once, as it is the disk that takes the time.
fn sync(files: &[(File, PathBuf)]) -> Result<(), beside::Error> {
    std::thread::scope(|scope| {
        let parts = files.chunks(files.len().div_ceil(SYNCS).max(1));
        let sync = |(file, path): &(File, PathBuf)| file.sync_all().map_err(beside::Error::write(path));
        let threads: Vec<_> = parts.map(|part| scope.spawn(move || part.iter().try_for_each(sync))).collect();
        // There is nothing in the threads that can panic; what is not known to be synced is not on the disk.
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or(Err(beside::Error::Interrupted)))
    })
}

struct Writing<'w> {
    work: &'w Work<'w>,
    draft: &'w Draft<'w>,
    maker: Maker<'w>,
    format: Format,
    palettes: &'w Palettes,
    done: &'w AtomicU64,
    all: u64,
}

impl Writing<'_> {
    /// Writes one region, which is not synced yet.
    fn region(&self, region: [i32; 3], sources: &[At]) -> Result<Part, Error> {
        let lod = self.maker.lod;
        let mut report = Report::default();
        let mut needed = None;
        let mut out = None;
        let size = [self.work.layout.region; 3];
        let place = |position| slots::place_block(position, size, Slots::New);
        let keep = |position| place(position).is_some_and(|(of, _)| of == region);
        let mut sink = |Made { position, container, .. }: Made, report: &mut Report| {
            let Some((_, slot)) = place(position) else { return Ok(()) };
            let out = match &mut out {
                Some(out) => out,
                None => out.insert(self.create(region)?),
            };
            if let Some(sector) = out.push(slot, &container)? {
                needed = needed.max(sector);
                report.written -= 1;
                let why = format!("{} bytes are more than 255 sectors", container.len());
                report.list(Kind::TooLarge, lod, position, why);
            }
            Ok(())
        };
        let mut progress = |read| {
            let done = self.done.fetch_add(read, Ordering::Relaxed) + read;
            if let Some(progress) = self.work.options.progress {
                progress(done.min(self.all), self.all);
            }
        };
        let units = units(self.work, sources);
        self.maker.all(&units, self.draft, &keep, &mut report, &mut sink, &mut progress)?;
        let file = out.map(RegionWriter::finish).transpose()?;
        Ok((report, needed, file))
    }

    fn create(&self, region: [i32; 3]) -> Result<RegionWriter, beside::Error> {
        let header = match self.palettes.get(self.maker.lod, region) {
            Some(palette) => Header::with_palette(self.format, palette),
            None => Header::new(3, self.format),
        };
        let [x, y, z] = region;
        let name = format!("regions/lod{}/r.{x}.{y}.{z}.vxr", self.maker.lod);
        let (file, path) = self.draft.create(Path::new(&name))?;
        RegionWriter::new(file, path, header)
    }
}

/// A region file that is written block by block; its table comes last.
struct RegionWriter {
    out: BufWriter<File>,
    path: PathBuf,
    header: Header,
    table: Vec<Entry>,
    next: u32,
    /// Zeros, then the table.
    bytes: Vec<u8>,
}

impl RegionWriter {
    fn new(file: File, path: PathBuf, header: Header) -> Result<Self, beside::Error> {
        let mut out = BufWriter::with_capacity(CHUNK, file);
        let table = vec![Entry::default(); index(u64::from(header.format.slots()))];
        let mut bytes = Vec::new();
        header.encode(&mut bytes);
        bytes.resize(index(header.table.end), 0);
        out.write_all(&bytes).map_err(beside::Error::write(&path))?;
        bytes.clear();
        Ok(Self { out, path, header, table, next: 0, bytes })
    }

    /// Appends a block. Gives the size of sectors that it would need, and writes nothing, when it takes too many.
    fn push(&mut self, slot: u32, container: &[u8]) -> Result<Option<Option<u16>>, beside::Error> {
        let sector = self.header.format.sector_size;
        let len = container.len() as u64;
        let (Ok(count), Ok(size)) = (u8::try_from(sectors_for(len, sector)), u32::try_from(len)) else {
            let sector = (len + 4).div_ceil(255).checked_next_power_of_two();
            return Ok(Some(
                sector.and_then(|n| u16::try_from(n.min(65535)).ok()).filter(|&n| u64::from(n) * 255 >= len + 4),
            ));
        };
        let padding = index(u64::from(count) * u64::from(sector) - len - 4);
        self.bytes.resize(padding.max(self.bytes.len()), 0);
        let written = self.out.write_all(&size.to_le_bytes()).and_then(|()| self.out.write_all(container));
        let written = written.and_then(|()| self.out.write_all(&self.bytes[..padding]));
        written.map_err(beside::Error::write(&self.path))?;
        if let Some(entry) = self.table.get_mut(index(u64::from(slot))) {
            *entry = Entry::new(self.next, count);
        }
        self.next = self.next.saturating_add(count.into());
        Ok(None)
    }

    /// Writes the table; gives the file, which is not synced yet.
    fn finish(mut self) -> Result<(File, PathBuf), beside::Error> {
        self.bytes.clear();
        self.bytes.extend(self.table.iter().flat_map(|entry| entry.0.to_le_bytes()));
        let table = SeekFrom::Start(self.header.table.start);
        let written = self.out.seek(table).and_then(|_| self.out.write_all(&self.bytes));
        written.map_err(beside::Error::write(&self.path))?;
        let file = self.out.into_inner().map_err(|error| beside::Error::write(&self.path)(error.into_error()))?;
        Ok((file, self.path))
    }
}
