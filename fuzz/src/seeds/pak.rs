use voxscope::pak::BLOCK_BYTES;
use voxscope::pak::build::Builder;
use voxscope::pak::offset::Reading;
use voxscope::pak::payload::encode;

use super::{Seeds, Set, cut, joined, noise, patched};
use crate::oracles::pak::PAGE;

const TAG: [u8; 4] = *b"~pak";

/// Two materials, one above the other.
fn plain(len: usize) -> Vec<u8> {
    (0..len).map(|i| if i < len / 2 { 1 } else { 0 }).collect()
}

fn built(version: i32, records: u32, reading: Reading, streams: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut builder = Builder::new(TAG, version, records, reading);
    for (number, stream) in streams {
        assert!(builder.push_stored(*number, stream).is_some(), "record {number} cannot be written");
    }
    squeezed(&builder.finish())
}

/// The beginnings of all blocks: what [`crate::oracles::pak`] spreads again.
fn squeezed(file: &[u8]) -> Vec<u8> {
    file.chunks(BLOCK_BYTES as usize).flat_map(|block| &block[..block.len().min(PAGE)]).copied().collect()
}

fn small(streams: &[(u32, Vec<u8>)]) -> Vec<u8> {
    built(7, 4, Reading::Blocks, streams)
}

fn record(file: &[u8], number: usize, offset: i16, blocks: i16, length: i32) -> Vec<u8> {
    let bytes = [&offset.to_le_bytes()[..], &blocks.to_le_bytes(), &length.to_le_bytes()].concat();
    patched(file, 16 + number * 8, &bytes)
}

pub(super) fn seeds() -> Seeds {
    let mut set = Set::default();
    let stream = encode(&plain(32_768));
    let len = i32::try_from(stream.len()).unwrap_or(0);
    let two = [(0, stream.clone()), (2, stream.clone())];
    let healthy = small(&two);
    set.add("healthy", healthy.clone());
    set.add("empty_healthy", small(&[]));
    set.add("version_6_healthy", built(6, 4, Reading::Blocks, &two));
    set.add("in_bytes_healthy", built(7, 4, Reading::Bytes, &two));
    set.add("layer_healthy", built(7, 1024, Reading::Blocks, &[(0, stream.clone()), (13, stream.clone())]));
    set.add("layer_in_bytes_healthy", built(7, 1024, Reading::Bytes, &[(512, stream.clone())]));
    let column = encode(&plain(16 * 48 * 16));
    set.add("cube_of_records_healthy", built(6, 4096, Reading::Blocks, &[(0, column.clone()), (1024, column)]));
    for bytes in [1, 2] {
        set.add(format!("voxels_of_{bytes}_healthy"), small(&[(1, encode(&plain(32_768 * bytes)))]));
    }
    set.add("another_order_healthy", small(&[(3, stream.clone()), (1, stream.clone())]));
    set.add("last_block_not_padded_healthy", cut(&healthy, PAGE - stream.len()));
    let raw = joined(&[b"pak\0", &healthy[4..PAGE], &[0; 4096 - PAGE][..]].concat(), &stream);
    set.add("not_spread_healthy", record(&record(&raw, 2, -1, 0, 0), 0, 0, 1, len));
    let bomb = encode(&vec![0; 300_000]);
    let one = record(&record(&raw[..4096], 2, -1, 0, 0), 0, 0, 1, i32::try_from(bomb.len()).unwrap_or(0));
    set.add("bomb", joined(&one, &bomb));
    set.add("bomb_in_every_record", joined(&patched(&one, 16, &one[16..24].repeat(4)), &bomb));
    header(&mut set, &healthy);
    records(&mut set, &healthy, len);
    streams(&mut set, &stream);
    set.0
}

fn header(set: &mut Set, healthy: &[u8]) {
    let mut add = |name: &str, bytes: Vec<u8>| set.add(format!("header_{name}"), bytes);
    add("no_bytes", vec![]);
    add("cut", healthy[..15].to_vec());
    add("and_nothing_else", healthy[..16].to_vec());
    add("records_cut", healthy[..30].to_vec());
    add("version_0", patched(healthy, 4, &[0]));
    add("version_negative", patched(healthy, 4, &[0xff; 4]));
    add("records_0", patched(healthy, 8, &[0]));
    add("records_negative", patched(healthy, 8, &[0xff; 4]));
    add("records_2_31", patched(healthy, 8, &[0xff, 0xff, 0xff, 0x7f]));
    add("records_32768", patched(healthy, 8, &[0, 0x80]));
    add("first_block_0", patched(healthy, 12, &[0]));
    add("first_block_2", patched(healthy, 12, &[2]));
    add("first_block_negative", patched(healthy, 12, &[0xff; 4]));
    add("first_block_far", patched(healthy, 12, &[0xff, 0xff, 0xff, 0x7f]));
}

fn records(set: &mut Set, healthy: &[u8], len: i32) {
    let mut add = |name: &str, bytes: Vec<u8>| set.add(format!("record_{name}"), bytes);
    add("offset_negative", record(healthy, 0, -2, 1, len));
    add("blocks_0", record(healthy, 0, 0, 0, len));
    add("blocks_negative", record(healthy, 0, 0, -1, len));
    add("blocks_2", record(healthy, 0, 0, 2, len));
    add("length_0", record(healthy, 0, 0, 1, 0));
    add("length_negative", record(healthy, 0, 0, 1, i32::MIN));
    add("length_too_large", record(healthy, 0, 0, 1, 4097));
    add("length_one_less", record(healthy, 0, 0, 1, len - 1));
    add("length_one_more", record(healthy, 0, 0, 1, len + 1));
    add("beyond_end", record(healthy, 1, 32_767, 32_767, i32::MAX));
    add("half_beyond_end", record(healthy, 2, 1, 9, 30_000));
    add("same_blocks", record(healthy, 3, 0, 1, len));
    add("same_blocks_four_times", patched(healthy, 16, &healthy[16..24].repeat(4)));
    add("inside_another", record(&record(healthy, 1, 0, 2, len), 0, -1, 0, 0));
    add("swapped", record(&record(healthy, 0, 1, 1, len), 2, 0, 1, len));
    add("noise", patched(healthy, 16, &noise(32)));
}

fn streams(set: &mut Set, stream: &[u8]) {
    let mut add = |name: &str, stream: Vec<u8>| {
        assert!(stream.len() <= PAGE, "{name} is cut by squeezing");
        set.add(format!("stream_{name}"), small(&[(0, stream), (1, encode(&plain(32_768)))]));
    };
    add("cut", cut(stream, 9));
    add("checksum", patched(stream, stream.len() - 1, &[stream[stream.len() - 1] ^ 1]));
    add("trailing", joined(stream, b"more"));
    add("not_zlib", noise(60));
    add("noise_in_it", patched(stream, 20, &noise(10)));
    add("header", patched(stream, 0, &[0x78, 0x9d]));
    add("needs_dictionary", patched(stream, 0, &[0x78, 0xbb]));
    add("empty", encode(&[]));
    add("of_no_shape", encode(&plain(1000)));
    add("stored", encode(&noise(64)));
}
