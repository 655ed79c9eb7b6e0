//! What `convert` writes, the engine accepts.

use serde_json::Value as Json;
use tempfile::tempdir;
use voxscope::godot::forest::Meta;

use crate::{Demo, joined, lines, run};

/// The layout of a forest that was written.
fn layout(save: &std::path::Path) -> voxscope::godot::region::Format {
    let meta = std::fs::read(save.join("meta.vxrm")).unwrap();
    Meta::decode(&meta).report_to(&mut Vec::new()).and_then(|meta| meta.format()).expect("a layout")
}

#[test]
fn the_engine_accepts_what_convert_writes() {
    let demo = Demo::new();
    let save = demo.path("healthy/current");
    let dir = tempdir().unwrap();
    let cases: [(&[&str], bool); 7] = [
        (&[], false),
        (&["--block-size", "8"], false),
        (&["--block-size", "32"], true),
        (&["--block-size", "64"], true),
        (&["--region-size", "64"], true),
        (&["--region-size", "128"], true),
        (&["--block-size", "32", "--sector-size", "4096"], false),
    ];
    for (n, (options, said)) in cases.into_iter().enumerate() {
        let to = dir.path().join(n.to_string());
        let run = run(&[&["convert", &save, "--out", to.to_str().unwrap()], options].concat());
        assert_eq!(run.code, Some(0), "{options:?}: {}", run.err);
        assert_eq!(run.out.contains("Sectors have"), said, "{options:?}: {}", run.out);
        assert_eq!(layout(&to).refusal(), None, "{options:?}: {:?}", layout(&to));
        let report: Json = serde_json::from_slice(&std::fs::read(to.join("convert.json")).unwrap()).unwrap();
        assert_eq!(report["to"]["sector_size"], layout(&to).sector_size, "{options:?}");
        // Blocks of two sizes are not counted as if they were the same.
        let [read, written] = ["blocks_read", "blocks_written"].map(|key| report[key].as_u64().unwrap());
        let (from, to) = (&report["source_block_size"], &report["to"]["block_size"]);
        let blocks = match from == to {
            true => format!("{written} blocks of {read}"),
            false => format!("{written} blocks of {to} x {to} x {to} voxels from {read} of {from} x {from} x {from}"),
        };
        assert!(joined(&run.out).contains(&blocks), "{options:?}: {blocks}: {}", run.out);
    }
    for (options, word) in [
        (&["--sector-size", "128"][..], "sector size of 128 bytes is too small"),
        (&["--block-size", "32", "--sector-size", "512"], "sector size of 512 bytes is too small"),
        (&["--region-size", "64", "--sector-size", "512"], "region size of (64, 64, 64) blocks is too large"),
        (&["--block-size", "128"], "No sector size is large enough"),
    ] {
        let to = dir.path().join("refused");
        let run = run(&[&["convert", &save, "--out", to.to_str().unwrap()], options].concat());
        assert!(run.code == Some(16) && run.err.contains(word), "{options:?}: {:?} {}", run.code, run.err);
        assert!(!to.exists(), "{options:?}");
    }
}

#[test]
fn settings_that_the_engine_refuses_are_a_warning_and_convert_mends_them() {
    let demo = Demo::new();
    let save = demo.path("damaged/region-refused");
    let found = lines(&run(&["check", "--format=jsonl", &save]).out);
    let refused: Vec<&Json> = found.iter().filter(|line| line["code"] == "region-refused").collect();
    assert!(refused.len() == 1 && refused[0]["file"] == "meta.vxrm", "{refused:?}");
    let dir = tempdir().unwrap();
    let to = dir.path().join("converted");
    assert_eq!(run(&["convert", &save, "--out", to.to_str().unwrap()]).code, Some(0));
    let checked = run(&["check", to.to_str().unwrap()]);
    assert_eq!(checked.code, Some(0), "{}", checked.out);
}

/// The lines of a comparison.
fn differences(a: &str, b: &str) -> (Option<i32>, Vec<Json>) {
    let done = run(&["diff", a, b, "--format=jsonl"]);
    (done.code, lines(&done.out))
}

fn of_type<'l>(lines: &'l [Json], kind: &str) -> Vec<&'l Json> {
    lines.iter().filter(|line| line["type"] == kind).collect()
}

/// The size of blocks in damaged settings is another one, so that no block of that save can be read.
#[cfg(feature = "sqlite")]
#[test]
fn a_block_that_cannot_be_read_is_not_called_removed_too() {
    let demo = Demo::new();
    let damaged = demo.path("damaged/stream-meta-twice/world.sqlite");
    let mut bytes = std::fs::read(&damaged).unwrap();
    bytes[27] ^= 1;
    std::fs::write(&damaged, bytes).unwrap();
    let other = demo.path("damaged/stream-unused/world.sqlite");
    for (a, b) in [(&damaged, &other), (&other, &damaged)] {
        let (code, found) = differences(a, b);
        assert_eq!(code, Some(2));
        let unreadable = of_type(&found, "unreadable");
        assert!(!unreadable.is_empty());
        for line in of_type(&found, "removed").into_iter().chain(of_type(&found, "added")) {
            assert!(unreadable.iter().all(|of| (&of["lod"], &of["block"]) != (&line["lod"], &line["block"])), "{line}");
        }
    }
}

#[test]
fn what_was_not_read_is_not_called_missing_in_saves_of_other_sizes() {
    let demo = Demo::new();
    let save = demo.path("healthy/current");
    let dir = tempdir().unwrap();
    for size in ["8", "32"] {
        let to = dir.path().join(size);
        let to = to.to_str().unwrap();
        assert_eq!(run(&["convert", &save, "--out", to, "--block-size", size]).code, Some(0));
        let holes = |lines: &[Json]| lines.last().unwrap()["holes"].as_u64().unwrap();
        let (_, whole) = differences(&save, to);
        let region = std::path::Path::new(to).join("regions/lod0/r.0.0.0.vxr");
        std::fs::remove_file(&region).unwrap();
        std::fs::create_dir(&region).unwrap();
        for (a, b) in [(save.as_str(), to), (to, save.as_str())] {
            let (code, found) = differences(a, b);
            assert_eq!(code, Some(2), "{size}");
            assert!(!of_type(&found, "unreadable").is_empty(), "{size}");
            for kind in ["removed", "added"] {
                assert_eq!(of_type(&found, kind).len(), 0, "{size}: {kind}");
            }
            // Metadata that larger blocks have no place for differs.
            assert!(of_type(&found, "changed").len() <= of_type(&whole, "changed").len(), "{size}");
            assert!(holes(&found) <= holes(&whole), "{size}: {}", found.last().unwrap());
        }
    }
}
