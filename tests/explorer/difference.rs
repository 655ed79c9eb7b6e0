//! Two saves side by side: the map and the list name the blocks that were edited, and the picture the voxels.

use std::path::Path;

use voxscope::convert::{self, Target};
use voxscope::demo::{Extent, ForestSpec, write_forest};
use voxscope::godot::channel::SDF;
use voxscope::godot::container::Mode;
use voxscope::save::{self, Save};
use voxscope::tui::data::difference::Fate;
use voxscope::tui::pane::Pane;
use voxscope::tui::update::Event;
use voxscope::tui::{Against, Driver, Settings};
use voxscope::world::World;

use crate::edit::{edited, set};
use crate::screens::snapshot;
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
    let against = Against { path: dir.join("b"), ..Against::default() };
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
        convert::to_forest(&World::only(&save).unwrap(), &target, &to, &convert::Options::default()).unwrap();
    }
    // The block and the voxel, in blocks of the first save.
    for (a, b, position, voxel, of) in [
        ("small", "edited-large", [-1, 0, 1], "(3, 4, 5)", "of blocks of 32"),
        ("small-large", "edited", [-1, 0, 0], "(19, 4, 21)", "of blocks of 16"),
    ] {
        let against = Against { path: at(b), ..Against::default() };
        let settings = Settings { path: at(a), against: Some(against), ..Settings::default() };
        let mut driver = Driver::new(settings, 120, 40);
        let difference = driver.app.comparison.difference().unwrap();
        let found: Vec<_> = difference.lods[0].changes.iter().map(|change| (change.position, change.voxels)).collect();
        assert_eq!(found, [(position, 1)]);
        driver.keys("enter");
        let screen = driver.text_screen();
        assert!(screen.contains(of) && screen.contains(voxel) && screen.contains("60000"), "{screen}");
    }
}

/// The letters of the map, cell by cell.
fn letters(driver: &Driver) -> String {
    let inside = |row: &str| row.chars().skip(26).take(62).collect::<String>();
    let rows: Vec<String> = driver.text_screen().lines().skip(5).map(inside).collect();
    // The list begins behind an empty line.
    let rows = rows.into_iter().enumerate().take_while(|(n, row)| n % 4 > 0 || !row.trim().is_empty());
    let marks = |row: String| row.chars().filter(|c| "?~+-<>.·".contains(*c)).collect::<String>();
    rows.map(|(_, row)| marks(row)).filter(|row| !row.is_empty()).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_map_has_a_letter_for_each_block_and_every_layer() {
    let (mut driver, _dir) = on_two(120, 40);
    // From above, x to the right and z down; all layers looked through.
    assert_eq!(letters(&driver), "?~·· ·+·- ··~· ~··>");
    driver.keys("]");
    assert!(row_with(&driver, "layer y = -1 of -1 to 1").contains("2 changes"));
    assert_eq!(letters(&driver), "?··· ·+·· ···· ····");
    driver.keys(")");
    assert!(row_with(&driver, "layer y = 0 of -1 to 1").contains("4 changes"));
    assert_eq!(letters(&driver), "·~·· ···· ··~· ~··>");
    driver.keys(")");
    assert_eq!(letters(&driver), "···· ···- ···· ····");
    driver.keys(")");
    assert!(driver.text_screen().contains("Nothing differs above this layer"));
    // Along z, y is up.
    driver.keys("v z");
    assert_eq!(letters(&driver), "···- ~~~> ?+··");
    // The cursor goes from cell to cell.
    driver.keys("home left left up up");
    assert!(row_with(&driver, "block (-2, 1, ").contains("all blocks here are the same"));
}

#[test]
fn nothing_is_told_by_colour_alone() {
    let dir = tempfile::tempdir().unwrap();
    two(dir.path());
    let against = Some(Against { path: dir.path().join("b"), ..Against::default() });
    let settings = Settings { path: dir.path().join("a"), against, ascii: true, ..Settings::default() };
    let mut driver = Driver::new(settings, 120, 40);
    assert_eq!(letters(&driver), "?~.. .+.- ..~. ~..>");
    driver.keys(". enter");
    for _ in 0..5 {
        let screen = driver.text_screen();
        assert!(screen.is_ascii(), "{screen}");
        driver.keys("space");
    }
    // 16 voxels a line, one a letter: the pit from beside.
    let screen = driver.text_screen();
    assert!(screen.contains("dug out") && screen.contains("-----"), "{screen}");
}

#[test]
fn a_block_is_seen_in_both_and_the_voxel_is_told_in_words() {
    for (columns, rows) in [(80, 24), (120, 40)] {
        let (mut driver, _dir) = on_two(columns, rows);
        driver.keys("end , enter");
        let screen = driver.text_screen();
        assert!(screen.contains("~ block (-2, 0, 1)") && screen.contains("change 6 of 7"), "{screen}");
        assert!(screen.contains("A a") && screen.contains("what differs") && screen.contains("B b"), "{screen}");
        // The channel in which most differs, a cut in which something does, the first voxel that does.
        assert!(screen.contains("channel 0 TYPE") && screen.contains("1 voxel differs here"), "{screen}");
        assert!(row_with(&driver, "voxel (9, 0, 15)").contains("A 0x0003 = 3"), "{screen}");
        assert!(row_with(&driver, "y = 0 of 16").contains("1 voxel differs here"), "{screen}");
        assert!(row_with(&driver, "B 0x").contains("B 0xea61 = 60001"), "{screen}");
        assert!(row_with(&driver, "B 0x").contains("world (-23, 0, 31)"), "{screen}");
        driver.keys("Y");
        let copied = driver.copied.clone().unwrap();
        assert!(
            copied.contains("block (-2, 0, 1)") && copied.contains("0xea61 = 60001, signed -5535 in B"),
            "{copied}"
        );
        // The nearest cut with another one, and no further.
        driver.keys(")");
        assert!(driver.text_screen().contains("y = 4 of 16") && driver.text_screen().contains("voxel (3, 4, 5)"));
        driver.keys(")");
        assert!(driver.text_screen().contains("No other cut behind this one differs"));
        driver.keys("[");
        assert!(
            driver.text_screen().contains("y = 3 of 16") && driver.text_screen().contains("nothing differs in this")
        );
        driver.keys("c");
        assert!(driver.text_screen().contains("channel 1 SDF") && driver.text_screen().contains("voxel (3, 4, 5)"));
        assert!(row_with(&driver, "B distance").contains("1.877, outside"), "{}", driver.text_screen());
        driver.keys("z left");
        assert!(driver.text_screen().contains("z = 5 of 16") && driver.text_screen().contains("voxel (2, 4, 5)"));
        assert!(row_with(&driver, "B distance").contains("the same"), "{}", driver.text_screen());
        // The one before, in the same way; then back to the map.
        driver.keys(",");
        assert!(driver.text_screen().contains("~ block (0, 0, 0)"), "{}", driver.text_screen());
        driver.keys("esc");
        assert!(driver.text_screen().contains("all layers") && driver.app.pane == Pane::Diff);
    }
}

#[test]
fn what_is_in_one_save_only_or_torn_is_said_and_shown_as_far_as_it_goes() {
    let (mut driver, _dir) = on_two(120, 40);
    driver.keys("enter");
    assert!(driver.text_screen().contains("? block (-2, -1, -2)"), "{}", driver.text_screen());
    assert!(driver.text_screen().contains("unreadable in B: block-size"), "{}", driver.text_screen());
    assert!(driver.text_screen().contains("not compared"), "{}", driver.text_screen());
    driver.keys(". .");
    assert!(driver.text_screen().contains("+ block (-1, -1, -1)"), "{}", driver.text_screen());
    assert!(driver.text_screen().contains("no block here") && driver.text_screen().contains("whole block is new"));
    driver.keys(".");
    assert!(
        driver.text_screen().contains("- block (1, 1, -1)") && driver.text_screen().contains("whole block is gone")
    );
    driver.keys("end");
    driver.keys("esc end enter");
    assert!(
        driver.text_screen().contains("> block (1, 0, 1)") && driver.text_screen().contains("at another place in B")
    );
    assert!(driver.text_screen().contains("moved to (0, 0, 0)"));
}

#[test]
fn only_what_was_asked_for_is_compared() {
    let dir = tempfile::tempdir().unwrap();
    two(dir.path());
    let against = |lods, channels| Some(Against { path: dir.path().join("b"), lods, channels, ..Against::default() });
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
    let against = Some(Against { path: world.clone(), ..Against::default() });
    let mut driver = Driver::new(Settings { path: world, against, ..Settings::default() }, 80, 24);
    // The list has half of the width there.
    assert!(driver.text_screen().contains("Nothing differs"), "{}", driver.text_screen());
    driver.keys("enter . ) ]");
    assert!(driver.text_screen().contains("0 changed") && driver.text_screen().contains("56 the same"));
}

#[test]
fn what_cannot_be_compared_is_a_sentence() {
    let dir = tempfile::tempdir().unwrap();
    let world = dir.path().join("world");
    write_forest(&world, &ForestSpec::default(), None).unwrap();
    let run = |path: &Path| {
        let against = Some(Against { path: path.to_owned(), ..Against::default() });
        let mut driver = Driver::new(Settings { path: world.clone(), against, ..Settings::default() }, 80, 24);
        driver.keys("enter . z ] space esc 0");
        driver.text_screen()
    };
    let map = crate::sample("map-dense");
    assert!(run(map.path()).contains("there is no forest, region file or stream here"));
    assert!(run(&dir.path().join("nowhere")).contains("R tries again"));
}

#[test]
fn what_changes_is_compared_again_and_the_place_is_kept() {
    let (mut driver, dir) = on_two(120, 40);
    driver.keys("end , enter ) x");
    let before = driver.text_screen();
    assert!(before.contains("~ block (-2, 0, 1)") && before.contains("x = 3 of 16"), "{before}");
    // Nothing but the time of it changed.
    driver.event(&Event::Changed);
    driver.app.message = None;
    assert_eq!(driver.text_screen(), before);
    // The second save becomes the first one, block by block the same.
    std::fs::remove_dir_all(dir.path().join("b")).unwrap();
    edited(&dir.path().join("a"), &dir.path().join("b"), Mode::Lz4, &|_, position, _| Some(position));
    driver.event(&Event::Changed);
    let after = driver.text_screen();
    assert!(after.contains("= block (-2, 0, 1)") && after.contains("the same in both now"), "{after}");
    driver.keys("esc");
    assert!(driver.text_screen().contains("Nothing differs: every block is the same"), "{}", driver.text_screen());
    assert_eq!(driver.app.comparison.difference().unwrap().len(), 0);
}

#[test]
fn metadata_that_differs_is_named_where_no_voxel_does() {
    let dir = std::env::var_os("VOXSCOPE_GOLDEN")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/golden"), std::path::PathBuf::from);
    let streams = dir.join("godot_voxel_sqlite");
    if !streams.is_dir() {
        println!("skipped: no reference files at {}", streams.display());
        return;
    }
    let against = Some(Against { path: streams.join("stream_coord2.sqlite"), ..Against::default() });
    let settings = Settings { path: streams.join("stream_coord0.sqlite"), against, ..Settings::default() };
    let mut driver = Driver::new(settings, 120, 40);
    assert!(driver.text_screen().contains("3 changed") && driver.text_screen().contains("1 the same"));
    driver.keys("home enter");
    let screen = driver.text_screen();
    assert!(row_with(&driver, "0 → 2").contains("metadata ") && screen.contains("nothing differs in this"), "{screen}");
}

#[test]
fn other_panes_speak_of_the_block_that_was_looked_at() {
    let (mut driver, _dir) = on_two(120, 40);
    driver.keys("end , 3");
    assert_eq!(driver.app.pane, Pane::Slice);
    let position = driver.app.selected_slot().unwrap().position;
    assert_eq!(position, Some([-2, 0, 1]));
    driver.keys("backspace");
    assert_eq!(driver.app.pane, Pane::Diff);
    // A place that is typed is that of a block.
    driver.keys("@");
    driver.text("1,1,-1");
    driver.keys("enter");
    assert!(row_with(&driver, "Block (1, 1, -1)").contains("Block"), "{}", driver.text_screen());
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
    let (x, y) = find(&driver, "-▒", 25).unwrap();
    driver.mouse(mouse_press(x + 1, y + 1));
    assert!(driver.text_screen().contains("Block (1, 1, -1)"), "{}", driver.text_screen());
    driver.keys("home . enter");
    let (x, y) = find(&driver, "A a", 25).unwrap();
    driver.mouse(mouse_press(x + 2, y + 1));
    assert!(driver.text_screen().contains("voxel (2, 15, 6)"), "{}", driver.text_screen());
}

#[test]
fn without_a_second_save_there_is_no_such_pane() {
    let (mut driver, _dir) = crate::on("current", 120, 40);
    driver.keys("0 . , ( ) d");
    assert_ne!(driver.app.pane, Pane::Diff);
    assert!(!driver.text_screen().contains("0 Diff"));
}

#[test]
fn what_it_looks_like() {
    let (_dir, mut driver) = {
        let (driver, dir) = on_two(80, 24);
        (dir, driver)
    };
    for (name, keys) in [("diff-map", ""), ("diff-layer", "] )"), ("diff-picture", "v home . enter")] {
        driver.keys(keys);
        snapshot(&mut driver, name);
    }
}
