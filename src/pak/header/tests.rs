use super::*;

/// The header of the format page: a tag, version 7, 1,024 records, data from block 3 on.
const TODAY: [u8; 16] = *b"TAG!\x07\0\0\0\x00\x04\0\0\x03\0\0\0";

fn decode(bytes: &[u8], file_len: u64) -> (Option<Header>, Vec<Damage>) {
    let mut damage = Vec::new();
    let header = Header::decode(bytes, file_len).report_to(&mut damage);
    (header, damage)
}

fn with(at: usize, field: i32) -> [u8; 16] {
    let mut bytes = TODAY;
    bytes[at..at + 4].copy_from_slice(&field.to_le_bytes());
    bytes
}

#[test]
fn bytes_of_the_format_page() {
    let (header, damage) = decode(&TODAY, 12_288);
    let header = header.unwrap();
    assert_eq!(header, Header { tag: *b"TAG!", version: 7, record_count: 1024, first_block_offset: 3 });
    assert_eq!(damage, []);
    assert_eq!(header.end(), 8208, "as the page says");
    let mut out = Vec::new();
    header.encode(&mut out);
    assert_eq!(out, TODAY);
}

#[test]
fn nothing_is_required_of_the_tag() {
    for tag in [[0; 4], [0xff; 4]] {
        let mut bytes = TODAY;
        bytes[..4].copy_from_slice(&tag);
        assert_eq!(decode(&bytes, 12_288).1, []);
    }
}

#[test]
fn a_cut_at_every_length_is_told() {
    for len in 0..16 {
        let (header, damage) = decode(&TODAY[..len], len as u64);
        assert_eq!(header, None);
        assert_eq!((damage.len(), damage[0].code, damage[0].span), (1, Code::PakHeaderCut, Span::new(0, len as u64)));
        assert_eq!((damage[0].expected, damage[0].found), (Value::Bytes(16), Value::Bytes(len as u64)));
    }
    for len in [16, 17, 24, 8207] {
        let (header, damage) = decode(&TODAY, len);
        assert_eq!(header.map(|h| h.records().value), Some(1024));
        assert_eq!((damage.len(), damage[0].code, damage[0].span), (1, Code::PakRecordsCut, Span::new(16, len)));
    }
    assert_eq!(decode(&TODAY, 8208).1, []);
}

#[test]
fn unknown_versions_are_read_all_the_same() {
    for version in [i32::MIN, -1, 0, 5, 8, i32::MAX] {
        let (header, damage) = decode(&with(4, version), 12_288);
        assert_eq!(header.map(|h| h.records().value), Some(1024));
        assert_eq!((damage.len(), damage[0].code, damage[0].span), (1, Code::PakVersion, Span::new(4, 8)));
        let text = damage[0].to_string().replace(',', "");
        assert_eq!(text, format!("version of the pak region is unknown ({version}; expected 6 to 7)"));
    }
    assert_eq!(decode(&with(4, 6), 12_288).1, []);
}

#[test]
fn impossible_counts_are_not_believed() {
    for count in [i32::MIN, -1, 0, 32_769, i32::MAX] {
        let (header, damage) = decode(&with(8, count), 12_288);
        let records = header.unwrap().records();
        assert_eq!((records.value, records.how), (1024, crate::pak::How::Assumed), "{count}");
        assert_eq!((damage.len(), damage[0].code, damage[0].span), (1, Code::PakRecordCount, Span::new(8, 12)));
        assert_eq!(damage[0].found, Value::Signed(i64::from(count)));
    }
    // Where the version is unknown too, nothing is read.
    let mut bytes = with(8, -1);
    bytes[4] = 0x78;
    let (header, damage) = decode(&bytes, 12_288);
    assert_eq!((header.unwrap().records().value, damage.len()), (0, 2));
    // The most that is believed is still only believed as far as the file goes.
    let (header, damage) = decode(&with(8, 32_768), 12_288);
    assert_eq!((header.unwrap().records().value, damage[0].code), (32_768, Code::PakRecordsCut));
    assert_eq!(MAX_PREFIX_BYTES as u64, header.unwrap().end());
}

#[test]
fn a_negative_first_block_is_told() {
    for first in [i32::MIN, -1] {
        let (_, damage) = decode(&with(12, first), 12_288);
        assert_eq!((damage.len(), damage[0].code, damage[0].span), (1, Code::PakFirstBlock, Span::new(12, 16)));
    }
    assert_eq!(decode(&with(12, i32::MAX), 12_288).1, []);
}
