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
fn bare_data_opens_in_hex_with_what_was_read() {
    let dir = tempfile::tempdir().unwrap();
    // A block of 2 x 2 x 2 voxels whose channels are uniform.
    let block = [&[4, 2, 0, 2, 0, 2, 0, 1, 7][..], &[1, 0].repeat(7), &[0x0d, 0xf0, 0x0d, 0x90]].concat();
    let instances = [&[1, 0][..], &16f32.to_le_bytes(), &[0x0d, 0xf0, 0x0d, 0x90]].concat();
    let array = [voxscope::voxel_map::npy::header("<i4", &[3]), vec![0; 12]].concat();
    for (name, bytes, kind, words) in [
        ("block.bin", &block, "block, inferred:", "block of version 4, 2 x 2 x 2 voxels"),
        ("plain.bin", &[&[0], &block[..]].concat(), "container, inferred:", "container plain, 27 bytes decompressed"),
        ("plants.bin", &instances, "instances, inferred:", "instances of version 1, 0 layers"),
        ("array.npy", &array, "npy, inferred:", "array int32 [3]"),
    ] {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let driver = sized(&path, 200, 60);
        assert_eq!(driver.app.pane, Pane::Hex, "{name}");
        let said = inspector_text(&driver).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(kind) && said.contains(words), "{name}: {said}");
        assert!(said.contains("voxscope show") && !said.contains("not recognized"), "{name}: {said}");
        assert!(driver.app.findings.list.is_empty() && !driver.app.findings.running, "{name}");
    }
}

#[test]
fn the_fields_of_a_lone_array_are_those_of_its_format() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("array.npy");
    let numbers: Vec<u8> = (10..16i32).flat_map(i32::to_le_bytes).collect();
    std::fs::write(&path, [voxscope::voxel_map::npy::header("<i4", &[2, 3]), numbers].concat()).unwrap();
    let mut driver = sized(&path, 120, 40);
    for (keys, words) in [
        ("home", "magic of NumPy"),
        ("right right right right right right", "version, major and minor"),
        ("right right", "length of the header"),
        ("right right", "header: dtype, order, shape"),
        ("end", "int32 at [1, 2]"),
        ("left left left left", "int32 at [1, 1]"),
    ] {
        driver.keys(keys);
        let pane = crate::pane_text(&driver);
        assert!(pane.contains(words) && !pane.contains("line 1"), "{words}: {pane}");
    }
    assert!(crate::row_with(&driver, "int32 at [1, 1]").contains(" 14"), "{}", driver.text_screen());
}

#[test]
#[cfg(unix)]
fn a_link_to_a_lone_file_shows_the_bytes_of_its_target() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("array.npy");
    std::fs::write(&path, [voxscope::voxel_map::npy::header("<i4", &[3]), vec![0; 12]].concat()).unwrap();
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let screen = sized(&link, 200, 60).text_screen();
    assert!(screen.contains("93 4e 55 4d 50 59") && screen.contains("link"), "{screen}");
}

#[test]
fn the_tree_of_a_file_that_cannot_be_read_is_a_sentence() {
    let dir = tempfile::tempdir().unwrap();
    let driver = sized(&dir.path().join("gone.bin"), 100, 30);
    assert!(driver.app.index.is_none());
    assert!(driver.app.failure.as_ref().unwrap().contains("gone.bin"));
}
