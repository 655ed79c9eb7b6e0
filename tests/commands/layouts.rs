//! Saves whose meta file is gone and whose blocks do not store their layout.

use std::fs;
use std::path::{Path, PathBuf};

use voxscope::demo::forest::{Extent, ForestSpec};
use voxscope::demo::{self, block_files};
use voxscope::godot::channel::{CHANNELS, Depth};
use voxscope::godot::container::Mode;

use crate::common::files_below;
use crate::{Run, lines, run};

fn expect(run: &Run, code: i32, what: &str) {
    assert_eq!(run.code, Some(code), "{what}: {}{}", run.out, run.err);
}

fn rows(save: &str, options: &[&str]) -> Vec<serde_json::Value> {
    lines(&run(&[&["ls", save, "--format=jsonl"], options].concat()).out)
}

/// The files of a directory below it, with their bytes.
fn content(dir: &Path, ending: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let files = files_below(dir).into_iter().filter(|path| path.extension().is_some_and(|own| own == ending));
    files.map(|path| (path.strip_prefix(dir).unwrap().to_owned(), fs::read(&path).unwrap())).collect()
}

#[test]
fn old_regions_without_their_meta_file_are_not_lost() {
    let dir = tempfile::tempdir().unwrap();
    let save = dir.path().join("save");
    let sample = demo::samples().find(|sample| sample.name == "old-2020").unwrap();
    (sample.make)(&save).unwrap();
    let path = save.to_str().unwrap();
    let whole = rows(path, &[]);
    fs::remove_file(save.join("meta.vxrm")).unwrap();
    let options = ["--block-size=16", "--region-size=4", "--sector-size=512", "--depths=8,8,8,8,8,8,8,8"];
    let check = run(&["check", path]);
    expect(&check, 4, "check");
    assert!(check.out.contains("whose layout is not known"), "{}", check.out);
    assert!(!check.out.contains("no block left"), "{}", check.out);
    let plan = run(&["repair", path, "--plan"]);
    expect(&plan, 4, "plan");
    assert!(plan.out.contains("--block-size N --region-size N --sector-size N --depths BITS"), "{}", plan.out);
    assert!(!plan.out.contains("lost+found"), "{}", plan.out);
    let copy = dir.path().join("copy");
    expect(&run(&["repair", path, "--out", copy.to_str().unwrap()]), 4, "repair");
    assert_eq!(content(&copy, "vxr"), content(&save, "vxr"));
    // With the layout, all blocks are there.
    assert_eq!(rows(path, &options).len(), whole.len());
    let repaired = dir.path().join("repaired");
    let run = run(&[&["repair", path, "--out", repaired.to_str().unwrap()], &options[..]].concat());
    assert_eq!(run.code.map(|code| code & 8), Some(0), "{}{}", run.out, run.err);
    assert_eq!(rows(repaired.to_str().unwrap(), &[]).len(), whole.len());
}

/// A save of block files of version 1 without its meta file; `extent` of LOD 0.
fn block_files_of_version_1(dir: &Path, extent: Extent) {
    let spec = ForestSpec {
        block_version: 1,
        mode: Mode::Headerless,
        depths: [Depth::Bits8; CHANNELS],
        lods: vec![extent],
        ..ForestSpec::default()
    };
    block_files::write(dir, &spec, |files| {
        files.remove(Path::new("meta.vxbm"));
        Ok(())
    })
    .unwrap();
}

#[test]
fn block_files_of_version_1_show_their_layout_where_the_meta_file_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let save = dir.path().join("save");
    block_files_of_version_1(&save, Extent { from: [-2, -1, -2], to: [1, 1, 1] });
    let path = save.to_str().unwrap();
    let found = rows(path, &[]);
    assert!(!found.is_empty());
    assert!(
        found.iter().all(|row| row["codes"] == serde_json::json!([]) && row["size"] == serde_json::json!([16, 16, 16])),
        "{found:?}"
    );
    let check = run(&["check", path]);
    expect(&check, 4, "check");
    assert!(check.out.contains("The copy of the save is incomplete"), "{}", check.out);
    assert!(!check.out.contains("Storage"), "{}", check.out);
    let made = dir.path().join("made");
    expect(&run(&["convert", path, "--out", made.to_str().unwrap()]), 0, "convert");
    let repaired = dir.path().join("repaired");
    expect(&run(&["repair", path, "--out", repaired.to_str().unwrap()]), 1, "repair");
    assert!(repaired.join("meta.vxbm").is_file());
    assert_eq!(content(&repaired, "vxb"), content(&save, "vxb"));
}

#[test]
fn block_files_that_do_not_show_their_layout_are_kept_and_read_by_options() {
    let dir = tempfile::tempdir().unwrap();
    let save = dir.path().join("save");
    // High above the ground, where all channels are uniform: every size fits.
    block_files_of_version_1(&save, Extent { from: [0, 60, 0], to: [1, 61, 1] });
    let path = save.to_str().unwrap();
    let check = run(&["check", path]);
    expect(&check, 4, "check");
    assert!(check.out.contains("--block-size N --depths BITS"), "{}", check.out);
    let info = run(&["info", path]);
    assert!(info.out.contains("The layout is unknown") && !info.out.contains("1 x 1 x 1"), "{}", info.out);
    let made = dir.path().join("made");
    let convert = run(&["convert", path, "--out", made.to_str().unwrap()]);
    assert!(convert.err.contains("the block size of the source is unknown"), "{}", convert.err);
    let plan = run(&["repair", path, "--plan"]);
    expect(&plan, 4, "plan");
    assert!(plan.out.contains("--block-size N --depths BITS") && !plan.out.contains("lost+found"), "{}", plan.out);
    let depths = "8,8,8,8,8,8,8,8";
    let found = rows(path, &["--block-size=16", "--depths", depths]);
    assert!(!found.is_empty() && found.iter().all(|row| row["codes"] == serde_json::json!([])), "{found:?}");
    let convert = ["convert", path, "--out", made.to_str().unwrap(), "--from-block-size=16", "--from-depths", depths];
    expect(&run(&convert), 0, "convert with the layout");
    let repaired = dir.path().join("repaired");
    let repair = run(&["repair", path, "--out", repaired.to_str().unwrap(), "--block-size=16", "--depths", depths]);
    expect(&repair, 1, "repair with the layout");
    assert!(repaired.join("meta.vxbm").is_file());
}

#[test]
fn the_meta_file_of_block_files_that_do_not_show_their_layout_comes_from_a_backup() {
    let dir = tempfile::tempdir().unwrap();
    let [save, backup] = ["save", "backup"].map(|name| dir.path().join(name));
    // High above the ground, where all channels are uniform: every size fits.
    block_files_of_version_1(&save, Extent { from: [0, 60, 0], to: [1, 61, 1] });
    let [path, from] = [&save, &backup].map(|path| path.to_str().unwrap());
    let layout = ["--block-size=16", "--depths", "8,8,8,8,8,8,8,8"];
    expect(&run(&[&["repair", path, "--out", from][..], &layout].concat()), 1, "repair with the layout");
    // A number of LODs that nothing else shows.
    let mut meta = fs::read(backup.join("meta.vxbm")).unwrap();
    assert_eq!(meta[..7], *b"VXBM\x01\x01\x04", "magic, version, LODs, size of blocks as a power of two");
    meta[5] = 3;
    fs::write(backup.join("meta.vxbm"), &meta).unwrap();
    for (name, damaged) in [("missing", None), ("damaged", Some(&b"VXBX and more"[..]))] {
        if let Some(bytes) = damaged {
            fs::write(save.join("meta.vxbm"), bytes).unwrap();
        }
        let repaired = dir.path().join(name);
        let to = repaired.to_str().unwrap();
        let plan = run(&["repair", path, "--plan", "--from-backup", from]);
        assert!(plan.out.contains("meta.vxbm: taken from the backup."), "{name}: {}", plan.out);
        expect(&run(&["repair", path, "--out", to, "--from-backup", from]), 1, name);
        assert_eq!(fs::read(repaired.join("meta.vxbm")).unwrap(), meta, "{name}");
        assert_eq!(content(&repaired, "vxb"), content(&save, "vxb"), "{name}");
        assert!(rows(to, &[]).iter().all(|row| row["size"] == serde_json::json!([16, 16, 16])), "{name}");
        let kept = files_below(&repaired);
        assert_eq!(kept.iter().any(|path| fs::read(path).ok().as_deref() == damaged), damaged.is_some(), "{kept:?}");
    }
}

/// A forest in the folders of the Rust port is one save without its meta file, and whatever else is named `regions`.
#[test]
fn forests_of_the_rust_port_are_found_without_meta_file_and_beside_regions() {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("source");
    (demo::samples().find(|sample| sample.name == "lods").unwrap().make)(&source).unwrap();
    let port = dir.path().join("port");
    let [source, port] = [source, port].map(|path| path.to_str().unwrap().to_owned());
    run(&["convert", &source, "--layout", "port", "--out", &port]);
    let whole = rows(&port, &[]).len();
    assert!(whole > 0 && Path::new(&port).join("lod1").is_dir());
    let regions = Path::new(&port).join("regions");
    // Empty, and with files of another program.
    for file in [None, Some("readme.txt")] {
        fs::create_dir_all(&regions).unwrap();
        if let Some(name) = file {
            fs::write(regions.join(name), "x").unwrap();
        }
        assert_eq!(rows(&port, &[]).len(), whole, "{file:?}");
        expect(&run(&["check", &port]), 0, "check");
        let made = dir.path().join(format!("made-{}", file.is_some()));
        expect(&run(&["convert", &port, "--out", made.to_str().unwrap()]), 0, "convert");
        assert_eq!(rows(made.to_str().unwrap(), &[]).len(), whole, "{file:?}");
    }
    fs::remove_dir_all(&regions).unwrap();
    fs::remove_file(Path::new(&port).join("meta.vxrm")).unwrap();
    let check = run(&["check", &port, "--format=jsonl"]);
    expect(&check, 4, "check without meta file");
    assert!(check.out.contains("meta-missing"), "{}", check.out);
    let made = dir.path().join("made");
    expect(&run(&["convert", &port, "--out", made.to_str().unwrap()]), 0, "convert without meta file");
    assert!(made.join("meta.vxrm").is_file() && made.join("regions/lod1").is_dir());
    assert_eq!(rows(made.to_str().unwrap(), &[]).len(), whole);
    let copy = dir.path().join("copy");
    expect(&run(&["repair", &port, "--out", copy.to_str().unwrap()]), 1, "repair");
    assert!(copy.join("meta.vxrm").is_file() && copy.join("lod1").is_dir());
}
