//! See `oracles/mod.rs`.
#![no_main]
voxscope_fuzz::target!("container", voxscope_fuzz::mutators::container);
