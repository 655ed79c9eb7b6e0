//! Reads the blocks of rows for a comparison of their sides.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_128;

use crate::bytes::index;
use crate::godot::stream::loc::Place;
use crate::limits::Limits;
use crate::parallel;
use crate::recover::faces::Faces;
use crate::recover::walk::Walked;
use crate::save::{Stream, StreamRow, StreamScratch, View};
use crate::source::Source;

/// Bytes that the sides of blocks may take; those of further blocks are not kept.
const FACE_BYTES: usize = 24 << 20;

/// Stored and decompressed bytes above which a block is not compared: those of the engine have 32 voxels along each axis, which are
/// at most 2 MiB with all channels of 64 bits.
const STORED_BYTES: u64 = 1 << 20;
const PLAIN_BYTES: u64 = 4 << 20;

/// Rows that are read before their results are used.
const STEP: usize = 256;

/// A block with its outer layers.
struct Block {
    size: u32,
    content: u128,
    voxels: u128,
    version: u8,
    faces: Option<Faces>,
}

/// The place beside another one.
pub(super) fn step(place: Place, axis: usize, upper: bool) -> Option<Place> {
    let mut position = place.position;
    position[axis] = if upper { position[axis].checked_add(1)? } else { position[axis].checked_sub(1)? };
    Some(Place { position, ..place })
}

/// What `work` makes of the whole blocks of rows, in their order; nothing of damaged ones, of large ones, and of those of another
/// size.
pub(super) fn read_blocks<S: Source, R: Send>(
    stream: &Stream<S>,
    rows: &[StreamRow],
    work: impl Fn(&View<'_>) -> Option<R> + Sync,
) -> io::Result<Vec<Option<R>>> {
    let size = stream.meta.block_size().map(|side| [side; 3]);
    let limits = Limits { block_bytes: stream.limits.block_bytes.min(PLAIN_BYTES), ..stream.limits };
    parallel::try_map_with(rows, |scratch: &mut StreamScratch, row| {
        if u64::from(row.payload) > STORED_BYTES {
            return Ok(None);
        }
        stream.fetch(row, scratch)?;
        let view = stream.block_within(scratch, &limits);
        let block = view.block.as_ref().filter(|block| block.epilogue.is_some() && view.is_readable());
        let is_whole = view.container.as_ref().is_some_and(|container| container.whole)
            && block.is_some_and(|block| size.is_none_or(|size| block.size == size));
        Ok(if is_whole { work(&view) } else { None })
    })
}

/// The blocks of rows as a walk over a region would find them, each one sector long, and the indices of their rows.
pub(super) fn walk_rows<S: Source>(stream: &Stream<S>, rows: &[StreamRow]) -> io::Result<(Vec<Walked>, Vec<usize>)> {
    let (mut walked, mut of_row): (Vec<Walked>, Vec<usize>) = (Vec::new(), Vec::new());
    // Blocks of the same voxels share their sides.
    let mut known: HashMap<u128, Option<Arc<Faces>>> = HashMap::new();
    let mut left = FACE_BYTES;
    for (step, rows) in rows.chunks(STEP).enumerate() {
        for (i, block) in read_blocks(stream, rows, read_sides)?.into_iter().enumerate() {
            let Some(Block { size, content, voxels, version, faces }) = block else { continue };
            let faces = known.entry(voxels).or_insert_with(|| {
                let faces = faces.filter(|faces| faces.bytes() <= left)?;
                left = left.saturating_sub(faces.bytes());
                Some(Arc::new(faces))
            });
            let first = u32::try_from(walked.len()).unwrap_or(u32::MAX);
            of_row.push(step * STEP + i);
            walked.push(Walked {
                first,
                count: 1,
                size,
                content,
                voxels,
                slack: 0,
                padded: true,
                plain: false,
                version,
                odd: false,
                splice: None,
                faces: faces.clone(),
            });
        }
    }
    Ok((walked, of_row))
}

fn read_sides(view: &View<'_>) -> Option<Block> {
    let (container, block) = (view.container.as_ref()?, view.block.as_ref()?);
    let end = block.channels.last().and_then(|last| last.offset.checked_add(last.size));
    let voxels = end.and_then(|end| container.plain.get(..index(end)))?;
    Some(Block {
        size: u32::try_from(view.bytes.len()).unwrap_or(u32::MAX),
        content: xxh3_128(container.plain),
        voxels: xxh3_128(voxels),
        version: block.version,
        faces: Faces::read_sides(block, true),
    })
}
