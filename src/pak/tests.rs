//! Whole files: read as the program reads them, and by hand-written bytes.

use crate::bytes::{Span, index};
use crate::damage::{Code, Damage};
use crate::limits::Limits;
use crate::pak::build::Builder;
use crate::pak::chunk::{self, Given};
use crate::pak::header::Header;
use crate::pak::offset::{self, Reading};
use crate::pak::payload::Decoder;
use crate::pak::{place, record};

/// A file as it is read: the header, how its first block was read, its chunks by record, and all damage.
struct Read {
    reading: Reading,
    chunks: Vec<(u32, Vec<u8>)>,
    damage: Vec<Damage>,
}

fn read(file: &[u8]) -> Read {
    let len = file.len() as u64;
    let mut read = Read { reading: Reading::Blocks, chunks: vec![], damage: vec![] };
    let Some(header) = Header::decode(file, len).report_to(&mut read.damage) else { return read };
    let records = record::decode_prefix(&header, file);
    let reading = offset::infer(&header, &records, len);
    read.damage.extend(offset::note(&reading));
    read.reading = reading.value;
    let mut decoder = Decoder::default();
    for (i, record) in (0..).zip(records) {
        let Some(located) = record.locate(i, &header, reading.value, len, &mut read.damage) else { continue };
        let stored = &file[index(located.stored.start)..index(located.stored.end)];
        let mut damage = Vec::new();
        let payload = decoder.decode(stored, located.exact, &Limits::DEFAULT).report_to(&mut damage);
        read.damage.extend(damage.into_iter().map(|d| d.shifted(located.stored.start)));
        chunk::infer(payload.plain.len() as u64, payload.complete, Given::default()).report_to(&mut read.damage);
        read.chunks.push((i, payload.plain.to_vec()));
    }
    read
}

fn codes(read: &Read) -> Vec<Code> {
    read.damage.iter().map(|d| d.code).collect()
}

/// A chunk of one kind of voxel, and one with some noise.
fn voxels(seed: u32, len: u32) -> Vec<u8> {
    (0..len).map(|i| if i % 7 < 3 { seed as u8 } else { (i.wrapping_mul(seed) >> 13) as u8 & 3 }).collect()
}

/// Four records, the first two in use, by hand: block 1 holds record 1, block 2 record 0.
fn by_hand(first_block_offset: i32) -> Vec<u8> {
    let mut file = b"PAK0\x07\0\0\0\x04\0\0\0".to_vec();
    file.extend(first_block_offset.to_le_bytes());
    file.extend(b"\x01\0\x01\0\x14\0\0\0"); // block 1 of the data, one block, 20 bytes
    file.extend(b"\0\0\x01\0\x0f\0\0\0"); // block 0 of the data, one block, 15 bytes
    file.extend(b"\xff\xff\0\0\0\0\0\0"); // no chunk
    file.extend(b"\xff\xff\0\0\0\0\0\0");
    file.resize(4096, 0);
    file.extend(b"\x78\x01\x01\x04\0\xfb\xffRock\x03\xca\x01\x90"); // zlib, one stored block, Adler-32
    file.resize(8192, 0);
    file.extend(b"\x78\x01\x01\x09\0\xf6\xffabcabcabc\x11\x3d\x03\x73");
    file.resize(12_288, 0);
    file
}

#[test]
fn files_written_by_hand_in_both_readings() {
    for (first, reading) in [(1, Reading::Blocks), (4096, Reading::Bytes)] {
        let read = read(&by_hand(first));
        assert_eq!(read.reading, reading);
        assert_eq!(read.chunks, [(0, b"abcabcabc".to_vec()), (1, b"Rock".to_vec())]);
        // Neither is a chunk that anyone knows, and of bytes there is a note.
        let shapes = [Code::PakShape; 2];
        let note = (reading == Reading::Bytes).then_some(Code::PakOffsetReading);
        assert_eq!(codes(&read), note.into_iter().chain(shapes).collect::<Vec<_>>());
    }
}

#[test]
fn what_is_built_is_read_in_both_readings_and_versions() {
    for reading in Reading::ALL {
        for (version, records, bytes) in [(6, 4096, 4096), (7, 1024, 32_768), (7, 1024, 65_536), (7, 3, 8192)] {
            let mut builder = Builder::new(*b"ABCD", version, records, reading);
            let mut expected = Vec::new();
            for i in [records - 1, 0, 1].map(|i| i % records) {
                let plain = voxels(i + 1, bytes);
                builder.push(i, &plain).unwrap();
                expected.push((i, plain));
            }
            expected.sort();
            assert!(builder.push(records, &[]).is_none());
            let file = builder.finish();
            let read = read(&file);
            assert_eq!((read.reading, read.chunks == expected), (reading, true), "{version} {records}");
            let note = (reading == Reading::Bytes).then_some(Code::PakOffsetReading);
            assert_eq!(codes(&read), Vec::from_iter(note));
            assert_eq!(again(&file), file, "healthy bytes encode to themselves");
        }
    }
}

/// Decodes the header and the records of a healthy file and encodes them again.
fn again(file: &[u8]) -> Vec<u8> {
    let header = Header::decode(file, file.len() as u64).value.unwrap();
    let mut out = Vec::new();
    header.encode(&mut out);
    record::decode_prefix(&header, file).iter().for_each(|record| out.extend(record.encode()));
    out.extend(&file[out.len()..]);
    out
}

#[test]
fn a_region_of_today_has_its_data_in_block_three() {
    let mut builder = Builder::new([0; 4], 7, 1024, Reading::Blocks);
    let empty = builder.finish();
    assert_eq!((empty.len(), builder.header().first_block_offset), (12_288, 3));
    assert_eq!(codes(&read(&empty)), []);
    builder.push(33, &voxels(1, 32_768)).unwrap();
    assert_eq!(builder.records().iter().filter(|r| !r.is_absent()).count(), 1);
    assert_eq!(place::Grid::Layer.chunk([-1, 0, -1], 33), Some([-31, 0, -31]));
}

#[test]
fn the_builder_stops_where_records_cannot_name_a_block() {
    let mut builder = Builder::new([0; 4], 7, 4, Reading::Blocks);
    let large = vec![0; 32_767 * 4096];
    assert!(builder.push_stored(0, &large).is_some());
    let before = builder.clone();
    assert!(builder.push_stored(1, &[0; 4097]).is_some(), "the last block that a number of 16 bits names");
    assert!(builder.push_stored(2, b"x").is_none());
    assert!(before.records()[1].is_absent() && builder.records()[2].is_absent());
}

#[test]
fn a_cut_at_every_length_is_told_and_never_more_than_that() {
    let file = by_hand(1);
    let data_end = 8192 + 20;
    for len in (0..300).chain(4000..4300).chain(8100..file.len()) {
        let read = read(&file[..len]);
        let told = read.damage.iter().any(|d| d.code.level() == crate::damage::Level::Error);
        assert_eq!(told, len < data_end, "cut at {len}");
        for d in &read.damage {
            assert!(d.space == crate::damage::Space::Block || d.span.end <= len.max(48) as u64, "cut at {len}: {d}");
        }
    }
}

#[test]
fn damage_in_a_stream_is_told_where_it_is_in_the_file() {
    let mut file = by_hand(1);
    file[8192 + 19] ^= 1;
    let read = read(&file);
    let damage = read.damage.iter().find(|d| d.code == Code::PakZlibChecksum).unwrap();
    assert_eq!(damage.span, Span::new(8192 + 16, 8192 + 20));
    assert_eq!(
        damage.to_string(),
        "checksum of the chunk does not match its content (Adler-32 0x113d0372; the content has 0x113d0373)"
    );
    assert_eq!(read.chunks[0].1, b"abcabcabc");
}

#[test]
fn any_byte_of_the_header_may_be_anything() {
    let file = by_hand(1);
    for at in 0..48 {
        for byte in [0, 1, 2, 0x7f, 0x80, 0xfe, 0xff] {
            let mut file = file.clone();
            file[at] = byte;
            let read = read(&file);
            assert!(read.chunks.len() <= 1024, "nothing is made of a count");
            for d in &read.damage {
                let end = if d.space == crate::damage::Space::Block { u64::MAX } else { file.len() as u64 };
                assert!(d.span.end <= end, "{d}");
            }
        }
    }
}

#[test]
fn a_file_of_nothing_but_ones_or_zeros_is_told() {
    assert_eq!(codes(&read(&[])), [Code::PakHeaderCut]);
    for byte in [0, 0xff] {
        let read = read(&[byte; 20_000]);
        assert!(codes(&read).starts_with(&[Code::PakVersion, Code::PakRecordCount]));
        assert_eq!(read.chunks, []);
    }
}
