//! Sources of bytes: files that are read at an offset, and slices in tests and fuzzing.
//!
//! Files are never mapped: a game that shortens a mapped file kills the reader. They are opened for reading only, never
//! through a symbolic link, and only when they are regular files, so that a pipe cannot make the reader wait.
//!
//! Takes a path or a slice; gives bytes at an offset, the length, and the holes of sparse files. It knows no format.

mod restored;
mod transfer;

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::SystemTime;

use crate::damage::Code;
pub use restored::{Piece, PieceFrom, Recoding, Restoration};
pub use transfer::recognize;
pub(crate) use transfer::{text_of_prefix, wide_characters};

/// Bytes that can be read at an offset, from several threads at once.
pub trait Source: Sync {
    /// Number of bytes, as it was when the source was opened.
    fn len(&self) -> u64;

    /// Whether there is no byte.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads up to `buf.len()` bytes at `offset`; fewer only at the end.
    ///
    /// # Errors
    /// I/O errors.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize>;

    /// The first offset from `offset` on whose byte may be other than zero; skips holes of a sparse file.
    fn next_data(&self, offset: u64) -> u64 {
        offset
    }

    /// Where a byte is in the file as it is stored; `None` where the file does not have it as such a byte.
    fn stored_offset(&self, offset: u64) -> Option<u64> {
        Some(offset)
    }

    /// Makes `buf` the `len` bytes at `offset`, or as many of them as there are.
    ///
    /// # Errors
    /// I/O errors. `buf` is then empty.
    fn read_into(&self, offset: u64, len: usize, buf: &mut Vec<u8>) -> io::Result<()> {
        let there = usize::try_from(self.len().saturating_sub(offset)).unwrap_or(usize::MAX);
        buf.resize(len.min(there), 0);
        match self.read_at(offset, buf) {
            Ok(n) => {
                buf.truncate(n);
                Ok(())
            }
            Err(error) => {
                buf.clear();
                Err(error)
            }
        }
    }
}

impl Source for [u8] {
    fn len(&self) -> u64 {
        crate::bytes::len64(self)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|at| self.get(at..)).unwrap_or_default();
        let n = rest.len().min(buf.len());
        if let (Some(to), Some(from)) = (buf.get_mut(..n), rest.get(..n)) {
            to.copy_from_slice(from);
        }
        Ok(n)
    }
}

impl Source for Vec<u8> {
    fn len(&self) -> u64 {
        self.as_slice().len().try_into().unwrap_or(u64::MAX)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.as_slice().read_at(offset, buf)
    }
}

impl<S: Source + ?Sized> Source for &S {
    fn len(&self) -> u64 {
        (**self).len()
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        (**self).read_at(offset, buf)
    }

    fn next_data(&self, offset: u64) -> u64 {
        (**self).next_data(offset)
    }

    fn stored_offset(&self, offset: u64) -> Option<u64> {
        (**self).stored_offset(offset)
    }
}

/// A source with a part that was already read; reads inside that part need no system call.
#[derive(Clone, Copy, Debug)]
pub struct Windowed<'w, S: ?Sized> {
    /// The whole.
    pub source: &'w S,
    /// Where the part begins.
    pub at: u64,
    /// The part.
    pub bytes: &'w [u8],
}

impl<S: Source + ?Sized> Source for Windowed<'_, S> {
    fn len(&self) -> u64 {
        self.source.len()
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let from = offset.checked_sub(self.at).and_then(|from| usize::try_from(from).ok());
        let there = from.and_then(|from| self.bytes.get(from..)?.get(..buf.len()));
        match there {
            Some(bytes) => {
                buf.copy_from_slice(bytes);
                Ok(buf.len())
            }
            None => self.source.read_at(offset, buf),
        }
    }

    fn stored_offset(&self, offset: u64) -> Option<u64> {
        self.source.stored_offset(offset)
    }
}

/// A regular file, open for reading; where a copy changed its bytes, it can be read as it was before.
#[derive(Debug)]
pub struct FileSource {
    path: PathBuf,
    /// `None` after [`close`](Self::close), until the next read.
    file: RwLock<Option<File>>,
    stamp: Stamp,
    restoration: Option<Arc<Restoration>>,
}

/// The properties of a file that show whether it changed while it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    len: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    fn from_metadata(metadata: &Metadata) -> Self {
        Self { len: metadata.len(), modified: metadata.modified().ok() }
    }
}

/// Why a file could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// It is a directory, a pipe, a socket or a device.
    #[error("it is {0}, not a regular file")]
    NotAFile(&'static str),
    /// It is a symbolic link.
    #[error("it is a symbolic link, which is not followed inside a save")]
    Link,
    /// The operating system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl OpenError {
    /// The corresponding code.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::NotAFile(_) => Code::NotAFile,
            Self::Link => Code::LinkSkipped,
            Self::Io(_) => Code::FileUnreadable,
        }
    }
}

impl FileSource {
    /// Opens a regular file. A symbolic link at `path` itself is refused.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        #[cfg(test)]
        opened::note(path);
        let (file, stamp) = open_regular(path)?;
        Ok(Self { path: path.to_owned(), file: RwLock::new(Some(file)), stamp, restoration: None })
    }

    /// Closes the file until it is read again, so that many sources can exist with few open files. Reading opens it again,
    /// and fails if it changed meanwhile.
    pub fn close(&self) {
        *self.file.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Calls `read` with the file, which is opened again if it was closed.
    fn with_file<T>(&self, read: impl FnOnce(&File) -> io::Result<T>) -> io::Result<T> {
        let open: RwLockReadGuard<'_, Option<File>> = self.file.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = &*open {
            return read(file);
        }
        drop(open);
        let mut closed = self.file.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = &*closed {
            return read(file);
        }
        let (file, stamp) = open_regular(&self.path).map_err(|error| match error {
            OpenError::Io(error) => error,
            error => io::Error::other(error),
        })?;
        if stamp != self.stamp {
            return Err(io::Error::other("the file changed while it was read"));
        }
        read(closed.insert(file))
    }

    /// The same file, read through a restoration from now on.
    #[must_use]
    pub fn restored(mut self, restoration: Option<Arc<Restoration>>) -> Self {
        self.restoration = restoration.filter(|restoration| !restoration.is_empty());
        self
    }

    /// The same file once more, which is opened by the first read.
    #[must_use]
    pub fn again(&self) -> Self {
        let (path, restoration) = (self.path.clone(), self.restoration.clone());
        Self { path, file: RwLock::new(None), stamp: self.stamp, restoration }
    }

    /// How it is read, where that is not as it is on disk.
    #[must_use]
    pub const fn restoration(&self) -> Option<&Arc<Restoration>> {
        self.restoration.as_ref()
    }

    /// Number of bytes on disk, as it was when the file was opened.
    #[must_use]
    pub const fn len_on_disk(&self) -> u64 {
        self.stamp.len
    }

    fn read_on_disk(&self, mut offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while let Some(rest) = buf.get_mut(done..)
            && !rest.is_empty()
        {
            match self.with_file(|file| read_once(file, rest, offset)) {
                Ok(0) => break,
                Ok(n) => {
                    done = done.saturating_add(n);
                    offset = offset.saturating_add(u64::try_from(n).unwrap_or(0));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    /// Whether the file has another length or time than when it was opened.
    ///
    /// # Errors
    /// I/O errors.
    pub fn changed(&self) -> io::Result<bool> {
        let open = self.file.read().unwrap_or_else(PoisonError::into_inner);
        let now = match &*open {
            Some(file) => file.metadata()?,
            None => std::fs::symlink_metadata(&self.path)?,
        };
        Ok(Stamp::from_metadata(&now) != self.stamp)
    }
}

/// Opens a regular file, but no symbolic link.
fn open_regular(path: &Path) -> Result<(File, Stamp), OpenError> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) => return Err(refused(path, error)),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(OpenError::NotAFile(kind(&metadata)));
    }
    Ok((file, Stamp::from_metadata(&metadata)))
}

impl Source for FileSource {
    fn len(&self) -> u64 {
        self.restoration.as_ref().map_or(self.stamp.len, |restoration| restoration.len(self.stamp.len))
    }

    fn stored_offset(&self, offset: u64) -> Option<u64> {
        self.restoration.as_ref().map_or(Some(offset), |restoration| restoration.stored_offset(offset))
    }

    fn next_data(&self, offset: u64) -> u64 {
        if self.restoration.is_some() {
            return offset;
        }
        let next = self.with_file(|file| Ok(next_data(file, offset))).ok().flatten();
        next.unwrap_or(offset).clamp(offset, self.len().max(offset))
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        match &self.restoration {
            None => self.read_on_disk(offset, buf),
            Some(restoration) => restoration.read(offset, buf, &|at, buf| self.read_on_disk(at, buf)),
        }
    }
}

#[cfg(unix)]
fn read_once(file: &File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buf, offset)
}

#[cfg(windows)]
fn read_once(file: &File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buf, offset)
}

/// Offset of the next data of a sparse file, or its end if there is none. Moves the file's own position, which nothing
/// here uses.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd", target_vendor = "apple"))]
fn next_data(file: &File, offset: u64) -> Option<u64> {
    match rustix::fs::seek(file, rustix::fs::SeekFrom::Data(offset)) {
        Ok(at) => Some(at),
        Err(rustix::io::Errno::NXIO) => Some(u64::MAX),
        Err(_) => None,
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd", target_vendor = "apple")))]
fn next_data(_: &File, _: u64) -> Option<u64> {
    None
}

/// A clearer error than that of the operating system.
fn refused(path: &Path, error: io::Error) -> OpenError {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => OpenError::Link,
        Ok(metadata) if !metadata.is_file() => OpenError::NotAFile(kind(&metadata)),
        _ => OpenError::Io(error),
    }
}

fn kind(metadata: &Metadata) -> &'static str {
    if metadata.is_dir() {
        return "a directory";
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kind = metadata.file_type();
        if kind.is_fifo() {
            return "a pipe";
        }
        if kind.is_socket() {
            return "a socket";
        }
    }
    "a device"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_gives_what_is_there() {
        let data = [1u8, 2, 3, 4];
        let mut buf = Vec::new();
        data[..].read_into(2, 9, &mut buf).unwrap();
        assert_eq!(buf, [3, 4]);
        data[..].read_into(u64::MAX, 9, &mut buf).unwrap();
        assert!(buf.is_empty());
    }

    #[test]
    fn a_file_is_read_at_offsets_and_a_change_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.0.0.0.vxr");
        std::fs::write(&path, b"0123456789").unwrap();
        let source = FileSource::open(&path).unwrap();
        let mut buf = Vec::new();
        source.read_into(8, 100, &mut buf).unwrap();
        assert_eq!(buf, b"89");
        assert!(!source.changed().unwrap());
        std::fs::write(&path, b"0123456789a").unwrap();
        assert!(source.changed().unwrap());
        assert_eq!(source.len(), 10);
    }

    #[test]
    fn holes_are_passed_over_but_never_data() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sparse");
        let file = File::create(&path).unwrap();
        file.set_len(64 << 20).unwrap();
        drop(file);
        let source = FileSource::open(&path).unwrap();
        // On file systems without holes, every byte counts as data.
        assert!([5, 64 << 20].contains(&source.next_data(5)));
        std::fs::write(&path, vec![0; 100_000]).unwrap();
        let source = FileSource::open(&path).unwrap();
        assert_eq!(source.next_data(99_999), 99_999);
        assert_eq!(source.next_data(200_000), 200_000);
        assert_eq!(vec![0u8; 9].next_data(3), 3);
    }

    #[cfg(unix)]
    #[test]
    fn only_regular_files_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&link, &link).unwrap();
        assert!(matches!(FileSource::open(&link), Err(OpenError::Link)));
        assert!(matches!(FileSource::open(dir.path()), Err(OpenError::NotAFile("a directory"))));
        assert!(matches!(FileSource::open(&dir.path().join("none")), Err(OpenError::Io(_))));
        assert!(matches!(FileSource::open(Path::new("/dev/null")), Err(OpenError::NotAFile("a device"))));
    }
}

/// How often files were opened, for tests of work that must not grow with the square of the number of files.
#[cfg(test)]
pub(crate) mod opened {
    use std::path::{Path, PathBuf};
    use std::sync::{Mutex, PoisonError};

    static PATHS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

    pub(super) fn note(path: &Path) {
        PATHS.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
    }

    /// How often files below a directory were opened.
    pub(crate) fn below(dir: &Path) -> usize {
        let paths = PATHS.lock().unwrap_or_else(PoisonError::into_inner);
        paths.iter().filter(|path| path.starts_with(dir)).count()
    }
}
