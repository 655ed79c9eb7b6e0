//! What the project promises about speed and memory, measured as ratios in one run: the machine is noisy, so what is
//! compared is measured in turns, and the best of each is taken.
//!
//! `cargo bench --bench ratios` (or `just bench`); `cargo bench --bench ratios -- map` for voxel maps alone.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use flate2::{Decompress, FlushDecompress, Status};
use rayon::prelude::*;
use voxscope::check;
use voxscope::demo::maps::{Lake, array};
use voxscope::demo::{Extent, ForestSpec, Terrain, noise, write_forest};
use voxscope::godot::channel::{CHANNELS, Depth};
use voxscope::godot::container::Mode;
use voxscope::pak::build::Builder;
use voxscope::pak::offset::Reading;
use voxscope::pak::place::{self, Grid};
use voxscope::save::{Options, Save, Scratch};
use voxscope::source::Source;
use voxscope::voxel_map::map_json::{Format, Layer, MapData};
use voxscope::voxel_map::npy::{Dtype, Npy};

/// Turns in which each of two things is measured.
const TURNS: usize = 15;

fn main() {
    // `cargo test --benches` runs this too, and only wants to know that it builds.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let threads = rayon::current_num_threads();
    println!("{threads} threads, best of {TURNS} turns each\n");
    if std::env::args().any(|argument| argument == "map") {
        return map_against_numpy();
    }
    let forest = forest("bench", &ForestSpec::bench());
    let save = Save::open(&forest, &Options::default()).unwrap();
    check_against_bare_lz4(&save);
    let zstd = self::forest("bench-zstd", &ForestSpec { mode: Mode::Zstd, ..ForestSpec::bench() });
    check_zstd(&Save::open(&zstd, &Options::default()).unwrap());
    check_pak_against_bare_zlib(&Save::open(&pak(), &Options::default()).unwrap());
    opening(&self::forest("regions-2000", &two_thousand_regions()));
    memory(&forest, "check, 20,480 blocks, LZ4");
    memory(&zstd, "check, 20,480 blocks, Zstandard");
    let large = self::forest("large", &large());
    memory(&large, "check, 163,840 blocks, 0.8 GB");
    map_against_numpy();
}

/// A forest, made once and kept in the target directory.
fn forest(name: &str, spec: &ForestSpec) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("forest-{name}"));
    let done = dir.with_extension("done");
    if !done.exists() {
        let _ = std::fs::remove_dir_all(&dir);
        let stats = write_forest(&dir, spec, None).unwrap();
        std::fs::write(&done, format!("{stats:?}")).unwrap();
    }
    dir
}

fn two_thousand_regions() -> ForestSpec {
    // Regions of two blocks a side, one block in each of 2,000 along x and z.
    let extent = Extent { from: [0, 0, 0], to: [80, 2, 100] };
    ForestSpec { region_size_po2: 1, lods: vec![extent], ..ForestSpec::default() }
}

fn large() -> ForestSpec {
    let spec = ForestSpec::bench();
    let lods = spec.lods.iter().map(|lod| {
        let [x, y, z] = lod.to;
        Extent { from: lod.from, to: [x + (x - lod.from[0]) * 3, y, z + (z - lod.from[2])] }
    });
    ForestSpec { lods: lods.collect(), ..spec }
}

/// All containers of a save, in memory.
fn containers(save: &Save) -> Vec<Vec<u8>> {
    let mut containers = Vec::new();
    for (forest, file) in save.regions() {
        let region = save.region(forest, file).unwrap().unwrap();
        for listed in region.by_sector() {
            let mut bytes = Vec::new();
            let span = region.span(listed.entry);
            region.source.read_into(span.start, span.len() as usize, &mut bytes).unwrap();
            let size = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
            containers.push(bytes[4..4 + size].to_vec());
        }
    }
    containers
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// Measures both in turns; gives the best of each.
fn in_turns(mut a: impl FnMut(), mut b: impl FnMut()) -> (Duration, Duration) {
    a();
    b();
    let mut best = (Duration::MAX, Duration::MAX);
    for _ in 0..TURNS {
        best.0 = best.0.min(time(&mut a));
        best.1 = best.1.min(time(&mut b));
    }
    best
}

fn run_check(save: &Save) -> check::Summary {
    let summary = check::run(save, &check::Options::default(), |finding| panic!("{finding}"));
    assert_eq!(summary.counts.errors, 0);
    summary
}

fn report(what: &str, value: &str, promise: &str, kept: bool) {
    println!("{what:<58} {value:>22}   {promise:<18} {}", if kept { "kept" } else { "NOT KEPT" });
}

fn check_against_bare_lz4(save: &Save) {
    let containers = containers(save);
    let stats = run_check(save).stats;
    let (blocks, stored, plain) = (stats.blocks, stats.stored_bytes as f64 / 1e6, stats.plain_bytes);
    println!("{blocks} blocks of terrain, {stored:.1} MB stored, {:.1} MB decompressed", plain as f64 / 1e6);
    let bare = || {
        containers.par_iter().for_each_init(Vec::new, |out: &mut Vec<u8>, container| {
            let size = u32::from_le_bytes(container[1..5].try_into().unwrap()) as usize;
            out.resize(out.len().max(size), 0);
            let n = lz4_flex::block::decompress_into(&container[5..], &mut out[..size]).unwrap();
            assert_eq!(n, size);
            black_box(&out[..size]);
        });
    };
    let (bare, check) = in_turns(bare, || {
        black_box(run_check(save));
    });
    let rate = |time: Duration| format!("{:.0} MB/s", plain as f64 / 1e6 / time.as_secs_f64());
    println!("{:<58} {:>22}", "bare lz4_flex, in memory, decompressed", rate(bare));
    println!("{:<58} {:>22}", "check, from files, decompressed", rate(check));
    let ratio = bare.as_secs_f64() / check.as_secs_f64();
    report("check against bare lz4_flex", &format!("{ratio:.2}"), "at least 0.80", ratio >= 0.8);
}

fn check_zstd(save: &Save) {
    let which = if cfg!(feature = "zstd-c") { "zstd (C)" } else { "ruzstd" };
    let mut plain = 0;
    run_check(save);
    let best = (0..5).map(|_| time(|| plain = run_check(save).stats.plain_bytes)).min().unwrap_or_default();
    let rate = format!("{:.0} MB/s", plain as f64 / 1e6 / best.as_secs_f64());
    println!("{:<58} {rate:>22}", format!("check of a Zstandard forest by {which}, decompressed"));
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
    let room = save.rooms.first().unwrap();
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

fn opening(dir: &Path) {
    let open = || Save::open(black_box(dir), &Options::default()).unwrap();
    let files = open().regions().count();
    let best = (0..TURNS).map(|_| time(|| drop(black_box(open())))).min().unwrap_or_default();
    let what = format!("opening {files} region files");
    report(&what, &format!("{:.1} ms", best.as_secs_f64() * 1e3), "under 50 ms", best < Duration::from_millis(50));

    let save = open();
    let (forest, file) = save.regions().next().unwrap();
    let mut region = save.region(forest, file).unwrap().unwrap();
    black_box(region.slots(&mut Scratch::default()).unwrap());
}

/// The most memory that the program itself has while it checks.
fn memory(dir: &Path, what: &str) {
    memory_under(dir, what, 64.0);
}

/// As [`memory`], with another promise, in MiB.
fn memory_under(dir: &Path, what: &str, most: f64) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_voxscope"))
        .args(["check", "--format", "jsonl"])
        .arg(dir)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0.0f64;
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib: Option<f64> = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        peak = peak.max(kib.unwrap_or(0.0) / 1024.0);
        std::thread::sleep(Duration::from_micros(500));
    }
    if peak == 0.0 {
        println!("{what:<58} {:>22}", "not measured here");
        return;
    }
    let promise = format!("under {most:.0} MiB");
    report(&format!("memory of {what}"), &format!("{peak:.1} MiB"), &promise, peak < most);
}

/// Blocks of the map, 32 KiB each.
const MAP_BLOCKS: u32 = 20_000;

/// A map of sparse blocks, made once: 20,000 blocks, two above each other, a depth for every column, and the voxels
/// of a lake (mud, gravel, sand, grass under open water, nothing below).
fn map() -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("map-20000");
    let done = dir.with_extension("done");
    if done.exists() {
        return dir;
    }
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    let dim = [1600, 32, 1600];
    let lake = Lake::new(5, dim);
    let count = u64::from(MAP_BLOCKS);
    let name = |name: &str| Some(format!("{name}.npy"));
    let layer = Layer {
        name: Some("Global".to_owned()),
        kind: Some("Global".to_owned()),
        format: Some(Format::BlockSparse),
        block_size: Some(16),
        data_file: name("data"),
        depth_file: name("depth"),
        index_file: name("index"),
        block_count: Some(count),
        origin: Some([0.0; 3]),
        step: Some([0.5; 3]),
        dim: Some(dim),
        ..Layer::default()
    };
    let data = MapData { map_id: Some(1), timestamp: Some(String::new()), global: Some(layer), ..MapData::default() };
    std::fs::write(dir.join("map_data.json"), data.encode()).unwrap();
    let block = |row: u64| [row / 200, row / 100 % 2, row % 100];
    let index = array(&Npy::new(Dtype::I32, &[count, 3]), |at| block(at[0])[at[1] as usize]);
    std::fs::write(dir.join("index.npy"), index).unwrap();
    let depth = array(&Npy::new(Dtype::F32, &[1600, 1600]), |at| {
        u64::from(lake.depth(at[0] as u32, at[1] as u32).max(0.5).to_bits())
    });
    std::fs::write(dir.join("depth.npy"), depth).unwrap();
    let blocks = |rows: std::ops::Range<u64>| -> Vec<u8> {
        rows.into_par_iter()
            .flat_map_iter(|row| {
                let corner = block(row).map(|n| n as u32 * 16);
                let cell = move |n: u32| [corner[0] + n / 256, corner[1] + n / 16 % 16, corner[2] + n % 16];
                (0..4096).flat_map(move |n| lake.flags(cell(n)).to_le_bytes())
            })
            .collect()
    };
    let mut file = std::fs::File::create(dir.join("data.npy")).unwrap();
    file.write_all(&Npy::new(Dtype::I64, &[count, 16, 16, 16]).encode(16)).unwrap();
    for row in (0..count).step_by(500) {
        file.write_all(&blocks(row..row + 500)).unwrap();
    }
    std::fs::write(done, "").unwrap();
    dir
}

/// Loads the array of the file that is named, and passes over it once: one bit of every voxel, the plainest question
/// (`(a & 1).sum()` takes several times as long). Once for each line of its input.
const NUMPY: &str = "
import sys, time, numpy
for line in sys.stdin:
    start = time.perf_counter()
    a = numpy.load(sys.argv[1])
    flags = numpy.bitwise_or.reduce(a.ravel())
    print(time.perf_counter() - start, int(flags), flush=True)
    del a
";

/// Opening and checking a map against NumPy's `np.load` and one pass, in turns; both with what the system keeps of the
/// file in memory.
fn map_against_numpy() {
    let dir = map();
    let what = "check, map of 20,000 sparse blocks, 655 MB";
    memory_under(&dir, what, 96.0);
    let check = || {
        let save = Save::open(black_box(&dir), &Options::default()).unwrap();
        let summary = run_check(&save);
        assert_eq!((summary.stats.blocks, summary.counts.warnings), (u64::from(MAP_BLOCKS), 0));
    };
    let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let has = Command::new(&python).args(["-c", "import numpy"]).stderr(Stdio::null()).status();
    if !has.is_ok_and(|status| status.success()) {
        check();
        let best = (0..TURNS).map(|_| time(check)).min().unwrap_or_default();
        println!("{what:<58} {:>19.0} ms", best.as_secs_f64() * 1e3);
        println!("NumPy is not installed: pip install numpy (or PYTHON=... for one that has it)");
        return;
    }
    let mut child = Command::new(python)
        .args(["-c", NUMPY])
        .arg(dir.join("data.npy"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    let mut from = BufReader::new(child.stdout.take().unwrap());
    let mut numpy = || {
        writeln!(to, "again").unwrap();
        let mut line = String::new();
        from.read_line(&mut line).unwrap();
        let seconds = line.split(' ').next().and_then(|n| n.parse().ok()).expect("seconds");
        Duration::from_secs_f64(seconds)
    };
    numpy();
    check();
    let mut best = (Duration::MAX, Duration::MAX);
    for _ in 0..TURNS {
        best = (best.0.min(numpy()), best.1.min(time(check)));
    }
    drop(to);
    child.wait().unwrap();
    println!("{:<58} {:>19.0} ms", "np.load and np.bitwise_or.reduce", best.0.as_secs_f64() * 1e3);
    println!("{what:<58} {:>19.0} ms", best.1.as_secs_f64() * 1e3);
    let ratio = best.0.as_secs_f64() / best.1.as_secs_f64();
    report("check of a map against NumPy", &format!("{ratio:.2}"), "at least 1.00", ratio >= 1.0);
}
