//! What a repair does not bring back is named in the check, the plan and the end of the repair, with the same numbers.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;
use tempfile::tempdir;

use crate::{Demo, joined, lines, run};

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
    (report["totals"].clone(), joined(&format!("{text}{}", repair.out)), repair.code)
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
        assert!(!text.contains("; no block is lost") && !text.contains("instances that can be read"), "{code}: {text}");
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
        assert!(text.contains("6 of 6 known rows written"), "{name}: {text}");
        assert!(text.contains("1 page of tables cannot be read, and how many rows were on it is not known."), "{text}");
        let info = run(&["info", &save]);
        assert!(joined(&info.out).contains("rows on it are not counted, and their LODs are not known"), "{}", info.out);
        let info = run(&["info", &save, "--format", "json"]);
        let info: Json = serde_json::from_str(&info.out).unwrap();
        assert_eq!(info["streams"][0]["stream"]["pages_unread"], 1, "{name}");
    }
    // An index names all rows, so that those on lost pages are known.
    let save = demo.path("damaged/stream-index");
    let dir = tempdir().unwrap();
    assert_eq!(totals(&save, &dir.path().join("copy")).0["pages_lost"], 0);
}

/// Blocks of version 4 that the old formula placed are readable here, and elsewhere in the game: check and repair say the same.
#[test]
fn blocks_in_the_slots_of_the_old_formula_are_moved_by_a_repair() {
    let demo = Demo::new();
    let save = demo.path("healthy/blocks-v4-old-slots");
    let dir = tempdir().unwrap();
    let copy = dir.path().join("copy");
    let (totals, text, exit) = totals(&save, &copy);
    let moved = totals["put_right"].as_u64().unwrap();
    assert_eq!((exit, &totals["lost"]), (Some(1), &0.into()));
    assert_eq!(moved + totals["kept"].as_u64().unwrap(), 50, "{totals}");
    assert!(moved > 40, "{totals}");
    assert_eq!(run(&["check", &save]).code, Some(0));
    assert!(text.contains("which engines of today read one slot away"), "{text}");
    assert!(text.contains(&format!("puts {moved} right for certain; no block is lost")), "{text}");
    let report: Json = serde_json::from_slice(&fs::read(copy.join("repair.json")).unwrap()).unwrap();
    let listed =
        report["regions"].as_array().unwrap().iter().map(|region| region["put_right"].as_array().unwrap().len());
    assert_eq!(listed.sum::<usize>() as u64, moved);
    let causes = |save: &str| {
        let all = lines(&run(&["check", save, "--format", "jsonl"]).out);
        all.iter().filter(|line| line["type"] == "cause").map(|line| line["cause"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(causes(&save), ["old-slots"]);
    // The same formula as an option leads to the same verdict.
    let given = run(&["check", &save, "--slots", "old", "--format", "jsonl"]);
    let found = lines(&given.out);
    let named: Vec<_> = found.iter().filter(|line| line["type"] == "cause").map(|line| line["cause"].clone()).collect();
    assert_eq!((given.code, named), (Some(0), vec!["old-slots".into()]), "{}", given.out);
    assert_eq!(found.last().unwrap()["totals"], totals, "{}", given.out);
    assert_eq!(run(&["repair", &save, "--slots", "old", "--plan"]).code, Some(1));
    let copy = copy.to_str().unwrap();
    assert_eq!(causes(copy), Vec::<Json>::new());
    let again = run(&["repair", copy, "--plan"]);
    assert_eq!((again.code, again.out.trim()), (Some(0), "Nothing to repair."));
}

#[test]
fn a_repaired_pak_region_needs_no_other_repair() {
    let demo = Demo::new();
    for (file, right) in [
        ("damaged/pak-name/x1_y0_z0.region (copy)", "x1_y0_z0.region"),
        ("damaged/pak-duplicate/x00_y0_z0.region", "x0_y0_z0.region"),
    ] {
        let dir = tempdir().unwrap();
        let copy = dir.path().join("copy");
        let plan = run(&["repair", &demo.path(file), "--plan"]);
        let repair = run(&["repair", &demo.path(file), "--out", copy.to_str().unwrap()]);
        assert_eq!((plan.code, repair.code), (Some(1), Some(1)), "{}{}", plan.out, repair.out);
        assert!(copy.join(right).is_file(), "{}", repair.out);
        let again = run(&["repair", copy.to_str().unwrap(), "--plan"]);
        assert_eq!((again.code, again.out.trim()), (Some(0), "Nothing to repair."));
    }
}

#[test]
fn advice_about_block_files_promises_what_a_repair_does() {
    let demo = Demo::new();
    let next = |name: &str, file: &str| {
        let save = demo.path(name);
        let out = run(&["check", &save, "--format", "jsonl"]).out;
        let found = lines(&out).into_iter().find(|line| line["file"] == file && line["level"] == "error");
        let text = joined(&run(&["check", &save]).out);
        (found.expect("a finding")["next"].as_str().unwrap().to_owned(), text)
    };
    let (advice, text) = next("damaged/block-file-cut", "blocks/lod0/+1+0+0.vxb");
    assert!(advice.contains("moves the file to lost+found as it is"), "{advice}");
    assert!(text.contains(&advice) && !text.contains("keeps the channels"), "{text}");
}

/// Files that held no block, and pages whose rows are all read, lose nothing: the exit code has no bit for damage that is left.
#[test]
fn a_copy_that_lacks_nothing_is_not_called_damaged() {
    let demo = Demo::new();
    for (name, why) in [
        ("region-voxedit", "it is a rig of VoxEdit and no region file; kept in lost+found."),
        ("region-never-stored", "nothing is behind its header; kept in lost+found."),
        ("stream-header", "1 page with the damaged header: kept in lost+found."),
    ] {
        let save = demo.path(&format!("damaged/{name}"));
        let dir = tempdir().unwrap();
        let copy = dir.path().join("copy");
        let (plan, repair) =
            (run(&["repair", &save, "--plan"]), run(&["repair", &save, "--out", copy.to_str().unwrap()]));
        assert_eq!((plan.code, repair.code), (Some(1), Some(1)), "{name}: {}", repair.out);
        assert!(joined(&plan.out).contains(why), "{name}: {}", plan.out);
    }
    // What an empty file or a lost page held is not known.
    for name in ["region-empty", "stream-row-lost", "stream-unused"] {
        assert_eq!(run(&["repair", &demo.path(&format!("damaged/{name}")), "--plan"]).code, Some(5), "{name}");
    }
}

#[test]
fn a_block_without_a_place_is_not_passed_over_as_nothing() {
    let demo = Demo::new();
    let text = joined(&run(&["check", &demo.path("damaged/crash-new-block")]).out);
    assert!(text.contains("no listed block is lost; 1 block or part of a block goes to lost+found."), "{text}");
    let text = joined(&run(&["check", &demo.path("damaged/map-index-range")]).out);
    assert!(text.contains("changes 3 files; 1 block or part of a block goes to lost+found."), "{text}");
    // The old bytes of a block that was written anew are no loss.
    let text = joined(&run(&["check", &demo.path("damaged/block-depth")]).out);
    assert!(text.contains("no block is lost; the old bytes of 1 rewritten block go to lost+found."), "{text}");
}

#[cfg(feature = "sqlite")]
#[test]
fn rows_on_pages_that_cannot_be_read_are_not_left_out_in_silence() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    let save = dir.path().join("world.sqlite");
    let mut bytes = fs::read(demo.path("healthy/stream/world.sqlite")).unwrap();
    let size = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    // Every leaf of a table but the first page, which lists the tables: no row is left.
    for page in bytes.chunks_mut(size).skip(1).filter(|page| page[0] == 0x0d) {
        page.fill(0);
    }
    fs::write(&save, bytes).unwrap();
    let save = save.to_str().unwrap();
    let to = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    for (arguments, code) in [
        (&["convert", save, "--out", &to("converted"), "--block-size", "16"][..], 8),
        (&["export", save, "--out", &to("arrays")], 8),
        (&["diff", save, save], 2),
        (&["ls", save], 8),
        (&["info", save], 8),
    ] {
        let run = run(arguments);
        assert_eq!(run.code, Some(code), "{arguments:?}: {} {}", run.out, run.err);
        assert!(run.err.contains("world.sqlite"), "{arguments:?}: {}", run.err);
    }
    // Of the rows that are left, as many as can be read are listed.
    let run = run(&["ls", &demo.path("damaged/stream-page")]);
    assert_eq!(run.code, Some(8), "{}", run.err);
    assert!(joined(&run.err).contains("of tables cannot be read: rows on"), "{}", run.err);
}

#[test]
fn a_block_of_which_only_the_number_of_sectors_is_wrong_is_kept_where_it_is() {
    let demo = Demo::new();
    let save = demo.path("damaged/table-count");
    let dir = tempdir().unwrap();
    let (totals, text, exit) = totals(&save, &dir.path().join("copy"));
    assert_eq!((exit, &totals["kept"], &totals["put_right"]), (Some(1), &12.into(), &0.into()), "{totals}");
    assert!(text.contains("mends 1 file and keeps all 12 blocks"), "{text}");
    for words in ["in the wrong place", "had no entry"] {
        assert!(!text.contains(words), "{text}");
    }
}
