//! See `oracles/mod.rs`.
#![no_main]
voxscope_fuzz::target!("variant_godot3_built");
