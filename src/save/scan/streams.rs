//! Finding SQLite streams.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::{Fault, Scan, pak_dirs};
use crate::damage::Code;
use crate::save::error::words_of_tables;
use crate::save::stream::{Beside, Schema, schema_of, unusable_beside};
use crate::save::{Blob, Error, Kind, Save, Stream, StreamFile, StreamScratch};
use crate::source::{FileSource, Source};
use crate::sqlite::{BESIDE, header};

/// What the magic of databases is where a pak region has its number of records.
const RECORDS_OF_MAGIC: u32 = u32::from_le_bytes(*b"orma");

/// Whether only streams have this name.
pub(super) fn is_surely_named(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.to_string_lossy().to_ascii_lowercase().starts_with("sqlite"))
}

/// Whether a file begins with the magic of databases, whatever its name.
pub(super) fn begins_as_database(file: &FileSource) -> bool {
    let mut prefix = [0; header::MAGIC.len()];
    file.read_at(0, &mut prefix).is_ok() && prefix == *header::MAGIC
}

/// Whether the file at a path begins with the magic of databases.
pub(super) fn is_database_at(path: &Path) -> bool {
    FileSource::open(path).is_ok_and(|file| begins_as_database(&file))
}

/// Whether there is nothing in a file but zeros, or no byte at all: what is left of a file whose content never reached the
/// disk. Only its beginning is read.
fn is_blank(file: &FileSource) -> bool {
    let mut prefix = [0; header::HEADER_BYTES];
    file.read_at(0, &mut prefix).is_ok() && prefix.iter().all(|byte| *byte == 0)
}

/// Whether a file begins as a database.
pub(super) fn is_database(file: &FileSource) -> bool {
    let mut prefix = [0; header::RECOGNIZED_BYTES];
    file.read_at(0, &mut prefix).is_ok_and(|read| prefix.get(..read).is_some_and(header::is_recognized))
}

/// The path with a suffix appended to its name.
pub(in crate::save) fn with_ending(path: &Path, ending: &str) -> PathBuf {
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
    foreign_tables(path).is_some()
}

/// The names of the tables of a database, if they are those of another program.
fn foreign_tables(path: &Path) -> Option<Vec<String>> {
    if !FileSource::open(path).is_ok_and(|file| is_database(&file)) {
        return None;
    }
    match schema(path) {
        Schema::Foreign(tables) => Some(tables),
        _ => None,
    }
}

/// Rows of which one must hold a block, in a database whose tables are not those of a stream.
const TRIED: usize = 64;

/// Whether a row of a stream holds a block.
fn has_block(stream: &Stream<FileSource>) -> bool {
    let mut scratch = StreamScratch::default();
    let with_voxels = || stream.rows.iter().filter(|row| matches!(row.voxels, Blob::Bytes(_)));
    let step = with_voxels().count().div_ceil(TRIED).max(1);
    with_voxels().step_by(step).any(|row| {
        // What cannot be read may be a block.
        stream.fetch(&row, &mut scratch).is_err()
            || stream.block(&mut scratch).block.is_some_and(|block| block.whole_channels() > 0)
    })
}

/// The names of the tables of a database that has tables of another program and no block; `None` of every other.
fn tables_of_another(save: &Save, file: &StreamFile) -> Option<Vec<String>> {
    let Schema::Foreign(tables) = schema(&file.path) else { return None };
    let is_without_blocks = || save.stream(file, &mut Vec::new()).is_ok_and(|s| s.is_none_or(|s| !has_block(&s)));
    (!tables.is_empty() && is_without_blocks()).then_some(tables)
}

/// Refuses a save that is nothing but databases of other programs.
pub(super) fn refuse_foreign(save: &Save, path: &Path) -> Result<(), Error> {
    if !(save.forests.is_empty() && save.pak_dirs.is_empty() && save.maps.is_empty()) {
        return Ok(());
    }
    let mut all = save.streams.iter().map(|file| tables_of_another(save, file));
    match all.next().flatten() {
        Some(tables) if save.streams.len() == 1 => {
            let file = save.streams.first().map(|file| file.path.as_path()).filter(|_| !path.is_file());
            let path = file.unwrap_or(path);
            Err(Error::ForeignDatabase { path: path.to_owned(), tables })
        }
        Some(_) if all.all(|tables| tables.is_some()) => Err(Error::NothingHere(path.to_owned())),
        _ => Ok(()),
    }
}

impl Scan<'_> {
    /// Adds a database in a directory; skips files of other programs with the same extension.
    pub(super) fn stream_in(&mut self, path: &Path) {
        match FileSource::open(path) {
            // What is left of a database after a loss of power is one too.
            Ok(file) if is_database(&file) || is_surely_named(path) || is_blank(&file) => self.stream(path, &file),
            Ok(_) => {}
            Err(error) if is_surely_named(path) => self.fault(path, error.code(), "file", Some(error.to_string())),
            Err(_) => {}
        }
    }

    /// Adds a file of any name if it is a database with the tables of a stream, or one whose tables cannot be read: the
    /// engine's documentation names one `save.file`.
    pub(super) fn stream_of_any_name(&mut self, path: &Path) {
        if BESIDE.iter().any(|ending| path.as_os_str().as_encoded_bytes().ends_with(ending.as_bytes())) {
            return;
        }
        let Ok(file) = FileSource::open(path) else { return };
        if !is_database(&file) {
            return;
        }
        match schema(path) {
            Schema::Foreign(tables) => drop(self.foreign.insert(path.to_owned(), tables)),
            _ => self.stream(path, &file),
        }
    }

    /// Makes streams of files that have the names of region files or pak regions, and are read as such. Only files whose headers
    /// cannot be those of a region are opened again.
    pub(super) fn move_streams_of_other_names(&mut self) {
        let regions = self.forests.iter().filter(|forest| forest.kind == Kind::Loose).flat_map(|forest| {
            let unread = forest.regions.iter().filter(|file| file.header.is_none());
            unread.map(|file| forest.dir.join(&file.name))
        });
        let paks = self.pak_dirs.iter().flat_map(|pak_dir| {
            let likely = pak_dir.files.iter().filter(|file| file.records == Some(RECORDS_OF_MAGIC));
            likely.map(|file| pak_dir.dir.join(&file.name))
        });
        let likely: BTreeSet<PathBuf> = regions.chain(paks).collect();
        let moved: BTreeSet<PathBuf> = likely.into_iter().filter(|path| self.stream_of_another_name(path)).collect();
        if moved.is_empty() {
            return;
        }
        for forest in self.forests.iter_mut().filter(|forest| forest.kind == Kind::Loose) {
            let dir = &forest.dir;
            forest.regions.retain(|file| !moved.contains(&dir.join(&file.name)));
        }
        self.forests.retain(|forest| forest.kind != Kind::Loose || !forest.regions.is_empty());
        for pak_dir in &mut self.pak_dirs {
            let dir = &pak_dir.dir;
            pak_dir.files.retain(|file| !moved.contains(&dir.join(&file.name)));
            pak_dirs::find_usual_records(pak_dir);
        }
        self.pak_dirs.retain(|pak_dir| !pak_dir.files.is_empty());
        // Their names were compared with those of regions.
        let of_names = [Code::NameRegion, Code::PakName, Code::PakDuplicate];
        self.faults.retain(|fault| !(of_names.contains(&fault.damage.code) && moved.contains(&fault.path)));
        self.streams.sort_by(|a, b| a.path.cmp(&b.path));
    }

    /// Adds a file with the name of a region, a pak region or a block if it is a stream; returns whether it is one.
    pub(super) fn stream_of_another_name(&mut self, path: &Path) -> bool {
        let before = self.streams.len();
        if is_database_at(path) {
            self.stream_of_any_name(path);
        }
        self.streams.len() > before
    }

    /// Drops databases with the tables of another program where there are other saves: they are no saves. Where there are no
    /// others, [`refuse_foreign`] names them.
    pub(super) fn drop_foreign_databases(&mut self) {
        let saves = self.streams.len() + self.forests.len() + self.pak_dirs.len() + self.maps.len();
        if saves < 2 {
            return;
        }
        let found = self.streams.iter().filter_map(|file| Some((file.path.clone(), foreign_tables(&file.path)?)));
        let found: Vec<(PathBuf, Vec<String>)> = found.collect();
        if saves == found.len() {
            return;
        }
        let foreign: Vec<PathBuf> = found.iter().map(|(path, _)| path.clone()).collect();
        self.foreign.extend(found);
        self.streams.retain(|file| !foreign.contains(&file.path));
        let beside: Vec<_> =
            foreign.iter().flat_map(|path| ["-journal", "-wal"].map(|ending| with_ending(path, ending))).collect();
        self.faults.retain(|fault| !beside.contains(&fault.path));
    }

    /// Names the databases of other programs that lie beside saves.
    pub(super) fn report_foreign_databases(&mut self) {
        if self.saves() == 0 {
            return;
        }
        for (path, tables) in std::mem::take(&mut self.foreign) {
            // What lies in a directory of LODs has that finding already.
            let is_named = |fault: &Fault| fault.path == path && fault.damage.code == Code::NameForeign;
            if !self.faults.iter().any(is_named) {
                let what = format!("It is an SQLite database of another program: {}.", words_of_tables(&tables));
                self.fault(&path, Code::NameForeign, "name of the file", Some(what));
            }
        }
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
