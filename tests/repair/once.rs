//! A check and the plans of one save solve its regions once.

use voxscope::check;
use voxscope::recover::solutions::Solutions;
use voxscope::repair;
use voxscope::save::{Options, Save};

use crate::common::golden;

#[test]
fn a_check_and_plans_share_what_was_solved() {
    for name in ["crash_terrain/t1/world", "crash_noise/mixed_1/world", "two_writers/w1/world"] {
        let save = Save::open(&golden(name), &Options::default()).unwrap();
        let alone = repair::plan_both(&save, &repair::Options::default()).unwrap();
        let solutions = Solutions::default();
        let options = check::Options::default().level(check::Level::Semantic).solutions(&solutions);
        check::run(&save, &options, drop);
        let kept = format!("{solutions:?}");
        assert!(kept.contains("clusters: 1,"), "{kept}");
        let shared = repair::plan_both(&save, &repair::Options::default().solutions(&solutions)).unwrap();
        assert_eq!(format!("{solutions:?}"), kept, "{name}: the plan solved other regions than the check");
        assert_eq!(format!("{shared:?}"), format!("{alone:?}"), "{name}");
    }
}
