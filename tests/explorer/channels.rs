//! The table of channels, and the arrays of a layer.

use voxscope::tui::pane::Pane;

use crate::cut::{block, open};
use crate::on;

#[test]
fn a_depth_that_is_not_the_declared_one_is_said() {
    let (mut driver, _dir) = on("block-depth", 80, 24);
    let index = driver.app.index.clone().unwrap();
    let found = (0..index.items.len()).any(|item| {
        driver.app.select_node(index.node_of(item).unwrap());
        driver.run_until_idle();
        let slots = driver.app.opened_item().unwrap().slots.clone();
        slots.iter().any(|slot| {
            driver.app.select_slot(slot.slot);
            driver.run_until_idle();
            driver.app.pane = Pane::Channels;
            driver.run_until_idle();
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
    assert!(driver.app.pane == Pane::World && screen.contains("SDF"), "{screen}");
}

#[test]
fn a_channel_that_is_cut_is_marked() {
    let (mut driver, _dir) = on("channel-cut", 80, 24);
    let index = driver.app.index.clone().unwrap();
    let found = (0..index.items.len()).any(|item| {
        driver.app.select_node(index.node_of(item).unwrap());
        driver.run_until_idle();
        let slots = driver.app.opened_item().unwrap().slots.clone();
        slots.iter().any(|slot| {
            driver.app.select_slot(slot.slot);
            driver.app.pane = Pane::Channels;
            driver.run_until_idle();
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
    driver.run_until_idle();
    let slot = driver.app.opened_item().unwrap().slots[0].slot;
    driver.app.select_slot(slot);
    driver.run_until_idle();
    driver.keys("4");
    let screen = driver.text_screen();
    for words in ["VOXELS", "32 x 32 x 32", "inferred", "cube of 32", "yzx"] {
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

#[test]
fn the_histogram_has_an_axis_and_is_legible_under_the_cursor() {
    use ratatui::style::Modifier;
    let (mut driver, _dir) = on("current", 120, 40);
    open(&mut driver, "lod0", "r.0.0.0.vxr");
    block(&mut driver, [0, 0, 0]);
    driver.keys("4");
    let screen = crate::pane_text(&driver);
    let range = driver.app.selected_block().unwrap().channels[0].range.unwrap();
    let axis = screen.lines().skip_while(|line| !line.contains('└')).nth(1).unwrap_or_else(|| panic!("{screen}"));
    assert!(axis.contains(&range.min.to_string()) && axis.contains(&range.max.to_string()), "{axis}\n{screen}");
    let (x, y) = crate::find(&driver, "0 TYPE", 3).unwrap();
    let buffer = driver.screen();
    assert!(buffer.cell((x, y)).unwrap().modifier.contains(Modifier::REVERSED));
    let bars =
        (x..buffer.area.width).filter_map(|x| buffer.cell((x, y))).filter(|cell| "▁▂▃▄▅▆▇█".contains(cell.symbol()));
    let reversed = bars.map(|cell| cell.modifier.contains(Modifier::REVERSED)).collect::<Vec<_>>();
    assert!(!reversed.is_empty() && reversed.iter().all(|reversed| !reversed), "{screen}");
}

#[test]
fn types_have_their_names_in_the_channels_and_in_the_hex_pane() {
    let dir = crate::sample("current");
    let names: String = (0..64).map(|id| format!("{id} = 'kind {id}'\n")).collect();
    let names = voxscope::picture::palette::Palette::parse(&format!("[types]\n{names}")).unwrap();
    let settings = voxscope::tui::Settings { path: dir.path().to_owned(), names, ..Default::default() };
    let mut driver = voxscope::tui::Driver::new(settings, 160, 50);
    driver.keys("4");
    let screen = driver.text_screen();
    // The most frequent first, each with its value and its share.
    assert!(screen.lines().any(|line| line.contains(" kind ") && line.contains(" %")), "{screen}");
    // The first voxel of TYPE is behind the version, the size and the format of the channel.
    driver.keys("6 b home right right right right right right right right");
    let screen = driver.text_screen();
    let field = screen.lines().find(|line| line.contains("channel 0 (TYPE)"));
    assert!(field.is_some_and(|line| line.contains(") kind ")), "{screen}");
}

#[test]
fn sizes_of_one_byte_are_singular() {
    let (mut driver, _dir) = on("pak-numbers", 120, 34);
    driver.keys("4");
    let screen = driver.text_screen();
    assert!(screen.contains("It could be 16 x 128 x 16 voxels of 1 byte as well."), "{screen}");
    assert!(!screen.contains(" 1 bytes"), "{screen}");
}

#[test]
fn the_heading_of_metadata_says_what_it_is_of() {
    let (mut driver, _dir) = on("stream", 120, 40);
    driver.keys("5");
    assert!(
        super::pane_text(&driver).lines().next().unwrap().trim() == "metadata of the block",
        "{}",
        super::pane_text(&driver)
    );
}

#[test]
fn a_type_that_occurs_is_never_0_percent() {
    let dir = super::sample("lods");
    let names = voxscope::picture::palette::Palette::parse("[types]\n1 = \"grass\"\n").unwrap();
    let settings = voxscope::tui::Settings { path: dir.path().to_owned(), names, ..Default::default() };
    let mut driver = voxscope::tui::Driver::new(settings, 120, 40);
    driver.keys("enter");
    let pane = super::pane_text(&driver);
    assert!(pane.contains("1 grass ") && pane.contains(" <1 %") && !pane.contains(" 0 %"), "{pane}");
}

#[test]
fn bars_of_flags_use_the_width_of_the_pane() {
    let bar = |columns: u16| {
        let (mut driver, _dir) = on("map-dense", columns, 40);
        driver.keys("4");
        driver.text_screen().lines().map(|line| line.matches('\u{2588}').count()).max().unwrap()
    };
    let (narrow, wide) = (bar(80), bar(200));
    assert!(narrow >= 20 && wide >= narrow + 40, "{narrow}, {wide}");
}
