//! Repair of pak regions and voxel maps: what is exact is put right, what is not lies in `lost+found`, and nothing else
//! is touched.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use std::collections::BTreeMap;

use common::trees::{content, mend_twice, trouble};
use voxscope::damage::Code;
use voxscope::demo;
use voxscope::save::{Options, Save};

/// Samples whose copy still has something to say, and why it must.
const LEFT: &[(&str, &[Code])] = &[
    // Another version is nothing that the file tells; the chunks are whole.
    ("pak-version", &[Code::PakVersion]),
    // The chunks are whole, and nothing says what shape they have.
    ("pak-shape", &[Code::PakShape]),
    // More than is read: it may be whole.
    ("pak-bomb", &[Code::OverLimit]),
    // Which place the file has, only who moved it knows.
    ("pak-place", &[Code::PakPlace]),
    // Nothing but the description has the step of the cells.
    ("map-field", &[Code::MapField]),
    // Another word may be that of a newer exporter; put right at `--level likely`.
    ("map-format", &[Code::MapFormat]),
    // Voxels are data: they are copied as they are.
    ("map-beyond-dim", &[Code::MapBeyondDim]),
    ("map-flag-unknown", &[Code::MapFlagUnknown]),
    ("map-water-depth", &[Code::MapWaterDepth]),
    ("map-packed-depth", &[Code::MapWaterDepth]),
];

#[test]
fn every_damaged_pak_and_map_of_the_demo_gets_a_clean_copy() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("demo");
    let mut left = BTreeMap::new();
    let (mut mended, mut all) = (0, 0);
    for sample in demo::write_all(&root).unwrap().iter().filter(|sample| !sample.healthy) {
        let source = root.join(sample.path());
        let Ok(save) = Save::open(&source, &Options::default()) else { continue };
        if save.rooms.is_empty() && save.maps.is_empty() {
            continue;
        }
        all += 1;
        let damaged = !trouble(&source).is_empty();
        let (outcome, _) = mend_twice(&source, &dir.path().join(sample.name), false);
        let codes = trouble(&dir.path().join(sample.name));
        mended += usize::from(damaged && codes.is_empty());
        assert!(damaged || outcome.plan.changes_nothing(), "{}: healthy", sample.name);
        if !codes.is_empty() {
            left.insert(sample.name, codes);
        }
    }
    let expected: BTreeMap<&str, Vec<Code>> = LEFT.iter().map(|(name, codes)| (*name, codes.to_vec())).collect();
    assert_eq!(left, expected);
    println!("{mended} mended of {all}");
    assert!(mended > 25, "{mended} of {all}");
}

#[test]
fn every_healthy_pak_and_map_of_the_demo_is_copied_byte_by_byte() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("demo");
    let mut seen = 0;
    for sample in demo::write_all(&root).unwrap().iter().filter(|sample| sample.healthy) {
        let source = root.join(sample.path());
        let save = Save::open(&source, &Options::default()).unwrap();
        if save.rooms.is_empty() && save.maps.is_empty() {
            continue;
        }
        seen += 1;
        let to = dir.path().join(sample.name);
        let (outcome, _) = mend_twice(&source, &to, true);
        assert!(outcome.plan.changes_nothing(), "{}", sample.name);
        assert_eq!(content(&source), content(&to), "{}", sample.name);
    }
    assert!(seen > 6, "{seen}");
}
