//! Reading the blocks of a picture, one after the other.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::godot::block::Block;
use crate::pak::chunk::Voxels as ChunkVoxels;
use crate::picture::planned::{self, Planned};
use crate::picture::source::{DENSE, Source, Store, Voxels};
use crate::save::{Pak, PakScratch, StreamScratch};
use crate::source::FileSource;
use crate::voxel_map::grid::Grid;
use crate::world::{At, Buffer, World, unreadable};

/// Buffers for reading block after block.
#[derive(Default)]
pub struct Scratch {
    world: Buffer,
    row: StreamScratch,
    pak: Option<(u32, Option<Pak<FileSource>>)>,
    chunk: PakScratch,
    cells: Vec<u64>,
    bytes: Vec<u8>,
    planned: planned::Scratch,
}

/// A source while its blocks are read.
pub struct Reader<'s> {
    /// The tables.
    pub source: &'s Source,
    world: Option<World<'s>>,
    damaged: Mutex<BTreeMap<[i32; 3], String>>,
    witness: Option<&'s Witness<'s>>,
}

/// Something that sees the voxels of each block that is read.
pub type Witness<'s> = dyn Fn(Voxels<'_>) + Sync + 's;

impl<'s> Reader<'s> {
    pub(super) fn new(source: &'s Source, world: Option<World<'s>>) -> Self {
        Self { source, world, damaged: Mutex::default(), witness: None }
    }

    /// The same reader, which shows the voxels of each block to a witness.
    #[must_use]
    pub fn with_witness(self, witness: &'s Witness<'s>) -> Self {
        Self { witness: Some(witness), ..self }
    }

    /// Blocks that were read and could not be read completely, by their positions, with the reasons in words.
    #[cfg(feature = "cli")]
    pub(crate) fn into_damaged(self) -> BTreeMap<[i32; 3], String> {
        self.damaged.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, at: &At, why: Option<String>) {
        if let Some(why) = why {
            self.damaged.lock().unwrap_or_else(PoisonError::into_inner).insert(at.position, why);
        }
    }

    /// What was read; an error is kept as the reason why the block cannot be.
    fn noted<T, E: ToString>(&self, at: &At, read: Result<T, E>) -> Option<T> {
        read.map_err(|error| self.note(at, Some(error.to_string()))).ok()
    }

    /// Reads a block and does something with its voxels; `None` when nothing of it can be read, or it has another size
    /// than the blocks of its world.
    pub fn block<T>(&self, at: &At, scratch: &mut Scratch, then: impl FnOnce(Voxels<'_>) -> T) -> Option<T> {
        let side = self.source.side;
        let then = |voxels: Voxels<'_>| {
            if let Some(witness) = self.witness {
                witness(voxels);
            }
            then(voxels)
        };
        let sized = |block: &Block<'_>| block.size.map(u32::from) == side;
        let along = u16::try_from(side[0]).ok();
        if let Some(planned) = self.source.planned.as_ref().filter(|_| Planned::has(at)) {
            return planned.block(&self.source.save, at, &mut scratch.planned, |block| {
                sized(block).then(|| then(Voxels::Block(block)))
            });
        }
        match &self.source.store {
            Store::Forest(_) => {
                let read = self.world.as_ref()?.read(at, &mut scratch.world);
                let view = self.noted(at, read)?;
                self.note(at, unreadable(&view, along));
                let block = view.block.as_ref().filter(|block| sized(block))?;
                Some(then(Voxels::Block(block)))
            }
            Store::Stream(stream) => {
                let row = stream.rows.get(at.row())?;
                let view = self.noted(at, stream.view(&row, &mut scratch.row))?;
                self.note(at, unreadable(&view, along));
                let block = view.block.as_ref().filter(|block| sized(block))?;
                Some(then(Voxels::Block(block)))
            }
            Store::PakDir(number) => {
                let save = &self.source.save;
                let dir = save.pak_dirs.get(*number)?;
                if scratch.pak.as_ref().is_none_or(|(file, _)| *file != at.file_number()) {
                    let file = dir.files.get(crate::bytes::index(at.file_number().into()))?;
                    let pak = save.pak(dir, file, &mut Vec::new()).ok().flatten();
                    scratch.pak = Some((at.file_number(), pak));
                }
                let pak = scratch.pak.as_ref()?.1.as_ref()?;
                let record = *pak.records.get(at.row())?;
                let number = u32::try_from(at.row()).ok()?;
                let view = self.noted(at, pak.view(number, record, &mut scratch.chunk))?;
                self.note(at, view.fault());
                let shape = view.shape.map(|shape| shape.value).filter(|shape| shape.size == side)?;
                let data = view.payload?.plain;
                let order = pak.order(&shape).value;
                Some(then(Voxels::Chunk(ChunkVoxels { data, shape, order })))
            }
            Store::Layer(grid, _) => {
                let Scratch { cells, bytes, .. } = scratch;
                if grid.index.is_empty() {
                    dense(grid, at.position, cells, bytes)?;
                } else {
                    self.noted(at, grid.read_block(u32::try_from(at.row()).ok()?, bytes, cells))?;
                }
                Some(then(Voxels::Cells(cells)))
            }
        }
    }

    /// Whether everything of a block can be read.
    pub fn is_readable(&self, at: &At, scratch: &mut Scratch) -> bool {
        match &self.source.store {
            Store::Forest(_) => {
                let view = self.world.as_ref().and_then(|world| world.read(at, &mut scratch.world).ok());
                view.is_some_and(|view| view.is_readable())
            }
            Store::Stream(stream) => {
                let view = stream.rows.get(at.row()).and_then(|row| stream.view(&row, &mut scratch.row).ok());
                view.is_some_and(|view| view.is_readable())
            }
            Store::PakDir(_) | Store::Layer(..) => self.block(at, scratch, |_| ()).is_some(),
        }
    }

    /// Bytes of a block as they are stored; 0 when that cannot be read.
    pub fn stored(&self, at: &At, scratch: &mut Scratch) -> u64 {
        if let Some(planned) = self.source.planned.as_ref().filter(|_| Planned::has(at)) {
            return planned.stored(at);
        }
        match &self.source.store {
            Store::Forest(_) => {
                let Some(world) = &self.world else { return 0 };
                if world.fetch(at, &mut scratch.world).is_err() {
                    return 0;
                }
                let stored = crate::bytes::len64(world.container(&scratch.world));
                // A size prefix that runs past the sectors of the block is damage, not a size.
                stored.min(world.sector_bytes(at).unwrap_or(u64::MAX))
            }
            Store::Stream(stream) => {
                let Some(row) = stream.rows.get(at.row()) else { return 0 };
                if stream.fetch(&row, &mut scratch.row).is_err() {
                    return 0;
                }
                crate::bytes::len64(stream.voxel_bytes(&scratch.row).unwrap_or_default())
            }
            Store::PakDir(number) => {
                let save = &self.source.save;
                let Some(dir) = save.pak_dirs.get(*number) else { return 0 };
                if scratch.pak.as_ref().is_none_or(|(file, _)| *file != at.file_number()) {
                    let file = dir.files.get(crate::bytes::index(at.file_number().into()));
                    let pak = file.and_then(|file| save.pak(dir, file, &mut Vec::new()).ok().flatten());
                    scratch.pak = Some((at.file_number(), pak));
                }
                let pak = scratch.pak.as_ref().and_then(|(_, pak)| pak.as_ref());
                let record = pak.and_then(|pak| Some((pak, *pak.records.get(at.row())?)));
                let located =
                    record.and_then(|(pak, record)| pak.locate(u32::try_from(at.row()).ok()?, record, &mut Vec::new()));
                located.map_or(0, |located| located.stored.len())
            }
            Store::Layer(grid, _) => {
                let width = grid.data.as_ref().map_or(0, |data| data.npy.dtype.size());
                let side = self.source.side;
                // The last pieces of a dense layer have fewer cells.
                let have = |i: usize| match grid.dim {
                    Some(dim) if grid.index.is_empty() => {
                        let from = u32::try_from(at.position[i]).unwrap_or(0).saturating_mul(side[i]);
                        dim[i].saturating_sub(from).min(side[i])
                    }
                    _ => side[i],
                };
                (0..3).map(|i| u64::from(have(i))).fold(width, u64::saturating_mul)
            }
        }
    }

    /// Depths of a run of columns of a layer: those at x for a range of z, in metres; NaN where there is none.
    pub fn depths(&self, x: i64, z: Range<i64>, out: &mut Vec<f32>, bytes: &mut Vec<u8>) {
        out.clear();
        let count = usize::try_from(z.end - z.start).unwrap_or(0);
        out.resize(count, f32::NAN);
        let Store::Layer(grid, _) = &self.source.store else { return };
        let (Some(depth), Ok(x), Ok(first)) = (&grid.depth, u64::try_from(x), u64::try_from(z.start)) else { return };
        if !depth.npy.fortran {
            let Some(place) = depth.npy.place(&[x, first]) else { return };
            // The run ends with the row.
            let width = depth.npy.shape.get(1).copied().unwrap_or(0).saturating_sub(first);
            let run = width.min(u64::try_from(count).unwrap_or(u64::MAX));
            if depth.npy.read(&depth.source, place, run, bytes).is_ok() {
                out.iter_mut().zip(depth.npy.floats(bytes)).for_each(|(to, depth)| *to = depth);
            }
            return;
        }
        for (to, z) in out.iter_mut().zip(first..) {
            let Some(place) = depth.npy.place(&[x, z]) else { continue };
            if depth.npy.read(&depth.source, place, 1, bytes).is_ok() {
                *to = depth.npy.floats(bytes).next().unwrap_or(f32::NAN);
            }
        }
    }
}

/// Reads a piece of a dense layer in the order x, y, z; cells outside of the layer are 0.
fn dense(grid: &Grid<FileSource>, position: [i32; 3], cells: &mut Vec<u64>, bytes: &mut Vec<u8>) -> Option<()> {
    let (dim, data) = (grid.dim?, grid.data.as_ref()?);
    let [sx, sy, sz] = DENSE.map(|n| crate::bytes::index(n.into()));
    cells.clear();
    cells.resize(sx * sy * sz, 0);
    let from = [0, 1, 2].map(|i| u32::try_from(position[i]).unwrap_or(0).saturating_mul(DENSE[i]));
    let have = [0, 1, 2].map(|i| dim[i].saturating_sub(from[i]).min(DENSE[i]));
    let to = |x: u32, y: u32, z: u32| {
        let [x, y, z] = [x, y, z].map(|n| crate::bytes::index(n.into()));
        (x * sy + y) * sz + z
    };
    // Along the axis that runs fastest in the file a run is read at once.
    let (runs, along) = if data.npy.fortran { ([have[2], have[1]], have[0]) } else { ([have[0], have[1]], have[2]) };
    for a in 0..runs[0] {
        for y in 0..runs[1] {
            let corner = if data.npy.fortran { [0, y, a] } else { [a, y, 0] };
            let place = data.npy.place(&[0, 1, 2].map(|i| u64::from(from[i].saturating_add(corner[i]))));
            let Some(place) = place else { continue };
            data.npy.read(&data.source, place, along.into(), bytes).ok()?;
            for (n, value) in (0u32..).zip(data.npy.bits(bytes)).take(crate::bytes::index(along.into())) {
                let at = if data.npy.fortran { to(n, y, a) } else { to(a, y, n) };
                if let Some(cell) = cells.get_mut(at) {
                    *cell = value;
                }
            }
        }
    }
    Some(())
}
