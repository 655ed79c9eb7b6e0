//! See `oracles/forest_meta.rs`.
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| voxscope_fuzz::fuzz(voxscope_fuzz::oracles::forest_meta::check, data));
