//! `export --lost` writes what a repair sets aside, of every kind of save, before a repair and after it.

use std::collections::BTreeSet;
use std::path::Path;

use tempfile::tempdir;

use crate::common::files_below;
use crate::{Demo, code, run};

/// The names of the files below a directory.
fn names(dir: &Path) -> BTreeSet<String> {
    let files = if dir.is_dir() { files_below(dir) } else { Vec::new() };
    files.iter().map(|path| path.strip_prefix(dir).unwrap().to_str().unwrap().replace('\\', "/")).collect()
}

#[test]
fn an_export_has_the_rows_chunks_and_files_that_a_repair_sets_aside() {
    let demo = Demo::new();
    for name in [
        "pak-orphan",
        "pak-zlib",
        "pak-duplicate",
        "stream-blob",
        "stream-value",
        "stream-key",
        "stream-page",
        "stream-not-database",
        "map-index-range",
        "map-file-name",
        "region-empty",
        "block-file-cut",
        "block-files-meta",
        "meta-field",
        "meta-unreadable",
    ] {
        let save = demo.path(&format!("damaged/{name}"));
        let dir = tempdir().unwrap();
        let [copy, before, after] = ["copy", "before", "after"].map(|name| dir.path().join(name));
        run(&["repair", &save, "--out", copy.to_str().unwrap()]);
        let kept = names(&copy.join("lost+found"));
        assert!(!kept.is_empty(), "{name}");
        let exported = run(&["export", &save, "--lost", "--out", before.to_str().unwrap()]);
        assert_eq!(exported.code, Some(0), "{name}: {}", exported.err);
        assert_eq!(names(&before), kept, "{name}: {}", exported.out);
        assert!(exported.out.contains(&format!("{} file", kept.len())), "{name}: {}", exported.out);
        let exported = run(&["export", copy.to_str().unwrap(), "--lost", "--out", after.to_str().unwrap()]);
        assert_eq!(exported.code, Some(0), "{name}: {}", exported.err);
        assert_eq!(names(&after), kept, "{name}: {}", exported.out);
    }
}

#[test]
fn an_export_finds_what_is_beside_the_copy_of_one_stream() {
    let demo = Demo::new();
    let save = demo.path("damaged/stream-blob/world.sqlite");
    let dir = tempdir().unwrap();
    let [copy, out] = ["copy.sqlite", "out"].map(|name| dir.path().join(name));
    run(&["repair", &save, "--out", copy.to_str().unwrap()]);
    assert_eq!(code(&["export", copy.to_str().unwrap(), "--lost", "--out", out.to_str().unwrap()]), 0);
    assert_eq!(names(&out), names(&dir.path().join("copy.sqlite.lost+found")));
    assert!(!names(&out).is_empty());
}

#[test]
fn an_export_of_a_healthy_save_has_nothing_set_aside() {
    let demo = Demo::new();
    for name in ["pak-room", "stream", "map-sparse", "current"] {
        let dir = tempdir().unwrap();
        let out = dir.path().join("out");
        assert_eq!(
            code(&["export", &demo.path(&format!("healthy/{name}")), "--lost", "--out", out.to_str().unwrap()]),
            0
        );
        assert_eq!(names(&out), BTreeSet::new(), "{name}");
    }
}

/// A file or a directory in a place where another is looked for is kept too.
#[test]
fn an_export_has_what_has_the_name_or_the_place_of_something_else() {
    let demo = Demo::new();
    let save = demo.path("healthy/current");
    let lod = Path::new(&save).join("regions/lod0");
    std::fs::write(lod.join("r.0.0.0.vxr.old"), b"something else").unwrap();
    std::fs::create_dir(lod.join("r.7.0.0.vxr")).unwrap();
    std::fs::write(lod.join("r.7.0.0.vxr/inside"), b"inside").unwrap();
    let dir = tempdir().unwrap();
    let [copy, out] = ["copy", "out"].map(|name| dir.path().join(name));
    run(&["repair", &save, "--out", copy.to_str().unwrap()]);
    let kept = names(&copy.join("lost+found"));
    assert!(kept.iter().any(|name| name.ends_with("r.7.0.0.vxr/inside")), "{kept:?}");
    // The directory cannot be read as a region file.
    assert_eq!(code(&["export", &save, "--lost", "--out", out.to_str().unwrap()]), 8);
    assert_eq!(names(&out), kept);
}

#[test]
fn the_texts_say_why_identical_unowned_blocks_are_one_file() {
    let demo = Demo::new();
    let save = demo.path("damaged/table-empty");
    let to = |name: &str| demo.root.join(name).to_str().unwrap().to_owned();
    let (copy, blocks) = (to("copy-of-table-empty"), to("blocks-of-table-empty"));
    let checked: serde_json::Value = serde_json::from_str(&run(&["check", &save, "--format=json"]).out).unwrap();
    let unowned = checked["findings"].as_array().unwrap().iter().filter(|f| f["code"] == "block-orphan").count() as u64;
    let totals = &checked["summary"]["totals"];
    let number = |json: &serde_json::Value| json.as_u64().unwrap();
    let (kept, identical) = (number(&totals["set_aside"]), number(&totals["set_aside_identical"]));
    assert!(identical > 1 && kept + identical == unowned, "{totals}");
    let words = format!("({identical} more with the same content are not kept twice)");
    for arguments in [
        &["check", &save][..],
        &["repair", &save, "--plan"],
        &["repair", &save, "--out", &copy],
        &["export", &save, "--lost", "--out", &blocks],
        &["export", &copy, "--lost", "--out", &to("blocks-of-copy")],
    ] {
        let out = run(arguments).out;
        assert!(out.contains(&words), "{arguments:?}: {out}");
    }
    let report = std::fs::read_to_string(Path::new(&copy).join("repair.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["regions"][0]["lost_and_found_identical"], identical, "{report}");
    // Each content has one file, whose description counts the others.
    let mut described = Vec::new();
    for entry in std::fs::read_dir(Path::new(&copy).join("lost+found")).unwrap().map(Result::unwrap) {
        if entry.path().extension().is_some_and(|ending| ending == "json") {
            let about: serde_json::Value = serde_json::from_slice(&std::fs::read(entry.path()).unwrap()).unwrap();
            described.push(number(&about["identical"]));
        }
    }
    assert_eq!((described.len() as u64, described.iter().sum::<u64>()), (kept, identical), "{described:?}");
}
