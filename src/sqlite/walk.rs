//! Walking b-trees and the list of free pages, and who owns which page.

use std::io;

use crate::bytes::{Span, index};
use crate::damage::{Code, Damage, Value};
use crate::source::Source;
use crate::sqlite::btree::{Cell, Page};
use crate::sqlite::pages::Pages;

/// The field of damage of a page of a table.
pub(crate) const TABLE_PAGE: &str = "page of a table";
/// The field of damage of a page of an index.
pub(crate) const INDEX_PAGE: &str = "page of an index";
/// The field of damage of a cell that is read nevertheless.
const CELL: &str = "cell of a page";
/// The field of damage of what is between the cells of a page: no row is hidden by it, but SQLite does not write to such a page.
const FREE: &str = "list of free blocks of a page";

/// Whether a damage is that of a page of which something may not be read.
pub(crate) fn hides_cells(damage: &Damage) -> bool {
    damage.code == Code::StreamPage && ![CELL, FREE].contains(&damage.field)
}

/// The use of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Use {
    /// Nothing points to it.
    Nothing,
    /// An interior page of a table.
    TableInterior,
    /// A leaf of a table.
    TableLeaf,
    /// A page of an index.
    Index,
    /// Part of a payload, with the index of its row if known.
    Overflow(Option<u32>),
    /// In the list of free pages: one that lists others.
    FreeTrunk,
    /// In the list of free pages.
    Free,
    /// A pointer map: for other pages, the page that points to them.
    PointerMap,
    /// Never used: the page with the lock bytes.
    Lock,
    /// A leaf that its tree has lost, with rows of blocks.
    Salvaged,
    /// A damaged page of a tree.
    Damaged,
}

impl Use {
    /// Whether nothing was read of the page as a part of something else.
    #[must_use]
    pub const fn can_be_payload(self) -> bool {
        matches!(self, Self::Nothing | Self::Damaged)
    }
}

/// Who owns each page.
#[derive(Clone, Debug, Default)]
pub struct Owners(Vec<Use>);

impl Owners {
    /// No page has an owner but those of fixed use.
    #[must_use]
    pub fn new<S: Source>(pages: &Pages<S>) -> Self {
        let header = &pages.header;
        let fixed = |page| match page {
            _ if header.is_lock_page(page) => Use::Lock,
            _ if header.is_pointer_map(page) => Use::PointerMap,
            _ => Use::Nothing,
        };
        Self((1..=pages.count()).map(fixed).collect())
    }

    /// The use of a page.
    #[must_use]
    pub fn page_use(&self, page: u32) -> Option<Use> {
        self.0.get(usize::try_from(page.checked_sub(1)?).ok()?).copied()
    }

    /// Sets the use of a page. False if it has one already, or does not exist.
    pub fn claim(&mut self, page: u32, is: Use) -> bool {
        let free = self.page_use(page) == Some(Use::Nothing);
        if free {
            self.set(page, is);
        }
        free
    }

    /// The same for a page of a payload, which may also be one that a tree leads to by a damaged page number.
    pub fn claim_payload(&mut self, page: u32, is: Use) -> bool {
        let free = self.page_use(page).is_some_and(Use::can_be_payload);
        if free {
            self.set(page, is);
        }
        free
    }

    /// Changes the use of a page.
    pub fn set(&mut self, page: u32, is: Use) {
        let at = page.checked_sub(1).and_then(|at| usize::try_from(at).ok());
        if let Some(owner) = at.and_then(|at| self.0.get_mut(at)) {
            *owner = is;
        }
    }

    /// All pages with their use.
    pub fn iter(&self) -> impl Iterator<Item = (u32, Use)> {
        (1..).zip(self.0.iter().copied())
    }
}

/// A damage of a page.
pub(crate) fn fault<S: Source>(pages: &Pages<S>, page: u32, field: &'static str, found: &'static str) -> Damage {
    Damage::new(Code::StreamPage, pages.span_in_file(page), field).found(Value::Words(found))
}

/// A page that cannot be read counts as damaged; the I/O error is dropped, the place is reported.
pub(crate) fn read_page<'b, S: Source>(
    pages: &Pages<S>,
    number: u32,
    buffer: &'b mut Vec<u8>,
) -> Result<Page<'b>, &'static str> {
    pages.read(number, buffer).map_err(|_| "cannot be read")?;
    Page::parse_part(number, buffer, index(pages.header.usable().into()))
}

/// Walks over a tree from its root on, giving each cell of its leaves in the order of the rows, and of an index those of
/// its interior pages too, before those below them. A page is entered once, whatever leads to it.
///
/// Damage is pushed to `damage`.
pub fn tree<S: Source>(
    pages: &Pages<S>,
    root: u32,
    is_index: bool,
    owners: &mut Owners,
    damage: &mut Vec<Damage>,
    each: &mut dyn FnMut(u32, u16, &Cell<'_>),
) {
    let field = if is_index { INDEX_PAGE } else { TABLE_PAGE };
    let mut buffer = Vec::new();
    // Each page, the one that leads to it, and the row numbers between which its rows are.
    let mut stack: Vec<(u32, Option<u32>, [Option<i64>; 2])> = vec![(root, None, [None; 2])];
    while let Some((number, parent, [mut above, most])) = stack.pop() {
        let at = parent.unwrap_or(number);
        if !pages.has(number) {
            damage.push(fault(pages, at, field, "points to a page that does not exist"));
            continue;
        }
        let page = read_page(pages, number, &mut buffer);
        let is = match &page {
            _ if is_index => Use::Index,
            Ok(page) if page.kind.is_interior() => Use::TableInterior,
            _ => Use::TableLeaf,
        };
        if !owners.claim(number, is) {
            damage.push(fault(pages, at, field, "points to a page that is in use elsewhere"));
            continue;
        }
        let page = match page {
            Ok(page) if page.kind.is_index() == is_index => page,
            wrong => {
                let what = wrong.err().unwrap_or("page type of another tree");
                damage.push(fault(pages, number, field, what));
                owners.set(number, Use::Damaged);
                continue;
            }
        };
        let (from, before) = (stack.len(), damage.len());
        for (cell_number, cell) in (0u16..).zip(page.all()) {
            let Some(mut cell) = cell else {
                damage.push(fault(pages, number, field, "a cell is outside of the page"));
                continue;
            };
            damage.extend(cell.fault.map(|what| fault(pages, number, CELL, what)));
            stack.extend(cell.child.map(|child| (child, Some(number), [above, Some(cell.rowid)])));
            if !is_index && cell.child.is_none() {
                cell.fits = above.is_none_or(|above| above < cell.rowid) && most.is_none_or(|most| cell.rowid <= most);
            } else {
                above = Some(cell.rowid);
            }
            if is_index || cell.child.is_none() {
                each(number, cell_number, &cell);
            }
        }
        if damage.len() == before {
            damage.extend(page.free_fault().map(|what| fault(pages, number, FREE, what)));
        }
        stack.extend(page.right.map(|child| (child, Some(number), [above, most])));
        // The last one pushed is visited first.
        if let Some(new) = stack.get_mut(from..) {
            new.reverse();
        }
    }
}

/// Walks over the list of free pages.
pub fn free_pages<S: Source>(pages: &Pages<S>, owners: &mut Owners, damage: &mut Vec<Damage>) {
    let header = &pages.header;
    let mut next = header.freelist;
    let mut found = 0u32;
    let mut buffer = Vec::new();
    let mut wrong = |span: Span, what: &'static str| {
        damage.push(Damage::new(Code::StreamFreelist, span, "list of free pages").found(Value::Words(what)));
    };
    let mut from = Span::sized(32, 4);
    while next != 0 {
        if !pages.has(next) {
            wrong(from, "points to a page that does not exist");
            return;
        }
        if !owners.claim(next, Use::FreeTrunk) {
            wrong(from, "points to a page that is in use elsewhere");
            return;
        }
        from = pages.span_in_file(next);
        found = found.saturating_add(1);
        if pages.read(next, &mut buffer).is_err() {
            wrong(from, "a page cannot be read");
            return;
        }
        let (words, _) = buffer.as_chunks::<4>();
        let mut words = words.iter().map(|word| u32::from_be_bytes(*word));
        let (after, count) = (words.next().unwrap_or(0), words.next().unwrap_or(0));
        if usize::try_from(count).is_ok_and(|count| count > words.len()) {
            wrong(from, "more entries than fit into a page");
            return;
        }
        for page in words.take(usize::try_from(count).unwrap_or(0)) {
            found = found.saturating_add(1);
            if !owners.claim(page, Use::Free) {
                wrong(from, "a page is in use or does not exist");
            }
        }
        next = after;
    }
    if found != header.free_pages {
        wrong(Span::sized(36, 4), "another length than the header gives");
    }
}

/// Claims the pages of a chain of overflow pages. A broken chain is not reported here.
///
/// # Errors
/// I/O errors.
pub fn claim_chain<S: Source>(pages: &Pages<S>, cell: &Cell<'_>, is: Use, owners: &mut Owners) -> io::Result<()> {
    let each = u64::from(pages.header.usable().saturating_sub(4)).max(1);
    let spilled = cell.payload.saturating_sub(crate::bytes::len64(cell.local));
    let mut next = cell.overflow.unwrap_or(0);
    let mut buffer = Vec::new();
    for _ in 0..spilled.div_ceil(each) {
        if !owners.claim_payload(next, is) {
            break;
        }
        pages.read_some(next, 4, &mut buffer)?;
        next = buffer.first_chunk::<4>().map_or(0, |bytes| u32::from_be_bytes(*bytes));
    }
    Ok(())
}
