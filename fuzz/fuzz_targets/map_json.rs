//! See `oracles/map_json.rs`.
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| voxscope_fuzz::fuzz(voxscope_fuzz::oracles::map_json::check, data));
