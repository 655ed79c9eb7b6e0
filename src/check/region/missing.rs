//! Blocks, LODs and region files that are missing as a whole.
//!
//! A region file is missing if a coarser LOD has blocks where a finer one has no file.
//!
//! The engine makes the blocks of a LOD from those of the next finer one, so each of them has children. A game that stores
//! what its generator makes may keep far blocks in coarse LODs only; so a file is called missing only where every
//! coarse block whose children would be in a file that is there has one.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use crate::bytes::Span;
use crate::check::Finding;
use crate::damage::{Code, Damage, Value};
use crate::godot::region::name_of;
use crate::save::{Forest, ForestLayout, Kind, RegionFile, Save, Scratch};

/// Coarse blocks with children that must be there before a file can be called missing, and coarse blocks without
/// children that such a file leaves.
const LEAST: usize = 4;

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

/// The region files of a save that are missing.
pub(crate) fn missing(save: &Save) -> Vec<Finding> {
    let forests = save.forests.iter().filter(|forest| forest.kind == Kind::Forest);
    forests.filter(|forest| forest.regions.iter().any(|file| file.lod > 0)).flat_map(|f| of_forest(save, f)).collect()
}

fn of_forest(save: &Save, forest: &Forest) -> Vec<Finding> {
    let files: HashSet<(u8, [i32; 3])> = forest.regions.iter().map(|file| (file.lod, file.position)).collect();
    let (mut blocks, mut sizes) = (HashSet::new(), HashSet::new());
    for file in &forest.regions {
        // What is wrong with a file is reported elsewhere.
        let Ok(Some(mut region)) = save.region(forest, file) else { continue };
        let Ok(slots) = region.slots(&mut Scratch::default()) else { continue };
        sizes.insert(region.header.format.region_size.map(i32::from));
        let positions = region.entries.iter().filter_map(|listed| region.block_position(listed.slot, slots));
        blocks.extend(positions.map(|position| (file.lod, position)));
    }
    let mut size = sizes.into_iter();
    // Children are in the files that a size of regions says, so there must be one size.
    let (Some(size), None) = (size.next(), size.next()) else { return Vec::new() };
    let (mut with, mut without) = (0usize, 0usize);
    let mut missing: HashMap<(u8, [i32; 3]), usize> = HashMap::new();
    for (lod, position) in blocks.iter().filter(|(lod, _)| *lod > 0) {
        let first = position.map(|v| v.saturating_mul(2));
        let mut children = (0..8).map(|i| [0, 1, 2].map(|axis| first[axis].saturating_add(i >> axis & 1)));
        let region = [0, 1, 2].map(|axis| first[axis].div_euclid(size[axis].max(1)));
        if !files.contains(&(lod - 1, region)) {
            *missing.entry((lod - 1, region)).or_default() += 1;
        } else if children.any(|child| blocks.contains(&(lod - 1, child))) {
            with += 1;
        } else {
            without += 1;
        }
    }
    if without > 0 || with < LEAST {
        return Vec::new();
    }
    // A hole of few blocks says something if it is all that the region can have.
    let all = size.iter().map(|n| usize::try_from(n / 2).unwrap_or(usize::MAX)).fold(1, usize::saturating_mul);
    let mut missing: Vec<_> =
        missing.into_iter().filter(|(_, count)| *count >= LEAST || (all > 1 && *count == all)).collect();
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
