//! Pak regions.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flate2::{Decompress, FlushDecompress, Status};
use rayon::prelude::*;
use voxscope::demo::{Terrain, noise};
use voxscope::godot::channel::{CHANNELS, Depth};
use voxscope::pak::build::Builder;
use voxscope::pak::offset::Reading;
use voxscope::pak::place::{self, Grid};
use voxscope::save::{Options, Save};
use voxscope::source::Source;

use super::{in_turns, report, run_check};

pub fn measure() {
    check_pak_against_bare_zlib(&Save::open(&pak(), &Options::default()).unwrap());
}

/// A pak region of 1,024 chunks, made once and kept in the target directory.
fn pak() -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pak-bench-1").join(place::name([0; 3]));
    if !path.exists() {
        let numbers: Vec<u32> = (0..place::LAYER_RECORDS).collect();
        let streams: Vec<Vec<u8>> =
            numbers.par_iter().map(|number| voxscope::pak::payload::encode(&pak_chunk(*number))).collect();
        let mut builder = Builder::new(*b"pak\0", 7, place::LAYER_RECORDS, Reading::Blocks);
        for (number, stream) in numbers.iter().zip(&streams) {
            builder.push_stored(*number, stream).unwrap();
        }
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let part = path.with_extension("part");
        std::fs::write(&part, builder.finish()).unwrap();
        std::fs::rename(part, &path).unwrap();
    }
    path
}

/// 32 x 32 x 32 voxels around the surface: the material, and in the upper byte one of four variants of what is no air.
fn pak_chunk(number: u32) -> Vec<u8> {
    let [x, _, z] = Grid::Layer.chunk([0; 3], number).unwrap();
    let mut depths = [Depth::Bits8; CHANNELS];
    depths[0] = Depth::Bits16;
    let block = Terrain::new(1).block(0, [x, 0, z], 32, &depths, 4);
    let mut voxels = block.channels[0].data.clone();
    assert_eq!(voxels.len(), 1 << 16, "a chunk of one material");
    for (i, voxel) in voxels.chunks_exact_mut(2).enumerate().filter(|(_, voxel)| voxel[0] != 0) {
        voxel[1] = noise::hash(7, [x.into(), i as i64, z.into()]) as u8 & 3;
    }
    voxels
}

/// The zlib streams of a room, in memory.
fn streams(save: &Save) -> Vec<Vec<u8>> {
    let room = save.pak_dirs.first().unwrap();
    let pak = save.pak(room, &room.files[0], &mut Vec::new()).unwrap().unwrap();
    let streams = pak.present().map(|(number, record)| {
        let mut bytes = Vec::new();
        let span = pak.locate(number, record, &mut Vec::new()).unwrap().stored;
        pak.source.read_into(span.start, span.len() as usize, &mut bytes).unwrap();
        bytes
    });
    streams.collect()
}

fn check_pak_against_bare_zlib(save: &Save) {
    let streams = streams(save);
    let stats = run_check(save).stats;
    let (blocks, stored, plain) = (stats.blocks, stats.stored_bytes as f64 / 1e6, stats.plain_bytes);
    assert_eq!((blocks, plain), (1024, 1 << 26));
    println!("pak region of {blocks} chunks, {stored:.1} MB stored, {:.1} MB decompressed", plain as f64 / 1e6);
    let bare = || {
        let new = || (Decompress::new(true), vec![0; 1 << 16]);
        streams.par_iter().for_each_init(new, |(inflate, out), stream| {
            inflate.reset(true);
            let status = inflate.decompress(stream, out, FlushDecompress::Finish).unwrap();
            assert_eq!((status, inflate.total_out()), (Status::StreamEnd, 1 << 16));
            black_box(&out);
        });
    };
    let (bare, check) = in_turns(bare, || {
        black_box(run_check(save));
    });
    let rate = |time: Duration| format!("{:.0} MB/s", plain as f64 / 1e6 / time.as_secs_f64());
    println!("{:<58} {:>22}", "bare flate2, in memory, decompressed", rate(bare));
    println!("{:<58} {:>22}", "check of a pak region, from its file, decompressed", rate(check));
    let ratio = bare.as_secs_f64() / check.as_secs_f64();
    report("check of a pak region against bare flate2", &format!("{ratio:.2}"), "at least 0.80", ratio >= 0.8);
}
