//! Counts, words and causes of `check` agree with what other commands say of the same save.

use std::collections::BTreeSet;
use std::path::Path;

use rayon::prelude::*;
use serde_json::Value as Json;
use voxscope::damage::{Code, Level};
use voxscope::demo;

use crate::{Demo, joined, lines, run};

/// The lines of `check --format jsonl` of a type.
fn checked(save: &str, kind: &str) -> Vec<Json> {
    lines(&run(&["check", save, "--format", "jsonl"]).out).into_iter().filter(|line| line["type"] == kind).collect()
}

fn summary(save: &str) -> Json {
    checked(save, "summary").remove(0)
}

#[test]
fn causes_count_the_blocks_that_findings_name() {
    let demo = Demo::new();
    let samples: Vec<_> = demo::samples().filter(|sample| !sample.expect.is_empty()).collect();
    let counted: Vec<(String, bool)> = samples
        .par_iter()
        .filter_map(|sample| {
            let save = demo.path(sample.path().to_str().unwrap());
            let causes = checked(&save, "cause");
            let [cause] = &causes[..] else { return None };
            let open = cause["cause"] == "storage-damaged" || cause["cause"] == "foreign-data";
            if !open || cause["evidence"][0].as_str().unwrap().contains("entries of tables") {
                return None;
            }
            let is_evidence = |line: &&Json| {
                let code = Code::ALL.iter().find(|code| line["code"] == code.name()).unwrap();
                code.level() > Level::Note && !line["block"].is_null()
            };
            let named: BTreeSet<String> = checked(&save, "finding")
                .iter()
                .filter(is_evidence)
                .map(|line| format!("{} {} {}", line["file"], line["lod"], line["block"]))
                .collect();
            let blocks = cause["blocks"].as_u64().unwrap();
            assert!(blocks >= named.len() as u64, "{}: {blocks} blocks, {named:?}", sample.name);
            Some((sample.name.to_owned(), blocks > 0))
        })
        .collect();
    assert!(counted.iter().filter(|(_, is_named)| *is_named).count() > 8, "{counted:?}");
    assert!(counted.contains(&("pak-zlib-cut".to_owned(), true)), "{counted:?}");
}

#[test]
fn check_counts_the_blocks_of_a_map_that_ls_lists() {
    let demo = Demo::new();
    let maps = demo::samples().filter(|sample| sample.name.starts_with("map-") || sample.name.starts_with("npy-"));
    for sample in maps {
        let save = demo.path(sample.path().to_str().unwrap());
        let rows = lines(&run(&["ls", &save, "--format", "jsonl"]).out).len();
        assert_eq!(summary(&save)["blocks"], rows, "{}", sample.name);
    }
}

#[test]
fn advice_promises_nothing_that_the_verdict_denies() {
    let demo = Demo::new();
    let text = |name: &str| {
        let out = run(&["check", &demo.path(&format!("damaged/{name}"))]).out;
        joined(&out)
    };
    let map = text("map-unreadable");
    assert!(map.contains("No layer can be read") && map.contains("no block left that a repair could write"), "{map}");
    assert!(map.contains("map-unreadable: If layers can be read, as the finding says, run"), "{map}");
    let pak = text("pak-records-cut");
    assert!(pak.contains("leaves the file out of the copy") && !pak.contains("writes an empty region"), "{pak}");
    assert!(pak.contains("no block left that a repair could write: 3 are lost."), "{pak}");
}

#[test]
fn findings_about_a_block_file_do_not_speak_of_sectors() {
    let demo = Demo::new();
    let found = checked(&demo.path("damaged/block-file-cut"), "finding");
    let cut = found.iter().find(|line| line["code"] == "block-prefix").expect("a finding");
    let text = format!("{} {}", cut["message"], cut["next"]);
    assert!(text.contains("past the end of the block file"), "{text}");
    assert!(!text.contains("sector") && !text.contains("table"), "{text}");
}

#[test]
fn lost_files_are_counted_where_their_blocks_cannot_be() {
    let demo = Demo::new();
    for (name, files, layers, blocks) in [
        ("region-header-cut", 1, 0, 0),
        ("pak-header-cut", 1, 0, 0),
        ("map-unreadable", 1, 0, 0),
        ("npy-cut", 0, 1, 0),
        // What is lost of these has a record, or a name that is a position.
        ("pak-records-cut", 0, 0, 3),
        ("block-file-header", 0, 0, 1),
        // These lose nothing.
        ("region-never-stored", 0, 0, 0),
        ("region-voxedit", 0, 0, 0),
        ("name-region", 0, 0, 0),
    ] {
        let totals = &summary(&demo.path(&format!("damaged/{name}")))["totals"];
        let lost = ["files_lost", "layers_lost", "lost"].map(|key| totals[key].as_u64().unwrap());
        assert_eq!(lost, [files, layers, blocks], "{name}: {totals}");
    }
    let text = run(&["check", &demo.path("damaged/region-header-cut")]).out.replace('\n', " ");
    assert!(text.contains("held is not known"), "{text}");
}

#[test]
fn files_of_foreign_names_count_as_unread() {
    let demo = Demo::new();
    for name in ["block-file-name", "name-region"] {
        let save = demo.path(&format!("damaged/{name}"));
        assert_eq!(summary(&save)["files_unread"], 1, "{name}");
        assert_eq!(run(&["check", &save]).code, Some(4), "{name}");
    }
    assert!(Path::new(&demo.path("healthy/current")).is_dir());
    assert_eq!(summary(&demo.path("healthy/current"))["files_unread"], 0);
}
