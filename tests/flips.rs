//! Every byte of a healthy region's header and table flipped in turn, and the file cut at every length: nothing panics,
//! and nothing changes what a block decodes to without a finding.
//!
//! Nothing that one such change does is undetectable: an entry that changes leaves a gap, an overlap, a wrong count or a
//! block that is no block, and a header that changes moves the sectors or contradicts the blocks. What *is* undetectable
//! by its nature needs two bytes or more, and [`what_the_bytes_cannot_tell`] holds on to it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use common::golden;
use rayon::prelude::*;
use voxscope::check::{self, Finding};
use voxscope::damage::{Code, Level};
use voxscope::demo;
use voxscope::godot::region::{Entry, Header, MAX_HEADER_BYTES};
use voxscope::godot::slots::SlotFormula;
use voxscope::save::{Options, Region, Save, Scratch};

/// Blocks by their positions: a hash of all that they decode to.
type Blocks = BTreeMap<[i32; 3], u64>;

/// A healthy region file, and what is in it.
struct Healthy {
    name: String,
    data: Vec<u8>,
    position: [i32; 3],
    blocks: Blocks,
    /// Findings, all of them notes.
    findings: BTreeSet<(Code, String)>,
    /// Bytes of header and table.
    head: usize,
}

fn header(data: &[u8]) -> Option<Header> {
    Header::decode(&data[..data.len().min(MAX_HEADER_BYTES)], data.len() as u64, None).report_to(&mut Vec::new())
}

/// What blocks decode to, by the rules of the reader; a block of which nothing decodes is none.
fn blocks(data: &[u8], position: [i32; 3]) -> Blocks {
    let Some(header) = header(data) else { return Blocks::new() };
    let mut region = Region::load(data, header, 0, position, &Options::default()).unwrap();
    let mut scratch = Scratch::default();
    let slots = region.slots(&mut scratch).unwrap();
    let mut blocks = Blocks::new();
    for listed in &region.entries {
        let Some(position) = region.block_position(listed.slot, slots) else { continue };
        let view = region.view(listed.entry, &mut scratch).unwrap();
        let Some(block) = view.block else { continue };
        let mut hasher = DefaultHasher::new();
        view.container.unwrap().plain.hash(&mut hasher);
        (block.version, block.size, block.epilogue).hash(&mut hasher);
        for channel in &block.channels {
            (channel.depth.code(), channel.storage.name(), channel.data).hash(&mut hasher);
        }
        blocks.insert(position, hasher.finish());
    }
    blocks
}

fn findings(data: &[u8], position: [i32; 3]) -> Vec<Finding> {
    check::region_bytes(data, "r.vxr", 0, position, &Options::default())
}

fn keys(findings: &[Finding]) -> BTreeSet<(Code, String)> {
    findings.iter().map(|finding| (finding.code(), finding.to_string())).collect()
}

impl Healthy {
    fn open(path: &Path, position: [i32; 3]) -> Self {
        let data = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let found = findings(&data, position);
        let name = path.display().to_string();
        assert!(found.iter().all(|finding| finding.level() == Level::Note), "{name}: {found:?}");
        let blocks = blocks(&data, position);
        assert!(blocks.len() > 2, "{name}: {}", blocks.len());
        let head = usize::try_from(header(&data).expect("a header").sectors_at()).unwrap();
        Self { name, findings: keys(&found), blocks, head, data, position }
    }

    /// Holds an altered file against this one: whether its blocks are others, and what is new among its findings. Where
    /// blocks are others and nothing is new, it says so.
    fn compare(&self, data: &[u8]) -> Option<&'static str> {
        let found = findings(data, self.position);
        let new = keys(&found).difference(&self.findings).any(|(code, _)| code.level() > Level::Note);
        if new {
            return None;
        }
        (blocks(data, self.position) != self.blocks).then_some("other blocks, and no finding above a note is new")
    }

    /// The bytes of header and table that are flipped: all, but of unused entries one in `step`.
    fn places(&self, step: usize) -> Vec<usize> {
        let table = usize::try_from(header(&self.data).expect("a header").table.start).unwrap();
        let is_wanted = |at: &usize| {
            let entry = at.saturating_sub(table) / 4;
            let bytes = self.data.get(table + entry * 4..).and_then(<[u8]>::first_chunk::<4>);
            *at < table || entry.is_multiple_of(step) || bytes.is_some_and(|bytes| *bytes != [0; 4])
        };
        (0..self.head).filter(is_wanted).collect()
    }

    fn flip(&self, step: usize) {
        let places = self.places(step);
        assert!(places.len() > self.blocks.len() * 4 + 20, "{}", self.name);
        let unreported: Vec<String> = places
            .par_iter()
            .map_init(
                || self.data.clone(),
                |data, &at| {
                    let mut out = Vec::new();
                    for mask in [0x01, 0x80, 0xff] {
                        data[at] ^= mask;
                        if let Some(what) = self.compare(data) {
                            out.push(format!("{}: byte {at} ^ {mask:#04x}: {what}", self.name));
                        }
                        data[at] ^= mask;
                    }
                    out
                },
            )
            .flatten()
            .collect();
        assert!(unreported.is_empty(), "{}", unreported.join("\n"));
    }

    /// Cuts the file at every length up to 2 KiB past the table, and at 200 lengths beyond.
    fn cut(&self) {
        let near = (self.head + 2048).min(self.data.len());
        let far = (1..=200).map(|i| near + (self.data.len() - near) * i / 201);
        let lengths: Vec<usize> = (0..near).chain(far).filter(|n| *n < self.data.len()).collect();
        assert!(lengths.len() > 200, "{}", self.name);
        let unreported: Vec<String> = lengths
            .par_iter()
            .filter_map(|&len| {
                let what = self.compare(&self.data[..len])?;
                Some(format!("{}: cut to {len} bytes: {what}", self.name))
            })
            .collect();
        assert!(unreported.is_empty(), "{}", unreported.join("\n"));
    }
}

/// The largest region of a sample save.
fn sample(name: &str) -> (tempfile::TempDir, Healthy) {
    let dir = tempfile::tempdir().unwrap();
    let sample = demo::samples().find(|sample| sample.name == name).expect("a sample");
    assert!(sample.healthy);
    (sample.make)(dir.path()).unwrap();
    let save = Save::open(dir.path(), &Options::default()).unwrap();
    let (forest, file) = save.regions().max_by_key(|(_, file)| file.len).expect("a region");
    let healthy = Healthy::open(&forest.dir.join(&file.name), file.position);
    (dir, healthy)
}

fn golden_region(name: &str, position: [i32; 3]) -> Healthy {
    let [x, y, z] = position;
    let path = golden(name).join(format!("regions/lod0/r.{x}.{y}.{z}.vxr"));
    Healthy::open(&path, position)
}

/// No test of this file, nor all of them at once, may have needed more than this; the files are 116 KB at most.
fn memory_is_bounded() {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return };
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("the peak");
    let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kib < 128 << 10, "{kib} KiB");
}

#[test]
fn samples_flipped() {
    for name in ["current", "stale-tail", "palette", "2021-blocks-v2"] {
        sample(name).1.flip(1);
    }
    memory_is_bounded();
}

#[test]
fn samples_cut() {
    for name in ["current", "stale-tail", "palette", "2021-blocks-v2"] {
        sample(name).1.cut();
    }
    memory_is_bounded();
}

/// A table of 16 x 16 x 16 entries, most of them unused.
#[test]
fn a_large_region_of_the_engine_flipped() {
    golden_region("godot_voxel/forest_lz4", [0, -1, -1]).flip(8);
    memory_is_bounded();
}

#[test]
fn a_large_region_of_the_engine_cut() {
    golden_region("godot_voxel/forest_lz4", [0, -1, -1]).cut();
    memory_is_bounded();
}

/// A table of 4 x 4 x 4 entries, and sectors that were moved and left behind.
#[test]
fn a_small_region_of_the_engine_flipped_and_cut() {
    let region = golden_region("godot_voxel/forest_rewritten", [0; 3]);
    region.flip(1);
    region.cut();
    memory_is_bounded();
}

/// Blocks of version 1 take size and depths from the region's header, and negative coordinates by the old formula.
#[test]
fn a_region_of_an_old_engine_flipped_and_cut() {
    let region = golden_region("godot_voxel_old/region_v3_block_v1_depths", [0, -1, 0]);
    region.flip(8);
    region.cut();
    memory_is_bounded();
}

/// Entries by their offsets, in the order of their sectors.
fn entries(data: &[u8]) -> Vec<(usize, Entry)> {
    let region = Region::load(data, header(data).unwrap(), 0, [0; 3], &Options::default()).unwrap();
    let at = |slot| usize::try_from(region.entry_span(slot).start).unwrap();
    region.by_sector().into_iter().map(|listed| (at(listed.slot), listed.entry)).collect()
}

fn codes(found: &[Finding]) -> Vec<Code> {
    found.iter().map(Finding::code).collect()
}

/// A block carries neither its position nor a checksum. So these cannot be found, with any checker; each needs more
/// than one changed byte of the table, or a byte of a block that is stored as it is.
#[test]
fn what_the_bytes_cannot_tell() {
    let (_dir, region) = sample("plain");
    let found = |data: &[u8]| codes(&findings(data, region.position));
    let all = entries(&region.data);
    let before = found(&region.data);

    // Two blocks of as many sectors have changed places in the table.
    let (one, other) = all
        .iter()
        .enumerate()
        .find_map(|(i, a)| Some((*a, *all[i + 1..].iter().find(|b| b.1.count() == a.1.count())?)))
        .expect("two blocks of as many sectors");
    let mut data = region.data.clone();
    data[one.0..one.0 + 4].copy_from_slice(&other.1.0.to_le_bytes());
    data[other.0..other.0 + 4].copy_from_slice(&one.1.0.to_le_bytes());
    assert_ne!(blocks(&data, region.position), region.blocks);
    assert_eq!(found(&data), before);
    assert!(region.compare(&data).is_some(), "what goes unreported is seen by these tests");

    // The entry of the last block is gone: its bytes are what an old state would leave there. They are noted.
    let last = all.last().unwrap();
    let mut data = region.data.clone();
    data[last.0..last.0 + 4].fill(0);
    assert_eq!(found(&data), [Code::BlockUnlisted, Code::StaleTail]);
    // That of any other block leaves a gap.
    let inner = all[all.len() / 2];
    let mut data = region.data.clone();
    data[inner.0..inner.0 + 4].fill(0);
    assert_eq!(found(&data), [Code::TableGap, Code::BlockOrphan]);

    // A voxel of a block that is stored as it is.
    let (slot, entry) = all.iter().max_by_key(|(_, entry)| entry.count()).copied().unwrap();
    assert!(slot < region.head);
    let start = usize::try_from(header(&region.data).unwrap().sector_span(entry.first().into(), 1).start).unwrap();
    let mut data = region.data.clone();
    data[start + 500] ^= 1;
    assert_ne!(blocks(&data, region.position), region.blocks);
    assert_eq!(found(&data), before);
}

/// Which of the two formulas placed a block of version 4 with a negative coordinate is not in the file.
#[test]
fn the_formula_of_version_4_is_taken_as_told() {
    let region = golden_region("godot_voxel/forest_lz4", [0, -1, -1]);
    let old = Options::default().slots(SlotFormula::Legacy);
    let found = check::region_bytes(&region.data, "r.vxr", 0, region.position, &old);
    assert_eq!(codes(&found), [Code::SlotsOld]);
}
