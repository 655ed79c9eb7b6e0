//! Reads what an earlier conversion stored in `convert.json`: blocks that it filled, and
//! metadata that did not fit. A conversion back to the earlier size leaves out the former and restores the latter.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;

use crate::bytes::index;
use crate::convert::report::{Kind, Report, report_of};
use crate::convert::{OutputLayout, Work};
use crate::godot::channel::CHANNELS;
use crate::godot::metadata::is_item;
use crate::limits::Limits;
use crate::resize::Cube;
use crate::source::{FileSource, OpenError, Source};
use crate::world::Fault;

/// The largest `convert.json` that is read, in bytes.
const MOST: u64 = 64 << 20;

/// An item of metadata: its voxel, or `None` for the block's own, and its bytes as version 4 stores them.
pub(super) type Apart = (Option<[u16; 3]>, Vec<u8>);

/// The content of an earlier `convert.json`; empty if there is none.
#[derive(Default)]
pub(super) struct Before {
    /// Items by LOD and block of the earlier size.
    items: HashMap<(u8, [i32; 3]), Vec<Apart>>,
    /// Filled blocks by LOD and block of the source.
    filled: HashMap<(u8, [i32; 3]), Filled>,
}

/// A joined block of which some parts were missing.
struct Filled {
    /// A bit for each part in the order ZXY, set if the part existed.
    there: Vec<u8>,
    /// The fill values of the other parts, by channel.
    values: [u64; CHANNELS],
}

/// The fields of `convert.json` that are used here.
#[derive(Deserialize)]
struct Json {
    #[serde(rename = "type")]
    kind: String,
    source_block_size: u16,
    to: To,
    listed: Vec<Entry>,
}

#[derive(Deserialize)]
struct To {
    form: String,
    block_size: u16,
}

#[derive(Deserialize)]
struct Entry {
    kind: String,
    lod: u8,
    block: [i32; 3],
    voxel: Option<[u16; 3]>,
    bytes: Option<String>,
    values: Option<[u64; CHANNELS]>,
}

impl Before {
    /// Reads `convert.json` if the result has smaller blocks than the source. The report of another conversion is ignored; `report`
    /// names a file that cannot be read, or is no report.
    pub fn read(work: &Work<'_>, report: &mut Report) -> Self {
        let OutputLayout { from, to, .. } = *work.layout;
        if from <= to {
            return Self::default();
        }
        let form = if work.world.forest().is_some() { "forest" } else { "sqlite" };
        let path = report_of(work.world.path(), form == "forest");
        let file = work.world.save.shown(&path);
        let json = match read(&path) {
            Ok(json) => json,
            // The scan of the save has already reported an entry that is no file.
            Err(Failed::Unread(_)) if report.faults.iter().any(|fault| fault.file == file) => None,
            Err(Failed::Unread(why)) => {
                report.faults.push(Fault { file, why });
                None
            }
            Err(Failed::Damaged(why)) => {
                report.damaged.push(Fault { file, why });
                None
            }
        };
        let json = json.filter(|json| json.kind == "convert" && json.to.form == form);
        let json = json.filter(|json| (json.source_block_size, json.to.block_size) == (to, from));
        json.map_or_else(Self::default, |json| Self::from_listed(json.listed, from / to, work.world.limits()))
    }

    fn from_listed(listed: Vec<Entry>, parts: u16, limits: &Limits) -> Self {
        let mut before = Self::default();
        for Entry { kind, lod, block, voxel, bytes, values } in listed {
            let Some(bytes) = bytes.as_deref().and_then(from_hex) else { continue };
            if kind == Kind::Metadata.name() && is_item(&bytes, limits) {
                before.items.entry((lod, block)).or_default().push((voxel, bytes));
            } else if kind == Kind::Filled.name()
                && let Some(values) = values
                && bytes.len() == usize::from(parts).pow(3).div_ceil(8)
            {
                before.filled.insert((lod, block), Filled { there: bytes, values });
            }
        }
        before
    }

    /// The metadata that was stored apart for a block of the result.
    pub fn items(&self, lod: u8, position: [i32; 3]) -> &[Apart] {
        self.items.get(&(lod, position)).map_or(&[], Vec::as_slice)
    }

    /// Whether a part of a source block did not exist before it was filled, and still has the fill values.
    pub fn is_filling(&self, lod: u8, block: [i32; 3], part: usize, cube: &Cube) -> bool {
        self.filled.get(&(lod, block)).is_some_and(|filled| {
            let there = filled.there.get(part / 8).is_none_or(|bits| bits >> (part % 8) & 1 != 0);
            !there && cube.is_uniform(&filled.values)
        })
    }
}

/// A bit for each part that exists.
pub(super) fn bits(parts: usize, there: impl IntoIterator<Item = usize>) -> Vec<u8> {
    let mut bits = vec![0; parts.div_ceil(8)];
    for part in there {
        if let Some(byte) = bits.get_mut(part / 8) {
            *byte |= 1 << (part % 8);
        }
    }
    bits
}

/// Why a report is not used.
enum Failed {
    /// It cannot be read.
    Unread(String),
    /// It is no report.
    Damaged(String),
}

/// The report of a conversion; `None` if there is none.
fn read(path: &Path) -> Result<Option<Json>, Failed> {
    let source = match FileSource::open(path) {
        Ok(source) => source,
        Err(OpenError::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failed::Unread(error.to_string())),
    };
    if source.len() > MOST {
        return Err(Failed::Unread(format!("it is larger than {} MiB, the limit of a report", MOST >> 20)));
    }
    let mut text = Vec::new();
    source.read_into(0, index(source.len()), &mut text).map_err(|error| Failed::Unread(error.to_string()))?;
    let damaged = |error| format!("it is no report of a conversion, so what that left out is not restored: {error}");
    serde_json::from_slice(&text).map(Some).map_err(|error| Failed::Damaged(damaged(error)))
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |b: &u8| char::from(*b).to_digit(16).and_then(|n| u8::try_from(n).ok());
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    pairs.iter().map(|[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect()
}
