//! See `oracles/region_v3.rs`.
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| voxscope_fuzz::fuzz(voxscope_fuzz::oracles::region_v3::check, data));
