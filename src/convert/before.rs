//! Reads what an earlier conversion stored in `convert.json`: blocks that it filled, and
//! metadata that did not fit. A conversion back to the earlier size leaves out the former and restores the latter.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;

use crate::convert::report::{Kind, report_of};
use crate::convert::{OutputLayout, Work};
use crate::godot::channel::CHANNELS;
use crate::godot::metadata::is_item;
use crate::limits::Limits;
use crate::resize::Cube;
use crate::source::{FileSource, Source};

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
    /// Reads `convert.json` if the result has the earlier block size of the source. A file that is not a report, or is the report of
    /// another save, is ignored.
    pub fn read(work: &Work<'_>) -> Self {
        let OutputLayout { from, to, .. } = *work.layout;
        if from <= to {
            return Self::default();
        }
        let form = if work.world.forest().is_some() { "forest" } else { "sqlite" };
        let json = read(&report_of(work.world.path(), form == "forest"));
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

fn read(path: &Path) -> Option<Json> {
    let source = FileSource::open(path).ok().filter(|source| source.len() <= MOST)?;
    let mut text = Vec::new();
    source.read_into(0, usize::try_from(source.len()).ok()?, &mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |b: &u8| char::from(*b).to_digit(16).and_then(|n| u8::try_from(n).ok());
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    pairs.iter().map(|[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect()
}
