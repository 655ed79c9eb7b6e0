//! Fuzzing of voxscope: what must hold for any input (`oracles`), the decoders of others that the library's are held
//! against (`differential`), the inputs to begin with (`seeds`), how inputs are changed behind their compression
//! (`mutators`), and a memory cap that no input may break.

pub mod differential;
pub mod faults;
pub mod mutators;
#[path = "../../tests/naive/mod.rs"]
pub mod naive;
pub mod oracles;
pub mod seeds;

use std::alloc::System;
use std::sync::Once;

use cap::Cap;
use oracles::{Oracle, Reach};

/// What the whole process may hold from the first input on. An allocation beyond it fails, which aborts: a crash like any
/// other. Before, memory is not capped: a failed assertion of a test needs some for its backtrace, and an allocation that
/// fails while a backtrace is made never returns.
const PROCESS_BYTES: usize = 256 << 20;

/// What one input may cost while it is looked at, and for each of its bytes on top. Several times what the caps of
/// [`oracles::limits`] give, and far below what a believed lie costs.
const INPUT_BYTES: usize = 32 << 20;
const INPUT_BYTES_EACH: usize = 1 << 10;

/// Counts and caps what Rust code allocates; libFuzzer's own memory is not in it.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// Runs an oracle on an input with a cap on the memory it may use meanwhile. Not for several threads at once: the cap is
/// the process's.
pub fn run(oracle: Oracle, data: &[u8]) -> Reach {
    HOOK.call_once(|| {
        uncap_when_panicking();
        // Where there is a pool already, as in a test of several threads, that one does.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
    });
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

/// What a target does; false for an input that is another target's.
///
/// # Panics
/// When a property fails, and when there is no target of that name.
#[must_use]
pub fn fuzz(name: &str, data: &[u8]) -> bool {
    let target = oracles::find(name).unwrap_or_else(|| panic!("there is no target {name}"));
    let reach = run(target.check, data);
    differential::check(name, data);
    reach != Reach::Foreign
}

/// A target of libFuzzer, with a mutator of its own where it is given.
#[macro_export]
macro_rules! target {
    ($name:literal) => {
        libfuzzer_sys::fuzz_target!(|data: &[u8]| -> libfuzzer_sys::Corpus {
            if $crate::fuzz($name, data) { libfuzzer_sys::Corpus::Keep } else { libfuzzer_sys::Corpus::Reject }
        });
    };
    ($name:literal, $mutator:path) => {
        $crate::target!($name);
        libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
            $mutator(data, size, max_size, seed, libfuzzer_sys::fuzzer_mutate)
        });
    };
}
