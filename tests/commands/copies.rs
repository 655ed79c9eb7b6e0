//! What `repair` says of a sample, and what `check` says of the copy.

use std::fs;
use std::path::Path;

use rayon::prelude::*;
use tempfile::tempdir;
use voxscope::demo;

use crate::{Demo, run};

/// `check` of a copy ends with 0 or 4, and a second repair of the copy agrees: a copy that has damage left is not one with
/// nothing to repair and exit code 0.
#[test]
fn check_and_a_second_repair_agree_on_every_copy() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    let samples: Vec<_> = demo::samples().collect();
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
