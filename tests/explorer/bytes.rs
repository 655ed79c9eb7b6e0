//! Files that are no save: their bytes, and what they were read as.

use voxscope::tui::pane::Pane;

use crate::{inspector_text, sized};

#[test]
fn a_file_that_is_not_recognized_opens_in_hex_with_what_was_tried() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("notes.bin");
    std::fs::write(&path, b"VOX \x96\0\0\0MAIN and no save of these formats").unwrap();
    let mut driver = sized(&path, 200, 60);
    assert_eq!(driver.app.pane, Pane::Hex);
    let screen = driver.text_screen();
    assert!(screen.contains("56 4f 58 20") && screen.contains("notes.bin"), "{screen}");
    let said = inspector_text(&driver).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("not recognized"), "{said}");
    for kind in ["not npy:", "not block:", "not container:", "not instances:"] {
        assert!(said.contains(kind), "{kind}\n{said}");
    }
    // Nothing is found in what was not checked, and every pane can be opened.
    assert!(driver.app.findings.list.is_empty() && !driver.app.findings.running);
    for key in ["1", "2", "3", "4", "5", "6", "7", "8", "9"] {
        driver.keys(key);
        assert!(!driver.text_screen().is_empty());
    }
}

#[test]
fn the_tree_of_a_file_that_cannot_be_read_is_a_sentence() {
    let dir = tempfile::tempdir().unwrap();
    let driver = sized(&dir.path().join("gone.bin"), 100, 30);
    assert!(driver.app.index.is_none());
    assert!(driver.app.failure.as_ref().unwrap().contains("gone.bin"));
}
