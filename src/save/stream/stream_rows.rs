//! The rows of a stream as its users see them.

use std::fmt;

use super::packed::{Entries, Entry, Packed, StoredKey};
use super::rows::StreamRow;

/// The rows of a stream, in a fixed order. A row takes 1 to some 20 bytes of memory; each is made when it is asked for.
#[derive(Clone, Default)]
pub struct StreamRows(Packed);

impl StreamRows {
    pub(super) fn push(&mut self, row: &StreamRow) {
        self.0.push(&Entry { row: *row, key: StoredKey::Rowid });
    }

    /// Gives back the memory that no row needs.
    pub(super) fn fit(&mut self) {
        self.0.fit();
    }

    /// The rows, whose memory is given back bit by bit.
    pub(super) fn into_rows(self) -> impl Iterator<Item = StreamRow> {
        self.0.into_entries().map(|entry| entry.row)
    }

    /// Number of rows.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no row.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.len() == 0
    }

    /// A row by its number.
    #[must_use]
    pub fn get(&self, number: usize) -> Option<StreamRow> {
        self.0.get(number).map(|entry| entry.row)
    }

    /// The first row.
    #[must_use]
    pub fn first(&self) -> Option<StreamRow> {
        self.get(0)
    }

    /// All rows, one after the other.
    #[must_use]
    pub fn iter(&self) -> Rows<'_> {
        self.iter_from(0)
    }

    /// The rows from the one with a number on.
    #[must_use]
    pub fn iter_from(&self, number: usize) -> Rows<'_> {
        Rows(self.0.iter_from(number))
    }

    /// How many rows at the beginning have a property that no row after them has.
    #[must_use]
    pub fn partition_point(&self, has: impl Fn(&StreamRow) -> bool) -> usize {
        self.0.partition_point(has)
    }
}

impl fmt::Debug for StreamRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl<'r> IntoIterator for &'r StreamRows {
    type Item = StreamRow;
    type IntoIter = Rows<'r>;

    fn into_iter(self) -> Rows<'r> {
        self.iter()
    }
}

/// An iterator over the rows of a stream.
pub struct Rows<'r>(Entries<'r>);

impl Iterator for Rows<'_> {
    type Item = StreamRow;

    fn next(&mut self) -> Option<StreamRow> {
        self.0.next().map(|entry| entry.row)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for Rows<'_> {}
