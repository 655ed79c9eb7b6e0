//! Runs of up to 4,096 consecutive voxels: a block, if the layer has blocks.

use crate::source::Source;
use crate::voxel_map::flags::{self, FLAGS, Histogram, KNOWN, STRUCTURES, WATER};
use crate::voxel_map::grid::{BLOCK, BLOCK_VOXELS, Grid, centimetres};
use crate::voxel_map::map_json::Format;
use crate::voxel_map::npy::{Npy, low};
use crate::voxel_map::scan::depths::Shallow;
use crate::voxel_map::scan::{Tally, earlier, sums};

/// The bits of 32-bit voxels.
const KNOWN_32: u32 = low(KNOWN);
const WATER_32: u32 = low(WATER);
const STRUCTURES_32: u32 = low(STRUCTURES);

/// Bits without a flag, used to count open water and values that are not 0.
const OPEN: u32 = 1 << 25;
const SET: u32 = 1 << 26;

/// The last place along an axis of a block.
const LAST: i64 = 15;

/// The state for counting runs of a layer.
pub(super) struct Run<'a, S> {
    grid: &'a Grid<S>,
    shallow: Option<&'a Shallow>,
    /// Whether a run is a block.
    blocks: bool,
    /// The lower halves of the run's voxels.
    low: Vec<u32>,
}

impl<'a, S: Source> Run<'a, S> {
    pub(super) fn new(grid: &'a Grid<S>, shallow: Option<&'a Shallow>) -> Self {
        let fortran = grid.data.as_ref().is_some_and(|data| data.npy.fortran);
        let blocks = grid.format == Some(Format::BlockSparse) && !fortran;
        Self { grid, shallow, blocks, low: Vec::new() }
    }

    /// Counts the voxels in `bytes`, the first of which is at `place` in the order of the file.
    pub(super) fn count(&mut self, place: u64, bytes: &[u8], tally: &mut Tally) {
        let Some(npy) = self.grid.data.as_ref().map(|data| &data.npy) else { return };
        let (any, all) = lower(npy, bytes, &mut self.low);
        let number = u64::try_from(self.low.len()).unwrap_or(u64::MAX);
        if any == 0 {
            tally.counts.add(0, number);
            return;
        }
        let flags = self.grid.flags(any);
        if any == all {
            let before = tally.counts.unknown;
            tally.counts.add(flags, number);
            if tally.counts.unknown > before {
                tally.unknown = earlier(tally.unknown, Some(place));
            }
            if flags::is_dry(flags) {
                tally.dry = earlier(tally.dry, Some(place));
            }
        } else {
            self.known(flags, place, tally);
            if flags::unknown(flags) != 0 {
                self.unknown(npy, bytes, place, tally);
            }
        }
        let by_voxel = self.grid.packed && self.grid.depth.is_none();
        if by_voxel {
            packed(npy, bytes, place, tally);
        }
        if self.grid.format == Some(Format::BlockSparse) {
            self.beyond(npy, bytes, place, tally);
        }
        if flags::is_water(flags) && !by_voxel {
            self.water(place, tally);
        }
    }

    /// Counts the voxels with bits that are not known, which [`known`](Self::known) does not look at.
    fn unknown(&self, npy: &Npy, bytes: &[u8], place: u64, tally: &mut Tally) {
        let (mut unknown, mut alone) = (0u64, 0u64);
        for (place, bits) in (place..).zip(npy.bits(bytes)) {
            let flags = self.grid.flags(bits);
            if flags::unknown(flags) != 0 {
                unknown = unknown.saturating_add(1);
                alone = alone.saturating_add(u64::from(flags & KNOWN == 0));
                tally.unknown = earlier(tally.unknown, Some(place));
            }
        }
        let counts = Histogram { unknown, set: alone, ..Histogram::default() };
        tally.counts.merge(&counts);
    }

    /// Counts voxels by the flags that are known; `any` is those of all of them together.
    fn known(&self, any: u64, place: u64, tally: &mut Tally) {
        let voxels = self.low.as_slice();
        let sums = sums::count_bits(voxels, low(any & KNOWN) | OPEN | SET, |v| {
            let v = v & KNOWN_32;
            v | if v == WATER_32 { OPEN } else { 0 } | if v == 0 { 0 } else { SET }
        });
        let mut counts = Histogram { voxels: u64::try_from(voxels.len()).unwrap_or(u64::MAX), ..Histogram::default() };
        let (flags, others) = sums.split_at(FLAGS);
        for (to, &n) in counts.flags.iter_mut().zip(flags) {
            *to = u64::from(n);
        }
        if let [open, set, ..] = *others {
            (counts.open_water, counts.set) = (u64::from(open), u64::from(set));
        }
        // A voxel that is set and is not water can only have structure flags.
        counts.dry = counts.set.saturating_sub(counts.water());
        if counts.dry > 0 && tally.dry.is_none_or(|first| first > place) {
            let dry = |v: &u32| v & WATER_32 == 0 && v & STRUCTURES_32 != 0;
            tally.dry = earlier(tally.dry, (place..).zip(voxels).find(|(_, v)| dry(v)).map(|(place, _)| place));
        }
        tally.counts.merge(&counts);
    }

    /// Voxels that are set beyond `dim`, in a block at the edge of the layer.
    fn beyond(&self, npy: &Npy, bytes: &[u8], place: u64, tally: &mut Tally) {
        let Some(dim) = self.grid.dim else { return };
        if self.blocks {
            let Some(corner) = self.corner(place) else { return };
            // A block outside the layer altogether is damage of the index.
            let edge = corner.iter().zip(dim).all(|(&at, size)| at < u64::from(size))
                && corner.iter().zip(dim).any(|(&at, size)| at.saturating_add(u64::from(BLOCK)) > u64::from(size));
            if !edge {
                return;
            }
        }
        let dim = dim.map(i64::from);
        // The end of the last block.
        let end = dim.map(|size| size.saturating_add(LAST) & !LAST);
        for (place, bits) in (place..).zip(npy.bits(bytes)) {
            if self.grid.flags(bits) == 0 {
                continue;
            }
            let Some(cell) = self.grid.cell_at(place) else { continue };
            let inside = cell.iter().zip(dim).all(|(&at, size)| at < size);
            let edge = cell.iter().zip(end).all(|(&at, end)| at >= 0 && at < end);
            if !inside && edge {
                tally.beyond.add(1, place);
            }
        }
    }

    /// The first cell of the block that begins at `place`.
    fn corner(&self, place: u64) -> Option<[u64; 3]> {
        let row = u32::try_from(place / BLOCK_VOXELS).ok()?;
        let [x, y, z] = self.grid.index.get(row)?;
        let first = |n: i32| u64::try_from(n).ok().map(|n| n.saturating_mul(u64::from(BLOCK)));
        Some([first(x)?, first(y)?, first(z)?])
    }

    /// Water in columns without a depth.
    fn water(&self, place: u64, tally: &mut Tally) {
        let Some(shallow) = self.shallow else { return };
        if !self.blocks {
            for (place, bits) in (place..).zip(&self.low) {
                if bits & WATER_32 == 0 {
                    continue;
                }
                if let Some([x, _, z]) = self.grid.cell_at(place)
                    && let (Ok(x), Ok(z)) = (u64::try_from(x), u64::try_from(z))
                    && shallow.is(x, z)
                {
                    tally.shallow.add(1, place);
                }
            }
            return;
        }
        let Some([x0, _, z0]) = self.corner(place) else { return };
        // Lines of 16 along z; 16 of them have one x.
        for (slice, lines) in (0u64..).zip(self.low.chunks(256)) {
            let without = shallow.sixteen(x0.saturating_add(slice), z0);
            if without == 0 {
                continue;
            }
            let mut columns = [0u32; 16];
            for (z, column) in (0u32..).zip(&mut columns) {
                *column = u32::from(without.checked_shr(z).unwrap_or(0)) & WATER_32;
            }
            let mut found = [0u32; 16];
            let (whole, rest) = lines.as_chunks::<16>();
            for line in whole {
                for ((n, v), column) in found.iter_mut().zip(line).zip(&columns) {
                    *n = n.wrapping_add(v & column);
                }
            }
            for ((n, v), column) in found.iter_mut().zip(rest).zip(&columns) {
                *n = n.wrapping_add(v & column);
            }
            let found = found.iter().fold(0u64, |sum, &n| sum.saturating_add(u64::from(n)));
            if found == 0 {
                continue;
            }
            let mut first = place.saturating_add(slice.saturating_mul(256));
            if tally.shallow.first.is_none_or(|earlier| earlier > first) {
                let mut at = (first..).zip(lines).zip(columns.iter().cycle());
                first = at.find(|((_, v), column)| *v & **column != 0).map_or(first, |((place, _), _)| place);
            }
            tally.shallow.add(found, first);
        }
    }
}

/// Range of the depths in the upper halves, and water without a depth.
fn packed(npy: &Npy, bytes: &[u8], place: u64, tally: &mut Tally) {
    for (place, bits) in (place..).zip(npy.bits(bytes)) {
        if !flags::is_water(bits) {
            continue;
        }
        let depth = centimetres(bits);
        tally.packed = Some(tally.packed.map_or((depth, depth), |(a, b)| (a.min(depth), b.max(depth))));
        if depth <= 0 {
            tally.shallow.add(1, place);
        }
    }
}

/// Puts the lower halves of all voxels into `out`; the bits that any voxel has, and those that all have.
fn lower(npy: &Npy, bytes: &[u8], out: &mut Vec<u32>) -> (u64, u64) {
    fn split<const N: usize>(words: &[[u8; N]], out: &mut Vec<u32>, read: impl Fn([u8; N]) -> u64) -> (u64, u64) {
        out.resize(words.len(), 0);
        let (mut any, mut all) = (0, u64::MAX);
        for (to, &word) in out.iter_mut().zip(words) {
            let bits = read(word);
            any |= bits;
            all &= bits;
            *to = low(bits);
        }
        (any, all)
    }
    match (npy.dtype.size(), npy.big_endian) {
        (8, false) => split(bytes.as_chunks::<8>().0, out, u64::from_le_bytes),
        (8, true) => split(bytes.as_chunks::<8>().0, out, u64::from_be_bytes),
        (2, false) => split(bytes.as_chunks::<2>().0, out, |b| u64::from(u16::from_le_bytes(b))),
        (2, true) => split(bytes.as_chunks::<2>().0, out, |b| u64::from(u16::from_be_bytes(b))),
        (1, _) => split(bytes.as_chunks::<1>().0, out, |[b]| u64::from(b)),
        (_, false) => split(bytes.as_chunks::<4>().0, out, |b| u64::from(u32::from_le_bytes(b))),
        (_, true) => split(bytes.as_chunks::<4>().0, out, |b| u64::from(u32::from_be_bytes(b))),
    }
}
