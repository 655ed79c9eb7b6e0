//! Where a block differs between two saves: the channel, the cut and the voxel to look at.

use std::sync::Arc;

use crate::diff;
use crate::godot::block::{self, Block};
use crate::godot::channel::CHANNELS;
use crate::resize::part;
use crate::save::Save;
use crate::world::{Buffer, Index, World};

/// What is asked for: the block at a position in each of two saves.
pub struct Request {
    /// The saves.
    pub saves: [Arc<Save>; 2],
    /// Their blocks of the LOD.
    pub blocks: [Arc<Index>; 2],
    /// The position, in blocks of the size that the first save has.
    pub position: [i32; 3],
    /// The channels that are compared; all when it is empty.
    pub channels: Vec<usize>,
}

/// What differs in a channel.
#[derive(Clone, Debug, Default)]
struct Changes {
    voxels: u64,
    /// How many in each cut along y, and the first of them.
    cuts: Vec<(u32, [u32; 3])>,
}

impl Changes {
    fn add(&mut self, [x, y, z]: [usize; 3]) {
        self.voxels += 1;
        let small = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let at = [x, y, z].map(small);
        if self.cuts.len() <= y {
            self.cuts.resize(y + 1, (0, [0; 3]));
        }
        if let Some((count, first)) = self.cuts.get_mut(y) {
            if *count == 0 {
                *first = at;
            }
            *count += 1;
        }
    }
}

/// The channel in which most differs, and the first voxel of the cut along y in which most of that does; `None` when no
/// voxel differs, or the two cannot be compared.
///
/// # Errors
/// A sentence, when a save cannot be opened or read any more.
pub fn find_spot(request: &Request) -> Result<Option<(usize, [u32; 3])>, String> {
    let [save_a, save_b] = &request.saves;
    let failed = |error: crate::world::Error| error.to_string();
    let (a, b) = (World::only(save_a).map_err(failed)?, World::only(save_b).map_err(failed)?);
    let (mut buffer_a, mut buffer_b) = (Buffer::default(), Buffer::default());
    let [index_a, index_b] = &request.blocks;
    let Some(at) = index_a.find(request.position) else { return Ok(None) };
    let view = a.read(at, &mut buffer_a).map_err(failed)?;
    let Some(own) = &view.block else { return Ok(None) };
    let mut changes = vec![Changes::default(); CHANNELS];
    let mut compare = |other: &Block<'_>| {
        if own.size != other.size {
            return;
        }
        let [sx, sy, _] = own.size.map(usize::from);
        let mut each = |at: usize, channel: usize, _: [Option<u64>; 2]| {
            // In a block y runs fastest, then x.
            let (column, y) = (at / sy.max(1), at % sy.max(1));
            if let Some(changes) = changes.get_mut(channel) {
                changes.add([column % sx.max(1), y, column / sx.max(1)]);
            }
        };
        diff::blocks(own, other, &request.channels, &mut each);
    };
    match (a.block_size(), b.block_size()) {
        (Some(side), Some(of)) if side != of => {
            let found = part(&b, index_b, request.position, side, &mut buffer_b)?;
            if let Some(found) = found {
                compare(&block::decode(&found, None, None, b.limits()).report_to(&mut Vec::new()));
            }
        }
        _ => {
            let Some(at) = index_b.find(request.position) else { return Ok(None) };
            let view = b.read(at, &mut buffer_b).map_err(failed)?;
            view.block.iter().for_each(compare);
        }
    }
    let most = changes.iter().enumerate().rev().max_by_key(|(_, changes)| changes.voxels);
    let cut = most.and_then(|(channel, changes)| {
        let (count, first) = changes.cuts.iter().rev().max_by_key(|(count, _)| *count)?;
        (*count > 0).then_some((channel, *first))
    });
    Ok(cut)
}
