//! The picture of a world: the first one, from LODs, from LOD 0 alone, and as a file.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use rayon::prelude::*;
use voxscope::demo::ForestSpec;
use voxscope::export::{self, MapRequest};
use voxscope::picture::source::Scratch;
use voxscope::picture::tile::Grid;
use voxscope::picture::{Layer, Look, Part, Probe, Source};
use voxscope::save::{Options, Save};
use voxscope::watch::Watch;

use super::forest::{bare_lz4, forest, large, million};
use super::{TURNS, in_turns, memory_of, report, time};

pub fn measure() {
    let dir = forest("bench", &ForestSpec::bench());
    let save = Arc::new(Save::open(&dir, &Options::default()).unwrap());
    let open = || Source::open(&save, Part::Forest(0)).unwrap();
    let tables = (0..TURNS).map(|_| time(|| drop(black_box(open())))).min().unwrap();
    let source = open();
    println!("{:<58} {:>22}", "blocks", source.blocks());
    let shown = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
    report("tables of a first picture", &shown(tables), "under 50 ms", tables < Duration::from_millis(50));

    let matter = Probe::new(&source, None).matter(&source);
    let highest = source.lods().last().copied().unwrap();
    let draw = |lod: u8, step: i64| {
        let grid = Grid::new(&source, Layer::Top(matter), lod, step, false);
        let everything = [[i64::MIN >> 16; 2], [i64::MAX >> 16; 2]];
        let reader = source.reader();
        grid.tiles(&source, everything).par_iter().for_each_init(Scratch::default, |scratch, at| {
            black_box(grid.load(&reader, *at, scratch));
        });
    };
    let lods = (0..TURNS).map(|_| time(|| draw(highest, 1 << highest))).min().unwrap();
    report("surface from the highest LOD", &shown(lods), "under 300 ms", lods < Duration::from_millis(300));
    let (bare, lowest) = in_turns(bare_lz4(&save, 0), || draw(0, 1));
    let ratio = lowest.as_secs_f64() / bare.as_secs_f64();
    report("surface from LOD 0 against bare lz4_flex", &format!("{ratio:.2}"), "at most 1.40", ratio <= 1.4);

    let out = tempfile::tempdir().unwrap();
    let request = MapRequest::new(Look::Surface);
    let picture = out.path().join("bench.png");
    let (bare, export) = in_turns(bare_lz4(&save, 0), || {
        let _ = std::fs::remove_file(&picture);
        export::map(&save, Part::Forest(0), &request, &picture, &Watch::default()).unwrap();
    });
    let ratio = export.as_secs_f64() / bare.as_secs_f64();
    report("export --map against bare lz4_flex", &format!("{ratio:.2}"), "at most 1.50", ratio <= 1.5);

    let large = forest("large", &large());
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_voxscope"));
    memory_of(
        command.arg("export").arg(large).arg("--map").arg(out.path().join("x.png")),
        "export --map, 163,840 blocks",
        64.0,
    );
    let million = forest("million", &million());
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_voxscope"));
    let to = out.path().join("million.png");
    memory_of(command.arg("export").arg(million).arg("--map").arg(to), "export --map, 1,048,576 blocks", 64.0);
}
