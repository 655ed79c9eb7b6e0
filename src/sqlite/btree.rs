//! A page of a b-tree and its cells.
//!
//! ```text
//! kind u8 (2 interior of an index, 5 interior of a table, 10 leaf of an index, 13 leaf of a table) · first free block u16
//! cells u16 · start of the cells' content u16 · fragmented bytes u8 · right child u32 (interior pages only)
//! cells x offset u16 · free space · cells
//! ```

use crate::bytes::index;
use crate::sqlite::header::HEADER_BYTES;
use crate::sqlite::record::varint;

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
}

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
        Ok(Self { kind, cells, right, bytes, header: at, array })
    }

    /// A cell; `None` if its offset or its content is outside of the page.
    #[must_use]
    pub fn cell(&self, number: u16) -> Option<Cell<'a>> {
        let at = usize::from(number).checked_mul(2)?.checked_add(self.array)?;
        let start = usize::from(u16_at(self.bytes, at)?);
        let first = usize::from(self.cells).checked_mul(2)?.checked_add(self.array)?;
        if start < first {
            return None;
        }
        self.cell_at(start)
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
            return Some(Cell { start, child, rowid, payload, local: &[], local_at: at, overflow: None, end: at });
        }
        // No file can hold such a payload.
        if payload > u64::from(u32::MAX) {
            return None;
        }
        let local_len = local_len(payload, self.bytes.len(), self.kind.is_index());
        let local_at = at;
        let end = local_at.checked_add(local_len)?;
        let local = self.bytes.get(local_at..end)?;
        let spilled = u64::try_from(local_len).is_ok_and(|n| n < payload);
        let overflow = if spilled { Some(u32_at(self.bytes, end)?) } else { None };
        let end = if spilled { end.checked_add(4)? } else { end };
        Some(Cell { start, child, rowid, payload, local, local_at, overflow, end })
    }

    /// Whether cells, free blocks and fragments fill the area of the cells' content to the byte, as SQLite leaves every
    /// page: hardly any other bytes do, nor a page that is cut at another size.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        let (Some(first_free), Some(content), Some(fragments)) = (
            u16_at(self.bytes, self.header.saturating_add(1)),
            u16_at(self.bytes, self.header.saturating_add(5)),
            self.bytes.get(self.header.saturating_add(7)),
        ) else {
            return false;
        };
        let content = if content == 0 { 1 << 16 } else { usize::from(content) };
        let array_end = usize::from(self.cells).saturating_mul(2).saturating_add(self.array);
        if content < array_end || content > self.bytes.len() || *fragments > 60 {
            return false;
        }
        let mut sum = usize::from(*fragments);
        // Cells that overlap make the sum too large.
        for cell in (0..self.cells).map(|number| self.cell(number)) {
            let Some(cell) = cell.filter(|cell| cell.start >= content) else { return false };
            // A cell takes 4 bytes at least.
            sum = sum.saturating_add(cell.end.saturating_sub(cell.start).max(4));
        }
        let (mut free, mut reach) = (usize::from(first_free), content);
        while free != 0 {
            let (Some(next), Some(len)) = (u16_at(self.bytes, free), u16_at(self.bytes, free.saturating_add(2))) else {
                return false;
            };
            if free < reach || len < 4 {
                return false;
            }
            reach = free.saturating_add(len.into());
            sum = sum.saturating_add(len.into());
            free = next.into();
        }
        sum == self.bytes.len().saturating_sub(content)
    }

    /// All cells, with `None` for those that are outside of the page, or over one that begins before them: no number of
    /// cells can make the same bytes be read again and again.
    pub fn all(&self) -> impl Iterator<Item = Option<Cell<'a>>> {
        let mut places: Vec<(usize, u16, usize)> = Vec::new();
        for number in 0..self.cells {
            places.extend(self.cell(number).map(|cell| (cell.start, number, cell.end)));
        }
        places.sort_unstable();
        let (mut reach, mut over) = (0, Vec::new());
        for (start, number, end) in places {
            if start < reach {
                over.push(number);
            } else {
                reach = end;
            }
        }
        over.sort_unstable();
        let page = *self;
        (0..self.cells).map(move |number| page.cell(number).filter(|_| over.binary_search(&number).is_err()))
    }
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
