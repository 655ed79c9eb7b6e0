//! Reads any table of a stream row by row, and the keys of an index.

use std::collections::HashSet;
use std::io;

use super::{Stream, Table};
use crate::bytes::index;
use crate::damage::{Code, Damage};
use crate::godot::stream::loc::{Key, Place};
use crate::source::Source;
use crate::sqlite::payload::Payload;
use crate::sqlite::record;
use crate::sqlite::walk::{self, Owners};

/// A function that receives the number and the values of a row.
pub type EachRow<'e, E> = dyn FnMut(i64, &[Key<'_>]) -> Result<(), E> + 'e;

impl<S: Source> Stream<S> {
    /// Passes the rows of a table to `each` in their order: the number and all values. False if
    /// some of them, or a part of one, cannot be read, or when they declare more than the file can have.
    ///
    /// # Errors
    /// I/O errors, and the first error of `each`, which ends the walk.
    pub fn each_row<E: From<io::Error>>(&self, table: &Table, each: &mut EachRow<'_, E>) -> Result<bool, E> {
        let mut owners = Owners::new(&self.pages);
        let (mut damage, mut failed) = (Vec::new(), None);
        let (mut whole, mut payload) = (true, Payload::default());
        // Rows may share pages, but no more bytes are read than the file has.
        let mut room = index(self.pages.source.len()).saturating_mul(2).saturating_add(1 << 16);
        walk::tree(&self.pages, table.root, table.is_index, &mut owners, &mut damage, &mut |page, _, cell| {
            if failed.is_some() {
                return;
            }
            let limit = u64::try_from(room).unwrap_or(u64::MAX);
            if let Err(error) = payload.read(&self.pages, page, cell, limit) {
                failed = Some(E::from(error));
                return;
            }
            room = room.saturating_sub(payload.bytes.len());
            let complete = payload.broken.is_none() && crate::bytes::len64(&payload.bytes) >= cell.payload;
            match record::columns(&payload.bytes, cell.payload).filter(|_| complete) {
                Some(columns) => {
                    let values: Vec<Key<'_>> = columns.iter().map(|column| column.value(&payload.bytes)).collect();
                    failed = each(cell.rowid, &values).err();
                }
                None => whole = false,
            }
        });
        failed.map_or(Ok(whole && !damage.iter().any(walk::hides_cells)), Err)
    }

    /// How many pages of tables cannot be read or are not in the file; how many rows were on them is not known. 0 if an
    /// undamaged index names the positions of all rows.
    #[must_use]
    pub fn unread_table_pages(&self) -> u64 {
        let of = |field| {
            self.damage.iter().filter(move |damage| damage.code == Code::StreamPage && damage.field == field).count()
        };
        let is_indexed = self.tables.iter().any(|table| table.is_index_of("blocks")) && of(walk::INDEX_PAGE) == 0;
        if is_indexed { 0 } else { of(walk::TABLE_PAGE) as u64 }
    }

    /// How many positions the indexes name of which there is no row, because pages of tables cannot be read or are not in the file.
    #[must_use]
    pub fn unread_rows(&self) -> u64 {
        let is_of_table = |damage: &Damage| damage.code == Code::StreamPage && damage.field == walk::TABLE_PAGE;
        if !self.damage.iter().any(is_of_table) {
            return 0;
        }
        let found: HashSet<Place> = self.rows.iter().filter_map(|row| row.place).collect();
        let named: HashSet<Place> = self.indexed().into_iter().collect();
        named.difference(&found).count() as u64
    }

    /// The positions in the indexes of the table of blocks, in no particular order; none if keys are row numbers.
    #[must_use]
    pub fn indexed(&self) -> Vec<Place> {
        let mut places = Vec::new();
        for table in self.tables.iter().filter(|table| table.is_index_of("blocks")) {
            let (mut owners, mut damage) = (Owners::new(&self.pages), Vec::new());
            walk::tree(&self.pages, table.root, true, &mut owners, &mut damage, &mut |_, _, cell| {
                let columns = record::columns(cell.local, cell.payload).unwrap_or_default();
                let key = columns.first().map(|column| column.value(cell.local));
                if places.len() < self.limits.stream_rows {
                    let place = key.and_then(|key| self.place(key).ok());
                    places.extend(place.map(|place| self.rule.place(place).unwrap_or(place)));
                }
            });
        }
        places
    }
}
