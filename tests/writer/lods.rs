//! The next LOD as evidence: where nothing goes on from block to block, it tells which block is whose.

use std::collections::HashMap;

use crate::common::writer::{Random, World, plain};
use voxscope::godot::channel::{CHANNELS, Depth};
use voxscope::godot::container::Mode;
use voxscope::godot::region::Format;
use voxscope::godot::slots::SlotFormula;
use voxscope::limits::Limits;
use voxscope::recover::decide::{Certainty, decide};
use voxscope::recover::region::Case;
use voxscope::recover::solve;
use voxscope::recover::walk;
use voxscope::save::{Options, Region, Scratch};

const SIDE: usize = 8;
const SEEDS: u64 = 3;

type Kinds = Vec<u8>;

fn at([x, y, z]: [usize; 3]) -> usize {
    y + SIDE * (x + SIDE * z)
}

/// Noise in so many voxels: blocks of about the same length.
fn noise(random: &mut Random, busy: usize) -> Kinds {
    (0..SIDE.pow(3)).map(|i| if i < busy { random.next() as u8 } else { 0 }).collect()
}

/// Every second voxel of eight blocks, as the engine makes the next LOD.
fn above(world: &HashMap<[i32; 3], Kinds>, position: [i32; 3]) -> Kinds {
    let mut kinds = vec![0; SIDE.pow(3)];
    for z in 0..SIDE {
        for x in 0..SIDE {
            for y in 0..SIDE {
                let v = [x, y, z];
                let child = [0, 1, 2].map(|a| position[a] * 2 + i32::from(v[a] >= SIDE / 2));
                let inside = v.map(|v| v % (SIDE / 2) * 2);
                kinds[at(v)] = world.get(&child).map_or(0, |child| child[at(inside)]);
            }
        }
    }
    kinds
}

fn case(disk: &[u8], world: &World, lod: u8) -> (Case, Vec<Vec<u8>>) {
    let file = &world.files[0];
    let region = Region::load(disk, file.header.clone(), lod, file.position, &Options::default()).unwrap();
    let options = walk::Options::FACES;
    let case = Case::read(&region, SlotFormula::Euclidean, &Limits::DEFAULT, options).unwrap();
    let mut scratch = Scratch::default();
    let plains = case.walk.blocks.iter().map(|block| {
        let spans = walk::pieces(&file.header, block);
        let bytes: Vec<u8> = spans.iter().flat_map(|s| disk[s.start as usize..s.end as usize].to_vec()).collect();
        let view = scratch.interpret_bytes(&bytes, 0, &file.header, None, &Limits::DEFAULT);
        view.container.unwrap().plain.to_vec()
    });
    let plains = plains.collect();
    (case, plains)
}

/// Blocks right, wrong and left out, when the game was killed after `saves` saves, with or without the next LOD.
fn outcome(seed: u64, with_lods: bool) -> (usize, usize, usize) {
    let random = &mut Random::new(seed);
    let mut depths = [Depth::Bits8; CHANNELS];
    depths[1] = Depth::Bits16;
    let format = Format { block_size_po2: 3, region_size: [4; 3], depths, sector_size: 512 };
    let (mut near, mut far) = (World::new(format, Mode::Lz4), World::new(format, Mode::Lz4));
    let mut voxels = HashMap::new();
    for i in 0..64 {
        voxels.insert([i / 16, i % 4, i / 4 % 4], noise(random, 300));
    }
    let mut positions: Vec<[i32; 3]> = voxels.keys().copied().collect();
    positions.sort_unstable();
    for &p in &positions {
        assert!(near.save(p, plain(SIDE as u16, &voxels[&p], None)));
    }
    for i in 0..8 {
        let p = [i / 4, i % 2, i / 2 % 2];
        assert!(far.save(p, plain(SIDE as u16, &above(&voxels, p), None)));
    }
    near.flush();
    far.flush();
    // A few blocks grow, are taken out and appended.
    for _ in 0..4 {
        let p = positions[random.below(positions.len())];
        let new = noise(random, 500);
        let old = voxels.insert(p, new).unwrap();
        // Where the game changed little, what the next LOD has of it is still nearly right.
        let grown = voxels.get_mut(&p).unwrap();
        grown[..300].copy_from_slice(&old[..300]);
        assert!(near.save(p, plain(SIDE as u16, &voxels[&p], None)));
    }
    let disk = |world: &World| {
        let mut disk = world.files[0].disk.clone();
        // The table is written on flush only.
        for write in &world.writes {
            crate::common::writer::put(&mut disk, write.at, &write.bytes);
        }
        disk
    };
    let (low, plains) = case(&disk(&near), &near, 0);
    let (high, _) = case(&disk(&far), &far, 1);
    let cases: Vec<&Case> = if with_lods { vec![&low, &high] } else { vec![&low] };
    let solver = solve::solve(&cases, &voxscope::watch::Watch::default());
    let placed = decide(&solver, 0);
    let certain = placed.iter().filter(|p| p.certainty == Certainty::Certain);
    let right =
        |p: &&voxscope::recover::decide::Placed| plains[p.block] == plain(SIDE as u16, &voxels[&p.position], None);
    let (all, right) = (certain.clone().count(), certain.filter(right).count());
    (right, all - right, positions.len() - all)
}

#[test]
fn the_next_lod_tells_whose_a_block_is() {
    let (mut with, mut without) = ((0, 0), (0, 0));
    for seed in 0..SEEDS {
        for (lods, sum) in [(true, &mut with), (false, &mut without)] {
            let (right, wrong, left) = outcome(seed, lods);
            assert_eq!(wrong, 0, "seed {seed}, LODs {lods}");
            sum.0 += right;
            sum.1 += left;
        }
    }
    println!("with the next LOD {with:?}, without {without:?} (right, left out)");
    assert!(with.1 * 4 < without.1, "{with:?} {without:?}");
    assert!(with.0 as f64 >= 0.8 * SEEDS as f64 * 64.0, "{with:?}");
}
