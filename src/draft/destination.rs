//! Where a result may be built, and what killed processes left there.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use super::Error;
use crate::sqlite::{self, BESIDE};

/// The part of the name of a temporary directory that says what it is.
pub(super) const DRAFT: &str = ".voxscope-";

/// Bytes of the name of a destination that the name of its temporary directory repeats.
const KEPT: usize = 200;

/// Bytes that the name of a result may have. File systems allow 255; a database has files beside it whose names are longer.
const NAME: usize = 250;
const DATABASE_NAME: usize = 243;

/// Entries of a directory that are searched for drafts.
const SEARCHED: usize = 10_000;

/// The meta file of a forest, whose directory belongs to the save as a whole.
const META: &str = "meta.vxrm";

/// Directories above a file of a forest that are searched for its meta file: `regions/lodN/FILE`.
const ABOVE: usize = 3;

fn refuse(path: &Path, why: &'static str) -> Error {
    Error::Destination { path: path.to_owned(), why }
}

/// Checks a destination: it must not exist, its directory must exist, its name must not be too long, and it must be no part
/// of a source.
///
/// # Errors
/// [`Error::Destination`] when it cannot be used.
pub fn check_destination(sources: &[&Path], destination: &Path) -> Result<(), Error> {
    check(sources, destination, NAME)
}

/// Checks the destination of a database as [`check_destination`], and that no journal is beside it: SQLite would play it
/// into the new file.
///
/// # Errors
/// [`Error::Destination`] when it cannot be used.
pub fn check_database(sources: &[&Path], destination: &Path) -> Result<(), Error> {
    check(sources, destination, DATABASE_NAME)?;
    if main_of(destination).is_some() {
        return Err(refuse(destination, TAKEN_FOR_JOURNAL));
    }
    for ending in BESIDE {
        let mut path = destination.as_os_str().to_owned();
        path.push(ending);
        let path = PathBuf::from(path);
        if fs::symlink_metadata(&path).is_ok() {
            return Err(refuse(
                &path,
                "SQLite would apply this file to the new database; move it away, or give another name",
            ));
        }
    }
    Ok(())
}

/// Checks that a file beside a result, such as its report, can be created.
///
/// # Errors
/// [`Error::Destination`] when it exists.
pub fn check_beside(path: &Path) -> Result<(), Error> {
    if fs::symlink_metadata(path).is_ok() {
        return Err(refuse(path, "it exists already; nothing is ever overwritten"));
    }
    Ok(())
}

/// Why a destination that is named like a journal cannot be used.
const TAKEN_FOR_JOURNAL: &str =
    "SQLite takes a file of this name for the journal or log of a database and may delete it; give another name";

/// The database that a path would be the journal or log of, by its name.
fn main_of(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?;
    let main = BESIDE.iter().find_map(|ending| name.as_encoded_bytes().strip_suffix(ending.as_bytes()))?;
    (!main.is_empty()).then(|| path.with_file_name(String::from_utf8_lossy(main).as_ref()))
}

fn check(sources: &[&Path], destination: &Path, longest: usize) -> Result<(), Error> {
    if fs::symlink_metadata(destination).is_ok() {
        return Err(refuse(destination, "it exists already; nothing is ever overwritten"));
    }
    let Some(name) = destination.file_name() else { return Err(refuse(destination, "it has no name")) };
    if name.len() > longest {
        let why = "its name is too long: at most 250 bytes, for a database 243, since other files are beside it";
        return Err(refuse(destination, why));
    }
    if main_of(destination).is_some_and(|main| main.is_file() || sqlite::is_named(&main)) {
        return Err(refuse(destination, TAKEN_FOR_JOURNAL));
    }
    let Ok(real) = fs::canonicalize(parent(destination)) else {
        return Err(refuse(destination, "the directory that it should be in does not exist"));
    };
    for source in sources {
        let source = fs::canonicalize(source).map_err(Error::read(source))?;
        if real.starts_with(&source) || forest_of(&source).is_some_and(|forest| real.starts_with(forest)) {
            return Err(refuse(destination, "it is inside the save"));
        }
        if is_beside(&source, &real.join(name)) {
            return Err(refuse(destination, "SQLite would take it for a part of the save"));
        }
    }
    Ok(())
}

/// The forest that a single file belongs to.
fn forest_of(file: &Path) -> Option<&Path> {
    let mut above = file.ancestors().skip(1).take(ABOVE).filter(|_| file.is_file());
    above.find(|dir| fs::symlink_metadata(dir.join(META)).is_ok())
}

/// Whether a path has the name of a journal of a file.
fn is_beside(file: &Path, path: &Path) -> bool {
    let mut with = BESIDE.iter().map(|ending| {
        let mut name = file.as_os_str().to_owned();
        name.push(ending);
        name
    });
    file.is_file() && with.any(|name| name == path.as_os_str())
}

/// Bytes that a file of a length takes on the disk: holes of a sparse file take none.
#[must_use]
pub fn bytes_on_disk(path: &Path, len: u64) -> u64 {
    #[cfg(unix)]
    if let Ok(metadata) = fs::symlink_metadata(path) {
        use std::os::unix::fs::MetadataExt;
        return len.min(metadata.blocks().saturating_mul(512));
    }
    len
}

/// Checks that a result of at least so many bytes fits on the disk of its destination.
///
/// # Errors
/// [`Error::Space`], with both figures.
pub fn check_space(destination: &Path, needed: u64) -> Result<(), Error> {
    match free(&parent(destination)) {
        Some(free) if free < needed => Err(Error::Space { path: destination.to_owned(), needed, free }),
        _ => Ok(()),
    }
}

/// Bytes that a file system has left for this user, if it says so.
#[cfg(unix)]
fn free(dir: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(dir).ok()?;
    // Some file systems count nothing and report zero for all.
    (stat.f_blocks > 0).then(|| stat.f_bavail.saturating_mul(stat.f_frsize))
}

#[cfg(not(unix))]
const fn free(_: &Path) -> Option<u64> {
    None
}

/// Temporary directories for this destination that a killed process left.
#[must_use]
pub fn leftovers(destination: &Path) -> Vec<PathBuf> {
    let start = temporary(destination);
    left_in(&parent(destination), |name| is_draft_of(name, &start))
}

/// Temporary directories in a directory that killed processes left, whatever their destinations.
#[must_use]
pub fn leftovers_in(dir: &Path) -> Vec<PathBuf> {
    left_in(dir, is_name_of_draft)
}

fn left_in(dir: &Path, is: impl Fn(&OsStr) -> bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().take(SEARCHED).filter_map(Result::ok);
    let named = entries.filter(|entry| is(&entry.file_name()) && entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut found: Vec<PathBuf> = named.map(|entry| entry.path()).filter(|path| lock(path).is_some()).collect();
    found.sort_unstable();
    found
}

/// Whether a path is inside a temporary directory that is being built. Its own draft syncs the directories in it, and nothing
/// of a killed process is there.
pub(super) fn is_in_draft(path: &Path) -> bool {
    let is_draft = |dir: &Path| dir.file_name().is_some_and(is_name_of_draft) && dir.is_dir() && lock(dir).is_none();
    path.ancestors().skip(1).any(is_draft)
}

/// Whether a name is that of a temporary directory, whatever its destination.
fn is_name_of_draft(name: &OsStr) -> bool {
    let text = name.to_string_lossy();
    text.starts_with('.') && text.rsplit_once(DRAFT).is_some_and(|(_, end)| is_end(end.as_bytes()))
}

/// Locks a temporary directory; `None` when the process that builds it lives.
fn lock(path: &Path) -> Option<File> {
    File::open(path).ok().filter(|dir| dir.try_lock().is_ok())
}

/// Removes what killed processes left for a destination. What cannot be removed stays: its name says what it is.
pub(super) fn clear(destination: &Path) {
    for path in leftovers(destination) {
        // The lock is held while it is removed.
        if let Some(_held) = lock(&path) {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// The six characters at the end of the name of a temporary directory.
fn is_end(end: &[u8]) -> bool {
    end.len() == 6 && end.iter().all(u8::is_ascii_alphanumeric)
}

fn is_draft_of(name: &OsStr, start: &OsStr) -> bool {
    name.as_encoded_bytes().strip_prefix(start.as_encoded_bytes()).is_some_and(is_end)
}

/// The directory of a path; `.` of a bare name.
pub(crate) fn parent(path: &Path) -> PathBuf {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
}

/// Prefix of the names of temporary directories for a destination. A long name is shortened and made unique by its hash.
pub(super) fn temporary(destination: &Path) -> OsString {
    let mut name = OsString::from(".");
    let last = destination.file_name().unwrap_or(OsStr::new("out"));
    if last.len() <= KEPT {
        name.push(last);
    } else {
        let text = last.to_string_lossy();
        let kept: String = text.char_indices().take_while(|(at, _)| *at < KEPT - 3).map(|(_, c)| c).collect();
        let mut hasher = DefaultHasher::new();
        last.hash(&mut hasher);
        name.push(kept);
        name.push(format!("~{:016x}", hasher.finish()));
    }
    name.push(DRAFT);
    name
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_too_long_are_refused_before_anything_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let named = |len: usize| dir.path().join("n".repeat(len));
        for (len, directory, database) in
            [(243, true, true), (244, true, false), (250, true, false), (251, false, false)]
        {
            assert_eq!(check_destination(&[], &named(len)).is_ok(), directory, "{len}");
            assert_eq!(check_database(&[], &named(len)).is_ok(), database, "{len}");
            assert!(temporary(&named(len)).len() + 6 <= 255, "{len}");
        }
        assert_ne!(temporary(&named(249)), temporary(&named(250)));
    }

    #[test]
    fn a_destination_is_no_part_of_the_save() {
        let dir = tempfile::tempdir().unwrap();
        let stream = dir.path().join("world.sqlite");
        fs::write(&stream, b"").unwrap();
        for ending in BESIDE {
            let to = dir.path().join(format!("world.sqlite{ending}"));
            assert!(check_destination(&[&stream], &to).is_err(), "{ending}");
        }
        assert!(check_destination(&[&stream], &dir.path().join("copy.sqlite")).is_ok());
        let forest = dir.path().join("forest");
        let lod = forest.join("regions/lod0");
        fs::create_dir_all(&lod).unwrap();
        fs::write(forest.join(META), b"{}").unwrap();
        let region = lod.join("r.0.0.0.vxr");
        fs::write(&region, b"").unwrap();
        for (source, to) in [(&forest, "forest/copy"), (&region, "forest/copy"), (&region, "forest/regions/lod0/copy")]
        {
            assert!(check_destination(&[source], &dir.path().join(to)).is_err(), "{to}");
        }
        assert!(check_destination(&[&region], &dir.path().join("copy")).is_ok());
    }

    #[test]
    fn a_name_of_a_journal_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("save.file"), b"").unwrap();
        for ending in BESIDE {
            let named = |name: &str| dir.path().join(format!("{name}{ending}"));
            for (name, directory, database) in [
                // A database that is there, or may be made.
                ("save.file", false, false),
                ("world.sqlite", false, false),
                ("world.DB3", false, false),
                // A forest may have such a name, a database may not.
                ("survival", true, false),
                ("", true, true),
            ] {
                assert_eq!(check_destination(&[], &named(name)).is_ok(), directory, "{name}{ending}");
                assert_eq!(check_database(&[], &named(name)).is_ok(), database, "{name}{ending}");
            }
        }
    }

    #[test]
    fn a_journal_beside_a_new_database_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        for ending in BESIDE {
            let to = dir.path().join(format!("new{ending}.sqlite"));
            assert!(check_database(&[], &to).is_ok());
            let mut beside = to.as_os_str().to_owned();
            beside.push(ending);
            fs::write(&beside, b"").unwrap();
            assert!(check_database(&[], &to).unwrap_err().to_string().contains(ending));
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_result_that_does_not_fit_is_refused_with_both_figures() {
        let dir = tempfile::tempdir().unwrap();
        let to = dir.path().join("copy");
        assert!(check_space(&to, 1).is_ok());
        let error = check_space(&to, u64::MAX).unwrap_err().to_string();
        assert!(error.contains("needs at least 16777216.0 TiB") && error.contains("are free"), "{error}");
    }
}
