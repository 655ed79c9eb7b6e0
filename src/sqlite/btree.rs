//! A page of a b-tree and its cells.
//!
//! ```text
//! kind u8 (2 interior of an index, 5 interior of a table, 10 leaf of an index, 13 leaf of a table) · first free block u16
//! cells u16 · start of the cells' content u16 · fragmented bytes u8 · right child u32 (interior pages only)
//! cells x offset u16 · free space · cells
//! ```

use crate::bytes::index;
use crate::sqlite::header::HEADER_BYTES;
use crate::sqlite::record::{self, varint};

/// The type of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// 2.
    IndexInterior,
    /// 5.
    TableInterior,
    /// 10.
    IndexLeaf,
    /// 13.
    TableLeaf,
}

impl Kind {
    const fn of_byte(byte: u8) -> Option<Self> {
        match byte {
            2 => Some(Self::IndexInterior),
            5 => Some(Self::TableInterior),
            10 => Some(Self::IndexLeaf),
            13 => Some(Self::TableLeaf),
            _ => None,
        }
    }

    /// Whether it leads to other pages of the tree.
    #[must_use]
    pub const fn is_interior(self) -> bool {
        matches!(self, Self::IndexInterior | Self::TableInterior)
    }

    /// Whether it is of an index.
    #[must_use]
    pub const fn is_index(self) -> bool {
        matches!(self, Self::IndexInterior | Self::IndexLeaf)
    }
}

/// A b-tree page with a valid header.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// Its type.
    pub kind: Kind,
    /// Its cells.
    pub cells: u16,
    /// The last child of an interior page.
    pub right: Option<u32>,
    bytes: &'a [u8],
    /// Where its header begins.
    header: usize,
    /// Where the offsets of the cells begin.
    array: usize,
    /// Bytes of the page that are used; more than there are if the file ends inside the page.
    usable: usize,
}

/// A cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell<'a> {
    /// Where the cell begins in the page.
    pub start: usize,
    /// The child before it, in interior pages.
    pub child: Option<u32>,
    /// The number of its row, in tables.
    pub rowid: i64,
    /// Bytes of its payload; 0 for interior pages of tables, which have none.
    pub payload: u64,
    /// Those of them that are in the page.
    pub local: &'a [u8],
    /// Where they begin in the page.
    pub local_at: usize,
    /// The first overflow page of the payload.
    pub overflow: Option<u32>,
    /// Where the cell ends in the page.
    pub end: usize,
    /// What is wrong with its pointer or its size, if it is read nevertheless.
    pub fault: Option<&'static str>,
    /// Whether the number of its row is between those that the pages above it give, as far as these are read.
    pub fits: bool,
}

/// The fault of a cell whose pointer has bits that no offset in the page has.
pub const MASKED: &str = "its pointer leads beyond the page";
/// The fault of a cell whose size makes it reach into the next one.
pub const OVERLONG: &str = "its size makes it run into the next cell";

/// Cells of a page that may run into the next one and are read nevertheless.
const MOST_OVERLONG: usize = 8;

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk::<2>().map(|bytes| u16::from_be_bytes(*bytes))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk::<4>().map(|bytes| u32::from_be_bytes(*bytes))
}

impl<'a> Page<'a> {
    /// Reads the header of a page from its used bytes.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(number: u32, bytes: &'a [u8]) -> Result<Self, &'static str> {
        Self::parse_part(number, bytes, bytes.len())
    }

    /// The same from as many of its used bytes as the file has.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse_part(number: u32, bytes: &'a [u8], usable: usize) -> Result<Self, &'static str> {
        let at = if number == 1 { HEADER_BYTES } else { 0 };
        let kind = bytes.get(at).copied().ok_or("missing")?;
        let kind = Kind::of_byte(kind).ok_or("unknown page type")?;
        let cells = u16_at(bytes, at.saturating_add(3)).ok_or("cut short")?;
        let right =
            if kind.is_interior() { Some(u32_at(bytes, at.saturating_add(8)).ok_or("cut short")?) } else { None };
        let array = at.saturating_add(if kind.is_interior() { 12 } else { 8 });
        let end = usize::from(cells).saturating_mul(2).saturating_add(array);
        if end > bytes.len() {
            return Err("more cells than fit into the page");
        }
        Ok(Self { kind, cells, right, bytes, header: at, array, usable })
    }

    /// Where the offsets of the cells end.
    fn array_end(&self) -> usize {
        usize::from(self.cells).saturating_mul(2).saturating_add(self.array)
    }

    /// Where the content of the cells begins, by the header.
    fn content(&self) -> Option<usize> {
        let content = u16_at(self.bytes, self.header.saturating_add(5))?;
        Some(if content == 0 { 1 << 16 } else { usize::from(content) })
    }

    /// The first offset at which a cell may begin: a number of cells that is too large makes the offsets reach into the cells.
    fn lowest(&self) -> usize {
        let end = self.array_end();
        self.content().filter(|content| (self.array..end).contains(content)).unwrap_or(end)
    }

    /// A cell; `None` if its offset or its content is outside of the page.
    ///
    /// An offset beyond the page is read as SQLite reads it: without the bits that no offset in the page has.
    #[must_use]
    pub fn cell(&self, number: u16) -> Option<Cell<'a>> {
        let at = usize::from(number).checked_mul(2)?.checked_add(self.array)?;
        let pointer = usize::from(u16_at(self.bytes, at)?);
        let size = self.usable.checked_next_power_of_two()?;
        let start = pointer & size.saturating_sub(1);
        if start < self.lowest() {
            return None;
        }
        let cell = self.cell_at(start)?;
        Some(Cell { fault: (start != pointer).then_some(MASKED), ..cell })
    }

    /// The cell that begins at an offset of the page.
    #[must_use]
    pub fn cell_at(&self, start: usize) -> Option<Cell<'a>> {
        let mut at = start;
        let child = match self.kind.is_interior() {
            true => Some(u32_at(self.bytes, take(&mut at, 4)?)?),
            false => None,
        };
        let mut number = || {
            let (n, len) = varint(self.bytes.get(at..)?)?;
            at = at.checked_add(len)?;
            Some(n)
        };
        let payload = if self.kind == Kind::TableInterior { 0 } else { number()?.cast_unsigned() };
        let rowid = if self.kind.is_index() { 0 } else { number()? };
        if self.kind == Kind::TableInterior {
            return Some(Cell {
                start,
                child,
                rowid,
                payload,
                local: &[],
                local_at: at,
                overflow: None,
                end: at,
                fault: None,
                fits: true,
            });
        }
        // No file can hold such a payload.
        if payload > u64::from(u32::MAX) {
            return None;
        }
        let local_len = local_len(payload, self.usable, self.kind.is_index());
        let local_at = at;
        let end = local_at.checked_add(local_len)?;
        let local = self.bytes.get(local_at..end)?;
        let spilled = u64::try_from(local_len).is_ok_and(|n| n < payload);
        let overflow = if spilled { Some(u32_at(self.bytes, end)?) } else { None };
        let end = if spilled { end.checked_add(4)? } else { end };
        Some(Cell { start, child, rowid, payload, local, local_at, overflow, end, fault: None, fits: true })
    }

    /// Whether cells, free blocks and fragments fill the area of the cells' content to the byte, as SQLite leaves every
    /// page: hardly any other bytes do, nor a page that is cut at another size.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        let (Some(content), Some(fragments)) = (self.content(), self.bytes.get(self.header.saturating_add(7))) else {
            return false;
        };
        if content < self.array_end() || content > self.bytes.len() || *fragments > 60 {
            return false;
        }
        let mut sum = usize::from(*fragments);
        // Cells that overlap make the sum too large.
        for cell in (0..self.cells).map(|number| self.cell(number)) {
            let Some(cell) = cell.filter(|cell| cell.start >= content) else { return false };
            // A cell takes 4 bytes at least.
            sum = sum.saturating_add(cell.end.saturating_sub(cell.start).max(4));
        }
        let Some(free) = self.free_blocks(content) else { return false };
        sum = free.iter().fold(sum, |sum, (start, end)| sum.saturating_add(end.saturating_sub(*start)));
        sum == self.bytes.len().saturating_sub(content)
    }

    /// What is wrong with the list of free blocks, which SQLite puts new cells into.
    #[must_use]
    pub fn free_fault(&self) -> Option<&'static str> {
        let content = self.content().filter(|content| (self.array_end()..=self.bytes.len()).contains(content));
        let Some(free) = self.free_blocks(content.unwrap_or_else(|| self.array_end())) else {
            return Some("leads back, before the cells or beyond the page");
        };
        if free.last().is_some_and(|(_, end)| *end > self.bytes.len()) {
            return Some("reaches beyond the page");
        }
        // SQLite joins blocks that are nearer.
        let mut next = free.iter().skip(1);
        if free.iter().zip(&mut next).any(|((_, end), (start, _))| *start < end.saturating_add(4)) {
            return Some("has two blocks with fewer than 4 bytes between");
        }
        let mut cells = (0..self.cells).filter_map(|number| self.cell(number)).filter(|cell| cell.fault.is_none());
        let is_over = |cell: &Cell<'_>| {
            let at = free.partition_point(|(_, end)| *end <= cell.start);
            free.get(at).is_some_and(|(start, _)| *start < cell.end)
        };
        if !free.is_empty() && cells.any(|cell| is_over(&cell)) {
            return Some("has bytes of a cell");
        }
        (content.is_some() && !self.is_exact()).then_some("does not fill what the cells leave")
    }

    /// Where the free blocks begin and end, in their order; `None` if their list is damaged or begins before `from`.
    fn free_blocks(&self, from: usize) -> Option<Vec<(usize, usize)>> {
        let mut next = usize::from(u16_at(self.bytes, self.header.saturating_add(1))?);
        let (mut blocks, mut reach) = (Vec::new(), from);
        while next != 0 {
            let (after, len) = (u16_at(self.bytes, next)?, u16_at(self.bytes, next.saturating_add(2))?);
            if next < reach || len < 4 {
                return None;
            }
            reach = next.saturating_add(len.into());
            blocks.push((next, reach));
            next = after.into();
        }
        Some(blocks)
    }

    /// All cells, with `None` for those that are outside of the page, or over another one: no number of cells can make the
    /// same bytes be read again and again.
    ///
    /// Of two cells that overlap, the one that begins first is given, and the other one too if its record has exactly the bytes
    /// that the cell says, while that of the first one has not. A cell whose offset is beyond the page is given if no other cell
    /// and no free block has its bytes.
    pub fn all(&self) -> impl Iterator<Item = Option<Cell<'a>>> {
        let mut places: Vec<(usize, u16, usize)> = Vec::new();
        let mut masked: Vec<(usize, u16, usize)> = Vec::new();
        // A number of cells that is too large counts bytes of the cells as offsets.
        let (mut offsets, mut reach, mut first) = (self.cells, self.array, self.array_end());
        for number in 0..self.cells {
            reach = reach.saturating_add(2);
            if reach > first {
                offsets = number;
                break;
            }
            let Some(cell) = self.cell(number) else { continue };
            let place = (cell.start, number, cell.end);
            if cell.fault.is_some() {
                masked.push(place);
            } else {
                places.push(place);
                first = first.min(cell.start);
            }
        }
        places.sort_unstable();
        let (mut over, mut overlong) = (Vec::new(), Vec::new());
        // Where the cells that are given begin and end.
        let mut given: Vec<(usize, usize)> = Vec::new();
        let mut before = None;
        for (start, number, end) in places {
            if let Some((first, reach)) = given.last_mut().filter(|(_, reach)| start < *reach) {
                let first_cell = before.and_then(|before| self.cell(before));
                let is_cut = match (self.kind, first_cell) {
                    // The page number that it leads to is whole.
                    (Kind::TableInterior, _) => start >= first.saturating_add(5),
                    (_, Some(first)) => !is_record(&first) && self.cell(number).is_some_and(|cell| is_record(&cell)),
                    _ => false,
                };
                if !is_cut || overlong.len() >= MOST_OVERLONG {
                    over.push(number);
                    continue;
                }
                *reach = start;
                overlong.extend(before);
            }
            given.push((start, end));
            before = Some(number);
        }
        if !masked.is_empty() {
            let content = self.content().filter(|content| *content <= self.bytes.len()).unwrap_or(0);
            given.extend(self.free_blocks(0).unwrap_or_default());
            let taken = merge(given);
            masked.sort_unstable();
            let mut reach = 0;
            for (start, number, end) in masked {
                let at = taken.partition_point(|(_, taken_end)| *taken_end <= start);
                let is_free = taken.get(at).is_none_or(|(taken_start, _)| *taken_start >= end);
                if start < content.max(reach) || !is_free {
                    over.push(number);
                } else {
                    reach = end;
                }
            }
        }
        over.sort_unstable();
        overlong.sort_unstable();
        let page = *self;
        (0..self.cells).map(move |number| {
            let mut cell = page.cell(number).filter(|_| number < offsets && over.binary_search(&number).is_err())?;
            if overlong.binary_search(&number).is_ok() {
                cell.fault = Some(OVERLONG);
            }
            Some(cell)
        })
    }
}

/// Whether the record of a cell has exactly the bytes that the cell says.
fn is_record(cell: &Cell<'_>) -> bool {
    let columns = record::columns(cell.local, cell.payload);
    let last = columns.as_deref().and_then(<[_]>::last);
    last.is_some_and(|last| last.at.checked_add(last.len) == Some(cell.payload))
}

/// Ranges in their order, those that touch or overlap as one.
fn merge(mut ranges: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    ranges.sort_unstable();
    let mut merged: Vec<(usize, usize)> = Vec::new();
    for (start, end) in ranges {
        match merged.last_mut().filter(|(_, reach)| start <= *reach) {
            Some((_, reach)) => *reach = end.max(*reach),
            None => merged.push((start, end)),
        }
    }
    merged
}

/// The offset before `len` more bytes.
fn take(at: &mut usize, len: usize) -> Option<usize> {
    let before = *at;
    *at = at.checked_add(len)?;
    Some(before)
}

/// Bytes of a payload that stay in the page, of which so many bytes are used.
#[must_use]
pub fn local_len(payload: u64, usable: usize, is_index: bool) -> usize {
    let u = u64::try_from(usable).unwrap_or(0);
    let part = |n: u64| u.saturating_sub(12).saturating_mul(n).checked_div(255).unwrap_or(0).saturating_sub(23);
    let most = if is_index { part(64) } else { u.saturating_sub(35) };
    if payload <= most {
        return index(payload);
    }
    let least = part(32);
    let spilled = payload.saturating_sub(least).checked_rem(u.saturating_sub(4)).unwrap_or(0);
    let local = least.saturating_add(spilled);
    index(if local <= most { local } else { least })
}
