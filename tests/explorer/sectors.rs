//! The sector map.

use voxscope::save::Owner;
use voxscope::tui::Driver;
use voxscope::tui::pane::Pane;

use super::{mouse_press, on, pane_text, row_with, samples, select, sized};

/// The cells of the map, row after row, without numbers and frame; one character a sector.
fn cells(driver: &Driver) -> String {
    let screen = pane_text(driver);
    let mut out = String::new();
    for line in screen.lines() {
        let row = line.trim().split_once(' ').filter(|(number, _)| number.parse::<u64>().is_ok());
        // Neither words nor figures.
        out.extend(row.map(|(_, cells)| cells).filter(|cells| !cells.contains(' ')));
    }
    out
}

#[test]
fn each_block_has_a_letter_of_its_own() {
    let (mut driver, _dir) = on("current", 120, 40);
    select(&mut driver, "lod0/r.0.0.0.vxr");
    driver.keys("3 - - - -");
    let opened = driver.app.opened_item().unwrap().clone();
    let map: Vec<char> = cells(&driver).to_lowercase().chars().collect();
    let sectors = &opened.sectors;
    assert!(pane_text(&driver).contains("1 cell = 1 sector"), "{}", pane_text(&driver));
    assert_eq!(map.len() as u64, sectors.runs.iter().map(|run| run.count).sum::<u64>(), "{}", pane_text(&driver));
    for pair in sectors.runs.windows(2) {
        let at = |sector: u64| map[usize::try_from(sector).unwrap()];
        assert!(matches!(pair[0].owner, Owner::Block(_)));
        assert_eq!(at(pair[0].first), at(pair[0].first + pair[0].count - 1), "one block, one letter");
        assert_ne!(at(pair[0].first), at(pair[1].first), "neighbours differ");
    }
    // The selected block stands out by its letter.
    driver.keys("home");
    assert!(cells(&driver).starts_with('A'), "{}", pane_text(&driver));
}

#[test]
fn positions_are_written_into_the_cells_where_there_is_room() {
    for (columns, rows) in [(80, 24), (120, 40), (200, 60)] {
        let (mut driver, _dir) = on("current", columns, rows);
        select(&mut driver, "lod0/r.0.0.0.vxr");
        driver.keys("3");
        let screen = pane_text(&driver);
        for slot in &driver.app.opened_item().unwrap().slots {
            let [x, y, z] = slot.position.unwrap();
            assert!(screen.contains(&format!("{x},{y},{z}")), "{x},{y},{z}\n{screen}");
        }
        // A click on a cell selects what is written in it.
        let last = *driver.app.opened_item().unwrap().slots.last().unwrap();
        let [x, y, z] = last.position.unwrap();
        let (x, y) = super::find(&driver, &format!("{x},{y},{z}"), 4).unwrap();
        driver.mouse(mouse_press(x, y));
        assert_eq!(driver.app.selection.slot, Some(last.slot));
    }
}

#[test]
fn blocks_can_be_told_apart_where_every_one_is_damaged() {
    let (mut driver, dir) = on("current", 80, 24);
    select(&mut driver, "lod0/r.0.0.0.vxr");
    let opened = driver.app.opened_item().unwrap().clone();
    let path = driver.app.index.as_ref().unwrap().paths[opened.item].clone();
    let mut bytes = std::fs::read(&path).unwrap();
    for slot in &opened.slots {
        // The mode of the container, after the four bytes of the size.
        bytes[usize::try_from(opened.sector_span(slot.first, 1).start).unwrap() + 4] = 0x7f;
    }
    std::fs::write(&path, &bytes).unwrap();
    let mut driver = sized(dir.path(), 80, 24);
    select(&mut driver, "lod0/r.0.0.0.vxr");
    driver.keys("3");
    let screen = pane_text(&driver);
    for slot in &driver.app.opened_item().unwrap().slots {
        let [x, y, z] = slot.position.unwrap();
        let selected = driver.app.selection.slot == Some(slot.slot);
        let name = if selected { format!("✗[{x},{y},{z}]") } else { format!("✗{x},{y},{z}") };
        assert!(screen.contains(&name), "{screen}");
    }
    driver.keys("- - - -");
    let map: String = cells(&driver).to_lowercase();
    let letters: std::collections::BTreeSet<char> = map.chars().filter(char::is_ascii_alphabetic).collect();
    assert!(map.contains('✗') && letters.len() > 1, "{map}");
}

#[test]
fn the_cursor_takes_block_bytes_and_words_along() {
    let (mut driver, _dir) = on("current", 120, 40);
    select(&mut driver, "lod0/r.0.0.0.vxr");
    driver.keys("3 home end");
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
    assert_eq!(driver.app.pane, Pane::World, "a whole block is looked at as voxels");
}

#[test]
fn damage_is_seen_where_it_is() {
    let (mut driver, _dir) = on("block-epilogue", 80, 24);
    select(&mut driver, "lod0/r.0.0.0.vxr");
    driver.keys("3 - - - -");
    let screen = driver.text_screen();
    assert!(cells(&driver).contains('✗'), "{screen}");
    assert!(screen.contains("damaged"), "the legend says so: {screen}");
    // A click on it, another one to look at it.
    let (x, y) = super::find(&driver, "✗", 3).unwrap();
    driver.mouse(mouse_press(x, y));
    assert!(driver.app.selection.finding.is_some());
    let title = voxscope::damage::Code::BlockEpilogue.title();
    assert!(row_with(&driver, "part 1 of").contains(title), "{}", driver.text_screen());
    driver.mouse(mouse_press(x, y));
    assert_eq!(driver.app.pane, Pane::Hex);
}

#[test]
fn what_is_shared_lost_or_beyond_has_marks() {
    for (name, glyph, words) in [
        ("table-overlap", '&', "shared"),
        ("table-gap", '?', "unowned"),
        ("table-beyond-end", '×', "beyond the end"),
        ("table-beyond-end", 'a', "unowned"),
        ("stale-tail", '·', "stale"),
    ] {
        let (mut driver, _dir) = on(name, 120, 40);
        select(&mut driver, "lod0/r.0.0.0.vxr");
        driver.keys("3 - - - -");
        let screen = driver.text_screen();
        assert!(cells(&driver).to_lowercase().contains(glyph), "{name}: {screen}");
        let legend = if glyph == 'a' { "abc def blocks".to_owned() } else { format!("{glyph} {words}") };
        assert!(screen.contains(&legend), "{name}: {screen}");
    }
}

#[test]
fn nearer_and_farther() {
    let dir = tempfile::tempdir().unwrap();
    let lods = vec![voxscope::demo::Extent { from: [0, 0, 0], to: [16, 4, 16] }];
    let spec = voxscope::demo::ForestSpec { lods, sector_size: 64, ..voxscope::demo::ForestSpec::default() };
    voxscope::demo::write_forest(&dir.path().join("world"), &spec, None).unwrap();
    let mut driver = sized(dir.path(), 80, 24);
    select(&mut driver, "lod0/r.0.0.0.vxr");
    driver.keys("3 end");
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
        driver.keys("3 - - - - right right down enter 3");
        let screen = driver.text_screen();
        assert!(screen.contains("1 cell ="), "{name}: {screen}");
        assert!(!cells(&driver).is_empty(), "{name}: {screen}");
    }
    let (mut driver, _dir) = on("current", 80, 24);
    select(&mut driver, "meta.vxrm");
    driver.keys("3");
    assert!(driver.text_screen().contains("describes the others"));
    driver.keys("enter");
    assert_eq!(driver.app.pane, Pane::Hex);
}

#[test]
fn several_files_are_a_row_each() {
    let (mut driver, _dir) = on("block-epilogue", 120, 40);
    driver.keys("3");
    let screen = pane_text(&driver);
    assert!(screen.contains("1 with errors"), "{screen}");
    let index = driver.app.index.clone().unwrap();
    let rows: Vec<&str> = screen.lines().skip(1).collect();
    for (item, row) in (0..index.items.len()).zip(&rows) {
        let shown = index.shown(item);
        let name = shown.rsplit('/').next().unwrap();
        assert!(row.contains(name) || row.contains('…'), "{name}: {row}");
        assert!(name == "meta.vxrm" || row.contains('■'), "its sectors: {row}");
    }
    let damaged = rows.iter().find(|row| row.trim_start().starts_with('✗')).unwrap();
    assert!(damaged.matches('✗').count() == 2, "the file and the place in it: {damaged}");
    // The cursor selects a file without leaving the list; enter opens it.
    let first = driver.app.selected_item();
    driver.keys("home");
    assert!(driver.app.selects_directory() && driver.app.selected_item() != first);
    let item = driver.app.selected_item().unwrap();
    driver.keys("enter");
    assert!(!driver.app.selects_directory() && driver.app.selected_item() == Some(item));
    driver.keys("backspace");
    assert!(driver.app.selects_directory(), "and back");
}

#[cfg(feature = "sqlite")]
#[test]
fn a_stream_has_pages_that_count_from_1() {
    let (mut driver, _dir) = on("stream-cut", 120, 40);
    select(&mut driver, "world.sqlite");
    driver.keys("3 home");
    let screen = driver.text_screen();
    assert!(row_with(&driver, "page 1").contains("header of the database"), "{screen}");
    assert!(!screen.contains("header 0 B") && !screen.contains("ector 0"), "{screen}");
    driver.keys("right");
    row_with(&driver, "page 2");
    driver.keys("2");
    assert!(!driver.text_screen().contains(" sector "), "{}", driver.text_screen());
}

#[test]
fn a_voxel_map_has_sizes_and_no_sectors() {
    let (mut driver, _dir) = on("map-dense", 80, 24);
    driver.keys("3");
    let screen = driver.text_screen();
    assert!(screen.contains("size and blocks") && !screen.contains("sectors 0"), "{screen}");
    let row = row_with(&driver, "Lake_Global.npy");
    assert!(row.contains("KiB"), "{row}");
    let description = row_with(&driver, "map_data.json");
    assert!(!description.contains('▒') && !description.contains('▓'), "{description}");
    select(&mut driver, "Lake_Global.npy");
    driver.keys("3 right left");
    let screen = driver.text_screen();
    assert!(screen.contains("8 parts of 4,096 B") && screen.contains("part 0"), "{screen}");
    assert!(!screen.contains("slot") && !screen.contains("sector 0"), "{screen}");
    let (mut driver, _dir) = on("map-sparse", 100, 30);
    select(&mut driver, "Lake_Global.npy");
    driver.keys("3 right left");
    let screen = driver.text_screen();
    assert!(screen.contains("row 0") && !screen.contains("sector 0"), "{screen}");
}

#[test]
fn the_figures_count_every_page_of_a_stream() {
    let (mut driver, dir) = on("stream-page", 120, 34);
    let path = dir.path().join("world.sqlite");
    let pages = std::fs::metadata(&path).unwrap().len() / 1024;
    driver.keys("3");
    // One of them is unowned.
    let figures = row_with(&driver, "pages of 1,024 B");
    assert!(figures.contains(&format!(" {pages} pages")) && figures.contains("1 unowned"), "{figures}");
}

#[test]
fn the_legend_of_files_names_every_kind_that_is_drawn() {
    let (mut driver, _dir) = on("pak-room", 120, 40);
    driver.keys("3");
    let screen = pane_text(&driver);
    assert!(screen.contains("▓■"), "{screen}");
    assert!(screen.lines().last().unwrap().contains("▓ header"), "{screen}");
}

#[test]
fn files_of_several_saves_have_the_names_of_their_saves() {
    let dir = samples(&["current", "plain"]);
    let mut driver = sized(dir.path(), 120, 40);
    driver.keys("3");
    for name in ["current/lod0/r.0.0.0.vxr", "plain/lod0/r.0.0.0.vxr"] {
        assert_eq!(pane_text(&driver).matches(name).count(), 1, "{}", pane_text(&driver));
    }
}

#[test]
fn a_damaged_sector_is_marked_in_all_of_its_cells() {
    let (mut driver, _dir) = on("crash-grown", 200, 60);
    driver.keys("3");
    let row = row_with(&driver, "lod0/r.0.0.0.vxr");
    assert!(row.contains("✗✗"), "{row}");
}

/// In the table of a killed game, entries of several blocks may point to one sector.
#[test]
fn the_finding_of_a_sector_is_about_the_block_that_is_selected() {
    let mut driver = sized(&super::repair::crash("crash_terrain/t1"), 120, 40);
    let mut about_blocks = 0;
    for region in ["r.0.0.0.vxr", "r.-1.-1.0.vxr"] {
        select(&mut driver, region);
        driver.keys("3 - - - - home");
        for _ in 0..40 {
            let finding = driver.app.selection.finding.map(|number| driver.app.findings.list[number].clone());
            let about = finding.and_then(|finding| finding.block?.position);
            let selected = driver.app.selected_slot().and_then(|slot| slot.position);
            if let (Some(about), Some(selected)) = (about, selected) {
                assert_eq!(about, selected, "{}", driver.text_screen());
                about_blocks += 1;
            }
            driver.keys("right");
        }
    }
    assert!(about_blocks > 10, "{about_blocks}");
}

#[test]
fn names_of_files_are_whole_where_there_is_room_for_them() {
    let dir = samples(&["lods", "2021-blocks-v2"]);
    let mut driver = sized(dir.path(), 80, 24);
    driver.app.select_node(0);
    driver.keys("3");
    assert!(pane_text(&driver).contains(" 2021-blocks-v2/lod0/r.-1.-1.-1.vxr "), "{}", driver.text_screen());
    driver.keys("2");
    assert!(pane_text(&driver).contains("r.-1.-1.-1.vxr "), "{}", driver.text_screen());
    let mut driver = sized(dir.path(), 160, 40);
    driver.app.select_node(0);
    driver.keys("2");
    assert!(pane_text(&driver).contains("2021-blocks-v2/r.-1.-1.-1.vxr "), "{}", driver.text_screen());
}

#[test]
fn files_are_counted_as_a_check_counts_them() {
    for name in ["lods", "block-files", "crash-wrong-places", "map-dense"] {
        let (mut driver, _dir) = on(name, 120, 40);
        let checked = driver.app.findings.summary.as_ref().unwrap().files;
        driver.app.select_node(0);
        driver.keys("3");
        let files = voxscope::printable::count(checked, "file");
        assert!(pane_text(&driver).contains(&format!(" {files}")), "{name}: {files}: {}", driver.text_screen());
    }
}

#[test]
fn the_selected_block_has_a_mark_besides_its_colour_and_the_legend_both_colours_of_blocks() {
    let (mut driver, _dir) = on("current", 120, 40);
    select(&mut driver, "lod0/r.0.0.0.vxr");
    driver.keys("3");
    let slot = driver.app.selected_slot().unwrap().position.unwrap();
    let [x, y, z] = slot;
    let screen = driver.text_screen();
    assert!(screen.contains(&format!("[{x},{y},{z}]")), "{screen}");
    assert!(screen.contains("x,y,z x,y,z blocks") && screen.contains("[x,y,z] selected"), "{screen}");
}
