//! Healthy saves of every generation: checking them gives notes at most.

use std::io;
use std::path::Path;

use crate::damage::Code;
use crate::demo::draft::{self, Draft, REGION};
use crate::demo::forest::{DEPTHS, Extent, ForestSpec, write_forest};
use crate::demo::owned::OwnedChannel;
#[cfg(feature = "sqlite")]
use crate::demo::stream::{StreamSpec, write_stream};
use crate::demo::terrain::Terrain;
use crate::demo::{Sample, game::Game, maps, pak, pak::PakSpec};
use crate::godot::channel::{CHANNELS, Depth, SDF};
use crate::godot::container::Mode;
use crate::godot::slots::Slots;
#[cfg(feature = "sqlite")]
use crate::godot::stream::loc::Format;
use crate::pak::chunk::Shape;
use crate::pak::offset::Reading;

/// The healthy samples.
pub const HEALTHY: &[Sample] = &[
    Sample::healthy(
        "current",
        "What an engine of today writes: LZ4, two LODs, metadata, negative coordinates.",
        &[],
        |dir| write(dir, &ForestSpec::default()),
    ),
    Sample::healthy("zstd", "Blocks packed with Zstandard.", &[], |dir| {
        write(dir, &ForestSpec { mode: Mode::Zstd, ..small() })
    }),
    Sample::healthy("plain", "Blocks stored as they are, with sectors of 2,048 bytes.", &[], |dir| {
        write(dir, &ForestSpec { mode: Mode::Plain, sector_size: 2048, ..small() })
    }),
    Sample::healthy("depths", "A world of 32-bit distances and 8-bit types.", &[], |dir| {
        let mut depths = DEPTHS;
        (depths[0], depths[SDF]) = (Depth::Bits8, Depth::Bits32);
        write(dir, &ForestSpec { depths, ..small() })
    }),
    Sample::healthy(
        "old-2020",
        "A save of 2020: region files of version 2, blocks of version 1, no byte that names the compression.",
        &[Code::SlotsOld],
        |dir| {
            write(
                dir,
                &ForestSpec {
                    meta_version: 2,
                    region_version: 2,
                    block_version: 1,
                    mode: Mode::Headerless,
                    depths: [Depth::Bits8; CHANNELS],
                    lod_count: true,
                    slots: Slots::Old,
                    ..small()
                },
            )
        },
    ),
    Sample::healthy(
        "2021-blocks-v2",
        "A save of 2021: blocks of version 2 behind a big-endian size, metadata of Godot 3.",
        &[Code::SlotsOld],
        |dir| {
            let mode = Mode::Lz4BigEndian;
            let depths = old_depths();
            write(dir, &ForestSpec { block_version: 2, mode, depths, lod_count: true, slots: Slots::Old, ..small() })
        },
    ),
    Sample::healthy(
        "blocks-v3",
        "A save of early 2022: blocks of version 3, which the engine of today refuses.",
        &[Code::SlotsOld],
        |dir| write(dir, &ForestSpec { block_version: 3, lod_count: true, slots: Slots::Old, ..small() }),
    ),
    Sample::healthy("palette", "Region files that carry a palette.", &[], |dir| {
        write(dir, &ForestSpec { palette: true, ..small() })
    }),
    Sample::healthy("block32", "Blocks of 32 x 32 x 32 voxels.", &[], |dir| {
        let lods = vec![Extent { from: [-1, 0, 0], to: [1, 1, 1] }];
        write(dir, &ForestSpec { block_size_po2: 5, sector_size: 2048, lods, ..small() })
    }),
    Sample::healthy(
        "stale-tail",
        "Blocks shrank while the game ran: old bytes stay behind the last one.",
        &[Code::StaleTail],
        stale_tail,
    ),
    Sample::healthy(
        "pak-room",
        "A room of four pak regions around the origin, voxels of one and two bytes.",
        &[],
        |dir| {
            let two = Shape { voxel_bytes: 2, ..pak::CUBE };
            for (region, chunks, shape) in [
                ([0, 0, 0], &[0, 1, 32, 1023][..], pak::CUBE),
                ([-1, 0, 0], &[31, 63], pak::CUBE),
                ([0, 0, -1], &[992, 993], two),
                ([-1, 0, -1], &[1023, 0, 1022], two),
            ] {
                PakSpec { region, chunks, shape, ..PakSpec::default() }.write(dir)?;
            }
            Ok(())
        },
    ),
    Sample::healthy(
        "pak-version-6",
        "Pak regions of older games: version 6, 4,096 records, chunks of 16 x 48 x 16.",
        &[],
        |dir| {
            for region in [[0; 3], [-1, -1, 2]] {
                PakSpec { region, chunks: &[0, 17, 256, 4095], ..PakSpec::old() }.write(dir)?;
            }
            Ok(())
        },
    ),
    Sample::healthy(
        "pak-offset-bytes",
        "A pak region whose first block is counted in bytes.",
        &[Code::PakOffsetReading],
        |dir| PakSpec { reading: Reading::Bytes, ..PakSpec::default() }.write(dir),
    ),
    Sample::healthy("pak-numbers", "A pak region of 64 records: its chunks have numbers only.", &[], |dir| {
        PakSpec { records: 64, chunks: &[63, 0, 5], ..PakSpec::default() }.write(dir)
    }),
    #[cfg(feature = "sqlite")]
    Sample::healthy("stream", "An SQLite stream as an engine of today writes it: two LODs, metadata.", &[], |dir| {
        stream(dir, &StreamSpec { blocks: small(), ..StreamSpec::default() })
    }),
    #[cfg(feature = "sqlite")]
    Sample::healthy("stream-19-bits", "A stream with keys of 19 bits a coordinate, and instances.", &[], |dir| {
        stream(dir, &StreamSpec::small(Format::Int19))
    }),
    #[cfg(feature = "sqlite")]
    Sample::healthy("stream-texts", "A stream whose keys are texts, with an index, and instances.", &[], |dir| {
        stream(dir, &StreamSpec::small(Format::Text))
    }),
    #[cfg(feature = "sqlite")]
    Sample::healthy("stream-blobs", "A stream whose keys are blobs, with an index, and instances.", &[], |dir| {
        stream(dir, &StreamSpec::small(Format::Blob))
    }),
    #[cfg(feature = "sqlite")]
    Sample::healthy("stream-version-0", "A stream of former days, without a format of keys.", &[], |dir| {
        stream(dir, &StreamSpec { version: 0, instances: false, ..StreamSpec::small(Format::Int16) })
    }),
    Sample::healthy("map-sparse", "A voxel map of sparse blocks: a depth map, two finer layers.", &[], maps::sparse),
    Sample::healthy(
        "map-dense",
        "A voxel map of dense layers, as Unity exports them: structures without water, layers of one name.",
        &[Code::MapFlagDry, Code::MapLayerName],
        maps::dense,
    ),
    Sample::healthy(
        "map-packed-depth",
        "A voxel map with the depth of the water in the upper half of the voxels.",
        &[Code::MapPackedDepth],
        maps::packed,
    ),
    Sample::healthy(
        "map-fortran-big-endian",
        "A voxel map whose arrays went through another program: Fortran order, highest byte first.",
        &[Code::NpyFortran, Code::NpyBigEndian],
        maps::fortran_big_endian,
    ),
];

/// A small world around the origin.
fn small() -> ForestSpec {
    ForestSpec {
        terrain: Terrain::new(3),
        lods: vec![Extent { from: [-2, -1, -1], to: [1, 2, 1] }],
        ..ForestSpec::default()
    }
}

/// 16 bits for types and distances, 8 for the rest: so it was before INDICES and WEIGHTS had a meaning.
fn old_depths() -> [Depth; CHANNELS] {
    let mut depths = [Depth::Bits8; CHANNELS];
    (depths[0], depths[SDF]) = (Depth::Bits16, Depth::Bits16);
    depths
}

fn write(dir: &Path, spec: &ForestSpec) -> io::Result<()> {
    write_forest(dir, spec, None).map(drop)
}

#[cfg(feature = "sqlite")]
fn stream(dir: &Path, spec: &StreamSpec) -> io::Result<()> {
    write_stream(&dir.join("world.sqlite"), spec, None).map(drop)
}

fn stale_tail(dir: &Path) -> io::Result<()> {
    let spec = draft::spec();
    draft::alter_of(&spec, dir, |draft| {
        let mut game = Game::open(draft.read(REGION)?);
        // The first block is dug out altogether: its distances become one value.
        let blocks = draft.blocks(REGION)?;
        let first = blocks.first().ok_or_else(|| draft::unmade("an empty region"))?;
        game.save(first.slot, &smaller(&spec, draft, first.slot)?);
        game.flush();
        draft.put(REGION, game.bytes);
        Ok(())
    })
}

/// The block of a slot after a player has flattened its distances; smaller than it was.
pub(super) fn smaller(spec: &ForestSpec, draft: &mut Draft, slot: u32) -> io::Result<Vec<u8>> {
    let region = draft.read(REGION)?;
    let position = region.block_position(slot, spec.slots).ok_or_else(|| draft::unmade("a slot outside the region"))?;
    let mut block = spec.block(0, position);
    block.channels[SDF] = OwnedChannel::uniform(spec.depths[SDF], 0);
    Ok(block.pack(spec.mode))
}
