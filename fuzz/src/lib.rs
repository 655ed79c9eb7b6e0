//! Fuzzing of voxscope: what must hold for any input (`oracles`), the inputs to begin with (`seeds`), and a memory cap
//! that no input may break.

pub mod oracles;
pub mod seeds;

use std::alloc::System;
use std::sync::Once;

use cap::Cap;
use oracles::{Oracle, Reach};

/// What the whole process may hold. An allocation beyond it fails, which aborts: a crash like any other.
const PROCESS_BYTES: usize = 256 << 20;

/// What one input may cost while it is looked at, and for each of its bytes on top. Several times what the caps of
/// [`oracles::limits`] give, and far below what a believed lie costs.
const INPUT_BYTES: usize = 32 << 20;
const INPUT_BYTES_EACH: usize = 1 << 10;

/// Counts and caps what Rust code allocates; libFuzzer's own memory is not in it.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, PROCESS_BYTES);

/// Runs an oracle on an input with a cap on the memory it may use meanwhile. Not for several threads at once: the cap is
/// the process's.
pub fn run(oracle: Oracle, data: &[u8]) -> Reach {
    HOOK.call_once(uncap_when_panicking);
    let room = INPUT_BYTES.saturating_add(data.len().saturating_mul(INPUT_BYTES_EACH));
    let limit = ALLOCATOR.allocated().saturating_add(room).min(PROCESS_BYTES);
    assert!(ALLOCATOR.set_limit(limit).is_ok(), "memory is used up before the input is looked at");
    let reach = std::hint::black_box(oracle(std::hint::black_box(data)));
    assert!(ALLOCATOR.set_limit(PROCESS_BYTES).is_ok(), "the input left memory behind");
    reach
}

static HOOK: Once = Once::new();

/// A backtrace takes more memory than any input may.
fn uncap_when_panicking() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let _ = ALLOCATOR.set_limit(usize::MAX);
        before(info);
    }));
}

/// What a target does: [`run`], and no input is thrown away.
pub fn fuzz(oracle: Oracle, data: &[u8]) {
    run(oracle, data);
}
