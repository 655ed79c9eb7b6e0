//! The oracles of fuzzing over every committed input: `corpus/TARGET/` and `corpus/regressions/TARGET/`.

// A failed property is a panic, here as in fuzzing.
#![allow(clippy::panic, clippy::unwrap_used, clippy::expect_used)]
// Every kind of damage is a function of one type, whether it needs the bytes as its own or not.
#![allow(clippy::needless_pass_by_value)]
// What describes an input is for the tools of fuzzing.
#![allow(dead_code)]

mod naive;
#[path = "../fuzz/src/oracles/mod.rs"]
mod oracles;

#[test]
fn every_property_holds_for_the_corpus() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    oracles::replay::replay(root, |oracle, data| oracle(data));
}
