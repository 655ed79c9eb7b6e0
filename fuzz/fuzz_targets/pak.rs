//! See `oracles/pak.rs`.
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| voxscope_fuzz::fuzz(voxscope_fuzz::oracles::pak::check, data));
