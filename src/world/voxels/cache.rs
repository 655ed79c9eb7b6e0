//! Decoded blocks that are kept, so that neighbouring voxels cost one decoding.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::bytes::index;
use crate::godot::channel::{ChannelId, Depth, Storage, index_zxy};
use crate::pak::chunk::{Order, Shape, Voxels};
use crate::voxel_map::grid::BLOCK;

/// Bytes of decoded blocks that are kept.
const CACHE_BYTES: usize = 32 << 20;

/// LOD and position of a block.
pub(super) type Key = (u8, [i32; 3]);

/// Decoded blocks, those used last at the end.
#[derive(Debug, Default)]
pub(super) struct Cache {
    blocks: VecDeque<(Key, Arc<Block>)>,
    bytes: usize,
}

/// A decoded block.
#[derive(Debug)]
pub(super) enum Block {
    /// Nothing is stored there.
    Missing,
    Godot {
        size: [u16; 3],
        channels: Vec<(Depth, Storage, Vec<u8>)>,
    },
    Chunk {
        shape: Shape,
        order: Order,
        data: Vec<u8>,
    },
    /// Flags in the order x, y, z.
    Cells(Vec<u64>),
}

impl Block {
    fn bytes(&self) -> usize {
        let data = match self {
            Self::Missing => 0,
            Self::Godot { channels, .. } => channels.iter().map(|(.., data)| data.len()).sum(),
            Self::Chunk { data, .. } => data.len(),
            Self::Cells(cells) => cells.len().saturating_mul(8),
        };
        // A block without voxels takes room as well.
        data.saturating_add(256)
    }

    /// The value of a voxel; `None` where the block does not have it.
    pub fn value(&self, inside: [u32; 3], channel: ChannelId) -> Option<u64> {
        match self {
            Self::Missing => None,
            Self::Godot { size, channels } => {
                let [x, y, z] = inside.map(|n| u16::try_from(n).unwrap_or(u16::MAX));
                let at = index_zxy(*size, [x, y, z])?;
                let (depth, storage, data) = channels.get(channel.index())?;
                let from = match storage {
                    Storage::Uniform => 0,
                    Storage::Raw => at.checked_mul(depth.bytes())?,
                };
                depth.value(data.get(from..)?)
            }
            Self::Chunk { shape, order, data } => Voxels { data, shape: *shape, order: *order }.get(inside),
            Self::Cells(cells) => {
                let [x, y, z] = inside.map(|n| index(u64::from(n)));
                let side = index(u64::from(BLOCK));
                cells.get(x.checked_mul(side)?.checked_add(y)?.checked_mul(side)?.checked_add(z)?).copied()
            }
        }
    }
}

impl Cache {
    /// Whether nothing is kept.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    pub fn get(&mut self, key: Key) -> Option<Arc<Block>> {
        let at = self.blocks.iter().rposition(|(held, _)| *held == key)?;
        if at.saturating_add(1) < self.blocks.len()
            && let Some(entry) = self.blocks.remove(at)
        {
            self.blocks.push_back(entry);
        }
        self.blocks.back().map(|(_, block)| Arc::clone(block))
    }

    pub fn put(&mut self, key: Key, block: &Arc<Block>) {
        self.bytes = self.bytes.saturating_add(block.bytes());
        self.blocks.push_back((key, Arc::clone(block)));
        while self.bytes > CACHE_BYTES && self.blocks.len() > 1 {
            let Some((_, oldest)) = self.blocks.pop_front() else { break };
            self.bytes = self.bytes.saturating_sub(oldest.bytes());
        }
    }
}
