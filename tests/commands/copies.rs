//! What `repair` says of a sample, and what `check` says of the copy.

use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use tempfile::tempdir;
use voxscope::demo;

use crate::common::{copy_dir, files_below, sampled};
use crate::{Demo, run};

/// `check` of a copy ends with 0 or 4, and a second repair of the copy agrees: a copy that has damage left is not one with
/// nothing to repair and exit code 0.
#[test]
fn check_and_a_second_repair_agree_on_every_copy() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    let samples = sampled(demo::samples(), 3);
    let wrong: Vec<String> = samples
        .par_iter()
        .flat_map(|sample| {
            let mut wrong = Vec::new();
            let save = source(&demo, &sample.path());
            let name =
                if Path::new(&save).is_file() { format!("{}.sqlite", sample.name) } else { sample.name.to_owned() };
            let to = dir.path().join(name);
            let to = to.to_str().unwrap();
            let repaired = run(&["repair", &save, "--out", to]);
            let mut expect = |right: bool, what: String| {
                if !right {
                    wrong.push(format!("{}: {what}", sample.name));
                }
            };
            let code = repaired.code.unwrap_or(-1);
            if code & 8 != 0 {
                // What is not read is reported; nothing is written where a repair fails.
                expect(!repaired.err.is_empty(), format!("repair exits with {code} and no word"));
            }
            if !Path::new(to).exists() && !Path::new(&format!("{to}.repair.json")).exists() {
                return wrong;
            }
            let checked = run(&["check", to]);
            expect(
                matches!(checked.code, Some(0 | 4)),
                format!("check of the copy: {:?} {}", checked.code, checked.err),
            );
            let again = run(&["repair", to, "--plan"]);
            let nothing = again.out.contains("Nothing to repair");
            expect(
                again.code.is_some_and(|code| code & 1 == 0) && nothing,
                format!("not idempotent: {:?} {}", again.code, again.out),
            );
            expect(
                again.code.map(|code| code & 4) == checked.code.map(|code| code & 4),
                format!("repair --plan {:?}: {}check {:?}: {}", again.code, again.out, checked.code, checked.out),
            );
            // The first repair knew what it left.
            expect(
                code & 4 >= checked.code.unwrap_or(0) & 4,
                format!("repair said {code}, check of the copy {:?}: {}", checked.code, checked.out),
            );
            wrong
        })
        .collect();
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

/// The path of a sample: the one file in its directory where that is a stream.
fn source(demo: &Demo, sample: &Path) -> String {
    let path = demo.path(sample.to_str().unwrap());
    let stream = Path::new(&path).join("world.sqlite");
    if fs::metadata(&stream).is_ok() { stream.to_str().unwrap().to_owned() } else { path }
}

/// A plan says what the repair will: both have the same exit code.
#[test]
fn a_plan_has_the_exit_code_of_its_repair() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    // Files whose names no repair puts right, beside one that it repairs.
    let blocks = dir.path().join("blocks");
    copy_of(&demo, "block-file-name", &blocks);
    fs::remove_file(blocks.join("meta.vxbm")).unwrap();
    // A map whose description is repaired, and whose voxels are not.
    let map = dir.path().join("map");
    copy_of(&demo, "map-water-depth", &map);
    let path = map.join("map_data.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\"blockSize\": 16", "\"blockSize\": 8", 1)).unwrap();
    // A forest of which no block is left.
    let none = dir.path().join("none");
    copy_of(&demo, "region-header-cut", &none);
    for file in files_below(&none).into_iter().filter(|path| path.extension().is_some_and(|e| e == "vxr")) {
        fs::write(file, b"VXR_").unwrap();
    }
    for save in [blocks, map, none] {
        let plan = run(&["repair", save.to_str().unwrap(), "--plan"]);
        let to = save.with_extension("copy");
        let done = run(&["repair", save.to_str().unwrap(), "--out", to.to_str().unwrap()]);
        assert!(done.code.unwrap() & 4 != 0, "{save:?}: {}{}", done.out, done.err);
        assert_eq!(plan.code, done.code, "{save:?}: {}{}\n{}{}", plan.out, plan.err, done.out, done.err);
    }
    let wrong: Vec<String> = sampled(demo::samples(), 3)
        .par_iter()
        .filter_map(|sample| {
            let save = source(&demo, &sample.path());
            let of = sample.path().to_str().unwrap().replace('/', "-");
            let to = dir.path().join(if Path::new(&save).is_file() { format!("{of}.sqlite") } else { of });
            let plan = run(&["repair", &save, "--plan"]).code;
            let done = run(&["repair", &save, "--out", to.to_str().unwrap()]).code;
            (plan != done).then(|| format!("{}: plan {plan:?}, repair {done:?}", sample.name))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

fn copy_of(demo: &Demo, name: &str, to: &Path) {
    let sample = demo::samples().find(|sample| sample.name == name).unwrap();
    let from = PathBuf::from(demo.path(sample.path().to_str().unwrap()));
    copy_dir(from, to);
}
