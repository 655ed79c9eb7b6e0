//! Why a path cannot be opened as a save.

use std::io;
use std::path::PathBuf;

use crate::printable;
use crate::source::OpenError;

/// Why a path cannot be opened as a save.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The path does not exist, or cannot be read.
    #[error("{}: {source}", printable::path(path))]
    Io {
        /// The path.
        path: PathBuf,
        /// I/O errors.
        source: io::Error,
    },
    /// Neither a file nor a directory.
    #[error("{}: {source}", printable::path(path))]
    Open {
        /// The path.
        path: PathBuf,
        /// The reason.
        source: OpenError,
    },
    /// A file of an unknown format.
    #[error(
        "{}: this is not a region file (.vxr or .region), a block file (.vxb), a meta file (meta.vxrm or meta.vxbm), a stream (an SQLite database) or a map's description (map_data.json)",
        printable::path(.0)
    )]
    NotASave(PathBuf),
    /// A database with the tables of another program, and no other save.
    #[error(
        "{}: this is an SQLite database of another program and no stream: {}",
        printable::path(path),
        words_of_tables(tables)
    )]
    ForeignDatabase {
        /// The path.
        path: PathBuf,
        /// The names of its tables.
        tables: Vec<String>,
    },
    /// A directory with no save in it or below it.
    #[error(
        "{}: no save here: neither meta.vxrm, nor meta.vxbm, nor a directory `regions`, nor map_data.json, nor a region file (.vxr or .region), nor a stream (.sqlite or .db)",
        printable::path(.0)
    )]
    NothingHere(PathBuf),
    /// The same, but some directories are too deep to be searched.
    #[error(
        "{}: no save here. Directories more than {levels} levels below the opened one are not searched for saves: open such a directory itself",
        printable::path(path)
    )]
    NothingAbove {
        /// The path.
        path: PathBuf,
        /// How many levels are searched.
        levels: usize,
    },
}

/// Tables that are named as those of another program.
const MOST_TABLES: usize = 4;

/// What shows that tables are those of another program, a clause.
pub(super) fn words_of_tables(tables: &[String]) -> String {
    let name = |name: &String| format!("`{}`", printable::printable(name));
    let names: Vec<String> = tables.iter().take(MOST_TABLES).map(name).collect();
    let [table, more] = match tables.len() {
        1 => ["table is", ""],
        n if n > MOST_TABLES => ["tables are", " and more"],
        _ => ["tables are", ""],
    };
    let is_same = |name: &String| ["meta", "blocks"].iter().any(|own| name.eq_ignore_ascii_case(own));
    let with = if tables.iter().any(is_same) { " with the columns `loc`, `vb` and `instances`" } else { "" };
    format!("its {table} {}{more}, a stream has `meta` and `blocks`{with}", names.join(", "))
}
