//! The preview of a repair, and a block looked at in a place that it may belong to.

use std::path::{Path, PathBuf};

use voxscope::check::Totals;
use voxscope::repair::preview::Preview;
use voxscope::tui::Driver;
use voxscope::tui::pane::Pane;

use super::{on, row_with, select, sized};

/// A save of the real engine that was killed.
pub fn crash(name: &str) -> PathBuf {
    crate::common::committed().join(name).join("world")
}

fn times(path: &Path) -> Vec<(PathBuf, std::time::SystemTime)> {
    let mut all = Vec::new();
    let mut dirs = vec![path.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                dirs.push(entry.path());
            } else {
                all.push((entry.path(), entry.metadata().unwrap().modified().unwrap()));
            }
        }
    }
    all.sort();
    all
}

#[test]
fn a_finding_leads_to_what_a_repair_would_do_about_it() {
    for (columns, rows) in [(80, 24), (120, 40), (40, 10)] {
        let (mut driver, dir) = on("pak-file-cut", columns, rows);
        let before = times(dir.path());
        driver.keys("7 home p");
        assert_eq!(driver.app.pane, Pane::Repair);
        let summary = row_with(&driver, "3 blocks: 2 kept");
        assert!(columns == 40 || summary.contains("1 missing"), "{}", driver.text_screen());
        assert!(columns == 40 || driver.text_screen().contains("points beyond"), "{}", driver.text_screen());
        assert!(driver.text_screen().contains("voxscope repair"));
        driver.keys("Y");
        let command = driver.copied.clone().unwrap();
        assert!(command.starts_with("voxscope repair ") && command.ends_with(" --level certain"), "{command}");
        driver.keys("t Y");
        assert!(driver.copied.clone().unwrap().ends_with(" --level likely"));
        assert_eq!(times(dir.path()), before, "nothing is written");
    }
}

#[test]
fn the_preview_says_why_a_candidate_is_not_certain_and_what_to_do_with_the_copy() {
    let (mut driver, _dir) = on("crash-wrong-places", 80, 24);
    driver.keys("8");
    for (key, aside, advice) in [
        ("home", "; 8 to lost+found.", "The copy would lack most blocks of the save. Press t: at the level likely"),
        ("t", "; 4 to lost+found.", "Then move the copy to where the save was, and keep the original."),
    ] {
        driver.keys(key);
        let pane: String = super::pane_text(&driver).split_whitespace().collect::<Vec<_>>().join(" ");
        let summary = pane.replace("level certain t ", "").replace("level likely t ", "");
        assert!(summary.contains(aside), "{key}: {}", driver.text_screen());
        assert!(summary.contains(advice), "{summary}");
    }
    // The line under the cursor is in the inspector as a whole.
    let mut reasons = 0;
    for _ in 0..20 {
        driver.keys("down");
        reasons += usize::from(words(&driver).contains(" % likely: order"));
    }
    assert!(reasons > 0, "{}", driver.text_screen());
}

#[test]
fn the_sectors_stand_before_and_after() {
    let path = crash("crash_terrain/t1");
    let mut driver = sized(&path, 80, 24);
    select(&mut driver, "r.-1.-1.0.vxr");
    driver.keys("8");
    // The folded tree beside the pane has letters of its own.
    let screen = super::pane_text(&driver);
    let lines: Vec<&str> = screen.lines().collect();
    let row = |title: &str| lines.iter().position(|line| line.contains(title)).unwrap();
    let letters = |at: usize| lines[at].chars().filter(|c| c.is_alphabetic()).collect::<String>();
    // Three that the table has elsewhere, in capitals; behind them what is left out.
    assert!(letters(row("Before") + 1).starts_with("aaabCCCCCDDEEE"), "{screen}");
    assert_eq!(letters(row("After") + 1), "aaabCCCCCDDEEE", "{screen}");
    assert!(row_with(&driver, "block (-1, -1, 2)").contains("table says 7, found at 4, goes to 4"), "{screen}");
    assert!(row_with(&driver, "block (-1, -1, 1)").contains("missing: "), "{screen}");
}

#[test]
fn the_block_of_the_line_is_what_the_other_panes_show() {
    let mut driver = sized(&crash("crash_terrain/t1"), 80, 24);
    for whole in [false, true] {
        if whole {
            driver.app.select_node(0);
        } else {
            select(&mut driver, "r.-1.-1.0.vxr");
        }
        driver.keys("8 home");
        let goes_on = |driver: &Driver| !words(driver).contains("Block (-1, -1, 2)");
        while goes_on(&driver) {
            let before = driver.text_screen();
            driver.keys("down");
            assert_ne!(driver.text_screen(), before, "no line of the block");
        }
        assert_eq!(driver.app.selected_slot().and_then(|slot| slot.position), Some([-1, -1, 2]), "{whole}");
        assert_eq!(driver.app.selection.sector, Some(4), "where it was found");
        let finding = driver.app.selection.finding.and_then(|at| driver.app.findings.list[at].block?.position);
        assert!(finding.is_none_or(|at| at == [-1, -1, 2]), "{finding:?}");
        // The list stays that of what is selected in the tree.
        assert!(row_with(&driver, "block (-1, -1, 2)").contains("found at 4"), "{}", driver.text_screen());
        assert_eq!(driver.app.selects_directory(), whole);
    }
}

#[test]
fn a_file_and_the_whole_save_lead_to_each_other() {
    let mut driver = sized(&crash("crash_terrain/t1"), 80, 24);
    select(&mut driver, "lod0/r.-1.-1.0.vxr");
    driver.keys("8 a");
    assert!(super::pane_text(&driver).contains("the whole save"), "{}", driver.text_screen());
    // A line about another file: the panes show its block, and the list stays.
    driver.keys("end");
    while !words(&driver).contains("Block (0, 0, 1)") {
        let before = driver.text_screen();
        driver.keys("up");
        assert_ne!(driver.text_screen(), before, "no line of the block");
    }
    assert_eq!(driver.app.selected_slot().and_then(|slot| slot.position), Some([0, 0, 1]));
    assert!(super::pane_text(&driver).contains("the whole save"), "{}", driver.text_screen());
    driver.keys("a");
    assert!(super::pane_text(&driver).contains("lod0/r.0.0.0.vxr"), "{}", driver.text_screen());
    assert!(!super::pane_text(&driver).contains("the whole save"), "{}", driver.text_screen());
    // A heading leads to its file as well.
    driver.keys("a home");
    while !words(&driver).contains("r.-1.-1.0.vxr: ") {
        let before = driver.text_screen();
        driver.keys("down");
        assert_ne!(driver.text_screen(), before, "no heading of the file");
    }
    driver.keys("a");
    assert!(super::pane_text(&driver).contains("block (-1, -1, 2)"), "{}", driver.text_screen());
}

#[test]
fn a_command_without_room_says_that_it_goes_on() {
    let mut driver = sized(&crash("crash_terrain/t1"), 60, 20);
    driver.keys("8");
    assert!(super::pane_text(&driver).contains("Y copies it"), "{}", driver.text_screen());
    driver.keys("Y");
    assert!(driver.copied.clone().unwrap().ends_with("--level certain"));
}

/// What the inspector says, in one line.
fn words(driver: &Driver) -> String {
    super::inspector_text(driver).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// On the block of which it is not certain where it belongs.
fn on_the_lost_one(driver: &mut Driver) {
    select(driver, "lod0/r.0.0.0.vxr");
    driver.keys("8 home down down down down down");
    assert!(row_with(driver, "? sector 125").contains("may be (2, 2, 1)"));
}

#[test]
fn all_of_a_save_is_listed_and_likely_blocks_are_shown_from_there() {
    let mut driver = sized(&crash("two_writers/w1"), 160, 60);
    driver.keys("8 t");
    let screen = driver.text_screen();
    assert!(!screen.contains(" more; a repaired copy") && !screen.contains(" more that are only likely"), "{screen}");
    let mut likely = 0;
    let mut missing = 0;
    driver.keys("home");
    let mut last = String::new();
    for _ in 0..400 {
        let now = super::inspector_text(&driver);
        likely += usize::from(now.starts_with("likely: "));
        missing += usize::from(now.starts_with("missing: "));
        if now.starts_with("likely: ") && likely == 1 {
            driver.keys("enter");
            assert_eq!(driver.app.pane, Pane::World, "{now}");
            assert!(super::inspector_text(&driver).contains("% likely"), "{}", driver.text_screen());
            driver.keys("esc");
            assert_eq!(driver.app.pane, Pane::Repair);
        }
        let before = std::mem::take(&mut last);
        driver.keys("down");
        last = driver.text_screen();
        if last == before {
            break;
        }
    }
    let plan = row_with(&driver, "43 blocks: ");
    let counted = |words: &str| {
        let before = plan.split(words).next().unwrap();
        before.split_whitespace().last().unwrap().parse::<usize>().unwrap()
    };
    assert_eq!(likely, counted(" only likely"), "{plan}");
    assert_eq!(missing, counted(" missing"), "{plan}");
}

#[test]
fn a_lost_block_is_looked_at_between_the_neighbours_that_it_would_have() {
    let path = crash("crash_noise/mixed_1");
    for (columns, rows) in [(80, 24), (120, 40)] {
        let mut driver = sized(&path, columns, rows);
        on_the_lost_one(&mut driver);
        driver.keys("enter");
        assert_eq!(driver.app.pane, Pane::World);
        let screen = driver.text_screen();
        let said = words(&driver);
        assert!(said.contains("Sector 125 as block (2, 2, 1)"), "{said}\n{screen}");
        assert!(columns < 110 || said.contains(" %, less than likely"), "{said}\n{screen}");
        // Another cut is another picture, and the way back leads to the list.
        driver.keys("z");
        let other = driver.text_screen();
        assert!(other.contains("z = ") && other != screen, "{other}");
        driver.keys("esc");
        assert!(row_with(&driver, "? sector 125").contains("may be (2, 2, 1)"));
        assert_eq!(driver.app.pane, Pane::Repair);
    }
}

#[test]
fn an_accepted_block_is_an_argument_of_the_command() {
    let path = crash("crash_noise/mixed_1");
    let mut driver = sized(&path, 120, 40);
    on_the_lost_one(&mut driver);
    driver.keys("enter o");
    assert!(words(&driver).contains("likely, accepted"), "{}", driver.text_screen());
    driver.keys("Y");
    let command = driver.copied.clone().unwrap();
    assert!(command.ends_with("--level certain --accept 2,2,1@0=regions/lod0/r.0.0.0.vxr:125"), "{command}");
    driver.keys("esc");
    assert!(row_with(&driver, "? sector 125").contains("accepted: goes to (2, 2, 1)"), "{}", driver.text_screen());
    assert!(driver.text_screen().contains("The accepted place is not in these"), "{}", driver.text_screen());
    driver.keys("enter o Y");
    assert!(!driver.copied.clone().unwrap().contains("--accept"), "taken back");
}

#[test]
fn a_message_that_does_not_fit_beside_the_keys_stands_above_them() {
    let mut driver = sized(&crash("crash_noise/mixed_1"), 80, 24);
    on_the_lost_one(&mut driver);
    driver.keys("enter o");
    let screen = driver.text_screen();
    let lines: Vec<&str> = screen.lines().collect();
    assert!(lines[23].contains("? help") && lines[23].contains("q quit"), "{screen}");
    let message: Vec<&str> = lines[21..23].iter().flat_map(|line| line.split_whitespace()).collect();
    let message = message.join(" ");
    assert!(message.starts_with("Accepted: the command now has --accept 2,2,1@0="), "{screen}");
    assert!(message.ends_with("Y copies it."), "{screen}");
    driver.keys("down");
    assert!(!driver.text_screen().contains("Accepted: "), "{}", driver.text_screen());
}

#[test]
fn the_preview_of_a_save_has_the_totals_of_the_verdict() {
    for name in ["crash-grown", "crash-doubled", "block-epilogue"] {
        let (mut driver, dir) = on(name, 120, 40);
        // The whole save.
        driver.app.select_node(0);
        driver.keys("8");
        let save = voxscope::save::Save::open(dir.path(), &voxscope::save::Options::default()).unwrap();
        let totals = voxscope::repair::expected_totals(&save, &voxscope::repair::Options::default()).unwrap();
        let parts = [
            (totals.kept, "kept"),
            (totals.put_right, "put right"),
            (totals.salvaged, "in part"),
            (totals.lost, "missing"),
        ];
        let parts = parts.iter().filter(|(n, _)| *n > 0).map(|(n, words)| format!("{n} {words}"));
        let row = format!("{} blocks: {}", totals.source, parts.collect::<Vec<_>>().join(", "));
        assert!(driver.text_screen().contains(&row), "{name}: {row}: {}", driver.text_screen());
    }
}

#[test]
fn the_blocks_of_files_add_up_to_those_of_the_save() {
    let mut rebuilt = 0;
    let kinds = ["crash", "pak", "stream", "block"];
    for sample in voxscope::demo::samples().filter(|sample| kinds.iter().any(|kind| sample.name.starts_with(kind))) {
        let dir = super::sample(sample.name);
        let save = voxscope::save::Save::open(dir.path(), &voxscope::save::Options::default()).unwrap();
        let plan = voxscope::repair::plan(&save, &voxscope::repair::Options::default()).unwrap();
        let of_file = |path: &Path| Preview::for_file(&save, &plan, path, None, 0).totals;
        let all: Vec<_> = save.files().filter_map(|file| of_file(&file.path())).collect();
        let whole = voxscope::repair::totals(&save, &plan);
        let sum = |number: fn(&Totals) -> u64| all.iter().map(number).sum::<u64>();
        // Files that are copied have only blocks that are kept.
        assert!(sum(|totals| totals.kept) <= whole.kept, "{}", sample.name);
        for (number, name) in [
            ((|totals| totals.put_right) as fn(&Totals) -> u64, "put right"),
            (|totals| totals.likely, "likely"),
            (|totals| totals.salvaged, "in part"),
        ] {
            // Files that are renamed are copied, with all of their blocks.
            if whole.files_changed == all.len() as u64 {
                assert_eq!(sum(number), number(&whole), "{}: {name}", sample.name);
            }
        }
        rebuilt += all.len();
    }
    assert!(rebuilt > 40, "{rebuilt}");
}

#[test]
fn settings_and_fields_are_not_counted_as_blocks() {
    for (name, row, field) in [
        ("pak-count-low", "3 blocks: 3 kept", "16, put right to 1024"),
        ("stream-meta-twice", "8 blocks: 8 kept", "set to 1: there were several rows"),
    ] {
        if cfg!(not(feature = "sqlite")) && name.starts_with("stream") {
            continue;
        }
        let (mut driver, _dir) = on(name, 80, 24);
        driver.keys("8");
        let screen = driver.text_screen();
        assert!(screen.contains(row) && screen.contains(field), "{name}: {screen}");
    }
}

#[test]
fn a_healthy_save_has_nothing_to_repair() {
    let (mut driver, _dir) = on("pak-room", 80, 24);
    driver.keys("8");
    let screen = driver.text_screen();
    assert!(screen.contains("copied as it is") || screen.contains("nothing to repair"), "{screen}");
    driver.keys("enter home end pagedown t t esc");
}

#[cfg(feature = "sqlite")]
#[test]
fn a_stream_is_previewed_row_by_row() {
    for (columns, rows) in [(80, 24), (120, 40)] {
        let (mut driver, dir) = on("stream-blob", columns, rows);
        let before = times(dir.path());
        select(&mut driver, "world.sqlite");
        driver.keys("8");
        let screen = driver.text_screen();
        assert!(row_with(&driver, "8 blocks: 7 kept").contains("1 in part"), "{screen}");
        for words in ["? block (0, 0, 0) ", "% block (0, 0, 0) "] {
            assert!(screen.contains(words), "{screen}");
        }
        assert!(screen.contains("voxscope repair"), "{screen}");
        assert_eq!(times(dir.path()), before, "nothing is written");
    }
    // The copy of one stream is a file beside it.
    let dir = tempfile::tempdir().unwrap();
    let sample = voxscope::demo::samples().find(|sample| sample.name == "stream-meta-missing").unwrap();
    (sample.make)(dir.path()).unwrap();
    let mut driver = sized(&dir.path().join("world.sqlite"), 100, 30);
    driver.keys("8 Y");
    let command = driver.copied.clone().unwrap();
    assert!(command.contains("world-repaired.sqlite --level certain"), "{command}");
    let screen = driver.text_screen();
    assert!(row_with(&driver, "coordinate_format").contains("set to 0"), "{screen}");
}

#[test]
fn a_file_that_is_set_aside_is_not_said_to_be_in_the_copy() {
    for (name, file) in
        [("pak-header-cut", "x0_y0_z0.region"), ("stream-empty", "world.sqlite"), ("map-unreadable", "map_data.json")]
    {
        for (columns, rows) in [(80, 24), (200, 60)] {
            let (mut driver, _dir) = on(name, columns, rows);
            select(&mut driver, file);
            driver.keys("8");
            let screen = driver.text_screen();
            assert!(screen.contains("lost+found"), "{name}, {columns} x {rows}: {screen}");
            for wrong in ["Every block is in the copy", "Nothing is changed here", "copied as it is"] {
                assert!(!screen.contains(wrong), "{name}, {columns} x {rows}: {screen}");
            }
        }
    }
}

/// The layout of region files of versions 1 and 2 is in the meta file, without which their copy could not be read.
#[test]
fn the_command_for_a_part_of_a_forest_is_one_that_the_command_line_accepts() {
    let dir = crate::sample("old-2020");
    let forest = dir.path();
    let region = forest.join("regions/lod0/r.0.0.0.vxr");
    let mut bytes = std::fs::read(&region).unwrap();
    let end = bytes.len() - 1000;
    bytes[end..].fill(0);
    std::fs::write(&region, bytes).unwrap();
    for part in ["regions/lod0/r.0.0.0.vxr", "regions/lod0"] {
        let mut driver = sized(&forest.join(part), 120, 40);
        driver.keys("8 Y");
        let command = driver.copied.clone().unwrap();
        assert_eq!(
            command,
            format!("voxscope repair {0} --out {0}-repaired --level certain", forest.display()),
            "{part}"
        );
        let verdict = driver.text_screen();
        driver.keys("1");
        let refused = format!("voxscope repair {}", region.display());
        assert!(![verdict, driver.text_screen()].concat().contains(&refused), "{part}");
    }
    // What stores its layout is repaired alone.
    let dir = crate::sample("pak-file-cut");
    let mut driver = sized(dir.path(), 120, 40);
    driver.keys("8 Y");
    assert!(driver.copied.clone().unwrap().starts_with(&format!("voxscope repair {} ", dir.path().display())));
}

#[test]
fn the_preview_says_what_the_copy_lacks_beside_blocks_as_the_command_does() {
    for name in ["npy-truncated", "map-file-missing", "stream-page", "instances-cut"] {
        let (mut driver, dir) = on(name, 160, 48);
        let save = voxscope::save::Save::open(dir.path(), &voxscope::save::Options::default()).unwrap();
        let plan = voxscope::repair::plan(&save, &voxscope::repair::Options::default()).unwrap();
        let losses = voxscope::repair::loss_words(&voxscope::repair::totals(&save, &plan));
        let said = voxscope::repair::total_words(&voxscope::repair::totals(&save, &plan), None);
        assert!(!losses.is_empty() && losses.iter().all(|line| said.contains(line)), "{name}: {said:?}");
        // The line of the save, whatever is selected in it.
        driver.keys("8");
        driver.app.select_node(0);
        driver.run_until_idle();
        let area = crate::area_text(&driver, driver.app.layout().pane);
        let text = area.replace(['│', '┃'], " ").replace("level certain  t", " ");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for line in losses {
            assert!(text.contains(&line), "{name}: {line}\n{area}");
        }
        assert!(!text.contains("nothing to repair. "), "{name}: a sentence begins with a capital\n{area}");
    }
}

#[test]
fn the_whole_command_is_shown_where_there_is_room() {
    let inside = tempfile::tempdir().unwrap();
    let long = inside.path().join("a-directory-with-a-long-name-for-the-saves-of-the-server").join("crash-grown");
    let sample = voxscope::demo::samples().find(|sample| sample.name == "crash-grown").unwrap();
    (sample.make)(&long).unwrap();
    let mut driver = sized(&long, 120, 40);
    driver.keys("8");
    let pane = crate::pane_text(&driver).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(pane.contains("--level certain"), "{pane}");
}

#[test]
fn a_healthy_save_gets_no_command_that_repairs_it() {
    let (mut driver, _dir) = on("current", 120, 40);
    driver.keys("8");
    let pane = crate::pane_text(&driver);
    assert!(pane.contains("Nothing is changed here.") && !pane.contains("voxscope repair"), "{pane}");
}

#[test]
fn names_in_the_list_take_no_more_columns_than_they_need() {
    let (mut driver, _dir) = on("crash-grown", 120, 40);
    driver.keys("8");
    let row = row_with(&driver, "table says 22");
    assert!(row.contains("found at 10, goes to 10"), "{row}");
}

#[test]
fn a_rewritten_block_and_its_old_bytes_are_listed() {
    for (columns, rows) in [(80, 24), (120, 40)] {
        let (mut driver, _dir) = on("block-depth", columns, rows);
        select(&mut driver, "lod0/r.0.0.0.vxr");
        driver.keys("8 end");
        let screen = driver.text_screen();
        assert!(row_with(&driver, "? sector 9").contains("the old bytes of block (1, 0, 0"), "{screen}");
        assert!(words(&driver).contains("rewritten without what is against the format"), "{screen}");
        assert!(row_with(&driver, "= block (1, 0, 0)").contains("found at 9"), "{screen}");
    }
}

#[test]
fn the_preview_names_its_file_and_a_key_leads_to_the_whole_save() {
    for (columns, rows) in [(80, 24), (120, 40)] {
        let (mut driver, _dir) = on("block-depth", columns, rows);
        driver.keys("8");
        assert!(super::pane_text(&driver).starts_with(" the whole save"), "{}", driver.text_screen());
        driver.keys("n 8");
        assert!(super::pane_text(&driver).starts_with(" regions/lod0/r.0.0.0.vxr"), "{}", driver.text_screen());
        assert!(driver.text_screen().contains("a whole save"), "{}", driver.text_screen());
        driver.keys("a");
        assert!(super::pane_text(&driver).starts_with(" the whole save"), "{}", driver.text_screen());
        assert!(driver.text_screen().contains("a one file"), "{}", driver.text_screen());
        driver.keys("a");
        assert!(super::pane_text(&driver).starts_with(" regions/lod0/r.0.0.0.vxr"), "{}", driver.text_screen());
    }
}

#[test]
fn the_command_is_for_the_selected_one_of_several_saves() {
    let dir = super::samples(&["block-depth", "crash-grown"]);
    let mut driver = sized(dir.path(), 120, 40);
    for name in ["block-depth", "crash-grown"] {
        let index = driver.app.index.clone().unwrap();
        let item = (0..index.items.len()).find(|item| index.shown(*item).starts_with(name)).unwrap();
        driver.app.select_node(index.node_of(item).unwrap());
        driver.run_until_idle();
        driver.keys("8 Y");
        let save = dir.path().join(name);
        let command = format!("voxscope repair {} --out {}-repaired ", save.display(), save.display());
        assert!(driver.copied.clone().unwrap().starts_with(&command), "{:?}", driver.copied);
        driver.keys("a Y");
        let all = format!("voxscope repair {} --out ", dir.path().display());
        assert!(driver.copied.clone().unwrap().starts_with(&all), "{:?}", driver.copied);
    }
}

#[test]
fn a_finding_that_no_repair_mends_is_not_called_healthy() {
    let (mut driver, _dir) = on("map-water-depth", 120, 40);
    driver.keys("7 n 8");
    let screen = driver.text_screen();
    assert!(screen.contains("1 finding: a repair does not"), "{screen}");
    assert!(!screen.contains("healthy, copied"), "{screen}");
}

#[test]
fn the_help_lists_the_marks_of_a_repair() {
    let (mut driver, _dir) = on("block-depth", 80, 60);
    driver.keys("?");
    driver.text("/");
    driver.text("repair   ");
    let screen = driver.text_screen();
    for mark in ["repair   =", "repair   ~", "repair   x", "repair   ?"] {
        assert!(screen.contains(mark), "{mark}: {screen}");
    }
}

/// What the pane says, in one line without the level at its right.
pub fn pane_words(driver: &Driver) -> String {
    let pane = super::pane_text(driver).split_whitespace().collect::<Vec<_>>().join(" ");
    pane.replace("level certain t ", "").replace("level likely t ", "")
}

#[test]
fn the_pane_names_the_key_of_the_level_that_restores_something() {
    for (name, certain) in [
        ("crash-wrong-places", "Press t: at the level likely it has most of them"),
        ("pak-zlib-checksum", "Press t: the level likely restores what is only likely."),
        ("map-format", "Press t: the level likely restores what is only likely."),
    ] {
        let (mut driver, _dir) = on(name, 120, 40);
        driver.app.select_node(0);
        driver.keys("8");
        assert!(pane_words(&driver).contains(certain), "{name}: {}", driver.text_screen());
        driver.keys("t");
        assert!(!pane_words(&driver).contains("Press t"), "{name}: {}", driver.text_screen());
    }
    let (mut driver, _dir) = on("region-missing", 120, 40);
    driver.app.select_node(0);
    driver.keys("8");
    let said = pane_words(&driver);
    assert!(said.contains("`--from-backup OLD` takes them from a backup."), "{}", driver.text_screen());
}

#[test]
fn candidates_of_a_block_are_not_more_than_certain_together() {
    let (mut driver, _dir) = on("crash-wrong-places", 160, 40);
    select(&mut driver, "lod0/r.0.0.0.vxr");
    driver.keys("8");
    let screen = driver.text_screen();
    let percent = |line: &str| -> Option<Vec<f64>> {
        let (_, all) = line.split_once("may be (")?;
        Some(all.split(" %").filter_map(|part| part.split_whitespace().last()?.parse().ok()).collect())
    };
    let pane = super::pane_text(&driver);
    let lines: Vec<Vec<f64>> = pane.lines().filter_map(percent).filter(|all| all.len() > 1).collect();
    assert!(lines.len() > 3, "{screen}");
    assert!(lines.iter().all(|all| all.iter().sum::<f64>() < 100.11), "{lines:?}");
}

#[test]
fn files_of_a_map_are_counted_as_the_verdict_counts_them() {
    let (mut driver, _dir) = on("map-dtype", 120, 40);
    driver.app.select_node(0);
    driver.keys("8");
    assert!(pane_words(&driver).contains("2 files are rebuilt or set aside"), "{}", driver.text_screen());
}

#[test]
fn a_block_behind_the_end_of_its_file_has_a_mark_of_its_own() {
    let (driver, _dir) = on("disk-full", 120, 40);
    let screen = driver.text_screen();
    let pane = super::pane_text(&driver);
    assert!(pane.contains("n not in its file 5") && !pane.contains("in a wrong place"), "{screen}");
}
