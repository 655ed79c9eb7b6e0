//! Records that claim blocks of other records, and records that the header does not count.

use std::collections::HashSet;

use crate::bytes::Span;
use crate::damage::{Code, Damage, Value};
use crate::pak::header::Header;
use crate::pak::offset::Reading;
use crate::pak::place::{CUBE_RECORDS, LAYER_RECORDS};
use crate::pak::record;
use crate::pak::{HEADER_BYTES, RECORD_BYTES};

/// A record that claims blocks which another one claims too. Each of the two has one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overlap {
    /// The record.
    pub record: u32,
    /// The other record; of several, the first one that was found.
    pub other: u32,
    /// The finding about it.
    pub damage: Damage,
    /// Whether a check leaves its chunk out, so that a file cannot make it decode the same bytes many times: the chunk begins
    /// where another one does, or all overlaps together exceed the file.
    pub is_repeated: bool,
}

impl Overlap {
    /// Both records, in a sentence.
    #[must_use]
    pub fn words(&self) -> String {
        format!("The records are {} and {}.", self.other.min(self.record), self.other.max(self.record))
    }
}

/// The records that claim blocks of others, or whose blocks others claim, by number. `claims` are the blocks of each record, in any order.
#[must_use]
pub fn find_overlaps(mut claims: Vec<(Span, u32)>, file_len: u64) -> Vec<Overlap> {
    claims.retain(|(blocks, _)| !blocks.is_empty());
    claims.sort_unstable_by_key(|(blocks, record)| (blocks.start, *record));
    let mut found = Vec::new();
    // The claim that reaches furthest so far.
    let mut reach: Option<(Span, u32)> = None;
    let (mut before, mut twice) = (None, 0u64);
    // Records that have an overlap already.
    let mut owners = HashSet::new();
    for (blocks, record) in claims {
        if let Some((other, owner)) = reach
            && blocks.start < other.end
        {
            owners.insert(record);
            let is_repeated = if before == Some(blocks.start) {
                true
            } else {
                twice = twice.saturating_add(blocks.end.min(file_len).saturating_sub(blocks.start));
                twice > file_len
            };
            let shared = Span::new(blocks.start, blocks.end.min(other.end));
            let in_file = Span::new(shared.start.min(file_len), shared.end.min(file_len));
            // Beyond the end of the file, the finding points to the record.
            let span = if in_file.is_empty() { record::span(record) } else { in_file };
            let damage = Damage::new(Code::PakOverlap, span, "blocks of the record")
                .expected(Value::Words("blocks of its own"))
                .found(Value::Bytes(shared.len()));
            found.push(Overlap { record, other: owner, damage, is_repeated });
            if owners.insert(owner) {
                found.push(Overlap { record: owner, other: record, damage, is_repeated: false });
            }
        }
        before = Some(blocks.start);
        if reach.is_none_or(|(other, _)| blocks.end > other.end) {
            reach = Some((blocks, record));
        }
    }
    found.sort_unstable_by_key(|overlap| overlap.record);
    found
}

/// Records that follow those that the header counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uncounted {
    /// The number of records in the file.
    pub records: u32,
    /// How many of those that are not counted have a chunk.
    pub chunks: u32,
}

impl Uncounted {
    /// The finding about the number of records.
    #[must_use]
    pub fn damage(records: u32, declared: u32) -> Damage {
        Damage::new(Code::PakCountLow, Span::new(8, 12), "record_count")
            .expected(Value::Number(u64::from(records)))
            .found(Value::Number(u64::from(declared)))
    }
}

/// The numbers of records that files have, above the one that the header gives, for which there is room before the data.
pub fn larger_counts(header: &Header, reading: Reading, file_len: u64) -> impl Iterator<Item = (u32, Span)> {
    let declared = header.records().value;
    let data = reading.start(header, 0).unwrap_or(0).min(file_len);
    let end = |count: u32| HEADER_BYTES.saturating_add(u64::from(count).saturating_mul(RECORD_BYTES));
    let first = header.end();
    let larger = [LAYER_RECORDS, CUBE_RECORDS].into_iter().filter(move |count| *count > declared);
    larger.map(move |count| (count, Span::new(first, end(count).max(first)))).filter(move |(_, span)| span.end <= data)
}

/// The records behind those that the header counts, if all of them are valid and one at least has a chunk: `begins` says whether
/// a zlib stream begins at an offset of the file.
pub fn find_uncounted(
    header: &Header,
    reading: Reading,
    file_len: u64,
    (count, stored): (u32, &[u8]),
    mut begins: impl FnMut(u64) -> bool,
) -> Option<Uncounted> {
    let mut chunks = 0u32;
    let mut damage = Vec::new();
    for (number, record) in (header.records().value..count).zip(record::decode_all(stored)) {
        if record.is_absent() {
            continue;
        }
        let located = record.locate(number, header, reading, file_len, &mut damage)?;
        if !damage.is_empty() || !begins(located.stored.start) {
            return None;
        }
        chunks = chunks.saturating_add(1);
    }
    (chunks > 0).then_some(Uncounted { records: count, chunks })
}

/// Whether two bytes begin a zlib stream.
#[must_use]
pub fn begins_stream(bytes: &[u8]) -> bool {
    matches!(*bytes, [first, second, ..] if first & 0x0f == 8 && first >> 4 <= 7
        && u16::from_be_bytes([first, second]).checked_rem(31) == Some(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_that_share_blocks_are_found() {
        let blocks = |from: u64, to: u64| Span::new(from * 4096, to * 4096);
        let claims =
            vec![(blocks(3, 4), 0), (blocks(4, 5), 1), (blocks(4, 5), 2), (blocks(4, 6), 7), (blocks(6, 7), 3)];
        let found = find_overlaps(claims, 7 * 4096);
        let of: Vec<(u32, u32, bool)> = found.iter().map(|o| (o.record, o.other, o.is_repeated)).collect();
        assert_eq!(of, [(1, 2, false), (2, 1, true), (7, 1, true)], "each record has one, the owner of the blocks too");
        assert_eq!(find_overlaps(vec![(blocks(3, 4), 0), (Span::default(), 1)], 7 * 4096), []);
    }

    #[test]
    fn two_bytes_show_a_stream() {
        assert!(begins_stream(&[0x78, 0x9c]) && begins_stream(&[0x78, 0x01, 0]));
        assert!(!begins_stream(&[0x78]) && !begins_stream(&[0, 0]) && !begins_stream(&[0x78, 0x9d]));
    }
}
