//! SQLite streams: the keys of rows, and the row of settings.
//!
//! ```text
//! meta(version, block_size_po2[, coordinate_format]) · blocks(loc, vb, instances) · channels(idx, depth), unused
//! vb: a container with block data · instances: a container with instance data · either may be NULL
//! ```
//!
//! Source: the engine's `VoxelStreamSQLite`, from 2020 (version 0) to today (version 1).

pub mod loc;
pub mod meta;
#[cfg(feature = "sqlite")]
pub mod write;

#[cfg(test)]
mod tests;
