//! Records: numbers of variable length, serial types, values.

use crate::bytes::{Cursor, index};

/// Columns of a record that are looked at.
pub const MAX_COLUMNS: usize = 64;

/// A number of 1 to 9 bytes, seven bits each and the highest ones first; also how many bytes it has.
#[must_use]
pub fn varint(bytes: &[u8]) -> Option<(i64, usize)> {
    let mut n = 0u64;
    for (i, &byte) in bytes.iter().enumerate().take(9) {
        let len = i.saturating_add(1);
        if i == 8 {
            return Some((((n << 8) | u64::from(byte)).cast_signed(), len));
        }
        n = (n << 7) | u64::from(byte & 0x7f);
        if byte < 0x80 {
            return Some((n.cast_signed(), len));
        }
    }
    None
}

/// A value's type and place in its payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// Its serial type.
    pub serial: u64,
    /// Where its bytes begin in the payload.
    pub at: u64,
    /// How many there are.
    pub len: u64,
}

/// A value of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// NULL.
    Null,
    /// A number.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A text, which need not be UTF-8.
    Text(&'a [u8]),
    /// Bytes.
    Blob(&'a [u8]),
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// NULL.
    Null,
    /// A whole number.
    Int,
    /// A floating-point number.
    Float,
    /// Text.
    Text,
    /// Bytes.
    Blob,
}

impl Column {
    /// The type of the value.
    #[must_use]
    pub const fn kind(&self) -> Type {
        match self.serial {
            0 | 10 | 11 => Type::Null,
            1..=6 | 8 | 9 => Type::Int,
            7 => Type::Float,
            n if n % 2 == 0 => Type::Blob,
            _ => Type::Text,
        }
    }

    /// Its value in a payload; NULL if the payload does not contain all of it.
    #[must_use]
    pub fn value<'p>(&self, payload: &'p [u8]) -> Value<'p> {
        let end = self.at.saturating_add(self.len);
        let Some(bytes) = payload.get(index(self.at)..index(end)) else { return Value::Null };
        match self.serial {
            8 => Value::Int(0),
            9 => Value::Int(1),
            7 => Cursor::new(bytes).array().map_or(Value::Null, |bytes| Value::Float(f64::from_be_bytes(bytes))),
            1..=6 => {
                let negative = bytes.first().is_some_and(|byte| *byte >= 0x80);
                let start = if negative { u64::MAX } else { 0 };
                let n = bytes.iter().fold(start, |n, byte| (n << 8) | u64::from(*byte));
                Value::Int(n.cast_signed())
            }
            _ if self.kind() == Type::Text => Value::Text(bytes),
            _ if self.kind() == Type::Blob => Value::Blob(bytes),
            _ => Value::Null,
        }
    }
}

/// The columns of a record whose header is in the first bytes of its payload; `None` where the header does not fit into
/// them or the values have more bytes than the payload.
#[must_use]
pub fn columns(start: &[u8], payload: u64) -> Option<Vec<Column>> {
    let (header, mut at) = varint(start)?;
    let end = usize::try_from(header).ok().filter(|end| *end >= at)?;
    let header = start.get(..end)?;
    let mut columns = Vec::new();
    let mut value_at = u64::try_from(end).ok()?;
    while at < end && columns.len() < MAX_COLUMNS {
        let (serial, len) = varint(header.get(at..)?)?;
        at = at.checked_add(len)?;
        let serial = u64::try_from(serial).ok()?;
        let len = match serial {
            0 | 8..=11 => 0,
            n @ 1..=4 => n,
            5 => 6,
            6 | 7 => 8,
            n => n.saturating_sub(12).checked_div(2)?,
        };
        columns.push(Column { serial, at: value_at, len });
        value_at = value_at.checked_add(len)?;
        if value_at > payload {
            return None;
        }
    }
    Some(columns)
}

/// The columns of a record of which `wanted` are read. SQLite reads a column that the record does not have as a default value
/// only if the record has exactly the bytes of its other columns.
#[must_use]
pub fn columns_of_row(start: &[u8], payload: u64, wanted: usize) -> Option<Vec<Column>> {
    let columns = columns(start, payload)?;
    let end = match columns.last() {
        Some(last) => last.at.saturating_add(last.len),
        None => varint(start).and_then(|(header, _)| u64::try_from(header).ok())?,
    };
    (columns.len() >= wanted || end == payload).then_some(columns)
}
