//! A block that owns its bytes.

use crate::bytes::len64;
use crate::godot::block::{self, Block};
use crate::godot::channel::{CHANNELS, Channel, Depth, Storage};
use crate::godot::container::{self, Mode};
use crate::godot::metadata::Metadata;

/// One channel with its values.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnedChannel {
    /// Bits a voxel.
    pub depth: Depth,
    /// Raw or uniform.
    pub storage: Storage,
    /// The values, little-endian, in the order ZXY; one value when uniform.
    pub data: Vec<u8>,
}

/// A block to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnedBlock {
    /// Version of the block data, 1 to 4.
    pub version: u8,
    /// Voxels along x, y, z.
    pub size: [u16; 3],
    /// The channels.
    pub channels: [OwnedChannel; CHANNELS],
    /// Metadata, when there is any.
    pub metadata: Option<Metadata<'static>>,
}

impl OwnedChannel {
    /// One value for the whole block; of a value that does not fit, the lower bits.
    #[must_use]
    pub fn uniform(depth: Depth, value: u64) -> Self {
        let data = value.to_le_bytes().into_iter().take(depth.bytes()).collect();
        Self { depth, storage: Storage::Uniform, data }
    }

    /// The values of all voxels; equal values become one uniform value, as the engine saves them.
    #[must_use]
    pub fn of_values(depth: Depth, data: Vec<u8>) -> Self {
        let mut voxels = data.chunks_exact(depth.bytes());
        match voxels.next() {
            Some(first) if voxels.all(|voxel| voxel == first) => {
                Self { depth, storage: Storage::Uniform, data: first.to_vec() }
            }
            _ => Self { depth, storage: Storage::Raw, data },
        }
    }

    fn view(&self) -> Channel<'_> {
        let size = match self.storage {
            Storage::Uniform => self.depth.bytes() as u64,
            Storage::Raw => len64(&self.data),
        };
        Channel { depth: self.depth, storage: self.storage, data: &self.data, offset: 0, size }
    }
}

impl OwnedBlock {
    /// The block as the decoder would return it, for [`block::encode`]; its offsets are meaningless.
    #[must_use]
    pub fn view(&self) -> Block<'_> {
        Block {
            version: self.version,
            size: self.size,
            channels: self.channels.iter().map(OwnedChannel::view).collect(),
            metadata: self.metadata.clone(),
            epilogue: None,
        }
    }

    /// The block data.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        block::encode(&self.view(), &mut out);
        out
    }

    /// The block data in a container.
    #[must_use]
    pub fn pack(&self, mode: Mode) -> Vec<u8> {
        let mut out = Vec::new();
        container::encode(mode, &self.encode(), &mut out);
        out
    }
}
