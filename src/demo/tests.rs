use std::collections::BTreeSet;
use std::fs;

use super::*;
use crate::damage::Level;
use crate::godot::channel::{Depth, SDF, sdf};
use crate::save::{Options, PakScratch, Save, Scratch, StreamScratch};
use crate::watch::{Progress, Watch};

/// Codes that no sample shows; the reasons are in the documentation of `damaged`.
const WITHOUT: &[Code] = &[
    Code::FileUnreadable,
    Code::FileChanged,
    #[cfg(not(unix))]
    Code::LinkSkipped,
];

/// Codes that take a look at the whole region or the whole save.
const OF_THE_CHECKER: &[Code] = &[
    Code::RegionRefused,
    Code::FindingsCut,
    Code::CopyCut,
    Code::RegionMissing,
    Code::ForestEmpty,
    Code::LodGap,
    Code::PakCopied,
    Code::PakMisplaced,
    Code::StreamMisplaced,
    Code::StreamNoVoxels,
    Code::PageZeroed,
    Code::MetaDiffers,
    Code::ConversionLeft,
    Code::TableEmpty,
    Code::TableCountZero,
    Code::TableBeyondEnd,
    Code::SectorCut,
    Code::TableOverlap,
    Code::TableGap,
    Code::StaleTail,
    Code::BlockUnlisted,
    Code::BlockOrphan,
    Code::BlockMisplaced,
    Code::BlockMoved,
    Code::BlockTorn,
    Code::BlockHalfMoved,
    Code::BlockDoubled,
    Code::BlockOwnerless,
    Code::PlaceDoubt,
    Code::RegionMisnamed,
    Code::RegionCopied,
    Code::TableForeign,
    Code::SlotsOld,
    Code::SlotsMixed,
    Code::SlotsTold,
    Code::PakOverlap,
    Code::StreamUnused,
    Code::StreamKeyTwice,
    Code::PakPlace,
    Code::PakUnlisted,
    Code::PakOrphan,
    Code::PakCountLow,
    Code::PakSizesDiffer,
    Code::TexturesRepeat,
    Code::MapLayerType,
    Code::MapName,
    Code::MapFileUnnamed,
    Code::MapLayerOutside,
    Code::MapLayerDisagrees,
];

/// What opening a save and reading all its blocks shows.
fn seen(dir: &Path) -> (u64, BTreeSet<Code>) {
    let save = Save::open(dir, &Options::default()).unwrap();
    let mut codes: BTreeSet<Code> = save.faults.iter().map(|fault| fault.damage.code).collect();
    let mut blocks = 0;
    let mut scratch = Scratch::default();
    for (forest, file) in save.regions() {
        codes.extend(file.damage.iter().map(|d| d.code));
        let Ok(Some(region)) = save.region(forest, file) else { continue };
        codes.extend(region.damage.iter().map(|d| d.code));
        for listed in &region.entries {
            blocks += 1;
            let whole = region.view(listed.entry, &mut scratch).unwrap().block.is_some_and(|b| b.whole_channels() == 8);
            assert!(whole || !scratch.damage.is_empty(), "{}: a block neither whole nor damaged", file.name.display());
            codes.extend(scratch.damage.iter().map(|d| d.code));
        }
    }
    let mut scratch = PakScratch::default();
    for (pak_dir, file) in
        save.pak_dirs.iter().flat_map(|pak_dir| pak_dir.files.iter().map(move |file| (pak_dir, file)))
    {
        let mut damage = Vec::new();
        let pak = save.pak(pak_dir, file, &mut damage).unwrap();
        codes.extend(damage.iter().chain(pak.iter().flat_map(|pak| &pak.damage)).map(|d| d.code));
        let Some(pak) = pak else { continue };
        for (number, record) in pak.present() {
            blocks += 1;
            let view = pak.view(number, record, &mut scratch).unwrap();
            let whole = view.shape.is_some() && view.payload.is_some_and(|payload| payload.whole);
            assert!(whole || !view.damage.is_empty(), "{}: a chunk neither whole nor damaged", file.name.display());
            codes.extend(view.damage.iter().map(|d| d.code));
        }
    }
    let mut scratch = StreamScratch::default();
    for file in &save.streams {
        let mut damage = Vec::new();
        let stream = save.stream(file, &mut damage).unwrap();
        codes.extend(damage.iter().chain(stream.iter().flat_map(|stream| &stream.damage)).map(|d| d.code));
        let Some(stream) = stream else { continue };
        for row in &stream.rows {
            blocks += 1;
            stream.fetch(&row, &mut scratch).unwrap();
            stream.faults(&row, &scratch, &mut damage);
            damage.extend(stream.block(&mut scratch).damage);
            damage.extend(stream.instances(&mut scratch).damage);
        }
        codes.extend(damage.iter().map(|d| d.code));
    }
    for map in &save.maps {
        codes.extend(map.damage.iter().map(|d| d.code));
        for layer in map.layers() {
            let grid = map.grid(layer, &save.options.limits);
            let report = crate::voxel_map::scan::scan(&grid, &save.options.limits, &Watch::default());
            blocks += report.counts.set;
            codes.extend(grid.faults.iter().chain(&report.faults).map(|fault| fault.damage.code));
        }
    }
    (blocks, codes)
}

fn bytes_of(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(at) = dirs.pop() {
        for entry in fs::read_dir(at).unwrap().map(Result::unwrap) {
            match entry.file_type().unwrap() {
                kind if kind.is_dir() => dirs.push(entry.path()),
                kind if kind.is_file() => {
                    let below = entry.path().strip_prefix(dir).unwrap().to_owned();
                    all.push((below, fs::read(entry.path()).unwrap()));
                }
                _ => {}
            }
        }
    }
    all.sort();
    all
}

#[test]
fn every_healthy_sample_reads_without_a_complaint() {
    let dir = tempfile::tempdir().unwrap();
    for sample in HEALTHY {
        let dir = dir.path().join(sample.name);
        (sample.make)(&dir).unwrap();
        let (blocks, codes) = seen(&dir);
        assert!(blocks > 1, "{}", sample.name);
        assert!(codes.iter().all(|code| code.level() == Level::Note), "{}: {codes:?}", sample.name);
    }
}

#[test]
fn every_damaged_sample_shows_what_the_decoders_can_see() {
    let dir = tempfile::tempdir().unwrap();
    for sample in SAMPLES {
        let dir = dir.path().join(sample.name);
        (sample.make)(&dir).unwrap();
        let (_, codes) = seen(&dir);
        for code in sample.expect.iter().filter(|code| !OF_THE_CHECKER.contains(code)) {
            assert!(codes.contains(code), "{}: no {code}, only {codes:?}", sample.name);
        }
    }
}

#[test]
fn blocks_of_the_wrong_places_look_healthy() {
    let sample = SAMPLES.iter().find(|sample| sample.name == "crash-wrong-places").unwrap();
    let dir = tempfile::tempdir().unwrap();
    (sample.make)(dir.path()).unwrap();
    let save = Save::open(dir.path(), &Options::default()).unwrap();
    let mut scratch = Scratch::default();
    let (forest, file) = save.regions().find(|(_, file)| file.position == [0; 3]).unwrap();
    let region = save.region(forest, file).unwrap().unwrap();
    let mut damaged = 0;
    for listed in &region.entries {
        region.view(listed.entry, &mut scratch).unwrap();
        damaged += usize::from(!scratch.damage.is_empty());
    }
    assert_eq!((damaged, region.entries.len()), (1, 8));
}

#[test]
fn every_code_has_a_sample_or_a_reason() {
    let made = |code: &&Code| {
        let of_streams = ["stream-", "instances-"].iter().any(|start| code.name().starts_with(start));
        cfg!(feature = "sqlite") || !of_streams
    };
    for &code in Code::ALL.iter().filter(made) {
        let shown = samples().any(|sample| sample.expect.contains(&code));
        assert!(shown != WITHOUT.contains(&code), "{code}");
    }
    let names: BTreeSet<PathBuf> = samples().map(Sample::path).collect();
    assert_eq!(names.len(), samples().count(), "two samples of one name");
    for sample in samples() {
        assert!(!sample.expect.is_empty() || sample.healthy, "{}", sample.name);
        assert!(!sample.healthy || sample.expect.iter().all(|code| code.level() == Level::Note), "{}", sample.name);
        assert!(sample.about.ends_with('.'), "{}", sample.name);
    }
}

#[test]
fn all_samples_are_small_and_the_same_every_time() {
    let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    assert_eq!(write_all(a.path()).unwrap().len(), samples().count());
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    one.install(|| write_all(b.path())).unwrap();
    let (a, b) = (bytes_of(a.path()), bytes_of(b.path()));
    assert!(a == b, "other bytes the second time");
    let total: usize = a.iter().map(|(_, bytes)| bytes.len()).sum();
    assert!(total < 14 << 20, "{total} bytes");
}

#[test]
fn a_forest_is_the_same_whatever_the_number_of_threads() {
    let spec = ForestSpec { region_size_po2: 1, ..ForestSpec::default() };
    let write = |threads| {
        let dir = tempfile::tempdir().unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let seen = std::sync::atomic::AtomicU64::new(0);
        let progress = |progress| match progress {
            Progress::Began { all, .. } => assert_eq!(all, spec.blocks()),
            Progress::Advanced(more) => {
                seen.fetch_add(more, std::sync::atomic::Ordering::Relaxed);
            }
        };
        let watch = Watch::default().progress(&progress);
        let stats = pool.install(|| write_forest(dir.path(), &spec, Some(&watch))).unwrap();
        assert_eq!(seen.into_inner(), spec.blocks());
        let files = bytes_of(dir.path());
        assert_eq!(stats.blocks, spec.blocks());
        assert_eq!(stats.files as usize, files.len());
        assert_eq!(stats.stored_bytes as usize, files.iter().map(|(_, bytes)| bytes.len()).sum::<usize>());
        files
    };
    let one = write(1);
    assert!(one == write(4));
    let built: Vec<(PathBuf, Vec<u8>)> = spec.build().unwrap().into_iter().collect();
    assert!(one.iter().all(|file| built.contains(file)) && one.len() == built.len());
}

#[test]
fn every_block_is_read_back_where_it_was_put() {
    use crate::godot::{container::Mode, slots::SlotFormula};
    let old = ForestSpec {
        block_version: 2,
        mode: Mode::Headerless,
        slots: SlotFormula::Legacy,
        lods: vec![Extent { from: [-5, -1, -3], to: [3, 2, 2] }],
        ..ForestSpec::default()
    };
    for spec in [ForestSpec::default(), ForestSpec { palette: true, mode: Mode::Zstd, ..ForestSpec::default() }, old] {
        let dir = tempfile::tempdir().unwrap();
        write_forest(dir.path(), &spec, None).unwrap();
        let save = Save::open(dir.path(), &Options::default()).unwrap();
        let (mut scratch, mut positions) = (Scratch::default(), BTreeSet::new());
        for (forest, file) in save.regions() {
            let mut region = save.region(forest, file).unwrap().unwrap();
            assert_eq!(region.header.palette.is_some(), spec.palette);
            let slots = region.slots(&mut scratch).unwrap();
            for listed in region.entries.clone() {
                let position = region.block_position(listed.slot, slots).unwrap();
                let view = region.view(listed.entry, &mut scratch).unwrap();
                assert_eq!(view.container.unwrap().plain, spec.block(file.lod, position).encode(), "{position:?}");
                positions.insert((file.lod, position));
            }
        }
        let wanted = (0u8..).zip(&spec.lods).flat_map(|(lod, extent)| extent.positions().map(move |p| (lod, p)));
        assert_eq!(positions, wanted.collect());
    }
}

#[test]
fn nothing_is_written_over_what_is_there() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("precious"), b"1").unwrap();
    let spec = ForestSpec::default();
    let error = write_forest(dir.path(), &spec, None).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    assert!(error.to_string().contains("not empty"), "{error}");
    assert!(error.to_string().contains(&*dir.path().to_string_lossy()), "{error}");
    assert!(write_all(dir.path()).is_err());
    assert!(write_forest(&dir.path().join("precious"), &spec, None).is_err());
    assert_eq!(fs::read(dir.path().join("precious")).unwrap(), b"1");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn impossible_settings_are_refused_before_anything_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let good = ForestSpec::default;
    for spec in [
        ForestSpec { block_version: 5, ..good() },
        ForestSpec { sector_size: 0, ..good() },
        ForestSpec { region_size_po2: 8, ..good() },
        ForestSpec { meta_version: 1, ..good() },
    ] {
        assert!(write_forest(dir.path(), &spec, None).is_err());
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    // A block of more than 255 sectors shows only when it is made.
    assert!(write_forest(dir.path(), &ForestSpec { sector_size: 8, ..good() }, None).is_err());
}

/// Distance and material at a voxel of the world, taken from whichever block holds it.
fn voxel(terrain: &Terrain, size: u16, [x, y, z]: [i32; 3]) -> (f64, u64) {
    let n = i32::from(size);
    let position = [x, y, z].map(|v| v.div_euclid(n));
    let inside = [x, y, z].map(|v| v.rem_euclid(n) as u16);
    let mut depths = forest::DEPTHS;
    depths[SDF] = Depth::Bits32;
    let block = terrain.block(0, position, size, &depths, 4);
    let view = block.view();
    (sdf(4, Depth::Bits32, view.voxel(SDF, inside).unwrap()), view.voxel(0, inside).unwrap())
}

#[test]
fn terrain_goes_on_across_the_borders_of_blocks() {
    let terrain = Terrain::new(11);
    for at in [[-16, 10, -3], [0, 12, 5], [16, 20, 16], [-1, 16, 40], [31, -2, -17]] {
        // The same voxel, whatever the size of the block around it.
        assert_eq!(voxel(&terrain, 16, at), voxel(&terrain, 32, at), "{at:?}");
        assert_eq!(voxel(&terrain, 16, at), voxel(&terrain, 8, at), "{at:?}");
    }
    for z in -20..20 {
        // Steps over a border are not larger than steps elsewhere.
        let row: Vec<f64> = (-20..20).map(|x| voxel(&terrain, 8, [x, 14, z]).0).collect();
        let largest = row.windows(2).map(|w| (w[1] - w[0]).abs()).fold(0.0, f64::max);
        assert!(largest < 5.0, "a step of {largest} at z = {z}");
    }
}

#[test]
fn air_above_and_ground_below_are_uniform() {
    let terrain = Terrain::new(1);
    let sky = terrain.block(0, [3, 9, -4], 16, &forest::DEPTHS, 4);
    assert!(sky.channels.iter().all(|c| c.storage == crate::godot::channel::Storage::Uniform));
    assert_eq!(sky.view().voxel(0, [0; 3]), Some(Material::Air as u64));
    assert!(sdf(4, Depth::Bits16, sky.view().voxel(SDF, [0; 3]).unwrap()) > 9.0);
    assert_eq!(sky.view().voxel(3, [1; 3]), Some(terrain::INDICES));
}

#[test]
fn distances_are_stored_as_the_engine_reads_them() {
    for version in 1..=4 {
        for depth in Depth::ALL {
            for distance in [-0.75, -0.1, 0.0, 0.3, 0.9] {
                let read = sdf(version, depth, terrain::store_sdf(version, depth, distance));
                assert!((read - distance).abs() < 0.08, "version {version}, {depth}: {distance} became {read}");
            }
        }
    }
    assert_eq!(terrain::store_sdf(4, Depth::Bits16, 1e9), 32767);
    assert_eq!(terrain::store_sdf(4, Depth::Bits16, -1e9), 0x8001);
}
