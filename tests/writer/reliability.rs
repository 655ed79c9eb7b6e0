//! Whether the probabilities of a repair hold where something else than the game damaged the save.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use rayon::prelude::*;
use voxscope::limits::Limits;
use voxscope::repair;
use voxscope::save::{Options, Save, Scratch};
use voxscope::source::Source;

use crate::common::damage::{FileDamage, TableDamage};
use crate::common::reliability::{Reliability, at_most};
use crate::common::sampled;
use crate::common::terrain::{Ground, Terrain};
use crate::common::writer::Random;

/// What a repair says of one damaged save: all placements, and those that the table does not have.
type Tables = [Reliability; 2];

/// The bytes of a file as they were before some were inserted or cut out; `None` where its header cannot be read.
fn as_it_was(save: &Save, path: &Path) -> Option<Vec<u8>> {
    let (forest, file) = save.regions().find(|(forest, file)| forest.dir.join(&file.name) == path)?;
    let source = save.region(forest, file).unwrap()?.source;
    let mut bytes = Vec::new();
    source.read_into(0, source.len() as usize, &mut bytes).unwrap();
    Some(bytes)
}

fn judge(truth: &HashMap<[i32; 3], Vec<u8>>, dir: &Path) -> Tables {
    let contents: HashSet<&Vec<u8>> = truth.values().collect();
    let save = Save::open(dir, &Options::default()).unwrap();
    let plan = repair::plan(&save, &repair::Options::default().likely(true)).unwrap();
    let mut tables = Tables::default();
    for region in &plan.regions {
        let Some(header) = &region.source else { continue };
        let bytes = as_it_was(&save, &region.path).unwrap_or_else(|| fs::read(&region.path).unwrap());
        let mut scratch = Scratch::default();
        for block in &region.blocks {
            let stored: Vec<u8> =
                block.pieces.iter().flat_map(|s| bytes[s.start as usize..s.end as usize].to_vec()).collect();
            let view = scratch.interpret_bytes(&stored, 0, header, None, &Limits::DEFAULT);
            let block_there = view.container.map(|container| container.plain.to_vec()).unwrap_or_default();
            // What was damaged and is still a block, or what is left of one, is wrong in every place.
            if block.origin != repair::Origin::Found || !contents.contains(&block_there) {
                continue;
            }
            let right = truth.get(&block.position) == Some(&block_there);
            tables[0].add(block.probability, right);
            if block.moved || block.listed_at.is_some() {
                tables[1].add(block.probability, right);
            }
        }
    }
    tables
}

fn damaged(terrain: &Terrain, seed: u64, kind: &Damage) -> Tables {
    let dir = tempfile::tempdir().unwrap();
    terrain.write(dir.path(), &[[0; 3], [-1, 0, 0]]);
    let places = (-8..8).flat_map(|x| (0..8).flat_map(move |y| (0..8).map(move |z| [x, y, z])));
    let truth = places.map(|at| (at, terrain.block(at))).collect();
    let mut random = Random::new(seed);
    for name in ["r.0.0.0.vxr", "r.-1.0.0.vxr"] {
        let path = dir.path().join("regions/lod0").join(name);
        let mut bytes = fs::read(&path).unwrap();
        kind(&mut bytes, &mut random);
        fs::write(path, bytes).unwrap();
    }
    judge(&truth, dir.path())
}

/// Damages a file.
type Damage = Box<dyn Fn(&mut Vec<u8>, &mut Random) + Sync>;

/// The kinds of damage and what they are called.
fn kinds() -> Vec<(String, Damage)> {
    let tables = TableDamage::ALL.into_iter().filter(|kind| !matches!(kind, TableDamage::All | TableDamage::Page));
    let tables = tables.map(|kind| {
        let damage: Damage = Box::new(move |file, random| drop(kind.apply(file, random)));
        (format!("table {kind:?}"), damage)
    });
    let files = FileDamage::ALL.into_iter().map(|kind| {
        let damage: Damage = Box::new(move |file, random| drop(kind.apply(file, random)));
        (format!("file {kind:?}"), damage)
    });
    tables.chain(files).collect()
}

#[test]
fn stated_probabilities_hold() {
    let number = |name, or| std::env::var(name).ok().and_then(|text: String| text.parse::<u64>().ok()).unwrap_or(or);
    // Seeds below 500 are those that the numbers of the solver were chosen with.
    let (from, n) = (500 + number("FROM", 0), number("SEEDS", 2));
    for ground in [Ground::Smooth, Ground::Blocky] {
        let kinds = kinds();
        let cases = (0..kinds.len()).flat_map(|k| (from..from + n).map(move |seed| (k, seed)));
        let cases = sampled(cases, 5);
        let all: Vec<(usize, Tables)> = cases
            .par_iter()
            .map(|&(k, seed)| (k, damaged(&Terrain::small(ground, seed), 7 * seed + k as u64, &kinds[k].1)))
            .collect();
        let mut total = Tables::default();
        for (k, (name, _)) in kinds.iter().enumerate() {
            let mut sum = Tables::default();
            for (_, tables) in all.iter().filter(|(of, _)| *of == k) {
                (0..2).for_each(|i| sum[i] += tables[i]);
            }
            // Entries that were exchanged are valid: only the seams of their blocks tell, and in blocky ground too few.
            if !name.contains("Swaps") {
                (0..2).for_each(|i| total[i] += sum[i]);
            }
            let ((placed, wrong), (moved, moved_wrong)) = (sum[0].from(0.0), sum[1].from(0.0));
            println!("{ground:?} {name}: {placed} placed, {wrong} wrong; {moved} not as listed, {moved_wrong} wrong");
        }
        println!(
            "{ground:?} without exchanged entries, all placements:\n{}{ground:?}, not as the table has it:\n{}",
            total[0], total[1]
        );
        let (certain, wrong) = total[0].from(0.9999);
        assert!(certain > 1000, "{ground:?}: {certain}");
        // Where even the few that are to be expected by chance are exceeded, the probability is wrong.
        assert!(
            wrong as f64 <= at_most((certain as f64 * 1e-4) as u64),
            "{ground:?}: {wrong} of {certain}\n{}",
            total[0]
        );
    }
}
