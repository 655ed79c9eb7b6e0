//! A summary of a block's content in a few bytes.

use serde::ser::SerializeMap;

use crate::godot::block::Block;
use crate::godot::channel::{CHANNELS, Depth, Storage};
use crate::godot::verify::Verified;

/// Size, channels and metadata of a block, as far as it could be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inside {
    /// Voxels along x, y, z.
    pub size: Option<[u32; 3]>,
    /// Depth and storage of each channel that was read.
    pub channels: [Option<(Depth, Storage)>; CHANNELS],
    /// Declared bytes of its metadata; 0 if there is none.
    pub metadata_bytes: u32,
    /// Number of metadata items that are not empty: the block's own and those of voxels.
    pub metadata_items: u32,
}

impl Inside {
    /// An empty summary.
    pub const NOTHING: Self = Self { size: None, channels: [None; CHANNELS], metadata_bytes: 0, metadata_items: 0 };

    /// `None` if it is empty.
    pub(super) fn boxed(self) -> Option<Box<Self>> {
        (self != Self::NOTHING).then(|| Box::new(self))
    }

    pub(super) fn from_verified(verified: &Verified) -> Self {
        let size = Some(verified.size.map(u32::from));
        let Verified { metadata_bytes, metadata_items, .. } = *verified;
        Self { size, channels: verified.channels.map(Some), metadata_bytes, metadata_items }
    }

    pub(super) fn from_block(block: &Block<'_>) -> Self {
        let mut channels = [None; CHANNELS];
        for (to, channel) in channels.iter_mut().zip(&block.channels) {
            *to = Some((channel.depth, channel.storage));
        }
        let size = (block.version > 0).then(|| block.size.map(u32::from));
        let metadata = block.metadata.as_ref();
        let items = metadata.map_or(0, |metadata| metadata.items());
        Self { size, channels, metadata_bytes: metadata.map_or(0, |m| m.declared), metadata_items: items }
    }

    /// The channels that were read, with their numbers.
    pub fn channels(&self) -> impl Iterator<Item = (usize, Depth, Storage)> + '_ {
        self.channels.iter().enumerate().filter_map(|(n, of)| of.map(|(depth, storage)| (n, depth, storage)))
    }
}

/// `size`, `depths` in bits and `storage` of the channels in order, `metadata_bytes` and `metadata_items`.
impl serde::Serialize for Inside {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(5))?;
        map.serialize_entry("size", &self.size)?;
        map.serialize_entry("depths", &self.channels().map(|(_, depth, _)| depth.bits()).collect::<Vec<_>>())?;
        map.serialize_entry("storage", &self.channels().map(|(.., storage)| storage.name()).collect::<Vec<_>>())?;
        map.serialize_entry("metadata_bytes", &self.metadata_bytes)?;
        map.serialize_entry("metadata_items", &self.metadata_items)?;
        map.end()
    }
}
