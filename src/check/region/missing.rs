//! Blocks, LODs and region files that are missing as a whole.
//!
//! A region file is missing if a coarser LOD has blocks where a finer one has no file.
//!
//! The engine makes the blocks of a LOD from those of the next finer one, so each of them has children. A game that stores
//! what its generator makes may keep far blocks in coarse LODs only; so a file is called missing only where every
//! coarse block whose children would be in a file that is there has one, or where the hole ends exactly at the borders of
//! its region: the files on several sides have blocks up to there, and so have coarse blocks beside those without children.
//! Where each LOD reaches further than the finer one, coarse blocks without children are on all sides. There a file is missing if
//! the seven other regions at one of its corners have blocks, and the sides at that corner show one box of them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::bytes::Span;
use crate::check::Finding;
use crate::damage::{Code, Damage, Value};
use crate::godot::region::name_of;
use crate::parallel;
use crate::recover::cluster::most_blocks;
use crate::recover::solver::step;
use crate::save::{Forest, ForestLayout, Kind, RegionFile, Save, Scratch};

/// Coarse blocks with children that must be there before a file can be called missing, and coarse blocks without
/// children that such a file leaves.
const LEAST: usize = 4;

/// The least coarse blocks of a box that the sides of a hole show.
const LEAST_BOX: u32 = 4;

/// Sides on which other files have blocks up to a hole. A box of blocks around a player may end at a border, but has one side there.
const LEAST_SIDES: usize = 2;

/// Sides on which other files have blocks up to a hole of less than [`LEAST`] blocks.
const SIDES_OF_FEW: usize = 3;

/// Blocks along each axis of a region from which on a corner says something. The area in which a player was is a box of blocks, or
/// several. Three of their borders seldom fall on those of one region, unless regions are small.
const LEAST_SIZE: i32 = 8;

/// Files whose tables are read before what they say is put together.
const WINDOW: usize = 256;

/// Entries from which on the table of a region is large.
const LARGE: u64 = 1 << 15;

/// Forests without a block, and LODs without a region file or block file below one that has blocks.
pub(crate) fn absent(save: &Save) -> Vec<Finding> {
    save.forests
        .iter()
        .filter(|forest| match forest.kind {
            Kind::Forest => true,
            // Not single files of blocks.
            Kind::BlockFiles => {
                forest.meta.is_some() && forest.kind.meta_name().is_some_and(|name| forest.dir.join(name).is_file())
            }
            _ => false,
        })
        .flat_map(|forest| absent_in(save, forest))
        .collect()
}

fn absent_in(save: &Save, forest: &Forest) -> Vec<Finding> {
    let finding = |path: &Path, damage| Finding::of_file(Arc::from(save.shown(path)), damage, None);
    // A file that is cut off, or has bytes behind its table, holds or held blocks.
    let may_have = |file: &RegionFile| match &file.header {
        None => true,
        Some(header) => file.len != header.table.end || !file.damage.is_empty(),
    };
    let of_blocks = forest.kind == Kind::BlockFiles;
    if !of_blocks && !forest.regions.iter().any(may_have) {
        let damage = Damage::new(Code::ForestEmpty, Span::default(), "blocks of the save");
        return vec![finding(&forest.dir, damage.found(Value::Number(forest.regions.len() as u64)))];
    }
    let lods: BTreeSet<u8> = forest.regions.iter().filter(|file| file.len > 0).map(|file| file.lod).collect();
    let Some(top) = lods.last().copied() else { return Vec::new() };
    // Engines that count LODs save all of them; others may have saved none between two.
    let counted = forest.meta.as_ref().is_some_and(|meta| meta.lod_count.is_some());
    let absent = || (0..top).filter(|lod| !lods.contains(lod));
    let below = |lod| Some((lod, lods.range(lod..).next()?));
    let gap = absent().find(|lod| *lod == 0 || counted).and_then(below);
    // A higher LOD shows that one between was there, or that a game saved none of it.
    let between = absent().filter(|lod| *lod > 0 && !counted).filter_map(below);
    let found = |(code, (lod, above)): (Code, (u8, &u8))| {
        let field = match (code, of_blocks) {
            (Code::LodMissing, true) => "files of a LOD between others",
            (Code::LodMissing, false) => "region files of a LOD between others",
            (_, true) => "files of the LOD",
            (_, false) => "region files of the LOD",
        };
        let damage = Damage::new(code, Span::default(), field)
            .expected(Value::Number(u64::from(*above)))
            .found(Value::Number(lod.into()));
        let above = match (of_blocks, forest.layout) {
            (true, _) => "blocks/",
            (false, ForestLayout::Engine) => "regions/",
            (false, ForestLayout::Port) => "",
        };
        finding(&forest.dir.join(format!("{above}lod{lod}")), damage)
    };
    let gaps = gap.map(|gap| (Code::LodGap, gap)).into_iter();
    gaps.chain(between.map(|between| (Code::LodMissing, between))).map(found).collect()
}

/// The table of a region file that is written anew.
pub(crate) struct WrittenTable {
    /// Blocks along each axis of a region.
    pub region_size: [i32; 3],
    /// The positions that it has.
    pub positions: Vec<[i32; 3]>,
}

/// The region files of a save that are missing.
pub(crate) fn missing(save: &Save) -> Vec<Finding> {
    missing_in_copy(save, &HashMap::new())
}

/// The region files that are missing in a copy of a save, with the tables of those that are written anew by their paths in the save.
pub(crate) fn missing_in_copy(save: &Save, written: &HashMap<PathBuf, WrittenTable>) -> Vec<Finding> {
    let forests = save.forests.iter().filter(|forest| forest.kind == Kind::Forest);
    let forests = forests.filter(|forest| forest.regions.iter().any(|file| file.lod > 0));
    forests.flat_map(|forest| of_forest(save, forest, written)).collect()
}

/// What the tables of a forest say of the LODs of its blocks.
#[derive(Default)]
struct Tables {
    /// The region size of each file that can be read.
    sizes: HashSet<[i32; 3]>,
    /// Blocks of coarser LODs than the finest.
    coarse: Vec<(u8, [i32; 3])>,
    /// Places of the blocks of the next coarser LOD that have children, in order.
    parents: Vec<(u8, [i32; 3])>,
    /// The sides of regions at which they have blocks: LOD, region, and twice the axis, plus 1 for the upper side.
    sides: HashSet<(u8, [i32; 3], usize)>,
}

impl Tables {
    fn read(save: &Save, forest: &Forest, written: &HashMap<PathBuf, WrittenTable>) -> Self {
        let mut all = Self::default();
        let read = |file: &RegionFile| match written.get(&forest.dir.join(&file.name)) {
            Some(table) => Self::of_positions(file, table.region_size, &table.positions),
            None => Self::of_file(save, forest, file),
        };
        // Threads do not hold several large tables in memory.
        let (small, large): (Vec<_>, Vec<_>) = forest.regions.iter().partition(|file| most_blocks(file) < LARGE);
        for window in small.chunks(WINDOW) {
            parallel::filter_map(window, |file| read(file)).into_iter().for_each(|file| all.add(file));
        }
        large.into_iter().filter_map(read).for_each(|file| all.add(file));
        all.coarse.sort_unstable();
        all.parents.sort_unstable();
        all.parents.dedup();
        all
    }

    fn add(&mut self, file: Self) {
        self.sizes.extend(file.sizes);
        self.coarse.extend(file.coarse);
        self.parents.extend(file.parents);
        self.sides.extend(file.sides);
    }

    /// `None` for a file that cannot be read: what is wrong with it is reported elsewhere.
    fn of_file(save: &Save, forest: &Forest, file: &RegionFile) -> Option<Self> {
        let mut region = save.region(forest, file).ok()??;
        let slots = region.slots(&mut Scratch::default()).ok()?;
        let positions = region.entries.iter().filter_map(|listed| region.block_position(listed.slot, slots));
        let positions: Vec<[i32; 3]> = positions.collect();
        Self::of_positions(file, region.header.format.region_size.map(i32::from), &positions)
    }

    /// Those of the blocks of a file.
    fn of_positions(file: &RegionFile, size: [i32; 3], positions: &[[i32; 3]]) -> Option<Self> {
        let coarse = positions.iter().filter(|_| file.lod > 0).map(|at| (file.lod, *at)).collect();
        let above = file.lod.checked_add(1)?;
        let mut parents: Vec<_> = positions.iter().map(|at| (above, at.map(|n| n >> 1))).collect();
        parents.sort_unstable();
        parents.dedup();
        let mut sides = HashSet::new();
        for at in positions {
            for axis in 0..3 {
                let within = at[axis].rem_euclid(size[axis].max(1));
                let ends = [within == 0, within + 1 == size[axis]];
                sides.extend((0..2).filter(|&end| ends[end]).map(|end| (file.lod, file.position, 2 * axis + end)));
            }
        }
        Some(Self { sizes: HashSet::from([size]), coarse, parents, sides })
    }

    /// Whether blocks end exactly at the borders of a region without a file; `hole` are the coarse blocks whose children would be in
    /// it.
    fn ends_at(&self, lod: u8, region: [i32; 3], hole: &[[i32; 3]], size: [i32; 3]) -> bool {
        let coarse = lod + 1;
        let is_childless_beside = |at: &[i32; 3]| {
            let is_childless = |other: &[i32; 3]| {
                self.coarse.binary_search(&(coarse, *other)).is_ok()
                    && self.parents.binary_search(&(coarse, *other)).is_err()
            };
            let others = (0..6).filter_map(|side| beside(*at, side));
            others.filter(|other| children_region(*other, size) != region).any(|other| is_childless(&other))
        };
        self.count_sides(lod, region) >= LEAST_SIDES && !hole.iter().any(is_childless_beside)
    }

    /// Whether a region has blocks up to the side of another one that is without a file.
    fn touches(&self, lod: u8, region: [i32; 3], side: usize) -> bool {
        // The side of the other region that is towards this one.
        beside(region, side).is_some_and(|at| self.sides.contains(&(lod, at, side ^ 1)))
    }

    /// On how many sides of a region without a file other regions have blocks up to there.
    fn count_sides(&self, lod: u8, region: [i32; 3]) -> usize {
        (0..6).filter(|side| self.touches(lod, region, *side)).count()
    }

    /// Whether a region without a file is the corner that a box of blocks lacks; `hole` as above.
    fn is_corner(&self, lod: u8, region: [i32; 3], hole: &[[i32; 3]], size: [i32; 3]) -> bool {
        let is_large = size.iter().all(|n| *n >= LEAST_SIZE && n % 2 == 0);
        let ends = |corner: usize| [0, 1, 2].map(|axis| (corner >> axis) & 1);
        is_large && (0..8).any(|corner| self.is_corner_at(lod, region, hole, size, ends(corner)))
    }

    /// The same for one corner of the region, which is given by the ends of the axes that it is at: 0 for the lower, 1 for the upper.
    fn is_corner_at(&self, lod: u8, region: [i32; 3], hole: &[[i32; 3]], size: [i32; 3], ends: [usize; 3]) -> bool {
        let sides = [0, 1, 2].map(|axis| 2 * axis + ends[axis]);
        let is_at_corner = |at: &&[i32; 3]| {
            let within = |axis: usize| at[axis].saturating_mul(2).rem_euclid(size[axis]);
            (0..3).all(|axis| within(axis) == [0, size[axis] - 2][ends[axis]])
        };
        let Some(&corner) = hole.iter().find(is_at_corner) else { return false };
        let has_children = |at: &[i32; 3]| {
            let place = (lod + 1, *at);
            self.coarse.binary_search(&place).is_ok() && self.parents.binary_search(&place).is_ok()
        };
        let mut others = (1..8usize).map(|other| {
            let mut axes = (0..3).filter(|axis| (other >> axis) & 1 == 1);
            axes.try_fold(corner, |at, axis| beside(at, sides[axis]))
        });
        let touch = sides.iter().all(|side| self.touches(lod, region, *side));
        if !touch || !others.all(|at| at.is_some_and(|at| has_children(&at))) {
            return false;
        }
        // The blocks of the hole that have neighbours with children on a side are a rectangle: its lengths along each axis.
        let lengths = |axis: usize| {
            let is_beside = |at: &&[i32; 3]| {
                at[axis] == corner[axis] && beside(**at, sides[axis]).is_some_and(|other| has_children(&other))
            };
            let (mut lengths, mut count) = ([1u32; 3], 0u32);
            for at in hole.iter().filter(is_beside) {
                lengths = [0, 1, 2].map(|other| lengths[other].max(at[other].abs_diff(corner[other]) + 1));
                count += 1;
            }
            (lengths.iter().product::<u32>() == count).then_some(lengths)
        };
        let (Some(x), Some(y), Some(z)) = (lengths(0), lengths(1), lengths(2)) else { return false };
        let is_one_box = x[1] == z[1] && x[2] == y[2] && y[0] == z[0];
        is_one_box && y[0] * x[1] * x[2] >= LEAST_BOX
    }
}

/// The position beside another one on a side.
fn beside(at: [i32; 3], side: usize) -> Option<[i32; 3]> {
    step(at, side / 2, [-1, 1][side % 2])
}

/// The region of the next finer LOD that the children of a block are in.
fn children_region(position: [i32; 3], size: [i32; 3]) -> [i32; 3] {
    let first = position.map(|v| v.saturating_mul(2));
    [0, 1, 2].map(|axis| first[axis].div_euclid(size[axis].max(1)))
}

fn of_forest(save: &Save, forest: &Forest, written: &HashMap<PathBuf, WrittenTable>) -> Vec<Finding> {
    let files: HashSet<(u8, [i32; 3])> = forest.regions.iter().map(|file| (file.lod, file.position)).collect();
    let tables = Tables::read(save, forest, written);
    let mut size = tables.sizes.iter();
    // Children are in the files that a size of regions says, so there must be one size.
    let (Some(&size), None) = (size.next(), size.next()) else { return Vec::new() };
    let (mut with, mut without) = (0usize, 0usize);
    let mut missing: HashMap<(u8, [i32; 3]), Vec<[i32; 3]>> = HashMap::new();
    for &(lod, position) in &tables.coarse {
        let region = children_region(position, size);
        if !files.contains(&(lod - 1, region)) {
            missing.entry((lod - 1, region)).or_default().push(position);
        } else if tables.parents.binary_search(&(lod, position)).is_ok() {
            with += 1;
        } else {
            without += 1;
        }
    }
    let all_have_children = without == 0 && with >= LEAST;
    // A hole of few blocks says something if it is all that the region can have.
    let all = size.iter().map(|n| usize::try_from(n / 2).unwrap_or(usize::MAX)).fold(1, usize::saturating_mul);
    let is_missing = |((lod, region), hole): &(&(u8, [i32; 3]), &Vec<[i32; 3]>)| {
        let is_enough = hole.len() >= LEAST || (all > 1 && hole.len() == all);
        match is_enough {
            true => {
                all_have_children
                    || tables.ends_at(*lod, *region, hole, size)
                    || tables.is_corner(*lod, *region, hole, size)
            }
            false => all_have_children && tables.count_sides(*lod, *region) >= SIDES_OF_FEW,
        }
    };
    let missing = missing.iter().filter(is_missing).map(|(at, hole)| (*at, hole.len()));
    let mut missing: Vec<((u8, [i32; 3]), usize)> = missing.collect();
    missing.sort_unstable();
    let finding = |((lod, region), count): ((u8, [i32; 3]), usize)| {
        let path = forest.dir.join(format!("regions/lod{lod}/{}", name_of(region)));
        let damage =
            Damage::new(Code::RegionMissing, Span::default(), "blocks of the next coarser LOD without children");
        let damage = damage.found(Value::Number(count as u64));
        Finding::of_file(Arc::from(save.shown(&path)), damage, None)
    };
    missing.into_iter().map(finding).collect()
}
