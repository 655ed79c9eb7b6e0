//! Any table of a stream, row by row, and the keys that an index has.

use std::io;

use super::{Stream, Table};
use crate::bytes::index;
use crate::godot::stream::loc::{Key, Place};
use crate::source::Source;
use crate::sqlite::payload::Payload;
use crate::sqlite::record;
use crate::sqlite::walk::{self, Owners};

/// What takes a row: its number, and its values.
pub type EachRow<'e, E> = dyn FnMut(i64, &[Key<'_>]) -> Result<(), E> + 'e;

impl<S: Source> Stream<S> {
    /// Hands out the rows of a table in their order: their numbers, and their values, as many as each has. False when
    /// some of them, or a part of one, cannot be read, or when they declare more than the file can have.
    ///
    /// # Errors
    /// What the operating system says, and what `each` says, which ends it.
    pub fn each_row<E: From<io::Error>>(&self, table: &Table, each: &mut EachRow<'_, E>) -> Result<bool, E> {
        let mut owners = Owners::new(&self.pages);
        let (mut damage, mut failed) = (Vec::new(), None);
        let (mut whole, mut payload) = (true, Payload::default());
        // Rows may share their pages, but not so that more is read than there is.
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
        failed.map_or(Ok(whole && damage.is_empty()), Err)
    }

    /// The places that the indexes of the table of blocks have, in no order. Where rows are keys themselves there is none.
    #[must_use]
    pub fn indexed(&self) -> Vec<Place> {
        let mut places = Vec::new();
        for table in self.tables.iter().filter(|table| table.is_of("blocks")) {
            let (mut owners, mut damage) = (Owners::new(&self.pages), Vec::new());
            walk::tree(&self.pages, table.root, true, &mut owners, &mut damage, &mut |_, _, cell| {
                let columns = record::columns(cell.local, cell.payload).unwrap_or_default();
                let key = columns.first().map(|column| column.value(cell.local));
                if places.len() < self.limits.stream_rows {
                    places.extend(key.and_then(|key| self.place(key).ok()));
                }
            });
        }
        places
    }
}
