//! See `oracles/mod.rs`.
#![no_main]
voxscope_fuzz::target!("npy_map_built");
