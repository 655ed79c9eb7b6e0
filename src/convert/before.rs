//! What an earlier conversion kept apart, as its `convert.json` beside the source says: blocks that it filled, and
//! metadata that had no place. On the way back to the size of before, the one is left out again and the other put back.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;

use crate::convert::report::{Kind, report_of};
use crate::convert::{Layout, Work};
use crate::godot::channel::CHANNELS;
use crate::godot::metadata::is_item;
use crate::limits::Limits;
use crate::resize::Cube;
use crate::source::{FileSource, Source};

/// The most bytes of a `convert.json` that is taken into account.
const MOST: u64 = 64 << 20;

/// An item of metadata: its voxel, or `None` for the block's own, and its bytes as version 4 stores them.
pub(super) type Apart = (Option<[u16; 3]>, Vec<u8>);

/// What an earlier conversion kept apart; nothing where there was none.
#[derive(Default)]
pub(super) struct Before {
    /// By LOD and block of the size of before.
    items: HashMap<(u8, [i32; 3]), Vec<Apart>>,
    /// By LOD and block of the source.
    filled: HashMap<(u8, [i32; 3]), Filled>,
}

/// A block of which parts were not there when it was put together.
struct Filled {
    /// A bit for each part in the order ZXY, set where it was there.
    there: Vec<u8>,
    /// What stood in the others, by channel.
    values: [u64; CHANNELS],
}

/// The fields of `convert.json` that matter here.
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
    /// Reads it, where the result has the block size that the source once had. What is no report, or that of another
    /// save, says nothing.
    pub fn of(work: &Work<'_>) -> Self {
        let Layout { from, to, .. } = *work.layout;
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

    /// The metadata of a block of the result that was kept apart.
    pub fn items(&self, lod: u8, position: [i32; 3]) -> &[Apart] {
        self.items.get(&(lod, position)).map_or(&[], Vec::as_slice)
    }

    /// Whether a part of a block of the source was not there before it was filled, and is still as it was filled.
    pub fn is_filling(&self, lod: u8, block: [i32; 3], part: usize, cube: &Cube) -> bool {
        self.filled.get(&(lod, block)).is_some_and(|filled| {
            let there = filled.there.get(part / 8).is_none_or(|bits| bits >> (part % 8) & 1 != 0);
            !there && cube.is_uniform(&filled.values)
        })
    }
}

/// Which parts are there, a bit for each.
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
