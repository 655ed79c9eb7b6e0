//! LODs that are missing, or that lie beside the ones that are read.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;

use crate::{Demo, run};

fn codes(save: &str) -> Vec<(String, String)> {
    let json: Json = serde_json::from_str(&run(&["check", "--notes", "--format=json", save]).out).unwrap();
    let text = |json: &Json| json.as_str().unwrap().to_owned();
    json["findings"].as_array().unwrap().iter().map(|f| (text(&f["code"]), text(&f["message"]))).collect()
}

#[test]
fn a_middle_lod_that_is_missing_is_a_note() {
    let demo = Demo::new();
    let save = demo.path("healthy/lods");
    let lods = Path::new(&save).join("regions");
    fs::remove_dir_all(lods.join("lod1")).unwrap();
    assert!(lods.join("lod0").is_dir() && lods.join("lod2").is_dir());
    let meta = Path::new(&save).join("meta.vxrm");
    let mut json: Json = serde_json::from_slice(&fs::read(&meta).unwrap()).unwrap();
    json.as_object_mut().unwrap().remove("lod_count");
    fs::write(&meta, json.to_string()).unwrap();
    let found = codes(&save);
    let missing: Vec<_> = found.iter().filter(|(code, _)| code.starts_with("lod-")).collect();
    assert_eq!(missing.len(), 1, "{found:?}");
    assert_eq!(missing[0].0, "lod-missing");
    assert!(missing[0].1.contains("LOD 1 has no region file although LOD 2 has blocks"), "{found:?}");
    // It may be that the game never saved it.
    assert_eq!(run(&["check", &save]).code, Some(0));
    // A LOD 0 that is missing is reported as before.
    fs::remove_dir_all(lods.join("lod0")).unwrap();
    assert!(codes(&save).iter().any(|(code, _)| code == "lod-gap"));
}
