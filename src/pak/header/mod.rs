//! The header of a pak region.
//!
//! ```text
//! tag u8[4] · version_number i32 · record_count i32 · first_block_offset i32 · records u8[8][record_count]
//! ```
//!
//! The tag is not documented: it is shown but not checked. Versions 6 and 7 are known. Current files
//! have 1,024 records, which makes 8,208 bytes and a first block of 3; see [`place`](crate::pak::place).

use crate::bytes::{Cursor, Span, len64};
use crate::damage::{Code, Damage, Decoded, Value};
use crate::pak::place::LAYER_RECORDS;
use crate::pak::{HEADER_BYTES, Inferred, RECORD_BYTES};

/// The most records that make sense: a record names its first block by a signed number of 16 bits.
pub const MAX_RECORDS: u32 = 1 << 15;

/// The most bytes that a header and its records take, so that one read has it all.
pub const MAX_PREFIX_BYTES: usize = 16 + 8 * (1 << 15);

/// Versions that are known: 6 saves component types as numbers, 7 as strings.
pub const VERSIONS: std::ops::RangeInclusive<i32> = 6..=7;

const VERSION: Span = Span::new(4, 8);
const RECORD_COUNT: Span = Span::new(8, 12);
const FIRST_BLOCK: Span = Span::new(12, 16);

/// The header as stored; its fields are not validated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Four bytes of unknown meaning.
    pub tag: [u8; 4],
    /// 6 or 7.
    pub version: i32,
    /// Records that follow; see [`records`](Self::records) for how many can be read.
    pub record_count: i32,
    /// Where the data begins, in blocks or in bytes; see [`offset`](crate::pak::offset).
    pub first_block_offset: i32,
}

impl Header {
    /// Decodes the header from the first bytes of a file of `file_len` bytes; a file that ends inside its
    /// records is damage. `None` when the file ends inside the header.
    pub fn decode(prefix: &[u8], file_len: u64) -> Decoded<Option<Self>> {
        Decoded::collect(|damage| Self::decode_into(prefix, file_len, damage))
    }

    fn decode_into(prefix: &[u8], file_len: u64, damage: &mut Vec<Damage>) -> Option<Self> {
        let mut cursor = Cursor::new(prefix);
        let fields = (cursor.array::<4>(), cursor.i32(), cursor.i32(), cursor.i32());
        let (Ok(tag), Ok(version), Ok(record_count), Ok(first_block_offset)) = fields else {
            damage.push(
                Damage::new(Code::PakHeaderCut, Span::new(0, file_len.min(HEADER_BYTES)), "header")
                    .expected(Value::Bytes(HEADER_BYTES))
                    .found(Value::Bytes(file_len.min(len64(prefix)))),
            );
            return None;
        };
        let header = Self { tag, version, record_count, first_block_offset };
        header.check(file_len, damage);
        Some(header)
    }

    fn check(&self, file_len: u64, damage: &mut Vec<Damage>) {
        let fault = |code, span, field, found: i32, expected| {
            Damage::new(code, span, field).expected(expected).found(Value::Signed(i64::from(found)))
        };
        if !VERSIONS.contains(&self.version) {
            let expected = Value::Range(6, 7);
            damage.push(fault(Code::PakVersion, VERSION, "version_number", self.version, expected));
        }
        if self.believable().is_none() {
            let expected = Value::Range(1, u64::from(MAX_RECORDS));
            damage.push(fault(Code::PakRecordCount, RECORD_COUNT, "record_count", self.record_count, expected));
        }
        if self.first_block_offset < 0 {
            let expected = Value::AtLeast(0);
            damage.push(fault(
                Code::PakFirstBlock,
                FIRST_BLOCK,
                "first_block_offset",
                self.first_block_offset,
                expected,
            ));
        }
        let records = self.record_span();
        if records.end > file_len {
            damage.push(
                Damage::new(Code::PakRecordsCut, Span::new(records.start, file_len), "records")
                    .expected(Value::Bytes(records.len()))
                    .found(Value::Bytes(file_len.saturating_sub(records.start))),
            );
        }
    }

    fn believable(&self) -> Option<u32> {
        u32::try_from(self.record_count).ok().filter(|n| (1..=MAX_RECORDS).contains(n))
    }

    /// The number of records: the header's number if it is valid. Otherwise that of current
    /// files if the version is known, so that the rest of the file can be read, and 0 if it is not.
    #[must_use]
    pub fn records(&self) -> Inferred<u32> {
        match self.believable() {
            Some(count) => Inferred::deduced(count, "the header says so"),
            None if VERSIONS.contains(&self.version) => {
                Inferred::assumed(LAYER_RECORDS, "the header's number is impossible, and this is the usual one")
            }
            None => Inferred::assumed(0, "neither the header's number nor its version makes sense"),
        }
    }

    /// The bytes of the records, which follow the header; they may reach beyond the end of the file.
    #[must_use]
    pub fn record_span(&self) -> Span {
        Span::sized(HEADER_BYTES, u64::from(self.records().value).saturating_mul(RECORD_BYTES))
    }

    /// Offset just past the header and the records: no chunk begins before it.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.record_span().end
    }

    /// Encodes the header and appends it to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.tag);
        for n in [self.version, self.record_count, self.first_block_offset] {
            out.extend_from_slice(&n.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests;
