//! The index of the blocks of a LOD.

use crate::axes;

/// A block: its position in blocks of its LOD, and its place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// Its position.
    pub position: [i32; 3],
    /// The number of its region file.
    pub(super) file: u32,
    /// Its entry in the table, or the number of its row.
    pub(super) entry: u32,
}

impl At {
    /// A block at a position that a file, by its number, stores under an entry, a record or a row.
    pub(crate) const fn new(position: [i32; 3], file: u32, entry: u32) -> Self {
        Self { position, file, entry }
    }

    /// The number of its file.
    pub(crate) const fn file_number(&self) -> u32 {
        self.file
    }

    /// The number of its row or record.
    pub(crate) fn row(&self) -> usize {
        crate::bytes::index(u64::from(self.entry))
    }
}

/// A file, or a part of it, that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Fault {
    /// The file, below the save, made printable.
    pub file: String,
    /// Why, in words.
    pub why: String,
}

/// The blocks of a LOD, in the order ZXY of their positions: y varies fastest.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// The LOD.
    pub lod: u8,
    /// The blocks, each position once.
    pub blocks: Vec<At>,
    /// Rows of a stream that have instances but no voxels, in the same order.
    pub bare: Vec<At>,
    /// Number of stream rows that were left out because they may have been deleted, at positions without another row.
    pub stale: Vec<At>,
    /// Number of entries that were left out because another one has their position.
    pub twice: u64,
    /// Files that could not be read.
    pub faults: Vec<Fault>,
    /// Files that are damaged and read nevertheless: their headers are corrected by what is in them, or what a copy changed is
    /// undone. No block is missing because of that.
    pub corrected: Vec<Fault>,
}

/// Adds what is not yet in a list: the same fault is found in the table of each LOD.
pub(crate) fn add_new<T: PartialEq>(list: &mut Vec<T>, more: impl IntoIterator<Item = T>) {
    for one in more {
        if !list.contains(&one) {
            list.push(one);
        }
    }
}

/// Orders blocks by their positions: z, then x, then y.
#[must_use]
pub const fn order([x, y, z]: [i32; 3]) -> [i32; 3] {
    [z, x, y]
}

impl Index {
    pub(super) fn new(lod: u8, mut blocks: Vec<At>, mut bare: Vec<At>, faults: Vec<Fault>) -> Self {
        bare.sort_by_key(|at| order(at.position));
        blocks.sort_by_key(|at| order(at.position));
        let all = blocks.len();
        blocks.dedup_by_key(|at| at.position);
        blocks.shrink_to_fit();
        let twice = (all - blocks.len()) as u64;
        Self { lod, blocks, bare, stale: Vec::new(), twice, faults, corrected: Vec::new() }
    }

    /// Blocks of a LOD in their order, without what else an index stores.
    pub(crate) fn of_blocks(lod: u8, blocks: Vec<At>) -> Self {
        Self::new(lod, blocks, Vec::new(), Vec::new())
    }

    /// The block at a position.
    #[must_use]
    pub fn find(&self, position: [i32; 3]) -> Option<&At> {
        let at = self.blocks.binary_search_by_key(&order(position), |at| order(at.position)).ok()?;
        self.blocks.get(at)
    }

    /// The row with instances alone, or with those of another block than its voxels, that has the instances of a position.
    #[must_use]
    pub fn find_bare(&self, position: [i32; 3]) -> Option<&At> {
        let at = self.bare.binary_search_by_key(&order(position), |at| order(at.position)).ok()?;
        self.bare.get(at)
    }

    /// The lowest and the highest position of its blocks; `None` if there are no blocks.
    #[must_use]
    pub fn extent(&self) -> Option<[[i32; 3]; 2]> {
        let first = self.blocks.first()?.position;
        Some(self.blocks.iter().fold([first; 2], |[low, high], at| {
            [axes::combine(low, at.position, i32::min), axes::combine(high, at.position, i32::max)]
        }))
    }
}
