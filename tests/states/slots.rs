//! State 17: blocks of negative coordinates in the slots of the old formula.

use voxscope::godot::region::Format;
use voxscope::godot::slots::Slots;
use voxscope::repair;
use voxscope::save::Options;

use crate::world::{Land, assert_right, blocks, entries, format, mend, plain, set_entry};

/// A region of negative coordinates, each of its entries in the slot of the old formula.
fn displaced() -> Land {
    let format = Format { region_size: [4; 3], ..format() };
    let mut land = Land::new(format, [-4, -4, -4], [0, 0, 0]);
    let old = entries(land.disk());
    (0..64).for_each(|slot| set_entry(land.disk(), slot, voxscope::godot::region::Entry::default()));
    for (slot, entry) in old {
        let inside = voxscope::godot::slots::position([4; 3], slot).unwrap();
        let lower = inside.map(|n| (n + 3) % 4);
        set_entry(land.disk(), voxscope::godot::slots::index([4; 3], lower).unwrap(), entry);
    }
    land
}

#[test]
fn the_old_formula_when_it_is_given() {
    let land = displaced();
    let source = land.write("world");
    assert_ne!(blocks(&source), land.truth, "an engine of today shows it moved by one");
    let reading = Options { slots: Some(Slots::Old), ..Options::default() };
    let mended = mend(&source, &repair::Options::default(), &reading);
    assert_right(&mended, &land.truth, &[]);
    assert_eq!(mended.blocks.len(), land.truth.len());
    assert!(!mended.plan.leaves_damage());
}

#[test]
fn without_it_nothing_is_moved() {
    let land = displaced();
    let source = land.write("world");
    let mended = plain(&source);
    assert!(mended.plan.changes_nothing());
}
