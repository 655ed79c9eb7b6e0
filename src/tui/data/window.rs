//! Bytes that were read from a file, and the fields in them.

use crate::bytes::{Span, index};

/// A field: its bytes, its name in the words of the format, its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its bytes.
    pub span: Span,
    /// Its name.
    pub name: String,
    /// Its value; empty where that is not for people.
    pub value: String,
}

impl Field {
    pub(super) fn new(start: u64, len: u64, name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { span: Span::sized(start, len), name: name.into(), value: value.into() }
    }
}

/// Bytes that were read, and where they begin in the file.
#[derive(Clone, Copy, Debug)]
pub struct Window<'a> {
    /// Where they begin.
    pub start: u64,
    /// The bytes.
    pub bytes: &'a [u8],
}

impl<'a> Window<'a> {
    /// Bytes of it.
    #[must_use]
    pub fn get(&self, at: u64, len: u64) -> Option<&'a [u8]> {
        let from = at.checked_sub(self.start)?;
        self.bytes.get(index(from)..index(from.checked_add(len)?))
    }

    /// A little-endian number of up to eight bytes.
    pub(super) fn number(&self, at: u64, len: u64) -> Option<u64> {
        let mut out = [0u8; 8];
        out.get_mut(..index(len))?.copy_from_slice(self.get(at, len)?);
        Some(u64::from_le_bytes(out))
    }

    /// A number in decimal and in hexadecimal.
    pub(super) fn said(&self, at: u64, len: u64) -> String {
        self.number(at, len).map_or_else(String::new, |n| if n < 10 { n.to_string() } else { format!("{n} ({n:#x})") })
    }

    pub(super) fn signed(&self, at: u64, len: u64) -> String {
        let Some(n) = self.number(at, len) else { return String::new() };
        match len {
            2 => u16::try_from(n).map(u16::cast_signed).unwrap_or(0).to_string(),
            _ => u32::try_from(n).map(u32::cast_signed).unwrap_or(0).to_string(),
        }
    }
}
