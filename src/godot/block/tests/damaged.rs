//! Every damage that a block can have, at the byte where it is, and that the rest is read all the same.

use super::*;

/// Codes and spans of a block's damage.
fn found(damage: &[Damage]) -> Vec<(Code, Span)> {
    damage.iter().map(|d| (d.code, d.span)).collect()
}

/// Reads [`uniform`] with one byte changed.
fn changed(at: usize, to: u8) -> Vec<u8> {
    let mut bytes = uniform(4, &[&EPILOGUE_BYTES]);
    bytes[at] = to;
    bytes
}

/// A v4 block whose metadata, with its size in front, is `metadata`.
fn with_metadata(metadata: &[u8]) -> Vec<u8> {
    uniform(4, &[metadata, &EPILOGUE_BYTES])
}

#[test]
fn block_version() {
    for first in [5, 0x0d, 0xff] {
        let bytes = changed(0, first);
        let (block, damage) = read(&bytes);
        assert_eq!(found(&damage), [(Code::BlockVersion, Span::new(0, 1))]);
        assert_eq!((damage[0].expected, damage[0].found), (Value::Range(1, 4), Value::Hex8(first)));
        assert_eq!((block.version, block.channels.len(), block.metadata), (0, 0, None));
        // That it ends like a block is worth knowing.
        assert_eq!(block.epilogue, Some(Span::new(23, 27)));
    }
}

#[test]
fn block_header_cut() {
    let whole = uniform(4, &[&EPILOGUE_BYTES]);
    for (len, at) in [(0, 0), (1, 1), (2, 1), (3, 3), (4, 3), (5, 5), (6, 5)] {
        let (block, damage) = read(&whole[..len]);
        assert_eq!(found(&damage), [(Code::BlockHeaderCut, Span::new(at, len as u64))], "{len} bytes");
        assert_eq!((block.version, block.size), (if len == 0 { 0 } else { 4 }, [0; 3]));
        assert_eq!((block.channels.len(), block.epilogue), (0, None));
    }
}

#[test]
fn version_1_without_a_layout() {
    let bytes = [all_kinds(1), EPILOGUE_BYTES.to_vec()].concat();
    let (block, damage) = read(&bytes);
    assert_eq!(found(&damage), [(Code::RegionFormatUnknown, Span::new(0, 0))]);
    assert_eq!((block.version, block.channels.len(), block.epilogue), (1, 0, Some(Span::new(113, 117))));
}

#[test]
fn block_size_zero() {
    for axis in [1, 3, 5] {
        let bytes = changed(axis, 0);
        let (block, damage) = read(&bytes);
        assert_eq!(found(&damage), [(Code::BlockSizeZero, Span::new(1, 7))]);
        assert_eq!((block.version, block.channels.len(), block.volume()), (4, 0, 0));
    }
    // Version 1 has no bytes that say it.
    let layout = BlockLayout { size: [0, 1, 1], depths: [Depth::Bits8; CHANNELS] };
    let (block, damage) = read_in(&[1, 0], Some(&layout));
    assert_eq!(found(&damage), [(Code::BlockSizeZero, Span::new(0, 0))]);
    assert_eq!((block.version, block.channels.len()), (1, 0));
}

#[test]
fn block_size_of_another_region() {
    let bytes = [all_kinds(4), EPILOGUE_BYTES.to_vec()].concat();
    let layout = BlockLayout { size: [16; 3], ..LAYOUT };
    let (block, damage) = read_in(&bytes, Some(&layout));
    assert_eq!(found(&damage), [(Code::BlockSize, Span::new(1, 7))]);
    assert_eq!((damage[0].expected, damage[0].found), (Value::Triple([16; 3]), Value::Triple([1, 2, 3])));
    check_all_kinds(&block);
}

#[test]
fn block_depth_of_another_region() {
    let bytes = [all_kinds(4), EPILOGUE_BYTES.to_vec()].concat();
    let mut layout = LAYOUT;
    layout.depths.swap(1, 6);
    let (block, damage) = read_in(&bytes, Some(&layout));
    // The format bytes of SDF and DATA6.
    assert_eq!(found(&damage), [(Code::BlockDepth, Span::new(14, 15)), (Code::BlockDepth, Span::new(106, 107))]);
    assert_eq!((damage[0].expected, damage[0].found), (Value::Words("32 bit"), Value::Words("16 bit")));
    assert_eq!(damage[0].code.level(), Level::Warning);
    check_all_kinds(&block);
    assert_eq!(block.epilogue, Some(Span::new(120, 124)));
}

#[test]
fn channel_storage() {
    for (channel, format) in [(0, 2), (3, 0x1f), (7, 0xf2)] {
        let at = 7 + 2 * channel;
        let bytes = changed(at, format);
        let (block, damage) = read(&bytes);
        assert_eq!(found(&damage), [(Code::ChannelStorage, Span::sized(at as u64, 1))]);
        assert_eq!(damage[0].found, Value::Hex8(format));
        assert_eq!((block.channels.len(), block.whole_channels()), (channel, channel));
        for i in 0..channel {
            assert_eq!(block.voxel(i, [2, 1, 0]), Some(10 + i as u64));
        }
        assert_eq!(block.epilogue, Some(Span::new(23, 27)));
    }
    // Version 1: the whole byte is the storage.
    let mut bytes = all_kinds(1);
    bytes[7] = 0x10;
    let (block, damage) = read_in(&bytes, Some(&LAYOUT));
    assert_eq!(found(&damage), [(Code::ChannelStorage, Span::new(7, 8))]);
    assert_eq!((block.channels[0].data, block.channels.len(), block.epilogue), (CONTENT[0], 1, None));
}

#[test]
fn channel_depth() {
    for (channel, format) in [(0, 0x40), (5, 0xf1)] {
        let at = 7 + 2 * channel;
        let bytes = changed(at, format);
        let (block, damage) = read(&bytes);
        assert_eq!(found(&damage), [(Code::ChannelDepth, Span::sized(at as u64, 1))]);
        assert_eq!(damage[0].found, Value::Hex8(format));
        assert_eq!((block.channels.len(), block.whole_channels()), (channel, channel));
    }
}

#[test]
fn channel_cut() {
    let whole = all_kinds(4);
    // Before the format byte of SDF, after it, and inside the second value of it.
    for (len, at, there) in [(14, 14, 1), (15, 15, 2), (18, 15, 2)] {
        let (block, damage) = read(&whole[..len]);
        assert_eq!(found(&damage), [(Code::ChannelCut, Span::new(at, len as u64))], "{len} bytes");
        assert_eq!((block.channels.len(), block.whole_channels()), (there, 1));
        assert_eq!(block.voxel(0, [0, 1, 2]), Some(0x15));
        // Voxels that are there in full are shown.
        assert_eq!(block.voxel(1, [0, 0, 0]), (len == 18).then_some(0x8000));
        assert_eq!(block.voxel(1, [0, 1, 0]), None);
    }
    let (block, damage) = read(&whole[..18]);
    assert_eq!((damage[0].expected, damage[0].found), (Value::Bytes(12), Value::Bytes(3)));
    assert_eq!(block.channels[1].values().collect::<Vec<_>>(), [0x8000]);
    // A uniform value too.
    let (block, damage) = read(&whole[..119]);
    assert_eq!(found(&damage), [(Code::ChannelCut, Span::new(112, 119))]);
    assert_eq!((block.whole_channels(), block.voxel(7, [0; 3])), (7, None));
}

#[test]
fn block_epilogue() {
    for at in 23..27 {
        let bytes = changed(at, 0x77);
        let (block, damage) = read(&bytes);
        assert_eq!(found(&damage), [(Code::BlockEpilogue, Span::new(23, 27))]);
        assert_eq!(damage[0].expected, Value::Hex32(0x900d_f00d));
        assert_eq!((block.whole_channels(), block.epilogue), (8, None));
    }
    let bytes = uniform(4, &[&[1, 2, 3, 4]]);
    assert_eq!(read(&bytes).1[0].found, Value::Hex32(0x0403_0201));
}

#[test]
fn block_epilogue_missing() {
    let whole = uniform(4, &[&EPILOGUE_BYTES]);
    for len in 23..27 {
        let (block, damage) = read(&whole[..len]);
        assert_eq!(found(&damage), [(Code::BlockEpilogueMissing, Span::new(23, len as u64))]);
        assert_eq!((block.whole_channels(), block.metadata, block.epilogue), (8, None, None));
    }
}

#[test]
fn metadata_size_cut() {
    for len in 1..4 {
        let bytes = with_metadata(&[7; 3][..len]);
        let (block, damage) = read(&bytes);
        assert_eq!(found(&damage), [(Code::MetadataCut, Span::sized(23, len as u64))]);
        let metadata = block.metadata.as_ref().unwrap();
        assert_eq!((metadata.block.as_ref(), metadata.unread), (None, (23, &bytes[23..23 + len])));
        assert_eq!((block.whole_channels(), block.epilogue.is_some()), (8, true));
    }
}

#[test]
fn metadata_cut() {
    // Damage, where what is not read begins, and how many voxels are read.
    for (metadata, at, end, unread, voxels) in [
        // Not even the block's item.
        (&[0, 0, 0, 0][..], 27, 27, 27, 0),
        // Its number is short.
        (&[8, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7], 28, 35, 27, 0),
        // A position is short.
        (&[10, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 9, 9], 35, 37, 35, 1),
        // A voxel's item is missing.
        (&[7, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0], 34, 34, 28, 0),
    ] {
        let bytes = with_metadata(metadata);
        let (block, damage) = read(&bytes);
        assert_eq!(found(&damage), [(Code::MetadataCut, Span::new(at, end))], "{metadata:?}");
        let read = block.metadata.as_ref().unwrap();
        assert_eq!(read.voxels.len(), voxels, "{metadata:?}");
        assert_eq!(read.unread, (unread, &bytes[unread as usize..end as usize]));
        assert_eq!((block.whole_channels(), block.epilogue.is_some()), (8, true));
    }
}

#[test]
fn a_variant_cut_by_the_size_of_the_metadata() {
    // The size ends inside the Variant, whose last bytes are there all the same.
    let bytes = with_metadata(&[7, 0, 0, 0, 32, 1, 0, 0, 0, 1, 0, 0, 0]);
    let (block, damage) = read(&bytes);
    assert_eq!(found(&damage), [(Code::VariantCut, Span::new(32, 34)), (Code::MetadataTrailing, Span::new(34, 36))]);
    assert_eq!(block.metadata.unwrap().block, None);
    assert!(block.epilogue.is_some());
}

#[test]
fn metadata_size() {
    // 100 bytes declared, nine there: they are read.
    let bytes = with_metadata(&[100, 0, 0, 0, 1, 8, 7, 6, 5, 4, 3, 2, 1]);
    let (block, damage) = read(&bytes);
    assert_eq!(found(&damage), [(Code::MetadataSize, Span::new(23, 27))]);
    assert_eq!((damage[0].expected, damage[0].found), (Value::AtMost(9), Value::Number(100)));
    let metadata = block.metadata.unwrap();
    assert_eq!((metadata.declared, metadata.block), (100, Some(Item::Number(0x0102_0304_0506_0708))));
    assert!(block.epilogue.is_some());
    let bytes = with_metadata(&[255, 255, 255, 255, 0]);
    let (block, damage) = read(&bytes);
    assert_eq!(found(&damage), [(Code::MetadataSize, Span::new(23, 27))]);
    assert_eq!((block.whole_channels(), block.metadata.unwrap().block), (8, Some(Item::Empty)));
}

#[test]
fn metadata_type() {
    for kind in [2, 17, 31] {
        // After an item that can be read.
        let bytes = with_metadata(&[10, 0, 0, 0, 0, 2, 0, 1, 0, 0, 0, kind, 5, 5]);
        let (block, damage) = read(&bytes);
        assert_eq!(found(&damage), [(Code::MetadataType, Span::new(34, 35))]);
        assert_eq!(damage[0].found, Value::Number(u64::from(kind)));
        let metadata = block.metadata.unwrap();
        assert_eq!((metadata.block, metadata.voxels.len()), (Some(Item::Empty), 0));
        assert_eq!(metadata.unread, (28, &bytes[28..37]));
        assert!(block.epilogue.is_some());
    }
}

#[test]
fn metadata_custom_after_what_can_be_read() {
    let bytes = with_metadata(&[11, 0, 0, 0, 0, 2, 0, 1, 0, 0, 0, 33, 1, 2, 3]);
    let (block, damage) = read(&bytes);
    assert_eq!(found(&damage), [(Code::MetadataCustom, Span::new(34, 38))]);
    let metadata = block.metadata.unwrap();
    let item = Item::Custom { kind: 33, bytes: &[1, 2, 3] };
    assert_eq!(metadata.voxels, [VoxelItem { position: [2, 1, 0], item, span: Span::new(28, 38) }]);
}

#[test]
fn metadata_position_is_reported_and_its_item_read() {
    // The block is 3 x 2 x 1: (3, 0, 0), (0, 2, 0) and (0, 0, 1) are outside, (2, 1, 0) is the last voxel.
    for outside in [[3, 0, 0], [0, 2, 0], [0, 0, 1], [255, 255, 255]] {
        let [x, y, z] = outside;
        let bytes = with_metadata(&[23, 0, 0, 0, 0, x, 0, y, 0, z, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0, 0, 0, 0]);
        let (block, damage) = read(&bytes);
        assert_eq!(found(&damage), [(Code::MetadataPosition, Span::new(28, 34))]);
        assert_eq!(damage[0].found, Value::triple(outside));
        let voxels = block.metadata.unwrap().voxels;
        let position = outside.map(u16::from);
        assert_eq!(voxels[0], VoxelItem { position, item: Item::Number(1), span: Span::new(28, 43) });
        // What follows is read as what it is.
        assert_eq!(voxels[1], VoxelItem { position: [2, 1, 0], item: Item::Empty, span: Span::new(43, 50) });
        assert_eq!(voxels.len(), 2);
    }
}

#[test]
fn metadata_trailing() {
    let bytes = with_metadata(&[1, 0, 0, 0, 0, 1, 2, 3]);
    let (block, damage) = read(&bytes);
    assert_eq!(found(&damage), [(Code::MetadataTrailing, Span::new(28, 31))]);
    assert_eq!(damage[0].found, Value::Bytes(3));
    assert_eq!(block.metadata.unwrap().block, Some(Item::Empty));
    assert_eq!(block.epilogue, Some(Span::new(31, 35)));
}

#[test]
fn damaged_metadata_and_a_wrong_epilogue_are_both_reported() {
    let mut bytes = with_metadata(&[1, 0, 0, 0, 31]);
    *bytes.last_mut().unwrap() = 0;
    let (block, damage) = read(&bytes);
    assert_eq!(found(&damage), [(Code::MetadataType, Span::new(27, 28)), (Code::BlockEpilogue, Span::new(28, 32))]);
    assert_eq!((block.whole_channels(), block.epilogue), (8, None));
}

#[test]
fn items_without_end_are_capped() {
    let mut metadata = vec![0, 0, 0, 0, 0];
    metadata.extend([0; 7].repeat(50));
    metadata[..2].copy_from_slice(&351u16.to_le_bytes());
    let bytes = with_metadata(&metadata);
    let limits = Limits { variant_values: 10, ..Limits::DEFAULT };
    let mut damage = Vec::new();
    let block = decode(&bytes, None, None, &limits).report_to(&mut damage);
    assert_eq!(found(&damage), [(Code::OverLimit, Span::sized(28 + 70, 0))]);
    assert_eq!(damage[0].space, Space::Block);
    assert_eq!(block.metadata.unwrap().voxels.len(), 10);
}

#[test]
fn a_variant_nested_deep_is_refused_and_not_followed() {
    // 100,000 arrays of one array.
    let mut items = vec![32];
    items.extend([28, 0, 0, 0, 1, 0, 0, 0].repeat(100_000));
    let mut metadata = u32::try_from(items.len()).unwrap().to_le_bytes().to_vec();
    metadata.extend(items);
    let bytes = with_metadata(&metadata);
    let (block, damage) = read(&bytes);
    assert_eq!(damage.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::VariantDepth]);
    assert_eq!((block.whole_channels(), block.epilogue.is_some()), (8, true));
}

/// A block with everything in it, cut at every length.
#[test]
fn a_cut_anywhere_leaves_what_is_before_it() {
    // Bare Variants before version 4: an int, and one for voxel (0, 1, 2).
    let before_4 = [22, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0, 0, 0, 1, 0, 2, 0, 2, 0, 0, 0, 6, 0, 0, 0];
    // Version 4: a number, the int for voxel (0, 1, 2), and an empty item for (0, 0, 1).
    #[rustfmt::skip]
    let of_4 = [
        31, 0, 0, 0, 1, 8, 7, 6, 5, 4, 3, 2, 1,
        0, 0, 1, 0, 2, 0, 32, 2, 0, 0, 0, 5, 0, 0, 0,
        0, 0, 0, 0, 1, 0, 0,
    ];
    for version in 1..=4 {
        let metadata = if version < 4 { &before_4[..] } else { &of_4[..] };
        let whole = [&all_kinds(version)[..], metadata, &EPILOGUE_BYTES].concat();
        let (original, damage) = read_in(&whole, Some(&LAYOUT));
        assert_eq!(damage, [], "version {version}");
        assert_eq!(original.metadata.as_ref().unwrap().voxels.len(), if version < 4 { 1 } else { 2 });
        for len in 0..whole.len() {
            let (block, damage) = read_in(&whole[..len], Some(&LAYOUT));
            assert!(!damage.is_empty(), "version {version}, {len} bytes");
            assert_eq!(block.epilogue, None);
            let n = block.whole_channels();
            assert_eq!(block.channels[..n], original.channels[..n], "version {version}, {len} bytes");
            let reached = original.channels.iter().filter(|c| c.offset + c.size <= len as u64).count();
            assert_eq!(n, reached, "version {version}, {len} bytes");
            for partial in &block.channels[n..] {
                let full = &original.channels[n];
                assert!(full.data.starts_with(partial.data));
                let values: Vec<u64> = partial.values().collect();
                assert_eq!(full.values().take(values.len()).collect::<Vec<_>>(), values);
            }
        }
    }
}
