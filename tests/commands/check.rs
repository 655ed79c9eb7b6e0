//! What `check` prints for people and for machines.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value as Json;
use tempfile::tempdir;
use voxscope::damage::Code;
use voxscope::demo;
use voxscope::save::{File, Options, Save};

use crate::common::sampled;
use crate::{Demo, FINDING, code, command, finish, keys, lines, output, run};

const SUMMARY: [&str; 17] = [
    "type",
    "errors",
    "warnings",
    "notes",
    "files",
    "files_unread",
    "blocks",
    "blocks_damaged",
    "stored_bytes",
    "plain_bytes",
    "undecided",
    "interrupted",
    "known",
    "empty",
    "totals",
    "verdict",
    "command",
];

const CAUSE: [&str; 10] =
    ["type", "save", "cause", "message", "evidence", "blocks", "lost", "comes_back", "alternatives", "tell_apart"];

/// A number in words.
fn number(json: &Json) -> u64 {
    json.as_str().expect("words").parse().expect("a number")
}

#[test]
fn each_level_is_counted() {
    let demo = Demo::new();
    for sample in demo::samples() {
        let path = demo.path(sample.path().to_str().unwrap());
        let all = lines(&finish(command(&["check", "--format=jsonl", &path])).out);
        let (summary, findings) = all.split_last().unwrap();
        if findings.iter().any(|line| line["code"] == "findings-cut") {
            continue;
        }
        for (level, key) in [("error", "errors"), ("warning", "warnings"), ("note", "notes")] {
            let listed = findings.iter().filter(|line| line["level"] == level).count();
            assert_eq!(summary[key].as_u64(), Some(listed as u64), "{}: {key}", sample.name);
        }
    }
}

#[test]
fn json_lines_are_what_is_promised() {
    let demo = Demo::new();
    let run = run(&["check", "--format=jsonl", &demo.path("")]);
    // One of the samples has a link, which is not read.
    assert_eq!((run.code, run.err.as_str()), (Some(4 | 8), ""));
    let mut lines = lines(&run.out);
    let summary = lines.pop().unwrap();
    assert_eq!(keys(&summary), SUMMARY);
    assert_eq!((&summary["type"], &summary["interrupted"]), (&"summary".into(), &false.into()));
    let (causes, lines): (Vec<Json>, Vec<Json>) = lines.into_iter().partition(|line| line["type"] == "cause");
    assert!(!causes.is_empty() && causes.iter().all(|cause| keys(cause) == CAUSE), "{causes:?}");
    let mut counts = BTreeMap::<&str, u64>::new();
    let is_span = |json: &Json| {
        json.is_null()
            || json
                .as_array()
                .is_some_and(|span| span.len() == 2 && span[0].as_u64().unwrap() <= span[1].as_u64().unwrap())
    };
    for line in &lines {
        assert_eq!(keys(line), FINDING);
        assert_eq!(line["type"], "finding");
        let code = Code::from_name(line["code"].as_str().unwrap()).expect("a code");
        assert_eq!(line["level"], code.level().name());
        let next = line["next"].as_str().unwrap();
        assert!(!next.contains("SAVE") && !next.contains("--out NEW"), "{line}");
        *counts.entry(code.level().name()).or_default() += 1;
        assert!(demo.root.join(line["file"].as_str().unwrap()).starts_with(&demo.root));
        assert!(is_span(&line["bytes"]) && is_span(&line["block_bytes"]), "{line}");
        assert!(line["lod"].is_null() || line["lod"].as_u64().unwrap() < 24, "{line}");
        assert!(line["block"].is_null() || line["block"].as_array().unwrap().len() == 3, "{line}");
        assert!(line["block"].is_null() || !line["lod"].is_null(), "{line}");
        assert!(line["field"].is_string() && line["message"].as_str().unwrap().ends_with('.'), "{line}");
        for key in ["expected", "found"] {
            assert!(line[key].is_null() || line[key].is_string(), "{line}");
        }
    }
    // Findings beyond the cap of a file are counted and not listed; a line says how many.
    let cut: u64 = lines.iter().filter(|line| line["code"] == "findings-cut").map(|line| number(&line["found"])).sum();
    let levels = [("error", "errors"), ("warning", "warnings"), ("note", "notes")];
    let total: u64 = levels.iter().map(|(_, key)| summary[*key].as_u64().unwrap()).sum();
    assert_eq!(total, lines.len() as u64 + cut);
    assert!(cut > 0 && levels.iter().all(|(level, key)| summary[*key].as_u64() >= counts.get(level).copied()));
    let save = Save::open(&demo.root, &Options::default()).unwrap();
    // A map is its description and its arrays.
    let files = |file: File<'_>| if let File::Map(map) = file { map.files() } else { 1 };
    assert_eq!(summary["files"].as_u64(), Some(save.files().map(files).sum::<usize>() as u64));
    // The same for people has as many findings.
    let human = finish(command(&["check", "--notes", "--all", &demo.path("")]));
    let said =
        |level: &str| human.out.lines().filter(|line| line.starts_with(&format!("  {level:<7} "))).count() as u64;
    for level in ["error", "warning", "note"] {
        assert_eq!(Some(said(level)), counts.get(level).copied(), "{level}");
    }
}

#[test]
fn what_was_known_before_is_hidden() {
    let demo = Demo::new();
    let (one, two) = (demo.path("damaged/table-overlap"), demo.path("damaged/block-epilogue"));
    let dir = tempdir().unwrap();
    let file = dir.path().join("known.jsonl");
    let known = finish(command(&["check", "--format=jsonl", &one])).out;
    fs::write(&file, &known).unwrap();
    let file = file.to_str().unwrap();
    let again = output(&["check", "--format=jsonl", "--baseline", file, &one]);
    let all = lines(&again);
    let findings = lines(&known).iter().filter(|line| line["type"] == "finding").count() as u64;
    assert_eq!((all.len(), all[0]["known"].as_u64()), (1, Some(findings)));
    assert_eq!((all[0]["errors"].as_u64(), all[0]["warnings"].as_u64()), (Some(0), Some(0)));
    let human = output(&["check", "--baseline", file, &one]);
    assert!(human.contains("nothing new") && human.contains("known before"), "{human}");
    // Another save has damage of its own.
    assert_eq!(code(&["check", "--baseline", file, &two]), 4);
    assert_eq!(code(&["check", "--baseline", &demo.path("damaged/block-epilogue/meta.vxrm"), &one]), 16);
    assert_eq!(code(&["check", "--baseline", "/nowhere/at/all", &one]), 8);
}

/// A signal ends a check that waits for its baseline, a pipe to which nothing is written.
#[cfg(unix)]
#[test]
fn a_check_that_waits_for_its_baseline_can_be_stopped() {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;
    let demo = Demo::new();
    let pipe = demo.root.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let save = demo.path("healthy/current");
    let mut check = command(&["check", "--baseline", pipe.to_str().unwrap(), &save]).spawn().unwrap();
    // Opening it ends once the check has opened it, too.
    let writer = fs::OpenOptions::new().write(true).open(&pipe).unwrap();
    assert!(Command::new("kill").args(["-s", "TERM", &check.id().to_string()]).status().unwrap().success());
    drop(writer);
    assert_eq!(check.wait().unwrap().signal(), Some(15));
}

#[test]
fn json_is_one_document_of_the_same() {
    let demo = Demo::new();
    let path = demo.path("damaged/table-overlap");
    let document: Json = serde_json::from_str(&finish(command(&["check", "--format=json", &path])).out).unwrap();
    let lines = lines(&finish(command(&["check", "--format=jsonl", &path])).out);
    let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).cloned().collect::<Vec<Json>>();
    assert_eq!(document["findings"], Json::from(of("finding")));
    assert_eq!(document["causes"], Json::from(of("cause")));
    assert_eq!(document["summary"], of("summary")[0]);
    let healthy: Json =
        serde_json::from_str(&output(&["check", "--format=json", &demo.path("healthy/block32")])).unwrap();
    assert_eq!(healthy["causes"], Json::from(Vec::<Json>::new()));
}

#[test]
fn a_crash_has_a_verdict_with_the_command_that_repairs_it() {
    let demo = Demo::new();
    let path = demo.path("damaged/crash-grown");
    let said = finish(command(&["check", "--level=semantic", &path])).out;
    assert!(said.contains("The game was killed while it saved: of "), "{said}");
    let line = said.lines().find(|line| line.starts_with("voxscope repair ")).expect("a command");
    assert!(line.contains(" right for certain") && line.contains("lost."), "{line}");
    let without = finish(command(&["check", "--level=semantic", "--no-plan", &path])).out;
    assert!(
        without.contains("The game was killed while it saved.")
            && !without.lines().any(|line| line.starts_with("voxscope repair ")),
        "{without}"
    );
    // What it promises is in the plan, and the copy has it.
    let plan = finish(command(&["repair", "--plan", &path])).out;
    let summary = lines(&finish(command(&["check", "--level=semantic", "--format=jsonl", &path])).out).pop().unwrap();
    let right = summary["totals"]["put_right"].as_u64().unwrap();
    assert!(right > 0 && plan.contains(&format!("{right} put right")), "{plan}");
}

/// Where every block is right as it is, only files are to be mended.
#[test]
fn damage_outside_of_blocks_has_a_command_too() {
    let demo = Demo::new();
    for name in ["stream-cut", "pak-shifted", "map-shape", "meta-missing"] {
        let path = demo.path(&format!("damaged/{name}"));
        let said = finish(command(&["check", &path])).out;
        let line = said.lines().find(|line| line.starts_with("voxscope repair ")).unwrap_or_else(|| panic!("{said}"));
        let does = if name == "map-shape" { " changes 1 file" } else { " mends 1 file" };
        assert!(line.contains(does), "{name}: {line}");
        let to = format!("{path}-mended");
        let repaired = run(&["repair", &path, "--out", &to]);
        assert_eq!(repaired.code.unwrap() & 1, 1, "{}", repaired.out);
        assert!(repaired.out.contains("Move the copy to where the save was"), "{}", repaired.out);
        assert_eq!(code(&["check", &to]), 0);
    }
}

/// Each save of a directory has its own story.
#[test]
fn what_happened_is_told_of_each_save() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    for (name, sample) in [("one", "crash-grown"), ("two", "region-shifted"), ("three", "crash-grown")] {
        let copied = std::process::Command::new("cp")
            .args(["-r", &demo.path(&format!("damaged/{sample}")), dir.path().join(name).to_str().unwrap()])
            .status();
        assert!(copied.unwrap().success());
    }
    let path = dir.path().to_str().unwrap();
    let said = finish(command(&["check", path])).out;
    let killed = "The game was killed while it saved.";
    for line in [
        &format!("one: {killed}"),
        &format!("three: {killed}"),
        "two: Storage or a transfer changed bytes of the save.",
    ] {
        assert!(said.lines().any(|said| said == line), "{line}: {said}");
    }
    let rows = lines(&finish(command(&["check", "--format=jsonl", path])).out);
    let causes: Vec<(&str, &str)> = rows
        .iter()
        .filter(|row| row["type"] == "cause")
        .map(|row| (row["save"].as_str().unwrap(), row["cause"].as_str().unwrap()))
        .collect();
    let killed = "killed-while-saving";
    assert_eq!(causes, [("one", killed), ("three", killed), ("two", "storage-damaged")]);
    let alone = lines(&finish(command(&["check", "--format=jsonl", &demo.path("damaged/crash-grown")])).out);
    assert!(alone.iter().any(|row| row["type"] == "cause" && row["save"].is_null()));
}

#[test]
fn advice_is_printed_once() {
    let demo = Demo::new();
    let path = demo.path("damaged/crash-torn-table");
    for arguments in [&["check", &path][..], &["check", "--all", &path]] {
        let said = finish(command(arguments)).out;
        let of = |code: &str| said.lines().filter(|line| line.trim_start().starts_with(code)).collect::<Vec<_>>();
        let next = Code::BlockMoved.next().replace("SAVE --out NEW", &format!("{path} --out {path}-repaired"));
        let moved = of("block-moved: ");
        assert!(moved.len() > 1 && moved[0].ends_with(&next), "{said}");
        assert!(moved[1..].iter().all(|line| line.trim() == "block-moved: see above"), "{said}");
    }
}

/// The sentence about what happened has the figures of the whole table.
#[test]
fn the_summary_counts_damaged_blocks_once() {
    let demo = Demo::new();
    let said = finish(command(&["check", &demo.path("damaged/crash-torn-table")])).out;
    assert!(said.contains("of 8 blocks 5 are right as they are and 3 are in the wrong place"), "{said}");
    assert!(said.contains(" · 8 blocks · ") && !said.contains(" damaged · "), "{said}");
    // Without a plan there is no such sentence.
    let said = finish(command(&["check", "--no-plan", &demo.path("damaged/crash-torn-table")])).out;
    assert!(said.contains(" · 8 blocks, 3 damaged · "), "{said}");
}

#[test]
fn a_plan_ends_with_what_writes_it() {
    let demo = Demo::new();
    let path = demo.path("damaged/crash-grown");
    let plan = finish(command(&["repair", "--plan", &path])).out;
    let last = format!("Nothing is written. `--out {path}-repaired` in place of `--plan` writes this copy.");
    let lines: Vec<&str> = plan.lines().rev().take(2).collect();
    assert_eq!(lines, ["Then move the copy to where the save was, and keep the original.", &last], "{plan}");
    let healthy = output(&["repair", "--plan", &demo.path("healthy/current")]);
    assert_eq!(healthy, "Nothing to repair.\n");
}

#[test]
fn a_save_without_a_block_is_not_clean() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    fs::copy(demo.path("healthy/current/meta.vxrm"), dir.path().join("meta.vxrm")).unwrap();
    let run = run(&["check", dir.path().to_str().unwrap()]);
    assert_eq!(run.code, Some(4), "{}", run.out);
    assert!(run.out.contains("nothing to check") && !run.out.contains("clean"), "{}", run.out);
}

#[test]
fn equal_findings_of_many_blocks_are_one_line() {
    let demo = Demo::new();
    let path = demo.path("damaged/table-garbage");
    let listed = |more: &[&str]| {
        let out = finish(command(&[&["check", &path][..], more].concat())).out;
        out.lines().filter(|line| line.starts_with("  error ") || line.starts_with("  warning ")).count()
    };
    let (folded, all) = (listed(&[]), listed(&["--all"]));
    assert!(folded < all, "{folded} of {all}");
    assert!(finish(command(&["check", &path])).out.contains("(--all lists them)"));
}

#[test]
fn levels_look_as_deep_as_they_say() {
    let demo = Demo::new();
    let levels = ["header", "structure", "decode", "semantic"];
    for (sample, least) in [("region-version", 0), ("table-overlap", 1), ("block-epilogue", 2)] {
        let Some(sample) = demo::samples().find(|s| s.name == sample) else { continue };
        let path = demo.path(sample.path().to_str().unwrap());
        for (i, level) in levels.iter().enumerate() {
            let expected = if i >= least { 4 } else { 0 };
            assert_eq!(code(&["check", "--level", level, &path]), expected, "{} at {level}", sample.name);
        }
    }
    for sample in demo::HEALTHY {
        for level in levels {
            let run = run(&["check", "--level", level, &demo.path(sample.path().to_str().unwrap())]);
            assert_eq!(run.code, Some(0), "{} at {level}: {}", sample.name, run.out);
        }
    }
}

/// The explorer looks at every block first and compares tables with sectors afterwards: both find the same.
#[test]
fn the_explorer_counts_what_check_counts() {
    use std::collections::HashSet;
    use voxscope::check;
    let demo = Demo::new();
    for sample in sampled(demo::samples(), 5) {
        let save = Save::open(demo.path(sample.path().to_str().unwrap()).as_ref(), &Options::default()).unwrap();
        let semantic = check::Options::default().level(check::Level::Semantic);
        let mut at_once = Vec::new();
        let summary = check::run(&save, &semantic, |finding| at_once.push(finding));
        let (mut in_two, mut errors) = (Vec::new(), HashSet::new());
        let first = check::run(&save, &check::Options::default(), |finding| {
            if let (voxscope::damage::Level::Error, Some(block)) = (finding.level(), finding.block) {
                errors.insert((finding.file.to_string(), block.position));
            }
            in_two.push(finding);
        });
        let known = |file: &str, position| errors.contains(&(file.to_owned(), position));
        let (more, _) = check::walk(&save, &check::Options::default(), known, |finding| in_two.push(finding));
        let mut counts = first.counts;
        counts.merge(&more);
        // What both passes do not list of a file is one finding.
        let cut: Vec<&str> = in_two.iter().filter(|of| of.code() == Code::FindingsCut).map(|of| &*of.file).collect();
        counts.notes -= (cut.len() - cut.iter().collect::<HashSet<_>>().len()) as u64;
        let sorted = |findings: &[check::Finding]| {
            let mut all: Vec<String> = findings.iter().map(ToString::to_string).collect();
            all.sort();
            all
        };
        // Of a file with too many findings, the order decides which are listed; all are counted.
        if !at_once.iter().any(|finding| finding.code() == Code::FindingsCut) {
            assert_eq!(sorted(&in_two), sorted(&at_once), "{}", sample.name);
        }
        assert_eq!(counts, summary.counts, "{}", sample.name);
    }
}

#[test]
fn a_block_in_a_wrong_place_fails_a_check_by_default() {
    let demo = Demo::new();
    let path = demo.path("damaged/crash-doubled");
    assert_eq!(code(&["check", "--fail-on", "error", &path]), 4);
    assert_eq!(code(&["check", "--fail-on", "error", "--level", "decode", &path]), 0);
    assert!(output(&["check", "--help"]).contains("[default: semantic]"));
}
