//! Random access to the voxels of a layer.
//!
//! ```text
//! dense         data [dim x, dim y, dim z] i32 or i64
//! block_sparse  index [N, 3] i32, block coordinates; data [N, 16, 16, 16] i64 (older: i32), local order x, y, z
//!               voxel (gx, gy, gz) is in block (gx / 16, gy / 16, gz / 16)
//! both          depth [dim x, dim z] f32, metres; some i64 exports have the depth in centimetres in the upper 32 bits
//! ```
//!
//! Source: the format's published page (sparse) and real exports (dense). Only the index is held in memory. A voxel is
//! one positioned read; all of them at once are for [`scan`](crate::voxel_map::scan).

mod index;
mod open;

use std::io;

use crate::bytes::{Span, index};
use crate::damage::{Code, Damage};
use crate::source::Source;
use crate::voxel_map::flags::Histogram;
use crate::voxel_map::map_json::Format;
use crate::voxel_map::npy::{Npy, high, low};

pub use index::{Index, is_inside};

/// Voxels along each axis of a block.
pub const BLOCK: u32 = 16;

/// Voxels in a block.
pub const BLOCK_VOXELS: u64 = 4096;

/// The file of a layer that a fault is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LayerFile {
    /// `map_data.json`.
    Map,
    /// The voxels.
    Data,
    /// The block coordinates.
    Index,
    /// The depths.
    Depth,
}

/// A fault of a layer: one kind of damage, with the number of occurrences.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The file.
    pub part: LayerFile,
    /// The damage; its span is that of the first occurrence.
    pub damage: Damage,
    /// How often.
    pub count: u64,
    /// The first cell (for the index, block coordinates); may be negative if the index is damaged.
    pub first: Option<[i64; 3]>,
    /// The I/O error, or a name from the map, made printable.
    pub detail: Option<String>,
}

impl Fault {
    /// One that occurs once, at no cell.
    #[must_use]
    pub const fn new(part: LayerFile, damage: Damage) -> Self {
        Self { part, damage, count: 1, first: None, detail: None }
    }

    fn detail(mut self, detail: &str) -> Self {
        self.detail = Some(crate::printable::printable(detail));
        self
    }

    pub(super) fn unreadable(part: LayerFile, error: &io::Error) -> Self {
        let damage = Damage::new(Code::FileUnreadable, Span::default(), "file");
        Self::new(part, damage).detail(&error.to_string())
    }
}

/// An array and the source of its bytes.
#[derive(Debug)]
pub struct Array<S> {
    /// Its bytes.
    pub source: S,
    /// Its header.
    pub npy: Npy,
}

/// A layer with open files.
#[derive(Debug)]
pub struct Grid<S> {
    /// The format of its voxels; `None` if the description has none.
    pub format: Option<Format>,
    /// Cells along each axis, from the description, or from dense data if the description has none.
    pub dim: Option<[u32; 3]>,
    /// The voxels, when they can be located.
    pub data: Option<Array<S>>,
    /// The blocks; empty in a dense layer.
    pub index: Index,
    /// The depths, when there are any.
    pub depth: Option<Array<S>>,
    /// Whether the upper 32 bits of a voxel hold a depth. This is inferred, unless it is set by hand.
    pub packed: bool,
    /// Damage of the files and the index, and disagreements between them.
    pub faults: Vec<Fault>,
}

/// The content of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Voxel {
    /// Its block, and the row of the block in the index; `None` in a dense layer, or if there is no block.
    pub block: Option<(u32, [i32; 3])>,
    /// The stored voxel; `None` if there is none, or the file is cut short.
    pub bits: Option<u64>,
    /// Its flags: all bits, or the lower half where the upper one is a depth.
    pub flags: u64,
    /// The depth of the water in metres, from the depth map or, without a map, from the voxel.
    pub depth: Option<f32>,
    /// The bytes of the voxel in the file of the data.
    pub span: Option<Span>,
}

impl<S: Source> Grid<S> {
    /// The content of a cell; `None` outside the layer.
    ///
    /// # Errors
    /// I/O errors.
    pub fn voxel(&self, cell: [u32; 3]) -> io::Result<Option<Voxel>> {
        if self.dim.is_none_or(|dim| cell.iter().zip(&dim).any(|(at, size)| at >= size)) {
            return Ok(None);
        }
        let mut voxel = Voxel::default();
        let [x, _, z] = cell;
        voxel.depth = self.depth_at([x, z])?;
        let block = block_of(cell);
        let row = self.index.find(block);
        voxel.block = row.map(|row| (row, block));
        let place = self.data.as_ref().and_then(|data| match self.format? {
            Format::Dense => data.npy.place(&cell.map(u64::from)),
            Format::BlockSparse => {
                let [x, y, z] = cell.map(|n| u64::from(n % BLOCK));
                data.npy.place(&[u64::from(row?), x, y, z])
            }
        });
        if let (Some(data), Some(place)) = (&self.data, place) {
            let mut buffer = Vec::new();
            data.npy.read(&data.source, place, 1, &mut buffer)?;
            voxel.bits = data.npy.bits(&buffer).next();
            voxel.span = Some(data.npy.span(place, 1));
        }
        if let Some(bits) = voxel.bits {
            voxel.flags = self.flags(bits);
            voxel.depth = voxel.depth.or_else(|| self.packed.then(|| metres(bits)));
        }
        Ok(Some(voxel))
    }

    /// The flags in a voxel as it is stored.
    #[must_use]
    pub fn flags(&self, bits: u64) -> u64 {
        if self.packed { u64::from(low(bits)) } else { bits }
    }

    /// The depth of a column; `None` without a depth map.
    ///
    /// # Errors
    /// I/O errors.
    pub fn depth_at(&self, column: [u32; 2]) -> io::Result<Option<f32>> {
        let Some(depth) = &self.depth else { return Ok(None) };
        let Some(place) = depth.npy.place(&column.map(u64::from)) else { return Ok(None) };
        let mut buffer = Vec::new();
        depth.npy.read(&depth.source, place, 1, &mut buffer)?;
        Ok(depth.npy.floats(&buffer).next())
    }

    /// Number of blocks that are listed: the rows of the index, or one for a dense layer whose array can be read.
    #[must_use]
    pub fn listed(&self) -> u32 {
        match self.index.len() {
            0 => u32::from(self.data.is_some()),
            rows => rows,
        }
    }

    /// Number of blocks that have both an index row and voxels.
    #[must_use]
    pub fn blocks(&self) -> u32 {
        let rows = self.index.len();
        let stored = self.data.as_ref().filter(|_| self.format == Some(Format::BlockSparse));
        let stored = stored.and_then(|data| data.npy.shape.first().copied()).unwrap_or(0);
        rows.min(u32::try_from(stored).unwrap_or(u32::MAX))
    }

    /// The bytes of a block in the file of the data; empty in Fortran order, where it is not in one piece.
    #[must_use]
    pub fn block_span(&self, row: u32) -> Span {
        let data = self.data.as_ref().filter(|data| !data.npy.fortran && row < self.blocks());
        data.map(|data| data.npy.span(u64::from(row).saturating_mul(BLOCK_VOXELS), BLOCK_VOXELS)).unwrap_or_default()
    }

    /// Reads the voxels of a block as they are stored into `out`, in the order x, y, z; fewer where the file is cut
    /// short, none for a row that has no block.
    ///
    /// # Errors
    /// I/O errors. `out` is then empty.
    pub fn read_block(&self, row: u32, buffer: &mut Vec<u8>, out: &mut Vec<u64>) -> io::Result<()> {
        out.clear();
        let Some(data) = self.data.as_ref().filter(|_| row < self.blocks()) else { return Ok(()) };
        let row = u64::from(row);
        if !data.npy.fortran {
            data.npy.read(&data.source, row.saturating_mul(BLOCK_VOXELS), BLOCK_VOXELS, buffer)?;
            out.extend(data.npy.bits(buffer));
            return Ok(());
        }
        for local in 0..u64::from(u16::MAX).min(BLOCK_VOXELS) {
            let at = [row, local / 256, local / 16 % 16, local % 16];
            let Some(place) = data.npy.place(&at) else { break };
            data.npy.read(&data.source, place, 1, buffer).inspect_err(|_| out.clear())?;
            let Some(bits) = data.npy.bits(buffer).next() else { break };
            out.push(bits);
        }
        Ok(())
    }

    /// Counts the flags of a block.
    ///
    /// # Errors
    /// I/O errors.
    pub fn count_block(&self, row: u32, buffer: &mut Vec<u8>, voxels: &mut Vec<u64>) -> io::Result<Histogram> {
        self.read_block(row, buffer, voxels)?;
        let mut counts = Histogram::default();
        for &bits in voxels.iter() {
            counts.add(self.flags(bits), 1);
        }
        Ok(counts)
    }

    /// The cell of the voxel at a place in the order of the data file; `None` without an index row.
    #[must_use]
    pub fn cell_at(&self, place: u64) -> Option<[i64; 3]> {
        let npy = &self.data.as_ref()?.npy;
        let at = npy.indices(place)?;
        let whole = |n: u64| i64::try_from(n).ok();
        match (self.format?, at.get(..npy.shape.len())?) {
            (Format::Dense, &[x, y, z]) => Some([whole(x)?, whole(y)?, whole(z)?]),
            (Format::BlockSparse, &[row, x, y, z]) => {
                let [bx, by, bz] = self.index.get(u32::try_from(row).ok()?)?.map(i64::from);
                let at = |block: i64, local: u64| block.saturating_mul(i64::from(BLOCK)).checked_add(whole(local)?);
                Some([at(bx, x)?, at(by, y)?, at(bz, z)?])
            }
            _ => None,
        }
    }
}

/// The block that a cell is in.
#[must_use]
pub fn block_of(cell: [u32; 3]) -> [i32; 3] {
    // A 32-bit number divided by 16 fits.
    cell.map(|n| i32::try_from(n / BLOCK).unwrap_or(i32::MAX))
}

/// The depth in centimetres that a voxel has in its upper half.
#[must_use]
pub const fn centimetres(bits: u64) -> i32 {
    high(bits).cast_signed()
}

/// The depth in metres that a voxel has in its upper half.
fn metres(bits: u64) -> f32 {
    crate::voxel_map::place::nearest(f64::from(centimetres(bits)) / 100.0)
}

/// A count as an index, which a checked one fits.
fn at(n: u32) -> usize {
    index(u64::from(n))
}

#[cfg(test)]
pub(crate) mod tests;
