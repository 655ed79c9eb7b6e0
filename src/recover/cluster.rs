//! Which regions of a forest are solved together, and the sides of which blocks are needed for it.
//!
//! Small saves are solved as a whole. In others each damaged region is solved on its own, or with damaged ones beside it
//! as long as they have few blocks, so that memory does not grow with the save. Of the regions beside a cluster only the
//! blocks at its border are kept, and of a large region only those near what is damaged, with some others to learn from.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;

use crate::godot::region::{Entry, Format};
use crate::godot::slots::SlotFormula;
use crate::recover::foreign_table::{Sectors, TableOf};
use crate::recover::region::Case;
use crate::recover::survey;
use crate::recover::walk::{self, Wanted};
use crate::save::{Forest, Region, RegionFile, Save, SlotPositions};
use crate::source::Source;

/// Blocks up to which a save is solved as a whole, and one region is taken with the next.
const FEW: u64 = 4096;

/// Blocks that a region counts as at least: even a region of one block takes memory while it is solved.
const LEAST: u64 = 32;

/// Files that are open at once where all regions of a save are solved together although none is damaged.
const FEW_FILES: usize = 32;

/// Blocks of a region up to which the sides of all are kept.
const ALL: usize = 1024;

/// Blocks in whole places whose sides are kept to learn from.
const LEARN: usize = 2048;

/// Blocks of a neighbouring region whose sides are kept.
const BORDER: usize = 2048;

/// Blocks from the border of a cluster up to which sides are kept: this gives pairs along all axes to learn from.
const DEPTH: i64 = 2;

/// Bytes that the sides of the blocks of one region may take, and of those next to it.
const SOLVED_BYTES: usize = 40 << 20;
const NEAR_BYTES: usize = 2 << 20;

/// A region whose table does not fit its sectors, after a first walk.
#[derive(Clone, Debug)]
pub struct Broken {
    /// Its whole blocks.
    pub blocks: usize,
    /// The first sectors of the blocks whose sides are needed to solve it; all if it is not known.
    pub needed: Option<HashSet<u32>>,
    /// What is compared with other regions, if its table is not its own.
    pub sectors: Option<Sectors>,
    /// The region that has its table.
    pub table_of: Option<TableOf>,
}

/// The blocks of a region whose sides are kept.
#[derive(Clone, Copy, Debug)]
pub enum Sides<'a> {
    /// None.
    None,
    /// Those that are needed to solve it.
    Of(Option<&'a Broken>),
    /// Those at the border of other regions.
    AtBorder(&'a [Extent]),
}

/// A region of a forest before it is solved.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// Its LOD and position.
    pub at: (u8, [i32; 3]),
    /// Whether its table does not fit its sectors.
    pub broken: bool,
    /// Whether blocks of it seem to be exchanged although its table fits.
    pub has_exchanged: bool,
    /// Its blocks, at most.
    pub blocks: u64,
}

/// Regions that are solved together, by their indices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cluster {
    /// The regions that are solved.
    pub solved: Vec<usize>,
    /// Regions beside them, of which only the blocks at the border are needed.
    pub near: Vec<usize>,
}

impl Broken {
    /// What a walk without sides shows of a region of this layout.
    #[must_use]
    pub fn new(case: &Case, format: Format) -> Self {
        let sectors = Sectors::new(case, format);
        Self { blocks: case.walk.blocks.len(), needed: needed(case), sectors, table_of: None }
    }

    /// What a walk without sides shows of a region that was read by the table of another one.
    #[must_use]
    pub fn by_table_of(case: &Case, table: TableOf) -> Self {
        Self { blocks: case.walk.blocks.len(), needed: needed(case), sectors: None, table_of: Some(table) }
    }
}

impl Broken {
    /// Whether its blocks are placed by the table of another region, to which they may as well belong.
    #[must_use]
    pub fn has_other_table(&self) -> bool {
        self.table_of.is_some_and(|table| !table.is_copy)
    }
}

impl Member {
    /// A region file; `broken` if its table does not fit its sectors, `has_exchanged` if blocks of it seem to be exchanged.
    #[must_use]
    pub fn new(file: &RegionFile, broken: Option<&Broken>, has_exchanged: bool) -> Self {
        Self {
            at: (file.lod, file.position),
            broken: broken.is_some(),
            has_exchanged,
            blocks: broken.map_or_else(|| most_blocks(file), |broken| broken.blocks as u64),
        }
    }
}

/// The most blocks that a region file can have.
#[must_use]
pub fn most_blocks(file: &RegionFile) -> u64 {
    let Some(header) = &file.header else { return 0 };
    let volume: u64 = header.format.region_size.iter().map(|&n| u64::from(n)).product();
    volume.min(file.len / u64::from(header.format.sector_size).max(1))
}

/// Whether a forest has region files of several LODs, whose blocks are compared with each other.
#[must_use]
pub fn has_lods(forest: &Forest) -> bool {
    let ends = forest.regions.first().zip(forest.regions.last());
    ends.is_some_and(|(first, last)| first.lod != last.lod)
}

/// Walks over a region and keeps the sides of some of its blocks; `lods` says whether blocks of other LODs are compared with them.
///
/// # Errors
/// I/O errors.
pub fn read<S: Source>(
    save: &Save,
    region: &Region<S>,
    slots: SlotFormula,
    sides: Sides<'_>,
    lods: bool,
) -> io::Result<Case> {
    let at_border;
    let (faces, face_bytes) = match sides {
        Sides::None => (Wanted::None, 0),
        Sides::Of(Some(Broken { needed: Some(needed), .. })) => (Wanted::At(needed), SOLVED_BYTES),
        Sides::Of(_) => (Wanted::All, SOLVED_BYTES),
        Sides::AtBorder(extents) => {
            let shape = region.slot_positions(slots);
            let entries: Vec<_> = region.entries.iter().map(|listed| (listed.slot, listed.entry)).collect();
            at_border = find_border(region.lod, &shape, &entries, extents);
            (Wanted::At(&at_border), NEAR_BYTES)
        }
    };
    let options = walk::Options { faces, face_bytes, lods, ..walk::Options::PLAIN };
    Case::read(region, slots, &save.options.limits, options)
}

/// As [`clusters`], for so many regions, given by their numbers. They are not listed if nothing of a large save is damaged.
pub fn clusters_of(regions: usize, member: impl Fn(usize) -> Member) -> Vec<Cluster> {
    let is_calm = |member: Member| !member.broken && !member.has_exchanged;
    if regions > FEW_FILES && (0..regions).all(|i| is_calm(member(i))) {
        return Vec::new();
    }
    clusters(&(0..regions).map(member).collect::<Vec<Member>>())
}

/// Puts regions into clusters. In a small save all regions are solved together, since seams may contradict tables that fit their
/// sectors. In a large save a first look has to show that, and the regions beside damaged ones are solved with them.
#[must_use]
pub fn clusters(members: &[Member]) -> Vec<Cluster> {
    let few = members.len() <= FEW_FILES && members.iter().map(|member| member.blocks).sum::<u64>() <= ALL as u64;
    if few && !members.is_empty() {
        return vec![Cluster { solved: (0..members.len()).collect(), near: Vec::new() }];
    }
    let broken: Vec<usize> = (0..members.len()).filter(|&i| members[i].broken || members[i].has_exchanged).collect();
    if broken.is_empty() {
        return Vec::new();
    }
    let places = Places::new(members);
    let all: BTreeSet<usize> = broken.iter().flat_map(|&i| places.find_beside(members[i].at)).collect();
    let blocks = |i: usize| members[i].blocks.max(LEAST);
    if all.iter().map(|&i| blocks(i)).sum::<u64>() <= FEW {
        return vec![Cluster { solved: all.into_iter().collect(), near: Vec::new() }];
    }
    // Ordered by place, then by index if two files claim one place.
    let mut left: BTreeSet<((u8, [i32; 3]), usize)> = broken.iter().map(|&i| (members[i].at, i)).collect();
    let mut clusters = Vec::new();
    while let Some(first) = left.pop_first() {
        let mut solved = BTreeSet::from([first]);
        let mut room = FEW.saturating_sub(blocks(first.1));
        let beside = |at| places.find_beside(at).map(|i| (members[i].at, i));
        let mut asked: BTreeSet<((u8, [i32; 3]), usize)> = beside(first.0).filter(|of| left.contains(of)).collect();
        while let Some(next) = asked.pop_first() {
            if blocks(next.1) <= room {
                room -= blocks(next.1);
                left.remove(&next);
                solved.insert(next);
                asked.extend(beside(next.0).filter(|of| left.contains(of)));
            }
        }
        let near: BTreeSet<usize> =
            solved.iter().flat_map(|of| beside(of.0)).filter(|of| !solved.contains(of)).map(|(_, i)| i).collect();
        let solved = solved.into_iter().map(|(_, i)| i).collect();
        clusters.push(Cluster { solved, near: near.into_iter().collect() });
    }
    clusters
}

/// Regions by their LOD and position, in this order. A list takes less memory than a table of hashes.
struct Places(Vec<((u8, [i32; 3]), usize)>);

impl Places {
    fn new(members: &[Member]) -> Self {
        let mut places: Vec<_> = members.iter().enumerate().map(|(i, member)| (member.at, i)).collect();
        places.sort_unstable();
        Self(places)
    }

    /// The regions at a place.
    fn at(&self, place: (u8, [i32; 3])) -> impl Iterator<Item = usize> {
        let from = self.0.partition_point(|(at, _)| *at < place);
        self.0.iter().skip(from).take_while(move |(at, _)| *at == place).map(|(_, i)| *i)
    }

    /// Regions whose blocks say something about those of a region: that region, its neighbours, and those of the next LODs at
    /// the same place.
    fn find_beside(&self, (lod, at): (u8, [i32; 3])) -> impl Iterator<Item = usize> {
        let beside = (0..27).map(move |k| {
            let step = [k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1];
            (Some(lod), std::array::from_fn(|axis| at[axis].checked_add(step[axis])))
        });
        let children = (0..8).map(move |k| {
            let double = |axis: usize| at[axis].checked_mul(2)?.checked_add(k >> axis & 1);
            (lod.checked_sub(1), std::array::from_fn(double))
        });
        let parent = std::iter::once((lod.checked_add(1), at.map(|v| Some(v.div_euclid(2)))));
        let place = |(lod, at): (Option<u8>, [Option<i32>; 3])| Some((lod?, [at[0]?, at[1]?, at[2]?]));
        beside.chain(children).chain(parent).filter_map(place).flat_map(|at| self.at(at))
    }
}

/// A region that is solved, as its neighbours see it: its LOD, and its first block and the one after its last, in blocks
/// of its LOD.
pub type Extent = (u8, [i64; 3], [i64; 3]);

/// The extent of a region file, if its header can be read.
#[must_use]
pub fn extent_of(file: &RegionFile) -> Option<Extent> {
    file.header.as_ref().map(|header| extent(file.lod, file.position, header.format.region_size))
}

/// The extent of a region.
fn extent(lod: u8, region: [i32; 3], size: [u16; 3]) -> Extent {
    let from = std::array::from_fn(|axis| i64::from(region[axis]) * i64::from(size[axis]));
    let to = std::array::from_fn(|axis| from[axis] + i64::from(size[axis]));
    (lod, from, to)
}

/// The first sectors of those blocks of a region that are at the border of regions that are solved, or are their parents
/// or children.
fn find_border(lod: u8, shape: &SlotPositions, entries: &[(u32, Entry)], extents: &[Extent]) -> HashSet<u32> {
    let near = |position: [i32; 3]| {
        extents.iter().any(|&(of, from, to)| {
            let position = position.map(i64::from);
            let (position, reach) = match i16::from(lod) - i16::from(of) {
                0 => (position, DEPTH),
                1 => (position.map(|v| v * 2), 1),
                -1 => (position.map(|v| v.div_euclid(2)), 0),
                _ => return false,
            };
            let off = |axis: usize| (from[axis] - position[axis]).max(position[axis] - to[axis] + 1).max(0);
            (0..3).map(off).sum::<i64>() <= reach
        })
    };
    let found: Vec<u32> = entries
        .iter()
        .filter(|(slot, _)| shape.position(*slot).is_some_and(near))
        .map(|(_, entry)| entry.first())
        .collect();
    // Each block of the next LOD has eight children: keeping the sides of all would take too much memory.
    found.iter().copied().take(if found.len() > 2 * BORDER { BORDER } else { found.len() }).collect()
}

/// The first sectors of the blocks whose sides are needed to place the unowned blocks of a region: these, those beside
/// slots that are empty or damaged, and some to learn from. `None` for all.
fn needed(case: &Case) -> Option<HashSet<u32>> {
    let blocks = &case.walk.blocks;
    if blocks.len() <= ALL || case.gap != 0 || case.shape.formula != SlotFormula::Euclidean {
        return None;
    }
    let anchors = survey::anchors_of_table(case)?;
    let owned: HashSet<usize> = anchors.iter().map(|(_, block)| *block).collect();
    if owned.len() == blocks.len() {
        return None;
    }
    let at = |slot: u32| case.shape.position(slot);
    let places: HashMap<[i32; 3], usize> = anchors.iter().filter_map(|&(slot, b)| Some((at(slot)?, b))).collect();
    let is_edge = |position: [i32; 3]| {
        (0..6).any(|k| {
            let mut beside = position;
            let (axis, step) = (k / 2, if k % 2 == 0 { -1 } else { 1 });
            let size = i32::from(case.shape.size[axis]).max(1);
            beside[axis] = beside[axis].saturating_add(step);
            beside[axis].div_euclid(size) == position[axis].div_euclid(size) && !places.contains_key(&beside)
        })
    };
    // Whole groups of neighbours, since pairs are what is learned from.
    let groups = (places.len() / LEARN).max(1) as u64;
    let is_drawn = |position: [i32; 3]| {
        let group = position.map(|v| v.div_euclid(4) as u32);
        let mixed = group.iter().fold(0u64, |sum, &v| (sum ^ u64::from(v)).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        (mixed >> 32).is_multiple_of(groups)
    };
    let loose = (0..blocks.len()).filter(|b| !owned.contains(b));
    let chosen = places.iter().filter(|(position, _)| is_edge(**position) || is_drawn(**position)).map(|(_, b)| *b);
    Some(loose.chain(chosen).map(|b| blocks[b].first).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(x: i32, broken: bool, blocks: u64) -> Member {
        Member { at: (0, [x, 0, 0]), broken, has_exchanged: false, blocks }
    }

    #[test]
    fn small_saves_are_solved_as_a_whole_and_others_beside_what_is_damaged() {
        let all = [member(0, true, 64), member(1, false, 64), member(2, false, 64)];
        let whole = |n: usize| Cluster { solved: (0..n).collect(), near: Vec::new() };
        assert_eq!(clusters(&all), [whole(3)], "seams may contradict tables that fit, also far from the damage");
        assert_eq!(clusters(&all[1..]), [whole(2)], "and where nothing is damaged");
        let more = [member(0, true, 64), member(1, false, 64), member(2, false, 1000)];
        assert_eq!(clusters(&more), [whole(2)], "the neighbour of what is damaged");
        let mut large = [member(0, false, 1000), member(1, false, 64)];
        assert_eq!(clusters(&large), [], "not in a large save");
        large[0].has_exchanged = true;
        assert_eq!(clusters(&large).len(), 1, "but where a first look shows it");
    }

    #[test]
    fn full_regions_are_solved_one_by_one() {
        let all = [member(0, true, 4096), member(1, true, 4096), member(2, false, 4096), member(9, true, 5000)];
        let expected = [
            Cluster { solved: vec![0], near: vec![1] },
            Cluster { solved: vec![1], near: vec![0, 2] },
            Cluster { solved: vec![3], near: Vec::new() },
        ];
        assert_eq!(clusters(&all), expected);
        let small = [member(0, true, 2000), member(1, true, 2000), member(2, true, 2000)];
        let expected = [Cluster { solved: vec![0, 1], near: vec![2] }, Cluster { solved: vec![2], near: vec![1] }];
        assert_eq!(clusters(&small), expected);
    }

    #[test]
    fn many_regions_of_few_blocks_are_solved_in_parts_with_what_is_beside_each() {
        let all: Vec<Member> = (0..10_000).map(|x| member(x, true, 1)).collect();
        let found = clusters(&all);
        assert!(found.iter().all(|of| of.solved.len() <= 128 && of.near.len() <= 2), "{found:?}");
        assert_eq!(found.iter().map(|of| of.solved.len()).sum::<usize>(), all.len());
        assert_eq!(found[1].near, [127, 256], "both neighbours of a part");
    }

    #[test]
    fn a_region_is_beside_its_parent_and_its_children() {
        let at = |lod: u8, at: [i32; 3]| Member { at: (lod, at), ..member(0, false, 1) };
        let all =
            [at(1, [-1, 0, 0]), at(0, [-2, 1, 0]), at(0, [-3, 1, 0]), at(2, [-1, 0, 0]), at(2, [0; 3]), at(1, [0; 3])];
        let found: BTreeSet<usize> = Places::new(&all).find_beside(all[0].at).collect();
        assert_eq!(found, BTreeSet::from([0, 1, 3, 5]));
    }

    #[test]
    fn only_blocks_at_the_border_of_a_neighbour_are_kept() {
        let shape = SlotPositions { region: [1, 0, 0], size: [16; 3], formula: SlotFormula::Euclidean };
        let entries: Vec<(u32, Entry)> = (0..4096).map(|slot| (slot, Entry(slot << 8 | 1))).collect();
        let kept = find_border(0, &shape, &entries, &[extent(0, [0; 3], [16; 3])]);
        assert_eq!(kept.len(), 2 * 256);
        let parents =
            find_border(1, &SlotPositions { region: [0; 3], ..shape }, &entries, &[extent(0, [1, 0, 0], [16; 3])]);
        // Eight blocks along each axis, and those next to them.
        assert!((512..1000).contains(&parents.len()), "{}", parents.len());
    }
}
