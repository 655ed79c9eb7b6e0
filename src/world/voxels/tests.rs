use std::fs;

use super::*;
use crate::demo;
use crate::godot::channel::NAMES;
use crate::world::order;

fn sample(name: &str) -> (tempfile::TempDir, OpenWorld) {
    let dir = tempfile::tempdir().unwrap();
    let sample = demo::samples().find(|sample| sample.name == name).unwrap();
    (sample.make)(dir.path()).unwrap();
    let world = OpenWorld::open(dir.path()).unwrap();
    (dir, world)
}

/// Every voxel of some blocks of each LOD, in every channel, against the block as it is decoded elsewhere; and a place
/// behind the last block.
fn holds_what_is_decoded(opened: &OpenWorld) {
    let save = Save::open(&opened.save().path, &save::Options::default()).unwrap();
    let world = World::only(&save).unwrap();
    let side = i64::from(world.block_size().unwrap());
    let mut compared = 0;
    for lod in world.lods() {
        let index = world.index(lod);
        let mut buffer = Buffer::default();
        for at in index.blocks.iter().step_by(index.blocks.len() / 3 + 1) {
            let view = world.read(at, &mut buffer).unwrap();
            let block = view.block.as_ref().unwrap();
            for (n, inside) in [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [3, 2, 1], block.size.map(|n| n - 1)]
                .into_iter()
                .enumerate()
            {
                let position = [0, 1, 2].map(|i| i64::from(at.position[i]) * side + i64::from(inside[i]));
                for (i, channel) in ChannelId::ALL.into_iter().enumerate() {
                    assert_eq!((channel.index(), channel.name()), (i, NAMES[i]));
                    let value = opened.voxel(lod, position, channel).unwrap();
                    assert_eq!(value, block.voxel(i, inside), "LOD {lod}, {position:?}, {channel}, {n}");
                    assert!(value.is_some());
                    compared += 1;
                }
            }
        }
        let [_, high] = index.extent().unwrap();
        let behind = high.map(|n| (i64::from(n) + 2) * side);
        assert_eq!(opened.voxel(lod, behind, ChannelId::Type).unwrap(), None);
        assert_eq!(order(index.blocks[0].position), index.blocks.iter().map(|at| order(at.position)).min().unwrap());
    }
    assert!(compared > 0);
    assert_eq!(opened.voxel(0, [i64::MAX, i64::MIN, 0], ChannelId::Type).unwrap(), None);
    assert_eq!(opened.voxel(200, [0, 0, 0], ChannelId::Type).unwrap(), None);
}

#[test]
fn voxels_of_forests_of_every_sample() {
    let mut worlds = 0;
    for sample in demo::HEALTHY {
        let dir = tempfile::tempdir().unwrap();
        (sample.make)(dir.path()).unwrap();
        let save = Save::open(dir.path(), &save::Options::default()).unwrap();
        if save.forests.len() + save.streams.len() == 1 && save.pak_dirs.is_empty() && save.maps.is_empty() {
            holds_what_is_decoded(&OpenWorld::open(dir.path()).unwrap());
            worlds += 1;
        }
        for file in &save.streams {
            holds_what_is_decoded(&OpenWorld::open(&file.path).unwrap());
            worlds += 1;
        }
    }
    assert!(worlds >= 4, "{worlds}");
}

#[test]
fn a_region_file_alone_is_a_world() {
    let dir = tempfile::tempdir().unwrap();
    let spec = demo::ForestSpec::default();
    demo::write_forest(&dir.path().join("world"), &spec, None).unwrap();
    let save = Save::open(&dir.path().join("world"), &save::Options::default()).unwrap();
    let (forest, file) = save.regions().next().unwrap();
    let opened = OpenWorld::open(forest.dir.join(&file.name)).unwrap();
    holds_what_is_decoded(&opened);
}

#[test]
fn voxels_of_pak_regions_are_types() {
    let mut seen = 0;
    for sample in demo::HEALTHY {
        let dir = tempfile::tempdir().unwrap();
        (sample.make)(dir.path()).unwrap();
        let save = Save::open(dir.path(), &save::Options::default()).unwrap();
        let [pak_dir] = &save.pak_dirs[..] else { continue };
        if !save.forests.is_empty() || !save.maps.is_empty() {
            continue;
        }
        let opened = OpenWorld::open(dir.path()).unwrap();
        if sample.name == "pak-numbers" {
            let error = opened.voxel(0, [0, 0, 0], ChannelId::Type).unwrap_err().to_string();
            assert!(error.contains("x0_y0_z0.region"), "{error}");
            continue;
        }
        let mut scratch = PakScratch::default();
        for file in &pak_dir.files {
            let pak = save.pak(pak_dir, file, &mut Vec::new()).unwrap().unwrap();
            for (number, record) in pak.present().step_by(7) {
                let Some(chunk) = pak.chunk(number) else { continue };
                let view = pak.view(number, record, &mut scratch).unwrap();
                let shape = view.shape.unwrap().value;
                let data = view.payload.unwrap().plain;
                let voxels = crate::pak::chunk::Voxels { data, shape, order: pak.order(&shape).value };
                for inside in [[0, 0, 0], [1, 2, 3], shape.size.map(|n| n - 1)] {
                    let at = [0, 1, 2].map(|i| i64::from(chunk[i]) * i64::from(shape.size[i]) + i64::from(inside[i]));
                    assert_eq!(opened.voxel(0, at, ChannelId::Type).unwrap(), voxels.get(inside));
                    assert_eq!(opened.voxel(0, at, ChannelId::Sdf).unwrap(), None);
                    assert_eq!(opened.voxel(1, at, ChannelId::Type).unwrap(), None);
                    seen += 1;
                }
            }
        }
        assert_eq!(opened.voxel(0, [1 << 30, 0, 0], ChannelId::Type).unwrap(), None);
    }
    assert!(seen > 0);
}

#[test]
fn flags_of_maps_are_types() {
    let mut seen = 0;
    for sample in demo::HEALTHY {
        let dir = tempfile::tempdir().unwrap();
        (sample.make)(dir.path()).unwrap();
        let save = Save::open(dir.path(), &save::Options::default()).unwrap();
        let [map] = &save.maps[..] else { continue };
        let opened = OpenWorld::open(&map.dir).unwrap();
        let grid = map.grid(map.layers().next().unwrap(), &save.options.limits);
        let [dx, dy, dz] = grid.dim.unwrap();
        for x in (0..dx).step_by(3) {
            for y in (0..dy).step_by(3) {
                for z in (0..dz).step_by(3) {
                    let voxel = grid.voxel([x, y, z]).unwrap().unwrap();
                    let value = opened.voxel(0, [x, y, z], ChannelId::Type).unwrap();
                    assert_eq!(value, voxel.bits.map(|_| voxel.flags), "{x} {y} {z} of {}", sample.name);
                    seen += u32::from(value.is_some());
                }
            }
        }
        for outside in [[-1, 0, 0], [i64::from(dx), 0, 0], [0, i64::from(dy), 0], [0, 0, i64::from(dz)]] {
            assert_eq!(opened.voxel(0, outside, ChannelId::Type).unwrap(), None);
        }
    }
    assert!(seen > 0);
}

#[test]
fn what_cannot_be_read_is_an_error_with_the_name_of_its_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("world");
    demo::write_forest(&path, &demo::ForestSpec::default(), None).unwrap();
    let save = Save::open(&path, &save::Options::default()).unwrap();
    let (forest, file) = save.regions().next().unwrap();
    let side = i64::from(forest.format.unwrap().block_size());
    let world = World::only(&save).unwrap();
    let at = world.index(file.lod).blocks[0];
    let voxel = at.position.map(|n| i64::from(n) * side);
    let region = forest.dir.join(&file.name);
    let whole = fs::read(&region).unwrap();

    // A header that says nothing: nothing of the file can be located.
    fs::write(&region, [0; 7]).unwrap();
    let error = OpenWorld::open(&path).unwrap().voxel(0, voxel, ChannelId::Type).unwrap_err().to_string();
    assert!(error.contains(&*file.name.to_string_lossy()), "{error}");

    // A block that does not decompress.
    let mut bytes = whole;
    let from = usize::try_from(file.header.as_ref().unwrap().sectors_at()).unwrap();
    for byte in &mut bytes[from..] {
        *byte = 0xff;
    }
    fs::write(&region, &bytes).unwrap();
    let error = OpenWorld::open(&path).unwrap().voxel(0, voxel, ChannelId::Type).unwrap_err();
    let error: &dyn std::error::Error = &error;
    assert!(error.to_string().contains("world: block"), "{error}");

    let error = OpenWorld::open(dir.path().join("none")).unwrap_err().to_string();
    assert!(error.contains("none"), "{error}");
}

#[test]
fn one_world_serves_several_threads_and_keeps_few_blocks() {
    let (_dir, world) = sample("current");
    let lods = world.world().unwrap().lods();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for (lod, n) in lods.iter().flat_map(|lod| (-64..64).map(move |n| (*lod, n))) {
                    world.voxel(lod, [n, n, n], ChannelId::Sdf).unwrap();
                }
            });
        }
    });
    assert!(!world.cache.lock().unwrap().is_empty());
}
