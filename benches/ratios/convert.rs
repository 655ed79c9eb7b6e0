//! Saves read as blocks at positions: convert against a plain copy, diff.

use std::hint::black_box;
use std::path::{Path, PathBuf};

use voxscope::convert::{self, Target};
use voxscope::demo::ForestSpec;
use voxscope::diff;
use voxscope::save::{Options, Save};
use voxscope::watch::Watch;
use voxscope::world::World;

use super::{forest, report, time};

/// Turns; each writes a hundred megabytes and more.
const TURNS: usize = 5;

pub fn measure() {
    let source = forest::forest("bench", &ForestSpec::bench());
    let save = Save::open(&source, &Options::default()).unwrap();
    let world = World::only(&save).unwrap();
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join("converted");
    let fresh = |path: &PathBuf| {
        let _ = std::fs::remove_dir_all(path);
        let _ = std::fs::remove_file(path);
        let _ = std::fs::remove_file(path.with_extension("db.convert.json"));
    };
    let turns = |a: &dyn Fn(), b: &dyn Fn()| {
        let mut best = [f64::MAX; 2];
        for _ in 0..TURNS {
            fresh(&to);
            best[0] = best[0].min(time(a).as_secs_f64());
            fresh(&to);
            best[1] = best[1].min(time(b).as_secs_f64());
        }
        fresh(&to);
        best
    };
    let convert = |target: &Target| {
        black_box(convert::to_forest(&world, target, &to, &Watch::default()).unwrap());
    };
    let [plain, converted] = turns(&|| copy(&source, &to), &|| convert(&Target::default()));
    println!("{:<58} {:>19.0} ms", "a plain copy of 20,480 blocks, synced", plain * 1e3);
    let ratio = converted / plain;
    report("convert against a plain copy", &format!("{ratio:.2}"), "at most 3.00", ratio <= 3.0);
    let larger = Target { block_size: Some(32), ..Target::default() };
    let best = (0..2).map(|_| {
        fresh(&to);
        time(|| convert(&larger)).as_secs_f64()
    });
    println!("{:<58} {:>19.0} ms", "convert to blocks of 32", best.fold(f64::MAX, f64::min) * 1e3);
    #[cfg(feature = "sqlite")]
    {
        let to = to.with_extension("db");
        let best = (0..2).map(|_| {
            fresh(&to);
            time(|| drop(convert::to_stream(&world, &Target::default(), &to, &Watch::default()).unwrap()))
        });
        println!("{:<58} {:>19.0} ms", "convert to a stream", best.min().unwrap_or_default().as_secs_f64() * 1e3);
        fresh(&to);
    }

    let best = (0..TURNS)
        .map(|_| time(|| assert!(!diff::run(&world, &world, &diff::Options::default(), drop).unwrap().differs())))
        .min();
    println!("{:<58} {:>19.0} ms", "diff with itself", best.unwrap_or_default().as_secs_f64() * 1e3);
}

/// A copy of all files of a directory, synced as the result of a conversion is.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
        let to = to.join(entry.file_name().unwrap());
        if entry.is_dir() {
            copy(&entry, &to);
        } else {
            std::fs::copy(&entry, &to).unwrap();
            std::fs::File::open(&to).unwrap().sync_all().unwrap();
        }
    }
}
