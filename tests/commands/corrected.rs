//! Files that are damaged and read as a whole nevertheless: nothing is missing, so nothing is called unread.

use serde_json::Value as Json;

use crate::{Demo, lines, run};

/// A header that was corrected, and what a copy changed and was undone, leave no block out.
#[test]
fn a_corrected_file_is_named_and_is_not_unread() {
    let demo = Demo::new();
    let names =
        ["region-block-size", "region-size", "region-sector-size", "region-depth", "region-layout", "copy-crlf"];
    for name in names.into_iter().chain(["stream-meta-version"]) {
        let save = demo.path(&format!("damaged/{name}"));
        let to = |ending: &str| demo.root.join(format!("{name}{ending}")).to_str().unwrap().to_owned();
        let file = if name.starts_with("stream") { "world.sqlite" } else { "r.0.0.0.vxr" };
        let done = run(&["convert", &save, "--out", &to(".sqlite")]);
        assert_eq!(done.code, Some(0), "{name}: {}{}", done.out, done.err);
        assert!(done.err.contains(file) && done.err.contains("corrected"), "{name}: {}", done.err);
        let report = std::fs::read(to(".sqlite.convert.json")).unwrap();
        let report: Json = serde_json::from_slice(&report).unwrap();
        assert_eq!(report["files_unread"], serde_json::json!([]), "{name}");
        assert!(report["files_corrected"][0]["file"].as_str().unwrap().ends_with(file), "{name}");
        assert_eq!(report["blocks_read"], report["blocks_written"], "{name}");
        for arguments in [&["export", &save, "--out", &to("-arrays")][..], &["export", &save, "--map", &to(".png")]] {
            let done = run(arguments);
            assert_eq!(done.code, Some(0), "{arguments:?}: {}", done.err);
            assert!(done.err.contains("corrected"), "{arguments:?}: {}", done.err);
        }
        let done = run(&["diff", &save, &to(".sqlite"), "--format=jsonl"]);
        assert_eq!(done.code, Some(0), "{name}: {}{}", done.out, done.err);
        let summary = lines(&done.out).pop().unwrap();
        assert_eq!(summary["files_corrected"][0]["side"], "a", "{name}: {summary}");
    }
    // What cannot be read still is unread.
    for (name, code) in [("region-not-region", 8), ("region-table-cut", 12)] {
        let to = demo.root.join(name);
        let done = run(&["convert", &demo.path(&format!("damaged/{name}")), "--out", to.to_str().unwrap()]);
        assert_eq!(done.code, Some(code), "{name}: {}", done.err);
    }
}

#[test]
fn info_names_a_missing_meta_file_and_does_not_call_a_changed_header_that_of_another_program() {
    let demo = Demo::new();
    let lines = |sample: &str| run(&["info", &demo.path(&format!("damaged/{sample}"))]).out;
    let changed = lines("region-not-region");
    assert!(changed.contains("1 with a damaged header") && !changed.contains("of another program"), "{changed}");
    let missing = lines("meta-missing");
    assert!(missing.lines().next().unwrap().ends_with(" · forest · meta.vxrm is missing"), "{missing}");
    let other = lines("region-voxedit");
    assert!(other.contains("1 of another program"), "{other}");
}
