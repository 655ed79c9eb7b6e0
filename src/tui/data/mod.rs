//! What the explorer holds of a save: the tree, what is open, one block. All of it is owned, made in the background and
//! handed over whole.

mod block;
mod cell;
mod counts;
pub mod difference;
pub mod field;
mod index;
mod metadata;
mod opened;
mod page;
pub mod pair;
mod window;

pub use block::{BlockData, ChannelData, HISTOGRAM};
pub use cell::{LoadState, Loaded};
pub use counts::{Counts, request_counts};
pub use index::{Index, Item, ItemId, Node, NodeId, NodeKind};
pub use metadata::MetaLine;
pub use opened::{Opened, Part, Slot, Store};
