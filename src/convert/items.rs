//! Metadata of blocks that are joined or split: every item stays with its voxel.

use crate::axes;
use crate::convert::before::Apart;
use crate::godot::block::{Block, EPILOGUE};
use crate::godot::channel::index_zxy;
use crate::godot::metadata::{Item, encode_item, is_endless};

use crate::resize::VERSION;

/// Stored items of one block of the result.
#[derive(Default)]
pub(super) struct Items {
    block: Option<Vec<u8>>,
    voxels: Vec<([u16; 3], Vec<u8>)>,
    /// An application-defined item, which extends to the end of the metadata, so no item can follow it.
    last: Option<([u16; 3], Vec<u8>)>,
}

/// An item that the result cannot store.
pub(super) struct Left {
    /// The voxel in the block of the source; `None` for the block's own item.
    pub voxel: Option<[u16; 3]>,
    /// Its bytes as they are stored.
    pub bytes: Vec<u8>,
    /// Why.
    pub why: &'static str,
}

impl Items {
    /// Adds those items of a source block that are in a box of it; `corner` is the start of the box and
    /// `to` its position in the block of the result. The block's own item belongs to the box at its corner, and to
    /// the block of the result whose corner it is.
    pub fn add_from(&mut self, block: &Block<'_>, corner: [u16; 3], side: u16, to: [u16; 3], left: &mut Vec<Left>) {
        let Some(metadata) = &block.metadata else { return };
        let bytes = |item: &Item<'_>| {
            let mut bytes = Vec::new();
            encode_item(item, VERSION, metadata.dialect, &mut bytes);
            bytes
        };
        if let Some(item) = metadata.block.as_ref().filter(|item| **item != Item::Empty && corner == [0; 3]) {
            if to == [0; 3] {
                self.block = Some(bytes(item));
            } else {
                let why = "metadata of a block that is joined to another one, whose corner it does not have";
                left.push(Left { voxel: None, bytes: bytes(item), why });
            }
        }
        for voxel in &metadata.voxels {
            let inside = axes::combine(voxel.position, corner, |n, from| n.checked_sub(from).filter(|&n| n < side));
            let [Some(x), Some(y), Some(z)] = inside else { continue };
            let position = [to[0].saturating_add(x), to[1].saturating_add(y), to[2].saturating_add(z)];
            match (&voxel.item, &self.last) {
                (Item::Custom { .. }, None) => self.last = Some((position, bytes(&voxel.item))),
                (Item::Custom { .. }, Some(_)) => {
                    let why = "an item of the application's own: a block has room for one only";
                    left.push(Left { voxel: Some(voxel.position), bytes: bytes(&voxel.item), why });
                }
                _ => self.voxels.push((position, bytes(&voxel.item))),
            }
        }
    }

    /// Whether there are no items.
    pub const fn is_empty(&self) -> bool {
        self.block.is_none() && self.voxels.is_empty() && self.last.is_none()
    }

    /// Restores items that were stored apart, if their voxels have no item; returns the others.
    pub fn put_back(&mut self, apart: &[Apart], side: u16) -> Vec<Left> {
        let mut left = Vec::new();
        for (voxel, bytes) in apart {
            let free = match voxel {
                None => self.block.is_none(),
                Some(at) if at.iter().any(|&n| n >= side) => false,
                Some(_) if is_endless(bytes) => self.last.is_none(),
                Some(at) => self.voxels.iter().all(|(other, _)| other != at),
            };
            match voxel {
                _ if !free => {
                    let why = "the block or the voxel has other metadata now";
                    left.push(Left { voxel: *voxel, bytes: bytes.clone(), why });
                    continue;
                }
                None => self.block = Some(bytes.clone()),
                Some(at) if is_endless(bytes) => self.last = Some((*at, bytes.clone())),
                Some(at) => self.voxels.push((*at, bytes.clone())),
            }
        }
        left
    }

    /// Appends a block without metadata, and these items, to `out`; returns the number of bytes of the items.
    pub fn encode(mut self, block: &Block<'_>, out: &mut Vec<u8>, left: &mut Vec<Left>) -> u64 {
        if (!self.voxels.is_empty() || self.last.is_some())
            && let Some(bytes) = self.block.take_if(|bytes| is_endless(bytes))
        {
            let why = "an item of the application's own: nothing can follow it";
            left.push(Left { voxel: None, bytes, why });
        }
        crate::godot::block::encode(block, out);
        if self.is_empty() {
            return 0;
        }
        out.truncate(out.len() - 4);
        let at = out.len();
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(self.block.as_deref().unwrap_or(&[0]));
        self.voxels.sort_by_key(|(position, _)| index_zxy(block.size, *position));
        for (position, bytes) in self.voxels.iter().chain(&self.last) {
            out.extend(position.iter().flat_map(|n| n.to_le_bytes()));
            out.extend_from_slice(bytes);
        }
        let size = u32::try_from(out.len() - at - 4).unwrap_or(u32::MAX);
        if let Some(place) = out.get_mut(at..at + 4) {
            place.copy_from_slice(&size.to_le_bytes());
        }
        out.extend_from_slice(&EPILOGUE.to_le_bytes());
        size.into()
    }
}
