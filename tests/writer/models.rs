//! The models themselves: full regions are healthy, and each kind of damage does what it says.

use std::collections::BTreeSet;

use voxscope::check;
use voxscope::damage::Level;
use voxscope::save::{Options, Save, Scratch};

use crate::common::damage::{FileDamage, TableDamage, entries, header};
use crate::common::terrain::{Ground, Terrain};
use crate::common::writer::Random;

#[test]
fn full_regions_are_healthy_and_hold_every_block() {
    for ground in [Ground::Smooth, Ground::Blocky] {
        for seed in [1, 2] {
            let dir = tempfile::tempdir().unwrap();
            let terrain = Terrain::small(ground, seed);
            let regions = [[0, 0, 0], [-1, 0, 0]];
            terrain.write(dir.path(), &regions);
            let save = Save::open(dir.path(), &Options::default()).unwrap();
            let mut scratch = Scratch::default();
            let mut contents = BTreeSet::new();
            for (forest, file) in save.regions() {
                let mut region = save.region(forest, file).unwrap().unwrap();
                assert_eq!(region.entries.len(), 512);
                let slots = region.slots(&mut scratch).unwrap();
                for listed in region.entries.clone() {
                    let position = region.block_position(listed.slot, slots).unwrap();
                    let plain = region.view(listed.entry, &mut scratch).unwrap().container.unwrap().plain.to_vec();
                    assert!(plain == terrain.block(position), "{ground:?} {seed} {position:?}");
                    contents.insert(plain);
                }
            }
            // Sky and deep rock are alike; the ground is not.
            assert!(contents.len() > 200, "{ground:?} {seed}: {}", contents.len());
            let mut found = Vec::new();
            let options = check::Options::default().level(check::Level::Semantic);
            check::run(&save, &options, |finding| {
                found.extend((finding.level() > Level::Note).then(|| finding.to_string()));
            });
            assert_eq!(found, [""; 0], "{ground:?} {seed}");
        }
    }
}

#[test]
fn each_kind_of_damage_to_a_table_changes_what_it_says() {
    let healthy = Terrain::small(Ground::Smooth, 1).region([0; 3]);
    for kind in TableDamage::ALL {
        for seed in 0..5 {
            let mut file = healthy.clone();
            let hit = kind.apply(&mut file, &mut Random::new(seed));
            let (old, new) = (entries(&healthy), entries(&file));
            let changed: Vec<u32> = (0..512).filter(|&slot| old[slot as usize] != new[slot as usize]).collect();
            assert_eq!(hit, changed, "{kind:?}");
            let at = header(&healthy).table;
            assert!(file[at.end as usize..] == healthy[at.end as usize..], "{kind:?}: only the table");
            let count = match kind {
                TableDamage::One => 1..2,
                TableDamage::Tenth => 51..52,
                TableDamage::Third => 153..154,
                TableDamage::Run => 170..171,
                TableDamage::Flips => 3..4,
                TableDamage::Swaps => 102..103,
                TableDamage::Page | TableDamage::All => 512..513,
                TableDamage::Garbage => 500..513,
                TableDamage::Slide => 0..512,
            };
            assert!(count.contains(&hit.len()), "{kind:?}: {}", hit.len());
            assert_eq!(kind.apply(&mut healthy.clone(), &mut Random::new(seed)), hit, "the same for the same seed");
        }
    }
}

#[test]
fn each_kind_of_damage_to_a_file_names_the_blocks_that_it_costs() {
    let healthy = Terrain::small(Ground::Smooth, 1).region([0; 3]);
    let mut kinds = FileDamage::ALL.to_vec();
    kinds.dedup();
    assert_eq!(kinds.len(), FileDamage::ALL.len());
    for kind in kinds {
        let mut file = healthy.clone();
        let lost = kind.apply(&mut file, &mut Random::new(7));
        assert!(file != healthy, "{kind:?}");
        let entries = entries(&healthy);
        let stored = |slot: u32| {
            let start = header(&healthy).sector_span(entries[slot as usize].first().into(), 1).start as usize;
            let size = u32::from_le_bytes(healthy[start..start + 4].try_into().unwrap()) as usize;
            &healthy[start..start + 4 + size]
        };
        // What is not named is in the file, to the byte.
        let whole = |slot: u32| file.windows(stored(slot).len()).any(|bytes| bytes == stored(slot));
        for slot in (0..512).step_by(37).filter(|slot| !lost.contains(slot)) {
            assert!(whole(slot), "{kind:?} {slot}");
        }
        let most = match kind {
            FileDamage::Flips | FileDamage::PageZeroed | FileDamage::TailCut => 200,
            FileDamage::BytesWithin | FileDamage::CutWithin => 2,
            _ => 0,
        };
        assert!(lost.len() <= most, "{kind:?}: {lost:?}");
    }
}
