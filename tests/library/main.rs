//! The library: what it reads, checks, compares, converts and exports.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "../common/mod.rs"]
mod common;

mod block_files;
mod byte_order;
mod causes;
mod check;
mod convert;
mod diff;
mod documents;
mod export;
mod export_forms;
mod golden;
mod map;
mod opening;
mod other_writers;
mod pak;
mod regions;
mod stream;
#[cfg(feature = "sqlite")]
mod stream_sqlite;
mod verdict;
mod voxel_map;
