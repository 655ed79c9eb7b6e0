//! Control characters in every text that a format can hold: none reaches standard output, standard error or a report.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde_json::Value as Json;
use tempfile::tempdir;
use voxscope::demo;

use crate::common::files_below;
use crate::{Demo, run};

/// What a terminal acts on: a colour, a title, C1 controls, line breaks, text that runs backwards or is hidden.
const EVIL: &str = "\u{1b}[31m\u{1b}]0;t\u{7}\u{9b}2J\u{85}\r\n\t\u{8}\u{7f}\u{202e}\u{200b}";

/// Puts them into every text of a document, and into a key of every object.
fn plant(json: &mut Json) {
    match json {
        Json::String(text) => text.push_str(EVIL),
        Json::Array(all) => all.iter_mut().for_each(plant),
        Json::Object(all) => {
            all.iter_mut().for_each(|(_, value)| plant(value));
            all.insert(EVIL.to_owned(), EVIL.into());
        }
        _ => {}
    }
}

/// Spoils a file of a save, and puts files with such names beside it.
fn spoil(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    if let Ok(mut json) = serde_json::from_slice::<Json>(&bytes) {
        plant(&mut json);
        fs::write(path, serde_json::to_vec(&json).unwrap()).unwrap();
    } else if bytes.starts_with(b"\x93NUMPY") {
        let evil = EVIL.as_bytes();
        bytes[20..20 + evil.len()].copy_from_slice(evil);
        fs::write(path, bytes).unwrap();
    }
    let name = path.file_name().unwrap().to_str().unwrap();
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, "bin"));
    for name in [format!("{EVIL}{name}"), format!("{stem}{EVIL}.{ending}"), format!("{name}{EVIL}")] {
        fs::write(path.with_file_name(name), b"\x1b[2J").unwrap();
    }
}

fn is_plain(text: &str) -> bool {
    text.chars().all(|c| c == '\n' || voxscope::printable::is_plain(c))
}

/// What is wrong with what the program says about a save.
fn judge(save: &Path, dir: &Path) -> Vec<String> {
    let path = save.to_str().unwrap();
    let to = |name: &str| dir.join(format!("{name}{EVIL}")).to_str().unwrap().to_owned();
    let (copy, forest, arrays) = (to("copy"), to("forest"), to("arrays"));
    let (table, map, missing) = (to("table") + ".csv", to("map") + ".png", to("missing"));
    let mut wrong = Vec::new();
    for arguments in [
        &["check", path, "--notes", "--all"][..],
        &["check", path, "--format=json"],
        &["check", path, "--format=jsonl", "--level=decode"],
        &["info", path],
        &["info", path, "--format=json"],
        &["ls", path],
        &["ls", path, "--format=csv"],
        &["ls", path, "--format=json"],
        &["show", path, "--block=0,0,0"],
        &["show", path, "--voxel=1,1,1", "--format=json"],
        &["repair", path, "--plan"],
        &["repair", path, "--out", &copy],
        &["convert", path, "--out", &forest],
        &["export", path, "--out", &arrays],
        &["export", path, "--table", "--out", &table],
        &["export", path, "--map", &map],
        &["diff", path, path],
        &["diff", path, path, "--format=jsonl"],
        &["check", &missing],
        &["repair", path, "--out", path],
        &[path],
    ] {
        let run = run(arguments);
        if !is_plain(&run.out) || !is_plain(&run.err) || run.code.is_none() {
            wrong.push(format!("{arguments:?}: {:?}\n{:?}\n{:?}", run.code, run.out, run.err));
        }
    }
    for report in [Path::new(&copy).join("repair.json"), Path::new(&forest).join("convert.json")] {
        let text = fs::read_to_string(&report).unwrap_or_default();
        if !is_plain(&text) {
            wrong.push(format!("{report:?}: {text:?}"));
        }
    }
    wrong
}

#[test]
fn control_characters_in_any_text_of_any_format_reach_no_terminal() {
    let demo = Demo::new();
    let samples: Vec<PathBuf> = demo::samples()
        .map(|sample| sample.path())
        .filter(|path| {
            path.starts_with("healthy") || path.ends_with("map-file-missing") || path.ends_with("meta-extra")
        })
        .map(|path| demo.root.join(path))
        .collect();
    let wrong: Vec<String> = samples
        .par_iter()
        .flat_map(|save| {
            let (before, dir) = (judge(save, tempdir().unwrap().path()), tempdir().unwrap());
            files_below(save).iter().for_each(|path| spoil(path));
            [before, judge(save, dir.path())].concat()
        })
        .collect();
    assert!(samples.len() > 10 && wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
