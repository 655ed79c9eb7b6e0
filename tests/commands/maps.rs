//! Voxel maps: what is said of missing arrays, and what `ls`, `check` and `show` say of a map's files.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;
use tempfile::tempdir;

use crate::common::copy_dir;
use crate::{Demo, joined, run};

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
        // Advice about a finding names the command; the verdict does not recommend it.
        assert!(!checked.out.lines().any(|line| line.starts_with("voxscope repair")), "{}", checked.out);
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
    let path = Path::new(&save).join("Lake_Global_depth.npy");
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

#[test]
fn an_export_of_a_damaged_layer_names_its_files_and_ends_with_4() {
    let demo = Demo::new();
    let healthy = demo.path("healthy/map-sparse");
    type Spoil = fn(&Path);
    let spoil: [(&str, Spoil); 4] = [
        ("Lake_Global_index.npy", |at| fs::write(at, []).unwrap()),
        ("Lake_Global_index.npy", |at| fs::remove_file(at).unwrap()),
        ("Lake_Global.npy", |at| {
            let bytes = fs::read(at).unwrap();
            fs::write(at, &bytes[..bytes.len() / 2]).unwrap();
        }),
        ("Lake_Global_depth.npy", |at| fs::remove_file(at).unwrap()),
    ];
    for (n, (name, spoil)) in spoil.iter().enumerate() {
        let dir = tempdir().unwrap();
        let to = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        let save = to("map");
        fs::create_dir(&save).unwrap();
        for entry in fs::read_dir(&healthy).unwrap().map(Result::unwrap) {
            fs::copy(entry.path(), Path::new(&save).join(entry.file_name())).unwrap();
        }
        spoil(&Path::new(&save).join(name));
        let layer = run(&["export", &save, "--layer", "0", "--out", &to("layer")]);
        let slice = run(&["export", &save, "--layer", "0", "--slice", "y=1", "--out", &to("slice.png")]);
        for done in [&layer, &slice] {
            assert_eq!(done.code, Some(4), "{n}: {}{}", done.out, done.err);
            assert_eq!(done.err.lines().filter(|line| line.contains(name)).count(), 1, "{n}: {}", done.err);
        }
        let map = run(&["export", &save, "--layer", "0", "--map", &to("map.png")]);
        assert_eq!(map.code, Some(4), "{n}: {}{}", map.out, map.err);
        assert!(map.err.contains(name), "{n}: {}", map.err);
        // The other layer is whole.
        let other = run(&["export", &save, "--layer", "1", "--out", &to("other")]);
        assert_eq!((other.code, other.err.as_str()), (Some(0), ""), "{n}");
    }
    for name in ["map-sparse", "map-dense", "map-packed-depth"] {
        let (path, to) = (demo.path(&format!("healthy/{name}")), demo.root.join(name));
        let done = run(&["export", &path, "--layer", "0", "--out", to.to_str().unwrap()]);
        assert_eq!((done.code, done.err.as_str()), (Some(0), ""), "{name}");
    }
}

#[test]
fn an_export_of_a_layer_names_the_maps_that_it_leaves_out() {
    let demo = Demo::new();
    let several = demo.root.join("several");
    for name in ["map-dense", "map-sparse"] {
        copy_dir(demo.path(&format!("healthy/{name}")), several.join(name));
    }
    let (several, to) = (several.to_str().unwrap(), demo.root.join("layer"));
    let done = run(&["export", several, "--layer", "0", "--out", to.to_str().unwrap()]);
    assert_eq!(done.code, Some(8), "{}{}", done.out, done.err);
    assert!(done.err.contains("map-sparse: left out: --layer exports one layer of one voxel map"), "{}", done.err);
    assert!(!done.err.contains("map-dense") && to.join("FLAGS.npy").is_file(), "{}", done.err);
    let to = demo.root.join("layer.png");
    let done = run(&["export", several, "--layer", "0", "--map", to.to_str().unwrap()]);
    assert_eq!(done.code, Some(8), "{}{}", done.out, done.err);
    assert!(done.err.contains("map-sparse: left out: --layer exports one layer of one voxel map"), "{}", done.err);
    assert!(!done.err.contains("map-dense") && to.is_file(), "{}", done.err);
}

#[test]
fn blocks_of_a_missing_array_are_not_called_whole_and_the_array_is_named_once() {
    let demo = Demo::new();
    let save = demo.path("healthy/map-sparse");
    let rows = |save: &str| -> Json { serde_json::from_str(&run(&["ls", save, "--format=json"]).out).unwrap() };
    let of_layer = |rows: &Json| {
        let rows = rows.as_array().unwrap().iter().filter(|row| row["file"] == "Lake_Global.npy");
        rows.map(|row| row["codes"].clone()).collect::<Vec<_>>()
    };
    let whole = of_layer(&rows(&save));
    assert!(!whole.is_empty() && whole.iter().all(|codes| codes == &serde_json::json!([])), "{whole:?}");
    fs::remove_file(Path::new(&save).join("Lake_Global_depth.npy")).unwrap();
    let to = demo.root.join("layer");
    let done = run(&["export", &save, "--layer=Lake_Global", "--out", to.to_str().unwrap()]);
    assert_eq!(done.err.matches("Lake_Global_depth.npy").count(), 1, "{}", done.err);
    fs::remove_file(Path::new(&save).join("Lake_Global.npy")).unwrap();
    assert_eq!(of_layer(&rows(&save)), vec![serde_json::json!(["map-file-missing"]); whole.len()]);
}

#[test]
fn an_unknown_format_names_its_layer() {
    let demo = Demo::new();
    let found = run(&["check", &demo.path("damaged/map-format")]).out;
    assert!(found.contains("(octree; expected dense or block_sparse). The layer is Lake_Global."), "{found}");
    let found = run(&["check", &demo.path("damaged/map-field")]).out;
    assert!(found.contains("expected three finite numbers above 0). The layer is Lake_Global."), "{found}");
}

#[test]
fn findings_of_several_layers_name_their_own() {
    let demo = Demo::new();
    let save = demo.path("healthy/map-dense");
    let path = Path::new(&save).join("map_data.json");
    let mut map: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let good = map["global"].clone();
    let with = |changes: &[(&str, serde_json::Value)]| {
        let mut layer = good.clone();
        changes.iter().for_each(|(field, value)| layer[*field] = value.clone());
        layer
    };
    map["locals"] = serde_json::json!([
        with(&[("name", "whole".into())]),
        with(&[("name", "first".into()), ("step", 0.into()), ("dim", "none".into())]),
        7,
        with(&[("name", 3.into())]),
        with(&[("name", "last".into()), ("indexFile", 5.into()), ("format", "octree".into())]),
    ]);
    fs::write(&path, serde_json::to_vec(&map).unwrap()).unwrap();
    let found: serde_json::Value = serde_json::from_str(&run(&["check", &save, "--format=json"]).out).unwrap();
    let findings = found["findings"].as_array().unwrap();
    let layer_of = |field: &str| {
        let message = findings.iter().find(|f| f["field"] == field).unwrap()["message"].as_str().unwrap();
        message.split_once("The layer ").unwrap_or_else(|| panic!("{message}")).1.to_owned()
    };
    for (field, layer) in [
        ("step", "is first."),
        ("dim", "is first."),
        ("layer", "has no name; its number is 3."),
        ("name", "has no name; its number is 4."),
        ("indexFile", "is last."),
        ("format", "is last."),
    ] {
        assert_eq!(layer_of(field), layer, "{field}");
    }
}

/// A copy of a sample in a directory of its own, and the text of a check and of a repair of it.
fn said_of(demo: &Demo, sample: &str, file: &str, change: impl Fn(&mut Vec<u8>)) -> [String; 2] {
    let dir = tempdir().unwrap();
    let save = dir.path().join("map");
    copy_dir(Path::new(&demo.path(sample)), &save);
    let mut bytes = fs::read(save.join(file)).unwrap();
    change(&mut bytes);
    fs::write(save.join(file), bytes).unwrap();
    let path = save.to_str().unwrap();
    let new = dir.path().join("new");
    let done = run(&["repair", path, "--out", new.to_str().unwrap()]);
    [joined(&run(&["check", path]).out), joined(&done.out)]
}

#[test]
fn layers_that_a_cut_description_does_not_name_any_more_are_lost() {
    let demo = Demo::new();
    let said = said_of(&demo, "healthy/map-sparse", "map_data.json", |bytes| bytes.truncate(bytes.len() / 2));
    for text in said {
        assert!(text.contains("2 layers are lost") || text.contains("2 layers of voxel maps are lost"), "{text}");
    }
}

#[test]
fn numbers_that_were_zeroed_with_the_header_are_lost() {
    let demo = Demo::new();
    let [checked, done] = said_of(&demo, "healthy/map-dense", "Lake_Global.npy", |bytes| bytes[..4096].fill(0));
    for text in [checked, done] {
        assert!(
            text.contains(" values of voxel maps are lost and become 0")
                || text.contains("values of voxel maps are lost: the copy has 0 in their place"),
            "{text}"
        );
    }
}

#[test]
fn an_array_without_highest_bits_is_not_trusted() {
    let demo = Demo::new();
    let strip = |bytes: &mut Vec<u8>| bytes.iter_mut().for_each(|byte| *byte &= 0x7f);
    let [checked, _] = said_of(&demo, "healthy/map-dense", "Lake_Global.npy", strip);
    assert!(checked.contains("Lake_Global.npy has no byte above 127") || checked.contains("converted"), "{checked}");
    assert!(checked.contains("--level likely"), "{checked}");
}
