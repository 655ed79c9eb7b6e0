//! What the program says about itself: help, mistyped names, units.

use crate::{Demo, lines, output, run};

const COMMANDS: [&str; 12] =
    ["check", "info", "ls", "show", "explain", "export", "diff", "convert", "repair", "completions", "man", "demo"];

/// The examples at the end of a help text.
fn examples(help: &str) -> Vec<&str> {
    help.lines().skip_while(|line| *line != "Examples:").skip(1).take_while(|line| line.starts_with("  ")).collect()
}

#[test]
fn the_help_of_every_command_has_two_examples_and_its_own_options_only() {
    let all = output(&["--help"]);
    for name in COMMANDS {
        assert!(all.lines().any(|line| line.split_whitespace().next() == Some(name)), "{name}: {all}");
        let help = output(&[name, "--help"]);
        let begins = format!("  voxscope {name} ");
        let count = examples(&help).iter().filter(|line| line.starts_with(&begins)).count();
        assert!(count >= 2, "{name}: {help}");
        let reads_rows = ["export", "diff", "convert"].contains(&name);
        assert_eq!(help.contains("--stale-rows"), reads_rows, "{name}: {help}");
        // Options for old saves are under a heading of their own, below those of the command.
        let layout =
            help.lines().position(|line| line.trim().starts_with("--sector-size <BYTES>") && name != "convert");
        let heading = help.lines().position(|line| line == "Layout of old region files:");
        assert!(layout.is_none() || heading < layout && heading.is_some(), "{name}: {help}");
    }
    assert!(examples(&all).len() >= 2, "{all}");
    // What the help leaves out is accepted, as it always was.
    let demo = Demo::new();
    assert_eq!(run(&["check", &demo.path("healthy/current"), "--stale-rows"]).code, Some(0));
}

#[test]
fn mistyped_commands_and_codes_are_answered_with_the_likely_ones() {
    for (given, near) in [("chek", "`check`"), ("repiar", "`repair`"), ("exprot", "`export`")] {
        let run = run(&[given]);
        assert_eq!(run.code, Some(16), "{given}: {}", run.err);
        assert_eq!(run.err.trim_end(), format!("voxscope: unknown command `{given}`; did you mean {near}?"));
    }
    let run = run(&["explain", "block-epilog"]);
    assert!(run.code == Some(16) && run.err.contains("did you mean `block-epilogue`"), "{}", run.err);
}

/// The names of formats are the same in every command, and `json` is one document of the lines of `jsonl`.
#[test]
fn json_is_one_document_of_the_lines_of_jsonl() {
    let demo = Demo::new();
    let (save, bad) = (demo.path("healthy/current"), demo.path("damaged/block-epilogue"));
    let all = demo.path("healthy");
    for arguments in [&["ls", &save][..], &["diff", &save, &bad], &["diff", &save, &save], &["diff", &all, &all]] {
        let of = |format: &str| run(&[arguments, &["--format", format]].concat());
        let (document, each) = (of("json"), of("jsonl"));
        assert_eq!(document.code, each.code, "{arguments:?}");
        let document: serde_json::Value = serde_json::from_str(&document.out).unwrap();
        assert_eq!(document, serde_json::Value::from(lines(&each.out)), "{arguments:?}");
    }
    for command in [&["check", &save][..], &["info", &save], &["show", &save, "--block=0,0,0"]] {
        for format in ["text", "json", "jsonl"] {
            assert_eq!(run(&[command, &["--format", format]].concat()).code, Some(0), "{command:?} {format}");
        }
    }
}

/// Sizes are in units of 1,024 bytes, and the same words name stored and decompressed sizes.
#[test]
fn sizes_have_binary_units() {
    let demo = Demo::new();
    let save = demo.path("healthy/current");
    for arguments in [&["check", &save][..], &["info", &save], &["show", &save, "--block=0,0,0"]] {
        let text = output(arguments);
        for unit in [" KB", " MB", " kB", "Kib", "uncompressed", "unpacked"] {
            assert!(!text.contains(unit), "{arguments:?} has {unit}: {text}");
        }
    }
    let checked = output(&["check", &save]);
    assert!(checked.contains("KiB stored, ") && checked.contains(" decompressed"), "{checked}");
}
