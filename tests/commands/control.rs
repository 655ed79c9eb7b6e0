//! Control characters in every text that a format can hold: none reaches standard output, standard error or a report.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use tempfile::tempdir;
use voxscope::demo;

use crate::common::evil::{EVIL, spoil};
use crate::common::{files_below, sampled};
use crate::{Demo, run};

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
        .map(|path| demo.path(path.to_str().unwrap()).into())
        .collect();
    assert!(samples.len() > 10, "{samples:?}");
    let wrong: Vec<String> = sampled(samples, 3)
        .par_iter()
        .flat_map(|save| {
            let (before, dir) = (judge(save, tempdir().unwrap().path()), tempdir().unwrap());
            files_below(save).iter().for_each(|path| spoil(path));
            [before, judge(save, dir.path())].concat()
        })
        .collect();
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
