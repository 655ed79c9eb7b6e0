//! Keys of rows: four formats for a LOD and a position.
//!
//! ```text
//! 0  int64, from the top: 16 bits LOD (the upper 8 are 0) · 16 bits each x, y, z
//! 1  int64, from the top: 7 bits LOD · 19 bits each x, y, z
//! 2  text "x,y,z,lod"
//! 3  10 bytes, from the lowest bit: 25 bits each x, y, z · 5 bits LOD
//! ```
//!
//! Coordinates are signed, in blocks of their LOD. Source: the engine's `BlockLocation`.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::godot::forest::MAX_LODS;

/// A stored key.
pub use crate::sqlite::record::Value as Key;

/// The format of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// 0: an integer with 16 bits per coordinate.
    Int16,
    /// 1: an integer with 19 bits per coordinate.
    Int19,
    /// 2: a text.
    Text,
    /// 3: ten bytes.
    Blob,
}

/// LOD and position of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Its LOD.
    pub lod: u8,
    /// Its position in blocks of that LOD.
    pub position: [i32; 3],
}

/// An owned key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Owned {
    /// A number.
    Int(i64),
    /// A text.
    Text(String),
    /// Bytes.
    Blob([u8; 10]),
}

/// What is wrong with a key, in words.
pub type Fault = &'static str;

impl Format {
    /// Every format.
    pub const ALL: [Self; 4] = [Self::Int16, Self::Int19, Self::Text, Self::Blob];

    /// The format of a number in `meta`.
    #[must_use]
    pub fn from_code(code: i64) -> Option<Self> {
        Self::ALL.get(usize::try_from(code).ok()?).copied()
    }

    /// Its number in `meta`.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Int16 => 0,
            Self::Int19 => 1,
            Self::Text => 2,
            Self::Blob => 3,
        }
    }

    /// The format in words, in the plural.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Int16 => "integers with 16 bits per coordinate",
            Self::Int19 => "integers with 19 bits per coordinate",
            Self::Text => "texts x,y,z,lod",
            Self::Blob => "blobs of 10 bytes",
        }
    }

    /// Coordinates that fit, from the first to the last.
    #[must_use]
    pub const fn range(self) -> [i32; 2] {
        match self {
            Self::Int16 => [-0x8000, 0x7fff],
            Self::Int19 => [-0x4_0000, 0x3_ffff],
            Self::Text => [i32::MIN, i32::MAX],
            Self::Blob => [-0x100_0000, 0xff_ffff],
        }
    }

    /// Decodes a key.
    ///
    /// # Errors
    /// What is wrong with the key, in words. A key that the engine would write differently is wrong: the engine never looks it up.
    pub fn decode(self, key: Key<'_>) -> Result<Place, Fault> {
        let place = match (self, key) {
            (Self::Int16, Key::Int(n)) => int16(n)?,
            (Self::Int19, Key::Int(n)) => int19(n),
            (Self::Text, Key::Text(text)) => self::text(text)?,
            (Self::Blob, Key::Blob(bytes)) => blob(bytes.try_into().map_err(|_| "a blob of another length")?),
            (_, Key::Null) => return Err("NULL"),
            (_, Key::Int(_)) => return Err("an integer"),
            (_, Key::Float(_)) => return Err("a floating-point number"),
            (_, Key::Text(_)) => return Err("a text"),
            (_, Key::Blob(_)) => return Err("a blob"),
        };
        if place.lod < MAX_LODS { Ok(place) } else { Err("a LOD above 23") }
    }

    /// Decodes a key leniently, if the engine would write it differently: ignores the upper bits of integers,
    /// and plus signs and leading zeros of texts.
    #[must_use]
    pub fn decode_close(self, key: Key<'_>) -> Option<Place> {
        let place = match (self, key) {
            (Self::Int16, Key::Int(n)) => int16(n & 0x00ff_ffff_ffff_ffff).ok(),
            (Self::Text, Key::Text(text)) => close_text(text),
            _ => self.decode(key).ok(),
        };
        place.filter(|place| place.lod < MAX_LODS)
    }

    /// Encodes a key; `None` if a coordinate or the LOD does not fit.
    #[must_use]
    pub fn encode(self, place: Place) -> Option<Owned> {
        let [low, high] = self.range();
        if place.lod >= MAX_LODS || place.position.iter().any(|v| !(low..=high).contains(v)) {
            return None;
        }
        let [x, y, z] = place.position;
        Some(match self {
            Self::Int16 => Owned::Int(pack(place, 16)?),
            Self::Int19 => Owned::Int(pack(place, 19)?),
            Self::Text => Owned::Text(format!("{x},{y},{z},{}", place.lod)),
            Self::Blob => {
                let bits = place.position.iter().rev().fold(u128::from(place.lod), |n, v| (n << 25) | low_bits(*v, 25));
                let (bytes, _) = bits.to_le_bytes().split_first_chunk::<10>().map(|(head, tail)| (*head, tail))?;
                Owned::Blob(bytes)
            }
        })
    }
}

impl Owned {
    /// The key, to be decoded.
    #[must_use]
    pub fn as_key(&self) -> Key<'_> {
        match self {
            Self::Int(n) => Key::Int(*n),
            Self::Text(text) => Key::Text(text.as_bytes()),
            Self::Blob(bytes) => Key::Blob(bytes),
        }
    }
}

/// The lowest bits of a coordinate in two's complement.
fn low_bits(v: i32, bits: u32) -> u128 {
    let mask = 1u128.checked_shl(bits).map_or(u128::MAX, |n| n.wrapping_sub(1));
    u128::from(v.cast_unsigned()) & mask
}

/// LOD, x, y, z from the top, with `bits` bits per coordinate.
fn pack(place: Place, bits: u32) -> Option<i64> {
    let n = place.position.iter().fold(u128::from(place.lod), |n, v| (n << bits) | low_bits(*v, bits));
    u64::try_from(n).ok().map(u64::cast_signed)
}

/// The signed number in the lowest `bits` bits of `n`.
fn signed(n: u64, bits: u32) -> i32 {
    let shift = 64u32.saturating_sub(bits);
    let n = n.checked_shl(shift).unwrap_or(0).cast_signed().checked_shr(shift).unwrap_or(0);
    i32::try_from(n).unwrap_or(0)
}

fn int16(key: i64) -> Result<Place, Fault> {
    let n = key.cast_unsigned();
    let position = [n >> 32, n >> 16, n].map(|n| signed(n, 16));
    let lod = u8::try_from(n >> 48).map_err(|_| "a LOD above 23")?;
    Ok(Place { lod, position })
}

fn int19(key: i64) -> Place {
    let n = key.cast_unsigned();
    Place { lod: u8::try_from(n >> 57).unwrap_or(u8::MAX), position: [n >> 38, n >> 19, n].map(|n| signed(n, 19)) }
}

fn text(key: &[u8]) -> Result<Place, Fault> {
    let wrong = "a text that is not x,y,z,lod";
    let text = std::str::from_utf8(key).map_err(|_| "a text that is not UTF-8")?;
    let mut parts = text.split(',');
    let mut number = || parts.next().ok_or(wrong).and_then(canonical);
    let position = [number()?, number()?, number()?];
    let lod = u8::try_from(number()?).map_err(|_| "a LOD above 23")?;
    if parts.next().is_some() { Err(wrong) } else { Ok(Place { lod, position }) }
}

/// A decimal number without plus sign, leading zeros or anything else.
fn canonical(text: &str) -> Result<i32, Fault> {
    let n: i32 = text.parse().map_err(|_| "a text that is not x,y,z,lod")?;
    if n.to_string() == text { Ok(n) } else { Err("a text with a number that the engine writes differently") }
}

fn close_text(key: &[u8]) -> Option<Place> {
    let mut parts = std::str::from_utf8(key).ok()?.split(',');
    let mut number = || parts.next()?.trim().parse::<i32>().ok();
    let position = [number()?, number()?, number()?];
    let lod = u8::try_from(number()?).ok()?;
    parts.next().is_none().then_some(Place { lod, position })
}

fn blob(bytes: [u8; 10]) -> Place {
    let n = bytes.iter().rev().fold(0u128, |n, byte| (n << 8) | u128::from(*byte));
    let part = |shift: u32| u64::try_from((n >> shift) & 0x1ff_ffff).unwrap_or(0);
    Place { lod: u8::try_from(n >> 75).unwrap_or(u8::MAX), position: [0, 25, 50].map(|shift| signed(part(shift), 25)) }
}

/// The application number in the header of a database whose keys were written by the new rule although they look like those
/// of the old one. Written by `repair` and `convert`; engines do not look at it.
pub const NEW_RULE_MARK: u32 = u32::from_be_bytes(*b"vxs2");

/// How the position of a block above LOD 0 is stored in its key.
///
/// Source: the history of the engine's `voxel_stream_sqlite.cpp`. It concerns voxels only: instances were always stored
/// under the position of their block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyRule {
    /// From 2021-01-28 to 2021-10-04: times 2^LOD.
    Old,
    /// As it is.
    #[default]
    New,
}

impl KeyRule {
    /// The place of a block whose key has the position of `key`; `None` if no block has such a key.
    #[must_use]
    pub fn place(self, key: Place) -> Option<Place> {
        match self {
            Self::New => Some(key),
            Self::Old => {
                let side = 1i32.checked_shl(key.lod.into())?;
                let divisible = key.position.iter().all(|v| v.checked_rem_euclid(side) == Some(0));
                let position = key.position.map(|v| v.checked_div_euclid(side).unwrap_or(v));
                divisible.then_some(Place { position, ..key })
            }
        }
    }

    /// Infers the rule from the keys of rows with voxels, as places by the new rule: see [`RuleEvidence`].
    #[must_use]
    pub fn infer(keys: &[Place]) -> Self {
        let above = keys.iter().filter(|key| key.lod > 0).copied().collect();
        let Some(mut evidence) = RuleEvidence::new(above) else { return Self::New };
        keys.iter().filter(|key| key.lod == 0).for_each(|key| evidence.add(*key));
        evidence.rule()
    }

    /// How many keys above LOD 0 only the old rule fits, of keys that are read by the new one: by the old rule they are
    /// above blocks of LOD 0 and at a place that no other key has, by the new one they are not above such blocks.
    /// 0 where no key shows the new rule, because then nothing shows that there are both.
    #[must_use]
    pub fn count_old(keys: &[Place]) -> usize {
        let above = || keys.iter().filter(|key| key.lod > 0);
        if above().next().is_none() {
            return 0;
        }
        let parents = places_above_blocks(keys);
        // Keys of LOD 0, of which there are most, are not asked for.
        let all: HashSet<Place> = above().copied().collect();
        let old = |key: &Place| Self::Old.place(*key).filter(|place| place != key && parents.contains(place));
        let shows_new = above().any(|key| parents.contains(key) && old(key).is_none());
        let by_old =
            above().filter(|key| !parents.contains(key) && old(key).is_some_and(|place| !all.contains(&place)));
        if shows_new { by_old.count() } else { 0 }
    }
}

/// What keys say about the rule by which those above LOD 0 are stored. It is the old one if every key above LOD 0 is divisible
/// by 2^LOD, at least one is above blocks of LOD 0 by the old rule only, and none by the new rule only. Divisibility alone
/// would prove nothing. Of keys of LOD 0, of which there are most, none is kept.
#[derive(Debug)]
pub struct RuleEvidence {
    /// The keys above LOD 0, as places by the new rule.
    above: Vec<Place>,
    /// Their LODs.
    lods: BTreeSet<u8>,
    /// Their places by both rules, and whether there are blocks of LOD 0 below.
    is_above_block: HashMap<Place, bool>,
}

impl RuleEvidence {
    /// The evidence of all keys above LOD 0; `None` if they can only be those of the new rule.
    #[must_use]
    pub fn new(above: Vec<Place>) -> Option<Self> {
        let old: Option<Vec<Place>> = above.iter().map(|key| KeyRule::Old.place(*key)).collect();
        let old = old.filter(|old| !old.is_empty())?;
        let lods = above.iter().map(|key| key.lod).collect();
        let is_above_block = above.iter().copied().chain(old).map(|place| (place, false)).collect();
        Some(Self { above, lods, is_above_block })
    }

    /// Adds a key of LOD 0.
    pub fn add(&mut self, key: Place) {
        for &lod in &self.lods {
            let position = key.position.map(|v| v.checked_shr(lod.into()).unwrap_or(v));
            if let Some(is_above) = self.is_above_block.get_mut(&Place { lod, position }) {
                *is_above = true;
            }
        }
    }

    /// The rule.
    #[must_use]
    pub fn rule(&self) -> KeyRule {
        let is_above = |place: &Place| self.is_above_block.get(place).copied().unwrap_or(false);
        let (mut by_old, mut by_new) = (0usize, 0usize);
        for key in &self.above {
            let (old, new) = (KeyRule::Old.place(*key).is_some_and(|place| is_above(&place)), is_above(key));
            by_old = by_old.saturating_add(usize::from(old && !new));
            by_new = by_new.saturating_add(usize::from(new && !old));
        }
        if by_old > 0 && by_new == 0 { KeyRule::Old } else { KeyRule::New }
    }
}

/// Places above LOD 0 that have blocks of LOD 0 below them, in the LODs that the keys have.
fn places_above_blocks(keys: &[Place]) -> HashSet<Place> {
    let lods: HashSet<u8> = keys.iter().map(|key| key.lod).filter(|lod| *lod > 0).collect();
    let mut parents: HashSet<Place> = HashSet::new();
    for lod in lods {
        let shift = u32::from(lod);
        let parent = |key: &Place| Place { lod, position: key.position.map(|v| v.checked_shr(shift).unwrap_or(v)) };
        parents.extend(keys.iter().filter(|key| key.lod == 0).map(parent));
    }
    parents
}

/// Infers the format of keys: the one with which most of them are positions, and among
/// those the one with which the positions are closest together.
#[must_use]
pub fn infer(keys: &[Key<'_>]) -> Option<Format> {
    let score = |format: Format| {
        let (mut places, mut far) = (0u64, 0u64);
        for place in keys.iter().filter_map(|key| format.decode(*key).ok()) {
            places = places.saturating_add(1);
            let reach = place.position.iter().map(|v| u64::from(v.unsigned_abs())).max().unwrap_or(0);
            far = far.saturating_add(reach.saturating_add(u64::from(place.lod).saturating_mul(1 << 12)));
        }
        (places, std::cmp::Reverse(far))
    };
    Format::ALL.into_iter().map(|format| (score(format), format)).filter(|((n, _), _)| *n > 0).max().map(|(_, f)| f)
}
