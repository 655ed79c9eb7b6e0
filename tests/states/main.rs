//! The states in which saves are found (`recovery.md`, 1 to 17): each is made, checked, repaired, and its copy is clean and
//! stays as it is when it is repaired again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "../common/mod.rs"]
mod common;
#[allow(dead_code)]
#[path = "../common/writer.rs"]
mod writer;

mod backup;
mod blocks;
mod files;
mod slots;
mod table;
mod world;
