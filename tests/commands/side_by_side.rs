//! Several saves in one directory: none of them hides another one.

use std::fs;

use tempfile::TempDir;
use voxscope::demo;

use crate::common::copy_dir;
use crate::{Run, lines, output, run};

/// A kind of save: its sample, and the key under which `info` lists it.
const KINDS: [(&str, &str); 5] = [
    ("current", "forests"),
    ("block-files", "forests"),
    ("stream", "streams"),
    ("pak-numbers", "rooms"),
    ("map-sparse", "maps"),
];

/// Samples, each made when it is asked for.
struct Samples(TempDir);

impl Samples {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> String {
        let path = self.0.path().join(name);
        if !path.exists() {
            let sample = demo::samples().find(|sample| sample.name == name).unwrap();
            (sample.make)(&path).unwrap();
        }
        path.to_str().unwrap().to_owned()
    }
}

fn count(save: &str) -> usize {
    lines(&output(&["ls", save, "--format=jsonl"])).len()
}

fn info(save: &str) -> serde_json::Value {
    serde_json::from_str(&output(&["info", save, "--format=json"])).unwrap()
}

fn is_voxel(kind: &str) -> bool {
    kind == "forests" || kind == "streams"
}

fn expect(run: &Run, code: i32, what: &str) {
    assert_eq!(run.code, Some(code), "{what}: {}{}", run.out, run.err);
}

#[test]
fn no_save_hides_another_one_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let demo = Samples::new();
    for (n, (one, of_one)) in KINDS.into_iter().enumerate() {
        for (other, of_other) in KINDS.into_iter().skip(n + 1) {
            let both = dir.path().join(format!("{one}-{other}"));
            let [path_one, path_other] = [one, other].map(|name| demo.path(name));
            copy_dir(&path_one, &both);
            copy_dir(&path_other, &both);
            let both = both.to_str().unwrap();
            let blocks = count(&path_one) + count(&path_other);
            assert_eq!(count(both), blocks, "{both}");
            let check = lines(&run(&["check", both, "--format=jsonl"]).out);
            let summary = check.last().unwrap();
            assert_eq!((&summary["errors"], &summary["warnings"]), (&0.into(), &0.into()), "{both}: {summary}");
            assert_eq!(summary["blocks"], blocks, "{both}");
            let listed = info(both);
            for key in [of_one, of_other] {
                let wanted = usize::from(of_one == key) + usize::from(of_other == key);
                assert_eq!(listed[key].as_array().unwrap().len(), wanted, "{both} {key}");
            }
            expect(&run(&["repair", both, "--plan"]), 0, both);
            let worlds = [of_one, of_other].into_iter().filter(|kind| is_voxel(kind)).count();
            let made = format!("{both}-made");
            // What is no save of Godot Voxel is named, and is an exit code of its own.
            let convert = run(&["convert", both, "--out", &made]);
            expect(&convert, if worlds == 2 { 0 } else { 8 }, &format!("convert {both}"));
            assert_eq!(convert.err.is_empty(), worlds == 2, "{both}: {}", convert.err);
            if worlds == 2 {
                assert_eq!(count(&made), blocks, "{both}");
            }
            let diff = run(&["diff", both, both]);
            expect(&diff, if worlds == 2 { 0 } else { 2 }, &format!("diff {both}"));
            assert_eq!(diff.err.is_empty(), worlds == 2, "{both}: {}", diff.err);
            let arrays = format!("{both}-arrays");
            let channel = ["--channel=TYPE"].into_iter().filter(|_| worlds > 0);
            let export: Vec<&str> = ["export", both, "--out", &arrays].into_iter().chain(channel).collect();
            expect(&run(&export), if worlds == 2 { 0 } else { 8 }, &format!("export {both}"));
            let repaired = format!("{both}-repaired");
            expect(&run(&["repair", both, "--out", &repaired]), 0, both);
            assert_eq!(count(&repaired), blocks, "{both}");
        }
    }
}

#[test]
fn one_of_several_saves_is_chosen_by_its_meta_file_or_its_directory() {
    let dir = tempfile::tempdir().unwrap();
    let demo = Samples::new();
    let all = dir.path().join("all");
    for name in ["current", "block-files", "stream"] {
        copy_dir(demo.path(name), &all);
    }
    let path = |below: &str| all.join(below).to_str().unwrap().to_owned();
    let single = demo.path("current");
    let diff = run(&["diff", &path(""), &single]);
    expect(&diff, 16, "diff of several with one");
    for (name, blocks) in [
        ("meta.vxrm", count(&single)),
        ("meta.vxbm", count(&demo.path("block-files"))),
        ("world.sqlite", count(&demo.path("stream"))),
    ] {
        assert!(diff.err.contains(&path(name)), "{}", diff.err);
        assert_eq!(count(&path(name)), blocks, "{name}");
    }
    assert_eq!(count(&path("regions")), count(&single));
    expect(&run(&["diff", &path("meta.vxrm"), &single]), 0, "diff of the one that is named");
    // All are converted, under names of their own.
    let made = dir.path().join("made");
    expect(&run(&["convert", &path(""), "--out", made.to_str().unwrap()]), 0, "convert");
    for name in ["world", "world-blocks", "world-stream"] {
        assert!(made.join(name).join("meta.vxrm").is_file(), "{name}");
    }
}

#[test]
fn saves_in_directories_of_a_forest_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let demo = Samples::new();
    let forest = demo.path("current");
    let pak = demo.path("pak-numbers");
    let stream = demo.path("stream");
    let (map, block_files) = (demo.path("map-sparse"), demo.path("block-files"));
    let inner = [
        (&forest, "old"),
        (&pak, "regions"),
        (&pak, "regions/lod0"),
        (&stream, "regions"),
        (&forest, "regions/old"),
        (&forest, "regions"),
        (&map, "regions"),
        (&map, "regions/lod0"),
        (&block_files, "regions"),
    ];
    for (n, (inner, below)) in inner.into_iter().enumerate() {
        let save = dir.path().join(n.to_string());
        copy_dir(&forest, &save);
        copy_dir(inner, save.join(below));
        let path = save.to_str().unwrap();
        assert_eq!(count(path), count(&forest) + count(inner), "{below}");
        let check = lines(&output(&["check", path, "--format=jsonl"]));
        assert!(check.iter().all(|line| line["code"] != "name-foreign"), "{below}");
        // A repair leaves it together.
        expect(&run(&["repair", path, "--plan"]), 0, below);
    }
    // A directory that only has the name of that of a forest.
    let paks = dir.path().join("paks");
    copy_dir(&pak, paks.join("regions"));
    let path = paks.to_str().unwrap();
    assert_eq!(count(path), count(&pak));
    assert_eq!(info(path)["forests"], serde_json::json!([]));
}

/// Files that the engine does not look for in their place are reported, not skipped.
#[test]
fn files_beside_the_directories_of_lods_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let demo = Samples::new();
    for (sample, lod, code) in
        [("current", "regions/lod0", "name-region"), ("block-files", "blocks/lod0", "block-file-name")]
    {
        let save = dir.path().join(sample);
        copy_dir(demo.path(sample), &save);
        let file = fs::read_dir(save.join(lod)).unwrap().next().unwrap().unwrap();
        fs::copy(file.path(), save.join(file.file_name())).unwrap();
        let check = run(&["check", save.to_str().unwrap(), "--format=jsonl"]);
        expect(&check, 4, sample);
        let found = lines(&check.out);
        assert!(found.iter().any(|line| line["code"] == code && line["file"] == file.file_name().to_str().unwrap()));
    }
}

/// A stream of which nothing can be read is named, and the others are converted and compared.
#[test]
fn an_unreadable_stream_does_not_keep_others_from_being_used() {
    let dir = tempfile::tempdir().unwrap();
    let demo = Samples::new();
    let all = dir.path().join("all");
    copy_dir(demo.path("current"), &all);
    let whole = dir.path().join("whole");
    copy_dir(&all, &whole);
    let mut bad = vec![0; 4096];
    bad[..16].copy_from_slice(b"SQLite format 3\0");
    fs::write(all.join("bad.sqlite"), bad).unwrap();
    fs::copy(fs::read_dir(demo.path("stream")).unwrap().next().unwrap().unwrap().path(), whole.join("bad.sqlite"))
        .unwrap();
    let (all, whole) = (all.to_str().unwrap(), whole.to_str().unwrap());
    let made = dir.path().join("made");
    let convert = run(&["convert", all, "--out", made.to_str().unwrap()]);
    expect(&convert, 8, "convert");
    assert!(convert.err.contains("bad.sqlite"), "{}", convert.err);
    assert!(made.join("world/meta.vxrm").is_file());
    let diff = run(&["diff", all, whole]);
    expect(&diff, 2, "diff");
    assert!(diff.err.contains("bad.sqlite") && !diff.out.contains("only in"), "{}{}", diff.out, diff.err);
}

#[test]
fn a_link_to_a_directory_and_a_save_deep_below_are_named() {
    let dir = TempDir::new().unwrap();
    let demo = Samples::new();
    let all = dir.path().join("all");
    copy_dir(demo.path("current"), all.join("a"));
    // The deep save is damaged, so that a check that reads it does not end with 0.
    let deep = all.join("b/c/d/e/f/g/h/i/j");
    copy_dir(demo.path("current"), &deep);
    fs::write(deep.join("regions/lod0/r.0.0.0.vxr"), [0; 64]).unwrap();
    expect(&run(&["check", all.to_str().unwrap()]), 4, "check of the deep save");
    let all = all.join("a");
    std::os::unix::fs::symlink(&deep, all.join("link")).unwrap();
    let all = all.to_str().unwrap();
    let made = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (repaired, converted) = (made("repaired"), made("converted"));
    for arguments in [&["repair", all, "--out", &repaired][..], &["convert", all, "--out", &converted], &["ls", all]] {
        let done = run(arguments);
        expect(&done, 8, arguments[0]);
        assert!((done.out.clone() + &done.err).contains("link"), "{arguments:?}: {}{}", done.out, done.err);
    }
}

#[test]
fn messages_about_one_of_several_saves_name_it() {
    let samples = Samples::new();
    let dir = tempfile::tempdir().unwrap();
    let save = dir.path().join("saves");
    for (name, sample) in [("good", "current"), ("torn", "block-epilogue")] {
        copy_dir(samples.path(sample), save.join(name));
    }
    let out = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let path = save.to_str().unwrap();
    let done = run(&["convert", path, "--out", &out("converted"), "--block-size=32"]);
    assert!(done.err.contains("torn: block (1, 0, 0) of LOD 0 cannot be read"), "{}", done.err);
    let is_named =
        |line: &&str| !line.starts_with("block ") && !line.starts_with("Blocks of") && !line.starts_with("Sectors");
    assert!(done.out.lines().all(|line| is_named(&line)), "{}", done.out);
    for options in [&["--out"][..], &["--slice=y=2", "--out"]] {
        let to = out(&format!("exported{}", options.len()));
        let done = run(&[&["export", path], options, &[&to]].concat());
        assert!(done.err.contains("torn: block (1, 0, 0) is not"), "{options:?}: {}", done.err);
    }
    // Unowned blocks are in no file that a message could name.
    copy_dir(samples.path("table-empty"), save.join("torn"));
    let compared = run(&["diff", path, path]);
    assert!(compared.err.contains("a: torn: 8 whole blocks to which no table leads"), "{}", compared.err);
    fs::remove_dir_all(save.join("torn")).unwrap();
    copy_dir(samples.path("block-epilogue"), save.join("torn"));
    // Of one save, the name says nothing.
    let done = run(&["convert", save.join("torn").to_str().unwrap(), "--out", &out("one")]);
    assert!(done.err.starts_with("voxscope: block (1, 0, 0) of LOD 0 cannot be read"), "{}", done.err);
}

/// A result below `regions/lod0` would make the directory above a forest without a meta file.
#[test]
fn results_below_a_directory_of_lods_are_read_as_what_they_are() {
    let samples = Samples::new();
    let dir = tempfile::tempdir().unwrap();
    let save = dir.path().join("save");
    copy_dir(samples.path("current"), &save);
    copy_dir(samples.path("stream"), save.join("regions/lod0"));
    copy_dir(samples.path("current"), save.join("other/regions"));
    for (n, options) in [&[][..], &["--layout=port"]].into_iter().enumerate() {
        let to = dir.path().join(n.to_string());
        let to = to.to_str().unwrap();
        let done = run(&[&["convert", save.to_str().unwrap(), "--out", to], options].concat());
        assert_eq!(done.code, Some(0), "{options:?}: {}", done.err);
        assert_eq!(info(to)["forests"].as_array().unwrap().len(), 3, "{options:?}: {}", info(to));
        let check = run(&["check", to]);
        assert_eq!(check.code, Some(0), "{options:?}: {}", check.out);
    }
}
