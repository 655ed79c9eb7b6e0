//! The oracles of fuzzing over every committed input: `corpus/TARGET/` and `corpus/regressions/TARGET/`.

// A failed property is a panic, here as in fuzzing.
#![allow(clippy::panic, clippy::unwrap_used, clippy::expect_used)]

#[path = "../fuzz/src/oracles/mod.rs"]
mod oracles;

#[test]
fn every_property_holds_for_the_corpus() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    oracles::replay::replay(root, |oracle, data| oracle(data));
}
