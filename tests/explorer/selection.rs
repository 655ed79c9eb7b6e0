//! One selection links all panes, from the first frame on.

use voxscope::damage::Space;
use voxscope::tui::pane::Pane;
use voxscope::tui::update::Event;

use super::{find, inspector_text, mouse_press, on, pane_text, select, sized};

#[test]
fn a_block_is_selected_from_the_first_frame_in_every_pane() {
    for name in ["current", "block-epilogue", "pak-room", "map-sparse", "stream-texts"] {
        if cfg!(not(feature = "sqlite")) && name.starts_with("stream") {
            continue;
        }
        for pane in Pane::ALL {
            let (mut driver, _dir) = on(name, 120, 40);
            if !driver.app.has_pane(pane) {
                continue;
            }
            driver.keys(&pane.number().to_string());
            // A finding may be about no block.
            assert!(pane == Pane::Findings || driver.app.selected_slot().is_some(), "{name} {pane:?}");
            let screen = pane_text(&driver);
            assert!(!screen.trim().is_empty() && !screen.contains("Choose a"), "{name} {pane:?}\n{screen}");
        }
    }
}

#[test]
fn the_cursor_of_every_table_and_map_selects() {
    let (mut driver, _dir) = on("current", 120, 40);
    // In the table of a directory, whichever file the row is of.
    driver.keys("2 home");
    let first = (driver.app.selected_item(), driver.app.selection.slot);
    driver.keys("end");
    let last = (driver.app.selected_item(), driver.app.selection.slot);
    assert!(first != last && driver.app.selects_directory());
    let position = driver.app.selected_slot().unwrap().position.unwrap();
    let words = voxscope::printable::triple(position);
    assert!(driver.text_screen().lines().next().unwrap().contains(&words), "the path line: {words}");
    assert!(driver.text_screen().contains(&format!("Block {words}")), "the inspector: {words}");
    // Hex and sectors speak of the same block.
    driver.keys("6");
    assert!(pane_text(&driver).contains(&format!("block {words}")), "{}", pane_text(&driver));
    let opened = driver.app.opened_item().unwrap();
    let slot = driver.app.selected_slot().unwrap();
    let bytes = driver.app.selection.bytes.unwrap();
    assert_eq!((bytes.space, bytes.span), (Space::File, opened.sector_span(slot.first, slot.count)));
}

#[test]
fn a_save_that_is_read_again_keeps_its_place() {
    for name in ["current", "lods", "old-2020", "2021-blocks-v2", "pak-room", "block-files"] {
        let (mut driver, _dir) = on(name, 120, 40);
        // In the middle of the table of the directory.
        let place = |driver: &voxscope::tui::Driver| {
            let app = &driver.app;
            (app.selected_item(), app.selection.slot, app.selected_slot().and_then(|slot| slot.position))
        };
        driver.keys("2 end up up");
        let before = place(&driver);
        assert!(driver.app.selects_directory() && before.2.is_some(), "{name}");
        driver.keys("R 5");
        assert_eq!(place(&driver), before, "{name}");
        let screen = driver.text_screen();
        assert!(!screen.contains("there is no block in slot"), "{name}\n{screen}");
    }
}

#[test]
fn what_was_selected_in_a_file_that_is_gone_is_in_no_other_one() {
    let (mut driver, dir) = on("current", 120, 40);
    driver.keys("2 end");
    let index = driver.app.index.clone().unwrap();
    let path = index.paths[driver.app.selected_item().unwrap()].clone();
    std::fs::remove_file(&path).unwrap();
    driver.keys("R 5");
    assert!(!driver.text_screen().contains("there is no block in slot"), "{}", driver.text_screen());
    let index = driver.app.index.clone().unwrap();
    assert!(driver.app.selected_item().is_some_and(|item| index.paths[item] != path) && dir.path().exists());
}

#[test]
fn the_worst_finding_is_told_in_full_from_the_first_frame() {
    for (columns, rows) in [(80, 24), (120, 40), (200, 60)] {
        let (mut driver, _dir) = on("block-epilogue", columns, rows);
        driver.keys("7");
        let finding = driver.app.findings.list[driver.app.selection.finding.unwrap()].clone();
        assert_eq!(finding.level(), voxscope::damage::Level::Error);
        // Lines break at spaces and after hyphens.
        let words = |text: &str| text.split_whitespace().collect::<String>();
        // The pane shows the cause first, the inspector what is wrong.
        let message = words(&finding.message());
        assert!(words(&inspector_text(&driver)).contains(&message), "{}", driver.text_screen());
        driver.keys("down");
        let both = words(&pane_text(&driver)) + &words(&inspector_text(&driver));
        // The path of the save is in the command, so what is behind it is compared.
        let next = finding.code().next();
        let next = next.split_once("`: ").map_or(next, |(_, behind)| behind).to_owned();
        for text in [finding.message(), next] {
            assert!(both.contains(&words(&text)), "{columns} x {rows}: {text}\n{}", driver.text_screen());
        }
        // Its block is the one that other panes show.
        let position = finding.block.unwrap().position;
        assert_eq!(driver.app.selected_slot().unwrap().position, position);
        driver.keys("down");
        let next = driver.app.findings.list[driver.app.selection.finding.unwrap()].clone();
        if let Some(block) = next.block {
            assert_eq!(driver.app.selected_slot().unwrap().position, block.position);
        }
    }
}

#[test]
fn rows_of_bytes_are_as_wide_as_the_screen_allows() {
    for (columns, bytes) in [(80, 16), (100, 16), (110, 16), (120, 16), (150, 16), (180, 32), (200, 32), (60, 8)] {
        let (mut driver, _dir) = on("current", columns, 40);
        select(&mut driver, "lod0/r.0.0.0.vxr");
        driver.keys("6 home");
        let before = driver.app.selection.bytes.unwrap().span.start;
        driver.keys("down");
        let after = driver.app.selection.bytes.unwrap().span.start;
        assert_eq!(after - before, bytes, "{columns}: {}", driver.text_screen());
        let screen = pane_text(&driver);
        assert!(screen.contains("VXR"), "the characters have room: {screen}");
    }
}

/// A file of the save with some bytes appended, so that the hex pane has something to squeeze and to find.
fn with_tail(tail: &[u8]) -> (voxscope::tui::Driver, tempfile::TempDir) {
    let (driver, dir) = on("current", 120, 40);
    let index = driver.app.index.unwrap();
    let item = (0..index.items.len()).find(|item| index.shown(*item).ends_with("lod0/r.0.0.0.vxr")).unwrap();
    let mut bytes = std::fs::read(&index.paths[item]).unwrap();
    bytes.extend_from_slice(tail);
    std::fs::write(&index.paths[item], bytes).unwrap();
    let mut driver = sized(dir.path(), 120, 40);
    select(&mut driver, "lod0/r.0.0.0.vxr");
    driver.keys("6");
    (driver, dir)
}

#[test]
fn the_cursor_stays_in_the_middle_third_and_equal_rows_are_squeezed() {
    let mut tail = vec![0xabu8; 4096];
    tail.extend((0..4096u32).map(|n| u8::try_from(n % 251).unwrap()));
    let (mut driver, _dir) = with_tail(&tail);
    driver.keys("end pageup pageup pageup");
    let rows = pane_text(&driver).lines().count();
    let cursor = |driver: &voxscope::tui::Driver| {
        let at = driver.app.selection.bytes.unwrap().span.start / 16 * 16;
        let (_, y) = find(driver, &format!("{at:08x}"), 0).unwrap_or_else(|| panic!("{}", driver.text_screen()));
        usize::from(y - driver.app.layout().pane.y)
    };
    for keys in ["down down down down down down down down down down", "up up up up up up up up up up up up up up up"] {
        driver.keys(keys);
        let at = cursor(&driver);
        assert!((rows / 3 - 2..=rows * 2 / 3 + 2).contains(&at), "{at} of {rows}\n{}", driver.text_screen());
    }
    // Upward into the equal rows: one line stands for all of them, and one step goes over it.
    driver.keys("/");
    driver.text("ab ab ab ab");
    driver.keys("enter down");
    let screen = pane_text(&driver);
    let squeezed = screen.lines().find(|line| line.contains("equal rows")).unwrap_or_else(|| panic!("{screen}"));
    assert!(squeezed.contains('*'), "{squeezed}");
    let before = driver.app.selection.bytes.unwrap().span.start;
    driver.keys("down down");
    assert!(driver.app.selection.bytes.unwrap().span.start > before + 3000, "{}", driver.text_screen());
}

#[test]
fn bytes_are_found_with_wildcards() {
    let (mut driver, _dir) = with_tail(&[0xde, 0xad, 0x42, 0xbe, 0xef]);
    let len = driver.app.opened_item().unwrap().len(voxscope::tui::data::Part::Data);
    driver.keys("home /");
    driver.text("de ad ?? b? ef");
    driver.keys("enter");
    let bytes = driver.app.selection.bytes.unwrap();
    assert_eq!((bytes.span.start, bytes.span.end), (len - 5, len));
    driver.keys("home /");
    driver.text("zz");
    driver.keys("enter");
    assert!(driver.app.prompt.as_ref().unwrap().error.as_ref().unwrap().contains("hexadecimal"));
    driver.keys("esc /");
    driver.text("ff ff ff ff ff ff ff ff ff ff ff ff 01 02 03 04 05");
    driver.keys("ctrl-u");
    driver.text("\"no such text in here\"");
    driver.keys("enter");
    assert!(driver.app.message.as_ref().unwrap().contains("No bytes match"), "{:?}", driver.app.message);
}

#[test]
fn the_whole_field_is_coloured() {
    let (mut driver, _dir) = on("current", 120, 40);
    select(&mut driver, "lod0/r.0.0.0.vxr");
    driver.keys("6 home");
    let (x, y) = find(&driver, "00000000", 0).unwrap();
    let screen = driver.screen();
    let style = |column: u16| screen.cell((x + column, y)).unwrap().bg;
    // The magic: four bytes with the gaps between them; the cursor is on the first.
    assert_eq!(style(12), style(15));
    assert_ne!(style(12), ratatui::style::Color::Reset);
    assert_eq!(style(21), ratatui::style::Color::Reset);
    driver.mouse(mouse_press(x + 13, y));
    assert_eq!(driver.app.selection.bytes.unwrap().span.start, 1);
}

#[test]
fn a_save_that_was_deleted_is_not_shown_as_if_it_were_there() {
    for (name, columns, rows) in [("lods", 120, 40), ("stream", 80, 24), ("map-dense", 80, 24)] {
        let (mut driver, dir) = on(name, columns, rows);
        let moved = dir.path().with_extension("moved");
        std::fs::rename(dir.path(), &moved).unwrap();
        driver.event(&Event::Changed);
        // A key takes a message away, and not this.
        for pane in ["1", "2", "3", "7", "down"] {
            driver.keys(pane);
            let screen = driver.text_screen();
            assert!(screen.contains("cannot be read any more"), "{name}, {pane}: {screen}");
            let end = screen.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(end.contains("What is shown was read before that."), "{name}: {screen}");
            assert!(!screen.lines().next().unwrap().contains("nothing wrong"), "{name}: {screen}");
        }
        std::fs::rename(&moved, dir.path()).unwrap();
        driver.keys("R");
        let screen = driver.text_screen();
        assert!(!screen.contains("any more") && screen.contains("nothing wrong"), "{name}: {screen}");
    }
}
