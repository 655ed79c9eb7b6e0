//! Pak regions, `x%d_y%d_z%d.region`: chunks in zlib streams, in blocks of 4,096 bytes.
//!
//! ```text
//! block 0:  header, 16 bytes · records, 8 bytes each · padding
//! blocks:   a chunk is a zlib stream of file_length bytes in block_length blocks
//! ```
//!
//! Source: the published notes on the format. They do not say what the tag is, whether the first block is
//! counted in blocks or in bytes, how large a voxel is and in which order voxels are stored. Such values are
//! [inferred](Inferred) and labelled as inferred; options override them.
//!
//! A file is read in this order: the [header], the [records](record), how to [read its first block](offset),
//! where the records' data is ([`record::Record::locate`]), which [chunk a record is](place), the
//! [stream](payload), the [voxels](chunk) and [strings].
//!
//! Takes bytes; gives values that borrow from them, and a list of damage. It knows neither directories nor other formats.

pub mod build;
pub mod chunk;
pub mod claims;
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

/// Bytes of the header.
pub const HEADER_BYTES: u64 = 16;

/// Bytes of a record.
pub const RECORD_BYTES: u64 = 8;

#[cfg(test)]
mod tests;
