//! Files that are read, and files of a draft that are written in parts.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::bytes::{Span, index};
use crate::draft::{CHUNK, Draft, Error, open, unchanged};
use crate::source::{FileSource, Source};

/// A file of a draft that is being written.
#[derive(Debug)]
pub struct Writer<'d> {
    draft: &'d Draft<'d>,
    out: BufWriter<File>,
    path: PathBuf,
}

impl<'d> Writer<'d> {
    /// Creates a new file at a path below the draft, with its parent directories.
    ///
    /// # Errors
    /// When it exists, or cannot be made.
    pub fn new(draft: &'d Draft<'_>, name: &Path) -> Result<Self, Error> {
        let (file, path) = draft.create(name)?;
        Ok(Self { draft, out: BufWriter::with_capacity(CHUNK, file), path })
    }

    /// Its writer and its full path.
    pub fn parts(&mut self) -> (&mut BufWriter<File>, &Path) {
        (&mut self.out, &self.path)
    }

    /// Writes bytes.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.out.write_all(bytes).map_err(Error::write(&self.path))
    }

    /// Writes zeros.
    ///
    /// # Errors
    /// [`Error::Write`], or [`Error::Interrupted`].
    pub fn zeros(&mut self, count: u64) -> Result<(), Error> {
        let zeros = vec![0; CHUNK.min(index(count))];
        let mut left = count;
        while left > 0 {
            self.draft.go_on()?;
            let some = index(left).min(zeros.len());
            self.put(zeros.get(..some).unwrap_or_default())?;
            left -= some as u64;
        }
        Ok(())
    }

    /// Copies bytes of a source.
    ///
    /// # Errors
    /// If they cannot be read or written, or no longer exist.
    pub fn span(&mut self, from: &Input, span: Span) -> Result<(), Error> {
        from.each(span, |bytes| {
            self.draft.go_on()?;
            self.put(bytes)
        })
    }

    /// Syncs it.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn done(mut self) -> Result<(), Error> {
        self.out.flush().and_then(|()| self.out.get_ref().sync_all()).map_err(Error::write(&self.path))
    }
}

/// A file that is read while a draft is written.
#[derive(Debug)]
pub struct Input {
    /// The file.
    pub source: FileSource,
    path: PathBuf,
}

impl Input {
    /// Opens a regular file.
    ///
    /// # Errors
    /// [`Error::Open`].
    pub fn open(path: &Path) -> Result<Self, Error> {
        Ok(Self { source: open(path)?, path: path.to_owned() })
    }

    /// A file that is open already.
    #[must_use]
    pub fn new(path: &Path, source: FileSource) -> Self {
        Self { source, path: path.to_owned() }
    }

    /// Passes on the bytes of a span in parts.
    ///
    /// # Errors
    /// If they cannot be read, or no longer exist, or `take` fails.
    pub fn each(&self, span: Span, mut take: impl FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        let mut buffer = Vec::new();
        let mut at = span.start;
        while at < span.end {
            let some = CHUNK.min(index(span.end - at));
            self.source.read_into(at, some, &mut buffer).map_err(Error::read(&self.path))?;
            if buffer.is_empty() {
                return Err(Error::Changed(self.path.clone()));
            }
            take(&buffer)?;
            at += buffer.len() as u64;
        }
        Ok(())
    }

    /// The bytes of a small span.
    ///
    /// # Errors
    /// If they cannot be read, or no longer exist.
    pub fn read(&self, span: Span, buffer: &mut Vec<u8>) -> Result<(), Error> {
        self.source.read_into(span.start, index(span.len()), buffer).map_err(Error::read(&self.path))?;
        if buffer.len() as u64 == span.len() { Ok(()) } else { Err(Error::Changed(self.path.clone())) }
    }

    /// Checks that the file has not changed.
    ///
    /// # Errors
    /// [`Error::Changed`], or I/O errors.
    pub fn unchanged(&self) -> Result<(), Error> {
        unchanged(&self.source, &self.path)
    }
}
