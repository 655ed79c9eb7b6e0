//! One wording in every command: names of formats, mistyped commands, sizes, the end of a block, and what to do next.

use tempfile::tempdir;

use crate::common::committed;
use crate::{Demo, run};

#[test]
fn a_destination_without_its_option_is_told_the_option() {
    for (arguments, option) in [
        (&["repair", "save", "out"][..], "voxscope repair SAVE --out NEW"),
        (&["repair", "save", "-o", "out"], "voxscope repair SAVE --out NEW"),
        (&["convert", "save", "out"], "voxscope convert SAVE --out NEW"),
        (&["export", "save", "out.png"], "voxscope export SAVE --out NEW"),
        (&["demo", "out"], "voxscope demo --write NEW"),
    ] {
        let run = run(arguments);
        assert_eq!(run.code, Some(16), "{}", run.err);
        assert!(run.err.contains(option), "{arguments:?}: {}", run.err);
    }
}

#[test]
fn every_command_takes_the_older_names_of_the_text_format() {
    let demo = Demo::new();
    let save = &demo.path("damaged/channel-cut");
    let block = "--block=0,0,0";
    for arguments in
        [&["check", save][..], &["info", save], &["ls", save], &["show", save, block], &["diff", save, save]]
    {
        let text = run(arguments);
        for name in ["human", "table", "text"] {
            let named = run(&[arguments, &["--format", name]].concat());
            assert_eq!((named.code, &named.out), (text.code, &text.out), "{arguments:?} {name}: {}", named.err);
        }
    }
}

#[test]
fn a_format_that_a_command_does_not_have_is_refused_with_those_that_it_has() {
    let demo = Demo::new();
    let save = &demo.path("damaged/channel-cut");
    for (arguments, has) in [
        (&["info", save][..], "text, json or jsonl"),
        (&["show", save], "text, json or jsonl"),
        (&["diff", save, save], "text, json or jsonl"),
        (&["ls", save], "text, json, jsonl or csv"),
        (&["check", save], "text, json, jsonl or csv"),
    ] {
        let done = run(&[arguments, &["--format", "parquet"]].concat());
        let wanted = format!("voxscope: `voxscope {}` has no format `parquet`: it writes {has}\n", arguments[0]);
        assert_eq!((done.code, done.err), (Some(16), wanted));
    }
}

#[test]
fn check_writes_findings_as_rows() {
    let demo = Demo::new();
    let save = &demo.path("damaged/channel-cut");
    let done = run(&["check", save, "--format", "csv"]);
    assert_eq!(done.code, Some(4));
    let mut rows = csv::Reader::from_reader(done.out.as_bytes());
    let headers = rows.headers().unwrap().clone();
    let at = |name: &str| headers.iter().position(|header| header == name).unwrap();
    let rows: Vec<csv::StringRecord> = rows.records().map(Result::unwrap).collect();
    let lines = crate::lines(&run(&["check", save, "--format", "jsonl"]).out);
    let findings: Vec<_> = lines.iter().filter(|line| line["type"] == "finding").collect();
    assert_eq!(rows.len(), findings.len());
    for (row, finding) in rows.iter().zip(findings) {
        for key in ["code", "level", "file", "message", "next"] {
            assert_eq!(&row[at(key)], finding[key].as_str().unwrap());
        }
    }
    // A save without findings has the header alone.
    let clean = run(&["check", &demo.path("healthy/pak-room"), "--format", "csv"]);
    assert_eq!((clean.code, clean.out.lines().count()), (Some(0), 1), "{}", clean.out);
}

#[test]
fn a_mistyped_command_is_unknown_wherever_it_is_named() {
    let near = "voxscope: unknown command `chek`; did you mean `check`?\n";
    let verify = "voxscope: unknown command `verify`; did you mean `check`?\n";
    let other = "voxscope: unknown command `frobnicate`; `voxscope help` lists the commands\n";
    for (arguments, wanted) in [
        (&["chek"][..], near),
        (&["help", "chek"], near),
        (&["chek", "x"], near),
        (&["verify", "x"], verify),
        (&["help", "verify"], verify),
        (&["frobnicate", "x"], other),
        (&["help", "frobnicate"], other),
    ] {
        let done = run(arguments);
        assert_eq!((done.code, done.err.as_str()), (Some(16), wanted), "{arguments:?}");
    }
    assert_eq!(run(&["help", "check"]).code, Some(0));
}

#[test]
fn info_says_that_it_decodes_no_block_and_which_command_does() {
    let crash = committed().join("crash_random/r3/world");
    let path = crash.to_str().unwrap();
    let done = run(&["info", path]);
    let wanted =
        format!("\nNo block was decoded. This checks all of them, and their places:\n  voxscope check {path}\n");
    assert!(done.out.ends_with(&wanted), "{}", done.out);
    let json = crate::lines(&run(&["info", path, "--format", "jsonl"]).out).remove(0);
    assert_eq!(
        (json["empty"].as_bool(), json["next"].as_str()),
        (Some(false), Some(&*format!("voxscope check {path}")))
    );
    let demo = Demo::new();
    let empty = demo.path("damaged/forest-empty");
    let done = run(&["info", &empty]);
    assert!(!done.out.contains("from block"), "{}", done.out);
    assert!(done.out.contains("  There is no file of a block.\n"), "{}", done.out);
    let wanted =
        format!("\nThere is no block, so there is nothing to check. This says why:\n  voxscope check {empty}\n");
    assert!(done.out.ends_with(&wanted), "{}", done.out);
}

/// The data of a block ends before its last sector does; a finding about its sectors says so.
#[test]
fn the_end_of_a_block_is_that_of_its_data_unless_its_sectors_are_named() {
    let demo = Demo::new();
    let save = &demo.path("damaged/container-corrupt");
    let shown = run(&["show", save, "--block=1,0,0"]).out;
    let checked = run(&["check", save, "--all"]).out;
    assert!(shown.contains("· bytes 0x1314..0x2b66\n"), "{shown}");
    assert!(checked.contains("block (1, 0, 0), bytes 0x1314..0x2b66, decompressed bytes"), "{checked}");
    assert!(checked.contains("block (1, 0, 0), sectors at bytes 0x1314..0x2d14: block is torn"), "{checked}");
}

#[test]
fn sizes_are_stored_and_decompressed() {
    let demo = Demo::new();
    let listed = run(&["ls", &demo.path("damaged/channel-cut")]).out;
    let heading = listed.lines().nth(1).unwrap();
    assert_eq!(
        heading.split_whitespace().collect::<Vec<_>>(),
        ["lod", "x", "y", "z", "sector", "n", "stored", "decompressed", "ver", "container", "state"]
    );
    assert!(listed.lines().filter(|line| line.ends_with(" ok")).all(|line| line.len() <= 80), "{listed}");
    let few = run(&["ls", &demo.path("damaged/channel-cut"), "stored<200"]).out;
    assert_eq!(few, run(&["ls", &demo.path("damaged/channel-cut"), "bytes<200"]).out);
    assert!(few.len() < listed.len());
}

#[test]
fn numbers_agree_with_their_words_and_have_separators() {
    let demo = Demo::new();
    let checked = |name: &str| run(&["check", &demo.path(&format!("damaged/{name}"))]).out;
    assert!(checked("npy-truncated").contains("0 of 1 block is whole."), "{}", checked("npy-truncated"));
    assert!(checked("pak-zlib-checksum").contains("It decodes to its end, 32,768 bytes."));
    let unused = checked("stream-unused");
    assert!(unused.contains("mends 1 file and keeps the block whose position is known;"), "{unused}");
    let gap = checked("table-gap");
    assert!(gap.contains("11 blocks could be found. A repair counts 12: each position that has a block or had one.\n"));
}

#[test]
fn a_plan_says_why_the_likeliest_block_is_not_certain_and_what_to_do_with_the_copy() {
    let demo = Demo::new();
    let plan = run(&["repair", &demo.path("damaged/crash-wrong-places"), "--plan"]).out;
    let open: Vec<&str> =
        plan.lines().filter(|line| line.contains("no block fits it well enough; the likeliest")).collect();
    assert!(!open.is_empty(), "{plan}");
    for line in open {
        let (_, why) = line.split_once(" likely): ").unwrap_or_else(|| panic!("no reason: {line}"));
        assert!(why.contains("seams") && why.ends_with('.'), "{line}");
    }
    assert!(plan.contains("\nWithout `--level likely` the copy would lack most blocks of the save.\n"), "{plan}");
    let likely = run(&["repair", &demo.path("damaged/crash-wrong-places"), "--plan", "--level", "likely"]).out;
    assert!(likely.contains("no block fits it well enough") && !likely.contains("for certain;"), "{likely}");
    assert!(likely.contains("\nThen move the copy to where the save was, and keep the original.\n"), "{likely}");
}

#[test]
fn what_is_missing_and_foreign_in_several_saves_is_named() {
    let dir = tempdir().unwrap();
    for name in ["meta-missing", "region-voxedit", "channel-cut"] {
        let sample = voxscope::demo::samples().find(|sample| sample.name == name).unwrap();
        (sample.make)(&dir.path().join(name)).unwrap();
    }
    let done = run(&["check", dir.path().to_str().unwrap()]).out;
    let missing: Vec<&str> = done.lines().filter(|line| line.contains("Missing: ")).collect();
    assert!(!missing.is_empty(), "{done}");
    assert!(missing.iter().all(|line| line.starts_with("meta-missing: Missing: ")), "{missing:?}");
    let rig =
        done.lines().find(|line| line.contains(" a rig of VoxEdit in the place")).unwrap_or_else(|| panic!("{done}"));
    assert!(rig.starts_with("1 file (region-voxedit/"), "{rig}");
}

#[test]
fn an_unknown_container_is_refused_like_an_unknown_state() {
    let demo = Demo::new();
    let save = &demo.path("healthy/current");
    let ran = run(&["ls", save, "container=lz5"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(16), ""), "{}", ran.err);
    assert!(ran.err.contains("a container is one of plain, lz4-be, lz4"), "{}", ran.err);
    assert_eq!(run(&["ls", save, "container=lz4"]).code, Some(0));
}

#[test]
fn export_without_a_destination_names_both_options_that_give_one() {
    let demo = Demo::new();
    let ran = run(&["export", &demo.path("healthy/current")]);
    assert_eq!(ran.code, Some(16), "{}", ran.out);
    assert!(ran.err.contains("--out <DST>|--map <OUT>"), "{}", ran.err);
}

#[test]
fn blocks_of_no_entry_are_called_unowned() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    let out = dir.path().join("lost");
    let ran = run(&["export", &demo.path("healthy/current"), "--lost", "--out", out.to_str().unwrap()]);
    assert!(ran.out.contains("0 unowned blocks, 0 whole"), "{}", ran.out);
}

#[test]
fn a_comparison_without_blocks_says_so() {
    let demo = Demo::new();
    let save = &demo.path("healthy/current");
    let ran = run(&["diff", save, save, "--lod=7"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), "blocks: none to compare\n"), "{}", ran.err);
}

#[test]
fn a_plan_that_loses_blocks_names_the_option_for_a_backup() {
    let demo = Demo::new();
    let of = |name: &str| run(&["repair", &demo.path(name), "--plan"]).out;
    let (lossy, lossless) = (of("damaged/block-zeroed"), of("damaged/crash-grown"));
    assert!(lossy.contains("without a block in the copy"), "{lossy}");
    assert!(lossy.contains("`--from-backup OLD` can fill positions that lack their block"), "{lossy}");
    assert!(!lossless.contains("--from-backup"), "{lossless}");
}
