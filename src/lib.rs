//! Look inside voxel-game saves: what is in them, what is damaged, and why.
//!
//! One way leads through the library: [bytes] come from a [source], a format ([godot], [sqlite], [pak], [voxel_map]) decodes them
//! and lists the [damage], a [save] is made of files of that format, [trace] says what its sectors tell of its
//! tables, [check] holds rules against it, and [repair] builds a healthy copy [beside] it. Nothing here writes to a save;
//! [repair] and [demo] make new ones, and `export` makes lists of what was found, outside of saves.
//!
//! ```
//! use voxscope::{check, demo, save};
//!
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path().join("world");
//! let spec = demo::ForestSpec::default();
//! demo::write_forest(&path, &spec, None)?;
//!
//! let save = save::Save::open(&path, &save::Options::default())?;
//! let summary = check::run(&save, &check::Options::default(), |finding| println!("{finding}"));
//! assert_eq!(summary.counts.errors, 0);
//! assert_eq!(summary.stats.blocks, spec.blocks());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod beside;
#[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::as_conversions))]
pub mod bytes;
pub mod check;
pub mod convert;
pub mod damage;
pub mod demo;
pub mod diff;
#[cfg(feature = "cli")]
pub mod export;
#[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::as_conversions))]
pub mod godot;
pub mod limits;
#[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::as_conversions))]
pub mod pak;
pub mod printable;
pub mod repair;
mod resize;
pub mod save;
pub mod source;
#[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::as_conversions))]
pub mod sqlite;
pub mod trace;
#[cfg(feature = "tui")]
pub mod tui;
#[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::as_conversions))]
pub mod voxel_map;
pub mod world;
