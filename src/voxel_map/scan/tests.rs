use super::*;
use crate::voxel_map::flags::KNOWN;
use crate::voxel_map::grid::tests::{Files, array, codes, dense, open, sparse};
use crate::voxel_map::map_json::Layer;
use crate::voxel_map::npy::Dtype;
use crate::watch::Watch;

fn report(files: &(Layer, Files)) -> Report {
    scan(&open(files), &Limits::DEFAULT, &Watch::default())
}

/// Code, how often, the first cell.
fn found(report: &Report) -> Vec<(Code, u64, Option<[i64; 3]>)> {
    report.faults.iter().map(|fault| (fault.damage.code, fault.count, fault.first)).collect()
}

fn with_data(voxels: &[u64]) -> Report {
    let (layer, mut files) = sparse();
    files.insert("d", array(Dtype::I64, &[2, 16, 16, 16], voxels.iter().copied()));
    report(&(layer, files))
}

#[test]
fn a_healthy_layer_is_counted() {
    let (layer, files) = sparse();
    let layer = Layer { dim: Some([32, 16, 32]), ..layer };
    let depth = array(Dtype::F32, &[32, 32], (0..1024).map(|n| u64::from((n as f32 + 1.0).to_bits())));
    let files = files.into_iter().chain([("z", depth)]).collect();
    let report = report(&(layer, files));
    assert_eq!(report.faults, []);
    let counts = report.counts;
    assert_eq!((counts.voxels, counts.water(), counts.open_water, counts.set), (8192, 8192, 8190, 8192));
    assert_eq!((counts.flags[2], counts.flags[3]), (1, 1));
    assert_eq!((report.bytes, report.stopped), (65536, false));
    assert_eq!(report.depths.unwrap().range, Some((1.0, 1024.0)));
}

#[test]
fn each_kind_once_with_how_often_and_where_first() {
    let mut voxels = vec![0; 8192];
    voxels[7] = 4;
    voxels[5000] = 6;
    assert_eq!(found(&with_data(&voxels)), [(Code::MapFlagDry, 2, Some([0, 0, 16 + 7]))]);
    voxels[3] = 1 << 25;
    voxels[4096] = 1 << 63 | 1;
    let report = with_data(&voxels);
    assert_eq!(
        found(&report),
        [(Code::MapFlagUnknown, 2, Some([0, 0, 16 + 3])), (Code::MapFlagDry, 2, Some([0, 0, 16 + 7]))]
    );
    assert_eq!(report.faults[0].damage.span.len(), 8);
    // All voxels of a block alike.
    let report = with_data(&[2 | 1 << 30; 8192]);
    assert_eq!(report.counts.unknown, 8192);
    assert_eq!(codes(&report.faults), [(LayerFile::Data, Code::MapFlagUnknown), (LayerFile::Data, Code::MapFlagDry)]);
}

#[test]
fn voxels_beyond_the_extent() {
    let (layer, files) = sparse();
    let layer = Layer { dim: Some([20, 3, 32]), ..layer };
    let report = report(&(layer.clone(), files.clone()));
    // 13 of 16 layers in each of two blocks; the depth map fits.
    assert_eq!(found(&report), [(Code::MapBeyondDim, 2 * 13 * 256, Some([0, 3, 16]))]);
    // The same in Fortran order.
    let mut npy = crate::voxel_map::npy::Npy::new(Dtype::I64, &[2, 16, 16, 16]);
    npy.fortran = true;
    let data = [npy.encode(64), [1u8, 0, 0, 0, 0, 0, 0, 0].repeat(8192)].concat();
    let files: Files = files.into_iter().chain([("d", data)]).collect();
    let report = scan(&open(&(layer, files)), &Limits::DEFAULT, &Watch::default());
    assert_eq!(report.faults[0].count, 2 * 13 * 256);
}

#[test]
fn water_without_a_depth() {
    let (layer, mut files) = sparse();
    let mut depth = [2.0f32; 640];
    (depth[0], depth[17], depth[33], depth[19 * 32 + 31]) = (0.0, f32::NAN, -1.0, f32::INFINITY);
    files.insert("z", array(Dtype::F32, &[20, 32], depth.map(|d| u64::from(d.to_bits()))));
    let all = report(&(layer, files));
    // Columns (0, 0) and (1, 1) of the block at the origin, (0, 17) of the other; no block is at (19, 31).
    let first = Some([0, 0, 17]);
    assert_eq!(found(&all), [(Code::MapWaterDepth, 48, first)]);
    let depths = all.depths.unwrap();
    assert_eq!((depths.zero, depths.negative, depths.no_number, depths.cells), (1, 1, 2, 640));
    // A dense layer.
    let (layer, dense_files) = dense(Dtype::I32, |[x, y, _]| u64::from(x == 2 && y > 0));
    let layer = Layer { depth_file: Some("z".to_owned()), ..layer };
    let mut depth = [1.0f32; 35];
    (depth[14], depth[20], depth[21]) = (0.0, -0.5, 0.0);
    let files =
        dense_files.into_iter().chain([("z", array(Dtype::F32, &[5, 7], depth.map(|d| u64::from(d.to_bits()))))]);
    assert_eq!(found(&report(&(layer, files.collect()))), [(Code::MapWaterDepth, 4, Some([2, 1, 0]))]);
}

#[test]
fn depths_in_the_upper_half() {
    let layer = dense(Dtype::I64, |[x, _, z]| if z == 0 { x.wrapping_sub(1) << 32 | 1 } else { 0 });
    let report = report(&layer);
    assert_eq!(found(&report), [(Code::MapWaterDepth, 6, Some([0, 0, 0]))]);
    assert_eq!(report.packed, Some((-1, 3)));
    assert_eq!((report.counts.open_water, report.counts.unknown), (15, 0));
}

#[test]
fn every_cut_is_read_as_far_as_it_goes() {
    let (layer, files) = dense(Dtype::I32, |_| 1);
    let whole = files["d"].clone();
    let start = whole.len() - 420;
    for end in 0..whole.len() {
        let report = report(&(layer.clone(), Files::from([("d", whole[..end].to_vec())])));
        assert_eq!(report.counts.voxels, (end.saturating_sub(start) / 4) as u64);
        assert_eq!(report.faults, []);
    }
}

#[test]
fn a_pass_can_be_stopped() {
    let report = scan(&open(&sparse()), &Limits::DEFAULT, &Watch::default().cancel(&AtomicBool::new(true)));
    assert!(report.stopped);
}

#[test]
fn a_pass_counts_what_counting_one_by_one_does() {
    let mut n = 1u64;
    let mut random = || {
        n = n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        n >> 20
    };
    for mask in [1, 5, KNOWN, 0xffff_ffff, u64::MAX, 1 << 25 | 1, 1 << 40] {
        let voxels: Vec<u64> = (0..8192).map(|_| random() & random() & mask).collect();
        let mut counts = Histogram::default();
        voxels.iter().for_each(|&bits| counts.add(bits, 1));
        let (layer, mut files) = sparse();
        files.insert("d", array(Dtype::I64, &[2, 16, 16, 16], voxels.iter().copied()));
        let mut grid = open(&(layer, files));
        grid.packed = false;
        assert_eq!(scan(&grid, &Limits::DEFAULT, &Watch::default()).counts, counts, "{mask:x}");
    }
}
