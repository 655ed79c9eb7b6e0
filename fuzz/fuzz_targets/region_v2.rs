//! See `oracles/mod.rs`.
#![no_main]
voxscope_fuzz::target!("region_v2", voxscope_fuzz::mutators::region);
