//! See `oracles/mod.rs`.
#![no_main]
voxscope_fuzz::target!("region_v2_built");
