# The recipes of voxscope. `just` alone lists them.

set shell := ["bash", "-euo", "pipefail", "-c"]

_list:
    @just --list --unsorted

# Everything that has to pass: format, lints, tests
check:
    cargo fmt --check
    cargo fmt --check --manifest-path fuzz/Cargo.toml
    cargo clippy --all-targets -- -D warnings
    cargo clippy --all-targets --features graphics -- -D warnings
    cargo clippy --manifest-path fuzz/Cargo.toml --all-targets -- -D warnings
    cargo check --no-default-features --lib
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --quiet
    cargo test
    cargo test --features graphics --lib --test terminal -- pixels query graphics
    cargo test --manifest-path fuzz/Cargo.toml --no-default-features --features reference

# All tests
test:
    cargo test

# Speed and memory, as ratios in one run
bench:
    cargo bench

# What repair brings back of crashed saves, those of the real engine and those of the model of its writer
triage-score SEEDS="40":
    SEEDS={{SEEDS}} cargo test --release --test triage --test writer -- --nocapture --include-ignored

# Every command over damaged saves for so many minutes, from the mutant with number SEED on
attack MINUTES SEED="1":
    ATTACK_MINUTES={{MINUTES}} ATTACK_SEED={{SEED}} cargo test --release --test attack -- --nocapture

# Sample saves, healthy and damaged, in ./demo
demo:
    cargo run --release -- demo --write demo

# The pictures of the README, in docs/pictures: screens of a save of the real engine that was killed
pictures:
    mkdir -p docs/pictures
    cargo run --release --example draw_screen tests/golden/crash_terrain/t1/world docs/pictures/world.svg 124x40
    cargo run --release --example draw_screen tests/golden/crash_terrain/t1/world docs/pictures/repair.svg 90x30 v v v v v v
    cargo run --release --example draw_screen tests/golden/crash_terrain/t1/world docs/pictures/findings.svg 90x30 7 right down

# What `just fuzz` and `just fuzz-coverage` need
setup:
    cargo install --locked cargo-fuzz
    rustup component add llvm-tools --toolchain stable

# Fuzzes a target, such as `just fuzz region_v3 60`; without seconds until it is stopped
fuzz TARGET SECONDS="0":
    fuzz/run {{TARGET}} {{SECONDS}}

# The targets
fuzz-list:
    @cargo fuzz list

# Fuzzes every target for so many seconds each, and says what came of it
fuzz-all SECONDS:
    fuzz/all {{SECONDS}}

# Makes a crash small, says what it is, and keeps it as a regression
fuzz-crash TARGET FILE:
    fuzz/crash {{TARGET}} {{FILE}}

# The lines of the library that the inputs of a target reach; `all` for every target
fuzz-coverage TARGET="all":
    fuzz/cover {{TARGET}}

# Leaves those new inputs of a target that reach something which its seeds do not
corpus-min TARGET:
    fuzz/minimize {{TARGET}}

# Plants known faults and shows each found; NAME is a part of the names of faults or targets
fuzz-prove SECONDS="120" NAME="":
    fuzz/prove {{SECONDS}} {{NAME}}

# The seeds, written anew
fuzz-seeds:
    cargo run --manifest-path fuzz/Cargo.toml --no-default-features --example seeds

# The same targets by AFL++, such as `just fuzz-afl region_v3_built 60`
fuzz-afl TARGET SECONDS="60":
    fuzz/afl/run {{TARGET}} {{SECONDS}}
