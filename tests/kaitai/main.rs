//! The descriptions in `docs/formats/*.ksy` as second readers of all golden saves. `generated/` is what kaitai-struct-compiler
//! makes of them (`tests/kaitai/generate.js`); `.ci/run` generates it anew and compares.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "../common/mod.rs"]
mod common;
#[allow(warnings, clippy::all)]
#[rustfmt::skip]
#[path = "generated"]
mod generated {
    pub mod godot_voxel_block;
    pub mod godot_voxel_container;
    pub mod godot_voxel_instances;
    pub mod godot_voxel_region;
    pub mod npy;
    pub mod pak_region;
}
mod runtime;

use generated::godot_voxel_block::{GodotVoxelBlock, GodotVoxelBlock_Storage};
use generated::godot_voxel_container::{GodotVoxelContainer, GodotVoxelContainer_Mode};
use generated::godot_voxel_instances::GodotVoxelInstances;
use generated::godot_voxel_region::GodotVoxelRegion;
use generated::npy::Npy;
use generated::pak_region::PakRegion;
use runtime::read;
use voxscope::demo;
use voxscope::godot::block::Block;
use voxscope::godot::channel::Storage;
use voxscope::godot::container::{Container, Mode};
use voxscope::godot::region::Entry;
use voxscope::save::{Options, PakScratch, Save, Scratch, StreamScratch};

/// All golden saves of the engine.
fn saves() -> Vec<Save> {
    let names = ["godot_voxel", "godot_voxel_old", "godot_voxel_sqlite", "instances"];
    let files = names.iter().flat_map(|name| {
        let dir = common::golden(name);
        let streams = common::files_below(&dir).into_iter().filter(|file| file.extension() == Some("sqlite".as_ref()));
        common::directories(&dir).into_iter().chain(streams).collect::<Vec<_>>()
    });
    files.map(|path| Save::open(&path, &Options::default()).unwrap()).collect()
}

/// Compares a container with its description.
fn assert_container(container: &Container<'_>, read: &GodotVoxelContainer, stored: &[u8]) {
    let mode = match container.mode.unwrap() {
        Mode::Plain => GodotVoxelContainer_Mode::Plain,
        Mode::Lz4BigEndian => GodotVoxelContainer_Mode::Lz4BigEndian,
        Mode::Lz4 => GodotVoxelContainer_Mode::Lz4,
        Mode::Zstd => GodotVoxelContainer_Mode::Zstd,
        // Without a mode byte: not described.
        Mode::Headerless => return,
        Mode::Lz4WrongOrder => panic!("no golden save has a little-endian size under mode 1"),
    };
    assert_eq!(*read.mode(), mode);
    assert_eq!(*read.body(), stored[container.body.start as usize..container.body.end as usize]);
    if let Some(declared) = container.declared {
        assert_eq!(*read.declared_size().unwrap() as u32, declared);
    }
}

/// Compares a block with its description.
fn assert_block(block: &Block<'_>, plain: &[u8]) {
    if block.version == 1 {
        // It stores neither version nor size nor depths: not described.
        return;
    }
    let second = read::<GodotVoxelBlock>(plain).unwrap();
    assert_eq!(*second.version(), block.version);
    assert_eq!([*second.size_x(), *second.size_y(), *second.size_z()], block.size);
    for (channel, read) in block.channels.iter().zip(second.channels().iter()) {
        let raw = *read.storage().unwrap() == GodotVoxelBlock_Storage::Raw;
        assert_eq!(raw, channel.storage == Storage::Raw);
        assert_eq!(*read.depth_code().unwrap(), i32::from(channel.depth.code()));
        assert_eq!(*read.data(), channel.data);
    }
    let declared = block.metadata.as_ref().map(|metadata| metadata.declared);
    let read = (!second.metadata().is_none()).then(|| *second.metadata().len_items());
    assert_eq!(read, declared);
}

#[test]
fn regions_and_their_blocks_are_read_alike() {
    let (mut scratch, mut regions, mut blocks) = (Scratch::default(), 0, 0);
    for save in saves() {
        for (forest, file) in save.regions() {
            let region = save.region(forest, file).unwrap().unwrap();
            // Older ones have no format fields, and their containers may have no mode byte.
            if region.header.version < 3 {
                continue;
            }
            regions += 1;
            let second = read::<GodotVoxelRegion>(&std::fs::read(forest.dir.join(&file.name)).unwrap()).unwrap();
            let format = &region.header.format;
            assert_eq!(*second.block_size_po2(), format.block_size_po2);
            let size = [*second.region_size_x(), *second.region_size_y(), *second.region_size_z()];
            assert_eq!(size.map(u32::from), format.region_size.map(u32::from));
            assert_eq!(u32::from(*second.sector_size()), format.sector_size);
            assert_eq!(*second.channel_depths(), format.depths.map(|depth| depth.code()));
            let used: Vec<(u32, Entry)> = second
                .entries()
                .iter()
                .zip(0u32..)
                .filter(|(entry, _)| *entry.value() != 0)
                .map(|(entry, slot)| (slot, Entry(*entry.value())))
                .collect();
            assert_eq!(used, region.entries.iter().map(|listed| (listed.slot, listed.entry)).collect::<Vec<_>>());
            for listed in &region.entries {
                let entries = second.entries();
                let entry = &entries[listed.slot as usize];
                assert_eq!(*entry.first_sector().unwrap() as u32, listed.entry.first());
                assert_eq!(*entry.sector_count().unwrap() as u32, u32::from(listed.entry.count()));
                let stored = entry.block().unwrap();
                let view = region.view(listed.entry, &mut scratch).unwrap();
                assert_eq!(Some(*stored.len_container()), view.stored.size);
                let container = view.container.unwrap();
                assert_container(&container, &stored.container(), &view.bytes[4..]);
                assert_block(view.block.as_ref().unwrap(), container.plain);
                blocks += 1;
            }
        }
    }
    assert!(regions >= 8 && blocks >= 30, "{regions} regions, {blocks} blocks");
}

#[test]
fn rows_of_streams_are_read_alike() {
    let (mut scratch, mut blocks, mut instances) = (StreamScratch::default(), 0, 0);
    for save in saves() {
        for file in &save.streams {
            let stream = save.stream(file, &mut Vec::new()).unwrap().unwrap();
            for row in &stream.rows {
                stream.fetch(&row, &mut scratch).unwrap();
                if let Some(bytes) = stream.voxel_bytes(&scratch).map(<[u8]>::to_vec) {
                    let view = stream.block(&mut scratch);
                    let container = view.container.unwrap();
                    assert_container(&container, &read::<GodotVoxelContainer>(&bytes).unwrap(), &bytes);
                    assert_block(view.block.as_ref().unwrap(), container.plain);
                    blocks += 1;
                }
                if stream.instance_bytes(&scratch).is_some() {
                    let view = stream.instances(&mut scratch);
                    let second = read::<GodotVoxelInstances>(view.container.unwrap().plain).unwrap();
                    let first = view.instances.unwrap();
                    assert_eq!(*second.position_range(), first.position_range);
                    assert_eq!(second.layers().len(), first.layers.len());
                    for (layer, read) in first.layers.iter().zip(second.layers().iter()) {
                        assert_eq!((*read.id(), *read.count()), (layer.id, layer.count));
                        assert_eq!((*read.scale_min(), *read.scale_max()), (layer.scale_min, layer.scale_max));
                    }
                    instances += 1;
                }
            }
        }
    }
    assert!(blocks >= 10 && instances >= 1, "{blocks} blocks, {instances} instances");
}

/// There are no golden saves of these: the samples take their place.
#[test]
fn arrays_and_pak_regions_are_read_alike() {
    let dir = tempfile::tempdir().unwrap();
    let (mut arrays, mut records) = (0, 0);
    for name in ["map-sparse", "map-dense", "pak-room"] {
        let sample = demo::samples().find(|sample| sample.name == name).unwrap();
        let path = dir.path().join(name);
        std::fs::create_dir(&path).unwrap();
        (sample.make)(&path).unwrap();
        for file in common::files_below(&path) {
            let bytes = std::fs::read(&file).unwrap();
            if file.extension() == Some("npy".as_ref()) {
                let second = read::<Npy>(&bytes).unwrap();
                let first = voxscope::voxel_map::npy::Npy::open(&bytes).unwrap().report_to(&mut Vec::new()).unwrap();
                assert_eq!(*second.data(), bytes[first.data.start as usize..]);
                let shape: Vec<String> = first.shape.iter().map(u64::to_string).collect();
                assert!(second.header().contains(&shape.join(", ")), "{}", second.header());
                arrays += 1;
            }
        }
        let save = Save::open(&path, &Options::default()).unwrap();
        for room in &save.pak_dirs {
            for file in &room.files {
                let pak = save.pak(room, file, &mut Vec::new()).unwrap().unwrap();
                let second = read::<PakRegion>(&std::fs::read(room.dir.join(&file.name)).unwrap()).unwrap();
                assert_eq!(*second.record_count() as usize, pak.records.len());
                let mut scratch = PakScratch::default();
                let present = pak.present().collect::<Vec<_>>();
                let others = second.records();
                let others = others.iter().zip(0u32..).filter(|(record, _)| *record.block_offset() >= 0);
                let others = others.collect::<Vec<_>>();
                assert_eq!(present.len(), others.len());
                for ((number, record), (other, at)) in present.into_iter().zip(others) {
                    assert_eq!(number, at);
                    let view = pak.view(number, record, &mut scratch).unwrap();
                    assert_eq!(*other.chunk().unwrap(), view.payload.unwrap().plain);
                    records += 1;
                }
            }
        }
    }
    assert!(arrays >= 8 && records >= 8, "{arrays} arrays, {records} records");
}
