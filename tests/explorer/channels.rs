//! The table of channels, and the arrays of a layer.

use voxscope::tui::pane::Pane;

use crate::on;
use crate::slice::{block, open};

#[test]
fn a_depth_that_is_not_the_declared_one_is_said() {
    let (mut driver, _dir) = on("block-depth", 80, 24);
    let index = driver.app.index.clone().unwrap();
    let found = (0..index.items.len()).any(|item| {
        driver.app.select_node(index.node_of(item).unwrap());
        driver.settle();
        let slots = driver.app.opened_item().unwrap().slots.clone();
        slots.iter().any(|slot| {
            driver.app.select_slot(slot.slot);
            driver.settle();
            driver.app.pane = Pane::Channels;
            driver.settle();
            let screen = driver.text_screen();
            screen.contains("8, not 16") && screen.contains("disagree")
        })
    });
    assert!(found);
}

#[test]
fn the_channels_of_a_block_lead_to_their_slices() {
    let (mut driver, _dir) = on("current", 120, 40);
    open(&mut driver, "lod0", "r.0.0.0.vxr");
    block(&mut driver, [0, 0, 0]);
    driver.keys("4");
    let screen = driver.text_screen();
    for words in ["0 TYPE", "1 SDF", "7 DATA7", "uniform", "raw", "16 bit", "version 4", "epilogue ok", "16 x 16 x 16"]
    {
        assert!(screen.contains(words), "{words}\n{screen}");
    }
    let range = driver.app.selected_block().unwrap().channels[0].range.unwrap();
    assert!(screen.contains(&format!("{} to {}", range.min, range.max)), "{range:?}\n{screen}");
    driver.keys("down enter");
    let screen = driver.text_screen();
    assert!(driver.app.pane == Pane::Slice && screen.contains("channel 1 SDF"), "{screen}");
}

#[test]
fn a_channel_that_is_cut_is_marked() {
    let (mut driver, _dir) = on("channel-cut", 80, 24);
    let index = driver.app.index.clone().unwrap();
    let found = (0..index.items.len()).any(|item| {
        driver.app.select_node(index.node_of(item).unwrap());
        driver.settle();
        let slots = driver.app.opened_item().unwrap().slots.clone();
        slots.iter().any(|slot| {
            driver.app.select_slot(slot.slot);
            driver.app.pane = Pane::Channels;
            driver.settle();
            driver.text_screen().contains(" cut ")
        })
    });
    assert!(found);
}

#[test]
fn a_pak_says_how_its_shape_was_come_by() {
    let (mut driver, _dir) = on("pak-room", 120, 40);
    let index = driver.app.index.clone().unwrap();
    driver.app.select_node(index.node_of(0).unwrap());
    driver.settle();
    let slot = driver.app.opened_item().unwrap().slots[0].slot;
    driver.app.select_slot(slot);
    driver.settle();
    driver.keys("4");
    let screen = driver.text_screen();
    for words in ["VOXELS", "32 x 32 x 32", "inferred", "cube of 32", "xzy"] {
        assert!(screen.contains(words), "{words}\n{screen}");
    }
}

#[test]
fn a_layer_has_its_arrays_and_flags() {
    let (mut driver, _dir) = on("map-sparse", 120, 40);
    open(&mut driver, "", "Lake_Global");
    driver.keys("4");
    let screen = driver.text_screen();
    for words in ["data", "int64", "16, 16, 16]", "depth", "float32", "[40, 28]", "blocks of 16", "WATER", "OPEN_WATER"]
    {
        assert!(screen.contains(words), "{words}\n{screen}");
    }
}
