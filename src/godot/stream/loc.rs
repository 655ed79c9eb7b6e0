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

use std::collections::BTreeSet;

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

    /// Infers the rule from the keys of rows with voxels, as places by the new rule: see [`RuleEvidence`]. `keys` gives all of them
    /// each time.
    #[must_use]
    pub fn infer<I: Iterator<Item = Place>>(keys: impl Fn() -> I) -> Self {
        let above = keys().filter(|key| key.lod > 0).collect();
        let Some(mut evidence) = RuleEvidence::new(above) else { return Self::New };
        keys().filter(|key| key.lod == 0).for_each(|key| evidence.add(key));
        evidence.rule()
    }

    /// How many keys above LOD 0 only the old rule fits, of keys that are read by the new one: by the old rule they are
    /// above blocks of LOD 0 and at a place that no other key has, by the new one they are not above such blocks.
    /// 0 where no key shows the new rule, because then nothing shows that there are both. `keys` gives all of them each time.
    #[must_use]
    pub fn count_old<I: Iterator<Item = Place>>(keys: impl Fn() -> I) -> usize {
        let mut above: Vec<Place> = keys().filter(|key| key.lod > 0).collect();
        if above.is_empty() {
            return 0;
        }
        above.sort_unstable();
        let moved = |key: &Place| Self::Old.place(*key).filter(|place| place != key);
        let mut parents = Parents::new(above.iter().copied().chain(above.iter().filter_map(moved)));
        keys().filter(|key| key.lod == 0).for_each(|key| parents.add(key));
        let old = |key: &Place| moved(key).filter(|place| parents.contains(place));
        let shows_new = above.iter().any(|key| parents.contains(key) && old(key).is_none());
        let is_free = |place: Place| above.binary_search(&place).is_err();
        let by_old = above.iter().filter(|key| !parents.contains(key) && old(key).is_some_and(is_free));
        if shows_new { by_old.count() } else { 0 }
    }
}

/// Places above LOD 0, and which of them are above blocks of LOD 0.
#[derive(Debug)]
struct Parents {
    /// The places, sorted.
    places: Vec<Place>,
    /// Whether there are blocks of LOD 0 below each.
    is_above: Vec<bool>,
    /// The LODs of the places, each with the last position that was looked for: the next block is often below the same one.
    lods: Vec<(u8, Option<[i32; 3]>)>,
}

impl Parents {
    /// No block of LOD 0 is known yet.
    fn new(places: impl Iterator<Item = Place>) -> Self {
        let mut places: Vec<Place> = places.collect();
        places.sort_unstable();
        places.dedup();
        let lods: BTreeSet<u8> = places.iter().map(|place| place.lod).collect();
        Self { is_above: vec![false; places.len()], places, lods: lods.into_iter().map(|lod| (lod, None)).collect() }
    }

    /// Adds a block of LOD 0.
    fn add(&mut self, key: Place) {
        for (lod, last) in &mut self.lods {
            let position = key.position.map(|v| v.checked_shr((*lod).into()).unwrap_or(v));
            if *last == Some(position) {
                continue;
            }
            *last = Some(position);
            let at = self.places.binary_search(&Place { lod: *lod, position });
            if let Some(is_above) = at.ok().and_then(|at| self.is_above.get_mut(at)) {
                *is_above = true;
            }
        }
    }

    /// Whether a place is one of them, and above a block of LOD 0.
    fn contains(&self, place: &Place) -> bool {
        let at = self.places.binary_search(place);
        at.ok().and_then(|at| self.is_above.get(at)).copied().unwrap_or(false)
    }
}

/// What keys say about the rule by which those above LOD 0 are stored. It is the old one if every key above LOD 0 is divisible
/// by 2^LOD, at least one is above blocks of LOD 0 by the old rule only, and none by the new rule only. Divisibility alone
/// would prove nothing. Of keys of LOD 0, of which there are most, none is kept.
#[derive(Debug)]
pub struct RuleEvidence {
    /// The keys above LOD 0, as places by the new rule.
    above: Vec<Place>,
    /// Their places by both rules.
    parents: Parents,
}

impl RuleEvidence {
    /// The evidence of all keys above LOD 0; `None` if they can only be those of the new rule.
    #[must_use]
    pub fn new(above: Vec<Place>) -> Option<Self> {
        if above.is_empty() || above.iter().any(|key| KeyRule::Old.place(*key).is_none()) {
            return None;
        }
        let old = above.iter().filter_map(|key| KeyRule::Old.place(*key));
        let parents = Parents::new(above.iter().copied().chain(old));
        Some(Self { above, parents })
    }

    /// Adds a key of LOD 0.
    pub fn add(&mut self, key: Place) {
        self.parents.add(key);
    }

    /// The rule.
    #[must_use]
    pub fn rule(&self) -> KeyRule {
        let (mut by_old, mut by_new) = (0usize, 0usize);
        for key in &self.above {
            let old = KeyRule::Old.place(*key).is_some_and(|place| self.parents.contains(&place));
            let new = self.parents.contains(key);
            by_old = by_old.saturating_add(usize::from(old && !new));
            by_new = by_new.saturating_add(usize::from(new && !old));
        }
        if by_old > 0 && by_new == 0 { KeyRule::Old } else { KeyRule::New }
    }
}

/// What keys say about their format: it is the one with which most of them are positions, and among those the one with which the
/// positions are closest together.
#[derive(Debug, Default)]
pub struct FormatEvidence {
    /// For each format of [`Format::ALL`], how many keys are positions, and the sum of their distances.
    scores: [(u64, u64); Format::ALL.len()],
}

impl FormatEvidence {
    /// Adds a key that is a position in a format.
    pub fn add(&mut self, format: Format, place: Place) {
        let Some((places, far)) = self.scores.get_mut(usize::from(format.code())) else { return };
        *places = places.saturating_add(1);
        let reach = place.position.iter().map(|v| u64::from(v.unsigned_abs())).max().unwrap_or(0);
        *far = far.saturating_add(reach.saturating_add(u64::from(place.lod).saturating_mul(1 << 12)));
    }

    /// Adds a key.
    pub fn add_key(&mut self, key: Key<'_>) {
        for format in Format::ALL {
            if let Ok(place) = format.decode(key) {
                self.add(format, place);
            }
        }
    }

    /// How many keys are positions in a format.
    #[must_use]
    pub fn positions(&self, format: Format) -> u64 {
        self.scores.get(usize::from(format.code())).map_or(0, |(positions, _)| *positions)
    }

    /// The format; `None` if no key is a position.
    #[must_use]
    pub fn format(&self) -> Option<Format> {
        let score = |(places, far): &(u64, u64)| (*places, std::cmp::Reverse(*far));
        let scores = self.scores.iter().map(score).zip(Format::ALL);
        scores.filter(|((places, _), _)| *places > 0).max().map(|(_, format)| format)
    }
}
