//! `export --map` with the look that compares two saves.

use std::path::Path;
use std::sync::Arc;

use voxscope::export::{MapRequest, map};
use voxscope::godot::container::Mode;
use voxscope::picture::{Look, Part, palette::Palette};
use voxscope::save::{Options, Save};
use voxscope::watch::Watch;

use crate::common::edit::{edited, set};
use crate::sample;

fn open(path: &Path) -> Arc<Save> {
    Arc::new(Save::open(path, &Options::default()).unwrap())
}

/// The pixels of a picture of LOD 0, row by row, and its width.
fn pixels(save: &Arc<Save>, look: Look, against: Option<Arc<Save>>) -> (Vec<[u8; 4]>, usize) {
    let dir = tempfile::tempdir().unwrap();
    let to = dir.path().join("map.png");
    let request = MapRequest {
        look,
        lod: 0,
        area: None,
        scale: 1,
        channel: Some(0),
        cut: None,
        palette: Palette::default(),
        health: false,
        against,
    };
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
