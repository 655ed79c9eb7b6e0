//! Cuts through voxels: what is at the cursor is what the library reads there.

use voxscope::damage::Space;
use voxscope::godot::channel::{SDF, sdf};
use voxscope::save::Scratch;
use voxscope::tui::action::Action;
use voxscope::tui::data::Part;
use voxscope::tui::pane::Pane;
use voxscope::tui::{Driver, Settings};
use voxscope::voxel_map::flags;
use voxscope::voxel_map::grid::Grid;

use crate::{on, sample, sized};

/// Selects the line of the tree with this label, the first below a line with the other one.
pub fn open(driver: &mut Driver, below: &str, label: &str) {
    let index = driver.app.index.clone().unwrap();
    let from = index.nodes.iter().position(|node| below.is_empty() || &*node.label == below).unwrap();
    let node = (from..index.nodes.len()).find(|&node| &*index.nodes[node].label == label).unwrap();
    driver.app.select_node(node);
    driver.settle();
}

/// Selects a block by its position.
pub fn block(driver: &mut Driver, position: [i32; 3]) {
    let opened = driver.app.opened_item().unwrap().clone();
    driver.app.select_slot(opened.at(0, position).unwrap().slot);
    driver.settle();
}

/// Goes to a voxel by typing it.
fn go(driver: &mut Driver, [x, y, z]: [u32; 3]) {
    driver.keys("@");
    driver.text(&format!("{x},{y},{z}"));
    driver.keys("enter");
    assert!(driver.app.prompt.is_none(), "{:?}", driver.app.prompt);
    driver.app.message = None;
}

/// What the library reads of a block.
fn voxel(driver: &Driver, position: [i32; 3], channel: usize, at: [u16; 3]) -> (u64, f64) {
    let opened = driver.app.opened_item().unwrap();
    let region = opened.region().unwrap();
    let entry = region.find(opened.at(0, position).unwrap().slot).unwrap().entry;
    let mut scratch = Scratch::default();
    let block = region.view(entry, &mut scratch).unwrap().block.unwrap();
    let raw = block.voxel(channel, at).unwrap();
    (raw, sdf(block.version, block.channels[channel].depth, raw))
}

/// The screen without what the inspector says.
fn pane(driver: &Driver) -> String {
    driver.text_screen()
}

/// A number as the slice shows it.
fn short(n: f64) -> String {
    format!("{n:.3}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[test]
fn the_value_at_the_cursor_is_that_of_the_block() {
    let (mut driver, _dir) = on("current", 120, 40);
    open(&mut driver, "lod0", "r.-1.-1.-1.vxr");
    block(&mut driver, [-2, -1, -2]);
    driver.keys("3");
    for channel in [0, SDF] {
        for at in [[0, 0, 0], [5, 7, 12], [15, 15, 15], [3, 9, 1]] {
            go(&mut driver, at.map(u32::from));
            let (raw, distance) = voxel(&driver, [-2, -1, -2], channel, at);
            let screen = pane(&driver);
            assert!(screen.contains(&format!("= {raw}")), "{at:?} {channel}: {raw}\n{screen}");
            let [x, y, z] = at.map(i64::from);
            let world = format!("world ({}, {}, {})", x - 32, y - 16, z - 32);
            assert!(screen.contains(&world), "{world}\n{screen}");
            if channel == SDF {
                assert!(screen.contains(&format!("distance {}", short(distance))), "{distance}\n{screen}");
            }
            let block = driver.app.selected_block().unwrap();
            let place = block.place(channel, at.map(u32::from)).unwrap();
            let bytes = driver.app.selection.bytes.unwrap();
            assert_eq!((bytes.space, bytes.span), (Space::Block, place));
        }
        driver.keys("c");
    }
}

#[test]
fn at_lod_1_a_voxel_is_two_wide() {
    let (mut driver, _dir) = on("current", 120, 40);
    open(&mut driver, "lod1", "r.-1.-1.-1.vxr");
    block(&mut driver, [-1, -1, -1]);
    driver.keys("3");
    go(&mut driver, [15, 0, 3]);
    let screen = pane(&driver);
    assert!(screen.contains("world (-2, -32, -26)") && screen.contains("LOD 1"), "{screen}");
}

#[test]
fn axes_and_cuts_move_the_cursor_where_they_say() {
    let (mut driver, _dir) = on("current", 120, 40);
    open(&mut driver, "lod0", "r.0.0.0.vxr");
    block(&mut driver, [0, 0, 0]);
    driver.keys("3");
    go(&mut driver, [5, 7, 12]);
    let at = |driver: &Driver| driver.app.selection.voxel.unwrap();
    for (keys, expected) in [
        ("right", [6, 7, 12]),
        ("down", [6, 7, 13]),
        ("]", [6, 8, 13]),
        ("[ [", [6, 6, 13]),
        ("x", [6, 6, 13]),
        ("up", [6, 7, 13]),
        ("left", [6, 7, 12]),
        ("]", [7, 7, 12]),
        ("z up right", [8, 8, 12]),
        ("[", [8, 8, 11]),
        ("home", [0, 8, 11]),
        ("end", [15, 8, 11]),
    ] {
        driver.keys(keys);
        assert_eq!(at(&driver), expected, "{keys}");
    }
    let screen = pane(&driver);
    assert!(screen.contains("z = 11 of 16"), "{screen}");
    driver.keys("] ] ] ] ] ]");
    assert_eq!(at(&driver), [15, 8, 15], "it ends at the block's edge");
    assert!(voxscope_error(&mut driver, "16,0,0").contains("there is no voxel"));
}

/// What is said when a place is typed that is none.
fn voxscope_error(driver: &mut Driver, place: &str) -> String {
    driver.keys("@");
    driver.text(place);
    driver.keys("enter");
    let error = driver.app.prompt.as_ref().and_then(|prompt| prompt.error.clone()).unwrap_or_default();
    driver.keys("esc");
    error
}

#[test]
fn the_whole_region_has_the_voxels_of_its_blocks() {
    let (mut driver, _dir) = on("current", 120, 40);
    open(&mut driver, "lod0", "r.-1.-1.-1.vxr");
    driver.keys("3");
    let screen = pane(&driver);
    assert!(screen.contains("whole region"), "{screen}");
    let opened = driver.app.opened_item().unwrap().clone();
    let region = opened.region().unwrap();
    let size = region.header.format.region_size.map(i32::from);
    for (position, at) in [([-1, -1, -1], [3, 9, 14]), ([-2, -1, -1], [0, 0, 0]), ([-2, -1, -2], [15, 8, 2])] {
        let first = [0, 1, 2].map(|axis| region.position[axis] * size[axis]);
        let place = [0, 1, 2].map(|axis| (position[axis] - first[axis]) * 16 + i32::from(at[axis]));
        go(&mut driver, place.map(i32::cast_unsigned));
        let (raw, _) = voxel(&driver, position, 0, at);
        let screen = pane(&driver);
        let [x, y, z] = position;
        assert!(screen.contains("whole region") && screen.contains(&format!("block ({x}, {y}, {z})")), "{screen}");
        assert!(screen.contains(&format!("= {raw}")), "{raw}\n{screen}");
        assert_eq!(driver.app.selection.voxel, Some(at.map(u32::from)));
        let slot = driver.app.selected_slot().unwrap();
        assert_eq!(slot.position, Some(position));
        // Into the block and out again, at the same voxel.
        driver.keys("v");
        let screen = pane(&driver);
        assert!(!screen.contains("whole region") && screen.contains(&format!("= {raw}")), "{screen}");
        driver.keys("v");
        assert_eq!(driver.app.selection.voxel, Some(at.map(u32::from)));
    }
    // Where no block is.
    go(&mut driver, [0, 0, 0]);
    assert_eq!(driver.app.selection.slot, None);
    assert!(pane(&driver).contains("no block at"), "{}", pane(&driver));
}

#[test]
fn a_block_that_does_not_decode_is_marked_in_the_region() {
    let (mut driver, _dir) = on("container-mode", 120, 40);
    open(&mut driver, "lod0", "r.0.0.0.vxr");
    driver.keys("3");
    let unreadable = (0..200).any(|_| {
        driver.keys("]");
        pane(&driver).contains("unreadable")
    });
    let mut back = unreadable;
    for _ in 0..300 {
        driver.keys("[");
        back |= pane(&driver).contains("unreadable");
    }
    assert!(back, "{}", pane(&driver));
}

/// The layer's first name in the tree.
fn layer(driver: &mut Driver) {
    open(driver, "", "Lake_Global");
    driver.keys("3");
}

fn grid(driver: &Driver) -> &Grid<voxscope::source::FileSource> {
    driver.app.opened_item().unwrap().grid().unwrap()
}

#[test]
fn every_flag_at_the_cursor_is_named() {
    for sample in ["map-sparse", "map-dense", "map-packed-depth", "map-fortran-big-endian"] {
        let (mut driver, _dir) = on(sample, 160, 50);
        layer(&mut driver);
        for at in [[3, 4, 5], [10, 7, 2], [20, 1, 11], [8, 2, 9], [23, 3, 17], [12, 0, 12]] {
            go(&mut driver, at);
            let voxel = grid(&driver).voxel(at).unwrap().unwrap();
            let screen = pane(&driver);
            // The words about the cursor stand in the last lines of the pane.
            let lines: Vec<&str> = screen.lines().rev().take(6).collect();
            let words = lines.join(" ");
            match voxel.bits {
                Some(bits) => assert!(words.contains(&format!("= {bits}")), "{sample} {at:?} {bits:#x}\n{screen}"),
                None => assert!(words.contains("no voxel"), "{sample} {at:?}\n{screen}"),
            }
            for flag in flags::names(voxel.flags) {
                assert!(words.contains(flag.name), "{sample} {at:?} {flag}\n{screen}");
                let narrow: String = screen.chars().filter(|c| *c != ' ').collect();
                assert!(narrow.contains(flag.chinese), "{sample} {at:?} {}\n{screen}", flag.chinese);
            }
            assert_eq!(words.contains("OPEN_WATER"), flags::is_open_water(voxel.flags), "{sample} {at:?}\n{screen}");
            if let Some(depth) = voxel.depth {
                assert!(words.contains(&format!("depth {} m", short(depth.into()))), "{sample} {at:?}\n{screen}");
            }
            let bytes = driver.app.selection.bytes;
            assert_eq!(
                bytes.map(|bytes| (bytes.space, bytes.part, bytes.span)),
                voxel.span.map(|span| (Space::File, Part::Data, span))
            );
        }
    }
}

#[test]
fn a_cell_is_where_the_map_says() {
    let (mut driver, _dir) = on("map-sparse", 120, 40);
    layer(&mut driver);
    go(&mut driver, [3, 4, 5]);
    let screen = pane(&driver);
    assert!(screen.contains("world (-8.25, 4.25, -4.25)"), "{screen}");
}

#[test]
fn a_flag_that_is_switched_off_is_not_in_the_picture() {
    let (mut driver, _dir) = on("map-sparse", 120, 40);
    layer(&mut driver);
    let before = driver.screen();
    let text = pane(&driver);
    assert!(text.contains("[x]") && text.contains("OPEN_WATER"), "{text}");
    // The last line of the legend is open water.
    driver.keys("} } } } } } } } } } } } } } } } } } } } } } } } } } }");
    driver.keys("space");
    let text = pane(&driver);
    assert!(text.contains("[ ]"), "{text}");
    assert_ne!(before, driver.screen());
    driver.keys("a");
    driver.keys("a");
    let off = pane(&driver);
    assert!(!off.contains("[x]"), "{off}");
    driver.keys("a");
    assert!(!pane(&driver).contains("[ ]"));
    let counts = grid(&driver).index.len();
    assert!(counts > 0);
}

#[test]
fn a_block_of_a_layer_by_itself_and_values_instead_of_flags() {
    let (mut driver, _dir) = on("map-sparse", 120, 40);
    layer(&mut driver);
    go(&mut driver, [20, 4, 20]);
    driver.keys("v");
    let screen = pane(&driver);
    assert!(screen.contains("block (1, 0, 1)") && screen.contains("y = 4 of 16"), "{screen}");
    assert_eq!(driver.app.selection.voxel, Some([20, 4, 20]));
    driver.keys("m");
    assert!(pane(&driver).contains("in view"), "{}", pane(&driver));
}

#[test]
fn chunks_of_a_pak_are_read_in_their_order() {
    for name in ["pak-room", "pak-version-6", "pak-numbers"] {
        let (mut driver, _dir) = on(name, 120, 40);
        let index = driver.app.index.clone().unwrap();
        driver.app.select_node(index.node_of(0).unwrap());
        driver.settle();
        let slot = driver.app.opened_item().unwrap().slots[0].slot;
        driver.app.select_slot(slot);
        driver.settle();
        driver.keys("3");
        go_to_voxel(&mut driver, [3, 5, 7]);
        let raw = driver.app.selected_block().unwrap().voxel(0, [3, 5, 7]).unwrap();
        let screen = pane(&driver);
        assert!(screen.contains("voxel (3, 5, 7)") && screen.contains(&format!("= {raw}")), "{name} {raw}\n{screen}");
    }
}

fn go_to_voxel(driver: &mut Driver, at: [u32; 3]) {
    go(driver, at);
    assert_eq!(driver.app.selection.voxel, Some(at));
}

#[test]
fn nothing_is_too_small_and_letters_are_letters() {
    for (name, label, select) in [
        ("current", "r.0.0.0.vxr", true),
        ("current", "r.0.0.0.vxr", false),
        ("map-sparse", "Lake_Global", false),
        ("map-dense", "Lake_Global", false),
        ("palette", "r.0.0.0.vxr", true),
    ] {
        for (columns, rows) in [(1, 1), (2, 3), (40, 10), (80, 24), (200, 60)] {
            let dir = sample(name);
            let settings = Settings { path: dir.path().to_owned(), ascii: true, ..Settings::default() };
            let mut driver = Driver::new(settings, columns, rows);
            open(&mut driver, "", label);
            if select {
                let slot = driver.app.opened_item().unwrap().slots[0].slot;
                driver.app.select_slot(slot);
                driver.settle();
            }
            for pane in [Pane::Slice, Pane::Channels, Pane::Depth] {
                driver.app.pane = pane;
                driver.settle();
                driver.keys("right down + + + - - - - - - x ] z [ y v pagedown c m end home up left v } space a");
                driver.app.pane = pane;
                driver.settle();
                for line in driver.text_screen().lines() {
                    assert!(line.is_ascii(), "{name} {pane:?} {columns} x {rows}: {line}");
                }
            }
        }
    }
}

#[test]
fn a_click_puts_the_cursor_there_and_a_press_on_the_legend_switches() {
    use ratatui::crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
    let (mut driver, _dir) = on("map-sparse", 120, 40);
    layer(&mut driver);
    let press = |driver: &mut Driver, column: u16, row: u16| {
        let kind = MouseEventKind::Down(MouseButton::Left);
        driver.mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE });
    };
    let screen = driver.text_screen();
    let (row, line) = screen.lines().enumerate().find(|(_, line)| line.contains("[x]")).unwrap();
    let column = line.chars().position(|c| c == '[').unwrap();
    press(&mut driver, u16::try_from(column).unwrap() + 1, u16::try_from(row).unwrap());
    assert!(driver.text_screen().contains("[ ]"), "{}", driver.text_screen());
    let left = driver.app.layout().pane.x + 2;
    let top = driver.app.layout().pane.y + 3;
    press(&mut driver, left, top);
    let [x, _, z] = driver.app.selection.voxel.unwrap();
    assert_eq!((x, z), (0, 0));
    driver.app.act(Action::Copy);
    driver.settle();
    let copied = driver.copied.unwrap();
    assert!(copied.contains("cell (0, "), "{copied}");
}

#[test]
fn a_small_terminal_has_the_cursor_in_words_too() {
    let dir = sample("current");
    let mut driver = sized(dir.path(), 40, 10);
    open(&mut driver, "lod0", "r.0.0.0.vxr");
    block(&mut driver, [0, 0, 0]);
    driver.keys("3");
    go(&mut driver, [1, 2, 3]);
    assert!(pane(&driver).contains("voxel (1, 2, 3)"), "{}", pane(&driver));
}
