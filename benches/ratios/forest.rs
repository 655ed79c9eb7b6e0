//! Godot Voxel forests.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rayon::prelude::*;
use voxscope::check;
use voxscope::demo::{Extent, ForestSpec, write_forest};
use voxscope::godot::container::Mode;
use voxscope::save::{Options, Save, Scratch};
use voxscope::source::Source;

use super::{TURNS, in_turns, memory_under, report, run_check, time};

/// What `check` may have in memory, in MiB.
const MEMORY: f64 = 64.0;

pub fn measure() {
    let lz4 = forest("bench", &ForestSpec::bench());
    check_against_bare_lz4(&Save::open(&lz4, &Options::default()).unwrap());
    let zstd = forest("bench-zstd", &ForestSpec { mode: Mode::Zstd, ..ForestSpec::bench() });
    check_zstd(&Save::open(&zstd, &Options::default()).unwrap());
    opening(&forest("regions-2000", &two_thousand_regions()));
    memory_under(&lz4, "check, 20,480 blocks, LZ4", MEMORY);
    memory_under(&zstd, "check, 20,480 blocks, Zstandard", MEMORY);
    memory_under(&forest("large", &large()), "check, 163,840 blocks, 0.8 GB", MEMORY);
}

/// A forest, made once and kept in the target directory.
pub fn forest(name: &str, spec: &ForestSpec) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("forest-{name}"));
    let done = dir.with_extension("done");
    if !done.exists() {
        let _ = std::fs::remove_dir_all(&dir);
        let stats = write_forest(&dir, spec, None).unwrap();
        std::fs::write(&done, format!("{stats:?}")).unwrap();
    }
    dir
}

pub fn two_thousand_regions() -> ForestSpec {
    // Regions of two blocks a side, one block in each of 2,000 along x and z.
    let extent = Extent { from: [0, 0, 0], to: [80, 2, 100] };
    ForestSpec { region_size_po2: 1, lods: vec![extent], ..ForestSpec::default() }
}

/// More than a million blocks of air, in sectors that are no larger than they have to be.
pub fn million() -> ForestSpec {
    let extent = Extent { from: [0, 64, 0], to: [128, 128, 128] };
    ForestSpec { region_size_po2: 6, sector_size: 64, lods: vec![extent], ..ForestSpec::default() }
}

pub fn large() -> ForestSpec {
    let spec = ForestSpec::bench();
    let lods = spec.lods.iter().map(|lod| {
        let [x, y, z] = lod.to;
        Extent { from: lod.from, to: [x + (x - lod.from[0]) * 3, y, z + (z - lod.from[2])] }
    });
    ForestSpec { lods: lods.collect(), ..spec }
}

/// All containers of a save, or of one LOD, in memory.
fn containers(save: &Save, lod: Option<u8>) -> Vec<Vec<u8>> {
    let mut containers = Vec::new();
    for (forest, file) in save.regions().filter(|(_, file)| lod.is_none_or(|lod| file.lod == lod)) {
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

/// Decompresses all containers with all threads, and nothing else.
fn decompress(containers: &[Vec<u8>]) {
    containers.par_iter().for_each_init(Vec::new, |out: &mut Vec<u8>, container| {
        let size = u32::from_le_bytes(container[1..5].try_into().unwrap()) as usize;
        out.resize(out.len().max(size), 0);
        let n = lz4_flex::block::decompress_into(&container[5..], &mut out[..size]).unwrap();
        assert_eq!(n, size);
        black_box(&out[..size]);
    });
}

/// Decompresses all blocks of a LOD, and nothing else.
pub fn bare_lz4(save: &Save, lod: u8) -> impl FnMut() + use<> {
    let containers = containers(save, Some(lod));
    move || decompress(&containers)
}

fn check_against_bare_lz4(save: &Save) {
    let containers = containers(save, None);
    let stats = run_check(save).stats;
    let semantic = check::Options::default().level(check::Level::Semantic);
    let (blocks, stored, plain) = (stats.blocks, stats.stored_bytes as f64 / 1e6, stats.plain_bytes);
    println!("{blocks} blocks of terrain, {stored:.1} MB stored, {:.1} MB decompressed", plain as f64 / 1e6);
    let bare = || decompress(&containers);
    let (bare, check) = in_turns(bare, || {
        black_box(run_check(save));
    });
    let rate = |time: Duration| format!("{:.0} MB/s", plain as f64 / 1e6 / time.as_secs_f64());
    println!("{:<58} {:>22}", "bare lz4_flex, in memory, decompressed", rate(bare));
    println!("{:<58} {:>22}", "check --level decode, from files, decompressed", rate(check));
    let ratio = bare.as_secs_f64() / check.as_secs_f64();
    let what = "check --level decode against bare lz4_flex";
    report(what, &format!("{ratio:.2}"), "at least 1.80", ratio >= 1.8);
    // Seams of healthy regions included, the default may cost 1.4 times the bare loop.
    let (bare, check) = in_turns(
        || decompress(&containers),
        || {
            black_box(check::run(save, &semantic, drop));
        },
    );
    let cost = check.as_secs_f64() / bare.as_secs_f64();
    let what = "cost of check --level semantic, in bare loops";
    report(what, &format!("{cost:.2}"), "at most 1.40", cost <= 1.4);
}

fn check_zstd(save: &Save) {
    let which = if cfg!(feature = "zstd-c") { "zstd (C)" } else { "ruzstd" };
    let mut plain = 0;
    run_check(save);
    let best = (0..5).map(|_| time(|| plain = run_check(save).stats.plain_bytes)).min().unwrap_or_default();
    let rate = format!("{:.0} MB/s", plain as f64 / 1e6 / best.as_secs_f64());
    println!("{:<58} {rate:>22}", format!("check of a Zstandard forest by {which}, decompressed"));
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
