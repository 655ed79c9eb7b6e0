//! Saves of the real engine whose disk was full, and that two engines wrote to at once: nothing of them is gone, and nothing
//! stands where it was never saved.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use voxscope::damage::Code;
use voxscope::repair;
use voxscope::save::{Options, Save};

use crate::common::damage::table_at;
use crate::common::trees::trouble;
use crate::common::truth::{Signature, placed, truth};
use crate::common::{copy_dir, directories, golden};
use crate::{contents_of, findings, mend, tree, whole_blocks};

/// Every state of each block that files of a case list.
fn saved_states(case: &Path, saved: &[&str]) -> HashMap<[i32; 3], HashSet<Signature>> {
    let mut states: HashMap<[i32; 3], HashSet<Signature>> = HashMap::new();
    for (position, state) in saved.iter().flat_map(|name| truth(&case.join(name))) {
        states.entry(position).or_default().insert(state);
    }
    states
}

fn judge(case: &Path, saved: &[&str]) {
    let states = saved_states(case, saved);
    let dir = tempfile::tempdir().unwrap();
    let source = case.join("world");
    let before = tree(&source, true);
    for likely in [false, true] {
        let to = dir.path().join(if likely { "likely" } else { "certain" });
        let outcome = mend(&source, &to, likely);
        assert_eq!(tree(&source, true), before);
        assert_eq!(findings(&to), (0, 0));
        let kept = contents_of(&to);
        let save = Save::open(&source, &Options::default()).unwrap();
        let mut whole = 0;
        for (forest, file) in save.regions() {
            for plain in whole_blocks(&save, forest, file) {
                whole += 1;
                assert!(kept.contains(&plain), "{}: a whole block is gone", file.name.display());
            }
        }
        assert!(whole > 30, "{whole}");
        if likely {
            continue;
        }
        let placed = placed(&to);
        for ((_, position), found) in &placed {
            let known = states.get(position).is_some_and(|states| states.contains(found));
            assert!(known, "{position:?} was never saved like that: {:?}", repair::words(&outcome.plan));
        }
        println!("{}: {} of {} positions", case.display(), placed.len(), states.len());
    }
}

#[test]
fn a_full_disk() {
    judge(&golden("disk_full/f1"), &["saved.jsonl"]);
}

/// The checker says that the block goes to lost+found, and where it probably belongs.
#[test]
fn a_block_whose_position_is_only_likely_is_set_aside_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let source = golden("disk_full/f1").join("world");
    let outcome = mend(&source, &dir.path().join("certain"), false);
    let lost: Vec<_> = outcome.plan.regions.iter().flat_map(|region| &region.lost).collect();
    let likely = lost.iter().find(|block| block.sector == 128).expect("the unowned block of the finding");
    assert!(matches!(likely.candidates.first(), Some(([6, 2, 2], p)) if *p > 0.98), "{:?}", likely.candidates);
    assert_eq!(findings(&dir.path().join("certain")), (0, 0));
}

#[test]
fn two_writers() {
    judge(&golden("two_writers/w1"), &["saved_10.jsonl", "saved_11.jsonl"]);
}

#[test]
fn a_copy_with_likely_places_is_clean_and_is_not_repaired_again() {
    let cases: Vec<PathBuf> = fs::read_dir(golden("power_loss")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let cases: Vec<PathBuf> = cases.into_iter().filter(|case| case.join("world").is_dir()).collect();
    assert!(!cases.is_empty());
    for case in cases {
        let dir = tempfile::tempdir().unwrap();
        let (to, again) = (dir.path().join("copy"), dir.path().join("again"));
        mend(&case.join("world"), &to, true);
        assert_eq!(findings(&to), (0, 0), "{}", case.display());
        assert!(mend(&to, &again, true).plan.changes_nothing(), "{}", case.display());
    }
}

/// The table of such a region puts other blocks at its borders, so the borders show the name only after its blocks are placed.
#[test]
fn exchanged_names_of_a_killed_game_are_put_right_at_once() {
    for case in directories(&golden("crash_terrain")) {
        let dir = tempfile::tempdir().unwrap();
        let source = dir.path().join("world");
        copy_dir(case.join("world"), &source);
        let [one, other, away] =
            ["r.0.0.0.vxr", "r.0.0.-1.vxr", "away"].map(|name| source.join("regions/lod0").join(name));
        for (from, to) in [(&one, &away), (&other, &one), (&away, &other)] {
            fs::rename(from, to).unwrap();
        }
        let (copy, again) = (dir.path().join("copy"), dir.path().join("again"));
        mend(&source, &copy, false);
        assert!(mend(&copy, &again, false).plan.changes_nothing(), "{}", case.display());
    }
}

/// The empty entries make the solver place blocks by seams; it must then also find the two that were exchanged.
#[test]
fn exchanged_entries_beside_lost_ones_are_found_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("world");
    copy_dir(golden("crash_terrain/t1/world"), &source);
    let path = source.join("regions/lod0/r.0.0.0.vxr");
    let mut file = fs::read(&path).unwrap();
    let table = table_at(&file);
    let entries = file[table].as_chunks_mut::<4>().0;
    entries.swap(16, 529);
    (entries[0], entries[528]) = ([0; 4], [0; 4]);
    fs::write(&path, file).unwrap();
    let (copy, again) = (dir.path().join("copy"), dir.path().join("again"));
    mend(&source, &copy, false);
    assert!(mend(&copy, &again, false).plan.changes_nothing());
}

/// The other entries are still in a row. What they lead to is no sign that they are right: blocks moved since the table was written.
#[test]
fn a_few_changed_entries_leave_the_other_blocks_of_a_killed_game_in_place() {
    type Change = fn(&mut [[u8; 4]]);
    let changes: [(&str, Change); 2] = [
        ("a block behind the end", |entries| entries[entries.len() / 3][3] ^= 0x80),
        ("two lost entries", |entries| {
            let (one, other) = (entries.len() / 3, entries.len() * 2 / 3);
            (entries[one], entries[other]) = ([0; 4], [0; 4]);
        }),
    ];
    for (case, region) in [("crash_random/r3", "r.0.0.0.vxr"), ("crash_sizes/bs8_rs8_s128_rand_2", "r.-1.-1.-1.vxr")] {
        let dir = tempfile::tempdir().unwrap();
        mend(&golden(case).join("world"), &dir.path().join("right"), false);
        let right = placed(&dir.path().join("right"));
        for (name, change) in changes {
            let [source, copy] = ["world", "copy"].map(|part| dir.path().join(format!("{name} {part}")));
            copy_dir(golden(case).join("world"), &source);
            let path = source.join("regions/lod0").join(region);
            let mut file = fs::read(&path).unwrap();
            let table = table_at(&file);
            let all = file[table].as_chunks_mut::<4>().0;
            let used: Vec<usize> = (0..all.len()).filter(|&slot| all[slot] != [0; 4]).collect();
            let mut entries: Vec<[u8; 4]> = used.iter().map(|&slot| all[slot]).collect();
            change(&mut entries);
            used.iter().zip(entries).for_each(|(&slot, entry)| all[slot] = entry);
            fs::write(&path, file).unwrap();
            mend(&source, &copy, false);
            let found = placed(&copy);
            let wrong = found.iter().filter(|(at, block)| right.get(*at).is_some_and(|own| own != *block)).count();
            assert_eq!(wrong, 0, "{case}, {name}");
            // What seams alone show beside changed entries is only likely.
            assert!(found.len() * 5 >= right.len() * 4, "{case}, {name}: {} of {}", found.len(), right.len());
        }
    }
}

/// The table is that of one program. Blocks of the other program are between its blocks, and both programs moved blocks.
#[test]
fn blocks_of_one_program_come_back_from_between_those_of_another() {
    let case = golden("two_writers/w1");
    let states = saved_states(&case, &["saved_10.jsonl", "saved_11.jsonl"]);
    for (likely, least) in [(false, 18), (true, 21)] {
        let dir = tempfile::tempdir().unwrap();
        let copy = dir.path().join("copy");
        mend(&case.join("world"), &copy, likely);
        let placed = placed(&copy);
        let right = placed.iter().filter(|((_, position), found)| states[position].contains(*found)).count();
        assert_eq!(right, placed.len(), "likely: {likely}");
        assert!(right >= least, "{right}, likely: {likely}");
    }
}

/// Entries without sectors whose positions are likely for blocks.
#[test]
fn a_position_is_missing_once() {
    let dir = tempfile::tempdir().unwrap();
    let world = dir.path().join("world");
    copy_dir(golden("two_writers/w1/world"), &world);
    let path = world.join("regions/lod0/r.0.0.0.vxr");
    let mut file = fs::read(&path).unwrap();
    let table = table_at(&file);
    for (slot, entry) in file[table].chunks_exact_mut(4).enumerate().step_by(7) {
        if entry == [0; 4] {
            let sector = u32::try_from(slot * 13 % 600).unwrap();
            let count = if slot / 7 % 2 == 0 { 0 } else { 10 };
            entry.copy_from_slice(&(sector << 8 | count).to_le_bytes());
        }
    }
    fs::write(&path, file).unwrap();
    let save = Save::open(&world, &Options::default()).unwrap();
    for plan in repair::plan_both(&save, &repair::Options::default()).unwrap() {
        let missing: Vec<[i32; 3]> =
            plan.regions.iter().flat_map(|region| &region.missing).map(|(at, _)| *at).collect();
        let different: HashSet<[i32; 3]> = missing.iter().copied().collect();
        assert!(missing.len() > 500);
        assert_eq!(missing.len(), different.len());
    }
}

/// The engine has no meta file for regions of one block.
#[test]
fn no_meta_file_is_written_that_is_not_valid() {
    let dir = tempfile::tempdir().unwrap();
    let (world, copy, again) = (dir.path().join("world"), dir.path().join("copy"), dir.path().join("again"));
    copy_dir(golden("two_writers/w1/world"), &world);
    let path = world.join("regions/lod0/r.0.0.0.vxr");
    let mut file = fs::read(&path).unwrap();
    file[6..9].fill(1);
    fs::write(&path, file).unwrap();
    mend(&world, &copy, false);
    let codes = trouble(&copy);
    assert!(!codes.contains(&Code::MetaField), "{codes:?}");
    assert!(mend(&copy, &again, false).plan.changes_nothing());
}
