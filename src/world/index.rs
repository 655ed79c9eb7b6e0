//! Where the blocks of a LOD are.

use rayon::prelude::*;

use crate::damage::Level;
use crate::godot::slots::Slots;
use crate::save::{Forest, RegionFile, Save, Scratch};

/// Where a block is: its position in blocks of its LOD, and its place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// Its position.
    pub position: [i32; 3],
    pub(super) file: u32,
    pub(super) entry: u32,
}

/// A file, or a part of it, that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file, below the save, made printable.
    pub file: String,
    /// Why, in words.
    pub why: String,
}

/// The blocks of a LOD, in the order ZXY of their positions: y runs fastest.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// The LOD.
    pub lod: u8,
    /// The blocks, each position once.
    pub blocks: Vec<At>,
    /// Entries that were left out because another one has their position.
    pub twice: u64,
    /// What could not be read.
    pub faults: Vec<Fault>,
}

/// Blocks are in this order of their positions: z, then x, then y.
#[must_use]
pub const fn order([x, y, z]: [i32; 3]) -> [i32; 3] {
    [z, x, y]
}

impl Index {
    fn new(lod: u8, mut blocks: Vec<At>, faults: Vec<Fault>) -> Self {
        blocks.sort_by_key(|at| order(at.position));
        let all = blocks.len();
        blocks.dedup_by_key(|at| at.position);
        blocks.shrink_to_fit();
        let twice = (all - blocks.len()) as u64;
        Self { lod, blocks, twice, faults }
    }

    /// The block at a position.
    #[must_use]
    pub fn find(&self, position: [i32; 3]) -> Option<&At> {
        let at = self.blocks.binary_search_by_key(&order(position), |at| order(at.position)).ok()?;
        self.blocks.get(at)
    }

    /// The lowest and the highest position of its blocks; `None` when there is none.
    #[must_use]
    pub fn extent(&self) -> Option<[[i32; 3]; 2]> {
        let first = self.blocks.first()?.position;
        Some(self.blocks.iter().fold([first; 2], |[low, high], at| {
            let p = at.position;
            [[0, 1, 2].map(|i| low[i].min(p[i])), [0, 1, 2].map(|i| high[i].max(p[i]))]
        }))
    }
}

pub(super) fn of_forest(save: &Save, forest: &Forest, lod: u8, slots: Option<Slots>) -> Index {
    let files: Vec<(u32, &RegionFile)> = (0..).zip(&forest.regions).filter(|(_, file)| file.lod == lod).collect();
    let parts: Vec<(Vec<At>, Vec<Fault>)> =
        files.par_iter().map(|(number, file)| of_region(save, forest, *number, file, slots)).collect();
    let (mut blocks, mut faults) = (Vec::new(), Vec::new());
    for (found, wrong) in parts {
        blocks.extend(found);
        faults.extend(wrong);
    }
    Index::new(lod, blocks, faults)
}

fn of_region(
    save: &Save,
    forest: &Forest,
    number: u32,
    file: &RegionFile,
    slots: Option<Slots>,
) -> (Vec<At>, Vec<Fault>) {
    let name = save.shown(&forest.dir.join(&file.name));
    let fault = |why: String| Fault { file: name.clone(), why };
    let grave = |code: crate::damage::Code| code.level() >= Level::Error;
    let mut faults: Vec<Fault> = file.damage.iter().filter(|d| grave(d.code)).map(|d| fault(d.to_string())).collect();
    let mut region = match save.region(forest, file) {
        Ok(Some(region)) => region,
        Ok(None) => return (Vec::new(), faults),
        Err(error) => {
            faults.push(fault(error.to_string()));
            return (Vec::new(), faults);
        }
    };
    faults.extend(region.damage.iter().filter(|d| grave(d.code)).map(|d| fault(d.to_string())));
    let known = match region.own_slots(&mut Scratch::default()) {
        Ok(Some(known)) => known,
        Ok(None) => slots.unwrap_or_default(),
        Err(error) => {
            faults.push(fault(error.to_string()));
            Slots::default()
        }
    };
    let mut blocks = Vec::with_capacity(region.entries.len());
    let mut outside = 0u64;
    for listed in &region.entries {
        match region.block_position(listed.slot, known) {
            Some(position) => blocks.push(At { position, file: number, entry: listed.entry.0 }),
            None => outside += 1,
        }
    }
    if outside > 0 {
        faults.push(fault(format!("{outside} entries of the table have no position")));
    }
    (blocks, faults)
}
