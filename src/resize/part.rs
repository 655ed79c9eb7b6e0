//! Makes a block of another size from the blocks of a world.

use super::{Cube, Fill, rescale};
use crate::axes;
use crate::godot::block;
use crate::godot::channel::{CHANNELS, Depth};
use crate::world::{Buffer, Index, World, unreadable};

/// The data, as the current engine stores it and without metadata, of the block of `side` voxels at a position in blocks of
/// that size; `None` where the world has no voxel of it.
///
/// # Errors
/// A sentence, if a block cannot be read.
pub(crate) fn part(
    world: &World<'_>,
    index: &Index,
    position: [i32; 3],
    side: u16,
    buffer: &mut Buffer,
) -> Result<Option<Vec<u8>>, String> {
    let own = world.block_size().filter(|own| *own > 0).ok_or("the size of its blocks is unknown")?;
    let low = position.map(|n| i64::from(n) * i64::from(side));
    let block_of = |voxel: i64| i32::try_from(voxel.div_euclid(i64::from(own))).unwrap_or(i32::MAX);
    let mut sdf = Vec::new();
    let mut cube = None;
    let (mut before, mut why) = (Vec::new(), None);
    let (first, n) = (low.map(block_of), i32::from(side.div_ceil(own)));
    for (z, x, y) in (0..n).flat_map(|z| (0..n).flat_map(move |x| (0..n).map(move |y| (z, x, y)))) {
        let step = [x, y, z];
        let Some(at) = index.find(axes::combine(first, step, i32::saturating_add)) else {
            continue;
        };
        let view = world.read(at, buffer).map_err(|error| error.to_string())?;
        let fault = unreadable(&view, Some(own));
        let Some(mut block) = view.block.filter(|_| fault.is_none()) else {
            why = fault;
            continue;
        };
        rescale(&mut block, &mut sdf);
        if own >= side {
            let inside = |n: i64| usize::try_from(n.rem_euclid(i64::from(own))).unwrap_or(0);
            cube = Some(Cube::cut(&block, low.map(inside), side));
            continue;
        }
        let mut depths = [Depth::Bits8; CHANNELS];
        for (depth, channel) in depths.iter_mut().zip(&block.channels) {
            *depth = channel.depth;
        }
        let corner = step.map(|n| usize::from(own) * usize::try_from(n).unwrap_or(0));
        cube.get_or_insert_with(|| Cube::new(side, depths)).put(corner, &block, &before, &Fill::default());
        before.push(corner);
    }
    let Some(mut cube) = cube else { return why.map_or(Ok(None), Err) };
    if own < side {
        cube.finish(&before, own, &Fill::default());
    }
    let (mut uniform, mut plain) = (Vec::new(), Vec::new());
    block::encode(&cube.block(&mut uniform), &mut plain);
    Ok(Some(plain))
}
