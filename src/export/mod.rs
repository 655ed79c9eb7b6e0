//! Writes rows and findings for other programs, as CSV or as JSON lines.
//!
//! Files are always new: existing files are never overwritten, and no file is written inside the save.
//!
//! Takes a save or a world and what is wanted of it; gives new files for other programs: arrays, pictures, tables, lines. It
//! knows neither repair nor a terminal, and nothing of the explorer.

mod canvas;
mod chunks;
#[cfg(feature = "sqlite")]
mod database;
mod findings;
mod image;
mod instances;
mod layer;
mod map;
mod picture_faults;
mod rows;
mod table;
pub mod voxels;

use std::borrow::Cow;
use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use crate::watch::Watch;

pub use canvas::{Coloring, Picture, Slice};
pub use chunks::{Summary as Chunks, chunks, chunks_in};
pub use image::{slice, slice_of_chunks, slice_of_layer};
pub use instances::{Line as InstanceLine, Summary as Instances, instances};
pub use layer::{LayerSummary, layer, map_of_layer, name_of_layer};
pub use map::{MapRequest, MapSummary, NOTHING, map};
pub use picture_faults::PictureFaults;
pub use rows::{codes, flags};
pub use table::table;

/// Damaged blocks or chunks that are named on standard error.
pub const NAMED: usize = 8;

/// How lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values with a header.
    Csv,
    /// One JSON object per line.
    Jsonl,
}

impl Format {
    /// The format that a file's extension names.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let (stem, extension) = name.rsplit_once('.')?;
        if stem.is_empty() {
            return None;
        }
        match extension.to_ascii_lowercase().as_str() {
            "csv" => Some(Self::Csv),
            "jsonl" | "ndjson" | "json" => Some(Self::Jsonl),
            _ => None,
        }
    }
}

/// A record that is written as a line.
pub trait Record: serde::Serialize {
    /// The names of its cells in CSV.
    const COLUMNS: &'static [&'static str];

    /// Its cells in CSV.
    fn cells(&self) -> Vec<Cow<'_, str>>;
}

impl<R: Record> Record for &R {
    const COLUMNS: &'static [&'static str] = R::COLUMNS;

    fn cells(&self) -> Vec<Cow<'_, str>> {
        (**self).cells()
    }
}

/// Writes a record as a line of CSV, or the header for `None`.
///
/// # Errors
/// Errors of the writer.
pub fn write_csv<R: Record>(out: &mut impl Write, record: Option<&R>) -> io::Result<()> {
    let mut line = csv::Writer::from_writer(Vec::new());
    match record {
        Some(record) => line.write_record(record.cells().iter().map(|cell| cell.as_bytes())),
        None => line.write_record(R::COLUMNS),
    }
    .map_err(plain)?;
    out.write_all(&line.into_inner().map_err(csv::IntoInnerError::into_error)?)
}

/// Writes lines of one kind.
pub struct Lines<W: Write, R> {
    out: Output<W>,
    of: PhantomData<fn(&R)>,
}

enum Output<W: Write> {
    Csv(Box<csv::Writer<W>>),
    Jsonl(W),
}

impl<W: Write, R: Record> Lines<W, R> {
    /// Starts writing, with the header if the format has one.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn new(out: W, format: Format) -> io::Result<Self> {
        let out = match format {
            Format::Csv => {
                let mut out = csv::Writer::from_writer(out);
                out.write_record(R::COLUMNS).map_err(plain)?;
                Output::Csv(Box::new(out))
            }
            Format::Jsonl => Output::Jsonl(out),
        };
        Ok(Self { out, of: PhantomData })
    }

    /// Writes a line.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn write(&mut self, record: &R) -> io::Result<()> {
        match &mut self.out {
            Output::Csv(out) => out.write_record(record.cells().iter().map(|cell| cell.as_bytes())).map_err(plain),
            Output::Jsonl(out) => crate::printable::write_json(out, record),
        }
    }

    /// Flushes buffered lines.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn finish(mut self) -> io::Result<()> {
        match &mut self.out {
            Output::Csv(out) => out.flush(),
            Output::Jsonl(out) => out.flush(),
        }
    }
}

/// The underlying I/O error, so that a closed pipe is recognised.
fn plain(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The path is inside the save.
    #[error("{} is inside the save, which is never written to: give a place outside of it", crate::printable::path(.0))]
    InSave(PathBuf),
    /// The path exists already.
    #[error("{} is there already, and nothing is ever overwritten: give another name", crate::printable::path(.0))]
    Exists(PathBuf),
    /// The path names no file.
    #[error("{} is no name of a file", crate::printable::path(.0))]
    NoName(PathBuf),
    /// I/O errors.
    #[error("{}: {error}", crate::printable::path(.path))]
    Io {
        /// The path.
        path: PathBuf,
        /// The error.
        error: io::Error,
    },
    /// The export was cancelled.
    #[error("{} was not written: it was stopped", crate::printable::path(.0))]
    Stopped(PathBuf),
}

/// Writes records into a new file outside of the save at `save`; returns the number of lines. On failure, the
/// partial file is removed.
///
/// # Errors
/// If the path is in the save or exists, if writing fails, or if it is cancelled.
pub fn to_new_file<R: Record>(
    path: &Path,
    save: &Path,
    format: Format,
    records: impl Iterator<Item = R>,
    watch: &Watch<'_>,
) -> Result<u64, Error> {
    let path = check_destination(path, save)?;
    let failed = |error: io::Error| Error::Io { path: path.clone(), error };
    let file = match OpenOptions::new().write(true).create_new(true).open(&path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(Error::Exists(path)),
        other => other.map_err(failed)?,
    };
    let write = || {
        let mut lines = Lines::new(BufWriter::with_capacity(1 << 16, file), format).map_err(failed)?;
        let mut count = 0u64;
        for record in records {
            if watch.is_cancelled() {
                return Err(Error::Stopped(path.clone()));
            }
            lines.write(&record).map_err(failed)?;
            count += 1;
        }
        lines.finish().map_err(failed)?;
        Ok(count)
    };
    let written = write();
    if written.is_err() {
        // A partial file could be mistaken for a whole one. A failure to remove it is not reported.
        let _ = std::fs::remove_file(&path);
    }
    written
}

/// The path with its directory resolved, if it is outside of the save.
fn check_destination(path: &Path, save: &Path) -> Result<PathBuf, Error> {
    let name = path.file_name().ok_or_else(|| Error::NoName(path.to_owned()))?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let real = |dir: &Path| dir.canonicalize().map_err(|error| Error::Io { path: dir.to_owned(), error });
    let dir = real(parent)?;
    let mut save = real(save)?;
    // The directory of a single file may contain the rest of its save.
    if !save.is_dir()
        && let Some(parent) = save.parent()
    {
        save = parent.to_owned();
    }
    if dir.starts_with(&save) {
        return Err(Error::InSave(path.to_owned()));
    }
    Ok(dir.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Serialize)]
    struct Pair(u8, String);

    impl Record for Pair {
        const COLUMNS: &'static [&'static str] = &["number", "word"];

        fn cells(&self) -> Vec<Cow<'_, str>> {
            vec![self.0.to_string().into(), self.1.as_str().into()]
        }
    }

    #[test]
    fn a_name_says_the_format() {
        for (name, format) in [
            ("rows.csv", Some(Format::Csv)),
            ("a.b.JSONL", Some(Format::Jsonl)),
            ("rows", None),
            (".csv", None),
            ("rows.xlsx", None),
        ] {
            assert_eq!(Format::of_name(name), format, "{name}");
        }
    }

    #[test]
    fn only_new_files_outside_of_the_save_are_written() {
        let dir = tempfile::tempdir().unwrap();
        let save = dir.path().join("save");
        std::fs::create_dir_all(save.join("below")).unwrap();
        std::fs::write(save.join("r.0.0.0.vxr"), b"x").unwrap();
        let rows = [Pair(1, "a, \"b\"".into()), Pair(2, String::new())];
        let write = |path: &Path, save: &Path, go_on: bool| {
            let cancel = std::sync::atomic::AtomicBool::new(!go_on);
            let watch = Watch::default().cancel(&cancel);
            to_new_file(path, save, Format::Csv, rows.iter(), &watch).map_err(|error| error.to_string())
        };
        let path = dir.path().join("rows.csv");
        assert!(write(&path, &save, false).unwrap_err().contains("stopped"));
        assert!(!path.exists(), "what was begun is gone");
        assert_eq!(write(&path, &save, true), Ok(2));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "number,word\n1,\"a, \"\"b\"\"\"\n2,\n");
        assert!(write(&path, &save, true).unwrap_err().contains("is there already"));
        for inside in ["rows.csv", "below/rows.csv", "below/../rows.csv"] {
            assert!(write(&save.join(inside), &save, true).unwrap_err().contains("inside the save"), "{inside}");
        }
        let beside = write(&save.join("rows.csv"), &save.join("r.0.0.0.vxr"), true);
        assert!(beside.unwrap_err().contains("inside the save"));
        assert!(write(&dir.path().join("none/rows.csv"), &save, true).is_err());
        assert!(write(Path::new(".."), &save, true).unwrap_err().contains("no name"));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_into_the_save_is_seen_through() {
        let dir = tempfile::tempdir().unwrap();
        let save = dir.path().join("save");
        std::fs::create_dir(&save).unwrap();
        std::os::unix::fs::symlink(&save, dir.path().join("link")).unwrap();
        let rows: [Pair; 0] = [];
        let path = dir.path().join("link/rows.csv");
        let written = to_new_file(&path, &save, Format::Csv, rows.iter(), &Watch::default());
        assert!(written.unwrap_err().to_string().contains("inside the save"));
    }
}
