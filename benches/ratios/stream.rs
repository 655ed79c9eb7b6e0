//! SQLite streams.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Duration;

use voxscope::demo::ForestSpec;
use voxscope::demo::stream::{StreamSpec, write_stream};
use voxscope::godot::stream::loc::Format;
use voxscope::save::{Options, Save};

use super::{forest, in_turns, memory_under, report, run_check};

/// How much longer the check of a stream may take than that of a forest with the same blocks.
const LONGER: f64 = 1.5;

/// What `check` may have in memory, in MiB.
const MEMORY: f64 = 64.0;

pub fn measure() {
    let forest = Save::open(&forest::forest("bench", &ForestSpec::bench()), &Options::default()).unwrap();
    for format in [Format::Int16, Format::Text] {
        let path = stream(format);
        let stream = Save::open(&path, &Options::default()).unwrap();
        let (a, b) = (run_check(&forest).stats, run_check(&stream).stats);
        assert_eq!((a.blocks, a.plain_bytes), (b.blocks, b.plain_bytes));
        let times = in_turns(
            || {
                black_box(run_check(&forest));
            },
            || {
                black_box(run_check(&stream));
            },
        );
        let rate = |time: Duration| format!("{:.0} MB/s", a.plain_bytes as f64 / 1e6 / time.as_secs_f64());
        println!("{:<58} {:>22}", "check of a forest, decompressed", rate(times.0));
        println!("{:<58} {:>22}", format!("check of a stream ({}), decompressed", format.name()), rate(times.1));
        let ratio = times.1.as_secs_f64() / times.0.as_secs_f64();
        report("time of a stream against a forest", &format!("{ratio:.2}"), "at most 1.50", ratio <= LONGER);
    }
    memory_under(&stream(Format::Int16), "check, stream of 20,480 blocks", MEMORY);
}

/// A stream with the blocks of the forest, made once and kept in the target directory.
fn stream(format: Format) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("stream-bench-{}.sqlite", format.code()));
    let done = path.with_extension("done");
    if !done.exists() {
        let _ = std::fs::remove_file(&path);
        let spec = StreamSpec { blocks: ForestSpec::bench(), format, ..StreamSpec::default() };
        let stats = write_stream(&path, &spec, None).unwrap();
        std::fs::write(&done, format!("{stats:?}")).unwrap();
    }
    path
}
