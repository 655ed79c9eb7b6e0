//! The rollback journal: the pages of a database as they were before a save that was not finished.
//!
//! ```text
//! segment: magic · pages u32 (0xffffffff: to the end) · nonce u32 · pages of the database before u32 · sector size u32
//!          page size u32 · zeros up to a sector · pages x (number u32 · content · checksum u32)
//! ```
//!
//! A journal that is empty or begins with zeros belongs to a save that was finished. SQLite copies the pages back
//! into the database and deletes the journal; here they are read where they are, and nothing is written. A journal of
//! several databases names a super-journal at its end, a file that SQLite deletes in the end: such a one is not followed.

use std::collections::HashMap;
use std::io;

use crate::bytes::{Cursor, index};
use crate::source::Source;
use crate::sqlite::header::is_page_size;
use crate::sqlite::pages::Overlay;

/// The first bytes of a segment.
pub const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// The state of a file next to a database.
#[derive(Debug)]
pub enum Found<S> {
    /// Not needed: the save was finished.
    Nothing,
    /// Pages to be read instead of those of the database, and their size.
    Pages(Overlay<S>, u32),
    /// It should have pages and cannot be used.
    Unusable(&'static str),
}

struct Segment {
    pages: u32,
    nonce: u32,
    before: u32,
    sector: u64,
    page_size: u32,
}

fn segment<S: Source>(source: &S, at: u64) -> io::Result<Option<Segment>> {
    let mut bytes = Vec::new();
    source.read_into(at, 28, &mut bytes)?;
    let mut cursor = Cursor::new(&bytes);
    if cursor.array::<8>() != Ok(MAGIC) {
        return Ok(None);
    }
    let mut number = || cursor.array().map(u32::from_be_bytes);
    let (Ok(pages), Ok(nonce), Ok(before), Ok(sector), Ok(page_size)) =
        (number(), number(), number(), number(), number())
    else {
        return Ok(None);
    };
    Ok(Some(Segment { pages, nonce, before, sector: sector.into(), page_size }))
}

/// Reads the journal of a database of at least one byte.
///
/// # Errors
/// I/O errors.
pub fn read<S: Source>(source: S) -> io::Result<Found<S>> {
    let mut first = Vec::new();
    source.read_into(0, 8, &mut first)?;
    if first.first().is_none_or(|byte| *byte == 0) {
        return Ok(Found::Nothing);
    }
    let Some(head) = segment(&source, 0)? else {
        return Ok(Found::Unusable("its first bytes are not those of a journal"));
    };
    if !is_page_size(head.page_size) || !(32..=1 << 16).contains(&head.sector) || !head.sector.is_power_of_two() {
        return Ok(Found::Unusable("its header has invalid sizes"));
    }
    let mut last = Vec::new();
    source.read_into(source.len().saturating_sub(8), 8, &mut last)?;
    if last == MAGIC && source.len() > head.sector {
        return Ok(Found::Unusable("it belongs to several databases"));
    }
    let size = u64::from(head.page_size);
    let mut pages: HashMap<u32, u64> = HashMap::new();
    let mut page = Vec::new();
    let mut at = 0u64;
    'segments: while let Some(segment) = segment(&source, at)? {
        at = at.saturating_add(head.sector);
        let left = source.len().saturating_sub(at).checked_div(size.saturating_add(8)).unwrap_or(0);
        // The count is written last. While it is 0, later pages may not be on the disk, and the database was not changed.
        let count = if segment.pages == u32::MAX { left } else { u64::from(segment.pages).min(left) };
        for _ in 0..count {
            source.read_into(at, index(size.saturating_add(8)), &mut page)?;
            let mut cursor = Cursor::new(&page);
            let (Ok(number), Ok(content), Ok(sum)) = (
                cursor.array().map(u32::from_be_bytes),
                cursor.take(index(size)),
                cursor.array().map(u32::from_be_bytes),
            ) else {
                break 'segments;
            };
            // Pages after one with a wrong checksum were not on the disk when the save was interrupted.
            if number == 0 || sum != checksum(content, segment.nonce) {
                break 'segments;
            }
            if number <= head.before {
                pages.insert(number, at.saturating_add(4));
            }
            at = at.saturating_add(size).saturating_add(8);
        }
        at = at.div_ceil(head.sector).saturating_mul(head.sector);
        if segment.pages == u32::MAX {
            break;
        }
    }
    Ok(Found::Pages(Overlay { source, at: pages, pages: head.before }, head.page_size))
}

/// A journal of one segment that puts pages of a size, with their numbers, back into a database of `before` pages.
#[must_use]
pub fn encode(pages: &[(u32, &[u8])], before: u32, page_size: u32) -> Vec<u8> {
    const NONCE: u32 = 0x0123_4567;
    const SECTOR: u32 = 512;
    let mut out = MAGIC.to_vec();
    let count = u32::try_from(pages.len()).unwrap_or(u32::MAX);
    for n in [count, NONCE, before, SECTOR, page_size] {
        out.extend_from_slice(&n.to_be_bytes());
    }
    out.resize(index(SECTOR.into()), 0);
    for (number, page) in pages {
        out.extend_from_slice(&number.to_be_bytes());
        out.extend_from_slice(page);
        out.extend_from_slice(&checksum(page, NONCE).to_be_bytes());
    }
    out
}

/// Every 200th byte, counted from the end.
fn checksum(page: &[u8], nonce: u32) -> u32 {
    let mut sum = nonce;
    let mut at = page.len().checked_sub(200);
    while let Some(i) = at.filter(|i| *i > 0) {
        sum = sum.wrapping_add(page.get(i).copied().unwrap_or(0).into());
        at = i.checked_sub(200);
    }
    sum
}
