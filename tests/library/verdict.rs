//! What a check says at its end: the cause, and figures that the repair keeps.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use voxscope::check::{self, Cause, CauseKind, Findings, Level};
use voxscope::recover::effort::Effort;
use voxscope::repair::{self, Fate};
use voxscope::save::{File, Options, Save};
use voxscope::{damage, demo};

use crate::common::{sampled, samples};

/// The golden saves: the full set, or those of the repository.
fn golden() -> PathBuf {
    std::env::var_os("VOXSCOPE_GOLDEN")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden"), PathBuf::from)
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(dir).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

/// The saves of killed games.
fn killed() -> Vec<PathBuf> {
    let groups =
        entries(&golden()).into_iter().filter(|dir| dir.file_name().unwrap().to_str().unwrap().starts_with("crash_"));
    groups.flat_map(|dir| entries(&dir)).map(|case| case.join("world")).filter(|world| world.is_dir()).collect()
}

fn open(path: &Path) -> Save {
    Save::open(path, &Options::default()).unwrap()
}

fn causes(save: &Save) -> Vec<Cause> {
    let mut findings = Findings::default();
    let options = check::Options::default().level(Level::Semantic);
    check::run(save, &options, |finding| findings.add(&finding));
    findings.causes(save)
}

/// The explorer passes on the findings of all files in two passes.
#[test]
fn causes_do_not_depend_on_the_order_of_findings() {
    let dir = tempfile::tempdir().unwrap();
    let samples = dir.path().join("samples");
    samples::write(&samples);
    let mut saves = killed();
    saves.extend(demo::samples().map(|sample| samples.join(sample.path())));
    saves.par_iter().for_each(|path| {
        let Ok(save) = Save::open(path, &Options::default()) else { return };
        let mut all = Vec::new();
        check::run(&save, &check::Options::default().level(Level::Semantic), |finding| all.push(finding));
        let infer = |all: &[check::Finding]| -> Vec<(CauseKind, Vec<String>, u64)> {
            let mut findings = Findings::default();
            all.iter().for_each(|finding| findings.add(finding));
            let causes = findings.causes(&save);
            causes.into_iter().map(|cause| (cause.kind, cause.evidence, cause.blocks)).collect()
        };
        let by_file = infer(&all);
        all.sort_by_key(check::Finding::code);
        assert_eq!(infer(&all), by_file, "{}", path.display());
    });
}

#[test]
fn every_killed_game_is_named_so() {
    let worlds = killed();
    assert!(worlds.len() >= 4, "golden crash saves are missing in {}", golden().display());
    for world in worlds {
        let mut causes = causes(&open(&world));
        // The repository has some of these saves without all of their region files.
        causes.retain(|cause| cause.kind != CauseKind::CopyIncomplete);
        let [cause] = &causes[..] else { panic!("{}: {causes:?}", world.display()) };
        assert_eq!(cause.kind, CauseKind::Killed, "{}: {cause:?}", world.display());
        // Blocks that were only appended may be old states too: then both causes are named.
        let sure = cause.alternatives.is_empty();
        assert!(sure || world.to_str().unwrap().contains("append"), "{}: {cause:?}", world.display());
        assert_eq!(cause.tell_apart().is_none(), sure);
    }
}

/// The number behind words of a text.
fn number_behind(text: &str, words: &str) -> Option<u64> {
    let rest = text.split_once(words)?.1;
    rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()
}

#[test]
fn no_block_is_without_a_position_where_another_finding_names_one() {
    let mut named_so = 0;
    for world in killed() {
        let save = open(&world);
        let mut messages = Vec::new();
        let options = check::Options::default().level(Level::Semantic);
        check::run(&save, &options, |finding| {
            messages.push((finding.file.clone(), finding.code(), finding.message()));
        });
        let named = |(file, _, text): &(std::sync::Arc<str>, damage::Code, String)| {
            Some((file.clone(), number_behind(text, "The block of this position is at sector ")?))
        };
        let named: BTreeSet<_> = messages.iter().filter_map(named).collect();
        let unowned = messages.iter().filter(|(_, code, _)| *code == damage::Code::BlockOwnerless);
        for (file, _, text) in unowned {
            let sector = number_behind(text, "(sector ").unwrap();
            let says = text.contains("It belongs to ") || text.contains("It may belong to ");
            named_so += u64::from(says);
            assert!(says || !named.contains(&(file.clone(), sector)), "{}: {text}", world.display());
        }
    }
    assert!(named_so > 0);
}

/// Saves of killed games, and of other causes that tear blocks.
fn torn() -> Vec<PathBuf> {
    let others =
        ["power_loss", "two_writers", "disk_full"].into_iter().flat_map(|group| entries(&golden().join(group)));
    let mut saves = killed();
    saves.extend(others.map(|case| case.join("world")).filter(|world| world.is_dir()));
    saves
}

#[test]
fn the_verdict_counts_the_torn_blocks_that_findings_name() {
    let saves = torn();
    assert!(saves.iter().any(|path| path.to_str().unwrap().contains("two_writers")), "{saves:?}");
    saves.par_iter().for_each(|path| {
        let save = open(path);
        let (mut named, mut positions) = (BTreeSet::new(), BTreeSet::new());
        let options = check::Options::default().level(Level::Semantic);
        check::run(&save, &options, |finding| {
            let block = finding.block.and_then(|block| Some((block.lod, block.position?)));
            positions.extend(block.filter(|_| finding.level() > damage::Level::Note));
            if finding.code() == damage::Code::BlockTorn {
                assert!(named.insert(block.unwrap()), "{}: {finding}", path.display());
            }
        });
        let (mut torn, mut gone) = (BTreeSet::new(), BTreeSet::new());
        let plan = repair::plan(&save, &repair::Options::default()).unwrap();
        repair::fates(&save, &plan, &mut |block| {
            let at = (block.lod, block.position.unwrap());
            torn.extend(Some(at).filter(|_| block.torn && block.fate == Fate::Lost));
            gone.extend(Some(at).filter(|_| block.not_found));
        });
        assert!(torn.is_subset(&named), "{}: {torn:?}, {named:?}", path.display());
        // Each block that is not found has a finding, and none of them is torn.
        assert!(gone.is_disjoint(&torn) && gone.is_subset(&positions), "{}: {gone:?}", path.display());
    });
}

#[test]
fn evidence_counts_an_unowned_block_once() {
    let save = open(&golden().join("two_writers/w1/world"));
    let (mut findings, mut starts, mut all) = (Findings::default(), BTreeSet::new(), 0);
    check::run(&save, &check::Options::default().level(Level::Semantic), |finding| {
        findings.add(&finding);
        if matches!(finding.code(), damage::Code::BlockOrphan | damage::Code::BlockOwnerless) {
            all += 1;
            starts.insert((finding.file.clone(), finding.span.unwrap().start));
        }
    });
    let evidence = findings.causes(&save).into_iter().flat_map(|cause| cause.evidence).collect::<Vec<_>>().join("; ");
    assert!(starts.len() < all, "a block has two findings: {all}");
    assert!(evidence.contains(&format!("{} whole blocks, ", starts.len())), "{evidence}");
}

#[test]
fn no_healthy_save_has_a_cause() {
    let mut seen = 0;
    for group in ["godot_voxel", "godot_voxel_old", "godot_voxel_sqlite", "instances", "voxel_map"] {
        for path in entries(&golden().join(group)) {
            let Ok(save) = Save::open(&path, &Options::default()) else { continue };
            seen += 1;
            assert_eq!(causes(&save), Vec::new(), "{}", path.display());
        }
    }
    assert!(seen >= 4, "golden healthy saves are missing in {}", golden().display());
}

/// A block of a save: its file, its LOD, and its position, or its record in a pak region.
type Place = (String, u8, Option<[i32; 3]>, Option<u32>);

/// The blocks that a copy has, by what is the worst finding of each.
fn written(copy: &Path) -> BTreeMap<Place, Vec<Option<damage::Level>>> {
    let mut all: BTreeMap<Place, Vec<Option<damage::Level>>> = BTreeMap::new();
    // A copy of a save without one whole block is none.
    let Ok(save) = Save::open(copy, &Options::default()) else { return all };
    for file in save.files().filter(|file| !matches!(file, File::Map(_))) {
        for row in check::rows(&save, file, &check::Options::default()).unwrap() {
            let record = matches!(file, File::Pak(..)).then_some(row.slot);
            let position = if record.is_some() { None } else { row.position };
            all.entry((row.file.to_string(), row.lod, position, record)).or_default().push(row.level());
        }
    }
    all
}

/// The figures of a save are those of its repair, at both levels, and block by block.
fn figures_hold(path: &Path, out: &Path) {
    let save = open(path);
    let run = |likely: bool, name: &str| {
        let options = repair::Options::default().likely(likely);
        let plan = repair::plan(&save, &options).unwrap();
        let totals = repair::totals(&save, &plan);
        let (mut back, mut lost) = (BTreeMap::<Place, Fate>::new(), BTreeSet::<Place>::new());
        repair::fates(&save, &plan, &mut |block| {
            let position = if block.record.is_some() { None } else { block.position };
            let place = (voxscope::printable::path(block.file), block.lod, position, block.record);
            if block.fate == Fate::Lost {
                lost.insert(place);
            } else {
                let before = back.insert(place, block.fate);
                assert_eq!(before, None, "{}: {block:?} is written twice", path.display());
            }
        });
        let destination = if path.is_file() { out.join(name).join(path.file_name().unwrap()) } else { out.join(name) };
        fs::create_dir_all(destination.parent().unwrap()).unwrap();
        let outcome = repair::run(&save, &destination, &options).unwrap();
        let comes_back = totals.kept + totals.put_right + totals.likely + totals.older + totals.salvaged;
        assert_eq!(comes_back + totals.lost, totals.source, "{}: {totals:?}", path.display());
        assert_eq!(comes_back, back.len() as u64, "{}: {totals:?}", path.display());
        if save.maps.is_empty() {
            assert_eq!(comes_back, outcome.check.stats.blocks, "{}: {totals:?}", path.display());
        }
        let written = written(&destination);
        let (told, there): (BTreeSet<&Place>, BTreeSet<&Place>) = (back.keys().collect(), written.keys().collect());
        assert_eq!(told, there, "{}", path.display());
        // One table of a stream may keep a row that another one loses.
        let gone = lost.iter().all(|place| !written.contains_key(place));
        assert!(gone || !save.streams.is_empty(), "{}: {lost:?}", path.display());
        for (place, found) in &written {
            assert_eq!(found.len(), 1, "{}: {place:?} is written twice", path.display());
            let readable = found[0].is_none_or(|level| level < damage::Level::Error) || back[place] == Fate::Kept;
            assert!(readable, "{}: {place:?} has {found:?}", path.display());
        }
        fs::remove_dir_all(out.join(name)).unwrap();
        (totals, back)
    };
    let ((certain, first), (likely, second)) = (run(false, "certain"), run(true, "likely"));
    let both = repair::outlook(certain, likely);
    assert_eq!(both.source, both.kept + both.put_right + both.likely + both.older + both.salvaged + both.lost);
    assert_eq!(both.lost, certain.lost.min(likely.lost), "{}: {both:?}", path.display());
    // The second level adds blocks, as many as the verdict says, and takes none away.
    assert!(first.keys().all(|place| second.contains_key(place)), "{}", path.display());
    assert_eq!((second.len() - first.len()) as u64, both.likely - certain.likely, "{}: {both:?}", path.display());
}

#[test]
fn the_figures_are_what_a_repair_of_a_killed_game_writes() {
    killed().par_iter().for_each(|world| figures_hold(world, tempfile::tempdir().unwrap().path()));
}

#[test]
fn the_figures_are_what_a_repair_of_a_sample_writes() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("samples");
    samples::write(&root);
    sampled(demo::samples().copied(), 3).par_iter().for_each(|sample| {
        let path = root.join(sample.path());
        let stream = path.join("world.sqlite");
        let path = if stream.is_file() && cfg!(feature = "sqlite") { stream } else { path };
        figures_hold(&path, tempfile::tempdir().unwrap().path());
    });
}

#[test]
fn samples_of_crashes_have_their_causes() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("samples");
    samples::write(&root);
    for (sample, kind) in [
        ("crash-grown", CauseKind::Killed),
        ("crash-shrunk", CauseKind::Killed),
        ("crash-new-block", CauseKind::Killed),
        ("crash-moving", CauseKind::Killed),
        ("crash-doubled", CauseKind::Killed),
        ("crash-torn-table", CauseKind::Killed),
        ("crash-half-written", CauseKind::Killed),
        ("crash-wrong-places", CauseKind::Killed),
        ("table-empty", CauseKind::Killed),
        ("crash-migration", CauseKind::Migration),
        ("power-loss", CauseKind::PowerLost),
        ("two-writers", CauseKind::TwoWriters),
        ("meta-missing", CauseKind::CopyIncomplete),
        ("map-file-missing", CauseKind::CopyIncomplete),
        ("meta-differs", CauseKind::Foreign),
        ("meta-lods", CauseKind::Foreign),
        ("slots-mixed", CauseKind::OldSlots),
        ("conversion-left", CauseKind::Conversion),
        ("block-unlisted", CauseKind::Killed),
        ("block-zeroed-run", CauseKind::PowerLost),
        ("page-zeroed", CauseKind::PowerLost),
        ("region-empty", CauseKind::Killed),
        ("region-never-stored", CauseKind::DiskFull),
        ("region-sector-size", CauseKind::Storage),
        ("region-refused", CauseKind::Settings),
        ("region-header-cut", CauseKind::DiskFull),
        ("table-beyond-end", CauseKind::TableChanged),
        ("table-foreign", CauseKind::TableChanged),
        ("stream-wal", CauseKind::InUse),
        ("region-misnamed", CauseKind::Renamed),
        ("table-gap", CauseKind::Killed),
        ("table-overlap", CauseKind::TwoWriters),
        ("copy-crlf", CauseKind::TextConverted),
        ("copy-lf", CauseKind::TextConverted),
        ("copy-encoding", CauseKind::TextConverted),
        ("copy-cut", CauseKind::CopyCut),
        ("copy-name", CauseKind::Renamed),
        ("region-copied", CauseKind::Copied),
        ("pak-copied", CauseKind::Copied),
        ("block-file-name", CauseKind::Renamed),
        ("pak-place", CauseKind::Renamed),
        ("region-missing", CauseKind::CopyIncomplete),
        ("forest-empty", CauseKind::CopyIncomplete),
        ("lod-gap", CauseKind::CopyIncomplete),
        ("meta-empty", CauseKind::Killed),
        ("sector-cut", CauseKind::Killed),
        ("stream-empty", CauseKind::Killed),
        ("table-garbage", CauseKind::Storage),
        ("pak-shifted", CauseKind::Storage),
        ("region-shifted", CauseKind::Storage),
        ("stream-shifted", CauseKind::Storage),
        ("block-depth", CauseKind::Foreign),
    ] {
        let mut path = root.join("damaged").join(sample);
        if sample == "conversion-left" && path.join("world").is_dir() {
            path.push("world");
        }
        let causes = causes(&open(&path));
        assert_eq!(causes.first().map(|cause| cause.kind), Some(kind), "{sample}: {causes:?}");
    }
    // A full disk and a copy that was cut off leave the same file.
    let causes = causes(&open(&root.join("damaged/disk-full")));
    let named: Vec<CauseKind> =
        causes.iter().flat_map(|cause| std::iter::once(cause.kind).chain(cause.alternatives.clone())).collect();
    assert!(named.contains(&CauseKind::DiskFull) && named.contains(&CauseKind::CopyCut), "{causes:?}");
}

#[test]
fn a_save_of_which_whole_parts_are_missing_is_incomplete() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("world");
    demo::write_forest(&root, &demo::ForestSpec::default(), None).unwrap();
    let kinds = || causes(&open(&root)).iter().map(|cause| cause.kind).collect::<Vec<_>>();
    assert_eq!(kinds(), []);
    fs::remove_dir_all(root.join("regions/lod0")).unwrap();
    assert_eq!(kinds(), [CauseKind::CopyIncomplete], "LOD 0 is missing");
    fs::remove_dir_all(root.join("regions")).unwrap();
    assert_eq!(kinds(), [CauseKind::CopyIncomplete], "there is no region file");
}

/// The region files that a check calls missing.
fn missing(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    check::run(&open(root), &check::Options::default(), |finding| {
        found.extend((finding.code() == damage::Code::RegionMissing).then(|| finding.file.to_string()));
    });
    found
}

/// How many of the region files of the two finest LODs are called missing if they alone are removed, of how many.
fn named_alone(root: &Path) -> (usize, usize) {
    let files: Vec<PathBuf> =
        ["lod0", "lod1"].iter().flat_map(|lod| entries(&root.join("regions").join(lod))).collect();
    let named = files.iter().filter(|file| {
        let bytes = fs::read(file).unwrap();
        fs::remove_file(file).unwrap();
        let found = missing(root);
        fs::write(file, bytes).unwrap();
        let name = file.strip_prefix(root).unwrap().to_str().unwrap();
        assert!(found.is_empty() || found == [name], "{name}: {found:?}");
        !found.is_empty()
    });
    (named.count(), files.len())
}

/// Each LOD reaches further than the finer one here, so that coarse blocks without children are on all sides of a hole.
#[test]
fn the_corner_that_a_box_of_blocks_lacks_is_a_missing_file() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("lods");
    let sample = demo::samples().find(|sample| sample.name == "lods").unwrap();
    (sample.make)(&root).unwrap();
    assert_eq!(missing(&root), [""; 0], "it is healthy");
    assert_eq!(named_alone(&root), (16, 16));
    // Without the three files that meet at an edge, nothing shows what was there.
    for name in ["r.0.0.0.vxr", "r.-1.0.0.vxr", "r.0.0.-1.vxr"] {
        fs::remove_file(root.join("regions/lod0").join(name)).unwrap();
    }
    assert_eq!(missing(&root), [""; 0]);
    // Borders of areas fall on those of small regions by chance.
    let lods =
        vec![demo::Extent { from: [-2, -1, -2], to: [4, 4, 4] }, demo::Extent { from: [-3, -1, -3], to: [3, 2, 3] }];
    let spec = demo::ForestSpec { lods, region_size_po2: 2, ..demo::ForestSpec::default() };
    let small = dir.path().join("small");
    demo::write_forest(&small, &spec, None).unwrap();
    assert_eq!(missing(&small), [""; 0], "it is healthy");
    fs::remove_file(small.join("regions/lod0/r.0.0.0.vxr")).unwrap();
    assert_eq!(missing(&small), [""; 0]);
}

/// One coarse block alone shows that a file is missing if all others have children and files are on three sides.
#[test]
fn a_hole_of_one_block_among_blocks_with_children_is_a_missing_file() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("world");
    demo::write_forest(&root, &demo::ForestSpec::default(), None).unwrap();
    for file in entries(&root.join("regions/lod0")) {
        let bytes = fs::read(&file).unwrap();
        fs::remove_file(&file).unwrap();
        assert_eq!(missing(&root), [file.strip_prefix(&root).unwrap().to_str().unwrap()]);
        let kinds: Vec<CauseKind> = causes(&open(&root)).iter().map(|cause| cause.kind).collect();
        assert_eq!(kinds, [CauseKind::CopyIncomplete], "{}", file.display());
        fs::write(&file, bytes).unwrap();
    }
}

/// A coarse block has no children here, as in worlds that store far blocks only, so what shows that a file is missing is that the hole
/// ends at its borders.
#[test]
fn a_hole_that_ends_at_the_borders_of_a_region_is_a_missing_file() {
    let lods =
        vec![demo::Extent { from: [-4, 0, -4], to: [2, 2, 4] }, demo::Extent { from: [-2, 0, -2], to: [2, 1, 2] }];
    let spec = demo::ForestSpec { lods, region_size_po2: 2, ..demo::ForestSpec::default() };
    let dir = tempfile::tempdir().unwrap();
    demo::write_forest(dir.path(), &spec, None).unwrap();
    assert_eq!(missing(dir.path()), [""; 0]);
    fs::remove_file(dir.path().join("regions/lod0/r.-1.0.-1.vxr")).unwrap();
    assert_eq!(missing(dir.path()), ["regions/lod0/r.-1.0.-1.vxr"]);
    // With one more, the hole has no two sides.
    fs::remove_file(dir.path().join("regions/lod0/r.-1.0.0.vxr")).unwrap();
    assert_eq!(missing(dir.path()), [""; 0]);
}

#[test]
fn healthy_samples_have_no_cause_but_the_engine_that_wrote_them() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("samples");
    samples::write_some(&root, &["healthy"]);
    for path in entries(&root.join("healthy")) {
        let kinds: Vec<_> = causes(&open(&path)).iter().map(|cause| cause.kind).collect();
        // Engines of today read these blocks elsewhere, and a repair moves them.
        let expected = if path.ends_with("blocks-v4-old-slots") { vec![CauseKind::OldFormula] } else { Vec::new() };
        assert_eq!(kinds, expected, "{}", path.display());
    }
}

#[test]
fn converted_line_breaks_are_recognized() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("world");
    demo::write_forest(&root, &demo::ForestSpec::default(), None).unwrap();
    let file = root.join("regions/lod0/r.0.0.0.vxr");
    let bytes = fs::read(&file).unwrap();
    let mut converted = Vec::new();
    for byte in bytes {
        if byte == b'\n' && converted.last() != Some(&b'\r') {
            converted.push(b'\r');
        }
        converted.push(byte);
    }
    fs::write(&file, converted).unwrap();
    let causes = causes(&open(&root));
    assert_eq!(causes.first().map(|cause| cause.kind), Some(CauseKind::TextConverted), "{causes:?}");
}

/// Samples of files that are missing, unknown here, or disagree with others: nothing shows that bytes were changed.
const WITHOUT_CAUSE: [&str; 22] = [
    "instances-twice",
    "link-skipped",
    "map-beyond-dim",
    "map-block-count",
    "map-block-size",
    "map-dtype",
    "map-field",
    "map-file-name",
    "map-flag-unknown",
    "map-format",
    "map-index-range",
    "map-index-twice",
    "map-packed-depth",
    "map-shape",
    "map-water-depth",
    "meta-field",
    "not-a-file",
    "npy-dtype",
    "npy-shape",
    "npy-version",
    "pak-bomb",
    "stream-meta-missing",
];

#[test]
fn every_sample_with_changed_bytes_has_a_cause() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("samples");
    samples::write(&root);
    for path in entries(&root.join("damaged")) {
        let save = open(&path);
        let mut findings = Findings::default();
        let options = check::Options::default().level(Level::Semantic);
        let summary = check::run(&save, &options, |finding| findings.add(&finding));
        let damaged = summary.counts.errors + summary.counts.warnings > 0;
        let causes = findings.causes(&save);
        let is_without = WITHOUT_CAUSE.iter().any(|name| path.ends_with(name));
        assert!(!damaged || causes.is_empty() == is_without, "{}: {causes:?}", path.display());
        for cause in &causes {
            assert_eq!(cause.alternatives.is_empty(), cause.tell_apart().is_none());
        }
    }
}

/// A kind is a cause of a golden save, or one that it may be, and the evidence that tells them apart is named.
fn assert_named(case: &str, kind: CauseKind) {
    let causes = causes(&open(&golden().join(case).join("world")));
    let named = |cause: &Cause| cause.kind == kind || cause.alternatives.contains(&kind);
    assert!(causes.iter().any(|cause| named(cause) && cause.tell_apart().is_some()), "{case}: {causes:?}");
}

#[test]
fn a_full_disk_is_named() {
    assert_named("disk_full/f1", CauseKind::DiskFull);
}

#[test]
fn two_writers_are_named() {
    assert_named("two_writers/w1", CauseKind::TwoWriters);
}

#[test]
#[ignore = "reads the full set, which VOXSCOPE_GOLDEN names"]
fn a_loss_of_power_is_named() {
    assert_named("power_loss/c6", CauseKind::PowerLost);
}

#[test]
fn check_and_repair_report_the_same_undecided_blocks_and_more_effort_keeps_no_fewer() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("samples");
    samples::write_some(&root, &["damaged/table-gap"]);
    let save = open(&root.join("damaged/table-gap"));
    let mut kept = 0;
    for effort in [Effort::NONE, Effort::NORMAL, Effort::HIGH] {
        let options = check::Options::default().level(Level::Semantic).effort(effort);
        let summary = check::run(&save, &options, drop);
        let plan = repair::plan(&save, &repair::Options::default().effort(effort)).unwrap();
        assert_eq!(plan.regions.iter().map(|region| region.undecided).sum::<u64>(), summary.undecided);
        let words = repair::words(&plan).join("\n");
        assert_eq!(words.contains("not decided within the budget"), summary.undecided > 0, "{words}");
        let now = repair::totals(&save, &plan).kept;
        assert!(now >= kept, "{effort:?}");
        kept = now;
    }
}
