//! Export against the decoder: what a LOD as arrays costs beyond reading and decoding its blocks.

use std::fs::File;
use std::hint::black_box;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rayon::prelude::*;
use voxscope::beside::Watch;
use voxscope::demo::ForestSpec;
use voxscope::export::voxels::{self, Request, Which};
use voxscope::godot::channel::SDF;
use voxscope::save::{Options, Save};
use voxscope::world::{Buffer, World};

use super::{forest, memory_of, report, time};

/// Turns; each writes some hundred megabytes.
const TURNS: usize = 9;

/// Blocks that are read together: a layer of the world, square to z. An array has 2 MiB of it.
const LAYER: usize = 256;
const LAYER_BYTES: usize = LAYER * 4096 * 2;

/// What an export may have in memory, in MiB.
const MEMORY: f64 = 96.0;

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
    let layer = |buffer: &mut Buffer, blocks: &[voxscope::world::At]| {
        let read = world.read_all::<()>(&mut blocks.to_vec(), buffer, |_, view| {
            assert!(black_box(view.unwrap()).block.is_some());
            Ok(())
        });
        read.unwrap();
    };
    let in_files =
        || index.blocks.par_chunks(LAYER).for_each_init(Buffer::default, |buffer, blocks| layer(buffer, blocks));
    // The least that anything can do which decodes blocks and writes two arrays: as many bytes, whatever they are.
    let bytes = vec![1u8; LAYER_BYTES];
    let and_write = || {
        std::fs::create_dir(&to).unwrap();
        let files = ["a", "b"].map(|name| File::create(to.join(name)).unwrap());
        index.blocks.par_chunks(LAYER).enumerate().for_each_init(Buffer::default, |buffer, (n, blocks)| {
            layer(buffer, blocks);
            files.iter().for_each(|file| file.write_all_at(&bytes, (n * LAYER_BYTES) as u64).unwrap());
        });
    };
    let request = |sync| Request { lod: 0, which: Which::All, channels: vec![0, SDF], fill: 0, distances: false, sync };
    let export = |sync| drop(black_box(voxels::export(&world, &request(sync), &to, &Watch::default()).unwrap()));
    let works: [(&str, &dyn Fn()); 5] = [
        ("reading and decoding LOD 0, 16,384 blocks one by one", &one_by_one),
        ("the same, many with one read", &in_files),
        ("the same, and writing two files of 134 MB", &and_write),
        ("export of TYPE and SDF of LOD 0, not synced", &|| export(false)),
        ("export of TYPE and SDF of LOD 0, synced", &|| export(true)),
    ];
    let (mut wall, mut cpu) = ([f64::MAX; 5], [f64::MAX; 5]);
    for _ in 0..TURNS {
        for (n, (_, work)) in works.iter().enumerate() {
            fresh(&to);
            let before = cpu_seconds();
            wall[n] = wall[n].min(time(work).as_secs_f64());
            cpu[n] = cpu[n].min(cpu_seconds() - before);
        }
    }
    fresh(&to);
    for ((what, _), (wall, cpu)) in works.iter().zip(wall.iter().zip(&cpu)) {
        println!("{what:<58} {:>19.0} ms   {:.0} ms of processors", wall * 1e3, cpu * 1e3);
    }
    // The disk is not what is compared: without waiting for it.
    let against =
        |what: &str, n: f64, most: f64| report(what, &format!("{n:.2}"), &format!("at most {most:.2}"), n <= most);
    against("export against decoding alone", wall[3] / wall[0].min(wall[1]), 1.75);
    against("export against decoding and writing as many bytes", wall[3] / wall[2], 1.25);
    println!("{:<58} {:>22.2}", "by time of processors, against decoding alone", cpu[3] / cpu[0].min(cpu[1]));
    println!("{:<58} {:>22.2}", "by time of processors, against decoding and writing", cpu[3] / cpu[2]);

    let large = forest::forest("large", &forest::large());
    let out = to.with_extension("large");
    for (what, arguments, name) in [
        ("export of 131,072 blocks, 2.1 GB", ["--channel", "TYPE", "--channel", "SDF"].as_slice(), "arrays"),
        ("a table of 163,840 blocks", &["--table"], "table.sqlite"),
    ] {
        let out = out.join(name);
        fresh(&to.with_extension("large"));
        std::fs::create_dir(out.parent().unwrap()).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_voxscope"));
        command.arg("export").arg(&large).arg("--out").arg(&out).args(arguments);
        memory_of(&mut command, what, MEMORY);
    }
    fresh(&out);
}

/// Seconds of processors that this process had until now; 0 where nothing tells.
fn cpu_seconds() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().filter_map(Result::ok);
    let of = |task: std::fs::DirEntry| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<f64>().ok()
    };
    tasks.filter_map(of).sum::<f64>() / 1e9
}
