//! Healthy saves in which blocks repeat: neither equal blocks side by side nor slots that never held one are damage.

use rayon::prelude::*;
use voxscope::check::{self, Level};
use voxscope::repair;
use voxscope::save::{Options, Save};

use crate::common::repeating::{Pattern, Repeating};

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
    worlds.par_iter().for_each(|(world, regions)| {
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
