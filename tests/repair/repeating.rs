//! Healthy saves in which blocks repeat: neither equal blocks side by side nor slots that never held one are damage.

use std::fs;

use rayon::prelude::*;
use voxscope::check::{self, Level};
use voxscope::repair;
use voxscope::save::{Options, Save};

use crate::common::damage::TableDamage;
use crate::common::repeating::{Pattern, Repeating};
use crate::common::trees::mend;
use crate::common::writer::Random;
use crate::common::{files_below, sampled};
use crate::least::by_table;

#[test]
fn a_healthy_save_of_repeating_blocks_stays_as_it_is() {
    let (two, four) = (&[[-1, 0, 0], [0, 0, 0]][..], &[[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1]][..]);
    let mut worlds = Vec::new();
    for seed in 1..5 {
        for (pattern, region_size, stored, regions) in [
            (Pattern::Plates, 8, 98, two),
            (Pattern::Columns, 4, 90, four),
            (Pattern::Columns, 8, 10, two),
            (Pattern::Stairs, 8, 98, two),
            (Pattern::Waves, 4, 92, four),
            (Pattern::Waves, 8, 97, two),
        ] {
            worlds.push((Repeating { pattern, region_size, stored, seed }, regions));
        }
    }
    sampled(worlds, 11).par_iter().for_each(|(world, regions)| {
        let dir = tempfile::tempdir().unwrap();
        world.write(dir.path(), regions);
        let save = Save::open(dir.path(), &Options::default()).unwrap();
        let options = check::Options::default().level(Level::Semantic);
        let mut found = Vec::new();
        check::run(&save, &options, |finding| found.push(finding));
        found.retain(|finding| finding.code().level() > voxscope::damage::Level::Note);
        assert!(found.is_empty(), "{world:?}: {} findings, first {}", found.len(), found[0]);
        let plan = repair::plan(&save, &repair::Options::default().likely(true)).unwrap();
        assert!(plan.changes_nothing(), "{world:?}");
    });
}

/// A fifth of all blocks was never stored, and a third of the entries is lost: their slots look the same, and many blocks of air fit
/// either. Nothing but the number of these tells how many slots hold one.
#[test]
fn air_is_not_certain_where_slots_may_have_held_no_block() {
    let found: Vec<(usize, usize)> = (1..6)
        .into_par_iter()
        .map(|seed| {
            let dir = tempfile::tempdir().unwrap();
            let (healthy, damaged, copy) =
                (dir.path().join("healthy"), dir.path().join("damaged"), dir.path().join("copy"));
            let world = Repeating { pattern: Pattern::Hills, region_size: 8, stored: 80, seed };
            for save in [&healthy, &damaged] {
                world.write(save, &[[-1, 0, 0], [0, 0, 0]]);
            }
            let mut random = Random::new(seed);
            for path in files_below(&damaged.join("regions")) {
                let mut file = fs::read(&path).unwrap();
                TableDamage::Run.apply(&mut file, &mut random);
                fs::write(path, file).unwrap();
            }
            mend(&damaged, &copy, false);
            let (before, after, listed) = (by_table(&healthy), by_table(&copy), by_table(&damaged));
            assert!(
                listed.iter().all(|(at, block)| after.get(at) == Some(block)),
                "seed {seed}: a listed block is lost"
            );
            let moved = after.iter().filter(|(at, _)| !listed.contains_key(*at));
            let (right, wrong): (Vec<_>, Vec<_>) = moved.partition(|(at, block)| before.get(*at) == Some(*block));
            let uniform = before.values().map(Vec::len).min().unwrap();
            for (at, block) in &wrong {
                assert!(block.len() > uniform, "seed {seed}: {at:?} holds a block of one value and held none");
            }
            (right.len(), wrong.len())
        })
        .collect();
    let (right, wrong) = found.iter().fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
    assert!(right >= 50 && wrong * 25 <= right, "right and wrong: {found:?}");
}
