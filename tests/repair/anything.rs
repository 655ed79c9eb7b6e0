//! Whatever is done to the bytes of a forest: its copy is clean, loses nothing that is whole, and is repaired into itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use voxscope::demo::{Extent, ForestSpec, Terrain};
use voxscope::godot::container::Mode;
use voxscope::repair;
use voxscope::save::{Options, Save, Scratch};

use crate::common::sampled;
use crate::common::writer::Random;
use crate::{ABSENT, content, findings, mend, nothing_lost, tree, worded};

fn spoil(bytes: &mut Vec<u8>, random: &mut Random) {
    if bytes.is_empty() {
        return;
    }
    let at = random.below(bytes.len());
    let reach = random.below(12);
    let len = 1 + random.below(1 << reach);
    let end = (at + len).min(bytes.len());
    match random.below(9) {
        0 => bytes.truncate(at),
        1 => bytes[at..end].fill(0),
        2 => bytes[at..end].iter_mut().for_each(|b| *b = random.next() as u8),
        3 => bytes[at] ^= 1 << random.below(8),
        4 => drop(bytes.splice(at..at, vec![0x5a; len])),
        5 => drop(bytes.drain(at..end)),
        6 => {
            let copy = bytes[at..end].to_vec();
            let to = random.below(bytes.len() - copy.len() + 1);
            bytes[to..to + copy.len()].copy_from_slice(&copy);
        }
        // The header and the table.
        7 => {
            let at = random.below(bytes.len().min(276));
            bytes[at] = random.next() as u8;
        }
        _ => {
            let slot = 20 + 4 * random.below(64);
            let word = (random.below(60) as u32) << 8 | random.below(14) as u32;
            if let Some(to) = bytes.get_mut(slot..slot + 4) {
                to.copy_from_slice(&word.to_le_bytes());
            }
        }
    }
}

fn write(dir: &Path, files: &BTreeMap<PathBuf, Vec<u8>>) {
    for (name, bytes) in files {
        fs::create_dir_all(dir.join(name).parent().unwrap()).unwrap();
        fs::write(dir.join(name), bytes).unwrap();
    }
}

fn positions(path: &Path) -> BTreeSet<(u8, [i32; 3])> {
    let save = Save::open(path, &Options::default()).unwrap();
    let mut all = BTreeSet::new();
    for (forest, file) in save.regions() {
        let Some(mut region) = save.region(forest, file).unwrap() else { continue };
        let slots = region.slots(&mut Scratch::default()).unwrap();
        all.extend(region.entries.iter().map(|l| (file.lod, region.block_position(l.slot, slots).unwrap())));
    }
    all
}

/// Positions that a repair with a healthy backup leaves without a block.
fn lacking(source: &Path, healthy: &BTreeMap<PathBuf, Vec<u8>>, backup: &Path) -> Vec<(u8, [i32; 3])> {
    write(backup, healthy);
    let (save, old) = [source, backup].map(|path| Save::open(path, &Options::default()).unwrap()).into();
    let to = backup.with_extension("copy");
    repair::run(&save, &to, &repair::Options::default().backup(&old)).unwrap();
    assert_eq!(findings(&to), (0, 0), "{}", source.display());
    positions(backup).difference(&positions(&to)).copied().collect()
}

#[test]
fn anything_at_all() {
    let seeds: u64 = std::env::var("SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let healthy: Vec<BTreeMap<PathBuf, Vec<u8>>> = [(Mode::Lz4, 3, 4), (Mode::Plain, 3, 4), (Mode::Lz4, 2, 2)]
        .into_iter()
        .map(|(mode, region_version, block_version)| {
            let terrain = Terrain { reach: 4.0, ..Terrain::new(1) };
            let lods = vec![Extent { from: [-1, 0, 0], to: [2, 3, 2] }, Extent { from: [0; 3], to: [1; 3] }];
            let slots =
                if block_version < 4 { voxscope::godot::slots::SlotFormula::Legacy } else { Default::default() };
            let sector_size = 2048;
            let spec = ForestSpec {
                terrain,
                lods,
                mode,
                region_version,
                block_version,
                slots,
                sector_size,
                ..ForestSpec::default()
            };
            spec.build().unwrap()
        })
        .collect();
    let mut failures = Vec::new();
    for seed in sampled(0..seeds, 2) {
        let random = &mut Random::new(seed);
        let healthy = &healthy[random.below(healthy.len())];
        let mut files = healthy.clone();
        let names: Vec<PathBuf> = files.keys().cloned().collect();
        for _ in 0..1 + random.below(4) {
            let name = &names[random.below(names.len())];
            spoil(files.get_mut(name).unwrap(), random);
        }
        let dir = tempfile::tempdir().unwrap();
        let source = dir.path().join("world");
        write(&source, &files);
        let before = tree(&source, true);
        let [to, again] = ["copy", "again"].map(|name| dir.path().join(name));
        let outcome = mend(&source, &to, false);
        let words = repair::words(&outcome.plan);
        assert!(tree(&source, true) == before, "{seed}: the source was altered");
        assert!(nothing_lost(&source, &to), "{seed}: {words:?}");
        // Regions of version 2 cannot be read without their meta file.
        let readable = Save::open(&to, &Options::default()).is_ok_and(|s| s.forests.iter().any(|f| f.format.is_some()));
        // A copy says that it has no block, or none of a LOD, if all were lost.
        let left = worded(&to, &ABSENT);
        if readable && !left.is_empty() {
            failures.push(format!("{seed}: {words:?} {left:?}"));
        }
        if seed % 4 == 0 {
            let lacking = lacking(&source, healthy, &dir.path().join("backup"));
            if !lacking.is_empty() {
                failures.push(format!("{seed}: {words:?} with a backup lacks {lacking:?}"));
            }
        }
        let second = mend(&to, &again, false);
        if content(&to) != content(&again) {
            failures.push(format!("{seed}: {words:?}, then {:?}", repair::words(&second.plan)));
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}
