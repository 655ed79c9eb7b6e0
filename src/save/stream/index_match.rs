//! Compares the rows of the table `blocks` with the entries of its indexes, and finds lost rows in them.
//!
//! Rows and entries are summed up by hashes while they are read. Only if the sums differ are they read again, some at a time.

use std::hash::{DefaultHasher, Hash, Hasher};

use xxhash_rust::xxh3::xxh3_128;

use super::Stream;
use super::rows::{COLUMNS, key_of};
use crate::godot::stream::loc::Key;
use crate::source::Source;
use crate::sqlite::btree::Cell;
use crate::sqlite::header::Header;
use crate::sqlite::record;
use crate::sqlite::walk::{self, Owners};

/// Rows or entries that are compared at once, unless that takes more than [`MOST_PASSES`].
const AT_ONCE: u64 = 1 << 19;

/// How often the table and its indexes are read at most to compare them.
const MOST_PASSES: u64 = 16;

/// A row as an index names it: its number and the hash of its key.
pub(super) type Named = (i64, u64);

/// How many rows or entries there are, and the sum of their hashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    count: u64,
    hashes: u128,
}

impl Sum {
    pub fn add(&mut self, (rowid, key): Named) {
        let mut bytes = [0; 16];
        let (low, high) = bytes.split_at_mut(8);
        low.copy_from_slice(&rowid.to_le_bytes());
        high.copy_from_slice(&key.to_le_bytes());
        self.count = self.count.saturating_add(1);
        self.hashes = self.hashes.wrapping_add(xxh3_128(&bytes));
    }
}

/// A row by its number and its key.
pub(super) fn name_row(key: Key<'_>, rowid: i64, header: &Header) -> Named {
    let mut hasher = DefaultHasher::new();
    match key {
        Key::Null => 0u8.hash(&mut hasher),
        Key::Int(n) => n.hash(&mut hasher),
        Key::Float(n) => n.to_bits().hash(&mut hasher),
        Key::Text(bytes) => header.utf8(bytes).hash(&mut hasher),
        Key::Blob(bytes) => bytes.hash(&mut hasher),
    }
    (rowid, hasher.finish())
}

/// The row that an entry of an index points to.
pub(super) fn name_entry(cell: &Cell<'_>, header: &Header) -> Option<Named> {
    let columns = record::columns(cell.local, cell.payload)?;
    let [key, .., rowid] = columns.as_slice() else { return None };
    match rowid.value(cell.local) {
        Key::Int(rowid) => Some(name_row(key.value(cell.local), rowid, header)),
        _ => None,
    }
}

/// Reads the entries of the indexes of `blocks`.
fn each_entry<S: Source>(stream: &Stream<S>, each: &mut dyn FnMut(Named)) {
    for table in stream.tables.iter().filter(|table| table.is_index_of("blocks") && table.root != 0) {
        let (mut owners, mut damage) = (Owners::new(&stream.pages), Vec::new());
        walk::tree(&stream.pages, table.root, true, &mut owners, &mut damage, &mut |_, _, cell| {
            if let Some(entry) = name_entry(cell, &stream.pages.header) {
                each(entry);
            }
        });
    }
}

/// Reads the rows of `blocks`, as many as the limits allow.
fn each_row<S: Source>(stream: &Stream<S>, each: &mut dyn FnMut(Named)) {
    let mut rest = stream.limits.stream_rows;
    for table in stream.tables.iter().filter(|table| table.is("blocks") && table.root != 0) {
        let (mut owners, mut damage) = (Owners::new(&stream.pages), Vec::new());
        walk::tree(&stream.pages, table.root, table.is_index, &mut owners, &mut damage, &mut |_, _, cell| {
            if rest > 0 {
                rest = rest.saturating_sub(1);
                let columns = record::columns_of_row(cell.local, cell.payload, COLUMNS);
                let key =
                    columns.map_or(Key::Null, |columns| key_of(&columns, cell.local, cell.rowid, stream.rowid_keys));
                each(name_row(key, cell.rowid, &stream.pages.header));
            }
        });
    }
}

/// How many rows of the undamaged table no entry of its undamaged indexes names, and how many entries name no row.
pub(super) fn count_differences<S: Source>(stream: &Stream<S>, table: Sum, index: Sum) -> [u64; 2] {
    if table == index {
        return [0; 2];
    }
    let passes = table.count.max(index.count).div_ceil(AT_ONCE).clamp(1, MOST_PASSES);
    let mut differences = [0u64; 2];
    for pass in 0..passes {
        let is_now = |(rowid, key): Named| (key ^ rowid.cast_unsigned()).checked_rem(passes) == Some(pass);
        let (mut rows, mut entries): (Vec<Named>, Vec<Named>) = (Vec::new(), Vec::new());
        each_row(stream, &mut |row| rows.extend(Some(row).filter(|row| is_now(*row))));
        each_entry(stream, &mut |entry| entries.extend(Some(entry).filter(|entry| is_now(*entry))));
        rows.sort_unstable();
        entries.sort_unstable();
        let lacking = |of: &[Named], other: &[Named]| {
            u64::try_from(of.iter().filter(|named| other.binary_search(named).is_err()).count()).unwrap_or(u64::MAX)
        };
        for (sum, count) in differences.iter_mut().zip([lacking(&rows, &entries), lacking(&entries, &rows)]) {
            *sum = sum.saturating_add(count);
        }
    }
    differences
}

/// For each of some rows, whether the indexes name it.
pub(super) fn find_named<S: Source>(stream: &Stream<S>, rows: &[Named]) -> Vec<bool> {
    let mut order: Vec<(Named, usize)> = rows.iter().copied().zip(0..).collect();
    order.sort_unstable();
    let mut named = vec![false; rows.len()];
    if rows.is_empty() {
        return named;
    }
    each_entry(stream, &mut |entry| {
        let from = order.partition_point(|(row, _)| *row < entry);
        for (_, at) in order.iter().skip(from).take_while(|(row, _)| *row == entry) {
            if let Some(named) = named.get_mut(*at) {
                *named = true;
            }
        }
    });
    named
}
