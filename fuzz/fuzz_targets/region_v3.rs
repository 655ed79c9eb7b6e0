//! See `oracles/mod.rs`.
#![no_main]
voxscope_fuzz::target!("region_v3", voxscope_fuzz::mutators::region);
