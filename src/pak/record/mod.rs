//! The records of a pak region, one for each chunk.
//!
//! ```text
//! block_offset i16 (-1 = no chunk) · block_length i16 · file_length i32
//! ```
//!
//! `block_length` blocks from `block_offset` on belong to the chunk, and their first `file_length` bytes are its zlib
//! stream. The place of block 0 depends on the [unit](crate::pak::offset::Reading) of the header's field.

use std::ops::Range;

use crate::bytes::{Cursor, Span};
use crate::pak::header::Header;
use crate::pak::{BLOCK_BYTES, HEADER_BYTES, RECORD_BYTES};

/// Zeroed records in a row from which on they are not counted as chunks: an eighth of a page of 4,096 bytes.
const ZEROED_RUN: u32 = 64;

/// A record as stored; its fields are not validated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// First block, counted from the start of the data; -1 if there is no chunk.
    pub block_offset: i16,
    /// Blocks of the chunk.
    pub block_length: i16,
    /// Bytes of the chunk's zlib stream.
    pub file_length: i32,
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

    /// Whether all of its bytes are zero, which no program writes.
    #[must_use]
    pub const fn is_zeroed(self) -> bool {
        matches!(self, Self { block_offset: 0, block_length: 0, file_length: 0 })
    }

    /// Whether there is no chunk.
    #[must_use]
    pub const fn is_absent(self) -> bool {
        self.block_offset == -1
    }
}

/// The bytes of the record `index` in the file.
#[must_use]
pub fn span(index: u32) -> Span {
    Span::sized(HEADER_BYTES.saturating_add(u64::from(index).saturating_mul(RECORD_BYTES)), RECORD_BYTES)
}

/// The whole records in `data`, which begins with record 0.
pub fn decode_all(data: &[u8]) -> impl Iterator<Item = Record> {
    let mut cursor = Cursor::new(data);
    std::iter::from_fn(move || cursor.array().ok().map(Record::decode))
}

/// The runs of zeroed records that are so long that something overwrote a part of the file: most records of a region usually
/// have no chunk, so nothing shows how many of these had one. The records come with their numbers, in their order.
#[must_use]
pub fn zeroed_runs(records: impl Iterator<Item = (u32, Record)>) -> Vec<Range<u32>> {
    let mut runs: Vec<Range<u32>> = Vec::new();
    for (number, _) in records.filter(|(_, record)| record.is_zeroed()) {
        match runs.last_mut() {
            Some(run) if run.end == number => run.end = number.saturating_add(1),
            _ => runs.push(number..number.saturating_add(1)),
        }
    }
    runs.retain(|run| run.end.saturating_sub(run.start) >= ZEROED_RUN);
    runs
}

/// Whether a record is in one of the [runs](zeroed_runs).
#[must_use]
pub fn is_in_run(runs: &[Range<u32>], record: u32) -> bool {
    let at = runs.partition_point(|run| run.end <= record);
    runs.get(at).is_some_and(|run| run.contains(&record))
}

/// The records that follow `header` in the first bytes of a file, as many as the file has.
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
