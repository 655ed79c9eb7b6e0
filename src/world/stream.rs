//! Blocks in rows of a stream.

use std::io;
use std::sync::{Arc, OnceLock};

use super::{At, Error, Fault, Index};
use crate::bytes::index;
use crate::damage::{Code, Damage};
use crate::godot::channel::{CHANNELS, Depth};
use crate::printable::count;
use crate::save::{Blob, Save, Stream, StreamFile, StreamRow, StreamScratch};
use crate::source::FileSource;

/// Rows that are read to infer what the stream does not declare.
const PROBES: usize = 64;

/// Whether all rows of a stream with this damage are read: its settings or a field of its header are corrected by its rows and
/// pages, or bytes that were inserted are left out. The list of free pages leads to no row.
const fn is_corrected(code: Code) -> bool {
    matches!(
        code,
        Code::StreamHeader
            | Code::StreamShifted
            | Code::StreamFreelist
            | Code::StreamMetaMissing
            | Code::StreamMetaField
    )
}

/// A stream whose keys have been read.
#[derive(Debug)]
pub(super) struct Rows<'s> {
    pub file: &'s StreamFile,
    pub stream: Arc<Stream<FileSource>>,
    /// Whether rows are included that may have been deleted.
    stale: bool,
    /// Size and depths of the first block that can be read.
    first: OnceLock<Option<(u16, [Depth; CHANNELS])>>,
}

impl<'s> Rows<'s> {
    pub fn open(save: &'s Save, file: &'s StreamFile) -> Result<Self, Error> {
        let failed = |why: String| Error::Read(save.shown(&file.path), why);
        let mut damage = Vec::new();
        let stream = save.stream(file, &mut damage).map_err(|error| failed(error.to_string()))?;
        let nothing = || {
            let why = damage.first().map_or_else(|| "nothing in it can be read".to_owned(), ToString::to_string);
            failed(why)
        };
        Ok(Self::new(save, file, Arc::new(stream.ok_or_else(nothing)?)))
    }

    /// The rows of a stream that is open already.
    pub fn new(save: &Save, file: &'s StreamFile, stream: Arc<Stream<FileSource>>) -> Self {
        Self { file, stream, stale: save.options.stale_rows, first: OnceLock::new() }
    }

    fn row(&self, at: &At) -> Option<StreamRow> {
        self.stream.rows.get(index(u64::from(at.entry)))
    }

    pub fn fetch(&self, at: &At, scratch: &mut StreamScratch) -> io::Result<()> {
        match self.row(at) {
            Some(row) => self.stream.fetch(&row, scratch),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    pub fn block_size(&self) -> Option<u16> {
        self.stream.meta.block_size().or_else(|| self.first().map(|(size, _)| size))
    }

    pub fn depths(&self) -> Option<[Depth; CHANNELS]> {
        self.first().map(|(_, depths)| depths)
    }

    fn first(&self) -> Option<(u16, [Depth; CHANNELS])> {
        *self.first.get_or_init(|| {
            let mut scratch = StreamScratch::default();
            let rows = self.stream.rows.iter().filter(|row| self.counts(row) && row.voxels != Blob::Null);
            rows.take(PROBES).find_map(|row| {
                let view = self.stream.view(&row, &mut scratch).ok()?;
                let block = view.block.as_ref().filter(|_| view.is_readable())?;
                let depths: Vec<Depth> = block.channels.iter().map(|channel| channel.depth).collect();
                let [side, y, z] = block.size;
                (side == y && side == z).then_some((side, depths.try_into().ok()?))
            })
        })
    }

    /// Whether a row belongs to the save. A row that nothing leads to belongs to it if a damaged page led to it.
    const fn counts(&self, row: &StreamRow) -> bool {
        self.stale || !row.stale
    }

    /// The rows of a LOD with instance data, at the positions that it belongs to.
    pub fn with_instances(&self, lod: u8) -> Vec<At> {
        let rows = (0u32..).zip(&self.stream.rows);
        let rows = rows.filter(|(_, row)| self.counts(row) && row.instances != Blob::Null);
        rows.filter_map(|(entry, row)| {
            row.place.filter(|place| place.lod == lod)?;
            let position = self.stream.instances_place(&row)?.position;
            Some(At { position, file: 0, entry })
        })
        .collect()
    }

    /// Whether the row of a block has instances that belong to the same block.
    fn has_own_instances(&self, at: &At) -> bool {
        let row = self.row(at).filter(|row| row.instances != Blob::Null);
        row.and_then(|row| self.stream.instances_place(&row)).is_some_and(|place| place.position == at.position)
    }

    /// What of the stream cannot be read, and may hold rows of any place. Damage of the journal as such does not prevent reading.
    pub fn unread(&self, name: &str) -> Vec<Fault> {
        let is_unread = |code: Code| code.hides_data() && code != Code::StreamJournal && !is_corrected(code);
        let unread = self.stream.damage.iter().filter(|damage| is_unread(damage.code));
        let mut faults: Vec<Fault> =
            unread.map(|damage| Fault { file: name.to_owned(), why: damage.to_string() }).collect();
        let placed = self.stream.rows.partition_point(|row| row.place.is_some());
        let lost_keys = self.stream.rows.iter_from(placed);
        let nowhere = lost_keys.filter(|row| self.counts(row)).count() as u64;
        if nowhere > 0 {
            let why = format!("{} left out, whose key is no place", count(nowhere, "row"));
            faults.push(Fault { file: name.to_owned(), why });
        }
        faults
    }

    pub fn index(&self, name: &str, lod: u8) -> Index {
        let (mut blocks, mut bare, mut stale) = (Vec::new(), Vec::new(), Vec::new());
        let mut orphans = 0u64;
        for (number, row) in (0u32..).zip(&self.stream.rows) {
            let Some(place) = row.place.filter(|place| place.lod == lod) else { continue };
            let at = At { position: place.position, file: 0, entry: number };
            orphans += u64::from(row.lost && self.counts(&row));
            match (row.voxels, row.instances) {
                (Blob::Null, Blob::Null) => {}
                _ if !self.counts(&row) => stale.push(at),
                (Blob::Null, _) => bare.push(at),
                (_, Blob::Null) => blocks.push(at),
                _ => {
                    blocks.push(at);
                    let position = self.stream.instances_place(&row).map(|place| place.position);
                    bare.extend(position.filter(|p| *p != at.position).map(|position| At { position, ..at }));
                }
            }
        }
        let fault = |d: &Damage| Fault { file: name.to_owned(), why: d.to_string() };
        let read = self.stream.damage.iter().filter(|d| d.code.hides_data() && is_corrected(d.code));
        let corrected = read.map(fault).collect();
        // Not specific to a LOD, so listed for each of them.
        let mut faults = self.unread(name);
        let mut index = Index::new(lod, blocks, bare, Vec::new());
        // One row gives a position its instances: that of its voxels if it has any, otherwise the first.
        let all = index.bare.len();
        index.bare.dedup_by_key(|at| at.position);
        let mut rest = std::mem::take(&mut index.bare);
        rest.retain(|at| !index.find(at.position).is_some_and(|block| self.has_own_instances(block)));
        index.bare = rest;
        index.twice += (all - index.bare.len()) as u64;
        stale.retain(|at| index.find(at.position).is_none());
        let rows = |n: u64| count(n, "row");
        if orphans > 0 {
            let why = format!("{} of LOD {lod} taken from pages that nothing leads to any more", rows(orphans));
            faults.push(Fault { file: name.to_owned(), why });
        }
        if !stale.is_empty() {
            let n = rows(stale.len() as u64);
            let why = format!("{n} of LOD {lod} left out, which nothing leads to: they may have been deleted");
            faults.push(Fault { file: name.to_owned(), why });
        }
        (index.stale, index.faults, index.corrected) = (stale, faults, corrected);
        index
    }
}
