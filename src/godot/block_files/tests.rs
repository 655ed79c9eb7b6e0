//! Files written by hand from the engine's source.

use super::*;

const DEPTHS: [Depth; CHANNELS] =
    [Depth::Bits8, Depth::Bits16, Depth::Bits8, Depth::Bits8, Depth::Bits8, Depth::Bits8, Depth::Bits8, Depth::Bits64];

const META: &[u8] = b"VXBM\x01\x02\x04\x00\x01\x00\x00\x00\x00\x00\x03";

fn damage_of(data: &[u8]) -> Vec<(&'static str, Span)> {
    let mut damage = Vec::new();
    let _ = Meta::decode(data).report_to(&mut damage);
    for d in &damage {
        assert_eq!(d.code, Code::BlockFilesMeta);
        assert!(Span::sized(0, len64(data)).contains(&d.span), "{d:?}");
    }
    damage.iter().map(|d| (d.field, d.span)).collect()
}

fn healthy(data: &[u8]) -> Meta {
    let mut damage = Vec::new();
    let meta = Meta::decode(data).report_to(&mut damage);
    assert_eq!(damage, [], "{data:?}");
    meta.unwrap()
}

#[test]
fn the_meta_file_of_2022_is_read_and_written() {
    let meta = healthy(META);
    assert_eq!(meta, Meta::new(2, 4, DEPTHS));
    assert_eq!(meta.encode(), META);
    let format = meta.format().unwrap();
    assert_eq!((format.block_size(), format.region_size), (16, [1; 3]));
}

#[test]
fn meta_files_of_2019_and_2020_have_channels_of_8_bits() {
    let without_depths = healthy(b"VXBM\x01\x01\x05");
    assert_eq!(without_depths, Meta::new(1, 5, [Depth::Bits8; CHANNELS]));
    let three_sizes = healthy(b"VXBM\x01\x03\x10\0\0\0\x10\0\0\0\x10\0\0\0");
    assert_eq!(three_sizes, Meta::new(3, 4, [Depth::Bits8; CHANNELS]));
}

#[test]
fn each_field_of_the_meta_file_is_checked() {
    assert_eq!(damage_of(b""), [("length", Span::new(0, 0))]);
    assert_eq!(damage_of(b"VXBM\x01"), [("length", Span::new(5, 5))]);
    assert_eq!(damage_of(b"VXBM\x01\x01"), [("length", Span::new(6, 6))]);
    assert_eq!(damage_of(b"VXRM\x01\x01\x04"), [("first four bytes", Span::new(0, 4))]);
    assert_eq!(damage_of(b"VXBM\x02\x01\x04"), [("version", Span::new(4, 5))]);
    assert_eq!(damage_of(b"VXBM\x01\x00\x04"), [("lod_count", Span::new(5, 6))]);
    assert_eq!(damage_of(b"VXBM\x01\x21\x04"), [("lod_count", Span::new(5, 6))]);
    assert_eq!(damage_of(b"VXBM\x01\x01\x09"), [("block_size_po2", Span::new(6, 7))]);
    assert_eq!(damage_of(b"VXBM\x01\x01\x04\0\0"), [("length", Span::new(7, 9))]);
    assert_eq!(damage_of(b"VXBM\x01\x01\x04\0\x04\0\0\0\0\0\0"), [("depth of a channel", Span::new(8, 9))]);
    assert_eq!(damage_of(b"VXBM\x01\x01\x04\0\0\0\0\0\0\0\0\0"), [("length", Span::new(15, 16))]);
    assert_eq!(damage_of(b"VXBM\x01\x01\x10\0\0\0\x10\0\0\0\x11\0\0\0"), [("block size", Span::new(6, 18))]);
    // A byte more than the longest form: its fields are those of the form of 2022.
    let long = b"VXBM\x01\x01\x05\0\0\0\0\0\0\0\0\0\0\0\x04";
    assert_eq!(damage_of(long), [("length", Span::new(15, 19))]);
    assert_eq!(Meta::decode(long).report_to(&mut Vec::new()).unwrap().block_size_po2, Some(5));
}

#[test]
fn a_block_is_the_one_sector_behind_the_size() {
    let file = encode_block_file(b"container").unwrap();
    assert_eq!(file, b"VXB_\x01\x09\0\0\0container");
    let format = healthy(META).format();
    let mut damage = Vec::new();
    let header = decode_block_file(&file, 18, format.as_ref()).report_to(&mut damage).unwrap();
    assert_eq!(damage, []);
    assert!(header.is_single_block());
    assert_eq!(header.sector_span(0, 1), Span::new(5, 18));
    assert_eq!((header.format.block_size(), header.format.depths), (16, DEPTHS));
}

#[test]
fn the_header_of_a_block_is_checked() {
    for (file, code, field) in [
        (&b""[..], Code::BlockFileHeader, "length"),
        (b"VXB_\x01\x09\0\0", Code::BlockFileHeader, "length"),
        (b"VXR_\x01\x09\0\0\0", Code::BlockFileHeader, "first four bytes"),
        (b"VXB_\x02\x09\0\0\0", Code::BlockFileHeader, "version"),
        (b"VXB_\x01\x01\0\0\0ab", Code::BlockFileTrailing, "bytes after the block"),
    ] {
        let mut damage = Vec::new();
        let header = decode_block_file(file, len64(file), None).report_to(&mut damage);
        assert_eq!(damage.iter().map(|d| (d.code, d.field)).collect::<Vec<_>>(), [(code, field)], "{file:?}");
        assert_eq!(header.is_some(), code == Code::BlockFileTrailing);
        assert!(!damage[0].to_string().contains("bytes of the block file is"), "{}", damage[0]);
    }
}

#[test]
fn names_have_a_sign_before_every_number() {
    for position in [[0, 0, 0], [0, -1, 12], [-2_147_483_648, 2_147_483_647, -7]] {
        let name = name_of(position);
        assert_eq!(parse_position(name.strip_suffix(".vxb").unwrap()), Some(position), "{name}");
    }
    assert_eq!(name_of([0, -1, 12]), "+0-1+12.vxb");
    for name in ["", "+0-1", "0-1+12", "+0-1+12+3", "+00-1+12", "-0+0+0", "+0 -1+12", "+0-1+12 (1)", "+2147483648+0+0"]
    {
        assert_eq!(parse_position(name), None, "{name}");
    }
}
