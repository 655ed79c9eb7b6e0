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
