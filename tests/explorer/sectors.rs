//! The sector map.

use voxscope::save::Owner;
use voxscope::tui::Driver;
use voxscope::tui::pane::Pane;

use super::{mouse_press, on, row_with, select};

/// The cells of the map, row after row, without numbers and frame.
fn cells(driver: &Driver) -> String {
    let screen = driver.text_screen();
    let mut out = String::new();
    for line in screen.lines() {
        let parts = line.split('│').filter_map(|part| part.trim().split_once(' '));
        let row = parts.filter(|(number, _)| number.parse::<u64>().is_ok()).map(|(_, cells)| cells);
        // Neither words nor figures.
        out.extend(row.filter(|cells| !cells.contains(' ')));
    }
    out
}

#[test]
fn each_block_has_a_letter_of_its_own() {
    let (mut driver, _dir) = on("current", 120, 40);
    select(&mut driver, "lod0/r.0.0.0.vxr");
    driver.keys("1");
    let opened = driver.app.opened_item().unwrap().clone();
    let map: Vec<char> = cells(&driver).chars().collect();
    let sectors = &opened.sectors;
    let per = driver.text_screen().contains("1 cell = 1 sector");
    assert!(per, "{}", driver.text_screen());
    assert_eq!(map.len() as u64, sectors.runs.iter().map(|run| run.count).sum::<u64>(), "{}", driver.text_screen());
    for pair in sectors.runs.windows(2) {
        let at = |sector: u64| map[usize::try_from(sector).unwrap()];
        assert!(matches!(pair[0].owner, Owner::Block(_)));
        assert_eq!(at(pair[0].first), at(pair[0].first + pair[0].count - 1), "one block, one letter");
        assert_ne!(at(pair[0].first), at(pair[1].first), "neighbours differ");
    }
    // The selected block stands out by its letter.
    driver.keys("right");
    assert!(cells(&driver).starts_with('A'), "{}", driver.text_screen());
}

#[test]
fn the_cursor_takes_block_bytes_and_words_along() {
    let (mut driver, _dir) = on("current", 120, 40);
    select(&mut driver, "lod0/r.0.0.0.vxr");
    driver.keys("1 home end");
    let opened = driver.app.opened_item().unwrap().clone();
    let last = opened.sectors.runs.last().unwrap();
    let sector = last.first + last.count - 1;
    assert_eq!(driver.app.selection.sector, Some(sector));
    assert_eq!(driver.app.selection.bytes.unwrap().span, opened.sector_span(sector, 1));
    let slot = driver.app.selected_slot().unwrap();
    let words = row_with(&driver, &format!("sector {sector}"));
    assert!(words.contains(&format!("part {0} of {0} of block", slot.count)), "{words}");
    driver.keys("left up down pageup pagedown");
    driver.keys("enter");
    assert_eq!(driver.app.pane, Pane::Slice, "a whole block is looked at as voxels");
}

#[test]
fn damage_is_seen_where_it_is() {
    let (mut driver, _dir) = on("block-epilogue", 80, 24);
    select(&mut driver, "lod0/r.0.0.0.vxr");
    driver.keys("1");
    let screen = driver.text_screen();
    assert!(cells(&driver).contains('✗'), "{screen}");
    assert!(screen.contains("damaged"), "the legend says so: {screen}");
    // A click on it, another one to look at it.
    let (x, y) = super::find(&driver, "✗", 3).unwrap();
    driver.mouse(mouse_press(x, y));
    assert!(driver.app.selection.finding.is_some());
    assert!(row_with(&driver, "part 1 of").contains("a wrong epilogue"), "{}", driver.text_screen());
    driver.mouse(mouse_press(x, y));
    assert_eq!(driver.app.pane, Pane::Hex);
}

#[test]
fn what_is_shared_lost_or_beyond_has_marks() {
    for (name, glyph, words) in [
        ("table-overlap", '!', "shared"),
        ("table-gap", '?', "without owner"),
        ("table-beyond-end", '×', "beyond the end"),
        ("table-beyond-end", 'a', "without owner"),
        ("stale-tail", '·', "stale"),
    ] {
        let (mut driver, _dir) = on(name, 120, 40);
        select(&mut driver, "lod0/r.0.0.0.vxr");
        driver.keys("1");
        let screen = driver.text_screen();
        assert!(cells(&driver).contains(glyph), "{name}: {screen}");
        let legend = if glyph == 'a' { "abc blocks".to_owned() } else { format!("{glyph} {words}") };
        assert!(screen.contains(&legend), "{name}: {screen}");
    }
}

#[test]
fn nearer_and_farther() {
    let dir = tempfile::tempdir().unwrap();
    let lods = vec![voxscope::demo::Extent { from: [0, 0, 0], to: [16, 4, 16] }];
    let spec = voxscope::demo::ForestSpec { lods, sector_size: 64, ..voxscope::demo::ForestSpec::default() };
    voxscope::demo::write_forest(&dir.path().join("world"), &spec, None).unwrap();
    let mut driver = super::sized(dir.path(), 80, 24);
    select(&mut driver, "lod0/r.0.0.0.vxr");
    driver.keys("1 end");
    let sector = driver.app.selection.sector;
    let fits = row_with(&driver, "1 cell =");
    assert!(fits.contains("sectors"), "{fits}");
    driver.keys("+ + + + + + + + + + + +");
    assert!(driver.text_screen().contains("1 cell = 1 sector "), "{}", driver.text_screen());
    assert_eq!(driver.app.selection.sector, sector);
    driver.keys("- - - - - - - - - - - - - - -");
    assert_eq!(row_with(&driver, "1 cell ="), fits);
}

#[test]
fn other_formats_have_maps_too() {
    for (name, file) in
        [("pak-room", ".region"), ("map-sparse", ".npy"), ("map-dense", ".npy"), ("pak-overlap", ".region")]
    {
        let (mut driver, _dir) = on(name, 80, 24);
        select(&mut driver, file);
        driver.keys("1 right right down enter 1");
        let screen = driver.text_screen();
        assert!(screen.contains("1 cell ="), "{name}: {screen}");
        assert!(!cells(&driver).is_empty(), "{name}: {screen}");
    }
    let (mut driver, _dir) = on("current", 80, 24);
    select(&mut driver, "meta.vxrm");
    driver.keys("1");
    assert!(driver.text_screen().contains("describes the others"));
    driver.keys("enter");
    assert_eq!(driver.app.pane, Pane::Hex);
}

#[test]
fn several_files_are_a_cell_each() {
    let (mut driver, _dir) = on("block-epilogue", 80, 24);
    driver.keys("1");
    let screen = driver.text_screen();
    assert!(screen.contains("1 with errors"), "{screen}");
    let (x, y) = super::find(&driver, "✗", 3).unwrap();
    driver.mouse(mouse_press(x, y));
    driver.mouse(mouse_press(x, y));
    let item = driver.app.selected_item().unwrap();
    assert!(driver.app.index.as_ref().unwrap().shown(item).ends_with("r.0.0.0.vxr"));
    driver.keys("backspace");
    assert_eq!(driver.app.selected_item(), None, "and back");
}

#[cfg(feature = "sqlite")]
#[test]
fn a_stream_has_pages_that_count_from_1() {
    let (mut driver, _dir) = on("stream-cut", 120, 40);
    select(&mut driver, "world.sqlite");
    driver.keys("1 home");
    let screen = driver.text_screen();
    assert!(row_with(&driver, "page 1").contains("header of the database"), "{screen}");
    assert!(!screen.contains("header 0 B") && !screen.contains("ector 0"), "{screen}");
    driver.keys("right");
    row_with(&driver, "page 2");
    driver.keys("2");
    assert!(!driver.text_screen().contains(" sector "), "{}", driver.text_screen());
}
