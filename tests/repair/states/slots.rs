//! State 17: blocks of negative coordinates in the slots of the old formula.

use voxscope::demo::{Extent, ForestSpec, write_forest};
use voxscope::godot::region::Format;
use voxscope::godot::slots::SlotFormula;
use voxscope::recover::slots::infer_formula;
use voxscope::repair;
use voxscope::save::{Options, Save};

use super::world::{Land, assert_right, blocks, entries, format, mend, plain, set_entry};
use crate::common::damage::TableDamage;
use crate::common::writer::Random;
use crate::common::{copy_dir, files_below, golden};

/// A region of negative coordinates, each of its entries in the slot of the old formula.
fn displaced(from: [i32; 3]) -> Land {
    let format = Format { region_size: [4; 3], ..format() };
    let mut land = Land::new(format, from, [0, 0, 0]);
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
    let land = displaced([-4; 3]);
    let source = land.write("world");
    assert_ne!(blocks(&source), land.truth, "an engine of today shows it moved by one");
    let reading = Options::default().slots(SlotFormula::Legacy);
    let mended = mend(&source, &repair::Options::default(), &reading);
    assert_right(&mended, &land.truth, &[]);
    assert_eq!(mended.blocks.len(), land.truth.len());
    assert!(!mended.plan.leaves_damage());
}

#[test]
fn without_it_few_blocks_are_not_moved() {
    let land = displaced([-1; 3]);
    let mended = plain(&land.write("world"));
    assert!(mended.plan.changes_nothing());
}

#[test]
fn without_it_a_full_region_tells_by_itself() {
    let land = displaced([-4; 3]);
    let mended = plain(&land.write("world"));
    assert_right(&mended, &land.truth, &[]);
    assert!(!mended.plan.leaves_damage());
}

#[test]
fn the_old_formula_when_the_seams_leave_no_doubt() {
    let dir = tempfile::tempdir().unwrap();
    let spec =
        |slots| ForestSpec { lods: vec![Extent { from: [-9, -2, -9], to: [5, 2, 5] }], slots, ..ForestSpec::default() };
    let [truth, source] = [(SlotFormula::Euclidean, "truth"), (SlotFormula::Legacy, "world")].map(|(slots, name)| {
        let path = dir.path().join(name);
        write_forest(&path, &spec(slots), None).unwrap();
        path
    });
    let mended = plain(&source);
    assert!(mended.blocks == blocks(&truth), "every block is where the game knew it");
    assert!(plain(&truth).plan.changes_nothing());
}

/// Six of nine entries of each region file are exchanged, so that most seams are broken under the new formula.
#[test]
#[ignore = "reads the full set, which VOXSCOPE_GOLDEN names"]
fn exchanged_entries_of_small_regions_do_not_show_the_old_formula() {
    let random = &mut Random::new(1);
    for case in ["power_loss/a7/world", "power_loss/a8/world"] {
        for _ in 0..4 {
            let dir = tempfile::tempdir().unwrap();
            copy_dir(golden(case), dir.path());
            for path in files_below(&dir.path().join("regions")) {
                let mut file = std::fs::read(&path).unwrap();
                (0..3).for_each(|_| drop(TableDamage::Swaps.apply(&mut file, random)));
                std::fs::write(&path, file).unwrap();
            }
            let save = Save::open(dir.path(), &Options::default()).unwrap();
            let evidence = infer_formula(&save, &save.forests[0], &|| false);
            assert_ne!(evidence.slots(), Some(SlotFormula::Legacy), "{case}: {evidence:?}");
        }
    }
}
