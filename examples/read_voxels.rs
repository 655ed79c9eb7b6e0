//! Reads a box of voxels into an array: `cargo run --example read_voxels -- SAVE`.

use std::error::Error;

use voxscope::{Channel, World};

/// The lowest corner of the box, in voxels.
const FROM: [i64; 3] = [0, 0, 0];

/// Voxels along each axis.
const SIDE: usize = 16;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: read_voxels SAVE")?;
    let world = World::open(path)?;
    // In the order x, y, z; voxels without a block are 0.
    let mut voxels = vec![0u64; SIDE * SIDE * SIDE];
    let mut stored = 0;
    let [from_x, from_y, from_z] = FROM;
    for (x, plane) in (from_x..).zip(voxels.chunks_mut(SIDE * SIDE)) {
        for (y, row) in (from_y..).zip(plane.chunks_mut(SIDE)) {
            for (z, voxel) in (from_z..).zip(row) {
                if let Some(value) = world.voxel(0, [x, y, z], Channel::Type)? {
                    *voxel = value;
                    stored += 1;
                }
            }
        }
    }
    let solid = voxels.iter().filter(|voxel| **voxel != 0).count();
    println!("{stored} of {} voxels are stored, {solid} of them are not 0", voxels.len());
    Ok(())
}
