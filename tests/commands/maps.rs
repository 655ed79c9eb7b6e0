//! Voxel maps: what is said of missing arrays, and what `ls`, `check` and `show` say of a map's files.

use std::fs;

use serde_json::Value as Json;
use tempfile::tempdir;

use crate::{Demo, run};

#[test]
fn check_plan_and_repair_agree_on_a_map_without_an_array() {
    let demo = Demo::new();
    for name in ["Lake_Global_index.npy", "Lake_Global.npy"] {
        let dir = tempdir().unwrap();
        let save = dir.path().join("map");
        fs::create_dir(&save).unwrap();
        for entry in fs::read_dir(demo.path("healthy/map-sparse")).unwrap().map(Result::unwrap) {
            fs::copy(entry.path(), save.join(entry.file_name())).unwrap();
        }
        fs::remove_file(save.join(name)).unwrap();
        let path = save.to_str().unwrap();
        let checked = run(&["check", path]);
        assert_eq!(checked.code, Some(4), "{}", checked.out);
        assert!(!checked.out.contains("voxscope repair") || checked.out.contains("SAVE --out NEW"), "{}", checked.out);
        assert!(!checked.out.contains(" changes "), "{}", checked.out);
        let plan = run(&["repair", path, "--plan"]);
        let new = dir.path().join("new");
        let done = run(&["repair", path, "--out", new.to_str().unwrap()]);
        assert_eq!((plan.code, done.code), (Some(4), Some(4)), "{}{}", plan.out, done.out);
        for said in [&plan.out, &done.out] {
            assert!(said.contains("kept as it is"), "{said}");
        }
        let report: Json = serde_json::from_slice(&fs::read(new.join("repair.json")).unwrap()).unwrap();
        assert_eq!(report["totals"]["files_changed"], 0, "{report}");
        // All that is there is in the copy, at its place.
        for entry in fs::read_dir(&save).unwrap().map(Result::unwrap) {
            assert_eq!(fs::read(entry.path()).unwrap(), fs::read(new.join(entry.file_name())).unwrap());
        }
        assert!(!new.join("lost+found").exists());
    }
}

#[test]
fn a_map_counts_its_files_and_its_bytes() {
    let demo = Demo::new();
    let save = demo.path("healthy/map-sparse");
    let there = fs::read_dir(&save).unwrap().count();
    let json: Json = serde_json::from_str(&run(&["check", "--format=json", &save]).out).unwrap();
    assert_eq!(json["summary"]["files"], there, "{}", json["summary"]);
    let listed = run(&["ls", &save]).out;
    let rows: Vec<&str> = listed.lines().filter(|line| line.contains("WATER ")).collect();
    assert!(!rows.is_empty());
    for row in rows {
        let cells: Vec<&str> = row.split_whitespace().collect();
        assert_eq!((cells[4], cells[5]), ("-", "-"), "{row}");
        assert!(cells[6].replace(',', "").parse::<u64>().unwrap() > 0, "{row}");
    }
}

#[test]
fn depths_of_another_type_are_named_as_such() {
    let demo = Demo::new();
    let save = demo.path("healthy/map-sparse");
    let path = std::path::Path::new(&save).join("Lake_Global_depth.npy");
    let mut bytes = fs::read(&path).unwrap();
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let numbers: Vec<u8> = bytes[start..]
        .chunks_exact(4)
        .flat_map(|b| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]])).to_le_bytes())
        .collect();
    let at = bytes.windows(3).position(|window| window == b"<f4").unwrap();
    bytes[at + 2] = b'8';
    bytes.truncate(start);
    bytes.extend(numbers);
    fs::write(&path, bytes).unwrap();
    let plan = run(&["repair", &save, "--plan"]);
    let expected = "its numbers are of a type that a map does not have there; the layer goes without depths";
    assert!(plan.out.contains(expected), "{}", plan.out);
    assert!(run(&["check", &save]).out.contains("float64"), "{}", plan.out);
}
