//! See `oracles/mod.rs`.
#![no_main]
voxscope_fuzz::target!("block_files", voxscope_fuzz::mutators::block_files);
