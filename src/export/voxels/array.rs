//! An array file that is written in any order.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::bytes::Span;
use crate::draft::{Draft, Error, Input};
use crate::godot::channel::{Depth, NAMES};
use crate::godot::textures;
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

/// Numbers that are unpacked at once.
const AT_ONCE: u64 = 1 << 18;

/// Writes `NAME_unpacked.npy` beside the array of 16 bits `NAME.npy` of this shape: four numbers of 4 bits in place of each, the
/// lowest bits first. Returns its name.
pub(super) fn unpack(draft: &Draft<'_>, packed: &str, shape: [u64; 3], sync: bool) -> Result<String, Error> {
    let name = format!("{}_unpacked.npy", packed.strip_suffix(".npy").unwrap_or(packed));
    let from = draft.root().join(packed);
    let input = Input::open(&from)?;
    let (file, path) = draft.create(Path::new(&name))?;
    let mut out = BufWriter::with_capacity(RESERVE, file);
    let [z, x, y] = shape;
    out.write_all(&npy::header("|u1", &[z, x, y, 4])).map_err(Error::write(&path))?;
    let start = npy::header("<u2", &shape).len() as u64;
    let count = shape.iter().product::<u64>();
    let mut bytes = Vec::new();
    for first in (0..count).step_by(AT_ONCE as usize) {
        draft.go_on()?;
        let numbers = AT_ONCE.min(count - first);
        input.read(Span::sized(start + first * 2, numbers * 2), &mut bytes)?;
        for [low, high] in bytes.as_chunks::<2>().0 {
            let four = textures::unpack(u16::from_le_bytes([*low, *high]).into());
            out.write_all(&four).map_err(Error::write(&path))?;
        }
    }
    out.flush().map_err(Error::write(&path))?;
    if sync {
        out.get_ref().sync_all().map_err(Error::write(&path))?;
    }
    Ok(name)
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
