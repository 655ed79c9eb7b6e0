use super::*;

fn header(first_block_offset: i32) -> Header {
    Header { tag: [0; 4], version: 7, record_count: 1024, first_block_offset }
}

fn records(offsets: &[i16]) -> Vec<Record> {
    let mut records: Vec<Record> =
        offsets.iter().map(|&block_offset| Record { block_offset, block_length: 1, file_length: 100 }).collect();
    records.resize(1024, Record::ABSENT);
    records
}

#[test]
fn both_formulas() {
    assert_eq!(Reading::Blocks.start(&header(3), 2), Some(20_480));
    assert_eq!(Reading::Bytes.start(&header(12_288), 2), Some(20_480));
    assert_eq!(Reading::Bytes.start(&header(8208), 1), Some(12_304));
    // 32 bits do not hold this.
    assert_eq!(Reading::Blocks.start(&header(i32::MAX), i16::MAX), Some(((1 << 31) - 1 + 32_767) * 4096));
    assert_eq!(Reading::Blocks.start(&header(-4), 3), None);
    assert_eq!(Reading::Blocks.start(&header(i32::MIN), i16::MIN), None);
    for reading in Reading::ALL {
        assert_eq!(Reading::from_name(reading.name()), Some(reading));
    }
}

#[test]
fn blocks_are_taken_where_they_fit() {
    for offsets in [&[0, 1, 2][..], &[0], &[5, 9]] {
        let taken = infer(&header(3), &records(offsets), 13 * 4096);
        assert_eq!((taken.value, taken.how), (Reading::Blocks, How::Inferred));
        assert_eq!(taken.alternatives, []);
        assert_eq!(note(&taken), None, "healthy and usual: nothing to say");
    }
    // First block 0: the records count from the start of the file, in either unit.
    let taken = infer(&header(0), &records(&[3, 4]), 5 * 4096);
    assert_eq!((taken.value, note(&taken)), (Reading::Blocks, None));
}

#[test]
fn bytes_are_taken_where_only_they_fit() {
    for first in [12_288, 8208] {
        let taken = infer(&header(first), &records(&[0, 1, 2]), 6 * 4096);
        assert_eq!((taken.value, taken.how), (Reading::Bytes, How::Inferred));
        let note = note(&taken).unwrap();
        assert_eq!((note.code, note.span), (Code::PakOffsetReading, Span::new(12, 16)));
    }
    assert_eq!(infer(&header(8207), &records(&[0]), 6 * 4096).value, Reading::Blocks, "inside the header");
}

#[test]
fn a_file_that_does_not_decide_is_noted() {
    // A very large file, where the blocks fit as well.
    let taken = infer(&header(8208), &records(&[0]), 8209 * 4096);
    assert_eq!(
        (taken.value, taken.how, taken.alternatives.as_slice()),
        (Reading::Blocks, How::Assumed, &[Reading::Bytes][..])
    );
    assert_eq!(note(&taken).unwrap().code, Code::PakOffsetReading);
    let taken = infer(&header(i32::MAX), &records(&[0]), 4 * 4096);
    assert_eq!((taken.value, taken.how), (Reading::Blocks, How::Assumed));
    assert!(note(&taken).is_some());
    assert_eq!(note(&Inferred::given(Reading::Bytes)), None);
    // Without a chunk nothing depends on it.
    for first in [-1, 3, 12_288] {
        let taken = infer(&header(first), &records(&[]), 12_288);
        assert_eq!((taken.value, note(&taken)), (Reading::Blocks, None));
    }
}

#[test]
fn one_bad_record_does_not_turn_the_reading() {
    let mut blocks = records(&[0, 1, 30_000]);
    assert_eq!(infer(&header(3), &blocks, 6 * 4096).value, Reading::Blocks);
    assert_eq!(infer(&header(12_288), &blocks, 6 * 4096).value, Reading::Bytes);
    // Records that cannot be are not asked.
    for (record, damaged) in blocks.iter_mut().zip([(-2, 1, 5), (4, 0, 5), (4, 1, -5)]) {
        let (block_offset, block_length, file_length) = damaged;
        *record = Record { block_offset, block_length, file_length };
    }
    assert_eq!(infer(&header(3), &blocks, 6 * 4096).why, "only this fits the file and clears the header");
    // A file that was cut.
    assert_eq!(infer(&header(3), &records(&[3, 4, 5]), 8 * 4096).value, Reading::Blocks);
}

mod locate {
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
}
