//! Pak regions.

use std::fs::{self, File};
use std::path::PathBuf;

use tempfile::TempDir;
use voxscope::pak;

use super::{every_command, finds, repairs, run, temp};

/// Header and records of a pak region, padded to whole blocks, with the first block counted in blocks.
fn pak_head(count: u32, record: impl Fn(u32) -> (i16, i16, i32)) -> Vec<u8> {
    let prefix = (16 + 8 * count).next_multiple_of(4096);
    let mut out = b"pak\0".to_vec();
    out.extend([7, count, prefix / 4096].into_iter().flat_map(u32::to_le_bytes));
    for (offset, blocks, length) in (0..count).map(record) {
        out.extend([offset.to_le_bytes(), blocks.to_le_bytes()].concat());
        out.extend(length.to_le_bytes());
    }
    out.resize(prefix as usize, 0);
    out
}

fn paks(files: &[(&str, &[u8])]) -> (TempDir, PathBuf) {
    let (dir, path) = temp();
    for (name, data) in files {
        fs::write(path.join(name), data).unwrap();
    }
    (dir, path)
}

const PAK: &str = "x0_y0_z0.region";

#[test]
fn a_pak_region_of_32768_records_of_one_bomb() {
    let bomb = pak::payload::encode(&vec![0; 40 << 20]);
    let (len, blocks) = (bomb.len() as i32, bomb.len().div_ceil(4096) as i16);
    // All of the same blocks; all but one inside another; each a block further on in a file of bombs.
    let same = [pak_head(32_768, |_| (0, blocks, len)), bomb.clone()].concat();
    let inside =
        [pak_head(32_768, |n| if n == 0 { (0, blocks + 1, 1) } else { (1, blocks, len) }), vec![0; 4096], bomb];
    for file in [same, inside.concat()] {
        let (_dir, path) = paks(&[(PAK, &file)]);
        finds(&path, "pak-overlap");
        every_command(&path);
        repairs(&path);
    }
}

#[test]
fn a_pak_region_whose_records_all_reach_to_the_end() {
    // Stored blocks of deflate that are each other's data would be read again from every block on.
    let stream = [&[0x78, 0x01][..], &[0; 4094]].concat().repeat(3000);
    let len = stream.len() as i32;
    let head = pak_head(3000, |n| (n as i16, (3000 - n) as i16, len - 4096 * n as i32));
    let (_dir, path) = paks(&[(PAK, &[head, stream].concat())]);
    finds(&path, "pak-overlap");
    every_command(&path);
    repairs(&path);
}

#[test]
fn eight_pak_regions_of_large_chunks_at_once() {
    let bomb = pak::payload::encode(&vec![0; 17 << 20]);
    let one = [pak_head(4, |n| if n == 0 { (0, 9, bomb.len() as i32) } else { (-1, 0, 0) }), bomb].concat();
    let names: Vec<String> = (0..8).map(|x| format!("x{x}_y0_z0.region")).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), one.as_slice())).collect();
    let (_dir, path) = paks(&files);
    finds(&path, "over-limit");
    every_command(&path);
    run(&["show".as_ref(), path.as_ref(), "--record=0".as_ref()]);
}

#[test]
fn a_pak_region_with_a_record_of_128_mib() {
    for name in [PAK, "x-1_y0_z0.region"] {
        let (_dir, path) = paks(&[(name, &pak_head(1, |_| (0, i16::MAX, i32::from(i16::MAX) * 4096)))]);
        File::options().write(true).open(path.join(name)).unwrap().set_len(4 << 30).unwrap();
        finds(&path, "pak-zlib");
        every_command(&path);
        repairs(&path);
        run(&["show".as_ref(), path.as_ref(), "--record=0".as_ref()]);
    }
}

#[test]
fn a_pak_region_that_claims_records_it_does_not_have() {
    for (count, code) in [(u32::MAX, "pak-record-count"), (1 << 31, "pak-record-count"), (32_768, "pak-records-cut")] {
        let mut data = pak_head(4, |_| (-1, 0, 0));
        data[8..12].copy_from_slice(&count.to_le_bytes());
        let (_dir, path) = paks(&[(PAK, &data)]);
        finds(&path, code);
        every_command(&path);
    }
    let negative = pak_head(1024, |n| (-2 - n as i16, i16::MIN, i32::MIN));
    let (_dir, path) = paks(&[(PAK, &negative)]);
    finds(&path, "pak-record-offset");
    every_command(&path);
}

#[test]
fn a_first_block_terabytes_beyond_the_file() {
    let streams: Vec<Vec<u8>> = (0..3).map(|n| pak::payload::encode(&vec![n; 20_000])).collect();
    let mut file = pak_head(3, |n| (n as i16, 1, streams[n as usize].len() as i32));
    for stream in &streams {
        file.extend(stream);
        file.resize(file.len().next_multiple_of(4096), 0);
    }
    file[12..16].copy_from_slice(&i32::MAX.to_le_bytes());
    // The chunks behind the cut are off the grid of blocks.
    file.drain(4096 + 5000..4096 + 5002);
    let (_dir, path) = paks(&[(PAK, &file)]);
    every_command(&path);
}
