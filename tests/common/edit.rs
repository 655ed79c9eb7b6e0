//! Saves that are edited block by block, so that it is known what differs.

use std::path::Path;

use voxscope::godot::block;
use voxscope::godot::channel::{Channel, Storage};
use voxscope::godot::container::{self, Mode};
use voxscope::godot::region::Builder;
use voxscope::godot::slots::{self, SlotFormula};
use voxscope::save::{Options, Save, Scratch};

/// Blocks as they are rewritten: `None` leaves one out, and another position moves it.
pub type Edit<'e> = &'e dyn Fn(u8, [i32; 3], &mut block::Block<'_>) -> Option<[i32; 3]>;

/// A copy of a forest whose blocks went through `edit`, packed anew.
pub fn edited(from: &Path, to: &Path, mode: Mode, edit: Edit<'_>) {
    let save = Save::open(from, &Options::default()).unwrap();
    std::fs::create_dir_all(to).unwrap();
    std::fs::copy(from.join("meta.vxrm"), to.join("meta.vxrm")).unwrap();
    let mut scratch = Scratch::default();
    for (forest, file) in save.regions() {
        let region = save.region(forest, file).unwrap().unwrap();
        let mut builder = Builder::new(region.header.clone());
        for listed in region.by_sector() {
            let position = region.block_position(listed.slot, SlotFormula::Euclidean).unwrap();
            let mut block = region.view(listed.entry, &mut scratch).unwrap().block.unwrap();
            let Some(position) = edit(file.lod, position, &mut block) else { continue };
            let (of, slot) =
                slots::place_block(position, region.header.format.region_size, SlotFormula::Euclidean).unwrap();
            assert_eq!(of, region.position, "edits stay in their region");
            let (mut plain, mut packed) = (Vec::new(), Vec::new());
            block::encode(&block, &mut plain);
            container::encode(mode, &plain, &mut packed);
            builder.push(slot, &packed).unwrap();
        }
        let path = to.join(&file.name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, builder.finish().unwrap()).unwrap();
    }
}

/// Sets a voxel of a channel, which becomes raw.
pub fn set(block: &mut block::Block<'_>, channel: usize, [x, y, z]: [usize; 3], value: u64) {
    let size = block.size.map(usize::from);
    let old = block.channels[channel];
    let width = old.depth.bytes();
    let mut data: Vec<u8> = (0..size.iter().product::<usize>())
        .flat_map(|i| old.value(i).unwrap().to_le_bytes()[..width].to_vec())
        .collect();
    let at = (y + size[1] * (x + size[0] * z)) * width;
    data[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
    let size = data.len() as u64;
    // Leaked: a test has few of them.
    block.channels[channel] = Channel { storage: Storage::Raw, data: data.leak(), size, ..old };
}

/// Makes every value of a channel 0.
pub fn clear(block: &mut block::Block<'_>, channel: usize) {
    let old = block.channels[channel];
    let data = &[0; 8][..old.depth.bytes()];
    block.channels[channel] = Channel { storage: Storage::Uniform, data, size: data.len() as u64, ..old };
}
