//! Strings in the data of a chunk.
//!
//! ```text
//! version 6:  component types are numbers
//! version 7:  component types are strings, the null type an empty one
//! ```
//!
//! How strings are stored is not documented. So runs of printable UTF-8 are looked for, and for each one whether the
//! bytes before it are its length.

use crate::bytes::len64;
use crate::printable::is_plain;

/// Bytes of the shortest string that is shown.
pub const SHORTEST: usize = 3;

/// The bytes before a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Prefix {
    /// Not its length.
    None,
    /// Its length in one byte.
    U8,
    /// Its length in two bytes, little-endian.
    U16,
    /// Its length in four bytes, little-endian.
    U32,
}

/// A string in the data of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text<'a> {
    /// Where it begins in the decompressed chunk.
    pub offset: u64,
    /// Printable characters only.
    pub text: &'a str,
    /// The bytes before it.
    pub prefix: Prefix,
}

/// The strings of a chunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strings<'a> {
    /// The first ones.
    pub texts: Vec<Text<'a>>,
    /// How many there are.
    pub total: u64,
}

/// Finds the strings in `data`, and lists at most `most` of them.
#[must_use]
pub fn find(data: &[u8], most: usize) -> Strings<'_> {
    let mut strings = Strings::default();
    let mut offset = 0usize;
    for part in data.utf8_chunks() {
        let valid = part.valid();
        // A run is the text between two characters that are not plain; a plain one never ends a string.
        for run in runs(valid) {
            if run.1.len() < SHORTEST {
                continue;
            }
            let at = offset.saturating_add(run.0);
            let (at, text, prefix) = with_prefix(data, at, run.1);
            if text.len() < SHORTEST {
                continue;
            }
            strings.total = strings.total.saturating_add(1);
            if strings.texts.len() < most {
                strings.texts.push(Text { offset: len64(data.get(..at).unwrap_or_default()), text, prefix });
            }
        }
        offset = offset.saturating_add(valid.len()).saturating_add(part.invalid().len());
    }
    strings
}

/// Runs of plain characters, with their offsets.
fn runs(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0usize;
    text.split(|c| !is_plain(c)).map(move |run| {
        let start = at;
        // What separates runs is one character, of a length that only the text knows.
        let end = start.saturating_add(run.len());
        let gap = text.get(end..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        at = end.saturating_add(gap);
        (start, run)
    })
}

/// Looks for the length of a run before it. A length of 32 to 126 in one byte is itself printable and the first
/// character of the run: it is taken off.
fn with_prefix<'a>(data: &[u8], at: usize, run: &'a str) -> (usize, &'a str, Prefix) {
    let len = len64(run.as_bytes());
    let before = data.get(..at).unwrap_or_default();
    let wide = before.last_chunk::<4>().map(|bytes| u64::from(u32::from_le_bytes(*bytes)));
    let middle = before.last_chunk::<2>().map(|bytes| u64::from(u16::from_le_bytes(*bytes)));
    let narrow = before.last().map(|byte| u64::from(*byte));
    let inside = run.as_bytes().first().map(|byte| u64::from(*byte));
    if wide == Some(len) {
        (at, run, Prefix::U32)
    } else if middle == Some(len) {
        (at, run, Prefix::U16)
    } else if narrow == Some(len) {
        (at, run, Prefix::U8)
    } else if inside == len.checked_sub(1)
        && let Some(rest) = run.get(1..)
    {
        (at.saturating_add(1), rest, Prefix::U8)
    } else {
        (at, run, Prefix::None)
    }
}

#[cfg(test)]
mod tests;
