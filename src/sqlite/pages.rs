//! The pages of a database, with those of a journal or log next to it.

use std::collections::HashMap;
use std::io;

use crate::bytes::{Span, index};
use crate::source::Source;
use crate::sqlite::header::Header;

/// Pages that are read of a database: 128 GiB of pages of the usual size. Something is kept of each.
pub const MAX_PAGES: u32 = 1 << 25;

/// Pages that are in another file than the database: in the journal of an interrupted save, or in a write-ahead
/// log.
#[derive(Debug)]
pub struct Overlay<S> {
    /// The other file.
    pub source: S,
    /// Where in it each page begins.
    pub at: HashMap<u32, u64>,
    /// Pages of the database with it.
    pub pages: u32,
}

/// The pages of a database.
#[derive(Debug)]
pub struct Pages<S> {
    /// The source of its bytes.
    pub source: S,
    /// Its header.
    pub header: Header,
    /// Pages that are in another file.
    pub overlay: Option<Overlay<S>>,
}

impl<S: Source> Pages<S> {
    /// Pages that the database should have.
    #[must_use]
    pub fn declared(&self) -> u32 {
        match &self.overlay {
            Some(overlay) => overlay.pages,
            None if self.header.pages > 0 => self.header.pages,
            None => self.in_file(),
        }
    }

    /// Pages that the file has, the last one possibly in part.
    #[must_use]
    pub fn in_file(&self) -> u32 {
        let pages = self.source.len().div_ceil(u64::from(self.header.page_size).max(1));
        u32::try_from(pages).unwrap_or(u32::MAX)
    }

    /// Number of pages that can be read, including those that the header does not count, since its number may be wrong.
    #[must_use]
    pub fn count(&self) -> u32 {
        let there = match &self.overlay {
            // Pages beyond the end of the file are in the other one.
            Some(overlay) => {
                let more = u32::try_from(overlay.at.len()).unwrap_or(u32::MAX);
                overlay.pages.min(self.in_file().saturating_add(more))
            }
            None => self.in_file(),
        };
        there.min(MAX_PAGES)
    }

    /// The span of a page in the database.
    #[must_use]
    pub fn span(&self, page: u32) -> Span {
        let size = u64::from(self.header.page_size);
        Span::sized(u64::from(page.saturating_sub(1)).saturating_mul(size), size)
    }

    /// The part of a page that is in the file.
    #[must_use]
    pub fn span_in_file(&self, page: u32) -> Span {
        let (span, len) = (self.span(page), self.source.len());
        Span::new(span.start.min(len), span.end.min(len))
    }

    /// Whether the database has this page.
    #[must_use]
    pub fn has(&self, page: u32) -> bool {
        page > 0 && page <= self.count()
    }

    /// Reads the used bytes of a page into `out`, as many as there are.
    ///
    /// # Errors
    /// I/O errors.
    pub fn read(&self, page: u32, out: &mut Vec<u8>) -> io::Result<()> {
        self.read_some(page, index(self.header.usable().into()), out)
    }

    /// Makes `out` the first bytes of a page.
    ///
    /// # Errors
    /// I/O errors.
    pub fn read_some(&self, page: u32, len: usize, out: &mut Vec<u8>) -> io::Result<()> {
        if let Some(overlay) = &self.overlay
            && let Some(at) = overlay.at.get(&page)
        {
            return overlay.source.read_into(*at, len, out);
        }
        self.source.read_into(self.span(page).start, len, out)
    }

    /// Reads `count` consecutive pages into `out`, from `page` on; fewer if one of them is
    /// in another file, or the file ends.
    ///
    /// # Errors
    /// I/O errors.
    pub fn read_run(&self, page: u32, pages: u32, out: &mut Vec<u8>) -> io::Result<()> {
        let pages = pages.min(self.count().saturating_add(1).saturating_sub(page)).max(1);
        if let Some(overlay) = &self.overlay {
            let elsewhere = |n: u32| overlay.at.contains_key(&page.saturating_add(n));
            if elsewhere(0) {
                return self.read_some(page, index(self.header.page_size.into()), out);
            }
            let pages = (1..pages).find(|n| elsewhere(*n)).unwrap_or(pages);
            return self.read_in_file(page, pages, out);
        }
        self.read_in_file(page, pages, out)
    }

    fn read_in_file(&self, page: u32, pages: u32, out: &mut Vec<u8>) -> io::Result<()> {
        let len = u64::from(pages).saturating_mul(self.header.page_size.into());
        self.source.read_into(self.span(page).start, index(len), out)
    }
}
