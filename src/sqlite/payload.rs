//! Payloads: the bytes in a cell and in its chain of overflow pages.

use std::io;

use crate::bytes::{Span, index, len64};
use crate::source::Source;
use crate::sqlite::btree::Cell;
use crate::sqlite::pages::Pages;

/// Pages per read, for chains of consecutive pages.
const AHEAD: u32 = 64;

/// A payload, put together.
#[derive(Clone, Debug, Default)]
pub struct Payload {
    /// Its bytes, as far as they could be read.
    pub bytes: Vec<u8>,
    /// The span of each part in the file: first the part in the cell's page, then one per overflow page.
    pub parts: Vec<Span>,
    /// The overflow pages.
    pub pages: Vec<u32>,
    /// Why the chain broke off, and at which page.
    pub broken: Option<(u32, &'static str)>,
    run: Vec<u8>,
}

impl Payload {
    /// Reads up to `limit` bytes of the payload of a cell of a page.
    ///
    /// # Errors
    /// I/O errors.
    pub fn read<S: Source>(&mut self, pages: &Pages<S>, page: u32, cell: &Cell<'_>, limit: u64) -> io::Result<()> {
        let Self { bytes, parts, pages: chain, broken, run } = self;
        bytes.clear();
        parts.clear();
        chain.clear();
        *broken = None;
        let at = pages.span(page).start.saturating_add(u64::try_from(cell.local_at).unwrap_or(u64::MAX));
        bytes.extend_from_slice(cell.local);
        parts.push(Span::sized(at, len64(cell.local)));
        let wanted = cell.payload.min(limit);
        // Growing by doubling would take twice the bytes of a large row.
        bytes.reserve_exact(index(wanted.min(pages.source.len())).saturating_sub(bytes.len()));
        let each = u64::from(pages.header.usable().saturating_sub(4)).max(1);
        let size = index(pages.header.page_size.into());
        let mut next = cell.overflow;
        // Loop detection (Brent): compares each page of the chain with a mark that moves on ever more rarely.
        let (mut marker, mut steps) = (0u32, 0usize);
        // The pages of the run that was read last.
        let (mut run_at, mut run_pages) = (0u32, 0u32);
        while len64(bytes) < wanted {
            let Some(page) = next.filter(|page| *page != 0) else {
                *broken = Some((0, "it ends before the blob does"));
                break;
            };
            if !pages.has(page) || page == 1 {
                *broken = Some((page, "it points to a page that does not exist"));
                break;
            }
            if page == marker {
                *broken = Some((page, "it forms a loop"));
                break;
            }
            steps = steps.saturating_add(1);
            if steps.is_power_of_two() {
                marker = page;
            }
            if page.checked_sub(run_at).is_none_or(|n| n >= run_pages) {
                let left = wanted.saturating_sub(len64(bytes)).div_ceil(each);
                let ahead = u32::try_from(left).unwrap_or(AHEAD).min(AHEAD);
                pages.read_run(page, ahead, run)?;
                run_at = page;
                run_pages = u32::try_from(run.len().div_ceil(size.max(1))).unwrap_or(0);
            }
            let from = index(u64::from(page.saturating_sub(run_at)).saturating_mul(u64::from(pages.header.page_size)));
            let Some((number, data)) = run.get(from..).and_then(<[u8]>::split_first_chunk::<4>) else {
                *broken = Some((page, "the file ends inside it"));
                break;
            };
            let len = index(each.min(wanted.saturating_sub(len64(bytes))));
            let there = data.get(..len).unwrap_or(data);
            bytes.extend_from_slice(there);
            parts.push(Span::sized(pages.span(page).start.saturating_add(4), len64(there)));
            chain.push(page);
            if there.len() < len {
                *broken = Some((page, "the file ends inside it"));
                break;
            }
            next = Some(u32::from_be_bytes(*number));
        }
        let ends = next.is_none_or(|page| page == 0) || wanted < cell.payload;
        if broken.is_none() && !ends {
            *broken = Some((chain.last().copied().unwrap_or(0), "it continues after the end of the row"));
        }
        Ok(())
    }

    /// The span of payload bytes in the file, as far as they are contiguous.
    #[must_use]
    pub fn in_file(&self, span: Span) -> Span {
        let mut before = 0u64;
        for part in &self.parts {
            let inside = span.start.saturating_sub(before);
            if inside < part.len() || (inside == part.len() && span.is_empty()) {
                let start = part.start.saturating_add(inside);
                return Span::new(start, start.saturating_add(span.len()).min(part.end));
            }
            before = before.saturating_add(part.len());
        }
        self.parts.last().map_or(span, |part| Span::new(part.end, part.end))
    }
}
