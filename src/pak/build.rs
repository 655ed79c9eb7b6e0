//! Builds a pak region: header, records, padding, and the chunks' streams in packed blocks.

use crate::bytes::{index, len64};
use crate::pak::header::{Header, MAX_RECORDS};
use crate::pak::offset::Reading;
use crate::pak::payload;
use crate::pak::record::{Record, blocks_for};
use crate::pak::{BLOCK_BYTES, HEADER_BYTES, RECORD_BYTES};

/// Builds a pak region. The data begins in the first block after the records; the last block of a chunk is
/// padded with zeros.
#[derive(Clone, Debug)]
pub struct Builder {
    header: Header,
    records: Vec<Record>,
    first: u64,
    blocks: Vec<u8>,
}

impl Builder {
    /// A region without chunks, with `records` records ([`MAX_RECORDS`] at most), whose header uses the unit `reading`.
    #[must_use]
    pub fn new(tag: [u8; 4], version: i32, records: u32, reading: Reading) -> Self {
        let records = records.min(MAX_RECORDS);
        let end = HEADER_BYTES.saturating_add(u64::from(records).saturating_mul(RECORD_BYTES));
        let first = blocks_for(end);
        let offset = match reading {
            Reading::Blocks => first,
            Reading::Bytes => first.saturating_mul(BLOCK_BYTES),
        };
        let header = Header {
            tag,
            version,
            record_count: i32::try_from(records).unwrap_or(i32::MAX),
            first_block_offset: i32::try_from(offset).unwrap_or(i32::MAX),
        };
        let records = vec![Record::ABSENT; index(u64::from(records))];
        Self { header, records, first: first.saturating_mul(BLOCK_BYTES), blocks: Vec::new() }
    }

    /// The header.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// The records.
    #[must_use]
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Compresses a chunk, appends it and writes record `index`. `None`, without a change, if there is no
    /// such record, or no block that a record can address.
    pub fn push(&mut self, index: u32, plain: &[u8]) -> Option<Record> {
        self.push_stored(index, &payload::encode(plain))
    }

    /// Appends bytes as they are and enters them as record `number`; as for [`push`](Self::push).
    pub fn push_stored(&mut self, number: u32, stored: &[u8]) -> Option<Record> {
        let place = self.records.get_mut(index(u64::from(number)))?;
        let first = len64(&self.blocks).checked_div(BLOCK_BYTES)?;
        let count = blocks_for(len64(stored)).max(1);
        let record = Record {
            block_offset: i16::try_from(first).ok()?,
            block_length: i16::try_from(count).ok()?,
            file_length: i32::try_from(stored.len()).ok()?,
        };
        *place = record;
        self.blocks.extend_from_slice(stored);
        let end = first.saturating_add(count).saturating_mul(BLOCK_BYTES);
        self.blocks.resize(index(end), 0);
        Some(record)
    }

    /// The whole file.
    #[must_use]
    pub fn finish(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.header.encode(&mut out);
        for record in &self.records {
            out.extend_from_slice(&record.encode());
        }
        out.resize(index(self.first), 0);
        out.extend_from_slice(&self.blocks);
        out
    }
}
