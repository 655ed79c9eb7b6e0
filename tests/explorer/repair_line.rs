//! The line of the repair under the cursor, and what the other panes have selected.

use super::sized;

#[cfg(feature = "sqlite")]
#[test]
fn the_cursor_is_on_the_block_of_the_selected_lod() {
    use voxscope::demo::stream::{StreamSpec, write_changed};
    use voxscope::godot::stream::loc::Format;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("world.sqlite");
    write_changed(&path, &StreamSpec::small(Format::Int16), "UPDATE blocks SET vb = 'voxels'").unwrap();
    for lod in [0, 1] {
        let mut driver = sized(&path, 120, 40);
        let opened = driver.app.opened_item().unwrap().clone();
        let slot = opened.at(lod, [-1, 0, 0]).unwrap().slot;
        driver.keys("7 2 home");
        for _ in 0..opened.slots.len() {
            if driver.app.selection.slot != Some(slot) {
                driver.keys("down");
            }
        }
        assert_eq!(driver.app.selection.slot, Some(slot), "{}", driver.text_screen());
        driver.keys("8");
        // The inspector has the name of the line in its frame.
        let screen = driver.text_screen();
        assert!(screen.contains(" Block (-1, 0, 0) "), "{screen}");
        assert_eq!(screen.contains(" Block (-1, 0, 0) LOD 1 "), lod == 1, "{screen}");
    }
}
