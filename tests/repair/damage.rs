//! Damage that has nothing to do with how the engine writes: what is certain is right, and what is whole comes back.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tempfile::TempDir;
use voxscope::check;
use voxscope::damage::Code;
use voxscope::save::{Options, Save, Scratch};

use crate::common::damage::{FileDamage, TableDamage, table_at};
use crate::common::sampled;
use crate::common::terrain::{Ground, Terrain};
use crate::common::writer::Random;
use crate::mend;

/// The decompressed bytes of each block that is whole, by its position.
type Blocks = BTreeMap<[i32; 3], Vec<u8>>;

/// What a naive reader finds: each entry of each table is believed.
fn blocks(path: &Path) -> Blocks {
    let save = Save::open(path, &Options::default()).unwrap();
    let mut all = Blocks::new();
    for (forest, file) in save.regions() {
        let Some(mut region) = save.region(forest, file).unwrap() else { continue };
        let slots = region.slots(&mut Scratch::default()).unwrap();
        let mut scratch = Scratch::default();
        for listed in region.entries.clone() {
            let position = region.block_position(listed.slot, slots).unwrap();
            let view = region.view(listed.entry, &mut scratch).unwrap();
            if let Some(container) = view.container.filter(|_| view.block.is_some()) {
                all.insert(position, container.plain.to_vec());
            }
        }
    }
    all
}

/// What came of the blocks of a save: of those that were hit and are whole how many came back, of how many; how many of
/// the others are missing; how many are wrong.
#[derive(Debug, Default)]
struct Score {
    back: usize,
    hit: usize,
    lost: usize,
    wrong: usize,
}

fn score(truth: &Blocks, copy: &Blocks, hit: &[[i32; 3]], gone: &[[i32; 3]]) -> Score {
    let mut score = Score::default();
    for (position, block) in truth.iter().filter(|(position, _)| !gone.contains(position)) {
        let right = copy.get(position) == Some(block);
        if hit.contains(position) {
            score.hit += 1;
            score.back += usize::from(right);
        } else {
            score.lost += usize::from(!right);
        }
    }
    let wrong =
        |(position, block): &(&[i32; 3], &Vec<u8>)| !gone.contains(position) && truth.get(*position) != Some(block);
    score.wrong = copy.iter().filter(wrong).count();
    score
}

struct World {
    dir: TempDir,
    truth: Blocks,
    size: [i32; 3],
}

/// The region that is damaged.
const REGION: &str = "world/regions/lod0/r.0.0.0.vxr";

impl World {
    fn new(ground: Ground, seed: u64) -> Self {
        Self::of(&Terrain::small(ground, seed), &[[0, 0, 0], [1, 0, 0]])
    }

    /// A world of one region of 4,096 small blocks.
    fn large(ground: Ground, seed: u64) -> Self {
        Self::of(&Terrain::new(ground, seed, 3, 16), &[[0; 3]])
    }

    fn of(terrain: &Terrain, regions: &[[i32; 3]]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        terrain.write(&dir.path().join("world"), regions);
        let truth = blocks(&dir.path().join("world"));
        Self { dir, truth, size: terrain.format.region_size.map(i32::from) }
    }

    /// The positions of slots of the region at the origin, whose index counts y, then x, then z.
    fn positions(&self, slots: &[u32]) -> Vec<[i32; 3]> {
        let [x, y, _] = self.size;
        let at = |slot: &u32| {
            let slot = *slot as i32;
            [slot / y % x, slot % y, slot / y / x]
        };
        slots.iter().map(at).collect()
    }

    /// Damages the region, repairs the save and puts the region back.
    fn repaired(&self, damage: impl FnOnce(&mut Vec<u8>) -> Vec<u32>) -> (Blocks, Vec<[i32; 3]>) {
        let path = self.dir.path().join(REGION);
        let whole = fs::read(&path).unwrap();
        let mut bytes = whole.clone();
        let slots = damage(&mut bytes);
        fs::write(&path, &bytes).unwrap();
        let copy = tempfile::tempdir().unwrap();
        let to = copy.path().join("copy");
        mend(&self.dir.path().join("world"), &to, false);
        fs::write(&path, whole).unwrap();
        (blocks(&to), self.positions(&slots))
    }
}

#[test]
fn entries_that_are_lost_are_found_by_seams() {
    // Least shares that come back as certain.
    let kinds = [
        (TableDamage::One, 1.0),
        (TableDamage::Tenth, 0.6),
        (TableDamage::Third, 0.3),
        (TableDamage::Flips, 0.9),
        (TableDamage::Slide, 0.9),
    ];
    for (ground, seed) in [(Ground::Smooth, 41), (Ground::Blocky, 42)] {
        let world = World::new(ground, seed);
        for (kind, least) in sampled(kinds, 3) {
            let (copy, hit) = world.repaired(|file| kind.apply(file, &mut Random::new(seed)));
            let score = score(&world.truth, &copy, &hit, &[]);
            assert_eq!((score.wrong, score.lost), (0, 0), "{ground:?} {kind:?}: {score:?}");
            assert!(score.back as f64 >= least * score.hit as f64, "{ground:?} {kind:?}: {score:?}");
        }
    }
}

/// Blocks of an even seed are stored in the order of the table, so that those of its last entries are behind all others, as new blocks
/// of a killed game are.
#[test]
fn the_end_of_a_table_of_a_full_region_is_found_by_seams() {
    let world = World::new(Ground::Smooth, 44);
    let (copy, hit) = world.repaired(|file| {
        let table = table_at(file);
        let from = table.start + (table.end - table.start) / 4 * 3;
        file[from..table.end].fill(0);
        (384..512).collect()
    });
    let score = score(&world.truth, &copy, &hit, &[]);
    assert_eq!((score.wrong, score.lost), (0, 0), "{score:?}");
    assert!(score.back * 10 >= score.hit * 3, "{score:?}");
}

#[test]
fn exchanged_entries_are_put_right_although_the_table_fits() {
    for (ground, seed) in sampled([(Ground::Smooth, 51), (Ground::Blocky, 52)], 2) {
        let world = World::new(ground, seed);
        let (copy, hit) = world.repaired(|file| TableDamage::Swaps.apply(file, &mut Random::new(seed)));
        let score = score(&world.truth, &copy, &hit, &[]);
        // What seams leave open stays where the table has it, or is left out.
        assert!(score.lost == 0 && score.wrong <= score.hit - score.back, "{ground:?}: {score:?}");
        assert!(score.back * 10 >= score.hit * 7, "{ground:?}: {score:?}");
    }
}

/// Moves each of some random entries to the place of the next one of them. Returns their slots.
fn rotate(file: &mut [u8], count: usize, random: &mut Random) -> Vec<u32> {
    let table = table_at(file);
    let entries = file[table].as_chunks_mut::<4>().0;
    let mut slots: Vec<u32> = (0..count).map(|_| random.below(entries.len()) as u32).collect();
    slots.sort_unstable();
    slots.dedup();
    let last = entries[slots[slots.len() - 1] as usize];
    for pair in slots.windows(2).rev() {
        entries[pair[1] as usize] = entries[pair[0] as usize];
    }
    entries[slots[0] as usize] = last;
    slots
}

#[test]
fn entries_that_changed_places_in_a_ring_are_put_right_in_large_regions() {
    let world = World::large(Ground::Smooth, 71);
    for count in [5, 400] {
        let (copy, moved) = world.repaired(|file| rotate(file, count, &mut Random::new(71)));
        let score = score(&world.truth, &copy, &moved, &[]);
        // Blocks of the same content may have changed places too. What seams leave open stays where the table has it, or is left out.
        assert!(score.back * 10 >= score.hit * 7, "{score:?}");
        assert!(score.wrong * 50 <= score.hit && score.lost * 100 <= world.truth.len(), "{score:?}");
    }
}

#[test]
fn no_block_is_taken_out_of_a_large_region_because_no_other_one_continues_it() {
    let world = World::large(Ground::Steps, 72);
    for kind in sampled([TableDamage::Tenth, TableDamage::One], 2) {
        let (copy, hit) = world.repaired(|file| kind.apply(file, &mut Random::new(72)));
        let score = score(&world.truth, &copy, &hit, &[]);
        assert_eq!((score.wrong, score.lost), (0, 0), "{kind:?}: {score:?}");
    }
}

#[test]
fn damage_to_a_file_costs_only_the_blocks_that_it_hits() {
    let world = World::new(Ground::Smooth, 43);
    // A region whose header has another block size or depth is taken for one with settings of its own.
    let own = [FileDamage::HeaderBit(5), FileDamage::HeaderBit(9)];
    for kind in sampled(FileDamage::ALL.into_iter().filter(|kind| !own.contains(kind)), 3) {
        let (copy, gone) = world.repaired(|file| kind.apply(file, &mut Random::new(43)));
        let score = score(&world.truth, &copy, &[], &gone);
        assert_eq!(score.wrong, 0, "{kind:?}: {score:?}");
        // One in a hundred may be at the cut itself.
        assert!(score.lost * 100 <= world.truth.len(), "{kind:?}: {score:?}");
    }
}

/// The region files of a save, by name.
fn region_files(save: &Path) -> BTreeMap<String, Vec<u8>> {
    let read = |entry: fs::DirEntry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap());
    fs::read_dir(save.join("regions/lod0")).unwrap().map(|entry| read(entry.unwrap())).collect()
}

/// How many files of a save are found to have the names of others, and the copy that a repair makes of it.
fn misnamed(save: &Path) -> (usize, BTreeMap<String, Vec<u8>>) {
    let opened = Save::open(save, &Options::default()).unwrap();
    let mut found = 0;
    let options = check::Options::default().level(check::Level::Semantic);
    check::run(&opened, &options, |finding| found += usize::from(finding.code() == Code::RegionMisnamed));
    let copy = tempfile::tempdir().unwrap();
    mend(save, &copy.path().join("copy"), false);
    (found, region_files(&copy.path().join("copy")))
}

#[test]
fn region_files_with_the_names_of_others_get_their_own() {
    let regions = [[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1]];
    for (ground, seed) in [(Ground::Smooth, 61), (Ground::Blocky, 62)] {
        let dir = tempfile::tempdir().unwrap();
        let world = dir.path().join("world");
        Terrain::small(ground, seed).write(&world, &regions);
        let right = region_files(&world);
        assert_eq!(misnamed(&world).0, 0, "{ground:?}: as they were written");
        let path = |[x, y, z]: [i32; 3]| world.join(format!("regions/lod0/r.{x}.{y}.{z}.vxr"));
        let away = world.join("away");
        let exchange = |a: &Path, b: &Path| {
            fs::rename(a, &away).unwrap();
            fs::rename(b, a).unwrap();
            fs::rename(&away, b).unwrap();
        };
        for (k, a) in regions.iter().enumerate() {
            for b in &regions[k + 1..] {
                exchange(&path(*a), &path(*b));
                let (found, copy) = misnamed(&world);
                exchange(&path(*a), &path(*b));
                assert_eq!(found, 2, "{ground:?}: {a:?} and {b:?}");
                assert!(copy == right, "{ground:?}: {a:?} and {b:?} are not put right");
            }
        }
        let far = path([7, 0, 7]);
        fs::rename(path([1, 0, 1]), &far).unwrap();
        let (found, copy) = misnamed(&world);
        assert!(found == 1 && copy == right, "{ground:?}: one file far away");
    }
}
