//! Entries of small real saves that were exchanged in pairs: they are put right where the borders leave no doubt, and nothing
//! else is moved.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use voxscope::godot::region::Entry;
use voxscope::repair;

use crate::common;
use crate::common::damage::{TableDamage, entries};
use crate::common::random::Random;
use crate::mend;
use crate::states::world::{Blocks, blocks, set_entry};

/// The region files of LOD 0.
fn regions(world: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        fs::read_dir(world.join("regions/lod0")).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.retain(|path| entries(&fs::read(path).unwrap()).iter().any(|entry| *entry != Entry::default()));
    all.sort();
    all
}

/// A healthy save: what is certain of one of a game that was killed.
fn healthy(case: &str, world: &Path) {
    mend(&common::golden(case).join("world"), world, false);
    fs::remove_file(world.join("repair.json")).unwrap();
    let lost = world.join("lost+found");
    if lost.exists() {
        fs::remove_dir_all(lost).unwrap();
    }
}

/// What became of a damaged save: the blocks of the healthy one, those of the damaged one and those of the copy.
struct Outcome {
    truth: Blocks,
    damaged: Blocks,
    copy: Blocks,
}

impl Outcome {
    fn of(case: &str, mut damage: impl FnMut(&mut Vec<u8>, &Path)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let [world, to] = ["world", "copy"].map(|name| dir.path().join(name));
        healthy(case, &world);
        let truth = blocks(&world);
        for path in regions(&world) {
            let mut bytes = fs::read(&path).unwrap();
            damage(&mut bytes, &path);
            fs::write(&path, bytes).unwrap();
        }
        let damaged = blocks(&world);
        let copy = if mend(&world, &to, false).plan.changes_nothing() { blocks(&world) } else { blocks(&to) };
        Self { truth, damaged, copy }
    }

    /// Blocks that were not in their places, and how many of them are there again.
    fn back(&self) -> (usize, usize) {
        let hit = || self.truth.iter().filter(|(at, block)| self.damaged.get(*at) != Some(*block));
        (hit().count(), hit().filter(|(at, block)| self.copy.get(*at) == Some(*block)).count())
    }

    /// Nothing is wrong that was not so before, and next to nothing that was right is lost: a block whose neighbours are all in
    /// wrong places may look like one of them. Of blocks that differ in their metadata alone the voxels may be there without it.
    fn assert_no_worse(&self, case: &str) {
        let is_lost = |(at, block): &(&[i32; 3], &Vec<u8>)| {
            self.damaged.get(*at) == Some(*block) && self.copy.get(*at) != Some(*block)
        };
        let lost: Vec<_> = self.truth.iter().filter(is_lost).map(|(at, _)| at).collect();
        assert!(lost.len() * 100 <= self.truth.len(), "{case}: {lost:?} are lost");
        for (at, block) in &self.copy {
            let truth = self.truth.get(at);
            let voxels = &block[..block.len() - EPILOGUE.min(block.len())];
            let without_metadata = !voxels.is_empty() && truth.is_some_and(|truth| truth.starts_with(voxels));
            let known = without_metadata || truth == Some(block) || self.damaged.get(at) == Some(block);
            assert!(known, "{case}: {at:?} is wrong");
        }
    }
}

/// The bytes at the end of a block, behind its metadata.
const EPILOGUE: usize = 4;

const CASES: [&str; 3] = ["crash_terrain/t1", "crash_sizes/bs16_rs8_s256_self_2", "crash_sizes/bs8_rs8_s128_rand_2"];

#[test]
fn exchanged_entries_are_found_by_both_places() {
    let (mut all, mut right) = (0, 0);
    for case in CASES {
        for seed in 1..=3 {
            let mut random = Random::new(seed);
            let outcome = Outcome::of(case, |bytes, _| {
                TableDamage::Swaps.apply(bytes, &mut random);
            });
            outcome.assert_no_worse(case);
            let (hit, back) = outcome.back();
            (all, right) = (all + hit, right + back);
        }
    }
    // Few of these saves are in the repository, and they are small.
    assert!(all > 40 && right * 2 > all, "{right} of {all}");
}

/// Of a game that was killed, the order of the sectors places the blocks of a region. It says nothing against entries that lead to whole
/// blocks and were exchanged: seams do, and not in a second repair only.
#[test]
fn a_second_repair_finds_no_entries_that_were_exchanged_in_a_save_of_a_killed_game() {
    for case in CASES {
        let dir = tempfile::tempdir().unwrap();
        let names: Vec<PathBuf> = regions(&common::golden(case).join("world"));
        for (seed, name) in (1..=3).flat_map(|seed| names.iter().map(move |name| (seed, name))) {
            let [world, to] = ["world", "copy"].map(|part| dir.path().join(format!("{seed}{part}")));
            let from = common::golden(case).join("world");
            common::copy_dir(&from, &world);
            let path = world.join(name.strip_prefix(&from).unwrap());
            let mut bytes = fs::read(&path).unwrap();
            let listed = entries(&bytes);
            let used: Vec<usize> = (0..listed.len()).filter(|&slot| listed[slot] != Entry::default()).collect();
            let mut random = Random::new(seed);
            let pair = [0; 2].map(|_| used[random.below(used.len())]);
            set_entry(&mut bytes, pair[0] as u32, listed[pair[1]]);
            set_entry(&mut bytes, pair[1] as u32, listed[pair[0]]);
            fs::write(&path, bytes).unwrap();
            mend(&world, &to, false);
            let save = voxscope::save::Save::open(&to, &voxscope::save::Options::default()).unwrap();
            let again = repair::plan(&save, &repair::Options::default()).unwrap();
            assert!(again.changes_nothing(), "{case}, seed {seed}, {pair:?} of {}", path.display());
            for part in [world, to] {
                fs::remove_dir_all(part).unwrap();
            }
        }
    }
}

#[test]
fn the_report_says_that_entries_were_exchanged() {
    let dir = tempfile::tempdir().unwrap();
    let world = dir.path().join("world");
    healthy(CASES[0], &world);
    let path = world.join("regions/lod0/r.0.0.0.vxr");
    let mut bytes = fs::read(&path).unwrap();
    let of: BTreeMap<u32, Entry> = (0..).zip(entries(&bytes)).filter(|(_, entry)| *entry != Entry::default()).collect();
    // The lowest and the highest block.
    let [first, last] = [of.first_key_value(), of.last_key_value()].map(|of| of.unwrap());
    set_entry(&mut bytes, *first.0, *last.1);
    set_entry(&mut bytes, *last.0, *first.1);
    fs::write(&path, bytes).unwrap();
    let plan = mend(&world, &dir.path().join("copy"), false).plan;
    let said = repair::words(&plan).join("\n");
    assert!(said.contains("its table leads to blocks of other positions"), "{said}");
    assert!(said.contains("2 had entries of other positions"), "{said}");
}
