use super::*;

const HEADER: Header = Header { tag: [0; 4], version: 7, record_count: 4, first_block_offset: 1 };

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

#[test]
fn only_long_runs_of_zeroed_records_are_those_of_lost_data() {
    let zeros = record(0, 0, 0);
    assert!(zeros.is_zeroed() && !Record::ABSENT.is_zeroed() && !record(0, 1, 0).is_zeroed());
    let mut records = vec![Record::ABSENT; 300];
    records[10..73].fill(zeros);
    records[100..164].fill(zeros);
    records[200..300].fill(zeros);
    let runs = zeroed_runs((0..).zip(records));
    assert_eq!(runs, [100..164, 200..300], "63 in a row are too few");
    let inside: Vec<u32> = (0..300).filter(|record| is_in_run(&runs, *record)).collect();
    assert_eq!(inside, (100..164).chain(200..300).collect::<Vec<u32>>());
    assert!(zeroed_runs(std::iter::empty()).is_empty());
}
