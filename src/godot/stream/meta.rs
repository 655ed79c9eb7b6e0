//! The row of settings.

use crate::bytes::Span;
use crate::damage::{Code, Damage, Decoded, Value};
use crate::godot::stream::loc::{Format, Key};

/// The field of the format of keys, as damage names it.
pub const FORMAT_FIELD: &str = "coordinate_format of the stream";

/// The row of `meta`; `None` for a field that is missing or not valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// 0 or 1.
    pub version: Option<u8>,
    /// Voxels along an axis of a block, as a power of two.
    pub block_size_po2: Option<u8>,
    /// The format of keys.
    pub format: Option<Format>,
}

impl Meta {
    /// Decodes a row; each column has a value and its span in the file, which damage refers to.
    pub fn decode(columns: &[(Key<'_>, Span)]) -> Decoded<Self> {
        Decoded::collect(|damage| Self::decode_into(columns, damage))
    }

    fn decode_into(columns: &[(Key<'_>, Span)], damage: &mut Vec<Damage>) -> Self {
        let mut number = |at: usize, field: &'static str, range: (i64, i64)| {
            let (value, span) = columns.get(at).copied().unwrap_or((Key::Null, row(columns)));
            let found = match value {
                Key::Int(n) if (range.0..=range.1).contains(&n) => return Some(n),
                Key::Int(n) => Value::Signed(n),
                Key::Null => Value::Words("NULL"),
                Key::Float(_) => Value::Words("a floating-point number"),
                Key::Text(_) => Value::Words("a text"),
                Key::Blob(_) => Value::Words("a blob"),
            };
            let (low, high) = (range.0.unsigned_abs(), range.1.unsigned_abs());
            let expected = Value::Range(low, high);
            damage.push(Damage::new(Code::StreamMetaField, span, field).expected(expected).found(found));
            None
        };
        let byte = |n: i64| u8::try_from(n).ok();
        let version = number(0, "version of the stream", (0, 1)).and_then(byte);
        let block_size_po2 = number(1, "block_size_po2 of the stream", (1, 8)).and_then(byte);
        // Version 0 has no such column, and keys of format 0.
        let format = if version == Some(0) && columns.len() < 3 {
            Some(Format::Int16)
        } else {
            let last = if version == Some(0) { 0 } else { 3 };
            number(2, FORMAT_FIELD, (0, last)).and_then(Format::from_code)
        };
        Self { version, block_size_po2, format }
    }

    /// Voxels along an axis of a block.
    #[must_use]
    pub fn block_size(&self) -> Option<u16> {
        1u16.checked_shl(self.block_size_po2?.into())
    }
}

fn row(columns: &[(Key<'_>, Span)]) -> Span {
    columns.first().map_or_else(Span::default, |(_, span)| *span)
}
