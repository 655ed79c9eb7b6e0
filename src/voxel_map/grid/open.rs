//! Opening the files of a layer, and how they fit together.

use crate::bytes::Span;
use crate::damage::{Code, Damage, Value};
use crate::limits::Limits;
use crate::source::{OpenError, Source};
use crate::voxel_map::flags;
use crate::voxel_map::grid::{Array, BLOCK, Fault, Grid, Index, LayerFile, centimetres};
use crate::voxel_map::map_json::{Format, Layer, plain_name};
use crate::voxel_map::npy::{Dtype, Npy};

/// Pieces of the data that are looked at for depths in the upper half.
const PROBES: u64 = 64;

/// Voxels in such a piece.
const PROBE: u64 = 1 << 13;

/// A depth in centimetres that water can have.
const PLAUSIBLE: std::ops::RangeInclusive<i32> = 1..=1_000_000;

impl<S: Source> Grid<S> {
    /// Opens the files of a layer with `open`, which is given plain names only, and reads the headers and the index.
    /// Damage is in `faults`.
    pub fn open(layer: &Layer, limits: &Limits, open: impl FnMut(&str) -> Result<S, OpenError>) -> Self {
        let mut files = Files { open, faults: Vec::new() };
        let sparse = layer.format == Some(Format::BlockSparse);
        let data = layer.format.and_then(|_| files.array(LayerFile::Data, layer.data_file.as_deref(), true));
        let index_file = layer.index_file.as_deref().filter(|_| sparse);
        let index = if sparse { files.array(LayerFile::Index, index_file, true) } else { None };
        let depth = files.array(LayerFile::Depth, layer.depth_file.as_deref(), false);
        let mut faults = files.faults;
        if sparse && layer.depth_file.as_ref().is_none_or(String::is_empty) {
            faults.push(Fault::new(LayerFile::Map, Damage::new(Code::MapNoDepth, Span::default(), "depthFile")));
        }
        let mut grid =
            Self { format: layer.format, dim: layer.dim, data, index: Index::default(), depth, packed: false, faults };
        grid.fit_data();
        grid.fit_depth();
        grid.fit_index(index, limits);
        grid.fit_counts(layer);
        grid.infer_packing();
        grid
    }

    fn fault(&mut self, part: LayerFile, code: Code, field: &'static str, expected: Value, found: Value) {
        let span = match part {
            LayerFile::Data => self.data.as_ref().map(|array| Span::new(0, array.npy.data.start)),
            LayerFile::Depth => self.depth.as_ref().map(|array| Span::new(0, array.npy.data.start)),
            LayerFile::Map | LayerFile::Index => None,
        };
        let damage = Damage::new(code, span.unwrap_or_default(), field).expected(expected).found(found);
        self.faults.push(Fault::new(part, damage));
    }

    fn fit_data(&mut self) {
        let (Some(format), Some(data)) = (self.format, &self.data) else { return };
        let shape = data.npy.shape.clone();
        match (format, shape.as_slice()) {
            (Format::Dense, &[x, y, z]) => match self.dim {
                Some(dim) if dim.map(u64::from) == [x, y, z] => {}
                Some(dim) => self.fault(
                    LayerFile::Data,
                    Code::MapShape,
                    "shape of the data",
                    Value::triple(dim),
                    Value::Triple([x, y, z].map(|n| i64::try_from(n).unwrap_or(i64::MAX))),
                ),
                None => {
                    let size = |n: u64| u32::try_from(n).ok();
                    self.dim = size(x).zip(size(y)).zip(size(z)).map(|((x, y), z)| [x, y, z]);
                }
            },
            (Format::BlockSparse, &[_, 16, 16, 16]) => {}
            _ => {
                let expected = match format {
                    Format::Dense => "[dim x, dim y, dim z]",
                    Format::BlockSparse => "[blocks, 16, 16, 16]",
                };
                let found = dimensions(&shape);
                self.fault(LayerFile::Data, Code::MapShape, "shape of the data", Value::Words(expected), found);
                self.data = None;
            }
        }
    }

    fn fit_depth(&mut self) {
        let Some(depth) = &self.depth else { return };
        let shape = depth.npy.shape.clone();
        let &[x, z] = shape.as_slice() else {
            let expected = Value::Words("[dim x, dim z]");
            self.fault(LayerFile::Depth, Code::MapShape, "shape of the depth map", expected, dimensions(&shape));
            self.depth = None;
            return;
        };
        if let Some([dx, _, dz]) = self.dim
            && [x, z] != [dx, dz].map(u64::from)
        {
            let of = |x: u64, z: u64| Value::Triple([x, 1, z].map(|n| i64::try_from(n).unwrap_or(i64::MAX)));
            let (expected, found) = (of(u64::from(dx), u64::from(dz)), of(x, z));
            self.fault(LayerFile::Depth, Code::MapShape, "shape of the depth map", expected, found);
        }
    }

    fn fit_index(&mut self, index: Option<Array<S>>, limits: &Limits) {
        let Some(array) = index else { return };
        let &[rows, 3] = array.npy.shape.as_slice() else {
            let found = dimensions(&array.npy.shape);
            self.fault(LayerFile::Index, Code::MapShape, "shape of the index", Value::Words("[blocks, 3]"), found);
            return;
        };
        let limit = u64::try_from(limits.map_blocks).unwrap_or(u64::MAX);
        if rows.min(array.npy.there() / 3) > limit {
            let (expected, found) = (Value::AtMost(limit), Value::Number(rows));
            self.fault(LayerFile::Index, Code::OverLimit, "rows of the index", expected, found);
        }
        match Index::read(&array, limits.map_blocks) {
            Ok(index) => {
                index.check(&array, self.dim, &mut self.faults);
                self.index = index;
            }
            Err(error) => self.faults.push(Fault::unreadable(LayerFile::Index, &error)),
        }
        let stored = self.data.as_ref().and_then(|data| data.npy.shape.first().copied());
        if let Some(stored) = stored.filter(|&stored| stored != rows) {
            let (expected, found) = (Value::Number(rows), Value::Number(stored));
            self.fault(
                LayerFile::Data,
                Code::MapBlockCount,
                "blocks of the data, by the rows of the index,",
                expected,
                found,
            );
        }
    }

    /// Compares the block size and count of the description with the data.
    fn fit_counts(&mut self, layer: &Layer) {
        let sparse = match layer.format {
            Some(format) => format == Format::BlockSparse,
            None => return,
        };
        let size = if sparse { BLOCK } else { 0 };
        if let Some(found) = layer.block_size.filter(|&found| found != size) {
            let (expected, found) = (Value::Number(u64::from(size)), Value::Number(u64::from(found)));
            self.fault(LayerFile::Map, Code::MapBlockSize, "blockSize", expected, found);
        }
        let stored = self.data.as_ref().filter(|_| sparse).and_then(|data| data.npy.shape.first().copied());
        if let (Some(stored), Some(count)) = (stored, layer.block_count)
            && stored != count
        {
            let (expected, found) = (Value::Number(stored), Value::Number(count));
            self.fault(LayerFile::Map, Code::MapBlockCount, "blockCount, by the blocks of the data,", expected, found);
        }
    }

    /// Looks at pieces of the data for depths in the upper half.
    fn infer_packing(&mut self) {
        let Some(Array { source, npy }) = self.data.as_ref().filter(|data| data.npy.dtype.size() == 8) else {
            return;
        };
        let (mut water, mut deep) = (0u64, 0u64);
        let there = npy.there();
        let step = there.div_ceil(PROBES).max(PROBE);
        let mut buffer = Vec::new();
        let mut place = 0;
        while place < there {
            if npy.read(source, place, PROBE, &mut buffer).is_err() {
                // The pass over all voxels meets it again, and reports it.
                break;
            }
            for bits in npy.bits(&buffer).filter(|&bits| flags::is_water(bits)) {
                water = water.saturating_add(1);
                deep = deep.saturating_add(u64::from(PLAUSIBLE.contains(&centimetres(bits))));
            }
            place = place.saturating_add(step);
        }
        self.packed = deep > 0 && deep.saturating_mul(2) >= water;
        if self.packed {
            let span = npy.data;
            let damage = Damage::new(Code::MapPackedDepth, span, "upper half of the voxels");
            let found = Value::Words("depths in centimetres, as inferred");
            self.faults.push(Fault::new(LayerFile::Data, damage.found(found)));
        }
    }
}

/// A shape as a value of a message, as far as it fits one.
fn dimensions(shape: &[u64]) -> Value {
    let size = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    match *shape {
        [x, y, z] => Value::Triple([x, y, z].map(size)),
        [] => Value::Words("a single number"),
        [_] => Value::Words("one dimension"),
        [_, _] => Value::Words("two dimensions of other sizes"),
        _ => Value::Words("four dimensions of other sizes"),
    }
}

struct Files<F> {
    open: F,
    faults: Vec<Fault>,
}

impl<F> Files<F> {
    /// Opens an array; a name that is empty is damage when it is `required`.
    fn array<S>(&mut self, part: LayerFile, name: Option<&str>, required: bool) -> Option<Array<S>>
    where
        S: Source,
        F: FnMut(&str) -> Result<S, OpenError>,
    {
        let field = match part {
            LayerFile::Map => "map_data.json",
            LayerFile::Data => "dataFile",
            LayerFile::Index => "indexFile",
            LayerFile::Depth => "depthFile",
        };
        let name = match name {
            Some(name) if !name.is_empty() || required => name,
            // Its absence is reported with the description; only the index is required by the format alone.
            None if part == LayerFile::Index => "",
            _ => return None,
        };
        if let Err(reason) = plain_name(name) {
            let damage = Damage::new(Code::MapFileName, Span::default(), field);
            let damage = damage.expected(Value::Words("a plain name")).found(Value::Words(reason));
            self.faults.push(Fault::new(LayerFile::Map, damage).detail(name));
            return None;
        }
        let source = match (self.open)(name) {
            Ok(source) => source,
            Err(error) => {
                let missing = matches!(&error, OpenError::Io(error) if error.kind() == std::io::ErrorKind::NotFound);
                let code = if missing { Code::MapFileMissing } else { error.code() };
                let fault = Fault::new(part, Damage::new(code, Span::default(), field));
                self.faults.push(if missing { fault.detail(name) } else { fault.detail(&error.to_string()) });
                return None;
            }
        };
        let mut damage = Vec::new();
        let npy = match Npy::open(&source).map(|npy| npy.report_to(&mut damage)) {
            Ok(npy) => npy,
            Err(error) => {
                self.faults.push(Fault::unreadable(part, &error));
                return None;
            }
        };
        self.faults.extend(damage.into_iter().map(|damage| Fault::new(part, damage)));
        let npy = npy?;
        // The exporter writes int64 or int32 voxels and int32 coordinates; older ones int64.
        let (expected, usual) = match part {
            LayerFile::Depth => ("float32", &[Dtype::F32][..]),
            LayerFile::Index => ("int32", &[Dtype::I32, Dtype::I64][..]),
            LayerFile::Map | LayerFile::Data => ("int64 or int32", &[Dtype::I64, Dtype::I32][..]),
        };
        if !usual.contains(&npy.dtype) {
            let readable = part != LayerFile::Depth && npy.dtype.is_integer();
            let code = if readable { Code::MapDtypeOther } else { Code::MapDtype };
            let damage = Damage::new(code, Span::new(0, npy.data.start), "type of the numbers");
            let damage = damage.expected(Value::Words(expected)).found(Value::Words(npy.dtype.name()));
            self.faults.push(Fault::new(part, damage));
            if !readable {
                return None;
            }
        }
        Some(Array { source, npy })
    }
}
