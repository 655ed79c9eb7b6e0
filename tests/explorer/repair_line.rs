//! The line of the repair under the cursor, and what the other panes have selected.

use voxscope::tui::Driver;

use super::repair::{crash, pane_words};
use super::{area_text, select, sized};

/// The title of the inspector, which in the Repair pane is the name of the line under the cursor.
fn title(driver: &Driver) -> String {
    let text = area_text(driver, driver.app.layout().inspector);
    text.lines().next().unwrap().trim_matches(['┌', '─', '┐', ' ']).to_owned()
}

/// The position of the selected block.
fn position(driver: &Driver) -> Option<[i32; 3]> {
    driver.app.selected_slot()?.position
}

/// The explorer on a file of a killed game, of which some blocks have a line in the list.
fn on_killed() -> Driver {
    let mut driver = sized(&crash("crash_terrain/t1"), 120, 40);
    select(&mut driver, "lod0/r.-1.-1.0.vxr");
    driver
}

/// The explorer on the line of an unowned block that may be tried in a place.
fn on_unowned() -> Driver {
    let mut driver = sized(&crash("crash_noise/mixed_1"), 120, 40);
    select(&mut driver, "lod0/r.0.0.0.vxr");
    driver.keys("8 home down down down down down");
    assert_eq!(title(&driver), "Sector 125", "{}", driver.text_screen());
    driver
}

/// Selects the block at a position in the table of blocks.
fn choose(driver: &mut Driver, at: [i32; 3]) {
    driver.keys("2 home");
    for _ in 0..driver.app.rows() {
        if position(driver) != Some(at) {
            driver.keys("down");
        }
    }
    assert_eq!(position(driver), Some(at), "{}", driver.text_screen());
}

#[test]
fn the_selected_block_has_the_cursor_when_the_list_is_opened() {
    let mut driver = on_killed();
    choose(&mut driver, [-1, -1, 2]);
    let before = driver.app.selection.clone();
    driver.keys("8");
    assert_eq!(title(&driver), "Block (-1, -1, 2)", "{}", driver.text_screen());
    assert_eq!(driver.app.selection, before, "the list changes no selection that it has a line for");
    // Another block is selected in another pane: the list follows when it is shown again.
    choose(&mut driver, [-1, -1, 1]);
    driver.keys("8");
    assert_eq!(title(&driver), "Block (-1, -1, 1)", "{}", driver.text_screen());
}

#[test]
fn the_line_under_the_cursor_is_selected_when_the_list_is_opened() {
    let mut driver = on_killed();
    // A block that is kept has no line.
    let slots = driver.app.opened_item().unwrap().slots.clone();
    driver.keys("8");
    let lists = |driver: &Driver, at: [i32; 3]| {
        super::pane_text(driver).contains(&format!("block {}", voxscope::printable::triple(at)))
    };
    let kept = slots.iter().filter_map(|slot| slot.position).find(|at| !lists(&driver, *at)).unwrap();
    choose(&mut driver, kept);
    driver.keys("8");
    let shown = position(&driver).unwrap();
    assert_ne!(shown, kept, "{}", driver.text_screen());
    assert_eq!(title(&driver), format!("Block {}", voxscope::printable::triple(shown)), "{}", driver.text_screen());
    driver.keys("esc");
    assert_eq!(position(&driver), Some(kept), "the way back leads to what was selected");
}

#[test]
fn nothing_is_selected_while_the_keys_are_elsewhere() {
    let mut driver = on_killed();
    driver.keys("8 home tab");
    select(&mut driver, "lod0/r.0.0.0.vxr");
    let first = driver.app.opened_item().unwrap().slots[0].position;
    assert_eq!(position(&driver), first, "{}", driver.text_screen());
    driver.keys("tab");
    let name = title(&driver);
    let selected = position(&driver).map(|at| format!("Block {}", voxscope::printable::triple(at)));
    assert!(name.starts_with("Sector") || Some(&name) == selected.as_ref(), "{name}: {}", driver.text_screen());
}

#[test]
fn a_click_keeps_the_cursor_on_a_line_about_no_block() {
    let mut driver = on_killed();
    driver.keys("8");
    driver.app.select_node(0);
    driver.run_until_idle();
    let (_, y) = super::find(&driver, "regions/lod0/r.0.0.0.vxr: ", 25).unwrap();
    driver.keys("tab");
    driver.mouse(super::mouse_press(40, y));
    assert_eq!(title(&driver), "Repair", "{}", driver.text_screen());
}

#[test]
fn a_block_that_was_tried_is_selected_again_behind_it() {
    let mut driver = on_unowned();
    let before = driver.app.selection.clone();
    driver.keys("enter z esc");
    assert_eq!(title(&driver), "Sector 125", "{}", driver.text_screen());
    assert_eq!(driver.app.selection, before);
}

#[test]
fn the_list_says_why_it_accepts_no_place() {
    let mut driver = on_unowned();
    driver.keys("o");
    let message = driver.app.message.clone().unwrap();
    assert!(message.contains("enter tries the block"), "{message}");
    assert!(driver.text_screen().contains(&message), "{}", driver.text_screen());
    // What it says leads to where the place is accepted.
    driver.keys("enter o");
    assert!(driver.app.message.clone().unwrap().starts_with("Accepted: "), "{}", driver.text_screen());
    driver.keys("esc end o");
    let message = driver.app.message.clone().unwrap();
    assert!(message.starts_with("Nothing to accept in this line"), "{message}");
}

#[test]
fn what_is_missing_at_the_level_likely_is_not_explained_by_certainty() {
    let (mut driver, _dir) = super::on("crash-wrong-places", 200, 60);
    select(&mut driver, "lod0/r.0.0.0.vxr");
    driver.keys("8 t");
    let screen = driver.text_screen();
    // A row in which the reason does not fit names the likeliest block.
    assert!(screen.contains("level likely") && screen.contains("missing: maybe sector 231, 60.0 %"), "{screen}");
    driver.keys("home");
    let said = super::inspector_text(&driver).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("missing: no block fits it well enough; the likeliest is the one at sector 231"), "{said}");
    assert!(!said.contains("for certain"), "{said}");
}

#[test]
fn the_warning_of_a_copy_without_most_blocks_is_whole_on_small_screens() {
    for (columns, rows) in [(60, 20), (80, 24), (120, 40)] {
        let (mut driver, _dir) = super::on("crash-wrong-places", columns, rows);
        driver.app.select_node(0);
        driver.keys("8");
        let warning = "The copy would lack most blocks of the save. Press t: at the level likely it has most of them, some where \
                       they are only likely.";
        assert!(pane_words(&driver).contains(warning), "{}", driver.text_screen());
        // The list and the command stay.
        let pane = super::pane_text(&driver);
        assert!(pane.contains("missing: ") && pane.contains("$ voxscope repair"), "{}", driver.text_screen());
    }
}

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
