//! Repair: the source stays as it was, the result is clean, and repairing it again changes nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "../common/mod.rs"]
mod common;

mod accept;
mod alike;
mod anything;
mod damage;
mod exchanged;
mod flat;
mod foreign_tables;
mod golden;
mod headers;
mod killed_large;
mod least;
mod maps;
mod names;
mod old;
mod once;
mod paks;
mod repeating;
mod shifted;
mod states;
#[cfg(unix)]
mod stopped;
#[cfg(feature = "sqlite")]
mod stream;
mod threads;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use voxscope::damage::{Code, Level};
use voxscope::godot::container::Decoder;
use voxscope::limits::Limits;
use voxscope::recover::walk;
use voxscope::repair::{self, Action};
use voxscope::save::{Forest, Options, RegionFile, Save, Scratch};
use voxscope::source::Source;
use voxscope::watch::{Progress, Step, Watch};
use voxscope::{check, demo, draft};

use common::samples;
use common::trees::{content, tree};

fn findings(path: &Path) -> (u64, u64) {
    let summary = check::run(&Save::open(path, &Options::default()).unwrap(), &check::Options::default(), drop);
    (summary.counts.errors, summary.counts.warnings)
}

/// How many findings of a code a check has.
fn count(save: &Path, code: Code) -> usize {
    let opened = Save::open(save, &Options::default()).unwrap();
    let mut found = 0;
    let options = check::Options::default().level(check::Level::Semantic);
    check::run(&opened, &options, |finding| found += usize::from(finding.code() == code));
    found
}

/// Codes by which a copy says that it has no block, or none of a LOD, because all were lost.
const ABSENT: [Code; 2] = [Code::ForestEmpty, Code::LodGap];

/// What a check finds above a note but for some codes, in words.
fn worded(path: &Path, but: &[Code]) -> Vec<String> {
    let mut all = Vec::new();
    let save = Save::open(path, &Options::default()).unwrap();
    check::run(&save, &check::Options::default(), |finding| all.push(finding));
    all.retain(|finding| finding.level() > Level::Note && !but.contains(&finding.code()));
    all.iter().map(ToString::to_string).collect()
}

fn mend(source: &Path, to: &Path, likely: bool) -> repair::Outcome {
    let save = Save::open(source, &Options::default()).unwrap();
    repair::run(&save, to, &repair::Options::default().likely(likely)).unwrap()
}

/// A healthy forest in a directory of its own.
fn healthy_world() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("world");
    demo::write_forest(&source, &demo::ForestSpec::default(), None).unwrap();
    (dir, source)
}

#[test]
fn a_healthy_save_is_copied_byte_by_byte() {
    let (dir, source) = healthy_world();
    let before = tree(&source, true);
    let outcome = mend(&source, &dir.path().join("copy"), false);
    assert!(outcome.plan.changes_nothing() && !outcome.plan.leaves_damage());
    assert_eq!(tree(&source, true), before);
    assert_eq!(content(&dir.path().join("copy")), content(&source));
}

/// Damaged forests whose copy is not clean, and why.
const NOT_CLEAN: [(&str, &str); 8] = [
    ("block-file-name", "nothing in a file of one block says which one it is"),
    ("block-file-trailing", "files of whole blocks are copied as they are"),
    ("forest-empty", "a repair makes no blocks"),
    ("lod-gap", "a LOD that is gone cannot be rebuilt without a backup"),
    ("region-format-unknown", "nothing says how the regions are laid out: the user has to, or a backup"),
    ("region-missing", "a file that is gone cannot be rebuilt without a backup"),
    ("region-refused", "the settings stay as they are: `convert` chooses others"),
    ("slots-mixed", "blocks of both formulas in one region: which is right where two claim a place is not in the file"),
];

#[test]
fn every_damaged_forest_of_the_demo_gets_a_clean_copy() {
    let dir = tempfile::tempdir().unwrap();
    samples::write(&dir.path().join("demo"));
    let damaged = dir.path().join("demo/damaged");
    let mut names: Vec<String> =
        fs::read_dir(&damaged).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let (mut mended, mut left) = (0, Vec::new());
    for name in names {
        let source = damaged.join(&name);
        let Ok(save) = Save::open(&source, &Options::default()) else { continue };
        if save.forests.is_empty() || findings(&source) == (0, 0) {
            continue;
        }
        let before = tree(&source, true);
        let to = dir.path().join(format!("{name}.repaired"));
        let outcome = mend(&source, &to, false);
        assert_eq!(tree(&source, true), before, "{name}");
        assert!(nothing_lost(&source, &to), "{name}: {:?}", repair::words(&outcome.plan));
        let again = dir.path().join(format!("{name}.again"));
        let second = mend(&to, &again, false);
        assert_eq!(content(&to), content(&again), "{name}");
        if findings(&to) == (0, 0) {
            mended += 1;
            assert!(second.plan.regions.iter().all(|r| r.action == Action::Copy), "{name}");
        } else {
            left.push(name);
        }
    }
    assert_eq!(left, NOT_CLEAN.map(|(name, _)| name));
    assert!(mended > 60, "{mended}");
}

/// Whether every block that decodes is in the copy or in its `lost+found`, by content, or the whole file is.
fn nothing_lost(source: &Path, copy: &Path) -> bool {
    let kept = contents_of(copy);
    let save = Save::open(source, &Options::default()).unwrap();
    save.regions().all(|(forest, file)| {
        let name = forest.dir.strip_prefix(&save.path).unwrap().join(&file.name);
        copy.join("lost+found/files").join(name).is_file()
            || whole_blocks(&save, forest, file).iter().all(|plain| kept.contains(plain))
    })
}

/// The whole blocks of a region file, wherever they stand, decompressed.
fn whole_blocks(save: &Save, forest: &Forest, file: &RegionFile) -> HashSet<Vec<u8>> {
    let Some(region) = save.region(forest, file).unwrap() else { return HashSet::new() };
    let options = walk::Options::PLAIN;
    let walk = walk::walk(&region.source, &region.header, &Limits::DEFAULT, options).unwrap();
    let mut scratch = Scratch::default();
    let mut decode = |block: &walk::Walked| {
        let mut stored = Vec::new();
        for piece in walk::pieces(&region.header, block) {
            let mut part = Vec::new();
            region.source.read_into(piece.start, piece.len() as usize, &mut part).unwrap();
            stored.extend(part);
        }
        let view = scratch.interpret_bytes(&stored, 0, &region.header, None, &Limits::DEFAULT);
        view.container.unwrap().plain.to_vec()
    };
    walk.blocks.iter().map(&mut decode).collect()
}

/// Every content of a repaired copy: of its blocks, and of those in its `lost+found`.
fn contents_of(copy: &Path) -> HashSet<Vec<u8>> {
    let mut all = HashSet::new();
    let save = Save::open(copy, &Options::default()).unwrap();
    for (forest, file) in save.regions() {
        all.extend(whole_blocks(&save, forest, file));
    }
    let mut damage = Vec::new();
    for entry in fs::read_dir(copy.join("lost+found")).into_iter().flatten().map(Result::unwrap) {
        if entry.path().extension().is_some_and(|e| e == "bin") {
            let bytes = fs::read(entry.path()).unwrap();
            let mut decoder = Decoder::default();
            let container = decoder.decode(bytes.get(4..).unwrap_or_default(), &Limits::DEFAULT).report_to(&mut damage);
            all.insert(container.plain.to_vec());
        }
    }
    all
}

#[test]
fn a_sector_that_was_copied_elsewhere_hides_no_block() {
    let (dir, healthy) = healthy_world();
    let save = Save::open(&healthy, &Options::default()).unwrap();
    let (forest, file) = save.regions().max_by_key(|(_, file)| file.len).unwrap();
    let region = save.region(forest, file).unwrap().unwrap();
    let mut long: Vec<_> = region.entries.iter().map(|listed| listed.entry).filter(|e| e.count() > 1).collect();
    long.sort_by_key(|entry| entry.first());
    let all = whole_blocks(&save, forest, file);
    let mut tried = 0;
    for (n, (onto, from)) in long.iter().zip(long.iter().skip(3)).enumerate() {
        let source = dir.path().join(format!("source-{n}"));
        common::copy_dir(&healthy, &source);
        let path = source.join(forest.dir.strip_prefix(&healthy).unwrap()).join(&file.name);
        let mut bytes = fs::read(&path).unwrap();
        let [onto_at, from_at] = [onto, from].map(|entry| region.span(*entry).start as usize);
        let size = region.header.format.sector_size as usize;
        bytes.copy_within(from_at..from_at + size, onto_at);
        fs::write(&path, bytes).unwrap();
        let copy = dir.path().join(format!("copy-{n}"));
        mend(&source, &copy, false);
        let kept = contents_of(&copy);
        // One block lost its first sector.
        let lost = all.iter().filter(|plain| !kept.contains(*plain)).count();
        assert!(lost <= 1, "{lost} blocks are lost: sector {} over sector {}", from.first(), onto.first());
        tried += 1;
    }
    assert!(tried > 3, "{tried}");
}

#[test]
fn destinations_that_would_harm_are_refused() {
    let (dir, source) = healthy_world();
    let save = Save::open(&source, &Options::default()).unwrap();
    let options = repair::Options::default();
    fs::create_dir(dir.path().join("taken")).unwrap();
    for to in ["taken", "world", "world/copy", "nowhere/copy"] {
        let result = repair::run(&save, &dir.path().join(to), &options);
        assert!(matches!(result, Err(repair::Error::Build(draft::Error::Destination { .. }))), "{to}");
    }
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn an_interrupted_repair_leaves_nothing() {
    let (dir, source) = healthy_world();
    let save = Save::open(&source, &Options::default()).unwrap();
    let cancel = std::sync::atomic::AtomicBool::new(true);
    let options = repair::Options::default().watch(Watch::default().cancel(&cancel));
    assert!(matches!(
        repair::run(&save, &dir.path().join("copy"), &options),
        Err(repair::Error::Build(draft::Error::Interrupted))
    ));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_backup_on_the_command_line() {
    let dir = tempfile::tempdir().unwrap();
    let sample = demo::samples().find(|sample| sample.name == "conversion-left").unwrap();
    (sample.make)(dir.path()).unwrap();
    let [world, old, to] = ["world", "world_old", "copy"].map(|name| dir.path().join(name));
    let run = |to: &Path, backup: &Path| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_voxscope"));
        command.arg("repair").arg(&world).arg("--out").arg(to).arg("--from-backup").arg(backup).output().unwrap()
    };
    // Never inside of what is read, and only from a save.
    assert_eq!(run(&old.join("copy"), &old).status.code(), Some(16));
    assert_eq!(run(&to, &dir.path().join("nothing")).status.code(), Some(8));
    assert!(!to.exists() && !old.join("copy").exists());
    let before = tree(&old, true);
    let done = run(&to, &old);
    // Repaired, and what came from the backup may be older.
    assert_eq!(done.status.code(), Some(5), "{}", String::from_utf8_lossy(&done.stderr));
    let said = String::from_utf8(done.stdout).unwrap();
    assert!(said.contains("backup") && said.contains("checked, clean"), "{said}");
    assert_eq!(tree(&old, true), before);
    let json: serde_json::Value = serde_json::from_slice(&fs::read(to.join("repair.json")).unwrap()).unwrap();
    assert_eq!((&json["backup"], &json["regions"][0]["action"]), (&true.into(), &"from backup".into()));
    let regions = |path: &Path| tree(&path.join("regions"), false);
    assert_eq!(regions(&to), regions(&old));
}

#[test]
fn each_step_reports_its_progress_to_the_end() {
    let dir = tempfile::tempdir().unwrap();
    samples::write(dir.path());
    for sample in ["damaged/crash-grown", "damaged/meta-missing", "healthy/current"] {
        let save = Save::open(&dir.path().join(sample), &Options::default()).unwrap();
        let reports = std::sync::Mutex::new(Vec::new());
        let progress = |progress| reports.lock().unwrap().push(progress);
        let options = repair::Options::default().watch(Watch::default().progress(&progress));
        repair::run(&save, &dir.path().join(sample.replace('/', "-")), &options).unwrap();
        let reports = reports.into_inner().unwrap();
        let mut steps = Vec::new();
        for part in reports.chunk_by(|_, next| matches!(next, Progress::Advanced(_))) {
            let [Progress::Began { step, all }, more @ ..] = part else { panic!("{sample}: {part:?}") };
            let sum: u64 = more.iter().map(|one| if let Progress::Advanced(n) = one { *n } else { 0 }).sum();
            // A check does not read all bytes.
            let to_its_end = if *step == Step::Checking { sum <= *all } else { sum == *all };
            assert!(to_its_end && sum > 0 || *all == 0, "{sample}: {part:?}");
            steps.push(step.name());
        }
        assert_eq!(steps, ["looking", "walking over sectors", "building", "checking"], "{sample}");
    }
}
