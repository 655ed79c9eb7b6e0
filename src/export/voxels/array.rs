//! An array file that is written in any order.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::draft::{Draft, Error};
use crate::godot::channel::{Depth, NAMES};
use crate::voxel_map::npy;

/// Size from which on space is allocated before writing: file systems that allocate block by block are
/// slower.
const RESERVE: usize = 256 << 10;

/// A `.npy` file of the voxels of one channel.
pub(super) struct Array {
    pub channel: usize,
    /// The width of its numbers.
    pub depth: Depth,
    /// NumPy's name of them.
    pub dtype: &'static str,
    /// Whether they are distances and not raw values.
    pub distances: bool,
    name: String,
    file: File,
    path: PathBuf,
    data_at: u64,
}

impl Array {
    /// Creates the file: its header, and zeros as a hole if the file system supports holes.
    pub fn create(
        draft: &Draft<'_>,
        channel: usize,
        depth: Depth,
        dtype: &'static str,
        distances: bool,
        shape: [u64; 3],
    ) -> Result<Self, Error> {
        let name = format!("{}.npy", NAMES[channel]);
        let (mut file, path) = draft.create(Path::new(&name))?;
        let header = npy::header(dtype, &shape);
        let data_at = header.len() as u64;
        let bytes = shape.iter().product::<u64>() * depth.bytes() as u64;
        file.write_all(&header).and_then(|()| file.set_len(data_at + bytes)).map_err(Error::write(&path))?;
        Ok(Self { channel, depth, dtype, distances, name, file, path, data_at })
    }

    /// Writes numbers from the one at `place` on, in the order of the file.
    pub fn write(&self, place: u64, bytes: &[u8]) -> Result<(), Error> {
        let at = self.data_at + place * self.depth.bytes() as u64;
        if bytes.len() >= RESERVE {
            reserve(&self.file, at, bytes.len() as u64).map_err(Error::write(&self.path))?;
        }
        write_all_at(&self.file, bytes, at).map_err(Error::write(&self.path))
    }

    /// Removes the file if it is not needed; returns its name.
    pub fn finish(self, keep: bool, sync: bool) -> Result<Option<String>, Error> {
        if keep {
            if sync {
                self.file.sync_all().map_err(Error::write(&self.path))?;
            }
            return Ok(Some(self.name));
        }
        drop(self.file);
        std::fs::remove_file(&self.path).map_err(Error::write(&self.path))?;
        Ok(None)
    }
}

/// Allocates space; a failure is ignored.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn reserve(file: &File, at: u64, len: u64) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    match fallocate(file, FallocateFlags::KEEP_SIZE, at, len) {
        Err(error @ rustix::io::Errno::NOSPC) => Err(error.into()),
        _ => Ok(()),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn reserve(_: &File, _: u64, _: u64) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn write_all_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(windows)]
fn write_all_at(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let n = std::os::windows::fs::FileExt::seek_write(file, bytes, at)?;
        if n == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = bytes.get(n..).unwrap_or_default();
        at += n as u64;
    }
    Ok(())
}
