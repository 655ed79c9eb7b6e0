//! A save is never written to: outside of the demo and the export, no line of the source can write, rename or remove a file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use std::path::Path;

/// What could alter a file or a directory. `File::open` reads only.
const WRITING: [&str; 24] = [
    "File::create",
    "File::options",
    "create_new",
    ".write(true)",
    ".append(true)",
    ".truncate(true)",
    "fs::write",
    "fs::remove",
    "remove_file",
    "remove_dir",
    "fs::rename",
    "fs::copy",
    "fs::create_dir",
    "create_dir_all",
    "DirBuilder",
    "hard_link",
    "fs::symlink(",
    "set_len",
    "set_permissions",
    "set_modified",
    "set_times",
    "write_at(",
    "seek_write",
    "Command::new",
];

/// Parts of the source that make files of their own: they never get the path of a save that is read, or, as the export
/// does, refuse to write there.
const MAKES_FILES: [&str; 4] = ["src/demo/", "src/cli/demo.rs", "src/export/", "src/beside.rs"];

/// The source without its tests, which make files to read.
fn without_tests(text: &str) -> &str {
    text.split_once("#[cfg(test)]\nmod tests {").map_or(text, |(before, _)| before)
}

fn calls(text: &str) -> Vec<String> {
    let code = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
    let found = code.flat_map(|(i, line)| {
        WRITING.iter().filter(|word| line.contains(**word)).map(move |word| format!("{}: {word}", i + 1))
    });
    found.collect()
}

#[test]
fn nothing_outside_demo_and_export_can_write() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seen = 0;
    for path in common::files_below(&root.join("src")) {
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
        if MAKES_FILES.iter().any(|part| name.starts_with(part)) || name.contains("/tests") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(calls(without_tests(&text)), [""; 0], "{name}");
        seen += 1;
    }
    assert!(seen > 40, "{seen} files");
    // The search finds what it looks for.
    let demo = std::fs::read_to_string(root.join("src/demo/forest.rs")).unwrap();
    assert!(!calls(&demo).is_empty());
}
