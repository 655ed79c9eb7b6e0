//! Reads the file format of SQLite 3 without its library, so that everything around
//! damaged pages can be read, the use of each page is known, and nothing is ever written: journals are not replayed.
//!
//! ```text
//! file:    pages of one size; page 1 begins with a header of 100 bytes and holds the schema
//! b-tree:  interior and leaf pages of cells; of a table by row numbers, of an index by keys
//! cell:    payload length · row number · record, which continues in a chain of overflow pages
//! record:  header length · a serial type for each column · the columns' values
//! ```
//!
//! Source: <https://www.sqlite.org/fileformat2.html>. [Pages](pages) are read through a [journal] or a write-ahead
//! log ([wal]) next to the database, if there is one; [b-trees](walk) are walked without recursion, and each page is entered once.
//!
//! Takes a source of bytes; gives pages, records and a list of damage. It knows nothing of voxels.

pub mod btree;
pub mod header;
pub mod journal;
pub mod pages;
pub mod payload;
pub mod record;
mod text;
pub mod wal;
pub mod walk;

use std::path::Path;

/// Endings of the names of databases.
pub const ENDINGS: [&str; 4] = ["sqlite", "sqlite3", "db", "db3"];

/// What is added to the name of a database for its journal, its write-ahead log and the index of that.
pub const BESIDE: [&str; 3] = ["-journal", "-wal", "-shm"];

/// Whether a path is named as a database.
#[must_use]
pub fn is_named(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ENDINGS.iter().any(|name| ending.eq_ignore_ascii_case(name)))
}

#[cfg(test)]
mod tests;
