//! States of files: 10, 11, 12, 14, 15.

use std::fs;

use voxscope::damage::Code;
use voxscope::godot::channel::Depth;
use voxscope::godot::region::{Format, Header};
use voxscope::repair::{self, Action};
use voxscope::save::{Options, Save};

use super::world::{Land, REGION, all_codes, assert_right, blocks, codes, format, mend, meta, plain, put};

/// 10: an empty file, and one that ends in its header.
#[test]
fn files_with_nothing_in_them() {
    let land = Land::full();
    for (name, len, code) in
        [("empty", 0, Code::RegionEmpty), ("short", 12, Code::RegionHeaderCut), ("table", 90, Code::RegionTableCut)]
    {
        let source = land.write(name);
        let bytes = fs::read(source.join(REGION)).unwrap();
        fs::write(source.join(REGION), &bytes[..len]).unwrap();
        assert!(codes(&source).contains(&code), "{name}");
        let mended = plain(&source);
        assert!(mended.blocks.is_empty());
        assert_eq!(fs::read(mended.path.join("lost+found/files").join(REGION)).unwrap(), &bytes[..len]);
    }
}

/// 10, with a backup: its file takes the place.
#[test]
fn an_empty_file_with_a_backup() {
    let land = Land::full();
    let backup = land.write("backup");
    for (name, gone) in [("emptied", false), ("missing", true)] {
        let source = land.write(name);
        if gone {
            fs::remove_file(source.join(REGION)).unwrap();
        } else {
            fs::write(source.join(REGION), b"").unwrap();
        }
        let backup = Save::open(&backup, &Options::default()).unwrap();
        let options = repair::Options::default().backup(&backup);
        let mended = mend(&source, &options, &Options::default());
        assert_eq!(mended.blocks, land.truth, "{name}");
        assert_eq!(mended.plan.regions[0].action, Action::FromBackup);
    }
}

/// 10: exactly the header. Which setting the engine refused is said.
#[test]
fn a_header_and_nothing_else() {
    let land = Land::full();
    let cases = [
        (Format { sector_size: 16, block_size_po2: 5, ..format() }, "sector size"),
        (Format { sector_size: 2048, block_size_po2: 5, region_size: [128; 3], ..format() }, "region size"),
    ];
    for (k, (format, word)) in cases.into_iter().enumerate() {
        let source = land.write(&format!("refused{k}"));
        let mut header = Vec::new();
        Header::new(3, format).encode(&mut header).unwrap();
        put(&source.join(REGION), &header);
        put(&source.join("meta.vxrm"), &meta(&format, 3));
        let all = all_codes(&source);
        let said = all.iter().find(|(code, _)| *code == Code::RegionNeverStored).expect("nothing said");
        assert!(said.1.contains(word), "{}", said.1);
        assert!(plain(&source).blocks.is_empty());
    }
}

/// 11: a sector size of 65,536 in the meta file is 0 in the header.
#[test]
fn a_sector_size_that_does_not_fit() {
    let format = Format { sector_size: 1 << 16, ..format() };
    let land = Land::new(format, [0; 3], [2, 2, 2]);
    let source = land.write("world");
    let bytes = fs::read(source.join(REGION)).unwrap();
    assert_eq!(bytes[17..19], [0, 0], "the header has no sector size");
    assert!(codes(&source).contains(&Code::RegionSectorSize));
    let mended = plain(&source);
    assert_eq!(mended.blocks, land.truth);
}

/// 12: the meta file is missing, empty, or cut.
#[test]
fn a_meta_file_from_the_headers() {
    let land = Land::full();
    let right = meta(&format(), 3);
    for (name, bytes) in [("missing", None), ("empty", Some(&right[..0])), ("cut", Some(&right[..30]))] {
        let source = land.write(name);
        match bytes {
            None => fs::remove_file(source.join("meta.vxrm")).unwrap(),
            Some(bytes) => put(&source.join("meta.vxrm"), bytes),
        }
        assert!(codes(&source).iter().any(|c| matches!(c, Code::MetaMissing | Code::MetaUnreadable)), "{name}");
        let mended = plain(&source);
        assert_eq!(mended.blocks, land.truth);
        assert_eq!(fs::read(mended.path.join("meta.vxrm")).unwrap(), right, "{name}");
        assert!(!mended.plan.leaves_damage());
    }
}

/// A byte of a header is damaged, and the meta file, the table and the blocks say otherwise.
#[test]
fn a_header_that_the_rest_contradicts() {
    let land = Land::full();
    // The block size, the region size along x, the depth of TYPE, and the sector size.
    for (at, mask) in [(5, 1), (5, 2), (6, 0x10), (9, 1), (9, 2), (17, 2), (18, 1)] {
        let source = land.write(&format!("world-{at}-{mask}"));
        let mut bytes = fs::read(source.join(REGION)).unwrap();
        bytes[at] ^= mask;
        fs::write(source.join(REGION), &bytes).unwrap();
        assert_eq!(Vec::from_iter(codes(&source)), [Code::RegionLayout], "byte {at} ^ {mask}");
        assert_eq!(blocks(&source), land.truth, "byte {at} ^ {mask}: it is read as it was");
        let mended = plain(&source);
        assert_eq!(mended.blocks, land.truth, "byte {at} ^ {mask}");
        assert_eq!(fs::read(mended.path.join("meta.vxrm")).unwrap(), meta(&format(), 3), "byte {at} ^ {mask}");
    }
}

/// What happens to the bytes of a file.
type Change = Box<dyn Fn(&mut Vec<u8>)>;

/// Bytes were inserted between two blocks, before the header, and at two places.
#[test]
fn blocks_at_another_byte() {
    let land = Land::full();
    let healthy = fs::read(land.write("healthy").join(REGION)).unwrap();
    let mut starts: Vec<usize> = healthy[20..20 + 4 * 64]
        .chunks_exact(4)
        .map(|entry| u32::from_le_bytes(entry.try_into().unwrap()))
        .filter(|entry| *entry != 0)
        .map(|entry| 20 + 4 * 64 + (entry >> 8) as usize * usize::from(format().sector_size as u16))
        .collect();
    starts.sort_unstable();
    let third = starts[starts.len() / 3];
    let last = starts[starts.len() - 4];
    let insert = |at: usize, n: usize| move |bytes: &mut Vec<u8>| drop(bytes.splice(at..at, vec![0x5a; n]));
    let cases: [(&str, Change, usize); 5] = [
        ("one", Box::new(insert(third, 1)), 1),
        ("many", Box::new(insert(third, 5000)), 1),
        ("late", Box::new(insert(last, 7)), 1),
        ("header", Box::new(insert(0, 100)), 1),
        (
            "two",
            Box::new(move |bytes| {
                insert(last, 7)(bytes);
                insert(third, 3)(bytes);
            }),
            2,
        ),
    ];
    for (name, change, breaks) in cases {
        let source = land.write(name);
        let mut bytes = healthy.clone();
        change(&mut bytes);
        put(&source.join(REGION), &bytes);
        let codes: Vec<Code> = all_codes(&source).into_iter().map(|(code, _)| code).collect();
        assert_eq!(codes, vec![Code::RegionShifted; breaks], "{name}");
        assert_eq!(blocks(&source), land.truth, "{name}: it is read as it was");
        assert_eq!(plain(&source).blocks, land.truth, "{name}");
    }
}

/// Bytes were cut out of a block or put into one: it alone is lost.
#[test]
fn bytes_cut_out_of_a_block_or_put_into_one() {
    let land = Land::full();
    let healthy = fs::read(land.write("healthy").join(REGION)).unwrap();
    let first = 20 + 4 * 64 + 30;
    for (name, at, cut) in [
        ("cut", healthy.len() / 2, true),
        ("put", healthy.len() / 2, false),
        ("cut-first", first, true),
        ("put-first", first, false),
    ] {
        let source = land.write(name);
        let mut bytes = healthy.clone();
        if cut {
            drop(bytes.drain(at..at + 3));
        } else {
            drop(bytes.splice(at..at, *b"garbage"));
        }
        put(&source.join(REGION), &bytes);
        assert!(codes(&source).contains(&Code::RegionShifted), "{name}: {:?}", codes(&source));
        assert!(all_codes(&source).len() <= 5, "{name}: only one block is damaged: {:?}", all_codes(&source));
        assert!(plain(&source).blocks.len() + 1 >= land.truth.len(), "{name}");
    }
}

/// The meta file is wrong, and header and blocks agree.
#[test]
fn a_meta_file_that_the_blocks_contradict() {
    let land = Land::full();
    let mut wrong = format();
    wrong.depths[0] = Depth::Bits64;
    for (name, other) in [("depth", wrong), ("size", Format { block_size_po2: 2, ..format() })] {
        let source = land.write(name);
        put(&source.join("meta.vxrm"), &meta(&other, 3));
        assert_eq!(Vec::from_iter(codes(&source)), [Code::MetaDiffers], "{name}");
        let mended = plain(&source);
        assert_eq!(mended.blocks, land.truth, "{name}");
        assert_eq!(fs::read(mended.path.join("meta.vxrm")).unwrap(), meta(&format(), 3), "{name}");
    }
}

/// A region of version 2: five bytes of header, and the same table and sectors.
fn version_2(bytes: &[u8]) -> Vec<u8> {
    [b"VXR_\x02", &bytes[20..]].concat()
}

/// 12: regions of version 2 do not say what the meta file said; a backup's does.
#[test]
fn a_meta_file_from_the_backup() {
    let land = Land::full();
    let [source, backup] = ["world", "backup"].map(|name| {
        let dir = land.write(name);
        let bytes = version_2(&fs::read(dir.join(REGION)).unwrap());
        put(&dir.join(REGION), &bytes);
        put(&dir.join("meta.vxrm"), &meta(&format(), 2));
        dir
    });
    fs::remove_file(source.join("meta.vxrm")).unwrap();
    assert!(codes(&source).contains(&Code::RegionFormatUnknown));
    let backup_save = Save::open(&backup, &Options::default()).unwrap();
    let options = repair::Options::default().backup(&backup_save);
    let mended = mend(&source, &options, &Options::default());
    assert_eq!(mended.blocks, land.truth);
    assert_eq!(fs::read(mended.path.join("meta.vxrm")).unwrap(), meta(&format(), 2));
}

/// 12: no table is whole, but the headers before them are.
#[test]
fn a_meta_file_from_the_headers_of_files_that_are_cut_off() {
    let land = Land::full();
    let source = land.write("world");
    let bytes = fs::read(source.join(REGION)).unwrap();
    put(&source.join(REGION), &bytes[..50]);
    put(&source.join("meta.vxrm"), b"");
    let mended = plain(&source);
    assert_eq!(fs::read(mended.path.join("meta.vxrm")).unwrap(), meta(&format(), 3));
}

/// 12: one byte of the meta file is wrong, and regions of version 2 do not say what it said.
#[test]
fn a_meta_file_from_what_is_left_of_it() {
    let land = Land::full();
    let source = land.write("world");
    let bytes = version_2(&fs::read(source.join(REGION)).unwrap());
    put(&source.join(REGION), &bytes);
    let right = meta(&format(), 2);
    put(&source.join("meta.vxrm"), &[b"#", &right[1..]].concat());
    assert!(codes(&source).contains(&Code::MetaUnreadable));
    let mended = plain(&source);
    assert_eq!(mended.blocks, land.truth);
    assert_eq!(fs::read(mended.path.join("meta.vxrm")).unwrap(), right);
}

/// 12: the list of depths of the meta file is damaged, and so is the header of the region: the rest of the one, the table and
/// the blocks have all of it.
#[test]
fn a_meta_file_without_depths_and_a_header_without_sizes() {
    let land = Land::full();
    let right = meta(&format(), 3);
    let list = right.windows(14).position(|text| text == b"channel_depths").unwrap();
    for damaged in [5..20, 5..9, 0..20] {
        let source = land.write(&format!("world{}-{}", damaged.start, damaged.end));
        let mut bytes = fs::read(source.join(REGION)).unwrap();
        bytes[damaged.clone()].fill(0);
        put(&source.join(REGION), &bytes);
        let mut text = right.clone();
        text[list + 18..list + 22].copy_from_slice(&[0xff, 0xff, 0xff, 0x7f]);
        put(&source.join("meta.vxrm"), &text);
        assert!(codes(&source).contains(&Code::MetaUnreadable));
        let mended = plain(&source);
        assert_eq!(mended.blocks, land.truth, "{damaged:?}");
        assert_eq!(fs::read(mended.path.join("meta.vxrm")).unwrap(), right, "{damaged:?}");
    }
}

/// 14: the game was killed while it made room for the header of version 3.
#[test]
fn an_interrupted_migration() {
    let land = Land::full();
    let v3 = fs::read(land.write("old").join(REGION)).unwrap();
    let v2 = version_2(&v3);
    let sectors = 5 + 64 * 4;
    for (k, from) in [sectors + 1000, sectors + 64 * 7, sectors + 3, sectors].into_iter().enumerate() {
        let source = land.write(&format!("moving{k}"));
        put(&source.join("meta.vxrm"), &meta(&format(), 2));
        // Everything from there on stands 15 bytes further on; what was there still stands before it.
        let moved = [&v2[..from + 15], &v2[from..]].concat();
        put(&source.join(REGION), &moved);
        assert!(!codes(&source).is_empty());
        let mended = plain(&source);
        assert_right(&mended, &land.truth, &[]);
        assert_eq!(mended.blocks.len(), land.truth.len(), "moved from {from}");
    }
}

/// 15: a conversion was interrupted; the save as it was is beside it.
#[test]
fn an_interrupted_conversion() {
    let land = Land::full();
    let source = land.write("world");
    let old = land.write("world_old");
    put(&old.join("regions/lod0/r.1.0.0.vxr"), &fs::read(old.join(REGION)).unwrap());
    let all = all_codes(&source);
    let said = all.iter().find(|(code, _)| *code == Code::ConversionLeft).expect("nothing said");
    assert!(said.1.contains("world_old"), "{}", said.1);
    plain(&source);
}
