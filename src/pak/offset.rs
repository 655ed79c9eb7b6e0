//! The two readings of `first_block_offset`.
//!
//! ```text
//! in blocks:  data of a record at (first_block_offset + block_offset) * 4096
//! in bytes:   data of a record at  first_block_offset + block_offset  * 4096
//! ```
//!
//! The notes on the format contradict themselves. Blocks are taken unless only bytes make sense: then the data begins
//! behind the header, and the data of every record fits the file.

use crate::bytes::Span;
use crate::damage::{Code, Damage, Value};
use crate::pak::header::Header;
use crate::pak::record::Record;
use crate::pak::{BLOCK_BYTES, How, Inferred};

/// What `first_block_offset` counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reading {
    /// Blocks of 4,096 bytes.
    #[default]
    Blocks,
    /// Bytes.
    Bytes,
}

impl Reading {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Blocks, Self::Bytes];

    /// `blocks` or `bytes`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blocks => "blocks",
            Self::Bytes => "bytes",
        }
    }

    /// The reading of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reading| reading.name() == name)
    }

    /// Where a block lies in the file; `None` when that is before its start.
    #[must_use]
    pub fn start(self, header: &Header, block_offset: i16) -> Option<u64> {
        let block = i64::try_from(BLOCK_BYTES).ok()?;
        let first = i64::from(header.first_block_offset);
        let first = match self {
            Self::Blocks => first.checked_mul(block)?,
            Self::Bytes => first,
        };
        u64::try_from(first.checked_add(i64::from(block_offset).checked_mul(block)?)?).ok()
    }

    /// Whether the data of every record that is possible in itself lies between the header and the end of the file.
    fn makes_sense(self, header: &Header, records: &[Record], file_len: u64) -> bool {
        // As bytes the number is a place in the file, and nothing can begin in the header. As blocks it may be 0, when
        // the records count from the start of the file.
        let clears = self == Self::Blocks || self.start(header, 0).is_some_and(|start| start >= header.end());
        clears
            && records.iter().filter_map(bytes_of).all(|(record, length)| {
                self.start(header, record.block_offset).is_some_and(|start| {
                    start >= header.end() && start.checked_add(length).is_some_and(|end| end <= file_len)
                })
            })
    }
}

/// The bytes that a record claims, when it is one that can be.
fn bytes_of(record: &Record) -> Option<(&Record, u64)> {
    let blocks = u64::try_from(record.block_length).ok()?.checked_mul(BLOCK_BYTES)?;
    let length = u64::try_from(record.file_length).ok()?.min(blocks);
    (record.block_offset >= 0 && length > 0).then_some((record, length))
}

/// Which reading the file means.
#[must_use]
pub fn infer(header: &Header, records: &[Record], file_len: u64) -> Inferred<Reading> {
    let [blocks, bytes] = Reading::ALL.map(|reading| reading.makes_sense(header, records, file_len));
    let same = header.first_block_offset == 0 || !records.iter().any(|record| bytes_of(record).is_some());
    match (blocks, bytes) {
        (true, false) => Inferred::deduced(Reading::Blocks, "only this fits the file and clears the header"),
        (false, true) => Inferred::deduced(Reading::Bytes, "only this fits the file and clears the header"),
        _ if same => Inferred::assumed(Reading::Blocks, "nothing depends on it"),
        (true, true) => {
            Inferred::assumed(Reading::Blocks, "both fit, and this is the usual one").or(vec![Reading::Bytes])
        }
        (false, false) => neither(header, file_len),
    }
}

/// Some record is damaged or the file was cut: only the place where the data should begin is left to judge by.
fn neither(header: &Header, file_len: u64) -> Inferred<Reading> {
    let begins =
        |reading: Reading| reading.start(header, 0).is_some_and(|start| start >= header.end() && start <= file_len);
    let why = "not all fits, but only so the data begins in the file, behind the header";
    match Reading::ALL.map(begins) {
        [false, true] => Inferred::deduced(Reading::Bytes, why),
        [true, false] => Inferred::deduced(Reading::Blocks, why),
        _ => Inferred::assumed(Reading::Blocks, "neither fits, and this is the usual one").or(vec![Reading::Bytes]),
    }
}

/// What there is to say of a reading: a note, unless it was given or is the usual one and the only one that fits.
#[must_use]
pub fn note(reading: &Inferred<Reading>) -> Option<Damage> {
    let usual = reading.value == Reading::Blocks && reading.alternatives.is_empty();
    (reading.how != How::Given && !usual).then(|| {
        let words = match reading.value {
            Reading::Bytes => "taken as bytes: only so the data begins in the file, behind the header",
            Reading::Blocks => "taken as blocks, the usual unit: the file does not decide it",
        };
        Damage::new(Code::PakOffsetReading, Span::new(12, 16), "first_block_offset").found(Value::Words(words))
    })
}

#[cfg(test)]
mod tests;
