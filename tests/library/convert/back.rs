//! Back to the size of before: a save is as it was.

use std::collections::BTreeMap;
use std::path::Path;

use crate::common;
use serde_json::{Value as Json, json};
use tempfile::tempdir;
use voxscope::convert::{self, Kind, Target};
use voxscope::demo::{self, Extent, ForestSpec};
use voxscope::godot::block;
use voxscope::watch::Watch;
use voxscope::world::{Buffer, World};

use super::{assert_same, open, to_forest};

/// What is stored in a save: every block with its bytes of today.
fn stored(path: &Path) -> BTreeMap<(u8, [i32; 3]), Vec<u8>> {
    let save = open(path);
    let world = World::only(&save).unwrap();
    let mut buffer = Buffer::default();
    let mut all = BTreeMap::new();
    for lod in world.lods() {
        for at in &world.index(lod).blocks {
            let mut bytes = Vec::new();
            block::encode(&world.read(at, &mut buffer).unwrap().block.unwrap(), &mut bytes);
            all.insert((lod, at.position), bytes);
        }
    }
    all
}

#[test]
fn joined_and_split_again_a_save_is_as_it_was() {
    let dir = tempdir().unwrap();
    let uneven = dir.path().join("uneven");
    let lods = vec![Extent { from: [-3, -1, 0], to: [2, 2, 3] }, Extent { from: [-1, -1, -1], to: [1, 1, 1] }];
    demo::write_forest(&uneven, &ForestSpec { lods, ..ForestSpec::default() }, None).unwrap();
    let mut sources = vec![uneven];
    sources.extend(["forest_metadata", "forest_depths"].map(|name| common::golden("godot_voxel").join(name)));
    for (n, source) in sources.iter().enumerate() {
        let size = world_size(source);
        for factor in [2, 4] {
            let target = |n| Target { block_size: Some(n), ..Target::default() };
            let at = |name: &str| dir.path().join(format!("{n}-{factor}-{name}"));
            let report = to_forest(source, &target(size * factor), &at("large")).unwrap();
            let apart = report.count(Kind::Metadata);
            assert!(report.count(Kind::Filled) > 0, "some blocks that are not whole");
            let back = to_forest(&at("large"), &target(size), &at("back")).unwrap();
            assert_eq!(back.listed, [], "{}", source.display());
            assert_eq!(back.put_back, apart);
            assert_same(source, &at("back"));
            // What no report tells of stays as it was filled, and what was edited since stays as it is.
            std::fs::remove_file(at("large").join("convert.json")).unwrap();
            let plain = to_forest(&at("large"), &target(size), &at("plain")).unwrap();
            assert_eq!((plain.put_back, plain.emptied), (0, 0));
            assert!(stored(&at("plain")).len() > stored(source).len());
            #[cfg(feature = "sqlite")]
            {
                let (large, back) = (at("large.sqlite"), at("back.sqlite"));
                convert::to_stream(
                    &World::only(&open(source)).unwrap(),
                    &target(size * factor),
                    &large,
                    &Watch::default(),
                )
                .unwrap();
                convert::to_stream(&World::only(&open(&large)).unwrap(), &target(size), &back, &Watch::default())
                    .unwrap();
                assert_same(source, &back);
            }
        }
    }
}

#[test]
fn a_report_that_lies_puts_nothing_in_that_is_no_metadata() {
    let dir = tempdir().unwrap();
    let (world, large) = (dir.path().join("world"), dir.path().join("large"));
    let lods = vec![Extent { from: [0; 3], to: [2, 2, 1] }];
    demo::write_forest(&world, &ForestSpec { lods, ..ForestSpec::default() }, None).unwrap();
    let target = |n| Target { block_size: Some(n), ..Target::default() };
    to_forest(&world, &target(32), &large).unwrap();
    let path = large.join("convert.json");
    let honest: Json = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let plain = {
        std::fs::remove_file(&path).unwrap();
        to_forest(&large, &target(16), &dir.path().join("plain")).unwrap();
        stored(&dir.path().join("plain"))
    };
    // Other bytes than an item's, voxels that are not in the block, numbers of parts that do not fit, values that no
    // voxel has, sizes of another conversion, no JSON.
    let entry = |kind: &str, voxel: Json, bytes: &str, values: Json| json!({ "kind": kind, "lod": 0, "block": [0, 0, 0], "voxel": voxel, "why": "", "bytes": bytes, "values": values });
    let lies = [
        entry("metadata", Json::Null, "02", Json::Null),
        entry("metadata", Json::Null, "0100", Json::Null),
        entry("metadata", Json::Null, "0g", Json::Null),
        entry("metadata", Json::Null, "2002000000ffffffff00", Json::Null),
        entry("metadata", json!([16, 0, 0]), "2002000000ffffffff", Json::Null),
        entry("filled", Json::Null, "", json!([0, 0, 0, 0, 0, 0, 0, 0])),
        entry("filled", Json::Null, "00", json!([1, 2, 3, 4, 5, 6, 7, 8])),
        entry("filled", Json::Null, "00", Json::Null),
    ];
    let mut texts: Vec<Vec<u8>> = Vec::new();
    for lie in lies {
        let mut json = honest.clone();
        json["listed"] = json!([lie]);
        texts.push(serde_json::to_vec(&json).unwrap());
    }
    let mut other = honest;
    other["source_block_size"] = 8.into();
    texts.push(serde_json::to_vec(&other).unwrap());
    texts.push(b"{".to_vec());
    texts.push(b"{\"type\": \"convert\", \"listed\": 3}".to_vec());
    for (n, text) in texts.iter().enumerate() {
        std::fs::write(&path, text).unwrap();
        let to = dir.path().join(format!("back{n}"));
        to_forest(&large, &target(16), &to).unwrap();
        assert!(stored(&to) == plain, "{}", String::from_utf8_lossy(text));
    }
}

fn world_size(path: &Path) -> u16 {
    World::only(&open(path)).unwrap().block_size().unwrap()
}
