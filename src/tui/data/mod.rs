//! What the explorer holds of a save: the tree, what is open, one block. All of it is owned, made in the background and
//! handed over whole.

mod block;
mod cell;
mod counts;
mod depths;
pub mod difference;
pub mod faces;
pub mod field;
mod index;
mod metadata;
mod opened;
mod page;
pub mod pair;
pub mod plane;
pub mod preview;

pub use block::{BlockData, ChannelData, HISTOGRAM};
pub use cell::{Cell, State};
pub use counts::{Counts, want_counts};
pub use depths::{DepthRequest, Depths};
pub use index::{Index, Item, ItemId, Node, NodeId, NodeKind};
pub use metadata::MetaLine;
pub use opened::{Opened, Part, Slot, Store};
