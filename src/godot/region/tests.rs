//! Region headers written byte by byte, as `docs/formats.md` describes them.
#![allow(clippy::arithmetic_side_effects, clippy::as_conversions)]

use super::*;

#[test]
fn a_rig_of_voxedit_is_named() {
    for digit in b'0'..=b'9' {
        let mut damage = Vec::new();
        let rig = [b'V', b'X', b'R', digit, 0, 0, 0, 0];
        assert!(Header::decode(&rig, 8, None).report_to(&mut damage).is_none());
        // Its first four bytes are enough.
        assert!(Header::decode(&rig[..4], 4, None).report_to(&mut damage).is_none());
        assert_eq!(damage[1], damage[0]);
        assert_eq!((damage[0].code, damage[0].span), (Code::RegionVoxedit, Span::new(0, 4)));
        let text = damage[0].to_string();
        assert!(text.contains(&format!("VXR{}", digit - b'0')), "{text}");
        assert!(!damage[0].code.next().starts_with("Run `voxscope repair"), "there is nothing to repair");
    }
}

#[test]
fn a_region_with_one_damaged_byte_is_no_rig() {
    let mut file = V3.to_vec();
    file.resize(20 + 3 * 2 * 255 * 4, 0);
    let len = file.len() as u64;
    file[3] = b'7';
    let mut damage = Vec::new();
    assert!(Header::decode(&file, len, None).report_to(&mut damage).is_none());
    assert_eq!(damage[0].code, Code::RegionNotRegion);
}

use crate::damage::Space;

const DEPTHS: [Depth; CHANNELS] = [
    Depth::Bits16,
    Depth::Bits32,
    Depth::Bits8,
    Depth::Bits64,
    Depth::Bits8,
    Depth::Bits8,
    Depth::Bits16,
    Depth::Bits8,
];

/// The layout of [`V3`].
const FORMAT: Format = Format { block_size_po2: 4, region_size: [3, 2, 255], depths: DEPTHS, sector_size: 0x0201 };

/// The header of version 3 without a palette.
#[rustfmt::skip]
const V3: [u8; 20] = [
    b'V', b'X', b'R', b'_',
    3,
    4,                      // blocks of 16 voxels
    3, 2, 255,              // 3 x 2 x 255 blocks
    1, 2, 0, 3, 0, 0, 1, 0, // depths of the channels
    0x01, 0x02,             // sectors of 513 bytes
    0x00,                   // no palette
];

/// Bytes of the table of [`FORMAT`].
const TABLE: u64 = 3 * 2 * 255 * 4;

/// What another source says, as different from [`FORMAT`] as can be.
const OUTSIDE: Format =
    Format { block_size_po2: 5, region_size: [16; 3], depths: [Depth::Bits64; CHANNELS], sector_size: 2048 };

fn read(prefix: &[u8], file_len: u64, outside: Option<&Format>) -> (Option<Header>, Vec<(Code, Span)>) {
    let mut damage = Vec::new();
    let header = Header::decode(prefix, file_len, outside).report_to(&mut damage);
    for d in &damage {
        assert_eq!(d.space, Space::File);
        assert!(Span::sized(0, file_len).contains(&d.span), "{d:?} in {file_len} bytes");
    }
    (header, damage.iter().map(|d| (d.code, d.span)).collect())
}

fn written(header: &Header) -> Vec<u8> {
    let mut out = Vec::new();
    header.encode(&mut out).unwrap();
    out
}

/// [`V3`] with one byte changed, read as the header of a file that is long enough.
fn changed(at: usize, to: u8, outside: Option<&Format>) -> (Option<Header>, Vec<(Code, Span)>) {
    let mut bytes = V3;
    bytes[at] = to;
    read(&bytes, 1 << 20, outside)
}

#[test]
fn version_3_carries_its_layout() {
    // What the meta file says is not asked.
    for outside in [None, Some(&OUTSIDE)] {
        let (header, damage) = read(&V3, 20 + TABLE, outside);
        let header = header.unwrap();
        assert_eq!(damage, []);
        assert_eq!((header.version, header.format, header.palette.as_ref()), (3, FORMAT, None));
        assert_eq!((header.table, header.sectors_at()), (Span::new(20, 20 + TABLE), 20 + TABLE));
        assert_eq!(written(&header), V3);
        assert_eq!(header, Header::new(3, FORMAT));
    }
    assert_eq!((FORMAT.block_size(), FORMAT.table_len()), (16, 3 * 2 * 255));
    assert_eq!(FORMAT.layout(), BlockLayout { size: [16; 3], depths: DEPTHS });
}

#[test]
fn a_palette_stands_between_header_and_table() {
    let mut bytes = V3.to_vec();
    bytes[19] = 0xff;
    bytes.extend((0..1024).map(|i| u8::try_from(i % 253).unwrap()));
    let (header, damage) = read(&bytes, 1044 + TABLE, None);
    let header = header.unwrap();
    assert_eq!(damage, []);
    assert_eq!(header.palette.as_deref(), Some(&bytes[20..]));
    assert_eq!(header.table, Span::new(1044, 1044 + TABLE));
    assert_eq!(written(&header), bytes);
    assert_eq!(bytes.len(), MAX_HEADER_BYTES);
    // Cut inside the palette nothing can be located.
    for len in [20, 21, 1043] {
        let (header, damage) = read(&bytes[..len], len as u64, None);
        assert_eq!((header, damage), (None, vec![(Code::RegionHeaderCut, Span::new(20, len as u64))]));
    }
}

#[test]
fn versions_1_and_2_take_their_layout_from_outside() {
    for version in [1, 2] {
        let bytes = [b'V', b'X', b'R', b'_', version, 9, 9, 9, 9];
        let (header, damage) = read(&bytes, 5 + 4096 * 4, Some(&OUTSIDE));
        let header = header.unwrap();
        assert_eq!(damage, []);
        assert_eq!((header.version, header.format, header.palette.as_ref()), (version, OUTSIDE, None));
        assert_eq!(header.table, Span::new(5, 5 + 4096 * 4));
        assert_eq!(written(&header), bytes[..5]);
        assert_eq!(header, Header::new(version, OUTSIDE));
        let without = read(&bytes, 5 + 4096 * 4, None);
        assert_eq!(without, (None, vec![(Code::RegionFormatUnknown, Span::new(4, 5))]));
    }
}

#[test]
fn region_empty() {
    assert_eq!(read(&[], 0, None), (None, vec![(Code::RegionEmpty, Span::new(0, 0))]));
}

#[test]
fn region_not_region() {
    for at in 0..4 {
        assert_eq!(changed(at, b'x', None), (None, vec![(Code::RegionNotRegion, Span::new(0, 4))]));
    }
    let mut damage = Vec::new();
    Header::decode(b"GDPC\x03\x00\x00\x00", 8, None).report_to(&mut damage);
    assert_eq!(damage[0].found, Value::Hex32(0x4744_5043));
}

#[test]
fn region_version() {
    for version in [0, 4, 255] {
        for outside in [None, Some(&OUTSIDE)] {
            assert_eq!(changed(4, version, outside), (None, vec![(Code::RegionVersion, Span::new(4, 5))]));
        }
    }
}

#[test]
fn region_header_cut_at_every_length() {
    for len in 1..20 {
        let (header, damage) = read(&V3[..len], len as u64, Some(&OUTSIDE));
        assert_eq!((header, damage), (None, vec![(Code::RegionHeaderCut, Span::new(0, len as u64))]), "{len} bytes");
    }
}

#[test]
fn a_file_that_ends_with_its_header_was_never_stored() {
    let (header, damage) = read(&V3, 20, None);
    assert_eq!(damage, [(Code::RegionNeverStored, Span::new(20, 20))]);
    assert_eq!(header, Some(Header::new(3, FORMAT)));
    // Of versions 1 and 2 that is not known.
    let (header, damage) = read(b"VXR_\x02", 5, Some(&OUTSIDE));
    assert_eq!(damage, [(Code::RegionTableCut, Span::new(5, 5))]);
    assert_eq!(header, Some(Header::new(2, OUTSIDE)));
}

#[test]
fn region_table_cut() {
    for len in [21, 20 + TABLE - 1] {
        let (header, damage) = read(&V3, len, None);
        assert_eq!(damage, [(Code::RegionTableCut, Span::new(20, len))]);
        // What is there of the table is read.
        assert_eq!(header.unwrap().table, Span::new(20, 20 + TABLE));
    }
}

#[test]
fn region_block_size() {
    for po2 in [0, 9, 255] {
        let expected = [(Code::RegionBlockSize, Span::new(5, 6))];
        let (header, damage) = changed(5, po2, Some(&OUTSIDE));
        assert_eq!((header.unwrap().format.block_size_po2, &damage[..]), (5, &expected[..]));
        // Blocks carry their own size, so that not to know it stops nothing.
        let (header, damage) = changed(5, po2, None);
        assert_eq!((header.unwrap().format.block_size_po2, &damage[..]), (0, &expected[..]));
    }
    for po2 in [1, 8] {
        let (header, damage) = changed(5, po2, None);
        assert_eq!((header.unwrap().format.block_size(), damage), (1 << po2, vec![]));
    }
}

#[test]
fn region_size() {
    for at in 6..9 {
        let expected = vec![(Code::RegionSize, Span::new(6, 9))];
        let (header, damage) = changed(at, 0, Some(&OUTSIDE));
        let header = header.unwrap();
        assert_eq!((header.format.region_size, &damage), ([16; 3], &expected));
        assert_eq!(header.table, Span::new(20, 20 + 4096 * 4));
        assert_eq!(changed(at, 0, None), (None, expected));
    }
}

#[test]
fn region_depth() {
    for channel in 0..CHANNELS {
        let expected = vec![(Code::RegionDepth, Span::sized(9 + channel as u64, 1))];
        for code in [4, 255] {
            let (header, damage) = changed(9 + channel, code, Some(&OUTSIDE));
            let mut depths = DEPTHS;
            depths[channel] = Depth::Bits64;
            assert_eq!((header.unwrap().format.depths, &damage), (depths, &expected));
            let (header, damage) = changed(9 + channel, code, None);
            depths[channel] = Depth::Bits8;
            assert_eq!((header.unwrap().format.depths, &damage), (depths, &expected));
        }
    }
}

#[test]
fn region_sector_size() {
    let mut bytes = V3;
    bytes[17..19].fill(0);
    let expected = vec![(Code::RegionSectorSize, Span::new(17, 19))];
    let (header, damage) = read(&bytes, 1 << 20, Some(&OUTSIDE));
    assert_eq!((header.unwrap().format.sector_size, &damage), (2048, &expected));
    assert_eq!(read(&bytes, 1 << 20, None), (None, expected));
    bytes[17..19].fill(0xff);
    assert_eq!(read(&bytes, 1 << 20, None).0.unwrap().format.sector_size, 65535);
}

#[test]
fn region_palette() {
    for hint in [1, 0xfe] {
        let (header, damage) = changed(19, hint, None);
        let header = header.unwrap();
        assert_eq!(damage, [(Code::RegionPalette, Span::new(19, 20))]);
        assert_eq!((header.palette, header.table.start), (None, 20));
    }
}

#[test]
fn everything_wrong_is_named_at_once() {
    let bytes = [&V3[..5], &[0, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9, 0, 0, 7]].concat();
    let (header, damage) = read(&bytes, 1 << 20, None);
    assert_eq!(header, None);
    let depths = (9..17).map(|at| (Code::RegionDepth, Span::sized(at, 1)));
    let mut expected = vec![(Code::RegionBlockSize, Span::new(5, 6)), (Code::RegionSize, Span::new(6, 9))];
    expected.extend(depths);
    expected.push((Code::RegionSectorSize, Span::new(17, 19)));
    assert_eq!(damage, expected);
    // With a meta file the region can still be read.
    let (header, damage) = read(&bytes, 1 << 20, Some(&OUTSIDE));
    assert_eq!(header.unwrap().format, OUTSIDE);
    assert_eq!(damage.len(), expected.len() + 1);
}

#[test]
fn an_entry_is_a_count_below_a_first_sector() {
    let entry = Entry(0x0102_0304);
    assert_eq!((entry.count(), entry.first(), entry.end()), (4, 0x0001_0203, 0x0001_0207));
    assert_eq!(Entry::new(0x0001_0203, 4), entry);
    assert_eq!(Entry::new(0xff00_0001, 1), Entry(0x0101), "24 bits of the first sector");
    let last = Entry::new(0x00ff_ffff, 255);
    assert_eq!((last, last.end()), (Entry(u32::MAX), 0x0100_00fe));
    // Only zero is no block: sector 0 with a count, and a count of zero, are damage or blocks, not absence.
    assert!(!Entry(0).is_used());
    assert!(Entry::new(0, 1).is_used() && Entry::new(1, 0).is_used());
    assert_eq!(Entry::default(), Entry(0));
}

#[test]
fn sectors_count_the_four_bytes_of_the_size() {
    for (size, sector, sectors) in [
        (0, 512, 1),
        (508, 512, 1),
        (509, 512, 2),
        (1020, 512, 2),
        (1021, 512, 3),
        (1, 1, 5),
        (u64::from(u32::MAX), 512, (1 << 23) + 1),
        (3, 0, 7),
    ] {
        assert_eq!(sectors_for(size, sector), sectors, "{size} bytes in sectors of {sector}");
    }
    assert!(sectors_for(u64::MAX, 1) > 0);
}

#[test]
fn sectors_follow_the_table_without_alignment() {
    let header = Header::new(3, Format { region_size: [1, 1, 3], sector_size: 10, ..FORMAT });
    assert_eq!(header.sectors_at(), 32);
    assert_eq!(header.sector_span(0, 1), Span::new(32, 42));
    assert_eq!(header.sector_span(2, 3), Span::new(52, 82));
    assert_eq!(header.sector_span(u64::MAX, u64::MAX), Span::new(u64::MAX, u64::MAX));
}

#[test]
fn a_region_is_built_byte_by_byte() {
    let format = Format { region_size: [1, 2, 2], sector_size: 8, ..FORMAT };
    let mut builder = Builder::new(Header::new(3, format));
    assert_eq!(builder.push(2, &[1, 2, 3, 4]), Some(Entry::new(0, 1)));
    assert_eq!(builder.push(0, &[5, 6, 7, 8, 9]), Some(Entry::new(1, 2)));
    assert_eq!(builder.push(3, &[]), Some(Entry::new(3, 1)));
    let before = builder.finish().unwrap();
    #[rustfmt::skip]
    let expected = [
        b'V', b'X', b'R', b'_', 3, 4, 1, 2, 2, 1, 2, 0, 3, 0, 0, 1, 0, 8, 0, 0,
        2, 1, 0, 0,  0, 0, 0, 0,  1, 0, 0, 0,  1, 3, 0, 0,
        4, 0, 0, 0, 1, 2, 3, 4,
        5, 0, 0, 0, 5, 6, 7, 8,  9, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0,
    ];
    assert_eq!(before, expected);
    // What does not fit changes nothing: a slot that does not exist, more than 255 sectors.
    assert_eq!(builder.push(4, &[1]), None);
    assert_eq!(builder.push(1, &[0; 255 * 8 - 3]), None);
    assert_eq!(builder.finish().unwrap(), before);
    assert_eq!(builder.push(1, &[0; 255 * 8 - 4]), Some(Entry::new(4, 255)));
}

#[test]
fn a_region_is_built_with_its_palette_and_in_old_versions() {
    let format = Format { region_size: [1; 3], sector_size: 8, ..FORMAT };
    let palette: Box<[u8]> = (0..1024).map(|i| u8::try_from(i % 255).unwrap()).collect();
    let mut bytes = written(&Header::new(3, format));
    bytes[19] = 0xff;
    bytes.extend(&palette);
    let (header, _) = read(&bytes, 1048, None);
    let header = header.unwrap();
    let mut builder = Builder::new(header.clone());
    builder.push(0, &[1]).unwrap();
    let built = builder.finish().unwrap();
    assert_eq!(built, [&bytes[..], &[1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]].concat());
    assert_eq!(read(&built[..MAX_HEADER_BYTES], built.len() as u64, None), (Some(header), vec![]));
    let mut builder = Builder::new(Header::new(2, format));
    builder.push(0, &[1]).unwrap();
    assert_eq!(builder.finish().unwrap(), b"VXR_\x02\x01\0\0\0\x01\0\0\0\x01\0\0\0");
}

proptest::proptest! {
    #[test]
    fn any_header_is_read_or_refused_with_a_reason(tail in proptest::collection::vec(proptest::num::u8::ANY, 0..40), more in 0_u64..2000) {
        let bytes = [b"VXR_", &tail[..]].concat();
        let len = bytes.len() as u64 + more;
        for outside in [None, Some(&OUTSIDE)] {
            let (header, damage) = read(&bytes, len, outside);
            proptest::prop_assert!(header.is_some() || !damage.is_empty());
            if let Some(header) = header.filter(|_| damage.is_empty()) {
                let prefix = written(&header);
                proptest::prop_assert_eq!(&bytes[..prefix.len()], &prefix[..]);
            }
        }
    }
}
