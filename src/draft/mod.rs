//! Builds a directory next to its destination: everything is written into a temporary directory, is synced there, and
//! gets its final name only when it is complete. Nothing is ever overwritten.
//!
//! Takes a destination and what to write; gives a directory or files under their final names, or nothing. It knows no format
//! and no save, and never writes inside a directory that is read.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::bytes::Span;
use crate::source::{FileSource, OpenError, Source};
use crate::watch::Watch;

mod destination;
mod files;
mod lift;

pub use destination::{
    bytes_on_disk, check_beside, check_database, check_destination, check_space, leftovers, leftovers_in,
};
pub use files::{Input, Writer};

pub(crate) use destination::parent;
use destination::{clear, is_in_draft, temporary};

/// Bytes per copy.
pub const CHUNK: usize = 1 << 20;

/// Why a directory could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The destination cannot be used.
    #[error("{}: {why}", crate::printable::path(path))]
    Destination {
        /// The destination.
        path: PathBuf,
        /// The reason.
        why: &'static str,
    },
    /// A file that is to be copied cannot be opened.
    #[error("{}: {source}", crate::printable::path(path))]
    Open {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: OpenError,
    },
    /// Reading failed.
    #[error("{}: it cannot be read: {source}", crate::printable::path(path))]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// I/O errors.
        source: io::Error,
    },
    /// Writing failed; the partial result was removed.
    #[error("{}: it cannot be written: {source}; nothing is left of it", crate::printable::path(path))]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// I/O errors.
        source: io::Error,
    },
    /// A file changed while it was read.
    #[error("{}: the file changed while it was read; stop the game first", crate::printable::path(.0))]
    Changed(PathBuf),
    /// The result does not fit on the disk.
    #[error(
        "{}: the result needs at least {} of space, and {} are free; nothing was written",
        crate::printable::path(path), crate::printable::size(*needed), crate::printable::size(*free)
    )]
    Space {
        /// The destination.
        path: PathBuf,
        /// Bytes that the result has at least.
        needed: u64,
        /// Bytes that the disk has left.
        free: u64,
    },
    /// It was stopped.
    #[error("interrupted; nothing was written")]
    Interrupted,
}

impl Error {
    /// An error of reading `path`.
    pub fn read(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Read { path: path.to_owned(), source }
    }

    /// An error of writing `path`.
    pub fn write(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Write { path: path.to_owned(), source }
    }
}

/// Bytes of a file up to which it is copied without a look at the free space.
const SMALL: u64 = 1 << 20;

/// A directory that is being built. It is removed when dropped before [`finish`](Self::finish).
#[derive(Debug)]
pub struct Draft<'w> {
    destination: PathBuf,
    root: PathBuf,
    watch: Watch<'w>,
    finished: bool,
    /// Whether the destination is in another draft, which syncs all directories in it at its end.
    is_inner: bool,
    /// The directory, locked as long as this process builds it: other processes do not remove it. `None` where directories
    /// cannot be locked.
    lock: Option<File>,
}

impl<'w> Draft<'w> {
    /// Begins one: an empty directory `.NAME.voxscope-XXXXXX` beside the destination, which must not be inside one of `sources`,
    /// the saves that are read. What killed processes left for the same destination is removed. Every step fails with
    /// [`Error::Interrupted`] once the work is cancelled.
    ///
    /// # Errors
    /// When the destination cannot be used, or the directory cannot be made.
    pub fn new(sources: &[&Path], destination: &Path, watch: &Watch<'w>) -> Result<Self, Error> {
        check_destination(sources, destination)?;
        let is_inner = is_in_draft(destination);
        if !is_inner {
            clear(destination);
        }
        let dir = parent(destination);
        let start = temporary(destination);
        let mut builder = tempfile::Builder::new();
        builder.prefix(&start);
        // The directory becomes the result, so everybody may read it whom the user's mask allows to.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
        let root = builder.tempdir_in(&dir).map_err(Error::write(&dir))?.keep();
        let lock = File::open(&root).ok().filter(|dir| dir.try_lock().is_ok());
        // Another process may have taken it for one that was left, before it was locked.
        fs::metadata(&root).map_err(Error::write(&root))?;
        Ok(Self { destination: destination.to_owned(), root, watch: *watch, finished: false, is_inner, lock })
    }

    /// The path of the temporary directory.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Checks that the work was not cancelled.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub fn go_on(&self) -> Result<(), Error> {
        if self.watch.is_cancelled() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Creates a new file at a path below the directory, with its parent directories. Returns its full path too.
    ///
    /// # Errors
    /// When it exists, or cannot be made.
    pub fn create(&self, name: &Path) -> Result<(File, PathBuf), Error> {
        self.go_on()?;
        let path = self.root.join(name);
        if let Some(dir) = path.parent() {
            fs::create_dir_all(dir).map_err(Error::write(dir))?;
        }
        let file = File::create_new(&path).map_err(Error::write(&path))?;
        Ok((file, path))
    }

    /// Makes a directory.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn directory(&self, name: &Path) -> Result<(), Error> {
        let path = self.root.join(name);
        fs::create_dir_all(&path).map_err(Error::write(&path))
    }

    /// Writes a new file.
    ///
    /// # Errors
    /// When it exists, or cannot be written.
    pub fn file(&self, name: &Path, bytes: &[u8]) -> Result<(), Error> {
        let (mut file, path) = self.create(name)?;
        file.write_all(bytes).and_then(|()| file.sync_all()).map_err(Error::write(&path))
    }

    /// Syncs a file that other code wrote.
    ///
    /// # Errors
    /// When that is not possible.
    pub fn sync(&self, name: &Path) -> Result<(), Error> {
        let path = self.root.join(name);
        File::options().write(true).open(&path).and_then(|file| file.sync_all()).map_err(Error::write(&path))
    }

    /// Copies a regular file, byte by byte.
    ///
    /// # Errors
    /// When it cannot be read or written, does not fit on the disk, or changes meanwhile.
    pub fn copy(&self, from: &Path, name: &Path) -> Result<(), Error> {
        let input = Input::open(from)?;
        // A sparse file that says to have terabytes would fill the disk before the copy fails.
        if input.source.len() > SMALL {
            check_space(&self.destination, input.source.len())?;
        }
        let mut out = Writer::new(self, name)?;
        out.span(&input, Span::new(0, input.source.len()))?;
        input.unchanged()?;
        out.done()?;
        self.permit(from, name)
    }

    /// Gives a file or directory of the draft the permissions of another one.
    ///
    /// # Errors
    /// When they cannot be read or set.
    pub fn permit(&self, like: &Path, name: &Path) -> Result<(), Error> {
        let path = self.root.join(name);
        let permissions = fs::metadata(like).map_err(Error::read(like))?.permissions();
        fs::set_permissions(&path, permissions).map_err(Error::write(&path))
    }

    /// Syncs every directory and renames the result to its final name, which must still be free.
    ///
    /// # Errors
    /// When that is not possible.
    pub fn finish(mut self) -> Result<(), Error> {
        if !self.is_inner {
            self.sync_tree(self.root.clone())?;
        }
        if fs::symlink_metadata(&self.destination).is_ok() {
            return Err(Error::Destination { path: self.destination.clone(), why: "it was made meanwhile" });
        }
        rename(&self.root, &self.destination).map_err(Error::write(&self.destination))?;
        self.finished = true;
        self.sync_parent()
    }

    /// Syncs a directory and those in it.
    fn sync_tree(&self, dir: PathBuf) -> Result<(), Error> {
        let mut dirs = vec![dir];
        while let Some(dir) = dirs.pop() {
            self.go_on()?;
            for entry in fs::read_dir(&dir).map_err(Error::read(&dir))? {
                let entry = entry.map_err(Error::read(&dir))?;
                if entry.file_type().map_err(Error::read(&dir))?.is_dir() {
                    dirs.push(entry.path());
                }
            }
            sync_directory(&dir)?;
        }
        Ok(())
    }

    /// Renames files and directories of the directory to separate destinations, one by one, and removes the rest. Each
    /// is a name in the directory and its final path, which must still be free; if one cannot be renamed, those before it
    /// are renamed back.
    ///
    /// # Errors
    /// When that is not possible.
    pub fn finish_files(self, files: &[(&Path, &Path)]) -> Result<(), Error> {
        let mut given: Vec<&Path> = Vec::new();
        for (name, to) in files {
            let from = self.root.join(name);
            let ready = if from.is_dir() { self.sync_tree(from.clone()) } else { self.go_on() };
            let done = ready.and_then(|()| match fs::symlink_metadata(to) {
                Ok(_) => Err(Error::Destination { path: to.to_path_buf(), why: "it was made meanwhile" }),
                Err(_) => rename(&from, to).map_err(Error::write(to)),
            });
            if let Err(error) = done {
                for path in given {
                    // This process created them.
                    let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
                }
                return Err(error);
            }
            given.push(to);
        }
        self.sync_parent()
    }

    /// Syncs the directory of the destination.
    fn sync_parent(&self) -> Result<(), Error> {
        if self.is_inner { Ok(()) } else { sync_directory(&parent(&self.destination)) }
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        // The file of the lock may be the one that reading a directory needs, if the process has too many open.
        drop(self.lock.take());
        if !self.finished && fs::remove_dir_all(&self.root).is_err() {
            // This process created it; if it cannot be removed, its name says what it is.
            let _ = remove_slowly(&self.root);
        }
    }
}

/// Removes a directory with one open file at a time, where the library's function, which holds those above open, has too few.
fn remove_slowly(dir: &Path) -> io::Result<()> {
    let entries: Vec<(PathBuf, bool)> = fs::read_dir(dir)?
        .map(|entry| entry.and_then(|entry| Ok((entry.path(), entry.file_type()?.is_dir()))))
        .collect::<io::Result<_>>()?;
    for (path, is_dir) in entries {
        if is_dir { remove_slowly(&path)? } else { fs::remove_file(&path)? }
    }
    fs::remove_dir(dir)
}

/// Opens a file to read.
///
/// # Errors
/// [`Error::Open`].
pub fn open(path: &Path) -> Result<FileSource, Error> {
    FileSource::open(path).map_err(|source| Error::Open { path: path.to_owned(), source })
}

/// Checks that a file has not changed since it was opened.
///
/// # Errors
/// [`Error::Changed`], or I/O errors.
pub fn unchanged(source: &FileSource, path: &Path) -> Result<(), Error> {
    if source.changed().map_err(Error::read(path))? { Err(Error::Changed(path.to_owned())) } else { Ok(()) }
}

/// Renames a directory without replacing anything, even if another process creates the name at the same time.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Some file systems do not support this; then the earlier check has to suffice.
        Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => fs::rename(from, to),
        done => Ok(done?),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

/// Syncs a directory.
fn sync_directory(dir: &Path) -> Result<(), Error> {
    if cfg!(unix) {
        let synced = File::open(dir).and_then(|dir| dir.sync_all());
        // Some file systems cannot sync a directory; that is no reason to discard the result.
        match synced {
            Err(error) if error.kind() != io::ErrorKind::InvalidInput => return Err(Error::write(dir)(error)),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn a_draft_has_its_name_only_when_it_is_finished() {
        let dir = tempfile::tempdir().unwrap();
        let (source, to) = (dir.path().join("world"), dir.path().join("copy"));
        fs::create_dir(&source).unwrap();
        fs::write(source.join("a"), vec![7; CHUNK + 3]).unwrap();
        let draft = Draft::new(&[&source], &to, &Watch::default()).unwrap();
        draft.copy(&source.join("a"), Path::new("x/y/a")).unwrap();
        draft.file(Path::new("x/b"), b"b").unwrap();
        assert!(draft.file(Path::new("x/b"), b"c").is_err(), "written over");
        assert_eq!(names(dir.path()).len(), 2);
        assert!(leftovers(&to).is_empty(), "its owner lives");
        draft.finish().unwrap();
        assert_eq!(names(dir.path()), ["copy", "world"]);
        assert_eq!(fs::read(to.join("x/y/a")).unwrap(), vec![7; CHUNK + 3]);
        assert_eq!(fs::read(to.join("x/b")).unwrap(), b"b");
    }

    #[test]
    fn a_draft_that_is_given_up_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let draft = Draft::new(&[], &dir.path().join("copy"), &Watch::default()).unwrap();
        draft.file(Path::new("a/b"), b"b").unwrap();
        drop(draft);
        assert!(names(dir.path()).is_empty());
    }

    #[test]
    fn a_name_taken_meanwhile_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let to = dir.path().join("copy");
        let draft = Draft::new(&[], &to, &Watch::default()).unwrap();
        fs::create_dir(&to).unwrap();
        assert!(matches!(draft.finish(), Err(Error::Destination { .. })));
        assert!(names(&to).is_empty() && names(dir.path()) == ["copy"]);
        // The same if the earlier check sees nothing.
        let from = dir.path().join("from");
        fs::create_dir(&from).unwrap();
        assert!(!cfg!(target_os = "linux") || rename(&from, &to).is_err());
    }

    /// What a killed process leaves is found, and removed by whoever writes the same destination next. What another process
    /// builds is left alone.
    #[test]
    fn what_a_killed_process_left_is_removed_by_the_next_one() {
        let dir = tempfile::tempdir().unwrap();
        let (to, other) = (dir.path().join("copy"), dir.path().join("copy2"));
        let left = |to: &Path| {
            let mut name = temporary(to);
            name.push("abc123");
            let left = dir.path().join(name);
            fs::create_dir(&left).unwrap();
            fs::write(left.join("a"), b"old").unwrap();
            left
        };
        let (left, others) = (left(&to), left(&other));
        let first = Draft::new(&[], &other, &Watch::default()).unwrap();
        assert!(!others.exists());
        assert_eq!(leftovers(&to), std::slice::from_ref(&left));
        assert_eq!(leftovers_in(dir.path()), std::slice::from_ref(&left));
        let second = Draft::new(&[], &to, &Watch::default()).unwrap();
        assert!(!left.exists());
        // Two processes that write the same destination do not remove each other's draft.
        let third = Draft::new(&[], &to, &Watch::default()).unwrap();
        assert!(first.root().is_dir() && second.root().is_dir() && third.root().is_dir());
        assert!(leftovers_in(dir.path()).is_empty());
        second.finish().unwrap();
        assert!(matches!(third.finish(), Err(Error::Destination { .. })));
        drop(first);
        assert_eq!(names(dir.path()), ["copy"]);
    }

    /// A draft in another one searches no directory for what was left: with many results in one directory, that would take
    /// time that grows with the square of their number.
    #[test]
    fn a_draft_in_a_draft_leaves_the_directory_to_the_outer_one() {
        let dir = tempfile::tempdir().unwrap();
        let outer = Draft::new(&[], &dir.path().join("all"), &Watch::default()).unwrap();
        let to = outer.root().join("one");
        let mut left = temporary(&to);
        left.push("abc123");
        fs::create_dir(outer.root().join(&left)).unwrap();
        let inner = Draft::new(&[], &to, &Watch::default()).unwrap();
        assert!(outer.root().join(&left).is_dir(), "the directory was searched");
        inner.file(Path::new("a"), b"a").unwrap();
        inner.finish().unwrap();
        fs::remove_dir(outer.root().join(&left)).unwrap();
        outer.finish().unwrap();
        assert_eq!(names(dir.path()), ["all"]);
        assert_eq!(fs::read(dir.path().join("all/one/a")).unwrap(), b"a");
    }

    /// Where the second of two results cannot have its name, the first one does not keep its own.
    #[test]
    fn of_two_results_both_get_their_names_or_none() {
        for taken_first in [true, false] {
            let dir = tempfile::tempdir().unwrap();
            let [one, two] = ["copy.sqlite", "copy.sqlite.lost+found"].map(|name| dir.path().join(name));
            let draft = Draft::new(&[], &one, &Watch::default()).unwrap();
            draft.file(Path::new("a"), b"a").unwrap();
            draft.file(Path::new("b/c"), b"c").unwrap();
            let taken = if taken_first { &one } else { &two };
            fs::write(taken, b"of another").unwrap();
            let done = draft.finish_files(&[(Path::new("a"), &one), (Path::new("b"), &two)]);
            assert!(matches!(done, Err(Error::Destination { .. })), "{done:?}");
            assert_eq!(fs::read(taken).unwrap(), b"of another");
            assert_eq!(names(dir.path()).len(), 1, "{:?}", names(dir.path()));
        }
    }

    #[test]
    fn a_draft_is_removed_with_one_open_file() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("draft");
        fs::create_dir_all(root.join("a/b/c")).unwrap();
        fs::write(root.join("a/b/d"), b"d").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(dir.path(), root.join("a/link")).unwrap();
        remove_slowly(&root).unwrap();
        assert!(names(dir.path()).is_empty());
    }

    #[test]
    fn a_copy_keeps_the_permissions_of_its_source() {
        let dir = tempfile::tempdir().unwrap();
        let from = dir.path().join("a");
        fs::write(&from, b"a").unwrap();
        let mut permissions = fs::metadata(&from).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&from, permissions.clone()).unwrap();
        let to = dir.path().join("copy");
        let draft = Draft::new(&[], &to, &Watch::default()).unwrap();
        draft.copy(&from, Path::new("a")).unwrap();
        draft.finish().unwrap();
        assert_eq!(fs::metadata(to.join("a")).unwrap().permissions(), permissions);
    }
}
