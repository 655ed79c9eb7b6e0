//! The pages of a database, read through what lies beside it.

use std::collections::HashMap;
use std::io;

use crate::bytes::{Span, index};
use crate::source::Source;
use crate::sqlite::header::Header;

/// Pages that are read of a database: 128 GiB of pages of the usual size. Something is kept of each.
pub const MAX_PAGES: u32 = 1 << 25;

/// Pages that stand in another file than the database: in a journal that undoes an unfinished save, or in a write-ahead
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
    /// Where its bytes come from.
    pub source: S,
    /// Its header.
    pub header: Header,
    /// Pages that stand elsewhere.
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

    /// Pages that can be read. Those that the header does not count are among them: its number may be what is wrong.
    #[must_use]
    pub fn count(&self) -> u32 {
        let there = match &self.overlay {
            // What is behind the end of the file stands in the other one.
            Some(overlay) => {
                let more = u32::try_from(overlay.at.len()).unwrap_or(u32::MAX);
                overlay.pages.min(self.in_file().saturating_add(more))
            }
            None => self.in_file(),
        };
        there.min(MAX_PAGES)
    }

    /// Where a page stands in the database.
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

    /// Whether a page is one of the database's.
    #[must_use]
    pub fn has(&self, page: u32) -> bool {
        page > 0 && page <= self.count()
    }

    /// Makes `out` the used bytes of a page, or as many of them as there are.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn read(&self, page: u32, out: &mut Vec<u8>) -> io::Result<()> {
        self.read_some(page, index(self.header.usable().into()), out)
    }

    /// Makes `out` the first bytes of a page.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn read_some(&self, page: u32, len: usize, out: &mut Vec<u8>) -> io::Result<()> {
        if let Some(overlay) = &self.overlay
            && let Some(at) = overlay.at.get(&page)
        {
            return overlay.source.read_into(*at, len, out);
        }
        self.source.read_into(self.span(page).start, len, out)
    }

    /// Makes `out` so many pages in a row as they stand in the file, from `page` on; fewer where one of them stands
    /// elsewhere or the file ends.
    ///
    /// # Errors
    /// What the operating system says.
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
