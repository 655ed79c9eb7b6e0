//! Two saves: the list names the blocks that were edited, and the picture of the world the voxels.

use std::path::Path;

use voxscope::convert::{self, Target};
use voxscope::demo::{Extent, ForestSpec, write_forest};
use voxscope::godot::channel::SDF;
use voxscope::godot::container::Mode;
use voxscope::save::{self, Save};
use voxscope::tui::data::difference::Fate;
use voxscope::tui::pane::Pane;
use voxscope::tui::update::Event;
use voxscope::tui::{CompareWith, Driver, Settings};
use voxscope::watch::Watch;
use voxscope::world::World;

use crate::common::edit::{edited, set};
use crate::screens::SIZES;
use crate::{find, mouse_press, row_with};

/// Two saves in `a` and `b` below a directory. In `a` one block is missing; in `b` one is, two have other voxels, one
/// went to another place, and one is torn.
fn two(dir: &Path) {
    let world = dir.join("world");
    write_forest(&world, &ForestSpec::default(), None).unwrap();
    edited(&world, &dir.join("a"), Mode::Lz4, &|lod, position, _| {
        (lod > 0 || position != [-1, -1, -1]).then_some(position)
    });
    edited(&world, &dir.join("b"), Mode::Lz4, &|lod, position, block| {
        match (lod, position) {
            (0, [1, 1, -1] | [0, 0, 0]) => return None,
            (0, [1, 0, 1]) => return Some([0, 0, 0]),
            (0, [-2, 0, 1]) => {
                set(block, 0, [3, 4, 5], 60_000);
                set(block, 0, [9, 0, 15], 60_001);
                set(block, SDF, [3, 4, 5], 123);
            }
            // A pit.
            (0, [-1, 0, -2]) => {
                for at in 0..5 * 5 * 9 {
                    set(block, SDF, [5 + at % 5, at / 25, 6 + at / 5 % 5], 2000);
                }
            }
            (0, [-2, -1, -2]) => block.size = [8; 3],
            (1, [0, 0, 0]) => set(block, 0, [1, 2, 3], 60_002),
            _ => {}
        }
        Some(position)
    });
    std::fs::remove_dir_all(world).unwrap();
}

/// What differs, as the map and the list have to name it.
const EXPECTED: [([i32; 3], Fate); 7] = [
    ([-2, -1, -2], Fate::Unreadable),
    ([-1, 0, -2], Fate::Changed),
    ([-1, -1, -1], Fate::Added),
    ([1, 1, -1], Fate::Removed),
    ([0, 0, 0], Fate::Changed),
    ([-2, 0, 1], Fate::Changed),
    ([1, 0, 1], Fate::Moved),
];

fn compare(dir: &Path, columns: u16, rows: u16) -> Driver {
    let against = CompareWith { path: dir.join("b"), ..CompareWith::default() };
    Driver::new(Settings { path: dir.join("a"), against: Some(against), ..Settings::default() }, columns, rows)
}

fn on_two(columns: u16, rows: u16) -> (Driver, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    two(dir.path());
    (compare(dir.path(), columns, rows), dir)
}

#[test]
fn exactly_what_was_edited_is_in_the_list() {
    let (mut driver, _dir) = on_two(120, 40);
    assert_eq!(driver.app.pane, Pane::Diff);
    let difference = driver.app.comparison.difference().unwrap();
    let found: Vec<_> = difference.lods[0].changes.iter().map(|change| (change.position, change.fate)).collect();
    assert_eq!(found, EXPECTED);
    let other: Vec<_> = difference.lods[1].changes.iter().map(|change| (change.position, change.voxels)).collect();
    assert_eq!(other, [([0, 0, 0], 1)]);
    // One after the other, as the keys lead to them, and over to the other LOD.
    for (n, (position, _)) in EXPECTED.iter().enumerate() {
        let screen = driver.text_screen();
        let [x, y, z] = position;
        assert!(screen.contains(&format!("Block ({x}, {y}, {z}) ")), "{n}:\n{screen}");
        driver.keys(".");
    }
    assert!(row_with(&driver, "LOD 1 · ").contains("1 change"), "{}", driver.text_screen());
    driver.keys(".");
    assert!(driver.text_screen().contains("This is the last change"));
    driver.keys(",");
    assert!(row_with(&driver, "LOD 0 · ").contains("7 changes"));
    assert!(driver.text_screen().contains("Block (1, 0, 1) "));
    driver.keys("d");
    assert!(row_with(&driver, "LOD 1 · ").contains("1 change"));
    assert!(row_with(&driver, "1 added").contains("- 1 removed"), "{}", driver.text_screen());
}

#[test]
fn what_was_edited_is_seen_across_sizes_of_blocks() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let lods = vec![Extent { from: [-2, -2, -2], to: [2, 2, 2] }];
    write_forest(&at("world"), &ForestSpec { lods, ..ForestSpec::default() }, None).unwrap();
    // Of larger blocks only one has the metadata of the smaller ones.
    edited(&at("world"), &at("small"), Mode::Lz4, &|_, position, block| {
        block.metadata = None;
        Some(position)
    });
    edited(&at("small"), &at("edited"), Mode::Lz4, &|_, position, block| {
        if position == [-1, 0, 1] {
            set(block, 0, [3, 4, 5], 60_000);
        }
        Some(position)
    });
    for name in ["small", "edited"] {
        let save = Save::open(&at(name), &save::Options::default()).unwrap();
        let target = Target { block_size: Some(32), ..Target::default() };
        let to = at(&format!("{name}-large"));
        convert::to_forest(&World::only(&save).unwrap(), &target, &to, &Watch::default()).unwrap();
    }
    // The block and the voxel, in blocks of the first save.
    for (a, b, position, voxel) in
        [("small", "edited-large", [-1, 0, 1], [-13, 4, 21]), ("small-large", "edited", [-1, 0, 0], [-13, 4, 21])]
    {
        let against = CompareWith { path: at(b), ..CompareWith::default() };
        let settings = Settings { path: at(a), against: Some(against), ..Settings::default() };
        let mut driver = Driver::new(settings, 120, 40);
        let difference = driver.app.comparison.difference().unwrap();
        let found: Vec<_> = difference.lods[0].changes.iter().map(|change| (change.position, change.voxels)).collect();
        assert_eq!(found, [(position, 1)]);
        driver.keys("enter");
        assert_eq!((driver.app.pane, crate::world::cursor(&driver)), (Pane::World, voxel));
        let screen = driver.text_screen();
        assert!(screen.contains("60000") && screen.contains("changed in B"), "{screen}");
    }
}

#[test]
fn only_what_was_asked_for_is_compared() {
    let dir = tempfile::tempdir().unwrap();
    two(dir.path());
    let against =
        |lods, channels| Some(CompareWith { path: dir.path().join("b"), lods, channels, ..CompareWith::default() });
    let run = |against| {
        let driver = Driver::new(Settings { path: dir.path().join("a"), against, ..Settings::default() }, 80, 24);
        let difference = driver.app.comparison.difference().unwrap();
        let voxels: u32 = difference.lods.iter().flat_map(|lod| &lod.changes).map(|change| change.voxels).sum();
        (difference.lods.len(), difference.len(), voxels)
    };
    assert_eq!(run(against(vec![1], vec![])), (1, 1, 1));
    let (lods, _, sdf) = run(against(vec![0], vec![SDF]));
    let (_, _, both) = run(against(vec![0], vec![]));
    assert_eq!((lods, sdf < both), (1, true));
}

#[test]
fn a_save_that_is_the_same_differs_in_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let world = dir.path().join("world");
    write_forest(&world, &ForestSpec::default(), None).unwrap();
    let against = Some(CompareWith { path: world.clone(), ..CompareWith::default() });
    let mut driver = Driver::new(Settings { path: world, against, ..Settings::default() }, 80, 24);
    // The list has half of the width there.
    assert!(driver.text_screen().contains("Nothing differs"), "{}", driver.text_screen());
    driver.keys("enter .");
    assert!(driver.text_screen().contains("0 changed") && driver.text_screen().contains("56 the same"));
}

#[test]
fn what_cannot_be_compared_is_a_sentence() {
    let dir = tempfile::tempdir().unwrap();
    let world = dir.path().join("world");
    write_forest(&world, &ForestSpec::default(), None).unwrap();
    let run = |path: &Path| {
        let against = Some(CompareWith { path: path.to_owned(), ..CompareWith::default() });
        let mut driver = Driver::new(Settings { path: world.clone(), against, ..Settings::default() }, 80, 24);
        driver.keys("enter . space esc 9");
        driver.text_screen()
    };
    let map = crate::sample("map-dense");
    assert!(run(map.path()).contains("only saves of Godot Voxel can be used here"));
    assert!(run(&dir.path().join("nowhere")).contains("R tries again"));
}

#[test]
fn a_block_is_seen_in_both_and_the_voxel_has_its_values() {
    let (mut driver, _dir) = on_two(120, 40);
    driver.keys("end , enter");
    // The channel in which most differs, the cut in which most of that does, the first voxel that does.
    assert_eq!(driver.app.pane, Pane::World);
    assert_eq!(crate::world::cursor(&driver), [-23, 0, 31], "{}", driver.text_screen());
    let said = crate::inspector_text(&driver);
    assert!(said.contains("value     3") && said.contains("in B      60001"), "{said}");
    assert!(said.contains("voxels TYPE"), "{said}");
    assert!(driver.text_screen().contains("cut · y = 0 · TYPE"), "{}", driver.text_screen());
    let both = driver.screen();
    driver.keys("space");
    let other = driver.screen();
    driver.keys("space");
    driver.app.message = None;
    let one = driver.screen();
    assert!(both != other && other != one && both != one, "what differs, B, A");
    driver.keys("space");
    // The one before, in the same way.
    driver.keys(",");
    assert!(driver.text_screen().contains("cut"), "{}", driver.text_screen());
    assert_eq!(crate::world::cursor(&driver).map(|n| n.div_euclid(16)), [0, 0, 0]);
    driver.keys("9");
    assert!(row_with(&driver, "LOD 0 · ").contains("7 changes"));
}

#[test]
fn what_is_in_one_save_only_or_torn_is_said_and_shown_from_above() {
    let (mut driver, _dir) = on_two(120, 40);
    assert!(crate::inspector_text(&driver).contains("unreadable in B"), "{}", driver.text_screen());
    driver.keys(". . enter");
    assert_eq!(driver.app.pane, Pane::World);
    let screen = driver.text_screen();
    assert!(screen.contains("difference") && screen.contains("added: in B only"), "{screen}");
    driver.keys(".");
    assert!(driver.text_screen().contains("removed: in A"), "{}", driver.text_screen());
    driver.keys("9 end");
    assert!(crate::inspector_text(&driver).contains("moved to (0, 0, 0)"));
}

#[test]
fn what_changes_is_compared_again_and_the_place_is_kept() {
    let (mut driver, dir) = on_two(120, 40);
    driver.keys("end ,");
    let before = driver.text_screen();
    assert!(before.contains("Block (-2, 0, 1)"), "{before}");
    // Nothing but the time of it changed.
    driver.event(&Event::Changed);
    driver.app.message = None;
    assert_eq!(driver.text_screen(), before);
    // The second save becomes the first one, block by block the same.
    std::fs::remove_dir_all(dir.path().join("b")).unwrap();
    edited(&dir.path().join("a"), &dir.path().join("b"), Mode::Lz4, &|_, position, _| Some(position));
    driver.event(&Event::Changed);
    assert!(driver.text_screen().contains("Nothing differs: every block is the same"), "{}", driver.text_screen());
    assert_eq!(driver.app.comparison.difference().unwrap().len(), 0);
}

#[test]
fn other_panes_speak_of_the_block_that_was_looked_at() {
    let (mut driver, _dir) = on_two(120, 40);
    driver.keys("end , 4");
    assert_eq!(driver.app.pane, Pane::Channels);
    let position = driver.app.selected_slot().unwrap().position;
    assert_eq!(position, Some([-2, 0, 1]));
    driver.keys("backspace");
    assert_eq!(driver.app.pane, Pane::Diff);
    // A place that is typed is that of a block.
    driver.keys("@");
    driver.text("1,1,-1");
    driver.keys("enter");
    assert!(driver.text_screen().contains("Block (1, 1, -1)"), "{}", driver.text_screen());
    driver.keys("@");
    driver.text("90,1,-1");
    driver.keys("enter");
    assert!(row_with(&driver, "there is no block at (90, 1, -1)").contains("(-2, -1, -2) to (1, 1, 1)"));
}

#[test]
fn a_click_chooses_a_cell_or_a_line() {
    let (mut driver, _dir) = on_two(120, 40);
    let (x, y) = find(&driver, "(-2, 0, 1)", 25).unwrap();
    driver.mouse(mouse_press(x, y));
    assert!(driver.text_screen().contains("Block (-2, 0, 1)"), "{}", driver.text_screen());
    // A second press shows it.
    driver.mouse(mouse_press(x, y));
    assert_eq!(driver.app.pane, Pane::World);
}

#[test]
fn without_a_second_save_there_is_no_such_pane() {
    let (mut driver, _dir) = crate::on("current", 120, 40);
    driver.keys("9 . , d");
    assert_ne!(driver.app.pane, Pane::Diff);
    assert!(!driver.text_screen().contains("0 Diff"));
}

#[test]
fn the_list_has_room_at_every_size() {
    let (mut driver, _dir) = on_two(80, 24);
    for (columns, rows) in SIZES {
        driver.event(&Event::Resize(columns, rows));
        let screen = crate::pane_text(&driver);
        assert!(screen.contains("(-2, -1, -2)"), "{columns} x {rows}\n{screen}");
    }
}

#[test]
fn unowned_blocks_are_counted_because_they_are_not_compared() {
    let dir = crate::sample("table-empty");
    let against = Some(CompareWith { path: dir.path().to_owned(), ..CompareWith::default() });
    let settings = Settings { path: dir.path().to_owned(), against, ..Settings::default() };
    let mut driver = Driver::new(settings, 120, 40);
    driver.keys("9");
    let screen = driver.text_screen();
    assert!(screen.contains("8 unowned in A") && screen.contains("8 unowned in B"), "{screen}");
    assert!(screen.contains("Nothing differs in what the tables lead to"), "{screen}");
}

#[test]
fn marks_of_a_check_are_laid_over_the_save_that_was_checked_only() {
    let dir = tempfile::tempdir().unwrap();
    two(dir.path());
    // The block that is torn is in `b`, which comes first here.
    let against = CompareWith { path: dir.path().join("a"), ..CompareWith::default() };
    let settings = Settings { path: dir.path().join("b"), against: Some(against), ..Settings::default() };
    let mut driver = Driver::new(settings, 120, 40);
    driver.keys("1");
    for (side, marked) in [("A", true), ("A and B", true), ("B", false), ("A", true)] {
        assert_eq!(driver.text_screen().contains("t torn 1"), marked, "{side}: {}", driver.text_screen());
        driver.keys("space");
    }
}

#[test]
fn two_directories_of_several_saves_lead_to_what_compares_them() {
    let names = ["block-depth", "crash-grown"];
    let (a, b) = (super::samples(&names), super::samples(&names));
    for (columns, rows) in [(80, 24), (120, 40)] {
        let against = Some(CompareWith { path: b.path().to_owned(), ..CompareWith::default() });
        let settings = Settings { path: a.path().to_owned(), against, ..Settings::default() };
        let mut driver = Driver::new(settings, columns, rows);
        driver.keys("9");
        let said = super::pane_text(&driver).split_whitespace().collect::<String>();
        let [a, b] = [a.path(), b.path()].map(|path| path.display().to_string());
        for command in [format!("voxscope diff {a} {b}"), format!("voxscope {a}/block-depth --against {b}/block-depth")]
        {
            let command: String = command.split_whitespace().collect();
            assert!(said.contains(&command), "{command}: {}", driver.text_screen());
        }
        // No save of the second directory is shown as if it belonged to that of the first one.
        driver.keys("1 space space");
        assert!(!driver.text_screen().contains("B alone"), "{}", driver.text_screen());
        for _ in 0..9 {
            driver.keys("v");
            assert!(!super::pane_text(&driver).contains(" difference"), "{}", driver.text_screen());
        }
    }
}
