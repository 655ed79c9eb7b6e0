//! Voxel maps as a Unity game exports them: a directory with `map_data.json` and `.npy` files.
pub mod flags;
pub mod map_json;
pub mod npy;
pub mod place;
