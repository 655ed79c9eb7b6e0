//! A plan ends with the exit code of the repair, also where findings appear only in the files that the repair writes anew.

use std::fs;
use std::path::Path;

use rayon::prelude::*;
use tempfile::tempdir;

use crate::{Demo, run};

const PAK: &str = "x0_y0_z0.region";

/// Changes the bytes of a file of a sample.
type Change = fn(&mut Vec<u8>);

/// Samples of which a description, a header or a number of records is damaged too.
const CASES: [(&str, &str, Change); 14] = [
    ("map-beyond-dim", "map_data.json", |bytes| bytes.extend(b"garbage")),
    ("map-flag-unknown", "map_data.json", |bytes| bytes.extend([0; 16])),
    ("map-index-twice", "map_data.json", |bytes| bytes.extend(b"garbage")),
    ("map-index-range", "map_data.json", |bytes| bytes.extend(b"garbage")),
    ("map-beyond-dim", "Lake_Global.npy", |bytes| bytes[0] = 0xff),
    ("map-beyond-dim", "Lake_Global_index.npy", |bytes| bytes[20] = 0xff),
    ("npy-header", "Lake_Global_depth.npy", |bytes| bytes[8] = 0xff),
    ("pak-beyond-end", PAK, |bytes| bytes[4] = 0x7f),
    ("pak-version", PAK, |bytes| bytes[8] = 0xff),
    ("pak-version", PAK, |bytes| bytes[12] = 0x7f),
    ("pak-shape", PAK, |bytes| bytes[9] = 0x7f),
    ("pak-shape", PAK, |bytes| bytes[13] = 0xff),
    ("pak-zlib", PAK, |bytes| bytes[12] = 0xff),
    ("pak-zlib-checksum", PAK, |bytes| bytes[10] = 0x7f),
];

#[test]
fn a_plan_ends_with_the_code_of_the_repair() {
    let wrong: Vec<String> = CASES
        .par_iter()
        .enumerate()
        .filter_map(|(n, (sample, file, change))| {
            let demo = Demo::new();
            let save = demo.path(&format!("damaged/{sample}"));
            let path = Path::new(&save).join(file);
            let mut bytes = fs::read(&path).unwrap();
            change(&mut bytes);
            fs::write(&path, bytes).unwrap();
            let out = tempdir().unwrap();
            let out = out.path().join("out");
            let plan = run(&["repair", &save, "--plan"]);
            let repair = run(&["repair", &save, "--out", out.to_str().unwrap()]);
            let why = || format!("{n} {sample}: {:?}, {:?}\n{}{}", plan.code, repair.code, plan.out, repair.out);
            (plan.code != repair.code).then(why)
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_directory_in_the_place_of_an_array_does_not_stay() {
    for (file, code) in [("Lake_Global.npy", 4), ("Lake_Global_index.npy", 4), ("Lake_Global_depth.npy", 0)] {
        let demo = Demo::new();
        let save = demo.path("healthy/map-sparse");
        let path = Path::new(&save).join(file);
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        fs::write(path.join("inside"), "text").unwrap();
        let out = tempdir().unwrap();
        let out = out.path().join("out");
        let copy = out.to_str().unwrap();
        let plan = run(&["repair", &save, "--plan"]);
        let repair = run(&["repair", &save, "--out", copy]);
        assert_eq!(plan.code, repair.code, "{file}: {}{}", plan.out, repair.out);
        assert_eq!(repair.code.map(|code| code & 1), Some(1), "{file}: {}", repair.out);
        assert!(!out.join(file).exists(), "{file}");
        assert!(out.join("lost+found/files").join(file).join("inside").is_file(), "{file}");
        // The repair of the copy has nothing to do, and says what it lacks.
        let again = run(&["repair", copy, "--plan"]);
        assert!(again.out.starts_with("Nothing to repair."), "{file}: {}", again.out);
        assert_eq!((again.code, again.err.as_str()), (Some(code), ""), "{file}: {}", again.out);
    }
}

/// A repair gives the file its name back. What else is wrong stays.
#[test]
fn findings_that_a_repair_leaves_are_in_the_code_of_a_plan_that_renames_a_file() {
    let wrong: Vec<String> = [
        ("slots-mixed", "regions/lod0/r.-1.0.0", "vxr"),
        ("region-missing", "regions/lod0/r.0.0.0", "vxr"),
        ("lod-gap", "regions/lod1/r.0.0.0", "vxr"),
        ("pak-version", "x0_y0_z0", "region"),
        ("pak-shape", "x0_y0_z0", "region"),
        ("pak-place", "x0_y1_z0", "region"),
        ("pak-bomb", "x0_y0_z0", "region"),
    ]
    .par_iter()
    .filter_map(|(sample, stem, ending)| {
        let demo = Demo::new();
        let save = demo.path(&format!("damaged/{sample}"));
        let file = |more: &str| Path::new(&save).join(format!("{stem}{more}.{ending}"));
        fs::rename(file(""), file(" (copy)")).unwrap();
        let out = demo.root.join("out");
        let plan = run(&["repair", &save, "--plan"]);
        let repair = run(&["repair", &save, "--out", out.to_str().unwrap()]);
        let is_right = plan.code == Some(5) && repair.code == Some(5) && plan.out.contains("does not mend");
        (!is_right).then(|| format!("{sample}: {:?}, {:?}\n{}{}", plan.code, repair.code, plan.out, repair.out))
    })
    .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
