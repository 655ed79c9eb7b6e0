//! Writing a region forest.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::bytes::index;
use crate::convert::before::Before;
use crate::convert::groups::{has_holes, regions, units};
use crate::convert::make::{Made, Maker};
use crate::convert::report::{Kind, Listed, Report};
use crate::convert::{Error, Work};
use crate::draft::{self, CHUNK, Draft};
use crate::godot::forest::Meta;
use crate::godot::region::{Entry, Format, Header, name_of, sectors_for};
use crate::godot::slots::{self, SlotFormula};
use crate::parallel;
use crate::resize::Fill;
use crate::save::ForestLayout;
use crate::watch::Step;
use crate::world::{At, Buffer};

/// Number of regions that are written before their results are merged.
const WINDOW: usize = 16;

/// Number of source blocks that are read before the converted blocks are written.
const BLOCKS: usize = 256;

/// Files that are synced at once.
const SYNCS: usize = 8;

/// Writes everything except `convert.json`. Returns the sector size that the largest block needs, if that is larger than
/// requested; the block is then listed as too large.
pub(super) fn write(work: &Work<'_>, draft: &Draft<'_>, report: &mut Report) -> Result<Option<u16>, Error> {
    let layout = work.layout;
    let format = layout.format();
    let meta = Meta {
        version: Some(3),
        block_size_po2: Some(format.block_size_po2),
        region_size_po2: u8::try_from(layout.region.trailing_zeros()).ok(),
        sector_size: Some(format.sector_size),
        depths: Some(format.depths),
        ..Meta::default()
    };
    draft.file(Path::new("meta.vxrm"), &meta.encode())?;
    if layout.tree == ForestLayout::Engine {
        draft.directory(Path::new("regions"))?;
    }
    let palettes = Palettes::collect(work);
    let before = Before::read(work, report);
    let mut needed = None;
    for lod in work.world.lods() {
        let index = work.world.index(lod);
        report.index(&index);
        let regions = regions(work, &index, report);
        let fill = if regions.values().any(|sources| has_holes(work, sources)) {
            Fill::measure(work.world, &index, work.watch)
        } else {
            Fill::default()
        };
        let maker = Maker { work, lod, fill: &fill, before: &before, window: BLOCKS };
        let mut buffer = Buffer::default();
        for at in &index.bare {
            work.world.fetch(at, &mut buffer)?;
            maker.instances(at, &mut buffer, report);
        }
        drop((index, buffer));
        let writing = Writing { work, draft, maker, format, palettes: &palettes };
        let regions: Vec<([i32; 3], Vec<At>)> = regions.into_iter().map(|([z, x, y], at)| ([x, y, z], at)).collect();
        // A block that several regions of the result have parts of is read for each of them.
        work.watch.begin(Step::Converting, regions.iter().map(|(_, sources)| sources.len() as u64).sum());
        for window in regions.chunks(WINDOW) {
            let parts: Vec<Result<FileOutcome, Error>> =
                parallel::map(window, |(region, sources)| writing.region(*region, sources));
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

/// The palettes of regions.
struct Palettes {
    by_region: BTreeMap<(u8, [i32; 3]), Box<[u8]>>,
    /// Whether regions of the result are the same as those of the source.
    same: bool,
    /// The palette that all regions share.
    one: Option<Box<[u8]>>,
}

impl Palettes {
    fn collect(work: &Work<'_>) -> Self {
        let files = work.world.forest().map_or(&[][..], |forest| &forest.regions);
        let mut by_region = BTreeMap::new();
        let mut size = None;
        for file in files {
            let Some(header) = &file.header else { continue };
            size = Some(header.format.region_size);
            if let Some(palette) = &header.palette {
                by_region.insert((file.lod, file.position), palette.clone());
            }
        }
        let same = work.layout.from == work.layout.to && size == Some([work.layout.region; 3]);
        let first: Option<&Box<[u8]>> = by_region.values().next();
        let one =
            first.filter(|first| by_region.len() == files.len() && by_region.values().all(|p| p == *first)).cloned();
        Self { by_region, same, one }
    }

    fn get(&self, lod: u8, region: [i32; 3]) -> Option<[u8; 1024]> {
        let own = if self.same { self.by_region.get(&(lod, region)) } else { None };
        own.or(self.one.as_ref()).and_then(|palette| palette[..].try_into().ok())
    }

    /// Lists palettes that the result cannot store, at their region's first block.
    fn list(&self, lod: u8, report: &mut Report) {
        if self.same || self.one.is_some() {
            return;
        }
        for ((_, region), palette) in self.by_region.iter().filter(|((own_lod, _), _)| *own_lod == lod) {
            report.listed.push(Listed {
                bytes: Some(palette.to_vec()),
                ..Listed::new(Kind::Palette, lod, *region, "the regions of the result are others".to_owned())
            });
        }
    }
}

/// The result of writing a region: its report, the sector size that its largest block needs if it is too large, and its file.
type FileOutcome = (Report, Option<u16>, Option<(File, PathBuf)>);

/// Syncs files, several at once, since the disk is the bottleneck.
fn sync(files: &[(File, PathBuf)]) -> Result<(), draft::Error> {
    std::thread::scope(|scope| {
        let parts = files.chunks(files.len().div_ceil(SYNCS).max(1));
        let sync = |(file, path): &(File, PathBuf)| file.sync_all().map_err(draft::Error::write(path));
        let mut threads = Vec::new();
        for part in parts {
            let work = move || part.iter().try_for_each(sync);
            match std::thread::Builder::new().spawn_scoped(scope, work) {
                Ok(thread) => threads.push(thread),
                // Without another thread, this one syncs.
                Err(_) => part.iter().try_for_each(sync)?,
            }
        }
        // The threads do not panic; if one did, its file counts as not synced.
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or(Err(draft::Error::Interrupted)))
    })
}

struct Writing<'w> {
    work: &'w Work<'w>,
    draft: &'w Draft<'w>,
    maker: Maker<'w>,
    format: Format,
    palettes: &'w Palettes,
}

impl Writing<'_> {
    /// Writes one region without syncing it.
    fn region(&self, region: [i32; 3], sources: &[At]) -> Result<FileOutcome, Error> {
        let lod = self.maker.lod;
        let mut report = Report::default();
        let mut needed = None;
        let mut out = None;
        let size = [self.work.layout.region; 3];
        let place = |position| slots::place_block(position, size, SlotFormula::Euclidean);
        let keep = |position| place(position).is_some_and(|(own, _)| own == region);
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
        let units = units(self.work, sources);
        self.maker.make_all(&units, self.draft, &keep, &mut report, &mut sink)?;
        let file = out.map(RegionWriter::finish).transpose()?;
        Ok((report, needed, file))
    }

    fn create(&self, region: [i32; 3]) -> Result<RegionWriter, draft::Error> {
        let header = match self.palettes.get(self.maker.lod, region) {
            Some(palette) => Header::with_palette(self.format, palette),
            None => Header::new(3, self.format),
        };
        let dir = self.work.layout.tree.lod_dir(self.maker.lod);
        let (file, path) = self.draft.create(&dir.join(name_of(region)))?;
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
    fn new(file: File, path: PathBuf, header: Header) -> Result<Self, draft::Error> {
        let mut out = BufWriter::with_capacity(CHUNK, file);
        let table = vec![Entry::default(); index(u64::from(header.format.table_len()))];
        let mut bytes = Vec::new();
        header.encode(&mut bytes).map_err(|error| draft::Error::write(&path)(error.into()))?;
        bytes.resize(index(header.table.end), 0);
        out.write_all(&bytes).map_err(draft::Error::write(&path))?;
        bytes.clear();
        Ok(Self { out, path, header, table, next: 0, bytes })
    }

    /// Appends a block. If it needs more than 255 sectors, writes nothing and returns the sector size that it needs.
    fn push(&mut self, slot: u32, container: &[u8]) -> Result<Option<Option<u16>>, draft::Error> {
        let sector = self.header.format.sector_size;
        let len = container.len() as u64;
        let (Ok(count), Ok(size)) = (u8::try_from(sectors_for(len, sector)), u32::try_from(len)) else {
            let sector = (len + 4).div_ceil(255).checked_next_power_of_two();
            return Ok(Some(
                sector.and_then(|n| u16::try_from(n.min(65535)).ok()).filter(|&n| u64::from(n) * 255 >= len + 4),
            ));
        };
        let padding = index(u64::from(count) * u64::from(sector) - len - 4);
        self.bytes.clear();
        self.bytes.resize(padding, 0);
        let written = self.out.write_all(&size.to_le_bytes()).and_then(|()| self.out.write_all(container));
        let written = written.and_then(|()| self.out.write_all(&self.bytes));
        written.map_err(draft::Error::write(&self.path))?;
        if let Some(entry) = self.table.get_mut(index(u64::from(slot))) {
            *entry = Entry::new(self.next, count);
        }
        self.next = self.next.saturating_add(count.into());
        Ok(None)
    }

    /// Writes the table; returns the file, which is not synced yet.
    fn finish(mut self) -> Result<(File, PathBuf), draft::Error> {
        self.bytes.clear();
        self.bytes.extend(self.table.iter().flat_map(|entry| entry.0.to_le_bytes()));
        let table = SeekFrom::Start(self.header.table.start);
        let written = self.out.seek(table).and_then(|_| self.out.write_all(&self.bytes));
        written.map_err(draft::Error::write(&self.path))?;
        let file = self.out.into_inner().map_err(|error| draft::Error::write(&self.path)(error.into_error()))?;
        Ok((file, self.path))
    }
}
