//! Pak regions, `x%d_y%d_z%d.region`: chunks in zlib streams, in blocks of 4,096 bytes.
//!
//! ```text
//! block 0:  header, 16 bytes · records, 8 bytes each · padding
//! blocks:   a chunk is a zlib stream of file_length bytes in block_length blocks
//! ```
//!
//! Source: the published notes on the format, which leave much unsaid: what the tag is, whether the first block is
//! counted in blocks or in bytes, how large a voxel is and in which order voxels come. What is not known is
//! [inferred](Inferred), said to be, and can be given instead.
//!
//! A file is read in this order: the [header], the [records](record), how to [read its first block](offset),
//! where the records' data lies ([`record::Record::locate`]), which [chunk a record is](place), the
//! [stream](payload), the [voxels](chunk) and [strings].

pub mod build;
pub mod chunk;
pub mod header;
mod inferred;
pub mod offset;
pub mod payload;
pub mod place;
pub mod record;
pub mod strings;

pub use inferred::{How, Inferred};

/// Bytes of a block.
pub const BLOCK_BYTES: u64 = 4096;

#[cfg(test)]
mod tests;
