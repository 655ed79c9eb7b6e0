//! A small world of terrain in one region, written as the engine does, and what a repair makes of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use voxscope::damage::{Code, Level};
use voxscope::godot::channel::{CHANNELS, Depth};
use voxscope::godot::container::Mode;
use voxscope::godot::forest::Meta;
use voxscope::godot::region::{Entry, Format, Header, MAX_HEADER_BYTES};
use voxscope::repair::{self, Action, Plan};
use voxscope::save::{Options, Region, Save, Scratch};
use voxscope::{check, limits::Limits};

use crate::ABSENT;
use crate::common::trees::{content, tree};
use crate::common::writer::{Content, Random, Voxels, World};

pub type Blocks = HashMap<[i32; 3], Vec<u8>>;

pub const REGION: &str = "regions/lod0/r.0.0.0.vxr";
pub const SECTOR: u32 = 64;

/// Blocks of 8 x 8 x 8 voxels, regions of 4 x 4 x 4 blocks, small sectors.
pub fn format() -> Format {
    let mut depths = [Depth::Bits8; CHANNELS];
    depths[1] = Depth::Bits16;
    Format { block_size_po2: 3, region_size: [4; 3], depths, sector_size: SECTOR }
}

pub struct Land {
    pub world: World,
    pub voxels: Voxels,
    pub random: Random,
    pub dir: tempfile::TempDir,
    /// What was saved last at each position.
    pub truth: Blocks,
}

impl Land {
    /// A world with `from..to` saved and its tables written.
    pub fn new(format: Format, from: [i32; 3], to: [i32; 3]) -> Self {
        let mut random = Random::new(7);
        let voxels = Voxels::new(Content::Terrain { smooth: true }, format.block_size(), &mut random);
        let world = World::new(format, Mode::Lz4);
        let dir = tempfile::tempdir().unwrap();
        let mut land = Self { world, voxels, random, dir, truth: Blocks::new() };
        for z in from[2]..to[2] {
            for x in from[0]..to[0] {
                (from[1]..to[1]).for_each(|y| land.save([x, y, z]));
            }
        }
        land.world.flush();
        land
    }

    /// A full region.
    pub fn full() -> Self {
        Self::new(format(), [0, -2, 0].map(|n| n.max(0)), [4; 3])
    }

    pub fn save(&mut self, position: [i32; 3]) {
        let data = self.voxels.block(position, &mut self.random);
        assert!(self.world.save(position, data.clone()));
        self.truth.insert(position, data);
    }

    /// A player builds so much at a block that it needs more sectors; then it is saved.
    pub fn grow(&mut self, position: [i32; 3]) {
        for k in 0..6 {
            let at = position.map(|n| n * 8 + 1 + k % 6);
            self.voxels.edit([at[0], at[1] ^ k, at[2]], 1, 3 + k as u8);
        }
        self.save(position);
    }

    /// A player digs everything out, and it needs fewer.
    pub fn shrink(&mut self, position: [i32; 3]) {
        self.voxels.edit(position.map(|n| n * 8 + 4), 20, 0);
        self.save(position);
    }

    /// The first region file as it is on disk.
    pub fn disk(&mut self) -> &mut Vec<u8> {
        &mut self.world.files[0].disk
    }

    pub fn header(&self) -> Header {
        self.world.files[0].header.clone()
    }

    /// Writes the save under a name.
    pub fn write(&self, name: &str) -> PathBuf {
        let dir = self.dir.path().join(name);
        let format = self.world.files[0].header.format;
        put(&dir.join("meta.vxrm"), &meta(&format, 3));
        for file in &self.world.files {
            let [x, y, z] = file.position;
            put(&dir.join(format!("regions/lod0/r.{x}.{y}.{z}.vxr")), &file.disk);
        }
        dir
    }
}

/// The meta file of a layout.
pub fn meta(format: &Format, version: u8) -> Vec<u8> {
    let meta = Meta {
        version: Some(version),
        block_size_po2: Some(format.block_size_po2),
        region_size_po2: Some(format.region_size[0].trailing_zeros() as u8),
        sector_size: Some(format.sector_size),
        depths: Some(format.depths),
        lod_count: None,
        extra: Vec::new(),
    };
    meta.encode()
}

pub fn put(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// The entries of a region file by slot.
pub fn entries(bytes: &[u8]) -> BTreeMap<u32, Entry> {
    let prefix = &bytes[..bytes.len().min(MAX_HEADER_BYTES)];
    let header = Header::decode(prefix, bytes.len() as u64, None).report_to(&mut Vec::new()).unwrap();
    let region = Region::load(bytes.to_vec(), header, 0, [0; 3], &Options::default()).unwrap();
    region.entries.iter().map(|listed| (listed.slot, listed.entry)).collect()
}

/// Writes an entry of a table of version 3.
pub fn set_entry(bytes: &mut [u8], slot: u32, entry: Entry) {
    let at = 20 + slot as usize * 4;
    bytes[at..at + 4].copy_from_slice(&entry.0.to_le_bytes());
}

/// The codes above a note that a semantic check finds.
pub fn codes(path: &Path) -> BTreeSet<Code> {
    let mut codes = BTreeSet::new();
    let options = check::Options::default().level(check::Level::Semantic);
    check::run(&Save::open(path, &Options::default()).unwrap(), &options, |finding| {
        if finding.damage.code.level() > Level::Note {
            codes.insert(finding.damage.code);
        }
    });
    codes
}

/// All codes that a check finds.
pub fn all_codes(path: &Path) -> Vec<(Code, String)> {
    let mut codes = Vec::new();
    let options = check::Options::default().level(check::Level::Semantic);
    check::run(&Save::open(path, &Options::default()).unwrap(), &options, |finding| {
        codes.push((finding.damage.code, finding.to_string()));
    });
    codes
}

/// Every block of a save by its position, decompressed.
pub fn blocks(path: &Path) -> Blocks {
    let save = Save::open(path, &Options::default()).unwrap();
    let mut blocks = Blocks::new();
    for (forest, file) in save.regions() {
        let mut scratch = Scratch::default();
        let Some(mut region) = save.region(forest, file).unwrap() else { continue };
        let slots = region.slots(&mut scratch).unwrap();
        for listed in region.entries.clone() {
            let view = region.view(listed.entry, &mut scratch).unwrap();
            let plain = view.container.filter(|c| c.whole).map(|c| c.plain.to_vec());
            blocks.insert(region.block_position(listed.slot, slots).unwrap(), plain.unwrap_or_default());
        }
    }
    blocks
}

/// What of the stored blocks in `lost+found` decodes to.
pub fn lost(path: &Path) -> Vec<Vec<u8>> {
    let Ok(list) = fs::read_dir(path.join("lost+found")) else { return Vec::new() };
    let mut names: Vec<PathBuf> = list.map(|e| e.unwrap().path()).collect();
    names.retain(|p| p.extension().is_some_and(|e| e == "bin"));
    names.sort();
    let mut scratch = Scratch::default();
    let header = Header::new(3, format());
    let decode = |path: &PathBuf| {
        let bytes = fs::read(path).unwrap();
        let view = scratch.interpret_bytes(&bytes, 0, &header, None, &Limits::DEFAULT);
        view.container.map_or(Vec::new(), |c| c.plain.to_vec())
    };
    names.iter().map(decode).collect()
}

pub struct Mended {
    pub plan: Plan,
    pub path: PathBuf,
    pub blocks: Blocks,
    pub json: serde_json::Value,
}

/// Repairs a save; the source stays as it was, the copy is clean, and repairing it again changes nothing.
pub fn mend(source: &Path, options: &repair::Options<'_>, reading: &Options) -> Mended {
    let before = tree(source, true);
    let to = source.with_extension("repaired");
    let save = Save::open(source, reading).unwrap();
    let outcome = repair::run(&save, &to, options).unwrap();
    assert_eq!(tree(source, true), before, "the source was altered");
    // Settings that the engine refuses stay as they are, and a copy without blocks says that it has none.
    let kept = [&[Code::RegionRefused][..], &ABSENT].concat();
    let (refused, left): (Vec<_>, Vec<_>) = all_codes(&to)
        .into_iter()
        .filter(|(code, _)| code.level() > Level::Note)
        .partition(|(code, _)| kept.contains(code));
    assert!(left.is_empty(), "{left:?}\n{:?}", repair::words(&outcome.plan));
    assert_eq!((outcome.check.counts.errors, outcome.check.counts.warnings), (0, refused.len() as u64));
    let again = source.with_extension("again");
    let copy = Save::open(&to, &Options::default()).unwrap();
    let second = repair::run(&copy, &again, &repair::Options::default()).unwrap();
    let kinds: Vec<Action> = second.plan.regions.iter().map(|r| r.action).collect();
    assert!(kinds.iter().all(|a| *a == Action::Copy), "{kinds:?} {:?}", repair::words(&second.plan));
    assert_eq!(content(&to), content(&again), "a second repair changed something");
    let json = serde_json::from_slice(&fs::read(to.join("repair.json")).unwrap()).unwrap();
    Mended { blocks: blocks(&to), plan: outcome.plan, path: to, json }
}

/// Repairs with nothing else given.
pub fn plain(source: &Path) -> Mended {
    mend(source, &repair::Options::default(), &Options::default())
}

/// Every block of the copy is the newest of its position, `except` for some.
pub fn assert_right(mended: &Mended, truth: &Blocks, except: &[[i32; 3]]) {
    for (position, plain) in &mended.blocks {
        if !except.contains(position) {
            assert!(truth.get(position) == Some(plain), "{position:?} is not what was saved there");
        }
    }
}

/// Every whole block that was saved last is in the copy or in its `lost+found`.
pub fn assert_kept(mended: &Mended, truth: &Blocks, except: &[[i32; 3]]) {
    let lost = lost(&mended.path);
    for (position, plain) in truth.iter().filter(|(p, _)| !except.contains(p)) {
        let there = mended.blocks.values().any(|b| b == plain) || lost.contains(plain);
        assert!(there, "the block of {position:?} is nowhere");
    }
}
