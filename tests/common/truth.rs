//! What reference files say was saved, and what a reader of blocks finds.

use std::collections::HashMap;
use std::path::Path;

use sha2::{Digest, Sha256};
use voxscope::godot::block::Block;
use voxscope::godot::channel::Storage;
use voxscope::save::{Options, Save, Scratch, View};

/// A text for each channel: its value, or the hash of its voxels.
pub type Signature = Vec<String>;

/// The lines of a file of what was saved, in order.
pub fn truth(path: &Path) -> Vec<([i32; 3], Signature)> {
    super::json_lines(path)
        .iter()
        .map(|v| (position(&v["position"]), v["channels"].as_array().unwrap().iter().map(channel).collect()))
        .collect()
}

fn position(v: &serde_json::Value) -> [i32; 3] {
    [0, 1, 2].map(|axis| v[axis].as_i64().unwrap().try_into().unwrap())
}

fn channel(v: &serde_json::Value) -> String {
    match v["value"].as_str() {
        Some(value) => format!("u{value}"),
        None => v["sha256"].as_str().unwrap().to_owned(),
    }
}

/// The signature of a block.
pub fn signature(block: &Block<'_>) -> Signature {
    let one = |c: &voxscope::godot::channel::Channel<'_>| match c.storage {
        Storage::Uniform => format!("u{}", c.value(0).unwrap()),
        Storage::Raw => Sha256::digest(c.data).iter().map(|b| format!("{b:02x}")).collect(),
    };
    block.channels.iter().map(one).collect()
}

/// Reads each block that the tables of a save have, with its LOD and position.
pub fn each_block(save: &Save, mut each: impl FnMut((u8, [i32; 3]), &View<'_>)) {
    let mut scratch = Scratch::default();
    for (forest, file) in save.regions() {
        let mut region = save.region(forest, file).unwrap().unwrap();
        let slots = region.slots(&mut scratch).unwrap();
        for listed in region.entries.clone() {
            let position = region.block_position(listed.slot, slots).unwrap();
            each((file.lod, position), &region.view(listed.entry, &mut scratch).unwrap());
        }
    }
}

/// The blocks of a copy by LOD and position, where its tables have them.
pub fn placed(copy: &Path) -> HashMap<(u8, [i32; 3]), Signature> {
    let mut placed = HashMap::new();
    each_block(&Save::open(copy, &Options::default()).unwrap(), |place, view| {
        placed.insert(place, signature(view.block.as_ref().unwrap()));
    });
    placed
}
