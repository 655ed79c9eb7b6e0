//! Moving what is in a directory of a draft to the draft's root.

use std::path::Path;
use std::{fs, io};

use crate::draft::{Draft, Error};

/// The number of files below a directory.
fn count_files(dir: &Path) -> io::Result<u64> {
    let (mut count, mut dirs) = (0, vec![dir.to_owned()]);
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir)? {
            let entry = entry?;
            match entry.file_type()?.is_dir() {
                true => dirs.push(entry.path()),
                false => count += 1,
            }
        }
    }
    Ok(count)
}

impl Draft<'_> {
    /// Moves what is in a directory of the draft to the draft's root, and returns the number of files in it.
    ///
    /// # Errors
    /// When it cannot be moved, or something has its name there.
    pub fn lift(&self, name: &Path) -> Result<u64, Error> {
        let from = self.root.join(name);
        if !from.is_dir() {
            return Ok(0);
        }
        let count = count_files(&from).map_err(Error::read(&from))?;
        for entry in fs::read_dir(&from).map_err(Error::read(&from))? {
            let entry = entry.map_err(Error::read(&from))?;
            let to = self.root.join(entry.file_name());
            if fs::symlink_metadata(&to).is_ok() {
                return Err(Error::write(&to)(io::ErrorKind::AlreadyExists.into()));
            }
            fs::rename(entry.path(), &to).map_err(Error::write(&to))?;
        }
        fs::remove_dir(&from).map_err(Error::write(&from))?;
        Ok(count)
    }
}
