//! Healthy saves of every generation: checking them gives notes at most.

use std::io;
use std::path::Path;

use crate::bytes::Span;
use crate::damage::Code;
use crate::demo::draft::{self, Draft, REGION};
use crate::demo::forest::{DEPTHS, Extent, ForestSpec, write_forest};
use crate::demo::owned::{OwnedBlock, OwnedChannel};
#[cfg(feature = "sqlite")]
use crate::demo::stream::{StreamSpec, write_stream};
use crate::demo::terrain::Terrain;
use crate::demo::{Sample, block_files, game::Game, maps, pak, pak::PakSpec};
use crate::godot::channel::{CHANNELS, Depth, SDF};
use crate::godot::container::Mode;
use crate::godot::metadata::{Item, Metadata, VoxelItem};
use crate::godot::slots::SlotFormula;
#[cfg(feature = "sqlite")]
use crate::godot::stream::loc::Format;
use crate::godot::textures::{INDICES, WEIGHTS};
use crate::godot::variant::{Dialect, Variant};
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
    Sample::healthy(
        "lods",
        "A coast in three LODs, each larger than the one below: sea, sand, grass and snow on both sides of the origin.",
        &[],
        |dir| {
            let lods = vec![
                Extent { from: [-3, -1, -3], to: [3, 3, 3] },
                Extent { from: [-3, -1, -3], to: [3, 2, 3] },
                Extent { from: [-2, -1, -2], to: [2, 1, 2] },
            ];
            let terrain = Terrain { base: 8.0, relief: 32.0, ..Terrain::new(7) };
            write(dir, &ForestSpec { terrain, lods, region_size_po2: 3, ..ForestSpec::default() })
        },
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
                    slots: SlotFormula::Legacy,
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
            write(
                dir,
                &ForestSpec { block_version: 2, mode, depths, lod_count: true, slots: SlotFormula::Legacy, ..small() },
            )
        },
    ),
    Sample::healthy(
        "blocks-v3",
        "A save of early 2022: blocks of version 3, which the engine of today refuses.",
        &[Code::SlotsOld],
        |dir| write(dir, &ForestSpec { block_version: 3, lod_count: true, slots: SlotFormula::Legacy, ..small() }),
    ),
    Sample::healthy(
        "blocks-v4-old-slots",
        "A save of 2023: blocks of version 4 where the old formula put those of negative coordinates, as their seams tell.",
        &[Code::SlotsTold],
        |dir| {
            let lods = vec![Extent { from: [-4, 0, -4], to: [1, 2, 1] }];
            let (mode, region_size_po2) = (Mode::Zstd, 1);
            write(dir, &ForestSpec { lods, mode, region_size_po2, slots: SlotFormula::Legacy, ..ForestSpec::default() })
        },
    ),
    Sample::healthy(
        "port-layout",
        "A forest as the Rust port lays it out: lodN beside the meta file, 32-bit distances, metadata of its own types.",
        &[Code::LayoutPort, Code::MetadataPort],
        |dir| {
            let mut depths = DEPTHS;
            depths[SDF] = Depth::Bits32;
            let spec = ForestSpec { depths, ..small() };
            let mut draft = Draft::build(&spec)?;
            let at = draft.blocks(REGION)?.first().map(|at| at.slot);
            let slot = at.ok_or_else(|| draft::unmade("a block"))?;
            let position = draft.read(REGION)?.block_position(slot, spec.slots);
            let position = position.ok_or_else(|| draft::unmade("a slot outside the region"))?;
            let mut block = spec.block(0, position);
            let voxel = |x, item| VoxelItem { position: [x, 0, 0], item, span: Span::default() };
            block.metadata = Some(Metadata {
                declared: 0,
                dialect: Dialect::Godot4,
                block: Some(Item::Text("a chest\u{2026}")),
                voxels: vec![
                    voxel(0, Item::Float(0.25f64.to_bits())),
                    voxel(1, Item::Bytes(&[0xca, 0xfe])),
                    voxel(2, Item::Variant(Variant::string("closed"))),
                ],
                unread: (0, &[]),
            });
            draft.replace(REGION, slot, &block.pack(spec.mode))?;
            draft.moved(|path| path.strip_prefix("regions").map_or(path, |below| below)).write(dir)
        },
    ),
    Sample::healthy(
        "lod-missing",
        "A forest of 2020 that counts two LODs and has one: the other was never saved, or a copy lacks it.",
        &[Code::SlotsOld, Code::LodMissing],
        |dir| {
            let spec = ForestSpec { block_version: 3, lod_count: true, slots: SlotFormula::Legacy, ..small() };
            let mut draft = Draft::build(&spec)?;
            let meta = draft.file(draft::META)?;
            *meta = String::from_utf8_lossy(meta).replace("\"lod_count\": 1", "\"lod_count\": 2").into_bytes();
            draft.write(dir)
        },
    ),
    Sample::healthy(
        "textures",
        "Smooth terrain with the textures of Mixel4; in one block a script set an index twice.",
        &[Code::TexturesRepeat],
        |dir| {
            let spec = draft::spec();
            draft::alter_of(&spec, dir, |draft| {
                let blocks = draft.blocks(REGION)?;
                for (nth, at) in blocks.iter().enumerate() {
                    let region = draft.read(REGION)?;
                    let position = region.block_position(at.slot, spec.slots);
                    let position = position.ok_or_else(|| draft::unmade("a slot outside the region"))?;
                    let block = textured(spec.block(0, position), nth == 2);
                    draft.replace(REGION, at.slot, &block.pack(spec.mode))?;
                }
                Ok(())
            })
        },
    ),
    Sample::healthy(
        "block-files",
        "A save of VoxelStreamBlockFiles, which the engine removed in 2022: one file a block, two LODs.",
        &[Code::BlockFilesRemoved],
        |dir| {
            let mut lods = small().lods;
            lods.push(Extent { from: [-1, -1, -1], to: [1, 1, 1] });
            let spec = ForestSpec { block_version: 3, mode: Mode::Lz4BigEndian, lods, ..small() };
            block_files::write(dir, &spec, |_| Ok(()))
        },
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
    Sample::healthy(
        "pak-numbers",
        "A pak region of 64 records: its chunks have numbers only.",
        &[Code::PakRecordsOther],
        |dir| PakSpec { records: 64, chunks: &[63, 0, 5], ..PakSpec::default() }.write(dir),
    ),
    Sample::healthy(
        "pak-sizes-differ",
        "A room of regions with 1,024 records and one with 64.",
        &[Code::PakSizesDiffer, Code::PakRecordsOther],
        |dir| {
            PakSpec::default().write(dir)?;
            PakSpec { region: [1, 0, 0], ..PakSpec::default() }.write(dir)?;
            PakSpec { records: 64, region: [2, 0, 0], chunks: &[0, 17], ..PakSpec::default() }.write(dir)
        },
    ),
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
    #[cfg(feature = "sqlite")]
    Sample::healthy(
        "fleet",
        "A directory of streams under names of a game: a map, and a ship in a directory of its own.",
        &[],
        |dir| {
            let spec = StreamSpec { instances: false, ..StreamSpec::small(Format::Int19) };
            write_stream(&dir.join("map.save"), &spec, None)?;
            let spec = StreamSpec { format: Format::Text, ..spec };
            write_stream(&dir.join("ships/heron"), &spec, None).map(drop)
        },
    ),
    Sample::healthy(
        "map-sparse",
        "A voxel map of sparse blocks: a depth map, two layers inside of the global one.",
        &[],
        maps::sparse,
    ),
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
    Sample::healthy(
        "map-unsigned",
        "A voxel map whose voxels are unsigned, as the published page has them: 64 bits in one layer, 32 in the others.",
        &[Code::MapDtypeOther],
        maps::unsigned,
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

/// 16 bits for types and distances, 8 for the rest, as before INDICES and WEIGHTS had a meaning.
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
        // The first block is dug out completely: its distances become one value.
        let blocks = draft.blocks(REGION)?;
        let first = blocks.first().ok_or_else(|| draft::unmade("an empty region"))?;
        game.save(first.slot, &smaller(&spec, draft, first.slot)?);
        game.flush();
        draft.put(REGION, game.bytes);
        Ok(())
    })
}

/// A block with stripes of textures along x, each blended into the next along z; with `fault` its first voxel has a texture twice.
fn textured(mut block: OwnedBlock, fault: bool) -> OwnedBlock {
    let [sx, sy, sz] = block.size;
    let voxels = || (0..sz).flat_map(move |z| (0..sx).flat_map(move |x| (0..sy).map(move |_| (x, z))));
    // The texture, and those after it, as the engine does; the first two have a weight.
    let indices = |(x, _): (u16, u16)| (0..4).fold(0, |all, n| all | (((x / 4 + n) & 0xf) << (4 * n)));
    let weights = |(_, z): (u16, u16)| ((15 - z) & 0xf) | ((z & 0xf) << 4);
    let mut values: Vec<u16> = voxels().map(indices).collect();
    if fault && let Some(first) = values.first_mut() {
        *first = 0x3211;
    }
    let bytes = |values: Vec<u16>| values.into_iter().flat_map(u16::to_le_bytes).collect();
    block.channels[INDICES] = OwnedChannel::of_values(Depth::Bits16, bytes(values));
    block.channels[WEIGHTS] = OwnedChannel::of_values(Depth::Bits16, bytes(voxels().map(weights).collect()));
    block
}

/// The block of a slot after a player has flattened its distances; smaller than it was.
pub(super) fn smaller(spec: &ForestSpec, draft: &mut Draft, slot: u32) -> io::Result<Vec<u8>> {
    let region = draft.read(REGION)?;
    let position = region.block_position(slot, spec.slots).ok_or_else(|| draft::unmade("a slot outside the region"))?;
    let mut block = spec.block(0, position);
    block.channels[SDF] = OwnedChannel::uniform(spec.depths[SDF], 0);
    Ok(block.pack(spec.mode))
}
