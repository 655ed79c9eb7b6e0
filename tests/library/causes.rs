//! Every way in which saves are damaged has its cause: the states of docs/recovery.md that an engine leaves, and what disks,
//! transfers and people do to files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use rayon::prelude::*;
use voxscope::check::{self, Cause, CauseKind, Findings, Level, SaveArguments};
use voxscope::demo;
use voxscope::godot::channel::Depth;
use voxscope::godot::region::Format;
use voxscope::godot::slots::SlotFormula;
use voxscope::pak::chunk::Given;
use voxscope::pak::offset::Reading;
use voxscope::recover::effort::Effort;
use voxscope::repair;
use voxscope::save::{Options, PakOptions, Save};

use crate::common::damage::{FileDamage, TableDamage, table_at};
use crate::common::terrain::{Ground, Terrain};
use crate::common::writer::Random;
use crate::common::{committed, copy_dir, files_below, sampled, samples};

fn causes(path: &Path) -> Vec<Cause> {
    let save = Save::open(path, &Options::default()).unwrap();
    let mut findings = Findings::default();
    let options = check::Options::default().level(Level::Semantic);
    check::run(&save, &options, |finding| findings.add(&finding));
    findings.causes(&save)
}

/// Whether a kind is the first cause, or one of those that fit the same evidence, which then say how to tell them apart.
fn is_named_first(causes: &[Cause], kind: CauseKind) -> bool {
    causes.first().is_some_and(|first| {
        let one_of_several = first.alternatives.contains(&kind) && first.tell_apart().is_some();
        first.kind == kind || one_of_several
    })
}

/// The states of docs/recovery.md by number, samples of each, and the cause that comes first.
const STATES: &[(u32, &str, CauseKind)] = &[
    (1, "table-empty", CauseKind::Killed),
    (2, "block-unlisted", CauseKind::Killed),
    (3, "crash-half-written", CauseKind::Killed),
    (4, "crash-shrunk", CauseKind::Killed),
    (5, "crash-grown", CauseKind::Killed),
    (5, "crash-new-block", CauseKind::Killed),
    (6, "crash-moving", CauseKind::Killed),
    (6, "crash-doubled", CauseKind::Killed),
    (7, "crash-torn-table", CauseKind::Killed),
    (8, "disk-full", CauseKind::DiskFull),
    (9, "power-loss", CauseKind::PowerLost),
    (9, "block-zeroed-run", CauseKind::PowerLost),
    (10, "region-empty", CauseKind::Killed),
    (10, "region-header-cut", CauseKind::DiskFull),
    (10, "region-never-stored", CauseKind::DiskFull),
    (10, "region-refused", CauseKind::Settings),
    (11, "region-sector-size", CauseKind::Storage),
    (12, "meta-missing", CauseKind::CopyIncomplete),
    (12, "meta-empty", CauseKind::Killed),
    (13, "two-writers", CauseKind::TwoWriters),
    (14, "crash-migration", CauseKind::Migration),
    (15, "conversion-left/world", CauseKind::Conversion),
    (16, "table-gap", CauseKind::Killed),
    (16, "table-overlap", CauseKind::TwoWriters),
    (17, "slots-mixed", CauseKind::OldSlots),
];

#[test]
fn each_state_that_an_engine_leaves_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("samples");
    samples::write(&root);
    let numbers: BTreeSet<u32> = STATES.iter().map(|(n, ..)| *n).collect();
    assert_eq!(numbers, (1..=17).collect());
    for (n, sample, kind) in STATES {
        let causes = causes(&root.join("damaged").join(sample));
        assert_eq!(causes.first().map(|cause| cause.kind), Some(*kind), "state {n}, {sample}: {causes:?}");
        assert!(!causes[0].evidence.is_empty(), "state {n}, {sample}: {causes:?}");
    }
    // A save with old slots alone is as its engine wrote it.
    assert_eq!(causes(&root.join("damaged/slots-old")), Vec::new());
}

/// The files of a forest of two full regions, which is healthy, by their paths below it.
static WORLD: LazyLock<Vec<(PathBuf, Vec<u8>)>> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    Terrain::small(Ground::Smooth, 51).write(dir.path(), &[[0, 0, 0], [1, 0, 0]]);
    assert_eq!(causes(dir.path()), Vec::new(), "it is healthy");
    let below = |path: PathBuf| (path.strip_prefix(dir.path()).unwrap().to_owned(), fs::read(&path).unwrap());
    files_below(dir.path()).into_iter().map(below).collect()
});

/// Writes the forest, and gives the path of its first region file.
fn world(dir: &Path) -> PathBuf {
    fs::create_dir_all(dir.join("regions/lod0")).unwrap();
    WORLD.iter().for_each(|(path, bytes)| fs::write(dir.join(path), bytes).unwrap());
    dir.join("regions/lod0/r.0.0.0.vxr")
}

#[test]
fn damage_to_tables_is_not_blamed_on_the_game_alone() {
    LazyLock::force(&WORLD);
    sampled(TableDamage::ALL, 2).par_iter().for_each(|kind| {
        let dir = tempfile::tempdir().unwrap();
        let file = world(dir.path());
        let mut bytes = fs::read(&file).unwrap();
        kind.apply(&mut bytes, &mut Random::new(51));
        fs::write(&file, bytes).unwrap();
        let causes = causes(dir.path());
        let expected: &[CauseKind] = match kind {
            // An engine leaves an empty table too.
            TableDamage::Page | TableDamage::All => &[CauseKind::Killed],
            TableDamage::Garbage => &[CauseKind::Storage, CauseKind::TableChanged],
            _ => &[CauseKind::TableChanged],
        };
        assert!(expected.iter().any(|kind| is_named_first(&causes, *kind)), "{kind:?}: {causes:?}");
        if *kind == TableDamage::Swaps {
            assert_eq!(causes[0].kind, CauseKind::TableChanged, "{causes:?}");
        }
    });
}

#[test]
fn tables_of_two_regions_that_were_exchanged_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let first = world(dir.path());
    let second = first.with_file_name("r.1.0.0.vxr");
    let (mut a, mut b) = (fs::read(&first).unwrap(), fs::read(&second).unwrap());
    let table = table_at(&a);
    assert_eq!(table, table_at(&b));
    a[table.clone()].swap_with_slice(&mut b[table]);
    fs::write(&first, a).unwrap();
    fs::write(&second, b).unwrap();
    let causes = causes(dir.path());
    assert!(is_named_first(&causes, CauseKind::TableChanged), "{causes:?}");
    assert_eq!(causes[0].evidence, ["the blocks of 2 region files fit the tables of others"]);
}

#[test]
fn damage_to_files_by_disks_and_copies_is_named() {
    LazyLock::force(&WORLD);
    sampled(FileDamage::ALL, 3).par_iter().for_each(|kind| {
        let dir = tempfile::tempdir().unwrap();
        let file = world(dir.path());
        let mut bytes = fs::read(&file).unwrap();
        kind.apply(&mut bytes, &mut Random::new(43));
        fs::write(&file, bytes).unwrap();
        let causes = causes(dir.path());
        let expected: &[CauseKind] = match kind {
            FileDamage::TailCut => &[CauseKind::CopyCut],
            FileDamage::PageZeroed => &[CauseKind::PowerLost],
            // The settings of a region may differ because it is of another save.
            FileDamage::HeaderBit(_) => &[CauseKind::Storage, CauseKind::Mixed],
            _ => &[CauseKind::Storage],
        };
        assert!(expected.iter().any(|kind| is_named_first(&causes, *kind)), "{kind:?}: {causes:?}");
    });
}

#[test]
fn no_cause_is_named_where_nothing_shows_that_bytes_changed() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("samples");
    samples::write(&root);
    for sample in [
        "instances-twice",
        "link-skipped",
        "map-beyond-dim",
        "map-flag-unknown",
        "map-water-depth",
        "pak-bomb",
        "stream-foreign",
        "stream-meta-missing",
    ] {
        assert_eq!(causes(&root.join("damaged").join(sample)), Vec::new(), "{sample}");
    }
    // A lone file of an old version lacks its meta file, which is no damage to it.
    let lone = dir.path().join("r.0.0.0.vxr");
    fs::copy(root.join("healthy/old-2020/regions/lod0/r.0.0.0.vxr"), &lone).unwrap();
    assert_eq!(causes(&lone), Vec::new());
}

#[test]
fn a_whole_region_file_of_another_name_was_renamed() {
    let dir = tempfile::tempdir().unwrap();
    let world = world(dir.path());
    let lone = dir.path().join("copy of a region.vxr");
    fs::rename(world, &lone).unwrap();
    let kinds: Vec<CauseKind> = causes(&lone).iter().map(|cause| cause.kind).collect();
    assert_eq!(kinds, [CauseKind::Renamed]);
    // Its name does not explain bytes that were changed in it.
    let mut bytes = fs::read(&lone).unwrap();
    let first_block = table_at(&bytes).end;
    bytes[first_block + 4..first_block + 64].fill(0x7f);
    fs::write(&lone, bytes).unwrap();
    let causes = causes(&lone);
    let names_damage = causes.iter().any(|cause| is_named_first(std::slice::from_ref(cause), CauseKind::Storage));
    assert!(causes[0].kind == CauseKind::Renamed && names_damage, "{causes:?}");
}

#[test]
fn lods_that_the_meta_file_counts_are_evidence_of_an_incomplete_copy() {
    let dir = tempfile::tempdir().unwrap();
    let sample = demo::samples().find(|sample| sample.name == "lods").unwrap();
    (sample.make)(dir.path()).unwrap();
    let meta = dir.path().join("meta.vxrm");
    let text = fs::read_to_string(&meta).unwrap();
    let count = |lods: &str| fs::write(&meta, text.replacen('{', &format!("{{\"lod_count\": {lods},"), 1)).unwrap();
    let evidence = || -> Vec<String> { causes(dir.path()).into_iter().flat_map(|cause| cause.evidence).collect() };
    // LODs at the top may never have been saved.
    count("5");
    assert_eq!(evidence(), Vec::<String>::new());
    fs::remove_dir_all(dir.path().join("regions/lod1")).unwrap();
    let gap = "a LOD has no region file although a higher one has blocks";
    assert_eq!(evidence(), [gap, "3 of the LODs that the meta file counts have no file"]);
    count("3");
    assert_eq!(evidence(), [gap, "1 of the LODs that the meta file counts has no file"]);
}

/// Writes a healthy forest of 24 region files in three LODs.
fn lods(dir: &Path) {
    let sample = demo::samples().find(|sample| sample.name == "lods").unwrap();
    (sample.make)(dir).unwrap();
    assert_eq!(causes(dir), Vec::new(), "it is healthy");
}

fn kinds(path: &Path) -> Vec<CauseKind> {
    causes(path).iter().map(|cause| cause.kind).collect()
}

#[test]
fn a_file_that_ends_after_its_header_was_cut_off_if_the_engine_accepts_the_settings() {
    let dir = tempfile::tempdir().unwrap();
    let world = dir.path().join("world");
    lods(&world);
    let file = world.join("regions/lod0/r.0.0.0.vxr");
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..20]).unwrap();
    let causes = causes(&world);
    assert_eq!(causes.len(), 1, "{causes:?}");
    assert_eq!((causes[0].kind, &causes[0].alternatives[..]), (CauseKind::DiskFull, &[CauseKind::CopyCut][..]));
    // The engine refuses these settings, whatever files there are.
    let refused = dir.path().join("refused");
    let spec = demo::ForestSpec { block_size_po2: 5, sector_size: 512, ..demo::ForestSpec::default() };
    demo::write_forest(&refused, &spec, None).unwrap();
    let file = refused.join("regions/lod0/r.0.0.0.vxr");
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..20]).unwrap();
    assert_eq!(kinds(&refused), [CauseKind::Settings]);
}

#[test]
fn a_header_that_differs_from_all_others_is_damaged() {
    let dir = tempfile::tempdir().unwrap();
    lods(dir.path());
    let zero = |file: &Path| {
        let mut bytes = fs::read(file).unwrap();
        bytes[17..19].fill(0);
        fs::write(file, bytes).unwrap();
    };
    zero(&dir.path().join("regions/lod0/r.0.0.0.vxr"));
    let found = causes(dir.path());
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].kind, CauseKind::Storage);
    assert_eq!(found[0].evidence, ["1 finding in headers of region files, and none elsewhere"]);
    // A sector size that no header can store is 0 in all of them.
    files_below(&dir.path().join("regions")).iter().for_each(|file| zero(file));
    let meta = dir.path().join("meta.vxrm");
    let text = fs::read_to_string(&meta).unwrap();
    fs::write(&meta, text.replace("\"sector_size\": 512", "\"sector_size\": 65536")).unwrap();
    assert!(kinds(dir.path()).contains(&CauseKind::Settings), "{:?}", causes(dir.path()));
}

#[test]
fn a_meta_file_that_differs_from_all_region_files_was_changed() {
    let dir = tempfile::tempdir().unwrap();
    lods(dir.path());
    let meta = dir.path().join("meta.vxrm");
    let text = fs::read_to_string(&meta).unwrap();
    let edit = |key: &str, value: serde_json::Value| {
        let mut fields: serde_json::Value = serde_json::from_str(&text).unwrap();
        fields[key] = value;
        fs::write(&meta, fields.to_string()).unwrap();
        let found = causes(dir.path());
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].kind, &found[0].alternatives[..]), (CauseKind::Foreign, &[CauseKind::Mixed][..]));
        found[0].evidence.clone()
    };
    let agree = "24 region files agree with each other, so that the meta file was changed or replaced";
    let differs = "the layout of 24 region files differs from that of the meta file";
    assert_eq!(edit("channel_depths", serde_json::json!([0, 0, 0, 0, 0, 0, 0, 0])), [differs, agree]);
    let beyond = "2 LODs with region files are beyond the LODs that the meta file counts";
    assert_eq!(edit("lod_count", serde_json::json!(1)), [beyond, agree]);
    let beyond = "1 LOD with region files is beyond the LODs that the meta file counts";
    assert_eq!(edit("lod_count", serde_json::json!(2)), [beyond, agree]);
    // With a region file of another save, the meta file is that of the others.
    fs::write(&meta, &text).unwrap();
    let other = tempfile::tempdir().unwrap();
    let spec = demo::ForestSpec { region_size_po2: 3, sector_size: 1024, ..demo::ForestSpec::default() };
    demo::write_forest(other.path(), &spec, None).unwrap();
    let name = "regions/lod0/r.0.0.0.vxr";
    fs::copy(other.path().join(name), dir.path().join(name)).unwrap();
    let found = causes(dir.path());
    let mixed = found.iter().find(|cause| cause.kind == CauseKind::Mixed).unwrap_or_else(|| panic!("{found:?}"));
    assert_eq!(mixed.evidence, ["the layout of 1 region file differs from that of the meta file"]);
}

/// The kinds of the causes of a copy of a save that was killed while it saved, after one of its files was changed.
fn of_killed_with_one_changed(change: impl Fn(&mut Vec<u8>)) -> Vec<CauseKind> {
    let dir = tempfile::tempdir().unwrap();
    let world = dir.path().join("world");
    copy_dir(committed().join("crash_terrain/t1/world"), &world);
    let mut files = files_below(&world.join("regions"));
    files.sort_by_key(|path| fs::metadata(path).unwrap().len());
    let mut bytes = fs::read(&files[0]).unwrap();
    change(&mut bytes);
    fs::write(&files[0], bytes).unwrap();
    causes(&world).iter().map(|cause| cause.kind).collect()
}

#[test]
fn what_a_copy_did_to_one_file_does_not_hide_what_the_game_did_to_the_others() {
    assert_eq!(of_killed_with_one_changed(|_| {}), [CauseKind::Killed]);
    let crlf = |bytes: &mut Vec<u8>| {
        *bytes = bytes.iter().flat_map(|byte| if *byte == b'\n' { vec![b'\r', b'\n'] } else { vec![*byte] }).collect();
    };
    assert_eq!(of_killed_with_one_changed(crlf), [CauseKind::TextConverted, CauseKind::Killed]);
    let cut = |bytes: &mut Vec<u8>| bytes.truncate((bytes.len() * 3 / 4) & !4095);
    assert_eq!(of_killed_with_one_changed(cut), [CauseKind::CopyCut, CauseKind::Killed]);
    // The size of a region, which a game writes once.
    let header = |bytes: &mut Vec<u8>| bytes[6] ^= 0x40;
    let kinds = of_killed_with_one_changed(header);
    assert!(kinds.contains(&CauseKind::Killed) && kinds.contains(&CauseKind::Storage), "{kinds:?}");
}

#[test]
fn the_figures_follow_the_cause_that_moved_blocks() {
    let dir = tempfile::tempdir().unwrap();
    let world = dir.path().join("world");
    copy_dir(committed().join("crash_terrain/t1/world"), &world);
    fs::remove_file(world.join("meta.vxrm")).unwrap();
    let save = Save::open(&world, &Options::default()).unwrap();
    let totals = repair::expected_totals(&save, &repair::Options::default()).unwrap();
    let lines = check::verdict(&causes(&world), Some(&totals), None, &SaveArguments::new(&save), Effort::NORMAL);
    assert!(lines.iter().any(|line| line == "The copy of the save is incomplete."), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("The game was killed while it saved: of ")), "{lines:?}");
}

/// Region files of version 2 do not store their layout.
#[test]
fn a_meta_file_that_does_not_fit_its_region_files_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let sample = demo::samples().find(|sample| sample.name == "old-2020").unwrap();
    (sample.make)(dir.path()).unwrap();
    let meta = dir.path().join("meta.vxrm");
    let text = fs::read_to_string(&meta).unwrap();
    let fit = "the files fit `--block-size 16 --region-size 4 --sector-size 512 --depths 8,8,8,8,8,8,8,8`";
    for (field, value) in [("region_size_po2", 3), ("sector_size", 256), ("sector_size", 1024)] {
        let mut fields: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_ne!(fields[field], value);
        fields[field] = value.into();
        fs::write(&meta, fields.to_string()).unwrap();
        let found = causes(dir.path());
        let kinds: Vec<CauseKind> = found.iter().map(|cause| cause.kind).collect();
        assert_eq!(kinds, [CauseKind::MetaMisfit], "{field} {value}");
        assert_eq!(found[0].evidence.last().unwrap(), fit, "{field} {value}");
        let save = Save::open(dir.path(), &Options::default()).unwrap();
        let refused = repair::plan(&save, &repair::Options::default()).expect_err("blocks in wrong places");
        assert!(refused.to_string().contains("meta file describes another layout"), "{refused}");
        assert!(repair::expected_totals(&save, &repair::Options::default()).is_err());
    }
}

#[test]
fn an_empty_forest_may_be_a_new_world() {
    let dir = tempfile::tempdir().unwrap();
    let sample = demo::samples().find(|sample| sample.name == "forest-empty").unwrap();
    (sample.make)(dir.path()).unwrap();
    let causes = causes(dir.path());
    assert_eq!(causes.len(), 1);
    assert_eq!((causes[0].kind, &causes[0].alternatives[..]), (CauseKind::CopyIncomplete, &[CauseKind::NewWorld][..]));
}

#[test]
fn an_array_that_ends_at_a_copy_buffer_is_a_copy_that_was_cut_off() {
    let dir = tempfile::tempdir().unwrap();
    let sample = demo::samples().find(|sample| sample.name == "map-dense").unwrap();
    (sample.make)(dir.path()).unwrap();
    let arrays = files_below(dir.path()).into_iter().filter(|path| path.extension().is_some_and(|end| end == "npy"));
    let path = arrays.max_by_key(|path| fs::metadata(path).unwrap().len()).unwrap();
    let bytes = fs::read(&path).unwrap();
    assert!(bytes.len() > 4096);
    fs::write(&path, &bytes[..4096]).unwrap();
    let causes = causes(dir.path());
    assert_eq!(causes.iter().map(|cause| cause.kind).collect::<Vec<_>>(), [CauseKind::CopyCut], "{causes:?}");
}

#[test]
fn an_option_that_does_not_fit_is_no_damage() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("samples");
    samples::write_some(&root, &["healthy/pak-room"]);
    let path = root.join("healthy/pak-room");
    let with = |pak: PakOptions| {
        let save = Save::open(&path, &Options::default().pak(pak)).unwrap();
        let mut findings = Findings::default();
        check::run(&save, &check::Options::default().level(Level::Semantic), |finding| findings.add(&finding));
        let causes = findings.causes(&save);
        let lines = check::verdict(&causes, None, None, &SaveArguments::new(&save), Effort::NORMAL).concat();
        (causes.iter().map(|cause| cause.kind).collect::<Vec<_>>(), lines)
    };
    let shape = Given { size: Some([5; 3]), voxel_bytes: Some(1) };
    for (options, named) in [
        (PakOptions::default().reading(Reading::Bytes), "`--pak-offset bytes` does not fit"),
        (PakOptions::default().shape(shape), "`--chunk-shape 5,5,5` with `--voxel-bytes 1` do not fit"),
    ] {
        let (kinds, lines) = with(options);
        assert_eq!(kinds, [CauseKind::OptionMisfit], "{named}");
        assert!(lines.contains(named), "{lines}");
        assert!(lines.contains(&format!("voxscope check {}` without", path.display())), "{lines}");
    }
    assert_eq!(with(PakOptions::default().reading(Reading::Blocks)).0, []);
}

/// The causes of a save that is opened with options, and its verdict.
fn causes_with(path: &Path, options: &Options) -> (Vec<CauseKind>, String) {
    let save = Save::open(path, options).unwrap();
    let mut findings = Findings::default();
    check::run(&save, &check::Options::default().level(Level::Semantic), |finding| findings.add(&finding));
    let causes = findings.causes(&save);
    let lines = check::verdict(&causes, None, None, &SaveArguments::new(&save), Effort::NORMAL).concat();
    (causes.iter().map(|cause| cause.kind).collect(), lines)
}

#[test]
fn a_layout_of_region_files_that_does_not_fit_is_no_damage() {
    let dir = tempfile::tempdir().unwrap();
    let [with_meta, without_meta, block_files] = ["with", "without", "blocks"].map(|name| dir.path().join(name));
    let make = |name: &str, to: &Path| {
        let sample = demo::samples().find(|sample| sample.name == name).unwrap();
        (sample.make)(to).unwrap();
    };
    make("old-2020", &with_meta);
    make("old-2020", &without_meta);
    fs::remove_file(without_meta.join("meta.vxrm")).unwrap();
    make("block-files", &block_files);
    let own = Save::open(&with_meta, &Options::default()).unwrap().forests[0].format.unwrap();
    let deep = Depth::from_code(1).unwrap();
    let depths = [deep, deep, deep, deep, deep, deep, deep, deep];
    for (path, format, named) in [
        (&with_meta, Format { block_size_po2: 5, ..own }, "`--block-size 32` does not fit"),
        (&with_meta, Format { region_size: [8; 3], ..own }, "`--region-size 8` does not fit"),
        (&with_meta, Format { sector_size: 1024, ..own }, "`--sector-size 1024` does not fit"),
        (&with_meta, Format { depths, ..own }, "`--depths 16,16,16,16,16,16,16,16` does not fit"),
        (&without_meta, Format { block_size_po2: 5, ..own }, "`--block-size 32` does not fit"),
        (&without_meta, Format { region_size: [8; 3], ..own }, "`--region-size 8` does not fit"),
        (&without_meta, Format { region_size: [32; 3], ..own }, "`--region-size 32` does not fit"),
        (&without_meta, Format { sector_size: 1024, ..own }, "`--sector-size 1024` does not fit"),
        (&without_meta, Format { sector_size: 256, ..own }, "`--sector-size 256` does not fit"),
        (&block_files, Format { block_size_po2: 5, ..own }, "`--block-size 32` does not fit"),
    ] {
        let (kinds, lines) = causes_with(path, &Options::default().format(format));
        assert_eq!(kinds, [CauseKind::OptionMisfit], "{named}");
        assert!(lines.contains(named) && lines.contains("without the option"), "{lines}");
        // A repair would write the blocks to other places.
        let save = Save::open(path, &Options::default().format(format)).unwrap();
        let refused = repair::plan(&save, &repair::Options::default()).map(|plan| plan.regions.len());
        assert!(refused.is_err_and(|error| error.to_string().contains(named)), "{named}");
    }
    // Depths that are assumed were not given.
    let assumed = Options::default().format(Format { depths, ..own }).assumes_depths(true);
    let lines = causes_with(&with_meta, &assumed).1;
    assert!(lines.contains("which the given layout does not fit without `--depths`"), "{lines}");
    // Options that fit name no option, whatever else is wrong.
    assert_eq!(causes_with(&with_meta, &Options::default().format(own)).0, []);
    assert_eq!(causes_with(&without_meta, &Options::default().format(own)).0, [CauseKind::CopyIncomplete]);
    let region = with_meta.join("regions/lod0/r.0.0.0.vxr");
    let mut bytes = fs::read(&region).unwrap();
    let len = bytes.len();
    bytes[len - 600..].fill(0x55);
    fs::write(&region, bytes).unwrap();
    let (kinds, lines) = causes_with(&with_meta, &Options::default().format(own));
    assert!(!kinds.is_empty() && !kinds.contains(&CauseKind::OptionMisfit), "{kinds:?} {lines}");
    // A file that stores its layout is read by that, whatever is given.
    make("block-epilogue", &dir.path().join("damaged"));
    let damaged = dir.path().join("damaged");
    let (kinds, lines) = causes_with(&damaged, &Options::default().format(Format { block_size_po2: 5, ..own }));
    assert!(!kinds.contains(&CauseKind::OptionMisfit), "{kinds:?} {lines}");
}

#[test]
fn a_slot_formula_that_does_not_fit_is_named_although_nothing_is_found() {
    let dir = tempfile::tempdir().unwrap();
    for (name, wrong, right) in [
        // By the version of the files, and of the blocks.
        ("old-2020", SlotFormula::Euclidean, SlotFormula::Legacy),
        ("blocks-v3", SlotFormula::Euclidean, SlotFormula::Legacy),
        // By what continues from block to block.
        ("blocks-v4-old-slots", SlotFormula::Euclidean, SlotFormula::Legacy),
        ("current", SlotFormula::Legacy, SlotFormula::Euclidean),
    ] {
        let path = dir.path().join(name);
        let sample = demo::samples().find(|sample| sample.name == name).unwrap();
        (sample.make)(&path).unwrap();
        let (kinds, lines) = causes_with(&path, &Options::default().slots(wrong));
        assert_eq!(kinds, [CauseKind::OptionMisfit], "{name}");
        assert!(lines.contains("`--slots ") && lines.contains("does not fit"), "{lines}");
        // What the blocks show leads to the same verdict as an option that says so.
        let shown = causes_with(&path, &Options::default()).0;
        assert_eq!(causes_with(&path, &Options::default().slots(right)).0, shown, "{name}");
        assert_eq!(shown.contains(&CauseKind::OldFormula), name == "blocks-v4-old-slots", "{name}");
    }
}

/// The bytes of a whole file after damage of a kind.
fn damaged_start(kind: &str, bytes: &[u8]) -> Vec<u8> {
    let zeros = bytes.len().min(4096);
    match kind {
        "empty" => Vec::new(),
        "zeros" => vec![0; bytes.len()],
        "zeroed start" => [&vec![0; zeros][..], &bytes[zeros..]].concat(),
        "text" => b"This is a text, and no part of a save.\n".repeat(9),
        _ => bytes[..bytes.len() / 2].to_vec(),
    }
}

#[test]
fn an_unreadable_beginning_has_the_same_cause_in_each_format() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("samples");
    samples::write_some(
        &root,
        &["healthy/current", "healthy/block-files", "healthy/stream", "healthy/pak-room", "healthy/map-dense"],
    );
    let data = [
        "current/regions/lod0/r.0.0.0.vxr",
        "block-files/blocks/lod0/+0+0+0.vxb",
        "stream/world.sqlite",
        "pak-room/x0_y0_z0.region",
        "map-dense/Lake_Global.npy",
    ];
    let texts = ["current/meta.vxrm", "map-dense/map_data.json"];
    let (killed, power) = (
        [CauseKind::Killed, CauseKind::PowerLost, CauseKind::DiskFull],
        [CauseKind::PowerLost, CauseKind::Killed, CauseKind::Storage],
    );
    let cut = [CauseKind::Killed, CauseKind::DiskFull, CauseKind::CopyCut];
    let cases: [(&str, &[&str], &[CauseKind]); 9] = [
        ("empty", &data, &killed),
        ("empty", &texts, &killed),
        ("zeros", &data, &power),
        ("zeros", &texts, &power),
        ("zeroed start", &data, &power),
        ("zeroed start", &texts, &power),
        ("text", &data, &[CauseKind::Foreign]),
        ("cut", &data, &[CauseKind::DiskFull, CauseKind::CopyCut]),
        ("cut", &texts, &cut),
    ];
    for (kind, files, expected) in cases {
        for file in files {
            let path = root.join("healthy").join(file);
            let before = fs::read(&path).unwrap();
            fs::write(&path, damaged_start(kind, &before)).unwrap();
            let save = root.join("healthy").join(file.split('/').next().unwrap());
            let causes = causes(&save);
            let [cause] = &causes[..] else { panic!("{kind} {file}: {causes:?}") };
            let all: Vec<CauseKind> = std::iter::once(cause.kind).chain(cause.alternatives.iter().copied()).collect();
            assert_eq!(all, expected, "{kind} {file}: {causes:?}");
            fs::write(&path, before).unwrap();
        }
    }
}

#[test]
fn depths_in_a_meta_file_that_no_block_file_has_are_a_wrong_meta_file() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("samples");
    samples::write_some(&root, &["healthy/block-files"]);
    let save = root.join("healthy/block-files");
    let meta = save.join("meta.vxbm");
    let mut bytes = fs::read(&meta).unwrap();
    let end = bytes.len();
    bytes[end - 8..].fill(0);
    fs::write(&meta, bytes).unwrap();
    let causes = causes(&save);
    assert_eq!(causes.iter().map(|cause| cause.kind).collect::<Vec<_>>(), [CauseKind::MetaMisfit], "{causes:?}");
    assert!(causes[0].evidence.iter().any(|words| words.contains("--depths ")), "{causes:?}");
}
