//! The tree: names, folded directories, its filter; and going back.

use std::path::{Path, PathBuf};

use voxscope::tui::Driver;
use voxscope::tui::Focus;
use voxscope::tui::pane::Pane;

use super::{on, sized, tree_text};

/// The directory of the regions of LOD 0.
fn lod0(dir: &Path) -> PathBuf {
    let world = dir.join("world");
    [world.join("lod0"), world.join("regions/lod0")].into_iter().find(|path| path.is_dir()).unwrap()
}

/// A directory with many small regions.
fn many(files: u32) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let lods = vec![voxscope::demo::Extent { from: [0, 0, 0], to: [1, 1, 1] }];
    let spec = voxscope::demo::ForestSpec { lods, ..voxscope::demo::ForestSpec::default() };
    voxscope::demo::write_forest(&dir.path().join("world"), &spec, None).unwrap();
    let lod = lod0(dir.path());
    let first = std::fs::read_dir(&lod).unwrap().next().unwrap().unwrap().path();
    for x in 1..files {
        std::fs::copy(&first, lod.join(format!("r.{x}.0.0.vxr"))).unwrap();
    }
    dir
}

#[test]
fn a_directory_is_folded_past_20_files() {
    let dir = many(30);
    let mut driver = sized(dir.path(), 120, 60);
    let regions = |driver: &Driver| tree_text(driver).lines().filter(|line| line.contains(".vxr ")).count();
    assert_eq!(regions(&driver), 20);
    assert!(tree_text(&driver).contains("10 more files"), "{}", tree_text(&driver));
    driver.keys("tab end");
    assert_eq!(regions(&driver), 30, "the cursor unfolds them: {}", tree_text(&driver));
}

#[test]
fn the_filter_of_the_tree_applies_while_it_is_typed() {
    let dir = many(30);
    let mut driver = sized(dir.path(), 120, 60);
    driver.keys("tab /");
    driver.text("r.27.");
    let tree = tree_text(&driver);
    assert!(tree.contains("r.27.0.0.vxr") && !tree.contains("r.2.0.0.vxr"), "{tree}");
    assert!(tree.contains("lod0"), "what it is in stays: {tree}");
    driver.keys("enter down down down down");
    let index = driver.app.index.clone().unwrap();
    assert!(index.shown(driver.app.selected_item().unwrap()).ends_with("r.27.0.0.vxr"));
    driver.keys("esc");
    assert!(tree_text(&driver).contains("r.2.0.0.vxr"), "{}", tree_text(&driver));
}

#[test]
fn long_names_lose_their_middle() {
    let dir = many(2);
    let lod = lod0(dir.path());
    std::fs::copy(lod.join("r.1.0.0.vxr"), lod.join("r.-1000000.-2000000.-3000000.vxr")).unwrap();
    let mut driver = sized(dir.path(), 120, 40);
    driver.keys("tab");
    let tree = tree_text(&driver);
    let line = tree.lines().find(|line| line.contains('…')).unwrap_or_else(|| panic!("{tree}"));
    assert!(line.contains("r.-1") && line.contains("000.vxr"), "{line}");
}

#[test]
fn saves_with_long_names_that_differ_in_the_middle_can_be_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let name = |x: &str| format!("world-of-the-northern-islands-with-mountains-{x}-before-the-crash-of-may");
    for x in ["A", "B"] {
        std::fs::rename(crate::sample("block-epilogue").keep(), dir.path().join(name(x))).unwrap();
    }
    for columns in [80, 120] {
        let mut driver = sized(dir.path(), columns, 24);
        driver.keys("tab");
        let tree = tree_text(&driver);
        assert!(tree.contains("-A-") && tree.contains("-B-"), "{columns} columns: {tree}");
    }
}

#[test]
fn the_last_name_of_a_long_path_stays_whole() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("backups-of-june")).unwrap();
    for name in ["12-before", "13-after"] {
        let to = dir.path().join("backups-of-june").join(name);
        std::fs::rename(crate::sample("block-epilogue").keep(), to).unwrap();
    }
    let mut driver = sized(dir.path(), 120, 40);
    driver.keys("tab");
    let tree = tree_text(&driver);
    assert!(tree.contains("…12-before") && tree.contains("…13-after"), "{tree}");
}

#[test]
fn escape_is_one_step_back() {
    let (mut driver, _dir) = on("block-epilogue", 120, 40);
    driver.keys("7 2 4 ?");
    let panes = [(); 6].map(|()| {
        driver.keys("esc");
        (driver.app.popup.is_none(), driver.app.pane, driver.app.focus)
    });
    let expected = [
        (true, Pane::Channels, Focus::Pane),
        (true, Pane::Blocks, Focus::Pane),
        (true, Pane::Findings, Focus::Pane),
        (true, Pane::World, Focus::Pane),
        (true, Pane::World, Focus::Tree),
        (true, Pane::World, Focus::Pane),
    ];
    assert_eq!(panes, expected);
}

#[test]
fn the_hints_are_those_of_what_has_the_keys() {
    let (mut driver, _dir) = on("block-epilogue", 120, 40);
    let hints = |driver: &Driver| driver.text_screen().lines().last().unwrap().to_owned();
    driver.keys("2");
    assert!(hints(&driver).contains("s sort"), "{}", hints(&driver));
    driver.keys("tab");
    assert!(!hints(&driver).contains("sort") && hints(&driver).contains("/ filter"), "{}", hints(&driver));
    driver.keys("?");
    assert!(hints(&driver).contains("/ search") && hints(&driver).contains("scroll"), "{}", hints(&driver));
    assert!(!hints(&driver).contains("filter"), "{}", hints(&driver));
}

#[test]
fn the_end_of_the_help_is_seen_and_it_stays_open() {
    for keys in ["?", "7 home e"] {
        let (mut driver, _dir) = on("block-epilogue", 60, 15);
        driver.keys(keys);
        let first = driver.text_screen();
        driver.keys("end");
        let last = driver.text_screen();
        assert!(last.contains("esc closes") && last != first, "{last}");
        driver.keys("down");
        assert_eq!(driver.text_screen(), last, "there is no more");
        driver.keys("up");
        assert_ne!(driver.text_screen(), last, "one line back at once");
        driver.keys("home");
        assert_eq!(driver.text_screen(), first);
    }
}

#[test]
fn the_help_is_searched_and_explains_the_marks() {
    for (columns, rows) in [(80, 24), (200, 60)] {
        let (mut driver, _dir) = on("block-epilogue", columns, rows);
        driver.keys("? /");
        driver.text("marks");
        let screen = driver.text_screen();
        assert!(screen.contains("note: worth knowing") && screen.contains("sectors "), "{screen}");
        driver.keys("esc /");
        driver.text("wrong place");
        let screen = driver.text_screen();
        assert!(screen.contains("world    ?") && !screen.contains("world    t"), "{screen}");
        driver.keys("esc /");
        driver.text("unowned");
        let screen = driver.text_screen();
        assert!(screen.contains("Marks") && screen.contains("unowned"), "{screen}");
        assert!(!screen.contains("Cursor up"), "{screen}");
        driver.keys("esc");
        assert!(driver.text_screen().contains("Cursor up"), "{}", driver.text_screen());
    }
    // In columns where there is room.
    let (mut driver, _dir) = on("block-epilogue", 200, 60);
    driver.keys("?");
    assert!(driver.text_screen().lines().any(|line| line.contains("Cursor up") && line.matches("  ").count() > 2));
    assert!(driver.text_screen().contains("Leaves the program"), "all of it is seen: {}", driver.text_screen());
}
