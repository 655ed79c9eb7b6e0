//! Export against the decoder: what a LOD as arrays costs beyond reading and decoding its blocks.

use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use rayon::prelude::*;
use voxscope::demo::ForestSpec;
use voxscope::export::voxels::{self, Request, Which};
use voxscope::godot::channel::SDF;
use voxscope::save::{Options, Save};
use voxscope::watch::Watch;
use voxscope::world::{Buffer, World};

use super::{forest, memory_of, report, time};

/// Turns; each writes some hundred megabytes.
const TURNS: usize = 9;

/// Blocks that are read together: a layer of the world, square to z.
const LAYER: usize = 256;

/// What is written at once where nothing is decoded.
static PART: &[u8] = &[1; 1 << 20];

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
    let in_files = || {
        index.blocks.par_chunks(LAYER).for_each_init(Buffer::default, |buffer, blocks| {
            let read = world.read_all::<()>(&mut blocks.to_vec(), buffer, |_, view| {
                assert!(black_box(view.unwrap()).block.is_some());
                Ok(())
            });
            read.unwrap();
        });
    };
    let request = |sync| Request {
        lod: 0,
        which: Which::All,
        channels: vec![0, SDF],
        fill: 0,
        distances: false,
        sync,
        large: true,
        unpack: false,
        names: voxscope::picture::palette::Palette::default(),
    };
    let export = |sync| drop(black_box(voxels::export(&world, &request(sync), &to, &Watch::default()).unwrap()));
    export(false);
    let bytes = stored(&to);
    let files = [to.with_extension("0"), to.with_extension("1")];
    let writing = || {
        files.par_iter().for_each(|path| {
            let mut file = File::create(path).unwrap();
            (0..bytes / 2 / PART.len()).for_each(|_| file.write_all(PART).unwrap());
        });
    };
    let works: [(&str, &dyn Fn()); 5] = [
        ("reading and decoding LOD 0, 16,384 blocks one by one", &one_by_one),
        ("the same, many with one read", &in_files),
        ("export of TYPE and SDF of LOD 0, not synced", &|| export(false)),
        ("export of TYPE and SDF of LOD 0, synced", &|| export(true)),
        ("as many bytes written from memory to files, not synced", &writing),
    ];
    let (mut wall, mut cpu) = ([f64::MAX; 5], [f64::MAX; 5]);
    for _ in 0..TURNS {
        for (n, (_, work)) in works.iter().enumerate() {
            fresh(&to);
            files.iter().for_each(|path| drop(std::fs::remove_file(path)));
            let before = cpu_seconds();
            wall[n] = wall[n].min(time(work).as_secs_f64());
            cpu[n] = cpu[n].min(cpu_seconds() - before);
        }
    }
    fresh(&to);
    files.iter().for_each(|path| drop(std::fs::remove_file(path)));
    for ((what, _), (wall, cpu)) in works.iter().zip(wall.iter().zip(&cpu)) {
        println!("{what:<58} {:>19.0} ms   {:.0} ms of processors", wall * 1e3, cpu * 1e3);
    }
    // The disk is not what is compared: nothing waits for it. What an export must do is to decode, and to hand each byte of
    // the arrays to the system, also those of blocks that are the same everywhere and cost the decoder nothing.
    let ratio = wall[2] / (wall[0].min(wall[1]) + wall[4]);
    report("export against decoding and writing", &format!("{ratio:.2}"), "at most 1.25", ratio <= 1.25);
    println!("{:<58} {:>22.2}", "export against decoding alone", wall[2] / wall[0].min(wall[1]));
    println!("{:<58} {:>22.2}", "the same against blocks that are read one by one", wall[2] / wall[0]);

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

/// Bytes that the files of a directory take on the disk.
fn stored(dir: &Path) -> usize {
    let files = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().metadata().unwrap());
    #[cfg(unix)]
    let size = |file: std::fs::Metadata| std::os::unix::fs::MetadataExt::blocks(&file) * 512;
    #[cfg(not(unix))]
    let size = |file: std::fs::Metadata| file.len();
    usize::try_from(files.map(size).sum::<u64>()).unwrap()
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
