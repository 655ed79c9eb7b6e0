//! Answers of several commands about one save that must not contradict each other.

use std::fs;

use serde_json::Value as Json;
use tempfile::tempdir;

use crate::common::copy_dir;
use crate::{Demo, joined, lines, run};

#[cfg(feature = "sqlite")]
#[test]
fn blocks_of_one_position_are_left_out_by_all_commands_and_named() {
    let demo = Demo::new();
    let save = demo.path("damaged/stream-key-twice");
    let dir = tempdir().unwrap();
    let to = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let words = "1 block left out because another one has the same position";
    for (arguments, code) in [
        (&["export", &save, "--out", &to("arrays")][..], 4),
        (&["export", &save, "--map", &to("map.png")], 4),
        (&["convert", &save, "--out", &to("converted")], 4),
        (&["diff", &save, &save], 2),
    ] {
        let run = run(arguments);
        assert_eq!(run.code, Some(code), "{arguments:?}: {}", run.err);
        assert!(run.err.contains(words), "{arguments:?}: {}", run.err);
    }
    let json: Json = serde_json::from_slice(&fs::read(dir.path().join("arrays/export.json")).unwrap()).unwrap();
    assert_eq!(json["positions_twice"], 1, "{json}");
    let summary = lines(&run(&["diff", &save, &save, "--format=jsonl"]).out).pop().unwrap();
    assert_eq!(summary["positions_twice"], serde_json::json!([1, 1]), "{summary}");
}

#[cfg(feature = "sqlite")]
#[test]
fn blocks_on_pages_that_cannot_be_read_are_not_called_removed() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    let whole = demo.path("healthy/stream/world.sqlite");
    let damaged = dir.path().join("world.sqlite");
    let mut bytes = fs::read(&whole).unwrap();
    // A page that is a leaf of the table or has other content is zeroed, until rows are missing.
    let size = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    let rows = lines(&run(&["ls", &whole, "--format=jsonl"]).out);
    let page = usize::try_from(rows[0]["sector"].as_u64().unwrap()).unwrap();
    bytes[page * size..(page + 1) * size].fill(0);
    fs::write(&damaged, bytes).unwrap();
    let damaged = damaged.to_str().unwrap();
    for (a, b, side) in [(whole.as_str(), damaged, "b"), (damaged, whole.as_str(), "a")] {
        let run = run(&["diff", a, b, "--format=jsonl"]);
        assert_eq!(run.code, Some(2), "{}", run.err);
        let all = lines(&run.out);
        let summary = all.last().unwrap();
        assert_eq!((&summary["removed"], &summary["added"]), (&0.into(), &0.into()), "{summary}");
        assert!(summary["unreadable"].as_u64().unwrap() > 0, "{summary}");
        let unreadable: Vec<&Json> = all.iter().filter(|line| line["type"] == "unreadable").collect();
        assert!(unreadable.iter().all(|line| line["side"] == side), "{unreadable:?}");
    }
}

#[test]
fn info_counts_the_files_that_have_findings_whatever_the_format() {
    let demo = Demo::new();
    for (sample, faults) in [
        ("damaged/map-unreadable", 1),
        ("damaged/map-format", 1),
        ("damaged/pak-header-cut", 1),
        ("damaged/pak-record-count", 1),
        ("damaged/region-header-cut", 1),
        ("damaged/meta-field", 1),
        ("healthy/current", 0),
        ("healthy/map-sparse", 0),
        ("healthy/pak-room", 0),
    ] {
        let info: Json = serde_json::from_str(&run(&["info", &demo.path(sample), "--format=json"]).out).unwrap();
        assert_eq!(info["faults"], faults, "{sample}");
    }
}

#[test]
fn each_of_several_saves_is_read_by_its_own_slot_formula() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    let (old, new) = (demo.path("healthy/blocks-v4-old-slots"), demo.path("healthy/current"));
    copy_dir(&old, dir.path().join("old"));
    copy_dir(&new, dir.path().join("new"));
    let both = dir.path().to_str().unwrap();
    let listed = |path: &str, below: &str| -> Vec<String> {
        let rows = lines(&run(&["ls", path, "--format=jsonl"]).out);
        let of = rows.iter().filter_map(|row| Some((row["file"].as_str()?.strip_prefix(below)?.to_owned(), row)));
        of.map(|(file, row)| format!("{file} {} {}", row["slot"], row["position"])).collect()
    };
    let ran = run(&["ls", both]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(ran.err.matches("old formula").count(), 1, "{}", ran.err);
    for (name, save) in [("old/", &old), ("new/", &new)] {
        let alone = listed(save, "");
        assert!(!alone.is_empty());
        assert_eq!(listed(both, name), alone, "{name}");
    }
}

#[test]
fn a_save_beside_another_one_is_repaired_as_it_is_alone() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    let old = demo.path("healthy/blocks-v4-old-slots");
    copy_dir(&old, dir.path().join("old"));
    copy_dir(demo.path("healthy/current"), dir.path().join("new"));
    let both = dir.path().to_str().unwrap();
    let put_right = |path: &str| {
        let summary = lines(&run(&["check", path, "--format=jsonl"]).out).pop().expect("a summary");
        (run(&["repair", path, "--plan"]).code, summary["totals"]["put_right"].as_u64())
    };
    let alone = put_right(&old);
    assert!(alone.1 > Some(40), "{alone:?}");
    assert_eq!(put_right(both), alone);
    // What `check` promises is what a repair does.
    let promised = |path: &str| {
        let text = run(&["check", path]).out;
        let [one, several] = ["in their slots of the old formula", "in the wrong place"];
        let said = |words: &str| text.contains(&format!("{} are {words}", alone.1.unwrap()));
        said(one) || said(several)
    };
    assert!(promised(&old) && promised(both));
    let copy = dir.path().with_extension("repaired");
    let repaired = run(&["repair", both, "--out", copy.to_str().unwrap()]);
    assert!(
        repaired.code == Some(1) && repaired.out.contains(&format!("{} put right", alone.1.unwrap())),
        "{}",
        repaired.out
    );
    let again = run(&["repair", copy.to_str().unwrap(), "--plan"]);
    fs::remove_dir_all(&copy).unwrap();
    assert_eq!((again.code, again.out.trim()), (Some(0), "Nothing to repair."));
}

#[test]
fn an_error_about_one_side_of_a_comparison_names_the_side() {
    let demo = Demo::new();
    let (world, pak) = (demo.path("healthy/current"), demo.path("healthy/pak-room"));
    for (a, b, side) in [(&world, &pak, "b: "), (&pak, &world, "a: ")] {
        let run = run(&["diff", a, b]);
        assert_eq!(run.code, Some(2));
        let last = run.err.lines().last().unwrap();
        assert!(last.contains(&format!("voxscope: {side}")), "{}", run.err);
    }
}

#[test]
fn a_range_of_one_value_is_that_value() {
    let demo = Demo::new();
    let said = run(&["check", &demo.path("damaged/pak-orphan")]).out;
    assert!(said.contains("(0 bytes; expected 1 byte)"), "{said}");
}

#[test]
fn what_is_damaged_is_named_on_standard_error_by_all_commands_that_write() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    for (sample, command, words) in [
        (
            "block-epilogue",
            "convert",
            "voxscope: block (1, 0, 0) of LOD 0 cannot be read and is left out: block-epilogue",
        ),
        ("block-epilogue", "export", "voxscope: block (1, 0, 0) is not exported completely: block-epilogue"),
        ("pak-beyond-end", "export", "is not exported completely: pak-beyond-end"),
    ] {
        let out = dir.path().join(format!("{sample}-{command}"));
        let run = run(&[command, &demo.path(&format!("damaged/{sample}")), "--out", out.to_str().unwrap()]);
        assert_eq!(run.code, Some(4), "{command} {sample}: {}", run.err);
        assert!(joined(&run.err).contains(words), "{command} {sample}: {}", run.err);
    }
}
