//! A backup of a stream: older states of lost rows, and positions of rows with damaged keys.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::damage::{Damage, Level};
use crate::draft;
use crate::godot::stream::loc::{Format, Key, Place};
use crate::repair::stream::examine::hash;
use crate::repair::{Error, Options};
use crate::save::{Blob, Save, Stream, StreamFile, StreamRow, StreamScratch};
use crate::source::{FileSource, OpenError};

/// The stream of a backup.
#[derive(Debug)]
pub struct Older {
    /// Where it is.
    pub path: PathBuf,
    /// Its rows.
    pub(super) stream: Stream<FileSource>,
    /// Its positions.
    pub(super) places: HashSet<Place>,
}

/// Opens a stream; converts I/O errors.
pub(super) fn open(save: &Save, file: &StreamFile) -> Result<Option<Stream<FileSource>>, Error> {
    open_with_keys(save, file, None)
}

/// Opens a stream, with another format of keys than its settings have if one is given; converts I/O errors.
pub(super) fn open_with_keys(
    save: &Save,
    file: &StreamFile,
    format: Option<Format>,
) -> Result<Option<Stream<FileSource>>, Error> {
    let failed = |source| draft::Error::Open { path: file.path.clone(), source };
    match save.stream_with_keys(file, format, &mut Vec::new()) {
        Ok(stream) => Ok(stream),
        Err(OpenError::Io(error)) => Err(draft::Error::read(&file.path)(error).into()),
        Err(error) => Err(failed(error).into()),
    }
}

impl Older {
    /// The stream of a backup that corresponds to one of the save: the only one, or the one with the same path.
    pub fn find(save: &Save, file: &StreamFile, options: &Options<'_>) -> Result<Option<Self>, Error> {
        let Some(backup) = options.backup else { return Ok(None) };
        let below = |save: &Save, path: &Path| path.strip_prefix(&save.path).map(Path::to_path_buf).ok();
        let other = match &backup.streams[..] {
            [one] if save.streams.len() == 1 => Some(one),
            all => all.iter().find(|other| below(backup, &other.path) == below(save, &file.path)),
        };
        let Some(other) = other else { return Ok(None) };
        Ok(open(backup, other)?.map(|stream| {
            let mut older = Self { path: other.path.clone(), stream, places: HashSet::new() };
            older.places = older.rows().map(|(_, place, _)| place).collect();
            older
        }))
    }

    /// The rows that the game finds, with their numbers.
    pub fn rows(&self) -> impl Iterator<Item = (u32, Place, StreamRow)> {
        let rows = (0u32..).zip(&self.stream.rows).filter(|(_, row)| !row.lost && !row.odd);
        rows.filter_map(|(number, row)| Some((number, row.place?, row)))
    }

    /// Whether its pages and settings are healthy, and it has no journal or log.
    pub fn is_healthy(&self) -> bool {
        let grave = |d: &Damage| d.code.level() >= Level::Warning;
        self.stream.pages.overlay.is_none() && !self.stream.damage.iter().any(grave)
    }

    /// Whether the block and the instances of a row are healthy, in a stream of this block size. NULL is healthy.
    pub fn whole_parts(&self, row: &StreamRow, side: u16, scratch: &mut StreamScratch) -> std::io::Result<[bool; 2]> {
        self.stream.fetch(row, scratch)?;
        if !scratch.is_whole() {
            return Ok([false; 2]);
        }
        let voxels = match row.voxels {
            Blob::Null => true,
            Blob::Other => false,
            Blob::Bytes(_) => {
                let view = self.stream.block(scratch);
                // Its bytes are copied as they are.
                view.is_readable()
                    && !view.has_inferred_order()
                    && view.container.is_some_and(|c| c.whole)
                    && view.block.is_some_and(|b| b.epilogue.is_some() && b.size == [side; 3])
            }
        };
        let instances = match row.instances {
            Blob::Null => true,
            Blob::Other => false,
            Blob::Bytes(_) => {
                let view = self.stream.instances(scratch);
                // Its bytes are copied as they are.
                view.is_complete() && !view.is_in_wrong_order() && !view.damage.iter().any(|d| d.code.hides_data())
            }
        };
        Ok([voxels, instances])
    }

    /// The only position of each block content; `None` if several positions have it.
    pub fn owners(&self) -> std::io::Result<HashMap<u128, Option<Place>>> {
        let (mut owners, mut scratch) = (HashMap::new(), StreamScratch::default());
        for (_, place, row) in self.rows() {
            self.stream.fetch(&row, &mut scratch)?;
            let Some(bytes) = self.stream.voxel_bytes(&scratch) else { continue };
            let content = hash([Key::Blob(bytes)].into_iter());
            owners.entry(content).and_modify(|owner| *owner = None).or_insert(Some(place));
        }
        Ok(owners)
    }
}
