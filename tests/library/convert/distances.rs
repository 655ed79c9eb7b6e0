//! Distances of old block versions keep their values.

use super::*;

/// A forest of one region with blocks of version 2 beside each other along y, whose SDF has these values.
fn old_forest(dir: &Path, po2: u8, depth: Depth, blocks: &[Vec<u8>]) -> std::path::PathBuf {
    let mut depths = [Depth::Bits8; 8];
    depths[SDF] = depth;
    let format = Format { block_size_po2: po2, region_size: [4; 3], depths, sector_size: 4096 };
    let mut builder = Builder::new(Header::new(3, format));
    for (y, data) in blocks.iter().enumerate() {
        let uniform = Channel { depth: Depth::Bits8, storage: Storage::Uniform, data: &[7], offset: 0, size: 1 };
        let mut channels = vec![uniform; 8];
        channels[SDF] = match data.len() == depth.bytes() {
            true => Channel { depth, data, ..uniform },
            false => Channel { depth, storage: Storage::Raw, data, offset: 0, size: data.len() as u64 },
        };
        let block = Block { version: 2, size: [1 << po2; 3], channels, metadata: None, epilogue: None };
        let (mut plain, mut packed) = (Vec::new(), Vec::new());
        block::encode(&block, &mut plain);
        container::encode(Mode::Lz4, &plain, &mut packed);
        let (_, slot) = slots::place_block([0, y as i32, 0], [4; 3], SlotFormula::Euclidean).unwrap();
        builder.push(slot, &packed).unwrap();
    }
    let path = dir.join(format!("old{}", depth.bits()));
    std::fs::create_dir_all(path.join("regions/lod0")).unwrap();
    let meta = Meta {
        version: Some(3),
        block_size_po2: Some(po2),
        region_size_po2: Some(2),
        lod_count: Some(1),
        sector_size: Some(4096),
        depths: Some(depths),
        ..Meta::default()
    };
    std::fs::write(path.join("meta.vxrm"), meta.encode()).unwrap();
    std::fs::write(path.join("regions/lod0/r.0.0.0.vxr"), builder.finish().unwrap()).unwrap();
    path
}

#[test]
fn every_distance_of_godot_3_keeps_its_value_and_those_above_1_are_listed() {
    let dir = tempdir().unwrap();
    let bytes: Vec<u8> = (0..4096u32).map(|n| (n % 256) as u8).collect();
    let half = |from: u32| (from..from + 32768).flat_map(|n| (n as u16).to_le_bytes()).collect::<Vec<u8>>();
    for (depth, po2, blocks, cut, last, scale) in [
        (Depth::Bits8, 4, vec![bytes, vec![255], vec![254]], vec![([0, 0, 0], 16), ([0, 1, 0], 4096)], 255, 10.0),
        (Depth::Bits16, 5, vec![half(0), half(32768), vec![0xfe, 0xff]], vec![([0, 1, 0], 1)], 65535, 500.0),
    ] {
        let from = old_forest(dir.path(), po2, depth, &blocks);
        let source = open(&from);
        let source = World::only(&source).unwrap();
        for size in [1u16 << po2, 1 << (po2 - 1), 1 << (po2 + 1)] {
            let to = dir.path().join(format!("{}-{size}", depth.bits()));
            let report = to_forest(&from, &Target { block_size: Some(size), ..Target::default() }, &to).unwrap();
            let listed: Vec<_> = report.listed.iter().filter(|l| l.kind == Kind::Cut).collect();
            assert_eq!(listed.iter().map(|l| l.block).collect::<Vec<_>>(), cut.iter().map(|c| c.0).collect::<Vec<_>>());
            for (listed, (_, n)) in listed.iter().zip(&cut) {
                assert!(listed.why.starts_with(&format!("{n} voxels")), "{}", listed.why);
            }
            assert_eq!(report.cut, cut.iter().map(|c| c.1).sum::<u64>());
            let json: Json = serde_json::from_slice(&std::fs::read(to.join("convert.json")).unwrap()).unwrap();
            assert_eq!(json["sdf_cut_voxels"], report.cut);
            let result = voxels(&to, 0).0;
            let (mut buffer, mut seen) = (Buffer::default(), std::collections::BTreeSet::new());
            for at in &source.index(0).blocks {
                let block = source.read(at, &mut buffer).unwrap().block.unwrap();
                let side = 1u16 << po2;
                for (z, x, y) in (0..side).flat_map(|z| (0..side).flat_map(move |x| (0..side).map(move |y| (z, x, y))))
                {
                    let old = block.voxel(SDF, [x, y, z]).unwrap();
                    seen.insert(old);
                    let place = [0, 1, 2].map(|i| i64::from(at.position[i]) * i64::from(side));
                    let place = [place[0] + i64::from(x), place[1] + i64::from(y), place[2] + i64::from(z)];
                    let new = sdf(4, depth, result[&place][SDF]) / scale;
                    let was = sdf(2, depth, old);
                    assert!((new - was.min(1.0)).abs() < 1e-15, "{depth:?} {old}: {was} {new}");
                    assert_eq!(result[&place][0], 7);
                }
            }
            assert_eq!(seen.len(), last + 1, "every value is there");
            assert_same_voxels(&from, &to);
        }
    }
}

/// Nothing differs, but that blocks may be joined or split.
fn assert_same_voxels(a: &Path, b: &Path) {
    let (a, b) = (open(a), open(b));
    let (a, b) = (World::only(&a).unwrap(), World::only(&b).unwrap());
    let mut changes = Vec::new();
    let summary = diff::run(&a, &b, &diff::Options::default(), |change| changes.push(change)).unwrap();
    assert_eq!(changes, []);
    assert!(!summary.trouble() && summary.same > 0);
}
