//! Files of the result, written piece by piece.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::bytes::{Span, index};
use crate::repair::Error;
use crate::repair::write::Tree;
use crate::source::{FileSource, Source};

/// What has no owner, and what was taken out.
pub(super) const LOST: &str = "lost+found";

/// Bytes that are read and written at once.
pub(super) const CHUNK: usize = 1 << 20;

/// A file that is being written.
pub(super) struct Writer<'a> {
    tree: &'a Tree<'a>,
    out: BufWriter<File>,
    path: PathBuf,
}

impl<'a> Writer<'a> {
    /// Begins a new file below the result.
    pub fn new(tree: &'a Tree<'a>, name: &Path) -> Result<Self, Error> {
        let (file, path) = tree.create(name)?;
        Ok(Self { tree, out: BufWriter::with_capacity(CHUNK, file), path })
    }

    /// Writes bytes.
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.out.write_all(bytes).map_err(Error::io(&self.path))
    }

    /// Writes zeros.
    pub fn zeros(&mut self, count: u64) -> Result<(), Error> {
        let zeros = vec![0; CHUNK.min(index(count))];
        let mut left = count;
        while left > 0 {
            self.tree.go_on()?;
            let some = index(left).min(zeros.len());
            self.put(zeros.get(..some).unwrap_or_default())?;
            left -= some as u64;
        }
        Ok(())
    }

    /// Writes bytes of a source as they are.
    pub fn span(&mut self, from: &Input, span: Span) -> Result<(), Error> {
        from.each(span, |bytes| {
            self.tree.go_on()?;
            self.put(bytes)
        })
    }

    /// Makes sure that all of it is on the disk.
    pub fn done(mut self) -> Result<(), Error> {
        self.out.flush().and_then(|()| self.out.get_ref().sync_all()).map_err(Error::io(&self.path))
    }
}

/// A file of the save that is read while the result is written.
pub(super) struct Input {
    pub source: FileSource,
    path: PathBuf,
}

impl Input {
    pub fn open(path: &Path) -> Result<Self, Error> {
        let source = FileSource::open(path).map_err(|source| Error::Open { path: path.to_owned(), source })?;
        Ok(Self { source, path: path.to_owned() })
    }

    /// Hands out the bytes of a span, some at a time.
    pub fn each(&self, span: Span, mut take: impl FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        let mut buffer = Vec::new();
        let mut at = span.start;
        while at < span.end {
            self.source.read_into(at, CHUNK.min(index(span.end - at)), &mut buffer).map_err(self.failed())?;
            if buffer.is_empty() {
                return Err(Error::Changed(self.path.clone()));
            }
            take(&buffer)?;
            at += buffer.len() as u64;
        }
        Ok(())
    }

    /// The bytes of a span that is known to be small.
    pub fn read(&self, span: Span, buffer: &mut Vec<u8>) -> Result<(), Error> {
        self.source.read_into(span.start, index(span.len()), buffer).map_err(self.failed())?;
        if buffer.len() as u64 == span.len() { Ok(()) } else { Err(Error::Changed(self.path.clone())) }
    }

    /// Makes sure that the file is still what it was.
    pub fn unchanged(&self) -> Result<(), Error> {
        if self.source.changed().map_err(self.failed())? { Err(Error::Changed(self.path.clone())) } else { Ok(()) }
    }

    pub fn failed(&self) -> impl FnOnce(io::Error) -> Error + '_ {
        Error::io(&self.path)
    }
}

/// JSON as it is written into `lost+found`.
pub(super) fn json(value: &serde_json::Value) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).unwrap_or_default();
    text.push(b'\n');
    text
}

/// The path of a file below the save; its name where that is the save itself.
pub(super) fn below(save: &Path, path: &Path) -> PathBuf {
    let below = path.strip_prefix(save).ok().filter(|p| !p.as_os_str().is_empty());
    below.map_or_else(|| path.file_name().map(PathBuf::from).unwrap_or_default(), Path::to_path_buf)
}

/// How a file of `lost+found` is called that comes from the file `name`.
pub(super) fn lost_name(tree: &Tree<'_>, name: &Path, ending: &str) -> PathBuf {
    let mut file = name.file_name().unwrap_or_default().to_owned();
    file.push(ending);
    unused(tree, &name.with_file_name(file))
}

/// Where a file of the source goes that is set aside.
pub(super) fn aside(tree: &Tree<'_>, name: &Path) -> PathBuf {
    unused(tree, &Path::new("files").join(name))
}

/// A name in `lost+found` that is not taken: an earlier repair may have left its own there.
fn unused(tree: &Tree<'_>, name: &Path) -> PathBuf {
    let taken = |path: &PathBuf| std::fs::symlink_metadata(tree.root().join(path)).is_ok();
    let mut path = Path::new(LOST).join(name);
    let mut n = 2u32;
    while taken(&path) && n < u32::MAX {
        path = Path::new(LOST).join(format!("again-{n}")).join(name);
        n += 1;
    }
    path
}
