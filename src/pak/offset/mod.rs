//! The two readings of `first_block_offset`.
//!
//! ```text
//! in blocks:  data of a record at (first_block_offset + block_offset) * 4096
//! in bytes:   data of a record at  first_block_offset + block_offset  * 4096
//! ```
//!
//! The notes on the format contradict themselves. Blocks are assumed unless only bytes make sense: that is, the data begins
//! after the header, and the data of every record is inside the file.

use crate::bytes::Span;
use crate::damage::{Code, Damage, Value};
use crate::pak::header::Header;
use crate::pak::record::{self, Record, blocks_for};
use crate::pak::{BLOCK_BYTES, How, Inferred, RECORD_BYTES};

/// The unit of `first_block_offset`.
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

    /// Offset of a block in the file; `None` if that is before its start.
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

    /// Whether the data of every record that is possible in itself is between the header and the end of the file.
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

/// The place of a record's data in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Located {
    /// The blocks; they may reach beyond the end of the file.
    pub blocks: Span,
    /// The bytes to decode, as far as the file has them.
    pub stored: Span,
    /// Whether `stored` has the length of the record. If that length is not valid, it is all of the record's blocks, in which the
    /// stream is followed by padding.
    pub exact: bool,
}

impl Record {
    /// Where the data is, when it is read as `reading`, pushing what is wrong with the record `index`; spans count
    /// bytes of the file. `None` when there is no chunk or it cannot be located.
    pub fn locate(
        self,
        index: u32,
        header: &Header,
        reading: Reading,
        file_len: u64,
        damage: &mut Vec<Damage>,
    ) -> Option<Located> {
        if self.is_absent() {
            return None;
        }
        let at = record::span(index).start;
        let whole = Span::sized(at, RECORD_BYTES);
        if self.block_offset < 0 {
            damage.push(
                Damage::new(Code::PakRecordOffset, Span::sized(at, 2), "block_offset")
                    .expected(Value::AtLeast(0))
                    .found(Value::Signed(i64::from(self.block_offset))),
            );
            return None;
        }
        let length = u64::try_from(self.file_length).ok().filter(|&n| n > 0);
        let count = u64::try_from(self.block_length).ok().filter(|&n| n > 0);
        if count.is_none() {
            damage.push(
                Damage::new(Code::PakRecordBlocks, Span::sized(at.saturating_add(2), 2), "block_length")
                    .expected(Value::AtLeast(1))
                    .found(Value::Signed(i64::from(self.block_length))),
            );
        }
        let count = count.or(length.map(blocks_for));
        let room = count.unwrap_or(0).saturating_mul(BLOCK_BYTES);
        let exact = length.filter(|&n| n <= room);
        if exact.is_none() {
            damage.push(
                Damage::new(Code::PakFileLength, Span::sized(at.saturating_add(4), 4), "file_length")
                    .expected(Value::Range(1, room.max(1)))
                    .found(Value::Signed(i64::from(self.file_length))),
            );
        }
        count?;
        let Some(start) = reading.start(header, self.block_offset) else {
            damage.push(
                Damage::new(Code::PakInHeader, whole, "record")
                    .expected(Value::Words("a block after the header"))
                    .found(Value::Words("a block before the start of the file")),
            );
            return None;
        };
        let blocks = Span::sized(start, room);
        // The last block may be unpadded, so data of unknown length may end with the file.
        let end = exact.map_or(blocks.end.min(file_len.max(start.saturating_add(1))), |n| start.saturating_add(n));
        if start < header.end() {
            damage.push(
                Damage::new(Code::PakInHeader, whole, "first byte of the data")
                    .expected(Value::AtLeast(header.end()))
                    .found(Value::Number(start)),
            );
        }
        if end > file_len {
            damage.push(
                Damage::new(Code::PakBeyondEnd, whole, "end of the data")
                    .expected(Value::AtMost(file_len))
                    .found(Value::Number(end)),
            );
        }
        let stored = Span::new(start.min(file_len), end.min(file_len));
        Some(Located { blocks, stored, exact: exact.is_some() })
    }
}

/// The bytes that a record claims, if it is valid.
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

/// A record is damaged, or the file was cut off: only the start of the data can be judged.
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

/// A note about the unit, unless it was given, or is the usual one and the only one that fits.
#[must_use]
pub fn note(reading: &Inferred<Reading>) -> Option<Damage> {
    let usual = reading.value == Reading::Blocks && reading.alternatives.is_empty();
    (reading.how != How::Given && !usual).then(|| {
        let words = match reading.value {
            Reading::Bytes => "bytes, since only then the data begins inside the file and after the header",
            Reading::Blocks => "blocks assumed, the usual unit, since the file does not decide it",
        };
        Damage::new(Code::PakOffsetReading, Span::new(12, 16), "first_block_offset").found(Value::Words(words))
    })
}

#[cfg(test)]
mod tests;
