//! Parts of a forest, whose meta file is above them.

use std::fs;
use std::path::Path;

use tempfile::tempdir;

use crate::{Demo, code, joined, lines, run};

#[test]
fn a_part_that_its_copy_could_not_be_read_without_is_refused_with_the_whole() {
    let demo = Demo::new();
    let forest = demo.path("healthy/old-2020");
    for part in ["regions/lod0", "regions/lod0/r.0.0.0.vxr"] {
        let path = Path::new(&forest).join(part);
        let path = path.to_str().unwrap();
        assert_eq!(code(&["check", path]), 0, "{part}");
        let dir = tempdir().unwrap();
        let copy = dir.path().join("copy");
        for mode in [&["--plan"][..], &["--out", copy.to_str().unwrap()]] {
            let run = run(&[&["repair", path], mode].concat());
            assert_eq!((run.code, run.out.as_str()), (Some(16), ""), "{part}: {}", run.err);
            let command = format!("voxscope repair {forest} --out {forest}-repaired");
            assert!(run.err.contains("meta.vxrm") && run.err.contains(&command), "{part}: {}", run.err);
        }
        assert!(!copy.exists(), "{part}");
        // The layout can be given instead.
        let layout = ["--block-size=16", "--region-size=4", "--sector-size=512", "--plan"];
        assert_ne!(run(&[&["repair", path], &layout[..]].concat()).code, Some(16), "{part}");
    }
    // The command that it names works.
    let dir = tempdir().unwrap();
    let copy = dir.path().join("copy");
    assert_eq!(code(&["repair", &forest, "--out", copy.to_str().unwrap()]), 0);
    assert_eq!(code(&["check", copy.to_str().unwrap()]), 0);
}

#[test]
fn advice_about_such_a_part_names_the_forest() {
    let demo = Demo::new();
    let forest = demo.path("healthy/old-2020");
    let region = Path::new(&forest).join("regions/lod0/r.0.0.0.vxr");
    let mut bytes = fs::read(&region).unwrap();
    let end = bytes.len() - 1000;
    bytes[end..].fill(0);
    fs::write(&region, bytes).unwrap();
    let checked = run(&["check", region.to_str().unwrap()]);
    assert_eq!(checked.code, Some(4), "{}", checked.out);
    let text = joined(&checked.out);
    assert!(text.contains(&format!("voxscope repair {forest} --out {forest}-repaired")), "{text}");
    let part = format!("voxscope repair {}", region.display());
    assert!(!text.contains(&part), "{text}");
}

/// The directory of all LODs is the world, whether its meta file is there or not.
#[test]
fn lods_without_their_meta_file_are_one_world() {
    for (sample, meta, directory, blocks) in
        [("healthy/current", "meta.vxrm", "regions", 56), ("healthy/block-files", "meta.vxbm", "blocks", 26)]
    {
        let demo = Demo::new();
        let world = demo.path(sample);
        fs::remove_file(Path::new(&world).join(meta)).unwrap();
        let lods = Path::new(&world).join(directory);
        let lods = lods.to_str().unwrap();
        let checked = |path: &str| {
            let run = run(&["check", path, "--format=jsonl"]);
            let findings = lines(&run.out).into_iter().filter(|line| line["type"] == "finding");
            (run.code, findings.map(|finding| finding["code"].clone()).collect::<Vec<_>>())
        };
        assert_eq!(checked(lods), checked(&world), "{sample}");
        assert_eq!(checked(lods).0, Some(4), "{sample}");
        let dir = tempdir().unwrap();
        let copy = dir.path().join("copy");
        let converted = run(&["convert", lods, "--out", copy.to_str().unwrap()]);
        assert!(converted.out.contains(&format!("{blocks} blocks of {blocks}")), "{sample}: {}", converted.out);
        assert!(copy.join("meta.vxrm").is_file() && copy.join("regions/lod1").is_dir(), "{sample}");
    }
}

#[test]
fn a_part_that_stores_its_layout_is_repaired_alone() {
    let demo = Demo::new();
    for part in ["healthy/current/regions/lod0", "healthy/2021-blocks-v2/regions/lod0"] {
        let dir = tempdir().unwrap();
        let copy = dir.path().join("copy");
        let copy = copy.to_str().unwrap();
        assert_eq!(code(&["repair", &demo.path(part), "--plan"]), 0, "{part}");
        assert_eq!(code(&["repair", &demo.path(part), "--out", copy]), 0, "{part}");
        assert_eq!(code(&["check", copy]), 0, "{part}");
    }
}
