//! The report of a conversion, for people and as `convert.json`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::check::{Misplaced, MisplacedFile};
use crate::convert::OutputLayout;
use crate::godot::channel::{CHANNELS, Depth, NAMES};
use crate::godot::stream::loc::KeyRule;
use crate::printable;
use crate::save::ForestLayout;
use crate::world::{self, Fault, Index, World};

/// Name of the report in the result.
pub(super) const NAME: &str = crate::save::CONVERT_REPORT;

/// Bytes that a name may have.
const LONGEST: usize = 255;

/// Path of the report of a converted save: in a forest, next to a stream.
pub(super) fn report_of(path: &Path, is_forest: bool) -> PathBuf {
    if is_forest {
        return path.join(NAME);
    }
    let mut beside_it = path.as_os_str().to_owned();
    // A name that would be too long for a file system is cut.
    let ending = NAME.len() + 1;
    if let Some(name) = path.file_name().filter(|name| name.len() + ending > LONGEST) {
        let text = name.to_string_lossy();
        let at = LONGEST - ending - 3;
        let cut: String = text.char_indices().take_while(|(start, _)| *start < at).map(|(_, c)| c).collect();
        beside_it = path.with_file_name(cut).into_os_string();
    }
    beside_it.push(".");
    beside_it.push(NAME);
    PathBuf::from(beside_it)
}

/// How something in the result differs from the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A block that cannot be read; it is left out.
    Damaged,
    /// A block that does not fit the result; it is left out.
    TooLarge,
    /// A row of a stream that may have been deleted; it is left out.
    StaleRow,
    /// A block of the result of which parts do not exist in the source; they are filled.
    Filled,
    /// Metadata that the result cannot store; the report holds its bytes.
    Metadata,
    /// Metadata that an earlier conversion stored apart, and whose voxel in the result has another item; the report holds its bytes.
    Apart,
    /// The palette of a region, if the regions of the result differ; the report holds its colours.
    Palette,
    /// Values of Godot 3 without an equivalent in Godot 4; they are empty in the result.
    NoEqual,
    /// Metadata of types of the Rust port, which the engine does not know; it is kept.
    PortItems,
    /// Instances that the result cannot store: in a forest, or with another block size. They are in the source only.
    Instances,
    /// Instances that cannot be read completely; their bytes are copied.
    DamagedInstances,
    /// Distances outside the range of the current fixed point; they are clamped.
    Cut,
    /// Distances beyond what the fixed point of a smaller depth can store; they are clamped.
    Far,
    /// A channel that is deeper than the result declares; it keeps its depth.
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
            Self::PortItems => "port-items",
            Self::Instances => "instances",
            Self::DamagedInstances => "instances-damaged",
            Self::Cut => "sdf-cut",
            Self::Far => "sdf-far",
            Self::Depth => "depth",
        }
    }
}

/// Something in the result that differs from the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// How it differs.
    pub kind: Kind,
    /// The LOD.
    pub lod: u8,
    /// The block of the source; of the result, where it is filled or has no place for what was apart; the region of a palette.
    pub block: [i32; 3],
    /// The voxel in the block.
    pub voxel: Option<[u16; 3]>,
    /// More, in words.
    pub why: String,
    /// Bytes that only the report holds. For a filled block: a bit for each of its parts in the order ZXY, the lowest bit of
    /// the first byte first, set if the part exists.
    pub bytes: Option<Vec<u8>>,
    /// The fill values of a block, by channel.
    pub values: Option<[u64; CHANNELS]>,
}

impl Listed {
    /// An entry with words only.
    pub(super) const fn new(kind: Kind, lod: u8, block: [i32; 3], why: String) -> Self {
        Self { kind, lod, block, voxel: None, why, bytes: None, values: None }
    }
}

/// `convert.json`: see OUTPUT.md.
#[derive(Serialize)]
struct ReportJson<'r> {
    r#type: &'static str,
    source: &'r str,
    source_block_size: Option<u16>,
    to: Option<TargetJson>,
    slots: Option<&'r str>,
    key_rule: Option<KeyRule>,
    key_rule_given: bool,
    blocks_read: u64,
    blocks_written: u64,
    blocks_copied: u64,
    /// Blocks by version of the source, without versions that no block has.
    versions: BTreeMap<String, u64>,
    sdf_rescaled: u64,
    sdf_cut_voxels: u64,
    metadata_of_godot_3: u64,
    metadata_put_back: u64,
    filling_left_out: u64,
    channels_changed: Vec<ChannelJson>,
    listed: Vec<ListedJson>,
    positions_twice: u64,
    misplaced: u64,
    files_misplaced: &'r [MisplacedFile],
    unowned: u64,
    files_unread: &'r [Fault],
    files_corrected: &'r [Fault],
    files_damaged: &'r [Fault],
}

/// The layout of the result. A forest has sizes of regions and sectors, a stream a format of keys.
#[derive(Serialize)]
struct TargetJson {
    form: &'static str,
    block_size: u16,
    region_size: Option<u16>,
    sector_size: Option<u16>,
    coordinate_format: Option<u8>,
    container: &'static str,
    layout: Option<&'static str>,
    depths: [u8; CHANNELS],
    textures: Option<&'static str>,
}

/// A channel that has another form in the result.
#[derive(Serialize)]
struct ChannelJson {
    channel: &'static str,
    from_bits: u8,
    to_bits: u8,
    textures: Option<&'static str>,
    blocks: u64,
}

impl TargetJson {
    fn new(layout: OutputLayout) -> Self {
        let is_forest = layout.keys.is_none();
        Self {
            form: if is_forest { "forest" } else { "sqlite" },
            block_size: layout.to,
            region_size: is_forest.then_some(layout.region),
            sector_size: is_forest.then_some(layout.sector),
            coordinate_format: layout.keys.map(|keys| keys.code()),
            container: layout.mode.name(),
            layout: is_forest.then_some(match layout.tree {
                ForestLayout::Engine => "engine",
                ForestLayout::Port => "port",
            }),
            depths: layout.depths.map(Depth::bits),
            textures: layout.change.single_textures.then_some(SINGLE),
        }
    }
}

/// An entry of `listed`.
#[derive(Serialize)]
struct ListedJson {
    kind: &'static str,
    lod: u8,
    block: [i32; 3],
    voxel: Option<[u16; 3]>,
    why: String,
    bytes: Option<String>,
    values: Option<[u64; CHANNELS]>,
}

/// The form of textures that a conversion writes, if it changes them.
const SINGLE: &str = "single";

/// A channel that has another form in the result: its number, its depths in the source and in the result, and whether it has
/// textures of another form.
pub(super) type ChannelForm = (usize, Depth, Depth, bool);

/// The result of a conversion.
#[derive(Clone, Debug, Default)]
pub struct Report {
    source: String,
    layout: Option<OutputLayout>,
    /// The slot formula that was used for negative coordinates, and the reason, in words.
    pub slots: Option<String>,
    /// The rule by which keys of the source were read; `None` for a forest.
    pub key_rule: Option<KeyRule>,
    /// Whether that rule was given as an option.
    pub key_rule_given: bool,
    /// Blocks of the source.
    pub read: u64,
    /// Blocks of the result.
    pub written: u64,
    /// Blocks whose bytes were copied.
    pub copied: u64,
    /// Blocks by version of the source.
    pub versions: [u64; 5],
    /// Blocks whose SDF was converted to the current fixed point.
    pub sdf: u64,
    /// Voxels whose distance was clamped to 1.
    pub cut: u64,
    /// Blocks whose metadata was in the Godot 3 dialect.
    pub godot3: u64,
    /// Metadata items that an earlier conversion stored apart and that were restored.
    pub put_back: u64,
    /// Blocks that an earlier conversion had filled and that were left out again.
    pub emptied: u64,
    /// Blocks along each axis of a region and bytes per sector, as they would have been and as they are, where the engine
    /// would refuse to save with the former.
    pub enlarged: Option<[(u16, u16); 2]>,
    /// Blocks by what changed in the form of a channel.
    pub(super) forms: BTreeMap<ChannelForm, u64>,
    /// Differences between the result and the source.
    pub listed: Vec<Listed>,
    /// Files of the source that cannot be read.
    pub faults: Vec<Fault>,
    /// Files of the source that are damaged and were read nevertheless: see [`Index::corrected`].
    pub corrected: Vec<Fault>,
    /// Files beside the blocks that are damaged, so that nothing of them is used: the report of an earlier conversion.
    pub damaged: Vec<Fault>,
    /// Table entries that were left out because another one has their position.
    pub twice: u64,
    /// Blocks that the tables lead to although they belong elsewhere, or may, which are converted where the tables have them; and
    /// unowned blocks, which are not converted.
    pub misplaced: Misplaced,
}

impl Report {
    pub(super) fn new(world: &World<'_>, layout: &OutputLayout, slots: Option<String>) -> Self {
        let (source, faults) = (printable::path(world.path()), world.unread());
        let key_rule = world.key_rule();
        let key_rule_given = key_rule.is_some() && world.save.options.key_rule.is_some();
        Self { source, layout: Some(*layout), slots, key_rule, key_rule_given, faults, ..Self::default() }
    }

    /// The path of the save that was converted, made printable.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Voxels along each axis of a block of the source and of the result, if these have another size.
    #[must_use]
    pub fn block_sizes(&self) -> Option<[u16; 2]> {
        self.layout.map(|layout| [layout.from, layout.to]).filter(|[from, to]| from != to)
    }

    pub(super) fn index(&mut self, index: &Index) {
        world::add_new(&mut self.faults, index.faults.iter().cloned());
        world::add_new(&mut self.corrected, index.corrected.iter().cloned());
        self.twice += index.twice;
        for at in &index.stale {
            let why = "nothing leads to its row, and nothing that did is damaged: it may have been deleted";
            self.list(Kind::StaleRow, index.lod, at.position, why.to_owned());
        }
    }

    pub(super) fn list(&mut self, kind: Kind, lod: u8, block: [i32; 3], why: String) {
        self.listed.push(Listed::new(kind, lod, block, why));
    }

    /// Adds the report of another part of the work.
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
        for (form, n) in other.forms {
            *self.forms.entry(form).or_default() += n;
        }
        self.listed.extend(other.listed);
    }

    /// The channels that have another form in the result, each a clause.
    #[must_use]
    pub fn form_words(&self) -> Vec<String> {
        let words = |(&(channel, from, to, textures), &n): (&ChannelForm, &u64)| {
            let name = NAMES.get(channel).unwrap_or(&"");
            let blocks = printable::count(n, "block");
            let [from, to] = [from, to].map(Depth::bits);
            match (textures, from == to) {
                (true, true) => format!("In {blocks}, {name} has textures of the form Single in {to} bits, as before"),
                (true, false) => {
                    format!("In {blocks}, {name} has textures of the form Single in {to} bits in place of {from}")
                }
                (false, _) => format!("In {blocks}, {name} has {to} bits in place of {from}"),
            }
        };
        self.forms.iter().map(words).collect()
    }

    /// Number of entries of a kind.
    #[must_use]
    pub fn count(&self, kind: Kind) -> u64 {
        self.listed.iter().filter(|listed| listed.kind == kind).count() as u64
    }

    /// Whether no block of the source can be read although it has some, or may: nothing is written then.
    #[must_use]
    pub fn reads_nothing(&self) -> bool {
        let left_out = self.read + self.misplaced.unowned + self.faults.len() as u64;
        self.written == 0 && self.count(Kind::Damaged) == self.read && left_out > 0
    }

    /// Whether blocks or instances of the source are not in the result, damaged instances are, or blocks are or may be in a wrong
    /// place, or in no table.
    #[must_use]
    pub fn leaves_damage(&self) -> bool {
        let left = [Kind::Damaged, Kind::TooLarge, Kind::StaleRow, Kind::Instances, Kind::DamagedInstances];
        self.twice > 0
            || !self.damaged.is_empty()
            || self.misplaced.blocks + self.misplaced.unowned > 0
            || left.into_iter().any(|kind| self.count(kind) > 0)
    }

    /// `convert.json`: see OUTPUT.md.
    pub(super) fn json(&self) -> Vec<u8> {
        let listed = |listed: &Listed| ListedJson {
            kind: listed.kind.name(),
            lod: listed.lod,
            block: listed.block,
            voxel: listed.voxel,
            why: listed.why.clone(),
            bytes: listed.bytes.as_deref().map(printable::hex),
            values: listed.values,
        };
        let forms = self.forms.iter().map(|(&(channel, from, to, textures), &blocks)| ChannelJson {
            channel: NAMES.get(channel).copied().unwrap_or(""),
            from_bits: from.bits(),
            to_bits: to.bits(),
            textures: textures.then_some(SINGLE),
            blocks,
        });
        let versions = (0u8..).zip(self.versions).filter(|(_, n)| *n > 0);
        let json = ReportJson {
            r#type: "convert",
            source: &self.source,
            source_block_size: self.layout.map(|layout| layout.from),
            to: self.layout.map(TargetJson::new),
            slots: self.slots.as_deref(),
            key_rule: self.key_rule,
            key_rule_given: self.key_rule_given,
            blocks_read: self.read,
            blocks_written: self.written,
            blocks_copied: self.copied,
            versions: versions.map(|(version, n)| (version.to_string(), n)).collect(),
            sdf_rescaled: self.sdf,
            sdf_cut_voxels: self.cut,
            metadata_of_godot_3: self.godot3,
            metadata_put_back: self.put_back,
            filling_left_out: self.emptied,
            channels_changed: forms.collect(),
            listed: self.listed.iter().map(listed).collect(),
            positions_twice: self.twice,
            misplaced: self.misplaced.blocks,
            files_misplaced: &self.misplaced.files,
            unowned: self.misplaced.unowned,
            files_unread: &self.faults,
            files_corrected: &self.corrected,
            files_damaged: &self.damaged,
        };
        let mut text = Vec::new();
        // Writing to memory cannot fail.
        let _ = printable::write_json_pretty(&mut text, &json);
        text
    }
}
