//! The meta file of a region forest, `meta.vxrm`.
//!
//! ```text
//! { "version": 1 | 2 | 3, "block_size_po2", "region_size_po2", "sector_size",
//!   "channel_depths": 8 codes (absent in version 1: all 8 bit), "lod_count" (no longer written) }
//! regions/lodN/r.X.Y.Z.vxr
//! ```
//!
//! Source: Godot Voxel's page "Region forest format", which requires `lod_count`; the engine of today does not write it.
//! Numbers may be written as `4` or as `4.0`.

mod salvage;

use serde_json::Value as Json;

use crate::bytes::{Span, len64};
use crate::damage::{Code, Damage, Decoded, Value};
use crate::godot::channel::{CHANNELS, Depth};
use crate::godot::region::{BLOCK_SIZE_PO2, Format};
use crate::limits::{BYTE_ORDER_MARK, CUT_OFF, Limits, parse_json};

/// The most LODs that a forest has.
pub const MAX_LODS: u8 = 24;

/// Region sizes that fit the region header, as powers of two.
pub(crate) const REGION_SIZE_PO2: std::ops::RangeInclusive<u64> = 1..=7;

/// The content of a meta file; a field that is missing or not valid is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// 1, 2 or 3.
    pub version: Option<u8>,
    /// Voxels along each axis of a block, as a power of two.
    pub block_size_po2: Option<u8>,
    /// Blocks along each axis of a region, as a power of two.
    pub region_size_po2: Option<u8>,
    /// Bytes of a sector; 65,536 is kept although it does not fit a region header.
    pub sector_size: Option<u32>,
    /// Depth of each channel.
    pub depths: Option<[Depth; CHANNELS]>,
    /// Number of LODs; the current engine does not write it.
    pub lod_count: Option<u8>,
    /// Names of fields that are not known.
    pub extra: Vec<String>,
}

impl Meta {
    /// The layout of the forest's region files, when the meta file has all of it.
    #[must_use]
    pub fn format(&self) -> Option<Format> {
        let region = 1u16.checked_shl(u32::from(self.region_size_po2?))?;
        Some(Format {
            block_size_po2: self.block_size_po2?,
            region_size: [region; 3],
            depths: self.depths?,
            sector_size: self.sector_size?,
        })
    }

    /// Decodes a whole meta file; `None` if it is not a JSON object.
    pub fn decode(data: &[u8]) -> Decoded<Option<Self>> {
        Decoded::collect(|damage| Self::decode_into(data, damage))
    }

    fn decode_into(data: &[u8], damage: &mut Vec<Damage>) -> Option<Self> {
        let all = Span::sized(0, len64(data));
        let text = data.strip_prefix(BYTE_ORDER_MARK).unwrap_or(data);
        let skipped = all.end.saturating_sub(len64(text));
        let object = match parse_json(text) {
            Ok(Ok(Json::Object(object))) => object,
            Ok(Err(values)) => {
                let most = u64::try_from(Limits::DEFAULT.json_values).unwrap_or(u64::MAX);
                let damaged = Damage::new(Code::OverLimit, all, "values of the meta file");
                damage.push(damaged.expected(Value::AtMost(most)).found(Value::Number(values)));
                return None;
            }
            Ok(Ok(_)) => {
                damage.push(Damage::new(Code::MetaUnreadable, all, "JSON").expected(Value::Words("an object")));
                return None;
            }
            Err(error) => {
                let at = skipped.saturating_add(offset_of(text, error.line(), error.column()));
                let found = match error.classify() {
                    _ if text.is_empty() => "empty",
                    serde_json::error::Category::Eof => CUT_OFF,
                    _ => "not JSON here",
                };
                damage.push(
                    Damage::new(Code::MetaUnreadable, Span::new(at, all.end), "meta file").found(Value::Words(found)),
                );
                return None;
            }
        };
        let mut fields = Fields { object: &object, all, damage };
        let meta = Self::of_fields(&mut fields);
        for _ in &meta.extra {
            damage.push(Damage::new(Code::MetaExtra, all, "meta file"));
        }
        Some(meta)
    }

    /// Reads the fields of the object.
    fn of_fields(fields: &mut Fields<'_, '_>) -> Self {
        let version = fields.number("version", 0..=u64::from(u8::MAX), true).and_then(|n| u8::try_from(n).ok());
        if let Some(found @ (0 | 4..)) = version {
            fields.damage.push(
                Damage::new(Code::MetaVersion, fields.all, "version")
                    .expected(Value::Range(1, 3))
                    .found(Value::Number(u64::from(found))),
            );
        }
        let po2 = u64::from(*BLOCK_SIZE_PO2.start())..=u64::from(*BLOCK_SIZE_PO2.end());
        Self {
            version,
            block_size_po2: fields.number("block_size_po2", po2, true).and_then(|n| u8::try_from(n).ok()),
            region_size_po2: fields.number("region_size_po2", REGION_SIZE_PO2, true).and_then(|n| u8::try_from(n).ok()),
            sector_size: fields.sector_size(),
            depths: fields.depths(version),
            lod_count: fields.number("lod_count", 1..=u64::from(MAX_LODS), false).and_then(|n| u8::try_from(n).ok()),
            extra: fields.object.keys().filter(|k| !KNOWN.contains(&k.as_str())).cloned().collect(),
        }
    }

    /// Encodes as the engine does: keys in order, tabs. Fields that are `None` are left out.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut fields = Vec::new();
        let mut field = |name: &str, n: Option<u32>| {
            if let Some(n) = n {
                fields.push(format!("\t\"{name}\": {n}"));
            }
        };
        field("block_size_po2", self.block_size_po2.map(u32::from));
        if let Some(depths) = self.depths {
            let codes = depths.map(|d| format!("\t\t{}", d.code())).join(",\n");
            fields.push(format!("\t\"channel_depths\": [\n{codes}\n\t]"));
        }
        let mut field = |name: &str, n: Option<u32>| {
            if let Some(n) = n {
                fields.push(format!("\t\"{name}\": {n}"));
            }
        };
        field("lod_count", self.lod_count.map(u32::from));
        field("region_size_po2", self.region_size_po2.map(u32::from));
        field("sector_size", self.sector_size);
        field("version", self.version.map(u32::from));
        format!("{{\n{}\n}}", fields.join(",\n")).into_bytes()
    }
}

const KNOWN: [&str; 6] = ["version", "block_size_po2", "region_size_po2", "sector_size", "channel_depths", "lod_count"];

struct Fields<'j, 'd> {
    object: &'j serde_json::Map<String, Json>,
    all: Span,
    damage: &'d mut Vec<Damage>,
}

impl Fields<'_, '_> {
    fn fault(&mut self, field: &'static str, expected: Value, found: Value) {
        self.damage.push(Damage::new(Code::MetaField, self.all, field).expected(expected).found(found));
    }

    /// A whole number in `range`; `required` says whether its absence is damage.
    fn number(&mut self, field: &'static str, range: std::ops::RangeInclusive<u64>, required: bool) -> Option<u64> {
        let expected = Value::Range(*range.start(), *range.end());
        let Some(json) = self.object.get(field) else {
            if required {
                self.fault(field, expected, Value::Words("missing"));
            }
            return None;
        };
        match whole(json) {
            Some(n) if range.contains(&n) => Some(n),
            Some(n) => {
                self.fault(field, expected, Value::Number(n));
                None
            }
            None => {
                let found = json.as_i64().map_or(Value::Words("not a whole number"), Value::Signed);
                self.fault(field, expected, found);
                None
            }
        }
    }

    fn sector_size(&mut self) -> Option<u32> {
        let size = self.number("sector_size", 1..=65536, true)?;
        if size == 65536 {
            self.fault("sector_size", Value::Range(1, 65535), Value::Number(size));
        }
        u32::try_from(size).ok()
    }

    fn depths(&mut self, version: Option<u8>) -> Option<[Depth; CHANNELS]> {
        let expected = Value::Words("eight codes of 0 to 3");
        let Some(json) = self.object.get("channel_depths") else {
            if version == Some(1) {
                return Some([Depth::Bits8; CHANNELS]);
            }
            self.fault("channel_depths", expected, Value::Words("missing"));
            return None;
        };
        let codes = json.as_array().filter(|list| list.len() == CHANNELS);
        let mut depths = [Depth::default(); CHANNELS];
        let known = codes.is_some_and(|codes| {
            codes.iter().zip(&mut depths).all(|(code, depth)| {
                let code = whole(code).and_then(|n| u8::try_from(n).ok()).and_then(Depth::from_code);
                code.map(|code| *depth = code).is_some()
            })
        });
        if !known {
            self.fault("channel_depths", expected, Value::Words("another value"));
        }
        known.then_some(depths)
    }
}

/// `4` and `4.0` alike.
fn whole(json: &Json) -> Option<u64> {
    json.as_u64().or_else(|| {
        let n = json.as_f64().filter(|n| n.fract() == 0.0 && (0.0..=9e15).contains(n))?;
        format!("{n:.0}").parse().ok()
    })
}

/// The byte offset of a line and column, both counted from 1 as `serde_json` does (a column of 0 is the line's start).
fn offset_of(data: &[u8], line: usize, column: usize) -> u64 {
    let before: usize = data
        .split_inclusive(|&b| b == b'\n')
        .take(line.saturating_sub(1))
        .map(<[u8]>::len)
        .fold(0, usize::saturating_add);
    len64(data).min(u64::try_from(before.saturating_add(column.saturating_sub(1))).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;
