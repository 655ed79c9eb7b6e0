//! Large regions of a game that was killed, with a second kind of damage.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use voxscope::damage::{Code, Damage};
use voxscope::save::{Options, Save};

use crate::common::damage::table_at;
use crate::common::killed::{States, kill};
use crate::common::random::Random;
use crate::common::sampled;
use crate::common::terrain::{Ground, Terrain};
use crate::common::truth::{Signature, placed};
use crate::mend;

/// A region of 4,096 blocks of a game that was killed after 100 saves, and what its blocks were.
fn killed(seed: u64) -> (TempDir, PathBuf, States) {
    killed_after(100, seed)
}

fn killed_after(saves: usize, seed: u64) -> (TempDir, PathBuf, States) {
    let dir = tempfile::tempdir().unwrap();
    let save = dir.path().join("save");
    Terrain::new(Ground::Smooth, seed, 4, 16).write(&save, &[[0; 3]]);
    let states = kill(&save, saves, seed);
    let file = save.join("regions/lod0/r.0.0.0.vxr");
    (dir, file, states)
}

/// Repairs a save. Returns how many blocks of the copy are what they were in their places, and the positions of those that were
/// elsewhere. Damaged blocks may decode to something that never was.
fn repaired(file: &Path, states: &States) -> (usize, BTreeSet<[i32; 3]>) {
    let save = file.ancestors().nth(3).unwrap();
    let to = save.with_file_name("copy");
    mend(save, &to, false);
    let known: HashSet<&Signature> = states.values().flatten().collect();
    let (mut right, mut wrong) = (0, BTreeSet::new());
    for ((_, position), state) in placed(&to) {
        if states[&position].contains(&state) {
            right += 1;
        } else if known.contains(&state) {
            wrong.insert(position);
        }
    }
    (right, wrong)
}

/// Fills sectors anywhere behind the table of a region with one byte.
fn damage_sectors(file: &Path, sectors: usize, with: u8, seed: u64) {
    let mut bytes = fs::read(file).unwrap();
    let from = table_at(&bytes).end;
    let mut random = Random::new(seed);
    for _ in 0..sectors {
        let at = from + random.below(bytes.len() - from) / 512 * 512;
        let end = (at + 512).min(bytes.len());
        bytes[at..end].fill(with);
    }
    fs::write(file, &bytes).unwrap();
}

/// Few entries lead to blocks of their length, as if the header had a wrong size.
#[test]
fn the_right_header_of_a_killed_game_is_believed() {
    let kinds = [(1000, 0), (1000, 400), (100, 400), (30, 0), (30, 400)];
    for (seed, (saves, damaged)) in sampled((1..=4).flat_map(|seed| kinds.map(|kind| (seed, kind))), 7) {
        let (_dir, file, _) = killed_after(saves, seed);
        damage_sectors(&file, damaged, 0xff, seed);
        let save = Save::open(file.ancestors().nth(3).unwrap(), &Options::default()).unwrap();
        let (_, region) = save.regions().next().unwrap();
        let is_layout = |damage: &Damage| damage.code == Code::RegionLayout;
        assert!(!region.damage.iter().any(is_layout), "{saves} saves, {damaged} sectors, seed {seed}: {region:?}");
    }
}

/// In a table of few lengths many entries lead to whole blocks of their length that are not theirs.
#[test]
fn entries_that_lead_to_whole_blocks_by_chance_are_not_believed() {
    let (_dir, file, states) = killed(5);
    damage_sectors(&file, 60, 0xff, 5);
    let (_, wrong) = repaired(&file, &states);
    assert!(wrong.len() <= states.len() / 1000, "{wrong:?}");
}

/// A damaged block here and there does not hide the order of the others.
#[test]
fn damaged_blocks_of_a_killed_game_cost_no_other_block() {
    let (_dir, file, states) = killed(7);
    let damaged = 40;
    damage_sectors(&file, damaged, 0, 7);
    let (right, wrong) = repaired(&file, &states);
    assert!(right >= states.len() * 97 / 100 - damaged && wrong.len() <= 4, "{right} right, wrong: {wrong:?}");
}

#[test]
fn exchanged_entries_of_a_killed_game_are_told_by_seams() {
    let (_dir, file, states) = killed(6);
    let mut bytes = fs::read(&file).unwrap();
    let table = table_at(&bytes);
    let entries = bytes[table].as_chunks_mut::<4>().0;
    let mut random = Random::new(6);
    for _ in 0..20 {
        let (a, b) = (random.below(entries.len()), random.below(entries.len()));
        entries.swap(a, b);
    }
    fs::write(&file, &bytes).unwrap();
    let (right, wrong) = repaired(&file, &states);
    // Deep in the ground blocks look alike.
    assert!(right >= 3900 && wrong.len() <= 10, "{right} right, wrong: {wrong:?}");
}
