//! What `check` prints for people and for machines.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value as Json;
use tempfile::tempdir;
use voxscope::damage::Code;
use voxscope::demo;
use voxscope::save::{Options, Save};

use crate::{Demo, FINDING, code, command, finish, keys, lines, output, run};

const SUMMARY: [&str; 12] = [
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
    "interrupted",
    "known",
];

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
    assert_eq!((run.code, run.err.as_str()), (Some(4), ""));
    let mut lines = lines(&run.out);
    let summary = lines.pop().unwrap();
    assert_eq!(keys(&summary), SUMMARY);
    assert_eq!((&summary["type"], &summary["interrupted"]), (&"summary".into(), &false.into()));
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
        assert_eq!(line["next"], code.next());
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
    assert_eq!(summary["files"].as_u64(), Some(save.files().count() as u64));
    // The same for people has as many findings.
    let human = finish(command(&["check", "--notes", &demo.path("")]));
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
    assert_eq!((all.len(), all[0]["known"].as_u64()), (1, Some(lines(&known).len() as u64 - 1)));
    assert_eq!((all[0]["errors"].as_u64(), all[0]["warnings"].as_u64()), (Some(0), Some(0)));
    let human = output(&["check", "--baseline", file, &one]);
    assert!(human.contains("nothing new") && human.contains("known before"), "{human}");
    // Another save has damage of its own.
    assert_eq!(code(&["check", "--baseline", file, &two]), 4);
    assert_eq!(code(&["check", "--baseline", &demo.path("damaged/block-epilogue/meta.vxrm"), &one]), 16);
    assert_eq!(code(&["check", "--baseline", "/nowhere/at/all", &one]), 8);
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
