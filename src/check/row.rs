//! A row of the block table: an entry of a region's table, with the content and the damage of its block.

use std::sync::Arc;

use serde::Serialize;

use crate::check::Inside;
use crate::check::outcome::Outcome;
use crate::damage::{CodeSet, Level};
use crate::godot::stream::loc::Format;
use crate::save::{BlockStart, Listed, Region};
use crate::source::Source;
use crate::voxel_map::flags::Histogram;

/// One block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The file, below the save, made printable.
    pub file: Arc<str>,
    /// Its LOD.
    pub lod: u8,
    /// Its position in blocks of that LOD.
    pub position: Option<[i32; 3]>,
    /// Index in the table.
    pub slot: u32,
    /// Its first sector; `None` if it begins at none.
    pub sector: Option<u32>,
    /// Its sectors.
    pub sectors: u32,
    /// Its first byte in the file; `None` where the file is read as it was before a conversion of text.
    pub offset: Option<u64>,
    /// Stored bytes without the size prefix, as far as they are in the file.
    pub bytes: u64,
    /// Decompressed bytes, as far as the block decodes.
    pub plain: u64,
    /// Version of the block data.
    pub version: Option<u8>,
    /// Its compression.
    pub container: Option<&'static str>,
    /// The codes of its findings, each once.
    pub codes: CodeSet,
    /// Number of voxels with each flag; only in voxel maps.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "flag_counts")]
    pub flags: Option<Box<Histogram>>,
    /// Stored bytes of its instance data; only in streams, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instances: Option<u64>,
    /// Its size, channels and metadata, if known: see [`Row::inside`]. Boxed, since a table may
    /// have a quarter of a million rows without them.
    #[serde(flatten, serialize_with = "known")]
    pub known: Option<Box<Inside>>,
    /// The format of its key; only in streams.
    #[serde(rename = "coordinate_format", skip_serializing_if = "Option::is_none", serialize_with = "key_code")]
    pub key: Option<Format>,
}

fn known<S: serde::Serializer>(known: &Option<Box<Inside>>, serializer: S) -> Result<S::Ok, S::Error> {
    known.as_deref().unwrap_or(&Inside::NOTHING).serialize(serializer)
}

fn key_code<S: serde::Serializer>(key: &Option<Format>, serializer: S) -> Result<S::Ok, S::Error> {
    key.map(Format::code).serialize(serializer)
}

/// `{"WATER": 4096, ..., "OPEN_WATER": 17}`, without flags that no voxel has.
fn flag_counts<S: serde::Serializer>(flags: &Option<Box<Histogram>>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(flags.iter().flat_map(|counts| counts.named()))
}

impl Row {
    /// The highest level of its findings; `None` if it has none.
    #[must_use]
    pub fn level(&self) -> Option<Level> {
        self.codes.iter().map(|code| code.level()).max()
    }

    /// `ok`, `note`, `warning` or `error`.
    #[must_use]
    pub fn state(&self) -> &'static str {
        self.level().map_or("ok", Level::name)
    }

    /// Its size, channels and metadata, as far as known.
    #[must_use]
    pub fn inside(&self) -> &Inside {
        self.known.as_deref().unwrap_or(&Inside::NOTHING)
    }

    /// Decompressed bytes per stored byte.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        if self.bytes == 0 { 0.0 } else { self.plain as f64 / self.bytes as f64 }
    }

    pub(super) fn new<S: Source>(file: Arc<str>, region: &Region<S>, listed: Listed, block: Option<&Outcome>) -> Self {
        let (header, first) = (&region.header, listed.entry.first());
        let offset = region.source.stored_offset(region.span(listed.entry).start);
        let lod = region.lod;
        Self {
            file,
            lod,
            position: None,
            slot: listed.slot,
            sector: sector_at(offset, first, header.sectors_at(), header.format.sector_size.into()),
            sectors: listed.entry.count().into(),
            offset,
            bytes: block.map_or(0, |block| block.stored.len().saturating_sub(4)),
            plain: block.map_or(0, |block| block.plain),
            version: block.map(|block| block.version).filter(|&version| version > 0),
            container: block.and_then(|block| block.container),
            codes: CodeSet::default(),
            flags: None,
            instances: None,
            known: block.and_then(|block| block.inside.boxed()),
            key: None,
        }
    }
}

/// The sector that a table has, if a block of it begins at one in the file as it is stored.
pub(super) fn sector_at(offset: Option<u64>, sector: u32, first: u64, size: u64) -> Option<u32> {
    offset.map_or(Some(sector), |byte| BlockStart::on_grid(byte, first, size).sector())
}
