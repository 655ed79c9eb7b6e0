//! What texts for people say agrees with what is found, and with what the commands in them do.

use std::collections::BTreeSet;
use std::fs;

use rayon::prelude::*;
use serde_json::Value as Json;
use tempfile::tempdir;
use voxscope::demo;

use crate::{Demo, joined, lines, output, run};

fn checked(save: &str) -> Json {
    serde_json::from_str(&run(&["check", save, "--format=json"]).out).unwrap()
}

/// The number, written with separators, before a word.
fn number_before(text: &str, word: &str) -> u64 {
    let (before, _) = text.split_once(word).unwrap_or_else(|| panic!("no {word} in {text}"));
    before.trim_end().rsplit(' ').next().unwrap().replace(',', "").parse().unwrap()
}

#[test]
fn findings_that_are_not_listed_are_counted_by_their_codes() {
    let demo = Demo::new();
    let save = demo.path("damaged/findings-cut");
    let json = checked(&save);
    let all = json["findings"].as_array().unwrap();
    let cut = all.iter().find(|finding| finding["code"] == "findings-cut").unwrap();
    let next = cut["next"].as_str().unwrap();
    assert!(next.contains(&format!("voxscope check {save}-repaired`")), "{next}");
    let text = joined(&run(&["check", &save]).out);
    // One block of each code is shown as it is, and the others are counted.
    let codes: BTreeSet<&str> = all.iter().filter_map(|finding| finding["code"].as_str()).collect();
    let codes: Vec<&&str> = codes.iter().filter(|code| **code != "findings-cut").collect();
    assert!(!codes.is_empty(), "{all:?}");
    let of_code = |code: &&&str| {
        let (_, rest) = text.split_once(&format!("{code} in ")).unwrap_or_else(|| panic!("no {code} in {text}"));
        number_before(rest, "more block") + 1
    };
    let said: u64 = codes.iter().map(of_code).sum();
    assert_eq!(said, json["summary"]["errors"].as_u64().unwrap() + json["summary"]["warnings"].as_u64().unwrap());
    assert!(text.contains("of this file not listed"), "{text}");
}

#[cfg(feature = "sqlite")]
#[test]
fn the_conversion_that_is_advised_for_old_keys_keeps_instances() {
    let demo = Demo::new();
    let save = demo.path("damaged/stream-key-rule");
    let json = checked(&save);
    let rule = json["findings"].as_array().unwrap().iter().find(|finding| finding["code"] == "stream-key-rule");
    let next = rule.unwrap()["next"].as_str().unwrap();
    let convert = next.split('`').find(|part| part.starts_with("voxscope convert ")).unwrap();
    let arguments: Vec<&str> = convert.split(' ').skip(1).collect();
    let done = run(&arguments);
    assert_eq!(done.code, Some(0), "{convert}: {}{}", done.out, done.err);
}

#[test]
fn bytes_with_unowned_blocks_are_not_called_old() {
    let demo = Demo::new();
    let kinds = ["table-", "block-u", "crash-", "power-loss", "disk-full", "stale-tail"];
    let is_of = |sample: &&demo::Sample| kinds.iter().any(|kind| sample.name.starts_with(kind));
    let samples: Vec<_> = demo::samples().filter(is_of).collect();
    samples.par_iter().for_each(|sample| {
        let json = checked(&demo.path(sample.path().to_str().unwrap()));
        let findings = json["findings"].as_array().unwrap();
        let of = |code: &'static str| findings.iter().filter(move |finding| finding["code"] == code);
        let bytes = |finding: &Json| [0, 1].map(|i| finding["bytes"][i].as_u64().unwrap());
        for tail in of("stale-tail") {
            let [from, to] = bytes(tail);
            let is_in = |block: &Json| {
                let [start, _] = bytes(block);
                block["file"] == tail["file"] && (from..to).contains(&start)
            };
            assert!(!of("block-orphan").any(is_in), "{}: {tail}", sample.name);
        }
    });
}

#[test]
fn what_a_repair_puts_right_is_not_called_clean() {
    let demo = Demo::new();
    let kinds = ["stream", "conversion-left", "block-unlisted", "current", "old-20", "pak-room", "map-", "slots-"];
    let is_of = |sample: &&demo::Sample| kinds.iter().any(|kind| sample.name.starts_with(kind));
    let is_old = |sample: &&demo::Sample| sample.name == "blocks-v4-old-slots";
    let samples: Vec<_> = demo::samples().filter(|sample| is_of(sample) || is_old(sample)).collect();
    let clean: usize = samples
        .par_iter()
        .map(|sample| {
            let save = demo.path(sample.path().to_str().unwrap());
            let text = run(&["check", &save, "--notes"]);
            if !text.out.lines().any(|line| line.starts_with("clean")) {
                return 0;
            }
            assert_eq!(text.code, Some(0), "{}: {}", sample.name, text.out);
            assert!(!joined(&text.out).contains("in the wrong place"), "{}: {}", sample.name, text.out);
            let json = checked(&save);
            assert_eq!(json["causes"], serde_json::json!([]), "{}: {}", sample.name, text.out);
            let plan = run(&["repair", &save, "--plan"]);
            assert_eq!(plan.code, Some(0), "{}: {}", sample.name, plan.out);
            1
        })
        .sum();
    assert!(clean > 5, "{clean}");
}

#[test]
fn values_that_are_not_known_are_shown() {
    let demo = Demo::new();
    let message = |sample: &str, code: &str| {
        let json = checked(&demo.path(sample));
        let found = json["findings"].as_array().unwrap().iter().find(|finding| finding["code"] == code).cloned();
        found.unwrap()["message"].as_str().unwrap().to_owned()
    };
    assert!(message("damaged/map-format", "map-format").contains("(octree;"));
    assert!(message("damaged/map-field", "map-field").contains("([0.5,0,0.5];"));
    // However long a value is, and whatever is in it.
    let map = demo.path("damaged/map-format");
    let file = format!("{map}/map_data.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("octree", &format!("\\u001b[31m{}", "x".repeat(100_000)))).unwrap();
    let found = message("damaged/map-format", "map-format");
    assert!(found.contains("[31mxxxx") && found.contains('…') && found.len() < 200, "{found}");
    assert!(!found.contains('\u{1b}'), "{found:?}");
    let dir = tempdir().unwrap();
    let array = dir.path().join("a.npy");
    let mut bytes = fs::read(demo.path("damaged/npy-dtype/Lake_Global.npy")).unwrap();
    let at = bytes.windows(3).position(|three| three == b"<f8").unwrap();
    bytes[at..at + 3].copy_from_slice(b"|S4");
    fs::write(&array, bytes).unwrap();
    let shown = run(&["show", array.to_str().unwrap()]);
    assert!(joined(&shown.out).contains("(|S4;"), "{}", shown.out);
}

#[test]
fn an_entry_that_leads_into_a_block_does_not_mix_slot_formulas() {
    // One engine of today wrote it and was killed: an entry leads into the middle of a block.
    let save = crate::common::committed().join("crash_sizes/bs8_rs8_s128_rand_2/world");
    let json = checked(save.to_str().unwrap());
    let codes: Vec<&str> = json["findings"].as_array().unwrap().iter().filter_map(|f| f["code"].as_str()).collect();
    assert!(codes.contains(&"block-misplaced") || codes.contains(&"block-moved"), "{codes:?}");
    assert!(!codes.contains(&"slots-mixed"), "{codes:?}");
}

#[cfg(feature = "sqlite")]
#[test]
fn pages_have_one_number() {
    let demo = Demo::new();
    let save = demo.path("healthy/stream");
    let listed = output(&["ls", &save]);
    let row = listed.lines().nth(2).unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    let shown = output(&["show", &save, &format!("--block={},{},{}", cells[1], cells[2], cells[3])]);
    assert!(shown.contains(&format!("page {} ", cells[4])), "{row}: {shown}");
    // Documented: counted from 0 in machine formats.
    let json = &lines(&output(&["ls", &save, "--format=jsonl"]))[0];
    assert_eq!(json["sector"].as_u64().unwrap() + 1, cells[4].parse::<u64>().unwrap());
}

#[test]
fn block_files_have_neither_sectors_nor_tables() {
    let demo = Demo::new();
    let save = demo.path("healthy/block-files");
    let file = demo.path("healthy/block-files/blocks/lod0/-1+0-1.vxb");
    for arguments in [&["ls", &save][..], &["info", &save], &["show", &save, "--block=-1,0,-1"], &["show", &file]] {
        let text = output(arguments);
        assert!(!text.contains("sector") && !text.contains("table") && !text.contains("slot"), "{arguments:?}: {text}");
    }
    let dir = tempdir().unwrap();
    let empty = dir.path().join("+0+0+0.vxb");
    fs::write(&empty, []).unwrap();
    for arguments in [&["show", empty.to_str().unwrap()][..], &["show", &save, "--block=99,0,0"]] {
        let none = run(arguments);
        assert!(none.code == Some(8) && !none.err.contains("table"), "{arguments:?}: {}", none.err);
    }
}

#[test]
fn names_of_codes_are_found_whatever_their_case() {
    assert!(output(&["explain", "BLOCK-PREFIX"]).starts_with("block-prefix"));
}

#[test]
fn columns_are_below_their_headings() {
    let demo = Demo::new();
    let listed = run(&["ls", &demo.path("damaged/container-byte-order")]).out;
    let at = listed.lines().find_map(|line| line.find("state")).unwrap();
    let rows: Vec<&str> = listed.lines().filter(|line| line.contains("lz4-wrong-order")).collect();
    assert!(!rows.is_empty());
    rows.iter().for_each(|row| assert_eq!(row.find("error"), Some(at), "{row}"));
}

#[test]
fn an_empty_file_is_called_empty() {
    let dir = tempdir().unwrap();
    let empty = dir.path().join("empty.npy");
    fs::write(&empty, []).unwrap();
    let info = run(&["info", empty.to_str().unwrap()]);
    assert!(info.code == Some(8) && info.err.contains("empty.npy: the file is empty"), "{}", info.err);
}
