//! See `oracles/npy_map.rs`.
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| voxscope_fuzz::fuzz(voxscope_fuzz::oracles::npy_map::check, data));
