//! The world as one picture: the pane, and the same picture as files.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use ratatui::crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::style::Color;
use voxscope::demo::{Extent, ForestSpec, write_forest};
use voxscope::export::{MapRequest, NOTHING, map};
use voxscope::godot::channel::{SDF, sdf};
use voxscope::godot::container::Mode;
use voxscope::picture::{Look, Part};
use voxscope::save::{Options, Save};
use voxscope::tui::pane::Pane;
use voxscope::tui::theme::{ColorMode, Theme};
use voxscope::tui::update::{Event, request_missing};
use voxscope::tui::{Driver, Settings};
use voxscope::watch::Watch;
use voxscope::world::{Buffer, World};

use crate::common::edit::{clear, edited, set};
use crate::{driver, mouse_press, on, sample, sized};

/// The numbers of an array that was written, its shape, and where it begins in the world.
fn array(save: &Arc<Save>, request: &MapRequest) -> (Vec<[u8; 4]>, [usize; 2], [i64; 3]) {
    let dir = tempfile::tempdir().unwrap();
    let to = dir.path().join("map.npy");
    map(save, Part::first(save).unwrap(), request, &to, &Watch::default()).unwrap();
    let bytes = std::fs::read(&to).unwrap();
    let npy = npyz::NpyFile::new(&bytes[..]).unwrap();
    let shape: Vec<usize> = npy.shape().iter().map(|n| usize::try_from(*n).unwrap()).collect();
    let data = &bytes[bytes.len() - shape[0] * shape[1] * 4..];
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(dir.path().join("map.json")).unwrap()).unwrap();
    let origin = [0, 1, 2].map(|i| json["origin"][i].as_i64().unwrap());
    assert_eq!(json["step"].as_i64(), Some(i64::from(request.scale) << request.lod));
    (data.as_chunks::<4>().0.to_vec(), [shape[0], shape[1]], origin)
}

/// The y of the highest matter of every column, voxel by voxel, without anything that the picture uses.
fn naive_heights(save: &Save, [rows, columns]: [usize; 2], origin: [i64; 3]) -> Vec<i32> {
    let world = World::only(save).unwrap();
    let index = world.index(0);
    let mut buffer = Buffer::default();
    let mut heights = vec![NOTHING; rows * columns];
    // TYPE, unless it is the same everywhere.
    let mut first = None;
    let mut differs = false;
    for at in &index.blocks {
        let view = world.read(at, &mut buffer).unwrap();
        let block = view.block.as_ref().unwrap();
        for value in block.channels[0].values() {
            differs |= *first.get_or_insert(value) != value;
        }
    }
    for at in &index.blocks {
        let view = world.read(at, &mut buffer).unwrap();
        let block = view.block.as_ref().unwrap();
        let [sx, sy, sz] = block.size;
        for z in 0..sz {
            for x in 0..sx {
                for y in 0..sy {
                    let solid = if differs {
                        block.voxel(0, [x, y, z]).unwrap() != 0
                    } else {
                        let raw = block.voxel(SDF, [x, y, z]).unwrap();
                        sdf(block.version, block.channels[SDF].depth, raw) < 0.0
                    };
                    let world = |i: usize, n: u16| i64::from(at.position[i]) * i64::from(block.size[i]) + i64::from(n);
                    let row = usize::try_from(world(2, z) - origin[2]).unwrap();
                    let column = usize::try_from(world(0, x) - origin[0]).unwrap();
                    if solid {
                        let height = &mut heights[row * columns + column];
                        *height = (*height).max(i32::try_from(world(1, y)).unwrap());
                    }
                }
            }
        }
    }
    heights
}

#[test]
fn heights_are_those_of_a_scan_of_every_column() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let golden = std::env::var_os("VOXSCOPE_GOLDEN").map_or(golden, Into::into);
    let mut saves: Vec<std::path::PathBuf> = ["forest_lz4", "forest_block32", "forest_sdf8", "forest_depths"]
        .map(|name| golden.join("godot_voxel").join(name))
        .into_iter()
        .filter(|path| path.is_dir())
        .collect();
    let samples: Vec<_> = ["current", "zstd", "old-2020", "depths"].map(sample).into();
    saves.extend(samples.iter().map(|dir| dir.path().to_owned()));
    for path in saves {
        let save = Arc::new(Save::open(&path, &Options::default()).unwrap());
        let (bytes, shape, origin) = array(&save, &MapRequest::new(Look::Height));
        let heights: Vec<i32> = bytes.into_iter().map(i32::from_le_bytes).collect();
        let expected = naive_heights(&save, shape, origin);
        assert!(heights == expected, "{}", path.display());
        assert!(heights.iter().any(|height| *height != NOTHING), "{}", path.display());
        // A box is a part of it, and a smaller picture has the highest of each square.
        let area = Some([[origin[0], i64::MIN >> 20, origin[2]], [origin[0] + 5, i64::MAX >> 20, origin[2] + 3]]);
        let (part, of, _) = array(&save, &MapRequest { area, ..MapRequest::new(Look::Height) });
        assert_eq!(of, [3, 5]);
        for (at, height) in part.into_iter().enumerate() {
            assert_eq!(i32::from_le_bytes(height), expected[at / 5 * shape[1] + at % 5]);
        }
        let (small, of, from) = array(&save, &MapRequest { scale: 4, ..MapRequest::new(Look::Height) });
        for (at, height) in small.into_iter().enumerate() {
            let cell = |i: usize, n: usize| from[i] + 4 * i64::try_from(n).unwrap() - origin[i];
            let (z, x) = (cell(2, at / of[1]), cell(0, at % of[1]));
            let inside = (0..16).filter_map(|n| {
                let (z, x) = (usize::try_from(z + n / 4).ok()?, usize::try_from(x + n % 4).ok()?);
                (x < shape[1]).then(|| expected.get(z * shape[1] + x).copied())?
            });
            assert_eq!(Some(i32::from_le_bytes(height)), inside.max(), "{}", path.display());
        }
    }
}

#[test]
fn coverage_and_sizes_are_those_of_the_tables() {
    let dir = sample("current");
    let save = Arc::new(Save::open(dir.path(), &Options::default()).unwrap());
    let world = World::only(&save).unwrap();
    let side = usize::from(world.block_size().unwrap());
    let (bytes, shape, origin) = array(&save, &MapRequest::new(Look::Coverage));
    for lod in world.lods() {
        let index = world.index(lod);
        for (at, bits) in bytes.iter().enumerate().step_by(side / 2 + 1) {
            let size = i64::try_from(side << lod).unwrap();
            let block =
                [origin[0] + i64::try_from(at % shape[1]).unwrap(), origin[2] + i64::try_from(at / shape[1]).unwrap()]
                    .map(|n| i32::try_from(n.div_euclid(size)).unwrap());
            let there = index.blocks.iter().any(|at| [at.position[0], at.position[2]] == block);
            assert_eq!(u32::from_le_bytes(*bits) >> lod & 1 == 1, there, "LOD {lod}, {block:?}");
        }
    }
    let (bytes, ..) = array(&save, &MapRequest::new(Look::Size));
    let mut buffer = Buffer::default();
    let mut stored = 0u64;
    for at in &world.index(0).blocks {
        world.fetch(at, &mut buffer).unwrap();
        stored += world.container(&buffer).len() as u64;
    }
    let sum: u64 = bytes.into_iter().map(|n| u64::from(u32::from_le_bytes(n))).sum();
    assert_eq!(sum, stored * (side * side) as u64, "every column of a block has all its bytes");
}

#[test]
fn a_pixel_over_several_columns_has_the_size_of_the_largest() {
    let dir = sample("current");
    let save = Arc::new(Save::open(dir.path(), &Options::default()).unwrap());
    // Blocks are 16 voxels wide: pixels of 5 voxels are over two columns of blocks.
    let (fine, shape, from) = array(&save, &MapRequest::new(Look::Size));
    let (coarse, of, to) = array(&save, &MapRequest { scale: 5, ..MapRequest::new(Look::Size) });
    let mut expected = vec![0; of[0] * of[1]];
    for (at, n) in fine.into_iter().enumerate() {
        let place =
            |i: usize, n: usize| usize::try_from((from[i] + i64::try_from(n).unwrap() - to[i]).div_euclid(5)).unwrap();
        let pixel = &mut expected[place(2, at / shape[1]) * of[1] + place(0, at % shape[1])];
        *pixel = u32::from_le_bytes(n).max(*pixel);
    }
    let coarse: Vec<u32> = coarse.into_iter().map(u32::from_le_bytes).collect();
    assert!(coarse.len() > 16 && expected == coarse);
}

#[test]
fn the_look_repair_is_the_repaired_copy_with_marks_where_the_plan_changes_it() {
    let path = crate::common::committed().join("crash_terrain/t1/world");
    let out = tempfile::tempdir().unwrap();
    let copy = out.path().join("copy");
    let save = Arc::new(Save::open(&path, &Options::default()).unwrap());
    let plan = voxscope::repair::plan(&save, &voxscope::repair::Options::default()).unwrap();
    voxscope::repair::run(&save, &copy, &voxscope::repair::Options::default()).unwrap();
    let draw = |save: &Arc<Save>, look: Look| {
        let to = out.path().join(format!("{}.png", look.name()));
        map(save, Part::first(save).unwrap(), &MapRequest::new(look), &to, &Watch::default()).unwrap();
        let file = std::io::BufReader::new(std::fs::File::open(&to).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        (reader.info().width, pixels)
    };
    let repaired = Arc::new(Save::open(&copy, &Options::default()).unwrap());
    let ((width, planned), (_, repaired)) = (draw(&save, Look::Repair), draw(&repaired, Look::Surface));
    // The first pixel is the corner of the blocks at -2: blocks of 16 voxels.
    let marked: BTreeSet<[i32; 2]> = (0u32..)
        .zip(planned.chunks(4).zip(repaired.chunks(4)))
        .filter(|(_, (planned, repaired))| planned != repaired)
        .map(|(at, _)| [at % width, at / width].map(|n| i32::try_from(n / 16).unwrap() - 2))
        .collect();
    let mut expected = BTreeSet::new();
    for region in plan.regions.iter().filter(|region| region.action != voxscope::repair::Action::Copy) {
        let moved = region.blocks.iter().filter(|block| block.listed_at.is_some() || block.moved);
        let missing = region.missing.iter().map(|(position, _)| *position);
        expected.extend(moved.map(|block| block.position).chain(missing).map(|[x, _, z]| [x, z]));
    }
    assert!(expected.len() == 10 && marked == expected, "{marked:?}\n{expected:?}");
}

#[test]
fn a_picture_has_a_pixel_for_each_column_and_nothing_is_overwritten() {
    for name in ["current", "stream-texts", "pak-room", "map-dense", "map-sparse"] {
        let dir = sample(name);
        let save = Arc::new(Save::open(dir.path(), &Options::default()).unwrap());
        let part = Part::first(&save).unwrap();
        let out = tempfile::tempdir().unwrap();
        for look in [Look::Surface, Look::Height, Look::Coverage, Look::Size, Look::Health] {
            let to = out.path().join(format!("{}.png", look.name()));
            let summary = map(&save, part, &MapRequest::new(look), &to, &Watch::default()).unwrap();
            let reader = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(&to).unwrap())).read_info();
            let mut reader = reader.unwrap();
            assert_eq!([reader.info().width, reader.info().height], summary.size, "{name}");
            let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
            reader.next_frame(&mut pixels).unwrap();
            assert!(pixels.chunks(4).any(|rgba| rgba[3] == 255), "{name}, {}", look.name());
            assert!(map(&save, part, &MapRequest::new(look), &to, &Watch::default()).is_err());
        }
        let far = MapRequest { scale: 1, area: Some([[1 << 30; 3], [1 << 31; 3]]), ..MapRequest::new(Look::Height) };
        assert!(map(&save, part, &far, &out.path().join("far.npy"), &Watch::default()).is_err());
        let colors = map(&save, part, &MapRequest::new(Look::Surface), &out.path().join("x.npy"), &Watch::default());
        assert!(colors.unwrap_err().to_string().contains("--look height"), "colours are no numbers");
        assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 5, "nothing else is left");
    }
}

#[test]
fn a_picture_that_would_be_too_large_names_the_scale_that_fits() {
    let dir = sample("stale-tail");
    let near = dir.path().join("regions/lod0/r.0.0.0.vxr");
    std::fs::copy(&near, dir.path().join("regions/lod0/r.400.0.400.vxr")).unwrap();
    let save = Arc::new(Save::open(dir.path(), &Options::default()).unwrap());
    let out = tempfile::tempdir().unwrap();
    let part = Part::first(&save).unwrap();
    let whole = |scale, name: &str| {
        let request = MapRequest { scale, ..MapRequest::new(Look::Coverage) };
        map(&save, part, &request, &out.path().join(name), &Watch::default())
    };
    let why = whole(1, "a.png").unwrap_err().to_string();
    assert!(why.contains("--scale 2") && why.contains("pixels"), "{why}");
    assert!(!out.path().join("a.png").exists());
    whole(16, "b.png").unwrap();
}

#[test]
fn the_explorer_opens_on_the_world_and_a_block_is_selected() {
    for (name, words) in
        [("current", "surface"), ("stream-texts", "surface"), ("pak-room", "surface"), ("map-dense", "surface")]
    {
        let (driver, _dir) = on(name, 120, 40);
        assert_eq!(driver.app.pane, Pane::World);
        let screen = driver.text_screen();
        assert!(screen.contains(words) && screen.contains("▀") && screen.contains("◆"), "{name}\n{screen}");
    }
    let (driver, _dir) = on("current", 120, 40);
    assert!(driver.app.selected_slot().is_some());
}

/// Presses keys until the inspector shows a voxel, and gives it.
pub fn cursor(driver: &Driver) -> [i64; 3] {
    let screen = driver.text_screen();
    let title = screen.split("┌ (").nth(1).unwrap_or_else(|| panic!("no place in\n{screen}"));
    let numbers: Vec<i64> = title.split(')').next().unwrap().split(", ").map(|n| n.parse().unwrap()).collect();
    [numbers[0], numbers[1], numbers[2]]
}

#[test]
fn it_goes_from_the_whole_world_to_a_voxel_and_to_a_place() {
    let (mut driver, _dir) = on("current", 120, 40);
    let before = cursor(&driver);
    driver.keys("right right down");
    let after = cursor(&driver);
    assert!(after[0] > before[0] && after[2] > before[2], "{before:?} {after:?}");
    driver.keys("+ + + + + + + + + + + + + + + + + +");
    assert!(driver.text_screen().contains('['), "brackets around a voxel of several cells");
    driver.keys("right");
    assert_eq!(cursor(&driver)[0], after[0] + 1, "a voxel has several cells now");
    driver.keys("@");
    driver.text("-3,2,5");
    driver.keys("enter");
    let [x, _, z] = cursor(&driver);
    assert_eq!([x, z], [-3, 5]);
    assert!(driver.app.selected_slot().is_some_and(|slot| slot.position.unwrap()[0] < 0));
    driver.keys("6 @");
    driver.text("3,2,5");
    driver.keys("enter");
    assert_eq!(driver.app.pane, Pane::Hex, "from any pane");
    assert!(driver.app.selected_slot().is_some_and(|slot| slot.position.unwrap()[0] == 0));
    driver.keys("1");
    assert_eq!(cursor(&driver)[0], 3);
    driver.keys("7 @");
    driver.text("-3,2,5");
    driver.keys("enter");
    assert_eq!((driver.app.pane, cursor(&driver)[0]), (Pane::World, -3), "from a list that cannot show it");
    driver.keys("@");
    driver.text("99999,0,0");
    driver.keys("enter");
    assert!(driver.text_screen().contains("the world goes from ("));
}

#[test]
fn dragging_pans_and_a_press_moves_the_cursor() {
    let (mut driver, _dir) = on("current", 120, 40);
    driver.keys("+ + + + + +");
    driver.mouse(mouse_press(60, 20));
    let place = cursor(&driver);
    let drag = |column, row| MouseEvent {
        kind: MouseEventKind::Drag(MouseButton::Left),
        column,
        row,
        modifiers: KeyModifiers::NONE,
    };
    driver.mouse(drag(66, 22));
    assert_eq!(cursor(&driver), place, "the cursor stays on its voxel");
    driver.mouse(mouse_press(66, 22));
    assert_eq!(cursor(&driver), place, "which is where the mouse is now");
    let screen = driver.text_screen();
    driver.keys("shift-left");
    assert_ne!(driver.text_screen(), screen);
}

#[test]
fn damage_is_marked_from_the_start_and_every_look_has_its_name() {
    let (mut driver, _dir) = on("block-epilogue", 120, 40);
    assert!(driver.text_screen().contains("torn 1"), "{}", driver.text_screen());
    driver.keys("!");
    assert!(!driver.text_screen().contains("torn 1"));
    let mut seen = Vec::new();
    for _ in 0..7 {
        driver.keys("v j");
        let screen = driver.text_screen();
        let found = Look::ALL.into_iter().find(|look| screen.contains(&format!("{} ·", look.name())));
        seen.extend(found.map(Look::name));
    }
    for look in ["surface", "cut", "height", "health", "size"] {
        assert!(seen.contains(&look), "{look}: {seen:?}");
    }
}

#[test]
fn nothing_is_told_by_colours_alone_and_letters_are_ascii() {
    let all = [ColorMode::True, ColorMode::Indexed, ColorMode::Sixteen, ColorMode::None];
    for name in ["current", "block-epilogue", "map-dense", "pak-room"] {
        let dir = sample(name);
        for colors in all {
            for (columns, rows) in [(1, 1), (9, 4), (40, 10), (80, 24), (200, 60)] {
                let theme = if colors == ColorMode::None { Theme::Mono } else { Theme::Terminal };
                let settings =
                    Settings { path: dir.path().to_owned(), ascii: true, colors, theme, ..Settings::default() };
                let mut driver = Driver::new(settings, columns, rows);
                driver.keys("+ + v down x v y ] z [ c - - - - v v shift-up ! > enter 1 esc home");
                assert!(driver.text_screen().is_ascii(), "{name} {columns} x {rows}:\n{}", driver.text_screen());
                let screen = driver.screen();
                let rgb = screen.content.iter().filter(|cell| matches!(cell.fg, Color::Rgb(..))).count();
                assert!(rgb == 0 || colors == ColorMode::True, "{colors:?}");
            }
        }
    }
}

/// The rows of the legend depend on the scale beside it, the scale on the view, and the view on the rows.
#[test]
fn the_picture_settles_whatever_the_width() {
    let save = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/crash_terrain/t1/world");
    let mut driver = sized(&save, 80, 24);
    for columns in 60..=120 {
        driver.event(&Event::Resize(columns, 24));
        for _ in 0..7 {
            driver.keys("v");
            request_missing(&mut driver.app);
            assert_eq!(driver.app.effects.len(), 0, "{columns} columns:\n{}", driver.text_screen());
        }
    }
}

#[test]
fn blocks_to_which_no_table_leads_are_named_where_they_are_not_drawn() {
    for (columns, rows) in [(80, 24), (120, 40)] {
        for (sample, words) in
            [("table-empty", "8 unowned blocks are not drawn"), ("table-gap", "1 unowned block is not drawn")]
        {
            let (driver, _dir) = on(sample, columns, rows);
            let pane = crate::pane_text(&driver);
            // A legend beside the picture is the last column, in which the words are wrapped.
            let column: Vec<&str> = pane.lines().filter_map(|line| line.trim_end().rsplit("  ").next()).collect();
            assert!(pane.contains(words) || column.join(" ").contains(words), "{sample}: {}", driver.text_screen());
        }
    }
    // Nothing is drawn of a save whose only table is empty.
    let dir = sample("table-empty");
    std::fs::remove_file(dir.path().join("regions/lod0/r.-1.0.0.vxr")).unwrap();
    let driver = sized(dir.path(), 80, 24);
    let words = "There are no blocks in the tables: 8 unowned blocks are not drawn.";
    assert!(driver.text_screen().contains(words), "{}", driver.text_screen());
    // Old states are normal.
    let (driver, _dir) = on("block-unlisted", 80, 24);
    assert!(!driver.text_screen().contains("not drawn"), "{}", driver.text_screen());
}

#[test]
fn the_surface_goes_by_what_further_blocks_show() {
    let [dir, copy] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let lods = vec![Extent { from: [0, 0, 0], to: [12, 1, 12] }];
    write_forest(dir.path(), &ForestSpec { lods, ..ForestSpec::default() }, None).unwrap();
    // Types are in a single block, which is none of the 48 that decide at first.
    edited(dir.path(), copy.path(), Mode::Lz4, &|_, position, block| {
        clear(block, 0);
        if position == [1, 0, 0] {
            set(block, 0, [3, 15, 3], 7);
        }
        Some(position)
    });
    let driver = driver(copy.path());
    let screen = driver.text_screen();
    assert!(screen.contains("surface · TYPE") && screen.contains("goes by TYPE now"), "{screen}");
}

#[test]
fn a_dense_layer_has_no_blocks_in_the_inspector() {
    let (driver, _dir) = on("map-dense", 120, 40);
    let inspector = super::inspector_text(&driver);
    assert!(inspector.contains("file") && !inspector.contains("block"), "{inspector}");
    let (driver, _dir) = on("map-sparse", 120, 40);
    let inspector = super::inspector_text(&driver);
    assert!(inspector.contains("block"), "{inspector}");
}

#[test]
fn the_message_about_the_old_formula_names_its_save() {
    let dir = super::samples(&["current", "blocks-v4-old-slots"]);
    let driver = sized(dir.path(), 120, 40);
    let screen = driver.text_screen();
    assert!(screen.contains("blocks-v4-old-slots is read by the old slot formula"), "{screen}");
    let driver = sized(&dir.path().join("blocks-v4-old-slots"), 120, 40);
    let screen = driver.text_screen();
    assert!(screen.contains("The save is read by the old slot formula"), "{screen}");
}

#[test]
fn the_inspector_names_the_file_of_the_block_under_the_cursor() {
    let (mut driver, _dir) = on("lods", 200, 60);
    let index = driver.app.index.clone().unwrap();
    let mut lods = BTreeSet::new();
    // A block of a high LOD is selected in another pane; at its middle there are blocks of lower ones.
    for item in 0..index.items.len() {
        let Some(node) = index.node_of(item).filter(|_| index.shown(item).ends_with(".vxr")) else { continue };
        driver.app.select_node(node);
        driver.keys("2 1");
        let said = super::inspector_text(&driver).split_whitespace().collect::<Vec<_>>().join(" ");
        let block = said.split(" block ").nth(1).unwrap_or_else(|| panic!("{said}"));
        let lod = block.split(" of LOD ").nth(1).map_or('0', |lod| lod.chars().next().unwrap());
        assert!(block.contains(&format!("file regions/lod{lod}/")), "{}: {said}", index.shown(item));
        // The line on top names the same file.
        let screen = driver.text_screen();
        assert!(screen.lines().next().unwrap().contains(&format!(" lod{lod} ")), "{screen}");
        lods.insert(lod);
    }
    assert!(lods.len() > 1, "{lods:?}");
}

#[test]
fn a_finding_about_another_place_is_not_said_of_the_cursor() {
    let (mut driver, _dir) = on("block-depth", 200, 60);
    driver.keys("7 n 1");
    let finding = driver.app.findings.list[driver.app.selection.finding.unwrap()].clone();
    let said = |driver: &Driver| super::inspector_text(driver).split_whitespace().collect::<Vec<_>>().join(" ");
    let words = finding.message();
    let words: String = words.chars().take(20).collect();
    assert!(said(&driver).contains(&words), "{}", driver.text_screen());
    let [x, ..] = finding.block.unwrap().position.unwrap();
    for _ in 0..200 {
        driver.keys(if x > 0 { "left" } else { "right" });
    }
    assert!(!said(&driver).contains(&words), "{}", driver.text_screen());
}
