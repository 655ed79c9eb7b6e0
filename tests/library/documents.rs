//! Documents of the repository: links lead to files, and the tree of the source is complete.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for dir in ["", "docs", "fuzz"] {
        let files = fs::read_dir(root().join(dir)).unwrap().map(|entry| entry.unwrap().path());
        found.extend(files.filter(|path| path.extension().is_some_and(|ending| ending == "md")));
    }
    found
}

/// The headings of a document, as links name them.
fn anchors(text: &str) -> BTreeSet<String> {
    let heading = |line: &str| {
        let title = line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        title.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
    };
    text.lines().filter(|line| line.starts_with('#')).map(heading).collect()
}

#[test]
fn links_lead_to_files_and_headings_of_the_repository() {
    let mut links = 0;
    for path in documents() {
        let text = fs::read_to_string(&path).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link) {
            if link.starts_with("https://") {
                continue;
            }
            links += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            let inside = target.canonicalize().is_ok_and(|target| target.starts_with(root().canonicalize().unwrap()));
            assert!(inside, "{}: {link} is no file of the repository", path.display());
            if !anchor.is_empty() {
                let text = fs::read_to_string(&target).unwrap();
                assert!(anchors(&text).contains(anchor), "{}: {link} is no heading", path.display());
            }
        }
    }
    assert!(links > 30, "only {links} links were found");
}

fn folders(dir: &Path, found: &mut BTreeSet<String>) {
    found.insert(dir.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/"));
    for entry in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            folders(&entry, found);
        }
    }
}

#[test]
fn every_folder_of_the_source_is_described() {
    let mut there = BTreeSet::new();
    folders(&root().join("src"), &mut there);
    let text = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `src")?.split_once('`'));
    let listed: BTreeSet<String> = rows.map(|(path, _)| format!("src{path}")).collect();
    for folder in &listed {
        assert!(there.contains(folder), "docs/architecture.md lists {folder}, which does not exist");
    }
    for folder in &there {
        // A folder of tests, or of the parts of a file beside it, needs no line of its own.
        let beside = root().join(folder).with_extension("rs").exists();
        assert!(listed.contains(folder) || beside || folder.ends_with("/tests"), "docs/architecture.md lacks {folder}");
    }
}
