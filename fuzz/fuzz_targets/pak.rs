//! See `oracles/mod.rs`.
#![no_main]
voxscope_fuzz::target!("pak", voxscope_fuzz::mutators::pak);
