//! `export --map` with the look that compares two saves.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use voxscope::export::{MapRequest, map};
use voxscope::godot::container::Mode;
use voxscope::picture::{Look, Mark, Part};
use voxscope::save::{Options, Save};
use voxscope::watch::Watch;

use crate::common::edit::{edited, set};
use crate::repair::crash;
use crate::sample;

fn open(path: &Path) -> Arc<Save> {
    Arc::new(Save::open(path, &Options::default()).unwrap())
}

/// The pixels of a picture of LOD 0, row by row, and its width.
fn pixels(save: &Arc<Save>, look: Look, against: Option<Arc<Save>>) -> (Vec<[u8; 4]>, usize) {
    let dir = tempfile::tempdir().unwrap();
    let to = dir.path().join("map.png");
    let channel = (look == Look::Difference).then_some(0);
    let request = MapRequest { channel, against, ..MapRequest::new(look) };
    map(save, Part::first(save).unwrap(), &request, &to, &Watch::default()).unwrap();
    let mut reader = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(&to).unwrap())).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut bytes).unwrap();
    let width = usize::try_from(reader.info().width).unwrap();
    (bytes.as_chunks::<4>().0.to_vec(), width)
}

#[test]
fn difference_marks_the_column_that_differs_and_no_other() {
    let dir = sample("current");
    let a = open(dir.path());
    let copy = tempfile::tempdir().unwrap();
    // Above all hills, so that it is the highest matter: x is -16 + 15, z is -32 + 1.
    edited(dir.path(), copy.path(), Mode::Lz4, &|lod, position, block| {
        if (lod, position) == (0, [-1, 1, -2]) {
            set(block, 0, [15, 15, 1], 7);
        }
        Some(position)
    });
    let (same, width) = pixels(&a, Look::Difference, Some(Arc::clone(&a)));
    let (differs, _) = pixels(&a, Look::Difference, Some(open(copy.path())));
    let changed: Vec<usize> = (0..same.len()).filter(|at| same[*at] != differs[*at]).collect();
    assert_eq!((width, same.len()), (64, 64 * 64));
    assert_eq!(changed, [width + 31], "the column (-1, -31)");
}

#[test]
fn a_packed_map_has_a_colour_for_each_depth() {
    let dir = sample("map-packed-depth");
    let colors = |(pixels, _): (Vec<[u8; 4]>, usize)| pixels.into_iter().collect::<HashSet<_>>().len();
    // Water of 1, 1.5, 2 and 2.5 metres.
    assert_eq!(colors(pixels(&open(dir.path()), Look::Depth, None)), 4);
    let mut driver = crate::sized(dir.path(), 120, 40);
    driver.keys("v v v");
    let screen = driver.text_screen();
    assert!(screen.contains("2.5 m deep") && screen.contains(" 1.0 m"), "{screen}");
    // All of it is equally high.
    driver.keys("v v v v v v");
    let screen = driver.text_screen();
    assert!(screen.contains("height · LOD 0") && screen.contains("■ y 7"), "{screen}");
}

#[test]
fn health_marks_blocks_as_the_verdict_counts_them() {
    let (pixels, width) = pixels(&open(&crash("crash_terrain/t1")), Look::Health, None);
    assert_eq!((width, pixels.len()), (80, 80 * 80));
    let marked = |mark: Mark| {
        let [red, green, blue] = mark.color().map(i32::from);
        // Seven tenths of a line are the colour of the mark, the rest is nearly grey.
        let is = |[r, g, b, _]: &&[u8; 4]| {
            let [r, g, b] = [*r, *g, *b].map(i32::from);
            ((r - g) - (red - green) * 7 / 10).abs() < 15 && ((g - b) - (green - blue) * 7 / 10).abs() < 10
        };
        pixels.iter().filter(is).count()
    };
    let [misplaced, torn, unreadable] = [Mark::Misplaced, Mark::Torn, Mark::Unreadable].map(marked);
    assert!(misplaced > 5 * torn && torn > 0 && unreadable == 0, "{misplaced} {torn} {unreadable}");
}
