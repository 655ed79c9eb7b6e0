use std::time::{Duration, Instant};

use super::*;

#[test]
fn integers_of_all_widths_are_read_as_they_are() {
    // By hand: a header of version 1 and the numbers 1, -2 or 254, 127, in each type and byte order.
    for (descr, data, expected) in [
        ("|i1", &[1u8, 0xfe, 0x7f][..], [1i64, -2, 127]),
        ("|u1", &[1, 0xfe, 0x7f], [1, 254, 127]),
        ("<i2", &[1, 0, 0xfe, 0xff, 0x7f, 0], [1, -2, 127]),
        (">u2", &[0, 1, 0xff, 0xfe, 0, 0x7f], [1, 65_534, 127]),
        ("<u4", &[1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0], [1, 0xffff_fffe, 127]),
    ] {
        let mut bytes = header(descr, &[3]);
        bytes.extend_from_slice(data);
        let mut damage = Vec::new();
        let npy = Npy::decode(&bytes, bytes.len() as u64).report_to(&mut damage).unwrap();
        assert!(damage.iter().all(|d| d.code == Code::NpyBigEndian), "{descr}: {damage:?}");
        assert_eq!(npy.integers(data).collect::<Vec<_>>(), expected, "{descr}");
        assert_eq!(npy.bits(data).count(), 3, "{descr}");
    }
    let npy = Npy::new(Dtype::U64, &[1]);
    assert_eq!(npy.integers(&[0xff; 8]).collect::<Vec<_>>(), [i64::MAX], "what does not fit is the largest number");
    assert_eq!(npy.bits(&[0xff; 8]).collect::<Vec<_>>(), [u64::MAX]);
}

const HEADER: &str = "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }";

fn file(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend([version, 0]);
    if version == 1 {
        out.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    } else {
        out.extend(u32::try_from(header.len()).unwrap().to_le_bytes());
    }
    [&out, header.as_bytes(), data].concat()
}

fn open(file: &[u8]) -> (Option<Npy>, Vec<Damage>) {
    let mut damage = Vec::new();
    (Npy::open(file).unwrap().report_to(&mut damage), damage)
}

fn codes(file: &[u8]) -> Vec<Code> {
    open(file).1.iter().map(|damage| damage.code).collect()
}

fn shape(shape: &str) -> Vec<Code> {
    codes(&file(1, &HEADER.replace("(2, 3)", shape), &[0; 24]))
}

#[test]
fn every_version_and_any_alignment() {
    let data: Vec<u8> = (0..6i32).flat_map(|n| (n * 1000 - 3).to_le_bytes()).collect();
    for version in 1..=3 {
        let bytes = file(version, HEADER, &data);
        let (npy, damage) = open(&bytes);
        let npy = npy.unwrap();
        assert_eq!(damage, []);
        assert_eq!((npy.version, npy.dtype, npy.fortran), (version, Dtype::I32, false));
        assert_eq!(npy.data, Span::new(bytes.len() as u64 - 24, bytes.len() as u64));
        let mut buffer = Vec::new();
        npy.read(&bytes, npy.place(&[1, 1]).unwrap(), 9, &mut buffer).unwrap();
        assert_eq!(npy.integers(&buffer).collect::<Vec<_>>(), [3997, 4997]);
        for align in [1, 16, 64] {
            let head = npy.encode(align);
            assert_eq!(head.len() % align, 0);
            let again = open(&[&head[..], &data].concat());
            assert_eq!(again, (Some(Npy { data: Span::sized(head.len() as u64, 24), ..npy.clone() }), vec![]));
        }
    }
}

#[test]
fn big_endian_and_fortran_order() {
    let header = "{'descr': '>i8', 'fortran_order': True, 'shape': (2, 3)}";
    // The numbers 10 * row + column.
    let data: Vec<u8> = [0i64, 10, 1, 11, 2, -12].into_iter().flat_map(i64::to_be_bytes).collect();
    let bytes = file(1, header, &data);
    let (npy, damage) = open(&bytes);
    let npy = npy.unwrap();
    assert_eq!(damage.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::NpyBigEndian, Code::NpyFortran]);
    let at = |row, column| {
        let mut buffer = Vec::new();
        npy.read(&bytes, npy.place(&[row, column]).unwrap(), 1, &mut buffer).unwrap();
        npy.integers(&buffer).next()
    };
    assert_eq!([at(0, 0), at(0, 2), at(1, 0), at(1, 1), at(1, 2)].map(Option::unwrap), [0, 2, 10, 11, -12]);
    assert_eq!(npy.place(&[2, 0]), None);
    assert_eq!(npy.place(&[0]), None);
    assert_eq!(open(&[&npy.encode(64)[..], &data].concat()).0.unwrap().shape, [2, 3]);
}

#[test]
fn each_kind_of_damage() {
    assert_eq!(codes(b""), [Code::NpyCut]);
    assert_eq!(codes(b"PK\x03\x04    "), [Code::NpyMagic]);
    assert_eq!(codes(&file(4, HEADER, &[0; 24])), [Code::NpyVersion]);
    assert_eq!(codes(&file(1, HEADER, &[0; 23])), [Code::NpyTruncated]);
    assert_eq!(codes(&file(1, HEADER, &[0; 31])), [Code::NpyTrailing]);
    assert_eq!(codes(&file(1, "{'descr': '<i4'}", &[0; 24])), [Code::NpyHeader]);
    assert_eq!(codes(&file(1, &HEADER.replace("<i4", "<f8"), &[0; 48])), [Code::NpyDtype]);
    assert_eq!(shape("(1, 1, 1, 1, 1)"), [Code::NpyShape]);
    // Types without a byte order are read, one dimension has no order.
    assert_eq!(codes(&file(1, &HEADER.replace("<i4", "|i4"), &[0; 24])), []);
    assert_eq!(codes(&file(1, &HEADER.replace("False", "True").replace("(2, 3)", "(6,)"), &[0; 24])), []);
    assert_eq!(shape("()"), [Code::NpyTrailing]);
    assert_eq!(shape("(0, 5)"), [Code::NpyTrailing]);
    assert_eq!(shape("(6,)"), []);
}

#[test]
fn headers_that_lie_cost_nothing() {
    let started = Instant::now();
    // 2^64 and a little more: a product that wraps to few bytes.
    assert_eq!(shape("(4294967296, 4294967296)"), [Code::NpyShape]);
    assert_eq!(shape("(4611686018427387905,)"), [Code::NpyShape]);
    assert_eq!(shape("(9223372036854775808, 9223372036854775808, 0)"), [Code::NpyShape]);
    assert_eq!(shape("(18446744073709551615, 18446744073709551615, 0)"), [Code::NpyShape]);
    assert_eq!(shape("(4611686018427387903,)"), [Code::NpyTruncated]);
    assert_eq!(shape("(4294967296, 1073741823)"), [Code::NpyTruncated]);
    assert_eq!(codes(&file(1, &"[".repeat(60), &[])), [Code::NpyHeader]);
    assert_eq!(codes(&file(1, &"{".repeat(9_999), &[])), [Code::NpyHeader]);
    assert_eq!(codes(&file(1, &format!("{{'descr': {}", "(".repeat(900)), &[])), [Code::NpyHeader]);
    assert_eq!(codes(b"\x93NUMPY\x02\x00\xff\xff\xff\xff"), [Code::NpyHeader]);
    assert_eq!(codes(b"\x93NUMPY\x03\x00\x10\x27\x00\x00"), [Code::NpyHeader]);
    assert_eq!(codes(b"\x93NUMPY\x01\x00\x0f\x27{}"), [Code::NpyCut]);
    assert_eq!(shape(&format!("({})", "1, ".repeat(3000))), [Code::NpyShape]);
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
}

#[test]
fn every_cut_is_seen_and_read_as_far_as_it_goes() {
    let data: Vec<u8> = (1..=6i32).flat_map(i32::to_le_bytes).collect();
    let bytes = file(1, HEADER, &data);
    for end in 0..bytes.len() {
        let cut = &bytes[..end];
        let (npy, damage) = open(cut);
        assert_eq!(damage.len(), 1, "{end}");
        assert!(damage[0].span.end <= end as u64);
        let there = (end + 24).checked_sub(bytes.len());
        assert_eq!(npy.is_some(), there.is_some());
        let Some(npy) = npy else { continue };
        assert_eq!(damage[0].code, Code::NpyTruncated);
        assert_eq!(npy.there(), there.unwrap() as u64 / 4);
        let mut buffer = Vec::new();
        npy.read(cut, 0, u64::MAX, &mut buffer).unwrap();
        assert!(npy.integers(&buffer).eq((1..=6).take(there.unwrap() / 4)));
        npy.read(cut, u64::MAX, u64::MAX, &mut buffer).unwrap();
        assert!(buffer.is_empty());
    }
}

#[test]
fn indices_are_those_of_the_place() {
    for fortran in [false, true] {
        let npy = Npy { fortran, ..Npy::new(Dtype::I16, &[3, 4, 5]) };
        for place in 0..60 {
            assert_eq!(npy.place(&npy.indices(place).unwrap()[..3]), Some(place));
        }
        assert_eq!(npy.indices(60), None);
    }
}
