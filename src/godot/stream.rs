//! SQLite streams: how a row says where its block is, and what the row of settings says. No database is needed here.
//!
//! ```text
//! meta(version, block_size_po2[, coordinate_format]) · blocks(loc, vb, instances) · channels(idx, depth), unused
//! vb: a container with block data · instances: a container with instance data · either may be NULL
//! ```
//!
//! Source: the engine's `VoxelStreamSQLite`, from 2020 (version 0) to today (version 1).

pub mod loc;
pub mod meta;

#[cfg(test)]
mod tests;
