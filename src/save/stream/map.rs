//! The pages of a stream as a map: what each is for.

use super::Stream;
use crate::save::sectors::{Owner, Run, SectorMap};
use crate::source::Source;
use crate::sqlite::walk::{self, Owners, Use};

/// The use of a database page that is not part of a block's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum PageKind {
    /// Leads to other pages of a table.
    Interior,
    /// Contains rows of a table.
    Leaf,
    /// Belongs to an index.
    Index,
    /// Continues a row that is not a block.
    Overflow,
    /// Maps pages to the pages that point to them.
    PointerMap,
    /// Lists free pages.
    FreeTrunk,
    /// Is damaged.
    Damaged,
}

impl PageKind {
    /// A short name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Interior => "interior page of a table",
            Self::Leaf => "leaf of a table",
            Self::Index => "page of an index",
            Self::Overflow => "overflow page",
            Self::PointerMap => "pointer map",
            Self::FreeTrunk => "list of free pages",
            Self::Damaged => "damaged page",
        }
    }
}

impl<S: Source> Stream<S> {
    /// Owners of its pages, with the overflow pages of blocks.
    #[must_use]
    pub fn all_owners(&self) -> Owners {
        let mut owners = self.owners.clone();
        let mut buffer = Vec::new();
        for (number, row) in (0u32..).zip(&self.rows).filter(|(_, row)| self.spills(row)) {
            if let Ok(page) = walk::read_page(&self.pages, row.page, &mut buffer)
                && let Some(cell) = page.cell(row.cell)
            {
                // A page that cannot be read has no owner.
                let _ = walk::claim_chain(&self.pages, &cell, Use::Overflow(Some(number)), &mut owners);
            }
        }
        owners
    }

    /// Whether a row continues in overflow pages.
    #[must_use]
    pub fn spills(&self, row: &super::StreamRow) -> bool {
        let usable = crate::bytes::index(self.pages.header.usable().into());
        let local = crate::sqlite::btree::local_len(row.payload.into(), usable, false);
        crate::bytes::index(row.payload.into()) > local
    }

    /// Its pages as sectors: sector 0 is page 1. The number of an owner is that of its row.
    #[must_use]
    pub fn sector_map(&self) -> SectorMap {
        let mut runs: Vec<Run> = Vec::new();
        let declared = self.pages.declared();
        for (page, is) in self.all_owners().iter() {
            let owner = if page > declared && is == Use::Nothing { Owner::Stale } else { owner(page, is) };
            match runs.last_mut() {
                Some(run) if run.owner == owner => run.count += 1,
                _ => runs.push(Run { first: u64::from(page) - 1, count: 1, owner }),
            }
        }
        let (count, in_file) = (u64::from(self.pages.count()), u64::from(self.pages.in_file()));
        if in_file > count {
            runs.push(Run { first: count, count: in_file - count, owner: Owner::Stale });
        }
        SectorMap { header_bytes: 0, sector_size: self.pages.header.page_size, in_file, runs }
    }
}

fn owner(page: u32, is: Use) -> Owner {
    match is {
        _ if page == 1 => Owner::Header,
        Use::Nothing | Use::Salvaged => Owner::Lost,
        Use::TableInterior => Owner::Page(PageKind::Interior),
        Use::TableLeaf => Owner::Page(PageKind::Leaf),
        Use::Index => Owner::Page(PageKind::Index),
        Use::Overflow(Some(row)) => Owner::Block(row),
        Use::Overflow(None) => Owner::Page(PageKind::Overflow),
        Use::FreeTrunk => Owner::Page(PageKind::FreeTrunk),
        Use::Free => Owner::Free,
        Use::PointerMap | Use::Lock => Owner::Page(PageKind::PointerMap),
        Use::Damaged => Owner::Page(PageKind::Damaged),
    }
}
