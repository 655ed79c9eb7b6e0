//! Pak regions of the same terrain, written healthy or altered.

use std::io;
use std::path::Path;

use crate::demo::draft::unmade;
use crate::demo::forest::{DEPTHS, write_new};
use crate::demo::terrain::Terrain;
use crate::pak::BLOCK_BYTES;
use crate::pak::build::Builder;
use crate::pak::chunk::{Order, Shape, Voxels};
use crate::pak::offset::Reading;
use crate::pak::place::{self, CUBE_RECORDS, Grid, LAYER_RECORDS};
use crate::pak::record;

/// The tag of the demo's files; its meaning is unknown.
const TAG: [u8; 4] = *b"demo";

/// A current cube with voxels of one byte.
pub(super) const CUBE: Shape = Shape { size: [32; 3], voxel_bytes: 1 };

/// Chunks of a region, and how its file stores them.
pub(super) struct PakSpec {
    pub version: i32,
    pub records: u32,
    pub reading: Reading,
    pub shape: Shape,
    /// Coordinates of the region.
    pub region: [i32; 3],
    /// Records that have a chunk.
    pub chunks: &'static [u32],
}

impl Default for PakSpec {
    fn default() -> Self {
        Self {
            version: 7,
            records: LAYER_RECORDS,
            reading: Reading::Blocks,
            shape: CUBE,
            region: [0; 3],
            chunks: &[0, 1, 33],
        }
    }
}

impl PakSpec {
    /// The shape that older games wrote.
    pub fn old() -> Self {
        let shape = Shape { size: [16, 48, 16], voxel_bytes: 1 };
        Self { version: 6, records: CUBE_RECORDS, shape, ..Self::default() }
    }

    pub fn name(&self) -> String {
        place::name(self.region)
    }

    /// The bytes of a chunk's voxels.
    pub fn plain(&self, number: u32) -> Vec<u8> {
        // Chunks without positions are placed in a row.
        let at = Grid::from_record_count(self.records).and_then(|grid| grid.value.chunk(self.region, number));
        plain(self.shape, at.unwrap_or([i32::try_from(number).unwrap_or(0), 0, 0]))
    }

    /// The file, its chunks in the order of [`chunks`](Self::chunks).
    pub fn build(&self) -> io::Result<Vec<u8>> {
        self.build_with(|number| crate::pak::payload::encode(&self.plain(number)))
    }

    /// The file, with given zlib streams.
    pub fn build_with(&self, stream: impl Fn(u32) -> Vec<u8>) -> io::Result<Vec<u8>> {
        let mut builder = Builder::new(TAG, self.version, self.records, self.reading);
        for &number in self.chunks {
            builder.push_stored(number, &stream(number)).ok_or_else(|| unmade("a chunk that has no room"))?;
        }
        Ok(builder.finish())
    }

    pub fn write(&self, dir: &Path) -> io::Result<()> {
        write_new(dir, Path::new(&self.name()), &self.build()?)
    }
}

/// The voxels of a chunk: materials, in the usual order of its shape.
fn plain(shape: Shape, [cx, cy, cz]: [i32; 3]) -> Vec<u8> {
    let terrain = Terrain::new(5);
    let [sx, sy, sz] = shape.size;
    let side = u16::try_from(sx).unwrap_or(16);
    let layers = sy.div_ceil(sx.max(1));
    let block = |layer: u32| {
        let y = cy.saturating_mul(i32::try_from(layers).unwrap_or(1)).saturating_add(i32::try_from(layer).unwrap_or(0));
        terrain.block(0, [cx, y, cz], side, &DEPTHS, 4)
    };
    let mut out = Vec::new();
    for layer in 0..layers {
        let block = block(layer);
        let view = block.view();
        for y in layer * sx..((layer + 1) * sx).min(sy) {
            for (z, x) in (0..sz).flat_map(|z| (0..sx).map(move |x| (z, x))) {
                let inside = [x, y - layer * sx, z].map(|n| u16::try_from(n).unwrap_or(0));
                let material = view.voxel(0, inside).unwrap_or(0).to_le_bytes();
                out.extend(material.into_iter().take(shape.voxel_bytes.into()));
            }
        }
    }
    let order = Order::of_shape(&shape).value;
    if order == Order::Yzx {
        return out;
    }
    let [voxels, target] = [Order::Yzx, order].map(|order| Voxels { data: &out, shape, order });
    let mut sorted = out.clone();
    for (x, y, z) in (0..sx).flat_map(|x| (0..sy).flat_map(move |y| (0..sz).map(move |z| (x, y, z)))) {
        if let (Some(from), Some(to)) = (voxels.span([x, y, z]), target.span([x, y, z])) {
            let [from, to] = [from, to].map(|span| span.start as usize..span.end as usize);
            sorted[to].copy_from_slice(&out[from]);
        }
    }
    sorted
}

/// Makes a sample of one small region by altering the bytes of its file; the change gets where the record and the stream
/// of its second chunk begin, and the length of that.
pub(super) fn alter(dir: &Path, change: impl FnOnce(&mut Vec<u8>, Victim)) -> io::Result<()> {
    let spec = PakSpec::default();
    let mut file = spec.build()?;
    let victim = Victim::find(&spec, &file).ok_or_else(|| unmade("a region without chunks"))?;
    change(&mut file, victim);
    write_new(dir, Path::new(&spec.name()), &file)
}

/// Makes a sample of one small region, with another stream for its second chunk; the change gets the plain chunk.
pub(super) fn stream(dir: &Path, change: impl Fn(Vec<u8>) -> Vec<u8>) -> io::Result<()> {
    let spec = PakSpec::default();
    let file = spec.build_with(|number| {
        let plain = spec.plain(number);
        if spec.chunks.get(1) == Some(&number) { change(plain) } else { crate::pak::payload::encode(&plain) }
    })?;
    write_new(dir, Path::new(&spec.name()), &file)
}

/// The chunk that samples damage.
#[derive(Clone, Copy)]
pub(super) struct Victim {
    /// Offset of its record.
    pub record: usize,
    /// Offset of its zlib stream.
    pub start: usize,
    /// Bytes of that.
    pub len: usize,
}

impl Victim {
    fn find(spec: &PakSpec, file: &[u8]) -> Option<Self> {
        let at = usize::try_from(record::span(*spec.chunks.get(1)?).start).ok()?;
        let record = record::Record::decode(*file.get(at..)?.first_chunk()?);
        let first = record::blocks_for(16 + 8 * u64::from(spec.records));
        let start = (first + u64::try_from(record.block_offset).ok()?) * BLOCK_BYTES;
        Some(Self { record: at, start: usize::try_from(start).ok()?, len: usize::try_from(record.file_length).ok()? })
    }
}
