//! Files of which no block can be located, because their header or the layout of their regions cannot be read: every command
//! names them.
#![cfg(feature = "sqlite")]

use std::fs;
use std::path::Path;

use tempfile::tempdir;
use voxscope::demo;

use crate::{lines, run};

fn sample(name: &str, to: &Path) -> String {
    let sample = demo::samples().find(|sample| sample.name == name).unwrap();
    (sample.make)(to).unwrap();
    to.to_str().unwrap().to_owned()
}

/// A forest whose region files do not store their layout, without its meta file.
fn old_without_meta(to: &Path) -> String {
    let save = sample("old-2020", to);
    fs::remove_file(to.join("meta.vxrm")).unwrap();
    save
}

#[test]
fn a_forest_of_unknown_layout_beside_another_save_is_left_out_by_name() {
    let dir = tempdir().unwrap();
    let all = dir.path().join("all");
    let whole = sample("old-2020", &dir.path().join("whole/old"));
    sample("stream", &dir.path().join("whole/stream"));
    old_without_meta(&all.join("old"));
    sample("stream", &all.join("stream"));
    let both = dir.path().join("both");
    old_without_meta(&both);
    sample("stream", &both);
    let to = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    for (n, (save, name)) in [(&all, "old: the layout"), (&both, "regions: the layout")].into_iter().enumerate() {
        let save = save.to_str().unwrap();
        for arguments in [
            &["convert", save, "--out", &to(&format!("forests-{n}"))][..],
            &["convert", save, "--to", "sqlite", "--out", &to(&format!("streams-{n}"))],
            &["export", save, "--out", &to(&format!("arrays-{n}"))],
            &["export", save, "--slice", "y=0", "--out", &to(&format!("slices-{n}"))],
        ] {
            let run = run(arguments);
            assert_eq!(run.code, Some(8), "{arguments:?}: {}{}", run.out, run.err);
            let named: Vec<&str> = run.err.lines().filter(|line| line.contains(name)).collect();
            assert_eq!(named.len(), 1, "{arguments:?}: {}", run.err);
            assert!(named[0].starts_with(&format!("voxscope: {name}")), "{arguments:?}: {}", run.err);
        }
    }
    // The save is in both directories: it is not called missing from one of them.
    let compared = run(&["diff", all.to_str().unwrap(), &to("whole")]);
    assert_eq!(compared.code, Some(2), "{}{}", compared.out, compared.err);
    assert!(compared.err.contains("a: old: the layout") && !compared.out.contains("only in"), "{}", compared.out);
    // With the layout, nothing is left out.
    let options = ["--from-block-size=16", "--from-region-size=4", "--from-sector-size=512"];
    let convert =
        [&["convert", all.to_str().unwrap(), "--out", &to("read"), "--from-depths=8,8,8,8,8,8,8,8"], &options[..]];
    let convert = run(&convert.concat());
    assert_eq!(convert.code, Some(0), "{}{}", convert.out, convert.err);
    let of_old = run(&["diff", &whole, &to("read/old")]);
    assert_ne!(of_old.code, Some(2), "{}{}", of_old.out, of_old.err);
}

#[test]
fn blocks_of_an_unknown_layout_are_not_called_added_or_removed() {
    let dir = tempdir().unwrap();
    let whole = sample("old-2020", &dir.path().join("whole"));
    let lacking = old_without_meta(&dir.path().join("lacking"));
    for (sides, side) in [([&lacking, &whole], "a"), ([&whole, &lacking], "b")] {
        let run = run(&["diff", sides[0], sides[1], "--format=jsonl"]);
        assert_eq!(run.code, Some(2), "{}{}", run.out, run.err);
        let all = lines(&run.out);
        let (summary, changes) = all.split_last().unwrap();
        assert_eq!((&summary["added"], &summary["removed"]), (&0.into(), &0.into()), "{summary}");
        assert!(!changes.is_empty());
        assert!(changes.iter().all(|line| line["type"] == "unreadable" && line["side"] == side), "{changes:?}");
    }
}

#[test]
fn files_without_a_readable_header_are_named() {
    let dir = tempdir().unwrap();
    for (n, (name, file)) in [
        ("region-format-unknown", ".vxr"),
        ("region-header-cut", ".vxr"),
        ("region-voxedit", ".vxr"),
        ("block-file-header", ".vxb"),
        ("pak-header-cut", ".region"),
    ]
    .into_iter()
    .enumerate()
    {
        let save = sample(name, &dir.path().join(name));
        let to = |ending: &str| dir.path().join(format!("{n}{ending}")).to_str().unwrap().to_owned();
        for arguments in [
            &["ls", &save][..],
            &["info", &save],
            &["export", &save, "--table", "--out", &to(".csv")],
            &["export", &save, "--table", "--out", &to(".sqlite")],
        ] {
            let run = run(arguments);
            assert_eq!(run.code, Some(8), "{name}: {arguments:?}: {}", run.err);
            assert!(run.err.contains(file), "{name}: {arguments:?}: {}", run.err);
        }
    }
    // A file that only has the name of a copy is read.
    let save = sample("copy-name", &dir.path().join("copy-name"));
    assert_eq!(run(&["info", &save]).err, "");
}
