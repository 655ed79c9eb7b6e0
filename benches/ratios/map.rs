//! Voxel maps.

use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rayon::prelude::*;
use voxscope::demo::maps::{Lake, array};
use voxscope::save::{Options, Save};
use voxscope::voxel_map::map_json::{Format, Layer, MapData};
use voxscope::voxel_map::npy::{Dtype, Npy};

use super::{TURNS, memory_under, report, run_check, time};

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
/// (`(a & 1).sum()` would make a copy of the array first). Once for each line of its input.
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
pub fn measure() {
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
