//! The rows of a stream in the order of their pages.

use super::Stream;
use super::packed::NO_ROW;
use super::rows::StreamRow;
use super::sort::sort;
use crate::bytes::index;
use crate::source::Source;

impl<S: Source> Stream<S> {
    /// Whether the order of the rows is that of their pages, and of the cells in these.
    pub(crate) fn has_rows_by_page(&self) -> bool {
        self.rows.iter().map(|row| (row.page, row.cell)).is_sorted()
    }

    /// The rows with their numbers, in the order of their pages and of the cells in these.
    pub(crate) fn rows_by_page(&self) -> impl Iterator<Item = (u32, StreamRow)> {
        let place = |row: &StreamRow| (row.page, row.cell);
        let plain = |row: &StreamRow, number| StreamRow { page: row.page, cell: row.cell, rowid: number, ..NO_ROW };
        let sorted = self.has_rows_by_page();
        // Only where a row is and its number matter.
        let numbered = (0i64..).zip(&self.rows);
        let numbered = numbered.map(|(number, row)| plain(&row, number));
        let order = (!sorted).then(|| sort(numbered, place));
        let numbers = order.into_iter().flat_map(super::StreamRows::into_rows).map(|row| row.rowid);
        let looked_up = numbers.filter_map(|number| {
            let number = u32::try_from(number).ok()?;
            Some((number, self.rows.get(index(number.into()))?))
        });
        let as_stored = (0u32..).zip(&self.rows).take(if sorted { self.rows.len() } else { 0 });
        as_stored.chain(looked_up)
    }
}
