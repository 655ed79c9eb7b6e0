//! Single files of names that the game does not look for: what is said about them is what a repair does.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;
use tempfile::tempdir;

use crate::{Demo, joined, run};

/// The only text of advice that `check` has for a file.
fn advice(file: &str, code: &str) -> String {
    let checked: Json = serde_json::from_str(&run(&["check", file, "--format=json"]).out).unwrap();
    let findings = checked["findings"].as_array().unwrap();
    let of_name = findings.iter().find(|finding| finding["code"] == code);
    of_name.unwrap_or_else(|| panic!("no {code}: {findings:?}"))["next"].as_str().unwrap().to_owned()
}

#[test]
fn a_repair_of_a_misnamed_file_says_what_check_says() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    for (from, name, code) in [
        ("healthy/current/regions/lod0/r.0.0.0.vxr", "lone3.vxr", "name-region"),
        ("healthy/pak-room/x0_y0_z0.region", "odd.region", "pak-name"),
        ("healthy/block-files/blocks/lod0/-1+0-1.vxb", "foo.vxb", "block-file-name"),
    ] {
        let file = dir.path().join(name);
        fs::copy(demo.path(from), &file).unwrap();
        let file = file.to_str().unwrap();
        let advice = advice(file, code);
        assert!(!advice.contains("lost+found") && advice.contains("keeps"), "{name}: {advice}");
        let plan = run(&["repair", file, "--plan"]);
        assert!(joined(&plan.out).contains(&advice), "{name}: {}", plan.out);
        assert_eq!(plan.code, Some(4), "{name}: {}", plan.out);
        let out = dir.path().join(format!("{name}.out"));
        let done = run(&["repair", file, "--out", out.to_str().unwrap()]);
        assert_eq!(done.code, Some(4), "{name}: {}", done.out);
        assert!(!Path::new(&out).join("lost+found").exists(), "{name}");
    }
}

#[test]
fn a_pak_region_whose_name_shows_its_region_gets_its_name() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    let file = dir.path().join("x0_y0_z0 (1).region");
    fs::copy(demo.path("healthy/pak-room/x0_y0_z0.region"), &file).unwrap();
    let file = file.to_str().unwrap();
    assert!(advice(file, "pak-name").contains("the file gets the name of its region"));
    let plan = run(&["repair", file, "--plan"]);
    assert_eq!(plan.code, Some(1), "{}", plan.out);
}
