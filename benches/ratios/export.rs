//! Export against the decoder: what a LOD as arrays costs beyond reading and decoding its blocks.

use std::hint::black_box;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use voxscope::beside::Watch;
use voxscope::demo::ForestSpec;
use voxscope::export::voxels::{self, Request, Which};
use voxscope::godot::channel::SDF;
use voxscope::save::{Options, Save};
use voxscope::world::{Buffer, World};

use super::{forest, report, time};

/// Turns; each writes two hundred megabytes.
const TURNS: usize = 9;

/// Blocks that are read together: a layer of the world, square to z.
const LAYER: usize = 256;

pub fn measure() {
    let source = forest::forest("bench", &ForestSpec::bench());
    let save = Save::open(&source, &Options::default()).unwrap();
    let world = World::only(&save).unwrap();
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join("exported");
    let fresh = |path: &PathBuf| drop(std::fs::remove_dir_all(path));
    let index = world.index(0);
    // The decoder alone: the same blocks, read, decompressed and parsed by the same threads; once one by one in the order
    // of their positions, and once many at once in the order of the files. The faster one counts.
    let one_by_one = || {
        index.blocks.par_iter().for_each_init(Buffer::default, |buffer, at| {
            assert!(black_box(world.read(at, buffer).unwrap()).block.is_some());
        });
    };
    let in_files = || {
        index.blocks.par_chunks(LAYER).for_each_init(Buffer::default, |buffer, blocks| {
            let read = world.read_all::<()>(&mut blocks.to_vec(), buffer, |_, view| {
                assert!(black_box(view.unwrap()).block.is_some());
                Ok(())
            });
            read.unwrap();
        });
    };
    let request = |sync| Request { lod: 0, which: Which::All, channels: vec![0, SDF], fill: 0, distances: false, sync };
    let export = |sync| {
        fresh(&to);
        time(|| drop(black_box(voxels::export(&world, &request(sync), &to, &Watch::default()).unwrap()))).as_secs_f64()
    };
    let mut best = [f64::MAX; 4];
    for _ in 0..TURNS {
        best[0] = best[0].min(time(one_by_one).as_secs_f64());
        best[1] = best[1].min(time(in_files).as_secs_f64());
        best[2] = best[2].min(export(false));
        best[3] = best[3].min(export(true));
    }
    fresh(&to);
    let [one_by_one, in_files, exported, synced] = best;
    let decoder = one_by_one.min(in_files);
    println!("{:<58} {:>19.0} ms", "reading and decoding LOD 0, 16,384 blocks one by one", one_by_one * 1e3);
    println!("{:<58} {:>19.0} ms", "the same, many with one read", in_files * 1e3);
    println!("{:<58} {:>19.0} ms", "export of TYPE and SDF of LOD 0, 268 MB", exported * 1e3);
    println!("{:<58} {:>19.0} ms", "the same, until it is on the disk", synced * 1e3);
    let ratio = exported / decoder;
    report("export of TYPE and SDF of LOD 0 against that", &format!("{ratio:.2}"), "at most 3.00", ratio <= 3.0);
}
