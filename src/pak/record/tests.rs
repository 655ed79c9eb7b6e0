use super::*;

const HEADER: Header = Header { tag: [0; 4], version: 7, record_count: 4, first_block_offset: 1 };

fn locate(record: Record, file_len: u64) -> (Option<Located>, Vec<Damage>) {
    let mut damage = Vec::new();
    let located = record.locate(2, &HEADER, Reading::Blocks, file_len, &mut damage);
    (located, damage)
}

fn codes(damage: &[Damage]) -> Vec<(Code, Span)> {
    damage.iter().map(|d| (d.code, d.span)).collect()
}

const fn record(block_offset: i16, block_length: i16, file_length: i32) -> Record {
    Record { block_offset, block_length, file_length }
}

#[test]
fn bytes_of_the_format_page() {
    let bytes = [5, 0, 2, 0, 0x88, 0x13, 0, 0];
    assert_eq!(Record::decode(bytes), record(5, 2, 5000));
    assert_eq!(Record::decode([0xff, 0xff, 0, 0, 0, 0, 0, 0]), Record::ABSENT);
    assert!(Record::ABSENT.is_absent());
    assert_eq!(Record::decode([0, 0x80, 0xff, 0x7f, 0, 0, 0, 0x80]), record(i16::MIN, i16::MAX, i32::MIN));
    for bytes in [bytes, [0xff; 8], [0x80; 8], [1, 2, 3, 4, 5, 6, 7, 8]] {
        assert_eq!(Record::decode(bytes).encode(), bytes);
    }
    assert_eq!(span(2), Span::new(32, 40));
}

#[test]
fn the_blocks_and_the_stream_are_found() {
    let (located, damage) = locate(record(1, 2, 5000), 16_384);
    let expected = Located { blocks: Span::new(8192, 16_384), stored: Span::new(8192, 13_192), exact: true };
    assert_eq!((located, damage), (Some(expected), vec![]));
    assert_eq!(locate(Record::ABSENT, 16_384), (None, vec![]));
    // The padding of the last block need not be in the file.
    assert_eq!(locate(record(1, 2, 5000), 13_192), (Some(expected), vec![]));

    let mut damage = Vec::new();
    let bytes = record(1, 2, 5000).locate(2, &HEADER, Reading::Bytes, 16_384, &mut damage).unwrap();
    assert_eq!((bytes.blocks, damage), (Span::new(4097, 12_289), vec![]));
}

#[test]
fn only_minus_one_says_that_there_is_no_chunk() {
    for offset in [-2, i16::MIN] {
        let (located, damage) = locate(record(offset, 1, 10), 16_384);
        assert_eq!((located, codes(&damage)), (None, vec![(Code::PakRecordOffset, Span::new(32, 34))]));
        assert_eq!(damage[0].found, Value::Signed(i64::from(offset)));
    }
}

#[test]
fn lengths_that_cannot_be_give_all_the_blocks() {
    for length in [0, -1, i32::MIN, 4097, i32::MAX] {
        let (located, damage) = locate(record(1, 1, length), 16_384);
        let blocks = Span::new(8192, 12_288);
        assert_eq!(located, Some(Located { blocks, stored: blocks, exact: false }), "{length}");
        assert_eq!(codes(&damage), [(Code::PakFileLength, Span::new(36, 40))]);
    }
    assert_eq!(locate(record(1, 1, 4096), 16_384).1, []);
    // As far as the file goes.
    let (located, damage) = locate(record(1, 1, 0), 9000);
    assert_eq!((located.unwrap().stored, codes(&damage).len()), (Span::new(8192, 9000), 1));
}

#[test]
fn blocks_that_cannot_be_are_counted_from_the_length() {
    for count in [0, -1, i16::MIN] {
        let (located, damage) = locate(record(1, count, 5000), 16_384);
        let expected = Located { blocks: Span::new(8192, 16_384), stored: Span::new(8192, 13_192), exact: true };
        assert_eq!((located, codes(&damage)), (Some(expected), vec![(Code::PakRecordBlocks, Span::new(34, 36))]));
        let (located, damage) = locate(record(1, count, -7), 16_384);
        assert_eq!((located, damage.len()), (None, 2));
    }
}

#[test]
fn data_beyond_the_end_is_cut_to_the_file() {
    let (located, damage) = locate(record(1, 2, 5000), 13_191);
    assert_eq!(located.unwrap().stored, Span::new(8192, 13_191));
    assert_eq!(codes(&damage), [(Code::PakBeyondEnd, Span::new(32, 40))]);
    assert_eq!((damage[0].expected, damage[0].found), (Value::AtMost(13_191), Value::Number(13_192)));
    for length in [5, 0] {
        let (located, damage) = locate(record(i16::MAX, i16::MAX, length), 13_191);
        let located = located.unwrap();
        assert_eq!(damage.last().unwrap().code, Code::PakBeyondEnd);
        assert!(located.stored.is_empty() && located.blocks.start == 32_768 * 4096);
    }
}

#[test]
fn data_in_the_header_is_told() {
    for (first, place) in [(0, 0), (-1, 0), (-2, -4096)] {
        let header = Header { first_block_offset: first, ..HEADER };
        let mut damage = Vec::new();
        let offset = if first == 0 { 0 } else { 1 };
        let located = record(offset, 1, 10).locate(2, &header, Reading::Blocks, 16_384, &mut damage);
        assert_eq!(codes(&damage), [(Code::PakInHeader, Span::new(32, 40))]);
        assert_eq!(located.is_some(), place == 0);
    }
}

#[test]
fn whole_records_are_read_as_far_as_they_go() {
    let mut file = Vec::new();
    HEADER.encode(&mut file);
    for i in 0..6 {
        file.extend(record(i, 1, 9).encode());
    }
    for len in 0..file.len() {
        let there = len.saturating_sub(16) / 8;
        assert_eq!(decode_prefix(&HEADER, &file[..len]).len(), there.min(4));
    }
    assert_eq!(decode_prefix(&HEADER, &file)[3], record(3, 1, 9));
    // A count that no file has reserves nothing.
    let header = Header { record_count: i32::MAX, version: 0, ..HEADER };
    assert_eq!(decode_prefix(&header, &file).capacity(), 0);
}
