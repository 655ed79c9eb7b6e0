//! Look inside voxel-game saves: what is in them, what is damaged, and why.
#![forbid(unsafe_code)]

#[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::as_conversions))]
pub mod bytes;
pub mod check;
pub mod damage;
pub mod demo;
#[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::as_conversions))]
pub mod godot;
pub mod limits;
pub mod printable;
pub mod save;
pub mod source;
