//! The states in which saves are found (`docs/recovery.md`, 1 to 17): each is made, checked, repaired, and its copy is clean and
//! stays as it is when it is repaired again.

mod backup;
mod blocks;
mod files;
mod slots;
mod table;
pub mod world;
