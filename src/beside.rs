//! Building a directory beside its destination: everything goes into a temporary directory first, is synced there, and
//! gets its final name only when it is whole. Nothing is ever overwritten.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::bytes::Span;
use crate::source::{FileSource, OpenError, Source};

mod files;
#[cfg(feature = "sqlite")]
pub mod stream;
mod watch;

pub use files::{Input, Writer};
pub use watch::Watch;

/// Bytes that are copied at once.
pub const CHUNK: usize = 1 << 20;

/// Names that are tried for the temporary directory: one may be left of a process of the same number that was killed.
const NAMES: usize = 100;

/// Why a directory could not be built.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The destination cannot be used.
    #[error("{}: {why}", crate::printable::path(path))]
    Destination {
        /// The destination.
        path: PathBuf,
        /// Why not.
        why: &'static str,
    },
    /// A file that is to be copied cannot be opened.
    #[error("{}: {source}", crate::printable::path(path))]
    Open {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: OpenError,
    },
    /// Reading failed.
    #[error("{}: it cannot be read: {source}", crate::printable::path(path))]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// Writing failed; what was written until then is gone again.
    #[error("{}: it cannot be written: {source}; nothing is left of it", crate::printable::path(path))]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// A file changed while it was read.
    #[error("{}: the file changed while it was read; stop the game first", crate::printable::path(.0))]
    Changed(PathBuf),
    /// It was stopped.
    #[error("interrupted; nothing was written")]
    Interrupted,
}

impl Error {
    /// Makes an error of reading `path`.
    pub fn read(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Read { path: path.to_owned(), source }
    }

    /// Makes an error of writing `path`.
    pub fn write(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Write { path: path.to_owned(), source }
    }
}

/// Whether a destination can be used: it must not exist, its directory must, and it must not lie inside of what is read.
///
/// # Errors
/// [`Error::Destination`] when it cannot be used.
pub fn usable(sources: &[&Path], destination: &Path) -> Result<(), Error> {
    let refuse = |why| Err(Error::Destination { path: destination.to_owned(), why });
    if fs::symlink_metadata(destination).is_ok() {
        return refuse("it exists already; nothing is ever overwritten");
    }
    if destination.file_name().is_none() {
        return refuse("it has no name");
    }
    let Ok(real) = fs::canonicalize(parent(destination)) else {
        return refuse("the directory that it should be in does not exist");
    };
    for source in sources {
        if real.starts_with(fs::canonicalize(source).map_err(Error::read(source))?) {
            return refuse("it lies inside the save");
        }
    }
    Ok(())
}

/// Temporary directories for this destination that a killed process left, or that another one is building now.
#[must_use]
pub fn leftovers(destination: &Path, what: &str) -> Vec<PathBuf> {
    let mut start = temporary(destination, what);
    start.push("-");
    let start = start.as_encoded_bytes();
    let names = fs::read_dir(parent(destination)).into_iter().flatten().filter_map(Result::ok);
    let mut found: Vec<PathBuf> =
        names.filter(|e| e.file_name().as_encoded_bytes().starts_with(start)).map(|e| e.path()).collect();
    found.sort();
    found
}

fn parent(path: &Path) -> PathBuf {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
}

/// How names of temporary directories begin.
fn temporary(destination: &Path, what: &str) -> OsString {
    let mut name = OsString::from(".");
    name.push(destination.file_name().unwrap_or(OsStr::new("out")));
    name.push(format!(".{what}"));
    name
}

/// A directory that is being built. Dropped before [`finish`](Self::finish), it is gone.
#[derive(Debug)]
pub struct Draft<'c> {
    destination: PathBuf,
    root: PathBuf,
    cancel: Option<&'c AtomicBool>,
    finished: bool,
}

impl<'c> Draft<'c> {
    /// Begins one: an empty directory `.NAME.WHAT-PID` beside the destination. `sources` are what is read from: it must
    /// not be built inside of them. Every step ends with [`Error::Interrupted`] once `cancel` is set.
    ///
    /// # Errors
    /// When the destination cannot be used, or the directory cannot be made.
    pub fn new(
        sources: &[&Path],
        destination: &Path,
        what: &str,
        cancel: Option<&'c AtomicBool>,
    ) -> Result<Self, Error> {
        usable(sources, destination)?;
        let mut root = parent(destination);
        for n in 1..=NAMES {
            let mut name = temporary(destination, what);
            name.push(format!("-{}", std::process::id()));
            if n > 1 {
                name.push(format!("-{n}"));
            }
            root = parent(destination).join(name);
            match fs::create_dir(&root) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && n < NAMES => {}
                made => {
                    made.map_err(Error::write(&root))?;
                    break;
                }
            }
        }
        Ok(Self { destination: destination.to_owned(), root, cancel, finished: false })
    }

    /// Where it is built.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether it may go on.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub fn go_on(&self) -> Result<(), Error> {
        if self.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Makes a new file at a path below the directory, with the directories on the way to it. Gives its full path too.
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

    /// Makes a file of bytes.
    ///
    /// # Errors
    /// When it exists, or cannot be written.
    pub fn file(&self, name: &Path, bytes: &[u8]) -> Result<(), Error> {
        let (mut file, path) = self.create(name)?;
        file.write_all(bytes).and_then(|()| file.sync_all()).map_err(Error::write(&path))
    }

    /// Makes sure that a file which something else wrote is on the disk.
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
    /// When it cannot be read or written, or changes meanwhile.
    pub fn copy(&self, from: &Path, name: &Path) -> Result<(), Error> {
        let input = Input::open(from)?;
        let mut out = Writer::new(self, name)?;
        out.span(&input, Span::new(0, input.source.len()))?;
        input.unchanged()?;
        out.done()
    }

    /// Syncs every directory and gives the whole its final name, which nobody must have taken meanwhile.
    ///
    /// # Errors
    /// When that is not possible.
    pub fn finish(mut self) -> Result<(), Error> {
        self.sync_tree(self.root.clone())?;
        if fs::symlink_metadata(&self.destination).is_ok() {
            return Err(Error::Destination { path: self.destination.clone(), why: "it was made meanwhile" });
        }
        rename(&self.root, &self.destination).map_err(Error::write(&self.destination))?;
        self.finished = true;
        sync_directory(&parent(&self.destination))
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

    /// Gives files and directories of the directory names of their own, one after the other, and leaves nothing else. Each
    /// is a name in the directory and its final path, which nobody must have taken meanwhile; where one cannot be given, those before it
    /// are taken back.
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
                    // They are our own, made a moment ago.
                    let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
                }
                return Err(error);
            }
            given.push(to);
        }
        sync_directory(&parent(&self.destination))
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if !self.finished {
            // It is our own, made a moment ago; what cannot be removed has a name that says what it is.
            let _ = fs::remove_dir_all(&self.root);
        }
    }
}

/// Opens a file to read.
///
/// # Errors
/// [`Error::Open`].
pub fn open(path: &Path) -> Result<FileSource, Error> {
    FileSource::open(path).map_err(|source| Error::Open { path: path.to_owned(), source })
}

/// Makes sure that a file is still what it was when it was opened.
///
/// # Errors
/// [`Error::Changed`], or what the operating system says.
pub fn unchanged(source: &FileSource, path: &Path) -> Result<(), Error> {
    if source.changed().map_err(Error::read(path))? { Err(Error::Changed(path.to_owned())) } else { Ok(()) }
}

/// Gives a directory another name that nobody has, also when somebody takes that name at the same moment.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Some file systems cannot tell; there the look before has to do.
        Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => fs::rename(from, to),
        done => Ok(done?),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

/// Makes sure that the names in a directory are on the disk.
fn sync_directory(dir: &Path) -> Result<(), Error> {
    if cfg!(unix) {
        let synced = File::open(dir).and_then(|dir| dir.sync_all());
        // Some file systems cannot sync a directory; that is no reason to throw the result away.
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
        names.sort();
        names
    }

    #[test]
    fn a_draft_has_its_name_only_when_it_is_finished() {
        let dir = tempfile::tempdir().unwrap();
        let (source, to) = (dir.path().join("world"), dir.path().join("copy"));
        fs::create_dir(&source).unwrap();
        fs::write(source.join("a"), vec![7; CHUNK + 3]).unwrap();
        let draft = Draft::new(&[&source], &to, "repair", None).unwrap();
        draft.copy(&source.join("a"), Path::new("x/y/a")).unwrap();
        draft.file(Path::new("x/b"), b"b").unwrap();
        assert!(draft.file(Path::new("x/b"), b"c").is_err(), "written over");
        assert_eq!(names(dir.path()).len(), 2);
        assert_eq!(leftovers(&to, "repair"), [draft.root()]);
        draft.finish().unwrap();
        assert_eq!(names(dir.path()), ["copy", "world"]);
        assert_eq!(fs::read(to.join("x/y/a")).unwrap(), vec![7; CHUNK + 3]);
        assert_eq!(fs::read(to.join("x/b")).unwrap(), b"b");
    }

    #[test]
    fn a_draft_that_is_given_up_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let draft = Draft::new(&[], &dir.path().join("copy"), "repair", None).unwrap();
        draft.file(Path::new("a/b"), b"b").unwrap();
        drop(draft);
        assert!(names(dir.path()).is_empty());
    }

    #[test]
    fn a_name_taken_meanwhile_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let to = dir.path().join("copy");
        let draft = Draft::new(&[], &to, "repair", None).unwrap();
        fs::create_dir(&to).unwrap();
        assert!(matches!(draft.finish(), Err(Error::Destination { .. })));
        assert!(names(&to).is_empty() && names(dir.path()) == ["copy"]);
        // The same when the look before sees nothing.
        let from = dir.path().join("from");
        fs::create_dir(&from).unwrap();
        assert!(!cfg!(target_os = "linux") || rename(&from, &to).is_err());
    }

    #[test]
    fn what_a_killed_process_left_is_in_nobodys_way() {
        let dir = tempfile::tempdir().unwrap();
        let to = dir.path().join("copy");
        let left = dir.path().join(format!(".copy.repair-{}", std::process::id()));
        fs::create_dir(&left).unwrap();
        fs::write(left.join("a"), b"old").unwrap();
        let draft = Draft::new(&[], &to, "repair", None).unwrap();
        draft.file(Path::new("a"), b"new").unwrap();
        draft.finish().unwrap();
        assert_eq!(fs::read(to.join("a")).unwrap(), b"new");
        assert_eq!(leftovers(&to, "repair"), std::slice::from_ref(&left));
        assert_eq!(fs::read(left.join("a")).unwrap(), b"old");
    }
}
