//! What is inside of a block, in a few bytes.

use serde::ser::SerializeMap;

use crate::godot::block::Block;
use crate::godot::channel::{CHANNELS, Depth, Storage};

/// Size, channels and metadata of a block, as far as they could be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inside {
    /// Voxels along x, y, z.
    pub size: Option<[u32; 3]>,
    /// Depth and storage of each channel that is there.
    pub channels: [Option<(Depth, Storage)>; CHANNELS],
    /// Bytes of its metadata, as they declare; 0 where there is none.
    pub metadata_bytes: u32,
    /// Items of metadata that are not empty: the block's own and those of voxels.
    pub metadata_items: u32,
}

impl Inside {
    /// Nothing is known.
    pub const NOTHING: Self = Self { size: None, channels: [None; CHANNELS], metadata_bytes: 0, metadata_items: 0 };

    /// `None` when nothing is known.
    pub(super) fn boxed(self) -> Option<Box<Self>> {
        (self != Self::NOTHING).then(|| Box::new(self))
    }

    pub(super) fn of(block: &Block<'_>) -> Self {
        let mut channels = [None; CHANNELS];
        for (to, channel) in channels.iter_mut().zip(&block.channels) {
            *to = Some((channel.depth, channel.storage));
        }
        let size = (block.version > 0).then(|| block.size.map(u32::from));
        let metadata = block.metadata.as_ref();
        let items = metadata.map_or(0, |metadata| metadata.items());
        Self { size, channels, metadata_bytes: metadata.map_or(0, |m| m.declared), metadata_items: items }
    }

    /// The channels that are there, by their numbers.
    pub fn channels(&self) -> impl Iterator<Item = (usize, Depth, Storage)> + '_ {
        self.channels.iter().enumerate().filter_map(|(n, of)| of.map(|(depth, storage)| (n, depth, storage)))
    }
}

/// `size`, `depths` in bits and `storage` of the channels from the first on, `metadata_bytes` and `metadata_items`.
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
