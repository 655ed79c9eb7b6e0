//! State 17: blocks of negative coordinates in the slots of the old formula.

use std::fs;
use std::path::Path;

use voxscope::demo::{Extent, ForestSpec, write_forest};
use voxscope::godot::region::{Entry, Format};
use voxscope::godot::slots::SlotFormula;
use voxscope::repair;
use voxscope::save::Options;

use super::world::{Blocks, Land, blocks, blocks_as, entries, format, mend, plain, set_entry};

/// A region of negative coordinates, each of its entries in the slot of the old formula.
fn displaced(from: [i32; 3]) -> Land {
    let format = Format { region_size: [4; 3], ..format() };
    let mut land = Land::new(format, from, [0, 0, 0]);
    let old = entries(land.disk());
    (0..64).for_each(|slot| set_entry(land.disk(), slot, Entry::default()));
    for (slot, entry) in old {
        let inside = voxscope::godot::slots::position([4; 3], slot).unwrap();
        let lower = inside.map(|n| (n + 3) % 4);
        set_entry(land.disk(), voxscope::godot::slots::index([4; 3], lower).unwrap(), entry);
    }
    land
}

/// The blocks of a save by the old formula.
fn old_blocks(path: &Path) -> Blocks {
    blocks_as(path, &Options::default().slots(SlotFormula::Legacy))
}

#[test]
fn a_repair_leaves_blocks_in_old_slots() {
    // An engine of that time reads them where they are, and the check has only a note for them.
    let land = displaced([-4; 3]);
    let source = land.write("world");
    assert_eq!(old_blocks(&source), land.truth);
    assert_ne!(blocks(&source), land.truth, "an engine of today shows it moved by one");
    assert!(plain(&source).plan.changes_nothing());
    let given = mend(&land.write("given"), &repair::Options::default(), &Options::default().slots(SlotFormula::Legacy));
    assert!(given.plan.changes_nothing());
}

#[test]
fn a_rebuilt_file_has_the_slots_of_the_save() {
    let dir = tempfile::tempdir().unwrap();
    let spec =
        |slots| ForestSpec { lods: vec![Extent { from: [-9, -2, -9], to: [5, 2, 5] }], slots, ..ForestSpec::default() };
    let [truth, source] = [(SlotFormula::Euclidean, "truth"), (SlotFormula::Legacy, "world")].map(|(slots, name)| {
        let path = dir.path().join(name);
        write_forest(&path, &spec(slots), None).unwrap();
        path
    });
    assert!(plain(&source).plan.changes_nothing());
    assert!(plain(&truth).plan.changes_nothing());

    // One entry of a table is lost.
    let file = fs::read_dir(source.join("regions/lod0")).unwrap().map(|entry| entry.unwrap().path());
    let file = file.filter(|path| path.to_str().unwrap().contains("r.-1.")).min().unwrap();
    let mut bytes = fs::read(&file).unwrap();
    let (slot, _) = entries(&bytes).pop_first().unwrap();
    set_entry(&mut bytes, slot, Entry::default());
    fs::write(&file, bytes).unwrap();
    let damaged = dir.path().join("damaged");
    fs::rename(&source, &damaged).unwrap();
    let mended = plain(&damaged);
    assert!(!mended.plan.changes_nothing() && !mended.plan.leaves_damage());
    assert!(old_blocks(&mended.path) == blocks(&truth), "every block is where the game knew it");
}
