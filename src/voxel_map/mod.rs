//! Voxel maps as a Unity game exports them.
//!
//! ```text
//! map_data.json   mapID, timestamp, waterSurfaceLevel, global (a layer), locals (layers)
//! *.npy           the arrays that the layers name: voxels, block coordinates, depths
//! ```
//!
//! Source: the format's published page and real exports. [`Map`] reads the description, [`grid`] the voxels of a layer
//! on demand, [`scan`] all of them in one pass. Everything is read as far as it goes; what is wrong is a list.
//!
//! Takes a directory; gives descriptions, voxels, counts and a list of damage. It knows no other format.

pub mod flags;
pub mod grid;
mod map;
pub mod map_json;
pub mod names;
pub mod npy;
pub mod place;
pub mod scan;

pub use map::Map;
