//! Seeds of the targets that build their files: some models, and each kind of damage in some of them.

use super::{Seeds, Set, noise};
use crate::oracles::Target;

/// Bytes of choices that no model uses up by far.
const CHOICES: usize = 96;

/// Models that are tried for each kind of damage, and how many with it are kept.
const TRIES: usize = 400;
const KEPT: usize = 1;

/// Models without damage.
const HEALTHY: usize = 4;

/// Choices by number: the kind of damage, and bytes that are different for every number.
fn input(kind: usize, number: usize) -> Vec<u8> {
    let from = (kind * 31 + number) * 7;
    let mut input = vec![kind as u8];
    input.extend(noise(from + CHOICES).split_off(from));
    input
}

pub(super) fn seeds(target: &Target) -> Seeds {
    let mut set = Set::default();
    for number in 0..HEALTHY {
        set.add(format!("healthy_{number}"), input(0, number));
    }
    set.add("empty", []);
    set.add("healthy_zeros", [0; 24]);
    for (kind, name) in (target.kinds)().into_iter().enumerate() {
        // Not every model can have every damage.
        let inputs = (0..TRIES).map(|number| input(kind + 1, number));
        let with = inputs.filter(|input| (target.kind_of)(input) == Some(name)).take(KEPT);
        for (n, input) in with.enumerate() {
            set.add(format!("{name}_{n}"), input);
        }
    }
    set.0
}
