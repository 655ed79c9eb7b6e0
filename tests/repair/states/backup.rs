//! Random histories killed at random moments, repaired with the state of the last flush as a backup: what the backup is
//! said to know is right, and what it fills in is its own.

use std::collections::HashMap;
use std::path::Path;

use voxscope::godot::forest::Meta;
use voxscope::repair::{self, Origin};
use voxscope::save::{Options, Save};

use super::world::{blocks, put};
use crate::common::sampled;
use crate::common::terrain::{Ground, Terrain};
use crate::common::trees::tree;
use crate::common::writer::{Content, History, Random};

fn write(dir: &Path, history: &History, disks: &[Vec<u8>]) {
    let format = history.world.files[0].header.format;
    let meta = Meta {
        version: Some(3),
        block_size_po2: Some(format.block_size_po2),
        region_size_po2: Some(3),
        sector_size: Some(format.sector_size),
        depths: Some(format.depths),
        lod_count: None,
        extra: Vec::new(),
    };
    put(&dir.join("meta.vxrm"), &meta.encode());
    for (file, disk) in history.world.files.iter().zip(disks) {
        let [x, y, z] = file.position;
        put(&dir.join(format!("regions/lod0/r.{x}.{y}.{z}.vxr")), disk);
    }
}

#[test]
fn a_backup_tells_nothing_wrong() {
    let (mut matched, mut filled, mut missing, mut wrong) = (0, 0, 0, Vec::new());
    let seeds: u64 = std::env::var("SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(120);
    let seeds = sampled(0..seeds, 2);
    let count = seeds.len();
    for seed in seeds {
        let content =
            [Content::Terrain { smooth: true }, Content::Terrain { smooth: false }, Content::Noise][seed as usize % 3];
        let history = History::random(1000 + seed, content);
        let writes = history.world.writes.len();
        if writes == 0 {
            continue;
        }
        let mut random = Random::new(seed);
        let upto = 1 + random.below(writes);
        let cut = random.below(history.world.writes[upto - 1].bytes.len() + 1);
        let dir = tempfile::tempdir().unwrap();
        let (source, backup, to) = (dir.path().join("world"), dir.path().join("backup"), dir.path().join("copy"));
        write(&backup, &history, &history.flushed);
        write(&source, &history, &history.killed(upto, cut));
        let before = tree(dir.path(), true);
        let [save, old] = [&source, &backup].map(|path| Save::open(path, &Options::default()).unwrap());
        let options = repair::Options::default().backup(&old);
        let outcome = repair::run(&save, &to, &options).unwrap();
        assert!(before.iter().all(|(path, was)| tree(dir.path(), true).get(path) == Some(was)), "a source was altered");
        // What was saved last, and before that, at each position; the save that was going on may or may not count.
        let saves = history.world.writes[upto - 1].saves;
        let mut newest: HashMap<[i32; 3], Vec<&Vec<u8>>> = history.before.iter().map(|(p, b)| (*p, vec![b])).collect();
        for (k, (position, plain)) in history.world.saves[..saves.min(history.world.saves.len())].iter().enumerate() {
            let states = newest.entry(*position).or_default();
            if k + 1 < saves {
                states.clear();
            }
            states.push(plain);
        }
        let copy = blocks(&to);
        for region in &outcome.plan.regions {
            missing += region.missing.iter().filter(|(at, _)| history.before.contains_key(at)).count();
            for decision in &region.blocks {
                let plain = &copy[&decision.position];
                match decision.origin {
                    Origin::Backup => {
                        filled += 1;
                        assert_eq!(Some(plain), history.before.get(&decision.position), "not the backup's");
                    }
                    Origin::Matched => {
                        matched += 1;
                        if !newest.get(&decision.position).is_some_and(|states| states.contains(&plain)) {
                            wrong.push((seed, decision.position));
                        }
                    }
                    _ => {}
                }
            }
        }
        assert_eq!(missing, 0, "the backup has all of them");
    }
    println!("{matched} matched, {filled} filled in");
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(matched * 8 > count && filled * 6 > count * 5, "{matched} {filled} of {count}");
}

#[test]
fn nothing_is_taken_from_a_backup_of_another_world() {
    let dir = tempfile::tempdir().unwrap();
    let [one, other, older] = ["one", "other", "older"].map(|name| dir.path().join(name));
    // The backups have a region that the save lacks.
    for (path, seed, regions) in [(&one, 1, 1), (&other, 2, 2), (&older, 1, 2)] {
        Terrain::small(Ground::Smooth, seed).write(path, &[[0; 3], [1, 0, 0]][..regions]);
    }
    let save = Save::open(&one, &Options::default()).unwrap();
    let compared = |path: &Path| {
        let old = Save::open(path, &Options::default()).unwrap();
        let plan = repair::plan(&save, &repair::Options::default().backup(&old)).unwrap();
        let named = repair::words(&plan).iter().any(|line| line.contains("of another world"));
        let taken = plan.regions.iter().filter(|region| region.action == repair::Action::FromBackup).count();
        (plan.compared.unwrap(), named, taken)
    };
    let (all, named, taken) = compared(&older);
    assert!(all.blocks >= 32 && all.same == all.blocks && !named && taken == 1, "{all:?} {taken}");
    let (none, named, taken) = compared(&other);
    assert!(none.is_of_another_world() && named && taken == 0, "{none:?} {taken}");
}
