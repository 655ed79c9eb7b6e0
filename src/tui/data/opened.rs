//! A file that is open: its table, its sector map, and where its bytes come from.

use std::io;

use super::index::{Index, Item, ItemId};
use crate::bytes::Span;
use crate::damage::Damage;
use crate::godot::slots::SlotFormula;
use crate::save::{Owner, Pak, Region, Run, Scratch, SectorMap, Stream};
use crate::source::{FileSource, Source};
pub use crate::voxel_map::grid::LayerFile as Part;
use crate::voxel_map::grid::{BLOCK_VOXELS, Grid};
use crate::voxel_map::map_json::{Layer, plain_name};
use crate::voxel_map::npy::Npy;

/// What a file holds.
#[derive(Debug)]
pub enum Store {
    /// A region whose table has been read.
    Region(Box<Region<FileSource>>, SlotFormula),
    /// A pak region whose records have been read.
    Pak(Box<Pak<FileSource>>),
    /// A stream whose keys have been read.
    Stream(Box<Stream<FileSource>>),
    /// A layer whose files are open, and its description in the map.
    Layer(Box<Grid<FileSource>>, Box<Layer>),
    /// Bytes only: a file that describes others, or one whose header locates no block.
    Bytes(FileSource),
}

/// A block of an open file: an entry of the table, a record, a row of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Its number.
    pub slot: u32,
    /// Its first sector.
    pub first: u64,
    /// How many sectors.
    pub count: u64,
    /// Its LOD, where a file has several; otherwise 0.
    pub lod: u8,
    /// Its position, in blocks.
    pub position: Option<[i32; 3]>,
}

impl Slot {
    /// Whether its entry covers a sector.
    #[must_use]
    pub fn has_sector(&self, sector: u64) -> bool {
        (self.first..self.first + self.count).contains(&sector)
    }
}

/// A file that is open.
#[derive(Debug)]
pub struct Opened {
    /// What was opened.
    pub item: ItemId,
    /// What it holds.
    pub store: Store,
    /// Who owns which part of it.
    pub sectors: SectorMap,
    /// Its blocks, by slot.
    pub slots: Vec<Slot>,
    /// What is wrong with header and table.
    pub damage: Vec<Damage>,
    /// The file of a layer's block coordinates.
    pub index_file: Option<FileSource>,
    /// The header of an array that is no part of a map.
    pub bare_array: Option<Npy>,
}

impl Opened {
    /// Opens an item of the tree and reads its table.
    ///
    /// # Errors
    /// A sentence with the file's name, when it cannot be read.
    pub fn open(index: &Index, item: ItemId) -> Result<Self, String> {
        let shown = index.shown(item);
        let failed = |error: &dyn std::fmt::Display| format!("{shown}: {error}");
        let path = index.paths.get(item).ok_or_else(|| failed(&"it is gone"))?;
        let save = &index.save;
        let mut damage = Vec::new();
        let store = match index.items.get(item) {
            Some(&Item::Region(forest, file)) => {
                let forest = save.forests.get(forest);
                let pair = forest.and_then(|forest| Some((forest, forest.regions.get(file)?)));
                let (forest, file) = pair.ok_or_else(|| failed(&"it is gone"))?;
                damage.extend(file.damage.iter().copied());
                match save.region(forest, file).map_err(|error| failed(&error))? {
                    Some(mut region) => {
                        let slots = region.slots(&mut Scratch::default()).map_err(|error| failed(&error))?;
                        damage.append(&mut region.damage.clone());
                        Some(Store::Region(Box::new(region), slots))
                    }
                    None => None,
                }
            }
            Some(&Item::Pak(room, file)) => {
                let room = save.pak_dirs.get(room);
                let pair = room.and_then(|room| Some((room, room.files.get(file)?)));
                let (room, file) = pair.ok_or_else(|| failed(&"it is gone"))?;
                let pak = save.pak(room, file, &mut damage).map_err(|error| failed(&error))?;
                pak.map(|pak| {
                    damage.extend(pak.damage.iter().copied());
                    Store::Pak(Box::new(pak))
                })
            }
            Some(&Item::Stream(file)) => {
                let file = save.streams.get(file).ok_or_else(|| failed(&"it is gone"))?;
                let stream = save.stream(file, &mut damage).map_err(|error| failed(&error))?;
                stream.map(|stream| {
                    damage.extend(stream.damage.iter().copied());
                    Store::Stream(Box::new(stream))
                })
            }
            Some(&Item::Layer(map, layer)) => {
                let map = save.maps.get(map).ok_or_else(|| failed(&"it is gone"))?;
                let layer = map.layers().nth(layer).ok_or_else(|| failed(&"the layer is gone"))?;
                let grid = map.grid(layer, &save.options.limits);
                Some(Store::Layer(Box::new(grid), Box::new(layer.clone())))
            }
            Some(Item::Plain) | None => None,
        };
        let store = match store {
            Some(store) => store,
            None => Store::Bytes(FileSource::open(path).map_err(|error| failed(&error))?),
        };
        let index_file = match (&store, path.parent()) {
            (Store::Layer(_, layer), Some(dir)) => {
                let name = layer.index_file.as_deref().filter(|name| plain_name(name).is_ok());
                name.and_then(|name| FileSource::open(&dir.join(name)).ok())
            }
            _ => None,
        };
        let bare_array = match &store {
            Store::Bytes(source) => Npy::open(source).ok().and_then(|decoded| decoded.value),
            _ => None,
        };
        let (sectors, slots) = contents(&store);
        Ok(Self { item, store, sectors, slots, damage, index_file, bare_array })
    }

    /// The block in a slot.
    #[must_use]
    pub fn slot(&self, slot: u32) -> Option<&Slot> {
        let at = self.slots.binary_search_by_key(&slot, |s| s.slot).ok()?;
        self.slots.get(at)
    }

    /// The block at a position, in blocks of a LOD; where the file has one LOD only, of that.
    #[must_use]
    pub fn at(&self, lod: u8, position: [i32; 3]) -> Option<&Slot> {
        let lod = if self.stream().is_some() { lod } else { 0 };
        self.slots.iter().find(|slot| slot.position == Some(position) && slot.lod == lod)
    }

    /// What a part of the map is: a sector, of a stream a page, of an array of blocks a row, of another array a part.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        match &self.store {
            Store::Layer(grid, _) if grid.index.is_empty() => "part",
            Store::Layer(..) => "row",
            Store::Stream(_) => "page",
            _ => "sector",
        }
    }

    /// Whether the file consists of sectors: one that describes others does not, nor does an array.
    #[must_use]
    pub const fn has_sectors(&self) -> bool {
        !matches!(self.store, Store::Bytes(_) | Store::Layer(..))
    }

    /// The number of a sector as it is shown: pages of a stream count from 1.
    #[must_use]
    pub fn shown_sector(&self, sector: u64) -> u64 {
        sector.saturating_add(u64::from(matches!(self.store, Store::Stream(_))))
    }

    /// `sector 12`, or `page 13` of a stream.
    #[must_use]
    pub fn sector_name(&self, sector: u64) -> String {
        format!("{} {}", self.unit(), self.shown_sector(sector))
    }

    /// What the number of a block counts; `None` where the file is one block.
    #[must_use]
    pub fn index_name(&self) -> Option<&'static str> {
        match &self.store {
            Store::Pak(_) => Some("record"),
            Store::Stream(_) => Some("row"),
            Store::Layer(grid, _) => (!grid.index.is_empty()).then_some("row"),
            Store::Region(..) | Store::Bytes(_) => Some("slot"),
        }
    }

    /// The bytes of a run of sectors in the file.
    #[must_use]
    pub fn sector_span(&self, first: u64, count: u64) -> Span {
        let size = u64::from(self.sectors.sector_size);
        let start = self.sectors.header_bytes.saturating_add(first.saturating_mul(size));
        Span::sized(start, count.saturating_mul(size))
    }

    /// The sector that a byte of the file is in; `None` in what comes before sector 0.
    #[must_use]
    pub fn sector_at(&self, byte: u64) -> Option<u64> {
        byte.checked_sub(self.sectors.header_bytes)?.checked_div(u64::from(self.sectors.sector_size))
    }

    /// The owner of a sector.
    #[must_use]
    pub fn owner_at(&self, sector: u64) -> Option<Owner> {
        let runs = &self.sectors.runs;
        let at = runs.partition_point(|run| run.first <= sector).checked_sub(1)?;
        let run = runs.get(at)?;
        (sector - run.first < run.count).then_some(run.owner)
    }

    /// Where the bytes of the file come from; of a layer, those of one of its parts.
    #[must_use]
    pub fn source(&self, part: Part) -> Option<&FileSource> {
        match &self.store {
            Store::Region(region, _) => Some(&region.source),
            Store::Pak(pak) => Some(&pak.source),
            Store::Stream(stream) => Some(&stream.pages.source),
            Store::Bytes(source) => Some(source),
            Store::Layer(grid, _) => match part {
                Part::Map | Part::Data => grid.data.as_ref().map(|array| &array.source),
                Part::Index => self.index_file.as_ref(),
                Part::Depth => grid.depth.as_ref().map(|array| &array.source),
            },
        }
    }

    /// Bytes of the file.
    #[must_use]
    pub fn len(&self, part: Part) -> u64 {
        self.source(part).map_or(0, Source::len)
    }

    /// Reads bytes of the file.
    ///
    /// # Errors
    /// The error of the operating system.
    pub fn read(&self, part: Part, span: Span, out: &mut Vec<u8>) -> io::Result<()> {
        out.clear();
        match self.source(part) {
            Some(source) => source.read_into(span.start, crate::bytes::index(span.len()), out),
            None => Ok(()),
        }
    }

    /// The region, when it is one.
    #[must_use]
    pub fn region(&self) -> Option<&Region<FileSource>> {
        match &self.store {
            Store::Region(region, _) => Some(region),
            _ => None,
        }
    }

    /// The stream, when it is one.
    #[must_use]
    pub fn stream(&self) -> Option<&Stream<FileSource>> {
        match &self.store {
            Store::Stream(stream) => Some(stream),
            _ => None,
        }
    }

    /// The layer's voxels, when it is one.
    #[must_use]
    pub fn grid(&self) -> Option<&Grid<FileSource>> {
        match &self.store {
            Store::Layer(grid, _) => Some(grid),
            _ => None,
        }
    }

    /// Voxels along each axis of a block; `None` where blocks have no size in common that is known.
    #[must_use]
    pub fn block_size(&self) -> Option<[u32; 3]> {
        match &self.store {
            Store::Region(region, _) => {
                let side = u32::from(region.header.format.block_size());
                (side > 0).then_some([side; 3])
            }
            Store::Stream(stream) => stream.meta.block_size().map(|side| [side.into(); 3]),
            Store::Layer(grid, _) if !grid.index.is_empty() => Some([crate::voxel_map::grid::BLOCK; 3]),
            Store::Layer(grid, _) => grid.dim,
            Store::Pak(_) | Store::Bytes(_) => None,
        }
    }
}

/// The sector map and the blocks of what was opened.
fn contents(store: &Store) -> (SectorMap, Vec<Slot>) {
    match store {
        Store::Region(region, formula) => {
            let slots = region.entries.iter().map(|listed| Slot {
                slot: listed.slot,
                first: listed.entry.first().into(),
                count: listed.entry.count().into(),
                lod: 0,
                position: region.block_position(listed.slot, *formula),
            });
            (region.sector_map(), slots.collect())
        }
        Store::Pak(pak) => {
            let slots = pak.present().map(|(number, record)| {
                let blocks =
                    pak.locate(number, record, &mut Vec::new()).map(|located| located.blocks).unwrap_or_default();
                let size = crate::pak::BLOCK_BYTES;
                let first = blocks.start / size;
                let count = blocks.end.div_ceil(size).saturating_sub(first);
                Slot { slot: number, first, count, lod: 0, position: pak.chunk(number) }
            });
            (pak.sector_map(), slots.collect())
        }
        Store::Stream(stream) => {
            let slots = (0u32..).zip(&stream.rows).map(|(slot, row)| Slot {
                slot,
                first: u64::from(row.page.saturating_sub(1)),
                count: 1,
                lod: row.place.map_or(0, |place| place.lod),
                position: row.place.map(|place| place.position),
            });
            (stream.sector_map(), slots.collect())
        }
        Store::Layer(grid, _) => layer_contents(grid),
        Store::Bytes(source) => {
            let in_file = source.len().div_ceil(512);
            let runs = vec![Run { first: 0, count: in_file, owner: Owner::Header }];
            (SectorMap { header_bytes: 0, sector_size: 512, in_file, runs }, Vec::new())
        }
    }
}

/// A layer's data as blocks of one size, one a sector.
fn layer_contents(grid: &Grid<FileSource>) -> (SectorMap, Vec<Slot>) {
    let Some(data) = &grid.data else {
        return (SectorMap { header_bytes: 0, sector_size: 512, in_file: 0, runs: Vec::new() }, Vec::new());
    };
    let start = data.npy.data.start;
    let file = data.source.len().saturating_sub(start);
    if grid.index.is_empty() {
        // A dense layer has no blocks of its own: runs of the same size serve for the map.
        let in_file = file.div_ceil(4096);
        let declared = data.npy.declared().saturating_mul(data.npy.dtype.size()).div_ceil(4096);
        let mut runs = vec![Run { first: 0, count: in_file.min(declared), owner: Owner::Block(0) }];
        if declared > in_file {
            runs.push(Run { first: in_file, count: declared - in_file, owner: Owner::BeyondEnd(0) });
        } else if in_file > declared {
            runs.push(Run { first: declared, count: in_file - declared, owner: Owner::Stale });
        }
        let slot = Slot { slot: 0, first: 0, count: in_file.max(declared), lod: 0, position: None };
        return (SectorMap { header_bytes: start, sector_size: 4096, in_file, runs }, vec![slot]);
    }
    let size = BLOCK_VOXELS.saturating_mul(data.npy.dtype.size());
    let in_file = file.div_ceil(size.max(1));
    let blocks = u64::from(grid.blocks());
    let mut runs = Vec::new();
    let mut slots = Vec::new();
    for (row, position) in grid.index.rows() {
        let at = u64::from(row);
        let whole = grid.block_span(row).end <= data.source.len() && at < blocks;
        let owner = if whole { Owner::Block(row) } else { Owner::BeyondEnd(row) };
        runs.push(Run { first: at, count: 1, owner });
        slots.push(Slot { slot: row, first: at, count: 1, lod: 0, position: Some(position) });
    }
    let rows = u64::try_from(runs.len()).unwrap_or(u64::MAX);
    if in_file > rows {
        runs.push(Run { first: rows, count: in_file - rows, owner: Owner::Lost });
    }
    let sector_size = u32::try_from(size).unwrap_or(u32::MAX);
    (SectorMap { header_bytes: start, sector_size, in_file, runs }, slots)
}
