//! Read, check, repair, compare and convert saves of voxel games: forests of Godot Voxel regions, its SQLite streams, pak
//! regions and Unity voxel maps.
//!
//! # Reading voxels
//!
//! [`World::open`] takes any of these saves; [`World::voxel`] gives the raw value of one voxel, `None` where no block is
//! stored, and an error that names the file where it cannot be read.
//!
//! ```
//! use voxscope::{Channel, World};
//!
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path().join("world");
//! # voxscope::demo::write_forest(&path, &voxscope::demo::ForestSpec::default(), None)?;
//! # let lod = 0;
//! let world = World::open(path)?;
//! let (x, y, z) = (10, -3, 7);
//! match world.voxel(lod, [x, y, z], Channel::Type)? {
//!     Some(value) => println!("type {value}"),
//!     None => println!("no block is stored there"),
//! }
//! # assert!(world.voxel(0, [0, 0, 0], Channel::Type)?.is_some());
//! # assert!(world.voxel(0, [1 << 20, 0, 0], Channel::Type)?.is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Checking
//!
//! [`check::run`] reads a whole save and passes on each [`Finding`](check::Finding): a code that never changes its meaning,
//! the file and the bytes, and what to do next.
//!
//! ```
//! use voxscope::{check, save};
//!
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path().join("world");
//! # let spec = voxscope::demo::ForestSpec::default();
//! # voxscope::demo::write_forest(&path, &spec, None)?;
//! let save = save::Save::open(&path, &save::Options::default())?;
//! let summary = check::run(&save, &check::Options::default(), |finding| println!("{finding}"));
//! assert_eq!(summary.counts.errors, 0);
//! # assert_eq!(summary.stats.blocks, spec.blocks());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What there is
//!
//! | modules | |
//! |---|---|
//! | [`godot`], [`sqlite`], [`pak`], [`voxel_map`] | the formats: bytes to values and back. A decoder reads as far as it can and lists the [`damage`] |
//! | [`save`] | the files of a save, whatever the formats: their tables, sector maps and blocks on demand |
//! | [`world`] | the blocks of a save at positions, whatever stores them; [`World`] is the short way to a voxel |
//! | [`check`] | findings |
//! | [`recover`] | which blocks the sectors hold, and where each belongs |
//! | [`repair`] | what can be put right, and a repaired copy |
//! | [`mod@diff`], [`convert`] | what differs between two saves; a save in another form |
//!
//! Below these, [`bytes`] and [`source`] are where bytes come from, [`limits`] has all caps on memory and time, [`printable`]
//! makes text from a save fit to print, [`watch`] cancels long work and receives its progress, and [`draft`] builds a result under
//! a temporary name. With the feature `cli`,
//! `export` writes arrays, pictures and tables.
//!
//! No function of this library writes to a save that it reads: [`repair`] and [`convert`] make a copy.
//!
//! # Features
//!
//! `default-features = false` builds the library without any crate for terminals and command lines. `sqlite` (on by default)
//! adds writing of SQLite streams by SQLite itself, which is C; reading them needs nothing. `zstd-c` decodes Zstandard by
//! the C library, which is faster. `cli` and `tui` (on by default) build the program.
#![forbid(unsafe_code)]
// Saves are never written to: see clippy.toml. The modules that are excepted make files of their own.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod axes;
#[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::as_conversions))]
pub mod bytes;
pub mod check;
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
pub mod convert;
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
pub mod damage;
#[doc(hidden)]
#[allow(clippy::disallowed_methods)]
pub mod demo;
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
pub mod diff;
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
#[allow(clippy::disallowed_methods)]
pub mod draft;
#[cfg(feature = "cli")]
#[allow(clippy::disallowed_methods)]
pub mod export;
#[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::as_conversions))]
pub mod godot;
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
pub mod limits;
#[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::as_conversions))]
pub mod pak;
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
mod parallel;
pub mod picture;
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
pub mod printable;
pub mod recover;
pub mod repair;
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
mod resize;
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
pub mod save;
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
pub mod source;
#[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::as_conversions))]
pub mod sqlite;
#[cfg(feature = "tui")]
#[doc(hidden)]
pub mod tui;
#[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::as_conversions))]
pub mod voxel_map;
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
pub mod watch;
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
pub mod world;

pub use godot::channel::ChannelId as Channel;
pub use world::OpenWorld as World;
