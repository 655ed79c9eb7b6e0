//! A plan ends with the exit code of the repair, also where findings appear only in the files that the repair writes anew.

use std::fs;
use std::path::Path;

use rayon::prelude::*;
use serde_json::Value as Json;
use tempfile::tempdir;
use voxscope::demo;

use crate::{Demo, Run, joined, run};

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

/// The options of a command that count for the level and the backup.
fn advised(text: &str) -> [bool; 2] {
    ["--level likely --out ", "--from-backup OLD` takes them"].map(|option| text.contains(option))
}

#[test]
fn a_plan_ends_with_the_options_of_the_verdict() {
    let demo = Demo::new();
    let samples: Vec<_> = demo::samples().collect();
    let judged: Vec<([bool; 2], Option<String>)> = samples
        .par_iter()
        .map(|sample| {
            let save = demo.path(sample.path().to_str().unwrap());
            let checked = joined(&run(&["check", &save]).out);
            let plan = run(&["repair", &save, "--plan"]);
            let command = format!("voxscope repair {save} --out {save}-repaired");
            let verdict = [" --level likely ", " --from-backup OLD takes them"];
            let expected = verdict.map(|options| checked.contains(&(command.clone() + options)));
            let shown = advised(&joined(&plan.out));
            // A file that is missing may be one of several faults, and the verdict names the repair of the others then.
            let is_same = shown[0] == expected[0] && shown[1] >= expected[1];
            let is_same = is_same || plan.out.is_empty();
            (shown, (!is_same).then(|| format!("{}: {expected:?}\n{checked}\n{}", sample.name, plan.out)))
        })
        .collect();
    let wrong: Vec<&str> = judged.iter().filter_map(|(_, wrong)| wrong.as_deref()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let count = |n: usize| judged.iter().filter(|(shown, _)| shown[n]).count();
    assert!(count(0) >= 3 && count(1) >= 2, "{} {}", count(0), count(1));
}

#[test]
fn a_plan_of_which_all_is_likely_does_not_call_its_copy_the_one_to_move() {
    let demo = Demo::new();
    for (name, begins) in [
        ("pak-zlib-checksum", "x0_y0_z0.region: 2 of 3 chunks written"),
        ("map-format", "Nothing to repair for certain."),
    ] {
        let save = demo.path(&format!("damaged/{name}"));
        let plan = run(&["repair", &save, "--plan"]).out;
        assert!(plan.starts_with(begins), "{plan}");
        let end = format!(
            "Nothing is written. `--level likely --out {save}-repaired` in place of `--plan` writes a copy with what is only likely. \
             Then move the copy to where the save was, and keep the original."
        );
        assert!(joined(&plan).ends_with(&end), "{plan}");
        assert!(!plan.contains("writes this copy"), "{plan}");
        // At that level the plan is the copy.
        let likely = run(&["repair", &save, "--plan", "--level", "likely"]).out;
        assert!(likely.contains("writes this copy") && !likely.contains("--level likely"), "{likely}");
        // A chunk is named once.
        assert!(!likely.contains("put right by a new record"), "{likely}");
    }
    let lacking = joined(&run(&["repair", &demo.path("damaged/crash-wrong-places"), "--plan"]).out);
    assert!(lacking.contains("Without `--level likely` the copy would lack most blocks of the save."), "{lacking}");
    // With a destination the command has all but the level.
    let out = demo.root.join("out");
    let out = out.to_str().unwrap();
    let given = joined(&run(&["repair", &demo.path("damaged/pak-zlib-checksum"), "--plan", "--out", out]).out);
    let level = format!("With `--level likely` in place of `--plan`, {out} is a copy with what is only likely.");
    assert!(given.contains(&level), "{given}");
}

#[test]
fn a_plan_names_the_backup_that_may_have_missing_files() {
    let demo = Demo::new();
    for name in ["lod-gap", "region-missing"] {
        let save = demo.path(&format!("damaged/{name}"));
        let plan = run(&["repair", &save, "--plan"]).out;
        assert!(plan.starts_with("Nothing to repair without a backup."), "{plan}");
        let end = "Files of the save are missing: `--from-backup OLD` takes them from a backup.";
        assert!(joined(&plan).ends_with(end), "{plan}");
        let with = run(&["repair", &save, "--plan", "--from-backup", &demo.path("healthy/current")]).out;
        assert!(!with.contains("--from-backup OLD` takes them"), "{with}");
    }
}

#[test]
fn a_backup_that_has_none_of_a_few_blocks_is_called_strange() {
    let demo = Demo::new();
    let (save, other) = (demo.path("damaged/crash-grown"), demo.path("healthy/lods"));
    let out = demo.root.join("out");
    for end in [&["--plan"][..], &["--out", out.to_str().unwrap()]] {
        let said = joined(&run(&[&["repair", &save, "--from-backup", &other][..], end].concat()).out);
        let warns = "The backup has 0 of 7 blocks of the save that were looked for in it. It may be of another world";
        assert!(said.starts_with(warns), "{said}");
        assert!(said.contains("Look at the copy before you use it"), "{said}");
    }
}

#[test]
fn a_repaired_copy_of_an_old_save_is_to_be_converted() {
    let demo = Demo::new();
    let out = demo.root.join("out");
    let copy = out.to_str().unwrap();
    let said = joined(&run(&["repair", &demo.path("damaged/crash-migration"), "--out", copy]).out);
    let step = format!(
        "Before a current engine opens the save, run `voxscope convert {copy} --out {copy}-converted`: it moves these blocks to the \
         slots of the new formula."
    );
    assert!(said.ends_with(&step), "{said}");
    assert!(joined(&run(&["check", copy]).out).contains(&step));
    let current = demo.root.join("current");
    let said = run(&["repair", &demo.path("damaged/crash-grown"), "--out", current.to_str().unwrap()]).out;
    assert!(!said.contains("voxscope convert"), "{said}");
}

#[test]
fn a_row_is_named_once_and_what_is_written_is_not_called_kept() {
    let demo = Demo::new();
    #[cfg(feature = "sqlite")]
    {
        let said = joined(&run(&["repair", &demo.path("damaged/instances-cut"), "--plan"]).out);
        let row = "world.sqlite: 8 of 8 rows written, 1 without its damaged instances, 1 part of a row to lost+found: rows of it are damaged.";
        assert!(said.starts_with(row), "{said}");
    }
    let said = run(&["repair", &demo.path("damaged/pak-misplaced"), "--plan"]).out;
    assert!(said.contains(" chunks written, ") && !said.contains(" chunks kept"), "{said}");
}

#[test]
fn files_that_are_only_set_aside_are_not_called_mended() {
    let demo = Demo::new();
    for name in ["name-region", "pak-duplicate"] {
        let said = joined(&run(&["check", &demo.path(&format!("damaged/{name}"))]).out);
        assert!(said.contains(" sets 1 file aside and keeps all ") && !said.contains(" mends "), "{said}");
    }
}

/// Scripts read what a repair does from its output, whether it writes or not.
#[test]
fn a_plan_and_a_repair_print_the_object_of_the_report() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    for (sample, form) in [("crash-wrong-places", "json"), ("pak-zlib", "jsonl"), ("stream-page", "json")] {
        let (save, copy) = (demo.path(&format!("damaged/{sample}")), dir.path().join(sample));
        let object =
            |run: &Run| -> Json { serde_json::from_str(&run.out).unwrap_or_else(|e| panic!("{e}: {}", run.out)) };
        let plan = run(&["repair", &save, "--plan", "--format", form]);
        let done = run(&["repair", &save, "--out", copy.to_str().unwrap(), "--format", form]);
        let file: Json = serde_json::from_slice(&fs::read(copy.join("repair.json")).unwrap()).unwrap();
        assert_eq!(object(&done), file, "{sample}");
        let mut planned = object(&plan);
        assert!(planned["check"].is_null(), "no copy was checked: {planned}");
        planned["check"] = file["check"].clone();
        assert_eq!((planned, plan.code), (file, done.code), "{sample}");
        assert_eq!(done.out.trim_end().lines().count() == 1, form == "jsonl");
    }
}
