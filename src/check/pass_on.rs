//! Hands rows of the block table on as soon as their codes are known, so that not all of them are in memory.

use crate::check::row_table::TakeRows;
use crate::check::{Row, RowTable};
use crate::damage::Code;
use crate::save::SlotPositions;

/// Takes rows, and passes them to a function, sorted by slot and without their positions, whenever they are arranged.
pub(super) struct PassOn<'e> {
    held: RowTable,
    /// Where sectors begin.
    grid: Option<[u64; 2]>,
    each: &'e mut dyn FnMut(Row),
}

impl<'e> PassOn<'e> {
    pub fn new(each: &'e mut dyn FnMut(Row)) -> Self {
        Self { held: RowTable::default(), grid: None, each }
    }
}

impl TakeRows for PassOn<'_> {
    fn reserve(&mut self, rows: usize) {
        self.held.reserve(rows);
    }

    fn push(&mut self, row: Row) {
        self.held.push(Row { position: None, ..row });
    }

    fn last(&self) -> Option<Row> {
        self.held.last()
    }

    fn expect_offsets(&mut self, first: u64, size: u64) {
        self.grid = Some([first, size]);
        self.held.expect_offsets(first, size);
    }

    fn passes_on(&self) -> bool {
        true
    }

    fn arrange(&mut self, codes: &[(u32, Code)], positions: Option<SlotPositions>) {
        self.held.arrange(codes, positions);
        for row in std::mem::take(&mut self.held).iter() {
            (self.each)(row);
        }
        if let Some([first, size]) = self.grid {
            self.held.expect_offsets(first, size);
        }
    }
}
