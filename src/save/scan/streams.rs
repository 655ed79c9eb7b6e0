//! Finding SQLite streams.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::{Fault, Scan};
use crate::damage::Code;
use crate::save::StreamFile;
use crate::save::stream::{Beside, Schema, schema_of, unusable_beside};
use crate::source::{FileSource, Source};
use crate::sqlite::header;

/// Endings of databases.
const ENDINGS: [&str; 4] = ["sqlite", "sqlite3", "db", "db3"];

/// Whether a file is meant to be a database, by its name.
pub(super) fn is_named(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ENDINGS.iter().any(|name| ending.eq_ignore_ascii_case(name)))
}

/// Whether only streams have this name.
pub(super) fn is_surely_named(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.to_string_lossy().to_ascii_lowercase().starts_with("sqlite"))
}

/// Whether a file begins as a database.
pub(super) fn is_database(file: &FileSource) -> bool {
    let mut prefix = [0; header::RECOGNIZED_BYTES];
    file.read_at(0, &mut prefix).is_ok_and(|read| prefix.get(..read).is_some_and(header::is_recognized))
}

/// The path with a suffix appended to its name.
pub(in crate::save) fn with_ending(path: &Path, ending: &str) -> std::path::PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(OsStr::new(ending));
    name.into()
}

/// What the schema of the database at a path shows.
fn schema(path: &Path) -> Schema {
    let Ok(source) = FileSource::open(path) else { return Schema::Unreadable };
    let beside = |ending| super::super::open_beside(&with_ending(path, ending)).ok().flatten();
    schema_of(source, Beside { journal: beside("-journal"), wal: beside("-wal") })
}

/// Whether a file is a database with the tables of another program.
pub(in crate::save) fn is_foreign_database(path: &Path) -> bool {
    FileSource::open(path).is_ok_and(|file| is_database(&file)) && schema(path) == Schema::Foreign
}

impl Scan<'_> {
    /// Adds a database in a directory; skips files of other programs with the same extension.
    pub(super) fn stream_in(&mut self, path: &Path) {
        match FileSource::open(path) {
            Ok(file) if is_database(&file) || is_surely_named(path) => self.stream(path, &file),
            Ok(_) => {}
            Err(error) if is_surely_named(path) => self.fault(path, error.code(), "file", Some(error.to_string())),
            Err(_) => {}
        }
    }

    /// Adds a file of any name if it is a database with the tables of a stream, or one whose tables cannot be read: the
    /// engine's documentation names one `save.file`.
    pub(super) fn stream_of_any_name(&mut self, path: &Path) {
        let beside = ["-journal", "-wal", "-shm"]
            .iter()
            .any(|ending| path.as_os_str().as_encoded_bytes().ends_with(ending.as_bytes()));
        if beside {
            return;
        }
        if let Ok(file) = FileSource::open(path)
            && is_database(&file)
            && schema(path) != Schema::Foreign
        {
            self.stream(path, &file);
        }
    }

    /// Drops databases with the tables of another program where there are other saves: they are no saves. Alone, one is kept,
    /// so that it can be named.
    pub(super) fn drop_foreign_databases(&mut self) {
        let saves = self.streams.len() + self.forests.len() + self.pak_dirs.len() + self.maps.len();
        if saves < 2 {
            return;
        }
        let foreign: Vec<_> =
            self.streams.iter().map(|file| file.path.clone()).filter(|path| is_foreign_database(path)).collect();
        if saves == foreign.len() {
            return;
        }
        self.streams.retain(|file| !foreign.contains(&file.path));
        let beside: Vec<_> =
            foreign.iter().flat_map(|path| ["-journal", "-wal"].map(|ending| with_ending(path, ending))).collect();
        self.faults.retain(|fault| !beside.contains(&fault.path));
    }

    /// A database.
    pub(super) fn stream(&mut self, path: &Path, file: &FileSource) {
        self.streams.push(StreamFile { path: path.to_owned(), len: file.len() });
        // If a journal cannot be opened, the pages it would restore are unknown.
        for ending in ["-journal", "-wal"] {
            let beside = with_ending(path, ending);
            match super::super::open_beside(&beside) {
                Err(error) => self.fault(&beside, Code::StreamJournalUnusable, "file", Some(error.to_string())),
                Ok(Some(file)) => {
                    let damage = unusable_beside(file, ending);
                    self.faults.extend(damage.map(|damage| Fault { path: beside, damage, detail: None }));
                }
                Ok(None) => {}
            }
        }
    }
}
