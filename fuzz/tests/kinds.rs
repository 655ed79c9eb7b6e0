//! Every kind of damage occurs and is reported without any fuzzing: numbered models, a few hundred of each target.

use voxscope_fuzz::oracles::{ALL, Reach};

/// Models of each kind; `VOXSCOPE_FUZZ_MODELS` asks for more.
fn models() -> u64 {
    std::env::var("VOXSCOPE_FUZZ_MODELS").ok().and_then(|n| n.parse().ok()).unwrap_or(40)
}

/// Whether a target is asked for: `VOXSCOPE_FUZZ_TARGET` is a part of the names of those that are, all without it.
fn is_asked_for(name: &str) -> bool {
    std::env::var("VOXSCOPE_FUZZ_TARGET").map_or(true, |part| name.contains(&part))
}

/// Bytes by number.
fn choices(kind: usize, mut state: u64) -> Vec<u8> {
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let n = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let n = (n ^ n >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (n ^ n >> 31) as u8
    };
    let mut input = vec![kind as u8];
    input.extend((0..160).map(|_| next()));
    input
}

#[test]
fn every_kind_of_damage_is_met_and_told() {
    let mut failures = Vec::new();
    for target in ALL.iter().filter(|target| is_asked_for(target.name)) {
        for (kind, name) in (target.kinds)().into_iter().enumerate() {
            let mut met = 0;
            for number in 0..models() {
                let input = choices(kind + 1, number << 20 | kind as u64);
                match std::panic::catch_unwind(|| (target.check)(&input)) {
                    Ok(Reach::Content) => met += 1,
                    Ok(_) => {}
                    Err(_) => {
                        failures.push(format!("{}: {name}, model {number}", target.name));
                        break;
                    }
                }
            }
            let failed = failures.last().is_some_and(|last| last.starts_with(target.name) && last.contains(name));
            assert!(met > 0 || failed, "{}: no model has {name}", target.name);
        }
    }
    assert!(failures.is_empty(), "{} kinds failed:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn models_without_damage_are_healthy() {
    for target in ALL.iter().filter(|target| is_asked_for(target.name) && !(target.kinds)().is_empty()) {
        for number in 0..models() {
            let reach = (target.check)(&choices(0, number << 20));
            assert_eq!(reach, Reach::Healthy, "{}, model {number}", target.name);
        }
    }
}

#[test]
fn kinds_have_names_of_their_own() {
    for target in ALL {
        let mut names = (target.kinds)();
        assert_eq!(names.is_empty(), !target.name.ends_with("_built"), "{}", target.name);
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "{}: a name twice", target.name);
        // A byte chooses the kind.
        assert!(all < 255, "{}", target.name);
    }
}

#[test]
fn every_format_has_both_forms() {
    let raw: Vec<_> = ALL.iter().filter(|target| (target.kinds)().is_empty()).map(|target| target.name).collect();
    let built: Vec<_> = ALL.iter().filter_map(|target| target.name.strip_suffix("_built")).collect();
    assert_eq!(raw, built);
}
