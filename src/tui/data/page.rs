//! The field of a database that a byte is part of.

use super::block::BlockData;
use super::opened::Opened;
use super::window::{Field, Window};
use crate::bytes::Span;
use crate::save::{Owner, PageKind, Stream};
use crate::source::FileSource;

/// The header of the database.
const HEADER: [(&str, u64); 23] = [
    ("magic", 16),
    ("page size, big-endian", 2),
    ("write version", 1),
    ("read version", 1),
    ("reserved bytes of a page", 1),
    ("largest payload fraction", 1),
    ("smallest payload fraction", 1),
    ("leaf payload fraction", 1),
    ("change counter, big-endian", 4),
    ("pages, big-endian", 4),
    ("first page of the free list, big-endian", 4),
    ("free pages, big-endian", 4),
    ("schema cookie, big-endian", 4),
    ("schema format, big-endian", 4),
    ("cache size, big-endian", 4),
    ("largest root page, big-endian", 4),
    ("encoding, big-endian", 4),
    ("user version, big-endian", 4),
    ("incremental vacuum, big-endian", 4),
    ("application id, big-endian", 4),
    ("reserved", 20),
    ("change counter of the version, big-endian", 4),
    ("version of SQLite, big-endian", 4),
];

/// Header of a page of a tree.
const PAGE: [(&str, u64); 5] = [
    ("kind of page", 1),
    ("first free block, big-endian", 2),
    ("cells, big-endian", 2),
    ("start of cells, big-endian", 2),
    ("fragmented bytes", 1),
];

/// Fixed fields from `start` on: name, bytes.
fn find_field(fields: &[(&str, u64)], start: u64, at: u64, window: Window<'_>) -> Option<Field> {
    let mut before = start;
    for (name, len) in fields {
        if (before..before + len).contains(&at) {
            return Some(Field::new(before, *len, *name, be(window, before, *len)));
        }
        before += len;
    }
    None
}

/// A number of up to four bytes.
fn be(window: Window<'_>, at: u64, len: u64) -> String {
    let bytes = window.get(at, len).filter(|bytes| bytes.len() <= 4);
    bytes.map_or_else(String::new, |bytes| bytes.iter().fold(0u32, |n, byte| (n << 8) | u32::from(*byte)).to_string())
}

/// What a byte of a database is.
pub(super) fn field(
    opened: &Opened,
    stream: &Stream<FileSource>,
    block: Option<&BlockData>,
    at: u64,
    window: Window<'_>,
) -> Option<Field> {
    if at < 100 {
        return find_field(&HEADER, 0, at, window);
    }
    if let Some(block) = block.filter(|block| (block.stored.start..block.stored.end).contains(&at)) {
        let mode = block.container.unwrap_or("unknown");
        let start = block.stored.start;
        let body = block.body.start.clamp(start, block.stored.end);
        if at < body {
            return Some(Field { span: Span::new(start, body), name: "container".into(), value: mode.to_owned() });
        }
        let name = format!("block data, {mode}");
        return Some(Field { span: Span::new(body, block.stored.end), name, value: "b shows it decompressed".into() });
    }
    let sector = opened.sector_at(at)?;
    let page = u32::try_from(sector).ok()?.checked_add(1)?;
    let span = stream.pages.span(page);
    let start = if page == 1 { 100 } else { span.start };
    let whole = |name: String| Field { span, name, value: format!("page {page}") };
    let owner = opened.owner_at(sector)?;
    match owner {
        Owner::Page(PageKind::Interior | PageKind::Leaf | PageKind::Index) | Owner::Header => {
            let inside = at.checked_sub(start)?;
            if inside < 8 {
                return find_field(&PAGE, start, at, window);
            }
            Some(whole("cells of the page".to_owned()))
        }
        Owner::Block(_) | Owner::Page(PageKind::Overflow) => {
            if at < span.start + 4 {
                return Some(Field::new(
                    span.start,
                    4,
                    "next page of the chain, big-endian",
                    be(window, span.start, 4),
                ));
            }
            Some(whole("overflow page of a row".to_owned()))
        }
        Owner::Page(kind) => Some(whole(kind.name().to_owned())),
        _ => Some(whole("page".to_owned())),
    }
}
