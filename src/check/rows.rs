//! The block table: a row for each entry of a region's table, with what its block holds and what is wrong with it.

use std::sync::Arc;

use serde::Serialize;

use crate::check::blocks::Outcome;
use crate::check::{Finding, Inside, Options, Report, check_into, check_region, map, pak, stream};
use crate::damage::{CodeSet, Level};
use crate::godot::stream::loc::Format;
use crate::save::{File, Listed, Save};
use crate::source::OpenError;
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
    /// Its first sector.
    pub sector: u32,
    /// Its sectors.
    pub sectors: u32,
    /// Bytes as stored, without the size prefix; as far as they are in the file.
    pub bytes: u64,
    /// Bytes after decompression, as far as it decodes.
    pub plain: u64,
    /// Version of the block data.
    pub version: Option<u8>,
    /// How it is packed.
    pub container: Option<&'static str>,
    /// What is wrong with it: each code once.
    pub codes: CodeSet,
    /// How many voxels have which flags; only in voxel maps.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "flag_counts")]
    pub flags: Option<Box<Histogram>>,
    /// Bytes of its instance data as stored; only in streams, and where there is any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instances: Option<u64>,
    /// Its size, channels and metadata, where something is known of them: see [`Row::inside`]. Apart, since a table may
    /// have a quarter of a million rows of which nothing is.
    #[serde(flatten, serialize_with = "known")]
    pub known: Option<Box<Inside>>,
    /// The form of its key; only in streams.
    #[serde(rename = "coordinate_format", skip_serializing_if = "Option::is_none", serialize_with = "key_code")]
    pub key: Option<Format>,
}

fn known<S: serde::Serializer>(known: &Option<Box<Inside>>, serializer: S) -> Result<S::Ok, S::Error> {
    known.as_deref().unwrap_or(&Inside::NOTHING).serialize(serializer)
}

fn key_code<S: serde::Serializer>(key: &Option<Format>, serializer: S) -> Result<S::Ok, S::Error> {
    key.map(Format::code).serialize(serializer)
}

/// `{"WATER": 4096, ..., "OPEN_WATER": 17}`, without those that no voxel has.
fn flag_counts<S: serde::Serializer>(flags: &Option<Box<Histogram>>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(flags.iter().flat_map(|counts| counts.named()))
}

impl Row {
    /// The worst level of its findings; `None` when there is none.
    #[must_use]
    pub fn level(&self) -> Option<Level> {
        self.codes.iter().map(|code| code.level()).max()
    }

    /// `ok`, `note`, `warning` or `error`.
    #[must_use]
    pub fn state(&self) -> &'static str {
        self.level().map_or("ok", Level::name)
    }

    /// Its size, channels and metadata, as far as they are known.
    #[must_use]
    pub fn inside(&self) -> &Inside {
        self.known.as_deref().unwrap_or(&Inside::NOTHING)
    }

    /// Decompressed bytes for each stored one.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        if self.bytes == 0 { 0.0 } else { self.plain as f64 / self.bytes as f64 }
    }

    pub(super) fn new(file: Arc<str>, lod: u8, listed: Listed, block: Option<&Outcome>) -> Self {
        Self {
            file,
            lod,
            position: None,
            slot: listed.slot,
            sector: listed.entry.first(),
            sectors: listed.entry.count().into(),
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

/// The rows of one file, by slot; empty when its header locates no block.
///
/// # Errors
/// When the file cannot be opened.
pub fn rows(save: &Save, file: File<'_>, options: &Options<'_>) -> Result<Vec<Row>, OpenError> {
    let mut rows = Vec::new();
    let mut report = Report::of_codes(save.shown(&file.path()).into(), file.lod());
    match file {
        File::Region(forest, file) => {
            if let Some(region) = save.region(forest, file)? {
                check_region(&region, options, &mut report, Some(&mut rows));
            }
        }
        File::Pak(room, file) => {
            if let Some(region) = save.pak(room, file, &mut Vec::new())? {
                pak::check(&region, options, &mut report, Some(&mut rows));
            }
        }
        File::Stream(file) => {
            if let Some(opened) = save.stream(file, &mut Vec::new())? {
                stream::check(&opened, options, &mut report, Some(&mut rows));
            }
        }
        File::Map(map) => return Ok(map::rows(save, map, options)),
    }
    Ok(rows)
}

/// The block table of one file with all that is wrong with the file.
#[derive(Debug, Default)]
pub struct FileTable {
    /// The rows, by slot.
    pub rows: Vec<Row>,
    /// What `check` says of the file, with the slot of the block that a finding is about.
    pub findings: Vec<(Option<u32>, Finding)>,
}

/// The rows of one file with its findings; a file that cannot be opened has just one, which says so.
#[must_use]
pub fn table(save: &Save, file: File<'_>, options: &Options<'_>) -> FileTable {
    let mut rows = Vec::new();
    let cap = save.options.limits.findings_per_file;
    let mut report = Report::of_both(save.shown(&file.path()).into(), file.lod(), cap);
    check_into(save, file, options, &mut report, Some(&mut rows));
    if let File::Map(map) = file {
        rows = map::rows(save, map, options);
    }
    report.finish();
    FileTable { rows, findings: report.with_slots() }
}
