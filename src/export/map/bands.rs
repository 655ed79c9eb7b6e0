//! Draws the blocks of region files while they are checked, so that each block is decoded once.
//!
//! Files are checked in bands: groups of files whose blocks share no row of blocks with those of other groups. When a band is
//! checked, its rows of pixels are complete.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

use crate::bytes::index;
use crate::export::voxels::Error;
use crate::godot::region::Entry;
use crate::parallel;
use crate::picture::columns::{Columns, Reading, Rise};
use crate::picture::source::{Part, Reader, Scratch, Source, Voxels};
use crate::picture::tile::Grid;
use crate::picture::{Layer, Pixel};
use crate::save::{Forest, Kind, RegionFile, View};
use crate::world::At;

/// The most bytes of the columns of a band.
const BYTES: usize = 16 << 20;

/// The bands of a picture.
pub(super) struct Bands<'s> {
    source: &'s Source,
    /// What stores the blocks.
    pub forest: &'s Forest,
    reading: Reading<'s>,
    /// The blocks of the LOD that are drawn, in the order ZXY.
    blocks: &'s [At],
    /// Voxels of the world a voxel.
    step: i64,
    /// The drawn blocks along x: the first and one past the last.
    x: [i32; 2],
    numbers: HashMap<&'s Path, u32>,
    bands: Vec<Band>,
    /// The band whose files are being checked.
    open: RwLock<OpenBand>,
}

/// Files whose blocks share no row with those of others.
struct Band {
    files: Vec<u32>,
    /// Its part of the drawn blocks.
    blocks: Range<usize>,
}

/// The picture of a band while its files are checked.
#[derive(Default)]
struct OpenBand {
    columns: Vec<Column>,
    /// File, entry and number of each block, in order.
    by_entry: Vec<(u32, u32, usize)>,
    /// The number of its first block.
    first: usize,
    /// By block: the number of its column, and whether it is drawn.
    drawn: Vec<(usize, AtomicBool)>,
}

/// Blocks above each other.
struct Column {
    blocks: Range<usize>,
    found: Mutex<Columns>,
}

/// Rows of pixels that bands fill, from the smallest z on.
pub(super) struct Rows<'r> {
    /// The first and one past the last pixel along x.
    x: [i64; 2],
    /// Voxels of the world a pixel.
    step: i64,
    /// The number of the row that is being filled, and one past the last.
    v: i64,
    end: i64,
    pixels: Vec<Pixel>,
    each: &'r mut EachRow<'r>,
}

/// Takes a row of pixels.
pub(super) type EachRow<'r> = dyn FnMut(&[Pixel]) -> Result<(), Error> + 'r;

impl<'s> Bands<'s> {
    /// The bands of the pixels from `low` to `high`; `None` if the picture is not one of columns of blocks in region files, or a band
    /// would take too much memory.
    pub fn new(source: &'s Source, grid: &Grid, low: [i64; 2], high: [i64; 2]) -> Option<Self> {
        let (Part::Forest(number), Layer::Top(matter)) = (source.part, grid.layer) else { return None };
        let forest = source.save.forests.get(number).filter(|forest| forest.kind != Kind::BlockFiles)?;
        let table = source.table(grid.lod)?;
        let block = source.block(grid.lod);
        // Blocks that are higher than the numbers of pixels reach cannot be told apart by their pixels.
        let [lowest, highest] = table.extent()?.map(|position| source.corner(grid.lod, position)[1]);
        if lowest <= i64::from(i32::MIN) || highest.saturating_add(block[1]) >= i64::from(i32::MAX) {
            return None;
        }
        // The same blocks as those of tiles: a picture of a part of the world reports the damage of its tiles.
        let tiles = |i: usize| {
            let width = grid.width();
            let from = low[i].div_euclid(grid.side).saturating_mul(width);
            let to = (high[i] - 1).div_euclid(grid.side).saturating_add(1).saturating_mul(width);
            let clamp = |n: i64| i32::try_from(n.clamp(i32::MIN.into(), i32::MAX.into())).unwrap_or(0);
            let size = block[[0, 2][i]];
            [clamp(from.div_euclid(size)), clamp((to - 1).div_euclid(size).saturating_add(1))]
        };
        let (x, z) = (tiles(0), tiles(1));
        let from = table.blocks.partition_point(|at| at.position[2] < z[0]);
        let to = table.blocks.partition_point(|at| at.position[2] < z[1]);
        let blocks = table.blocks.get(from..to)?;
        let bands = bands(blocks);
        let most = bands.iter().map(|band| columns(blocks, band.blocks.clone(), x).count()).max()?;
        let voxels = index(u64::from(source.side[0])).saturating_mul(index(u64::from(source.side[2])));
        if most.saturating_mul(voxels).saturating_mul(size_of::<Pixel>()) > BYTES {
            return None;
        }
        let numbers = (0..).zip(&forest.regions).map(|(number, file)| (&*file.name, number)).collect();
        let reading = Reading { matter, palette: source.palette.as_deref(), packed: false };
        let open = RwLock::default();
        let step = 1i64 << grid.lod.min(40);
        Some(Self { source, forest, reading, blocks, step, x, numbers, bands, open })
    }

    /// The files of each band.
    pub fn groups(&self) -> Vec<Vec<&'s RegionFile>> {
        let file = |number: &u32| self.forest.regions.get(index(u64::from(*number)));
        self.bands.iter().map(|band| band.files.iter().filter_map(file).collect()).collect()
    }

    /// Prepares for the blocks of a band.
    pub fn begin(&self, number: usize) {
        let Some(band) = self.bands.get(number) else { return };
        let columns: Vec<Column> = columns(self.blocks, band.blocks.clone(), self.x)
            .map(|blocks| Column { blocks, found: Mutex::new(Columns::new(self.source.side)) })
            .collect();
        let none = || (usize::MAX, AtomicBool::new(false));
        let mut drawn: Vec<(usize, AtomicBool)> = band.blocks.clone().map(|_| none()).collect();
        let first = band.blocks.start;
        for (number, column) in columns.iter().enumerate() {
            let part = column.blocks.start - first..column.blocks.end - first;
            drawn.get_mut(part).into_iter().flatten().for_each(|(of, _)| *of = number);
        }
        let blocks = columns.iter().flat_map(|column| column.blocks.clone());
        let entry = |n: usize| {
            let at = self.blocks.get(n)?;
            Some((at.file_number(), u32::try_from(at.row()).ok()?, n))
        };
        let mut by_entry: Vec<(u32, u32, usize)> = blocks.filter_map(entry).collect();
        by_entry.sort_unstable();
        *self.open.write().unwrap_or_else(PoisonError::into_inner) = OpenBand { columns, by_entry, first, drawn };
    }

    /// Draws a block of the band if it is healthy. Others are read again when the band is complete.
    pub fn see(&self, file: &RegionFile, entry: Entry, view: &View<'_>) {
        let side = self.source.side;
        let block = view.block.as_ref().filter(|block| view.damage.is_empty() && block.size.map(u32::from) == side);
        let (Some(block), Some(number)) = (block, self.numbers.get(&*file.name)) else { return };
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        let key = (*number, entry.0);
        let from = open.by_entry.partition_point(|(file, entry, _)| (*file, *entry) < key);
        let same = open.by_entry.get(from..).unwrap_or_default();
        // Entries of two slots may lead to the same sectors.
        for (.., n) in same.iter().take_while(|(file, entry, _)| (*file, *entry) == key) {
            let Some((column, drawn)) = open.drawn.get(n - open.first) else { continue };
            // All of them are drawn when the first of them is seen.
            if drawn.swap(true, Ordering::Relaxed) {
                return;
            }
            let (Some(column), Some(at)) = (open.columns.get(*column), self.blocks.get(*n)) else { continue };
            let mut found = column.found.lock().unwrap_or_else(PoisonError::into_inner);
            found.look(Voxels::Block(block), self.reading, self.rise(at));
        }
    }

    /// Draws the blocks of the band that were not seen, as far as they are not below others, and fills its rows.
    pub fn finish(&self, reader: &Reader<'_>, rows: &mut Rows<'_>) -> Result<(), Error> {
        let open = std::mem::take(&mut *self.open.write().unwrap_or_else(PoisonError::into_inner));
        let is_drawn = |n: usize| open.drawn.get(n - open.first).is_none_or(|(_, drawn)| drawn.load(Ordering::Relaxed));
        let unseen = |column: &&Column| !column.blocks.clone().all(is_drawn);
        let unseen: Vec<&Column> = open.columns.iter().filter(unseen).collect();
        parallel::each_with(&unseen, |scratch: &mut Scratch, column| {
            let mut found = column.found.lock().unwrap_or_else(PoisonError::into_inner);
            for at in column.blocks.clone().rev().filter(|n| !is_drawn(*n)).filter_map(|n| self.blocks.get(n)) {
                let rise = self.rise(at);
                let top = rise.base.saturating_add(i64::from(self.source.side[1]).saturating_mul(self.step));
                if found.found.iter().any(|pixel| i64::from(pixel.y) < top) {
                    reader.block(at, scratch, |voxels| found.look(voxels, self.reading, rise));
                }
            }
        });
        let place = |column: &Column| self.blocks.get(column.blocks.start).map(|at| at.position);
        for row in open.columns.chunk_by(|a, b| place(a).map(|at| at[2]) == place(b).map(|at| at[2])) {
            self.fill(row, rows)?;
            // The rows that wait to be painted have a copy of the pixels.
            for column in row {
                column.found.lock().unwrap_or_else(PoisonError::into_inner).found = Vec::new();
            }
        }
        Ok(())
    }

    /// Fills the rows of pixels that a row of columns covers.
    fn fill(&self, row: &[Column], rows: &mut Rows<'_>) -> Result<(), Error> {
        let [width, _, depth] = self.source.side.map(|n| index(u64::from(n)));
        let found: Vec<_> =
            row.iter().map(|column| column.found.lock().unwrap_or_else(PoisonError::into_inner)).collect();
        for (line, offset) in (0..depth).zip(0i64..) {
            for (column, found) in row.iter().zip(&found) {
                let Some(at) = self.blocks.get(column.blocks.start) else { continue };
                let [x, _, z] = self.source.corner(self.lod(), at.position);
                let pixels = found.found.get(line * width..(line + 1) * width).unwrap_or_default();
                rows.put(x, z.saturating_add(offset.saturating_mul(self.step)), self.step, pixels)?;
            }
        }
        Ok(())
    }

    fn lod(&self) -> u8 {
        u8::try_from(self.step.trailing_zeros()).unwrap_or(0)
    }

    fn rise(&self, at: &At) -> Rise {
        Rise { base: self.source.corner(self.lod(), at.position)[1], step: self.step }
    }
}

/// Groups the files of blocks so that no two groups have blocks in the same row.
fn bands(blocks: &[At]) -> Vec<Band> {
    // The numbers of the first and the last block of each file.
    let mut files: HashMap<u32, [usize; 2]> = HashMap::new();
    for (n, at) in blocks.iter().enumerate() {
        files.entry(at.file_number()).or_insert([n; 2])[1] = n;
    }
    let mut files: Vec<([usize; 2], u32)> = files.into_iter().map(|(file, range)| (range, file)).collect();
    files.sort_unstable();
    let z = |n: usize| blocks.get(n).map(|at| at.position[2]);
    let mut bands: Vec<Band> = Vec::new();
    for ([first, last], file) in files {
        match bands.last_mut().filter(|band| z(band.blocks.end - 1) >= z(first)) {
            Some(band) => {
                band.files.push(file);
                band.blocks.end = band.blocks.end.max(last + 1);
            }
            None => bands.push(Band { files: vec![file], blocks: first..last + 1 }),
        }
    }
    bands
}

/// The columns of some blocks whose x is in a range.
fn columns(blocks: &[At], of: Range<usize>, x: [i32; 2]) -> impl Iterator<Item = Range<usize>> {
    let mut start = of.start;
    let place = |at: &At| (at.position[2], at.position[0]);
    let columns = blocks.get(of).unwrap_or_default().chunk_by(move |a, b| place(a) == place(b)).map(move |column| {
        let range = start..start + column.len();
        start = range.end;
        (range, column)
    });
    let is_drawn = move |column: &[At]| column.first().is_some_and(|at| (x[0]..x[1]).contains(&at.position[0]));
    columns.filter(move |(_, column)| is_drawn(column)).map(|(range, _)| range)
}

impl<'r> Rows<'r> {
    /// Rows of the pixels from `low` to `high`, each of which is passed on when it is complete.
    pub fn new(low: [i64; 2], high: [i64; 2], step: i64, each: &'r mut EachRow<'r>) -> Self {
        let width = index((high[0] - low[0]).unsigned_abs());
        Self { x: [low[0], high[0]], step, v: low[1], end: high[1], pixels: vec![Pixel::NONE; width], each }
    }

    /// Fills a part of a row with voxels from x on at z, each `size` voxels of the world along each side.
    fn put(&mut self, x: i64, z: i64, size: i64, voxels: &[Pixel]) -> Result<(), Error> {
        let v = z.div_euclid(self.step);
        if v < self.v || v >= self.end {
            return Ok(());
        }
        while self.v < v {
            self.pass_on()?;
        }
        let [low, high] = self.x;
        if size == self.step {
            // A pixel a voxel.
            let from = x.div_euclid(size);
            let to = from.saturating_add(i64::try_from(voxels.len()).unwrap_or(i64::MAX));
            let (start, end) = (from.max(low), to.min(high));
            if start < end {
                let part = |n: i64, from: i64| index((n - from).unsigned_abs());
                let pixels = voxels.get(part(start, from)..part(end, from)).unwrap_or_default();
                if let Some(place) = self.pixels.get_mut(part(start, low)..part(end, low)) {
                    place.copy_from_slice(pixels);
                }
            }
            return Ok(());
        }
        for (pixel, n) in voxels.iter().zip(0i64..).filter(|(pixel, _)| pixel.is_there()) {
            let u = x.saturating_add(n.saturating_mul(size)).div_euclid(self.step);
            if (low..high).contains(&u)
                && let Some(place) = self.pixels.get_mut(index((u - low).unsigned_abs()))
            {
                place.merge(*pixel);
            }
        }
        Ok(())
    }

    fn pass_on(&mut self) -> Result<(), Error> {
        (self.each)(&self.pixels)?;
        self.pixels.fill(Pixel::NONE);
        self.v += 1;
        Ok(())
    }

    /// Passes on the rows that are left.
    pub fn finish(mut self) -> Result<(), Error> {
        while self.v < self.end {
            self.pass_on()?;
        }
        Ok(())
    }
}
