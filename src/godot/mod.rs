//! The formats of Godot Voxel, from 2019 to today.
//!
//! A forest is a directory with a [meta file](forest) and [region files](region); a region is a table of
//! [slots] over sectors, which hold [containers](container), which hold [blocks](block) of eight
//! [channels](channel) and [metadata], which is made of [Variants](variant). A [stream] keeps the same containers in a
//! database, and the [instances] of a block beside them.
//!
//! Takes bytes; gives values that borrow from them, and a list of damage. It knows neither files nor directories, and no other
//! format but the values of SQLite that are keys.

pub mod block;
pub mod block_files;
pub mod byte_order;
pub mod byte_order_votes;
pub mod channel;
pub mod container;
pub mod forest;
pub mod instances;
mod lz4;
pub mod metadata;
pub mod region;
mod sequences;
pub mod slots;
pub mod stream;
pub mod textures;
mod unpack;
pub mod variant;
pub mod verify;
mod zstd;
