//! Cuts through the world: what is at the cursor is what the library reads there.

use voxscope::damage::Space;
use voxscope::godot::channel::{SDF, sdf};
use voxscope::save::Scratch;
use voxscope::tui::Driver;
use voxscope::tui::pane::Pane;

use crate::world::cursor;
use crate::{inspector_text, on};

/// Selects the line of the tree with this label, the first below a line with the other one.
pub fn open(driver: &mut Driver, below: &str, label: &str) {
    let index = driver.app.index.clone().unwrap();
    let from = index.nodes.iter().position(|node| below.is_empty() || &*node.label == below).unwrap();
    let node = (from..index.nodes.len()).find(|&node| &*index.nodes[node].label == label).unwrap();
    driver.app.select_node(node);
    driver.run_until_idle();
}

/// Selects a block by its position.
pub fn block(driver: &mut Driver, position: [i32; 3]) {
    let opened = driver.app.opened_item().unwrap().clone();
    driver.app.select_slot(opened.at(0, position).unwrap().slot);
    driver.run_until_idle();
}

/// Goes to a voxel of the world by typing it.
fn go(driver: &mut Driver, [x, y, z]: [i64; 3]) {
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

#[test]
fn the_value_at_the_cursor_is_that_of_the_block() {
    let (mut driver, _dir) = on("current", 120, 40);
    open(&mut driver, "lod0", "r.-1.-1.-1.vxr");
    block(&mut driver, [-2, -1, -2]);
    for (channel, keys) in [(0, "4 home enter"), (SDF, "4 home down enter")] {
        driver.keys(keys);
        assert_eq!(driver.app.pane, Pane::World);
        for at in [[0, 0, 0], [5, 7, 12], [15, 15, 15], [3, 9, 1]] {
            let world = [0, 1, 2].map(|i| i64::from([-32, -16, -32][i]) + i64::from(at[i]));
            go(&mut driver, world);
            let (raw, distance) = voxel(&driver, [-2, -1, -2], channel, at);
            let said = inspector_text(&driver);
            if channel == SDF {
                assert!(said.contains(&format!("{distance:.3} voxels")), "{at:?}: {distance}\n{said}");
            } else {
                assert!(said.contains(&format!("value     {raw}")), "{at:?}: {raw}\n{said}");
            }
            assert_eq!(cursor(&driver), world);
            assert_eq!(driver.app.selection.voxel, Some(at.map(u32::from)));
            let block = driver.app.selected_block().unwrap();
            let place = block.place(channel, at.map(u32::from)).unwrap();
            let bytes = driver.app.selection.bytes.unwrap();
            assert_eq!((bytes.space, bytes.span), (Space::Block, place));
        }
    }
    // From the voxel to its bytes, and from there back to the voxel.
    driver.keys("enter");
    assert_eq!(driver.app.pane, Pane::Hex);
    driver.keys("enter");
    assert_eq!((driver.app.pane, cursor(&driver)), (Pane::World, [-29, -7, -31]));
}

#[test]
fn a_cut_through_textures_names_them() {
    let (mut driver, _dir) = on("textures", 160, 40);
    open(&mut driver, "lod0", "r.0.0.0.vxr");
    block(&mut driver, [0, 0, 0]);
    let [textures, weights] = ["textures 1, 2, 3, 4", "weights 11, 4, 0, 0 of 15"];
    for (keys, in_hex) in [("4 home down down down enter", textures), ("4 home down down down down enter", weights)] {
        driver.keys(keys);
        go(&mut driver, [5, 0, 0]);
        go(&mut driver, [5, 0, 4]);
        let said = inspector_text(&driver);
        assert!(said.contains(textures) && said.contains(weights), "{said}");
        // The same in the field under the cursor of the hex view.
        driver.keys("enter");
        assert!(driver.text_screen().contains(in_hex), "{}", driver.text_screen());
    }
}

#[test]
fn axes_and_cuts_move_the_cursor_where_they_say() {
    let (mut driver, _dir) = on("current", 120, 40);
    open(&mut driver, "lod0", "r.0.0.0.vxr");
    block(&mut driver, [0, 0, 0]);
    driver.keys("4 home enter y");
    go(&mut driver, [5, 7, 12]);
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
    ] {
        driver.keys(keys);
        assert_eq!(cursor(&driver), expected, "{keys}\n{}", driver.text_screen());
    }
}

#[test]
fn a_line_of_the_legend_stands_out() {
    for name in ["current", "map-dense", "pak-room"] {
        let (mut driver, _dir) = on(name, 120, 40);
        driver.keys("y");
        driver.app.message = None;
        let before = driver.screen();
        driver.keys(">");
        let spotted = driver.screen();
        assert_ne!(before, spotted, "{name}: other kinds are dimmed");
        driver.keys("<");
        driver.app.message = None;
        assert_eq!(driver.screen(), before, "{name}: and have their colours again");
    }
}

#[test]
fn a_cut_through_a_whole_world_shows_all_of_it() {
    for (columns, rows) in [(80, 24), (120, 40)] {
        let (mut driver, _dir) = on("lods", columns, rows);
        for axis in ["x", "z", "y"] {
            driver.keys(axis);
            let fitted = driver.text_screen();
            driver.keys("home");
            driver.app.message = None;
            let again = driver.text_screen();
            let picture = |screen: &str| screen.lines().take(20).map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(picture(&fitted), picture(&again), "{columns} x {rows}, {axis}");
        }
    }
}
