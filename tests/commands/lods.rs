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

#[test]
fn a_lod_that_neither_save_has_is_no_comparison() {
    let demo = Demo::new();
    let save = demo.path("healthy/lods");
    assert_eq!(run(&["diff", &save, &save, "--lod=1"]).code, Some(0));
    let done = run(&["diff", &save, &save, "--lod=7", "--lod=8"]);
    assert_eq!(done.code, Some(2), "{}", done.out);
    assert!(done.err.contains("neither save has a block of LOD 7 or LOD 8"), "{}", done.err);
}

#[cfg(feature = "sqlite")]
#[test]
fn streams_are_compared_with_the_forests_that_were_made_of_them() {
    let demo = Demo::new();
    let (streams, forests) = (demo.root.join("streams"), demo.root.join("forests"));
    fs::create_dir(&streams).unwrap();
    for (name, sample) in [("one", "stream-blobs"), ("two", "stream-texts")] {
        let file = demo.path(&format!("healthy/{sample}/world.sqlite"));
        fs::copy(file, streams.join(format!("{name}.sqlite"))).unwrap();
    }
    let [a, b] = [&streams, &forests].map(|path| path.to_str().unwrap());
    run(&["convert", a, "--out", b]);
    for (a, b) in [(a, b), (b, a)] {
        let done = run(&["diff", a, b]);
        assert!(!done.out.contains("only in"), "{}{}", done.out, done.err);
        assert!(done.out.contains("one") && done.out.contains("two"), "{}", done.out);
    }
    // Two streams that a forest may be made of are not paired with it.
    fs::copy(streams.join("one.sqlite"), streams.join("one.db")).unwrap();
    let done = run(&["diff", a, b]);
    assert!(done.out.contains("one.sqlite: only in A") && done.out.contains("one: only in B"), "{}", done.out);
    assert!(!done.out.contains("two.sqlite: only in A"), "{}", done.out);
}

#[test]
fn convert_names_a_lod_beside_regions() {
    let demo = Demo::new();
    let save = demo.path("healthy/current");
    let port = Path::new(&save).join("lod1");
    fs::create_dir(&port).unwrap();
    fs::write(port.join("r.0.0.0.vxr"), b"VXR_\x03").unwrap();
    let done = run(&["convert", &save, "--out", demo.root.join("new").to_str().unwrap()]);
    assert_eq!(done.code, Some(8), "{}{}", done.out, done.err);
    assert!(done.err.contains("lod1: left out: a directory of a LOD beside `regions`"), "{}", done.err);
}

#[test]
fn a_copy_of_a_region_file_has_the_lod_that_its_directory_or_name_shows() {
    let demo = Demo::new();
    let region = demo.path("healthy/lods/regions/lod2/r.0.0.0.vxr");
    let lod = |file: &Path| {
        let info: Json = serde_json::from_str(&run(&["info", "--format=json", file.to_str().unwrap()]).out).unwrap();
        let lod = &info["forests"][0]["lods"][0];
        (lod["lod"].as_u64().unwrap(), lod["lod_assumed"].as_bool().unwrap())
    };
    assert_eq!(lod(Path::new(&region)), (2, false));
    for (name, shown) in [
        ("lod2/r.0.0.0.vxr", (2, false)),
        ("lod2 (copy)/r.0.0.0.vxr", (2, false)),
        ("copies/lod2_r.0.0.0.vxr", (2, false)),
        ("copies/r.0.0.0.vxr", (0, true)),
    ] {
        let copy = demo.root.join("apart").join(name);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(&region, &copy).unwrap();
        assert_eq!(lod(&copy), shown, "{name}");
        let text = run(&["info", copy.to_str().unwrap()]).out;
        assert_eq!(text.contains("LOD assumed"), shown.1, "{text}");
    }
}

#[test]
fn a_directory_of_region_files_that_the_game_does_not_read_is_a_warning() {
    for to in ["LOD1", "lod24", "lod0/lod1"] {
        let demo = Demo::new();
        let save = demo.path("healthy/lods");
        let regions = Path::new(&save).join("regions");
        fs::rename(regions.join("lod1"), regions.join(to)).unwrap();
        let found = codes(&save);
        let named: Vec<_> = found.iter().filter(|(code, _)| code == "name-region").collect();
        assert_eq!(named.len(), 1, "{to}: {found:?}");
        assert!(named[0].1.contains("is not named `lodN` in `regions`"), "{to}: {found:?}");
        let checked = run(&["check", &save]);
        assert_eq!(checked.code, Some(4), "{to}: {}", checked.out);
        assert!(checked.out.contains("move it to `regions/lodN`"), "{to}: {}", checked.out);
        // Its blocks are copied, once.
        let out = demo.root.join("copy");
        let repaired = run(&["repair", &save, "--out", out.to_str().unwrap()]);
        if out.is_dir() {
            assert!(out.join("regions").join(to).is_dir(), "{to}: {}", repaired.out);
            assert!(!out.join("lost+found").exists(), "{to}: {}", repaired.out);
        } else {
            assert!(repaired.out.contains("Nothing to repair"), "{to}: {}{}", repaired.out, repaired.err);
        }
    }
}
