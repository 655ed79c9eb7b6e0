//! Two blocks, voxel by voxel.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value as Json;

use crate::axes;
use crate::godot::block::Block;
use crate::godot::channel::{CHANNELS, Channel, Depth, SDF, Storage, sdf};
use crate::godot::metadata::{Item, Metadata};
use crate::godot::variant::{Dialect, Variant};

/// The difference between two blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockChange {
    /// Voxels in which at least one channel differs.
    pub voxels: u64,
    /// The box of them inside the block: from the first up to, not including, the second.
    pub bounds: Option<[[u16; 3]; 2]>,
    /// The channels that differ.
    pub channels: Vec<ChannelChange>,
    /// The voxels, if there are few.
    pub list: Vec<VoxelChange>,
    /// The metadata that differs.
    pub metadata: Vec<MetadataChange>,
    /// Whether the bytes of the instances differ; where blocks have different sizes, the numbers of instances by kind.
    pub instances: bool,
}

/// How a channel differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelChange {
    /// The channel.
    pub channel: usize,
    /// Voxels that differ in it.
    pub voxels: u64,
}

/// A voxel that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VoxelChange {
    /// Its position in the block.
    pub position: [u16; 3],
    /// The channel.
    pub channel: usize,
    /// Its raw values in both; `None` where the channel is cut off.
    pub values: [Option<u64>; 2],
}

/// Metadata that differs, as JSON; see [`Item::to_json`].
#[derive(Clone, Debug, PartialEq)]
pub struct MetadataChange {
    /// The voxel in the block; `None` for the block's own.
    pub voxel: Option<[u16; 3]>,
    /// The items in both; `None` where there is none.
    pub items: [Option<Json>; 2],
}

impl BlockChange {
    /// Whether nothing differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.channels.is_empty() && self.metadata.is_empty() && !self.instances
    }
}

/// A hash of a block's content; `None` if the block is uniform, since many blocks then have the same content.
pub(super) fn content(block: &Block<'_>) -> Option<u64> {
    if block.channels.iter().all(|c| c.storage == Storage::Uniform) {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    block.size.hash(&mut hasher);
    for channel in &block.channels {
        (channel.depth, channel.storage).hash(&mut hasher);
        channel.data.hash(&mut hasher);
    }
    Some(hasher.finish())
}

/// Compares two blocks of one size.
pub(super) fn change(a: &Block<'_>, b: &Block<'_>, channels: &[usize], most: usize) -> BlockChange {
    let mut change = BlockChange::default();
    let mut seen: Vec<bool> = Vec::new();
    let [sx, sy, _] = a.size.map(usize::from);
    let mut list = Vec::new();
    blocks(a, b, channels, &mut |index, channel, values| {
        match change.channels.last_mut() {
            Some(last) if last.channel == channel => last.voxels += 1,
            _ => change.channels.push(ChannelChange { channel, voxels: 1 }),
        }
        // The order ZXY, turned around; the parts are smaller than the size, which has 16 bits.
        let part = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        let position = [part(index / sy % sx), part(index % sy), part(index / (sy * sx))];
        if seen.len() <= index {
            seen.resize(usize::try_from(a.volume()).unwrap_or(index + 1).max(index + 1), false);
        }
        if seen.get_mut(index).is_some_and(|seen| !std::mem::replace(seen, true)) {
            change.voxels += 1;
            let [low, high] = change.bounds.unwrap_or([position, position]);
            change.bounds = Some([
                axes::combine(low, position, u16::min),
                axes::combine(high, position, |high, at| high.max(at.saturating_add(1))),
            ]);
        }
        if list.len() <= most.saturating_mul(CHANNELS) {
            list.push(VoxelChange { position, channel, values });
        }
    });
    if change.voxels <= most as u64 {
        list.sort_by_key(|v| (v.position[2], v.position[0], v.position[1], v.channel));
        change.list = list;
    }
    change.metadata = metadata(a.metadata.as_ref(), b.metadata.as_ref());
    change
}

/// Compares the voxels of two blocks of one size, channel by channel, and gives those that differ: the voxel's index in
/// the order ZXY, the channel, and its raw values in both. `channels` says which, all when it is empty.
///
/// Values are compared raw if the channel has the same depth in both blocks, otherwise by their meaning. Fixed-point
/// SDF of block versions 1 and 2 and that of the later ones is compared by what is kept when a save is converted, the
/// normalised value; two fixed-point values of different depths are the same when the coarser one is the nearest that
/// its depth has.
pub fn blocks(a: &Block<'_>, b: &Block<'_>, channels: &[usize], each: &mut dyn FnMut(usize, usize, [Option<u64>; 2])) {
    let volume = usize::try_from(a.volume().min(b.volume())).unwrap_or(usize::MAX);
    for channel in (0..CHANNELS).filter(|c| channels.is_empty() || channels.contains(c)) {
        match (a.channels.get(channel), b.channels.get(channel)) {
            (None, None) => {}
            (Some(one), Some(other)) => {
                let rule = Rule::for_channel(channel, a.version, one.depth, b.version, other.depth);
                values(rule, volume, one, other, &mut |index, values| each(index, channel, values));
            }
            (one, other) => {
                for index in 0..volume {
                    let of = |c: Option<&Channel<'_>>| c.and_then(|c| c.value(index));
                    each(index, channel, [of(one), of(other)]);
                }
            }
        }
    }
}

fn values(rule: Rule, volume: usize, a: &Channel<'_>, b: &Channel<'_>, each: &mut dyn FnMut(usize, [Option<u64>; 2])) {
    if rule == Rule::Raw && a.storage == b.storage && a.data == b.data {
        return;
    }
    let both_uniform = a.storage == Storage::Uniform && b.storage == Storage::Uniform;
    if both_uniform && rule.same(a.value(0), b.value(0)) {
        return;
    }
    for index in 0..volume {
        let (one, other) = (a.value(index), b.value(index));
        if !rule.same(one, other) {
            each(index, [one, other]);
        }
    }
}

/// How values of a channel are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rule {
    /// Raw values.
    Raw,
    /// Distances, with this tolerance.
    Sdf { a: (u8, Depth), b: (u8, Depth), step: f64 },
}

impl Rule {
    fn for_channel(channel: usize, version_a: u8, depth_a: Depth, version_b: u8, depth_b: Depth) -> Self {
        let (old_a, old_b) = (version_a < 3, version_b < 3);
        let float = |depth| depth >= Depth::Bits32;
        if channel != SDF || (depth_a == depth_b && (old_a == old_b || float(depth_a))) {
            return Self::Raw;
        }
        // Both as the older of the two has it: normalised, when one is of a version without scales.
        let (read_a, read_b) = if old_a == old_b { (version_a, version_b) } else { (1, 1) };
        let scale = |read: u8, depth| match depth {
            Depth::Bits8 => (if read < 3 { 1.0 } else { 10.0 }) / 127.0,
            Depth::Bits16 => (if read < 3 { 1.0 } else { 500.0 }) / 32767.0,
            Depth::Bits32 | Depth::Bits64 => 0.0,
        };
        let step =
            f64::max(scale(read_a, depth_a), scale(read_b, depth_b)) * if depth_a == depth_b { 0.01 } else { 0.5001 };
        Self::Sdf { a: (version_a, depth_a), b: (version_b, depth_b), step }
    }

    fn same(self, a: Option<u64>, b: Option<u64>) -> bool {
        if a == b && self == Self::Raw {
            return true;
        }
        match (self, a, b) {
            (Self::Sdf { a: (version_a, depth_a), b: (version_b, depth_b), step }, Some(a), Some(b)) => {
                let normal = (version_a < 3) != (version_b < 3);
                let read = |version: u8, depth, raw| {
                    let value = sdf(version, depth, raw);
                    let scale = match depth {
                        Depth::Bits8 if normal && version >= 3 => 10.0,
                        Depth::Bits16 if normal && version >= 3 => 500.0,
                        _ => 1.0,
                    };
                    // The old fixed point reaches a step further than the new one.
                    let value: f64 = value / scale;
                    if normal && depth <= Depth::Bits16 { value.clamp(-1.0, 1.0) } else { value }
                };
                let (a, b) = (read(version_a, depth_a, a), read(version_b, depth_b, b));
                (a - b).abs() <= step || a.to_bits() == b.to_bits()
            }
            _ => a == b,
        }
    }
}

/// Items by voxel; the block's own item has no voxel. A missing item equals null.
fn items<'m, 'a>(metadata: Option<&'m Metadata<'a>>) -> BTreeMap<Option<[u16; 3]>, &'m Item<'a>> {
    let Some(metadata) = metadata else { return BTreeMap::new() };
    let own = metadata.block.iter().map(|item| (None, item));
    let all = own.chain(metadata.voxels.iter().map(|voxel| (Some(voxel.position), &voxel.item)));
    all.filter(|(voxel, item)| voxel.is_some() || !matches!(item, Item::Empty | Item::Variant(Variant::Nil))).collect()
}

fn metadata(a: Option<&Metadata<'_>>, b: Option<&Metadata<'_>>) -> Vec<MetadataChange> {
    if a.is_none() && b.is_none() {
        return Vec::new();
    }
    let (a, b) = (items(a), items(b));
    // Use the type names of Godot 4 for both, so that values that differ only in type numbers are equal.
    let json = |item: &Item<'_>| item.to_json(Dialect::Godot4);
    let keys: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).copied().collect();
    let changed = keys.into_iter().filter_map(|voxel| {
        let (one, other) = (a.get(&voxel), b.get(&voxel));
        if one == other {
            return None;
        }
        let items = [one.map(|item| json(item)), other.map(|item| json(item))];
        let opaque = |item: Option<&&Item<'_>>| matches!(item, Some(Item::Custom { .. }));
        (items[0] != items[1] || opaque(one) || opaque(other)).then_some(MetadataChange { voxel, items })
    });
    changed.collect()
}
