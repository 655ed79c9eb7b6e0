//! The records of a pak region, one for each chunk.
//!
//! ```text
//! block_offset i16 (-1 = no chunk) · block_length i16 · file_length i32
//! ```
//!
//! `block_length` blocks from `block_offset` on belong to the chunk, and their first `file_length` bytes are its zlib
//! stream. Where block 0 lies is a matter of [reading](Reading).

use crate::bytes::{Cursor, Span};
use crate::damage::{Code, Damage, Value};
use crate::pak::BLOCK_BYTES;
use crate::pak::header::{HEADER_BYTES, Header};
use crate::pak::offset::Reading;

/// Bytes of a record.
pub const RECORD_BYTES: u64 = 8;

/// A record as it stands in the file; nothing in it is to be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// First block, counted from where the data begins; -1 says that there is no chunk.
    pub block_offset: i16,
    /// Blocks of the chunk.
    pub block_length: i16,
    /// Bytes of the chunk's zlib stream.
    pub file_length: i32,
}

/// Where the data of a record lies in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Located {
    /// The blocks; they may reach beyond the end of the file.
    pub blocks: Span,
    /// The bytes to decode, as far as the file has them; empty when it has none.
    pub stored: Span,
    /// Whether `stored` is what the record says. Where its length is impossible, it is all of the blocks, in which the
    /// stream is followed by padding.
    pub exact: bool,
}

impl Record {
    /// No chunk.
    pub const ABSENT: Self = Self { block_offset: -1, block_length: 0, file_length: 0 };

    /// Decodes a record from its bytes.
    #[must_use]
    pub const fn decode([o0, o1, l0, l1, f0, f1, f2, f3]: [u8; 8]) -> Self {
        Self {
            block_offset: i16::from_le_bytes([o0, o1]),
            block_length: i16::from_le_bytes([l0, l1]),
            file_length: i32::from_le_bytes([f0, f1, f2, f3]),
        }
    }

    /// Encodes the record.
    #[must_use]
    pub const fn encode(self) -> [u8; 8] {
        let [o0, o1] = self.block_offset.to_le_bytes();
        let [l0, l1] = self.block_length.to_le_bytes();
        let [f0, f1, f2, f3] = self.file_length.to_le_bytes();
        [o0, o1, l0, l1, f0, f1, f2, f3]
    }

    /// Whether there is no chunk.
    #[must_use]
    pub const fn is_absent(self) -> bool {
        self.block_offset == -1
    }

    /// Where the data lies, when it is read as `reading`, pushing what is wrong with the record `index`; spans count
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
        let at = span(index).start;
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
                    .expected(Value::Words("a block behind the header"))
                    .found(Value::Words("a block before the start of the file")),
            );
            return None;
        };
        let blocks = Span::sized(start, room);
        // The last block need not be padded in the file, so what its length is not known of may end with the file.
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

/// Where the record `index` stands in the file.
#[must_use]
pub fn span(index: u32) -> Span {
    Span::sized(HEADER_BYTES.saturating_add(u64::from(index).saturating_mul(RECORD_BYTES)), RECORD_BYTES)
}

/// The whole records in `data`, which begins with record 0.
pub fn decode_all(data: &[u8]) -> impl Iterator<Item = Record> {
    let mut cursor = Cursor::new(data);
    std::iter::from_fn(move || cursor.array().ok().map(Record::decode))
}

/// The records that follow `header` in the first bytes of a file: as many as there should be, or as are there.
#[must_use]
pub fn decode_prefix(header: &Header, prefix: &[u8]) -> Vec<Record> {
    let span = header.record_span();
    let data = prefix.get(crate::bytes::index(span.start)..).unwrap_or_default();
    decode_all(data.get(..crate::bytes::index(span.len())).unwrap_or(data)).collect()
}

/// Blocks that `bytes` take.
#[must_use]
pub const fn blocks_for(bytes: u64) -> u64 {
    bytes.div_ceil(BLOCK_BYTES)
}

#[cfg(test)]
mod tests;
