//! See `oracles/mod.rs`.
#![no_main]
voxscope_fuzz::target!("block_v3");
