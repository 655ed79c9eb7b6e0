//! The table of blocks.

use voxscope::tui::Driver;
use voxscope::tui::pane::Pane;

use super::{find, mouse_press, on, pane_text, row_with, select};

/// What the rows have in a column, by its heading.
fn column(driver: &Driver, heading: &str) -> Vec<String> {
    let screen = driver.text_screen();
    let lines: Vec<Vec<char>> = screen.lines().map(|line| line.chars().collect()).collect();
    let text = |line: &Vec<char>| line.iter().collect::<String>();
    let at = lines.iter().position(|line| text(line).contains("position")).unwrap();
    let head = text(&lines[at]);
    let end = head.find(heading).map(|byte| head[..byte].chars().count() + heading.chars().count()).unwrap();
    let rows = lines.iter().skip(at + 1).take_while(|line| line.len() > 10 && !text(line).contains('└'));
    let cell = |line: &Vec<char>| {
        let until = (end..line.len()).find(|x| line[*x] == ' ').unwrap_or(line.len());
        let from = (0..until).rev().find(|x| line[*x] == ' ').map_or(0, |x| x + 1);
        line[from..until].iter().collect::<String>()
    };
    rows.map(cell).filter(|cell| !cell.is_empty() && !cell.contains('│')).collect()
}

fn numbers(driver: &Driver, heading: &str) -> Vec<u64> {
    column(driver, heading)
        .iter()
        .map(|text| text.replace(',', "").parse().unwrap_or_else(|_| panic!("{text}")))
        .collect()
}

#[test]
fn rows_are_sorted_by_key_and_by_click() {
    let (mut driver, _dir) = on("current", 120, 40);
    select(&mut driver, "lod0/r.0.0.0.vxr");
    driver.keys("2");
    let (x, y) = find(&driver, "stored", 2).unwrap();
    driver.mouse(mouse_press(x, y));
    let down = numbers(&driver, "stored");
    assert!(down.len() > 3 && down.is_sorted_by(|a, b| a >= b), "{down:?}\n{}", driver.text_screen());
    driver.keys("S");
    let up = numbers(&driver, "stored");
    assert!(up.is_sorted(), "{up:?}\n{}", driver.text_screen());
    // The next column, and the cursor at the top.
    driver.keys("s");
    assert!(driver.text_screen().contains("decompressed▼"), "{}", driver.text_screen());
    let plain = numbers(&driver, "decompressed");
    assert!(plain.is_sorted_by(|a, b| a >= b), "{plain:?}");
}

#[test]
fn a_filter_says_how_many_it_lets_through() {
    let (mut driver, _dir) = on("block-epilogue", 120, 40);
    driver.keys("2 /");
    driver.text("state!=ok");
    driver.keys("enter");
    let screen = driver.text_screen();
    assert!(screen.contains("1 of 12 blocks") && screen.contains("state!=ok"), "{screen}");
    // Of two errors, that which says what happened.
    assert!(screen.contains("✗ block-torn +1"), "{screen}");
    driver.keys("/");
    driver.text(" colour=red");
    driver.keys("enter");
    assert!(driver.text_screen().contains("no such field"), "{}", driver.text_screen());
    driver.keys("esc");
    assert!(driver.text_screen().contains("1 of 12"), "the filter before is still there");
    driver.keys("esc");
    assert!(driver.text_screen().contains("12 blocks in 2 files"), "{}", driver.text_screen());
    driver.keys("/");
    driver.text("bytes>100000000");
    driver.keys("enter");
    assert!(driver.text_screen().contains("No block fits"), "{}", driver.text_screen());
}

#[test]
fn enter_leads_to_the_block_and_the_bytes_where_it_is_damaged() {
    let (mut driver, _dir) = on("block-epilogue", 80, 24);
    driver.keys("2 /");
    driver.text("state=error");
    driver.keys("enter enter");
    assert_eq!(driver.app.pane, Pane::Hex);
    let damaged = driver.app.selected_slot().unwrap();
    assert!(driver.app.index.as_ref().unwrap().shown(driver.app.selected_item().unwrap()).ends_with("r.0.0.0.vxr"));
    // Back to all files, whose rows are still there, and to a healthy block.
    driver.keys("backspace esc home");
    assert!(driver.app.selects_directory());
    driver.keys("enter");
    assert_eq!(driver.app.pane, Pane::Channels);
    assert_ne!(driver.app.selected_slot(), Some(damaged));
    assert!(driver.app.selected_slot().is_some());
}

#[test]
fn the_cursor_and_the_selection_are_one() {
    let (mut driver, _dir) = on("current", 80, 24);
    select(&mut driver, "lod0/r.0.0.0.vxr");
    driver.keys("2");
    let opened = driver.app.opened_item().unwrap().clone();
    assert_eq!(driver.app.selection.slot, Some(opened.slots[0].slot), "the first row is looked at");
    driver.keys("down down");
    assert_eq!(driver.app.selection.slot, Some(opened.slots[2].slot));
    assert_eq!(driver.app.selection.sector, Some(opened.slots[2].first));
    // Selected elsewhere: the table goes there, whatever its order.
    driver.keys("3 end 2");
    let last = driver.app.selection.slot;
    driver.keys("up down");
    assert_eq!(driver.app.selection.slot, last);
    driver.keys("s s s S");
    driver.keys("3 home 2");
    let first = driver.app.selection.slot;
    assert_ne!(first, last);
    driver.keys("down up");
    assert_eq!(driver.app.selection.slot, first);
}

#[test]
fn maps_count_flags() {
    for name in ["map-dense", "map-sparse"] {
        let (mut driver, _dir) = on(name, 120, 40);
        select(&mut driver, ".npy");
        driver.keys("2");
        let screen = driver.text_screen();
        assert!(screen.contains("flags") && screen.contains("WATER "), "{screen}");
    }
}

#[test]
fn rows_are_written_to_a_new_file_only() {
    let (mut driver, dir) = on("block-epilogue", 200, 40);
    let out = tempfile::tempdir().unwrap();
    driver.keys("2 /");
    driver.text("state!=ok");
    driver.keys("enter");
    let mut write = |name: &std::path::Path| {
        driver.keys("w");
        driver.text(name.to_str().unwrap());
        driver.keys("enter");
        let prompt = driver.app.prompt.as_ref().and_then(|prompt| prompt.error.clone());
        driver.app.prompt = None;
        prompt.or(driver.app.message.clone()).unwrap()
    };
    let path = out.path().join("rows.csv");
    assert!(write(&path).contains("Wrote 1 row"));
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.contains("block-epilogue"), "{text}");
    assert!(write(&path).contains("is there already"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    assert!(write(&dir.path().join("rows.csv")).contains("inside the save"));
    assert!(!dir.path().join("rows.csv").exists());
    assert!(write(&out.path().join("rows.txt")).contains(".csv or .jsonl"));
    assert!(write(&out.path().join("rows.jsonl")).contains("Wrote 1 row"));
    let json = std::fs::read_to_string(out.path().join("rows.jsonl")).unwrap();
    let row: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(row["codes"][0], "block-epilogue");
}

#[test]
fn a_layer_says_its_cells_and_a_row_its_page() {
    let (mut driver, _dir) = on("map-dense", 120, 40);
    driver.keys("2");
    let text = crate::inspector_text(&driver);
    assert!(text.contains("34 x 8 x 30") && !text.contains("holds"), "{text}");
    let (mut driver, _dir) = on("stream", 120, 40);
    driver.keys("2 home");
    let text = crate::inspector_text(&driver);
    assert!(text.contains("page      11\n"), "{text}");
}

#[test]
fn what_has_no_blocks_says_so() {
    let (mut driver, _dir) = on("current", 80, 24);
    select(&mut driver, "meta.vxrm");
    driver.keys("2 down enter s");
    assert!(row_with(&driver, "There are no blocks").contains("here"));
}

#[test]
fn a_mixed_save_shows_states_and_flags() {
    let dir = super::samples(&["block-epilogue", "map-sparse"]);
    let mut driver = super::sized(dir.path(), 200, 40);
    driver.keys("2");
    let screen = driver.text_screen();
    assert!(screen.contains("✗ block-torn +1") && screen.contains("WATER "), "{screen}");
}

#[test]
fn what_identifies_a_block_is_there_at_every_width() {
    for columns in [24, 40, 60, 80, 120, 200] {
        let (mut driver, _dir) = on("current", columns, 24);
        driver.keys("2");
        let screen = pane_text(&driver);
        let head = screen.lines().find(|line| line.contains("position")).unwrap_or_else(|| panic!("{screen}"));
        assert!(head.contains("lod"), "{columns}: {screen}");
    }
}

#[test]
fn a_filter_applies_while_it_is_typed_and_is_remembered() {
    let (mut driver, _dir) = on("block-epilogue", 120, 40);
    driver.keys("2");
    let all = pane_text(&driver);
    driver.keys("/");
    driver.text("state=error");
    assert!(driver.app.prompt.is_some() && pane_text(&driver).contains("1 of "), "{}", pane_text(&driver));
    // Escape leaves everything as it was.
    driver.keys("esc");
    assert_eq!(pane_text(&driver), all);
    driver.keys("/");
    driver.text("state=error");
    driver.keys("enter esc / up");
    assert!(pane_text(&driver).contains("1 of "), "{}", pane_text(&driver));
    assert_eq!(driver.app.prompt.as_ref().unwrap().text(), "state=error");
}

#[test]
fn a_click_on_a_heading_sorts() {
    let (mut driver, _dir) = on("current", 120, 40);
    driver.keys("2");
    let (x, y) = find(&driver, "stored", 24).unwrap();
    driver.mouse(mouse_press(x, y));
    assert!(row_with(&driver, "Sorted by stored bytes").contains("largest first"));
    driver.app.message = None;
    let down = column(&driver, "stored▼");
    driver.mouse(mouse_press(x, y));
    driver.app.message = None;
    let up = column(&driver, "stored▲");
    assert!(down.len() > 1 && down.first() != up.first(), "{down:?} {up:?}");
}

#[test]
fn a_block_in_a_wrong_place_is_called_that_once_the_check_is_through() {
    let (mut driver, _dir) = on("crash-wrong-places", 120, 40);
    driver.keys("2");
    let screen = driver.text_screen();
    assert!(screen.contains("✗ block-misplaced") || screen.contains("✗ block-moved"), "{screen}");
}

#[test]
fn rows_of_several_saves_name_their_saves() {
    let dir = super::samples(&["current", "plain"]);
    let mut driver = super::sized(dir.path(), 200, 60);
    driver.keys("2");
    assert!(!row_with(&driver, "current/r.-1.-1.-1.vxr").is_empty());
    driver.keys("end");
    assert!(!row_with(&driver, "plain/r.0.0.0.vxr").is_empty());
}
