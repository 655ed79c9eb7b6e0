use std::collections::HashMap;
use std::io;

use super::*;
use crate::limits::Limits;
use crate::source::OpenError;
use crate::voxel_map::map_json::Layer;
use crate::voxel_map::npy::Dtype;
use crate::watch::Watch;

pub(crate) type Files = HashMap<&'static str, Vec<u8>>;

pub(crate) fn array(dtype: Dtype, shape: &[u64], data: impl IntoIterator<Item = u64>) -> Vec<u8> {
    let mut out = Npy::new(dtype, shape).encode(16);
    for n in data {
        let size = usize::try_from(dtype.size()).unwrap();
        out.extend(&n.to_le_bytes()[..size]);
    }
    out
}

/// Two blocks of open water, the second with two voxels of its own; 20 x 16 x 32 cells.
pub(crate) fn sparse() -> (Layer, Files) {
    let layer = Layer {
        name: Some("Global".to_owned()),
        format: Some(Format::BlockSparse),
        block_size: Some(16),
        block_count: Some(2),
        data_file: Some("d".to_owned()),
        index_file: Some("i".to_owned()),
        depth_file: Some("z".to_owned()),
        dim: Some([20, 16, 32]),
        ..Layer::default()
    };
    let mut voxels = vec![1u64; 8192];
    voxels[4096] = 5;
    voxels[4096 + 16 * 3 + 2] = 9;
    let files = HashMap::from([
        ("d", array(Dtype::I64, &[2, 16, 16, 16], voxels)),
        ("i", array(Dtype::I32, &[2, 3], [0, 0, 1, 0, 0, 0])),
        ("z", array(Dtype::F32, &[20, 32], [2.5f32.to_bits(); 640].map(u64::from))),
    ]);
    (layer, files)
}

pub(crate) fn dense(dtype: Dtype, voxels: impl Fn([u64; 3]) -> u64) -> (Layer, Files) {
    let layer = Layer {
        format: Some(Format::Dense),
        block_size: Some(0),
        block_count: Some(0),
        data_file: Some("d".to_owned()),
        index_file: Some(String::new()),
        dim: Some([5, 3, 7]),
        ..Layer::default()
    };
    let cells = (0..105).map(|n| voxels([n / 21, n / 7 % 3, n % 7]));
    (layer, HashMap::from([("d", array(dtype, &[5, 3, 7], cells))]))
}

pub(crate) fn open((layer, files): &(Layer, Files)) -> Grid<Vec<u8>> {
    Grid::open(layer, &Limits::DEFAULT, |name| {
        files.get(name).cloned().ok_or_else(|| OpenError::Io(io::ErrorKind::NotFound.into()))
    })
}

pub(crate) fn codes(faults: &[Fault]) -> Vec<(LayerFile, Code)> {
    faults.iter().map(|fault| (fault.part, fault.damage.code)).collect()
}

#[test]
fn a_voxel_is_found_in_its_block() {
    let grid = open(&sparse());
    assert_eq!(grid.faults, []);
    let at = |cell| grid.voxel(cell).unwrap();
    // The second row of the index is the block at the origin.
    assert_eq!(at([0, 0, 0]).unwrap().block, Some((1, [0, 0, 0])));
    assert_eq!([at([0, 0, 0]), at([0, 3, 2]), at([0, 0, 16])].map(|v| v.unwrap().bits.unwrap()), [5, 9, 1]);
    assert_eq!(at([0, 3, 2]).unwrap().depth, Some(2.5));
    let empty = at([16, 0, 0]).unwrap();
    assert_eq!((empty.block, empty.bits, empty.depth), (None, None, Some(2.5)));
    assert_eq!([at([20, 0, 0]), at([0, 16, 0]), at([0, 0, 32]), at([u32::MAX; 3])], [None; 4]);
    assert_eq!(grid.cell_at(4096 + 16 * 3 + 2), Some([0, 3, 2]));
    assert_eq!(grid.cell_at(15), Some([0, 0, 31]));
    assert_eq!(grid.blocks(), 2);
    let data = grid.data.as_ref().unwrap();
    assert_eq!(grid.block_span(1), Span::new(data.npy.data.start + 32768, data.npy.data.end));
    assert!(grid.block_span(2).is_empty());
}

#[test]
fn depth_in_the_upper_half_is_inferred() {
    let packed = dense(Dtype::I64, |[x, y, z]| if y == 1 { (150 + x) << 32 | 1 } else { z & 1 << 1 });
    let grid = open(&packed);
    assert_eq!(codes(&grid.faults), [(LayerFile::Data, Code::MapPackedDepth)]);
    let voxel = grid.voxel([2, 1, 0]).unwrap().unwrap();
    assert_eq!((voxel.flags, voxel.depth), (1, Some(1.52)));
    // One voxel with a high bit is no depth map.
    let grid = open(&dense(Dtype::I64, |at| if at == [1, 1, 1] { 1 << 40 | 1 } else { 1 }));
    assert_eq!((grid.packed, grid.faults.len()), (false, 0));
    assert_eq!(grid.voxel([1, 1, 1]).unwrap().unwrap().flags, 1 << 40 | 1);
    // No water, no depth.
    assert!(!open(&dense(Dtype::I64, |_| 1 << 40)).packed);
}

#[test]
fn a_32_bit_voxel_is_not_extended_by_its_sign() {
    let grid = open(&dense(Dtype::I32, |_| 0x8000_0001));
    assert_eq!(grid.voxel([0; 3]).unwrap().unwrap().flags, 0x8000_0001);
}

#[test]
fn names_that_lead_out_are_refused_and_nothing_is_opened() {
    for name in ["../d", "/d", "..", "C:d", "a\\d", ""] {
        let (mut layer, _) = sparse();
        layer.data_file = Some(name.to_owned());
        layer.index_file = Some(name.to_owned());
        layer.depth_file = Some("../z".to_owned());
        let grid = Grid::<Vec<u8>>::open(&layer, &Limits::DEFAULT, |name| panic!("{name} opened"));
        assert_eq!(codes(&grid.faults), [(LayerFile::Map, Code::MapFileName); 3], "{name}");
        assert_eq!(grid.voxel([0; 3]).unwrap().unwrap().bits, None);
    }
}

#[test]
fn what_is_missing_or_of_another_kind() {
    let faults = |change: &dyn Fn(&mut Layer, &mut Files)| {
        let (mut layer, mut files) = sparse();
        change(&mut layer, &mut files);
        let grid = open(&(layer, files));
        crate::voxel_map::scan::scan(&grid, &Limits::DEFAULT, &Watch::default());
        for cell in [[0; 3], [0, 0, 16], [19, 15, 31]] {
            grid.voxel(cell).unwrap();
        }
        codes(&grid.faults)
    };
    let file = |name: &'static str, bytes: Vec<u8>| faults(&|_, files| drop(files.insert(name, bytes.clone())));
    for (name, part) in [("d", LayerFile::Data), ("i", LayerFile::Index), ("z", LayerFile::Depth)] {
        assert_eq!(faults(&|_, files| drop(files.remove(name))), [(part, Code::MapFileMissing)]);
    }
    assert_eq!(faults(&|layer, _| layer.depth_file = None), [(LayerFile::Map, Code::MapNoDepth)]);
    assert_eq!(faults(&|layer, _| layer.index_file = None), [(LayerFile::Map, Code::MapFileName)]);
    assert_eq!(faults(&|layer, _| layer.block_size = Some(8)), [(LayerFile::Map, Code::MapBlockSize)]);
    assert_eq!(faults(&|layer, _| layer.block_count = Some(3)), [(LayerFile::Map, Code::MapBlockCount)]);
    assert_eq!(faults(&|layer, _| layer.dim = None), []);
    assert_eq!(faults(&|layer, _| layer.format = None), []);
    assert_eq!(
        faults(&|layer, _| layer.format = Some(Format::Dense)).first(),
        Some(&(LayerFile::Data, Code::MapShape))
    );
    let numbers = |n| (0..n).map(|_| 0);
    for dtype in [Dtype::U8, Dtype::U16, Dtype::U32, Dtype::U64, Dtype::I8, Dtype::I16] {
        let expected = [(LayerFile::Data, Code::MapDtypeOther)];
        assert_eq!(file("d", array(dtype, &[2, 16, 16, 16], numbers(8192))), expected, "{dtype:?}");
        let rows = [0, 0, 1, 0, 0, 0];
        assert_eq!(file("i", array(dtype, &[2, 3], rows)), [(LayerFile::Index, Code::MapDtypeOther)], "{dtype:?}");
    }
    assert_eq!(file("d", array(Dtype::F32, &[2, 16, 16, 16], numbers(8192))), [(LayerFile::Data, Code::MapDtype)]);
    assert_eq!(file("d", array(Dtype::I32, &[2, 16, 16, 8], numbers(4096))), [(LayerFile::Data, Code::MapShape)]);
    assert_eq!(
        file("d", array(Dtype::I32, &[1, 16, 16, 16], numbers(4096))),
        [(LayerFile::Data, Code::MapBlockCount), (LayerFile::Map, Code::MapBlockCount)]
    );
    assert_eq!(file("i", array(Dtype::I32, &[3, 2], numbers(6))), [(LayerFile::Index, Code::MapShape)]);
    assert_eq!(file("i", array(Dtype::I32, &[2, 3], numbers(6))), [(LayerFile::Index, Code::MapIndexTwice)]);
    assert_eq!(
        file("i", array(Dtype::I32, &[2, 3], [0, 0, 0, 2, 0, u64::from(u32::MAX)])),
        [(LayerFile::Index, Code::MapIndexRange)]
    );
    assert_eq!(file("i", array(Dtype::I32, &[2, 3], numbers(5))), [(LayerFile::Index, Code::NpyTruncated)]);
    assert_eq!(file("z", array(Dtype::F32, &[32, 20], numbers(640))), [(LayerFile::Depth, Code::MapShape)]);
    assert_eq!(file("z", array(Dtype::F32, &[640], numbers(640))), [(LayerFile::Depth, Code::MapShape)]);
    assert_eq!(file("z", array(Dtype::I32, &[20, 32], numbers(640))), [(LayerFile::Depth, Code::MapDtype)]);
    assert_eq!(file("z", Vec::new()), [(LayerFile::Depth, Code::NpyCut)]);
}

#[test]
fn a_place_is_where_the_first_row_says() {
    let (layer, mut files) = sparse();
    files.insert("i", array(Dtype::I32, &[2, 3], [0; 6]));
    let grid = open(&(layer, files));
    assert_eq!(grid.faults[0].first, Some([0; 3]));
    assert_eq!(grid.faults[0].damage.span, Span::sized(grid.faults[0].damage.span.start, 12));
    assert_eq!(grid.voxel([0; 3]).unwrap().unwrap().block, Some((0, [0; 3])));
}

#[test]
fn shapes_that_lie_allocate_nothing() {
    let (layer, mut files) = sparse();
    files.insert("i", array(Dtype::I32, &[1 << 60, 3], [0, 0, 1, 0, 0, 0]));
    files.insert("d", array(Dtype::I64, &[1 << 48, 16, 16, 16], (0..100).map(|_| 1)));
    files.insert("z", array(Dtype::F32, &[1 << 60, 1], (0..100).map(|_| 0)));
    let grid = open(&(layer, files));
    assert_eq!(grid.index.len(), 2);
    assert_eq!(grid.voxel([0, 0, 16]).unwrap().unwrap().bits, Some(1));
    assert_eq!(grid.voxel([0, 0, 0]).unwrap().unwrap().bits, None);
    let report = crate::voxel_map::scan::scan(&grid, &Limits::DEFAULT, &Watch::default());
    assert_eq!((report.counts.voxels, report.depths.unwrap().zero), (100, 100));
}
