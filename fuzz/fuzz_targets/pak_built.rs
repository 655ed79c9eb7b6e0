//! See `oracles/mod.rs`.
#![no_main]
voxscope_fuzz::target!("pak_built");
