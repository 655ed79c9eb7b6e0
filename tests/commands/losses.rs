//! What a repair does not bring back is named in the check, the plan and the end of the repair, with the same numbers.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;
use tempfile::tempdir;

use crate::{Demo, lines, run};

/// The words of a text, without its line breaks.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The totals of a check, a repair and its report, after a test that they are equal and that both exit codes are.
fn totals(save: &str, copy: &Path) -> (Json, String, Option<i32>) {
    let check = run(&["check", save, "--format", "jsonl"]);
    let summary = lines(&check.out).pop().expect("a summary");
    let plan = run(&["repair", save, "--plan"]);
    let repair = run(&["repair", save, "--out", copy.to_str().unwrap()]);
    assert_eq!(plan.code, repair.code, "{}{}", plan.out, repair.out);
    let report: Json = serde_json::from_slice(&fs::read(copy.join("repair.json")).unwrap()).unwrap();
    assert_eq!(summary["totals"], report["totals"]);
    let text = run(&["check", save]).out;
    (report["totals"].clone(), words(&format!("{text}{}", repair.out)), repair.code)
}

#[test]
fn instances_that_a_copy_lacks_are_named_as_lost() {
    let demo = Demo::new();
    for code in ["cut", "version", "range", "scale", "format", "epilogue"] {
        let save = demo.path(&format!("damaged/instances-{code}"));
        let dir = tempdir().unwrap();
        let (totals, text, exit) = totals(&save, &dir.path().join("copy"));
        assert_eq!(
            (&totals["instances_lost"], &totals["salvaged"], &totals["put_right"]),
            (&1.into(), &1.into(), &0.into())
        );
        assert_eq!(exit, Some(5), "{text}");
        assert!(text.contains("the instances of 1 block are lost"), "{code}: {text}");
        assert!(text.contains("1 block has no instances in the copy"), "{code}: {text}");
        assert!(
            text.contains("leaves its instances out") || text.contains("leaves the instances out"),
            "{code}: {text}"
        );
        assert!(!text.contains("; nothing is lost") && !text.contains("instances that can be read"), "{code}: {text}");
    }
}

#[test]
fn a_backup_supplies_instances_that_are_damaged() {
    let demo = Demo::new();
    let (save, backup) = (demo.path("damaged/instances-cut"), demo.path("damaged/instances-twice"));
    let dir = tempdir().unwrap();
    let copy = dir.path().join("copy");
    let repair = run(&["repair", &save, "--out", copy.to_str().unwrap(), "--from-backup", &backup]);
    let report: Json = serde_json::from_slice(&fs::read(copy.join("repair.json")).unwrap()).unwrap();
    assert_eq!(report["totals"]["instances_lost"], 0, "{}", repair.out);
    let row = &report["streams"][0]["put_right"][0];
    assert_eq!((&row["vb"], &row["instances"]), (&"kept".into(), &"from backup".into()), "{row}");
    let block = |save: &str| {
        let shown = run(&["show", save, "--block", "0,0,0", "--format", "jsonl"]);
        let json: Json = serde_json::from_str(&shown.out).unwrap();
        json["instances"]["data"]["layers"].clone()
    };
    assert_eq!(block(copy.to_str().unwrap()), block(&backup));
}

#[test]
fn rows_on_pages_that_cannot_be_read_are_not_called_complete() {
    let demo = Demo::new();
    for name in ["stream-page", "stream-cut"] {
        let save = demo.path(&format!("damaged/{name}"));
        let dir = tempdir().unwrap();
        let (totals, text, exit) = totals(&save, &dir.path().join("copy"));
        assert_eq!((&totals["pages_lost"], &totals["lost"]), (&1.into(), &0.into()), "{name}");
        assert_eq!(exit, Some(5), "{name}");
        assert!(text.contains("Rows that were on the lost page are not counted."), "{name}: {text}");
        assert!(text.contains("how many rows 1 lost page held is not known"), "{name}: {text}");
        assert!(text.contains("6 of 6 known rows kept"), "{name}: {text}");
        assert!(text.contains("1 page of tables cannot be read, and how many rows were on it is not known."), "{text}");
        let info = run(&["info", &save]);
        assert!(words(&info.out).contains("rows on it are not counted, and their LODs are not known"), "{}", info.out);
        let info = run(&["info", &save, "--format", "json"]);
        let info: Json = serde_json::from_str(&info.out).unwrap();
        assert_eq!(info["streams"][0]["stream"]["pages_unread"], 1, "{name}");
    }
    // An index names all rows, so that those on lost pages are known.
    let save = demo.path("damaged/stream-index");
    let dir = tempdir().unwrap();
    assert_eq!(totals(&save, &dir.path().join("copy")).0["pages_lost"], 0);
}
