//! How well a table fits its sectors under a header: the size prefix of each block asks for just the sectors that its entry
//! has. No block has to be decoded for that.

use std::io;

use crate::bytes::index;
use crate::godot::container::is_container;
use crate::godot::region::{Header, sectors_for};
use crate::source::Source;

/// Entries of a table that are looked at.
const ENTRIES: usize = 1 << 18;

/// Bytes of a block that show its size and the mode of its container.
const HEAD: usize = 16;

/// Bytes that are read at once, from a multiple of it on.
const AT_ONCE: u64 = 1 << 13;

/// Entries that must fit before a header or a shift is believed.
const LEAST: usize = 2;

/// How many entries of a table lead to a size prefix that asks for just their sectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fits {
    pub fitting: usize,
    pub used: usize,
}

impl Fits {
    /// Whether most entries fit.
    pub const fn most(self) -> bool {
        self.fitting * 2 > self.used
    }

    /// Whether the table fits so much better than under another header that this one is right. In a row of blocks of one
    /// sector, most entries fit a header whose table is some sectors longer or shorter.
    pub const fn is_better_than(self, other: Self) -> bool {
        let (misfits, of_other) = (self.used - self.fitting, other.used - other.fitting);
        if other.most() {
            of_other >= LEAST && of_other * self.used > 2 * misfits * other.used
        } else {
            self.fitting > other.fitting
        }
    }

    /// Whether so many entries fit that it is no chance.
    pub const fn some(self) -> bool {
        self.fitting >= LEAST || self.fitting == self.used && self.fitting > 0
    }
}

/// An entry of the table, by its first byte as the header has it, and its sectors.
pub(crate) type Place = (u64, u32);

pub(crate) fn places(source: &impl Source, header: &Header) -> io::Result<Vec<Place>> {
    let mut table = Vec::new();
    let len = usize::try_from(header.table.len()).unwrap_or(usize::MAX).min(1 << 24);
    source.read_into(header.table.start, len, &mut table)?;
    let entries = table.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).filter(|entry| *entry != 0);
    let place = |entry: u32| (header.sector_span(u64::from(entry >> 8), 0).start, entry & 255);
    let mut places: Vec<Place> = entries.take(ENTRIES).map(place).collect();
    places.sort_unstable();
    Ok(places)
}

/// The first bytes of blocks. A table may have very many entries, so those near each other are read at once.
pub(crate) struct Heads<'s, S> {
    source: &'s S,
    /// The bytes from `start` on that were read last.
    bytes: Vec<u8>,
    start: Option<u64>,
}

impl<'s, S: Source> Heads<'s, S> {
    pub const fn new(source: &'s S) -> Self {
        Self { source, bytes: Vec::new(), start: None }
    }

    /// Whether a block of so many sectors seems to begin at a byte.
    pub fn begins(&mut self, at: u64, count: u32, sector: u32) -> io::Result<bool> {
        Ok(sectors_at(self.read(at)?, sector) == Some(count))
    }

    fn read(&mut self, at: u64) -> io::Result<&[u8]> {
        let start = at - at % AT_ONCE;
        if self.start != Some(start) {
            self.start = None;
            if self.source.read_into(start, AT_ONCE as usize + HEAD, &mut self.bytes).is_err() {
                // Only the bytes that are asked for must be readable.
                self.source.read_into(at, HEAD, &mut self.bytes)?;
                return Ok(&self.bytes);
            }
            self.start = Some(start);
        }
        let rest = self.bytes.get(index(at - start)..).unwrap_or_default();
        Ok(rest.get(..HEAD).unwrap_or(rest))
    }
}

/// The sectors of the block that seems to begin with some bytes.
pub(crate) fn sectors_at(head: &[u8], sector: u32) -> Option<u32> {
    let (prefix, container) = head.split_first_chunk::<4>()?;
    let size = u32::from_le_bytes(*prefix);
    let count = sectors_for(size.into(), sector);
    // The mode of a container with a header; without one nearly anything looks like a block.
    let mode = match container {
        [0, version, ..] => (2..=4).contains(version),
        [mode, ..] => (1..=3).contains(mode),
        [] => false,
    };
    let is = size >= 8 && (1..=255).contains(&count) && mode && is_container(container, size);
    is.then_some(u32::try_from(count).ok()?)
}

pub(crate) fn fits(source: &impl Source, header: &Header) -> io::Result<Fits> {
    fits_of(source, header, 512)
}

/// The same for at most so many entries, spread over the sectors.
pub(crate) fn fits_of(source: &impl Source, header: &Header, most: usize) -> io::Result<Fits> {
    let places = places(source, header)?;
    let mut fits = Fits { fitting: 0, used: places.len() };
    let step = places.len().div_ceil(most).max(1);
    if step > 1 {
        fits.used = places.iter().step_by(step).count();
    }
    let mut heads = Heads::new(source);
    for &(at, count) in places.iter().step_by(step) {
        fits.fitting += usize::from(heads.begins(at, count, header.format.sector_size)?);
    }
    Ok(fits)
}
