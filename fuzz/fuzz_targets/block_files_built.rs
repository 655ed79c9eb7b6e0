//! See `oracles/mod.rs`.
#![no_main]
voxscope_fuzz::target!("block_files_built");
