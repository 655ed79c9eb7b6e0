//! Converts one block to the current version.

use crate::godot::block::Block;
use crate::godot::channel::{Depth, SDF, Storage, sdf};
use crate::godot::metadata::{Item, Metadata};
use crate::godot::variant::{Dialect, Object, Variant};
use crate::resize::{VERSION, has_old_sdf, is_cut, rescale, sdf_of_today};

/// Voxels whose distance was clamped to 1.
pub(super) fn cut_distances(block: &Block<'_>) -> u64 {
    let Some(channel) = block.channels.get(SDF).filter(|_| has_old_sdf(block)) else { return 0 };
    let is_cut = |value: &u64| is_cut(block.version, channel.depth, *value);
    match channel.storage {
        Storage::Uniform => channel.value(0).filter(is_cut).map_or(0, |_| block.volume()),
        Storage::Raw => channel.values().filter(is_cut).count() as u64,
    }
}

/// Voxels whose distance is beyond what fixed point of the depth `to` can store, and the farthest distance that it can.
pub(super) fn far_distances(block: &Block<'_>, to: Depth) -> (u64, f64) {
    let most = match to {
        Depth::Bits8 => 0x7f,
        Depth::Bits16 => 0x7fff,
        Depth::Bits32 | Depth::Bits64 => return (0, f64::INFINITY),
    };
    let farthest = sdf(VERSION, to, most);
    let Some(channel) = block.channels.get(SDF).filter(|channel| channel.depth > to) else { return (0, farthest) };
    // A distance that rounds to the farthest one is as near as the depth allows.
    let reach = farthest * (1.0 + 0.5 / most as f64);
    let is_far = |raw: &u64| {
        let of_today = sdf_of_today(block.version, channel.depth, *raw);
        sdf(VERSION, channel.depth, of_today).abs() > reach
    };
    let far = match channel.storage {
        Storage::Uniform => channel.value(0).filter(is_far).map_or(0, |_| block.volume()),
        Storage::Raw => channel.values().filter(is_far).count() as u64,
    };
    (far, farthest)
}

/// Converts a block to the current version. `sdf` receives the values of the SDF, if they change.
pub(super) fn of_today<'a>(mut block: Block<'a>, sdf: &'a mut Vec<u8>) -> Block<'a> {
    let version = block.version;
    rescale(&mut block, sdf);
    block.version = VERSION;
    block.metadata = block.metadata.take().and_then(|metadata| metadata_of_today(metadata, version));
    block
}

/// Converts metadata to tagged items and Variants of Godot 4; `None` if nothing is set.
fn metadata_of_today(mut metadata: Metadata<'_>, version: u8) -> Option<Metadata<'_>> {
    metadata.dialect = Dialect::Godot4;
    // Before version 4, a block without metadata of its own stored null.
    if version < VERSION && metadata.block == Some(Item::Variant(Variant::Nil)) {
        metadata.block = None;
    }
    let nothing = matches!(metadata.block, None | Some(Item::Empty)) && metadata.voxels.is_empty();
    (!nothing).then_some(metadata)
}

/// Values of Godot 3 in an item that have no equivalent in Godot 4: resources, and objects stored as numbers.
pub(super) fn without_equal(item: &Item<'_>) -> u64 {
    let Item::Variant(variant) = item else { return 0 };
    let mut open = vec![variant];
    let mut found = 0;
    while let Some(variant) = open.pop() {
        match variant {
            Variant::Rid(_) | Variant::Object(Object::Id(_)) => found += 1,
            Variant::Object(Object::Whole { properties, .. }) => open.extend(properties.iter().map(|(_, value)| value)),
            Variant::Array(array) => open.extend(&array.items),
            Variant::Dictionary(map) => open.extend(map.pairs.iter().flat_map(|(key, value)| [key, value])),
            _ => {}
        }
    }
    found
}
