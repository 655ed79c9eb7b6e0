//! The file format of SQLite 3, read without its library: so that a damaged database gives all that can be read around
//! its damaged pages, each page is known by what it is for, and nothing is ever written, not even a journal put back.
//!
//! ```text
//! file:    pages of one size; page 1 begins with a header of 100 bytes and holds the schema
//! b-tree:  interior and leaf pages of cells; of a table by row numbers, of an index by keys
//! cell:    payload length · row number · record, which goes on in a chain of overflow pages
//! record:  header length · a serial type for each column · the columns' values
//! ```
//!
//! Source: <https://www.sqlite.org/fileformat2.html>. [Pages](pages) are read through a [journal] or a write-ahead
//! log ([wal]) where one lies beside the database; [b-trees](walk) are walked without recursion, and a page is entered once.

pub mod btree;
pub mod header;
pub mod journal;
pub mod pages;
pub mod payload;
pub mod record;
mod text;
pub mod wal;
pub mod walk;

#[cfg(test)]
mod tests;
