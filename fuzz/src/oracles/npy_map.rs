//! A layer of a voxel map with its arrays: bytes of files.
//!
//! A byte of settings, three of sizes, the lengths of two files (16 bits each), and the bytes of three.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use arbitrary::{Result, Unstructured};
use voxscope::damage::{Code, Level};
use voxscope::limits::Limits;
use voxscope::source::OpenError;
use voxscope::voxel_map::flags;
use voxscope::voxel_map::grid::{Grid, LayerFile};
use voxscope::voxel_map::map_json::{Format, Layer, plain_name};
use voxscope::voxel_map::scan::{Report, scan};
use voxscope::watch::Watch;

use super::{Reach, limits};

/// The files of a layer, by name.
pub(super) type Files = BTreeMap<String, Vec<u8>>;

/// The input is settings and files.
pub fn check(data: &[u8]) -> Reach {
    raw(&mut Unstructured::new(data)).unwrap_or(Reach::Refused)
}

/// The codes of all faults.
pub(super) fn codes(grid: &Grid<Vec<u8>>, report: &Report) -> BTreeSet<&'static str> {
    grid.faults.iter().chain(&report.faults).map(|fault| fault.damage.code.name()).collect()
}

/// Opens and scans; what is reported lies inside its file and only plain names are asked for.
pub(super) fn open(layer: &Layer, files: &Files) -> (Grid<Vec<u8>>, Report) {
    let grid = Grid::open(layer, &limits(), |name| {
        assert_eq!(plain_name(name), Ok(()), "{name:?} was opened");
        files.get(name).cloned().ok_or_else(|| OpenError::Io(io::ErrorKind::NotFound.into()))
    });
    let report = scan(&grid, &limits(), &Watch::default());
    for fault in grid.faults.iter().chain(&report.faults) {
        let name = match fault.part {
            LayerFile::Map => None,
            LayerFile::Data => layer.data_file.as_deref(),
            LayerFile::Index => layer.index_file.as_deref(),
            LayerFile::Depth => layer.depth_file.as_deref(),
        };
        let len = name.and_then(|name| files.get(name)).map_or(0, Vec::len) as u64;
        let span = fault.damage.span;
        assert!(span.start <= span.end && span.end <= len, "{fault:?} lies outside a file of {len} bytes");
        assert!(fault.count > 0 && !fault.damage.to_string().is_empty(), "{fault:?} says nothing");
    }
    for array in [&grid.data, &grid.depth].into_iter().flatten() {
        let product = array.npy.shape.iter().try_fold(1u128, |n, &d| n.checked_mul(d.into())).unwrap_or(u128::MAX);
        let all = product.saturating_mul(array.npy.dtype.size().into());
        let cut = codes(&grid, &report).contains(Code::NpyTruncated.name());
        assert!(cut || u128::from(array.npy.data.len()) == all, "another size than that of the shape: {:?}", array.npy);
    }
    let there = grid.data.as_ref().map_or(0, |data| data.npy.there());
    assert_eq!(report.counts.voxels, there, "voxels that were not counted, or twice");
    let named: u64 = report.counts.named().map(|(_, count)| count).max().unwrap_or(0);
    assert!(named <= report.counts.voxels && report.counts.counted().count() <= 25, "more flags than voxels");
    for (flag, _) in report.counts.counted() {
        assert!(flags::names(flag.mask()).eq([flag]) && flag.to_string() == flag.name, "{flag:?}");
    }
    assert!(!report.stopped);
    (grid, report)
}

/// Cells at the edges and blocks at the ends can be asked for, whatever there is.
pub(super) fn read_some(grid: &Grid<Vec<u8>>) {
    let dim = grid.dim.unwrap_or([1; 3]);
    for cell in [[0; 3], dim.map(|d| d.saturating_sub(1)), dim.map(|d| d / 2), dim, [u32::MAX; 3]] {
        let outside = cell.iter().zip(dim).any(|(&at, size)| at >= size);
        let voxel = grid.voxel(cell).unwrap_or_default();
        assert!(!(outside && voxel.is_some()), "{voxel:?} outside the layer");
    }
    let (mut buffer, mut voxels) = (Vec::new(), Vec::new());
    for place in [0, 15, 4095, 4096, u64::MAX] {
        let cell = grid.cell_at(place);
        assert!(cell.is_none() || grid.data.is_some(), "{cell:?} of no data");
    }
    for row in [1, grid.blocks().saturating_sub(1), u32::MAX] {
        let read = grid.read_block(row, &mut buffer, &mut voxels);
        assert!(read.is_ok() && voxels.len() <= 4096, "block {row}");
        let span = grid.block_span(row);
        if row == 1 {
            let counted = grid.count_block(row, &mut buffer, &mut voxels).map(|counts| counts.voxels);
            assert_eq!(counted.ok(), Some(voxels.len() as u64), "block {row} at {span}");
        }
        assert!(row < grid.blocks() || voxels.is_empty(), "a block that is not there");
    }
}

/// The layer and the files that an input stands for.
pub(super) fn files(u: &mut Unstructured<'_>) -> Result<(Layer, Files)> {
    let bits: u8 = u.arbitrary()?;
    let dim: [u8; 3] = [u.arbitrary()?, u.arbitrary()?, u.arbitrary()?];
    let lengths: [u16; 2] = [u.arbitrary()?, u.arbitrary()?];
    let sparse = bits & 1 != 0;
    let name = |name: &str| Some(name.to_owned());
    let layer = Layer {
        format: Some(if sparse { Format::BlockSparse } else { Format::Dense }),
        data_file: name("d"),
        index_file: name(if sparse { "i" } else { "" }),
        depth_file: name(if bits & 2 != 0 { "z" } else { "" }),
        dim: (bits & 4 == 0).then_some(dim.map(|n| 1 + u32::from(n))),
        ..Layer::default()
    };
    let mut files = Files::new();
    for (name, length) in [("d", lengths[0]), ("i", lengths[1])] {
        let length = usize::from(length).min(u.len());
        files.insert(name.to_owned(), u.bytes(length)?.to_vec());
    }
    files.insert("z".to_owned(), u.bytes(u.len())?.to_vec());
    Ok((layer, files))
}

fn raw(u: &mut Unstructured<'_>) -> Result<Reach> {
    let (layer, files) = files(u)?;
    let (grid, report) = open(&layer, &files);
    read_some(&grid);
    let again = scan(&grid, &Limits::DEFAULT, &Watch::default());
    assert_eq!(again.counts, report.counts, "another count the second time");
    let faults = grid.faults.iter().chain(&report.faults);
    let passed = faults.into_iter().all(|fault| fault.damage.code.level() == Level::Note);
    Ok(match (&grid.data, report.counts.voxels) {
        (None, _) => Reach::Refused,
        (_, 0) => Reach::Header,
        _ if passed => Reach::Healthy,
        _ => Reach::Content,
    })
}
