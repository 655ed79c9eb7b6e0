//! The legend and the marks of the World pane: all of them are named, told apart without colours, and counted as the verdict
//! counts them; and how much of the pane the picture takes.

use ratatui::layout::Rect;
use ratatui::style::Color;
use voxscope::picture::Mark;
use voxscope::tui::layout::inside;
use voxscope::tui::{Driver, verdict};

use crate::repair::crash;
use crate::{find, on, pane_text, sample, sized};

/// The number after some words in the pane.
fn counted(driver: &Driver, words: &str) -> Option<u64> {
    let text = pane_text(driver);
    let after = text.split(&format!("{words} ")).nth(1)?;
    let digits: String = after.chars().take_while(|c| c.is_ascii_digit() || *c == ',').filter(|c| *c != ',').collect();
    digits.parse().ok()
}

/// The number before some words in the verdict.
fn told(lines: &[String], words: &[&str]) -> Option<u64> {
    let all = lines.join(" ");
    let before = words.iter().find_map(|words| all.split_once(words)).map(|(before, _)| before)?;
    before.split_whitespace().last()?.replace(',', "").parse().ok()
}

#[test]
fn the_legend_counts_what_the_verdict_counts() {
    for name in ["two_writers/w1", "crash_terrain/t1", "power_loss/c8"] {
        let mut driver = sized(&crash(name), 200, 60);
        driver.keys("v v v");
        let lines = verdict::lines(&driver.app);
        for (mark, words) in [
            (Mark::Misplaced, [" are in the wrong place", " is in the wrong place"]),
            (Mark::Torn, [" are torn", " is torn"]),
            (Mark::Absent, [" are not in their files", " is not in its file"]),
        ] {
            let expected = told(&lines, &words);
            assert_eq!(counted(&driver, mark.words()), expected, "{name}: {lines:?}\n{}", driver.text_screen());
        }
        assert!(told(&lines, &[" are in the wrong place", " are torn"]).is_some(), "{name}: {lines:?}");
    }
}

/// The coarser LOD is drawn there, as if nothing were wrong.
#[test]
fn a_missing_region_file_is_marked_where_its_blocks_were() {
    let save = sample("region-missing");
    let path = save.path().join("regions/lod0/r.0.0.0.vxr");
    // A file is missing; if the other one is empty, no file of the LOD has a block, and that one alone is marked.
    for is_empty in [false, true] {
        if is_empty {
            std::fs::write(&path, b"").unwrap();
        }
        let driver = sized(save.path(), 120, 40);
        assert_eq!(counted(&driver, Mark::NoFile.words()), Some(32), "{}", driver.text_screen());
    }
}

#[test]
fn marks_have_letters_in_the_picture_and_names_in_the_legend() {
    for (columns, rows) in [(60, 15), (120, 40)] {
        let mut driver = sized(&crash("crash_terrain/t1"), columns, rows);
        for look in ["surface", "cut", "height", "health", "coverage", "size", "repair"] {
            let screen = driver.text_screen();
            assert!(screen.contains(look), "{look}, {columns} x {rows}\n{screen}");
            let marks: &[Mark] = match look {
                "cut" => &[Mark::Misplaced],
                "repair" => &[Mark::Missing, Mark::Placed],
                _ => &[Mark::Torn, Mark::Misplaced],
            };
            let pane = inside(driver.app.layout().pane);
            let cells = |area: Rect| {
                let buffer = driver.screen();
                area.positions()
                    .filter_map(|at| buffer.cell(at))
                    .map(|c| (c.symbol().to_owned(), c.bg))
                    .collect::<Vec<_>>()
            };
            for mark in marks {
                let (letter, [r, g, b]) = (mark.letter().to_string(), mark.color());
                let is_letter = |(symbol, bg): &(String, Color)| *symbol == letter && *bg == Color::Rgb(r, g, b);
                assert!(cells(pane).iter().any(is_letter), "{look}, {columns} x {rows}: {letter}\n{screen}");
                let words = format!("{letter} {} ", mark.words());
                assert!(pane_text(&driver).contains(&words), "{look}, {columns} x {rows}: {words}\n{screen}");
            }
            driver.keys("v");
        }
    }
}

#[test]
fn blocks_in_slots_of_the_old_formula_have_no_mark() {
    let (mut driver, _dir) = on("blocks-v4-old-slots", 120, 40);
    driver.keys("v v v");
    let lines = verdict::lines(&driver.app).join(" ");
    assert!(lines.contains("48 are in their slots of the old formula"), "{lines}");
    assert_eq!(counted(&driver, Mark::Misplaced.words()), None, "{}", driver.text_screen());
}

/// Columns and rows of the picture that have a colour.
fn filled(driver: &Driver) -> [u16; 2] {
    let pane = inside(driver.app.layout().pane);
    let screen = driver.screen();
    let is_filled = |x: u16, y: u16| {
        screen.cell((x, y)).is_some_and(|cell| ["▀", "▄"].contains(&cell.symbol()) && matches!(cell.fg, Color::Rgb(..)))
    };
    // Columns of the legend hold a scale of two columns at most.
    let full: Vec<u16> = (pane.left()..pane.right())
        .filter(|x| {
            (pane.top()..pane.bottom()).filter(|y| is_filled(*x, *y)).count() * 2 > usize::from(pane.height / 2)
        })
        .collect();
    let rows = (pane.top()..pane.bottom()).filter(|y| (pane.left()..pane.right()).any(|x| is_filled(x, *y))).count();
    [u16::try_from(full.len()).unwrap(), u16::try_from(rows).unwrap()]
}

#[test]
fn the_world_fills_the_pane_along_one_axis() {
    let dir = sample("lods");
    for (columns, rows) in [(60, 15), (80, 24), (120, 40), (200, 60)] {
        for path in [&crash("crash_terrain/t1"), dir.path()] {
            let driver = sized(path, columns, rows);
            let pane = inside(driver.app.layout().pane);
            let [wide, high] = filled(&driver);
            // Steps of the zoom are an eighth apart.
            let is_full = high * 8 >= (pane.height - 3) * 7 || wide * 8 >= (pane.width - 7) * 7;
            assert!(is_full, "{columns} x {rows}: {wide} x {high} of {pane:?}\n{}", driver.text_screen());
        }
    }
}

#[test]
fn nothing_stands_in_where_nothing_is_once_the_picture_is_complete() {
    for (columns, rows) in [(80, 24), (100, 30), (120, 40), (160, 48)] {
        let (mut driver, _dir) = on("pak-room", columns, rows);
        // Pictures of other steps are there too.
        driver.keys("- - - + + + + esc");
        let pane = inside(driver.app.layout().pane);
        // Four regions meet; to the left of x = -32 there are chunks at z = -32 to 0 only.
        let screen = driver.screen();
        let color = |x: u16, y: u16| {
            screen
                .cell((x, y))
                .is_some_and(|cell| ["▀", "▄"].contains(&cell.symbol()) && matches!(cell.fg, Color::Rgb(..)))
        };
        // Rows begin where chunks do: at x = -64 or at -32. The overview is in the lower half, where nothing is.
        let begins: std::collections::BTreeSet<u16> = (pane.top() + 1..pane.top() + pane.height / 2)
            .filter_map(|y| (pane.left() + 7..pane.right() - 30).find(|x| color(*x, y)))
            .collect();
        assert_eq!(begins.len(), 2, "{columns} x {rows}: {begins:?}\n{}", driver.text_screen());
    }
}

#[test]
fn a_cut_verdict_says_that_it_is_cut_and_a_message_leaves_the_keys() {
    let mut driver = sized(&crash("crash_terrain/t1"), 60, 15);
    let screen = driver.text_screen();
    let verdict = screen.lines().rev().nth(1).unwrap().trim_end().to_owned();
    assert!(verdict.ends_with('…') || verdict.ends_with('.'), "{screen}");
    driver.keys("!");
    let last = driver.text_screen().lines().last().unwrap().to_owned();
    assert!(last.contains("Findings are not marked.") && last.trim_end().ends_with("q quit"), "{last}");
    // What has no room beside the message is left out, never cut.
    let mut driver = sized(&crash("crash_terrain/t1"), 120, 40);
    driver.keys("y");
    let last = driver.text_screen().lines().last().unwrap().to_owned();
    assert!(last.contains("A cut at y = ") && last.contains("? help") && last.trim_end().ends_with("q quit"), "{last}");
}

#[test]
fn what_the_lod_that_is_shown_does_not_have_is_seen_from_higher_ones() {
    let (mut driver, _dir) = on("lods", 200, 60);
    // Where nothing of a block is shown.
    let unseen = |driver: &Driver| {
        let is_block = |color: Color| color == Color::Rgb(48, 52, 60);
        driver.screen().content.iter().filter(|cell| is_block(cell.fg) || is_block(cell.bg)).count()
    };
    assert_eq!(unseen(&driver), 0, "{}", driver.text_screen());
    let height = |driver: &Driver| crate::row_with(driver, "height ").contains(" y ");
    assert!(height(&driver));
    driver.keys("@");
    driver.text("-120,0,-120");
    driver.keys("enter");
    assert!(height(&driver), "{}", driver.text_screen());
    assert!(crate::inspector_text(&driver).contains("of LOD 2"), "{}", driver.text_screen());
}

#[test]
fn the_coverage_of_a_column_is_in_the_inspector() {
    let (mut driver, _dir) = on("lods", 120, 40);
    driver.keys("v v v v");
    assert!(driver.text_screen().contains("LODs 0, 1, 2"), "{}", driver.text_screen());
    assert!(find(&driver, "LOD 2", 20).is_some(), "{}", driver.text_screen());
    assert!(crate::inspector_text(&driver).contains("LODs 0, 1, 2"), "{}", driver.text_screen());
}

#[test]
fn a_legend_in_letters_shows_marks_by_the_letters_of_the_picture() {
    let mut settings = voxscope::tui::Settings { path: crash("crash_terrain/t1"), ..Default::default() };
    settings.ascii = true;
    let driver = Driver::new(settings, 120, 40);
    let pane = pane_text(&driver);
    assert!(pane.contains("t torn 1 ") && pane.contains("? in a wrong place 10 "), "{pane}");
    assert!(!pane.contains("x t torn") && !pane.contains("x ? in"), "{pane}");
}

#[test]
fn a_warning_about_a_layer_marks_its_block_in_every_pane() {
    let (mut driver, _dir) = on("map-water-depth", 120, 40);
    driver.keys("7 n 1 v v v v");
    for _ in 0..9 {
        if driver.text_screen().contains(" health") {
            break;
        }
        driver.keys("v");
    }
    let screen = driver.text_screen();
    assert!(pane_text(&driver).contains("! against the format 1"), "{screen}");
    assert!(!crate::inspector_text(&driver).contains("nothing wrong"), "{screen}");
    driver.keys("3");
    let screen = driver.text_screen();
    assert!(pane_text(&driver).contains("warning") && !pane_text(&driver).contains("damaged"), "{screen}");
}

#[test]
fn an_unowned_block_is_not_marked_as_misplaced_and_a_doubled_one_is_whole() {
    let mut driver = sized(&crash("disk_full/f1"), 200, 60);
    let screen = driver.text_screen();
    for words in ["in a wrong place", "against the format"] {
        assert!(!pane_text(&driver).contains(words), "{words}: {screen}");
    }
    assert!(pane_text(&driver).contains("u unowned 1"), "{screen}");
    assert!(screen.contains("right, which is only likely"), "{screen}");
    // As many values are listed as there is room for.
    assert!(pane_text(&driver).matches('■').count() > 5, "{screen}");
    driver.keys("q");
}

#[test]
fn a_place_in_doubt_is_counted_apart_from_wrong_ones() {
    // On the smallest screen too, both are in the legend.
    let (driver, _dir) = on("crash-wrong-places", 60, 20);
    let pane = pane_text(&driver);
    assert!(pane.contains("? in a wrong place ") && pane.contains("d in doubt "), "{}", driver.text_screen());
    let (mut driver, _dir) = on("crash-wrong-places", 120, 40);
    driver.keys("1");
    let totals = driver.app.findings.verdict.totals.unwrap();
    assert!(totals.in_doubt > 0 && totals.in_doubt < totals.misplaced());
    let screen = driver.text_screen();
    let pane = pane_text(&driver);
    let wrong = totals.misplaced() - totals.in_doubt - totals.unowned;
    assert!(pane.contains(&format!("d in doubt {}", totals.in_doubt)), "{screen}");
    assert!(pane.contains(&format!("? in a wrong place {wrong}")), "{screen}");
    // The help lists the mark.
    driver.keys("?");
    driver.text("/");
    driver.text("doubt");
    assert!(driver.text_screen().contains("world    d"), "{}", driver.text_screen());
}

#[test]
fn a_small_screen_has_the_counts_of_the_verdict_and_the_key() {
    for (name, figures) in [
        ("power_loss/c8", "18 blocks: 16 right, 2 torn."),
        ("disk_full/f1", "61 blocks: 60 right, 1 unowned."),
        ("two_writers/w1", "43 blocks: 9 right, 22 in the wrong place, 2 torn, 10 not in their files."),
    ] {
        let driver = sized(&crash(name), 80, 24);
        let screen = driver.text_screen();
        assert!(screen.contains(figures) && screen.contains(" shows a repair"), "{name}: {screen}");
    }
}

#[test]
fn the_size_of_a_column_is_called_so() {
    let (mut driver, _dir) = on("crash-grown", 120, 40);
    for _ in 0..9 {
        if driver.text_screen().contains(" size") {
            break;
        }
        driver.keys("v");
    }
    let said = crate::inspector_text(&driver).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("bytes in the column of blocks"), "{}", driver.text_screen());
}

#[test]
fn without_colours_each_kind_has_a_letter_of_its_own() {
    let (mut driver, _dir) = on("lods", 80, 24);
    driver.app.settings.theme = voxscope::tui::theme::Theme::Mono;
    driver.keys("1");
    driver.app.message = None;
    let screen = driver.text_screen();
    let legend: Vec<char> = [" 1 77 %", " 6 17 %", " 4 5 %", " 5 1 %"]
        .iter()
        .map(|entry| {
            let line = screen.lines().find(|line| line.contains(entry)).unwrap_or_else(|| panic!("{entry}: {screen}"));
            line.split(entry).next().unwrap().chars().last().unwrap()
        })
        .collect();
    let different: std::collections::BTreeSet<char> = legend.iter().copied().collect();
    assert_eq!(different.len(), 4, "{legend:?}: {screen}");
    // How bright a place is makes no other letter of it.
    let rows: String = screen.lines().skip(3).take(12).collect();
    assert!(legend.iter().all(|letter| rows.contains(*letter)) && !rows.contains(['=', '+', 'x']), "{screen}");
}
