//! What a conversion did, for people and as `convert.json`.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use crate::convert::Layout;
use crate::godot::channel::CHANNELS;
use crate::printable;
use crate::world::{Fault, Index, World};

/// The file in the result.
pub(super) const NAME: &str = "convert.json";

/// Where the report of a converted save is: in a forest, beside a stream.
pub(super) fn report_of(path: &Path, is_forest: bool) -> PathBuf {
    if is_forest {
        return path.join(NAME);
    }
    let mut beside_it = path.as_os_str().to_owned();
    beside_it.push(".");
    beside_it.push(NAME);
    PathBuf::from(beside_it)
}

/// What became of something that is not in the result as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A block that cannot be read; it is left out.
    Damaged,
    /// A block that does not fit the result; it is left out.
    TooLarge,
    /// A row of a stream that may have been deleted; it is left out.
    StaleRow,
    /// A block of the result of which parts are not there in the source; they are filled.
    Filled,
    /// Metadata that has no place in the result; its bytes are here.
    Metadata,
    /// Metadata that an earlier conversion had kept apart, and whose place in the result is taken; its bytes are here.
    Apart,
    /// The palette of a region, where the regions of the result are others; its colours are here.
    Palette,
    /// Values of Godot 3 that Godot 4 has no equal of; they are empty.
    NoEqual,
    /// Instances that have no place in the result: in a forest, or where blocks have another size. They stay in the source.
    Instances,
    /// Instances that cannot be read whole; they are taken over as they are.
    DamagedInstances,
    /// Distances that the fixed point of today does not reach; they are cut to its end.
    Cut,
    /// A channel that is deeper than the result says; it is kept as deep.
    Depth,
}

impl Kind {
    /// The name in `convert.json`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Damaged => "damaged",
            Self::TooLarge => "too-large",
            Self::StaleRow => "stale-row",
            Self::Filled => "filled",
            Self::Metadata => "metadata",
            Self::Apart => "apart",
            Self::Palette => "palette",
            Self::NoEqual => "no-equal",
            Self::Instances => "instances",
            Self::DamagedInstances => "instances-damaged",
            Self::Cut => "sdf-cut",
            Self::Depth => "depth",
        }
    }
}

/// Something that is not in the result as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// What became of it.
    pub kind: Kind,
    /// The LOD.
    pub lod: u8,
    /// The block of the source; of the result, where it is filled or has no place for what was apart; the region of a palette.
    pub block: [i32; 3],
    /// The voxel in the block.
    pub voxel: Option<[u16; 3]>,
    /// More, in words.
    pub why: String,
    /// Bytes that are kept here only. Of a filled block: a bit for each of its parts in the order ZXY, the lowest bit of
    /// the first byte first, set where the part is there.
    pub bytes: Option<Vec<u8>>,
    /// What a block is filled with, by channel.
    pub values: Option<[u64; CHANNELS]>,
}

impl Listed {
    /// With nothing more than words.
    pub(super) const fn new(kind: Kind, lod: u8, block: [i32; 3], why: String) -> Self {
        Self { kind, lod, block, voxel: None, why, bytes: None, values: None }
    }
}

/// What a conversion did.
#[derive(Clone, Debug, Default)]
pub struct Report {
    source: String,
    layout: Option<Layout>,
    /// Which formula the positions of negative coordinates were read by, and why, in words.
    pub slots: Option<String>,
    /// Blocks of the source.
    pub read: u64,
    /// Blocks of the result.
    pub written: u64,
    /// Blocks whose bytes were taken over as they were.
    pub copied: u64,
    /// Blocks by version of the source.
    pub versions: [u64; 5],
    /// Blocks whose SDF has the fixed point of today instead of the old one.
    pub sdf: u64,
    /// Voxels whose distance is cut to 1.
    pub cut: u64,
    /// Blocks whose metadata was that of Godot 3.
    pub godot3: u64,
    /// Items of metadata that an earlier conversion had kept apart and that have their places again.
    pub put_back: u64,
    /// Blocks that an earlier conversion had filled, and that are not there again.
    pub emptied: u64,
    /// What is not in the result as it was.
    pub listed: Vec<Listed>,
    /// Files of the source that cannot be read.
    pub faults: Vec<Fault>,
    /// Entries of tables that were left out because another one has their position.
    pub twice: u64,
}

impl Report {
    pub(super) fn new(world: &World<'_>, layout: &Layout, slots: Option<String>) -> Self {
        Self { source: printable::path(world.path()), layout: Some(*layout), slots, ..Self::default() }
    }

    pub(super) fn index(&mut self, index: &Index) {
        // What is wrong with a stream is so for every LOD.
        for fault in &index.faults {
            if !self.faults.contains(fault) {
                self.faults.push(fault.clone());
            }
        }
        self.twice += index.twice;
        for at in &index.stale {
            let why = "nothing leads to its row, and nothing that did is damaged: it may have been deleted";
            self.list(Kind::StaleRow, index.lod, at.position, why.to_owned());
        }
    }

    pub(super) fn list(&mut self, kind: Kind, lod: u8, block: [i32; 3], why: String) {
        self.listed.push(Listed::new(kind, lod, block, why));
    }

    /// Adds what another part of the work did.
    pub(super) fn merge(&mut self, other: Self) {
        self.read += other.read;
        self.written += other.written;
        self.copied += other.copied;
        self.sdf += other.sdf;
        self.cut += other.cut;
        self.godot3 += other.godot3;
        self.put_back += other.put_back;
        self.emptied += other.emptied;
        for (all, n) in self.versions.iter_mut().zip(other.versions) {
            *all += n;
        }
        self.listed.extend(other.listed);
    }

    /// How many things of a kind are listed.
    #[must_use]
    pub fn count(&self, kind: Kind) -> u64 {
        self.listed.iter().filter(|listed| listed.kind == kind).count() as u64
    }

    /// Whether blocks of the source are not in the result, or damaged instances are.
    #[must_use]
    pub fn leaves_damage(&self) -> bool {
        let left = [Kind::Damaged, Kind::TooLarge, Kind::StaleRow, Kind::DamagedInstances];
        self.twice > 0 || left.into_iter().any(|kind| self.count(kind) > 0)
    }

    /// `convert.json`: see OUTPUT.md.
    pub(super) fn json(&self) -> Vec<u8> {
        let listed = self.listed.iter().map(|listed| {
            json!({
                "kind": listed.kind.name(),
                "lod": listed.lod,
                "block": listed.block,
                "voxel": listed.voxel,
                "why": listed.why,
                "bytes": listed.bytes.as_deref().map(printable::hex),
                "values": listed.values,
            })
        });
        let to = self.layout.map(|layout| {
            let forest = layout.keys.is_none();
            json!({
                "form": if forest { "forest" } else { "sqlite" },
                "block_size": layout.to,
                "region_size": forest.then_some(layout.region),
                "sector_size": forest.then_some(layout.sector),
                "coordinate_format": layout.keys.map(|keys| keys.code()),
                "container": layout.mode.name(),
            })
        });
        let versions = (0..).zip(self.versions).filter(|(_, n)| *n > 0);
        let versions: serde_json::Map<String, Json> =
            versions.map(|(version, n): (u8, u64)| (version.to_string(), n.into())).collect();
        let faults: Vec<Json> = self.faults.iter().map(|f| json!({ "file": f.file, "why": f.why })).collect();
        let json = json!({
            "type": "convert",
            "source": self.source,
            "source_block_size": self.layout.map(|layout| layout.from),
            "to": to,
            "slots": self.slots,
            "blocks_read": self.read,
            "blocks_written": self.written,
            "blocks_copied": self.copied,
            "versions": versions,
            "sdf_rescaled": self.sdf,
            "sdf_cut_voxels": self.cut,
            "metadata_of_godot_3": self.godot3,
            "metadata_put_back": self.put_back,
            "filling_left_out": self.emptied,
            "listed": listed.collect::<Vec<_>>(),
            "positions_twice": self.twice,
            "files_unread": faults,
        });
        let mut text = serde_json::to_vec_pretty(&json).unwrap_or_default();
        text.push(b'\n');
        text
    }
}
