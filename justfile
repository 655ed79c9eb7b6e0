# The recipes of voxscope. `just` alone lists them.

set shell := ["bash", "-euo", "pipefail", "-c"]

_list:
    @just --list --unsorted

# Everything that has to pass: format, lints, tests
check:
    cargo fmt --check
    cargo fmt --check --manifest-path fuzz/Cargo.toml
    cargo clippy --all-targets -- -D warnings
    cargo clippy --manifest-path fuzz/Cargo.toml --all-targets -- -D warnings
    cargo check --no-default-features --lib
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --quiet
    cargo test
    cargo test --manifest-path fuzz/Cargo.toml

# All tests
test:
    cargo test

# Speed and memory, as ratios in one run
bench:
    cargo bench

# What repair brings back of crashed saves, those of the real engine and those of the model of its writer
triage-score SEEDS="40":
    SEEDS={{SEEDS}} cargo test --release --test triage --test writer -- --nocapture --include-ignored

# Sample saves, healthy and damaged, in ./demo
demo:
    cargo run --release -- demo --write demo

# What `just fuzz` needs
setup:
    cargo install --locked cargo-fuzz

# Fuzzes a target, such as `just fuzz region_v3 60`; without seconds until it is stopped
fuzz TARGET SECONDS="0":
    fuzz/run {{TARGET}} {{SECONDS}}
