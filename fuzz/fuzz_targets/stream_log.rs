//! See `oracles/mod.rs`.
#![no_main]
voxscope_fuzz::target!("stream_log");
