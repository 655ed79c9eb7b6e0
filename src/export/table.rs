//! A table of all blocks of a save as a file.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::voxels::Error;
use super::{Format, Lines};
use crate::beside::{self, Draft};
use crate::check::{self, Row};
use crate::save::Save;
use crate::world::Fault;

/// The file while it is written.
const NAME: &str = "table";

/// Writes a row for each block into a new file: CSV, JSON lines, or an SQLite database with the tables `blocks` and
/// `findings`, as the file's name ends. Gives the number of rows, and the files that could not be read.
///
/// # Errors
/// When the name says no format, the destination cannot be used, or writing fails.
pub fn table(save: &Save, to: &Path, cancel: Option<&AtomicBool>) -> Result<(u64, Vec<Fault>), Error> {
    let draft = Draft::new(&[&save.path], to, "export", cancel)?;
    let name = to.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (file, path) = draft.create(Path::new(NAME))?;
    let mut out = Out::new(&name, file, &path)?;
    let failed = beside::Error::write;
    let (mut count, mut faults) = (0, Vec::new());
    for of in save.files() {
        draft.go_on()?;
        let options = check::Options { cancel, ..check::Options::default() };
        match check::rows(save, of, &options) {
            Ok(rows) => {
                for row in &rows {
                    count += 1;
                    out.row(row).map_err(failed(&path))?;
                }
            }
            Err(error) => faults.push(Fault { file: save.shown(&of.path()), why: error.to_string() }),
        }
    }
    draft.go_on()?;
    out.finish().map_err(failed(&path))?;
    draft.finish_files(&[(Path::new(NAME), to)])?;
    Ok((count, faults))
}

enum Out {
    Lines(Box<Lines<BufWriter<File>, Row>>),
    #[cfg(feature = "sqlite")]
    Sqlite(rusqlite::Connection),
}

impl Out {
    fn new(name: &str, file: File, path: &Path) -> Result<Self, Error> {
        if let Some(format) = Format::of_name(name) {
            let lines = Lines::new(BufWriter::with_capacity(1 << 16, file), format);
            return Ok(Self::Lines(Box::new(lines.map_err(beside::Error::write(path))?)));
        }
        let ending = Path::new(name).extension().unwrap_or_default();
        if ["sqlite", "sqlite3", "db", "db3"].iter().any(|known| ending.eq_ignore_ascii_case(known)) {
            return Self::database(path);
        }
        Err(Error::Request(
            "the name of a table ends in .csv, .jsonl or .sqlite, which says what is written".to_owned(),
        ))
    }

    #[cfg(not(feature = "sqlite"))]
    fn database(_: &Path) -> Result<Self, Error> {
        Err(Error::Request("this build cannot write SQLite databases".to_owned()))
    }

    #[cfg(feature = "sqlite")]
    fn database(path: &Path) -> Result<Self, Error> {
        let open = || -> rusqlite::Result<rusqlite::Connection> {
            let database = rusqlite::Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE)?;
            // It is thrown away when this fails.
            database.pragma_update(None, "journal_mode", "OFF")?;
            database.pragma_update(None, "synchronous", "OFF")?;
            database.execute_batch(
                "BEGIN;
                 CREATE TABLE blocks (id INTEGER PRIMARY KEY, file TEXT, lod INTEGER, x INTEGER, y INTEGER, z INTEGER,
                     slot INTEGER, sector INTEGER, sectors INTEGER, bytes INTEGER, plain INTEGER, version INTEGER,
                     container TEXT, state TEXT, flags TEXT);
                 CREATE TABLE findings (block INTEGER REFERENCES blocks (id), code TEXT, level TEXT);",
            )?;
            Ok(database)
        };
        open().map(Self::Sqlite).map_err(|error| beside::Error::write(path)(io::Error::other(error)).into())
    }

    fn row(&mut self, row: &Row) -> io::Result<()> {
        match self {
            Self::Lines(lines) => lines.write(row),
            #[cfg(feature = "sqlite")]
            Self::Sqlite(database) => insert(database, row).map_err(io::Error::other),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Self::Lines(lines) => lines.finish(),
            #[cfg(feature = "sqlite")]
            Self::Sqlite(database) => {
                database.execute_batch("COMMIT").map_err(io::Error::other)?;
                database.close().map_err(|(_, error)| io::Error::other(error))
            }
        }
    }
}

#[cfg(feature = "sqlite")]
fn insert(database: &rusqlite::Connection, row: &Row) -> rusqlite::Result<()> {
    let [x, y, z] = row.position.map_or([None; 3], |p| p.map(Some));
    let whole = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    let flags = super::flags(row, "=", " ");
    database.prepare_cached("INSERT INTO blocks VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?.execute(
        rusqlite::params![
            &*row.file,
            row.lod,
            x,
            y,
            z,
            row.slot,
            row.sector,
            row.sectors,
            whole(row.bytes),
            whole(row.plain),
            row.version,
            row.container,
            row.state(),
            (!flags.is_empty()).then_some(flags),
        ],
    )?;
    let id = database.last_insert_rowid();
    let mut finding = database.prepare_cached("INSERT INTO findings VALUES (?, ?, ?)")?;
    row.codes
        .iter()
        .try_for_each(|code| finding.execute(rusqlite::params![id, code.name(), code.level().name()]).map(drop))
}
