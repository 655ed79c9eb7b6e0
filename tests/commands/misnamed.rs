//! Files of blocks whose names are no positions: what is made of a save lacks their blocks, and every command says so.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;
use tempfile::tempdir;
use voxscope::demo;

use crate::{Run, lines, run};

fn sample(name: &str, to: &Path) -> String {
    let sample = demo::samples().find(|sample| sample.name == name).unwrap();
    (sample.make)(to).unwrap();
    to.to_str().unwrap().to_owned()
}

fn expect(run: &Run, code: i32, what: &str) {
    assert_eq!(run.code, Some(code), "{what}: {}{}", run.out, run.err);
}

/// Renames one file of blocks in the directory of a LOD.
fn rename_one(lod: &Path, ending: &str) -> &'static str {
    let mut files: Vec<_> = fs::read_dir(lod).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let name = match ending {
        "vxr" => "r.old.vxr",
        "vxb" => "old.vxb",
        _ => "+0+0+0.vxb.bak",
    };
    fs::rename(&files[0], lod.join(name)).unwrap();
    name
}

/// Runs each command that reads all blocks of a save, and names it; results go into `dir`.
fn read_with_each(save: &str, dir: &Path) -> Vec<(String, Run)> {
    let to = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let (forest, arrays, table) = (to("forest"), to("arrays"), to("table.csv"));
    let commands = [
        &["convert", save, "--out", &forest][..],
        &["export", save, "--out", &arrays],
        &["export", save, "--table", "--out", &table],
        &["ls", save],
        &["info", save],
    ];
    commands.map(|arguments| (arguments.join(" "), run(arguments))).into()
}

#[test]
fn files_of_foreign_names_are_named_where_their_blocks_are_left_out() {
    let dir = tempdir().unwrap();
    for (kind, lod, ending) in [
        ("current", "regions/lod0", "vxr"),
        ("block-files", "blocks/lod0", "vxb"),
        ("block-files", "blocks/lod0", "vxb.bak"),
    ] {
        let whole = sample(kind, &dir.path().join(format!("{kind}-{ending}-whole")));
        let path = dir.path().join(format!("{kind}-{ending}"));
        let save = sample(kind, &path);
        let name = rename_one(&path.join(lod), ending);
        let made = dir.path().join(format!("{kind}-{ending}-made"));
        fs::create_dir(&made).unwrap();
        for (command, run) in read_with_each(&save, &made) {
            expect(&run, 8, &command);
            assert!(run.err.contains(name) && run.err.contains("not read"), "{command}: {}", run.err);
        }
        let diff = run(&["diff", &save, &whole, "--format=jsonl"]);
        expect(&diff, 2, kind);
        let summary = lines(&diff.out).pop().unwrap();
        assert_eq!(summary["added"], 0, "{summary}");
        assert!(summary["unreadable"].as_u64().unwrap() > 0, "{summary}");
    }
}

#[test]
fn a_region_of_a_foreign_name_in_lost_and_found_is_damage_that_is_left() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("save");
    let save = sample("current", &path);
    let whole = lines(&run(&["ls", &save, "--format=jsonl"]).out).len();
    let name = rename_one(&path.join("regions/lod0"), "vxr");
    let left = lines(&run(&["ls", &save, "--format=jsonl"]).out).len();
    let copy = dir.path().join("copy");
    let plan = run(&["repair", &save, "--plan"]);
    expect(&plan, 5, "plan");
    let repair = run(&["repair", &save, "--out", copy.to_str().unwrap()]);
    expect(&repair, 5, "repair");
    let report: Json = serde_json::from_slice(&fs::read(copy.join("repair.json")).unwrap()).unwrap();
    assert_eq!(report["totals"]["set_aside"], whole - left, "{report}");
    assert_eq!(report["files_unread"], serde_json::json!([]));
    assert!(copy.join("lost+found/files/regions/lod0").join(name).is_file());
}

#[test]
fn a_file_that_is_read_by_the_name_of_a_copy_is_not_called_unread() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("save");
    let save = sample("current", &path);
    let lod = path.join("regions/lod0");
    let whole = sample("current", &dir.path().join("whole"));
    fs::rename(lod.join("r.0.0.0.vxr"), lod.join("r.0.0.0 (1).vxr")).unwrap();
    let to = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let mut runs = read_with_each(&save, dir.path());
    runs.push(("diff".to_owned(), run(&["diff", &save, &whole])));
    for (command, run) in runs {
        expect(&run, 0, &command);
        assert!(!run.err.contains("(1)"), "{command}: {}", run.err);
    }
    let check = lines(&run(&["check", &save, "--format=jsonl"]).out);
    assert!(check.iter().all(|line| line["code"] != "name-region"), "{check:?}");
    let causes: Vec<&Json> = check.iter().filter(|line| line["type"] == "cause").map(|line| &line["cause"]).collect();
    assert_eq!(causes, ["files-renamed"]);
    let plan = run(&["repair", &save, "--plan"]);
    expect(&plan, 1, "plan");
    assert!(plan.out.contains("a copy changed its name") && !plan.out.contains("header"), "{}", plan.out);
    expect(&run(&["repair", &save, "--out", &to("copy")]), 1, "repair");
}
