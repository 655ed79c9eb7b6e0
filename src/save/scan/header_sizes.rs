//! The region size and the sector size of a region file whose header has one of them wrong. The right one leads each entry
//! of the table to a block of its length, and the engine puts the first block right behind the table.

use std::ops::Range;
use std::path::Path;

use crate::bytes::index;
use crate::godot::region::{Entry, Format, Header, MOST_SECTORS};
use crate::save::RegionFile;
use crate::save::region_moved::{REACH, beginnings};
use crate::save::table_fits::{Fits, fits, fits_of};
use crate::save::transfer::open_region;
use crate::source::Source;

/// Entries that are checked where the header and the meta file agree.
const ASKED: usize = 16;

/// Sector sizes that are tried besides those that differ from the header's by one bit.
const SECTOR_SIZES: [u32; 7] = [128, 256, 512, 1 << 10, 1 << 11, 1 << 12, 1 << 13];

/// The smallest sector size that is tried.
const LEAST_SECTOR: u32 = 16;

/// The largest region size that is tried, as a power of two.
const MOST_SIZE_PO2: u32 = 7;

/// One in how many entries of a table may lead elsewhere.
const ODD: usize = 8;

/// The fewest fitting entries that prove a sector size if some others do not fit, and if all fit.
const MANY: usize = 8;
const ALL: usize = 4;

/// The fewest that prove one which the places of the blocks support.
const FEW: usize = 3;

/// The fewest blocks in rows that show the sector size.
const IN_ROWS: usize = 8;

/// The least share of the bytes that the rows of the right sector size cover, as a fraction.
const COVERED: (u64, u64) = (7, 8);

/// Bytes behind a table that are searched for rows of blocks of another sector size.
const NEAR: u64 = 1 << 17;

/// Bytes behind those that are read to see whether further blocks follow: as many as four of the longest have in usual sectors.
const AHEAD: u64 = 1 << 19;

/// A region size and a sector size.
pub(super) type Sizes = ([u16; 3], u32);

/// The format with another region size or sector size than the header has, if the file shows that it is right. `outside` is the
/// layout of the meta file.
pub(super) fn with_right_sizes(source: &impl Source, header: &Header, outside: Option<&Format>) -> Option<Format> {
    let own = header.format;
    let other = outside.filter(|outside| outside.sector_size != 0 && !outside.region_size.contains(&0));
    let other = other.filter(|other| sizes(other) != sizes(&own));
    if outside.is_some() && other.is_none() && fits_of(source, header, ASKED).ok()?.most() {
        return None;
    }
    let before = fits(source, header).ok()?;
    let by_table = other.and_then(|other| with_fitting_sizes_of(other, source, header, before));
    if by_table.is_some() || before.most() {
        return by_table;
    }
    let rows = Rows::of(source, header, own.sector_size)?;
    other
        .and_then(|other| with_nearest_sizes_of(other, source, header, &rows))
        .or_else(|| with_other_sector(source, header, before))
        .or_else(|| with_other_size(source, header, before, &rows))
}

/// The sizes of a file whose table fits them, and whether enough entries fit to rule out chance: the first sector is in its place
/// with any sector size.
pub(super) fn fitting_sizes(file: &RegionFile, dir: &Path) -> Option<(Sizes, bool)> {
    let header = file.header.as_ref().filter(|header| header.version == 3)?;
    let (source, _) = open_region(&dir.join(&file.name)).ok()?;
    let fits = fits_of(&source, header, ASKED).ok()?;
    (fits.fitting > 0 && fits.most()).then_some((sizes(&header.format), fits.fitting >= FEW && nearly_all(fits)))
}

/// The format with the sizes of most files, unless the table fits better under those of the header. A header that has neither of
/// them is rather that of another world.
pub(super) fn with_sizes_of_most(file: &RegionFile, dir: &Path, header: &Header, most: Sizes) -> Option<Format> {
    let (region_size, sector_size) = most;
    let own = header.format;
    if (own.region_size == region_size) == (own.sector_size == sector_size) {
        return None;
    }
    let format = Format { region_size, sector_size, ..own };
    let (source, _) = open_region(&dir.join(&file.name)).ok()?;
    let (own, other) = (fits(&source, header).ok()?, fits(&source, &header.with_format(format)).ok()?);
    (other.fitting >= own.fitting).then_some(format)
}

pub(super) const fn sizes(format: &Format) -> Sizes {
    (format.region_size, format.sector_size)
}

/// The formats with the sizes of another one, or one of them.
fn with_any_size_of(outside: &Format, header: &Header) -> impl DoubleEndedIterator<Item = Format> + Clone {
    let own = header.format;
    let (region_size, sector_size) = sizes(outside);
    let others = [with_sector(own, sector_size), with_size(own, region_size)];
    others.into_iter().chain([Format { region_size, sector_size, ..own }]).filter(move |other| *other != own)
}

/// The one of these formats whose sectors the table fits best, if it fits them better than those of the header.
fn with_fitting_sizes_of(outside: &Format, source: &impl Source, header: &Header, before: Fits) -> Option<Format> {
    let fitting = with_any_size_of(outside, header).filter_map(|other| {
        let fits = fits(source, &header.with_format(other)).ok()?;
        (fits.some() && fits.most() && fits.is_better_than(before)).then_some((fits.fitting, other))
    });
    fitting.rev().max_by_key(|(fitting, _)| *fitting).map(|(_, format)| format)
}

/// The one of these formats whose table ends nearest to the first block, if it ends nearer than that of the header.
fn with_nearest_sizes_of(outside: &Format, source: &impl Source, header: &Header, by_own: &Rows) -> Option<Format> {
    let own = header.format;
    let is_same = outside.sector_size == own.sector_size;
    let by_other = if is_same { None } else { Some(Rows::of(source, header, outside.sector_size)?) };
    let gap = |format: Format| {
        let is_own = format.sector_size == own.sector_size;
        let rows = by_other.as_ref().filter(|_| !is_own).unwrap_or(by_own);
        rows.gap(header.with_format(format).sectors_at())
    };
    let others = with_any_size_of(outside, header);
    let mut gaps: Vec<(u64, Format)> = others.filter_map(|other| Some((gap(other)?, other))).collect();
    gaps.sort_by_key(|(gap, _)| *gap);
    gaps.dedup();
    let [(least, best), ref rest @ ..] = gaps[..] else { return None };
    let is_only = rest.first().is_none_or(|(gap, _)| *gap > least) && gap(own).is_none_or(|own| own > least);
    is_only.then_some(best)
}

/// Blocks that follow each other by one sector size, in rows of some at least.
struct Rows {
    sector: u32,
    /// Where they begin. Only if there is a single one may it end behind the file.
    blocks: Vec<u64>,
    /// Whether they cover nearly all bytes from the first one to the last.
    is_dense: bool,
}

impl Rows {
    /// Those behind the header, whatever its table's length.
    fn of(source: &impl Source, header: &Header, sector: u32) -> Option<Self> {
        let start = header.table.start;
        Self::within(source, start..start + REACH, sector)
    }

    fn within(source: &impl Source, range: Range<u64>, sector: u32) -> Option<Self> {
        // Where the bytes end, nearly anything looks like a block that is longer than they are.
        let mut found = beginnings(source, range.start..range.end + AHEAD, sector, |_| true).ok()?;
        found.retain(|(at, _)| *at < range.end);
        let end = |(at, count): (u64, u32)| at + u64::from(count) * u64::from(sector);
        // Garbage may look like a block that ends behind the file. The only block of a file may be cut off.
        if found.len() > 1 {
            found.retain(|block| end(*block) <= source.len());
        }
        let covered: u64 = found.iter().map(|block| end(*block) - block.0).sum();
        let span = found.last().map_or(0, |last| end(*last)) - found.first().map_or(0, |(at, _)| *at);
        let is_dense = covered * COVERED.1 >= span * COVERED.0;
        Some(Self { sector, blocks: found.into_iter().map(|(at, _)| at).collect(), is_dense })
    }

    /// How many bytes behind the table the first of them begins, if it does at a sector. The first blocks may be damaged, if
    /// enough others follow.
    fn gap(&self, sectors_at: u64) -> Option<u64> {
        let gap = self.blocks.first()?.checked_sub(sectors_at)?;
        let sector = u64::from(self.sector).max(1);
        let is_shown = self.is_dense && self.blocks.len() >= IN_ROWS;
        (gap == 0 || is_shown && gap.is_multiple_of(sector) && gap / sector <= MOST_SECTORS).then_some(gap)
    }

    /// Whether they show that their sector size is right, in the region size of the header.
    fn are_right(&self, header: &Header) -> bool {
        self.is_dense && self.blocks.len() >= IN_ROWS && self.gap(header.sectors_at()).is_some()
    }

    /// Whether these rows support their sector size better than others support theirs: they have more than twice as many blocks in
    /// the same bytes, or enough blocks that begin within sectors of the others.
    fn are_better_than(&self, other: &Self, header: &Header) -> bool {
        let (Some(first), Some(last)) = (self.blocks.first(), self.blocks.last()) else { return false };
        let others = other.blocks.iter().filter(|at| (first..=last).contains(at)).count();
        let sector = u64::from(other.sector).max(1);
        let is_within = |at: &&u64| at.checked_sub(header.sectors_at()).is_none_or(|offset| offset % sector != 0);
        self.blocks.len() > 2 * others || self.blocks.iter().filter(is_within).count() >= IN_ROWS
    }
}

/// The format with the sector size that nearly all entries fit, or, where the table of a killed game fits no sector size, the
/// one by which the blocks follow each other.
fn with_other_sector(source: &impl Source, header: &Header, before: Fits) -> Option<Format> {
    let own = header.format.sector_size;
    // The table is not searched: its entries may look like a block.
    let start = header.sectors_at();
    let rows_of = |sector: u32| Rows::within(source, start..start + NEAR, sector);
    let by_own = rows_of(own)?;
    let is_part = |sector: u32| own.is_multiple_of(sector) && sector < own;
    let flipped = one_bit_off(&header.format).into_iter().map(|format| format.sector_size);
    let mut sectors: Vec<u32> = flipped.chain(SECTOR_SIZES).collect();
    sectors.sort_unstable();
    sectors.dedup();
    let shows = |rows: &Rows| rows.are_right(header) && rows.are_better_than(&by_own, header);
    // Blocks of a larger or an odd sector size would not follow each other by the header's.
    let is_right = by_own.are_right(header);
    sectors.retain(|sector| *sector != own && *sector >= LEAST_SECTOR && (!is_right || is_part(*sector)));
    let tried: Vec<(Format, Fits, Rows)> = sectors
        .into_iter()
        .filter_map(|sector| {
            let format = with_sector(header.format, sector);
            let rows = rows_of(sector).filter(|rows| !is_right || shows(rows))?;
            Some((format, fits(source, &header.with_format(format)).ok()?, rows))
        })
        .collect();
    let fitting = tried.iter().filter(|(_, fits, rows)| {
        let least = if fits.fitting == fits.used { ALL } else { MANY };
        let is_shown = fits.fitting >= least || fits.fitting >= FEW && shows(rows);
        is_shown && nearly_all(*fits) && fits.is_better_than(before)
    });
    let by_table = only_best(fitting.map(|(format, fits, _)| (fits.fitting, *format)));
    let rows = tried.iter().filter(|(.., rows)| shows(rows));
    by_table.or_else(|| only_best(rows.map(|(format, _, rows)| (rows.blocks.len(), *format))))
}

/// The format with the region size whose table ends where the first block begins: one that differs from the header's by one
/// bit and that nearly all entries fit, or a cube, as the engine writes them.
fn with_other_size(source: &impl Source, header: &Header, before: Fits, by_own: &Rows) -> Option<Format> {
    let own = header.format;
    let of_own = by_own.gap(header.sectors_at());
    if of_own == Some(0) {
        return None;
    }
    let cubes = (1..=MOST_SIZE_PO2).map(|po2| with_size(own, [1 << po2; 3]));
    let gaps = cubes.filter_map(|cube| Some((by_own.gap(header.with_format(cube).sectors_at())?, cube)));
    let nearest = gaps.min_by_key(|(gap, _)| *gap).filter(|(gap, _)| of_own.is_none_or(|of_own| *gap < of_own));
    if let Some((gap, cube)) = nearest {
        return Some(cube).filter(|cube| has_table_of(source, header, &header.with_format(*cube), gap == 0));
    }
    let first = *by_own.blocks.first()?;
    let flipped = one_bit_off(&own).into_iter().filter(|format| format.sector_size == own.sector_size);
    let ending = flipped.filter(|format| header.with_format(*format).sectors_at() == first);
    let fitting = ending.filter_map(|format| {
        let fits = fits(source, &header.with_format(format)).ok()?;
        (fits.fitting >= FEW && nearly_all(fits) && fits.is_better_than(before)).then_some((fits.fitting, format))
    });
    only_best(fitting)
}

/// Whether a file seems to have the table of another header. Blocks before the first one that is found would not look like
/// entries, nor do those behind the end of a shorter table. Zeros could be anything, unless a block begins right behind them.
fn has_table_of(source: &impl Source, own: &Header, other: &Header, is_followed: bool) -> bool {
    let (shorter, longer) = (own.table.end.min(other.table.end), own.table.end.max(other.table.end));
    let words = |from: u64, end: u64| Words::of(source, own, from..end);
    let Some((common, more)) = words(own.table.start, shorter).zip(words(shorter, longer)) else { return false };
    if other.table.end < own.table.end {
        return common.used > 0 && common.are_entries() && more.odd * 2 > more.used;
    }
    let (used, odd) = (common.used + more.used, common.odd + more.odd);
    Words { used, odd }.are_entries() && used > 0 && (more.used > 0 || is_followed)
}

/// Words of a file that may be entries.
struct Words {
    used: usize,
    /// How many of them have no sectors, or point beyond the end of the file.
    odd: usize,
}

impl Words {
    fn of(source: &impl Source, header: &Header, range: Range<u64>) -> Option<Self> {
        let mut bytes = Vec::new();
        source.read_into(range.start, index(range.end - range.start), &mut bytes).ok()?;
        let sectors = source.len() / u64::from(header.format.sector_size).max(1);
        let words = bytes.as_chunks::<4>().0.iter().map(|word| Entry(u32::from_le_bytes(*word)));
        let used = words.filter(|word| word.is_used());
        let odd = |entry: &Entry| entry.count() == 0 || u64::from(entry.first()) > sectors;
        Some(used.fold(Self { used: 0, odd: 0 }, |words, entry| Self {
            used: words.used + 1,
            odd: words.odd + usize::from(odd(&entry)),
        }))
    }

    const fn are_entries(&self) -> bool {
        self.odd * ODD <= self.used
    }
}

/// The formats that differ by one bit in the region size or the sector size.
pub(crate) fn one_bit_off(own: &Format) -> Vec<Format> {
    let mut all = Vec::new();
    for axis in 0..3 {
        for bit in 0..u8::BITS {
            let mut other = *own;
            if let Some(size) = other.region_size.get_mut(axis) {
                *size ^= 1 << bit;
            }
            all.push(other);
        }
    }
    all.extend((0..u16::BITS).map(|bit| with_sector(*own, own.sector_size ^ 1 << bit)));
    all.retain(|format| format.sector_size > 0 && !format.region_size.contains(&0));
    all
}

const fn with_sector(format: Format, sector_size: u32) -> Format {
    Format { sector_size, ..format }
}

const fn with_size(format: Format, region_size: [u16; 3]) -> Format {
    Format { region_size, ..format }
}

const fn nearly_all(fits: Fits) -> bool {
    (fits.used - fits.fitting) * ODD <= fits.used
}

/// The format with the highest count, if no other one has the same.
fn only_best(formats: impl Iterator<Item = (usize, Format)>) -> Option<Format> {
    let mut formats: Vec<(usize, Format)> = formats.collect();
    formats.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    match formats[..] {
        [(best, _), (second, _), ..] if best == second => None,
        [(_, format), ..] => Some(format),
        [] => None,
    }
}
