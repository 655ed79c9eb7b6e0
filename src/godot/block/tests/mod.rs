//! Blocks written byte by byte, as `docs/formats.md` describes them; none of them comes from the encoder.
#![allow(clippy::arithmetic_side_effects, clippy::as_conversions)]

mod damaged;
mod round_trip;

use super::*;
use crate::damage::{Level, Space};
use crate::godot::metadata::{Item, VoxelItem};
use crate::godot::variant::Variant;

/// What every block ends with.
const EPILOGUE_BYTES: [u8; 4] = [0x0d, 0xf0, 0x0d, 0x90];

/// What a block of 1 x 2 x 3 voxels holds in each channel: four raw ones and four uniform ones, one of each depth.
const CONTENT: [&[u8]; CHANNELS] = [
    // One value a voxel, in the order (0,0,0) (0,1,0) (0,0,1) (0,1,1) (0,0,2) (0,1,2).
    &[0x10, 0x11, 0x12, 0x13, 0x14, 0x15],
    &[0x00, 0x80, 0x01, 0x80, 0x02, 0x80, 0x03, 0x80, 0x04, 0x80, 0x05, 0x80],
    &[
        0x00, 0x00, 0x00, 0xc0, 0x01, 0x00, 0x00, 0xc0, 0x02, 0x00, 0x00, 0xc0, //
        0x03, 0x00, 0x00, 0xc0, 0x04, 0x00, 0x00, 0xc0, 0x05, 0x00, 0x00, 0xc0,
    ],
    &[
        0x00, 0, 0, 0, 0, 0, 0, 0xe0, 0x01, 0, 0, 0, 0, 0, 0, 0xe0, 0x02, 0, 0, 0, 0, 0, 0, 0xe0, //
        0x03, 0, 0, 0, 0, 0, 0, 0xe0, 0x04, 0, 0, 0, 0, 0, 0, 0xe0, 0x05, 0, 0, 0, 0, 0, 0, 0xe0,
    ],
    &[0xaa],
    &[0xaa, 0xbb],
    &[0xaa, 0xbb, 0xcc, 0xdd],
    &[0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0x00, 0x11],
];

/// The layout of the same block, without which version 1 cannot be read.
const LAYOUT: BlockLayout = BlockLayout {
    size: [1, 2, 3],
    depths: [
        Depth::Bits8,
        Depth::Bits16,
        Depth::Bits32,
        Depth::Bits64,
        Depth::Bits8,
        Depth::Bits16,
        Depth::Bits32,
        Depth::Bits64,
    ],
};

/// The block of [`CONTENT`] up to the end of its channels, which is byte 120 (113 in version 1).
fn all_kinds(version: u8) -> Vec<u8> {
    // Storage in the low half, depth in the high half; version 1 has the storage only, and no header.
    let formats = if version == 1 {
        [0x00, 0x00, 0x00, 0x00, 0x01, 0x01, 0x01, 0x01]
    } else {
        [0x00, 0x10, 0x20, 0x30, 0x01, 0x11, 0x21, 0x31]
    };
    let mut bytes = Vec::new();
    if version > 1 {
        bytes.extend([version, 1, 0, 2, 0, 3, 0]);
    }
    for (format, data) in formats.into_iter().zip(CONTENT) {
        bytes.push(format);
        bytes.extend(data);
    }
    bytes
}

/// A block of 3 x 2 x 1 voxels whose channels are all uniform, 8 bit; they end at byte 23. `rest` follows.
fn uniform(version: u8, rest: &[&[u8]]) -> Vec<u8> {
    let mut bytes = vec![version, 3, 0, 2, 0, 1, 0, 1, 10, 1, 11, 1, 12, 1, 13, 1, 14, 1, 15, 1, 16, 1, 17];
    bytes.extend(rest.concat());
    bytes
}

fn read_in<'a>(data: &'a [u8], layout: Option<&BlockLayout>) -> (Block<'a>, Vec<Damage>) {
    let mut damage = Vec::new();
    let block = decode(data, layout, None, &Limits::DEFAULT).report_to(&mut damage);
    for d in &damage {
        assert_eq!(d.space, Space::Block, "{d:?}");
        assert!(Span::sized(0, len64(data)).contains(&d.span), "{d:?}");
    }
    (block, damage)
}

fn read(data: &[u8]) -> (Block<'_>, Vec<Damage>) {
    read_in(data, None)
}

/// Reads a block that must be without any damage.
fn healthy(data: &[u8]) -> Block<'_> {
    let (block, damage) = read(data);
    assert_eq!(damage, []);
    assert_eq!(block.epilogue, Some(Span::sized(len64(data) - 4, 4)));
    block
}

fn written(block: &Block<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    encode(block, &mut out);
    out
}

/// Every voxel of every channel of [`CONTENT`].
fn check_all_kinds(block: &Block<'_>) {
    assert_eq!((block.size, block.volume(), block.whole_channels()), ([1, 2, 3], 6, 8));
    let mut order = 0;
    for z in 0..3 {
        for y in 0..2 {
            let raw = [0x10, 0x8000, 0xc000_0000, 0xe000_0000_0000_0000].map(|first: u64| first + order);
            let uniform = [0xaa, 0xbbaa, 0xddcc_bbaa, 0x1100_ffee_ddcc_bbaa];
            for (channel, value) in raw.into_iter().chain(uniform).enumerate() {
                assert_eq!(block.voxel(channel, [0, y, z]), Some(value), "channel {channel}, (0, {y}, {z})");
            }
            order += 1;
        }
    }
    for outside in [[1, 0, 0], [0, 2, 0], [0, 0, 3]] {
        assert_eq!(block.voxel(0, outside), None);
    }
    assert_eq!(block.voxel(8, [0; 3]), None);
    for (i, (channel, data)) in block.channels.iter().zip(CONTENT).enumerate() {
        assert_eq!(channel.depth, LAYOUT.depths[i]);
        assert_eq!(channel.storage, if i < 4 { Storage::Raw } else { Storage::Uniform });
        assert_eq!((channel.data, channel.size), (data, len64(data)));
    }
}

#[test]
fn versions_2_to_4_have_a_size_and_a_format_byte_for_each_channel() {
    for version in 2..=4 {
        let bytes = [all_kinds(version), EPILOGUE_BYTES.to_vec()].concat();
        let block = healthy(&bytes);
        assert_eq!((block.version, block.metadata.as_ref()), (version, None));
        check_all_kinds(&block);
        let offsets: Vec<u64> = block.channels.iter().map(|channel| channel.offset).collect();
        assert_eq!(offsets, [8, 15, 28, 53, 102, 104, 107, 112]);
        assert_eq!(written(&block), bytes);
    }
}

#[test]
fn version_1_has_no_header_and_takes_size_and_depths_from_its_region() {
    let bytes = [all_kinds(1), EPILOGUE_BYTES.to_vec()].concat();
    let (block, damage) = read_in(&bytes, Some(&LAYOUT));
    assert_eq!(damage, []);
    assert_eq!((block.version, block.epilogue), (1, Some(Span::new(113, 117))));
    check_all_kinds(&block);
    assert_eq!(block.channels[0].offset, 1);
    assert_eq!(written(&block), bytes);
}

#[test]
fn a_first_byte_of_0_or_1_is_the_storage_of_version_1() {
    for first in [0, 1] {
        let bytes = [&[first, 42][..], &[1, 0].repeat(7), &EPILOGUE_BYTES].concat();
        let layout = BlockLayout { size: [1; 3], depths: [Depth::Bits8; CHANNELS] };
        let (block, damage) = read_in(&bytes, Some(&layout));
        assert_eq!(damage, []);
        assert_eq!((block.version, block.voxel(0, [0; 3]), block.whole_channels()), (1, Some(42), 8));
    }
}

#[test]
fn sizes_are_16_bits_each_and_volumes_do_not_wrap() {
    // 2 x 256 x 1 in 8 bits, raw: 512 bytes.
    let mut bytes = vec![4, 2, 0, 0, 1, 1, 0, 0];
    bytes.extend((0..512).map(|i| (i % 251) as u8));
    bytes.extend([1, 0].repeat(7));
    bytes.extend(EPILOGUE_BYTES);
    let block = healthy(&bytes);
    assert_eq!(block.size, [2, 256, 1]);
    // y runs fastest: (1, 0, 0) is behind all of (0, y, 0).
    assert_eq!(block.voxel(0, [1, 0, 0]), Some(256 % 251));
    assert_eq!(block.voxel(0, [0, 255, 0]), Some(255 % 251));
    assert_eq!(written(&block), bytes);
    // 65,536 voxels a side would be 0 in 16 bits; 65,535 a side are 2^48 in 64 bits and 0x2ffff in 32.
    let huge = [4, 255, 255, 255, 255, 255, 255, 0x30, 1, 2, 3];
    let (block, damage) = read(&huge);
    assert_eq!(block.volume(), 65535 * 65535 * 65535);
    assert_eq!(block.channels[0].size, 65535 * 65535 * 65535 * 8);
    assert_eq!(damage.iter().map(|d| (d.code, d.span)).collect::<Vec<_>>(), [(Code::ChannelCut, Span::new(8, 11))]);
}

#[test]
fn metadata_of_version_4_is_tagged() {
    let items: [&[u8]; 5] = [
        // The block's item: empty.
        &[0],
        // (2, 1, 0): a number.
        &[2, 0, 1, 0, 0, 0, 1, 8, 7, 6, 5, 4, 3, 2, 1],
        // (0, 1, 0): a Variant, Vector3(1, 2, -1), which is type 9 in Godot 4.
        &[0, 0, 1, 0, 0, 0, 32, 9, 0, 0, 0, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0x80, 0xbf],
        // (1, 0, 0): empty.
        &[1, 0, 0, 0, 0, 0, 0],
        // (1, 1, 0): a Variant, true.
        &[1, 0, 1, 0, 0, 0, 32, 1, 0, 0, 0, 1, 0, 0, 0],
    ];
    let items = items.concat();
    let bytes = uniform(4, &[&[u8::try_from(items.len()).unwrap(), 0, 0, 0], &items, &EPILOGUE_BYTES]);
    let block = healthy(&bytes);
    let metadata = block.metadata.as_ref().unwrap();
    assert_eq!((metadata.declared, metadata.dialect), (61, Dialect::Godot4));
    assert_eq!(metadata.block, Some(Item::Empty));
    let voxel = |position, item, start, end| VoxelItem { position, item, span: Span::new(start, end) };
    assert_eq!(
        metadata.voxels,
        [
            voxel([2, 1, 0], Item::Number(0x0102_0304_0506_0708), 28, 43),
            voxel([0, 1, 0], Item::Variant(Variant::vector3([1.0, 2.0, -1.0])), 43, 66),
            voxel([1, 0, 0], Item::Empty, 66, 73),
            voxel([1, 1, 0], Item::Variant(Variant::bool(true)), 73, 88),
        ]
    );
    assert_eq!(written(&block), bytes);
}

#[test]
fn metadata_of_the_application_is_kept_to_its_end_and_noted() {
    for kind in [33, 200, 255] {
        let bytes = uniform(4, &[&[9, 0, 0, 0, kind, 1, 2, 0, 0, 0, 0, 0, 32], &EPILOGUE_BYTES]);
        let (block, damage) = read(&bytes);
        assert_eq!(damage.len(), 1);
        assert_eq!((damage[0].code, damage[0].span), (Code::MetadataCustom, Span::new(27, 36)));
        assert_eq!(damage[0].code.level(), Level::Note);
        let metadata = block.metadata.as_ref().unwrap();
        assert_eq!(metadata.block, Some(Item::Custom { kind, bytes: &bytes[28..36] }));
        assert_eq!(metadata.voxels, []);
        assert_eq!(block.epilogue, Some(Span::new(36, 40)));
        assert_eq!(written(&block), bytes);
    }
}

#[test]
fn types_40_to_42_are_those_of_the_rust_port_where_all_of_them_fit() {
    let items: [&[u8]; 5] = [
        // The block's own: the text "hé".
        &[41, 3, 0, 0, 0, b'h', 0xc3, 0xa9],
        // (2, 1, 0): 0.5.
        &[2, 0, 1, 0, 0, 0, 40, 0, 0, 0, 0, 0, 0, 0xe0, 0x3f],
        // (0, 1, 0): the bytes 7, 40, 9.
        &[0, 0, 1, 0, 0, 0, 42, 3, 0, 0, 0, 7, 40, 9],
        // (1, 1, 0): a Variant, true.
        &[1, 0, 1, 0, 0, 0, 32, 1, 0, 0, 0, 1, 0, 0, 0],
        // (0, 0, 0): an item of the application up to the end.
        &[0, 0, 0, 0, 0, 0, 33, 5],
    ];
    let encoded = |items: &[u8]| uniform(4, &[&[u8::try_from(items.len()).unwrap(), 0, 0, 0], items, &EPILOGUE_BYTES]);
    let bytes = encoded(&items[..4].concat());
    let (block, damage) = read(&bytes);
    assert_eq!((damage.len(), damage[0].code, damage[0].span), (1, Code::MetadataPort, Span::new(27, 28)));
    assert_eq!(damage[0].code.level(), Level::Note);
    let metadata = block.metadata.as_ref().unwrap();
    assert_eq!(metadata.block, Some(Item::Text("h\u{e9}")));
    let voxels: Vec<_> = metadata.voxels.iter().map(|voxel| (voxel.position, voxel.item.clone())).collect();
    assert_eq!(
        voxels,
        [
            ([2, 1, 0], Item::Float(0.5f64.to_bits())),
            ([0, 1, 0], Item::Bytes(&[7, 40, 9])),
            ([1, 1, 0], Item::Variant(Variant::bool(true))),
        ]
    );
    assert_eq!(written(&block), bytes);
    // One of the application may follow them.
    let bytes = encoded(&items.concat());
    let (block, damage) = read(&bytes);
    let codes: Vec<Code> = damage.iter().map(|damage| damage.code).collect();
    assert_eq!(codes, [Code::MetadataPort, Code::MetadataCustom]);
    assert_eq!(block.metadata.as_ref().unwrap().voxels.len(), 4);
    assert_eq!(written(&block), bytes);
    // Bytes that do not fit are of the application: too short, no UTF-8, a rest that is no item, a voxel outside the block.
    let of_application: [&[u8]; 5] = [
        &[40, 1, 2, 3],
        &[41, 1, 0, 0, 0, 0xff],
        &[42, 9, 0, 0, 0, 1],
        &[40, 1, 2, 3, 4, 5, 6, 7, 8, 9],
        &[40, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0, 0, 0],
    ];
    for item in of_application {
        let bytes = encoded(item);
        let (block, damage) = read(&bytes);
        assert_eq!((damage.len(), damage[0].code), (1, Code::MetadataCustom), "{item:?}");
        assert_eq!(block.metadata.as_ref().unwrap().block, Some(Item::Custom { kind: item[0], bytes: &item[1..] }));
        assert_eq!(written(&block), bytes);
    }
}

/// No file of the engine with this version is known, so that these bytes stand for it: the header of version 4 with
/// a 3, and bare Variants of Godot 4 in the metadata.
#[test]
fn version_3_byte_by_byte() {
    #[rustfmt::skip]
    let bytes = [
        3,                                              // version
        2, 0, 1, 0, 2, 0,                               // 2 x 1 x 2 voxels
        0x00, 1, 2, 3, 4,                               // TYPE: raw, 8 bit
        0x10, 0xff, 0x7f, 0x01, 0x80, 0, 0, 0x00, 0x80, // SDF: raw, 16 bit: 500, -500, 0, less than -500
        0x21, 0x44, 0x33, 0x22, 0x11,                   // COLOR: uniform, 32 bit
        0x11, 0x10, 0x32,                               // INDICES: uniform, 16 bit
        0x11, 0x0f, 0x00,                               // WEIGHTS
        0x01, 9,                                        // DATA5: uniform, 8 bit
        0x31, 1, 0, 0, 0, 0, 0, 0, 0x80,                // DATA6: uniform, 64 bit
        0x01, 0,                                        // DATA7
        38, 0, 0, 0,                                    // size of the metadata
        2, 0, 0, 0, 7, 0, 0, 0,                         // the block's: int 7
        1, 0, 0, 0, 1, 0,                               // voxel (1, 0, 1):
        4, 0, 0, 0, 2, 0, 0, 0, b'h', b'i', 0, 0,       //   String "hi"
        0, 0, 0, 0, 1, 0,                               // voxel (0, 0, 1):
        25, 0, 0, 0,                                    //   Callable: type 25 of Godot 4; of Godot 3, an array of colours
        0, 0,                                           // and two bytes of a position
        0x0d, 0xf0, 0x0d, 0x90,
    ];
    // The last position is cut: everything before it is read.
    let (block, damage) = read(&bytes);
    assert_eq!(damage.iter().map(|d| (d.code, d.span)).collect::<Vec<_>>(), [(Code::MetadataCut, Span::new(85, 87))]);
    assert_eq!(block.metadata.as_ref().unwrap().voxels.len(), 2);
    // Without these two bytes it is whole.
    let mut bytes = bytes.to_vec();
    bytes.drain(85..87);
    bytes[45] = 36;
    let block = healthy(&bytes);
    assert_eq!((block.version, block.size), (3, [2, 1, 2]));
    // x before z.
    let at = |channel, [x, z]: [u16; 2]| block.voxel(channel, [x, 0, z]).unwrap();
    assert_eq!([[0, 0], [1, 0], [0, 1], [1, 1]].map(|p| at(0, p)), [1, 2, 3, 4]);
    let sdf = [[0, 0], [1, 0], [0, 1], [1, 1]].map(|p| crate::godot::channel::sdf(3, Depth::Bits16, at(1, p)));
    assert_eq!(sdf, [500.0, -500.0, 0.0, -500.0]);
    let uniform = [0x1122_3344, 0x3210, 15, 9, 0x8000_0000_0000_0001, 0];
    assert_eq!([2, 3, 4, 5, 6, 7].map(|channel| at(channel, [1, 1])), uniform);
    let metadata = block.metadata.as_ref().unwrap();
    assert_eq!((metadata.declared, metadata.dialect), (36, Dialect::Godot4));
    assert_eq!(metadata.block, Some(Item::Variant(Variant::int(7))));
    assert_eq!(
        metadata.voxels,
        [
            VoxelItem { position: [1, 0, 1], item: Item::Variant(Variant::string("hi")), span: Span::new(57, 75) },
            VoxelItem { position: [0, 0, 1], item: Item::Variant(Variant::Callable), span: Span::new(75, 85) },
        ]
    );
    assert_eq!(written(&block), bytes);
}

/// `Vector3(1, 2, -1)` under the type number `ty`.
fn vector(ty: u8) -> Vec<u8> {
    [&[ty, 0, 0, 0], &[0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0x80, 0xbf][..]].concat()
}

#[test]
fn metadata_of_versions_1_and_2_is_of_godot_3() {
    // Type 7 is Vector3 in Godot 3, Rect2 in Godot 4.
    let metadata = [&[16, 0, 0, 0][..], &vector(7), &EPILOGUE_BYTES].concat();
    let v2 = uniform(2, &[&metadata]);
    // Version 1 is the same without the header of seven bytes.
    let layout = BlockLayout { size: [3, 2, 1], depths: [Depth::Bits8; CHANNELS] };
    for bytes in [&v2[..], &v2[7..]] {
        let (block, damage) = read_in(bytes, Some(&layout));
        assert_eq!(damage, []);
        let metadata = block.metadata.as_ref().unwrap();
        assert_eq!(metadata.dialect, Dialect::Godot3);
        assert_eq!(metadata.block, Some(Item::Variant(Variant::vector3([1.0, 2.0, -1.0]))));
        assert_eq!(written(&block), bytes);
    }
}

#[test]
fn version_2_of_godot_4_is_told_by_the_reading_that_uses_up_the_size() {
    // Type 9 is Vector3 in Godot 4; in Godot 3 it is a Plane, which has four bytes more.
    let bytes = uniform(2, &[&[16, 0, 0, 0], &vector(9), &EPILOGUE_BYTES]);
    let (block, damage) = read(&bytes);
    assert_eq!(damage.len(), 1);
    assert_eq!((damage[0].code, damage[0].span), (Code::MetadataDialect, Span::new(27, 43)));
    assert_eq!(damage[0].code.level(), Level::Note);
    let metadata = block.metadata.as_ref().unwrap();
    assert_eq!(metadata.dialect, Dialect::Godot4);
    assert_eq!(metadata.block, Some(Item::Variant(Variant::vector3([1.0, 2.0, -1.0]))));
    assert_eq!(written(&block), bytes);
    // In version 1 the same bytes can only be of Godot 3, and cut.
    let layout = BlockLayout { size: [3, 2, 1], depths: [Depth::Bits8; CHANNELS] };
    let (block, damage) = read_in(&bytes[7..], Some(&layout));
    assert_eq!(damage.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::VariantCut]);
    assert_eq!(block.metadata.unwrap().block, None);
}

#[test]
fn the_reading_that_uses_up_the_size_wins_also_with_small_damage_in_it() {
    // A string that is no UTF-8 is read in both; the Vector3 behind it only in Godot 4.
    let string = [4, 0, 0, 0, 1, 0, 0, 0, 0xff, 0, 0, 0];
    let voxel = [&[0; 6][..], &vector(9)].concat();
    let bytes = uniform(2, &[&[34, 0, 0, 0], &string, &voxel, &EPILOGUE_BYTES]);
    let (block, damage) = read(&bytes);
    let codes: Vec<Code> = damage.iter().map(|d| d.code).collect();
    assert_eq!(codes, [Code::MetadataDialect, Code::VariantText]);
    let metadata = block.metadata.as_ref().unwrap();
    assert_eq!((metadata.dialect, metadata.voxels.len()), (Dialect::Godot4, 1));
    assert_eq!(written(&block), bytes);
}

#[test]
fn where_neither_dialect_holds_the_damage_is_that_of_godot_3() {
    // Type 40 is in neither.
    let bytes = uniform(2, &[&[4, 0, 0, 0, 40, 0, 0, 0], &EPILOGUE_BYTES]);
    let (block, damage) = read(&bytes);
    assert_eq!(damage.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::VariantType]);
    let metadata = block.metadata.unwrap();
    assert_eq!((metadata.dialect, metadata.block), (Dialect::Godot3, None));
    assert_eq!(metadata.unread, (27, &bytes[27..31]));
}

#[test]
fn a_dialect_that_is_given_is_taken() {
    // Sixteen bytes that both dialects read: Rect2 in Godot 4 (type 7) needs 16 bytes, Vector3 in Godot 3 needs 12.
    let bytes = uniform(2, &[&[20, 0, 0, 0], &vector(7), &[0, 0, 0, 0], &EPILOGUE_BYTES]);
    let mut damage = Vec::new();
    let block = decode(&bytes, None, Some(Dialect::Godot4), &Limits::DEFAULT).report_to(&mut damage);
    assert_eq!(damage, []);
    assert_eq!(
        block
            .metadata
            .unwrap()
            .block
            .map(|item| matches!(item, Item::Variant(v) if v.text(Dialect::Godot4) == "Rect2(1, 2, -1, 0)")),
        Some(true)
    );
    let block = decode(&bytes, None, Some(Dialect::Godot3), &Limits::DEFAULT).report_to(&mut damage);
    assert_eq!(damage.iter().map(|d| (d.code, d.span)).collect::<Vec<_>>(), [(Code::MetadataCut, Span::new(43, 47))]);
    assert_eq!(block.metadata.unwrap().block, Some(Item::Variant(Variant::vector3([1.0, 2.0, -1.0]))));
}

#[test]
fn what_is_missing_is_written_as_zeros() {
    let whole = uniform(4, &[&EPILOGUE_BYTES]);
    let mut block = healthy(&whole);
    block.channels.truncate(7);
    block.channels[6] = Channel { storage: Storage::Raw, data: &[5, 6], size: 6, ..block.channels[6] };
    let mut expected = whole[..19].to_vec();
    expected.extend([0, 5, 6, 0, 0, 0, 0, 1, 0]);
    expected.extend(EPILOGUE_BYTES);
    assert_eq!(written(&block), expected);
    let again = healthy(&expected);
    assert_eq!(
        (again.voxel(6, [0, 1, 0]), again.voxel(6, [1, 0, 0]), again.voxel(7, [0; 3])),
        (Some(6), Some(0), Some(0))
    );
}
